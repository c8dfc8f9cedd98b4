"""Networks on one token: ``f(x) = L x * prod_i q_i(x)^(3^(l-i))``, taken apart along lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from lightningalg.engines.flint_rings import PolynomialRing
from lightningalg.engines.rational_matrices import rational_inverse, rational_nullspace
from lightningalg.fibres.blackbox import (
    BlackBox,
    MissingValueError,
    NotANetworkError,
    direction,
    interpolation,
)
from lightningalg.fibres.exact import Rows, Vector, apply, dot, outer, product, rank, scaled, show, transpose

_RING = PolynomialRing(["t"])
#: entries of base points and directions: on a line in general position no form vanishes at infinity
_BOUND = 20
#: frames tried before the values are refused: one of them may be special for the forms
_FRAMES = 3
Line = list[Fraction]  # coefficients of a polynomial in one variable, from degree 0


@dataclass(frozen=True, slots=True)
class OneToken:
    """``f(x) = L x * prod_i (x^T forms[i] x)^(3^(l-i))``."""

    L: Rows
    forms: tuple[Rows, ...]


@dataclass(frozen=True, slots=True)
class _Frame:
    """A base point with f != 0, and a basis of directions, so that forms are read off along lines."""

    base: Vector
    basis: tuple[Vector, ...]

    @classmethod
    def of(cls, box: BlackBox, attempt: int) -> _Frame:
        d = box.width
        for number in range(20):
            base = direction(f"base/{attempt}/{number}", d, _BOUND)
            if any(box.one_token(base)):
                break
        else:
            raise NotANetworkError("f([x, 0, ..., 0]) = 0 at all x asked for")
        basis: list[Vector] = []
        number = 0
        while len(basis) < d:
            vector = direction(f"direction/{attempt}/{number}", d, _BOUND)
            number += 1
            if rank([*basis, vector]) > len(basis):
                basis.append(vector)
        return cls(base, tuple(basis))

    def combination(self, *numbers: int) -> Vector:
        """Return the sum of basis vectors; a number may recur."""
        return [sum(values, Fraction(0)) for values in zip(*(self.basis[i] for i in numbers), strict=True)]


def one_token(box: BlackBox, layers: int) -> list[OneToken]:
    """Return all rational ways to write f on one token: one if ``rk L >= 2``, else one for each rational
    line.

    Raises
    ------
    NotANetworkError
        If f is not of that form along some line.
    """
    first: NotANetworkError | None = None
    for attempt in range(_FRAMES):
        try:
            return _with_frame(box, _Frame.of(box, attempt), layers)
        except NotANetworkError as error:
            first = first or error
        except MissingValueError:
            if first is None:
                raise
            raise first from None
    assert first is not None
    raise first


def _with_frame(box: BlackBox, frame: _Frame, layers: int) -> list[OneToken]:
    points = [direction(f"x/{j}", box.width) for j in range(2 * box.width + 2)]
    values = [box.one_token(x) for x in (frame.base, *points)]
    if not box.vectors:
        box.vectors = tuple(range(len(points)))
    if rank(values) == 1:
        return _with_one_line(box, frame, layers)
    L = _rows_of(points, values[1:])
    functional = next(
        c for n in range(50) if dot(c := direction(f"functional/{n}", len(L)), apply(L, frame.base))
    )

    def quadratics(*numbers: int) -> list[Line]:
        b = frame.combination(*numbers)
        line = _restriction(box, frame.base, b, layers, functional)
        linear = [dot(functional, apply(L, frame.base)), dot(functional, apply(L, b))]
        quotient = _exact_quotient(line, linear)
        if quotient is None:
            raise NotANetworkError(
                f"on one token the outputs are no multiples of linear forms along x = {show(frame.base)} "
                f"+ t {show(b)}"
            )
        return _digits(_squarefree(quotient), layers, frame.base, b)

    return [_scaled(box, frame, L, _forms(frame, quadratics, layers))]


def _scaled(box: BlackBox, frame: _Frame, L: Rows, forms: Sequence[Rows]) -> OneToken:
    """Scale L so that the value at the base point is right."""
    value = Fraction(1)
    for level, matrix in enumerate(reversed(forms)):
        value *= dot(frame.base, apply(matrix, frame.base)) ** 3**level
    found, wanted = apply(L, frame.base), box.one_token(frame.base)
    position = next(i for i, entry in enumerate(wanted) if entry)
    if not found[position] or not value:
        raise NotANetworkError(
            f"on one token no linear form and quadratic forms fit at x = {show(frame.base)}"
        )
    return OneToken(scaled(L, wanted[position] / (found[position] * value)), tuple(forms))


def _rows_of(points: Sequence[Vector], values: Sequence[Vector]) -> Rows:
    """Return L up to scale from ``f(x) ~ L x``: all 2 x 2 minors of (f(x), L x) are 0."""
    height, d = len(values[0]), len(points[0])
    equations = []
    for x, value in zip(points, values, strict=True):
        for r, s in combinations(range(height), 2):
            if value[r] or value[s]:
                row = [Fraction(0)] * (height * d)
                row[s * d : (s + 1) * d] = [value[r] * entry for entry in x]
                row[r * d : (r + 1) * d] = [-value[s] * entry for entry in x]
                equations.append(row)
    basis = rational_nullspace(equations)
    if len(basis) != 1:
        raise NotANetworkError(
            f"the outputs on one token are proportional to L x for "
            f"{'no' if not basis else 'more than one'} matrix L"
        )
    return [basis[0][r * d : (r + 1) * d] for r in range(height)]


# -- along a line ----------------------------------------------------------------------


def _restriction(box: BlackBox, a: Vector, b: Vector, layers: int, functional: Vector) -> Line:
    """Return ``c^T f(a + t b)`` as a polynomial in t of degree at most 3^l."""
    nodes = list(range(3**layers + 1))
    values = [dot(functional, box.one_token([x + n * y for x, y in zip(a, b, strict=True)])) for n in nodes]
    return apply(_vandermonde(len(nodes)), values)


_TABLES: dict[int, Rows] = {}


def _vandermonde(size: int) -> Rows:
    if size not in _TABLES:
        _TABLES[size] = interpolation(range(size), size)
    return _TABLES[size]


def _exact_quotient(line: Line, linear: Line) -> Line | None:
    """Return ``line / (c + m t)`` with c not 0, or ``None`` if there is a remainder."""
    c, m = linear
    found, carry = [], Fraction(0)
    for value in line:
        carry = (value - m * carry) / c
        found.append(carry)
    return found[:-1] if not found[-1] else None


def _squarefree(line: Line) -> list[tuple[Line, int]]:
    """Return factors without repeated roots, pairwise coprime, with multiplicities."""
    polynomial = _RING.from_terms({(k,): value for k, value in enumerate(line) if value})
    return [(_coefficients(factor), times) for factor, times in polynomial.factor_squarefree()[1]]


def _coefficients(polynomial: Any) -> Line:
    terms = {k[0]: Fraction(int(v.p), int(v.q)) for k, v in polynomial.to_dict().items()}
    return [terms.get(k, Fraction(0)) for k in range(max(terms) + 1)]


def _times(a: Line, b: Line) -> Line:
    found = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            found[i + j] += x * y
    return found


def _normalised(line: Line, length: int) -> Line:
    """Return the multiple with constant coefficient 1, filled up with zeros."""
    return [value / line[0] for value in line] + [Fraction(0)] * (length - len(line))


def _power_product(parts: Sequence[tuple[Line, int]], level: int) -> Line:
    """Return the product of the parts to the digits of their multiplicities at 3^level."""
    found = [Fraction(1)]
    for part, times in parts:
        for _ in range(times // 3**level % 3):
            found = _times(found, part)
    return found


def _digits(parts: Sequence[tuple[Line, int]], layers: int, a: Vector, b: Vector) -> list[Line]:
    """Return the quadratic polynomials whose powers 3^(l-i) make the product, each with value 1 at t = 0."""
    if any(times >= 3**layers for _, times in parts):
        raise NotANetworkError(f"a root of too high multiplicity along x = {show(a)} + t {show(b)}")
    found = [_power_product(parts, level) for level in reversed(range(layers))]
    if any(len(line) > 3 for line in found):
        raise NotANetworkError(
            f"multiplicities along x = {show(a)} + t {show(b)} are not those of a product of powers of "
            f"quadratic forms"
        )
    return [_normalised(line, 3) for line in found]


def _forms(frame: _Frame, quadratics: Any, layers: int) -> list[Rows]:
    """Return the symmetric matrices with value 1 at the base point, from their restrictions to lines."""
    d = len(frame.basis)
    single = [quadratics(i) for i in range(d)]
    sums = {(i, j): quadratics(i, j) for i, j in combinations(range(d), 2)}
    back = rational_inverse(transpose(list(frame.basis)))
    forms = []
    for n in range(layers):
        table = [[single[i][n][2] for _ in range(d)] for i in range(d)]
        for (i, j), lines in sums.items():
            table[i][j] = table[j][i] = (lines[n][2] - single[i][n][2] - single[j][n][2]) / 2
        forms.append(product(transpose(back), product(table, back)))
    return forms


# -- one line: L = w l^T --------------------------------------------------------------


def _with_one_line(box: BlackBox, frame: _Frame, layers: int) -> list[OneToken]:
    value = box.one_token(frame.base)
    functional = next(c for n in range(50) if dot(c := direction(f"functional/{n}", len(value)), value))
    head = dot(functional, value)
    outputs = [entry / head for entry in value]
    cache: dict[tuple[int, ...], tuple[int, Line, list[Line]]] = {}

    def cubic(*numbers: int) -> tuple[int, Line, list[Line]]:
        """Return (number of carries, cubic or linear part, quadratics) along a combination of directions."""
        if numbers not in cache:
            b = frame.combination(*numbers)
            line = _restriction(box, frame.base, b, layers, functional)
            cache[numbers] = _carried(_squarefree(line), layers, frame.base, b)
        return cache[numbers]

    carries = cubic(0)[0]
    free = layers - carries - 1  # forms that are read off directly

    def quadratics(*numbers: int) -> list[Line]:
        if cubic(*numbers)[0] != carries:
            raise NotANetworkError("multiplicities along different lines do not fit each other")
        return cubic(*numbers)[2]

    forms = _forms(frame, quadratics, free) if free > 0 else []
    if free < 0:  # f = w l^(3^l)
        line = _linear_form(frame, lambda i: cubic(i)[1])
        return [_scaled(box, frame, outer(outputs, line), [outer(line, line)] * layers)]
    found = []
    for line, quadric in _cubic_factors(frame, cubic):
        rest = [outer(line, line)] * carries
        found.append(_scaled(box, frame, outer(outputs, line), [*forms, quadric, *rest]))
    return found


def _carried(
    parts: list[tuple[Line, int]], layers: int, a: Vector, b: Vector
) -> tuple[int, Line, list[Line]]:
    """Split along a line: ``l * prod q_i^(3^(l-i))``; where all multiplicities are divisible by 3, q_l = l^2.

    The directions are so general that no form vanishes on them: restrictions keep their degrees.
    """
    carries = 0
    while carries < layers and all(times % 3 == 0 for _, times in parts):
        parts = [(part, times // 3) for part, times in parts]
        carries += 1
    last = _power_product(parts, 0)
    rest = [(part, times // 3) for part, times in parts]
    expected = 2 if carries == layers else 4
    if len(last) != expected:
        raise NotANetworkError(
            f"multiplicities along x = {show(a)} + t {show(b)} are not those of a linear form and "
            f"quadratic forms"
        )
    if carries == layers:
        return carries, _normalised(last, 2), []
    return carries, _normalised(last, 4), _digits(rest, layers - carries - 1, a, b)


def _linear_form(frame: _Frame, along: Any) -> Vector:
    """Return the linear form with value 1 at the base point and these restrictions."""
    values = [along(i)[1] for i in range(len(frame.basis))]
    return apply(rational_inverse([list(b) for b in frame.basis]), values)


def _cubic_factors(frame: _Frame, cubic: Any) -> list[tuple[Vector, Rows]]:
    """Return ``(line, quadric)`` for each rational linear factor of the cubic form, from its values on
    lines."""
    d = len(frame.basis)
    c = {i: cubic(i)[1][3] for i in range(d)}
    terms: dict[tuple[int, ...], Fraction] = {_exponents(d, i, i, i): c[i] for i in range(d)}
    for i, j in combinations(range(d), 2):
        one, two = cubic(i, j)[1][3] - c[i] - c[j], cubic(i, i, j)[1][3] - 8 * c[i] - c[j]
        # one = u + v, two = 4u + 2v for the coefficients u of x_i^2 x_j and v of x_i x_j^2
        terms[_exponents(d, i, i, j)], terms[_exponents(d, i, j, j)] = (
            (two - 2 * one) / 2,
            (4 * one - two) / 2,
        )
    for i, j, k in combinations(range(d), 3):
        pairs = sum(
            terms[_exponents(d, *p)] for a, b in combinations((i, j, k), 2) for p in ((a, a, b), (a, b, b))
        )
        terms[_exponents(d, i, j, k)] = cubic(i, j, k)[1][3] - c[i] - c[j] - c[k] - pairs
    ring = PolynomialRing([f"x{i}" for i in range(d)])
    form = ring.from_terms(terms)
    back = rational_inverse(transpose(list(frame.basis)))
    found = []
    for factor, _ in form.factor()[1] if terms and form != 0 else []:
        if factor.total_degree() == 1:
            quotient = form / factor
            line = apply(transpose(back), _vector(factor, d))
            found.append((line, product(transpose(back), product(_symmetric(quotient, d), back))))
    if not found:
        raise NotANetworkError(
            "on one token there is no rational linear factor: the outputs are no multiples of a linear form"
        )
    return found


def _exponents(d: int, *numbers: int) -> tuple[int, ...]:
    return tuple(numbers.count(i) for i in range(d))


def _vector(polynomial: Any, d: int) -> Vector:
    found = [Fraction(0)] * d
    for exponents, value in polynomial.to_dict().items():
        found[exponents.index(1)] = Fraction(int(value.p), int(value.q))
    return found


def _symmetric(polynomial: Any, d: int) -> Rows:
    found = [[Fraction(0)] * d for _ in range(d)]
    for exponents, value in polynomial.to_dict().items():
        i, j = (i for i, k in enumerate(exponents) for _ in range(k))
        share = Fraction(int(value.p), int(value.q)) / (1 if i == j else 2)
        found[i][j] = found[j][i] = share
    return found
