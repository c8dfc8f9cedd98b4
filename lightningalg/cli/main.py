"""The command ``lightningalg``: one way in, one exit code, one line for every error."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from lightningalg.errors import ContradictionError, LightningAlgError

#: one module for each command; imported when it is called or listed
_COMMANDS = ("dimension", "verify", "prove", "worksheet", "doctor")

EXIT_OK, EXIT_NO, EXIT_BAD_INPUT, EXIT_INTERRUPTED = 0, 1, 2, 130


class _LazyGroup(click.Group):
    """A group whose commands live in modules of their own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        return import_module(f"lightningalg.cli.{name}").command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(f"no command {args[0][:60]!r}: commands are {', '.join(_COMMANDS)}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit code: 0 success, 1 the mathematics says no, 2 bad input or a missing program.",
)
@click.version_option(package_name="lightningalg")
def cli() -> None:
    """Exact computer algebra for the geometry of neural-network function spaces.

    \b
    First steps:
      lightningalg dimension --widths 4,3,2,4 --ranks 2,2,2 --tokens 2 --out cert.json
      lightningalg verify cert.json
      lightningalg prove cert.json --out proof.tex --pdf
      lightningalg worksheet run
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; prints one line for an error, never a traceback."""
    try:
        result = cli.main(args=arguments, prog_name="lightningalg", standalone_mode=False)
        return result if isinstance(result, int) else EXIT_OK
    except click.ClickException as error:
        return _fail(error.format_message(), error.ctx if isinstance(error, click.UsageError) else None)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except ContradictionError as error:
        _fail(str(error))
        return EXIT_NO
    except LightningAlgError as error:
        return _fail(str(error))
    except MemoryError:
        return _fail("out of memory")
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # the reader of our output has gone; the interpreter must not try to flush to it again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK


def _fail(message: str, context: click.Context | None = None) -> int:
    line = " ".join(message.split())
    hint = f" (see {context.command_path} --help)" if context is not None else ""
    click.echo(f"error: {line}{hint}", err=True)
    return EXIT_BAD_INPUT


def main() -> None:
    """Entry point of the console script."""
    sys.exit(run())
