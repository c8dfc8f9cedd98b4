"""Exact values of matrix expressions by python-flint, without the package's arithmetic or parser."""

import random
import re
from fractions import Fraction

from flint import fmpq, fmpq_mat


def rational(value):
    value = Fraction(value)
    return fmpq(value.numerator, value.denominator)


class Exact:
    """A matrix of rationals with the operators that texts of expressions become in Python."""

    def __init__(self, matrix):
        self.matrix = matrix

    @classmethod
    def of(cls, rows):
        entries = [rational(entry) for row in rows for entry in row]
        return cls(fmpq_mat(len(rows), len(rows[0]), entries))

    @classmethod
    def identity(cls, n):
        return cls.of([[int(i == j) for j in range(n)] for i in range(n)])

    @property
    def T(self):
        return Exact(self.matrix.transpose())

    @property
    def I(self):  # noqa: E743 - the inverse, as numpy.matrix names it
        return Exact(self.matrix.inv())

    def __mul__(self, other):
        return Exact(self.matrix * (other.matrix if isinstance(other, Exact) else rational(other)))

    __rmul__ = __mul__  # only for scalars, which commute

    def __add__(self, other):
        return Exact(self.matrix + other.matrix)

    def __sub__(self, other):
        return Exact(self.matrix - other.matrix)

    def __neg__(self):
        return self * -1

    def __eq__(self, other):
        return self.matrix == other.matrix

    __hash__ = None


def random_point(symbols, scalars, seed, sizes=None):
    """Return values of names: small rational matrices of random sizes, invertible where declared.

    ``symbols``: name -> (rows, columns, invertible), sizes as names or integers.
    """
    chance = random.Random(seed)
    sizes = dict(sizes or {})
    values = {name: Fraction(chance.choice([-3, -2, -1, 2, 3]), chance.choice([1, 2, 5])) for name in scalars}
    for name, (rows, columns, invertible) in symbols.items():
        height, width = (
            s if isinstance(s, int) else sizes.setdefault(s, chance.randint(1, 3)) for s in (rows, columns)
        )
        while True:
            entries = [[Fraction(chance.randint(-4, 4), chance.choice([1, 1, 2, 3])) for _ in range(width)]
                       for _ in range(height)]  # fmt: skip
            values[name] = Exact.of(entries)
            if not invertible or values[name].matrix.det() != 0:
                break
    return values


def value_of_expression(expression, values):
    """Value of a JSON expression of FORMAT.md section 6."""
    head, *rest = expression
    if head == "symbol":
        return values[rest[0]]
    if head == "inverse":
        return values[rest[0]].I
    if head == "transpose":
        return value_of_expression(rest[0], values).T
    if head == "scale":
        factor = Fraction(rest[0])
        for name, exponent in rest[1]:
            factor *= values[name] ** exponent
        return value_of_expression(rest[2], values) * factor
    result = value_of_expression(rest[0], values)
    for operand in rest[1:]:
        other = value_of_expression(operand, values)
        result = result * other if head == "product" else result + other
    return result


def value_of_terms(terms, values, shape):
    """Value of a normal form as it stands in a certificate."""
    total = Exact(fmpq_mat(*shape))
    for coefficient, powers, letters in terms:
        product = Exact.identity(shape[0])
        for letter in letters:
            name, mark = re.fullmatch(r"([A-Za-z0-9]+)('|\^-1|\^-T)?", letter).groups()
            matrix = values[name]
            matrix = matrix.I if mark in ("^-1", "^-T") else matrix
            product = product * (matrix.T if mark in ("'", "^-T") else matrix)
        factor = Fraction(coefficient)
        for name, exponent in powers:
            factor *= values[name] ** exponent
        total = total + product * factor
    return total


def value_of_text(text, values):
    """Value of a worksheet's text, through Python's own parser (for texts of this repository only)."""
    python = text
    for name, value in values.items():
        if isinstance(value, Fraction):
            python = re.sub(rf"\b{name}\^", f"{name}**", python)
    python = python.replace("lambda", "lambda_")
    python = re.sub(r"(\d+)/(\d+)", r"Fraction(\1,\2)", python)
    python = python.replace("^-T", ".I.T").replace("^-1", ".I").replace("'", ".T").replace("^", "**")
    names = {name.replace("lambda", "lambda_"): value for name, value in values.items()}
    return eval(python, {"Fraction": Fraction}, names)
