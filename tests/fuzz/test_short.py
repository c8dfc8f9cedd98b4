"""A short run on fixed inputs, and what was found earlier; the long run is ``python -m tests.fuzz``."""

from __future__ import annotations

import sys

import pytest

from lightningalg.engines.singular_engine import SingularIdeals
from lightningalg.errors import EngineAnswerError, InputError
from lightningalg.sweeps.tables import read_published

from .mutation import of_file
from .run import inputs, many, one
from .targets import CORPUS, IDEAL, TARGETS, engine

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="uses SIGALRM")


@pytest.mark.parametrize("name", TARGETS)
def test_some_inputs(name):
    count, faults = many(name, "ci", count=60)
    assert count == 60
    assert not faults, faults[0].what


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_more_inputs(name):
    _, faults = many(name, "ci, more", count=200)  # so many everywhere: no machine sees others
    assert not faults, faults[0].what


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_are_accepted(name):
    """Otherwise alterations of them would reach nothing."""
    target = TARGETS[name]
    refused = 0
    for seed in target.seeds():
        try:
            target.run(seed)
        except target.errors:
            refused += 1
    assert refused <= len(target.seeds()) // 2


def test_rejected_certificates_raise_documented_errors_only():
    for path in sorted((CORPUS / "rejected").iterdir()):
        for name in ("certificate", "prove"):
            fault = one(name, path.read_bytes())
            assert fault is None, (path.name, fault.what)


def test_inputs_are_the_same_for_the_same_seed():
    first, second = inputs("verifier", "a"), inputs("verifier", "a")
    assert [next(first) for _ in range(50)] == [next(second) for _ in range(50)]
    assert next(inputs("verifier", "b")) != next(inputs("verifier", "a"))


def test_faults_are_found():
    """The harness sees undocumented errors and endless loops."""
    import random

    from . import run, targets

    def endless(data: bytes) -> None:
        while True:
            pass

    broken = {
        "error": targets.Target(lambda: [b"x"], lambda data: 1 // 0),
        "endless": targets.Target(lambda: [b"x"], endless),
        "lines": targets.Target(lambda: [b"x"], lambda data: (_ for _ in ()).throw(InputError("a" * 4_000))),
    }
    TARGETS.update(broken)
    try:
        assert "ZeroDivisionError" in run.one("error", b"").what
        assert "TooSlowError" in run.one("endless", b"", seconds=0.2).what
        assert "no short line" in run.one("lines", b"").what
    finally:
        for name in broken:
            del TARGETS[name]
    assert of_file(random.Random(1), [b"abc"]) != b"abc"


# -- what was found ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "entry", ["1" * 200 + "!", " " * 9_000 + "!", "2" * 9_999 + "x", "1," * 4_000 + ";", "3" * 20_000]
)
def test_long_entries_of_a_table_are_refused_at_once(tmp_path, entry):
    """A pattern that tried all ways to cut a row of digits into numbers took for ever."""
    path = tmp_path / "t.csv"
    path.write_text(f'architecture,exponent,dimension\n"{entry}",2,9\n')
    with pytest.raises(InputError, match="line 2: architecture is"):
        read_published(path)


@pytest.mark.parametrize(("entry", "widths"), [
    ("(2, 3, 3)", "2,3,3"), ("2-3-3", "2,3,3"), ("[2; 3 ;3]", "2,3,3"), ("2 x 3 x 3", "2,3,3"),
    ("2  3 3", "2,3,3"),
])  # fmt: skip
def test_entries_of_a_table(tmp_path, entry, widths):
    path = tmp_path / "t.csv"
    path.write_text(f'architecture,exponent,dimension\n"{entry}",2,9\n')
    assert f"widths {widths}," in read_published(path)[0].architecture.text


@pytest.mark.parametrize("entry", ["12345678", "2,,3", "2,3,", "-2,3", "2.5", "", "()", "\u0662,3", "2--3"])
def test_entries_that_are_no_integers(tmp_path, entry):
    path = tmp_path / "t.csv"
    path.write_text(f'architecture,exponent,dimension\n"{entry}",2,9\n', encoding="utf-8")
    with pytest.raises(InputError, match="line 2"):
        read_published(path)


def test_components_without_their_radicals():
    run = engine(SingularIdeals, "raw_primary_components")
    run(b"begin answer\nideal\nx1\nideal\nx1\nend answer\n")
    with pytest.raises(EngineAnswerError, match="printed 1 ideals"):
        run(b"begin answer\nideal\nx1\nend answer\n")
    assert IDEAL.variables == 2
