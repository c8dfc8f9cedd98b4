"""Batches of matrices of balls ``mid +- rad`` in numpy, with every rounding error accounted for.

Promise: where a ``BallArray`` is computed from balls, the exact result for *any* real numbers within these
balls lies within the result's balls. Assumed of the machine: IEEE 754 binary64 with rounding to nearest in
numpy's ``+ - * /``, and a matrix product that adds the products of a row and a column in some order, with
or without fused multiply-add. Nothing is assumed of numpy's ``exp``, which is not used.

Notation: u = 2^-53. An operation's result fl(x) has |fl(x) - x| <= u |fl(x)|, or <= 2^-1074 below the normal
range. A product of rows and columns of k terms has the error gamma_k = k u / (1 - k u) times the product of
the absolute values, in any order (Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition,
section 3.1). Radii are sums and products of numbers >= 0; their own rounding errors are covered by the factor
``1 + (k + 16) 2^-51``, and what is lost below the normal range by ``_TINY``. An overflow makes infinite or
undefined radii, with which nothing can be proved.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lightningalg.engines.real_tape import AbstractReal

_U = 2.0**-53
#: exceeds everything that up to 2^20 operations lose below the normal range
_TINY = 1e-300
#: covers the rounding of the few operations that make the radius of an entrywise result
_UP = 1.0 + 2.0**-46

# ln 2 = _LN2_HIGH + _LN2_LOW + e, |e| < 2^-86; _LN2_HIGH has 33 bits: k * _LN2_HIGH is exact for |k| < 2^20
_LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
_LARGEST_EXPONENT = 600.0
_TAYLOR = 13


def _gamma(terms: int) -> float:
    """Return an upper bound of gamma_k, for k <= 2^40."""
    return terms * _U * (1.0 + 2.0**-10)


def _matmul_up(k: int) -> float:
    return 1.0 + (k + 16) * 2.0**-51


class BallArray(AbstractReal):
    """A matrix (r, c) of balls, or a batch of them (N, r, c): midpoints and radii >= 0, float64.

    Examples
    --------
    >>> third = BallArray(np.array([[1.0]])).divided_by(BallArray(np.array([[3.0]])))
    >>> float(third.mid[0, 0]), bool(third.rad[0, 0] < 2e-16)
    (0.3333333333333333, True)
    """

    __slots__ = ("mid", "rad")

    def __init__(self, mid: np.ndarray, rad: np.ndarray | None = None):
        self.mid = mid
        self.rad = np.zeros_like(mid) if rad is None else rad

    def __add__(self, other: BallArray) -> BallArray:
        mid = self.mid + other.mid
        return BallArray(mid, (self.rad + other.rad + _U * np.abs(mid)) * _UP + _TINY)

    def __mul__(self, other: BallArray) -> BallArray:
        mid = self.mid * other.mid
        spread = np.abs(self.mid) * other.rad + self.rad * (np.abs(other.mid) + other.rad)
        return BallArray(mid, (spread + _U * np.abs(mid)) * _UP + _TINY)

    def __matmul__(self, other: BallArray) -> BallArray:
        terms = self.mid.shape[-1]
        left, right = np.abs(self.mid), np.abs(other.mid)
        rounding = np.matmul(left, other.rad + _gamma(terms) * right)
        if self.rad.any():
            rounding = rounding + np.matmul(self.rad, right + other.rad)
        return BallArray(np.matmul(self.mid, other.mid), rounding * _matmul_up(terms) + _TINY)

    @property
    def T(self) -> BallArray:
        return BallArray(self.mid.swapaxes(-1, -2), self.rad.swapaxes(-1, -2))

    def add_column(self, column: BallArray) -> BallArray:
        return self + column  # numpy repeats the column

    def take_rows(self, numbers: Sequence[int]) -> BallArray:
        rows = np.fromiter(numbers, np.intp)
        return BallArray(self.mid[..., rows, :], self.rad[..., rows, :])

    def reshape(self, rows: int) -> BallArray:
        shape = (*self.mid.shape[:-2], rows, self.mid.shape[-2] * self.mid.shape[-1] // rows)
        return BallArray(self.mid.reshape(shape), self.rad.reshape(shape))

    def row_sums(self) -> BallArray:
        return self.sums(-1)

    def sums(self, axis: int) -> BallArray:
        """Return the sums along an axis, which stays with length 1."""
        terms = self.mid.shape[axis]
        size = np.abs(self.mid).sum(axis=axis, keepdims=True) * _gamma(terms)
        rad = (self.rad.sum(axis=axis, keepdims=True) + size) * _matmul_up(terms) + _TINY
        return BallArray(self.mid.sum(axis=axis, keepdims=True), rad)

    def put_rows(self, numbers: Sequence[int], height: int) -> BallArray:
        rows = np.fromiter(numbers, np.intp)
        terms = int(np.bincount(rows).max())
        mid, size, rad = (_add_at(x, rows, height) for x in (self.mid, np.abs(self.mid), self.rad))
        return BallArray(mid, (rad + size * _gamma(terms)) * _matmul_up(terms) + _TINY)

    @property
    def height(self) -> int:
        return int(self.mid.shape[-2])

    # -- exponentials ----------------------------------------------------------------------

    def negative(self) -> BallArray:
        """Return the negatives."""
        return BallArray(-self.mid, self.rad)

    def divided_by(self, other: BallArray) -> BallArray:
        """Return the entrywise quotient; infinite radii where the denominator may be zero.

        For |x - m| <= r and |y - n| <= s < |n|: |x/y - m/n| <= (r + s |m/n|) / (|n| - s).
        """
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            mid = self.mid / other.mid
            size = np.abs(other.mid)
            # the difference is rounded by at most u of itself, which _UP covers
            least = size - other.rad
            rad = ((self.rad + other.rad * np.abs(mid) * _UP) / least + _U * np.abs(mid)) * _UP + _TINY
        bad = ~(least > 0) | ~np.isfinite(rad) | ~np.isfinite(mid)
        return BallArray(np.where(bad, 0.0, mid), np.where(bad, np.inf, rad))

    def exp(self) -> BallArray:
        """Return the exponentials; infinite radii beyond +-600 or for radii above 1.

        For a midpoint m let k = rint(m / ln 2) and s = m - k ln 2, so |s| < 0.35. With the rounded difference
        t of m and k _LN2_HIGH, |t| < 0.35, the computed s is off by at most u |t| + 2 u k |_LN2_LOW| + u |s|
        + k 2^-86 < u. Horner's rule h_i = 1 + s h_{i+1} / i, h_14 = 1, is off by
        e_i <= |s| / i (e_{i+1} + 2.1 u |h_{i+1}|) + 1.1 u |h_i|, which is below 2.1 u for i = 2 and below 4 u
        for i = 1; the remainder is below 0.35^14 / 14! 1.1 < u / 10. As 0.7 < e^s < 1.42 the relative error
        is below (1.5 + 4 + 0.1) u / 0.7 < 8 u; 2^-49 = 16 u is taken.
        For |x - m| <= r <= 1: |e^x - e^m| <= e^m r (1 + r).
        """
        inside = (np.abs(self.mid) <= _LARGEST_EXPONENT) & (self.rad <= 1.0)
        mid = np.where(inside, self.mid, 0.0)
        k = np.rint(mid * (1.0 / np.log(2.0)))
        s = (mid - k * _LN2_HIGH) - k * _LN2_LOW
        series = np.ones_like(s)
        for number in range(_TAYLOR, 0, -1):
            series = 1.0 + series * s / number
        value = np.ldexp(series, k.astype(np.int64))  # exact: far from both ends of the range
        relative = self.rad * (1.0 + self.rad) * _UP + 2.0**-49
        rad = np.where(inside, value * relative * (1.0 + 2.0**-40), np.inf)
        return BallArray(np.where(inside, value, 0.0), rad)

    def softmax_columns(self) -> BallArray:
        """Return the softmax of every column.

        First that of the midpoints; the same number taken from a whole column changes nothing. For scores
        off by at most r the softmax s is off by at most r / 2, as the absolute values of a row of its
        derivative add up to 2 s (1 - s) <= 1/2, and by at most s (e^2r - 1) <= s 2 r (1 + 2 r) if 2 r <= 1.
        """
        shift = BallArray(-self.mid.max(axis=-2, keepdims=True))
        powers = (BallArray(self.mid) + shift).exp()
        result = powers.divided_by(powers.sums(-2))
        off = self.rad.max(axis=-2, keepdims=True)
        near = (np.abs(result.mid) + result.rad) * (2.0 * off) * (1.0 + 2.0 * off)
        moved = np.where(off <= 0.5, np.minimum(near, 0.5 * off), 0.5 * off)
        return BallArray(result.mid, (result.rad + moved) * _UP)

    def softmax_pull(self, bar: BallArray) -> BallArray:
        return self * (bar + (self * bar).sums(-2).negative())


def _add_at(values: np.ndarray, rows: np.ndarray, height: int) -> np.ndarray:
    result = np.zeros((height, *values.shape[:-2], values.shape[-1]))
    np.add.at(result, rows, np.moveaxis(values, -2, 0))
    return np.moveaxis(result, 0, -2)
