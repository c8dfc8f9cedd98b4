"""Generators as input for Macaulay2 and Singular: canonical names, one term per monomial (PITFALLS.md 3)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from lightningalg.errors import InputError, shown
from lightningalg.invariants.completeness import orbit
from lightningalg.invariants.report import InvariantsReport
from lightningalg.invariants.substitution import Polynomial

SYSTEMS = ("macaulay2", "singular")


def all_generators(report: InvariantsReport) -> list[Polynomial]:
    """Return the minimal generators found, of all multidegrees: the dominant ones moved by permutations.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.invariants.study import invariants
    >>> len(all_generators(invariants(la.lightning((2, 2), (1,)), 4)))
    20
    """
    phi = report.phi
    result: list[Polynomial] = []
    for degree in report.found:
        if not degree.lifted:
            raise InputError(
                f"the generators of degree {degree.degree} are known modulo a prime only: "
                "ask for a smaller --degree"
            )
        for space in degree.spaces:
            for weight in orbit(phi, space.weight) if space.polynomials else ():
                move = phi.to_weight(weight)
                for polynomial in space.polynomials:
                    result.append(
                        {tuple(sorted(int(move[c]) for c in m)): value for m, value in polynomial.items()}
                    )
    return result


def export(report: InvariantsReport, system: str) -> str:
    """Return a file that defines the ring ``R`` and the ideal ``I`` of all generators found.

    Variables are ``x1, x2, ...``; a comment says which coordinates they are.

    Raises
    ------
    InputError
        If the system is unknown, or some generators were not lifted to the rationals.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.invariants.study import invariants
    >>> print(export(invariants(la.lightning((2, 1), (1,)), 2, proofs=False), "macaulay2").splitlines()[-1])
    };
    """
    if system not in SYSTEMS:
        raise InputError(f"export {shown(system, 40)!r} is unknown: accepted are {', '.join(SYSTEMS)}")
    polynomials = [_text(polynomial) for polynomial in all_generators(report)]
    comment = {"macaulay2": "--", "singular": "//"}[system]
    lines = [f"{comment} {line}" for line in _legend(report)]
    names = ",".join(f"x{c + 1}" for c in range(len(report.phi.names)))
    body = ",\n".join(f"  {text}" for text in polynomials)
    if system == "macaulay2":
        ideal = f"I = ideal {{\n{body}\n}};" if polynomials else "I = ideal(0_R);"
        lines += [f"R = QQ[{names}];", ideal]
    else:
        ideal = f"ideal I =\n{body};" if polynomials else "ideal I = 0;"
        lines += [f"ring R = 0,({names}),(dp,L(2147483647));", "short = 0;", ideal]
    return "\n".join(lines) + "\n"


def _legend(report: InvariantsReport) -> Iterator[str]:
    counts = ", ".join(f"{degree.count} of degree {degree.degree}" for degree in report.found if degree.count)
    yield f"{report.network}: minimal generators up to degree {report.degree} of the ideal of the closure"
    yield f"{counts or 'none'}; each vanishes identically on the parametrisation (exact substitution)"
    yield "T_i_ab_c: coefficient of x_a x_b y_c in output row i (T_i_abc: of x_a x_b x_c, one token)"
    for c, name in enumerate(report.phi.names):
        yield f"x{c + 1} = {name}"


def _text(polynomial: Polynomial) -> str:
    """Return a polynomial with explicit ``*`` and ``^``."""
    terms = []
    for monomial, value in polynomial.items():
        powers = [(c, len(list(group))) for c, group in groupby(monomial)]
        factors = [f"x{c + 1}" + (f"^{k}" if k > 1 else "") for c, k in powers]
        if abs(value) != 1 or not factors:
            factors.insert(0, str(abs(value)))
        terms.append(("-" if value < 0 else "+") + "*".join(factors))
    return "".join(terms).removeprefix("+")
