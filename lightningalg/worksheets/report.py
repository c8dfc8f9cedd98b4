"""From the folder of a run to the records of its report: everything read here is untrusted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lightningalg.errors import InputError, shown
from lightningalg.render.html.records import (
    ClaimPage,
    Figure,
    Paper,
    PaperRow,
    PaperStatement,
    Report,
)
from lightningalg.worksheets.checked import verifier_answers
from lightningalg.worksheets.report_claims import claim_page, names_of
from lightningalg.worksheets.report_figures import neighbours, overview
from lightningalg.worksheets.report_files import inside, leads_out
from lightningalg.worksheets.shipped import is_shipped
from lightningalg.worksheets.summary import SUMMARY, field_of, read_summary, text_in
from lightningalg.worksheets.verdict import CERTIFIED, OPEN


def _silent(_: str) -> None:
    return None


def read_report(
    folder: Path,
    *,
    title: str = "lightningalg",
    slices: bool = False,
    verify: bool = True,
    progress: Callable[[str], None] = _silent,
) -> Report:
    """Return the report of the run in ``folder``, with figures made from its certificates.

    Every certificate is read again, checked by the stand-alone verifier and compared with what the summary
    says of it: an instance whose file is missing or was altered, is not accepted, or says something else, is
    open in the report.

    Parameters
    ----------
    title
        Of the report.
    slices
        Also draw slices of single layers, if matplotlib is installed.
    verify
        Run the verifier. Without it the report says at its head that it was not run.
    progress
        Called with a line of text from time to time.

    Raises
    ------
    InputError
        Naming the file and the field, if there is no run or its summary is not one.

    Examples
    --------
    >>> read_report(Path("/nowhere"))
    Traceback (most recent call last):
    lightningalg.errors.InputError: summary of a run /nowhere/summary.json: No such file or directory; ...
    """
    path, summary = folder / SUMMARY, read_summary(folder)
    drawn: dict[str, Figure] = {}
    try:
        complete = field_of(summary, "complete", bool, "the summary")
        seconds = float(field_of(summary, "seconds", (int, float), "the summary"))
        entries = field_of(summary, "claims", list, "the summary")
        _all_different(entries)
        answers = _answers(entries, folder, progress) if verify else {}
        claims = []
        for number, entry in enumerate(entries, start=1):
            progress(f"claim {number} of {len(entries)}")
            claims.append(claim_page(entry, folder, answers, slices=slices, drawn=drawn, progress=progress))
        linked = _linked(claims)
        paper = _paper(summary.get("table"), linked, folder)
    except InputError as error:
        raise InputError(f"summary of a run {path}: {error}") from None
    found = {f"{entry['worksheet']}/{entry['id']}": is_shipped(entry) for entry in entries}
    return Report(
        title, linked, complete, seconds, tuple(overview(linked)), paper, checked=verify,
        shipped=sum(same is True for same in found.values()),
        not_shipped=tuple(key for key, same in found.items() if same is False),
    )  # fmt: skip


def _answers(
    entries: Iterable[Any], folder: Path, progress: Callable[[str], None]
) -> dict[Path, Mapping[str, Any]]:
    """Return the verifier's answer for every certificate of the run that is where it was written."""
    files = []
    for entry in entries:
        worksheet, name = names_of(entry)
        what = f"claim {shown(worksheet)}/{shown(name)}"
        for instance in field_of(entry, "instances", list, what):
            path = inside(folder, field_of(instance, "certificate", (str, type(None)), what), what)
            if path is not None and not leads_out(path, folder) and path.is_file():
                files.append(path)
    return verifier_answers(
        files, lambda done, total, _: progress(f"verifying: {done} of {total} certificates")
    )


def proofs_of(folder: Path) -> list[Path]:
    """Return the LaTeX files of a run's proofs; links that lead out of its folder are refused.

    Raises
    ------
    InputError
        As ``read_report``.

    Examples
    --------
    >>> proofs_of(Path("/nowhere"))
    Traceback (most recent call last):
    lightningalg.errors.InputError: summary of a run /nowhere/summary.json: No such file or directory; ...
    """
    path, summary = folder / SUMMARY, read_summary(folder)
    try:
        entries = field_of(summary, "claims", list, "the summary")
        found = [
            inside(folder, field_of(e, "proof", (str, type(None)), "a claim"), "a claim") for e in entries
        ]
        for proof in found:
            if proof is not None and leads_out(proof, folder):
                raise InputError(f"the proof {proof} is a link that leads out of the folder of the run")
    except InputError as error:
        raise InputError(f"summary of a run {path}: {error}") from None
    return [proof for proof in found if proof is not None]


def _all_different(entries: list[Any]) -> None:
    names = [f"{e.get('worksheet')}--{e.get('id')}".lower() for e in entries if isinstance(e, Mapping)]
    if len(set(names)) != len(names):
        raise InputError("two claims share their worksheet and id")


def _linked(claims: list[ClaimPage]) -> tuple[ClaimPage, ...]:
    """Return the claims with their users and neighbours."""
    users: dict[str, list[str]] = {}
    for claim in claims:
        for key in dict.fromkeys(claim.uses):
            users.setdefault(key, []).append(claim.key)
    used = {claim.key: replace(claim, used_by=tuple(users.get(claim.key, ()))) for claim in claims}
    return tuple(replace(claim, neighbours=neighbours(claim, used)) for claim in used.values())


# -- the table of the paper -------------------------------------------------------------------


def _paper(table: Any, claims: Iterable[ClaimPage], folder: Path) -> Paper | None:
    """Return the statements of the paper with their claims, if the summary has any."""
    if table is None:
        return None
    known = {claim.key: claim for claim in claims}
    what = "the table of the paper"
    statements = [_statement(entry, known, folder) for entry in field_of(table, "statements", list, what)]
    others = [_paper_row(entry, known, folder) for entry in field_of(table, "others", list, what, [])]
    return Paper(tuple(statements), tuple(others)) if statements else None


def _statement(entry: Any, known: Mapping[str, ClaimPage], folder: Path) -> PaperStatement:
    what = f"statement {text_in(entry, 'id', 'a statement of the paper')[:60]} of the paper"
    illustration = entry.get("illustration")
    return PaperStatement(
        id=text_in(entry, "id", what),
        part=text_in(entry, "part", what),
        where=text_in(entry, "where", what),
        text=text_in(entry, "text", what),
        illustration=illustration if isinstance(illustration, str) else "",
        rows=tuple(_paper_row(row, known, folder) for row in field_of(entry, "rows", list, what)),
    )


def _paper_row(entry: Any, known: Mapping[str, ClaimPage], folder: Path) -> PaperRow:
    what = "a row of the table of the paper"
    key = f"{text_in(entry, 'worksheet', what)}/{text_in(entry, 'claim', what)}"
    claim = known.get(key)
    inside(folder, entry.get("proof"), what)
    if claim is None:  # nothing here supports what the table says
        title = text_in(entry, "title", what)
        return PaperRow(title, "", OPEN, CERTIFIED, "", 0, proof="", folder="", seconds=0.0)
    files = [row.file for row in claim.instances if row.file]
    return PaperRow(
        title=claim.title,
        page=claim.page,
        verdict=claim.verdict,
        declared=claim.declared,
        strength="" if claim.strengths == "none" else claim.strengths,
        instances=len(claim.instances),
        proof=claim.proof,
        folder=files[0].rpartition("/")[0] if files else "",
        not_run=claim.not_run,
        readable=bool(claim.proof_html),
        seconds=claim.seconds,
    )
