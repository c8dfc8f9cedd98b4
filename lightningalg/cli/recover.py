"""``lightningalg recover``: weights from exact values of a lightning network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lightningalg.cli.options import Progress, echo_json, integer_list
from lightningalg.errors import one_line

if TYPE_CHECKING:
    from lightningalg.claims.recovery import Recovery


@click.command(
    "recover", epilog="Exit code: 0 recovered, 1 the values are not those of such a network, 2 bad input."
)
@click.argument("table", metavar="TABLE", required=False)
@click.option("--layers", type=click.IntRange(1, 5), required=True, metavar="L", help="Number of layers.")
@click.option(
    "--ask", metavar="FILE", help="Write the inputs that are needed (with --widths d0,dl), and end."
)
@click.option("--widths", metavar="d0,..,dl", help="All widths: also give (Q, K, V); needs --ranks.")
@click.option("--ranks", metavar="a1,..,al", help="Attention ranks for (Q, K, V).")
@click.option(
    "--tokens",
    type=click.IntRange(1, 1000),
    default=2,
    show_default=True,
    metavar="t",
    help="Tokens, for --ask.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
@click.option("--out", metavar="CERT.json", help="Write the certificate here.")
def command(
    table: str | None,
    layers: int,
    ask: str | None,
    widths: str | None,
    ranks: str | None,
    tokens: int,
    as_json: bool,
    out: str | None,
) -> int:
    """Weights of a lightning network of known depth from exact values, and whether they are unique.

    \b
    TABLE is a JSON file, one of
      {"width": d, "height": e, "tokens": t, "pairs": [{"input": rows, "output": rows}, ...]}
      {"width": d, "height": e, "tokens": t, "coefficients": [[polynomial, ...], ...]}
    with d x t inputs, e x t outputs, entries integers or "p/q", polynomials in the entries of X, row by
    row, as lists of
    [coefficient, exponents]. A table of pairs must have the inputs that --ask writes; more are welcome and
    are checked.

    \b
    Examples:
      lightningalg recover --layers 2 --ask inputs.json --widths 3,3
      lightningalg recover values.json --layers 2
      lightningalg recover values.json --layers 2 --widths 3,2,3 --ranks 2,1 --out cert.json
    """
    sizes = None if widths is None else integer_list(widths, "widths")
    bounds = None if ranks is None else integer_list(ranks, "ranks")
    if (table is None) == (ask is None):
        raise click.UsageError("give either TABLE, to recover from it, or --ask FILE")
    if ask is not None:
        return _ask(Path(ask), layers, sizes, tokens, as_json)
    from lightningalg.certificates.files import write_atomically
    from lightningalg.fibres.blackbox import NotANetworkError
    from lightningalg.fibres.files import Table

    assert table is not None
    progress = Progress()
    values = Table.read(Path(table))
    progress("recovering")
    try:
        found = _recover(values, layers, sizes, bounds)
    except NotANetworkError as error:
        _refuse(str(error), layers, as_json)
        return 1
    if out is not None:
        write_atomically(Path(out), found.certificate.to_text() + "\n")
    if as_json:
        echo_json(_as_json(found))
    else:
        _show(found, out)
    return 0


def _recover(values: Any, layers: int, widths: list[int] | None, ranks: list[int] | None) -> Recovery:
    """Recover, and compare with every pair of the table."""
    from lightningalg.claims.recovery import recover
    from lightningalg.fibres.blackbox import NotANetworkError
    from lightningalg.fibres.recovery import value_at

    found = recover(
        values, layers=layers, width=values.width, tokens=values.tokens, widths=widths, ranks=ranks
    )
    for number, (X, wanted) in enumerate(values.pairs.items(), start=1):
        if value_at(found.M, found.L, [list(row) for row in X]) != wanted:
            raise NotANetworkError(
                f"pair {number} of the table has another value than the weights that the other pairs "
                f"determine"
            )
    return found


def _ask(path: Path, layers: int, widths: list[int] | None, tokens: int, as_json: bool) -> int:
    from lightningalg.certificates.files import write_atomically
    from lightningalg.certificates.records import pretty_json
    from lightningalg.errors import InputError
    from lightningalg.fibres.files import question
    from lightningalg.fibres.planning import planned_inputs

    if widths is None or len(widths) < 2 or min(widths) < 1 or max(widths[0], widths[-1]) > 40:
        raise InputError("--ask needs --widths d0,dl (or all widths): input and output width, from 1 to 40")
    inputs = planned_inputs(widths[0], widths[-1], tokens, layers, progress=Progress())
    write_atomically(path, pretty_json(question(widths[0], widths[-1], tokens, inputs)) + "\n")
    if as_json:
        echo_json({"inputs": len(inputs), "written": str(path)})
    else:
        click.echo(f"wrote {one_line(str(path))}: {len(inputs)} inputs; fill in the outputs")
    return 0


def _refuse(message: str, layers: int, as_json: bool) -> None:
    if as_json:
        echo_json({"recovered": False, "layers": layers, "reason": message})
    else:
        click.echo(f"not a lightning network of {layers} layers: {message}")


def _as_json(found: Recovery) -> dict[str, Any]:
    from lightningalg.certificates.polynomials import encode_matrix

    weights = None
    if found.weights is not None:
        weights = [
            dict(zip("QKV", (encode_matrix(rows) for rows in layer), strict=True))
            for layer in found.weights.layers
        ]
    return {
        "recovered": True,
        "M": [encode_matrix(matrix) for matrix in found.M],
        "L": encode_matrix(found.L),
        "weights": weights,
        "determined": found.determined,
        "inputs": found.inputs,
        "fibre": list(found.fibre.sentences),
        "strength": found.certificate.strength,
        "certificate": found.certificate.sha256,
    }


def _show(found: Recovery, out: str | None) -> None:
    for i, matrix in enumerate(found.M, start=1):
        click.echo(f"M_{i} = {_text(matrix)}")
    click.echo(f"L = {_text(found.L)}")
    if found.weights is not None:
        for i, layer in enumerate(found.weights.layers, start=1):
            for letter, rows in zip("QKV", layer, strict=True):
                click.echo(f"{letter}_{i} = {_text(rows)}")
    if found.determined:
        click.echo(f"The {found.inputs} values determine (M, L) up to scaling.")
    else:
        click.echo(
            f"These weights reproduce the function at all {found.inputs} inputs that were asked for, but "
            f"other networks may do so too. Of the weights with the same function the fibre says:"
        )
    for sentence in found.fibre.sentences:
        click.echo(f"  {sentence}")
    kept = f" -> {one_line(out)}" if out else ": keep it with --out CERT.json"
    click.echo(f"certificate {found.certificate.sha256[:12]}{kept}")


def _text(rows: Any) -> str:
    return "[" + "; ".join(" ".join(str(value) for value in row) for row in rows) + "]"
