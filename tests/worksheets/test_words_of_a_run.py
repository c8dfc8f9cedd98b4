"""What a run prints of a worksheet of the user's own: its statement, and which verdicts were declared."""

from __future__ import annotations

import pytest

from tests.cli.support import call

SHEET = """title = "Own"
[[claim]]
id = "wrong"
kind = "dimension"
statement = "The dimension is always [one] and no more."
expected = "1"
{declared}
grid = {{ d = "2..3" }}
network = {{ kind = "lightning", widths = ["d", "d"], ranks = [1], tokens = 2 }}
"""


@pytest.mark.parametrize("declared", [True, False])
def test_words(tmp_path, capfd, declared):
    sheet = tmp_path / "own.toml"
    sheet.write_text(SHEET.format(declared='verdict = "refuted"' if declared else ""))
    answer = call(capfd, "worksheet", "run", sheet, "--out", tmp_path / "out", "--jobs", 1)
    assert answer.code == (0 if declared else 1), answer
    lines = [line for line in answer.out.splitlines() if line.startswith("wrong ")]
    assert len(lines) == 2
    assert all((": refuted, as declared: " in line) == declared and ": refuted" in line for line in lines)
    words = " ".join(answer.out.replace("│", " ").replace("┃", " ").split())
    assert "The dimension is always [one] and" in words and "no more." in words
    assert "The dimension is always \\[one\\] and no more." in (tmp_path / "out" / "table.md").read_text()
