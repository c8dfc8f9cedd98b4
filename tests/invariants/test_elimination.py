"""The whole ideal by elimination, and exports that the engines read."""

from __future__ import annotations

import subprocess

import pytest

import lightningalg as la
from lightningalg.engines.choose import ideal_engine
from lightningalg.engines.flint_ideal_engine import FlintIdeals
from lightningalg.engines.programs import is_installed
from lightningalg.errors import UnsupportedError
from lightningalg.invariants.elimination import eliminate, singular_locus
from lightningalg.invariants.export import export
from lightningalg.invariants.study import invariants
from tests.cli.support import call


def report(d, d_out, a, degree):
    return invariants(la.lightning((d, d_out), (a,)), degree, proofs=False, hilbert=1)


@pytest.mark.parametrize(("sizes", "degree"), [((2, 1, 1), 2), ((2, 1, 2), 4)])
def test_elimination_gives_the_same_ideal(sizes, degree):
    found = report(*sizes, degree)
    whole = eliminate(found, FlintIdeals())
    assert whole.equal
    assert (whole.dimension, whole.degree) == (found.variety.dimension, found.variety.degree)


@pytest.mark.slow
def test_elimination_notices_missing_generators():
    assert not eliminate(report(2, 1, 2, 3), FlintIdeals()).equal


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "sizes"),
    [("flint", (2, 2, 1)), ("flint", (2, 2, 2))]
    + [("singular", sizes) for sizes in [(2, 2, 1), (2, 2, 2), (3, 1, 1)]],
)
def test_elimination_of_larger_ideals(engine, sizes):
    if not is_installed(engine):
        pytest.skip(f"{engine} is not installed")
    found = report(*sizes, 4)
    whole = eliminate(found, ideal_engine(engine)[0])
    assert whole.equal
    assert (whole.dimension, whole.degree) == (found.variety.dimension, found.variety.degree)


@pytest.mark.parametrize(("rank", "degree"), [pytest.param(1, 2, marks=pytest.mark.slow), (2, 4)])
def test_the_singular_locus_by_minors(rank, degree):
    """(2,1,1): the point 0; (2,1,2): rk A rk V <= 1, the closure of (2,1,1)."""
    assert singular_locus(report(2, 1, rank, degree), FlintIdeals()).agrees
    with pytest.raises(UnsupportedError, match="d = 2"):
        singular_locus(report(2, 2, rank, 2), FlintIdeals())


def test_the_command_compares(capfd):
    small = ("--widths", "2,1", "--ranks", "1", "--degree", "2", "--eliminate", "flint")
    found = call(capfd, "invariants", *small, "--json")
    assert found.code == 0 and found.json["elimination"]["equal"] is True
    assert "no generators of degree above 2" in call(capfd, "invariants", *small).out
    call(capfd, "invariants", *small[:-1], "maple").refuses("maple", "singular")


@pytest.mark.parametrize("system", ["singular", "macaulay2"])
def test_the_engines_read_the_exports(system, tmp_path):
    if not is_installed(system):
        pytest.skip(f"{system} is not installed")
    from lightningalg.engines.programs import require_engine

    path = tmp_path / "ideal"
    text = export(report(2, 2, 1, 4), system)
    if system == "singular":
        command = [str(require_engine("singular")), "-q", "--no-rc"]
        script = text + "ideal J = std(I); dim(J); mult(J); size(minbase(I)); quit;\n"
        done = subprocess.run(command, input=script, capture_output=True, text=True, timeout=60)
        assert done.stdout.split() == ["6", "20", "20"]
    else:
        path.write_text(text + "print dim I; print degree I; print numgens trim I; exit 0\n")
        command = [str(require_engine("macaulay2")), "--script", str(path)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        assert done.stdout.split() == ["6", "20", "20"]
