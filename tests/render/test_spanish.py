"""Proofs in Spanish: of every kind, with the mathematics of the English proof and no English words."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from lightningalg.render.latex import ClaimText, compile_with_log, overfull_boxes, render_proof
from lightningalg.render.latex.escape import environment
from lightningalg.render.latex.kinds import kinds
from tests.render.test_latex import KINDS
from tests.render.test_wording import faults

CORPUS = {
    path.stem: [json.loads(path.read_text(encoding="utf-8"))]
    for path in sorted((Path(__file__).parents[1] / "certificates" / "corpus" / "valid").glob("*.json"))
}
SAMPLES = {**CORPUS, **{f"sample {name}": make() for name, make in KINDS.items()}}
needs_tex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")

#: English words, none of which is a Spanish one
_ENGLISH = (
    "the of and is are with for that which this these those from by on at every all not two three has "
    "have was were if where then than or it its their they but in into only whose such matrix layer "
    "layers network networks rank ranks width widths bound bounds dimension upper lower proof theorem "
    "number numbers parameters weights value values function functions point points degree degrees "
    "stage stages head heads certificate certificates see row rows column columns attention bias both "
    "any same most least there can may given found follows hence therefore also other others claim "
    "claims each none cut positions so because only sees one several apply let consider smooth "
)
ENGLISH = frozenset(_ENGLISH.split())
#: commands whose arguments are no text of the article, or are quoted as English
_NO_TEXT = re.compile(
    r"\\(?:foreignlanguage\{english\}|texttt|label|cref|eqref|cite(?:\[[^]]*\])?|begin|end|href\{[^{}]*\}|DeclareMathOperator"
    r"|emph(?=\{(?:lightning self-attention|neuromanifold|query|key|value)\}))\{"
)


def body(article):
    """The article without preamble and references."""
    inside = article[article.index(r"\begin{document}") :]
    return re.sub(r"(?m)^\\providecommand.*$", "", inside.partition(r"\begin{thebibliography}")[0])


def without_arguments(text):
    """The text without the arguments that are no words of the article."""
    while match := _NO_TEXT.search(text):
        at, depth = match.end(), 1
        while depth:
            step = {"{": 1, "}": -1}.get(text[at], 0)
            depth, at = depth + (step if text[at - 1] != "\\" else 0), at + 1
        text = text[: match.start()] + " " + text[at:]
    return text


_FORMULA = re.compile(
    r"\\\[.*?\\\]|\\begin\{(?:equation|align)\*?\}.*?\\end\{(?:equation|align)\*?\}|(?<!\\)\$.*?(?<!\\)\$",
    re.DOTALL,
)


def words(article):
    """The words of an article."""
    plain = re.sub(r"\\['`~^\"]\{?([A-Za-z])\}?", r"\1", without_arguments(_FORMULA.sub(" ", body(article))))
    return Counter(re.findall(r"[^\W\d_]+", re.sub(r"\\[A-Za-z]+", " ", plain).lower()))


def formulas(article):
    """The formulas of an article, without words inside them."""
    return Counter(_FORMULA.findall(re.sub(r"\\text\{[^{}]*\}", "", body(article))))


def test_there_are_samples_of_every_kind():
    found = {certificate["kind"] for certificates in SAMPLES.values() for certificate in certificates}
    assert set(kinds()) - {"dimension-normalized"} | {"dimension", "degrees", "matrix-identity"} == found


@pytest.mark.parametrize("name", SAMPLES)
def test_spanish_proof_has_no_english_words_and_the_same_mathematics(name):
    english = render_proof(SAMPLES[name])
    spanish = render_proof(SAMPLES[name], lang="es")
    assert set(words(spanish)) & ENGLISH == set()
    assert formulas(spanish) == formulas(english)
    assert len(set(words(english)) & ENGLISH) > 20  # the comparison sees English words where they are
    assert re.findall(r"\\label\{[^{}]*\}", spanish) == re.findall(r"\\label\{[^{}]*\}", english)
    assert faults(spanish, "es") == [] == faults(english, "en")


def test_words_of_a_claim_are_quoted_as_english_where_there_is_no_translation():
    certificates = KINDS["flag"]()
    claim = ClaimText(
        id="mine",
        title="Título ágil",
        statement="The dimension is what it is.",
        prose="First.\n\nSecond.",
        hypotheses=("t >= 2",),
        expected="2*a",
        differs=True,
        english=frozenset({"statement", "prose", "hypotheses"}),
        verdicts={certificates[0]["sha256"]: "certified"},
    )
    text = render_proof(certificates, claim=claim, lang="es")
    assert r"«\foreignlanguage{english}{The dimension is what it is.}» (en inglés)" in text
    assert text.count(r"\foreignlanguage{english}{") == 4
    assert r"no \texttt{2{*}a}" in text and "certificada" in text
    assert set(words(text)) & ENGLISH == set()
    assert r"pdftitle={Título ágil}" in text
    assert "not 2{*}a" in render_proof(certificates, claim=claim)


def test_templates_without_words_are_in_common():
    for lang in ("en", "es"):
        found = environment(lang).list_templates()
        assert len(found) == len(set(found)) and "article.tex.j2" in found


@needs_tex
@pytest.mark.slow
@pytest.mark.parametrize("missing", ["", "spanish.ldf", "lmodern.sty"])
def test_spanish_proof_compiles_even_where_tex_lacks_spanish(tmp_path, missing):
    text = render_proof(SAMPLES["layer-boundary"], lang="es")
    if missing:
        assert text.count(rf"\IfFileExists{{{missing}}}") == 1
        text = text.replace(rf"\IfFileExists{{{missing}}}", r"\IfFileExists{there-is-no-such-file}")
    (tmp_path / "proof.tex").write_text(text, encoding="utf-8")
    pdf, log = compile_with_log(tmp_path / "proof.tex")
    assert pdf.stat().st_size > 10_000
    assert [box for box in overfull_boxes(log) if box > 20] == []
