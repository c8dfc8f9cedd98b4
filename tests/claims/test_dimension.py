"""The dimension against values known beforehand: the paper's, the literature's, and exact ranks over QQ."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg.certificates.checker import check_files
from lightningalg.certificates.records import sha256_of
from lightningalg.claims import claim_kinds
from lightningalg.claims.dimension import bounds_of
from lightningalg.engines.primes import previous_prime
from lightningalg.errors import InputError
from lightningalg.networks.spec import network_from_table
from tests import reference
from tests.strategies import dag_tables, lightning_arguments

# -- chains of lightning attention -----------------------------------------------------

#: widths, ranks, tokens, parameters or None, dimension: MATH.md section 4
LIGHTNING = [
    ((4, 3, 2, 4), (2, 2, 2), 2, 62, 34),
    ((3, 1), (2,), 2, 15, 10),
    ((2, 2), (2,), 2, 12, 7),
    ((3, 2), (5,), 2, 36, 14),
    ((4, 2, 4), (2, 1), 2, 36, 25),
    ((5, 3, 5), (1, 3), 2, 58, 34),
    ((2, 3, 2), (1, 1), 2, 22, 8),
    ((4, 2, 3, 4), (2, 2, 2), 2, 62, 29),
    ((4, 2, 2, 4), (2, 1, 1), 2, 44, 27),
    ((4, 3, 3, 4), (2, 2, 2), 2, 73, 40),
    ((3, 4, 3), (2, 2), 2, 52, 23),
    ((5, 1, 5), (1, 1), 2, 22, 17),
    ((4, 2, 4), (2, 2), 2, 40, 26),
    ((2, 2), (2,), 1, 12, 6),
    ((3, 3), (3,), 1, 27, 14),
    ((4, 2, 4), (2, 2), 1, 40, 23),
    # four layers whose float Jacobian has singular values too small to tell from 0: after the first
    # layer of rank one every further A_i is seen as a quadratic form only: 3 + 3 * 3 + 4 - 4
    ((2, 2, 2, 2, 2), (1, 1, 1, 1), 2, 32, 12),
    # constant width: l a(2d - a) + d^2 - l
    ((4, 4, 4, 4), (2, 2, 2), 2, 96, 49),
]


@pytest.mark.parametrize(("widths", "ranks", "tokens", "parameters", "dimension"), LIGHTNING)
def test_known_dimensions_of_lightning_attention(widths, ranks, tokens, parameters, dimension):
    result = la.dimension(la.lightning(widths, ranks, tokens))
    assert (result.value, result.status, result.parameters) == (dimension, "certified", parameters)
    assert result.lower_bound == result.upper_bound == result.predicted == dimension
    assert dimension == reference.deep_dimension(widths, ranks, tokens)


@pytest.mark.parametrize("tokens", [1, 2])
@pytest.mark.parametrize(("d", "d_out", "a"), list(product(range(1, 5), repeat=3)))
def test_every_small_single_layer(d, d_out, a, tokens):
    """t = 2: the paper's 2ad + dd' - a^2 - 1 (a <= d), d^2 + dd' - 1 (a > d); t = 1: s(d, a) + dd' - 1."""
    result = la.dimension(la.lightning((d, d_out), (a,), tokens))
    assert result.value == reference.single_layer(d, d_out, a, tokens)


def random_architectures(seed, count, layers=4, parameters=150, tokens=3):
    generator = random.Random(seed)
    while count:
        number = generator.randint(1, layers)
        widths = tuple(generator.randint(1, 6) for _ in range(number + 1))
        ranks = tuple(generator.randint(1, 5) for _ in range(number))
        network = la.lightning(widths, ranks, generator.randint(1, tokens))
        if network.parameter_count <= parameters:
            count -= 1
            yield network, reference.deep_dimension(widths, ranks, network.tokens)


def test_random_architectures_are_all_certified():
    """MATH.md section 4, Theorem B: D is the dimension for all widths, ranks, depths and t."""
    failures = [
        (str(network), result.lower_bound, result.upper_bound, expected)
        for network, expected in random_architectures(seed=20240817, count=300)
        if (result := la.dimension(network)).value != expected
    ]
    assert not failures


@pytest.mark.slow
def test_many_random_architectures_are_all_certified():
    for network, expected in random_architectures(1, 2000, layers=5, parameters=400, tokens=4):
        assert la.dimension(network).value == expected, str(network)


def test_tokens_one_and_two_differ_where_the_skew_part_is_seen():
    """t = 1 sees the symmetric part of A only; from t = 2 on, more tokens change nothing."""
    for widths, ranks, expected in [
        ((4, 2, 4), (2, 2), (23, 26, 26, 26)),
        ((2, 2), (2,), (6, 7, 7, 7)),
        ((2, 2), (1,), (6, 6, 6, 6)),  # rank one: k q and its symmetric part have the same dimension
    ]:
        values = tuple(la.dimension(la.lightning(widths, ranks, t)).value for t in (1, 2, 3, 4))
        assert values == expected


# -- residual connections and heads (MATH.md section 6) -----------------------------------

RESIDUAL = [
    (2, (1,)),
    (2, (2, 1)),
    (3, (1, 1)),
    (3, (2, 3)),
    (3, (1, 2, 3)),
    (2, (1, 1, 1)),
    (4, (2, 2)),
    (1, (1, 1)),
]


@pytest.mark.parametrize("tokens", [2, 3])
@pytest.mark.parametrize(("d", "ranks"), RESIDUAL)
def test_residual_dimensions_add_up(d, ranks, tokens):
    network = la.lightning((d,) * (len(ranks) + 1), ranks, tokens, residual=True)
    expected = sum(reference.r(d, a) + d * d - 1 for a in ranks)
    result = la.dimension(network)
    assert (result.value, result.predicted, result.upper_bound_by) == (expected, expected, "layerwise")


HEADS = [
    # d, d_out, a, heads
    (3, 3, 3, 2), (3, 2, 2, 2), (3, 2, 1, 3), (2, 2, 1, 2), (2, 2, 1, 3), (2, 2, 2, 3), (4, 2, 3, 3),
    (3, 3, 2, 3), (3, 3, 2, 4), (2, 3, 2, 2), (4, 3, 2, 2), (3, 2, 5, 2),
]  # fmt: skip


@pytest.mark.parametrize(("d", "d_out", "a", "heads"), HEADS)
def test_several_heads(d, d_out, a, heads):
    """The conjectured dimension is certified."""
    result = la.dimension(la.multi_head(d, d_out, a, heads))
    expected = reference.multi_head_dimension(d, d_out, a, heads)
    assert (result.value, result.status, result.predicted) == (expected, "certified", expected)
    single = reference.single_layer(d, d_out, min(a, d), 2)
    ambient = d_out * d * d * (d + 1) // 2
    assert (result.upper_bound_by == "composition") == (expected not in (heads * single, ambient))


def test_two_full_heads_mix():
    """GL_2 mixes two heads of full rank: 2 * 17 - 2."""
    result = la.dimension(la.lightning((3, 3), (3,), heads=2))
    assert (result.value, result.lower_bound, result.upper_bound) == (32, 32, 32)
    assert result.certificate.witness["upper_bound"]["steps"]["derivation"]["argument"] == "mixing"


@pytest.mark.parametrize(("d", "heads"), [(2, 1), (3, 1), (3, 2), (4, 2), (4, 3)])
def test_heads_with_one_output(d, heads):
    """MATH.md section 6 for d' = 1, a >= d: H(d - H) + d [C(d+1, 2) - C(d-H+1, 2)]."""
    result = la.dimension(la.lightning((d, 1), (d,), heads=heads))
    rest = d - heads
    expected = heads * rest + d * (d * (d + 1) // 2 - rest * (rest + 1) // 2)
    assert result.value == result.predicted == expected


# -- monomial networks -----------------------------------------------------------------------

#: widths, degree, dimension: Dao and Rodriguez 2026, by MATH.md section 6
FILLING = [
    ((2, 2, 1), 2, 3),
    ((2, 3, 3), 2, 9),
    ((2, 4, 5, 4), 2, 20),
    ((3, 6, 4), 2, 24),
    ((4, 6, 3), 2, 30),
]
DEFECTIVE = [
    ((5, 5, 3, 1), 2, 32, 35), ((5, 4, 3, 1), 2, 25, 28), ((4, 5, 5, 3, 1), 2, 47, 50),
    ((3, 5, 6, 4, 3, 1), 2, 58, 66), ((2, 3, 2, 3), 2, 10, 13), ((5, 7, 1), 3, 34, 35),
]  # fmt: skip


@pytest.mark.parametrize(("widths", "degree", "dimension"), FILLING)
def test_filling_monomial_networks_are_certified(widths, degree, dimension):
    result = la.dimension(la.monomial(widths, degree))
    assert (result.value, result.status, result.predicted) == (dimension, "certified", dimension)


@pytest.mark.parametrize(("widths", "degree", "dimension", "expected"), DEFECTIVE)
def test_defective_monomial_networks(widths, degree, dimension, expected):
    """The literature's dimension, less than expected, is certified by a composition."""
    result = la.dimension(la.monomial(widths, degree))
    assert (result.value, result.status) == (dimension, "certified")
    assert (result.upper_bound_by, result.predicted) == ("composition", expected)
    assert reference.monomial_expected(widths) == expected


def open_network():
    """Three residual heads on the plane that the first layer spans: their mixing there is not proved."""
    return la.lightning((2, 3, 3), (3, 3), heads=(1, 3), residual=(False, True))


def test_a_defect_that_no_upper_bound_explains():
    result = la.dimension(open_network())
    assert (result.value, result.status) == (None, "bounds differ")
    assert (result.lower_bound, result.upper_bound, result.predicted) == (27, 30, None)
    assert result.certificate.claim == {
        "quantity": "dimension", "relation": "between", "lower": 27, "upper": 30,
    }  # fmt: skip


def test_a_defect_that_a_flattening_explains():
    """(4,5,3), r = 2: the Pfaffian of 12 x 12 vanishes on nets of quadrics that five squares span."""
    result = la.dimension(la.monomial((4, 5, 3)))
    assert (result.value, result.status, result.predicted) == (29, "certified", 30)


@pytest.mark.parametrize(
    ("widths", "value"), [((3, 2, 3), 8), ((4, 2, 3), 10), ((3, 4, 3), 9), ((4, 1, 4, 5), 8), ((2, 3), 6)]
)
def test_linear_networks_are_matrices_of_bounded_rank(widths, value):
    """m (d_0 + d_l - m), m the smallest width."""
    m = min(widths)
    assert value == m * (widths[0] + widths[-1] - m)
    result = la.dimension(la.deep_linear(*widths))
    assert result.value == value


# -- against exact ranks over QQ of the coefficient Jacobian -----------------------------------


def exact_generic_rank(network):
    """The largest rank over QQ of the symbolic Jacobian at three points, by Fractions."""
    phi = network.polynomial_map()
    jacobian = phi.jacobian()
    return max(jacobian.rank_at(phi.random_point(seed)) for seed in ("a", "b", "c"))


@pytest.mark.parametrize("tokens", [1, 2])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_coefficient_coordinates_have_the_same_rank_for_single_layers(d, tokens):
    for d_out, a in product((1, 2, 3), repeat=2):
        network = la.lightning((d, d_out), (a,), tokens)
        assert exact_generic_rank(network) == la.dimension(network).value, str(network)


DEEP = [
    la.lightning((1, 1, 1), (1, 1)), la.lightning((2, 1, 1), (1, 1)), la.lightning((2, 1, 2), (2, 1), 1),
    la.lightning((1, 2, 1), (1, 2)), la.lightning((2, 2, 1), (1, 1), 1), la.lightning((2, 1, 2), (2, 1)),
    la.lightning((2, 2), (2,), residual=True), la.multi_head(2, 2, 1, 2), la.monomial((2, 2, 2)),
    la.monomial((2, 3, 2, 3)), la.deep_linear(3, 2, 3),
]  # fmt: skip


@pytest.mark.parametrize("network", DEEP, ids=str)
def test_coefficient_coordinates_have_the_same_rank_for_deep_networks(network):
    assert exact_generic_rank(network) == la.dimension(network).lower_bound


# -- what a dimension must satisfy ----------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(lightning_arguments(max_layers=3, max_size=3), st.data())
def test_more_width_rank_or_tokens_is_never_less(arguments, data):
    base = la.dimension(la.lightning(**arguments)).value
    where = data.draw(st.sampled_from(["widths", "ranks", "tokens"]))
    if where == "tokens":
        larger = {**arguments, "tokens": arguments["tokens"] + 1}
    else:
        place = data.draw(st.integers(0, len(arguments[where]) - 1))
        sizes = list(arguments[where])
        sizes[place] += 1
        larger = {**arguments, where: sizes}
    assert la.dimension(la.lightning(**larger)).value >= base


@settings(deadline=None, max_examples=30)
@given(lightning_arguments(max_layers=2, max_size=3), st.integers(1, 2), st.booleans())
def test_more_heads_are_never_less(arguments, more, residual):
    if len(set(arguments["widths"])) > 1:
        residual = False
    arguments = {**arguments, "residual": residual}
    base = la.dimension(la.lightning(**{**arguments, "heads": 1})).lower_bound
    assert la.dimension(la.lightning(**{**arguments, "heads": 1 + more})).lower_bound >= base


@settings(deadline=None, max_examples=50)
@given(dag_tables(max_layers=6))
def test_every_network_gets_consistent_bounds(table):
    network = network_from_table(table)
    result = la.dimension(network)
    assert (
        1 <= result.lower_bound <= result.upper_bound <= result.parameters == reference.parameter_count(table)
    )
    assert (
        (result.value is not None)
        == (result.lower_bound == result.upper_bound)
        == (result.status == "certified")
    )
    assert all(bound.value >= result.upper_bound for bound in result.other_upper_bounds)
    json = result.to_json()
    assert {
        "network",
        "parameters",
        "dimension",
        "lower_bound",
        "upper_bound",
        "status",
        "predicted",
        "seconds",
    } <= json.keys()
    assert network_from_table({key: json["network"][key] for key in ("tokens", "width", "layers")}) == network


# -- seeds, primes and certificates -----------------------------------------------------------------

SAMPLE = [
    la.lightning((4, 2, 4), (2, 1)), la.lightning((3, 3), (3,), heads=2), la.monomial((4, 5, 3)),
    la.transformer({"dim": 4, "n_heads": 2, "n_layers": 1}),
]  # fmt: skip


@pytest.mark.parametrize("network", SAMPLE, ids=str)
def test_the_same_arguments_give_the_same_certificate(network):
    one, two = la.dimension(network, seed="s"), la.dimension(network_from_table(network.to_json()), seed="s")
    assert one.certificate.to_text() == two.certificate.to_text()
    assert one.certificate.sha256 == two.certificate.sha256 == one.to_json()["certificate_sha256"]
    assert one.certificate.sha256 != la.dimension(network, seed="t").certificate.sha256
    whole = one.certificate.to_json()
    assert whole.pop("sha256") == sha256_of(whole)


@pytest.mark.parametrize("network", SAMPLE, ids=str)
def test_seeds_primes_and_engines_do_not_change_the_dimension(network):
    base = la.dimension(network)
    options = [{"seed": seed} for seed in (1, "2", "x-y_z.")]
    options += [{"prime": prime} for prime in (8388587, 4194301, 65521)]
    options += [{"engine": engine} for engine in ("flint", "blocked")]
    for option in options:
        result = la.dimension(network, **option)
        assert (result.lower_bound, result.upper_bound) == (base.lower_bound, base.upper_bound), option


def test_integer_seeds_are_text():
    network = SAMPLE[0]
    assert (
        la.dimension(network, seed=7).certificate.sha256 == la.dimension(network, seed="7").certificate.sha256
    )


def test_further_primes_are_tried_while_the_bounds_differ():
    """At p = 3 most points are special; 5 follows downwards from 7, then 3."""
    network = la.lightning((2, 2), (2,))
    tried = []
    result = la.dimension(network, prime=7, primes=3, progress=tried.append)
    used = [int(message.split("modulo ")[1].split(":")[0]) for message in tried if "modulo" in message]
    assert sorted(set(used), reverse=True) == [7, 5, 3][: len(set(used))]
    assert result.lower_bound <= result.upper_bound == 7

    tried.clear()
    result = la.dimension(open_network(), primes=3, progress=tried.append)
    used = {int(message.split("modulo ")[1].split(":")[0]) for message in tried if "modulo" in message}
    second = previous_prime(8388593)
    assert used == {8388593, second, previous_prime(second)}
    assert (result.lower_bound, result.upper_bound) == (27, 30)

    tried.clear()
    la.dimension(network, primes=3, progress=tried.append)
    assert all("8388593" in message for message in tried if "modulo" in message)  # the first was enough


@pytest.mark.parametrize("prime", [3, 5, 7, 11])
def test_small_primes_never_claim_more(prime):
    for network, expected in random_architectures(seed=prime, count=30, layers=3, parameters=60):
        try:
            result = la.dimension(network, prime=prime)
        except InputError as error:
            assert "every derivative vanishes" in str(error)
            continue
        assert result.lower_bound <= expected == result.upper_bound
        assert (result.value == expected) == (result.status == "certified")


def test_bad_arguments():
    network = SAMPLE[0]
    for options, message in [
        ({"prime": 9}, "9 is not a prime"), ({"seed": "a b"}, "seed 'a b'"),
        ({"engine": "gap"}, "accepted are auto"),
        ({"primes": 0}, "primes is 0"), ({"primes": "2"}, "primes is 2"),
        ({"max_memory": 0}, "max_memory is 0, an int: accepted are positive"),
        ({"max_memory": 1e-9}, "more than the limit of 1e-09 GiB"),
    ]:  # fmt: skip
        with pytest.raises(InputError, match=message):
            la.dimension(network, **options)


# -- as a claim ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("network", "lower", "upper"),
    [
        (la.lightning((4, 2, 4), (2, 1)), 25, 25),
        (la.multi_head(3, 3, 3, 2), 32, 32),
        (la.monomial((4, 5, 3)), 29, 29),
    ],
    ids=str,
)
def test_quantities_of_the_claims(network, lower, upper):
    kinds = claim_kinds()
    both = kinds["dimension"].certify(network, seed="0")
    above = kinds["dimension-at-most"].certify(network, seed="0")
    assert both == la.dimension(network).certificate
    assert kinds["dimension"].quantities(both.to_json()) == {
        "parameters": network.parameter_count,
        "dimension": lower if lower == upper else None,
        "lower_bound": lower,
        "upper_bound": upper,
    }
    found = kinds["dimension-at-most"].quantities(above.to_json())
    assert found == {"parameters": network.parameter_count, "upper_bound": upper}
    assert bounds_of(above.to_json())["lower_bound"] is None
    for kind in ("dimension", "dimension-at-most"):
        assert kinds[kind].expected_quantity in kinds[kind].quantities_known


@pytest.mark.slow
def test_ten_thousand_parameters(tmp_path):
    """Three layers of width 41, ranks 20: certified by the formula and verified."""
    network = la.lightning(widths=(41,) * 4, ranks=(20,) * 3, tokens=2)
    result = la.dimension(network)
    assert network.parameter_count == 9963
    assert result.value == 3 * 20 * (2 * 41 - 20) + 41**2 - 3 == 5398
    path = tmp_path / "certificate.json"
    path.write_text(result.certificate.to_text(), encoding="utf-8")
    assert path.stat().st_size < 2**20
    (answer,) = check_files([path], timeout=500)
    assert answer["verdict"] == "valid", answer


@pytest.mark.parametrize("value", [None, "x", 3, {"widths": [2, 2]}])
def test_what_is_no_network_is_refused(value):
    with pytest.raises(InputError, match="accepted: a Network, such as"):
        la.dimension(value)


def test_seeds_are_text_or_integers():
    net = la.lightning((2, 2), (2,))
    sampled = {la.dimension(net, seed=seed).certificate.sha256 for seed in ("7", 7, np.int64(7))}
    assert len(sampled) == 1
    for wrong in (None, True, 1.5, b"7", 10**5000):
        with pytest.raises(InputError, match=r"seed: got .*; accepted: text, or an integer"):
            la.dimension(net, seed=wrong)
    assert la.dimension(net, prime=np.int64(65521), primes=np.int8(2)).value == 7
