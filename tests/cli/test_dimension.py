"""``lightningalg dimension``: known values, the JSON, certificates."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import call, call_process, know_only_parameters

VERIFIER = Path(__file__).parents[2] / "lightningalg" / "verifier.py"

# widths, ranks, tokens, dimension; from the project's description and MATH.md sections 3 and 4
KNOWN = [
    ("4,3,2,4", "2,2,2", 2, 34),
    ("3,1", "2", 2, 10),  # 2*2*3 - 4 + 3 - 1
    ("2,2", "2", 2, 7),  # 4 + 4 - 1
    ("3,2", "5", 2, 14),  # rank above the width: 9 + 6 - 1
    ("4,2,4", "2,1", 2, 25),
    ("5,3,5", "1,3", 2, 34),  # rank one before rank three: symmetric
    ("2,3,2", "1,1", 2, 8),
    ("4,2,3,4", "2,2,2", 2, 29),
    ("2,2", "2", 1, 6),  # 3 + 4 - 1
    ("3,3", "3", 1, 14),  # 6 + 9 - 1
    ("4,2,4", "2,2", 1, 23),
]


@pytest.mark.parametrize("widths, ranks, tokens, expected", KNOWN)
def test_known_values_are_certified(capfd, widths, ranks, tokens, expected):
    answer = call(capfd, "dimension", "--widths", widths, "--ranks", ranks, "--tokens", tokens, "--json")
    assert answer.code == 0 and answer.err == ""
    found = answer.json
    assert found["dimension"] == found["lower_bound"] == found["upper_bound"] == expected
    assert found["status"] == "certified"
    assert found["predicted"] == expected


def test_two_tokens_are_the_default(capfd):
    assert call(capfd, "dimension", "--widths", "3,3", "--ranks", "3", "--json").json["dimension"] == 17
    answer = call(capfd, "dimension", "--widths", "3,3", "--ranks", "3", "--tokens", "1", "--json")
    assert answer.json["dimension"] == 14


def test_json_has_the_fields_of_the_interface(capfd):
    found = call(capfd, "dimension", "--widths", "4,3,2,4", "--ranks", "2,2,2", "--json").json
    assert found["parameters"] == 62
    assert isinstance(found["seconds"], float) and 0 <= found["seconds"] < 60
    assert found["upper_bound_by"] == "flag"
    network = found["network"]
    assert (network["kind"], network["widths"], network["ranks"]) == ("lightning", [4, 3, 2, 4], [2, 2, 2])
    assert network["tokens"] == 2
    assert [layer["type"] for layer in network["layers"]] == ["lightning_attention"] * 3
    for key in ("parameters", "dimension", "lower_bound", "upper_bound", "predicted"):
        assert type(found[key]) is int
    assert set(found) >= {
        "network",
        "parameters",
        "dimension",
        "lower_bound",
        "upper_bound",
        "status",
        "upper_bound_by",
        "predicted",
        "seconds",
    }


def test_bounds_that_differ_are_no_number(capfd, monkeypatch):
    know_only_parameters(monkeypatch)
    arguments = ("dimension", "--kind", "monomial", "--widths", "3,2,3", "--degree", "1")
    answer = call(capfd, *arguments, "--json")
    assert answer.code == 1
    found = answer.json
    assert found["dimension"] is None
    assert found["status"] == "bounds differ"
    assert (found["lower_bound"], found["upper_bound"]) == (8, 12)
    shown = call(capfd, *arguments)
    assert shown.code == 1
    assert (
        "unknown" in shown.out and f"between {found['lower_bound']} and {found['upper_bound']}" in shown.out
    )
    assert "certified" not in shown.out


def test_table_for_people(capfd):
    answer = call(capfd, "dimension", "--widths", "4,3,2,4", "--ranks", "2,2,2", "--tokens", "2")
    assert answer.code == 0
    rows = {line[2:14].strip(): line[14:].split() for line in answer.out.splitlines()[1:6]}
    assert rows["parameters"] == ["62"]
    assert rows["dimension"][:2] == ["34", "certified"]
    assert rows["lower bound"][0] == rows["upper bound"][0] == rows["predicted"][0] == "34"


@pytest.mark.parametrize("argument", [[], ["--tokens", "1"]])
def test_certificate_is_accepted_by_the_verifier(capfd, tmp_path, argument):
    path = tmp_path / "new" / "folder" / "cert.json"
    out = call(capfd, "dimension", "--widths", "4,2,4", "--ranks", "2,2", *argument, "--json", "--out", path)
    assert out.code == 0
    certificate = json.loads(path.read_text(encoding="utf-8"))
    assert certificate["claim"] == {
        "quantity": "dimension",
        "relation": "equals",
        "value": out.json["dimension"],
    }
    assert certificate["sha256"] == out.json["certificate_sha256"]
    assert [p.name for p in path.parent.iterdir()] == ["cert.json"], "no temporary file is left"
    # the command, and the file alone
    verified = call(capfd, "verify", path)
    assert verified.code == 0 and ": valid" in verified.out
    alone = subprocess.run([sys.executable, "-I", "-S", VERIFIER, path], capture_output=True, text=True)
    assert alone.returncode == 0 and ": valid" in alone.stdout


def test_certificate_of_bounds_that_differ_is_written(capfd, tmp_path, monkeypatch):
    know_only_parameters(monkeypatch)
    path = tmp_path / "cert.json"
    assert (
        call(
            capfd, "dimension", "--kind", "monomial", "--widths", "3,2,3", "--degree", "1", "--out", path
        ).code
        == 1
    )
    assert json.loads(path.read_text())["claim"]["relation"] == "between"
    assert call(capfd, "verify", path).code == 0


def test_same_arguments_same_certificate_and_seed_matters(capfd, tmp_path):
    paths = [tmp_path / f"{i}.json" for i in range(3)]
    for path, seed in zip(paths, ("a", "a", "b"), strict=True):
        base = ("dimension", "--widths", "3,2,3", "--ranks", "2,1")
        assert call(capfd, *base, "--seed", seed, "--out", path).code == 0
    first, again, other = (path.read_bytes() for path in paths)
    assert first == again != other
    assert json.loads(other)["claim"] == json.loads(first)["claim"]


@pytest.mark.parametrize(
    "options",
    [
        ["--engine", "flint"],
        ["--engine", "blocked"],
        ["--prime", "65521"],
        ["--primes", "3"],
        ["--max-memory", "0.01"],
    ],
)
def test_options_do_not_change_the_number(capfd, options):
    answer = call(capfd, "dimension", "--widths", "4,2,3,4", "--ranks", "2,2,2", *options, "--json")
    assert answer.json["dimension"] == 29


@pytest.mark.parametrize(
    "flags, expected",
    [
        # MATH.md section 6: two heads on d = 3, rank 1: twice 5 + 9 - 1, no loss
        (["--widths", "3,3", "--ranks", "1", "--heads", "2"], 26),
        # residual: the sum of the single layers, 2*(2*2*3 - 4 + 9 - 1)
        (["--widths", "3,3,3", "--ranks", "2,2", "--residual"], 32),
        # monomial: parameters minus hidden widths
        (["--kind", "monomial", "--widths", "3,2,4", "--degree", "3"], 3 * 2 + 2 * 4 - 2),
    ],
)
def test_other_families(capfd, flags, expected):
    answer = call(capfd, "dimension", *flags, "--json")
    assert answer.code == 0 and answer.json["dimension"] == expected


def test_network_file_and_round_trip(capfd, tmp_path):
    import lightningalg as la

    path = tmp_path / "net.toml"
    path.write_text(la.lightning((4, 3, 2, 4), (2, 2, 2), tokens=2).to_toml(), encoding="utf-8")
    answer = call(capfd, "dimension", "--network", path, "--json")
    assert (answer.code, answer.json["dimension"]) == (0, 34)
    path.write_text("widths = [2, 2]\nranks = [2]\ntokens = 1\n", encoding="utf-8")
    assert call(capfd, "dimension", "--network", path, "--json").json["dimension"] == 6


def test_readme_network_file(capfd, tmp_path):
    """The file of the README is a network; it has two heads and a skip."""
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (block,) = [b.split("```")[0] for b in readme.split("```toml\n")[1:] if "[[layer]]" in b.split("```")[0]]
    path = tmp_path / "net.toml"
    path.write_text(block, encoding="utf-8")
    found = call(capfd, "dimension", "--network", path, "--json").json
    assert found["parameters"] == 2 * 2 * 3 + 9 + 2 * 1 * 3 + 9
    assert found["network"]["layers"][2]["type"] == "sum"


def test_existing_certificate_is_replaced_whole_or_not_at_all(capfd, tmp_path, monkeypatch):
    import os

    path = tmp_path / "cert.json"
    path.write_text("old", encoding="utf-8")
    arguments = ("dimension", "--widths", "2,2", "--ranks", "2", "--out", path)
    for error, code in ((KeyboardInterrupt(), 130), (OSError(28, "No space left on device"), 2)):
        with monkeypatch.context() as patch:

            def fail(*args, error=error):
                raise error

            patch.setattr(os, "replace", fail)
            answer = call(capfd, *arguments)
        assert answer.code == code
        assert "Traceback" not in answer.err
        assert path.read_text() == "old"
        assert [p.name for p in tmp_path.iterdir()] == ["cert.json"]
    assert call(capfd, *arguments).code == 0
    assert json.loads(path.read_text())["claim"]["value"] == 7


def test_process_prints_json_and_nothing_else(tmp_path):
    answer = call_process(
        "dimension", "--widths", "2,2", "--ranks", "2", "--json", "--out", "c.json", cwd=tmp_path
    )
    assert answer.code == 0 and answer.err == ""
    assert answer.json["dimension"] == 7
    assert (tmp_path / "c.json").is_file()


def test_dimension_is_quick_to_start():
    """Neither sympy nor a table or plot library is imported: they would triple the start-up."""
    code = (
        "import sys\nfrom lightningalg.cli.main import run\n"
        "assert run(['dimension', '--widths', '4,3,2,4', '--ranks', '2,2,2']) == 0\n"
        "print(sorted({'sympy', 'matplotlib', 'rich', 'numba', 'distributed', 'jinja2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


def test_readme_example_is_what_is_printed(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    block = readme.split("$ lightningalg dimension ")[1].split("```")[0].splitlines()
    answer = call(capfd, "dimension", *block[0].split())
    printed = [line for line in block[1:] if not line.startswith("$")]
    assert len(printed) == 6
    assert answer.out.splitlines()[:6] == printed
    assert (tmp_path / "cert.json").is_file()


def test_normalised_attention(capfd, tmp_path):
    done = call(capfd, "dimension", "--kind", "normalized", "--widths", "2,2,2", "--ranks", "1,2",
                "--out", tmp_path / "cert.json")  # fmt: skip
    assert done.code == 0 and "11   certified (exact)" in done.out
    assert "exponentials as variables" in done.out and "normalized-flag" in done.out
    assert call(capfd, "verify", tmp_path / "cert.json").code == 0
    done = call(
        capfd,
        "dimension",
        "--kind",
        "normalized",
        "--widths",
        "3,1,2",
        "--ranks",
        "1,2",
        "--tokens",
        "1",
        "--json",
    )
    found = json.loads(done.out)
    assert (
        done.code == 0
        and found["dimension"] == found["predicted"] == 4
        and found["upper_bound_by"] == "linear"
    )
    done = call(
        capfd, "dimension", "--kind", "normalized", "--widths", "2,2", "--ranks", "1", "--degree", "2"
    )
    assert done.code == 2 and "has no field 'degree'" in done.err
    done = call(capfd, "symmetries", "--kind", "normalized", "--widths", "2,2", "--ranks", "1")
    assert done.code == 2 and "normalised attention" in done.err and done.err.count("\n") == 1


def test_a_prediction_that_the_dimension_refutes_is_said_to_be_refuted(capfd, monkeypatch):
    """Quadratic networks of widths 5,5,3,1: 32, not the expected 35."""
    monomial = ("dimension", "--kind", "monomial", "--widths")
    shown = call(capfd, *monomial, "5,5,3,1").out
    assert "predicted         35   closed formula, refuted here: the dimension is 32\n" in shown
    assert "closed formula\n" in call(capfd, *monomial, "2,2,2").out
    know_only_parameters(monkeypatch)  # 8 to 12
    arguments = (*monomial, "3,2,3", "--degree", "1")
    for predicted, words in (
        (12, "closed formula\n"),
        (7, "closed formula, refuted here: the bounds say otherwise\n"),
    ):
        monkeypatch.setattr(
            "lightningalg.claims.dimension.predicted_dimension", lambda network, p=predicted: p
        )
        assert f"predicted {predicted:10}   {words}" in call(capfd, *arguments).out
