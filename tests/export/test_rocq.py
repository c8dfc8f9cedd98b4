"""Rocq files of dimension certificates: accepted by coqc as they are, and not if anything is changed."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from functools import cache
from importlib.resources import files

import pytest

import lightningalg as la
from lightningalg.claims.dimension_bound import dimension_at_most
from lightningalg.errors import LightningAlgError, TooLargeError, UnsupportedError
from lightningalg.export import cost
from lightningalg.export.gallina import comment
from lightningalg.export.minors import small_jacobians, small_minor
from lightningalg.export.rocq import THEORY_PARTS, export_rocq, rocq_file
from lightningalg.networks.matrix import Matrix
from tests.cli.support import call

COQC = shutil.which("coqc")

TIED = """
tokens = 2
width = 2
[[layer]]
id = "a"
type = "lightning_attention"
d_in = 2
d_out = 2
rank = 1
[[layer]]
id = "s"
type = "sum"
inputs = ["input", "a"]
[[layer]]
id = "b"
type = "lightning_attention"
inputs = ["s"]
d_in = 2
d_out = 2
rank = 1
weights = "a"
"""

#: network, dimension, method of the upper bound
NETWORKS = {
    "one layer": (la.lightning((2, 2), (1,)), 6, "fields"),
    "rank above the width": (la.lightning((2, 1), (3,)), 5, "fields"),
    "one token": (la.lightning((3, 2, 3), (2, 1), tokens=1), 15, "fields"),
    "two layers, second of rank one": (la.lightning((3, 2, 3), (2, 1)), 17, "fields"),
    "rank one before rank two": (la.lightning((2, 2, 2), (1, 2)), 8, "fields"),
    "dead directions": (la.lightning((2, 5, 2), (3, 4)), 10, "fields"),
    "three layers": (la.lightning((3, 2, 2, 3), (2, 1, 2)), 19, "fields"),
    "four layers, modulo a prime": (la.lightning((2, 2, 2, 2, 2), (1, 1, 1, 1)), 12, "fields"),
    "heads": (la.lightning((3, 2), (2,), heads=2), 26, "fields"),
    "heads that fill their space": (la.lightning((2, 2), (2,), heads=3), 12, "coefficients"),
    "residual": (la.lightning((2, 2, 2), (1, 1), residual=True), 12, "fields"),
    "tied": (la.Network.from_toml(TIED), 6, "fields"),
    "monomial": (la.monomial((3, 3, 2), 2), 12, "fields"),
    "rotations": (la.monomial((4, 2, 1), 2), 7, "fields"),
    "biases": (la.monomial_with_biases((3, 2, 2), 2), 12, "fields"),
    "quadratic forms": (la.monomial((2, 3, 3), 2), 9, "coefficients"),
    "no symmetries": (la.monomial_with_biases((1, 2), 2), 4, "parameters"),
}


@cache
def file_of(name):
    return rocq_file(la.dimension(NETWORKS[name][0]).certificate.to_json(), name="cert.v")


@pytest.mark.parametrize("name", NETWORKS)
def test_both_bounds_are_in_the_file(name):
    network, dimension, method = NETWORKS[name]
    file = file_of(name)
    assert (file.at_least, file.at_most, file.method, file.missing) == (dimension, dimension, method, None)
    assert file.fields == (network.parameter_count - dimension if method == "fields" else 0)
    text = file.text
    assert f"Definition parameters : nat := {network.parameter_count}." in text
    assert f"dimension_is_at_least ({dimension}):" in text and f"dimension_is_at_most ({dimension}):" in text
    assert re.search(rf"sum {dimension} \(fun i => c i \* gradient network parameters theta0", text)
    assert f"sum {dimension + 1} (fun i => c i * gradient network parameters theta (Y i)" in text
    assert "Admitted" not in text and "Axiom" not in text and "NOT PROVED" not in text
    assert (
        text.index("Definition network") < text.index("Theory") < text.index("Theorem dimension_is_at_least")
    )


def test_what_is_missing_is_said():
    certificate = la.dimension(la.lightning((3, 2), (3,), heads=2)).certificate.to_json()
    assert certificate["claim"]["value"] == 26
    file = rocq_file(certificate)
    assert (file.at_least, file.at_most, file.fields) == (26, 28, 20)
    assert "span 20 of the 22" in file.missing
    head = file.text[: file.text.index("Require Import")]
    assert "NOT PROVED HERE" in head and "dimension at most 26" in head and "span 20 of the 22" in head


@pytest.mark.parametrize(
    ("network", "words"),
    [
        (
            la.monomial((4, 300, 1), 6),  # 84 coefficients
            "at most 84: no vector fields were searched (more than 400 parameters), and "
            "the output was not expanded: more than 20,000 terms",
        ),
        (
            la.lightning((100, 100), (20,)),
            "at most 13599: no vector fields were searched (more than 400 parameters), and "
            "the output was not expanded: more than 2,000 parameters",
        ),
    ],
    ids=str,
)
def test_what_was_not_searched_is_not_said_to_be_searched(network, words):
    file = rocq_file(dimension_at_most(network).to_json())
    assert words in file.missing and words in file.text[: file.text.index("Require Import")]


def test_large_networks_are_refused_at_once():
    certificate = dimension_at_most(la.lightning((768, 768), (64,))).to_json()
    started = time.process_time()
    with pytest.raises(TooLargeError, match="688,128 parameters: accepted are at most 20,000"):
        rocq_file(certificate)
    assert time.process_time() - started < 2


def test_digits_are_bounded_without_the_numbers():
    """Against the numbers themselves, were all positive."""
    for network in (la.lightning((2, 3, 2), (2, 1)), la.monomial_with_biases((3, 2, 2), 2)):
        minor = small_minor(next(small_jacobians(network)), 2)
        blocks = {
            (b.node, b.name): Matrix.from_flat(
                [abs(x) for x in minor.point[b.offset : b.offset + b.size]], b.shape
            )
            for b in network.parameter_blocks
        }
        size = max(abs(x) for X, _ in minor.samples for x in X)
        values = network.values(blocks, Matrix([[size] * network.tokens] * network.width))
        for name, bits in cost._bits(network, minor).items():
            exact = max(int(x).bit_length() for row in values[name].rows for x in row)
            assert exact <= bits <= 2 * exact + 6


def test_the_better_of_fields_and_coefficients_is_taken():
    certificate = la.dimension(la.lightning((2, 3), (3,), heads=2)).certificate.to_json()
    assert certificate["claim"]["value"] == 16  # 18 coefficients, and 36 parameters less 18 fields
    file = rocq_file(certificate)
    assert (file.at_least, file.at_most, file.method) == (
        16,
        18,
        "fields",
    ) and "span 18 of the 20" in file.missing
    certificate = la.dimension(la.lightning((2, 3), (4,), heads=3)).certificate.to_json()
    file = rocq_file(certificate)
    assert (file.at_most, file.method, file.missing) == (18, "coefficients", None)


def test_a_bound_without_a_lower_one():
    file = rocq_file(dimension_at_most(la.lightning((2, 2), (1,))).to_json())
    assert (file.at_least, file.at_most, file.fields, file.missing) == (None, 6, 2, None)
    assert "dimension_is_at_least" not in file.text and "minor_is_checked" not in file.text


def coqc(text: str, folder, *options: str) -> subprocess.CompletedProcess:
    (folder / "cert.v").write_text(text)
    command = [COQC, *options, "cert.v"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


needs_coqc = pytest.mark.skipif(COQC is None, reason="needs coqc (Debian package coq)")

#: the theory, in the order of the files
THEORY = ("networks", *dict.fromkeys(name for parts in THEORY_PARTS.values() for name in parts))


def template(name: str) -> str:
    return files("lightningalg.export").joinpath("templates", f"{name}.v").read_text("utf-8")


@pytest.fixture(scope="module")
def theory(tmp_path_factory):
    """The theory of all files, compiled once: its proofs take five seconds."""
    folder = tmp_path_factory.mktemp("theory")
    heading = part(file_of("one layer").text, "Require Import")
    heading = heading[: heading.index("(* ====")]
    (folder / "theory.v").write_text(heading + "".join(map(template, THEORY)))
    subprocess.run([COQC, "theory.v"], cwd=folder, check=True, timeout=300)

    def check(text, where):
        """Run coqc on a file with the compiled theory in place of its text."""
        for name in THEORY:
            text = text.replace(template(name), "")
        assert "Lemma sum_ext" not in text and "Definition network " in text
        return coqc(
            text.replace("Open Scope", "Require Import theory.\nOpen Scope", 1), where, "-R", str(folder), ""
        )

    return check


@needs_coqc
@pytest.mark.slow
@pytest.mark.parametrize("name", ["one layer", "heads that fill their space", "no symmetries"])
def test_rocq_accepts_the_whole_file_without_axioms(name, tmp_path):
    accepts(coqc(file_of(name).text, tmp_path), file_of(name).text)


def accepts(done, text):
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == ["Closed under the global context"] * text.count(
        "Print Assumptions"
    )


@needs_coqc
@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_rocq_accepts_it_without_axioms(name, theory, tmp_path):
    accepts(theory(file_of(name).text, tmp_path), file_of(name).text)


@needs_coqc
@pytest.mark.slow
def test_rocq_accepts_an_upper_bound_alone(theory, tmp_path):
    text = rocq_file(dimension_at_most(la.lightning((2, 2), (1,))).to_json()).text
    accepts(theory(text, tmp_path), text)


def digit(text: str, after: str) -> str:
    """Raise the first number after a heading by one."""
    start = text.index(after) + len(after)
    number = re.compile(r"\d+").search(text, start)
    return text[: number.start()] + str(int(number[0]) + 1) + text[number.end() :]


def part(text: str, start: str) -> str:
    """Return the text from a heading on."""
    return text[text.index(start) :]


def changed(text: str, start: str, old: str, new: str) -> str:
    """Replace the first occurrence after a heading."""
    tail = part(text, start)
    assert old in tail
    return text[: -len(tail)] + tail.replace(old, new, 1)


def part_replaced(text: str, start: str, *pairs: tuple[str, str]) -> str:
    tail = part(text, start)
    head = text[: -len(tail)]
    for old, new in pairs:
        assert old in tail
        tail = tail.replace(old, new)
    return head + tail


#: what is changed, and what of the file is refused
CHANGES = {
    "the network": (
        lambda t: changed(t, "Definition network", "attention 2 Q1 K1", "attention 2 K1 K1"),
        'unify .* with "network"',
    ),
    "its description": (
        lambda t: changed(t, "Definition description", "(Block 0 1 2)", "(Block 2 1 2)"),
        'unify .* with "network"',
    ),
    "the point": (lambda t: digit(t, "Definition theta0 : list Z := "), "minor_check"),
    "an input": (lambda t: digit(t, "Definition samples : list sample := "), "minor_check"),
    # sums of products end with the shorter list: these change no number that is computed
    "an input with one row more": (
        lambda t: changed(t, "Definition samples", "]],", "]; [5; 7]],"),
        "minor_check",
    ),
    "a point with one number more": (
        lambda t: changed(t, "Definition theta0 : list Z", "].", "; 1]."),
        "minor_check",
    ),
    "the number of parameters": (lambda t: digit(t, "Definition parameters : nat := "), "_check"),
    "an inverse": (lambda t: digit(t, "Definition inverse_columns : list (list Z) := "), "minor_check"),
    "a field": (lambda t: changed(t, "Definition checked", "[(1, [", "[(2, ["), "check_fields"),
    "a witness": (lambda t: digit(t, "Scores [["), "check_fields"),
    "an inverse of fields": (
        lambda t: digit(t, "Definition inverse_of_fields : list (list Z) := "),
        "independence_check",
    ),
    "the lower bound": (
        lambda t: part_replaced(t, "Theorem dimension_is_at_least", ("sum 6", "sum 7"), ("< 6", "< 7")),
        "sum 7",
    ),
    "the upper bound": (
        lambda t: part_replaced(t, "Theorem dimension_is_at_most", ("sum 7", "sum 6"), ("< 7", "< 6")),
        "Cannot find witness",
    ),
}


@needs_coqc
@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_rocq_rejects_a_changed_file(name, theory, tmp_path):
    text = file_of("one layer").text
    change, refused = CHANGES[name]
    altered = change(text)
    assert altered != text
    done = theory(altered, tmp_path)
    assert done.returncode == 1 and re.search(refused, " ".join(done.stderr.split())), done.stderr


@needs_coqc
@pytest.mark.slow
def test_rocq_rejects_a_changed_coefficient(theory, tmp_path):
    text = file_of("quadratic forms").text
    done = theory(changed(text, "Definition combinations", "[(1, [", "[(2, ["), tmp_path)
    assert done.returncode == 1 and "coefficients_check" in done.stderr, done.stderr


@needs_coqc
@pytest.mark.slow
def test_rocq_rejects_fewer_parameters_than_the_network_reads(theory, tmp_path):
    """With no other evidence than the number of parameters: every method checks what the network reads."""
    text = rocq_file(dimension_at_most(la.monomial_with_biases((1, 2), 2)).to_json()).text
    accepts(theory(text, tmp_path), text)
    fewer = changed(text, "Definition parameters", ":= 4.", ":= 3.")
    fewer = part_replaced(fewer, "Theorem dimension_is_at_most", ("sum 5", "sum 4"), ("< 5", "< 4"))
    done = theory(fewer, tmp_path)
    assert done.returncode == 1 and "well_shaped parameters 1 2" in " ".join(done.stderr.split()), done.stderr


def test_the_statements_say_shapes_and_lengths():
    text = file_of("two layers, second of rank one").text
    words = " ".join(part(text, "==== Statements").split())
    for statement in (
        "well_shaped parameters 3 3 description 2 = true",
        "Theorem dimension_is_at_least : length theta0 = parameters /\\ (forall i, (i < 17)%nat -> "
        "is_matrix 3 2 (functional i) /\\ is_matrix 3 2 (input i)) /\\ forall c",
        "forall theta, length theta = parameters ->",
    ):
        assert statement in words
    assert "length theta = parameters ->" in part(
        file_of("no symmetries").text, "Theorem dimension_is_at_most"
    )


def test_what_cannot_be_exported_is_refused():
    with pytest.raises(TooLargeError, match="accepted are"):
        export_rocq(la.dimension(la.lightning((12, 12, 12), (9, 9))).certificate.to_json())
    deep = la.dimension(la.lightning((1,) * 30, (1,) * 29)).certificate.to_json()
    started = time.process_time()
    with pytest.raises(TooLargeError, match="coqc is predicted"):  # 3^29 paths through the network
        rocq_file(deep)
    assert time.process_time() - started < 2
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


def test_comments_keep_their_brackets():
    assert "no vector fields were searched (more than" in comment("no vector fields were searched (more than")
    for text in ("(*", "*)", "(**)", "a(*b*)c", "(\u2217 * )"):
        assert "*" not in comment(text)


def test_the_command(tmp_path, capfd):
    certificate = tmp_path / "cert.json"
    assert call(capfd, "dimension", "--widths", "3,2,3", "--ranks", "2,2", "--out", certificate).code == 0
    answer = call(capfd, "export", certificate, "--out", tmp_path / "cert.v")
    assert answer.code == 0 and (tmp_path / "cert.v").is_file()
    for words in ("at least 18", "at most 18", "14 vector fields", f"coqc {tmp_path / 'cert.v'}"):
        assert words in answer.out
    told = call(capfd, "export", certificate, "--out", tmp_path / "cert.v", "--json").json
    assert (told["at_least"], told["at_most"], told["fields"], told["missing"]) == (18, 18, 14, None)
    call(capfd, "export", certificate, "--out", tmp_path / "cert.txt").refuses(".v")
    certificate.write_text(certificate.read_text().replace('"value": 18', '"value": 19', 1))
    call(capfd, "export", certificate, "--out", tmp_path / "other.v").refuses("invalid", code=1)
    assert not (tmp_path / "other.v").exists()
    call(capfd, "export", tmp_path / "nowhere.json", "--out", tmp_path / "other.v").refuses("nowhere.json")


def test_the_command_takes_names_that_coqc_takes(tmp_path, capfd):
    certificate = tmp_path / "cert.json"
    assert call(capfd, "dimension", "--widths", "2,1", "--ranks", "1", "--out", certificate).code == 0
    for name, other in (("my-cert.v", "my_cert.v"), ("1a.v", "_1a.v"), ("a.b.v", "a_b.v")):
        call(capfd, "export", certificate, "--out", tmp_path / name).refuses(other)
    folder = tmp_path / "two words\n\x1b[31m"
    answer = call(capfd, "export", certificate, "--out", folder / "it's.v")
    assert answer.code == 0 and "coqc '" in answer.out and "\x1b" not in answer.out + answer.err
    assert len(answer.out.splitlines()) == 4


def test_no_command_prints_control_characters_of_paths(tmp_path, capfd):
    odd = tmp_path / "a\nb\x1b[31m"
    sizes = ("--widths", "2,1", "--ranks", "1")
    for command in ("dimension", "degree", "symmetries"):
        answer = call(capfd, command, *sizes, "--out", odd / f"{command}.json")
        assert answer.code == 0 and "\x1b" not in answer.out + answer.err, answer
        assert "a\\nb\\x1b[31m" in answer.out and "a\\nb\\x1b[31m" in answer.err + answer.out
    certificate = odd / "dimension.json"
    answer = call(capfd, "prove", certificate, "--out", odd / "proof.tex")
    assert answer.code == 0 and "\x1b" not in answer.out
    certificate.write_text(certificate.read_text().replace('"value": 4', '"value": 5', 1))
    for command, out in (("prove", "other.tex"), ("export", "other.v")):
        answer = call(capfd, command, certificate, "--out", odd / out)
        answer.refuses("invalid", code=1)
        assert "\x1b" not in answer.err


def test_the_command_says_what_is_missing(tmp_path, capfd):
    certificate = tmp_path / "cert.json"
    flags = ("--widths", "3,2", "--ranks", "3", "--heads", "2")
    assert call(capfd, "dimension", *flags, "--out", certificate).code == 0
    answer = call(capfd, "export", certificate, "--out", tmp_path / "cert.v")
    assert answer.code == 0 and "at most 28" in answer.out
    assert "not in the file: dimension at most 26" in answer.out and "span 20 of the 22" in answer.out
