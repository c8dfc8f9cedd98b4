"""Weights of a lightning network from values of its function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lightningalg.engines.rational_matrices import exact_matrix, exact_rows, rational_inverse
from lightningalg.errors import TooLargeError
from lightningalg.fibres.blackbox import BlackBox, NotANetworkError, direction
from lightningalg.fibres.exact import (
    Rows,
    Vector,
    apply,
    dot,
    is_zero,
    outer,
    product,
    proportional,
    rank,
    scaled,
    symmetric_part,
    transpose,
)
from lightningalg.fibres.forms import cofactor
from lightningalg.fibres.inputs import extra_inputs
from lightningalg.fibres.one_token import OneToken, one_token
from lightningalg.fibres.peel import (
    SPARE,
    AmbiguousError,
    Probe,
    common_right_factor,
    first_probes,
    layer_matrix,
    normalised,
)

MAX_LAYERS, MAX_WIDTH = 5, 40


@dataclass(frozen=True, slots=True)
class Recovered:
    """Virtual weights with exactly the values of the function at all inputs asked for.

    Attributes
    ----------
    M, L
        ``M_i`` with first non-zero entry 1.
    method
        ``peeled``: every layer was read off the expansion, and the values asked for determine ``(M, L)`` up
        to scaling;
        ``one token``: some layers were read off values on one token, where only symmetric parts show, or
        the last layer and L
        are both of rank 1.
    box
        The function with the values asked for.
    vectors
        The numbers j of the vectors x_j that were used.
    """

    M: tuple[Rows, ...]
    L: Rows
    method: str
    box: BlackBox
    vectors: tuple[int, ...]


def value_at(M: Sequence[Rows], L: Rows, X: Rows) -> Rows:
    """Return ``L P_l`` at X.

    Examples
    --------
    >>> value_at([[[1]]], [[2]], [[1, 2]])
    [[Fraction(10, 1), Fraction(20, 1)]]
    """
    return exact_rows(_value([exact_matrix(matrix) for matrix in M], exact_matrix(L), exact_matrix(X)))


def _value(M: Sequence[Any], L: Any, P: Any) -> Any:
    for matrix in M:
        P = P * (P.transpose() * (matrix * P))
    return L * P


def recover_virtual(function: Callable[[Rows], Any], *, width: int, tokens: int, layers: int) -> Recovered:
    """Return virtual weights of a black box that is a lightning network of known depth.

    Parameters
    ----------
    function
        Takes a ``width x tokens`` matrix (list of rows of ``Fraction``), returns the rows of the value.
    width, tokens, layers
        d_0, t, l.

    Raises
    ------
    NotANetworkError
        With the first identity that the values violate.
    InputError
        For sizes out of range, or values that are no rationals.

    Notes
    -----
    Asked for are the values at ``[x, 0, ...]`` and ``[x, eps y, 0, ...]`` for d + 3 vectors x, the unit
    vectors y and
    ``eps = 1, ..., (3^l + 1)/2``. Where a layer has rank 1, or t = 1: also the values at ``[a + n b, 0,
    ...]`` for
    ``n = 0, ..., 3^l``, and lines b. Finally three full inputs. Vectors are given by the seed rule of
    FORMAT.md section 3.

    References
    ----------
    MATH.md section 4; FORMAT.md section 17.

    Examples
    --------
    >>> function = lambda X: value_at(([[1, 2], [3, 5]],), [[1, 1]], X)
    >>> found = recover_virtual(function, width=2, tokens=2, layers=1)
    >>> [[int(v) for v in row] for row in found.M[0]], [[int(v) for v in row] for row in found.L]
    ([[1, 2], [3, 5]], [[1, 1]])
    """
    if not (1 <= layers <= MAX_LAYERS and 1 <= width <= MAX_WIDTH and tokens >= 1):
        raise TooLargeError(f"recovery accepts 1 to {MAX_LAYERS} layers and widths up to {MAX_WIDTH}")
    box = BlackBox(function, width, tokens)
    if tokens == 1:
        found = one_token(box, layers)[0]
        candidates = [(found.forms, found.L)]
        method = "one token"
    elif width == 1:
        method, candidates = "peeled", [_on_a_line(box, layers)]
    else:
        method, candidates = _two_tokens(box, layers)
    for columns in extra_inputs(width, tokens):
        box(columns)
    first: NotANetworkError | None = None
    for M, L in candidates:
        try:
            found_M, found_L = _normal(M, L)
            _compare(box, found_M, found_L)
        except NotANetworkError as error:
            first = first or error
        else:
            return Recovered(found_M, found_L, method, box, box.vectors)
    raise first or NotANetworkError("no quadratic forms and lines on one token fit the values on two tokens")


def _normal(M: tuple[Rows, ...], L: Rows) -> tuple[tuple[Rows, ...], Rows]:
    """Scale every M to first entry 1, and L so that the function stays the same."""
    factor = Fraction(1)
    scaled_M = []
    for level, matrix in enumerate(reversed(M)):
        if is_zero(matrix):
            raise NotANetworkError("a layer would be 0")
        head = next(value for row in matrix for value in row if value)
        factor *= head ** (3**level)
        scaled_M.append(normalised(matrix))
    return tuple(reversed(scaled_M)), scaled(L, factor)


def _compare(box: BlackBox, M: tuple[Rows, ...], L: Rows) -> None:
    """Compare the network with all known values."""
    matrices, last = [exact_matrix(matrix) for matrix in M], exact_matrix(L)
    for X, wanted in box.known.items():
        found = exact_rows(_value(matrices, last, exact_matrix(X)))
        if found != wanted:
            i, k = next(
                (i, k) for i, row in enumerate(wanted) for k, value in enumerate(row) if found[i][k] != value
            )
            raise NotANetworkError(
                f"the only candidate has another value at X = {_show(X)}: entry ({i + 1}, {k + 1}) would be "
                f"{_short(found[i][k])}, but is {_short(wanted[i][k])}"
            )


def _on_a_line(box: BlackBox, layers: int) -> tuple[tuple[Rows, ...], Rows]:
    """d_0 = 1: ``f([x]) = L x^(3^l)`` with all M_i = 1."""
    j = next(j for j in range(100) if direction(f"x/{j}", 1) != [0])
    box.vectors, x = (j,), direction(f"x/{j}", 1)
    return ([[Fraction(1)]],) * layers, [[value / x[0] ** 3**layers] for value in box.one_token(x)]


def _two_tokens(box: BlackBox, layers: int) -> tuple[str, list[tuple[tuple[Rows, ...], Rows]]]:
    """Peel with d + 3 vectors x; if these leave several matrices, with 2d + 2: enough for any rank from 2
    on."""
    try:
        return _peeled(box, layers, box.width + 1 + SPARE)
    except AmbiguousError:
        return _peeled(box, layers, 2 * box.width + SPARE)


def _peeled(box: BlackBox, layers: int, count: int) -> tuple[str, list[tuple[tuple[Rows, ...], Rows]]]:
    probes = first_probes(box, layers, count)
    M: list[Rows] = []
    for level in range(layers):
        basis = layer_matrix(probes, level)
        if len(basis) > 1:
            m = common_right_factor(basis)
            if m is None:
                raise AmbiguousError(
                    f"layer {level + 1}: the values leave {len(basis)} dimensions of matrices"
                )
            return "one token", _with_rank_one(box, layers, M, m)
        M.append(normalised(basis[0]))
        if level + 1 < layers:
            remaining = 3 ** (layers - level - 1)
            probes = [probe for probe in probes if probe.advance(M[-1], remaining)]
            if not probes:
                raise NotANetworkError(f"layer {level + 1}: degenerate at all x, y asked for")
    return "peeled", [(tuple(M), _last_matrix(box, probes, M))]


def _last_matrix(box: BlackBox, probes: list[Probe], M: list[Rows]) -> Rows:
    """Solve ``L x = f(x) / prod q_i(x)^(3^(l-i))`` for L."""
    points: list[Vector] = []
    for probe in probes:
        if probe.x not in points and rank([*points, probe.x]) > len(points):
            points.append(probe.x)
    if len(points) < box.width:
        raise NotANetworkError("the function is 0 on one token at too many x asked for")
    columns = []
    for x in points:
        value = Fraction(1)
        for level, matrix in enumerate(reversed(M)):
            value *= dot(x, apply(matrix, x)) ** 3**level
        if not value:
            raise NotANetworkError(f"a quadratic form is 0 at x = {_show([x])}, but the function is not")
        columns.append([entry / value for entry in box.one_token(x)])
    return product(transpose(columns), rational_inverse(transpose(points)))


def _with_rank_one(
    box: BlackBox, layers: int, M: list[Rows], m: Vector
) -> list[tuple[tuple[Rows, ...], Rows]]:
    """Return candidates: layers up to the rank-1 one from two tokens, the others from one token."""
    j = len(M)
    found = []
    for candidate in one_token(box, layers):
        k = cofactor(candidate.forms[j], m)
        if k is None or not _agrees(candidate, M):
            continue
        rank_one = outer(k, m)
        matrices = (*_rescaled(M, candidate), rank_one, *candidate.forms[j + 1 :])
        found.append((matrices, candidate.L))
    return found


def _agrees(candidate: OneToken, M: list[Rows]) -> bool:
    return all(
        proportional([v for row in form for v in row], [v for row in symmetric_part(matrix) for v in row])
        for form, matrix in zip(candidate.forms, M, strict=False)
    )


def _rescaled(M: list[Rows], candidate: OneToken) -> list[Rows]:
    """Return the matrices scaled so that their forms are the candidate's."""
    found = []
    for form, matrix in zip(candidate.forms, M, strict=False):
        own = symmetric_part(matrix)
        i, j = next((i, j) for i, row in enumerate(own) for j, value in enumerate(row) if value)
        found.append(scaled(matrix, form[i][j] / own[i][j]))
    return found


def _show(X: Any) -> str:
    text = "[" + "; ".join(", ".join(str(value) for value in row) for row in X) + "]"
    return text if len(text) <= 200 else text[:197] + "..."


def _short(value: Fraction) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:40]}... ({len(text)} characters)"
