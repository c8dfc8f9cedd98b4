r"""Certificates of kind ``recovery`` in print: the values determine the weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.escape import Tex, integer, typewriter
from lightningalg.render.latex.kinds import Kind
from lightningalg.render.latex.language import Message, translate, translate_many

_REPRODUCED = Message(
    "Let %(sizes)s. Consider a function of $l$ layers that at the inputs of the certificate "
    "no.~$%(label)s$ (%(inputs)s and three more) takes the values with the SHA-256 hash %(hash)s. "
    "The weights $(M,L)$ of the certificate have these values."
)
_DETERMINED = Message(
    r"Let %(sizes)s. Consider a function of $l$ layers that at the inputs of the certificate "
    r"no.~$%(label)s$ (%(inputs)s and three more) takes the values with the SHA-256 hash %(hash)s. "
    r"The weights $(M,L)$ of the certificate have these values, and every $(M',L')$ over $\CC$ that has them "
    r"is $M'_i=\lambda_iM_i$, $L'=\mu L$ with $\mu\prod_i\lambda_i^{3^{l-i}}=1$."
)


@dataclass(frozen=True, slots=True)
class RecoveryInstance:
    """One certificate of kind ``recovery``, every sentence ready to print."""

    label: int
    sha256: str
    verdict: str
    summary: Tex
    statement: Tex
    proof: Tex
    kind: str = "recovery"


def _read(certificate: Mapping[str, Any], label: int, verdict: str) -> RecoveryInstance:
    subject, claim = certificate["recovery"], certificate["claim"]
    relation = claim["relation"]
    if claim["quantity"] != "recovery" or relation not in ("determined", "reproduced"):
        raise InputError("certificate: not a claim about a recovery")
    d, height, tokens, layers = (integer(subject[key]) for key in ("width", "height", "tokens", "layers"))
    vectors = len([integer(j) for j in subject["vectors"]])
    sizes = f"$d={d}$, $d'={height}$, $t={tokens}$, $l={layers}$"
    values = translate_many("$%(count)s$ vector $x_j$", "$%(count)s$ vectors $x_j$", vectors, count=vectors)
    if tokens > 1 and d > 1:
        values = translate("%(vectors)s and the inputs $[x_j,ny]$, $y$ a unit vector,", vectors=values)
    places = {"sizes": sizes, "label": label, "inputs": values}
    places["hash"] = typewriter(str(subject["values_sha256"]))
    if relation == "determined":
        statement, proof = translate(_DETERMINED, **places), _proof(d)
        summary = translate("%(sizes)s: the values determine the weights up to scaling", sizes=sizes)
    else:
        statement = translate(_REPRODUCED, **places)
        proof = translate("The values were computed exactly; their hash is the stated one.")
        summary = translate("%(sizes)s: the stated weights have the values", sizes=sizes)
    return RecoveryInstance(label, certificate["sha256"], verdict, summary, statement, proof)


def _proof(d: int) -> Tex:
    """Return the proof that the values determine the weights, for width d."""
    if d == 1:
        return translate(
            r"The values of $(M,L)$ at all these inputs were computed exactly; their hash is the stated one. "
            r"Apply \cref{rec:line}."
        )
    return translate(
        r"The values of $(M,L)$ at all these inputs were computed exactly; their hash is the stated one. "
        r"$Lx_j\ne0$ and $q_i(x_j)\ne0$ for all $i,j$, the $x_j$ span, and for every layer the linear "
        r"equations have rank $d^2-1$: they have this rank modulo a prime, and at most this rank because "
        r"$B_i$ is a solution. Apply \cref{rec:determined}."
    )


kind = Kind(
    name="recovery",
    titles=(
        Message("Weights of a lightning network from values"),
        Message("Weights of lightning networks from values"),
    ),
    template="recovery.tex.j2",
    read=_read,
    check=Message("recomputes for recoveries all values and the ranks of the linear equations"),
    abstract=lambda instances: translate(
        "Weights of lightning attention networks are recovered from finitely many exact values of their "
        "functions; where so stated, these values determine them up to scaling."
    ),
)
