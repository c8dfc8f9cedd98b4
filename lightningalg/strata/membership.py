"""Whether a given rational tensor is the function of some real weights, or a real point of Y, or neither."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lightningalg.arguments import integer, listed, mapping, shown
from lightningalg.certificates.polynomials import encode_rational
from lightningalg.engines.flint_rings import rational
from lightningalg.errors import InputError, TooLargeError
from lightningalg.strata.factors import ATTENTION, VALUES, factorise
from lightningalg.strata.layer import SingleLayer
from lightningalg.strata.orbits import ZERO, Stratum, stratum_of
from lightningalg.strata.quadratic import Form, QuadraticNumber, diagonal_form, square_part
from lightningalg.strata.ranks import minor_of_size, reduced_rows
from lightningalg.strata.tensors import Tensor, replaced, sparse

INSIDE = "in the neuromanifold"
CONJUGATE = "in the closure, not in the neuromanifold"
OUTSIDE = "not in the closure"

#: coefficients times unknowns squared: some seconds of plain Python
_MOST_WORK = 300_000_000

Matrix = dict[tuple[int, int], Any]
Vector = dict[int, Fraction]


@dataclass(frozen=True, slots=True)
class Membership:
    """The answer for one tensor, with what proves it.

    Attributes
    ----------
    relation
        ``in the neuromanifold``, ``in the closure, not in the neuromanifold`` or ``not in the closure``.
    witness
        As FORMAT.md section 13 asks for that relation.
    stratum
        Of points of M, ``None`` for others.
    """

    layer: SingleLayer
    tensor: Tensor
    relation: str
    witness: Mapping[str, Any]
    stratum: Stratum | None = None

    @property
    def on_boundary(self) -> bool:
        """Whether real points of Y without real weights come arbitrarily near (MATH.md section 3)."""
        return self.layer.d >= 2 and self.stratum in (ZERO, Stratum(1, 1, 1))

    def __repr__(self) -> str:
        return f"<Membership {self.relation}: {self.layer}>"

    def _repr_html_(self) -> str:
        from lightningalg.display import html_table

        rows: list[tuple[str, object]] = [("where the function is", self.relation)]
        if self.stratum is not None:
            rows.append(("stratum (rk V, rk A, m)", self.stratum))
            rows.append(("on the boundary", "yes" if self.on_boundary else "no"))
        rows.append(("coefficients that are not 0", len(self.tensor)))
        return html_table(f"One layer, {self.layer}", ("question", "answer"), rows)

    def claim(self) -> dict[str, Any]:
        """Return the claim of FORMAT.md section 13."""
        listed = [[encode_rational(value), list(key)] for key, value in sorted(self.tensor.items())]
        return {"quantity": "membership", "relation": self.relation, "tensor": listed}


def membership(layer: SingleLayer, tensor: Mapping[tuple[int, int, int, int], Fraction | int]) -> Membership:
    """Return whether a rational tensor is in M, in the rest of the real points of Y, or not in Y, exactly.

    Parameters
    ----------
    layer
        Sizes; ``rank A <= a``.
    tensor
        ``T_{i, alpha beta, gamma}``, the coefficient of ``x_alpha x_beta y_gamma`` (alpha <= beta) in output
        i, all counted from 0; absent entries are 0.

    Raises
    ------
    InputError
        For indices that are not of this layer, and values that are no rationals.
    TooLargeError
        Before it starts, if the linear systems are too large.
    UnsupportedError
        If ranks modulo all primes tried are too small (entries made for that purpose).

    References
    ----------
    MATH.md section 3; FORMAT.md section 13.

    Examples
    --------
    >>> layer = SingleLayer(2, 1, 1)
    >>> membership(layer, {(0, 0, 0, 0): 1, (0, 1, 1, 0): -2}).relation  # x_0^2 - 2 x_1^2
    'in the neuromanifold'
    >>> membership(layer, {(0, 0, 0, 0): 1, (0, 1, 1, 0): 2}).relation
    'in the closure, not in the neuromanifold'
    >>> membership(layer, {(0, 0, 0, 0): 1, (0, 1, 1, 1): 1}).relation
    'not in the closure'
    """
    exact = _checked(layer, tensor)
    unknowns = layer.d * max(layer.d, layer.dprime)
    if len(exact) * unknowns**2 > _MOST_WORK:
        raise TooLargeError(
            f"{layer}: {len(exact)} coefficients and {unknowns} unknowns; accepted are coefficients * "
            f"unknowns^2 up to {_MOST_WORK}"
        )
    if not exact:
        return _inside(layer, exact, {}, {}, None)
    if not _proportional(exact, 0):
        return _by_factors(layer, exact, VALUES)
    if not _proportional(exact, 3):
        return _by_factors(layer, exact, ATTENTION)
    return _by_quadratic_form(layer, exact)


def _checked(layer: SingleLayer, tensor: object) -> dict[tuple[int, int, int, int], Fraction]:
    """Return the entries that are not 0, once all indices are in range and all values rational."""
    exact = {}
    for key, value in mapping(tensor, "tensor", "{(0, 0, 1, 0): 1}").items():
        indices = tuple(listed(key, "index of tensor", "four integers"))
        if len(indices) != 4:
            raise InputError(f"index {shown(key)} of tensor: accepted are (i, alpha, beta, gamma)")
        i = integer(indices[0], "i in an index of tensor", 0, layer.dprime - 1)
        beta = integer(indices[2], "beta in an index of tensor", 0, layer.d - 1)
        alpha = integer(indices[1], "alpha, which is at most beta, in an index of tensor", 0, beta)
        gamma = integer(indices[3], "gamma in an index of tensor", 0, layer.d - 1)
        number = rational(value)
        if number:
            exact[i, alpha, beta, gamma] = Fraction(int(number.p), int(number.q))
    return exact


def _proportional(tensor: Tensor, position: int) -> bool:
    """Whether the slices along one index are multiples of one of them."""
    shares = {key[position] for key in tensor}
    places = {key[:position] + key[position + 1 :] for key in tensor}
    if len(tensor) != len(shares) * len(places):  # the support of multiples of one slice is a product
        return False
    first = min(tensor)
    return all(
        value * tensor[first]
        == tensor[replaced(first, position, key[position])] * tensor[replaced(key, position, first[position])]
        for key, value in tensor.items()
    )


# -- rational factors: rank V >= 2 or rank A >= 2 -----------------------------------------------------------


def _by_factors(layer: SingleLayer, tensor: Tensor, unknown: str) -> Membership:
    found = factorise(layer, tensor, unknown)
    if isinstance(found, int):
        return Membership(layer, tensor, OUTSIDE, {"argument": unknown, "prime": found})
    values, attention = found
    if stratum_of(values, attention, layer).attention_rank <= layer.a:
        return _inside(layer, tensor, values, attention, None)
    # the rank of A is that of the slices by gamma
    names = sorted({key[:3] for key in tensor})
    matrix = [[tensor.get((*name, gamma), Fraction(0)) for gamma in range(layer.d)] for name in names]
    rows, columns = minor_of_size(matrix, layer.a + 1)
    witness = {"argument": "rank", "rows": [list(names[i]) for i in rows], "columns": columns}
    return Membership(layer, tensor, OUTSIDE, witness)


# -- w S(x) q(y) --------------------------------------------------------------------------------------------


def _by_quadratic_form(layer: SingleLayer, tensor: Tensor) -> Membership:
    """``T = w S(x) q(y)``: decided by rank and signature of the quadratic form S."""
    first = min(tensor)
    i0, _, _, gamma0 = first
    form = [[Fraction(0)] * layer.d for _ in range(layer.d)]
    for (i, alpha, beta, gamma), value in tensor.items():
        if (i, gamma) == (i0, gamma0):
            form[alpha][beta] += value / 2
            form[beta][alpha] += value / 2
    squares = diagonal_form(form)
    if len(squares) > 2:
        rows, columns = minor_of_size(form, 3)
        witness = {"argument": "form", "output": i0, "gamma": gamma0, "rows": rows, "columns": columns}
        return Membership(layer, tensor, OUTSIDE, witness)
    head = tensor[first]
    w = {key[0]: value / head for key, value in tensor.items() if key[1:] == first[1:]}
    q = {key[3]: value / head for key, value in tensor.items() if key[:3] == first[:3]}
    return _by_squares(layer, tensor, w, q, squares)


def _by_squares(
    layer: SingleLayer, tensor: Tensor, w: Vector, q: Vector, squares: list[tuple[Fraction, Form]]
) -> Membership:
    """``S = c l^2 + e m^2`` has the factors ``c l + r m`` and ``l - r m / c``, where ``r^2 = -c e``."""
    c, l_form = squares[0]
    e, m_form = squares[1] if len(squares) > 1 else (Fraction(0), [Fraction(0)] * layer.d)
    if c * e > 0:
        witness = {
            "w": [encode_rational(w.get(i, 0)) for i in range(layer.dprime)],
            "squares": [[encode_rational(x), [encode_rational(y) for y in form]] for x, form in squares],
            "q": [encode_rational(q.get(g, 0)) for g in range(layer.d)],
        }
        return Membership(layer, tensor, CONJUGATE, witness)
    outside, inside = square_part(-c * e)
    root: Any = outside if inside == 1 else QuadraticNumber(Fraction(0), outside, inside)
    first = [c * x + root * y for x, y in zip(l_form, m_form, strict=True)]
    second = [x + -root * (y / c) for x, y in zip(l_form, m_form, strict=True)]
    values = {(i, j): x * wi for i, wi in w.items() for j, x in enumerate(first) if x}
    attention = {(j, g): x * qg for j, x in enumerate(second) if x for g, qg in q.items()}
    return _inside(layer, tensor, values, attention, None if inside == 1 else inside)


# -- weights ------------------------------------------------------------------------------------------------


def _inside(
    layer: SingleLayer, tensor: Tensor, values: Matrix, attention: Matrix, inside: int | None
) -> Membership:
    """Return weights (Q, K, V) with ``K^T Q = A``, over QQ or over Q(sqrt(inside))."""
    keys, queries = _factor_rational(layer, attention) if inside is None else _factor_rank_one(attention)
    write: Callable[[Any], Any] = encode_rational if inside is None else _pair
    shapes = {"Q": (queries, layer.a), "K": (keys, layer.a), "V": (values, layer.dprime)}
    weights = {
        name: [[write(matrix.get((i, j), Fraction(0))) for j in range(layer.d)] for i in range(rows)]
        for name, (matrix, rows) in shapes.items()
    }
    witness = {"sqrt": None if inside is None else encode_rational(inside), **weights}
    stratum = stratum_of(values, attention, layer) if inside is None else Stratum(1, 1, 0)
    return Membership(layer, tensor, INSIDE, witness, stratum if tensor else ZERO)


def _factor_rational(layer: SingleLayer, attention: Matrix) -> tuple[Matrix, Matrix]:
    """Return K and Q: a basis of the row space of A, and how its rows depend on it."""
    rows = [[attention.get((i, j), Fraction(0)) for j in range(layer.d)] for i in range(layer.d)]
    basis, pivots = reduced_rows(rows)
    keys = {(k, i): row[pivot] for k, pivot in enumerate(pivots) for i, row in enumerate(rows) if row[pivot]}
    return keys, sparse(basis)


def _factor_rank_one(attention: Matrix) -> tuple[Matrix, Matrix]:
    """Return K and Q for A of rank one: its first row, and the multiples of it that the others are."""
    i0, j0 = min(attention)
    queries = {(0, j): value for (i, j), value in attention.items() if i == i0}
    return {(0, i): value / queries[0, j0] for (i, j), value in attention.items() if j == j0}, queries


def _pair(value: Any) -> list[int | str]:
    """Return ``p + r sqrt(D)`` as [p, r]."""
    if isinstance(value, QuadraticNumber):
        return [encode_rational(value.rational), encode_rational(value.irrational)]
    return [encode_rational(value), 0]
