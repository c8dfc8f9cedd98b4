"""What the threads of a compiled elimination share; arrays and numbers only, as compiled code wants them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Places of ``State.shared``.
PUBLISHED, OVER, BAD, INSIDE = range(4)
# Places of ``State.leader``, which only the leader reads and writes.
NEXT, RANK = range(2)

#: the number of a cell whose entries were not yet copied from the input
UNREAD = -2


class Plan(NamedTuple):
    """What is decided before the elimination begins; widths of panels are in cells."""

    pivot_cells: int  # cells in which pivots are looked for: the first ones
    keep: bool  # whether the echelon form is wanted
    first: int  # width of the first panel, during which others can only copy
    narrow: int
    wide: int  # the width while at least ``wide_from`` rows and columns remain
    wide_from: int
    base: int  # columns eliminated without products
    small: int  # multiplications of a product that BLAS is asked for, at most
    tallest: int  # rows of such a product, at most


class State(NamedTuple):
    """Everything about one elimination."""

    plan: Plan
    work: np.ndarray  # float32, one-dimensional: row i of a cell is at its offset + i * stride
    height: int  # rows
    stride: int
    offsets: np.ndarray  # int64
    source: np.ndarray  # float32 (rows, columns), the input; ``work`` itself if it was copied before
    borders: np.ndarray  # int64: columns where cells begin, and the end of the last
    cells: np.ndarray  # int64: the number of each cell, see ``blocked_schedule``
    shared: np.ndarray  # int64: panels published, over or not, an entry is no residue, helpers at work
    leader: np.ndarray  # int64: first cell of the next panel, pivots so far
    order: np.ndarray  # int64: the row of the input at each position
    pivots: np.ndarray  # int64: columns of the pivots
    values: np.ndarray  # float64: the pivots
    columns: np.ndarray  # float64: memory of the panel that is factored
    square: np.ndarray  # float64: more of it
    places: np.ndarray  # int64 (2, rows): more of it
    lower: np.ndarray  # float64 (slots, width * rows): multipliers of the last panels
    inverse: np.ndarray  # float64 (slots, width, width): of their triangles
    lower_copies: np.ndarray  # the same for the helpers, which read nothing that the leader writes again
    inverse_copies: np.ndarray
    moves: np.ndarray  # int64 (slots, 2, 2 * width): the rows they moved, and where these were
    about: np.ndarray  # int64 (slots, 3): rank, rows above, number of moves
    scratch: np.ndarray  # float64 (threads, size)
    dgemm: int  # where in memory ``cblas_dgemm`` is
    pause: int  # where the function is that lets another thread run
    half: np.float32  # the largest residue
    prime: float
    reciprocal: float
