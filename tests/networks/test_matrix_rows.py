"""A matrix is a sequence of rows for whoever loops over it."""

from __future__ import annotations

import pytest

from lightningalg.networks.matrix import Matrix


def test_rows_and_entries():
    A = Matrix([[1, 2, 3], [4, 5, 6]])
    assert [list(row) for row in A] == [[1, 2, 3], [4, 5, 6]] and len(A) == 2
    assert A[1] == (4, 5, 6) and A[-1, 0] == 4 and Matrix(A) == A
    assert (5,) not in A and (4, 5, 6) in A
    with pytest.raises(IndexError):
        A[2]
