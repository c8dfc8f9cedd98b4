r"""Certificates of kind ``dimension`` as the printed proof speaks of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from lightningalg.certificates.sampling import expand_runs, stream_values
from lightningalg.errors import InputError
from lightningalg.render.latex.escape import Tex, integer, number, words
from lightningalg.render.latex.networks import Network, read_network
from lightningalg.render.latex.typeset import MATRIX_COLUMNS, index_runs, matrix, visible_length
from lightningalg.render.latex.upper import UpperBound, read_upper_bound

FULL_PARAMETERS = 40  # point and samples are printed in full up to these sizes
FULL_SAMPLES = 20
_FULL_ENTRIES = 800
_LONGEST_CELL = 240  # characters of a formula in one cell of a table


@dataclass(frozen=True, slots=True)
class LowerBound:
    """A non-zero minor: its data, and point and samples as printed matrices if they are small.

    By ball arithmetic it has ``bits``, and neither prime nor determinant.
    """

    value: int
    prime: int
    seed: str | None  # None: the values are in the certificate
    rows: Tex
    columns: Tex
    determinant: int
    point: tuple[Tex, ...]
    samples: tuple[Tex, ...]
    point_hash: str
    bits: int = 0

    @property
    def proposition(self) -> str:
        """The label of the proposition that makes the minor a bound."""
        return "ball" if self.bits else "lower"

    @property
    def in_full(self) -> bool:
        """Point and samples are printed."""
        return bool(self.samples)


@dataclass(frozen=True, slots=True)
class Instance:
    """One certificate of kind ``dimension``."""

    label: int
    network: Network
    relation: str
    lower: LowerBound | None
    upper: UpperBound | None
    sha256: str
    verdict: str

    kind = "dimension"

    @property
    def fibre(self) -> int:
        """The dimension of the generic non-empty fibre, if the dimension is certified."""
        return self.network.parameters - self.value

    @property
    def bulky(self) -> bool:
        """Network or upper bound would not fit into a row of a table."""
        if self.upper and self.upper.method == "symmetry":
            return True
        arithmetic = self.upper.arithmetic + self.upper.note if self.upper else ""
        return max(visible_length(self.network.compact), visible_length(arithmetic)) > _LONGEST_CELL

    @property
    def bounds_meet(self) -> bool:
        """The dimension is determined."""
        return self.relation == "equals"

    @property
    def value(self) -> int:
        """The certified dimension, or the one certified bound."""
        bound = self.lower or self.upper
        assert bound is not None
        return bound.value

    @property
    def relation_tex(self) -> Tex:
        """The certified relation, for math mode: ``\\dim Y`` and what is known of it."""
        low = number(self.lower.value) if self.lower else ""
        high = number(self.upper.value) if self.upper else ""
        if self.relation == "equals":
            return Tex(rf"\dim Y={low}")
        if self.relation == "between":
            return Tex(rf"{low}\le \dim Y\le {high}")
        return Tex(rf"\dim Y\ge {low}" if self.lower else rf"\dim Y\le {high}")

    @property
    def cell(self) -> Tex:
        """The certified relation for a table's column headed ``dim Y``."""
        low = number(self.lower.value) if self.lower else ""
        high = number(self.upper.value) if self.upper else ""
        if self.relation == "equals":
            return Tex(f"${low}$")
        if self.relation == "between":
            return Tex(f"${low}$--${high}$")
        return Tex(rf"$\ge {low}$" if self.lower else rf"$\le {high}$")


def read_dimension(certificate: Mapping[str, Any], label: int, verdict: str) -> Instance:
    """Return the printable form of a certificate of kind ``dimension``.

    Raises
    ------
    InputError
        If claim and witness do not belong together.
    """
    network = read_network(certificate["network"])
    claim, witness = certificate["claim"], certificate["witness"]
    relation = claim["relation"]
    lower = read_lower_bound(network, witness["lower_bound"]) if witness["lower_bound"] else None
    above = witness["upper_bound"]
    upper = read_upper_bound(network, above, certificate["network"]) if above else None
    found = (lower.value if lower else None, upper.value if upper else None)
    if relation == "between":
        wanted = (integer(claim["lower"]), integer(claim["upper"]))
        fits = wanted[0] < wanted[1]
    else:
        value = integer(claim["value"])
        by_relation = {"equals": (value, value), "at least": (value, None), "at most": (None, value)}
        fits = relation in by_relation
        wanted = by_relation.get(relation, found)  # type: ignore[assignment]
    if not fits or claim["quantity"] != "dimension" or wanted != found:
        raise InputError("certificate: the claim does not follow from the witness")
    return Instance(label, network, relation, lower, upper, certificate["sha256"], verdict)


def read_lower_bound(network: Network, lower: Mapping[str, Any]) -> LowerBound:
    """Return the printable form of a certificate's lower bound."""
    if lower.get("method") == "ball":
        return _read_ball(network, lower)
    r, p, determinant = (integer(lower[key]) for key in ("value", "prime", "determinant"))
    sampling = lower["sampling"]
    size = sum(integer(last) - integer(first) + 1 for first, last in lower["rows"])
    width = sum(integer(last) - integer(first) + 1 for first, last in lower["columns"])
    if not (size == width == r and 0 < determinant < p and r <= network.parameters):
        raise InputError("lower bound: rows, columns and determinant do not fit its value")
    seed = words(sampling["seed"]) if sampling["rule"] == "sha256-counter" else None
    small = network.parameters <= FULL_PARAMETERS and r <= FULL_SAMPLES
    entries = r * network.tokens * (network.width + network.d_out)
    point: tuple[Tex, ...] = ()
    samples: tuple[Tex, ...] = ()
    point_hash = ""
    if small and entries <= _FULL_ENTRIES and network.tokens <= MATRIX_COLUMNS:
        values = _Values(network, sampling, p)
        point = tuple(values.parameters())
        samples = tuple(values.sample(j) for j in expand_runs(lower["rows"]))
    elif seed is None:
        text = ",".join(str(number(value)) for value in sampling["parameters"])
        point_hash = sha256(text.encode("ascii")).hexdigest()
    rows, columns = index_runs(lower["rows"]), index_runs(lower["columns"])
    return LowerBound(r, p, seed, rows, columns, determinant, point, samples, point_hash)


def _read_ball(network: Network, lower: Mapping[str, Any]) -> LowerBound:
    r, bits = integer(lower["value"]), integer(lower["bits"])
    sizes = [
        sum(integer(last) - integer(first) + 1 for first, last in lower[key]) for key in ("rows", "columns")
    ]
    if not (sizes == [r, r] and bits > 0 and r <= network.parameters):
        raise InputError("lower bound: rows, columns and bits do not fit its value")
    if lower["sampling"]["rule"] != "sha256-dyadic":
        raise InputError("lower bound: this rule for points cannot be printed")
    rows, columns = index_runs(lower["rows"]), index_runs(lower["columns"])
    return LowerBound(r, 0, words(lower["sampling"]["seed"]), rows, columns, 0, (), (), "", bits)


@dataclass(frozen=True, slots=True)
class _Values:
    """The values of a sampling: from the seed rule modulo p, or as the certificate gives them."""

    network: Network
    sampling: Mapping[str, Any]
    prime: int

    def _stream(self, name: str, count: int, explicit: Sequence[Any] | None) -> Sequence[Any]:
        if explicit is None:
            return stream_values(self.sampling["seed"], name, count, self.prime)
        if len(explicit) != count:
            raise InputError(f"lower bound: {len(explicit)} values for {name}; {count} are needed")
        return explicit

    def _explicit(self, *path: Any) -> Sequence[Any] | None:
        if self.sampling["rule"] == "sha256-counter":
            return None
        found: Any = self.sampling
        for key in path:
            found = found[key]
        return found

    def parameters(self) -> list[Tex]:
        """Return the parameter matrices at the point, for text mode."""
        values = self._stream("parameters", self.network.parameters, self._explicit("parameters"))
        return [
            matrix(x.symbol, values[x.first : x.last + 1], x.rows, x.columns) for x in self.network.matrices
        ]

    def sample(self, j: int) -> Tex:
        """Return input and functional of sample j, for text mode."""
        t, d, d_out = self.network.tokens, self.network.width, self.network.d_out
        x = self._stream(f"input/{j}", d * t, self._explicit("samples", j, "input"))
        y = self._stream(f"functional/{j}", d_out * t, self._explicit("samples", j, "functional"))
        left = matrix(f"X^{{({j})}}", x, d, t)
        return Tex(left + ", " + matrix(f"H^{{({j})}}", y, d_out, t))
