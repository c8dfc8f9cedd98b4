"""How many partial derivatives of the coefficients of one layer are not zero."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from lightningalg.certificates import Certificate
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.provenance import provenance
from lightningalg.engines.choose import first_answer
from lightningalg.engines.flint_rings import PolynomialRing, terms_of
from lightningalg.engines.ideal_data import Ideal
from lightningalg.engines.monomials import MonomialOrder
from lightningalg.errors import TooLargeError, UnsupportedError
from lightningalg.ideals.certificate import groebner_certificate, states_ideal
from lightningalg.ideals.fibre_ideals import layer_coefficients
from lightningalg.ideals.matrices import matrices, matrix_names, product, transpose
from lightningalg.networks.families import attention_chain
from lightningalg.networks.network import Network

#: variables of the graph, coefficients and weights together
MAX_VARIABLES = 400


def graph_of_layer(network: Network, *, weights: bool = False) -> tuple[Ideal, tuple[str, ...]]:
    """Return the ideal of the graph of one layer's coefficients, and the variables' names.

    Its generators are ``T_k`` minus coefficient number k of the layer's function, a polynomial in the entries
    of A and V, or of Q, K and V. The T come first.

    Parameters
    ----------
    network
        One layer of lightning attention.
    weights
        Whether in (Q, K, V) and not in (A, V).

    Raises
    ------
    UnsupportedError
        For other networks.
    TooLargeError
        If there are more than 400 variables.

    References
    ----------
    MATH.md section 1, coefficient coordinates.

    Examples
    --------
    >>> import lightningalg as la
    >>> ideal, names = graph_of_layer(la.lightning((2, 1), (1,)))
    >>> len(ideal.generators), len(names)
    (6, 12)
    """
    chain = attention_chain(network)
    if chain is None or len(chain) != 1:
        raise UnsupportedError("partial derivatives are counted for one layer of lightning attention")
    d, d_out, a, t = chain[0].d_in, chain[0].d_out, chain[0].rank, network.tokens
    count = d_out * (d * d * (d + 1) // 2 if t > 1 else d * (d + 1) * (d + 2) // 6)
    shapes = [("V", d_out, d), *([("Q", a, d), ("K", a, d)] if weights else [("A", d, d)])]
    if count + sum(rows * columns for _, rows, columns in shapes) > MAX_VARIABLES:
        raise TooLargeError(f"coefficients and weights together are more than {MAX_VARIABLES} variables")
    ring = PolynomialRing(
        [
            *(f"T{k}" for k in range(1, count + 1)),
            *(name for shape in shapes for name in matrix_names(*shape)),
        ]
    )
    v, *others = matrices(ring.generators[count:], [(rows, columns) for _, rows, columns in shapes])
    form = product(transpose(others[1]), others[0]) if weights else others[0]
    pairs = zip(ring.generators[:count], layer_coefficients(form, v, t), strict=True)
    return Ideal(len(ring.names), tuple(terms_of(left - right) for left, right in pairs)), ring.names


def partial_derivatives(network: Network, *, weights: bool = False) -> Certificate:
    """Return the Groebner basis that expresses every coefficient of one layer as a polynomial.

    In an order that eliminates the coefficients its elements are ``T_k`` minus a polynomial in the weights
    alone, the only one that equals T_k on the graph. In characteristic 0 the partial derivatives of a
    polynomial that are not zero are those by the variables that occur in it.

    Raises
    ------
    UnsupportedError
        For other networks, or if no engine answers.
    TooLargeError
        If there are more than 400 variables.

    References
    ----------
    MATH.md section 1, coefficient coordinates; FORMAT.md section 15.

    Examples
    --------
    >>> import lightningalg as la
    >>> len(partial_derivatives(la.lightning((2, 1), (1,))).claim["basis"])
    6
    """
    ideal, names = graph_of_layer(network, weights=weights)
    order = MonomialOrder(ideal.variables, eliminated=tuple(range(len(ideal.generators))))
    basis, how = first_answer(
        lambda solver: solver.groebner_basis(ideal, order, proof=True), "auto", ideal=ideal, need="proof"
    )
    inside = "(Q, K, V)" if weights else "(A, V)"
    details = {"engine": how, "variables": f"coefficients, then {inside}, t = {network.tokens}"}
    return groebner_certificate(basis, names, provenance=provenance(**details))


def partials_of(claim: Mapping[str, Any], names: list[str]) -> list[int] | None:
    """Return how many partial derivatives of each coefficient are not zero, as a certificate proves it.

    ``None`` if its basis does not express every T_k as a polynomial in the other variables.

    Parameters
    ----------
    claim
        Of a certificate of kind ``groebner-basis``.
    names
        Its variables: those of one letter and a number, without ``_``, are coefficients.

    Examples
    --------
    >>> basis = [[[1, [1, 0, 0]], [-2, [0, 1, 2]]]]
    >>> partials_of({"basis": basis}, ["T1", "V_1_1", "A_1_1"])
    [2]
    """
    count = sum("_" not in name for name in names)
    counts, heads = [], set()
    for element in claim["basis"]:
        (_, head), *rest = element
        if sum(head) != 1 or head.index(1) >= count or any(e for _, u in rest for e in u[:count]):
            return None
        heads.add(head.index(1))
        counts.append(sum(any(u[k] for _, u in rest) for k in range(count, len(names))))
    return counts if len(heads) == len(counts) == count else None


class _PartialsClaim(AbstractClaim):
    certificate_kind = "groebner-basis"
    expected_quantity = "most_partials"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "most_partials": "largest number of partial derivatives of a coefficient that are not zero",
        "least_partials": "smallest number of them",
        "all_partials": "number of entries of the Jacobian that are not zero as polynomials",
        "coefficients": "number of coefficients",
    }
    weights: ClassVar[bool]

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        return partial_derivatives(subject, weights=self.weights)

    def is_about(self, certificate: Mapping[str, Any], network: Any) -> bool:
        ideal, names = graph_of_layer(network, weights=self.weights)
        return states_ideal(certificate, ideal, names)

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        counts = partials_of(certificate["claim"], certificate["ideal"]["variables"])
        if not counts:
            return dict.fromkeys(self.quantities_known)
        found = max(counts), min(counts), sum(counts), len(counts)
        return dict(zip(self.quantities_known, found, strict=True))


class PartialDerivativesClaim(_PartialsClaim):
    """The partial derivatives of the coefficients by the entries of A and V."""

    kind = "partial-derivatives"
    weights = False


class WeightPartialsClaim(_PartialsClaim):
    """The partial derivatives of the coefficients by the entries of Q, K and V."""

    kind = "partial-derivatives-in-weights"
    weights = True
