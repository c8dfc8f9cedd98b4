"""Progress of long runs on stderr: a bar on a terminal, elsewhere one line a few times a minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

#: told (done, all, what is being done)
Report = Callable[[int, int, str], None]


@contextmanager
def counted_progress() -> Iterator[Report]:
    """Give a function that shows how far a run is."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda done, total, what: bar.update(task, completed=done, total=total, description=what)


def _lines() -> Report:
    last = time.monotonic() - 3  # the first one after two seconds

    def report(done: int, total: int, what: str) -> None:
        nonlocal last
        if time.monotonic() - last >= 5:
            last = time.monotonic() - 3  # the first one after two seconds
            click.echo(f"{done}/{total} {what}", err=True)

    return report
