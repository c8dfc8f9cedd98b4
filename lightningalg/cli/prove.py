"""``lightningalg prove``: LaTeX proofs from verified certificates."""

from __future__ import annotations

from pathlib import Path

import click

from lightningalg.certificates.checker import check_files, explain
from lightningalg.certificates.files import read_certificate, refuse_other_files, write_atomically
from lightningalg.cli.options import MAX_SECONDS, Finite, Progress, echo_json
from lightningalg.cli.supervise import set_timeout
from lightningalg.errors import InputError, one_line, shown


@click.command(
    "prove", epilog="Exit code: 0 success, 1 a certificate is not valid, 2 bad input or LaTeX is missing."
)
@click.argument("files", nargs=-1, required=True, metavar="CERT.json...")
@click.option("--out", metavar="F.tex", help="Write the article here (default: standard output).")
@click.option("--pdf", is_flag=True, help="Also run LaTeX; the PDF goes next to F.tex.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
@click.option("--title", metavar="TEXT", help="Title of the article.")
@click.option(
    "--lang",
    default="en",
    show_default=True,
    metavar="en|es",
    help="Language of the article: English or Spanish.",
)
@click.option("--timeout", type=Finite(min=1, max=MAX_SECONDS), metavar="SECONDS", callback=set_timeout,
              help="End the command after so long (LaTeX alone: 120, unless this is given).")  # fmt: skip
def command(
    files: tuple[str, ...],
    out: str | None,
    pdf: bool,
    as_json: bool,
    title: str | None,
    lang: str,
    timeout: float | None,
) -> int:
    """Print the proof that certificates carry as a self-contained LaTeX article.

    Each certificate is verified first: nothing is printed that the checker does not accept.

    \b
    Example:
      lightningalg dimension --widths 4,2,4 --ranks 2,1 --out cert.json
      lightningalg prove cert.json --out proof.tex --pdf
      lightningalg prove cert.json --lang es --out demostracion.tex
    """
    from lightningalg.render.latex import compile_pdf, known_language, render_proof

    known_language(lang)
    if pdf and out is None:
        raise click.UsageError("--pdf needs --out F.tex, so that the PDF has a place")
    if out is not None and Path(out).suffix != ".tex":
        raise click.UsageError(f"--out {out!r}: the name must end in .tex")
    paths = [Path(name) for name in files]
    if pdf and out is not None:
        _refuse_input(Path(out).with_suffix(".pdf"), paths)
    progress = Progress("verifying the certificates")
    if (invalid := _first_invalid(paths)) is not None:
        click.echo(f"error: {one_line(invalid)}", err=True)
        return 1
    certificates = [read_certificate(path) for path in paths]
    progress("writing the article")
    article = render_proof(certificates, title=title, lang=lang)
    written = []
    if out is not None:
        write_atomically(Path(out), article)
        written.append(out)
    if out is not None and pdf:
        progress("running LaTeX")
        written.append(str(compile_pdf(Path(out), timeout=timeout or 120.0)))
    if as_json:
        hashes = [certificate["sha256"] for certificate in certificates]
        echo_json({"certificates": hashes, "written": written, "article": None if out else article})
    elif out is None:
        click.echo(article, nl=False)
    else:
        for name in written:
            click.echo(f"wrote {one_line(name)}")
    return 0


def _refuse_input(derived: Path, inputs: list[Path]) -> None:
    """Refuse a PDF that would take the place of an input, by whatever name."""
    for path in inputs:
        if derived.exists() and path.exists() and derived.samefile(path):
            raise click.UsageError(
                f"--pdf would write {shown(str(derived), 200)!r}, which is an input: choose another --out"
            )


def _first_invalid(paths: list[Path]) -> str | None:
    """Verify certificates; return what is wrong with the first invalid one, refusing other files."""
    problems: dict[str, str] = {}
    for path, answer in zip(paths, check_files(paths), strict=True):
        if answer["verdict"] == "invalid":
            refuse_other_files(path)
        if answer["verdict"] != "valid":
            problems.setdefault(answer["verdict"], f"{path} is {explain(answer)}; there is nothing to prove")
    if problems and "invalid" not in problems:
        raise InputError(next(iter(problems.values())))
    return problems.get("invalid")
