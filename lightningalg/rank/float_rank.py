"""What floating point says of a rank: numpy's ``matrix_rank``, the largest of five trials. It proves nothing.

This is the customary numerical procedure (the largest rank over five random points with standard normal
weights), reproduced to be compared with certified dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lightningalg.errors import TooLargeError
from lightningalg.maps.real_jacobian import RealPoint, float_rows
from lightningalg.networks.network import Network

TRIALS = 5
#: rows of the Jacobian for each parameter
_ROWS = 2
_MOST_ENTRIES = 4_000_000

#: how weights are drawn: ``standard`` normal, or divided by the root of the number of columns
WEIGHTS = ("standard", "scaled")


@dataclass(frozen=True, slots=True)
class FloatTrials:
    """Ranks by ``numpy.linalg.matrix_rank`` with its default tolerance, one for each trial: ``numerical``.

    ``None``: no answer, as numbers overflow or the singular values do not converge.
    """

    ranks: tuple[int | None, ...]

    @property
    def maximum(self) -> int:
        """The largest rank of all trials: what the procedure reports; 0 if there is none."""
        return max((rank for rank in self.ranks if rank is not None), default=0)

    def wrong(self, value: int) -> int:
        """Return how many trials do not give this value."""
        return sum(rank != value for rank in self.ranks)

    def __str__(self) -> str:
        return ", ".join("none" if rank is None else str(rank) for rank in self.ranks)


def float_trials(network: Network, weights: str = "standard") -> FloatTrials:
    """Return numpy's ranks of the Jacobian in float64 at five pseudo-random points.

    Two rows for each parameter: the derivative of one standard normal functional of the output at one
    standard normal input, by reverse differentiation, exact but for rounding. (All outputs at few inputs
    would be structurally deficient; one functional for each input never was, with ten rows above the rank.)
    Trial k uses ``numpy.random.default_rng(k)``: the same numbers everywhere, but the last digits, and so a
    rank near the tolerance, may depend on numpy's libraries.

    Parameters
    ----------
    network
        Any network of layers that can be evaluated in floating point.
    weights
        ``standard`` or ``scaled``.

    Raises
    ------
    TooLargeError
        If a Jacobian would have more than 4,000,000 entries.

    Examples
    --------
    >>> import lightningalg as la
    >>> str(float_trials(la.lightning((2, 2), (1,))))  # the dimension is 6
    '6, 6, 6, 6, 6'
    """
    rows = _ROWS * network.parameter_count
    if rows * network.parameter_count > _MOST_ENTRIES:
        raise TooLargeError(
            f"a Jacobian of {rows} x {network.parameter_count}: singular values of at most {_MOST_ENTRIES:,} "
            f"entries are computed"
        )
    return FloatTrials(tuple(_rank(_jacobian(network, seed, rows, weights)) for seed in range(TRIALS)))


def _jacobian(network: Network, seed: int, rows: int, weights: str) -> np.ndarray:
    rng = np.random.default_rng(seed)
    parameters = rng.standard_normal(network.parameter_count)
    if weights == "scaled":
        for block in network.parameter_blocks:
            parameters[block.offset : block.offset + block.size] /= np.sqrt(block.shape[1])
    inputs = rng.standard_normal((rows, network.width, network.tokens))
    functionals = rng.standard_normal((rows, network.output_width, network.tokens))
    return float_rows(network, RealPoint(parameters, inputs, functionals))


def _rank(matrix: np.ndarray) -> int | None:
    if not np.isfinite(matrix).all():
        return None
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return int(np.linalg.matrix_rank(matrix))
    except np.linalg.LinAlgError:
        return None
