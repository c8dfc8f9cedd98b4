"""What the tests compare with: plain Python from FORMAT.md and MATH.md, sharing no code with the package.

Networks enter as their JSON description (FORMAT.md section 2) only.
"""

from __future__ import annotations

import hashlib
import random
from fractions import Fraction
from itertools import pairwise
from math import comb

import numpy as np

# -- values ------------------------------------------------------------------


def times(A, B):
    """Product of matrices that are lists of rows, over any ring."""
    return [
        [_sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*B, strict=True)]
        for row in A
    ]


def _sum(terms):
    terms = list(terms)
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def transposed(A):
    return [list(column) for column in zip(*A, strict=True)]


def attention(Q, K, V, X):
    """V X X^T K^T Q X, from left to right as the paper writes it."""
    result = V
    for factor in (X, transposed(X), transposed(K), Q, X):
        result = times(result, factor)
    return result


def shapes(layer):
    """Names and shapes of a layer's parameter matrices (the table of FORMAT.md section 2)."""
    if layer["type"] in ("lightning_attention", "normalized_attention"):
        d, d_out, a = layer["d_in"], layer["d_out"], layer["rank"]
        return {"Q": (a, d), "K": (a, d), "V": (d_out, d)}
    if layer["type"] == "bias":
        return {"b": (layer["width"], 1)}
    if layer["type"] == "convolution":
        return {"W": (layer["channels"], layer["kernel"])}
    return {"W": (layer["d_out"], layer["d_in"])} if layer["type"] == "linear" else {}


def own_shapes(layer):
    return {} if "weights" in layer else shapes(layer)


def parameter_count(description):
    return sum(r * c for layer in description["layers"] for r, c in own_shapes(layer).values())


def window_entries(layer):
    """``(row, column, c, j)``: where the matrix of a convolution, seen as a linear layer, has W[c, j]."""
    positions = len(range(0, layer["d_in"] - layer["kernel"] + 1, layer["stride"]))
    for c in range(layer["channels"]):
        for i in range(positions):
            for j in range(layer["kernel"]):
                yield c * positions + i, i * layer["stride"] + j, c, j


def toeplitz(layer, W):
    """That matrix, with 0 elsewhere."""
    height = 1 + max(row for row, *_ in window_entries(layer))
    result = [[0 for _ in range(layer["d_in"])] for _ in range(height)]
    for row, column, c, j in window_entries(layer):
        result[row][column] = W[c][j]
    return result


def value(description, theta, X):
    """The output of a described network for a flat list of parameters and X as a list of rows."""
    theta = list(theta)
    values = {"input": [list(row) for row in X]}
    matrices = {}
    for layer in description["layers"]:
        own = matrices[layer["id"]] = {}
        for name, (rows, columns) in own_shapes(layer).items():
            own[name] = [[theta.pop(0) for _ in range(columns)] for _ in range(rows)]
        inputs = [values[source] for source in layer["inputs"]]
        values[layer["id"]] = _layer(layer, matrices[layer.get("weights", layer["id"])], inputs)
    assert not theta
    sources = {source for layer in description["layers"] for source in layer["inputs"]}
    (output,) = [layer["id"] for layer in description["layers"] if layer["id"] not in sources]
    return values[output]


def _layer(layer, own, inputs):
    match layer["type"]:
        case "lightning_attention":
            return attention(own["Q"], own["K"], own["V"], inputs[0])
        case "linear":
            return times(own["W"], inputs[0])
        case "bias":
            return [[entry + b for entry in row] for row, (b,) in zip(inputs[0], own["b"], strict=True)]
        case "convolution":
            return times(toeplitz(layer, own["W"]), inputs[0])
        case "monomial_activation":
            powered = inputs[0]
            for _ in range(layer["degree"] - 1):
                powered = [
                    [a * b for a, b in zip(r, s, strict=True)]
                    for r, s in zip(powered, inputs[0], strict=True)
                ]
            return powered
        case "sum":
            return [
                [_sum(entries) for entries in zip(*rows, strict=True)] for rows in zip(*inputs, strict=True)
            ]


# -- derivatives modulo p, forwards, all parameters at once -------------------


class Jet:
    """A matrix of residues with its derivatives by all n parameters: arrays (r, c) and (n, r, c) of int64.

    Sums of up to 2^15 products of two residues below 2^23 stay below 2^62.
    """

    def __init__(self, prime, values, tangents):
        assert prime < 2**23
        self.prime, self.values, self.tangents = prime, values % prime, tangents % prime

    def __matmul__(self, other):
        tangents = np.matmul(self.tangents, other.values) % self.prime + np.matmul(
            self.values, other.tangents
        )
        return Jet(self.prime, self.values @ other.values, tangents)

    def __mul__(self, other):
        tangents = self.tangents * other.values % self.prime + self.values * other.tangents
        return Jet(self.prime, self.values * other.values, tangents)

    def __add__(self, other):
        return Jet(self.prime, self.values + other.values, self.tangents + other.tangents)

    @property
    def T(self):
        return Jet(self.prime, self.values.T, self.tangents.swapaxes(1, 2))


def stream(seed, label, count, prime):
    """The seed rule of FORMAT.md section 3."""
    words = []
    block = 0
    while len(words) < count:
        digest = hashlib.sha256(f"lightningalg-certificate/1|{seed}|{label}|{block}".encode()).digest()
        words += [int.from_bytes(digest[i : i + 4], "big") for i in range(0, 32, 4)]
        block += 1
    return [word % prime for word in words[:count]]


def jacobian_row(description, prime, seed, sample):
    """Row ``sample`` of the sampled Jacobian modulo p as a list of 0 .. p-1."""
    n = parameter_count(description)
    t, d = description["tokens"], description["width"]
    theta = stream(seed, "parameters", n, prime)
    X = np.array(stream(seed, f"input/{sample}", d * t, prime)).reshape(d, t)
    values = {"input": Jet(prime, X, np.zeros((n, d, t), dtype=np.int64))}
    matrices = {}
    offset = 0
    for layer in description["layers"]:
        own = matrices[layer["id"]] = {}
        for name, (rows, columns) in own_shapes(layer).items():
            size = rows * columns
            tangents = np.zeros((n, rows, columns), dtype=np.int64)
            tangents[offset : offset + size] = np.eye(size, dtype=np.int64).reshape(size, rows, columns)
            own[name] = Jet(prime, np.array(theta[offset : offset + size]).reshape(rows, columns), tangents)
            offset += size
        own = matrices[layer.get("weights", layer["id"])]
        values[layer["id"]] = _jet_layer(layer, own, [values[source] for source in layer["inputs"]])
    sources = {source for layer in description["layers"] for source in layer["inputs"]}
    (output,) = [layer["id"] for layer in description["layers"] if layer["id"] not in sources]
    result = values[output].tangents
    Y = np.array(stream(seed, f"functional/{sample}", result[0].size, prime)).reshape(result.shape[1:])
    return ((result * Y % prime).sum(axis=(1, 2)) % prime).tolist()


def _jet_layer(layer, own, inputs):
    X = inputs[0]
    match layer["type"]:
        case "lightning_attention":
            return own["V"] @ X @ X.T @ own["K"].T @ own["Q"] @ X
        case "linear":
            return own["W"] @ X
        case "bias":
            b = own["b"]
            return Jet(X.prime, X.values + b.values, X.tangents + b.tangents)
        case "convolution":
            W, d_out = own["W"], len(toeplitz(layer, own["W"].values))
            T = np.zeros((d_out, layer["d_in"]), dtype=np.int64)
            dT = np.zeros((len(W.tangents), *T.shape), dtype=np.int64)
            for row, column, c, j in window_entries(layer):
                T[row, column], dT[:, row, column] = W.values[c, j], W.tangents[:, c, j]
            return Jet(X.prime, T, dT) @ X
        case "monomial_activation":
            result = X
            for _ in range(layer["degree"] - 1):
                result = result * X
            return result
        case "sum":
            for other in inputs[1:]:
                X = X + other
            return X


def determinant_mod(matrix, prime):
    """Determinant modulo p by elimination on Python integers."""
    rows = [[entry % prime for entry in row] for row in matrix]
    result = 1
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return 0
        if pivot != k:
            rows[k], rows[pivot] = rows[pivot], rows[k]
            result = -result
        result = result * rows[k][k] % prime
        inverse = pow(rows[k][k], -1, prime)
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] * inverse % prime
            if factor:
                rows[i] = [(a - factor * b) % prime for a, b in zip(rows[i], rows[k], strict=True)]
    return result % prime


def rank(matrix):
    """Rank over QQ of a matrix of Fractions, by elimination."""
    rows = [[Fraction(entry) for entry in row] for row in matrix]
    found = 0
    for column in range(len(rows[0])):
        pivot = next((i for i in range(found, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for i in range(found + 1, len(rows)):
            factor = rows[i][column] / rows[found][column]
            if factor:
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[found], strict=True)]
        found += 1
    return found


# -- random rational matrices --------------------------------------------------


def random_fractions(generator: random.Random, count: int, bound: int = 9) -> list[Fraction]:
    return [Fraction(generator.randint(-bound, bound), generator.randint(1, 5)) for _ in range(count)]


def random_matrix(generator: random.Random, rows: int, columns: int, bound: int = 9) -> list[list[Fraction]]:
    return [random_fractions(generator, columns, bound) for _ in range(rows)]


def inverse(matrix):
    """Inverse over QQ, or ``None``."""
    size = len(matrix)
    rows = [
        list(map(Fraction, row)) + [Fraction(i == j) for j in range(size)] for i, row in enumerate(matrix)
    ]
    for k in range(size):
        pivot = next((i for i in range(k, size) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [entry / rows[k][k] for entry in rows[k]]
        for i in range(size):
            if i != k:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[size:] for row in rows]


def flat(*matrices):
    return [entry for matrix in matrices for row in matrix for entry in row]


# -- dimensions, from MATH.md ---------------------------------------------------


def r(e, a):
    """Dimension of the e x e matrices of rank <= a."""
    alpha = min(a, e)
    return 2 * alpha * e - alpha**2


def s(e, a):
    """Dimension of the quadratic forms in e variables of rank <= 2a."""
    rho = min(2 * a, e)
    return rho * e - rho * (rho - 1) // 2


def single_layer(d, d_out, a, tokens):
    """MATH.md section 3."""
    if tokens == 1:
        return s(d, a) + d * d_out - 1
    return 2 * a * d + d * d_out - a**2 - 1 if a <= d else d**2 + d * d_out - 1


def deep_dimension(widths, ranks, tokens):
    """``D`` of MATH.md section 4, written with 1-based dictionaries as there."""
    last = len(ranks)
    d = dict(enumerate(widths))
    a = {i + 1: rank_ for i, rank_ in enumerate(ranks)}
    e = {0: d[0]}
    for i in range(1, last):
        e[i] = min(e[i - 1], d[i])
    g = {0: d[0], last: d[last]}
    for i in range(last - 1, 0, -1):
        g[i] = min(e[i], 2 * min(a[i + 1], e[i]) + g[i + 1])
    total = -last + sum(g[i] * (g[i - 1] - g[i]) for i in range(1, last)) + d[last] * g[last - 1]
    for i in range(1, last + 1):
        quadratic = tokens == 1 or any(min(a[j], e[j - 1]) == 1 for j in range(1, i))
        total += s(g[i - 1], a[i]) if quadratic else r(g[i - 1], a[i])
    return total


def multi_head_dimension(d, d_out, a, heads):
    """MATH.md section 6, d_out >= 2, t >= 2."""
    a = min(a, d)
    single = r(d, a) + d * d_out - 1
    loss = heads * max(0, heads - 1 - (d - a) ** 2)
    return min(d_out * d * comb(d + 1, 2), heads * single - loss)


def monomial_expected(widths):
    return sum(a * b for a, b in pairwise(widths)) - sum(widths[1:-1])
