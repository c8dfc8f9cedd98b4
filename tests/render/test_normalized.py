"""Printed proofs of dimensions of normalised attention: what they say, and that LaTeX accepts them."""

from __future__ import annotations

import copy
import json
import shutil

import pytest

import lightningalg as la
from lightningalg.claims.dimension_bound import dimension_at_most
from lightningalg.errors import InputError
from lightningalg.render.latex import compile_with_log, overfull_boxes, render_proof
from tests.render.test_latex import references

NETWORKS = {
    "chain": la.normalized((3, 3, 3), (1, 3)),
    "width one": la.normalized((2, 1, 2), (1, 1), tokens=3),
    "heads": la.normalized((4, 2, 4), (1, 1), heads=2),
    "residual": la.normalized((2, 2), (2,), heads=3, residual=True),
    "one token": la.normalized((3, 1, 3), (2, 2), tokens=1),
    "tied": la.tie(la.normalized((2, 2, 2), (1, 1)), {"layer2": "layer1"}),
}
MIXED = """
tokens = 2
[[layer]]
id = "first"
type = "normalized_attention"
d_in = 2
d_out = 2
rank = 1
[[layer]]
type = "bias"
width = 2
[[layer]]
type = "lightning_attention"
d_in = 2
d_out = 2
rank = 2
[[layer]]
type = "convolution"
d_in = 2
kernel = 1
stride = 1
channels = 1
"""


def certificate(network):
    return json.loads(json.dumps(la.dimension(network).certificate.to_json()))


def test_a_chain():
    text = render_proof([certificate(NETWORKS["chain"])])
    assert "Dimension of a normalised self-" in text
    for words in (
        r"\delta=23", "Ax", r"\label{prop:nflag}", r"\label{prop:nlower}", r"$N=8$, $T=1$",
        r"(5+9)+0+3\cdot 3=23",
    ):  # fmt: skip
        assert words.replace(" ", "") in text.replace(" ", ""), words
    assert "Zariski closure of its neuromanifold" not in text


@pytest.mark.parametrize(("name", "label"), [
    ("heads", "prop:nstages"), ("residual", "prop:nlayerwise"), ("one token", "prop:nlinear"),
])  # fmt: skip
def test_each_method_has_its_proof(name, label):
    text = render_proof([certificate(NETWORKS[name])])
    assert rf"\label{{{label}}}" in text and rf"\cref{{{label}}}" in text
    assert (r"\label{prop:nlower}" in text) == (name != "one token")
    assert (r"\label{prop:nplain}" in text) == (name == "one token")


def test_altered_sums_are_not_printed():
    original = certificate(NETWORKS["heads"])
    for change in (
        lambda c: c["witness"]["upper_bound"]["steps"]["stages"].__setitem__(0, 31),
        lambda c: c["witness"]["upper_bound"].__setitem__("value", 49),
        lambda c: c["claim"].__setitem__("value", 47),
        lambda c: c["witness"]["lower_bound"].pop("exponents"),
    ):
        altered = copy.deepcopy(original)
        change(altered)
        with pytest.raises(InputError):
            render_proof([altered])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("case", ["few", "table", "mixed", "bound"])
def test_latex_accepts_it(case, tmp_path):
    certificates = {
        "few": [certificate(NETWORKS[name]) for name in ("chain", "heads", "one token", "tied")],
        "table": [certificate(network) for network in NETWORKS.values()]
        + [certificate(la.lightning((2, 2), (1,)))],
        "mixed": [certificate(la.Network.from_toml(MIXED))],
        "bound": [dimension_at_most(NETWORKS["residual"]).to_json()],
    }[case]
    path = tmp_path / "proof.tex"
    path.write_text(render_proof(certificates))
    _, log = compile_with_log(path, timeout=120)
    assert not [box for box in overfull_boxes(log) if box > 20]
    assert "undefined" not in log and "multiply defined" not in log


def test_a_table_cites_its_propositions():
    """Bounds by blocks of normalised layers are no bounds of the section on polynomial networks."""
    certificates = [certificate(NETWORKS[name]) for name in ("residual", "chain", "heads")] * 3
    text = render_proof(certificates)
    assert r"\labelcref{prop:nlayerwise}: $" in text and r"\labelcref{prop:nflag}: $" in text
    assert "textbackslash" not in text
    assert references(text)[0] <= references(text)[1]


def test_what_an_upper_bound_cites_is_printed():
    """The proof about stages uses Ax's theorem and the proposition on lower bounds."""
    text = render_proof([dimension_at_most(NETWORKS["heads"]).to_json()])
    assert r"\label{prop:nstages}" in text and r"\label{thm:ax}" in text
    assert references(text)[0] <= references(text)[1]
    text = render_proof([dimension_at_most(NETWORKS["chain"]).to_json()])
    assert r"\label{prop:nflag}" in text and r"\label{thm:ax}" not in text
    assert references(text)[0] <= references(text)[1]
