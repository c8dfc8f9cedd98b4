"""Conformance of every engine of linear algebra over GF(p), and what only the blocked one promises.

The reference is FLINT's ``nmod_mat.rank`` and ``det``, called directly, with the
definitions of the rank profiles; it shares no code with the engines.
"""

from __future__ import annotations

import _thread
import importlib.util
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from functools import lru_cache
from itertools import product

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lightningalg.engines import (
    blocked_compiled,
    blocked_elimination,
    blocked_engine,
    blocked_panels,
    blocked_threads,
    inventory,
)
from lightningalg.engines.base import RankProfile
from lightningalg.engines.blocked_engine import BlockedElimination
from lightningalg.engines.blocked_field import Field
from lightningalg.engines.flint_engine import FlintLinearAlgebra
from lightningalg.engines.primes import is_prime, previous_prime
from lightningalg.errors import EngineError, InputError, MissingExtraError, TooLargeError

PRIMES = (2, 3, 65521, 4194301, 8388593)
LARGEST = 8388593  # below 2**23: the least room for exactness

needs_numba = pytest.mark.skipif(
    importlib.util.find_spec("numba") is None, reason="numba is not installed (extra 'fast')"
)
KERNELS = ["numpy", pytest.param("numba", marks=needs_numba)]

# Small blocks put block borders inside small matrices; base 1 and a base as large as the block are extremes.
SMALL_BLOCKS = [(4, 2), (3, 1), (5, 5)]


def engine_table():
    yield pytest.param(FlintLinearAlgebra, id="flint")
    for kernels, marks in (("numpy", ()), ("numba", needs_numba)):
        yield pytest.param(lambda k=kernels: BlockedElimination(kernels=k), id=kernels, marks=marks)
        for block, base in SMALL_BLOCKS:
            yield pytest.param(
                lambda k=kernels, b=block, c=base: BlockedElimination(kernels=k, _block=b, _base=c),
                id=f"{kernels}-{block}-{base}",
                marks=marks,
            )
    # compiled loops with numpy's products, as where BLAS cannot be called directly
    for block, base in (None, None), (4, 2):
        yield pytest.param(
            lambda b=block, c=base: BlockedElimination(kernels="numba", _block=b, _base=c, _direct=False),
            id=f"numba-indirect-{block}",
            marks=needs_numba,
        )


ALL_ENGINES = list(engine_table())


@pytest.fixture(params=ALL_ENGINES)
def engine(request):
    return request.param()


# ---------------------------------------------------------------------------
# Reference
# ---------------------------------------------------------------------------


def flint_matrix(matrix, prime):
    return flint.nmod_mat(*matrix.shape, [int(x) % prime for x in matrix.ravel().tolist()], prime)


def reference_rank(matrix, prime):
    return flint_matrix(matrix, prime).rank() if matrix.size else 0


def reference_profile(matrix, prime):
    """The definition: a row or column belongs to the profile if it raises the rank of those before it."""

    def first_independent(a):
        ranks = [reference_rank(a[:, :j], prime) for j in range(a.shape[1] + 1)]
        return tuple(j for j in range(a.shape[1]) if ranks[j + 1] > ranks[j])

    columns, rows = first_independent(matrix), first_independent(matrix.T)
    return RankProfile(len(columns), rows, columns)


def low_rank(rng, rows, columns, rank, prime):
    """A product of random factors, centred: of this rank, for a large prime almost surely."""
    left = rng.integers(0, prime, (rows, rank)).astype(object)
    right = rng.integers(0, prime, (rank, columns)).astype(object)
    return ((left @ right + prime // 2) % prime - prime // 2).astype(np.int64).reshape(rows, columns)


def fast_low_rank(rng, rows, columns, rank, prime):
    """The same in float64, for large matrices; exact because each product has at most 256 terms."""
    half = prime // 2
    left = rng.integers(-half, half + 1, (rows, rank)).astype(np.float64)
    right = rng.integers(-half, half + 1, (rank, columns)).astype(np.float64)
    result = np.zeros((rows, columns))
    for k in range(0, rank, 256):
        result += left[:, k : k + 256] @ right[k : k + 256]
        result -= np.rint(result / prime) * prime
    return result.astype(np.float32)


def families(rng, rows, columns, prime):
    """Matrices that make pivoting hard, of a given shape."""
    smaller = min(rows, columns)
    dense = rng.integers(0, prime, (rows, columns))
    yield np.zeros((rows, columns), dtype=np.int64)
    yield dense
    yield low_rank(rng, rows, columns, rng.integers(0, smaller + 1), prime)
    yield dense[rng.integers(0, rows, rows)]  # repeated rows
    yield dense[:, rng.integers(0, columns, columns)]  # repeated columns
    leading = dense.copy()
    leading[:, : columns // 2] = 0
    yield leading
    yield leading[::-1, ::-1] * (rng.random((rows, columns)) < 0.4)  # sparse
    triangular = np.triu(dense)
    yield triangular[rng.permutation(rows)]
    yield triangular[rng.permutation(rows)][:, rng.permutation(columns)]
    half = max(prime // 2, 1)
    yield rng.choice([-half, half], (rows, columns))  # the largest residues


SHAPES = [(1, 1), (1, 7), (7, 1), (3, 3), (4, 4), (5, 5), (8, 8), (9, 9), (12, 5), (5, 12), (7, 9), (13, 8)]


@lru_cache(maxsize=1)
def cases():
    """Some 600 small matrices with their profiles, computed once for all engines."""
    rng = np.random.default_rng(20240501)
    return [
        (matrix, prime, reference_profile(matrix, prime))
        for shape, prime in product(SHAPES, PRIMES)
        for matrix in families(rng, *shape, prime)
    ]


def times(left, right, prime):
    return (left.astype(object) @ right.astype(object)) % prime


# ---------------------------------------------------------------------------
# Conformance
# ---------------------------------------------------------------------------


def test_rank_profiles_are_the_lexicographically_first(engine):
    for matrix, prime, profile in cases():
        before = matrix.copy()
        assert engine.rank_profile(matrix, prime) == profile, (matrix, prime)
        assert engine.rank(matrix, prime) == profile.rank
        assert np.array_equal(matrix, before)


def test_minor_on_the_profiles_is_not_zero(engine):
    for matrix, prime, _ in cases():
        profile = engine.rank_profile(matrix, prime)
        if profile.rank:
            assert engine.determinant(matrix[np.ix_(profile.rows, profile.columns)], prime) != 0


def test_determinant(engine):
    for matrix, prime, _ in cases():
        size = min(matrix.shape)
        square = matrix[-size:, :size]
        assert engine.determinant(square, prime) == int(flint_matrix(square, prime).det()), (square, prime)


def test_nullspace_is_the_reduced_basis(engine):
    for matrix, prime, profile in cases():
        basis = engine.nullspace(matrix, prime)
        columns = matrix.shape[1]
        free = np.setdiff1d(np.arange(columns), profile.columns)
        assert basis.shape == (columns, columns - profile.rank) and basis.dtype == np.int64
        assert basis.size == 0 or (basis.min() >= 0 and basis.max() < prime)
        assert not times(matrix, basis, prime).any(), (matrix, prime)
        assert np.array_equal(basis[free], np.eye(free.size))


def test_solve_consistent_systems(engine):
    rng = np.random.default_rng(5)
    for matrix, prime, profile in cases():
        for tail in ((), (3,)):
            right = times(matrix, rng.integers(0, prime, (matrix.shape[1], *tail)), prime).astype(np.int64)
            x = engine.solve(matrix, right - prime, prime)
            assert x is not None and x.shape == (matrix.shape[1], *tail) and x.dtype == np.int64
            assert np.array_equal(times(matrix, x, prime), right), (matrix, prime)
            assert not np.delete(x, profile.columns, axis=0).any()
            assert x.min() >= 0 and x.max() < prime


def test_solve_reports_inconsistent_systems(engine):
    rng = np.random.default_rng(6)
    inconsistent = 0
    for matrix, prime, profile in cases():
        right = rng.integers(0, prime, (matrix.shape[0], 2))
        solvable = reference_rank(np.hstack([matrix, right]), prime) == profile.rank
        assert (engine.solve(matrix, right, prime) is not None) == solvable
        inconsistent += not solvable
    assert inconsistent > 100


MATRICES = st.tuples(st.integers(1, 9), st.integers(1, 9)).flatmap(
    lambda shape: st.lists(
        st.integers(-2, 2) | st.integers(-(2**63), 2**63 - 1),
        min_size=shape[0] * shape[1],
        max_size=shape[0] * shape[1],
    ).map(lambda entries: np.array(entries, dtype=np.int64).reshape(shape))
)


@given(matrix=MATRICES, prime=st.sampled_from((*PRIMES, 5, 7)))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_any_int64_matrix(matrix, prime):
    expected = reference_profile(matrix, prime)
    for parameters in ALL_ENGINES:
        if not any(mark.name == "skipif" and mark.args[0] for mark in parameters.marks):
            assert parameters.values[0]().rank_profile(matrix, prime) == expected


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("block, base", [(8, 4), (16, 3)])
def test_every_shape_around_block_borders(kernels, block, base):
    engine = BlockedElimination(kernels=kernels, _block=block, _base=base)
    rng = np.random.default_rng(block)
    borders = [block - 1, block, block + 1, 2 * block - 1, 2 * block, 2 * block + 1]
    for rows, columns in product(borders, borders):
        for rank in {min(rows, columns), block - 1, block, block + 1} - {2 * block + 2}:
            if rank > min(rows, columns):
                continue
            matrix = low_rank(rng, rows, columns, rank, LARGEST)
            matrix[:, rng.integers(0, columns)] = 0
            shuffled = matrix[rng.permutation(rows)]
            expected = FlintLinearAlgebra().rank_profile(shuffled, LARGEST)
            assert engine.rank_profile(shuffled, LARGEST) == expected


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize(
    "rows, columns, rank",
    [(127, 129, 127), (128, 128, 128), (129, 257, 128), (257, 200, 199), (385, 300, 129), (310, 420, 305)],
)
def test_default_blocks_against_flint(kernels, rows, columns, rank):
    engine, reference = BlockedElimination(kernels=kernels), FlintLinearAlgebra()
    rng = np.random.default_rng(rows)
    for prime in (65521, LARGEST):
        matrix = fast_low_rank(rng, rows, columns, rank, prime)
        matrix[rng.integers(0, rows, 5)] = matrix[rng.integers(0, rows, 5)]
        matrix[:, rng.integers(0, columns, 5)] = 0
        right = matrix[:, :1] - matrix[:, 1:3]
        assert engine.rank_profile(matrix, prime) == reference.rank_profile(matrix, prime)
        assert np.array_equal(engine.nullspace(matrix, prime), reference.nullspace(matrix, prime))
        assert np.array_equal(engine.solve(matrix, right, prime), reference.solve(matrix, right, prime))
        square = matrix[: min(rows, columns), : min(rows, columns)]
        assert engine.determinant(square, prime) == reference.determinant(square, prime)


# ---------------------------------------------------------------------------
# Exactness
# ---------------------------------------------------------------------------


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("prime", PRIMES)
def test_products_are_exact_at_the_bound(kernels, prime):
    """Inner dimension ``depth``, all entries at ``bound``: the largest partial sums that are allowed."""
    field = Field(prime)
    chosen = BlockedElimination(kernels=kernels)._choose_kernels(1, 1)
    depth = min(field.depth, 4096)
    half, size = field.bound, 9
    for sign in (1, -1):
        target = np.full((size, size), -sign * half, dtype=np.float32)
        left, right = np.full((size, depth), half, float), np.full((depth, size), sign * half, float)
        left[0] -= np.arange(depth) % 2  # some odd sums
        exact = target.astype(object) - left.astype(int).astype(object) @ right.astype(int).astype(object)
        chosen.subtract_reduced(target, 0, 0, left @ right, *field.constants)
        reduced = target.astype(int).astype(object)
        assert not ((reduced - exact) % prime).any()
        assert np.abs(reduced).max() <= half


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("prime", PRIMES)
def test_reduction_is_exact_up_to_the_bound(kernels, prime):
    field = Field(prime)
    chosen = BlockedElimination(kernels=kernels)._choose_kernels(1, 1)
    top = min(2**53 - prime, 2**51 if prime <= 3 else 2**53)
    multiples = [top // prime * prime - k * prime for k in range(200)]
    near_half = [
        m + d for m in multiples for d in (prime // 2, -(prime // 2), prime // 2 + 1) if m + d <= top
    ]
    values = [s * v for v in (*multiples, *near_half, 0, 1, top) for s in (1, -1)]
    array = np.array([values], dtype=np.float64)
    chosen.reduce_columns(array, 0, len(values), *field.constants)
    for value, reduced in zip(values, array[0].tolist(), strict=True):
        assert (int(reduced) - value) % prime == 0 and abs(reduced) <= field.bound
        assert (reduced == 0) == (value % prime == 0)


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("signs", list(product((1, -1), repeat=3)))
def test_extreme_residues_in_a_full_block(kernels, signs):
    """``[[1, U], [L, LU + S]]`` with L, U, S at +-(p-1)/2: the update sums 512 products of the largest."""
    half, block, more = LARGEST // 2, Field(LARGEST).depth, 600
    assert block == 512
    L = np.full((more, block), signs[0] * half)
    U = np.full((block, more), signs[1] * half)
    S = np.full((more, more), signs[2] * half)  # rank 1
    S[np.arange(0, more, 2), np.arange(0, more, 2)] -= 1  # and 300 more directions
    product_mod = (block * (signs[0] * half) * (signs[1] * half)) % LARGEST
    matrix = np.block([[np.eye(block, dtype=np.int64), U], [L, S + product_mod]])
    profile = BlockedElimination(kernels=kernels, _block=512).rank_profile(matrix, LARGEST)
    expected = reference_rank(S[:4, :4], LARGEST) - 2 + 300
    assert profile.rank == block + expected and profile.rows == profile.columns


@pytest.mark.parametrize("kernels", KERNELS)
def test_matrix_of_extreme_residues(kernels):
    half = LARGEST // 2
    signs = np.random.default_rng(3).choice([-half, half], (1104, 1100))
    signs[:, 1000:] = signs[:, :100]
    expected = FlintLinearAlgebra().rank(signs, LARGEST)
    assert BlockedElimination(kernels=kernels, _block=512).rank(signs, LARGEST) == expected == 1000


# ---------------------------------------------------------------------------
# Input
# ---------------------------------------------------------------------------


DTYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", ">i4", ">f8"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_numeric_dtype(engine, dtype):
    matrix = np.array([[1, 2, 3], [2, 4, 6], [0, 7, 100]]).astype(dtype)
    assert engine.rank_profile(matrix, 65521) == RankProfile(2, (0, 2), (0, 1))


def test_representatives_of_any_size(engine):
    low, high = -(2**63), 2**63 - 1
    for prime in PRIMES:
        signed = np.array([[low, high, low + 1], [high, 0, -1], [1 - 2**53, 2**53 + 1, 2**62]])
        unsigned = np.array([[2**64 - 1, 1], [2**63, 2**64 - prime]], dtype=np.uint64)
        floats = np.array([[2.0**53, -(2.0**53)], [2.0**52 + 1, 1 - 2.0**53]])
        for matrix in (signed, unsigned, floats, signed[:, ::-1].T, np.asfortranarray(signed)):
            exact = np.array([[int(x) for x in row] for row in matrix.tolist()], dtype=object)
            assert engine.rank_profile(matrix, prime) == reference_profile(exact, prime)
            square = exact[:2, :2]
            assert engine.determinant(matrix[:2, :2], prime) == int(flint_matrix(square, prime).det())


def test_views_and_read_only_arrays(engine):
    matrix = np.arange(48).reshape(6, 8)
    matrix.setflags(write=False)
    for view in (matrix[::2, ::-1], matrix.T, np.broadcast_to(matrix[0], (3, 8))):
        assert engine.rank_profile(view, 65521) == reference_profile(view, 65521)


GOOD = np.eye(2, dtype=np.int64)
PRIME_ERRORS = [
    (4, "is not a prime"),
    (8388593 - 2, "is not a prime"),
    (0, "is not a prime"),
    (1, "is not a prime"),
    (-3, "is not a prime"),
    (2**64 + 13, "is too large"),
    (5.0, "accepted: an integer"),
    (True, "accepted: an integer"),
    ("5", "accepted: an integer"),
    (None, "accepted: an integer"),
]
MATRIX_ERRORS = [
    (np.array([[0.5, 1.0]]), r"entry 0.5 at row 0, column 0; accepted: integers"),
    (np.array([[1.0, 2.0], [3.0, np.nan]]), r"entry nan at row 1, column 1"),
    (np.array([[1.0, np.inf]]), r"entry inf at row 0, column 1"),
    (np.array([[1.0, -np.inf]], dtype=np.float32), r"entry -inf at row 0, column 1"),
    (np.array([[2.0**54]]), r"at most 2\*\*53"),
    (np.array([[1, 2]], dtype=object), "got dtype object"),
    (np.array([[1j]]), "got dtype complex128"),
    (np.array([[True]]), "got dtype bool"),
    (np.array([["1"]]), "got dtype <U1"),
    (np.ma.masked_array([[1, 2]], mask=[[0, 1]]), "got MaskedArray"),
    ([[1, 2]], "got list"),
    (np.array(3), "got 0 dimensions"),
    (np.arange(3), "got 1 dimensions"),
    (np.zeros((2, 2, 2)), "got 3 dimensions"),
    (np.zeros((0, 3)), "at least one row and one column"),
    (np.zeros((3, 0)), "at least one row and one column"),
]


@pytest.mark.parametrize("prime, message", PRIME_ERRORS, ids=[str(p) for p, _ in PRIME_ERRORS])
def test_bad_primes_are_refused(engine, prime, message):
    for call in (engine.rank, engine.rank_profile, engine.determinant, engine.nullspace):
        with pytest.raises(InputError, match=message):
            call(GOOD, prime)
    with pytest.raises(InputError, match=message):
        engine.solve(GOOD, GOOD, prime)


@pytest.mark.parametrize("matrix, message", MATRIX_ERRORS, ids=[m for _, m in MATRIX_ERRORS])
def test_bad_matrices_are_refused(engine, matrix, message):
    for call in (engine.rank, engine.rank_profile, engine.nullspace):
        with pytest.raises(InputError, match=message) as error:
            call(matrix, 65521)
        assert "\n" not in str(error.value)
    with pytest.raises(InputError, match=message):
        engine.solve(matrix, np.zeros((len(matrix) if np.ndim(matrix) else 1, 1)), 65521)


def test_bad_shapes_are_refused(engine):
    with pytest.raises(InputError, match="accepted: square matrices"):
        engine.determinant(np.ones((2, 3)), 5)
    with pytest.raises(InputError, match="right: got 3 rows; accepted: 2"):
        engine.solve(GOOD, np.ones(3), 5)
    with pytest.raises(InputError, match="right: got 3 dimensions; accepted: 1 or 2"):
        engine.solve(GOOD, np.ones((2, 1, 1)), 5)
    with pytest.raises(InputError, match="right: got shape"):
        engine.solve(GOOD, np.ones((2, 0)), 5)
    with pytest.raises(InputError, match=r"right: entry 0\.5"):
        engine.solve(GOOD, np.array([1, 0.5]), 5)


def test_largest_primes(engine):
    largest = engine.largest_prime
    assert previous_prime(largest + 1) == largest
    assert engine.determinant(np.array([[largest - 1, 0], [5, 2]]), largest) == largest - 2
    following = largest + 1
    while not is_prime(following):
        following += 1
    with pytest.raises(InputError, match=f"{following} is too large; accepted by engine"):
        engine.rank(GOOD, following)


def test_flint_refuses_what_it_cannot_allocate():
    for shape in ((2**14, 2**12 + 1), (10**9, 10**9)):
        with pytest.raises(TooLargeError, match="accepted: 67108864"):
            FlintLinearAlgebra().rank(np.broadcast_to(np.int8(1), shape), 7)


def test_primes_up_to_a_hundred_thousand():
    sieve = np.ones(100_000, dtype=bool)
    sieve[:2] = False
    for n in range(2, 317):
        sieve[n * n :: n] &= not sieve[n]
    assert [is_prime(n) for n in range(-3, 100_000)] == [False] * 3 + sieve.tolist()


def test_primes_that_are_hard():
    strong_pseudoprimes = [2047, 3215031751, 341550071728321, 3825123056546413051]
    assert not any(is_prime(n) for n in [*strong_pseudoprimes, 561, 8388593**2, 2**64 - 1])
    assert all(is_prime(n) for n in [2**61 - 1, 2**64 - 59, 9223372036854775783, np.int64(8388593)])
    assert [previous_prime(n) for n in (3, 4, 5, 6, 2**23, 2**64)] == [2, 3, 3, 5, 8388593, 2**64 - 59]
    for refused in (2**64, 2.0, True):
        with pytest.raises(InputError, match="accepted"):
            is_prime(refused)
    with pytest.raises(InputError, match="no prime below 2"):
        previous_prime(2)


# ---------------------------------------------------------------------------
# Promises of the blocked engine alone
# ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large():
    """A matrix that is large enough for threads, and its rank."""
    return fast_low_rank(np.random.default_rng(11), 650, 700, 600, LARGEST), 600


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_do_not_change_the_result(kernels, threads, large):
    matrix, rank = large
    assert BlockedElimination(threads, kernels).rank_profile(matrix, LARGEST).rank == rank


PANELS = [
    pytest.param({"kernels": "numpy"}, id="numpy"),
    pytest.param({"kernels": "numba"}, id="direct", marks=needs_numba),
    pytest.param({"kernels": "numba", "_direct": False}, id="indirect", marks=needs_numba),
]


@pytest.fixture
def threads_for_everything(monkeypatch):
    """Look-ahead with helpers on the smallest matrices, in pieces of two columns."""
    if not blocked_engine.BLAS_LIMIT.available():
        pytest.skip("BLAS cannot be limited: no helpers")
    monkeypatch.setattr(blocked_engine, "_WORTH_LIMIT", 0)
    monkeypatch.setattr(blocked_elimination, "WORTH_THREADS", 0)
    monkeypatch.setattr(blocked_compiled, "WORTH_THREADS", 0)
    monkeypatch.setattr(blocked_elimination, "_WORTH_SHARING", 0)
    monkeypatch.setattr(blocked_elimination, "_NARROWEST", 2)


@pytest.mark.parametrize("panels", PANELS)
@pytest.mark.parametrize("threads", [2, 3])
def test_look_ahead_conforms(threads_for_everything, panels, threads):
    engine = BlockedElimination(threads, _block=3, _base=2, **panels)
    for matrix, prime, profile in cases():
        assert engine.rank_profile(matrix, prime) == profile, (matrix, prime)


def panel_patterns(rng, block):
    """Matrices by blocks of columns that make a panel zero, deficient, or exhaust the rows."""
    rows, blocks = 5 * block + 2, 7
    kinds = {
        "dense": lambda: rng.integers(0, LARGEST, (rows, block)),
        "zero": lambda: np.zeros((rows, block), dtype=np.int64),
        "deficient": lambda: low_rank(rng, rows, block, block // 2, LARGEST),
        "one": lambda: low_rank(rng, rows, block, 1, LARGEST),
        "last row": lambda: np.eye(rows, dtype=np.int64)[:, [rows - 1] * block],
    }
    for _ in range(25):
        chosen = rng.choice(list(kinds), blocks)
        matrix = np.hstack([kinds[kind]() for kind in chosen])
        yield matrix[:, : rng.integers(blocks * block - block, blocks * block + 1)]  # a last partial block
        yield matrix[rng.permutation(rows)[: rng.integers(1, rows + 1)]]
        yield np.hstack([matrix[:, :block], matrix[:, : 3 * block], matrix])  # panels seen before
        sparse = matrix.copy()
        sparse[: rows // 2, ::2] = 0  # pivots far down: many rows move
        yield sparse


@pytest.mark.parametrize("panels", PANELS)
@pytest.mark.parametrize("block, base", [(4, 2), (6, 1), (5, 5)])
def test_look_ahead_over_deficient_panels(threads_for_everything, panels, block, base):
    one, two = (BlockedElimination(n, _block=block, _base=base, **panels) for n in (1, 2))
    reference, rng = FlintLinearAlgebra(), np.random.default_rng(block)
    for matrix in panel_patterns(rng, block):
        expected = reference.minor(matrix, LARGEST)
        assert two.minor(matrix, LARGEST) == one.minor(matrix, LARGEST) == expected
        right = rng.integers(0, LARGEST, (len(matrix), 3))
        for engine in (one, two):
            basis = engine.nullspace(matrix, LARGEST)
            assert np.array_equal(basis, reference.nullspace(matrix, LARGEST))
            x, known = (e.solve(matrix, right, LARGEST) for e in (engine, reference))
            assert (x is None) == (known is None) and (x is None or np.array_equal(x, known))


@needs_numba
def test_wide_panels_narrow_down():
    """Large enough for panels of both widths, with columns that repeat and vanish at their borders."""
    rng = np.random.default_rng(21)
    matrix = fast_low_rank(rng, 1320, 1400, 1290, LARGEST)
    matrix[:, [0, 127, 128, 255, 256, 257, 511, 512]] = 0
    matrix[:, 300:330] = matrix[:, 40:70]
    reference = FlintLinearAlgebra().rank(matrix, LARGEST)
    expected = BlockedElimination(1, "numpy", _block=128).rank_profile(matrix, LARGEST)
    for threads in (1, 2):
        profile = BlockedElimination(threads, "numba").rank_profile(matrix, LARGEST)
        assert profile == expected and profile.rank == reference


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system has no such call")
@pytest.mark.parametrize("panels", PANELS)
@pytest.mark.parametrize("forbidden", [False, True])
def test_helpers_leave_the_core_of_the_caller(monkeypatch, large, panels, forbidden):
    """A core of a virtual machine may keep both threads for a tenth of a second, at half the speed."""
    allowed, setting, seen = os.sched_getaffinity(0), os.sched_setaffinity, []

    def leave(thread, cores):
        seen.append((set(cores), threading.get_ident()))
        if forbidden:
            raise PermissionError("on purpose")
        setting(thread, cores)

    monkeypatch.setattr(os, "sched_setaffinity", leave)
    assert BlockedElimination(2, **panels).rank(large[0], LARGEST) == large[1]
    assert os.sched_getaffinity(0) == allowed
    if len(allowed) > 1 and blocked_engine.BLAS_LIMIT.available():
        assert seen
    for cores, thread in seen:
        assert thread != threading.get_ident() and cores < allowed and len(cores) == len(allowed) - 1
    seen.clear()  # with more threads than cores nobody is sent away
    assert BlockedElimination(len(allowed) + 1, **panels).rank(large[0], LARGEST) == large[1]
    assert not seen


@pytest.mark.parametrize("panels", PANELS)
@pytest.mark.parametrize("where", ["helper", "caller"])
def test_an_error_in_a_thread_ends_all(monkeypatch, large, panels, where):
    kind, name = blocked_panels.Panel, "update"
    if panels == {"kernels": "numba"}:
        kind, name = blocked_compiled.CompiledElimination, "_lead" if where == "caller" else "_help"
    caller, step = threading.get_ident(), getattr(kind, name)
    engine, before, alive = BlockedElimination(2, **panels), blas_threads(), _thread._count()

    def failing(self, *arguments):
        if (threading.get_ident() == caller) == (where == "caller"):
            raise MemoryError("on purpose")
        return step(self, *arguments)

    monkeypatch.setattr(kind, name, failing)
    with pytest.raises(MemoryError, match="on purpose"):
        for _ in range(50):  # the helper may come too late for its first piece
            engine.rank(large[0], LARGEST)
    monkeypatch.undo()
    assert blas_threads() == before and _thread._count() == alive
    assert engine.rank(large[0], LARGEST) == large[1]


@needs_numba
def test_large_float32_matrices_are_checked():
    """Large enough for the copy that two threads make with compiled code."""
    matrix = fast_low_rank(np.random.default_rng(5), 800, 800, 30, LARGEST)
    engine = BlockedElimination(2, "numba")
    assert engine.rank(matrix, LARGEST) == 30
    # other representatives, exact in float32, in almost every column or only in the last
    for first in (50, 799):
        far = matrix.copy()
        far[700:, first:] += LARGEST * np.sign(-far[700:, first:])
        assert engine.rank_profile(far, LARGEST) == engine.rank_profile(matrix, LARGEST)
        assert engine.minor(far, LARGEST) == engine.minor(matrix, LARGEST)
        assert np.array_equal(engine.nullspace(far, LARGEST), engine.nullspace(matrix, LARGEST))
    for value, column in ((0.5, 3), (np.nan, 64), (np.inf, 799), (-np.inf, 0)):
        bad = matrix.copy()
        bad[795, 5] = 1.5  # the first in order of rows is named, whichever thread meets one first
        bad[790, column] = value
        with pytest.raises(InputError, match=f"at row 790, column {column}; accepted: integers"):
            engine.rank(bad, LARGEST)


@needs_numba
def test_columns_that_end_at_borders():
    """Widths around one panel, half and several, with right-hand sides behind them."""
    reference, rng = FlintLinearAlgebra(), np.random.default_rng(8)
    for columns in (63, 64, 65, 127, 128, 129, 191, 192, 193, 320, 321):
        matrix = fast_low_rank(rng, 210, columns, min(columns - 1, 200), LARGEST)
        matrix[:, rng.integers(0, columns, 2)] = 0
        expected = reference.minor(matrix, LARGEST)
        right = matrix[:, :2] + 1
        solution = reference.solve(matrix, right, LARGEST)
        for threads in (1, 2, 3):
            engine = BlockedElimination(threads, "numba")
            assert engine.minor(matrix, LARGEST) == expected
            x = engine.solve(matrix, right, LARGEST)
            assert (x is None) == (solution is None) and (x is None or np.array_equal(x, solution))
            consistent = matrix @ np.eye(columns, 1, dtype=np.float32)
            assert np.array_equal(
                engine.solve(matrix, consistent, LARGEST), reference.solve(matrix, consistent, LARGEST)
            )


@needs_numba
@pytest.mark.parametrize("at", [0, 6, 7, 8, 9, 62, 63, 64, 120, 127, 128, 150])
def test_leading_minors_that_vanish(at):
    """One leading minor is zero: there the pivot is not in the next row, before and after it is."""
    rng = np.random.default_rng(at)
    size, more = 170, 40
    lower = np.tril(rng.integers(-3, 4, (size + more, size)), -1) + np.eye(size + more, size, dtype=np.int64)
    upper = np.triu(rng.integers(-3, 4, (size, size + more)), 1) + np.eye(size, size + more, dtype=np.int64)
    upper[[at, at + 1]] = upper[[at + 1, at]]
    matrix = np.remainder(lower.astype(object) @ upper.astype(object), LARGEST).astype(np.int64)
    expected = FlintLinearAlgebra().minor(matrix, LARGEST)
    assert expected.profile.rank == size
    for threads, base in product((1, 2), (None, 1, 16)):
        engine = BlockedElimination(threads, "numba", _base=base)
        assert engine.minor(matrix, LARGEST) == expected
        assert engine.minor(matrix.astype(np.float32), LARGEST) == expected


@needs_numba
@pytest.mark.parametrize("threads", [1, 2])
def test_columns_that_no_pivot_needs_are_checked(threads):
    """All rows have their pivots in the first columns, and the last ones are wrong or not centred."""
    engine = BlockedElimination(threads, "numba")
    for rows, columns in ((1, 2), (70, 700), (300, 900)):
        matrix = fast_low_rank(np.random.default_rng(rows), rows, columns, rows, LARGEST)
        expected = engine.rank_profile(matrix, LARGEST)
        assert expected == RankProfile(rows, tuple(range(rows)), tuple(range(rows)))
        far = matrix.copy()
        far[-1, -1] += LARGEST if far[-1, -1] < 0 else -LARGEST
        assert engine.rank_profile(far, LARGEST) == expected
        far[-1, -1] = np.nan
        with pytest.raises(InputError, match=f"entry nan at row {rows - 1}, column {columns - 1}"):
            engine.rank(far, LARGEST)


def test_unaligned_matrices(engine):
    matrix = np.frombuffer(b"x" + np.eye(3, dtype=np.float32).tobytes(), np.float32, offset=1).reshape(3, 3)
    writeable = np.frombuffer(bytearray(b"x") + matrix.tobytes(), np.float32, offset=1).reshape(3, 3)
    assert not writeable.flags.aligned and writeable.flags.writeable
    assert engine.rank(matrix, 7) == engine.rank(writeable, 7) == 3


@pytest.mark.parametrize("kernels", KERNELS)
def test_overwrite_saves_a_copy(kernels):
    engine = BlockedElimination(kernels=kernels)
    matrix = fast_low_rank(np.random.default_rng(2), 3000, 3000, 20, LARGEST)  # beyond the memory kept
    engine.rank(matrix, LARGEST)
    peaks = []
    for overwrite in (False, True):
        before = matrix.copy()
        tracemalloc.start()
        assert engine.rank(matrix, LARGEST, overwrite=overwrite) == 20
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert overwrite or np.array_equal(matrix, before)
    assert peaks[1] < peaks[0] - 0.9 * matrix.nbytes


def test_overwrite_accepts_what_it_cannot_use():
    read_only = np.array([[1, 2], [2, 4]], dtype=np.float32)
    read_only.setflags(write=False)
    for matrix in (read_only, read_only.T, read_only.astype(np.int64)):
        before = matrix.copy()
        assert BlockedElimination().rank(matrix, 7, overwrite=True) == 1
        assert np.array_equal(matrix, before)


def blas_threads():
    controller = pytest.importorskip("threadpoolctl").ThreadpoolController()
    return [library.num_threads for library in controller.select(user_api="blas").lib_controllers]


def test_concurrent_calls_and_blas_limit(large):
    matrix, rank = large
    before, ranks = blas_threads(), []
    engine = BlockedElimination()
    callers = [threading.Thread(target=lambda: ranks.append(engine.rank(matrix, LARGEST))) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert ranks == [rank] * 4
    assert blas_threads() == before


def test_interrupt_is_answered_and_leaves_nothing_behind(large):
    before, engine, running = blas_threads(), BlockedElimination(), _thread._count()
    matrix = fast_low_rank(np.random.default_rng(4), 1500, 1500, 1400, LARGEST)
    timer = threading.Timer(0.03, signal.raise_signal, [signal.SIGINT])
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        for _ in range(100):
            engine.rank(matrix, LARGEST)
    assert blas_threads() == before
    end = time.monotonic() + 5  # the interrupt may have fallen into the waiting for the threads
    while _thread._count() > running:
        assert time.monotonic() < end, "threads of an interrupted elimination go on"
        time.sleep(0.01)
    assert engine.rank(large[0], LARGEST) == large[1]


def test_without_threadpoolctl_blas_keeps_the_threads(monkeypatch, large):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    monkeypatch.setattr(blocked_engine, "BLAS_LIMIT", blocked_threads.BlasLimit())
    assert not blocked_engine.BLAS_LIMIT.available()
    assert BlockedElimination(threads=2).rank(large[0], LARGEST) == large[1]


def test_without_numba(monkeypatch, large):
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "lightningalg.engines.blocked_kernels", raising=False)
    monkeypatch.delattr("lightningalg.engines.blocked_kernels", raising=False)
    blocked_engine._numba_kernels.cache_clear()
    try:
        with pytest.raises(MissingExtraError, match=r"needs numba, .*lightningalg\[fast\]"):
            BlockedElimination(kernels="numba")
        assert BlockedElimination()._choose_kernels(5000, 5000) is blocked_engine.NUMPY_KERNELS
        assert BlockedElimination().rank(large[0], LARGEST) == large[1]
    finally:
        blocked_engine._numba_kernels.cache_clear()


@needs_numba
def test_numba_that_does_not_work_is_not_used(monkeypatch, large):
    def fails(kernels):
        raise OSError("No space left on device")

    monkeypatch.setattr(blocked_engine, "_try_out", fails)
    blocked_engine._numba_kernels.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match=r"OSError: No space left.*NUMBA_CACHE_DIR"):
            chosen = BlockedElimination()._choose_kernels(50_000, 50_000)
        assert chosen is blocked_engine.NUMPY_KERNELS
        with pytest.raises(EngineError, match=r"not work here \(OSError: No space left.*NUMBA_CACHE_DIR"):
            BlockedElimination(kernels="numba")
        works, advice = inventory._try_elimination()
        assert not works and "No space left" in advice and "NUMBA_CACHE_DIR" in advice
        said = inventory._numba().advice
        assert said.index("NUMBA_CACHE_DIR") < said.index("reinstall")
        assert BlockedElimination().rank(large[0], LARGEST) == large[1]
    finally:
        blocked_engine._numba_kernels.cache_clear()
        blocked_engine._numba_fault.clear()


@needs_numba
def test_numba_switched_off():
    program = (
        "import numpy; from lightningalg.engines.blocked_engine import BlockedElimination;"
        "print(BlockedElimination().rank(numpy.arange(400 * 400).reshape(400, 400) ** 2 % 1009, 1009))"
    )
    found = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program.replace("()", f"({options})")],
            capture_output=True, text=True, check=True, env={**os.environ, "NUMBA_DISABLE_JIT": off},
        ).stdout
        for off, options in (("1", ""), ("0", "kernels='numpy'"))
    ]  # fmt: skip
    assert found[0] == found[1] != ""


@needs_numba
@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), KeyboardInterrupt()])
def test_threads_that_do_not_start(monkeypatch, large, error):
    start, started = blocked_threads.start_new_thread, []

    def first_only(function, arguments):
        if not started:
            started.append(start(function, arguments))
            if isinstance(error, RuntimeError):
                return
        raise error

    engine = BlockedElimination(threads=3, kernels="numba")
    assert engine.rank(large[0], LARGEST) == large[1]
    before = _thread._count()
    monkeypatch.setattr(blocked_threads, "start_new_thread", first_only)
    if isinstance(error, RuntimeError):  # fewer threads do the work
        assert engine.rank(large[0], LARGEST) == large[1]
    else:  # Ctrl-C between the start and what follows: the thread must not go on
        with pytest.raises(KeyboardInterrupt):
            engine.rank(large[0], LARGEST)
    end = time.monotonic() + 20
    while _thread._count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert started and _thread._count() <= before


@needs_numba
def test_auto_loads_numba_when_it_pays(monkeypatch):
    blocked_engine._numba_kernels.cache_clear()
    choice = blocked_engine._KernelChoice()
    assert {choice.kernels(100, 100).name for _ in range(50)} == {"numpy"}
    assert choice.kernels(10_000, 10_000).name == "numba"
    assert choice.kernels(2, 2).name == "numba"  # once it is there


def test_import_costs_numpy_only():
    program = (
        "import sys, numpy; from lightningalg.engines.blocked_engine import BlockedElimination;"
        "BlockedElimination().rank(numpy.eye(30), 7);"
        "print([m for m in ('numba', 'flint', 'sympy', 'threadpoolctl', 'scipy') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("threads", [0, -1, True, 1.5, "2"])
def test_bad_threads_are_refused(threads):
    with pytest.raises(InputError, match=r"threads: got .*; accepted: integers from 1"):
        BlockedElimination(threads=threads)


def test_bad_kernels_are_refused():
    with pytest.raises(InputError, match="accepted: 'auto', 'numba', 'numpy'"):
        BlockedElimination(kernels="cython")
