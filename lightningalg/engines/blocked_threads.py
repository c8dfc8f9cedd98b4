"""Threads and memory of an elimination: BLAS at one thread, own threads, arrays kept for the next call."""

from __future__ import annotations

import ctypes
import math
import os
import sys
import threading
from _thread import start_new_thread
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import lru_cache
from queue import SimpleQueue
from typing import Any

import numpy as np

LARGEST_BLOCK = 512  # depth at the largest prime; only tests ask for more than _BLOCK

# Only builds with 64-bit integers have this suffix; the prefix is that of numpy's wheels.
_DGEMM_NAMES = ("scipy_cblas_dgemm64_", "cblas_dgemm64_")

_GONE = SystemExit()  # what a helper says last

# Memory kept between calls; matrices with about 1600 rows and columns fit.
_ARENA_BYTES = 2**25


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

    def dgemm(self) -> int | None:
        """Return where in memory ``cblas_dgemm`` is, if one of OpenBLAS with 64-bit integers is loaded.

        That is numpy's own in its wheels for Linux, Windows and Intel Macs.
        """
        for library in (self._libraries or []) if self.available() else []:
            for name in _DGEMM_NAMES if library.internal_api == "openblas" else ():
                function = getattr(library.dynlib, name, None)
                if function is not None:
                    return ctypes.cast(function, ctypes.c_void_p).value
        return None

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
        self._memory = _aligned(_ARENA_BYTES)  # costs nothing until it is touched
        self._used = 0

    def array(self, shape: tuple[int, ...], dtype: type = np.float64) -> np.ndarray:
        """Return an uninitialised array, valid until the elimination ends."""
        count = math.prod(shape) * np.dtype(dtype).itemsize
        start = -(-self._used // 64) * 64  # cache lines
        if start + count > _ARENA_BYTES:
            memory = _aligned(count)
        else:
            self._used = start + count
            memory = self._memory[start : self._used]
        return memory.view(dtype).reshape(shape)

    @staticmethod
    @contextmanager
    def lend() -> Iterator[Arena]:
        """Lend an arena nobody else has: as many exist as eliminations ever ran at a time."""
        try:
            arena = _FREE_ARENAS.pop()
        except IndexError:
            arena = Arena()
        arena._used = 0
        yield arena
        _FREE_ARENAS.append(arena)  # not after an error, when a thread may still be at its last piece


_FREE_ARENAS: list[Arena] = []


def _aligned(count: int) -> np.ndarray:
    """Return so many uninitialised bytes that begin with a cache line."""
    memory = np.empty(count + 64, dtype=np.uint8)
    return memory[-memory.ctypes.data % 64 :][:count]


@lru_cache(maxsize=1)
def pause_address() -> int:
    """Return where in memory the function is that lets another thread run: compiled code waits so."""
    if sys.platform == "win32":
        function = ctypes.WinDLL("kernel32").SwitchToThread
    else:
        function = ctypes.CDLL(None).sched_yield
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return address


class Queue:
    """Pieces of work that several threads take one by one, until there are none or one gives up."""

    def __init__(self, pieces: Iterable[Any]) -> None:
        self._pieces = iter(pieces)
        self._lock = threading.Lock()
        self._closed = False

    def drain(self, task: Callable[..., None]) -> None:
        """Call ``task(*piece)`` for one piece after another; after an error nobody takes another."""
        try:
            while (piece := self._take()) is not None:
                task(*piece)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let no further piece be taken."""
        self._closed = True

    def _take(self) -> Any:
        with self._lock:
            return None if self._closed else next(self._pieces, None)


class Workers:
    """The threads of one elimination, each with a scratch array of its own: the caller's and the helpers.

    Pieces of work never wait for each other, so there is no deadlock; the
    helpers end with the elimination, so nothing survives a fork. Ctrl-C
    reaches the caller's thread between two pieces (milliseconds).
    """

    def __init__(self, threads: int, scratch: int, arena: Arena) -> None:
        self.threads = threads
        self._helpers = 0  # started when they are first needed
        # Futures of an executor cost twice the time of these two, at every panel.
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._ended: SimpleQueue[BaseException | None] = SimpleQueue()
        self._arena, self._scratch_size, self._lock = arena, scratch, threading.Lock()
        self._scratch = threading.local()
        self._sharing = False

    def run(self, task: Callable[..., None], pieces: Iterable[Any], shared: bool = True) -> None:
        """Call ``task(*piece)`` for every piece; pieces must write to disjoint places."""
        queue = Queue(pieces)
        with self.helping(task, queue) if shared else nullcontext():
            queue.drain(task)

    @contextmanager
    def beside(self, job: Callable[[int], None], give_up: Callable[[], None]) -> Iterator[None]:
        """Let new threads do ``job(number)``, numbers from 1 on, until the end of the ``with`` block.

        ``give_up()`` is called if the block ends with an error; the jobs must end then.
        """
        ended: SimpleQueue[BaseException | None] = SimpleQueue()
        started, core = 0, _core_to_leave(self.threads)
        try:
            for number in range(1, self.threads):
                try:
                    start_new_thread(_once, (job, number, ended, core))
                except RuntimeError:  # the system gives no more threads: fewer do the work
                    break
                started += 1
            yield
        except BaseException:  # also Ctrl-C right after a start
            give_up()
            raise
        finally:
            errors = [ended.get() for _ in range(started)]
        for error in errors:
            if error is not None:
                raise error

    @contextmanager
    def helping(self, task: Callable[..., None], queue: Queue) -> Iterator[None]:
        """Let the helpers drain ``queue`` until the end of the ``with`` block and of the queue.

        The caller meanwhile does what it likes; inside, nested calls get no help.
        """
        if self.threads == 1 or self._sharing:
            yield
            return
        self._sharing = True
        self._start_helpers()
        for _ in range(self._helpers):
            self._jobs.put(lambda: queue.drain(task))
        try:
            yield
        except BaseException:
            queue.close()
            raise
        finally:
            errors = self._await_helpers()
            self._sharing = False
        for error in errors:
            if error is not None:
                raise error

    def scratch(self, count: int) -> np.ndarray:
        """Return ``count`` uninitialised float64 numbers of the calling thread."""
        memory = getattr(self._scratch, "memory", None)
        if memory is None:
            with self._lock:
                memory = self._scratch.memory = self._arena.array((self._scratch_size,))
        return memory[:count]

    def close(self) -> None:
        """End the helpers; one that is still at work ends after its piece."""
        helpers, self._helpers = self._helpers, 0
        for _ in range(helpers):
            self._jobs.put(None)
        while helpers:
            helpers -= self._ended.get() is _GONE

    def _start_helpers(self) -> None:
        while self._helpers < self.threads - 1:
            # Thread.start would wait 0.2 ms, until the new thread runs
            start_new_thread(self._help, (_core_to_leave(self.threads),))
            self._helpers += 1

    def _await_helpers(self) -> list[BaseException | None]:
        return [self._ended.get() for _ in range(self._helpers)]

    def _help(self, core: int | None) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                _leave_core(core)
                core = None
                job()
            except BaseException as error:  # raised again in the caller's thread
                self._ended.put(error)
            else:
                self._ended.put(None)
        self._ended.put(_GONE)


def _core_to_leave(threads: int) -> int | None:
    """Return the number of the core that this thread runs on, if each of ``threads`` can have its own."""
    if not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < threads:
        return None
    core = _core_function()()
    return core if core >= 0 else None


@lru_cache(maxsize=1)
def _core_function() -> Callable[[], int]:
    return ctypes.CDLL(None).sched_getcpu


def _leave_core(core: int | None) -> None:
    """Let this thread run on any other core, if there is one.

    Some systems, virtual machines above all, keep a new thread on the core of the one that
    started it for up to a tenth of a second, which is longer than most eliminations.
    """
    if core is None:
        return
    with suppress(OSError):  # forbidden in some containers: then it is as slow as the system has it
        if others := os.sched_getaffinity(0) - {core}:
            os.sched_setaffinity(0, others)


def _once(
    job: Callable[[int], None], number: int, ended: SimpleQueue[BaseException | None], core: int | None
) -> None:
    try:
        _leave_core(core)
        job(number)
    except BaseException as error:  # raised again in the caller's thread
        ended.put(error)
    else:
        ended.put(None)
