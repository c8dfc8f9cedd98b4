"""What `import lightningalg as la` offers, and how it refuses what it cannot use."""

from __future__ import annotations

import pytest

import lightningalg as la
from lightningalg.errors import InputError


def test_every_public_name_exists_and_is_listed():
    for name in la.__all__:
        assert getattr(la, name) is not None
        assert name in dir(la)


@pytest.mark.parametrize("value", [None, "x", [[1]], {}, 3])
def test_what_is_no_network_or_point_is_refused_in_words(value):
    for function in (la.dimension, la.fibre, la.symmetries, la.boundary, la.singular_points):
        with pytest.raises(InputError, match="accepted"):
            function(value)


def test_recovery_wants_a_function_and_sizes():
    for function in (None, "x"):
        with pytest.raises(InputError, match="callable"):
            la.recover(function, layers=1, width=2)
    for sizes in ({"layers": 0}, {"layers": 2.5}, {"width": "2"}, {"width": -1}, {"tokens": 0}):
        with pytest.raises(InputError, match=next(iter(sizes))):
            la.recover(lambda X: X, **{"layers": 1, "width": 2, **sizes})
