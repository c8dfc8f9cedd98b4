"""The kernel of the differential of one layer where both matrices have rank one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isqrt
from typing import Any, ClassVar

from lightningalg.certificates import Certificate
from lightningalg.certificates.polynomials import encode_polynomial
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.provenance import provenance
from lightningalg.claims.special_fibres import special_point
from lightningalg.engines.choose import first_answer
from lightningalg.engines.flint_rings import PolynomialRing, terms_of
from lightningalg.engines.ideal_data import Ideal
from lightningalg.engines.monomials import Polynomial
from lightningalg.errors import TooLargeError
from lightningalg.ideals.certificate import groebner_certificate, states_ideal
from lightningalg.ideals.fibre_ideals import layer_coefficients
from lightningalg.ideals.matrices import matrices, matrix_names
from lightningalg.networks.families import attention_chain
from lightningalg.networks.network import Network

#: coefficients of a layer: each gives a linear equation
MAX_COEFFICIENTS = 2000


def kernel_equations(network: Network, column: int) -> tuple[Ideal, tuple[str, ...]]:
    """Return the linear equations of the kernel at ``V = e_1 e_1^T``, ``A = e_c e_1^T``, and the names.

    The variables, with these names, are a direction (A', V'), A' any d x d matrix. The equations are the
    coefficients of ``v'_i(x) A(x, y) + v_i(x) A'(x, y)``, over QQ; those that are 0 are left out.

    Parameters
    ----------
    network
        One layer of lightning attention on two or more tokens.
    column
        The number c, from 0: v and k are parallel if it is 0.

    Raises
    ------
    UnsupportedError
        For other networks, and if the layer is too narrow for c.
    TooLargeError
        If the layer has more than 2000 coefficients.

    References
    ----------
    MATH.md section 3, "Immersion" and "Orbits".

    Examples
    --------
    >>> import lightningalg as la
    >>> ideal, names = kernel_equations(la.lightning((2, 1), (1,)), 0)
    >>> ideal.variables, len(ideal.generators)
    (6, 4)
    """
    chain = attention_chain(network) or ()
    if any(layer.d_out * layer.d_in**2 * (layer.d_in + 1) // 2 > MAX_COEFFICIENTS for layer in chain):
        raise TooLargeError(f"the layer has more than {MAX_COEFFICIENTS} coefficients")
    point = special_point(network, column)
    d, d_out = len(point.L[0]), len(point.L)
    ring = PolynomialRing([*matrix_names("A", d, d), *matrix_names("V", d_out, d)])
    a, v = matrices(ring.generators, [(d, d), (d_out, d)])
    A, V = _constants(ring, point.M[0]), _constants(ring, point.L)
    pairs = zip(layer_coefficients(a, V, 2), layer_coefficients(A, v, 2), strict=True)
    forms = (terms_of(left + right) for left, right in pairs)
    return Ideal(len(ring.names), tuple(form for form in forms if form)), ring.names


def _constants(ring: PolynomialRing, matrix: Sequence[Sequence[Fraction]]) -> list[list[Any]]:
    return [[ring.convert(entry) for entry in row] for row in matrix]


def stated_equations(d: int, d_out: int, column: int) -> list[Polynomial]:
    """Return linear forms whose zeros are the kernel that MATH.md states at the point of `kernel_equations`.

    For c = 0 these are all ``(-m e_1^T, e_1 m^T)``: the entries of A' outside its first column and of V'
    outside its first row are 0, and ``A'_i1 = -V'_1i``. Otherwise they are the multiples of ``(A, -V)``.

    Parameters
    ----------
    d, d_out
        Widths of the layer.
    column
        The number c, from 0.

    Examples
    --------
    >>> len(stated_equations(2, 1, 0)), len(stated_equations(2, 1, 1))
    (4, 5)
    """
    pairs = [(i, i) for i in range(d)] if column == 0 else [(column, 0)]
    paired = {i * d: d * d + j for i, j in pairs}
    size = d * d + d * d_out
    equations = []
    for k in range(size):
        if k in paired:
            equations.append(_sum(size, k, paired[k]))
        elif k not in paired.values():
            equations.append(_sum(size, k))
    return equations


def _sum(size: int, *places: int) -> Polynomial:
    return {tuple(int(j == k) for j in range(size)): Fraction(1) for k in places}


def kernel_at_rank_one(network: Network, column: int) -> Certificate:
    """Return the reduced echelon form of the equations of the kernel, derived from them over QQ.

    It is a Groebner basis: its elements are linear combinations of the equations (so the rank of the
    differential is no smaller), and these are combinations of its elements (so it is no larger).

    Raises
    ------
    UnsupportedError
        For other networks, or if no engine answers.
    TooLargeError
        If the layer has more than 2000 coefficients.

    References
    ----------
    MATH.md section 3, "Immersion"; FORMAT.md section 15.

    Examples
    --------
    >>> import lightningalg as la
    >>> kernel_at_rank_one(la.lightning((3, 2), (1,)), 0).claim["dimension"]
    3
    """
    ideal, names = kernel_equations(network, column)
    basis, how = first_answer(
        lambda solver: solver.groebner_basis(ideal, proof=True), "auto", ideal=ideal, need="proof"
    )
    details = {"engine": how, "variables": f"a direction (A', V'), t = {network.tokens}"}
    return groebner_certificate(basis, names, provenance=provenance(**details))


class _KernelClaim(AbstractClaim):
    certificate_kind = "groebner-basis"
    expected_quantity = "kernel"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "kernel": "dimension of the kernel of the differential of (V, A) -> v_i(x) A(x, y), all d x d A",
        "differential_rank": "rank of the differential",
        "kernel_as_stated": "1 if the kernel is the space of MATH.md section 3, else 0",
    }
    column: ClassVar[int]

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        return kernel_at_rank_one(subject, self.column)

    def is_about(self, certificate: Mapping[str, Any], network: Any) -> bool:
        ideal, names = kernel_equations(network, self.column)
        return states_ideal(certificate, ideal, names)

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        names, claim = certificate["ideal"]["variables"], certificate["claim"]
        d = isqrt(sum(name.startswith("A") for name in names))
        linear = all(sum(exponents) == 1 for f in certificate["ideal"]["generators"] for _, exponents in f)
        if not linear or len(names) % d:
            return dict.fromkeys(self.quantities_known)
        stated = [encode_polynomial(f) for f in stated_equations(d, len(names) // d - d, self.column)]
        return {
            "kernel": claim["dimension"],
            "differential_rank": len(names) - claim["dimension"],
            "kernel_as_stated": int(_sorted(claim["basis"]) == _sorted(stated)),
        }


def _sorted(polynomials: Sequence[Any]) -> list[str]:
    return sorted(str([[c, list(exponents)] for c, exponents in f]) for f in polynomials)


class ParallelKernelClaim(_KernelClaim):
    """The kernel where V = w k^T and A = k q^T."""

    kind = "kernel-rank-one-parallel"
    column = 0


class RankOneKernelClaim(_KernelClaim):
    """The kernel where V = w v^T and A = k q^T, v and k not proportional."""

    kind = "kernel-rank-one"
    column = 1
