"""What the symmetries of known networks are (MATH.md sections 4 and 6), as certificates and as reports."""

from __future__ import annotations

import pytest

import lightningalg as la
from lightningalg import verifier
from lightningalg.claims import claim_kinds
from lightningalg.claims.symmetries import symmetry_certificate
from lightningalg.errors import InputError, TooLargeError

#: network, fields, directions, whether they fill the kernel, factors
KNOWN = [
    # 14 = 4 + 4 + 4 + 2 = 32 - 18: gl_2 x gl_2 x gl_2 x torus
    (lambda: la.lightning((3, 2, 3), (2, 2)), 14, 14, True, "gl2 torus1 gl2 torus1 gl2"),
    # a_1 = 1: only the quadratic form of layer 2 matters; so(3,3), of dimension 15 = 3 (2 3 - 1), acts with
    # orbits of dimension 12 on a pair (K; Q) of rank 3
    (lambda: la.lightning((3, 3, 3), (1, 3)), 1 + 1 + 15 + 1 + 9, 24, True, "gl1 torus1 so3 torus1 gl3"),
    # one scaling for each hidden neuron
    (lambda: la.monomial((3, 2, 2), 2), 2, 2, True, "torus2"),
    (lambda: la.monomial((2, 2, 2), 3), 2, 2, True, "torus2"),
    # residual: no GL between layers
    (lambda: la.lightning((3, 3, 3), (2, 2), residual=True), 10, 10, True, "gl2 torus1 gl2 torus1"),
    # expanding widths: linear fields span 51 dimensions (MATH.md section 4), 11 are off the image of V_1
    (lambda: la.lightning((2, 5, 2), (3, 4)), 52 + 11, 51 + 11, True, "gl3 torus1 gl4 torus1 gl5"),
    (lambda: la.deep_linear(2, 3), 0, 0, True, ""),
]


@pytest.mark.parametrize(("make", "fields", "rank", "fills", "factors"), KNOWN)
def test_certified_symmetries(make, fields, rank, fills, factors):
    certificate = symmetry_certificate(make())
    claim = certificate.claim
    assert (claim["fields"], claim["rank"]) == (fields, rank)
    assert claim["relation"] == ("fill the kernel" if fills else "lie in the kernel")
    assert " ".join(f"{x['algebra']}{x['size']}" for x in claim["factors"]) == factors
    found = verifier.check(certificate.to_json())
    assert found.verdict == "valid" and f"{fields} independent vector fields" in found.claim


def test_parts_complete_the_kernel():
    """(5,4,3,1), squares: 7 scalings, and the O(3) of the last quadric as the kernel of a part."""
    certificate = symmetry_certificate(la.monomial((5, 4, 3, 1), 2))
    assert (certificate.claim["fields"], certificate.claim["rank"]) == (7, 10)
    assert certificate.claim["relation"] == "fill the kernel"
    assert len(certificate.witness["symmetries"]["parts"]) == 1
    assert verifier.check(certificate.to_json()).verdict == "valid"


def test_claim_kind():
    claim = claim_kinds()["symmetries"]
    certificate = claim.certify(la.lightning((3, 2, 3), (2, 2)), seed="7")
    assert claim.quantities(certificate.to_json()) == {
        "parameters": 32, "fields": 14, "directions": 14, "kernel": 14, "unexplained": 0, "factors": 5,
        "orthogonal": 0,
    }  # fmt: skip
    after_rank_one = claim.certify(la.lightning((2, 2, 2), (1, 2)), seed="7")
    assert claim.quantities(after_rank_one.to_json())["orthogonal"] == 2
    unknown = claim.certify(la.monomial((2, 3, 2)), seed="7")
    assert claim.quantities(unknown.to_json())["unexplained"] is None


def test_report_is_public():
    report = la.symmetries(la.lightning((3, 3, 3), (1, 3)))
    assert "so(3,3)" in report.algebra
    assert report.hidden == 0 and report.rank_upper_bound == report.rank == 18
    assert "symmetries" in la.__all__


def test_refusals():
    with pytest.raises(InputError, match="no parameters"):
        la.symmetries(la.Network.from_toml('tokens = 1\nwidth = 2\n[[layer]]\nid = "s"\n'
                                           'type = "monomial_activation"\ndegree = 2\n'))  # fmt: skip
    with pytest.raises(TooLargeError, match="400"):
        symmetry_certificate(la.deep_linear(30, 30))
