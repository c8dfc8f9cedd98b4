"""Normalised attention determines its virtual weights: certificates, alterations, the steps of the proof."""

from __future__ import annotations

import json
from pathlib import Path

import flint
import jsonschema
import pytest

import lightningalg as la
from lightningalg import verifier
from lightningalg.claims.identifiability import identifiability
from lightningalg.errors import UnsupportedError
from lightningalg.networks.matrix import Matrix
from lightningalg.render.latex import render_proof
from tests.certificates import examples as ex
from tests.certificates.test_verifier_mutation import at, places, put, reseal, variants

SCHEMA = Path(verifier.__file__).parent / "certificates/schemas/certificate-v1.schema.json"
NETWORKS = [
    la.normalized((2, 1), (1,)),
    la.normalized((1, 1, 1), (1, 2), tokens=3),
    la.normalized((2, 2, 2), (1, 2)),
    la.normalized((4, 2, 3, 4), (2, 5, 1), tokens=4),
]


def certificate(network, seed="0"):
    return json.loads(json.dumps(identifiability(network, seed).to_json()))


@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_certificates_are_valid_and_print(network):
    found = certificate(network)
    verdict = verifier.check(found)
    assert verdict.verdict == "valid" and "one point" in verdict.claim
    jsonschema.validate(found, json.loads(SCHEMA.read_text()))
    text = render_proof([found])
    assert r"\label{thm:identifiability}" in text and "single points" in text


@pytest.mark.parametrize("network", [
    la.lightning((2, 2), (1,)), la.normalized((2, 2), (1,), tokens=1), la.normalized((2, 2), (1,), heads=2),
    la.tie(la.normalized((2, 2, 2), (1, 1)), {"layer2": "layer1"}),
], ids=str)  # fmt: skip
def test_other_networks_are_refused(network):
    with pytest.raises(UnsupportedError, match="chains of normalised attention"):
        identifiability(network)
    forged = certificate(NETWORKS[2])
    forged["network"] = network.to_json()
    assert verifier.check(ex.seal(forged)).check in ("network", "parameters")


def test_every_altered_field_is_noticed():
    """With a new hash, only what states other true entries, or other ids and tokens, stays valid."""
    original = certificate(NETWORKS[2])
    for path in places(original):
        for other in variants(at(original, path)):
            altered = put(original, path, other)
            assert verifier.check(altered).verdict != "valid", path
            verdict = verifier.check(reseal(altered, path))
            assert verdict.reason is None or "internal" not in verdict.reason, (path, verdict)
            if verdict.verdict == "valid":
                assert path[0] in ("provenance", "network", "witness"), path
                assert path[:2] != ("witness", "value") or len(path) == 3, path
                if (
                    path[0] == "network"
                ):  # the id of the output; more tokens; ranks above the width do not fit
                    assert path[-1] in ("id", "tokens"), path
                if path[:2] == ("witness", "symmetric"):
                    assert path[-1] in (0, 1), path


def test_zero_entries_and_zero_weights_prove_nothing():
    forged = certificate(NETWORKS[2])
    forged["witness"]["parameters"] = [0] * len(forged["witness"]["parameters"])
    assert verifier.check(ex.seal(forged)).check == "symmetric"
    huge = certificate(NETWORKS[0])
    huge["network"]["tokens"] = 10**6  # nothing of that size is computed
    assert verifier.check(ex.seal(huge)).verdict == "valid"


def matrices(network, theta):
    return {(b.node, b.name): Matrix.from_flat(theta[b.offset : b.offset + b.size], b.shape)
            for b in network.parameter_blocks}  # fmt: skip


@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_the_second_derivative_at_equal_tokens_shows_the_first_layer(network):
    """Step 2 of the proof: ``(t-1)/t^2 (L eps)(eps^T M_1 v)``, by differences at 400 bits."""
    flint.ctx.prec, before = 400, flint.ctx.prec
    try:
        d, t = network.width, network.tokens
        theta = [flint.arb((7 * k) % 11 - 5) / 7 for k in range(network.parameter_count)]
        v, eps = ([flint.arb(3 * k + 1) / 5 for k in range(d)], [flint.arb(2 - k) / 3 for k in range(d)])
        step = flint.arb(2) ** -60

        def first_column(scale):
            X = [[v[i] + scale * eps[i], *[v[i]] * (t - 1)] for i in range(d)]
            return [row[0] for row in la.AnalyticMap(network)(theta, X).rows]

        columns = [first_column(step), first_column(-step), first_column(flint.arb(0))]
        second = [(a + b - 2 * c) / (2 * step * step) for a, b, c in zip(*columns, strict=True)]
        weights = matrices(network, theta)
        first = network.nodes[0].id
        bilinear = (weights[first, "K"] @ Matrix([[x] for x in eps])).T @ (
            weights[first, "Q"] @ Matrix([[x] for x in v])
        )
        value = Matrix([[x] for x in eps])
        for node in network.nodes:
            value = weights[node.id, "V"] @ value
        factor = flint.arb(t - 1) / (t * t) * bilinear.rows[0][0]
        for found, (expected,) in zip(second, value.rows, strict=True):
            assert abs(float((found - factor * expected).mid())) < 1e-25
    finally:
        flint.ctx.prec = before


def derivatives(network, prime, seed):
    """Rows of the Jacobian of theta -> (M_1, ..., M_l, L) modulo a prime, by dual numbers."""
    from lightningalg.certificates.sampling import stream_values
    from lightningalg.engines.flint_rings import PrimeField
    from lightningalg.maps.dual import Dual

    convert, n = PrimeField(prime).convert, network.parameter_count
    theta = stream_values(seed, "weights", n, prime)
    for c in range(n):
        weights = matrices(network, [Dual(convert(x), convert(int(k == c))) for k, x in enumerate(theta)])
        U = Matrix([[Dual(convert(int(i == j)), convert(0)) for j in range(network.width)]
                    for i in range(network.width)])  # fmt: skip
        found = []
        for node in network.nodes:
            Q, K, V = (weights[node.id, name] for name in "QKV")
            found.append((K @ U).T @ (Q @ U))
            U = V @ U
        yield [int(entry.tangent) for M in (*found, U) for row in M.rows for entry in row]


@pytest.mark.parametrize(("widths", "ranks"), [
    ((2, 1), (1,)), ((3, 3, 3), (1, 3)), ((2, 2, 2), (1, 2)), ((1, 2, 2), (2, 1)), ((3, 1, 3), (2, 2)),
    ((4, 2, 4), (1, 1)), ((3, 4, 2), (1, 2)), ((2, 3, 1, 2), (1, 1, 2)), ((4, 4, 4, 4), (2, 2, 2)),
])  # fmt: skip
def test_the_dimension_is_that_of_the_virtual_weights(widths, ranks):
    """The corollary: no exponentials, just the rank of a polynomial map."""
    network = la.normalized(widths, ranks)
    rank = flint.nmod_mat(list(derivatives(network, 8388593, "0")), 8388593).rank()
    assert rank == la.dimension(network).value
