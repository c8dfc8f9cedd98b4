"""Every kind of certificate has a section of its own in an article."""

from __future__ import annotations

import pytest

from lightningalg.errors import InputError
from lightningalg.render.latex import render_proof
from lightningalg.render.latex.escape import environment
from lightningalg.render.latex.kinds import kinds


@pytest.mark.parametrize("name", kinds())
def test_a_kind_has_a_template_and_refuses_what_it_cannot_read(name):
    assert environment().get_template(kinds()[name].template)
    for broken in ({}, {"claim": 1}, {"claim": {}, "witness": {}, "network": []}):
        with pytest.raises(InputError):
            render_proof([{"kind": name, "sha256": "0" * 64, "strength": "exact", **broken}])


def test_unknown_kinds_are_refused():
    with pytest.raises(InputError, match="cannot be printed"):
        render_proof([{"kind": "no-such-kind", "sha256": "0" * 64}])
