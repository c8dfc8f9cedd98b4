"""``verify`` and ``prove``: altered certificates are refused by name, proofs are whole files."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.cli.support import call


@pytest.fixture(scope="module")
def certificate():
    """A certificate as a JSON object."""
    import lightningalg as la

    return la.dimension(la.lightning((4, 2, 4), (2, 1), tokens=2)).certificate.to_json()


@pytest.fixture
def good(tmp_path, certificate):
    """A file with it."""
    path = tmp_path / "good.json"
    path.write_text(json.dumps(certificate), encoding="utf-8")
    return path


def rehashed(value):
    """The same certificate with a hash that fits its content (written from FORMAT.md)."""
    rest = {key: item for key, item in value.items() if key != "sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return {**rest, "sha256": hashlib.sha256(text.encode("ascii")).hexdigest()}


def claim_more(value):
    value["claim"]["value"] = 26
    return value


def claim_more_everywhere(value):
    value["claim"]["value"] = value["witness"]["lower_bound"]["value"] = value["witness"]["upper_bound"][
        "value"
    ] = 26
    return value


def other_determinant(value):
    value["witness"]["lower_bound"]["determinant"] ^= 1
    return value


def other_prime(value):
    value["witness"]["lower_bound"]["prime"] = 8388595
    return value


def more_tokens(value):
    value["network"]["tokens"] = 3
    return value


def wrong_method(value):
    value["witness"]["upper_bound"]["method"] = "torus"
    return value


def swapped_strength(value):
    value["strength"] = "probabilistic"
    return value


ALTERED = [
    # alteration, whether the hash is made anew, the check that has to catch it
    (claim_more, False, "sha256"),
    (other_determinant, False, "sha256"),
    (claim_more, True, "claim"),
    (claim_more_everywhere, True, ""),
    (other_determinant, True, "determinant"),
    (other_prime, True, "prime"),
    (more_tokens, True, "determinant"),
    (wrong_method, True, "upper bound"),
    (swapped_strength, True, "strength"),
]


@pytest.mark.parametrize("alter, rehash, check", ALTERED, ids=lambda v: getattr(v, "__name__", str(v)))
def test_altered_certificates_are_refused_by_name(capfd, tmp_path, certificate, good, alter, rehash, check):
    value = alter(json.loads(json.dumps(certificate)))
    path = tmp_path / "altered.json"
    path.write_text(json.dumps(rehashed(value) if rehash else value), encoding="utf-8")
    answer = call(capfd, "verify", path)
    assert answer.code == 1
    assert f"{path}: invalid: {check}" in answer.out
    # among good ones too
    mixed = call(capfd, "verify", good, path, good, "--json")
    assert mixed.code == 1
    results = mixed.json["results"]
    assert [r["verdict"] for r in results] == ["valid", "invalid", "valid"]
    assert results[1]["check"].startswith(check) and results[1]["file"] == str(path)
    # nothing is printed of it
    tex = tmp_path / "proof.tex"
    call(capfd, "prove", good, path, "--out", tex).refuses(str(path), "invalid", check, code=1)
    assert not tex.exists()


def test_verify_answers_for_each_file(capfd, tmp_path, good):
    missing = tmp_path / "missing.json"
    answer = call(capfd, "verify", good, missing)
    assert answer.code == 2
    assert f"{good}: valid" in answer.out and f"{missing}: unsupported: unreadable" in answer.out
    folder = call(capfd, "verify", tmp_path)
    assert folder.code == 2 and "unsupported" in folder.out
    garbage = tmp_path / "garbage.json"
    garbage.write_bytes(b"\xff\xfe{")
    assert call(capfd, "verify", garbage).code == 1
    assert "Traceback" not in call(capfd, "verify", garbage, missing).err
    assert call(capfd, "verify", garbage, missing).code == 1, "invalid wins over unreadable"
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    assert call(capfd, "verify", fifo).code == 2


def test_verify_gives_up_in_time(capfd, tmp_path, good, monkeypatch):
    slow = tmp_path / "slow.py"
    slow.write_text("import time\ntime.sleep(30)\n")
    monkeypatch.setattr("lightningalg.certificates.checker.VERIFIER", slow)
    call(capfd, "verify", good, "--timeout", "0.2").refuses("--timeout", "0.2 s")


def test_verify_that_is_killed_is_no_answer(capfd, tmp_path, good, monkeypatch):
    killed = tmp_path / "killed.py"
    killed.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    monkeypatch.setattr("lightningalg.certificates.checker.VERIFIER", killed)
    call(capfd, "verify", good).refuses("verifier")
    call(capfd, "prove", good).refuses("verifier")


def test_prove_prints_an_article(capfd, tmp_path, good):
    printed = call(capfd, "prove", good)
    assert printed.code == 0 and printed.err == ""
    assert printed.out.startswith("\\documentclass") and printed.out.rstrip().endswith("\\end{document}")
    assert "25" in printed.out
    path = tmp_path / "deep" / "proof.tex"
    written = call(capfd, "prove", good, "--out", path)
    assert written.code == 0 and str(path) in written.out
    assert path.read_text(encoding="utf-8") == printed.out
    titled = call(capfd, "prove", good, "--title", "50% of {x} \\input{/etc/passwd}")
    assert titled.code == 0 and "\\input{/etc/passwd}" not in titled.out


def test_prove_in_spanish(capfd, tmp_path, good):
    out = tmp_path / "demostracion.tex"
    assert call(capfd, "prove", good, "--lang", "es", "--out", out).code == 0
    article = out.read_text(encoding="utf-8")
    assert r"\newtheorem{theorem}{Teorema}" in article and "clausura de Zariski" in article
    wrong = call(capfd, "prove", good, "--lang", "fr")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err == "error: language 'fr' is unknown: accepted are en (English), es (Spanish)\n"


def test_prove_refuses_what_is_no_certificate(capfd, tmp_path, certificate):
    path = tmp_path / "c.json"
    newer = tmp_path / "newer.json"
    newer.write_text(json.dumps(rehashed({**certificate, "version": 2})), encoding="utf-8")
    for content in ("{}", "[]", "", "{", '{"a": 1, "a": 1}'):
        path.write_text(content, encoding="utf-8")
        call(capfd, "prove", path).refuses(str(path))
    call(capfd, "prove", newer).refuses(str(newer), "unsupported", "version")
    call(capfd, "prove", tmp_path / "absent.json").refuses("absent.json", "No such file")


def test_proof_is_replaced_whole_or_not_at_all(capfd, tmp_path, good, monkeypatch):
    path = tmp_path / "out" / "proof.tex"
    path.parent.mkdir()
    path.write_text("old", encoding="utf-8")
    for error, code in ((KeyboardInterrupt(), 130), (OSError(28, "No space left on device"), 2)):
        with monkeypatch.context() as patch:

            def fail(*args, error=error):
                raise error

            patch.setattr(os, "replace", fail)
            answer = call(capfd, "prove", good, "--out", path)
        assert answer.code == code and "Traceback" not in answer.err
        assert [(p.name, p.read_text()) for p in path.parent.iterdir()] == [("proof.tex", "old")]
    (tmp_path / "file").write_text("x")
    call(capfd, "prove", good, "--out", tmp_path / "file" / "proof.tex").refuses("cannot write")


def test_the_pdf_takes_no_input_s_place(capfd, tmp_path, good):
    copy = tmp_path / "q.pdf"
    copy.write_bytes(good.read_bytes())
    answer = call(capfd, "prove", str(copy), "--out", str(tmp_path / "q.tex"), "--pdf")
    assert answer.code == 2 and "which is an input" in answer.err and copy.read_bytes() == good.read_bytes()
    assert not (tmp_path / "q.tex").exists()


def test_pdf_without_latex(capfd, tmp_path, good, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    path = tmp_path / "proof.tex"
    answer = call(capfd, "prove", good, "--out", path, "--pdf")
    assert answer.code == 2
    assert answer.err.count("\n") == 1 and "pdflatex" in answer.err and "install" in answer.err
    assert not path.with_suffix(".pdf").exists()


def test_pdf(capfd, tmp_path, good):
    if shutil.which("pdflatex") is None:
        pytest.skip("no pdflatex on the PATH")
    path = tmp_path / "proof.tex"
    answer = call(capfd, "prove", good, "--out", path, "--pdf")
    assert answer.code == 0, answer.err
    assert path.with_suffix(".pdf").read_bytes().startswith(b"%PDF-")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["good.json", "proof.pdf", "proof.tex"]


def test_doctor(capfd):
    parts = {part["name"]: part for part in call(capfd, "doctor", "--json").json["parts"]}
    assert parts["python-flint"]["works"] is True and parts["sympy"]["works"] is True
    assert set(parts) >= {"numba", "matplotlib", "distributed", "Singular", "msolve", "M2", "pdflatex"}
    for part in parts.values():
        assert part["works"] is False or part["version"] is not None
        assert part["version"] is not None or part["advice"]
    shown = call(capfd, "doctor")
    lines = shown.out.splitlines()
    assert shown.code == 0 and len(lines) == 10
    for name, part in parts.items():
        if part["version"] is not None:
            shown_as = rf" {re.escape(name)} {re.escape(part['version'])}[,:;]"
        else:
            shown_as = rf"missing ([\w-]+, )*{re.escape(name)}[,:]"
        (line,) = [row for row in lines[1:-1] if re.search(shown_as, row)]
        if not part["works"]:
            assert line.startswith(("broken", "missing", "partly")) and part["advice"] in line
            assert name in lines[-1]
    assert ("everything but" in lines[-1]) is not all(part["works"] for part in parts.values())


def test_verifier_copied_elsewhere_agrees(tmp_path, good):
    from pathlib import Path

    import lightningalg

    copy = tmp_path / "elsewhere" / "check.py"
    copy.parent.mkdir()
    shutil.copy(Path(lightningalg.__file__).with_name("verifier.py"), copy)
    done = subprocess.run([sys.executable, "-I", "-S", copy, good], capture_output=True, text=True, cwd="/")
    assert done.returncode == 0 and done.stdout.startswith(f"{good}: valid")
