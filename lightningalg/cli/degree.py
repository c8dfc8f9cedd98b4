"""``lightningalg degree``: the degree of one layer's closure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lightningalg.cli.options import echo_json, network_from_options, network_options
from lightningalg.errors import one_line

if TYPE_CHECKING:
    from lightningalg.certificates import Certificate


@click.command("degree", epilog="Exit code: 0, or 2 for bad input.")
@network_options
@click.option("--out", metavar="CERT.json", help="Write the certificate to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def command(out: str | None, as_json: bool, **network_flags: Any) -> int:
    """Degree of the Zariski closure Y of one attention layer.

    It is the number of points in which the projective variety of Y meets a general linear space of
    complementary dimension: C(n, dd'-1) times the degree of the variety of attention matrices (on one
    token: of quadratic forms of rank at most 2a), divided by the number of preimages, up to scale, of a
    general point of Y; n = dim Y - 1. A theorem for all widths, ranks and numbers of tokens;
    accepted are d (d + d') up to 4,000 and degrees of at most 600 digits (30,30 works, 40,50 does not).

    \b
    Examples:
      lightningalg degree --widths 3,1 --ranks 1
      lightningalg degree --widths 3,1 --ranks 1 --tokens 1
      lightningalg degree --widths 8,8 --ranks 4 --out cert.json
    """
    network = network_from_options(**network_flags)
    from lightningalg.certificates.files import write_atomically
    from lightningalg.claims.closure_degree import closure_degree
    from lightningalg.networks.families import described

    certificate = closure_degree(network)
    if out is not None:
        write_atomically(Path(out), certificate.to_text() + "\n")
    if as_json:
        claim = {key: value for key, value in certificate.claim.items() if key != "quantity"}
        about = {"strength": certificate.strength, "sha256": certificate.sha256}
        echo_json({"network": described(network), **claim, **about})
    else:
        click.echo(str(network))
        _show(certificate, network.tokens == 1, out)
    return 0


def _show(certificate: Certificate, one_token: bool, out: str | None) -> None:
    claim = certificate.claim
    (layer,) = certificate.subject["network"]["layers"]
    top = claim["dimension"] - 1
    forms = "quadratic forms" if one_token else "attention matrices"
    click.echo(f"  {'dimension of Y':<33}{claim['dimension']}")
    click.echo(f"  {f'degree of the {forms}':<33}{claim['forms_degree']}")
    click.echo(f"  {'preimages of a general point':<33}{claim['sheets']}")
    chosen = layer["d_in"] * layer["d_out"] - 1
    divided = "" if claim["sheets"] == 1 else f" / {claim['sheets']}"
    formula = f"C({top}, {chosen}) * {claim['forms_degree']}{divided}"
    click.echo(f"degree of Y = {formula} = {claim['value']} (exact)")
    if out is not None:
        click.echo(f"certificate       {one_line(out)}")
