"""Tied layers: what is refused, in which words, and what the networks are."""

from __future__ import annotations

import json

import pytest

import lightningalg as la
from lightningalg.errors import InputError, ShapeError
from lightningalg.networks.families import attention_chain, family
from lightningalg.networks.layers.bias import Bias
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.network import Network, Node
from lightningalg.networks.spec import network_from_table

SQUARE = Linear(2, 2)
RECURRENT = la.tie(la.lightning((3, 3, 3, 3), (2, 2, 2)), {"layer2": "layer1", "layer3": "layer1"})


def refused(message, *nodes, error=InputError, **options):
    with pytest.raises(error) as caught:
        Network(nodes, tokens=1, **options)
    for part in [message] if isinstance(message, str) else message:
        assert part in str(caught.value), str(caught.value)


def test_a_tied_layer_has_no_parameters():
    assert RECURRENT.parameter_count == 6 + 6 + 9
    assert [block.node for block in RECURRENT.parameter_blocks] == ["layer1"] * 3
    assert RECURRENT.sharing == {"layer1", "layer2", "layer3"}
    assert [node.owner for node in RECURRENT.nodes] == ["layer1"] * 3
    assert la.lightning((3, 3), (2,)).sharing == frozenset()


def test_it_is_neither_a_chain_nor_of_a_family():
    plain = la.lightning((3, 3, 3, 3), (2, 2, 2))
    assert family(plain) and attention_chain(plain)
    assert family(RECURRENT) is None and attention_chain(RECURRENT) is None
    assert plain != RECURRENT and hash(RECURRENT) != hash(plain)
    assert str(RECURRENT) == "network of 3 layers (3 lightning_attention, 2 tied), width 3 to 3, tokens 2"


def test_round_trips():
    assert RECURRENT.to_json()["layers"][1] == {
        "id": "layer2", "inputs": ["layer1"], "type": "lightning_attention", "d_in": 3, "d_out": 3, "rank": 2,
        "weights": "layer1",
    }  # fmt: skip
    assert "weights" not in RECURRENT.to_json()["layers"][0]
    assert RECURRENT.to_toml().count('weights = "layer1"') == 2
    assert la.Network.from_toml(RECURRENT.to_toml()) == RECURRENT
    assert network_from_table(json.loads(json.dumps(RECURRENT.to_json()))) == RECURRENT


def test_the_map_is_the_power_of_one_layer():
    layer = la.lightning((3, 3), (2,)).polynomial_map()
    theta, X = list(range(-9, 12)), [[1, 2], [0, 1], [-1, 1]]
    assert RECURRENT.polynomial_map()(theta, X) == layer(theta, layer(theta, layer(theta, X)))
    assert RECURRENT.polynomial_map().parameter_names == layer.parameter_names


def test_owners_come_first():
    """The given order is topological, but the owner stands behind."""
    network = Network(
        [
            Node("a", ("input",), SQUARE, "b"),
            Node("b", ("input",), SQUARE),
            Node("s", ("a", "b"), Sum()),
        ],
        tokens=1,
    )
    assert [node.id for node in network.nodes] == ["b", "a", "s"]
    assert la.Network.from_toml(network.to_toml()) == network


def test_what_is_refused():
    first, second = Node("a", ("input",), SQUARE), Node("b", ("a",), SQUARE, "a")
    refused(
        ['"c" (linear) takes its weights from "b"', "none of its own", 'name "a"'],
        first, second, Node("c", ("b",), SQUARE, "b"),
    )  # fmt: skip
    refused(
        ['"b" (linear) with d_in 2, d_out 3', '"a" (linear) with d_in 2, d_out 2', "must be equal"],
        first, Node("b", ("a",), Linear(2, 3), "a"), error=ShapeError,
    )  # fmt: skip
    refused("type and sizes must be equal", first, Node("b", ("a",), Bias(2), "a"), error=ShapeError)
    refused(
        ['"b"', 'weights from "zzz"', "no layer of this network"], first, Node("b", ("a",), SQUARE, "zzz")
    )
    refused("no layer of this network", first, Node("b", ("a",), SQUARE, "input"))
    refused("does not come before it", Node("a", ("input",), SQUARE, "a"))
    refused(
        ['"a" (linear) takes its weights from "b"', "does not come before it"],
        Node("a", ("input",), SQUARE, "b"), Node("b", ("a",), SQUARE),
    )  # fmt: skip
    square = MonomialActivation(2)
    refused("has no parameters", Node("a", ("input",), square), Node("b", ("a",), square, "a"), width=2)
    for bad in (3, ["a"], {"a": 1}):
        table = {"layers": [{"type": "linear", "d_in": 1, "d_out": 1, "weights": bad}]}
        with pytest.raises(InputError, match="the id of the layer"):
            network_from_table(table)


def test_tie_builder():
    deep = la.deep_linear(3, 3, 3)
    tied = la.tie(deep, {"layer2": "layer1"})
    assert tied.parameter_count == 9 and la.tie(tied, {}) == tied and deep.parameter_count == 18
    with pytest.raises(InputError, match='"layer9" is no layer'):
        la.tie(deep, {"layer9": "layer1"})
    with pytest.raises(ShapeError, match="must be equal"):
        la.tie(la.deep_linear(3, 3, 2), {"layer2": "layer1"})
    blocks = la.tie(la.monomial((2, 2, 2, 2)), {"layer2": "layer1", "layer3": "layer1"})
    assert blocks.parameter_count == 4 and blocks.output_width == 2


def test_composition_keeps_ties():
    twice = RECURRENT.then(RECURRENT)
    assert twice.parameter_count == 2 * RECURRENT.parameter_count
    assert [node.weights for node in twice.nodes] == [
        None, "layer1", "layer1", None, "layer1-2", "layer1-2",
    ]  # fmt: skip


def test_many_tied_layers_are_checked_quickly():
    nodes = [Node("n0", ("input",), SQUARE)]
    nodes += [Node(f"n{i}", (f"n{i - 1}",), SQUARE, "n0") for i in range(1, 5000)]
    assert Network(nodes, tokens=1).parameter_count == 4
