"""Tables of proofs: their numbers, rows that are put together, and columns that would say nothing."""

from __future__ import annotations

import copy
import json
import re
import shutil

import pytest

import lightningalg as la
from lightningalg.claims.normalized_fibre import normalized_fibre
from lightningalg.render.latex import ClaimText, compile_with_log, render_proof
from lightningalg.render.latex.networks import read_network
from tests.certificates import examples as ex
from tests.render import latex_samples as samples
from tests.render.test_latex import HARD, KINDS, references

needs_tex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
SIZES = [(2, 1, 1, 2), (2, 2, 1, 2), (2, 1, 2, 3), (3, 1, 1, 2), (3, 2, 2, 2), (2, 3, 1, 2)]


def plain(certificate):
    return json.loads(json.dumps(certificate.to_json()))


def fibres(sizes=SIZES):
    """Certificates of normalised layers, with d, d', a, t as in ``sizes``."""
    return [plain(normalized_fibre(la.normalized((d, e), (a,), tokens=t))) for d, e, a, t in sizes]


def tables(text):
    """Return (has a caption, is taken out of the count) for each table."""
    found = re.findall(r"\\begin\{longtable\}(.*?)\\end\{longtable\}(\\uncounted\{\})?", text, re.S)
    return [(r"\caption" in body, bool(mark)) for body, mark in found]


def documents():
    found = {name: make() for name, make in KINDS.items()}
    for name in ("mixture", "transformers", "table of degrees", "300 layers"):
        found[name] = HARD[name]()[0]
    return found


@pytest.mark.parametrize("lang", ["en", "es"])
def test_tables_without_a_caption_take_no_number(lang):
    seen = set()
    for name, certificates in [*documents().items(), ("fibres", fibres())]:
        found = tables(render_proof(certificates, lang=lang))
        assert all(caption != uncounted for caption, uncounted in found), name
        seen.update(found)
    assert seen == {(True, False), (False, True)}


@needs_tex
@pytest.mark.slow
def test_tables_are_numbered_from_one_without_a_gap(tmp_path):
    text = render_proof(HARD["transformers"]()[0] + HARD["mixture"]()[0])
    captions = text.count(r"\caption{")
    assert captions >= 3 and r"\uncounted{}" in text
    path = tmp_path / "proof.tex"
    path.write_text(text.replace(r"\end{document}", r"\typeout{last table \thetable.}\end{document}"))
    _, log = compile_with_log(path)
    assert f"last table {captions}." in log


def heads(count, rank=1, other=None):
    ranks = [rank] * count if other is None else [*([rank] * (count - 1)), other]
    layers = [samples.attention(f"h{i}", "input", 3, 3, a) for i, a in enumerate(ranks)]
    return {"tokens": 2, "width": 3, "layers": [*layers, samples.total("s", *(x["id"] for x in layers))]}


def test_equal_heads_are_written_once():
    compact = read_network(heads(4)).compact
    assert r"$X_i=\att_{3\to 3;\,1}(X_{0})$ \mbox{$(1\le i\le 4)$}" in compact
    assert compact.count(r"\att") == 1 and "$X_{5}=" in compact


def test_heads_that_differ_are_not_put_together():
    compact = read_network(heads(4, other=2)).compact
    assert r"\mbox{$(1\le i\le 3)$}" in compact and r"$X_{4}=\att_{3\to 3;\,2}(X_{0})$" in compact


def test_layers_that_read_different_values_are_not_put_together():
    """The layers of a residual network are alike, and none reads what another one reads."""
    compact = read_network(samples.residual(2, 1, 3)).compact
    assert r"\le i" not in compact and compact.count(r"\att") == 3


def head_of(text, label):
    return re.search(rf"\\label\{{{label}\}}\\\\\s*\\toprule (.*?)\\\\", text)[1].split(" & ")


def rows_of(text, label):
    body = text.partition(rf"\label{{{label}}}")[2].partition(r"\end{longtable}")[0]
    return [row.count(" &") + 1 for row in body.partition(r"\endfoot")[2].split(r"\\") if "&" in row]


def claim_of(certificates, verdicts):
    pairs = zip(certificates, verdicts, strict=True)
    return ClaimText("c", "T", "S", verdicts={x["sha256"]: verdict for x, verdict in pairs})


def test_columns_that_say_the_same_in_each_row_are_left_out():
    networks = [samples.chain((2, k), (1,)) for k in range(1, 7)]
    whole = [samples.equals(x, samples.flag(x)) for x in networks]
    above = [samples.dimension(x, samples.flag(x)) for x in networks]
    full = ["no.", "network", "$n$", r"$\dim Y$", "upper bound", "$r$", "verdict", "certificate"]
    for certificates, verdicts, absent in (
        (whole, ["certified"] * 6, {"verdict"}),
        (whole, [*["certified"] * 5, "refuted"], set()),
        (above, ["certified"] * 6, {"verdict", "$r$"}),
        (above, [*["certified"] * 5, "open"], {"$r$"}),
    ):
        text = render_proof(certificates, claim=claim_of(certificates, verdicts))
        wanted = [name for name in full if name not in absent]
        assert head_of(text, "tab:instances") == wanted
        assert set(rows_of(text, "tab:instances")) == {len(wanted)}


def test_columns_of_seeds_and_primes_are_there_when_they_differ():
    network = samples.chain((2, 3), (1,))
    bound = samples.flag(network)
    same = [samples.equals(network, bound, determinant=k) for k in range(1, 7)]
    text = render_proof(same)
    assert not {"$p$", "seed"} & set(head_of(text, "tab:instances"))
    assert f"The prime is $p={samples.PRIME // 10**9}" in text.replace(r"\,", "")
    differ = [*same[:5], samples.equals(network, bound, prime=101, seed="other")]
    text = render_proof(differ)
    assert {"$p$", "seed"} < set(head_of(text, "tab:instances"))
    assert set(rows_of(text, "tab:instances")) == {len(head_of(text, "tab:instances"))}


def test_normalised_networks_have_a_column_of_exponents_only_with_exponents():
    with_exponents = [plain(la.dimension(la.normalized((2, k), (1,))).certificate) for k in range(1, 7)]
    one_token = [plain(la.dimension(la.normalized((2, k), (1,), tokens=1)).certificate) for k in range(1, 7)]
    for certificates, there in ((with_exponents, True), (one_token, False)):
        text = render_proof(certificates)
        head = head_of(text, "tab:ninstances")
        assert ("$N$; $T$" in head) == there and "verdict" not in head
        assert ("number of exponents" in text) == there
        assert set(rows_of(text, "tab:ninstances")) == {len(head)}
    verdicts = [*["certified"] * 5, "refuted"]
    text = render_proof(one_token, claim=claim_of(one_token, verdicts))
    assert "verdict" in head_of(text, "tab:ninstances")


def test_fibres_of_many_normalised_layers_are_one_corollary():
    certificates = fibres()
    text = render_proof(certificates)
    assert text.count(r"\begin{corollary}") == 1 and r"\label{cor:all-fibres}" in text
    assert "For each of the $6$ layers" in text
    # certificates with the same inputs share one line: d = 2 is nos. 1, 2, 3, 6; d = 3 is nos. 4, 5
    lines = re.findall(r"\\item nos\.\\ (.*?) \(\$d=(\d)\$\): \$s=", text)
    assert [d for _, d in lines] == ["2", "3"]
    assert [[int(n) for n in re.findall(r"\d+", numbers)] for numbers, _ in lines] == [[1, 3, 6], [4, 5]]
    body = text.partition(r"\label{tab:all-fibres}")[2].partition(r"\end{longtable}")[0]
    rows = re.findall(r"^((?:\$\d+\$ & ){7})", body, re.M)
    found = [tuple(int(n) for n in re.findall(r"\d+", row)) for row in rows]
    # MATH.md 9: min(a,d)(2d - min(a,d)) + d d'; 2 d^2 inputs
    wanted = [
        (k, d, e, a, t, 2 * min(a, d) * d - min(a, d) ** 2 + d * e, 2 * d * d)
        for k, (d, e, a, t) in enumerate(SIZES, start=1)
    ]
    assert found == wanted
    assert references(text)[0] <= references(text)[1]


def test_certificates_with_other_inputs_are_not_put_together():
    certificates = fibres()
    other = copy.deepcopy(certificates[1])
    witness = other["witness"]
    witness["nodes"] = [node + 1 for node in witness["nodes"]]
    certificates[1] = samples.seal({key: value for key, value in other.items() if key != "sha256"})
    text = render_proof(certificates)
    lines = re.findall(r"\\item nos\.\\ (.*?) \(\$d=(\d)\$\): \$s=", text)
    assert sorted(d for _, d in lines) == ["2", "2", "3"]


def test_fibres_of_few_normalised_layers_are_one_corollary_each():
    text = render_proof(fibres(SIZES[:3]))
    assert text.count(r"\begin{corollary}") == 3 and "cor:all-fibres" not in text


@pytest.mark.parametrize(("lang", "word"), [("en", "bias"), ("es", "sesgo")])
def test_the_torus_speaks_of_biases_only_where_there_are_some(lang, word):
    """A proof of networks without biases has no words about them, with or without convolutions."""
    without, having = ([ex.examples()[name][0]] for name in ("convolution", "bias, torus"))
    for certificates, there in (
        (KINDS["torus"](), False),
        (without, False),
        (having, True),
        ([*KINDS["torus"](), *having], True),
    ):
        text = render_proof(certificates, lang=lang).lower()
        assert r"\label{prop:torus}" in text
        assert (word in text) == there
