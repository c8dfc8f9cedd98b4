"""What earlier runs found stays in the summary when only some claims are run again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lightningalg.certificates.files import read_text
from lightningalg.errors import InputError
from lightningalg.worksheets.model import Worksheet

_MAX_BYTES = 256 * 2**20


def with_earlier(summary: Mapping[str, Any], path: Path, worksheets: Iterable[Worksheet]) -> dict[str, Any]:
    """Return a summary with the claims of the same worksheets that an earlier run wrote to ``path``.

    They are marked ``"earlier": true``. A claim that its worksheet states otherwise by now, or whose
    certificate files have gone, is left out; ``left_out`` names those of which nothing is known. ``complete``
    says that no run of what is there was interrupted.
    """
    old = _read(path)
    present = {(claim["worksheet"], claim["id"]): dict(claim) for claim in summary["claims"]}
    known = {(claim.get("worksheet"), claim.get("id")): claim for claim in old["claims"]}
    claims: list[dict[str, Any]] = []
    missing: list[str] = []
    for worksheet in worksheets:
        for claim in worksheet.claims:
            key = (worksheet.name, claim.id)
            if key in present:
                claims.append(present[key])
            elif key in known and _holds(known[key], claim, path.parent):
                claims.append({**known[key], "earlier": True})
            else:
                missing.append(f"{worksheet.name}/{claim.id}")
    earlier = any("earlier" in claim for claim in claims)
    complete = summary["complete"] and (old["complete"] or not earlier)
    return {**summary, "complete": complete, "left_out": missing, "claims": claims}


def _read(path: Path) -> dict[str, Any]:
    """Return an earlier summary; one that is absent or damaged has no claims."""
    try:
        found = json.loads(read_text(path, what="summary", max_bytes=_MAX_BYTES))
        claims = [claim for claim in found["claims"] if isinstance(claim, dict)]
        return {"complete": found["complete"] is True, "claims": claims}
    except (InputError, ValueError, RecursionError, LookupError, TypeError):
        return {"complete": False, "claims": []}


def _holds(entry: Mapping[str, Any], claim: Any, folder: Path) -> bool:
    """Whether an earlier entry is about the same statement and instances, and its files are there."""
    same = all(
        entry.get(name) == value
        for name, value in (
            ("kind", claim.kind),
            ("statement", claim.statement),
            ("expected", claim.expected),
            ("check", claim.check.text if claim.check else ""),
            ("template", claim.template),
        )
    )
    try:
        instances = {one["name"]: one["certificate"] for one in entry["instances"]}
        files = [name for name in instances.values() if name is not None]
        return (
            same
            and list(instances) == [instance.name for instance in claim.instances]
            and all((folder / name).is_file() for name in files)
        )
    except (LookupError, TypeError, ValueError):
        return False
