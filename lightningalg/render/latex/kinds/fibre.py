r"""Certificates of kind ``fibre`` in print: Theorems A and B with all lemmas, then the points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.escape import Tex, integer
from lightningalg.render.latex.kinds import Kind
from lightningalg.render.latex.language import Message

_VERDICTS = ("identifiable", "orbits", "excess", "zero", "conjugate pair", "open")


@dataclass(frozen=True, slots=True)
class FibreInstance:
    """One certificate of kind ``fibre``, every sentence ready to print."""

    label: int
    sha256: str
    verdict: str
    summary: Tex
    subject: Tex
    statement: Tex
    proof: Tex
    kind: str = "fibre"


def _int(value: Any) -> str:
    return str(integer(value))


def _sizes(point: Mapping[str, Any]) -> tuple[list[int], list[int], int]:
    if point["space"] == "weights":
        network = point["network"]
        layers = network["layers"]
        widths = [network["width"], *(layer["d_out"] for layer in layers)]
        return widths, [layer["rank"] for layer in layers], network["tokens"]
    return point["widths"], point["ranks"], point["tokens"]


def _list(values: Sequence[int]) -> str:
    return ",".join(_int(value) for value in values)


def _read(certificate: Mapping[str, Any], label: int, verdict: str) -> FibreInstance:
    point, claim, witness = certificate["point"], certificate["claim"], certificate["witness"]
    virtual = claim["virtual"]
    if claim["quantity"] != "fibre" or virtual["verdict"] not in _VERDICTS:
        raise InputError("certificate: not a claim about a fibre")
    widths, ranks, tokens = _sizes(point)
    chain = (
        f"widths ${_list(widths)}$, ranks ${_list(ranks)}$, with ${_int(tokens)}$ "
        f"token{'s' if tokens != 1 else ''}"
    )
    given = {
        "weights": "weights $(Q_i,K_i,V_i)$",
        "virtual weights": "virtual weights $(M,L)$",
        "conjugate pair": "function $w\\otimes s\\otimes q$",
    }[point["space"]]
    subject = Tex(f"Consider a chain of attention layers, {chain}, and the {given}")
    if point["space"] == "conjugate pair":
        statement, proof = _conjugate(virtual)
    else:
        statement = _statement(virtual, claim["weights"])
        proof = _proof(witness, len(ranks), virtual, claim["weights"])
    summary = Tex(f"{chain}: {_short(virtual)}")
    return FibreInstance(label, certificate["sha256"], verdict, summary, subject, statement, proof)


def _conjugate(virtual: Mapping[str, Any]) -> tuple[Tex, Tex]:
    real = "real points exist" if virtual["real"] else "no point is real"
    return (
        Tex(f"The fibre is irreducible over $\\QQ$, of dimension $1$ and degree $4$; over $\\CC$ it "
            f"consists of two conjugate curves, and {real}."),
        Tex("The form $s$ has rank $2$, and minus a principal $2\\times2$ minor of it, not $0$, is no "
            "rational square: it has no rational linear factor. Apply \\cref{fib:conjugate}."),
    )  # fmt: skip


def _short(virtual: Mapping[str, Any]) -> str:
    words = {
        "identifiable": "identifiable up to scaling",
        "orbits": f"{_number(virtual['components'])} torus orbits",
        "excess": f"dimension ${_int(virtual['dimension'] or 0)}$, skew parts are free",
        "zero": "the function $0$",
        "conjugate pair": "a conjugate pair",
        "open": "not known",
    }
    return words[virtual["verdict"]]


def _number(value: int | None) -> str:
    return "an unknown number of" if value is None else f"${_int(value)}$"


def _degree(value: Any) -> str:
    return _int(int(value))


def _statement(virtual: Mapping[str, Any], weights: Mapping[str, Any] | None) -> Tex:
    verdict, n = virtual["verdict"], virtual["components"]
    if verdict == "open":
        return Tex("Nothing is claimed about its fibre.")
    parts = []
    if verdict == "zero":
        parts.append("The function is $0$")
        if virtual["dimension"] is not None:
            parts[0] += (
                f"; its fibre has ${_int(n)}$ irreducible components, the largest of dimension "
                f"${_int(virtual['dimension'])}$"
            )
        return Tex(parts[0] + ".")
    fibre = "The fibre in virtual weights"
    if verdict == "identifiable":
        parts.append(f"{fibre} is the orbit of the torus")
    elif verdict == "orbits":
        parts.append(
            f"{fibre} consists of ${_int(n)}$ orbits of the torus, of which ${_int(virtual['real'])}$ "
            f"have real and ${_int(virtual['rational'])}$ rational points"
        )
    else:
        parts.append(
            f"{fibre} has ${_int(n)}$ irreducible component{'s' if n != 1 else ''}, of which "
            f"${_int(virtual['real'])}$ {'have' if virtual['real'] != 1 else 'has'} real and "
            f"${_int(virtual['rational'])}$ rational points; skew parts of matrices $M_i$ are free"
        )
    parts.append(f"its dimension is ${_int(virtual['dimension'])}$")
    if virtual["degree"] is not None:
        parts.append(f"its degree as a set ${_degree(virtual['degree'])}$")
    if virtual["multiplicity"] is not None:
        parts.append(f"the multiplicity of every component ${_int(virtual['multiplicity'])}$")
    text = "; ".join(parts) + "."
    if weights is not None and weights["dimension"] is not None:
        text += f" The fibre in $(Q,K,V)$ has dimension ${_int(weights['dimension'])}$"
        if weights["comparison"] in ("equal", "more components"):
            orbits = "one orbit" if weights["comparison"] == "equal" else f"${_int(n)}$ orbits"
            text += (
                f" and is {orbits} of the group generated by $\\mathrm{{GL}}_{{a_i}}$, "
                f"$\\mathrm{{GL}}_{{d_i}}$ and the torus"
            )
        text += "."
    return Tex(text)


def _proof(
    witness: Mapping[str, Any], layers: int, virtual: Mapping[str, Any], weights: Mapping[str, Any] | None
) -> Tex:
    case, ranks = witness["case"], witness["ranks"]
    if len(ranks) != layers or any(r not in (0, 1, 2) for r in ranks):
        raise InputError("certificate: ranks do not fit the layers")
    found = ", ".join("$0$" if r == 0 else "$1$" if r == 1 else r"$\ge2$" for r in ranks)
    zero_forms = [i for i, form in enumerate(witness["forms"], start=1) if form is not True]
    rank_L = {0: "$L=0$", 1: r"$\rk L=1$", 2: r"$\rk L\ge2$"}[witness["rank_L"]]
    text = f"The ranks of $M_1,\\dots,M_l$ are {found}; {rank_L}; "
    text += "all $q_i\\ne0$. " if not zero_forms else f"$q_i=0$ exactly for $i={_list(zero_forms)}$. "
    if witness["dominance"]:
        listed = ", ".join(f"${_int(entry['layer'])}$" for entry in witness["dominance"])
        text += (
            f"For layers {listed} the certificate has an integer $X$ at which the two numbers of "
            f"\\cref{{fib:dominant}} are not $0$. "
        )
    if witness["skew"] is not None:
        places = ", ".join(f"${_int(place)}$" for place in witness["skew"]["places"])
        text += (
            f"The skew layer is number ${_int(witness['skew']['layer'])}$; by \\cref{{fib:oneskew}} it "
            f"can stand at {places}: where it is stopped, the certificate has two pairs of vectors at "
            f"which $\\delta_N/B^2$ takes different values. To the other layers applies the following. "
        )
    text += _argument(case, witness, virtual)
    if weights is not None and weights["dimension"] is not None:
        text += (
            " The dimension in $(Q,K,V)$, and where so stated the orbits, follow from "
            "\\cref{fib:weights}, with the exact dimensions of the $T_i$ and ranks of the $M_i$."
        )
    return Tex(text)


def _argument(case: str, witness: Mapping[str, Any], virtual: Mapping[str, Any]) -> str:
    if case == "zero":
        more = (
            " Each condition of \\cref{fib:zero} describes an irreducible closed set, a product of "
            "varieties of matrices, skew matrices and symmetric parts of bounded rank; its components are "
            "those not contained in others."
            if virtual["dimension"] is not None
            else ""
        )
        return "Apply \\cref{fib:zero}." + more
    if case == "line":
        return "Apply \\cref{fib:line}."
    if case == "peeled":
        both = witness["ranks"][-1] == 1 and witness["rank_L"] == 1
        if not both:
            return "Apply \\cref{fib:A}(a)."
        if virtual["multiplicity"] not in (None, 1) or virtual["components"] == 1:
            return (
                "With $M_l=km^{\\top}$, $L=wv^{\\top}$ the vectors $v,k$ are parallel: apply "
                "\\cref{fib:A}(c)."
            )
        return (
            "With $M_l=km^{\\top}$, $L=wv^{\\top}$ the vectors $v,k$ are not parallel: apply "
            "\\cref{fib:A}(b)."
        )
    if case != "tail":
        return "No theorem applies."
    text = "Apply \\cref{fib:rankone} and, for the symmetric parts, \\cref{fib:digits}"
    if witness["tail"]["product"] is not None:
        count = len(witness["tail"]["product"]["factors"])
        text += (
            f" with the ${_int(count)}$ irreducible factors over $\\QQ$ of the line and the forms, which "
            f"are in the certificate"
        )
    text += ". The matrices with these symmetric parts are counted by \\cref{fib:lift}"
    if witness["tail"]["exchange"] is True:
        text += "; the exchange of \\cref{fib:rankone}(ii) doubles their number"
    return text + "."


kind = Kind(
    name="fibre",
    titles=(
        Message("A fibre of the parametrisation of lightning self-attention"),
        Message("Fibres of lightning self-attention"),
    ),
    template="fibre.tex.j2",
    read=_read,
    check=Message(
        "recomputes for fibres the virtual weights, ranks, forms, spans and the stated factorisations in "
        "rational numbers"
    ),
    abstract=lambda instances: Tex(
        "We determine all weights of a chain of lightning attention layers that give the same function as "
        "given rational weights: "
        "Theorem A reduces this to finitely many exact checks at the point. Theorem B gives the dimension "
        "of the neuromanifold for all widths, ranks and depths."
    ),
    references={"HMK": Tex("")},
)
