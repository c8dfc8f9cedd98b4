"""Results of a run as the tables that notebooks show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightningalg.claims import claim_kinds
from lightningalg.display import field_rows, html_table
from lightningalg.worksheets.verdict import REFUTED

if TYPE_CHECKING:
    from lightningalg.worksheets.results import ClaimResult, InstanceResult, Run

_VERIFIED = {True: "yes", False: "no", None: "-"}


def run_table(run: Run) -> str:
    """Return a row for each claim: statement, verdict, and how many instances are refuted."""
    rows = [
        (
            result.claim.id,
            result.worksheet.name,
            result.claim.statement,
            result.verdict,
            len(result.instances),
            result.count(REFUTED),
        )
        for result in run.claims
    ]
    head = ("claim", "worksheet", "statement", "verdict", "instances", "refuted")
    return html_table("Verdicts", head, rows, "" if run.complete else "The run was interrupted.")


def claim_table(result: ClaimResult) -> str:
    """Return a row for each instance: what was expected, what is proved."""
    quantity = claim_kinds()[result.claim.kind].expected_quantity
    rows = [
        (
            found.task.instance,
            found.verdict,
            "-" if found.expected is None else found.expected,
            _known(found.proved.get(quantity)),
            _VERIFIED[found.verified],
        )
        for found in result.instances
    ]
    head = ("instance", "verdict", "expected", quantity.replace("_", " "), "verified")
    declared = (
        "" if result.as_declared else f", but the worksheet declares {result.claim.declared or 'certified'}"
    )
    note = f"{result.claim.statement} Verdict: {result.verdict}{declared}.".lstrip()
    return html_table(f"{result.worksheet.name}: {result.claim.id}", head, rows, note)


def instance_table(result: InstanceResult) -> str:
    """Return everything that is proved of one instance."""
    rows: list[tuple[str, object]] = [("verdict", result.verdict)]
    if result.expected is not None:
        rows.append(("expected", result.expected))
    note = result.reason or f"verified: {_VERIFIED[result.verified]}"
    return html_table(result.task.instance, ("quantity", "value"), [*rows, *field_rows(result.proved)], note)


def _known(value: int | None) -> object:
    return "unknown" if value is None else value
