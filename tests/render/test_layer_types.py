"""Printed proofs of networks with biases, convolutions and ties."""

from __future__ import annotations

import re
import shutil

import pytest
from hypothesis import given, settings

import lightningalg as la
from lightningalg.claims.degrees import degrees
from lightningalg.errors import InputError, LightningAlgError
from lightningalg.networks.spec import network_from_table
from lightningalg.rank.upper_bounds import upper_bounds
from lightningalg.render.latex import compile_pdf, render_proof
from lightningalg.render.latex.layer_rows import layer_rows
from lightningalg.render.latex.networks import read_network
from tests.certificates import examples as ex
from tests.strategies import dag_tables

NAMES = [
    "bias",
    "bias, torus",
    "bias, coefficients",
    "convolution",
    "convolution, strided",
    "tied",
    "tied, residual",
    "tied, every type",
    "degrees, tied",
]


def certificate(name):
    return ex.examples()[name][0]


def printed(*names):
    return re.sub(r"\s+", " ", render_proof([certificate(name) for name in names]))


# -- every certificate can be printed ---------------------------------------------------


@settings(deadline=None, max_examples=80)
@given(dag_tables(max_layers=7, max_size=4))
def test_the_renderer_finds_the_same_bounds(table):
    """It refuses numbers that are not those of the network, so that it must find them as well."""
    network = network_from_table(table)
    for bound in upper_bounds(network):
        claim = {"quantity": "dimension", "relation": "at most", "value": bound.value}
        witness = {"lower_bound": None, "upper_bound": bound.to_json()}
        render_proof([ex.certificate("dimension", network.to_json(), claim, witness)])
    try:
        certificate = degrees(network)
    except LightningAlgError:
        return
    render_proof([certificate.to_json()])


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.slow
@pytest.mark.parametrize("names", [*([name] for name in NAMES), NAMES], ids=str)
def test_they_compile(names, tmp_path):
    path = tmp_path / "proof.tex"
    path.write_text(render_proof([certificate(name) for name in names]))
    assert compile_pdf(path, timeout=120).exists()


def test_wrong_numbers_are_refused():
    other = ex.dimension(ex.STRIDED, None, ex.torus(ex.STRIDED, ("s", 4)))
    with pytest.raises(InputError, match="the free layers are not those of the network"):
        render_proof([other])
    both = ex.dimension(ex.TIED, None, ex.layerwise(("a", 6), ("b", 6)))
    with pytest.raises(InputError, match="the blocks are not those of the network"):
        render_proof([both])
    chain = ex.chain((2, 2, 2), (1, 1))
    chain["layers"][1]["weights"] = "layer-1"
    with pytest.raises(InputError, match="chain"):
        render_proof([ex.dimension(chain, None, ex.flag(ex.chain((2, 2, 2), (1, 1))))])


# -- what is printed ------------------------------------------------------------------------


def test_equations():
    lines = [layer.equation for layer in read_network(ex.ALL_TIED).layers]
    assert lines[:5] == [
        "X_{1}=W_{1}X_{0}",
        "X_{2}=W_{1}X_{1}",
        r"X_{3}=X_{2}+b_{3}\mathbf 1^{\top}",
        "X_{4}=W_{4}*_{1}X_{3}",
        "X_{5}=W_{4}*_{1}X_{1}",
    ]
    (tied,) = [layer for layer in read_network(ex.TIED).layers if layer.owner]
    assert tied.equation == r"X_{2}=V_{1}\,X_{1}X_{1}^{\top}\,K_{1}^{\top}Q_{1}\,X_{1}"
    assert tied.sizes.endswith("; tied to layer $1$") and tied.matrices == ()
    strided = read_network(ex.STRIDED).layers[0]
    assert strided.sizes == r"convolution, $5\to 4$, kernel $2$, stride $2$, $2$ channels"


def test_a_tied_chain_is_not_printed_as_a_chain():
    network = read_network(ex.TIED)
    assert network.is_sequence and not network.is_attention_chain
    assert network.compact.endswith("; layer $2$ tied to layer $1$")
    assert "$X_i=V_i" not in printed("tied")


@pytest.mark.parametrize("name", NAMES)
def test_only_what_occurs_is_explained(name):
    text = printed(name)
    types = {layer["type"] for layer in certificate(name)["network"]["layers"]}
    tied = any("weights" in layer for layer in certificate(name)["network"]["layers"])
    assert (r"\item \emph{Bias}" in text) == ("bias" in types)
    assert (r"\item \emph{Convolution}" in text) == ("convolution" in types)
    assert ("its \\emph{owner}" in text) == tied


def test_the_arguments_cover_the_layers():
    text = printed("tied, every type")
    assert "A tied layer computes the map of its owner's block" in text
    assert r"a bias of width $d$: $\delta=d$" in text and r"$\delta=kc$" in text
    text = printed("convolution, strided")
    assert "is the number of channels of a convolution" in text and "8-2=6" in text
    text = printed("bias, coefficients")
    assert "to a bias the set of its input together with $0$" in text
    assert r"S=\{0,\allowbreak 1,\allowbreak 2\}" in text
    text = printed("degrees, tied")
    assert "The matrices of a tied layer are those of its owner." in text
    assert "three times those of $X_{1}$, and $1$ for each of $Q_{1}$, $K_{1}$, $V_{1}$" in text


def test_a_bias_has_no_degrees():
    claim = {"quantity": "degrees", "input": 1, "parameters": []}
    net = ex.network(1, 1, ex.bias("b", "input", 1))
    with pytest.raises(InputError, match="a network with a bias has no degrees"):
        render_proof([ex.certificate("degrees", net, claim, {"layers": []})])


# -- long networks ----------------------------------------------------------------------------


def test_rows_of_a_long_tied_network():
    """The owner's index moves with the blocks; that of an owner before them does not."""
    chain = la.lightning((2,) * 101, (1,) * 100)
    one = la.tie(chain, {f"layer{i}": "layer1" for i in range(2, 101)})
    assert len(layer_rows(read_network(one.to_json()))) == 100
    heads = la.lightning((2, 2, 2), (1, 1), heads=80)
    equal = la.tie(heads, {f"layer1.head{i}": "layer1.head1" for i in range(2, 81)})
    rows = layer_rows(read_network(equal.to_json()))
    assert [row.value.split("=")[0] for row in rows[:3]] == ["X_{1}", "X_{h+2}", "X_{81}"]
    assert "V_{1}" in rows[1].value and rows[1].sizes.endswith("tied to layer $1$")
    pairs = la.tie(chain, {f"layer{i}": f"layer{i - 1}" for i in range(2, 101, 2)})
    rows = layer_rows(read_network(pairs.to_json()))
    assert [row.value.split("=")[0] for row in rows] == ["X_{2k+1}", "X_{2k+2}"]
    assert "V_{2k+1}" in rows[0].value and "V_{2k+1}" in rows[1].value
    assert "tied to layer" not in rows[0].sizes and rows[1].sizes.endswith("tied to layer $2k+1$")
