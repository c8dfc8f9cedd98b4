"""Networks of attention layers: lightning and normalised, several heads, the attention of transformers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lightningalg.arguments import mapping
from lightningalg.builders.per_layer import check_count, counted, flags, joined, per_layer
from lightningalg.errors import InputError
from lightningalg.networks.base import AbstractLayer, positive_size, sizes
from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.normalized_attention import NormalizedAttention
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.network import INPUT, Network, Node


def lightning(
    widths: Sequence[int],
    ranks: Sequence[int],
    tokens: int = 2,
    heads: int | Sequence[int] = 1,
    residual: bool | Sequence[bool] = False,
) -> Network:
    """Return deep lightning self-attention ``X_i = sum_h V_ih X X^T K_ih^T Q_ih X  (+ X)``.

    Parameters
    ----------
    widths
        ``d_0, ..., d_l``.
    ranks
        ``a_1, ..., a_l``: the rank of every head of layer i.
    tokens
        Number t of columns of the input.
    heads, residual
        One value, or one per layer.

    Raises
    ------
    InputError
        Unequal lengths, sizes that are no positive integers, residual layers of unequal widths.

    References
    ----------
    Henry, Marchetti, Kohn, Geometry of Lightning Self-Attention, ICLR 2025; MATH.md sections 1 and 6.

    Examples
    --------
    >>> print(lightning((4, 2, 4), (2, 1), tokens=2))
    lightning, widths 4,2,4, ranks 2,1, tokens 2
    """
    return _attention(LightningAttention, widths, ranks, tokens, heads, residual)


def normalized(
    widths: Sequence[int],
    ranks: Sequence[int],
    tokens: int = 2,
    heads: int | Sequence[int] = 1,
    residual: bool | Sequence[bool] = False,
) -> Network:
    """Return deep normalised self-attention ``X_i = sum_h V_ih X softmax(X^T K_ih^T Q_ih X)  (+ X)``.

    The softmax is over keys: each column of the scores is normalised. Parameters as of ``lightning``. On one
    token every softmax is 1 and the network is linear: its value does not depend on Q and K.

    Parameters
    ----------
    widths, ranks, tokens, heads, residual
        As of ``lightning``.

    Raises
    ------
    InputError
        As for ``lightning``.

    References
    ----------
    MATH.md section 5.

    Examples
    --------
    >>> print(normalized((4, 2, 4), (2, 1), tokens=2))
    normalized, widths 4,2,4, ranks 2,1, tokens 2
    """
    return _attention(NormalizedAttention, widths, ranks, tokens, heads, residual)


def _attention(
    head_type: type[LightningAttention] | type[NormalizedAttention],
    widths: Sequence[int],
    ranks: Sequence[int],
    tokens: int,
    heads: int | Sequence[int],
    residual: bool | Sequence[bool],
) -> Network:
    """Return the network of layers of heads of one type; arguments as of ``lightning``."""
    widths = sizes(widths, "widths")
    ranks = sizes(ranks, "ranks")
    layers = len(widths) - 1
    if layers < 1:
        raise InputError(f"widths {joined(widths)}: at least two are needed, d_0 and d_1")
    if len(ranks) != layers:
        raise InputError(
            f"widths {joined(widths)} make {counted(layers, 'layer')}, but ranks {joined(ranks)} are for "
            f"{counted(len(ranks), 'layer')}: give one rank per layer, one fewer than widths"
        )
    heads_per_layer = sizes(per_layer(heads, layers, "heads"), "heads")
    skips = flags(per_layer(residual, layers, "residual"), "residual")
    check_count(sum(heads_per_layer))
    nodes: list[Node] = []
    source = INPUT
    for i in range(layers):
        if skips[i] and widths[i] != widths[i + 1]:
            raise InputError(
                f"residual needs equal widths, but layer {i + 1} maps width {widths[i]} to {widths[i + 1]}"
            )
        head = head_type(widths[i], widths[i + 1], ranks[i])
        source = _attention_layer(nodes, f"layer{i + 1}", source, head, heads_per_layer[i], skips[i])
    return Network(nodes, tokens=tokens)


def _attention_layer(
    nodes: list[Node], name: str, source: str, head: AbstractLayer, heads: int, skip: bool
) -> str:
    """Append one layer with its heads and residual connection; return the id of its value."""
    if heads == 1:
        summands = [name if not skip else f"{name}.head1"]
    else:
        summands = [f"{name}.head{h}" for h in range(1, heads + 1)]
    nodes.extend(Node(summand, (source,), head) for summand in summands)
    if skip:
        summands = [source, *summands]
    if len(summands) == 1:
        return summands[0]
    nodes.append(Node(f"{name}.sum", tuple(summands), Sum()))
    return f"{name}.sum"


def multi_head(
    d_in: int, d_out: int, rank: int, heads: int, tokens: int = 2, value_rank: int | None = None
) -> Network:
    """Return one layer of lightning attention with several heads, ``X -> sum_h V_h X X^T K_h^T Q_h X``.

    Parameters
    ----------
    d_in, d_out, rank, heads, tokens
        As for ``lightning``.
    value_rank
        If given, head h has ``O_h V_h`` instead of ``V_h``, with ``V_h`` of shape ``value_rank x d_in`` and
        ``O_h`` of shape ``d_out x value_rank``, as in transformers.

    Raises
    ------
    InputError
        For sizes that are no positive integers.

    Examples
    --------
    >>> multi_head(3, 3, rank=3, heads=2).parameter_count
    54
    >>> multi_head(3, 3, rank=3, heads=2, value_rank=1).parameter_count
    48
    """
    if value_rank is None:
        return lightning((d_in, d_out), (rank,), tokens, heads=heads)
    head = LightningAttention(positive_size(d_in, "d_in"), positive_size(value_rank, "value_rank"), rank)
    check_count(2 * positive_size(heads, "heads") + 1)
    nodes: list[Node] = []
    for name in ["layer1"] if heads == 1 else [f"layer1.head{h}" for h in range(1, heads + 1)]:
        nodes += _head_with_output(name, INPUT, head, d_out)
    if heads > 1:
        nodes.append(Node("layer1.sum", tuple(node.id for node in nodes[1::2]), Sum()))
    return Network(nodes, tokens=tokens)


def _head_with_output(name: str, source: str, head: LightningAttention, d_out: int) -> list[Node]:
    """Return a head and the linear layer that maps its value to width ``d_out``."""
    return [Node(name, (source,), head), Node(f"{name}.output", (name,), Linear(head.d_out, d_out))]


#: keys of a transformer's ``config.json`` for each size, in order of preference
_CONFIG_KEYS = {
    "hidden size": ("hidden_size", "n_embd", "d_model", "dim"),
    "heads": ("num_attention_heads", "n_head", "num_heads", "n_heads"),
    "layers": ("num_hidden_layers", "n_layer", "num_layers", "n_layers"),
}


def transformer(config: Mapping[str, Any], tokens: int = 2) -> Network:
    """Return the attention part of a transformer, with lightning attention, from its ``config.json``.

    Layer: ``X -> X + sum_h O_h V_h X X^T K_h^T Q_h X`` with ``Q_h, K_h, V_h`` of
    shape ``m x D`` and ``O_h`` of shape ``D x m``; D the hidden size, m the head
    size (``head_dim``, else D divided by the number of heads). Embeddings,
    feed-forward layers, biases, normalisation and the sharing of keys between
    heads are not part of it.

    Parameters
    ----------
    config
        The fields of a ``config.json``: hidden size, numbers of heads and of layers.
    tokens
        Number t of columns of the input.

    Raises
    ------
    InputError
        If a size is missing, is no positive integer, or heads do not divide the hidden size.

    Examples
    --------
    >>> transformer({"hidden_size": 4, "num_attention_heads": 2, "num_hidden_layers": 1}).parameter_count
    64
    """
    mapping(config, "config", '{"hidden_size": 768, "num_attention_heads": 12, "num_hidden_layers": 12}')
    size, heads, layers = (_config_size(config, what) for what in _CONFIG_KEYS)
    head_size = config.get("head_dim")
    if head_size is None:
        if size % heads:
            raise InputError(f'config: {heads} heads do not divide hidden size {size}; give "head_dim"')
        head_size = size // heads
    head_size = positive_size(head_size, 'config field "head_dim"')
    check_count(layers * (2 * heads + 1))
    nodes: list[Node] = []
    source = INPUT
    for i in range(1, layers + 1):
        summands = [source]
        for h in range(1, heads + 1):
            head = LightningAttention(size, head_size, head_size)
            nodes += _head_with_output(f"layer{i}.head{h}", source, head, size)
            summands.append(nodes[-1].id)
        source = f"layer{i}.sum"
        nodes.append(Node(source, tuple(summands), Sum()))
    return Network(nodes, tokens=tokens)


def _config_size(config: Mapping[str, Any], what: str) -> int:
    for key in _CONFIG_KEYS[what]:
        if key in config:
            return positive_size(config[key], f'config field "{key}"')
    raise InputError(f"config has no {what}: accepted fields are {', '.join(_CONFIG_KEYS[what])}")
