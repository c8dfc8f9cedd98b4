"""LaTeX articles from certificates: a printed theorem says what was certified and no more."""

from lightningalg.render.latex.article import render_proof
from lightningalg.render.latex.claim import ClaimText
from lightningalg.render.latex.compile import LatexError, compile_pdf, compile_with_log, overfull_boxes
from lightningalg.render.latex.escape import escape_text
from lightningalg.render.latex.language import LANGUAGES, known_language

__all__ = [
    "LANGUAGES",
    "ClaimText",
    "LatexError",
    "compile_pdf",
    "compile_with_log",
    "escape_text",
    "known_language",
    "overfull_boxes",
    "render_proof",
]
