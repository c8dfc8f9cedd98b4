"""Lower bounds of the generic rank by ball arithmetic: for every network, exponentials included."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lightningalg.certificates.records import BallWitness
from lightningalg.certificates.sampling import validate_seed
from lightningalg.engines.ball_arrays import BallArray
from lightningalg.engines.ball_minors import (
    Pivots,
    fixed_point_pivots,
    float_pivots,
    proved_by_arb,
    proved_by_floats,
)
from lightningalg.errors import InputError, TooLargeError, shown
from lightningalg.maps.grading import largest_matrix
from lightningalg.maps.real_jacobian import arb_rows, ball_rows, dyadic_point
from lightningalg.networks.network import Network

SPARE_ROWS = 10
#: enlargements of the sampled Jacobian without growth after which the rank is believed
PATIENCE = 2
#: the precisions that are tried, in bits; 53: numpy
PRECISIONS = (53, 64, 128, 256, 512, 1024, 2048)
#: how many doublings of the precision must leave a rank as it is
_STABLE = 2
#: up to here minors chosen by float64 are tried
_TRUST = 128
DEFAULT_MEMORY = 4.0

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BallBound:
    """A ball witness with the account of how it was found; fields as of ``lower_bound.LowerBound``."""

    witness: BallWitness
    engine: str
    matrix: tuple[int, int]


def ball_lower_bound(
    network: Network,
    *,
    target: int,
    seed: str = "0",
    max_memory: float = DEFAULT_MEMORY,
    progress: Progress = lambda message: None,
) -> BallBound:
    """Return a proof of ``generic rank >= r``: an r x r minor at one point, enclosed in balls.

    The minor contains no singular matrix; the point is dyadic.

    The entries of the sampled Jacobian are enclosed in balls, first in float64 with rigorous rounding
    errors, then by arb with 64 bits and more. Pivoting in floating point chooses the minor; that it is not
    singular is proved by ``||I - R J|| < 1``. No algebra modulo a prime, no theorem on exponentials:
    independent of the other lower bounds. Where the rank at the point is below ``target`` balls cannot
    tell, and the search ends when neither precision nor more samples find more.

    Parameters
    ----------
    network
        Any network with parameters, of layers that can be evaluated over the reals.
    target
        Where to stop: a proved upper bound.
    seed
        Decides point, inputs and functionals.
    max_memory
        GiB.
    progress
        Told what is being done.

    Raises
    ------
    InputError
        For a bad seed, a network without parameters, or if nothing can be proved.
    TooLargeError
        If the predicted memory exceeds ``max_memory``.

    References
    ----------
    MATH.md section 5; FORMAT.md section 4.1b.

    Examples
    --------
    >>> import lightningalg as la
    >>> ball_lower_bound(la.lightning((2, 2), (2,)), target=7).witness.value
    7
    """
    if network.parameter_count == 0:
        raise InputError(f"{shown(network, 200)} has no parameters: its neuromanifold is one point")
    search = _Search(network, validate_seed(seed), min(target, network.parameter_count), max_memory, progress)
    best = None
    quiet = 0
    count = search.target + SPARE_ROWS
    while quiet <= PATIENCE:
        found = search.run(count)
        if found is not None and (best is None or found.witness.value > best.witness.value):
            best, quiet = found, 0
        else:
            quiet += 1
        if best is not None and best.witness.value >= search.target:
            break
        count += max(SPARE_ROWS, count // 4)
    if best is None:
        raise InputError(
            f"balls of up to {PRECISIONS[-1]} bits prove nothing of {shown(network, 200)} at seed "
            f"{seed} (they lose many "
            f"bits in every layer with a softmax): try another seed or another lower bound"
        )
    return best


@dataclass(frozen=True, slots=True)
class _Search:
    network: Network
    seed: str
    target: int
    max_memory: float
    progress: Progress

    def run(self, count: int) -> BallBound | None:
        """Return the best bound with this many samples, over growing precision."""
        self._check_memory(count)
        best: BallBound | None = None
        seen: list[int] = []
        for found, expected in self._attempts(count):
            if found is not None and (best is None or found.witness.value > best.witness.value):
                best = found
            seen.append(expected)
            if best is None:
                continue
            # balls never show that a rank is small: believe it when growing precision keeps seeing it
            stable = len(seen) > _STABLE and len(set(seen[-_STABLE - 1 :])) == 1
            if best.witness.value >= self.target or (stable and best.witness.value >= expected):
                break
        return best

    def _attempts(self, count: int) -> Iterator[tuple[BallBound | None, int]]:
        """Yield for each precision the bound, if proved, and the rank that this precision sees."""
        point = dyadic_point(self.network, self.seed, range(count))
        shape = (count, self.network.parameter_count)
        pivots = Pivots((), (), 0)
        for bits in PRECISIONS:
            self.progress(f"Jacobian in balls of {bits} bits: {shape[0]} x {shape[1]}")
            prove: Callable[[Sequence[int], Sequence[int]], bool]
            if bits == PRECISIONS[0]:
                balls = ball_rows(self.network, point)
                pivots = float_pivots(balls, self.target)
                prove = partial(_proved_by_floats, balls)
                engine = "numpy (midpoints and radii)"
            else:
                matrix = arb_rows(self.network, point, bits)
                # the choice of a lower precision stays while it is as good as it can be: it is the proof that
                # lacks bits, and pivoting with more of them is slow
                if len(pivots) < self.target or bits > _TRUST:
                    pivots = fixed_point_pivots(matrix, self.target, bits)
                prove = partial(_proved_by_arb, matrix, bits)
                engine = f"arb ({bits} bits)"
            chosen = _first_proved(pivots, prove)
            witness = None if chosen is None else BallWitness(self.seed, *chosen, bits)
            yield None if witness is None else BallBound(witness, engine, shape), len(pivots)

    def _check_memory(self, rows: int) -> None:
        """Midpoints, radii and the copies that elimination and proof work on; values of one evaluation."""
        entries = 8 * rows * self.network.parameter_count + 60 * largest_matrix(self.network)
        predicted = entries * 8 / 2**30
        if not predicted <= self.max_memory:
            raise TooLargeError(
                f"balls for a {rows} x {self.network.parameter_count} Jacobian need about {predicted:.1f} "
                f"GiB, more than the limit of {self.max_memory:g} GiB: raise it with "
                "'dimension --max-memory' (max_memory=)"
            )


def _first_proved(
    pivots: Pivots, prove: Callable[[Sequence[int], Sequence[int]], bool]
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return the minor of all pivots if it can be proved, else that of those above all radii, or ``None``."""
    for count in dict.fromkeys((len(pivots), pivots.trusted)):
        rows, columns = pivots.first(count)
        if rows and prove(rows, columns):
            return rows, columns
    return None


def _proved_by_floats(balls: BallArray, rows: Sequence[int], columns: Sequence[int]) -> bool:
    chosen = np.ix_(rows, columns)
    return proved_by_floats(BallArray(balls.mid[chosen], balls.rad[chosen]))


def _proved_by_arb(
    matrix: Sequence[Sequence[Any]], bits: int, rows: Sequence[int], columns: Sequence[int]
) -> bool:
    return proved_by_arb([[matrix[i][j] for j in columns] for i in rows], bits)
