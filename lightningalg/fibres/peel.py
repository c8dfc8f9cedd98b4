r"""Layer after layer from values at ``[x, eps y]``: the expansion in eps holds all of them.

With ``Z = P_M([z, eta y])``, ``b = z^T M y``, ``q = z^T M z``, ``beta = (q, eta b)``, ``n = q^2 + eta^2
b^2`` and
``beta' = (-eta b, q)`` one has exactly ``Z = z' beta^T + eta' y beta'^T`` where
``z' = z + y (eta^2 c q + eta^4 e b) / n`` and ``eta' = eta^3 (q e - b c) / n`` (``c = y^T M z``, ``e = y^T
M y``). A network
F with two tokens satisfies ``F(Z O) = F(Z) O`` for similarities O of the plane, up to the power of the norm
that its
degree asks for. So the values of the network behind the first layer at ``[z', eta' y]`` follow, as power
series in eps.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from lightningalg.engines.rational_matrices import rational_nullspace
from lightningalg.fibres.blackbox import BlackBox, NotANetworkError, direction, interpolation
from lightningalg.fibres.dominance import gram
from lightningalg.fibres.exact import Rows, Vector, capped_rank, dot, proportional, show
from lightningalg.fibres.series import Series, add, constant, inverse, multiply, power, scale, shift

#: vectors x beyond the d + 1 that suffice in general
SPARE = 2


class AmbiguousError(NotANetworkError):
    """The vectors x asked for leave more than one matrix; more of them may decide."""


@dataclass(slots=True)
class Probe:
    """``c^T F([z, eta y]) = (a, eps * b)`` with ``z = x + zeta y``, ``eta = eps * eta_1``: series in ``s =
    eps^2``."""

    x: Vector
    y: Vector
    a: Series
    b: Series
    zeta: Series
    eta: Series

    def advance(self, M: Rows, remaining: int) -> bool:
        """Replace F by the network behind its first layer M, whose degree is ``remaining``; False:
        degenerate."""
        q0, b0, c0, e0 = gram(M, self.x, self.y)
        n = len(self.a)
        square = multiply(self.zeta, self.zeta)
        q = add(add(constant(q0, n), scale(self.zeta, b0 + c0)), scale(square, e0))
        b = add(constant(b0, n), scale(self.zeta, e0))
        c = add(constant(c0, n), scale(self.zeta, e0))
        steps = shift(multiply(self.eta, self.eta))
        norm = add(multiply(q, q), multiply(steps, b, b))
        if not norm[0] or q0 * e0 == b0 * c0:
            return False
        over = inverse(norm)
        top = power(over, (remaining + 1) // 2)
        a, odd = self.a, self.b
        self.a = multiply(add(multiply(a, q), shift(multiply(odd, self.eta, b))), top)
        self.b = multiply(add(scale(multiply(a, self.eta, b), Fraction(-1)), multiply(odd, q)), top)
        inner = add(multiply(c, q), scale(multiply(steps, b), e0))
        self.zeta = add(self.zeta, multiply(steps, inner, over))
        self.eta = scale(multiply(steps, self.eta, over), q0 * e0 - b0 * c0)
        return True


def first_probes(box: BlackBox, layers: int, count: int) -> list[Probe]:
    """Ask for the values at ``[x_j, eps y_k]``, j below ``count``, and return their expansions.

    Raises
    ------
    NotANetworkError
        If the function is 0 on one token at all x.
    """
    degree = 3**layers
    nodes, length = range(1, (degree + 1) // 2 + 1), (degree // 3 + 1) // 2
    table = interpolation([n * n for n in nodes], length)
    d = box.width
    points = [direction(f"x/{j}", d) for j in range(count)]
    functional = _functional([box.one_token(x) for x in points])
    probes = []
    box.vectors = tuple(j for j, x in enumerate(points) if dot(functional, box.one_token(x)))
    for x in (points[j] for j in box.vectors):
        for k in range(d):
            y = [Fraction(int(i == k)) for i in range(d)]
            values = [box([x, [n * v for v in y]]) for n in nodes]
            first = [dot(functional, [row[0] for row in value]) for value in values]
            second = [
                dot(functional, [row[1] for row in value]) / n for value, n in zip(values, nodes, strict=True)
            ]
            a, b = ([dot(line, column) for line in table] for column in (first, second))
            probes.append(Probe(x, y, a, b, constant(Fraction(0), length), constant(Fraction(1), length)))
    return probes


def _functional(values: list[Vector]) -> Vector:
    """Return a functional of the outputs that is not 0 at most of the values."""
    height = len(values[0])
    if not any(any(value) for value in values):
        raise NotANetworkError(
            "f([x, 0, ..., 0]) = 0 at all x asked for: no method for layers without a quadratic form"
        )
    candidates = [direction(f"functional/{n}", height) for n in range(4)]
    candidates += [[Fraction(int(i == k)) for i in range(height)] for k in range(height)]
    return max(candidates, key=lambda c: sum(bool(dot(c, value)) for value in values))


def layer_matrix(probes: list[Probe], level: int) -> list[Rows]:
    """Return a basis of the matrices M with ``x^T M y = rho (x^T M x)`` for all probes, ``rho`` read off
    the series.

    One matrix: M_(level+1) up to scale. d matrices of rank 1: it is ``k m^T`` with known m and any k.

    Raises
    ------
    NotANetworkError
        If the expansion does not start where it must, or no matrix fits.
    """
    start = (3**level - 1) // 2
    d = len(probes[0].x)
    equations = []
    for probe in probes:
        if any(probe.b[:start]):
            raise NotANetworkError(
                f"layer {level + 1}: the second column of f([x, eps y]) does not vanish to the order "
                f"3^{level} in eps "
                f"behind the layers before, at x = {show(probe.x)}, y = {show(probe.y)}"
            )
        if not probe.eta[start] or not probe.a[0]:
            continue
        rho = probe.b[start] / (probe.eta[start] * probe.a[0])
        equations.append(
            [xa * (yb - rho * xb) for xa in probe.x for xb, yb in zip(probe.x, probe.y, strict=True)]
        )
    basis = [[v[i * d : (i + 1) * d] for i in range(d)] for v in rational_nullspace(equations)]
    if not basis:
        raise NotANetworkError(
            f"layer {level + 1}: no matrix M satisfies x^T M y = rho(x, y) x^T M x at all x, y asked for"
        )
    return basis


def common_right_factor(basis: list[Rows]) -> Vector | None:
    """Return m if the matrices are ``k m^T`` for d independent k, else ``None``."""
    if len(basis) != len(basis[0]) or any(capped_rank(matrix) != 1 for matrix in basis):
        return None
    rows = [next(row for row in matrix if any(row)) for matrix in basis]
    return rows[0] if all(proportional(rows[0], row) for row in rows) else None


def normalised(rows: Rows) -> Rows:
    """Return the multiple whose first non-zero entry is 1."""
    head = next(value for row in rows for value in row if value)
    return [[value / head for value in row] for row in rows]
