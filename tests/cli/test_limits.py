"""Time and memory limits of commands, and what the caller is told when a library takes the process down."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from lightningalg.cli import main
from tests.cli.support import call, call_process

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

LARGE = ("dimension", "--widths", "70,70,70,70", "--ranks", "30,30,30")


def supervise(body: str, *, timeout: float = 60) -> subprocess.CompletedProcess:
    code = f"""
import os, signal, subprocess, sys, time
from lightningalg.cli import supervise
def body():
{body}
sys.exit(supervise.supervised(body))
"""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout)


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie that nobody has waited for does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def gone(pid: int, seconds: float = 5) -> bool:
    limit = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < limit:
        time.sleep(0.05)
    return not alive(pid)


def test_a_command_beyond_its_time_ends_with_one_line():
    begun = time.monotonic()
    call_process(*LARGE, "--timeout", "1").refuses("not finished within 1 s", "--timeout")
    assert time.monotonic() - begun < 15


def test_the_time_limit_leaves_a_fast_command_alone():
    answer = call_process("dimension", "--widths", "2,2", "--ranks", "1", "--timeout", "60", "--json")
    assert answer.code == 0 and answer.json["dimension"] == 6


def test_too_little_memory_is_an_error_and_no_traceback():
    answer = call_process(*LARGE, "--memory", "0.5", timeout=120)
    assert answer.code == 2 and answer.out == ""
    last = answer.err.splitlines()[-1]
    assert last.startswith("error: ") and "Traceback" not in answer.err


COMMANDS = [*(name for name in main._COMMANDS if name != "worksheet"),
            "worksheet list", "worksheet show", "worksheet run"]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_both_limits(command, capfd):
    text = call(capfd, *command.split(), "--help").out
    assert "--timeout" in text and "--memory" in text


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "soon"])
def test_wrong_limits(value, capfd):
    for name in ("--timeout", "--memory"):
        call(capfd, "dimension", "--widths", "2,2", "--ranks", "1", name, value).refuses(name)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("    os.abort()", ["gave up", "SIGABRT"]),
        ("    os.kill(os.getpid(), signal.SIGSEGV)", ["crashed", "SIGSEGV"]),
        ("    os.kill(os.getpid(), signal.SIGKILL)", ["killed", "memory"]),
    ],
)
def test_a_library_that_ends_the_process(body, words):
    done = supervise(body)
    assert done.returncode == 2 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    for word in words:
        assert word in line


def test_the_exit_code_and_the_output_are_those_of_the_command():
    done = supervise("    print('x' * 100000); print('err', file=sys.stderr); return 1")
    assert (done.returncode, len(done.stdout), done.stderr) == (1, 100001, "err\n")
    assert supervise("    sys.exit(7)").returncode == 7


def test_a_defect_is_one_line_that_says_where():
    done = supervise("    {}['missing']")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    (line,) = done.stderr.splitlines()
    assert "internal error" in line and "KeyError" in line and "line" in line


def test_an_abort_inside_flint_is_survived():
    """``nmod_mat(...).rank()`` with a composite modulus ends the process (PITFALLS: Impossible inverse)."""
    done = supervise("    import flint; flint.nmod_mat(2, 2, [2, 3, 3, 2], 6).rank()")
    assert done.returncode == 2 and "SIGABRT" in done.stderr


STRAY = """
    stray = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
    print(stray.pid, flush=True)
"""


def test_what_a_command_leaves_running_is_ended():
    done = supervise(STRAY + "    return 0")
    assert done.returncode == 0
    assert gone(int(done.stdout))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's help is Linux's")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_the_computation_ends_with_its_parent(number):
    code = """
import os, signal, sys, time
from lightningalg.cli.supervise import supervised
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)  # nohup and shells in the background ignore some
def body():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        print(os.getpid(), flush=True)
        time.sleep(100)
    except KeyboardInterrupt:
        return 130
sys.exit(supervised(body))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    child = int(process.stdout.readline())
    assert alive(child)
    begun = time.monotonic()
    process.send_signal(number)
    process.communicate(timeout=30)
    assert gone(child) and time.monotonic() - begun < 5
    # what a shell says of a program that a signal ended: 130, 143, 129
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)


FAMILY = """
import os, signal, subprocess, sys, time
from lightningalg.cli.supervise import supervised
def body():
    stray = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
    print(os.getpid(), stray.pid, flush=True)
    time.sleep(100)
sys.exit(supervised(body))
"""


@pytest.mark.parametrize("who", ["parent", "child"])
def test_what_the_computation_has_started_ends_with_it_even_by_kill_9(who):
    process = subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE, text=True)
    child, stray = map(int, process.stdout.readline().split())
    assert alive(child) and alive(stray)
    os.kill(process.pid if who == "parent" else child, signal.SIGKILL)
    assert gone(child) and gone(stray)
    process.stdout.read()  # the end of the output: nobody holds it open any more
    assert process.wait(timeout=10) == (-signal.SIGKILL if who == "parent" else 2)


def test_a_signal_to_the_callers_whole_group_leaves_nobody():
    """As ``timeout -s KILL`` and batch systems do: caller, guard and child are in different groups."""
    process = subprocess.Popen(
        [sys.executable, "-c", FAMILY], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    child, stray = map(int, process.stdout.readline().split())
    os.killpg(process.pid, signal.SIGKILL)
    assert gone(child) and gone(stray)
    process.communicate(timeout=10)


def test_a_second_signal_does_not_lengthen_the_grace():
    body = """
    import lightningalg.cli.supervise as s
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    print("ready", flush=True)
    time.sleep(100)
"""
    code = f"""
import os, signal, sys, time
from lightningalg.cli import supervise
supervise._GRACE = 1.0
def body():
{body}
sys.exit(supervise.supervised(body))
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    time.sleep(0.3)
    while process.poll() is None and time.monotonic() - begun < 20:
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
    assert process.returncode == 143 and time.monotonic() - begun < 5
    process.communicate()


def test_nohup_is_left_alone():
    body = "    os.kill(os.getppid(), signal.SIGHUP); time.sleep(0.3); return 7"
    code = f"""
import os, signal, sys, time
from lightningalg.cli import supervise
signal.signal(signal.SIGHUP, signal.SIG_IGN)
def body():
{body}
sys.exit(supervise.supervised(body))
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 7


def test_a_memory_limit_with_which_nothing_could_start_is_refused(capfd):
    call(capfd, "dimension", "--widths", "2,2", "--ranks", "1", "--memory", "0.25").refuses("--memory", "0.5")


def test_a_small_memory_limit_keeps_openblas_from_reserving_it_all(monkeypatch):
    """Every thread of OpenBLAS takes its address space when it is loaded, needed or not."""
    body = """
    from lightningalg.cli.supervise import set_memory
    os.cpu_count = lambda: 64
    set_memory(None, None, float(os.environ["LIMIT"]))
    print(os.environ.get("OPENBLAS_NUM_THREADS"))
    return 0
"""
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    for limit, threads in (("0.5", "1"), ("1.5", "16"), ("100", "None")):
        monkeypatch.setenv("LIMIT", limit)
        assert supervise(body).stdout.strip() == threads
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")  # the caller's own wish stands
    monkeypatch.setenv("LIMIT", "0.5")
    assert supervise(body).stdout.strip() == "3"


def test_workers_live_with_the_smallest_limit(tmp_path):
    answer = call_process(
        "worksheet", "run", "single-layer", "--claim", "dimension-one-token", "--memory", "0.5",
        "--jobs", "2", "--out", tmp_path / "out", "--json", timeout=120,
    )  # fmt: skip
    assert answer.code == 0, answer.err
    (claim,) = answer.json["claims"]
    assert claim["verdict"] == "certified"


def test_a_long_step_that_reports_nothing_is_named_after_two_seconds():
    answer = call_process("fiber", "--widths", "100,100,100", "--ranks", "100,100", "--timeout", "6")
    first, last = answer.progress[0], answer.err.splitlines()[-1]
    assert answer.code == 2 and "generating weights" in first and last.endswith("(--timeout)")
    assert 2 <= float(first[1:].split()[0]) < 6  # two seconds, and before the end


def test_progress_ends_with_its_command(capfd, monkeypatch):
    from lightningalg.cli.options import Progress

    monkeypatch.setattr(Progress, "FIRST", 0.2)
    assert call(capfd, "doctor", "--help").progress == ()
    before = threading.active_count()
    call(capfd, "boundary", "--widths", "2,1", "--ranks", "1")
    limit = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < limit:
        time.sleep(0.01)
    assert threading.active_count() <= before
    capfd.readouterr()
    time.sleep(0.5)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dimension", "--widths", "2,2", "--ranks", "1", "--out", "-"], ["--out -", "./-"]),
        (["dimension", "--widths", "2,2", "--ranks", "1", "--out", ""], ["--out", "empty"]),
        (["worksheet", "run", "single-layer", "--out", " "], ["--out", "empty"]),
        (["sweep", "s.toml", "--store", ""], ["--store", "empty"]),
        (["sweep", "s.toml", "--store", "s.sqlite", "--export", "-"], ["--export -"]),
        (["worksheet", "run", "single-layer", "--out", "/dev/null"], ["folder /dev/null", "--out"]),
    ],
)
def test_names_of_results(capfd, arguments, words):
    answer = call(capfd, *arguments)
    answer.refuses(*words)
    assert ".probe" not in answer.err
