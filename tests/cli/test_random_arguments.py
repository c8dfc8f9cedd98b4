"""Whatever the arguments: an exit code 0, 1 or 2, one line for an error, no exception."""

from __future__ import annotations

import contextlib
import io
import os

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lightningalg.cli.main import run

NUMBERS = st.one_of(
    st.integers(-2, 4).map(str),
    st.sampled_from(
        ["", " ", "1e3", "-0", "007", "٣", "1000000", "10**9", "9" * 30, "nan", "-inf", "4,", "0x10"]
    ),
)
LISTS = st.lists(NUMBERS, max_size=4).map(",".join)
TEXTS = st.one_of(
    st.text(max_size=6),
    st.sampled_from(
        ["lightning", "monomial", "net.toml", "cert.json", "folder", "flint", "blocked", "\udcff", "a\0b"]
    ),
)
FLAGS = [
    "--widths",
    "--ranks",
    "--tokens",
    "--heads",
    "--degree",
    "--kind",
    "--network",
    "--seed",
    "--engine",
    "--prime",
    "--primes",
    "--title",
    "--timeout",
    "--jobs",
    "--claim",
]
SWITCHES = [
    "--residual",
    "--json",
    "--help",
    "--pdf",
    "--version",
    "--force",
    "--",
    "-h",
    "-x",
    "--widths=2,2",
]
WORDS = st.one_of(
    st.tuples(st.sampled_from(FLAGS), st.one_of(LISTS, NUMBERS, TEXTS)),
    st.tuples(
        st.just("--out"),
        st.sampled_from(["new/out.json", "p.tex", "folder", "net.toml/out.json", "", "\udcff"]),
    ),
    st.tuples(st.sampled_from(SWITCHES)),
    st.tuples(st.one_of(TEXTS, NUMBERS)),
)
#: no "worksheet run": it has tests of its own, and starts processes
COMMANDS = st.sampled_from(
    [["dimension"]] * 8
    + [["prove"], ["worksheet"], ["worksheet", "list"], ["worksheet", "show"], ["doctorx"], []]
)
PLAUSIBLE = st.tuples(
    st.lists(st.integers(1, 4), min_size=1, max_size=4), st.lists(st.integers(1, 4), min_size=1, max_size=3)
).map(lambda sizes: ["--widths", ",".join(map(str, sizes[0])), "--ranks", ",".join(map(str, sizes[1]))])


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """A folder with files of the names above, as the working directory."""
    place = tmp_path_factory.mktemp("random")
    (place / "folder").mkdir()
    (place / "net.toml").write_text("widths = [2, 2]\nranks = [2]\n", encoding="utf-8")
    (place / "cert.json").write_text("{}", encoding="utf-8")
    before = os.getcwd()
    os.chdir(place)
    yield place
    os.chdir(before)


def outcome(arguments):
    """Exit code, standard output, standard error; both outputs as strict as a terminal's."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True)
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(arguments)
    return code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode()


def check(arguments):
    code, out, err = outcome(arguments)
    assert code in (0, 1, 2)
    assert "Traceback" not in out + err
    if code == 2:
        assert err.startswith("error: ") and err.endswith("\n") and len(err.splitlines()) == 1, err
        assert "the system says" not in err, "an error that nobody expected"
    if code == 0:
        assert out
    if code == 1:  # proofs of what is not a certificate, or bounds that differ
        assert arguments[0] in ("prove", "dimension")
    if code == 1 and arguments[0] == "dimension":
        assert "bounds differ" in out


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example(["dimension"], [("--degree", "0")], ["--kind", "monomial", "--widths", "2,2"])
@example(["dimension"], [("--max-memory", "nan")], ["--widths", "2,2", "--ranks", "1"])
@example(["dimension"], [("--network", "folder")], [])
@example(["dimension"], [("--network", "a\0b")], [])
@example(["worksheet", "show"], [("a" * 300,)], [])
@given(COMMANDS, st.lists(WORDS, max_size=4), st.one_of(st.just([]), PLAUSIBLE))
def test_random_arguments(command, words, plausible):
    check([*command, *plausible, *(part for word in words for part in word)])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.one_of(
        st.text(max_size=80),
        st.recursive(
            st.sampled_from(
                [
                    "[[layer]]",
                    "[layer]",
                    'type = "sum"',
                    'type = "linear"',
                    "d_in = 2",
                    "d_out = 2",
                    "rank = 1",
                    'id = "a"',
                    'inputs = ["a"]',
                    'inputs = ["input"]',
                    'inputs = ["input", "a"]',
                    "tokens = 2",
                    'type = "lightning_attention"',
                    'type = "monomial_activation"',
                    "degree = 2",
                    "width = 2",
                    "widths = [2, 2]",
                    "ranks = [1]",
                    'kind = "monomial"',
                    "d_in = -1",
                    "layer = 3",
                    "x = nan",
                ]
            ),
            lambda lines: st.lists(lines, max_size=8).map("\n".join),
            max_leaves=12,
        ),
    )
)
def test_random_network_files(folder, text):
    (folder / "random.toml").write_text(text, encoding="utf-8", errors="surrogatepass")
    check(["dimension", "--network", "random.toml"])
