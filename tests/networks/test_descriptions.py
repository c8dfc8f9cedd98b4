"""Networks as text: TOML, JSON and its hash, families, one-line summaries; and composition."""

from __future__ import annotations

import hashlib
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg.certificates.records import canonical_json, sha256_of
from lightningalg.errors import InputError, ShapeError
from lightningalg.networks.families import Family, attention_chain, family
from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.network import Network, Node
from lightningalg.networks.spec import from_toml, network_from_table
from tests import reference
from tests.strategies import dag_tables, lightning_arguments

RELAXED = settings(deadline=None, max_examples=60)
all_lightning = lightning_arguments(max_heads=3, residual=True)
monomials = st.tuples(
    st.lists(st.integers(1, 5), min_size=2, max_size=5), st.lists(st.integers(1, 4), min_size=3, max_size=3)
)


# -- round trips ------------------------------------------------------------------


@RELAXED
@given(dag_tables(max_layers=8, max_size=6, max_tokens=5))
def test_round_trip_of_any_network(table):
    network = network_from_table(table)
    assert network.to_json() == table | {"layers": network.to_json()["layers"]}
    assert sorted(map(str, network.to_json()["layers"])) == sorted(map(str, table["layers"]))
    from_text = la.Network.from_toml(network.to_toml())
    from_json = network_from_table(json.loads(json.dumps(network.to_json())))
    for copy in (from_text, from_json):
        assert copy == network and hash(copy) == hash(network)
        assert copy.to_json() == network.to_json() and copy.to_toml() == network.to_toml()
        assert sha256_of(copy.to_json()) == sha256_of(network.to_json())
    assert network.parameter_count == reference.parameter_count(table)
    assert str(network) == str(from_text) and "\n" not in str(network)


@RELAXED
@given(dag_tables(max_layers=8), st.randoms(use_true_random=False))
def test_any_order_of_the_layers_gives_a_valid_order_of_the_same_network(table, generator):
    layers = list(table["layers"])
    generator.shuffle(layers)
    network = network_from_table({**table, "layers": layers})
    seen = {"input"}
    for node in network.nodes:
        assert seen.issuperset(node.inputs) and (node.weights is None or node.weights in seen)
        seen.add(node.id)
    given_order = network_from_table(table)
    assert set(network.nodes) == set(given_order.nodes)
    assert network.output == given_order.output and network.widths == given_order.widths


@RELAXED
@given(all_lightning)
def test_family_of_a_lightning_network_is_its_flags(arguments):
    network = la.lightning(**arguments)
    found = family(network)
    assert found == Family("lightning", **arguments)
    flags = found.to_json()
    assert network_from_table(flags) == network
    assert from_toml(la.lightning(**arguments).to_toml()) == network
    plain = set(arguments["heads"]) == {1} and not any(arguments["residual"])
    assert (attention_chain(network) is not None) == plain


@RELAXED
@given(monomials)
def test_family_of_a_monomial_network_is_its_flags(arguments):
    widths, degrees = arguments[0], arguments[1][: len(arguments[0]) - 2]
    network = la.monomial(widths, degrees)
    found = family(network)
    assert found == Family("monomial", tuple(widths), tokens=1, degree=tuple(degrees))
    assert network_from_table(found.to_json()) == network


@RELAXED
@given(dag_tables())
def test_a_family_that_is_recognised_gives_back_the_network(table):
    network = network_from_table(table)
    found = family(network)  # ids n0, n1, ... never are a builder's
    assert found is None
    renamed = json.loads(json.dumps(table))
    names = {layer["id"]: f"layer{i}.head1" for i, layer in enumerate(renamed["layers"], 1)}
    for layer in renamed["layers"]:
        layer["id"] = names[layer["id"]]
        layer["inputs"] = [names.get(source, source) for source in layer["inputs"]]
        if "weights" in layer:
            layer["weights"] = names[layer["weights"]]
    network = network_from_table(renamed)
    found = family(network)
    assert str(network)
    assert found is None or network_from_table(found.to_json()) == network


def test_names_of_a_family_do_not_make_one():
    """Layer 2 looks residual, but reads the input, of another width than layer 1's output."""
    network = Network(
        [
            Node("layer1", ("input",), LightningAttention(3, 2, 1)),
            Node("layer2.head1", ("input",), LightningAttention(3, 3, 1)),
            Node("layer3", ("layer1",), LightningAttention(2, 3, 1)),
            Node("layer2.sum", ("layer3", "layer2.head1"), Sum()),
        ]
    )
    assert family(network) is None
    assert str(network) == (
        "network of 4 layers (3 lightning_attention, 1 sum), width 3 to 3, tokens 2"
    )  # fmt: skip


# -- the same network in all spellings -----------------------------------------------

SPELLINGS = [
    (
        lambda: la.lightning((4, 3, 2, 4), (2, 2, 2)),
        "widths = [4, 3, 2, 4]\nranks = [2, 2, 2]",
        "--widths 4,3,2,4 --ranks 2,2,2",
    ),
    (
        lambda: la.lightning((2, 2), (1,), tokens=5, heads=2, residual=True),
        'kind = "lightning"\nwidths = [2, 2]\nranks = [1]\ntokens = 5\nheads = 2\nresidual = true',
        "--kind lightning --widths 2,2 --ranks 1 --tokens 5 --heads 2 --residual",
    ),
    (
        lambda: la.lightning((2, 2, 2), (1, 3), heads=(2, 1)),
        "widths = [2, 2, 2]\nranks = [1, 3]\nheads = [2, 1]",
        "--widths 2,2,2 --ranks 1,3 --heads 2,1",
    ),
    (
        lambda: la.monomial((2, 3, 3), 3),
        'kind = "monomial"\nwidths = [2, 3, 3]\ndegree = 3',
        "--kind monomial --widths 2,3,3 --degree 3",
    ),
    (
        lambda: la.monomial((2, 3, 3, 1), (2, 3)),
        'kind = "monomial"\nwidths = [2, 3, 3, 1]\ndegree = [2, 3]',
        "--kind monomial --widths 2,3,3,1 --degree 2,3",
    ),
    (
        lambda: la.lightning((3, 2), (5,)),
        'tokens = 2\n[[layer]]\nid = "layer1"\ntype = "lightning_attention"\nd_in = 3\nd_out = 2\nrank = 5',
        "--widths 3,2 --ranks 5 --tokens 2",
    ),
]


@pytest.mark.parametrize(("build", "toml", "flags"), SPELLINGS)
def test_python_toml_and_flags_give_the_same_network(build, toml, flags):
    from lightningalg.cli.options import network_from_options

    names = ("kind", "widths", "ranks", "tokens", "heads", "degree", "network_file")
    options = {**dict.fromkeys(names), "residual": False}
    words = flags.split()
    while words:
        name = words.pop(0).removeprefix("--")
        options[name] = True if name == "residual" else words.pop(0)
    network = build()
    assert from_toml(toml) == network == network_from_options(**options)
    assert hash(from_toml(toml)) == hash(network)


def test_layers_default_to_a_chain():
    layer = '[[layer]]\ntype = "linear"\nd_in = 2\nd_out = 2\n'
    assert from_toml("tokens = 1\n" + layer + layer) == la.deep_linear(2, 2, 2)


def test_one_value_stands_for_all_layers():
    assert la.lightning((2, 2, 2), (1, 1), heads=2) == la.lightning((2, 2, 2), (1, 1), heads=(2, 2))
    assert la.lightning((2, 2, 2), (1, 1), heads=[2]) == la.lightning((2, 2, 2), (1, 1), heads=(2, 2))
    assert la.lightning((2, 2), (1,), residual=True) == la.lightning((2, 2), (1,), residual=[True])
    assert la.multi_head(3, 2, rank=1, heads=4, tokens=3) == la.lightning((3, 2), (1,), 3, heads=4)
    assert la.monomial((2, 2, 2, 2), 3) == la.monomial((2, 2, 2, 2), (3, 3))
    assert la.monomial((2, 3)) == la.deep_linear(2, 3)


# -- TOML errors -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("widths = [4, 2", ("not TOML", "line 1", "column 15")),
        ("widths = [4, 2]\nranks = = 3", ("not TOML", "line 2", "column 9")),
        ("widths = [1]\nwidths = [2]\nranks = [1]", ("not TOML", "line 2", "column 13")),
        ("\n\n  ranks 3", ("not TOML", "line 3", "column 9")),
        ("tokens = " + "1" * 5000, ("not TOML", "thousands of digits")),
        ("a = " + "[" * 5000, ("not TOML",)),
        ("widths = [2, 2]\nranks = [1]\ntokens = 0x" + "f" * 5000, ("tokens", "thousands of digits")),
        ("widths = [2.0, 2]\nranks = [1]", ("widths entry 1", "2.0", "accepted are integers")),
        ("widths = [2, 2]\nranks = [1]\nresidual = 1", ("residual", "true and false")),
        ("", ('a lightning network needs "widths"',)),
        ("[[layer]]\ntype = 'linear'\nd_in = 2\nd_out = true", ('layer "layer1" (linear)', "d_out is True")),
        ("layer = 3", ('"layer" must be a non-empty list of tables', "[[layer]]")),
    ],
)
def test_toml_errors(text, parts):
    with pytest.raises(InputError) as caught:
        la.Network.from_toml(text)
    message = str(caught.value)
    assert "\n" not in message and len(message) < 400
    assert all(part in message for part in parts), message


# -- hashes ----------------------------------------------------------------------------

CANONICAL = [
    (
        lambda: la.lightning((4, 2), (3,)),
        '{"layers":[{"d_in":4,"d_out":2,"id":"layer1","inputs":["input"],"rank":3,"type":"lightning_attention"}],'
        '"tokens":2,"width":4}',
        "469192bbe55926a5ae73f076b85d413cce480d672b98026ebf9859c943280ba7",
    ),
    (
        lambda: la.monomial((2, 3, 1), 2),
        '{"layers":[{"d_in":2,"d_out":3,"id":"layer1","inputs":["input"],"type":"linear"},'
        '{"degree":2,"id":"activation1","inputs":["layer1"],"type":"monomial_activation"},'
        '{"d_in":3,"d_out":1,"id":"layer2","inputs":["activation1"],"type":"linear"}],"tokens":1,"width":2}',
        "aec8025a26f394ee5c6b90cbe20960c0abf5ee6560caf8e08ae7552bc1bffacf",
    ),
    (
        lambda: la.lightning((2, 2), (1,), tokens=3, heads=2, residual=True),
        '{"layers":['
        '{"d_in":2,"d_out":2,"id":"layer1.head1","inputs":["input"],"rank":1,"type":"lightning_attention"},'
        '{"d_in":2,"d_out":2,"id":"layer1.head2","inputs":["input"],"rank":1,"type":"lightning_attention"},'
        '{"id":"layer1.sum","inputs":["input","layer1.head1","layer1.head2"],"type":"sum"}],"tokens":3,"width":2}',
        "c3b9b90ad2e3960b8d2d97fd234ffd65bf3e8ccc1a5685374060bbce0ef3d0c5",
    ),
]


@pytest.mark.parametrize(("build", "text", "digest"), CANONICAL)
def test_canonical_json_and_its_hash(build, text, digest):
    """The texts are written by hand from FORMAT.md; a change of them breaks every certificate."""
    assert canonical_json(build().to_json()) == text
    assert hashlib.sha256(text.encode("ascii")).hexdigest() == digest == sha256_of(build().to_json())


# -- composition -------------------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(dag_tables(max_layers=3, max_degree=2), dag_tables(max_layers=3, max_degree=2), st.integers(0, 10**6))
def test_then_is_the_composition_of_maps(first, second, seed):
    """The second network gets a linear layer in front, so that widths fit."""
    generator = random.Random(seed)
    inner = network_from_table(first)
    bridge = {
        "id": "bridge",
        "inputs": ["input"],
        "type": "linear",
        "d_in": inner.output_width,
        "d_out": second["width"],
    }
    layers = [
        {**layer, "inputs": ["bridge" if source == "input" else source for source in layer["inputs"]]}
        for layer in second["layers"]
    ]
    outer = network_from_table(
        {"tokens": inner.tokens, "width": inner.output_width, "layers": [bridge, *layers]}
    )
    composed = inner.then(outer)
    theta_inner = [generator.randint(-3, 3) for _ in range(inner.parameter_count)]
    theta_outer = [generator.randint(-3, 3) for _ in range(outer.parameter_count)]
    X = [[generator.randint(-2, 2) for _ in range(inner.tokens)] for _ in range(inner.width)]
    expected = reference.value(outer.to_json(), theta_outer, reference.value(inner.to_json(), theta_inner, X))
    assert reference.value(composed.to_json(), theta_inner + theta_outer, X) == expected
    assert composed.polynomial_map()(theta_inner + theta_outer, X).rows == tuple(map(tuple, expected))
    assert len(composed.nodes) == len(inner.nodes) + len(outer.nodes)


def test_then_renames_and_refuses():
    net = la.lightning((2, 2), (1,))
    three = net.then(net).then(net)
    assert [node.id for node in three.nodes] == ["layer1", "layer1-2", "layer1-3"]
    assert three.nodes[2].inputs == ("layer1-2",)
    long = Network([Node("a" * 64, ("input",), LightningAttention(2, 2, 1))])
    assert all(len(node.id) <= 64 for node in long.then(long).then(long).nodes)
    with pytest.raises(ShapeError, match="output 2 x 2 does not fit input 3 x 2"):
        net.then(la.lightning((3, 2), (1,)))
    with pytest.raises(ShapeError, match="output 2 x 2 does not fit input 2 x 3"):
        net.then(la.lightning((2, 2), (1,), tokens=3))


# -- transformers ----------------------------------------------------------------------------

#: published sizes: hidden size D, heads H, layers L, head size m
CONFIGS = [
    ({"n_embd": 768, "n_head": 12, "n_layer": 12}, 768, 12, 12, 64),  # GPT-2 small
    (
        {"hidden_size": 128, "num_attention_heads": 2, "num_hidden_layers": 2, "vocab_size": 30522},
        128,
        2,
        2,
        64,
    ),
    ({"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 3, "head_dim": 32}, 64, 4, 3, 32),
    ({"dim": 6, "n_heads": 3, "n_layers": 2}, 6, 3, 2, 2),
    ({"d_model": 6, "num_heads": 1, "num_layers": 1}, 6, 1, 1, 6),
]


@pytest.mark.parametrize(("config", "D", "H", "L", "m"), CONFIGS)
def test_transformer_parameter_counts(config, D, H, L, m):
    """Q, K, V are m x D and O is D x m in each of L H heads: 4 L H m D."""
    network = la.transformer(config, tokens=3)
    assert network.parameter_count == 4 * L * H * m * D
    assert (network.width, network.output_width, network.tokens) == (D, D, 3)
    assert len(network.nodes) == L * (2 * H + 1)
    heads = [node.layer for node in network.nodes if isinstance(node.layer, LightningAttention)]
    assert heads == [LightningAttention(D, m, m)] * (L * H)


def test_transformer_layer_is_a_residual_sum_of_projected_heads():
    generator = random.Random(1)
    network = la.transformer({"hidden_size": 2, "num_attention_heads": 2, "num_hidden_layers": 1})
    blocks = [reference.random_matrix(generator, rows, 2) for rows in (1, 1, 1)]
    first = reference.random_matrix(generator, 2, 1)
    blocks_ = [reference.random_matrix(generator, rows, 2) for rows in (1, 1, 1)]
    second = reference.random_matrix(generator, 2, 1)
    X = reference.random_matrix(generator, 2, 2)
    one = reference.times(first, reference.attention(*blocks, X))
    two = reference.times(second, reference.attention(*blocks_, X))
    expected = tuple(
        tuple(a + b + c for a, b, c in zip(*rows, strict=True)) for rows in zip(X, one, two, strict=True)
    )
    theta = reference.flat(*blocks, first, *blocks_, second)
    got = network.polynomial_map()(theta, X).map(lambda q: reference.Fraction(int(q.p), int(q.q)))
    assert got.rows == expected


@pytest.mark.parametrize(
    ("config", "parts"),
    [
        ({}, ("config has no hidden size", "hidden_size, n_embd")),
        ({"hidden_size": 4, "n_head": 2}, ("config has no layers", "num_hidden_layers")),
        ({"hidden_size": 4, "n_layer": 2}, ("config has no heads",)),
        ({"hidden_size": 5, "n_head": 2, "n_layer": 1}, ("2 heads do not divide hidden size 5", "head_dim")),
        (
            {"hidden_size": "4", "n_head": 2, "n_layer": 1},
            ('config field "hidden_size"', "accepted are integers"),
        ),
        ({"hidden_size": 4, "n_head": True, "n_layer": 1}, ('config field "n_head"',)),
        ({"hidden_size": 4, "n_head": 2, "n_layer": 1, "head_dim": 0}, ('config field "head_dim"',)),
    ],
)
def test_transformer_configs_that_are_refused(config, parts):
    with pytest.raises(InputError) as caught:
        la.transformer(config)
    assert all(part in str(caught.value) for part in parts), caught.value


# -- one line ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("network", "text"),
    [
        (la.lightning((4, 2, 4), (2, 1)), "lightning, widths 4,2,4, ranks 2,1, tokens 2"),
        (la.lightning((2, 2), (1,), 3, heads=2), "lightning, widths 2,2, ranks 1, heads 2, tokens 3"),
        (
            la.lightning((2, 2, 2), (1, 1), heads=(1, 2)),
            "lightning, widths 2,2,2, ranks 1,1, heads 1,2, tokens 2",
        ),
        (
            la.lightning((2, 2, 2), (1, 1), residual=(False, True)),
            "lightning, widths 2,2,2, ranks 1,1, residual in layers 2, tokens 2",
        ),
        (la.lightning((2, 2), (1,), residual=True), "lightning, widths 2,2, ranks 1, residual, tokens 2"),
        (la.monomial((2, 3, 3, 1), (2, 2)), "monomial, widths 2,3,3,1, degree 2"),
        (la.monomial((2, 3, 3, 1), (2, 3)), "monomial, widths 2,3,3,1, degree 2,3"),
        (la.deep_linear(3, 2), "monomial, widths 3,2"),
    ],
    ids=str,
)
def test_summaries(network, text):
    assert str(network) == text and repr(network) == f"<Network {text}>"
