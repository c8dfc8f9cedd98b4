"""What notebooks show: escaped tables, and LaTeX that is mathematics."""

from __future__ import annotations

import lightningalg as la
from lightningalg.display import html_table
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.network import Network, Node


def test_every_text_is_escaped():
    table = html_table("<i>", ["<b>"], [["&", 3]], "a < b")
    assert "<i>" not in table and "<b>" not in table and "&amp;" in table and "a &lt; b" in table


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
    assert unknown._repr_latex_() == r"$27 \le \dim Y \le 30$"


def test_maps_and_jacobians_in_latex():
    phi = la.lightning((1, 1), (1,)).polynomial_map()
    assert r"K^{(1)}_{11} V^{(1)}_{11}" in phi.jacobian()._repr_latex_()
    assert phi._repr_latex_().startswith("$f(X) = ")
    large = la.lightning((5, 5, 5), (2, 2)).polynomial_map()
    assert large._repr_latex_() == r"$f\colon 5 \times 2 \to 5 \times 2$"
    assert la.lightning((3, 3), (2,)).polynomial_map().jacobian()._repr_latex_() == r"$54 \times 21$ Jacobian"


def test_a_certificate_shows_its_hash():
    certificate = la.dimension(la.lightning((2, 2), (1,))).certificate
    assert certificate.sha256 in certificate._repr_html_()
