"""The first variation of a network along a vector field, decided as an identity for all parameters.

Every value of a network is written by *forms*: its rows as combinations of symbols, with polynomials in the
parameters as coefficients. Symbols stand for row vectors of length t:

* ``(input, i)``: row i of X;  ``("1",)``: the row of ones;
* ``(id, i)``: row i of the value of an activation of degree >= 2;
* ``(id, s)`` for a head and a symbol s: ``s (K Z)^T (Q Z)``, Z the head's input. So the value of a head is
  that of ``V Z`` with every symbol s replaced by ``(id, s)``.

The variation of a value along a field w is again such forms: linear layers obey the product rule, an
activation of degree r may multiply each row by a rational number c (then the power varies by r c), and a
head must satisfy ``d(QZ) = H QZ``, ``d(KZ) = L KZ``, ``H + L^T = k 1``, so that ``(KZ)^T (QZ)`` is multiplied
by k; where Z has rank at most one, ``d(KZ; QZ) = M (KZ; QZ)`` with ``J M + M^T J = k J`` is enough, J the
exchange of the halves. If the output's variation is zero as forms, it is zero: ``D phi(theta) w(theta) = 0``
identically. The converse fails: that a field is refused proves nothing.

References
----------
FORMAT.md section 4.2, method ``symmetry``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from lightningalg.errors import TooLargeError, UnsupportedError
from lightningalg.networks.layers.bias import Bias
from lightningalg.networks.layers.convolution import Convolution
from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.network import INPUT, Network, Node, ParameterBlock
from lightningalg.symmetry.fields import Monomial, PolynomialField
from lightningalg.symmetry.forms import Budget, Coordinates, Form, Symbol, add_multiple, sum_of

ONES: Symbol = ("1",)
#: terms that the values of a network, and the variation along one field, may take
MAX_TERMS = 200_000

_Rows = list[Form]
#: a matrix over QQ
Rational = list[list[Fraction]]
#: a field by component: its terms (monomial, coefficient)
_Field = dict[int, list[tuple[Monomial, Fraction]]]


class _RefusedError(Exception):
    """The variation of a value is not of the form that the rules of this module follow."""


@dataclass(frozen=True, slots=True)
class LayerChange:
    """Why a field's variation passes a layer that is not linear in its input.

    Of an activation: ``factors`` c_i, row i of its input varies by c_i times itself. Of a head: ``scale`` g,
    by which ``(KZ)^T (QZ)`` is multiplied, and ``matrices``: (H, L) with ``d(QZ) = H QZ``, ``d(KZ) = L KZ``
    and ``H + L^T = g``, or (M,) with ``d(KZ; QZ) = M (KZ; QZ)`` and ``J M + M^T J = g J``.
    """

    factors: tuple[Fraction, ...] = ()
    matrices: tuple[Rational, ...] = ()
    scale: Fraction = Fraction(0)


class FirstVariation:
    """Decides whether a field is seen to leave a network's map unchanged, as an identity.

    Parameters
    ----------
    network
        Any network of built-in layers.
    max_terms
        Of all forms of the values, and of one variation.

    Raises
    ------
    UnsupportedError
        For layers that are not built in.
    TooLargeError
        If the forms of the values have more terms.

    Examples
    --------
    >>> import lightningalg as la
    >>> variation = FirstVariation(la.deep_linear(1, 1, 1))  # W2 W1 x
    >>> variation.vanishes(PolynomialField.of({(0, (0,)): 1, (1, (1,)): -1}))
    True
    >>> variation.vanishes(PolynomialField.of({(0, (0,)): 1}))
    False
    """

    def __init__(self, network: Network, max_terms: int = MAX_TERMS):
        self.network = network
        self.budget = Budget(max_terms)
        self._blocks = {(block.node, block.name): block for block in network.parameter_blocks}
        self.values: dict[str, _Rows] = {INPUT: [{((INPUT, i), ()): 1} for i in range(network.width)]}
        self._thin = {INPUT: min(network.width, network.tokens) == 1}
        self._queries: dict[str, tuple[Coordinates, ...]] = {}  # of a head: see `_head_change`
        self._found: dict[str, LayerChange] = {}
        for node in network.nodes:
            self._thin[node.id] = self._is_thin(node)
            self.values[node.id] = self._value(node)

    # -- values --

    def _matrix(self, node: Node, name: str) -> ParameterBlock:
        return self._blocks[node.owner, name]

    def _is_thin(self, node: Node) -> bool:
        """Return whether a value has rank at most one as a matrix, for a reason that the format knows."""
        if min(self.network.widths[node.id], self.network.tokens) == 1:
            return True
        if isinstance(node.layer, (Sum, Bias)):
            return False
        head_of_one = isinstance(node.layer, LightningAttention) and node.layer.rank == 1
        return head_of_one or self._thin[node.inputs[0]]

    def _value(self, node: Node) -> _Rows:
        inputs = [self.values[source] for source in node.inputs]
        match node.layer:
            case Linear():
                return self._product(self._matrix(node, "W"), inputs[0])
            case Convolution() as layer:
                return self._convolution(self._matrix(node, "W"), layer, inputs[0])
            case Bias():
                b = self._matrix(node, "b")
                units: _Rows = [{(ONES, (b.index(i, 0),)): 1} for i in range(len(inputs[0]))]
                return [sum_of(pair, self.budget) for pair in zip(inputs[0], units, strict=True)]
            case Sum():
                return [sum_of(rows, self.budget) for rows in zip(*inputs, strict=True)]
            case MonomialActivation(degree=1):
                return inputs[0]
            case MonomialActivation():
                return [{((node.id, i), ()): 1} for i in range(len(inputs[0]))]
            case LightningAttention():
                self._queries[node.id] = self._coordinates(node, inputs[0])
                return [_tagged(node.id, row) for row in self._product(self._matrix(node, "V"), inputs[0])]
            case _:
                raise UnsupportedError(f"{node} is of no built-in type: its variation is not known")

    def _coordinates(self, node: Node, rows: _Rows) -> tuple[Coordinates, ...]:
        """Return coordinates in ``(KZ; QZ)`` where Z has rank at most one, else in ``QZ`` and in ``KZ``."""
        queries, keys = (self._product(self._matrix(node, name), rows) for name in "QK")
        if self._thin[node.inputs[0]]:
            return (Coordinates([*keys, *queries], self.budget),)
        return Coordinates(queries, self.budget), Coordinates(keys, self.budget)

    def _product(self, matrix: ParameterBlock, rows: _Rows) -> _Rows:
        """Return a parameter matrix times forms."""
        found = []
        for i in range(matrix.shape[0]):
            total: Form = {}
            for j, row in enumerate(rows):
                add_multiple(total, row, self.budget, 1, (matrix.index(i, j),))
            found.append(total)
        return found

    def _convolution(self, matrix: ParameterBlock, layer: Convolution, rows: _Rows) -> _Rows:
        windows = [rows[i * layer.stride : i * layer.stride + layer.kernel] for i in range(layer.positions)]
        parts = [self._product(matrix, window) for window in windows]
        return [part[c] for c in range(layer.channels) for part in parts]

    # -- variations --

    def vanishes(self, field: PolynomialField) -> bool:
        """Return whether the output's variation along the field is zero by the rules of this module.

        ``True`` is a proof. ``False`` proves nothing: also where the forms have too many terms.
        """
        return self.explain(field) is not None

    def explain(self, field: PolynomialField) -> dict[str, LayerChange] | None:
        """Return how the variation passes each activation and head, by layer; ``None`` if it is refused.

        What is returned, with the rules of this module, is a proof that the map does not change.

        Examples
        --------
        >>> import lightningalg as la
        >>> scaling = PolynomialField.of({(0, (0,)): 1, (2, (2,)): -1})  # dQ = Q, dV = -V
        >>> [change.scale for change in FirstVariation(la.lightning((1, 1), (1,))).explain(scaling).values()]
        [Fraction(1, 1)]
        """
        self.budget.renew()
        self._found = {}
        terms: _Field = {}
        for component, monomial, value in field.terms:
            terms.setdefault(component, []).append((monomial, value))
        changes: dict[str, _Rows] = {INPUT: [{} for _ in range(self.network.width)]}
        try:
            for node in self.network.nodes:
                changes[node.id] = self._change(node, changes, terms)
        except (_RefusedError, TooLargeError):
            return None
        return None if any(changes[self.network.output]) else self._found

    def _change(self, node: Node, changes: dict[str, _Rows], field: _Field) -> _Rows:
        rows, change = self.values[node.inputs[0]], changes[node.inputs[0]]
        match node.layer:
            case Linear():
                return self._changed_product(self._matrix(node, "W"), rows, change, field)
            case Convolution() as layer:
                return self._changed_convolution(self._matrix(node, "W"), layer, rows, change, field)
            case Bias():
                b = self._matrix(node, "b")
                ones: list[Form] = [{(ONES, ()): 1}] * len(rows)
                own = [self._times(field.get(b.index(i, 0), []), row) for i, row in enumerate(ones)]
                return [sum_of(pair, self.budget) for pair in zip(change, own, strict=True)]
            case Sum():
                parts = zip(*(changes[source] for source in node.inputs), strict=True)
                return [sum_of(part, self.budget) for part in parts]
            case MonomialActivation(degree=1):
                return change
            case MonomialActivation(degree=r):
                factors = [self._multiple(row, moved) for row, moved in zip(rows, change, strict=True)]
                self._found[node.id] = LayerChange(factors=tuple(factors))
                return [{((node.id, i), ()): r * c} if c else {} for i, c in enumerate(factors)]
            case _:
                return self._changed_head(node, rows, change, field)

    def _times(self, polynomial: Sequence[tuple[Monomial, Fraction]], form: Form) -> Form:
        total: Form = {}
        for monomial, value in polynomial:
            add_multiple(total, form, self.budget, value, monomial)
        return total

    def _changed_product(self, matrix: ParameterBlock, rows: _Rows, change: _Rows, field: _Field) -> _Rows:
        """Return ``dW rows + W change``."""
        found = self._product(matrix, change)
        for i, total in enumerate(found):
            for j, row in enumerate(rows):
                for monomial, value in field.get(matrix.index(i, j), ()):
                    add_multiple(total, row, self.budget, value, monomial)
        return found

    def _changed_convolution(
        self, matrix: ParameterBlock, layer: Convolution, rows: _Rows, change: _Rows, field: _Field
    ) -> _Rows:
        places = [slice(i * layer.stride, i * layer.stride + layer.kernel) for i in range(layer.positions)]
        parts = [self._changed_product(matrix, rows[place], change[place], field) for place in places]
        return [part[c] for c in range(layer.channels) for part in parts]

    def _multiple(self, row: Form, change: Form) -> Fraction:
        """Return the rational c with ``change = c row``."""
        if not change:
            return Fraction(0)
        key = next(iter(change))
        if key not in row:
            raise _RefusedError
        factor = Fraction(change[key]) / row[key]
        rest = dict(change)
        add_multiple(rest, row, self.budget, -factor)
        if rest:
            raise _RefusedError
        return factor

    def _changed_head(self, node: Node, rows: _Rows, change: _Rows, field: _Field) -> _Rows:
        queries, keys, vectors = (
            self._changed_product(self._matrix(node, name), rows, change, field) for name in "QKV"
        )
        found = [_tagged(node.id, row) for row in vectors]
        passed = self._found[node.id] = self._head_change(node, queries, keys)
        if passed.scale:
            for total, row in zip(found, self.values[node.id], strict=True):
                add_multiple(total, row, self.budget, passed.scale)
        return found

    def _head_change(self, node: Node, queries: _Rows, keys: _Rows) -> LayerChange:
        """Return how QZ and KZ change, and by which number ``(KZ)^T (QZ)`` is multiplied."""
        size = len(queries)
        coordinates = self._queries[node.id]
        thin = len(coordinates) == 1
        if not any(queries) and not any(keys):
            return LayerChange(matrices=(_zeros(2 * size),) if thin else (_zeros(size), _zeros(size)))
        if thin:
            M = _matrix(coordinates[0], [*keys, *queries])
            halves = M[size:] + M[:size]  # J M
            scale = _scalar(halves, [(i + size) % (2 * size) for i in range(2 * size)])
            return LayerChange(matrices=(M,), scale=scale)
        H, L = _matrix(coordinates[0], queries), _matrix(coordinates[1], keys)
        total = [[H[i][j] + L[j][i] for j in range(size)] for i in range(size)]
        half = [[value / 2 for value in row] for row in total]
        return LayerChange(matrices=(H, L), scale=_scalar(half, list(range(size)), symmetric=False))


def _zeros(size: int) -> Rational:
    return [[Fraction(0)] * size for _ in range(size)]


def _matrix(coordinates: Coordinates, forms: _Rows) -> Rational:
    rows = [coordinates.of(form) for form in forms]
    if any(row is None for row in rows):
        raise _RefusedError
    return [row for row in rows if row is not None]


def _scalar(matrix: Rational, places: list[int], *, symmetric: bool = True) -> Fraction:
    """Return k with ``matrix + its transpose = k P`` (or ``2 matrix = k P``), P one at ``(i, places[i])``."""
    size = len(matrix)
    doubled = [[matrix[i][j] + (matrix[j][i] if symmetric else matrix[i][j]) for j in range(size)]
               for i in range(size)]  # fmt: skip
    k = doubled[0][places[0]]
    if any(doubled[i][j] != (k if j == places[i] else 0) for i in range(size) for j in range(size)):
        raise _RefusedError
    return k


def _tagged(name: str, form: Form) -> Form:
    """Return the form of a head's value: every symbol with the head's id."""
    return {((name, symbol), monomial): value for (symbol, monomial), value in form.items()}
