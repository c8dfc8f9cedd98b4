"""``lightningalg sweep``: dimensions of many architectures, resumable and distributed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lightningalg.certificates.files import write_atomically
from lightningalg.cli.options import MAX_SECONDS, MIN_MEMORY, Finite, echo_json
from lightningalg.cli.progress import counted_progress
from lightningalg.errors import InputError, one_line

if TYPE_CHECKING:
    from lightningalg.sweeps.run import Sweep
    from lightningalg.sweeps.spec import Architecture
    from lightningalg.sweeps.store import Store
    from lightningalg.sweeps.tables import Published


@click.command(
    "sweep",
    epilog="Exit code: 0 success, 1 a published dimension differs or the verifier rejects a certificate, "
    "2 bad input.",
)
@click.argument("spec", metavar="SPEC.toml|TABLE.csv|NAME")
@click.option(
    "--store", "store_file", required=True, metavar="FILE.sqlite", help="Results; made if it is not there."
)
@click.option(
    "--workers", type=click.IntRange(1, 1024), metavar="N", help="Processes (default: number of cores)."
)
@click.option(
    "--scheduler", metavar="ADDRESS", help="dask.distributed scheduler, such as tcp://127.0.0.1:8786."
)
@click.option("--timeout", type=Finite(min=0.1, max=MAX_SECONDS), default=600, show_default=True,
              metavar="SECONDS", help="For each architecture, on local processes.")  # fmt: skip
@click.option("--memory", type=Finite(min=MIN_MEMORY, max=1e6), default=4, show_default=True, metavar="GIB",
              help="For each local process.")  # fmt: skip
@click.option("--retry", is_flag=True, help="Try again what failed before.")
@click.option("--resume/--force", "resume", default=True,
              help="Go on where the last run ended (default), or certify everything again.")  # fmt: skip
@click.option("--seed", default="0", show_default=True, help="Decides points, inputs and functionals.")
@click.option(
    "--export", "exports", multiple=True, metavar="FILE", help="Also write results: .csv or .parquet."
)
@click.option(
    "--certificates", "folder", metavar="DIR", help="Also write every certificate into this folder."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def command(
    spec: str,
    store_file: str,
    workers: int | None,
    scheduler: str | None,
    timeout: float,
    memory: float,
    retry: bool,
    resume: bool,
    seed: str,
    exports: tuple[str, ...],
    folder: str | None,
    as_json: bool,
) -> int:
    """Certify the dimensions of many architectures into an SQLite file.

    What the file has already is not computed again, however the last run ended: the same command goes on
    (--force computes it again; a result is replaced by a new one, never by a failure). A store serves one
    sweep at a time. Every certificate is checked by the independent verifier, once; every row is compared
    with its certificate each time, and one that was altered is an error.

    A sweep is a TOML file of families:

    \b
      title = "Small lightning networks"
      [[family]]
      kind = "lightning"           # or normalized, monomial
      layers = "1..3"
      widths = "1..5"              # every width on its own; with equal_widths = true all alike
      ranks = "1..4"
      tokens = [1, 2]              # also heads, residual = [false, true]; degree for monomial
      where = "parameters <= 150"
      sample = 500                 # leave it out for all

    Or it is a CSV table with columns architecture, exponent, dimension (monomial networks, as published):
    every line is certified and compared.

    \b
    Examples:
      lightningalg sweep atlas --store atlas.sqlite --export atlas.csv   (comes with lightningalg)
      lightningalg sweep published.csv --store published.sqlite
      lightningalg sweep mine.toml --store mine.sqlite --scheduler tcp://127.0.0.1:8786
    """
    from lightningalg.certificates.sampling import validate_seed
    from lightningalg.sweeps.run import run_sweep
    from lightningalg.sweeps.store import Store
    from lightningalg.sweeps.tables import check_export, export

    for name in exports:
        check_export(name)
    if scheduler is not None and workers is not None:
        raise click.UsageError("--workers are processes here, --scheduler has its own: give one of them")

    wanted, published = _read(_found(spec))
    with Store(Path(store_file)) as store:
        with counted_progress() as progress:
            done = run_sweep(
                wanted, store, seed=validate_seed(seed), workers=workers, scheduler=scheduler,
                timeout=timeout, memory=memory, retry=retry, force=not resume, progress=progress,
            )  # fmt: skip
        rows = list(store.rows()) if exports or published else []
        for name in exports:
            export(rows, Path(name))
        if folder is not None:
            _write_certificates(store, Path(folder))
        lines = _compared(rows, published)
    if as_json:
        echo_json(_json(done, lines, published))
    else:
        _show(done, lines, store_file)
    differs = any(line["verdict"] == "differs" for line in lines)
    return 1 if differs or done.rejected else 0


def _found(spec: str) -> Path:
    """Return the file of that name, or the sweep that comes with the package: ``atlas``."""
    from lightningalg.worksheets.library import library_folder

    known = {path.stem: path for path in sorted((library_folder() / "sweeps").glob("*.toml"))}
    return known[spec] if spec in known and not os.path.exists(spec) else Path(spec)


def _read(path: Path) -> tuple[Iterator[Architecture], list[Published]]:
    """Return the architectures of a sweep or a table, and the table's lines."""
    from lightningalg.sweeps.spec import read_spec
    from lightningalg.sweeps.tables import read_published

    if path.suffix.lower() != ".csv":
        described = read_spec(path)
        found = list(described.architectures())
        if not found:
            raise InputError(f"sweep {path}: it has no architectures; widen its ranges or its filter")
        for remark in described.shortfalls(found):
            click.echo(f"note: {remark}", err=True)
        return iter(found), []
    published = read_published(path)
    unique = {line.architecture.key: line.architecture for line in published}
    return iter(unique.values()), published


def _compared(rows: list[dict[str, Any]], published: list[Published]) -> list[dict[str, Any]]:
    from lightningalg.sweeps.tables import compare

    if not published:
        return []
    return list(compare(published, {row["architecture"]: row for row in rows}))


def _write_certificates(store: Store, folder: Path) -> None:
    from lightningalg.certificates.records import pretty_json

    for key, certificate in store.certificates():
        write_atomically(folder / f"{key[:32]}.json", pretty_json(certificate) + "\n")


def _json(done: Sweep, lines: list[dict[str, Any]], published: list[Published]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "architectures": done.architectures,
        "new": done.new,
        "already": done.already,
        "counts": done.counts,
        "rejected": list(done.rejected),
        "seconds": round(done.seconds, 2),
    }
    return {**found, "lines": lines} if published else found


def _show(done: Sweep, lines: list[dict[str, Any]], store_file: str) -> None:
    for line in lines:
        bounds = f"{line['lower_bound']}..{line['upper_bound']}"
        proved = line["dimension"] if line["dimension"] is not None else bounds
        what = f"{line['architecture']}: stated {line['stated']}, proved {proved}: {line['verdict']}"
        click.echo(f"  line {line['line']:>5}  {what}")
    if lines:
        words = [line["verdict"] for line in lines]
        click.echo(", ".join(f"{words.count(word)} {word}" for word in ("agrees", "differs", "undecided")))
    counts = ", ".join(f"{count} {status}" for status, count in done.counts.items()) or "no results"
    click.echo(
        f"{done.architectures} architectures ({done.new} new, {done.already} already there); "
        f"store: {counts}; {done.seconds:.1f} s -> {one_line(str(store_file))}"
    )
    for text in done.rejected:
        click.echo(f"rejected by the verifier: {text}", err=True)
