"""Targets, each judged by this run's numbers only."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from cases import LARGE, Case
from measure import CaseResult, MatrixResult, limit_ratio, median
from peers.child import Outcome

#: growth is fitted from this n on; below, constant costs count
FIT_FROM = 500
LARGEST = Case(3, 41, 20)
DUALS = Case(3, 6, 3)
DEEP = Case(4, 2, 1)


@dataclass(frozen=True, slots=True)
class Target:
    """``met`` is ``None`` if this run did not measure it."""

    text: str
    met: bool | None
    found: str

    def __str__(self) -> str:
        state = {True: "met", False: "MISSED", None: "not measured"}[self.met]
        return f"{state:>12}: {self.text}" + (f" -- {self.found}" if self.found else "")


def targets(results: Sequence[CaseResult]) -> list[Target]:
    """Return all targets with what this run found."""
    large = [
        (f"n = {result.case.parameters} {name}", matrix)
        for result in results
        if result.case.parameters >= LARGE
        for name, matrix in result.matrices.items()
    ]
    return [
        _end_to_end(results),
        _ratios("n >= 1000: FLINT's rank at least 5 times ours", large, 5, lambda m: _by(m.flint, m)),
        _ratios("n >= 1000: LinBox's rank at least 2.5 times ours", large, 2.5, lambda m: _by(m.linbox, m)),
        _ratios("n >= 1000: at most 1.5 times the dgemm limit", large, 1.5, limit_ratio, at_most=True),
        _macaulay2(results),
        _growth(results),
        _ranks(results),
        _svd_wrong(results),
        _svd_time(results),
    ]


def exponents(results: Sequence[CaseResult]) -> dict[str, float]:
    """Return the growth exponents over n >= 500: slopes of log time against log n."""
    found = {name: exponent(points) for name, points in _curves(results)}
    return {name: slope for name, slope in found.items() if slope is not None}


def exponent(points: Sequence[tuple[int, float]]) -> float | None:
    """Return the least-squares slope of log time against log n; ``None`` below three points."""
    logs = [(math.log(n), math.log(time)) for n, time in points if n >= FIT_FROM]
    if len(logs) < 3:
        return None
    x_mean = sum(x for x, _ in logs) / len(logs)
    return sum((x - x_mean) * y for x, y in logs) / sum((x - x_mean) ** 2 for x, _ in logs)


def _curves(results: Sequence[CaseResult]) -> Iterator[tuple[str, list[tuple[int, float]]]]:
    choices: dict[str, Callable[[CaseResult], Outcome | None]] = {}
    choices["end to end"] = lambda result: result.end_to_end
    for name in ("kept", "all"):
        for who in ("ours", "flint", "linbox"):
            choices[f"{who}, {name} columns"] = lambda result, name=name, who=who: getattr(
                result.matrices.get(name), who, None
            )
    for label, choose in choices.items():
        found = [(result.case.parameters, choose(result)) for result in results]
        yield label, [(n, median(outcome)) for n, outcome in found if outcome]


def wrong_ranks(results: Sequence[CaseResult]) -> list[str]:
    """Return our own answers that are not the expected ones."""
    wrong = []
    for result in results:
        case, run = result.case, result.end_to_end
        if not run or (run.values["value"], run.values["status"]) != (case.dimension, "certified"):
            found = run.values.get("value", run.reason)
            wrong.append(f"n = {case.parameters}: {found}, not {case.dimension} certified")
        for name, matrix in result.matrices.items():
            rank = matrix.ours.values.get("rank", matrix.ours.reason)
            if rank != case.dimension:
                wrong.append(f"n = {case.parameters}, {name} columns: {rank}, not {case.dimension}")
    return wrong


def _result(results: Sequence[CaseResult], case: Case) -> CaseResult | None:
    return next((result for result in results if result.case == case), None)


def _by(peer: Outcome, matrix: MatrixResult) -> float | None:
    theirs, ours = median(peer), median(matrix.ours)
    return None if theirs is None or ours is None else theirs / ours


def _end_to_end(results: Sequence[CaseResult]) -> Target:
    text = f"n = {LARGEST.parameters}: {LARGEST.dimension} certified under 15 s and 1500 MB"
    result = _result(results, LARGEST)
    if result is None:
        return Target(text, None, "")
    run = result.end_to_end
    if not run:
        return Target(text, False, run.reason)
    value, first, peak = (run.values[key] for key in ("value", "first", "peak_mb"))
    met = value == LARGEST.dimension and run.values["status"] == "certified" and first < 15 and peak < 1500
    return Target(text, met, f"{value} {run.values['status']}, {first:.1f} s, {peak:.0f} MB")


def _ratios(
    text: str,
    matrices: Sequence[tuple[str, MatrixResult]],
    bound: float,
    ratio: Callable[[MatrixResult], float | None],
    at_most: bool = False,
) -> Target:
    """Judge the worst ratio over the matrices where there is one."""
    found = [(value, label) for label, matrix in matrices if (value := ratio(matrix)) is not None]
    if not found:
        return Target(text, None, "")
    worst, where = max(found) if at_most else min(found)
    met = worst <= bound if at_most else worst >= bound
    every = ", ".join(f"{value:.2f}" for value, _ in found)
    return Target(text, met, f"worst {worst:.2f} ({where}); {every}")


def _macaulay2(results: Sequence[CaseResult]) -> Target:
    text = f"n = {DUALS.parameters}: Macaulay2 with dual numbers at least 1000 times ours, end to end"
    result = _result(results, DUALS)
    theirs = median(result.macaulay2) if result else None
    ours = median(result.end_to_end) if result else None
    if theirs is None or ours is None:
        return Target(text, None, result.macaulay2.reason if result else "")
    return Target(text, theirs >= 1000 * ours, f"{theirs / ours:.0f} ({theirs:.1f} s : {ours * 1000:.1f} ms)")


def _growth(results: Sequence[CaseResult]) -> Target:
    found = {name: slope for name, slope in exponents(results).items() if name.startswith(("ours", "end"))}
    text = f"growth from n = {FIT_FROM} on no worse than cubic"
    described = ", ".join(f"{name} n^{slope:.2f}" for name, slope in found.items())
    return Target(text, max(found.values()) <= 3 if found else None, described)


def _ranks(results: Sequence[CaseResult]) -> Target:
    wrong = wrong_ranks(results)
    return Target("all our ranks right and dimensions certified", not wrong, "; ".join(wrong))


def _svd_wrong(results: Sequence[CaseResult]) -> Target:
    text = "widths 2,2,2,2,2, ranks 1: ours right where the float SVD is wrong"
    result = _result(results, DEEP)
    if result is None or not result.svd:
        return Target(text, None, "")
    plain, scaled = (
        sum(rank != DEEP.dimension for rank in result.svd.values[which]) for which in ("plain", "scaled")
    )
    ours = result.end_to_end.values.get("value") == DEEP.dimension
    seeds = len(result.svd.values["plain"])
    found = f"SVD wrong at {plain} of {seeds} seeds, with scaled rows at {scaled}"
    return Target(text, ours and plain > 0, found)


def _svd_time(results: Sequence[CaseResult]) -> Target:
    text = f"n >= {FIT_FROM}: faster than the float SVD, end to end"
    large = [r for r in results if r.case.parameters >= FIT_FROM]
    pairs = [(r.case.parameters, median(r.svd), median(r.end_to_end)) for r in large]
    found = [(svd / ours, n) for n, svd, ours in pairs if svd is not None and ours is not None]
    if not found:
        return Target(text, None, "")
    worst, n = min(found)
    return Target(text, worst > 1, f"worst {worst:.1f} (n = {n})")
