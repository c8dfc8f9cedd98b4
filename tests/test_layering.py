"""The import table of STYLE.md, checked on the syntax trees; imports inside functions count."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import lightningalg

PACKAGE = Path(lightningalg.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

CORE = {
    "errors",
    "arguments",
    "display",
    "temporary",
    "certificates",
    "networks",
    "builders",
    "engines",
    "maps",
}

#: the computations; none of them imports another
STUDIES = {"rank", "symmetry", "ideals", "strata", "fibres", "invariants"}

#: for each part of the package the other parts, and the third-party modules, that it may import
ALLOWED: dict[str, tuple[set[str], set[str]]] = {
    "errors": (set(), set()),
    "arguments": ({"errors"}, set()),
    "display": (set(), set()),
    "temporary": (set(), set()),
    "certificates": ({"errors", "arguments", "display"}, set()),
    "networks": ({"errors", "arguments", "display", "builders"}, {"networkx"}),
    "builders": ({"errors", "arguments", "networks"}, {"networkx"}),
    "engines": (
        {"errors", "arguments", "temporary"},
        {"sympy", "flint", "numpy", "numba", "llvmlite", "threadpoolctl"},
    ),
    "maps": (CORE, {"numpy"}),
    **dict.fromkeys(sorted(STUDIES), (CORE, {"numpy"})),
    "claims": (CORE | STUDIES, {"numpy"}),
    "worksheets": (CORE | STUDIES | {"claims", "render"}, {"numpy"}),
    "export": (CORE | {"symmetry"}, {"numpy", "jinja2"}),
    "sweeps": (CORE | STUDIES | {"claims", "worksheets"}, {"pebble", "distributed", "pyarrow"}),
    "render": (
        {"errors", "certificates", "temporary"},
        {"jinja2", "markupsafe", "latex2mathml", "matplotlib", "mpl_toolkits", "numpy"},
    ),
    # documented modules are imported by their names, to be shown
    "reference": ({"errors", "certificates"}, {"pdoc"}),
    "cli": (
        CORE | STUDIES | {"claims", "worksheets", "sweeps", "export", "render", "reference"},
        {"click", "rich"},
    ),
    "__main__": ({"cli"}, set()),
    "__init__": (CORE | STUDIES | {"claims"}, set()),
    "verifier": (set(), {"flint", "numpy"}),  # only where they may be absent: below
}

#: (file, imported module): the exceptions, each with its reason
EXCEPTIONS = {
    # Network.polynomial_map() is for users; the import waits until it is called
    ("networks/network.py", "lightningalg.maps.polynomial_map"),
    # for annotations only, under TYPE_CHECKING
    ("maps/polynomial_map.py", "sympy"),
}


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(tree: ast.AST, path: Path) -> list[tuple[str, int]]:
    """All modules a file imports anywhere, relative ones resolved, with the line."""
    package = ("lightningalg", *path.relative_to(PACKAGE).parts[:-1])
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) + 1 - node.level]) if node.level else ""
            module = ".".join(name for name in (base, node.module) if name)
            if module == "lightningalg":  # from lightningalg import builders
                found += [(f"lightningalg.{alias.name}", node.lineno) for alias in node.names]
            else:
                found.append((module, node.lineno))
    return found


def violations(path: Path, text: str) -> list[str]:
    parts, third_party = ALLOWED[part_of(path)]
    name = path.relative_to(PACKAGE).as_posix()
    wrong = []
    for module, line in imported(ast.parse(text), path):
        if (name, module) in EXCEPTIONS:
            continue
        top, _, rest = module.partition(".")
        if top == "lightningalg":
            other = rest.split(".")[0] or "__init__"
            fine = other == part_of(path) or other in parts
        else:
            fine = top in sys.stdlib_module_names or top in third_party
        if not fine:
            wrong.append(f"{name}:{line} imports {module}")
    return wrong


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_follow_the_table(path):
    assert part_of(path) in ALLOWED, (
        f"{path}: a new part of the package needs a row in this table and in STYLE.md"
    )
    assert not violations(path, path.read_text())


def test_every_exception_is_used():
    used = {
        (path.relative_to(PACKAGE).as_posix(), module)
        for path in FILES
        for module, _ in imported(ast.parse(path.read_text()), path)
    }
    assert used >= EXCEPTIONS


def test_the_check_finds_what_it_should():
    """Each line breaks the table in one file or another."""
    for name, line in [
        ("networks/base.py", "import sympy"),
        ("networks/base.py", "from lightningalg.maps import dual"),
        ("maps/dual.py", "def f():\n    import flint"),
        ("maps/dual.py", "from lightningalg import rank"),
        ("certificates/files.py", "import numpy"),
        ("certificates/files.py", "from ..networks import network"),
        ("errors.py", "from . import networks"),
        ("render/__init__.py", "from lightningalg.claims import base"),
        ("cli/main.py", "from lightningalg import verifier"),
        ("cli/main.py", "import lightningalg.verifier"),
        ("verifier.py", "from lightningalg.errors import InputError"),
        ("rank/gauge.py", "import scipy.linalg"),
        ("engines/choose.py", "from lightningalg.networks.network import Network"),
    ]:
        assert violations(PACKAGE / name, line), (name, line)
    assert not violations(
        PACKAGE / "networks/base.py", "from . import families\nfrom ..errors import InputError"
    )


def test_sympy_and_flint_are_imported_in_engines_only():
    importers = {"sympy": set(), "flint": set()}
    for path in FILES:
        for module, _ in imported(ast.parse(path.read_text()), path):
            name = path.relative_to(PACKAGE).as_posix()
            if module.split(".")[0] in importers and (name, module) not in EXCEPTIONS:
                importers[module.split(".")[0]].add(part_of(path))
    assert importers["sympy"] == {"engines"}
    assert importers["flint"] <= {"engines", "verifier"}


def test_exceptions_for_types_are_under_TYPE_CHECKING():
    tree = ast.parse((PACKAGE / "maps/polynomial_map.py").read_text())
    guarded = [
        node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    inside = [module for node in guarded for module, _ in imported(node, PACKAGE / "maps/polynomial_map.py")]
    everywhere = [module for module, _ in imported(tree, PACKAGE / "maps/polynomial_map.py")]
    assert inside.count("sympy") == everywhere.count("sympy") == 1


def optional_imports(tree: ast.AST) -> set[int]:
    """Lines of imports inside ``try`` with ``except ImportError``."""
    lines = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and any(
            handler.type is not None and "ImportError" in ast.unparse(handler.type)
            for handler in node.handlers
        ):
            lines |= {
                inner.lineno
                for statement in node.body
                for inner in ast.walk(statement)
                if hasattr(inner, "lineno")
            }
    return lines


def test_the_verifier_needs_the_standard_library_only():
    path = PACKAGE / "verifier.py"
    tree = ast.parse(path.read_text())
    optional = optional_imports(tree)
    for module, line in imported(tree, path):
        if module.split(".")[0] not in sys.stdlib_module_names:
            assert line in optional, f"verifier.py:{line} imports {module} outside try/except ImportError"


def test_nothing_imports_the_verifier():
    for path in FILES:
        modules = [module for module, _ in imported(ast.parse(path.read_text()), path)]
        assert "lightningalg.verifier" not in modules, path
        assert '"lightningalg.verifier"' not in path.read_text(), path  # import_module


# -- what is loaded ---------------------------------------------------------------------------


def loaded_after(code: str) -> set[str]:
    """Top-level modules that a fresh interpreter has loaded after running ``code``."""
    program = f"{code}\nimport sys\nprint(' '.join({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    return set(done.stdout.splitlines()[-1].split())


def test_import_is_light():
    loaded = loaded_after("import lightningalg")
    assert "lightningalg" in loaded
    assert not loaded & {
        "sympy",
        "matplotlib",
        "numpy",
        "flint",
        "numba",
        "scipy",
        "pandas",
        "jinja2",
        "click",
        "rich",
    }


def test_dimension_loads_neither_sympy_nor_matplotlib():
    code = """
import lightningalg as la
assert la.dimension(la.lightning((4, 2, 4), (2, 1))).value == 25
assert la.dimension(la.monomial((2, 3, 3))).value == 9
la.dimension(la.transformer({"dim": 4, "n_heads": 2, "n_layers": 1})).to_json()
"""
    loaded = loaded_after(code)
    assert {"numpy", "flint"} <= loaded
    assert not loaded & {"sympy", "matplotlib", "scipy", "pandas", "jinja2", "numba"}


def test_the_command_line_starts_without_algebra_systems():
    loaded = loaded_after("import lightningalg.cli.main")
    assert not loaded & {"sympy", "matplotlib", "scipy", "pandas", "numba", "flint"}
