"""Tables in and out: results as CSV or Parquet, published dimensions to compare with."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lightningalg.builders import monomial
from lightningalg.certificates.files import read_text, write_atomically
from lightningalg.errors import InputError, MissingExtraError, shown
from lightningalg.sweeps.spec import MAX_ARCHITECTURES, Architecture, architecture
from lightningalg.sweeps.store import COLUMNS

_MAX_BYTES = 32 * 2**20
_REQUIRED = ("architecture", "exponent", "dimension")


def export(rows: Iterable[Mapping[str, Any]], path: Path) -> int:
    """Write rows of a store to a ``.csv`` or ``.parquet`` file, atomically; return how many.

    Raises
    ------
    InputError
        For another ending.
    MissingExtraError
        For Parquet without pyarrow.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export([], Path(folder) / "t.csv")
    0
    """
    found = list(rows)
    if path.suffix == ".csv":
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
        write_atomically(path, text.getvalue())
    elif path.suffix == ".parquet":
        write_atomically(path, _parquet(found))
    else:
        raise InputError(f"export {path}: accepted are names that end in .csv or .parquet")
    return len(found)


def check_export(name: str) -> None:
    """Refuse what ``export`` would refuse, before the work and not after it.

    Raises
    ------
    InputError, MissingExtraError
        As ``export``.

    Examples
    --------
    >>> check_export("results.csv")
    """
    if Path(name).suffix not in (".csv", ".parquet"):
        raise InputError(f"--export {name!r}: accepted are names that end in .csv or .parquet")
    if name.endswith(".parquet"):
        _pyarrow()


def _pyarrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError.of("parquet", "Parquet needs pyarrow") from None
    return pyarrow


def _parquet(rows: list[Mapping[str, Any]]) -> bytes:
    pyarrow = _pyarrow()
    integers = {"parameters", "dimension", "lower_bound", "upper_bound", "predicted"}
    fields = [
        (
            name,
            pyarrow.int64()
            if name in integers
            else pyarrow.float64()
            if name == "seconds"
            else pyarrow.string(),
        )
        for name in COLUMNS
    ]
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=pyarrow.schema(fields)), sink)
    return sink.getvalue().to_pybytes()


#: what may stand around the numbers of an entry, and how long an entry may be
_AROUND = " \t\r\n()[]"
_MAX_ENTRY = 10_000


@dataclass(frozen=True, slots=True)
class Published:
    """A line of a table of published dimensions: line number, the network, the stated dimension."""

    line: int
    architecture: Architecture
    stated: int


def read_published(path: Path) -> list[Published]:
    """Return a table of dimensions of monomial networks.

    Its columns are ``architecture``, ``exponent`` and ``dimension``; others are left alone.

    An architecture is a list of widths such as ``(2, 3, 3)`` or ``2-3-3``, the exponent the activation's.

    Raises
    ------
    InputError
        Naming the file, the line and the column.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "t.csv"
    ...     _ = file.write_text('architecture,exponent,dimension\\n"(2,3,3)",2,9\\n')
    ...     [(row.architecture.text, row.stated) for row in read_published(file)]
    [('monomial, widths 2,3,3, degree 2', 9)]
    """
    text = read_text(path, what="table", max_bytes=_MAX_BYTES)
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")), strict=True)
    try:
        names = [name.strip().lower() for name in reader.fieldnames or ()]
        missing = [name for name in _REQUIRED if name not in names]
        repeated = next((name for name in _REQUIRED if names.count(name) > 1), None)
        if repeated is not None:
            raise InputError(f"table {path}: line 1: two columns are named {repeated!r}")
        if missing:
            raise InputError(f"table {path}: no column {missing[0]!r}; needed are {', '.join(_REQUIRED)}")
        reader.fieldnames = names
        found = []
        for row in reader:
            found.append(_published(path, reader.line_num, row))
            if len(found) > MAX_ARCHITECTURES:
                raise InputError(f"table {path}: more than {MAX_ARCHITECTURES} lines")
    except csv.Error as error:
        raise InputError(f"table {path}: line {reader.line_num}: {error}") from None
    if not found:
        raise InputError(f"table {path}: it has no rows")
    return found


def _published(path: Path, line: int, row: Mapping[str, Any]) -> Published:
    def numbers(name: str) -> list[int]:
        text = row.get(name) or ""
        # split, then look at each part: one pattern for all would try every way to cut a long row of digits
        parts = re.split(r"\s*[,;x-]\s*|\s+", text.strip(_AROUND)) if len(text) <= _MAX_ENTRY else [""]
        unmatched = text.count("(") != text.count(")") or text.count("[") != text.count("]")
        if unmatched or not all(re.fullmatch(r"[0-9]{1,7}", part) for part in parts):
            raise InputError(
                f"table {path}: line {line}: {name} is {shown(text, 40)!r}; accepted are integers, as (2,3,3)"
            )
        return [int(part) for part in parts]

    if None in row:
        raise InputError(
            f"table {path}: line {line}: more cells than columns; a list with commas needs quotation marks, "
            'as "(2,3,3)"'
        )
    widths, exponent, dimension = (numbers(name) for name in _REQUIRED)
    if len(dimension) != 1:
        raise InputError(f"table {path}: line {line}: dimension must be one integer")
    try:
        network = monomial(widths, exponent[0] if len(exponent) == 1 else exponent)
    except InputError as error:
        raise InputError(f"table {path}: line {line}: {error}") from None
    return Published(line, architecture(network, path.stem[:100]), dimension[0])


AGREES, DIFFERS, UNDECIDED = "agrees", "differs", "undecided"


def compare(
    published: Iterable[Published], rows: Mapping[str, Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield for each published line whether what is proved agrees, differs, or leaves it open.

    ``rows`` are results by the architecture's text.

    Examples
    --------
    >>> net = architecture(monomial((2, 3, 3), 2))
    >>> proved = {net.text: {"dimension": 9, "lower_bound": 9, "upper_bound": 9, "status": "certified"}}
    >>> [line["verdict"] for line in compare([Published(2, net, 9), Published(3, net, 10)], proved)]
    ['agrees', 'differs']
    """
    for line in published:
        row = rows.get(line.architecture.text, {})
        lower, upper = row.get("lower_bound"), row.get("upper_bound")
        if row.get("dimension") is not None:
            verdict = AGREES if row["dimension"] == line.stated else DIFFERS
        elif (lower is not None and line.stated < lower) or (upper is not None and line.stated > upper):
            verdict = DIFFERS
        else:
            verdict = UNDECIDED
        yield {
            "line": line.line,
            "architecture": line.architecture.text,
            "stated": line.stated,
            "dimension": row.get("dimension"),
            "lower_bound": lower,
            "upper_bound": upper,
            "verdict": verdict,
        }
