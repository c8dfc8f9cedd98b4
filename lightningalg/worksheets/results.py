"""What became of a run: of its instances, of its claims, and all of it as ``summary.json``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lightningalg.claims import claim_kinds
from lightningalg.worksheets.certifying import Task
from lightningalg.worksheets.model import Claim, Instance, Worksheet
from lightningalg.worksheets.statements import statement_table
from lightningalg.worksheets.tables import claim_table, instance_table, run_table
from lightningalg.worksheets.translations import translations_to_json
from lightningalg.worksheets.verdict import OPEN, REFUTED, claim_verdict, is_declared, worst


@dataclass(slots=True)
class InstanceResult:
    """What became of one instance."""

    task: Task
    verdict: str = OPEN
    reason: str = ""
    expected: int | None = None
    proved: Mapping[str, int | None] = field(default_factory=dict)
    certificate: dict[str, Any] | None = None
    strength: str | None = None
    verified: bool | None = None
    skipped: bool = False
    seconds: float = 0.0

    def __repr__(self) -> str:
        return f"<InstanceResult {self.task.instance}: {self.verdict}>"

    def _repr_html_(self) -> str:
        return instance_table(self)

    def to_json(self, out: Path) -> dict[str, Any]:
        """Return this instance's entry of ``summary.json``; paths are relative to the output folder."""
        has_file = self.certificate is not None
        return {
            "name": self.task.instance,
            "verdict": self.verdict,
            "strength": self.strength,
            "reason": self.reason,
            "expected": self.expected,
            **{k: v for k, v in self.proved.items() if k != "expected"},
            "certificate": os.path.relpath(self.task.path, out) if has_file else None,
            "sha256": self.certificate["sha256"] if self.certificate else None,
            "verified": self.verified,
            "skipped": self.skipped,
            "seconds": round(self.seconds, 4),
        }


@dataclass(slots=True)
class ClaimResult:
    """A claim with its instances' results, its verdict and its proof file."""

    worksheet: Worksheet
    claim: Claim
    instances: list[InstanceResult]
    proof: Path | None = None

    @property
    def verdict(self) -> str:
        """The claim's verdict in the words that worksheets use."""
        return claim_verdict(self.claim, [result.verdict for result in self.instances])

    @property
    def as_declared(self) -> bool:
        """Whether the verdict is the one that the worksheet declares; certified, unless it says otherwise.

        Of a claim declared refuted no instance is open, and as many are refuted as it says.
        """
        counted = self.claim.counterexamples in (None, self.count(REFUTED))
        decided = self.verdict != REFUTED or not self.count(OPEN)
        return counted and decided and is_declared(self.claim, self.verdict)

    @property
    def seconds(self) -> float:
        """Time spent on its instances, added up over all processes."""
        return sum(result.seconds for result in self.instances)

    def count(self, verdict: str) -> int:
        """Return the number of instances with that verdict."""
        return sum(result.verdict == verdict for result in self.instances)

    def to_json(self, out: Path) -> dict[str, Any]:
        """Return this claim's entry of ``summary.json``; paths are relative to the output folder."""
        return {
            "worksheet": self.worksheet.name,
            "id": self.claim.id,
            "kind": self.claim.kind,
            "title": self.claim.title,
            "statement": self.claim.statement,
            "source": self.claim.source or self.worksheet.source,
            "prose": self.claim.prose,
            "relation": "differs" if self.claim.differs else "equals",
            "expected": self.claim.expected,
            "check": self.claim.check.text if self.claim.check else "",
            "uses": list(self.claim.uses),
            "paper": list(self.claim.paper),
            "template": self.claim.template,
            "translations": translations_to_json(self.claim.translations),
            "verdict": self.verdict,
            "declared": self.claim.declared or "certified",
            "as_declared": self.as_declared,
            "hypotheses": [hypothesis.text for hypothesis in self.claim.hypotheses],
            "proof": os.path.relpath(self.proof, out) if self.proof else None,
            "seconds": round(self.seconds, 4),
            "instances": [
                {
                    **done.to_json(out),
                    "variables": dict(instance.variables),
                    **_subject_of(self.claim, instance),
                }
                for done, instance in zip(self.instances, self.claim.instances, strict=True)
            ],
        }

    def __repr__(self) -> str:
        return f"<ClaimResult {self.claim.id}: {self.verdict}>"

    def _repr_html_(self) -> str:
        return claim_table(self)


@dataclass(slots=True)
class Run:
    """All results of a run."""

    out: Path
    claims: list[ClaimResult]
    seconds: float = 0.0
    complete: bool = False
    lang: str = "en"

    def __repr__(self) -> str:
        return f"<Run of {len(self.claims)} claims: {self.verdict}>"

    def _repr_html_(self) -> str:
        return run_table(self)

    @property
    def instances(self) -> list[InstanceResult]:
        """The results of all instances of all claims."""
        return [result for claim in self.claims for result in claim.instances]

    @property
    def verdict(self) -> str:
        """The worst verdict of all claims."""
        return worst(result.verdict for result in self.claims)

    @property
    def as_declared(self) -> bool:
        """Whether every claim has the verdict that its worksheet declares."""
        return all(result.as_declared for result in self.claims)

    def to_json(self) -> dict[str, Any]:
        """Return the content of ``summary.json``."""
        claims = [result.to_json(self.out) for result in self.claims]
        return {
            "complete": self.complete,
            "lang": self.lang,
            "seconds": round(self.seconds, 3),
            "claims": claims,
            "worksheets": words_of(result.worksheet for result in self.claims),
            "table": statement_table(claims),
        }


def _subject_of(claim: Claim, instance: Instance) -> dict[str, Any]:
    """Return the identity of an instance, or its network where the claim has no template that gives it."""
    if claim_kinds()[claim.kind].subject != "network":
        return {"identity": instance.table}
    return {"network": instance.table} if claim.template is None else {}


def words_of(worksheets: Iterable[Worksheet]) -> list[dict[str, Any]]:
    """Return the words of worksheets, each once, as ``summary.json`` holds them.

    Examples
    --------
    >>> from lightningalg.worksheets.library import find_worksheets
    >>> from lightningalg.worksheets.model import read_worksheet
    >>> sheet = read_worksheet(find_worksheets(["symmetries"])[0])
    >>> [words["name"] for words in words_of([sheet, sheet])]
    ['symmetries']
    """
    return [
        {
            "name": name,
            "title": sheet.title,
            "source": sheet.source,
            "prose": sheet.prose,
            "translations": translations_to_json(sheet.translations),
        }
        for name, sheet in {sheet.name: sheet for sheet in worksheets}.items()
    ]
