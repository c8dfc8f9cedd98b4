r"""Certificates of kind ``few-inputs`` in print."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.escape import Tex, integer, number
from lightningalg.render.latex.kinds import Kind
from lightningalg.render.latex.language import Message, translate, translate_many
from lightningalg.render.latex.networks import Network, read_network

#: runs of an instance's ranks that are printed; the others are in the certificate
_MOST_PIECES = 40


@dataclass(frozen=True, slots=True)
class FewInputsInstance:
    """One certificate: a chain, and its ranks with 1, ..., K inputs in runs."""

    label: int
    network: Network
    count: int
    most: int
    reached: bool
    pieces: tuple[Tex, ...]  # for math mode
    cut: bool  # there are more
    short: bool  # K - 1 inputs are proved too few
    sha256: str
    verdict: str
    kind: str = field(default="few-inputs", init=False)

    @property
    def summary(self) -> Tex:
        """What is proved, in one clause."""
        if not self.reached:
            return translate(
                "%(network)s: ranks with $1,\\dots,%(count)s$ inputs",
                network=self.network.compact,
                count=self.count,
            )
        return translate(
            "%(network)s: ranks with $1,\\dots,%(count)s$ inputs, the last of which is the dimension "
            "$%(most)s$",
            network=self.network.compact,
            count=self.count,
            most=self.most,
        )


def _read(certificate: Mapping[str, Any], label: int, verdict: str) -> FewInputsInstance:
    network = read_network(certificate["network"])
    claim, witness = certificate["claim"], certificate["witness"]
    lower, upper = [[integer(v) for v in claim[key]] for key in ("lower", "upper")]
    most = integer(witness["flag"])
    ways = [(integer(way["fixed"]), integer(way["each"])) for way in witness["factorisations"]]
    known = [min([most, *(c + e * k for c, e in ways)]) for k in range(1, len(upper) + 1)]
    fits = network.is_attention_chain and 0 < len(lower) == len(upper) <= 1000 and upper == known
    reached = bool(lower) and lower[-1] == most
    if not fits or any(map(int.__gt__, lower, upper)) or claim["dimension"] != (most if reached else None):
        raise InputError("certificate: claim, network and witness do not belong together")
    pieces = list(_pieces(lower, upper, ways, most))
    return FewInputsInstance(
        label, network, len(lower), most, reached, tuple(pieces[:_MOST_PIECES]), len(pieces) > _MOST_PIECES,
        reached and (len(upper) == 1 or upper[-2] < most), certificate["sha256"], verdict,
    )  # fmt: skip


def _pieces(
    lower: Sequence[int], upper: Sequence[int], ways: Sequence[tuple[int, int]], most: int
) -> Iterator[Tex]:
    """Runs of k whose rank is given by one way to count; a pair of bounds where they differ."""

    def way_of(k: int) -> tuple[int, ...]:
        if lower[k - 1] < upper[k - 1]:
            return (-1, k)
        fits = [(c, e) for c, e in ways if c + e * k == upper[k - 1]]
        return min(fits) if fits and upper[k - 1] < most else (most, 0)

    for way, run in groupby(range(1, len(lower) + 1), way_of):
        members = list(run)
        first, last = members[0], members[-1]
        if way[0] < 0:
            yield Tex(rf"{lower[first - 1]}\le R({first})\le{upper[first - 1]}")
        elif first == last:
            yield Tex(rf"R({first})={number(upper[first - 1])}")
        else:
            fixed, each = way
            times = "" if each == 0 else "k" if each == 1 else f"{each}k"
            plus = f"{fixed}+" if fixed and times else f"{fixed}" if not times else ""
            yield Tex(rf"R(k)={plus}{times}\ ({first}\le k\le{last})")


def _abstract(instances: Sequence[FewInputsInstance]) -> Tex:
    return translate_many(
        "We determine how large the rank of the Jacobian of a network of lightning self-attention is "
        "if all outputs of only few inputs are taken, and with how many inputs it is the dimension.",
        "We determine for $%(count)s$ networks of lightning self-attention how large the rank of the "
        "Jacobian is if all outputs of only few inputs are taken, and with how many inputs it is the "
        "dimension.",
        len(instances),
        count=len(instances),
    )


kind = Kind(
    name="few-inputs",
    titles=(
        Message("What all outputs of few inputs tell about a self-attention network"),
        Message("What all outputs of few inputs tell about self-attention networks"),
    ),
    template="few_inputs.tex.j2",
    read=_read,
    check=Message("recomputes the minor modulo $p$, counts its rows, and recomputes the six counts"),
    abstract=_abstract,
    references={"Harris": Tex(""), "HMK": Tex("")},
)
