"""The equations of a single layer's closure, up to a degree: all of them, minimally."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from lightningalg.arguments import instance
from lightningalg.certificates import Certificate
from lightningalg.certificates.sampling import compress_runs
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.provenance import provenance
from lightningalg.engines.residue_arrays import DEFAULT_PRIME
from lightningalg.errors import UnsupportedError
from lightningalg.invariants.completeness import SpaceProof
from lightningalg.invariants.generators import WeightGenerators
from lightningalg.invariants.report import InvariantsReport, encode
from lightningalg.invariants.study import invariants
from lightningalg.networks.families import attention_chain
from lightningalg.networks.network import Network

#: degree up to which a worksheet's claim looks: beyond all generators found for the paper's small sizes
WORKSHEET_DEGREE = 4


def invariants_certificate(report: InvariantsReport) -> Certificate:
    """Return the certificate of the strongest statement that a report proves.

    Raises
    ------
    UnsupportedError
        If the network is not one attention head, or some generators were not lifted.

    References
    ----------
    FORMAT.md section 14.

    Examples
    --------
    >>> import lightningalg as la
    >>> invariants_certificate(invariants(la.lightning((2, 1), (1,)), 2)).claim["generators"]
    [0, 3]
    """
    instance(report, InvariantsReport, "report", "what invariants(network, degree) returns")
    chain = attention_chain(report.network)
    if chain is None or len(chain) != 1:
        raise UnsupportedError("certificates of equations are for a single attention head")
    unlifted = [degree.degree for degree in report.found if not degree.lifted]
    if unlifted:
        raise UnsupportedError(
            f"the generators of degree {unlifted[0]} are known modulo a prime only: ask for a smaller degree"
        )
    relation = "vanish"
    if report.proofs is not None:
        relation = "generate minimally" if report.minimal else "generate"
    return Certificate(
        "invariants",
        {"network": report.network.to_json()},
        {
            "quantity": "equations",
            "relation": relation,
            "degree": report.degree,
            "generators": report.counts,
        },
        _witness(report, relation),
        provenance(seed=report.seed),
    )


def _witness(report: InvariantsReport, relation: str) -> dict[str, Any]:
    size = len(report.phi.names)
    degrees = []
    for number, degree in enumerate(report.found):
        if report.proofs is None:
            spaces = [_space(space, None, relation, size) for space in degree.spaces if space.count]
        else:
            pairs = zip(degree.spaces, report.proofs[number], strict=True)
            spaces = [_space(space, proof, relation, size) for space, proof in pairs]
        degrees.append(spaces)
    if relation == "vanish":
        return {"degrees": degrees}
    sampling = {"rule": "sha256-counter", "seed": report.seed}
    return {"prime": DEFAULT_PRIME, "sampling": sampling, "degrees": degrees}


def _space(space: WeightGenerators, proof: SpaceProof | None, relation: str, size: int) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "weight": list(space.weight),
        "polynomials": [encode(polynomial, size) for polynomial in space.polynomials],
    }
    if proof is not None:
        entry["products"] = compress_runs(proof.products)
        if relation == "generate minimally":
            assert proof.functionals is not None
            entry["functionals"] = [encode(functional, size) for functional in proof.functionals]
    return entry


class InvariantsClaim(AbstractClaim):
    """Minimal generators of the ideal of a single layer's closure, degree by degree."""

    kind = "invariants"
    certificate_kind = "invariants"
    expected_quantity = "generators"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "generators": "number of minimal generators up to degree 4",
        "linear": "minimal generators of degree 1",
        "quadrics": "minimal generators of degree 2",
        "cubics": "minimal generators of degree 3",
        "quartics": "minimal generators of degree 4",
    }

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        return invariants_certificate(invariants(subject, WORKSHEET_DEGREE, seed=seed, hilbert=0))

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        claim = certificate["claim"]
        names = ("linear", "quadrics", "cubics", "quartics")
        if claim["relation"] != "generate minimally" or claim["degree"] < WORKSHEET_DEGREE:
            return {"generators": None, **dict.fromkeys(names)}
        counts = claim["generators"][:WORKSHEET_DEGREE]
        return {"generators": sum(counts), **dict(zip(names, counts, strict=True))}
