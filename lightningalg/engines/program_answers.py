"""What Singular and Macaulay2 print, read strictly: blocks between marks, and bases with their cofactors."""

from __future__ import annotations

from collections.abc import Sequence

from lightningalg.engines.ideal_data import Derivation, Ideal
from lightningalg.engines.monomials import Polynomial
from lightningalg.engines.polynomial_text import read
from lightningalg.errors import EngineAnswerError, shown


def blocks(lines: Sequence[str], mark: str, engine: str) -> list[list[str]]:
    """Return the lines after each mark.

    Raises
    ------
    EngineAnswerError
        If there are lines before the first one.

    Examples
    --------
    >>> blocks(["ideal", "x1", "x2", "ideal"], "ideal", "singular")
    [['x1', 'x2'], []]
    """
    found: list[list[str]] = []
    for line in lines:
        if line == mark:
            found.append([])
        elif found:
            found[-1].append(line)
        else:
            raise EngineAnswerError(f"{engine} printed {shown(line, 80)!r} before the first {mark!r}")
    return found


def polynomials(lines: Sequence[str], ideal: Ideal, engine: str) -> list[Polynomial]:
    """Return a polynomial for each line, in the ring of an ideal.

    Raises
    ------
    EngineAnswerError
        If a line is none.

    Examples
    --------
    >>> polynomials(["x1"], Ideal(2, ()), "singular")
    [{(1, 0): Fraction(1, 1)}]
    """
    return [read(line, ideal.variables, ideal.characteristic, engine) for line in lines]


def basis_with_cofactors(
    lines: Sequence[str], ideal: Ideal, engine: str
) -> tuple[list[Polynomial], Derivation]:
    """Return a basis and how it is derived: after each mark ``element`` a polynomial and its cofactors.

    A line of a cofactor is the number of a generator, of those that are not 0, and the polynomial.

    Raises
    ------
    EngineAnswerError
        If they are of another form.

    Examples
    --------
    >>> one = Ideal(1, ({(1,): 2},))
    >>> basis_with_cofactors(["element", "x1", "0 1/2"], one, "singular")[0]
    [{(1,): Fraction(1, 1)}]
    """
    used = [k for k, f in enumerate(ideal.generators) if f]
    basis: list[Polynomial] = []
    steps: list[tuple[tuple[int, Polynomial], ...]] = []
    for block in blocks(lines, "element", engine):
        if not block:
            raise EngineAnswerError(f"{engine} printed an element without its polynomial")
        basis += polynomials(block[:1], ideal, engine)
        steps.append(tuple(_cofactor(line, ideal, used, engine) for line in block[1:]))
    count = len(ideal.generators)
    return basis, Derivation(tuple(steps), tuple(range(count, count + len(steps))))


def _cofactor(line: str, ideal: Ideal, used: Sequence[int], engine: str) -> tuple[int, Polynomial]:
    row, _, text = line.partition(" ")
    if not row.isdecimal() or len(row) > 9 or int(row) >= len(used):
        raise EngineAnswerError(f"{engine} printed {shown(line, 80)!r} for a cofactor")
    return used[int(row)], polynomials([text], ideal, engine)[0]
