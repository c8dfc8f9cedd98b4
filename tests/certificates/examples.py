"""Certificates to try the verifier on, made by a second, deliberately naive implementation of FORMAT.md.

Nothing here uses the package or the verifier.  Values are computed as V (X X^T) ((K^T Q) X) in integers
modulo p^2, and derivatives are p-adic differences: f(theta + p e_c) = f(theta) + p df/dtheta_c modulo p^2.
Determinants are Bareiss determinants over the integers.  `is_true` decides by these means whether the claim
of a certificate holds.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import itertools
import json
import random
from fractions import Fraction

P = 2147483629  # prime
SMALL_P = 8388593  # prime below 2^23


# --- networks ----------------------------------------------------------------------------------------------


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


def bias(name, source, width):
    return {"id": name, "inputs": [source], "type": "bias", "width": width}


def convolution(name, source, d_in, kernel, stride=1, channels=1):
    sizes = {"d_in": d_in, "kernel": kernel, "stride": stride, "channels": channels}
    return {"id": name, "inputs": [source], "type": "convolution", **sizes}


def tied(layer, owner):
    return {**layer, "weights": owner}


def add(name, *sources):
    return {"id": name, "inputs": list(sources), "type": "sum"}


def network(tokens, width, *layers):
    return {"tokens": tokens, "width": width, "layers": list(layers)}


def chain(widths, ranks, tokens=2):
    names = ["input"] + [f"layer-{i}" for i in range(1, len(ranks) + 1)]
    layers = [
        attention(names[i + 1], names[i], widths[i], widths[i + 1], rank) for i, rank in enumerate(ranks)
    ]
    return network(tokens, widths[0], *layers)


def monomial(widths, degree):
    """W_l s(... s(W_1 x)), s the entrywise power, one token."""
    layers, source = [], "input"
    for i in range(1, len(widths)):
        layers.append(linear(f"w{i}", source, widths[i - 1], widths[i]))
        source = f"w{i}"
        if i + 1 < len(widths):
            layers.append(activation(f"s{i}", source, degree))
            source = f"s{i}"
    return network(1, widths[0], *layers)


def matrices_of(layer):
    if layer["type"] == "lightning_attention":
        a, d, e = layer["rank"], layer["d_in"], layer["d_out"]
        return [("Q", a, d), ("K", a, d), ("V", e, d)]
    if layer["type"] == "bias":
        return [("b", layer["width"], 1)]
    if layer["type"] == "convolution":
        return [("W", layer["channels"], layer["kernel"])]
    return [("W", layer["d_out"], layer["d_in"])] if layer["type"] == "linear" else []


def own_matrices(layer):
    return [] if "weights" in layer else matrices_of(layer)


def parameter_count(net):
    return sum(r * c for layer in net["layers"] for _, r, c in own_matrices(layer))


def windows(layer):
    return [range(i, i + layer["kernel"]) for i in range(layer["d_in"])][:: layer["stride"]]


def widths_of(net):
    widths = {"input": net["width"]}
    for layer in net["layers"]:
        widths[layer["id"]] = layer.get("d_out", widths[layer["inputs"][0]])
        if layer["type"] == "convolution":
            fitting = [rows for rows in windows(layer) if rows[-1] < layer["d_in"]]
            widths[layer["id"]] = layer["channels"] * len(fitting)
    return widths


def output_of(net):
    used = {source for layer in net["layers"] for source in layer["inputs"]}
    return next(layer["id"] for layer in net["layers"] if layer["id"] not in used)


# --- naive evaluation --------------------------------------------------------------------------------------


def mul(a, b, m):
    return [
        [sum(a[i][k] * b[k][j] for k in range(len(b))) % m for j in range(len(b[0]))] for i in range(len(a))
    ]


def tr(a):
    return [list(c) for c in zip(*a, strict=True)]


def grid(values, columns):
    return [values[i : i + columns] for i in range(0, len(values), columns)]


def forward(net, theta, x, m):
    values, at, matrices = {"input": x}, 0, {}
    for layer in net["layers"]:
        own = matrices[layer["id"]] = []
        for _, r, c in own_matrices(layer):
            own.append(grid(theta[at : at + r * c], c))
            at += r * c
        own = matrices[layer.get("weights", layer["id"])]
        z = values[layer["inputs"][0]]
        if layer["type"] == "lightning_attention":
            q, k, v = own
            values[layer["id"]] = mul(v, mul(mul(z, tr(z), m), mul(mul(tr(k), q, m), z, m), m), m)
        elif layer["type"] == "linear":
            values[layer["id"]] = mul(own[0], z, m)
        elif layer["type"] == "bias":
            values[layer["id"]] = [[(e + b) % m for e in row] for row, (b,) in zip(z, own[0], strict=True)]
        elif layer["type"] == "convolution":
            fitting = [rows for rows in windows(layer) if rows[-1] < layer["d_in"]]
            values[layer["id"]] = [mul([w], [z[i] for i in rows], m)[0] for w in own[0] for rows in fitting]
        elif layer["type"] == "monomial_activation":
            values[layer["id"]] = [[pow(e, layer["degree"], m) for e in row] for row in z]
        else:
            terms = [values[name] for name in layer["inputs"]]
            values[layer["id"]] = [
                [sum(es) % m for es in zip(*rows, strict=True)] for rows in zip(*terms, strict=True)
            ]
    return values[output_of(net)]


def jacobian_row(net, theta, x, y, p, columns):
    """Derivatives of <y, f(x)> by the parameters ``columns``, modulo p."""
    m, t = p * p, net["tokens"]
    xs, ys = grid(x, t), [e for row in grid(y, t) for e in row]

    def value(point):
        entries = [e for row in forward(net, point, xs, m) for e in row]
        return sum(a * b for a, b in zip(entries, ys, strict=True)) % m

    base, row = value(theta), []
    for c in columns:
        moved = list(theta)
        moved[c] += p
        row.append((value(moved) - base) % m // p)
    return row


def determinant(rows):
    """Bareiss, over the integers."""
    a, sign, previous = [list(row) for row in rows], 1, 1
    for k in range(len(a)):
        pivot = next((i for i in range(k, len(a)) if a[i][k]), None)
        if pivot is None:
            return 0
        if pivot != k:
            a[k], a[pivot], sign = a[pivot], a[k], -sign
        for i in range(k + 1, len(a)):
            for j in range(k + 1, len(a)):
                a[i][j] = (a[i][j] * a[k][k] - a[i][k] * a[k][j]) // previous
        previous = a[k][k]
    return sign * previous


def pivots(rows, p):
    """Row and column numbers of a non-zero minor of maximal size modulo p."""
    basis, chosen = [], []
    for number, row in enumerate(rows):
        row = list(row)
        for column, vector in basis:
            factor = row[column]
            if factor:
                row = [(x - factor * y) % p for x, y in zip(row, vector, strict=True)]
        column = next((j for j, e in enumerate(row) if e), None)
        if column is not None:
            inverse = pow(row[column], -1, p)
            basis.append((column, [e * inverse % p for e in row]))
            chosen.append(number)
    return chosen, sorted(column for column, _ in basis)


def runs(numbers):
    result = []
    for number in numbers:
        if result and result[-1][1] == number - 1:
            result[-1][1] = number
        else:
            result.append([number, number])
    return result


def members(index_set):
    return [k for first, last in index_set for k in range(first, last + 1)]


# --- values by rule ----------------------------------------------------------------------------------------


def stream(seed, label, count, p):
    words = []
    for b in itertools.count():
        if len(words) >= count:
            return [word % p for word in words[:count]]
        digest = hashlib.sha256(f"lightningalg-certificate/1|{seed}|{label}|{b}".encode()).digest()
        words += [int.from_bytes(digest[4 * i : 4 * i + 4], "big") for i in range(8)]


def sample(net, sampling, p, j):
    """(input, functional) of sample j."""
    t = net["tokens"]
    if sampling["rule"] == "explicit":
        chosen = sampling["samples"][j]
        return [[residue(e, p) for e in chosen[key]] for key in ("input", "functional")]
    x = stream(sampling["seed"], f"input/{j}", net["width"] * t, p)
    return x, stream(sampling["seed"], f"functional/{j}", widths_of(net)[output_of(net)] * t, p)


def point(net, sampling, p):
    if sampling["rule"] == "explicit":
        return [residue(e, p) for e in sampling["parameters"]]
    return stream(sampling["seed"], "parameters", parameter_count(net), p)


def residue(value, p):
    number = Fraction(value)
    return number.numerator * pow(number.denominator, -1, p) % p


def minor(net, sampling, p, rows, columns):
    theta = point(net, sampling, p)
    return [jacobian_row(net, theta, *sample(net, sampling, p, j), p, columns) for j in rows]


# --- certificates ------------------------------------------------------------------------------------------


def seal(certificate):
    """The same with the right hash."""
    rest = {key: value for key, value in certificate.items() if key != "sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return {**rest, "sha256": hashlib.sha256(text.encode()).hexdigest()}


def certificate(kind, about, claim, witness):
    return seal(
        {
            "format": "lightningalg-certificate",
            "version": 1,
            "kind": kind,
            "identity" if kind == "matrix-identity" else "network": copy.deepcopy(about),
            "claim": claim,
            "witness": witness,
            "strength": "exact",
            "provenance": {"engine": "tests/certificates/examples.py", "note": "naïve"},
        }
    )


def lower_bound(net, prime=P, seed="examples", size=None, sampling=None):
    """A maximal non-zero minor, or one of the stated size."""
    sampling = sampling or {"rule": "sha256-counter", "seed": seed}
    n = parameter_count(net)
    count = len(sampling["samples"]) if "samples" in sampling else n + 3
    matrix = minor(net, sampling, prime, range(count), range(n))
    rows, _ = pivots(matrix, prime)
    rows = rows[:size]
    _, columns = pivots([matrix[i] for i in rows], prime)
    value = determinant([[matrix[i][j] for j in columns] for i in rows]) % prime
    return {
        "value": len(rows),
        "prime": prime,
        "sampling": sampling,
        "rows": runs(rows),
        "columns": runs(columns),
        "determinant": value,
    }


def explicit_sampling(net, count, p=P):
    """Explicit values: small integers, some rationals, one large integer, all of which matter."""
    rng = random.Random(7)
    t, d, e = net["tokens"], net["width"], widths_of(net)[output_of(net)]

    def values(k):
        return [rng.choice([1, -1]) * rng.randrange(1, 50) for _ in range(k)]

    samples = [{"input": values(d * t), "functional": values(e * t)} for _ in range(count)]
    parameters = values(parameter_count(net))
    parameters[0], parameters[-1] = "-3/7", str(10**30 + 1)
    samples[0]["input"][0] = "22/5"
    return {"rule": "explicit", "parameters": parameters, "samples": samples}


def r_variety(e, a):
    return e * e - max(0, e - a) ** 2


def s_variety(e, a):
    return sum(e - i for i in range(min(2 * a, e)))


def flag(net):
    t, layers = net["tokens"], net["layers"]
    d = [net["width"]] + [layer["d_out"] for layer in layers]
    a = [layer["rank"] for layer in layers]
    depth = len(layers)
    e = [min(d[: i + 1]) for i in range(depth)]
    g = {depth: d[depth]}
    for i in reversed(range(1, depth)):
        g[i] = min(e[i], 2 * min(a[i], e[i]) + g[i + 1])
    g[0] = d[0]
    kinds = [t == 1 or any(min(a[j], e[j]) == 1 for j in range(i)) for i in range(depth)]
    q = [(s_variety if kinds[i] else r_variety)(g[i], a[i]) for i in range(depth)]
    flags, values = sum(g[i] * (g[i - 1] - g[i]) for i in range(1, depth)), d[depth] * g[depth - 1]
    steps = {
        "e": e,
        "g": [g[i] for i in range(depth)],
        "matrices": [{"symmetric": k, "dimension": x} for k, x in zip(kinds, q, strict=True)],
        "flags": flags,
        "values": values,
        "torus": depth,
    }
    return {"value": sum(q) + flags + values - depth, "method": "flag", "steps": steps}


def layerwise(*blocks):
    steps = {"blocks": [{"layers": list(ids), "dimension": k} for *ids, k in blocks]}
    return {"value": sum(block[-1] for block in blocks), "method": "layerwise", "steps": steps}


def coefficients(*terms):
    steps = {"terms": [{"degree": m, "coefficients": k} for m, k in terms]}
    return {"value": sum(k for _, k in terms), "method": "coefficients", "steps": steps}


def torus(net, *free):
    steps = {"activations": [{"layer": name, "width": k} for name, k in free]}
    return {"value": parameter_count(net) - sum(k for _, k in free), "method": "torus", "steps": steps}


def by_parameters(net):
    return {
        "value": parameter_count(net),
        "method": "parameters",
        "steps": {"parameters": parameter_count(net)},
    }


def leaf(i, j, argument, dimension):
    return {"from": i, "to": j, "argument": argument, "dimension": dimension}


def cut(left, right, gauge):
    total = left["dimension"] + right["dimension"] - gauge
    node = {**leaf(left["from"], right["to"], "cut", total), "at": left["to"]}
    return {**node, "gauge": gauge, "parts": [left, right]}


def composition(tree):
    return {"value": tree["dimension"], "method": "composition", "steps": {"derivation": tree}}


def sequential(tokens, width, *stages):
    """Stages ("linear", degree, width) or ("heads", [(rank, value rank or None), ...], residual, width)."""
    layers, source, d = [], "input", width
    for k, (kind, *rest) in enumerate(stages, start=1):
        *what, out = rest
        before = source
        if kind == "linear":
            if what[0] > 1:
                layers.append(activation(f"s{k}", source, what[0]))
                source = f"s{k}"
            layers.append(linear(f"w{k}", source, d, out))
            source = f"w{k}"
        else:
            ends = []
            for h, (rank, value_rank) in enumerate(what[0], start=1):
                ends.append(f"a{k}.{h}")
                layers.append(attention(ends[-1], source, d, value_rank or out, rank))
                if value_rank:
                    layers.append(linear(f"o{k}.{h}", ends[-1], value_rank, out))
                    ends[-1] = f"o{k}.{h}"
            source = ends[0]
            if what[1] or len(ends) > 1:
                source = f"x{k}"
                layers.append(add(source, *([before] if what[1] else []), *ends))
        d = out
    return network(tokens, width, *layers)


def dimension(net, low, high):
    claim = {"quantity": "dimension"}
    if low and high and low["value"] == high["value"]:
        claim |= {"relation": "equals", "value": low["value"]}
    elif low and high:
        claim |= {"relation": "between", "lower": low["value"], "upper": high["value"]}
    else:
        claim |= {"relation": "at least" if low else "at most", "value": (low or high)["value"]}
    return certificate("dimension", net, claim, {"lower_bound": low, "upper_bound": high})


# (widths, ranks, tokens): dimension.  The values are the theorem's, found again here from both sides.
CHAINS = {
    ((2, 2), (2,), 2): 7,
    ((3, 1), (2,), 2): 10,
    ((3, 2), (5,), 2): 14,
    ((4, 2, 4), (2, 1), 2): 25,
    ((5, 3, 5), (1, 3), 2): 34,
    ((2, 3, 2), (1, 1), 2): 8,
    ((4, 3, 2, 4), (2, 2, 2), 2): 34,
    ((2, 2), (2,), 1): 6,
    ((3, 3), (3,), 1): 14,
}


def chain_name(widths, ranks, tokens):
    return f"chain {','.join(map(str, widths))}|{','.join(map(str, ranks))} t={tokens}"


HEADS = network(
    2, 3, attention("h1", "input", 3, 2, 1), attention("h2", "input", 3, 2, 1), add("out", "h1", "h2")
)
RESIDUAL = network(2, 3, attention("a", "input", 3, 3, 1), add("out", "input", "a"))
JOINED = network(2, 3, linear("in", "input", 3, 3), attention("a", "in", 3, 3, 1), linear("out", "a", 3, 2))
MIXED = network(  # every layer type
    2,
    2,
    linear("w", "input", 2, 2),
    activation("s", "w", 2),
    linear("u", "s", 2, 2),
    attention("a", "u", 2, 2, 1),
    add("out", "u", "a", "w"),
)
BIASED = network(2, 2, linear("w", "input", 2, 3), bias("b", "w", 3))
DEEP_BIASED = network(
    1,
    2,
    linear("w", "input", 2, 3),
    bias("b", "w", 3),
    activation("s", "b", 2),
    linear("u", "s", 3, 1),
    bias("c", "u", 1),
)
CONVOLUTIONS = network(
    1, 6, convolution("w", "input", 6, 3), activation("s", "w", 2), convolution("u", "s", 4, 2)
)
STRIDED = network(
    2,
    5,
    convolution("w", "input", 5, 2, 2, 2),
    activation("s", "w", 3),
    linear("u", "s", 4, 1),
)
TIED = network(2, 2, attention("a", "input", 2, 2, 1), tied(attention("b", "a", 2, 2, 1), "a"))
TIED_RESIDUAL = network(
    2,
    2,
    attention("a", "input", 2, 2, 1),
    add("r", "input", "a"),
    tied(attention("b", "r", 2, 2, 1), "a"),
    add("out", "r", "b"),
)
ALL_TIED = network(  # one of each type that has parameters, and one tied to it
    1,
    4,
    linear("w", "input", 4, 4),
    tied(linear("w2", "w", 4, 4), "w"),
    bias("b", "w2", 4),
    convolution("c", "b", 4, 2, 1, 1),
    tied(convolution("c2", "w", 4, 2, 1, 1), "c"),
    add("p", "c", "c2"),
    bias("d", "p", 3),
    tied(bias("d2", "d", 3), "d"),
)
CUBIC = network(2, 2, linear("w", "input", 2, 2), attention("a", "input", 2, 2, 1), add("out", "w", "a"))


# name: (network, derivation, claim).  The numbers were counted by hand.
COMPOSITIONS = {
    "2,2,1 r=2": (monomial((2, 2, 1), 2), leaf(0, 2, "quadratic", 3), "= 3 of"),
    "2,3,3 r=2": (monomial((2, 3, 3), 2), leaf(0, 2, "coefficients", 9), "= 9 of"),
    "2,4,5,4 r=2": (monomial((2, 4, 5, 4), 2), leaf(0, 3, "coefficients", 20), "= 20 of"),
    "5,5,3,1 r=2": (
        monomial((5, 5, 3, 1), 2),
        cut(leaf(0, 1, "linear", 25), leaf(1, 3, "quadratic", 12), 5),
        "= 32 of",
    ),
    "5,4,3,1 r=2": (
        monomial((5, 4, 3, 1), 2),
        cut(leaf(0, 1, "linear", 20), leaf(1, 3, "quadratic", 9), 4),
        "= 25 of",
    ),
    "2,3,2,3 r=2": (
        monomial((2, 3, 2, 3), 2),
        cut(leaf(0, 2, "coefficients", 6), leaf(2, 3, "linear", 6), 2),
        "= 10 of",
    ),
    "2,2,3,4,1 r=2": (
        monomial((2, 2, 3, 4, 1), 2),
        cut(leaf(0, 1, "linear", 4), leaf(1, 4, "coefficients", 5), 2),
        "= 7 of",
    ),
    "2,3,3,2,2 r=2": (
        monomial((2, 3, 3, 2, 2), 2),
        cut(leaf(0, 3, "coefficients", 10), leaf(3, 4, "linear", 4), 2),
        "= 12 of",
    ),
    "2,2,3,1 r=3": (
        monomial((2, 2, 3, 1), 3),
        cut(leaf(0, 1, "linear", 4), leaf(1, 3, "coefficients", 4), 2),
        "= 6 of",
    ),
    "5,7,1 r=3": (monomial((5, 7, 1), 3), leaf(0, 2, "alexander-hirschowitz", 34), "= 34 of"),
    "3,5,1 r=4": (monomial((3, 5, 1), 4), leaf(0, 2, "alexander-hirschowitz", 14), "= 14 of"),
    "mixing": (
        sequential(2, 3, ("heads", [(3, None), (3, None)], False, 3)),
        leaf(0, 1, "mixing", 32),
        "= 32 of",
    ),
    "mixing, one token": (
        sequential(1, 3, ("heads", [(1, None), (1, None)], False, 2)),
        leaf(0, 1, "mixing", 20),
        "= 20 of",
    ),
    "tensor": (
        sequential(2, 2, ("heads", [(2, None), (2, None)], True, 2)),
        leaf(0, 1, "tensor", 12),
        "= 12 of",
    ),
    "span": (
        sequential(2, 3, ("heads", [(3, None), (2, None)], False, 1)),
        leaf(0, 1, "span", 17),
        "= 17 of",
    ),
    "value ranks": (  # GL_3 between the stages; the output matrices have rank 1
        sequential(2, 3, ("linear", 1, 3), ("heads", [(1, 1), (1, 1)], False, 3)),
        cut(leaf(0, 1, "linear", 9), leaf(1, 2, "heads", 18), 9),
        "= 18 of",
    ),
    "residual": (  # positions 1 and 2 are one class, on which GL_2 acts by conjugation
        sequential(2, 2, ("linear", 1, 2), ("heads", [(1, None)], True, 2), ("linear", 1, 2)),
        cut(leaf(0, 1, "linear", 4), cut(leaf(1, 2, "heads", 6), leaf(2, 3, "linear", 4), 0), 4),
        "= 10 of",
    ),
    "residual, activation": (  # no group between a residual stage and an activation
        sequential(2, 2, ("heads", [(1, None)], True, 2), ("linear", 2, 1)),
        cut(leaf(0, 1, "heads", 6), leaf(1, 2, "linear", 2), 0),
        "= 8 of",
    ),
    "narrow": (  # position 1 is effectively 2 wide, so that the linear layer counts 2 x 2
        sequential(2, 2, ("heads", [(2, None)], False, 4), ("linear", 1, 2)),
        cut(leaf(0, 1, "flag", 7), leaf(1, 2, "linear", 4), 4),
        "= 7 of",
    ),
    "collapsed": (  # after a head of rank 1 the two heads are seen on one token
        sequential(2, 2, ("heads", [(1, None)], False, 2), ("heads", [(1, None), (2, None)], False, 1)),
        cut(leaf(0, 1, "flag", 6), leaf(1, 2, "tensor", 4), 4),
        "= 6 of",
    ),
    "after an activation": (  # the values of the second stage span alpha = 2 dimensions
        sequential(2, 2, ("linear", 1, 2), ("linear", 2, 2), ("heads", [(1, None)], False, 2)),
        cut(cut(leaf(0, 1, "linear", 4), leaf(1, 2, "linear", 4), 2), leaf(2, 3, "flag", 6), 4),
        "= 8 of",
    ),
    "heads after heads": (  # two heads on 2 variables give 4 independent cubics; GL_4 acts freely
        sequential(1, 2, ("heads", [(1, None), (1, None)], False, 4), ("linear", 1, 2)),
        cut(leaf(0, 1, "tensor", 16), leaf(1, 2, "linear", 8), 16),
        "= 8 of",
    ),
}


@functools.cache
def examples():
    """Name -> (certificate, what the claim in words must contain)."""
    result = {}
    for (widths, ranks, tokens), value in CHAINS.items():
        net = chain(widths, ranks, tokens)
        text = f"= {value} of {parameter_count(net)} parameters (exact)"
        result[chain_name(widths, ranks, tokens)] = dimension(net, lower_bound(net), flag(net)), text
    small = chain((2, 2), (2,))
    net = chain((2, 2), (1,))
    explicit = lower_bound(net, sampling=explicit_sampling(net, 6))
    result |= {
        "small prime": (dimension(small, lower_bound(small, prime=SMALL_P), flag(small)), "= 7 of 12"),
        "heads": (dimension(HEADS, lower_bound(HEADS), layerwise(("h1", 10), ("h2", 10))), "= 20 of 24"),
        "residual": (dimension(RESIDUAL, lower_bound(RESIDUAL), layerwise(("a", 13))), "= 13 of 15"),
        "joined": (dimension(JOINED, lower_bound(JOINED), layerwise(("in", 9), ("a", "out", 10))), ">= 10"),
        "coefficients, t=2": (
            dimension(CUBIC, lower_bound(CUBIC), coefficients((1, 4), (3, 12))),
            "between 10 and 16",
        ),
        "explicit": (dimension(net, explicit, flag(net)), "= 6 of 8"),
        "at least": (dimension(small, lower_bound(small, size=4), None), ">= 4 of 12"),
        "at most, torus": (dimension(MIXED, None, torus(MIXED)), "<= "),
        "mixed": (dimension(MIXED, lower_bound(MIXED), by_parameters(MIXED)), "between "),
    }
    result["joined"] = result["joined"][0], "between 10 and 19"
    result |= {
        "bias": (dimension(BIASED, lower_bound(BIASED), by_parameters(BIASED)), "= 9 of 9"),
        "bias, torus": (
            dimension(DEEP_BIASED, None, torus(DEEP_BIASED, ("s", 3))),
            "<= 10 of 13",
        ),
        "bias, coefficients": (
            dimension(DEEP_BIASED, lower_bound(DEEP_BIASED), coefficients((0, 1), (1, 2), (2, 3))),
            "= 6 of 13",
        ),
        "convolution": (
            dimension(CONVOLUTIONS, lower_bound(CONVOLUTIONS), torus(CONVOLUTIONS, ("s", 1))),
            "= 4 of 5",
        ),
        "convolution, strided": (
            dimension(STRIDED, lower_bound(STRIDED), torus(STRIDED, ("s", 2))),
            "= 6 of 8",
        ),
        "tied": (dimension(TIED, lower_bound(TIED), layerwise(("a", 6))), "= 6 of 8"),
        "tied, residual": (
            dimension(TIED_RESIDUAL, lower_bound(TIED_RESIDUAL, SMALL_P), layerwise(("a", 6))),
            "= 6 of 8",
        ),
        "tied, every type": (
            dimension(ALL_TIED, lower_bound(ALL_TIED), layerwise(("w", 16), ("b", 4), ("c", 2), ("d", 3))),
            "of 25 parameters (exact)",
        ),
    }
    net = monomial((2, 2, 1), 2)
    result["monomial"] = dimension(net, lower_bound(net), coefficients((2, 3))), "= 3 of 6"
    net = monomial((2, 3, 2), 3)
    result["monomial, torus"] = dimension(net, None, torus(net, ("s1", 3))), "<= 9 of 12"
    del result["at most, torus"]
    for name, (net, tree, words) in COMPOSITIONS.items():
        result[f"composition, {name}"] = dimension(net, lower_bound(net), composition(tree)), words
    result |= degree_examples()
    result |= {name: (value, "matrix identity") for name, value in identity_examples().items()}
    return result


# --- kind degrees ------------------------------------------------------------------------------------------


def degree_examples():
    net = chain((2, 3, 2), (1, 2))
    three = [{"layer": "layer-1", "parameter": name, "degree": 3} for name in "QKV"]
    one = [{"layer": "layer-2", "parameter": name, "degree": 1} for name in "QKV"]
    witness = [
        {"layer": "layer-1", "input": 3, "parameters": [1, 1, 1, 0, 0, 0]},
        {"layer": "layer-2", "input": 9, "parameters": [3, 3, 3, 1, 1, 1]},
    ]
    claim = {"quantity": "degrees", "input": 9, "parameters": three + one}
    first = certificate("degrees", net, claim, {"layers": witness})

    net = network(
        1, 2, linear("w", "input", 2, 2), activation("s", "w", 5), activation("r", "s", 2), add("o", "r", "r")
    )
    claim = {
        "quantity": "degrees",
        "input": 10,
        "parameters": [{"layer": "w", "parameter": "W", "degree": 10}],
    }
    witness = [
        {"layer": name, "input": k, "parameters": [k]}
        for name, k in (("w", 1), ("s", 5), ("r", 10), ("o", 10))
    ]
    second = certificate("degrees", net, claim, {"layers": witness})

    claim = {
        "quantity": "degrees",
        "input": 18,
        "parameters": [{"layer": "a", "parameter": name, "degree": 8} for name in "QKV"]
        + [{"layer": "c", "parameter": "W", "degree": 2}],
    }
    net = network(
        2, 2, attention("a", "input", 2, 2, 1), tied(attention("b", "a", 2, 2, 1), "a"),
        convolution("c", "b", 2, 1), activation("s", "c", 2),
    )  # fmt: skip
    witness = [
        {"layer": name, "input": k, "parameters": [*[m] * 3, w]}
        for name, k, m, w in (("a", 3, 1, 0), ("b", 9, 4, 0), ("c", 9, 4, 1), ("s", 18, 8, 2))
    ]
    shared = certificate("degrees", net, claim, {"layers": witness})

    net = chain((1,) * 36, (1,) * 35, tokens=1)  # degrees beyond 2^53 are strings

    def written(k):
        return k if k <= 2**53 else str(k)

    witness = []
    for i in range(1, 36):
        degrees = [written(3 ** (i - j)) if j <= i else 0 for j in range(1, 36) for _ in "QKV"]
        witness.append({"layer": f"layer-{i}", "input": written(3**i), "parameters": degrees})
    named = [
        {"layer": f"layer-{j}", "parameter": name, "degree": written(3 ** (35 - j))}
        for j in range(1, 36)
        for name in "QKV"
    ]
    claim = {"quantity": "degrees", "input": str(3**35), "parameters": named}
    third = certificate("degrees", net, claim, {"layers": witness})
    return {
        "degrees, chain": (first, "degree 9 in X, 3 in Q of layer-1"),
        "degrees, activations": (second, "degree 10 in X, 10 in W of w"),
        "degrees, tied": (shared, "degree 18 in X, 8 in Q of a"),
        "degrees, large": (third, f"degree {3**35} in X"),
    }


# --- kind matrix-identity ----------------------------------------------------------------------------------


def sym(name):
    return ["symbol", name]


def symbol(name, rows, columns, invertible=False):
    return {"name": name, "rows": rows, "columns": columns, "invertible": invertible}


def identity(name, scalars, symbols, definitions, left, right, normal_form):
    about = {
        "name": name,
        "scalars": scalars,
        "symbols": symbols,
        "definitions": [{"name": key, "expression": e} for key, e in definitions.items()],
    }
    claim = {"quantity": "matrix identity", "relation": "equals", "left": left, "right": right}
    return certificate("matrix-identity", about, claim, {"normal_form": normal_form})


def identity_examples():
    gl = identity(
        "S1: A = K'Q is invariant under Q -> GQ, K -> G^-T K",
        [],
        [symbol("Q", "a", "d"), symbol("K", "a", "d"), symbol("G", "a", "a", True)],
        {
            "A": ["product", ["transpose", sym("K")], sym("Q")],
            "K1": ["product", ["transpose", ["inverse", "G"]], sym("K")],
        },
        ["product", ["transpose", sym("K1")], ["product", sym("G"), sym("Q")]],
        sym("A"),
        [[1, [], ["K'", "Q"]]],
    )
    attention_layer = ["product", sym("V"), sym("X"), ["transpose", sym("X")], sym("A"), sym("X")]
    scaled = [
        "product",
        ["scale", "2/3", [["m", -1], ["c", 2]], sym("V")],
        sym("X"),
        ["transpose", sym("X")],
        ["scale", "3/2", [["c", -2], ["m", 1]], sym("A")],
        sym("X"),
    ]
    scaling = identity(
        "S3: (A, V) and (cA, V/c) compute the same",
        ["c", "m"],
        [symbol("A", "d", "d"), symbol("V", 3, "d"), symbol("X", "d", "t")],
        {},
        scaled,
        attention_layer,
        [[1, [], ["V", "X", "X'", "A", "X"]]],
    )
    a, b = sym("A"), sym("B")
    terms = identity(
        "(A + B)(A - x B) and an identity matrix",
        ["x"],
        [symbol("A", 2, 2, True), symbol("B", 2, 2)],
        {"I": ["product", a, ["inverse", "A"]]},
        ["sum", ["product", ["sum", a, b], ["sum", a, ["scale", -1, [["x", 1]], b]]], sym("I")],
        [
            "sum",
            ["product", a, a],
            ["scale", -1, [["x", 1]], ["product", a, b]],
            ["product", b, a],
            ["scale", -1, [["x", 1]], ["product", b, b]],
            ["transpose", ["product", ["transpose", ["inverse", "A"]], ["transpose", a]]],
        ],
        [
            [1, [], []],
            [1, [], ["A", "A"]],
            [-1, [["x", 1]], ["A", "B"]],
            [1, [], ["B", "A"]],
            [-1, [["x", 1]], ["B", "B"]],
        ],
    )
    return {"identity, GL": gl, "identity, scaling": scaling, "identity, terms": terms}


# --- truth -------------------------------------------------------------------------------------------------


def inverse_matrix(a, p):
    n = len(a)
    work = [list(row) + [int(i == j) for j in range(n)] for i, row in enumerate(a)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if work[i][k])
        work[k], work[pivot] = work[pivot], work[k]
        by = pow(work[k][k], -1, p)
        work[k] = [e * by % p for e in work[k]]
        for i in range(n):
            if i != k:
                work[i] = [(x - work[i][k] * y) % p for x, y in zip(work[i], work[k], strict=True)]
    return [row[n:] for row in work]


def identity_holds(cert, p=P):
    """Both sides at random matrices of several sizes."""
    about, rng = cert["identity"], random.Random(3)
    for _ in range(3):
        sizes: dict = {}

        def size(name, sizes=sizes):
            return sizes.setdefault(name, rng.randrange(1, 5))  # also for stated sizes, which may be large

        scalars = {name: rng.randrange(1, p) for name in about["scalars"]}
        values = {}
        for s in about["symbols"]:
            values[s["name"]] = [
                [rng.randrange(p) for _ in range(size(s["columns"]))] for _ in range(size(s["rows"]))
            ]

        def evaluate(e, values=values, scalars=scalars):
            head, rest = e[0], e[1:]
            if head == "symbol":
                return values[rest[0]]
            if head == "inverse":
                return inverse_matrix(values[rest[0]], p)
            if head == "transpose":
                return tr(evaluate(rest[0]))
            if head == "scale":
                by = residue(rest[0], p)
                for name, k in rest[1]:
                    by = by * pow(scalars[name], k, p) % p
                return [[x * by % p for x in row] for row in evaluate(rest[2])]
            parts = [evaluate(x) for x in rest]
            if head == "product":
                return functools.reduce(lambda x, y: mul(x, y, p), parts)
            return [[sum(es) % p for es in zip(*rows, strict=True)] for rows in zip(*parts, strict=True)]

        for definition in about["definitions"]:
            values[definition["name"]] = evaluate(definition["expression"])
        if evaluate(cert["claim"]["left"]) != evaluate(cert["claim"]["right"]):
            return False
    return True


def degrees_hold(cert, p=P):
    """Scaling X, or one parameter matrix, by c multiplies the value by c^degree."""
    net, rng, c = cert["network"], random.Random(5), 3
    theta = [rng.randrange(p) for _ in range(parameter_count(net))]
    x = [[rng.randrange(p) for _ in range(net["tokens"])] for _ in range(net["width"])]
    base = forward(net, theta, x, p)

    def scaled(matrix, degree):
        by = pow(c, int(degree), p)
        return matrix == [[e * by % p for e in row] for row in base]

    good = scaled(forward(net, theta, [[c * e % p for e in row] for row in x], p), cert["claim"]["input"])
    at, named = 0, [(layer["id"], *m) for layer in net["layers"] for m in own_matrices(layer)]
    if [(e["layer"], e["parameter"]) for e in cert["claim"]["parameters"]] != [m[:2] for m in named]:
        return False
    for (_, _, r, k), entry in zip(named, cert["claim"]["parameters"], strict=True):
        moved = [e * c % p if at <= i < at + r * k else e for i, e in enumerate(theta)]
        good = good and scaled(forward(net, moved, x, p), entry["degree"])
        at += r * k
    return good


def is_true(cert):
    """Whether the claim holds and the minor has the stated determinant."""
    if cert["kind"] == "matrix-identity":
        return identity_holds(cert)
    if cert["kind"] == "degrees":
        return degrees_hold(cert)
    net, claim, low = cert["network"], cert["claim"], cert["witness"]["lower_bound"]
    if low is not None:
        rows, columns = members(low["rows"]), members(low["columns"])
        found = determinant(minor(net, low["sampling"], low["prime"], rows, columns)) % low["prime"]
        if not len(rows) == len(columns) == low["value"] or found != low["determinant"] or found == 0:
            return False
    rank = lower_bound(net, seed="truth")["value"]
    bounds = {
        "equals": lambda: claim["value"] == rank,
        "at least": lambda: claim["value"] <= rank,
        "at most": lambda: claim["value"] >= rank,
        "between": lambda: claim["lower"] <= rank <= claim["upper"],
    }
    return bounds[claim["relation"]]()
