"""Points at which a fibre is asked for: virtual weights, or the weights of a network."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lightningalg.arguments import listed, mapping, shown
from lightningalg.certificates.polynomials import encode_matrix, encode_rational
from lightningalg.certificates.sampling import validate_seed
from lightningalg.errors import InputError, TooLargeError, UnsupportedError
from lightningalg.fibres.exact import Rows, product, rank, rational_rows, transpose
from lightningalg.networks.base import positive_size, sizes
from lightningalg.networks.families import attention_chain
from lightningalg.networks.network import Network, checked_network

#: entries of all weight matrices together; a point is written out in its certificate
MAX_ENTRIES = 200_000


@dataclass(frozen=True, slots=True)
class Architecture:
    """A chain of single attention heads: widths ``d_0..d_l``, ranks ``a_1..a_l``, tokens ``t``."""

    widths: tuple[int, ...]
    ranks: tuple[int, ...]
    tokens: int

    @classmethod
    def of(cls, network: Network) -> Architecture:
        """Return the sizes of a plain chain.

        Raises
        ------
        UnsupportedError
            For any other network.
        """
        layers = attention_chain(network)
        if layers is None:
            raise UnsupportedError(
                f"{shown(network, 200)}: fibres at a point are for chains of single lightning "
                "attention heads without "
                "ties; of one normalised layer `lightningalg worksheet run "
                "normalized-balls` proves what is known"
            )
        widths = (network.width, *(layer.d_out for layer in layers))
        return cls(widths, tuple(layer.rank for layer in layers), network.tokens)

    @property
    def depth(self) -> int:
        """Number of layers l."""
        return len(self.ranks)

    @property
    def caps(self) -> tuple[int, ...]:
        """``e_0, ..., e_{l-1}``: largest ranks of ``U_i = V_i ... V_1`` (MATH.md section 4)."""
        return tuple(min(self.widths[: i + 1]) for i in range(self.depth))

    def ambient_ranks(self) -> tuple[int, ...]:
        """Return ``min(a_i, d_0)`` for each layer."""
        return tuple(min(a, self.widths[0]) for a in self.ranks)


@dataclass(frozen=True, slots=True)
class VirtualPoint:
    """Virtual weights: ``M_1, ..., M_l`` (d_0 x d_0) and ``L`` (d_l x d_0) over QQ (MATH.md section 4).

    Raises
    ------
    InputError
        If the ranks are larger than the architecture allows, or there is no flag of row spaces.
    """

    architecture: Architecture
    M: tuple[Rows, ...]
    L: Rows

    def __post_init__(self) -> None:
        arch = self.architecture
        d = arch.widths[0]
        shapes = [(d, d)] * arch.depth + [(arch.widths[-1], d)]
        found = [(len(rows), len(rows[0])) for rows in (*self.M, self.L)]
        if found != shapes:
            raise InputError(f"virtual weights of shapes {found}: needed are {shapes}")
        for i, (matrix, bound) in enumerate(zip(self.M, arch.ambient_ranks(), strict=True), start=1):
            if bound < arch.widths[0] and rank(matrix) > bound:
                raise InputError(f"M_{i} has rank {rank(matrix)}: the network allows at most {bound}")
        for i, (span, cap) in enumerate(zip(self.spans(), arch.caps, strict=True)):
            if span > cap:
                raise InputError(
                    f"L and M_{i + 1}, ..., M_l span {span} dimensions: the widths allow at most {cap}"
                )

    def spans(self) -> list[int]:
        """Return ``dim T_0, ..., dim T_{l-1}``: T_i is spanned by the rows of L and rows and columns of
        M_j, j > i."""
        arch = self.architecture
        return span_dimensions(self.M, self.L, arch.caps)

    def to_json(self) -> dict[str, Any]:
        """Return the object ``point`` of FORMAT.md section 16."""
        return {
            "space": "virtual weights",
            "tokens": self.architecture.tokens,
            "widths": list(self.architecture.widths),
            "ranks": list(self.architecture.ranks),
            "M": [encode_matrix(matrix) for matrix in self.M],
            "L": encode_matrix(self.L),
        }


def span_dimensions(M: Sequence[Rows], L: Rows, caps: Sequence[int]) -> list[int]:
    """Return the dimensions of ``T_i``; where everything is already spanned nothing is eliminated.

    Parameters
    ----------
    caps
        The largest possible ones.

    Examples
    --------
    >>> one, zero = Fraction(1), Fraction(0)
    >>> span_dimensions([[[one, zero], [zero, zero]]], [[one, zero]], [2])
    [1]
    """
    d = len(L[0])
    found = []
    rows: Rows = list(L)
    size = 0
    for matrix in reversed(M):
        rows = [*rows, *matrix, *transpose(matrix)]
        size = d if size == d else rank(rows)
        found.append(size)
    # T_{i} contains M_{i+1}: dropping the last step gives T_0 first
    return found[::-1]


@dataclass(frozen=True, slots=True)
class WeightsPoint:
    """Weights ``(Q_i, K_i, V_i)`` of a network over QQ."""

    network: Network
    layers: tuple[tuple[Rows, Rows, Rows], ...]

    def virtual(self) -> VirtualPoint:
        """Return ``M_i = U_{i-1}^T K_i^T Q_i U_{i-1}`` and ``L = V_l ... V_1``."""
        arch = Architecture.of(self.network)
        U: Rows | None = None
        M = []
        for Q, K, V in self.layers:
            if U is not None:
                Q, K = product(Q, U), product(K, U)
            M.append(product(transpose(K), Q))
            U = V if U is None else product(V, U)
        assert U is not None
        return VirtualPoint(arch, tuple(M), U)

    def to_json(self) -> dict[str, Any]:
        """Return the object ``point`` of FORMAT.md section 16."""
        flat = [encode_rational(x) for layer in self.layers for rows in layer for row in rows for x in row]
        return {"space": "weights", "network": self.network.to_json(), "weights": flat}


def generated_point(network: Network, seed: str | int) -> WeightsPoint:
    """Return weights with entries of absolute value 20 to 40, all of full rank, by a seed.

    Raises
    ------
    UnsupportedError
        If the network is no plain chain, or no full ranks are met in a hundred attempts.
    TooLargeError
        If it has more than 200,000 parameters.

    Examples
    --------
    >>> import lightningalg as la
    >>> point = generated_point(la.lightning((3, 2, 3), (2, 1)), "0")
    >>> [rank(matrix) for matrix in point.virtual().M]
    [2, 1]
    """
    Architecture.of(checked_network(network))
    seed = validate_seed(seed)
    if network.parameter_count > MAX_ENTRIES:
        raise TooLargeError(f"{network.parameter_count} weights: points have at most {MAX_ENTRIES}")
    chance = random.Random(f"lightningalg point {seed}")
    for _ in range(100):
        matrices = []
        for block in network.parameter_blocks:
            rows = [
                [Fraction(chance.choice((-1, 1)) * chance.randint(20, 40)) for _ in range(block.shape[1])]
                for _ in range(block.shape[0])
            ]
            matrices.append(rows)
        if all(rank(rows) == min(len(rows), len(rows[0])) for rows in matrices):
            layers = tuple(tuple(matrices[i : i + 3]) for i in range(0, len(matrices), 3))
            point = WeightsPoint(network, layers)  # type: ignore[arg-type]
            if _has_generic_ranks(point):
                return point
    raise UnsupportedError("no weights of full rank were met; choose another seed")


def _has_generic_ranks(point: WeightsPoint) -> bool:
    """Whether ``rk M_i = min(a_i, e_{i-1})`` for all i."""
    virtual = point.virtual()
    arch = virtual.architecture
    bounds = [min(a, e) for a, e in zip(arch.ranks, arch.caps, strict=True)]
    return [rank(matrix) for matrix in virtual.M] == bounds


def virtual_from_tables(
    widths: Sequence[int], ranks: Sequence[int] | None, tokens: int, M: Sequence[Rows], L: Rows
) -> VirtualPoint:
    """Return a point from plain matrices; ``ranks=None``: all matrices are allowed.

    Parameters
    ----------
    widths, ranks, tokens
        The architecture; without ranks all are allowed.
    M, L
        ``M_1, ..., M_l`` (d_0 x d_0) and ``L`` (d_l x d_0): rows of integers, fractions or texts "p/q".

    Raises
    ------
    InputError
        If sizes, shapes or ranks do not fit.

    Examples
    --------
    >>> one = Fraction(1)
    >>> virtual_from_tables((1, 1), None, 2, [[[one]]], [[one]]).spans()
    [1]
    """
    widths = sizes(widths, "widths")
    if len(widths) < 2:
        raise InputError("widths: at least two are needed, d_0 and d_1")
    allowed = sizes(ranks, "ranks") if ranks is not None else (widths[0],) * (len(widths) - 1)
    architecture = Architecture(widths, allowed, positive_size(tokens, "tokens"))
    matrices = [rational_rows(matrix, f"M_{i}") for i, matrix in enumerate(listed(M, "M", "matrices"), 1)]
    return VirtualPoint(architecture, tuple(matrices), rational_rows(L, "L"))


_EXAMPLE = '{"layer1": {"Q": [[1]], "K": [[1]], "V": [[1]]}}'


def weights_from_table(network: Network, table: Mapping[str, Mapping[str, Rows]]) -> WeightsPoint:
    """Return weights from ``{layer id: {"Q": rows, "K": rows, "V": rows}}``.

    Parameters
    ----------
    table
        For each layer its three matrices: rows of integers, fractions or texts "p/q".

    Raises
    ------
    InputError
        Naming the layer and matrix that is missing, unknown or of another shape.

    Examples
    --------
    >>> import lightningalg as la
    >>> table = {"layer1": {"Q": [[1]], "K": [[2]], "V": [["1/3"]]}}
    >>> weights_from_table(la.lightning((1, 1), (1,)), table).virtual().M
    ([[Fraction(2, 1)]],)
    """
    Architecture.of(checked_network(network))
    for name in mapping(table, "weights", _EXAMPLE):
        if name not in network.by_id:
            raise InputError(f'weights of "{shown(name)}": layers are {", ".join(network.by_id)[:200]}')
    matrices = []
    for block in network.parameter_blocks:
        given = mapping(table.get(block.node, {}), f'weights of "{block.node}"', _EXAMPLE).get(block.name)
        if given is None:
            raise InputError(f'weights: layer "{block.node}" has no matrix {block.name}')
        rows = rational_rows(given, f"{block.name} of {block.node}")
        if (len(rows), len(rows[0])) != block.shape:
            raise InputError(
                f"weights: {block.name} of {block.node} is {len(rows)} x {len(rows[0])}; "
                f"accepted is {block.shape[0]} x {block.shape[1]}"
            )
        matrices.append(rows)
    layers = tuple(tuple(matrices[i : i + 3]) for i in range(0, len(matrices), 3))
    return WeightsPoint(network, layers)  # type: ignore[arg-type]
