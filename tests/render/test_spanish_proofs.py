r"""Spanish proofs of many certificates at once, and of every argument; ``test_spanish`` has the kinds."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from lightningalg.render.latex import ClaimText, compile_with_log, overfull_boxes, render_proof
from tests.certificates import examples as ex
from tests.certificates import mutants
from tests.render.test_composition import BY_HAND
from tests.render.test_language_templates import _ENGLISH_WORDS, _prose, _segments
from tests.render.test_latex import HARD, references

LAYER_TYPES = (
    "bias, torus",
    "bias, coefficients",
    "convolution, strided",
    "tied, residual",
    "tied, every type",
)

Document = Callable[[], list[dict[str, Any]]]
DOCUMENTS: dict[str, Document] = {
    **{f"composition, {name}": lambda make=make: [make()] for name, make in BY_HAND.items()},
    **{name: lambda name=name: [ex.examples()[name][0]] for name in LAYER_TYPES},
    "layer types": lambda: [ex.examples()[name][0] for name in LAYER_TYPES],
    "everything": lambda: [mutants.original(name) for name in mutants.names()],
}
#: words that stay English: what certificates call their own parts, and the title of the paper
QUOTED = re.compile(
    r"\\texttt\{(?:[^{}]|\{[^{}]*\})*\}|\\foreignlanguage\{english\}\{(?:[^{}]|\{[^{}]*\})*\}"
)
#: the name of an identity, which is the user's
NAMES = re.compile(r"\\begin\{proposition\}\[[^]]*\]\\label\{id:")


def body(text: str) -> str:
    """Return what stands between the preamble and the references."""
    return text.split(r"\begin{document}")[1].split(r"\begin{thebibliography}")[0]


def formulas(text: str) -> Counter[str]:
    """Return the mathematics, references and structure of a finished article."""
    (found,) = _segments(body(text))[1]
    del found[r"\texttt"]  # words of the format are in typewriter type in Spanish only
    return found


@pytest.mark.parametrize("name", DOCUMENTS)
def test_same_formulas_in_both_languages(name: str) -> None:
    certificates = DOCUMENTS[name]()
    english, spanish = formulas(render_proof(certificates)), formulas(render_proof(certificates, lang="es"))
    assert sum(english.values()) > 10
    assert (english - spanish, spanish - english) == (Counter(), Counter())


@pytest.mark.parametrize("name", DOCUMENTS)
def test_references_are_defined_once(name: str) -> None:
    text = render_proof(DOCUMENTS[name](), lang="es")
    used, defined = references(text)
    labels = re.findall(r"\\label\{([^}]*)\}", text)
    assert used <= defined == set(labels)
    assert len(labels) == len(set(labels))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_english_words_are_left(name: str) -> None:
    text = NAMES.sub(" ", QUOTED.sub(" ", body(render_proof(DOCUMENTS[name](), lang="es"))))
    found = re.findall(r"[^\W\d_]+", _prose(text))
    assert len(found) > 50
    assert {word.lower() for word in found} & set(_ENGLISH_WORDS.split()) == set()


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["everything", "layer types", "table of large networks", "many heads in a table", "long rows"]
)
def test_compiles(name: str, tmp_path: Any) -> None:
    if name in DOCUMENTS:
        claim = ClaimText(
            "id", "Una afirmación", "«Enunciado», ¿sí o no?", hypotheses=("año",), prose="Ñandú."
        )
        text = render_proof(DOCUMENTS[name](), claim=claim, lang="es")
    else:
        certificates, title, claim = HARD[name]()
        text = render_proof(certificates, title=title, claim=claim, lang="es")
    path = tmp_path / "demostracion.tex"
    path.write_text(text, encoding="utf-8")
    pdf, log = compile_with_log(path)
    assert pdf.read_bytes().startswith(b"%PDF")
    assert max(overfull_boxes(log), default=0.0) <= 20.0
    assert not [line for line in log.splitlines() if re.search(r"(?<!Font )Warning", line)]
