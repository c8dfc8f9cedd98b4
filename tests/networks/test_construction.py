"""Networks at construction: what is refused and in which words, and how layers are ordered."""

from __future__ import annotations

import json

import numpy as np
import pytest

import lightningalg as la
from lightningalg.errors import InputError, LightningAlgError, ShapeError
from lightningalg.networks.layers import LAYER_TYPES, layer_types
from lightningalg.networks.layers.bias import Bias
from lightningalg.networks.layers.convolution import Convolution
from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.layers.normalized_attention import NormalizedAttention
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.matrix import Matrix
from lightningalg.networks.network import Network, Node
from lightningalg.networks.ordering import MAX_LAYERS
from lightningalg.networks.spec import network_from_table


def refused(message, *arguments, error=InputError, builder=la.lightning, **keywords):
    with pytest.raises(error) as caught:
        builder(*arguments, **keywords)
    text = str(caught.value)
    assert "\n" not in text and len(text) < 400
    for part in [message] if isinstance(message, str) else message:
        assert part in text, text


def kind_of(bad):
    return type(bad).__name__  # pytest cannot print integers of thousands of digits


NOT_SIZES = [0, -1, 2.0, True, "2", None, [2], 10**6 + 1, 10**5000, float("nan")]


@pytest.mark.parametrize("bad", NOT_SIZES, ids=kind_of)
@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("widths entry 2", lambda bad: {"widths": [3, bad], "ranks": [1]}),
        ("ranks entry 1", lambda bad: {"widths": [3, 2], "ranks": [bad]}),
        ("tokens", lambda bad: {"widths": [3, 2], "ranks": [1], "tokens": bad}),
        ("heads", lambda bad: {"widths": [3, 2], "ranks": [1], "heads": bad if bad != [2] else ["2"]}),
    ],
)
def test_sizes_are_positive_integers(field, arguments, bad):
    refused([field, "accepted are integers from 1 to 1000000"], **arguments(bad))


@pytest.mark.parametrize("bad", NOT_SIZES, ids=kind_of)
def test_layer_sizes_are_positive_integers(bad):
    for make in (
        lambda: LightningAttention(bad, 2, 2),
        lambda: LightningAttention(2, 2, bad),
        lambda: Linear(2, bad),
        lambda: MonomialActivation(bad),
    ):
        refused("accepted are integers from 1 to 1000000", builder=make)


@pytest.mark.parametrize("degree", [bad for bad in NOT_SIZES if bad != [2]], ids=kind_of)
@pytest.mark.parametrize("widths", [(2, 2), (2, 2, 2)])  # no hidden layer uses the degree of the first
def test_degrees_are_positive_integers(widths, degree):
    refused(["degree", "accepted are integers"], widths, builder=la.monomial, degree=degree)


@pytest.mark.parametrize("bad", ["4,2", 3, None, {"a": 1}, b"42"])
def test_lists_of_sizes_are_lists(bad):
    refused(["widths", "accepted are lists of positive integers"], widths=bad, ranks=(1,))
    refused(["ranks", "accepted are lists of positive integers"], widths=(2, 2), ranks=bad)
    refused(["widths", "accepted are lists of positive integers"], builder=la.monomial, widths=bad)


def test_unequal_lengths_name_both():
    refused(["widths 4,2,4 make 2 layers", "ranks 2 are for 1 layer", "one rank per layer"], (4, 2, 4), (2,))
    refused(["widths 4,2 make 1 layer", "ranks 2,1 are for 2 layers"], (4, 2), (2, 1))
    refused("widths 4: at least two are needed", (4,), ())
    refused("widths (none): at least two are needed", (), ())
    refused("widths 4: at least two are needed", (4,), builder=la.monomial)
    refused("widths (none): at least two are needed", builder=la.deep_linear)
    refused(["heads 1,2,3", "(2 here), not 3"], (2, 2, 2), (1, 1), heads=(1, 2, 3))
    refused(["residual True,False,True", "(2 here), not 3"], (2, 2, 2), (1, 1), residual=(True, False, True))
    refused(["degree 2,3", "hidden layer (1 here), not 2"], (2, 2, 2), (2, 3), builder=la.monomial)


def test_residual_needs_equal_widths_and_names_the_layer():
    refused("layer 2 maps width 3 to 4", (3, 3, 4), (1, 1), residual=True)
    refused("layer 1 maps width 2 to 3", (2, 3, 3), (1, 1), residual=(True, False))
    la.lightning((3, 3, 4), (1, 1), residual=(True, False))


@pytest.mark.parametrize("bad", [1, 0, "yes", None, 10**5000], ids=kind_of)
def test_residual_is_true_or_false(bad):
    refused(["residual", "accepted are true and false"], (2, 2), (1,), residual=bad)


def test_too_many_layers_are_refused_before_they_are_built():
    many = MAX_LAYERS + 1
    refused(["100000 layers", str(many)], (2, 2), (1,), heads=many)
    config = {"hidden_size": 10**6, "num_attention_heads": 10**6, "num_hidden_layers": 10**6}
    refused("100000 layers", config, builder=la.transformer)
    refused("100000 layers, not 0", [], builder=Network)


# -- tables --------------------------------------------------------------------


def table(*layers, **rest):
    return {"tokens": 2, "width": 2, "layers": list(layers), **rest}


def linear(name, source, d_in=2, d_out=2):
    return {"id": name, "inputs": [source], "type": "linear", "d_in": d_in, "d_out": d_out}


def refused_table(message, *layers, error=InputError, **rest):
    refused(message, table(*layers, **rest), builder=network_from_table, error=error)


def test_shapes_that_do_not_fit_name_the_layer_and_both_shapes():
    refused_table(
        ['layer "b" (linear)', "needs inputs of shape 3 x 2", '"a" has shape 2 x 2'],
        linear("a", "input"), linear("b", "a", d_in=3), error=ShapeError,
    )  # fmt: skip
    refused_table(
        ['layer "c" (sum)', "shape 2 x 2", '"b" has shape 3 x 2'],
        linear("a", "input"), linear("b", "input", d_out=3),
        {"id": "c", "inputs": ["a", "b"], "type": "sum"}, error=ShapeError,
    )  # fmt: skip
    refused_table(
        ['layer "a" (lightning_attention)', "5 x 7", '"input" has shape 2 x 7'],
        {"id": "a", "type": "lightning_attention", "d_in": 5, "d_out": 2, "rank": 1},
        tokens=7, error=ShapeError,
    )  # fmt: skip
    two = [linear("a", "input"), linear("b", "input")]
    refused_table(
        ['layer "s" (sum) has 1 inputs', "accepted: 2 or more"],
        two[0], {"id": "s", "inputs": ["a"], "type": "sum"}, error=ShapeError,
    )  # fmt: skip
    refused_table(
        ['layer "c" (linear) has 2 inputs', "accepted: 1"],
        *two, {**linear("c", "a"), "inputs": ["a", "b"]}, error=ShapeError,
    )  # fmt: skip


def test_graphs_that_are_no_networks():
    refused_table(
        ["cycle", "a", "b", "->"], linear("a", "b"), linear("b", "a"), linear("c", "input"), linear("d", "c")
    )
    refused_table(["cycle", "a"], linear("a", "a"))
    refused_table('layer id "a" occurs twice', linear("a", "input"), linear("a", "a"))
    refused_table(
        ['layer "b" (linear) reads "zzz"', "no layer of this network"],
        linear("a", "input"),
        linear("b", "zzz"),
    )
    refused_table(
        ["one output, but 2 layers feed no other layer: a, b", "sum layer"],
        linear("a", "input"),
        linear("b", "input"),
    )


def test_unknown_and_missing_keys():
    refused_table(
        ['layer "a"', "unknown type 'softmax'", ", ".join(LAYER_TYPES)], {"id": "a", "type": "softmax"}
    )
    refused_table(['layer "layer1" has no type', "linear"], {"d_in": 2})
    refused_table(
        ['layer "a" (linear)', "no field 'rank'", "d_in, d_out"], {**linear("a", "input"), "rank": 1}
    )
    refused_table(
        ['layer "a" (lightning_attention) needs d_out and rank'],
        {"id": "a", "type": "lightning_attention", "d_in": 2},
    )
    refused_table(['layer "a" (linear)', "d_out is 0"], linear("a", "input", d_out=0))
    refused_table(["no field 'depth'", "tokens"], linear("a", "input"), depth=3)
    refused_table(['layer "a"', '"inputs" must be a non-empty list'], {**linear("a", "input"), "inputs": []})
    refused_table(['"inputs" must be a non-empty list'], {**linear("a", "input"), "inputs": "input"})
    refused_table(['"inputs" must be a non-empty list'], {**linear("a", "input"), "inputs": [1]})
    refused_table("layers number 2 must be a table", linear("a", "input"), 5)
    refused("must be a non-empty list of tables", {"layer": []}, builder=network_from_table)
    refused("must be a non-empty list of tables", {"layer": "x"}, builder=network_from_table)


@pytest.mark.parametrize("name", ["", "input", "1a", "a b", "a" * 65, "ä", 'a"', "a\n", 5, None, ["a"]])
def test_layer_ids(name):
    refused_table(["layer id", "accepted are 1 to 64 letters"], {**linear("a", "input"), "id": name})


def test_family_tables():
    build = {"builder": network_from_table}
    refused(["kind 'transformer'", "lightning", "monomial"], {"kind": "transformer"}, **build)
    refused("kind", {"kind": 3}, **build)
    refused(["no field 'degree'", "ranks"], {"widths": [2, 2], "ranks": [1], "degree": 2}, **build)
    refused(["a lightning network", 'needs "ranks"'], {"widths": [2, 2]}, **build)
    refused(['a monomial network needs "widths"'], {"kind": "monomial"}, **build)
    refused(["a monomial network", "'tokens'"], {"kind": "monomial", "widths": [2, 2], "tokens": 2}, **build)


def test_width_of_the_input():
    activation = {"id": "a", "type": "monomial_activation", "degree": 2}
    refused(['give "width"'], {"layers": [activation]}, builder=network_from_table)
    assert network_from_table({"layers": [activation], "width": 3}).output_width == 3
    assert network_from_table({"layers": [linear("a", "input", d_in=5)]}).width == 5
    for bad in NOT_SIZES[:3]:
        refused_table("width", activation, width=bad)


# -- order and structure --------------------------------------------------------


def test_layers_are_put_in_topological_order():
    given = table(linear("c", "b"), linear("b", "a"), linear("a", "input"))
    network = network_from_table(given)
    assert [node.id for node in network.nodes] == ["a", "b", "c"]
    assert network == network_from_table(table(*given["layers"][::-1]))


def test_an_order_that_is_topological_is_kept():
    branches = [linear("z", "input"), linear("a", "input"), linear("m", "z")]
    network = network_from_table(table(*branches, {"id": "s", "inputs": ["m", "a"], "type": "sum"}))
    assert [node.id for node in network.nodes] == ["z", "a", "m", "s"]


def test_branches_out_of_order_move_as_little_as_needed():
    layers = [
        {"id": "s", "inputs": ["m", "a"], "type": "sum"},
        linear("m", "z"),
        linear("z", "input"),
        linear("a", "input"),
    ]
    network = network_from_table(table(*layers))
    assert [node.id for node in network.nodes] == ["z", "m", "a", "s"]


def test_parameters_are_numbered_by_layer_matrix_and_row():
    network = la.lightning((3, 2, 4), (5, 1))
    blocks = [(b.node, b.name, b.shape, b.offset, b.size) for b in network.parameter_blocks]
    assert blocks == [
        ("layer1", "Q", (5, 3), 0, 15), ("layer1", "K", (5, 3), 15, 15), ("layer1", "V", (2, 3), 30, 6),
        ("layer2", "Q", (1, 2), 36, 2), ("layer2", "K", (1, 2), 38, 2), ("layer2", "V", (4, 2), 40, 8),
    ]  # fmt: skip
    assert network.parameter_count == 48
    assert network.parameter_blocks[2].index(1, 2) == 30 + 5
    assert network.widths == {"input": 3, "layer1": 2, "layer2": 4}
    assert network.output == "layer2" and network.output_width == 4


def test_consumers_count_every_reading():
    network = network_from_table(
        table(linear("a", "input"), {"id": "s", "inputs": ["a", "a"], "type": "sum"})
    )
    assert network.consumers == {"input": ("a",), "a": ("s", "s"), "s": ()}


# -- equality ---------------------------------------------------------------------


def test_networks_hash_and_compare():
    one, same = la.lightning((2, 3), (1,)), la.lightning([2, 3], [1], 2, 1, False)
    different = [
        la.lightning((2, 3), (1,), tokens=3), la.lightning((2, 2), (1,)), la.lightning((2, 3), (2,)),
        la.lightning((2, 3), (1,), heads=2), la.deep_linear(2, 3),
        Network([Node("other", ("input",), LightningAttention(2, 3, 1))]),
    ]  # fmt: skip
    assert one == same and hash(one) == hash(same)
    assert len({one, same, *different}) == 1 + len(different)
    assert one != "lightning" and one is not None


def test_lists_of_inputs_make_the_same_node():
    listed = Network([Node("layer1", ["input"], LightningAttention(2, 3, 1))])
    assert listed == la.lightning((2, 3), (1,)) and hash(listed) == hash(la.lightning((2, 3), (1,)))
    assert Node("a", "input", Linear(1, 1)) == Node("a", ("input",), Linear(1, 1))


def test_layer_types_are_the_documented_ones():
    assert {
        "lightning_attention": LightningAttention, "linear": Linear, "bias": Bias, "convolution": Convolution,
        "monomial_activation": MonomialActivation, "sum": Sum, "normalized_attention": NormalizedAttention,
    } == LAYER_TYPES == layer_types()  # fmt: skip


def test_errors_are_catchable_as_one_class():
    with pytest.raises(LightningAlgError):
        la.lightning((0, 1), (1,))
    with pytest.raises(ValueError):
        la.lightning((0, 1), (1,))


# -- matrices ----------------------------------------------------------------------


def test_matrices_of_wrong_shape():
    A = Matrix([[1, 2, 3], [4, 5, 6]])
    refused(["2 x 3 @ 2 x 3", "inner sizes"], builder=lambda: A @ A, error=ShapeError)
    refused(["2 x 3 + 3 x 2", "shapes must be equal"], builder=lambda: A + A.T, error=ShapeError)
    refused(["2 x 3 * 3 x 2"], builder=lambda: A * A.T, error=ShapeError)
    for rows in ([], [[]], [[1], [2, 3]]):
        refused("at least one row and column", rows, builder=Matrix, error=ShapeError)
    refused(
        "5 values do not fill a 2 x 3 matrix", range(5), (2, 3), builder=Matrix.from_flat, error=ShapeError
    )
    assert len({A, Matrix([(1, 2, 3), (4, 5, 6)])}) == 1


def test_numpy_integers_are_sizes():
    net = la.lightning((np.int64(3), np.int8(2)), (np.uint32(2),), tokens=np.int16(2))
    assert net == la.lightning((3, 2), (2,), tokens=2)
    assert json.loads(json.dumps(net.to_json())) == net.to_json()  # Python's integers inside
    assert la.deep_linear(np.int64(3), 2).parameter_count == 6
    for wrong in (np.bool_(True), np.float64(2), np.array([2, 2]), True, 2.0, "2", None):
        with pytest.raises(InputError, match="accepted are integers from 1"):
            la.lightning((wrong, 2), (2,))


@pytest.mark.parametrize("value", [None, 3, "x", b"widths = [2, 2]", [1]])
def test_what_is_no_network_is_refused(value):
    net = la.lightning((2, 2), (2,))
    for call in (lambda: net.then(value), lambda: la.tie(value, {})):
        with pytest.raises(InputError, match="accepted: a Network, such as"):
            call()
    if not isinstance(value, str):
        with pytest.raises(InputError, match="accepted: TOML text"):
            Network.from_toml(value)
    with pytest.raises(InputError, match=r"weights is an? .*accepted are mappings such as"):
        la.tie(net, value)
