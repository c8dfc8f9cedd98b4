r"""The numbers of the ``flag`` bound for chains of attention layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from lightningalg.render.latex.bounds import UpperBound, bracketed, expect, matrices
from lightningalg.render.latex.escape import Tex, integer, number
from lightningalg.render.latex.networks import Network
from lightningalg.render.latex.typeset import summation


def flag_bound(widths: Sequence[int], ranks: Sequence[int], tokens: int) -> UpperBound:
    """Return the bound for a chain with these widths (one more than ranks), ready to print."""
    depth = len(ranks)
    e = [min(widths[: i + 1]) for i in range(depth)]
    g = [*e, widths[depth]]
    for i in range(depth - 1, 0, -1):
        g[i] = min(e[i], 2 * min(ranks[i], e[i]) + g[i + 1])
    rank_one = next((j for j in range(1, depth) if min(ranks[j - 1], e[j - 1]) == 1), 0)
    symmetric = [tokens == 1 or 0 < rank_one < i for i in range(1, depth + 1)]
    found = [matrices(symmetric[i], g[i], ranks[i]) for i in range(depth)]
    q = [value for _, value in found]
    flags = [g[i] * (g[i - 1] - g[i]) for i in range(1, depth)]
    values = widths[depth] * g[depth - 1]
    lines: list[tuple[Tex, ...]] = []
    for i in range(1, depth + 1):
        cells = (widths[i], ranks[i - 1], e[i - 1], g[i - 1])
        step = Tex("")
        if i < depth:
            step = Tex(rf"${number(g[i])}({number(g[i - 1])}-{number(g[i])})={number(flags[i - 1])}$")
        lines.append((*(Tex(f"${number(cell)}$") for cell in cells), Tex(f"${found[i - 1][0]}$"), step))
    total = Tex(
        bracketed(summation(q))
        + (f"+{bracketed(summation(flags))}" if flags else "")
        + rf"+{number(widths[depth])}\cdot {number(g[depth - 1])}-{depth}"
    )
    facts = {
        "rank_one": rank_one,
        "symmetric": any(symmetric),
        "matrices": sum(q),
        "flags": sum(flags),
        "values": values,
        "torus": depth,
        "q": found[0][0],
        "deep": depth > 1,
        "wide": max(*widths, *ranks) > 999,
        "e": e,
        "g": g[:depth],
        "entries": list(zip(symmetric, q, strict=True)),
    }
    return UpperBound("flag", sum(q) + sum(flags) + values - depth, total, tuple(_merge(lines)), facts)


def read_flag(network: Network, steps: Mapping[str, Any], claimed: int) -> UpperBound:
    """Return the printable form of a certificate's bound of method ``flag``."""
    expect(network.is_attention_chain, "method flag needs a chain of attention layers")
    bound = flag_bound(network.widths, network.ranks, network.tokens)
    for key in ("e", "g"):
        found = [integer(value) for value in steps[key]]
        expect(found == bound.facts[key], f"{key} is not that of the network")
    entries = [(entry["symmetric"] is True, integer(entry["dimension"])) for entry in steps["matrices"]]
    expect(entries == bound.facts["entries"], "the matrices are not those of the network")
    sums = all(integer(steps[key]) == bound.facts[key] for key in ("flags", "values", "torus"))
    expect(sums and bound.value == claimed, "the sums do not add up")
    return bound


def _merge(lines: list[tuple[Tex, ...]]) -> list[tuple[Tex, ...]]:
    """Number the lines from 1; three or more equal neighbours become one line with a range."""
    result = []
    first = 1
    for line, group in groupby(lines):
        count = sum(1 for _ in group)
        if count < 3:
            result += [(Tex(f"${i}$"), *line) for i in range(first, first + count)]
        else:
            result.append((Tex(f"${first}$--${first + count - 1}$"), *line))
        first += count
    return result
