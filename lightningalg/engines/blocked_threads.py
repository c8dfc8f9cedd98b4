"""Threads and memory of an elimination: BLAS at one thread, own threads, arrays kept for the next call."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

# Sizes were measured on two cores (AMD EPYC, 1 MB of L2 cache each).

# A product is cut into tiles of at most this shape. At 384 x 768 the fused product and
# reduction reached 85 % of plain dgemm; thinner tiles pack the factors too often.
TILE_ROWS = 384
TILE_COLUMNS = 768

LARGEST_BLOCK = 512  # depth at the largest prime; only tests ask for more than _BLOCK

# Memory kept between calls; matrices with about 1000 rows and columns fit.
_ARENA_BYTES = 2**24


class BlasLimit:
    """Hold BLAS at one thread while any elimination runs, in whatever thread.

    BLAS threads together with our own are 20 to 50 times slower on two cores.
    The limit belongs to the process, so nested and concurrent eliminations are
    counted: the first sets it and the last restores what it found.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._libraries: list[Any] | None = None
        self._users = 0
        self._before: list[int] = []

    def available(self) -> bool:
        """Tell whether numpy's BLAS can be limited: needs threadpoolctl, and a BLAS it knows."""
        with self._lock:
            if self._libraries is None:
                self._libraries = _blas_libraries()
            return bool(self._libraries)

    @contextmanager
    def __call__(self) -> Iterator[None]:
        self._enter()
        try:
            yield
        finally:
            self._leave()

    def _enter(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._before = [library.num_threads for library in self._libraries or []]
                self._set([1] * len(self._before))

    def _leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._set(self._before)

    def _set(self, counts: list[int]) -> None:
        for library, count in zip(self._libraries or [], counts, strict=True):
            library.set_num_threads(count)


def _blas_libraries() -> list[Any]:
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return []
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


BLAS_LIMIT = BlasLimit()


class Arena:
    """Memory for the arrays of one elimination at a time, kept for the next one.

    The first touch of a 4 KB page costs up to microseconds: at n = 1000 as much
    as the elimination. Arrays that do not fit are allocated as usual; from 4 MB
    on numpy asks for pages of 2 MB, which makes that cheap.
    """

    def __init__(self) -> None:
        self._memory = np.empty(_ARENA_BYTES, dtype=np.uint8)  # costs nothing until it is touched
        self._used = 0

    def array(self, shape: tuple[int, ...], dtype: type = np.float64) -> np.ndarray:
        """Return an uninitialised array, valid until the elimination ends."""
        count = math.prod(shape) * np.dtype(dtype).itemsize
        start = -(-self._used // 64) * 64  # cache lines
        if start + count > _ARENA_BYTES:
            return np.empty(shape, dtype=dtype)
        self._used = start + count
        return self._memory[start : self._used].view(dtype).reshape(shape)

    @staticmethod
    @contextmanager
    def lend() -> Iterator[Arena]:
        """Lend an arena nobody else has: as many exist as eliminations ever ran at a time."""
        try:
            arena = _FREE_ARENAS.pop()
        except IndexError:
            arena = Arena()
        arena._used = 0
        try:
            yield arena
        finally:
            _FREE_ARENAS.append(arena)


_FREE_ARENAS: list[Arena] = []


class Workers:
    """The threads of one elimination, each with a scratch array of its own.

    Tasks never wait for tasks, so there is no deadlock; the threads end with
    the elimination, so nothing survives a fork. The main thread waits for
    single tiles (milliseconds), where Ctrl-C reaches it.
    """

    def __init__(self, threads: int, shape: tuple[int, ...], arena: Arena) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        size = min(TILE_COLUMNS, max(shape)) * min(LARGEST_BLOCK, max(shape))
        self._unused = list(arena.array((threads + 1, size)))  # the caller's thread has its own
        self._scratch = threading.local()

    def run(
        self, task: Callable[[slice, slice], None], tiles: list[tuple[slice, slice]], threads: int
    ) -> None:
        """Call ``task(*tile)`` for every tile; tiles must write to disjoint places."""
        if threads == 1 or self._pool is None:
            for tile in tiles:
                task(*tile)
        else:
            for _ in self._pool.map(task, *zip(*tiles, strict=True)):
                pass

    def scratch(self, rows: int, columns: int) -> np.ndarray:
        """Return uninitialised ``(rows, columns)`` float64 memory of the calling thread."""
        memory = getattr(self._scratch, "memory", None)
        if memory is None:
            memory = self._scratch.memory = self._unused.pop()
        return memory[: rows * columns].reshape(rows, columns)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
