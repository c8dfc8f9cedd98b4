"""Reading the LaTeX of proofs: groups, options, rows and cells; no macro is expanded, nothing is run."""

from __future__ import annotations

import re

from lightningalg.errors import UnsupportedError, shown

_NAME = re.compile(r"\\([A-Za-z]+\*?|.)", re.DOTALL)
_TOKEN = re.compile(r"\\(?:begin|end)\{[A-Za-z]+\*?\}|\\.|[{}$&]", re.DOTALL)
_BEGIN_END = re.compile(r"\\(begin|end)\{([A-Za-z]+\*?)\}")
_PREAMBLE = re.compile(r"\\(newcommand|providecommand|DeclareMathOperator|newtheorem\*?)\{?\\?([A-Za-z]+)\}?")


class Reader:
    """A text with a position."""

    def __init__(self, text: str):
        self.text = text
        self.at = 0

    @property
    def done(self) -> bool:
        """Whether everything has been read."""
        return self.at >= len(self.text)

    def skip_blanks(self) -> None:
        """Go past white space, but not past an empty line."""
        found = re.compile(r"[ \t]*\n?[ \t]*(?!\n)").match(self.text, self.at)
        self.at = found.end() if found else self.at

    def command(self) -> str:
        """Return the name of the command here and go past it and the blanks after a word."""
        found = _NAME.match(self.text, self.at)
        if found is None:
            raise UnsupportedError("a text that ends in a backslash")
        self.at = found.end()
        if found[1][0].isalpha():
            self.skip_blanks()
        return found[1]

    def group(self) -> str:
        """Return the content of the group here, or the next character or command."""
        self.skip_blanks()
        if self.done:
            raise UnsupportedError("a command without its argument")
        if self.text[self.at] != "{":
            found = _NAME.match(self.text, self.at)
            start = self.at
            self.at = found.end() if found else self.at + 1
            return self.text[start : self.at]
        end = closing(self.text, self.at)
        content = self.text[self.at + 1 : end]
        self.at = end + 1
        return content

    def option(self) -> str | None:
        """Return what stands in brackets here, or nothing."""
        here = self.at
        self.skip_blanks()
        if self.done or self.text[self.at] != "[":
            self.at = here
            return None
        depth = 0
        for i in range(self.at + 1, len(self.text)):
            char = self.text[i]
            depth += (char == "{") - (char == "}")
            if char == "]" and depth == 0:
                content = self.text[self.at + 1 : i]
                self.at = i + 1
                return content
        raise UnsupportedError("an option without its end")

    def until(self, end: str) -> str:
        """Return the text up to ``end``, outside groups, and go past it."""
        depth = 0
        for found in _TOKEN.finditer(self.text, self.at):
            if depth == 0 and found[0] == end:
                content = self.text[self.at : found.start()]
                self.at = found.end()
                return content
            depth += (found[0] == "{") - (found[0] == "}")
        raise UnsupportedError(f"a formula without {end}")

    def environment(self, name: str) -> str:
        """Return the body of the environment that was opened just before, and go past its end."""
        depth = 1
        for found in _BEGIN_END.finditer(self.text, self.at):
            if found[2] == name:
                depth += 1 if found[1] == "begin" else -1
            if depth == 0:
                body = self.text[self.at : found.start()]
                self.at = found.end()
                return body
        raise UnsupportedError(f"an environment {shown(name, 30)} without its end")


def closing(text: str, start: int) -> int:
    """Return the place of the brace that closes the one at ``start``."""
    depth = 0
    for found in _TOKEN.finditer(text, start):
        depth += (found[0] == "{") - (found[0] == "}")
        if depth == 0:
            return found.start()
    raise UnsupportedError("a group without its end")


def split_top(text: str, separator: str) -> list[str]:
    r"""Split at ``&`` or ``\\`` outside groups, formulas between dollars and environments.

    Examples
    --------
    >>> split_top(r"a & $b & c$ & {d & e}", "&")
    ['a ', ' $b & c$ ', ' {d & e}']
    """
    parts, depth, inside, start = [], 0, False, 0
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token == separator and depth == 0 and not inside:
            parts.append(text[start : found.start()])
            start = found.end()
        elif token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
        elif token == "$":
            inside ^= depth == 0
        elif len(token) > 2:
            depth += 1 if token.startswith(r"\begin") else -1
    parts.append(text[start:])
    return parts


_LONG = 28  # characters of a formula that is broken at its relations too
_IN_FORMULA = re.compile(r"\\(?:left|right|begin|end|[A-Za-z]+)(?![A-Za-z])|\\.|[{}()\[\]=<>]", re.DOTALL)
_RELATIONS = frozenset(
    ("=", "<", ">", r"\le", r"\ge", r"\ne", r"\in", r"\subset", r"\cong", r"\to", r"\mapsto", r"\longmapsto")
)


def formula_pieces(latex: str) -> list[str]:
    r"""Return pieces between which a line may end: at ``\allowbreak``, in long formulas at relations too.

    Examples
    --------
    >>> formula_pieces(r"a\allowbreak +b")
    ['a', '{} +b']
    >>> formula_pieces(r"\dim(Y=Z) = 1")
    ['\\dim(Y=Z) = 1']
    """
    if len(latex) <= _LONG and r"\allowbreak" not in latex:
        return [latex]
    pieces, start, depth, round_depth = [], 0, 0, 0
    for found in _IN_FORMULA.finditer(latex):
        token = found[0]
        depth += token in ("{", r"\left", r"\begin")
        depth -= token in ("}", r"\right", r"\end")
        round_depth += (token in "([") - (token in ")]")
        if depth:
            continue
        relation = token in _RELATIONS and round_depth <= 0 and len(latex) > _LONG
        if (token == r"\allowbreak" or relation) and latex[start : found.start()].strip():
            pieces.append(latex[start : found.start()])
            start = found.start() if relation else found.end()
    pieces.append(latex[start:])
    return [pieces[0], *("{}" + piece for piece in pieces[1:] if piece.strip())]


def without_comments(text: str) -> str:
    """Remove comments, with the line ends that they swallow."""
    return re.sub(r"(?<!\\)((?:\\\\)*)%[^\n]*\n[ \t]*", r"\1", text)


def definitions(preamble: str) -> tuple[dict[str, str], dict[str, str]]:
    r"""Return the commands for formulas and the names of theorems that a preamble defines.

    Examples
    --------
    >>> definitions(r"\newcommand{\CC}{\mathbb{C}} \newtheorem{lemma}[theorem]{Lemma}")
    ({'CC': '\\mathbb{C}'}, {'lemma': 'Lemma'})
    """
    commands, theorems = {}, {}
    for found in _PREAMBLE.finditer(preamble):
        reader = Reader(preamble)
        reader.at = found.end()
        if reader.option() is not None and not found[1].startswith("newtheorem"):
            continue  # a command with arguments: none of the formulas' commands has any
        if not preamble.startswith("{", reader.at):
            continue
        body = reader.group()
        if found[1].startswith("newtheorem"):
            theorems[found[2]] = body
        elif found[1] == "DeclareMathOperator":
            commands[found[2]] = rf"\operatorname{{{body}}}"
        else:
            commands[found[2]] = body
    return commands, theorems
