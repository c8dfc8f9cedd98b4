"""What the environments of a proof become: theorems, lists, formulas, tables, references."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from lightningalg.errors import UnsupportedError
from lightningalg.render.html.proof_state import AbstractConverter
from lightningalg.render.html.proof_tables import longtable
from lightningalg.render.html.tex_reader import Reader, split_top


def theorem(here: AbstractConverter, reader: Reader, kind: str) -> None:
    """Put a theorem, lemma, definition or remark, numbered as in the article."""
    title = reader.option()
    body = reader.environment(kind)
    head, number = here.state.theorems[kind], ""
    if kind != "remark":
        number = str(here.state.step("theorem"))
        here.state.current = (kind, number)
        head += f" {number}"
    label = re.match(r"\s*\\label\{([^{}]*)\}", body)
    anchor = here.state.anchor(label[1] if label else f"{kind} {number}")
    if label:
        body = body[label.end() :]
        here.state.labels[escape(label[1])] = (kind, number, anchor)
    note = f" ({here.inner().inline(title)})" if title else ""
    content = here.inner().blocks(body)
    stated = kind == "theorem" or (label is not None and label[1].startswith("res:"))
    if stated and r"\cite" not in (title or ""):  # not a theorem of somebody else
        here.state.results.append(
            f'<p class="head"><a href="#{anchor}">{head}</a>{note}</p>' + re.sub(r' id="[^"]*"', "", content)
        )
    here.block(f'<section class="theorem {escape(kind)}" id="{anchor}" aria-label="{head}">'
             f'<p class="head">{head}{note}</p>{content}</section>')  # fmt: skip


def _proof(here: AbstractConverter, reader: Reader, kind: str) -> None:
    title = reader.option()
    before = here.state.current
    head = here.inner().inline(title) if title else here.state.words["proof"]
    content = here.inner().blocks(reader.environment(kind))
    here.state.current = before
    here.block(f'<div class="argument"><p class="head">{head}</p>{content}'
             '<p class="qed" aria-hidden="true">□</p></div>')  # fmt: skip


def _abstract(here: AbstractConverter, reader: Reader, kind: str) -> None:
    here.block(f'<div class="abstract">{here.inner().blocks(reader.environment(kind))}</div>')


def _center(here: AbstractConverter, reader: Reader, kind: str) -> None:
    here.block(f'<div class="centre">{here.inner().blocks(reader.environment(kind))}</div>')


def _listing(here: AbstractConverter, reader: Reader, kind: str) -> None:
    here.block(f'<div class="listing">{here.inner().blocks(reader.environment(kind))}</div>')


def _equation(here: AbstractConverter, reader: Reader, kind: str) -> None:
    body = reader.environment(kind)
    label = re.search(r"\\label\{([^{}]*)\}", body)
    number, anchor = "", ""
    if not kind.endswith("*"):
        number = str(here.state.step("equation"))
    if label:
        anchor = here.state.anchor(label[1])
        here.state.labels[escape(label[1])] = ("equation", number, anchor)
    here.block(here.displayed(body, number, anchor))


def _align(here: AbstractConverter, reader: Reader, kind: str) -> None:
    if not kind.endswith("*"):
        raise UnsupportedError("numbered lines of formulas")
    rows = []
    for line in split_top(reader.environment(kind), r"\\"):
        cells = [here.formula("{}" + cell, display=True) for cell in split_top(line, "&")]
        inner = [re.sub(r"^<math[^>]*>|</math>$", "", cell) for cell in cells]
        rows.append("<mtr>" + "".join(f"<mtd>{cell}</mtd>" for cell in inner) + "</mtr>")
    table = f'<math display="block"><mtable class="align" displaystyle="true">{"".join(rows)}</mtable></math>'
    here.block(f'<div class="equation">{table}</div>')


def _itemize(here: AbstractConverter, reader: Reader, kind: str) -> None:
    items = "".join(f"<li>{html}</li>" for _, html in _items(here, reader.environment(kind), ""))
    here.block(f"<ul>{items}</ul>")


def _enumerate(here: AbstractConverter, reader: Reader, kind: str) -> None:
    found = _items(here, reader.environment(kind), "item")
    items = "".join(f'<li><span class="mark">{mark}</span> {html}</li>' for mark, html in found)
    here.block(f'<ol class="marked">{items}</ol>')


def _description(here: AbstractConverter, reader: Reader, kind: str) -> None:
    found = _items(here, reader.environment(kind), "")
    here.block("<dl>" + "".join(f"<dt>{m}</dt><dd>{html}</dd>" for m, html in found) + "</dl>")


def _items(here: AbstractConverter, body: str, counter: str) -> list[tuple[str, str]]:
    r"""Return marks and contents of the items; a list inside an item keeps its own ``\item``s."""
    pieces = _split_items(body)
    found = []
    for number, piece in enumerate(pieces, start=1):
        reader = Reader(piece)
        mark = reader.option()
        if counter:
            here.state.current = (counter, str(number))
        shown = here.inner().inline(mark) if mark is not None else f"({number})"
        found.append((shown, here.inner().blocks(piece[reader.at :])))
    return found


def _thebibliography(here: AbstractConverter, reader: Reader, kind: str) -> None:
    body = reader.environment(kind)
    pieces = body.split(r"\bibitem")[1:]
    items = []
    for number, piece in enumerate(pieces, start=1):
        inside = Reader(piece)
        key = inside.group()
        anchor = here.state.anchor(f"bib:{key}")
        here.state.labels[f"bib:{escape(key)}"] = ("reference", str(number), anchor)
        text = here.inner().inline(piece[inside.at :])
        items.append(f'<li id="{anchor}"><span class="mark">[{number}]</span> {text}</li>')
    title = here.state.words["references"]
    anchor = here.state.anchor("references")
    here.state.contents.append((anchor, title))
    here.block(f'<h3 id="{anchor}">{title}</h3><ol class="marked">{"".join(items)}</ol>')


def _longtable(here: AbstractConverter, reader: Reader, kind: str) -> None:
    reader.option()
    spec = reader.group()
    here.block(longtable(here.inner, here.state, spec, reader.environment(kind)))


def _split_items(body: str) -> list[str]:
    depth, starts = 0, []
    for found in re.finditer(r"\\(begin|end)\{(itemize|enumerate|description)\}|\\item(?![A-Za-z])", body):
        if found[1]:
            depth += 1 if found[1] == "begin" else -1
        elif depth == 0:
            starts.append((found.start(), found.end()))
    if not starts or body[: starts[0][0]].strip():
        raise UnsupportedError("a list that does not begin with an item")
    ends = [start for start, _ in starts[1:]] + [len(body)]
    return [body[after:end] for (_, after), end in zip(starts, ends, strict=True)]


#: what an environment becomes, by its name without the star
ENVIRONMENTS: dict[str, Callable[[AbstractConverter, Reader, str], None]] = {
    "proof": _proof,
    "abstract": _abstract,
    "center": _center,
    "listing": _listing,
    "equation": _equation,
    "align": _align,
    "itemize": _itemize,
    "enumerate": _enumerate,
    "description": _description,
    "thebibliography": _thebibliography,
    "longtable": _longtable,
    "longformula": _listing,
    "tabular": _longtable,
}
