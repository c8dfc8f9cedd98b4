"""Formulas that were typed in sentences are set as mathematics, and words are left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightningalg.render.latex.escape import escape_text, typewriter
from lightningalg.render.latex.language import Tex, speaking
from lightningalg.render.latex.prose import prose

ENGLISH = [
    ("of degree 3^l in X", "of degree $3^{l}$ in $X$"),
    ("the flags S_{l-1} < ... < S_1 < Q^{d_0}", r"the flags $S_{l-1}<\cdots <S_{1}<Q^{d_{0}}$"),
    ("d_l g_{l-1} - l", "$d_{l} g_{l-1}-l$"),
    ("M_(l-1) or U_{i-1}^T", r"$M_{l-1}$ or $U_{i-1}^{\top}$"),
    ("the bound D_norm", r"the bound $D_{\mathrm{norm}}$"),
    ("H(d-H) + 1", "$H(d-H)+1$"),
    ("to -33 for H = 11", "to $-33$ for $H=11$"),
    ("GL_a of rank a in it", r"$\mathrm{GL}_{a}$ of rank $a$ in it"),
    ("d'd(d+1)/2 rows", "$d'd(d+1)/2$ rows"),
    ("rk A rk V <= 1", r"$\operatorname{rk} A \operatorname{rk} V\le 1$"),
    ("d', a <= d and A = K^T Q", r"$d'$, $a\le d$ and $A=K^{\top} Q$"),
    ("a d x a matrix", r"a $d\times a$ matrix"),
    ("G⁻ᵀ K and Vᵢ₊₁", r"$G^{-\top} K$ and $V_{i+1}$"),
    ("over QQ, with C(d+1,2)", r"over $\mathbb{Q}$, with $C(d+1, 2)$"),
    # words, numbers and marks that are none of it
    ("A layer of rank one is a head.", "A layer of rank one is a head."),
    ("Theorem A and the claim one-to-one", None),
    ("the i-th layer", "the $i$-{}th layer"),
    ("MATH.md 5; arXiv 2408.17221 (ICLR 2025)", "MATH.md 5; arXiv 2408.17221 (ICLR 2025)"),
    ("and/or 1/2 of them, 50 %", r"and/or 1/2 of them, 50 \%"),
    ("the layer's values", "the layer'{}s values"),
    ("what float_maximum is", r"what \texttt{float\_\allowbreak{}maximum} is"),
    ('in "fibres"', r"in \textquotedblleft{}fibres\textquotedblright{}"),
    ('("more")', r"(\textquotedblleft{}more\textquotedblright{})"),
]  # fmt: skip


@pytest.mark.parametrize(("typed", "printed"), ENGLISH)
def test_english(typed, printed):
    assert prose(typed) == (escape_text(typed) if printed is None else printed)


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("de Q a A y de P_0 = X y P_i", r"de $Q$ a $A$ y de $P_{0}=X$ y $P_{i}$"),
        ("rango a lo sumo a, o bien", "rango a lo sumo $a$, o bien"),
    ],
)
def test_words_of_spanish_are_no_letters(typed, printed):
    with speaking("es"):
        assert prose(typed) == printed


def test_finished_latex_is_left_alone():
    assert prose(Tex("$x$")) == "$x$"


@given(st.text(alphabet=st.sampled_from(r"aA xX_^{}()[]$\%#&~,.;:+-*/=<>'\"|1290dTlimnrkmin"), max_size=40))
def test_whatever_is_typed_is_balanced_and_runs_no_macro(text):
    printed = prose(text)
    bare = printed.replace(r"\{", "").replace(r"\}", "").replace(r"\ensuremath{\mathdollar}", "")
    depth = 0
    for char in bare:
        depth += (char == "{") - (char == "}")
        assert depth >= 0
    assert depth == 0 and bare.count("$") % 2 == 0
    for command in (r"\input", r"\write", r"\def", r"\csname"):
        assert command not in printed


def test_names_break_where_they_have_separators():
    assert typewriter("rank-one-double") == r"\texttt{rank-{}\allowbreak{}one-{}\allowbreak{}double}"
    assert typewriter("0ab50635ec27") == r"\texttt{0ab50635ec27}"
    assert r"\allowbreak" in typewriter("0" * 64)
