"""The verifier and the producer on random networks of all layer types agree on every value and bound."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings

import lightningalg as la
from lightningalg import verifier
from lightningalg.claims.degrees import degrees
from lightningalg.claims.dimension_bound import dimension_at_most
from lightningalg.errors import LightningAlgError
from lightningalg.networks.spec import network_from_table
from lightningalg.rank.upper_bounds import upper_bounds
from tests import reference
from tests.strategies import dag_tables

from . import examples as ex

EXAMPLES = settings(deadline=None, max_examples=60)
tables = dag_tables(max_layers=7, max_size=4)


def verdict_of(certificate):
    return verifier.check(json.loads(json.dumps(certificate.to_json())))


@EXAMPLES
@given(tables)
def test_certificates_of_any_network_are_valid(table):
    network = network_from_table(table)
    result = la.dimension(network)
    verdict = verdict_of(result.certificate)
    assert verdict.verdict == "valid", verdict
    try:
        certificate = degrees(network)
    except LightningAlgError:
        assert any(layer["type"] in ("bias", "sum") for layer in table["layers"])
    else:
        assert verdict_of(certificate).verdict == "valid"


@EXAMPLES
@given(tables)
def test_every_upper_bound_is_recomputed(table):
    network = network_from_table(table)
    certificate = dimension_at_most(network).to_json()
    for bound in upper_bounds(network):
        other = copy.deepcopy(certificate)
        other["claim"]["value"] = bound.value
        other["witness"]["upper_bound"] = bound.to_json()
        verdict = verifier.check(ex.seal(other))
        assert verdict.verdict == "valid", (bound, verdict)
    applying = {bound.method for bound in upper_bounds(network)}
    for method in set(verifier.METHODS) - applying:
        with pytest.raises((verifier.InvalidError, verifier.UnsupportedError)):
            verifier.METHODS[method](verifier.parse_network(network.to_json()))


@EXAMPLES
@given(tables)
def test_both_evaluators_give_the_rows_of_the_format(table):
    prime, samples = 2147483629, [0, 3]
    network = verifier.parse_network(table)
    n = network.parameters()
    assert n == reference.parameter_count(table)
    sampling = verifier.Sampling(network, prime, "s")
    plain = verifier.plain_minor(sampling, samples, list(range(n)), verifier.silent)
    batch = verifier.batch_minor(np, sampling, samples, list(range(n)), verifier.silent)
    assert batch.astype(np.int64).tolist() == plain
    small = verifier.Sampling(network, 8388593, "s")
    expected = [reference.jacobian_row(table, 8388593, "s", j) for j in samples]
    assert verifier.plain_minor(small, samples, list(range(n)), verifier.silent) == expected


# -- descriptions that are no networks ---------------------------------------------------


def convolution(**sizes):
    return ex.convolution("c", "input", 4, 2) | sizes


A = ex.linear("a", "input", 2, 2)
REFUSED = [
    (ex.network(1, 4, convolution(kernel=5)), "kernel 5"),
    (ex.network(1, 3, convolution()), "needs width 4"),
    (ex.network(1, 4, convolution(stride=0)), "stride"),
    (ex.network(1, 4, convolution(channels=10**6)), "width 3000000"),
    (ex.network(1, 4, {k: v for k, v in convolution().items() if k != "channels"}), "channels"),
    (ex.network(1, 4, convolution(d_out=3)), "d_out"),
    (ex.network(1, 2, ex.bias("b", "input", 3)), "needs width 3"),
    (ex.network(1, 2, A, ex.tied(ex.linear("b", "a", 2, 2), "b")), "is not an earlier layer"),
    (ex.network(1, 2, A, ex.tied(ex.linear("b", "a", 2, 2), "input")), "is not an earlier layer"),
    (ex.network(1, 2, A, ex.tied(ex.linear("b", "a", 2, 2), ["a"])), "is not an earlier layer"),
    (ex.network(1, 2, ex.tied(A, "b"), ex.linear("b", "a", 2, 2)), "is not an earlier layer"),
    (ex.network(1, 2, A, ex.tied(ex.linear("b", "a", 2, 3), "a")), "differ in type or sizes"),
    (ex.network(1, 2, A, ex.tied(ex.bias("b", "a", 2), "a")), "differ in type or sizes"),
    (
        ex.network(1, 4, convolution(channels=2, stride=2), ex.tied(ex.convolution("d", "c", 4, 2), "c")),
        "differ in type or sizes",
    ),
    (
        ex.network(1, 2, A, ex.tied(ex.linear("b", "a", 2, 2), "a"), ex.tied(ex.linear("c", "b", 2, 2), "b")),
        "none of its own",
    ),
    (ex.network(1, 2, A, ex.tied(ex.activation("s", "a", 2), "a")), "unknown key"),
    (ex.network(1, 2, A, ex.tied(ex.add("s", "a", "a"), "a")), "unknown key"),
]


@pytest.mark.parametrize(("network", "why"), REFUSED)
def test_what_is_no_network(network, why):
    with pytest.raises(verifier.InvalidError) as caught:
        verifier.parse_network(network)
    assert caught.value.check == "network" and why in caught.value.found
    with pytest.raises(LightningAlgError):
        network_from_table(network)


# -- what a tied or shifted network must not be taken for ----------------------------------


def at_most(network, bound):
    claim = {"quantity": "dimension", "relation": "at most", "value": bound["value"]}
    witness = {"lower_bound": None, "upper_bound": bound}
    return verifier.check(ex.certificate("dimension", network, claim, witness))


def test_methods_that_would_count_too_little():
    tied = ex.network(2, 2, *(ex.chain((2, 2, 2), (1, 1))["layers"]))
    tied["layers"][1]["weights"] = "layer-1"
    assert "not a chain" in at_most(tied, ex.flag(ex.chain((2, 2, 2), (1, 1)))).reason

    # a head and its output matrix, the latter used again: not one block
    shared = ex.network(
        2, 2, ex.attention("a", "input", 2, 1, 2), ex.linear("o", "a", 1, 2), ex.linear("w", "o", 2, 1),
        ex.tied(ex.linear("u", "w", 1, 2), "o"),
    )  # fmt: skip
    assert at_most(shared, ex.layerwise(("a", "o", 6), ("w", 2))).check == "upper bound"
    assert at_most(shared, ex.layerwise(("a", 5), ("o", 2), ("w", 2))).verdict == "valid"

    # rescaling W before the activation also rescales it where it is used again
    rescaled = ex.network(
        1, 2,
        ex.linear("w", "input", 2, 2), ex.activation("s", "w", 2), ex.tied(ex.linear("u", "s", 2, 2), "w"),
    )  # fmt: skip
    assert "no layer is free" in at_most(rescaled, ex.torus(rescaled, ("s", 2))).reason

    # a bias before attention makes quadratic terms
    before = ex.network(2, 2, ex.bias("b", "input", 2), ex.attention("a", "b", 2, 2, 2))
    assert "with a bias before it" in at_most(before, ex.coefficients((0, 2), (1, 4), (3, 12))).reason
    after = ex.network(2, 2, ex.attention("a", "input", 2, 2, 2), ex.bias("b", "a", 2))
    assert at_most(after, ex.coefficients((0, 2), (3, 12))).verdict == "valid"

    # a convolution that slides over two channels does not rescale them apart
    sliding = ex.network(
        1, 4,
        ex.convolution("w", "input", 4, 2, 1, 2), ex.activation("s", "w", 2), ex.convolution("u", "s", 6, 2),
    )  # fmt: skip
    assert at_most(sliding, ex.torus(sliding, ("s", 2))).check == "upper bound"
    assert at_most(sliding, ex.torus(sliding, ("s", 1))).verdict == "valid"
    assert ex.lower_bound(sliding)["value"] == ex.torus(sliding, ("s", 1))["value"]


def test_degrees_of_a_network_with_a_bias_are_refused():
    net = ex.network(1, 1, ex.bias("b", "input", 1))
    claim = {"quantity": "degrees", "input": 1, "parameters": [{"layer": "b", "parameter": "b", "degree": 1}]}
    witness = {"layers": [{"layer": "b", "input": 1, "parameters": [1]}]}
    verdict = verifier.check(ex.certificate("degrees", net, claim, witness))
    assert verdict.check == "degrees" and "not homogeneous" in verdict.reason
