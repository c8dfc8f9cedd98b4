"""Wrong input of every sort: exit code 2, one line on stderr that names what is accepted, no traceback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time

import pytest

from tests.cli.support import call, call_process

GOOD = ("--widths", "2,2", "--ranks", "2")

WRONG = {
    # lengths
    "ranks too few": (["--widths", "3,2,3", "--ranks", "2"], ["one rank per layer"]),
    "ranks too many": (["--widths", "3,2", "--ranks", "2,2"], ["one rank per layer"]),
    "one width": (["--widths", "3", "--ranks", "2"], ["at least two"]),
    "no ranks": (["--widths", "3,2"], ['needs "ranks"']),
    "no network": ([], ["--widths", "--network"]),
    "ranks alone": (["--ranks", "2"], ["--widths"]),
    "heads of another length": (
        ["--widths", "3,2,3", "--ranks", "2,2", "--heads", "1,2,1"],
        ["one per layer"],
    ),
    "degrees of another length": (
        ["--kind", "monomial", "--widths", "3,2,3", "--degree", "2,2"],
        ["hidden layer"],
    ),
    "two token numbers": ([*GOOD, "--tokens", "1,2"], ["one integer"]),
    # sizes
    "width zero": (["--widths", "0,2", "--ranks", "2"], ["widths", "from 1 to"]),
    "width negative": (["--widths", "2,-2", "--ranks", "2"], ["widths", "from 1 to"]),
    "rank zero": (["--widths", "2,2", "--ranks", "0"], ["ranks", "from 1 to"]),
    "rank negative": (["--widths", "2,2", "--ranks", "-1"], ["ranks", "from 1 to"]),
    "no tokens": ([*GOOD, "--tokens", "0"], ["tokens", "from 1 to"]),
    "negative tokens": ([*GOOD, "--tokens", "-2"], ["tokens", "from 1 to"]),
    "no heads": ([*GOOD, "--heads", "0"], ["heads", "from 1 to"]),
    "degree zero": (["--kind", "monomial", "--widths", "2,2,2", "--degree", "0"], ["degree", "from 1 to"]),
    "unused degree zero": (
        ["--kind", "monomial", "--widths", "2,2", "--degree", "0"],
        ["degree", "from 1 to"],
    ),
    "width beyond the largest": (["--widths", "1000001,2", "--ranks", "2"], ["widths", "1000000"]),
    "huge width": (["--widths", "9" * 12 + ",2", "--ranks", "2"], ["widths", "1000000"]),
    "width of 5000 digits": (["--widths", "9" * 5000 + ",2", "--ranks", "2"], ["--widths", "integer"]),
    "rank of 5000 digits": (["--widths", "2,2", "--ranks", "9" * 5000], ["--ranks", "integer"]),
    # not integers
    "fraction": (["--widths", "2.5,2", "--ranks", "2"], ["--widths", "'2.5'", "integer"]),
    "exponent": (["--widths", "1e1,2", "--ranks", "2"], ["--widths", "integer"]),
    "hexadecimal": (["--widths", "0x2,2", "--ranks", "2"], ["--widths", "integer"]),
    "word": (["--widths", "two,2", "--ranks", "2"], ["--widths", "'two'", "integer"]),
    "nan": (["--widths", "nan,2", "--ranks", "2"], ["--widths", "integer"]),
    "empty widths": (["--widths", "", "--ranks", "2"], ["--widths", "integer"]),
    "empty ranks": (["--widths", "2,2", "--ranks", ""], ["--ranks", "integer"]),
    "empty entry": (["--widths", "2,,2", "--ranks", "2"], ["--widths", "integer"]),
    "comma at the end": (["--widths", "2,2,", "--ranks", "2"], ["--widths", "integer"]),
    "spaces for commas": (["--widths", "2 2", "--ranks", "2"], ["--widths", "integer"]),
    "underscore": (["--widths", "1_0,2", "--ranks", "2"], ["--widths", "integer"]),
    "two minus signs": (["--widths", "--2,2", "--ranks", "2"], ["--widths", "integer"]),
    "wide digits": (["--widths", "\uff14,2", "--ranks", "2"], ["--widths", "integer"]),
    "superscript": (["--widths", "2,2\u00b2", "--ranks", "2"], ["--widths", "integer"]),
    "arabic digits": ([*GOOD, "--tokens", "\u0662"], ["--tokens", "integer"]),
    "tokens word": ([*GOOD, "--tokens", "two"], ["--tokens", "integer"]),
    "code": (["--widths", "__import__('os').system('true'),2", "--ranks", "2"], ["--widths", "integer"]),
    "line breaks": (["--widths", "2,\n\n2\r\nx", "--ranks", "2"], ["--widths", "integer"]),
    # kinds
    "unknown kind": (["--kind", "softmax", *GOOD], ["'softmax'", "lightning", "monomial"]),
    "empty kind": (["--kind", "", *GOOD], ["lightning", "monomial"]),
    "kind in capitals": (["--kind", "Lightning", *GOOD], ["lightning", "monomial"]),
    "ranks of a monomial network": (["--kind", "monomial", *GOOD], ["ranks", "degree"]),
    "degree of attention": ([*GOOD, "--degree", "2"], ["degree", "ranks"]),
    "tokens of a monomial network": (["--kind", "monomial", "--widths", "2,2", "--tokens", "2"], ["tokens"]),
    "residual, unequal widths": (
        ["--widths", "3,2", "--ranks", "2", "--residual"],
        ["residual", "equal widths"],
    ),
    "residual, second layer": (
        ["--widths", "3,3,2", "--ranks", "2,2", "--residual"],
        ["equal widths", "layer 2"],
    ),
    # other options
    "composite prime": ([*GOOD, "--prime", "8388595"], ["prime"]),
    "prime one": ([*GOOD, "--prime", "1"], ["prime"]),
    "prime zero": ([*GOOD, "--prime", "0"], ["prime"]),
    "even prime": ([*GOOD, "--prime", "2"], ["prime"]),
    "negative prime": ([*GOOD, "--prime", "-7"], ["prime"]),
    "prime too large": ([*GOOD, "--prime", "2147483629"], ["prime"]),
    "prime beyond 64 bits": ([*GOOD, "--prime", str(2**89 - 1)], ["prime"]),
    "prime of 5000 digits": ([*GOOD, "--prime", "7" * 5000], ["--prime"]),
    "prime word": ([*GOOD, "--prime", "seven"], ["--prime"]),
    "no primes": ([*GOOD, "--primes", "0"], ["--primes"]),
    "too many primes": ([*GOOD, "--primes", "101"], ["--primes"]),
    "empty seed": ([*GOOD, "--seed", ""], ["seed", "letters"]),
    "seed with a space": ([*GOOD, "--seed", "a b"], ["seed", "letters"]),
    "seed with a bar": ([*GOOD, "--seed", "a|b"], ["seed", "letters"]),
    "seed with an accent": ([*GOOD, "--seed", "é"], ["seed", "letters"]),
    "seed with a wide digit": ([*GOOD, "--seed", "\uff14"], ["seed", "letters"]),
    "seed too long": ([*GOOD, "--seed", "a" * 65], ["seed", "letters"]),
    "seed with a line end": ([*GOOD, "--seed", "a\n"], ["seed", "letters"]),
    "unknown engine": ([*GOOD, "--engine", "maple"], ["'maple'", "auto, flint, blocked"]),
    "empty engine": ([*GOOD, "--engine", ""], ["auto, flint, blocked"]),
    "memory zero": ([*GOOD, "--max-memory", "0"], ["--max-memory"]),
    "memory negative": ([*GOOD, "--max-memory", "-1"], ["--max-memory"]),
    "memory nan": ([*GOOD, "--max-memory", "nan"], ["--max-memory", "finite"]),
    "memory infinite": ([*GOOD, "--max-memory", "inf"], ["--max-memory", "finite"]),
    "memory word": ([*GOOD, "--max-memory", "lots"], ["--max-memory"]),
    "more than the memory": (
        ["--widths", "40,40", "--ranks", "20", "--max-memory", "0.001"],
        ["GiB", "--max-memory"],
    ),
    "unknown option": ([*GOOD, "--layers", "2"], ["--layers"]),
    "argument": ([*GOOD, "surplus"], ["surplus"]),
    "option without value": (["--widths"], ["--widths"]),
    # files
    "file and flags": (["--network", "net.toml", *GOOD], ["--network", "--widths"]),
    "file and residual": (["--network", "net.toml", "--residual"], ["--network", "--residual"]),
    "file and tokens": (["--network", "net.toml", "--tokens", "2"], ["--network", "--tokens"]),
    "file and kind": (["--network", "net.toml", "--kind", "lightning"], ["--network", "--kind"]),
    "file and degree": (["--network", "net.toml", "--degree", "2"], ["--network", "--degree"]),
    "no file": (["--network", "/nowhere/net.toml"], ["/nowhere/net.toml", "No such file"]),
    "empty file name": (["--network", ""], ["network file"]),
    "file name too long": (["--network", "a" * 5000], ["network file"]),
    "zero byte": (["--network", "a\0b"], ["network file"]),
}


@pytest.mark.parametrize("arguments, words", WRONG.values(), ids=WRONG.keys())
def test_dimension_refuses(capfd, monkeypatch, tmp_path, arguments, words):
    monkeypatch.chdir(tmp_path)
    call(capfd, "dimension", *arguments).refuses(*words)
    call(capfd, "dimension", *arguments, "--json").refuses(*words)


COMMANDS = {
    "no command": ([], ["commands are dimension, symmetries, "]),
    "unknown command": (["dimensions"], ["'dimensions'", "commands are dimension, symmetries, "]),
    "empty command": ([""], ["commands are dimension, symmetries, "]),
    "unknown option": (["--verbose"], ["--verbose"]),
    "no worksheet command": (["worksheet"], ["list", "show", "run"]),
    "unknown worksheet command": (["worksheet", "start"], ["'start'", "list", "show", "run"]),
    "verify nothing": (["verify"], ["CERT.json"]),
    "verify too short": (["verify", "--timeout", "0", "x"], ["--timeout"]),
    "verify nan": (["verify", "--timeout", "nan", "x"], ["--timeout", "finite"]),
    "verify infinite": (["verify", "--timeout", "inf", "x"], ["--timeout"]),
    "verify huge time": (["verify", "--timeout", "1e300", "x"], ["--timeout"]),
    "prove nothing": (["prove"], ["CERT.json"]),
    "prove nan": (["prove", "--timeout", "nan", "x"], ["--timeout", "finite"]),
    "prove infinite": (["prove", "--timeout", "inf", "x"], ["--timeout"]),
    "pdf without a place": (["prove", "--pdf", "x.json"], ["--pdf", "--out"]),
    "proof that is no tex": (["prove", "x.json", "--out", "x.pdf"], [".tex"]),
    "proof without a name": (["prove", "x.json", "--out", ".tex"], [".tex"]),
    "prove no file": (["prove", "/nowhere/cert.json"], ["/nowhere/cert.json", "No such file"]),
    "worksheet of no name": (
        ["worksheet", "run", "unheard-of"],
        ["'unheard-of'", "single-layer", "deep-bottleneck"],
    ),
    "worksheet of empty name": (["worksheet", "list", ""], ["single-layer"]),
    "worksheet of a long name": (["worksheet", "show", "a" * 5000], ["single-layer"]),
    "worksheet of a zero byte": (["worksheet", "show", "a\0"], ["single-layer"]),
    "worksheet that is absent": (
        ["worksheet", "run", "/nowhere/mine.toml"],
        ["/nowhere/mine.toml", "No such file"],
    ),
    "show nothing": (["worksheet", "show"], ["NAME"]),
    "no jobs": (["worksheet", "run", "--jobs", "0"], ["--jobs"]),
    "jobs word": (["worksheet", "run", "--jobs", "all"], ["--jobs"]),
    "unknown claim": (["worksheet", "run", "single-layer", "--claim", "x"], ["'x'", "dimension-one-token"]),
    "bad seed": (["worksheet", "run", "--seed", "a b"], ["seed", "letters"]),
    "doctor with an argument": (["doctor", "surplus"], ["surplus"]),
}


@pytest.mark.parametrize("arguments, words", COMMANDS.values(), ids=COMMANDS.keys())
def test_command_line_refuses(capfd, monkeypatch, tmp_path, arguments, words):
    monkeypatch.chdir(tmp_path)
    call(capfd, *arguments).refuses(*words)


def test_help_is_no_error(capfd):
    for arguments in (["--help"], ["-h"], ["dimension", "-h"], ["worksheet", "run", "--help"], ["--version"]):
        answer = call(capfd, *arguments)
        assert (answer.code, answer.err) == (0, "")
        assert answer.out


LAYER = '[[layer]]\ntype = "lightning_attention"\nd_in = 2\nd_out = 2\nrank = 1\n'

TOML = {
    "not toml": ("widths = [2, 2]\nranks = = 1\n", ["line 2", "column"]),
    "not closed": ("widths = [2,", ["line 1", "column"]),
    "key twice": ("widths = [2, 2]\nwidths = [2, 2]\n", ["line 2", "column"]),
    "empty": ("", ['needs "widths"']),
    "unknown key": ("widths = [2, 2]\nranks = [1]\nlayers_ = 3\n", ["'layers_'", "widths"]),
    "unknown kind": (
        'kind = "softmax"\nwidths = [2, 2]\nranks = [1]\n',
        ["'softmax'", "lightning", "monomial"],
    ),
    "width text": ('widths = ["2", 2]\nranks = [1]\n', ["widths", "1000000"]),
    "widths text": ('widths = "2,2"\nranks = [1]\n', ["widths", "lists"]),
    "width fraction": ("widths = [2.0, 2]\nranks = [1]\n", ["widths", "1000000"]),
    "width true": ("widths = [true, 2]\nranks = [1]\n", ["widths", "1000000"]),
    "width nan": ("widths = [nan, 2]\nranks = [1]\n", ["widths", "1000000"]),
    "width huge": (f"widths = [0x{'f' * 5000}, 2]\nranks = [1]\n", ["widths", "1000000"]),
    "width of thousands of digits": (f"widths = [{'9' * 5000}, 2]\nranks = [1]\n", ["TOML"]),
    "lengths": ("widths = [2, 2, 2]\nranks = [1]\n", ["one rank per layer"]),
    "residual": ("widths = [3, 2]\nranks = [1]\nresidual = true\n", ["residual", "equal widths"]),
    "unknown layer": (
        '[[layer]]\ntype = "softmax_attention"\n',
        ["'softmax_attention'", "lightning_attention", "linear", "monomial_activation", "sum"],
    ),
    "no type": ("[[layer]]\nd_in = 2\n", ["type", "lightning_attention"]),
    "layer no table": ("layer = [1]\n", ["layer", "table"]),
    "no layers": ("layer = []\n", ["layer", "[[layer]]"]),
    "missing size": ('[[layer]]\ntype = "linear"\nd_in = 2\n', ["d_out"]),
    "unknown size": (LAYER + "heads = 2\n", ["'heads'", "rank"]),
    "size zero": (LAYER.replace("rank = 1", "rank = 0"), ["rank", "from 1 to"]),
    "widths that do not fit": (LAYER + '[[layer]]\ntype = "linear"\nd_in = 3\nd_out = 1\n', ["3", "2"]),
    "unknown input": (LAYER + 'inputs = ["nobody"]\n', ["nobody"]),
    "itself": (LAYER + 'id = "a"\ninputs = ["a"]\n', ["a"]),
    "same id": ((LAYER + 'id = "a"\n') * 2, ["a"]),
    "bad id": (LAYER + 'id = "a b"\n', ["a b"]),
    "two outputs": ((LAYER + 'inputs = ["input"]\n') * 2, ["output"]),
    "sum of one": (LAYER + '[[layer]]\ntype = "sum"\n', ["sum"]),
    "no parameters": ('width = 2\n[[layer]]\ntype = "monomial_activation"\ndegree = 2\n', ["no parameters"]),
    "tokens zero": ("tokens = 0\n" + LAYER, ["tokens", "from 1 to"]),
    "nested": ("a = " + "[" * 3000 + "]" * 3000, []),
}


@pytest.mark.parametrize("text, words", TOML.values(), ids=TOML.keys())
def test_network_file_is_refused(capfd, tmp_path, text, words):
    path = tmp_path / "net.toml"
    path.write_text(text, encoding="utf-8")
    call(capfd, "dimension", "--network", path).refuses(*words)


def test_network_file_that_is_no_file(capfd, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    binary = tmp_path / "binary"
    binary.write_bytes(bytes(range(256)) * 10)
    utf16 = tmp_path / "utf16"
    utf16.write_bytes("widths = [2, 2]".encode("utf-16"))
    large = tmp_path / "large"
    with large.open("wb") as stream:
        stream.truncate(100 * 2**20)  # sparse
    link = tmp_path / "link"
    link.symlink_to(link)
    start = time.monotonic()
    call(capfd, "dimension", "--network", folder).refuses(str(folder), "not a regular file")
    call(capfd, "dimension", "--network", fifo).refuses(str(fifo), "not a regular file")
    call(capfd, "dimension", "--network", binary).refuses(str(binary), "UTF-8")
    call(capfd, "dimension", "--network", utf16).refuses(str(utf16), "UTF-8")
    call(capfd, "dimension", "--network", large).refuses(str(large), "bytes")
    call(capfd, "dimension", "--network", link).refuses(str(link))
    call(capfd, "dimension", "--network", "/dev/zero").refuses("/dev/zero", "not a regular file")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        call(capfd, "dimension", "--network", tmp_path / "s").refuses(str(tmp_path / "s"))
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("place", ["file/cert.json", "file", "/proc/none/cert.json", "", "folder"])
def test_output_that_cannot_be_written(capfd, tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("keep")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inside").write_text("keep")
    if place == "file":
        place = "file/deeper/cert.json"
    call(capfd, "dimension", *GOOD, "--out", place).refuses("cannot write")
    assert (tmp_path / "file").read_text() == "keep"
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["file", "folder", "inside"]


def test_a_name_that_is_not_text_can_be_printed(tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff\xfe.json"
    answer = call_process("dimension", *GOOD, "--out", os.fsdecode(name))
    assert answer.code == 0, answer.err
    assert os.path.exists(name)
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    shown = call_process("worksheet", "show", "symmetries", env=environment)
    assert shown.code == 0, shown.err


def test_output_that_is_full_or_closed():
    code = "from lightningalg.cli.main import main; main()"
    command = [sys.executable, "-c", code, "dimension", *GOOD]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "No space left" in done.stderr
    # a reader that goes away is no error of the mathematics
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


# -- outputs that are inputs --------------------------------------------------------------------------------

NET = 'tokens = 2\n[[layer]]\ntype = "lightning_attention"\nd_in = 2\nd_out = 1\nrank = 1\n'


@pytest.mark.parametrize(
    "command", ["dimension", "symmetries", "singular", "boundary", "invariants", "fiber"]
)
def test_the_network_file_is_not_overwritten(command, tmp_path, capfd):
    path = tmp_path / "net.toml"
    path.write_text(NET)
    (tmp_path / "link").symlink_to(path)
    for out in (path, tmp_path / "." / "net.toml", tmp_path / "link"):
        call(capfd, command, "--network", path, "--out", out).refuses("overwrite", "net.toml")
    assert path.read_text() == NET


def test_tables_and_points_are_not_overwritten(tmp_path, capfd):
    table = tmp_path / "t.csv"
    table.write_text('architecture,exponent,dimension\n"(2,3,3)",2,9\n')
    call(capfd, "sweep", table, "--store", tmp_path / "s.sqlite", "--export", table).refuses("overwrite")
    assert table.read_text().startswith("architecture")
    (tmp_path / "p.json").write_text("{}")
    for command in (["fiber", "--point"], ["membership", "--widths", "2,1", "--ranks", "1", "--tensor"]):
        call(capfd, *command, tmp_path / "p.json", "--out", tmp_path / "p.json").refuses("overwrite")
    call(capfd, "recover", tmp_path / "p.json", "--layers", "1", "--out", tmp_path / "p.json").refuses(
        "overwrite"
    )
    assert (tmp_path / "p.json").read_text() == "{}"


def test_two_results_need_two_names(tmp_path, capfd):
    arguments = ["--widths", "2,1", "--ranks", "1", "--export", "singular", "--export-to", tmp_path / "same"]
    call(capfd, "invariants", *arguments, "--out", tmp_path / "same").refuses("two results")
    assert not (tmp_path / "same").exists()


@pytest.mark.parametrize("command", ["boundary", "singular", "membership"])
def test_huge_layers_are_refused_at_once(command, tmp_path, capfd):
    (tmp_path / "t.json").write_text('{"coefficients": []}')
    extra = ["--tensor", tmp_path / "t.json"] if command == "membership" else []
    answer = call(capfd, command, "--widths", "1000000,1000000", "--ranks", "2", *extra)
    answer.refuses("1000000", "500")


def test_integers_of_many_digits(capfd):
    call(capfd, "dimension", "--widths", "9" * 30 + ",2", "--ranks", "1").refuses("30 digits", "1000000")


def test_a_folders_name_is_no_name_of_a_file(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text("[[family]]\nlayers = 1\nwidths = 2\nranks = 1\n")
    call(capfd, "sweep", "s.toml", "--store", "ab/").refuses("--store ab/", "the name of a file")
    call(capfd, "sweep", "s.toml", "--store", "a", "--export", "b.csv/").refuses("--export b.csv/")
    call(capfd, "dimension", "--widths", "2,2", "--ranks", "1", "--out", "c.json/").refuses("--out c.json/")
    assert [path.name for path in tmp_path.iterdir()] == ["s.toml"]
    done = call(capfd, "sweep", "s.toml", "--store", "a", "--workers", "1", "--certificates", "d/")
    assert done.code == 0 and len(list((tmp_path / "d").iterdir())) == 1


def test_folders_that_outputs_make_are_named(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    network = ("dimension", "--widths", "2,2", "--ranks", "1", "--json", "--out")
    made = call(capfd, *network, "mistyped/name/c.json")
    assert made.code == 0 and made.err == "note: made folder mistyped/name\n" and made.json["dimension"] == 6
    assert call(capfd, *network, "mistyped/name/d.json").err == ""
    assert call(capfd, *network, "c.json").err == ""
    call(capfd, "dimension", "--widths", "2,2", "--out", "other/c.json").refuses("ranks")
    assert not (tmp_path / "other").exists()
