"""Upper bounds by `symmetry` and kind `symmetry-algebra`: every field counts, and nothing false is accepted.

The adversary writes certificates that claim less than the true dimension, with known fields, spoilt fields,
fields of other networks, and parts of all kinds: not one of them may be valid.
"""

from __future__ import annotations

import copy
import functools
import json
import random

import pytest

import lightningalg as la
from lightningalg import verifier
from lightningalg.claims.dimension import dimension
from lightningalg.claims.symmetries import symmetry_certificate
from lightningalg.networks.spec import network_from_table
from lightningalg.rank.upper_bounds import best_upper_bound
from lightningalg.symmetry.directions import encode_field
from lightningalg.symmetry.known_groups import known_groups
from lightningalg.symmetry.parts import parts

from . import examples as ex

CHAIN = ex.network(
    1,
    2,
    ex.linear("W1", "input", 2, 3),
    ex.bias("b", "W1", 3),
    ex.linear("W2", "b", 3, 2),
    ex.bias("c", "W2", 2),
)
HEADS = ex.network(
    2, 3, ex.linear("W", "input", 3, 3), ex.add("s", "input", "W"), ex.attention("a", "s", 3, 2, 2)
)
SQUARES = ex.monomial([3, 3, 2, 1], 2)
SUMMANDS = ex.network(
    1, 2, ex.linear("A", "input", 2, 2), ex.linear("B", "input", 2, 2), ex.activation("s", "input", 2),
    ex.add("sum", "A", "B", "s"), ex.linear("C", "sum", 2, 2),
)  # fmt: skip
NETWORKS = {"chain": CHAIN, "heads": HEADS, "squares": SQUARES, "summands": SUMMANDS}


@functools.cache
def bound(name):
    """The bound by symmetry with its true dimension, as text: callers alter their own copies."""
    from lightningalg.engines.choose import linear_algebra
    from lightningalg.symmetry.upper_bound import symmetry_bound

    network = network_from_table(NETWORKS[name])
    value = dimension(network).value
    found = symmetry_bound(network, target=value, choose=linear_algebra, bound_of=best_upper_bound)
    assert found.value == value
    return json.dumps(found.to_json())


def verdict(name, upper):
    return verifier.check(ex.dimension(NETWORKS[name], None, upper))


def places(value, path=()):
    yield path
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, entry in entries:
        yield from places(entry, (*path, key))


def put(value, path, new):
    altered = copy.deepcopy(value)
    functools.reduce(lambda v, key: v[key], path[:-1], altered)[path[-1]] = new
    return altered


OTHERS = [
    None,
    True,
    [],
    {},
    "",
    "x",
    "input",
    -1,
    0,
    1,
    2,
    3.5,
    2**60,
    "1/2",
    "2/4",
    "1/8388593",
    [0],
    [[]],
    [[0, [], 1]],
]


@pytest.mark.parametrize("name", NETWORKS)
def test_valid(name):
    upper = json.loads(bound(name))
    found = verdict(name, upper)
    assert found.verdict == "valid" and f"<= {upper['value']}" in found.claim
    assert upper["steps"]["parts"] or name in ("chain", "heads")


@pytest.mark.parametrize("name", NETWORKS)
def test_every_field_counts(name):
    """With the true value a certificate stays valid only if what it says is still proved: another point or
    prime, another field, a part of the same dimension. Everything else fails, by name, or is unknown."""
    upper = json.loads(bound(name))
    rng = random.Random(name)
    altered = [path for path in places(upper) if path and path != ("steps",)]
    kept = 0
    for path in rng.sample(altered, min(len(altered), 100)):
        for other in rng.sample(OTHERS, 4):
            changed = put(upper, path, other)
            if json.dumps(changed) == json.dumps(upper):
                continue
            found = verdict(name, changed)
            assert found.verdict in ("valid", "invalid", "unsupported")
            assert not (found.reason or "").startswith("internal error"), (path, other, found)
            if found.verdict == "valid":
                kept += 1
                assert path[:2] in (
                    ("steps", "seed"),
                    ("steps", "prime"),
                    ("steps", "fields"),
                    ("steps", "parts"),
                )
                assert path[:2] != ("steps", "fields") or identity_holds(name, changed["steps"]["fields"])
            elif found.verdict == "invalid":
                assert found.check in ("upper bound", "symmetry", "prime", "claim", "json"), (
                    path,
                    other,
                    found,
                )
    assert kept < len(altered)


def identity_holds(name, listed):
    from lightningalg.symmetry.fields import IdentityCheck, PolynomialField

    check = IdentityCheck(network_from_table(NETWORKS[name]).polynomial_map(), 10_000)
    return all(check(PolynomialField.of({(c, tuple(m)): x for c, m, x in field})) for field in listed)


REJECTED = {
    "a field that changes the map": (
        "chain", lambda s: s["fields"].append([[0, [0], 1]]), "symmetry"),
    "a constant field": ("chain", lambda s: s["fields"].append([[0, [], 1]]), "symmetry"),
    "a rank too high": ("chain", lambda s: s.update(rank=s["rank"] + 1), "symmetry"),
    "a rank too low": ("chain", lambda s: s.update(rank=s["rank"] - 1), "symmetry"),
    "parameters": ("chain", lambda s: s.update(parameters=s["parameters"] + 1), "upper bound"),
    "no prime": ("chain", lambda s: s.update(prime=8388595), "prime"),
    "a seed of wrong form": ("chain", lambda s: s.update(seed="a b"), "symmetry"),
    "terms not in order": ("chain", lambda s: s["fields"][0].reverse(), "symmetry"),
    "a term twice": ("chain", lambda s: s["fields"][0].append(s["fields"][0][-1]), "symmetry"),
    "an empty field": ("chain", lambda s: s["fields"].append([]), "symmetry"),
    "a coefficient 0": ("chain", lambda s: s["fields"].append([[0, [0], 0]]), "symmetry"),
    "a component too large": ("chain", lambda s: s["fields"].append([[99, [0], 1]]), "symmetry"),
    "a monomial not in order": ("chain", lambda s: s["fields"].append([[0, [1, 0], 1]]), "symmetry"),
    "a part that is the input": (
        "squares", lambda s: s["parts"][0].update(to="input"), "symmetry"),
    "a part that is no layer": ("squares", lambda s: s["parts"][0].update(to="nowhere"), "symmetry"),
    "a part that starts too late": (
        "squares", lambda s: s["parts"][0].update({"from": "w3"}), "symmetry"),
    "summands of no sum": ("squares", lambda s: s["parts"][0].update(summands=["w2"]), "symmetry"),
    "one summand": ("summands", lambda s: s["parts"][0].update(summands=["A"]), "symmetry"),
    "a summand twice": ("summands", lambda s: s["parts"][0].update(summands=["A", "A"]), "symmetry"),
    "a summand that starts elsewhere": (
        "summands", lambda s: s["parts"][0].update({"from": "A", "summands": ["A", "B"]}), "symmetry"),
    "a part's bound too low": (
        "squares", lambda s: s["parts"][0]["bound"].update(value=s["parts"][0]["bound"]["value"] - 1),
        "upper bound"),
    "a part's bound by all its parameters": (
        "summands",
        lambda s: s["parts"][0].update(
            bound={"value": 8, "method": "parameters", "steps": {"parameters": 8}}),
        "symmetry"),
    "a part's bound by symmetry": (
        "summands",
        lambda s: s["parts"][0].update(bound={"value": 4, "method": "symmetry", "steps": {}}), "upper bound"),
}  # fmt: skip


@pytest.mark.parametrize("case", REJECTED)
def test_rejected_by_name(case):
    name, alter, check = REJECTED[case]
    upper = json.loads(bound(name))
    assert case in ("a rank too high", "a rank too low") or upper["steps"]["parts"] or name == "chain"
    alter(upper["steps"])
    found = verdict(name, upper)
    assert (found.verdict, found.check) == ("invalid", check), found


def test_parts_are_read_by_themselves_only():
    """Of A x + B x the part A is also read by C: its kernel would not be the network's."""
    network = ex.network(
        1, 2, ex.linear("A", "input", 2, 2), ex.linear("B", "input", 2, 2), ex.add("s", "A", "B"),
        ex.linear("C", "A", 2, 2), ex.add("out", "s", "C"),
    )  # fmt: skip
    coefficients = {
        "value": 4,
        "method": "coefficients",
        "steps": {"terms": [{"degree": 1, "coefficients": 4}]},
    }
    part = {"from": "input", "to": "s", "summands": None, "bound": coefficients}
    steps = {"parameters": 12, "prime": 101, "seed": "0", "fields": [], "parts": [part], "rank": 4}
    upper = {"value": 8, "method": "symmetry", "steps": steps}
    found = verifier.check(ex.dimension(network, None, upper))
    assert (found.verdict, found.check) == ("invalid", "symmetry") and "read outside" in found.reason


def test_parts_share_no_matrices():
    layers = [ex.linear("A", "input", 2, 2), ex.linear("B", "input", 2, 2), ex.add("s", "A", "B")]
    again = {**ex.linear("C", "s", 2, 2), "weights": "A"}
    coefficients = {
        "value": 4,
        "method": "coefficients",
        "steps": {"terms": [{"degree": 1, "coefficients": 4}]},
    }
    part = {"from": "input", "to": "s", "summands": None, "bound": coefficients}
    steps = {"parameters": 8, "prime": 101, "seed": "0", "fields": [], "parts": [part], "rank": 4}
    upper = {"value": 4, "method": "symmetry", "steps": steps}
    found = verifier.check(ex.dimension(ex.network(1, 2, *layers, again), None, upper))
    assert (found.verdict, found.check) == ("invalid", "symmetry") and "shares matrices" in found.reason


# -- the adversary ----------------------------------------------------------------------------------------


def spoilt(rng, field, n):
    """A field, or one like it."""
    terms = {(c, tuple(m)): x for c, m, x in field}
    for _ in range(rng.randrange(3)):
        what = rng.randrange(4)
        key = rng.choice(list(terms))
        if what == 0 and len(terms) > 1:
            del terms[key]
        elif what == 1:
            terms[key] = rng.choice([1, -1, 2, -2, 3])
        elif what == 2:
            terms[rng.randrange(n), (rng.randrange(n),)] = rng.choice([1, -1])
        else:
            terms[rng.randrange(n), tuple(sorted(rng.choices(range(n), k=2)))] = 1
    return [[c, list(m), x] for (c, m), x in sorted(terms.items())]


def forged(rng, network):
    """Fields and parts that a careless prover might state."""
    n = network.parameter_count
    known = [encode_field(field) for group in known_groups(network) for field in group.fields]
    known += [[[rng.randrange(n), [rng.randrange(n)], 1]]]
    fields = [spoilt(rng, rng.choice(known), n) for _ in range(rng.randrange(1, 4))]
    names = ["input", *(node.id for node in network.nodes)]
    stated = []
    choices = [p for p in parts(network)] if len(network.nodes) < 9 else []
    for _ in range(rng.randrange(3)):
        if choices:
            part = rng.choice(choices)
            upper = best_upper_bound(part.network).to_json()
            entry = {"from": part.start, "to": part.end, "summands": part.summands, "bound": upper}
            if rng.random() < 0.5:
                entry[rng.choice(["from", "to"])] = rng.choice(names)
            stated.append(json.loads(json.dumps(entry)))
    return fields, stated


@pytest.mark.slow
def test_nothing_false_is_accepted():
    """Thousands of forged certificates of too small a dimension, for random networks."""
    from tests.symmetry.random_networks import random_network

    rng = random.Random(5)
    judged = near = 0
    while judged < 4000:
        table = random_network(rng, max_layers=5, max_size=3)
        network = network_from_table(table)
        n = network.parameter_count
        if n > 24:
            continue
        found = dimension(network)
        low = found.lower_bound
        honest = found.certificate.witness["upper_bound"]
        for _ in range(5):
            fields, stated = forged(rng, network)
            if honest["method"] == "symmetry" and rng.random() < 0.7:
                fields = [*honest["steps"]["fields"], *fields]
                near += 1
            steps = {"parameters": n, "prime": 8388593, "seed": "0", "fields": fields, "parts": stated}
            for k in (n - low + 1, n - low + 2):
                if 1 <= k < n:
                    upper = {"value": n - k, "method": "symmetry", "steps": {**steps, "rank": k}}
                    verdict = verifier.check(ex.dimension(table, None, json.loads(json.dumps(upper))))
                    assert verdict.verdict != "valid", (table, upper)
                    assert not (verdict.reason or "").startswith("internal"), verdict
                    judged += 1
    assert near > 100


# -- kind symmetry-algebra --------------------------------------------------------------------------------


@functools.cache
def algebra(which):
    networks = {
        "chain": lambda: la.lightning((3, 2, 3), (2, 2)),
        "orthogonal": lambda: la.lightning((2, 2, 2), (1, 2)),
        "open": lambda: la.monomial((2, 3, 2)),
        "part": lambda: la.monomial((3, 3, 2, 1)),
        "none": lambda: la.deep_linear(2, 2),
        "images": lambda: la.lightning((2, 3, 2), (1, 1)),
    }
    return json.dumps(symmetry_certificate(networks[which]()).to_json())


@pytest.mark.parametrize("which", ["chain", "orthogonal", "open", "part", "none", "images"])
def test_algebras_are_valid(which):
    found = verifier.check(json.loads(algebra(which)))
    assert found.verdict == "valid"
    assert ("they fill the kernel" in found.claim) == (which != "open")


def change(key, value):
    return lambda c: c["claim"].update({key: value})


ALGEBRAS = {
    "too many fields": ("chain", change("fields", 15), "claim"),
    "too large a rank": ("chain", change("rank", 15), "claim"),
    "fills, but does not": ("open", change("relation", "fill the kernel"), "claim"),
    "an unknown relation": ("chain", change("relation", "are the kernel"), "claim"),
    "another quantity": ("chain", change("quantity", "dimension"), "claim"),
    "gl_3 instead of gl_2 and torus": (
        "chain", change("factors", [{"algebra": "gl", "size": 3}, {"algebra": "torus", "size": 5}]),
        "factors"),
    "a torus instead of gl_2": (
        "chain", lambda c: c["claim"]["factors"].__setitem__(0, {"algebra": "torus", "size": 4}), "factors"),
    "factors for some fields": ("chain", lambda c: c["claim"]["factors"].pop(), "factors"),
    "factors for more fields": (
        "chain", lambda c: c["claim"]["factors"].append({"algebra": "torus", "size": 1}), "factors"),
    "an unknown factor": (
        "chain", lambda c: c["claim"]["factors"].__setitem__(1, {"algebra": "e", "size": 8}), "factors"),
    "fields in another order": (
        "chain", lambda c: c["witness"]["symmetries"]["fields"].insert(
            0, c["witness"]["symmetries"]["fields"].pop(1)), "factors"),
    "a factor for a field of degree two": (
        "images", lambda c: c["claim"]["factors"].append({"algebra": "torus", "size": 1}), "factors"),
    "a linear field after one of degree two": (
        "images", lambda c: c["witness"]["symmetries"]["fields"].append(
            c["witness"]["symmetries"]["fields"].pop(0)), "factors"),
    "a field of degree two with one sign changed": (
        "images", lambda c: c["witness"]["symmetries"]["fields"][-1][0].__setitem__(2, 7), "symmetry"),
    "a field twice": (
        "open",
        lambda c: (c["witness"]["symmetries"]["fields"].append(c["witness"]["symmetries"]["fields"][0]),
                   c["claim"].update(fields=4, factors=None)), "symmetry"),
    "a field of another network": (
        "chain", lambda c: c["witness"]["symmetries"]["fields"].__setitem__(0, [[0, [0], 1]]), "symmetry"),
    "another determinant": (
        "chain", lambda c: c["witness"]["lower_bound"].update(determinant=1), "determinant"),
    "no lower bound": ("chain", lambda c: c["witness"].update(lower_bound=None), "lower bound"),
    "a witness with more": ("chain", lambda c: c["witness"].update(more=1), "fields"),
}  # fmt: skip


@pytest.mark.parametrize("case", ALGEBRAS)
def test_false_algebras_are_rejected(case):
    which, alter, check = ALGEBRAS[case]
    certificate = json.loads(algebra(which))
    alter(certificate)
    found = verifier.check(ex.seal(certificate))
    assert (found.verdict, found.check) == ("invalid", check), found


@pytest.mark.parametrize("which", ["chain", "orthogonal", "part", "images"])
def test_every_field_of_an_algebra_counts(which):
    certificate = json.loads(algebra(which))
    rng = random.Random(which)
    altered = [path for path in places(certificate) if path and path[0] in ("claim", "witness")]
    free = {
        ("witness", "symmetries", "seed"),
        ("witness", "symmetries", "prime"),
        ("witness", "lower_bound", "sampling"),
    }
    for path in rng.sample(altered, min(80, len(altered))):
        for other in rng.sample(OTHERS, 4):
            changed = put(certificate, path, other)
            if json.dumps(changed) == json.dumps(certificate):
                continue
            found = verifier.check(ex.seal(changed))
            assert not (found.reason or "").startswith("internal error"), (path, other, found)
            if found.verdict == "valid":
                claims_less = path == ("claim", "factors") and other is None
                part = path[:3] == ("witness", "symmetries", "parts")
                assert claims_less or path[:3] in free or part, (path, other)


def test_sizes_are_refused_before_work():
    """Predicted from the description: no time is spent."""
    layers = [ex.activation(f"s{i}", f"s{i - 1}" if i else "input", 2) for i in range(2000)]
    deep = ex.network(1, 1, ex.linear("W", "input", 1, 1), *[{**layers[0], "inputs": ["W"]}, *layers[1:]])
    for network in (deep, ex.network(1, 40, ex.linear("W", "input", 40, 40))):
        n = ex.parameter_count(network)
        steps = {
            "parameters": n,
            "prime": 101,
            "seed": "0",
            "fields": [[[0, [0], 1]]],
            "parts": [],
            "rank": 1,
        }
        upper = {"value": n - 1, "method": "symmetry", "steps": steps}
        found = verifier.check(ex.dimension(network, None, upper))
        assert found.verdict == "unsupported" and found.seconds < 1
    wide = ex.network(1, 1_000_000, ex.convolution("c", "input", 1_000_000, 1), ex.activation("s", "c", 2),
                      ex.convolution("d", "s", 1_000_000, 1_000_000))  # fmt: skip
    steps = {"parameters": 1_000_001, "prime": 101, "seed": "0", "fields": [], "parts": [], "rank": 1}
    found = verifier.check(
        ex.dimension(wide, None, {"value": 1_000_000, "method": "symmetry", "steps": steps})
    )
    assert found.verdict == "unsupported" and found.seconds < 1
