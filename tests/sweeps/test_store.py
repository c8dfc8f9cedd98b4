"""What can go wrong with a store: full, read-only, damaged, newer, in use."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

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


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        run_sweep(some(), store, workers=1)
    return path


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
