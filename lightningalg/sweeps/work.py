"""One architecture, from its table to a row: plain data, for other processes and other machines."""

from __future__ import annotations

import time
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from lightningalg.certificates.records import canonical_json
from lightningalg.claims.dimension import dimension
from lightningalg.claims.dimension_bound import dimension_at_most
from lightningalg.errors import LightningAlgError
from lightningalg.networks.spec import network_from_table

CERTIFIED, BOUNDS_DIFFER, FAILED = "certified", "bounds differ", "failed"


@dataclass(frozen=True, slots=True)
class Row:
    """What is known about one architecture; ``certificate`` is compressed JSON.

    ``status`` is ``certified``, ``bounds differ`` or, with a reason in ``problem``, ``failed``.
    """

    key: str
    status: str
    dimension: int | None = None
    lower_bound: int | None = None
    upper_bound: int | None = None
    upper_bound_by: str = ""
    predicted: int | None = None
    strength: str = ""
    engine: str = ""
    seconds: float = 0.0
    sha256: str = ""
    certificate: bytes = b""
    problem: str = ""


def certify(key: str, table: Mapping[str, Any], seed: str) -> dict[str, Any]:
    """Return the row of one network as plain data.

    Whatever fails becomes a row that says so; the upper bound, which needs no Jacobian, is still given.

    Examples
    --------
    >>> import lightningalg as la
    >>> row = certify("key", la.lightning((2, 2), (1,)).to_json(), "0")
    >>> row["status"], row["dimension"]
    ('certified', 6)
    """
    start = time.perf_counter()
    network = network_from_table(table)
    try:
        found = dimension(network, seed=seed)
    except (LightningAlgError, MemoryError) as error:
        return asdict(failed_row(key, table, str(error) or "out of memory", time.perf_counter() - start))
    certificate = found.certificate.to_json()
    return asdict(
        Row(
            key=key,
            status=CERTIFIED if found.value is not None else BOUNDS_DIFFER,
            dimension=found.value,
            lower_bound=found.lower_bound,
            upper_bound=found.upper_bound,
            upper_bound_by=found.upper_bound_by,
            predicted=found.predicted,
            strength=found.certificate.strength,
            engine=found.engine,
            seconds=round(time.perf_counter() - start, 4),
            sha256=certificate["sha256"],
            certificate=zlib.compress(canonical_json(certificate).encode("ascii"), 6),
        )
    )


def failed_row(key: str, table: Mapping[str, Any], problem: str, seconds: float) -> Row:
    """Return the row of an architecture whose lower bound was not found, with the upper bound alone."""
    try:
        bound = dimension_at_most(network_from_table(table)).claim["value"]
    except LightningAlgError:
        bound = None
    return Row(key, FAILED, upper_bound=bound, seconds=round(seconds, 4), problem=problem[:500])
