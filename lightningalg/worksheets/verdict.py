"""From proved quantities to verdicts, in the words of INTERFACE.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from lightningalg.worksheets.model import Claim, Instance

CERTIFIED = "certified"
WITH_HYPOTHESES = "certified with hypotheses"
REFUTED = "refuted"
OPEN = "open"

#: the strength of what floating point, or only a notebook, shows
NUMERICAL = "numerical"


def judge(claim: Claim, instance: Instance, quantity: str, proved: Mapping[str, int | None]) -> str:
    """Return ``certified``, ``refuted`` or ``open`` for one instance.

    ``proved`` holds what the certificate proves; ``None`` is unknown, and then a claim is open unless
    proved bounds exclude it. A claim without ``expected`` and ``check`` says that the quantity is known.

    Examples
    --------
    >>> from lightningalg.worksheets.library import find_worksheets
    >>> from lightningalg.worksheets.model import read_worksheet
    >>> claims = read_worksheet(find_worksheets(["single-layer"])[0]).claims
    >>> claim = next(claim for claim in claims if claim.id == "dimension")
    >>> instance = claim.instances[0]
    >>> right = judge(claim, instance, "dimension", {"dimension": instance.expected})
    >>> right, judge(claim, instance, "dimension", {"dimension": None})
    ('certified', 'open')
    """
    if instance.expected is None and claim.check is None:
        return CERTIFIED if proved.get(quantity) is not None else OPEN
    verdicts = []
    if instance.expected is not None:
        verdicts.append(_compare(instance.expected, quantity, proved))
    if claim.check is not None:
        values = {**instance.variables, **{k: v for k, v in proved.items() if v is not None}}
        known = claim.check.names <= values.keys()
        verdicts.append((CERTIFIED if claim.check.evaluate(values) else REFUTED) if known else OPEN)
    if claim.differs:
        opposite = {CERTIFIED: REFUTED, REFUTED: CERTIFIED, OPEN: OPEN}
        verdicts = [opposite[verdict] for verdict in verdicts]
    return worst(verdicts)


def _compare(expected: int, quantity: str, proved: Mapping[str, int | None]) -> str:
    value = proved.get(quantity)
    if value is not None:
        return CERTIFIED if value == expected else REFUTED
    lower, upper = proved.get("lower_bound"), proved.get("upper_bound")
    excluded = (lower is not None and expected < lower) or (upper is not None and expected > upper)
    return REFUTED if excluded else OPEN


def strength_of(
    claim: Claim, numerical: AbstractSet[str], certificate: Mapping[str, Any] | None
) -> str | None:
    """Return the strength of an instance's verdict: its certificate's, or ``numerical``.

    Numerical is what a floating-point number decides: a ``check`` that names one, whatever exact numbers it
    is compared with. ``None``: there is no certificate.

    Parameters
    ----------
    numerical
        Names of the quantities that are numerical.

    Examples
    --------
    >>> from lightningalg.worksheets.library import find_worksheets
    >>> from lightningalg.worksheets.model import read_worksheet
    >>> claim = read_worksheet(find_worksheets(["floats"])[0]).claims[0]
    >>> strength_of(claim, {"float_maximum"}, {"strength": "exact"}), strength_of(claim, set(), None)
    ('numerical', None)
    """
    if certificate is None:
        return None
    if claim.check is not None and claim.check.names & numerical:
        return NUMERICAL
    return certificate.get("strength")


def worst(verdicts: Iterable[str]) -> str:
    """Return ``refuted`` if one is refuted, else ``open`` if one is open, else ``certified``.

    Parameters
    ----------
    verdicts
        Of several instances.

    Examples
    --------
    >>> worst(["certified", "open"]), worst([])
    ('open', 'certified')
    """
    found = set(verdicts)
    return REFUTED if REFUTED in found else OPEN if OPEN in found else CERTIFIED


def claim_verdict(claim: Claim, verdicts: Iterable[str]) -> str:
    """Return the verdict of a claim from those of its instances.

    Hypotheses that no formula tests leave it ``certified with hypotheses``.

    Parameters
    ----------
    verdicts
        Of its instances.

    Examples
    --------
    >>> from lightningalg.worksheets.library import find_worksheets
    >>> from lightningalg.worksheets.model import read_worksheet
    >>> claim = read_worksheet(find_worksheets(["single-layer"])[0]).claims[0]
    >>> claim_verdict(claim, ["certified", "refuted"])
    'refuted'
    """
    verdict = worst(verdicts)
    untested = any(hypothesis.check is None for hypothesis in claim.hypotheses)
    return WITH_HYPOTHESES if verdict == CERTIFIED and untested else verdict


def is_declared(claim: Claim, verdict: str) -> bool:
    """Whether a claim's verdict is the one its worksheet declares: without declaration, that it is certified.

    Examples
    --------
    >>> from lightningalg.worksheets.library import find_worksheets
    >>> from lightningalg.worksheets.model import read_worksheet
    >>> claim = read_worksheet(find_worksheets(["single-layer"])[0]).claims[0]
    >>> is_declared(claim, "certified"), is_declared(claim, "open")
    (True, False)
    """
    return verdict == claim.declared if claim.declared else verdict in (CERTIFIED, WITH_HYPOTHESES)
