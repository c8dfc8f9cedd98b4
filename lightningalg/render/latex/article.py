r"""One self-contained article from certificates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightningalg.errors import InputError, shown
from lightningalg.render.latex.arguments import LEMMAS, argument_name
from lightningalg.render.latex.bounds import UpperBound
from lightningalg.render.latex.claim import ClaimText, paragraphs, printed, status, with_signs
from lightningalg.render.latex.composition import FEATURES
from lightningalg.render.latex.degrees import DegreeInstance, read_degrees
from lightningalg.render.latex.dimension import Instance, LowerBound, read_dimension
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
from lightningalg.render.latex.kinds import AbstractInstance, Kind, kinds
from lightningalg.render.latex.language import current_language, speaking, translate
from lightningalg.render.latex.layer_rows import layer_rows
from lightningalg.render.latex.networks import (
    ACTIVATION,
    ATTENTION,
    BIAS,
    CONVOLUTION,
    LINEAR,
    NORMALIZED,
    SUM,
    Network,
)
from lightningalg.render.latex.prose import prose
from lightningalg.render.latex.titles import section_of, title_of
from lightningalg.render.latex.typeset import index_runs
from lightningalg.render.latex.upper import METHODS

MOST_IN_FULL = 4  # more instances of a kind than this become a table


@dataclass(frozen=True, slots=True)
class Document:
    """Everything the templates read."""

    title: str
    pdf_title: Tex
    claim: ClaimText | None
    prose: tuple[str, ...]
    dimensions: tuple[Instance, ...]
    degrees: tuple[DegreeInstance, ...]
    identities: tuple[IdentityInstance, ...]
    others: tuple[AbstractInstance, ...]
    verdict_counts: tuple[tuple[str, int], ...]
    strengths: tuple[str, ...]
    book: bool = False  # it is, or is a part of, a book about a run

    @property
    def sections(self) -> list[tuple[Kind, list[AbstractInstance]]]:
        """The kinds that have a section of their own, each with its instances."""
        found = [(kind, [x for x in self.others if section_of(x) == name]) for name, kind in kinds().items()]
        return [(kind, instances) for kind, instances in found if instances]

    @property
    def everything(self) -> list[Any]:
        """All instances, in document order."""
        return [*self.dimensions, *self.degrees, *self.identities, *self.others]

    @property
    def single(self) -> bool:
        """There is one certificate and no worksheet claim."""
        return len(self.everything) == 1 and self.claim is None

    @property
    def networks(self) -> list[Network]:
        """All networks that occur."""
        others = (getattr(x, "network", None) for x in self.others)
        own = [x for x in others if isinstance(x, Network)]
        return [*(x.network for x in self.dimensions), *(x.network for x in self.degrees), *own]

    @property
    def types(self) -> dict[str, bool]:
        """Which types of layers occur."""
        found: set[str] = set().union(*(network.types for network in self.networks))
        return {
            "attention": ATTENTION in found,
            "normalized": NORMALIZED in found,
            "linear": LINEAR in found,
            "activation": ACTIVATION in found,
            "sum": SUM in found,
            "bias": BIAS in found,
            "convolution": CONVOLUTION in found,
            "tied": any(network.sharing for network in self.networks),
        }

    @property
    def methods(self) -> list[str]:
        """The upper-bound methods in use, in the order of their sections."""
        used = {upper.method for upper in self.uppers}
        return [method for method in METHODS if method in used]

    @property
    def uppers(self) -> list[UpperBound]:
        """All upper bounds, and those that they use inside; a section of its own prints its bounds itself."""
        own = [x for x in self.others if getattr(x, "section", None) is None]
        bounds = (getattr(x, "upper", None) for x in [*self.dimensions, *own])
        found = [bound for bound in bounds if isinstance(bound, UpperBound)]
        return found + [part for upper in found for part in upper.parts]

    def facts(self, method: str, key: str) -> bool:
        """Tell whether some instance of a method has a certain feature."""
        return any(upper.facts.get(key, False) for upper in self.uppers if upper.method == method)

    @property
    def features(self) -> dict[str, bool]:
        """What the argument by stages and cuts must speak of."""
        return {key: self.facts("composition", key) for key in FEATURES}

    @property
    def arguments(self) -> list[tuple[str, Tex]]:
        """The names of the arguments that bound segments of stages, with the labels of their lemmas."""
        return [
            (str(argument_name(name)), Tex(label))
            for name, label in LEMMAS.items()
            if self.facts("composition", name)
        ]

    @property
    def methods_of_rows(self) -> list[str]:
        """The methods of the instances themselves."""
        return [method for method in METHODS if self.of(method)]

    def of(self, method: str) -> list[Instance]:
        """Return the instances whose upper bound uses a method."""
        return [x for x in self.dimensions if x.upper and x.upper.method == method]

    @property
    def has_lower(self) -> bool:
        """Some certificate has a lower bound."""
        return any(x.lower for x in self.dimensions)

    @property
    def has_minor(self) -> bool:
        """Some lower bound is a minor modulo a prime: statements on symmetries always use one."""
        symmetries = any(x.kind == "symmetry-algebra" for x in self.others)
        return symmetries or any(x.lower and not x.lower.bits for x in self.dimensions)

    @property
    def has_ball(self) -> bool:
        """Some lower bound is by ball arithmetic."""
        return any(x.lower and x.lower.bits for x in self.dimensions)

    @property
    def has_seed(self) -> bool:
        """Some minor modulo a prime draws its values by the seed rule."""
        bounds = (getattr(x, "lower", None) for x in [*self.dimensions, *self.others])
        return any(isinstance(x, LowerBound) and not x.bits and x.seed is not None for x in bounds)

    @property
    def symmetric(self) -> bool:
        """Symmetric matrices of bounded rank are used."""
        if any(self.facts("composition", key) for key in ("quadratic", "heads one", "mixing one")):
            return True
        return any(self.facts(method, "symmetric") for method in ("flag", "layerwise"))

    @property
    def bounded_rank(self) -> bool:
        """Varieties of matrices of bounded rank are used."""
        rank = ("quadratic", "coefficients", "head stages")
        return (
            "flag" in self.methods
            or self.facts("layerwise", "attention")
            or any(self.facts("composition", key) for key in rank)
        )

    @property
    def orbits(self) -> bool:
        """The lemma on group orbits is used."""
        groups = any(self.facts("composition", key) for key in ("torus", "group", "heads"))
        needed = "flag" in self.methods or self.facts("layerwise", "attention")
        return needed or groups or "torus" in self.methods

    @property
    def deep(self) -> bool:
        """The flag argument is needed for more than one layer."""
        return "flag" in self.methods and self.facts("flag", "deep")

    @property
    def listed_degrees(self) -> list[DegreeInstance]:
        """The instances on degrees that share a table: all small ones, if there are many."""
        many = len(self.degrees) > MOST_IN_FULL
        return [x for x in self.degrees if many and not x.bulky]

    @property
    def printed_degrees(self) -> list[DegreeInstance]:
        """The instances on degrees that are printed one by one."""
        listed = self.listed_degrees
        return [x for x in self.degrees if x not in listed]

    @property
    def has_bulky(self) -> bool:
        """Some network does not fit into a row of the table."""
        return any(x.bulky for x in self.dimensions)

    @property
    def has_bulky_upper(self) -> bool:
        """The numbers of some upper bound, too many for a row, are in the section on bounds."""
        return any(x.bulky and x.upper for x in self.dimensions)

    @property
    def all_equal(self) -> bool:
        """All dimensions are determined."""
        return all(x.bounds_meet for x in self.dimensions)

    @property
    def some_not_columnwise(self) -> bool:
        """Some bound counts coefficients of attention with several tokens."""
        return any(not u.facts["columnwise"] for u in self.uppers if u.method == "coefficients")

    @property
    def letters(self) -> dict[str, str]:
        """Abbreviations of the methods for the table of instances."""
        return {
            "flag": "F",
            "composition": "S",
            "layerwise": "B",
            "coefficients": "C",
            "torus": "T",
            "parameters": "P",
            "symmetry": "V",
        }

    @property
    def cites(self) -> set[str]:
        """The keys of the references that the text cites."""
        needed = {
            "HMK": self.types["attention"] or self.types["normalized"],
            "Harris": bool(self.dimensions or any(x.kind == "symmetry-algebra" for x in self.others)),
            "BrunsVetter": self.bounded_rank,
            "AlexanderHirschowitz": self.facts("composition", "alexander-hirschowitz"),
            "SHS": self.has_seed or self.has_ball,
        }
        sections = (key for kind, _ in self.sections for key in kind.references)
        return {key for key, used in needed.items() if used} | set(sections)

    @property
    def own_references(self) -> list[tuple[str, Tex]]:
        """The works that only certain kinds cite, by key."""
        found = {key: text for kind, _ in self.sections for key, text in kind.references.items() if text}
        return [(key, translate(found[key])) for key in sorted(found)]

    @property
    def abbreviates(self) -> bool:
        """Some printed list abbreviates runs of equal values."""
        return any(network.abbreviates for network in self.networks)

    @property
    def one_seed(self) -> str:
        """The seed of all lower bounds, or nothing if there are several."""
        seeds = {x.lower.seed for x in self.dimensions if x.lower}
        return (seeds.pop() or "") if len(seeds) == 1 else ""

    @property
    def columns(self) -> dict[str, str]:
        """Widths of the columns of the table of instances, in parts of the text width; none: left out."""
        seeds = {x.lower.seed for x in self.dimensions if x.lower}
        optional = {
            "prime": 0.0 if self.one_prime or not self.has_minor else 0.115,
            "seed": 0.11 if len(seeds) > 1 else 0.0,
            "verdict": 0.095 if len(self.verdict_counts) > 1 else 0.0,
        }
        numbers = {
            "n": [x.network.parameters for x in self.dimensions],
            "dim": [bound.value for x in self.dimensions for bound in (x.lower, x.upper) if bound],
            "r": [x.lower.value for x in self.dimensions if x.lower],
        }
        digits = {key: min(12, max(len(str(v)) for v in values or [0])) for key, values in numbers.items()}
        fixed = {key: max(0.057, 0.02 + 0.0115 * count) for key, count in digits.items()}
        if not self.has_lower:
            fixed["r"] = 0.0
        rest = 0.72 - sum(optional.values()) - sum(fixed.values())
        widths = {**optional, **fixed, "network": 0.47 * rest, "upper": 0.53 * rest}
        return {key: f"{width:.3f}" if width else "" for key, width in widths.items()}

    @property
    def one_prime(self) -> int:
        """The prime of all lower bounds, or 0 if there are several."""
        primes = {x.lower.prime for x in self.dimensions if x.lower and not x.lower.bits}
        return primes.pop() if len(primes) == 1 else 0

    def with_verdict(self, verdict: str) -> list[Any]:
        """Return the instances with this verdict."""
        return [x for x in self.everything if x.verdict == verdict]


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
