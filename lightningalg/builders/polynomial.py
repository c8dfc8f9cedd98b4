"""Networks of linear maps and powers: deep linear, monomial, with biases, convolutional."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from lightningalg.builders.per_layer import is_list, joined, per_layer
from lightningalg.errors import InputError
from lightningalg.networks.base import positive_size, sizes
from lightningalg.networks.layers.bias import Bias
from lightningalg.networks.layers.convolution import Convolution
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.network import INPUT, Network, Node


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
        raise InputError(f"widths {joined(widths)}: at least two are needed, d_0 and d_1")
    hidden = len(widths) - 2
    degrees = sizes(per_layer(degree, hidden, "degree", "hidden layer"), "degree")
    if not is_list(degree):
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
    degrees = sizes(per_layer(degree, layers - 1, "degree", "hidden layer"), "degree")
    steps = sizes(per_layer(strides, layers, "strides"), "strides")
    sheets = sizes(per_layer(channels, layers, "channels"), "channels")
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
        raise InputError(f"widths {joined(widths_)}: at least two are needed, d_0 and d_1")
    nodes = [Node(f"layer{i}", (INPUT if i == 1 else f"layer{i - 1}",), Linear(widths_[i - 1], widths_[i]))
             for i in range(1, len(widths_))]  # fmt: skip
    return Network(nodes, tokens=1)
