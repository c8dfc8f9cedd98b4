"""A run of some claims leaves what is known of the others in the summary, and says that it is from before."""

from __future__ import annotations

import json

import pytest

from lightningalg.worksheets.earlier import with_earlier
from lightningalg.worksheets.model import read_worksheet
from tests.cli.support import call

SHEET = """
title = "Two claims"
[[claim]]
id = "one"
kind = "dimension"
statement = "The dimension is 6."
expected = {expected}
network = {{ kind = "lightning", widths = [2, 2], ranks = [1] }}
[[claim]]
id = "two"
kind = "dimension"
expected = 7
network = {{ kind = "lightning", widths = [2, 2], ranks = [2] }}
"""


@pytest.fixture
def sheet(tmp_path):
    path = tmp_path / "sheet.toml"
    path.write_text(SHEET.format(expected=6))
    return path


def summary(tmp_path):
    return json.loads((tmp_path / "out" / "summary.json").read_text())


def run(capfd, tmp_path, sheet, *extra):
    return call(capfd, "worksheet", "run", sheet, "--out", tmp_path / "out", "--jobs", "1", "--json", *extra)


def shown(tmp_path):
    return [
        (claim["id"], claim["verdict"], claim.get("earlier", False)) for claim in summary(tmp_path)["claims"]
    ]


def test_the_others_stay(tmp_path, sheet, capfd):
    run(capfd, tmp_path, sheet)
    whole = summary(tmp_path)
    assert whole["complete"] is True
    answer = run(capfd, tmp_path, sheet, "--claim", "two", "--force")
    assert [claim["id"] for claim in answer.json["claims"]] == ["two"], "what was run"
    assert shown(tmp_path) == [("one", "certified", True), ("two", "certified", False)]
    assert summary(tmp_path)["complete"] is True and summary(tmp_path)["left_out"] == []
    assert call(capfd, "report", tmp_path / "out").code == 0


def test_alone_a_part_is_not_complete(tmp_path, sheet, capfd):
    run(capfd, tmp_path, sheet, "--claim", "two")
    assert shown(tmp_path) == [("two", "certified", False)] and summary(tmp_path)["left_out"] == ["sheet/one"]
    run(capfd, tmp_path, sheet, "--claim", "one")
    assert shown(tmp_path) == [("one", "certified", False), ("two", "certified", True)]
    run(capfd, tmp_path, sheet)
    assert "left_out" not in summary(tmp_path) and not any(earlier for _, _, earlier in shown(tmp_path))


def merged(tmp_path, sheet, old):
    """What a complete run of no claim makes of an earlier summary."""
    path = tmp_path / "out" / "summary.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(old if isinstance(old, str) else json.dumps(old))
    return with_earlier({"complete": True, "claims": []}, path, [read_worksheet(sheet)])


def test_what_is_stated_otherwise_by_now_goes(tmp_path, sheet, capfd):
    run(capfd, tmp_path, sheet)
    old = summary(tmp_path)
    assert [claim["id"] for claim in merged(tmp_path, sheet, old)["claims"]] == ["one", "two"]
    interrupted = merged(tmp_path, sheet, {**old, "complete": False})
    assert len(interrupted["claims"]) == 2 and interrupted["complete"] is False
    sheet.write_text(SHEET.format(expected=5))
    found = merged(tmp_path, sheet, old)
    assert [claim["id"] for claim in found["claims"]] == ["two"] and found["left_out"] == ["sheet/one"]
    for file in (tmp_path / "out" / "sheet" / "two").iterdir():  # certificates that have gone
        file.unlink()
    assert merged(tmp_path, sheet, old)["claims"] == []


@pytest.mark.parametrize(
    "text",
    ["", "[]", "[" * 100_000, '{"claims": 1, "complete": true}', '{"claims": [1, {}], "complete": 1}', "{}",
     '{"complete": true, "claims": [{"worksheet": "sheet", "id": "one", "kind": "dimension",'
     ' "instances": 3}]}'],
)  # fmt: skip
def test_a_damaged_summary_is_no_obstacle(tmp_path, sheet, text):
    assert merged(tmp_path, sheet, text)["claims"] == []
