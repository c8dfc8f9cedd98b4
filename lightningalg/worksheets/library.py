"""Where worksheets are: those that come with the package, files and folders."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from lightningalg.errors import InputError, shown

_PACKAGE = Path(__file__).parent
#: the wheel carries them; a checkout has them at its top
_FOLDERS = (_PACKAGE / "library", _PACKAGE.parents[1] / "worksheets")


def library_folder() -> Path:
    """Return the folder of the worksheets that come with the package.

    Raises
    ------
    InputError
        If the installation has lost them.

    Examples
    --------
    >>> (library_folder() / "single-layer.toml").is_file()
    True
    """
    for folder in _FOLDERS:
        if any(folder.glob("*.toml")):
            return folder
    raise InputError(f"this installation has no worksheets in {_FOLDERS[0]}: reinstall lightningalg")


def find_worksheets(names: Sequence[str]) -> list[Path]:
    """Return the files of worksheets given by name, file or folder; without names, all of the package's.

    Raises
    ------
    InputError
        If there is no such worksheet; lists the known names.

    Examples
    --------
    >>> [path.name for path in find_worksheets(["single-layer"])]
    ['single-layer.toml']
    """
    if not names:
        return sorted(library_folder().glob("*.toml"))
    found: list[Path] = []
    for name in names:
        found += [path for path in _find(name) if path not in found]
    return found


def _find(name: str) -> list[Path]:
    path = Path(name)
    if os.path.isdir(name):  # unlike Path.is_dir: any text is accepted
        files = sorted(path.glob("*.toml"))
        if not files:
            raise InputError(f"folder {shown(name, 200)} has no worksheets (*.toml)")
        return files
    if path.suffix == ".toml" or os.path.isfile(name):
        return [path]
    known = {file.stem: file for file in library_folder().glob("*.toml")}
    if name not in known:
        raise InputError(
            f"no worksheet {shown(name, 200)!r}: give a file, a folder, or one of {', '.join(sorted(known))}"
        )
    return [known[name]]
