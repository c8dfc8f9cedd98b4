"""A proof as a piece of a page: the LaTeX article of a claim, converted by structure.

Only what this package's articles contain is known here. Everything is escaped, formulas become MathML, and
a command that is unknown stops the conversion: the page then shows the LaTeX text instead.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from html import escape

from lightningalg.errors import UnsupportedError, shown
from lightningalg.render.html.mathml import inline_or_display
from lightningalg.render.html.proof_environments import ENVIRONMENTS, theorem
from lightningalg.render.html.proof_state import State, resolved
from lightningalg.render.html.proof_words import (
    ACCENTS,
    ONE_SILENT_ARGUMENT,
    SIGNS,
    SILENT,
    WORDS,
    WRAPPED,
)
from lightningalg.render.html.tex_reader import (
    Reader,
    definitions,
    formula_pieces,
    without_comments,
)

_ASSIGNMENT = re.compile(
    r"\\(binoppenalty|relpenalty|rightskip|leftskip|parindent|lineskip|lineskiplimit|emergencystretch|"
    r"tabcolsep|hangindent|parskip)\s*=?\s*(-?[0-9.]+\s*(pt|em|ex|cm)?(\s*(plus|minus)\s*[0-9.]+\s*"
    r"(pt|em|fil+))*|\\[a-z]+)\s*"
)
_WIDE = 40  # characters of a formula that a narrow screen may have to scroll
_BREAK = re.compile(r"\\allowbreak(?![A-Za-z])")
_HOSTS = ("https://arxiv.org/", "https://doi.org/")
_MOST_DEPTH = 40
_LONGEST = 3_000_000


@dataclass(frozen=True, slots=True)
class ProofText:
    """A converted proof: its markup, its sections as (id, title), its main results, its language."""

    body: str
    contents: tuple[tuple[str, str], ...] = ()
    results: tuple[str, ...] = ()
    language: str = "en"


def convert_proof(text: str) -> ProofText:
    r"""Return the body of a LaTeX article of this package as HTML; the text may come from anyone.

    Numbers of theorems, sections, tables and equations are those of the printed article.

    Raises
    ------
    UnsupportedError
        If the text has something that this package's articles do not have.

    Examples
    --------
    >>> article = r"\newtheorem{lemma}{Lemma}\begin{document}\begin{lemma}\label{lem:x} $a<b$.\end{lemma}"
    >>> proof = convert_proof(article + r"\end{document}")
    >>> "Lemma 1" in proof.body, "<math>" in proof.body, 'id="proof-lem-x"' in proof.body
    (True, True, True)
    """
    if len(text) > _LONGEST:
        raise UnsupportedError(f"a proof of {len(text)} characters: converted are at most {_LONGEST}")
    text = without_comments(re.sub("[\ue000-\uf8ff\0]", "\ufffd", text))
    preamble, begin, rest = text.partition(r"\begin{document}")
    body, end, _ = rest.partition(r"\end{document}")
    if not begin or not end:
        raise UnsupportedError("no LaTeX article")
    commands, theorems = definitions(preamble)
    more, _ = definitions(body)
    language = "es" if re.search(r"\\usepackage\[[^]]*spanish[^]]*\]\{babel\}", preamble) else "en"
    state = State(
        WORDS[language], {kind: escape(name) for kind, name in theorems.items()}, {**more, **commands}
    )
    html = _Converter(state, 0).blocks(body)
    results = tuple(resolved(result, state) for result in state.results)
    return ProofText(resolved(html, state), tuple(state.contents), results, language)


class _Converter:
    """One pass over a piece of text; pieces inside it get converters of their own (``AbstractConverter``)."""

    def __init__(self, state: State, depth: int):
        if depth > _MOST_DEPTH:
            raise UnsupportedError(f"groups nested deeper than {_MOST_DEPTH}")
        self.state, self.depth = state, depth
        self.out: list[str] = []
        self.paragraph = False
        self.as_blocks = False

    def blocks(self, text: str) -> str:
        """Convert a text of paragraphs, theorems, lists and tables."""
        self.as_blocks = True
        self._run(text)
        self._close()
        return "".join(self.out)

    def inline(self, text: str) -> str:
        """Convert a text inside a paragraph, a heading or a cell."""
        self._run(text)
        return "".join(self.out).strip()

    def inner(self) -> _Converter:
        """Return a converter for a piece of this text."""
        return _Converter(self.state, self.depth + 1)

    # -- output -------------------------------------------------------------------------------

    def _close(self) -> None:
        if self.paragraph:
            self.out.append("</p>\n")
            self.paragraph = False

    def _word(self, html: str) -> None:
        if self.as_blocks and not self.paragraph:
            if not html.strip():
                return
            self.out.append("<p>")
            self.paragraph = True
        self.out.append(html)

    def block(self, html: str) -> None:
        """Put something that is no part of a paragraph."""
        self._close()
        self.out.append(html + "\n")

    # -- reading ------------------------------------------------------------------------------

    def _run(self, text: str) -> None:
        reader = Reader(text)
        plain = re.compile(r"[^\\${}~\n`'\-]+")
        while not reader.done:
            found = plain.match(text, reader.at)
            if found:
                self._word(escape(found[0], quote=False))
                reader.at = found.end()
                continue
            self._special(reader, text[reader.at])

    def _special(self, reader: Reader, char: str) -> None:
        if char == "\\":
            self._command(reader)
        elif char == "$":
            reader.at += 1
            self._word(self.formula(reader.until("$")))
        elif char == "{":
            group = reader.group()
            if self.as_blocks and r"\begin{" in group:
                inner = self.inner()
                self.block(inner.blocks(group))
            elif group:
                inner = self.inner()
                self._word(inner.inline(group) + (" " if group[-1:].isspace() else ""))
        elif char == "}":
            raise UnsupportedError("a brace that closes nothing")
        elif char == "\n":
            found = re.compile(r"\n\s*\n\s*|\n").match(reader.text, reader.at)
            reader.at = found.end() if found else reader.at + 1
            if found and found[0].count("\n") > 1 and self.as_blocks:
                self._close()
            else:
                self._word("\n")
        else:
            signs = (("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"), ("`", "‘"), ("'", "’"),
                     ("-", "-"), ("~", "&nbsp;"))  # fmt: skip
            sign, shown = next(pair for pair in signs if reader.text.startswith(pair[0], reader.at))
            reader.at += len(sign)
            self._word(shown)

    def _command(self, reader: Reader) -> None:
        assigned = _ASSIGNMENT.match(reader.text, reader.at)
        if assigned:
            reader.at = assigned.end()
            return
        name = reader.command()
        if name in SIGNS:
            self._word(SIGNS[name])
        elif name in SILENT:
            pass
        elif name in ONE_SILENT_ARGUMENT:
            reader.group()
        elif name in WRAPPED:
            self._wrapped(name, reader.group())
        elif name in ACCENTS:
            letter = reader.group().replace(r"\i", "i")
            if not re.fullmatch(r"[A-Za-z]", letter):
                raise UnsupportedError(f"an accent on {shown(letter, 10)!r}")
            self._word(unicodedata.normalize("NFC", letter + ACCENTS[name]))
        elif hasattr(self, f"_do_{name.rstrip('*')}"):
            getattr(self, f"_do_{name.rstrip('*')}")(reader, name)
        elif name == "[":
            self.block(self.displayed(reader.until(r"\]"), ""))
        elif name == "(":
            self._word(self.formula(reader.until(r"\)")))
        elif name == "\\":
            reader.option()
            self._word("<br>")
        else:
            raise UnsupportedError(rf"the command \{shown(name, 30)} is not known here")

    def _wrapped(self, name: str, group: str) -> None:
        tag = WRAPPED[name]
        simple = group.replace(r"\allowbreak{}", "")
        if name == "texttt" and re.fullmatch(r"[A-Za-z0-9]*", simple):  # a hash: thousands of them
            self._word(f"<code>{simple}</code>")
            return
        mark = ' class="whole"' if name == "mbox" else ""
        self._word(f"<{tag}{mark}>{self.inner().inline(group)}</{tag}>")

    # -- formulas -----------------------------------------------------------------------------

    def formula(self, latex: str, display: bool = False) -> str:
        """Return a formula as MathML."""
        if "\\" in latex:
            latex = re.sub(r"\\label\{[^{}]*\}|\\(?:qedhere|nonumber)(?![A-Za-z])", " ", latex)
            latex = re.sub(r"\\([A-Za-z]+)", self._defined, latex).replace(r"\mathdollar", r"\$")
        pieces = [latex] if display else formula_pieces(latex)
        return "<wbr>".join(self._piece(_BREAK.sub(" ", piece).strip(), display) for piece in pieces)

    def _piece(self, latex: str, display: bool) -> str:
        formula = inline_or_display(latex, display)
        return f'<span class="long">{formula}</span>' if len(latex) > _WIDE and not display else formula

    def _defined(self, found: re.Match[str]) -> str:
        """Return what a command of a formula stands for, grouped unless it is an operator."""
        body = self.state.commands.get(found[1])
        if body is None:
            return found[0]
        return body if body.startswith(r"\operatorname") else f"{{{body}}}"

    def displayed(self, latex: str, number: str, anchor: str = "") -> str:
        """Return a formula on a line of its own, with its number."""
        attribute = f' id="{anchor}"' if anchor else ""
        tail = f'<span class="eqno">({number})</span>' if number else ""
        return f'<div class="equation"{attribute}>{self.formula(latex, display=True)}{tail}</div>'

    def _do_ensuremath(self, reader: Reader, name: str) -> None:
        content = reader.group()
        self._word("$" if content.strip() == r"\mathdollar" else self.formula(content))

    def _do_providecommand(self, reader: Reader, name: str) -> None:
        reader.group()
        reader.group()

    def _do_setlength(self, reader: Reader, name: str) -> None:
        reader.group()
        reader.group()

    def _do_samewords(self, reader: Reader, name: str) -> None:
        reader.group()
        self._word(self.inner().inline(reader.group()))

    _do_foreignlanguage = _do_samewords

    def _do_setcounter(self, reader: Reader, name: str) -> None:
        raise UnsupportedError("counters that are set by hand")

    def _do_addcontentsline(self, reader: Reader, name: str) -> None:
        for _ in range(3):
            reader.group()

    def _do_par(self, reader: Reader, name: str) -> None:
        self._close()

    # -- references ---------------------------------------------------------------------------

    def _refer(self, command: str, keys: str) -> None:
        names = ",".join(key.strip() for key in keys.split(","))
        self._word(f"\ue000{command}\ue001{escape(names)}\ue002")

    def _do_cref(self, reader: Reader, name: str) -> None:
        self._refer("cref", reader.group())

    _do_Cref = _do_cref

    def _do_labelcref(self, reader: Reader, name: str) -> None:
        self._refer("labelcref", reader.group())

    _do_eqref = _do_labelcref

    def _do_ref(self, reader: Reader, name: str) -> None:
        self._refer("ref", reader.group())

    def _do_label(self, reader: Reader, name: str) -> None:
        label = reader.group()
        kind, number = self.state.current
        anchor = self.state.anchor(label)
        self.state.labels[escape(label)] = (kind, number, anchor)
        self._word(f'<span id="{anchor}"></span>')

    def _do_cite(self, reader: Reader, name: str) -> None:
        note = reader.option()
        keys = [key.strip() for key in reader.group().split(",")]
        shown = [f"\ue000labelcref\ue001bib:{escape(key)}\ue002" for key in keys]
        tail = f", {self.inner().inline(note)}" if note else ""
        self._word(f"[{', '.join(shown)}{tail}]")

    def _do_texorpdfstring(self, reader: Reader, name: str) -> None:
        first = reader.group()
        reader.group()
        self._word(self.inner().inline(first))

    def _do_href(self, reader: Reader, name: str) -> None:
        target, text = reader.group(), self.inner().inline(reader.group())
        safe = target.startswith(_HOSTS) and re.fullmatch(r"[A-Za-z0-9:/._()-]+", target)
        self._word(f'<a href="{escape(target)}" rel="noreferrer">{text}</a>' if safe else text)

    # -- headings -----------------------------------------------------------------------------

    def _do_section(self, reader: Reader, name: str) -> None:
        self._heading(reader, name, "section", "h3")

    def _do_subsection(self, reader: Reader, name: str) -> None:
        self._heading(reader, name, "subsection", "h4")

    def _heading(self, reader: Reader, name: str, level: str, tag: str) -> None:
        title = self.inner().inline(reader.group())
        number = ""
        if not name.endswith("*"):
            count = self.state.step(level)
            if level == "section":
                self.state.counters["subsection"] = 0
                number = str(count)
            else:
                number = f"{self.state.counters.get('section', 0)}.{count}"
            self.state.current = ("section", number)
        label = re.compile(r"\s*\\label\{([^{}]*)\}").match(reader.text, reader.at)
        if label:
            reader.at = label.end()
        anchor = self.state.anchor(label[1] if label else f"part {title[:40]}")
        if label:
            self.state.labels[escape(label[1])] = ("section", number, anchor)
        if level == "section":
            plain = re.sub(r"<[^>]*>|\ue000.*?\ue002", "", title)
            self.state.contents.append((anchor, f"{number} {plain}".strip()))
        self.block(f'<{tag} id="{anchor}">{number + " " if number else ""}{title}</{tag}>')

    # -- environments -------------------------------------------------------------------------

    def _do_begin(self, reader: Reader, name: str) -> None:
        kind = reader.group()
        plain = kind.rstrip("*")
        if kind in self.state.theorems:
            theorem(self, reader, kind)
        elif plain in ENVIRONMENTS:
            ENVIRONMENTS[plain](self, reader, kind)
        else:
            raise UnsupportedError(f"the environment {kind[:30]} is not known here")
