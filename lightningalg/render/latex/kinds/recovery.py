r"""Certificates of kind ``recovery`` in print: the values determine the weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.escape import Tex, integer, typewriter
from lightningalg.render.latex.kinds import Kind
from lightningalg.render.latex.language import Message


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
    values = f"${vectors}$ vectors $x_j$" + (
        " and the inputs $[x_j,ny]$, $y$ a unit vector," if tokens > 1 and d > 1 else ""
    )
    digest = typewriter(str(subject["values_sha256"]))
    given = (
        f"Let {sizes}. Consider a function of $l$ layers that at the inputs of the certificate "
        f"no.~${label}$ ({values} and three more) "
        f"takes the values with the SHA-256 hash {digest}. The weights $(M,L)$ of the certificate have "
        f"these values"
    )
    if relation == "determined":
        statement = Tex(
            given
            + ", and every $(M',L')$ over $\\CC$ that has them is $M'_i=\\lambda_iM_i$, $L'=\\mu L$ with "
            "$\\mu\\prod_i\\lambda_i^{3^{l-i}}=1$."
        )
        theorem = "\\cref{rec:line}" if d == 1 else "\\cref{rec:determined}"
        proof = Tex(
            "The values of $(M,L)$ at all these inputs were computed exactly; their hash is the stated one. "
            + ("" if d == 1 else "$Lx_j\\ne0$ and $q_i(x_j)\\ne0$ for all $i,j$, the $x_j$ span, and for "
                "every layer the linear equations have rank $d^2-1$: they have this rank modulo a prime, "
                "and at most this rank because $B_i$ is a solution. ")
            + f"Apply {theorem}."
        )  # fmt: skip
        summary = Tex(f"{sizes}: the values determine the weights up to scaling")
    else:
        statement = Tex(given + ".")
        proof = Tex("The values were computed exactly; their hash is the stated one.")
        summary = Tex(f"{sizes}: the stated weights have the values")
    return RecoveryInstance(label, certificate["sha256"], verdict, summary, statement, proof)


kind = Kind(
    name="recovery",
    titles=(
        Message("Weights of a lightning network from values"),
        Message("Weights of lightning networks from values"),
    ),
    template="recovery.tex.j2",
    read=_read,
    check=Message("recomputes for recoveries all values and the ranks of the linear equations"),
    abstract=lambda instances: Tex(
        "Weights of lightning attention networks are recovered from finitely many exact values of their "
        "functions; where so stated, these values determine them up to scaling."
    ),
)
