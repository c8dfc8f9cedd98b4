"""The report compares a run with its files: altered, missing, strange names, links; and the paper's table."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from urllib.parse import unquote

import pytest

import lightningalg as la
from lightningalg.certificates.files import read_certificate
from lightningalg.errors import InputError
from lightningalg.render.html import render_report
from lightningalg.render.html.pages import pretty
from lightningalg.worksheets import certifying
from lightningalg.worksheets.library import find_worksheets
from lightningalg.worksheets.model import read_worksheet
from lightningalg.worksheets.report import read_report
from lightningalg.worksheets.runner import run_worksheets
from tests.cli.support import call, know_only_parameters
from tests.worksheets.test_report import Page, alter
from tests.worksheets.test_runner import here

OPEN = """
title = "Open"
[[claim]]
id = "gap"
kind = "dimension"
expected = 8
network = { kind = "monomial", widths = [3, 2, 3], degree = 1 }
"""


@pytest.fixture
def run(small_run, tmp_path) -> Path:
    return Path(shutil.copytree(small_run, tmp_path / "out"))


def rendered(run: Path, name: str) -> Page:
    return Page(str(render_report(read_report(run))[name]))


def degrees_file(run: Path) -> Path:
    (path,) = (run / "small/degrees").glob("*.json")
    return path


def test_hashes_shown_are_those_of_the_files(run):
    page = rendered(run, "claims/small--dimension.html")
    links = [a for tag, a in page.tags if tag == "a" and a["href"].endswith(".json")]
    assert len(links) == 6
    for link in links:
        content = json.loads((run / "report/claims" / unquote(link["href"])).resolve().read_text())
        assert link["title"] == f"SHA-256 {content['sha256']}" and "download" in link
        assert (
            content["sha256"] == read_certificate((run / "report/claims" / link["href"]).resolve())["sha256"]
        )


def damage(run: Path) -> tuple[str, Page, Page]:
    report = read_report(run)
    (claim,) = [c for c in report.claims if c.id == "degrees"]
    assert claim.verdict == "open" and claim.recorded == "certified"
    assert [row.certificate for row in claim.instances] == [""]
    pages = render_report(report)
    index, page = Page(str(pages["index.html"])), Page(str(pages["claims/small--degrees.html"]))
    assert ("role", "alert") in [item for _, a in page.tags for item in a.items()]
    assert "1 certificate of the run is missing or altered" in " ".join(index.text.split())
    assert not [link for link in page.links if link.endswith(".json")]
    return claim.instances[0].damage, index, page


def test_an_altered_certificate_supports_nothing(run):
    path = degrees_file(run)
    path.write_text(path.read_text().replace('"rank": 1', '"rank": 2'))
    found, index, page = damage(run)
    assert "altered" in found and "sha256" in found and found in index.text and found in page.text


def test_a_missing_certificate_is_named(run, capfd):
    degrees_file(run).unlink()
    assert damage(run)[0] == "the file is missing"
    answer = call(capfd, "report", run, "--no-slices")
    assert answer.code == 1 and "the file is missing" in answer.err
    assert (run / "report/index.html").is_file()


def test_another_certificate_in_its_place_is_no_substitute(run):
    other = la.dimension(la.lightning((2, 1), (1,))).certificate.to_json()
    degrees_file(run).write_text(json.dumps(other))
    found, _, _ = damage(run)
    assert "another certificate" in found and other["sha256"][:12] in found


@pytest.mark.parametrize("target", ["/etc/passwd", "loop"])
def test_links_that_lead_out_are_not_followed(run, target):
    path, proof = degrees_file(run), run / "small/degrees.tex"
    for file in (path, proof):
        file.unlink()
        file.symlink_to(file if target == "loop" else target)
    found, index, page = damage(run)
    assert "symbolic link" in found
    assert "cannot be shown" in page.text and "root:" not in page.text + index.text
    assert not [link for link in page.links if "degrees.tex" in link or "passwd" in link]


@pytest.mark.parametrize("name", ["report", "report/claims", "report/index.html", "report/style.css"])
def test_nothing_is_written_through_links_that_lead_out(run, tmp_path, name, capfd):
    outside = tmp_path / "outside"
    outside.mkdir()
    link = run / name
    link.parent.mkdir(exist_ok=True)
    target = outside if "." not in name else outside / "file"
    if target != outside:
        target.write_text("kept")
    link.symlink_to(target)
    call(capfd, "report", run, "--no-slices").refuses("symbolic link", "leads out")
    assert [file.read_text() for file in outside.iterdir()] == ["kept"] * (target != outside)


def test_pages_of_claims_that_are_gone_are_removed_and_nothing_else(run, capfd):
    assert call(capfd, "report", run, "--no-slices").code == 0
    (run / "report/claims/mine.html").write_text("my own page")
    alter(run, lambda s: s["claims"].pop(1))
    assert call(capfd, "report", run, "--no-slices").code == 0
    names = {path.name for path in (run / "report/claims").iterdir()}
    assert names == {"small--dimension.html", "small--wrong.html", "mine.html"}


def test_a_refuted_claim_needs_one_counterexample_that_is_there(run):
    report = read_report(run)
    (wrong,) = [c for c in report.claims if c.id == "wrong"]
    assert wrong.verdict == "refuted"
    for path in (run / "small/wrong").glob("*.json"):
        path.unlink()
    (wrong,) = [c for c in read_report(run).claims if c.id == "wrong"]
    assert wrong.verdict == "open" and wrong.recorded == "refuted"


def test_strange_file_names_are_linked_and_quoted(run):
    path = degrees_file(run)
    name = "a b#c%20?'\"<x>&;$(y).json"
    path.rename(path.with_name(name))
    alter(run, lambda s: s["claims"][1]["instances"][0].update(certificate=f"small/degrees/{name}"))
    page = rendered(run, "claims/small--degrees.html")
    (link,) = [a["href"] for tag, a in page.tags if tag == "a" and "a%20b" in a["href"]]
    assert (
        (run / "report/claims" / unquote(link)).resolve().is_file() and "<x>" not in link and "#" not in link
    )
    (command,) = re.findall(r"lightningalg verify '.*\.json'", page.text)
    assert shlex.split(command)[2:] == [f"small/degrees/{name}"]


def test_counterexamples_come_first(run):
    page = rendered(run, "claims/small--wrong.html")
    words = " ".join(page.text.split())
    assert words.index("Counterexample") < words.index("What is proved")
    assert "1 of 1 instances refutes the claim" in words and "The worksheet documents the verdict" in words


def test_documented_verdicts_are_explained(run):
    alter(run, lambda s: s["claims"][2].update(declared="refuted"))
    words = " ".join(rendered(run, "claims/small--wrong.html").text.split())
    assert "documents this verdict, “refuted”, beforehand" in words


def test_open_claims_say_why_and_what_would_settle_them(tmp_path, monkeypatch):
    monkeypatch.setattr(certifying, "_pool", here)
    know_only_parameters(monkeypatch)
    (tmp_path / "o.toml").write_text(OPEN)
    run_worksheets([read_worksheet(tmp_path / "o.toml")], out=tmp_path / "out", jobs=1)
    words = " ".join(rendered(tmp_path / "out", "claims/o--gap.html").text.split())
    assert "What is open" in words and "the proved bounds are 8 and 12, and the claim says 8" in words
    assert "larger minor" in words


def test_long_texts_are_cut(run):
    alter(run, lambda s: s["claims"][1].update(statement="x" * 10**6, prose="<b>" * 10**6))
    page = str(render_report(read_report(run))["claims/small--degrees.html"])
    assert len(page) < 400_000 and "(cut)" in page and "<b><b>" not in page


def test_proofs_stand_in_the_page(run):
    page = rendered(run, "claims/small--dimension.html")
    assert ("article", "proof") in [(tag, a.get("class")) for tag, a in page.tags]
    assert "Theorem 1" in page.text and "Proof of Theorem" in page.text and "References" in page.text


def test_a_proof_that_is_no_article_is_shown_as_text(run):
    (run / "small/degrees.tex").write_text("\\input{x} <script>alert(1)</script>")
    report = render_report(read_report(run))
    page = str(report["claims/small--degrees.html"])
    assert "no LaTeX article" in page and "&lt;script&gt;" in page and "<script>alert" not in page


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2ad + dd' - a^2 - 1", "2ad + dd′ − a<sup>2</sup> − 1"),
        ("d' >= 2 and d_1 != GL_a", "d′ ≥ 2 and d<sub>1</sub> ≠ GL<sub>a</sub>"),
        ("3^(l-1) of a x d matrices", "3<sup>l-1</sup> of a × d matrices"),
        ("the network's lower_bound, alpha <i>", "the network&#39;s lower_bound, α &lt;i&gt;"),
        ("x^<script> ^(<b>)", "x^&lt;script&gt; ^(&lt;b&gt;)"),
    ],
)
def test_typed_formulas_are_set(text, shown):
    assert str(pretty(text)) == shown


# -- the table of the paper ------------------------------------------------------------------------

ROW = {
    "worksheet": "small", "claim": "degrees", "title": "T", "verdict": "certified", "declared": "certified",
    "strength": "exact", "instances": 1, "folder": "small/degrees", "proof": "small/degrees.tex",
    "seconds": 0.1,
}  # fmt: skip
STATEMENT = {"id": "s", "part": "Part <b>", "where": "section 1", "text": "It is <i> d^2.", "rows": [ROW],
             "illustration": "attractors.ipynb"}  # fmt: skip


def with_table(run: Path, **changes) -> None:
    alter(
        run,
        lambda s: s.update(
            table={"statements": [{**STATEMENT, **changes}], "others": [dict(ROW, claim="x")]}
        ),
    )


def test_the_whole_paper_is_a_page(run):
    with_table(run)
    pages = render_report(read_report(run))
    page = Page(str(pages["paper.html"]))
    assert "claims/small--degrees.html" in page.links and "claims/small--degrees.html#proof" in page.links
    assert "Part <b>" in page.text and "It is <i> d" in page.text
    assert "numerical" in page.text and "attractors.ipynb" in page.text
    assert "paper.html" in Page(str(pages["index.html"])).links
    degrees_file(run).unlink()  # the table follows what was found, not what the summary says
    page = str(render_report(read_report(run))["paper.html"])
    assert 'class="verdict open"' in page and "documented: certified" in page


@pytest.mark.parametrize("table", [None, {"statements": [], "others": [ROW]}])
def test_without_statements_of_the_paper_there_is_no_such_page(run, table):
    alter(run, lambda s: s.update(table=table))
    pages = render_report(read_report(run))
    assert "paper.html" not in pages and "paper.html" not in Page(str(pages["index.html"])).links


@pytest.mark.parametrize(
    "changes", [{"rows": 1}, {"text": 1}, {"rows": [1]}, {"rows": [dict(ROW, proof="/etc")]}]
)
def test_an_altered_table_is_refused(run, changes):
    with_table(run, **changes)
    with pytest.raises(InputError, match="paper"):
        read_report(run)


# -- colours ---------------------------------------------------------------------------------------


def luminance(colour: str) -> float:
    values = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in values]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_colours_of_all_themes_can_be_read(run):
    style = str(render_report(read_report(run))["style.css"])
    themes = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    assert len(themes) == 3  # light, dark, print
    for theme in themes:
        found = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{3,6})", theme))
        colours = {k: v if len(v) == 7 else "#" + "".join(2 * c for c in v[1:]) for k, v in found.items()}
        texts = ("ink", "soft", "link", "certified", "certified-with-hypotheses", "refuted", "open")
        for text in texts:
            for ground in ("paper", "panel", "bad"):
                assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground, theme)
        assert contrast(colours["edge"], colours["paper"]) >= 3  # frames of fields, lines of figures


@pytest.mark.slow
def test_proofs_of_packaged_worksheets_are_converted(finished_run, tmp_path):
    report = read_report(finished_run or run_of_some_worksheets(tmp_path / "out"))
    assert {c.key: c.unconverted for c in report.claims if c.unconverted} == {}
    assert all(c.proof_html for c in report.claims if c.proof)
    for name, text in render_report(report).items():
        if name.endswith(".html"):
            assert len(Page(str(text)).ids) > 0


def run_of_some_worksheets(out):
    wanted = {"boundary", "deep-bottleneck", "fibres", "symmetries", "training", "single-layer"}
    sheets = [s for s in map(read_worksheet, find_worksheets([])) if s.name in wanted]
    assert len(sheets) == len(wanted)
    run_worksheets(sheets, out=out, jobs=1)
    return out
