"""Formulas for pages: LaTeX that this package wrote, as MathML."""

from __future__ import annotations

from functools import lru_cache

from latex2mathml.converter import convert


@lru_cache(1000)
def mathml(latex: str) -> str:
    r"""Return MathML of a formula in LaTeX, which must come from this package and not from a file.

    Examples
    --------
    >>> mathml(r"2 a d").startswith("<math")
    True
    """
    return convert(latex)
