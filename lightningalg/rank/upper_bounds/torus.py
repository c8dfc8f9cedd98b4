"""Rescaling between linear layers, convolutions and activations: a torus acts on the fibres."""

from __future__ import annotations

from dataclasses import dataclass

from lightningalg.certificates import UpperBound
from lightningalg.networks.layers.bias import Bias
from lightningalg.networks.layers.convolution import Convolution
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.network import Network, Node


@dataclass(frozen=True, slots=True)
class Scaling:
    """A free layer: the value of ``layer`` can be rescaled in ``count`` ways.

    ``source`` is the linear layer or convolution whose matrix takes the rescaling.
    """

    layer: str
    source: str
    count: int


def bound(network: Network) -> UpperBound | None:
    """Return ``n`` minus the number of rescalings at free layers; ``None`` if there are none.

    ``s(D y) = D^r s(y)`` for diagonal D: ``W -> D W`` before and ``W' -> W' D^-r`` after the activation leave
    the map unchanged, and where no row of W vanishes only D = 1 fixes it. A convolution scales its channels
    only, and one that reads the value all rows alike (FORMAT.md section 4.2).

    Examples
    --------
    >>> import lightningalg as la
    >>> bound(la.convolutional(8, (3, 2), degree=2)).value
    4
    """
    free = scalings(network)
    if not free:
        return None
    activations = [{"layer": scaling.layer, "width": scaling.count} for scaling in free]
    torus = sum(scaling.count for scaling in free)
    return UpperBound(network.parameter_count - torus, "torus", {"activations": activations})


def scalings(network: Network) -> list[Scaling]:
    """Return the rescalings at free layers, in layer order."""
    found = {}
    for node in network.nodes:
        scaling = _scaling(network, node)
        if scaling is not None:
            found[scaling.layer] = scaling
    return [found[node.id] for node in network.nodes if node.id in found]


def _scaling(network: Network, source: Node) -> Scaling | None:
    """Return the rescaling that starts at the rows of ``source``, if it is possible."""
    if not _has_own_matrix(network, source):
        return None
    last = source
    for kind in (Bias, MonomialActivation):
        readers = network.consumers[last.id]
        following = network.by_id[readers[0]] if len(readers) == 1 else None
        if following is not None and isinstance(following.layer, kind):
            last = following
            if last.id in network.sharing:
                return None
    readers_ = [network.by_id[name] for name in network.consumers[last.id]]
    if not readers_ or not all(_has_own_matrix(network, reader) for reader in readers_):
        return None
    slides = any(isinstance(reader.layer, Convolution) for reader in readers_)
    channels = source.layer.channels if isinstance(source.layer, Convolution) else None
    if not isinstance(last.layer, MonomialActivation) and not slides and channels is None:
        return None  # between linear layers more than a torus acts: method `composition`
    return Scaling(last.id, source.id, 1 if slides else channels or network.widths[source.id])


def _has_own_matrix(network: Network, node: Node) -> bool:
    """Whether the layer is linear or a convolution, and shares its matrix with no other."""
    return isinstance(node.layer, (Linear, Convolution)) and node.id not in network.sharing
