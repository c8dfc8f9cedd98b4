"""All outputs of few inputs: ranks by plain elimination, values of MATH.md and PERFORMANCE.md, forgeries."""

from __future__ import annotations

import copy
import json
import random
from functools import cache
from itertools import pairwise, product
from pathlib import Path

import flint
import jsonschema
import pytest

import lightningalg as la
from lightningalg import verifier
from lightningalg.claims.few_inputs import FewInputsClaim, few_inputs
from lightningalg.errors import UnsupportedError
from lightningalg.rank.few_inputs import factorisations
from lightningalg.rank.upper_bounds.flag import flag_count
from lightningalg.render.latex import render_proof
from tests.certificates import examples as ex
from tests.certificates.altered import refused_or_true
from tests.certificates.test_verifier_mutation import places

SCHEMA = Path(verifier.__file__).parent / "certificates/schemas/certificate-v1.schema.json"
PRIME = 2**31 - 1
SIZES = {
    "decided": ((4, 2, 4), (2, 1), 5),
    "between": ((2, 2), (2,), 2),
    "one token": ((2, 2, 1), (1, 1), 1),
    "least": ((1, 1), (1,), 1),
}


@cache
def made(name):
    widths, ranks, tokens = SIZES[name]
    return json.dumps(few_inputs(la.lightning(widths, ranks, tokens=tokens)).to_json())


def certificate(name):
    return json.loads(made(name))


# -- ranks by dual numbers over Z/p, from the definition of the network alone ----------


def times(a, b):
    return [[sum(x * y for x, y in zip(row, column, strict=True)) % PRIME for column in zip(*b, strict=True)]
            for row in a]  # fmt: skip


def transposed(a):
    return [list(column) for column in zip(*a, strict=True)]


def plus(*summands):
    return [
        [sum(entries) % PRIME for entries in zip(*rows, strict=True)] for rows in zip(*summands, strict=True)
    ]


def layer(weights, X):
    Q, K, V = weights
    return times(times(V, X), times(transposed(times(K, X)), times(Q, X)))


def derivative(theta, values, number, letter, unit):
    """The derivative of the output along a unit matrix in place of matrix Q, K or V of one layer."""
    changed = list(theta[number])
    changed[letter] = unit
    direction = layer(changed, values[number])
    for (Q, K, V), X in zip(theta[number + 1 :], values[number + 1 :], strict=True):
        scores = times(transposed(times(K, X)), times(Q, X))
        moved = plus(
            times(transposed(times(K, direction)), times(Q, X)),
            times(transposed(times(K, X)), times(Q, direction)),
        )
        direction = plus(times(times(V, direction), scores), times(times(V, X), moved))
    return [entry for row in direction for entry in row]


def ranks(widths, attention, tokens, count, seed=0):
    """The ranks with 1, ..., count inputs at random residues."""
    rng = random.Random(seed)

    def residues(rows, columns):
        return [[rng.randrange(PRIME) for _ in range(columns)] for _ in range(rows)]

    theta = [
        (residues(a, d), residues(a, d), residues(e, d))
        for a, d, e in zip(attention, widths, widths[1:], strict=False)
    ]
    columns = []
    for _ in range(count):
        values = [residues(widths[0], tokens)]
        for weights in theta[:-1]:
            values.append(layer(weights, values[-1]))
        part = []
        for number, weights in enumerate(theta):
            for letter, matrix in enumerate(weights):
                for i, j in product(range(len(matrix)), range(len(matrix[0]))):
                    unit = [
                        [int((i, j) == (x, y)) for y in range(len(matrix[0]))] for x in range(len(matrix))
                    ]
                    part.append(derivative(theta, values, number, letter, unit))
        columns.append(transposed(part))
    found, rows = [], []
    for part in columns:
        rows += part
        found.append(int(flint.nmod_mat(rows, PRIME).rank()))
    return found


def bounds(widths, attention, tokens, count):
    ways = factorisations(widths, attention, tokens)
    most = flag_count(tuple(widths), tuple(attention), tokens).total
    return [min([most, *(way.fixed + way.each * k for way in ways)]) for k in range(1, count + 1)]


def is_true(altered):
    """Whether the claim of an accepted certificate holds, by the count above and by random ranks."""
    layers = altered["network"]["layers"]
    widths = [altered["network"]["width"], *(entry["d_out"] for entry in layers)]
    attention = [entry["rank"] for entry in layers]
    claim, tokens = altered["claim"], altered["network"]["tokens"]
    count = len(claim["lower"])
    found = ranks(widths, attention, tokens, count)
    above = bounds(widths, attention, tokens, count)
    return claim["upper"] == above and all(
        low <= value for low, value in zip(claim["lower"], found, strict=True)
    )


# -- values ----------------------------------------------------------------------------------------


def test_the_example_of_math_md():
    """17 instead of 25: three inputs; two, the first with as many rows as parameters, give 14 only."""
    known = FewInputsClaim().quantities(certificate("decided"))
    assert [known[f"rank_{k}"] for k in (1, 2, 3, 9)] == [7, 14, 17, 25]
    assert known["inputs_needed"] == 6 and known["dimension"] == 25 and known["decided"] == 1
    assert la.lightning((4, 2, 4), (2, 1), tokens=5).parameter_count == 36 <= 2 * 20


def test_the_example_of_performance_md():
    """228 instead of 273 at n = 513: 37 inputs of 18 outputs, 1.3 n rows."""
    net = la.lightning((9, 9, 9, 9), (5, 5, 5))
    assert net.parameter_count == 513
    known = FewInputsClaim().quantities(json.loads(json.dumps(few_inputs(net).to_json())))
    assert (known["rank_37"], known["dimension"], known["inputs_needed"]) == (228, 273, 49)


@pytest.mark.parametrize("widths, attention, tokens", [
    ((4, 2, 4), (2, 1), 2), ((3, 3), (3,), 4), ((3, 4, 4, 1), (4, 1, 2), 4), ((2, 3, 2), (1, 1), 3),
    ((1, 2, 3), (1, 2), 2), ((4, 5), (2,), 1), ((2, 1, 2), (2, 2), 2),
], ids=str)  # fmt: skip
def test_ranks_by_plain_elimination(widths, attention, tokens):
    claim = few_inputs(la.lightning(widths, attention, tokens=tokens)).claim
    count = len(claim["lower"])
    assert claim["lower"] == ranks(widths, attention, tokens, count)
    assert claim["upper"] == bounds(widths, attention, tokens, count)


@pytest.mark.slow
def test_no_rank_exceeds_the_count():
    """Random small chains, at random residues: never above, and nearly always equal; ranks rise until D."""
    rng, equal, total = random.Random(7), 0, 0
    for _ in range(150):
        depth = rng.choice([1, 2, 2, 3])
        widths = [rng.randint(1, 4) for _ in range(depth + 1)]
        attention = [rng.randint(1, 4) for _ in range(depth)]
        tokens = rng.randint(1, 4)
        most = flag_count(tuple(widths), tuple(attention), tokens).total
        found = ranks(widths, attention, tokens, min(8, most), seed=rng.random())
        above = bounds(widths, attention, tokens, len(found))
        assert all(value <= bound for value, bound in zip(found, above, strict=True)), (
            widths,
            attention,
            tokens,
        )
        assert all(a < b or a == most for a, b in pairwise(found))
        equal += sum(map(int.__eq__, found, above))
        total += len(found)
    assert equal > 0.95 * total


# -- certificates ----------


@pytest.mark.parametrize("name", SIZES)
def test_certificates_are_valid_and_print(name):
    found = certificate(name)
    verdict = verifier.check(found)
    assert verdict.verdict == "valid", verdict
    jsonschema.validate(found, json.loads(SCHEMA.read_text()))
    for lang in ("en", "es"):
        assert r"\label{thm:few-inputs}" in render_proof([found], lang=lang)
    assert is_true(found)


@pytest.mark.parametrize("network", [
    la.normalized((2, 2), (1,)), la.lightning((2, 2), (1,), heads=2), la.monomial((2, 2, 1), 2),
    la.tie(la.lightning((2, 2, 2), (1, 1)), {"layer2": "layer1"}),
], ids=str)  # fmt: skip
def test_other_networks_are_refused(network):
    with pytest.raises(UnsupportedError, match="chains of single lightning heads"):
        few_inputs(network)
    forged = certificate("between")
    forged["network"] = network.to_json()
    assert verifier.check(ex.seal(forged)).check == "network"


@pytest.mark.parametrize("name", ["between", "one token"])
def test_altered_fields(name):
    original = certificate(name)
    rng = random.Random(name)
    refused_or_true(original, places(original), rng, is_true)


def test_an_undecided_rank_is_unknown():
    known = FewInputsClaim().quantities(certificate("between"))
    assert certificate("between")["claim"] == {
        "quantity": "rank of few inputs", "dimension": 7, "lower": [4, 6, 7], "upper": [4, 7, 7],
    }  # fmt: skip
    assert known["rank_2"] is None and known["decided"] is None and known["inputs_needed"] is None


def test_rows_beyond_the_claimed_inputs_are_rejected():
    forged = copy.deepcopy(certificate("between"))
    forged["claim"]["lower"].pop()
    forged["claim"]["upper"].pop()
    assert verifier.check(ex.seal(forged)).check == "rows"
