"""Reading untrusted files, and writing whole files or none."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightningalg.certificates.files import (
    MAX_BYTES,
    read_certificate,
    read_json,
    read_text,
    remove_stale_temporaries,
    write_atomically,
)
from lightningalg.errors import InputError


def rehashed(value):
    """The certificate with a ``sha256`` that fits its content, written from FORMAT.md section 1."""
    rest = {key: item for key, item in value.items() if key != "sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return {**rest, "sha256": hashlib.sha256(text.encode("ascii")).hexdigest()}


def written(tmp_path, content):
    path = tmp_path / "file.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def refused(tmp_path, content, *words, **options):
    path = written(tmp_path, content)
    with pytest.raises(InputError) as caught:
        read_json(path, what="thing", **options)
    for word in (f"thing {path}", *words):
        assert word in str(caught.value), str(caught.value)


# -- reading ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, value",
    [
        ("{}", {}),
        ("[]", []),
        (' {"a": [1, -2, true, null, "x"]} ', {"a": [1, -2, True, None, "x"]}),
        ('"\\u00e9\\ud83d\\ude00"', "é😀"),
        ("9007199254740992", 2**53),
        ("-9007199254740992", -(2**53)),
        ('{"a": "[[[[\\"{{{"}', {"a": '[[[["{{{'}),
    ],
)
def test_json_is_read(tmp_path, text, value):
    found = read_json(written(tmp_path, text), what="thing")
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    "text, words",
    [
        ('{"a": 1, "a": 1}', ["'a'", "twice"]),
        ('{"b": {"a": 1, "c": 2, "a": 2}}', ["'a'", "twice"]),
        ('{"a": 1, "\\u0061": 2}', ["'a'", "twice"]),
        ("1.0", ["1.0", "integers"]),
        ("[1e3]", ["1e3", "integers"]),
        ("[-0.0]", ["integers"]),
        ("NaN", ["NaN"]),
        ("[Infinity]", ["Infinity"]),
        ("[-Infinity]", ["-Infinity"]),
        ("-0", ["-0"]),
        ("90071992547409930", ["2^53", "strings"]),
        ("-9007199254740993", ["2^53", "strings"]),
        ("123456789012345678", ["2^53", "strings"]),
        ("9" * 10000, ["2^53"]),
        ("", ["line 1", "column 1"]),
        ("{", ["line 1"]),
        ('{"a": 1,\n "b": }', ["line 2", "column"]),
        ("{} {}", ["line 1"]),
        ("{'a': 1}", ["line 1"]),
        ("[1,]", ["line 1"]),
        ("\ufeff{}", ["JSON"]),
        ("[" * 201 + "]" * 201, ["200"]),
        ("[" * 100000 + "]" * 100000, ["200"]),
        ("[" * 100000, ["200"]),
        ('{"a":' * 5000 + "1" + "}" * 5000, ["200"]),
        ('["\n"]', ["line 1"]),
        ("import os", ["line 1"]),
    ],
)
def test_what_is_no_such_json_is_refused(tmp_path, text, words):
    refused(tmp_path, text, *words)


def test_forty_levels_are_accepted(tmp_path):
    assert read_json(written(tmp_path, "[" * 200 + "]" * 200), what="thing")


def test_configurations_may_have_fractions_but_not_nan(tmp_path):
    assert read_json(written(tmp_path, '{"eps": 1e-12}'), what="thing", integers_only=False) == {"eps": 1e-12}
    refused(tmp_path, '{"eps": NaN}', "NaN", integers_only=False)
    refused(tmp_path, '{"eps": -Infinity}', "Infinity", integers_only=False)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
        max_leaves=20,
    ),
    st.booleans(),
)
def test_what_json_writes_is_read_back(tmp_path_factory, value, ascii_only):
    path = tmp_path_factory.getbasetemp() / "value.json"
    text = json.dumps(value, ensure_ascii=ascii_only)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    assert read_json(path, what="thing") == value


@pytest.mark.parametrize(
    "data, byte", [(b"\xff", 0), (b'{"a": "\xc3("}', 7), (b"\xc0\x80", 0), (b'"\xed\xa0\x80"', 1)]
)
def test_invalid_utf8(tmp_path, data, byte):
    refused(tmp_path, data, "UTF-8", f"byte {byte}")


def test_sizes_are_limited_before_reading(tmp_path):
    path = tmp_path / "large"
    with path.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)  # sparse
    start = time.monotonic()
    with pytest.raises(InputError, match=str(MAX_BYTES)):
        read_text(path, what="thing")
    assert time.monotonic() - start < 1
    small = written(tmp_path, "12345")
    assert read_text(small, what="thing", max_bytes=5) == "12345"
    with pytest.raises(InputError, match="at most 4"):
        read_text(small, what="thing", max_bytes=4)


def test_what_is_no_regular_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "folder").mkdir()
    start = time.monotonic()
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    cases = [
        ("fifo", "regular"),
        ("folder", "regular"),
        ("loop", "loop"),
        ("absent", "No such file"),
        ("a" * 300, "long"),
        ("a\0b", "thing"),
        ("", "regular"),
        ("/dev/zero", "regular"),
        ("/dev/null", "regular"),
    ]
    for name, word in cases:
        with pytest.raises(InputError, match=word) as caught:
            read_text(tmp_path / name, what="thing")
        assert str(caught.value).startswith("thing ")
    assert time.monotonic() - start < 2
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) == before, "files are left open"


# -- certificates -----------------------------------------------------------------

CERTIFICATE = {
    "format": "lightningalg-certificate",
    "version": 1,
    "kind": "degrees",
    "network": {},
    "claim": {},
    "witness": {},
    "strength": "exact",
    "provenance": {"note": "é"},
}


def test_certificate_is_read(tmp_path):
    value = rehashed(CERTIFICATE)
    assert read_certificate(written(tmp_path, json.dumps(value))) == value
    assert read_certificate(written(tmp_path, json.dumps(value, indent=3, ensure_ascii=False))) == value
    shuffled = dict(reversed(value.items()))
    assert read_certificate(written(tmp_path, json.dumps(shuffled))) == value


@pytest.mark.parametrize(
    "change, word",
    [
        ({"format": "certificate"}, '"format"'),
        ({"format": None}, '"format"'),
        ({"version": 2}, '"version"'),
        ({"version": "1"}, '"version"'),
        ({"version": True}, '"version"'),
        ({"claim": []}, '"claim"'),
        ({"witness": "x"}, '"witness"'),
        ({"provenance": None}, '"provenance"'),
    ],
)
def test_other_objects_are_refused_by_field(tmp_path, change, word):
    with pytest.raises(InputError, match=word):
        read_certificate(written(tmp_path, json.dumps(rehashed({**CERTIFICATE, **change}))))


@pytest.mark.parametrize("field", ["kind", "claim", "witness", "provenance"])
def test_absent_fields_are_named(tmp_path, field):
    value = {key: item for key, item in CERTIFICATE.items() if key != field}
    with pytest.raises(InputError, match=field):
        read_certificate(written(tmp_path, json.dumps(rehashed(value))))


@pytest.mark.parametrize("sha256", [None, "", 3, "0" * 64, rehashed(CERTIFICATE)["sha256"].upper()])
def test_wrong_hashes_are_refused(tmp_path, sha256):
    with pytest.raises(InputError, match="sha256"):
        read_certificate(written(tmp_path, json.dumps({**CERTIFICATE, "sha256": sha256})))
    with pytest.raises(InputError, match="sha256"):
        read_certificate(written(tmp_path, json.dumps(CERTIFICATE)))
    with pytest.raises(InputError, match="sha256"):
        read_certificate(written(tmp_path, json.dumps({**rehashed(CERTIFICATE), "strength": "ball"})))


@pytest.mark.parametrize("text", ["[]", "3", '"lightningalg-certificate"', "null"])
def test_what_is_no_object_is_refused(tmp_path, text):
    with pytest.raises(InputError, match="format"):
        read_certificate(written(tmp_path, text))


# -- writing ----------------------------------------------------------------------


def test_folders_are_made_and_bytes_kept(tmp_path):
    path = tmp_path / "a" / "b" / "c.txt"
    write_atomically(path, "é\r\n")
    assert path.read_bytes() == b"\xc3\xa9\r\n"
    write_atomically(path, b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    assert [p.name for p in path.parent.iterdir()] == ["c.txt"]


def test_permissions_are_those_of_new_files(tmp_path):
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "new", "x")
        assert os.umask(0o027) == 0o027, "the mask is unchanged"
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


@pytest.mark.parametrize("name", ["é" * 120, "a" * 250, ".", "-", "a b\n"])
def test_any_file_name_will_do(tmp_path, name):
    if name == ".":
        with pytest.raises(InputError):
            write_atomically(tmp_path / name / "", "x")
        return
    write_atomically(tmp_path / name, "x")
    assert [p.name for p in tmp_path.iterdir()] == [name]


class _Stop(BaseException):
    pass


@pytest.mark.parametrize("function", ["replace", "chmod", "fdopen"])
@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), KeyboardInterrupt(), _Stop()], ids=repr
)
def test_old_content_stays_when_writing_fails(tmp_path, monkeypatch, function, error):
    path = tmp_path / "file"
    path.write_text("old")

    def fail(*args, **kwargs):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(os, function, fail)
        with pytest.raises(InputError if isinstance(error, OSError) else type(error)):
            write_atomically(path, "new")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("file", "old")]


def test_failure_in_the_middle_of_the_content(tmp_path, monkeypatch):
    """The disk is full after some bytes: the old file is whole."""
    path = tmp_path / "file"
    path.write_text("old")
    real = os.fdopen

    class Full:
        def __init__(self, stream):
            self.stream = stream

        def __enter__(self):
            return self

        def __exit__(self, *details):
            self.stream.close()

        def write(self, data):
            self.stream.write(data[:3])
            self.stream.flush()
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fdopen", lambda *args: Full(real(*args)))
    with pytest.raises(InputError, match=r"cannot write .*file: No space left on device"):
        write_atomically(path, "new content")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("file", "old")]


@pytest.mark.parametrize("place", ["file/below", "file/below/further", "folder", "a\0b", "x" * 300])
def test_places_that_cannot_be_written(tmp_path, place):
    (tmp_path / "file").write_text("keep")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inside").write_text("keep")
    with pytest.raises(InputError, match="cannot write"):
        write_atomically(tmp_path / place, "new")
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")) == [
        "file",
        "folder",
        "folder/inside",
    ]


def test_readers_never_see_half_a_file(tmp_path):
    """While one thread replaces the file many times, every read is of one whole content."""
    import threading

    path = tmp_path / "file"
    contents = [bytes([65 + i]) * 200_000 for i in range(4)]
    write_atomically(path, contents[0])
    stop = threading.Event()

    def write():
        while not stop.is_set():
            for content in contents:
                write_atomically(path, content)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(100):
            assert path.read_bytes() in contents
    finally:
        stop.set()
        thread.join()


def test_only_regular_files_are_replaced(tmp_path):
    """A pipe stays a pipe, a link stays a link to the file that is written."""
    pipe, link, target = tmp_path / "pipe", tmp_path / "link", tmp_path / "target"
    os.mkfifo(pipe)
    link.symlink_to(target)
    with pytest.raises(InputError, match="not a regular file"):
        write_atomically(pipe, "x")
    with pytest.raises(InputError, match="not a regular file"):
        write_atomically(tmp_path, "x")
    write_atomically(link, "x")
    assert link.is_symlink() and target.read_text() == "x" and pipe.is_fifo()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(InputError, match="loop"):
        write_atomically(tmp_path / "loop", "x")


def test_temporaries_of_dead_processes_are_removed(tmp_path):
    dead = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True
    )
    stale = tmp_path / f".a.json.{int(dead.stdout)}.abc123.tmp"
    alive = tmp_path / f".a.json.{os.getpid()}.abc123.tmp"
    for path in (stale, alive, tmp_path / ".mine.tmp"):
        path.touch()
    remove_stale_temporaries(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([alive.name, ".mine.tmp"])


def test_a_write_removes_what_a_killed_one_of_the_same_file_has_left(tmp_path):
    child = subprocess.run(
        [sys.executable, "-I", "-S", "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    dead = int(child.stdout)
    old = [f".a.json.{dead}.x.tmp", f".a.json.{dead}.y_z.tmp"]
    kept = [
        f".b.json.{dead}.x.tmp", f".a.json.{os.getpid()}.x.tmp", f".a.json.{dead}.tmp", ".a.json.x.y.tmp",
        f".a.json.{dead}.x", f"a.json.{dead}.x.tmp",
    ]  # fmt: skip
    for name in [*old, *kept, f".a.json.{dead}.young.tmp"]:
        (tmp_path / name).write_text("")
        if "young" not in name:
            os.utime(tmp_path / name, (time.time() - 1000,) * 2)
    write_atomically(tmp_path / "a.json", "1")
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == sorted(["a.json", f".a.json.{dead}.young.tmp", *kept])
    (tmp_path / old[0]).write_text("")
    os.utime(tmp_path / old[0], (0, 0))
    write_atomically(tmp_path / "a.json", "2")  # looked for once
    assert (tmp_path / old[0]).exists()
