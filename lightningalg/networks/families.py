"""Which standard family a network belongs to, and its description in one line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.layers.normalized_attention import NormalizedAttention
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.network import INPUT, Network, Node

if TYPE_CHECKING:
    from collections.abc import Iterator

_Layer = TypeVar("_Layer")
_NAME = re.compile(r"layer([1-9][0-9]*)(?:\.(?:head[1-9][0-9]*|sum))?")


@dataclass(frozen=True, slots=True)
class Family:
    """A standard network by its flags, which are those of ``lightningalg dimension --help``."""

    kind: str
    widths: tuple[int, ...]
    tokens: int
    ranks: tuple[int, ...] = ()
    heads: tuple[int, ...] = ()
    residual: tuple[bool, ...] = ()
    degree: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the flags that matter for this kind as JSON."""
        if self.kind == "monomial":
            return {"kind": self.kind, "widths": list(self.widths), "degree": list(self.degree)}
        keys = ("widths", "ranks", "heads", "residual")
        return {"kind": self.kind, **{k: list(getattr(self, k)) for k in keys}, "tokens": self.tokens}

    def __str__(self) -> str:
        parts = [self.kind, f"widths {_list(self.widths)}"]
        if self.kind == "monomial":
            parts += [f"degree {_short(self.degree)}"] if self.degree else []
            return ", ".join(parts)
        parts.append(f"ranks {_list(self.ranks)}")
        if set(self.heads) != {1}:
            parts.append(f"heads {_short(self.heads)}")
        if any(self.residual):
            which = [i for i, skip in enumerate(self.residual, 1) if skip]
            parts.append("residual" if all(self.residual) else f"residual in layers {_list(which)}")
        parts.append(f"tokens {self.tokens}")
        return ", ".join(parts)


def attention_chain(network: Network) -> tuple[LightningAttention, ...] | None:
    """Return the layers if the network is a chain of single lightning heads, none tied, else ``None``.

    Examples
    --------
    >>> import lightningalg as la
    >>> [layer.rank for layer in attention_chain(la.lightning((4, 2, 4), (2, 1)))]
    [2, 1]
    """
    return _chain(network, LightningAttention)


def normalized_chain(network: Network) -> tuple[NormalizedAttention, ...] | None:
    """Return the layers if the network is a chain of single normalised heads, none tied, else ``None``.

    Examples
    --------
    >>> import lightningalg as la
    >>> normalized_chain(la.lightning((4, 2, 4), (2, 1))) is None
    True
    """
    return _chain(network, NormalizedAttention)


def has_softmax(network: Network) -> bool:
    """Whether the network has normalised attention that is not linear: on one token the softmax is 1.

    Examples
    --------
    >>> import lightningalg as la
    >>> [has_softmax(la.normalized((2, 2), (1,), tokens=t)) for t in (1, 2)]
    [False, True]
    """
    return network.tokens > 1 and any(isinstance(node.layer, NormalizedAttention) for node in network.nodes)


def _chain(network: Network, kind: type[_Layer]) -> tuple[_Layer, ...] | None:
    source = INPUT
    layers: list[_Layer] = []
    for node in network.nodes:
        if node.inputs != (source,) or node.weights or not isinstance(node.layer, kind):
            return None
        layers.append(node.layer)
        source = node.id
    return tuple(layers)


def family(network: Network) -> Family | None:
    """Return the family whose builder gives exactly this network, or ``None``.

    Examples
    --------
    >>> import lightningalg as la
    >>> family(la.lightning((3, 3), (2,), heads=2)).heads
    (2,)
    """
    from lightningalg import builders

    for candidate in _candidates(network):
        if candidate.kind == "monomial":
            rebuilt = builders.monomial(candidate.widths, candidate.degree)
        else:
            flags = (candidate.heads, candidate.residual)
            build = builders.lightning if candidate.kind == "lightning" else builders.normalized
            rebuilt = build(candidate.widths, candidate.ranks, candidate.tokens, *flags)
        if rebuilt == network:
            return candidate
    return None


def _candidates(network: Network) -> Iterator[Family]:
    types = {type(node.layer) for node in network.nodes}
    if types <= {LightningAttention, Sum}:
        yield from _attention_candidate(network, "lightning", LightningAttention)
    elif types <= {NormalizedAttention, Sum}:
        yield from _attention_candidate(network, "normalized", NormalizedAttention)
    elif types <= {Linear, MonomialActivation} and isinstance(network.nodes[0].layer, Linear):
        linear = [node.layer for node in network.nodes if isinstance(node.layer, Linear)]
        degrees = [n.layer.degree for n in network.nodes if isinstance(n.layer, MonomialActivation)]
        if len(degrees) == len(linear) - 1:
            widths = (linear[0].d_in, *(layer.d_out for layer in linear))
            yield Family("monomial", widths, tokens=1, degree=tuple(degrees))


def _attention_candidate(
    network: Network, kind: str, head: type[LightningAttention] | type[NormalizedAttention]
) -> Iterator[Family]:
    groups: dict[int, list[Node]] = {}
    for node in network.nodes:
        match = _NAME.fullmatch(node.id)
        if match is None:
            return
        groups.setdefault(int(match[1]), []).append(node)
    widths, ranks, heads, residual = [network.width], [], [], []
    for number, group in enumerate(groups.values(), start=1):
        layers = [node.layer for node in group if isinstance(node.layer, head)]
        if number not in groups or not layers:
            return
        sums = [node for node in group if isinstance(node.layer, Sum)]
        skip = bool(sums) and len(sums[0].inputs) == len(layers) + 1
        if skip and widths[-1] != layers[0].d_out:
            return
        widths.append(layers[0].d_out)
        ranks.append(layers[0].rank)
        heads.append(len(layers))
        residual.append(skip)
    yield Family(
        kind, tuple(widths), network.tokens, tuple(ranks), tuple(heads), tuple(residual)
    )  # fmt: skip


def described(network: Network) -> dict[str, Any]:
    """Return a network as commands print it: the flags of its family, if it has one, and its layers.

    Examples
    --------
    >>> import lightningalg as la
    >>> described(la.lightning((3, 2), (1,)))["widths"]
    [3, 2]
    """
    standard = family(network)
    return {**(standard.to_json() if standard else {}), **network.to_json()}


def summary(network: Network) -> str:
    """Return one line that names the network: its family's flags, or its size.

    Examples
    --------
    >>> import lightningalg as la
    >>> summary(la.deep_linear(3, 2, 3))
    'network of 2 layers (2 linear), width 3 to 3, tokens 1'
    """
    standard = family(network)
    if standard is not None:
        return str(standard)
    counts: dict[str, int] = {}
    for node in network.nodes:
        counts[node.layer.type_name] = counts.get(node.layer.type_name, 0) + 1
    kinds = ", ".join(f"{number} {name}" for name, number in counts.items())
    tied = sum(node.weights is not None for node in network.nodes)
    kinds += f", {tied} tied" if tied else ""
    layers = len(network.nodes)
    return (
        f"network of {layers} layer{'' if layers == 1 else 's'} ({kinds}), "
        f"width {network.width} to {network.output_width}, tokens {network.tokens}"
    )


def _list(values: object) -> str:
    return ",".join(str(value) for value in values)  # type: ignore[attr-defined]


def _short(values: tuple[int, ...]) -> str:
    return str(values[0]) if len(set(values)) == 1 else _list(values)
