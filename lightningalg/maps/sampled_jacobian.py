"""The sampled Jacobian over GF(p): one random output functional for each random input.

Row j is the derivative of ``<Y_j, f_theta(X_j)>`` by all parameters, at the point
of the seed rule (FORMAT.md section 3). One functional per input gives full rank
with few more rows than the rank; all outputs of a few inputs do not, because for
each X the weights act only through a t x t matrix (PERFORMANCE.md section 1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lightningalg.certificates.sampling import stream_bytes
from lightningalg.engines.residue_arrays import DualArray, ResidueArray, ResidueField, TapedArray
from lightningalg.networks.network import Network

#: entries of the widest intermediate batch: bounds the working memory at about 64 MB x a few arrays
_CHUNK_ENTRIES = 2**21


class SampledJacobian:
    """Rows of the Jacobian of a network at one pseudo-random point, inputs and functionals over GF(p).

    Everything is determined by ``(network, prime, seed)``; rows are computed
    when asked for. Working memory beside the result: a few arrays of at most
    max(2^21, n) float64 numbers.

    Parameters
    ----------
    network
        Any network; n parameters.
    field
        GF(p).
    seed
        Text for the seed rule.

    Examples
    --------
    >>> import lightningalg as la
    >>> jacobian = SampledJacobian(la.lightning((2, 2), (2,)), ResidueField(8388593), "0")
    >>> jacobian.rows(range(20)).shape
    (20, 12)
    """

    def __init__(self, network: Network, field: ResidueField, seed: str):
        self.network = network
        self.field = field
        self.seed = seed
        self.point = self._stream("parameters", network.parameter_count)

    def _stream(self, label: str, count: int) -> np.ndarray:
        words = np.frombuffer(stream_bytes(self.seed, label, count), dtype=">u4")
        return self.field.from_integers(words.astype(np.int64))

    def _batch(self, kind: str, samples: Sequence[int], height: int) -> np.ndarray:
        shape = (height, self.network.tokens)
        rows = [self._stream(f"{kind}/{j}", height * self.network.tokens).reshape(shape) for j in samples]
        return np.stack(rows)

    def _matrices(self, values: np.ndarray) -> dict[tuple[str, str], np.ndarray]:
        return {
            (block.node, block.name): values[block.offset : block.offset + block.size].reshape(block.shape)
            for block in self.network.parameter_blocks
        }

    def rows(
        self, samples: Sequence[int], columns: np.ndarray | None = None, dtype: type = np.float32
    ) -> np.ndarray:
        """Return the rows of the given samples by reverse differentiation, as centred residues.

        Parameters
        ----------
        samples
            Numbers of the samples.
        columns
            Increasing parameter numbers to keep; all if ``None``.
        dtype
            float32 holds every centred residue exactly, p being below 2^23.
        """
        width = self.network.parameter_count if columns is None else len(columns)
        result = np.empty((len(samples), width), dtype=dtype)
        for start, part in self._chunks(samples):
            self._fill(result[start : start + len(part)], part, columns)
        return result

    def _chunks(self, samples: Sequence[int]) -> Iterator[tuple[int, Sequence[int]]]:
        largest = max(block.size for block in self.network.parameter_blocks)
        tokens = self.network.tokens
        activations = tokens * max(tokens, *self.network.widths.values())  # t x t: the scores
        step = max(1, _CHUNK_ENTRIES // max(largest, activations))
        for start in range(0, len(samples), step):
            yield start, samples[start : start + step]

    def _fill(self, target: np.ndarray, samples: Sequence[int], columns: np.ndarray | None) -> None:
        leaves = {key: TapedArray(self.field, m) for key, m in self._matrices(self.point).items()}
        X = TapedArray.constant(self.field, self._batch("input", samples, self.network.width))
        output = self.network.forward(leaves, X)
        functionals = self._batch("functional", samples, self.network.output_width)
        gradients = output.gradients(functionals, list(leaves.values()))
        for block, gradient in zip(self.network.parameter_blocks, gradients, strict=True):
            own = slice(block.offset, block.offset + block.size)
            chosen: np.ndarray | slice = slice(None)
            if columns is not None:
                first, last = np.searchsorted(columns, [own.start, own.stop])
                own, chosen = slice(first, last), columns[first:last] - block.offset
            if gradient is None:
                target[:, own] = 0
            elif own.stop > own.start:
                target[:, own] = gradient.reshape(len(samples), block.size)[:, chosen]

    def rows_forward(self, samples: Sequence[int]) -> np.ndarray:
        """Return the same rows by forward differentiation, one parameter at a time.

        n evaluations instead of one: the independent check of ``rows``.
        """
        inputs = DualArray(ResidueArray(self.field, self._batch("input", samples, self.network.width)))
        functionals = self._batch("functional", samples, self.network.output_width)
        point = self._matrices(self.point)
        result = np.zeros((len(samples), self.network.parameter_count), dtype=np.float32)
        for column in range(self.network.parameter_count):
            direction = np.zeros(self.network.parameter_count)
            direction[column] = 1.0
            tangents = self._matrices(direction)
            duals = {
                key: DualArray(ResidueArray(self.field, point[key]), ResidueArray(self.field, tangents[key]))
                for key in point
            }
            tangent = self.network.forward(duals, inputs).tangent
            if tangent is not None:
                flat = np.broadcast_to(tangent.values, functionals.shape).reshape(len(samples), 1, -1)
                pairing = self.field.matmul(flat, functionals.reshape(len(samples), -1, 1))
                result[:, column] = pairing[:, 0, 0]
        return result
