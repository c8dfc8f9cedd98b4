r"""Certificates of kind ``fibre`` in print: Theorems A and B with all lemmas, then the points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.escape import Tex, integer
from lightningalg.render.latex.kinds import Kind
from lightningalg.render.latex.language import Message, translate, translate_many
from lightningalg.render.latex.typeset import conjunction

_VERDICTS = ("identifiable", "orbits", "excess", "zero", "conjugate pair", "open")


_SUBJECTS = {
    "weights": Message("Consider a chain of attention layers, %(chain)s, and the weights $(Q_i,K_i,V_i)$"),
    "virtual weights": Message(
        "Consider a chain of attention layers, %(chain)s, and the virtual weights $(M,L)$"
    ),
    "conjugate pair": Message(
        r"Consider a chain of attention layers, %(chain)s, and the function $w\otimes s\otimes q$"
    ),
}

#: of the columns of a table of several instances: dimension, degree, multiplicity; dimension in (Q, K, V)
_LETTERS = ("n", "c", "e", "n'")


@dataclass(frozen=True, slots=True)
class FibreInstance:
    """One certificate of kind ``fibre``, every sentence ready to print.

    ``common`` is the statement with letters for the values that ``numbers`` has, which stand in a table: the
    dimension, degree and multiplicity in virtual weights, and the dimension in (Q, K, V); ``""`` where none
    is stated.
    """

    label: int
    sha256: str
    verdict: str
    summary: Tex
    subject: Tex
    statement: Tex
    proof: Tex
    space: str
    sizes: tuple[str, str, str]
    common: Tex
    numbers: tuple[str, str, str, str]
    kind: str = "fibre"

    @property
    def letters(self) -> Tex | str:
        """The letters in ``common``."""
        used = [letter for letter, value in zip(_LETTERS, self.numbers, strict=True) if value]
        return conjunction([f"${letter}$" for letter in used]) if used else ""

    @property
    def same(self) -> str:
        """What is equal exactly where one statement and its proof, word by word, hold for several rows."""
        stated = ",".join(str(bool(value)) for value in self.numbers)
        return f"{self.space}|{bool(self.verdict)}|{stated}|{self.common}|{self.proof}"


def _int(value: Any) -> str:
    return value if isinstance(value, Tex) else str(integer(value))


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
    chain = translate_many(
        "widths $%(widths)s$, %(ranks)s, with $%(tokens)s$ token",
        "widths $%(widths)s$, %(ranks)s, with $%(tokens)s$ tokens",
        tokens,
        widths=_list(widths),
        ranks=translate_many("rank $%(ranks)s$", "ranks $%(ranks)s$", len(ranks), ranks=_list(ranks)),
        tokens=_int(tokens),
    )
    subject = translate(_SUBJECTS[point["space"]], chain=chain)
    numbers = ("", "", "", "")
    if point["space"] == "conjugate pair":
        statement, proof = _conjugate(virtual)
        common = statement
    else:
        statement, numbers = _statement(virtual, claim["weights"]), _numbers(virtual, claim["weights"])
        common = _statement(*_with_letters(virtual, claim["weights"]))
        proof = _proof(witness, len(ranks), virtual, claim["weights"])
    summary = Tex(f"{chain}: {_short(virtual)}")
    return FibreInstance(
        label, certificate["sha256"], verdict, summary, subject, statement, proof, point["space"],
        (_list(widths), _list(ranks), _int(tokens)), common, numbers,
    )  # fmt: skip


def _numbers(virtual: Mapping[str, Any], weights: Mapping[str, Any] | None) -> tuple[str, str, str, str]:
    """Return the values that the statement has and a table of several can show, ``""`` where it has none."""
    if virtual["verdict"] == "open" or virtual["dimension"] is None:
        return "", "", "", ""
    if virtual["verdict"] == "zero":
        return _int(virtual["dimension"]), "", "", ""
    degree = _degree(virtual["degree"]) if virtual["degree"] is not None else ""
    multiplicity = _int(virtual["multiplicity"]) if virtual["multiplicity"] is not None else ""
    known = weights is not None and weights["dimension"] is not None
    last = _int(weights["dimension"]) if known and weights else ""
    return _int(virtual["dimension"]), degree, multiplicity, last


def _with_letters(
    virtual: Mapping[str, Any], weights: Mapping[str, Any] | None
) -> tuple[Mapping[str, Any], Mapping[str, Any] | None]:
    """Return the claim with the letters of the table's columns for its values, those that there are."""

    def lettered(table: Mapping[str, Any], **letters: str) -> dict[str, Any]:
        return {**table, **{key: Tex(x) for key, x in letters.items() if table[key] is not None}}

    dimension, degree, multiplicity, last = _LETTERS
    with_letters = lettered(virtual, dimension=dimension, degree=degree, multiplicity=multiplicity)
    return with_letters, weights if weights is None else lettered(weights, dimension=last)


def _conjugate(virtual: Mapping[str, Any]) -> tuple[Tex, Tex]:
    if virtual["real"]:
        statement = translate(
            r"The fibre is irreducible over $\QQ$, of dimension $1$ and degree $4$; over $\CC$ it consists "
            r"of two conjugate curves, and real points exist."
        )
    else:
        statement = translate(
            r"The fibre is irreducible over $\QQ$, of dimension $1$ and degree $4$; over $\CC$ it consists "
            r"of two conjugate curves, and no point is real."
        )
    if virtual["real"]:
        proof = translate(
            r"The form $s$ has rank $2$, and $D$, minus a principal $2\times2$ minor of it, is positive and "
            r"no rational square: $s$ has real linear factors, but no rational ones. "
            r"Apply \cref{fib:conjugate}."
        )
    else:
        proof = translate(
            r"The form $s$ has rank $2$, and $D$, minus a principal $2\times2$ minor of it, is negative: $s$ "
            r"has no real linear factor. Apply \cref{fib:conjugate}."
        )
    return statement, proof


def _short(virtual: Mapping[str, Any]) -> Tex:
    if virtual["verdict"] == "orbits" and virtual["components"] is None:
        return translate("an unknown number of torus orbits")
    if virtual["verdict"] == "orbits":
        return translate_many(
            "one torus orbit",
            "$%(count)s$ torus orbits",
            _number(virtual["components"]),
            count=_int(virtual["components"]),
        )
    if virtual["verdict"] == "excess":
        dimension = _int(virtual["dimension"] or 0)
        return translate("dimension $%(dimension)s$, skew parts are free", dimension=dimension)
    words = {
        "identifiable": Message("identifiable up to scaling"),
        "zero": Message("the function $0$"),
        "conjugate pair": Message("a conjugate pair"),
        "open": Message("not known"),
    }
    return translate(words[virtual["verdict"]])


def _number(value: Any) -> int:
    """Return a number that decides between singular and plural."""
    return integer(value) if value is not None else 2


def _degree(value: Any) -> str:
    return value if isinstance(value, Tex) else _int(int(value))


def _statement(virtual: Mapping[str, Any], weights: Mapping[str, Any] | None) -> Tex:
    verdict = virtual["verdict"]
    if verdict == "open":
        return translate("Nothing is claimed about its fibre.")
    if verdict == "zero":
        if virtual["dimension"] is None:
            return translate("The function is $0$.")
        return translate_many(
            "The function is $0$; its fibre is irreducible of dimension $%(dimension)s$.",
            "The function is $0$; its fibre has $%(count)s$ irreducible components, the largest of dimension "
            "$%(dimension)s$.",
            _number(virtual["components"]),
            count=_int(virtual["components"]),
            dimension=_int(virtual["dimension"]),
        )
    parts = [_components(virtual)]
    parts.append(translate("its dimension is $%(dimension)s$", dimension=_int(virtual["dimension"])))
    if virtual["degree"] is not None:
        parts.append(translate("its degree as a set $%(degree)s$", degree=_degree(virtual["degree"])))
    if virtual["multiplicity"] is not None:
        multiplicity = _int(virtual["multiplicity"])
        parts.append(
            translate("the multiplicity of every component $%(multiplicity)s$", multiplicity=multiplicity)
        )
    text = "; ".join(parts) + "."
    if weights is not None and weights["dimension"] is not None:
        text += " " + _in_weights(weights, virtual["components"])
    return Tex(text)


def _components(virtual: Mapping[str, Any]) -> Tex:
    """Return what the fibre in virtual weights consists of, as a clause."""
    verdict, n = virtual["verdict"], virtual["components"]
    if verdict == "identifiable":
        return translate("The fibre in virtual weights is the orbit of the torus")
    points = {"real": _int(virtual["real"]), "rational": _int(virtual["rational"])}
    if verdict == "orbits":
        return translate_many(
            "The fibre in virtual weights consists of $%(count)s$ orbits of the torus, of which $%(real)s$ "
            "have real and $%(rational)s$ rational points",
            "The fibre in virtual weights consists of $%(count)s$ orbits of the torus, of which $%(real)s$ "
            "have real and $%(rational)s$ rational points",
            _number(virtual["real"]),
            count=_int(n),
            **points,
        )
    if _number(n) == 1 and virtual["real"] == 1 and virtual["rational"] == 1:
        return translate(
            "The fibre in virtual weights is irreducible, with real and rational points; skew parts of "
            "matrices $M_i$ are free"
        )
    fibre = translate_many(
        "The fibre in virtual weights has $%(count)s$ irreducible component",
        "The fibre in virtual weights has $%(count)s$ irreducible components",
        _number(n),
        count=_int(n),
    )
    return translate_many(
        "%(fibre)s, of which $%(real)s$ has real and $%(rational)s$ rational points; skew parts of matrices "
        "$M_i$ are free",
        "%(fibre)s, of which $%(real)s$ have real and $%(rational)s$ rational points; skew parts of matrices "
        "$M_i$ are free",
        _number(virtual["real"]),
        fibre=fibre,
        **points,
    )


def _in_weights(weights: Mapping[str, Any], count: Any) -> Tex:
    """Return the sentence on the fibre in the weights themselves."""
    dimension = _int(weights["dimension"])
    if weights["comparison"] == "equal":
        return translate(
            r"The fibre in $(Q,K,V)$ has dimension $%(dimension)s$ and is one orbit of the group generated "
            r"by $\mathrm{GL}_{a_i}$, $\mathrm{GL}_{d_i}$ and the torus.",
            dimension=dimension,
        )
    if weights["comparison"] == "more components":
        return translate(
            r"The fibre in $(Q,K,V)$ has dimension $%(dimension)s$ and is $%(count)s$ orbits of the group "
            r"generated by $\mathrm{GL}_{a_i}$, $\mathrm{GL}_{d_i}$ and the torus.",
            dimension=dimension,
            count=_int(count),
        )
    return translate("The fibre in $(Q,K,V)$ has dimension $%(dimension)s$.", dimension=dimension)


def _proof(
    witness: Mapping[str, Any], layers: int, virtual: Mapping[str, Any], weights: Mapping[str, Any] | None
) -> Tex:
    case, ranks = witness["case"], witness["ranks"]
    if len(ranks) != layers or any(r not in (0, 1, 2) for r in ranks):
        raise InputError("certificate: ranks do not fit the layers")
    sentences = [_ranks(witness)]
    if witness["dominance"]:
        sentences.append(
            translate_many(
                r"For layer %(layers)s the certificate has an integer $X$ at which the two numbers of "
                r"\cref{fib:dominant} are not $0$.",
                r"For layers %(layers)s the certificate has, for each, an integer $X$ at which the two "
                r"numbers of \cref{fib:dominant} are not $0$.",
                len(witness["dominance"]),
                layers=conjunction([f"${_int(entry['layer'])}$" for entry in witness["dominance"]]),
            )
        )
    if witness["skew"] is not None:
        sentences.append(
            translate(
                r"The skew layer is number $%(layer)s$; by \cref{fib:oneskew} its places are %(places)s; "
                r"where it is stopped, the certificate has two pairs of vectors at which $\delta_N/B^2$ "
                r"takes different values. The argument for the other layers is this.",
                layer=_int(witness["skew"]["layer"]),
                places=conjunction([f"${_int(place)}$" for place in witness["skew"]["places"]]),
            )
        )
    sentences.append(_argument(case, witness, virtual))
    if weights is not None and weights["dimension"] is not None:
        sentences.append(
            translate(
                r"The dimension in $(Q,K,V)$, and where so stated the orbits, follow from "
                r"\cref{fib:weights}, with the exact dimensions of the $T_i$ and ranks of the $M_i$."
            )
        )
    return Tex(" ".join(sentences))


def _ranks(witness: Mapping[str, Any]) -> Tex:
    """Return the sentence on the ranks and the forms that are zero."""
    found = ", ".join("$0$" if r == 0 else "$1$" if r == 1 else r"$\ge2$" for r in witness["ranks"])
    rank = {0: "$L=0$", 1: r"$\rk L=1$", 2: r"$\rk L\ge2$"}[witness["rank_L"]]
    zero_forms = [i for i, form in enumerate(witness["forms"], start=1) if form is not True]
    if not zero_forms and len(witness["ranks"]) == 1:
        one = {0: "$M_1=0$", 1: r"$\rk M_1=1$", 2: r"$\rk M_1\ge2$"}[witness["ranks"][0]]
        return translate(r"Here %(one)s, %(rank)s and $q_1\ne0$.", one=one, rank=rank)
    if not zero_forms:
        return translate(
            r"The ranks of $M_1,\dots,M_l$ are %(ranks)s; %(rank)s; all $q_i\ne0$.", ranks=found, rank=rank
        )
    return translate(
        r"The ranks of $M_1,\dots,M_l$ are %(ranks)s; %(rank)s; $q_i=0$ exactly for $i=%(zero)s$.",
        ranks=found,
        rank=rank,
        zero=_list(zero_forms),
    )


def _argument(case: str, witness: Mapping[str, Any], virtual: Mapping[str, Any]) -> Tex:
    if case == "zero" and virtual["dimension"] is None:
        return translate(r"Apply \cref{fib:zero}.")
    if case == "zero":
        return translate(
            r"Apply \cref{fib:zero}. Each condition of \cref{fib:zero} describes an irreducible closed set, "
            r"a product of varieties of matrices, skew matrices and symmetric parts of bounded rank; the "
            r"components are those of these sets that no other one contains."
        )
    if case == "line":
        return translate(r"Apply \cref{fib:line}.")
    if case == "peeled":
        both = witness["ranks"][-1] == 1 and witness["rank_L"] == 1
        if not both:
            return translate(r"Apply \cref{fib:A}(a).")
        if virtual["multiplicity"] not in (None, 1) or virtual["components"] == 1:
            return translate(
                r"With $M_l=km^{\top}$, $L=wv^{\top}$ the vectors $v,k$ are parallel: apply \cref{fib:A}(c)."
            )
        return translate(
            r"With $M_l=km^{\top}$, $L=wv^{\top}$ the vectors $v,k$ are not parallel: apply \cref{fib:A}(b)."
        )
    if case != "tail":
        return translate("No theorem applies.")
    return _tail(witness["tail"])


def _tail(tail: Mapping[str, Any]) -> Tex:
    if tail["product"] is None:
        first = translate(r"Apply \cref{fib:rankone} and, for the symmetric parts, \cref{fib:digits}.")
    else:
        count = len(tail["product"]["factors"])
        first = translate_many(
            r"Apply \cref{fib:rankone} and, for the symmetric parts, \cref{fib:digits} with the one "
            r"irreducible factor over $\QQ$ of the line and the forms, which is in the certificate.",
            r"Apply \cref{fib:rankone} and, for the symmetric parts, \cref{fib:digits} with the $%(count)s$ "
            r"irreducible factors over $\QQ$ of the line and the forms, which are in the certificate.",
            count,
            count=count,
        )
    if tail["exchange"] is True:
        second = translate(
            r"The matrices with these symmetric parts are counted by \cref{fib:lift}; the exchange of "
            r"\cref{fib:rankone}(ii) doubles their number."
        )
    else:
        second = translate(r"The matrices with these symmetric parts are counted by \cref{fib:lift}.")
    return Tex(f"{first} {second}")


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
    abstract=lambda instances: translate(
        "We determine all weights of a chain of lightning attention layers that give the same function as "
        "given rational weights: "
        "Theorem A reduces this to finitely many exact checks at the point. Theorem B gives the dimension "
        "of the neuromanifold for all widths, ranks and depths."
    ),
    references={"HMK": Tex("")},
)
