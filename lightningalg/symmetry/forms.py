"""Linear forms in symbols, with coefficients that are polynomials in the parameters, exact over QQ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from lightningalg.errors import TooLargeError
from lightningalg.symmetry.fields import Monomial

Symbol = tuple[Any, ...]
Coefficient = Fraction | int
#: non-zero coefficients by symbol and monomial in the parameters
Form = dict[tuple[Symbol, Monomial], Coefficient]


class Budget:
    """Counts the terms that are added to forms, and refuses to go on beyond a limit."""

    __slots__ = ("left", "limit")

    def __init__(self, limit: int):
        self.limit = self.left = limit

    def spend(self, terms: int) -> None:
        """Take ``terms`` off.

        Raises
        ------
        TooLargeError
            When the limit is passed.
        """
        self.left -= terms
        if self.left < 0:
            raise TooLargeError(f"linear forms of more than {self.limit:,} terms in all")

    def renew(self) -> None:
        """Start again from the limit."""
        self.left = self.limit


def product(first: Monomial, second: Monomial) -> Monomial:
    """Return the product of two monomials.

    Examples
    --------
    >>> product((1, 3), (2,))
    (1, 2, 3)
    """
    return tuple(sorted(first + second)) if first and second else first or second


def add_multiple(
    total: Form, form: Mapping[tuple[Symbol, Monomial], Coefficient], budget: Budget,
    factor: Coefficient = 1, monomial: Monomial = (),
) -> None:  # fmt: skip
    """Add ``factor * monomial * form`` to ``total``, in place; zeros are removed.

    Examples
    --------
    >>> total = {(("x",), ()): 2}
    >>> add_multiple(total, {(("x",), ()): 1}, Budget(10), -2)
    >>> total
    {}
    """
    budget.spend(len(form))
    for (symbol, own), value in form.items():
        key = symbol, product(own, monomial)
        new = total.get(key, 0) + factor * value
        if new:
            total[key] = new
        else:
            total.pop(key, None)


class Coordinates:
    """Writes forms as rational combinations of given independent forms.

    ``independent`` is false if the given forms are not; then nothing can be written.

    Examples
    --------
    >>> x, y = {(("x",), ()): 1}, {(("y",), ()): 1}
    >>> both = {**x, **y}
    >>> Coordinates([x, both], Budget(100)).of(y)
    [Fraction(-1, 1), Fraction(1, 1)]
    >>> Coordinates([x], Budget(100)).of(y) is None
    True
    """

    def __init__(self, forms: Sequence[Form], budget: Budget):
        self.budget = budget
        self.size = len(forms)
        #: (pivot, form, combination): the forms reduced by each other, each with coefficient 1 at its pivot
        self._reduced: list[tuple[tuple[Symbol, Monomial], Form, list[Fraction]]] = []
        for i, form in enumerate(forms):
            unit = [Fraction(int(i == k)) for k in range(self.size)]
            rest = self._reduce(form, unit)
            if rest:
                pivot = next(iter(rest))
                scale = 1 / Fraction(rest[pivot])
                scaled: Form = {key: value * scale for key, value in rest.items()}
                self._eliminate(pivot, scaled, [value * scale for value in unit])
        self.independent = len(self._reduced) == self.size

    def _reduce(self, form: Form, combination: list[Fraction]) -> Form:
        """Return the form without the pivots; what is subtracted is taken off ``combination`` too."""
        rest = dict(form)
        for pivot, reduced, own in self._reduced:
            value = rest.get(pivot)
            if value:
                add_multiple(rest, reduced, self.budget, -value)
                for k, entry in enumerate(own):
                    combination[k] -= value * entry
        return rest

    def _eliminate(self, pivot: tuple[Symbol, Monomial], form: Form, combination: list[Fraction]) -> None:
        for _, other, own in self._reduced:
            value = other.get(pivot)
            if value:
                add_multiple(other, form, self.budget, -value)
                for k, entry in enumerate(combination):
                    own[k] -= value * entry
        self._reduced.append((pivot, form, combination))

    def of(self, form: Form) -> list[Fraction] | None:
        """Return the coefficients of ``form`` in the given forms; ``None`` if there are none."""
        negative = [Fraction(0)] * self.size
        if not self.independent or self._reduce(form, negative):
            return None
        return [-value for value in negative]


def sum_of(forms: Iterable[Form], budget: Budget) -> Form:
    """Return the sum of forms."""
    total: Form = {}
    for form in forms:
        add_multiple(total, form, budget)
    return total
