"""All outputs of few inputs: the rank of theta -> (f(X_1), ..., f(X_k)) for a chain of attention layers.

For one input X the weights act through few numbers: ``f(X) = L X T Q_1 X`` with L of bounded rank and a small
matrix T.  So k inputs give at most ``fixed + each * k`` dimensions, for six ways of counting, however many
outputs there are; the dimension is reached with enough inputs only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lightningalg.certificates.sampling import compress_runs, validate_seed
from lightningalg.engines.base import Minor
from lightningalg.engines.residue_arrays import DEFAULT_PRIME, ResidueField
from lightningalg.errors import LightningAlgError, TooLargeError, UnsupportedError, shown
from lightningalg.maps.sampled_jacobian import SampledJacobian
from lightningalg.networks.families import attention_chain
from lightningalg.networks.network import Network, checked_network
from lightningalg.rank.lower_bound import DEFAULT_MEMORY, EngineChoice
from lightningalg.rank.upper_bounds.flag import flag_count

#: as in the checker
MAX_INPUTS = 1000


@dataclass(frozen=True, slots=True)
class Factorisation:
    """A way to count: k inputs give at most ``fixed + each * k`` dimensions.

    ``left``: where the columns of f(X) lie (``outputs``: anywhere, ``columns``: the column space of L,
    ``product``: f(X) = L times a matrix). ``right``: where its rows lie (``inputs``: the row space of X,
    ``rows``: that of Q_1 X).
    """

    left: str
    right: str
    fixed: int
    each: int

    def to_json(self) -> dict[str, Any]:
        """Return the entry of the certificate."""
        return {"left": self.left, "right": self.right, "fixed": self.fixed, "each": self.each}


@dataclass(frozen=True, slots=True)
class FewInputs:
    """Both bounds of the ranks with 1, ..., K inputs.

    Attributes
    ----------
    lower, upper
        Entry k - 1: bounds of the generic rank with k inputs, all outputs of each.
    flag
        The upper bound of the dimension; ``lower[-1]`` may reach it.
    factorisations
        The six ways to count.
    minor
        Rows and columns of one minor that is not zero modulo the prime.
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    flag: int
    factorisations: tuple[Factorisation, ...]
    minor: Minor
    prime: int
    seed: str

    def claim(self) -> dict[str, Any]:
        """Return the claim of the certificate."""
        return {
            "quantity": "rank of few inputs",
            "dimension": self.flag if self.lower[-1] == self.flag else None,
            "lower": list(self.lower),
            "upper": list(self.upper),
        }

    def witness(self) -> dict[str, Any]:
        """Return the witness of the certificate."""
        profile = self.minor.profile
        return {
            "flag": self.flag,
            "factorisations": [entry.to_json() for entry in self.factorisations],
            "minor": {
                "prime": self.prime,
                "seed": self.seed,
                "rows": compress_runs(profile.rows),
                "columns": compress_runs(profile.columns),
                "determinant": self.minor.determinant,
            },
        }


def bounded(p: int, q: int, rank: int) -> int:
    """Return the dimension of the p x q matrices of at most that rank.

    Examples
    --------
    >>> bounded(3, 4, 1), bounded(3, 4, 9)
    (6, 12)
    """
    r = min(p, q, rank)
    return r * (p + q - r)


def factorisations(widths: Sequence[int], ranks: Sequence[int], tokens: int) -> tuple[Factorisation, ...]:
    """Return the six ways to count, for widths d_0..d_l, ranks a_1..a_l and t tokens.

    References
    ----------
    FORMAT.md section 19.

    Examples
    --------
    >>> [(f.fixed, f.each) for f in factorisations((4, 2, 4), (2, 1), 5)]
    [(0, 7), (4, 5), (4, 5), (8, 3), (11, 7), (15, 5)]
    """
    d, last = widths[0], widths[-1]
    m, rank = min(widths), min(tokens, *widths, *ranks)
    tau, alpha = min(tokens, d), min(ranks[0], d)
    lefts = [
        ("outputs", last, 0),
        ("columns", m, m * (last - m)),
        ("product", tau, m * (d + last - m) - 1),
    ]
    rights = [("inputs", tau, 0), ("rows", alpha, alpha * (d - alpha))]
    return tuple(
        Factorisation(left, right, one + other, bounded(p, q, rank))
        for left, p, one in lefts
        for right, q, other in rights
    )


def most(network: Network) -> tuple[int, tuple[Factorisation, ...]]:
    """Return the upper bound of the dimension, and the ways to count.

    Raises
    ------
    UnsupportedError
        Unless the network is a chain of single lightning heads, none tied.

    Examples
    --------
    >>> import lightningalg as la
    >>> most(la.lightning((4, 2, 4), (2, 1), tokens=5))[0]
    25
    """
    chain = attention_chain(checked_network(network))
    if chain is None:
        raise UnsupportedError(
            f"{shown(network, 200)}: ranks with few inputs are known of chains of single lightning heads"
        )
    widths = (network.width, *(layer.d_out for layer in chain))
    ranks = tuple(layer.rank for layer in chain)
    tokens = network.tokens
    return flag_count(widths, ranks, tokens).total, factorisations(widths, ranks, tokens)


class OutputJacobian(SampledJacobian):
    """Rows of all outputs: row ``k * E + e`` is the derivative of entry e of f(X_k), E the number of entries.

    Examples
    --------
    >>> import lightningalg as la
    >>> net = la.lightning((2, 2), (2,))
    >>> OutputJacobian(net, ResidueField(8388593), "0").rows(range(8)).shape
    (8, 12)
    """

    def _batch(self, kind: str, samples: Sequence[int], height: int) -> np.ndarray:
        entries = self.network.output_width * self.network.tokens
        if kind == "input":
            return super()._batch(kind, [sample // entries for sample in samples], height)
        units = np.zeros((len(samples), entries), dtype=np.int64)
        units[np.arange(len(samples)), [sample % entries for sample in samples]] = 1
        return self.field.from_integers(units).reshape(len(samples), height, self.network.tokens)


def few_inputs_of(
    network: Network,
    *,
    choose: EngineChoice,
    seed: str = "0",
    prime: int = DEFAULT_PRIME,
    max_memory: float = DEFAULT_MEMORY,
    progress: Callable[[str], None] = lambda message: None,
) -> FewInputs:
    """Return bounds for 1, ..., K inputs, K the first with which the dimension is seen to be reached.

    Parameters
    ----------
    network
        A chain of single lightning heads.
    choose
        Picks the engine for a matrix size.
    seed, prime
        Of the point and the inputs.
    max_memory
        GiB that the matrix may take.
    progress
        Told what is being done.

    Raises
    ------
    UnsupportedError
        For other networks.
    TooLargeError
        If the matrix is too large, or more than 1000 inputs are needed.

    References
    ----------
    MATH.md section 2; FORMAT.md section 19.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.engines.choose import linear_algebra
    >>> few_inputs_of(la.lightning((4, 2, 4), (2, 1), tokens=5), choose=linear_algebra).lower
    (7, 14, 17, 20, 23, 25)
    """
    flag, ways = most(network)
    jacobian = OutputJacobian(network, ResidueField(prime), validate_seed(seed))
    entries = network.output_width * network.tokens
    count = _first_full(flag, ways)
    while True:
        if count > MAX_INPUTS:
            raise TooLargeError(f"{count} inputs are needed; accepted are up to {MAX_INPUTS}")
        rows = count * entries
        if not rows * network.parameter_count * 8 / 2**30 <= max_memory:
            raise TooLargeError(
                f"a {rows} x {network.parameter_count} Jacobian is larger than {max_memory:g} GiB"
            )
        matrix = jacobian.rows(range(rows))
        engine, reason = choose(*matrix.shape)
        progress(f"rank of all outputs of {count} inputs by {engine.name} ({reason})")
        minor = engine.minor(matrix, prime)
        # every further general input adds to the rank until the dimension is reached
        if minor.profile.rank == flag or count >= flag:
            break
        count = min(flag, count + 1 + count // 4)
    return _cut(minor, flag, ways, entries, prime, jacobian.seed)


def _first_full(flag: int, ways: Sequence[Factorisation]) -> int:
    """Return the least number of inputs for which no way to count is below the dimension."""
    return max([1, *(-((way.fixed - flag) // way.each) for way in ways)])


def _cut(
    minor: Minor, flag: int, ways: tuple[Factorisation, ...], entries: int, prime: int, seed: str
) -> FewInputs:
    if not minor.profile.rank:
        raise LightningAlgError("all derivatives vanish at this seed: try another")
    last = minor.profile.rows[-1] // entries + 1
    lower = tuple(sum(row < k * entries for row in minor.profile.rows) for k in range(1, last + 1))
    upper = tuple(min([flag, *(w.fixed + w.each * k for w in ways)]) for k in range(1, last + 1))
    return FewInputs(lower, upper, flag, ways, minor, prime, seed)
