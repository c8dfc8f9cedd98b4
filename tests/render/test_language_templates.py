r"""Templates of all languages say the same: equal logic, equal mathematics, equal references, other words.

A template is cut at its ``\BLOCK`` statements. Both languages must have the same statements in the
same order, and between two of them the same multiset of formulas, labels, references, citations,
environments and printed values. So a change of one language without the other fails here.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import jinja2
import pytest

import lightningalg.render.latex as latex

TEMPLATES = Path(latex.__file__).parent / "templates"
ENGLISH = TEMPLATES / "en"
LANGUAGES = ("es",)

#: templates that consist of names and settings of one language: compared by their file names only
NAMES = ("language.tex.j2", "names.tex.j2")

PAIRS = [
    pytest.param(code, path.name, id=f"{code}-{path.name.removesuffix('.tex.j2')}")
    for code in LANGUAGES
    for path in sorted(ENGLISH.glob("*.j2"))
    if path.name not in NAMES
]

#: places where a language needs other formulas: (language, template): (English only, language only, reason)
EXCEPTIONS: dict[tuple[str, str], tuple[Counter[str], Counter[str], str]] = {}

_TOKEN = re.compile(
    r"""
    (?P<display>\\\[.*?\\\]|\\begin\{(?:align\*?|equation\*?)\}.*?\\end\{(?:align\*?|equation\*?)\})
    |(?P<formula>(?<!\\)\$.*?(?<!\\)\$)
    |(?P<block>\\BLOCK\{[^{}]*\})
    |(?P<reference>\\(?:[Cc]ref|labelcref|ref|eqref|label|cite|bibitem|href)(?:\[[^]]*\])?\{(?:[^{}]|\{[^{}]*\})*\})
    |(?P<environment>\\(?:begin|end)\{(?:[^{}]|\{[^{}]*\})*\})
    |(?P<value>\\VAR\{[^{}]*\})
    |(?P<structure>\\(?:section|subsection|item|caption|roomfor|qedhere|par|noindent|medskip|toprule|midrule|endhead
        |endfirsthead|endfoot|bottomrule|texttt|footnotesize|small)(?![A-Za-z]))
    """,
    re.VERBOSE | re.DOTALL,
)

_ENVIRONMENT = jinja2.Environment(
    block_start_string=r"\BLOCK{",
    block_end_string="}",
    variable_start_string=r"\VAR{",
    variable_end_string="}",
    comment_start_string=r"\REMARK{",
    comment_end_string="}",
)


def _source(folder: Path, name: str) -> str:
    text = (folder / name).read_text(encoding="utf-8")
    return re.sub(r"\\REMARK\{[^{}]*\}", "", text)


def _printed(node: jinja2.nodes.Node) -> Iterator[jinja2.nodes.Const]:
    """Yield the string constants that an expression may print, as opposed to those it compares."""
    if isinstance(node, jinja2.nodes.Const) and isinstance(node.value, str):
        yield node
    elif isinstance(node, jinja2.nodes.CondExpr):
        yield from _printed(node.expr1)
        if node.expr2 is not None:
            yield from _printed(node.expr2)
    elif isinstance(node, jinja2.nodes.Or):
        yield from _printed(node.left)
        yield from _printed(node.right)


def _is_wording(node: jinja2.nodes.Node) -> bool:
    """Tell whether an expression does nothing but choose between words."""
    if isinstance(node, jinja2.nodes.CondExpr):
        return _is_wording(node.expr1) and (node.expr2 is None or _is_wording(node.expr2))
    return isinstance(node, jinja2.nodes.Const) and isinstance(node.value, str)


def _expression(value: str) -> jinja2.nodes.Node:
    output = _ENVIRONMENT.parse(value).body[0]
    assert isinstance(output, jinja2.nodes.Output)
    return output.nodes[0]


def _words_of(value: str) -> list[str]:
    return [str(constant.value) for constant in _printed(_expression(value))]


def _value(value: str) -> str | None:
    """Return a printed value without the words in it, or nothing for a mere choice of words."""
    node = _expression(value)
    if _is_wording(node):
        return None
    for constant in _printed(node):
        constant.value = "..."
    return repr(node)


def _formula(text: str) -> str:
    without_words = re.sub(r"\\text\{[^{}]*\}", r"\\text{}", text)
    return "".join(without_words.split())


def _segments(source: str) -> tuple[list[str], list[Counter[str]]]:
    """Return the statements of a template, and what stands before, between and after them."""
    statements: list[str] = []
    found: list[Counter[str]] = [Counter()]
    for token in _TOKEN.finditer(source):
        text = token.group()
        kind = token.lastgroup
        if kind == "block":
            statements.append(" ".join(text.split()))
            found.append(Counter())
        elif kind in ("display", "formula"):
            found[-1][_formula(text)] += 1
        elif kind == "value":
            value = _value(text)
            if value is not None:
                found[-1][value] += 1
        elif kind == "reference":
            place = re.sub(r"(?<=\[)[^\W\d_]+(?=~\d)", "", text)  # \cite[Theorem~11.12]{Harris}
            found[-1][place.replace(r"\Cref", r"\cref")] += 1
        else:
            found[-1][text] += 1
    return statements, found


@pytest.mark.parametrize("code", LANGUAGES)
def test_same_files(code: str) -> None:
    english, other = ({path.name for path in folder.glob("*.j2")} for folder in (ENGLISH, TEMPLATES / code))
    assert other == english


@pytest.mark.parametrize(("code", "name"), PAIRS)
def test_same_logic(code: str, name: str) -> None:
    english, _ = _segments(_source(ENGLISH, name))
    other, _ = _segments(_source(TEMPLATES / code, name))
    assert other == english


@pytest.mark.parametrize(("code", "name"), PAIRS)
def test_same_mathematics(code: str, name: str) -> None:
    statements, english = _segments(_source(ENGLISH, name))
    _, other = _segments(_source(TEMPLATES / code, name))
    before = ["start", *statements]
    surplus: list[tuple[str, Counter[str], Counter[str]]] = [
        (statement, first - second, second - first)
        for statement, first, second in zip(before, english, other, strict=True)
        if first != second
    ]
    exception = EXCEPTIONS.get((code, name))
    if exception is None:
        assert surplus == []
    else:
        assert sum((left for _, left, _ in surplus), Counter()) == exception[0]
        assert sum((right for _, _, right in surplus), Counter()) == exception[1]


def _prose(source: str) -> str:
    """Return the words of a template: no mathematics, no names of labels or commands, no expressions."""

    def words(token: re.Match[str]) -> str:
        if token.lastgroup in ("display", "formula"):
            return " ".join(re.findall(r"\\text\{([^{}]*)\}", token.group()))
        if token.lastgroup == "value":
            return " ".join(_words_of(token.group()))
        return " "

    text = _TOKEN.sub(words, re.sub(r"\\texttt\{[^{}]*\}", " ", source))
    text = re.sub(r"\\(?:setlength|hypersetup|providecommand)\{[^{}]*\}(?:\{[^{}]*\})*", " ", text)
    text = re.sub(r"(?m)L\{[^{}]*\}|@\{\}", " ", text)
    return re.sub(r"\\[A-Za-z]+|\\.|%", " ", text)


#: English words, none of which is a Spanish one
_ENGLISH_WORDS = """
the of and with if is proof by for that are this be as let then layer layers has have from which or at on in
all not its it an to so we one two such where when these those each every some any matrix network networks
width rank into over under bound bounds lower upper row rows column columns same other their there here only
than given value values point points sum step first last number numbers size entry entries field fields put
take since hence thus also both most least zero whose was were been does do can may must out up after before
between note see without within because but more less certificate certificates statement claim instance none
holds says gives follows degree degrees kind head heads stage stages input output parameters weights
"""


@pytest.mark.parametrize(("code", "name"), PAIRS)
def test_no_english_words(code: str, name: str) -> None:
    source = _source(TEMPLATES / code, name)
    if name == "references.tex.j2":
        series = r"International .*|\\bibitem\{SHS\}.*|.*(?:Lecture Notes|Graduate Texts) in Mathematics"
        titles = rf"\\emph\{{[^{{}}]*\}}|(?m:^(?:{series}))"
        source = re.sub(titles, "", source)
    found = {word.lower() for word in re.findall(r"[^\W\d_]+(?:[-'][^\W\d_]+)*", _prose(source))}
    assert found & set(_ENGLISH_WORDS.split()) == set()


@pytest.mark.parametrize(("code", "name"), PAIRS)
def test_text_is_printable(code: str, name: str) -> None:
    text = (TEMPLATES / code / name).read_text(encoding="utf-8")
    assert unicodedata.is_normalized("NFC", text)
    assert set(filter(lambda char: ord(char) > 126, text)) <= set("áéíóúüöñÁÉÍÓÚÑ¿¡«»º"), (
        "not in the fonts of T1"
    )
    assert re.search(r"\\['`~^\"][a-zA-Z{]", text) is None, "accents are written as letters"
    assert re.search(r"``|''(?!\})(?=[\s.,;)])", re.sub(r"\$.*?\$", "", text)) is None, (
        "quotation marks are guillemets"
    )
    assert text.count("«") == text.count("»")


_FEMININE = {"proposition", "section", "longtable", "equation"}
_MASCULINE = {"theorem", "lemma", "corollary", "chapter"}
_ARTICLE = re.compile(
    r"\b(el|del|al|los|las|la|un|una|este|esta)[\s~]+(?:\\texorpdfstring\{)?"
    r"\\cref\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}"
)


def _labels() -> dict[str, str]:
    """Return the environments (or the section) that carry the labels of all Spanish templates."""
    found: dict[str, str] = {}
    opened = re.compile(
        r"\\begin\{(theorem|lemma|corollary|proposition|longtable|equation)\}"
        r"|\\(chapter|(?:sub)?section)\b"
    )
    for path in sorted((TEMPLATES / "es").glob("*.j2")):
        text = path.read_text(encoding="utf-8")
        for label in re.finditer(r"\\label\{((?:[^{}]|\{[^{}]*\})*)\}", text):
            places = list(opened.finditer(text, 0, label.start()))
            kind = (places[-1].group(1) or places[-1].group(2)) if places else "section"
            kind = kind.removeprefix("sub")
            found.setdefault(label.group(1), kind)
    return found


def test_spanish_articles_agree() -> None:
    labels, wrong = _labels(), []
    for path in sorted((TEMPLATES / "es").glob("*.j2")):
        for use in _ARTICLE.finditer(path.read_text(encoding="utf-8")):
            article, targets = use.group(1), use.group(2).split(",")
            plural, feminine = article in ("los", "las"), article in ("la", "las", "una", "esta")
            kinds = {labels[target] for target in targets if target in labels}
            assert kinds <= _FEMININE | _MASCULINE | {"section"}, kinds
            genders = {kind in _FEMININE or kind == "section" for kind in kinds}
            if plural != (len(targets) > 1) or (kinds and genders != {feminine}):
                wrong.append((path.name, use.group()))
    assert wrong == []


def test_comparison_sees_a_change() -> None:
    """The comparison is not vacuous: one changed sign, label, statement or value is found."""
    source = _source(ENGLISH, "upper_flag.tex.j2")
    statements, found = _segments(source)
    assert len(statements) >= 20 and sum(sum(part.values()) for part in found) > 200
    for old, new in (
        ("-l. ", "+l. "),
        (r"\label{lem:virtual}", r"\label{lem:virtuals}"),
        (r"\cite{HMK}", r"\cite{Harris}"),
        (r"\cref{lem:flag}", r"\cref{lem:rank}"),
    ):
        if old in source:
            assert _segments(source.replace(old, new, 1)) != (statements, found), old
    value = r'\VAR{x.verdict or "none"}'
    assert (
        _value(value) == _value(value.replace("none", "ninguno")) != _value(value.replace("verdict", "label"))
    )
    assert "the" in re.findall(r"\w+", _prose(source)) and "alpha" not in _prose(source)


@pytest.mark.parametrize("language", ["en", "es"])
def test_options_in_typewriter_type_are_no_dashes(language):
    """T1 fonts make one dash of two hyphens: a command that is copied from the page would fail."""
    for path in (TEMPLATES / language).glob("*.j2"):
        for command in re.findall(r"\\texttt\{([^}]*(?:\{\}[^}]*)*)\}", path.read_text("utf-8")):
            assert "--" not in command, (path.name, command)
