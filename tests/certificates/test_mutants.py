"""Every place of certificates of every kind, method and argument, altered: accepted only if still true."""

from __future__ import annotations

import pytest

from lightningalg import verifier

from . import mutants as mt
from .test_verifier_mutation import places

NAMES = mt.names()
SMALL = [name for name in NAMES if len(list(places(mt.original(name)))) <= 110]


def test_every_kind_method_and_argument_is_there():
    kinds, methods, arguments = set(), set(), set()
    for name in NAMES:
        certificate = mt.original(name)
        kinds.add(certificate["kind"])
        for path in places(certificate):
            if path and path[-1] in ("method", "argument"):
                found = mt.at(certificate, path)
                (methods if path[-1] == "method" else arguments).add(found)
    assert kinds == set(verifier.KINDS)
    assert methods >= {*verifier.METHODS, "composition", "symmetry", "ball"}
    known = {*verifier.ARGUMENTS, *verifier.STRATUM_ARGUMENTS, *verifier.BOUNDARY_ARGUMENTS}
    assert arguments >= {*known, *verifier.OUTSIDE_ARGUMENTS, "cut", "flattening"}


def test_every_kind_is_altered_without_waiting():
    assert {mt.original(name)["kind"] for name in SMALL} == set(verifier.KINDS)


@pytest.mark.parametrize("name", SMALL)
def test_one_alteration_of_every_place(name):
    """And a text that is no JSON in its place, its key twice, and no key: each place is visited.

    Those that are not small are altered below, in two ways at every place.
    """
    tally = mt.Tally()
    seen = mt.alter_every_place(name, 1, tally)
    assert seen == set(places(mt.original(name)))
    assert tally.verdicts.total() >= 3 * len(seen) - 1
    assert not tally.failures


@pytest.mark.slow
@pytest.mark.parametrize("kind", verifier.KINDS)
def test_many_alterations_of_every_place(kind):
    """The others have their turn here; all of them at once are `python -m tests.certificates.mutants`."""
    tally = mt.Tally()
    for name in NAMES:
        if mt.original(name)["kind"] == kind:
            assert mt.alter_every_place(name, 2, tally) == set(places(mt.original(name)))
    print(mt.table({kind: tally}))
    assert not tally.failures


def test_parts_of_other_certificates():
    """Witness, claim or subject of another certificate of the kind, under a hash that fits."""
    tally = mt.Tally()
    for number, (one, other, part, altered) in enumerate(mt.swaps()):
        if number % 3 == 0:
            data = mt.sealed(altered)
            assert data is not None
            first = mt.original(one)
            tally.judge(data, (one, other, part), lambda a=first, b=altered: mt.still_true(a, b))
    assert tally.verdicts["invalid"] > 700
    assert not tally.failures


@pytest.mark.parametrize("forged", ["", "0" * 64, "f" * 63, "g" * 64, None, 0, ["0" * 64], "upper", "other"])
def test_forged_hashes(forged):
    for name, next_name in zip(NAMES, NAMES[1:] + NAMES[:1], strict=True):
        certificate = mt.original(name)
        right = certificate["sha256"]
        other = mt.original(next_name)["sha256"]
        certificate["sha256"] = {"upper": right.upper(), "other": other}.get(str(forged), forged)
        verdict = verifier.check(certificate)
        assert (verdict.verdict, verdict.check) == ("invalid", "sha256")
