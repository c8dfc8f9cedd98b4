"""Calling the stand-alone verifier as a program; it is never imported, and shares no code with producers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lightningalg.arguments import file_path, listed
from lightningalg.errors import InputError, LightningAlgError

VERIFIER = Path(__file__).parents[1] / "verifier.py"


def verifier_command(arguments: Sequence[str]) -> list[str]:
    """Return the command line that runs the verifier isolated from environment and user site.

    Parameters
    ----------
    arguments
        Of the verifier.

    Examples
    --------
    >>> verifier_command(["cert.json"])[-1]
    'cert.json'
    """
    return [sys.executable, "-I", str(VERIFIER), *arguments]


def explain(answer: Mapping[str, Any]) -> str:
    """Return an answer of the verifier as it prints it: ``invalid: <check>: <reason>``.

    Parameters
    ----------
    answer
        One of ``check_files``.

    Examples
    --------
    >>> explain({"verdict": "invalid", "check": "hash", "reason": "sha256 differs"})
    'invalid: hash: sha256 differs'
    """
    return ": ".join(str(answer[key]) for key in ("verdict", "check", "reason") if answer.get(key))


def check_files(files: Sequence[str | Path], *, timeout: float | None = None) -> list[dict[str, Any]]:
    """Return the verifier's answer for each file, in order: ``verdict``, ``check``, ``reason``, ...

    Parameters
    ----------
    files
        Paths of certificates.
    timeout
        Seconds for all of them.

    Raises
    ------
    LightningAlgError
        If the verifier does not answer, or not within ``timeout`` seconds.
    InputError
        If a name is no path.

    Examples
    --------
    >>> check_files(["absent.json"])[0]["verdict"]
    'unsupported'
    """
    names = [str(file_path(file, "certificate")) for file in listed(files, "files", "paths")]
    if not names:
        return []
    for name in names:
        if "\0" in name:  # no such file exists, and no program can be told of it
            raise InputError(f"certificate {name!r}: a file name has no zero byte")
    command = verifier_command(["--json", "--", *names])
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
        results = json.loads(done.stdout)["results"]
    except subprocess.TimeoutExpired:
        raise LightningAlgError(f"{len(files)} certificates were not verified within {timeout:g} s") from None
    except (ValueError, KeyError):
        raise LightningAlgError(
            f"the verifier {VERIFIER} did not answer (exit code {done.returncode})"
        ) from None
    if len(results) != len(files):
        raise LightningAlgError(f"the verifier answered for {len(results)} of {len(files)} files")
    return results
