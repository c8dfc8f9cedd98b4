"""A static report of a worksheet run: pages that need no network, no server and no program."""

from lightningalg.render.html.pages import render_report
from lightningalg.render.html.records import ClaimPage, Figure, InstanceRow, Report

__all__ = ["ClaimPage", "Figure", "InstanceRow", "Report", "render_report"]
