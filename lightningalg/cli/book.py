"""``lightningalg book``: one LaTeX document from a worksheet run."""

from __future__ import annotations

import shlex
import time
from pathlib import Path

import click

from lightningalg.certificates.files import write_atomically
from lightningalg.cli.options import MAX_SECONDS, Finite, Progress, echo_json
from lightningalg.cli.progress import counted_progress
from lightningalg.errors import InputError, one_line

NAME = "book"


@click.command(
    "book",
    epilog="Exit code: 0 success, 1 certificates are missing, not valid or not what the run recorded (the "
    "first ten are named), 2 no run in DIR, or LaTeX is missing.",
)
@click.argument("folder", metavar="DIR")
@click.option("--out", metavar="F.tex", help="Write the book here (default: DIR/book.tex).")
@click.option("--pdf", is_flag=True, help="Also run LaTeX; the PDF goes next to F.tex.")
@click.option("--lang", default="en", show_default=True, metavar="LANG",
              help="Language: en or es. Texts of worksheets without translation stay English.")  # fmt: skip
@click.option("--title", default="", metavar="TEXT", help="Title of the book.")
@click.option("--timeout", type=Finite(min=1, max=MAX_SECONDS), default=900, show_default=True,
              metavar="SECONDS", help="For LaTeX.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def command(
    folder: str, out: str | None, pdf: bool, lang: str, title: str, timeout: float, as_json: bool
) -> int:
    """Write a worksheet run as one book: contents, theory, a section for each claim, a table, certificates.

    DIR is the folder that "worksheet run --out DIR" filled. Every certificate is verified again and
    compared with what the run recorded: nothing is printed that the checker does not accept. The theory
    stands once, in a chapter on foundations, and the proofs of all claims refer to it; the last chapters are
    the table of the paper's statements and the hashes of all certificates. The book of all worksheets has
    some three hundred pages.

    \b
    Example:
      lightningalg worksheet run --out out
      lightningalg book out --pdf
    """
    from lightningalg.render.latex import compile_with_log, overfull_boxes
    from lightningalg.render.latex.book import render_book
    from lightningalg.render.latex.language import known_language
    from lightningalg.worksheets.book import NotValidError, read_book

    known_language(lang)
    if out is not None and Path(out).suffix != ".tex":
        raise click.UsageError(f"--out {out!r}: the name must end in .tex")
    start, path = time.perf_counter(), Path(folder)
    target = Path(out) if out is not None else path / f"{NAME}.tex"
    with counted_progress() as progress:
        try:
            book = read_book(path, title=title, lang=lang, progress=progress)
        except NotValidError as error:
            listed = f"`lightningalg report {shlex.quote(folder)}` lists what is missing or altered"
            click.echo(f"error: {error}; {listed}, {one_line(_run(folder))} makes it again", err=True)
            return 1
        if not any(claim.certificates for chapter in book.chapters for claim in chapter.claims):
            raise InputError(
                f"{path}: a book needs at least one certificate that the verifier has accepted, and a run "
                f"verifies them at its end: if it was interrupted, go on with {_run(folder)}"
            )
        text = render_book(book, lang=lang, progress=progress)
    write_atomically(target, text)
    facts: dict[str, object] = {"written": [str(target)], "claims": sum(len(c.claims) for c in book.chapters)}
    if pdf:
        waiting = Progress()
        waiting(f"LaTeX, at most {timeout:g} s")
        file, log = compile_with_log(target, timeout=timeout)
        pages = _pages(log)
        widest = max(overfull_boxes(log), default=0.0)
        facts |= {"written": [str(target), str(file)], "pages": pages, "bytes": file.stat().st_size,
                  "widest_overfull_box": widest}  # fmt: skip
    facts["seconds"] = round(time.perf_counter() - start, 2)
    if as_json:
        echo_json(facts)
    else:
        size = f", {facts['pages']} pages, {int(str(facts['bytes'])) / 2**20:.1f} MB" if pdf else ""
        written = one_line(str(facts["written"][-1]))  # type: ignore[index]
        click.echo(f"{facts['claims']} claims{size}, {facts['seconds']} s -> {written}")
    return 0


def _run(folder: str) -> str:
    return f"`lightningalg worksheet run --out {shlex.quote(folder)}` (with the worksheets of that run)"


def _pages(log: str) -> int | None:
    """Return the number of pages that LaTeX says it wrote."""
    import re

    found = re.findall(r"Output written on .*\((\d+) pages?,", log)
    return int(found[-1]) if found else None
