"""What the templates of an article read: certificates in printable form, and what they call for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lightningalg.render.latex.arguments import LEMMAS, argument_name
from lightningalg.render.latex.bounds import UpperBound
from lightningalg.render.latex.claim import ClaimText
from lightningalg.render.latex.composition import FEATURES
from lightningalg.render.latex.degrees import DegreeInstance
from lightningalg.render.latex.dimension import Instance, LowerBound
from lightningalg.render.latex.escape import Tex
from lightningalg.render.latex.identity import IdentityInstance
from lightningalg.render.latex.kinds import AbstractInstance, Kind, kinds
from lightningalg.render.latex.language import translate
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
from lightningalg.render.latex.titles import section_of
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
