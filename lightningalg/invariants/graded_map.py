"""The maps whose equations are sought: coordinates, weights and permutations (MATH.md sections 1 and 3).

A coordinate is a coefficient of the network's function. The tori of the groups that act on inputs and outputs
give it a weight; permuting rows of the output or of the input permutes the coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from math import comb

import numpy as np

from lightningalg.errors import TooLargeError, UnsupportedError, shown
from lightningalg.networks.families import Family, family
from lightningalg.networks.network import Network, checked_network

#: a monomial of the chart: numbers of variables, increasing, with repetition
ChartMonomial = tuple[int, ...]
ChartPolynomial = dict[ChartMonomial, int]
Weight = tuple[int, ...]

MAX_COORDINATES = 2_000
MAX_CHART_TERMS = 200_000

SUPPORTED = (
    "accepted are one lightning layer without residual connection (any number of heads and tokens), and "
    "functions of one token: deep lightning chains with --tokens 1, monomial networks"
)


@dataclass(frozen=True, slots=True)
class GradedMap:
    """Coordinates as polynomials in the variables of a chart, with torus weights.

    The chart is dominant on the parameters: a polynomial vanishes on the neuromanifold
    exactly if it vanishes identically on the chart.

    Attributes
    ----------
    names
        Of the coordinates, such as ``T_1_12_1``.
    variables
        Names of the chart's variables.
    polynomials
        One for each coordinate, with integer coefficients.
    weights
        One for each coordinate, all distinct; entries of a block may be permuted.
    blocks
        Lengths of the blocks, in order; each is a general linear group that acts.
    block_names
        What each block's group acts on, in words.
    """

    names: tuple[str, ...]
    variables: tuple[str, ...]
    polynomials: tuple[ChartPolynomial, ...]
    weights: tuple[Weight, ...]
    blocks: tuple[int, ...]
    block_names: tuple[str, ...]
    _place: dict[Weight, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_place", {weight: c for c, weight in enumerate(self.weights)})
        assert len(self._place) == len(self.names) == len(self.polynomials)
        assert all(len(weight) == sum(self.blocks) for weight in self.weights)

    def split(self, weight: Weight) -> tuple[Weight, ...]:
        """Return the parts of a weight, one for each block."""
        parts, start = [], 0
        for length in self.blocks:
            parts.append(weight[start : start + length])
            start += length
        return tuple(parts)

    def dominant(self, weight: Weight) -> Weight:
        """Return the weight with every block decreasing: the representative of its orbit."""
        return tuple(entry for part in self.split(weight) for entry in sorted(part, reverse=True))

    def to_weight(self, weight: Weight) -> np.ndarray:
        """Return the permutation of coordinates that takes the dominant weight's space to this one's.

        Coordinate c goes to ``result[c]``.
        """
        order: list[int] = []
        start = 0
        for part in self.split(weight):
            by_size = sorted(((-value, j) for j, value in enumerate(part)))
            order += [start + j for _, j in by_size]
            start += len(part)
        # entry j of a dominant weight becomes entry order[j]
        images = []
        for source in self.weights:
            target = [0] * len(source)
            for j, value in zip(order, source, strict=True):
                target[j] = value
            images.append(self._place[tuple(target)])
        return np.array(images, dtype=np.int64)

    def orbit_size(self, weight: Weight) -> int:
        """Return the number of weights that permutations within the blocks make of one."""
        size = 1
        for part in self.split(weight):
            left = len(part)
            for value in set(part):
                count = part.count(value)
                size *= comb(left, count)
                left -= count
        return size

    def values(self, points: np.ndarray, prime: int) -> np.ndarray:
        """Return the coordinates modulo p < 2^31 at points (variables x P): an (N, P) array of residues."""
        rows = []
        for polynomial in self.polynomials:
            total = np.zeros(points.shape[1], dtype=np.int64)
            for monomial, coefficient in polynomial.items():
                term = np.full(points.shape[1], coefficient % prime, dtype=np.int64)
                for variable in monomial:
                    term = term * points[variable] % prime
                total += term
            rows.append(total % prime)
        return np.array(rows)


def graded_map(network: Network) -> GradedMap:
    """Return the coordinates of a network whose equations can be sought.

    Raises
    ------
    UnsupportedError
        For other networks; says which are accepted.
    TooLargeError
        If there are more than 2,000 coordinates.

    Examples
    --------
    >>> import lightningalg as la
    >>> phi = graded_map(la.lightning((2, 1), (1,)))
    >>> phi.names
    ('T_1_11_1', 'T_1_11_2', 'T_1_12_1', 'T_1_12_2', 'T_1_22_1', 'T_1_22_2')
    >>> phi.blocks, phi.variables
    ((1, 2, 2), ('V_1_1', 'V_1_2', 'B_1_1', 'B_2_1', 'C_1_2'))
    """
    standard = family(checked_network(network))
    if standard is None or standard.kind not in ("lightning", "monomial") or any(standard.residual):
        raise UnsupportedError(
            f"the equations of this network ({shown(network, 200)}) are not supported: {SUPPORTED}"
        )
    if standard.kind == "lightning" and len(standard.ranks) == 1:
        return _single_layer(standard)
    if standard.kind == "monomial" or standard.tokens == 1:
        return _one_token(network)
    raise UnsupportedError(
        f"{shown(network, 200)}: the coefficients of deep networks on several tokens are not "
        f"supported; {SUPPORTED}"
    )


# -- one attention layer -------------------------------------------------------


def _single_layer(standard: Family) -> GradedMap:
    """T_{i,ab,c} (t >= 2) or the coefficients of cubic forms (t = 1), summed over the heads."""
    (width, d_out), rank = standard.widths, min(standard.ranks[0], standard.widths[0])
    degree, last = (3, 0) if standard.tokens == 1 else (2, width)
    _check_count(d_out * comb(width + degree - 1, degree) * max(last, 1))
    variables, heads = _chart(width, d_out, rank, standard.heads[0])
    names, polynomials, weights = [], [], []
    for i in range(d_out):
        for indices in combinations_with_replacement(range(width), degree):
            for c in range(width) if last else [None]:
                names.append(_name(i, indices, c))
                polynomials.append(_coordinate(heads, i, indices, c))
                weights.append((*_unit([i], d_out), *_unit(indices, width), *_unit([c], last)))
    blocks = (d_out, width, width)[: 3 if last else 2]
    words = ("output rows", "values and keys x", "queries y") if last else ("output rows", "inputs x")
    return GradedMap(tuple(names), variables, tuple(polynomials), tuple(weights), blocks, words)


def _check_count(count: int) -> None:
    if count > MAX_COORDINATES:
        raise TooLargeError(f"there are {count:,} coordinates; accepted are at most {MAX_COORDINATES:,}")


def _name(i: int, indices: Sequence[int], c: int | None) -> str:
    """T_1_12_1; with more than nine rows the indices are separated."""
    joiner = "" if all(index < 9 for index in indices) else "."
    middle = joiner.join(str(index + 1) for index in indices)
    return f"T_{i + 1}_{middle}" + ("" if c is None else f"_{c + 1}")


def _unit(places: Sequence[int | None], length: int) -> tuple[int, ...]:
    vector = [0] * length
    for place in places:
        if place is not None and length:
            vector[place] += 1
    return tuple(vector)


_Head = tuple[list[list[int]], list[list[ChartPolynomial]]]


def _chart(width: int, d_out: int, rank: int, heads: int) -> tuple[tuple[str, ...], list[_Head]]:
    """Variables and, for each head, V (numbers of variables) and A = (B | B C) (polynomials).

    These A are dense in the matrices of rank at most ``rank``: all whose first columns are independent.
    """
    variables: list[str] = []
    result: list[_Head] = []

    def fresh(letter: str, i: int, j: int, head: int) -> int:
        suffix = f"{head + 1}" if heads > 1 else ""
        variables.append(f"{letter}{suffix}_{i + 1}_{j + 1}")
        return len(variables) - 1

    for h in range(heads):
        V = [[fresh("V", i, b, h) for b in range(width)] for i in range(d_out)]
        B = [[fresh("B", b, j, h) for j in range(rank)] for b in range(width)]
        C = [[fresh("C", j, c, h) for c in range(rank, width)] for j in range(rank)]
        A: list[list[ChartPolynomial]] = [
            [dict[ChartMonomial, int]({(B[b][c],): 1}) for c in range(rank)]
            + [
                {tuple(sorted((B[b][j], C[j][c]))): 1 for j in range(rank)} for c in range(width - rank)
            ]
            for b in range(width)
        ]  # fmt: skip
        result.append((V, A))
    return tuple(variables), result


def _coordinate(heads: Sequence[_Head], i: int, indices: Sequence[int], c: int | None) -> ChartPolynomial:
    """Sum over the heads and the distinct ways to place the indices of v_a A_{b,c}."""
    if c is None:
        a, b, e = indices
        places = {(a, b, e), (a, e, b), (b, a, e), (b, e, a), (e, a, b), (e, b, a)}
    else:
        a, b = indices
        places = {(a, b, c), (b, a, c)}
    total: ChartPolynomial = {}
    for V, A in heads:
        for p, q, r in places:
            for monomial, coefficient in A[q][r].items():
                key = tuple(sorted((V[i][p], *monomial)))
                total[key] = total.get(key, 0) + coefficient
    return total


# -- functions of one token, by expansion ---------------------------------------


def _one_token(network: Network) -> GradedMap:
    """Coefficients of the output forms in the entries of x, in the network's own parameters."""
    degrees = network.polynomial_map().degrees()
    d, d_out = network.width, network.output_width
    _check_count(d_out * comb(d + degrees.input - 1, degrees.input))
    phi = network.polynomial_map()
    found: dict[tuple[int, tuple[int, ...]], Mapping[tuple[int, ...], object]] = {
        (coordinate.output[0], coordinate.exponents): coordinate.polynomial.to_dict()
        for coordinate in phi.coefficients(MAX_CHART_TERMS)
    }
    names, polynomials, weights = [], [], []
    for i in range(d_out):
        for indices in combinations_with_replacement(range(d), degrees.input):
            exponents = _unit(indices, d)
            names.append(_name(i, indices, None))
            terms = found.get((i, exponents), {})
            polynomials.append({_as_monomial(e): int(str(c)) for e, c in terms.items()})
            weights.append((*_unit([i], d_out), *exponents))
    return GradedMap(
        tuple(names), phi.parameter_names, tuple(polynomials), tuple(weights), (d_out, d),
        ("output rows", "inputs x"),
    )  # fmt: skip


def _as_monomial(exponents: Sequence[int]) -> ChartMonomial:
    return tuple(number for number, e in enumerate(exponents) for _ in range(int(e)))
