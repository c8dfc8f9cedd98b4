"""Networks for people to import: the standard families as DAGs of layers.

Every builder returns a ``Network``; ``.polynomial_map()`` gives the exact
polynomial map over QQ.
"""

from lightningalg.builders.attention import lightning, multi_head, normalized, transformer
from lightningalg.builders.polynomial import convolutional, deep_linear, monomial, monomial_with_biases
from lightningalg.builders.tying import tie

__all__ = [
    "convolutional",
    "deep_linear",
    "lightning",
    "monomial",
    "monomial_with_biases",
    "multi_head",
    "normalized",
    "tie",
    "transformer",
]
