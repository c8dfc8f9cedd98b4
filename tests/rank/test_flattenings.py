"""Flattenings against the known defective cases, and against sampled ranks of all small networks."""

import itertools
from math import comb

import numpy as np
import pytest

import lightningalg as la
from lightningalg import verifier
from lightningalg.engines.choose import linear_algebra
from lightningalg.engines.residue_arrays import DEFAULT_PRIME, ResidueField
from lightningalg.maps.sampled_jacobian import SampledJacobian
from lightningalg.rank.flattenings import defective_flattening, flattening

#: degree, variables, forms, powers. Alexander and Hirschowitz for one form of degree 4; Ottaviani (2009) and
#: Abo and Brambilla (2009) for P^2 x P^(2k+1), O(1,2), s = 3k+2; London (1890) for pairs of plane cubics.
DEFECTIVE = [(4, 3, 1, 5), (4, 4, 1, 9), (4, 5, 1, 14), (2, 4, 3, 5), (2, 6, 3, 8), (3, 3, 2, 5)]


@pytest.mark.parametrize("case", DEFECTIVE, ids=str)
def test_known_cases_are_found(case):
    degree, variables, forms, powers = case
    assert defective_flattening(*case) is not None
    assert defective_flattening(degree, variables, forms, powers + 1) is None


def test_nothing_is_found_that_samples_refute():
    """Rank of every network (e, n, o) that is said not to fill, against the sampled rank."""
    field, found = ResidueField(DEFAULT_PRIME), 0
    for degree, e, o, n in itertools.product((2, 3, 4), (2, 3, 4), (1, 2, 3), range(1, 11)):
        forms = o * comb(e + degree - 1, degree)
        if forms > 40 or defective_flattening(degree, e, o, n) is None:
            continue
        found += 1
        network = la.monomial((e, n, o), degree)
        rows = SampledJacobian(network, field, "flat").rows(range(forms + 10))
        assert linear_algebra(*rows.shape)[0].rank(rows, DEFAULT_PRIME) <= forms - 1
    assert found >= 4


@pytest.mark.parametrize(("wedge", "split"), [(0, 1), (1, 1), (2, 1), (1, 2)])
def test_rank_on_one_power(wedge, split, monkeypatch):
    """On v l^r the rank is binomial(o-1, k): the coefficients of ``x^m / m!`` are v_i l^m."""
    degree, e, o = 3, 3, 3
    v, l = (2, 3, 5), (7, 1, 4)  # noqa: E741
    monomials = itertools.combinations_with_replacement(range(e), degree)
    power = [int(np.prod([l[k] for k in m])) for m in monomials]
    values = [a * b for a in v for b in power]
    monkeypatch.setattr("lightningalg.rank.flattenings.stream_values", lambda *_: values)
    matrix = flattening(degree, e, o, wedge, split)
    assert linear_algebra(*matrix.shape)[0].rank(matrix, DEFAULT_PRIME) == comb(o - 1, wedge)


@pytest.mark.parametrize(
    ("widths", "degree", "dimension"), [((4, 5, 3), 2, 29), ((4, 6, 3, 5, 2), 3, 52), ((3, 5, 2), 3, 19)]
)
def test_certified(widths, degree, dimension):
    result = la.dimension(la.monomial(widths, degree))
    assert (result.value, result.status) == (dimension, "certified")
    verdict = verifier.check(result.certificate.to_json())
    assert verdict.verdict == "valid"


def test_the_verifier_computes_the_same_ranks():
    for degree, e, o, wedge, split in [(2, 4, 3, 1, 1), (3, 3, 2, 0, 1), (3, 2, 3, 1, 2), (4, 3, 1, 0, 2)]:
        matrix = flattening(degree, e, o, wedge, split)
        rank = linear_algebra(*matrix.shape)[0].rank(matrix, DEFAULT_PRIME)
        assert verifier.generic_flattening_rank(degree, e, o, wedge, split) == rank
