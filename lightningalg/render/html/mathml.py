"""Formulas for pages: LaTeX as MathML that browsers show by themselves, whatever the LaTeX contains."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from xml.etree import ElementTree

from latex2mathml.converter import convert

from lightningalg.errors import UnsupportedError, shown

#: elements of MathML Core that may occur in a page, and their attributes; all else is refused or dropped
_ELEMENTS = frozenset(
    [
        "math",
        "mrow",
        "mi",
        "mn",
        "mo",
        "msup",
        "msub",
        "msubsup",
        "mfrac",
        "msqrt",
        "mroot",
        "mover",
        "munder",
        "munderover",
        "mtable",
        "mtr",
        "mtd",
        "mtext",
        "mspace",
        "mstyle",
        "mpadded",
        "mphantom",
    ]
)
_ATTRIBUTES = frozenset(
    [
        "display",
        "stretchy",
        "fence",
        "separator",
        "largeop",
        "movablelimits",
        "minsize",
        "maxsize",
        "width",
        "accent",
        "accentunder",
        "displaystyle",
        "scriptlevel",
        "linethickness",
        "lspace",
        "rspace",
        "form",
        "class",
    ]
)
_FRAKTUR = {
    chr(base + i): chr(start + i)
    for base, start in ((ord("A"), 0x1D504), (ord("a"), 0x1D51E))
    for i in range(26)
} | {"C": "ℭ", "H": "ℌ", "I": "ℑ", "R": "ℜ", "Z": "ℨ"}
_PLAIN = {r"\{": "{", r"\}": "}", r"\|": "‖", "―": "‾", r"\_": "_", r"\,": " ", r"\%": "%"}
#: upright names that stand before their argument: a little room, none before a bracket
_NAMES = re.compile(r"[A-Za-z]{2,}")
_LIMITS = frozenset({"max", "min", "sup", "inf", "lim"})
_ARROWS = frozenset("⟼⟶⟵⟹⟺")
_SIGNS = tuple(
    (re.compile(rf"\\math{name}(?![A-Za-z])"), sign) for name, sign in (("section", "§"), ("paragraph", "¶"))
)
_LONGEST = 20_000  # characters of a formula


@lru_cache(1000)
def mathml(latex: str) -> str:
    r"""Return MathML of a formula in LaTeX; the text may come from a file.

    The result has elements and attributes of MathML Core alone: no links, styles or scripts.

    Raises
    ------
    UnsupportedError
        If the formula has commands that cannot be converted.

    Examples
    --------
    >>> mathml(r"2 a d").startswith("<math")
    True
    >>> mathml(r"\unknown")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    lightningalg.errors.UnsupportedError: ... has the command \unknown, which is not known here
    """
    return _converted(latex, display=False)


@lru_cache(50_000)
def inline_or_display(latex: str, display: bool) -> str:
    """Return MathML of a formula of a proof: ``mathml`` with a larger memory and displayed formulas."""
    return _converted(latex, display)


def _converted(latex: str, display: bool) -> str:
    simple = re.fullmatch(r"\s*(?:([0-9]+)|([A-Za-z]))\s*", latex)
    if simple and not display:
        return f"<math><mn>{simple[1]}</mn></math>" if simple[1] else f"<math><mi>{simple[2]}</mi></math>"
    if len(latex) > _LONGEST:
        raise UnsupportedError(f"a formula of {len(latex)} characters: converted are at most {_LONGEST}")
    try:
        found = convert(_known_signs(latex), display="block" if display else "inline")
        tree = ElementTree.fromstring(re.sub(r"&(?!#?\w+;)", "&amp;", found))
    except (Exception, RecursionError) as error:  # the converter raises what it likes
        raise UnsupportedError(
            f"the formula {shown(latex)!r} cannot be converted: {type(error).__name__}"
        ) from None
    if display:
        tree.set("display", "block")
    _clean(tree, latex)
    return ElementTree.tostring(tree, encoding="unicode", short_empty_elements=False)


def _known_signs(latex: str) -> str:
    """Spell signs that the converter takes for the start of a font as the characters that they are."""
    for command, sign in _SIGNS:
        latex = command.sub(rf"\\text{{{sign}}}", latex)
    return latex


def _clean(tree: ElementTree.Element, latex: str) -> None:
    """Leave what is in the lists above, and spell letters and operators as browsers expect them."""
    for node in tree.iter():
        node.tag = node.tag.rpartition("}")[2]
        if node.tag not in _ELEMENTS:
            raise UnsupportedError(f"the formula {shown(latex)!r} has an element {node.tag[:30]}")
        fraktur, upright = (node.get("mathvariant") == name for name in ("fraktur", "normal"))
        node.attrib = {k: v for k, v in node.attrib.items() if k in _ATTRIBUTES}
        node.attrib.pop("class", None)
        if upright and len(node.text or "") == 1:
            node.set("mathvariant", "normal")
        if node.get("display") == "inline":
            del node.attrib["display"]
        text = _PLAIN.get(node.text or "", node.text or "")
        if fraktur:
            text = "".join(_FRAKTUR.get(char, char) for char in text)
        if text.startswith("\\") and len(text) > 1 and node.tag != "mtext":
            raise UnsupportedError(
                f"the formula {shown(latex)!r} has the command {shown(text, 30)}, which is not known here"
            )
        node.text = text
        if text == "⧵":  # the converter's sign for differences of sets, which most fonts lack
            node.tag, node.text = "mo", "∖"
            node.attrib.update(lspace="0.2em", rspace="0.2em")
        if text in _ARROWS:
            node.tag = "mo"
            node.attrib.update(lspace="0.28em", rspace="0.28em")
        if node.tag == "mi" and text == ":":  # as in f: X -> Y
            node.tag = "mo"
            node.attrib.update(lspace="0.05em", rspace="0.25em")
        if node.tag in ("mo", "mi") and _NAMES.fullmatch(text):
            node.tag = "mo"
            _spaced(node, text)
    _arrange(tree)


def _spaced(node: ElementTree.Element, name: str) -> None:
    wide = name == "mod"
    node.attrib.update(lspace="0.25em" if wide else "0.1em", rspace="0.25em" if wide else "0.17em")
    if not wide:
        node.set("form", "prefix")


def _arrange(tree: ElementTree.Element) -> None:
    """Set no space between a name and the bracket after it; draw bars over whole formulas by a style."""
    display = tree.get("display") == "block"
    for parent in tree.iter():
        children = list(parent)
        for name, after in pairwise(children):
            core = name if name.tag == "mo" else next(iter(name), name)
            if core.get("form") == "prefix" and after.tag == "mo" and after.text in ("(", "[", "{"):
                core.set("rspace", "0")
        if parent.tag == "mover" and children[-1].text == "‾":
            parent.set("class", "over")  # stretched bars need fonts that not every reader has
        if parent.tag == "msub" and display and children[0].text in _LIMITS:
            parent.tag = "munder"
