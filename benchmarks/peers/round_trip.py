"""How far apart two threads are: the time of a cache line to the other thread and back.

Cores of one cache group answer in some 50 ns, cores of two groups of the same processor in some
300 ns; a virtual machine is moved from one to the other while it runs. What threads hand to each
other costs accordingly, dgemm hardly differs. After a pause both may even be the halves of
one core for some 0.07 s, at half the speed each: the long warm-up ends that.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import numpy as np

_WARM_UP, _ROUNDS = 2_000_000, 5000


def round_trip() -> float | None:
    """Return nanoseconds; ``None`` without numba, or without a second core."""
    try:
        play = _compiled()
    except ImportError:
        return None
    if (os.cpu_count() or 1) < 2:
        return None
    ball = np.zeros(1, dtype=np.int64)
    other = threading.Thread(target=play, args=(ball, 1, 0, _WARM_UP + _ROUNDS))
    other.start()
    play(ball, 0, 0, _WARM_UP)
    start = time.perf_counter()
    play(ball, 0, _WARM_UP, _WARM_UP + _ROUNDS)
    seconds = time.perf_counter() - start
    other.join()
    return seconds / _ROUNDS * 1e9


def _compiled() -> Any:
    from numba import njit

    from lightningalg.engines.blocked_schedule import _load, _store

    @njit(nogil=True)  # type: ignore[misc,unused-ignore]
    def play(ball, player, first, stop):  # type: ignore[no-untyped-def]
        for i in range(first, stop):
            while _load(ball, 0) != 2 * i + player:
                pass
            _store(ball, 0, np.int64(2 * i + player + 1))

    play(np.zeros(1, dtype=np.int64), 0, 0, 0)  # compiles
    return play
