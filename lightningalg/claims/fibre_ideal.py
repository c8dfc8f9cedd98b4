"""The fibre through one rational point, by its ideal: dimension, degree, minimal primes, multiplicities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from typing import Any, ClassVar

from lightningalg.arguments import instance
from lightningalg.certificates import Certificate, stream_values
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.provenance import provenance
from lightningalg.engines.choose import first_answer
from lightningalg.engines.flint_rings import rational_rank
from lightningalg.errors import EngineError, UnsupportedError, shown
from lightningalg.ideals.certificate import groebner_certificate, states_ideal
from lightningalg.ideals.chain_ideals import chain_fibre
from lightningalg.ideals.components import minimal_primes
from lightningalg.ideals.fibre_ideals import FibreIdeal, layer_fibre
from lightningalg.ideals.matrices import product, transpose
from lightningalg.networks.families import attention_chain
from lightningalg.networks.network import Network

#: weights are integers between minus and plus this: smaller ones often lie on degenerate strata
LARGEST_WEIGHT = 20
_ATTEMPTS = 20


def fibre_at_point(network: Network, seed: str, *, sliced: bool = False) -> FibreIdeal:
    """Return the fibre's ideal at a pseudo-random point whose matrices have the ranks of the network.

    One layer: in (A, V). A chain of equal widths but the last: in virtual weights (M_1, ..., M_l, L).

    Parameters
    ----------
    network, seed
        What determines the point.
    sliced
        Whether to fix in each M_i the first entry that is not 0 at the point (one layer: M_1 = A, L = V).

    Raises
    ------
    UnsupportedError
        For other networks.

    Examples
    --------
    >>> import lightningalg as la
    >>> fibre_at_point(la.lightning((2, 2), (2,)), "0").ideal.variables
    8
    """
    chain = attention_chain(network)
    if chain is None or len({layer.d_in for layer in chain}) != 1:
        raise UnsupportedError(
            "a fibre's ideal needs a chain of lightning attention of equal widths but the last"
        )
    d, out, tokens = chain[0].d_in, chain[-1].d_out, network.tokens
    for attempt in range(_ATTEMPTS):
        forms = [
            product(
                transpose(_weights(seed, f"K/{i}/{attempt}", layer.rank, d)),
                _weights(seed, f"Q/{i}/{attempt}", layer.rank, d),
            )
            for i, layer in enumerate(chain)
        ]
        last = _weights(seed, f"L/{attempt}", out, d)
        ranks = [rational_rank(form) for form in forms]
        generic = ranks == [min(layer.rank, d) for layer in chain]
        if generic and rational_rank(last) == min(out, d):
            break
    else:
        raise UnsupportedError(f"seed {shown(seed)!r} gave no matrices of the network's ranks")
    if len(chain) == 1 and not sliced:
        return layer_fibre(forms[0], last, tokens=tokens)
    bounds = None if len(chain) == 1 or all(rank == d for rank in ranks) else ranks
    return chain_fibre(forms, last, tokens=tokens, ranks=bounds, sliced=sliced)


def _weights(seed: str, label: str, rows: int, columns: int) -> list[list[int]]:
    values = stream_values(seed, label, rows * columns, 2 * LARGEST_WEIGHT + 1)
    shifted = [value - LARGEST_WEIGHT for value in values]
    return [shifted[i * columns : (i + 1) * columns] for i in range(rows)]


def fibre_ideal(fibre: FibreIdeal, engine: str = "auto", seed: str = "") -> Certificate:
    """Return the certificate of a fibre's ideal, with its minimal primes where they are proved.

    Raises
    ------
    EngineError, UnsupportedError
        If no engine answers.

    References
    ----------
    MATH.md sections 3 and 4; FORMAT.md section 15.

    Examples
    --------
    >>> from lightningalg.ideals.fibre_ideals import layer_fibre
    >>> fibre_ideal(layer_fibre([[1, 2], [3, 4]], [[1, 1]])).claim["degree"]
    2
    """
    instance(fibre, FibreIdeal, "fibre", "what layer_fibre or chain_fibre returns")
    found, how = first_answer(
        lambda solver: (solver, solver.groebner_basis(fibre.ideal, proof=True)),
        engine,
        ideal=fibre.ideal,
        need="proof",
    )
    solver, basis = found
    try:
        components = minimal_primes(basis, solver)[0]
    except (EngineError, UnsupportedError):
        components = None  # not decided: the certificate then states none
    details = {"engine": how, "variables": fibre.description} | ({"seed": seed} if seed else {})
    return groebner_certificate(
        basis,
        fibre.names,
        components=components,
        real=fibre.point,
        provenance=provenance(**details),
    )


class FibreIdealClaim(AbstractClaim):
    """The fibre through one rational point."""

    kind = "fibre-ideal"
    certificate_kind = "groebner-basis"
    expected_quantity = "fibre_dimension"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "fibre_dimension": "dimension of the fibre",
        "fibre_degree": "degree of the fibre's ideal",
        "components": "number of minimal primes",
        "largest_multiplicity": "largest multiplicity of a minimal prime of that dimension",
    }
    #: whether an entry of each M_i is fixed
    sliced: ClassVar[bool] = False

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        return fibre_ideal(fibre_at_point(subject, seed, sliced=self.sliced), seed=seed)

    def is_about(self, certificate: Mapping[str, Any], network: Any) -> bool:
        chain, size = list(attention_chain(network) or ()), certificate["ideal"]
        entries = sum(layer.d_in**2 for layer in chain) + sum(
            layer.d_in * layer.d_out for layer in chain[-1:]
        )
        minors = [comb(layer.d_in, layer.rank + 1) ** 2 for layer in chain if len(chain) > 1]
        if entries != len(size["variables"]) or max(minors, default=0) > len(size["generators"]):
            return False  # not even built: it may be very large
        seed = str(certificate["provenance"].get("seed", ""))
        fibre = fibre_at_point(network, seed, sliced=self.sliced)
        return states_ideal(certificate, fibre.ideal, fibre.names)

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        claim = certificate["claim"]
        parts: Sequence[Any] | None = claim["components"]
        known = [part["multiplicity"] for part in parts or () if part["multiplicity"] is not None]
        return {
            "fibre_dimension": claim["dimension"],
            "fibre_degree": claim["degree"],
            "components": None if parts is None else len(parts),
            "largest_multiplicity": max(known, default=None),
        }
