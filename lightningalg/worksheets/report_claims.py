"""The pages of a report: a claim each, with its instances, proof and figures."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lightningalg.certificates.checker import explain
from lightningalg.errors import InputError, shown
from lightningalg.render.html.records import ClaimPage, Figure, InstanceRow
from lightningalg.worksheets.checked import contradiction, proved_quantities, refuse_repeated
from lightningalg.worksheets.report_figures import claim_figures, slice_figures
from lightningalg.worksheets.report_files import certificate_of, inside, proof_of, up
from lightningalg.worksheets.report_words import (
    check_words,
    expected_words,
    formula_mathml,
    left_side,
    with_words,
    yes_or_no,
)
from lightningalg.worksheets.subjects import subject_of
from lightningalg.worksheets.summary import field_of, text_in, texts_in
from lightningalg.worksheets.verdict import OPEN, REFUTED, recorded_verdict

NOT_RUN = "not run: the run was interrupted"


def claim_page(
    entry: Any,
    folder: Path,
    answers: Mapping[Path, Mapping[str, Any]],
    *,
    slices: bool,
    drawn: dict[str, Figure],
    progress: Callable[[str], None],
) -> ClaimPage:
    """Return the page of a claim from its entry in the summary; ``drawn`` keeps the slices there are."""
    worksheet, name = names_of(entry)
    what = f"claim {shown(worksheet)}/{shown(name)}"
    contents: dict[str, Mapping[str, Any]] = {}
    rows = tuple(
        _instance(value, entry, folder, what, contents, answers)
        for value in field_of(entry, "instances", list, what)
    )
    verdict = recorded_verdict(entry, what)
    refuse_repeated(entry, what)
    claim = ClaimPage(
        worksheet=worksheet,
        id=name,
        kind=text_in(entry, "kind", what),
        title=text_in(entry, "title", what) or name,
        verdict=_after_damage(verdict, rows),
        recorded=verdict,
        declared=text_in(entry, "declared", what) or "certified",
        statement=text_in(entry, "statement", what),
        source=text_in(entry, "source", what),
        prose=text_in(entry, "prose", what),
        **_expected(entry, what, rows),
        hypotheses=texts_in(entry, "hypotheses", what),
        uses=texts_in(entry, "uses", what),
        **_proof(entry, what, folder),
        seconds=float(field_of(entry, "seconds", (int, float), what, 0.0)),
        instances=rows,
    )
    figures = claim_figures(claim, contents)
    if slices:
        figures += slice_figures(claim, contents, drawn, progress)
    return replace(claim, figures=tuple(figures))


def _expected(entry: Any, what: str, rows: tuple[InstanceRow, ...]) -> dict[str, Any]:
    """Return the fields of a claim's page that say what is expected."""
    expected, check, kind, relation = (
        text_in(entry, key, what) for key in ("expected", "check", "kind", "relation")
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


def names_of(entry: Any) -> tuple[str, str]:
    """Return the names of a claim's worksheet and of the claim, which become that of its page."""
    worksheet, name = (field_of(entry, key, str, "a claim") for key in ("worksheet", "id"))
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
    name = field_of(entry, "name", str, f"an instance of {what}")
    what = f"instance {shown(name)} of {what}"
    path = inside(folder, entry.get("certificate"), what)
    verdict, strength = text_in(entry, "verdict", what), entry.get("strength")
    reason = text_in(entry, "reason", what)
    waiting = "" if reason else _waiting(entry)
    if path is None and verdict == REFUTED:
        reason = f"counterexample not checked: {reason or 'there is no certificate'}"
    row = InstanceRow(
        name=name[:500],
        verdict=verdict,
        reason=reason or waiting,
        facts=_facts(entry, {}),
        seconds=float(field_of(entry, "seconds", (int, float), what, 0.0)),
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
