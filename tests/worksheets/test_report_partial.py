"""The report and the book of a run that was interrupted, forged, or has proofs that pages cannot show."""

from __future__ import annotations

import re
import shutil
import unicodedata
from pathlib import Path

import pytest

from lightningalg.cli.worksheet import _broken, _first_column, _table
from lightningalg.render.html import render_report
from lightningalg.render.html.proof import convert_proof
from lightningalg.render.latex import escape
from lightningalg.worksheets import certifying, runner
from lightningalg.worksheets.model import read_worksheet
from lightningalg.worksheets.report import read_report
from lightningalg.worksheets.report_claims import NOT_RUN
from tests.cli.support import call
from tests.worksheets.test_report import WORKSHEET, Page, alter
from tests.worksheets.test_runner import here

SETTLED = WORKSHEET.replace('id = "degrees"', 'id = "degrees"\npaper = ["deep-degrees"]').replace(
    'id = "wrong"', 'id = "wrong"\ntitle = "Only 2 <= d"\npaper = ["single-dimension"]'
)


@pytest.fixture(scope="module")
def stopped(tmp_path_factory) -> Path:
    """The folder of a run that Ctrl-C ended after two certificates."""
    folder = tmp_path_factory.mktemp("stopped")
    (folder / "small.toml").write_text(SETTLED)

    def interrupt(done, total, what):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certifying, "_pool", here)
        with pytest.raises(KeyboardInterrupt):
            runner.run_worksheets(
                [read_worksheet(folder / "small.toml")], out=folder / "out", jobs=1, progress=interrupt
            )
    return folder / "out"


@pytest.fixture
def run(small_run, tmp_path) -> Path:
    return Path(shutil.copytree(small_run, tmp_path / "out"))


def test_an_interrupted_run_has_a_report_of_what_was_finished(stopped, capfd):
    answer = call(capfd, "report", stopped, "--no-slices")
    assert answer.code == 0 and "worksheet run --out" in answer.err
    report = read_report(stopped)
    assert [claim.verdict for claim in report.claims] == ["open"] * 3
    assert [claim.not_run for claim in report.claims] == [False, True, True]
    reasons = [row.reason for row in report.claims[0].instances]
    assert reasons.count(NOT_RUN) == 4 and sum("not yet verified" in reason for reason in reasons) == 2
    pages = {name: Page(str(text)) for name, text in render_report(report).items() if name.endswith("html")}
    for name in ("index.html", "paper.html", "claims/small--wrong.html"):
        assert "not run" in pages[name].text, name
    assert "goes on where it stopped" in pages["claims/small--wrong.html"].text
    assert not [link for link in pages["paper.html"].links if "#proof" in link]


def test_an_open_instance_of_a_whole_run_is_not_called_interrupted(run):
    def change(summary):
        summary["claims"][1]["verdict"] = "open"
        summary["claims"][1]["instances"][0].update(
            verdict="open", reason="too large", certificate=None, verified=None
        )

    alter(run, change)
    claim = read_report(run).claims[1]
    assert claim.instances[0].reason == "too large" and not claim.not_run


def test_a_book_of_an_interrupted_run_says_how_to_go_on(stopped, tmp_path, capfd):
    call(capfd, "book", stopped).refuses("at least one certificate", "go on with", "worksheet run --out")
    call(capfd, "book", tmp_path).refuses("summary.json", "worksheet run --out")


def test_a_book_names_the_missing_file_and_what_to_do(run, capfd):
    (path,) = (run / "small/degrees").glob("*.json")
    path.unlink()
    answer = call(capfd, "book", run)
    assert answer.code == 1
    assert str(path) in answer.err and "worksheet run --out" in answer.err and "report" in answer.err


def test_a_book_does_not_believe_an_altered_verdict(run, capfd):
    alter(run, lambda summary: summary["claims"][2].update(verdict="certified", declared="certified"))
    call(capfd, "book", run).refuses("wrong", "its instances say 'refuted'")


def test_ctrl_c_says_what_is_kept_and_how_to_go_on(stopped, capfd, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "run_worksheets", interrupted)
    answer = call(capfd, "worksheet", "run", "single-layer", "--out", stopped)
    assert answer.code == 130
    said, last = [line for line in answer.err.splitlines() if line]
    assert said.startswith(f"2 certificates are kept in {stopped}: the same command goes on")
    assert last == "interrupted"


def test_a_report_is_promised_only_where_there_is_a_summary(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(runner, "run_worksheets", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    answer = call(capfd, "worksheet", "run", "single-layer", "--out", tmp_path / "none")
    assert answer.code == 130 and "goes on from there\n" in answer.err


def test_the_reason_of_exit_code_1_is_said(tmp_path, capfd):
    (tmp_path / "mine.toml").write_text(
        '[[claim]]\nid = "d"\nkind = "dimension"\nexpected = 25\nverdict = "refuted"\n'
        "network = { widths = [4, 2, 4], ranks = [2, 1] }\n"
    )
    answer = call(capfd, "worksheet", "run", tmp_path / "mine.toml", "--out", tmp_path / "out", "--jobs", "1")
    assert answer.code == 1 and "mine/d: declared refuted, found certified\n" in answer.out


def characters() -> list[str]:
    accented = {unicodedata.normalize("NFC", a + b) for a in "aeinoucszAEO" for b in escape._ACCENTS}
    return sorted({*escape._ASCII, *escape._LETTERS, *escape._MATH, *accented, "\u4e2d"})


@pytest.mark.parametrize("char", characters(), ids=lambda char: f"U+{ord(char[0]):04X}")
def test_whatever_the_articles_escape_is_shown(char):
    article = rf"\begin{{document}}before {escape.escape_text(char)} after\end{{document}}"
    body = convert_proof(article).body
    assert "before" in body and "after" in body
    assert char == "\\" or "\\" not in body


def test_a_section_sign_is_one():
    body = convert_proof(r"\begin{document}See $\mathsection$2.6 and $\mathparagraph 3$.\end{document}").body
    assert "§" in body and "¶" in body and "mathsection" not in body


def test_a_proof_that_cannot_be_shown_is_told_and_never_offered(run, capfd):
    statement = {"id": "s", "part": "P", "where": "1", "text": "S", "illustration": None}
    row = {"worksheet": "small", "declared": "certified", "instances": 1, "seconds": 0.1, "folder": "small/x"}
    rows = [{**row, "claim": name} for name in ("degrees", "dimension")]
    alter(
        run, lambda summary: summary.update(table={"statements": [{**statement, "rows": rows}], "others": []})
    )
    proof = run / "small/degrees.tex"
    proof.write_text(proof.read_text().replace(r"\end{document}", r"\unheard{} \end{document}"))
    answer = call(capfd, "report", run, "--no-slices")
    assert answer.code == 0
    assert re.search(r"warning: small/degrees: the proof is not shown as text: .*unheard", answer.err)
    for name in ("index.html", "paper.html"):
        links = Page((run / "report" / name).read_text()).links
        assert "claims/small--degrees.html#proof" not in links
        assert "claims/small--dimension.html#proof" in links
        assert any(link.endswith("small/degrees.tex") for link in links)


def test_what_is_expected_and_checked_is_labelled_in_words(run):
    def change(summary):
        summary["claims"][1].update(check="fibre_degree == 2 and components == 1")

    alter(run, change)
    page = Page(str(render_report(read_report(run))["claims/small--degrees.html"]))
    assert "Expected degree in X: 3" in page.text
    assert "Also required: degree of the fibre =2" in page.text.replace("\u00a0", " ")
    assert "fibre_degree" not in page.text


def test_links_to_neighbours_are_typeset_as_headings(stopped):
    page = Page(str(render_report(read_report(stopped))["claims/small--degrees.html"]))
    assert "Only 2 ≤ d →" in page.text and "<=" not in page.text


def test_names_in_the_printed_table_are_broken_between_words(stopped, capsys):
    assert _broken("single-layer/attention-matrices", 40) == "single-layer/attention-matrices"
    assert _broken("single-layer/attention-matrices", 24) == "single-layer/attention-\nmatrices"
    row = {
        "worksheet": "single-layer", "claim": "attention-matrices", "statement": "", "title": "Matrices",
        "verdict": "certified with hypotheses",
        "declared": "certified with hypotheses", "as_declared": True, "strength": "exact, probabilistic",
        "certificates": 1000, "instances": 1000, "refuted": 100, "open": 100, "proof": "x", "seconds": 1000.0,
    }  # fmt: skip
    summary = {"statements": [], "others": [row]}
    assert _first_column(summary, 120) >= len("  single-layer/attention-matrices")

    class Printed:
        claims, out, seconds = (), stopped, 0.0

        def to_json(self):
            return {"table": summary}

    _table(Printed())
    printed = capsys.readouterr().out
    assert "single-layer/attention-matrices" in printed
    assert max(map(len, printed.splitlines()[:-1])) <= 120
