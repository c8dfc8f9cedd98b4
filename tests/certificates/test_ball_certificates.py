"""The checker on lower bounds by balls: accepted, altered, forged, without any library."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import jsonschema
import mpmath
import pytest

import lightningalg as la
import lightningalg.verifier as verifier
from lightningalg.certificates.records import sha256_of
from lightningalg.certificates.sampling import expand_runs
from lightningalg.maps.real_jacobian import dyadic_point

SCHEMA = json.loads(
    (Path(la.__file__).parent / "certificates/schemas/certificate-v1.schema.json").read_text("utf-8")
)
NETWORKS = [
    la.lightning((3, 2, 3), (2, 1)),
    la.lightning((2, 2, 2), (1, 2), tokens=3, heads=2, residual=True),
    la.lightning((2,) * 6, (1,) * 5),
    la.monomial((2, 3, 3), 2),
    la.monomial_with_biases((2, 3, 2), 2),
    la.convolutional(6, [2, 3], degree=2, strides=[2, 1], channels=[2, 1]),
    la.tie(la.lightning((2, 2, 2), (2, 2)), {"layer2": "layer1"}),
    la.normalized((3, 3, 3), (1, 3)),
    la.normalized((2, 3, 2), (2, 2), tokens=3),
    la.normalized((2, 2, 2), (1, 1), heads=2, residual=True),
    la.normalized((2, 3), (2,), tokens=1),
]


def certificate(network: la.Network, at_least: bool = True) -> dict:
    found = la.dimension(network, lower_bound="ball").certificate.to_json()
    if at_least:
        lower = found["witness"]["lower_bound"]
        found["claim"] = {"quantity": "dimension", "relation": "at least", "value": lower["value"]}
        found["witness"]["upper_bound"] = None
    return sealed(found)


def sealed(found: dict) -> dict:
    rest = {key: value for key, value in found.items() if key != "sha256"}
    return {**rest, "sha256": sha256_of(rest)}


@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_the_checker_accepts_and_the_schema_knows_them(network):
    found = certificate(network, at_least=False)
    verdict = verifier.check(found)
    assert verdict.verdict == "valid", verdict
    assert "(ball)" in verdict.claim
    jsonschema.validate(found, SCHEMA)


def test_with_nothing_but_the_standard_library(tmp_path):
    path = tmp_path / "cert.json"
    path.write_text(json.dumps(certificate(la.normalized((3, 3, 3), (1, 3)))))
    program = [sys.executable, "-I", "-S", verifier.__file__, str(path)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout


def test_both_ways_of_inverting_agree(monkeypatch):
    found = certificate(la.normalized((4, 4, 4), (2, 2)))
    assert found["claim"]["value"] > 30  # numpy is used
    assert verifier.check(found).verdict == "valid"
    monkeypatch.setattr(verifier, "optional", lambda name: None)
    assert verifier.check(found).verdict == "valid"
    # an inverse of no use is not believed
    monkeypatch.undo()
    size = found["claim"]["value"]
    monkeypatch.setattr(verifier, "float_inverse", lambda *_: [[0] * size for _ in range(size)])
    assert verifier.check(found).verdict == "valid"
    monkeypatch.setattr(verifier, "fixed_inverse", lambda *_: [[0] * size for _ in range(size)])
    assert verifier.check(found).check == "minor"


MUTATIONS = [
    (("strength",), "exact", "strength"),
    (("strength",), "numerical", "strength"),
    (("claim", "value"), 12, "claim"),
    (("witness", "lower_bound", "value"), 12, "rows"),
    (("witness", "lower_bound", "method"), "balls", None),
    (("witness", "lower_bound", "method"), 1, "lower bound"),
    (("witness", "lower_bound", "sampling", "rule"), "sha256-counter", None),
    (("witness", "lower_bound", "sampling", "rule"), "explicit", None),
    (("witness", "lower_bound", "sampling", "seed"), "", "sampling"),
    (("witness", "lower_bound", "rows"), [[0, 9]], "rows"),
    (("witness", "lower_bound", "rows"), [[0, 5], [6, 10]], "rows"),
    (("witness", "lower_bound", "columns"), [[0, 21]], "columns"),
    (("witness", "lower_bound", "bits"), 0, "lower bound"),
    (("witness", "lower_bound", "bits"), 5000, "lower bound"),
    (("witness", "lower_bound", "bits"), "53", "lower bound"),
]


@pytest.mark.parametrize("path, value, check", MUTATIONS, ids=[f"{m[0][-1]}-{m[1]}" for m in MUTATIONS])
def test_altered_certificates_are_rejected(path, value, check):
    found = copy.deepcopy(certificate(la.normalized((2, 2, 2), (1, 2))))
    place = found
    for key in path[:-1]:
        place = place[key]
    assert place[path[-1]] != value
    place[path[-1]] = value
    verdict = verifier.check(sealed(found))
    assert (verdict.verdict, verdict.check) == ("unsupported" if check is None else "invalid", check), verdict
    original = certificate(la.normalized((2, 2, 2), (1, 2)))["sha256"]
    assert verifier.check({**found, "sha256": original}).check == "sha256"


def test_missing_and_unknown_keys():
    for change in ("bits", "sampling", "rows"):
        found = certificate(la.normalized((2, 2), (1,)))
        del found["witness"]["lower_bound"][change]
        assert verifier.check(sealed(found)).verdict == "invalid"
    found = certificate(la.normalized((2, 2), (1,)))
    found["witness"]["lower_bound"]["determinant"] = 1
    assert verifier.check(sealed(found)).check == "lower bound"


@pytest.mark.parametrize(
    "network, above", [(la.lightning((2, 2), (1,)), 7), (la.normalized((2, 2), (1,)), 8)]
)
def test_a_singular_minor_is_never_accepted(network, above):
    """One row and one column more than the rank: the minor is singular whatever they are."""
    found = certificate(network)
    value = found["claim"]["value"]
    assert value == above - 1
    lower = found["witness"]["lower_bound"]
    lower["value"] = found["claim"]["value"] = above
    columns = set(expand_runs(lower["columns"]))
    spare = next(c for c in range(network.parameter_count) if c not in columns)
    from lightningalg.certificates.sampling import compress_runs

    lower["columns"] = compress_runs(sorted(columns | {spare}))
    rows = set(expand_runs(lower["rows"]))
    lower["rows"] = compress_runs(sorted(rows | {next(j for j in range(99) if j not in rows)}))
    verdict = verifier.check(sealed(found))
    assert (verdict.verdict, verdict.check) == ("invalid", "minor")
    assert "1024 bits" in verdict.reason


def test_large_minors_are_unsupported_at_once():
    network = la.lightning((200, 200), (100,))
    found = certificate(la.lightning((2, 2), (1,)))
    found["network"] = network.to_json()
    lower = found["witness"]["lower_bound"]
    lower["value"] = found["claim"]["value"] = 60_000
    lower["rows"] = lower["columns"] = [[0, 59_999]]
    verdict = verifier.check(sealed(found))
    assert verdict.verdict == "unsupported"
    assert verdict.seconds < 2


@pytest.mark.parametrize("bits", [128, 256])
@pytest.mark.parametrize("x", [0.0, -1e-30, -0.3, -1.0, -17.25, -300.0, -5000.5])
def test_exponentials_in_fixed_point_against_mpmath(bits, x):
    number = int(Fraction(x) * 2**bits)
    found = verifier.BallArithmetic(bits).exponential(number)
    with mpmath.workprec(bits + 200):
        exact = mpmath.exp(mpmath.mpf(number) / mpmath.mpf(2) ** bits) * mpmath.mpf(2) ** bits
        assert abs(found - exact) <= 2


def test_the_points_of_producer_and_checker_agree():
    network = la.normalized((5, 16, 3), (2, 4))
    point = dyadic_point(network, "x", [3])
    sampling = verifier.DyadicSampling(verifier.parse_network(network.to_json()), "x")
    flat = [Fraction(v, 2**64) for ball in sampling.parameters(64) for row in ball.rows for v in row]
    assert flat == [Fraction(v) for v in point.parameters.tolist()]
    inputs = sampling.matrix("input/3", 5, 64 - 15)
    assert [Fraction(v, 2**64) for row in inputs.rows for v in row] == [
        Fraction(v) for v in point.inputs[0].ravel().tolist()
    ]
    functionals = sampling.matrix("functional/3", 3, 64 - 16)
    assert [Fraction(v, 2**64) for row in functionals.rows for v in row] == [
        Fraction(v) for v in point.functionals[0].ravel().tolist()
    ]


@pytest.mark.parametrize("network", [NETWORKS[8], NETWORKS[1]], ids=str)
def test_the_balls_of_the_checker_shrink_and_are_nested_in_value(network):
    """Twice the bits: the midpoints move by no more than both radii together."""
    sampling = verifier.DyadicSampling(verifier.parse_network(network.to_json()), "0")
    columns = list(range(network.parameter_count))
    coarse = verifier.ball_minor(sampling, [0, 1], columns, 128, verifier.silent)
    fine = verifier.ball_minor(sampling, [0, 1], columns, 256, verifier.silent)
    for a, b in zip(coarse, fine, strict=True):
        for x, y in zip(a.rows[0], b.rows[0], strict=True):
            off = abs(Fraction(x, 2**128) - Fraction(y, 2**256))
            assert off <= Fraction(a.rad, 2**128) + Fraction(b.rad, 2**256)
        assert Fraction(b.rad, 2**256) < Fraction(a.rad, 2**200)
