"""From the folder of a run to the records of its report: everything read here is untrusted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lightningalg.certificates.files import read_certificate, read_json, read_text
from lightningalg.errors import InputError
from lightningalg.render.html.charts import GraphNode, Point, layered_graph, scatter
from lightningalg.render.html.mathml import mathml
from lightningalg.render.html.records import ClaimPage, Figure, InstanceRow, Report
from lightningalg.worksheets.figures import MOST_PARAMETERS, certificate_figures
from lightningalg.worksheets.formula import Formula

SUMMARY = "summary.json"
_FIXED = {
    "name", "verdict", "strength", "reason", "certificate", "sha256", "verified", "skipped", "seconds",
}  # fmt: skip
_LONGEST_SOURCE = 200_000  # characters of a proof shown in its page


def read_report(folder: Path, *, title: str = "lightningalg") -> Report:
    """Return the report of the run in ``folder``, with figures made from its certificates.

    Parameters
    ----------
    title
        Of the report.

    Raises
    ------
    InputError
        Naming the file and the field, if there is no run or its summary is not one.

    Examples
    --------
    >>> read_report(Path("/nowhere"))
    Traceback (most recent call last):
    lightningalg.errors.InputError: summary of a run /nowhere/summary.json: No such file or directory
    """
    path = folder / SUMMARY
    summary = read_json(path, what="summary of a run", integers_only=False)
    try:
        claims = [_claim(entry, folder) for entry in _field(summary, "claims", list, "the summary")]
        complete = _field(summary, "complete", bool, "the summary")
        seconds = float(_field(summary, "seconds", (int, float), "the summary"))
    except InputError as error:
        raise InputError(f"summary of a run {path}: {error}") from None
    linked = tuple(_with_users(claim, claims) for claim in claims)
    if len({claim.page.lower() for claim in linked}) != len(linked):
        raise InputError(f"summary of a run {path}: two claims share their worksheet and id")
    return Report(title, linked, complete, seconds, tuple(_overview(linked)))


def _field(table: Any, key: str, kind: type | tuple[type, ...], what: str, default: Any = None) -> Any:
    if not isinstance(table, Mapping):
        raise InputError(f"{what} is no object")
    value = table.get(key, default)
    accepted = kind if isinstance(kind, tuple) else (kind,)
    if not isinstance(value, accepted) or (isinstance(value, bool) and bool not in accepted):
        names = " or ".join(t.__name__ for t in accepted)
        raise InputError(f'"{key}" of {what} is {str(value)[:40]!r}: accepted is {names}')
    return value


def _texts(table: Mapping[str, Any], key: str, what: str) -> tuple[str, ...]:
    values = _field(table, key, list, what, [])
    if not all(isinstance(value, str) for value in values):
        raise InputError(f'"{key}" of {what}: accepted are texts')
    return tuple(values)


def _claim(entry: Any, folder: Path) -> ClaimPage:
    worksheet, name = (_field(entry, key, str, "a claim") for key in ("worksheet", "id"))
    what = f"claim {worksheet[:60]}/{name[:60]}"
    if any(c in "/\\\0" for c in worksheet + name) or name.startswith("."):
        raise InputError(f"{what}: not a name of a worksheet and a claim")

    def text(key: str) -> str:
        return _field(entry, key, str, what, "")

    raw = _field(entry, "instances", list, what)
    rows = tuple(_instance(value, folder, what) for value in raw)
    proof = _inside(folder, entry.get("proof"), what)
    pdf = proof.with_suffix(".pdf") if proof else None
    expected, check = text("expected"), text("check")
    kind = text("kind")
    return ClaimPage(
        worksheet=worksheet,
        id=name,
        kind=kind,
        title=text("title") or name,
        verdict=text("verdict"),
        declared=text("declared") or "certified",
        statement=text("statement"),
        source=text("source"),
        prose=text("prose"),
        expected=expected,
        expected_mathml=_formula(_relation(text("relation"), kind, rows) + " ", expected),
        check=check,
        check_mathml=_formula("", check),
        hypotheses=_texts(entry, "hypotheses", what),
        uses=_texts(entry, "uses", what),
        proof=_up(proof, folder),
        pdf=_up(pdf, folder) if pdf is not None and pdf.is_file() else "",
        source_text=_proof_text(proof),
        seconds=float(_field(entry, "seconds", (int, float), what, 0.0)),
        instances=rows,
        figures=tuple(_claim_figures(worksheet, name, rows, folder)),
    )


def _relation(relation: str, kind: str, rows: Iterable[InstanceRow]) -> str:
    r"""Return the left side and the sign in front of what a claim expects, in LaTeX."""
    sign = r"\ne" if relation == "differs" else r"\le" if kind == "dimension-at-most" else "="
    known = any("dimension" in row.facts for row in rows) or kind == "dimension-at-most"
    return rf"\dim {sign}" if known else ""


def _formula(before: str, text: str) -> str:
    """Return MathML of a worksheet's formula, or nothing if the text is none."""
    if not text:
        return ""
    try:
        return mathml(before + Formula.parse(text).to_latex())
    except InputError:
        return ""


def _instance(entry: Any, folder: Path, what: str) -> InstanceRow:
    name = _field(entry, "name", str, f"an instance of {what}")
    what = f"instance {name[:60]} of {what}"
    certificate = _inside(folder, entry.get("certificate"), what)
    facts = {
        key: "" if value is None else str(value)[:200]
        for key, value in entry.items()
        if key not in _FIXED and (value is None or isinstance(value, (int, str)))
    }
    if not facts.get("expected", "x"):
        del facts["expected"]
    found = certificate is not None and certificate.is_file()
    return InstanceRow(
        name=name,
        verdict=_field(entry, "verdict", str, what),
        strength=entry.get("strength") or "",
        reason=_field(entry, "reason", str, what, ""),
        facts=facts,
        certificate=_up(certificate, folder) if found else "",
        file=os.path.relpath(certificate, folder) if found and certificate is not None else "",
        sha256=(entry.get("sha256") or "") if isinstance(entry.get("sha256"), str | None) else "",
        seconds=float(_field(entry, "seconds", (int, float), what, 0.0)),
    )


def _inside(folder: Path, value: Any, what: str) -> Path | None:
    """Return the path of a file of the run; paths that lead out of its folder are refused."""
    if value is None:
        return None
    if not isinstance(value, str) or not value or "\0" in value:
        raise InputError(f"{what}: {str(value)[:60]!r} is no path")
    path = Path(os.path.normpath(value))
    if path.is_absolute() or ".." in path.parts:
        raise InputError(f"{what}: {value[:100]!r} leads out of the folder of the run")
    return folder / path


def _up(path: Path | None, folder: Path) -> str:
    """Return a path as the claim pages, two folders below that of the run, link to it."""
    return "" if path is None else "../../" + Path(os.path.relpath(path, folder)).as_posix()


def _proof_text(proof: Path | None) -> str:
    if proof is None:
        return ""
    text = read_text(proof, what="proof")
    cut = "" if len(text) <= _LONGEST_SOURCE else "\n... (the file has the rest)"
    return text[:_LONGEST_SOURCE] + cut


def _claim_figures(worksheet: str, name: str, rows: tuple[InstanceRow, ...], folder: Path) -> list[Figure]:
    figures = []
    points = _points(rows, "")
    if len(points) > 1:
        svg = scatter(points, "Dimension against parameters", "parameters", "dimension")
        figures.append(
            Figure(svg, "Dimension against the number of parameters; on the dashed line they agree.")
        )
    shown = _exemplary([row for row in rows if row.certificate])
    if shown is not None:
        certificate = read_certificate(folder / shown.file)
        figures += certificate_figures(certificate, shown.name)
    return figures


def _exemplary(rows: list[InstanceRow]) -> InstanceRow | None:
    """Return the instance to draw: the largest whose Jacobian or strata can be looked at, else the first."""

    def size(row: InstanceRow) -> int:
        number = row.facts.get("parameters") or row.facts.get("strata") or ""
        return int(number) if number.isdigit() and len(number) < 10 else 0

    small = [row for row in rows if 0 < size(row) <= MOST_PARAMETERS]
    return max(small, key=size) if small else next(iter(rows), None)


def _points(rows: Iterable[InstanceRow], link: str) -> list[Point]:
    points = []
    for row in rows:
        n, value = (
            row.facts.get("parameters", ""),
            row.facts.get("dimension") or row.facts.get("upper_bound", ""),
        )
        if n.isdigit() and value.isdigit() and len(n) < 16 and len(value) < 16:
            relation = "dimension" if row.facts.get("dimension") else "at most"
            text = f"{row.name}: {n} parameters, {relation} {value} ({row.verdict})"
            points.append(Point(int(n), int(value), row.verdict.replace(" ", "-"), text, link))
    return points


def _with_users(claim: ClaimPage, claims: list[ClaimPage]) -> ClaimPage:
    return replace(claim, used_by=tuple(other.key for other in claims if claim.key in other.uses))


def _overview(claims: tuple[ClaimPage, ...]) -> list[Figure]:
    """Return the figures of the first page: all dimensions, and which claim rests on which."""
    figures = []
    points = [point for claim in claims for point in _points(claim.instances, f"claims/{claim.page}")]
    if points:
        svg = scatter(points, "Dimension against parameters, all instances", "parameters", "dimension")
        caption = (
            "Dimension (or its upper bound) against the number of parameters, all instances of all claims. "
            "On the dashed line every parameter counts; below it the parametrisation has continuous fibres."
        )
        figures.append(Figure(svg, caption))
    known = {claim.key: claim for claim in claims}
    edges = [(key, claim.key) for claim in claims for key in claim.uses if key in known]
    if edges:
        ends = {end for edge in edges for end in edge}
        nodes = [
            GraphNode(c.key, c.title, c.key, c.verdict.replace(" ", "-"), f"claims/{c.page}")
            for c in claims
            if c.key in ends
        ]
        svg = layered_graph(nodes, edges, "Which claim rests on which")
        figures.append(
            Figure(svg, "Which claim rests on which: an arrow leads from a claim to one that uses it.")
        )
    return figures
