"""Identities between matrix expressions, certified once for matrices of all sizes."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from lightningalg.certificates import Certificate
from lightningalg.claims.base import AbstractClaim, RefutedError
from lightningalg.claims.provenance import provenance
from lightningalg.errors import InputError, UnsupportedError
from lightningalg.networks.matrix import Matrix
from lightningalg.symmetry.matrix_formula import declare, parse_expression
from lightningalg.symmetry.matrix_words import Expression, WordAlgebra
from lightningalg.symmetry.word_sums import Size, Term, number_to_json

CERTIFIED = "certified"
REFUTED = "refuted"
OPEN = "open"

_ATTEMPTS = 8
_LARGEST = 3  # size of the matrices tried


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Matrices at which the two sides differ, exactly.

    A symbol of fixed larger size is the printed matrix in its upper left
    corner, and otherwise zero (an invertible one: otherwise the identity).
    """

    sizes: Mapping[str, int]
    scalars: Mapping[str, Fraction]
    matrices: Mapping[str, Matrix]
    row: int
    column: int
    left: Fraction
    right: Fraction

    def to_json(self) -> dict[str, Any]:
        """Return sizes, values and the entry (counted from 1) where the sides differ."""
        return {
            "sizes": dict(self.sizes),
            "scalars": {name: number_to_json(value) for name, value in self.scalars.items()},
            "matrices": {name: _rows_to_json(matrix) for name, matrix in self.matrices.items()},
            "entry": [self.row, self.column],
            "left": number_to_json(self.left),
            "right": number_to_json(self.right),
        }

    def __str__(self) -> str:
        entry = f"entry ({self.row}, {self.column}) is {self.left} on the left and {self.right} on the right"
        return f"{entry}, at sizes {dict(self.sizes)}"


@dataclass(frozen=True, slots=True)
class IdentityOutcome:
    """A certificate of the identity, or the difference of its sides.

    Attributes
    ----------
    certificate
        Kind ``matrix-identity``; ``None`` if the normal forms differ.
    difference
        Terms of left minus right; empty exactly if there is a certificate.
    counterexample
        Matrices at which the sides differ, or ``None``: differing normal forms
        alone do not refute (a 1 x 1 matrix equals its transpose).
    """

    certificate: Certificate | None
    difference: tuple[Term, ...]
    counterexample: Counterexample | None = None

    def __post_init__(self) -> None:
        assert (self.certificate is None) == bool(self.difference), "a certificate or a difference"
        assert self.certificate is None or self.counterexample is None

    @property
    def status(self) -> str:
        """``certified``, ``refuted`` (by the counterexample) or ``open``."""
        if self.certificate is not None:
            return CERTIFIED
        return REFUTED if self.counterexample is not None else OPEN


def matrix_identity(
    name: str,
    *,
    scalars: Sequence[str] = (),
    symbols: Mapping[str, str],
    definitions: Sequence[tuple[str, str]] = (),
    left: str,
    right: str,
    seed: int = 0,
) -> IdentityOutcome:
    """Return a proof of ``left = right`` for matrices of all sizes.

    It holds over every commutative ring with the fractions used.

    Parameters
    ----------
    name
        What the certificate calls the identity.
    scalars
        Names of commuting, invertible scalars.
    symbols
        Shapes by name, ``"d1 x d0"`` or ``"a x a invertible"``.
    definitions
        Names for expressions, each in terms of the earlier ones.
    left, right
        Expressions in the grammar of ``symmetry.matrix_formula``.
    seed
        Of the search for a counterexample; a certificate does not depend on it.

    Raises
    ------
    InputError, ShapeError, TooLargeError
        If the texts are no expressions, shapes do not fit, or an expansion
        exceeds the limits of FORMAT.md section 6.

    References
    ----------
    FORMAT.md section 6.

    Examples
    --------
    >>> symbols = {"Q": "a x d", "K": "a x d", "G": "a x a invertible"}
    >>> outcome = matrix_identity("GL(a)", symbols=symbols, left="(G^-T*K)'*(G*Q)", right="K'*Q")
    >>> outcome.status, outcome.certificate.witness
    ('certified', {'normal_form': [[1, [], ["K'", 'Q']]]})
    >>> wrong = matrix_identity("GL(a)", symbols=symbols, left="(G*K)'*(G*Q)", right="K'*Q")
    >>> wrong.status, [str(term) for term in wrong.difference]
    ('refuted', ["K'*G'*G*Q", "-K'*Q"])
    """
    algebra = declare(scalars, symbols, definitions)
    sides = parse_expression(left, algebra, "left side"), parse_expression(right, algebra, "right side")
    forms = algebra.normal_form(sides[0]), algebra.normal_form(sides[1])
    difference = (forms[0] - forms[1]).terms
    if difference:
        return IdentityOutcome(None, difference, _counterexample(algebra, sides, seed))
    certificate = Certificate(
        "matrix-identity",
        {"identity": algebra.identity_to_json(name)},
        {"quantity": "matrix identity", "relation": "equals", "left": sides[0], "right": sides[1]},
        {"normal_form": forms[0].to_json()},
        provenance(),
    )
    return IdentityOutcome(certificate, ())


class MatrixIdentityClaim(AbstractClaim):
    """An identity between matrix expressions, for all sizes."""

    kind = "matrix-identity"
    subject = "identity"
    certificate_kind = "matrix-identity"
    expected_quantity = "terms"
    quantities_known: ClassVar[Mapping[str, str]] = {"terms": "number of terms of either side's normal form"}

    def certify(self, subject: Mapping[str, Any], *, seed: str) -> Certificate:
        outcome = matrix_identity(
            subject["name"],
            scalars=_texts(subject.get("scalars", []), "scalars"),
            symbols=_table(subject["symbols"]),
            definitions=_pairs(subject.get("definitions", [])),
            left=subject["left"],
            right=subject["right"],
        )
        if outcome.certificate is not None:
            return outcome.certificate
        terms = " + ".join(str(term) for term in outcome.difference[:10]).replace("+ -", "- ")
        rest = len(outcome.difference) - 10
        difference = f"left - right = {terms}" + (f" + {rest} terms" if rest > 0 else "")
        if outcome.counterexample is None:
            raise UnsupportedError(f"the normal forms differ, but no counterexample was found: {difference}")
        raise RefutedError(f"{outcome.counterexample}; {difference}")

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        return {"terms": len(certificate["witness"]["normal_form"])}


def _texts(value: Any, what: str) -> list[str]:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    raise InputError(f'"{what}": accepted is a list of texts')


def _table(value: Any) -> Mapping[str, str]:
    if isinstance(value, Mapping) and all(isinstance(item, str) for item in value.values()):
        return value
    raise InputError('"symbols": accepted is a table of shapes, such as { G = "a x a invertible" }')


def _pairs(value: Any) -> list[tuple[str, str]]:
    if isinstance(value, list):
        pairs = [_texts(item, "definitions") for item in value]
        if all(len(pair) == 2 for pair in pairs):
            return [(name, text) for name, text in pairs]
    raise InputError('"definitions": accepted is a list of pairs [name, expression]')


def _counterexample(
    algebra: WordAlgebra, sides: tuple[Expression, Expression], seed: int
) -> Counterexample | None:
    """Return small integer matrices at which the sides differ, if a few attempts find some."""
    chance = random.Random(seed)
    for attempt in range(_ATTEMPTS):
        sizes = {name: 2 if attempt == 0 else chance.randint(1, _LARGEST) for name in _size_names(algebra)}
        scalars = {name: Fraction(chance.choice((-3, -2, 2, 3, 5))) for name in algebra.scalars}
        point = _Point.at_random(algebra, sizes, scalars, chance)
        left, right = (point.value(side) for side in sides)
        for i, (row, other) in enumerate(zip(left.rows, right.rows, strict=True), 1):
            for j, (a, b) in enumerate(zip(row, other, strict=True), 1):
                if a != b:
                    return Counterexample(sizes, scalars, point.symbols, i, j, a, b)
    return None


def _size_names(algebra: WordAlgebra) -> list[str]:
    sizes = [size for s in algebra.symbols for size in (s.rows, s.columns) if isinstance(size, str)]
    return list(dict.fromkeys(sizes))


@dataclass(frozen=True, slots=True)
class _Point:
    """Values of all symbols and definitions.

    Fixed sizes are cut to ``_LARGEST``: matrices that are zero (invertible
    ones: the identity) outside their upper left blocks multiply block by block.
    """

    scalars: Mapping[str, Fraction]
    symbols: dict[str, Matrix]
    inverses: dict[str, Matrix]
    definitions: dict[str, Matrix]

    @classmethod
    def at_random(
        cls,
        algebra: WordAlgebra,
        sizes: Mapping[str, int],
        scalars: Mapping[str, Fraction],
        chance: random.Random,
    ) -> _Point:
        """Return a point with small integer entries."""
        point = cls(scalars, {}, {}, {})

        def side(size: Size) -> int:
            return sizes[size] if isinstance(size, str) else min(size, _LARGEST)

        for symbol in algebra.symbols:
            matrix = _random_matrix(side(symbol.rows), side(symbol.columns), chance)
            if symbol.invertible:
                while (inverse := _inverse(matrix)) is None:
                    matrix = _random_matrix(*matrix.shape, chance)
                point.inverses[symbol.name] = inverse
            point.symbols[symbol.name] = matrix
        for name, expression in algebra.definitions:
            point.definitions[name] = point.value(expression)
        return point

    def value(self, expression: Expression) -> Matrix:
        """Return the exact value of a well-formed expression."""
        head, *rest = expression
        if head == "symbol":
            return self.symbols[rest[0]] if rest[0] in self.symbols else self.definitions[rest[0]]
        if head == "inverse":
            return self.inverses[rest[0]]
        if head == "transpose":
            return self.value(rest[0]).T
        if head == "scale":
            factor = Fraction(rest[0])
            for name, exponent in rest[1]:
                factor *= self.scalars[name] ** exponent
            return self.value(rest[2]).map(lambda entry: factor * entry)
        result = self.value(rest[0])
        for operand in rest[1:]:
            result = result @ self.value(operand) if head == "product" else result + self.value(operand)
        return result


def _rows_to_json(matrix: Matrix) -> list[list[int | str]]:
    return [[number_to_json(entry) for entry in row] for row in matrix.rows]


def _random_matrix(rows: int, columns: int, chance: random.Random) -> Matrix:
    return Matrix([Fraction(chance.randint(-3, 3)) for _ in range(columns)] for _ in range(rows))


def _inverse(matrix: Matrix) -> Matrix | None:
    """Return the inverse by Gauss-Jordan elimination, or ``None`` if there is none."""
    n = matrix.shape[0]
    rows = [[*row, *(Fraction(i == j) for j in range(n))] for i, row in enumerate(matrix.rows)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [entry / rows[k][k] for entry in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return Matrix(row[n:] for row in rows)
