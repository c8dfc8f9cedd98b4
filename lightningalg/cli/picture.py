"""``lightningalg picture``: a slice of the neuromanifold with singular points and boundary marked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lightningalg.cli.options import Progress, echo_json, network_from_options, network_options
from lightningalg.errors import InputError, one_line, shown


@click.command("picture", epilog="Exit code: 0 success, 2 bad input or matplotlib is missing.")
@network_options
@click.option(
    "--out", metavar="FILE.svg|.png", required=True, help="Write the picture here; the ending decides."
)
@click.option("--slice", "name", metavar="NAME",
              help="query, output, cayley or cone; default: the one that shows most.")  # fmt: skip
@click.option("--no-caption", is_flag=True, help="Leave the caption out of the picture (--json prints it).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def command(out: str, name: str | None, no_caption: bool, as_json: bool, **network_flags: Any) -> int:
    """Draw a slice of one layer's closure Y, a surface in space, with the neuromanifold M.

    Marked are the points of Y outside M (conjugate factors), singular points where two sheets of M meet
    (swapped pairs), and the boundary of M. The caption states the slice and its equation exactly.

    \b
    query   (a >= 2)            two query columns: Whitney's umbrella with its handle
    output  (d' >= 2)           two output rows: the same surface
    cayley  (a = d' = 1, d >= 3)  Cayley's cubic with its four nodes
    cone    (a = d' = 1)        binary forms with real factors, outside a cone

    \b
    Examples:
      lightningalg picture --widths 2,1 --ranks 2 --out umbrella.png
      lightningalg picture --widths 3,1 --ranks 1 --out cayley.svg --json
    """
    form = Path(out).suffix.lower().removeprefix(".")
    if form not in ("svg", "png"):
        raise InputError(f"--out {shown(out, 80)!r}: the name must end in .svg or .png")
    network = network_from_options(**network_flags)
    from lightningalg.certificates.files import write_atomically
    from lightningalg.invariants.slices import slice_of
    from lightningalg.render.plots import draw_slice

    Progress("drawing")
    picture = slice_of(network, name)
    write_atomically(Path(out), draw_slice(picture, form, caption=not no_caption))
    if as_json:
        echo_json({
            "network": network.to_json(),
            "slice": picture.name,
            "coordinates": list(picture.axes),
            "tensor": list(picture.tensor),
            "equation": picture.shown,
            "legend": picture.legend,
            "caption": picture.caption,
            "written": out,
        })  # fmt: skip
    else:
        click.echo(picture.caption)
        click.echo(f"wrote {one_line(str(out))}")
    return 0
