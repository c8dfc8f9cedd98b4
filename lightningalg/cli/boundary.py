"""``lightningalg boundary``: where one layer's neuromanifold ends among the real points of its closure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lightningalg.cli.options import Progress, echo_json, network_from_options, network_options
from lightningalg.errors import one_line

if TYPE_CHECKING:
    from lightningalg.certificates import Certificate

_ARGUMENTS = {
    "no complement": "all real points of Y have real weights",
    "family": "limit of points w (l(x)^2 + m(x)^2) q(y) without real weights",
    "outputs": "rk V >= 2: a minor is not zero, and vanishes at points without real weights",
    "attention": "rk A >= 2: a minor is not zero, and vanishes at points without real weights",
    "indefinite": "the quadratic form has both signs; at points without real weights it has one",
}


@click.command("boundary", epilog="Exit code: 0, or 2 for bad input.")
@network_options
@click.option("--out", metavar="CERT.json", help="Write the certificate to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def command(out: str | None, as_json: bool, **network_flags: Any) -> int:
    """Boundary of the neuromanifold M of one attention layer in the real points of its closure Y.

    M is closed. Real points of Y outside M are w (l(x)^2 + m(x)^2) q(y) with independent l, m: their two
    linear factors are complex conjugates. The boundary consists of the points of M that are limits of such
    points. For one given function see `lightningalg membership`.

    \b
    Examples:
      lightningalg boundary --widths 2,1 --ranks 1
      lightningalg boundary --widths 4,3 --ranks 2 --out cert.json
    """
    network = network_from_options(**network_flags)
    from lightningalg.certificates.files import write_atomically
    from lightningalg.claims.boundary import boundary
    from lightningalg.networks.families import described

    Progress("deciding the orbits")
    certificate = boundary(network)
    if out is not None:
        write_atomically(Path(out), certificate.to_text() + "\n")
    if as_json:
        strata = [
            {key: entry[key] for key in ("stratum", "boundary", "argument")}
            for entry in certificate.witness["strata"]
        ]
        claim = {key: value for key, value in certificate.claim.items() if key != "quantity"}
        subject = {"network": described(network)}
        echo_json({**subject, **claim, "strata": strata, "strength": "exact", "sha256": certificate.sha256})
    else:
        click.echo(str(network))
        _show(certificate, out)
    return 0


def _show(certificate: Certificate, out: str | None) -> None:
    claim = certificate.claim
    complement = claim["complement_dimension"]
    click.echo(f"  dimension of Y    {claim['dimension']}")
    click.echo(f"  real points of Y without real weights: {_complement(complement, claim['dimension'])}")
    click.echo("  rk V  rk A  m")
    for entry in certificate.witness["strata"]:
        r, s, m = entry["stratum"]
        verdict = "boundary" if entry["boundary"] else "inside"
        click.echo(f"  {r:>4}  {s:>4}  {m:<3} {verdict:<9} {_ARGUMENTS[entry['argument']]}")
    if out is not None:
        click.echo(f"certificate       {one_line(out)}")


def _complement(dimension: int | None, whole: int) -> str:
    if dimension is None:
        return "none"
    return f"dimension {dimension}, {'full' if dimension == whole else 'lower than that of Y'}"
