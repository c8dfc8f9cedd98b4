"""Docstrings of everything in the reference have the sections that apply."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from importlib import import_module

import pytest

import lightningalg as la
from lightningalg import errors
from lightningalg.reference.build import public_items
from lightningalg.reference.contents import GLOSSARY, documented_modules

#: first words that say what comes out; "Whether" and nouns are for properties
RETURNS = re.compile(r"\b(Returns?|Yields?|Whether|return|returned|gives)\b")
EXPLAINED = {name.strip() for names in GLOSSARY for name in names.split(",")} | {"self", "cls"}


def plain(item):
    """The function behind a method, a property or a cached property."""
    for attribute in ("fget", "__func__", "func"):
        item = getattr(item, attribute, None) or item
    return inspect.unwrap(item) if callable(item) else item


def documented():
    """Yield name, item and whether it is a member of a class, of everything in the reference."""
    seen = set()
    for module_name in documented_modules():
        for name, item in public_items(import_module(module_name)):
            if item in seen:
                continue
            seen.add(item)
            full = f"{item.__module__}.{name}"
            yield full, item, False
            if inspect.isclass(item):
                for key, member in vars(item).items():
                    if not key.startswith("_") and inspect.isfunction(plain(member)):
                        yield f"{full}.{key}", member, True


ITEMS = list(documented())
FUNCTIONS = [(name, plain(item), item) for name, item, _ in ITEMS if not inspect.isclass(item)]


def text_of(function):
    return inspect.getdoc(function) or ""


def section(text, name):
    """The text of a section, or None."""
    found = re.search(rf"^{name}\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", text, re.M | re.S)
    return found and found.group(1)


def without_dynamic_parts(function):
    return ast.parse(textwrap.dedent(inspect.getsource(function)))


def raised(function) -> set[str]:
    """Names of the package's errors that a function raises itself."""
    found = set()
    for node in ast.walk(without_dynamic_parts(function)):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            name = node.exc.func.id if isinstance(node.exc.func, ast.Name) else ""
            if isinstance(getattr(errors, name, None), type):
                found.add(name)
    return found


def lineage(name: str) -> set[str]:
    return {base.__name__ for base in getattr(errors, name).__mro__ if base.__module__ == errors.__name__}


def test_there_is_much_to_check():
    assert len(ITEMS) > 400 and len(FUNCTIONS) > 250


def test_everything_has_a_docstring():
    missing = [name for name, item, _ in ITEMS if not text_of(item if inspect.isclass(item) else plain(item))]
    assert not missing


def test_functions_say_what_they_return():
    missing = []
    for name, function, item in FUNCTIONS:
        result = inspect.signature(function).return_annotation
        is_value = isinstance(item, property) or hasattr(item, "func")
        if result not in (None, "None") and not is_value and not RETURNS.search(text_of(function)):
            missing.append(name)
    assert not missing


def test_functions_say_what_they_raise():
    missing = []
    for name, function, _ in FUNCTIONS:
        for error in raised(function):
            stated = section(text_of(function), "Raises") or ""
            if not any(base in stated for base in lineage(error) - {"LightningAlgError"} | {error}):
                missing.append(f"{name}: {error}")
    assert not missing


def test_parameters_are_explained():
    """In the docstring, or among those that mean the same everywhere."""
    missing = []
    for name, function, _ in FUNCTIONS:
        for parameter in inspect.signature(function).parameters:
            mentioned = re.search(rf"\b{re.escape(parameter)}\b", text_of(function))
            if parameter not in EXPLAINED and not mentioned:
                missing.append(f"{name}: {parameter}")
    assert not missing


def test_functions_of_the_package_have_all_sections():
    missing = []
    for name in la.__all__:
        item = getattr(la, name)
        if not inspect.isfunction(item):
            continue
        text = text_of(item)
        listed = section(text, "Parameters") or ""
        for parameter in inspect.signature(item).parameters:
            if (
                not re.search(rf"^(?:.*, )?{parameter}(?:,.*)?$", listed, re.M)
                and f"``{parameter}``" not in text
            ):
                missing.append(f"{name}: parameter {parameter}")
        missing += [f"{name}: {title}" for title in ("Raises", "Examples") if section(text, title) is None]
        if not text.startswith("Return "):
            missing.append(f"{name}: does not begin with Return")
    assert not missing


#: these need TeX, which not every machine has
WITHOUT_EXAMPLE = {
    "lightningalg.render.latex.compile.compile_pdf",
    "lightningalg.render.latex.compile.compile_with_log",
}


@pytest.mark.parametrize("kind", ["function", "class of the package"])
def test_there_are_examples(kind):
    """They are doctests: pytest runs all of them."""
    if kind == "function":
        items = [(name, item) for name, item, member in ITEMS if inspect.isfunction(item) and not member]
    else:
        items = [(name, getattr(la, name)) for name in la.__all__ if inspect.isclass(getattr(la, name))]
        items = [(name, item) for name, item in items if name not in ("LightningAlgError",)]
    missing = [name for name, item in items if ">>>" not in text_of(item)]
    if kind == "function":
        assert set(missing) >= WITHOUT_EXAMPLE
        missing = sorted(set(missing) - WITHOUT_EXAMPLE)
    assert not missing
