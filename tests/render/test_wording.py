r"""Grammar of what is printed: singular forms, spaces in lists, references to where numbers are."""

from __future__ import annotations

import re

import pytest

import lightningalg as la
from lightningalg.render.latex import ClaimText, render_proof
from lightningalg.render.latex.kinds.fibre import _proof
from lightningalg.render.latex.language import speaking
from tests.render.test_latex import KINDS, bulky_table, grid

NOUNS = {
    "en": "coefficients components dimensions elements factors fields forms inputs instances layers "
    "monomials networks orbits pairs parameters parts points polynomials samples squares stages statements "
    "steps terms tokens triples variables vectors weights",
    "es": "campos capas coeficientes componentes cuadrados dimensiones elementos enunciados entradas etapas "
    "factores formas instancias monomios muestras órbitas parámetros pares partes pasos pesos polinomios "
    "redes ternas términos tokens variables vectores",
}
BEFORE = {"en": "layers stages", "es": "capas etapas"}


def faults(text: str, lang: str) -> list[str]:
    """Plural nouns next to the number one, and words that nothing separates from a reference."""
    nouns, before = ("|".join(table[lang].split()) for table in (NOUNS, BEFORE))
    after = rf"(?<![\w$])\$(?:n=)?1\$ (?:{nouns})\b"
    alone = rf"\b(?:{before}) \$1\$(?!,| and| y|--)"
    glued = r"\\[cC]ref\{[^{}]*\}(?:and|y)\b"
    flat = " ".join(text.split())
    return [found[0] for found in re.finditer(f"{after}|{alone}|{glued}", flat)]


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("has $1$ elements", "en"),
        ("it has $n=1$ parameters", "en"),
        (r"\cref{a}and \cref{b}", "en"),
        ("For layers $1$ the", "en"),
        ("tiene $1$ elementos", "es"),
        ("Para las capas $1$ el", "es"),
    ],
)
def test_faults_are_found(text, lang):
    assert len(faults(text, lang)) == 1
    assert faults(text.replace("$1", "$2").replace("=1", "=2").replace("}and", "} and"), lang) == []


@pytest.mark.parametrize(
    ("lang", "one", "two"), [("en", "layer ", "layers "), ("es", "la capa ", "las capas ")]
)
def test_one_layer_is_singular(lang, one, two):
    witness = {
        "case": "peeled", "ranks": [2, 1], "rank_L": 2, "forms": [True, True], "skew": None, "tail": None,
        "dominance": [{"layer": 1}],
    }  # fmt: skip
    virtual = {"multiplicity": 1, "components": 1}
    with speaking(lang):
        assert one + "$1$" in _proof(witness, 2, virtual, None)
        both = {**witness, "dominance": [{"layer": 1}, {"layer": 2}]}
        assert f"{two}$1$ {'and' if lang == 'en' else 'y'} $2$" in _proof(both, 2, virtual, None)


@pytest.mark.parametrize("lang", ["en", "es"])
def test_rows_refer_to_the_section_on_bounds_only_if_it_has_their_numbers(lang):
    proof = re.compile(r"\\begin\{proof\}\[[^]]*\\cref\{res:all\}\].*?\\end\{proof\}", re.DOTALL)
    short, *_ = grid()
    (found,) = proof.findall(render_proof(short, lang=lang))
    assert "sec:upper" not in found
    bulky, *_ = bulky_table()
    text = render_proof(bulky, lang=lang)
    (found,) = proof.findall(text)
    assert r"\cref{sec:upper}" in found
    section = text[text.index(r"\label{sec:upper}") : text.index(r"\label{sec:lower}")]
    assert section.count(r"\subsection*{") == len(bulky)  # the numbers of every one


@pytest.mark.parametrize("lang", ["en", "es"])
@pytest.mark.parametrize("differs", [False, True])
@pytest.mark.parametrize("verdict", ["refuted", "open"])
def test_counterexamples_show_what_was_expected(lang, differs, verdict):
    certificates = KINDS["flag"]()
    hashes = [x["sha256"] for x in certificates]
    claim = ClaimText(
        "c", "T", "S", verdicts=dict.fromkeys(hashes, verdict), values={hashes[0]: 4711}, differs=differs
    )
    text = render_proof(certificates, claim=claim, lang=lang)
    wanted = {"en": "expected was ", "es": "se esperaba "}[lang]
    opposite = {"en": "not ", "es": "no "}[lang] if differs else ""
    assert f"{wanted}{opposite}$4711$." in text
    assert "4711" not in render_proof(
        certificates, claim=ClaimText("c", "T", "S", verdicts=claim.verdicts), lang=lang
    )


@pytest.mark.parametrize("lang", ["en", "es"])
def test_no_sentence_begins_after_a_colon_or_in_another_sentence(lang):
    """The argument for layers beside a skew one is a sentence; so is what some refuted claims expected."""
    witness = {
        "case": "peeled", "ranks": [2, 2], "rank_L": 2, "forms": [False, True], "tail": None, "dominance": [],
        "skew": {"layer": 1, "places": [1, 2]},
    }  # fmt: skip
    with speaking(lang):
        proof = _proof(witness, 2, {"multiplicity": 1, "components": 2}, None)
    assert "fib:oneskew" in proof and not re.search(r": [A-Z]", proof)
    certificates = KINDS["flag"]()
    sentence = "the fibre is not an orbit"
    claim = ClaimText(
        "c", "T", "S", expected=sentence, verdicts={x["sha256"]: "refuted" for x in certificates}
    )
    text = " ".join(render_proof(certificates, claim=claim, lang=lang).split())
    assert {"en": "Expected was: ", "es": "Se esperaba: "}[lang] in text


@pytest.mark.parametrize(
    ("lang", "wrong"), [("en", "each certificate shows"), ("es", "cada certificado muestra")]
)
def test_the_general_proof_of_the_degree_rests_on_no_certificate(lang, wrong):
    """It is for all sizes; what certificates have of given sizes is no argument in it."""
    text = render_proof([la.closure_degree(la.lightning((2, 1), (1,))).to_json()], lang=lang)
    general = text.partition(r"\label{prop:degree}")[2].partition(r"\end{proof}")[0]
    assert "Phi" in general and "certific" not in general
    assert wrong not in text
