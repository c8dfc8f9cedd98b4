"""Sequential networks cut into segments (lightningalg.rank.composition)."""

from lightningalg.rank.composition import bound

__all__ = ["bound"]
