"""The benchmark runs, prints its table, and every rank in it is right."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "rank.py"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The smallest case: one layer of widths 2, 2 and rank 2, n = 12, dimension 7."""
    record = tmp_path_factory.mktemp("benchmark") / "record.json"
    options = ["--sizes", "12", "--quick", "--timeout", "60", "--json", str(record)]
    result = subprocess.run(
        [sys.executable, str(SCRIPT), *options], capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
    return result.stdout, json.loads(record.read_text(encoding="utf-8"))


def test_all_ranks_are_right(run):
    _, record = run
    (case,) = record["results"]
    assert case["expected"] == 7
    assert case["end_to_end"]["values"]["value"] == 7
    assert case["end_to_end"]["values"]["status"] == "certified"
    assert set(case["matrices"]) == {"kept", "all"}
    for matrix in case["matrices"].values():
        assert matrix["ours"]["values"]["rank"] == matrix["flint"]["values"]["rank"] == 7
    assert case["sympy"]["values"]["rank"] == 7
    assert set(case["svd"]["values"]["scaled"]) == {7}


def test_peers_receive_the_same_matrices(run):
    _, record = run
    matrices = record["results"][0]["matrices"]
    assert matrices["all"]["shape"] == [17, 12]
    assert matrices["kept"]["shape"] == [17, 7]


def test_absent_peers_have_no_numbers(run):
    output, record = run
    for name in ("macaulay2", "linbox"):
        case = record["results"][0]
        outcome = case[name] if name == "macaulay2" else case["matrices"]["all"][name]
        if outcome["reason"] == "absent":
            assert outcome["values"] == {}
            assert "absent: pip install" in output


def test_table_and_targets_are_printed(run):
    output, _ = run
    header, _, *rows = [line for line in output.splitlines() if line.startswith("|")]
    for column in ("true rank", "FLINT", "LinBox", "Macaulay2 duals", "float SVD", "/ dgemm limit"):
        assert f" {column} " in header
    assert rows and not any("WRONG" in row for row in rows)
    assert "met: all our ranks right and dimensions certified" in output
    assert "not measured: n = 9963" in output  # never judged without a measurement
