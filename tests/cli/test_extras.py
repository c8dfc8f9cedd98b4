"""Without an extra, every command that needs it says which one, with the command that installs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import lightningalg.errors as module
from lightningalg.errors import MissingExtraError, install_command

SPEC = "[[family]]\nlayers = 1\nwidths = 2\nranks = 1\n"
CASES = {
    "picture": ("plots", "matplotlib", ["picture", "--widths", "2,1", "--ranks", "2", "--out", "u.svg"]),
    "Parquet": ("parquet", "pyarrow", ["sweep", "s.toml", "--store", "s.sqlite", "--export", "r.parquet"]),
    "dask": (
        "distributed",
        "distributed",
        ["sweep", "s.toml", "--store", "s.sqlite", "--scheduler", "tcp://127.0.0.1:9"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_command_without_its_extra(tmp_path, case):
    extra, library, arguments = CASES[case]
    (tmp_path / "s.toml").write_text(SPEC)
    code = f"import sys; sys.modules[{library!r}] = None; from lightningalg.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ") and library in line
    assert line.endswith(install_command(extra))
    if case == "Parquet":
        assert not (tmp_path / "s.sqlite").exists(), "said before the work, not after it"


def test_compiled_kernels_without_numba():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from lightningalg.engines.blocked_engine import BlockedElimination as B\n"
        "from lightningalg.errors import MissingExtraError\n"
        "try:\n    B(kernels='numba')\nexcept MissingExtraError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.rstrip().endswith(install_command("fast")), done


def test_the_command_names_this_python_and_what_pip_finds(monkeypatch):
    """pip asks no index for what is installed; a checkout that is not installed is named by its folder."""
    assert str(MissingExtraError.of("plots", "pictures need matplotlib")).startswith(
        "pictures need matplotlib, which is not installed: "
    )
    monkeypatch.setattr(module, "version", lambda name: "0.1.0")
    assert install_command("plots") == f'{sys.executable} -m pip install "lightningalg[plots]"'
    monkeypatch.setattr(sys, "executable", "/a folder/python")
    assert install_command("plots").startswith("'/a folder/python' -m pip ")

    def absent(name):
        raise module.PackageNotFoundError(name)

    monkeypatch.setattr(module, "version", absent)
    root = Path(module.__file__).parents[1]
    assert install_command("plots").endswith(f'-m pip install "{root}[plots]"')


def test_engines_that_are_absent_name_their_wheel(monkeypatch, tmp_path):
    from lightningalg.engines import programs
    from lightningalg.errors import EngineMissingError

    monkeypatch.setattr(programs, "find_program", lambda program, package: None)
    for engine, (program, package) in programs.PROGRAMS.items():
        with pytest.raises(EngineMissingError) as caught:
            programs.require_engine(engine)
        text = str(caught.value)
        assert text.startswith(f"{program} is not installed: ")
        assert f"{sys.executable} -m pip install {package}" in text and "LIGHTNINGALG_" in text
