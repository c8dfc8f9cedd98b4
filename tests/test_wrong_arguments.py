"""Every public callable with arguments of wrong types: one sentence that says what is accepted."""

from __future__ import annotations

import inspect
from fractions import Fraction

import numpy as np
import pytest
import sympy

import lightningalg as la
from lightningalg.certificates.checker import check_files
from lightningalg.claims.fibre_ideal import fibre_ideal
from lightningalg.claims.invariants import invariants_certificate
from lightningalg.claims.symmetries import symmetry_certificate
from lightningalg.errors import InputError, LightningAlgError
from lightningalg.fibres.points import Architecture, generated_point, virtual_from_tables, weights_from_table
from lightningalg.fibres.recovery import value_at
from lightningalg.fibres.tensors import factor_tensor, tensor_of
from lightningalg.ideals.fibre_ideals import layer_fibre
from lightningalg.invariants.study import invariants
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.network import Node
from lightningalg.networks.spec import network_from_table
from lightningalg.worksheets.model import read_worksheet
from lightningalg.worksheets.runner import run_worksheets

LAYER, LINE = la.lightning((2, 2), (1,)), la.lightning((2, 1), (1,))
CHAIN = la.lightning((2, 2, 2), (1, 1))
PHI, SOFTMAX = LAYER.polynomial_map(), la.AnalyticMap(la.normalized((1, 1), (1,)))
JACOBIAN = PHI.jacobian()
ONES = [1] * 8


def quiet(message):
    """Progress that nobody reads."""


def black_box(X):
    """A function for every shape of inputs."""
    return value_at(([[Fraction(2)]],), [[Fraction(3)]], X[:1])


#: callable and arguments that it accepts; names that start with "_" are given by position
CALLS = {
    "lightning": (la.lightning, {"widths": (2, 2), "ranks": (1,), "tokens": 2,
     "heads": 1, "residual": False}),
    "normalized": (
        la.normalized,
        {"widths": (2, 2), "ranks": (1,), "tokens": 2, "heads": 1, "residual": False},
    ),
    "monomial": (la.monomial, {"widths": (2, 2, 2), "degree": 2}),
    "monomial_with_biases": (la.monomial_with_biases, {"widths": (2, 2, 2), "degree": 2}),
    "convolutional": (
        la.convolutional,
        {"width": 4, "kernels": (2, 2), "degree": 1, "strides": 1, "channels": 1},
    ),
    "multi_head": (
        la.multi_head,
        {"d_in": 2, "d_out": 2, "rank": 1, "heads": 2, "tokens": 2, "value_rank": 1},
    ),
    "multi_head without value_rank": (la.multi_head, {"d_in": 2, "d_out": 2, "rank": 1, "heads": 2}),
    "deep_linear": (la.deep_linear, {"_0": 2, "_1": 2}),
    "tie": (la.tie, {"network": CHAIN, "weights": {"layer2": "layer1"}}),
    "transformer": (la.transformer, {"config": {"dim": 4, "n_heads": 2, "n_layers": 1}, "tokens": 2}),
    "Network": (la.Network, {"_0": [Node("a", ("input",), Linear(2, 2))], "tokens": 1, "width": 2}),
    "Network.from_toml": (la.Network.from_toml, {"text": LAYER.to_toml()}),
    "Network.then": (LAYER.then, {"other": LAYER}),
    "Node": (Node, {"id": "a", "inputs": ("input",), "layer": Linear(2, 2), "weights": None}),
    "Linear": (Linear, {"d_in": 2, "d_out": 2}),
    "network_from_table": (network_from_table, {"table": LAYER.to_json()}),
    "PolynomialMap": (la.PolynomialMap, {"network": LAYER}),
    "map": (PHI, {"theta": ONES, "X": [[1, 2], [3, 4]], "ring": None}),
    "map.derivative": (PHI.derivative, {"theta": ONES, "X": [[1, 2], [3, 4]], "direction": ONES}),
    "map.matrices": (PHI.matrices, {"theta": ONES}),
    "map.expand": (PHI.expand, {"max_terms": 1000}),
    "map.coefficients": (PHI.coefficients, {"max_terms": 1000}),
    "map.jacobian": (PHI.jacobian, {"closed_form": True, "max_terms": 1000}),
    "map.to_sympy": (PHI.to_sympy, {"max_terms": 1000}),
    "map.random_point": (PHI.random_point, {"seed": "0", "bound": 3}),
    "jacobian.at": (JACOBIAN.at, {"point": ONES}),
    "jacobian.rank_at": (JACOBIAN.rank_at, {"point": ONES}),
    "jacobian.rank_mod": (JACOBIAN.rank_mod, {"prime": 7, "point": ONES}),
    "AnalyticMap": (la.AnalyticMap, {"network": LAYER}),
    "analytic map": (SOFTMAX, {"theta": [0.0, 0.0, 1.0], "X": [[2.0, 4.0]]}),
    "formal": (SOFTMAX.formal, {"theta": [1, 1, 1], "X": [[2, 4]], "exponentials": [1, 2, 3]}),
    "dimension": (
        la.dimension,
        {"network": LAYER, "seed": "0", "prime": 8388593, "primes": 1, "engine": "auto",
         "lower_bound": "auto", "max_memory": 4.0, "progress": quiet},
    ),
    "symmetries": (
        la.symmetries,
        {"network": LAYER, "seed": "0", "degree": 2, "max_parameters": 100, "max_unknowns": 1000,
         "engine": "auto", "progress": quiet},
    ),
    "symmetry_certificate": (
        symmetry_certificate,
        {"network": LAYER, "seed": "0", "engine": "auto", "progress": quiet},
    ),
    "fibre": (la.fibre, {"point": LAYER, "seed": "0"}),
    "recover": (
        la.recover,
        {"function": black_box, "layers": 1, "width": 1, "tokens": 2, "widths": (1, 1), "ranks": (1,)},
    ),
    "singular_points": (la.singular_points, {"network": LAYER, "progress": quiet}),
    "boundary": (la.boundary, {"network": LAYER}),
    "closure_degree": (la.closure_degree, {"network": LAYER}),
    "closed_images": (la.closed_images, {"network": LAYER}),
    "tensor_membership": (la.tensor_membership, {"network": LAYER, "tensor": {(0, 0, 1, 0): 1}}),
    "invariants": (
        invariants,
        {"network": LINE, "degree": 2, "seed": "0", "hilbert": 2, "proofs": True, "max_monomials": 10_000,
         "progress": quiet},
    ),
    "invariants_certificate": (invariants_certificate, {"report": invariants(LINE, 2)}),
    "generated_point": (generated_point, {"network": LAYER, "seed": "0"}),
    "virtual_from_tables": (
        virtual_from_tables,
        {"widths": (1, 1), "ranks": None, "tokens": 2, "M": [[[1]]], "L": [[1]]},
    ),
    "weights_from_table": (
        weights_from_table,
        {"network": la.lightning((1, 1), (1,)),
         "table": {"layer1": {"Q": [[1]], "K": [[1]], "V": [[1]]}}},
    ),
    "tensor_of": (tensor_of, {"A": [[1]], "V": [[1]]}),
    "factor_tensor": (
        factor_tensor,
        {"tensor": tensor_of([[1]], [[1]]), "architecture": Architecture((1, 1), (1,), 2)},
    ),
    "layer_fibre": (layer_fibre, {"A": [[1, 2], [3, 6]], "V": [[1, 3], [2, 6]]}),
    "fibre_ideal": (fibre_ideal, {"fibre": layer_fibre([[1, 2], [3, 6]], [[1, 3], [2, 6]])}),
    "read_worksheet": (read_worksheet, {"path": "absent.toml"}),
    "run_worksheets": (run_worksheets, {"worksheets": [], "out": "", "jobs": 1, "lang": "en"}),
    "check_files": (check_files, {"files": []}),
}  # fmt: skip

X = sympy.Symbol("x")


class Unprintable:
    """What no error message can quote."""

    def __repr__(self):
        raise RuntimeError("no text")


#: values of every sort; each argument accepts some of them and must refuse the others in words
VALUES = {
    "None": None, "text": "x", "empty text": "", "bytes": b"x", "float": 3.5, "nan": float("nan"),
    "inf": float("inf"), "complex": 1j, "true": True, "minus one": -1, "zero": 0, "long": 10**5000,
    "fraction": Fraction(1, 2), "empty list": [], "list of None": [None], "list of texts": ["x"],
    "ragged": [[1, 2], [3]], "mixed": [[1, "x"], [X, 1]], "nested": [[[[1]]]], "empty mapping": {},
    "mapping": {"x": None}, "set": {1}, "object": object(), "class": list, "symbol": X,
    "numpy integer": np.int64(2), "numpy float": np.float64(2.5), "numpy bool": np.bool_(True),
    "numpy array": np.array([2, 2]), "numpy scalar array": np.array(3), "numpy floats": np.ones((2, 2)),
    "network": LAYER, "numpy texts": np.array(["x", "y"]),
}  # fmt: skip


def called(function, arguments):
    """Call with keywords, those that start with "_" by position."""
    positional = [value for name, value in arguments.items() if name.startswith("_")]
    named = {name: value for name, value in arguments.items() if not name.startswith("_")}
    return function(*positional, **named)


@pytest.mark.parametrize("name", CALLS)
def test_wrong_types_are_refused_in_one_sentence(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, accepted = CALLS[name]
    refused = dict.fromkeys(accepted, 0)
    for argument in accepted:
        for value in (*VALUES.values(), Unprintable(), (n for n in (2, 2))):
            try:
                called(function, {**accepted, argument: value})
            except LightningAlgError as error:
                message = str(error)
                assert message and "\n" not in message and len(message) < 500, (argument, message)
                refused[argument] += 1
    assert min(refused.values()) >= 5, refused


def test_good_arguments_are_accepted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, (function, accepted) in CALLS.items():
        if name == "read_worksheet":
            with pytest.raises(InputError, match="No such file"):
                called(function, accepted)
        else:
            called(function, accepted)


def test_every_public_callable_is_tried():
    """Functions, and classes that users make: those with results are made by functions."""
    results = {"Dimension", "Fibre", "Recovery"}
    tried = {function for function, _ in CALLS.values()}
    for name in la.__all__:
        item = getattr(la, name)
        is_error = inspect.isclass(item) and issubclass(item, Exception)
        assert item in tried or is_error or name in results, name


def test_every_parameter_is_tried():
    for name, (function, accepted) in CALLS.items():
        parameters = inspect.signature(function).parameters.values()
        wanted = {p.name for p in parameters if p.kind is not p.VAR_POSITIONAL}
        given = {key for key in accepted if not key.startswith("_")}
        optional = {"choose", "engine", "seed", "timeout", "claims", "force", "progress", "tokens", "nodes"}
        assert wanted - given <= optional | {"value_rank"}, (name, wanted - given)


WORDS = [
    (la.dimension, ("x",), "got str; accepted: a Network"),
    (la.AnalyticMap, (None,), "got NoneType; accepted: a Network"),
    (la.lightning, ((2, 2.5), (1,)), "widths entry 2 is 2.5: accepted are integers from 1 to 1000000"),
    (la.lightning, ({2, 3}, (1,)), "widths is {2, 3}, a set: accepted are lists of positive integers"),
    (PHI, (ONES, [[1, 2], [3]]), "X has rows of 1 and 2 entries: accepted are rows of one length"),
    (PHI, (8, [[1, 2], [3, 4]]), "theta is 8, an int: accepted are lists of numbers"),
    # Python multiplies texts by integers, and sympy refuses them
    (PHI, ([X] * 8, [["1/2", X], [X, X]]), "values of types Symbol, str do not compute"),
    (PHI, ([None] * 8, [[1, 2], [3, 4]]), "values of types NoneType, int do not compute"),
]


@pytest.mark.parametrize("function, arguments, words", WORDS, ids=[words[:30] for _, _, words in WORDS])
def test_messages_say_what_is_accepted(function, arguments, words):
    with pytest.raises(InputError) as caught:
        function(*arguments)
    assert words in str(caught.value)


def test_numpy_integers_are_integers():
    two, one = np.int32(2), np.uint8(1)
    assert la.lightning(np.array([2, 2]), [one], tokens=two, heads=one) == LAYER
    assert la.lightning((2, 2), (1,), residual=np.bool_(False), heads=np.array([1])) == LAYER
    assert la.multi_head(two, two, one, two) == la.multi_head(2, 2, 1, 2)
    assert la.monomial(np.array([2, 2, 2]), np.int64(3)) == la.monomial((2, 2, 2), 3)
    assert la.deep_linear(two, one) == la.deep_linear(2, 1)
    assert la.convolutional(np.int64(4), np.array([2, 2])) == la.convolutional(4, (2, 2))
    assert Linear(two, one) == Linear(2, 1) and type(Linear(two, one).d_in) is int
    seven = la.dimension(LAYER, seed=np.int64(7), primes=one)
    assert seven.certificate == la.dimension(LAYER, seed="7").certificate
    value = PHI(np.ones(8, dtype=np.int64), np.array([[1, 2], [3, 4]]))
    assert value == PHI([1] * 8, [[1, 2], [3, 4]])
    assert JACOBIAN.rank_at(np.arange(1, 9)) == JACOBIAN.rank_at(list(range(1, 9)))
    found = la.recover(black_box, layers=one, width=one, tokens=two, widths=np.array([1, 1]), ranks=[one])
    assert found.determined and type(found.certificate.subject["recovery"]["layers"]) is int
    found.certificate.to_text()
    report = invariants(LINE, two, hilbert=two)
    assert report.counts == [0, 3]
    answer, certificate = la.tensor_membership(LAYER, {(np.int64(0), 0, 1, 0): np.int64(1)})
    assert answer.relation == "in the neuromanifold" and certificate.to_text()


def test_what_is_almost_a_number_is_refused():
    for value in (True, np.bool_(True), 2.0, np.float64(2), "2", Fraction(2), None):
        with pytest.raises(InputError, match="integers from 1"):
            la.lightning((2, value), (1,))
    for value in (0.5, np.float64(0.5), float("nan"), True, 1j, None, "0.5"):
        with pytest.raises(InputError, match=r"rational|accepted"):
            PHI([value, *ONES[1:]], [[1, 2], [3, 4]])
        with pytest.raises(InputError, match=r"rational|accepted"):
            la.tensor_membership(LAYER, {(0, 0, 0, 0): value})


@pytest.mark.parametrize(
    "key", [(0, 1, 0, 0), (2, 0, 0, 0), (0, 0, 2, 0), (0, 0, 0, -1), (0, 0, 0), "abcd", 5]
)
def test_indices_of_another_layer_are_refused(key):
    with pytest.raises(InputError, match="index"):
        la.tensor_membership(LAYER, {key: 1})
