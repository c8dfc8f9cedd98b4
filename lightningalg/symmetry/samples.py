"""Samples of a network modulo a prime: points with gradients of random functionals of the output."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lightningalg.certificates.sampling import stream_bytes
from lightningalg.engines.residue_arrays import ResidueField, TapedArray
from lightningalg.maps.grading import largest_matrix
from lightningalg.networks.network import Network

_CHUNK_ENTRIES = 2**17


@dataclass(frozen=True, slots=True)
class Samples:
    """N points modulo p, each with the gradient of one random functional of the output at one random
    input."""

    prime: int
    points: np.ndarray
    gradients: np.ndarray


def sample(network: Network, prime: int, seed: str, label: str, count: int) -> Samples:
    """Return samples at pairwise different points; everything is decided by the arguments.

    Examples
    --------
    >>> import lightningalg as la
    >>> sample(la.lightning((2, 2), (2,)), 8388593, "0", "symmetry", 5).gradients.shape
    (5, 12)
    """
    field = ResidueField(prime)
    n, tokens = network.parameter_count, network.tokens
    shapes = {
        "parameters": (n,),
        "input": (network.width, tokens),
        "functional": (network.output_width, tokens),
    }
    drawn = {
        kind: residues(field, seed, f"{label}/{kind}", (count, *shape)) for kind, shape in shapes.items()
    }
    step = max(1, _CHUNK_ENTRIES // max(n, largest_matrix(network)))
    parts = [
        _gradients(network, field, {kind: values[start : start + step] for kind, values in drawn.items()})
        for start in range(0, count, step)
    ]
    gradients = np.concatenate(parts)
    return Samples(prime, field.to_integers(drawn["parameters"]), field.to_integers(gradients))


def residues(field: ResidueField, seed: str, label: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return the stream of a label as residues of that shape."""
    words = np.frombuffer(stream_bytes(seed, label, int(np.prod(shape))), dtype=">u4")
    return field.from_integers(words.astype(np.int64)).reshape(shape)


def _gradients(network: Network, field: ResidueField, drawn: dict[str, np.ndarray]) -> np.ndarray:
    points = drawn["parameters"]
    leaves = {
        (b.node, b.name): TapedArray(
            field, points[:, b.offset : b.offset + b.size].reshape(len(points), *b.shape)
        )
        for b in network.parameter_blocks
    }
    output = network.forward(leaves, TapedArray.constant(field, drawn["input"]))
    found = output.gradients(drawn["functional"], list(leaves.values()))
    result = np.zeros(points.shape)
    for block, gradient in zip(network.parameter_blocks, found, strict=True):
        if gradient is not None:
            result[:, block.offset : block.offset + block.size] = gradient.reshape(len(points), -1)
    return result
