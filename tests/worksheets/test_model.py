"""Reading worksheets: what is accepted, and errors that name file, claim and field."""

from __future__ import annotations

import json
import os

import pytest

from lightningalg.errors import InputError
from lightningalg.worksheets.model import read_worksheet

NETWORK = 'network = { kind = "lightning", widths = ["d", "d"], ranks = ["a"], tokens = 2 }\n'
GRID = 'grid = { d = "1..3", a = "1..2" }\n'
IDENTITY = 'kind = "matrix-identity"\nsymbols = { A = "d x d" }\nleft = "A"\nright = "A"\n'


def claim(body, name="mine", kind="dimension"):
    head = f'[[claim]]\nid = "{name}"\n'
    return head + (f'kind = "{kind}"\n' if kind else "") + body


def read(tmp_path, text, name="sheet.toml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_worksheet(path)


# -- accepted ------------------------------------------------------------------


def test_grid_with_where_formulas_and_expected(tmp_path):
    sheet = read(
        tmp_path,
        'title = "T"\nprose = "P"\nsource = "S"\n'
        + claim('expected = "2*a*d + d^2 - a^2 - 1"\nwhere = "a <= d"\n' + GRID + NETWORK),
    )
    assert (sheet.name, sheet.title, sheet.prose, sheet.source) == ("sheet", "T", "P", "S")
    (only,) = sheet.claims
    assert (only.id, only.kind, only.differs) == ("mine", "dimension", False)
    cases = {(i.variables["d"], i.variables["a"]): i for i in only.instances}
    assert set(cases) == {(1, 1), (2, 1), (2, 2), (3, 1), (3, 2)}
    for (d, a), instance in cases.items():
        assert instance.expected == 2 * a * d + d * d - a * a - 1
        layer = instance.table["layers"][0]
        assert (layer["d_in"], layer["d_out"], layer["rank"], instance.table["tokens"]) == (d, d, a, 2)
        assert instance.variables == {
            "tokens": 2,
            "layers": 1,
            "hidden": 0,
            "d0": d,
            "d1": d,
            "a1": a,
            "d": d,
            "a": a,
        }
        assert instance.name == f"d{d}_a{a}"


def test_formulas_of_a_template_may_compute(tmp_path):
    template = 'network = { widths = ["d+1", "2*d", "min(d,2)"], ranks = ["d", 3], tokens = "d" }'
    sheet = read(tmp_path, claim("grid = { d = [2, 4] }\n" + template))
    sizes = [
        [(x["d_in"], x["d_out"], x["rank"]) for x in i.table["layers"]] for i in sheet.claims[0].instances
    ]
    assert sizes == [[(3, 4, 2), (4, 2, 3)], [(5, 8, 4), (8, 2, 3)]]
    assert [i.table["tokens"] for i in sheet.claims[0].instances] == [2, 4]


def test_layers_of_a_template_may_compute(tmp_path):
    body = 'grid = { d = 2, r = "1..2" }\n[claim.network]\ntokens = 3\n'
    body += '[[claim.network.layer]]\ntype = "linear"\n'
    body += 'd_in = "d"\nd_out = "d*r"\n'
    sheet = read(tmp_path, claim(body))
    assert [i.table["layers"][0]["d_out"] for i in sheet.claims[0].instances] == [2, 4]
    assert sheet.claims[0].instances[0].variables == {"tokens": 3, "d": 2, "r": 1}


def test_listed_networks_with_expected_of_their_own(tmp_path):
    sheet = read(
        tmp_path,
        claim(
            "expected = 5\ninstances = [{ widths = [2, 3, 2], ranks = [1, 1], expected = 8 },"
            " { widths = [2, 2], ranks = [1] },"
            ' { widths = [2, 2], ranks = [2], expected = "3*d0 + tokens - 1" }]\n'
        ),
    )
    assert [i.expected for i in sheet.claims[0].instances] == [8, 5, 7]
    assert len({i.name for i in sheet.claims[0].instances}) == 3


def test_one_network_without_grid(tmp_path):
    sheet = read(tmp_path, claim("expected = 7\nnetwork = { widths = [2, 2], ranks = [2] }\n"))
    assert len(sheet.claims[0].instances) == 1


def test_names_are_file_names(tmp_path):
    """However many or long the variables are: a file name, and different for different instances."""
    names = [f"v{i}_{'x' * 20}" for i in range(12)]
    values = ", ".join(f"{name} = 1{'0' * 20}" for name in names)
    rows = ", ".join(f"{{ {values}, z = {z} }}" for z in (1, 2, 3))
    sheet = read(tmp_path, claim(f"instances = [{rows}]\n" + 'network = { widths = ["z", 2], ranks = [1] }'))
    found = [i.name for i in sheet.claims[0].instances]
    assert len(set(found)) == 3
    for name in found:
        assert len(os.fsencode(name)) <= 200 and "/" not in name and name not in (".", "..")


def test_transformer_configuration(tmp_path):
    (tmp_path / "models").mkdir()
    config = {"hidden_size": 4, "num_attention_heads": 2, "num_hidden_layers": 3, "layer_norm_eps": 1e-12}
    (tmp_path / "models" / "tiny.json").write_text(json.dumps(config))
    sheet = read(tmp_path, claim('instances = [{ transformer_config = "models/tiny.json", tokens = 3 }]\n'))
    (instance,) = sheet.claims[0].instances
    assert instance.name == "tiny" and instance.table["tokens"] == 3
    heads = [x for x in instance.table["layers"] if x["type"] == "lightning_attention"]
    assert len(heads) == 6 and all((x["d_in"], x["d_out"], x["rank"]) == (4, 2, 2) for x in heads)


def test_hypotheses(tmp_path):
    sheet = read(
        tmp_path,
        claim(
            'hypotheses = ["generic", { text = "t >= 2", check = "tokens >= 2" }, { text = "words" }]\n'
            + GRID
            + NETWORK
        ),
    )
    assert [(h.text, h.check is None) for h in sheet.claims[0].hypotheses] == [
        ("generic", True),
        ("t >= 2", False),
        ("words", True),
    ]


# -- refused -------------------------------------------------------------------

GOOD = GRID + NETWORK
NETWORK_D = 'network = { widths = ["d", "d"], ranks = [1] }\n'
HUGE = "0x" + "f" * 5000  # more digits than Python prints

CLAIMS = {
    "unknown kind": (claim(GOOD, kind="dimensions"), ["'dimensions'", "degrees", "dimension-at-most"]),
    "no kind": (claim(GOOD, kind=""), ["kind"]),
    "kind a huge number": (claim(f"kind = {HUGE}\n" + GOOD, kind=""), ["kind"]),
    "unknown field": (claim('expectd = "1"\n' + GOOD), ["'expectd'", "expected"]),
    "text field": (claim("title = 3\n" + GOOD), ['"title"', "text"]),
    "statement": (claim("statement = [1]\n" + GOOD), ['"statement"', "text"]),
    "relation": (claim('relation = "at most"\n' + GOOD), ['"relation"', "equals", "differs"]),
    "relation huge": (claim(f"relation = {HUGE}\n" + GOOD), ['"relation"']),
    "differs from nothing": (claim('relation = "differs"\n' + GOOD), ['"differs"', '"expected"', '"check"']),
    "differs from half": (
        claim(
            'relation = "differs"\n'
            "instances = [{widths=[2,2], ranks=[1], expected=1}, {widths=[2,2], ranks=[2]}]"
        ),
        ['"differs"', '"expected"'],
    ),
    # grid
    "grid no table": (claim("grid = 3\n" + NETWORK), ['"grid"', '"1..5"']),
    "grid empty": (claim("grid = {}\n" + NETWORK), ['"grid"']),
    "grid backwards": (claim('grid = { d = "3..1" }\n' + NETWORK_D), ["grid range d", "'3..1'"]),
    "grid word": (claim('grid = { d = "1...3" }\n' + NETWORK_D), ["grid range d"]),
    "grid fraction": (claim("grid = { d = 1.5 }\n" + NETWORK_D), ["grid range d", "integer"]),
    "grid list fraction": (claim("grid = { d = [1, 2.5] }\n" + NETWORK_D), ["d", "2.5", "integer"]),
    "grid true": (claim("grid = { d = true }\n" + NETWORK_D), ["grid range d"]),
    "grid list true": (claim("grid = { d = [true] }\n" + NETWORK_D), ["integer"]),
    "grid empty list": (claim("grid = { d = [] }\n" + NETWORK_D), ["grid range d"]),
    "grid wide digits": (claim('grid = { d = "1..\uff13" }\n' + NETWORK_D), ["grid range d"]),
    "grid huge number": (claim(f"grid = {{ d = {HUGE} }}\n" + NETWORK_D), ["d", "digits"]),
    "grid huge in a list": (claim(f"grid = {{ d = [1.5, {HUGE}] }}\n" + NETWORK_D), ["integer"]),
    "grid code": (claim('grid = { d = "range(3)" }\n' + NETWORK_D), ["grid range d"]),
    "grid variable": (claim('grid = { "d-1" = "1..3" }\n' + NETWORK), ["'d-1'", "variable"]),
    "too many points": (claim('grid = { d = "1..1000", a = "1..101" }\n' + NETWORK), ["101000", "100000"]),
    "very many points": (claim('grid = { d = "0..999999999", a = "0..999999999" }\n' + NETWORK), ["100000"]),
    "no points": (claim('where = "d > 9"\n' + GOOD), ["no instances"]),
    "grid and instances": (claim("instances = [{ d = 1, a = 1 }]\n" + GOOD), ['"grid"', '"instances"']),
    "where without grid": (
        claim('where = "d0 > 1"\ninstances = [{ widths = [2, 2], ranks = [1] }]\n'),
        ['"where"'],
    ),
    "where of unknown name": (claim('where = "b <= d"\n' + GOOD), ['"where"', "'b'", "a, d"]),
    "where a number": (claim('where = "a"\n' + GOOD), ['"where"', "comparison"]),
    "where no formula": (claim('where = "a <= "\n' + GOOD), ['"where"', "column"]),
    "where code": (claim('where = "__import__(1)"\n' + GOOD), ['"where"', "column"]),
    "where no text": (claim("where = 3\n" + GOOD), ['"where"', "text"]),
    # instances
    "instances no list": (claim("instances = 3\n"), ['"instances"', "list"]),
    "instances no tables": (claim("instances = [1]\n"), ['"instances"', "tables"]),
    "instances empty": (claim("instances = []\n"), ["no instances"]),
    "instance twice": (
        claim("instances = [{ widths = [2, 2], ranks = [1] }, { widths = [2, 2], ranks = [1] }]\n"),
        ["twice"],
    ),
    "point twice": (claim("grid = { d = [1, 1], a = 1 }\n" + NETWORK), ["d1_a1", "twice"]),
    "instance unknown key": (claim("instances = [{ widths = [2, 2], rank = [1] }]\n"), ["'rank'", "ranks"]),
    "instance fraction": (claim("instances = [{ d = 1.5, a = 1 }]\n" + NETWORK), ["d", "1.5", "integer"]),
    "instance text": (claim('instances = [{ d = "1", a = 1 }]\n' + NETWORK), ["d", "integer"]),
    "network no table": (claim("network = 3\n" + GRID), ['"network"', "table"]),
    "network missing": (claim(GRID), []),
    "template of unknown name": (claim('grid = { a = "1..2" }\n' + NETWORK), ["network.widths", "'d'"]),
    "template no formula": (
        claim('grid = { d = "1..2" }\nnetwork = { widths = ["d", "d+"], ranks = [1] }'),
        ["network.widths", "column"],
    ),
    "template fraction": (
        claim('grid = { d = "1..2" }\nnetwork = { widths = ["d // 2", 2], ranks = [1] }'),
        ["network.widths"],
    ),
    "template comparison": (
        claim('grid = { d = "1..2" }\nnetwork = { widths = ["d <= 2", 2], ranks = [1] }'),
        ["widths", "integers"],
    ),
    "template zero": (claim('grid = { d = "0..2" }\n' + NETWORK_D), ["widths", "1000000"]),
    "template unknown field": (
        claim('grid = { d = "1..2" }\nnetwork = { widths = ["d", "d"], ranks = [1], bias = true }'),
        ["'bias'"],
    ),
    "lengths": (claim("instances = [{ widths = [2, 2, 2], ranks = [1] }]\n"), ["one rank per layer"]),
    "tokens of a variable": (
        claim('grid = { d = "1..2", tokens = 5 }\n' + NETWORK_D),
        ["tokens", "5", "2"],
    ),
    "variable of another width": (
        claim('grid = { d1 = "1..2" }\nnetwork = { widths = ["d1", 3], ranks = [1] }'),
        ["d1", "3"],
    ),
    "variable named as a result": (
        claim('grid = { dimension = "1..2" }\nnetwork = { widths = ["dimension", 2], ranks = [1] }'),
        ["'dimension'"],
    ),
    # expected, check, hypotheses
    "expected of unknown name": (claim('expected = "n - 1"\n' + GOOD), ['"expected"', "'n'"]),
    "expected no formula": (claim('expected = "2 d"\n' + GOOD), ['"expected"', "column"]),
    "expected comparison": (claim('expected = "d <= 2"\n' + GOOD), ['"expected"', '"check"']),
    "expected fraction": (claim("expected = 2.5\n" + GOOD), ['"expected"', "2.5"]),
    "expected list": (claim("expected = [2]\n" + GOOD), ['"expected"']),
    "expected huge": (claim(f"expected = {HUGE}\n" + GOOD), ['"expected"', "digits"]),
    "expected too large": (claim('expected = "99^64^64"\n' + GOOD), ['"expected"']),
    "expected empty": (claim('expected = ""\n' + GOOD), ['"expected"']),
    "check of unknown name": (
        claim('check = "dimensions <= 3"\n' + GOOD),
        ['"check"', "'dimensions'", "dimension"],
    ),
    "check of another kind": (
        claim('check = "dimension <= 3"\n' + GOOD, kind="dimension-at-most"),
        ['"check"', "'dimension'", "upper_bound"],
    ),
    "check a number": (claim('check = "dimension"\n' + GOOD), ['"check"', "comparison"]),
    "check no formula": (claim('check = "dimension = 3"\n' + GOOD), ['"check"', "column"]),
    "check no text": (claim("check = true\n" + GOOD), ['"check"', "text"]),
    "hypotheses no list": (claim('hypotheses = "t >= 2"\n' + GOOD), ['"hypotheses"']),
    "hypotheses numbers": (claim("hypotheses = [2]\n" + GOOD), ['"hypotheses"', '"text"']),
    "hypotheses unknown key": (claim('hypotheses = [{ text = "a", chk = "b" }]\n' + GOOD), ['"hypotheses"']),
    "hypothesis without text": (claim('hypotheses = [{ check = "d > 0" }]\n' + GOOD), ['"hypotheses"']),
    "hypothesis violated": (
        claim('hypotheses = [{ text = "small a", check = "a <= d" }]\n' + GOOD),
        ["d1_a2", "small a"],
    ),
    "hypothesis on results": (
        claim('hypotheses = [{ text = "h", check = "dimension > 0" }]\n' + GOOD),
        ['"hypotheses"', "'dimension'"],
    ),
    "hypothesis a number": (claim('hypotheses = [{ text = "h", check = "d" }]\n' + GOOD), ['"hypotheses"']),
    # identities
    "identity without sides": (claim('symbols = { A = "d x d" }\n', kind="matrix-identity"), ['"left"']),
    "identity with a network": (claim(IDENTITY + NETWORK, kind=""), ["'network'"]),
    "identity with expected": (claim(IDENTITY + "expected = 3\n", kind=""), ["'expected'"]),
    "sides of a network": (claim('left = "A"\n' + GOOD), ["'left'"]),
    # transformer configurations
    "config absent": (claim('instances = [{ transformer_config = "no.json" }]'), ["no.json", "No such file"]),
    "config outside": (claim('instances = [{ transformer_config = "../out.json" }]'), ["outside"]),
    "config absolute": (claim('instances = [{ transformer_config = "/etc/passwd" }]'), ["outside"]),
    "config through a link": (claim('instances = [{ transformer_config = "link.json" }]'), ["outside"]),
    "config through a folder": (claim('instances = [{ transformer_config = "up/out.json" }]'), ["outside"]),
    "config link to itself": (claim('instances = [{ transformer_config = "loop.json" }]'), ["loop.json"]),
    "config zero byte": (claim('instances = [{ transformer_config = "a\\u0000b" }]'), ["transformer_config"]),
    "config number": (claim("instances = [{ transformer_config = 3 }]"), ["transformer_config", "text"]),
    "config folder": (claim('instances = [{ transformer_config = "." }]'), ["regular file"]),
    "config fifo": (claim('instances = [{ transformer_config = "fifo" }]'), ["regular file"]),
    "config list": (claim('instances = [{ transformer_config = "list.json" }]'), ["object"]),
    "config broken": (
        claim('instances = [{ transformer_config = "broken.json" }]'),
        ["broken.json", "line 1"],
    ),
    "config without sizes": (claim('instances = [{ transformer_config = "empty.json" }]'), ["hidden_size"]),
    "config and widths": (
        claim('instances = [{ transformer_config = "empty.json", widths = [2] }]'),
        ["'widths'", "tokens"],
    ),
}


@pytest.fixture
def folder(tmp_path):
    """A folder for a worksheet with traps around it."""
    (tmp_path / "out.json").write_text('{"hidden_size": 4, "n_head": 2, "n_layer": 1}')
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "link.json").symlink_to(tmp_path / "out.json")
    (inner / "up").symlink_to(tmp_path)
    (inner / "loop.json").symlink_to("loop.json")
    (inner / "list.json").write_text("[]")
    (inner / "broken.json").write_text("{x}")
    (inner / "empty.json").write_text("{}")
    os.mkfifo(inner / "fifo")
    return inner


@pytest.mark.parametrize("text, words", CLAIMS.values(), ids=CLAIMS.keys())
def test_errors_name_file_claim_and_field(folder, text, words):
    with pytest.raises(InputError) as caught:
        read(folder, text)
    message = str(caught.value)
    for word in [str(folder / "sheet.toml"), 'claim "mine"', *words]:
        assert word in message, message
    assert len(message) < 1500


WHOLE = {
    "empty": ("", ["[[claim]]"]),
    "no claims": ('title = "T"\n', ["[[claim]]"]),
    "claims no list": ("claim = 3\n", ["[[claim]]"]),
    "claim no table": ("claim = [3]\n", ["number 1", "table"]),
    "unknown field": ("titel = 3\n" + claim(GOOD), ["'titel'", "title"]),
    "title no text": ("title = 3\n" + claim(GOOD), ['"title"']),
    "not toml": ("[[claim]\n", ["line 1", "column"]),
    "no id": ('[[claim]]\nkind = "dimension"\n', ["number 1", '"id"']),
    "id with a slash": (claim(GOOD, name="../x"), ["number 1", '"id"']),
    "id with a dot": (claim(GOOD, name="."), ['"id"']),
    "id too long": (claim(GOOD, name="a" * 65), ['"id"']),
    "id empty": (claim(GOOD, name=""), ['"id"']),
    "second id": (claim(GOOD) + claim(GOOD, name="b c"), ["number 2", '"id"']),
    "id twice": (claim(GOOD) + claim(GOOD, name="other") + claim(GOOD), ['"mine"', "twice"]),
}


@pytest.mark.parametrize("text, words", WHOLE.values(), ids=WHOLE.keys())
def test_errors_of_the_whole_worksheet(tmp_path, text, words):
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    for word in [str(tmp_path / "sheet.toml"), *words]:
        assert word in str(caught.value)


def test_files_that_are_no_worksheets(tmp_path):
    (tmp_path / "binary.toml").write_bytes(b"\xff\x00")
    (tmp_path / "large.toml").touch()
    os.truncate(tmp_path / "large.toml", 5 * 2**20)
    os.mkfifo(tmp_path / "fifo.toml")
    (tmp_path / "folder.toml").mkdir()
    for name, word in (
        ("binary", "UTF-8"),
        ("large", "bytes"),
        ("fifo", "regular"),
        ("folder", "regular"),
        ("absent", "No such file"),
    ):
        with pytest.raises(InputError, match=word) as caught:
            read_worksheet(tmp_path / f"{name}.toml")
        assert f"{name}.toml" in str(caught.value)


def test_many_claims_are_read_quickly(tmp_path):
    import time

    text = "".join(
        f'[[claim]]\nid = "c{i}"\nkind = "degrees"\nnetwork = {{ widths = [1, 1], ranks = [1] }}\n'
        for i in range(3000)
    )
    start = time.monotonic()
    assert len(read(tmp_path, text).claims) == 3000
    assert time.monotonic() - start < 20
