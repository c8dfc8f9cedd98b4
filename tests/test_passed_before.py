"""The plugin that leaves tests out of CI's second run: only what has passed and comes near no extra."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from .passed_before import ROOT, state

#: their names are the order in which they run: after many eliminations numba would be there for all others
FILES = {
    "plain": "def test_a(): pass\ndef test_b(): assert 1 + 1 == 2\n",
    "imports": "def test_a():\n    try: __import__('athe' + 'ris')\n    except ImportError: pass\n",
    "asks": "from importlib.metadata import version\ndef test_a():\n"
    "    try: version('pass' + 'agemath-msolve')\n    except ImportError: pass\n",
    "finds": "from lightningalg.engines.programs import is_installed\ndef test_a(): is_installed('msolve')\n",
    "eliminates": "def test_a():\n    from lightningalg.engines.blocked_engine import _KernelChoice\n"
    "    _KernelChoice().kernels(10**6, 10**6)\n",
    "a_few": "def test_a():\n    from lightningalg.engines.blocked_engine import _KernelChoice\n"
    "    _KernelChoice().kernels(9, 9)\n",
    "starts": "import subprocess, sys\ndef test_a(): subprocess.run([sys.executable, '-c', ''])\n"
    "def test_b(): pass\n",
    "checks": "import subprocess, sys\nfrom lightningalg import verifier\n"
    "def test_a(): subprocess.run([sys.executable, verifier.__file__, '-h'], stdout=subprocess.DEVNULL)\n",
    "fixture": "import pytest, os\n@pytest.fixture(scope='module')\ndef child():\n    pid = os.fork()\n"
    "    if not pid: os._exit(0)\n    os.waitpid(pid, 0)\ndef test_a(child): pass\n",
    "names": "def test_a(): assert 'pyarrow'\n",
    "bare": "import subprocess, sys\ndef test_a(): subprocess.run([sys.executable, '-I', '-S', '-c', ''])\n",
    "skips": "import unittest\ndef test_a(): raise unittest.SkipTest('absent')\ndef test_b(): pass\n",
}
LEFT_OUT = {
    "plain::test_a",
    "plain::test_b",
    "a_few::test_a",
    "checks::test_a",
    "bare::test_a",
    "skips::test_b",
}

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")


def run(folder, *options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_what_is_not_run_again(tmp_path, workers):
    for name, text in FILES.items():
        (tmp_path / f"test_{name}.py").write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    plugin = ("-p", "tests.passed_before")
    run(tmp_path, *plugin, "--passed-to", "notes.json", "-n", str(workers))
    again = run(tmp_path, *plugin, "--not-again", "notes.json", "--collect-only")
    found = {line for line in again.splitlines() if "::" in line}
    everything = {f"{name}::test_a" for name in FILES} | {
        f"{name}::test_b" for name, text in FILES.items() if "test_b" in text
    }
    assert {line.removeprefix("test_").replace(".py", "") for line in found} == everything - LEFT_OUT
    notes = json.loads((tmp_path / "notes.json").read_text())
    assert notes["state"] == state()
    (tmp_path / "notes.json").write_text(json.dumps({**notes, "state": "of other code"}))
    again = run(tmp_path, *plugin, "--not-again", "notes.json", "--collect-only")
    assert sum("::" in line for line in again.splitlines()) == len(everything)
