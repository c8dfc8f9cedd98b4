"""From proved quantities to verdicts, in four words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from lightningalg.errors import InputError, shown
from lightningalg.worksheets.formula import Formula
from lightningalg.worksheets.model import Claim, Instance

CERTIFIED = "certified"
WITH_HYPOTHESES = "certified with hypotheses"
REFUTED = "refuted"
OPEN = "open"
_AGAIN = "the summary was altered; run the worksheets again"

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
    return decided(instance.expected, claim.check, claim.differs, instance.variables, quantity, proved)


def decided(
    expected: int | None,
    check: Formula | None,
    differs: bool,
    variables: Mapping[str, int],
    quantity: str,
    proved: Mapping[str, int | None],
) -> str:
    """Return the verdict on an instance from its number, the claim's condition, and what is proved.

    Parameters
    ----------
    expected
        The number that the claim's formula gives for this instance; ``None``: it has no formula.
    check
        The claim's further condition.
    differs
        Whether the claim says that the number is another one.
    variables
        Values of the names in ``check``, besides the quantities.
    quantity
        Which of the proved quantities ``expected`` is about.
    proved
        Quantities with their proved values; ``None``: not known.

    Examples
    --------
    >>> decided(4, None, False, {}, "dimension", {"dimension": 4})
    'certified'
    >>> decided(4, None, True, {}, "dimension", {"dimension": 4})
    'refuted'
    """
    if expected is None and check is None:
        return CERTIFIED if proved.get(quantity) is not None else OPEN
    verdicts = []
    if expected is not None:
        verdicts.append(_compare(expected, quantity, proved))
    if check is not None:
        values = {**variables, **{k: v for k, v in proved.items() if v is not None}}
        known = check.names <= values.keys()
        verdicts.append((CERTIFIED if check.evaluate(values) else REFUTED) if known else OPEN)
    if differs:
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


def recorded_verdict(entry: Mapping[str, Any], what: str) -> str:
    """Return the verdict of a claim in a summary, if it is the one that follows from its instances.

    An instance counts as certified only with a certificate that the verifier has accepted. The summary does
    not say which hypotheses are tested: where there are any, both words for certified are accepted.

    Parameters
    ----------
    entry
        The claim's entry of ``summary.json``; its ``instances`` are objects.
    what
        Names the claim in errors.

    Raises
    ------
    InputError
        If the verdict is another one, or an instance is called certified that cannot be.

    Examples
    --------
    >>> proved = {"name": "a", "verdict": "certified", "certificate": "a.json", "verified": True}
    >>> recorded_verdict({"verdict": "certified", "instances": [proved]}, "the claim")
    'certified'
    >>> refuted = {"name": "b", "verdict": "refuted"}
    >>> recorded_verdict({"verdict": "certified", "instances": [proved, refuted]}, "the claim")
    Traceback (most recent call last):
    lightningalg.errors.InputError: the claim: its verdict is 'certified', but its instances say ...
    """
    for one in entry["instances"]:
        if one.get("verdict") not in (CERTIFIED, REFUTED, OPEN):
            raise InputError(
                f"{what}: an instance has the verdict {shown(one.get('verdict'), 40)!r}: {_AGAIN}"
            )
        if one["verdict"] == CERTIFIED and not (one.get("certificate") and one.get("verified") is True):
            name = shown(one.get("name"))
            raise InputError(f"{what}: instance {name} is certified without a verified certificate: {_AGAIN}")
    verdict = worst(one["verdict"] for one in entry["instances"]) if entry["instances"] else OPEN
    accepted = [verdict, WITH_HYPOTHESES] if verdict == CERTIFIED and entry.get("hypotheses") else [verdict]
    found = str(entry.get("verdict"))
    if found not in accepted:
        says = f"its verdict is {shown(found, 40)!r}, but its instances say {verdict!r}"
        raise InputError(f"{what}: {says}: {_AGAIN}")
    return found


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
