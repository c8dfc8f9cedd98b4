"""How far apart two threads are: the time of a cache line to the other thread and back.

Cores of one cache group answer in some 50 ns, cores of two groups of the same processor in some
300 ns; a virtual machine is moved from one to the other while it runs. What threads hand to each
other costs accordingly, dgemm hardly differs.
"""

from __future__ import annotations

import threading
import time
from functools import lru_cache
from typing import Any

import numpy as np

_WARM_UP, _ROUNDS = 500, 5000
#: how often a thread looks for the ball before it gives up, some milliseconds: the other has no core then
_PATIENCE = 2_000_000


def round_trip() -> float | None:
    """Return nanoseconds; ``None`` without numba, or if the threads did not have a core each."""
    try:
        play = _compiled()
    except ImportError:
        return None
    ball = np.zeros(1, dtype=np.int64)
    other = threading.Thread(target=play, args=(ball, 1, 0, _WARM_UP + _ROUNDS))
    other.start()
    ready = play(ball, 0, 0, _WARM_UP)
    start = time.perf_counter()
    done = ready and play(ball, 0, _WARM_UP, _WARM_UP + _ROUNDS)
    seconds = time.perf_counter() - start
    other.join()
    return seconds / _ROUNDS * 1e9 if done else None


@lru_cache(maxsize=1)
def _compiled() -> Any:
    from numba import njit

    from lightningalg.engines.blocked_schedule import _load, _store

    @njit(nogil=True)  # type: ignore[misc,unused-ignore]
    def play(ball, player, first, stop):  # type: ignore[no-untyped-def]
        for i in range(first, stop):
            looks = 0
            while _load(ball, 0) != 2 * i + player:
                looks += 1
                if looks == _PATIENCE:
                    return False
            _store(ball, 0, np.int64(2 * i + player + 1))
        return True

    play(np.zeros(1, dtype=np.int64), 0, 0, 0)  # compiles
    return play
