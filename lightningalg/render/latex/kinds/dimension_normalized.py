r"""Certificates of kind ``dimension`` about networks with normalised attention.

Their maps are analytic and no polynomials: dimension, upper bounds and lower bounds are defined and proved in
a section of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lightningalg.errors import UnsupportedError, shown
from lightningalg.render.latex.bounds import UpperBound, bounded_rank, bracketed, expect
from lightningalg.render.latex.dimension import LowerBound, read_lower_bound
from lightningalg.render.latex.escape import Tex, integer, number, words
from lightningalg.render.latex.kinds import Kind
from lightningalg.render.latex.language import Message, translate
from lightningalg.render.latex.networks import ATTENTION, NORMALIZED, Network, read_network
from lightningalg.render.latex.typeset import index_runs, sequence, summation

#: labels of the propositions, in the order of the section
PROPOSITIONS = {
    "normalized-flag": "prop:nflag",
    "normalized-stages": "prop:nstages",
    "layerwise": "prop:nlayerwise",
    "linear": "prop:nlinear",
    "coefficients": "prop:ncoefficients",
    "parameters": "prop:nparameters",
}


@dataclass(frozen=True, slots=True)
class Independence:
    """Which samples show that the exponents are independent, as printed."""

    count: int
    points: int
    rows: Tex
    determinant: int


@dataclass(frozen=True, slots=True)
class NormalizedInstance:
    """One certificate of the dimension of a network with normalised attention."""

    label: int
    network: Network
    relation: str
    lower: LowerBound | None
    independence: Independence | None
    upper: UpperBound | None
    sha256: str
    verdict: str
    kind: str = field(default="dimension", init=False)
    section: str = field(default="dimension-normalized", init=False)

    @property
    def value(self) -> int:
        """The certified dimension, or the one certified bound."""
        bound = self.lower or self.upper
        assert bound is not None
        return bound.value

    @property
    def relation_tex(self) -> Tex:
        r"""The certified relation, for math mode: ``\delta`` and what is known of it."""
        low = number(self.lower.value) if self.lower else ""
        high = number(self.upper.value) if self.upper else ""
        if self.relation == "equals":
            return Tex(rf"\delta={low}")
        if self.relation == "between":
            return Tex(rf"{low}\le\delta\le {high}")
        return Tex(rf"\delta\ge {low}" if self.lower else rf"\delta\le {high}")

    @property
    def summary(self) -> Tex:
        """What is proved, in one clause."""
        return translate(
            "dimension of the network %(network)s: $%(relation)s$",
            network=self.network.compact,
            relation=self.relation_tex,
        )

    @property
    def bulky(self) -> bool:
        """Whether it does not fit into a row of a table: here cells may break."""
        return False

    @property
    def proposition(self) -> Tex:
        """The label of the proposition of the upper bound."""
        assert self.upper is not None
        return Tex(PROPOSITIONS[self.upper.method])

    @property
    def lower_label(self) -> Tex:
        """The label of the proposition of the lower bound."""
        if self.lower is not None and self.lower.bits:
            return Tex("prop:nball")
        return Tex("prop:nlower" if self.softmax else "prop:nplain")

    @property
    def softmax(self) -> bool:
        """There are two tokens or more: on one token the maps are linear in X where they are normalised."""
        return self.network.tokens > 1


def _read(certificate: Mapping[str, Any], label: int, verdict: str) -> NormalizedInstance:
    network = read_network(certificate["network"])
    claim, witness = certificate["claim"], certificate["witness"]
    below, above = witness["lower_bound"], witness["upper_bound"]
    lower = independence = None
    if below:
        if "minor" in below or "sampling" not in below:
            raise UnsupportedError("lower bound: of this form it cannot be printed")
        lower = read_lower_bound(network, below)
        if network.tokens > 1 and not lower.bits:
            about = below["exponents"]
            numbers = [integer(about[key]) for key in ("count", "points", "determinant")]
            independence = Independence(numbers[0], numbers[1], index_runs(about["rows"]), numbers[2])
    upper = _upper(network, above) if above else None
    found = (lower.value if lower else None, upper.value if upper else None)
    relation = words(claim["relation"])
    if relation == "between":
        wanted: tuple[int | None, int | None] = (integer(claim["lower"]), integer(claim["upper"]))
    else:
        value = integer(claim["value"])
        wanted = {"equals": (value, value), "at least": (value, None), "at most": (None, value)}[relation]
    expect(found == wanted and claim["quantity"] == "dimension", "the claim does not follow from the witness")
    return NormalizedInstance(
        label, network, relation, lower, independence, upper, certificate["sha256"], verdict
    )


def _upper(network: Network, upper: Mapping[str, Any]) -> UpperBound:
    method = words(upper["method"])
    if method not in _METHODS:
        raise UnsupportedError(
            f"upper bound: method {shown(method, 40)!r} cannot be printed for normalised attention"
        )
    value = integer(upper["value"])
    found = _METHODS[method](network, upper["steps"])
    expect(found.value == value, "the sums do not add up")
    return found


def _flag(network: Network, steps: Mapping[str, Any]) -> UpperBound:
    expect(network.is_normalized_chain and network.tokens > 1, "method normalized-flag needs a chain")
    d, a, depth = network.widths, network.ranks, network.depth
    e = [min(d[: i + 1]) for i in range(depth)]
    g = [*e, d[depth]]
    for i in range(depth - 1, 0, -1):
        g[i] = min(e[i], 2 * min(a[i], e[i]) + g[i + 1])
    q = [bounded_rank(g[i], a[i]) for i in range(depth)]
    flags = [g[i] * (g[i - 1] - g[i]) for i in range(1, depth)]
    for key, wanted in (("e", e), ("g", g[:depth]), ("matrices", q)):
        expect([integer(x) for x in steps[key]] == wanted, f"{key} is not that of the network")
    values = d[depth] * g[depth - 1]
    expect((integer(steps["flags"]), integer(steps["values"])) == (sum(flags), values), "sums differ")
    middle = f"+{bracketed(summation(flags))}" if flags else ""
    total = Tex(rf"{bracketed(summation(q))}{middle}+{number(d[depth])}\cdot {number(g[depth - 1])}")
    facts = {"e": sequence(e), "g": sequence(g[:depth]), "q": sequence(q), "flags": sequence(flags)}
    return UpperBound("normalized-flag", sum(q) + sum(flags) + values, total, (), facts)


def _stages(network: Network, steps: Mapping[str, Any]) -> UpperBound:
    parts = [integer(x) for x in steps["stages"]]
    groups = [(integer(group["position"]), integer(group["dimension"])) for group in steps["groups"]]
    off = sum(k for _, k in groups)
    total = summation(parts) + (f"-{bracketed(summation([k for _, k in groups]))}" if groups else "")
    positions = [Tex(f"${number(position)}$ (${number(k)}$)") for position, k in groups]
    facts = {
        "widths": sequence([integer(x) for x in steps["widths"]]),
        "stages": sequence(parts),
        "groups": Tex(", ".join(positions)),
    }
    return UpperBound("normalized-stages", sum(parts) - off, Tex(total), (), facts)


def _layerwise(network: Network, steps: Mapping[str, Any]) -> UpperBound:
    by_id = {layer.id: layer for layer in network.layers}
    parts = []
    for block in steps["blocks"]:
        first, *rest = [by_id[words(name)] for name in block["layers"]]
        claimed = integer(block["dimension"])
        if first.type in (ATTENTION, NORMALIZED):
            out = rest[0].d_out if rest else first.d_out
            m = min(first.d_in, first.d_out, out)
            values = m * (first.d_in + out - m)
            one = network.tokens == 1
            if first.type == NORMALIZED:
                expect(
                    claimed == (0 if one else bounded_rank(first.d_in, first.rank)) + values, "wrong block"
                )
        else:
            expect(claimed == sum(x.rows * x.columns for x in first.matrices), "wrong block")
        parts.append(claimed)
    return UpperBound("layerwise", sum(parts), summation(parts), (), {})


def _linear(network: Network, steps: Mapping[str, Any]) -> UpperBound:
    d, d_out, m = network.width, network.d_out, integer(steps["rank"])
    name = words(steps["through"])
    widths = {"input": network.width, **{layer.id: layer.d_out for layer in network.layers}}
    expect(network.tokens == 1 and widths.get(name) == m, "the rank is not that of the network")
    k = min(m, d, d_out)
    total = Tex(rf"{number(k)}({number(d)}+{number(d_out)}-{number(k)})")
    numbers = {layer.id: layer.number for layer in network.layers}
    return UpperBound("linear", k * (d + d_out - k), total, (), {"through": numbers.get(name, 0), "rank": m})


def _coefficients(network: Network, steps: Mapping[str, Any]) -> UpperBound:
    expect(network.tokens == 1, "coefficients need one token")
    terms = [integer(term["coefficients"]) for term in steps["terms"]]
    degrees = sequence([integer(term["degree"]) for term in steps["terms"]])
    return UpperBound("coefficients", sum(terms), summation(terms), (), {"degrees": degrees})


def _parameters(network: Network, steps: Mapping[str, Any]) -> UpperBound:
    n = network.parameters
    expect(integer(steps["parameters"]) == n, "the number of parameters is wrong")
    return UpperBound("parameters", n, Tex("n"), (), {})


_METHODS: dict[str, Callable[[Network, Mapping[str, Any]], UpperBound]] = {
    "normalized-flag": _flag,
    "normalized-stages": _stages,
    "layerwise": _layerwise,
    "linear": _linear,
    "coefficients": _coefficients,
    "parameters": _parameters,
}


def _abstract(instances: Sequence[NormalizedInstance]) -> Tex:
    labels = {x.lower_label for x in instances if x.lower}
    ways = {
        "prop:nlower": translate(
            "In minors modulo a prime exponentials are independent variables, by Ax's theorem."
        )
        + " ",
        "prop:nball": translate(
            "Lower bounds by ball arithmetic separate a minor at one point from singular matrices."
        ),
    }
    independent = "".join(text for label, text in ways.items() if label in labels)
    if len(instances) == 1:
        x = instances[0]
        first = translate(
            r"We prove for a network of normalised self-attention with $%(parameters)s$ parameters that its "
            r"neuromanifold has dimension $\delta$ with $%(relation)s$.",
            parameters=x.network.parameters,
            relation=x.relation_tex,
        )
    else:
        first = translate(
            "We prove dimensions of the neuromanifolds of $%(count)s$ networks of normalised self-attention.",
            count=len(instances),
        )
    return Tex(f"{first} {independent}")


kind = Kind(
    name="dimension-normalized",
    titles=(
        Message("Dimension of a normalised self-attention network"),
        Message("Dimension of normalised self-attention networks"),
    ),
    template="normalized.tex.j2",
    read=_read,
    check=Message(
        "recomputes the upper bounds of networks with normalised attention and, modulo $p$, the minors and "
        "the matrices that show the exponents independent, or, in balls, the minors"
    ),
    abstract=_abstract,
    references={
        "HMK": Tex(""),
        "BrunsVetter": Tex(""),
        "SHS": Tex(""),
        "Ax": Tex(r"J.~Ax, \emph{On Schanuel's conjectures}, Ann.\ of Math.\ (2) 93 (1971), 252--268."),
    },
)
