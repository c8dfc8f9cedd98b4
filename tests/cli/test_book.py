"""``lightningalg book``: one document for a run; what is altered, missing or interrupted."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from lightningalg.render.latex import compile_with_log, overfull_boxes
from lightningalg.worksheets.model import read_worksheet
from lightningalg.worksheets.runner import run_worksheets
from tests.cli.support import call
from tests.render.test_wording import faults

needs_tex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")

# most kinds of certificates, few instances: tables and single results, a refuted claim, one that is open
SHEET = r"""
title = "A small book & more"
source = "A source_with $signs"
prose = "First paragraph.\n\nSecond."

[es]
title = "Un libro pequeño"
source = "La fuente de la hoja"

[[claim]]
id = "dimensions"
kind = "dimension"
title = "Several dimensions: 100 % of them"
paper = ["single-dimension"]
uses = ["small/identity", "small/degrees", "small/closed"]
expected = "2*a*d + d^2 - a^2 - 1"
grid = { d = "2..4", a = "1..2" }
network = { kind = "lightning", widths = ["d", "d"], ranks = ["a"], tokens = 2 }
[claim.es]
title = "Varias dimensiones"

[[claim]]
id = "matrices"
kind = "dimension"
source = "Another source"
instances = [
  { kind = "monomial", widths = [2, 1], degree = 1 },
  { kind = "monomial", widths = [3, 1], degree = 1 },
  { kind = "normalized", widths = [2, 2], ranks = [1], tokens = 2 },
]

[[claim]]
id = "false"
kind = "dimension"
verdict = "refuted"
expected = 5
instances = [{ kind = "monomial", widths = [2, 2, 1], degree = 2 }]

[[claim]]
id = "identity"
kind = "matrix-identity"
paper = ["deep-intra"]
symbols = { K = "a x d", Q = "a x d", G = "a x a invertible" }
left = "(G^-T*K)'*(G*Q)"
right = "K'*Q"

[[claim]]
id = "no-identity"
kind = "matrix-identity"
verdict = "refuted"
symbols = { A = "d x d", B = "d x d" }
left = "A*B"
right = "B*A"

[[claim]]
id = "singular"
kind = "singular-locus"
instances = [{ widths = [2, 1], ranks = [1] }]

[[claim]]
id = "boundary"
kind = "boundary"
instances = [{ widths = [2, 1], ranks = [1] }, { widths = [2, 2], ranks = [1] }]

[[claim]]
id = "closed"
kind = "closedness"
instances = [{ widths = [2, 1], ranks = [1] }]

[[claim]]
id = "wide-matrices"
kind = "normalized-identifiability-at-a-point"
check = "identified == 1"
network = { kind = "normalized", widths = ["d", 1], ranks = [1] }
grid = { d = "12..13" }

[[claim]]
id = "fibres"
kind = "fibre"
instances = [{ widths = [2, 2], ranks = [2] }, { widths = [2, 2, 2], ranks = [2, 2] }]

[[claim]]
id = "symmetries"
kind = "symmetries"
instances = [{ widths = [2, 2], ranks = [1], tokens = 2 }]

[[claim]]
id = "degrees"
kind = "degrees"
instances = [{ widths = [2, 2], ranks = [1] }]

[[claim]]
id = "equations"
kind = "invariants"
instances = [{ widths = [2, 1], ranks = [1], tokens = 2 }]
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("book")
    (folder / "small.toml").write_text(SHEET)
    run = run_worksheets([read_worksheet(folder / "small.toml")], out=folder / "out", jobs=1)
    assert run.as_declared
    return folder / "out"


@pytest.fixture()
def copy(out, tmp_path):
    shutil.copytree(out, tmp_path / "out")
    return tmp_path / "out"


def read_claims(folder):
    return json.loads((folder / "summary.json").read_text())["claims"]


@needs_tex
@pytest.mark.parametrize("lang", ["en", pytest.param("es", marks=pytest.mark.slow)])
def test_the_book_of_a_small_worksheet_compiles(capfd, copy, lang):
    done = call(capfd, "book", str(copy), "--pdf", "--lang", lang, "--json")
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    assert facts["written"] == [str(copy / "book.tex"), str(copy / "book.pdf")]
    assert (
        facts["pages"] > 10 and facts["claims"] == 13 and facts["bytes"] == (copy / "book.pdf").stat().st_size
    )
    pdf, log = compile_with_log(copy / "book.tex")
    assert [box for box in overfull_boxes(log) if box > 20] == []
    assert "undefined" not in log and "multiply defined" not in log
    if shutil.which("pdffonts"):
        fonts = subprocess.run(["pdffonts", pdf], capture_output=True, text=True, check=True).stdout
        assert {line.split()[-5] for line in fonts.splitlines()[2:]} == {"yes"}
        assert "Type 3" not in fonts
    if shutil.which("pdftotext"):
        text = subprocess.run(
            ["pdftotext", "-layout", pdf, "-"], capture_output=True, text=True, check=True
        ).stdout
        assert "??" not in text
        contents = text[: text.index("\f", text.index("Contents" if lang == "en" else "Índice"))]
        first = "Several dimensions: 100 % of them" if lang == "en" else "Varias dimensiones"
        titles = [
            first,
            *("matrices", "false", "identity", "no-identity", "singular", "boundary", "closed", "fibres"),
        ]
        for title in titles:  # the contents list every claim
            assert re.search(rf"\d\.\d+\. +{re.escape(title)}", contents), title


def test_every_certificate_claim_and_statement_is_in_the_book_once(capfd, out, copy):
    assert call(capfd, "book", str(copy)).code == 0
    text = (copy / "book.tex").read_text()
    labels = Counter(re.findall(r"\\label\{([^}]*)\}", text))
    assert [label for label, count in labels.items() if count > 1] == []
    wanted = {
        key
        for group in re.findall(r"\\(?:[cC]ref|ref|eqref|labelcref|pageref)\{([^}]*)\}", text)
        for key in group.split(",")
    }
    assert wanted <= set(labels)
    claims = read_claims(out)
    assert sum(label.startswith("claim:") for label in labels) == len(claims)
    plain = text.replace(r"\allowbreak{}", "").replace("-{}", "-")
    index = plain[plain.index(r"\label{ch:certificates}") :]
    hashes = [i["sha256"] for claim in claims for i in claim["instances"] if i["sha256"]]
    assert Counter(re.findall(r"[0-9a-f]{64}", index)) == Counter(hashes)
    table = plain[plain.index(r"\label{ch:table}") : plain.index(r"\label{ch:certificates}")]
    for number in range(1, len(claims) + 1):
        assert f"claim:{number}}}" in table
    assert text.count(r"\begin{lemma}[matrices of bounded rank]") == 1  # theory stands once
    assert (
        "Gradient flow" not in text and "no-identity" in plain
    )  # no theory, no statement that the run lacks


@pytest.mark.parametrize("lang", ["en", "es"])
def test_references_lists_and_numbers_of_the_book(capfd, copy, lang):
    assert call(capfd, "book", str(copy), "--lang", lang).code == 0
    text = (copy / "book.tex").read_text()
    assert faults(text, lang) == []
    claims = text[text.index(r"\label{ch:1}") : text.index(r"\label{ch:table}")]
    assert "c1:res:all" in claims and r"\cref{sec:upper}" not in claims  # theory has no instance's numbers
    assert r"\cref{c3:sec:upper}" in claims and r"\label{c3:sec:upper}" in claims
    rests = {
        "en": r"The text rests on \cref{claim:4}, \cref{claim:12} and \cref{claim:8}.",
        "es": r"la \cref{claim:4}, la \cref{claim:12} y la \cref{claim:8}.",
    }
    assert rests[lang] in " ".join(text.split())
    wanted = {"en": r"one has $\dim Y=3$; expected was $5$.", "es": r"se tiene $\dim Y=3$; se esperaba $5$."}
    refuted = claims[claims.index(r"\label{claim:3}") : claims.index(r"\label{claim:4}")]
    assert wanted[lang] in refuted and claims.count(wanted[lang][-6:]) == 1
    proof = (copy / "small" / "false.tex").read_text()
    assert r"one has $\dim Y=3$; expected was $5$." in proof
    assert "onvolution" not in text and "onvoluci" not in text  # nothing of a layer that does not occur


def test_a_claim_has_the_translated_source_of_its_worksheet(capfd, copy):
    assert call(capfd, "book", str(copy), "--lang", "es").code == 0
    claims = (copy / "book.tex").read_text().partition(r"\label{claim:1}")[2]
    assert r"\item[Fuente] La fuente de la hoja" in claims
    assert r"\foreignlanguage{english}{A source" not in claims
    assert r"\item[Fuente] «\foreignlanguage{english}{Another source}» (en inglés)" in claims


def test_matrices_print_in_full_up_to_twelve_columns(capfd, copy):
    call(capfd, "book", str(copy))
    text = (copy / "book.tex").read_text()
    widest = max(
        row.count("&") + 1
        for body in re.findall(r"\\begin\{pmatrix\}(.*?)\\end\{pmatrix\}", text, re.S)
        for row in body.split(r"\\")
    )
    assert widest == 12
    assert re.search(r"Let \$d=13,[^$]*\$, and let the weights be\s+those of the certificate", text)


def test_the_same_run_gives_the_same_book(capfd, copy, tmp_path):
    for name in ("a", "b"):
        assert call(capfd, "book", str(copy), "--out", str(tmp_path / f"{name}.tex")).code == 0
    assert (tmp_path / "a.tex").read_bytes() == (tmp_path / "b.tex").read_bytes()


def test_words_of_worksheets_are_never_commands(capfd, copy):
    summary = json.loads((copy / "summary.json").read_text())
    evil = r"\input{/etc/passwd} \label{x} %%% general" + "\n%%% general\n$ & # _"
    for claim in summary["claims"]:
        claim["title"] = claim["statement"] = claim["prose"] = evil
    summary["worksheets"][0]["title"] = summary["table"]["statements"][0]["text"] = evil
    (copy / "summary.json").write_text(json.dumps(summary))
    done = call(capfd, "book", str(copy), "--title", evil)
    assert done.code == 0, done.err
    text = (copy / "book.tex").read_text()
    assert r"\input{/etc" not in text and r"\label{x}" not in text and "\n%%%" not in text


def test_an_altered_certificate_ends_it_with_1_and_no_book(capfd, copy):
    file = next((copy / "small" / "dimensions").glob("*.json"))
    table = json.loads(file.read_text())
    table["claim"]["value"] += 1
    file.write_text(json.dumps(table))
    done = call(capfd, "book", str(copy))
    assert done.code == 1 and "is invalid" in done.err and not (copy / "book.tex").exists()


def test_another_valid_certificate_in_its_place_is_refused(capfd, copy):
    files = sorted((copy / "small" / "dimensions").glob("*.json"))
    shutil.copy(files[0], files[1])
    done = call(capfd, "book", str(copy))
    assert done.code == 1 and "1 of 22 certificates" in done.err
    assert f"{files[1]} is not the certificate that the run made" in done.err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.pop("claims"), '"claims" of the summary'),
        (lambda s: s["claims"][0].update(title=1), '"title" of claim dimensions is \'1\''),
        (lambda s: s["claims"][0]["instances"][0].update(certificate="../../x"), "leads out of the folder"),
        (lambda s: s["table"]["statements"][0].pop("rows"), '"rows" of a statement'),
        (lambda s: s.update(claims=[]), "at least one certificate"),
        (lambda s: s["claims"].append(s["claims"][0]), "two claims share"),
    ],
)  # fmt: skip
def test_summaries_that_are_none_are_refused_in_words(capfd, copy, change, message):
    summary = json.loads((copy / "summary.json").read_text())
    change(summary)
    (copy / "summary.json").write_text(json.dumps(summary))
    done = call(capfd, "book", str(copy))
    *_, last = done.err.splitlines()  # before it, perhaps, progress
    assert done.code == 2 and last.startswith("error: ") and message in last, done.err


def test_bad_arguments(capfd, copy, tmp_path):
    for arguments, message in (
        ([str(tmp_path / "no")], "summary of a run"),
        ([str(copy), "--out", "x.pdf"], "must end in .tex"),
        ([str(copy), "--lang", "xx"], "language 'xx' is unknown"),
    ):
        done = call(capfd, "book", *arguments)
        assert done.code == 2 and message in done.err, done.err


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_killed_command_leaves_nothing_half_written(copy):
    before = {path.relative_to(copy) for path in copy.rglob("*")}
    (copy / "book.tex").write_text("the old book")
    for delay, number in ((0.3, signal.SIGKILL), (1.0, signal.SIGTERM), (1.6, signal.SIGKILL)):
        command = [sys.executable, "-m", "lightningalg", "book", str(copy), "--pdf"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(delay)
            process.send_signal(number)
            process.wait(30)
        text = (copy / "book.tex").read_text()
        assert text == "the old book" or text.endswith("\\end{document}\n")
        after = {path.relative_to(copy) for path in copy.rglob("*")}
        assert {p.name for p in after - before} <= {"book.tex", "book.pdf"}, after - before
        if (copy / "book.pdf").exists():
            assert (copy / "book.pdf").read_bytes().rstrip().endswith(b"%%EOF")
