"""From the folder of a run to its book: what is read is untrusted, and only what is valid is printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lightningalg.certificates.checker import explain
from lightningalg.certificates.files import read_certificate
from lightningalg.errors import InputError, LightningAlgError, shown
from lightningalg.render.latex import ClaimText
from lightningalg.render.latex.book import Book, BookCertificate, BookClaim, Chapter
from lightningalg.worksheets.checked import contradiction, refuse_repeated, verifier_answers
from lightningalg.worksheets.claim_text import expected_values
from lightningalg.worksheets.expected_text import wanted
from lightningalg.worksheets.report_files import certificate_of, inside, leads_out
from lightningalg.worksheets.summary import SUMMARY, field_of, read_summary
from lightningalg.worksheets.verdict import recorded_verdict

#: certificates that one book may have: beyond, LaTeX takes many minutes
MAX_CERTIFICATES = 20_000
_NAMED = 10  # certificates that an error names
_TITLES = {
    "en": "The geometry of neural networks, certified",
    "es": "La geometría de las redes neuronales, certificada",
}


class NotValidError(LightningAlgError):
    """A certificate of the run is not accepted by the verifier."""


def read_book(
    folder: Path,
    *,
    title: str = "",
    lang: str = "en",
    progress: Callable[[int, int, str], None] = lambda done, total, what: None,
) -> Book:
    """Return the book of the run in ``folder``: every certificate is verified again.

    Words of worksheets are taken in the language ``lang``, where they are there, else in English.

    Raises
    ------
    InputError
        Naming file and field, if there is no run, its summary is not one, or a certificate is not the one
        that the run made.
    NotValidError
        If certificates that the summary calls verified are missing, are not accepted by the verifier, or are
        not what the summary says: it names the first ten, and how many there are.
    """
    path = folder / SUMMARY
    summary = read_summary(folder)
    try:
        entries = field_of(summary, "claims", list, "the summary")
        about = {
            field_of(entry, "name", str, "a worksheet"): entry
            for entry in field_of(summary, "worksheets", list, "the summary", [])
        }
        wanted = [_wanted(entry, folder) for entry in entries]
    except InputError as error:
        raise InputError(f"summary of a run {path}: {error}") from None
    count = sum(map(len, wanted))
    if count > MAX_CERTIFICATES:
        raise InputError(f"summary of a run {path}: {count} certificates; a book may have {MAX_CERTIFICATES}")
    _check_all(entries, wanted, folder, progress)
    try:
        claims = [
            _claim(entry, about.get(str(entry.get("worksheet")), {}), files, folder, lang)
            for entry, files in zip(entries, wanted, strict=True)
        ]
        names = list(dict.fromkeys(claim.worksheet for claim in claims))
        if len({claim.key for claim in claims}) != len(claims):
            raise InputError("two claims share their worksheet and id")
        chapters = tuple(
            _chapter(name, about.get(name, {}), [c for c in claims if c.worksheet == name], lang)
            for name in names
        )
        table = field_of(summary, "table", dict, "the summary", {})
        _check_table(table)
    except InputError as error:
        raise InputError(f"summary of a run {path}: {error}") from None
    heading = title or (chapters[0].title if len(chapters) == 1 else _TITLES.get(lang, _TITLES["en"]))
    return Book(heading, chapters, table)


def _wanted(entry: Any, folder: Path) -> list[tuple[Path, str, Mapping[str, Any]]]:
    """Return file, hash and instance of every certificate that the run's verifier has accepted."""
    what = f"claim {shown(field_of(entry, 'id', str, 'a claim'))}"
    found = []
    instances = field_of(entry, "instances", list, what)
    refuse_repeated(entry, what)
    for instance in instances:
        file = inside(folder, field_of(instance, "certificate", (str, type(None)), what), what)
        if file is not None and leads_out(file, folder):
            raise InputError(f"{file} is a link that leads out of the folder of the run")
        if file is not None and instance.get("verified") is True:
            found.append((file, field_of(instance, "sha256", str, what), instance))
    return found


def _check_all(
    entries: Sequence[Mapping[str, Any]],
    wanted: Sequence[Sequence[tuple[Path, str, Mapping[str, Any]]]],
    folder: Path,
    progress: Callable[[int, int, str], None],
) -> None:
    """Run the stand-alone verifier on all certificates, and compare them with the summary.

    Raises
    ------
    NotValidError
        Naming the first ten that are missing, not accepted, or not what the summary says, and their number.
    """
    answers = verifier_answers([file for files in wanted for file, _, _ in files], progress)
    wrong = []
    for entry, files in zip(entries, wanted, strict=True):
        for file, sha256, instance in files:
            found = certificate_of(file, sha256, folder)
            if found.content is None and found.damage == "the file is missing":
                wrong.append(f"{file} is missing")
            elif answers[file]["verdict"] != "valid":
                wrong.append(f"{file} is {explain(answers[file])}")
            elif found.content is None:
                wrong.append(f"{file} is not the certificate that the run made: {found.damage}")
            elif said := contradiction(entry, instance, found.content):
                wrong.append(f"{file} is not what the summary says: {said}")
    if wrong:
        listed = "; ".join(wrong[:_NAMED])
        more = f"; and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
        count = sum(map(len, wanted))
        raise NotValidError(f"{len(wrong)} of {count} certificates cannot be printed: {listed}{more}")


def _claim(
    entry: Mapping[str, Any],
    worksheet: Mapping[str, Any],
    files: Sequence[tuple[Path, str, Mapping[str, Any]]],
    folder: Path,
    lang: str,
) -> BookClaim:
    name = field_of(entry, "id", str, "a claim")
    what = f"claim {shown(name)}"

    def text(key: str) -> str:
        return str(field_of(entry, key, str, what, ""))

    found, without = _instances(entry, files, folder, what)
    own = _translated(entry, lang, what)
    if not own["source"] and text("source") == worksheet.get("source"):  # it is that of the worksheet
        own["source"] = _translated(worksheet, lang, "a worksheet")["source"]
    original: dict[str, Any] = {
        "title": text("title") or name,
        "statement": text("statement"),
        "source": text("source"),
        "prose": text("prose"),
        "hypotheses": _texts(entry, "hypotheses", what),
    }
    words = ClaimText(
        id=name,
        **{key: own.get(key) or value for key, value in original.items()},
        expected=text("expected") or text("check"),
        differs=text("relation") == "differs",
        verdicts={certificate.content["sha256"]: verdict for certificate, verdict, _ in found},
        english=frozenset(key for key in original if lang != "en" and not own.get(key)),
        values=expected_values((certificate.content["sha256"], number) for certificate, _, number in found),
        wanted=wanted(
            text("expected"), text("check"), text("kind"), differs=text("relation") == "differs", lang=lang
        ),
    )
    return BookClaim(
        worksheet=field_of(entry, "worksheet", str, what), text=words, verdict=recorded_verdict(entry, what),
        declared=text("declared") or "certified", without=tuple(without),
        certificates=tuple(certificate for certificate, _, _ in found),
        uses=tuple(str(key) for key in field_of(entry, "uses", list, what, [])),
        proof=str(field_of(entry, "proof", (str, type(None)), what) or ""), strengths=_strengths(entry, what),
    )  # fmt: skip


def _instances(
    entry: Mapping[str, Any],
    files: Sequence[tuple[Path, str, Mapping[str, Any]]],
    folder: Path,
    what: str,
) -> tuple[list[tuple[BookCertificate, str, int | None]], list[tuple[str, str, str]]]:
    """Return certificates with verdict and expected value; (name, verdict, reason) where there is none."""
    by_file = {str(file): sha256 for file, sha256, _ in files}
    found, without = [], []
    for instance in field_of(entry, "instances", list, what):
        file = inside(folder, instance.get("certificate"), what)
        verdict = field_of(instance, "verdict", str, what)
        if file is None or str(file) not in by_file:
            reason = field_of(instance, "reason", str, what, "")
            without.append((field_of(instance, "name", str, what), verdict, reason[:600]))
            continue
        content = read_certificate(file)
        if content["sha256"] != by_file[str(file)]:
            raise InputError(f"{file} is not the certificate that the run made: run the worksheets again")
        number = field_of(instance, "expected", (int, type(None)), what)
        found.append((BookCertificate(content, file.relative_to(folder).as_posix()), verdict, number))
    return found, without


def _strengths(entry: Mapping[str, Any], what: str) -> tuple[str, ...]:
    """Return the strengths of the verdicts on a claim's instances, each once."""
    found = (field_of(one, "strength", (str, type(None)), what) for one in entry["instances"])
    return tuple(dict.fromkeys(strength for strength in found if strength))


def _texts(table: Mapping[str, Any], key: str, what: str) -> tuple[str, ...]:
    return tuple(str(text) for text in field_of(table, key, list, what, []))


def _translated(entry: Mapping[str, Any], lang: str, what: str) -> dict[str, Any]:
    """Return the texts of a claim or worksheet in a language, those that there are."""
    words = field_of(field_of(entry, "translations", dict, what, {}), lang, dict, what, {})
    found: dict[str, Any] = {
        key: field_of(words, key, str, what, "") for key in ("title", "statement", "source", "prose")
    }
    hypotheses = _texts(words, "hypotheses", what)
    if len(hypotheses) == len(_texts(entry, "hypotheses", what)):
        found["hypotheses"] = hypotheses
    return found


def _chapter(name: str, about: Mapping[str, Any], claims: Sequence[BookClaim], lang: str) -> Chapter:
    own = _translated(about, lang, "a worksheet")
    title, source, prose = (
        own[key] or field_of(about, key, str, "a worksheet", "") for key in ("title", "source", "prose")
    )
    return Chapter(name, title or name, source, prose, tuple(claims))


def _check_table(table: Mapping[str, Any]) -> None:
    """Refuse a table without the fields that the book reads."""
    for statement in field_of(table, "statements", list, "the table", []):
        for key in ("part", "part_es", "text", "text_es", "where", "where_es"):
            field_of(statement, key, str, "a statement")
        field_of(statement, "illustration", (str, type(None)), "a statement")
        _check_rows(field_of(statement, "rows", list, "a statement"))
    _check_rows(field_of(table, "others", list, "the table", []))


def _check_rows(rows: Sequence[Any]) -> None:
    for row in rows:
        field_of(row, "worksheet", str, "a row")
        field_of(row, "claim", str, "a row")
        field_of(row, "seconds", (int, float), "a row")
