"""Printed proofs on one layer: statements match the certificates, cross-references resolve, "
"forgeries refused."""

from __future__ import annotations

import copy
import re

import pytest

import lightningalg as la
from lightningalg.errors import InputError
from lightningalg.render.latex import render_proof
from tests.strata.test_certificates import NAMES, certificate


@pytest.mark.parametrize("name", NAMES)
def test_every_certificate_prints_with_resolved_references(name):
    text = render_proof([certificate(name)])
    labels = set(re.findall(r"\\label\{([^}]*)\}", text))
    assert len(labels) == text.count("\\label{")
    used = {key for group in re.findall(r"\\[cC]ref\{([^}]*)\}", text) for key in group.split(",")}
    assert used <= labels
    cited = {
        key for group in re.findall(r"\\cite(?:\[[^\]]*\])?\{([^}]*)\}", text) for key in group.split(",")
    }
    assert cited == set(re.findall(r"\\bibitem\{([^}]*)\}", text))
    assert text.count("\\begin{proof}") == text.count("\\end{proof}") >= 1


def test_all_kinds_share_one_introduction():
    text = render_proof([certificate(name) for name in NAMES])
    assert text.count("\\section{One attention layer}") == 1
    labels = re.findall(r"\\label\{([^}]*)\}", text)
    assert len(labels) == len(set(labels))


LOCI = [
    ((2, 1), 1, "the point $0$"),
    ((3, 1), 1, r"$v\parallel k$"),
    ((1, 2), 1, "none"),
    ((2, 2), 2, r"those with $\rk A\cdot\rk V\le1$. These are exactly"),
    ((3, 2), 2, r"or $\rk A<2$. These are not"),
]


@pytest.mark.parametrize("widths, rank, words", LOCI)
def test_loci_in_words(widths, rank, words):
    assert words in render_proof([la.singular_points(la.lightning(widths, (rank,))).to_json()])


def change(name, *path, value):
    altered = copy.deepcopy(certificate(name))
    place = altered
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return altered


@pytest.mark.parametrize(
    "altered",
    [
        change("singular limit", "claim", "dimension", value=6),
        change("singular limit", "claim", "rank_product_at_most_one", value=False),
        change("singular limit", "claim", "singular", value=[]),
        change("singular limit", "witness", "strata", value=[]),
        change("singular limit", "network", "tokens", value=1),
        change("boundary", "claim", "complement_dimension", value=7),
        change("boundary", "claim", "boundary", value=[]),
        change("closed", "claim", "scope", value="all networks"),
        change("closed", "claim", "relation", value="closed and open"),
        change("inside", "claim", "relation", value="somewhere"),
        change("outside rank", "witness", "argument", value="\\input{x}"),
    ],
)
def test_what_does_not_follow_is_refused(altered):
    with pytest.raises(InputError):
        render_proof([altered])


@pytest.mark.slow
def test_pdflatex_accepts_all_kinds(tmp_path):
    import shutil
    import subprocess

    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    (tmp_path / "proof.tex").write_text(render_proof([certificate(name) for name in NAMES]))
    for _ in range(3):
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "proof.tex"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "undefined" not in done.stdout
    assert "Overfull \\hbox" not in done.stdout


@pytest.mark.parametrize("lang", ["en", "es"])
def test_immersions_are_stated_where_they_are_shown(lang):
    """With a >= d all matrices have rank at most a; with a < d, or no ranks of product 2, nothing is said."""
    shown, below, small = (
        la.singular_points(la.lightning(widths, (rank,))).to_json()
        for widths, rank in (((2, 2), 2), ((3, 2), 2), ((1, 2), 1))
    )
    text = render_proof([shown], lang=lang)
    assert r"\label{cor:immersion}" in text and "$D=d^2+dd'-1$" in text
    assert "cor:immersion" not in render_proof([below, small], lang=lang)
    text = render_proof([below, shown, small], lang=lang)
    statement = text.partition(r"\label{cor:immersion}")[2].partition(r"\end{corollary}")[0]
    assert r"\cref{tab:singular-locus}" in statement and r"$a\ge d$" in statement
    assert shown["claim"]["dimension"] == 2 * 2 + 2 * 2 - 1


def test_immersions_are_numbered_where_not_all_are_shown():
    """A smooth stratum decided by another argument says nothing of the differential."""
    shown, other = (la.singular_points(la.lightning(widths, (2,))).to_json() for widths in ((2, 2), (2, 1)))
    strata = other["witness"]["strata"]
    assert [x["argument"] for x in strata if x["stratum"][0] * x["stratum"][1] >= 2] == ["immersion"]
    changed = [{**x, "argument": "open orbit"} if x["argument"] == "immersion" else x for x in strata]
    other = {**other, "witness": {**other["witness"], "strata": changed}}
    text = render_proof([other, shown])
    statement = text.partition(r"\label{cor:immersion}")[2].partition(r"\end{corollary}")[0]
    assert re.search(r"For no\.\\ \$?2\$? and all", statement), statement
    assert "cor:immersion" not in render_proof([other])
