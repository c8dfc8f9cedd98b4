"""The simple ideals of a semisimple Lie algebra over QQ: centroid, Cartan ranks, names of real forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import lcm

import numpy as np

from lightningalg.certificates.sampling import stream_values
from lightningalg.engines.choose import linear_algebra_for_any_prime
from lightningalg.engines.flint_rings import rational_rank
from lightningalg.engines.rational_matrices import (
    inertia,
    primary_kernels,
    rational_inverse,
    rational_nullspace,
)
from lightningalg.symmetry.structure_constants import (
    PRIME,
    Brackets,
    Vector,
    add_to,
    adjoint,
    apply,
    dense,
    killing_form,
    residue_rows,
)

#: largest part without visible splitting whose centroid is solved for over QQ (its square is the number of
#: unknowns)
MAX_CENTROID = 24
#: for products of matrices in int64
_SMALL_PRIME = 8388593


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


def simple_ideals(
    brackets: Brackets, projection: list[list[Fraction]], k: int, seed: str
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


def _quotient(brackets: Brackets, projection: list[list[Fraction]], k: int) -> Brackets:
    """Return the structure constants of the semisimple quotient in a basis of images of brackets.

    Brackets of elements that lie in one ideal each keep the basis adapted to the ideals.
    """
    ad = adjoint(brackets, k)
    candidates = dense(brackets.values(), k)
    images = [apply(projection, vector) for vector in candidates]
    chosen = _independent_places(images)
    basis = [candidates[i] for i in chosen]
    inverse = rational_inverse([images[i] for i in chosen])
    columns = [apply(list(zip(*inverse, strict=True)), list(c)) for c in zip(*projection, strict=True)]
    coordinates = [{i: value for i, value in enumerate(column) if value} for column in columns]
    sparse = [{a: x for a, x in enumerate(vector) if x} for vector in basis]
    found: Brackets = {}
    for i, j in combinations(range(len(basis)), 2):
        total: Vector = {}
        for a, x in sparse[i].items():
            for b, y in sparse[j].items():
                add_to(total, ad[a][b], x * y)
        image: Vector = {}
        for c, value in total.items():
            add_to(image, coordinates[c], value)
        if image:
            found[i, j] = image
    return found


def _independent_places(rows: list[list[Fraction]]) -> tuple[int, ...]:
    residues = residue_rows(rows)
    return linear_algebra_for_any_prime().rank_profile(residues, PRIME).rows


def _connected_parts(brackets: Brackets, size: int) -> Iterator[list[int]]:
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


def _split(brackets: Brackets, m: int, seed: str) -> list[SimpleIdeal] | None:
    """Return the simple ideals of a semisimple algebra; ``None`` if it is too large to be decomposed."""
    killing = killing_form(brackets, m)
    ad = adjoint(brackets, m)
    if _centroid_bound(ad, m, seed) == 1:  # absolutely simple
        bases = [(1, [[Fraction(int(i == j)) for j in range(m)] for i in range(m)])]
    elif m > MAX_CENTROID:
        return None
    else:
        equations = _centroid_equations(ad, m, seed)
        centroid = rational_nullspace([[Fraction(v) for v in row] for row in equations])
        numbers = stream_values(seed, "centroid", len(centroid), 1009)
        mixed = apply(list(zip(*centroid, strict=True)), [Fraction(number) for number in numbers])
        T = [mixed[i * m : (i + 1) * m] for i in range(m)]
        bases = primary_kernels(T)
    ideals = []
    for degree, basis in bases:
        assert _is_ideal(ad, basis, m), "the three random elements generate a smaller algebra"
        rows = [apply(killing, vector) for vector in basis]
        form = [apply(basis, row) for row in rows]
        ideals.append(SimpleIdeal(len(basis), _cartan_rank(ad, basis, m, seed), inertia(form), degree))
    return ideals


def _is_ideal(ad: list[list[Vector]], basis: list[list[Fraction]], m: int) -> bool:
    if len(basis) == m:
        return True
    brackets = [apply(_ad_matrix(ad, [int(i == j) for j in range(m)], m), v) for i in range(m) for v in basis]
    return rational_rank([*basis, *brackets]) == len(basis)


def _centroid_bound(ad: list[list[Vector]], m: int, seed: str) -> int:
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


def _centroid_equations(ad: list[list[Vector]], m: int, seed: str) -> list[list[int]]:
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


def _ad_matrix(ad: list[list[Vector]], x: Sequence[Fraction | int], m: int) -> list[list[Fraction]]:
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
    residues = np.array([[v % PRIME for v in row] for row in rows], dtype=np.int64)
    return residues.shape[1] - linear_algebra_for_any_prime().rank(residues, PRIME)


def _cartan_rank(ad: list[list[Vector]], basis: list[list[Fraction]], m: int, seed: str) -> int:
    """Return the dimension of the centraliser, in an ideal, of the most generic of three random elements of
    it."""
    least = m
    for number in range(3):
        factors = [v - 500 for v in stream_values(seed, f"cartan/{number}", len(basis), 1001)]
        x = [sum((f * v[i] for f, v in zip(factors, basis, strict=True)), Fraction(0)) for i in range(m)]
        least = min(least, _nullity(_integral(_ad_matrix(ad, x, m))))
    return least - (m - len(basis))


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
