"""``lightningalg report``: a static HTML report of a worksheet run."""

from __future__ import annotations

import shlex
import time
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lightningalg.certificates.files import write_atomically
from lightningalg.cli.options import MAX_SECONDS, Finite, Progress, echo_json
from lightningalg.errors import InputError, one_line

if TYPE_CHECKING:
    from lightningalg.render.html.records import Report

_MOST_LINES = 10  # instances that are named on stderr; the report names all


@click.command(
    "report",
    epilog="Exit code: 0 success, 1 certificates are missing, altered, not accepted by the verifier or not "
    "about what the summary says (the report is written and says which), 2 there is no run in DIR, or LaTeX "
    "is missing.",
)
@click.argument("folder", metavar="DIR")
@click.option("--title", default="lightningalg: certificates of a run", show_default=True, metavar="TEXT",
              help="Title of the report.")  # fmt: skip
@click.option("--pdf", is_flag=True, help="Also run LaTeX on every proof, so that the pages show them.")
@click.option(
    "--slices/--no-slices",
    default=True,
    show_default=True,
    help="Draw slices of single layers (a few seconds; they need matplotlib).",
)
@click.option(
    "--verify/--no-verify",
    default=True,
    show_default=True,
    help="Run the independent verifier on every certificate (a report on 2,200 of them took 25 "
    "seconds in all on two cores). Without, the report says at its head that it was not run.",
)
@click.option("--timeout", type=Finite(min=1, max=MAX_SECONDS), default=120, show_default=True,
              metavar="SECONDS", help="For LaTeX, each proof.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def command(
    folder: str, title: str, pdf: bool, slices: bool, verify: bool, timeout: float, as_json: bool
) -> int:
    """Write a static report of a worksheet run: open DIR/report/index.html in any browser.

    DIR is the folder that "worksheet run --out DIR" filled. The pages hold a table of verdicts with filter
    and sorting, the paper's statements, and a page for each claim with statement, proof, certificates and
    figures. They need no network; DIR can be copied or published as it is. Every certificate is checked by
    the independent verifier and compared with what the run's summary says of it: an instance whose file is
    missing or altered, not accepted, or about something else, is open in the report. An interrupted run has
    a report too, of what was finished.

    \b
    Example:
      lightningalg worksheet run --out out
      lightningalg report out
    """
    from lightningalg.render.html import render_report
    from lightningalg.worksheets.report import read_report
    from lightningalg.worksheets.report_files import leads_out

    start, progress = time.perf_counter(), _Seldom(Progress())
    path = Path(folder)
    if pdf:
        _compile(path, timeout, progress.progress)
    report = read_report(path, title=title, slices=slices, verify=verify, progress=progress)
    target = path / "report"
    pages = render_report(report, progress)
    for name in pages:
        if leads_out(target / name, path):  # the folder may come from a stranger: write nowhere else
            raise InputError(f"{target / name} is a symbolic link that leads out of {path}: remove it first")
    for name, content in pages.items():
        write_atomically(target / name, content)
    _remove_others(target, pages)
    index = target / "index.html"
    seconds = round(time.perf_counter() - start, 2)
    if as_json:
        echo_json(
            {"index": str(index), "pages": len(pages), "claims": len(report.claims),
             "certificates": report.certificates, "verified": report.rechecked,
             "damaged": len(report.damaged),
             "unconverted": [claim.key for claim in report.unconverted], "complete": report.complete,
             "bytes": sum(len(c if isinstance(c, bytes) else c.encode()) for c in pages.values()),
             "seconds": seconds}
        )  # fmt: skip
    else:
        _say_what_is_amiss(report, folder)
        again = f"{report.rechecked} verified again" if verify else "not verified again"
        counted = f"{len(report.claims)} claims, {report.certificates} certificates ({again})"
        click.echo(f"{counted}, {seconds} s -> {one_line(str(index))}")
    for claim in report.unconverted:
        text = f"warning: {claim.key}: the proof is not shown as text: {claim.unconverted}"
        click.echo(one_line(text), err=True)
    return 1 if report.damaged else 0


def _say_what_is_amiss(report: Report, folder: str) -> None:
    for claim, row in report.damaged[:_MOST_LINES]:
        click.echo(one_line(f"{claim.key} {row.name}: {row.damage}"), err=True)
    if (more := len(report.damaged) - _MOST_LINES) > 0:
        click.echo(f"and {more} more instances; the report names all", err=True)
    if not report.complete:
        again = f"`lightningalg worksheet run --out {shlex.quote(folder)}`, with its other arguments"
        click.echo(f"the run was interrupted: to go on, run {again}, again", err=True)


def _remove_others(target: Path, pages: Collection[str]) -> None:
    """Remove pages that an earlier report wrote for claims which the run no longer has."""
    for path in (target / "claims").glob("*.html"):
        if f"claims/{path.name}" in pages or path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as stream:
            stream.seek(max(0, path.stat().st_size - 1000))
            ours = b"Written by <code>lightningalg report</code>" in stream.read()
        if ours:
            path.unlink()


class _Seldom:
    """Pass on a line of progress, but at most one a second."""

    def __init__(self, progress: Progress):
        self.progress, self.last = progress, time.monotonic()

    def __call__(self, text: str) -> None:
        if time.monotonic() - self.last >= 1:
            self.last = time.monotonic()
            self.progress(one_line(text))


def _compile(folder: Path, timeout: float, progress: Progress) -> None:
    """Run LaTeX on the proofs whose PDF is absent or older than its text."""
    from lightningalg.render.latex import compile_pdf
    from lightningalg.worksheets.report import proofs_of

    proofs = proofs_of(folder)
    for number, proof in enumerate(proofs, start=1):
        target = proof.with_suffix(".pdf")
        if not proof.is_file():
            raise InputError(f"proof {proof}: no such file; run the worksheets again")
        if not target.is_file() or target.stat().st_mtime < proof.stat().st_mtime:
            progress(one_line(f"LaTeX: {proof.parent.name}/{proof.stem} ({number} of {len(proofs)})"))
            compile_pdf(proof, timeout=timeout)
