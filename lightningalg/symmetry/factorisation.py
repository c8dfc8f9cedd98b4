"""Directions in the kernel of the Jacobian at a point that a factorisation of the network explains.

They are fields with rational coefficients, seen at one point theta modulo p:

* *images*: at every value the columns that ever occur lie in a subspace S(theta) (the image of V_1, say).
  A matrix that reads the value may change off it: dM with ``dM S = 0``;
* *unseen*: what follows reads a value only through the rows of a matrix R(theta). A matrix that writes it
  may change in their kernel: dW with ``R dW = 0``;
* *mixing of heads*: heads that a sum adds, ``dA_h = sum_k c_k A_k`` where that is tangent to the matrices
  of rank a, and ``dV_k = -c_k V_h``.

Each is an identity in theta (the reason is in the words above), so no sampling is involved but that of the
point. Where S and R have their generic ranks at the point, the number of independent directions is a lower
bound for a generic point.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lightningalg.networks.layers.bias import Bias
from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.network import INPUT, Network, Node, ParameterBlock
from lightningalg.symmetry.weights import EngineChoice


@dataclass(frozen=True, slots=True)
class Explanation:
    """Directions at the point with the reason why they change nothing.

    ``directions`` is (k, n) over GF(p), rows independent within one explanation's matrix blocks;
    ``exact``: the subspaces have their generic dimensions at the point.
    """

    name: str
    layers: tuple[str, ...]
    text: str
    directions: np.ndarray = field(repr=False, compare=False)
    exact: bool

    def to_json(self) -> dict[str, Any]:
        """Return everything but the directions, with their number."""
        return {
            "name": self.name,
            "layers": list(self.layers),
            "text": self.text,
            "directions": len(self.directions),
            "strength": "exact" if self.exact else "probabilistic",
        }


def explanations(
    network: Network, point: np.ndarray, prime: int, choose: EngineChoice
) -> tuple[Explanation, ...]:
    """Return the directions at ``point`` that images, unseen rows and mixing of heads explain.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.engines.choose import linear_algebra
    >>> point = np.arange(3, 75) ** 5 % 8388593
    >>> found = explanations(la.lightning((2, 5, 2), (3, 4)), point, 8388593, linear_algebra)
    >>> [(e.name, len(e.directions)) for e in found]
    [('images', 30)]
    """
    subspaces = _Subspaces(network, point, prime, choose)
    found: list[Explanation] = []
    for node in network.nodes:
        found += [e for e in (subspaces.off_image(node), subspaces.unseen(node)) if e is not None]
        if isinstance(node.layer, Sum):
            found += subspaces.head_mixing(node)
    return tuple(found)


class _Subspaces:
    """Images S and visible rows R of every value at one point, with upper bounds of their generic ranks."""

    def __init__(self, network: Network, point: np.ndarray, prime: int, choose: EngineChoice):
        self.network = network
        self.prime = prime
        self.choose = choose
        self.blocks = {(block.node, block.name): block for block in network.parameter_blocks}
        self.matrices = {
            key: point[b.offset : b.offset + b.size].reshape(b.shape) for key, b in self.blocks.items()
        }
        self.images = {INPUT: np.eye(network.width, dtype=np.int64)}
        self.image_bounds = {INPUT: network.width}
        for node in network.nodes:
            self._set_image(node)
        self.rows: dict[str, np.ndarray] = {}
        self.row_bounds: dict[str, int] = {}
        for value in (*reversed([node.id for node in network.nodes]), INPUT):
            self._set_rows(value)

    # -- linear algebra modulo p --

    def _product(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        total = np.zeros((A.shape[0], B.shape[1]), dtype=np.int64)
        for k in range(A.shape[1]):  # products of two residues below 2^23: no overflow
            total = (total + A[:, k : k + 1] * B[k]) % self.prime
        return total

    def _column_basis(self, A: np.ndarray) -> np.ndarray:
        profile = self.choose(*A.shape)[0].rank_profile(A, self.prime)
        return A[:, list(profile.columns)]

    def _kernel(self, A: np.ndarray) -> np.ndarray:
        """Return a basis of ``{x : A x = 0}`` as columns."""
        if not len(A):
            return np.eye(A.shape[1], dtype=np.int64)
        return self.choose(*A.shape)[0].nullspace(A, self.prime)

    # -- images and visible rows --

    def _set_image(self, node: Node) -> None:
        width = self.network.widths[node.id]
        inputs = [self.images[source] for source in node.inputs]
        bounds = [self.image_bounds[source] for source in node.inputs]
        match node.layer:
            case Linear() | LightningAttention():
                writer = self.matrices[node.owner, "W" if isinstance(node.layer, Linear) else "V"]
                image = self._product(writer, inputs[0])
            case Bias():
                image = np.concatenate([inputs[0], self.matrices[node.owner, "b"]], axis=1)
                bounds.append(1)
            case Sum():
                image = np.concatenate(inputs, axis=1)
            case MonomialActivation(degree=1):
                image = inputs[0]
            case _:
                image, bounds = np.eye(width, dtype=np.int64), [width]
        self.images[node.id] = self._column_basis(image) if image.size else image
        self.image_bounds[node.id] = min(width, sum(bounds))

    def _set_rows(self, value: str) -> None:
        width = self.network.widths[value]
        if value == self.network.output:
            self.rows[value], self.row_bounds[value] = np.eye(width, dtype=np.int64), width
            return
        readers = [self.network.by_id[name] for name in dict.fromkeys(self.network.consumers[value])]
        parts = [self._seen_by(node) for node in readers]
        rows = np.concatenate([rows for rows, _ in parts] or [np.zeros((0, width), dtype=np.int64)])
        self.row_bounds[value] = min(width, sum(bound for _, bound in parts))
        self.rows[value] = self._column_basis(rows.T).T if rows.size else rows

    def _seen_by(self, node: Node) -> tuple[np.ndarray, int]:
        """Return rows through which a layer and what follows it read its input, and a bound of their rank."""
        later, bound = self.rows[node.id], self.row_bounds[node.id]
        match node.layer:
            case Linear():
                return self._product(later, self.matrices[node.owner, "W"]), bound
            case LightningAttention(rank=a):
                Q, K, V = (self.matrices[node.owner, name] for name in "QKV")
                return np.concatenate([Q, K, self._product(later, V)]), 2 * a + bound
            case Sum() | Bias() | MonomialActivation(degree=1):
                return later, bound
            case _:
                width = self.network.widths[node.inputs[0]]
                return np.eye(width, dtype=np.int64), width

    # -- explanations --

    def _unit_rows(self, block: ParameterBlock, vectors: np.ndarray, *, in_rows: bool) -> np.ndarray:
        """Return the directions ``e_i v^T`` (in_rows) or ``v e_j^T`` on a matrix, for the columns v of
        vectors."""
        height, width = block.shape
        count = height if in_rows else width
        result = np.zeros((vectors.shape[1] * count, height, width), dtype=np.int64)
        for k, vector in enumerate(vectors.T):
            for i in range(count):
                if in_rows:
                    result[k * count + i, i, :] = vector
                else:
                    result[k * count + i, :, i] = vector
        return self._embed(block, result.reshape(len(result), -1))

    def _embed(self, block: ParameterBlock, values: np.ndarray) -> np.ndarray:
        result = np.zeros((len(values), self.network.parameter_count), dtype=np.int64)
        result[:, block.offset : block.offset + block.size] = values
        return result

    def off_image(self, node: Node) -> Explanation | None:
        """Return the directions of a layer's matrices off the image of its input."""
        names = list(node.layer.parameter_shapes())
        if not isinstance(node.layer, (Linear, LightningAttention)) or node.id in self.network.sharing:
            return None
        source = node.inputs[0]
        image, width = self.images[source], self.network.widths[source]
        off = self._kernel(image.T)
        if not off.shape[1]:
            return None
        parts = [self._unit_rows(self.blocks[node.id, name], off, in_rows=True) for name in names]
        return Explanation(
            "images",
            (node.id,),
            f"{', '.join(names)} of {node.id} off the image of its input, which has dimension "
            f"{image.shape[1]} of {width}",
            np.concatenate(parts),
            image.shape[1] == self.image_bounds[source],
        )

    def unseen(self, node: Node) -> Explanation | None:
        """Return the directions of a layer's output matrix that nothing later reads."""
        names = {Linear: "W", LightningAttention: "V", Bias: "b"}
        name = names.get(type(node.layer))
        if name is None or node.id in self.network.sharing:
            return None
        rows, width = self.rows[node.id], self.network.widths[node.id]
        unseen = self._kernel(rows)
        if not unseen.shape[1]:
            return None
        return Explanation(
            "unseen",
            (node.id,),
            f"{name} of {node.id} where nothing later reads its value: {len(rows)} of {width} dimensions "
            f"are seen",
            self._unit_rows(self.blocks[node.id, name], unseen, in_rows=False),
            len(rows) == self.row_bounds[node.id],
        )

    def head_mixing(self, node: Node) -> list[Explanation]:
        """Return the mixing of heads that a sum adds, one explanation for all heads that read the same value.

        ``A_h`` may change by any combination of the other ``A_k`` that is tangent to the matrices of its
        rank, and ``V_k`` by the same multiple of ``-V_h``.
        """
        heads: dict[str, list[Node]] = {}
        for name in dict.fromkeys(node.inputs):
            summand = self.network.by_id.get(name)
            own = self.network.consumers[name] == (node.id,) and name not in self.network.sharing
            if summand is not None and own and isinstance(summand.layer, LightningAttention):
                heads.setdefault(summand.inputs[0], []).append(summand)
        found = []
        for group in heads.values():
            mixed = [self._mix(head, [k for k in group if k is not head]) for head in group if len(group) > 1]
            directions = [direction for rows, _ in mixed for direction in rows]
            if directions:
                text = (
                    f"for {len(group)} heads: K^T Q of one + a combination of those of the others within its "
                    f"rank, whose V - multiples of its V"
                )
                exact = all(generic for _, generic in mixed)
                layers = tuple(head.id for head in group)
                found.append(Explanation("mixing of heads", layers, text, np.stack(directions), exact))
        return found

    def _mix(self, head: Node, others: list[Node]) -> tuple[list[np.ndarray], bool]:
        """Return the mixings of the others into a head, and whether a generic point has as many."""
        Q, K = self.matrices[head.id, "Q"], self.matrices[head.id, "K"]
        left, right = self._kernel(K), self._kernel(Q)
        products = [self._product(self.matrices[k.id, "K"].T, self.matrices[k.id, "Q"]) for k in others]
        combinations = np.eye(len(others), dtype=np.int64)
        generic = True
        if left.size and right.size:  # tangent to rank a: zero between the kernels
            normal = [self._product(self._product(left.T, A), right).ravel() for A in products]
            combinations = self._kernel(np.stack(normal, axis=1))
            most = max(0, len(others) - left.shape[1] * right.shape[1])
            deficiency = K.shape[1] - K.shape[0]  # of K and Q at a generic point
            generic = combinations.shape[1] == most and left.shape[1] == right.shape[1] == deficiency
        rows = [self._mixing(head, others, products, c) for c in combinations.T]
        return [row for row in rows if row is not None], generic

    def _mixing(
        self, head: Node, others: list[Node], products: list[np.ndarray], factors: np.ndarray
    ) -> np.ndarray | None:
        """Return one mixing: ``K^T dQ + dK^T Q = sum c_k A_k`` and ``dV_k = -c_k V_h``; ``None`` without
        solution."""
        Q, K = self.matrices[head.id, "Q"], self.matrices[head.id, "K"]
        wanted = sum(c * A % self.prime for c, A in zip(factors, products, strict=True)) % self.prime
        size = K.shape[1]
        one = np.eye(size, dtype=np.int64)
        # entry (i, j) of K^T dQ + dK^T Q, rows of dQ and dK one after the other
        of_dQ = np.einsum("ai,jk->ijak", K, one).reshape(size * size, -1)
        of_dK = np.einsum("aj,ik->ijak", Q, one).reshape(size * size, -1)
        system = np.concatenate([of_dQ, of_dK], axis=1)
        solution = self.choose(*system.shape)[0].solve(system, wanted.ravel(), self.prime)
        if solution is None:
            return None
        V = self.matrices[head.id, "V"]
        parts = [(head.id, "Q", solution[: Q.size]), (head.id, "K", solution[Q.size :])]
        parts += [(k.id, "V", -int(c) * V % self.prime) for c, k in zip(factors, others, strict=True)]
        total = np.zeros(self.network.parameter_count, dtype=np.int64)
        for layer, name, values in parts:
            total += self._embed(self.blocks[layer, name], values.reshape(1, -1))[0]
        return total % self.prime
