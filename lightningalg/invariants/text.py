"""A report in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from lightningalg.invariants.report import InvariantsReport
from lightningalg.invariants.substitution import Polynomial


def lines(report: InvariantsReport, polynomials: bool = False) -> Iterator[str]:
    """Yield the report line by line.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.invariants.study import invariants
    >>> print(next(lines(invariants(la.lightning((2, 1), (1,)), 2))))
    lightning, widths 2,1, ranks 1, tokens 2
    """
    yield str(report.network)
    yield from _variety(report)
    yield "  degree   generators   vanishing   complete        minimal"
    for degree in report.found:
        number = degree.degree
        strengths = report.strengths(number)
        vanishing = (strengths.vanishing or "unknown") if degree.count else "-"
        minimal = strengths.minimal if degree.count else "-"
        yield (f"  {number:>6}{degree.count:>13}   {vanishing:<12}{strengths.complete:<16}{minimal}").rstrip()
        for part in report.representations(number):
            yield f"{'':>10}{part.dimension:>6} = {part}"
    if any(report.counts):
        acted = ", ".join(
            f"GL_{n} on {words}" for n, words in zip(report.phi.blocks, report.phi.block_names, strict=True)
        )
        yield f"  S[..](C^n): irreducible representations of {acted}."
    for sentence in report.names:
        yield f"  {sentence[0].upper()}{sentence[1:]}."
    if report.why_not and report.why_not != "not asked for":
        yield f"  Not proved complete: {report.why_not}."
    if polynomials:
        yield from _polynomials(report)


def _variety(report: InvariantsReport) -> Iterator[str]:
    variety, shown = report.variety, report.degree_from_hilbert
    names = report.phi.names
    yield f"  {'ambient':<12}{len(names):>8}   coordinates {names[0]}, ..., {names[-1]}"
    if variety is not None:
        codimension = f"codimension {variety.codimension}"
        yield f"  {'dimension':<12}{variety.dimension:>8}   of the closure Y, {codimension} (formula)"
        agrees = ""
        if shown is not None:
            same = shown == (variety.dimension, variety.degree)
            agrees = (
                "; the Hilbert function shows the same" if same else f"; the Hilbert function shows {shown}"
            )
        yield f"  {'degree':<12}{variety.degree:>8}   of P(Y) (formula){agrees}"
    elif shown is not None:
        yield f"  {'dimension':<12}{shown[0]:>8}   shown by the Hilbert function (probabilistic)"
        yield f"  {'degree':<12}{shown[1]:>8}   shown by the Hilbert function (probabilistic)"
    values = ", ".join(map(str, report.hilbert))
    yield f"  {'Hilbert':<12}{values}, ..."


def _polynomials(report: InvariantsReport) -> Iterator[str]:
    names = report.phi.names
    for degree in report.found:
        for space in degree.spaces:
            for polynomial in space.polynomials:
                weight = " ".join(str(list(part)) for part in report.phi.split(space.weight))
                yield f"  multidegree {weight}, {space.orbit} permutation{'s' if space.orbit > 1 else ''}:"
                yield f"    {polynomial_text(polynomial, names)} = 0"


def polynomial_text(polynomial: Polynomial, names: Sequence[str]) -> str:
    """Return a polynomial in the coordinates' names.

    Examples
    --------
    >>> polynomial_text({(0, 0): 2, (1,): -1}, ["x", "y"])
    '2*x^2 - y'
    """
    text = ""
    for monomial, value in polynomial.items():
        powers = [(c, len(list(group))) for c, group in groupby(monomial)]
        factors = [names[c] + (f"^{k}" if k > 1 else "") for c, k in powers]
        if abs(value) != 1 or not factors:
            factors.insert(0, str(abs(value)))
        sign = ("-" if value < 0 else "") if not text else (" - " if value < 0 else " + ")
        text += sign + "*".join(factors)
    return text or "0"
