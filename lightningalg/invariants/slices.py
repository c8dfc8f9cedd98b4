"""Slices of the closure Y of a single layer in which it is a surface in space, with M marked.

MATH.md section 3. Each slice is an affine space of coordinates T(x, y), linear in three numbers; its equation
is exact, and every drawn point is a value of an exact parametrisation. What is in M, and what is singular, is
known at each point:

* umbrella: the forms ``x1^2 - z x2^2`` and ``b x1 x2 + c x2^2`` share a linear factor iff ``c^2 = z b^2``;
* Cayley: a quadratic form is a product of two linear forms iff its matrix has rank at most two;
* cone: real binary forms have real linear factors iff the discriminant is not negative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lightningalg.errors import InputError, UnsupportedError, shown
from lightningalg.invariants.substitution import Polynomial
from lightningalg.networks.families import attention_chain
from lightningalg.networks.network import Network

#: in M / in Y but not in M / singular, two sheets of M / singular, not in M / boundary of M
INSIDE, OUTSIDE, SINGULAR, HANDLE, BOUNDARY = "inside", "outside", "singular", "handle", "boundary"

NAMES = ("query", "output", "cayley", "cone")


@dataclass(frozen=True, slots=True)
class Curve:
    """Points (n, 2) or (n, 3) joined by a line, and what they are."""

    points: np.ndarray
    role: str


@dataclass(frozen=True, slots=True)
class Section:
    """A plane section: regions, curves and single points in the plane of the first two axes."""

    title: str
    curves: tuple[Curve, ...]
    markers: tuple[Curve, ...]
    regions: tuple[Curve, ...] = ()


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice ready to be drawn.

    Attributes
    ----------
    name, title
        Which slice of which network.
    axes
        Names of the three numbers.
    tensor
        T(x, y) in the slice, one line of text for each non-zero output row.
    equation
        Of the intersection with Y, in the three numbers: exponents to integers.
    shown
        The same as text.
    patches
        Grids of points (m, n, 3) on the surface.
    curves, markers
        Curves and points of the surface to mark.
    sections
        Plane sections that show the local pictures.
    legend
        For each role that occurs what it means here.
    caption
        The slice exactly, and what is marked.
    limits
        Lower and upper bound of each axis.
    view
        Elevation and azimuth in degrees.
    """

    name: str
    title: str
    axes: tuple[str, str, str]
    tensor: tuple[str, ...]
    equation: Polynomial
    shown: str
    patches: tuple[Curve, ...]
    curves: tuple[Curve, ...]
    markers: tuple[Curve, ...]
    sections: tuple[Section, ...]
    legend: dict[str, str]
    caption: str
    limits: tuple[tuple[float, float], ...]
    view: tuple[float, float]


def slice_of(network: Network, name: str | None = None) -> Slice:
    """Return a slice of one attention head's closure.

    Parameters
    ----------
    network
        One head, t >= 2, width at least 2.
    name
        ``query`` (a >= 2), ``output`` (d' >= 2), ``cayley`` (a = d' = 1, d >= 3) or ``cone``
        (a = d' = 1); by default the one that shows most.

    Raises
    ------
    UnsupportedError
        For other networks, with the reason.
    InputError
        If the network has no slice of that name.

    Examples
    --------
    >>> import lightningalg as la
    >>> slice_of(la.lightning((2, 1), (2,))).shown
    'c^2 = z b^2'
    """
    chain = attention_chain(network)
    if chain is None or len(chain) != 1:
        raise UnsupportedError(
            "pictures are of a single attention head: deep networks have too many coordinates"
        )
    if network.tokens == 1:
        raise UnsupportedError(
            "pictures are for two or more tokens: with one token the map sees the symmetric part of A only"
        )
    layer = chain[0]
    d, d_out, a = layer.d_in, layer.d_out, min(layer.rank, layer.d_in)
    if d == 1:
        raise UnsupportedError("width 1: the closure is a linear space, and M is all of it")
    possible = _possible(d, d_out, a)
    chosen = possible[0] if name is None else name
    if chosen not in possible:
        raise InputError(
            f"slice {shown(name, 40)!r}: for width {d}, output {d_out}, rank {a} accepted are "
            f"{', '.join(possible)}"
        )
    title = f"One lightning layer, d = {d}, d' = {d_out}, a = {a}"
    if chosen == "cayley":
        return _cayley(title)
    if chosen == "cone":
        return _cone(title, d)
    return _umbrella(title, chosen, d, a)


def _possible(d: int, d_out: int, a: int) -> tuple[str, ...]:
    if a == d_out == 1:
        return ("cayley", "cone") if d >= 3 else ("cone",)
    return ("query",) * (a >= 2) + ("output",) * (d_out >= 2)


# -- the umbrella ----------------------------------------------------------------

_REACH = 1.3  # of the parameter m, z = m^2


def _umbrella(title: str, name: str, d: int, a: int) -> Slice:
    """(b, c, z) with c^2 = z b^2, parametrised by c = m b, z = m^2."""
    b, m = np.meshgrid(np.linspace(-1, 1, 41), np.linspace(-_REACH, _REACH, 61), indexing="ij")
    surface = np.stack([b, m * b, m * m], axis=-1)
    top = _REACH**2
    if name == "query":
        tensor: tuple[str, ...] = ("T(x, y) = (x1^2 - z x2^2) y1 + (b x1 x2 + c x2^2) y2",)
        rank, generic = "A has rank 1", "rank 2"
        always = f"rank at most 2 < a = {a}" if 2 < a < d else ""
    else:
        tensor = ("T_1(x, y) = (x1^2 - z x2^2) y1", "T_2(x, y) = (b x1 x2 + c x2^2) y1")
        rank, generic = "V has rank 1", "rank 2"
        always = f"rank 1 < a = {a}" if 1 < a < d else ""
    note = f" All of this slice is singular in Y, since A has {always} there." if always else ""
    caption = (
        f"The slice {'; '.join(tensor)} of coefficient space, all other coordinates 0. It meets the "
        "closure Y in the "
        f"surface c^2 = z b^2: the two quadratic forms share a linear factor. Off the line b = c = 0 "
        f"{'A' if name == 'query' else 'V'} has {generic} and the point has one preimage up to "
        f"scaling. On the line {rank} "
        "and T is the product of x1^2 - z x2^2 with a function of y: for z > 0 two sheets of the "
        "neuromanifold M meet, one for each order "
        "of the factors x1 - sqrt(z) x2 and x1 + sqrt(z) x2 (a swapped pair); for z < 0 the factors "
        "are complex "
        f"conjugates and the point is in Y but not in M; z = 0, equal factors, is the boundary of M.{note}"
    )
    heights = (1.0, 0.0, -1.0)
    return Slice(
        name,
        title,
        ("b", "c", "z"),
        tensor,
        {(0, 2, 0): 1, (2, 0, 1): -1},
        "c^2 = z b^2",
        (Curve(surface, INSIDE),),
        (
            Curve(_vertical(0.0, top), SINGULAR),
            Curve(_vertical(0.0, -1.25), HANDLE),
        ),
        (Curve(np.zeros((1, 3)), BOUNDARY),),
        tuple(_umbrella_section(z) for z in heights),
        {
            INSIDE: "M: functions of the network",
            SINGULAR: "singular: two sheets meet (swapped pair)",
            HANDLE: "in Y, not in M (singular)",
            BOUNDARY: "boundary of M",
        },
        caption,
        ((-1.0, 1.0), (-_REACH, _REACH), (-1.25, top)),
        (24.0, -56.0),
    )


def _vertical(low: float, high: float) -> np.ndarray:
    heights = np.linspace(low, high, 101)
    return np.stack([0 * heights, 0 * heights, heights], axis=1)


def _umbrella_section(z: float) -> Section:
    b = np.linspace(-1, 1, 21)
    centre = np.zeros((1, 2))
    if z > 0:
        lines = tuple(Curve(np.stack([b, sign * np.sqrt(z) * b], axis=1), INSIDE) for sign in (1, -1))
        return Section("z = 1: two sheets cross", lines, (Curve(centre, SINGULAR),))
    if z == 0:
        line = Curve(np.stack([b, 0 * b], axis=1), INSIDE)
        return Section("z = 0: they become one", (line,), (Curve(centre, BOUNDARY),))
    return Section("z = -1: one real point, not in M", (), (Curve(centre, HANDLE),))


# -- Cayley's cubic ----------------------------------------------------------------


_CAYLEY_REACH = 1.9


def _hexagon(side: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a grid of (u, v) with |u|, |v| and |u + v| at most ``side``, so that the cubic fills "
    "its box."""
    radius, angle = np.meshgrid(np.linspace(0, 1, 15), np.linspace(0, 2 * np.pi, 73), indexing="ij")
    u, v = np.cos(angle), np.sin(angle)
    reach = side / np.maximum(np.maximum(np.abs(u), np.abs(v)), np.abs(u + v))
    return radius * reach * u, radius * reach * v


def _cayley(title: str) -> Slice:
    """1 + 2 x y z = x^2 + y^2 + z^2: determinants of symmetric 3 x 3 matrices with unit diagonal."""
    angle, other = np.meshgrid(np.linspace(0, 2 * np.pi, 73), np.linspace(0, np.pi, 37), indexing="ij")
    pillow = np.stack([np.cos(angle), np.cos(other), np.cos(angle + other)], axis=-1)
    patches = [Curve(pillow, OUTSIDE)]
    u, v = _hexagon(float(np.arccosh(_CAYLEY_REACH)))
    for s, t in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        patches.append(
            Curve(np.stack([s * np.cosh(u), t * np.cosh(v), s * t * np.cosh(u + v)], axis=-1), INSIDE)
        )
    nodes = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=float)
    caption = (
        "The slice T(x, y) = (x1^2 + x2^2 + x3^2 + 2 p x1 x2 + 2 q x1 x3 + 2 r x2 x3) y1 of "
        "coefficient space, all other "
        "coordinates 0. It meets the closure Y in Cayley's cubic 1 + 2 p q r = p^2 + q^2 + r^2: the "
        "quadratic form is a "
        "product of two linear forms iff its matrix has rank at most 2. Where the form is "
        "indefinite, or a square, the "
        "factors are real and the point is in the neuromanifold M (four cones, cut off in the "
        "drawing). The inner pillow "
        "without its corners consists of semidefinite forms of rank 2, whose factors are complex "
        "conjugates: in Y, not in M; it "
        "is as large as M. The four corners are squares of linear forms: singular points of Y, and "
        "the boundary of M here."
    )
    return Slice(
        "cayley",
        title,
        ("p", "q", "r"),
        ("T(x, y) = (x1^2 + x2^2 + x3^2 + 2 p x1 x2 + 2 q x1 x3 + 2 r x2 x3) y1",),
        {(0, 0, 0): 1, (1, 1, 1): 2, (2, 0, 0): -1, (0, 2, 0): -1, (0, 0, 2): -1},
        "1 + 2 p q r = p^2 + q^2 + r^2",
        tuple(patches),
        (),
        (Curve(nodes, BOUNDARY),),
        tuple(_cayley_section(r) for r in (0.0, 1.0, 1.4)),
        {
            INSIDE: "M: products of real linear forms",
            OUTSIDE: "in Y, not in M: conjugate factors",
            BOUNDARY: "squares: singular, boundary of M",
        },
        caption,
        ((-_CAYLEY_REACH, _CAYLEY_REACH),) * 3,
        (20.0, -50.0),
    )


def _cayley_section(r: float) -> Section:
    """The conic p^2 + q^2 - 2 p q r = 1 - r^2."""
    reach = 2.0
    if r < 1:
        angle = np.linspace(0, 2 * np.pi, 121)
        ellipse = np.stack([np.cos(angle), np.cos(angle + np.arccos(r))], axis=1)
        return Section(f"r = {r:g}: an ellipse, not in M", (Curve(ellipse, OUTSIDE),), ())
    if r == 1:
        inner, outer = np.linspace(-1, 1, 11), np.linspace(1, reach, 11)
        curves = [Curve(np.stack([inner, inner], axis=1), OUTSIDE)]
        curves += [Curve(np.stack([s * outer, s * outer], axis=1), INSIDE) for s in (1, -1)]
        corners = Curve(np.array([[1.0, 1.0], [-1.0, -1.0]]), BOUNDARY)
        return Section("r = 1: through two corners", tuple(curves), (corners,))
    shift = np.arccosh(r)
    u = np.linspace(-1.5 - shift / 2, 1.5 - shift / 2, 81)
    curves = [Curve(np.stack([s * np.cosh(u), s * np.cosh(u + shift)], axis=1), INSIDE) for s in (1, -1)]
    return Section(f"r = {r:g}: a hyperbola in M", tuple(curves), ())


# -- the cone ------------------------------------------------------------------------


def _cone(title: str, d: int) -> Slice:
    """Binary forms (a + c) x1^2 + 2 b x1 x2 + (a - c) x2^2: real factors iff b^2 + c^2 >= a^2."""
    radius, angle = np.meshgrid(np.linspace(-1.2, 1.2, 41), np.linspace(0, 2 * np.pi, 73), indexing="ij")
    surface = np.stack([radius * np.cos(angle), radius * np.sin(angle), radius], axis=-1)
    singular = "0 alone is singular in Y" if d == 2 else "all its points are singular in Y"
    caption = (
        "The slice T(x, y) = ((z + b) x1^2 + 2 c x1 x2 + (z - b) x2^2) y1 of coefficient space, all "
        "other coordinates 0. It "
        "lies in the closure Y: every binary form is a product of two complex linear forms. They can "
        "be taken real exactly "
        "outside the open double cone b^2 + c^2 < z^2 of definite forms, whose points are in Y but "
        "not in the neuromanifold M. "
        f"The cone itself, squares of linear forms up to sign, is the boundary of M; {singular}."
    )
    circle = np.linspace(0, 2 * np.pi, 121)
    around = np.stack([np.cos(circle), np.sin(circle)], axis=1)
    box = 1.5 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    # round the box, and back round the circle: the box without the disc
    outside = np.concatenate([box, box[:1], around[::-1] * [-1, -1]])
    return Slice(
        "cone",
        title,
        ("b", "c", "z"),
        ("T(x, y) = ((z + b) x1^2 + 2 c x1 x2 + (z - b) x2^2) y1",),
        {},
        "all of the slice; M: b^2 + c^2 >= z^2",
        (Curve(surface, BOUNDARY),),
        (),
        (Curve(np.zeros((1, 3)), SINGULAR),),
        (
            Section(
                "z = 1: M is outside the circle",
                (Curve(around, BOUNDARY),),
                (),
                (Curve(outside, INSIDE), Curve(around, OUTSIDE)),
            ),
            Section(
                "z = 0: all of it is in M", (), (Curve(np.zeros((1, 2)), SINGULAR),), (Curve(box, INSIDE),)
            ),
        ),
        {
            INSIDE: "M: outside the cone",
            OUTSIDE: "in Y, not in M: inside",
            BOUNDARY: "boundary of M: squares",
            SINGULAR: "0" + (": the singular point" if d == 2 else ""),
        },
        caption,
        ((-1.3, 1.3), (-1.3, 1.3), (-1.25, 1.25)),
        (16.0, -60.0),
    )
