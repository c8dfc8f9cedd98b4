"""What a certificate is about, and whether that is the instance that a summary calls it.

A summary gives the network of an instance by its claim's template and the values of the variables, or
in full. Both are rebuilt here and compared with the subject that stands in the certificate.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lightningalg.claims.base import AbstractClaim
from lightningalg.errors import InputError, LightningAlgError, shown
from lightningalg.networks.network import Network
from lightningalg.networks.spec import network_from_table
from lightningalg.worksheets.model import standard_variables
from lightningalg.worksheets.templates import names_of, substitute

MALFORMED = (LightningAlgError, LookupError, TypeError, AttributeError, ValueError, RecursionError)


def network_of(certificate: Mapping[str, Any]) -> Network | None:
    """Return the network that a certificate is about: its own, or that of its point; ``None`` if it has none.

    Examples
    --------
    >>> str(network_of({"point": {"space": "virtual weights", "tokens": 2, "widths": [2, 1], "ranks": [1]}}))
    'lightning, widths 2,1, ranks 1, tokens 2'
    """
    try:
        if "network" in certificate:
            return network_from_table(certificate["network"])
        point = certificate["point"]
        if "network" in point:
            return network_from_table(point["network"])
        return network_from_table({key: point[key] for key in ("widths", "ranks", "tokens")})
    except MALFORMED:
        return None


def subject_of(certificate: Mapping[str, Any]) -> str:
    """Return what a certificate is about in one line, from the certificate alone; nothing if it does not say.

    Examples
    --------
    >>> import lightningalg as la
    >>> subject_of(la.dimension(la.lightning((2, 1), (1,))).certificate.to_json())
    'lightning, widths 2,1, ranks 1, tokens 2'
    >>> subject_of({"ideal": {"variables": ["A_1_1", "V_1_1"], "generators": []}})
    'an ideal in 2 variables with 0 generators; the certificate names no network'
    """
    network = network_of(certificate)
    if network is not None:
        return str(network)
    try:
        if "recovery" in certificate:
            sizes = ", ".join(
                f"{key} {certificate['recovery'][key]}" for key in ("width", "height", "layers", "tokens")
            )
            return f"values of a function of {sizes}"
        if "identity" in certificate:
            return f"identity {shown(certificate['identity']['name'], 100)}"
        ideal = certificate["ideal"]
        counts = f"{len(ideal['variables'])} variables with {len(ideal['generators'])} generators"
        return f"an ideal in {counts}; the certificate names no network"
    except MALFORMED:
        return ""


def stated_network(claim: Mapping[str, Any], instance: Mapping[str, Any]) -> Network | None:
    """Return the network that a summary gives an instance, or ``None`` if it gives none.

    Raises
    ------
    InputError
        If its template or its table is none of a network.

    Examples
    --------
    >>> claim = {"template": {"widths": ["d", 1], "ranks": ["a"]}}
    >>> str(stated_network(claim, {"variables": {"d": 3, "a": 2}}))
    'lightning, widths 3,1, ranks 2, tokens 2'
    """
    template, table = claim.get("template"), instance.get("network")
    try:
        if isinstance(template, Mapping):
            return network_from_table(substitute(template, _integers(instance.get("variables"))))
        return network_from_table(table) if isinstance(table, Mapping) else None
    except MALFORMED as error:
        raise InputError(f"the summary's network is none: {shown(error, 200)}") from None


def _integers(variables: Any) -> dict[str, int]:
    """Return the variables that are integers: no others are computed with."""
    found = variables if isinstance(variables, Mapping) else {}
    return {
        str(k): v
        for k, v in found.items()
        if isinstance(v, int) and not isinstance(v, bool) and len(k) <= 100
    }


def tied_variables(
    kind: AbstractClaim,
    claim: Mapping[str, Any],
    instance: Mapping[str, Any],
    certificate: Mapping[str, Any],
) -> dict[str, int]:
    """Return the variables of an instance whose values the certificate confirms.

    These are the standard variables of its network, and those that stand alone as a size of the claim's
    template, of which the same network is rebuilt.

    Raises
    ------
    InputError
        Saying in what the certificate is about something else than the summary says.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.claims import claim_kinds
    >>> certificate = la.dimension(la.lightning((2, 1), (1,))).certificate.to_json()
    >>> claim = {"template": {"widths": ["d", 1], "ranks": [1]}}
    >>> tied_variables(claim_kinds()["dimension"], claim, {"variables": {"d": 2, "x": 9}}, certificate)["d"]
    2
    >>> tied_variables(claim_kinds()["dimension"], claim, {"variables": {"d": 3}}, certificate)
    Traceback (most recent call last):
    lightningalg.errors.InputError: the certificate is about lightning, widths 2,1, ranks 1, tokens 2, ...
    """
    if kind.subject != "network":
        _check_identity(kind, claim, instance, certificate)
        return {}
    own, proved = _integers(instance.get("variables")), network_of(certificate)
    known = standard_variables(proved) if proved is not None else {}
    for name, value in known.items():
        if own.get(name, value) != value:
            raise InputError(
                f"the summary says {name} {shown(own[name], 40)}, the certificate's network has {value}"
            )
    stated = stated_network(claim, instance)
    if stated is None:
        if proved is None:
            raise InputError(
                "the certificate names no network, nor does the summary: they cannot be compared"
            )
        return known
    if proved is None:
        known = _confirmed(kind, certificate, stated)
    elif proved.to_json() != stated.to_json():
        raise InputError(f"the certificate is about {proved}, the summary's instance is {stated}")
    template = claim.get("template")
    names = names_of(template) if isinstance(template, Mapping) else set()
    if proved is None and "recovery" in certificate and isinstance(template, Mapping):
        names &= _outer(template)  # it does not say the ranks, nor the widths between
    return {**{name: own[name] for name in names if name in own}, **known}


def _check_identity(
    kind: AbstractClaim,
    claim: Mapping[str, Any],
    instance: Mapping[str, Any],
    certificate: Mapping[str, Any],
) -> None:
    """Refuse a certificate of another identity: the summary's is proved again, and compared."""
    try:
        name = certificate["identity"]["name"]
    except MALFORMED:
        raise InputError("the certificate has no identity with a name") from None
    for said in (claim.get("id", name), instance.get("name", name)):
        if said != name:
            raise InputError(
                f"the summary says {shown(said, 100)}, the certificate is about identity {shown(name, 100)}"
            )
    stated = instance.get("identity")
    if not isinstance(stated, Mapping):
        raise InputError("the summary does not give the identity: run the worksheet again")
    try:
        again = json.loads(kind.certify(stated, seed="0").to_text())
        same = all(again[part] == certificate[part] for part in ("identity", "claim"))
    except MALFORMED as error:
        raise InputError(f"the summary's identity cannot be proved again: {shown(error, 200)}") from None
    if not same:
        raise InputError(f"the certificate is not about the identity {shown(name, 100)} of the summary")


def _confirmed(kind: AbstractClaim, certificate: Mapping[str, Any], network: Network) -> dict[str, int]:
    """Return the standard variables that a certificate without a network confirms."""
    known = standard_variables(network)
    if "recovery" in certificate:
        return _recovered(certificate["recovery"], known)
    try:
        fits = kind.is_about(certificate, network)
    except MALFORMED as error:
        raise InputError(
            f"whether the certificate is about {network} cannot be found: {shown(error, 200)}"
        ) from None
    if not fits:
        raise InputError(f"the certificate is not about {network}, as the summary says")
    return known


def _recovered(subject: Mapping[str, Any], known: Mapping[str, int]) -> dict[str, int]:
    last = f"d{known['layers']}"
    for name, key in (("d0", "width"), (last, "height"), ("layers", "layers"), ("tokens", "tokens")):
        if subject[key] != known[name]:
            raise InputError(
                f"the summary has {key} {known[name]}, the certificate {shown(subject[key], 40)}"
            )
    return {name: known[name] for name in ("d0", last, "layers", "tokens")}


def _outer(template: Mapping[str, Any]) -> set[str]:
    """Return the names of a template's first and last width and of its number of tokens."""
    widths = template.get("widths")
    ends = [widths[0], widths[-1]] if isinstance(widths, list) and widths else []
    return {value.strip() for value in (*ends, template.get("tokens")) if isinstance(value, str)}
