r"""One self-contained article from certificates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lightningalg.errors import InputError, shown
from lightningalg.render.latex.claim import ClaimText, paragraphs, printed, status, with_signs
from lightningalg.render.latex.degrees import DegreeInstance, read_degrees
from lightningalg.render.latex.dimension import Instance, read_dimension
from lightningalg.render.latex.document import MOST_IN_FULL, Document
from lightningalg.render.latex.escape import (
    Tex,
    environment,
    plain_ascii,
    plain_latin,
    typewriter,
    verbatim,
    words,
)
from lightningalg.render.latex.identity import IdentityInstance, read_identity
from lightningalg.render.latex.kinds import kinds
from lightningalg.render.latex.language import current_language, speaking
from lightningalg.render.latex.layer_rows import layer_rows
from lightningalg.render.latex.networks import (
    NORMALIZED,
)
from lightningalg.render.latex.prose import prose
from lightningalg.render.latex.titles import title_of
from lightningalg.render.latex.typeset import index_runs

_READERS: dict[str, Callable[[Mapping[str, Any], int, str], Any]] = {
    "dimension": read_dimension,
    "degrees": read_degrees,
    "matrix-identity": read_identity,
}


def render_proof(
    certificates: Sequence[Mapping[str, Any]],
    *,
    title: str | None = None,
    claim: ClaimText | None = None,
    lang: str = "en",
) -> str:
    """Return a complete LaTeX article that proves what the certificates certify, and nothing else.

    The certificates must have the form of FORMAT.md; they are not verified
    here. All their text, ``title`` and ``claim`` are untrusted and escaped.
    The result depends on the arguments alone. ``lang`` is one of
    ``LANGUAGES``: ``"en"`` or ``"es"``.

    Parameters
    ----------
    certificates
        JSON objects.
    title, claim
        What stands above them; by default what they certify.

    Raises
    ------
    InputError
        If a certificate is malformed, or its numbers do not add up, or the language is unknown.
    UnsupportedError
        If one is of a kind or method that cannot be printed.

    Examples
    --------
    >>> render_proof([])
    Traceback (most recent call last):
    lightningalg.errors.InputError: a proof needs at least one certificate
    """
    if not certificates:
        raise InputError("a proof needs at least one certificate")
    with speaking(lang):
        return _render(certificates, title, claim)


def _render(certificates: Sequence[Mapping[str, Any]], title: str | None, claim: ClaimText | None) -> str:
    """Return the article in the current language."""
    return without_marks(filled("article.tex.j2", document_of(certificates, title, claim)))


def document_of(
    certificates: Sequence[Mapping[str, Any]],
    title: str | None,
    claim: ClaimText | None,
    *,
    first: int = 1,
    book: bool = False,
    instances: Sequence[Any] | None = None,
) -> Document:
    """Return what templates read about certificates, which are numbered from ``first``.

    ``instances``: their printable forms, if they have been read already.
    """
    found = instances
    if found is None:
        found = [_read(certificate, i, claim) for i, certificate in enumerate(certificates, start=first)]
    dimensions = tuple(x for x in found if isinstance(x, Instance))
    degrees = tuple(x for x in found if isinstance(x, DegreeInstance))
    identities = tuple(x for x in found if isinstance(x, IdentityInstance))
    others = tuple(x for x in found if not isinstance(x, Instance | DegreeInstance | IdentityInstance))
    claim = with_signs(claim) if claim else None
    heading = title or (claim.title if claim else "") or title_of(dimensions, degrees, identities, others)
    verdicts = [x.verdict for x in found if x.verdict]
    return Document(
        title=heading,
        pdf_title=plain_ascii(heading) if current_language() == "en" else plain_latin(heading),
        claim=printed(claim) if claim else None,
        prose=paragraphs(claim) if claim else (),
        dimensions=dimensions,
        degrees=degrees,
        identities=identities,
        others=others,
        verdict_counts=tuple(
            (status(verdict, count), count) for verdict, count in sorted(Counter(verdicts).items())
        ),
        strengths=tuple(sorted({status(words(certificate.get("strength"))) for certificate in certificates})),
        book=book,
    )


def filled(name: str, document: Document, **more: Any) -> str:
    """Return a template of the current language, filled in; its marks are still there."""
    tools = {
        "typewriter": typewriter,
        "room": _room,
        "layer_rows": layer_rows,
        "status": status,
        "verbatim": verbatim,
        "prose": prose,
        "runs": _runs,
    }
    template = environment(current_language()).get_template(name)
    return template.render(doc=document, most_in_full=MOST_IN_FULL, **tools, **more)


#: lines of templates that say what follows: theory, which a book has once; particular results, which it has
#: for each claim; or what belongs to both
_MARK = re.compile(r"^%%% (general|particular|always)\n", re.MULTILINE)


def without_marks(text: str) -> str:
    """Return an article: general and particular parts as they follow each other."""
    return _MARK.sub("", text)


def parts(text: str, wanted: str) -> str:
    """Return the parts of filled templates that are marked ``wanted`` or ``always``.

    Examples
    --------
    >>> parts("%%% general\\nlemma\\n%%% always\\nheading\\n%%% particular\\nresult\\n", "particular")
    'heading\\nresult\\n'
    """
    _, *pieces = _MARK.split(text)
    marked = zip(pieces[::2], pieces[1::2], strict=True)
    return "".join(piece for mark, piece in marked if mark in (wanted, "always"))


def _room(rows: Sequence[Any]) -> int:
    """Return how many lines must be free on a page for a table of these rows to start there."""
    return 6 + 2 * min(len(rows), 6)


def _runs(instances: Sequence[Any]) -> Tex:
    """Return the numbers of instances, neighbours as ranges."""
    spans: list[list[int]] = []
    for number in sorted(x.label for x in instances):
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return index_runs(spans)


def _read(certificate: Mapping[str, Any], label: int, claim: ClaimText | None) -> Any:
    """Return the printable form of one certificate; malformed ones raise InputError."""
    try:
        kind = certificate["kind"]
        readers = {**_READERS, **{name: found.read for name, found in kinds().items()}}
        if kind == "dimension" and any(x["type"] == NORMALIZED for x in certificate["network"]["layers"]):
            kind = "dimension-normalized"  # analytic maps: definitions and proofs of their own
        if kind not in readers or not isinstance(certificate["sha256"], str):
            raise InputError(f"certificate {label}: kind {shown(kind, 40)!r} cannot be printed")
        verdict = claim.verdicts.get(certificate["sha256"], "") if claim else ""
        return readers[kind](certificate, label, verdict)
    except InputError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, AssertionError) as error:
        what = f"{type(error).__name__}: {error}".splitlines()[0][:120]
        raise InputError(f"certificate {label} does not have the form of FORMAT.md ({what})") from None
