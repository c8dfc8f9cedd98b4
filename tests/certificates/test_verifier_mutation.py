"""Every field of certificates of every kind is altered in many ways; every alteration must be noticed.

Without a new hash each alteration fails.  With a new hash, too, except where the altered certificate is still
true: `FREE` lists the places from whose value nothing is concluded (a short list, on purpose).  For the few
others the naive implementation of examples.py decides: a certificate may be valid only if it is true.
"""

from __future__ import annotations

import copy
import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lightningalg import verifier

from . import examples as ex

NAMES = [
    "chain 2,2|2 t=2",
    "explicit",
    "heads",
    "coefficients, t=2",
    "mixed",
    "monomial",
    "monomial, torus",
    "composition, 2,2,3,1 r=3",
    "composition, residual",
    "at least",
    "bias, coefficients",
    "bias, torus",
    "convolution",
    "convolution, strided",
    "tied",
    "tied, residual",
    "tied, every type",
    "degrees, tied",
    "degrees, chain",
    "degrees, activations",
    "identity, GL",
    "identity, scaling",
    "identity, terms",
]

FREE = [("provenance",), ("identity", "name")]  # any strings at all

ALLOWED = {  # where the altered certificate may fail, by the first keys of the altered place
    ("format",): {"format"},
    ("version",): {"version"},
    ("kind",): {"kind", "fields"},
    ("network",): {
        "network",
        "claim",
        "lower bound",
        "sampling",
        "rows",
        "columns",
        "determinant",
        "upper bound",
        "degrees",
    },
    ("identity",): {"identity", "claim", "shapes", "normal form"},
    ("claim",): {"claim", "shapes", "normal form"},
    ("strength",): {"strength"},
    ("provenance",): {"provenance"},
    ("witness", "lower_bound"): {
        "lower bound",
        "claim",
        "prime",
        "sampling",
        "rows",
        "columns",
        "determinant",
    },
    ("witness", "upper_bound"): {"upper bound", "claim"},
    ("witness", "layers"): {"degrees"},
    ("witness", "normal_form"): {"normal form"},
    ("witness",): {"fields"},
    ("sha256",): {"sha256"},
    (): {"format", "version", "kind", "fields", "json"},
}


def places(value, path=()):
    """The path of every value in a certificate."""
    yield path
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, entry in entries:
        yield from places(entry, (*path, key))


def at(value, path):
    for key in path:
        value = value[key]
    return value


def put(certificate, path, value):
    if not path:
        return value
    altered = copy.deepcopy(certificate)
    at(altered, path[:-1])[path[-1]] = value
    return altered


OTHERS = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    3,
    1.0,
    "",
    "x",
    "1",
    "1/2",
    [],
    {},
    [[]],
    10**9,
    2**53,
    2**53 + 1,
    10**400,
]
OTHERS += ["9" * 30, "9" * 10**5, "input", "Q"]


def variants(value):
    """Values that are not the given one."""
    made = list(OTHERS)
    if isinstance(value, int) and not isinstance(value, bool):
        made += [
            value + 1,
            value - 1,
            -value,
            value + 2**31,
            str(value),
            min(value, 2**60) * 1.0,
            [value],
            value * 2,
        ]
    if isinstance(value, str):
        made += [
            value + "x",
            value[:-1],
            value.upper(),
            value.lower(),
            [value],
            {value: value},
            value + "\n",
            value + "\0",
        ]
    if isinstance(value, dict):
        made += [{**value, "extra": 0}, list(value.items()), list(value)]
        made += [{k: v for k, v in value.items() if k != key} for key in value]
        made += [{(k + "x" if k == key else k): v for k, v in value.items()} for key in value]
    if isinstance(value, list):
        made += [
            value[1:],
            value[:-1],
            value + value[-1:],
            value[::-1],
            [*value, None],
            {"0": value},
            [value],
            value[1:] + value[:1],
        ]
        made += [[*value[:i], value[i + 1], value[i], *value[i + 2 :]] for i in range(len(value) - 1)]
    return [other for other in made if text(other) != text(value)]


def text(value):
    return json.dumps(value, sort_keys=True)


def reseal(certificate, path):
    """With a new hash, unless the alteration is of the hash or leaves no object."""
    if (
        not isinstance(certificate, dict)
        or path == ("sha256",)
        or (path == () and "sha256" not in certificate)
    ):
        return certificate
    return ex.seal(certificate)


def allowed(path):
    for length in (2, 1, 0):
        if path[:length] in ALLOWED:
            return ALLOWED[path[:length]]
    raise AssertionError(path)


def examine(original, altered, path, truth):
    """One altered certificate, with its old hash and with a new one; whether the latter was valid."""
    verdict = verifier.check(altered)
    assert verdict.verdict != "valid", path
    assert "internal" not in verdict.reason, verdict
    assert verdict.check in ("json", "format", "version", "kind", "fields", "sha256", None), (path, verdict)
    if verdict.check is None:
        assert path[:1] in ((), ("version",), ("kind",)), (path, verdict)

    resealed = reseal(altered, path)
    verdict = verifier.check(resealed)
    if verdict.verdict == "valid":
        assert truth(resealed), (path, at(resealed, path))
        return True
    assert "internal" not in verdict.reason, verdict
    assert verdict.verdict == "unsupported" or verdict.check in allowed(path) | {"json"}, (path, verdict)
    return False


def is_free(certificate, path):
    return any(path[: len(free)] == free for free in FREE)


#: large ones; what is in them is in smaller ones too
LARGE = {"explicit", "identity, terms", "tied, every type", "composition, residual", "degrees, tied"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LARGE)) for name in NAMES]
)
def test_every_field(name):
    original = ex.examples()[name][0]
    still_valid = []
    for path in places(original):
        for other in variants(at(original, path)):
            altered = put(original, path, other)
            if examine(original, altered, path, lambda c, path=path: is_free(c, path) or ex.is_true(c)):
                still_valid.append(path)
    # What remained valid (and true): only free text, names, and statements that ask for less.
    unexpected = {
        path for path in still_valid if not is_free(original, path) and not harmless(original, path)
    }
    assert not unexpected


def harmless(certificate, path):
    """Places where some alterations leave a true certificate; `is_true` has confirmed each of these."""
    if path[:1] == ("network",):
        # The output's id, which nothing refers to; the order of summands; sizes, where only an upper bound or
        # degrees are claimed.
        only_upper = certificate["claim"].get("relation") == "at most" or certificate["kind"] == "degrees"
        # Another stride, where there is one window anyway; layers left out or exchanged whose parameters are
        # none of the minor's (a bias at the end; a tied layer).
        return only_upper or path[-1] in ("id", "inputs", "stride", "layers") or path[-2] == "inputs"
    if certificate["kind"] == "matrix-identity":  # other symbols of which the identity is true as well
        return path[0] in ("identity", "claim")
    return path[-1:] == ("samples",)  # more samples, which no row refers to


DIMENSION = ["chain 2,2|2 t=2", "explicit", "heads", "mixed", "monomial", "convolution", "tied, every type"]


@given(st.sampled_from(NAMES), st.integers(0, 2**32), st.integers(2, 4))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_several_fields_at_once(name, seed, count):
    """Alterations that might hide one another: accepted only if true."""
    rng = random.Random(seed)
    altered = ex.examples()[name][0]
    for _ in range(count):
        path = rng.choice([p for p in places(altered) if p and p[0] != "sha256"])
        altered = put(altered, path, rng.choice(variants(at(altered, path))))
    verdict = verifier.check(ex.seal(altered))
    assert verdict.reason is None or "internal" not in verdict.reason, verdict
    if verdict.verdict == "valid" and text(altered) != text(ex.examples()[name][0]):
        assert ex.is_true(altered)


@given(st.sampled_from(DIMENSION), st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_texts_with_altered_bytes(name, seed):
    """Bytes of the file flipped, cut out or doubled: never valid, never an internal error."""
    rng = random.Random(seed)
    data = bytearray(json.dumps(ex.examples()[name][0]).encode())
    original = json.loads(data)
    position = rng.randrange(len(data))
    alteration = rng.randrange(3)
    if alteration == 0:
        data[position] ^= 1 << rng.randrange(8)
    elif alteration == 1:
        del data[position : position + rng.randrange(1, 20)]
    else:
        data[position:position] = data[position : position + rng.randrange(1, 20)]
    verdict = verifier.decide(lambda: bytes(data), verifier.silent)
    if verdict.verdict == "valid":  # white space
        assert text(json.loads(data)) == text(original)
    else:
        assert "internal" not in verdict.reason, verdict
