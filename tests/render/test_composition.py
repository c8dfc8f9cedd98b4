"""Proofs of composition bounds: stages, cuts, and the argument for every segment."""

from __future__ import annotations

import copy
import json
import random
import re
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg.errors import InputError, LightningAlgError
from lightningalg.rank.composition import bound
from lightningalg.render.latex import ClaimText, render_proof
from lightningalg.render.latex.arguments import LEMMAS
from lightningalg.render.latex.networks import read_network
from lightningalg.render.latex.stages import read_stages
from tests.render import latex_samples as samples
from tests.render.test_latex import JUNK, compiled, flat, needs_tex, references, spots


def leaf(start, stop, argument, dimension):
    return {"from": start, "to": stop, "argument": argument, "dimension": dimension}


def cut(at, gauge, left, right):
    dimension = left["dimension"] + right["dimension"] - gauge
    ends = {"from": left["from"], "to": right["to"], "argument": "cut", "dimension": dimension}
    return {**ends, "at": at, "gauge": gauge, "parts": [left, right]}


def by_hand(network, derivation):
    upper = {"value": derivation["dimension"], "method": "composition", "steps": {"derivation": derivation}}
    return samples.dimension(network.to_json(), upper)


def produced(network):
    upper = bound(network).to_json()
    if 0 < upper["value"] <= network.parameter_count:
        return samples.equals(network.to_json(), upper)
    return samples.dimension(network.to_json(), upper)


def ten_heads():
    return la.lightning((4,) * 11, (2,) * 10, heads=2)


#: worked out by hand from FORMAT.md, apart from the package
BY_HAND = {
    "quadratic": lambda: by_hand(
        la.monomial((5, 5, 3, 1), degree=2),
        cut(1, 5, leaf(0, 1, "linear", 25), leaf(1, 3, "quadratic", 12)),
    ),
    "rank of coefficients": lambda: by_hand(
        la.monomial((3, 5, 6, 4, 3, 1), degree=2),
        cut(
            2,
            6,
            leaf(0, 2, "coefficients", 35),
            cut(3, 4, leaf(2, 3, "linear", 24), leaf(3, 5, "quadratic", 9)),
        ),
    ),
    "cubes": lambda: by_hand(la.monomial((5, 7, 1), degree=3), leaf(0, 2, "alexander-hirschowitz", 34)),
    "fourth powers": lambda: by_hand(
        la.monomial((3, 5, 1), degree=4), leaf(0, 2, "alexander-hirschowitz", 14)
    ),
    "flattening": lambda: by_hand(
        la.monomial((4, 5, 3), degree=2), {**leaf(0, 2, "flattening", 29), "wedge": 1, "split": 1}
    ),
    "mixing": lambda: by_hand(la.lightning((3, 3), (3,), heads=2), leaf(0, 1, "mixing", 32)),
    "ideal": lambda: by_hand(la.lightning((5, 1), (5,), heads=3), leaf(0, 1, "span", 6 + 5 * (15 - 3))),
    "ideal, one token": lambda: by_hand(
        la.lightning((5, 1), (5,), 1, heads=3), leaf(0, 1, "span", 6 + comb(7, 3) - comb(4, 3))
    ),
    "tensor": lambda: by_hand(la.lightning((2, 3), (2,), heads=4), leaf(0, 1, "tensor", 18)),
    "flag": lambda: by_hand(
        la.lightning((3, 3, 3, 2), (2, 2, 2), heads=(1, 1, 2)),
        cut(2, 9, leaf(0, 2, "flag", 23), leaf(2, 3, "heads", 2 * (8 + 6 - 1))),
    ),
    "residual": lambda: by_hand(
        la.lightning((3, 3, 3, 3), (2, 1, 1), heads=2, residual=(False, True, False)),
        cut(
            1,
            9,
            leaf(0, 1, "heads", 2 * (8 + 9 - 1)),
            cut(2, 0, leaf(1, 2, "heads", 2 * (5 + 9 - 1)), leaf(2, 3, "heads", 2 * (5 + 9 - 1))),
        ),
    ),
    "ten stages": lambda: produced(ten_heads()),
    "ten activations": lambda: produced(la.monomial((3, 4, 5, 6, 7, 8, 4, 3, 4, 2, 1), degree=2)),
    "three residual layers": lambda: produced(la.lightning((4,) * 4, (2,) * 3, heads=2, residual=True)),
    "rank one": lambda: produced(la.lightning((4, 4, 4, 2), (1, 2, 2), heads=(1, 2, 2))),
    "narrow": lambda: produced(la.lightning((3, 4, 3, 3, 4), (1, 2, 2, 2), 3, heads=(1, 1, 1, 2))),
    "output matrices": lambda: produced(
        la.transformer({"hidden_size": 6, "num_attention_heads": 2, "num_hidden_layers": 3})
    ),
    "thirty stages": lambda: produced(
        la.lightning((3,) * 31, (1,) * 30, heads=[1 + i % 3 for i in range(30)])
    ),
    "linear": lambda: produced(la.monomial((5, 4, 4, 3), degree=(1, 3)).then(la.deep_linear(3, 2, 4))),
}


def table():
    certificates = [make() for make in BY_HAND.values()]
    claim = ClaimText("c", "T", "S", verdicts={x["sha256"]: "certified" for x in certificates})
    return render_proof(certificates, claim=claim)


# --- with LaTeX --------------------------------------------------------------------------------------------

QUICK = {"quadratic", "rank one"}


@needs_tex
@pytest.mark.parametrize(
    "name", [pytest.param(k, marks=() if k in QUICK else pytest.mark.slow) for k in BY_HAND]
)
def test_every_argument_compiles(name, tmp_path):
    compiled(tmp_path, render_proof([BY_HAND[name]()]))


@needs_tex
@pytest.mark.slow
def test_tables_and_four_in_full_compile(tmp_path):
    compiled(tmp_path, table())
    certificates = [BY_HAND[name]() for name in ("flag", "residual", "cubes", "output matrices")]
    compiled(tmp_path, render_proof(certificates))


# --- content -----------------------------------------------------------------------------------------------

ARITHMETIC = {
    "quadratic": "25+12-5=32",
    "rank of coefficients": "35+24+9-6-4=58",
    "cubes": r"\binom{7}3-1=34",
    "fourth powers": r"\binom{6}4-1=14",
    "mixing": "2(9+9-2)=32",
    "tensor": r"3\cdot 2\cdot\binom{3}2=18",
    "ideal": r"3(5-3)+5\bigl(\tbinom{6}2-\tbinom{3}2\bigr)=66",
    "ideal, one token": r"3(5-3)+\binom{7}3-\binom{4}3=37",
    "flag": "23+26-9=40",
    "residual": "32+26+26-9=75",
    "ten stages": r"10\cdot 54-9\cdot 16=396",
}


@pytest.mark.parametrize("name", ARITHMETIC)
def test_the_final_sum_is_visible(name):
    assert rf"\[ {ARITHMETIC[name]}. \]" in flat(render_proof([BY_HAND[name]()]))


@pytest.mark.parametrize("name", BY_HAND)
def test_only_the_lemmas_in_use_are_proved(name):
    certificate = BY_HAND[name]()
    text = render_proof([certificate])
    used, defined = references(text)
    lemmas = {label for label in defined if label.startswith(("lem:", "prop:"))}
    assert used <= defined and lemmas <= used
    wanted, pending = set(), [certificate["witness"]["upper_bound"]["steps"]["derivation"]]
    while pending:
        node = pending.pop()
        wanted.add(LEMMAS.get(node["argument"], "lem:cut"))
        pending += node.get("parts", [])
    assert wanted == lemmas & {*LEMMAS.values(), "lem:cut"}
    assert not re.search(r"(\\VAR|\\BLOCK|\\REMARK)\{", text) and text.isascii()
    cited = set(re.findall(r"\\cite(?:\[[^]]*\])?\{([^}]*)\}", text))
    assert cited == set(re.findall(r"\\bibitem\{([^}]*)\}", text))
    assert text == render_proof([copy.deepcopy(certificate)])


def test_the_reason_comes_first():
    text = flat(render_proof([BY_HAND["quadratic"]()]))
    assert (
        r"The number of parameters, $n=43$, exceeds the bound $32$ by $11$: $6$ because stages $2$ and $3$ "
        r"only see a symmetric $5\times 5$ matrix of rank at most $3$, and $5$ because a torus may rescale"
    ) in text
    alone = flat(render_proof([BY_HAND["cubes"]()]))
    assert "by $8$, because stages $1$ and $2$ only see combinations of $7$ cubes" in alone


def test_steps_are_those_of_the_derivation():
    text = flat(render_proof([BY_HAND["residual"]()]))
    assert r"\item[(4)]" in text and r"\item[(5)]" in text and r"\item[(6)]" not in text
    assert (
        r"Stages $1$, $2$ and $3$, cut at position $1$: $\mathrm{GL}_{3}$ acts at this free position, of the "
        r"class $1,\dots,2$; $\beta_c=3$, so orbits have dimension at least $3\cdot 3=9$"
    ) in text
    assert r"cut at position $2$: the bounds add up (\cref{lem:cut}). The bound is $26+26=52$" in text


def test_equal_steps_share_a_line():
    text = flat(render_proof([BY_HAND["ten stages"]()]))
    assert "Stages $1$--$10$, each by itself: $2$ heads" in text and r"\item[(3)]" not in text
    assert r"is $54+54+8\cdot 54-9\cdot 16=396$" in text
    long = flat(render_proof([BY_HAND["thirty stages"]()]))
    assert r"\item[(5)]" in long and r"\item[(6)]" not in long


def test_tables_print_every_lemma_once_and_derivations_in_short():
    text = flat(table())
    for label in ("lem:cut", *LEMMAS.values()):
        assert text.count(rf"\label{{{label}}}") == 1
    assert r"S: $25+12-5$ \mbox{${}=32$} (cut at $1$: torus; linear, quadratic)" in text
    assert r"S: $35+24+9-6-4$ \mbox{${}=58$} (cut at $2$, $3$: torus; coefficients, linear, " in text
    assert r"\emph{span}, \cref{lem:ideal};" in text and r"\emph{flag}, \cref{prop:flag};" in text


def test_stages_that_collapse_or_are_narrow():
    text = flat(render_proof([BY_HAND["rank one"]()]))
    assert "positions from $1$ on are collapsed (stage $1$ is one head of rank $1$)" in text
    assert "lem:effective" not in text
    narrow = flat(render_proof([BY_HAND["narrow"]()]))
    assert r"\label{lem:effective}" in narrow and "$m_0=e_0=3$" in narrow
    assert "lem:collapsed" not in render_proof([BY_HAND["mixing"]()])


# --- bad certificates --------------------------------------------------------------------------------------


def nodes(derivation):
    yield derivation
    for part in derivation.get("parts", ()):
        yield from nodes(part)


@pytest.mark.parametrize("name", ["rank of coefficients", "residual", "flag", "narrow"])
def test_steps_that_do_not_follow_are_refused(name):
    good = BY_HAND[name]()
    count = len(list(nodes(good["witness"]["upper_bound"]["steps"]["derivation"])))
    changes = [
        lambda x: x.update(dimension=x["dimension"] - 1),
        lambda x: x.update({"from": x["from"] + 1}),
        lambda x: x.update(to=x["to"] + 1),
        lambda x: x.update(argument="magic"),
        lambda x: x.update(argument="alexander-hirschowitz"),
        lambda x: x.update(extra=0),
        lambda x: x.update(gauge=x.get("gauge", 0) + 1),
        lambda x: x.update(at=x["to"]),
        lambda x: x.update(parts=x["parts"][::-1] if "parts" in x else []),
    ]
    for index in range(count):
        for change in changes:
            bad = copy.deepcopy(good)
            change(list(nodes(bad["witness"]["upper_bound"]["steps"]["derivation"]))[index])
            with pytest.raises(InputError):
                render_proof([bad])


def test_more_heads_need_not_span_more():
    """Forms of degree 9 in 2 variables span 10 dimensions: 4 heads on 4 forms do not make 16."""
    network = la.lightning((2, 4, 16), (2, 2), 1, heads=(2, 4)).then(la.deep_linear(16, 4))
    first = leaf(0, 2, "coefficients", 160)
    render_proof([by_hand(network, cut(2, 16 * 4, first, leaf(2, 3, "linear", 64)))])
    with pytest.raises(InputError, match="cut at 2"):
        render_proof([by_hand(network, cut(2, 16 * 16, first, leaf(2, 3, "linear", 64)))])


@pytest.mark.parametrize("name", list(BY_HAND))
def test_malformed_certificates_are_refused_in_one_line(name):
    rng = random.Random(name)
    certificate = BY_HAND[name]()
    places = [path for path in spots(certificate["witness"]["upper_bound"]) if path]
    for path in rng.sample(places, min(len(places), 25)):
        for junk in (*rng.sample(JUNK, 2), "remove"):
            changed = copy.deepcopy(certificate)
            *way, last = path
            inner = changed["witness"]["upper_bound"]
            for key in way:
                inner = inner[key]
            if junk == "remove":
                del inner[last]
            else:
                inner[last] = junk
            try:
                text = render_proof([changed])
            except LightningAlgError as error:
                assert "\n" not in str(error)
            else:
                assert r"\evil" not in text and text.isascii()


@pytest.mark.parametrize(
    "layers",
    [
        [samples.linear("a", "input", 2, 2), samples.activation("b", "a", 2)],
        [samples.attention("a", "input", 2, 2, 1), samples.attention("b", "input", 2, 2, 1),
         samples.linear("c", "a", 2, 2), samples.total("d", "b", "c"), samples.total("e", "a", "d")],
        [samples.attention("a", "input", 2, 2, 1), samples.total("b", "input", "input", "a")],
        [samples.linear("a", "input", 2, 2), samples.linear("b", "input", 2, 2),
         samples.total("c", "a", "b")],
    ],
)  # fmt: skip
def test_other_networks_have_no_stages(layers):
    with pytest.raises(InputError, match="not sequential"):
        read_stages(read_network({"tokens": 2, "width": 2, "layers": layers}))


# --- agreement with the producer ---------------------------------------------------------------------------


def value_of(formula):
    formula = re.sub(r"\\t?binom\{(\d+)\}\{?(\d+)\}?", r"comb(\1,\2)", formula.replace(r"\allowbreak", ""))
    formula = re.sub(r"\\tfrac\{(\d+)\\cdot (\d+)\}2", r"(\1*\2//2)", formula)
    formula = re.sub(r"\\bigl|\\bigr", "", formula.replace(r"\cdot", "*"))
    formula = re.sub(r"(?<=[\d)])\s*\((?!\d+,)", "*(", formula)
    formula = re.sub(r"(?<=[\d)])comb", "*comb", formula)
    return eval(formula, {"comb": comb})


sizes = st.integers(1, 5)


@st.composite
def sequential_networks(draw):
    depth = draw(st.integers(1, 5))
    widths = draw(st.lists(sizes, min_size=depth + 1, max_size=depth + 1))
    if draw(st.booleans()):
        degrees = draw(st.lists(st.integers(1, 4), min_size=depth - 1, max_size=depth - 1))
        network = la.monomial(widths, degree=degrees)
        return network.then(la.deep_linear(widths[-1], draw(sizes))) if draw(st.booleans()) else network
    heads = draw(st.lists(st.integers(1, 3), min_size=depth, max_size=depth))
    ranks = draw(st.lists(st.integers(1, 3), min_size=depth, max_size=depth))
    wanted = draw(st.lists(st.booleans(), min_size=depth, max_size=depth))
    residual = [wanted[i] and widths[i] == widths[i + 1] for i in range(depth)]
    return la.lightning(widths, ranks, draw(st.integers(1, 3)), heads=heads, residual=residual)


@settings(max_examples=60, deadline=None)
@given(sequential_networks())
def test_printed_sums_give_the_bound(network):
    upper = bound(network).to_json()
    text = flat(render_proof([samples.dimension(network.to_json(), upper)]))
    start = r"upper bound of \\cref\{prop:composition\} is (?:\\\[ |\\begin\{longformula\} \$)"
    (total,) = re.findall(start + r"(.*?)=(\d+)", text)
    assert value_of(total[0]) == int(total[1]) == upper["value"]
    for formula, value in re.findall(r"The bound(?: for each)? is \$([^$]*)=(\d+)\$", text):
        assert value_of(formula) == int(value)
    json.dumps(upper)


def test_a_table_without_cuts_cites_no_cut():
    networks = [la.lightning((d, d), (1,), heads=2) for d in (2, 3, 4, 5, 6, 7)]
    text = render_proof([samples.dimension(x.to_json(), bound(x).to_json()) for x in networks])
    assert r"\cref{prop:composition} no segment is cut" in text
    assert set(re.findall(r"\\cref\{(lem:cut|prop:composition)\}", text)) == {"prop:composition"}
    assert r"\label{prop:composition}" in text
