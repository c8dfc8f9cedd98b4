"""The structure of a Lie algebra of matrices over QQ: centre, radical, simple ideals and their real forms.

Everything is decided exactly over QQ in characteristic zero: the radical is the orthogonal of the derived
algebra under the Killing form (Bourbaki, Lie I, section 5, prop. 5), a semisimple algebra splits by its
centroid, and a real form of given type and low rank by the signature of its Killing form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import lcm
from typing import Any

import numpy as np

from lightningalg.certificates.sampling import stream_values
from lightningalg.engines.choose import linear_algebra_for_any_prime
from lightningalg.engines.flint_rings import rational_rank
from lightningalg.engines.rational_matrices import (
    inertia,
    is_diagonalisable,
    primary_kernels,
    rational_inverse,
    rational_nullspace,
)
from lightningalg.errors import InputError, TooLargeError
from lightningalg.symmetry.fields import PolynomialField

#: largest dimension that is analysed, and largest matrices whose diagonalisability is decided
MAX_DIMENSION = 80
MAX_TORAL_SIZE = 80
#: largest part without visible splitting whose centroid is solved for over QQ (its square is the number of
#: unknowns)
MAX_CENTROID = 24
#: proves independence over QQ; what is independent over QQ it misses with negligible probability
_PRIME = 2**61 - 1
#: for products of matrices in int64
_SMALL_PRIME = 8388593

SparseMatrix = Mapping[tuple[int, int], Fraction]
_Vector = dict[int, Fraction]


@dataclass(frozen=True, slots=True)
class SimpleIdeal:
    """A simple ideal of a semisimple Lie algebra over QQ.

    ``rank`` is that of a Cartan subalgebra, ``signature`` of the Killing form (non-compact, compact
    dimension), ``field_degree`` the degree of the centroid over QQ: 1 for an absolutely simple algebra.
    """

    dimension: int
    rank: int
    signature: tuple[int, int]
    field_degree: int

    @property
    def name(self) -> str:
        """Its usual name; several, joined by ``=`` (isomorphic) or ``or`` (not told apart here)."""
        if (
            self.field_degree == 2 and self.signature[0] == self.signature[1]
        ):  # a complex algebra as a real one
            split = _simple_name(self.dimension // 2, self.rank // 2, None)
            return "so(3,1)" if split == "sl_2" else f"{split} over an imaginary quadratic field"
        if self.field_degree > 1:
            split = _simple_name(self.dimension // self.field_degree, self.rank // self.field_degree, None)
            return f"{split} over a number field of degree {self.field_degree}"
        return _simple_name(self.dimension, self.rank, self.signature[0])


@dataclass(frozen=True, slots=True)
class LieStructure:
    """Structure of a Lie algebra over QQ.

    ``toral_centre``: whether all elements of the centre are diagonalisable matrices over QQ; ``None``: not
    decided. ``split`` is ``False`` if parts of the semisimple quotient were too large to be decomposed.
    """

    dimension: int
    derived_dimension: int
    centre_dimension: int
    radical_dimension: int
    ideals: tuple[SimpleIdeal, ...]
    toral_centre: bool | None
    split: bool = True

    @property
    def reductive(self) -> bool:
        """Whether the radical is the centre."""
        return self.radical_dimension == self.centre_dimension

    @property
    def name(self) -> str:
        """The algebra as a product of known ones, as far as it is one."""
        names = [ideal.name for ideal in self.ideals]
        centre = self.centre_dimension if self.reductive else 0
        if self.toral_centre:
            for k, name in enumerate(names):
                if re.fullmatch(r"sl_[0-9]+", name) and centre:
                    names[k], centre = f"g{name[1:]}", centre - 1
            names += [f"torus^{centre}"] if centre else []
        elif centre:
            names.append(f"abelian^{centre}")
        if not self.split:
            names.append("a semisimple part that was not decomposed")
        product = " x ".join(names)
        if self.reductive:
            return product or "0"
        if not product:
            return f"a solvable algebra of dimension {self.dimension}"
        return f"{product} with a solvable radical of dimension {self.radical_dimension}"

    def to_json(self) -> dict[str, Any]:
        """Return dimensions, and the simple ideals with their names."""
        return {
            "name": self.name,
            "dimension": self.dimension,
            "derived_dimension": self.derived_dimension,
            "centre_dimension": self.centre_dimension,
            "radical_dimension": self.radical_dimension,
            "simple_ideals": [
                {"name": i.name, "dimension": i.dimension, "rank": i.rank, "signature": list(i.signature)}
                for i in self.ideals
            ],
        }


def structure_of_fields(fields: Sequence[PolynomialField], seed: str = "0") -> LieStructure:
    """Return the structure of the Lie algebra that linear or affine fields span, as it acts.

    Raises
    ------
    InputError
        If the fields are no basis of a Lie algebra.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.symmetry.known_groups import known_groups
    >>> head = known_groups(la.lightning((2, 2), (2,)))[0]
    >>> structure_of_fields(head.fields).name
    'gl_2'
    """
    return structure([field.affine_matrix() for field in fields], seed)


def structure(matrices: Sequence[SparseMatrix], seed: str = "0") -> LieStructure:
    """Return the structure of the Lie algebra with the given basis of matrices over QQ.

    Parameters
    ----------
    matrices
        Linearly independent, with a span closed under brackets; entries by position.
    seed
        Decides auxiliary random elements. They influence time, not the result.

    Raises
    ------
    InputError
        If they are dependent or not closed.
    TooLargeError
        For more than 80 matrices.

    Examples
    --------
    >>> rotations = [{(0, 1): Fraction(1), (1, 0): Fraction(-1)}, {(0, 2): Fraction(1), (2, 0): Fraction(-1)},
    ...              {(1, 2): Fraction(1), (2, 1): Fraction(-1)}]
    >>> structure(rotations).name
    'so_3'
    """
    k = len(matrices)
    if not k:
        return LieStructure(0, 0, 0, 0, (), True)
    if k > MAX_DIMENSION:
        raise TooLargeError(f"a Lie algebra of dimension {k}: up to {MAX_DIMENSION} are analysed")
    brackets = _structure_constants(matrices)
    derived = _independent(_dense(brackets.values(), k))
    centre = rational_nullspace(_centre_equations(brackets, k))
    killing = _killing(brackets, k)
    equations = [_apply(killing, row) for row in derived]  # x is in the radical iff all vanish on it
    radical = k - (rational_rank(equations) if equations else 0)
    ideals, split = _ideals(brackets, _independent(equations), k, seed)
    toral = _is_toral(matrices, centre, seed)
    return LieStructure(k, len(derived), len(centre), radical, tuple(ideals), toral, split)


# -- structure constants ------------------------------------------------------

_Brackets = dict[tuple[int, int], _Vector]  # [b_i, b_j] for i < j, in the basis


def _structure_constants(matrices: Sequence[SparseMatrix]) -> _Brackets:
    """Return the brackets of basis elements in the basis.

    Raises
    ------
    InputError
        If the basis is dependent or its span not closed.
    """
    places = sorted({place for matrix in matrices for place in matrix})
    number = {place: c for c, place in enumerate(places)}
    residues = np.zeros((len(matrices), len(places)), dtype=np.int64)
    for i, matrix in enumerate(matrices):
        for place, value in matrix.items():
            residues[i, number[place]] = value.numerator * pow(value.denominator, -1, _PRIME) % _PRIME
    pivots = linear_algebra_for_any_prime().rank_profile(residues, _PRIME).columns
    if len(pivots) < len(matrices):
        raise InputError("the matrices are linearly dependent: a basis is needed")
    chosen = [places[c] for c in pivots]
    square = [[Fraction(matrix.get(place, 0)) for place in chosen] for matrix in matrices]
    inverse = [{j: v for j, v in enumerate(row) if v} for row in rational_inverse(square)]
    rows = [_by_row(matrix) for matrix in matrices]
    found: _Brackets = {}
    for i, j in combinations(range(len(matrices)), 2):
        bracket = _commutator(rows[i], rows[j])
        coordinates: _Vector = {}
        for place, row in zip(chosen, inverse, strict=True):
            if place in bracket:
                _add(coordinates, row, bracket[place])
        _check_closed(bracket, coordinates, matrices)
        if coordinates:
            found[i, j] = coordinates
    return found


def _check_closed(
    bracket: Mapping[Any, Fraction], coordinates: _Vector, matrices: Sequence[SparseMatrix]
) -> None:
    rest = dict(bracket)
    for l, value in coordinates.items():  # noqa: E741
        _add(rest, matrices[l], -value)
    if rest:
        raise InputError("the span of the matrices is not closed under brackets")


def _by_row(matrix: SparseMatrix) -> dict[int, list[tuple[int, Fraction]]]:
    rows: dict[int, list[tuple[int, Fraction]]] = {}
    for (i, j), value in matrix.items():
        rows.setdefault(i, []).append((j, value))
    return rows


def _commutator(
    A: dict[int, list[tuple[int, Fraction]]], B: dict[int, list[tuple[int, Fraction]]]
) -> dict[tuple[int, int], Fraction]:
    total: dict[tuple[int, int], Fraction] = {}
    for left, right, sign in ((A, B, 1), (B, A, -1)):
        for i, row in left.items():
            for j, value in row:
                for k, other in right.get(j, ()):
                    total[i, k] = total.get((i, k), Fraction(0)) + sign * value * other
    return {place: value for place, value in total.items() if value}


def _add(total: dict[Any, Fraction], vector: Mapping[Any, Fraction], factor: Fraction) -> None:
    """Add a multiple of a sparse vector in place; zeros are removed."""
    for key, value in vector.items():
        new = total.get(key, Fraction(0)) + factor * value
        if new:
            total[key] = new
        else:
            total.pop(key, None)


def _dense(vectors: Iterable[_Vector], size: int) -> list[list[Fraction]]:
    """Return distinct sparse vectors as rows, the sparsest first."""
    distinct = {tuple(sorted(vector.items())) for vector in vectors if vector}
    return [
        [dict(entries).get(c, Fraction(0)) for c in range(size)]
        for entries in sorted(distinct, key=lambda e: (len(e), e))
    ]


def _independent(rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """Return the first rows that are independent and span as much as all."""
    if not rows:
        return []
    residues = _residues(rows)
    profile = linear_algebra_for_any_prime().rank_profile(residues, _PRIME)
    assert profile.rank == rational_rank(rows), "an unlucky prime of 61 bits"
    return [rows[i] for i in profile.rows]


def _residues(rows: list[list[Fraction]]) -> np.ndarray:
    return np.array(
        [[v.numerator * pow(v.denominator, -1, _PRIME) % _PRIME for v in row] for row in rows], dtype=np.int64
    )


def _adjoint(brackets: _Brackets, k: int) -> list[list[_Vector]]:
    """Return ``ad[i][j] = [b_i, b_j]`` for all i, j."""
    table: list[list[_Vector]] = [[{} for _ in range(k)] for _ in range(k)]
    for (i, j), vector in brackets.items():
        table[i][j] = vector
        table[j][i] = {c: -value for c, value in vector.items()}
    return table


def _centre_equations(brackets: _Brackets, k: int) -> list[list[Fraction]]:
    """Return equations of ``{x : sum x_i [b_i, b_j] = 0 for all j}``."""
    ad = _adjoint(brackets, k)
    rows = set()
    for j in range(k):
        for c in {c for i in range(k) for c in ad[i][j]}:
            rows.add(tuple(ad[i][j].get(c, Fraction(0)) for i in range(k)))
    return [list(row) for row in rows] or [[Fraction(0)] * k]


def _killing(brackets: _Brackets, k: int) -> list[list[Fraction]]:
    """Return the Killing form ``tr(ad b_i ad b_j)``."""
    ad = _adjoint(brackets, k)
    entries = [{(c, j): v for j in range(k) for c, v in ad[i][j].items()} for i in range(k)]
    form = [[Fraction(0)] * k for _ in range(k)]
    for i in range(k):
        for j in range(i + 1):
            small, large = sorted((entries[i], entries[j]), key=len)
            total = sum((v * large.get((b, a), 0) for (a, b), v in small.items()), Fraction(0))
            form[i][j] = form[j][i] = total
    return form


def _apply(matrix: Sequence[Sequence[Fraction]], vector: Sequence[Fraction]) -> list[Fraction]:
    return [sum((a * b for a, b in zip(row, vector, strict=True) if a and b), Fraction(0)) for row in matrix]


# -- simple ideals ------------------------------------------------------------


def _ideals(
    brackets: _Brackets, projection: list[list[Fraction]], k: int, seed: str
) -> tuple[list[SimpleIdeal], bool]:  # fmt: skip
    """Return the simple ideals of the quotient by the radical, the kernel of ``projection``."""
    if not projection:
        return [], True
    quotient = _quotient(brackets, projection, k)
    ideals: list[SimpleIdeal] = []
    split = True
    for part in _connected_parts(quotient, len(projection)):
        place = {old: new for new, old in enumerate(part)}
        own = {
            (place[i], place[j]): {place[c]: v for c, v in vector.items()}
            for (i, j), vector in quotient.items()
            if i in place
        }
        found = _split(own, len(part), seed)
        ideals += found or []
        split &= found is not None
    return sorted(ideals, key=lambda ideal: (ideal.dimension, ideal.signature)), split


def _quotient(brackets: _Brackets, projection: list[list[Fraction]], k: int) -> _Brackets:
    """Return the structure constants of the semisimple quotient in a basis of images of brackets.

    Brackets of elements that lie in one ideal each keep the basis adapted to the ideals.
    """
    ad = _adjoint(brackets, k)
    candidates = _dense(brackets.values(), k)
    images = [_apply(projection, vector) for vector in candidates]
    chosen = _independent_places(images)
    basis = [candidates[i] for i in chosen]
    inverse = rational_inverse([images[i] for i in chosen])
    columns = [_apply(list(zip(*inverse, strict=True)), list(c)) for c in zip(*projection, strict=True)]
    coordinates = [{i: value for i, value in enumerate(column) if value} for column in columns]
    sparse = [{a: x for a, x in enumerate(vector) if x} for vector in basis]
    found: _Brackets = {}
    for i, j in combinations(range(len(basis)), 2):
        total: _Vector = {}
        for a, x in sparse[i].items():
            for b, y in sparse[j].items():
                _add(total, ad[a][b], x * y)
        image: _Vector = {}
        for c, value in total.items():
            _add(image, coordinates[c], value)
        if image:
            found[i, j] = image
    return found


def _independent_places(rows: list[list[Fraction]]) -> tuple[int, ...]:
    residues = _residues(rows)
    return linear_algebra_for_any_prime().rank_profile(residues, _PRIME).rows


def _connected_parts(brackets: _Brackets, size: int) -> Iterator[list[int]]:
    """Yield sets of basis elements that span ideals: nothing outside brackets with them."""
    parent = list(range(size))

    def root(i: int) -> int:
        while parent[i] != i:
            i = parent[i]
        return i

    for (i, j), vector in brackets.items():
        for c in (j, *vector):
            parent[root(c)] = root(i)
    parts: dict[int, list[int]] = {}
    for i in range(size):
        parts.setdefault(root(i), []).append(i)
    yield from parts.values()


def _split(brackets: _Brackets, m: int, seed: str) -> list[SimpleIdeal] | None:
    """Return the simple ideals of a semisimple algebra; ``None`` if it is too large to be decomposed."""
    killing = _killing(brackets, m)
    ad = _adjoint(brackets, m)
    if _centroid_bound(ad, m, seed) == 1:  # absolutely simple
        bases = [(1, [[Fraction(int(i == j)) for j in range(m)] for i in range(m)])]
    elif m > MAX_CENTROID:
        return None
    else:
        equations = _centroid_equations(ad, m, seed)
        centroid = rational_nullspace([[Fraction(v) for v in row] for row in equations])
        numbers = stream_values(seed, "centroid", len(centroid), 1009)
        mixed = _apply(list(zip(*centroid, strict=True)), [Fraction(number) for number in numbers])
        T = [mixed[i * m : (i + 1) * m] for i in range(m)]
        bases = primary_kernels(T)
    ideals = []
    for degree, basis in bases:
        assert _is_ideal(ad, basis, m), "the three random elements generate a smaller algebra"
        rows = [_apply(killing, vector) for vector in basis]
        form = [_apply(basis, row) for row in rows]
        ideals.append(SimpleIdeal(len(basis), _cartan_rank(ad, basis, m, seed), inertia(form), degree))
    return ideals


def _is_ideal(ad: list[list[_Vector]], basis: list[list[Fraction]], m: int) -> bool:
    if len(basis) == m:
        return True
    brackets = [
        _apply(_ad_matrix(ad, [int(i == j) for j in range(m)], m), v) for i in range(m) for v in basis
    ]
    return rational_rank([*basis, *brackets]) == len(basis)


def _centroid_bound(ad: list[list[_Vector]], m: int, seed: str) -> int:
    """Return an upper bound of the dimension of the matrices T that commute with all ad(x), modulo a prime.

    For a vector v whose images U_k v under words in two ad(x) are a basis, T U_k v = U_k w for w = T v: only
    m unknowns w are left, with the equations ``T A U_k v = A U_k w`` for both A = ad(x).
    """
    p = _SMALL_PRIME
    elements = [[value - 50 for value in stream_values(seed, f"commutant/{k}", m, 101)] for k in range(2)]
    A = [np.array(_integral(_ad_matrix(ad, x, m)), dtype=object) % p for x in elements]
    A = [matrix.astype(np.int64) for matrix in A]
    v = np.array(stream_values(seed, "cyclic", m, p), dtype=np.int64)
    words = [np.eye(m, dtype=np.int64)]
    engine = linear_algebra_for_any_prime()
    for word in words:  # grows while it is read
        for matrix in A:
            if len(words) < m:
                longer = matrix @ word % p  # m entries below 2^46 in a sum: no overflow for m <= 80
                vectors = np.stack([w @ v % p for w in (*words, longer)])
                if engine.rank(vectors, p) > len(words):
                    words.append(longer)
    if len(words) < m:
        return m
    stack = np.stack(words)  # (m, m, m): U_k
    basis = np.stack([word @ v % p for word in words], axis=1)  # column k: U_k v
    rows = []
    for matrix in A:
        for k in range(m):
            c = engine.solve(basis, matrix @ basis[:, k] % p, p)  # A U_k v = sum c_l U_l v
            assert c is not None
            rows.append((np.tensordot(c, stack, axes=1) - matrix @ stack[k]) % p)  # in w
    return m - engine.rank(np.concatenate(rows), p)


def _centroid_equations(ad: list[list[_Vector]], m: int, seed: str) -> list[list[int]]:
    """Return integer equations ``T ad(x) = ad(x) T`` in the m^2 entries of T, for three random x.

    Two random elements generate a semisimple algebra; where they did not there would be more solutions,
    never fewer.
    """
    equations = []
    for number in range(3):
        x = [value - 50 for value in stream_values(seed, f"commutant/{number}", m, 101)]
        A = _integral(_ad_matrix(ad, x, m))
        for i in range(m):
            for j in range(m):
                row = [0] * (m * m)
                for l in range(m):  # noqa: E741
                    row[i * m + l] += A[l][j]  # (T A)_ij
                    row[l * m + j] -= A[i][l]  # (A T)_ij
                equations.append(row)
    return equations


def _ad_matrix(ad: list[list[_Vector]], x: Sequence[Fraction | int], m: int) -> list[list[Fraction]]:
    """Return ad(x) as a matrix acting on columns."""
    matrix = [[Fraction(0)] * m for _ in range(m)]
    for i, factor in enumerate(x):
        if factor:
            for j in range(m):
                for c, value in ad[i][j].items():
                    matrix[c][j] += factor * value
    return matrix


def _integral(matrix: list[list[Fraction]]) -> list[list[int]]:
    """Return the matrix times its common denominator."""
    common = lcm(*(value.denominator for row in matrix for value in row))
    return [[int(value * common) for value in row] for row in matrix]


def _nullity(rows: Sequence[Sequence[int]]) -> int:
    residues = np.array([[v % _PRIME for v in row] for row in rows], dtype=np.int64)
    return residues.shape[1] - linear_algebra_for_any_prime().rank(residues, _PRIME)


def _cartan_rank(ad: list[list[_Vector]], basis: list[list[Fraction]], m: int, seed: str) -> int:
    """Return the dimension of the centraliser, in an ideal, of the most generic of three random elements of
    it."""
    least = m
    for number in range(3):
        factors = [v - 500 for v in stream_values(seed, f"cartan/{number}", len(basis), 1001)]
        x = [sum((f * v[i] for f, v in zip(factors, basis, strict=True)), Fraction(0)) for i in range(m)]
        least = min(least, _nullity(_integral(_ad_matrix(ad, x, m))))
    return least - (m - len(basis))


# -- names --------------------------------------------------------------------


def _simple_name(dimension: int, rank: int, positive: int | None) -> str:
    """Return the name of a simple Lie algebra: type by (dimension, rank), real form by signature.

    ``positive`` is the number of positive squares of the Killing form; ``None``: the split form.
    """
    names = list(_candidates(dimension, rank, positive))
    if not names:
        return f"a simple algebra of dimension {dimension} and rank {rank}"
    joint = " or " if rank >= 3 and dimension == rank * (2 * rank + 1) else " = "  # B_n against C_n
    return joint.join(names)


def _candidates(dimension: int, n: int, positive: int | None) -> Iterator[str]:
    """Yield the classical names that fit; Helgason, Differential Geometry, chapter X, table V."""
    if dimension == n * (n + 2):  # A_n
        N = n + 1
        if positive in (None, N * (N + 1) // 2 - 1):
            yield f"sl_{N}"
        elif N % 2 == 0 and positive == N * (N - 1) // 2 - 1 and positive > 0:
            yield f"sl_{N // 2}(H)"
        if N >= 3 and positive is not None:
            yield from (_pair("su", p, N - p) for p in range(N // 2 + 1) if 2 * p * (N - p) == positive)
    total = {n * (2 * n + 1): 2 * n + 1, n * (2 * n - 1): 2 * n}.get(dimension)  # B_n, D_n
    if total is not None and total not in (1, 2, 4) and not (total == 3 and positive != 0):
        least = 0 if positive is not None else total // 2
        for q in range(least, total // 2 + 1):
            if positive is None or (total - q) * q == positive:
                yield _pair("so", total - q, q)
    if n >= 2 and dimension == n * (2 * n + 1) and positive in (None, n * (n + 1)):  # C_n
        yield f"sp_{2 * n}"
    exceptional = {(14, 2): "g_2", (52, 4): "f_4", (78, 6): "e_6", (133, 7): "e_7", (248, 8): "e_8"}
    if (dimension, n) in exceptional:
        yield exceptional[dimension, n]


def _pair(kind: str, p: int, q: int) -> str:
    p, q = max(p, q), min(p, q)
    return f"{kind}({p},{q})" if q else f"{kind}_{p}"


def _is_toral(matrices: Sequence[SparseMatrix], centre: list[list[Fraction]], seed: str) -> bool | None:
    """Whether a random element of the centre is diagonalisable over QQ; the others are then its
    polynomials' like."""
    if not centre:
        return True
    numbers = stream_values(seed, "toral", len(centre), 10_007)
    element: dict[tuple[int, int], Fraction] = {}
    for factor, vector in zip(numbers, centre, strict=True):
        for matrix, value in zip(matrices, vector, strict=True):
            if value:
                _add(element, matrix, factor * value)
    support = sorted({c for place in element for c in place})
    if len(support) > MAX_TORAL_SIZE:
        return None
    rows = [[element.get((i, j), Fraction(0)) for j in support] for i in support]
    return is_diagonalisable(rows) if rows else True
