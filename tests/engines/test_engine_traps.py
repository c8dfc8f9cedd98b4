"""Every known trap of the engines is a test: the input is refused, rewritten, or answered rightly."""

from __future__ import annotations

from fractions import Fraction

import pytest

from lightningalg.engines.choose import ideal_engine
from lightningalg.engines.exact_polynomials import Arithmetic, is_groebner_basis
from lightningalg.engines.ideal_checks import checked_basis
from lightningalg.engines.ideal_data import Derivation, Ideal
from lightningalg.engines.monomials import MonomialOrder
from lightningalg.engines.msolve_engine import msolve_polynomials
from lightningalg.engines.polynomial_text import read, write
from lightningalg.engines.singular_engine import singular_lines
from lightningalg.errors import EngineAnswerError, InputError, TooLargeError, UnsupportedError

from .ideal_problems import ALL_ENGINES, engine_or_skip

BIG = 2**61 - 1  # prime


def basis(engine, ideal, **options):
    return engine_or_skip(engine).groebner_basis(ideal, **options).elements


# -- the input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", (1, 6, 32004, 2**31, 2**63, 2**64 + 13, -7, True, 1.5, "7"))
def test_characteristics_that_are_no_primes_are_refused(p):
    """FLINT aborts; Singular takes 32003 for 32004; Macaulay2 and msolve accept them silently."""
    with pytest.raises(InputError, match="characteristic"):
        Ideal(1, ({(1,): 1},), p)


@pytest.mark.parametrize(
    "polynomial",
    [
        {(-1, 0): 1},  # FLINT drops the sign
        {(1,): 1},
        {(1, 0, 0): 1},
        {(1.0, 0): 1},
        {(True, 0): 1},
        {"x": 1},
        {(1, 0): 0.5},
        {(1, 0): "1"},
        {(1, 0): True},
    ],
)
def test_what_is_no_polynomial_is_refused(polynomial):
    with pytest.raises(InputError):
        Ideal(2, (polynomial,))


def test_huge_exponents_are_refused_before_any_engine_sees_them():
    with pytest.raises(TooLargeError):
        Ideal(1, ({(2**40,): 1},))
    with pytest.raises(InputError):
        Ideal(0, ())
    with pytest.raises(InputError):
        Ideal(1, ({(1,): Fraction(1, 7)},), 7)  # 1/7 in GF(7)


def test_orders_are_checked():
    for wrong in ({"name": "dp"}, {"eliminated": (2,)}, {"eliminated": (0, 0)}, {"eliminated": (-1,)}):
        with pytest.raises(InputError):
            MonomialOrder(2, **wrong)


# -- traps on every engine ------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ALL_ENGINES)
def test_units_of_the_field(engine):
    """fmpz_mpoly_vec and sympy over ZZ: 2 and x generate everything over QQ, 2x and 3x the same as x."""
    assert basis(engine, Ideal(1, ({(0,): 2}, {(1,): 1}))) == ({(0,): 1},)
    assert basis(engine, Ideal(1, ({(1,): 2}, {(1,): 3}))) == ({(1,): 1},)
    assert basis(engine, Ideal(2, ({(2, 0): 1, (0, 1): 1}, {(1, 0): 2}))) == ({(0, 1): 1}, {(1, 0): 1})


@pytest.mark.parametrize("engine", ALL_ENGINES)
def test_no_generators_and_only_zero(engine):
    """msolve prints nothing for the polynomial 0."""
    assert basis(engine, Ideal(2, ())) == basis(engine, Ideal(2, ({}, {(1, 0): 0}))) == ()
    assert basis(engine, Ideal(2, ({}, {(1, 0): 3}))) == ({(1, 0): 1},)


@pytest.mark.parametrize("engine", ALL_ENGINES)
def test_large_and_fractional_coefficients(engine):
    """msolve ignores denominators modulo p, and gives wrong residues for coefficients beyond 64 bit."""
    huge, p = 10**5000 + 7, 1000003
    assert basis(engine, Ideal(1, ({(1,): 1, (0,): -huge},))) == ({(1,): 1, (0,): -huge},)
    assert basis(engine, Ideal(1, ({(1,): 1, (0,): -huge},), p)) == ({(1,): 1, (0,): -huge % p},)
    half = pow(2, -1, p)
    assert basis(engine, Ideal(1, ({(1,): 1, (0,): Fraction(1, 2)},), p)) == ({(1,): 1, (0,): half},)
    assert basis(engine, Ideal(1, ({(1,): Fraction(2, 3), (0,): Fraction(-1, 5)},))) == (
        {(1,): 1, (0,): Fraction(-3, 10)},
    )


@pytest.mark.parametrize("engine", ALL_ENGINES)
def test_exponents_beyond_sixteen_bits(engine):
    """msolve wraps x^65536 to 1, Singular's default rings overflow silently: here x^65536 = y, y = 2."""
    ideal = Ideal(2, ({(65536, 0): 1, (0, 1): -1}, {(0, 1): 1, (0, 0): -2}))
    if engine == "msolve":
        with pytest.raises(UnsupportedError, match="2\\^16"):
            engine_or_skip(engine).groebner_basis(ideal)
        return
    assert basis(engine, ideal) == ({(0, 1): 1, (0, 0): -2}, {(65536, 0): 1, (0, 0): -2})


@pytest.mark.parametrize("engine", ALL_ENGINES)
def test_primes_of_any_size(engine):
    for p in (2, 101, 2147483647, BIG):
        ideal = Ideal(2, ({(1, 1): 1, (0, 0): 1}, {(2, 0): 1, (0, 1): 1}), p)
        try:
            found = engine_or_skip(engine).groebner_basis(ideal)
        except UnsupportedError as error:
            assert engine != "flint" and "characteristic" in str(error)
            continue
        assert (found.dimension, found.degree) == (0, 3)
        assert found.elements == basis("flint", ideal)


def test_names_never_reach_an_engine():
    """Names such as ``x),dp; int k=system("sh","...")`` run commands: variables are x1, x2, ..."""
    text = write({(1, 2): Fraction(-3, 4), (0, 0): Fraction(1)})
    assert text == "-3/4*x1*x2^2+1"
    assert set(text) <= set("0123456789x*^/+-")


# -- the answers ----------------------------------------------------------------------------------------


def test_is_groebner_is_no_proof_of_equality():
    """FLINT: ``[1].is_groebner([x*y])`` and ``[x].is_groebner([x*y])`` are true. Derivations tell."""
    order, ideal = MonomialOrder(2), Ideal(2, ({(1, 1): 1},))
    ring = Arithmetic(order)
    for wrong in ({(0, 0): Fraction(1)}, {(1, 0): Fraction(1)}):
        assert is_groebner_basis(ring, [ring.pack(wrong)])
        assert not checked_basis(ideal, order, [wrong], "demo").proved
        with pytest.raises(EngineAnswerError, match="wrong derivation"):
            checked_basis(ideal, order, [wrong], "demo", Derivation((((0, {(0, 0): 1}),),), (1,)))


def test_derivations_use_earlier_sources_only():
    order, ideal = MonomialOrder(1), Ideal(1, ({(1,): 1},))
    one = {(0,): Fraction(1)}
    for steps, elements in ((((1, one),),), (1,)), ((((7, one),),), (1,)), ((), (3,)), ((), (-1,)), ((), ()):
        with pytest.raises(EngineAnswerError):
            checked_basis(ideal, order, [{(1,): Fraction(1)}], "demo", Derivation(steps, elements))


@pytest.mark.parametrize(
    "output",
    [
        "// ** possible OVERFLOW in ideal\nbegin answer\nx1\nend answer\n",
        "begin answer\nx1\n   ? OVERFLOW...\nend answer\n",
        "   ? `std` is reserved\nbegin answer\nx1\nend answer\n",
        "// ** 32004 is invalid as characteristic; using 32003\nbegin answer\nx1\nend answer\n",
        "halt 14\n",
    ],
)
def test_warnings_of_singular_are_errors(output):
    with pytest.raises(EngineAnswerError):
        singular_lines(output)


@pytest.mark.parametrize(
    "output", ["", "[1", "[x1]", "[[x1]]:", "[x1, ]:", "error\n[x1]:", "[2x1]:", "[x1**2]:"]
)
def test_answers_of_msolve_are_read_strictly(output):
    with pytest.raises(EngineAnswerError):
        msolve_polynomials(output, Ideal(2, ()))


@pytest.mark.parametrize(
    "text",
    ["", "+", "x1x2", "2x1", "x1^^2", "x1^-1", "x0", "x3", "y", "1/0*x1", "x1**2", "(x1+1)", "x1;quit"],
)
def test_polynomials_are_read_strictly(text):
    with pytest.raises(EngineAnswerError):
        read(text, 2, 0, "demo")


@pytest.mark.parametrize("engine", ("msolve",))
def test_inconsistent_over_the_rationals_is_derived_first(engine):
    """msolve's 1 over QQ rests on one prime: here it is right, and the embedded engine has derived it."""
    solver = engine_or_skip(engine)
    ideal = Ideal(2, ({(1, 0): 1, (0, 0): -1}, {(1, 0): 1, (0, 0): -2}))
    assert solver.groebner_basis(ideal).is_unit
    assert solver.groebner_basis(ideal, proof=True).proved


def test_a_system_that_is_inconsistent_modulo_an_unlucky_prime():
    """p x = 1 has no solution modulo p: the embedded engine's first primes must not decide over QQ."""
    primes = (2147483629, 2147483587, 2147483579)
    for product in (primes[0], primes[0] * primes[1], primes[0] * primes[1] * primes[2]):
        ideal = Ideal(1, ({(1,): product, (0,): -1},))
        engine, _ = ideal_engine("flint")
        assert engine.groebner_basis(ideal, proof=True).elements == ({(1,): 1, (0,): Fraction(-1, product)},)
