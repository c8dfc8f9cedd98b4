"""LaTeX articles from certificates: a printed theorem says what was certified and no more."""

from lightningalg.render.latex.article import ClaimText, render_proof
from lightningalg.render.latex.compile import LatexError, compile_pdf, compile_with_log, overfull_boxes
from lightningalg.render.latex.escape import escape_text

__all__ = [
    "ClaimText",
    "LatexError",
    "compile_pdf",
    "compile_with_log",
    "escape_text",
    "overfull_boxes",
    "render_proof",
]
