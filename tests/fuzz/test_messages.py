"""Errors about long and unprintable texts are short lines, whatever reader finds them, wherever they stand.

Each reader gets a valid document with one place altered at a time, each place and each alteration in turn, so
that nothing depends on the luck of random inputs.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import lightningalg
from lightningalg import verifier
from lightningalg.certificates.files import read_certificate
from lightningalg.certificates.records import sha256_of
from lightningalg.engines.singular_engine import SingularIdeals
from lightningalg.errors import LightningAlgError, one_line, shown
from lightningalg.fibres.files import Table, read_point
from lightningalg.networks.spec import from_toml
from lightningalg.render.latex import render_proof
from lightningalg.strata.layer import SingleLayer
from lightningalg.strata.tensor_file import read_tensor
from lightningalg.sweeps.spec import _KEYS as FAMILY_FIELDS
from lightningalg.sweeps.spec import read_spec
from lightningalg.sweeps.store import Store
from lightningalg.sweeps.tables import read_published
from lightningalg.worksheets import book, model
from lightningalg.worksheets.report import read_report
from lightningalg.worksheets.statements import read_statements
from tests.cli.support import call

from .places import KEYS, LONG, altered, check_toml, to_json, to_toml
from .targets import CORPUS, POINT_NETWORK, POINTS, TABLES, TENSORS, engine

#: characters of a message besides the path of the file, which is as long as the user made it
MOST = 1_600


def faults(errors: Iterator[LightningAlgError], *paths: Path) -> list[str]:
    """Return the messages that are no short lines."""
    found = []
    for error in errors:
        text = str(error)
        for path in paths:
            text = text.replace(str(path), "FILE")
        if not text or not text.isprintable() or len(text) > MOST:
            found.append(f"{type(error).__name__}, {len(text)} characters: {text[:300]!r}")
    return found


def errors_of(read: Callable[[Any], object], documents: Iterator[Any]) -> Iterator[LightningAlgError]:
    """Yield the errors of a reader; it must raise one now and then."""
    refused = 0
    for document in documents:
        try:
            read(document)
        except LightningAlgError as error:
            refused += 1
            yield error
    assert refused > 5


def from_file(path: Path, write: Callable[[Any], str], read: Callable[[Path], Any]) -> Callable[[Any], Any]:
    def run(document: Any) -> Any:
        path.write_text(write(document), encoding="utf-8")
        return read(path)

    return run


def check(
    path: Path,
    document: Any,
    read: Callable[[Path], Any],
    write: Callable[[Any], str] = to_json,
    every: int = 1,
) -> None:
    run = from_file(path, write, read)
    run(document)  # it is a valid one
    found = faults(errors_of(run, altered(document, every)), path, path.parent)
    assert not found, "\n".join(found[:20])


# -- worksheets, sweeps, statements ----------------------------------------------------------------------

TEXTS = {"title": "T", "source": "S", "prose": "P"}
SPANISH = {**TEXTS, "statement": "E", "hypotheses": ["H"]}
GRID = {
    "id": "grid", "kind": "dimension", **TEXTS, "statement": "E", "es": SPANISH,
    "hypotheses": [{"text": "H", "check": "a <= d"}], "expected": "2*a*d", "check": "d0 == d",
    "relation": "differs", "uses": ["own/identity"], "paper": ["single-dimension"], "verdict": "refuted",
    "counterexamples": 1, "grid": {"d": "1..2", "a": [1]}, "where": "a <= d",
    "network": {"kind": "lightning", "widths": ["d", "d"], "ranks": ["a"], "tokens": 2, "heads": 1,
                "residual": True},
}  # fmt: skip
LAYERS = [
    {"id": "one", "type": "lightning_attention", "d_in": 2, "d_out": 2, "rank": 1, "inputs": ["input"]},
    {"id": "two", "type": "lightning_attention", "d_in": 2, "d_out": 2, "rank": 1, "inputs": ["one"],
     "weights": "one"},
    {"id": "all", "type": "sum", "inputs": ["one", "two"]},
]  # fmt: skip
LISTED = {
    "id": "listed", "kind": "dimension",
    "instances": [
        {"kind": "monomial", "widths": [2, 1], "degree": 2, "expected": 3},
        {"transformer_config": "config.json", "tokens": 2},
        {"layer": LAYERS, "tokens": 2, "width": 2},
    ],
}  # fmt: skip
IDENTITY = {
    "id": "identity", "kind": "matrix-identity", "scalars": ["c"],
    "symbols": {"K": "a x d", "Q": "a x d", "G": "a x a invertible"},
    "definitions": [["A", "c*K'*Q"]], "left": "c^-1*A + (G^-T*K)'*(G*Q)", "right": "2*(K'*Q)",
}  # fmt: skip


@pytest.mark.parametrize("claim", [GRID, LISTED, IDENTITY], ids=lambda claim: claim["id"])
def test_worksheets(tmp_path, claim):
    (tmp_path / "config.json").write_text('{"n_embd": 4, "n_head": 2, "n_layer": 1}')
    sheet = {**TEXTS, "es": TEXTS, "claim": [claim]}
    check_toml(sheet)

    def read(path: Path) -> None:
        for own in model.read_worksheet(path).claims:
            if own.kind == "matrix-identity":
                from lightningalg.claims import claim_kinds

                claim_kinds()[own.kind].certify(own.instances[0].table, seed="0")

    check(tmp_path / "own.toml", sheet, read, to_toml)


def test_the_worksheets_have_every_field():
    assert set(GRID) | set(LISTED) | set(IDENTITY) == (model._CLAIM_FIELDS | set(model._IDENTITY_FIELDS))


@pytest.mark.parametrize(
    "network",
    [
        {"kind": "lightning", "widths": [2, 3, 2], "ranks": [1, 2], "tokens": 2, "heads": [1, 2]},
        {"kind": "monomial", "widths": [2, 3, 1], "degree": 2},
        {"layer": LAYERS, "tokens": 2, "width": 2},
    ],
    ids=["lightning", "monomial", "layers"],
)
def test_networks(tmp_path, network):
    check(tmp_path / "n.toml", network, lambda path: from_toml(path.read_text(encoding="utf-8")), to_toml)


def test_transformers(tmp_path):
    config = {"hidden_size": 4, "num_attention_heads": 2, "num_hidden_layers": 1, "head_dim": 2}
    sheet = tmp_path / "own.toml"
    claim = {"id": "a", "kind": "dimension", "instances": [{"transformer_config": "config.json"}]}
    sheet.write_text(to_toml({"claim": [claim]}))
    check(tmp_path / "config.json", config, lambda path: model.read_worksheet(sheet))


def test_sweeps(tmp_path):
    family = {
        "name": "F", "kind": "lightning", "layers": 1, "widths": "1..2", "ranks": [1], "tokens": 2,
        "heads": 1, "residual": [True, False], "equal_widths": True, "where": "d0 <= 2", "sample": 3,
        "seed": "0",
    }  # fmt: skip
    powers = {"kind": "monomial", "layers": 1, "widths": "1..2", "degree": [2]}
    assert set(family) | set(powers) == FAMILY_FIELDS
    for document in ({"title": "T", "family": [family]}, {"family": [powers]}):
        check(
            tmp_path / "s.toml", document, lambda path: list(islice(read_spec(path).architectures(), 20)),
            to_toml,
        )  # fmt: skip


def test_statements(tmp_path):
    names = ("id", "part", "part_es", "where", "where_es", "text", "text_es", "illustration")
    check(tmp_path / "s.toml", {"statement": [dict.fromkeys(names, "a")]}, read_statements, to_toml)


# -- points, tables of values, tensors -------------------------------------------------------------------


@pytest.mark.parametrize("document", POINTS, ids=lambda document: next(iter(document)))
@pytest.mark.parametrize(("ending", "write"), [(".json", to_json), (".toml", to_toml)])
def test_points(tmp_path, document, ending, write):
    check(tmp_path / f"p{ending}", document, lambda path: read_point(path, POINT_NETWORK), write)


@pytest.mark.parametrize("document", TABLES, ids=lambda document: list(document)[-1])
def test_tables_of_values(tmp_path, document):
    check(tmp_path / "t.json", document, Table.read)


@pytest.mark.parametrize("document", TENSORS, ids=lambda document: next(iter(document)))
def test_tensors(tmp_path, document):
    check(tmp_path / "t.json", document, lambda path: read_tensor(path, SingleLayer(2, 1, 1)))


def test_published_tables(tmp_path):
    cells = [["architecture", "exponent", "dimension", "note"], ["2-3-3", "2", "9", ""]]

    def write(rows: Any) -> str:
        return "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows) + "\n"

    documents = (
        [[text if (i, j) == (row, column) else cell for j, cell in enumerate(line)]
         for i, line in enumerate(cells)]
        for row in range(2) for column in range(4) for text in [*KEYS, "1," * 4_000, "1_" * 3_000, '"']
    )  # fmt: skip
    path = tmp_path / "t.csv"
    found = faults(errors_of(from_file(path, write, read_published), documents), path)
    assert not found, "\n".join(found)


# -- certificates, stores, the folder of a run -----------------------------------------------------------


SMALL = sorted(CORPUS.glob("valid/*.json"), key=lambda path: path.stat().st_size)


def one_of_each_kind() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in SMALL:
        certificate = json.loads(path.read_text())
        found.setdefault(certificate["kind"], certificate)
    return found


@pytest.mark.parametrize("kind", one_of_each_kind())
def test_certificates(tmp_path, kind):
    """Reading them for a proof, and the checker's answers; the places and the ways take turns."""
    certificate = one_of_each_kind()[kind]
    found = []
    path = tmp_path / "c.json"
    for document in altered(certificate, every=20):
        data = sealed(document)
        path.write_bytes(data)
        try:
            render_proof([read_certificate(path)])
        except LightningAlgError as error:
            found += faults(iter([error]), path)
        answer = verifier.decide(partial(bytes, data), verifier.silent)
        reason = answer.reason or ""
        if not reason.isprintable() or len(reason) > MOST:
            found.append(f"verifier, {len(reason)} characters: {reason[:300]!r}")
    assert not found, "\n".join(found[:20])


def sealed(document: Any) -> bytes:
    """Return the file of an altered certificate, with the hash of what it says now."""
    if isinstance(document, dict):
        rest = {key: value for key, value in json.loads(to_json(document)).items() if key != "sha256"}
        document = {**rest, "sha256": sha256_of(rest)}
    return to_json(document).encode()


def test_stores(tmp_path):
    """What a store holds is from outside too."""
    path = tmp_path / "s.sqlite"
    for text in KEYS:
        path.unlink(missing_ok=True)
        with Store(path) as store:
            store.settle("seed", text)
            with pytest.raises(LightningAlgError) as error:
                store.settle("seed", text + "!")
            assert not faults(iter([error.value]), path)
            store._connection.execute("UPDATE about SET value = ? WHERE name = 'format'", (text,))
        with pytest.raises(LightningAlgError) as error:
            Store(path)
        assert not faults(iter([error.value]), path)


def test_reports_and_books(tmp_path, monkeypatch):
    claim = {
        "id": "c", "worksheet": "w", "kind": "dimension", **TEXTS, "statement": "E", "expected": "3",
        "check": "d0 == 2", "relation": "equals", "hypotheses": ["H"], "uses": ["w/c"], "paper": ["x"],
        "verdict": "open", "declared": "open", "as_declared": True, "proof": "w/c.tex", "seconds": 1.5,
        "translations": {"es": SPANISH},
        "instances": [{"name": "i", "verdict": "open", "strength": None, "reason": "r", "expected": 3,
                       "certificate": None, "sha256": None, "verified": None, "skipped": False,
                       "seconds": 0.5},
                      {"name": "j", "verdict": "open", "strength": "exact", "reason": "",
                       "certificate": "w/c/j.json", "sha256": "0", "verified": False, "seconds": 0.5}],
    }  # fmt: skip
    row = {"worksheet": "w", "claim": "c", "title": "T", "source": "S", "verdict": "open", "declared": "open",
           "as_declared": True, "proof": None, "strength": None, "instances": 2, "certificates": 0,
           "refuted": 0, "open": 2, "folder": None, "seconds": 1.5}  # fmt: skip
    texts = dict.fromkeys(("id", "part", "part_es", "where", "where_es", "text", "text_es"), "s")
    summary = {
        "complete": True, "seconds": 2.5, "claims": [claim],
        "worksheets": [{"name": "w", **TEXTS, "translations": {"es": TEXTS}}],
        "table": {"statements": [{**texts, "illustration": None, "rows": [row]}], "others": [row]},
    }  # fmt: skip
    path = tmp_path / "summary.json"
    monkeypatch.setattr(book, "_check_all", lambda entries, wanted, folder, progress: None)
    check(path, summary, lambda path: read_report(path.parent), every=3)
    check(path, summary, lambda path: book.read_book(path.parent, lang="es"), every=3)


# -- engines, the command line ---------------------------------------------------------------------------


def test_answers_of_engines():
    run = engine(SingularIdeals, "raw_basis")
    lines = ["begin answer", "x1^2-1/2*x2", "end answer"]
    documents = [
        "\n".join([*lines[:place], *new, *lines[place + 1 :]])
        for place, line in enumerate(lines)
        for text in [*KEYS, "x" + "9" * 9_000, "x1^" + "9" * 9_000, "1/" + "0" * 900, "x1*" * 3_000]
        for new in ([text], [line + text], [line, text])
    ]
    found = faults(errors_of(run, (text.encode() for text in documents)))
    assert not found, "\n".join(found[:20])


@pytest.mark.parametrize("text", KEYS, ids=[name for name, text in LONG.items() if isinstance(text, str)])
def test_the_command_line(capfd, text):
    text = text.replace("\0", "")
    for arguments in (
        [text],
        ["dimension", "--widths", text],
        ["dimension", "--kind", text, "--widths", "2,2"],
        ["dimension", "--widths", "2,2", "--ranks", "1", "--tokens", text],
        ["dimension", "--widths", "2,2", "--ranks", "1", "--engine", text],
        ["dimension", "--widths", "2,2", "--ranks", "1", "--seed", text],
        ["dimension", "--widths", "2,2", "--ranks", "1", "--timeout", text],
        ["dimension", "--widths", "2,2", f"--{text}"],
        ["prove", "--lang", text, "x.json"],
        ["worksheet", "run", "single-layer", "--claim", text],
        ["invariants", "--kind", "monomial", "--widths", "2,2", "--degree", text],
        ["picture", "--widths", "2,1", "--ranks", "1", "--slice", text],
    ):
        said = call(capfd, *arguments).refuses().err.rstrip("\n")
        # click repeats some arguments whole: the user has just typed them
        assert said.isprintable() and len(said) < MOST + 6 * len(text), said[:300]


# -- the function itself, and that it is used ------------------------------------------------------------


def test_shown_and_one_line():
    assert shown(10**10_000) == "an integer of thousands of digits"
    assert len(shown("x" * 10_000)) == 60
    assert str(LightningAlgError("a\nb\x1b[0m", 3)) == str(("a\\nb\\x1b[0m", 3))
    assert str(LightningAlgError("é ∂ 🙂")) == "é ∂ 🙂"
    assert one_line(one_line("\r\x85\u2028\U000e0001\udc80")) == "\\r\\x85\\u2028\\U000e0001\\udc80"


PACKAGE = Path(lightningalg.__file__).parent
#: what is quoted in an error as it is: short by construction
QUOTED = {
    "a path that the user gave": {"out", "name", "other"},
    "the package's own": {"mark", "missing[0]", "repeated", "hidden[0]", "engine", "verdict", "excerpt",
                          "entry.name", "taken[0]", "__name__"},
    "one character": {"found[4]", "found.group(4)"},
}  # fmt: skip


@pytest.mark.parametrize("path", sorted(set(PACKAGE.rglob("*.py")) - {PACKAGE / "verifier.py"}), ids=str)
def test_quoted_values_are_cut(path):
    """A value in quotation marks is foreign, as a rule: where an error is raised it is ``shown``."""
    allowed = set().union(*QUOTED.values())
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) or (
            isinstance(node, ast.Call) and ast.unparse(node.func) == "self.fail"
        ):
            for part in ast.walk(node):
                if isinstance(part, ast.FormattedValue) and part.conversion == ord("r"):
                    text = ast.unparse(part.value)
                    assert text.startswith(("shown(", "clip(")) or text in allowed, (
                        f"{path}:{part.lineno}: {text}"
                    )
