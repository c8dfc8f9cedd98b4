"""The fibre at a point by its ideal: where no theorem applies, or to compare with one."""

from __future__ import annotations

from lightningalg.certificates import Certificate
from lightningalg.claims.fibre_ideal import fibre_ideal
from lightningalg.errors import UnsupportedError
from lightningalg.fibres.points import VirtualPoint, WeightsPoint
from lightningalg.fibres.tensors import ConjugatePair
from lightningalg.ideals.chain_ideals import chain_fibre
from lightningalg.ideals.fibre_ideals import layer_fibre


def fibre_by_ideals(point: VirtualPoint | WeightsPoint | ConjugatePair, engine: str = "auto") -> Certificate:
    """Return the certificate of the ideal of the fibre in virtual weights, ranks bounded by minors.

    Raises
    ------
    EngineError, UnsupportedError
        If no engine answers, or hidden widths bound the flags of row spaces, which minors do not say.

    References
    ----------
    FORMAT.md section 15.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from lightningalg.fibres.points import virtual_from_tables
    >>> one = Fraction(1)
    >>> fibre_by_ideals(virtual_from_tables((1, 1), None, 2, [[[one]]], [[one]])).claim["degree"]
    2
    """
    if isinstance(point, ConjugatePair):
        raise UnsupportedError("by ideals: give weights or virtual weights")
    virtual = point.virtual() if isinstance(point, WeightsPoint) else point
    arch = virtual.architecture
    if min(arch.caps) < arch.widths[0]:
        raise UnsupportedError("by ideals: hidden widths must be at least the input width")
    if arch.depth == 1 and arch.ranks[0] >= arch.widths[0]:
        return fibre_ideal(layer_fibre(virtual.M[0], virtual.L, tokens=arch.tokens), engine)
    ranks = None if min(arch.ranks) >= arch.widths[0] else list(arch.ambient_ranks())
    return fibre_ideal(chain_fibre(virtual.M, virtual.L, tokens=arch.tokens, ranks=ranks), engine)
