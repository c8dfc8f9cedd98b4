"""The reference: every public name is there, every link leads somewhere, nothing comes from elsewhere."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest

import lightningalg as la
from lightningalg.cli.main import _COMMANDS, cli
from lightningalg.cli.reference import all_helps
from lightningalg.reference.build import public_items
from lightningalg.reference.contents import TOPICS, documented_modules
from tests.cli.support import call

pdoc = pytest.importorskip("pdoc")

#: pages that readers may follow on purpose; nothing is loaded from them
OUTSIDE = ("https://pdoc.dev",)


#: the only names with an underscore: how objects are made, and how maps are evaluated
SHOWN = ("__init__", "__call__")


class Page(HTMLParser):
    """Links, anchors and loaded resources of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.loaded = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "id" in found:
            self.anchors.append(found["id"])
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in ("script", "img", "iframe", "source") and "src" in found:
            self.loaded.append(found["src"])
        if tag == "link":
            self.loaded.append(found["href"])


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The reference, as the command writes it."""
    from lightningalg.cli.main import run

    folder = tmp_path_factory.mktemp("reference") / "out"
    assert run(["reference", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def pages(built):
    return {path: Page(path.read_text(encoding="utf-8")) for path in sorted(built.rglob("*.html"))}


def test_every_public_name_has_its_place(built, pages):
    assert set(pages[built / "lightningalg.html"].anchors) >= set(la.__all__)
    start = set(pages[built / "index.html"].links)
    for name in documented_modules()[1:]:
        path = f"{name.replace('.', '/')}.html"
        for item, value in public_items(import_module(name)):
            assert item in pages[built / path].anchors, (name, item)
            short = getattr(la, item, None) is value and item in la.__all__
            assert f"lightningalg.html#{item}" in start if short else f"{path}#{item}" in start, (name, item)


def test_every_name_of_the_package_is_under_a_task(built, pages):
    start = pages[built / "index.html"].links
    for name in la.__all__:
        assert f"lightningalg.html#{name}" in start, name


def test_all_links_resolve(built, pages):
    anchors = {path: set(page.anchors) for path, page in pages.items()}
    count = 0
    for path, page in pages.items():
        assert len(page.anchors) == len(set(page.anchors)), f"{path}: an anchor occurs twice"
        for link in page.links:
            if link.startswith(OUTSIDE):
                continue
            target = urlsplit(urljoin(path.as_uri(), link))
            assert target.scheme == "file", (path, link)
            file = Path(unquote(target.path))
            assert file in anchors, (path, link)
            assert not target.fragment or unquote(target.fragment) in anchors[file], (path, link)
            count += 1
    assert count > 1000


def test_nothing_is_loaded_from_elsewhere(built, pages):
    for path, page in pages.items():
        for source in page.loaded:
            assert not urlsplit(source).scheme or source.startswith("data:"), (path, source)
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"@import|url\(\s*['\"]?https?:", text), path
        assert "MathJax" not in text


def test_private_names_are_hidden(built, pages):
    for path, page in pages.items():
        for anchor in page.anchors:
            names = [part for part in re.split(r"[.-]", anchor) if part.startswith("_") and part not in SHOWN]
            assert not names, (path, anchor)
    assert not any(path.stem.startswith("_") for path in pages)


def test_pages_read_the_same_everywhere(built):
    """No machine's folders, no memory addresses: two builds differ in nothing."""
    for path in built.rglob("*"):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"0x[0-9a-f]{8,}", text), path
            assert str(Path(la.__file__).parents[1]) not in text, path


def test_docstring_sections_are_rendered(built):
    text = unescape((built / "lightningalg.html").read_text(encoding="utf-8"))
    for heading in ("Parameters", "Raises", "References", "Examples"):
        assert re.search(rf"<h[1-6]>{heading}", text), heading
    assert "gl_2 x gl_2 x gl_2 x torus^2" in text


def test_the_command_line_is_in_it(built, pages):
    anchors = pages[built / "command-line.html"].anchors
    assert {f"lightningalg-{name}" for name in _COMMANDS} <= set(anchors)
    assert "lightningalg-worksheet-run" in anchors
    text = unescape((built / "command-line.html").read_text(encoding="utf-8"))
    for name, help_text in all_helps(cli):
        assert help_text in text, name
        assert f"Usage: {name}" in help_text
    assert "--widths" in text and "--timeout" in text


def test_every_documented_module_exists_once():
    names = documented_modules()
    assert len(set(names)) == len(names)
    for name in names:
        assert import_module(name).__doc__, name
    assert all(topic.text.endswith(".") for topic in TOPICS)


def test_the_command_answers_in_json_and_refuses_a_file(tmp_path, capfd, built):
    blocked = tmp_path / "file"
    blocked.write_text("kept")
    call(capfd, "reference", "--out", blocked / "inside").refuses("file")
    assert blocked.read_text() == "kept"
    call(capfd, "reference").refuses("--out")


def test_a_folder_with_other_files_is_left_alone(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("index.html", "notes.txt"):
        (tmp_path / name).write_text("<title>mine</title>")
        call(capfd, "reference", "--out", ".").refuses("other files", "reference")
        assert [path.read_text() for path in tmp_path.iterdir()] == ["<title>mine</title>"]
        (tmp_path / name).unlink()


def test_an_earlier_reference_is_replaced(built, tmp_path):
    from lightningalg.reference.build import _check_folder

    _check_folder(built)
    (tmp_path / "index.html").write_bytes((built / "index.html").read_bytes())  # killed after the first page
    _check_folder(tmp_path)
    _check_folder(tmp_path / "new")


def test_without_pdoc_the_extra_is_named(tmp_path, capfd, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pdoc", None)
    call(capfd, "reference", "--out", tmp_path / "r").refuses("lightningalg[docs]")


@pytest.mark.slow
def test_a_second_build_is_the_same(built, tmp_path, capfd):
    answer = call(capfd, "reference", "--out", tmp_path / "again", "--json")
    files = {path.relative_to(built) for path in built.rglob("*") if path.is_file()}
    assert answer.json == {"pages": len(files), "start": str(tmp_path / "again" / "index.html")}
    for name in files - {Path("search.js")}:
        assert (built / name).read_bytes() == (tmp_path / "again" / name).read_bytes(), name
    assert json.loads(json.dumps(sorted(map(str, files))))
