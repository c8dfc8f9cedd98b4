r"""What notebooks show: HTML tables, in which every text is escaped, and LaTeX that is mathematics.

Nothing here knows what it shows: objects of the package describe themselves by titles, rows and remarks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import chain, islice
from typing import Any

#: rows of a table; the others are counted
MAX_ROWS = 200
#: characters of a cell or a title, and of a remark
MAX_TEXT, MAX_NOTE = 400, 2000
#: a matrix is printed up to these sizes, and entries of as many characters
MAX_MATRIX_ROWS, MAX_MATRIX_COLUMNS, MAX_ENTRY = 30, 12, 40

# Notebooks typeset what stands between dollar signs even in tables; names are not to be typeset.
_TABLE = '<table class="lightningalg tex2jax_ignore mathjax_ignore">'
_NUMBER = re.compile(r"(-?)([0-9]+)(?:/([0-9]+))?")
_DECIMAL = re.compile(r"-?[0-9]+\.[0-9]+")


def clipped(value: object, length: int = MAX_TEXT) -> str:
    r"""Return ``str(value)`` on one line, with control characters spelt out, cut where it is too long.

    Parameters
    ----------
    length
        The most characters.

    Examples
    --------
    >>> clipped("a\x00b"), clipped("abcdef", 4)
    ('a\\x00b', 'abc…')
    """
    try:
        text = str(value)[: 4 * length]
    except ValueError:  # Python refuses to print integers of thousands of digits
        text = "an integer of thousands of digits"
    text = "".join(_visible(character) for character in " ".join(text.split(" ")))
    return text if len(text) <= length else text[: length - 1] + "…"


def _visible(character: str) -> str:
    """Return a character, or its escape if it is a control, a direction mark or half of a surrogate pair."""
    if character in "\n\t":
        return " "
    hidden = unicodedata.category(character).startswith("C")
    return character.encode("unicode_escape").decode("ascii") if hidden else character


def _safe(value: object, length: int = MAX_TEXT) -> str:
    return escape(clipped(value, length))


def html_table(
    title: object, head: Sequence[object], rows: Iterable[Sequence[object]], note: object = ""
) -> str:
    """Return a table with a title and a remark below, as the HTML that notebooks show.

    The first cell of each row is its heading, for readers that read tables aloud. Rows beyond ``MAX_ROWS``
    are counted only.

    Parameters
    ----------
    title
        The caption.
    head
        Headings of the columns; may be empty.
    rows
        The cells, shown by ``str``.
    note
        A remark below the table.

    Examples
    --------
    >>> print(html_table("T", ["a"], [["<b>"]]))
    <table class="lightningalg tex2jax_ignore mathjax_ignore"><caption>T</caption><thead><tr><th scope="col">\
a</th></tr></thead><tbody><tr><th scope="row">&lt;b&gt;</th></tr></tbody></table>
    """
    listed = iter(rows)
    shown = [_row(row) for row in islice(listed, MAX_ROWS)]
    more = sum(1 for _ in listed)
    heading = "".join(f'<th scope="col">{_safe(cell)}</th>' for cell in head)
    heading = f"<thead><tr>{heading}</tr></thead>" if heading else ""
    notes = [str(note)] if note else []
    if more:
        notes.insert(0, f"{more:,} more rows are not shown.")
    below = "".join(f'<p class="tex2jax_ignore mathjax_ignore">{_safe(text, MAX_NOTE)}</p>' for text in notes)
    caption = f"<caption>{_safe(title)}</caption>"
    return f"{_TABLE}{caption}{heading}<tbody>{''.join(shown)}</tbody></table>{below}"


def _row(cells: Sequence[object]) -> str:
    first, *others = cells
    tail = "".join(f"<td>{_safe(cell)}</td>" for cell in others)
    return f'<tr><th scope="row">{_safe(first)}</th>{tail}</tr>'


def field_rows(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield name and value of the fields of a JSON object as rows of a table; lists of numbers as tuples.

    Examples
    --------
    >>> list(field_rows({"complement_dimension": 8, "boundary": [[0, 0, 0], [1, 1, 1]]}))
    [('complement dimension', '8'), ('boundary', '(0,0,0), (1,1,1)')]
    """
    for name, value in table.items():
        yield str(name).replace("_", " "), _value(value)


def _value(value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_value(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        flat = any(isinstance(item, (list, tuple, Mapping)) for item in value)
        return ", ".join(_tuple(item) for item in value[:MAX_TEXT]) if flat else _tuple(value)
    return clipped(value)


def _tuple(value: Any) -> str:
    if not isinstance(value, (list, tuple)):
        return _value(value)
    if any(isinstance(item, (list, tuple, Mapping)) for item in value):
        return f"({_value(value)})"
    return f"({','.join(_value(item) for item in value[:MAX_TEXT])})"


# -- LaTeX --------------------------------------------------------------------------------------------------


def number_latex(value: object) -> str | None:
    r"""Return an integer, a fraction ``p/q`` or a decimal in LaTeX, ``None`` for anything else.

    Examples
    --------
    >>> number_latex("-3/4"), number_latex(12), number_latex(0.5), number_latex("x")
    ('-\\tfrac{3}{4}', '12', '0.5', None)
    """
    try:
        text = str(value)
    except ValueError:
        return None
    match = _NUMBER.fullmatch(text) if len(text) <= MAX_ENTRY else None
    if match is None:
        return text if len(text) <= MAX_ENTRY and _DECIMAL.fullmatch(text) else None
    sign, numerator, denominator = match.groups()
    return f"{sign}{numerator}" if denominator is None else rf"{sign}\tfrac{{{numerator}}}{{{denominator}}}"


def matrix_latex(rows: Sequence[Sequence[object]]) -> str | None:
    r"""Return a matrix of numbers in LaTeX, or ``None`` if it is too large or has other entries.

    Examples
    --------
    >>> print(matrix_latex([[1, "1/2"]]))
    \begin{pmatrix}1 & \tfrac{1}{2}\end{pmatrix}
    """
    if len(rows) > MAX_MATRIX_ROWS or len(rows[0]) > MAX_MATRIX_COLUMNS:
        return None
    cells = [[number_latex(entry) for entry in row] for row in rows]
    if any(cell is None for cell in chain.from_iterable(cells)):
        return None
    body = r" \\ ".join(" & ".join(map(str, row)) for row in cells)
    return rf"\begin{{pmatrix}}{body}\end{{pmatrix}}"


def algebra_latex(name: str) -> str:
    r"""Return the name of a Lie algebra in LaTeX; parts that are not of a known form as plain text.

    Examples
    --------
    >>> algebra_latex("gl_2 x so(2,2) x torus^2")
    '\\mathfrak{gl}_{2} \\times \\mathfrak{so}(2,2) \\times \\mathfrak{t}^{2}'
    >>> algebra_latex("$x")
    '\\text{x}'
    """
    return r" \times ".join(_factor_latex(part) for part in name.split(" x "))


def _factor_latex(name: str) -> str:
    for pattern, shape in (
        (r"([a-z]{2,3})_([0-9]+)", r"\mathfrak{{{0}}}_{{{1}}}"),
        (r"([a-z]{2,3})\(([0-9]+),([0-9]+)\)", r"\mathfrak{{{0}}}({1},{2})"),
        (r"(t)orus\^([0-9]+)", r"\mathfrak{{{0}}}^{{{1}}}"),
        (r"(0)", "{0}"),
    ):
        match = re.fullmatch(pattern, name)
        if match is not None:
            return shape.format(*match.groups())
    return rf"\text{{{re.sub(r'[^A-Za-z0-9 (),.-]', '', name)}}}"
