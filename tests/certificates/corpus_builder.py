"""Makes the files of ``corpus/``: ``python -m tests.certificates.corpus_builder``.

``valid``: small certificates of every kind, method and argument.  ``rejected``: forgeries; what
was altered and what the checker must answer is in ``index.json``.  The files stay in the repository as they
are: a checker that one day answers otherwise has changed its mind, and a test says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import lightningalg as la
from lightningalg.claims.few_inputs import few_inputs
from lightningalg.claims.identifiability import identifiability
from lightningalg.claims.normalized_fibre import normalized_fibre, normalized_fibre_at
from lightningalg.claims.orbits import complete_orbits
from lightningalg.claims.symmetries import symmetry_certificate

from . import examples as ex
from .corpus_forgeries import expectation, forgeries, texts

FOLDER = Path(__file__).with_name("corpus")

EXAMPLES = {
    "dimension-flag": "2,2 r=1 t=2",
    "dimension-explicit": "explicit",
    "dimension-layerwise": "heads",
    "dimension-joined": "joined",
    "dimension-coefficients": "coefficients, t=2",
    "dimension-at-least": "at least",
    "dimension-parameters": "bias",
    "dimension-bias-coefficients": "bias, coefficients",
    "dimension-torus": "bias, torus",
    "dimension-torus-convolution": "convolution, strided",
    "dimension-tied": "tied, residual",
    "dimension-every-type-tied": "tied, every type",
    "dimension-small-prime": "small prime",
    "degrees-chain": "degrees, chain",
    "degrees-tied": "degrees, tied",
    "degrees-activations": "degrees, activations",
    "identity-gl": "identity, GL",
    "identity-scaling": "identity, scaling",
    "identity-terms": "identity, terms",
}
COMPOSITIONS = {
    "composition-quadratic": "2,2,1 r=2",
    "composition-coefficients": "2,3,3 r=2",
    "composition-cut": "2,3,2,3 r=2",
    "composition-mixing": "mixing",
    "composition-tensor": "tensor",
    "composition-span": "span",
    "composition-residual": "residual",
    "composition-collapsed": "collapsed",
    "composition-flag": "narrow",
}
FIBRES = [
    "generic layer", "skew layer", "swap", "zero", "deep", "rank one first", "ranks one, one output",
    "conjugate forms", "exchange", "skew last", "skew between", "skew in three",
    "one token", "line",
]  # fmt: skip


def chains() -> Iterator[tuple[str, Any]]:
    """Kinds dimension, degrees and matrix-identity."""
    listed = ex.examples()
    for name, source in EXAMPLES.items():
        known = {**listed, "2,2 r=1 t=2": (_flag(), "")}
        yield name, known[source][0]
    for name, source in COMPOSITIONS.items():
        yield name, listed[f"composition, {source}"][0]
    defective = ex.monomial((3, 5, 1), 4)
    tree = ex.leaf(0, 2, "alexander-hirschowitz", 14)
    yield "composition-alexander-hirschowitz", ex.dimension(defective, None, ex.composition(tree))
    forms = ex.monomial((4, 5, 3), 2)
    leaf = {**ex.leaf(0, 2, "flattening", 29), "wedge": 1, "split": 1}
    yield "composition-flattening", ex.dimension(forms, None, ex.composition(leaf))
    from . import test_symmetry as symmetry

    for name in ("chain", "summands"):
        table, upper = symmetry.NETWORKS[name], json.loads(symmetry.bound(name))
        yield f"dimension-symmetry-{name}", ex.dimension(table, ex.lower_bound(table), upper)


def _flag() -> dict[str, Any]:
    net = ex.chain((2, 2), (1,))
    return ex.dimension(net, ex.lower_bound(net), ex.flag(net))


def softmax() -> Iterator[tuple[str, Any]]:
    """Normalised attention, and lower bounds by balls."""
    yield "normalized-flag", la.dimension(la.normalized((2, 2, 2), (1, 1))).certificate
    yield "normalized-stages", la.dimension(la.normalized((2, 1, 1), (1, 1), heads=2)).certificate
    yield "normalized-one-token", la.dimension(la.normalized((2, 1), (1,), tokens=1)).certificate
    tied = la.tie(la.normalized((2, 2, 2), (1, 1)), {"layer2": "layer1"})
    yield "normalized-tied", la.dimension(tied).certificate
    yield "ball-polynomial", la.dimension(la.lightning((2, 2), (1,)), lower_bound="ball").certificate
    yield "ball-softmax", la.dimension(la.normalized((2, 1), (1,)), lower_bound="ball").certificate
    biased = la.monomial_with_biases((1, 2, 1), 2)
    yield "ball-biases", la.dimension(biased, lower_bound="ball").certificate
    windows = la.convolutional(4, [2, 2], degree=2, strides=[1, 1], channels=[1, 1])
    yield "ball-convolutions", la.dimension(windows, lower_bound="ball").certificate
    tied_heads = la.tie(la.lightning((2, 2, 2), (1, 1)), {"layer2": "layer1"})
    yield "ball-tied", la.dimension(tied_heads, lower_bound="ball").certificate
    yield "identifiability", identifiability(la.normalized((2, 2, 2), (1, 2)), "0")
    yield "normalized-fibre-all", normalized_fibre(la.normalized((2, 1), (1,)))
    net = la.normalized((2, 2), (2,))
    yield "normalized-fibre-point", normalized_fibre_at(net, [1, 2, 0, 1, 3, 1, 1, 0, 0, 1, 2, 1])
    yield "normalized-fibre-zero", normalized_fibre_at(net, [1, 2, 0, 1, 3, 1, 1, 0, 0, 0, 0, 0])


def algebras() -> Iterator[tuple[str, Any]]:
    yield "symmetry-algebra-fill", symmetry_certificate(la.lightning((2, 2), (1,)))
    yield "symmetry-algebra-orthogonal", symmetry_certificate(la.lightning((2, 1, 2), (1, 2)))
    yield "symmetry-algebra-lie", symmetry_certificate(la.monomial((2, 3, 2)))
    yield "symmetry-algebra-part", symmetry_certificate(la.monomial((3, 3, 2, 1)))


def one_layer() -> Iterator[tuple[str, Any]]:
    """Kinds singular-locus, boundary, closedness, membership and invariants."""
    from tests.invariants import test_certificate as equations
    from tests.strata import test_certificates as strata

    for name, certificate in strata.made().items():
        yield f"layer-{name.replace(' ', '-')}", certificate
    for name in ("three quadrics", "one token", "vanishing only"):
        yield f"invariants-{name.replace(' ', '-')}", equations.certificate(name)
    widths, rank, tokens = (2, 1), 1, 2
    cubics = equations.invariants(la.lightning(widths, (rank,), tokens), 3, hilbert=1)
    yield "invariants-products", equations.invariants_certificate(cubics)
    report = equations.invariants(la.lightning(widths, (rank,), tokens), 2, hilbert=1)
    made = equations.invariants_certificate(report).to_json()
    made["claim"]["relation"] = "generate"
    for entry in (entry for degree in made["witness"]["degrees"] for entry in degree):
        del entry["functionals"]
    yield "invariants-generate", ex.seal(made)


def counted() -> Iterator[tuple[str, Any]]:
    """Kinds few-inputs and orbits."""
    yield "few-inputs-decided", few_inputs(la.lightning((4, 2, 4), (2, 1), tokens=5))
    yield "few-inputs-between", few_inputs(la.lightning((2, 2), (2,)))
    yield "few-inputs-one-token", few_inputs(la.lightning((2, 2, 1), (1, 1), tokens=1))
    yield "orbits", complete_orbits(la.lightning((2, 2), (2,)))
    yield "orbits-low-rank", complete_orbits(la.lightning((3, 1), (1,), tokens=3))


def fibres() -> Iterator[tuple[str, Any]]:
    from tests.fibres import points as pt
    from tests.fibres import test_certificates as known

    for name in FIBRES:
        found = la.fibre(pt.stratum(name)).certificate
        assert found is not None, name
        yield f"fibre-{name.replace(',', '').replace(' ', '-')}", found
    yield "fibre-weights", la.fibre(pt.generated((2, 2, 1), (1, 1), 2)).certificate
    yield "fibre-weights-one-token", la.fibre(pt.generated((2, 2), (1,), 1)).certificate
    yield "fibre-conjugate-pair", la.fibre(known.PAIR).certificate
    yield "recovery-determined", known.recovered([pt.GENERAL], pt.FULL_L)
    yield "recovery-reproduced", known.recovered([pt.outer([1, 2], [3, -1])], pt.FULL_L)
    yield "recovery-line", known.recovered([[[F(2)]], [[F(3)]]], [[F(1)]])


def ideals() -> Iterator[tuple[str, Any]]:
    from .test_groebner_basis import EXAMPLES as BASES

    for name, certificate in BASES.items():
        yield f"ideal-{name.replace(' ', '-')}", certificate


def valid() -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and certificate of every valid file."""
    for source in (chains, softmax, algebras, one_layer, counted, fibres, ideals):
        for name, made in source():
            value = made if isinstance(made, dict) else made.to_json()
            plain = json.loads(json.dumps(value))
            plain["provenance"] = {"tool": "corpus"}
            yield name, ex.seal(plain)


def written(certificate: dict[str, Any]) -> bytes:
    return json.dumps(certificate, sort_keys=True, separators=(",", ":")).encode("ascii") + b"\n"


def build() -> None:
    """Write all files, and the index of what is rejected and why."""
    known = dict(valid())
    for part in ("valid", "rejected"):
        (FOLDER / part).mkdir(parents=True, exist_ok=True)
        for old in (FOLDER / part).iterdir():
            old.unlink()
    for name, certificate in known.items():
        (FOLDER / "valid" / f"{name}.json").write_bytes(written(certificate))
    files = [(name, what, written(certificate)) for name, what, certificate in forgeries(known)]
    index = []
    for name, what, data in [*files, *texts(known)]:
        (FOLDER / "rejected" / f"{name}.json").write_bytes(data)
        found = expectation(data)
        if found["verdict"] == "valid" or "internal" in found["reason"]:
            print("NOT REJECTED", name, what, found)
        index.append({"file": f"{name}.json", "altered": what, **found})
    text = json.dumps(sorted(index, key=lambda entry: entry["file"]), indent=1) + "\n"
    (FOLDER / "index.json").write_text(text, encoding="ascii")


if __name__ == "__main__":
    build()
