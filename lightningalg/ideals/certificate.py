"""Certificates of kind ``groebner-basis``: a basis with its derivation, and what follows from it.

Everything is stated only after the exact checks that a verifier repeats: nothing rests on an engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from lightningalg.certificates import Certificate
from lightningalg.certificates.polynomials import encode_polynomial, encode_rational
from lightningalg.engines.ideal_checks import normal_form
from lightningalg.engines.ideal_data import GroebnerBasis, Ideal
from lightningalg.engines.monomials import Polynomial
from lightningalg.errors import InputError, UnsupportedError
from lightningalg.ideals.components import Component, NoRealPoint, cover_power, shows_prime
from lightningalg.ideals.fibre_ideals import value_at

_MAX_DIGITS = 600


def groebner_certificate(
    basis: GroebnerBasis,
    names: Sequence[str],
    *,
    members: Sequence[Polynomial] = (),
    non_members: Sequence[Polynomial] = (),
    components: Sequence[Component] | None = None,
    real: NoRealPoint | Sequence[Fraction] | None = None,
    provenance: dict[str, str] | None = None,
) -> Certificate:
    """Return the certificate of a proved basis over QQ.

    Parameters
    ----------
    basis
        A basis with derivation.
    names
        Of the variables: letters, digits and ``_``, starting with a letter.
    members, non_members
        Polynomials that lie in the ideal, and that do not.
    components
        All minimal primes; they are left out unless each is shown prime by its basis, and that there are no
        others by powers of products.
    real
        Why there is no real point, or a rational point.

    Raises
    ------
    InputError
        If the basis has no derivation or is not over QQ, or a statement is not true.
    UnsupportedError
        If a number is longer than the format allows.

    References
    ----------
    FORMAT.md section 15.

    Examples
    --------
    >>> from lightningalg.engines.flint_ideal_engine import FlintIdeals
    >>> from lightningalg.engines.ideal_data import Ideal
    >>> basis = FlintIdeals().groebner_basis(Ideal(2, ({(1, 1): 1, (0, 0): -1},)), proof=True)
    >>> groebner_certificate(basis, ["x", "y"]).claim["prime"]
    True
    """
    if basis.derivation is None or basis.ideal.characteristic:
        raise InputError("a certificate needs a basis over QQ with its derivation")
    _refuse_long_coefficients(basis)
    _check_members(basis, members, non_members)
    power = None if components is None else _power(basis, components)
    claim = {
        "quantity": "groebner basis",
        "order": basis.order.to_json(),
        "basis": [encode_polynomial(f) for f in basis.elements],
        "dimension": basis.dimension,
        "degree": _degree(basis),
        "elimination": _elimination(basis),
        "members": [encode_polynomial(f) for f in members],
        "non_members": [encode_polynomial(f) for f in non_members],
        "prime": True if shows_prime(basis) else None,
        "components": None if power is None else [_component(c) for c in components or ()],
        "real_points": _real_claim(basis, real),
    }
    steps = [[[k, encode_polynomial(m)] for k, m in step] for step in basis.derivation.steps]
    witness = {
        "steps": steps,
        "elements": list(basis.derivation.elements),
        "power": power,
        "real": _real_witness(real),
    }
    subject = {
        "ideal": {
            "variables": list(names),
            "generators": [encode_polynomial(f) for f in basis.ideal.generators],
        }
    }
    _refuse_long_numbers(subject, claim, witness)
    return Certificate("groebner-basis", subject, claim, witness, provenance or {})


def states_ideal(certificate: Mapping[str, Any], ideal: Ideal, names: Sequence[str]) -> bool:
    """Tell whether a certificate of kind ``groebner-basis`` is about the ideal with these generators.

    Parameters
    ----------
    certificate
        In JSON form.
    names
        Of the variables of ``ideal``, which is over QQ.

    Examples
    --------
    >>> from lightningalg.engines.ideal_data import Ideal
    >>> ideal = {"variables": ["x"], "generators": [[[1, [2]]]]}
    >>> states_ideal({"ideal": ideal}, Ideal(1, ({(2,): 1},)), ["x"])
    True
    """
    stated = {"variables": list(names), "generators": [encode_polynomial(f) for f in ideal.generators]}
    return bool(certificate["ideal"] == stated)


def _check_members(
    basis: GroebnerBasis, members: Sequence[Polynomial], non_members: Sequence[Polynomial]
) -> None:
    for f in members:
        if normal_form(basis, f):
            raise InputError("a stated member does not lie in the ideal")
    for f in non_members:
        if not normal_form(basis, f):
            raise InputError("a stated non-member lies in the ideal")


def _power(basis: GroebnerBasis, components: Sequence[Component]) -> int | None:
    if basis.order.name != "degrevlex" or basis.order.eliminated:
        return None
    if not all(component.shown_prime for component in components):
        return None
    return cover_power(basis, components)


def _degree(basis: GroebnerBasis) -> int | None:
    try:
        return basis.degree
    except UnsupportedError:
        return None


def _elimination(basis: GroebnerBasis) -> list[Any] | None:
    gone = basis.order.eliminated
    if not gone:
        return None
    return [encode_polynomial(f) for f in basis.elements if not any(e[k] for e in f for k in gone)]


def _component(component: Component) -> dict[str, Any]:
    return {
        "basis": [encode_polynomial(f) for f in component.basis.elements],
        "dimension": component.dimension,
        "degree": component.degree,
        "multiplicity": component.multiplicity,
    }


def _real_claim(basis: GroebnerBasis, real: NoRealPoint | Sequence[Fraction] | None) -> Any:
    if real is None:
        return None
    if isinstance(real, NoRealPoint):
        return "none"
    if any(value_at(f, real) for f in basis.ideal.generators):
        raise InputError("the stated real point is no zero of the ideal")
    return [encode_rational(value) for value in real]


def _real_witness(real: NoRealPoint | Sequence[Fraction] | None) -> Any:
    if not isinstance(real, NoRealPoint):
        return None
    return {"form": encode_polynomial(real.form), "constant": encode_polynomial(real.constant)}


def _refuse_long_coefficients(basis: GroebnerBasis) -> None:
    """Refuse numbers that Python would not write out (4300 digits); all others are counted as texts."""
    steps = basis.derivation.steps if basis.derivation else ()
    multipliers = [multiplier for step in steps for _, multiplier in step]
    for f in (*basis.ideal.generators, *basis.elements, *multipliers):
        for c in f.values():
            if max(c.numerator.bit_length(), c.denominator.bit_length()) > 10 * _MAX_DIGITS:
                raise UnsupportedError(
                    f"a number of more than {_MAX_DIGITS} digits has no place in a certificate"
                )


def _refuse_long_numbers(*values: Any) -> None:
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, (list, tuple)):
            waiting += value
        elif isinstance(value, str) and max(map(len, value.lstrip("-").split("/"))) > _MAX_DIGITS:
            raise UnsupportedError(
                f"a number of more than {_MAX_DIGITS} digits has no place in a certificate"
            )
