"""The one table: a Markdown table that also reads well in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from measure import CaseResult, MatrixResult, limit_ratio, median
from peers.child import Outcome

HEADER = (
    "n", "layers of width; rank", "true rank", "columns", "Jacobian", "rank", "engine", "/ dgemm limit",
    "FLINT", "FLINT + conversion", "LinBox", "end to end (first)", "peak MB", "Macaulay2 duals",
    "sympy symbolic", "float SVD", "SVD wrong: plain, scaled",
)  # fmt: skip

LEGEND = """\
Times are ours. Every other column is the peer's time divided by ours: FLINT and LinBox by "rank", on the very
same matrix (columns: "kept" without those that known symmetries make redundant, "all"; rank + 10 rows);
Macaulay2, sympy and float SVD by "end to end". ok / WRONG: whether the rank was right."""


def render(results: Sequence[CaseResult]) -> str:
    """Return the table with its legend."""
    rows = [row for result in results for row in _rows(result)]
    sizes = [max(len(row[i]) for row in [HEADER, *rows]) for i in range(len(HEADER))]
    lines = [_line(HEADER, sizes), "|" + "|".join("-" * (size + 1) + ":" for size in sizes) + "|"]
    return "\n".join([*lines, *(_line(row, sizes) for row in rows), "", LEGEND])


def _line(cells: Sequence[str], sizes: Sequence[int]) -> str:
    return "| " + " | ".join(cell.rjust(size) for cell, size in zip(cells, sizes, strict=True)) + " |"


def _rows(result: CaseResult) -> list[tuple[str, ...]]:
    """One row for each matrix; what concerns the network as a whole stands in the first only."""
    case = result.case
    names = list(result.matrices) or [""]
    rows = []
    for name in names:
        head = (str(case.parameters), str(case), str(case.dimension)) if name == names[0] else ("",) * 3
        whole = _whole_cells(result) if name == names[0] else ("",) * 6
        matrix = result.matrices.get(name)
        middle = ("failed",) * 7 if matrix is None else _matrix_cells(matrix, case.dimension)
        rows.append((*head, name, *middle, *whole))
    return rows


def _matrix_cells(matrix: MatrixResult, dimension: int) -> tuple[str, ...]:
    ours = median(matrix.ours)
    limit = limit_ratio(matrix)
    with_conversion = median(matrix.flint) + median(matrix.flint, "conversion") if matrix.flint else None
    return (
        seconds(sorted(matrix.jacobian)[len(matrix.jacobian) // 2]),
        f"{seconds(ours)} {verdict(matrix.ours, dimension)}" if ours is not None else matrix.ours.reason,
        matrix.ours.values.get("engine", ""),
        "" if limit is None else number(limit),
        _ratio_cell(matrix.flint, ours, dimension),
        "" if with_conversion is None or ours is None else number(with_conversion / ours),
        _ratio_cell(matrix.linbox, ours, dimension),
    )


def _whole_cells(result: CaseResult) -> tuple[str, ...]:
    ours, run, dimension = median(result.end_to_end), result.end_to_end, result.case.dimension
    if ours is None:
        first = (run.reason, "")
    else:
        mark = "ok" if run.values["value"] == dimension else f"WRONG ({run.values['value']})"
        first = (
            f"{seconds(ours)} ({seconds(run.values['first'])}) {mark}",
            f"{run.values['peak_mb']:.0f}",
        )
    svd = median(result.svd)
    return (
        *first,
        _ratio_cell(result.macaulay2, ours, dimension),
        _ratio_cell(result.sympy, ours, dimension),
        number(svd / ours) if svd is not None and ours is not None else result.svd.reason,
        f"{wrong(result, 'plain')}, {wrong(result, 'scaled')}" if result.svd else "",
    )


def _ratio_cell(peer: Outcome, ours: float | None, dimension: int) -> str:
    time = median(peer)
    if time is None or ours is None:
        return peer.reason
    return f"{number(time / ours)} {verdict(peer, dimension)}"


def verdict(outcome: Outcome, dimension: int) -> str:
    """Return whether a contestant's rank is the expected one."""
    rank = outcome.values["rank"]
    return "ok" if rank == dimension else f"WRONG ({rank})"


def wrong(result: CaseResult, which: str) -> str:
    """Return how many of the seeds gave the float SVD a wrong rank."""
    ranks = result.svd.values[which]
    return f"{sum(rank != result.case.dimension for rank in ranks)}/{len(ranks)}"


def number(value: float) -> str:
    """Return a ratio with two or three significant digits."""
    return f"{value:.2g}" if value < 10 else f"{value:,.0f}"


def seconds(value: float | None) -> str:
    """Return a time in ms below a second, else in s."""
    if value is None:
        return ""
    if value < 1:
        return f"{value * 1000:.3g} ms"
    return f"{value:.3g} s"
