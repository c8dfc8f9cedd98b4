"""What is printed of an embedded component at 0, and where nothing of the kind may be printed."""

from __future__ import annotations

import json
import re

import pytest

import lightningalg as la
from lightningalg.claims.embedded_component import embedded_component
from lightningalg.render.latex import render_proof
from tests.render import latex_samples as samples

WORDS = {
    "en": ("has an embedded component at $0$", "has no embedded component"),
    "es": ("tiene una componente inmersa en $0$", "no tiene ninguna componente inmersa"),
}


def certificate(widths, rank):
    return json.loads(json.dumps(embedded_component(la.lightning(widths, (rank,))).to_json()))


def changed(found, **claim):
    rest = {key: value for key, value in found.items() if key != "sha256"}
    return samples.seal({**rest, "claim": {**found["claim"], **claim}})


def printed(found, lang="en"):
    return re.sub(r"\s+", " ", render_proof([found], lang=lang))


@pytest.mark.parametrize("lang", ["en", "es"])
def test_an_embedded_component_is_a_numbered_claim_with_a_proof(lang):
    """MATH.md section 4: V_11 A_21 for d = 2 is not in the ideal, its multiples by all variables are."""
    text = printed(certificate((2, 1), 2), lang)
    assert WORDS[lang][0] in text and WORDS[lang][1] not in text
    assert text.count(r"$A_{2,1}\,V_{1,1}$") >= 1 and r"\mathfrak m^{1}" in text
    statement = text.partition(r"\label{ideal:1}")[2].partition(r"\end{proposition}")[0]
    assert WORDS[lang][0] in statement


@pytest.mark.parametrize("lang", ["en", "es"])
def test_width_one_has_none(lang):
    text = printed(certificate((1, 2), 1), lang)
    assert WORDS[lang][1] in text and WORDS[lang][0] not in text
    assert r"\cite{clo}" in text and r"\bibitem{clo}" in text


def test_what_does_not_show_it_is_not_printed():
    """One product too few, a second polynomial outside, no polynomial outside, or dimension 0."""
    found = certificate((2, 1), 2)
    claim = found["claim"]
    for change in (
        {"members": claim["members"][1:]},
        {"non_members": [*claim["non_members"], claim["non_members"][0]]},
        {"non_members": []},
        {"dimension": 0},
    ):
        assert "embedded component" not in printed(changed(found, **change)), change
    rest = {key: value for key, value in found.items() if key != "sha256"}
    generators = found["ideal"]["generators"]
    mixed = [[*generators[0], [1, [0] * len(found["ideal"]["variables"])]], *generators[1:]]
    altered = samples.seal({**rest, "ideal": {**found["ideal"], "generators": mixed}})
    assert "embedded component" not in printed(altered)
