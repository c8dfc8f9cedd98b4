"""What notebooks show: tables in which every text is escaped, and LaTeX that is mathematics."""

from __future__ import annotations

import json
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import pytest

import lightningalg as la
from lightningalg.certificates.records import Certificate
from lightningalg.claims.recovery import network_function
from lightningalg.display import MAX_ROWS, MAX_TEXT, algebra_latex, clipped, html_table, matrix_latex
from lightningalg.fibres.points import generated_point
from lightningalg.invariants.study import invariants
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.matrix import Matrix
from lightningalg.networks.network import Network, Node
from lightningalg.worksheets.model import read_worksheet
from lightningalg.worksheets.runner import run_worksheets

SCRIPT = "<script>alert(1)</script>"
HOSTILE = [
    SCRIPT,
    '"><img src=x onerror=alert(1)>',
    "</td></tr></table><h1>",
    "a & b < c > d ' \"",
    "$\\href{javascript:alert(1)}{x}$",
    "\x00\x1b[31m\u202egnp.exe\ud800",
    "ü" * 3000,
    "9" * 3000,
]


class Table(HTMLParser):
    """The cells of an HTML table; fails on elements that tables of this package do not have."""

    known = frozenset({"table", "caption", "thead", "tbody", "tr", "th", "td", "p"})

    def __init__(self, text):
        super().__init__()
        self.open, self.cells, self.head, self.rows, self.tables = [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        assert tag in self.known and set(dict(attributes)) <= {"class", "scope"}, (tag, attributes)
        self.open.append(tag)
        if tag == "table":
            self.tables.append(dict(attributes)["class"])
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")
            if tag == "th":
                self.head.append(dict(attributes)["scope"])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("th", "td"):
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """One of everything that displays itself."""
    folder = tmp_path_factory.mktemp("display")
    sheet = folder / "mine.toml"
    sheet.write_text(
        f"""title = "t"
[[claim]]
id = "wrong"
kind = "dimension"
statement = '{SCRIPT} $x$'
expected = "2*d^2"
grid = {{ d = "1..2" }}
network = {{ kind = "lightning", widths = ["d", "d"], ranks = ["d"], tokens = 2 }}
""",
        encoding="utf-8",
    )
    run = run_worksheets([read_worksheet(sheet)], out=folder / "out", jobs=1)
    layer, net = la.lightning((2, 1), (1,)), la.lightning((2, 2, 2), (2, 2))
    phi = la.lightning((3, 3), (2,)).polynomial_map()
    membership, _ = la.tensor_membership(layer, {(0, 0, 1, 0): 1})
    recovered = la.recover(network_function(generated_point(net, "1")), layers=2, width=2)
    return {
        "network": net,
        "softmax": la.normalized((2, 2), (1,)),
        "degrees": phi.degrees(),
        "jacobian": phi.jacobian(),
        "dimension": la.dimension(net),
        "certificate": la.dimension(layer).certificate,
        "symmetries": la.symmetries(la.lightning((3, 3), (2,), heads=3)),
        "fibre": la.fibre(net),
        "recovery": recovered,
        "singular": la.singular_points(layer),
        "boundary": la.boundary(layer),
        "closed": la.closed_images(layer),
        "membership": membership,
        "invariants": invariants(layer, 2),
        "run": run,
        "claim": run.claims[0],
        "instance": run.claims[0].instances[1],
    }


def test_everything_is_a_table_with_headings(results):
    for name, result in results.items():
        found = Table(result._repr_html_())
        assert len(found.tables) == 1 and "tex2jax_ignore" in found.tables[0], name
        assert "col" in found.head and "row" in found.head, name
        assert len({len(row) for row in found.rows}) == 1, (name, found.rows)
        assert all(found.rows[0]), f"{name}: a column without a heading"


def test_the_plain_form_is_one_line(results):
    """What a console shows: no page of digits, no address of memory."""
    for name, result in results.items():
        text = repr(result)
        assert "\n" not in text and len(text) < 250 and " at 0x" not in text, (name, text)
    assert (
        repr(results["dimension"])
        == "<Dimension 10, certified: lightning, widths 2,2,2, ranks 2,2, tokens 2>"
    )
    assert repr(results["jacobian"]) == "<JacobianMatrix 54 x 21>"
    assert repr(results["run"]) == "<Run of 1 claims: refuted>"
    assert repr(results["recovery"]).startswith("<Recovery of 2 layers from ")


def test_latex_is_mathematics(results):
    shown = {name: getattr(r, "_repr_latex_", lambda: None)() for name, r in results.items()}
    assert shown["network"] == (
        r"$f_\theta\colon \mathbb{Q}^{2 \times 2} \to \mathbb{Q}^{2 \times 2}, \theta \in \mathbb{Q}^{24}$"
    )
    assert r"\mathbb{R}" in shown["softmax"]
    assert shown["certificate"] == r"$\dim Y = 4$"
    assert shown["symmetries"].count(r"\mathfrak{gl}_{2}") == 3
    assert shown["fibre"].endswith("= 2$") and shown["recovery"].count("pmatrix") == 6
    assert shown["singular"] is None and shown["jacobian"] == r"$54 \times 21$ Jacobian"
    for text in shown.values():
        assert text is None or (text.count("$") == 2 and text.count("{") == text.count("}"))


def test_tables_say_what_is_known(results):
    def row(name, head):
        return next(cells for cells in Table(results[name]._repr_html_()).rows if cells[0] == head)

    assert row("dimension", "dimension")[1:] == ["10", "certified"]
    assert (
        row("symmetries", "kernel of the Jacobian")[-1]
        == row("symmetries", "of it accounted for")[-1]
        == "18"
    )
    assert row("fibre", "dimension")[1] == "2"
    assert row("recovery", "determined")[1] == "yes, up to scaling"
    assert row("boundary", "boundary")[1] == "(0,0,0), (1,1,1)"
    assert row("membership", "where the function is")[1] == "in the neuromanifold"
    assert row("invariants", "2")[1:4] == ["3", "S[2](C^1) x S[3,1](C^2) x S[1,1](C^2)", "exact"]
    assert row("run", "wrong")[3:] == ["refuted", "2", "2"]
    assert row("claim", results["instance"].task.instance)[1:4] == ["refuted", "8", "7"]
    assert row("instance", "dimension")[1] == "7"


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_shown_as_text(text):
    table = html_table(text, [text, "n"], [[text, 3]], text)
    found = Table(table)
    assert len(found.rows) == 2 and len(found.rows[1]) == 2
    assert len(found.rows[1][0]) <= MAX_TEXT
    json.dumps(table).encode("utf-8")
    table.encode("utf-8")
    assert not set(table) & {"\x00", "\x1b", "\u202e"}


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_certificates_are_shown_as_text(text):
    certificate = Certificate(
        text, {}, {"quantity": "dimension", "relation": text, "value": text, text: [[text], {text: None}]}, {}
    ) if "\ud800" not in text else Certificate("x", {}, {"relation": "\u202e\x00"}, {})  # fmt: skip
    Table(certificate._repr_html_())
    assert certificate._repr_latex_() is None
    equal = Certificate(
        "dimension", {}, {"quantity": "dimension", "relation": "equals", "value": text[:9]}, {}
    )
    if "\ud800" not in text[:9]:
        assert equal._repr_latex_() is None


def test_hostile_results_of_worksheets_are_shown_as_text(results):
    table = results["run"]._repr_html_()
    assert SCRIPT not in table and "&lt;script&gt;" in table
    assert SCRIPT not in results["claim"]._repr_html_()
    instance = results["instance"]
    reason, instance.reason = instance.reason, SCRIPT
    try:
        Table(instance._repr_html_())
    finally:
        instance.reason = reason


def test_long_tables_and_numbers_are_cut():
    table = html_table("t", ["n"], ([n] for n in range(MAX_ROWS + 1234)))
    assert len(Table(table).rows) == MAX_ROWS + 1 and "1,234 more rows" in table
    assert clipped(10**5000) == "an integer of thousands of digits"
    assert len(clipped("x" * 10**6)) == MAX_TEXT
    deep = la.lightning((1,) * 500, (1,) * 499)
    assert len(deep._repr_html_()) < 100_000


def test_matrices_of_numbers_only_are_typeset():
    assert matrix_latex([[Fraction(1, 2), -3], [0, 4]]) == (
        r"\begin{pmatrix}\tfrac{1}{2} & -3 \\ 0 & 4\end{pmatrix}"
    )
    for entry in (r"\input{x}", "$", "1e5", "nan", "0x1", "9" * 50, 10**5000, None):
        assert matrix_latex([[entry]]) is None, entry
    assert matrix_latex([[0] * 13]) is None and matrix_latex([[0]] * 31) is None
    assert Matrix([[1, 2]])._repr_latex_() == r"$\begin{pmatrix}1 & 2\end{pmatrix}$"
    assert Matrix([["x"]])._repr_latex_() is None


def test_names_of_algebras_cannot_leave_the_formula():
    assert algebra_latex("sl_2 x sl_3(H)") == r"\mathfrak{sl}_{2} \times \text{sl3(H)}"
    assert "$" not in algebra_latex("$}{\\input") and "\\input" not in algebra_latex("\\input")


def test_a_network_shows_layers_ties_and_parameters():
    net = Network(
        [Node("first", ("input",), Linear(2, 2)), Node("second", ("first",), Linear(2, 2), "first")], tokens=1
    )
    text = net._repr_html_()
    assert "those of first" in text and "4 parameters, input 2 x 1" in text


def test_a_dimension_shows_both_bounds_and_its_strength():
    found = la.dimension(la.lightning((2, 2), (1,)))
    assert "<td>6</td>" in found._repr_html_() and "strength exact" in found._repr_html_()
    assert found._repr_latex_() == r"$\dim Y = 6$"
    unknown = la.dimension(la.lightning((2, 3, 3), (3, 3), heads=(1, 3), residual=(False, True)))
    assert unknown.value is None and "unknown" in unknown._repr_html_()
    assert unknown._repr_latex_() == unknown.certificate._repr_latex_() == r"$27 \le \dim Y \le 30$"


def test_maps_and_jacobians_in_latex():
    phi = la.lightning((1, 1), (1,)).polynomial_map()
    assert r"K^{(1)}_{11} V^{(1)}_{11}" in phi.jacobian()._repr_latex_()
    assert phi.jacobian()._repr_html_() is None  # notebooks prefer HTML, and the matrix is better
    assert phi._repr_latex_().startswith("$f(X) = ")
    large = la.lightning((5, 5, 5), (2, 2)).polynomial_map()
    assert large._repr_latex_() == r"$f\colon 5 \times 2 \to 5 \times 2$"
    jacobian = la.lightning((3, 3), (2,)).polynomial_map().jacobian()
    pattern = jacobian.nonzero_pattern()
    assert f"<td>{sum(map(sum, pattern))}</td>" in jacobian._repr_html_()


def test_a_certificate_shows_its_hash():
    certificate = la.dimension(la.lightning((2, 2), (1,))).certificate
    assert certificate.sha256 in certificate._repr_html_()


def test_one_part_makes_all_tables():
    """Every ``_repr_html_`` of the package uses ``display``: one place to escape."""
    package = Path(la.__file__).parent
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "_repr_html_" in text and path.name != "display.py":
            assert "html_table" in text or "worksheets.tables" in text, path
            assert "<table" not in text, path
