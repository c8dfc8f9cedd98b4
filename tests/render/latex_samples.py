"""Certificates with the form of FORMAT.md, for tests of the renderer.

The upper bounds are worked out here from FORMAT.md, apart from the package.
Determinants are made up: the renderer prints what it is given.
"""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import pairwise
from math import comb

PRIME = 2**31 - 1


def seal(rest):
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return {**rest, "sha256": sha256(text.encode("ascii")).hexdigest()}


def certificate(kind, subject, claim, witness):
    return seal(
        {
            "format": "lightningalg-certificate",
            "version": 1,
            "kind": kind,
            **subject,
            "claim": claim,
            "witness": witness,
            "strength": "exact",
            "provenance": {"lightningalg": "0"},
        }
    )


def attention(name, source, d_in, d_out, rank):
    return {
        "id": name,
        "inputs": [source],
        "type": "lightning_attention",
        "d_in": d_in,
        "d_out": d_out,
        "rank": rank,
    }


def linear(name, source, d_in, d_out):
    return {"id": name, "inputs": [source], "type": "linear", "d_in": d_in, "d_out": d_out}


def activation(name, source, degree):
    return {"id": name, "inputs": [source], "type": "monomial_activation", "degree": degree}


def total(name, *sources):
    return {"id": name, "inputs": list(sources), "type": "sum"}


def chain(widths, ranks, tokens=2):
    layers, source = [], "input"
    for i, (d_in, d_out, rank) in enumerate(zip(widths, widths[1:], ranks, strict=False), start=1):
        layers.append(attention(f"layer{i}", source, d_in, d_out, rank))
        source = f"layer{i}"
    return {"tokens": tokens, "width": widths[0], "layers": layers}


def monomial(widths, degree, tokens=1):
    layers, source = [], "input"
    for i, (d_in, d_out) in enumerate(pairwise(widths), start=1):
        layers.append(linear(f"linear{i}", source, d_in, d_out))
        source = f"linear{i}"
        if i < len(widths) - 1:
            layers.append(activation(f"activation{i}", source, degree))
            source = f"activation{i}"
    return {"tokens": tokens, "width": widths[0], "layers": layers}


def residual(width, rank, depth, tokens=2):
    layers, source = [], "input"
    for i in range(1, depth + 1):
        layers += [attention(f"att{i}", source, width, width, rank), total(f"res{i}", source, f"att{i}")]
        source = f"res{i}"
    return {"tokens": tokens, "width": width, "layers": layers}


def count(network):
    n = 0
    for layer in network["layers"]:
        if layer["type"] == "lightning_attention":
            n += layer["d_in"] * (2 * layer["rank"] + layer["d_out"])
        elif layer["type"] == "linear":
            n += layer["d_in"] * layer["d_out"]
    return n


def r(e, a):
    return 2 * min(a, e) * e - min(a, e) ** 2


def s(e, a):
    rho = min(2 * a, e)
    return rho * e - rho * (rho - 1) // 2


def flag(network):
    layers, t = network["layers"], network["tokens"]
    d = [network["width"]] + [x["d_out"] for x in layers]
    a = [None] + [x["rank"] for x in layers]
    l = len(layers)  # noqa: E741
    e = [min(d[: i + 1]) for i in range(l)]
    g = [0] * l + [d[l]]
    for i in range(l - 1, 0, -1):
        g[i] = min(e[i], 2 * min(a[i + 1], e[i]) + g[i + 1])
    g[0] = d[0]
    matrices = []
    for i in range(1, l + 1):
        symmetric = t == 1 or any(min(a[j], e[j - 1]) == 1 for j in range(1, i))
        matrices.append({"symmetric": symmetric, "dimension": (s if symmetric else r)(g[i - 1], a[i])})
    flags = sum(g[i] * (g[i - 1] - g[i]) for i in range(1, l))
    values = d[l] * g[l - 1]
    u = sum(m["dimension"] for m in matrices) + flags + values - l
    steps = {"e": e, "g": g[:l], "matrices": matrices, "flags": flags, "values": values, "torus": l}
    return {"value": u, "method": "flag", "steps": steps}


def layerwise(network):
    blocks = []
    by_id = {x["id"]: x for x in network["layers"]}
    readers = {x["id"]: [y for y in network["layers"] if x["id"] in y["inputs"]] for x in network["layers"]}
    q = s if network["tokens"] == 1 else r
    for x in network["layers"]:
        if x["type"] == "lightning_attention":
            after = readers[x["id"]]
            if len(after) == 1 and after[0]["type"] == "linear":
                out = after[0]["d_out"]
                m = min(x["d_in"], x["d_out"], out)
                k = q(x["d_in"], x["rank"]) + m * (x["d_in"] + out - m) - 1
                blocks.append({"layers": [x["id"], after[0]["id"]], "dimension": k})
            else:
                k = q(x["d_in"], x["rank"]) + x["d_in"] * x["d_out"] - 1
                blocks.append({"layers": [x["id"]], "dimension": k})
        elif x["type"] == "linear":
            source = by_id.get(x["inputs"][0])
            if source and source["type"] == "lightning_attention" and len(readers[source["id"]]) == 1:
                continue
            blocks.append({"layers": [x["id"]], "dimension": x["d_in"] * x["d_out"]})
    return {"value": sum(b["dimension"] for b in blocks), "method": "layerwise", "steps": {"blocks": blocks}}


def coefficients(network, degrees):
    d, d_out = network["width"], output_width(network)
    attends = any(x["type"] == "lightning_attention" for x in network["layers"])
    terms = []
    for m in degrees:
        if network["tokens"] > 1 and attends:
            k = d_out * d if m == 1 else d_out * d * comb(d + 1, 2)
        else:
            k = d_out * comb(d + m - 1, m)
        terms.append({"degree": m, "coefficients": k})
    return {
        "value": sum(x["coefficients"] for x in terms),
        "method": "coefficients",
        "steps": {"terms": terms},
    }


def torus(network, free):
    activations = [{"layer": name, "width": width} for name, width in free]
    u = count(network) - sum(width for _, width in free)
    return {"value": u, "method": "torus", "steps": {"activations": activations}}


def parameters(network):
    return {"value": count(network), "method": "parameters", "steps": {"parameters": count(network)}}


def output_width(network):
    widths = {"input": network["width"]}
    for x in network["layers"]:
        widths[x["id"]] = x.get("d_out", widths[x["inputs"][0]])
    return widths[network["layers"][-1]["id"]]


def minor(
    network, r, *, prime=PRIME, seed="0", rows=None, columns=None, explicit=False, determinant=123456789
):
    sampling = {"rule": "sha256-counter", "seed": seed}
    if explicit:
        size_x = network["width"] * network["tokens"]
        size_y = output_width(network) * network["tokens"]
        sampling = {
            "rule": "explicit",
            "parameters": [k % 7 - 3 if k % 5 else f"{k + 1}/{k + 2}" for k in range(count(network))],
            "samples": [
                {"input": [j + k for k in range(size_x)], "functional": [1] * size_y} for j in range(r)
            ],
        }
    return {
        "value": r,
        "prime": prime,
        "sampling": sampling,
        "rows": rows or [[0, r - 1]],
        "columns": columns or [[0, r - 1]],
        "determinant": determinant % prime,
    }


def dimension(network, upper=None, lower=None):
    if upper and lower:
        low, high = lower["value"], upper["value"]
        if low == high:
            claim = {"quantity": "dimension", "relation": "equals", "value": low}
        else:
            claim = {"quantity": "dimension", "relation": "between", "lower": low, "upper": high}
    elif lower:
        claim = {"quantity": "dimension", "relation": "at least", "value": lower["value"]}
    else:
        claim = {"quantity": "dimension", "relation": "at most", "value": upper["value"]}
    witness = {"lower_bound": lower, "upper_bound": upper}
    return certificate("dimension", {"network": network}, claim, witness)


def equals(network, upper, **options):
    return dimension(network, upper, minor(network, upper["value"], **options))


def degrees(network):
    matrices = []
    for x in network["layers"]:
        letters = {"lightning_attention": "QKV", "linear": "W"}.get(x["type"], "")
        matrices += [(x["id"], letter) for letter in letters]
    found = {"input": (1, [0] * len(matrices))}
    lines = []
    for x in network["layers"]:
        m, ks = found[x["inputs"][0]]
        times = {"lightning_attention": 3, "monomial_activation": x.get("degree", 1)}.get(x["type"], 1)
        ks = [times * k + (owner == x["id"]) for k, (owner, _) in zip(ks, matrices, strict=True)]
        found[x["id"]] = (times * m, ks)
        lines.append({"layer": x["id"], "input": spell(times * m), "parameters": [spell(k) for k in ks]})
    claim = {
        "quantity": "degrees",
        "input": lines[-1]["input"],
        "parameters": [
            {"layer": owner, "parameter": letter, "degree": k}
            for (owner, letter), k in zip(matrices, lines[-1]["parameters"], strict=True)
        ],
    }
    return certificate("degrees", {"network": network}, claim, {"layers": lines})


def spell(value):
    return value if abs(value) <= 2**53 else str(value)


def sym(name):
    return ["symbol", name]


def identity():
    """One layer of the virtual weights: V U P (U P)' K' Q U P = (V U) P P' (U' K' Q U) P."""
    matrices = {"X": ("d", "t"), "Q": ("a", "e"), "K": ("a", "e"), "V": ("f", "e"), "U": ("e", "d")}
    symbols = [{"name": k, "rows": v[0], "columns": v[1], "invertible": False} for k, v in matrices.items()]
    definitions = [
        {"name": "Z", "expression": ["product", sym("U"), sym("X")]},
        {
            "name": "M",
            "expression": ["product", ["transpose", sym("U")], ["transpose", sym("K")], sym("Q"), sym("U")],
        },
    ]
    keys = ["transpose", ["product", sym("K"), sym("Z")]]
    left = ["product", sym("V"), sym("Z"), keys, ["product", sym("Q"), sym("Z")]]
    right = ["product", sym("V"), sym("U"), sym("X"), ["transpose", sym("X")], sym("M"), sym("X")]
    word = ["V", "U", "X", "X'", "U'", "K'", "Q", "U", "X"]
    return certificate(
        "matrix-identity",
        {"identity": {"name": "virtual weights, one layer", "scalars": [], "symbols": symbols,
                      "definitions": definitions}},
        {"quantity": "matrix identity", "relation": "equals", "left": left, "right": right},
        {"normal_form": [[1, [], word]]},
    )  # fmt: skip


def scaling_identity():
    """A scale with scalars, an inverse, and an empty word."""
    symbols = [
        {"name": "G", "rows": "a", "columns": "a", "invertible": True},
        {"name": "Kmatrix1", "rows": "a", "columns": 3, "invertible": False},
        {"name": "Q", "rows": "a", "columns": 3, "invertible": False},
    ]
    product = ["product", ["transpose", ["product", ["transpose", ["inverse", "G"]], sym("Kmatrix1")]],
               ["product", sym("G"), sym("Q")]]  # fmt: skip
    left = ["scale", "-3/2", [["lambda", 3], ["mu", -1]], product]
    right = [
        "scale",
        "-3/2",
        [["lambda", 3], ["mu", -1]],
        ["product", ["transpose", sym("Kmatrix1")], sym("Q")],
    ]
    return certificate(
        "matrix-identity",
        {"identity": {"name": "GL(a) on keys & queries: 100% of {K, Q}", "scalars": ["lambda", "mu"],
                      "symbols": symbols, "definitions": []}},
        {"quantity": "matrix identity", "relation": "equals", "left": left, "right": right},
        {"normal_form": [["-3/2", [["lambda", 3], ["mu", -1]], ["Kmatrix1'", "Q"]]]},
    )  # fmt: skip
