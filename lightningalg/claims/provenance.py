"""What made a certificate: versions and arguments, as plain text."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    found = [("python", platform.python_version())]
    for package in ("lightningalg", "numpy", "python-flint"):
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            found.append((package, "not installed as a package"))
    return tuple(sorted(found))


def provenance(**details: str) -> dict[str, str]:
    """Return the versions of this run and the given details; nothing is ever concluded from them."""
    return {**dict(_versions()), **details}
