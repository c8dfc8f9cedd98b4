"""The verifier against certificates made by a second implementation, and against hostile files."""

from __future__ import annotations

import copy
import functools
import json
import os
import random
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path

import pytest

from lightningalg import verifier

from . import examples as ex

EXAMPLES = ex.examples()
CHAIN = "chain 4,3,2,4|2,2,2 t=2"
FILE = Path(verifier.__file__)
CHECKS = {
    "json",
    "format",
    "version",
    "kind",
    "fields",
    "sha256",
    "network",
    "claim",
    "strength",
    "provenance",
}
CHECKS |= {"identity", "prime", "sampling", "rows", "columns", "lower bound", "determinant", "upper bound"}
CHECKS |= {"degrees", "shapes", "normal form"}


def certificate(name):
    return copy.deepcopy(EXAMPLES[name][0])


def write(path, certificate):
    path.write_text(json.dumps(certificate), encoding="utf-8")
    return path


RUN = "import runpy, sys\n{}\nsys.argv[0] = '{}'\nrunpy.run_path(sys.argv[0], run_name='__main__')"


def run(*arguments, code="", **options):
    """The program in its own process; ``code`` runs before it."""
    command = [sys.executable, "-c", RUN.format(code, FILE)] if code else [sys.executable, str(FILE)]
    return subprocess.run(
        [*command, *map(str, arguments)], capture_output=True, text=True, timeout=60, **options
    )


# --- what is true is accepted ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_valid(name):
    certificate, words = EXAMPLES[name]
    verdict = verifier.check(certificate)
    assert verdict.verdict == "valid", verdict
    assert words in verdict.claim


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_true_and_keep_the_schema(name):
    import jsonschema

    path = resources.files("lightningalg.certificates") / "schemas" / "certificate-v1.schema.json"
    schema = json.loads(path.read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(EXAMPLES[name][0])
    if parameters_of(EXAMPLES[name][0]) <= 40:
        assert ex.is_true(EXAMPLES[name][0])


def parameters_of(certificate):
    return ex.parameter_count(certificate["network"]) if "network" in certificate else 0


@pytest.mark.parametrize("case", ex.CHAINS, ids=lambda case: ex.chain_name(*case))
def test_known_dimensions(case):
    certificate, _ = EXAMPLES[ex.chain_name(*case)]
    assert certificate["claim"] == {"quantity": "dimension", "relation": "equals", "value": ex.CHAINS[case]}


def test_seed_rule_is_the_stated_one():
    """The first words of a stream, computed by hand from the text of FORMAT.md."""
    import hashlib

    digest = hashlib.sha256(b"lightningalg-certificate/1|s|input/3|0").digest()
    network = verifier.parse_network(ex.network(1, 2, ex.linear("w", "input", 2, 1)))
    sampling = verifier.Sampling(network, 2**31 - 1, "s")
    words = [int.from_bytes(digest[i : i + 4], "big") % (2**31 - 1) for i in (0, 4)]
    assert list(sampling.input(3)) == words
    assert list(sampling.stream("parameters", 20)) == ex.stream("s", "parameters", 20, 2**31 - 1)


# --- what is false is rejected, by the right check ---------------------------------------------------------


def put(value, *path):
    def alter(certificate):
        for key in path[:-1]:
            certificate = certificate[key]
        certificate[path[-1]] = value(certificate[path[-1]]) if callable(value) else value

    return alter


def drop(*path):
    def alter(certificate):
        for key in path[:-1]:
            certificate = certificate[key]
        del certificate[path[-1]]

    return alter


LOW, HIGH = ("witness", "lower_bound"), ("witness", "upper_bound")
ALTERATIONS = [
    (CHAIN, put("certificate", "format"), "format", None),
    (CHAIN, put(True, "version"), "version", None),
    (CHAIN, put("1", "version"), "version", None),
    (CHAIN, put(7, "kind"), "kind", None),
    (CHAIN, put(1, "extra"), "fields", "extra"),
    (CHAIN, drop("strength"), "fields", "strength"),
    (CHAIN, put("probabilistic", "strength"), "strength", "probabilistic"),
    (CHAIN, put(1, "provenance", "engine"), "provenance", None),
    (CHAIN, put(None, "network"), "network", None),
    (CHAIN, put(0, "network", "tokens"), "network", "tokens"),
    (CHAIN, put(True, "network", "tokens"), "network", "tokens"),
    (CHAIN, put(10**6 + 1, "network", "width"), "network", "width"),
    (CHAIN, put([], "network", "layers"), "network", "layers"),
    (CHAIN, put(5, "network", "layers", 1, "d_in"), "network", "needs width 5"),
    (CHAIN, put("input", "network", "layers", 1, "id"), "network", "taken"),
    (CHAIN, put("layer-1", "network", "layers", 1, "id"), "network", "taken"),
    (CHAIN, put("1a", "network", "layers", 0, "id"), "network", None),
    (CHAIN, put("a" * 65, "network", "layers", 2, "id"), "network", None),
    (CHAIN, put(["layer-3"], "network", "layers", 0, "inputs"), "network", "not an earlier layer"),
    (CHAIN, put([], "network", "layers", 0, "inputs"), "network", None),
    (CHAIN, put(lambda x: x * 2, "network", "layers", 1, "inputs"), "network", "2 inputs"),
    (CHAIN, put(1, "network", "layers", 0, "degree"), "network", "unknown key"),
    ("heads", put(["h1"], "network", "layers", 2, "inputs"), "network", "at least 2"),
    (
        "heads",
        put(["h1", "h1"], "network", "layers", 2, "inputs"),
        "network",
        "2 layers are no other layer's input",
    ),
    ("heads", put(["h1", "input"], "network", "layers", 2, "inputs"), "network", "width"),
    (CHAIN, put(35, "claim", "value"), "claim", "claims 35"),
    (CHAIN, put("at least", "claim", "relation"), "claim", None),
    (CHAIN, put("rank", "claim", "quantity"), "claim", None),
    (CHAIN, put(None, *HIGH), "claim", "bound: upper"),
    ("mixed", put(16, "claim", "lower"), "claim", "not below"),
    (CHAIN, put(33, *LOW, "value"), "rows", "34 rows for a lower bound of 33"),
    (CHAIN, put(63, *LOW, "value"), "lower bound", "at most 62"),
    (CHAIN, put(0, *LOW, "value"), "lower bound", None),
    (CHAIN, put(2147483629 - 2, *LOW, "prime"), "prime", "is not prime"),
    (CHAIN, put(2, *LOW, "prime"), "prime", None),
    (CHAIN, put(2**31 + 11, *LOW, "prime"), "prime", None),
    (CHAIN, put(2147483647, *LOW, "prime"), "determinant", "recomputed"),
    (CHAIN, put("other", *LOW, "sampling", "seed"), "determinant", "recomputed"),
    (CHAIN, put("a|b", *LOW, "sampling", "seed"), "sampling", None),
    (CHAIN, put("", *LOW, "sampling", "seed"), "sampling", None),
    (CHAIN, put([[0, 16], [17, 33]], *LOW, "rows"), "rows", "two above"),
    (CHAIN, put([[0, 32], [999_999, 10**6]], *LOW, "rows"), "rows", "at most 999999"),
    (CHAIN, put([[33, 0]], *LOW, "rows"), "rows", "decreasing"),
    (CHAIN, put([[0, 34]], *LOW, "rows"), "rows", "35 rows"),
    (CHAIN, put([[1, 34]], *LOW, "rows"), "determinant", "recomputed"),
    (CHAIN, put([[0, 62]], *LOW, "columns"), "columns", "at most 61"),
    (CHAIN, put([[0, 30]], *LOW, "columns"), "columns", "31 columns"),
    (CHAIN, put([], *LOW, "columns"), "columns", None),
    (CHAIN, put(lambda d: d + 1, *LOW, "determinant"), "determinant", "stated"),
    (CHAIN, put(0, *LOW, "determinant"), "determinant", None),
    (CHAIN, put(2147483629, *LOW, "determinant"), "determinant", None),
    (
        CHAIN,
        put([4, 3, 3], *HIGH, "steps", "e"),
        "upper bound",
        "steps.e: stated [4, 3, 3], recomputed [4, 3, 2]",
    ),
    (CHAIN, put(0, *HIGH, "steps", "matrices", 0, "symmetric"), "upper bound", "steps.matrices"),
    (CHAIN, put(33, *HIGH, "value"), "upper bound", "stated 33, recomputed 34"),
    (CHAIN, put("parameters", *HIGH, "method"), "upper bound", None),
    (CHAIN, put("torus", *HIGH, "method"), "upper bound", "does not apply"),
    ("heads", put("flag", *HIGH, "method"), "upper bound", "does not apply"),
    ("explicit", put(lambda v: v[:-1], *LOW, "sampling", "parameters"), "sampling", "7 values, 8 are needed"),
    ("explicit", put("1/2147483629", *LOW, "sampling", "parameters", 3), "sampling", "denominator"),
    ("explicit", put("2/4", *LOW, "sampling", "parameters", 3), "sampling", "lowest terms"),
    ("explicit", put("5", *LOW, "sampling", "parameters", 3), "sampling", "plain integer"),
    ("explicit", put("05/7", *LOW, "sampling", "parameters", 3), "sampling", None),
    ("explicit", put(" 5/7", *LOW, "sampling", "parameters", 3), "sampling", None),
    ("explicit", put("5/7\n", *LOW, "sampling", "parameters", 3), "sampling", None),
    ("explicit", put("٥/7", *LOW, "sampling", "parameters", 3), "sampling", None),
    ("explicit", put(lambda v: v[:-1], *LOW, "sampling", "samples"), "rows", "at most 4"),
    ("explicit", put([], *LOW, "sampling", "samples"), "rows", None),
    ("degrees, chain", put(10, "claim", "input"), "claim", "stated 10, recomputed 9"),
    ("degrees, chain", put(2, "witness", "layers", 1, "parameters", 2), "degrees", "layer-2"),
    ("degrees, chain", put([1, 1, 1], "witness", "layers", 0, "parameters"), "degrees", "3 degrees for 6"),
    ("degrees, chain", put("layer-2", "witness", "layers", 0, "layer"), "degrees", None),
    (
        "degrees, activations",
        put(["r", "s"], "network", "layers", 3, "inputs"),
        "degrees",
        "different degrees",
    ),
    ("identity, GL", put("b", "identity", "symbols", 0, "rows"), "shapes", "product of"),
    ("identity, GL", put(False, "identity", "symbols", 2, "invertible"), "identity", "no inverse"),
    ("identity, GL", put("b", "identity", "symbols", 2, "rows"), "identity", "not square"),
    ("identity, GL", put("G", "identity", "symbols", 1, "name"), "identity", "taken"),
    ("identity, GL", put("a", "identity", "definitions", 0, "name"), "identity", "both a size"),
    ("identity, GL", put(["symbol", "Q"], "claim", "right"), "shapes", "equality"),
    ("identity, GL", put(["eval", "Q"], "claim", "right"), "claim", "not an expression"),
    ("identity, GL", put([], "claim", "right"), "claim", "not an expression"),
    ("identity, GL", put(["symbol", ["Q"]], "claim", "right"), "claim", "no symbol"),
    ("identity, GL", put(["inverse", "A"], "claim", "right"), "claim", "no inverse"),
    ("identity, GL", put([[1, [], ["Q'", "K"]]], "witness", "normal_form"), "normal form", "stated"),
    ("identity, GL", put(["scale", 2, [], ["symbol", "A"]], "claim", "right"), "normal form", "left side"),
    ("identity, scaling", put("5/3", "claim", "left", 1, 1), "normal form", 'left side has [["5/2"'),
    ("identity, scaling", put(0, "claim", "left", 1, 1), "claim", "zero"),
    ("identity, scaling", put([["c", 1], ["c", 1]], "claim", "left", 1, 2), "claim", None),
    ("identity, scaling", put([["V", 1]], "claim", "left", 1, 2), "claim", None),
]


@pytest.mark.parametrize(("name", "alter", "check", "words"), ALTERATIONS)
def test_alterations_are_rejected_by_name(name, alter, check, words):
    altered = certificate(name)
    alter(altered)
    assert verifier.check(altered).check in ("sha256", "format", "version", "kind", "fields")
    verdict = verifier.check(ex.seal(altered))
    assert (verdict.verdict, verdict.check) == ("invalid", check), verdict
    assert check in CHECKS
    assert not words or words in verdict.reason, verdict


@pytest.mark.parametrize(
    ("name", "alter", "what"),
    [
        (CHAIN, put(2, "version"), "version 2"),
        (CHAIN, put("ideal", "kind"), 'kind "ideal"'),
        (CHAIN, put("softmax_attention", "network", "layers", 0, "type"), 'layer type "softmax_attention"'),
        (CHAIN, put("magic", *HIGH, "method"), 'upper bound method "magic"'),
        (CHAIN, put("dice", *LOW, "sampling", "rule"), 'sampling rule "dice"'),
        ("explicit", put("9" * 5000, *LOW, "sampling", "parameters", 0), "5000 digits"),
    ],
)
def test_unknown_things_are_unsupported(name, alter, what):
    altered = certificate(name)
    alter(altered)
    verdict = verifier.check(ex.seal(altered))
    assert (verdict.verdict, verdict.check) == ("unsupported", None)
    assert what in verdict.reason


# --- upper bounds ------------------------------------------------------------------------------------------


def at_most(network, upper_bound):
    return verifier.check(ex.dimension(network, None, upper_bound))


UPPER_BOUNDS = [
    (ex.JOINED, ex.layerwise(("in", 9), ("a", "out", 10))),
    (
        ex.network(1, 3, ex.attention("a", "input", 3, 2, 1), ex.linear("w", "a", 2, 4)),
        ex.layerwise(("a", "w", 14)),
    ),
    (
        ex.network(
            2, 3, ex.attention("a", "input", 3, 3, 1), ex.linear("w", "a", 3, 3), ex.add("s", "w", "a")
        ),
        ex.layerwise(("a", 13), ("w", 9)),
    ),
    (ex.CUBIC, ex.coefficients((1, 4), (3, 12))),
    (ex.chain((2, 3), (1,), tokens=1), ex.coefficients((3, 12))),
    (ex.chain((2, 3, 1), (1, 1), tokens=1), ex.coefficients((9, 10))),
    (ex.monomial((3, 2, 2, 1), 2), ex.coefficients((4, 15))),
    (ex.monomial((3, 2, 2, 1), 2), ex.torus(ex.monomial((3, 2, 2, 1), 2), ("s1", 2), ("s2", 2))),
]


@pytest.mark.parametrize(("network", "bound"), UPPER_BOUNDS)
def test_upper_bounds(network, bound):
    verdict = at_most(network, bound)
    assert verdict.verdict == "valid", verdict
    assert ex.is_true(ex.dimension(network, None, bound))


NOT_APPLICABLE = [
    (ex.chain((2, 2, 2), (1, 1)), ex.coefficients((9, 10)), "more than one attention"),
    (ex.MIXED, ex.coefficients((9, 10)), "attention and activation"),
    (
        ex.network(1, 1, ex.activation("s", "input", 2049), ex.activation("r", "s", 2)),
        ex.coefficients((1, 1)),
        "exceeds",
    ),
    (
        ex.network(1, 1, ex.linear("w", "input", 1, 1), ex.activation("s", "w", 2)),
        ex.torus(ex.CUBIC),
        "no layer is free",
    ),
    (
        ex.network(
            1,
            1,
            ex.linear("w", "input", 1, 1),
            ex.activation("s", "w", 2),
            ex.linear("u", "s", 1, 1),
            ex.add("o", "u", "w"),
        ),
        ex.torus(ex.CUBIC),
        "no layer is free",
    ),
]


@pytest.mark.parametrize(("network", "bound", "why"), NOT_APPLICABLE)
def test_upper_bounds_that_do_not_apply(network, bound, why):
    verdict = at_most(network, bound)
    assert verdict.check == "upper bound"
    assert why in verdict.reason


def test_degrees_of_a_product_are_sums():
    """The square of w x + c x^3 has degrees 2, 4, 6; {2, 6} would prove a dimension of at most 2."""
    layers = []
    for h in "12":
        layers += [ex.linear("w" + h, "input", 1, 1), ex.attention("a" + h, "input", 1, 1, 1)]
        layers += [ex.add("s" + h, "w" + h, "a" + h), ex.activation("p" + h, "s" + h, 2)]
        layers += [ex.linear("v" + h, "p" + h, 1, 1)]
    network = ex.network(1, 1, *layers, ex.add("out", "v1", "v2"))
    low = ex.lower_bound(network)
    assert low["value"] == 3
    assert (
        verifier.check(ex.dimension(network, low, ex.coefficients((2, 1), (4, 1), (6, 1)))).verdict == "valid"
    )
    assert at_most(network, ex.coefficients((2, 1), (6, 1))).check == "upper bound"


def test_sums_of_degrees():
    rng = random.Random(1)
    for _ in range(50):
        degrees = rng.sample(range(1, 20), rng.randrange(1, 4))
        count = rng.randrange(1, 6)
        expected = {0}
        for _ in range(count):
            expected = {x + y for x in expected for y in degrees}
        mask = verifier.sums_of(sum(1 << m for m in degrees), count, verifier.Work(""))
        assert {m for m in range(100) if mask >> m & 1} == expected


# --- hostile files -----------------------------------------------------------------------------------------


def replace(text, old, new):
    assert old in text
    return text.replace(old, new, 1)


GOOD = json.dumps(EXAMPLES["chain 2,2|2 t=2"][0])
HOSTILE = {
    "empty": (b"", "json"),
    "white space": (b" \n", "json"),
    "not an object": (b"[1]", "json"),
    "null": (b"null", "json"),
    "string": (b'"valid"', "json"),
    "truncated": (GOOD.encode()[:-1], "json"),
    "trailing text": (GOOD.encode() + b"{}", "json"),
    "byte order mark": (b"\xef\xbb\xbf" + GOOD.encode(), "json"),
    "UTF-16": (GOOD.encode("utf-16"), "json"),
    "invalid UTF-8": (GOOD.encode().replace(b"na\\u00efve", b"na\xefve"), "json"),
    "zero byte": (GOOD.encode() + b"\0", "json"),
    "control character": (replace(GOOD, "tests/", "tests\n").encode(), "json"),
    "duplicate key": (replace(GOOD, '"version": 1', '"version": 1, "version": 1').encode(), "json"),
    "duplicate inner key": (replace(GOOD, '"rank": 2', '"rank": 2, "rank": 2').encode(), "json"),
    "duplicate key, escaped": (replace(GOOD, '"rank": 2', '"rank": 2, "r\\u0061nk": 2').encode(), "json"),
    "NaN": (replace(GOOD, '"rank": 2', '"rank": NaN').encode(), "json"),
    "Infinity": (replace(GOOD, '"rank": 2', '"rank": -Infinity').encode(), "json"),
    "fraction": (replace(GOOD, '"rank": 2', '"rank": 2.0').encode(), "json"),
    "exponent": (replace(GOOD, '"rank": 2', '"rank": 2e0').encode(), "json"),
    "hexadecimal": (replace(GOOD, '"rank": 2', '"rank": 0x2').encode(), "json"),
    "leading zero": (replace(GOOD, '"rank": 2', '"rank": 02').encode(), "json"),
    "long integer": (replace(GOOD, '"rank": 2', '"rank": ' + "9" * 10**5).encode(), "json"),
    "2^53 + 1": (replace(GOOD, '"rank": 2', f'"rank": {2**53 + 1}').encode(), "json"),
    "comment": (b"// x\n" + GOOD.encode(), "json"),
    "single quotes": (GOOD.replace('"', "'").encode(), "json"),
    "deep": (b"[" * 10**5, "json"),
    "deep and closed": (b"[" * 10**5 + b"]" * 10**5, "json"),
    "deep objects": (b'{"a":' * 10**5, "json"),
    "deep behind a string": (rb'["\\\"[",' + b"[" * 201, "json"),
    "201 levels": (b"[" * 201 + b"]" * 201, "json"),
    "brackets in a string": (json.dumps("[" * 10**5).encode(), "json"),
    "negative depth": (b"]" * 50 + b"[" * 50, "json"),
    "unclosed string": (b'"' + b"\\" * 10**6, "json"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts(name, tmp_path):
    data, check = HOSTILE[name]
    path = tmp_path / "hostile.json"
    path.write_bytes(data)
    start = time.process_time()
    verdict = verifier.check_file(path)
    assert (verdict.verdict, verdict.check) == ("invalid", check), verdict
    assert "internal" not in verdict.reason
    assert len(verdict.reason) < 500
    assert time.process_time() - start < 1


def test_depth_200_is_allowed():
    for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
        deep = [opening * n + b"1" + closing * n for n in (200, 201)]
        assert "201 levels" in verifier.decide(lambda deep=deep: deep[1], verifier.silent).reason
        assert verifier.parse(deep[0]) == json.loads(deep[0])
    assert "not an object" in verifier.decide(lambda: b"[" * 200 + b"]" * 200, verifier.silent).reason


def test_200_levels_anywhere_are_read_safely():
    """Wherever an expression or a value may stand, and from deep within Python's stack."""
    deep = functools.reduce(lambda inner, _: [inner], range(190), [])

    def from_depth(frames, altered):
        return from_depth(frames - 1, altered) if frames else verifier.check(altered)

    for name, *path in (
        ("identity, GL", "claim", "left"),
        ("identity, GL", "identity", "definitions", 0, "expression"),
        ("identity, GL", "witness", "normal_form"),
        (CHAIN, *LOW, "rows"),
        (CHAIN, *HIGH, "steps"),
        (CHAIN, "network", "layers"),
        ("degrees, chain", "witness", "layers"),
    ):
        altered = certificate(name)
        put(deep, *path)(altered)
        verdict = from_depth(500, ex.seal(altered))
        assert verdict.verdict == "invalid", verdict
        assert len(verdict.reason) < 500


@pytest.mark.parametrize("filling", [b"[]", b'"",', b"{}", b"\\", b'\\"', b'{"a":0},'])
def test_64_mebibytes_of_anything_are_refused_in_bounded_memory(filling, tmp_path):
    resource = pytest.importorskip("resource")
    path = tmp_path / "large.json"
    path.write_bytes(b"[" + filling * ((2**26 - 1) // len(filling)))

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))

    result = subprocess.run(
        [sys.executable, FILE, path], capture_output=True, text=True, preexec_fn=limit, timeout=30
    )
    assert result.returncode in (1, 2)
    assert not result.stderr
    assert "internal error" not in result.stdout


def test_file_beyond_64_mebibytes_is_not_read(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(65 * 2**20)
    start = time.process_time()
    verdict = verifier.check_file(path)
    assert verdict.check == "json"
    assert str(65 * 2**20) in verdict.reason
    assert time.process_time() - start < 0.1


def test_only_regular_files_are_read(tmp_path):
    fifo, link, loop = tmp_path / "fifo", tmp_path / "link.json", tmp_path / "loop"
    os.mkfifo(fifo)
    link.symlink_to(write(tmp_path / "good.json", EXAMPLES[CHAIN][0]))
    loop.symlink_to(loop)
    for path in (
        tmp_path,
        fifo,
        "/dev/zero",
        "/dev/null",
        tmp_path / "missing",
        loop,
        tmp_path / ("a" * 300),
        "a\0b",
    ):
        verdict = verifier.check_file(path)
        assert verdict.verdict == "unsupported", path
        assert verdict.reason.startswith("unreadable: "), verdict
    assert verifier.check_file(link).verdict == "valid"


def huge(**changes):
    """A certificate of sizes that nobody can compute, otherwise in order."""
    network = ex.chain((10**6, 10**6), (10**6,), tokens=10**6)
    network |= changes.pop("network", {})
    r = 10**6
    low = {"value": r, "prime": ex.P, "sampling": {"rule": "sha256-counter", "seed": "s"}, "determinant": 1}
    low |= {"rows": [[0, r - 1]], "columns": [[0, r - 1]]} | changes
    return ex.dimension(network, low, None)


TOO_LARGE = {
    "rows": huge(),
    "one row of a huge network": huge(value=1, rows=[[0, 0]], columns=[[0, 0]]),
    "many tokens": huge(
        network=ex.chain((1, 1), (1,), tokens=10**6), value=3, rows=[[0, 2]], columns=[[0, 2]]
    ),
    "many tokens and rows": huge(
        network=ex.chain((100, 100), (9,), tokens=10**5), value=99, rows=[[0, 98]], columns=[[0, 98]]
    ),
    "degree sets": ex.dimension(
        ex.network(
            1,
            1,
            *[ex.activation(f"s{i}", "input", i) for i in range(1, 2000)],
            ex.add("sum", *[f"s{i}" for i in range(1, 2000)]),
            *[ex.activation(f"r{i}", "sum", 2) for i in range(3000)],
            ex.add("out", *[f"r{i}" for i in range(3000)]),
        ),
        None,
        ex.coefficients((1, 1)),
    ),
    "binomial": ex.dimension(
        ex.network(1, 10**6, ex.activation("s", "input", 4096)), None, ex.coefficients((4096, 1))
    ),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_too_large_is_refused_at_once(name):
    start = time.process_time()
    verdict = verifier.check(TOO_LARGE[name])
    if name == "many tokens":  # three rows of 10^6 tokens are many, but can be computed
        assert verdict.verdict == "unsupported" or verdict.check == "determinant"
    else:
        assert verdict.verdict == "unsupported", verdict
        assert time.process_time() - start < 1.5
    assert "internal" not in verdict.reason


def test_widths_beyond_the_format_are_invalid():
    verdict = verifier.check(
        ex.dimension(ex.chain((10**9, 10**9), (10**9,)), None, ex.layerwise(("layer-1", 1)))
    )
    assert verdict.check == "network"


def test_many_layers():
    network = ex.chain((1,) * 5001, (1,) * 5000)
    start = time.process_time()
    assert verifier.check(ex.dimension(network, None, ex.by_parameters(network))).verdict == "valid"
    claim = {"quantity": "degrees", "input": 3, "parameters": []}
    layers = [{"layer": layer["id"], "input": 3, "parameters": []} for layer in network["layers"]]
    assert verifier.check(ex.certificate("degrees", network, claim, {"layers": layers})).check == "degrees"
    assert time.process_time() - start < 5
    too_many = ex.network(2, 1, *[{}] * 100_001)
    bound = {"value": 1, "method": "parameters", "steps": {}}
    assert "at most 100000" in verifier.check(ex.dimension(too_many, None, bound)).reason


EXPANSIONS = {
    "words": [["product", ["symbol", "{}"], ["symbol", "{}"]], "letters"],
    "terms": [
        ["product", ["sum", ["symbol", "A"], ["symbol", "{}"]], ["sum", ["symbol", "B"], ["symbol", "{}"]]],
        "terms",
    ],
    "coefficients": [["scale", 10**15, [], ["product", ["symbol", "{}"], ["symbol", "{}"]]], "digits"],
    "exponents": [["scale", 1, [["x", 2**52]], ["product", ["symbol", "{}"], ["symbol", "{}"]]], "exponent"],
}


@pytest.mark.parametrize("name", EXPANSIONS)
def test_expansions_are_bounded(name):
    shape, what = EXPANSIONS[name]
    start = ["symbol", "A"] if name in ("words", "terms") else ["product", ["symbol", "A"], ["inverse", "A"]]
    definitions = {"D0": start}
    for i in range(60):
        definitions[f"D{i + 1}"] = json.loads(json.dumps(shape).replace("{}", f"D{i}"))
    symbols = [ex.symbol("A", 2, 2, True), ex.symbol("B", 2, 2)]
    made = ex.identity("bomb", ["x"], symbols, definitions, ["symbol", "D60"], ["symbol", "D60"], [])
    begin = time.process_time()
    verdict = verifier.check(made)
    assert verdict.verdict == "unsupported"
    assert what in verdict.reason
    assert time.process_time() - begin < 5


def test_objects_in_memory_are_read_as_strictly():
    for value in (1.0, float("nan"), True, 10**5000, {1, 2}, b"x"):
        altered = certificate(CHAIN)
        altered["network"]["tokens"] = value
        assert verifier.check(altered).verdict == "invalid"
    circular: dict = {}
    circular["a"] = circular
    assert verifier.check(circular).check == "json"
    deep: list = []
    for _ in range(10**5):
        deep = [deep]
    assert verifier.check(deep).check == "json"
    assert verifier.check(None).check == "json"


def test_no_exception_becomes_valid(monkeypatch):
    def broken(*_):
        raise KeyError("\x1b[31m")

    monkeypatch.setattr(verifier, "parse_network", broken)
    verdict = verifier.check(EXAMPLES[CHAIN][0])
    assert verdict.verdict == "unsupported"
    assert "internal error: KeyError" in verdict.reason
    assert "\x1b" not in verdict.reason


# --- arithmetic --------------------------------------------------------------------------------------------


def test_primes():
    sieve = bytearray([1]) * 30_000
    sieve[:2] = b"\0\0"
    for i in range(2, 174):
        sieve[i * i :: i] = bytes(len(range(i * i, 30_000, i)))
    assert [verifier.is_prime(n) for n in range(30_000)] == [bool(x) for x in sieve]
    for n in (2147483647, 2147483629, 8388593, 1000000007):
        assert verifier.is_prime(n)
    # Carmichael numbers, strong pseudoprimes to 2 (3, 5), squares, a product of two primes
    for n in (561, 1729, 3215031, 2047, 1373653, 25326001, 46341 * 46337, 46337**2, 1194649, 12327121):
        assert not verifier.is_prime(n)


PRIMES = [3, 5, 65537, 8388593, 16777213, 1000000007, 2147483647]


@pytest.mark.parametrize("prime", PRIMES)
def test_determinants_agree(prime):
    np = pytest.importorskip("numpy")
    rng = random.Random(prime)
    for n in (1, 2, 3, 17, 40):
        for kind in ("random", "singular", "sparse", "largest"):
            rows = [[rng.randrange(prime) for _ in range(n)] for _ in range(n)]
            if kind == "singular" and n > 1:
                rows[-1] = [(a + b) % prime for a, b in zip(rows[0], rows[n // 2], strict=True)]
            if kind == "sparse":
                rows = [[x if rng.random() < 2 / n else 0 for x in row] for row in rows]
            if kind == "largest":
                rows = [[prime - 1 - (i == j) for j in range(n)] for i in range(n)]
            expected = ex.determinant(rows) % prime
            assert verifier.plain_determinant(copy.deepcopy(rows), prime, verifier.silent) == expected
            matrix = np.array(rows, dtype=np.float64)
            assert verifier.BatchDeterminant(np, prime, verifier.silent)(matrix) == expected


@pytest.mark.parametrize("prime", PRIMES)
def test_large_determinants_agree(prime):
    """Large enough for several blocks of terms and tiles."""
    np = pytest.importorskip("numpy")
    flint = pytest.importorskip("flint")
    matrix = np.random.default_rng(prime).integers(0, prime, (530, 530))
    expected = int(flint.nmod_mat(matrix.tolist(), prime).det())
    assert verifier.BatchDeterminant(np, prime, verifier.silent)(matrix.astype(np.float64)) == expected


def test_exactness_of_the_worst_products():
    """C -= A B with every entry at its largest, both signs, for all p: compared with Python's integers."""
    np = pytest.importorskip("numpy")
    for prime in PRIMES:
        determinant = verifier.BatchDeterminant(np, prime, verifier.silent)
        h = determinant.bound
        for sign in (1, -1):
            k = 2000
            a, b = np.full((2, k), float(sign * h)), np.full((k, 2), float(h))
            c = np.full((2, 2), float(-sign * h))
            determinant.subtract_product(c, a, b)
            assert all((int(x) - (-sign * h - sign * h * h * k)) % prime == 0 for x in c.ravel())
            assert abs(c).max() <= h
        for x in (2**52, -(2**52), 2**52 - 1, prime, prime // 2, prime // 2 + 1, 0, -prime):
            value = np.array([float(x)])
            determinant.reduce(value, np.empty(1))
            assert (int(value[0]) - x) % prime == 0
            assert abs(value[0]) <= h
        ring = verifier.BatchArithmetic(np, prime)
        for k in (1, 7, 10**5):
            left, right = np.full((1, k), prime - 1), np.full((k, 1), prime - 1)
            assert int(ring.product(left, right)[0, 0]) == k % prime


@pytest.mark.parametrize("prime", [3, 8388593, 2147483647])
@pytest.mark.parametrize(
    "name", ["chain 4,3,2,4|2,2,2 t=2", "heads", "residual", "joined", "mixed", "monomial"]
)
def test_evaluators_agree(name, prime):
    """Python's integers, numpy, and p-adic differences of the naive evaluator."""
    np = pytest.importorskip("numpy")
    network = EXAMPLES[name][0]["network"]
    sampling = verifier.Sampling(verifier.parse_network(network), prime, "seed")
    n = ex.parameter_count(network)
    rows, columns = [0, 2, 999_999], sorted(random.Random(1).sample(range(n), min(n, 20)))
    plain = verifier.plain_minor(sampling, rows, columns, verifier.silent)
    batch = verifier.batch_minor(np, sampling, rows, columns, verifier.silent)
    assert batch.astype(np.int64).tolist() == plain
    assert ex.minor(network, {"rule": "sha256-counter", "seed": "seed"}, prime, rows, columns) == plain


def medium():
    """r = 150: beyond what is done in Python when numpy is at hand."""
    network = ex.chain((8, 8, 8), (4, 4))
    columns = sorted(random.Random(4).sample(range(ex.parameter_count(network)), 150))
    low = {"value": 150, "prime": ex.P, "sampling": {"rule": "sha256-counter", "seed": "s"}, "determinant": 1}
    return network, low | {"rows": [[0, 149]], "columns": ex.runs(columns)}


BLOCK = "for name in {}: sys.modules[name] = None"
ENVIRONMENTS = [
    ("", "numpy"),
    (BLOCK.format(["numpy"]), "flint"),
    (BLOCK.format(["flint"]), "numpy"),
    (BLOCK.format(["numpy", "flint"]), "python"),
]


def test_verdicts_do_not_depend_on_the_libraries(tmp_path, monkeypatch):
    """The same verdicts, word by word, with numpy, with flint, and with neither."""
    network, low = medium()
    good = [EXAMPLES[name][0] for name in ("explicit", "heads", "identity, GL")]
    bad = [ex.dimension(network, low, None), ex.dimension(network, low | {"determinant": 2}, None)]
    paths = [write(tmp_path / f"{i}.json", value) for i, value in enumerate(good + bad)]
    # low thresholds, so that every method is used
    source = FILE.read_text("utf-8")
    for old, new in (
        ('seconds["python"] <= 0.5', 'seconds["python"] <= 0.01'),
        ('seconds["python"] > 5', "True"),
    ):
        assert source.count(old) == 1
        source = source.replace(old, new)
    program = tmp_path / "verifier.py"
    program.write_text(source, encoding="utf-8")
    outputs = set()
    for code, method in ENVIRONMENTS:
        command = [sys.executable, "-c", RUN.format(code, program), *map(str, paths)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert result.returncode == 1, (method, result)
        assert not result.stderr
        outputs.add(result.stdout)
    assert len(outputs) == 1, outputs
    text = outputs.pop()
    assert text.count(": valid") == 3
    assert text.count("determinant: stated 1, recomputed ") == 1


def test_large_sizes_without_libraries_are_unsupported(tmp_path):
    network = ex.chain((41, 41, 41, 41), (20, 20, 20))
    low = medium()[1] | {"value": 5000, "rows": [[0, 4999]], "columns": [[0, 4999]]}
    path = write(tmp_path / "large.json", ex.dimension(network, low, None))
    result = run(path, code=BLOCK.format(["numpy", "flint"]))
    assert result.returncode == 2
    assert "unsupported: needs numpy or python-flint for a minor of size 5000" in result.stdout


# --- the program -------------------------------------------------------------------------------------------


def test_exit_codes_and_output(tmp_path):
    good = write(tmp_path / "good.json", EXAMPLES[CHAIN][0])
    bad = write(tmp_path / "bad.json", EXAMPLES[CHAIN][0] | {"strength": "numerical"})
    missing = tmp_path / "missing.json"
    result = run(good)
    words = "dimension of lightning_attention chain, widths 4,3,2,4, ranks 2,2,2, tokens 2"
    words += " = 34 of 62 parameters (exact)"
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{good}: valid\n    {words}\n", "")
    result = run(good, missing)
    assert (result.returncode, result.stdout.splitlines()[-1]) == (
        2,
        f"{missing}: unsupported: unreadable: No such file or directory",
    )
    result = run(missing, bad, good)
    assert result.returncode == 1
    assert f"{bad}: invalid: sha256: sha256: stated " in result.stdout


def test_json_output(tmp_path):
    good = write(tmp_path / "good.json", EXAMPLES[CHAIN][0])
    bad = write(tmp_path / "bad.json", EXAMPLES[CHAIN][0] | {"kind": 3})
    result = run("--json", good, bad)
    assert result.returncode == 1
    assert not result.stderr
    output = json.loads(result.stdout)
    assert list(output) == ["results"]
    first, second = output["results"]
    assert set(first) == set(second) == {"file", "verdict", "check", "reason", "claim", "seconds"}
    assert (first["file"], first["verdict"], first["check"], first["reason"]) == (
        str(good),
        "valid",
        None,
        None,
    )
    assert "= 34 of 62" in first["claim"]
    assert (second["verdict"], second["check"], second["claim"]) == ("invalid", "kind", None)


def test_hostile_names_are_printed_harmlessly(tmp_path):
    path = tmp_path / os.fsdecode(b"a\n\x1b[31m\xff.json")
    path.write_text("[")
    result = run(path, env={**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    assert result.returncode == 1
    assert "\x1b" not in result.stdout
    assert len(result.stdout.splitlines()) == 1
    assert not result.stderr
    altered = certificate("identity, GL")
    altered["identity"]["name"] = "\x1b[31m\ud800\n: valid"
    verdict = verifier.check(ex.seal(altered))
    assert verdict.verdict == "valid"
    assert verdict.claim.isascii()
    assert verdict.claim.isprintable()


def test_help_says_what_is_trusted():
    result = run("--help")
    assert result.returncode == 0
    assert "Trusted are" in result.stdout
    assert run().returncode == 2


def test_progress_only_when_asked_for(tmp_path):
    """A small file says nothing even with --progress."""
    path = write(tmp_path / "good.json", EXAMPLES[CHAIN][0])
    assert run("--progress", path).stderr == ""


def test_small_limits_of_integers_in_text_do_not_matter(tmp_path):
    path = write(tmp_path / "good.json", EXAMPLES["degrees, large"][0])
    assert run(path, env={**os.environ, "PYTHONINTMAXSTRDIGITS": "640"}).returncode == 0
