"""Fibres of one normalised layer: weights recovered from values, certificates accepted and rejected."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightningalg as la
import lightningalg.verifier as verifier
from lightningalg.certificates.records import sha256_of
from lightningalg.claims import claim_kinds
from lightningalg.claims.normalized_fibre import normalized_fibre, normalized_fibre_at
from lightningalg.errors import InputError
from lightningalg.render.latex import render_proof

SCHEMA = json.loads(
    (Path(la.__file__).parent / "certificates/schemas/certificate-v1.schema.json").read_text("utf-8")
)
NET = la.normalized((3, 2), (2,), tokens=3)
POINT = [1, 2, 3, -4, 5, "1/2", 7, 1, 0, 2, 0, 1, 0, 0, 5, 0, 0, "-3/7"]  # V e_1 = V e_2 = 0


def layer(A, V, X):
    """V X softmax(X^T A X) in floating point, from its definition."""
    scores = X.T @ A @ X
    powers = np.exp(scores - scores.max(axis=0))
    return V @ X @ (powers / powers.sum(axis=0))


@given(st.integers(1, 3), st.integers(1, 2), st.integers(2, 3), st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_the_inputs_of_the_certificate_determine_the_weights(d, d_out, t, seed):
    """A and V recovered from the values at the 2 d^2 inputs, V possibly with zero columns."""
    rng = np.random.default_rng(seed)
    A, V = rng.uniform(-0.4, 0.4, (d, d)), rng.integers(-2, 3, (d_out, d)) * 1.0
    if not V.any():
        V[0, 0] = 1.0
    certificate = normalized_fibre(la.normalized((d, d_out), (d,), tokens=t)).to_json()
    nodes = [float(s) for s in certificate["witness"]["nodes"]]
    tokens = np.array(certificate["witness"]["tokens"], dtype=float)
    count = 0
    columns = []
    for i in range(d):
        columns.append(layer(A, V, np.tile(np.eye(d)[:, i : i + 1], t))[:, 0])
        count += 1
    found_v = np.array(columns).T
    assert np.allclose(found_v, V)
    rows, values = [], []
    for s in nodes:
        w = s ** np.arange(d)
        for y in tokens:
            X = np.column_stack([y + w] + [y] * (t - 1))
            output = layer(A, V, X)[:, 1]
            count += 1
            moved = found_v @ w
            if np.abs(moved).max() > 1e-9:
                k = np.abs(moved).argmax()
                weight = (output - found_v @ y)[k] / moved[k]
                rows.append(np.outer(w, y).ravel())
                values.append(np.log(weight * (t - 1) / (1 - weight)))
    assert count == certificate["claim"]["inputs"] == 2 * d * d
    assert np.linalg.matrix_rank(np.array(rows)) == d * d
    recovered = np.linalg.lstsq(np.array(rows), np.array(values), rcond=None)[0].reshape(d, d)
    assert np.allclose(recovered, A, atol=1e-5)


@pytest.mark.parametrize(
    "d, d_out, a, t", [(1, 1, 1, 2), (2, 1, 1, 2), (3, 2, 2, 3), (4, 4, 7, 2), (20, 3, 5, 2)]
)
def test_certificates_of_all_sizes(d, d_out, a, t):
    network = la.normalized((d, d_out), (a,), tokens=t)
    found = normalized_fibre(network).to_json()
    jsonschema.validate(found, SCHEMA)
    assert verifier.check(found).verdict == "valid"
    kind = claim_kinds()["normalized-identifiability"]
    known = kind.quantities(found)
    low = min(a, d)
    assert known["dimension"] == 2 * low * d - low**2 + d * d_out
    assert known["fibre_dimension"] == network.parameter_count - known["dimension"]
    assert a > d or known["fibre_dimension"] == a * a


@pytest.mark.parametrize("d, d_out, a, t", [(2, 1, 1, 2), (3, 2, 2, 3), (2, 2, 3, 2)])
def test_the_dimension_is_that_of_the_two_sided_bounds(d, d_out, a, t):
    network = la.normalized((d, d_out), (a,), tokens=t)
    assert normalized_fibre(network).claim["dimension"] == la.dimension(network, lower_bound="ball").value


def test_certificates_at_points():
    found = normalized_fibre_at(NET, POINT).to_json()
    jsonschema.validate(found, SCHEMA)
    assert found["claim"] == {
        "quantity": "fibre",
        "scope": "point",
        "fibre": "point",
        "rank": 2,
        "orbit": True,
    }
    assert verifier.check(found).verdict == "valid"
    for x, y in found["witness"]["pairs"]:
        assert x[2] != y[2]  # V sees the third coordinate only
    zero = normalized_fibre_at(NET, [*POINT[:12], 0, 0, 0, 0, 0, 0]).to_json()
    jsonschema.validate(zero, SCHEMA)
    assert (zero["claim"]["fibre"], zero["claim"]["orbit"]) == ("all attention matrices", False)
    assert verifier.check(zero).verdict == "valid"
    low = normalized_fibre_at(NET, [1, 2, 3, 2, 4, 6, *POINT[6:]]).to_json()
    assert (low["claim"]["rank"], low["claim"]["orbit"]) == (1, False)
    assert verifier.check(low).verdict == "valid"


def sealed(found):
    rest = {key: value for key, value in found.items() if key != "sha256"}
    return {**rest, "sha256": sha256_of(rest)}


ALL = [
    (("claim", "dimension"), 13, "claim"),
    (("claim", "inputs"), 17, "claim"),
    (("claim", "scope"), "some", "claim"),
    (("claim", "quantity"), "fibres", "claim"),
    (("witness", "nodes"), [-2, -1, 0, 1], "basis"),
    (("witness", "nodes"), [-2, -1, 0, 1, 1], "basis"),
    (("witness", "nodes"), [-2, -1, 0, 1, 0.5], "json"),
    (("witness", "tokens"), [[1, 0, 0], [0, 1, 0], [1, 1, 0]], "determinant"),
    (("witness", "tokens"), [[1, 0], [0, 1]], "basis"),
    (("witness", "determinant"), 2, "determinant"),
    (("witness", "determinant"), 0, "determinant"),
    (("network", "tokens"), 1, "network"),
    (("network", "layers", 0, "type"), "lightning_attention", "network"),
    (("strength",), "ball", "strength"),
]
AT = [
    (("claim", "fibre"), "all attention matrices", "claim"),
    (("claim", "rank"), 1, "claim"),
    (("claim", "orbit"), False, "claim"),
    (("claim", "orbit"), 1, "claim"),
    (("witness", "parameters", 14), 0, None),
    (("witness", "parameters"), [0] * 18, "claim"),
    (("witness", "parameters"), [1] * 17, "parameters"),
    (("witness", "pairs", 0), [[1, 0, 0], [0, 0, 0]], "basis"),  # V (x - y) = 0
    (("witness", "pairs", 0), [[0, 1, 1], [0, 1, 0]], "determinant"),  # twice the same vector
    (("witness", "pairs", 0), [[0, 1, 1]], "basis"),
    (("witness", "pairs"), [], "basis"),
    (("witness", "pairs"), None, "basis"),
    (("witness", "determinant"), -1, "determinant"),
    (("witness", "determinant"), None, "determinant"),
]


@pytest.mark.parametrize("which, path, value, check", [("all", *m) for m in ALL] + [("at", *m) for m in AT])
def test_altered_certificates_are_rejected(which, path, value, check):
    original = (normalized_fibre(NET) if which == "all" else normalized_fibre_at(NET, POINT)).to_json()
    found = copy.deepcopy(original)
    place = found
    for key in path[:-1]:
        place = place[key]
    assert place[path[-1]] is not value
    place[path[-1]] = value
    if check == "json":
        verdict = verifier.check({**found, "sha256": original["sha256"]})
    else:
        verdict = verifier.check(sealed(found))
    if check is None:  # V = ((0, 0, 0), (0, 0, -3/7)) is still not zero: a different true statement
        assert verdict.verdict == "valid"
    else:
        assert (verdict.verdict, verdict.check) == ("invalid", check), verdict


def test_determinants_of_the_checker_against_fractions():
    rng = np.random.default_rng(0)
    for size in (1, 2, 3, 5):
        matrix = [[Fraction(int(x), 7) for x in row] for row in rng.integers(-5, 6, (size, size))]
        exact = verifier.rational_determinant(matrix, verifier.Work("test"))
        assert abs(float(exact) - np.linalg.det(np.array(matrix, dtype=float))) < 1e-9
    swap = [[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]]
    assert verifier.rational_determinant(swap, verifier.Work("test")) == -1
    assert verifier.rational_determinant([[Fraction(1), Fraction(2)]] * 2, verifier.Work("test")) == 0


def test_large_widths_are_unsupported_quickly():
    network = la.normalized((400, 1), (1,))
    found = normalized_fibre(network).to_json()
    verdict = verifier.check(found)
    assert verdict.verdict == "unsupported"
    assert verdict.seconds < 5


def test_refusals():
    with pytest.raises(InputError, match="one token f = V X, whatever Q"):
        normalized_fibre(la.normalized((2, 2), (1,), tokens=1))
    with pytest.raises(InputError, match="a single head of normalised attention"):
        normalized_fibre(la.lightning((2, 2), (1,)))
    with pytest.raises(InputError, match="a single head"):
        normalized_fibre(la.normalized((2, 2, 2), (1, 1)))
    with pytest.raises(InputError, match="17 values for 18 parameters"):
        normalized_fibre_at(NET, POINT[:17])
    with pytest.raises(InputError, match="accepted are integers"):
        normalized_fibre_at(NET, [0.5, *POINT[1:]])


def test_the_proof_states_hypotheses_and_numbers():
    text = render_proof([normalized_fibre(NET).to_json(), normalized_fibre_at(NET, POINT).to_json()])
    assert r"Let $t\ge 2$" in text
    assert r"$18$ inputs" in text
    assert r"d=3,\ d'=2,\ a=2,\ t=3" in text
    assert r"the orbit of $\mathrm{GL}_{2}(\RR)$" in text
    assert r"-\tfrac{3}{7}" in text or "-3/7" in text
