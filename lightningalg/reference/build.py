"""The reference as static HTML: pages by pdoc from docstrings, a start page by task, the command line's help.

Nothing is loaded from elsewhere: the pages work without a network, and from a folder.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from lightningalg.certificates.files import write_atomically
from lightningalg.errors import InputError, MissingExtraError
from lightningalg.reference.contents import GLOSSARY, TOPICS, documented_modules

#: docstrings have the same sections: as anchors these would occur many times on a page
_SECTION_HEADING = re.compile(
    r'<(h[1-6]) id="(?:parameters|attributes|returns|yields|raises|references|examples|notes)(?:-[0-9]+)?">'
)
#: in the start page: by it a later run knows its folder
_MARK = "<title>lightningalg: reference</title>"
TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class Entry:
    """A public name on the start page: how readers write it, where it is explained, what it promises."""

    name: str
    link: str
    promise: str
    is_class: bool


@dataclass(frozen=True, slots=True)
class CommandHelp:
    """A command of the command line with its ``--help``."""

    name: str
    help: str

    @property
    def anchor(self) -> str:
        """The name of its section."""
        return self.name.replace(" ", "-")


def public_items(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the public functions and classes of a module: ``__all__``, else those that it defines.

    Examples
    --------
    >>> from lightningalg.strata import orbits
    >>> sorted(name for name, _ in public_items(orbits))
    ['Stratum', 'attention_rows', 'representative', 'strata', 'stratum_of']
    """
    names = getattr(module, "__all__", None)
    if names is None:
        names = [
            name
            for name, item in vars(module).items()
            if not name.startswith("_") and getattr(item, "__module__", None) == module.__name__
        ]
    for name in names:
        item = getattr(module, name)
        if inspect.isfunction(item) or inspect.isclass(item):
            yield name, item


def first_sentence(item: object) -> str:
    """Return the first paragraph of a docstring on one line, without markup.

    Examples
    --------
    >>> first_sentence(first_sentence)
    'Return the first paragraph of a docstring on one line, without markup.'
    """
    text = (inspect.getdoc(item) or "").split("\n\n")[0]
    return " ".join(text.replace("``", "").split())


def build_reference(out: str | Path, commands: Sequence[CommandHelp]) -> list[Path]:
    """Write the reference into a folder and return the pages.

    Parameters
    ----------
    out
        Made if it does not exist; pages in it are replaced where it is a reference already.
    commands
        The help of the command line, for a page of its own.

    Raises
    ------
    InputError
        If the folder cannot be written to, or has something else than a reference in it.
    MissingExtraError
        If pdoc is not installed.
    """
    try:
        import pdoc
        import pdoc.doc
        import pdoc.render
    except ImportError:
        raise MissingExtraError.of("docs", "the reference needs pdoc") from None
    folder = Path(out)
    _check_folder(folder)
    names = documented_modules()
    _load_lazy_names()
    pdoc.render.configure(
        docformat="numpy", template_directory=TEMPLATES, footer_text="lightningalg", show_source=False
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of annotations that only type checkers resolve
        modules = {name: pdoc.doc.Module(import_module(name)) for name in names}
        pages = {
            f"{name.replace('.', '/')}.html": pdoc.render.html_module(module, modules)
            for name, module in modules.items()
        }
        pages["search.js"] = pdoc.render.search_index(modules)
    shared = {"all_modules": modules, "root_module_name": None}
    template = pdoc.render.env.get_template
    pages["index.html"] = template("start.html.jinja2").render(
        topics=[(topic, _entries(topic.modules)) for topic in TOPICS], glossary=GLOSSARY, **shared
    )
    pages["command-line.html"] = template("commands.html.jinja2").render(commands=commands, **shared)
    # the start page first: it says what the folder is, also if this run does not reach its end
    order = sorted(pages, key=lambda name: (name != "index.html", name))
    return sorted(_written(folder / name, pages[name]) for name in order)


def _check_folder(folder: Path) -> None:
    """Refuse a folder with something in it that is not a reference."""
    try:
        if not folder.is_dir() or not any(folder.iterdir()):
            return
        start = folder / "index.html"
        known = start.is_file() and _MARK in start.read_bytes()[: 2**20].decode("utf-8", "replace")
    except OSError:  # the message says it
        known = False
    if not known:
        raise InputError(
            f"folder {folder} has other files in it, or cannot be read: pages go into a new or empty folder, "
            f"such as {folder / 'reference'}, or over an earlier reference"
        )


def _load_lazy_names() -> None:
    """Put the names that the package loads when they are first used into it, where pdoc looks for them."""
    package = import_module("lightningalg")
    for name in package.__all__:
        vars(package).setdefault(name, getattr(package, name))


def _entries(modules: Sequence[str]) -> list[Entry]:
    """Return the start page's entries; names of the package itself are written ``la.name``."""
    package = import_module("lightningalg")
    found = []
    for path in modules:
        module = import_module(f"lightningalg.{path}")
        for name, item in public_items(module):
            short = name in package.__all__ and getattr(package, name) is item
            shown = f"la.{name}" if short else f"{path}.{name}"
            link = (
                f"lightningalg.html#{name}" if short else f"lightningalg/{path.replace('.', '/')}.html#{name}"
            )
            found.append(Entry(shown, link, first_sentence(item), inspect.isclass(item)))
    return sorted(found, key=lambda entry: not entry.name.startswith("la."))


def _written(path: Path, text: str) -> Path:
    text = _SECTION_HEADING.sub(r"<\1>", text).replace(str(Path(__file__).parents[2]), "...")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path.parent}: {error.strerror or error}") from None
    write_atomically(path, text)
    return path
