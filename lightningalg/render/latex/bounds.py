r"""What the printed upper bounds share: their data, and the dimensions of spaces of matrices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.escape import Tex, number
from lightningalg.render.latex.typeset import mathematics


@dataclass(frozen=True, slots=True)
class UpperBound:
    """A certified upper bound: its value, its method and the numbers of the argument.

    ``arithmetic`` is the final sum without the value, for math mode;
    ``rows`` are the lines of the method's table; ``facts`` what else its
    template prints; ``note`` says behind the sum, in a table, how it comes
    about; ``parts`` are bounds by other methods that the argument uses.
    """

    method: str
    value: int
    arithmetic: Tex
    rows: tuple[tuple[Tex, ...], ...]
    facts: Mapping[str, Any]
    note: Tex = field(default_factory=Tex)
    parts: tuple[UpperBound, ...] = ()

    @property
    def total(self) -> Tex:
        """The final sum with its value, on one or more lines."""
        return mathematics(f"{self.arithmetic}={number(self.value)}")


def expect(condition: bool, what: str) -> None:
    """Refuse a certificate whose steps are not those of its method.

    Raises
    ------
    InputError
        Unless ``condition`` holds.
    """
    if not condition:
        raise InputError(f"upper bound: {what}; check the certificate with lightningalg verify")


def bounded_rank(size: int, rank: int) -> int:
    """Return the dimension of the matrices of this size and at most this rank."""
    low = min(size, rank)
    return 2 * low * size - low**2


def bounded_rank_symmetric(size: int, rank: int) -> int:
    """Return the dimension of the symmetric parts of matrices of this size and at most this rank."""
    low = min(size, 2 * rank)
    return low * size - low * (low - 1) // 2


def matrices(symmetric: bool, size: int, rank: int) -> tuple[Tex, int]:
    """Return ``r(e,a)`` or ``s(e,a)`` as a formula with its value, and the value."""
    letter, formula = ("s", bounded_rank_symmetric) if symmetric else ("r", bounded_rank)
    value = formula(size, rank)
    return Tex(rf"{letter}({number(size)},{number(rank)})={number(value)}"), value


def bracketed(text: Tex) -> str:
    """Return a formula in parentheses if it is a sum."""
    return f"({text})" if "+" in text else str(text)
