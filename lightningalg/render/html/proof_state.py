"""What is known about a proof while it is converted: numbers, labels, references."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Protocol

from lightningalg.errors import UnsupportedError, shown

_REFERENCE = re.compile("\ue000([a-z]+)\ue001([^\ue000-\ue002]*)\ue002")


@dataclass(slots=True)
class State:
    """Counters as in LaTeX, the labels with what they name, and what the page shows apart."""

    words: dict[str, Any]
    theorems: dict[str, str]
    commands: dict[str, str]
    counters: dict[str, int] = field(default_factory=dict)
    labels: dict[str, tuple[str, str, str]] = field(default_factory=dict)  # kind of thing, number, id
    contents: list[tuple[str, str]] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    current: tuple[str, str] = ("section", "")
    anchors: set[str] = field(default_factory=set)

    def anchor(self, label: str) -> str:
        """Return an id for the page that no other place has."""
        first = found = "proof-" + re.sub(r"[^A-Za-z0-9]+", "-", label).strip("-")[:80]
        while found in self.anchors:
            found = f"{first}-{len(self.anchors)}"
        self.anchors.add(found)
        return found

    def step(self, counter: str) -> int:
        """Count one more, and return the number."""
        self.counters[counter] = self.counters.get(counter, 0) + 1
        return self.counters[counter]


class AbstractConverter(Protocol):
    """What environments and tables ask of the converter of the text that they stand in."""

    state: State

    def inner(self) -> AbstractConverter:
        """Return a converter for a piece of this text."""

    def blocks(self, text: str) -> str:
        """Convert a text of paragraphs, theorems, lists and tables."""

    def inline(self, text: str) -> str:
        """Convert a text inside a paragraph, a heading or a cell."""

    def block(self, html: str) -> None:
        """Put something that is no part of a paragraph."""

    def formula(self, latex: str, display: bool = False) -> str:
        """Return a formula as MathML."""

    def displayed(self, latex: str, number: str, anchor: str = "") -> str:
        """Return a formula on a line of its own, with its number."""


def resolved(html: str, state: State) -> str:
    """Return markup with its marks of references replaced by words and links.

    Raises
    ------
    UnsupportedError
        If a label is nowhere.
    """
    return _REFERENCE.sub(lambda found: _reference(found[1], found[2].split(","), state), html)


def _reference(command: str, keys: list[str], state: State) -> str:
    """Return the words and links of a reference, neighbours of a kind joined as cleveref does."""
    groups: list[tuple[str, list[str]]] = []
    for key in keys:
        if key not in state.labels:
            raise UnsupportedError(f"a reference to {shown(key, 40)!r}, which is nowhere")
        kind, number, anchor = state.labels[key]
        printed = f"({number})" if kind == "equation" and command != "ref" else number
        link = f'<a href="#{anchor}">{{}}{printed}</a>' if anchor else f"{{}}{printed}"
        if groups and groups[-1][0] == kind:
            groups[-1][1].append(link)
        else:
            groups.append((kind, [link]))
    parts = [_named(kind, links, command, state) for kind, links in groups]
    return _list(parts, state)


def _named(kind: str, links: list[str], command: str, state: State) -> str:
    if command not in ("cref", "Cref"):
        return _list([link.format("") for link in links], state)
    words = state.words.get(kind)
    single = words[0] if words else state.theorems.get(kind, kind)
    several = words[1] if words else state.words["plural"].get(single, single)
    if state.words["lower"] and command == "cref":  # inside a sentence
        single, several = single.lower(), several.lower()
    if len(links) == 1:
        return links[0].format(f"{single}&nbsp;")
    return f"{several}&nbsp;{_list([link.format('') for link in links], state)}"


def _list(parts: list[str], state: State) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {state.words['and']} {parts[-1]}"
