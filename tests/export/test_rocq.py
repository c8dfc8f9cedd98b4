"""Rocq files of dimension certificates: accepted by coqc as they are, and not if a digit is changed."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

import lightningalg as la
from lightningalg.claims.dimension_bound import dimension_at_most
from lightningalg.errors import LightningAlgError, TooLargeError, UnsupportedError
from lightningalg.export.rocq import export_rocq
from tests.cli.support import call

COQC = shutil.which("coqc")

NETWORKS = {
    "one output": (la.lightning((2, 1), (1,)), 4, 2),
    "square": (la.lightning((2, 2), (1,)), 6, 2),
    "rank two": (la.lightning((2, 1), (2,)), 5, 5),
    "one token": (la.lightning((2, 2), (1,), tokens=1), 6, 2),
    "monomial": (la.monomial((2, 2, 1), 2), 3, 0),
    "residual": (la.lightning((2, 2, 2), (1, 1), residual=True), 12, 0),
    "biases": (la.monomial_with_biases((1, 2, 1), 2), 3, 0),
}


def text_of(name: str) -> str:
    return export_rocq(la.dimension(NETWORKS[name][0]).certificate.to_json())


@pytest.mark.parametrize("name", NETWORKS)
def test_the_statement_has_the_right_numbers(name):
    net, dimension, fields = NETWORKS[name]
    text = text_of(name)
    assert la.dimension(net).value == dimension
    assert f"Definition r : nat := {dimension}." in text
    assert f"Definition parameters : nat := {net.parameter_count}." in text
    assert len(re.findall(r"Theorem field_\d+_is_a_symmetry", text)) == fields
    assert not fields or net.parameter_count - fields == dimension
    assert "Admitted" not in text and "Axiom" not in text


def coqc(text: str, folder) -> subprocess.CompletedProcess:
    (folder / "cert.v").write_text(text)
    return subprocess.run([COQC, "cert.v"], cwd=folder, capture_output=True, text=True, timeout=300)


needs_coqc = pytest.mark.skipif(COQC is None, reason="needs coqc (Debian package coq)")


@needs_coqc
@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_rocq_accepts_it_without_axioms(name, tmp_path):
    done = coqc(text_of(name), tmp_path)
    assert done.returncode == 0, done.stderr
    fields = NETWORKS[name][2]
    assert done.stdout.count("Closed under the global context") == 1 + (fields + 1 if fields else 0)


def digit(text: str, after: str) -> str:
    """Change the first number after a heading."""
    start = text.index(after) + len(after)
    number = re.compile(r"\d+").search(text, start)
    return text[: number.start()] + str(int(number[0]) + 1) + text[number.end() :]


@needs_coqc
@pytest.mark.slow
@pytest.mark.parametrize(
    "place",
    ["Definition theta0", "Definition inputs", "Definition inverse_minor", "Definition inverse_fields"],
)
def test_rocq_rejects_a_changed_number(place, tmp_path):
    text = digit(text_of("one output"), place + " : list")
    assert coqc(text, tmp_path).returncode != 0


@needs_coqc
@pytest.mark.slow
def test_rocq_rejects_a_field_that_is_no_symmetry(tmp_path):
    text = text_of("one output").replace("=> [q0; q1; - q2;", "=> [q0; q1; q2;", 1)
    assert text != text_of("one output")
    done = coqc(text, tmp_path)
    assert done.returncode != 0 and "ring" in done.stderr


def test_what_cannot_be_exported_is_refused():
    with pytest.raises(TooLargeError, match="60"):
        export_rocq(la.dimension(la.lightning((8, 8), (4,))).certificate.to_json())
    with pytest.raises(UnsupportedError, match="no lower bound"):
        export_rocq(dimension_at_most(la.lightning((2, 2), (1,))).to_json())
    for net in (la.normalized((2, 2), (1,)), la.convolutional(4, (2, 2), 2)):
        with pytest.raises(LightningAlgError, match="cannot be exported"):
            export_rocq(la.dimension(net).certificate.to_json())
    with pytest.raises(UnsupportedError, match="kind"):
        export_rocq({"kind": "degrees"})


def test_names_cannot_leave_the_comment():
    text = export_rocq(
        la.dimension(la.lightning((2, 1), (1,))).certificate.to_json(), name='x *) Axiom a : False. (*"'
    )
    head = text[: text.index("Require Import")]
    assert head.count("*)") == 1 and head.count("(*") == 1 and '"' not in head


def test_the_command(tmp_path, capfd):
    certificate = tmp_path / "cert.json"
    assert call(capfd, "dimension", "--widths", "2,1", "--ranks", "1", "--out", certificate).code == 0
    answer = call(capfd, "export", certificate, "--out", tmp_path / "cert.v", "--json")
    assert answer.code == 0 and (tmp_path / "cert.v").is_file()
    call(capfd, "export", certificate, "--out", tmp_path / "cert.txt").refuses(".v")
    certificate.write_text(certificate.read_text().replace('"value": 4', '"value": 5', 1))
    call(capfd, "export", certificate, "--out", tmp_path / "other.v").refuses("invalid", code=1)
    assert not (tmp_path / "other.v").exists()
    call(capfd, "export", tmp_path / "nowhere.json", "--out", tmp_path / "other.v").refuses("nowhere.json")
