"""Weights from values: the certificate that nothing else gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any, ClassVar

from lightningalg.certificates import Certificate
from lightningalg.certificates.polynomials import encode_matrix
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.fibre import Fibre, fibre
from lightningalg.claims.provenance import provenance
from lightningalg.errors import InputError
from lightningalg.fibres.blackbox import BlackBox
from lightningalg.fibres.exact import Rows
from lightningalg.fibres.gauge import canonical_weights
from lightningalg.fibres.inputs import certified_inputs
from lightningalg.fibres.points import (
    Architecture,
    VirtualPoint,
    WeightsPoint,
    generated_point,
    virtual_from_tables,
)
from lightningalg.fibres.recovery import Recovered, recover_virtual, value_at
from lightningalg.networks.base import positive_size, sizes
from lightningalg.networks.network import Network


@dataclass(frozen=True, slots=True)
class Recovery:
    """Weights with the values of a function, and what else has these values.

    Attributes
    ----------
    M, L
        Virtual weights: ``f(X) = L P_l``, ``P_i = P_{i-1} P_{i-1}^T M_i P_{i-1}``, ``P_0 = X``. Every
        ``M_i`` has first non-zero entry 1.
    weights
        One ``(Q, K, V)`` in the canonical gauge, if widths and ranks were given.
    determined
        Whether the values asked for determine ``(M, L)`` up to scaling among all networks of this depth.
    fibre
        All weights with the same function.
    certificate
        Of kind ``recovery``.
    inputs
        The number of values asked for.

    Examples
    --------
    >>> found = recover(lambda X: value_at(([[2]],), [[3]], X), layers=1, width=1)
    >>> found.determined, found.M, found.L
    (True, ([[Fraction(1, 1)]],), [[Fraction(6, 1)]])
    """

    M: tuple[Rows, ...]
    L: Rows
    weights: WeightsPoint | None
    determined: bool
    fibre: Fibre
    certificate: Certificate
    inputs: int

    def __repr__(self) -> str:
        how = "determined up to scaling" if self.determined else "not determined"
        return f"<Recovery of {len(self.M)} layers from {self.inputs} values, {how}>"

    def _repr_html_(self) -> str:
        from lightningalg.display import html_table

        entries = [(f"M_{i}", _shown(matrix)) for i, matrix in enumerate(self.M, start=1)]
        rows = [
            (
                "determined",
                "yes, up to scaling" if self.determined else "no: these reproduce the values, others may too",
            ),
            ("values asked for", self.inputs),
            *entries,
            ("L", _shown(self.L)),
        ]
        note = f"{'; '.join(self.fibre.sentences)}. Certificate {self.certificate.sha256[:12]}."
        return html_table("Recovered weights", ("of them", "found"), rows, note)

    def _repr_latex_(self) -> str | None:
        """Return the virtual weights, or ``None`` where they are too large to be read."""
        from lightningalg.display import matrix_latex

        found = [matrix_latex(matrix) for matrix in (*self.M, self.L)]
        names = [*(f"M_{{{i}}}" for i in range(1, len(self.M) + 1)), "L"]
        if None in found:
            return None
        return f"${', '.join(f'{name} = {text}' for name, text in zip(names, found, strict=True))}$"


def _shown(matrix: Rows) -> str:
    """Return a matrix on one line, rows separated by semicolons, or its size."""
    if len(matrix) * len(matrix[0]) > 16:
        return f"{len(matrix)} x {len(matrix[0])}"
    return "; ".join(" ".join(map(str, row)) for row in matrix)


def recover(
    function: Callable[[Rows], Any],
    *,
    layers: int,
    width: int,
    tokens: int = 2,
    widths: Sequence[int] | None = None,
    ranks: Sequence[int] | None = None,
) -> Recovery:
    """Return the weights of a lightning network that is known only by its exact values.

    Parameters
    ----------
    function
        Takes a ``width x tokens`` matrix, a list of rows of ``Fraction``; returns the value's rows
        (integers, fractions).
    layers, width, tokens
        l, d_0, t.
    widths, ranks
        All widths ``d_0, ..., d_l`` and ranks: then one ``(Q, K, V)`` is returned as well.

    Raises
    ------
    NotANetworkError
        If it is not such a network: with the first identity that fails.
    InputError
        For values that are no rationals, or sizes that do not fit.
    UnsupportedError
        If weights of the given ranks exist over an extension of QQ only.

    References
    ----------
    MATH.md section 4; FORMAT.md section 17 says which inputs are asked for.

    Examples
    --------
    >>> def f(X):  # V X X^T A X with V = (1 1), A = (1 2; 3 5)
    ...     return value_at(([[1, 2], [3, 5]],), [[1, 1]], X)
    >>> found = recover(f, layers=1, width=2)
    >>> found.determined, found.fibre.sentences[0]
    (True, 'identifiable up to scaling')
    """
    if not callable(function):
        raise InputError(f"a {type(function).__name__} is no function: accepted is a callable on matrices")
    layers, width = positive_size(layers, "layers"), positive_size(width, "width")
    tokens = positive_size(tokens, "tokens")
    if (widths is None) != (ranks is None):
        raise InputError("widths and ranks belong together: give both or neither")
    if widths is not None and ranks is not None:
        widths, ranks = sizes(widths, "widths"), sizes(ranks, "ranks")
    found = recover_virtual(function, width=width, tokens=tokens, layers=layers)
    weights = None
    if widths is not None and ranks is not None:
        weights = canonical_weights(found.M, found.L, widths=widths, ranks=ranks, tokens=tokens)
    height = len(found.L)
    point: VirtualPoint | WeightsPoint = weights or virtual_from_tables(
        (width,) * layers + (height,), None, tokens, found.M, found.L
    )
    certificate = _certificate(found, width, height, tokens)
    return Recovery(
        found.M, found.L, weights, found.method == "peeled", fibre(point), certificate, len(found.box.known)
    )


def _certificate(found: Recovered, width: int, height: int, tokens: int) -> Certificate:
    """Return the certificate: a digest of the values at inputs by rule, and weights that have these
    values."""
    vectors = found.vectors
    inputs = certified_inputs(vectors, width, tokens, len(found.M))
    digest = values_digest(found.box, inputs)
    subject = {
        "width": width,
        "height": height,
        "tokens": tokens,
        "layers": len(found.M),
        "vectors": list(vectors),
        "values_sha256": digest,
    }
    claim = {
        "quantity": "recovery",
        "relation": "determined" if found.method == "peeled" else "reproduced",
        "M": [encode_matrix(matrix) for matrix in found.M],
        "L": encode_matrix(found.L),
    }
    return Certificate("recovery", {"recovery": subject}, claim, {}, provenance())


def values_digest(box: BlackBox, inputs: Sequence[Sequence[Sequence[Fraction]]]) -> str:
    """Return the SHA-256 of all values as FORMAT.md section 17 spells them: ``p/q`` in hexadecimal, joined
    by commas.

    Parameters
    ----------
    box
        The function.
    inputs
        Their first columns.

    Examples
    --------
    >>> values_digest(BlackBox(lambda X: X, 1, 1), [[[Fraction(1, 2)]]]) == sha256(b"1/2").hexdigest()
    True
    """
    digest = sha256()
    for number, columns in enumerate(inputs):
        entries = [f"{v.numerator:x}/{v.denominator:x}" for row in box(columns) for v in row]
        digest.update((("," if number else "") + ",".join(entries)).encode("ascii"))
    return digest.hexdigest()


def network_function(point: WeightsPoint) -> Callable[[Rows], Rows]:
    """Return the function of a network's weights as a callable on rational matrices.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.fibres.points import generated_point
    >>> f = network_function(generated_point(la.lightning((1, 1), (1,)), "0"))
    >>> len(f([[Fraction(1), Fraction(2)]]))
    1
    """
    virtual = point.virtual()
    return lambda X: value_at(virtual.M, virtual.L, X)


class RecoveryClaim(AbstractClaim):
    """Weights that the seed generates are recovered from values of their function alone."""

    kind = "recovery"
    certificate_kind = "recovery"
    expected_quantity = "determined"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "determined": "1 if the values determine the weights up to scaling, 0 if weights only have these "
        "values",
    }

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        arch = Architecture.of(subject)
        function = network_function(generated_point(subject, seed))
        found = recover(function, layers=arch.depth, width=arch.widths[0], tokens=arch.tokens)
        return found.certificate

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        return {"determined": int(certificate["claim"]["relation"] == "determined")}
