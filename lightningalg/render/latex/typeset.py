r"""Lists, sums, index sets and matrices as LaTeX that breaks across lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby
from typing import Any

from lightningalg.render.latex.escape import Tex, number
from lightningalg.render.latex.language import translate

MATRIX_COLUMNS = 12  # wider matrices are summarised
MATRIX_ROWS = 30  # taller ones would not fit on a page
_LINE = 62  # digits and signs that surely fit on one line of mathematics


def visible_length(tex: str) -> int:
    r"""Return about how many characters ``tex`` shows: commands count 1, grouping nothing.

    Examples
    --------
    >>> visible_length(r"\binom{4}{2}+1")
    5
    """
    return len(re.sub(r"[{}^_\s]", "", re.sub(r"\\[a-zA-Z]+|\\.", "x", tex.replace(r"\allowbreak", ""))))


def mathematics(tex: str, end: str = ".") -> Tex:
    """Return a formula displayed if it fits on one line, else set ragged right over several."""
    if visible_length(tex) <= _LINE:
        return Tex(rf"\[ {tex}{end} \]")
    return Tex("\\begin{longformula}\n$" + tex + f"${end}\n\\end{{longformula}}")


def sequence(values: Sequence[Any]) -> Tex:
    r"""Return a comma-separated list for math mode; runs of four or more equal values as ``v^{[m]}``.

    Examples
    --------
    >>> sequence([4, 3, 2, 2, 2, 2])
    '4,\\allowbreak 3,\\allowbreak 2^{[4]}'
    """
    parts = []
    for value, group in groupby(values):
        count = sum(1 for _ in group)
        text = str(number(value))
        parts.extend([text] * count if count < 4 else [f"{text}^{{[{count}]}}"])
    return Tex(r",\allowbreak ".join(parts))


def enumeration(numbers: Sequence[int]) -> Tex:
    r"""Return numbers in increasing order for text mode; more than three neighbours as a range.

    Examples
    --------
    >>> enumeration([1, 2, 4]), enumeration([1, 2, 3, 4])
    ('$1$, $2$ and $4$', '$1$--$4$')
    """
    if len(numbers) > 3 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return Tex(f"${numbers[0]}$--${numbers[-1]}$")
    return conjunction([f"${k}$" for k in numbers])


def conjunction(parts: Sequence[str]) -> Tex:
    r"""Return one or more parts as a list whose last comma is an "and"; each is to begin with mathematics.

    Examples
    --------
    >>> conjunction(["$a$"]), conjunction(["$a$", "$b$", "$c$"])
    ('$a$', '$a$, $b$ and $c$')
    """
    if len(parts) == 1:
        return Tex(parts[0])
    return translate("%(first)s and %(last)s", first=", ".join(parts[:-1]), last=parts[-1])


def has_runs(values: Sequence[Any]) -> bool:
    """Tell whether ``sequence`` abbreviates ``values``."""
    return any(sum(1 for _ in group) >= 4 for _, group in groupby(values))


def summation(values: Sequence[int]) -> Tex:
    r"""Return ``a+b+...`` for math mode; four or more equal neighbours as a multiple.

    Examples
    --------
    >>> summation([12, 8, 4]), summation([7] * 298), summation([])
    ('12+8+4', '298\\cdot 7', '0')
    """
    parts = []
    for value, group in groupby(values):
        count = sum(1 for _ in group)
        text = str(number(value))
        parts.extend([text] * count if count < 4 else [rf"{count}\cdot {text}"])
    return Tex("+".join(parts) or "0")


def index_runs(runs: Sequence[Sequence[int]]) -> Tex:
    r"""Return an index set for text mode, such as ``0--11, 14``.

    Examples
    --------
    >>> index_runs([[0, 11], [14, 14]])
    '$0$--$11$, $14$'
    """
    parts = []
    for first, last in runs:
        span = f"${number(first)}$" if first == last else f"${number(first)}$--${number(last)}$"
        parts.append(span)
    return Tex(", ".join(parts))


def matrix(name: str, values: Sequence[Any], rows: int, columns: int) -> Tex:
    r"""Return ``name = (matrix)`` for text mode: in full, or by size and hash if it is large.

    Columns are printed lying down. The hash is that of the decimal entries,
    row by row, joined by commas.
    """
    entries = [str(number(value)) for value in values]
    assert len(entries) == rows * columns, "a matrix has rows x columns entries"
    if columns == 1 and rows > 1:
        inner = r",\allowbreak ".join(entries)
        return Tex(rf"${name}=({inner})^{{\top}}$")
    table = [entries[i * columns : (i + 1) * columns] for i in range(rows)]
    widths = [max(len(row[c]) for row in table) for c in range(min(columns, MATRIX_COLUMNS))]
    if columns > MATRIX_COLUMNS or rows > MATRIX_ROWS or max(map(len, entries)) > 40:
        digest = sha256(",".join(str(value) for value in values).encode("ascii")).hexdigest()
        return translate(
            r"$%(name)s$, of size $%(rows)s\times %(columns)s$, whose entries hash to %(hash)s",
            name=name,
            rows=number(rows),
            columns=number(columns),
            hash=rf"\texttt{{{digest[:16]}\allowbreak{{}}\dots}}",
        )
    if sum(widths) + 2 * columns > 75:
        lines = r";\allowbreak\; ".join(r",\allowbreak ".join(row) for row in table)
        return translate("$%(name)s=(%(lines)s)$, row by row", name=name, lines=lines)
    body = r" \\ ".join(" & ".join(row) for row in table)
    return Tex(rf"\mbox{{${name}=\begin{{pmatrix}} {body} \end{{pmatrix}}$}}")
