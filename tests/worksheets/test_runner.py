"""Running worksheets: verdicts, files, repetition, interruption, dying processes, the packaged ones."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from lightningalg.errors import InputError
from lightningalg.worksheets import certifying, runner
from lightningalg.worksheets.library import find_worksheets
from lightningalg.worksheets.model import read_worksheet
from lightningalg.worksheets.runner import run_worksheets
from tests import reference
from tests.certificates.test_files import rehashed
from tests.cli.support import call, know_only_parameters

VERIFIER = Path(__file__).parents[2] / "lightningalg" / "verifier.py"

# One claim for each verdict. The truth: a square layer d = 2, a = 2 has dimension 7 of 12 parameters; a = 1
# has 6 of 8. Degree-one activations on 3,2,3 make matrices of rank <= 2: dimension 8, proved between 8
# and 12, because the tests here know no better upper bound than the number of parameters.
SHEET = r"""
title = "Every verdict"
source = "A source & more"

[[claim]]
id = "certified"
kind = "dimension"
expected = "2*a*d + d^2 - a^2 - 1"
check = "parameters > dimension"
hypotheses = [{ text = "a <= d", check = "a <= d" }]
grid = { d = 2, a = "1..2" }
network = { kind = "lightning", widths = ["d", "d"], ranks = ["a"], tokens = 2 }

[[claim]]
id = "refuted-number"
kind = "dimension"
expected = 6
instances = [{ widths = [2, 2], ranks = [1] }, { widths = [2, 2], ranks = [2] }]

[[claim]]
id = "refuted-check"
kind = "dimension"
check = "2*parameters == 3*dimension"
network = { widths = [2, 2], ranks = [2] }

[[claim]]
id = "open"
kind = "dimension"
expected = 8
network = { kind = "monomial", widths = [3, 2, 3], degree = 1 }

[[claim]]
id = "open-check"
kind = "dimension"
check = "dimension >= 1"
network = { kind = "monomial", widths = [3, 2, 3], degree = 1 }

[[claim]]
id = "open-unsaid"
kind = "dimension"
network = { kind = "monomial", widths = [3, 2, 3], degree = 1 }

[[claim]]
id = "refuted-by-bounds"
kind = "dimension"
expected = 7
network = { kind = "monomial", widths = [3, 2, 3], degree = 1 }

[[claim]]
id = "bound-decides"
kind = "dimension"
check = "lower_bound >= 8 and upper_bound <= parameters"
network = { kind = "monomial", widths = [3, 2, 3], degree = 1 }

[[claim]]
id = "differs"
kind = "dimension"
relation = "differs"
expected = "2*d"
grid = { d = 2 }
network = { widths = ["d", "d"], ranks = [2] }

[[claim]]
id = "differs-refuted"
kind = "dimension"
relation = "differs"
expected = 7
network = { widths = [2, 2], ranks = [2] }

[[claim]]
id = "with-hypotheses"
kind = "dimension"
hypotheses = ["weights are generic"]
expected = 7
network = { widths = [2, 2], ranks = [2] }

[[claim]]
id = "no-value"
kind = "dimension"
check = "10 // (dimension - 7) >= 1"
network = { widths = [2, 2], ranks = [2] }

[[claim]]
id = "no-parameters"
kind = "dimension"
[[claim.network.layer]]
type = "monomial_activation"
degree = 2
[claim.network]
width = 2

[[claim]]
id = "inhomogeneous"
kind = "degrees"
network = { widths = [2, 2], ranks = [2], residual = true }

[[claim]]
id = "upper-bound"
kind = "dimension-at-most"
check = "upper_bound < parameters"
network = { widths = [64, 64], ranks = [32] }

[[claim]]
id = "identity"
kind = "matrix-identity"
symbols = { A = "d x e", B = "e x d" }
left = "(A*B)'"
right = "B'*A'"

[[claim]]
id = "identity-refuted"
kind = "matrix-identity"
symbols = { A = "d x d", B = "d x d" }
left = "A*B"
right = "B*A"
"""
SHEET = SHEET.replace(
    """[[claim.network.layer]]
type = "monomial_activation"
degree = 2
[claim.network]
width = 2
""",
    'network = { width = 2, layer = [{ type = "monomial_activation", degree = 2 }] }\n',
)

VERDICTS = {
    "certified": "certified",
    "refuted-number": "refuted",
    "refuted-check": "refuted",
    "open": "open",
    "open-check": "open",
    "open-unsaid": "open",
    "refuted-by-bounds": "refuted",
    "bound-decides": "certified",
    "differs": "certified",
    "differs-refuted": "refuted",
    "with-hypotheses": "certified with hypotheses",
    "no-value": "open",
    "no-parameters": "open",
    "inhomogeneous": "refuted",
    "upper-bound": "certified",
    "identity": "certified",
    "identity-refuted": "refuted",
}
ACCEPTED = ("certified", "certified with hypotheses")


def write_sheet(folder, text, name="mine"):
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


def run_file(path, out, **options):
    return run_worksheets([read_worksheet(path)], out=out, **{"jobs": 2, **options})


def summary_of(out):
    return json.loads((out / "summary.json").read_text(encoding="utf-8"))


def claims_of(summary):
    return {claim["id"]: claim for claim in summary["claims"]}


def names(folder):
    """Relative names of all files in a folder."""
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if not p.is_dir())


def clock(folder, pattern="*/*/*.json"):
    return {p.name + p.parent.name: p.stat().st_mtime_ns for p in folder.glob(pattern)}


def here(tasks, workers):
    """Certify in this process: starting others takes most of the time of a small run."""
    for task in tasks:
        yield certifying.certify_task(task)


# -- verdicts ------------------------------------------------------------------


@pytest.fixture(scope="module")
def every_verdict(tmp_path_factory):
    """The worksheet above after one run: its output folder and what was returned."""
    folder = tmp_path_factory.mktemp("every")
    path = write_sheet(folder, SHEET)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certifying, "_pool", here)
        know_only_parameters(patch)
        run = run_file(path, folder / "out")
    return path, folder / "out", run


@pytest.fixture
def in_this_process(monkeypatch):
    """As in the run of every verdict."""
    monkeypatch.setattr(certifying, "_pool", here)
    know_only_parameters(monkeypatch)


def test_every_verdict(every_verdict):
    _, out, run = every_verdict
    assert {claim.claim.id: claim.verdict for claim in run.claims} == VERDICTS
    assert run.verdict == "refuted"
    assert {name: claim["verdict"] for name, claim in claims_of(summary_of(out)).items()} == VERDICTS


def test_counterexamples_are_shown_with_their_numbers(every_verdict, capfd, in_this_process, tmp_path):
    path, out, _ = every_verdict
    claims = claims_of(summary_of(out))
    right, wrong = claims["refuted-number"]["instances"]
    assert (right["verdict"], wrong["verdict"]) == ("certified", "refuted")
    assert (wrong["expected"], wrong["dimension"]) == (6, 7) and wrong["verified"] is True
    identity = claims["identity-refuted"]["instances"][0]
    assert "entry" in identity["reason"] and "left" in identity["reason"]
    assert identity["certificate"] is None and identity["verified"] is None
    shown = call(capfd, "worksheet", "run", path, "--out", tmp_path)
    assert shown.code == 1
    lines = {
        line.split(" ")[0]: line for line in shown.out.splitlines() if ": refuted" in line or ": open" in line
    }
    assert "expected 6" in lines["refuted-number"] and "dimension 7" in lines["refuted-number"]
    assert (
        "expected 8" in lines["open"]
        and "lower_bound 8" in lines["open"]
        and "dimension 8" not in lines["open"]
    )
    assert "entry" in lines["identity-refuted"]
    assert "quotient" in lines["no-value"] or "divis" in lines["no-value"]
    assert "no parameters" in lines["no-parameters"]
    bad = {name for name, verdict in VERDICTS.items() if verdict not in ACCEPTED}
    assert set(lines) == bad


@pytest.mark.parametrize(
    ("declared", "code"),
    [
        ("", 1),
        ('verdict = "refuted"', 0),
        ('verdict = "refuted"\ncounterexamples = 1', 0),
        ('verdict = "refuted"\ncounterexamples = 2', 1),
        ('verdict = "certified"', 1),
        ('verdict = "open"', 1),
    ],
)
def test_declared_verdicts_decide_the_exit_code(capfd, in_this_process, tmp_path, declared, code):
    """The truth: 6 and 7. That the statement is refuted is what such a worksheet documents."""
    text = f"""
[[claim]]
id = "six"
kind = "dimension"
expected = 6
{declared}
instances = [{{ widths = [2, 2], ranks = [1] }}, {{ widths = [2, 2], ranks = [2] }}]
"""
    path = write_sheet(tmp_path, text)
    shown = call(capfd, "worksheet", "run", path, "--out", tmp_path / "out", "--json")
    claim = json.loads(shown.out)["claims"][0]
    assert shown.code == code and claim["verdict"] == "refuted"
    assert claim["as_declared"] == (code == 0)
    assert claim["declared"] == (declared.split('"')[1] if declared else "certified")


def test_a_claim_declared_refuted_has_no_open_instance(in_this_process, tmp_path):
    text = """
[[claim]]
id = "mixed"
kind = "dimension"
expected = 8
verdict = "refuted"
instances = [{ widths = [2, 2], ranks = [1] }, { kind = "monomial", widths = [3, 2, 3], degree = 1 }]
"""
    run = run_file(write_sheet(tmp_path, text), tmp_path / "out")
    assert run.claims[0].verdict == "refuted" and run.claims[0].count("open") == 1
    assert not run.as_declared


def test_summary_agrees_with_the_certificates(every_verdict):
    _, out, _ = every_verdict
    summary = summary_of(out)
    assert summary["complete"] is True
    files = set()
    for claim in summary["claims"]:
        for instance in claim["instances"]:
            if instance["certificate"] is None:
                assert instance["verdict"] != "certified"
                continue
            path = out / instance["certificate"]
            files.add(path)
            certificate = json.loads(path.read_text(encoding="utf-8"))
            assert certificate["sha256"] == instance["sha256"] == rehashed(certificate)["sha256"]
            assert instance["verified"] is True and instance["skipped"] is False
            assert certificate["strength"] == instance["strength"] == "exact"
            stated = certificate["claim"]
            if claim["kind"] == "dimension":
                assert instance["parameters"] == reference.parameter_count(certificate["network"])
                assert instance["lower_bound"] == stated.get("lower", stated.get("value"))
                assert instance["upper_bound"] == stated.get("upper", stated.get("value"))
                assert instance["dimension"] == stated.get("value")
                assert (instance["dimension"] is None) == (stated["relation"] == "between")
            if claim["kind"] == "dimension-at-most":
                assert stated == {
                    "quantity": "dimension",
                    "relation": "at most",
                    "value": instance["upper_bound"],
                }
    assert files == set(out.glob("*/*/*.json")), "one certificate for each instance, and no other file"
    expected = {
        f"mine/{claim['id']}.tex"
        for claim in summary["claims"]
        if any(instance["certificate"] for instance in claim["instances"])
    }
    assert {claim["proof"] for claim in summary["claims"] if claim["proof"]} == expected
    assert sorted(
        ["summary.json", "table.csv", "table.md", *expected, *(str(f.relative_to(out)) for f in files)]
    ) == names(out)
    assert claims_of(summary)["certified"]["source"] == "A source & more"
    assert claims_of(summary)["with-hypotheses"]["hypotheses"] == ["weights are generic"]


def test_all_certificates_are_accepted_by_the_file_alone(every_verdict, tmp_path):
    _, out, _ = every_verdict
    copy = shutil.copy(VERIFIER, tmp_path / "check.py")
    files = sorted(out.glob("*/*/*.json"))
    done = subprocess.run([sys.executable, "-I", "-S", copy, *files], capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, done.stdout


def test_json_of_the_command(capfd, in_this_process, tmp_path):
    path, out = write_sheet(tmp_path, SHEET), tmp_path / "out"
    answer = call(
        capfd, "worksheet", "run", path, "--out", out, "--claim", "open", "--claim", "certified", "--json"
    )
    assert answer.code == 1
    assert [claim["id"] for claim in answer.json["claims"]] == ["certified", "open"]
    summary = summary_of(out)
    assert {key: summary[key] for key in answer.json} == answer.json and len(summary["left_out"]) > 3
    only = call(capfd, "worksheet", "run", path, "--out", out, "--claim", "with-hypotheses", "--json")
    assert only.code == 0


# -- running again --------------------------------------------------------------

SMALL = """
[[claim]]
id = "square"
kind = "dimension"
expected = "2*a*d + d^2 - a^2 - 1"
grid = { d = "2..3", a = "1..2" }
network = { widths = ["d", "d"], ranks = ["a"] }
"""


@pytest.fixture
def small(tmp_path, in_this_process):
    """A small worksheet that has run once."""
    path = write_sheet(tmp_path, SMALL)
    run = run_file(path, tmp_path / "out", jobs=1)
    assert run.verdict == "certified" and not any(r.skipped for r in run.claims[0].instances)
    return path, tmp_path / "out"


@pytest.mark.parametrize("jobs", [1, 2])
def test_one_job_and_two_give_the_same_files(small, tmp_path, monkeypatch, jobs):
    path, out = small
    monkeypatch.undo()
    run_file(path, tmp_path / "two", jobs=jobs)
    assert names(out) == names(tmp_path / "two")
    for name in names(out):
        if name not in ("summary.json", "table.md", "table.csv"):  # these have the seconds of the run
            assert (out / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    assert summary_of(out)["claims"][0]["verdict"] == summary_of(tmp_path / "two")["claims"][0]["verdict"]


def test_running_again(small):
    path, out = small
    before = clock(out)
    assert len(before) == 4

    def again(**options):
        run = run_file(path, out, **options)
        assert run.verdict == "certified" and run.complete
        after = clock(out)
        return {r.task.instance for r in run.claims[0].instances if r.skipped}, {
            key for key in before if after[key] != before[key]
        }

    everything = {"d2_a1", "d2_a2", "d3_a1", "d3_a2"}
    # nothing is done twice
    assert again() == (everything, set())
    assert all(i["skipped"] and i["verified"] for i in summary_of(out)["claims"][0]["instances"])
    # what is damaged, absent or about something else is done again
    folder = out / "mine" / "square"
    good = (folder / "d2_a1.json").read_text()
    (folder / "d2_a1.json").write_text(good[: len(good) // 2])
    shutil.copy(folder / "d3_a2.json", folder / "d3_a1.json")
    (folder / "d2_a2.json").unlink()
    skipped, changed = again()
    assert skipped == {"d3_a2"} and len(changed) == 3
    assert (folder / "d2_a1.json").read_text() == good
    # a certificate whose hash does not fit
    (folder / "d2_a1.json").write_text(good.replace('"determinant": ', '"determinant": 1'))
    assert again()[0] == everything - {"d2_a1"}
    # another seed, and --force
    assert again(seed="7") == (set(), set(before))
    assert {json.loads(p.read_text())["provenance"]["seed"] for p in folder.iterdir()} == {"7"}
    assert again(seed="7")[0] == everything
    assert again(seed="7", force=True)[0] == set()


def test_proofs_in_spanish(capfd, in_this_process, tmp_path):
    sheet = SHEET.partition("[[claim]]")[0] + "[[claim]]" + SHEET.split("[[claim]]")[1]
    path = write_sheet(tmp_path, sheet + '[claim.es]\ntitle = "Título"\nhypotheses = ["a menor que d"]\n')
    command = ("worksheet", "run", path, "--out", tmp_path / "out")
    assert call(capfd, *command, "--lang", "fr").code == 2 and not (tmp_path / "out").exists()
    assert call(capfd, *command, "--lang", "es").code == 0
    proof = (tmp_path / "out" / "mine" / "certified.tex").read_text(encoding="utf-8")
    assert r"\title{T\'{i}tulo}" in proof and "a menor que $d$" in proof
    assert r"\foreignlanguage{english}{A source \& more}» (en inglés)" in proof
    assert "certificadas" in proof
    assert call(capfd, *command).code == 0  # nothing is certified again, the proof is in English
    assert r"\title{certified}" in (tmp_path / "out" / "mine" / "certified.tex").read_text(encoding="utf-8")


def test_changed_worksheet_is_done_again(small):
    path, out = small
    path.write_text(SMALL.replace("ranks", "tokens = 1, ranks").replace('expected = "', 'expected = "1 + '))
    run = run_file(path, out)
    assert not any(r.skipped for r in run.claims[0].instances), "the same names, but other networks"
    # an upper bound alone does not answer for the dimension
    bound = SMALL.replace('"dimension"', '"dimension-at-most"')
    path.write_text(bound)
    run = run_file(path, out)
    assert not any(r.skipped for r in run.claims[0].instances)
    path.write_text(SMALL)
    run = run_file(path, out)
    assert run.verdict == "certified"
    assert not any(r.skipped for r in run.claims[0].instances)


def test_tampering_with_a_new_hash_is_caught(small):
    path, out = small

    def claim_more(value):
        for place in (value["claim"], *value["witness"].values()):
            place["value"] += 1

    alterations = [
        claim_more,
        lambda value: value["witness"]["lower_bound"].update(determinant=1),
        lambda value: value["witness"]["lower_bound"].update(prime=8388595),
        lambda value: value["witness"]["upper_bound"]["steps"].clear(),
        lambda value: value.update(strength=None),
        lambda value: value["provenance"].update(note=["x"]),
    ]
    target = out / "mine" / "square" / "d3_a2.json"
    original = target.read_text()
    for alter in alterations:
        value = json.loads(original)
        alter(value)
        target.write_text(json.dumps(rehashed(value)))
        run = run_file(path, out)
        verdicts = {r.task.instance: r for r in run.claims[0].instances}
        bad = verdicts.pop("d3_a2")
        assert bad.verdict == "open" and bad.verified is False and "invalid" in bad.reason
        assert {r.verdict for r in verdicts.values()} == {"certified"}
        assert run.verdict == "open"
        (entry,) = [i for i in summary_of(out)["claims"][0]["instances"] if i["name"] == "d3_a2"]
        assert entry["verdict"] == "open" and "dimension" not in entry, "what is not verified is not stated"
        assert bad.certificate["sha256"] not in (out / "mine" / "square.tex").read_text()


@pytest.mark.parametrize(
    "alter",
    [
        lambda value: value.update(claim={}),
        lambda value: value["claim"].update(relation=[]),
        lambda value: value.update(kind="degrees"),
        lambda value: value["network"].update(tokens=3),
        lambda value: value.pop("strength"),
        lambda value: value.update(witness={}),
    ],
)
def test_tampering_with_the_form_is_caught(small, alter):
    """Made again, or refused by the verifier; never trusted and no crash."""
    path, out = small
    target = out / "mine" / "square" / "d3_a2.json"
    value = json.loads(target.read_text())
    alter(value)
    target.write_text(json.dumps(rehashed(value)))
    run = run_file(path, out)
    (bad,) = [r for r in run.claims[0].instances if r.task.instance == "d3_a2"]
    assert (bad.verdict, bad.skipped) in {("certified", False), ("open", True)}


# -- wrong input ------------------------------------------------------------------


def test_output_folder_that_cannot_be_written_is_refused_before_the_work(capfd, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("keep")
    path = write_sheet(tmp_path, SMALL)
    work = []
    monkeypatch.setattr(certifying, "certify_task", lambda task: work.append(task))
    monkeypatch.setattr(certifying, "_pool", here)
    for place in (tmp_path / "file", tmp_path / "file" / "deeper", "/proc/none"):
        call(capfd, "worksheet", "run", path, "--out", place).refuses("cannot write", str(place))
        assert not work
    assert (tmp_path / "file").read_text() == "keep"


def test_wrong_worksheets_are_refused_before_the_work(capfd, tmp_path):
    path = write_sheet(tmp_path, SMALL + '[[claim]]\nid = "x"\nkind = "dimension"\n')
    out = tmp_path / "out"
    call(capfd, "worksheet", "run", path, "--out", out).refuses(str(path), '"x"')
    (tmp_path / "other").mkdir()
    one, two = write_sheet(tmp_path, SMALL), write_sheet(tmp_path / "other", SMALL)
    call(capfd, "worksheet", "run", one, two, "--out", out).refuses("mine", "--out")
    (tmp_path / "empty").mkdir()
    call(capfd, "worksheet", "run", tmp_path / "empty", "--out", out).refuses("empty", "*.toml")
    call(capfd, "worksheet", "run", one, "--claim", "square", "--claim", "no", "--out", out).refuses(
        "'no'", "square"
    )
    assert not out.exists()


def test_disk_full_stops_the_run_with_one_line(capfd, tmp_path, monkeypatch, in_this_process):
    path = write_sheet(tmp_path, SMALL)
    real = os.replace

    def full(source, target):
        if str(target).endswith("d3_a1.json"):
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "replace", full)
    call(capfd, "worksheet", "run", path, "--out", tmp_path / "out", "--jobs", "1").refuses(
        "d3_a1.json", "No space"
    )
    assert summary_of(tmp_path / "out")["complete"] is False
    assert not list((tmp_path / "out").rglob("*.tmp"))


def test_list_and_show(capfd, tmp_path):
    path = write_sheet(tmp_path, SHEET)
    listed = call(capfd, "worksheet", "list", path, "--json").json["worksheets"]
    assert [claim["id"] for claim in listed[0]["claims"]] == list(VERDICTS)
    assert listed[0]["title"] == "Every verdict" and listed[0]["claims"][0]["instances"] == 2
    shown = call(capfd, "worksheet", "show", path).out
    assert (
        "Every verdict" in shown and "check: parameters > dimension" in shown and "differs from 2*d" in shown
    )
    assert call(capfd, "worksheet", "list").out.count("\n") > 20


def test_readme_worksheet(capfd, tmp_path, in_this_process):
    """The worksheet of the README runs as written."""
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (block,) = [b.split("```")[0] for b in readme.split("```toml\n")[1:] if "[[claim]]" in b.split("```")[0]]
    path = write_sheet(tmp_path, block)
    answer = call(capfd, "worksheet", "run", path, "--out", tmp_path / "out", "--json")
    assert answer.code == 0
    (claim,) = answer.json["claims"]
    assert claim["verdict"] == "certified" and len(claim["instances"]) == 10


# -- interruption ------------------------------------------------------------------

# each takes a good part of a second
SLOW = """
[[claim]]
id = "slow"
kind = "dimension"
expected = "2*min(a,d)*d - min(a,d)^2 + d^2 - 2 + 2*b*d - b^2"
grid = { d = "26..29", a = "10..15", b = "2..4" }
network = { widths = ["d", "d", "d"], ranks = ["a", "b"] }
"""


def start(path, out, *options):
    """Start a run in a process group of its own."""
    command = [sys.executable, "-c", "from lightningalg.cli.main import main; main()"]
    return subprocess.Popen(
        [*command, "worksheet", "run", path, "--out", out, "--jobs", "2", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_certificates(out, count, timeout=60):
    end = time.monotonic() + timeout
    while len(list(out.glob("*/*/*.json"))) < count:
        assert time.monotonic() < end, "no certificates"
        time.sleep(0.02)


def members(session):
    """Command lines of the living processes of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(stat[3]) == session and stat[0] != "Z":
                    found.append((int(entry.name), (entry / "cmdline").read_text().replace("\0", " ")))
            except OSError:
                continue
    return found


def workers(session):
    return [pid for pid, command in members(session) if "spawn_main" in command]


def wait_for_nobody(session, timeout=5):
    end = time.monotonic() + timeout
    while members(session) and time.monotonic() < end:
        time.sleep(0.02)
    left = members(session)
    for pid, _ in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, left


def needs_proc():
    if not Path("/proc/self/stat").exists():
        pytest.skip("no /proc to see processes in")


@pytest.mark.parametrize(
    "to_group",
    [True, pytest.param(False, marks=pytest.mark.slow)],
    ids=["from the terminal", "to the parent alone"],
)
def test_ctrl_c_keeps_what_is_finished(tmp_path, to_group):
    needs_proc()
    path, out = write_sheet(tmp_path, SLOW), tmp_path / "out"
    process = start(path, out)
    try:
        wait_for_certificates(out, 3)
        begin = time.monotonic()
        (os.killpg if to_group else os.kill)(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=20)
        seconds = time.monotonic() - begin
    finally:
        wait_for_nobody(process.pid)
    assert seconds < 3
    assert process.returncode == 130
    assert "Traceback" not in err and "interrupted" in err
    summary = summary_of(out)
    assert summary["complete"] is False
    (claim,) = summary["claims"]
    assert claim["verdict"] == "open", "what is not done is not certified"
    finished = {i["certificate"] for i in claim["instances"] if i["certificate"]}
    files = {str(p.relative_to(out)) for p in out.glob("*/*/*.json")}
    assert 3 <= len(finished) < len(claim["instances"]) == 72
    assert finished == files
    assert not [name for name in names(out) if name.endswith(".tmp")]
    done = subprocess.run(
        [sys.executable, VERIFIER, *(out / f for f in sorted(files)[:3])], capture_output=True
    )
    assert done.returncode == 0
    # what is there is where the next run starts from
    sheet = read_worksheet(path)
    tasks = {
        f"mine/slow/{i.name}.json": runner._task(sheet, sheet.claims[0], i, out, "0", False)
        for i in sheet.claims[0].instances
    }
    assert all(certifying.certify_task(tasks[name])[3] for name in finished)


def test_ctrl_c_ends_long_computations(tmp_path):
    needs_proc()
    path, out = write_sheet(tmp_path, SMALL), tmp_path / "out"
    script = tmp_path / "run.py"
    script.write_text(f"""
import sys, time
import lightningalg.claims.dimension as module
kept = module.dimension
def long(network, **options):
    if network.to_json()["width"] == 3:
        time.sleep(100)
    return kept(network, **options)
module.dimension = long
if __name__ == "__main__":
    from lightningalg.cli.main import run
    sys.exit(run(["worksheet", "run", {str(path)!r}, "--out", {str(out)!r}, "--jobs", "2"]))
""")
    process = subprocess.Popen(
        [sys.executable, script], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        wait_for_certificates(out, 2)
        begin = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=20)
        assert time.monotonic() - begin < 3
    finally:
        wait_for_nobody(process.pid)
    assert process.returncode == 130 and "Traceback" not in err
    found = {i["name"]: i["certificate"] is not None for i in summary_of(out)["claims"][0]["instances"]}
    assert found == {"d2_a1": True, "d2_a2": True, "d3_a1": False, "d3_a2": False}


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.05, 0.2, 0.4, 0.8, 1.6])
def test_ctrl_c_while_processes_start(tmp_path, delay):
    needs_proc()
    path, out = write_sheet(tmp_path, SLOW), tmp_path / "out"
    process = start(path, out)
    try:
        end = time.monotonic() + 30
        while not out.exists() and time.monotonic() < end:  # the run proper begins
            time.sleep(0.005)
        time.sleep(delay)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=20)
    finally:
        wait_for_nobody(process.pid)
    assert process.returncode == 130
    assert "Traceback" not in err and err.strip().splitlines()[-1] == "interrupted", err
    assert summary_of(out)["complete"] is False
    assert not [name for name in names(out) if name.endswith(".tmp")]


@pytest.mark.slow
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_their_parent(tmp_path, sign):
    needs_proc()
    path, out = write_sheet(tmp_path, SLOW), tmp_path / "out"
    process = start(path, out)
    try:
        wait_for_certificates(out, 1)
        os.kill(process.pid, sign)
        process.wait(timeout=20)
    finally:
        wait_for_nobody(process.pid)
    for file in out.glob("*/*/*.json"):
        json.loads(file.read_text(encoding="utf-8"))


def test_a_worker_that_dies_costs_nothing(tmp_path):
    needs_proc()
    text = SLOW.replace('"26..29"', "16").replace("10..15", "10..13")
    path, out = write_sheet(tmp_path, text), tmp_path / "out"
    process = start(path, out, "--json")
    try:
        wait_for_certificates(out, 2)
        os.kill(workers(process.pid)[0], signal.SIGKILL)
        output, err = process.communicate(timeout=120)
    finally:
        wait_for_nobody(process.pid)
    assert process.returncode == 0, err
    (claim,) = json.loads(output)["claims"]
    assert len(claim["instances"]) == 12
    assert {i["verdict"] for i in claim["instances"]} == {"certified"}
    assert all(i["verified"] for i in claim["instances"])
    assert not [name for name in names(out) if name.endswith(".tmp")]


@pytest.mark.slow
def test_an_instance_that_always_kills_its_process(tmp_path):
    """It is open, with the reason; every other instance is certified."""
    path, out = write_sheet(tmp_path, SMALL), tmp_path / "out"
    script = tmp_path / "run.py"
    script.write_text(f"""
import os, signal, sys
import lightningalg.claims.dimension as module
kept = module.dimension
def deadly(network, **options):
    if network.to_json()["layers"][0]["d_in"] == 3 and network.to_json()["layers"][0]["rank"] == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if network.to_json()["layers"][0]["rank"] == 2 and network.to_json()["layers"][0]["d_in"] == 2:
        raise ZeroDivisionError("a defect")
    return kept(network, **options)
module.dimension = deadly
if __name__ == "__main__":
    from lightningalg.cli.main import run
    sys.exit(run(["worksheet", "run", {str(path)!r}, "--out", {str(out)!r}, "--jobs", "2"]))
""")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    found = {i["name"]: i for i in summary_of(out)["claims"][0]["instances"]}
    assert {name: i["verdict"] for name, i in found.items()} == {
        "d2_a1": "certified",
        "d2_a2": "open",
        "d3_a1": "open",
        "d3_a2": "certified",
    }
    assert "ended" in found["d3_a1"]["reason"]
    assert "ZeroDivisionError" in found["d2_a2"]["reason"]
    assert summary_of(out)["complete"] is True


# -- the packaged worksheets ---------------------------------------------------------


@pytest.fixture(scope="module")
def library():
    """The packaged worksheets, by name."""
    return {path.stem: read_worksheet(path) for path in find_worksheets([])}


def claim_of(worksheet, name):
    (found,) = [claim for claim in worksheet.claims if claim.id == name]
    return found


def chain_of(instance):
    """Widths, ranks and tokens of a chain of attention layers, from its description alone."""
    layers = instance.table["layers"]
    assert all(layer["type"] == "lightning_attention" for layer in layers)
    source = "input"
    for layer in layers:
        assert layer["inputs"] == [source]
        source = layer["id"]
    assert all(a["d_out"] == b["d_in"] for a, b in pairwise(layers))
    widths = (layers[0]["d_in"], *(layer["d_out"] for layer in layers))
    return widths, tuple(layer["rank"] for layer in layers), instance.table["tokens"]


def is_chain(instance):
    """Whether all layers are attention and none is summed: the formula of MATH.md section 4 applies."""
    layers = instance.table["layers"]
    return all(x["type"] == "lightning_attention" and "." not in x["id"] for x in layers)


def has_bottleneck(widths):
    """All hidden widths are equal, to at most the first and the last width."""
    hidden = set(widths[1:-1])
    return len(hidden) == 1 and hidden.pop() <= min(widths[0], widths[-1])


def test_single_layers_are_all_there(library):
    cases = {(d, e, a) for d in range(1, 6) for e in range(1, 6) for a in range(1, 6)}
    for name, tokens in (("dimension", 2), ("dimension-one-token", 1)):
        claim = claim_of(library["single-layer"], name)
        found = {}
        for instance in claim.instances:
            (d, e), (a,), t = chain_of(instance)
            assert t == tokens
            found[d, e, a] = instance.expected
        assert found == {case: reference.single_layer(*case, tokens) for case in cases}
        assert claim.kind == "dimension" and not claim.differs
    (degrees,) = [c for c in library["single-layer"].claims if c.kind == "degrees"]
    assert {chain_of(i)[:2] for i in degrees.instances} == {((d, e), (a,)) for d, e, a in cases}
    assert {i.expected for i in degrees.instances} == {3}


def test_deep_bottlenecks_are_all_there(library):
    sheet = library["deep-bottleneck"]
    architectures, depths = set(), set()
    for claim in sheet.claims:
        if claim.kind != "dimension" or claim.differs or claim.declared == "refuted":
            continue
        for instance in claim.instances:
            widths, ranks, tokens = chain_of(instance)
            assert has_bottleneck(widths) and tokens >= 2
            hidden = widths[1]
            # the paper's count, which needs that no layer of rank one comes before one of higher rank
            sizes = [widths[0]] + [hidden] * (len(ranks) - 1)
            count = sum(reference.r(e, a) for e, a in zip(sizes, ranks, strict=True))
            count += hidden * (widths[0] - hidden) + hidden * widths[-1] - len(ranks)
            assert instance.expected == count == reference.deep_dimension(widths, ranks, tokens)
            architectures.add((widths, ranks))
            depths.add(len(ranks))
    assert len(architectures) >= 25
    assert depths == {2, 3, 4}


def test_statements_as_quoted_fail_where_the_formulas_of_math_do(library):
    """The instances counted as counterexamples are those that an independent formula contradicts."""
    quoted = claim_of(library["deep-bottleneck"], "as-quoted")
    wrong = [chain_of(i) for i in quoted.instances if i.expected != reference.deep_dimension(*chain_of(i))]
    assert ((2, 2, 2), (1, 2), 2) in wrong and len(wrong) == quoted.counterexamples
    heads = claim_of(library["beyond-the-paper"], "heads-for-any-number")
    # one layer of seven or more heads of width 2 fills its 12 coefficients
    assert [i.expected for i in heads.instances] == [12, 12, 12, 7, 0, -33]
    one = claim_of(library["fibres"], "single-layer-as-quoted")
    swaps = [i for i in one.instances if i.variables["a"] == i.variables["dprime"] == 1]
    assert len(swaps) == one.counterexamples


def test_deep_networks_lose_what_the_three_symmetries_say(library):
    """Recounted from MATH.md: parameters minus dimension, for widths 2,2,2,2 and ranks 2,2,2: 36 - 13."""
    claim = claim_of(library["parameters-and-dimension"], "strictly-fewer-deep")
    assert len(claim.instances) == 48
    for instance in claim.instances:
        widths, ranks, tokens = chain_of(instance)
        lost = reference.parameter_count(instance.table) - reference.deep_dimension(widths, ranks, tokens)
        scalings, intra = len(ranks), sum(min(a, e) ** 2 for a, e in zip(ranks, widths[:-1], strict=True))
        assert lost >= scalings + intra + sum(e * e for e in widths[1:-1])


def test_hypotheses_are_tested_by_a_formula(library):
    """Only floats' claims rest on something that no formula tests."""
    untested = {
        name
        for name, sheet in library.items()
        for claim in sheet.claims
        if any(hypothesis.check is None for hypothesis in claim.hypotheses)
    }
    assert untested == {"floats"}


def test_arbitrary_widths_are_all_there(library):
    claim = claim_of(library["arbitrary-widths"], "arbitrary-widths")
    cases = [chain_of(instance) for instance in claim.instances]
    assert len(set(cases)) == len(cases) == 60
    for (widths, ranks, tokens), instance in zip(cases, claim.instances, strict=True):
        assert not has_bottleneck(widths), widths
        assert instance.expected == reference.deep_dimension(widths, ranks, tokens)
    assert {tokens for _, _, tokens in cases} == {1, 2, 3}
    assert {len(ranks) for _, ranks, _ in cases} >= {2, 3, 4}
    assert sum(1 in ranks for _, ranks, _ in cases) >= 20
    assert sum(1 in ranks[:-1] and max(ranks[ranks.index(1) + 1 :]) > 1 for _, ranks, _ in cases) >= 5
    values = {chain_of(i): i.expected for i in claim_of(library["arbitrary-widths"], "literature").instances}
    assert values[(4, 3, 2, 4), (2, 2, 2), 2] == 34 and values[(4, 2, 4), (2, 2), 1] == 23


def test_counting_weights_is_all_there(library):
    sheet = library["parameters-and-dimension"]
    half = claim_of(sheet, "fifty-percent")
    assert half.check.text == "2*parameters == 3*dimension"
    for instance in half.instances:
        widths, ranks, tokens = chain_of(instance)
        parameters = reference.parameter_count(instance.table)
        assert 2 * parameters == 3 * reference.deep_dimension(widths, ranks, tokens)
    models = claim_of(sheet, "language-models")
    # published hidden size, heads and layers
    sizes = {
        "bert-base": (768, 12, 12),
        "bert-large": (1024, 16, 24),
        "gpt2": (768, 12, 12),
        "gpt2-medium": (1024, 16, 24),
        "gpt2-large": (1280, 20, 36),
        "gpt2-xl": (1600, 25, 48),
        "llama-7b": (4096, 32, 32),
    }
    found = {}
    for instance in models.instances:
        heads = [x for x in instance.table["layers"] if x["type"] == "lightning_attention"]
        blocks = sum(x["type"] == "sum" for x in instance.table["layers"])
        found[instance.name] = (instance.table["width"], len(heads) // blocks, blocks)
        assert (
            {x["d_out"] for x in heads}
            == {x["rank"] for x in heads}
            == {instance.table["width"] * blocks // len(heads)}
        )
        assert reference.parameter_count(instance.table) == 4 * instance.table["width"] ** 2 * blocks
    assert found == sizes


def test_values_beyond_the_paper_are_the_literature_s(library):
    """The values that the project's issue and MATH.md section 6 quote, typed in again here."""
    quoted = {
        (2, (2, 2, 1)): 3, (2, (2, 3, 3)): 9, (2, (2, 4, 5, 4)): 20, (2, (3, 6, 4)): 24, (2, (4, 6, 3)): 30,
        (2, (5, 5, 3, 1)): 32, (2, (5, 4, 3, 1)): 25, (2, (4, 5, 5, 3, 1)): 47, (2, (3, 5, 6, 4, 3, 1)): 58,
        (2, (2, 3, 2, 3)): 10, (2, (2, 2, 3, 4, 1)): 7, (2, (2, 3, 3, 2, 2)): 12, (2, (3, 3, 3)): 15,
        (2, (2, 3, 4, 5, 4, 6, 4, 1)): 65, (3, (2, 2, 3, 1)): 6, (3, (5, 7, 1)): 34, (4, (3, 5, 1)): 14,
        (4, (4, 9, 1)): 34,
        # Ottaviani 2009 and London 1890: one dimension less than the space of forms, or than 53
        (2, (4, 5, 3)): 29, (2, (6, 8, 3)): 62, (3, (3, 5, 2)): 19, (3, (4, 6, 3, 5, 2)): 52,
    }  # fmt: skip
    found = {}
    for claim in library["beyond-the-paper"].claims:
        for instance in claim.instances:
            layers = instance.table["layers"]
            if all(x["type"] in ("linear", "monomial_activation") for x in layers):
                linear = [x for x in layers if x["type"] == "linear"]
                (degree,) = {x["degree"] for x in layers if x["type"] == "monomial_activation"}
                widths = (linear[0]["d_in"], *(x["d_out"] for x in linear))
                found[degree, widths] = instance.expected
    assert found == quoted
    heads = {i.name: i.expected for i in claim_of(library["beyond-the-paper"], "heads").instances}
    assert heads["d3_dprime3_a3_heads2"] == 32  # not 34: GL_2 mixes the heads


@pytest.fixture
def whole_run(library, finished_run, tmp_path):
    """The folder of a run of all worksheets."""
    if finished_run is not None:
        return finished_run
    assert run_worksheets(list(library.values()), out=tmp_path, jobs=os.cpu_count()).complete
    return tmp_path


@pytest.mark.slow
def test_all_packaged_worksheets_are_certified(library, whole_run):
    """Every instance is certified, verified, and states the numbers of MATH.md."""
    summary = summary_of(whole_run)
    assert summary["complete"] and not any("earlier" in claim for claim in summary["claims"])
    claims = {
        (worksheet.name, claim.id): claim for worksheet in library.values() for claim in worksheet.claims
    }
    assert [(claim["worksheet"], claim["id"]) for claim in summary["claims"]] == list(claims)
    for found in summary["claims"]:
        claim = claims[found["worksheet"], found["id"]]
        assert found["as_declared"] and found["verdict"] == (claim.declared or "certified"), claim.id
        proof = (whole_run / found["proof"]).read_text(encoding="utf-8")
        assert proof.startswith("\\documentclass")
        for result, instance in zip(found["instances"], claim.instances, strict=True):
            assert result["name"] == instance.name and result["verified"] is True
            assert result["verdict"] == "certified" or claim.declared in ("refuted", "open")
            if claim.kind == "dimension" and is_chain(instance):
                certificate = json.loads((whole_run / result["certificate"]).read_text(encoding="utf-8"))
                assert certificate["sha256"] == result["sha256"]
                assert certificate["network"] == instance.table
                assert certificate["claim"]["relation"] == "equals"
                assert certificate["claim"]["value"] == reference.deep_dimension(*chain_of(instance))
    assert sum(len(claim.instances) for claim in claims.values()) >= 600
    sheets = {worksheet.name for worksheet in library.values()}
    written = [path for path in whole_run.glob("*/*/*.json") if path.parts[-3] in sheets]
    assert len(written) == sum(len(claim["instances"]) for claim in summary["claims"])
    assert len([path for path in whole_run.glob("*/*.tex") if path.parts[-2] in sheets]) == len(claims)


def test_a_worksheet_cannot_leave_the_output_folder(tmp_path):
    """Names of files become folders; only names that stay inside are accepted."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    path = inner / "...toml"
    path.write_text(SMALL, encoding="utf-8")
    with pytest.raises(InputError, match="dots"):
        run_file(path, inner / "out" / "deep")
    assert names(tmp_path) == ["a/b/...toml"]
