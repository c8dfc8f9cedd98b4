"""Files that are not what a command reads: exit code 2 and one line, whatever they are."""

from __future__ import annotations

import json

import pytest

from tests.cli.support import call

FILES = {
    "empty": b"",
    "binary": b"\x7fELF\x02\x01\x01\x00\xff\xfe" * 20,
    "list": b"[1, 2]",
    "number": b"5",
    "object": b'{"a": 1}',
    "folder": None,
}
COMMANDS = {
    "export": ("export", "FILE", "--out", "x.v"),
    "prove": ("prove", "FILE", "--out", "x.tex"),
    "dimension": ("dimension", "--network", "FILE"),
    "fiber": ("fiber", "--widths", "2,2", "--ranks", "1", "--point", "FILE"),
    "recover": ("recover", "FILE", "--layers", "1"),
    "membership": ("membership", "--widths", "2,2", "--ranks", "1", "--tokens", "2", "--tensor", "FILE"),
    "run": ("worksheet", "run", "FILE"),
    "show": ("worksheet", "show", "FILE"),
    "report": ("report", "FILE"),
    "book": ("book", "FILE"),
    "sweep": ("sweep", "FILE", "--store", "s.sqlite"),
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("name", COMMANDS)
def test_one_line_and_two(tmp_path, monkeypatch, capfd, name, kind):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / kind
    content = FILES[kind]
    path.mkdir() if content is None else path.write_bytes(content)
    call(capfd, *(str(path) if word == "FILE" else word for word in COMMANDS[name])).refuses(str(path))
    assert not list(tmp_path.glob("x.*"))


@pytest.mark.parametrize("command", ["export", "prove"])
def test_an_altered_certificate_is_still_wrong_and_not_another_file(tmp_path, capfd, command):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    assert call(capfd, "dimension", "--widths", "2,2", "--ranks", "1", "--out", good).code == 0
    content = json.loads(good.read_text())
    content["claim"]["note"] = 1
    bad.write_text(json.dumps(content))
    out = tmp_path / ("x.v" if command == "export" else "x.tex")
    call(capfd, command, bad, "--out", out).refuses("invalid", code=1)
