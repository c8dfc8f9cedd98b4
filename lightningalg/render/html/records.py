"""What the report says, as plain records: the pages add nothing to it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

#: verdicts the best first
VERDICTS = ("certified", "certified with hypotheses", "refuted", "open")

#: what each verdict of a claim means, for the reader of a page
MEANING = {
    "certified": "Every instance is proved, by a certificate that can be checked without this program.",
    "certified with hypotheses": "Every instance is proved under the hypotheses named here, which are not "
    "themselves certified.",
    "refuted": "A certificate proves that the claim, as it stands, is false.",
    "open": "The certificates prove what is said below; they do not decide the claim.",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing with its caption.

    ``svg`` is finished markup of this package's own charts; a picture has instead the path of its file,
    relative to the report, and that file's content.
    """

    svg: str
    caption: str
    title: str = ""
    file: str = ""
    content: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class InstanceRow:
    """One instance of a claim.

    Attributes
    ----------
    name
        Short and unique within the claim.
    verdict, strength, reason
        A verdict, and why, where it is not certified.
    facts
        Quantities with their proved values; ``None``: unknown.
    certificate
        Path of the certificate relative to the report's claim pages, or nothing.
    file
        Path relative to the folder of the run, as a person would type it.
    sha256
        The hash that was found in the file, and that the file's content has.
    verified
        Whether the independent verifier accepted the certificate during the run.
    checked
        Whether it accepted the certificate again for this report.
    about
        What the certificate itself says it is about, where the name does not say so.
    damage
        What is wrong with the certificate's file, compared with what the run recorded; or what the verifier
        does not accept; or in what the summary says otherwise than the certificate.
    recorded
        The verdict of the run where ``damage`` makes it void.
    waiting
        Whether an interrupted run had not come to certify it, or to verify its certificate.
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
    verified: bool = False
    damage: str = ""
    recorded: str = ""
    waiting: bool = False
    checked: bool = False
    about: str = ""

    @property
    def command(self) -> str:
        """The command that checks the certificate, to be typed in the folder of the run."""
        return f"lightningalg verify {shlex.quote(self.file)}"

    @property
    def folder(self) -> str:
        """The folder of the certificate, to be typed in the folder of the run."""
        return shlex.quote(self.file.rpartition("/")[0])

    @property
    def gap(self) -> tuple[str, str] | None:
        """The proved bounds, if they do not meet."""
        low, high = self.facts.get("lower_bound", ""), self.facts.get("upper_bound", "")
        return (low, high) if low.isdigit() and high.isdigit() and int(low) < int(high) else None


@dataclass(frozen=True, slots=True)
class ClaimPage:
    """A claim with its instances.

    ``declared`` is the verdict that the worksheet documents as the outcome. ``proof`` and ``pdf`` are
    paths relative to the claim pages. ``proof_html`` is the proof, ``proof_contents`` its sections as
    (id, title), ``results`` its theorems, all finished markup; ``source_text`` is its LaTeX text, where it
    could not be converted, and ``unconverted`` says why; ``language`` is that of the proof.
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
    expected_label: str = "Expected"
    check: str = ""
    check_mathml: str = ""
    check_label: str = "Required"
    hypotheses: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    used_by: tuple[str, ...] = ()
    proof: str = ""
    pdf: str = ""
    source_text: str = ""
    proof_html: str = ""
    proof_contents: tuple[tuple[str, str], ...] = ()
    results: tuple[str, ...] = ()
    unconverted: str = ""
    language: str = "en"
    seconds: float = 0.0
    recorded: str = ""
    instances: tuple[InstanceRow, ...] = ()
    figures: tuple[Figure, ...] = ()
    neighbours: Figure | None = None

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
        """The quantities with a value, in their order; bounds are left out where they agree."""
        names = list(dict.fromkeys(name for row in self.instances for name in row.facts))
        known = [n for n in names if any(row.facts.get(n) for row in self.instances)]
        same = all(
            row.facts.get("lower_bound") == row.facts.get("upper_bound") == row.facts.get("dimension")
            for row in self.instances
        )
        return [n for n in known if not (same and n in ("lower_bound", "upper_bound"))]

    @property
    def not_run(self) -> bool:
        """Whether an interrupted run had come to none of the instances."""
        return bool(self.instances) and all(row.waiting and not row.certificate for row in self.instances)

    @property
    def damaged(self) -> list[InstanceRow]:
        """The instances whose certificate is missing or was altered after the run."""
        return [row for row in self.instances if row.damage]

    @property
    def meaning(self) -> str:
        """What the verdict means."""
        return MEANING.get(self.verdict, "This verdict is none of lightningalg's.")

    def with_verdict(self, verdict: str) -> list[InstanceRow]:
        """Return the instances with that verdict, smallest first, where they have a size."""

        def size(row: InstanceRow) -> int:
            number = row.facts.get("parameters") or row.facts.get("dimension") or ""
            return int(number) if number.isdigit() and len(number) < 16 else 0

        return sorted((row for row in self.instances if row.verdict == verdict), key=size)

    def count(self, verdict: str) -> int:
        """Number of instances with that verdict."""
        return sum(row.verdict == verdict for row in self.instances)


@dataclass(frozen=True, slots=True)
class PaperRow:
    """A claim in the table of the paper.

    ``page`` is empty where the report has none; ``readable``: the page has the proof as text.
    """

    title: str
    page: str
    verdict: str
    declared: str
    strength: str
    instances: int
    proof: str
    folder: str
    seconds: float
    readable: bool = False
    not_run: bool = False


@dataclass(frozen=True, slots=True)
class PaperStatement:
    """A statement of the paper with the claims of the run that settle it."""

    id: str
    part: str
    where: str
    text: str
    illustration: str
    rows: tuple[PaperRow, ...]


@dataclass(frozen=True, slots=True)
class Paper:
    """The paper's statements in its order, and the claims beyond it."""

    statements: tuple[PaperStatement, ...]
    others: tuple[PaperRow, ...]

    @property
    def parts(self) -> list[tuple[str, list[PaperStatement]]]:
        """The statements under their headings."""
        names = list(dict.fromkeys(statement.part for statement in self.statements))
        return [(name, [s for s in self.statements if s.part == name]) for name in names]


@dataclass(frozen=True, slots=True)
class Report:
    """A run of worksheets."""

    title: str
    claims: tuple[ClaimPage, ...]
    complete: bool
    seconds: float
    figures: tuple[Figure, ...] = ()
    paper: Paper | None = None
    checked: bool = False
    shipped: int = 0
    not_shipped: tuple[str, ...] = ()

    @property
    def worksheets(self) -> list[str]:
        """The worksheets, in their order."""
        return list(dict.fromkeys(claim.worksheet for claim in self.claims))

    @property
    def kinds(self) -> list[str]:
        """The kinds of claims, sorted."""
        return sorted({claim.kind for claim in self.claims})

    @property
    def strengths(self) -> list[str]:
        """The strengths of the instances, sorted."""
        return sorted({row.strength for claim in self.claims for row in claim.instances if row.strength})

    @property
    def certificates(self) -> int:
        """Number of certificates."""
        return sum(bool(row.certificate) for claim in self.claims for row in claim.instances)

    @property
    def verified(self) -> int:
        """Number of certificates that, by its own record, the run's verifier accepted."""
        return sum(row.verified and not row.damage for claim in self.claims for row in claim.instances)

    @property
    def rechecked(self) -> int:
        """Number of certificates that the independent verifier accepted again for this report."""
        return sum(row.checked for claim in self.claims for row in claim.instances)

    @property
    def unconverted(self) -> list[ClaimPage]:
        """The claims whose proof the pages do not show as text, though the run recorded one."""
        return [claim for claim in self.claims if claim.unconverted]

    @property
    def damaged(self) -> list[tuple[ClaimPage, InstanceRow]]:
        """The instances whose certificates are missing or altered, with their claims."""
        return [(claim, row) for claim in self.claims for row in claim.damaged]

    @property
    def verdict_counts(self) -> list[tuple[str, int]]:
        """The verdicts that occur and how many claims have them, the best first."""
        found = [claim.verdict for claim in self.claims]
        order = [*VERDICTS, *sorted(set(found) - set(VERDICTS))]
        return [(verdict, found.count(verdict)) for verdict in order if verdict in found]
