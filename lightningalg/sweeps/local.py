"""Work on this machine: a process for each core, every task with a time limit of its own."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, TimeoutError, wait
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context, parent_process
from typing import Any

from lightningalg.errors import LightningAlgError
from lightningalg.sweeps.spec import Architecture
from lightningalg.sweeps.work import certify, failed_row

#: pools in a row that may end without a single result
_PATIENCE = 5


def _start_worker(memory: int) -> None:
    """Leave Ctrl-C to the parent, end with it, and limit this process' memory where the system can."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        import resource
    except ImportError:  # Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _end_with_parent() -> None:
    """A parent that SIGKILL ends cannot stop its workers, and these would wait for work for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def run_locally(
    tasks: Sequence[Architecture], *, seed: str, workers: int, timeout: float, memory: float
) -> Iterator[dict[str, Any]]:
    """Yield a row for every task as it is finished.

    A task beyond its time, or whose process dies twice, becomes a row that says so; the others go on.

    Parameters
    ----------
    timeout
        Seconds for each task.
    memory
        GiB for each process.
    """
    work = _Work(deque(tasks), workers, timeout, seed)
    while work.left:
        before = work.left
        yield from _one_pool(work, int(memory * 2**30))
        work.fruitless = 0 if work.left < before else work.fruitless + 1
        if work.fruitless == _PATIENCE:
            raise LightningAlgError(
                f"worker processes were killed {_PATIENCE} times before they could do anything "
                "(out of memory?); what is stored stays, and the same command goes on"
            )


@dataclass(slots=True)
class _Work:
    """What is to do, what is being done, and which tasks have lost a process already."""

    waiting: deque[Architecture]
    workers: int
    timeout: float
    seed: str
    running: dict[Any, Architecture] = field(default_factory=dict)
    again: set[str] = field(default_factory=set)
    fruitless: int = 0

    @property
    def left(self) -> int:
        return len(self.waiting) + len(self.running)

    def outcome(self, future: Any) -> dict[str, Any] | None:
        """Return the row of a finished task, or nothing: it is tried again."""
        from pebble import ProcessExpired

        task = self.running.pop(future)
        try:
            return future.result()
        except TimeoutError:
            return _failure(task, f"not finished within {self.timeout:g} s", self.timeout)
        except ProcessExpired as error:
            if task.key in self.again:
                return _failure(task, f"its process ended with code {error.exitcode}", 0.0)
            self.again.add(task.key)  # perhaps somebody else's doing
            self.waiting.append(task)
            return None
        except (BrokenExecutor, CancelledError):  # the pool's end, of which this task is not the cause
            self.waiting.append(task)
            return None
        except Exception as error:  # a defect: this row says so, the sweep goes on
            problem = f"internal error, please report it: {type(error).__name__}: {error}"
            return _failure(task, problem, 0.0)


def _one_pool(work: _Work, memory: int) -> Iterator[dict[str, Any]]:
    """Yield rows until everything is done or the pool breaks: when a worker is killed, it may."""
    from pebble import ProcessPool

    pool = ProcessPool(
        work.workers, initializer=_start_worker, initargs=(memory,), context=get_context("spawn")
    )
    try:
        while work.left and (pool.active or work.running):
            # few at a time: what is scheduled but not begun costs memory and is cancelled on Ctrl-C
            while work.waiting and len(work.running) < 4 * work.workers and _submit(pool, work):
                pass
            done, _ = wait(work.running, timeout=1, return_when=FIRST_COMPLETED)
            rows = [work.outcome(future) for future in done]
            yield from (row for row in rows if row is not None)
            if not done and not pool.active:
                break
    finally:
        work.waiting.extend(work.running.values())
        work.running.clear()
        pool.stop()
        pool.join()


def _submit(pool: Any, work: _Work) -> bool:
    """Give the pool the next task; it may refuse it, being broken."""
    task = work.waiting[0]
    try:
        future = pool.submit(certify, work.timeout, task.key, dict(task.table), work.seed)
    except RuntimeError:
        return False
    work.running[future] = work.waiting.popleft()
    return True


def _failure(task: Architecture, problem: str, seconds: float) -> dict[str, Any]:
    return asdict(failed_row(task.key, task.table, problem, seconds))
