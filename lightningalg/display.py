"""Small HTML tables for notebooks: every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(title: str, head: Sequence[object], rows: Iterable[Sequence[object]], note: str = "") -> str:
    """Return a table with a title and a remark below, as the HTML that notebooks show.

    Examples
    --------
    >>> html_table("T", ["a"], [["<b>"]])  # doctest: +ELLIPSIS
    '<table><caption>T</caption><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr>...'
    """

    def line(cells: Iterable[object], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    heading = f"<thead>{line(head, 'th')}</thead>" if head else ""
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<table><caption>{escape(title)}</caption>{heading}<tbody>{body}</tbody></table>{below}"
