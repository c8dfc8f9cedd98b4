"""The certificates of a finished run, next to what its summary says: nothing of the summary is believed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from lightningalg.certificates.checker import check_files
from lightningalg.claims import claim_kinds
from lightningalg.claims.base import AbstractClaim
from lightningalg.errors import InputError, LightningAlgError, shown
from lightningalg.networks.spec import network_from_table
from lightningalg.worksheets.formula import Formula
from lightningalg.worksheets.model import standard_variables
from lightningalg.worksheets.verdict import CERTIFIED, NUMERICAL, REFUTED, decided

#: certificates that one process of the verifier checks
_BATCH = 64
_MALFORMED = (LightningAlgError, LookupError, TypeError, AttributeError, ValueError)

#: told (certificates done, all of them, what is being done)
Progress = Callable[[int, int, str], None]


def verifier_answers(
    files: Sequence[Path], progress: Progress = lambda done, total, what: None
) -> dict[Path, Mapping[str, Any]]:
    """Return the stand-alone verifier's answer for each file, with as many processes as there are cores.

    Parameters
    ----------
    files
        Paths of certificates; each is checked once.
    progress
        Told after every batch.

    Raises
    ------
    LightningAlgError
        If the verifier does not answer.

    Examples
    --------
    >>> verifier_answers([Path("/nowhere.json")])[Path("/nowhere.json")]["verdict"]
    'unsupported'
    """
    files = list(dict.fromkeys(files))
    batches = [files[start : start + _BATCH] for start in range(0, len(files), _BATCH)]
    answers: dict[Path, Mapping[str, Any]] = {}
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        try:
            for batch, found in zip(batches, pool.map(check_files, batches), strict=True):
                answers |= zip(batch, found, strict=True)
                progress(len(answers), len(files), "verifying")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return answers


def subject_of(certificate: Mapping[str, Any]) -> str:
    """Return what a certificate is about in one line, from its description; nothing if it says no network.

    Examples
    --------
    >>> import lightningalg as la
    >>> subject_of(la.dimension(la.lightning((2, 1), (1,))).certificate.to_json())
    'lightning, widths 2,1, ranks 1, tokens 2'
    """
    try:
        return str(network_from_table(certificate["network"]))
    except _MALFORMED:
        return ""


def contradiction(
    claim: Mapping[str, Any], instance: Mapping[str, Any], certificate: Mapping[str, Any]
) -> str:
    """Return in what a summary's instance of a claim is not what its certificate says, or nothing.

    Compared are the kind, every quantity, the sizes of the network, the strength, the number that the
    claim's formula gives, and the verdict, which is found again from the certificate and the claim's
    formulas.

    Parameters
    ----------
    claim, instance
        Entries of ``summary.json``.
    certificate
        An undamaged certificate that the verifier has accepted.

    Examples
    --------
    >>> import lightningalg as la
    >>> certificate = la.dimension(la.lightning((2, 1), (1,))).certificate.to_json()
    >>> entry = {"verdict": "certified", "strength": "exact", "expected": 4, "dimension": 4, "variables": {}}
    >>> contradiction({"kind": "dimension", "expected": "4"}, entry, certificate)
    ''
    >>> contradiction({"kind": "dimension", "expected": "4"}, entry | {"dimension": 5}, certificate)
    'the summary says dimension 5, the certificate 4'
    """
    name = str(claim.get("kind"))
    kind = claim_kinds().get(name)
    if kind is None:
        return f"claims of kind {shown(name, 40)!r} are not known here: nothing can be compared"
    if certificate.get("kind") != kind.certificate_kind:
        return f"it is of kind {shown(certificate.get('kind'), 40)!r}, not {kind.certificate_kind!r}"
    try:
        proved = kind.quantities(certificate)
    except _MALFORMED:
        return f"the certificate has no quantities of a claim of kind {shown(name, 40)!r}"
    for quantity, value in proved.items():
        if quantity != "expected" and quantity in instance and instance[quantity] != value:
            return (
                f"the summary says {quantity} {_shown(instance[quantity])}, the certificate {_shown(value)}"
            )
    variables = instance.get("variables")
    own = dict(variables) if isinstance(variables, Mapping) else {}
    if kind.subject == "network":
        for size, value in _sizes(certificate).items():
            if own.setdefault(size, value) != value:
                return f"the summary says {size} {_shown(own[size])}, the certificate's network has {value}"
    return _judged(kind, claim, instance, certificate, proved, own)


def _sizes(certificate: Mapping[str, Any]) -> dict[str, int]:
    try:
        return standard_variables(network_from_table(certificate["network"]))
    except _MALFORMED:
        return {}


def _judged(
    kind: AbstractClaim,
    claim: Mapping[str, Any],
    instance: Mapping[str, Any],
    certificate: Mapping[str, Any],
    proved: Mapping[str, int | None],
    variables: Mapping[str, Any],
) -> str:
    """Return what is wrong with an instance's strength, expected number or verdict, or nothing."""
    expected, text = instance.get("expected"), str(claim.get("check") or "")
    try:
        check = Formula.parse(text) if text else None
        formula = Formula.parse(str(claim["expected"])) if claim.get("expected") else None
        if formula is not None and (value := formula.evaluate(variables)) != expected:
            return f"the summary expects {_shown(expected)}, the claim's formula gives {_shown(value)}"
        if expected is not None and (isinstance(expected, bool) or not isinstance(expected, int)):
            return f"the number expected is {_shown(expected)}, not an integer"
        differs = claim.get("relation") == "differs"
        verdict = decided(expected, check, differs, variables, kind.expected_quantity, proved)
    except InputError as error:
        return f"what the claim says of this instance cannot be found again: {shown(error, 200)}"
    recorded = instance.get("verdict")
    if recorded in (CERTIFIED, REFUTED) and recorded != verdict:
        return f"the summary says {_shown(recorded)}; from the certificate and the claim it is {verdict}"
    numerical = check is not None and bool(check.names & kind.numerical)
    strength = NUMERICAL if numerical else certificate.get("strength")
    if instance.get("strength") != strength:
        found = _shown(instance.get("strength"))
        return f"the summary says strength {found}, the certificate {_shown(strength)}"
    return ""


def _shown(value: Any) -> str:
    return "unknown" if value is None else shown(value, 40)
