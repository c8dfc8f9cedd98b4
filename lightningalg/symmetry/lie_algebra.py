"""The structure of a Lie algebra of matrices over QQ: centre, radical, simple ideals and their real forms.

Everything is decided exactly over QQ in characteristic zero: the radical is the orthogonal of the derived
algebra under the Killing form (Bourbaki, Lie I, section 5, prop. 5), a semisimple algebra splits by its
centroid, and a real form of given type and low rank by the signature of its Killing form.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lightningalg.certificates.sampling import stream_values
from lightningalg.engines.flint_rings import rational_rank
from lightningalg.engines.rational_matrices import (
    is_diagonalisable,
    rational_nullspace,
)
from lightningalg.errors import TooLargeError
from lightningalg.symmetry.fields import PolynomialField
from lightningalg.symmetry.simple_ideals import SimpleIdeal, simple_ideals
from lightningalg.symmetry.structure_constants import (
    SparseMatrix,
    add_to,
    apply,
    centre_equations,
    dense,
    independent,
    killing_form,
    structure_constants,
)

#: largest dimension that is analysed, and largest matrices whose diagonalisability is decided
MAX_DIMENSION = 80
MAX_TORAL_SIZE = 80


@dataclass(frozen=True, slots=True)
class LieStructure:
    """Structure of a Lie algebra over QQ.

    ``toral_centre``: whether all elements of the centre are diagonalisable matrices over QQ; ``None``: not
    decided. ``split`` is ``False`` if parts of the semisimple quotient were too large to be decomposed.
    """

    dimension: int
    derived_dimension: int
    centre_dimension: int
    radical_dimension: int
    ideals: tuple[SimpleIdeal, ...]
    toral_centre: bool | None
    split: bool = True

    @property
    def reductive(self) -> bool:
        """Whether the radical is the centre."""
        return self.radical_dimension == self.centre_dimension

    @property
    def name(self) -> str:
        """The algebra as a product of known ones, as far as it is one."""
        names = [ideal.name for ideal in self.ideals]
        centre = self.centre_dimension if self.reductive else 0
        if self.toral_centre:
            for k, name in enumerate(names):
                if re.fullmatch(r"sl_[0-9]+", name) and centre:
                    names[k], centre = f"g{name[1:]}", centre - 1
            names += [f"torus^{centre}"] if centre else []
        elif centre:
            names.append(f"abelian^{centre}")
        if not self.split:
            names.append("a semisimple part that was not decomposed")
        product = " x ".join(names)
        if self.reductive:
            return product or "0"
        if not product:
            return f"a solvable algebra of dimension {self.dimension}"
        return f"{product} with a solvable radical of dimension {self.radical_dimension}"

    def to_json(self) -> dict[str, Any]:
        """Return dimensions, and the simple ideals with their names."""
        return {
            "name": self.name,
            "dimension": self.dimension,
            "derived_dimension": self.derived_dimension,
            "centre_dimension": self.centre_dimension,
            "radical_dimension": self.radical_dimension,
            "simple_ideals": [
                {"name": i.name, "dimension": i.dimension, "rank": i.rank, "signature": list(i.signature)}
                for i in self.ideals
            ],
        }


def structure_of_fields(fields: Sequence[PolynomialField], seed: str = "0") -> LieStructure:
    """Return the structure of the Lie algebra that linear or affine fields span, as it acts.

    Raises
    ------
    InputError
        If the fields are no basis of a Lie algebra.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.symmetry.known_groups import known_groups
    >>> head = known_groups(la.lightning((2, 2), (2,)))[0]
    >>> structure_of_fields(head.fields).name
    'gl_2'
    """
    return structure([field.affine_matrix() for field in fields], seed)


def structure(matrices: Sequence[SparseMatrix], seed: str = "0") -> LieStructure:
    """Return the structure of the Lie algebra with the given basis of matrices over QQ.

    Parameters
    ----------
    matrices
        Linearly independent, with a span closed under brackets; entries by position.
    seed
        Decides auxiliary random elements. They influence time, not the result.

    Raises
    ------
    InputError
        If they are dependent or not closed.
    TooLargeError
        For more than 80 matrices.

    Examples
    --------
    >>> rotations = [{(0, 1): Fraction(1), (1, 0): Fraction(-1)}, {(0, 2): Fraction(1), (2, 0): Fraction(-1)},
    ...              {(1, 2): Fraction(1), (2, 1): Fraction(-1)}]
    >>> structure(rotations).name
    'so_3'
    """
    k = len(matrices)
    if not k:
        return LieStructure(0, 0, 0, 0, (), True)
    if k > MAX_DIMENSION:
        raise TooLargeError(f"a Lie algebra of dimension {k}: up to {MAX_DIMENSION} are analysed")
    brackets = structure_constants(matrices)
    derived = independent(dense(brackets.values(), k))
    centre = rational_nullspace(centre_equations(brackets, k))
    killing = killing_form(brackets, k)
    equations = [apply(killing, row) for row in derived]  # x is in the radical iff all vanish on it
    radical = k - (rational_rank(equations) if equations else 0)
    ideals, split = simple_ideals(brackets, independent(equations), k, seed)
    toral = _is_toral(matrices, centre, seed)
    return LieStructure(k, len(derived), len(centre), radical, tuple(ideals), toral, split)


def _is_toral(matrices: Sequence[SparseMatrix], centre: list[list[Fraction]], seed: str) -> bool | None:
    """Whether a random element of the centre is diagonalisable over QQ; the others are then its
    polynomials' like."""
    if not centre:
        return True
    numbers = stream_values(seed, "toral", len(centre), 10_007)
    element: dict[tuple[int, int], Fraction] = {}
    for factor, vector in zip(numbers, centre, strict=True):
        for matrix, value in zip(matrices, vector, strict=True):
            if value:
                add_to(element, matrix, factor * value)
    support = sorted({c for place in element for c in place})
    if len(support) > MAX_TORAL_SIZE:
        return None
    rows = [[element.get((i, j), Fraction(0)) for j in support] for i in support]
    return is_diagonalisable(rows) if rows else True
