"""Proofs in pages: the same article as the LaTeX text, and nothing that a stranger's text could add."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lightningalg as la
from lightningalg.errors import UnsupportedError
from lightningalg.render.html.mathml import mathml
from lightningalg.render.html.proof import convert_proof
from lightningalg.render.html.tex_reader import formula_pieces, split_top
from lightningalg.render.latex import render_proof
from tests.render.test_latex import KINDS

PREAMBLE = r"""
\newtheorem{theorem}{Theorem}
\newtheorem{lemma}[theorem]{Lemma}
\newtheorem*{remark}{Remark}
\newcommand{\CC}{\mathbb{C}}
\DeclareMathOperator{\rk}{rk}
"""
TAGS = frozenset(
    [
        "p",
        "a",
        "b",
        "em",
        "strong",
        "code",
        "span",
        "div",
        "section",
        "h3",
        "h4",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "br",
        "wbr",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
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


def article(body: str) -> str:
    return PREAMBLE + r"\begin{document}" + body + r"\end{document}"


class Markup(HTMLParser):
    """Tags with attributes, ids and links; what is not balanced or not expected fails."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS, tag
        names = dict(attrs)
        assert not [name for name in names if name.startswith("on") or name == "style"]
        assert re.match(r"#|https://arxiv\.org/|https://doi\.org/", names.get("href", "#"))
        self.tags.append((tag, names))
        if tag not in ("br", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    @property
    def ids(self) -> list[str]:
        return [a["id"] for _, a in self.tags if "id" in a]


@pytest.mark.parametrize("lang", ["en", "es"])
@pytest.mark.parametrize("kind", KINDS)
def test_articles_of_every_kind_become_pages(kind, lang):
    text = render_proof(KINDS[kind](), lang=lang)
    proof = convert_proof(text)
    page = Markup(proof.body)
    body = text[text.index(r"\begin{document}") :]
    assert len(page.ids) == len(set(page.ids))
    assert {a["href"][1:] for _, a in page.tags if a.get("href", "").startswith("#")} <= set(page.ids)
    assert proof.language == lang
    found = [a["class"] for tag, a in page.tags if tag == "section"]
    written = re.findall(r"\\begin\{(theorem|proposition|lemma|corollary|remark)\}", body)
    assert found == [f"theorem {name}" for name in written]
    assert len([1 for tag, _ in page.tags if tag == "math"]) >= len(
        re.findall(r"(?<!\\)\$[^$]*\$|\\\[", body)
    )
    assert "\\" not in page.text
    assert proof.results or "theorem" not in written


def network():
    return la.lightning((2, 2), (1,))


@pytest.mark.parametrize("kind", [la.singular_points, la.boundary, la.dimension])
def test_real_certificates_become_pages(kind):
    found = kind(network())
    certificate = found.certificate.to_json() if hasattr(found, "certificate") else found.to_json()
    page = Markup(convert_proof(render_proof([certificate])).body)
    assert certificate["sha256"] in page.text


# -- numbers and references ------------------------------------------------------------------------


def test_numbers_are_those_of_the_printed_article():
    text = article(r"""
\section{One}\label{sec:one}
\begin{theorem}\label{res:a} Text with $x$.\end{theorem}
\subsection{Inner}\label{sec:inner}
\begin{lemma}[a name]\label{lem:b} By \cref{res:a,lem:c} and \cref{lem:c,lem:b,res:a}. \end{lemma}
\begin{lemma}\label{lem:c} \begin{equation}\label{eq:x} a=b \end{equation}
See \eqref{eq:x}, \cref{eq:x}. \end{lemma}
\section*{Not numbered}
\section{Two}\label{sec:two}
See \cref{sec:inner} and \Cref{sec:two}, \labelcref{lem:c}.
""")
    page = Markup(convert_proof(text).body)
    words = " ".join(page.text.split())
    assert "1 One" in words and "1.1 Inner" in words and "2 Two" in words and "Not numbered" in words
    assert "Theorem 1" in words and "Lemma 2 (a name)" in words
    assert "By Theorem\xa01 and Lemma\xa03 and Lemmas\xa03 and 2 and Theorem\xa01." in page.text
    assert "See (1), Equation\xa0(1)." in page.text
    assert "See Section\xa01.1 and Section\xa02, 3." in page.text


def test_tables_lists_and_references():
    text = article(
        r"""
\begin{longtable}{@{}rL{0.3\textwidth}@{}}
\caption{Of \cite[Theorem~2]{K}.}\label{tab:t}\\
\toprule no. & what \\ \midrule \endfirsthead
\toprule no. & what \\ \midrule \endhead
\bottomrule \endfoot
$1$ & $a & b$ in {one & cell}\\
$2$ & last\\
\end{longtable}
\begin{enumerate}\item First \begin{itemize}\item inner\end{itemize}\item\label{it:two} Second\end{enumerate}
See \cref{tab:t}, \ref{it:two}.
\begin{thebibliography}{9}\bibitem{K} A.~Author, \emph{Title}. \href{https://arxiv.org/abs/1}{arXiv}.\end{thebibliography}
""".replace("$a & b$ in {one & cell}", r"a \& b")
    )
    page = Markup(convert_proof(text).body)
    cells = [tag for tag, _ in page.tags if tag in ("th", "td")]
    assert cells == ["th", "th", "td", "td", "td", "td"]
    assert "Table 1. Of [1, Theorem\xa02]." in page.text and "See Table\xa01, 2." in page.text
    assert [tag for tag, _ in page.tags].count("li") == 4
    assert ("a", {"href": "https://arxiv.org/abs/1", "rel": "noreferrer"}) in page.tags


def test_commands_of_the_preamble_are_known_in_formulas():
    page = convert_proof(article(r"$\rk M$ over $\CC^n$ and \( \overline{\CC} \)")).body
    assert "ℂ" in page and ">rk<" in page and 'class="over"' in page


def test_accents_quotes_and_dashes():
    page = Markup(convert_proof(article(r"Gr\"obner, \'etale, ``a'' -- b---c, 50\,\% \S1 \c{c}")).body)
    assert "Gröbner, étale, “a” – b—c, 50\u202f% §1 ç" in page.text


def test_long_formulas_may_break_and_short_ones_not():
    assert formula_pieces("a=b") == ["a=b"]
    assert formula_pieces(r"f(x,y)\le g(x,y)+h(x,y)=k(x,y)") == [
        "f(x,y)",
        r"{}\le g(x,y)+h(x,y)",
        "{}=k(x,y)",
    ]
    assert formula_pieces(r"\{x\mid \frac{a=b}{c}, x\in(a=b,c)\}") != []
    whole = r"\left(a=b=c=d=e=f=g=h=i=j=k\right)"
    assert formula_pieces(whole) == [whole]
    assert split_top(r"a\\\begin{x}b\\c\end{x}\\d", r"\\") == ["a", r"\begin{x}b\\c\end{x}", "d"]


# -- texts of strangers ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        r"\input{/etc/passwd}", r"\write18{rm}", r"\begin{filecontents}x\end{filecontents}", r"\def\x{\x}\x",
        r"\begin{itemize}", r"\end{itemize}", "{", "}", "$", r"$\undefined x$", "{" * 5000, r"\cref{nowhere}",
        r"\begin{itemize}text\end{itemize}", "\\", r"\emph", r"\section", "$" + "{" * 3000 + "}" * 3000 + "$",
        "$" + "x" * 30_000 + "$", r"\newcommand{\a}[1]{#1}", r"\catcode`\%=12",
    ],
)  # fmt: skip
def test_what_no_article_has_is_refused(body):
    with pytest.raises(UnsupportedError):
        convert_proof(article(body))


def test_no_article_at_all():
    for text in ("", "text", r"\begin{document}", r"\end{document}\begin{document}", "x" * 3_000_001):
        with pytest.raises(UnsupportedError):
            convert_proof(text)


@pytest.mark.parametrize(
    "body",
    [
        r'\begin{longtable}{r}$x" onload="y$ \\ \endhead z \\ \end{longtable}',
        "<script>alert(1)</script>", r"$a<b>c \text{<img src=x onerror=alert(1)>}$", r"\emph{<b>}",
        r"\href{javascript:alert(1)}{x}", r"\href{https://arxiv.org/\" onclick=\"x}{x}",
        r"\label{\"><script>}", r"\section{<script>}\label{<img>}", r"$\text{</math><script>}$",
        r"\begin{lemma}[<i>]\label{a\" onload=\"x}x\end{lemma}", r"\texttt{<u>}", r"\cite{a}\bibitem{a}",
        "\ue000cref\ue001<script>\ue002", r"$\href{javascript:alert(1)}{x}$", r"$\class{x}{y}$",
        r"$\style{color:red}{y}$", r"$\color{red}x$", r"$\includegraphics{x}$",
        r"\begin{theorem}<s>\end{theorem}",
    ],
)  # fmt: skip
def test_markup_of_strangers_is_text_or_refused(body):
    try:
        proof = convert_proof(article(body))
    except UnsupportedError:
        return
    Markup(proof.body)
    for result in proof.results:
        Markup(result)


def test_names_of_theorems_are_text_too():
    preamble = r'\newtheorem{lemma}{<script>"x}'
    body = r"\begin{document}\begin{lemma}\label{l}x\end{lemma}\cref{l}, \cref{l,l}\end{document}"
    page = Markup(convert_proof(preamble + body).body)
    assert '<script>"x 1' in page.text and '<script>"x\xa01' in page.text


PIECES = st.sampled_from([
    "$", "{", "}", "\\", "[", "]", "&", "%", "\n", "\n\n", "<", ">", '"', "'", "a", "b ", "^", "_", "~",
    "-", r"\item", r"\begin{itemize}", r"\end{itemize}", r"\begin{lemma}", r"\end{lemma}", r"\label{x}",
    r"\cref{x}",
    r"\begin{longtable}{rl}", r"\end{longtable}", r"\\", r"\caption", r"\endhead", r"\frac", r"\emph", r"\CC",
    r"\begin{align*}", r"\end{align*}", r"\[", r"\]", r"\href{javascript:x}{y}", r"\text",
    r"\left(", r"\cite{x}",
    r"\begin{thebibliography}{9}", r"\bibitem{x}", r"\end{thebibliography}", r"\section", r"\sqrt", "\ue000",
])  # fmt: skip


@given(st.lists(PIECES, max_size=30))
def test_whatever_the_text_the_page_stays_whole(pieces):
    try:
        proof = convert_proof(article("".join(pieces)))
    except UnsupportedError:
        return
    Markup(proof.body)


@given(st.text(alphabet=r"ab12\{}^_&<>$%\"' ~#[]()|", max_size=40))
def test_formulas_of_strangers_are_mathml_or_refused(latex):
    try:
        found = mathml(latex)
    except UnsupportedError:
        return
    Markup(found)
