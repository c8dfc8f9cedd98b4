"""The files of a run as a report finds them: inside its folder, unaltered, or named as what they are not."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lightningalg.certificates.files import read_certificate, read_text
from lightningalg.errors import InputError, LightningAlgError, shown
from lightningalg.render.html.proof import ProofText, convert_proof

_LONGEST_PATH = 600  # characters: names of a worksheet, a claim and an instance
_LONGEST_SOURCE = 200_000  # characters of a proof shown as LaTeX


@dataclass(frozen=True, slots=True)
class FoundCertificate:
    """A certificate's file compared with what the run recorded: its content, or what is wrong with it."""

    content: Mapping[str, Any] | None = None
    damage: str = ""


def inside(folder: Path, value: Any, what: str) -> Path | None:
    """Return the path of a file of the run; paths that lead out of its folder are refused.

    Raises
    ------
    InputError
        If it is no path, or leads out of the folder by its name.
    """
    if value is None:
        return None
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_PATH or "\0" in value:
        raise InputError(f"{what}: {shown(value)!r} is no path")
    path = Path(os.path.normpath(value))
    if path.is_absolute() or ".." in path.parts:
        raise InputError(f"{what}: {shown(value, 100)!r} leads out of the folder of the run")
    return folder / path


def up(path: Path | None, folder: Path) -> str:
    """Return a path as the claim pages, two folders below that of the run, link to it."""
    return "" if path is None else "../../" + Path(os.path.relpath(path, folder)).as_posix()


def leads_out(path: Path, folder: Path) -> bool:
    """Tell whether symbolic links lead from a path out of the folder of the run."""
    try:
        return not path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a loop of links
        return True


def certificate_of(path: Path, recorded: str, folder: Path) -> FoundCertificate:
    """Return the certificate in a file of the run, if it is the one that the run wrote there."""
    if leads_out(path, folder):
        return FoundCertificate(damage="the file is a symbolic link that leads out of the folder of the run")
    if not path.exists():
        return FoundCertificate(damage="the file is missing")
    try:
        content = read_certificate(path)
    except InputError as error:
        reason = str(error).replace(f"certificate {path}: ", "")
        return FoundCertificate(damage=f"the file was altered: {shown(reason, 200)}")
    if recorded and content["sha256"] != recorded:
        found = f"{str(content['sha256'])[:12]}…"
        return FoundCertificate(damage=f"the file has another certificate than the run recorded: {found}")
    return FoundCertificate(content)


def proof_of(path: Path | None, folder: Path) -> tuple[ProofText, str, str]:
    """Return a proof for its page, or else its LaTeX text and why it could not be converted."""
    nothing = ProofText("")
    if path is None:
        return nothing, "", ""
    if leads_out(path, folder):
        return nothing, "", "the file is a symbolic link that leads out of the folder of the run"
    if not path.exists():
        return nothing, "", "the file is missing"
    text = read_text(path, what="proof")
    try:
        return convert_proof(text), "", ""
    except LightningAlgError as error:
        cut = "" if len(text) <= _LONGEST_SOURCE else "\n... (the file has the rest)"
        return nothing, text[:_LONGEST_SOURCE] + cut, str(error)
