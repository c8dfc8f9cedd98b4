"""LaTeX proofs: escaping, structure, agreement with the certificates, and what pdflatex says of them."""

from __future__ import annotations

import copy
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lightningalg.certificates import stream_values
from lightningalg.errors import (
    InputError,
    LightningAlgError,
    MissingExtraError,
    TooLargeError,
    UnsupportedError,
)
from lightningalg.render.latex import (
    ClaimText,
    LatexError,
    compile_pdf,
    compile_with_log,
    escape_text,
    overfull_boxes,
    render_proof,
)
from lightningalg.render.latex import escape as escaping
from lightningalg.render.latex.escape import Tex, environment, number, plain_ascii, typewriter
from lightningalg.render.latex.identity import expression, symbol
from lightningalg.render.latex.layer_rows import layer_rows
from lightningalg.render.latex.networks import read_network
from lightningalg.render.latex.typeset import index_runs, matrix, sequence, summation, visible_length
from tests.render import latex_samples as samples

needs_tex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
EVIL = (
    r"100% of \evil $x$ ~^#{_}& <a|b> `--' [x] été Šćß α≤β² ℚ 中文 "
    r"\end{document} \input{/etc/passwd} ^^5cevil } { $ \ " + "W" * 200
)


# --- documents ---------------------------------------------------------------------------------------------


def with_long_ids(network):
    """The same network with ids of 64 characters."""
    names = {x["id"]: "N_" + "W" * 58 + f"{i:04d}" for i, x in enumerate(network["layers"])}
    layers = [
        {**x, "id": names[x["id"]], "inputs": [names.get(y, y) for y in x["inputs"]]}
        for x in network["layers"]
    ]
    return {**network, "layers": layers}


def flag_proof(widths, ranks, tokens=2, **options):
    network = samples.chain(widths, ranks, tokens)
    return [samples.equals(network, samples.flag(network), **options)]


def layerwise_proof(network, **options):
    return [samples.equals(network, samples.layerwise(network), **options)]


def joined():
    layers = [
        samples.attention("a", "input", 2, 3, 1),
        samples.linear("b", "a", 3, 2),
        samples.linear("c", "b", 2, 2),
    ]
    return {"tokens": 2, "width": 2, "layers": layers}


def two_degrees():
    """Degrees 1 and 3 enter an attention layer on one token: the output has 3, 5, 7, 9."""
    layers = [
        samples.attention("a", "input", 2, 2, 1),
        samples.total("s", "input", "a"),
        samples.attention("b", "s", 2, 2, 1),
    ]
    return {"tokens": 1, "width": 2, "layers": layers}


def mlp():
    return samples.monomial((3, 4, 2), 3)


KINDS = {
    "flag": lambda: flag_proof((4, 3, 2, 4), (2, 2, 2)),
    "flag, rank one": lambda: flag_proof((2, 2, 2), (1, 2), seed="a-long.seed_" * 5),
    "flag, one token, explicit": lambda: flag_proof((3, 2, 2), (1, 2), 1, explicit=True, prime=101),
    "one layer": lambda: flag_proof((2, 3), (1,)),
    "one layer, one token": lambda: flag_proof((2, 3), (1,), 1),
    "layerwise": lambda: layerwise_proof(samples.residual(2, 1, 2)),
    "layerwise, joined": lambda: layerwise_proof(joined()),
    "layerwise, one token": lambda: layerwise_proof(samples.residual(2, 1, 2, tokens=1)),
    "coefficients": lambda: [
        samples.dimension(
            samples.monomial((2, 2, 3), 2),
            samples.coefficients(samples.monomial((2, 2, 3), 2), [2]),
            samples.minor(samples.monomial((2, 2, 3), 2), 8),
        )
    ],
    "coefficients, attention": lambda: [
        samples.dimension(samples.residual(2, 1, 1), samples.coefficients(samples.residual(2, 1, 1), [1, 3]))
    ],
    "coefficients, sums": lambda: [
        samples.dimension(two_degrees(), samples.coefficients(two_degrees(), [3, 5, 7, 9]))
    ],
    "torus": lambda: [samples.equals(mlp(), samples.torus(mlp(), [("activation1", 4)]))],
    "parameters": lambda: [samples.equals(mlp(), samples.parameters(mlp()))],
    "at most": lambda: [samples.dimension(mlp(), samples.parameters(mlp()))],
    "at least": lambda: [samples.dimension(mlp(), None, samples.minor(mlp(), 5))],
    "degrees": lambda: [samples.degrees(samples.chain((4, 3, 2, 4), (2, 2, 2)))],
    "degrees, activation": lambda: [samples.degrees(mlp())],
    "identities": lambda: [samples.identity(), samples.scaling_identity()],
}


def grid():
    """250 single layers, as one claim of which a part is refuted and a part open."""
    certificates, verdicts = [], {}
    for d in range(1, 6):
        for d_out in range(1, 6):
            for rank in range(1, 6):
                for tokens in (1, 2):
                    network = samples.chain((d, d_out), (rank,), tokens)
                    bound = samples.flag(network)
                    seed = f"grid-{d}-{d_out}-{rank}-{tokens}"
                    size = bound["value"] - (rank == 5 and d == 5)
                    certificate = samples.dimension(network, bound, samples.minor(network, size, seed=seed))
                    certificates.append(certificate)
                    refuted = tokens == 1 and d == 4
                    verdict = "open" if rank == d == 5 else "refuted" if refuted else "certified"
                    verdicts[certificate["sha256"]] = verdict
    claim = ClaimText(
        id="single-layer-dimension-" + "x" * 41,
        title="Dimension of a single layer " + EVIL,
        statement=EVIL,
        source="[paper] Theorem " + EVIL,
        prose="First paragraph. " + EVIL + "\n\n[Second] " + EVIL,
        hypotheses=("t ≥ 2", EVIL),
        expected="2·a·d + d·d' − a² − 1",
        verdicts=verdicts,
    )
    return certificates, None, claim


def mixture():
    """Every method and relation in one table, with long ids, and other kinds behind it."""
    found = []
    for k in range(1, 4):
        network = with_long_ids(samples.residual(2, 1, k))
        found.append(samples.equals(network, samples.layerwise(network)))
        network = with_long_ids(samples.monomial((2, 3, 3, 2), k))
        free = [(network["layers"][i]["id"], 3) for i in (1, 3)]
        found.append(
            samples.dimension(network, samples.torus(network, free), samples.minor(network, 5, prime=101))
        )
        found.append(samples.dimension(network, samples.coefficients(network, [k * k])))
        found.append(samples.dimension(network, samples.parameters(network)))
        chain = samples.chain((4, 3, 2, 4)[: k + 1], (2, 2, 2))
        found.append(samples.dimension(chain, samples.flag(chain), samples.minor(chain, 3)))
        found.append(samples.dimension(chain, None, samples.minor(chain, 3, explicit=True)))
    found += [samples.degrees(samples.chain([2] * 41, [1] * 40)), samples.identity()]
    found.append(samples.degrees(with_long_ids(samples.monomial((2, 3, 3), 3))))
    return found, None, None


def wide_chain():
    rng = random.Random(1)
    widths = [rng.randint(10_000, 900_000) for _ in range(301)]
    network = samples.chain(widths, [rng.randint(1, 900_000) for _ in range(300)])
    return [samples.dimension(network, samples.flag(network))], EVIL, None


def many_runs():
    network = samples.chain((40, 30, 40), (20, 20))
    bound = samples.flag(network)
    rows = [[3 * i, 3 * i] for i in range(bound["value"])]
    columns = [[2 * i, 2 * i] for i in range(bound["value"])]
    return [samples.equals(network, bound, rows=rows, columns=columns, seed="-." * 32)], "W" * 300, None


def many_heads():
    heads = [samples.attention(f"h{i}", "input", 3, 3, 1) for i in range(200)]
    network = {"tokens": 2, "width": 3, "layers": [*heads, samples.total("s", *(x["id"] for x in heads))]}
    return [*layerwise_proof(network), samples.degrees(network)], None, None


def heads_table():
    heads = [samples.attention(f"h{i}", "input", 3, 3, 1) for i in range(60)]
    network = {"tokens": 2, "width": 3, "layers": [*heads, samples.total("s", *(x["id"] for x in heads))]}
    return [layerwise_proof(network, seed=str(k))[0] for k in range(5)], None, None


def degrees_table():
    chains = [samples.degrees(samples.chain([2] * k, [1] * (k - 1))) for k in range(2, 9)]
    return [*chains, samples.degrees(samples.chain([2] * 60, [1] * 59))], None, None


def bulky_table():
    """A table with networks that do not fit into its rows, one of them refuted."""
    rng = random.Random(2)
    found = []
    for k in range(3):
        network = with_long_ids(samples.residual(3, 2, 20 + k))
        found.append(samples.equals(network, samples.layerwise(network)))
        network = samples.chain(
            [rng.randint(1, 9) for _ in range(81)], [rng.randint(1, 9) for _ in range(80)]
        )
        found.append(samples.dimension(network, samples.flag(network)))
    claim = ClaimText("c", "T", "S", verdicts={x["sha256"]: "refuted" for x in found[:2]})
    return found, None, claim


def transformer(width, rank, heads, depth):
    """Residual layers of several heads, each with an output matrix, as in published models."""
    layers, source = [], "input"
    for i in range(1, depth + 1):
        outputs = []
        for h in range(1, heads + 1):
            name = f"layer{i}.head{h}"
            layers.append(samples.attention(name, source, width, rank, rank))
            layers.append(samples.linear(f"{name}.output", name, rank, width))
            outputs.append(f"{name}.output")
        layers.append(samples.total(f"layer{i}.sum", source, *outputs))
        source = f"layer{i}.sum"
    return {"tokens": 2, "width": width, "layers": layers}


def transformers():
    sizes = [
        (768, 64, 12, 12),
        (1600, 64, 25, 48),
        (4096, 128, 32, 32),
        (8, 2, 4, 7),
        (1_000_000, 10_000, 2, 40),
    ]
    networks = [transformer(*size) for size in sizes]
    return [samples.dimension(network, samples.layerwise(network)) for network in networks], None, None


def long_rows():
    """Rows of twelve numbers of ten digits."""
    network = {**samples.monomial((1, 3, 1), 2), "tokens": 12}
    wide = samples.monomial((12, 1, 1), 2)
    return [samples.dimension(x, None, samples.minor(x, 3)) for x in (network, wide)], None, None


HARD = {
    "grid of 250": grid,
    "mixture": mixture,
    "300 layers": lambda: (flag_proof([2] * 301, [1] * 300, seed="x" * 64), None, None),
    "300 different layers": wide_chain,
    "hundreds of runs": many_runs,
    "residual, 100 layers": lambda: (layerwise_proof(with_long_ids(samples.residual(3, 2, 50))), None, None),
    "many heads": many_heads,
    "many heads in a table": heads_table,
    "long rows": long_rows,
    "transformers": transformers,
    "table of degrees": degrees_table,
    "table of large networks": bulky_table,
    "degrees of 300 layers": lambda: ([samples.degrees(samples.chain([2] * 301, [1] * 300))], None, None),
}


def compiled(tmp_path, text):
    path = tmp_path / "proof.tex"
    path.write_text(text, encoding="ascii")
    pdf, log = compile_with_log(path)
    assert pdf.read_bytes().startswith(b"%PDF")
    assert max(overfull_boxes(log), default=0.0) <= 20.0
    assert "Overfull \\vbox" not in log
    assert "TS1/cmr" not in log.replace("Checking defaults for TS1/cmr", ""), (
        "a font that is not always there"
    )
    # undefined or multiply defined references, changed table widths, bad bookmarks
    assert not [line for line in log.splitlines() if re.search(r"(?<!Font )Warning", line)]
    return log


# --- with LaTeX --------------------------------------------------------------------------------------------

QUICK = {"flag", "identities"}


@needs_tex
@pytest.mark.parametrize(
    "name", [pytest.param(k, marks=() if k in QUICK else pytest.mark.slow) for k in KINDS]
)
def test_every_kind_compiles(name, tmp_path):
    compiled(tmp_path, render_proof(KINDS[name]()))


@needs_tex
@pytest.mark.slow
@pytest.mark.parametrize("name", list(HARD))
def test_hard_documents_compile(name, tmp_path):
    certificates, title, claim = HARD[name]()
    compiled(tmp_path, render_proof(certificates, title=title, claim=claim))


@needs_tex
def test_any_text_compiles(tmp_path):
    rng = random.Random(0)
    tables = [*escaping._ASCII, *escaping._LETTERS, *escaping._MATH]
    accented = [chr(c) for c in range(0xA0, 0x250)]
    words = ["".join(rng.choices(tables, k=rng.randint(1, 40))) for _ in range(150)]
    words += ["".join(chr(rng.randrange(0x110000)) for _ in range(20)) for _ in range(50)]
    words += tables + ["".join(accented[i : i + 12]) for i in range(0, len(accented), 12)]
    words += [EVIL, "?`", "!`", "``", "''", "---", "\x00\x07\x1b", "\ud800", "^^M", "//", "[", "*", ""]
    text = "\n\n".join(words)
    claim = ClaimText(EVIL, EVIL, EVIL, hypotheses=tuple(words), prose=text, expected=EVIL)
    compiled(tmp_path, render_proof(KINDS["identities"](), title=" ".join(words[:20]), claim=claim))


@needs_tex
def test_only_the_pdf_is_added(tmp_path):
    compiled(tmp_path, render_proof(KINDS["one layer"]()))
    assert sorted(x.name for x in tmp_path.iterdir()) == ["proof.pdf", "proof.tex"]


@needs_tex
def test_latex_failure_names_the_first_complaint(tmp_path):
    path = tmp_path / "bad.tex"
    path.write_text("\\documentclass{article}\n\\begin{document}\n\\nosuchmacro\n\\end{document}\n")
    with pytest.raises(LatexError, match=r"Undefined control sequence.*l\.3"):
        compile_pdf(path, timeout=60)
    assert [x.name for x in tmp_path.iterdir()] == ["bad.tex"]


@needs_tex
def test_a_time_limit_ends_the_process_group(tmp_path):
    path = tmp_path / "loop.tex"
    path.write_text("\\documentclass{article}\\begin{document}\\def\\x{\\x}\\x\\end{document}")
    start = time.monotonic()
    with pytest.raises(LatexError, match="did not finish"):
        compile_pdf(path, timeout=2)
    assert time.monotonic() - start < 20
    assert not (tmp_path / "loop.pdf").exists()


@needs_tex
def test_no_shell_escape(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / "shell.tex"
    text = "\\documentclass{article}\\begin{document}x\\immediate\\write18{touch %s/pwned}\\end{document}"
    path.write_text(text.replace("%s", str(tmp_path)))
    assert compile_pdf(path, timeout=60) == tmp_path / "shell.pdf"
    assert not (tmp_path / "pwned").exists()


def test_missing_tex_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    path = tmp_path / "proof.tex"
    path.write_text("x")
    with pytest.raises(MissingExtraError, match=r"apt install texlive-latex-extra.*MacTeX.*MiKTeX"):
        compile_pdf(path)


def test_a_missing_source_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        compile_pdf(tmp_path / "nowhere.tex")


def test_overfull_boxes():
    log = (
        "Overfull \\hbox (3.5pt too wide) in paragraph at lines 1--2\n"
        "Overfull \\vbox (9.0pt too high) has occurred\nOverfull \\hbox (101.0pt too wide) in alignment\n"
    )
    assert overfull_boxes(log) == [3.5, 101.0]


# --- escaping ----------------------------------------------------------------------------------------------

_COMMAND = re.compile(r"""\\(?:[A-Za-z]+|[{}%&#_`'^~="., ])""")
_ALLOWED = {
    *(r"\textbackslash", r"\textasciicircum", r"\textasciitilde", r"\textless", r"\textgreater", r"\textbar"),
    *(r"\textquotedblright", r"\textquotedblleft", r"\textquoteleft", r"\textquoteright", r"\textendash"),
    *(r"\textemdash", r"\textexclamdown", r"\textquestiondown", r"\dots", r"\texttt", r"\allowbreak"),
    *(
        r"\ss",
        r"\ae",
        r"\AE",
        r"\oe",
        r"\OE",
        r"\o",
        r"\O",
        r"\l",
        r"\L",
        r"\i",
        r"\ensuremath",
        r"\mathdollar",
    ),
    *(r"\u", r"\r", r"\H", r"\v", r"\c", r"\d", r"\b", r"\mathsection", r"\mathparagraph", r"\mathbb"),
    *("\\" + x for x in "{}%&#_`'^~=\"., "),
    *(x for value in escaping._MATH.values() for x in re.findall(r"\\[a-zA-Z]+", value)),
}


def assert_harmless(tex):
    """Only our own commands, balanced braces, no character with a meaning of its own outside mathematics."""
    assert tex.isascii()
    assert set(_COMMAND.findall(tex)) <= _ALLOWED
    bare = re.sub(r"\\ensuremath\{(?:[^{}]|\{[^{}]*\})*\}", "", tex)
    bare = _COMMAND.sub("", bare)
    assert not re.search(r"[\\$%&#_^~\x00-\x1f\x7f]", bare), bare
    depth = 0
    for char in re.sub(r"\\[{}]", "", tex):
        depth += (char == "{") - (char == "}")
        assert depth >= 0
    assert depth == 0


@given(st.text())
def test_escaped_text_is_harmless(text):
    assert_harmless(escape_text(text))
    assert_harmless(typewriter(text))
    assert re.fullmatch(r"[A-Za-z0-9 .:()-]*", plain_ascii(text))


@given(
    st.text("\\{}$&#%_^~ab<>|-`'\"[]*?!@/,;:.", max_size=17),
    st.text("\\{}$&#%_^~ab<>|-`'\"[]*?!@/", max_size=17),
)
def test_different_texts_stay_different(one, other):
    assert (escape_text(one) == escape_text(other)) == (one == other)


def test_templates_escape_by_themselves():
    env = environment()
    template = env.from_string(r"\VAR{x} \BLOCK{if x}\VAR{x|upper}\BLOCK{endif}")
    assert template.render(x=r"\evil%") == r"\textbackslash{}evil\% \textbackslash{}EVIL\%"
    assert env.from_string(r"\VAR{x}").render(x=Tex(r"\alpha")) == r"\alpha"
    assert env.from_string(r"\VAR{x ~ x}").render(x=Tex(r"\a")) == r"\textbackslash{}a\textbackslash{}a"
    assert env.from_string(r"\VAR{x}").render(x=-12) == "-12"
    for bad in (None, True, 1.5, ["x"]):
        with pytest.raises(TypeError):
            env.from_string(r"\VAR{x}").render(x=bad)
    with pytest.raises(Exception, match=r"[Uu]ndefined"):
        env.from_string(r"\VAR{forgotten}").render()


def test_words_of_claim_title_and_names_are_escaped():
    claim = ClaimText(
        "a_b#c", "50% {", r"\input{x}", source="$$", prose="~^", hypotheses=("&", "^^M"), expected="_"
    )
    text = render_proof(KINDS["identities"](), title=r"\write18{rm}", claim=claim)
    for raw in (r"\input", r"\write", "$$", "^^M", "50% {"):
        assert raw not in text
    for shown in (r"50\% \{", r"\textbackslash{}input\{x\}", r"GL(a) on keys \& queries: 100\% of \{K, Q\}"):
        assert shown in text


def test_numbers():
    assert number(3**300) == "3^{300}"
    assert number(2**31 - 1) == "2147483647"
    assert number("-1/2") == "-1/2"
    big = str(10**40 + 1)
    assert number(big).replace(r"\allowbreak ", "") == big
    for bad in ("1e5", "0x1", "1.5", "+1", "01", "1/0", " 1", "", "٣", True, None, 1.5, "$", "1\n"):
        with pytest.raises(InputError):
            number(bad)


def test_lists_and_sums():
    assert sequence([4, 3, 3, 3]) == r"4,\allowbreak 3,\allowbreak 3,\allowbreak 3"
    assert sequence([4] * 4) == "4^{[4]}"
    assert summation([5] * 4 + [1]) == r"4\cdot 5+1"
    assert index_runs([[0, 0], [2, 5]]) == "$0$, $2$--$5$"
    assert visible_length(r"\binom{4}{2}+\allowbreak 10") == 6


def test_wide_matrices_are_summarised():
    small = matrix("A", list(range(24)), 2, 12)
    assert "pmatrix" in small
    large = matrix("A", list(range(26)), 2, 13)
    assert "pmatrix" not in large and r"2\times 13" in large
    assert "pmatrix" not in matrix("A", [2**31 - 1] * 24, 2, 12)


# --- content -----------------------------------------------------------------------------------------------


def flat(text):
    return re.sub(r"\s+", " ", text.replace(r"\allowbreak{}", "").replace(r"\allowbreak", ""))


ARITHMETIC = [
    ("flag", r"(12+8+4)+(3+2)+4\cdot 2-3=34"),
    ("flag, rank one", r"(3+3)+0+2\cdot 2-2=8"),
    ("flag, one token, explicit", r"(5+3)+2+2\cdot 2-2=12"),
    ("one layer", r"3+3\cdot 2-1=8"),
    ("layerwise", "6+6=12"),
    ("layerwise, joined", "6+4=10"),
    ("coefficients", r"3\cdot\binom{3}{2}=9"),
    ("coefficients, attention", r"2\cdot 2+2\cdot 2\cdot\binom{3}{2}=16"),
    (
        "coefficients, sums",
        r"2\cdot\binom{4}{3}+2\cdot\binom{6}{5}+2\cdot\binom{8}{7}+2\cdot\binom{10}{9}=56",
    ),
    ("torus", "20-4=16"),
    ("parameters", "upper bound $n=20$"),
]


@pytest.mark.parametrize("name, printed", ARITHMETIC)
def test_the_final_sum_is_visible(name, printed):
    assert printed in flat(render_proof(KINDS[name]()))


def test_the_theorem_is_the_claim():
    text = flat(render_proof(KINDS["flag"]()))
    assert r"$(d_0,\dots,d_l)=(4, 3, 2, 4)$" in text
    assert r"ranks $(a_1,\dots,a_l)=(2, 2, 2)$" in text
    assert (
        r"it has $n=62$ parameters $\theta$. The Zariski closure of its neuromanifold has dimension~$34$."
        in text
    )
    assert r"n-\dim Y=62-34=28" in text


def test_weaker_claims_are_worded_as_such():
    between = flat(render_proof(KINDS["coefficients"]()))
    assert r"\begin{proposition}\label{res:1}" in between and r"\begin{theorem}" not in between
    assert r"8\le \dim Y\le 9" in between and "is not decided here" in between
    assert "do not meet" in between and "generic non-empty fibre" not in between
    least = flat(render_proof(KINDS["at least"]()))
    assert "has dimension at least~$5$. (No upper bound is claimed.)" in least
    assert r"\section{Upper" not in least
    most = flat(render_proof(KINDS["at most"]()))
    assert "has dimension at most~$20$. (No lower bound is claimed.)" in most
    assert r"\section{Lower" not in most and "Secure Hash" not in most


def test_point_and_samples_are_those_of_the_seed():
    text = flat(render_proof(KINDS["one layer"]()))
    p = samples.PRIME
    values = stream_values("0", "parameters", 10, p)
    q, v = values[0:2], values[4:10]
    assert rf"Q_{{1}}=\begin{{pmatrix}} {q[0]} & {q[1]} \end{{pmatrix}}" in text
    assert (
        rf"V_{{1}}=\begin{{pmatrix}} {v[0]} & {v[1]} \\ {v[2]} & {v[3]} \\ {v[4]} & {v[5]} \end{{pmatrix}}"
        in text
    )
    for j in range(8):
        x = stream_values("0", f"input/{j}", 4, p)
        h = stream_values("0", f"functional/{j}", 6, p)
        assert rf"X^{{({j})}}=\begin{{pmatrix}} {x[0]} & {x[1]} \\ {x[2]} & {x[3]} \end{{pmatrix}}" in text
        body = rf"{h[0]} & {h[1]} \\ {h[2]} & {h[3]} \\ {h[4]} & {h[5]}"
        assert rf"H^{{({j})}}=\begin{{pmatrix}} {body} \end{{pmatrix}}" in text
    assert "X^{(8)}" not in text
    assert "$123456789$ modulo $p$" in text and f"$p={p}$" in text


def test_large_points_are_given_by_the_seed():
    text = flat(render_proof(KINDS["flag"]()))
    assert r"\theta^0$:" not in text and "X^{(0)}" not in text
    assert r"seed \texttt{0} by the seed rule" in text
    assert r"\texttt{lightningalg-certificate/1|}$s$\texttt{|}$\ell$\texttt{|}$b$" in text


def test_rows_and_columns_are_printed_as_runs():
    network = samples.chain((2, 3), (1,))
    rows, columns = [[0, 3], [7, 7], [900, 902]], [[0, 0], [2, 8]]
    text = flat(render_proof(flag_proof((2, 3), (1,), rows=rows, columns=columns)))
    assert "$0$--$3$, $7$, $900$--$902$" in text and "$0$, $2$--$8$" in text
    assert "X^{(900)}" in text and "X^{(4)}" not in text
    assert samples.count(network) == 10


def test_symmetric_parts_appear_only_where_they_are_used():
    plain = render_proof(KINDS["flag"]())
    assert "lem:symmetric" not in plain and "s(e,a)" not in plain
    special = flat(render_proof(KINDS["flag, rank one"]()))
    assert "Layer $j=1$ is the first" in special and r"u^{\top}M_iu" in special and "$s(2,2)=3$" in special


def test_possible_degrees_are_sums():
    text = flat(render_proof(KINDS["coefficients, sums"]()))
    assert r"\{3, 5, 7, 9\}" in text
    wrong = samples.dimension(two_degrees(), samples.coefficients(two_degrees(), [3, 9]))
    with pytest.raises(InputError, match="possible degrees"):
        render_proof([wrong])


def test_degrees():
    text = flat(render_proof(KINDS["degrees"]()))
    assert "homogeneous of degree $27$ in the entries of $X$" in text
    assert r"$Q_{1}$, $K_{1}$, $V_{1}$ & \texttt{layer1} & $9$\\" in text
    assert "$Q_{1}$: $9$, $K_{1}$: $9$" in text
    huge = flat(render_proof(HARD["degrees of 300 layers"]()[0]))
    assert "homogeneous of degree $3^{300}$" in huge and r"& \texttt{layer1} & $3^{299}$" in huge


def test_identities():
    text = flat(render_proof(KINDS["identities"]()))
    assert r"VZ (KZ)^{\top} QZ=VUXX^{\top} MX".replace(" ", "") in text.replace(" ", "")
    assert r"V U X X^{\top} U^{\top} K^{\top} Q U X" in text
    assert r"-\tfrac{3}{2}\,\lambda^{3}\,\mu^{-1}\,\mathit{Kmatrix}_{1}^{\top}" in text


def test_expressions_keep_their_structure():
    a, b = ["symbol", "A"], ["symbol", "B2"]
    assert flat(expression(["product", ["sum", a, b], a])) == "(A+B_{2}) A"
    assert flat(expression(["transpose", ["transpose", a]])) == r"(A^{\top})^{\top}"
    assert flat(expression(["transpose", ["inverse", "A"]])) == r"A^{-\top}"
    assert flat(expression(["scale", -1, [], ["sum", a, b]])) == "-(A+B_{2})"
    assert flat(expression(["sum", a, ["scale", -2, [], b]])) == r"A-2\,B_{2}"
    assert flat(expression(["transpose", ["scale", 2, [["mu", 1]], a]])) == r"(2\,\mu\,A)^{\top}"
    assert symbol("x10") == "x_{10}"
    for bad in ("", "1a", r"\evil", "a_b", "a" * 33, "a$", "é"):
        with pytest.raises(InputError):
            symbol(bad)


def references(text):
    keys = [k for group in re.findall(r"\\[cC]?(?:ref|eqref)\{([^}]*)\}", text) for k in group.split(",")]
    return set(keys), set(re.findall(r"\\label\{([^}]*)\}", text))


@pytest.mark.parametrize("name", [*KINDS, *HARD])
def test_structure(name):
    certificates, title, claim = HARD[name]() if name in HARD else (KINDS[name](), None, None)
    text = render_proof(certificates, title=title, claim=claim)
    assert text.isascii()
    assert text == render_proof(copy.deepcopy(certificates), title=title, claim=claim), "not deterministic"
    used, defined = references(text)
    assert used <= defined
    cited = {k for k in re.findall(r"\\cite(?:\[[^]]*\])?\{([^}]*)\}", text)}
    assert cited == set(re.findall(r"\\bibitem\{([^}]*)\}", text))
    flattened = text.replace(r"\allowbreak{}", "")
    for certificate in certificates:
        assert certificate["sha256"] in flattened
    for environment_name in set(re.findall(r"\\begin\{([a-z*]+)\}", text)):
        assert text.count(rf"\begin{{{environment_name}}}") == text.count(rf"\end{{{environment_name}}}")
    assert "lightningalg verify FILE" in text and "python verifier.py FILE" in text
    assert not re.search(r"(\\VAR|\\BLOCK|\\REMARK)\{", text)


def test_a_claim_with_many_instances_is_one_table():
    certificates, title, claim = grid()
    text = flat(render_proof(certificates, title=title, claim=claim))
    assert text.count(r"\begin{theorem}") == 1 and "For each of the $250$ networks" in text
    assert text.count(r"\label{prop:flag}") == 1
    assert "25 open" not in text and re.search(r"\$\d+\$ certified, \$\d+\$ open, \$\d+\$ refuted\.", text)
    assert r"\item No.~$151$: for $(4, 1)$; $(1)$; \mbox{$t=1$} one has $\dim Y=10$." in text
    assert r"40\le \dim Y\le 41" in text or r"\le \dim Y\le" in text
    assert f"{certificates[7]['sha256'][:8]}" in text
    assert "What is proved is stated in the numbered results below" in text


def expanded(text, k, h):
    """A row's formula with its indices worked out."""
    text = text.replace(r"\allowbreak ", "").replace(r"\,", "")

    def index(match):
        terms = re.findall(r"(\d*)([kh]?)", match.group(1).replace("+", " "))
        return f"{{{sum(int(n or 1) * {'k': k, 'h': h, '': 1}[v] for n, v in terms if n or v)}}}"

    return re.sub(r"(?<=_)\{([0-9kh+]+)\}", index, text)


@pytest.mark.parametrize(
    "network, most",
    [
        (transformer(8, 2, 9, 12), 3),
        (transformer(8, 2, 2, 40), 5),
        (samples.residual(3, 2, 60), 2),
        (samples.chain([2] * 101, [1] * 100), 1),
        (samples.chain([1 + i * i % 7 for i in range(81)], [1 + i % 3 for i in range(80)]), 80),
        (samples.monomial([3] * 50, 2), 99),
        (HARD["many heads"]()[0][0]["network"], 2),
        (two_degrees(), 3),
    ],
)
def test_rows_of_a_long_network_determine_it(network, most):
    network = read_network(network)
    rows = layer_rows(network)
    assert len(rows) <= most
    found = {}
    for row in rows:
        ranges = dict(re.findall(r"0\\le ([kh])<(\d+)", row.indices))
        for k in range(int(ranges.get("k", 1))):
            for h in range(int(ranges.get("h", 1))):
                value = expanded(row.value, k, h)
                number_ = int(re.match(r"X_\{(\d+)\}", value).group(1))
                assert number_ not in found
                found[number_] = (value, row.sizes)
    wanted = {layer.number: (expanded(layer.equation, 0, 0), layer.sizes) for layer in network.layers}
    assert found == wanted


def test_title():
    assert "Dimension of the neuromanifold of a lightning self-attention network" in render_proof(
        KINDS["flag"]()
    )
    assert r"\title{Mine}" in render_proof(KINDS["flag"](), title="Mine")


# --- bad certificates --------------------------------------------------------------------------------------


def spots(value, path=()):
    """All places in a JSON value."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from spots(item, (*path, key))


JUNK = [None, True, 1.5, -1, 0, 10**30, "x", "\\evil", [], {}, [[]], [1, 2], {"x": 1}]


@pytest.mark.parametrize("name", list(KINDS))
def test_malformed_certificates_are_refused_in_one_line(name):
    rng = random.Random(name)
    certificate = KINDS[name]()[0]
    places = [path for path in spots(certificate) if path]
    for path in rng.sample(places, min(len(places), 60)):
        for junk in [*rng.sample(JUNK, 3), "remove"]:
            changed = copy.deepcopy(certificate)
            *way, last = path
            inner = changed
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


def test_numbers_that_do_not_add_up_are_refused():
    certificate = KINDS["flag"]()[0]
    for change in (
        lambda c: c["claim"].update(value=35),
        lambda c: c["witness"]["upper_bound"].update(value=35),
        lambda c: c["witness"]["upper_bound"]["steps"].update(flags=6),
        lambda c: c["witness"]["upper_bound"]["steps"]["g"].__setitem__(1, 4),
        lambda c: c["witness"]["lower_bound"].update(rows=[[0, 32]]),
        lambda c: c["witness"]["lower_bound"].update(determinant=0),
        lambda c: c["claim"].update(relation="at most"),
        lambda c: c["network"]["layers"][1].update(rank=1),
    ):
        bad = copy.deepcopy(certificate)
        change(bad)
        with pytest.raises(InputError):
            render_proof([bad])


def test_unknown_kinds_methods_and_sizes():
    with pytest.raises(InputError, match="at least one"):
        render_proof([])
    with pytest.raises(InputError, match="kind 'no-such-kind'"):
        render_proof([{**KINDS["flag"]()[0], "kind": "no-such-kind"}])
    bad = KINDS["flag"]()[0]
    bad["witness"]["upper_bound"]["method"] = "magic"
    with pytest.raises(UnsupportedError, match="magic"):
        render_proof([bad])
    bad = KINDS["flag"]()[0]
    bad["network"]["layers"] *= 2000
    with pytest.raises(TooLargeError, match="6000 layers"):
        render_proof([bad])


def test_output_does_not_depend_on_the_hash_seed():
    code = (
        "import json, sys; from lightningalg.render.latex import render_proof; "
        "sys.stdout.write(render_proof(json.load(sys.stdin)))"
    )
    certificates = [*KINDS["layerwise, joined"](), *KINDS["degrees"](), *KINDS["identities"]()]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            input=json.dumps(certificates),
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {render_proof(certificates)}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=2, max_size=5), st.integers(1, 4), st.data())
def test_printed_sum_of_any_chain_gives_its_dimension(widths, tokens, data):
    ranks = data.draw(st.lists(st.integers(1, 4), min_size=len(widths) - 1, max_size=len(widths) - 1))
    network = samples.chain(widths, ranks, tokens)
    bound = samples.flag(network)
    text = flat(render_proof([samples.dimension(network, bound)]))
    (printed,) = re.findall(r"So the upper bound is \\\[ (.*?)=(\d+)\. \\\]", text) or re.findall(
        r"upper bound of .cref.prop:flag. is \\\[ (.*?)=(\d+)\. \\\]", text
    )
    assert eval(printed[0].replace(r"\cdot", "*")) == int(printed[1]) == bound["value"]
