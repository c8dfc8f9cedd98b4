"""``lightningalg singular``: the singular points of one layer's closure, stratum by stratum."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lightningalg.cli.options import Progress, echo_json, network_from_options, network_options
from lightningalg.errors import one_line

if TYPE_CHECKING:
    from lightningalg.certificates import Certificate

_ARGUMENTS = {
    "linear": "Y is a linear space",
    "immersion": "one preimage up to scale, immersive, and A a smooth point of its variety",
    "open orbit": "the orbit is open in Y",
    "equations": "equations of Y whose Jacobian has the codimension as rank",
    "arcs": "velocities of arcs span more than dim Y",
    "limit": "limit of the singular points of another stratum",
}


@click.command(
    "singular",
    epilog="Exit code: 0 if the singular points are exactly those with rk A rk V <= 1, 1 if that is refuted "
    "(the locus is certified all the same), 2 for bad input.",
)
@network_options
@click.option("--out", metavar="CERT.json", help="Write the certificate to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def command(out: str | None, as_json: bool, **network_flags: Any) -> int:
    """Singular points of the Zariski closure Y of one attention layer.

    Y is a union of finitely many strata (orbits), one for each (rk V, rk A, m): m is the dimension of the
    intersection of the row space of V and the column space of A; (0,0,0) is the point 0. Each stratum is
    proved singular or smooth at a representative with entries 0 and 1. The verdict is on the sentence
    "Sing Y is where rk A rk V <= 1".

    \b
    Examples:
      lightningalg singular --widths 3,2 --ranks 2
      lightningalg singular --widths 6,6 --ranks 6 --out cert.json
    """
    network = network_from_options(**network_flags)
    from lightningalg.certificates.files import write_atomically
    from lightningalg.claims.singular_locus import singular_points
    from lightningalg.networks.families import described

    certificate = singular_points(network, progress=Progress())
    if out is not None:
        write_atomically(Path(out), certificate.to_text() + "\n")
    holds = certificate.claim["rank_product_at_most_one"]
    if as_json:
        echo_json({"network": described(network), **_answer(certificate)})
    else:
        click.echo(str(network))
        _show(certificate, out)
    return 0 if holds else 1


def _answer(certificate: Certificate) -> dict[str, Any]:
    claim = certificate.claim
    return {
        "dimension": claim["dimension"],
        "singular": claim["singular"],
        "smooth": claim["smooth"],
        "rank_product_at_most_one": "certified" if claim["rank_product_at_most_one"] else "refuted",
        "strata": [
            {key: entry[key] for key in ("stratum", "singular", "argument")}
            for entry in certificate.witness["strata"]
        ],
        "strength": certificate.strength,
        "sha256": certificate.sha256,
    }


def _show(certificate: Certificate, out: str | None) -> None:
    claim = certificate.claim
    click.echo(f"  dimension of Y    {claim['dimension']}")
    click.echo("  rk V  rk A  m")
    for entry in certificate.witness["strata"]:
        r, s, m = entry["stratum"]
        verdict = "singular" if entry["singular"] else "smooth"
        click.echo(f"  {r:>4}  {s:>4}  {m:<3} {verdict:<9} {_ARGUMENTS[entry['argument']]}")
    if claim["rank_product_at_most_one"]:
        click.echo("Sing Y = {rk A rk V <= 1}: certified (exact)")
    else:
        wrong = next(
            e for e in certificate.witness["strata"]
            if (e["stratum"][0] * e["stratum"][1] <= 1) != e["singular"]
        )  # fmt: skip
        r, s, m = wrong["stratum"]
        verdict = "singular" if wrong["singular"] else "smooth"
        where = f"the points with rk V = {r}, rk A = {s}, m = {m} are {verdict}"
        click.echo(f"Sing Y = {{rk A rk V <= 1}}: refuted: {where}")
    if out is not None:
        click.echo(f"certificate       {one_line(out)}")
