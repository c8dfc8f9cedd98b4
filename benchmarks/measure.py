"""Measure one case with every contestant; nothing is judged here."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from cases import Case
from peers.child import Outcome, run_peer
from peers.macaulay2 import macaulay2_rank

#: beyond this n Macaulay2 takes minutes (its time grows like n^2 to n^3)
MACAULAY2_LARGEST = 250
#: seconds for sympy, whose time is out of reach at the next size anyway
SYMPY_SECONDS = 60.0
#: float SVDs of one case: seeds, and seconds after which no further seed is tried
SVD_SEEDS = 20
SVD_BUDGET = 20.0

MATRICES = ("kept", "all")


@dataclass(frozen=True, slots=True)
class Setup:
    """Where the peers are (``None``: absent) and what they may use."""

    linbox_python: str | None
    macaulay2: str | None
    timeout: float
    threads: int
    progress: Callable[[str], None]


@dataclass(slots=True)
class MatrixResult:
    """Everything about one matrix: the same one for each contestant."""

    shape: tuple[int, int]
    jacobian: list[float]
    ours: Outcome
    flint: Outcome
    linbox: Outcome


@dataclass(slots=True)
class CaseResult:
    """Everything about one network; a contestant that did not run has a reason instead of values."""

    case: Case
    matrices: dict[str, MatrixResult] = field(default_factory=dict)
    end_to_end: Outcome = field(default_factory=lambda: Outcome(reason="not run"))
    macaulay2: Outcome = field(default_factory=lambda: Outcome(reason="not run"))
    sympy: Outcome = field(default_factory=lambda: Outcome(reason="not run"))
    svd: Outcome = field(default_factory=lambda: Outcome(reason="not run"))


class Measurement:
    """Measures cases of increasing n; a peer out of time at one size is not asked at larger ones."""

    def __init__(self, setup: Setup):
        self._setup = setup
        self._gave_up: set[str] = set()

    def run(self, case: Case) -> CaseResult:
        """Return what all contestants did on this case."""
        task = {"widths": case.widths, "ranks": case.ranks, "dimension": case.dimension}
        result = CaseResult(case)
        result.end_to_end = self._peer("end_to_end", case, task)
        with tempfile.TemporaryDirectory(prefix="lightningalg-benchmark-") as folder:
            sample = self._peer("sample", case, {**task, "folder": folder})
            for name in MATRICES if sample else ():
                about = sample.values["matrices"][name]
                job = {"matrix": f"{folder}/{name}.npy", "prime": sample.values["prime"]}
                result.matrices[name] = self._matrix(case, name, about, job)
        if sample:
            rows = sample.values["matrices"]["all"]["shape"][0]
            svd_task = {**task, "rows": rows, "seeds": SVD_SEEDS, "budget": SVD_BUDGET}
            result.svd = self._peer("float_svd", case, svd_task)
            result.macaulay2 = self._macaulay2(case, sample.values["prime"])
        result.sympy = self._peer("sympy_rank", case, task, timeout=min(SYMPY_SECONDS, self._setup.timeout))
        return result

    def _matrix(self, case: Case, name: str, about: dict[str, Any], job: dict[str, Any]) -> MatrixResult:
        """Ours before and after the peers, so that a change of the machine's load meets both."""
        before = self._peer("our_rank", case, job, name)
        flint = self._peer("flint_rank", case, {**job, "threads": self._setup.threads}, name)
        linbox = self._linbox(case, {**job, "threads": self._setup.threads}, name)
        after = self._peer("our_rank", case, job, name)
        return MatrixResult(tuple(about["shape"]), about["times"], _merged(before, after), flint, linbox)

    def _linbox(self, case: Case, job: dict[str, Any], name: str) -> Outcome:
        python = self._setup.linbox_python
        if python is None:
            return Outcome(reason="absent")
        return self._peer("linbox_rank", case, job, name, python=python)

    def _macaulay2(self, case: Case, prime: int) -> Outcome:
        program, limits = self._setup.macaulay2, self._limits
        if program is None:
            return Outcome(reason="absent")
        if case.parameters > MACAULAY2_LARGEST:
            return Outcome(reason="not run")
        return self._attempt(
            "macaulay2", case, "", lambda: macaulay2_rank(program, prime, case.widths, case.ranks, **limits)
        )

    @property
    def _limits(self) -> dict[str, Any]:
        return {"timeout": self._setup.timeout, "threads": self._setup.threads}

    def _peer(
        self, module: str, case: Case, job: dict[str, Any], matrix: str = "", **options: Any
    ) -> Outcome:
        run = partial(run_peer, module, job, **{**self._limits, **options})
        return self._attempt(module, case, matrix, run)

    def _attempt(self, name: str, case: Case, matrix: str, run: Callable[[], Outcome]) -> Outcome:
        key = f"{name} {matrix}"
        if key in self._gave_up:
            return Outcome(reason="not run")
        self._setup.progress(f"n = {case.parameters}: {name.replace('_', ' ')} {matrix}".rstrip())
        outcome = run()
        if outcome.reason.startswith("not in"):
            self._gave_up.add(key)
        if outcome.reason:
            self._setup.progress(f"  {outcome.reason}")
        return outcome


def _merged(before: Outcome, after: Outcome) -> Outcome:
    """Return both runs of ours as one; the ranks must agree."""
    if not (before and after):
        return (
            after if after and not before else before
        )  # that the second was not tried says less than why the first failed
    first, second = before.values, after.values
    assert first["rank"] == second["rank"], "the same matrix, two ranks"
    pooled = {key: first[key] + second[key] for key in ("times", "dgemm", "lu", "round_trips")}
    return Outcome({**first, **pooled, "peak_mb": max(first["peak_mb"], second["peak_mb"])})


def median(outcome: Outcome, key: str = "times") -> float | None:
    """Return the median of a list of measurements, ``None`` if there are none."""
    return statistics.median(outcome.values[key]) if outcome else None


def elimination_flops(rows: int, columns: int, rank: int) -> float:
    """Return the additions and multiplications of eliminating ``rank`` pivots: ``sum 2 (m-k)(n-k)``."""
    return 2 * (rank * rows * columns - (rows + columns) * rank**2 / 2 + rank**3 / 3)


def lu_ratio(matrix: MatrixResult) -> float | None:
    """Return the time of LAPACK's float LU of rank x rank as a multiple of its own flops at dgemm's rate."""
    lu, rate = median(matrix.ours, "lu"), median(matrix.ours, "dgemm")
    rank = matrix.ours.values.get("rank", 0)
    return None if lu is None or rate is None or not rank else lu * rate / elimination_flops(rank, rank, rank)


def limit_ratio(matrix: MatrixResult) -> float | None:
    """Return our time as a multiple of what the elimination takes at the rate of dgemm."""
    ours, rate = median(matrix.ours), median(matrix.ours, "dgemm")
    if ours is None or rate is None:
        return None
    return ours * rate / elimination_flops(*matrix.shape, matrix.ours.values["rank"])
