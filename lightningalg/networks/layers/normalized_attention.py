"""One head of normalised (softmax) self-attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from lightningalg.networks.base import AbstractLayer


@dataclass(frozen=True, slots=True)
class NormalizedAttention(AbstractLayer):
    """The map ``X -> V X softmax(X^T A X)`` with ``A = K^T Q``: each column of the scores is normalised.

    ``Q, K`` are ``rank x d_in``, ``V`` is ``d_out x d_in``, ``X`` is ``d_in x t``. Not a polynomial map:
    it can be evaluated where exponentials can (floats, balls, formal exponentials). On one token the
    softmax is 1 and the value is ``V X`` (MATH.md section 5; Henry, Marchetti, Kohn, ICLR 2025).

    Examples
    --------
    >>> from lightningalg.networks.matrix import Matrix
    >>> layer = NormalizedAttention(d_in=1, d_out=1, rank=1)
    >>> zero, one = Matrix([[0.0]]), Matrix([[1.0]])
    >>> layer.forward({"Q": zero, "K": zero, "V": one}, Matrix([[2.0, 4.0]]))
    Matrix([[3.0, 3.0]])
    """

    d_in: int
    d_out: int
    rank: int

    type_name: ClassVar[str] = "normalized_attention"

    def parameter_shapes(self) -> dict[str, tuple[int, int]]:
        return {
            "Q": (self.rank, self.d_in),
            "K": (self.rank, self.d_in),
            "V": (self.d_out, self.d_in),
        }

    def input_width(self) -> int:
        return self.d_in

    def output_width(self, input_width: int) -> int:
        return self.d_out

    def forward(self, parameters: Mapping[str, Any], *inputs: Any) -> Any:
        (X,) = inputs
        scores = (parameters["K"] @ X).T @ (parameters["Q"] @ X)  # X^T A X, t x t: keys x queries
        return parameters["V"] @ (X @ scores.softmax_columns())
