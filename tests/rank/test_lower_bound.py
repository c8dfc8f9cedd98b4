"""Lower bounds: every witness is checked by an independent determinant, and every refusal by its words."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg.engines.choose import linear_algebra
from lightningalg.engines.flint_engine import FlintLinearAlgebra
from lightningalg.engines.residue_arrays import DEFAULT_PRIME, ResidueField
from lightningalg.errors import InputError, TooLargeError
from lightningalg.maps.sampled_jacobian import SampledJacobian
from lightningalg.networks.spec import network_from_table
from lightningalg.rank import lower_bound
from lightningalg.rank.gauge import gauge_columns
from lightningalg.rank.lower_bound import rank_lower_bound
from lightningalg.rank.upper_bounds import best_upper_bound
from tests import reference
from tests.strategies import dag_tables, lightning_arguments

EXAMPLES = settings(deadline=None, max_examples=40)
networks = st.one_of(
    dag_tables(max_layers=6).map(network_from_table),
    lightning_arguments(max_heads=2, residual=True).map(lambda arguments: la.lightning(**arguments)),
    st.tuples(st.lists(st.integers(1, 4), min_size=2, max_size=4), st.integers(1, 3)).map(
        lambda a: la.monomial(*a)
    ),
)


def found(network, **options):
    return rank_lower_bound(
        network, **{"target": best_upper_bound(network).value, "choose": linear_algebra, **options}
    )


def check(network, witness):
    """The minor from the description, the seed and the index sets alone, by two determinants."""
    rows = [reference.jacobian_row(network.to_json(), witness.prime, witness.seed, j) for j in witness.rows]
    minor = [[row[c] for c in witness.columns] for row in rows]
    assert list(witness.rows) == sorted(set(witness.rows)) and list(witness.columns) == sorted(
        set(witness.columns)
    )
    assert witness.value == len(witness.rows) == len(witness.columns)
    assert 0 < witness.determinant < witness.prime
    assert witness.determinant == reference.determinant_mod(minor, witness.prime)
    assert witness.determinant == int(flint.nmod_mat(minor, witness.prime).det())
    written = witness.to_json()
    for name in ("rows", "columns"):
        runs = written[name]
        assert [i for first, last in runs for i in range(first, last + 1)] == list(getattr(witness, name))
        assert all(after[0] >= before[1] + 2 for before, after in pairwise(runs))  # one spelling only
    assert (written["value"], written["determinant"]) == (witness.value, witness.determinant)
    assert written["sampling"] == {"rule": "sha256-counter", "seed": witness.seed}


@EXAMPLES
@given(networks, st.sampled_from(["0", "other"]))
def test_witnesses(network, seed):
    check(network, found(network, seed=seed).witness)


LARGER = [
    la.lightning((4, 3, 2, 4), (2, 2, 2)),
    la.lightning((3, 3, 3), (2, 1), residual=True),
    la.multi_head(3, 3, 3, 2),
    la.monomial((5, 5, 3, 1)),
    la.transformer({"dim": 4, "n_heads": 2, "n_layers": 2}),
]


@pytest.mark.parametrize("network", LARGER, ids=str)
def test_witnesses_of_larger_networks(network):
    check(network, found(network).witness)


@EXAMPLES
@given(networks)
def test_the_bound_is_the_rank_of_the_whole_sample(network):
    """n + 10 rows by plain Python, all columns: at a large prime nothing is missed."""
    table, n = network.to_json(), network.parameter_count
    rows = [reference.jacobian_row(table, DEFAULT_PRIME, "0", j) for j in range(n + 10)]
    assert found(network, target=n).witness.value == flint.nmod_mat(rows, DEFAULT_PRIME).rank()


@EXAMPLES
@given(networks, st.sampled_from([3, 5, 7, 101]), st.integers(0, 5))
def test_small_primes_give_valid_and_perhaps_smaller_bounds(network, prime, seed):
    large = found(network).witness.value
    try:
        bound = found(network, prime=prime, seed=str(seed))
    except InputError as error:
        assert f"every derivative vanishes modulo {prime} at seed {seed}" in str(error)
        rows = [reference.jacobian_row(network.to_json(), prime, str(seed), j) for j in range(8)]
        assert not any(any(row) for row in rows)
    else:
        assert 1 <= bound.witness.value <= large
        check(network, bound.witness)


def test_a_point_where_every_derivative_vanishes():
    """V X X^T K^T Q X with all sizes 1 at a point with two zeros modulo 3: an answer, not an assertion."""
    network = la.lightning((1, 1), (1,), 1)
    outcomes = set()
    for seed in range(40):
        Q, K, V = reference.stream(str(seed), "parameters", 3, 3)
        vanishes = [Q, K, V].count(0) >= 2
        try:
            outcome = found(network, prime=3, seed=str(seed)).witness.value
        except InputError as error:
            assert "larger prime or another seed" in str(error)
            outcome = 0
        assert outcome == (0 if vanishes else 1)
        outcomes.add(outcome)
    assert outcomes == {0, 1}


def test_target_stops_the_search():
    network = la.lightning((3, 3), (3,))
    assert found(network, target=5).witness.value >= 5
    assert found(network, target=5).matrix[0] <= 5 + lower_bound.SPARE_ROWS


def test_too_few_rows_at_first_are_made_up_for(monkeypatch):
    """Without spare rows the first matrix is one row short of some ranks: the search goes on."""
    monkeypatch.setattr(lower_bound, "SPARE_ROWS", 1)
    for target in (3, 17, 30):
        assert found(la.lightning((3, 3), (3,)), target=target).witness.value >= min(target, 17)
    assert found(la.lightning((3, 3), (3,)), target=27).witness.value == 17


def test_memory_is_refused_before_it_is_used():
    network = la.lightning((20, 20), (10,))  # dimension 699: 709 rows of that many columns
    with pytest.raises(TooLargeError) as caught:
        found(network, max_memory=0.001)
    assert "709 x 699 Jacobian" in str(caught.value)
    assert (
        "0.0 GiB" in str(caught.value)
        and "0.001 GiB" in str(caught.value)
        and "max_memory" in str(caught.value)
    )
    huge = la.lightning((768, 768), (64,))
    with pytest.raises(TooLargeError, match=r"needs about \d+\.\d GiB, more than the limit of 4 GiB"):
        found(huge)
    with pytest.raises(TooLargeError):
        found(la.lightning((1, 1), (1,)), max_memory=float("nan"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prime": 4}, "not a prime"), ({"prime": 2}, "primes from 3"),
        ({"prime": 2**31 - 1}, "primes from 3"),
        ({"prime": True}, "primes from 3"), ({"seed": ""}, "seed"), ({"seed": "a b"}, "seed"),
        ({"seed": "x" * 65}, "seed"), ({"seed": "a|b"}, "seed"),
    ],
)  # fmt: skip
def test_bad_primes_and_seeds(options, message):
    with pytest.raises(InputError, match=message):
        found(la.lightning((2, 2), (1,)), **options)


def test_networks_without_parameters():
    network = network_from_table(
        {"width": 2, "layers": [{"id": "a", "type": "monomial_activation", "degree": 2}]}
    )
    with pytest.raises(InputError, match="no parameters: its neuromanifold is one point"):
        found(network, target=1)


@pytest.mark.parametrize("prime", [7, 65521, DEFAULT_PRIME])
@pytest.mark.parametrize("network", [la.lightning((4, 2, 4), (2, 1)), *LARGER], ids=str)
def test_engines_agree_on_the_witness(network, prime):
    def by(name):
        return found(network, choose=partial(linear_algebra, name=name), prime=prime, seed="e").witness

    assert by("flint") == by("blocked")
    check(network, by("blocked"))


def test_unknown_engines_are_refused():
    with pytest.raises(InputError, match="accepted are auto, flint, blocked"):
        linear_algebra(1, 1, "magma")


def test_the_account_names_engine_reason_and_matrix():
    messages = []
    bound = found(la.lightning((2, 2), (2,)), progress=messages.append)
    assert bound.engine == "flint (17 x 7 is small)" and bound.matrix == (17, 7)
    assert messages == [
        "Jacobian modulo 8388593: 17 x 7",
        "rank by flint (17 x 7 is small)",
    ]  # fmt: skip


# -- gauge ---------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=100)
@given(networks)
def test_gauge_columns_keep_the_rank(network):
    """Not a promise of the bound, which falls back to all columns; but where it fails, time is lost."""
    field, n = ResidueField(DEFAULT_PRIME), network.parameter_count
    columns = gauge_columns(network)
    assert np.array_equal(columns, np.unique(columns)) and columns[0] >= 0 and columns[-1] < n
    rows = SampledJacobian(network, field, "0").rows(range(n + 10))
    rank = FlintLinearAlgebra().rank
    assert rank(rows[:, columns], field.prime) == rank(rows, field.prime)


@EXAMPLES
@given(lightning_arguments(max_layers=4, max_size=5))
def test_gauge_of_a_chain(arguments):
    network = la.lightning(**arguments)
    dimension = reference.deep_dimension(arguments["widths"], arguments["ranks"], arguments["tokens"])
    assert dimension <= len(gauge_columns(network)) <= network.parameter_count


@pytest.mark.parametrize("d", range(2, 5))
@pytest.mark.parametrize("a", range(2, 5))
@pytest.mark.parametrize("layers", range(1, 4))
def test_gauge_of_constant_width_leaves_the_dimension(d, a, layers):
    network = la.lightning((d,) * (layers + 1), (a,) * layers)
    assert len(gauge_columns(network)) == layers * reference.r(d, a) + d**2 - layers


def test_all_columns_are_tried_where_the_gauge_falls_short(monkeypatch):
    monkeypatch.setattr(lower_bound, "gauge_columns", lambda network: np.arange(3))
    bound = found(la.lightning((2, 2), (2,)))
    assert bound.witness.value == 7
    check(la.lightning((2, 2), (2,)), bound.witness)
