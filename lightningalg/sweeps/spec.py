"""Which architectures a sweep is about: families with ranges, filters and random samples, read from TOML."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from lightningalg.certificates.files import read_text
from lightningalg.certificates.records import sha256_of
from lightningalg.errors import InputError
from lightningalg.networks.base import shown
from lightningalg.networks.network import Network
from lightningalg.networks.spec import KINDS, network_from_table, parse_toml
from lightningalg.worksheets.fields import integer_range
from lightningalg.worksheets.formula import Formula
from lightningalg.worksheets.model import standard_variables

MAX_BYTES = 2**20
#: architectures of one sweep
MAX_ARCHITECTURES = 1_000_000
_MAX_LAYERS = 64
#: draws for each architecture that a sample asks for, before it is content with fewer
_PATIENCE = 200
#: points of a family that is enumerated in full
_MAX_POINTS = 20_000_000

_KEYS = {
    "name", "kind", "layers", "widths", "ranks", "tokens", "heads", "residual", "degree", "equal_widths",
    "where", "sample", "seed",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Architecture:
    """One network of a sweep.

    Attributes
    ----------
    key
        SHA-256 of the canonical JSON of the network: the same network has the same key in every sweep.
    family
        The name of the family that it came from.
    text
        How people write it.
    table
        The network's JSON.
    """

    key: str
    family: str
    text: str
    table: Mapping[str, Any]
    parameters: int


@dataclass(frozen=True, slots=True)
class Family:
    """Networks of one kind: a range for every width, rank, number of tokens, of heads, and so on.

    Examples
    --------
    >>> family = Family.parse({"kind": "lightning", "layers": 1, "widths": "1..2", "ranks": 1}, 1)
    >>> family.points, [architecture.text for architecture in family.architectures()][:2]
    (4, ['lightning, widths 1,1, ranks 1, tokens 2', 'lightning, widths 1,2, ranks 1, tokens 2'])
    """

    name: str
    kind: str
    layers: tuple[int, ...]
    ranges: Mapping[str, tuple[int, ...]]
    equal_widths: bool
    where: Formula | None
    sample: int | None
    seed: str

    @staticmethod
    def parse(table: Any, number: int) -> Family:
        """Return the family of a ``[[family]]`` table.

        Parameters
        ----------
        number
            Which of the tables it is, for its default name.

        Raises
        ------
        InputError
            Naming the field and what is accepted.
        """
        if not isinstance(table, Mapping):
            raise InputError(f"family number {number} must be a table, written [[family]]")
        unknown = sorted(set(table) - _KEYS)
        if unknown:
            raise InputError(f"unknown key {shown(unknown[0])!r}: accepted are {', '.join(sorted(_KEYS))}")
        kind = table.get("kind", "lightning")
        if kind not in KINDS:
            raise InputError(f'"kind" is {shown(kind)!r}: accepted are {", ".join(KINDS)}')
        layers = _range(table, "layers", low=1)
        if layers[-1] > _MAX_LAYERS:
            raise InputError(f'"layers" goes up to {shown(layers[-1])}: accepted are at most {_MAX_LAYERS}')
        needed = ["widths"] + ([] if kind == "monomial" else ["ranks"])
        optional = ["degree"] if kind == "monomial" else ["tokens", "heads", "residual"]
        ranges = {key: _range(table, key, low=1) for key in needed}
        ranges |= {
            key: _range(table, key, low=0 if key == "residual" else 1) for key in optional if key in table
        }
        surplus = sorted({"ranks", "degree", "tokens", "heads", "residual"} & set(table) - set(ranges))
        if surplus:
            raise InputError(f'"{surplus[0]}" means nothing for the kind {kind}')
        sample, equal = table.get("sample"), table.get("equal_widths", False)
        if sample is not None and (type(sample) is not int or not 1 <= sample <= MAX_ARCHITECTURES):
            raise InputError(f'"sample" is {shown(sample)!r}: accepted are 1 to {MAX_ARCHITECTURES}')
        if not isinstance(equal, bool):
            raise InputError('"equal_widths" must be true or false')
        where = _condition(table)
        name = table.get("name", f"family {number}")
        if not isinstance(name, str) or not 1 <= len(name) <= 100:
            raise InputError('"name" must be a text of 1 to 100 characters')
        seed = table.get("seed", "0")
        if not isinstance(seed, int | str) or (isinstance(seed, int) and abs(seed) >= 10**64):
            raise InputError(f'"seed" is {shown(seed)}: accepted are texts, and integers of up to 64 digits')
        return Family(name, kind, layers, ranges, equal, where, sample, str(seed)[:64])

    @property
    def points(self) -> int:
        """How many combinations the ranges have, before the filter."""
        return sum(_size(self._axes(count)) for count in self.layers)

    def architectures(self) -> Iterator[Architecture]:
        """Yield the networks: all in order, or a sample drawn by SHA-256, the same on every machine."""
        everything = self.sample is None or self.sample >= self.points
        found = (self._build(table) for table in (self._tables() if everything else self._draws()))
        kept = (architecture for architecture in found if architecture is not None)
        if everything:
            yield from kept
            return
        seen: set[str] = set()
        for architecture in kept:
            if architecture.key not in seen:
                seen.add(architecture.key)
                yield architecture
                if len(seen) == self.sample:
                    return

    def _axes(self, layers: int) -> list[tuple[str, tuple[int, ...]]]:
        """Return the name and the values of every independent choice for a number of layers."""
        widths = 1 if self.equal_widths else layers + 1
        axes = [("widths", self.ranges["widths"])] * widths
        for key, each in (
            ("ranks", True),
            ("degree", True),
            ("heads", False),
            ("tokens", False),
            ("residual", False),
        ):
            if key in self.ranges:
                count = (layers - 1 if key == "degree" else layers) if each else 1
                axes += [(key, self.ranges[key])] * count
        return axes

    def _tables(self) -> Iterator[dict[str, Any]]:
        if self.points > _MAX_POINTS:
            raise InputError(
                f"{shown(self.points)} combinations, accepted are at most {_MAX_POINTS}: "
                'narrow the ranges or give "sample"'
            )
        for count in self.layers:
            axes = self._axes(count)
            for values in itertools.product(*(choices for _, choices in axes)):
                yield self._table(count, axes, values)

    def _draws(self) -> Iterator[dict[str, Any]]:
        """Yield random points, the number of layers first: most networks are deep ones."""
        assert self.sample is not None
        for draw in range(_PATIENCE * self.sample):
            digest = sha256(f"lightningalg-sweep/1|{self.seed}|{self.name}|{draw}".encode()).digest()
            number = int.from_bytes(digest + sha256(digest).digest(), "big")
            number, k = divmod(number, len(self.layers))
            axes = self._axes(self.layers[k])
            values = []
            for _, choices in axes:
                number, k_value = divmod(number, len(choices))
                values.append(choices[k_value])
            yield self._table(self.layers[k], axes, values)

    def _table(
        self, layers: int, axes: Sequence[tuple[str, tuple[int, ...]]], values: Sequence[int]
    ) -> dict[str, Any]:
        table: dict[str, Any] = {"kind": self.kind}
        for (key, _), value in zip(axes, values, strict=True):
            table.setdefault(key, []).append(value)
        if self.equal_widths:
            table["widths"] *= layers + 1
        for key in ("heads", "tokens"):
            if key in table:
                table[key] = table[key][0]
        if "residual" in table:
            table["residual"] = bool(table["residual"][0])
        return table

    def _build(self, table: Mapping[str, Any]) -> Architecture | None:
        """Return the architecture, or nothing: residual with unequal widths, or filtered out."""
        if table.get("residual") and len(set(table["widths"])) > 1:
            return None
        network = network_from_table(table)
        if self.where is not None and not self.where.evaluate(_variables(network)):
            return None
        return architecture(network, self.name)


def _variables(network: Network) -> dict[str, int]:
    return {**standard_variables(network), "parameters": network.parameter_count}


def architecture(network: Network, family: str = "") -> Architecture:
    """Return a network as a sweep's architecture.

    Parameters
    ----------
    family
        The name of its family.

    Examples
    --------
    >>> import lightningalg as la
    >>> architecture(la.lightning((2, 2), (1,)), "small").family
    'small'
    """
    table = network.to_json()
    return Architecture(sha256_of(table), family, str(network), table, network.parameter_count)


def _size(axes: Sequence[tuple[str, tuple[int, ...]]]) -> int:
    total = 1
    for _, choices in axes:
        total *= len(choices)
    return total


def _range(table: Mapping[str, Any], key: str, *, low: int) -> tuple[int, ...]:
    value = table.get(key)
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, list) and all(isinstance(item, bool) for item in value):
        value = [int(item) for item in value]
    if value is None:
        raise InputError(f'"{key}" is missing: give a number, a range such as "1..4", or a list')
    values = tuple(sorted(set(integer_range(value, f'"{key}"'))))
    if values[0] < low:
        raise InputError(f'"{key}" starts at {shown(values[0])}: accepted are numbers from {low}')
    return values


def _condition(table: Mapping[str, Any]) -> Formula | None:
    text = table.get("where")
    if text is None:
        return None
    if not isinstance(text, str):
        raise InputError('"where" must be a condition, such as "parameters <= 200"')
    formula = Formula.parse(text)
    if not formula.is_condition:
        raise InputError(f'"where" is {shown(text)!r}: accepted are conditions, such as "d0 <= d1"')
    unknown = [
        name
        for name in sorted(formula.names)
        if not re.fullmatch(r"tokens|layers|hidden|parameters|[da][0-9]{1,2}", name)
    ]
    if unknown:
        raise InputError(
            f'"where" names {shown(unknown[0])!r}: known are parameters, tokens, layers, hidden, d0, a1, ...'
        )
    return formula


@dataclass(frozen=True, slots=True)
class Spec:
    """A sweep: its title, its families, and the point of every lower bound."""

    title: str
    families: tuple[Family, ...]

    def shortfalls(self, found: Iterable[Architecture]) -> list[str]:
        """Return a remark for every family with fewer among those ``found`` than its ``sample`` asks for."""
        counts = Counter(architecture.family for architecture in found)
        return [
            f'family "{family.name}": {counts[family.name]} of the {family.sample} architectures asked for '
            "(its ranges have no more, the filter lets too few pass, or an earlier family has them)"
            for family in self.families
            if family.sample is not None and counts[family.name] < family.sample
        ]

    def architectures(self) -> Iterator[Architecture]:
        """Yield every architecture once, in the order of the families.

        Raises
        ------
        InputError
            If a family is too large, or names a variable that its networks do not have.
        """
        seen: set[str] = set()
        for family in self.families:
            try:
                for found in family.architectures():
                    if found.key not in seen:
                        seen.add(found.key)
                        yield found
                        if len(seen) > MAX_ARCHITECTURES:
                            raise InputError(f"more than {MAX_ARCHITECTURES} architectures")
            except InputError as error:
                raise InputError(f'family "{family.name}": {error}') from None


def read_spec(path: Path) -> Spec:
    """Return the sweep in a TOML file.

    Raises
    ------
    InputError
        Naming the file, the family and the field, and what is accepted.

    Examples
    --------
    >>> from lightningalg.worksheets.library import library_folder
    >>> read_spec(library_folder() / "sweeps" / "atlas.toml").title
    'Atlas of small architectures'
    """
    text = read_text(path, what="sweep", max_bytes=MAX_BYTES)
    try:
        return _spec(parse_toml(text), path)
    except InputError as error:
        raise InputError(f"sweep {path}: {error}") from None


def _spec(table: Mapping[str, Any], path: Path) -> Spec:
    unknown = sorted(set(table) - {"title", "family"})
    if unknown:
        raise InputError(f"unknown key {shown(unknown[0])!r}: accepted are title and [[family]] tables")
    families = table.get("family")
    if not isinstance(families, list) or not families:
        raise InputError("it has no families: write one or more [[family]] tables")
    title = table.get("title", path.stem)
    if not isinstance(title, str):
        raise InputError('"title" must be a text')
    parsed = []
    for number, family in enumerate(families, start=1):
        try:
            parsed.append(Family.parse(family, number))
        except InputError as error:
            raise InputError(f"family number {number}: {error}") from None
    names = [family.name for family in parsed]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise InputError(f'two families are named "{repeated}"')
    return Spec(title, tuple(parsed))
