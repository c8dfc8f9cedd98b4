"""From the folder of a run to the records of its report: everything read here is untrusted."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lightningalg.certificates.checker import explain
from lightningalg.certificates.files import read_json
from lightningalg.errors import InputError, shown
from lightningalg.render.html.records import (
    ClaimPage,
    Figure,
    InstanceRow,
    Paper,
    PaperRow,
    PaperStatement,
    Report,
)
from lightningalg.worksheets.checked import (
    contradiction,
    proved_quantities,
    refuse_repeated,
    verifier_answers,
)
from lightningalg.worksheets.report_figures import claim_figures, neighbours, overview, slice_figures
from lightningalg.worksheets.report_files import certificate_of, inside, leads_out, proof_of, up
from lightningalg.worksheets.report_words import (
    check_words,
    expected_words,
    formula_mathml,
    left_side,
    with_words,
    yes_or_no,
)
from lightningalg.worksheets.shipped import is_shipped
from lightningalg.worksheets.subjects import subject_of
from lightningalg.worksheets.verdict import CERTIFIED, OPEN, REFUTED, recorded_verdict

SUMMARY = "summary.json"
NOT_RUN = "not run: the run was interrupted"
_LONGEST_TEXT = 20_000  # characters of a title, statement or reason


def _silent(_: str) -> None:
    return None


def read_summary(folder: Path) -> Any:
    """Return the content of the summary of the run in a folder.

    Raises
    ------
    InputError
        If there is none, saying what makes one.

    Examples
    --------
    >>> read_summary(Path("/nowhere"))
    Traceback (most recent call last):
    lightningalg.errors.InputError: summary of a run /nowhere/summary.json: No such file or directory; ...
    """
    path = folder / SUMMARY
    try:
        return read_json(path, what="summary of a run", integers_only=False)
    except InputError as error:
        if path.exists():
            raise
        command = f"lightningalg worksheet run --out {shlex.quote(str(folder))}"
        again = "a run that was killed goes on where it stopped"
        raise InputError(f"{error}; run `{command}` first (or again: {again})") from None


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
        complete = _field(summary, "complete", bool, "the summary")
        seconds = float(_field(summary, "seconds", (int, float), "the summary"))
        entries = _field(summary, "claims", list, "the summary")
        _all_different(entries)
        answers = _answers(entries, folder, progress) if verify else {}
        claims = []
        for number, entry in enumerate(entries, start=1):
            progress(f"claim {number} of {len(entries)}")
            claims.append(_claim(entry, folder, answers, slices=slices, drawn=drawn, progress=progress))
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
        worksheet, name = _named(entry)
        what = f"claim {shown(worksheet)}/{shown(name)}"
        for instance in _field(entry, "instances", list, what):
            path = inside(folder, _field(instance, "certificate", (str, type(None)), what), what)
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
        entries = _field(summary, "claims", list, "the summary")
        found = [inside(folder, _field(e, "proof", (str, type(None)), "a claim"), "a claim") for e in entries]
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


def _field(table: Any, key: str, kind: type | tuple[type, ...], what: str, default: Any = None) -> Any:
    if not isinstance(table, Mapping):
        raise InputError(f"{what} is no object")
    value = table.get(key, default)
    accepted = kind if isinstance(kind, tuple) else (kind,)
    if not isinstance(value, accepted) or (isinstance(value, bool) and bool not in accepted):
        names = " or ".join(t.__name__ for t in accepted)
        raise InputError(f'"{key}" of {what} is {shown(value, 40)!r}: accepted is {names}')
    return value


def _text(table: Any, key: str, what: str) -> str:
    value = _field(table, key, str, what, "")
    return value if len(value) <= _LONGEST_TEXT else value[:_LONGEST_TEXT] + " ... (cut)"


def _texts(table: Mapping[str, Any], key: str, what: str) -> tuple[str, ...]:
    values = _field(table, key, list, what, [])
    if not all(isinstance(value, str) for value in values):
        raise InputError(f'"{key}" of {what}: accepted are texts')
    return tuple(values)


def _claim(
    entry: Any,
    folder: Path,
    answers: Mapping[Path, Mapping[str, Any]],
    *,
    slices: bool,
    drawn: dict[str, Figure],
    progress: Callable[[str], None],
) -> ClaimPage:
    worksheet, name = _named(entry)
    what = f"claim {shown(worksheet)}/{shown(name)}"
    contents: dict[str, Mapping[str, Any]] = {}
    rows = tuple(
        _instance(value, entry, folder, what, contents, answers)
        for value in _field(entry, "instances", list, what)
    )
    verdict = recorded_verdict(entry, what)
    refuse_repeated(entry, what)
    claim = ClaimPage(
        worksheet=worksheet,
        id=name,
        kind=_text(entry, "kind", what),
        title=_text(entry, "title", what) or name,
        verdict=_after_damage(verdict, rows),
        recorded=verdict,
        declared=_text(entry, "declared", what) or "certified",
        statement=_text(entry, "statement", what),
        source=_text(entry, "source", what),
        prose=_text(entry, "prose", what),
        **_expected(entry, what, rows),
        hypotheses=_texts(entry, "hypotheses", what),
        uses=_texts(entry, "uses", what),
        **_proof(entry, what, folder),
        seconds=float(_field(entry, "seconds", (int, float), what, 0.0)),
        instances=rows,
    )
    figures = claim_figures(claim, contents)
    if slices:
        figures += slice_figures(claim, contents, drawn, progress)
    return replace(claim, figures=tuple(figures))


def _expected(entry: Any, what: str, rows: tuple[InstanceRow, ...]) -> dict[str, Any]:
    """Return the fields of a claim's page that say what is expected."""
    expected, check, kind, relation = (
        _text(entry, key, what) for key in ("expected", "check", "kind", "relation")
    )
    sign = left_side(relation, kind, rows)
    truth = yes_or_no(expected, kind, relation)
    return {
        "expected": expected,
        "expected_mathml": with_words(truth) if truth else formula_mathml(sign + " ", expected),
        "expected_label": "Expected" if sign or truth else expected_words(kind, relation),
        "check": check,
        "check_mathml": formula_mathml("", check),
        "check_label": check_words(expected, relation),
    }


def _proof(entry: Any, what: str, folder: Path) -> dict[str, Any]:
    """Return the fields of a claim's page about its proof."""
    proof = inside(folder, entry.get("proof"), what)
    pdf = proof.with_suffix(".pdf") if proof else None
    text, source, unconverted = proof_of(proof, folder)
    linkable = proof is not None and not unconverted.startswith("the file is")
    return {
        "proof": up(proof, folder) if linkable else "",
        "pdf": up(pdf, folder) if linkable and pdf is not None and pdf.is_file() else "",
        "source_text": source,
        "proof_html": text.body,
        "proof_contents": text.contents,
        "results": text.results,
        "unconverted": unconverted,
        "language": text.language,
    }


def _named(entry: Any) -> tuple[str, str]:
    """Return the names of a claim's worksheet and of the claim, which become that of its page."""
    worksheet, name = (_field(entry, key, str, "a claim") for key in ("worksheet", "id"))
    if any(c in "/\\\0" for c in worksheet + name) or name.startswith(".") or len(worksheet + name) > 200:
        raise InputError(f"claim {shown(worksheet)}/{shown(name)}: not a name of a worksheet and a claim")
    return worksheet, name


def _after_damage(verdict: str, rows: Iterable[InstanceRow]) -> str:
    """Return a claim's verdict once certificates are missing: what rests on them is open."""
    rows = list(rows)
    if not any(row.damage for row in rows):
        return verdict
    if verdict == "refuted" and any(row.verdict == "refuted" for row in rows):
        return verdict
    return "open"


def _instance(
    entry: Any,
    claim: Mapping[str, Any],
    folder: Path,
    what: str,
    contents: dict[str, Mapping[str, Any]],
    answers: Mapping[Path, Mapping[str, Any]],
) -> InstanceRow:
    name = _field(entry, "name", str, f"an instance of {what}")
    what = f"instance {shown(name)} of {what}"
    path = inside(folder, entry.get("certificate"), what)
    verdict, strength = _text(entry, "verdict", what), entry.get("strength")
    reason = _text(entry, "reason", what)
    waiting = "" if reason else _waiting(entry)
    if path is None and verdict == REFUTED:
        reason = f"counterexample not checked: {reason or 'there is no certificate'}"
    row = InstanceRow(
        name=name[:500],
        verdict=verdict,
        reason=reason or waiting,
        facts=_facts(entry, {}),
        seconds=float(_field(entry, "seconds", (int, float), what, 0.0)),
        verified=entry.get("verified") is True,
        waiting=bool(waiting),
    )
    if path is None:
        return row
    recorded = entry.get("sha256")
    found = certificate_of(path, recorded if isinstance(recorded, str) else "", folder)
    damage, answer = found.damage, answers.get(path)
    if found.content is not None and answer is not None and answer["verdict"] != "valid":
        damage = f"the verifier says {shown(explain(answer), 300)}"
    elif found.content is not None:
        damage = contradiction(claim, entry, found.content)
    if found.content is None or damage:
        return replace(row, verdict="open", damage=damage, recorded=verdict)
    contents[name] = found.content
    return replace(
        row,
        about=_about(entry, name, found.content),
        strength=strength if isinstance(strength, str) else "",
        facts=_facts(entry, proved_quantities(claim, found.content)),
        checked=answer is not None,
        certificate=up(path, folder),
        file=Path(os.path.relpath(path, folder)).as_posix(),
        sha256=str(found.content["sha256"]),
    )


def _facts(entry: Mapping[str, Any], proved: Mapping[str, int | None]) -> dict[str, str]:
    """Return what is expected of an instance, and what its certificate proves: no other number is shown."""
    expected = entry.get("expected")
    stated = {"expected": str(expected)[:200]} if isinstance(expected, int) else {}
    return stated | {key: "" if value is None else str(value)[:200] for key, value in proved.items()}


def _about(entry: Mapping[str, Any], name: str, certificate: Mapping[str, Any]) -> str:
    """Return what a certificate is about, and the values of variables, where the name does not say both."""
    about, variables = subject_of(certificate), entry.get("variables")
    if name in (_as_name(about), about.removeprefix("identity ")):
        return ""
    values = variables if isinstance(variables, Mapping) else {}
    said = {f"{key}{value}" for key, value in values.items()} >= set(name.split("_"))
    listed = ", ".join(f"{shown(key)} = {shown(value, 40)}" for key, value in values.items())
    return about if said or not listed else f"{about}; {listed}"


def _as_name(about: str) -> str:
    """Return what the name of an instance would be that has no name of its own."""
    text = about.replace(", ", "_").replace(" ", "").replace(",", "-")
    return re.sub(r"[^A-Za-z0-9_.-]", "", text)


def _waiting(entry: Mapping[str, Any]) -> str:
    """Return what an interrupted run left undone of an instance: of any other, an open one has a reason."""
    if entry.get("verdict") != OPEN or entry.get("verified") is not None:
        return ""
    if entry.get("certificate") is None:
        return NOT_RUN
    return "certified, but not yet verified: the run was interrupted"


# -- the table of the paper -------------------------------------------------------------------


def _paper(table: Any, claims: Iterable[ClaimPage], folder: Path) -> Paper | None:
    """Return the statements of the paper with their claims, if the summary has any."""
    if table is None:
        return None
    known = {claim.key: claim for claim in claims}
    what = "the table of the paper"
    statements = [_statement(entry, known, folder) for entry in _field(table, "statements", list, what)]
    others = [_paper_row(entry, known, folder) for entry in _field(table, "others", list, what, [])]
    return Paper(tuple(statements), tuple(others)) if statements else None


def _statement(entry: Any, known: Mapping[str, ClaimPage], folder: Path) -> PaperStatement:
    what = f"statement {_text(entry, 'id', 'a statement of the paper')[:60]} of the paper"
    illustration = entry.get("illustration")
    return PaperStatement(
        id=_text(entry, "id", what),
        part=_text(entry, "part", what),
        where=_text(entry, "where", what),
        text=_text(entry, "text", what),
        illustration=illustration if isinstance(illustration, str) else "",
        rows=tuple(_paper_row(row, known, folder) for row in _field(entry, "rows", list, what)),
    )


def _paper_row(entry: Any, known: Mapping[str, ClaimPage], folder: Path) -> PaperRow:
    what = "a row of the table of the paper"
    key = f"{_text(entry, 'worksheet', what)}/{_text(entry, 'claim', what)}"
    claim = known.get(key)
    inside(folder, entry.get("proof"), what)
    if claim is None:  # nothing here supports what the table says
        title = _text(entry, "title", what)
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
