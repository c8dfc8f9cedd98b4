"""The dimension of a neuromanifold: two proved bounds and, where they meet, a theorem."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from lightningalg.arguments import function, one_of, positive_number
from lightningalg.certificates import Certificate, UpperBound
from lightningalg.certificates.sampling import validate_seed
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.provenance import provenance
from lightningalg.engines.choose import NAMES, linear_algebra
from lightningalg.engines.residue_arrays import DEFAULT_PRIME
from lightningalg.errors import ContradictionError, InputError, shown
from lightningalg.networks.base import positive_size
from lightningalg.networks.families import family, has_softmax
from lightningalg.networks.network import Network, checked_network
from lightningalg.networks.spec import network_from_table
from lightningalg.rank.ball_bound import BallBound, ball_lower_bound
from lightningalg.rank.lower_bound import DEFAULT_MEMORY, LowerBound, rank_lower_bound
from lightningalg.rank.predicted import predicted_dimension
from lightningalg.rank.upper_bounds import best_upper_bound, upper_bounds
from lightningalg.symmetry.upper_bound import symmetry_bound

CERTIFIED = "certified"
BOUNDS_DIFFER = "bounds differ"


@dataclass(frozen=True, slots=True)
class Dimension:
    """The dimension of a network's neuromanifold, as far as it is proved.

    Attributes
    ----------
    value
        The dimension if the bounds meet, else ``None``: unknown.
    lower_bound, upper_bound
        Both proved, exactly.
    status
        ``certified`` or ``bounds differ``.
    parameters
        The number n of parameters.
    predicted
        What a closed formula says, or ``None``; proves nothing.
    certificate
        What ``lightningalg verify`` checks.
    upper_bound_by
        The argument of the upper bound (FORMAT.md section 4.2).
    engine
        The engine of the elimination and why it was chosen.
    seconds
        Wall time.

    Examples
    --------
    >>> import lightningalg as la
    >>> found = la.dimension(la.lightning((2, 2), (1,)))
    >>> found.value, found.upper_bound_by
    (6, 'flag')
    """

    value: int | None
    lower_bound: int
    upper_bound: int
    status: str
    parameters: int
    predicted: int | None
    certificate: Certificate
    upper_bound_by: str
    network: Network
    engine: str
    matrix: tuple[int, int]
    other_upper_bounds: tuple[UpperBound, ...]
    seconds: float

    def __repr__(self) -> str:
        value = f"{self.lower_bound} to {self.upper_bound}" if self.value is None else self.value
        return f"<Dimension {value}, {self.status}: {self.network}>"

    def _repr_html_(self) -> str:
        return _dimension_html(self)

    def _repr_latex_(self) -> str:
        """Return what is proved, in LaTeX."""
        if self.value is not None:
            return rf"$\dim Y = {self.value}$"
        return rf"${self.lower_bound} \le \dim Y \le {self.upper_bound}$"

    def to_json(self) -> dict[str, Any]:
        """Return the fields of ``dimension --json``."""
        standard = family(self.network)
        return {
            "network": {**(standard.to_json() if standard else {}), **self.network.to_json()},
            "parameters": self.parameters,
            "dimension": self.value,
            "lower_bound": self.lower_bound,
            "upper_bound": self.upper_bound,
            "status": self.status,
            "upper_bound_by": self.upper_bound_by,
            "predicted": self.predicted,
            "strength": self.certificate.strength,
            "engine": self.engine,
            "certificate_sha256": self.certificate.sha256,
            "seconds": round(self.seconds, 4),
        }


def _dimension_html(found: Dimension) -> str:
    from lightningalg.display import html_table

    rows = [
        ("parameters", found.parameters, ""),
        ("dimension", "unknown" if found.value is None else found.value, found.status),
        ("lower bound", found.lower_bound, f"by {found.engine}"),
        ("upper bound", found.upper_bound, found.upper_bound_by),
        ("predicted", "-" if found.predicted is None else found.predicted, "proves nothing"),
    ]
    note = f"certificate {found.certificate.sha256[:12]}, strength {found.certificate.strength}"
    return html_table(found.network, ("quantity", "value", "how"), rows, note)


def dimension(
    network: Network,
    *,
    seed: str | int = "0",
    prime: int = DEFAULT_PRIME,
    primes: int = 1,
    engine: str = "auto",
    lower_bound: str = "auto",
    max_memory: float = DEFAULT_MEMORY,
    progress: Callable[[str], None] = lambda message: None,
) -> Dimension:
    """Return the dimension of the network's neuromanifold between two proved bounds.

    Lower bound: a minor of the sampled Jacobian that is not zero modulo a prime. Upper bound: the
    best argument that applies; where the cheap ones do not meet the lower bound, vector fields that leave
    the map unchanged. Where the bounds meet the dimension is certified; otherwise both are reported and the
    value is unknown.

    Parameters
    ----------
    network
        Any network with parameters.
    seed
        Decides the point, inputs and functionals; the same arguments give the same certificate.
    prime
        Odd prime below 2^23.
    primes
        How many primes to try, from ``prime`` downwards, while the bounds differ.
    engine
        ``auto``, ``flint`` or ``blocked``.
    lower_bound
        ``auto``: exact, modulo a prime. ``minor`` and ``exponential`` are its names without and with
        normalised attention. ``ball``: by ball arithmetic at a point, of strength ``ball``; no prime and
        no theorem on exponentials is used.
    max_memory
        GiB for the Jacobian and its elimination.
    progress
        Told what is being done.

    Raises
    ------
    InputError, TooLargeError
        See ``rank_lower_bound``.
    ContradictionError
        If the proved bounds contradict each other: a defect of this package.

    References
    ----------
    MATH.md sections 2 to 4; Henry, Marchetti, Kohn, ICLR 2025.

    Examples
    --------
    >>> import lightningalg as la
    >>> result = la.dimension(la.lightning(widths=(4, 3, 2, 4), ranks=(2, 2, 2), tokens=2))
    >>> result.value, result.parameters, result.status
    (34, 62, 'certified')
    """
    start = time.perf_counter()
    checked_network(network)
    primes, seed = positive_size(primes, "primes"), validate_seed(seed)
    max_memory, engine = positive_number(max_memory, "max_memory"), one_of(engine, "engine", NAMES)
    function(progress, "progress")
    bounds = upper_bounds(network)
    upper = bounds[0]
    lower = _lower_bound(
        network, _method(network, lower_bound), engine, primes, prime,
        target=upper.value, seed=seed, max_memory=max_memory, progress=progress,
    )  # fmt: skip
    if lower.witness.value < upper.value:
        bounds = _with_symmetries(network, bounds, lower, engine, seed, progress)
        upper = bounds[0]
    low, up = lower.witness.value, upper.value
    if low > up:
        raise ContradictionError(
            f"{shown(network, 200)}: proved dimension >= {low} and <= {up}; please report this"
        )
    value = low if low == up else None
    certificate = Certificate(
        "dimension",
        {"network": network.to_json()},
        _claim(low, up),
        {"lower_bound": lower.witness.to_json(), "upper_bound": upper.to_json()},
        provenance(engine=lower.engine, seed=seed),
        "ball" if isinstance(lower, BallBound) else "exact",
    )
    return Dimension(
        value, low, up, CERTIFIED if value is not None else BOUNDS_DIFFER, network.parameter_count,
        predicted_dimension(network), certificate, upper.method, network, lower.engine, lower.matrix,
        tuple(bounds[1:]), time.perf_counter() - start,
    )  # fmt: skip


#: names of lower bounds
LOWER_BOUNDS = ("auto", "ball", "exponential", "minor")


def _method(network: Network, wanted: str) -> str:
    """Return the lower bound's method, once it is known to be one for this network."""
    one_of(wanted, "lower bound", LOWER_BOUNDS)
    exact = "exponential" if has_softmax(network) else "minor"
    if wanted not in ("auto", "ball", exact):
        raise InputError(
            f"lower bound {shown(wanted)!r} is not for {shown(network, 200)}: accepted are auto, "
            f"ball and {exact}"
        )
    return exact if wanted == "auto" else wanted


def _lower_bound(
    network: Network, method: str, engine: str, primes: int, first: int, **search: Any
) -> LowerBound | BallBound:
    """Return the lower bound by a method; ``search`` says how far it has to go, and with what."""
    if method == "ball":
        return ball_lower_bound(network, **search)
    attempt = partial(rank_lower_bound, network, choose=partial(linear_algebra, name=engine), **search)
    return _best_lower_bound(network, search["target"], primes, first, attempt)


def _best_lower_bound(
    network: Network, target: int, primes: int, first: int, attempt: Callable[..., LowerBound]
) -> LowerBound:
    """Return the best bound of up to ``primes`` primes, the first that meets the target at once."""
    from lightningalg.engines.primes import previous_prime

    best = attempt(prime=first)
    prime = first
    for _ in range(1, primes):
        if best.witness.value >= target or prime <= 3:
            break
        prime = previous_prime(prime)
        found = attempt(prime=prime)
        best = found if found.witness.value > best.witness.value else best
    return best


def _with_symmetries(
    network: Network, bounds: list[UpperBound], lower: LowerBound | BallBound, engine: str, seed: str,
    progress: Callable[[str], None],
) -> list[UpperBound]:  # fmt: skip
    """Return the bounds with that of method ``symmetry`` among them, smallest first, if it is better."""
    found = symmetry_bound(
        network, target=lower.witness.value, choose=partial(linear_algebra, name=engine),
        bound_of=best_upper_bound, seed=seed, progress=progress,
    )  # fmt: skip
    return [found, *bounds] if found is not None and found.value < bounds[0].value else bounds


def _claim(lower: int, upper: int) -> dict[str, Any]:
    if lower == upper:
        return {"quantity": "dimension", "relation": "equals", "value": lower}
    return {"quantity": "dimension", "relation": "between", "lower": lower, "upper": upper}


class DimensionClaim(AbstractClaim):
    """The dimension of the neuromanifold, from both sides."""

    kind = "dimension"
    certificate_kind = "dimension"
    expected_quantity = "dimension"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "parameters": "number of parameters",
        "dimension": "the dimension, where the bounds meet",
        "lower_bound": "proved lower bound",
        "upper_bound": "proved upper bound",
    }

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        return dimension(subject, seed=seed).certificate

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        return bounds_of(certificate)


def bounds_of(certificate: Mapping[str, Any]) -> dict[str, int | None]:
    """Return parameters, bounds and, where they meet, the dimension that a dimension certificate states.

    Examples
    --------
    >>> import lightningalg as la
    >>> bounds_of(la.dimension(la.lightning((2, 2), (1,))).certificate.to_json())["dimension"]
    6
    """
    network = network_from_table(certificate["network"])
    claim = certificate["claim"]
    value = claim.get("value")
    relation = claim["relation"]
    return {
        "parameters": network.parameter_count,
        "dimension": value if relation == "equals" else None,
        "lower_bound": claim.get("lower", value if relation in ("equals", "at least") else None),
        "upper_bound": claim.get("upper", value if relation in ("equals", "at most") else None),
    }
