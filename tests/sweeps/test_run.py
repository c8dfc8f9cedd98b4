"""Running sweeps: what is stored survives anything, nothing is lost and nothing is double."""

from __future__ import annotations

import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest

import lightningalg as la
from lightningalg.certificates.records import sha256_of
from lightningalg.errors import InputError
from lightningalg.sweeps import local, run
from lightningalg.sweeps.run import run_sweep, verify_store
from lightningalg.sweeps.spec import Family, architecture
from lightningalg.sweeps.store import Store
from lightningalg.sweeps.tables import compare, export, read_published
from lightningalg.sweeps.work import Row, certify
from tests.cli.support import call
from tests.worksheets.test_runner import wait_for_nobody

SPEC = """
[[family]]
layers = "1..2"
widths = "1..3"
ranks = "1..2"
"""
COUNT = 9 * 2 + 27 * 4


def some(count: int = 3):
    found = Family.parse({"layers": 1, "widths": "2..4", "ranks": "1..3"}, 1).architectures()
    return [next(found) for _ in range(count)]


def test_dimensions_are_those_of_the_formula(tmp_path):
    """2 alpha d - alpha^2 + d d' - 1, the paper's theorem."""
    with Store(tmp_path / "s.sqlite") as store:
        done = run_sweep(
            Family.parse({"layers": 1, "widths": "2..4", "ranks": "1..3"}, 1).architectures(), store
        )
        rows = list(store.rows())
    assert done.counts == {"certified": 27} and done.rejected == ()
    for row in rows:
        (layer,) = json.loads(row_table(tmp_path, row))["layers"]
        d, e, a = layer["d_in"], layer["d_out"], min(layer["rank"], layer["d_in"])
        assert row["dimension"] == 2 * a * d - a * a + d * e - 1
        assert row["verified"] == "valid" and row["strength"] == "exact"


def row_table(folder: Path, row) -> str:
    connection = sqlite3.connect(folder / "s.sqlite")
    try:
        query = "SELECT network FROM architectures WHERE architecture = ?"
        return connection.execute(query, (row["architecture"],)).fetchone()[0]
    finally:
        connection.close()


def test_running_again_computes_nothing(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        assert run_sweep(some(), store, workers=1).new == 3
    with Store(tmp_path / "s.sqlite") as store:
        again = run_sweep(some(5), store, workers=1)
        assert (again.new, again.already) == (2, 3)
        assert len(list(store.rows())) == 5


def test_results_do_not_depend_on_the_number_of_workers(tmp_path):
    hashes = []
    for workers in (1, 2):
        with Store(tmp_path / f"{workers}.sqlite") as store:
            run_sweep(some(6), store, workers=workers)
            hashes.append([row["sha256"] for row in store.rows()])
    assert hashes[0] == hashes[1] and all(hashes[0])


def test_a_store_has_one_seed(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        run_sweep(some(1), store, workers=1, seed="1")
        with pytest.raises(InputError, match="seed"):
            run_sweep(some(1), store, workers=1, seed="2")


def test_a_forged_certificate_is_found(tmp_path):
    """Row, certificate and hash agree, and all are wrong: the verifier says so."""
    with Store(tmp_path / "s.sqlite") as store:
        run_sweep(some(1), store, workers=1)
        (row,) = store.rows()
        net = la.lightning((2, 2), (1,))
        found = certify(architecture(net).key, net.to_json(), "0")
        forged = la.dimension(net).certificate.to_json()
        forged["claim"]["value"] = 7
        forged["sha256"] = sha256_of({key: value for key, value in forged.items() if key != "sha256"})
        store.add([architecture(net)])
        found.update(
            dict.fromkeys(("dimension", "lower_bound", "upper_bound"), 7),
            sha256=forged["sha256"],
            certificate=zlib.compress(json.dumps(forged).encode()),
        )
        store._connection.execute("DELETE FROM results")
        store.put(Row(**found))
        (problem,) = verify_store(store)
        assert "invalid" in problem
        assert row["verified"] == "valid"


@pytest.mark.parametrize("content", [b"not a database", b"", None])
def test_files_that_are_no_stores(tmp_path, content):
    path = tmp_path / "s.sqlite"
    if content is None:
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE others (x)")
        connection.commit()
        connection.close()
    else:
        path.write_bytes(content)
    if content == b"":
        with Store(path) as store:  # an empty file is a new store
            assert store.counts() == {}
        return
    with pytest.raises(InputError, match=r"s\.sqlite"):
        Store(path)


def test_a_damaged_certificate_in_the_store_is_an_error(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        run_sweep(some(1), store, workers=1)
        store._connection.execute("UPDATE results SET certificate = x'00', verified = NULL")
        with pytest.raises(InputError, match="damaged"):
            verify_store(store)


# -- limits ---------------------------------------------------------------------------------------


def dies(key, table, seed):
    os.kill(os.getpid(), signal.SIGKILL)


def sleeps(key, table, seed):
    time.sleep(60)


@pytest.mark.parametrize(("task", "word"), [(dies, "ended"), (sleeps, "not finished")])
def test_what_kills_or_stops_a_worker_becomes_a_row(tmp_path, monkeypatch, task, word):
    monkeypatch.setattr(local, "certify", task)
    with Store(tmp_path / "s.sqlite") as store:
        done = run_sweep(some(2), store, workers=1, timeout=1.5)
        rows = list(store.rows())
    assert done.counts == {"failed": 2}
    assert all(word in row["problem"] and row["upper_bound"] is not None for row in rows)
    monkeypatch.undo()
    with Store(tmp_path / "s.sqlite") as store:
        assert run_sweep(some(2), store, workers=1).new == 0
        assert run_sweep(some(2), store, workers=1, retry=True).counts == {"certified": 2}


def dies_once(key, table, seed):
    """Be killed by somebody the first time; ``seed`` is the name of a file that remembers it."""
    if not os.path.exists(seed):
        Path(seed).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return certify(key, table, "0")


def test_a_task_whose_worker_is_killed_is_tried_once_more(tmp_path, monkeypatch):
    monkeypatch.setattr(local, "certify", dies_once)
    rows = list(local.run_locally(some(3), seed=str(tmp_path / "died"), workers=1, timeout=60, memory=4))
    assert sorted(row["status"] for row in rows) == ["certified"] * 3
    assert {row["key"] for row in rows} == {task.key for task in some(3)}


def test_no_more_workers_than_tasks(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(run, "run_locally", lambda tasks, **options: asked.append(options["workers"]) or ())
    with Store(tmp_path / "s.sqlite") as store:
        run_sweep(some(2), store, workers=1000)
    assert asked == [2]


def start(tmp_path: Path, *extra: str) -> subprocess.Popen:
    (tmp_path / "spec.toml").write_text(SPEC)
    code = "from lightningalg.cli.main import main; main()"
    command = [
        sys.executable,
        "-c",
        code,
        "sweep",
        "spec.toml",
        "--store",
        "s.sqlite",
        "--workers",
        "1",
        *extra,
    ]
    return subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )


def stored(tmp_path: Path) -> list[str]:
    if not (tmp_path / "s.sqlite").exists():
        return []
    connection = sqlite3.connect(tmp_path / "s.sqlite", timeout=30)
    try:
        return [key for (key,) in connection.execute("SELECT key FROM results")]
    except sqlite3.OperationalError:
        return []  # killed before the tables were made
    finally:
        connection.close()


@pytest.mark.slow
def test_kill_9_again_and_again_loses_nothing_and_doubles_nothing(tmp_path):
    before: set[str] = set()
    kills, delay = 0, 0.4
    while kills < 6 or (not before and kills < 20):  # later and later, whatever a start takes here
        kills, delay = kills + 1, delay * 1.3
        process = start(tmp_path)
        time.sleep(delay)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        wait_for_nobody(process.pid)
        now = stored(tmp_path)
        assert len(now) == len(set(now)) and before <= set(now)
        before = set(now)
    assert before, "not even one result was stored"
    process = start(tmp_path, "--json")
    out, err = process.communicate(timeout=200)
    assert process.returncode == 0, err
    answer = json.loads(out)
    assert answer["counts"] == {"certified": COUNT}
    assert answer["already"] == len(before) and answer["new"] == COUNT - len(before)
    assert answer["rejected"] == []
    connection = sqlite3.connect(tmp_path / "s.sqlite")
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def inserts(path: Path, stop_after: str) -> str:
    """Return a program that stores one result and kills itself before or after a step of the transaction."""
    return f"""
import os, signal, sqlite3
from pathlib import Path
from lightningalg.sweeps.store import Store
from lightningalg.sweeps.work import certify, Row
from lightningalg.sweeps.spec import Family
tasks = list(Family.parse({{"layers": 1, "widths": "2..3", "ranks": "1..2"}}, 1).architectures())
class Connection(sqlite3.Connection):
    def execute(self, sql, *arguments):
        done = super().execute(sql, *arguments)
        if sql.startswith({stop_after!r}) and self.armed:
            os.kill(os.getpid(), signal.SIGKILL)
        return done
    armed = False
connect = sqlite3.connect
sqlite3.connect = lambda *a, **k: connect(*a, factory=Connection, **k)
with Store(Path({str(path)!r})) as store:
    store.add(tasks)
    done = store.finished()
    task = next(task for task in tasks if task.key not in done)
    row = Row(**certify(task.key, dict(task.table), "0"))
    store._connection.armed = True
    store.put(row)
"""


@pytest.mark.slow
def test_kill_9_at_every_step_of_a_commit(tmp_path):
    """Before ``COMMIT`` nothing of a result is there, after it everything: there is no third state."""
    path = tmp_path / "s.sqlite"
    for count, step in enumerate(("BEGIN", "DELETE", "INSERT OR IGNORE INTO results", "COMMIT"), start=1):
        done = subprocess.run([sys.executable, "-c", inserts(path, step)], capture_output=True, timeout=60)
        assert done.returncode == -signal.SIGKILL, done.stderr
        with Store(path) as store:
            assert store._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert len(store.finished()) == (1 if step == "COMMIT" else 0), count
            assert all(certificate["sha256"] for _, certificate in store.certificates())
    with Store(path) as store:
        assert verify_store(store) == []


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to see processes in")
def test_kill_9_of_the_caller_alone_and_of_workers(tmp_path):
    """The workers end with the process that started them; a worker that dies costs nothing."""
    process = start(tmp_path)
    limit = time.monotonic() + 60
    while not stored(tmp_path) and time.monotonic() < limit:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    wait_for_nobody(process.pid)
    before = set(stored(tmp_path))
    process = start(tmp_path, "--json")
    killed = 0
    while process.poll() is None and killed < 3:
        for pid, command in children_named(process.pid, "multiprocessing"):
            if "spawn_main" in command:
                os.kill(pid, signal.SIGKILL)
                killed += 1
        time.sleep(0.6)
    out, err = process.communicate(timeout=200)
    assert process.returncode == 0, err
    answer = json.loads(out)
    assert answer["counts"] == {"certified": COUNT} and answer["already"] == len(before)
    assert killed and answer["rejected"] == []
    now = stored(tmp_path)
    assert len(now) == len(set(now)) == COUNT


def children_named(session: int, word: str) -> list[tuple[int, str]]:
    """Return the processes of a session whose command line has the word."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            number = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[3])
        except (OSError, IndexError):
            continue
        if number == session and word in command:
            found.append((int(folder.name), command))
    return found


@pytest.mark.slow
def test_ctrl_c_stops_within_a_second_and_leaves_no_process(tmp_path):
    process = start(tmp_path)
    limit = time.monotonic() + 60
    while not stored(tmp_path) and time.monotonic() < limit:
        time.sleep(0.1)
    begun = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert time.monotonic() - begun < 5  # on a loaded machine; alone it takes a tenth of a second
    wait_for_nobody(process.pid)


# -- dask -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_scheduler_with_two_workers_one_of_them_killed(tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None,
            silence_logs=50, local_directory=str(tmp_path),
        ) as cluster,
        Store(tmp_path / "s.sqlite") as store,
    ):  # fmt: skip
        killed = []

        def kill_one(done: int, total: int, what: str) -> None:
            if what == "certifying" and done >= 5 and not killed:
                worker = next(iter(cluster.workers.values()))
                killed.append(worker.pid)
                os.kill(worker.process.process.pid, signal.SIGKILL)

        architectures = list(
            Family.parse({"layers": 2, "widths": "1..3", "ranks": "1..2"}, 1).architectures()
        )
        done = run_sweep(architectures, store, scheduler=cluster.scheduler_address, progress=kill_one)
        keys = [row["sha256"] for row in store.rows()]
    assert killed and done.counts == {"certified": len(architectures)}
    assert len(set(keys)) == len(keys) == len(architectures)


def test_nobody_at_the_address(tmp_path, capfd):
    pytest.importorskip("distributed")
    (tmp_path / "spec.toml").write_text(SPEC)
    store = tmp_path / "s.sqlite"
    for address in ("tcp://127.0.0.1:9", "nonsense"):
        answer = call(capfd, "sweep", tmp_path / "spec.toml", "--store", store, "--scheduler", address)
        assert answer.code == 2 and "does not answer" in answer.err


# -- tables -------------------------------------------------------------------------------------------


def test_export_to_csv_and_parquet(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        run_sweep(some(), store, workers=1)
        assert export(store.rows(), tmp_path / "r.csv") == 3
        rows = list(store.rows())
    with open(tmp_path / "r.csv", newline="") as file:
        read = list(csv.DictReader(file))
    assert [(r["architecture"], int(r["dimension"])) for r in read] == [
        (r["architecture"], r["dimension"]) for r in rows
    ]
    with pytest.raises(InputError, match=r"\.csv"):
        export(rows, tmp_path / "r.xlsx")
    parquet = pytest.importorskip("pyarrow.parquet")
    export(rows, tmp_path / "r.parquet")
    assert parquet.read_table(tmp_path / "r.parquet").to_pylist() == rows


PUBLISHED = """architecture,exponent,dimension,note
"(2,3,3)",2,9,filling
"(5,5,3,1)",2,32,defective
"2-3-2-3",2,13,expected but wrong
"(5,7,1)",3,34,Alexander and Hirschowitz
"""


def test_a_published_table_is_compared_line_by_line(tmp_path, capfd):
    (tmp_path / "t.csv").write_text(PUBLISHED)
    answer = call(capfd, "sweep", tmp_path / "t.csv", "--store", tmp_path / "s.sqlite", "--json")
    assert answer.code == 1
    lines = answer.json["lines"]
    assert [line["verdict"] for line in lines] == ["agrees", "agrees", "differs", "agrees"]
    assert lines[2]["dimension"] == 10 and lines[2]["stated"] == 13 and lines[2]["line"] == 4
    text = call(capfd, "sweep", tmp_path / "t.csv", "--store", tmp_path / "s.sqlite")
    assert "stated 13, proved 10: differs" in text.out and "3 agrees, 1 differs" in text.out


def test_bounds_may_exclude_a_published_value():
    net = architecture(la.monomial((2, 2), 2))
    from lightningalg.sweeps.tables import Published

    rows = {net.text: {"dimension": None, "lower_bound": 3, "upper_bound": 5}}
    stated = [Published(i, net, value) for i, value in enumerate((2, 3, 5, 6))]
    assert [line["verdict"] for line in compare(stated, rows)] == [
        "differs",
        "undecided",
        "undecided",
        "differs",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["no column", "architecture"]),
        ("architecture,dimension\n", ["exponent"]),
        ("architecture,exponent,dimension\n", ["no rows"]),
        ("architecture,exponent,dimension\n(2,3),2,x\n", ["line 2"]),
        ('architecture,exponent,dimension\n"(2,,3)",2,4\n', ["line 2", "architecture"]),
        ('architecture,exponent,dimension\n"(2,0)",2,4\n', ["line 2"]),
        ('architecture,exponent,dimension\n"__import__(os)",2,4\n', ["line 2", "architecture"]),
        ('architecture,exponent,dimension\n"(2,3,3)",2,"9,9"\n', ["line 2", "dimension"]),
        ('architecture,exponent,dimension\n"(2,3,3,2)",2\n', ["line 2", "dimension"]),
        ('architecture,exponent,dimension\n"(2,3\n', ["line"]),
        ("architecture,exponent,dimension\n(2,3,3),2,9\n", ["line 2", "quotation marks"]),
        ('architecture,exponent,dimension\n"(2,3,3",2,9\n', ["line 2", "architecture"]),
        ("architecture,exponent,dimension,dimension\n2-3-3,2,9,9\n", ["line 1", "dimension"]),
        ("architecture,exponent,dimension\n2-3-3,2,9\n2-3-3,2,-9\n", ["line 3", "dimension"]),
        ("architecture,exponent,dimension\n2-3-3,2,٩\n", ["line 2", "dimension"]),
        ("architecture,exponent,dimension\n" + "1" * 40 + "!,2,9\n", ["line 2", "architecture"]),
        ("architecture,exponent,dimension\n" + "1-" * 50_000 + "1,2,9\n", ["line 2", "architecture"]),
        ("architecture,exponent,dimension\n" + "1" * 200_000 + ",2,9\n", ["line"]),
        ("architecture,exponent,dimension\n2-3\x00,2,9\n", ["line 2"]),
        ("architecture,exponent,dimension\n=1+1,2,9\n", ["line 2", "architecture"]),
        ("architecture,exponent,dimension\n9999999-9999999,2,9\n", ["line 2"]),
        ("architecture,exponent,dimension\n2-3-3,9999999,9\n", ["line 2"]),
    ],
)
def test_a_wrong_table_is_refused_with_its_line(tmp_path, text, words):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_published(path)
    for word in ("t.csv", *words):
        assert word in str(caught.value)


# -- the command --------------------------------------------------------------------------------------


def test_the_command_writes_what_it_is_asked_for(tmp_path, capfd):
    (tmp_path / "spec.toml").write_text("[[family]]\nlayers = 1\nwidths = 2\nranks = '1..2'\n")
    answer = call(
        capfd, "sweep", tmp_path / "spec.toml", "--store", tmp_path / "s.sqlite", "--workers", "1", "--json",
        "--export", tmp_path / "r.csv", "--certificates", tmp_path / "certs",
    )  # fmt: skip
    assert answer.code == 0 and answer.json["counts"] == {"certified": 2}
    certificates = sorted((tmp_path / "certs").iterdir())
    assert len(certificates) == 2
    assert call(capfd, "verify", *certificates).code == 0


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (["--export", "r.xlsx"], [".csv", ".parquet"]),
        (["--workers", "0"], ["--workers"]),
        (["--workers", "1", "--scheduler", "tcp://127.0.0.1:9"], ["--scheduler"]),
        (["--timeout", "nan"], ["--timeout"]),
        (["--memory", "0"], ["--memory"]),
        (["--seed", "a b"], ["seed"]),
    ],
)
def test_wrong_options(tmp_path, capfd, extra, words):
    (tmp_path / "spec.toml").write_text(SPEC)
    call(capfd, "sweep", tmp_path / "spec.toml", "--store", tmp_path / "s.sqlite", *extra).refuses(*words)


def test_no_store_no_sweep(tmp_path, capfd):
    call(capfd, "sweep", "nowhere.toml").refuses("--store")
    call(capfd, "sweep", tmp_path / "nowhere.toml", "--store", tmp_path / "s").refuses("nowhere.toml")
    (tmp_path / "spec.toml").write_text(SPEC)
    call(capfd, "sweep", tmp_path / "spec.toml", "--store", tmp_path / "no/s.sqlite").refuses("s.sqlite")


def test_the_atlas_is_found_by_its_name(tmp_path, monkeypatch):
    from lightningalg.cli.sweep import _found
    from lightningalg.sweeps.spec import read_spec

    monkeypatch.chdir(tmp_path)
    assert sum(1 for _ in read_spec(_found("atlas")).architectures()) == 6544
    (tmp_path / "atlas").write_text(SPEC)  # a file of one's own comes first
    assert _found("atlas") == Path("atlas")
