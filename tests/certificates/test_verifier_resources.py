"""Small certificates with costly contents: the checker refuses them before it pays."""

from __future__ import annotations

import json
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
}

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
@pytest.mark.parametrize("name", COSTLY)
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
