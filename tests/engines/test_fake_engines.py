"""Programs that are missing, crash, hang, fork, print nonsense, or lie: clear errors, named substitutes."""

from __future__ import annotations

import stat
import sys
import time

import pytest

from lightningalg.engines.child_process import Limits
from lightningalg.engines.choose import first_answer, ideal_engine
from lightningalg.engines.flint_ideal_engine import FlintIdeals
from lightningalg.engines.ideal_data import Ideal
from lightningalg.engines.inventory import _program, inventory
from lightningalg.engines.programs import SETTINGS
from lightningalg.errors import (
    EngineAnswerError,
    EngineCrashedError,
    EngineError,
    EngineMissingError,
    EngineTimeoutError,
    InputError,
)

PROGRAM = {"singular": "Singular", "msolve": "msolve", "macaulay2": "M2"}
IDEAL = Ideal(2, ({(1, 1): 1, (0, 0): -1}, {(2, 0): 1, (0, 1): -1}))  # xy = 1, x^2 = y: three points

#: an answer of each engine's form with two wrong bases: y (does not contain the ideal's generators), and 1
#: (contains them, but is not contained in the ideal)
LIES = {
    "singular": "print('begin answer\\n{0}\\nend answer')",
    "msolve": "print('[{0}]:')",
    "macaulay2": "print('begin answer\\n{0}\\nend answer')",
}
#: the same with cofactors that do not give it
FALSE_PROOFS = {
    name: "print('begin answer\\nelement\\n1\\n0 5*x1\\n1 3\\nend answer')"
    for name in ("singular", "macaulay2")
}

FAKES = {
    "nothing": ("pass", EngineAnswerError),
    "nonsense": ("print('hello')", EngineAnswerError),
    "bytes": ("sys.stdout.buffer.write(bytes(range(256)) * 1000)", EngineAnswerError),
    "fails": ("sys.exit(1)", EngineCrashedError),
    "aborts": ("os.abort()", EngineCrashedError),
    "hangs": ("time.sleep(100)", EngineTimeoutError),
    "endless": ("while True: print('x' * 100000)", EngineAnswerError),
    "error line": (
        "print('   ? error occurred in or before STDIN line 1\\nbegin answer\\n[1]:\\nend answer')",
        EngineAnswerError,
    ),
    "code": (
        "print('begin answer\\n__import__(\"os\").system(\"true\")\\nend answer\\n[x1^y]:')",
        EngineAnswerError,
    ),
    "other variable": (
        "print('[x3]:' if 'solve' in sys.argv[0] else 'begin answer\\nx3\\nend answer')",
        EngineAnswerError,
    ),
    "forks and hangs": (
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(100)']); time.sleep(100)",
        EngineTimeoutError,
    ),
}  # fmt: skip


@pytest.fixture
def fake(tmp_path, monkeypatch):
    def make(name, body):
        path = tmp_path / PROGRAM[name]
        path.write_text(f"#!{sys.executable} -S\nimport os, sys, time, subprocess\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv(SETTINGS[PROGRAM[name]], str(path))
        return ideal_engine(name, limits=Limits(seconds=1.5, output=10**6))[0]

    return make


@pytest.mark.parametrize("kind", FAKES)
@pytest.mark.parametrize("name", PROGRAM)
def test_fake_programs_give_clear_errors(fake, name, kind):
    body, error = FAKES[kind]
    engine = fake(name, body)
    start = time.monotonic()
    with pytest.raises(error) as caught:
        engine.groebner_basis(IDEAL)
    assert time.monotonic() - start < 6
    assert name in str(caught.value).lower()
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.parametrize("name", PROGRAM)
def test_right_looking_wrong_bases(fake, name):
    """x2 fails the check of the generators everywhere; 1 is no proved basis anywhere."""
    engine = fake(name, LIES[name].format("1*x2^1"))
    with pytest.raises(EngineAnswerError, match="generator 0 does not reduce to zero"):
        engine.groebner_basis(IDEAL)
    engine = fake(name, LIES[name].format("1"))
    if name == "msolve":  # over QQ its answer 1 is confirmed or refused
        with pytest.raises(EngineAnswerError, match="inconsistent"):
            engine.groebner_basis(IDEAL)
    else:
        assert not engine.groebner_basis(IDEAL).proved
    with pytest.raises(EngineError):
        engine.groebner_basis(IDEAL, proof=True)
    if name in FALSE_PROOFS:
        engine = fake(name, FALSE_PROOFS[name])
        with pytest.raises(EngineAnswerError, match="wrong derivation"):
            engine.groebner_basis(IDEAL, proof=True)


def test_a_set_that_is_no_groebner_basis(fake):
    """The generators themselves: they reduce to zero and lie in the ideal, but an S-polynomial does not."""
    engine = fake("singular", "print('begin answer\\nx1*x2-1\\nx1^2-x2\\nend answer')")
    with pytest.raises(EngineAnswerError, match="S-polynomial"):
        engine.groebner_basis(IDEAL)


def test_decompositions_are_checked(fake):
    cross = Ideal(2, ({(1, 1): 1},))
    for printed, words in (
        ("ideal\\nx1", "left out a prime"),
        ("ideal\\nx1\\nideal\\nx1+x2", "does not contain"),
        ("ideal\\nx1\\nideal\\nx2\\nideal\\nx1\\nx2", "not minimal"),
        ("", "no primes"),
    ):
        engine = fake("singular", f"print('begin answer\\n{printed}\\nend answer')")
        with pytest.raises(EngineAnswerError, match=words):
            engine.minimal_primes(cross)
    engine = fake("singular", "print('begin answer\\nx1\\nend answer')")
    with pytest.raises(EngineAnswerError, match="too large"):
        engine.radical(cross)
    engine = fake("singular", "print('begin answer\\nideal\\nx1\\nideal\\nx1\\nend answer')")
    with pytest.raises(EngineAnswerError, match="larger than the ideal"):
        engine.primary_components(cross)


def test_missing_programs_and_settings(monkeypatch, tmp_path):
    for name, program in PROGRAM.items():
        monkeypatch.setenv(SETTINGS[program], str(tmp_path / "absent"))
        with pytest.raises(EngineMissingError, match=SETTINGS[program]):
            ideal_engine(name)[0].groebner_basis(IDEAL)
    parts = {part.name: part for part in inventory()}
    for program in PROGRAM.values():
        assert not parts[program].works and SETTINGS[program] in parts[program].advice
    with pytest.raises(InputError, match="accepted are auto"):
        ideal_engine("maple")


def test_auto_names_the_engine_that_failed_and_its_substitute(fake):
    fake("singular", "os.abort()")
    found, how = first_answer(
        lambda engine: engine.eliminate(IDEAL, (0,)),
        ideal=IDEAL, need="elimination", limits=Limits(seconds=20),
    )  # fmt: skip
    assert found == FlintIdeals().eliminate(IDEAL, (0,))
    assert how.startswith("flint: ") and "Singular was ended by SIGABRT" in how
    with pytest.raises(EngineCrashedError):
        first_answer(lambda engine: engine.eliminate(IDEAL, (0,)), "singular", ideal=IDEAL)


def test_the_self_test_sees_a_canned_answer(fake):
    fake("singular", "print('begin answer\\nx2-3\\nx1-9\\nend answer')")
    part = _program("Singular", "passagemath-singular", "demo", "singular")
    assert not part.works and "self-test" in part.advice


@pytest.mark.parametrize(
    "body, error",
    [
        ("import os; os.abort()", EngineCrashedError),
        ("print('begin answer\\n{}\\nend answer')", EngineAnswerError),
        ("print('begin answer\\n[]\\nend answer')", EngineAnswerError),
        ('print(\'begin answer\\n{"basis": [[["1/0", [0, 0]]]]}\\nend answer\')', EngineAnswerError),
        ('print(\'begin answer\\n{"basis": [[["1/1", [0, -1]]]]}\\nend answer\')', EngineAnswerError),
        ('print(\'begin answer\\n{"basis": [[["1/1", [0]]]]}\\nend answer\')', EngineAnswerError),
        ("import time; time.sleep(60)", EngineTimeoutError),
    ],
)
def test_the_embedded_worker_may_fail_too(monkeypatch, body, error):
    monkeypatch.setattr(FlintIdeals, "command", lambda self: [sys.executable, "-c", body])
    for proof in (False, True):
        with pytest.raises(error):
            FlintIdeals(Limits(seconds=1)).groebner_basis(IDEAL, proof=proof)


def test_a_real_abort_of_flint_leaves_the_session_alive():
    """Memory beyond the limit makes FLINT abort; here it ends a child process only."""
    pairs = [(i, j) for i in range(6) for j in range(6) if i != j]
    cubics = [tuple(int(k == i) * 2 + (k == j) for k in range(6)) for i, j in pairs]
    big = Ideal(6, tuple({e: 1, (1,) * 6: -3, (0, 1, 2, 3, 1, 0): 5} for e in cubics))
    with pytest.raises(EngineError):
        FlintIdeals(Limits(seconds=30, memory=120 * 2**20)).groebner_basis(big)
    assert FlintIdeals().groebner_basis(IDEAL).degree == 3
