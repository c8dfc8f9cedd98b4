"""The command ``lightningalg``: one way in, one exit code, one line for every error."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from lightningalg.cli.options import CommandGroup
from lightningalg.cli.outputs import with_distinct_files
from lightningalg.cli.supervise import EXIT_INTERRUPTED, ending_signals, supervised, with_limits
from lightningalg.errors import ContradictionError, LightningAlgError, one_line

#: one module for each command; imported when it is called or listed
_COMMANDS = (
    "dimension", "symmetries", "fiber", "recover", "singular", "boundary", "degree", "membership",
    "invariants", "picture", "verify", "prove", "export", "worksheet", "report", "book", "sweep",
    "reference", "doctor",
)  # fmt: skip

EXIT_OK, EXIT_NO, EXIT_BAD_INPUT = 0, 1, 2


class _LazyGroup(CommandGroup):
    """A group whose commands live in modules of their own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        return with_distinct_files(with_limits(import_module(f"lightningalg.cli.{name}").command))

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the reader of our output has gone; click would end with exit code 1
            _drop_output()
            return EXIT_OK


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit code: 0 success, 1 the mathematics says no, 2 bad input, a missing program or a limit "
    "reached; ended by a signal: 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP.",
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
    except SystemExit:  # how click ends where the reader of our output has gone
        _drop_output()
        return EXIT_OK
    except ContradictionError as error:
        _fail(str(error))
        return EXIT_NO
    except LightningAlgError as error:
        return _fail(str(error))
    except MemoryError:
        return _fail("out of memory")
    except (KeyboardInterrupt, click.Abort):
        with contextlib.suppress(OSError):  # the terminal may have gone
            click.echo("interrupted", err=True)
        return EXIT_INTERRUPTED
    except OSError as error:  # standard output is full, no more processes, ...
        _drop_output()
        where = f" ({error.filename})" if error.filename is not None else ""
        return _fail(f"the system says: {error.strerror or error}{where}")


def _drop_output() -> None:
    """Let nobody, not even the interpreter at its end, write again to an output that has failed."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, context: click.Context | None = None) -> int:
    line = one_line(" ".join(message.split()))
    hint = f" (see {context.command_path} --help)" if context is not None else ""
    with contextlib.suppress(OSError):  # standard error may be full: the exit code says it all the same
        click.echo(f"error: {line}{hint}", err=True)
    return EXIT_BAD_INPUT


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _interrupt_again(dropped: Any) -> None:
    """Repeat an interrupt that came in a callback (of an import, say), where Python drops exceptions."""
    if dropped.exc_type is KeyboardInterrupt and hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0.001)  # after the callback
    else:
        sys.__unraisablehook__(dropped)


def main() -> None:
    """Entry point of the console script."""
    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # file names and prose that the terminal's encoding lacks are escaped
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(supervised(_run_here))


def _run_here() -> int:
    # the end of a batch job is announced by SIGTERM, that of a terminal by SIGHUP: stop as for Ctrl-C,
    # keeping what is finished
    for number in ending_signals():
        signal.signal(number, _interrupt)
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _interrupt)
    sys.unraisablehook = _interrupt_again
    return run()
