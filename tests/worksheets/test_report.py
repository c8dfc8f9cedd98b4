"""The report of a run: what it says, where it points, and what it refuses."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

import lightningalg as la
from lightningalg.errors import InputError
from lightningalg.render.html import render_report
from lightningalg.render.html.charts import Point, scatter
from lightningalg.render.html.graph import GraphNode, layered_graph
from lightningalg.render.html.matrices import pattern, strata_diagram
from lightningalg.worksheets.figures import certificate_figures
from lightningalg.worksheets.model import read_worksheet
from lightningalg.worksheets.report import read_report
from tests.cli.support import call

WORKSHEET = """
title = "Small layers"
source = "MATH.md section 3"

[[claim]]
id = "dimension"
kind = "dimension"
title = "Dimension <script>alert(1)</script> & more"
statement = "It is 2ad + d^2 - a^2 - 1."
expected = "2*a*d + d^2 - a^2 - 1"
hypotheses = ["an untested hypothesis"]
uses = ["small/degrees", "elsewhere/claim"]
grid = { d = "1..3", a = "1..3" }
where = "a <= d"
network = { kind = "lightning", widths = ["d", "d"], ranks = ["a"], tokens = 2 }

[[claim]]
id = "degrees"
kind = "degrees"
expected = 3
network = { kind = "lightning", widths = [2, 2], ranks = [1], tokens = 2 }

[[claim]]
id = "wrong"
kind = "dimension"
expected = 99
network = { kind = "lightning", widths = [2, 2], ranks = [1], tokens = 2 }
"""


@pytest.fixture
def run(small_run, tmp_path) -> Path:
    return Path(shutil.copytree(small_run, tmp_path / "out"))


class Page(HTMLParser):
    """Tags with attributes, texts and links of a page; unbalanced tags are an error."""

    VOID = frozenset({"meta", "link", "input", "br", "hr", "img", "wbr"})

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.text = ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    @property
    def ids(self) -> list[str]:
        found = [attributes["id"] for _, attributes in self.tags if "id" in attributes]
        assert len(found) == len(set(found)), "an id occurs twice"
        return found

    @property
    def links(self) -> list[str]:
        found = [attributes.get(key) for _, attributes in self.tags for key in ("href", "src", "data")]
        return [link for link in found if link]


def pages(run: Path) -> dict[str, Page]:
    files = render_report(read_report(run))
    return {name: Page(text) for name, text in files.items() if name.endswith(".html")}


def test_a_run_becomes_an_index_and_a_page_for_each_claim(run):
    found = pages(run)
    assert set(found) == {
        "index.html",
        "claims/small--dimension.html",
        "claims/small--degrees.html",
        "claims/small--wrong.html",
    }
    index = found["index.html"]
    assert "3 claims in 1 worksheets, 8 certificates" in " ".join(index.text.split())
    assert "certified with hypotheses" in index.text and "refuted" in index.text


def test_every_link_leads_to_a_file_that_is_there(run):
    assert call_report(run, "--no-slices")["pages"] == 6
    for file in (run / "report").rglob("*.html"):
        for link in Page(file.read_text("utf-8")).links:
            if link.startswith(("https://arxiv.org/", "https://doi.org/")):
                continue  # a reference of a proof, followed only if the reader wants
            assert "://" not in link and not link.startswith("/"), "pages are offline and can be moved"
            target, _, fragment = unquote(link).partition("#")
            there = (file.parent / target).resolve() if target else file
            assert there.is_file(), (file, link)
            if fragment and "=" not in fragment:
                assert fragment in Page(there.read_text("utf-8")).ids, (file, link)


def test_pages_load_nothing_from_elsewhere(run):
    for page in pages(run).values():
        loaded = [
            a.get("src") or a.get("href")
            for tag, a in page.tags
            if tag in ("script", "link", "img", "object")
        ]
        assert loaded and all("://" not in str(link) for link in loaded)
        (policy,) = [a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"]
        assert policy.startswith("default-src 'none'") and "http" not in policy and "unsafe" not in policy
        assert not [a for _, a in page.tags if any(key.startswith("on") or key == "style" for key in a)]


def call_report(run: Path, *more: str) -> dict:
    from lightningalg.cli.main import run as command

    assert command(["report", str(run), *more]) == 0
    return {"pages": sum(1 for path in (run / "report").rglob("*") if path.is_file())}


def test_the_command_says_where_the_report_is(run, capfd):
    answer = call(capfd, "report", run, "--json", "--no-slices")
    assert answer.code == 0
    assert Path(answer.json["index"]).is_file() and answer.json["claims"] == 3


def test_statements_formulas_and_relations_between_claims(run):
    page = pages(run)["claims/small--dimension.html"]
    assert "math" in [tag for tag, _ in page.tags]
    assert "an untested hypothesis" in page.text
    assert "elsewhere/claim" in page.text  # named, though it was not run
    assert "small--degrees.html" in page.links
    assert "small--dimension.html" in pages(run)["claims/small--degrees.html"].links


def test_texts_of_worksheets_are_escaped(run):
    raw = render_report(read_report(run))
    assert all("<script>alert" not in text for text in raw.values())
    assert "alert(1)" in pages(run)["index.html"].text


def test_the_command_to_check_names_the_file(run):
    page = pages(run)["claims/small--degrees.html"]
    commands = re.findall(r"lightningalg verify (small/\S+?\.json)", page.text)
    assert len(set(commands)) == 1 + 1  # the file, and all files of the claim
    assert [(run / name).is_file() for name in commands if "*" not in name] == [True]


def test_the_page_shows_bounds_and_what_was_expected(run):
    page = pages(run)["claims/small--wrong.html"]
    cells = [a.get("data-label") for tag, a in page.tags if tag == "td"]
    assert "expected" in cells and "dimension" in cells
    assert "99" in page.text and "5" in page.text


def alter(run: Path, change) -> None:
    path = run / "summary.json"
    summary = json.loads(path.read_text())
    change(summary)
    path.write_text(json.dumps(summary))


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda s: s.pop("claims"), '"claims"'),
        (lambda s: s.update(claims=[1]), "no object"),
        (lambda s: s["claims"][0].update(id=7), '"id"'),
        (lambda s: s["claims"][0].update(id="../../x"), "not a name"),
        (lambda s: s["claims"][0].update(proof="../../../etc/passwd"), "leads out"),
        (lambda s: s["claims"][0].update(proof="/etc/passwd"), "leads out"),
        (lambda s: s["claims"][0].update(title=["x"]), '"title"'),
        (lambda s: s["claims"][0]["instances"][0].update(certificate="../cert.json"), "leads out"),
        (lambda s: s["claims"][0]["instances"][0].update(seconds="x"), '"seconds"'),
        (lambda s: s["claims"].append(s["claims"][0]), "share"),
        (lambda s: s.update(complete=1), '"complete"'),
        (
            lambda s: s["claims"][2].update(verdict="certified", declared="certified"),
            "instances say 'refuted'",
        ),
        (lambda s: s["claims"][0].update(verdict="certified", hypotheses=[], instances=[]), "say 'open'"),
        (lambda s: s["claims"][1].update(verdict="certified with hypotheses"), "instances say 'certified'"),
        (lambda s: s["claims"][1]["instances"][0].update(verdict="'><x>"), "an instance has the verdict"),
        (lambda s: s["claims"][1]["instances"][0].update(verified=None), "without a verified certificate"),
    ],
)
def test_an_altered_summary_is_refused_with_its_field(run, change, word, capfd):
    alter(run, change)
    call(capfd, "report", run, "--no-slices").refuses("summary.json", word)
    assert not (run / "report").exists()


def test_markup_in_an_altered_summary_is_escaped(run):
    def change(summary):
        claim = summary["claims"][0]
        claim.update(expected="<img src=x onerror=alert(2)>", check="</p><script>", declared='"><script>')
        claim["instances"][0].update(name="<b>", reason="<script>", strength="<i>", dimension="'><x>")

    alter(run, change)
    raw = "".join(text for name, text in render_report(read_report(run)).items() if name.endswith("html"))
    assert (
        "<img" not in raw
        and "<script>" not in raw
        and "<x>" not in raw
        and "<b>" + "<" not in raw
        and not [name for name in ("<b></", "<i>") if name in raw]
    )


def test_missing_files_of_a_run_are_not_linked(run):
    for path in (run / "small").rglob("*.json"):
        path.unlink()
    page = pages(run)["claims/small--degrees.html"]
    assert not [link for link in page.links if link.endswith(".json")]


def test_no_run(tmp_path, capfd):
    call(capfd, "report", tmp_path).refuses("summary.json", "No such file", "worksheet run --out")


def test_interrupted_runs_say_so(run):
    alter(run, lambda summary: summary.update(complete=False))
    assert "interrupted" in pages(run)["index.html"].text


def test_a_wrong_use_is_refused(tmp_path):
    path = tmp_path / "w.toml"
    path.write_text(WORKSHEET.replace('"elsewhere/claim"', '"no key"'))
    with pytest.raises(InputError, match='"uses"'):
        read_worksheet(path)


# -- charts -----------------------------------------------------------------------------------


def shapes(svg: str, tag: str) -> list[dict]:
    return [attributes for name, attributes in Page(svg).tags if name == tag]


def test_points_lie_where_their_numbers_say():
    svg = scatter([Point(10, 10, "a", "on"), Point(100, 10, "b", "below")], "T", "x", "y")
    on, below = shapes(svg, "circle")
    diagonal, _ = [line for line in shapes(svg, "line") if line["class"] == "diagonal"]  # and the legend's
    x1, y1, x2, y2 = (float(diagonal[key]) for key in ("x1", "y1", "x2", "y2"))
    slope = (y2 - y1) / (x2 - x1)

    def height(point):
        return float(point["cy"]) - (y1 + slope * (float(point["cx"]) - x1))

    assert abs(height(on)) < 0.2
    assert height(below) > 20  # further down on the page
    assert on["cy"] == below["cy"]


def test_every_edge_of_a_graph_goes_to_the_right():
    nodes = [GraphNode(name, name) for name in "dbca"]
    svg = layered_graph(nodes, [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")], "T")
    left = {}
    for (_, rect), (_, label) in zip(
        [t for t in Page(svg).tags if t[0] == "rect"],
        [t for t in Page(svg).tags if t[0] == "text"],
        strict=True,
    ):
        left[label["x"]] = float(rect["x"])
    assert len(set(left.values())) == 4
    assert len(shapes(svg, "path")) == 1 + 4


def test_a_long_edge_passes_the_boxes_between_its_ends():
    nodes = [GraphNode(name, name) for name in "abc"]
    svg = layered_graph(nodes, [("a", "b"), ("b", "c"), ("a", "c")], "T")
    box = {g["id"]: r for g, r in zip([{"id": n} for n in "abc"], shapes(svg, "rect"), strict=True)}["b"]
    top, bottom = float(box["y"]), float(box["y"]) + float(box["height"])
    (lane,) = [path["d"] for path in shapes(svg, "path") if " L" in path["d"] and " C" in path["d"]]
    height = float(lane.partition(" L")[2].split()[1])
    assert not top <= height <= bottom


def test_boxes_of_a_graph_do_not_overlap_and_long_titles_are_wrapped():
    nodes = [
        GraphNode(f"n{i}", "a title of many words that does not fit into one line" * (i % 3), "note")
        for i in range(9)
    ]
    svg = layered_graph(nodes, [("n0", f"n{i}") for i in range(1, 9)], "T")
    boxes = [tuple(float(r[k]) for k in ("x", "y", "width", "height")) for r in shapes(svg, "rect")]
    for i, (x, y, w, h) in enumerate(boxes):
        for u, v, a, b in boxes[:i]:
            assert x + w < u or u + a < x or y + h < v or v + b < y


def test_cycles_do_not_hang():
    assert "<svg" in layered_graph([GraphNode("a", "a"), GraphNode("b", "b")], [("a", "b"), ("b", "a")], "T")


def test_a_pattern_has_one_square_for_each_entry():
    svg = pattern([[True, False, True], [False, False, True]], {"Q": (0, 2), "V": (2, 3)}, "T")
    assert sum(rect["class"] == "entry" for rect in shapes(svg, "rect")) == 3


def test_strata_stand_where_their_ranks_say():
    svg = strata_diagram(
        [(0, 0, 0, "refuted"), (1, 1, 0, "certified"), (1, 1, 1, "refuted"), (2, 1, 1, "a")], "T"
    )
    zero, first, second, above = sorted(
        shapes(svg, "circle"), key=lambda c: (-float(c["cy"]), float(c["cx"]))
    )
    assert float(zero["cy"]) > float(first["cy"]) == float(second["cy"]) > float(above["cy"])
    assert float(zero["cx"]) < float(first["cx"]) < float(second["cx"])


def test_certificates_on_strata_have_a_diagram():
    net = la.lightning((2, 1), (1,))
    figures = certificate_figures(la.singular_points(net).to_json(), "small")
    assert "Diamonds: singular; rings: smooth" in figures[0].caption
    marks = figures[0].svg.count('"point special"') + figures[0].svg.count('"ring plain"')
    assert marks == 3 + 2  # the orbits, and the legend
