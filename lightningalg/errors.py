"""Every error a caller is meant to catch.

Each message is one line that says what was wrong and what is accepted
instead; the command line prints it after ``error:`` and exits with 2.
"""

from __future__ import annotations

import shlex
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def shown(value: object, length: int = 60) -> str:
    r"""Return the start of ``str(value)`` for an error message; Python refuses to print very long integers.

    Every value, key, name or formula that comes from outside goes through this on its way into a message.
    Paths of files are the exception: people look for them.

    Parameters
    ----------
    length
        Characters of the start.

    Examples
    --------
    >>> shown("a\nb"), shown("abcdef", 3)
    ('a b', 'abc')
    """
    try:
        return " ".join(str(value)[:length].split())
    except Exception:  # of a foreign class: whatever its __str__ does
        if isinstance(value, int):
            return "an integer of thousands of digits"
        return f"a {type(value).__name__} that cannot be printed"


def one_line(message: str) -> str:
    r"""Return a message as one line of printable characters: others are escaped, as Python writes them.

    A terminal obeys escape sequences, and a log is read line by line.

    Examples
    --------
    >>> print(one_line("a\nb \x1b[31mred"))
    a\nb \x1b[31mred
    """
    if message.isprintable():
        return message
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)


class LightningAlgError(Exception):
    """Base class of all errors raised on purpose by this package: their messages are one printable line."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(one_line(item) if isinstance(item, str) else item for item in arguments))


class InputError(LightningAlgError, ValueError):
    """A value from outside is not acceptable; the message names the field and what is accepted."""


class ShapeError(InputError):
    """Two shapes do not fit; the message names the layer and both shapes."""


class TooLargeError(InputError):
    """A request was refused before it started because of its predicted size."""


class UnsupportedError(LightningAlgError):
    """The request is well formed but this version has no method for it."""


class MissingExtraError(LightningAlgError, ImportError):
    """An optional dependency is absent; the message names the extra to install."""

    @classmethod
    def of(cls, extra: str, need: str) -> MissingExtraError:
        """Return the error of what needs an extra, with the command that installs it.

        Examples
        --------
        >>> print(MissingExtraError.of("plots", "pictures need matplotlib"))
        pictures need matplotlib, which is not installed: ... -m pip install "...[plots]"
        """
        return cls(f"{need}, which is not installed: {install_command(extra)}")


def install_command(extra: str) -> str:
    """Return the command that adds an extra to the running Python, from an index as well as from a checkout.

    pip asks no index for what is installed: ``lightningalg[extra]`` then adds the extra's packages alone.
    Where the package runs without being installed, its checkout is named instead.

    Examples
    --------
    >>> install_command("plots").endswith('[plots]"')
    True
    """
    checkout = Path(__file__).parents[1]
    try:
        version("lightningalg")
        what = "lightningalg"
    except PackageNotFoundError:
        what = str(checkout) if (checkout / "pyproject.toml").is_file() else "lightningalg"
    return f'{shlex.quote(sys.executable or "python3")} -m pip install "{what}[{extra}]"'


class ContradictionError(LightningAlgError, ArithmeticError):
    """Two proved statements contradict each other: a defect of this package, never of the input."""


class EngineError(LightningAlgError):
    """An algebra engine gave no usable answer; the message names the engine and what happened."""


class EngineMissingError(EngineError):
    """The program is not installed, or is not an executable file."""


class EngineCrashedError(EngineError):
    """The program ended by a signal or with an error code."""


class EngineTimeoutError(EngineError):
    """The program did not end within its time limit, and was killed."""


class EngineMemoryError(EngineError):
    """The program reached its memory limit."""


class EngineAnswerError(EngineError):
    """The program's answer is not of the agreed form, is too large, or fails an exact check."""
