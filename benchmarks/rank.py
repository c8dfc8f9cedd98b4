"""Measure the exact rank against its peers and print one table of ratios: ``python benchmarks/rank.py``.

See README.md in this folder for the columns and for what to install.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import json
import os
import platform
import signal
import sys
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from cases import CASES, LARGE, Case, nearest
from measure import CaseResult, Measurement, Setup, lu_ratio
from table import render
from targets import exponents, targets, wrong_ranks

from lightningalg.engines.inventory import find_program

LINBOX_ADVICE = "LinBox absent: pip install passagemath-linbox passagemath-pari (give --linbox-python)"
MACAULAY2_ADVICE = "Macaulay2 absent: pip install --no-deps passagemath-macaulay2 (or give --macaulay2)"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit code is 1 if one of our ranks is wrong."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as Ctrl-C: the running peer is ended too
    setup = _setup(options)
    measurement = Measurement(setup)
    load = _load()
    results = [measurement.run(case) for case in _cases(options)]
    print(_heading(options, load))
    print(render(results))
    print(_notes(results, setup))
    print("\nTargets, by this run:")
    print("\n".join(map(str, targets(results))))
    if options.json:
        options.json.write_text(json.dumps(_record(results, options, load), indent=1), encoding="utf-8")
    return 1 if wrong_ranks(results) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks/rank.py", description=__doc__)
    parser.add_argument("--sizes", type=_sizes, help="numbers of parameters, 45,1000: the nearest cases")
    parser.add_argument("--quick", action="store_true", help="only n <= 1000")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every measurement")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for one process (300)")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1), help="BLAS threads (2)")
    parser.add_argument("--linbox-python", metavar="PATH", help="interpreter that has passagemath-linbox")
    parser.add_argument("--macaulay2", metavar="PATH", help="the program M2")
    return parser


def _sizes(text: str) -> list[int]:
    sizes = [int(word) for word in text.split(",")]
    if min(sizes) < 1:
        raise argparse.ArgumentTypeError("sizes are positive")
    return sizes


def _cases(options: argparse.Namespace) -> list[Case]:
    cases = nearest(options.sizes) if options.sizes else sorted(CASES, key=lambda case: case.parameters)
    return [case for case in cases if not options.quick or case.parameters <= max(1000, LARGE)]


def _setup(options: argparse.Namespace) -> Setup:
    linbox = options.linbox_python or (sys.executable if _has_linbox() else None)
    macaulay2 = options.macaulay2 or find_program("M2", "passagemath-macaulay2")
    start = time.perf_counter()

    def progress(message: str) -> None:
        print(f"[{time.perf_counter() - start:7.1f} s] {message}", file=sys.stderr, flush=True)

    return Setup(linbox, str(macaulay2) if macaulay2 else None, options.timeout, options.threads, progress)


def _has_linbox() -> bool:
    """Tell whether this interpreter has passagemath-linbox: other parts of passagemath bring ``sage`` too."""
    try:
        return importlib.util.find_spec("sage.all__sagemath_modules") is not None
    except ImportError:
        return False


def _heading(options: argparse.Namespace, load: float | None) -> str:
    noise = "" if load is None else f"; load before the run {load:.1f}" + (" (NOISY)" if load > 0.5 else "")
    return f"{_processor()}, {os.cpu_count()} cores, {options.threads} threads{noise}\n"


def _notes(results: Sequence[CaseResult], setup: Setup) -> str:
    largest = results[-1]  # small matrices are compared with a small product
    rates = [rate for m in largest.matrices.values() for rate in m.ours.values.get("dgemm", ())]
    lines = ["", *_growth_lines(results)]
    if rates:
        middle = sorted(rates)[len(rates) // 2] / 1e9
        spread = f"from {min(rates) / 1e9:.0f} to {max(rates) / 1e9:.0f}"
        lines.append(f"dgemm at n = {largest.case.parameters}: {middle:.0f} GF/s ({spread})")
        lines += _reference_lines(results)
    lines += [LINBOX_ADVICE] * (setup.linbox_python is None) + [MACAULAY2_ADVICE] * (setup.macaulay2 is None)
    return "\n".join(lines)


def _reference_lines(results: Sequence[CaseResult]) -> list[str]:
    """Say which BLAS ran, and how near to dgemm LAPACK's inexact LU of the same rank comes with it."""
    first = [(r.case.parameters, next(iter(r.matrices.values()))) for r in results if r.matrices]
    ratios = [(n, ratio) for n, matrix in first if (ratio := lu_ratio(matrix)) is not None]
    return [
        f"BLAS: {first[-1][1].ours.values.get('blas', '')}",
        "for comparison, LAPACK's LU in float64 of a rank x rank matrix, / its own dgemm limit: "
        + ", ".join(f"n = {n}: {ratio:.2g}" for n, ratio in ratios),
        *_round_trip_lines(results),
    ]


def _round_trip_lines(results: Sequence[CaseResult]) -> list[str]:
    """Say how far apart the threads were, see ``peers.round_trip``."""
    trips = [
        (f"n = {result.case.parameters} {name}", found)
        for result in results
        for name, matrix in result.matrices.items()
        if (found := [trip for trip in matrix.ours.values.get("round_trips", ()) if trip is not None])
    ]
    if not trips:
        return []
    each = "; ".join(f"{label}: {', '.join(f'{trip:.0f}' for trip in found)}" for label, found in trips)
    return [
        "nanoseconds of a cache line to the other thread and back, before and after our ranks "
        f"(above some 150 the two cores have no cache in common): {each}"
    ]


def _growth_lines(results: Sequence[CaseResult]) -> list[str]:
    found = exponents(results)
    if not found:
        return ["growth exponents: three sizes from n = 500 on are needed"]
    return ["growth from n = 500 on: " + ", ".join(f"{name} n^{slope:.2f}" for name, slope in found.items())]


def _record(results: Sequence[CaseResult], options: argparse.Namespace, load: float | None) -> dict[str, Any]:
    """Return all that was measured and where."""
    packages = ("lightningalg", "numpy", "numba", "python-flint", "sympy", "threadpoolctl")
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "load": load,
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in packages},
        "threads": options.threads,
        "timeout": options.timeout,
        "growth": exponents(results),
        "results": [
            {**dataclasses.asdict(result), "n": result.case.parameters, "expected": result.case.dimension}
            for result in results
        ],
        "targets": [dataclasses.asdict(target) for target in targets(results)],
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _load() -> float | None:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


if __name__ == "__main__":
    sys.exit(main())
