"""Symmetries of a network: what is known of them, and a certificate of what is proved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from lightningalg.arguments import function, one_of
from lightningalg.certificates import Certificate
from lightningalg.certificates.sampling import validate_seed
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.provenance import provenance
from lightningalg.engines.choose import NAMES, linear_algebra
from lightningalg.networks.network import Network, checked_network
from lightningalg.networks.spec import network_from_table
from lightningalg.rank.lower_bound import rank_lower_bound
from lightningalg.rank.upper_bounds import best_upper_bound
from lightningalg.symmetry import study
from lightningalg.symmetry.algebra import algebra_witness
from lightningalg.symmetry.report import SymmetryReport

FILLS, WITHIN = "fill the kernel", "lie in the kernel"


def symmetries(
    network: Network,
    *,
    seed: str | int = "0",
    degree: int = 2,
    max_parameters: int = study.MAX_PARAMETERS,
    max_unknowns: int = study.MAX_UNKNOWNS,
    engine: str = "auto",
    progress: Callable[[str], None] = lambda message: None,
) -> SymmetryReport:
    """Return known and discovered symmetries of a network against the kernel of its Jacobian.

    Groups that the graph shows; all linear symmetries; where these do not fill the kernel, fields of higher
    degree and factorisations. Every statement of the report says how strong it is.

    Parameters
    ----------
    network
        Any network with parameters.
    seed
        Decides points, inputs and functionals.
    degree
        Highest degree of polynomial fields, 1 to 3.
    max_parameters, max_unknowns
        Refuse larger networks; skip, and say so, degrees with more coefficients.
    engine
        ``auto``, ``flint`` or ``blocked``.
    progress
        Told what is being done.

    Raises
    ------
    InputError, TooLargeError
        For a network without parameters, a wrong degree, more than ``max_parameters`` parameters.

    References
    ----------
    MATH.md sections 4 and 6.

    Examples
    --------
    >>> import lightningalg as la
    >>> report = la.symmetries(la.lightning((3, 2, 3), (2, 2)))
    >>> report.algebra, report.kernel_dimension, report.hidden
    ('gl_2 x gl_2 x gl_2 x torus^2', 14, 0)
    """
    one_of(engine, "engine", NAMES)
    bound = best_upper_bound(network).value if checked_network(network).parameter_count else None
    return study.symmetries(
        network, choose=partial(linear_algebra, name=engine), seed=seed, degree=degree,
        max_parameters=max_parameters, max_unknowns=max_unknowns, rank_upper_bound=bound, progress=progress,
    )  # fmt: skip


def symmetry_certificate(
    network: Network,
    *,
    seed: str | int = "0",
    engine: str = "auto",
    progress: Callable[[str], None] = lambda message: None,
) -> Certificate:
    """Return the certificate of the network's proved symmetries (kind ``symmetry-algebra``).

    It states fields that leave the map unchanged for all parameters, how many directions they make at a
    point, the Lie algebra where it is a product of gl, so(a,a), tori, and, if so, that they fill the kernel
    of the Jacobian: then there are no hidden continuous symmetries.

    Raises
    ------
    InputError, TooLargeError, UnsupportedError
        For a network without parameters, with too many, or with layers that are not built in.

    References
    ----------
    FORMAT.md section 8.

    Examples
    --------
    >>> import lightningalg as la
    >>> certificate = symmetry_certificate(la.lightning((3, 2, 3), (2, 2)))
    >>> certificate.claim["relation"], certificate.claim["rank"]
    ('fill the kernel', 14)
    """
    checked_network(network)
    seed, choose = validate_seed(seed), partial(linear_algebra, name=one_of(engine, "engine", NAMES))
    function(progress, "progress")
    target = best_upper_bound(network).value
    lower = rank_lower_bound(network, target=target, choose=choose, seed=seed, progress=progress)
    kernel = network.parameter_count - lower.witness.value
    found = algebra_witness(
        network, kernel=kernel, choose=choose, bound_of=best_upper_bound, seed=seed
    )  # fmt: skip
    factors = found.factors
    claim = {
        "quantity": "symmetries",
        "relation": FILLS if found.rank == kernel else WITHIN,
        "fields": found.fields,
        "rank": found.rank,
        "factors": None if factors is None else [{"algebra": name, "size": size} for name, size in factors],
    }
    witness = {"lower_bound": lower.witness.to_json(), "symmetries": found.steps}
    return Certificate(
        "symmetry-algebra", {"network": network.to_json()}, claim, witness,
        provenance(engine=lower.engine, seed=seed),
    )  # fmt: skip


class SymmetriesClaim(AbstractClaim):
    """Fields that leave the map unchanged, against the kernel of the Jacobian."""

    kind = "symmetries"
    certificate_kind = "symmetry-algebra"
    expected_quantity = "directions"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "parameters": "number of parameters",
        "fields": "independent vector fields that leave the map unchanged",
        "directions": "dimensions of the kernel of the Jacobian that they span at a generic point, at least",
        "kernel": "dimension of that kernel, where they fill it",
        "unexplained": "0 where they fill it: there are no further continuous symmetries",
        "factors": "number of factors gl, so(a,a) and tori, where the algebra is their product",
        "orthogonal": "sum of the a of its factors so(a,a), where the algebra is such a product",
    }

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        return symmetry_certificate(subject, seed=seed)

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        claim = certificate["claim"]
        fills, factors = claim["relation"] == FILLS, claim["factors"]
        own = [] if factors is None else [f["size"] for f in factors if f["algebra"] == "so"]
        return {
            "parameters": network_from_table(certificate["network"]).parameter_count,
            "fields": claim["fields"],
            "directions": claim["rank"],
            "kernel": claim["rank"] if fills else None,
            "unexplained": 0 if fills else None,
            "factors": None if factors is None else len(factors),
            "orthogonal": None if factors is None else sum(own),
        }
