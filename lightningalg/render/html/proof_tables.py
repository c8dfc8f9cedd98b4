"""The long tables of proofs."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from lightningalg.render.html.proof_state import AbstractConverter, State
from lightningalg.render.html.tex_reader import Reader, split_top

Inner = Callable[[], AbstractConverter]


def longtable(inner: Inner, state: State, spec: str, body: str) -> str:
    """Return a table of an article; ``inner`` gives a converter for a piece of text."""
    caption, body = _caption(inner, state, body)
    columns = re.findall(r"[lcrLp]", re.sub(r"@\{[^{}]*\}|\{[^{}]*\}|[^a-zA-Z{}@]", "", spec))
    head, marker, rest = body.partition(r"\endfirsthead")
    if marker:
        rest = rest.partition(r"\endhead")[2] if r"\endhead" in rest else rest
    elif r"\endhead" in body:
        head, _, rest = body.partition(r"\endhead")
    else:
        head, _, rest = body.partition(r"\midrule")
    if r"\endlastfoot" in rest:
        rest = rest.partition(r"\endlastfoot")[2]
    elif r"\endfoot" in rest:
        rest = rest.partition(r"\endfoot")[2]
    rules = re.compile(r"\\(top|mid|bottom)rule|\\hline|\\addlinespace")
    heads = _rows(inner, rules.sub(" ", head), columns, "th")
    rows = _rows(inner, rules.sub(" ", rest), columns, "td")
    body_html = "".join(f"<tr>{row}</tr>" for row in rows)
    head_html = "".join(f"<tr>{row}</tr>" for row in heads)
    name = f"{state.words['table'][0]} ({state.step('region')})"
    return (f'<div class="wide" tabindex="0" role="region" aria-label="{name}"><table class="plain">{caption}'
            f"<thead>{head_html}</thead><tbody>{body_html}</tbody></table></div>")  # fmt: skip


def _caption(inner: Inner, state: State, body: str) -> tuple[str, str]:
    start = body.find(r"\caption")
    if start < 0:
        return "", body
    reader = Reader(body)
    reader.at = start + len(r"\caption")
    number = str(state.step("table"))
    state.current = ("table", number)
    text = inner().inline(reader.group())
    label = re.compile(r"\s*\\label\{([^{}]*)\}").match(body, reader.at)
    anchor = ""
    if label:
        reader.at = label.end()
        anchor = state.anchor(label[1])
        state.labels[escape(label[1])] = ("table", number, anchor)
    rest = re.sub(r"^\s*\\\\", "", body[reader.at :])
    name = state.words["table"][0]
    attribute = f' id="{anchor}"' if anchor else ""
    return f"<caption{attribute}>{name} {number}. {text}</caption>", body[:start] + rest


def _rows(inner: Inner, text: str, columns: list[str], tag: str) -> list[str]:
    rows = []
    for line in split_top(text, r"\\"):
        line = re.sub(r"^\s*\[[^]]*\]", "", line)
        if not line.strip():
            continue
        cells = [inner().inline(cell.strip()) for cell in split_top(line, "&")]
        rows.append("".join(_cell(cell, i, columns, tag) for i, cell in enumerate(cells)))
    return rows


def _cell(cell: str, place: int, columns: list[str], tag: str) -> str:
    attributes = ' class="number"' if place < len(columns) and columns[place] == "r" else ""
    if tag == "th":
        attributes += ' scope="col"'
        if cell.startswith("<math"):  # some screen readers do not read formulas in headings
            spoken = re.sub("<[^>]*>", "", cell).replace('"', "&quot;")
            attributes += f' aria-label="{spoken}"'
    return f"<{tag}{attributes}>{cell}</{tag}>"
