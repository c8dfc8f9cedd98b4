"""The sampled Jacobian over GF(p): one random output functional for each random input.

Row j is the derivative of ``<Y_j, f_theta(X_j)>`` by all parameters, at the point
of the seed rule (FORMAT.md section 3). One functional per input gives full rank
with few more rows than the rank; all outputs of a few inputs do not, because for
each X the weights act only through a t x t matrix (PERFORMANCE.md section 1).
Exponentials of normalised attention are residues of the seed rule as well, differentiated by ``dE = E dz``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lightningalg.certificates.sampling import stream_bytes
from lightningalg.engines.residue_arrays import (
    DualArray,
    FormalField,
    ResidueArray,
    ResidueField,
    TapedArray,
)
from lightningalg.maps.exponents import exponents
from lightningalg.maps.grading import largest_matrix
from lightningalg.networks.network import Network, ParameterBlock

#: entries of the widest intermediate batch: 1 MB of float64 stays in the cache, three times faster than 16 MB
_CHUNK_ENTRIES = 2**17


class SampledJacobian:
    """Rows of the Jacobian of a network at one pseudo-random point, inputs and functionals over GF(p).

    Everything is determined by ``(network, prime, seed)``; rows are computed
    when asked for. Working memory beside the result: a few arrays of at most
    max(2^17, ``largest``) float64 numbers, ``largest`` being the entries of the
    largest matrix of one evaluation.

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
        self.exponents = exponents(network)
        self.field: ResidueField = FormalField(field.prime) if len(self.exponents) else field
        self.seed = seed
        self.largest = largest_matrix(network)
        self.point = self._streams(["parameters"], network.parameter_count)[0]

    def _streams(self, labels: Sequence[str], count: int) -> np.ndarray:
        """Return the first ``count`` residues of each stream, one row for each label."""
        data = b"".join(stream_bytes(self.seed, label, count) for label in labels)
        words = np.frombuffer(data, dtype=">u4").astype(np.int64)
        return self.field.from_integers(words).reshape(len(labels), count)

    def _batch(self, kind: str, samples: Sequence[int], height: int) -> np.ndarray:
        values = self._streams([f"{kind}/{j}" for j in samples], height * self.network.tokens)
        return values.reshape(len(samples), height, self.network.tokens)

    def _begin(self, samples: Sequence[int]) -> None:
        """Announce an evaluation at these samples: their residues stand for the exponentials."""
        if isinstance(self.field, FormalField):
            values = self._streams([f"exponential/{j}" for j in samples], len(self.exponents))
            self.field.begin([values[:, numbers] for numbers in self.exponents.numbers])

    def _irregular(self) -> np.ndarray:
        """Return the numbers, within the last evaluation, of the samples where a denominator vanished."""
        regular = self.field.regular if isinstance(self.field, FormalField) else True
        return np.flatnonzero(~np.atleast_1d(regular))

    def _matrices(self, values: np.ndarray) -> dict[tuple[str, str], np.ndarray]:
        return {
            (block.node, block.name): values[block.offset : block.offset + block.size].reshape(block.shape)
            for block in self.network.parameter_blocks
        }

    def rows(
        self, samples: Sequence[int], columns: np.ndarray | None = None, dtype: type = np.float32
    ) -> np.ndarray:
        """Return the rows of the given samples by reverse differentiation, as centred residues.

        A row is 0 where a denominator of a softmax vanishes modulo p.

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
        result: np.ndarray = np.empty((len(samples), width), dtype=dtype)
        for start, part in self._chunks(samples):
            self._fill(result[start : start + len(part)], part, columns)
        return result

    def _chunks(self, samples: Sequence[int]) -> Iterator[tuple[int, Sequence[int]]]:
        step = max(1, _CHUNK_ENTRIES // self.largest)
        for start in range(0, len(samples), step):
            yield start, samples[start : start + step]

    def _fill(self, target: np.ndarray, samples: Sequence[int], columns: np.ndarray | None) -> None:
        """Write the rows of ``samples``; parameters without a wanted column count as constants."""
        leaves: dict[tuple[str, str], TapedArray] = {}
        wanted: list[tuple[TapedArray, slice, np.ndarray | slice]] = []
        matrices = self._matrices(self.point)
        for block in self.network.parameter_blocks:
            place, chosen = _wanted_columns(block, columns)
            leaf = TapedArray(
                self.field, matrices[block.node, block.name], () if place.stop > place.start else None
            )
            leaves[block.node, block.name] = leaf
            if leaf.sources is not None:
                wanted.append((leaf, place, chosen))
        X = TapedArray.constant(self.field, self._batch("input", samples, self.network.width))
        self._begin(samples)
        output = self.network.forward(leaves, X)
        functionals = self._batch("functional", samples, self.network.output_width)
        gradients = output.gradients(functionals, [leaf for leaf, _, _ in wanted])
        for (_, place, chosen), gradient in zip(wanted, gradients, strict=True):
            target[:, place] = 0 if gradient is None else gradient.reshape(len(samples), -1)[:, chosen]
        target[self._irregular()] = 0

    def exponent_rows(self, samples: Sequence[int], points: int) -> np.ndarray:
        """Return for each sample j the inputs and exponents, less those of sample ``j mod points``.

        Sample j is taken at the parameter point number ``j mod points``: number 0 is that of ``rows``, number
        q the stream ``parameters/<q>``. Full column rank proves that the exponents are linearly independent
        modulo the inputs and functions of the parameters (FORMAT.md section 4.1). Rows where a denominator
        vanishes are 0.

        Parameters
        ----------
        samples
            Their numbers.
        """
        place = {sample: number for number, sample in enumerate(samples)}
        result: np.ndarray = np.zeros((len(samples), self._exponent_columns), dtype=np.float32)
        for q in range(points):
            point = self.point if q == 0 else self._streams([f"parameters/{q}"], len(self.point))[0]
            own = [sample for sample in samples if sample % points == q]
            base, regular = self._exponent_values(point, [q])
            for _, part in self._chunks(own if regular.all() else []):
                values, regular = self._exponent_values(point, part)
                numbers = [place[sample] for sample in part]
                result[numbers] = np.where(regular[:, None], self.field.reduce(values - base), 0)
        return result

    @property
    def _exponent_columns(self) -> int:
        return self.network.width * self.network.tokens + len(self.exponents)

    def _exponent_values(self, theta: np.ndarray, samples: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return the entries of X and the exponents, a row for each sample, and which of them are regular."""
        field = self.field
        assert isinstance(field, FormalField)
        X = self._batch("input", samples, self.network.width)
        matrices = {key: ResidueArray(field, values) for key, values in self._matrices(theta).items()}
        self._begin(samples)
        self.network.forward(matrices, ResidueArray(field, X))
        scores = [
            np.broadcast_to(field.scores[head], (len(samples), *field.scores[head].shape[-2:]))[:, s, m]
            for head, s, m in self.exponents.places
        ]
        return np.concatenate([X.reshape(len(samples), -1), np.stack(scores, axis=1)], axis=1), field.regular

    def rows_forward(self, samples: Sequence[int]) -> np.ndarray:
        """Return the same rows by forward differentiation, one parameter at a time.

        n evaluations instead of one: the independent check of ``rows``.

        Parameters
        ----------
        samples
            Their numbers.
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
            self._begin(samples)
            tangent = self.network.forward(duals, inputs).tangent
            if tangent is not None:
                flat = np.broadcast_to(tangent.values, functionals.shape).reshape(len(samples), 1, -1)
                pairing = self.field.matmul(flat, functionals.reshape(len(samples), -1, 1))
                result[:, column] = pairing[:, 0, 0]
            result[self._irregular(), column] = 0
        return result


def _wanted_columns(block: ParameterBlock, columns: np.ndarray | None) -> tuple[slice, np.ndarray | slice]:
    """Return where a block's wanted columns stand in the result, and which of its entries they are."""
    if columns is None:
        return slice(block.offset, block.offset + block.size), slice(None)
    first, last = np.searchsorted(columns, [block.offset, block.offset + block.size])
    return slice(int(first), int(last)), columns[first:last] - block.offset
