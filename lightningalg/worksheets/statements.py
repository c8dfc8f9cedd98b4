"""The table of a run: every statement of the paper, in the paper's order, with the claims that settle it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lightningalg.arguments import only
from lightningalg.certificates.files import read_text
from lightningalg.errors import InputError, shown
from lightningalg.networks.spec import parse_toml
from lightningalg.worksheets.fields import in_field, list_of, text_of
from lightningalg.worksheets.library import library_folder
from lightningalg.worksheets.verdict import NUMERICAL, OPEN, REFUTED

_FILE = Path("paper") / "statements.toml"
_TEXTS = ("id", "part", "part_es", "where", "where_es", "text", "text_es")
_NUMBERS = ("paper", "paper_es")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of the paper, or of MATH.md, in English and Spanish.

    Attributes
    ----------
    id
        What claims name in ``paper``.
    part, part_es
        The part of the table that it belongs to.
    where, where_es
        Its place in the paper and in MATH.md.
    text, text_es
        What it says, true or not.
    illustration
        A notebook that shows what is not certified; ``""`` if there is none.
    paper, paper_es
        Its number in the paper, with the version that has it, as far as that is confirmed: ``Conjecture 3.10
        (ICLR 2025)``; else ``""``.
    """

    id: str
    part: str
    part_es: str
    where: str
    where_es: str
    text: str
    text_es: str
    illustration: str = ""
    paper: str = ""
    paper_es: str = ""

    def to_json(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return this statement's entry of the table, with the claims that settle it.

        ``where`` begins with the number in the paper, so that every form of the table shows it.
        """
        texts = {name: getattr(self, name) for name in _TEXTS}
        if self.paper:
            texts["where"] = f"{self.paper}; {self.where}"
            texts["where_es"] = f"{self.paper_es}; {self.where_es}"
        rest = {"paper": self.paper or None, "illustration": self.illustration or None}
        return {**texts, **rest, "rows": list(rows)}


def read_statements(path: Path) -> tuple[Statement, ...]:
    """Return the statements in a file, in their order.

    Raises
    ------
    InputError
        Naming the file, the statement and the field.
    """
    table = parse_toml(read_text(path, what="statements"))
    found = []
    try:
        only(table, {"statement"}, "the file")
        for number, entry in enumerate(list_of(table, "statement"), start=1):
            with in_field(f"statement {number}"):
                if not isinstance(entry, Mapping):
                    raise InputError("it is no table")
                only(entry, {*_TEXTS, *_NUMBERS, "illustration"}, "it")
                texts = {name: text_of(entry, name) for name in _TEXTS}
                empty = next((name for name, text in texts.items() if not text), None)
                if empty is not None:
                    raise InputError(f'it needs "{empty}"')
                numbers = {name: text_of(entry, name) for name in _NUMBERS}
                if bool(numbers["paper"]) != bool(numbers["paper_es"]):
                    raise InputError('it needs both "paper" and "paper_es", or neither')
                found.append(Statement(**texts, **numbers, illustration=text_of(entry, "illustration")))
        if len({statement.id for statement in found}) != len(found):
            raise InputError("two statements have the same id")
    except InputError as error:
        raise InputError(f"statements {path}: {error}") from None
    return tuple(found)


@cache
def paper_statements() -> tuple[Statement, ...]:
    """Return the statements that come with the worksheets of the package.

    Examples
    --------
    >>> [statement.id for statement in paper_statements()][:2]
    ['trilinear-cubic', 'deep-degrees']
    """
    return read_statements(library_folder() / _FILE)


def with_own_words(table: Any) -> Any:
    """Return the table of a summary, which anyone may have written, with the package's words.

    A statement that the package does not have keeps its words, and ``where`` says so.
    """
    statements = table.get("statements") if isinstance(table, Mapping) else None
    if not isinstance(statements, list):
        return table
    known = {statement.id: statement for statement in paper_statements()}
    found = []
    for entry in statements:
        statement = known.get(str(entry.get("id"))) if isinstance(entry, Mapping) else None
        if statement is not None:
            entry = {**entry, **statement.to_json(()), "rows": entry.get("rows")}
        elif isinstance(entry, Mapping):
            entry = {**entry, "where": "not among this program's", "where_es": "no es de este programa"}
        found.append(entry)
    return {**table, "statements": found}


def check_statements(name: str, wanted: Iterable[str]) -> None:
    """Refuse a claim that names a statement which there is not.

    Raises
    ------
    InputError
        Naming the claim and the statements.
    """
    known = [statement.id for statement in paper_statements()]
    for key in wanted:
        if key not in known:
            raise InputError(f'claim "{name}": "paper" names {shown(key)!r}: known are {", ".join(known)}')


def statement_table(claims: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the table of claims, given as the entries of ``summary.json``: plain data.

    ``statements`` are those with a claim here, in the paper's order, each with its ``rows``;
    ``others`` are the rows of claims that settle none.
    """
    statements = []
    for statement in paper_statements():
        own = [_row(claim) for claim in claims if statement.id in claim.get("paper", ())]
        if own:
            statements.append(statement.to_json(own))
    return {"statements": statements, "others": [_row(claim) for claim in claims if not claim.get("paper")]}


def _row(claim: Mapping[str, Any]) -> dict[str, Any]:
    instances = claim["instances"]
    with_file = [one for one in instances if one["certificate"] is not None]
    strengths = sorted({str(one["strength"]) for one in with_file})
    verdicts = [one["verdict"] for one in instances]
    return {
        "worksheet": claim["worksheet"],
        "claim": claim["id"],
        **{
            key: claim[key]
            for key in ("title", "statement", "source", "verdict", "declared", "as_declared", "proof")
        },
        "strength": ", ".join(strengths) or None,
        "instances": len(instances),
        "certificates": len(with_file),
        "refuted": verdicts.count(REFUTED),
        "open": verdicts.count(OPEN),
        "folder": f"{claim['worksheet']}/{claim['id']}" if with_file else None,
        "seconds": round(claim["seconds"], 2),
    }


def counted(row: Mapping[str, Any]) -> str:
    """Return how many certificates a row has, and how many instances are not certified, in words.

    Examples
    --------
    >>> counted({"certificates": 100, "instances": 100, "refuted": 41, "open": 0})
    '100 (41 refuted)'
    """
    notes = [f"{row[key]} {key}" for key in ("refuted", "open") if row[key]]
    return str(row["certificates"]) + (f" ({', '.join(notes)})" if notes else "")


_KEYS = (
    "verdict", "strength", "instances", "certificates", "refuted", "open", "folder", "proof", "seconds",
)  # fmt: skip
_COLUMNS = ("statement", "where", "claim", "verdict", "strength", "certificates", "proof", "seconds")


def table_markdown(table: Mapping[str, Any]) -> str:
    """Return the table as Markdown, with links to certificates and proofs relative to the run's folder."""
    lines = [
        "# Statements and verdicts",
        "",
        "| " + " | ".join(_COLUMNS) + " |",
        "|" + " --- |" * 7 + " ---: |",
    ]
    for statement in table["statements"]:
        first = [_plain(statement["text"]), _plain(statement["where"])]
        for row in statement["rows"]:
            lines.append(_markdown_line([*first, *_linked(row)]))
            first = ["", ""]
        if statement["illustration"]:
            notebook = f"notebook {_plain(statement['illustration'])}"
            lines.append(_markdown_line(["", "", notebook, OPEN, NUMERICAL, "", "", ""]))
    for row in table["others"]:
        lines.append(
            _markdown_line([_plain(row["statement"] or row["title"]), _plain(row["source"]), *_linked(row)])
        )
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Return text that Markdown prints as it is, on one line."""
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", " ".join(text.split()))


def _linked(row: Mapping[str, Any]) -> list[str]:
    certificates, proof = counted(row), row["proof"]
    return [
        _plain(f"{row['worksheet']}/{row['claim']}"),
        row["verdict"],
        _plain(row["strength"] or ""),
        f"[{certificates}](<{row['folder']}>)" if row["folder"] else certificates,
        f"[{_plain(proof)}](<{proof}>)" if proof else "none",
        f"{row['seconds']:.1f}",
    ]


def _markdown_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def table_csv(table: Mapping[str, Any]) -> str:
    """Return the table as CSV: one line for each claim under each statement."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["part", *_COLUMNS[:3], *_KEYS])
    for statement in table["statements"]:
        about = [statement["part"], statement["text"], statement["where"]]
        for row in statement["rows"]:
            writer.writerow([*about, *_values(row)])
        if statement["illustration"]:
            empty = [""] * 7
            writer.writerow([*about, f"notebook {statement['illustration']}", OPEN, NUMERICAL, *empty])
    for row in table["others"]:
        writer.writerow(["", row["statement"] or row["title"], row["source"], *_values(row)])
    return text.getvalue()


def _values(row: Mapping[str, Any]) -> list[Any]:
    return [f"{row['worksheet']}/{row['claim']}", *("" if row[key] is None else row[key] for key in _KEYS)]
