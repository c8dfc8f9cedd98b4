"""The arguments that bound two linear stages with an activation between: sums of powers of linear forms."""

from __future__ import annotations

from math import comb

from lightningalg.render.latex.escape import Tex, integer, number
from lightningalg.render.latex.language import Message, translate, translate_many
from lightningalg.render.latex.segment import Argument, Segment, applies, variables

_EXCEPTIONS = {(3, 5, 7), (4, 3, 5), (4, 4, 9), (4, 5, 14)}


_POWERS = {
    3: Message("$%(terms)s$ cubes of linear forms in %(variables)s"),
    4: Message("$%(terms)s$ fourth powers of linear forms in %(variables)s"),
}


def _powers(name: str, x: Segment) -> tuple[int, int]:
    """Return degree and number of the powers of linear forms that two linear stages sum up."""
    fits = len(x.inner) == 2 and not x.inner[0].heads and not x.inner[1].heads and x.o == 1
    applies(fits, name, x)
    return x.inner[1].degree, x.stages.effective[x.i + 1]


def quadratic(x: Segment) -> Argument:
    degree, terms = _powers("quadratic", x)
    applies(degree == 2, "quadratic", x)
    rho = min(x.e, terms)
    dimension = rho * x.e - rho * (rho - 1) // 2
    formula = Tex(rf"{number(rho)}\cdot {number(x.e)}-\tfrac{{{number(rho)}\cdot {number(rho - 1)}}}2")
    body = translate_many(
        r"a combination of one square of linear forms in %(variables)s, that is, a symmetric "
        r"$%(size)s\times %(size)s$ matrix of rank at most $%(rank)s$ (\cref{lem:quadratic})",
        r"a combination of $%(terms)s$ squares of linear forms in %(variables)s, that is, a symmetric "
        r"$%(size)s\times %(size)s$ matrix of rank at most $%(rank)s$ (\cref{lem:quadratic})",
        terms,
        terms=number(terms),
        size=number(x.e),
        variables=variables(x.e),
        rank=number(rho),
    )
    why = translate(
        r"only see a symmetric $%(size)s\times %(size)s$ matrix of rank at most $%(rank)s$",
        size=number(x.e),
        rank=number(rho),
    )
    return Argument("quadratic", dimension, formula, body, why)


def alexander_hirschowitz(x: Segment) -> Argument:
    degree, terms = _powers("alexander-hirschowitz", x)
    applies((degree, x.e, terms) in _EXCEPTIONS, "alexander-hirschowitz", x)
    powers = translate(_POWERS[degree], terms=number(terms), variables=variables(x.e))
    formula = Tex(rf"\binom{{{number(x.e + degree - 1)}}}{number(degree)}-1")
    body = translate(
        r"a combination of %(powers)s, an exception of Alexander and Hirschowitz (\cref{lem:powers})",
        powers=powers,
    )
    why = translate(
        "only see combinations of %(powers)s, which do not fill the space of forms", powers=powers
    )
    used = frozenset({f"powers {degree}"})
    return Argument("alexander-hirschowitz", comb(x.e + degree - 1, degree) - 1, formula, body, why, used)


def flattening(x: Segment) -> Argument:
    fits = len(x.inner) == 2 and not x.inner[0].heads and not x.inner[1].heads and x.inner[1].degree > 1
    applies(fits, "flattening", x)
    r, terms = x.inner[1].degree, x.stages.effective[x.i + 1]
    k, p = integer(x.tree["wedge"]), integer(x.tree["split"])
    applies(0 <= k < x.o and 0 < p < r, "flattening", x)
    sizes = [comb(x.o, k + 1) * comb(x.e + p - 1, p), comb(x.o, k) * comb(x.e + r - p - 1, r - p)]
    most = terms * comb(x.o - 1, k)
    formula = Tex(rf"{number(x.o)}\binom{{{number(x.e + r - 1)}}}{{{number(r)}}}-1")
    forms = translate_many(
        "one form of degree $%(degree)s$ in %(variables)s",
        "$%(count)s$ forms of degree $%(degree)s$ in %(variables)s",
        x.o,
        count=number(x.o),
        degree=number(r),
        variables=variables(x.e),
    )
    body = translate(
        r"combinations of $%(terms)s$ powers, %(forms)s; their flattening for $(k,p)=(%(k)s,%(p)s)$, of size "
        r"$%(rows)s\times %(columns)s$, has rank at most $%(most)s$, and that of general forms a larger one, "
        r"as the verifier computes (\cref{lem:flattening})",
        terms=number(terms),
        forms=forms,
        k=number(k),
        p=number(p),
        rows=number(sizes[0]),
        columns=number(sizes[1]),
        most=number(most),
    )
    why = translate(
        "only see %(forms)s whose flattening has rank at most $%(most)s$", forms=forms, most=number(most)
    )
    return Argument("flattening", x.o * comb(x.e + r - 1, r) - 1, formula, body, why)
