"""The published trusted base is the one that runs."""

from __future__ import annotations

import ast
import json
import re

from lightningalg import verifier
from lightningalg.certificates import tracing
from lightningalg.certificates.checker import VERIFIER
from lightningalg.certificates.trusted_base import SECTIONS, trusted_base
from lightningalg.cli.main import cli

from . import trusted_table as tt


def test_the_table_is_up_to_date():
    """If not: ``python -m tests.certificates.trusted_table``."""
    _, inside, _ = tt.parts(tt.DOCUMENT.read_text("utf-8"))
    assert inside == tt.table(tt.bases())


def test_every_kind_has_sections_that_exist():
    assert set(SECTIONS) == set(verifier.KINDS)
    text = (VERIFIER.parent / "certificates" / "FORMAT.md").read_text("utf-8")
    headings = set(re.findall(r"^#{2,3} ([0-9]+[b.0-9]*)\.? ", text, re.MULTILINE))
    headings = {heading.rstrip(".") for heading in headings}
    named = {name for listed in SECTIONS.values() for name in re.split(", | or ", listed)}
    assert named | {"1"} <= headings


def test_functions_named_in_the_text_exist():
    before, _, _ = tt.parts(tt.DOCUMENT.read_text("utf-8"))
    source = VERIFIER.read_text("utf-8")
    for name in re.findall(r"`(\w+)`", before):
        if re.search(r"_|^Batch", name) and name != "nmod_mat":
            assert re.search(rf"(def|class) {name}\b", source), name


def test_most_of_the_checker_runs_on_the_corpus():
    """What no valid certificate of the corpus reaches: refusals, large sizes, reports."""
    reached = set().union(*(base.functions for base in tt.bases()))
    known = set(tracing.functions(ast.parse(VERIFIER.read_text("utf-8"))))
    rest = {name for name in known - reached if not name.startswith(("Batch", "batch_"))}
    assert rest <= {
        "Verdict.__str__", "InvalidError.__init__", "silent", "check", "printable", "progress_reporter",
        "main", "float_inverse", "optional", "LineSplitting", "sequential", "tell",
    }, rest  # fmt: skip


def test_what_a_refused_file_rests_on(tmp_path):
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}")
    base = trusted_base(wrong)
    assert base.answer["verdict"] == "invalid" and base.kind is None and base.ran < 100
    assert trusted_base(tmp_path / "missing").answer["verdict"] == "unsupported"


def run(capsys, *arguments: str) -> tuple[int, str]:
    code = cli.main(["verify", *arguments], standalone_mode=False)
    return code, capsys.readouterr().out


def test_command_line(capsys, tmp_path):
    one = tt.CORPUS / "degrees-chain.json"
    code, out = run(capsys, "--trusted-base", str(one))
    assert code == 0 and "sections  1, 2, 5" in out and "check_degrees" in out
    code, out = run(capsys, "--trusted-base", "--json", str(one), str(tmp_path))
    results = json.loads(out)["results"]
    assert code == 2 and [result["verdict"] for result in results] == ["valid", "unsupported"]
    assert results[0]["lines"] == sum(ran for ran, _ in results[0]["functions"].values())
    assert run(capsys, "--trusted-base", str(tt.CORPUS.parent / "rejected" / "text-nan.json"))[0] == 1


def test_own_lines():
    source = "def f(x,\n      y):\n    'doc'\n    if (x and\n y):\n        return [x,\n y]\n    return y\n"
    found = tracing.functions(ast.parse(source))
    assert sorted(set().union(*found["f"])) == [4, 5, 6, 7, 8]
