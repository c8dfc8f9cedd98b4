"""Work on a dask.distributed scheduler: the same rows, from any number of machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

from lightningalg.errors import InputError, MissingExtraError, shown
from lightningalg.sweeps.spec import Architecture
from lightningalg.sweeps.work import certify, failed_row

#: tasks given to the scheduler at a time, for each thread of its workers
_AHEAD = 8


def run_on_scheduler(
    tasks: Sequence[Architecture], *, seed: str, address: str, connect: float = 5.0
) -> Iterator[dict[str, Any]]:
    """Yield a row for every task as it is finished.

    A task whose worker is lost is given to another by the scheduler; one that ends several workers becomes a
    row that says so. Workers need this package installed; time and memory limits are theirs.

    Raises
    ------
    MissingExtraError
        Without dask.distributed.
    InputError
        If nobody answers at the address, or there are no workers.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise MissingExtraError.of("distributed", "--scheduler needs dask.distributed") from None
    try:
        client = Client(address, timeout=connect, set_as_default=False)
    except (OSError, ValueError, TypeError, ImportError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0][:120]
        raise InputError(f"scheduler {shown(address, 80)!r} does not answer ({first})") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=connect)
        except TimeoutError:
            raise InputError(
                f"scheduler {shown(address, 80)!r} has no workers: start some with `dask worker`"
            ) from None
        threads = sum(client.nthreads().values())
        waiting = iter(tasks)
        by_key: dict[str, Architecture] = {}

        def submit(count: int) -> list[Any]:
            futures = []
            for task in islice(waiting, count):
                # a key of our own: results are pure, but must not be shared between stores with other seeds
                name = f"lightningalg-{seed}-{task.key}"
                by_key[name] = task
                futures.append(client.submit(certify, task.key, dict(task.table), seed, key=name, retries=2))
            return futures

        completed = as_completed(loop=client.loop)
        completed.update(submit(max(1, _AHEAD * threads)))
        for future in completed:
            task = by_key.pop(future.key)
            if future.status == "finished":
                yield future.result()
            else:
                problem = f"{type(future.exception()).__name__}: {future.exception()}"
                yield asdict(failed_row(task.key, task.table, problem, 0.0))
            for more in submit(1):
                completed.add(more)
