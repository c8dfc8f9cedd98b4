"""What can go wrong with a store: full, read-only, damaged, newer, in use."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from lightningalg.errors import InputError
from lightningalg.sweeps.locking import one_at_a_time
from lightningalg.sweeps.run import run_sweep
from lightningalg.sweeps.spec import Family
from lightningalg.sweeps.store import Store
from lightningalg.sweeps.work import Row
from tests.cli.support import call


def some(count: int = 3):
    found = Family.parse({"layers": 1, "widths": "2..4", "ranks": "1..3"}, 1).architectures()
    return [next(found) for _ in range(count)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "s.sqlite"
    with Store(path) as store:
        run_sweep(some(), store, workers=1)
    return path


@pytest.fixture
def path(tmp_path, made):
    return Path(shutil.copy(made, tmp_path))


def hashes(path):
    with Store(path) as store:
        return [row["sha256"] for row in store.rows()]


def test_no_room_is_said_in_one_line_and_nothing_is_lost(path):
    before = hashes(path)
    new = some(4)[3]
    with Store(path) as store:
        store.add([new])
        (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
        # SQLite then says that the disk is full
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(InputError, match=r"s\.sqlite: .*full; make room"):
            store.put(Row(new.key, "certified", certificate=os.urandom(200_000)))
    assert hashes(path) == before
    with Store(path) as store:
        assert run_sweep(some(5), store, workers=1).counts == {"certified": 5}


def test_a_store_that_cannot_be_written(path):
    with Store(path) as store:
        store._connection.execute("PRAGMA query_only = ON")
        with pytest.raises(InputError, match=r"readonly database; a sweep needs to write"):
            run_sweep(some(5), store, workers=1)
        assert len(list(store.rows())) == 3


def test_a_damaged_store(path, tmp_path, capfd):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(data)
    spec = tmp_path / "spec.toml"
    spec.write_text("[[family]]\nlayers = 1\nwidths = 2\nranks = 1\n")
    call(capfd, "sweep", spec, "--store", path).refuses("s.sqlite", "damaged", "copy")


def test_a_later_versions_store_is_left_as_it_is(path, tmp_path, capfd):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "UPDATE about SET value = 'lightningalg-sweep/2' WHERE name = 'format'; DROP TABLE results;"
            "PRAGMA journal_mode = DELETE;"
        )
    before = path.read_bytes()
    spec = tmp_path / "spec.toml"
    spec.write_text("[[family]]\nlayers = 1\nwidths = 2\nranks = 1\n")
    call(capfd, "sweep", spec, "--store", path).refuses("lightningalg-sweep/2", "lightningalg-sweep/1")
    assert path.read_bytes() == before


def test_two_sweeps_do_not_share_a_store(path, tmp_path, capfd):
    spec = tmp_path / "spec.toml"
    spec.write_text("[[family]]\nlayers = 1\nwidths = 2\nranks = 1\n")
    with Store(path) as store, store.alone():
        call(capfd, "sweep", spec, "--store", path).refuses("in use", str(os.getpid()))
        assert len(hashes(path)) == 3, "readers are not affected"
    assert call(capfd, "sweep", spec, "--store", path).code == 0
    assert not list(tmp_path.glob("*-lock"))


def test_a_lock_ends_with_its_holder(tmp_path):
    code = f"""
import time
from pathlib import Path
from lightningalg.sweeps.locking import one_at_a_time
with one_at_a_time(Path({str(tmp_path / "l")!r}), "x"):
    print("held", flush=True)
    time.sleep(100)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    process.stdout.readline()
    with pytest.raises(InputError, match=rf"x is in use by process {process.pid} "):
        one_at_a_time(tmp_path / "l", "x").__enter__()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with one_at_a_time(tmp_path / "l", "x"):  # the file that is left is no lock
        assert (tmp_path / "l").read_text() == str(os.getpid())
    assert not (tmp_path / "l").exists()


def test_a_lock_file_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "precious").write_text("data")
    (tmp_path / "l").symlink_to(tmp_path / "precious")
    with pytest.raises(InputError, match="cannot write"):
        one_at_a_time(tmp_path / "l", "x").__enter__()
    assert (tmp_path / "precious").read_text() == "data"


def test_force_replaces_results_and_keeps_them_where_it_fails(path, tmp_path, capfd):
    spec = tmp_path / "spec.toml"
    spec.write_text('[[family]]\nlayers = 1\nwidths = "2..4"\nranks = "1..3"\n')
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE results SET engine = 'an older one'")
        connection.commit()
    resumed = call(capfd, "sweep", spec, "--store", path, "--workers", "1", "--resume", "--json").json
    assert (resumed["new"], resumed["already"]) == (24, 3)
    with closing(sqlite3.connect(path)) as connection:
        old = "SELECT count(*) FROM results WHERE engine = 'an older one'"
        assert connection.execute(old).fetchone() == (3,)
        forced = call(capfd, "sweep", spec, "--store", path, "--workers", "1", "--force", "--json").json
        assert (forced["new"], forced["already"], forced["counts"]) == (27, 0, {"certified": 27})
        assert connection.execute(old).fetchone() == (0,)
    with Store(path) as store:
        key = some(1)[0].key
        store.put(Row(key, "failed", problem="no memory"), replace=True)
        assert store.counts() == {"certified": 27}


# -- what is no file, and what only looks like a database's address ------------------------------------


@pytest.mark.parametrize("name", [":memory:", "file:x?mode=memory", "file::memory:", "file:y.sqlite"])
def test_a_store_is_always_a_file(tmp_path, monkeypatch, capfd, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.toml").write_text("[[family]]\nlayers = 1\nwidths = 2\nranks = 1\n")
    assert call(capfd, "sweep", "spec.toml", "--store", name, "--workers", "1", "--json").json["new"] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "spec.toml"])
    assert call(capfd, "sweep", "spec.toml", "--store", name, "--json").json["already"] == 1


def no_regular_files(folder):
    """Names with what makes them, and devices that are there anyway."""
    os.mkfifo(folder / "fifo")
    (folder / "folder").mkdir()
    (folder / "dangling").symlink_to(folder / "nothing")
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "device").symlink_to("/dev/full")
    return ["fifo", "folder", "dangling", "loop", "device", "socket", "/dev/null", "/dev/full"]


def test_what_is_no_regular_file_is_refused_before_anything_is_opened(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.toml").write_text("[[family]]\nlayers = 1\nwidths = 2\nranks = 1\n")
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: pytest.fail("SQLite opened something"))
    names = no_regular_files(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        before = sorted(tmp_path.iterdir())
        for name in names:
            call(capfd, "sweep", "spec.toml", "--store", name).refuses(f"store {name}: not a regular file")
    (tmp_path / "s.sqlite-wal").symlink_to(tmp_path / "nothing")
    call(capfd, "sweep", "spec.toml", "--store", "s.sqlite").refuses("s.sqlite-wal: not a regular file")
    (tmp_path / "s.sqlite-wal").unlink()
    assert sorted(tmp_path.iterdir()) == before


def test_a_link_to_a_store_is_that_store(path, tmp_path):
    (tmp_path / "other").mkdir()
    link = tmp_path / "other" / "link"
    link.symlink_to(path)
    assert hashes(link) == hashes(path)
    with Store(path) as store, store.alone(), Store(link) as other, pytest.raises(InputError, match="in use"):
        run_sweep(some(), other, workers=1)
    assert list((tmp_path / "other").iterdir()) == [link]


# -- rows that others altered --------------------------------------------------------------------------

ALTERED = {
    "dimension = 999, lower_bound = 999, upper_bound = 999": "it says dimension 999, its certificate 6",
    "upper_bound = 7": "upper_bound 7, its certificate 6",
    "lower_bound = 'six'": "lower_bound six, its certificate 6",
    "dimension = NULL": "dimension None",
    "status = 'bounds differ'": "status bounds differ, its certificate certified",
    "status = 'failed'": "it is a failure, and has a certificate",
    "strength = 'ball'": "strength ball",
    "upper_bound_by = 'linear'": "upper_bound_by linear",
    "sha256 = 'abc'": "sha256 abc",
    "certificate = x'00'": "the certificate is damaged",
    "certificate = 'text'": "the certificate is damaged",
    "certificate = (SELECT certificate FROM results ORDER BY key DESC LIMIT 1)": "of another network",
}


def alter(path, change, key):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"UPDATE results SET {change} WHERE key = ?", (key,))
        connection.commit()


def a_key(path, dimension=6):
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT key FROM results WHERE dimension = ? ORDER BY key LIMIT 1"
        return connection.execute(query, (dimension,)).fetchone()[0]


@pytest.mark.parametrize("change", ALTERED)
def test_an_altered_row_is_an_error_wherever_it_is_used(path, tmp_path, capfd, change):
    spec = tmp_path / "spec.toml"
    spec.write_text("[[family]]\nlayers = 1\nwidths = 2\nranks = 1\n")
    alter(path, change, a_key(path))
    table = tmp_path / "t.csv"
    for more in ([], ["--export", table], ["--certificates", tmp_path / "c"], ["--retry"]):
        call(capfd, "sweep", spec, "--store", path, *more).refuses(
            "s.sqlite", "the row of lightning, widths 2,2", ALTERED[change], "--force"
        )
    assert not table.exists() and not (tmp_path / "c").exists()
    with Store(path) as store:
        for use in (store.rows, store.certificates if "failed" not in change else store.rows):
            with pytest.raises(InputError, match="altered"):
                list(use())


def test_altered_rows_are_mended_by_force_and_the_others_are_kept(path, tmp_path, capfd):
    before = hashes(path)
    key = a_key(path)
    alter(path, "dimension = 999, upper_bound = 999, certificate = x'00', verified = NULL", key)
    spec = tmp_path / "spec.toml"
    spec.write_text("[[family]]\nlayers = 1\nwidths = 2\nranks = 1\n")  # the row's own sweep
    table = tmp_path / "t.csv"
    done = call(
        capfd, "sweep", spec, "--store", path, "--force", "--workers", "1", "--export", table, "--json"
    )
    assert done.code == 0 and done.json["new"] == 1
    assert hashes(path) == before and "999" not in table.read_text()


def test_force_does_not_believe_the_rows_of_other_sweeps(path, tmp_path, capfd):
    with Store(path) as store:
        (last,) = (row["dimension"] for row in list(store.rows())[-1:])
    alter(path, "dimension = 999", a_key(path, last))
    spec = tmp_path / "spec.toml"
    spec.write_text("[[family]]\nlayers = 1\nwidths = 1\nranks = 1\n")
    table = tmp_path / "t.csv"
    answer = call(capfd, "sweep", spec, "--store", path, "--force", "--workers", "1", "--export", table)
    assert answer.code == 2 and "it says dimension 999, its certificate 7. Restore" in answer.err
    assert not table.exists()


def test_how_an_architecture_is_written_follows_from_its_network(path):
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT * FROM architectures ORDER BY position"
        before = connection.execute(query).fetchall()
        connection.execute(
            "UPDATE architectures SET architecture = 'another', parameters = 1, network = '{}'"
        )
        connection.commit()
        with Store(path) as store:
            assert run_sweep(some(), store, workers=1).new == 0
        assert connection.execute(query).fetchall() == before


@pytest.mark.parametrize(
    "content", ["[]", "{}", '{"network": NaN}', "[" * 100_000, '{"claim": 3, "witness": [], "network": []}']
)
def test_certificates_that_are_none(path, content):
    with Store(path) as store:
        data = zlib.compress(content.encode())
        store._connection.execute("UPDATE results SET certificate = ?", (data,))
        with pytest.raises(InputError, match="altered: the certificate"):
            store.check()


def test_a_certificate_with_another_content_than_its_hash(path):
    with Store(path) as store:
        ((key, certificate), *_) = store.certificates()
        certificate["witness"]["lower_bound"]["determinant"] += 1
        data = zlib.compress(json.dumps(certificate).encode())
        store._connection.execute("UPDATE results SET certificate = ? WHERE key = ?", (data, key))
        with pytest.raises(InputError, match="content is not that of its sha256"):
            list(store.rows())


def test_progress_of_the_comparison(path):
    told = []
    with Store(path) as store:
        store.check(lambda *state: told.append(state))
    assert [state[:2] for state in told] == [(1, 3), (2, 3), (3, 3)] and "comparing" in told[0][2]
