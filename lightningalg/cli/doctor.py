"""``lightningalg doctor``: what this machine can do."""

from __future__ import annotations

import click

from lightningalg.cli.options import echo_json


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def command(as_json: bool) -> int:
    """Versions, engines found (each tried once), and what each extra would add."""
    from lightningalg.engines.inventory import inventory

    parts = inventory()
    if as_json:
        echo_json({"parts": [part.to_json() for part in parts]})
        return 0
    for part in parts:
        mark = "ok     " if part.works else "missing" if part.version is None else "broken "
        remark = "" if part.works else f"  -> {part.advice}"
        click.echo(f"{mark} {part.name:<13} {part.version or '-':<12} {part.purpose}{remark}")
    return 0
