"""Files and functions stay short; what is longer is named here, with the reason."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import lightningalg

PACKAGE = Path(lightningalg.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

MOST_LINES_OF_A_FILE = 450
MOST_LINES_OF_A_FUNCTION = 50
#: most functions are not longer than this, and so many may be
USUAL_LINES, SHARE_ABOVE = 15, 0.2

#: file: why it is longer
LONG_FILES = {
    "verifier.py": "one file that can be copied anywhere, and that shares no code with the package",
}
#: (file, function): why it is longer
LONG_FUNCTIONS: dict[tuple[str, str], str] = {}


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without decorators and docstring: what has to be read to follow it."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        lines -= (first.end_lineno or 0) - first.lineno + 1
    return lines


def functions(text: str) -> list[tuple[str, int]]:
    return [
        (node.name, length(node))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_files_and_functions_are_short(path):
    text = path.read_text()
    if name_of(path) not in LONG_FILES:
        assert text.count("\n") <= MOST_LINES_OF_A_FILE, "split it along meaning"
    long = {(name_of(path), name) for name, lines in functions(text) if lines > MOST_LINES_OF_A_FUNCTION}
    assert long <= set(LONG_FUNCTIONS), "name the steps, and split it"


def test_every_exception_is_needed_and_has_a_reason():
    for name in LONG_FILES:
        assert (PACKAGE / name).read_text().count("\n") > MOST_LINES_OF_A_FILE
    for name, function in LONG_FUNCTIONS:
        found = dict(functions((PACKAGE / name).read_text()))
        assert found[function] > MOST_LINES_OF_A_FUNCTION, (name, function)
    assert all(reason for reasons in (LONG_FILES, LONG_FUNCTIONS) for reason in reasons.values())


def test_most_functions_fit_in_a_few_lines():
    lengths = [lines for path in FILES for _, lines in functions(path.read_text())]
    assert sum(lines > USUAL_LINES for lines in lengths) <= SHARE_ABOVE * len(lengths)


def test_lengths_are_those_of_the_code():
    text = 'def f():\n    """Some\n\n    words.\n    """\n    return 1\n\n\n'
    text += "async def g():\n    return (\n        2\n    )\n"
    assert functions(text) == [("f", 2), ("g", 4)]
