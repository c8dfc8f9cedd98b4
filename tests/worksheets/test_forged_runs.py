"""Summaries that were altered by hand: no report and no book shows what their certificates do not say."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

import lightningalg as la
from lightningalg.certificates.files import read_certificate
from lightningalg.claims import claim_kinds
from lightningalg.claims.matrix_identity import matrix_identity
from lightningalg.errors import InputError
from lightningalg.render.html import render_report
from lightningalg.worksheets import certifying, runner
from lightningalg.worksheets.book import read_book
from lightningalg.worksheets.checked import contradiction
from lightningalg.worksheets.library import find_worksheets, library_folder
from lightningalg.worksheets.model import read_worksheet
from lightningalg.worksheets.report import read_report
from lightningalg.worksheets.results import ClaimResult, InstanceResult
from lightningalg.worksheets.shipped import is_shipped
from lightningalg.worksheets.statements import paper_statements, with_own_words
from lightningalg.worksheets.subjects import subject_of
from tests.cli.support import call
from tests.worksheets.test_runner import here

WORKSHEET = """
[[claim]]
id = "fibres"
kind = "fibre"
expected = 1
grid = { d = "2..3" }
network = { widths = ["d", 2], ranks = [2] }

[[claim]]
id = "pairs"
kind = "fibre-rank-one"
expected = 1
instances = [{ widths = [2, 1], ranks = [1] }]

[[claim]]
id = "zero"
kind = "embedded-component"
check = "power == d - 1"
grid = { d = 2, a = "1..2" }
network = { widths = ["d", 1], ranks = ["a"] }

[[claim]]
id = "ideals"
kind = "fibre-ideal"
check = "fibre_dimension == 1 and d == 2"
grid = { d = 2, dprime = "1..2" }
network = { widths = ["d", "dprime"], ranks = [2] }

[[claim]]
id = "recovered"
kind = "recovery"
expected = "d - 1"
grid = { d = 2 }
network = { widths = ["d", "d"], ranks = [2] }

[[claim]]
id = "one"
kind = "matrix-identity"
symbols = { A = "d x d" }
left = "A + A"
right = "2*A"

[[claim]]
id = "other"
kind = "matrix-identity"
symbols = { A = "d x d", B = "d x d" }
left = "A*(A + B)"
right = "A*A + A*B"
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forged")
    (folder / "sheet.toml").write_text(WORKSHEET)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certifying, "_pool", here)
        runner.run_worksheets([read_worksheet(folder / "sheet.toml")], out=folder / "out", jobs=1)
    return folder / "out"


@pytest.fixture()
def run(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / "out"))


@pytest.fixture()
def small(small_run, tmp_path):
    return Path(shutil.copytree(small_run, tmp_path / "out"))


def change(folder, claim, alter):
    """Alter a claim of a summary, and return the instances as the report then shows them."""
    summary = json.loads((folder / "summary.json").read_text())
    (entry,) = [c for c in summary["claims"] if c["id"] == claim]
    alter(entry)
    (folder / "summary.json").write_text(json.dumps(summary))
    (shown,) = [c for c in read_report(folder, verify=False).claims if c.id == claim]
    return shown.instances


def same_file(entry, to=0, of=1):
    first, second = entry["instances"][to], entry["instances"][of]
    first.update({key: second[key] for key in ("certificate", "sha256")})
    entry["instances"] = [first]


def test_an_honest_run_of_all_kinds_of_subjects_is_contradicted_nowhere(made):
    count = 0
    for claim in json.loads((made / "summary.json").read_text())["claims"]:
        assert claim["verdict"] == "certified", claim["id"]
        for instance in claim["instances"]:
            certificate = read_certificate(made / instance["certificate"])
            assert contradiction(claim, instance, certificate) == ""
            assert subject_of(certificate)
            count += 1
    assert count == 10


@pytest.mark.parametrize(
    ("claim", "says"),
    [("fibres", "the certificate's network has"), ("zero", "components"), ("ideals", "is not about")],
)
def test_the_certificate_of_another_instance_is_no_substitute(run, claim, says):
    (row,) = change(run, claim, same_file)
    assert row.verdict == "open" and says in row.damage and not row.facts.get("components")


def test_an_instance_without_template_is_its_network(run):
    def other(entry):
        table = la.lightning((500, 500), (500,)).to_json()
        entry["instances"][0].update(network=table, name="widths 500,500", variables={})

    (row,) = change(run, "pairs", other)
    assert row.verdict == "open" and "the summary's instance is lightning, widths 500,500" in row.damage


def test_the_name_of_an_instance_stands_beside_what_its_certificate_is_about(run):
    (row,) = change(run, "pairs", lambda c: c["instances"][0].update(name="lightning, widths 500,500"))
    assert row.about.startswith("lightning, widths 2,1, ranks 1, tokens 2")


def test_a_certificate_without_network_supports_nothing_where_the_summary_names_none(run):
    rows = change(run, "zero", lambda c: c.pop("template"))
    assert {row.verdict for row in rows} == {"open"}
    assert "names a network" in rows[0].damage or "names no network" in rows[0].damage


def test_recovered_sizes_are_compared_and_ranks_are_tied_to_nothing(run):
    summary = json.loads((run / "summary.json").read_text())
    (entry,) = [c for c in summary["claims"] if c["id"] == "recovered"]
    (instance,) = entry["instances"]
    certificate = read_certificate(run / instance["certificate"])
    wider = entry | {"template": {"widths": ["d", "d", 3], "ranks": [2, 2]}}
    assert "the certificate 2" in contradiction(wider, instance, certificate)
    ranks = entry | {"expected": "a - 1", "template": {"widths": ["d", "d"], "ranks": ["a"]}}
    free = instance | {"variables": instance["variables"] | {"a": 2}}
    assert contradiction(ranks, free, certificate) == "the summary's a is not tied to the certificate"


def test_the_identity_of_another_claim_is_no_substitute(run):
    summary = json.loads((run / "summary.json").read_text())
    (other,) = [c for c in summary["claims"] if c["id"] == "other"]
    (row,) = change(
        run,
        "one",
        lambda c: c["instances"][0].update({k: v for k, v in other["instances"][0].items() if k != "name"}),
    )
    assert row.verdict == "open" and "the certificate is about identity other" in row.damage


def test_another_identity_of_the_same_name_is_no_substitute(run):
    trivial = matrix_identity("one", symbols={"A": "1 x 1"}, left="A", right="A").certificate

    def alter(entry):
        (instance,) = entry["instances"]
        (run / instance["certificate"]).write_text(trivial.to_text())
        instance.update(sha256=json.loads(trivial.to_text())["sha256"], terms=1)

    (row,) = change(run, "one", alter)
    assert row.verdict == "open" and "is not about the identity one of the summary" in row.damage
    (row,) = change(run, "one", lambda c: c["instances"][0].pop("identity"))
    assert row.verdict == "open" and "run the worksheet again" in row.damage


@pytest.mark.parametrize(
    "expected",
    ["a + x", "a + y"],  # in no size of the template; only in a formula that does not depend on it
)
def test_a_formula_may_not_use_a_variable_that_only_the_summary_says(small, expected):
    def alter(entry):
        name = expected[-1]
        entry.update(expected=expected)
        entry["template"]["tokens"] = "2 + y - y"
        for one in entry["instances"]:
            one["variables"] |= {"y": 0}
            one["variables"][name] = one["dimension"] - one["variables"]["a"]
            one["expected"] = one["dimension"]

    rows = change(small, "dimension", alter)
    assert {row.verdict for row in rows} == {"open"}
    assert {row.damage for row in rows} == {f"the summary's {expected[-1]} is not tied to the certificate"}


def test_a_template_of_another_network_is_refused(small):
    rows = change(small, "dimension", lambda c: c["template"].update(widths=["a", "d"]))
    assert any("the summary's instance is lightning" in row.damage for row in rows)


def test_numbers_that_no_certificate_proves_are_not_shown(small):
    def alter(entry):
        for one in entry["instances"]:
            one.update({"degree of Y": "proved: 77", "codimension": 12345})

    rows = change(small, "dimension", alter)
    proved = claim_kinds()["dimension"].quantities_known
    assert all(set(row.facts) <= {"expected", *proved} and row.facts["dimension"] for row in rows)


def test_open_instances_are_compared_too(small):
    def alter(entry):
        entry.update(verdict="open")
        entry["instances"][0].update(verdict="open", dimension=5)

    rows = change(small, "wrong", alter)
    assert "the summary says dimension 5, the certificate" in rows[0].damage


def test_a_refutation_is_not_hidden_as_open(small):
    def alter(entry):
        entry.update(verdict="open")
        entry["instances"][0].update(verdict="open")

    assert "from the certificate and the claim it is refuted" in change(small, "wrong", alter)[0].damage


def test_the_table_of_the_paper_says_what_the_claims_say(small):
    summary = json.loads((small / "summary.json").read_text())
    row = {"worksheet": "small", "claim": "wrong", "title": "", "declared": "refuted", "strength": "formal"}
    row |= {"instances": 1000, "proof": None, "folder": "elsewhere", "seconds": 0}
    statement = {"id": "s", "part": "", "where": "", "text": "", "illustration": None, "rows": [row]}
    summary["table"] = {"statements": [statement], "others": []}
    (small / "summary.json").write_text(json.dumps(summary))
    (shown,) = read_report(small, verify=False).paper.statements[0].rows
    assert (shown.strength, shown.instances, shown.declared) == ("exact", 1, "certified")
    assert shown.folder == "small/wrong"


def test_a_counterexample_without_certificate_is_called_unchecked(small):
    (row,) = change(small, "wrong", lambda c: c["instances"][0].update(certificate=None, sha256=None))
    assert row.strength == "" and row.reason.startswith("counterexample not checked")


@pytest.mark.parametrize("key", ["name", "certificate"])
def test_one_certificate_counts_once(small, key):
    summary = json.loads((small / "summary.json").read_text())
    instances = summary["claims"][0]["instances"]
    instances[1][key] = instances[0][key] if key == "name" else "./" + instances[0][key]
    (small / "summary.json").write_text(json.dumps(summary))
    for read in (read_report, read_book):
        with pytest.raises(InputError, match="two instances share the"):
            read(small)


def test_nothing_in_a_summary_reaches_the_terminal_as_a_control_character(small, capfd):
    bad = "\x1b]0;x\x07\n\u202efalse"

    def alter(entry):
        for key in ("name", "strength", "expected"):
            entry["instances"][0][key] = bad
        entry["instances"][0].update(dimension=bad)

    change(small, "wrong", alter)
    answer = call(capfd, "report", small, "--no-slices")
    assert answer.code == 1 and "false" in answer.err
    assert all(line.isprintable() for line in (answer.err + answer.out).split("\n"))
    assert not any(line.startswith("false") for line in answer.err.splitlines())


def test_pages_say_which_words_nothing_checks(small):
    pages = render_report(read_report(small, verify=False))
    assert "Titles, statements and other words are those of the run" in str(pages["index.html"])
    page = str(pages["claims/small--wrong.html"])
    assert page.count("a file of the run, which nothing checks") == 2, page


def test_a_claim_that_is_not_the_shipped_one_of_its_name_is_told(small):
    (claim,) = [c for c in read_worksheet(find_worksheets(["symmetries"])[0]).claims if c.id == "intra-layer"]
    summary = json.loads((small / "summary.json").read_text())
    for entry in summary["claims"]:
        if entry["id"] == "wrong":
            entry.update(worksheet="symmetries", id="intra-layer", title=claim.title)
    (small / "summary.json").write_text(json.dumps(summary))
    report = read_report(small, verify=False)
    assert report.not_shipped == ("symmetries/intra-layer",) and report.shipped == 0
    pages = {name: str(text) for name, text in render_report(report).items()}
    assert "Not the claims of these names" in str(pages["index.html"])
    told = [name for name, text in pages.items() if "Not the claim of this name" in text]
    assert len(told) == 1 and "intra-layer" in told[0]


def test_the_words_of_the_paper_s_statements_are_the_package_s():
    one, other = paper_statements()[0], {"id": "mine", "text": "false", "rows": []}
    table = {"statements": [one.to_json(()) | {"text": "false", "where": "false", "rows": [1]}, other]}
    first, second = with_own_words(table)["statements"]
    assert first == one.to_json(()) | {"rows": [1]} and second["where"] == "not among this program's"
    assert with_own_words(None) is None and with_own_words({"statements": 3}) == {"statements": 3}


def test_every_claim_of_the_package_is_known_again():
    """What a run writes of it, and nothing else: words, instances, networks and identities are compared."""
    count = 0
    for path in library_folder().glob("*.toml"):
        sheet = read_worksheet(path)
        for claim in sheet.claims:
            blank = [
                InstanceResult(SimpleNamespace(instance=one.name), expected=one.expected)  # type: ignore[arg-type]
                for one in claim.instances
            ]
            entry = json.loads(json.dumps(ClaimResult(sheet, claim, blank).to_json(Path("out"))))
            assert is_shipped(entry) is True, (path.name, claim.id)
            count += 1
            for key in ("prose", "source", "statement", "check"):
                assert is_shipped(entry | {key: "something else"}) is False
            first, *rest = entry["instances"]
            assert is_shipped(entry | {"instances": rest}) is False
            for key in first.keys() & {"network", "identity", "variables", "expected", "name"}:
                other = first | {key: {"d": 77} if isinstance(first[key], dict) else 77}
                assert is_shipped(entry | {"instances": [other, *rest]}) is False, (claim.id, key)
    assert count > 100
