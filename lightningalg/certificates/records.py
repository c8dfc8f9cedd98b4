"""Evidence as plain records, and their one JSON spelling (FORMAT.md).

This package is a leaf: it computes nothing about networks. Computations
return these records; rendering and the command line read them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from lightningalg.certificates.sampling import compress_runs

FORMAT_NAME = "lightningalg-certificate"
FORMAT_VERSION = 1

Json = Any


def canonical_json(value: Json) -> str:
    """Return the canonical JSON text of ``value`` (FORMAT.md section 1).

    Examples
    --------
    >>> canonical_json({"b": [1, "é"], "a": None})
    '{"a":null,"b":[1,"\\\\u00e9"]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def sha256_of(value: Json) -> str:
    """Return the hexadecimal SHA-256 of the canonical JSON of ``value``.

    Examples
    --------
    >>> sha256_of({})[:12]
    '44136fa355b3'
    """
    return sha256(canonical_json(value).encode("ascii")).hexdigest()


@dataclass(frozen=True, slots=True)
class ExponentWitness:
    """Samples at which differences of inputs and exponents form an invertible matrix modulo a prime.

    It proves that the exponentials of normalised attention are algebraically independent (FORMAT.md section
    4.1). ``points`` is the number of parameter points.
    """

    count: int
    points: int
    rows: tuple[int, ...]
    determinant: int

    def __post_init__(self) -> None:
        assert len(self.rows) > self.count > 0
        assert 0 < self.points <= self.rows[0]

    def to_json(self) -> Json:
        """Return the ``exponents`` object of FORMAT.md section 4.1."""
        return {
            "count": self.count,
            "points": self.points,
            "rows": compress_runs(self.rows),
            "determinant": self.determinant,
        }


@dataclass(frozen=True, slots=True)
class MinorWitness:
    """A minor of the sampled Jacobian that is not zero modulo a prime.

    It proves that the generic rank over QQ is at least ``len(rows)``
    (FORMAT.md section 4.1). With normalised attention the independence of ``exponents`` is needed as well.
    """

    prime: int
    seed: str
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    determinant: int
    exponents: ExponentWitness | None = None

    def __post_init__(self) -> None:
        assert len(self.rows) == len(self.columns) > 0
        assert 0 < self.determinant < self.prime

    @property
    def value(self) -> int:
        """The proved lower bound."""
        return len(self.rows)

    def to_json(self) -> Json:
        """Return the ``lower_bound`` object of FORMAT.md section 4.1."""
        return {
            "value": self.value,
            "prime": self.prime,
            "sampling": {"rule": "sha256-counter", "seed": self.seed},
            "rows": compress_runs(self.rows),
            "columns": compress_runs(self.columns),
            "determinant": self.determinant,
            **({} if self.exponents is None else {"exponents": self.exponents.to_json()}),
        }


@dataclass(frozen=True, slots=True)
class BallWitness:
    """A minor of the sampled Jacobian that ball arithmetic proves non-singular (FORMAT.md section 4.1b).

    ``bits`` is the precision with which it was proved.
    """

    seed: str
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    bits: int

    def __post_init__(self) -> None:
        assert len(self.rows) == len(self.columns) > 0
        assert self.bits > 0

    @property
    def value(self) -> int:
        """The proved lower bound."""
        return len(self.rows)

    def to_json(self) -> Json:
        """Return the ``lower_bound`` object of FORMAT.md section 4.1b."""
        return {
            "method": "ball",
            "value": self.value,
            "sampling": {"rule": "sha256-dyadic", "seed": self.seed},
            "rows": compress_runs(self.rows),
            "columns": compress_runs(self.columns),
            "bits": self.bits,
        }


@dataclass(frozen=True, slots=True)
class UpperBound:
    """A proved upper bound of the dimension, with the arithmetic of its argument.

    ``method`` names the inference rule of FORMAT.md section 4.2; ``steps`` is
    what that rule asks for.
    """

    value: int
    method: str
    steps: Mapping[str, Json]

    def to_json(self) -> Json:
        """Return the ``upper_bound`` object of FORMAT.md section 4.2."""
        return {"value": self.value, "method": self.method, "steps": dict(self.steps)}


#: kinds whose claims list strata of one layer
_OF_STRATA = ("boundary", "singular-locus")
_DIMENSION_LATEX = {
    "equals": r"$\dim Y = {value}$",
    "at least": r"$\dim Y \ge {value}$",
    "at most": r"$\dim Y \le {value}$",
    "between": r"${lower} \le \dim Y \le {upper}$",
}


@dataclass(frozen=True, slots=True)
class Certificate:
    """A claim about a network (or an identity) with all that a checker needs.

    Examples
    --------
    >>> c = Certificate("degrees", {"network": {}}, {"quantity": "degrees"}, {}, {})
    >>> c.to_json()["sha256"] == c.sha256
    True
    """

    kind: str
    subject: Mapping[str, Json]
    claim: Mapping[str, Json]
    witness: Mapping[str, Json]
    provenance: Mapping[str, str] = field(default_factory=dict)
    strength: str = "exact"

    def _rest(self) -> dict[str, Json]:
        return {
            "format": FORMAT_NAME,
            "version": FORMAT_VERSION,
            "kind": self.kind,
            **self.subject,
            "claim": dict(self.claim),
            "witness": dict(self.witness),
            "strength": self.strength,
            "provenance": dict(self.provenance),
        }

    @property
    def sha256(self) -> str:
        """The certificate's hash: SHA-256 of the canonical rest."""
        return sha256_of(self._rest())

    def to_json(self) -> dict[str, Json]:
        """Return the whole certificate as one JSON object."""
        rest = self._rest()
        return {**rest, "sha256": sha256_of(rest)}

    def __repr__(self) -> str:
        return f"<Certificate {self.kind}, {self.strength}, {self.sha256[:12]}>"

    def _repr_html_(self) -> str:
        from lightningalg.display import field_rows, html_table

        rows = [*field_rows(self.claim), ("strength", self.strength), ("SHA-256", self.sha256)]
        strata = "Triples are (rk V, rk A, m), see MATH.md section 3. " if self.kind in _OF_STRATA else ""
        note = f"{strata}Write to_text() into a file; lightningalg verify FILE checks it."
        return html_table(f"Certificate: {self.kind}", ("field", "claimed"), rows, note)

    def _repr_latex_(self) -> str | None:
        """Return what a certificate of a dimension states; ``None`` for other kinds."""
        if self.claim.get("quantity") != "dimension":
            return None
        shape = _DIMENSION_LATEX.get(str(self.claim.get("relation")))
        numbers = {name: n for name, n in self.claim.items() if isinstance(n, int)}
        try:
            return None if shape is None else shape.format(**numbers)
        except KeyError:
            return None

    def to_text(self) -> str:
        """Return the file's text: indented outside, one line for each inner list."""
        return pretty_json(self.to_json())


def pretty_json(value: Json, indent: int = 0) -> str:
    """Return JSON that people can read: objects over several lines, short values on one.

    Parameters
    ----------
    indent
        Columns by which inner lines are moved.

    Examples
    --------
    >>> pretty_json({"a": [1, 2]})
    '{"a": [1, 2]}'
    """
    flat = json.dumps(value, ensure_ascii=True, allow_nan=False)
    if not isinstance(value, (dict, list)) or len(flat) + indent <= 100:
        return flat
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        items = [f"{pad}{json.dumps(k)}: {pretty_json(v, indent + 2)}" for k, v in value.items()]
        return "{\n" + ",\n".join(items) + "\n" + " " * indent + "}"
    if all(isinstance(item, (int, str)) for item in value):
        return flat
    items = [pad + pretty_json(item, indent + 2) for item in value]
    return "[\n" + ",\n".join(items) + "\n" + " " * indent + "]"
