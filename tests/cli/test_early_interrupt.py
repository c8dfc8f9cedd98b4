"""Ctrl-C while the program is still being loaded: one word at most, exit code 130, no traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

#: what the console script and ``python -m`` run, stopped by itself in the middle of the heavy imports
PROGRAM = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "{name}":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv = ["lightningalg", "--version"]
{start}
"""
STARTS = {
    "module": "import runpy; runpy.run_module('lightningalg', run_name='__main__')",
    "script": "from lightningalg.__main__ import main; sys.exit(main())",
}


@pytest.mark.parametrize(
    "name", ["lightningalg.cli.main", "click", "lightningalg.cli.supervise", "lightningalg.networks.spec"]
)
@pytest.mark.parametrize("start", STARTS)
def test_in_the_middle_of_an_import(start, name):
    program = PROGRAM.format(name=name, start=STARTS[start])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_the_package_itself_imports_next_to_nothing():
    program = (
        "import sys; old = set(sys.modules); import lightningalg.__main__; print(*set(sys.modules) - old)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert set(done.stdout.split()) <= {"lightningalg", "lightningalg.__main__", "signal", "_signal", "enum",
                                        "__future__", "types", "operator", "_operator", "functools",
                                        "_functools", "collections", "_collections", "_collections_abc",
                                        "itertools", "keyword", "reprlib", "builtins"}  # fmt: skip


def test_whenever_it_comes_no_traceback():
    """At any time after the interpreter's own start, which no program can catch."""
    for delay in (0.0, 0.02, 0.05, 0.1, 0.2):
        program = (
            "import sys, runpy; sys.argv = ['lightningalg', 'worksheet', 'list', '--json'];"
            "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]);"
            "import lightningalg.__main__ as m; m.signal.signal(signal.SIGINT, m._leave);"
            "print('here', file=sys.stderr, flush=True);"
            "signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT]); m.main()"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None and process.stderr.readline() == "here\n"
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert "Traceback" not in err and (process.returncode, err.strip()) in ((130, "interrupted"), (0, ""))


CALLBACK = """
import os, signal, sys, time
import lightningalg.cli.main as main
class Dropped:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
def busy():
    Dropped()
    time.sleep(20)
    raise AssertionError("never interrupted")
main.cli.main = lambda **options: busy()
sys.exit(main._run_here())
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this system")
def test_in_a_callback_that_drops_exceptions():
    """Python prints such exceptions and goes on: the interrupt comes again."""
    done = subprocess.run([sys.executable, "-c", CALLBACK], capture_output=True, text=True, timeout=15)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
