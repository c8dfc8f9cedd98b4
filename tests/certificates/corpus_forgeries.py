# ruff: noqa: E501
"""Forgeries for ``corpus/rejected``: what is altered, in which valid certificate, and what must be answered."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from lightningalg import verifier

from . import examples as ex

Certificate = dict[str, Any]
Change = Callable[[Certificate], object]
Forgery = tuple[str, str, Certificate]  # name, what was altered, the certificate


def changed(valid: dict[str, Certificate], name: str, change: Change) -> Certificate:
    """A valid certificate with a change and the hash that belongs to it."""
    altered = json.loads(json.dumps(valid[name]))
    change(altered)
    return ex.seal(altered)


def setting(*path: Any) -> Change:
    """Put the last of the arguments at the place that the others name."""
    *keys, last, value = path

    def change(certificate: Certificate) -> None:
        target: Any = certificate
        for key in keys:
            target = target[key]
        target[last] = value

    return change


HUGE = 10**9
LAYER = ("network", "layers", 0)
LOWER, UPPER = ("witness", "lower_bound"), ("witness", "upper_bound")

#: name: (valid certificate, what was altered, change)
ALTERED: dict[str, tuple[str, str, Change]] = {
    "version-2": ("dimension-flag", "a later version", setting("version", 2)),
    "version-true": ("dimension-flag", "true for 1", setting("version", True)),
    "format-other": ("dimension-flag", "another format", setting("format", "lightningalg")),
    "kind-unknown": ("dimension-flag", "a kind that does not exist", setting("kind", "theorem")),
    "kind-other": ("dimension-flag", "the kind of other certificates", setting("kind", "degrees")),
    "strength-proved": ("dimension-flag", "a word for strength that does not exist", setting("strength", "proved")),
    "strength-ball": ("dimension-flag", "a minor modulo p called a ball", setting("strength", "ball")),
    "strength-exact": ("ball-softmax", "a ball called exact", setting("strength", "exact")),
    "provenance-code": ("dimension-flag", "provenance that is not text", setting("provenance", {"run": ["rm"]})),
    "width-huge": ("dimension-flag", "a width of 10^9", setting(*LAYER, "d_in", HUGE)),
    "input-huge": ("dimension-flag", "an input of width 10^9", setting("network", "width", HUGE)),
    "rank-huge": ("dimension-flag", "a rank of 10^9", setting(*LAYER, "rank", HUGE)),
    "tokens-huge": ("normalized-flag", "10^9 tokens", setting("network", "tokens", HUGE)),
    "tokens-million": ("normalized-flag", "10^6 tokens: 10^12 scores", setting("network", "tokens", 10**6)),
    "tokens-zero": ("dimension-flag", "no token", setting("network", "tokens", 0)),
    "width-negative": ("dimension-flag", "a negative width", setting("network", "width", -2)),
    "degree-huge": ("composition-cut", "an activation of degree 10^6", setting("network", "layers", 1, "degree", 10**6)),
    "no-layers": ("dimension-flag", "no layers", setting("network", "layers", [])),
    "layer-reads-itself": ("dimension-flag", "a layer that reads itself", setting(*LAYER, "inputs", ["layer-1"])),
    "layer-type": ("dimension-flag", "a layer type that does not exist", setting(*LAYER, "type", "attention")),
    "dimension-value": ("dimension-flag", "dimension one too large", setting("claim", "value", 7)),
    "dimension-relation": ("dimension-at-least", "at least becomes equals", setting("claim", "relation", "equals")),
    "dimension-determinant": ("dimension-flag", "another determinant", setting(*LOWER, "determinant", 1)),
    "dimension-determinant-0": ("dimension-flag", "determinant 0", setting(*LOWER, "determinant", 0)),
    "dimension-no-prime": ("dimension-flag", "a modulus that is no prime", setting(*LOWER, "prime", 2147483631)),
    "dimension-carmichael": ("dimension-flag", "a strong pseudoprime to bases 2 and 3", setting(*LOWER, "prime", 1373653)),
    "dimension-prime-2": ("dimension-flag", "the prime 2", setting(*LOWER, "prime", 2)),
    "dimension-prime-large": ("dimension-flag", "a prime above 2^31", setting(*LOWER, "prime", 2147483659)),
    "dimension-seed": ("dimension-flag", "another seed", setting(*LOWER, "sampling", "seed", "other")),
    "dimension-rule": ("dimension-flag", "a rule that does not exist", setting(*LOWER, "sampling", "rule", "random")),
    "dimension-rows-overlap": ("dimension-flag", "a row twice", setting(*LOWER, "rows", [[0, 3], [3, 4]])),
    "dimension-rows-huge": ("dimension-flag", "a run of 10^9 rows", setting(*LOWER, "rows", [[0, HUGE]])),
    "dimension-columns": ("dimension-flag", "a column beyond the parameters", setting(*LOWER, "columns", [[3, 8]])),
    "dimension-method": ("dimension-flag", "an upper bound that does not exist", setting(*UPPER, "method", "magic")),
    "dimension-method-other": ("dimension-tied", "tied layers are no chain", setting(*UPPER, "method", "flag")),
    "dimension-steps": ("dimension-flag", "another step of the upper bound", setting(*UPPER, "steps", "torus", 2)),
    "dimension-untied": ("dimension-tied", "a tied layer untied",
                         lambda c: [layer.pop("weights", None) for layer in c["network"]["layers"]]),
    "explicit-denominator": ("dimension-explicit", "a denominator that p divides",
                             setting(*LOWER, "sampling", "parameters", 0, "1/2147483629")),
    "explicit-short": ("dimension-explicit", "a value is missing",
                       lambda c: c["witness"]["lower_bound"]["sampling"]["parameters"].pop()),
    "ball-columns": ("ball-softmax", "one column more than rows", setting(*LOWER, "columns", [[0, 5]])),
    "ball-bits": ("ball-softmax", "no bits", setting(*LOWER, "bits", 0)),
    "exponents-count": ("normalized-flag", "one exponent fewer", setting(*LOWER, "exponents", "count", 7)),
    "exponents-base-row": ("normalized-flag", "the base sample as a row", setting(*LOWER, "exponents", "rows", [[0, 11]])),
    "exponents-points": ("normalized-flag", "10^9 points", setting(*LOWER, "exponents", "points", HUGE)),
    "exponents-left-out": ("normalized-flag", "independence of exponents left out",
                           lambda c: c["witness"]["lower_bound"].pop("exponents")),
    "degrees-input": ("degrees-chain", "another degree in X", setting("claim", "input", 27)),
    "degrees-bool": ("degrees-chain", "true for the degree 1",
                     setting("claim", "parameters", 3, "degree", True)),
    "identity-false": ("identity-gl", "an identity that does not hold",
                       setting("claim", "right", ["scale", 2, [], ["symbol", "A"]])),
    "identity-not-invertible": ("identity-gl", "G is not said to be invertible",
                                setting("identity", "symbols", 2, "invertible", False)),
    "identity-not-square": ("identity-gl", "an invertible matrix that is not square",
                            setting("identity", "symbols", 2, "rows", "d")),
    "identity-normal-form": ("identity-gl", "another normal form", setting("witness", "normal_form", 0, 0, 2)),
    "algebra-rank": ("symmetry-algebra-fill", "one dimension more", setting("claim", "rank", 3)),
    "algebra-fill": ("symmetry-algebra-lie", "said to fill the kernel", setting("claim", "relation", "fill the kernel")),
    "algebra-factor": ("symmetry-algebra-orthogonal", "a torus and gl_2 for so(2,2)",
                       lambda c: c["claim"]["factors"].__setitem__(
                           slice(2, 3), [{"algebra": "gl", "size": 2}, {"algebra": "torus", "size": 2}])),
    "algebra-field": ("symmetry-algebra-fill", "a field that changes the map",
                      setting("witness", "symmetries", "fields", 0, [[0, [0], 1]])),
    "symmetry-field-constant": ("dimension-symmetry-chain", "a translation that changes the map",
                                setting(*UPPER, "steps", "fields", 0, [[0, [], 1]])),
    "symmetry-rank": ("dimension-symmetry-chain", "a rank one too high",
                      lambda c: c["witness"]["upper_bound"]["steps"].update(rank=9)),
    "normalized-fibre-dimension": ("normalized-fibre-all", "another dimension", setting("claim", "dimension", 3)),
    "normalized-fibre-nodes": ("normalized-fibre-all", "a node twice", setting("witness", "nodes", [0, 0, 1])),
    "normalized-fibre-tokens": ("normalized-fibre-all", "dependent tokens", setting("witness", "tokens", [[1, 1], [1, 1]])),
    "normalized-fibre-orbit": ("normalized-fibre-zero", "an orbit where V = 0", setting("claim", "orbit", True)),
    "normalized-fibre-invisible": ("normalized-fibre-point", "a pair whose difference V does not see",
                                   setting("witness", "pairs", 0, [[1, 1], [1, 1]])),
    "identifiability-zero": ("identifiability", "weights 0", setting("witness", "parameters", [0] * 20)),
    "identifiability-token": ("identifiability", "one token", setting("network", "tokens", 1)),
    "fibre-identifiable": ("fibre-swap", "two orbits said to be one",
                           lambda c: c["claim"]["virtual"].update(verdict="identifiable", components=1, comparison="equal")),
    "fibre-multiplicity": ("fibre-deep", "another multiplicity", setting("claim", "virtual", "multiplicity", 2)),
    "fibre-degree": ("fibre-deep", "another degree", setting("claim", "virtual", "degree", 4)),
    "fibre-case": ("fibre-deep", "another case", setting("witness", "case", "open")),
    "fibre-rational": ("fibre-conjugate-pair", "a rational component", setting("claim", "virtual", "rational", 1)),
    "fibre-real": ("fibre-conjugate-pair", "real components of a definite form", setting("claim", "virtual", "real", 2)),
    "fibre-reducible": ("fibre-conjugate-forms", "a factor called irreducible that is not",
                        lambda c: c["point"]["M"].__setitem__(1, [[1, 0], [0, -1]])),
    "fibre-widths-huge": ("fibre-deep", "widths of 10^9", setting("point", "widths", [HUGE] * 3)),
    "fibre-rank-bound": ("fibre-deep", "weights cannot have these matrices", setting("point", "ranks", [1, 1])),
    "recovery-values": ("recovery-determined", "values of another function", setting("recovery", "values_sha256", "0" * 64)),
    "recovery-matrix": ("recovery-determined", "another matrix", setting("claim", "M", 0, 0, 0, 7)),
    "recovery-determined": ("recovery-reproduced", "said to be determined", setting("claim", "relation", "determined")),
    "recovery-huge": ("recovery-determined", "10^9 tokens", setting("recovery", "tokens", HUGE)),
    "recovery-million": ("recovery-determined", "10^6 tokens", setting("recovery", "tokens", 10**6)),
    "singular-all-smooth": ("layer-singular-limit", "a singular stratum said to be smooth",
                            lambda c: (c["claim"].update(smooth=c["claim"]["smooth"] + c["claim"]["singular"], singular=[]))),
    "singular-immersion": ("layer-singular-limit", "an immersion where rk V rk A = 1", lambda c: _smooth(c)),
    "singular-dimension": ("layer-singular-linear", "another dimension of Y", setting("claim", "dimension", 3)),
    "singular-one-token": ("layer-singular-limit", "one token", setting("network", "tokens", 1)),
    "singular-prime": ("layer-singular-limit", "a modulus that is no prime", setting("witness", "prime", 9)),
    "singular-wide": ("layer-singular-limit", "a layer of width 10^6",
                      lambda c: (c["network"].update(width=10**6), c["network"]["layers"][0].update(d_in=10**6))),
    "boundary-none": ("layer-boundary", "an empty boundary", setting("claim", "boundary", [])),
    "boundary-complement": ("layer-boundary", "another dimension of the complement", setting("claim", "complement_dimension", 4)),
    "boundary-proportional": ("layer-boundary", "proportional l and m", lambda c: _same_form(c)),
    "closed-scope": ("layer-closed", "closed for one token too", setting("claim", "scope", "all d, d', a and t >= 1")),
    "closed-base-point": ("layer-closed", "one layer said to have a base point",
                          setting("claim", {"quantity": "closedness", "relation": "base point"})),
    "base-point-zero": ("layer-base-point", "all weights 0",
                        lambda c: c["witness"].update(parameters=[0] * len(c["witness"]["parameters"]))),
    "degree-not-halved": ("layer-degree-two-sheets", "a product of one sheet, not two",
                          lambda c: c["claim"].update(sheets=1, value=90)),
    "degree-value": ("layer-degree", "another degree", setting("claim", "value", 19)),
    "degree-forms": ("layer-degree-three-sheets", "all quadratic forms, not those of rank 2", setting("claim", "forms_degree", 1)),
    "degree-one-token": ("layer-degree-one-token", "two tokens", setting("network", "tokens", 2)),
    "degree-one-preimage": ("layer-degree-two-sheets", "one preimage only", lambda c: c["witness"]["preimages"].pop()),
    "degree-same-preimage": ("layer-degree-two-sheets", "the same preimage twice",
                             lambda c: c["witness"].update(preimages=c["witness"]["preimages"][:1] * 2)),
    "degree-scaled-preimage": ("layer-degree-three-sheets", "a multiple of a preimage", lambda c: _scaled_preimage(c)),
    "degree-rank": ("layer-degree", "V of rank 1", setting("witness", "preimages", 0, 0, [[0, 0, 1]])),
    "few-inputs-lower": ("few-inputs-decided", "one more dimension with three inputs", setting("claim", "lower", 2, 18)),
    "few-inputs-upper": ("few-inputs-between", "bounds said to meet", setting("claim", "upper", 1, 6)),
    "few-inputs-each": ("few-inputs-decided", "fewer dimensions for each input",
                        setting("witness", "factorisations", 3, "each", 2)),
    "few-inputs-dimension": ("few-inputs-decided", "the dimension not claimed", setting("claim", "dimension", None)),
    "few-inputs-tokens": ("few-inputs-one-token", "two tokens", setting("network", "tokens", 2)),
    "few-inputs-seed": ("few-inputs-between", "another seed", setting("witness", "minor", "seed", "1")),
    "few-inputs-rows": ("few-inputs-decided", "columns moved by one", lambda c: c["witness"]["minor"].update(
        columns=[[a + 1, b + 1] for a, b in c["witness"]["minor"]["columns"]])),
    "few-inputs-many": ("few-inputs-one-token", "1001 inputs",
                        lambda c: c["claim"].update(lower=[1] * 1001, upper=[1] * 1001)),
    "few-inputs-softmax": ("few-inputs-one-token", "normalised attention", setting(*LAYER, "type", "normalized_attention")),
    "few-inputs-wide": ("few-inputs-between", "widths of 10^6", lambda c: (
        c["network"].update(width=10**6), c["network"]["layers"][0].update(d_in=10**6, d_out=10**6))),
    "orbits-missing": ("orbits", "an orbit left out", lambda c: [
        part.pop() for part in (c["claim"]["orbits"], c["claim"]["dimensions"], c["witness"]["orbits"])]),
    "orbits-count": ("orbits", "q times as many points", lambda c: c["witness"]["orbits"][4].update(
        power=c["witness"]["orbits"][4]["power"] + 1)),
    "orbits-dimension": ("orbits", "another dimension of an orbit", setting("claim", "dimensions", 3, 4)),
    "orbits-rank": ("orbits-low-rank", "attention of rank 2", setting(*LAYER, "rank", 2)),
    "orbits-one-token": ("orbits", "one token", setting("network", "tokens", 1)),
    "orbits-total": ("orbits", "another dimension of the pairs", setting("claim", "dimension", 9)),
    "orbits-wide": ("orbits", "widths of 10^6", lambda c: (
        c["network"].update(width=10**6), c["network"]["layers"][0].update(d_in=10**6, d_out=10**6))),
    "member-outside": ("layer-inside", "a member said not to be in the closure",
                       lambda c: (c["claim"].update(relation="not in the closure"),
                                  c.update(witness={"argument": "values", "prime": 2147483647}))),
    "member-conjugate": ("layer-inside", "a member said not to be one",
                         setting("claim", "relation", "in the closure, not in the neuromanifold")),
    "member-square-root": ("layer-inside-field", "a square root that is rational", setting("witness", "sqrt", 4)),
    "member-indefinite": ("layer-conjugate", "an indefinite form", setting("witness", "squares", 0, 0, -1)),
    "member-rank": ("layer-outside-rank", "a minor with two equal rows", lambda c: _equal_rows(c)),
    "ideal-two-names": ("ideal-hyperbola", "two variables of one name", setting("ideal", "variables", ["x", "x"])),
    "ideal-code": ("ideal-hyperbola", "code for a variable", setting("ideal", "variables", ["x", "__import__('os')"])),
    "ideal-unit": ("ideal-hyperbola", "the unit ideal, which contains all generators",
                   setting("claim", "basis", [[[1, [0, 0]]]])),
    "ideal-prime": ("ideal-cross", "a reducible curve said to be prime", setting("claim", "prime", True)),
    "ideal-component": ("ideal-cross", "one of two lines", lambda c: c["claim"]["components"].pop()),
    "ideal-embedded": ("ideal-cross", "a point of the lines as a component",
                       lambda c: c["claim"]["components"].append(
                           {"basis": [[[1, [0, 1]]], [[1, [1, 0]]]], "dimension": 0, "degree": 1, "multiplicity": None})),
    "ideal-real": ("ideal-hyperbola", "no real points", setting("claim", "real_points", "none")),
    "ideal-point": ("ideal-hyperbola", "a point that is none", setting("claim", "real_points", [2, 2])),
    "ideal-exponent": ("ideal-hyperbola", "an exponent of 10^9",
                       setting("ideal", "generators", 0, [[2, [HUGE, 1]], [-2, [0, 0]]])),
    "ideal-member": ("ideal-hyperbola", "a member that is none", setting("claim", "members", [[[1, [1, 0]]]])),
    "ideal-degree": ("ideal-double-line", "the degree of the reduced line", setting("claim", "degree", 1)),
    "equations-bent": ("invariants-vanishing-only", "a polynomial that does not vanish", lambda c: _bend(c)),
    "equations-count": ("invariants-three-quadrics", "another number of generators",
                        lambda c: c["claim"]["generators"].__setitem__(1, 2)),
    "equations-missing": ("invariants-three-quadrics", "an entry left out", lambda c: c["witness"]["degrees"][1].pop()),
    "equations-generate": ("invariants-vanishing-only", "said to generate", setting("claim", "relation", "generate")),
}  # fmt: skip


def _strata(certificate: Certificate, stratum: list[int]) -> Certificate:
    return next(entry for entry in certificate["witness"]["strata"] if entry["stratum"] == stratum)


def _smooth(certificate: Certificate) -> None:
    entry = _strata(certificate, [1, 1, 1])
    entry.clear()
    entry.update({"stratum": [1, 1, 1], "singular": False, "argument": "immersion"})
    certificate["claim"]["singular"].remove([1, 1, 1])
    certificate["claim"]["smooth"].insert(0, [1, 1, 1])
    certificate["claim"]["rank_product_at_most_one"] = False


def _same_form(certificate: Certificate) -> None:
    _strata(certificate, [1, 1, 1])["family"]["m"] = [[], [[0, 1]]]


def _equal_rows(certificate: Certificate) -> None:
    rows = certificate["witness"]["rows"]
    rows[1] = rows[0]


def _bend(certificate: Certificate) -> None:
    entry = next(e for degree in certificate["witness"]["degrees"] for e in degree if e["polynomials"])
    entry["polynomials"][0][0][0] += 1


def altered(valid: dict[str, Certificate]) -> Iterator[Forgery]:
    for name, (source, what, change) in ALTERED.items():
        yield name, f"{source}: {what}", changed(valid, source, change)


def found_earlier() -> Iterator[Forgery]:
    """False bounds that rules considered earlier would have given, and the adversaries of other tests."""
    from . import test_composition as composition
    from . import test_groebner_basis as bases
    from . import test_symmetry as symmetry

    for number, (network, tree, words) in enumerate(composition.WORDS):
        bound = {**ex.composition(tree), "value": max(1, tree["dimension"])}
        yield (
            f"derivation-{number:02}",
            f"a derivation that proves nothing: {words}",
            ex.dimension(network, None, bound),
        )
    for number, (name, change) in enumerate(bases.FORGED):
        yield f"basis-{number:02}", f"ideal {name!r} altered", bases.altered(name, change)
    for case, (name, alter, _) in symmetry.REJECTED.items():
        upper = json.loads(symmetry.bound(name))
        alter(upper["steps"])
        certificate = ex.dimension(symmetry.NETWORKS[name], None, upper)
        yield f"symmetry-{case.replace(' ', '-').replace(chr(39), '')}", f"{name}: {case}", certificate
    for case, (name, alter, _) in symmetry.ALGEBRAS.items():
        certificate = json.loads(symmetry.algebra(name))
        alter(certificate)
        words = case.replace(" ", "-").replace(",", "")
        yield f"fields-{words}", f"algebra {name}: {case}", ex.seal(certificate)


def costly() -> Iterator[Forgery]:
    """Small files whose contents would cost hours or all memory."""
    from . import test_verifier_resources as resources

    for name, certificate in resources.COSTLY.items():
        if len(json.dumps(certificate)) < 60_000:
            yield f"costly-{name.replace(' ', '-').replace(',', '')}", f"predicted cost: {name}", certificate


def forgeries(valid: dict[str, Certificate]) -> Iterator[Forgery]:
    """All of them; those that the checker must call neither valid nor an internal error."""
    yield from altered(valid)
    yield from found_earlier()
    yield from costly()


def texts(valid: dict[str, Certificate]) -> Iterator[tuple[str, str, bytes]]:
    """Files that are no JSON of the format: name, what is wrong, bytes."""
    whole = json.dumps(valid["dimension-flag"]).encode()
    head, tail = whole[:-1], whole[-1:]
    yield "text-empty", "no byte", b""
    yield "text-truncated", "the second half is missing", whole[: len(whole) // 2]
    yield "text-twice", "two objects", whole + whole
    yield "text-list", "a list", b"[" + whole + b"]"
    yield "text-bom", "a byte order mark", b"\xef\xbb\xbf" + whole
    yield "text-utf-16", "UTF-16", whole.decode().encode("utf-16")
    yield "text-latin-1", "a byte that is no UTF-8", head + b', "\xe9": 1' + tail
    yield "text-overlong", "an overlong UTF-8 sequence", head + b', "\xc0\xaf": 1' + tail
    yield "text-surrogate-utf-8", "a surrogate in UTF-8", head + b', "\xed\xa0\x80": 1' + tail
    yield "text-key-twice", "a key twice", head + b', "version": 1' + tail
    yield "text-key-twice-escaped", "a key twice, once escaped", head + b', "v\\u0065rsion": 1' + tail
    yield "text-nan", "NaN", head + b', "x": NaN' + tail
    yield "text-infinity", "-Infinity", head + b', "x": -Infinity' + tail
    yield "text-float", "1.0 for 1", whole.replace(b'"version": 1', b'"version": 1.0')
    yield "text-exponent", "1e0 for 1", whole.replace(b'"version": 1', b'"version": 1e0')
    yield "text-minus-zero", "-0 for 0", whole.replace(b"[[0,", b"[[-0,", 1)
    yield (
        "text-huge-integer",
        "an integer of 5000 digits",
        whole.replace(b'"version": 1', b'"version": ' + b"9" * 5000),
    )
    yield "text-deep", "100,000 open brackets", b"[" * 100_000
    yield (
        "text-deep-objects",
        "nested 250 levels deep",
        head + b', "x": ' + b'{"a":' * 250 + b"1" + b"}" * 251,
    )
    yield "text-zero-bytes", "zero bytes", b"\0" * 1000
    yield "text-gzip", "a compressed file", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xabV\x02\x00\x43"
    yield (
        "text-control-character",
        "a line break in a string",
        whole.replace(b'"lightningalg-cert', b'"lightningalg\n-cert'),
    )
    yield "text-comment", "a comment", b"/* valid */" + whole
    yield "text-trailing-comma", "a comma before the end", head + b"," + tail


def expectation(data: bytes) -> dict[str, Any]:
    """Verdict and failing check of today's checker."""
    verdict = verifier.decide(lambda: data, verifier.silent)
    return {"verdict": verdict.verdict, "check": verdict.check, "reason": verdict.reason}


def _scaled_preimage(certificate: Certificate) -> None:
    listed = certificate["witness"]["preimages"]
    listed[2] = [[[i, j, 2 * x] for i, j, x in listed[0][0]], listed[0][1]]
