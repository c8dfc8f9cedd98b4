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
from lightningalg.errors import InputError, shown
from lightningalg.worksheets.formula import Formula
from lightningalg.worksheets.subjects import MALFORMED, tied_variables
from lightningalg.worksheets.verdict import CERTIFIED, NUMERICAL, OPEN, REFUTED, decided

#: certificates that one process of the verifier checks
_BATCH = 64

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


def contradiction(
    claim: Mapping[str, Any], instance: Mapping[str, Any], certificate: Mapping[str, Any]
) -> str:
    """Return in what a summary's instance of a claim is not what its certificate says, or nothing.

    Compared are the kind, every quantity, the network or identity, the strength, the number that the
    claim's formula gives, and the verdict, which is found again from the certificate and the claim's
    formulas. Formulas may use a variable only if the certificate confirms its value.

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
    except MALFORMED:
        return f"the certificate has no quantities of a claim of kind {shown(name, 40)!r}"
    for quantity, value in proved.items():
        if quantity != "expected" and quantity in instance and instance[quantity] != value:
            return (
                f"the summary says {quantity} {_shown(instance[quantity])}, the certificate {_shown(value)}"
            )
    try:
        tied = tied_variables(kind, claim, instance, certificate)
    except InputError as error:
        return str(error)
    return _judged(kind, claim, instance, certificate, proved, tied)


def proved_quantities(claim: Mapping[str, Any], certificate: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the quantities that a certificate proves for a claim of a summary; none if it proves none.

    Examples
    --------
    >>> import lightningalg as la
    >>> certificate = la.dimension(la.lightning((2, 1), (1,))).certificate.to_json()
    >>> proved_quantities({"kind": "dimension"}, certificate)["dimension"]
    4
    """
    kind = claim_kinds().get(str(claim.get("kind")))
    try:
        found = {} if kind is None else kind.quantities(certificate)
    except MALFORMED:
        return {}
    return {name: value for name, value in found.items() if name != "expected"}


def refuse_repeated(claim: Mapping[str, Any], what: str) -> None:
    """Refuse a claim that counts one instance, or one certificate, more than once.

    Raises
    ------
    InputError
        Naming the name or the file.

    Examples
    --------
    >>> refuse_repeated({"instances": [{"name": "a"}, {"name": "a"}]}, "the claim")
    Traceback (most recent call last):
    lightningalg.errors.InputError: the claim: two instances share the name 'a'
    """
    for key, word in (("name", "name"), ("certificate", "file")):
        seen: set[str] = set()
        for one in claim["instances"]:
            value = one.get(key) if isinstance(one, Mapping) else None
            if not isinstance(value, str):
                continue
            value = os.path.normpath(value) if key == "certificate" else value
            if value in seen:
                raise InputError(f"{what}: two instances share the {word} {shown(value, 100)!r}")
            seen.add(value)


def _untied(
    instance: Mapping[str, Any], formulas: Sequence[Formula | None], tied: Mapping[str, int]
) -> str | None:
    """Return a variable of the formulas whose value only the summary says."""
    variables = instance.get("variables")
    names = {name for formula in formulas if formula is not None for name in formula.names}
    said = names & variables.keys() if isinstance(variables, Mapping) else set()
    return next(iter(sorted(said - tied.keys())), None)


def _judged(
    kind: AbstractClaim,
    claim: Mapping[str, Any],
    instance: Mapping[str, Any],
    certificate: Mapping[str, Any],
    proved: Mapping[str, int | None],
    variables: Mapping[str, int],
) -> str:
    """Return what is wrong with an instance's strength, expected number or verdict, or nothing."""
    expected, text = instance.get("expected"), str(claim.get("check") or "")
    recorded = instance.get("verdict")
    try:
        check = Formula.parse(text) if text else None
        formula = Formula.parse(str(claim["expected"])) if claim.get("expected") else None
        if (free := _untied(instance, (check, formula), variables)) is not None:
            return f"the summary's {shown(free, 60)} is not tied to the certificate"
        if formula is not None and (value := formula.evaluate(variables)) != expected:
            return f"the summary expects {_shown(expected)}, the claim's formula gives {_shown(value)}"
        if expected is not None and (isinstance(expected, bool) or not isinstance(expected, int)):
            return f"the number expected is {_shown(expected)}, not an integer"
        differs = claim.get("relation") == "differs"
        verdict = decided(expected, check, differs, variables, kind.expected_quantity, proved)
    except InputError as error:
        if (
            recorded == OPEN
        ):  # a formula without a value, such as a quotient that is not exact, decides nothing
            return ""
        return f"what the claim says of this instance cannot be found again: {shown(error, 200)}"
    finished = recorded in (CERTIFIED, REFUTED) or instance.get("verified") is True
    if finished and recorded != verdict:
        return f"the summary says {_shown(recorded)}; from the certificate and the claim it is {verdict}"
    numerical = check is not None and bool(check.names & kind.numerical)
    strength = NUMERICAL if numerical else certificate.get("strength")
    if instance.get("strength") != strength:
        found = _shown(instance.get("strength"))
        return f"the summary says strength {found}, the certificate {_shown(strength)}"
    return ""


def _shown(value: Any) -> str:
    return "unknown" if value is None else shown(value, 40)
