"""The embedded component at 0 of the fibre over the function 0."""

from __future__ import annotations

import copy

import pytest

import lightningalg as la
from lightningalg import verifier
from lightningalg.claims.embedded_component import (
    EmbeddedComponentClaim,
    annihilating_power,
    embedded_component,
    zero_fibre,
)
from lightningalg.errors import TooLargeError, UnsupportedError


def quantities(certificate):
    return EmbeddedComponentClaim().quantities(certificate.to_json())


@pytest.mark.parametrize("d, dprime, a, power", [(2, 1, 1, 1), (2, 1, 2, 1), (2, 2, 2, 1)])
def test_an_element_outside_that_a_power_carries_in(d, dprime, a, power):
    certificate = embedded_component(la.lightning((d, dprime), (a,)))
    assert verifier.check(certificate.to_json()).verdict == "valid"
    found = quantities(certificate)
    assert (found["embedded"], found["power"]) == (1, power)
    assert found["components"] == (2 if a == d else None)


def test_none_in_width_one():
    found = quantities(embedded_component(la.lightning((1, 2), (1,))))
    assert found == {"embedded": 0, "power": None, "components": 2}


def test_by_sympy():
    """Width 2: f is not in the ideal, x f is for every variable x; by another program."""
    import sympy

    ideal, names, _ = zero_fibre(la.lightning((2, 1), (2,)))
    symbols = sympy.symbols(names)

    def polynomial(f):
        return sum(int(c) * sympy.prod(x**k for x, k in zip(symbols, e, strict=True)) for e, c in f.items())

    basis = sympy.groebner([polynomial(g) for g in ideal.generators], *symbols, order="grevlex")
    by_name = dict(zip(names, symbols, strict=True))
    f = by_name["V_1_1"] * by_name["A_2_1"]
    assert not basis.contains(f)
    assert all(basis.contains(x * f) for x in symbols)


def test_altered_members_are_rejected():
    made = embedded_component(la.lightning((2, 1), (2,))).to_json()
    altered = copy.deepcopy(made)
    altered["claim"]["members"][0] = altered["claim"]["non_members"][0]
    from tests.certificates.examples import seal

    verdict = verifier.check(seal(altered))
    assert (verdict.verdict, verdict.check) == ("invalid", "members")


def test_a_missing_member_leaves_it_unknown():
    made = embedded_component(la.lightning((2, 1), (2,))).to_json()
    del made["claim"]["members"][2]
    found = EmbeddedComponentClaim().quantities(made)
    assert (found["embedded"], found["power"]) == (None, None)


def test_powers():
    whole = [[[1, [2 - k, 1 + k]]] for k in range(3)]  # x y times x, y; and y^3, which is no such product
    assert annihilating_power([[[1, [1, 1]]]], whole[:2], 2) == 1
    assert annihilating_power([[[1, [1, 1]]]], whole[1:], 2) is None
    assert annihilating_power([], whole, 2) is None


def test_what_is_refused():
    with pytest.raises(UnsupportedError, match="two or more tokens"):
        embedded_component(la.lightning((2, 1), (1,), tokens=1))
    with pytest.raises(TooLargeError, match="monomials"):
        embedded_component(la.lightning((5, 1), (5,)))
