"""``lightningalg membership``: is one given function in the neuromanifold, in its closure, or neither?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lightningalg.cli.options import Progress, echo_json, network_from_options, network_options
from lightningalg.errors import one_line

if TYPE_CHECKING:
    from lightningalg.strata.membership import Membership

_ARGUMENTS = {
    "values": "no V, except 0, satisfies v_i T_j = v_j T_i for all outputs i, j",
    "attention": "no A, except 0, satisfies a_g T_h = a_h T_g for its columns a_g and the parts T_g by gamma",
    "rank": "as a matrix with columns gamma it has rank above a",
    "form": "the quadratic form of one output and one gamma has rank above 2, so no two linear factors",
}


@click.command(
    "membership",
    epilog="Exit code: 0 if there are real weights, 1 if not, 2 for bad input.",
)
@network_options
@click.option(
    "--tensor", metavar="FILE", required=True, help="The function's coefficients, as JSON; see above."
)
@click.option("--out", metavar="CERT.json", help="Write the certificate to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def command(tensor: str, out: str | None, as_json: bool, **network_flags: Any) -> int:
    """Decide exactly whether a given function is one of an attention layer's, with real weights.

    The function is given by its rational coefficients: column k of the output is the sum over tokens j of
    T(x_j, x_j; x_k), and T[i, alpha beta, gamma] is the coefficient of x_alpha x_beta y_gamma in output i of
    T(x, x; y) (alpha <= beta, everything counted from 0). Values are integers or texts "p/q".
    Two forms are read:

    \b
      {"tensor": T}             T[i][alpha][k][gamma], beta = alpha + k, all entries
      {"coefficients": [[value, i, alpha, beta, gamma], ...]}      the others are 0

    The answer is: in the neuromanifold (with weights over QQ, or over a real quadratic field), or in its
    closure but without real weights (with the definite quadratic factor), or not in the closure (with the
    condition that fails).

    \b
    Example: x_0^2 - 2 x_1^2 times y_0
      echo '{"coefficients": [[1, 0, 0, 0, 0], [-2, 0, 1, 1, 0]]}' > T.json
      lightningalg membership --widths 2,1 --ranks 1 --tensor T.json
    """
    network = network_from_options(**network_flags)
    from lightningalg.certificates.files import write_atomically
    from lightningalg.claims.membership import tensor_membership
    from lightningalg.networks.families import described
    from lightningalg.strata.layer import single_layer
    from lightningalg.strata.membership import INSIDE
    from lightningalg.strata.tensor_file import read_tensor

    layer = single_layer(network)
    Progress("looking for weights")
    answer, certificate = tensor_membership(network, read_tensor(Path(tensor), layer))
    if out is not None:
        write_atomically(Path(out), certificate.to_text() + "\n")
    if as_json:
        stratum = None if answer.stratum is None else answer.stratum.to_json()
        echo_json(
            {
                "network": described(network),
                "relation": answer.relation,
                "witness": dict(answer.witness),
                "stratum": stratum,
                "boundary": answer.on_boundary,
                "strength": "exact",
                "sha256": certificate.sha256,
            }
        )
    else:
        click.echo(str(network))
        _show(answer, out)
    return 0 if answer.relation == INSIDE else 1


def _show(answer: Membership, out: str | None) -> None:
    from lightningalg.strata.membership import CONJUGATE, INSIDE

    click.echo(f"{answer.relation} (exact)")
    if answer.relation == INSIDE:
        root = answer.witness["sqrt"]
        if root is not None:
            click.echo(f"  weights over Q(sqrt {root}); [p, r] means p + r sqrt {root}")
        for name in ("Q", "K", "V"):
            for number, row in enumerate(answer.witness[name]):
                click.echo(f"  {name if number == 0 else ' '} {_row(row)}")
        click.echo(f"  (rk V, rk A, m) = {answer.stratum}{', on the boundary' if answer.on_boundary else ''}")
    elif answer.relation == CONJUGATE:
        squares = " + ".join(f"{c} ({_row(form)})^2" for c, form in answer.witness["squares"])
        click.echo(f"  w S(x) q(y), S definite on two linear forms: {squares}")
        click.echo(f"  w {_row(answer.witness['w'])}")
        click.echo(f"  q {_row(answer.witness['q'])}")
    else:
        click.echo(f"  {_ARGUMENTS[answer.witness['argument']]}")
    if out is not None:
        click.echo(f"certificate       {one_line(out)}")


def _row(row: list[Any]) -> str:
    return " ".join(f"[{x[0]}, {x[1]}]" if isinstance(x, list) else str(x) for x in row)
