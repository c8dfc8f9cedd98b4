r"""Certificates of kind ``normalized-fibre``: fibres of one layer of normalised attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.escape import Tex, integer, number
from lightningalg.render.latex.kinds import Kind
from lightningalg.render.latex.language import Message, translate
from lightningalg.render.latex.typeset import MATRIX_COLUMNS, matrix, sequence

_MOST_PAIRS = 40
_EVERYTHING = "all attention matrices"


@dataclass(frozen=True, slots=True)
class FibreInstance:
    """One certificate: sizes, and the nodes (all weights) or the point with its pairs.

    ``point`` has the printed matrices Q, K, V; ``pairs`` is empty where they would fill pages.
    """

    label: int
    sha256: str
    verdict: str
    t: int
    d: int
    d_out: int
    a: int
    scope: str
    inputs: int
    dimension: int
    nodes: Tex
    basis: Tex
    determinant: Tex
    is_point: bool
    rank: int
    orbit: bool
    point: tuple[Tex, ...]
    pairs: tuple[Tex, ...]
    pair_count: int

    kind = "normalized-fibre"

    @property
    def sizes(self) -> Tex:
        """The layer's sizes, for math mode."""
        return Tex(rf"d={number(self.d)},\ d'={number(self.d_out)},\ a={number(self.a)},\ t={number(self.t)}")

    @property
    def data(self) -> tuple[int, str, str, str]:
        """What certificates of all weights share that use the same inputs."""
        return self.d, str(self.nodes), str(self.basis), str(self.determinant)

    @property
    def full_rank_possible(self) -> bool:
        """A can have rank a."""
        return self.a <= self.d

    @property
    def summary(self) -> Tex:
        """What is proved, in one clause."""
        if self.scope == "all":
            return translate(
                "all fibres of one normalised layer with $%(sizes)s$; dimension $%(dimension)s$",
                sizes=self.sizes,
                dimension=self.dimension,
            )
        found = translate("a point in $(A,V)$") if self.is_point else translate("all $A$, as $V=0$")
        if self.is_point and self.orbit:
            found = translate(
                r"a point in $(A,V)$, and in $(Q,K,V)$ an orbit of $\mathrm{GL}_{%(rank)s}(\RR)$: "
                r"not a point",
                rank=number(self.a),
            )
        return translate(
            "the fibre of one normalised layer with $%(sizes)s$ through one point is %(found)s",
            sizes=self.sizes,
            found=found,
        )


def _read(certificate: Mapping[str, Any], label: int, verdict: str) -> FibreInstance:
    network, claim, witness = (certificate[key] for key in ("network", "claim", "witness"))
    (layer,) = network["layers"]
    if layer["type"] != "normalized_attention" or claim["quantity"] != "fibre":
        raise InputError("certificate: not the fibre of one normalised layer")
    t, d, d_out, a = (
        integer(value) for value in (network["tokens"], layer["d_in"], layer["d_out"], layer["rank"])
    )
    common = (label, certificate["sha256"], verdict, t, d, d_out, a, claim["scope"])
    if claim["scope"] == "all":
        flat = [value for row in witness["tokens"] for value in row]
        return FibreInstance(
            *common, integer(claim["inputs"]), integer(claim["dimension"]), sequence(witness["nodes"]),
            matrix("(y_1,\\dots,y_d)^{\\top}", flat, d, d) if d <= MATRIX_COLUMNS else Tex(""),
            number(witness["determinant"]), True, 0, False, (), (), 0,
        )  # fmt: skip
    if claim["scope"] != "point":
        raise InputError("certificate: neither all weights nor a point")
    values = witness["parameters"]
    if len(values) != 2 * a * d + d_out * d:
        raise InputError("certificate: the parameters do not fit the sizes")
    cut = a * d
    point = tuple(
        matrix(name, part, rows, d)
        for name, part, rows in (("Q", values[:cut], a), ("K", values[cut : 2 * cut], a),
                                 ("V", values[2 * cut :], d_out))
        if d <= MATRIX_COLUMNS
    )  # fmt: skip
    pairs = witness["pairs"] or []
    shown = pairs if len(pairs) <= _MOST_PAIRS else []
    return FibreInstance(
        *common, 0, 0, Tex(""), Tex(""), number(witness["determinant"]) if pairs else Tex("0"),
        claim["fibre"] != _EVERYTHING, integer(claim["rank"]), bool(claim["orbit"]), point,
        tuple(Tex(rf"(({sequence(x)}),({sequence(y)}))") for x, y in shown), len(pairs),
    )  # fmt: skip


def _abstract(instances: Sequence[FibreInstance]) -> Tex:
    return translate(
        r"We determine the weights of one layer of normalised (softmax) self-attention that compute the same "
        r"function: for $V\neq 0$ attention matrix and value matrix are unique."
    )


kind = Kind(
    name="normalized-fibre",
    titles=(
        Message("Identifiability of a layer of normalised self-attention"),
        Message("Identifiability of layers of normalised self-attention"),
    ),
    template="normalized_fibre.tex.j2",
    read=_read,
    check=Message("recomputes the vectors, ranks and determinants that identify the weights"),
    abstract=_abstract,
    references={"HMK": Tex("")},
)
