"""``lightningalg fiber``: which weights give the same function as a rational point."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lightningalg.cli.options import Progress, echo_json, network_from_options, network_options
from lightningalg.errors import one_line

if TYPE_CHECKING:
    from lightningalg.certificates import Certificate
    from lightningalg.claims.fibre import Fibre


@click.command(
    "fiber", epilog="Exit code: 0 the fibre is known, 1 it is open, 2 bad input or no engine answers."
)
@network_options
@click.option("--point", metavar="FILE", help="Point: .toml or .json, see above (default: by --seed).")
@click.option(
    "--seed",
    default="0",
    show_default=True,
    help="Decides the weights, of full ranks, where no point is given.",
)
@click.option(
    "--ideals",
    is_flag=True,
    help="Also by a Groebner basis (small points; see --timeout): a check, or where the verdict is open.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
@click.option("--out", metavar="CERT.json", help="Write the certificate here.")
def command(
    point: str | None, seed: str, ideals: bool, as_json: bool, out: str | None, **network_flags: Any
) -> int:
    """All weights of a chain of lightning attention layers with the function of the given ones.

    Decided by exact finite checks at the point (Theorem A and its companions; `lightningalg prove` prints
    them in full). Fibres are described in virtual weights (M_1, ..., M_l, L), and in (Q, K, V).

    \b
    A point is a file with one of
      [weights.layer1]        Q = [[1, "1/2"], ...]   K = ...   V = ...   and so on, for each layer
      [virtual]               M = [[[...], ...], ...]   L = [[...], ...]
      tensor = [[[[...]]]]    one layer: T[i][c], symmetric matrix of the form x -> T_i(x, x; e_c)

    \b
    Examples:
      lightningalg fiber --widths 4,3,2,4 --ranks 2,2,2
      lightningalg fiber --widths 2,2,2 --ranks 1,2 --json
      lightningalg fiber --widths 2,2 --ranks 2 --point point.toml --out cert.json
    """
    network = network_from_options(**network_flags)
    from lightningalg.certificates.files import write_atomically
    from lightningalg.certificates.sampling import validate_seed
    from lightningalg.claims.fibre import fibre
    from lightningalg.fibres.files import read_point
    from lightningalg.fibres.points import generated_point

    progress = Progress("generating weights of full ranks" if point is None else "reading the point")
    given = (
        generated_point(network, validate_seed(seed)) if point is None else read_point(Path(point), network)
    )
    progress("checking ranks, forms and factorisations")
    found = fibre(given)
    basis = _by_ideals(given, progress) if ideals else None
    certificate = found.certificate or basis
    if out is not None and certificate is not None:
        write_atomically(Path(out), certificate.to_text() + "\n")
    if as_json:
        echo_json(_as_json(found, str(network), point, seed, basis))
    else:
        _show(found, str(network), out, basis)
    return 0 if certificate is not None else 1


def _by_ideals(given: Any, progress: Progress) -> Certificate:
    from lightningalg.claims.fibre_cross_check import fibre_by_ideals

    progress("computing a Groebner basis of the fibre's ideal")
    return fibre_by_ideals(given)


def _ideal_numbers(basis: Certificate) -> dict[str, Any]:
    parts = basis.claim["components"]
    return {
        "dimension": basis.claim["dimension"],
        "degree": basis.claim["degree"],
        "components": None if parts is None else len(parts),
        "multiplicities": None if parts is None else [part["multiplicity"] for part in parts],
        "certificate": basis.sha256,
    }


def _as_json(
    found: Fibre, network: str, point: str | None, seed: str, basis: Certificate | None
) -> dict[str, Any]:
    virtual = found.virtual
    return {
        "network": network,
        "point": {"seed": seed} if point is None else {"file": point},
        "verdict": found.verdict,
        "sentences": list(found.sentences),
        "dimension": virtual.dimension,
        "degree": virtual.degree,
        "components": virtual.components,
        "real_components": virtual.real,
        "rational_components": virtual.rational,
        "multiplicity": virtual.multiplicity,
        "comparison": virtual.comparison,
        "weights": None if found.weights is None else found.weights.to_json(),
        "strength": None if found.certificate is None else found.certificate.strength,
        "certificate": None if found.certificate is None else found.certificate.sha256,
        "ideals": None if basis is None else _ideal_numbers(basis),
    }


def _show(found: Fibre, network: str, out: str | None, basis: Certificate | None) -> None:
    virtual = found.virtual
    click.echo(network)
    click.echo(f"  {found.sentences[0]}")
    rows = [
        ("dimension", virtual.dimension, "of the fibre in virtual weights (M_1, ..., M_l, L)"),
        ("degree", virtual.degree, "as a set, all components together"),
        ("components", virtual.components, "over the complex numbers"),
        ("real", virtual.real, "components with real points"),
        ("rational", virtual.rational, "components with rational points"),
        ("multiplicity", virtual.multiplicity, "of each component"),
    ]
    for name, number, remark in rows:
        value = "unknown" if number is None else str(number)
        click.echo(f"  {name:<13}{value:>8}   {remark}")
    if virtual.comparison is not None:
        words = {"equal": "equal to the fibre", "contained": "contained in the fibre",
                 "more components": "one of several components"}  # fmt: skip
        click.echo(f"  the orbit of the known symmetries is {words[virtual.comparison]}")
    for sentence in found.sentences[1:]:
        click.echo(f"  {sentence}")
    if basis is not None:
        numbers = _ideal_numbers(basis)
        parts = "not decided" if numbers["components"] is None else str(numbers["components"])
        click.echo(
            f"  by ideals: dimension {numbers['dimension']}, degree {numbers['degree']} with multiplicities, "
            f"minimal primes over QQ: {parts}"
        )
    certificate = found.certificate or basis
    if certificate is not None:
        kept = f" -> {one_line(out)}" if out else ": keep it with --out CERT.json"
        click.echo(f"certificate {certificate.sha256[:12]}{kept}")
