"""Whether a row of a store says what its certificate says: stores are files, which others may alter."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

from lightningalg.certificates.records import canonical_json, sha256_of
from lightningalg.sweeps.work import BOUNDS_DIFFER, CERTIFIED

_MAX_CERTIFICATE = 64 * 2**20

#: the columns that a certificate decides
DECIDED = ("status", "dimension", "lower_bound", "upper_bound", "upper_bound_by", "strength", "sha256")


def stored_certificate(data: Any) -> dict[str, Any] | str:
    """Return the certificate in a row's compressed text, or what is wrong with it.

    Examples
    --------
    >>> stored_certificate(zlib.compress(b'{"kind": "dimension"}'))
    {'kind': 'dimension'}
    >>> stored_certificate(b"junk")
    'the certificate is damaged (Error -3 while decompressing data: incorrect header check)'
    """
    inflate = zlib.decompressobj()
    try:
        text = inflate.decompress(data, _MAX_CERTIFICATE)
        if inflate.unconsumed_tail:
            return f"the certificate is longer than {_MAX_CERTIFICATE} bytes"
        value = json.loads(text)
    except (zlib.error, ValueError, TypeError, RecursionError) as error:
        return f"the certificate is damaged ({error})"
    return value if isinstance(value, dict) else "the certificate is no object"


def disagreement(row: Mapping[str, Any], certificate: dict[str, Any] | str | None) -> str | None:
    """Return in words where a row and its certificate differ, ``None`` where they agree.

    Compared are hash, network, status, numbers, argument and strength. A failure has no certificate, and no
    number but the upper bound. Whether the certificate itself is right is the verifier's to say.

    Parameters
    ----------
    row
        The columns of ``results`` with the architecture's ``network``.
    certificate
        From ``stored_certificate``; ``None`` for a failure.

    Examples
    --------
    >>> row = {"status": "failed", "certificate": b"", "dimension": 3, "lower_bound": None, "sha256": ""}
    >>> disagreement(row, None)
    'it is a failure, and has a dimension'
    """
    if certificate is None:
        extra = [name for name in ("certificate", "dimension", "lower_bound", "sha256") if row[name]]
        return f"it is a failure, and has a {extra[0]}" if extra else None
    if isinstance(certificate, str):
        return certificate
    try:
        network = canonical_json(certificate.get("network"))
        content = sha256_of({key: item for key, item in certificate.items() if key != "sha256"})
    except (ValueError, RecursionError) as error:  # nan, or nested without end
        return f"the certificate is damaged ({error})"
    if content != certificate.get("sha256"):
        return "the certificate's content is not that of its sha256"
    if network != row["network"] or sha256_of(certificate.get("network")) != row["key"]:
        return "the certificate is that of another network"
    said = _said(certificate)
    wrong = [name for name in DECIDED if (type(row[name]), row[name]) != (type(said[name]), said[name])]
    shown = [f"{name} {str(row[name])[:40]}, its certificate {str(said[name])[:40]}" for name in wrong]
    return f"it says {shown[0]}" if shown else None


def _said(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a row as its certificate has them; ``None`` for what it does not say."""
    claim, witness = _object(certificate, "claim"), _object(certificate, "witness")
    value = claim.get("value") if claim.get("relation") == "equals" else None
    return {
        "status": BOUNDS_DIFFER if value is None else CERTIFIED,
        "dimension": value,
        "lower_bound": claim.get("lower") if value is None else value,
        "upper_bound": claim.get("upper") if value is None else value,
        "upper_bound_by": _object(witness, "upper_bound").get("method"),
        "strength": certificate.get("strength"),
        "sha256": certificate.get("sha256"),
    }


def _object(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}
