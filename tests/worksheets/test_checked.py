"""A summary that says other things than its certificates is believed nowhere."""

import json
import re
import shutil
from pathlib import Path

import pytest

from lightningalg.certificates.files import read_certificate
from lightningalg.render.html import render_report
from lightningalg.worksheets import checked
from lightningalg.worksheets.checked import contradiction
from lightningalg.worksheets.expected_text import wanted
from lightningalg.worksheets.report import read_report
from tests.cli.support import call
from tests.worksheets.test_report import Page


@pytest.fixture()
def run(small_run, tmp_path):
    return Path(shutil.copytree(small_run, tmp_path / "out"))


def read(run):
    return json.loads((run / "summary.json").read_text())


def write(run, summary):
    (run / "summary.json").write_text(json.dumps(summary))


def test_what_a_run_wrote_is_what_its_certificates_say(run):
    summary, count = read(run), 0
    for claim in summary["claims"]:
        for instance in claim["instances"]:
            if instance["certificate"]:
                count += 1
                assert contradiction(claim, instance, read_certificate(run / instance["certificate"])) == ""
    assert count > 5


def consistently(number):
    """An alteration that contradicts nothing in the summary: a refuted claim is certified."""

    def change(claim):
        claim.update(verdict="certified", declared="certified")
        for instance in claim["instances"]:
            instance.update(verdict="certified", dimension=number, lower_bound=number, upper_bound=number)

    return change


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (consistently(99), "the summary says dimension 99, the certificate"),
        (lambda c: [i.update(parameters=1) for i in c["instances"]], "parameters 1, the certificate"),
        (lambda c: [i.update(strength="ball") for i in c["instances"]], "strength ball, the certificate"),
        (lambda c: [i["variables"].update(d1=7) for i in c["instances"]], "the certificate's network has"),
        (lambda c: [i.update(expected=3) for i in c["instances"]], "the claim's formula gives 99"),
        (lambda c: c.update(expected="d9"), "cannot be found again"),
        (lambda c: c.update(kind="boundary"), "of kind 'dimension', not 'boundary'"),
        (lambda c: c.update(kind="nothing"), "not known here"),
    ],
)  # fmt: skip
def test_an_instance_that_its_certificate_contradicts_is_open(run, change, says, capfd):
    summary = read(run)
    (claim,) = [c for c in summary["claims"] if c["id"] == "wrong"]
    change(claim)
    write(run, summary)
    (shown,) = [c for c in read_report(run, verify=False).claims if c.id == "wrong"]
    assert shown.verdict == "open" and all(row.verdict == "open" for row in shown.instances)
    assert says in shown.instances[0].damage
    answer = call(capfd, "report", run, "--no-slices")
    assert answer.code == 1 and says in answer.err
    answer = call(capfd, "book", run)
    assert answer.code == 1 and says in answer.err and "certificates cannot be printed" in answer.err


def test_a_verdict_is_found_again_from_certificate_and_formula(run):
    summary = read(run)
    (claim,) = [c for c in summary["claims"] if c["id"] == "wrong"]
    claim.update(verdict="certified")
    claim["instances"][0].update(verdict="certified")
    certificate = read_certificate(run / claim["instances"][0]["certificate"])
    assert "from the certificate and the claim it is refuted" in contradiction(
        claim, claim["instances"][0], certificate
    )


def test_a_report_shows_nothing_certified_that_the_verifier_does_not_accept(run, monkeypatch, capfd):
    monkeypatch.setattr(
        checked,
        "check_files",
        lambda files: [{"verdict": "invalid", "check": "minor", "reason": "it is 0"} for _ in files],
    )
    report = read_report(run)
    assert report.rechecked == 0 and report.damaged
    assert {claim.verdict for claim in report.claims if claim.instances} == {"open"}
    assert "the verifier says invalid: minor: it is 0" in report.damaged[0][1].damage
    answer = call(capfd, "book", run)
    assert answer.code == 1 and "is invalid: minor: it is 0" in answer.err


def test_a_report_without_the_verifier_says_so_in_its_head(run, capfd):
    verified, not_verified = (
        Page(str(render_report(read_report(run, verify=verify))["index.html"])) for verify in (True, False)
    )
    assert "which was run again for this report" in verified.text
    assert "not verified for this report" in not_verified.text and "not verified" not in verified.text
    assert "not verified again" in call(capfd, "report", run, "--no-slices", "--no-verify").out
    told = json.loads(call(capfd, "report", run, "--no-slices", "--json").out)
    assert told["verified"] == told["certificates"] > 0


def test_a_book_names_ten_of_the_files_that_are_missing_and_counts_all(run, capfd):
    files = sorted(
        run / i["certificate"] for c in read(run)["claims"] for i in c["instances"] if i["certificate"]
    )
    for file in files:
        file.unlink()
    answer = call(capfd, "book", run)
    assert answer.code == 1 and f"{len(files)} of {len(files)} certificates" in answer.err
    assert answer.err.count(".json is missing") == min(10, len(files))


def test_what_is_expected_is_printed_in_mathematics_and_words():
    assert wanted("2*a*d - a^2", "", "dimension") == ("dimension $= 2 a d - a^2$",)
    assert wanted("1", "", "closedness", lang="es") == ("las imágenes son cerradas",)
    assert wanted("", "rank_product_at_most_one == 1", "singular-locus") == (
        "the singular points are those where the product of the ranks of A and V is at most 1",
    )
    # both are printed, where there are both
    assert wanted("1", "components == 1 and degree == 2", "fibre") == (
        "dimension $= 1$",
        "components $= 1$ and degree $= 2$",
    )
    assert wanted("no(", "", "dimension") == ()


def test_no_claim_of_the_packaged_worksheets_expects_a_yes_or_no_in_digits():
    from lightningalg.render.latex.quantities import quantity_truths, quantity_words
    from lightningalg.worksheets.library import find_worksheets
    from lightningalg.worksheets.model import read_worksheet

    for path in find_worksheets([]):
        for claim in read_worksheet(path).claims:
            check = claim.check.text if claim.check else ""
            for text in wanted(claim.expected or "", check, claim.kind, differs=claim.differs):
                assert not any(name in text for name in quantity_truths() if "_" in name), (claim.id, text)
                assert not [
                    name for name in quantity_words() if name.replace("_", r"\_") in text and "_" in name
                ]


def test_every_quantity_that_a_packaged_worksheet_checks_has_words():
    """Names of the program such as ``not_immersed`` are no language."""
    from lightningalg.claims import claim_kinds
    from lightningalg.render.latex.quantities import quantity_truths, quantity_words
    from lightningalg.worksheets.library import find_worksheets
    from lightningalg.worksheets.model import read_worksheet

    worded = set(quantity_words()) | set(quantity_truths())
    checked = set()
    for path in find_worksheets([]):
        for claim in read_worksheet(path).claims:
            known = set(claim_kinds()[claim.kind].quantities_known)
            used = set(re.findall(r"[a-z_]+", claim.check.text if claim.check else "")) & known
            assert used <= worded, (path, claim.id, used - worded)
            checked |= used
    assert {"not_immersed", "dimension", "squares"} <= checked


def test_differences_of_sets_have_a_sign_that_fonts_have():
    from lightningalg.render.html.mathml import mathml

    assert "\u2216" in mathml(r"Y\setminus M") and "\u29f5" not in mathml(r"Y\setminus M")


def test_words_in_formulas_of_pages_are_text_where_lines_may_break():
    from lightningalg.worksheets.report_words import formula_mathml

    shown = formula_mathml("", "squares == 1 and dimension < 3")
    assert shown.startswith("the boundary is the set that the statement names and dimension <math>")


def test_long_formulas_of_pages_may_break_before_signs_and_after_commas():
    """In a narrow window the rest of a formula must not be out of sight."""
    from lightningalg.worksheets.report_words import formula_mathml

    pieces = formula_mathml(r"\dim Y = ", "2*min(a, d)*d - min(a, d)^2 + d*dprime - 1").split("<wbr>")
    assert len(pieces) == 7 and all(piece.startswith("<math>") for piece in pieces)
    minus = [piece for piece in pieces if "<mo>−</mo>" in piece]
    assert all("<mrow></mrow><mo>−</mo>" in piece for piece in minus) and len(minus) == 2
    whole = formula_mathml("", "binomial(a - 1, d) * abs(a - 1)")  # nothing inside a bracket that grows
    assert whole.count("<math>") == 1 and whole.count("|</mo>") == 2 and 'form="prefix"' in whole


def test_typed_indices_of_several_letters_are_lowered_on_pages():
    from lightningalg.render.html.pages import pretty

    assert str(pretty("V_ix A_yg = -M_(l-1), D_norm")) == (
        "V<sub>ix</sub> A<sub>yg</sub> = -M<sub>l-1</sub>, D<sub>norm</sub>"
    )
    assert str(pretty("weights_dimension and matrix_rank")) == "weights_dimension and matrix_rank"


def test_words_beside_small_matrices_are_whole_and_in_the_right_number():
    from lightningalg.render.html.matrices import pattern

    shown = pattern([[True, True, True]], {"Q": (0, 1)}, "T", ("coefficient", "parameter"))
    assert ">1 coefficient<" in shown and ">3 parameters<" in shown
    height = float(re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', shown)[1])
    middle = float(re.search(r"translate\(14 ([\d.]+)\)", shown)[1])
    half = 6.6 * len("1 coefficient") / 2
    assert half <= middle <= height - half
