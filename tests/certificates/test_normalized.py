"""Certificates of normalised attention against a naive second reading of FORMAT.md section 4.1.

Nothing below uses the package's or the verifier's evaluation: values are dual numbers modulo p, one parameter
at a time, with given residues for the exponentials.
"""

from __future__ import annotations

import copy
import hashlib
import json
import random
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg import verifier
from lightningalg.certificates.sampling import expand_runs
from lightningalg.claims.dimension_bound import dimension_at_most
from lightningalg.engines.residue_arrays import ResidueField
from lightningalg.errors import LightningAlgError
from lightningalg.maps.sampled_jacobian import SampledJacobian
from lightningalg.networks.spec import network_from_table
from lightningalg.rank.upper_bounds import upper_bounds
from tests import reference
from tests.strategies import NORMALIZED_KINDS, dag_tables

from . import examples as ex
from .test_verifier_mutation import at, places, put, reseal, text, variants

EXAMPLES = settings(deadline=None, max_examples=40)
tables = dag_tables(max_layers=5, max_size=3, kinds=NORMALIZED_KINDS)

SCHEMA = Path(verifier.__file__).parent / "certificates/schemas/certificate-v1.schema.json"

NETWORKS = {
    "single": la.normalized((2, 1), (1,)),
    "chain": la.normalized((2, 2, 2), (1, 2)),
    "width one": la.normalized((2, 1, 2), (1, 1), tokens=3),
    "heads": la.normalized((2, 2), (1,), heads=3, residual=True),
    "stages": la.normalized((2, 1, 1), (1, 1), heads=2),
    "tied": la.tie(la.normalized((2, 2, 2), (1, 1)), {"layer2": "layer1"}),
    "one token": la.normalized((3, 1, 2), (1, 1), tokens=1),
}


# -- the naive reading ------------------------------------------------------------------------


def stream(seed, label, count, p):
    words = []
    block = 0
    while len(words) < count:
        digest = hashlib.sha256(f"lightningalg-certificate/1|{seed}|{label}|{block}".encode()).digest()
        words += [int.from_bytes(digest[i : i + 4], "big") % p for i in range(0, 32, 4)]
        block += 1
    return words[:count]


class Dual:
    def __init__(self, p, value, tangent=0):
        self.p, self.value, self.tangent = p, value % p, tangent % p

    def __add__(self, other):
        return Dual(self.p, self.value + other.value, self.tangent + other.tangent)

    def __mul__(self, other):
        mixed = self.value * other.tangent + self.tangent * other.value
        return Dual(self.p, self.value * other.value, mixed)

    def inverse(self):
        one = pow(self.value, -1, self.p)
        return Dual(self.p, one, -self.tangent * one * one)


def times(A, B):
    return [
        [sum_of([a * b for a, b in zip(row, column, strict=True)]) for column in zip(*B, strict=True)]
        for row in A
    ]


def sum_of(terms):
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def rank_one(table):
    found = {"input"} if table["width"] == 1 else set()
    widths = {"input": table["width"]}
    for layer in table["layers"]:
        width = widths[layer["id"]] = (
            len(reference.toeplitz(layer, [[1] * layer["kernel"]] * layer["channels"]))
            if layer["type"] == "convolution"
            else layer.get("d_out", widths[layer["inputs"][0]])
        )
        passes = layer["type"] in ("lightning_attention", "normalized_attention", "linear", "convolution")
        column_times_row = layer["type"] == "lightning_attention" and layer["rank"] == 1
        if width == 1 or column_times_row or (passes and layer["inputs"][0] in found):
            found.add(layer["id"])
    return found


def numbering(table):
    """For each normalised layer its scores' numbers, and how many there are."""
    flat, known, numbers = rank_one(table), [], {}
    for layer in table["layers"]:
        if layer["type"] != "normalized_attention":
            continue
        for s in range(table["tokens"]):
            for m in range(table["tokens"]):
                place = frozenset((s, m)) if layer["inputs"][0] in flat else (s, m)
                key = (layer.get("weights", layer["id"]), layer["inputs"][0], place)
                if key not in known:
                    known.append(key)
                numbers[layer["id"], s, m] = known.index(key)
    return numbers, len(known)


def evaluate(table, p, theta, X, powers):
    """The values of all layers as duals, and the scores by their numbers (where a number occurs first)."""
    numbers, _ = numbering(table)
    values, matrices, scores, position = {"input": X}, {}, {}, 0
    for layer in table["layers"]:
        if "weights" not in layer:
            own = []
            for rows, columns in reference.shapes(layer).values():
                own.append(
                    [theta[position + i * columns : position + (i + 1) * columns] for i in range(rows)]
                )
                position += rows * columns
            matrices[layer["id"]] = own
        own = matrices[layer.get("weights", layer["id"])]
        inputs = [values[name] for name in layer["inputs"]]
        (Z, *rest) = inputs
        match layer["type"]:
            case "normalized_attention":
                Q, K, V = own
                value = times(V, Z)
                if table["tokens"] > 1:
                    z = times([list(column) for column in zip(*times(K, Z), strict=True)], times(Q, Z))
                    E = [[None] * len(z) for _ in z]
                    for s, row in enumerate(z):
                        for m, score in enumerate(row):
                            number = numbers[layer["id"], s, m]
                            scores.setdefault(number, score.value)
                            E[s][m] = Dual(p, powers[number], powers[number] * score.tangent)
                    totals = [sum_of(list(column)).inverse() for column in zip(*E, strict=True)]
                    value = times(
                        value, [[e * total for e, total in zip(row, totals, strict=True)] for row in E]
                    )
            case "lightning_attention":
                Q, K, V = own
                value = times(
                    times(V, Z), times([list(c) for c in zip(*times(K, Z), strict=True)], times(Q, Z))
                )
            case "linear":
                value = times(own[0], Z)
            case "convolution":
                matrix = reference.toeplitz(layer, own[0])
                value = times([[entry or Dual(p, 0) for entry in row] for row in matrix], Z)
            case "bias":
                value = [[x + b for x in row] for row, (b,) in zip(Z, own[0], strict=True)]
            case "sum":
                value = Z
                for other in rest:
                    value = [
                        [a + b for a, b in zip(r, s, strict=True)] for r, s in zip(value, other, strict=True)
                    ]
        values[layer["id"]] = value
    return value, scores


def sample(table, p, seed, j):
    t, d = table["tokens"], table["width"]
    flat = [Dual(p, v) for v in stream(seed, f"input/{j}", d * t, p)]
    powers = stream(seed, f"exponential/{j}", numbering(table)[1], p)
    return [flat[i * t : (i + 1) * t] for i in range(d)], powers


def jacobian_row(table, p, seed, j, columns=None):
    n, (X, powers) = reference.parameter_count(table), sample(table, p, seed, j)
    theta, row = stream(seed, "parameters", n, p), []
    for c in range(n) if columns is None else columns:
        point = [Dual(p, v, int(k == c)) for k, v in enumerate(theta)]
        value, _ = evaluate(table, p, point, X, powers)
        flat = [x.tangent for line in value for x in line]
        functional = stream(seed, f"functional/{j}", len(flat), p)
        row.append(sum(a * b for a, b in zip(flat, functional, strict=True)) % p)
    return row


def independence_row(table, p, seed, j, points):
    n, q = reference.parameter_count(table), j % points
    theta = [Dual(p, v) for v in stream(seed, f"parameters/{q}" if q else "parameters", n, p)]
    found = []
    for number in (j, q):
        X, powers = sample(table, p, seed, number)
        _, scores = evaluate(table, p, theta, X, powers)
        found.append([x.value for row in X for x in row] + [scores[k] for k in range(len(powers))])
    return [(a - b) % p for a, b in zip(*found, strict=True)]


def holds(certificate):
    """Whether a certificate's lower bound follows, by the naive reading."""
    table, lower = certificate["network"], certificate["witness"]["lower_bound"]
    p, seed = lower["prime"], lower["sampling"]["seed"]
    rows, columns = expand_runs(lower["rows"]), expand_runs(lower["columns"])
    minor = [jacobian_row(table, p, seed, j, columns) for j in rows]
    if reference.determinant_mod(minor, p) != lower["determinant"]:
        return False
    if table["tokens"] == 1:
        return "exponents" not in lower
    about = lower["exponents"]
    matrix = [independence_row(table, p, seed, j, about["points"]) for j in expand_runs(about["rows"])]
    return len(matrix) == len(matrix[0]) and reference.determinant_mod(matrix, p) == about["determinant"]


# -- agreement ---------------------------------------------------------------------------------


def certificate_of(network, **arguments):
    return json.loads(json.dumps(la.dimension(network, **arguments).certificate.to_json()))


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS.keys())
def test_certificates_hold_by_the_naive_reading(network, monkeypatch):
    certificate = certificate_of(network)
    assert certificate["claim"]["relation"] == "equals"
    assert holds(certificate)
    assert verifier.check(certificate).verdict == "valid"
    predicted = verifier.predicted_seconds
    monkeypatch.setattr(verifier, "predicted_seconds", lambda *sizes: {**predicted(*sizes), "python": 1.0})
    assert verifier.check(certificate).verdict == "valid"  # by numpy
    jsonschema.validate(certificate, json.loads(SCHEMA.read_text()))


@EXAMPLES
@given(tables)
def test_certificates_of_random_networks_are_valid(table):
    """Chains, sums of heads with other layers, shared weights; a few have dependent exponents, and say so."""
    network = network_from_table(table)
    try:
        certificate = certificate_of(network)
    except LightningAlgError as error:
        assert "linearly independent" in str(error) or "every derivative vanishes" in str(error)
        return
    verdict = verifier.check(certificate)
    assert verdict.verdict == "valid", verdict


@EXAMPLES
@given(tables, st.integers(1, 3))
def test_three_evaluators_give_the_rows_of_the_format(table, points):
    prime, samples = 8388593, [4, 5]
    network, checked = network_from_table(table), verifier.parse_network(table)
    n = reference.parameter_count(table)
    expected = [jacobian_row(table, prime, "s", j) for j in samples]
    sampling = verifier.Sampling(checked, prime, "s")
    assert verifier.plain_minor(sampling, samples, list(range(n)), verifier.silent) == expected
    batch = verifier.batch_minor(np, sampling, samples, list(range(n)), verifier.silent)
    assert batch.astype(np.int64).tolist() == expected
    jacobian = SampledJacobian(network, ResidueField(prime), "s")
    assert jacobian.field.to_integers(jacobian.rows(samples)).tolist() == expected
    assert jacobian.field.to_integers(jacobian.rows_forward(samples)).tolist() == expected
    if len(jacobian.exponents):
        rows = [independence_row(table, prime, "s", j, points) for j in samples]
        known = verifier.exponents_of(checked)
        assert verifier.independence_rows(sampling, known, samples, points) == rows
        batch = verifier.batch_independence_rows(np, sampling, known, samples, points)
        assert batch.astype(np.int64).tolist() == rows
        assert jacobian.field.to_integers(jacobian.exponent_rows(samples, points)).tolist() == rows


@EXAMPLES
@given(tables)
def test_every_upper_bound_is_recomputed(table):
    network = network_from_table(table)
    certificate = dimension_at_most(network).to_json()
    for bound in upper_bounds(network):
        other = copy.deepcopy(certificate)
        other["claim"]["value"] = bound.value
        other["witness"]["upper_bound"] = bound.to_json()
        assert verifier.check(ex.seal(other)).verdict == "valid", bound
    applying = {bound.method for bound in upper_bounds(network)}
    for method in set(verifier.METHODS) - applying:
        with pytest.raises((verifier.InvalidError, verifier.UnsupportedError)):
            verifier.METHODS[method](verifier.parse_network(network.to_json()))


# -- alterations --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["single", pytest.param("stages", marks=pytest.mark.slow), "tied", "one token"]
)
def test_every_altered_field_is_noticed(name):
    """With a new hash, valid only where the naive reading agrees and the claim is no larger than it was."""
    original = certificate_of(NETWORKS[name])
    still_valid = set()
    for path in places(original):
        for other in variants(at(original, path)):
            altered = put(original, path, other)
            assert verifier.check(altered).verdict != "valid", path
            verdict = verifier.check(reseal(altered, path))
            assert verdict.reason is None or "internal" not in verdict.reason, (path, verdict)
            if verdict.verdict == "valid":
                assert path[0] in ("provenance", "network"), path
                assert path[0] == "provenance" or holds(altered), path
                still_valid.add(path[-1] if path[0] == "network" else "provenance")
    assert "provenance" in still_valid and still_valid <= {"provenance", "id", "inputs", "layers", 0, 1, 2}


def test_forged_independence_is_noticed():
    original = certificate_of(NETWORKS["chain"])

    def verdict(**changes):
        altered = copy.deepcopy(original)
        altered["witness"]["lower_bound"]["exponents"].update(changes)
        return verifier.check(ex.seal(altered))

    about = original["witness"]["lower_bound"]["exponents"]
    assert about["count"] == 8 and about["points"] == 1
    for changes in (
        {"determinant": about["determinant"] + 1},
        {"count": 7},
        {"count": 9},
        {"points": 2},
        {"points": 0},
        {"points": 10**9},
        {"rows": [[0, 11]]},  # row 0 is the base: its difference vanishes
        {"rows": [[2, 13]]},
        {"rows": [[1, 11]]},
        {"rows": [[1, 13]]},
    ):
        found = verdict(**changes)
        assert (found.verdict, found.check) == ("invalid", "exponents"), (changes, found)
    without = copy.deepcopy(original)
    del without["witness"]["lower_bound"]["exponents"]
    assert verifier.check(ex.seal(without)).check == "lower bound"


def test_equal_scores_that_are_not_identified_are_noticed(monkeypatch):
    """Width one: z_sm = z_ms. Taken for different exponents their columns agree, so that no minor exists."""
    network = la.normalized((1, 1), (1,), tokens=2)
    from lightningalg.maps import exponents

    monkeypatch.setattr(exponents, "rank_one_values", lambda network: frozenset())
    with pytest.raises(LightningAlgError, match="rank 5 of 6"):
        la.dimension(network)


def test_other_relations_between_exponents_are_noticed():
    """A shared head that reads x and x + x has scores z and 4 z: no lower bound, and no false one."""
    one = {"inputs": ["input"], "type": "normalized_attention", "d_in": 2, "d_out": 2, "rank": 1}
    layers = [
        {"id": "one", **one},
        {"id": "twice", "inputs": ["input", "input"], "type": "sum"},
        {"id": "two", **one, "inputs": ["twice"], "weights": "one"},
        {"id": "out", "inputs": ["one", "two"], "type": "sum"},
    ]
    table = {"tokens": 2, "width": 2, "layers": layers}
    with pytest.raises(LightningAlgError, match="linearly independent"):
        la.dimension(network_from_table(table))


def test_a_vanishing_denominator_is_noticed():
    """Modulo 5 some column of exponentials sums to zero; the producer leaves such samples out."""
    network = la.normalized((2, 1), (1,))
    p = 10007
    certificate = certificate_of(network, prime=p)
    assert verifier.check(certificate).verdict == "valid"
    bad = next(
        j for j in range(10**5) for E in [stream("0", f"exponential/{j}", 4, p)] if (E[0] + E[2]) % p == 0
    )
    lower = certificate["witness"]["lower_bound"]
    lower["rows"] = [[0, 3], [bad, bad]]
    assert verifier.check(ex.seal(certificate)).check == "denominator"
    jacobian = SampledJacobian(network, ResidueField(p), "0")
    assert not jacobian.rows([bad]).any() and jacobian.rows([bad + 1]).any()
    assert not jacobian.exponent_rows([bad], 1).any()


def test_explicit_values():
    """The residues of the seed rule written out; with exponentials for every sample, and none too many."""
    network = NETWORKS["chain"]
    certificate = certificate_of(network)
    lower, table = certificate["witness"]["lower_bound"], certificate["network"]
    p = lower["prime"]
    lower["sampling"] = {
        "rule": "explicit",
        "parameters": stream("0", "parameters", network.parameter_count, p),
        "samples": [
            {
                "input": stream("0", f"input/{j}", 4, p),
                "functional": stream("0", f"functional/{j}", 4, p),
                "exponentials": stream("0", f"exponential/{j}", numbering(table)[1], p),
            }
            for j in range(20)
        ],
    }
    assert verifier.check(ex.seal(certificate)).verdict == "valid"
    for change in (lambda s: s.pop("exponentials"), lambda s: s["exponentials"].append(1),
                   lambda s: s["exponentials"].__setitem__(0, 5)):  # fmt: skip
        altered = copy.deepcopy(certificate)
        change(altered["witness"]["lower_bound"]["sampling"]["samples"][1])
        assert verifier.check(ex.seal(altered)).check in ("sampling", "exponents", "determinant")


def test_sizes_beyond_the_limits_are_unsupported_at_once():
    certificate = certificate_of(NETWORKS["single"])
    certificate["network"]["tokens"] = 10**6
    verdict = verifier.check(ex.seal(certificate))
    assert verdict.verdict == "unsupported" and "tokens" in verdict.reason and verdict.seconds < 1


def test_random_changes_together():
    rng = random.Random(7)
    originals = [certificate_of(NETWORKS[name]) for name in ("single", "heads")]
    for _ in range(300):
        original = rng.choice(originals)
        altered = original
        for _ in range(rng.randint(2, 4)):
            path = rng.choice([p for p in places(altered) if p and p[0] != "sha256"])
            altered = put(altered, path, rng.choice(variants(at(altered, path))))
        verdict = verifier.check(ex.seal(altered))
        assert verdict.reason is None or "internal" not in verdict.reason, verdict
        if verdict.verdict == "valid" and text(altered["network"]) != text(original["network"]):
            assert holds(altered)
