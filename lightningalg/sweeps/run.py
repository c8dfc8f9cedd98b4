"""Running a sweep: what is not in the store yet is certified, then everything is verified."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from lightningalg.certificates.checker import check_files, explain
from lightningalg.certificates.records import canonical_json
from lightningalg.sweeps.cluster import run_on_scheduler
from lightningalg.sweeps.local import run_locally
from lightningalg.sweeps.spec import Architecture
from lightningalg.sweeps.store import Store
from lightningalg.sweeps.work import Row
from lightningalg.temporary import temporary_folder

#: certificates checked by one call of the verifier
_BATCH = 64

#: told (finished, all, what is being done)
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a run of a sweep did.

    ``counts`` are results of the whole store by status, ``rejected`` certificates that the verifier did
    not accept (none, unless something is wrong).
    """

    architectures: int
    new: int
    already: int
    counts: dict[str, int]
    rejected: tuple[str, ...]
    seconds: float


def run_sweep(
    architectures: Iterable[Architecture],
    store: Store,
    *,
    seed: str = "0",
    workers: int | None = None,
    scheduler: str | None = None,
    timeout: float = 600.0,
    memory: float = 4.0,
    retry: bool = False,
    force: bool = False,
    progress: Progress = lambda done, total, what: None,
) -> Sweep:
    """Return what a run did: it certifies every architecture without a result in the store, and verifies all.

    Each row is written as soon as it is known, in a transaction of its own: at any moment the process may be
    killed, and running again goes on from there. No two sweeps work on one store at a time. What the store
    has is compared with its certificates first: rows that were altered are no results.

    Parameters
    ----------
    architectures
        From ``Spec.architectures`` or a table.
    seed
        For the points of all lower bounds; a store has one seed.
    workers
        Processes on this machine; default the number of cores.
    scheduler
        Address of a dask.distributed scheduler, such as ``tcp://127.0.0.1:8786``, instead of local processes.
    timeout, memory
        Seconds and GiB for each local task.
    retry
        Try again what failed before.
    force
        Certify everything again. An earlier result is replaced when there is a new one, and stays where the
        new attempt fails.

    Raises
    ------
    InputError, MissingExtraError
        See ``Store``, ``Store.check`` and ``run_on_scheduler``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import lightningalg as la
    >>> from lightningalg.sweeps.spec import architecture
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "s.sqlite") as store:
    ...     run_sweep([architecture(la.lightning((2, 2), (1,)))], store, workers=1).counts
    {'certified': 1}
    """
    start = time.perf_counter()
    with store.alone():
        store.settle("seed", seed)
        wanted = store.add(architectures)
        if not force:
            store.check(progress)
        finished = set() if force else store.finished(with_failures=not retry)
        tasks = [task for task in wanted if task.key not in finished]
        done = len(wanted) - len(tasks)
        with closing(_rows(tasks, seed, workers, scheduler, timeout, memory)) as rows:
            for count, row in enumerate(rows, start=done + 1):
                store.put(Row(**row), replace=force)
                progress(count, len(wanted), "certifying")
        rejected = verify_store(store, progress)
        if force:  # what was altered may have been mended; what has no new result is still there
            store.check(progress)
    seconds = time.perf_counter() - start
    return Sweep(len(wanted), len(tasks), done, store.counts(), tuple(rejected), seconds)


def _rows(
    tasks: list[Architecture],
    seed: str,
    workers: int | None,
    scheduler: str | None,
    timeout: float,
    memory: float,
) -> Generator[dict[str, Any]]:
    if not tasks:
        return
    if scheduler is not None:
        yield from run_on_scheduler(tasks, seed=seed, address=scheduler)
    else:
        count = min(workers or os.cpu_count() or 1, len(tasks))
        yield from run_locally(tasks, seed=seed, workers=count, timeout=timeout, memory=memory)


def verify_store(store: Store, progress: Progress = lambda done, total, what: None) -> list[str]:
    """Let the independent verifier check every certificate it has not seen; return what it did not accept.

    Parameters
    ----------
    store
        An open store.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "s.sqlite") as store:
    ...     verify_store(store)
    []
    """
    rejected = []
    checked, total = 0, store.count_unverified()
    with temporary_folder() as folder:
        while batch := store.unverified(_BATCH):
            files = []
            for number, (_, certificate) in enumerate(batch):
                files.append(folder / f"{number}.json")
                files[-1].write_text(canonical_json(certificate), encoding="ascii")
            answers = check_files(files)
            verdicts = {key: explain(answer) for (key, _), answer in zip(batch, answers, strict=True)}
            store.set_verified(verdicts)
            rejected += [f"{key[:16]}: {text}" for key, text in verdicts.items() if text != "valid"]
            checked += len(batch)
            progress(checked, total, "verifying")
    return rejected
