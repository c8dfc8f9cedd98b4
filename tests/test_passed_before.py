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
    "starts": "import subprocess, sys\ndef test_a(): subprocess.run([sys.executable, '-c', ''])\n",
    "checks": "import subprocess, sys\nfrom lightningalg import verifier\n"
    "def test_a(): subprocess.run([sys.executable, verifier.__file__, '-h'], stdout=subprocess.DEVNULL)\n",
    "fixture": "import pytest, os\n@pytest.fixture(scope='module')\ndef child():\n    pid = os.fork()\n"
    "    if not pid: os._exit(0)\n    os.waitpid(pid, 0)\ndef test_a(child): pass\n",
    "names": "def test_a(): assert 'pyarrow'\n",
    "bare": "import subprocess, sys\ndef test_a(): subprocess.run([sys.executable, '-I', '-S', '-c', ''])\n",
    "two": "import subprocess, sys\ndef test_a(): subprocess.run([sys.executable, '-c', ''])\n"
    "def test_b(): pass\nTABLE = {1: 2}\n",
    "says": "def test_a(): pass\ndef test_b(): assert 'pyarrow'\n",
    "says_outside": "def test_a(): pass\nNAME = 'pyarrow'\n",
    "cached": "import functools, subprocess, sys\n@functools.cache\ndef child():\n"
    "    return subprocess.run([sys.executable, '-c', ''])\n"
    "def test_a(): child()\ndef test_b(): child()\n",
    "kept": "import subprocess, sys\nKEPT = {}\n"
    "def test_a(): KEPT[0] = subprocess.run([sys.executable, '-c', ''])\n"
    "def test_b(): assert len(KEPT) < 2\n",
    "shared": "import pytest, subprocess, sys\n@pytest.fixture(scope='module')\ndef one(): return []\n"
    "@pytest.fixture(scope='session')\ndef other(): return []\n"
    "def test_a(one): subprocess.run([sys.executable, '-c', ''])\n"
    "def test_b(one, other): pass\ndef test_c(other): pass\ndef test_d(tmp_path_factory): pass\n",
    "turns": "import pytest, subprocess, sys\n@pytest.mark.parametrize('n', [0, 1])\n"
    "def test_a(n):\n    if n: subprocess.run([sys.executable, '-c', ''])\n",
    "ends": "import pytest, subprocess, sys\n@pytest.fixture\ndef end():\n    yield\n"
    "    subprocess.run([sys.executable, '-c', ''])\n"
    "def test_a(): pass\ndef test_b(end): pass\n",
    "skips": "import unittest\ndef test_a(): raise unittest.SkipTest('absent')\ndef test_b(): pass\n",
}
LEFT_OUT = {
    "plain::test_a",
    "plain::test_b",
    "a_few::test_a",
    "checks::test_a",
    "bare::test_a",
    "skips::test_b",
    "two::test_b",
    "says::test_a",
    "shared::test_d",
    "turns::test_a[0]",
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


def names(listed):
    """The names of tests as in ``LEFT_OUT``, each once."""
    found = [line.removeprefix("test_").replace(".py", "") for line in listed.splitlines() if "::" in line]
    assert len(found) == len(set(found)) > 20
    return set(found)


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_what_is_not_run_again(tmp_path, workers):
    for name, text in FILES.items():
        (tmp_path / f"test_{name}.py").write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    plugin = ("-p", "tests.passed_before")
    run(tmp_path, *plugin, "--passed-to", "notes.json", "-n", str(workers))
    again = run(tmp_path, *plugin, "--not-again", "notes.json", "--collect-only")
    everything = names(run(tmp_path, "--collect-only"))
    assert names(again) == everything - LEFT_OUT
    notes = json.loads((tmp_path / "notes.json").read_text())
    assert notes["state"] == state()
    (tmp_path / "notes.json").write_text(json.dumps({**notes, "state": "of other code"}))
    again = run(tmp_path, *plugin, "--not-again", "notes.json", "--collect-only")
    assert names(again) == everything
