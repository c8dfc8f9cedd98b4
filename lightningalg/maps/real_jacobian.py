"""The sampled Jacobian over the reals: floats, balls in numpy, or balls of any precision.

Row j is the derivative of ``<Y_j, f_theta(X_j)>`` by all parameters at the point of the dyadic seed rule
(FORMAT.md section 4.1b). All its numbers are exact in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lightningalg.certificates.sampling import dyadic_shift, stream_dyadics
from lightningalg.engines.arb_arrays import ArbArray, precision
from lightningalg.engines.ball_arrays import BallArray
from lightningalg.engines.float_arrays import FloatArray
from lightningalg.engines.real_tape import AbstractReal, TapedReal
from lightningalg.maps.grading import largest_matrix
from lightningalg.networks.network import Network

_CHUNK_ENTRIES = 2**17


@dataclass(frozen=True, slots=True)
class RealPoint:
    """A parameter point with samples: exact numbers, as float64 arrays.

    Attributes
    ----------
    parameters
        All n parameters, in order.
    inputs, functionals
        One matrix for each sample: (N, d, t) and (N, d_out, t).
    """

    parameters: np.ndarray
    inputs: np.ndarray
    functionals: np.ndarray


def dyadic_point(network: Network, seed: str, samples: Sequence[int]) -> RealPoint:
    """Return the point of the dyadic seed rule with these samples.

    Entries of a parameter matrix with c columns lie in (-1, 1) / 2^s, s = ``dyadic_shift(c)``, those of
    inputs in (-2, 2), those of functionals in (-1, 1): so that exponents are neither large nor all alike,
    where rounding errors grow or Jacobians are ill-conditioned.

    Examples
    --------
    >>> import lightningalg as la
    >>> point = dyadic_point(la.lightning((2, 3), (1,)), "0", range(4))
    >>> point.parameters.shape, point.inputs.shape, point.functionals.shape
    ((10,), (4, 2, 2), (4, 3, 2))
    """
    parameters = np.array(stream_dyadics(seed, "parameters", network.parameter_count), dtype=np.float64)
    for block in network.parameter_blocks:
        parameters[block.offset : block.offset + block.size] *= 2.0 ** -(16 + dyadic_shift(block.shape[1]))

    def batch(label: str, height: int, scale: float) -> np.ndarray:
        count = height * network.tokens
        values = [stream_dyadics(seed, f"{label}/{j}", count) for j in samples]
        return np.array(values, dtype=np.float64).reshape(-1, height, network.tokens) * scale

    inputs = batch("input", network.width, 2.0**-15)
    return RealPoint(parameters, inputs, batch("functional", network.output_width, 2.0**-16))


def _gradients(
    network: Network, point: RealPoint, convert: Callable[[np.ndarray], AbstractReal]
) -> list[tuple[slice, Any]]:
    """Return the columns of each parameter matrix and its derivatives, ``None`` for zero."""
    leaves = {}
    for block in network.parameter_blocks:
        values = point.parameters[block.offset : block.offset + block.size].reshape(block.shape)
        leaves[block.node, block.name] = TapedReal(convert(values))
    output = network.forward(leaves, TapedReal(convert(point.inputs), None))
    wanted = [leaves[block.node, block.name] for block in network.parameter_blocks]
    if output.sources is None:
        return []
    found = output.gradients(convert(point.functionals), wanted)
    places = [slice(block.offset, block.offset + block.size) for block in network.parameter_blocks]
    return list(zip(places, found, strict=True))


def float_rows(network: Network, point: RealPoint) -> np.ndarray:
    """Return the sampled Jacobian in plain floating point: one row for each sample. It proves nothing."""
    result = np.zeros((len(point.inputs), network.parameter_count))
    with np.errstate(over="ignore", invalid="ignore"):
        for place, gradient in _gradients(network, point, FloatArray):
            if gradient is not None:
                result[:, place] = gradient.values.reshape(len(result), -1)
    return result


def ball_rows(network: Network, point: RealPoint) -> BallArray:
    """Return balls that contain the sampled Jacobian: numpy's float64 with all rounding errors.

    Examples
    --------
    >>> import lightningalg as la
    >>> net = la.lightning((2, 2), (1,))
    >>> balls = ball_rows(net, dyadic_point(net, "0", range(3)))
    >>> balls.mid.shape, bool(balls.rad.max() < 1e-14)
    ((3, 8), True)
    """
    count = len(point.inputs)
    mid = np.zeros((count, network.parameter_count))
    rad = np.zeros_like(mid)
    step = max(1, _CHUNK_ENTRIES // largest_matrix(network))
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, count, step):
            part = slice(start, start + step)
            chunk = RealPoint(point.parameters, point.inputs[part], point.functionals[part])
            for place, gradient in _gradients(network, chunk, BallArray):
                if gradient is not None:
                    mid[part, place] = gradient.mid.reshape(len(chunk.inputs), -1)
                    rad[part, place] = gradient.rad.reshape(len(chunk.inputs), -1)
    return BallArray(mid, rad)


def arb_rows(network: Network, point: RealPoint, bits: int) -> list[list[Any]]:
    """Return the same balls as ``flint.arb`` with this many bits: one list for each sample."""
    rows = []
    with precision(bits):
        zero = ArbArray.from_dyadic(np.zeros((1, 1))).matrices[0][0, 0]
        for sample in range(len(point.inputs)):
            part = slice(sample, sample + 1)
            chunk = RealPoint(point.parameters, point.inputs[part], point.functionals[part])
            row: list[Any] = [zero] * network.parameter_count
            for place, gradient in _gradients(network, chunk, ArbArray.from_dyadic):
                if gradient is not None:
                    row[place] = gradient.matrices[0].entries()
            rows.append(row)
    return rows
