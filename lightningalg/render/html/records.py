"""What the report says, as plain records: the pages add nothing to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: verdicts in the order of INTERFACE.md, the best first
VERDICTS = ("certified", "certified with hypotheses", "refuted", "open")


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing with its caption; ``svg`` is finished markup of this package's own charts."""

    svg: str
    caption: str


@dataclass(frozen=True, slots=True)
class InstanceRow:
    """One instance of a claim.

    Attributes
    ----------
    name
        Short and unique within the claim.
    verdict, strength, reason
        The words of INTERFACE.md, and why, where it is not certified.
    facts
        Quantities with their proved values; ``None``: unknown.
    certificate
        Path of the certificate relative to the report's claim pages, or nothing.
    file
        Path relative to the folder of the run, as a person would type it.
    """

    name: str
    verdict: str
    strength: str = ""
    reason: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    certificate: str = ""
    file: str = ""
    sha256: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ClaimPage:
    """A claim with its instances.

    ``declared`` is the verdict that the worksheet documents as the outcome. ``proof`` and ``pdf`` are
    paths relative to the claim pages; ``source_text`` is the LaTeX text of the proof.
    """

    worksheet: str
    id: str
    kind: str
    title: str
    verdict: str
    declared: str = "certified"
    statement: str = ""
    source: str = ""
    prose: str = ""
    expected: str = ""
    expected_mathml: str = ""
    check: str = ""
    check_mathml: str = ""
    hypotheses: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    used_by: tuple[str, ...] = ()
    proof: str = ""
    pdf: str = ""
    source_text: str = ""
    seconds: float = 0.0
    instances: tuple[InstanceRow, ...] = ()
    figures: tuple[Figure, ...] = ()

    @property
    def key(self) -> str:
        """``worksheet/claim``, unique in a run."""
        return f"{self.worksheet}/{self.id}"

    @property
    def page(self) -> str:
        """The file name of the claim's page."""
        return f"{self.worksheet}--{self.id}.html"

    @property
    def strengths(self) -> str:
        """The strengths of the certificates, in words."""
        return ", ".join(sorted({row.strength for row in self.instances if row.strength})) or "none"

    @property
    def fact_names(self) -> list[str]:
        """The quantities that occur, in their order."""
        return list(dict.fromkeys(name for row in self.instances for name in row.facts))

    def count(self, verdict: str) -> int:
        """Number of instances with that verdict."""
        return sum(row.verdict == verdict for row in self.instances)


@dataclass(frozen=True, slots=True)
class Report:
    """A run of worksheets."""

    title: str
    claims: tuple[ClaimPage, ...]
    complete: bool
    seconds: float
    figures: tuple[Figure, ...] = ()

    @property
    def worksheets(self) -> list[str]:
        """The worksheets, in their order."""
        return list(dict.fromkeys(claim.worksheet for claim in self.claims))

    @property
    def certificates(self) -> int:
        """Number of certificates."""
        return sum(bool(row.certificate) for claim in self.claims for row in claim.instances)

    @property
    def verdict_counts(self) -> list[tuple[str, int]]:
        """The verdicts that occur and how many claims have them, the best first."""
        found = [claim.verdict for claim in self.claims]
        order = [*VERDICTS, *sorted(set(found) - set(VERDICTS))]
        return [(verdict, found.count(verdict)) for verdict in order if verdict in found]
