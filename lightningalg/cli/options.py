"""Options and outputs that commands share."""

from __future__ import annotations

import contextlib
import json
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from lightningalg.certificates.files import read_text
from lightningalg.errors import InputError, shown
from lightningalg.networks.base import MAX_SIZE
from lightningalg.networks.network import Network
from lightningalg.networks.spec import KINDS, from_toml, network_from_table

MAX_NETWORK_BYTES = 16 * 2**20
#: longest time limit; the system's calls refuse much longer ones
MAX_SECONDS = 1e6
#: GiB of address space with which every command can start: Python, numpy and its buffers take 0.3
MIN_MEMORY = 0.5


class CommandGroup(click.Group):
    """A group that answers a missing or unknown command in one line that lists the commands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args:
            raise click.UsageError(f"which command? commands are {', '.join(self.list_commands(ctx))}", ctx)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-"):
            raise click.UsageError(f"no command {shown(args[0])!r}: commands are {', '.join(known)}", ctx)
        return super().resolve_command(ctx, args)


class Finite(click.FloatRange):
    """A range of floating-point numbers without nan and infinities, which compare with nothing."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{shown(value)} is not a finite number", param, ctx)
        return number


def integer_list(text: str, name: str) -> list[int]:
    """Return the integers of ``"4,3,2"``.

    Raises
    ------
    InputError
        Naming the option and the part that is no integer.
    """
    values = []
    for part in text.split(","):
        digits = part.strip().removeprefix("-")
        if digits.isascii() and digits.isdigit() and len(digits) > 12:
            raise InputError(f"--{name} has an integer of {len(digits)} digits: accepted are 1 to {MAX_SIZE}")
        if not digits.isascii() or not digits.isdigit():
            raise InputError(
                f"--{name} {shown(text)!r}: {shown(part.strip(), 20)!r} is not an integer; write "
                "integers and "
                f"commas, such as --{name} 4,3,2"
            )
        values.append(int(part))
    return values


_KIND_HELP = f"{', '.join(KINDS[:-1])} or {KINDS[-1]} (default lightning)."

_NETWORK_OPTIONS = (
    click.option("--kind", metavar="KIND", help=_KIND_HELP),
    click.option("--widths", metavar="d0,..,dl", help="Widths d_0,...,d_l, such as 4,3,2,4."),
    click.option("--ranks", metavar="a1,..,al", help="Attention ranks a_1,...,a_l, such as 2,2,2."),
    click.option("--tokens", metavar="t", help="Number of tokens (default 2)."),
    click.option("--heads", metavar="H", help="Heads per layer: one number, or one per layer."),
    click.option("--residual", is_flag=True, help="X + layer(X); needs equal widths."),
    click.option("--degree", metavar="r", help="Activation degree(s) of a monomial network (default 2)."),
    click.option(
        "--network", "network_file", metavar="FILE", help="Network as a TOML file, instead of flags."
    ),
)


def network_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the flags that describe a network to a command."""
    for option in reversed(_NETWORK_OPTIONS):
        function = option(function)
    return function


def network_from_options(
    *,
    kind: str | None,
    widths: str | None,
    ranks: str | None,
    tokens: str | None,
    heads: str | None,
    residual: bool,
    degree: str | None,
    network_file: str | None,
) -> Network:
    """Return the network of the flags or of the file.

    Raises
    ------
    InputError
        For anything that is not a network; the message names the flag or the file and field.
    """
    lists = {"widths": widths, "ranks": ranks, "heads": heads, "degree": degree}
    given = [name for name, value in {**lists, "kind": kind, "tokens": tokens}.items() if value is not None]
    given += ["residual"] if residual else []
    if network_file is not None:
        if given:
            raise InputError(f"--network describes the whole network: leave out --{given[0]}, or the file")
        return read_network(Path(network_file))
    if widths is None:
        raise InputError("which network? give --widths (and --ranks), or --network FILE")
    table: dict[str, Any] = {"kind": "lightning" if kind is None else kind}
    for name, text in lists.items():
        if text is not None:
            values = integer_list(text, name)
            # one number is for every layer, also where there is none to use it
            table[name] = values[0] if name in ("heads", "degree") and len(values) == 1 else values
    if tokens is not None:
        counts = integer_list(tokens, "tokens")
        if len(counts) != 1:
            raise InputError(f"--tokens {shown(tokens)!r}: one integer is accepted")
        table["tokens"] = counts[0]
    if residual:
        table["residual"] = True
    return network_from_table(table)


def read_network(path: Path) -> Network:
    """Return the network in a TOML file; errors name the file."""
    text = read_text(path, what="network file", max_bytes=MAX_NETWORK_BYTES)
    try:
        return from_toml(text)
    except InputError as error:
        raise InputError(f"network file {path}: {error}") from None


def echo_json(value: Any) -> None:
    """Print one JSON object on stdout."""
    click.echo(json.dumps(value, ensure_ascii=True, allow_nan=False))


class Progress:
    """Tells on stderr what is being done: after two seconds, and every fifteen seconds of silence.

    A thread does that, so that a step which reports nothing by itself is named too. It ends with the command.
    """

    FIRST, SILENCE = 2.0, 15.0

    def __init__(self, message: str = "working") -> None:
        self._message = message
        self._start = self._told = time.monotonic()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        context = click.get_current_context(silent=True)
        if context is not None:
            context.call_on_close(self._ended.set)
            threading.Thread(target=self._watch, daemon=True).start()

    def __call__(self, message: str) -> None:
        with self._lock:
            self._message = message
            if time.monotonic() - self._start >= self.FIRST:
                self._tell()

    def _tell(self) -> None:
        self._told = time.monotonic()
        click.echo(f"[{self._told - self._start:5.1f} s] {self._message}", err=True)

    def _watch(self) -> None:
        due = self._start + self.FIRST
        while not self._ended.wait(max(0.0, due - time.monotonic())):
            with self._lock:
                silent = self._told == self._start or time.monotonic() - self._told >= self.SILENCE
                if silent and not self._ended.is_set():
                    with contextlib.suppress(OSError, ValueError):  # nobody reads it any more
                        self._tell()
                due = self._told + self.SILENCE
