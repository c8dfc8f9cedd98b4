"""Work on this machine: a process for each core, every task with a time limit of its own."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, TimeoutError, wait
from dataclasses import asdict
from multiprocessing import get_context, parent_process
from typing import Any

from lightningalg.sweeps.spec import Architecture
from lightningalg.sweeps.work import certify, failed_row


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
    from pebble import ProcessExpired, ProcessPool

    waiting = deque(tasks)
    running: dict[Any, Architecture] = {}
    again: set[str] = set()
    context = get_context("spawn")
    limit = int(memory * 2**30)
    with ProcessPool(workers, initializer=_start_worker, initargs=(limit,), context=context) as pool:
        try:
            while waiting or running:
                # few at a time: what is scheduled but not begun costs memory and is cancelled on Ctrl-C
                while waiting and len(running) < 4 * workers:
                    task = waiting.popleft()
                    future = pool.submit(certify, timeout, task.key, dict(task.table), seed)
                    running[future] = task
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    task = running.pop(future)
                    try:
                        yield future.result()
                    except TimeoutError:
                        yield _failure(task, f"not finished within {timeout:g} s", timeout)
                    except ProcessExpired as error:
                        if task.key not in again:  # perhaps somebody else's doing
                            again.add(task.key)
                            waiting.append(task)
                            continue
                        yield _failure(task, f"its process ended with code {error.exitcode}", 0.0)
                    except Exception as error:  # a defect: this row says so, the sweep goes on
                        problem = f"internal error, please report it: {type(error).__name__}: {error}"
                        yield _failure(task, problem, 0.0)
        except BaseException:
            pool.stop()
            pool.join()
            raise


def _failure(task: Architecture, problem: str, seconds: float) -> dict[str, Any]:
    return asdict(failed_row(task.key, task.table, problem, seconds))
