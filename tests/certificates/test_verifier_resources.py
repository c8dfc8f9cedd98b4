"""Small certificates with costly contents: the checker refuses them before it pays."""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys

import pytest

import lightningalg as la
from lightningalg import verifier
from lightningalg.certificates.records import sha256_of

LONG = 10**598 + 7  # 599 digits: the longest that the format allows is 600


def sealed(**parts) -> dict:
    rest = {
        "format": "lightningalg-certificate",
        "version": 1,
        "strength": "exact",
        "provenance": {},
        **parts,
    }
    return {**rest, "sha256": sha256_of(rest)}


def basis_claim(basis: list, **more) -> dict:
    return {
        "quantity": "groebner basis", "order": {"name": "degrevlex", "eliminated": []}, "basis": basis,
        "dimension": 0, "degree": 1, "elimination": None, "members": [], "non_members": [], "prime": None,
        "components": None, "real_points": None, **more,
    }  # fmt: skip


def unit(n: int, k: int, power: int = 1) -> list[int]:
    return [power * (i == k) for i in range(n)]


def division(n: int) -> dict:
    """The remainder of prod x_k^4096 modulo x_k - 1/q_k has millions of digits."""
    basis = [[[1, unit(n, k)], [f"-1/{LONG + 2 * k}", [0] * n]] for k in reversed(range(n))]
    return sealed(
        kind="groebner-basis",
        ideal={"variables": [f"x{k}" for k in range(n)], "generators": basis},
        claim=basis_claim(basis, non_members=[[[1, [4096] * n]]]),
        witness={"steps": [], "elements": list(range(n)), "power": None, "real": None},
    )


def real_point(n: int) -> dict:
    """The value of prod x_k^4096 at long rationals."""
    generator = [[1, [4096] * n]]
    return sealed(
        kind="groebner-basis",
        ideal={"variables": [f"x{k}" for k in range(n)], "generators": [generator]},
        claim=basis_claim([generator], dimension=n - 1, degree=4096 * n, real_points=[f"1/{LONG}"] * n),
        witness={"steps": [], "elements": [0], "power": None, "real": None},
    )


def many_elements(n: int, m: int) -> dict:
    """Powers of many variables: a Hilbert series of degree 4096 m, and many pairs."""
    basis = [[[1, unit(n, k, 4096)]] for k in reversed(range(m))]
    return sealed(
        kind="groebner-basis",
        ideal={"variables": [f"x{k}" for k in range(n)], "generators": basis},
        claim=basis_claim(basis, dimension=n - m),
        witness={"steps": [], "elements": list(range(m)), "power": None, "real": None},
    )


def many_components(n: int) -> dict:
    """A product of n variables: a million pairs of components, and products nested n deep."""
    generator = [[1, [1] * n]]
    components = [
        {"basis": [[[1, unit(n, k)]]], "dimension": n - 1, "degree": 1, "multiplicity": 1} for k in range(n)
    ]
    return sealed(
        kind="groebner-basis",
        ideal={"variables": [f"x{k}" for k in range(n)], "generators": [generator]},
        claim=basis_claim([generator], dimension=n - 1, degree=n, components=components),
        witness={"steps": [], "elements": [0], "power": 1, "real": None},
    )


def long_form(d: int) -> dict:
    """A linear form with d entries in a certificate on a boundary."""
    certificate = json.loads(json.dumps(la.boundary(la.lightning((3, 1), (1,))).to_json()))
    certificate["network"] = la.lightning((d, 1), (1,)).to_json()
    certificate["claim"] |= {"dimension": 3 * d - 2, "complement_dimension": 3 * d - 2}
    for entry in certificate["witness"]["strata"]:
        if entry["argument"] == "family":
            entry["family"]["q"] = [[j, 1] for j in range(d)]
    del certificate["sha256"]
    return {**certificate, "sha256": sha256_of(certificate)}


def many_coefficients(d: int) -> dict:
    """Equations in the d^2 (d + 1)/2 coefficients of a wide layer."""
    certificate = json.loads(json.dumps(la.singular_points(la.lightning((2, 1), (1,))).to_json()))
    certificate["network"] = la.lightning((d, 1), (1,)).to_json()
    claim = certificate["claim"]
    claim |= {"dimension": 3 * d - 2, "singular": [], "rank_product_at_most_one": False}
    claim["smooth"] = [[0, 0, 0], [1, 1, 0], [1, 1, 1]]
    certificate["witness"]["strata"] = [
        {"stratum": stratum, "singular": False, "argument": "equations", "equations": []}
        for stratum in claim["smooth"]
    ]
    del certificate["sha256"]
    return {**certificate, "sha256": sha256_of(certificate)}


def long_denominators(d: int, rank: int) -> dict:
    """K^T Q with denominators that multiply up."""
    network = la.lightning((d, 1), (rank,)).to_json()
    rows = [[f"1/{LONG + 2 * (i * d + j)}" for j in range(d)] for i in range(rank)]
    return sealed(
        kind="membership",
        network=network,
        claim={"quantity": "membership", "relation": "in the neuromanifold", "tensor": []},
        witness={"sqrt": None, "Q": rows, "K": rows, "V": [[0] * d]},
    )


def long_tokens(d: int) -> dict:
    tokens = [[f"1/{LONG + 2 * (i * d + j)}" for j in range(d)] for i in range(d)]
    network = la.normalized((d, 1), (1,)).to_json()
    return sealed(
        kind="normalized-fibre",
        network=network,
        claim={"quantity": "fibre", "scope": "all", "inputs": 2 * d * d, "dimension": 3 * d - 1},
        witness={"nodes": list(range(2 * d - 1)), "tokens": tokens, "determinant": 1},
    )


def wide_equation(power: int) -> dict:
    """One monomial in coefficients that have 40 terms each."""
    net = la.lightning((6, 3), (20,))
    certificate = la.singular_points(net).to_json()
    count = 3 * 6 * 7 // 2 * 6
    exponents = [0] * count
    for k in range(power):
        exponents[6 + 50 * k] = 1
    for entry in certificate["witness"]["strata"]:
        if entry["stratum"] == [0, 0, 0]:
            entry.clear()
            entry.update(
                stratum=[0, 0, 0], singular=False, argument="equations", equations=[[[1, exponents]]]
            )
    claim = certificate["claim"]
    claim["singular"].remove([0, 0, 0])
    claim["smooth"].insert(0, [0, 0, 0])
    del certificate["sha256"]
    return {**certificate, "sha256": sha256_of(certificate)}


def derived(generator: list, steps: list, **more) -> dict:
    """An ideal of one generator in two variables, and steps of a derivation."""
    return sealed(
        kind="groebner-basis",
        ideal={"variables": ["x", "y"], "generators": [generator]},
        claim=basis_claim([generator], dimension=1, **more),
        witness={"steps": steps, "elements": [0], "power": None, "real": None},
    )


def reciprocals(count: int, first: int = 0) -> list[str]:
    """Numbers whose denominators hardly have common divisors."""
    return [f"1/{LONG + 2 * (first + k)}" for k in range(count)]


def coprime_sums(length: int, sums: int) -> dict:
    """Two chains of multiples of x by long numbers, and sums of their ends."""
    steps: list = []
    for chain in range(2):
        for k, value in enumerate(reciprocals(length, chain * length)):
            steps.append([[len(steps) if k else 0, [[value, [0, 0]]]]])
    one = [[1, [0, 0]]]
    steps += [[[length, one], [2 * length, one]]] * sums
    return derived([[1, [1, 0]]], steps)


def coprime_product(count: int) -> dict:
    """A product of two polynomials whose middle coefficients are sums of many long numbers."""
    p = [[1, [count, 0]]]
    p += [[value, [count - 1 - k, 0]] for k, value in enumerate(reciprocals(count))]
    q = [[value, [count - 1 - k, 0]] for k, value in enumerate(reciprocals(count, count))]
    return derived(p, [[[0, q]]])


def coprime_remainder(count: int) -> dict:
    """All terms of a form become multiples of one power modulo x - y."""
    member = [[value, [count - k, k]] for k, value in enumerate(reciprocals(count))]
    return derived([[1, [1, 0]], [-1, [0, 1]]], [], degree=1, non_members=[member])


def definite_form(n: int, digits: int) -> dict:
    """The ideal (1) has no real point: a definite form lies in it, here one with long coefficients."""
    terms = []
    for i in range(n):
        for j in range(i, n):
            q = 10 ** (digits - 1) + 2 * (n * i + j) + 1
            p = 10 ** (digits - 1) - 1 if i == j else 10 ** (digits - 3) - 1
            common = math.gcd(p, q)
            exponents = [(k == i) + (k == j) for k in range(n)]
            terms.append([f"{p // common}/{q // common}", exponents])
    one = [[1, [0] * n]]
    return sealed(
        kind="groebner-basis",
        ideal={"variables": [f"x{k}" for k in range(n)], "generators": [one]},
        claim=basis_claim([one], dimension=-1, degree=0, real_points="none"),
        witness={"steps": [], "elements": [0], "power": None, "real": {"form": terms, "constant": one}},
    )


def long_quadratic_form(d: int) -> dict:
    """The rank of a symmetric matrix of long integers."""
    form = [[str(LONG + 3 ** (i + j) + 7 ** abs(i - j)) for j in range(d)] for i in range(d)]
    virtual = {
        "verdict": "conjugate pair", "dimension": 1, "degree": 4, "components": 2, "real": 0, "rational": 0,
        "multiplicity": 1, "comparison": None,
    }  # fmt: skip
    return sealed(
        kind="fibre",
        point={
            "space": "conjugate pair", "tokens": 2, "widths": [d, 1], "ranks": [2], "w": [1], "form": form,
            "q": [1] * d,
        },
        claim={"quantity": "fibre", "virtual": virtual, "weights": None},
        witness={},
    )  # fmt: skip


def recovery(d: int, vectors: int, relation: str, entries: int = 1) -> dict:
    """The values of a layer with many inputs; the equations of its weights have d^2 unknowns."""
    M = [[f"{1 + 2 * (i * d + j)}/{2**entries}" for j in range(d)] for i in range(d)]
    return sealed(
        kind="recovery",
        recovery={
            "width": d, "height": 1, "tokens": 2, "layers": 1, "vectors": list(range(vectors)),
            "values_sha256": "0" * 64,
        },
        claim={"quantity": "recovery", "relation": relation, "M": [M], "L": [[1] * d]},
        witness={},
    )  # fmt: skip


COSTLY = {
    "division by long denominators": division(2),
    "division, many variables": division(6),
    "a real point": real_point(20),
    "a real point in many variables": real_point(400),
    "many pairs": many_elements(200, 150),
    "many pairs in many variables": many_elements(600, 500),
    "many components": many_components(990),
    "a long form": long_form(300_000),
    "many coefficients": many_coefficients(350),
    "long denominators, high rank": long_denominators(2, 200),
    "long denominators, wide": long_denominators(12, 200),
    "long tokens": long_tokens(60),
    "a wide equation": wide_equation(4),
    "sums of coprime denominators": coprime_sums(400, 10),
    "sums of coprime denominators, many": coprime_sums(40, 1000),
    "coprime denominators in a product": coprime_product(300),
    "coprime denominators in a remainder": coprime_remainder(1000),
    "a definite form in 14 variables": definite_form(14, 600),
    "a definite form in 20 variables": definite_form(20, 200),
    "a definite form in 30 variables": definite_form(30, 600),
    "a form of long integers": long_quadratic_form(60),
    "equations of a wide recovery": recovery(40, 150, "determined"),
    "values of a wide recovery": recovery(40, 600, "reproduced"),
    "fractions in a wide recovery": recovery(40, 80, "reproduced", entries=20),
}

#: of these much is still allowed, and done
LONG_ONES = {
    "a long form", "many pairs in many variables", "sums of coprime denominators, many",
    "fractions in a wide recovery",
}  # fmt: skip

CHILD = """
import json, resource, sys, time
sys.path.insert(0, {folder!r})
import verifier
data = sys.stdin.buffer.read()
start = time.process_time()
verdict = verifier.decide(lambda: data, verifier.silent)
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([verdict.verdict, verdict.reason, time.process_time() - start, used.ru_maxrss]))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="measures memory as Linux does")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG_ONES)) for name in COSTLY]
)
def test_costly_contents_are_refused_quickly(name):
    folder = str(verifier.__file__).rsplit("/", 1)[0]
    data = json.dumps(COSTLY[name]).encode()
    done = subprocess.run(
        [sys.executable, "-I", "-c", CHILD.format(folder=folder)], input=data, capture_output=True,
        timeout=120, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30,) * 2),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    verdict, reason, seconds, kilobytes = json.loads(done.stdout)
    assert verdict in ("unsupported", "invalid"), (verdict, reason)
    assert "internal error" not in (reason or ""), reason
    assert seconds < 30, (seconds, reason)  # processor time, most of it for what is still allowed
    assert kilobytes < 1.5 * 2**20, (kilobytes, reason)
