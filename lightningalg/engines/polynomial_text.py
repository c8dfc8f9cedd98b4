"""Polynomials as the text that engine programs read and print; variables are always x1, x2, ..."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

from lightningalg.engines.monomials import Polynomial
from lightningalg.errors import EngineAnswerError, shown

_FACTOR = re.compile(
    r"(?P<number>[0-9]+(?:/[0-9]+)?)|\((?P<bracket>-?[0-9]+(?:/[0-9]+)?)\)|x(?P<variable>[1-9][0-9]*)(?:\^(?P<power>[0-9]+))?"
)
_HEXADECIMAL = re.compile(r"(-?)([0-9a-f]+)/([0-9a-f]+)")
T = TypeVar("T")


def names(variables: int) -> list[str]:
    """Return the names of the variables.

    Examples
    --------
    >>> names(2)
    ['x1', 'x2']
    """
    return [f"x{k}" for k in range(1, variables + 1)]


def decimal(number: int) -> str:
    """Return an integer in decimal, whatever Python's limit on digits."""
    if abs(number) < 10**600:
        return str(number)
    high, low = divmod(abs(number), 10**600)
    return f"{'-' if number < 0 else ''}{decimal(high)}{low:0600d}"


def from_decimal(text: str) -> int:
    """Return the integer that digits stand for, whatever Python's limit.

    Examples
    --------
    >>> from_decimal("9" * 10_000) == 10**10_000 - 1
    True
    """
    if len(text) <= 600:
        return int(text)
    middle = len(text) // 2
    return from_decimal(text[:middle]) * 10 ** (len(text) - middle) + from_decimal(text[middle:])


def write(polynomial: Polynomial, *, integral: bool = False) -> str:
    """Return a polynomial with explicit ``*`` and ``^`` and one term for each monomial.

    With ``integral`` denominators are cleared: the multiple has the same zeros.

    Examples
    --------
    >>> write({(2, 1): Fraction(-1, 2), (0, 0): Fraction(3)})
    '-1/2*x1^2*x2+3'
    >>> write({(2, 1): Fraction(-1, 2), (0, 0): Fraction(3)}, integral=True)
    '-1*x1^2*x2+6'
    """
    scale = 1
    if integral:
        for coefficient in polynomial.values():
            scale = scale * coefficient.denominator // _gcd(scale, coefficient.denominator)
    parts = []
    for exponents, coefficient in polynomial.items():
        number = Fraction(coefficient) * scale
        text = decimal(number.numerator)
        if number.denominator != 1:
            text += f"/{decimal(number.denominator)}"
        powers = [f"x{k}" if e == 1 else f"x{k}^{e}" for k, e in enumerate(exponents, start=1) if e]
        parts.append("*".join([text, *powers]))
    return "+".join(parts).replace("+-", "-") or "0"


def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


def read(text: str, variables: int, characteristic: int, engine: str) -> Polynomial:
    """Return the polynomial that an engine printed; spaces do not matter.

    Raises
    ------
    EngineAnswerError
        If it is anything but a sum of products of numbers and powers of x1 .. xn.

    Examples
    --------
    >>> read("-1/2*x1^2*x2 + (3/4)*x2 - x1", 2, 0, "demo")
    {(2, 1): Fraction(-1, 2), (0, 1): Fraction(3, 4), (1, 0): Fraction(-1, 1)}
    >>> read("2*x1+100", 1, 7, "demo")
    {(1,): 2, (0,): 2}
    """
    compact = "".join(text.split())
    pieces = re.findall(r"[+-]?[^+-]+", compact.replace("(-", "(~"))
    if not compact or "".join(pieces) != compact.replace("(-", "(~"):
        raise EngineAnswerError(f"{engine} printed {shown(text, 80)!r}, which is no polynomial")
    total: Polynomial = {}
    for piece in pieces:
        exponents, coefficient = _term(piece.replace("~", "-"), variables, engine)
        if characteristic:
            if coefficient.denominator % characteristic == 0:
                raise EngineAnswerError(f"{engine} printed {shown(piece, 80)!r}: its denominator is 0")
            inverse = pow(coefficient.denominator, -1, characteristic)
            value = (total.get(exponents, 0) + coefficient.numerator * inverse) % characteristic
        else:
            value = total.get(exponents, Fraction(0)) + coefficient
        if value:
            total[exponents] = value
        else:
            total.pop(exponents, None)
    return total


def _term(piece: str, variables: int, engine: str) -> tuple[tuple[int, ...], Fraction]:
    sign = -1 if piece[0] == "-" else 1
    exponents, coefficient = [0] * variables, Fraction(sign)
    for factor in piece.lstrip("+-").split("*"):
        match = _FACTOR.fullmatch(factor)
        if match is None:
            raise EngineAnswerError(f"{engine} printed the term {shown(piece, 80)!r}, which is no monomial")
        if match["variable"]:
            k, power = int(match["variable"][:9]), int((match["power"] or "1")[:9])
            if not 1 <= k <= variables:
                raise EngineAnswerError(f"{engine} printed the variable x{k}, which is not in the ring")
            exponents[k - 1] += power
        else:
            coefficient *= _fraction(match["number"] or match["bracket"], engine)
    return tuple(exponents), coefficient


def _fraction(text: str, engine: str) -> Fraction:
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text)
    numerator, _, denominator = digits.partition("/")
    bottom = from_decimal(denominator or "1")
    if bottom == 0:
        raise EngineAnswerError(f"{engine} printed a denominator 0")
    return Fraction(sign * from_decimal(numerator), bottom)


def pairs_of(listed: Sequence[T], engine: str) -> list[tuple[T, T]]:
    """Return the entries two by two, or raise ``EngineAnswerError``.

    Examples
    --------
    >>> pairs_of("abcd", "demo")
    [('a', 'b'), ('c', 'd')]
    """
    if len(listed) % 2:
        raise EngineAnswerError(f"{engine} printed {len(listed)} ideals for components and their radicals")
    return list(zip(listed[::2], listed[1::2], strict=True))


def to_plain(polynomial: Polynomial) -> list[list[object]]:
    """Return a polynomial as JSON: ``[["-a/b" in hexadecimal, exponents], ...]`` (no limit on digits).

    Examples
    --------
    >>> to_plain({(1, 0): Fraction(-31, 2)})
    [['-1f/2', [1, 0]]]
    """
    return [[f"{c.numerator:x}/{c.denominator:x}", list(e)] for e, c in polynomial.items()]


def from_plain(value: object, variables: int, characteristic: int, engine: str) -> Polynomial:
    """Return the polynomial of `to_plain`, or raise ``EngineAnswerError``.

    Examples
    --------
    >>> from_plain([["-1f/2", [1, 0]]], 2, 0, "demo")
    {(1, 0): Fraction(-31, 2)}
    """
    total: Polynomial = {}
    if not isinstance(value, list):
        raise EngineAnswerError(f"{engine} answered {shown(value)!r} for a polynomial")
    for term in value:
        if not (isinstance(term, list) and len(term) == 2 and isinstance(term[0], str)):
            raise EngineAnswerError(f"{engine} answered {shown(term)!r} for a term")
        match, exponents = _HEXADECIMAL.fullmatch(term[0]), term[1]
        if (
            match is None
            or not isinstance(exponents, list)
            or len(exponents) != variables
            or any(type(e) is not int or e < 0 for e in exponents)
            or int(match[3], 16) == 0
        ):
            raise EngineAnswerError(f"{engine} answered {shown(term)!r} for a term")
        number = Fraction(int(match[1] + match[2], 16), int(match[3], 16))
        total[tuple(exponents)] = int(number) % characteristic if characteristic else number
    return {e: c for e, c in total.items() if c}
