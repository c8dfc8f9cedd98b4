"""``lightningalg symmetries``: known groups and discovered Lie algebra against the Jacobian's kernel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lightningalg.cli.options import Progress, echo_json, network_from_options, network_options
from lightningalg.errors import one_line

if TYPE_CHECKING:
    from lightningalg.symmetry.report import SymmetryReport


@click.command(
    "symmetries",
    epilog='Exit code: 0 also where part of the kernel stays unexplained (see "hidden"), 2 for bad input.',
)
@network_options
@click.option("--out", metavar="CERT.json", help="Write a certificate of what is proved to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
@click.option("--seed", default="0", show_default=True, help="Decides points, inputs and functionals.")
@click.option("--field-degree", type=click.IntRange(1, 3), default=2, show_default=True,
              help="Highest degree of the vector fields searched where linear ones fall short.")  # fmt: skip
@click.option("--max-parameters", type=click.IntRange(1), default=1000, show_default=True, metavar="N",
              help="Refuse networks with more parameters.")  # fmt: skip
@click.option("--max-unknowns", type=click.IntRange(1), default=400_000, show_default=True, metavar="N",
              help="Skip degrees whose fields have more coefficients.")  # fmt: skip
@click.option("--engine", default="auto", show_default=True, help="Elimination: auto, flint or blocked.")
def command(
    out: str | None,
    as_json: bool,
    seed: str,
    field_degree: int,
    max_parameters: int,
    max_unknowns: int,
    engine: str,
    **network_flags: Any,
) -> int:
    """Continuous symmetries of the parametrisation, known and discovered.

    Groups that the graph shows (heads, hidden widths, activations), all linear symmetries (found by
    linear algebra, lifted to the rationals, checked as identities), and how much of the Jacobian's kernel
    they account for. Where linear symmetries do not fill the kernel, vector fields of degree two (three) and
    factorisations of the network are tried; what is left is reported as hidden.

    --out writes what is proved as identities: the fields, the Lie algebra where it is a product of gl,
    so(a,a) and tori, and, if so, that they fill the kernel: then nothing is hidden.

    (--degree is the activation degree of a monomial network; --field-degree that of vector fields.)

    \b
    Examples:
      lightningalg symmetries --widths 3,2,3 --ranks 2,2
      lightningalg symmetries --widths 3,3,3 --ranks 1,3 --out cert.json
      lightningalg symmetries --kind monomial --widths 3,3,1 --degree 2 --field-degree 2 --json
    """
    network = network_from_options(**network_flags)
    from lightningalg.claims.symmetries import symmetries, symmetry_certificate
    from lightningalg.engines.choose import linear_algebra

    linear_algebra(1, 1, engine)  # an unknown name is refused before any work
    progress = Progress()
    report = symmetries(
        network, seed=seed, degree=field_degree, max_parameters=max_parameters, max_unknowns=max_unknowns,
        engine=engine, progress=progress,
    )  # fmt: skip
    certificate = None
    if out is not None:
        from lightningalg.certificates.files import write_atomically

        certificate = symmetry_certificate(network, seed=seed, engine=engine, progress=progress)
        write_atomically(Path(out), certificate.to_text() + "\n")
    if as_json:
        written = {} if certificate is None else {"certificate_sha256": certificate.sha256}
        echo_json({**report.to_json(), **written})
    else:
        _show(report)
        if certificate is not None:
            claim = certificate.claim
            click.echo(
                f"certificate {certificate.sha256[:12]} -> {one_line(str(out))}: "
                f"{claim['fields']} independent fields, {claim['rank']} directions that {claim['relation']}"
            )
    return 0


def _show(report: SymmetryReport) -> None:
    """Print the report for people."""
    click.echo(str(report.network))
    kind = "generic rank, proved" if report.rank_is_exact else "lower bound of the generic rank, proved"
    rows = [
        ("parameters", report.parameters, ""),
        ("rank", report.rank, f"of the Jacobian: {kind}"),
        ("kernel", report.kernel_dimension, "parameters - rank"),
        ("algebra", report.algebra_dimension, f"linear symmetries: {report.algebra}"),
        ("linear", report.linear_rank, "dimensions of the kernel that they account for"),
        ("explained", report.explained_rank, f"with higher degrees and factorisations ({report.strength})"),
        ("hidden", report.hidden, "dimensions of the kernel without explanation"),
    ]  # fmt: skip
    for name, number, remark in rows:
        click.echo(f"  {name:<12}{number:>8}   {remark}".rstrip())
    _show_groups(report)
    for sentence in report.verdict():
        click.echo(sentence)


def _show_groups(report: SymmetryReport) -> None:
    shares = [*report.known, *report.polynomial]
    click.echo("groups (dimension, orbit dimension at the point):" if shares else "groups: none")
    names = [*(share.group.name for share in shares), *(group.name for group in report.discrete)]
    width = max(map(len, names), default=0)
    for share in shares:
        group = share.group
        where = f" ({group.layers[0]})" if len(group.layers) == 1 else ""
        click.echo(
            f"  {group.name:<{width}}{group.dimension:>5}{share.orbit_dimension:>5}   {group.action}{where}"
        )
    for discrete in report.discrete:
        click.echo(
            f"  {discrete.name:<{width}}{'finite':>10}   {discrete.action} ({', '.join(discrete.layers)})"
        )
