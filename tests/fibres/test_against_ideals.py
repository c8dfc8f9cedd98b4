"""The theorems against Groebner bases: dimension, degree, components and multiplicities of fibres."""

from __future__ import annotations

import pytest

from lightningalg.claims.fibre_ideal import fibre_ideal
from lightningalg.fibres.classify import virtual_fibre
from lightningalg.ideals.chain_ideals import chain_fibre
from lightningalg.ideals.fibre_ideals import layer_fibre

from . import points as pt


def by_ideals(point):
    """The claim on the fibre's ideal, with the minors that bound the ranks."""
    arch = point.architecture
    if arch.depth == 1:
        fibre = layer_fibre(point.M[0], point.L, tokens=arch.tokens)
    else:
        free = min(arch.ranks) >= arch.widths[0]
        ranks = None if free else list(arch.ambient_ranks())
        fibre = chain_fibre(point.M, point.L, tokens=arch.tokens, ranks=ranks)
    return fibre_ideal(fibre).claim


def compare(name):
    point = pt.stratum(name)
    found, ideal = virtual_fibre(point), by_ideals(point)
    assert ideal["dimension"] == found.dimension
    if ideal["components"] is not None:
        parts = ideal["components"]
        assert all(part["dimension"] == found.dimension for part in parts)
        assert sum(part["degree"] for part in parts) == found.degree
        assert len(parts) == found.components == found.rational
        if found.multiplicity is not None:
            assert {part["multiplicity"] for part in parts} == {found.multiplicity}
            assert ideal["degree"] == found.degree * found.multiplicity


@pytest.mark.parametrize("name", ["generic layer", "swap", "no swap", "skew layer", "three wide"])
def test_one_layer(name):
    compare(name)


def test_the_function_zero():
    """{A = 0} and {V = 0}, of dimension 4 each."""
    ideal = by_ideals(pt.stratum("zero"))
    assert (ideal["dimension"], len(ideal["components"])) == (4, 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["deep", "deep, one output", "deep swap", "rank one first", "ranks one", "exchange"]
)
def test_two_layers(name):
    compare(name)
