"""Points and tables of values in files: TOML or JSON, parsed and size-limited, never evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from lightningalg.certificates.files import read_json, read_text
from lightningalg.certificates.polynomials import decode_polynomial, decode_rational, encode_matrix
from lightningalg.errors import InputError, TooLargeError, shown
from lightningalg.fibres.blackbox import MAX_QUERIES, MissingValueError, NotANetworkError
from lightningalg.fibres.exact import Rows
from lightningalg.fibres.points import (
    MAX_ENTRIES,
    Architecture,
    VirtualPoint,
    WeightsPoint,
    weights_from_table,
)
from lightningalg.fibres.tensors import ConjugatePair, factor_tensor
from lightningalg.networks.network import Network
from lightningalg.networks.spec import parse_toml

MAX_POINT_BYTES = 16 * 2**20
_MAX_DIGITS = 600


def read_table(path: Path, what: str) -> Mapping[str, Any]:
    """Return the object in a ``.json`` or ``.toml`` file.

    Raises
    ------
    InputError
        Naming the file.
    """
    if path.suffix == ".json":
        value = read_json(path, what=what)
    else:
        try:
            value = parse_toml(read_text(path, what=what, max_bytes=MAX_POINT_BYTES))
        except InputError as error:
            raise error if str(path) in str(error) else InputError(f"{what} {path}: {error}") from None
    if not isinstance(value, Mapping):
        raise InputError(f"{what} {path}: an object is expected")
    return value


def read_point(path: Path, network: Network) -> WeightsPoint | VirtualPoint | ConjugatePair:
    """Return the point in a file.

    One of ``[weights.ID]`` with matrices Q, K, V for every layer; ``[virtual]`` with ``M`` (a list of l
    matrices) and
    ``L``; ``tensor``: for one layer ``T[i][c]``, the symmetric matrix of ``x -> T_i(x, x; e_c)``. Entries
    are integers or texts ``"p/q"``.

    Raises
    ------
    InputError
        Naming the file and the field.
    """
    table = read_table(path, "point")
    try:
        return _point(table, network)
    except InputError as error:
        raise InputError(f"point {path}: {error}") from None


def _point(table: Mapping[str, Any], network: Network) -> WeightsPoint | VirtualPoint | ConjugatePair:
    keys = [key for key in ("weights", "virtual", "tensor") if key in table]
    if len(keys) != 1 or len(table) != 1:
        raise InputError('accepted is exactly one of the fields "weights", "virtual", "tensor"')
    arch = Architecture.of(network)
    value = table[keys[0]]
    if keys[0] == "tensor":
        return _tensor(value, arch)
    if not isinstance(value, Mapping):
        raise InputError(f'"{keys[0]}" must be a table')
    if keys[0] == "weights":
        return _weights(value, network)
    if set(value) != {"M", "L"}:
        raise InputError('"virtual" has the fields "M" and "L"')
    d = arch.widths[0]
    listed = value["M"]
    if not isinstance(listed, list) or len(listed) != arch.depth:
        raise InputError(f'"M" must be a list of {arch.depth} matrices')
    M = tuple(matrix(entry, d, d, f"M_{i}") for i, entry in enumerate(listed, start=1))
    return VirtualPoint(arch, M, matrix(value["L"], arch.widths[-1], d, "L"))


def _weights(value: Mapping[str, Any], network: Network) -> WeightsPoint:
    tables: dict[str, dict[str, Rows]] = {}
    shapes = {(block.node, block.name): block.shape for block in network.parameter_blocks}
    for name, layer in value.items():
        if not isinstance(layer, Mapping):
            raise InputError(f'"weights.{shown(name)}" must be a table with Q, K, V')
        tables[name] = {}
        for letter, rows in layer.items():
            shape = shapes.get((name, letter))
            if shape is None:
                raise InputError(
                    f'"weights.{shown(name)}.{shown(letter, 20)}": layers are '
                    f"{', '.join(network.by_id)[:200]}, "
                    f"matrices Q, K, V"
                )
            tables[name][letter] = matrix(rows, *shape, f"{letter} of {name}")
    return weights_from_table(network, tables)


def _tensor(value: Any, arch: Architecture) -> VirtualPoint | ConjugatePair:
    if arch.depth != 1 or arch.tokens < 2:
        raise InputError('"tensor" is for one layer and at least two tokens')
    d, height = arch.widths
    if not isinstance(value, list) or len(value) != height:
        raise InputError(f'"tensor" must be a list of {height} lists, one for each output')
    tensor = []
    for i, line in enumerate(value, start=1):
        if not isinstance(line, list) or len(line) != d:
            raise InputError(f'"tensor" {i} must be a list of {d} symmetric matrices')
        forms = [matrix(entry, d, d, f"tensor {i}, {c}") for c, entry in enumerate(line, start=1)]
        if any(form != [list(column) for column in zip(*form, strict=True)] for form in forms):
            raise InputError(f'"tensor" {i} has a matrix that is not symmetric')
        tensor.append(forms)
    return factor_tensor(tensor, arch)


def matrix(value: Any, rows: int, columns: int, what: str) -> Rows:
    """Return a rational matrix of known shape.

    Raises
    ------
    InputError
        Naming the matrix and what is accepted.

    Examples
    --------
    >>> matrix([[1, "1/2"]], 1, 2, "L")
    [[Fraction(1, 1), Fraction(1, 2)]]
    """
    if rows * columns > MAX_ENTRIES:
        raise TooLargeError(f"{what}: {rows} x {columns} entries; accepted are at most {MAX_ENTRIES}")
    listed = isinstance(value, list) and len(value) == rows
    if not listed or not all(isinstance(row, list) and len(row) == columns for row in value):
        raise InputError(
            f"{what} must be a {rows} x {columns} matrix: a list of {rows} rows of {columns} entries"
        )
    return [[_entry(entry, what) for entry in row] for row in value]


def _entry(value: Any, what: str) -> Fraction:
    try:
        found = decode_rational(value)
    except InputError as error:
        raise InputError(f"{what}: {error}") from None
    if max(abs(found.numerator), found.denominator) >= 10**_MAX_DIGITS:
        raise InputError(f"{what}: numbers have at most {_MAX_DIGITS} digits")
    return found


# -- tables of values ------------------------------------------------------------------


class Table:
    """Exact input/output pairs, or coefficients, as a function on rational matrices.

    JSON: ``{"width": d, "height": d', "tokens": t, "pairs": [{"input": rows, "output": rows}, ...]}``, or
    with
    ``"coefficients"`` instead of ``"pairs"``: for each row of the output a list of t polynomials in the
    entries of X, row by row, as in
    FORMAT.md section 1.
    """

    def __init__(self, value: Mapping[str, Any]):
        kinds = [key for key in ("pairs", "coefficients") if key in value]
        if len(kinds) != 1 or set(value) != {"width", "height", "tokens", kinds[0]}:
            raise InputError(
                'accepted are the fields "width", "height", "tokens" and one of "pairs", "coefficients"'
            )
        self.width, self.height, self.tokens = (_size(value, key) for key in ("width", "height", "tokens"))
        self.pairs: dict[tuple[tuple[Fraction, ...], ...], Rows] = {}
        self.polynomials: list[list[dict[tuple[int, ...], Fraction]]] | None = None
        if kinds[0] == "pairs":
            self._read_pairs(value["pairs"])
        else:
            self._read_coefficients(value["coefficients"])

    @classmethod
    def read(cls, path: Path) -> Table:
        """Return the table in a file; errors name the file."""
        try:
            return cls(read_table(path, "table"))
        except InputError as error:
            raise error if str(path) in str(error) else InputError(f"table {path}: {error}") from None

    def _read_pairs(self, value: Any) -> None:
        if not isinstance(value, list) or not 1 <= len(value) <= MAX_QUERIES:
            raise InputError(f'"pairs" must be a list of 1 to {MAX_QUERIES} pairs')
        for number, pair in enumerate(value, start=1):
            if not isinstance(pair, Mapping) or set(pair) != {"input", "output"}:
                raise InputError(f'pair {number} must have the fields "input" and "output"')
            rows = matrix(pair["input"], self.width, self.tokens, f"input of pair {number}")
            output = [
                [_entry_of_value(v, number) for v in row] for row in _rows(pair["output"], self, number)
            ]
            key = tuple(map(tuple, rows))
            if self.pairs.setdefault(key, output) != output:
                raise NotANetworkError(f"pair {number}: the same input has two different outputs")

    def _read_coefficients(self, value: Any) -> None:
        if not isinstance(value, list) or len(value) != self.height:
            raise InputError(f'"coefficients" must be a list of {self.height} rows')
        found = []
        for number, row in enumerate(value, start=1):
            if not isinstance(row, list) or len(row) != self.tokens:
                raise InputError(f'"coefficients" {number} must be a list of {self.tokens} polynomials')
            found.append([decode_polynomial(entry, self.width * self.tokens) for entry in row])
        self.polynomials = found

    def __call__(self, X: Rows) -> Rows:
        """Return the output at X.

        Raises
        ------
        InputError
            If it is not in the table.
        """
        if self.polynomials is not None:
            point = [value for row in X for value in row]
            return [[_value(polynomial, point) for polynomial in row] for row in self.polynomials]
        found = self.pairs.get(tuple(map(tuple, X)))
        if found is None:
            shown = "; ".join(", ".join(str(v) for v in row) for row in X)
            raise MissingValueError(
                f"the table has no output for the input [{shown[:200]}]: recover --ask FILE writes all "
                f"inputs that are needed"
            )
        return found


def _size(value: Mapping[str, Any], key: str) -> int:
    size = value[key]
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= 1000:
        raise InputError(f'"{key}" must be an integer from 1 to 1000')
    return size


def _rows(value: Any, table: Table, number: int) -> list[list[Any]]:
    listed = isinstance(value, list) and len(value) == table.height
    if not listed or not all(isinstance(row, list) and len(row) == table.tokens for row in value):
        raise InputError(f"output of pair {number} must be a {table.height} x {table.tokens} matrix")
    return value


def _entry_of_value(value: Any, number: int) -> Fraction:
    try:
        return decode_rational(value)
    except InputError as error:
        raise InputError(f"output of pair {number}: {error}") from None


def _value(polynomial: Mapping[tuple[int, ...], Fraction], point: Sequence[Fraction]) -> Fraction:
    total = Fraction(0)
    for exponents, coefficient in polynomial.items():
        term = coefficient
        for x, k in zip(point, exponents, strict=True):
            if k:
                term *= x**k
        total += term
    return total


def question(width: int, height: int, tokens: int, inputs: Sequence[Rows]) -> dict[str, Any]:
    """Return a table without outputs: what ``recover --ask`` writes.

    Examples
    --------
    >>> question(1, 1, 1, [[[Fraction(2)]]])["pairs"]
    [{'input': [[2]], 'output': None}]
    """
    pairs = [{"input": encode_matrix(X), "output": None} for X in inputs]
    return {"width": width, "height": height, "tokens": tokens, "pairs": pairs}
