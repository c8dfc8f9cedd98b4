r"""Certificates of kind ``membership`` in print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.escape import Tex, integer, number
from lightningalg.render.latex.kinds import Kind
from lightningalg.render.latex.language import Message, translate, translate_many
from lightningalg.render.latex.one_layer import read_sizes, triple
from lightningalg.render.latex.typeset import matrix

_MOST = 60  # coefficients printed
_INSIDE, _CONJUGATE, _OUTSIDE = (
    "in the neuromanifold",
    "in the closure, not in the neuromanifold",
    "not in the closure",
)
_STATEMENTS = {
    _INSIDE: Message(r"is in the neuromanifold $M$."),
    _CONJUGATE: Message(r"is in $Y(\RR)$, but not in the neuromanifold $M$."),
    _OUTSIDE: Message(r"is not in $Y$."),
}


@dataclass(frozen=True, slots=True)
class MembershipInstance:
    """One certificate: the point, where it is, and why."""

    label: int
    sizes: Tex
    tensor: Tex
    count: int
    statement: Tex
    proof: Tex
    sha256: str
    verdict: str

    kind = "membership"

    @property
    def summary(self) -> Tex:
        """What is proved, in one clause."""
        return translate_many(
            "for $(d,d',a)=%(sizes)s$, the point with $%(count)s$ non-zero coefficient %(statement)s",
            "for $(d,d',a)=%(sizes)s$, the point with $%(count)s$ non-zero coefficients %(statement)s",
            self.count,
            sizes=self.sizes,
            count=self.count,
            statement=self.statement.rstrip("."),
        )


def read(certificate: Mapping[str, Any], label: int, verdict: str) -> MembershipInstance:
    """Return the printable form.

    Raises
    ------
    InputError
        If the claim is none of the format.
    """
    sizes = read_sizes(certificate)
    claim, witness = certificate["claim"], certificate["witness"]
    relation = claim["relation"]
    if relation not in _STATEMENTS:
        raise InputError("certificate: the claim is none on membership")
    proofs = {_INSIDE: _inside, _CONJUGATE: _conjugate, _OUTSIDE: _outside}
    return MembershipInstance(
        label,
        triple(sizes),
        _tensor(claim["tensor"]),
        len(claim["tensor"]),
        translate(_STATEMENTS[relation]),
        proofs[relation](witness, sizes),
        certificate["sha256"],
        verdict,
    )


def _tensor(listed: Sequence[Any]) -> Tex:
    """Return the coefficients, or nothing if there are too many to print."""
    if not listed:
        return Tex(" " + translate("all $0$"))
    if len(listed) > _MOST:
        return Tex("")
    parts = []
    for value, (i, alpha, beta, gamma) in listed:
        index = f"{integer(i) + 1},{integer(alpha) + 1}\\,{integer(beta) + 1},{integer(gamma) + 1}"
        parts.append(f"$T_{{{index}}}={number(value)}$")
    return Tex(" " + translate("%(coefficients)s and otherwise $0$", coefficients=", ".join(parts)))


def _entry(value: Any, root: Any) -> Tex:
    if root is None:
        return number(value)
    p, r = value
    if r == 0:
        return number(p)
    sign = "" if p == 0 else f"{number(p)}+"
    factor = "" if r == 1 else f"({number(r)})"
    return Tex(f"{sign}{factor}\\sqrt{{{number(root)}}}")


def _inside(witness: Mapping[str, Any], sizes: tuple[int, int, int]) -> Tex:
    d, dprime, a = sizes
    root = witness["sqrt"]
    heights = {"V": dprime, "K": a, "Q": a}
    if max(len(witness[name]) * d for name in heights) > 200:
        return translate(
            r"It is $\psi(V,K^{\top}Q)$ for the weights in the certificate, which was checked exactly."
        )
    if root is None:
        flat = [
            matrix(name, [x for row in witness[name] for x in row], height, d)
            for name, height in heights.items()
        ]
    else:
        flat = [
            Tex(
                rf"\mbox{{${name}=\begin{{pmatrix}}"
                + r" \\ ".join(" & ".join(_entry(x, root) for x in row) for row in witness[name])
                + r"\end{pmatrix}$}"
            )
            for name in heights
        ]
    let = translate("Let")
    then = translate(r"Then $T=\psi(V,K^{\top}Q)$, which was checked exactly.")
    listed = ", ".join(flat)
    return Tex(f"{let}\n\\begin{{listing}}{listed}.\n\\end{{listing}}\n\\noindent {then}")


def _form(values: Sequence[Any]) -> str:
    shown = [(number(value), j) for j, value in enumerate(values, start=1) if value != 0]
    return "+".join(f"({value})x_{{{j}}}" for value, j in shown) or "0"


def _conjugate(witness: Mapping[str, Any], sizes: tuple[int, int, int]) -> Tex:
    (c, first), (e, second) = witness["squares"]
    w = ",".join(number(value) for value in witness["w"])
    q = _form(witness["q"]).replace("x_", "y_")
    return translate(
        r"One has $T=w\otimes(c\,\ell^2+e\,m^2)\otimes q$ with $w=(%(w)s)$, $c=%(c)s$, $e=%(e)s$, "
        r"$\ell=%(first)s$, $m=%(second)s$ and $q=%(q)s$, which was checked exactly. As $ce>0$, and "
        r"$\ell,m$ are independent, $T=\pm w\otimes v\bar v\otimes q$ for "
        r"$v=\sqrt{|c|}\,\ell+\mathrm{i}\sqrt{|e|}\,m$, so that "
        r"$T=\psi(\pm w\otimes v,\bar v\otimes q)\in Y$. If $T=\psi(V,A)$ with real $V$ and $A$, then by "
        r"\cref{lem:preimages} the row space of $V$, over $\CC$, is spanned by $v$ or $\bar v$; as "
        r"it is real, "
        r"$v$ and $\bar v$ are proportional, which they are not.",
        w=w,
        c=number(c),
        e=number(e),
        first=_form(first),
        second=_form(second),
        q=q,
    )


def _outside(witness: Mapping[str, Any], sizes: tuple[int, int, int]) -> Tex:
    argument = witness["argument"]
    if argument in ("values", "attention"):
        part, unknowns = ("a", sizes[0] * sizes[1]) if argument == "values" else ("b", sizes[0] ** 2)
        return translate(
            r"The linear equations of \cref{lem:necessary}~(%(part)s) have rank $%(unknowns)s$, the number "
            r"of unknowns, modulo the prime $%(prime)s$, hence over $\QQ$; so they have no solution but $0$.",
            part=part,
            unknowns=unknowns,
            prime=number(witness["prime"]),
        )
    columns = ",".join(str(integer(g) + 1) for g in witness["columns"])
    if argument == "rank":
        rows = ", ".join(f"({','.join(str(integer(n) + 1) for n in row)})" for row in witness["rows"])
        return translate(
            r"By \cref{lem:necessary}~(c): the minor with rows $(i,\alpha,\beta)$ among $%(rows)s$ and "
            r"columns $\gamma$ among $%(columns)s$, of size $%(size)s$, is not $0$.",
            rows=rows,
            columns=columns,
            size=sizes[2] + 1,
        )
    if argument != "form":
        raise InputError("certificate: its argument is none on membership")
    return translate(
        r"By \cref{lem:necessary}~(d): the symmetric matrix of $T_{i,\gamma}$ with $i=%(output)s$, "
        r"$\gamma=%(gamma)s$ has a minor of size $3$, with rows $%(rows)s$ and columns $%(columns)s$, that "
        r"is not $0$.",
        output=integer(witness["output"]) + 1,
        gamma=integer(witness["gamma"]) + 1,
        rows=",".join(str(integer(n) + 1) for n in witness["rows"]),
        columns=columns,
    )


def _abstract(instances: Sequence[MembershipInstance]) -> Tex:
    return translate(
        "We decide exactly whether a given function is computed by one layer of lightning "
        "self-attention with real "
        "weights, lies in the Zariski closure of these functions, or neither."
    )


kind = Kind(
    "membership",
    (Message("One function and one attention layer"), Message("Functions and single attention layers")),
    "membership.tex.j2",
    read,
    Message("multiplies out the weights or factors, or recomputes the ranks and minors that exclude them"),
    _abstract,
    {"BrunsVetter": Tex(""), "Harris": Tex(""), "HMK": Tex("")},
)
