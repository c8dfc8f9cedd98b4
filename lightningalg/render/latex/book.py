r"""One book from the certificates of a run: theory once, a section for each claim, a table, an index."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.article import document_of, filled, parts
from lightningalg.render.latex.claim import ClaimText, status, with_signs
from lightningalg.render.latex.document import Document
from lightningalg.render.latex.escape import Tex, typewriter
from lightningalg.render.latex.language import current_language, speaking, translate
from lightningalg.render.latex.prose import prose
from lightningalg.render.typed import typed

#: told (claims written, all claims, what is being written)
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class BookCertificate:
    """A certificate and its file, relative to the folder of the run."""

    content: Mapping[str, Any]
    file: str


@dataclass(frozen=True, slots=True)
class BookClaim:
    """A claim of a run.

    Attributes
    ----------
    worksheet
        The name of its worksheet.
    text
        Its words, and the verdicts of its certificates.
    verdict, declared
        The claim's verdict, and the one that its worksheet declares.
    certificates
        Those that the verifier has accepted.
    without
        Name, verdict and reason of instances without such a certificate.
    uses
        ``worksheet/id`` of the claims that its text rests on.
    proof
        Its proof as an article of its own, relative to the folder of the run; ``""``: none.
    strengths
        Those of the verdicts on its instances: where floating point decides, not those of the certificates.
    """

    worksheet: str
    text: ClaimText
    verdict: str
    declared: str
    certificates: tuple[BookCertificate, ...]
    without: tuple[tuple[str, str, str], ...] = ()
    uses: tuple[str, ...] = ()
    proof: str = ""
    strengths: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What ``uses`` calls it."""
        return f"{self.worksheet}/{self.text.id}"


@dataclass(frozen=True, slots=True)
class Chapter:
    """A worksheet: its words and its claims."""

    name: str
    title: str
    source: str
    prose: str
    claims: tuple[BookClaim, ...]

    @property
    def paragraphs(self) -> list[Tex]:
        """The prose, paragraph by paragraph."""
        return [prose(text) for text in self.prose.split("\n\n") if text.strip()]


@dataclass(frozen=True, slots=True)
class Book:
    """What is printed: chapters, and the table of statements as ``summary.json`` holds it."""

    title: str
    chapters: tuple[Chapter, ...]
    table: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Section:
    """A claim in print. ``first`` and ``last`` are the numbers of its certificates, 0 if there are none."""

    number: int
    claim: BookClaim
    first: int
    last: int
    strengths: tuple[str, ...]
    document: Document | None
    body: Tex
    uses: tuple[int, ...]

    @property
    def path(self) -> Tex:
        """The folder of its certificates."""
        return _path(self.claim.key)

    @property
    def proof(self) -> Tex:
        """The file of its proof."""
        return _path(self.claim.proof)

    @property
    def rows(self) -> list[tuple[int, Tex, str]]:
        """Number, file and hash of its certificates."""
        numbered = enumerate(self.claim.certificates, start=self.first)
        return [
            (number, _path(x.file.rpartition("/")[2]), str(x.content["sha256"])) for number, x in numbered
        ]


def _path(text: str) -> Tex:
    """Return a path in typewriter type that breaks after its separators, or anywhere if it has few."""
    pieces = re.split(r"(?<=[/_.-])", text)
    if any(len(piece) > 24 for piece in pieces):
        return typewriter(text)
    inner = r"\allowbreak{}".join(
        typewriter(piece).replace(r"\allowbreak{}", "") for piece in pieces if piece
    )
    return Tex(inner)


def render_book(book: Book, *, lang: str = "en", progress: Progress = lambda done, total, what: None) -> str:
    """Return a complete LaTeX document that proves what the certificates of a run certify.

    The general theory is printed once, in a chapter on foundations; each claim has a section with its words,
    its verdict and its proof, which refers to that theory. Certificates are numbered through the book, and
    listed with their hashes at its end. As in ``render_proof`` everything that is read is untrusted and
    escaped, and nothing is verified here. The result depends on the arguments alone.

    Raises
    ------
    InputError
        If there is no certificate, one is malformed, or the language is unknown.
    UnsupportedError
        If one is of a kind that cannot be printed.
    """
    with speaking(lang):
        return _render(_with_signs(book), progress)


def _with_signs(book: Book) -> Book:
    """Return a book whose words have signs for the formulas that were typed in them."""
    chapters = [
        replace(
            chapter,
            title=typed(chapter.title),
            claims=tuple(replace(claim, text=with_signs(claim.text)) for claim in chapter.claims),
        )
        for chapter in book.chapters
    ]
    return replace(book, chapters=tuple(chapters))


def _render(book: Book, progress: Progress) -> str:
    claims = [claim for chapter in book.chapters for claim in chapter.claims]
    everything = [x.content for claim in claims for x in claim.certificates]
    if not everything:
        raise InputError("a book needs at least one certificate that the verifier has accepted")
    documents, first = [], 1
    for number, claim in enumerate(claims, start=1):
        contents = [x.content for x in claim.certificates]
        documents.append(
            document_of(contents, None, claim.text, first=first, book=True) if contents else None
        )
        first += len(contents)
        progress(number, len(claims), f"reading {claim.key}")
    instances = [x for document in documents if document for x in document.everything]
    whole = document_of(everything, book.title, None, book=True, instances=instances)
    theory = _without_empty_headings(parts(filled("sections.tex.j2", whole), "general"))
    numbers = {claim.key: number for number, claim in enumerate(claims, start=1)}
    sections = {}
    for claim, document in zip(claims, documents, strict=True):
        sections[claim.key] = _section(claim, document, numbers)
        progress(numbers[claim.key], len(claims), f"writing {claim.key}")
    chapters = [(chapter, [sections[claim.key] for claim in chapter.claims]) for chapter in book.chapters]
    facts = _facts(claims, everything)
    return filled(
        "book.tex.j2", whole, chapters=chapters, theory=Tex(theory), facts=facts,
        parts=_table(book.table, sections),
    )  # fmt: skip


def _section(claim: BookClaim, document: Document | None, numbers: Mapping[str, int]) -> _Section:
    body, number = "", numbers[claim.key]
    if document is not None:
        proofs = parts(filled("sections.tex.j2", document), "particular")
        words = filled("claim.tex.j2", document)
        body = _namespaced(words + _without_empty_headings(_below_sections(proofs)), f"c{number}")
    labels = [x.label for x in document.everything] if document else [0]
    return _Section(
        number=number,
        claim=claim,
        first=min(labels),
        last=max(labels),
        strengths=tuple(sorted({str(status(strength)) for strength in claim.strengths})),
        document=document,
        body=Tex(body),
        uses=tuple(numbers[key] for key in claim.uses if key in numbers),
    )


# -- LaTeX of claims as parts of a book: all commands in it are this package's own ------------------------

_LABEL = re.compile(r"\\label\{([^{}]*)\}")
_REFERENCE = re.compile(r"(\\(?:label|[cC]ref|labelcref|ref|eqref|pageref))\{([^{}]*)\}")
_SECTION = re.compile(r"^\\((?:sub)*)section(?=[*{])", re.MULTILINE)


def _below_sections(text: str) -> str:
    r"""Return the text with its headings moved so that the highest ones are subsections.

    Examples
    --------
    >>> _below_sections("\\section{A}\n\\subsection*{B}")
    '\\subsection{A}\n\\subsubsection*{B}'
    """
    levels = [len(heading) // 3 for heading in _SECTION.findall(text)]
    shift = 1 - min(levels, default=1)
    return _SECTION.sub(lambda found: "\\" + "sub" * (len(found[1]) // 3 + shift) + "section", text)


def _without_empty_headings(text: str) -> str:
    r"""Return the text without headings that nothing follows before the next one of their level.

    Examples
    --------
    >>> _without_empty_headings("\\section{A}\n\\subsection{B}\n\\section{C}\ntext\n")
    '\\section{C}\ntext\n'
    """
    kept: list[str] = []
    least: float = 0  # headings of at least this level would be empty here; inf: text follows
    for line in reversed(text.splitlines(keepends=True)):
        heading = _SECTION.match(line)
        if heading is not None:
            level = len(heading[1]) // 3
            if least != float("inf") and level >= least:
                continue
            least = level
        elif line.strip():
            least = float("inf")
        kept.append(line)
    return "".join(reversed(kept))


def _namespaced(text: str, name: str) -> str:
    r"""Return the text with its own labels made unique; it refers to others as they are.

    Examples
    --------
    >>> _namespaced("\\label{a}\\cref{a,b}", "c1")
    '\\label{c1:a}\\cref{c1:a,b}'
    """
    own = set(_LABEL.findall(text))

    def renamed(found: re.Match[str]) -> str:
        keys = (key.strip() for key in found[2].split(","))
        return f"{found[1]}{{{','.join(f'{name}:{key}' if key in own else key for key in keys)}}}"

    return _REFERENCE.sub(renamed, text)


# -- the title page and the table ---------------------------------------------------------------------------


def _facts(claims: Sequence[BookClaim], certificates: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the title page says about a run: nothing in it depends on when or where it was made."""
    versions: dict[str, set[str]] = {}
    seeds: set[str] = set()
    for certificate in certificates:
        provenance = certificate.get("provenance")
        for key, value in provenance.items() if isinstance(provenance, Mapping) else ():
            if key == "seed":
                seeds.add(str(value))
            elif key in ("lightningalg", "numpy", "python", "python-flint", "sympy"):
                versions.setdefault(key, set()).add(str(value))
    hashes = sorted({str(certificate["sha256"]) for certificate in certificates})
    verdicts = [claim.verdict for claim in claims]
    return {
        "claims": len(claims),
        "certificates": len(certificates),
        "verdicts": [(status(verdict, count), count) for verdict, count in sorted(Counter(verdicts).items())],
        "versions": [(key, ", ".join(sorted(values))) for key, values in sorted(versions.items())],
        "seeds": sorted(seeds),
        "hash": sha256("".join(f"{value}\n" for value in hashes).encode("ascii", "replace")).hexdigest(),
    }


def _table(table: Mapping[str, Any], known: Mapping[str, _Section]) -> list[tuple[str, list[Any]]]:
    """Return the parts of the table: title, and (text, place, illustration, rows) of each statement."""
    spanish = current_language() == "es"
    found: dict[str, list[Any]] = {}
    for statement in table.get("statements", ()):
        title = statement["part_es"] if spanish else statement["part"]
        text = statement["text_es"] if spanish else statement["text"]
        where = statement["where_es"] if spanish else statement["where"]
        rows = _rows(statement["rows"], known)
        found.setdefault(title, []).append(
            (prose(text) if text else "", prose(where), statement["illustration"] or "", rows)
        )
    others = _rows(table.get("others", ()), known)
    if others:
        found.setdefault(str(translate("Other claims")), []).append(("", "", "", others))
    return list(found.items())


def _rows(rows: Sequence[Mapping[str, Any]], known: Mapping[str, _Section]) -> list[tuple[_Section, str]]:
    keys = [(f"{row['worksheet']}/{row['claim']}", f"{float(row['seconds']):.1f}") for row in rows]
    return [(known[key], seconds) for key, seconds in keys if key in known]
