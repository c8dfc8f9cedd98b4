"""Networks for people to import: the standard families as DAGs of layers.

Every builder returns a ``Network``; ``.polynomial_map()`` gives the exact
polynomial map over QQ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from lightningalg.arguments import flag, listed, mapping, shown
from lightningalg.errors import InputError
from lightningalg.networks.base import AbstractLayer, positive_size, sizes
from lightningalg.networks.layers.bias import Bias
from lightningalg.networks.layers.convolution import Convolution
from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.layers.normalized_attention import NormalizedAttention
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.network import INPUT, MAX_LAYERS, Network, Node, checked_network

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
        raise InputError(f"widths {_join(widths)}: at least two are needed, d_0 and d_1")
    if len(ranks) != layers:
        raise InputError(
            f"widths {_join(widths)} make {_count(layers, 'layer')}, but ranks {_join(ranks)} are for "
            f"{_count(len(ranks), 'layer')}: give one rank per layer, one fewer than widths"
        )
    heads_per_layer = sizes(_per_layer(heads, layers, "heads"), "heads")
    skips = _flags(_per_layer(residual, layers, "residual"), "residual")
    _check_count(sum(heads_per_layer))
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
    _check_count(2 * positive_size(heads, "heads") + 1)
    nodes: list[Node] = []
    for name in ["layer1"] if heads == 1 else [f"layer1.head{h}" for h in range(1, heads + 1)]:
        nodes += _head_with_output(name, INPUT, head, d_out)
    if heads > 1:
        nodes.append(Node("layer1.sum", tuple(node.id for node in nodes[1::2]), Sum()))
    return Network(nodes, tokens=tokens)


def _head_with_output(name: str, source: str, head: LightningAttention, d_out: int) -> list[Node]:
    """Return a head and the linear layer that maps its value to width ``d_out``."""
    return [Node(name, (source,), head), Node(f"{name}.output", (name,), Linear(head.d_out, d_out))]


def monomial(widths: Sequence[int], degree: int | Sequence[int] = 2) -> Network:
    """Return the polynomial network ``x -> W_l s(... s(W_1 x))`` with ``s`` the entrywise power.

    Parameters
    ----------
    widths
        ``d_0, ..., d_l``.
    degree
        The activations' degree: one value, or one per hidden layer (l - 1 of them).

    Raises
    ------
    InputError
        As for ``lightning``.

    References
    ----------
    MATH.md section 6.

    Examples
    --------
    >>> print(monomial((2, 3, 3), degree=2))
    monomial, widths 2,3,3, degree 2
    """
    widths = sizes(widths, "widths")
    if len(widths) < 2:
        raise InputError(f"widths {_join(widths)}: at least two are needed, d_0 and d_1")
    hidden = len(widths) - 2
    degrees = sizes(_per_layer(degree, hidden, "degree", "hidden layer"), "degree")
    if not _is_list(degree):
        positive_size(degree, "degree")  # also where no hidden layer uses it
    nodes: list[Node] = []
    source = INPUT
    for i, (d_in, d_out) in enumerate(pairwise(widths), start=1):
        nodes.append(Node(f"layer{i}", (source,), Linear(d_in, d_out)))
        source = f"layer{i}"
        if i <= hidden:
            nodes.append(Node(f"activation{i}", (source,), MonomialActivation(degrees[i - 1])))
            source = f"activation{i}"
    return Network(nodes, tokens=1)


def monomial_with_biases(widths: Sequence[int], degree: int | Sequence[int] = 2) -> Network:
    """Return the polynomial network ``x -> W_l s(... s(W_1 x + b_1)) + b_l``, arguments as of ``monomial``.

    Parameters
    ----------
    widths, degree
        As of ``monomial``.

    Raises
    ------
    InputError
        As for ``monomial``.

    Examples
    --------
    >>> monomial_with_biases((2, 3, 3), degree=2).parameter_count
    21
    """
    plain = monomial(widths, degree)
    nodes: list[Node] = []
    for node in plain.nodes:
        source = node.inputs[0]
        if isinstance(node.layer, MonomialActivation):
            source = nodes[-1].id
        nodes.append(Node(node.id, (source,), node.layer))
        if isinstance(node.layer, Linear):
            number = node.id.removeprefix("layer")
            nodes.append(Node(f"bias{number}", (node.id,), Bias(node.layer.d_out)))
    return Network(nodes, tokens=1)


def convolutional(
    width: int,
    kernels: Sequence[int],
    degree: int | Sequence[int] = 1,
    strides: int | Sequence[int] = 1,
    channels: int | Sequence[int] = 1,
) -> Network:
    """Return the polynomial convolutional network ``x -> w_l * s(... s(w_1 * x))`` on one token.

    Parameters
    ----------
    width
        ``d_0``, the length of x.
    kernels
        Sizes of the kernels, one per layer.
    degree
        The activations' degree: one value, or one per hidden layer. 1: none, so that the network is linear.
    strides, channels
        One value, or one per layer. Channels are stacked: the next kernel slides over all of them in turn.

    Raises
    ------
    InputError, ShapeError
        As for ``lightning``; if a kernel is longer than what it slides over.

    References
    ----------
    Kohn, Merkh, Montufar, Trager, Geometry of linear convolutional networks, SIAM J. Appl. Algebra Geom.
    6 (2022); Shahverdi, Marchetti, Kohn, On the geometry and optimization of polynomial convolutional
    networks, AISTATS 2025.

    Examples
    --------
    >>> convolutional(6, (3, 2), degree=2).output_width  # 6 -> 4 -> 3
    3
    """
    kernels = sizes(kernels, "kernels")
    layers = len(kernels)
    if layers < 1:
        raise InputError("kernels (none): at least one is needed")
    degrees = sizes(_per_layer(degree, layers - 1, "degree", "hidden layer"), "degree")
    steps = sizes(_per_layer(strides, layers, "strides"), "strides")
    sheets = sizes(_per_layer(channels, layers, "channels"), "channels")
    nodes: list[Node] = []
    source, size = INPUT, positive_size(width, "width")
    for i in range(layers):
        try:
            layer = Convolution(size, kernels[i], steps[i], sheets[i])
        except InputError as error:
            raise type(error)(f"layer {i + 1}: {error}") from None
        nodes.append(Node(f"layer{i + 1}", (source,), layer))
        source, size = f"layer{i + 1}", layer.output_width(size)
        if i + 1 < layers and degrees[i] > 1:
            nodes.append(Node(f"activation{i + 1}", (source,), MonomialActivation(degrees[i])))
            source = f"activation{i + 1}"
    return Network(nodes, tokens=1)


def tie(network: Network, weights: Mapping[str, str]) -> Network:
    """Return the network in which layers use the parameters of others.

    Parameters
    ----------
    network
        Any network.
    weights
        For each layer to be tied, its id and that of the layer whose parameters it uses, of the same type and
        sizes and with parameters of its own.

    Raises
    ------
    InputError, ShapeError
        Naming both layers.

    Examples
    --------
    >>> recurrent = tie(lightning((3, 3, 3), (2, 2)), {"layer2": "layer1"})
    >>> recurrent.parameter_count
    21
    """
    checked_network(network)
    for name in mapping(weights, "weights", '{"layer2": "layer1"}'):
        if name not in network.by_id:
            raise InputError(f'"{shown(name)}" is no layer of this network')
    nodes = [Node(n.id, n.inputs, n.layer, weights.get(n.id, n.weights)) for n in network.nodes]
    return Network(nodes, tokens=network.tokens, width=network.width)


def deep_linear(*widths: int) -> Network:
    """Return the linear network ``x -> W_l ... W_1 x``: matrices of bounded rank.

    Parameters
    ----------
    widths
        ``d_0, ..., d_l``, as single arguments.

    Raises
    ------
    InputError
        For sizes that are no positive integers, or fewer than two.

    Examples
    --------
    >>> deep_linear(3, 2, 3).parameter_count
    12
    """
    widths_ = sizes(widths, "widths")
    if len(widths_) < 2:
        raise InputError(f"widths {_join(widths_)}: at least two are needed, d_0 and d_1")
    nodes = [Node(f"layer{i}", (INPUT if i == 1 else f"layer{i - 1}",), Linear(widths_[i - 1], widths_[i]))
             for i in range(1, len(widths_))]  # fmt: skip
    return Network(nodes, tokens=1)


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
    _check_count(layers * (2 * heads + 1))
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


# -- arguments ---------------------------------------------------------------


def _check_count(layers: int) -> None:
    """Refuse before building what ``Network`` would refuse after it."""
    if layers > MAX_LAYERS:
        raise InputError(f"a network has 1 to {MAX_LAYERS} layers (heads count one by one), not {layers}")


def _flags(values: Sequence[object], name: str) -> tuple[bool, ...]:
    return tuple(flag(value, name) for value in values)


def _per_layer(value: Any, layers: int, name: str, what: str = "layer") -> Sequence[Any]:
    """Return one value for each layer, from one value or a list of that length."""
    if _is_list(value):
        value = listed(value, name)
        if len(value) != layers and len(value) != 1:
            raise InputError(
                f"{name} {_join(value)}: give one value, or one per {what} ({layers} here), not {len(value)}"
            )
        return value if len(value) == layers else value * layers
    return [value] * layers


def _is_list(value: object) -> bool:
    """Whether a value is a list, a tuple or an array with axes."""
    return isinstance(value, list | tuple) or bool(getattr(value, "shape", ()))


def _join(values: Sequence[object]) -> str:
    return ",".join(shown(value, 20) for value in values[:20]) or "(none)"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
