r"""What the printed certificates on one attention layer share: its sizes and its strata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.escape import Tex, integer
from lightningalg.render.latex.networks import ATTENTION, read_network

Stratum = tuple[int, int, int]


def read_sizes(certificate: Mapping[str, Any]) -> tuple[int, int, int]:
    """Return (d, d', a) of the one attention layer, on two or more tokens, of a certificate.

    Raises
    ------
    InputError
        If the network is another one.
    """
    network = read_network(certificate["network"])
    if len(network.layers) != 1 or network.tokens < 2 or network.layers[0].type != ATTENTION:
        raise InputError("certificate: its network is not one attention layer on two or more tokens")
    layer = certificate["network"]["layers"][0]
    return integer(layer["d_in"]), integer(layer["d_out"]), integer(layer["rank"])


def dimension_of(sizes: tuple[int, int, int]) -> int:
    """Return the dimension of Y.

    Examples
    --------
    >>> dimension_of((2, 1, 1))
    4
    """
    d, dprime, a = sizes
    alpha = min(a, d)
    return 2 * alpha * d - alpha**2 + d * dprime - 1


def read_stratum(value: Any) -> Stratum:
    """Return a stratum of a certificate."""
    r, s, m = value
    return integer(r), integer(s), integer(m)


def all_strata(sizes: tuple[int, int, int]) -> list[Stratum]:
    """Return all strata in order, the point 0 first.

    Examples
    --------
    >>> all_strata((2, 1, 1))
    [(0, 0, 0), (1, 1, 0), (1, 1, 1)]
    """
    d, dprime, a = sizes
    return [(0, 0, 0)] + [
        (r, s, m)
        for r in range(1, min(d, dprime) + 1)
        for s in range(1, min(d, a) + 1)
        for m in range(max(0, r + s - d), min(r, s) + 1)
    ]


def triple(values: tuple[int, ...]) -> Tex:
    """Return a triple for math mode.

    Examples
    --------
    >>> triple((1, 2, 1))
    '(1,2,1)'
    """
    return Tex(f"({','.join(map(str, values))})")


def checked_partition(stated: list[Any], sizes: tuple[int, int, int], flag: str, yes: Any, no: Any) -> None:
    """Raise ``InputError`` unless the entries are all strata, and the claim's two lists those they say."""
    found = [(read_stratum(entry["stratum"]), entry[flag]) for entry in stated]
    if [stratum for stratum, _ in found] != all_strata(sizes):
        raise InputError("certificate: its entries are not the strata of the layer, in order")
    for listed, wanted in ((yes, True), (no, False)):
        if [read_stratum(x) for x in listed] != [stratum for stratum, says in found if says is wanted]:
            raise InputError("certificate: the claim does not follow from the witness")
