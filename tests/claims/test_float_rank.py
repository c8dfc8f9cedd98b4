"""Floating-point ranks beside certified dimensions: reproducible, labelled, and wrong where they are."""

from __future__ import annotations

import numpy as np
import pytest

import lightningalg as la
import lightningalg.verifier as verifier
from lightningalg.claims import claim_kinds
from lightningalg.claims.float_rank import SCALED, STANDARD, float_rank, float_ranks
from lightningalg.errors import TooLargeError
from lightningalg.rank.float_rank import FloatTrials, _jacobian, float_trials

SHALLOW = [la.lightning((3, 3, 3), (1, 2)), la.normalized((3, 3, 3), (1, 3)), la.monomial((2, 3, 3))]
DEEP = [
    (la.lightning((3,) * 5, (2,) * 4), 37),
    (la.lightning((2,) * 7, (2,) * 6), 22),
    (la.normalized((2,) * 9, (1,) * 8), 28),
    (la.normalized((2,) * 11, (1,) * 10), 34),
]


@pytest.mark.parametrize("network", SHALLOW, ids=str)
def test_floats_are_right_on_two_layers(network):
    trials = float_trials(network)
    assert trials.maximum == la.dimension(network).value
    assert trials == float_trials(network)


@pytest.mark.parametrize("network, value", DEEP, ids=[str(network) for network, _ in DEEP])
def test_the_largest_of_five_float_ranks_is_wrong_and_ours_is_right(network, value):
    found = float_rank(network).to_json()
    verdict = verifier.check(found)
    assert verdict.verdict == "valid"
    assert found["claim"] == {"quantity": "dimension", "relation": "equals", "value": value}
    known = claim_kinds()["float-rank"].quantities(found)
    assert known["dimension"] == value
    assert known["float_maximum"] < value
    assert known["float_wrong"] == 5
    assert known["scaled_maximum"] < value


def test_ranks_are_provenance_and_labelled():
    found = float_rank(la.normalized((2, 2), (1,))).to_json()
    assert "numerical" in STANDARD and "numerical" in SCALED
    assert found["strength"] == "exact"
    assert found["provenance"][STANDARD] == "7, 7, 7, 7, 7"
    assert found["provenance"][SCALED] == "7, 7, 7, 7, 7"
    assert STANDARD not in found["witness"]
    kind = claim_kinds()["float-rank"]
    for name in ("float_maximum", "float_wrong", "scaled_maximum", "scaled_wrong"):
        assert kind.quantities_known[name].startswith("numerical: ")


def test_provenance_of_other_certificates_is_unknown_not_zero():
    found = la.dimension(la.lightning((2, 2), (1,))).certificate.to_json()
    assert float_ranks(found) == {}
    known = claim_kinds()["float-rank"].quantities(found)
    assert known["float_maximum"] is None
    assert known["scaled_wrong"] is None
    found["provenance"][STANDARD] = "6, none; import os"
    assert float_ranks(found) == {}


def test_trials_without_an_answer():
    trials = FloatTrials((3, None, 5))
    assert (str(trials), trials.maximum, trials.wrong(5)) == ("3, none, 5", 5, 2)
    assert FloatTrials((None, None)).maximum == 0


def test_the_float_jacobian_has_full_rank_where_it_is_well_conditioned():
    """Two rows for each parameter are enough: the failures are not for want of samples."""
    for network in SHALLOW:
        matrix = _jacobian(network, 0, 2 * network.parameter_count, "standard")
        sizes = np.linalg.svd(matrix, compute_uv=False)
        value = la.dimension(network).value
        assert sizes[value - 1] > 1e6 * sizes[min(value, len(sizes) - 1)] or value == len(sizes)


def test_large_networks_are_refused():
    with pytest.raises(TooLargeError, match="singular values"):
        float_trials(la.lightning((40, 40), (20,)))
