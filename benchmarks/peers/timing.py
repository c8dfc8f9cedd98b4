"""What every contestant's process shares: its job, repeated timing, peak memory, its answer."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

#: leading rows and columns of a matrix that are ranked once before the clock starts: compiled code is
#: loaded then, and the matrices small enough to care are warm
WARM_UP = 600


def job() -> dict[str, Any]:
    """Return the job given on the command line."""
    return json.loads(sys.argv[1])


def load_kernels() -> None:
    """Load our compiled kernels, if numba is there, as a process does by itself after some work."""
    # not at the top: LinBox's interpreter, which shares this module, has no lightningalg
    import numpy as np

    from lightningalg.engines.blocked_engine import BlockedElimination
    from lightningalg.errors import MissingExtraError

    try:
        engine = BlockedElimination(kernels="numba")
    except MissingExtraError:
        return
    engine.rank(np.eye(WARM_UP, dtype=np.float32), 8388593)


def answer(**fields: Any) -> None:
    """Print the answer as the last line, with the peak memory of this process in MB."""
    print(json.dumps({**fields, "peak_mb": peak_mb()}))


def peak_mb() -> float:
    """Return the largest resident size of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of one call and its wall time in seconds."""
    start = time.perf_counter()
    result = action()
    return result, time.perf_counter() - start


def repeated(action: Callable[[], Any], *, budget: float = 1.0, most: int = 9) -> tuple[Any, list[float]]:
    """Call until ``budget`` seconds are used or ``most`` calls are made, at least once; return all times."""
    times: list[float] = []
    while not times or (sum(times) < budget and len(times) < most):
        result, seconds = timed(action)
        times.append(seconds)
    return result, times
