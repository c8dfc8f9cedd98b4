"""``lightningalg invariants``: equations of the Zariski closure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lightningalg.cli.options import Progress, echo_json, network_from_options, network_options
from lightningalg.errors import one_line, shown

if TYPE_CHECKING:
    from lightningalg.invariants.elimination import Elimination
    from lightningalg.invariants.pointwise import PointRank
    from lightningalg.invariants.report import InvariantsReport

_SYSTEMS = ("macaulay2", "singular")


@click.command(
    "invariants",
    epilog="Exit code: 0 if vanishing, completeness and minimality are all proved, 1 if some of it was "
    "only counted modulo a prime, 2 for bad input.",
)
@network_options
@click.option("--up-to", "up_to", type=click.IntRange(1, 64), metavar="K",
              help="Largest degree of equations (default 4); for lightning also --degree K.")  # fmt: skip
@click.option("--out", metavar="CERT.json", help="Write the certificate to this file (one attention head).")
@click.option(
    "--export", "system", type=click.Choice(_SYSTEMS), help="Print the ideal in this system's language."
)
@click.option("--export-to", metavar="FILE", help="Write the exported ideal to this file instead.")
@click.option(
    "--polynomials", is_flag=True, help="Print the generators, one for each multidegree up to permutation."
)
@click.option("--points", is_flag=True, help="Also the Jacobian criterion at a point of each orbit (d >= 2).")
@click.option("--eliminate", "engine", metavar="ENGINE",
              help="Also the whole ideal by elimination: auto, flint, singular or macaulay2.")  # fmt: skip
@click.option("--no-proofs", is_flag=True, help="Only find the generators: no completeness, no minimality.")
@click.option("--hilbert", type=click.IntRange(1, 60), metavar="N",
              help="Follow the Hilbert function to N; default: to the degree, if dim Y <= 7.")  # fmt: skip
@click.option("--max-monomials", type=click.IntRange(1), default=3_000_000, show_default=True, metavar="N",
              help="Refuse, before it starts, a degree with more monomials.")  # fmt: skip
@click.option("--seed", default="0", show_default=True, help="Decides the points modulo p.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def command(
    up_to: int | None,
    out: str | None,
    system: str | None,
    export_to: str | None,
    polynomials: bool,
    points: bool,
    engine: str | None,
    no_proofs: bool,
    hilbert: int | None,
    max_monomials: int,
    seed: str,
    as_json: bool,
    **network_flags: Any,
) -> int:
    """Minimal generators of the ideal of the closure Y of the neuromanifold, degree by degree.

    Equations are found modulo a prime in each multidegree of the torus that acts on inputs and outputs,
    lifted to the rationals and substituted into the parametrisation: that they vanish is exact. A rank
    modulo the prime shows that there are no others, and linear functionals that none is superfluous.

    Networks: one lightning layer (also with heads, also --tokens 1), and functions of one token (deep
    lightning with
    --tokens 1, monomial networks).

    \b
    Examples:
      lightningalg invariants --widths 2,1 --ranks 2 --polynomials      # a resultant
      lightningalg invariants --widths 3,1 --ranks 1 --out equations.json
      lightningalg invariants --widths 2,2 --ranks 1 --export macaulay2 --export-to y.m2
      lightningalg invariants --kind monomial --widths 3,2,1 --degree 2 --up-to 3
    """
    _check_export(system, export_to, as_json)
    up_to = _degree(up_to, network_flags)
    network = network_from_options(**network_flags)
    from lightningalg.certificates.files import write_atomically
    from lightningalg.invariants.export import export
    from lightningalg.invariants.study import invariants

    if out is not None:
        _check_certifiable(network)
    report = invariants(
        network,
        up_to,
        seed=seed,
        hilbert=hilbert,
        proofs=not no_proofs,
        max_monomials=max_monomials,
        progress=_Seldom(Progress()),
    )
    ranks = _point_ranks(report) if points else None
    whole = None if engine is None else _eliminated(report, engine)
    kept = "" if out is None else _certified(report, out)
    if system is not None:
        text = export(report, system)
        if export_to is None:
            click.echo(text, nl=False)
            return 0
        write_atomically(Path(export_to), text)
    if as_json:
        echo_json(_answer(report, ranks, whole))
    else:
        _show(report, polynomials, ranks, whole)
        for line in filter(None, [kept, f"wrote {one_line(export_to)}" if export_to else ""]):
            click.echo(line)
    proved = report.proofs is not None and report.minimal
    return 0 if proved and (whole is None or whole.equal) else 1


def _check_export(system: str | None, export_to: str | None, as_json: bool) -> None:
    if export_to is not None and system is None:
        raise click.UsageError(f"--export-to needs --export: {' or '.join(_SYSTEMS)}")
    if system is not None and export_to is None and as_json:
        raise click.UsageError("--json with --export needs --export-to FILE")


def _point_ranks(report: InvariantsReport) -> list[PointRank]:
    from lightningalg.invariants.pointwise import point_ranks

    return point_ranks(report)


def _certified(report: InvariantsReport, out: str) -> str:
    """Write the certificate, and return the line that says so."""
    from lightningalg.certificates.files import write_atomically
    from lightningalg.claims.invariants import invariants_certificate

    certificate = invariants_certificate(report)
    write_atomically(Path(out), certificate.to_text() + "\n")
    return f"certificate {certificate.sha256[:12]} -> {one_line(out)}: {certificate.claim['relation']}"


def _answer(
    report: InvariantsReport, ranks: list[PointRank] | None, whole: Elimination | None
) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    answer = report.to_json()
    if ranks is not None:
        answer["points"] = [point.to_json() for point in ranks]
    if whole is not None:
        answer["elimination"] = whole.to_json()
    return answer


def _eliminated(report: InvariantsReport, name: str) -> Elimination:
    from lightningalg.engines.choose import first_answer
    from lightningalg.invariants.elimination import eliminate, graph_ideal

    ideal = graph_ideal(report.phi)
    answer, _ = first_answer(lambda engine: eliminate(report, engine), name, ideal=ideal, need="elimination")
    return answer


def _show_elimination(report: InvariantsReport, whole: Elimination) -> None:
    """Print what an engine's elimination says of all degrees."""
    dimension = f"dimension {whole.dimension}, degree {whole.degree}, {whole.seconds:.1f} s"
    if whole.equal:
        text = f"the ideal has no generators of degree above {report.degree}"
    else:
        text = f"the ideal is another one: it has generators of degree above {report.degree}"
    click.echo(f"  Elimination by {whole.engine} ({dimension}): {text}.")


class _Seldom:
    """Passes on a message at most once in two seconds: there are hundreds of multidegrees."""

    def __init__(self, progress: Progress) -> None:
        import time

        self._progress, self._clock, self._last = progress, time.monotonic, 0.0

    def __call__(self, message: str) -> None:
        if self._clock() - self._last >= 2:
            self._last = self._clock()
            self._progress(message)


def _degree(up_to: int | None, flags: dict[str, Any]) -> int:
    """``--degree K``: the equations' degree where the network has no activations."""
    if flags["degree"] is None or flags["kind"] == "monomial" or flags["network_file"] is not None:
        return 4 if up_to is None else up_to
    if up_to is not None:
        raise click.UsageError("--degree and --up-to: for a lightning network these are the same; give one")
    text = flags.pop("degree")
    flags["degree"] = None
    if not text.isascii() or not text.isdigit() or len(text) > 2 or not 1 <= int(text) <= 64:
        raise click.UsageError(f"--degree {shown(text, 40)!r}: accepted is an integer from 1 to 64")
    return int(text)


def _check_certifiable(network: Any) -> None:
    from lightningalg.errors import UnsupportedError
    from lightningalg.networks.families import attention_chain

    chain = attention_chain(network)
    if chain is None or len(chain) != 1:
        raise UnsupportedError(
            "--out: certificates of equations are for a single attention head; leave it out"
        )


def _show_points(report: InvariantsReport, ranks: list[PointRank]) -> None:
    """Print the Jacobian criterion, orbit by orbit."""
    click.echo("  rk V   rk A   meet   rank of the Jacobian   point")
    for point in ranks:
        click.echo(
            f"  {point.rank_v:>4}{point.rank_a:>7}{point.meet:>7}{point.jacobian_rank:>15} of "
            f"{point.codimension:<6}{point.verdict}"
        )
    click.echo(
        "  Smooth is proved. Singular supposes that the ideal has no generators of degree above "
        f"{report.degree} (lightningalg singular decides without)."
    )


def _show(
    report: InvariantsReport, polynomials: bool, ranks: list[PointRank] | None, whole: Elimination | None
) -> None:
    """Print the report for people."""
    from lightningalg.invariants.text import lines

    for line in lines(report, polynomials):
        click.echo(line)
    if ranks is not None:
        _show_points(report, ranks)
    if whole is not None:
        _show_elimination(report, whole)
