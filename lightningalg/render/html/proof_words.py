"""Words and commands of the articles that this package writes, with what a page prints for them."""

from __future__ import annotations

from typing import Any

WORDS: dict[str, dict[str, Any]] = {
    "en": {
        "proof": "Proof", "section": ("Section", "Sections"), "table": ("Table", "Tables"),
        "equation": ("Equation", "Equations"), "item": ("Item", "Items"), "and": "and", "to": "to",
        "plural": {"Theorem": "Theorems", "Proposition": "Propositions", "Lemma": "Lemmas",
                   "Corollary": "Corollaries"},
        "references": "References", "abstract": "Abstract", "lower": False,
    },
    "es": {
        "proof": "Demostración", "section": ("Sección", "Secciones"), "table": ("Tabla", "Tablas"),
        "equation": ("Ecuación", "Ecuaciones"), "item": ("Punto", "Puntos"), "and": "y", "to": "a",
        "plural": {"Teorema": "Teoremas", "Proposición": "Proposiciones", "Lema": "Lemas",
                   "Corolario": "Corolarios"},
        "references": "Referencias", "abstract": "Resumen", "lower": True,
    },
}  # fmt: skip

#: commands that print a text; those with an empty one only space or break lines
SIGNS = {
    "allowbreak": "<wbr>", "quad": "&emsp;", "qquad": "&emsp;&emsp;", " ": " ", "\n": " ", ",": "&#8239;",
    "-": "&shy;", "_": "_", "%": "%", "&": "&amp;", "#": "#", "$": "$", "{": "{", "}": "}", "/": "",
    "dots": "…", "ldots": "…", "S": "§", "textbackslash": "\\", "textasciicircum": "^",
    "textasciitilde": "~", "textless": "&lt;", "textgreater": "&gt;", "textbar": "|",
    "textquoteleft": "‘", "textquoteright": "’", "textquotedblright": "”", "textquotedblleft": "“",
    "textquotedbl": "&quot;", "guillemotleft": "«", "guillemotright": "»", "textquestiondown": "¿",
    "textexclamdown": "¡", "textquotesingle": "&#39;",
    "textasciigrave": "`", "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ",
    "oe": "œ", "OE": "Œ",
    "i": "ı", "j": "ȷ", "aa": "å", "AA": "Å", "textendash": "–", "textemdash": "—", "textordmasculine": "º",
    "textordfeminine": "ª",
    "guillemetleft": "«", "guillemetright": "»",
}  # fmt: skip
SILENT = frozenset(
    [
        "noindent",
        "medskip",
        "smallskip",
        "bigskip",
        "maketitle",
        "footnotesize",
        "small",
        "normalsize",
        "raggedright",
        "centering",
        "begingroup",
        "endgroup",
        "upshape",
        "sloppy",
        "relax",
        "uncounted",
        "qedhere",
        "allowdisplaybreaks",
        "newpage",
        "clearpage",
        "nobreak",
        "tableofcontents",
        "hfill",
    ]
)
ONE_SILENT_ARGUMENT = frozenset(
    {"thispagestyle", "pagestyle", "roomfor", "vspace", "hspace", "vspace*", "selectlanguage", "date",
     "pdfbookmark", "phantomsection"}
)  # fmt: skip
WRAPPED = {"emph": "em", "textbf": "strong", "texttt": "code", "textit": "em", "textup": "span",
            "textsc": "span", "mbox": "span", "textrm": "span"}  # fmt: skip
ACCENTS = {"'": "\u0301", "`": "\u0300", '"': "\u0308", "^": "\u0302", "~": "\u0303", "=": "\u0304",
            ".": "\u0307", "c": "\u0327", "v": "\u030c", "H": "\u030b", "k": "\u0328", "u": "\u0306",
            "r": "\u030a", "d": "\u0323", "b": "\u0331"}  # fmt: skip
