"""One head of lightning self-attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from lightningalg.networks.base import AbstractLayer


@dataclass(frozen=True, slots=True)
class LightningAttention(AbstractLayer):
    """The map ``X -> V X X^T A X`` with ``A = K^T Q``: attention without normalisation.

    ``Q, K`` are ``rank x d_in``, ``V`` is ``d_out x d_in``, ``X`` is
    ``d_in x t``. Trilinear in ``(Q, K, V)``, homogeneous cubic in ``X``
    (MATH.md section 1; Henry, Marchetti, Kohn, ICLR 2025).

    Examples
    --------
    >>> from lightningalg.networks.matrix import Matrix
    >>> layer = LightningAttention(d_in=1, d_out=1, rank=1)
    >>> one = Matrix([[1]])
    >>> layer.forward({"Q": one, "K": one, "V": one}, Matrix([[2, 3]]))
    Matrix([[26, 39]])
    """

    d_in: int
    d_out: int
    rank: int

    type_name: ClassVar[str] = "lightning_attention"

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
        scores = (parameters["K"] @ X).T @ (parameters["Q"] @ X)  # X^T A X, t x t
        return parameters["V"] @ (X @ scores)
