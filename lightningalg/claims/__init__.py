"""Claims about networks: what is stated, and how it is certified. One file for each kind."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from lightningalg.claims.base import AbstractClaim, RefutedError

__all__ = ["AbstractClaim", "RefutedError", "claim_kinds"]


@cache
def claim_kinds() -> dict[str, AbstractClaim]:
    """Return all kinds of claims by name; every module of this package is looked through.

    Examples
    --------
    >>> "dimension" in claim_kinds()
    True
    """
    found: dict[str, AbstractClaim] = {}
    for info in iter_modules(__path__):
        module = import_module(f"{__name__}.{info.name}")
        for item in vars(module).values():
            if (
                isinstance(item, type)
                and issubclass(item, AbstractClaim)
                and item is not AbstractClaim
                and item.__module__ == module.__name__
                and not item.__name__.startswith("_")  # what several kinds share
            ):
                found[item.kind] = item()
    return found
