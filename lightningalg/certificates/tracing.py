"""Which lines of the checker run: ``python -I tracing.py VERIFIER CERT.json...``, standard library only.

The checker is loaded from its file, checks the certificate, and every line that runs is noted.  A statement
counts with all lines that it is written on, so that versions of Python which number lines differently agree.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import sys
from types import FrameType, ModuleType
from typing import Any

Lines = set[int]


def own_lines(statement: ast.stmt) -> Lines:
    """The lines of a statement without those of the statements in it."""
    end = statement.end_lineno or statement.lineno
    body = getattr(statement, "body", None)
    if isinstance(body, list) and body:
        end = max(statement.lineno, body[0].lineno - 1)
    return set(range(statement.lineno, end + 1))


def functions(tree: ast.Module) -> dict[str, list[Lines]]:
    """For every function and method the lines of its statements; inner functions belong to the outer one."""
    found: dict[str, list[Lines]] = {}

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                inner = [
                    child for child in ast.walk(node) if isinstance(child, ast.stmt) and child is not node
                ]
                documents = [
                    d.body[0]
                    for d in ast.walk(node)
                    if isinstance(d, ast.FunctionDef) and ast.get_docstring(d)
                ]
                found[prefix + node.name] = [own_lines(s) for s in inner if s not in documents]

    visit(tree.body, "")
    return found


def top_level(tree: ast.Module) -> int:
    """Number of lines of constants, tables and fields outside of functions."""
    lines: Lines = set()
    for node in tree.body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        for entry in inside:
            if isinstance(entry, (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom)):
                lines |= own_lines(entry)
    return len(lines)


def load(verifier: str) -> ModuleType:
    """The checker, as a module."""
    spec = importlib.util.spec_from_file_location("verifier", verifier)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["verifier"] = module
    spec.loader.exec_module(module)
    return module


def traced(module: ModuleType, verifier: str, certificate: str) -> tuple[Any, Lines]:
    """The verdict, and the lines that ran."""
    seen: Lines = set()

    def line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            seen.add(frame.f_lineno)
        return line

    def call(frame: FrameType, event: str, _: Any) -> Any:
        return line if frame.f_code.co_filename == verifier else None

    sys.settrace(call)
    try:
        verdict = module.check_file(certificate)
    finally:
        sys.settrace(None)
    return verdict, seen


def run(verifier: str, certificates: list[str]) -> list[dict[str, Any]]:
    """For each certificate the verdict, and for each function that ran: which lines did, how many it has."""
    with open(verifier, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    module, known = load(verifier), functions(tree)
    every = {name: set().union(*statements) for name, statements in known.items()}
    answers = []
    for certificate in certificates:
        verdict, seen = traced(module, verifier, certificate)
        reached = {}
        for name, statements in known.items():
            ran: Lines = set().union(*(own for own in statements if own & seen))
            if ran:
                reached[name] = [sorted(ran), len(every[name])]
        answers.append({
            **{name: getattr(verdict, name) for name in module.Verdict.__slots__},
            "functions": reached,
            "lines": sum(map(len, every.values())),
            "top_level": top_level(tree),
            "libraries": sorted({"numpy", "flint"} & set(sys.modules)),
        })  # fmt: skip
    return answers


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], sys.argv[2:])))
