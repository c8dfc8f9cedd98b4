"""Printed proofs of upper bounds by symmetry, and of symmetry algebras."""

from __future__ import annotations

import copy
import json
import re

import pytest

import lightningalg as la
from lightningalg.claims.dimension import dimension
from lightningalg.claims.symmetries import symmetry_certificate
from lightningalg.errors import InputError
from lightningalg.networks.spec import network_from_table
from lightningalg.render.latex import render_proof
from tests.certificates import examples as ex
from tests.certificates.test_symmetry import NETWORKS
from tests.certificates.test_symmetry import bound as upper_bound
from tests.render.test_latex import compiled, needs_tex, references


def bound(name):
    """The certificate of an upper bound alone; as the wording depends on it, also one with both bounds."""
    return ex.dimension(NETWORKS[name], None, json.loads(upper_bound(name)))


def dimension_of(layers):
    found = dimension(network_from_table({"tokens": 2, "width": 3, "layers": layers}))
    assert found.upper_bound_by == "symmetry" and found.value is not None
    return found.certificate.to_json()


def algebra(network):
    return symmetry_certificate(network).to_json()


DOCUMENTS = {
    "fields": lambda: [bound("chain")],
    "fields of a head": lambda: [bound("heads")],
    "parts": lambda: [bound("summands")],
    "both bounds": lambda: [dimension_of([ex.bias("b", "input", 3), ex.bias("c", "b", 3)])],
    "algebra": lambda: [algebra(la.lightning((3, 2, 3), (2, 2)))],
    "orthogonal": lambda: [algebra(la.lightning((2, 2, 2), (1, 2)))],
    "algebra and part": lambda: [algebra(la.monomial((3, 3, 2, 1)))],
    "no symmetry": lambda: [algebra(la.deep_linear(2, 2))],
    "both": lambda: [bound("chain"), algebra(la.lightning((3, 2, 3), (2, 2)))],
    "table": lambda: [bound(name) for name in ("chain", "heads", "summands")] * 2,
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_references_exist(name):
    text = render_proof(DOCUMENTS[name]())
    used, defined = references(text)
    assert used <= defined
    labels = re.findall(r"\\label\{([^}]*)\}", text)
    assert len(labels) == len(set(labels))
    cited = set(re.findall(r"\\cite(?:\[[^]]*\])?\{([^}]*)\}", text))
    assert cited == set(re.findall(r"\\bibitem\{([^}]*)\}", text))


@pytest.mark.slow
@needs_tex
@pytest.mark.parametrize("name", ["parts", "orthogonal", "algebra and part", "no symmetry", "both", "table"])
def test_compiles(name, tmp_path):
    compiled(tmp_path, render_proof(DOCUMENTS[name]()))


def test_says_what_is_certified():
    text = render_proof([bound("chain")])
    assert r"\label{prop:symmetry}" in text and r"\label{lem:variation}" in text
    assert r"\label{lem:parts}" not in text  # not used, not printed
    assert "17-11=6" in text.replace(" ", "").replace("{", "").replace("}", "")
    printed = render_proof([bound("summands")])
    assert r"\label{lem:parts}" in printed and "of the sum the summands" in printed


def test_algebra_in_print():
    text = render_proof([algebra(la.lightning((3, 2, 3), (2, 2)))])
    assert text.count(r"\mathfrak{gl}_{2}") >= 3 and "hidden, continuous symmetries" in text
    assert "hidden" not in render_proof([algebra(la.monomial((2, 3, 2)))])
    assert r"\mathfrak{so}_{2,2}" in render_proof([algebra(la.lightning((2, 2, 2), (1, 2)))])


@pytest.mark.parametrize("key", ["rank", "parameters"])
def test_numbers_that_do_not_add_up_are_refused(key):
    certificate = copy.deepcopy(bound("chain"))
    certificate["witness"]["upper_bound"]["steps"][key] += 1
    with pytest.raises(InputError):
        render_proof([certificate])


def test_altered_algebras_are_refused():
    certificate = algebra(la.lightning((3, 2, 3), (2, 2)))
    for alter in (
        lambda c: c["claim"].update(fields=3),
        lambda c: c["claim"].update(rank=13),
        lambda c: c["claim"].update(factors=[{"algebra": "e", "size": 8}]),
        lambda c: c["witness"]["symmetries"]["fields"][0].append([10**6, [0], 1]),
        lambda c: c["witness"]["symmetries"].pop("seed"),
    ):
        altered = copy.deepcopy(certificate)
        alter(altered)
        with pytest.raises(InputError):
            render_proof([altered])
