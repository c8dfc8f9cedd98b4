"""Layer types, one file each. Every module here is loaded, so that adding a file adds a type."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from lightningalg.networks.base import AbstractLayer


def _collect() -> dict[str, type[AbstractLayer]]:
    found: dict[str, type[AbstractLayer]] = {}
    for module in sorted(info.name for info in iter_modules(__path__)):
        for item in vars(import_module(f"{__name__}.{module}")).values():
            if isinstance(item, type) and issubclass(item, AbstractLayer) and item is not AbstractLayer:
                found[item.type_name] = item
    return found


#: layer class by ``type_name``
LAYER_TYPES = _collect()
