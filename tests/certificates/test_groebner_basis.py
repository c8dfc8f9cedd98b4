"""Certificates of kind ``groebner-basis``: valid ones, every field altered, forged ones, costly ones.

The examples are written by hand, without the package: x y = 1, x = y and others whose bases are in textbooks.
"""

from __future__ import annotations

import copy
import json
import random
import time
from pathlib import Path

import pytest

import lightningalg
from lightningalg import verifier

from .examples import seal

ONE = [[1, [0, 0]]]


def make(generators, basis, steps, elements, dimension, degree, **claim):
    """A certificate in variables x, y."""
    witness = {key: claim.pop(key, None) for key in ("power", "real")}
    return seal(
        {
            "format": "lightningalg-certificate",
            "version": 1,
            "kind": "groebner-basis",
            "ideal": {"variables": ["x", "y"], "generators": generators},
            "claim": {
                "quantity": "groebner basis",
                "order": {"name": "degrevlex", "eliminated": []},
                "basis": basis,
                "dimension": dimension,
                "degree": degree,
                "elimination": None,
                "members": [],
                "non_members": [],
                "prime": None,
                "components": None,
                "real_points": None,
                **claim,
            },
            "witness": {"steps": steps, "elements": elements, **witness},
            "strength": "exact",
            "provenance": {},
        }
    )


def component(basis, dimension, degree, multiplicity):
    return {"basis": basis, "dimension": dimension, "degree": degree, "multiplicity": multiplicity}


X, Y = [[1, [1, 0]]], [[1, [0, 1]]]

EXAMPLES = {
    "hyperbola": make(  # 2xy - 2
        [[[2, [1, 1]], [-2, [0, 0]]]],
        [[[1, [1, 1]], [-1, [0, 0]]]],
        [[[0, [["1/2", [0, 0]]]]]],
        [1],
        1,
        2,
        prime=True,
        members=[[[1, [2, 1]], [-1, [1, 0]]]],
        non_members=[X, ONE],
        real_points=[2, "1/2"],
    ),
    "cross": make(
        [[[1, [1, 1]]]],
        [[[1, [1, 1]]]],
        [],
        [0],
        1,
        2,
        components=[component([X], 1, 1, 1), component([Y], 1, 1, 1)],
        power=1,
        real_points=[0, 5],
    ),
    "double line": make(
        [[[1, [2, 0]]]], [[[1, [2, 0]]]], [], [0], 1, 2, components=[component([X], 1, 1, 2)], power=2
    ),
    "circle pair": make(  # x^2 + y^2 = 0, x y = 1: y^3 = -x, so x^2 + y^2 = 0 = x y - 1 = y^3 + x
        [[[1, [2, 0]], [1, [0, 2]]], [[1, [1, 1]], [-1, [0, 0]]]],
        [[[1, [1, 1]], [-1, [0, 0]]], [[1, [2, 0]], [1, [0, 2]]], [[1, [1, 0]], [1, [0, 3]]]],
        [[[0, Y], [1, [[-1, [1, 0]]]]]],
        [1, 0, 2],
        0,
        4,
        real_points="none",
        real={"form": [[1, [2, 0]], [1, [0, 2]]], "constant": [[1, [1, 1]], [-1, [0, 0]]]},
    ),
    "unit": make([X, [[1, [1, 0]], [3, [0, 0]]]], [ONE],
                 [[[0, [["-1/3", [0, 0]]]], [1, [["1/3", [0, 0]]]]]], [2], -1, 0, components=[], power=1),
    "nothing": make([], [], [], [], 2, 1, prime=True, non_members=[X]),
    "elimination": make(  # x - y^2, eliminating x
        [[[1, [1, 0]], [-1, [0, 2]]], [[1, [1, 0]], [-4, [0, 0]]]],
        [[[1, [0, 2]], [-4, [0, 0]]], [[1, [1, 0]], [-4, [0, 0]]]],
        [[[0, [[-1, [0, 0]]]], [1, ONE]]],
        [2, 1],
        0,
        2,
        order={"name": "degrevlex", "eliminated": [0]},
        elimination=[[[1, [0, 2]], [-4, [0, 0]]]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_valid(name):
    verdict = verifier.check(EXAMPLES[name])
    assert verdict.verdict == "valid", str(verdict)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_have_the_published_shape(name):
    jsonschema = pytest.importorskip("jsonschema")
    path = Path(lightningalg.__file__).parent / "certificates/schemas/certificate-v1.schema.json"
    jsonschema.Draft202012Validator(json.loads(path.read_text())).validate(EXAMPLES[name])


def altered(name, change):
    certificate = copy.deepcopy(EXAMPLES[name])
    change(certificate)
    certificate.pop("sha256", None)
    return seal(certificate)


def put(*path):
    *keys, last, value = path

    def change(certificate):
        target = certificate
        for key in keys:
            target = target[key]
        target[last] = value

    return change


FORGED = {
    # (example, change): the check that has to fail
    ("hyperbola", put("claim", "dimension", 0)): "dimension",
    ("hyperbola", put("claim", "degree", 1)): "degree",
    ("hyperbola", put("claim", "degree", None)): "degree",
    ("hyperbola", put("claim", "members", [X])): "members",
    ("hyperbola", put("claim", "non_members", [[]])): "members",
    ("hyperbola", put("claim", "real_points", [2, 2])): "real points",
    ("hyperbola", put("claim", "real_points", [2])): "real points",
    ("hyperbola", put("claim", "real_points", "none")): "real points",
    ("hyperbola", put("claim", "elimination", [])): "elimination",
    ("hyperbola", put("claim", "basis", 0, 0, 0, 2)): "derivation",
    ("hyperbola", put("claim", "prime", False)): "prime",
    ("hyperbola", put("claim", "quantity", "basis")): "claim",
    ("hyperbola", put("claim", "order", {"name": "dp", "eliminated": []})): "order",
    ("hyperbola", put("claim", "order", {"name": "lex", "eliminated": []})): "degree",
    ("hyperbola", put("witness", "elements", [0])): "derivation",
    ("hyperbola", put("witness", "elements", [5])): "derivation",
    ("hyperbola", put("witness", "steps", [[[1, ONE]]])): "derivation",
    ("hyperbola", put("witness", "steps", [[[0, ONE]]])): "derivation",
    ("hyperbola", put("witness", "power", 1)): "components",
    ("hyperbola", put("witness", "real", {})): "real points",
    ("hyperbola", put("ideal", "variables", ["x", "x"])): "ideal",
    ("hyperbola", put("ideal", "variables", ["x", "y;"])): "ideal",
    ("hyperbola", put("ideal", "variables", [])): "ideal",
    ("hyperbola", put("ideal", "generators", 0, [[2, [1]]])): "ideal",
    ("hyperbola", put("strength", "numerical")): "strength",
    # too large an ideal: 1 is a Groebner basis, x y - 1 reduces to zero, but no derivation makes it
    ("hyperbola", put("claim", "basis", [ONE])): "derivation",
    # too small: the generators themselves are no Groebner basis
    ("circle pair", lambda c: (c["claim"]["basis"].pop(), c["witness"]["elements"].pop())): "basis",
    ("circle pair", put("claim", "real_points", [1, 1])): "real points",
    ("circle pair", put("witness", "real", "form", [[1, [2, 0]]])): "real points",
    ("circle pair", put("witness", "real", "form", [[1, [1, 1]], [-1, [0, 0]]])): "real points",
    ("circle pair", put("witness", "real", "constant", [[1, [2, 0]], [1, [0, 2]]])): "real points",
    ("circle pair", put("claim", "prime", True)): "prime",
    ("circle pair", lambda c: c["claim"]["basis"].reverse()): "derivation",
    ("cross", put("claim", "prime", True)): "prime",
    ("cross", put("claim", "components", 0, "dimension", 0)): "components",
    ("cross", put("claim", "components", 0, "multiplicity", 2)): "components",
    ("cross", put("claim", "components", 0, "multiplicity", None)): "components",
    ("cross", lambda c: c["claim"]["components"].pop()): "components",
    ("cross", lambda c: c["claim"]["components"].append(component([X, Y], 0, 1, None))): "components",
    ("cross", put("claim", "components", 0, component([[[1, [1, 0]], [1, [0, 1]]]], 1, 1, 1))): "components",
    ("cross", put("claim", "components", [component([[[1, [1, 1]]]], 1, 2, 1)])): "components",
    ("cross", put("witness", "power", 0)): "components",
    ("cross", put("witness", "power", 65)): "components",
    ("cross", put("witness", "power", None)): "components",
    ("double line", put("witness", "power", 1)): "components",
    ("double line", put("claim", "components", 0, "multiplicity", 1)): "components",
    ("unit", put("claim", "dimension", 0)): "dimension",
    ("unit", put("claim", "prime", True)): "prime",
    ("unit", put("claim", "components", [component([X], 1, 1, None)])): "components",
    ("elimination", put("claim", "elimination", None)): "elimination",
    ("elimination", put("claim", "elimination", [])): "elimination",
    ("elimination", put("claim", "order", "eliminated", [1])): "basis",
    ("elimination", put("claim", "order", "eliminated", [2])): "order",
    ("elimination", put("claim", "order", "eliminated", [0, 0])): "order",
    ("nothing", put("claim", "degree", 0)): "degree",
}


@pytest.mark.parametrize("name, change, check", [(*key, check) for key, check in FORGED.items()])
def test_forged_certificates_fail_the_right_check(name, change, check):
    verdict = verifier.check(altered(name, change))
    assert (verdict.verdict, verdict.check) == ("invalid", check), str(verdict)


def places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


JUNK = [None, True, 0, -1, 7, "1/2", "x", [], {}, [0], "9" * 40, 2**53, [[1, [0, 0]]]]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_place_altered(name):
    """Without a new hash: invalid. With one: never a crash, and valid only where nothing is concluded."""
    generator = random.Random(name)
    for path in places(EXAMPLES[name]):
        if not path or path[0] == "sha256":
            continue
        for junk in generator.sample(JUNK, 4):
            certificate = copy.deepcopy(EXAMPLES[name])
            target = certificate
            for key in path[:-1]:
                target = target[key]
            if json.dumps(target[path[-1]]) == json.dumps(junk):
                continue
            target[path[-1]] = junk
            assert verifier.check(certificate).verdict != "valid"
            certificate.pop("sha256")
            verdict = verifier.check(seal(certificate))
            if verdict.verdict == "valid":
                assert still_true(certificate, path), (path, junk)


def still_true(certificate, path):
    """What may be altered: names, provenance, a statement taken back, other true statements of a kind."""
    if path[0] == "provenance" or path[:2] == ("ideal", "variables"):
        return True
    if path[0] == "claim" and path[1] in ("members", "non_members"):
        return check_members(certificate)
    if path[0] == "claim" and path[1] in ("prime", "real_points"):
        stated = certificate["claim"][path[1]]  # points of the cross x y = 0 have a coordinate 0
        return stated is None or (isinstance(stated, list) and 0 in stated)
    if path[:2] == ("witness", "power"):
        return certificate["witness"]["power"] in range(1, 65)  # a larger power lies in the ideal as well
    if path[:2] == ("ideal", "generators"):
        return True  # more generators of the same ideal: decided by the derivation and the reductions
    return path[0] == "claim" and path[1] == "components" and certificate["claim"]["components"] is None


def check_members(certificate):
    """Decide by hand: the examples' ideals are x y - 1 and 0 where there are members."""
    claim = certificate["claim"]
    hyperbola = certificate["ideal"]["generators"] != []
    values = []
    for f in claim["members"]:
        values.append(sum(eval_term(c, e) for c, e in f) == 0 if hyperbola else f == [])
    for f in claim["non_members"]:
        values.append(sum(eval_term(c, e) for c, e in f) != 0 if hyperbola else f != [])
    return all(values)


def eval_term(coefficient, exponents):
    from fractions import Fraction

    return Fraction(str(coefficient)) * Fraction(3) ** exponents[0] * Fraction(1, 3) ** exponents[1]


@pytest.mark.slow
def test_costly_certificates_are_refused_quickly():
    """Many steps that square, huge powers, wide bases: unsupported or invalid within seconds."""
    base = [[1, [1, 0]], [1, [0, 1]], [1, [0, 0]]]
    big = [[1, [i, j]] for i in reversed(range(60)) for j in reversed(range(60))]
    cases = [
        make([base], [base], [[[k, big]] for k in range(12)], [0], 1, 1),
        make([[[1, [4000, 0]], [1, [0, 4000]]]], [base], [[[0, big]]] * 40, [0], 1, 1),
        make([[[1, [4096, 4096]]]], [[[1, [4096, 4096]]]], [], [0], 1, 8192,
             components=[component([X], 1, 1, None), component([Y], 1, 1, None)], power=64),
        make([[[1, [2, 0]], ["9" * 599, [0, 0]]]], [[[1, [2, 0]], ["9" * 599, [0, 0]]]], [], [0], 1, 2,
             members=[[[1, [4096, 4096]]]] * 50),
    ]  # fmt: skip
    for certificate in cases:
        start = time.monotonic()
        verdict = verifier.check(certificate)
        assert verdict.verdict in ("unsupported", "invalid"), str(verdict)
        assert time.monotonic() - start < 30


@pytest.mark.slow
def test_many_variables_with_a_hard_hilbert_series():
    """Edges of a random graph: the Hilbert series is costly, and the checker says so or computes it."""
    generator = random.Random(4)
    n = 40
    pairs = sorted({tuple(sorted(generator.sample(range(n), 2))) for _ in range(150)})
    monomials = sorted(
        ([1 if k in pair else 0 for k in range(n)] for pair in pairs),
        key=lambda e: (sum(e), *(-k for k in reversed(e))),
    )
    certificate = make([], [], [], [], 0, 0)
    certificate["ideal"] = {
        "variables": [f"x{k}" for k in range(n)], "generators": [[[1, e]] for e in monomials]
    }  # fmt: skip
    certificate["claim"]["basis"] = [[[1, e]] for e in monomials]
    certificate["witness"]["elements"] = list(range(len(monomials)))
    certificate.pop("sha256")
    start = time.monotonic()
    verdict = verifier.check(seal(certificate))
    assert verdict.verdict == "unsupported" or verdict.check == "dimension", str(verdict)
    assert time.monotonic() - start < 60
