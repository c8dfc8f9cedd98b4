"""``lightningalg reference``: the API and the command line as HTML pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from lightningalg.cli.options import echo_json
from lightningalg.errors import one_line

#: columns of the help on the page
_WIDTH = 100


@click.command("reference", epilog="Exit code: 0 success, 2 bad input or pdoc is missing.")
@click.option("--out", metavar="DIR", required=True, help="Write the pages into this folder.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def command(out: str, as_json: bool) -> int:
    """Write the reference of the Python package and of this command line, as static pages.

    DIR/index.html lists everything public by task. The pages need no network and no server; pdoc makes them
    from the docstrings of the installed version (pip install 'lightningalg[docs]').

    \b
    Example:
      lightningalg reference --out reference
    """
    from lightningalg.cli.main import cli
    from lightningalg.reference.build import CommandHelp, build_reference

    helps = [CommandHelp(name, text) for name, text in all_helps(cli)]
    pages = build_reference(Path(out), helps)
    start = Path(out) / "index.html"
    if as_json:
        echo_json({"pages": len(pages), "start": str(start)})
    else:
        click.echo(f"wrote {len(pages)} pages; start at {one_line(str(start))}")
    return 0


def all_helps(
    group: click.Command, name: str = "lightningalg", parent: click.Context | None = None
) -> Iterator[tuple[str, str]]:
    """Yield every command's full name and its help, a group before its commands."""
    settings = {**group.context_settings, "max_content_width": _WIDTH, "terminal_width": _WIDTH}
    with click.Context(group, info_name=name.rsplit(" ", 1)[-1], parent=parent, **settings) as context:
        yield name, group.get_help(context)
        if isinstance(group, click.Group):
            for inner in group.list_commands(context):
                found = group.get_command(context, inner)
                if found is not None and not found.hidden:
                    yield from all_helps(found, f"{name} {inner}", context)
