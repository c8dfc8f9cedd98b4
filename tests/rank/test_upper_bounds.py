"""Upper bounds: their arithmetic recomputed from FORMAT.md section 4.2, and that no rank ever exceeds one."""

from __future__ import annotations

from itertools import product
from math import comb

import flint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg.claims.dimension_bound import dimension_at_most
from lightningalg.networks.spec import network_from_table
from lightningalg.rank.predicted import predicted_dimension
from lightningalg.rank.upper_bounds import best_upper_bound, upper_bounds
from lightningalg.rank.upper_bounds.flag import flag_count
from lightningalg.rank.varieties import bounded_rank, bounded_rank_rectangular, symmetric_bounded_rank
from tests import reference
from tests.strategies import dag_tables, lightning_arguments

EXAMPLES = settings(deadline=None, max_examples=80)
lightning_tables = lightning_arguments(max_layers=4, max_heads=2, residual=True).map(
    lambda arguments: la.lightning(**arguments).to_json()
)
monomial_tables = st.tuples(st.lists(st.integers(1, 4), min_size=2, max_size=5), st.integers(1, 3)).map(
    lambda arguments: la.monomial(*arguments).to_json()
)
tables = st.one_of(dag_tables(max_layers=7, max_size=4), lightning_tables, monomial_tables)


# -- the arithmetic, from the description alone -------------------------------------------


def readers(table, name):
    return [layer for layer in table["layers"] for source in layer["inputs"] if source == name]


def sharing(table):
    tied = [layer for layer in table["layers"] if "weights" in layer]
    return {layer["id"] for layer in tied} | {layer["weights"] for layer in tied}


def layerwise(table):
    total, joined = 0, set()
    for layer in table["layers"]:
        if layer["type"] in ("linear", "bias", "convolution") and layer["id"] not in joined:
            total += sum(r * c for r, c in reference.own_shapes(layer).values())
        if layer["type"] == "lightning_attention" and "weights" not in layer:
            q = (reference.s if table["tokens"] == 1 else reference.r)(layer["d_in"], layer["rank"])
            d, d_out, m = layer["d_in"], layer["d_out"], layer["d_out"]
            after = readers(table, layer["id"])
            alone = len(after) == 1 and not {layer["id"], after[0]["id"]} & sharing(table)
            if alone and after[0]["type"] == "linear":
                joined.add(after[0]["id"])
                d_out = after[0]["d_out"]
            m = min(d, d_out, m)
            total += q + m * (d + d_out - m) - 1
    return total


def output_of(table):
    (output,) = [layer for layer in table["layers"] if not readers(table, layer["id"])]
    return output


def width_of(table, name):
    if name == "input":
        return table["width"]
    (layer,) = [layer for layer in table["layers"] if layer["id"] == name]
    if layer["type"] == "convolution":
        return len(reference.toeplitz(layer, [[1] * layer["kernel"]] * layer["channels"]))
    return layer["d_out"] if "d_out" in layer else width_of(table, layer["inputs"][0])


def coefficients(table):
    """``None`` where the rule does not apply."""
    degrees, paths, late = {"input": {1}}, {"input": {()}}, False
    for layer in table["layers"]:
        below = [degrees[source] for source in layer["inputs"]]
        paths[layer["id"]] = {
            (*path, *[layer["type"]] * (layer["type"] in ("bias", "lightning_attention")))
            for source in layer["inputs"]
            for path in paths[source]
        }
        match layer["type"]:
            case "sum":
                found = set().union(*below)
            case "linear" | "convolution":
                found = below[0]
            case "bias":
                found = {0} | below[0]
            case "lightning_attention":
                found = {sum(parts) for parts in product(below[0], repeat=3)}
                late = late or any(len(path) > 1 for path in paths[layer["id"]])
            case "monomial_activation":
                found = {0}
                for _ in range(layer["degree"]):
                    found = {a + b for a in found for b in below[0]}
        if max(found) > 4096:
            return None
        degrees[layer["id"]] = found
    types = {layer["type"] for layer in table["layers"]}
    output = output_of(table)
    d, d_out = table["width"], width_of(table, output["id"])
    if "lightning_attention" not in types or table["tokens"] == 1:
        return sum(d_out * comb(d + m - 1, m) for m in degrees[output["id"]])
    if "monomial_activation" in types or late:
        return None
    return sum({0: d_out, 1: d_out * d, 3: d_out * d * comb(d + 1, 2)}[m] for m in degrees[output["id"]])


def torus(table):
    """From the last layer E of each place back to its matrix; the number of scalings by the two ends."""
    by_id = {layer["id"]: layer for layer in table["layers"]}
    free = 0
    for end in table["layers"]:
        path = [end]
        for kind in ("monomial_activation", "bias"):
            if path[-1]["type"] == kind and path[-1]["inputs"][0] != "input":
                path.append(by_id[path[-1]["inputs"][0]])
        first, after = path[-1], readers(table, end["id"])
        types = {layer["type"] for layer in (first, *after)}
        if first["type"] in ("linear", "convolution") and after and types <= {"linear", "convolution"}:
            alone = all(len(readers(table, layer["id"])) == 1 for layer in path[1:])
            rescaled = end["type"] == "monomial_activation" or "convolution" in types
            if alone and rescaled and not {layer["id"] for layer in (*path, *after)} & sharing(table):
                slides = any(layer["type"] == "convolution" for layer in after)
                free += 1 if slides else first.get("channels", first.get("d_out"))
    return reference.parameter_count(table) - free if free else None


def flag(table):
    source, chain = "input", []
    for layer in table["layers"]:
        if layer["type"] != "lightning_attention" or layer["inputs"] != [source] or "weights" in layer:
            return None
        source = layer["id"]
        chain.append(layer)
    widths = [table["width"], *(layer["d_out"] for layer in chain)]
    ranks = [layer["rank"] for layer in chain]
    return reference.deep_dimension(widths, ranks, table["tokens"])


@EXAMPLES
@given(tables)
def test_values_are_those_of_the_format(table):
    network = network_from_table(table)
    found = {bound.method: bound.value for bound in upper_bounds(network)}
    found.pop("composition", None)  # tests/certificates/test_composition.py
    expected = {
        "parameters": reference.parameter_count(table),
        "layerwise": layerwise(table),
        "coefficients": coefficients(table),
        "torus": torus(table),
        "flag": flag(table),
    }
    assert found == {method: value for method, value in expected.items() if value is not None}
    values = [bound.value for bound in upper_bounds(network)]
    assert values == sorted(values) and best_upper_bound(network).value == values[0]
    certificate = dimension_at_most(network)
    assert certificate.claim == {"quantity": "dimension", "relation": "at most", "value": values[0]}
    assert certificate.witness["lower_bound"] is None


@settings(deadline=None, max_examples=60)
@given(st.one_of(dag_tables(max_layers=6), lightning_tables, monomial_tables))
def test_no_rank_exceeds_an_upper_bound(table):
    """Ranks by the plain rows of tests/reference.py and FLINT."""
    network = network_from_table(table)
    rank = found_rank(network)
    for bound in upper_bounds(network):
        assert rank <= bound.value, bound


def found_rank(network):
    """The rank of the sampled Jacobian, with a few rows more than the best upper bound."""
    table, n, prime = network.to_json(), network.parameter_count, 8388593
    rows = [
        reference.jacobian_row(table, prime, "u", j)
        for j in range(min(n, best_upper_bound(network).value + 3) + 2)
    ]
    return flint.nmod_mat(rows, prime).rank()


# -- steps -----------------------------------------------------------------------------------


def steps(network, method):
    (bound,) = [bound for bound in upper_bounds(network) if bound.method == method]
    return bound.steps


def test_steps_of_the_flag_count():
    """(4, 3, 2, 4 | 2, 2, 2), t = 2: no dead directions; q = r(4,2), r(3,2), r(2,2)."""
    assert steps(la.lightning((4, 3, 2, 4), (2, 2, 2)), "flag") == {
        "e": [4, 3, 2], "g": [4, 3, 2],
        "matrices": [{"symmetric": False, "dimension": q} for q in (12, 8, 4)],
        "flags": 3 * 1 + 2 * 1, "values": 4 * 2, "torus": 3,
    }  # fmt: skip
    # (4, 4, 1 | 1, 1): the second layer sees 2 + 1 = 3 directions, and only their quadratic form
    assert steps(la.lightning((4, 4, 1), (1, 1)), "flag") == {
        "e": [4, 4], "g": [4, 3],
        "matrices": [{"symmetric": False, "dimension": 7}, {"symmetric": True, "dimension": 5}],
        "flags": 3, "values": 3, "torus": 2,
    }  # fmt: skip


@EXAMPLES
@given(lightning_arguments(max_layers=5))
def test_layers_seen_as_quadratic_forms(arguments):
    """t = 1, or an earlier layer of effective rank min(a_j, e_{j-1}) = 1, e_i the smallest width so far."""
    widths, ranks = arguments["widths"], arguments["ranks"]
    found = [layer["symmetric"] for layer in steps(la.lightning(**arguments), "flag")["matrices"]]
    effective = [min(a, *widths[: j + 1]) for j, a in enumerate(ranks)]
    assert found == [arguments["tokens"] == 1 or 1 in effective[:i] for i in range(len(ranks))]


def made(name, kind, *inputs, **sizes):
    return {"id": name, "type": kind, "inputs": list(inputs), **sizes}


FREE = [made("a", "linear", "input", d_in=2, d_out=3), made("b", "monomial_activation", "a", degree=2)]
LAST = made("c", "linear", "b", d_in=3, d_out=1)


@pytest.mark.parametrize(
    ("layers", "free"),
    [
        ([*FREE, LAST], ["b"]),
        ([*FREE, LAST, made("d", "linear", "b", d_in=3, d_out=1), made("s", "sum", "c", "d")], ["b"]),
        # the linear layer is read twice, so that rescaling it changes the other reader
        ([*FREE, LAST, made("d", "linear", "a", d_in=3, d_out=1), made("s", "sum", "c", "d")], []),
        ([*FREE, made("d", "monomial_activation", "a", degree=3), made("s", "sum", "b", "d")], []),
        ([*FREE, made("s", "sum", "b", "b"), made("c", "linear", "s", d_in=3, d_out=1)], []),  # read by a sum
        (FREE, []),  # read by nobody
        (
            [made("b", "monomial_activation", "input", degree=2), made("c", "linear", "b", d_in=2, d_out=1)],
            [],
        ),
    ],
)
def test_free_activations(layers, free):
    network = network_from_table({"tokens": 1, "width": 2, "layers": layers})
    found = [bound.steps["activations"] for bound in upper_bounds(network) if bound.method == "torus"]
    assert found == ([[{"layer": name, "width": 3} for name in free]] if free else [])
    assert torus(network.to_json()) == (network.parameter_count - 3 if free else None)
    rank = found_rank(network)
    assert rank <= best_upper_bound(network).value


def test_steps_of_the_other_bounds():
    assert steps(la.multi_head(3, 2, 1, 2), "layerwise")["blocks"] == [
        {"layers": ["layer1.head1"], "dimension": 5 + 6 - 1}, {"layers": ["layer1.head2"], "dimension": 10},
    ]  # fmt: skip
    joined = la.transformer({"dim": 4, "n_heads": 2, "n_layers": 1})
    assert steps(joined, "layerwise")["blocks"][0] == {
        "layers": ["layer1.head1", "layer1.head1.output"], "dimension": 12 + 2 * (4 + 4 - 2) - 1,
    }  # fmt: skip
    assert steps(la.monomial((2, 3, 4, 1)), "torus") == {
        "activations": [{"layer": "activation1", "width": 3}, {"layer": "activation2", "width": 4}]
    }
    assert steps(la.monomial((2, 3, 4, 1)), "coefficients") == {"terms": [{"degree": 4, "coefficients": 5}]}
    residual = la.lightning((2, 2), (1,), residual=True)
    assert steps(residual, "coefficients") == {
        "terms": [{"degree": 1, "coefficients": 4}, {"degree": 3, "coefficients": 12}]
    }
    assert steps(la.deep_linear(2, 3), "parameters") == {"parameters": 6}


def test_bounds_of_published_models_take_no_time():
    """GPT-2 small, attention only: 12 layers of 12 heads, blocks r(768, 64) + 64 (2 * 768 - 64) - 1."""
    network = la.transformer({"n_embd": 768, "n_head": 12, "n_layer": 12})
    block = (2 * 64 * 768 - 64**2) + 64 * (2 * 768 - 64) - 1
    assert best_upper_bound(network).value == 144 * block
    assert network.parameter_count == 144 * 4 * 64 * 768


# -- varieties ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("e", "a"), list(product(range(1, 6), range(1, 7))))
def test_dimensions_of_varieties(e, a):
    """Rank of the Jacobian of K^T Q, of its symmetric part, and of B C, at a random point."""
    prime = 2**31 - 1
    assert bounded_rank(e, a) == reference.r(e, a)
    assert symmetric_bounded_rank(e, a) == reference.s(e, a)

    def entries(seed, rows, columns):
        values = reference.stream(seed, f"{e}/{a}", rows * columns, prime)
        return [values[i * columns : (i + 1) * columns] for i in range(rows)]

    def jacobian_of_product(left, right):
        """Rows: derivatives of left @ right by all entries of both."""
        rows = []
        height, inner, width = len(left), len(right), len(right[0])
        for i, k in product(range(height), range(inner)):
            rows.append([right[k][c] if r == i else 0 for r in range(height) for c in range(width)])
        for k, j in product(range(inner), range(width)):
            rows.append([left[r][k] if c == j else 0 for r in range(height) for c in range(width)])
        return rows

    square = jacobian_of_product(entries("K", e, a), entries("Q", a, e))
    assert flint.nmod_mat(square, prime).rank() == reference.r(e, a)
    symmetric = [
        [(row[i * e + j] + row[j * e + i]) % prime for i in range(e) for j in range(e)] for row in square
    ]
    assert flint.nmod_mat(symmetric, prime).rank() == reference.s(e, a)
    for width in (1, 2, 4):
        rectangular = jacobian_of_product(entries("K", e, a), entries("Q", a, width))
        assert flint.nmod_mat(rectangular, prime).rank() == bounded_rank_rectangular(e, width, a)


# -- formulas ---------------------------------------------------------------------------------------


@EXAMPLES
@given(lightning_arguments(max_layers=5, max_size=6))
def test_flag_count_is_MATHs_D(arguments):
    widths, ranks, tokens = (arguments[name] for name in ("widths", "ranks", "tokens"))
    expected = reference.deep_dimension(widths, ranks, tokens)
    assert flag_count(widths, ranks, tokens).total == expected
    assert predicted_dimension(la.lightning(widths, ranks, tokens)) == expected
    if len(ranks) == 1:
        assert expected == reference.single_layer(*widths, *ranks, tokens)


@pytest.mark.parametrize("d", range(2, 6))
@pytest.mark.parametrize("a", range(2, 6))
@pytest.mark.parametrize("layers", range(1, 5))
def test_constant_width(d, a, layers):
    """MATH.md section 4: l r(d, a) + d^2 - l for rank a >= 2."""
    assert (
        flag_count((d,) * (layers + 1), (a,) * layers, 2).total == layers * reference.r(d, a) + d**2 - layers
    )


def test_predictions():
    assert predicted_dimension(la.lightning((3, 3, 3), (1, 2), residual=True)) == (5 + 8) + (8 + 8)
    assert predicted_dimension(la.lightning((3, 3, 3), (1, 2), residual=(True, False))) is None
    assert predicted_dimension(la.lightning((3, 3, 3), (1, 2), heads=2)) is None
    assert predicted_dimension(la.lightning((3, 3), (1,), 1, residual=True)) is None
    assert predicted_dimension(la.deep_linear(3, 2, 3)) is None
    assert predicted_dimension(la.monomial((5, 5, 3, 1))) == 35  # what it is expected to be, and is not
    assert predicted_dimension(la.monomial((2, 9, 9, 1))) == 5  # quartics in two variables
    assert predicted_dimension(la.lightning((4, 1), (4,), heads=3)) == 3 * 1 + 4 * (10 - 1)
    assert predicted_dimension(la.lightning((4, 1), (4,), heads=4)) is None


@pytest.mark.parametrize(("d", "d_out", "a"), list(product((1, 2, 3), (2, 3), (1, 2, 3))))
def test_prediction_for_many_heads_never_falls(d, d_out, a):
    """MATH.md's quadratic in the number of heads falls again; more heads never compute less."""
    ambient = d_out * d * comb(d + 1, 2)
    values = [predicted_dimension(la.multi_head(d, d_out, a, heads)) for heads in range(1, 40)]
    assert values == sorted(values) and values[-1] == ambient
    rising = [
        heads
        for heads in range(1, 40)
        if reference.multi_head_dimension(d, d_out, a, heads) == values[heads - 1]
    ]
    assert {1, 2} <= set(rising)
