"""Which claims of a run are those of the worksheets that come with the package."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from lightningalg.claims import claim_kinds
from lightningalg.worksheets.library import library_folder
from lightningalg.worksheets.model import Claim, Worksheet, read_worksheet


@cache
def _claims(worksheet: str) -> dict[str, tuple[Worksheet, Claim]]:
    """Return the claims of a worksheet of the package; none if there is no worksheet of that name."""
    paths = [path for path in library_folder().glob("*.toml") if path.stem == worksheet]
    return {
        claim.id: (sheet, claim)
        for path in paths
        for sheet in [read_worksheet(path)]
        for claim in sheet.claims
    }


def is_shipped(entry: Mapping[str, Any]) -> bool | None:
    """Tell whether a claim of a summary is the package's claim of that name; ``None``: it has none.

    Compared are its words, its formulas, and of every instance the name, the variables, the number
    expected and the network or identity.

    Examples
    --------
    >>> is_shipped({"worksheet": "single-layer", "id": "dimension", "statement": "Dimensions are small."})
    False
    >>> is_shipped({"worksheet": "my-own", "id": "dimension"}) is None
    True
    """
    found = _claims(str(entry.get("worksheet"))).get(str(entry.get("id")))
    if found is None:
        return None
    sheet, claim = found
    wanted = {
        "kind": claim.kind,
        "title": claim.title,
        "statement": claim.statement,
        "source": claim.source or sheet.source,
        "prose": claim.prose,
        "expected": claim.expected,
        "check": claim.check.text if claim.check else "",
        "relation": "differs" if claim.differs else "equals",
        "declared": claim.declared or "certified",
        "hypotheses": [hypothesis.text for hypothesis in claim.hypotheses],
        "template": claim.template,
        "paper": list(claim.paper),
    }
    instances = entry.get("instances", [])
    same = all(entry.get(key) == value for key, value in wanted.items())
    return (
        same
        and len(instances) == len(claim.instances)
        and all(_is_instance(one, wanted) for one, wanted in zip(instances, _plain(claim), strict=True))
    )


def _plain(claim: Claim) -> list[dict[str, Any]]:
    """Return the instances of a claim as a summary gives them."""
    of_network = claim_kinds()[claim.kind].subject == "network"
    subject = ("network" if of_network else "identity") if claim.template is None or not of_network else ""
    instances = [
        {
            "name": instance.name,
            "variables": dict(instance.variables),
            "expected": instance.expected,
            **({subject: instance.table} if subject else {}),
        }
        for instance in claim.instances
    ]
    plain: list[dict[str, Any]] = json.loads(json.dumps(instances))
    return plain


def _is_instance(one: Any, wanted: Mapping[str, Any]) -> bool:
    return isinstance(one, Mapping) and all(one.get(key) == value for key, value in wanted.items())
