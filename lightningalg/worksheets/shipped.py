"""Which claims of a run are those of the worksheets that come with the package."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from lightningalg.worksheets.library import library_folder
from lightningalg.worksheets.model import Claim, read_worksheet


@cache
def _claims(worksheet: str) -> dict[str, Claim]:
    """Return the claims of a worksheet of the package; none if there is no worksheet of that name."""
    paths = [path for path in library_folder().glob("*.toml") if path.stem == worksheet]
    return {claim.id: claim for path in paths for claim in read_worksheet(path).claims}


def is_shipped(entry: Mapping[str, Any]) -> bool | None:
    """Tell whether a claim of a summary is the package's claim of that name; ``None``: it has none.

    Examples
    --------
    >>> is_shipped({"worksheet": "single-layer", "id": "dimension", "statement": "Dimensions are small."})
    False
    >>> is_shipped({"worksheet": "my-own", "id": "dimension"}) is None
    True
    """
    claim = _claims(str(entry.get("worksheet"))).get(str(entry.get("id")))
    if claim is None:
        return None
    wanted = {
        "kind": claim.kind,
        "title": claim.title,
        "statement": claim.statement,
        "expected": claim.expected,
        "check": claim.check.text if claim.check else "",
        "relation": "differs" if claim.differs else "equals",
        "declared": claim.declared or "certified",
        "hypotheses": [hypothesis.text for hypothesis in claim.hypotheses],
        "template": claim.template,
    }
    named = [one.get("name") for one in entry.get("instances", []) if isinstance(one, Mapping)]
    same = all(entry.get(key) == value for key, value in wanted.items())
    return same and named == [instance.name for instance in claim.instances]
