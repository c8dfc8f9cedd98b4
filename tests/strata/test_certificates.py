"""Certificates on one layer: accepted as made, rejected when altered unless still true, within the schema."""

from __future__ import annotations

import copy
import json
import random
from functools import cache
from importlib import resources

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg import verifier
from lightningalg.strata.boundary import real_boundary
from lightningalg.strata.degree import LayerSizes, closure_degree_of
from lightningalg.strata.layer import SingleLayer
from lightningalg.strata.membership import membership
from lightningalg.strata.singular import singular_locus
from tests.certificates import examples as ex
from tests.certificates.altered import refused_or_true
from tests.certificates.test_verifier_mutation import at, places, put, text, variants


def tensor(listed):
    return {tuple(key): value for value, key in listed}


def given_function(sizes, listed):
    d, dprime, a = sizes
    return la.tensor_membership(la.lightning((d, dprime), (a,)), tensor(listed))[1]


@cache
def made():
    """One certificate for each kind, argument and relation."""
    net = la.lightning
    certificates = {
        "singular linear": la.singular_points(net((1, 2), (1,))),
        "singular equations": la.singular_points(net((2, 1), (1,))),
        "singular limit": la.singular_points(net((2, 1), (2,))),
        "singular open orbit": la.singular_points(net((3, 1), (1,), tokens=3)),
        "boundary": la.boundary(net((2, 2), (2,))),
        "boundary none": la.boundary(net((1, 1), (1,))),
        "closed": la.closed_images(net((2, 1), (1,))),
        "base point": la.closed_images(net((2, 2, 2), (1, 2))),
        "inside": given_function((2, 2, 1), [(1, (0, 0, 0, 1)), (2, (1, 0, 1, 1))]),
        "inside field": given_function((2, 1, 1), [(1, (0, 0, 0, 0)), (-2, (0, 1, 1, 0))]),
        "conjugate": given_function((2, 1, 1), [(1, (0, 0, 0, 0)), (2, (0, 1, 1, 0))]),
        "outside values": given_function((2, 2, 1), [(1, (0, 0, 0, 0)), (1, (1, 1, 1, 0))]),
        "outside attention": given_function((2, 1, 2), [(1, (0, 0, 0, 0)), (1, (0, 1, 1, 1))]),
        "outside rank": given_function((2, 1, 1), [(1, (0, 0, 0, 0)), (1, (0, 0, 1, 1))]),
        "degree": la.closure_degree(net((2, 2), (1,))),
        "degree two sheets": la.closure_degree(net((3, 1), (1,))),
        "degree one token": la.closure_degree(net((3, 2), (1,), tokens=1)),
        "degree three sheets": la.closure_degree(net((3, 1), (1,), tokens=1)),
        "degree binary cubics": la.closure_degree(net((2, 1), (2,), tokens=1)),
        "outside form": given_function((3, 1, 1), [(1, (0, j, j, 0)) for j in range(3)]),
    }
    return {name: certificate.to_json() for name, certificate in certificates.items()}


NAMES = list(made())


def certificate(name):
    return copy.deepcopy(made()[name])


@pytest.mark.parametrize("name", NAMES)
def test_all_are_accepted_and_keep_the_schema(name):
    import jsonschema

    assert verifier.check(certificate(name)).verdict == "valid", verifier.check(certificate(name))
    path = resources.files("lightningalg.certificates") / "schemas" / "certificate-v1.schema.json"
    jsonschema.Draft202012Validator(json.loads(path.read_text("utf-8"))).validate(certificate(name))


def test_every_argument_occurs():
    found = set()
    for name in NAMES:
        witness = made()[name]["witness"]
        found |= {entry["argument"] for entry in witness.get("strata", [])} | {witness.get("argument")}
    arguments = {*verifier.STRATUM_ARGUMENTS, *verifier.BOUNDARY_ARGUMENTS, *verifier.OUTSIDE_ARGUMENTS}
    assert found >= arguments


def is_true(altered):
    """Whether the claim of an accepted certificate holds, decided by the producer's side alone."""
    claim = altered["claim"]
    if claim["quantity"] == "closedness":
        layers = altered["network"]["layers"]
        return (claim["relation"] == "closed") == (len(layers) == 1)
    (layer,) = altered["network"]["layers"]
    if claim["quantity"] == "degree of the closure":
        one_token = altered["network"]["tokens"] == 1
        found = LayerSizes(layer["d_in"], layer["d_out"], layer["rank"], one_token)
        return claim == closure_degree_of(found).claim()
    sizes = SingleLayer(layer["d_in"], layer["d_out"], layer["rank"])
    assert altered["network"]["tokens"] >= 2
    if claim["quantity"] == "singular locus":
        return claim == singular_locus(sizes).claim()
    if claim["quantity"] == "boundary":
        return claim == real_boundary(sizes).claim()
    from fractions import Fraction

    values = {tuple(key): Fraction(value) for value, key in claim["tensor"]}
    return claim["relation"] == membership(sizes, values).relation


#: those with the most places
LARGE = {"singular limit", "singular open orbit"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LARGE)) for name in NAMES]
)
def test_altered_fields(name):
    """Every place, some alterations of each, with the old hash and with a new one."""
    original = certificate(name)
    rng = random.Random(name)
    listed = list(places(original))
    if len(listed) > 250:
        listed = [path for path in listed if len(path) < 3 or path[0] != "witness"] + rng.sample(listed, 200)
    refused_or_true(original, listed, rng, is_true)


@given(st.sampled_from(NAMES), st.integers(0, 2**32), st.integers(2, 4))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_several_fields_at_once(name, seed, count):
    rng = random.Random(seed)
    altered = certificate(name)
    for _ in range(count):
        path = rng.choice([p for p in places(altered) if p and p[0] != "sha256"])
        altered = put(altered, path, rng.choice(variants(at(altered, path))))
    verdict = verifier.check(ex.seal(altered))
    assert verdict.reason is None or "internal" not in verdict.reason, verdict
    if verdict.verdict == "valid" and text(altered) != text(certificate(name)):
        assert is_true(altered)


# -- forgeries that keep the form ----------------------------------------------------------------------------


def forged(name, alter):
    altered = certificate(name)
    alter(altered)
    return verifier.check(ex.seal(altered))


def entry(altered, stratum):
    return next(e for e in altered["witness"]["strata"] if e["stratum"] == stratum)


def test_a_singular_stratum_cannot_be_called_smooth():
    def alter(c):
        e = entry(c, [1, 1, 1])
        e.clear()
        e.update({"stratum": [1, 1, 1], "singular": False, "argument": "immersion"})
        c["claim"]["singular"].remove([1, 1, 1])
        c["claim"]["smooth"].insert(0, [1, 1, 1])
        c["claim"]["rank_product_at_most_one"] = False

    assert forged("singular limit", alter).check == "strata"


def test_a_smooth_stratum_cannot_be_called_singular():
    """By too few arcs, by arcs that leave the variety, by a preimage of another point, or as a limit."""
    smooth, arcs = [1, 1, 0], [[0, [[0, j, 1]], []] for j in range(3)]
    preimage = [[[0, 0, 1]], [[1, 0, 1]]]

    def alter(argument, **details):
        def change(c):
            e = entry(c, smooth)
            e.clear()
            e.update({"stratum": smooth, "singular": True, "argument": argument, **details})
            c["claim"]["singular"].insert(1, smooth)
            c["claim"]["smooth"].remove(smooth)

        return change

    name = "singular open orbit"  # (3, 1, 1)
    leave = [[0, [], [[i, j, 1]]] for i in range(3) for j in range(3)]
    cases = [
        (alter("arcs", preimages=[preimage], arcs=arcs), "rank"),
        (alter("arcs", preimages=[preimage], arcs=arcs + leave), "arc"),
        (alter("arcs", preimages=[[[[0, 0, 1]], [[0, 0, 1]]]], arcs=arcs), "arc"),
        (alter("arcs", preimages=[preimage], arcs=[[0, [], []]]), "arc"),
        (alter("limit", of=[1, 1, 1], arc=[[], []]), "arc"),
        (alter("limit", of=[1, 1, 0], arc=[[], []]), "strata"),
    ]
    for change, check in cases:
        verdict = forged(name, change)
        claims_differ = verdict.check == "claim"  # the sentence's truth changes with the list
        assert not claims_differ or "rank_product" in verdict.reason
        assert verdict.check in (check, "claim"), verdict

    def with_sentence(change):
        def both(c):
            change(c)
            c["claim"]["rank_product_at_most_one"] = all(
                (s[0] * s[1] <= 1) == (s in c["claim"]["singular"])
                for s in c["claim"]["singular"] + c["claim"]["smooth"]
            )

        return both

    for change, check in cases:
        assert forged(name, with_sentence(change)).check == check


def test_wrong_equations_are_rejected():
    def alter(c):
        e = entry(c, [1, 1, 1])
        e["equations"][0][1][0] = 1  # a plus instead of a minus

    assert forged("singular equations", alter).check == "equations"
    assert forged("singular equations", lambda c: entry(c, [1, 1, 1])["equations"].pop()).check == "rank"


def test_missing_strata_are_noticed():
    def alter(c):
        c["witness"]["strata"].pop()
        c["claim"]["smooth"].pop()

    assert forged("singular limit", alter).check == "strata"


def test_families_and_invariants_of_the_boundary():
    def same_form(c):
        entry(c, [1, 1, 1])["family"]["m"] = [[], [[0, 1]]]  # l and m are both multiples of x_0

    def elsewhere(c):
        entry(c, [1, 1, 1])["family"]["l"] = [[[1, 1]], []]

    def not_apart(c):
        entry(c, [1, 1, 0])["points"][1] = [[0, 1], [1, 2]]

    def zero_minor(c):
        entry(c, [2, 1, 1])["rows"] = [0, 0]

    for alter in (same_form, elsewhere, not_apart, zero_minor):
        assert forged("boundary", alter).check == "boundary"


def test_membership_forgeries():
    def definite(c):
        c["witness"]["squares"][0][0] = -1

    def rational_root(c):
        c["witness"]["sqrt"] = 4

    def wrong_weight(c):
        c["witness"]["V"][0][0] = 3

    assert forged("conjugate", definite).check == "weights"
    assert forged("inside field", rational_root).check == "weights"
    assert forged("inside", wrong_weight).check == "weights"
    inside = certificate("inside")
    for argument in ("values", "attention"):
        claim = {**inside["claim"], "relation": "not in the closure"}
        witness = {"argument": argument, "prime": 2**31 - 1}
        assert verifier.check(ex.seal({**inside, "claim": claim, "witness": witness})).check == "rank"
    zero = {**inside["claim"], "relation": "not in the closure", "tensor": []}
    witness = {"argument": "values", "prime": 2**31 - 1}
    assert verifier.check(ex.seal({**inside, "claim": zero, "witness": witness})).check == "weights"


def test_base_points_must_be_zeros_with_weights():
    assert forged("base point", lambda c: c["witness"]["parameters"].__setitem__(0, 0)).check == "closedness"
    assert forged("base point", lambda c: c["witness"]["parameters"].__setitem__(9, 5)).check == "closedness"


@pytest.mark.parametrize("tokens, layers", [(1, 1), (2, 2)])
def test_other_networks_are_invalid(tokens, layers):
    network = la.lightning((2,) * (layers + 1), (2,) * layers, tokens=tokens).to_json()
    for name in ("singular limit", "boundary", "closed", "inside"):
        verdict = verifier.check(ex.seal({**certificate(name), "network": network}))
        assert verdict.check == "network", verdict


@pytest.mark.parametrize("name", ["singular limit", "boundary", "inside", "outside values", "base point"])
def test_huge_sizes_are_never_slow(name):
    import time

    altered = certificate(name)
    for layer in altered["network"]["layers"]:
        layer.update(d_in=10**6, d_out=10**6, rank=10**6)
    altered["network"]["width"] = 10**6
    start = time.process_time()
    assert verifier.check(ex.seal(altered)).verdict != "valid"
    assert time.process_time() - start < 2


def test_tall_layers_are_never_slow():
    import time

    for widths, rank in (((2, 10**6), 1), ((10**4, 1), 1), ((40, 40), 40), ((300, 2), 2)):
        network = la.lightning(widths, (rank,)).to_json()
        for name in ("singular limit", "boundary"):
            start = time.process_time()
            assert verifier.check(ex.seal({**certificate(name), "network": network})).verdict != "valid"
            assert time.process_time() - start < 5


@pytest.mark.slow
@pytest.mark.parametrize("a", [1, 3, 6])
def test_the_verifier_accepts_larger_sizes(a):
    for d, dprime in ((6, 6), (7, 3), (3, 9)):
        if a <= d + 1:
            for make in (la.singular_points, la.boundary):
                assert verifier.check(make(la.lightning((d, dprime), (a,))).to_json()).verdict == "valid"
