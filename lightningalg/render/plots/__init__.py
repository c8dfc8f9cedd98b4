"""Pictures by matplotlib (the extra ``plots``): SVG and PNG."""

from lightningalg.render.plots.surface import FORMATS, draw_slice

__all__ = ["FORMATS", "draw_slice"]
