"""The README says what is true: its code runs, commands and links exist, output is what is printed."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
from fractions import Fraction
from pathlib import Path

import click
import pytest

import lightningalg as la
from lightningalg.certificates.records import pretty_json
from lightningalg.cli.main import _COMMANDS, cli
from lightningalg.networks.layers import LAYER_TYPES
from tests.cli.support import call

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.M | re.S)
CONSOLE = [text for language, text in BLOCKS if language == "console"]

#: languages of blocks; each is tested here or (sh) by the CI, which runs the first two
LANGUAGES = {"sh", "console", "python", "toml", "bibtex"}

#: commands that take too long here: their options are checked, not what they print
LONG = ("sweep ", "report ")


def expanded(line: str) -> str:
    """A command line without its remark."""
    return re.split(r"\s+#", line.removeprefix("$ "))[0].strip()


def shown_commands():
    """All command lines with their exit code and what the README prints below them."""
    for block in CONSOLE:
        found = []
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((expanded(line), 1 if "exit code 1" in line else 0, []))
            else:
                found[-1][2].append(line)
        yield found


def test_every_block_is_of_a_tested_language():
    assert {language for language, _ in BLOCKS} <= LANGUAGES
    assert README.count("```") == 2 * len(BLOCKS)


def test_the_first_two_blocks_are_the_commands_that_ci_runs():
    first, second = [text for language, text in BLOCKS if language == "sh"][:2]
    assert "lightningalg worksheet run --out out" in first and "pytest" in second
    for command in (first, second):
        lines = [line for line in command.splitlines() if not line.startswith("#")]
        assert len(lines) == 1 and lines[0].startswith("python3 -m venv .venv && .venv/bin/pip install")


# -- Python ------------------------------------------------------------------------------------------


def remarked_values(source: str):
    """Yield (expression, literal in the remark behind it), where there is one."""
    for line in source.splitlines():
        code, _, remark = line.partition("  # ")
        try:
            value = ast.literal_eval(remark.strip())
            ast.parse(code.strip(), mode="eval")
        except (ValueError, SyntaxError):
            continue
        yield code.strip(), value


@pytest.mark.parametrize("number", range(len([1 for language, _ in BLOCKS if language == "python"])))
def test_python_blocks_run_and_give_what_they_say(number):
    source = [text for language, text in BLOCKS if language == "python"][number]
    names: dict[str, object] = {}
    exec(compile(source, "README.md", "exec"), names)
    values = list(remarked_values(source))
    assert values, "a block of Python shows at least one value"
    for code, value in values:
        assert eval(code, names) == value, code


# -- the command line --------------------------------------------------------------------------------


@pytest.fixture
def prepared(tmp_path, monkeypatch, capfd):
    """A folder with the files that the examples read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "T.json").write_text('{"coefficients": [[1, 0, 0, 1, 0]]}')
    return tmp_path


def values_table(asked: Path, out: Path) -> None:
    """Answer what ``recover --ask`` asks for, by a network of the README's sizes."""
    from lightningalg.claims.recovery import network_function
    from lightningalg.fibres.points import generated_point

    function = network_function(generated_point(la.lightning((3, 2, 3), (2, 2)), "readme"))
    table = json.loads(asked.read_text())
    for pair in table["pairs"]:
        rows = [[Fraction(value) for value in row] for row in pair["input"]]
        pair["output"] = [[str(value) for value in row] for row in function(rows)]
    out.write_text(pretty_json(table))


@pytest.mark.parametrize("number", range(len(CONSOLE)))
def test_console_blocks_print_what_they_show(number, prepared, capfd):
    for command, code, printed in list(shown_commands())[number]:
        program, *arguments = command.split()
        assert program == "lightningalg", command
        if "--pdf" in arguments and shutil.which("pdflatex") is None:
            arguments.remove("--pdf")
        if command.startswith(tuple(f"lightningalg {name}" for name in LONG)):
            continue
        if arguments[0] == "picture":
            pytest.importorskip("matplotlib")
        if "values.json" in arguments:
            # the block asks with --widths 3,3 and recovers a network of widths 3,2,3: the same inputs
            values_table(prepared / "inputs.json", prepared / "values.json")
        answer = call(capfd, *arguments)
        assert answer.code == code, (command, answer)
        lines = answer.out.splitlines()
        if printed and printed[-1] == "...":
            printed.pop()
            lines = lines[: len(printed)]
        if printed:
            assert lines[: len(printed)] == printed, command


def named_commands() -> set[str]:
    """Every ``lightningalg ...`` of the README, also inside sentences and tables."""
    lines = [command for block in shown_commands() for command, *_ in block]
    inline = re.findall(r"`(lightningalg [^`]+)`", README)
    sh = [text for language, text in BLOCKS if language == "sh"]
    within = [
        part for text in sh for part in re.findall(r"(lightningalg (?:worksheet|verify)[^\n&#]*)", text)
    ]
    return {expanded(line.replace("\n", " ").replace("\\|", "|")) for line in (*lines, *inline, *within)}


def test_every_command_and_option_exists():
    named = named_commands()
    assert len(named) > 30
    context = click.Context(cli, info_name="lightningalg")
    for line in named:
        words = line.split()[1:]
        if words[0].startswith("-"):
            assert words == ["--version"]
            continue
        command = cli.get_command(context, words[0])
        assert command is not None, line
        if isinstance(command, click.Group):
            inner = words[1].split("|")
            for name in inner:
                assert command.get_command(context, name) is not None, line
            command = command.get_command(context, inner[-1])
        known = {name for found in command.params for name in (*found.opts, *found.secondary_opts)}
        for option in re.findall(r"(?<![\w-])--?[a-z][\w-]*", line):
            assert option in known | {"--help"}, (line, option)


def test_options_named_alone_exist():
    context = click.Context(cli, info_name="lightningalg")
    known = {"--help"}
    pending = [cli.get_command(context, name) for name in _COMMANDS]
    while pending:
        command = pending.pop()
        known |= {name for found in command.params for name in (*found.opts, *found.secondary_opts)}
        if isinstance(command, click.Group):
            pending += command.commands.values()
    for option in re.findall(r"`(--[a-z][a-z-]*)", README):
        assert option in known, option


def test_the_table_of_commands_is_complete():
    table = README.split("## Commands")[1]
    listed = re.findall(r"^\| `lightningalg (\w+)", table, re.M)
    assert sorted(listed) == sorted(_COMMANDS)


# -- facts -------------------------------------------------------------------------------------------


def test_layer_types_extras_and_builders_are_the_real_ones():
    types = re.findall(r"^\| `(\w+)` \|.*\|.*\|.*\|$", README.split("## Own claims")[0], re.M)
    types.remove("type")  # the heading
    assert set(types) <= set(LAYER_TYPES) and "lightning_attention" in types
    for name in re.findall(r"`la\.(\w+)", README):
        assert name in la.__all__, name
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    tail = README[README.index("Extras, such as") :]
    for_users = extras - {"lint", "fuzz"}
    assert {name for name in for_users if f"`{name}`" in tail} == for_users


def test_links_lead_somewhere():
    anchors = {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.*)$", README, re.M)
    }
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert len(links) > 10
    for link in links:
        if link.startswith("#"):
            assert link[1:] in anchors, link
        else:
            assert not link.startswith("http") and (ROOT / link).exists(), link
    for name in re.findall(r"`((?:worksheets|tests|lightningalg)/[\w./-]+)`", README):
        assert (ROOT / name).exists(), name


def test_named_notebooks_and_worksheets_exist():
    line = next(line for line in README.splitlines() if "the notebooks in" in line)
    stems = {path.stem for path in (ROOT / "worksheets").glob("*.ipynb")}
    assert set(re.findall(r"`(\w+)`", line)) == stems


def test_the_version_to_cite_is_this_one():
    assert f"version = {{{la.__version__}}}" in README


def test_it_stays_a_readme():
    assert README.count("\n") <= 340
    title, paragraph = README.split("\n\n")[:2]
    assert title == "# lightningalg"
    assert len(re.findall(r"[.!?](?:\s|$)", paragraph)) == 3, "what it is, in three sentences"


def test_the_stand_alone_checker_runs_as_written(tmp_path):
    certificate = la.dimension(la.lightning((2, 2), (1,))).certificate
    (tmp_path / "cert.json").write_text(certificate.to_text())
    line = next(line for line in README.splitlines() if line.startswith("python lightningalg/verifier.py"))
    words = expanded(line).split()
    done = subprocess.run(
        [sys.executable, "-I", str(ROOT / words[1]), str(tmp_path / words[2])],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0 and "cert.json: valid" in done.stdout


def test_limits_are_those_of_the_code():
    from lightningalg.fibres import recovery
    from lightningalg.rank.lower_bound import DEFAULT_MEMORY
    from lightningalg.strata.layer import MAX_WIDTH
    from lightningalg.symmetry import algebra, study

    limits = README.split("## Limits")[1].split("\n## ")[0]
    for words in (
        f"widths up to {MAX_WIDTH}",
        f"up to {study.MAX_PARAMETERS:,} parameters; as certificates, up to {algebra.MAX_PARAMETERS}",
        f"up to {recovery.MAX_LAYERS} layers of width up to {recovery.MAX_WIDTH}",
        f"exceed {DEFAULT_MEMORY:g} GiB",
    ):
        assert words in limits, words
