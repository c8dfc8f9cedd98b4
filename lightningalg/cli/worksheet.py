"""``lightningalg worksheet``: list, show and run certificate worksheets."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lightningalg.cli.options import CommandGroup, echo_json
from lightningalg.cli.progress import counted_progress
from lightningalg.errors import one_line

if TYPE_CHECKING:
    from lightningalg.worksheets.model import Worksheet
    from lightningalg.worksheets.results import ClaimResult, Run


@click.group("worksheet", cls=CommandGroup)
def command() -> None:
    """Certificate worksheets: TOML files of claims, run into certificates, proofs and a table of verdicts.

    NAME is one that "list" shows; a FILE or DIR of your own works the same. A worksheet:

    \b
      title = "Square single layers"
      [[claim]]
      id = "square"
      kind = "dimension"
      expected = "2*a*d + d^2 - a^2 - 1"
      grid = { d = "1..4", a = "1..4" }
      where = "a <= d"
      network = { kind = "lightning", widths = ["d", "d"], ranks = ["a"], tokens = 2 }
    """


def _read(names: tuple[str, ...]) -> list[Worksheet]:
    from lightningalg.worksheets.library import find_worksheets
    from lightningalg.worksheets.model import read_worksheet

    return [read_worksheet(path) for path in find_worksheets(names)]


def _say(text: str) -> None:
    """Print text from a worksheet: control characters, which a terminal would obey, become question marks."""
    click.echo("".join(c if c in "\n\t" or unicodedata.category(c)[0] != "C" else "?" for c in text))


@command.command("list")
@click.argument("names", nargs=-1, metavar="[NAME|FILE|DIR...]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def list_command(names: tuple[str, ...], as_json: bool) -> None:
    """List worksheets and their claims."""
    worksheets = _read(names)
    if as_json:
        echo_json({"worksheets": [_outline(worksheet) for worksheet in worksheets]})
        return
    for worksheet in worksheets:
        _say(f"{worksheet.name}: {worksheet.title}")
        for claim in worksheet.claims:
            count = len(claim.instances)
            _say(f"  {claim.id:<28} {claim.kind:<18} {count:>4} instance{'' if count == 1 else 's'}")


def _outline(worksheet: Worksheet) -> dict[str, object]:
    claims = [
        {"id": claim.id, "kind": claim.kind, "title": claim.title, "instances": len(claim.instances)}
        for claim in worksheet.claims
    ]
    return {"name": worksheet.name, "path": str(worksheet.path), "title": worksheet.title, "claims": claims}


def _in_full(worksheet: Worksheet) -> dict[str, object]:
    claims = [
        {
            "id": claim.id,
            "kind": claim.kind,
            "title": claim.title,
            "statement": claim.statement,
            "source": claim.source or worksheet.source,
            "prose": claim.prose,
            "hypotheses": [hypothesis.text for hypothesis in claim.hypotheses],
            "relation": "differs" if claim.differs else "equals",
            "expected": claim.expected,
            "check": claim.check.text if claim.check else None,
            "declared": claim.declared or None,
            "paper": list(claim.paper),
            "instances": [{"name": i.name, "expected": i.expected, **i.table} for i in claim.instances],
        }
        for claim in worksheet.claims
    ]
    about = {"title": worksheet.title, "source": worksheet.source, "prose": worksheet.prose}
    return {"name": worksheet.name, "path": str(worksheet.path), **about, "claims": claims}


@command.command("show")
@click.argument("names", nargs=-1, required=True, metavar="NAME|FILE|DIR...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def show_command(names: tuple[str, ...], as_json: bool) -> None:
    """Show what worksheets say: prose, claims, hypotheses, what is expected and for which sizes."""
    worksheets = _read(names)
    if as_json:
        echo_json({"worksheets": [_in_full(worksheet) for worksheet in worksheets]})
        return
    for worksheet in worksheets:
        _say(f"{worksheet.title}\n{'=' * len(worksheet.title)}")
        for text in (worksheet.source, worksheet.prose):
            if text:
                _say(f"\n{text}")
        for claim in worksheet.claims:
            _say(f"\n[{claim.id}] {claim.title}  ({claim.kind}, {len(claim.instances)} instances)")
            for text in (claim.statement, claim.source, claim.prose):
                if text:
                    _say(f"  {text}")
            for hypothesis in claim.hypotheses:
                _say(f"  hypothesis: {hypothesis.text}")
            sign = "differs from" if claim.differs else "equals"
            if claim.expected:
                _say(f"  {sign} {claim.expected}")
            if claim.check:
                _say(f"  check: {claim.check.text}")
            if claim.declared:
                _say(f"  declared verdict: {claim.declared}")


@command.command(
    "run",
    epilog="Exit code: 0 if every claim has the verdict that its worksheet declares (certified, unless it "
    "says otherwise), 1 if one has not, 2 for bad input.",
)
@click.argument("names", nargs=-1, metavar="[NAME|FILE|DIR...]")
@click.option("--out", default="out", show_default=True, metavar="DIR", help="Where results go.")
@click.option("--claim", "claims", multiple=True, metavar="ID", help="Only this claim (may be repeated).")
@click.option(
    "--jobs", type=click.IntRange(1, 256), metavar="N", help="Processes (default: the number of cores)."
)
@click.option("--force", is_flag=True, help="Certify again what is already certified.")
@click.option("--seed", default="0", show_default=True, help="Decides points, inputs and functionals.")
@click.option(
    "--lang",
    default="en",
    show_default=True,
    metavar="en|es",
    help="Language of the proofs: English or Spanish.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object, nothing else.")
def run_command(
    names: tuple[str, ...],
    out: str,
    claims: tuple[str, ...],
    jobs: int | None,
    force: bool,
    seed: str,
    lang: str,
    as_json: bool,
) -> int:
    """Run worksheets: all that come with lightningalg, or those named.

    Writes to DIR one certificate for each claim instance, one LaTeX proof for each claim,
    summary.json, and the table that is printed at the end (table.md, table.csv): the paper's statements
    in the paper's order, each with the claims that settle it. Every certificate is checked by the
    independent verifier before it counts. What is already certified is not computed again; Ctrl-C keeps
    what is finished.
    """
    from lightningalg.certificates.sampling import validate_seed
    from lightningalg.worksheets.runner import run_worksheets

    worksheets = _read(names)
    with _telling_what_is_kept(Path(out)), counted_progress() as progress:
        run = run_worksheets(
            worksheets, out=Path(out), claims=claims, jobs=jobs, force=force,
            seed=validate_seed(seed), lang=lang, progress=progress,
        )  # fmt: skip
    if as_json:
        echo_json(run.to_json())
    else:
        _table(run)
        for result in run.claims:
            if not result.as_declared:
                click.echo(_not_as_declared(result))
    return 0 if run.as_declared else 1


_HEADS = ("statement and claim", "verdict", "strength", "certificates", "proof", "seconds")


@contextlib.contextmanager
def _telling_what_is_kept(out: Path) -> Iterator[None]:
    """Say, where a run is interrupted, what stays of it and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        from lightningalg.worksheets.summary import SUMMARY

        count = sum(1 for _ in out.glob("*/*/*.json"))
        with contextlib.suppress(OSError):  # the terminal may have gone
            shown = f", and `lightningalg report {shlex.quote(str(out))}` shows what was finished"
            click.echo(
                f"{count} certificates are kept in {one_line(str(out))}: the same command goes on from there"
                + (shown if (out / SUMMARY).is_file() else ""),
                err=True,
            )
        raise


def _broken(name: str, width: int) -> str:
    """Return a name of a worksheet and claim in lines of at most ``width``, after "/" or "-" if possible.

    Examples
    --------
    >>> _broken("single-layer/attention-matrices", 20)
    'single-layer/\\nattention-matrices'
    """
    lines = [""]
    for piece in re.split(r"(?<=[/-])", name):
        if lines[-1] and len(lines[-1]) + len(piece) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines)


def _cells(row: Mapping[str, Any], width: int) -> list[str]:
    """Return a claim's line of the table, with rich's markup; its name takes lines of that width."""
    from lightningalg.worksheets.statements import counted

    colours = {"certified": "green", "refuted": "red", "open": "yellow"}
    colour = "green" if row["as_declared"] else colours.get(row["verdict"], "red")
    declared = ", as declared" if row["declared"] != "certified" and row["as_declared"] else ""
    return [
        "  " + _broken(f"{row['worksheet']}/{row['claim']}", width - 2).replace("\n", "\n  "),
        f"[{colour}]{row['verdict']}[/]{declared}",
        row["strength"] or "",
        counted(row),
        "yes" if row["proof"] else "no",
        f"{row['seconds']:.1f}",
    ]


def _said(result: ClaimResult, verdict: str) -> str:
    """Return an instance's verdict, and that it is declared, where the whole claim is as declared."""
    return f"{verdict}, as declared" if result.as_declared and verdict == result.claim.declared else verdict


def _not_as_declared(result: ClaimResult) -> str:
    """Say in what a claim is not as its worksheet declares it: why the exit code is 1."""
    claim, declared = result.claim, result.claim.declared or "certified"
    found = f"{result.worksheet.name}/{claim.id}: declared {declared}, found {result.verdict}"
    if claim.counterexamples is not None:
        found += f" with {result.count('refuted')} of {claim.counterexamples} counterexamples declared"
    if result.verdict == declared and result.count("open"):
        found += f", {result.count('open')} instances open"
    return one_line(found)


def _first_column(summary: Mapping[str, Any], width: int) -> int:
    """Return the width of the column of claims: whole names first, then what the other columns leave."""
    from rich.text import Text

    rows = [*summary["others"], *(row for one in summary["statements"] for row in one["rows"])]
    longest = max((len(f"  {row['worksheet']}/{row['claim']}") for row in rows), default=0)
    whole = min(max(longest, 30), max(24, width - 74))
    others = [[Text.from_markup(cell).cell_len for cell in _cells(row, width)[1:]] for row in rows]
    heads = [len(head) for head in _HEADS[1:]]
    left = width - sum(max(column) for column in zip(heads, *others, strict=True)) - 3 * len(heads) - 4
    return max(whole, left)


def _table(run: Run) -> None:
    """Print what is not certified, the statements with their claims, and where the results are."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    # into a text first: rich would end the process by itself where the reader of our output has gone
    terminal = sys.stdout.isatty()
    text = io.StringIO()
    width = shutil.get_terminal_size().columns if terminal else 120
    console = Console(file=text, force_terminal=terminal, width=width)
    for result in run.claims:
        for instance in result.instances:
            if instance.verdict != "certified":
                facts = ", ".join(
                    f"{name} {value}" for name, value in instance.proved.items() if value is not None
                )
                expected = "" if instance.expected is None else f"expected {instance.expected}; "
                what = f"{result.claim.id} {instance.task.instance}: {_said(result, instance.verdict)}"
                console.print(escape(f"{what}: {instance.reason or expected + facts}"), soft_wrap=True)
    table = Table(*_HEADS)
    summary = run.to_json()["table"]
    first = _first_column(summary, width)
    table.columns[0].width, table.columns[0].overflow = first, "fold"
    table.columns[-1].justify = "right"
    for statement in summary["statements"]:
        table.add_row(f"[bold]{escape(statement['text'])}[/] {escape('(' + statement['where'] + ')')}")
        for row in statement["rows"]:
            table.add_row(*_cells(row, first))
        if statement["illustration"]:
            table.add_row(f"  notebook {escape(statement['illustration'])}", "open", "numerical")
    if summary["statements"] and summary["others"]:
        table.add_row("[bold]Other claims[/]")
    for row in summary["others"]:
        table.add_row(f"[bold]{escape(row['statement'] or row['title'])}[/]")
        table.add_row(*_cells(row, first))
    console.print(table)
    certificates = [r for claim in run.claims for r in claim.instances if r.certificate is not None]
    verified = sum(r.verified is True for r in certificates)
    skipped = sum(r.skipped for r in certificates)
    console.print(
        f"{len(certificates)} certificates ({verified} accepted by the verifier, {skipped} already there), "
        f"{sum(claim.proof is not None for claim in run.claims)} proofs, {run.seconds:.1f} s -> "
        f"{escape(str(run.out / 'summary.json'))}, table.md, table.csv",
        soft_wrap=True,
    )
    click.echo(text.getvalue(), nl=False)
