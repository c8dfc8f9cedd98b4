#!/usr/bin/env python3
"""Independent checker of lightningalg certificates, written from certificates/FORMAT.md (version 1) alone.

One file, standard library only: copy it anywhere and run ``python -I verifier.py CERT.json...``.  The signs §
below refer to sections of FORMAT.md.  ``valid`` means that every check passed and hence that the claim is
proved; whatever this file does not know, or finds too large, is ``unsupported``.

numpy (evaluation and elimination) and python-flint (determinants) are used for large sizes if they can be
imported.  They compute the same integers, only faster: see the proofs of exactness at `BatchArithmetic` and
`BatchDeterminant`.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import heapq
import importlib
import itertools
import json
import math
import os
import re
import stat
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import add, mul, sub
from typing import Any

__all__ = ["Verdict", "check", "check_file", "main"]

# Limits of the format (§1, §2, §4, §6).
MAX_BYTES = 64 * 2**20
MAX_DEPTH = 200
MAX_PLAIN_INTEGER = 2**53
MAX_SIZE = 1_000_000
MAX_LAYERS = 100_000
MAX_SAMPLES = 1_000_000
MAX_DEGREE = 4096  # of the method `coefficients`
MAX_STAGES = 60  # of the method `composition`
MAX_DEGREES = 100  # possible in its argument `coefficients`
MAX_TERMS = 100_000
MAX_WORD = 10_000
MAX_EXPONENT = 4096  # of a variable in a polynomial
MAX_BALL_BITS = 4096  # of a lower bound by ball arithmetic
MAX_NESTING = 32  # of expressions
MAX_DIGITS = 600  # below every limit that Python can set on int <-> str (at least 640)

# Limits of this checker: beyond them the verdict is `unsupported`.
LIMIT_VALUES = 3_000_000  # JSON values in a file: at most some 300 MB once parsed
LIMIT_PARAMETERS = 5_000_000  # of a network whose Jacobian is sampled
LIMIT_STORAGE = 4_000_000  # numbers held while one sample is evaluated
LIMIT_SCORES = 100_000  # of normalised heads, per sample
LIMIT_BYTES = 4 * 2**30  # memory of a minor
LIMIT_SECONDS = 600.0  # predicted, see `predicted_seconds`
LIMIT_BALL_BITS = 100_000  # of a number in fixed point
LIMIT_BALL_EXPONENT = 2**20  # largest difference of two scores
LIMIT_WORK = 10_000_000  # elementary steps in degree sets and in normal forms
LIMIT_BITS = 300_000  # of a rational number that arises on the way
LIMIT_HELD = 2**29  # bytes of terms or numbers held at a time, estimated
LIMIT_VECTORS = 500_000  # tangent vectors of all strata of one layer
LIMIT_ENTRIES = 4_000  # d (d + d') of a layer whose closure's degree is claimed
LIMIT_FORMS = 10_000_000  # terms added in the forms and variations of the method `symmetry`
LIMIT_SYMMETRY = 1_000  # parameters, and layers, of a network with the method `symmetry`
LIMIT_ELIMINATION = 300_000_000  # multiplications for the rank of its directions
LIMIT_PARTS = 50  # in its steps
LIMIT_PART_SECONDS = 30.0  # predicted for the Jacobians of all of them
MAX_FIELD_DEGREE = 64  # of its fields

TOO_LONG = 10**MAX_DIGITS
FORMAT = "lightningalg-certificate"
NOT_MARKS = bytes(set(range(256)) - set(b'"[]{},'))
DEPTH = {**dict.fromkeys(b"[{", 1), **dict.fromkeys(b"]}", -1), **dict.fromkeys(b",", 0)}
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
SEED = re.compile(r"[A-Za-z0-9_.-]{1,64}")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{0,31}")
NUMBER = re.compile(r"-?[1-9][0-9]*(/[1-9][0-9]*)?")

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer for one certificate (§7): the claim in words, or the reason and, if invalid, the check."""

    verdict: str  # "valid", "invalid" or "unsupported"
    check: str | None = None
    reason: str | None = None
    claim: str | None = None
    seconds: float = 0.0

    def __str__(self) -> str:
        if self.verdict == "valid":
            return f"valid\n    {self.claim}"
        return ": ".join(part for part in (self.verdict, self.check, self.reason) if part)


class InvalidError(Exception):
    """A check failed: ``InvalidError(check, found)``."""

    def __init__(self, check: str, found: str) -> None:
        super().__init__(check, found)
        self.check, self.found = check, found


class UnsupportedError(Exception):
    """Something this checker does not know, cannot read, or finds too large."""


def require(condition: bool, check: str, found: str, *values: Any) -> None:
    """Fail unless the condition holds; the values fill the ``{}`` of the message."""
    if not condition:
        raise InvalidError(check, found.format(*map(show, values)) if values else found)


def require_supported(condition: bool, what: str, *values: Any) -> None:
    if not condition:
        raise UnsupportedError(what.format(*map(show, values)) if values else what)


def show(value: Any, limit: int = 120) -> str:
    """A JSON value for a message: one line, ASCII, short."""
    text = value if isinstance(value, RawText) else json.dumps(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


class RawText(str):
    """Text that is already fit for a message."""

    __slots__ = ()


# ------------------------------------------------------------------------------------------------------------
# §1  The file: bytes -> JSON -> checked numbers
# ------------------------------------------------------------------------------------------------------------


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a regular file of at most 64 MiB; type and size are examined before it is read."""

    def examine(info: os.stat_result) -> None:
        require_supported(stat.S_ISREG(info.st_mode), "unreadable: not a regular file")
        require(info.st_size <= MAX_BYTES, "json", f"{info.st_size} bytes, at most {MAX_BYTES} are allowed")

    try:
        examine(os.stat(path))
        # O_NONBLOCK: should the file be exchanged for a FIFO in between, opening it must not wait.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(path, flags), "rb") as file:
            examine(os.fstat(file.fileno()))
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UnsupportedError(f"unreadable: {error.strerror or error}") from None
    except ValueError as error:  # a path with a zero byte
        raise UnsupportedError(f"unreadable: {error}") from None


def scan(data: bytes) -> None:
    """Bound size, number of values and nesting depth before the JSON parser may allocate or recurse.

    Backslashes occur in strings only.  So, up to the first place where the text is not JSON (where the parser
    stops), taking out escaped backslashes and then escaped quotes leaves quotes that open and close strings.
    """
    require(len(data) <= MAX_BYTES, "json", f"more than {MAX_BYTES} bytes")
    require(not data.startswith(b"\xef\xbb\xbf"), "json", "starts with a byte order mark")
    marks = data.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, delete=NOT_MARKS)
    require_supported(marks.count(b'"') <= 2 * LIMIT_VALUES, f"more than {LIMIT_VALUES} JSON strings")
    outside = b"".join(marks.split(b'"')[::2])
    values = len(outside) - outside.count(b"]") - outside.count(b"}")
    require_supported(values <= LIMIT_VALUES, f"more than {LIMIT_VALUES} JSON values")
    depth = max(itertools.accumulate((DEPTH[mark] for mark in outside), initial=0))
    require(depth <= MAX_DEPTH, "json", f"nested {depth} levels deep, at most {MAX_DEPTH} are allowed")


def parse(data: bytes) -> Any:
    """Strict JSON: no duplicate keys, no fractions, exponents, NaN or Infinity, no integer above 2^53."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(items)
        if len(result) < len(items):
            twice = next(key for key, count in Counter(key for key, _ in items).items() if count > 1)
            raise InvalidError("json", f"key {show(twice)} occurs twice in an object")
        return result

    def whole(text: str) -> int:
        if len(text) > 17 or not text.isascii() or abs(int(text)) > MAX_PLAIN_INTEGER:
            raise InvalidError("json", f"integer {show(RawText(text), 40)} above 2^53 must be a string")
        require(text != "-0", "json", "number -0 is written 0")
        return int(text)

    def refuse(text: str) -> Any:
        raise InvalidError("json", f"number {show(RawText(text), 40)} is not an integer")

    scan(data)
    try:
        text = data.decode("utf-8")
        return json.loads(
            text, object_pairs_hook=pairs, parse_int=whole, parse_float=refuse, parse_constant=refuse
        )
    except UnicodeDecodeError as error:
        raise InvalidError("json", f"not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise InvalidError("json", f"{error.msg} at character {error.pos}") from None


def canonical(value: Any) -> str:
    """The canonical text of §1.  It tells 1 from true, which ``==`` of Python does not."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def fields(value: Any, check: str, what: str, keys: Iterable[str]) -> dict[str, Any]:
    """``value``, an object with exactly these keys."""
    if not isinstance(value, dict):
        raise InvalidError(check, f"{what} is {show(value)}, not an object")
    for key in keys:
        require(key in value, check, f"{what} has no key {{}}", key)
    for key in value:
        require(key in keys, check, f"{what} has an unknown key {{}}", key)
    return value


def array(value: Any, check: str, what: str, at_least: int = 0) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidError(check, f"{what} is {show(value)}, not an array")
    require(len(value) >= at_least, check, f"{what} has {len(value)} entries, at least {at_least} are needed")
    return value


def matching(value: Any, pattern: re.Pattern[str], check: str, what: str) -> str:
    """``value``, a string that the pattern matches as a whole."""
    if isinstance(value, str) and pattern.fullmatch(value):
        return value
    raise InvalidError(check, f"{what} is {show(value)}, not a string of the allowed form")


def rational(value: Any, check: str, what: str) -> tuple[int, int]:
    """Numerator and denominator of a number in its one allowed spelling (§1)."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_PLAIN_INTEGER:
        return value, 1
    if isinstance(value, str) and NUMBER.fullmatch(value):
        parts = value.split("/")
        longest = max(len(part.lstrip("-")) for part in parts)
        require_supported(longest <= MAX_DIGITS, f"{what} has {longest} digits")
        if len(parts) == 2:
            p, q = map(int, parts)
            require(q > 1 and math.gcd(p, q) == 1, check, f"{what}: {{}} is not in lowest terms", value)
        else:
            p, q = int(value), 1
            require(abs(p) > MAX_PLAIN_INTEGER, check, f"{what}: {{}} must be a plain integer", value)
        return p, q
    raise InvalidError(check, f"{what} is {show(value)}, not a number of the format")


def integer(value: Any, check: str, what: str, low: int | None = None, high: int | None = None) -> int:
    number, denominator = rational(value, check, what)
    require(denominator == 1, check, f"{what} is {{}}, not an integer", value)
    require(low is None or number >= low, check, f"{what} is {{}}, at least {low} is needed", value)
    require(high is None or number <= high, check, f"{what} is {{}}, at most {high} is allowed", value)
    return number


def encode(number: int) -> int | str:
    """An integer as the format writes it."""
    if abs(number) <= MAX_PLAIN_INTEGER:
        return number
    require_supported(abs(number) < TOO_LONG, f"a number of more than {MAX_DIGITS} digits")
    return str(number)


def compare(check: str, what: str, stated: Any, recomputed: Any) -> None:
    """Equality of JSON values as written; names the first entry of an object that differs."""
    if canonical(stated) == canonical(recomputed):
        return
    if isinstance(stated, dict) and isinstance(recomputed, dict) and set(stated) == set(recomputed):
        for key, value in recomputed.items():
            compare(check, f"{what}.{key}", stated[key], value)
    raise InvalidError(check, f"{what}: stated {show(stated)}, recomputed {show(recomputed)}")


@dataclass(frozen=True, slots=True)
class IndexSet:
    """A set of indices as runs (§1); never expanded before its size has been accepted."""

    runs: tuple[tuple[int, int], ...]

    @classmethod
    def parse(cls, value: Any, check: str, bound: int) -> IndexSet:
        """Runs of indices below ``bound``, in their only spelling."""
        runs: list[tuple[int, int]] = []
        for run in array(value, check, check, at_least=1):
            require(isinstance(run, list) and len(run) == 2, check, "run {} is not [first, last]", run)
            first, last = (integer(entry, check, "index", 0, bound - 1) for entry in run)
            require(first <= last, check, "run {} is decreasing", run)
            in_order = not runs or first >= runs[-1][1] + 2
            require(in_order, check, "run {} does not start two above the one before it", run)
            runs.append((first, last))
        return cls(tuple(runs))

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self.runs)

    def indices(self) -> list[int]:
        return [index for first, last in self.runs for index in range(first, last + 1)]


# ------------------------------------------------------------------------------------------------------------
# §2  Networks
# ------------------------------------------------------------------------------------------------------------

ATTENTION, LINEAR, ACTIVATION, SUM = "lightning_attention", "linear", "monomial_activation", "sum"
BIAS, CONVOLUTION, NORMALIZED = "bias", "convolution", "normalized_attention"
LAYER_KEYS: dict[str, tuple[str, ...]] = {
    ATTENTION: ("d_in", "d_out", "rank"),
    LINEAR: ("d_in", "d_out"),
    ACTIVATION: ("degree",),
    SUM: (),
    BIAS: ("width",),
    CONVOLUTION: ("d_in", "kernel", "stride", "channels"),
    NORMALIZED: ("d_in", "d_out", "rank"),
}
HEADS = (ATTENTION, NORMALIZED)
MAY_BE_TIED = (*HEADS, LINEAR, BIAS, CONVOLUTION)


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer; ``inputs`` are nodes: 0 is the input X, i the i-th layer.  ``owner``, if not 0, is the node
    whose matrices a tied layer uses."""

    id: str
    type: str
    inputs: tuple[int, ...]
    d_in: int
    d_out: int
    rank: int = 0
    degree: int = 0
    kernel: int = 0
    stride: int = 0
    channels: int = 0
    owner: int = 0

    def shapes(self) -> tuple[tuple[str, int, int], ...]:
        """(name, rows, columns) of the matrices that the value is made with, in order."""
        if self.type in HEADS:
            return (("Q", self.rank, self.d_in), ("K", self.rank, self.d_in), ("V", self.d_out, self.d_in))
        if self.type == LINEAR:
            return (("W", self.d_out, self.d_in),)
        if self.type == BIAS:
            return (("b", self.d_out, 1),)
        return (("W", self.channels, self.kernel),) if self.type == CONVOLUTION else ()

    def matrices(self) -> tuple[tuple[str, int, int], ...]:
        """The same of the layer's own parameter matrices."""
        return () if self.owner else self.shapes()

    @property
    def positions(self) -> int:
        """Number of windows of a convolution; 1 for other layers."""
        return (self.d_in - self.kernel) // self.stride + 1 if self.type == CONVOLUTION else 1

    def fits(self, other: Layer) -> bool:
        """Equal type and sizes (d_out follows from the sizes)."""
        mine, others = (
            (x.type, x.d_in, x.d_out, x.rank, x.kernel, x.stride, x.channels) for x in (self, other)
        )
        return mine == others


@dataclass(frozen=True, slots=True)
class Network:
    """A network whose shapes fit; node 0 is the input, node i the i-th layer."""

    tokens: int
    width: int
    layers: tuple[Layer, ...]
    consumers: tuple[tuple[int, ...], ...]  # of each node: the nodes that read it
    output: int  # node
    sharing: frozenset[int] = frozenset()  # nodes of tied layers and of their owners

    @property
    def d_out(self) -> int:
        return self.layers[self.output - 1].d_out

    def node_width(self, node: int) -> int:
        return self.layers[node - 1].d_out if node else self.width

    def matrices(self) -> list[tuple[Layer, str, int, int]]:
        return [(layer, *matrix) for layer in self.layers for matrix in layer.matrices()]

    def parameters(self) -> int:
        return sum(rows * columns for _, _, rows, columns in self.matrices())

    def is_chain(self, kind: str) -> bool:
        """Every layer is an untied one of this type that reads the layer before it (the first: the input)."""
        return (
            all(x.type == kind and x.inputs == (i,) for i, x in enumerate(self.layers)) and not self.sharing
        )

    @property
    def has_softmax(self) -> bool:
        """Whether an exponential occurs in the values; on one token every softmax is 1."""
        return self.tokens > 1 and any(layer.type == NORMALIZED for layer in self.layers)

    def __str__(self) -> str:
        tail = f"tokens {self.tokens}"
        kind = self.layers[0].type
        if kind in HEADS and self.is_chain(kind) and len(self.layers) <= 12:
            widths = ",".join(str(self.node_width(node)) for node in range(len(self.layers) + 1))
            ranks = ",".join(str(layer.rank) for layer in self.layers)
            return f"{kind} chain, widths {widths}, ranks {ranks}, {tail}"
        kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(x.type for x in self.layers).items())
        if tied := sum(x.owner > 0 for x in self.layers):
            kinds += f" ({tied} tied)"
        return f"network of {kinds}, width {self.width} to {self.d_out}, {tail}"


def parse_layer(value: Any, nodes: dict[str, int], widths: list[int], before: list[Layer]) -> Layer:
    """One entry of ``layers``, given the nodes before it."""
    require(isinstance(value, dict), "network", "layer {} is not an object", value)
    kind = value.get("type")
    require(isinstance(kind, str), "network", "layer type {} is not a string", kind)
    require_supported(kind in LAYER_KEYS, "layer type {}", kind)
    tied = kind in MAY_BE_TIED and "weights" in value
    fields(value, "network", "layer", ("id", "inputs", "type", *LAYER_KEYS[kind], *["weights"] * tied))
    name = matching(value["id"], IDENTIFIER, "network", "layer id")
    require(name not in nodes, "network", "layer id {} is taken", name)
    inputs = []
    for source in array(value["inputs"], "network", f"inputs of {name}"):
        if not (isinstance(source, str) and source in nodes):
            raise InvalidError("network", f"input {show(source)} of {name} is not an earlier layer")
        inputs.append(nodes[source])
    size = {key: integer(value[key], "network", f"{key} of {name}", 1, MAX_SIZE) for key in LAYER_KEYS[kind]}
    count = len(inputs)
    if kind == SUM:
        require(count >= 2, "network", f"sum {name} has {count} inputs, at least 2 are needed")
    else:
        require(count == 1, "network", f"{kind} {name} has {count} inputs, one is needed")
    if kind == BIAS:
        size["d_in"] = size.pop("width")
    if kind == CONVOLUTION:
        d_in, kernel = size["d_in"], size["kernel"]
        require(kernel <= d_in, "network", f"{name} has kernel {kernel} for an input of width {d_in}")
        size["d_out"] = size["channels"] * ((d_in - kernel) // size["stride"] + 1)
        require(size["d_out"] <= MAX_SIZE, "network", f"{name} has width {size['d_out']}")
    width = size.setdefault("d_in", widths[inputs[0]])
    size.setdefault("d_out", width)
    for node in inputs:
        require(widths[node] == width, "network", f"{name} needs width {width}, its input has {widths[node]}")
    layer = Layer(id=name, type=kind, inputs=tuple(inputs), **size)
    if not tied:
        return layer
    source = value["weights"]
    if not (isinstance(source, str) and nodes.get(source)):
        raise InvalidError("network", f"weights {show(source)} of {name} is not an earlier layer")
    owner = before[nodes[source] - 1]
    require(owner.owner == 0, "network", f"{name} takes its weights from {source}, which has none of its own")
    require(layer.fits(owner), "network", f"{name} and {source} differ in type or sizes")
    return Layer(id=name, type=kind, inputs=tuple(inputs), owner=nodes[source], **size)


def parse_network(value: Any) -> Network:
    """The network of a certificate, with all its shapes checked."""
    fields(value, "network", "network", ("tokens", "width", "layers"))
    tokens = integer(value["tokens"], "network", "tokens", 1, MAX_SIZE)
    widths = [integer(value["width"], "network", "width", 1, MAX_SIZE)]
    entries = array(value["layers"], "network", "layers", at_least=1)
    require(len(entries) <= MAX_LAYERS, "network", f"{len(entries)} layers, at most {MAX_LAYERS} are allowed")
    nodes = {"input": 0}
    layers: list[Layer] = []
    consumers: list[list[int]] = [[]]
    for entry in entries:
        layer = parse_layer(entry, nodes, widths, layers)
        layers.append(layer)
        node = nodes[layer.id] = len(layers)
        widths.append(layer.d_out)
        consumers.append([])
        for source in dict.fromkeys(layer.inputs):
            consumers[source].append(node)
    types = {layer.type for layer in layers}
    require(not {NORMALIZED, ACTIVATION} <= types, "network", f"has both {NORMALIZED} and {ACTIVATION}")
    outputs = [node for node in range(1, len(consumers)) if not consumers[node]]
    if len(outputs) != 1:
        raise InvalidError("network", f"{len(outputs)} layers are no other layer's input, one is needed")
    sharing = frozenset(n for i, x in enumerate(layers, start=1) if x.owner for n in (i, x.owner))
    return Network(tokens, widths[0], tuple(layers), tuple(map(tuple, consumers)), outputs[0], sharing)


# ------------------------------------------------------------------------------------------------------------
# §3  Values by rule
# ------------------------------------------------------------------------------------------------------------


def stream_modulo(seed: str | None, label: str, count: int, prime: int) -> tuple[int, ...]:
    """The first ``count`` values of the stream of a label: SHA-256 in counter mode, modulo p."""
    start = hashlib.sha256(f"{FORMAT}/1|{seed}|{label}|".encode("ascii"))
    digests = []
    for block in range(-(-count // 8)):
        state = start.copy()
        state.update(b"%d" % block)
        digests.append(state.digest())
    words = struct.unpack(f">{8 * len(digests)}I", b"".join(digests))
    return tuple([word % prime for word in words[:count]])


@dataclass(frozen=True, slots=True)
class Sampling:
    """Residues for the parameters, the inputs X_j and the functionals Y_j."""

    network: Network
    prime: int
    seed: str | None
    parameter_values: tuple[int, ...] = ()
    sample_values: tuple[tuple[tuple[int, ...], ...], ...] = ()  # input, functional, exponentials of each

    @property
    def samples(self) -> int:
        """How many samples there are."""
        return MAX_SAMPLES if self.seed is not None else min(MAX_SAMPLES, len(self.sample_values))

    def stream(self, label: str, count: int) -> tuple[int, ...]:
        """The first ``count`` values of the stream of a label."""
        return stream_modulo(self.seed, label, count, self.prime)

    def parameters(self, number: int = 0) -> tuple[int, ...]:
        """The parameter point, or a further one (by seed only)."""
        if self.seed is None:
            return self.parameter_values
        return self.stream(f"parameters/{number}" if number else "parameters", self.network.parameters())

    def exponentials(self, sample: int, count: int) -> tuple[int, ...]:
        """The residues that stand for the exponentials of a sample."""
        if self.seed is None:
            return self.sample_values[sample][2]
        return self.stream(f"exponential/{sample}", count)

    def input(self, sample: int) -> tuple[int, ...]:
        if self.seed is None:
            return self.sample_values[sample][0]
        return self.stream(f"input/{sample}", self.network.width * self.network.tokens)

    def functional(self, sample: int) -> tuple[int, ...]:
        if self.seed is None:
            return self.sample_values[sample][1]
        return self.stream(f"functional/{sample}", self.network.d_out * self.network.tokens)


def parse_sampling(value: Any, network: Network, prime: int) -> Sampling:
    """Either rule of §3; explicit values become residues here, which needs their denominators prime to p."""

    def residues(values: Any, what: str, count: int) -> tuple[int, ...]:
        entries = array(values, "sampling", what)
        require(len(entries) == count, "sampling", f"{what} has {len(entries)} values, {count} are needed")
        result = []
        for entry in entries:
            p, q = rational(entry, "sampling", f"value in {what}")
            require(q % prime != 0, "sampling", f"{what}: {prime} divides the denominator of {{}}", entry)
            result.append(p * pow(q, -1, prime) % prime if q > 1 else p % prime)
        return tuple(result)

    require(isinstance(value, dict), "sampling", "sampling is {}, not an object", value)
    rule = value.get("rule")
    if rule == "sha256-counter":
        fields(value, "sampling", "sampling", ("rule", "seed"))
        return Sampling(network, prime, seed=matching(value["seed"], SEED, "sampling", "seed"))
    require(isinstance(rule, str), "sampling", "rule is {}, not a string", rule)
    require_supported(rule == "explicit", "sampling rule {}", rule)
    fields(value, "sampling", "sampling", ("rule", "parameters", "samples"))
    parameters = residues(value["parameters"], "parameters", network.parameters())
    samples = []
    powers = exponents_of(network).count if network.has_softmax else 0
    for number, sample in enumerate(array(value["samples"], "sampling", "samples")):
        keys = ("input", "functional", *["exponentials"] * network.has_softmax)
        fields(sample, "sampling", f"sample {number}", keys)
        x = residues(sample["input"], f"input {number}", network.width * network.tokens)
        y = residues(sample["functional"], f"functional {number}", network.d_out * network.tokens)
        e = residues(sample.get("exponentials", []), f"exponentials {number}", powers)
        samples.append((x, y, e))
    return Sampling(network, prime, None, parameters, tuple(samples))


@dataclass(frozen=True, slots=True)
class ScoreExponents:
    """The exponents of one sample (§4.1): for the node of each normalised layer the numbers of its scores.

    ``first`` has for each number the node, row and column where it occurs first.
    """

    numbers: dict[int, list[list[int]]]
    first: list[tuple[int, int, int]]

    @property
    def count(self) -> int:
        return len(self.first)


def has_rank_one(network: Network) -> list[bool]:
    """Of each node whether its value is w p^T, a column times a row, whatever the parameters and X (§4.1)."""
    found = [network.width == 1]
    for layer in network.layers:
        kept = layer.type in (*HEADS, LINEAR, ACTIVATION, CONVOLUTION) and found[layer.inputs[0]]
        found.append(layer.d_out == 1 or kept or (layer.type == ATTENTION and layer.rank == 1))
    return found


def exponents_of(network: Network) -> ScoreExponents:
    """Scores have one exponent if their heads share matrices and input, at places that are equal there."""
    t = network.tokens
    heads = [node for node, layer in enumerate(network.layers, start=1) if layer.type == NORMALIZED]
    require_supported(len(heads) * t * t <= LIMIT_SCORES, f"{len(heads)} heads on {t} tokens")
    rank_one = has_rank_one(network)
    known: dict[tuple[int, int, int, int], int] = {}
    exponents = ScoreExponents({}, [])
    for node in heads:
        layer = network.layers[node - 1]
        source = layer.inputs[0]
        table = exponents.numbers[node] = [[0] * t for _ in range(t)]
        for s, m in itertools.product(range(t), repeat=2):
            place = (min(s, m), max(s, m)) if rank_one[source] else (s, m)
            key = (layer.owner or node, source, *place)
            if key not in known:
                known[key] = len(known)
                exponents.first.append((node, s, m))
            table[s][m] = known[key]
    return exponents


# The sampled Jacobian.  One evaluator for two arithmetics: lists of Python integers, one sample at a time, or
# numpy arrays, many samples at a time.  Row j is found by differentiating backwards from the functional Y_j:
# the adjoint of a node is the derivative of <Y_j, f(X_j)> by its value.


class PlainArithmetic:
    """Matrices over Z/p as lists of rows of Python integers in [0, p)."""

    def __init__(self, prime: int) -> None:
        self.prime = prime

    def product(self, a: Any, b: Any) -> Any:
        columns = list(zip(*b, strict=True))
        return [[sum(map(mul, row, column)) % self.prime for column in columns] for row in a]

    def transpose(self, a: Any) -> Any:
        return [list(column) for column in zip(*a, strict=True)]

    def add(self, a: Any, b: Any) -> Any:
        return [[(x + y) % self.prime for x, y in zip(r, s, strict=True)] for r, s in zip(a, b, strict=True)]

    def entrywise_product(self, a: Any, b: Any) -> Any:
        return [[x * y % self.prime for x, y in zip(r, s, strict=True)] for r, s in zip(a, b, strict=True)]

    def power(self, a: Any, exponent: int) -> Any:
        return [[pow(x, exponent, self.prime) for x in row] for row in a]

    def multiple(self, a: Any, factor: int) -> Any:
        return [[x * factor % self.prime for x in row] for row in a]

    def add_column(self, a: Any, column: Any) -> Any:
        return [[(x + y) % self.prime for x in row] for row, (y,) in zip(a, column, strict=True)]

    def ones_row(self, a: Any) -> Any:
        """A row of ones as long as those of a."""
        return [[1] * len(a[0])]

    def reshape(self, a: Any, rows: int) -> Any:
        """The same entries, row by row, in another number of rows."""
        entries = [x for row in a for x in row]
        return chop(entries, len(entries) // rows)

    def windows(self, a: Any, layer: Layer) -> Any:
        """The kernel x (P t) matrix with the entry a[i stride + j, k] in row j and column i t + k."""
        starts = range(0, layer.positions * layer.stride, layer.stride)
        return [[x for start in starts for x in a[start + j]] for j in range(layer.kernel)]

    def add_windows(self, a: Any, layer: Layer) -> Any:
        """The transpose of the linear map `windows`: every entry is added to where it came from."""
        tokens = len(a[0]) // layer.positions
        result = [[0] * tokens for _ in range(layer.d_in)]
        for j, row in enumerate(a):
            for i, part in enumerate(chop(row, tokens)):
                place = i * layer.stride + j
                result[place] = [x + y for x, y in zip(result[place], part, strict=True)]
        return [[x % self.prime for x in row] for row in result]

    def join(self, parts: list[Any]) -> Any:
        """Matrices of equal height, side by side."""
        return [[x for part in rows for x in part] for rows in zip(*parts, strict=True)]

    def column_sums(self, a: Any) -> Any:
        return [[sum(column) % self.prime for column in zip(*a, strict=True)]]

    def inverses(self, a: Any) -> Any:
        """The inverses of all entries."""
        require(all(x for row in a for x in row), "denominator", "a softmax divides by zero")
        return [[pow(x, -1, self.prime) for x in row] for row in a]

    def scale_columns(self, a: Any, row: Any) -> Any:
        """Each column times the entry of a row."""
        return [[x * y % self.prime for x, y in zip(r, row[0], strict=True)] for r in a]

    @staticmethod
    def table(values: Any, numbers: list[list[int]]) -> Any:
        """The matrix of the values with these numbers."""
        return [[values[number] for number in row] for row in numbers]


class BatchArithmetic:
    """Matrices over Z/p as int64 arrays in [0, p), p < 2^31; values carry a leading axis of samples.

    Exactness.  Entrywise products are below 2^62 and sums below 2^63, so int64 does not overflow.  A matrix
    product splits x = 2^16 x1 + x0 with 0 <= x1 < 2^15, 0 <= x0 < 2^16.  The inner length is a size of §2, at
    most 10^6 < 2^20, so all partial sums of x1*y1, of x0*y0, of x1*y0 and of x0*y1 are integers below
    2^52: float64 holds them exactly, in whatever order the library adds, with or without fused multiply-add.
    """

    def __init__(self, np: Any, prime: int) -> None:
        self.np, self.prime = np, prime

    def product(self, a: Any, b: Any) -> Any:
        np, p = self.np, self.prime
        a1, a0 = (a >> 16).astype(np.float64), (a & 0xFFFF).astype(np.float64)
        b1, b0 = (b >> 16).astype(np.float64), (b & 0xFFFF).astype(np.float64)
        high = np.matmul(a1, b1).astype(np.int64) % p * (2**32 % p)
        middle = (np.matmul(a1, b0).astype(np.int64) + np.matmul(a0, b1).astype(np.int64)) % p << 16
        return (high + middle + np.matmul(a0, b0).astype(np.int64)) % p  # below 2^62 + 2^47 + 2^52

    def transpose(self, a: Any) -> Any:
        return self.np.swapaxes(a, -1, -2)

    def add(self, a: Any, b: Any) -> Any:
        return (a + b) % self.prime

    def entrywise_product(self, a: Any, b: Any) -> Any:
        return a * b % self.prime

    def power(self, a: Any, exponent: int) -> Any:
        result = self.np.ones_like(a)
        while exponent:
            if exponent & 1:
                result = result * a % self.prime
            a = a * a % self.prime
            exponent >>= 1
        return result

    def multiple(self, a: Any, factor: int) -> Any:
        return a * (factor % self.prime) % self.prime

    def add_column(self, a: Any, column: Any) -> Any:
        return (a + column) % self.prime

    def ones_row(self, a: Any) -> Any:
        return self.np.ones_like(a[..., :1, :])

    def reshape(self, a: Any, rows: int) -> Any:
        return a.reshape(*a.shape[:-2], rows, a.shape[-2] * a.shape[-1] // rows)

    def windows(self, a: Any, layer: Layer) -> Any:
        places = [a[..., self.places(j, layer), :] for j in range(layer.kernel)]
        return self.reshape(self.np.concatenate(places, axis=-2), layer.kernel)

    def add_windows(self, a: Any, layer: Layer) -> Any:
        np, positions = self.np, layer.positions
        parts = self.reshape(a, layer.kernel * positions)
        result = np.zeros((*a.shape[:-2], layer.d_in, parts.shape[-1]), dtype=np.int64)
        for j in range(layer.kernel):  # at most 10^6 summands below 2^31
            result[..., self.places(j, layer), :] += parts[..., j * positions : (j + 1) * positions, :]
        return result % self.prime

    def places(self, j: int, layer: Layer) -> slice:
        """The rows i stride + j."""
        return slice(j, j + (layer.positions - 1) * layer.stride + 1, layer.stride)

    def join(self, parts: list[Any]) -> Any:
        return self.np.concatenate(parts, axis=-1)

    def column_sums(self, a: Any) -> Any:
        return a.sum(axis=-2, keepdims=True) % self.prime  # at most 10^6 summands below 2^31

    def inverses(self, a: Any) -> Any:
        require(bool((a != 0).all()), "denominator", "a softmax divides by zero")
        return self.power(a, self.prime - 2)

    def scale_columns(self, a: Any, row: Any) -> Any:
        return a * row % self.prime


Factors = list[tuple[Any, Any]]
Rows = list[list[int]]


def layer_weights(network: Network, parameters: list[Any]) -> list[list[Any]]:
    """For each layer the matrices that its value is made with, from one matrix per parameter matrix."""
    weights: list[list[Any]] = []
    position = 0
    for layer in network.layers:
        own = parameters[position : position + len(layer.matrices())]
        weights.append(weights[layer.owner - 1] if layer.owner else own)
        position += len(layer.matrices())
    return weights


def softmax(powers: Any, ring: Any) -> Any:
    """E divided by the sum over its column."""
    return ring.scale_columns(powers, ring.inverses(ring.column_sums(powers)))


def softmax_slope(weights: Any, other: Any, ring: Any) -> Any:
    """S*C - S*(column sums of S*C), the derivative of the softmax S in the direction C, as dE = E dz.

    It is symmetric, hence the adjoint of the scores as well, if C is that of S.
    """
    weighted = ring.entrywise_product(weights, other)
    total = ring.scale_columns(weights, ring.column_sums(weighted))
    return ring.add(weighted, ring.multiple(total, -1))


def node_values(
    network: Network, weights: list[list[Any]], x: Any, powers: Any, ring: Any
) -> tuple[list[Any], list[Any]]:
    """The values of all nodes; and intermediate products of attention layers, windows of convolutions.

    ``x`` is X (d x t), ``powers`` has the matrix of exponentials for each normalised layer's node; it is None
    if the ring has exponentials of its own.
    """
    product, transpose = ring.product, ring.transpose
    values: list[Any] = [x]
    kept: list[Any] = [None]
    for node, (layer, own) in enumerate(zip(network.layers, weights, strict=True), start=1):
        source = values[layer.inputs[0]]
        middle = None
        if layer.type == ATTENTION:  # V X (K X)^T (Q X)
            queries, keys, vectors = (product(matrix, source) for matrix in own)
            left = product(vectors, transpose(keys))  # V X (K X)^T, d_out x rank
            middle = queries, keys, vectors, left
            value = product(left, queries)
        elif layer.type == NORMALIZED:  # V X S
            queries, keys, vectors = (product(matrix, source) for matrix in own)
            if network.tokens == 1:
                mixing = None
            elif powers is None:
                mixing = ring.softmax(product(transpose(keys), queries))
            else:
                mixing = softmax(powers[node], ring)
            middle = queries, keys, vectors, mixing
            value = vectors if mixing is None else product(vectors, mixing)
        elif layer.type == LINEAR:
            value = product(own[0], source)
        elif layer.type == ACTIVATION:
            value = ring.power(source, layer.degree)
        elif layer.type == BIAS:
            value = ring.add_column(source, own[0])
        elif layer.type == CONVOLUTION:
            middle = ring.windows(source, layer)
            value = ring.reshape(product(own[0], middle), layer.d_out)
        else:
            value = source
            for other in layer.inputs[1:]:
                value = ring.add(value, values[other])
        values.append(value)
        kept.append(middle)
    return values, kept


def gradient_factors(
    network: Network, parameters: list[Any], x: Any, y: Any, powers: Any, ring: Any
) -> Factors:
    """For each parameter matrix P, matrices (U, Z) of equal numbers of columns with d<Y, f(X)>/dP = U Z^T.

    ``parameters`` has one matrix per parameter matrix, ``x`` is X (d x t), ``y`` is Y (d_out x t), ``powers``
    are the exponentials.
    """
    product, transpose = ring.product, ring.transpose
    weights = layer_weights(network, parameters)
    values, kept = node_values(network, weights, x, powers, ring)

    adjoint: list[Any] = [None] * len(values)
    adjoint[network.output] = y
    found: list[list[Factors]] = [[] for _ in values]  # for each owner: the factors at each of its uses

    def pass_back(node: int, term: Any) -> None:
        if node:  # the derivative by X itself is not needed
            adjoint[node] = term if adjoint[node] is None else ring.add(adjoint[node], term)

    for node in range(len(network.layers), 0, -1):
        layer, own, g = network.layers[node - 1], weights[node - 1], adjoint[node]
        first = layer.inputs[0]
        source = values[first]
        uses = found[layer.owner or node]
        if layer.type in (ATTENTION, NORMALIZED):
            slopes = attention_slopes if layer.type == ATTENTION else normalized_slopes
            adjoints = slopes(kept[node], g, ring)
            uses.append([(factor, source) for factor in adjoints])
            if first:
                for matrix, factor in zip(own, adjoints, strict=True):
                    pass_back(first, product(transpose(matrix), factor))
        elif layer.type == LINEAR:
            uses.append([(g, source)])
            if first:
                pass_back(first, product(transpose(own[0]), g))
        elif layer.type == BIAS:
            uses.append([(g, ring.ones_row(g))])
            pass_back(first, g)
        elif layer.type == CONVOLUTION:
            by_product = ring.reshape(g, layer.channels)
            uses.append([(by_product, kept[node])])
            if first:
                pass_back(first, ring.add_windows(product(transpose(own[0]), by_product), layer))
        elif layer.type == ACTIVATION:
            slope = ring.multiple(ring.power(source, layer.degree - 1), layer.degree)
            pass_back(first, ring.entrywise_product(slope, g))
        else:
            for source_node in layer.inputs:
                pass_back(source_node, g)
        adjoint[node] = None
    return joined_factors(found, ring)


def attention_slopes(kept: Any, g: Any, ring: Any) -> tuple[Any, Any, Any]:
    """The adjoints of Q X, K X and V X, where ``g`` is that of the head's value."""
    product, transpose = ring.product, ring.transpose
    queries, keys, vectors, left = kept
    by_left = product(g, transpose(queries))  # by V X (K X)^T
    return product(transpose(left), g), product(transpose(by_left), vectors), product(by_left, keys)


def normalized_slopes(kept: Any, g: Any, ring: Any) -> tuple[Any, Any, Any]:
    """The same for a head with a softmax."""
    product, transpose = ring.product, ring.transpose
    queries, keys, vectors, mixing = kept
    if mixing is None:  # one token: the value is V X
        return ring.multiple(queries, 0), ring.multiple(keys, 0), g
    by_scores = softmax_slope(mixing, product(transpose(vectors), g), ring)
    return product(keys, by_scores), product(queries, transpose(by_scores)), product(g, transpose(mixing))


def joined_factors(found: list[list[Factors]], ring: Any) -> Factors:
    """For each matrix the sum over its uses: U1 Z1^T + U2 Z2^T + ... = (U1 U2 ...) (Z1 Z2 ...)^T."""
    factors: Factors = []
    for uses in found:
        for matrix in zip(*uses, strict=True):
            left_right = [list(side) for side in zip(*matrix, strict=True)]
            u, z = (side[0] if len(side) == 1 else ring.join(side) for side in left_right)
            factors.append((u, z))
    return factors


@dataclass(frozen=True, slots=True)
class Selection:
    """The asked-for columns within one parameter matrix: entries ``rows[k], columns[k]``."""

    matrix: int
    rows: list[int]
    columns: list[int]


def select_columns(network: Network, columns: list[int]) -> list[Selection]:
    """Parameter numbers, increasing, as positions in parameter matrices."""
    result = []
    offset = position = 0
    for number, (_, _, rows, width) in enumerate(network.matrices()):
        end = position
        while end < len(columns) and columns[end] < offset + rows * width:
            end += 1
        if end > position:
            places = [divmod(column - offset, width) for column in columns[position:end]]
            result.append(Selection(number, [i for i, _ in places], [j for _, j in places]))
        offset, position = offset + rows * width, end
    return result


def chop(values: Sequence[int], width: int) -> list[list[int]]:
    return [list(values[start : start + width]) for start in range(0, len(values), width)]


def plain_parameters(sampling: Sampling, number: int = 0) -> list[Any]:
    """The parameter matrices of a point as lists of rows."""
    flat = sampling.parameters(number)
    parameters = []
    offset = 0
    for _, _, height, width in sampling.network.matrices():
        parameters.append(chop(flat[offset : offset + height * width], width))
        offset += height * width
    return parameters


def plain_powers(sampling: Sampling, exponents: ScoreExponents, sample: int) -> dict[int, Any]:
    """The exponentials of a sample, for the node of each normalised layer."""
    values = sampling.exponentials(sample, exponents.count) if exponents.count else ()
    return {node: PlainArithmetic.table(values, table) for node, table in exponents.numbers.items()}


def plain_minor(sampling: Sampling, rows: list[int], columns: list[int], report: Report) -> list[list[int]]:
    """The asked-for rows and columns of the sampled Jacobian, in Python integers."""
    network, prime = sampling.network, sampling.prime
    ring = PlainArithmetic(prime)
    parameters = plain_parameters(sampling)
    exponents = exponents_of(network) if network.has_softmax else ScoreExponents({}, [])
    chosen = select_columns(network, columns)
    minor = []
    for number, sample in enumerate(rows):
        report(f"row {number + 1} of {len(rows)}")
        x = chop(sampling.input(sample), network.tokens)
        y = chop(sampling.functional(sample), network.tokens)
        powers = plain_powers(sampling, exponents, sample)
        factors = gradient_factors(network, parameters, x, y, powers, ring)
        row: list[int] = []
        for part in chosen:
            u, z = factors[part.matrix]
            row.extend(
                sum(map(mul, u[i], z[j])) % prime for i, j in zip(part.rows, part.columns, strict=True)
            )
        minor.append(row)
    return minor


def batch_parameters(np: Any, sampling: Sampling, number: int = 0) -> list[Any]:
    """The parameter matrices of a point as arrays."""
    flat = np.array(sampling.parameters(number), dtype=np.int64)
    parameters = []
    offset = 0
    for _, _, height, width in sampling.network.matrices():
        parameters.append(flat[offset : offset + height * width].reshape(height, width))
        offset += height * width
    return parameters


def batch_powers(
    np: Any, sampling: Sampling, exponents: ScoreExponents, samples: list[int]
) -> dict[int, Any]:
    """The exponentials of some samples, for the node of each normalised layer."""
    if not exponents.count:
        return {}
    values = np.array([sampling.exponentials(j, exponents.count) for j in samples], dtype=np.int64)
    return {node: values[:, np.array(table)] for node, table in exponents.numbers.items()}


def batch_minor(np: Any, sampling: Sampling, rows: list[int], columns: list[int], report: Report) -> Any:
    """The same as an array of float64 (integers in [0, p)), evaluated for many samples at a time."""
    network, prime = sampling.network, sampling.prime
    ring = BatchArithmetic(np, prime)
    parameters = batch_parameters(np, sampling)
    exponents = exponents_of(network) if network.has_softmax else ScoreExponents({}, [])
    chosen = [
        (part.matrix, np.array(part.rows, dtype=np.int64), np.array(part.columns, dtype=np.int64))
        for part in select_columns(network, columns)
    ]
    minor = np.empty((len(rows), len(columns)), dtype=np.float64)
    size = batch_size(network, len(columns))
    for start in range(0, len(rows), size):
        report(f"row {start + 1} of {len(rows)}")
        batch = rows[start : start + size]
        shape = len(batch), -1, network.tokens
        x = np.array([sampling.input(sample) for sample in batch], dtype=np.int64).reshape(shape)
        y = np.array([sampling.functional(sample) for sample in batch], dtype=np.int64).reshape(shape)
        powers = batch_powers(np, sampling, exponents, batch)
        factors = gradient_factors(network, parameters, x, y, powers, ring)
        position = 0
        for matrix, i, j in chosen:
            u, z = factors[matrix]
            entries = np.zeros((len(batch), len(i)), dtype=np.int64)
            for column in range(u.shape[-1]):  # each product is below 2^62
                entries = (entries + u[:, i, column] * z[:, j, column]) % prime
            minor[start : start + size, position : position + len(i)] = entries
            position += len(i)
    return minor


# ------------------------------------------------------------------------------------------------------------
# Determinants modulo p
# ------------------------------------------------------------------------------------------------------------


def is_prime(n: int) -> bool:
    """Miller-Rabin with bases 2, 3, 5, 7, which decides every n < 3,215,031,751.

    Pomerance, Selfridge, Wagstaff, The pseudoprimes to 25*10^9, Math. Comp. 35 (1980).
    """
    assert n < 2**31
    bases = (2, 3, 5, 7)
    if n < 2 or any(n % base == 0 for base in bases):
        return n in bases
    exponent = ((n - 1) & (1 - n)).bit_length() - 1  # n - 1 = odd * 2^exponent
    odd = (n - 1) >> exponent
    for base in bases:
        x = pow(base, odd, n)
        if x == 1:
            continue
        for _ in range(exponent):
            if x == n - 1:
                break
            x = x * x % n
        else:
            return False
    return True


def plain_determinant(rows: list[list[int]], prime: int, report: Report) -> int:
    """Gaussian elimination over Z/p: take out the first column again and again."""
    determinant = 1
    while rows:
        report(f"{len(rows)} columns left")
        pivot = next((i for i, row in enumerate(rows) if row[0]), None)
        if pivot is None:
            return 0
        row = rows.pop(pivot)  # moving row `pivot` to the top: sign (-1)^pivot
        determinant = determinant * (row[0] if pivot % 2 == 0 else -row[0]) % prime
        inverse = pow(row[0], -1, prime)
        rest = row[1:]
        reduced = []
        for other in rows:
            factor = other[0] * inverse % prime
            pairs = zip(other[1:], rest, strict=True)
            reduced.append([(x - factor * y) % prime for x, y in pairs])
        rows = reduced
    return determinant


class BatchDeterminant:
    """Determinant of a float64 matrix of integers modulo p, p < 2^31, by blocked LU decomposition.

    Residues are kept with absolute value at most h = p//2 + 3, as integers in float64, which holds all
    integers up to 2^53, so that sums and products which stay below are computed without rounding.

    Reduction (`reduce`): for an integer |x| <= 2^52 let q = rint(x * fl(1/p)).  The two roundings change x/p
    by at most 2^-51 |x|/p <= 2/p, so |x - q p| <= p/2 + 2 <= h.  As |q p| <= 2^52 + h < 2^53, the integers
    q p and x - q p are computed without rounding.  Whatever is rounded in q, x - q p is congruent to x.
    """

    TILE = 256, 2048  # tiles of the product, so that its temporary values stay in the cache

    def __init__(self, np: Any, prime: int, report: Report) -> None:
        self.np, self.prime, self.report = np, prime, report
        self.bound = prime // 2 + 3
        self.buffers = np.empty((2, self.TILE[0] * self.TILE[1]), dtype=np.float64)

    def reduce(self, x: Any, scratch: Any) -> None:
        np = self.np
        np.multiply(x, 1.0 / self.prime, out=scratch)
        np.rint(scratch, out=scratch)
        np.multiply(scratch, self.prime, out=scratch)
        np.subtract(x, scratch, out=x)

    def subtract_product(self, c: Any, a: Any, b: Any) -> None:
        """C -= A B modulo p, in place.

        Small p: k terms at a time with k h^2 + h <= 2^52, so all partial sums are integers below 2^52.
        Larger p: A = 2^16 A1 + A0 with A1 = rint(A/2^16), so |A0| <= 2^15 and |A1| <= h/2^16 + 1 <= 2^15, and
        k terms at a time with k 2^15 h + 2^17 h <= 2^52: A1 B and A0 B are at most k 2^15 h, the former
        reduced and times 2^16 at most 2^16 h, and C at most k 2^15 h + 2^16 h + h.
        """
        np, h = self.np, self.bound
        terms = (2**52 - h) // (h * h)
        split = terms < 64
        if split:
            terms = (2**52 - (h << 17)) // (h << 15)
        height, width = self.TILE
        for k in range(0, a.shape[1], terms):
            low, right = a[:, k : k + terms], b[k : k + terms]
            if split:
                high = np.rint(low * 2.0**-16)
                low = low - high * 2.0**16
            for i in range(0, c.shape[0], height):
                for j in range(0, c.shape[1], width):
                    tile, columns = c[i : i + height, j : j + width], right[:, j : j + width]
                    result, scratch = (buffer[: tile.size].reshape(tile.shape) for buffer in self.buffers)
                    if split:
                        np.matmul(high[i : i + height], columns, out=result)
                        self.reduce(result, scratch)
                        result *= 2.0**16
                        tile -= result
                    np.matmul(low[i : i + height], columns, out=result)
                    tile -= result
                    self.reduce(tile, scratch)

    def solve(self, lower: Any, b: Any) -> None:
        """B := L^-1 B in place, for unit lower triangular L (only the part below the diagonal is read)."""
        n = len(lower)
        if n <= 16:
            for i in range(1, n):
                self.subtract_product(b[i : i + 1], lower[i : i + 1, :i], b[:i])
            return
        half = n // 2
        self.solve(lower[:half, :half], b[:half])
        self.subtract_product(b[half:], lower[half:, :half], b[:half])
        self.solve(lower[half:, half:], b[half:])

    def decompose(self, a: Any) -> tuple[Any, int]:
        """LU decomposition, in place, of a matrix of at least as many rows as columns.

        Returns the permutation of the rows and its sign, or 0 if the rank is less than the number of columns.
        """
        np = self.np
        height, width = a.shape
        permutation = np.arange(height)
        if width == 1:
            nonzero = np.flatnonzero(a.astype(np.int64)[:, 0] % self.prime)
            if nonzero.size == 0:
                return permutation, 0
            pivot = int(nonzero[0])
            permutation[[0, pivot]] = permutation[[pivot, 0]]
            a[[0, pivot]] = a[[pivot, 0]]
            inverse = pow(int(a[0, 0]), -1, self.prime)
            quotients = a[1:, 0].astype(np.int64) * inverse % self.prime  # |products| below 2^62
            a[1:, 0] = np.where(quotients > self.prime // 2, quotients - self.prime, quotients)
            return permutation, -1 if pivot else 1
        half = width // 2
        permutation, sign = self.decompose(a[:, :half])
        if sign == 0:
            return permutation, 0
        a[:, half:] = a[permutation, half:]
        self.solve(a[:half, :half], a[:half, half:])
        self.subtract_product(a[half:, half:], a[half:, :half], a[:half, half:])
        if height == width and width > 1000:
            self.report(f"{width - half} columns left")
        below, other = self.decompose(a[half:, half:])
        a[half:, :half] = a[half:, :half][below]
        permutation[half:] = permutation[half:][below]
        return permutation, sign * other

    def __call__(self, matrix: Any) -> int:
        """The determinant of a square matrix of integers in [0, p), which is overwritten."""
        matrix[matrix > self.prime // 2] -= self.prime
        _, sign = self.decompose(matrix)
        determinant = sign % self.prime
        for entry in matrix.diagonal().tolist() if sign else ():
            determinant = determinant * int(entry) % self.prime
        return determinant


# ------------------------------------------------------------------------------------------------------------
# §4.1  Lower bounds
# ------------------------------------------------------------------------------------------------------------


def storage(network: Network) -> int:
    """An upper bound of the numbers held while one sample is evaluated."""
    count = network.width + network.d_out
    extra = 0
    for layer in network.layers:
        count += 3 * layer.d_out
        if layer.type == CONVOLUTION:
            count += 3 * layer.kernel * layer.positions
        if layer.type in HEADS:
            count += 4 * layer.rank + 2 * layer.d_out
            extra += layer.d_out * layer.rank if layer.type == ATTENTION else 3 * network.tokens**2
    return network.tokens * count + 2 * extra


def batch_size(network: Network, columns: int) -> int:
    """How many samples numpy evaluates at a time: some 40 MB for each array of values."""
    return max(1, 5_000_000 // (storage(network) + columns))


def predicted_seconds(network: Network, r: int) -> dict[str, float]:
    """Predicted time by method, in seconds, from counts of multiplications.

    A row of the Jacobian: t (width + 3 parameters) for each layer, the latter at each position of a
    convolution, and 6 t rank width more for attention; for its entries r times the columns of the
    factors. The elimination: r^3/3. Pure Python takes 10^-7 s for each and 4*10^-5 s for a row and layer;
    numpy 5*10^-9 s for the rows, 5*10^-4 s for a batch of rows and layer, 2.5*10^-10 s for the
    elimination; FLINT 10^-9 s for the elimination.
    """
    t = network.tokens
    uses = Counter({0: 1})  # of each owner's matrices, every position of a convolution counted
    for node, layer in enumerate(network.layers, start=1):
        uses[layer.owner or node] += layer.positions
    per_row = t * (network.width + network.d_out + r * max(uses.values()))
    for layer in network.layers:
        per_row += t * layer.d_out * len(layer.inputs)
        per_row += 3 * t * layer.positions * sum(rows * columns for _, rows, columns in layer.shapes())
        per_row += 6 * t * layer.rank * layer.d_out
        if layer.type == NORMALIZED:  # products with t x t matrices, and t inverses of 2 log2 p products
            per_row += 3 * t * t * (layer.rank + layer.d_out + 4) + 60 * t
    rows, elimination = r * per_row, r**3 / 3
    plain_rows = 1e-7 * rows + 4e-5 * r * len(network.layers)
    batches = -(-r // batch_size(network, r))
    return {
        "python": plain_rows + 1e-7 * elimination,
        "numpy": 0.1 + 5e-9 * rows + 5e-4 * batches * len(network.layers) + 2.5e-10 * elimination,
        "flint": 0.1 + plain_rows + 1e-9 * elimination,
    }


def optional(name: str) -> Any:
    """An optional library, or None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def sampled_determinant(sampling: Sampling, rows: IndexSet, columns: IndexSet, report: Report) -> int:
    """The determinant of the minor, by the cheapest means installed; all of them give the same answer."""
    network, r = sampling.network, len(rows)
    require_supported(r <= network.parameters() <= LIMIT_PARAMETERS, f"{network.parameters()} parameters")
    require_supported(storage(network) <= LIMIT_STORAGE, f"{storage(network)} values per sample")
    require_supported(20 * r * r <= LIMIT_BYTES, f"a minor of size {r}")
    seconds = predicted_seconds(network, r)
    if seconds["python"] <= 0.5:
        method = "python"
    elif np := optional("numpy"):
        method = "numpy"
    elif seconds["python"] > 5 and (flint := optional("flint")):
        method = "flint"
    else:
        method = "python"
    what = f"a minor of size {r} of {network.parameters()} parameters (predicted {seconds[method]:.0f} s"
    if seconds[method] > LIMIT_SECONDS and method != "numpy":
        raise UnsupportedError(f"needs numpy or python-flint for {what}, limit {LIMIT_SECONDS:.0f} s)")
    require_supported(seconds[method] <= LIMIT_SECONDS, f"{what}, limit {LIMIT_SECONDS:.0f} s)")

    def tell(step: str) -> None:
        if seconds[method] > 2:
            report(f"{what} with {method}): {step}")

    chosen = rows.indices(), columns.indices()
    if method == "numpy":
        return BatchDeterminant(np, sampling.prime, tell)(batch_minor(np, sampling, *chosen, tell))
    minor = plain_minor(sampling, *chosen, tell)
    if method == "flint":
        tell("determinant")
        return int(flint.nmod_mat(minor, sampling.prime).det())
    return plain_determinant(minor, sampling.prime, tell)


def independence_rows(sampling: Sampling, exponents: ScoreExponents, samples: list[int], points: int) -> Rows:
    """Rows of §4.1: entries of X and exponents at a sample, less those at the base sample of its point."""
    network, prime = sampling.network, sampling.prime
    ring = PlainArithmetic(prime)

    def entries(parameters: list[Any], sample: int) -> list[int]:
        x = chop(sampling.input(sample), network.tokens)
        powers = plain_powers(sampling, exponents, sample)
        _, kept = node_values(network, layer_weights(network, parameters), x, powers, ring)
        scores = {node: ring.product(ring.transpose(kept[node][1]), kept[node][0]) for node in powers}
        return [v for row in x for v in row] + [scores[node][s][m] for node, s, m in exponents.first]

    result: Rows = [[] for _ in samples]
    for q in sorted({sample % points for sample in samples}):
        parameters = plain_parameters(sampling, q)
        base = entries(parameters, q)
        for number, sample in enumerate(samples):
            if sample % points == q:
                values = entries(parameters, sample)
                result[number] = [(v - w) % prime for v, w in zip(values, base, strict=True)]
    return result


def batch_independence_rows(
    np: Any, sampling: Sampling, exponents: ScoreExponents, samples: list[int], points: int
) -> Any:
    """The same as an array of float64 (integers in [0, p))."""
    network, prime = sampling.network, sampling.prime
    ring = BatchArithmetic(np, prime)

    def entries(weights: list[list[Any]], batch: list[int]) -> Any:
        x = np.array([sampling.input(j) for j in batch], dtype=np.int64)
        powers = batch_powers(np, sampling, exponents, batch)
        shape = len(batch), network.width, network.tokens
        _, kept = node_values(network, weights, x.reshape(shape), powers, ring)
        scores = {node: ring.product(ring.transpose(kept[node][1]), kept[node][0]) for node in powers}
        return np.concatenate(
            [x, np.stack([scores[v][:, s, m] for v, s, m in exponents.first], axis=1)], axis=1
        )

    size = network.width * network.tokens + exponents.count
    result = np.empty((len(samples), size), dtype=np.float64)
    for q in sorted({sample % points for sample in samples}):
        weights = layer_weights(network, batch_parameters(np, sampling, q))
        base = entries(weights, [q])
        own = [number for number, sample in enumerate(samples) if sample % points == q]
        step = batch_size(network, size)
        for start in range(0, len(own), step):
            part = own[start : start + step]
            result[part] = (entries(weights, [samples[number] for number in part]) - base) % prime
    return result


@dataclass(frozen=True, slots=True)
class Independence:
    """The statement that the exponents are independent (§4.1); `verify` computes the determinant."""

    sampling: Sampling
    exponents: ScoreExponents
    points: int
    rows: IndexSet
    determinant: int

    @classmethod
    def parse(cls, value: Any, sampling: Sampling) -> Independence:
        fields(value, "exponents", "exponents", ("count", "points", "rows", "determinant"))
        network = sampling.network
        exponents = exponents_of(network)
        compare("exponents", "count", value["count"], exponents.count)
        points = integer(value["points"], "exponents", "points", 1, sampling.samples)
        require(points == 1 or sampling.seed is not None, "exponents", "explicit values have one point only")
        rows = IndexSet.parse(value["rows"], "exponents", sampling.samples)
        size = network.width * network.tokens + exponents.count
        require(len(rows) == size, "exponents", f"{len(rows)} rows, {size} are needed")
        require(rows.runs[0][0] >= points, "exponents", f"row {rows.runs[0][0]} is not above {points - 1}")
        determinant = integer(value["determinant"], "exponents", "determinant", 1, sampling.prime - 1)
        return cls(sampling, exponents, points, rows, determinant)

    def verify(self, report: Report) -> None:
        network, size = self.sampling.network, len(self.rows)
        require_supported(network.parameters() <= LIMIT_PARAMETERS, f"{network.parameters()} parameters")
        require_supported(storage(network) <= LIMIT_STORAGE, f"{storage(network)} values per sample")
        require_supported(20 * size * size <= LIMIT_BYTES, f"{size} rows for the independence of exponents")
        points = min(self.points, size)
        require_supported(points * network.parameters() <= 10 * LIMIT_PARAMETERS, f"{points} points")
        seconds = predicted_seconds(network, size)
        rows, p = self.rows.indices(), self.sampling.prime
        report(f"independence of {self.exponents.count} exponents")
        if seconds["python"] > 0.5 and (np := optional("numpy")):
            what = f"{size} rows for the independence of exponents"
            require_supported(seconds["numpy"] <= LIMIT_SECONDS, what)
            matrix = batch_independence_rows(np, self.sampling, self.exponents, rows, self.points)
            found = BatchDeterminant(np, p, report)(matrix)
        else:
            require_supported(
                seconds["python"] <= LIMIT_SECONDS, f"needs numpy for {size} independent exponents"
            )
            plain = independence_rows(self.sampling, self.exponents, rows, self.points)
            found = plain_determinant(plain, p, report)
        stated = self.determinant
        require(found == stated, "exponents", f"determinant: stated {stated}, recomputed {found} modulo {p}")


@dataclass(frozen=True, slots=True)
class LowerBound:
    """A lower bound whose statement is in order; `verify` computes the determinant."""

    value: int
    sampling: Sampling
    rows: IndexSet
    columns: IndexSet
    determinant: int
    independence: Independence | None

    strength = "exact"

    @classmethod
    def parse(cls, bound: Any, network: Network) -> LowerBound:
        keys = ["value", "prime", "sampling", "rows", "columns", "determinant"]
        keys += ["exponents"] * network.has_softmax
        fields(bound, "lower bound", "lower bound", keys)
        n = network.parameters()
        r = integer(bound["value"], "lower bound", "value", 1, n)
        prime = integer(bound["prime"], "prime", "prime", 3, 2**31 - 1)
        require(is_prime(prime), "prime", f"{prime} is not prime")
        sampling = parse_sampling(bound["sampling"], network, prime)
        rows = IndexSet.parse(bound["rows"], "rows", sampling.samples)
        require(len(rows) == r, "rows", f"{len(rows)} rows for a lower bound of {r}")
        columns = IndexSet.parse(bound["columns"], "columns", n)
        require(len(columns) == r, "columns", f"{len(columns)} columns for a lower bound of {r}")
        determinant = integer(bound["determinant"], "determinant", "determinant", 1, prime - 1)
        independence = Independence.parse(bound["exponents"], sampling) if network.has_softmax else None
        return cls(r, sampling, rows, columns, determinant, independence)

    def verify(self, report: Report) -> None:
        if self.independence is not None:
            self.independence.verify(report)
        found = sampled_determinant(self.sampling, self.rows, self.columns, report)
        require(
            found == self.determinant,
            "determinant",
            f"stated {self.determinant}, recomputed {found} modulo {self.sampling.prime}",
        )


# ------------------------------------------------------------------------------------------------------------
# §4.1b  Lower bounds by ball arithmetic, in integers
# ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Balls:
    """Integers ``rows`` and one radius: the true entries lie within (rows[i][j] +- rad) / 2^bits."""

    rows: list[list[int]]
    rad: int

    def largest(self) -> int:
        """The largest absolute value of a midpoint."""
        return max(max(max(row), -min(row)) for row in self.rows)


class BallArithmetic:
    """Fixed-point balls with ``bits`` bits behind the point: integers, every rounding counted.

    A shift right rounds down, by less than 1.  A product of length k of |x| <= A, radius r, and |y| <= B,
    radius s, has radius (k (A s + r B + r s)) / 2^bits, rounded up, and 1 for its shift.
    """

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.one = 1 << bits

    def spread(self, a: Balls, b: Balls, terms: int) -> int:
        """The radius of sums of so many products of an entry of a and one of b, before the shift."""
        x, y = a.largest(), b.largest()
        require_supported(max(x, y).bit_length() <= LIMIT_BALL_BITS, "values too large for balls")
        return terms * (x * b.rad + a.rad * y + a.rad * b.rad)

    def down(self, rad: int) -> int:
        """A radius in units of 2^-2bits in units of 2^-bits, and 1 for the rounding of the midpoint."""
        return (rad >> self.bits) + 2

    def product(self, a: Balls, b: Balls) -> Balls:
        columns, bits = list(zip(*b.rows, strict=True)), self.bits
        rows = [[sum(map(mul, row, column)) >> bits for column in columns] for row in a.rows]
        return Balls(rows, self.down(self.spread(a, b, len(columns[0]))))

    def transpose(self, a: Balls) -> Balls:
        return Balls([list(column) for column in zip(*a.rows, strict=True)], a.rad)

    def add(self, a: Balls, b: Balls) -> Balls:
        rows = [[x + y for x, y in zip(r, s, strict=True)] for r, s in zip(a.rows, b.rows, strict=True)]
        return Balls(rows, a.rad + b.rad)

    def entrywise_product(self, a: Balls, b: Balls) -> Balls:
        pairs = zip(a.rows, b.rows, strict=True)
        rows = [[x * y >> self.bits for x, y in zip(r, s, strict=True)] for r, s in pairs]
        return Balls(rows, self.down(self.spread(a, b, 1)))

    def power(self, a: Balls, exponent: int) -> Balls:
        result = Balls([[self.one] * len(row) for row in a.rows], 0)
        while exponent:
            if exponent & 1:
                result = self.entrywise_product(result, a)
            exponent >>= 1
            if exponent:
                a = self.entrywise_product(a, a)
        return result

    def multiple(self, a: Balls, factor: int) -> Balls:
        return Balls([[x * factor for x in row] for row in a.rows], a.rad * abs(factor))

    def add_column(self, a: Balls, column: Balls) -> Balls:
        rows = [[x + y for x in row] for row, (y,) in zip(a.rows, column.rows, strict=True)]
        return Balls(rows, a.rad + column.rad)

    def ones_row(self, a: Balls) -> Balls:
        return Balls([[self.one] * len(a.rows[0])], 0)

    def reshape(self, a: Balls, rows: int) -> Balls:
        entries = [x for row in a.rows for x in row]
        return Balls(chop(entries, len(entries) // rows), a.rad)

    def windows(self, a: Balls, layer: Layer) -> Balls:
        starts = range(0, layer.positions * layer.stride, layer.stride)
        rows = [[x for start in starts for x in a.rows[start + j]] for j in range(layer.kernel)]
        return Balls(rows, a.rad)

    def add_windows(self, a: Balls, layer: Layer) -> Balls:
        tokens = len(a.rows[0]) // layer.positions
        result = [[0] * tokens for _ in range(layer.d_in)]
        for j, row in enumerate(a.rows):
            for i, part in enumerate(chop(row, tokens)):
                place = i * layer.stride + j
                result[place] = [x + y for x, y in zip(result[place], part, strict=True)]
        return Balls(result, a.rad * layer.kernel)  # no entry is added to from two places of one row of a

    def join(self, parts: list[Balls]) -> Balls:
        side_by_side = zip(*(part.rows for part in parts), strict=True)
        rows = [[x for part in rows for x in part] for rows in side_by_side]
        return Balls(rows, max(part.rad for part in parts))

    def exponential(self, x: int) -> int:
        """An integer within 2 of 2^bits e^(x / 2^bits), for x <= 0.

        y = x / 2^h has |y| <= 2^-8; it is an exact integer over 2^q, q = bits + h + 20.  Every Taylor term is
        the one before times y, shifted and divided: off by e' <= e/256 + 2 < 2.01.  Terms are added until one
        is 0 or -1, after which all the rest together are below 2.  So N < q terms are off by at most
        2.01 N + 4.  The value is between 0 and 2^q; squaring doubles an error and adds 2 at most: after h
        squarings it is below 2^h (2.01 N + 6) < 2^(h + 20), one unit of 2^-bits, as N < q < 2^18 (bits <=
        2^15 and h <= 29).
        """
        h = max(0, x.bit_length() + 8 - self.bits)
        q = self.bits + h + 20
        y = x << 20  # (x / 2^bits) / 2^h * 2^q
        term = total = 1 << q
        number = 1
        while term not in (0, -1):
            term = (term * y >> q) // number
            total += term
            number += 1
        for _ in range(h):
            total = total * total >> q
        return total >> (h + 20)

    def softmax(self, a: Balls) -> Balls:
        """exp of every entry, divided by the sum of its column.

        First for the midpoints, the largest of a column taken from it, which changes nothing: every power is
        within 2 of the true one, in units of 2^-bits, and the sum S >= 2^bits - 2 of t powers within 2 t.  A
        quotient E/S with 0 <= E <= S is off by at most (2 + 2 t)/(1 - 2^-60) units and 1 for rounding.  Then
        for scores off by r: a row of the derivative of the softmax s has the absolute sum 2 s (1 - s) <= 1/2,
        so s moves by at most r/2.
        """
        columns = []
        for column in zip(*a.rows, strict=True):
            top = max(column)
            large = (top - min(column)) >> self.bits
            require_supported(large <= LIMIT_BALL_EXPONENT, "exponents too large for balls")
            powers = [self.exponential(x - top) for x in column]
            total = sum(powers)
            columns.append([(power << self.bits) // total for power in powers])
        rows = [list(row) for row in zip(*columns, strict=True)]
        return Balls(rows, 4 + 2 * len(rows) + a.rad // 2 + 1)

    def column_sums(self, a: Balls) -> Balls:
        return Balls([[sum(column) for column in zip(*a.rows, strict=True)]], a.rad * len(a.rows))

    def scale_columns(self, a: Balls, factors: Balls) -> Balls:
        (row,) = factors.rows
        rows = [[x * y >> self.bits for x, y in zip(entries, row, strict=True)] for entries in a.rows]
        return Balls(rows, self.down(self.spread(a, factors, 1)))


@dataclass(frozen=True, slots=True)
class DyadicSampling:
    """The rule `sha256-dyadic`: odd numerators below 2^16 over powers of two."""

    network: Network
    seed: str

    def stream(self, label: str, count: int) -> list[int]:
        words = Sampling(self.network, 2**16, self.seed).stream(label, count)
        return [2 * word + 1 - 2**16 for word in words]

    def parameters(self, bits: int) -> list[Balls]:
        """All parameter matrices, exactly."""
        flat = self.stream("parameters", self.network.parameters())
        matrices = []
        offset = 0
        for _, _, rows, columns in self.network.matrices():
            shift = bits - 16 - (columns.bit_length() - 1) // 2
            values = [x << shift for x in flat[offset : offset + rows * columns]]
            matrices.append(Balls(chop(values, columns), 0))
            offset += rows * columns
        return matrices

    def matrix(self, label: str, rows: int, shift: int) -> Balls:
        """An input or a functional: numerators times 2^shift."""
        tokens = self.network.tokens
        values = [x << shift for x in self.stream(label, rows * tokens)]
        return Balls(chop(values, tokens), 0)


def ball_minor(
    sampling: DyadicSampling, rows: list[int], columns: list[int], bits: int, report: Report
) -> list[Balls]:
    """The asked-for rows of the sampled Jacobian, each as a matrix of one row with its radius."""
    network = sampling.network
    ring = BallArithmetic(bits)
    parameters = sampling.parameters(bits)
    chosen = select_columns(network, columns)
    minor = []
    for number, sample in enumerate(rows):
        report(f"row {number + 1} of {len(rows)}, {bits} bits")
        x = sampling.matrix(f"input/{sample}", network.width, bits - 15)
        y = sampling.matrix(f"functional/{sample}", network.d_out, bits - 16)
        factors = gradient_factors(network, parameters, x, y, None, ring)
        entries: list[int] = []
        rad = 0
        for part in chosen:
            u, z = factors[part.matrix]
            places = zip(part.rows, part.columns, strict=True)
            entries.extend(sum(map(mul, u.rows[i], z.rows[j])) >> bits for i, j in places)
            rad = max(rad, ring.down(ring.spread(u, z, len(u.rows[0]))))
        minor.append(Balls([entries], rad))
    return minor


def float_inverse(np: Any, matrix: list[list[int]], size: int) -> list[list[int]] | None:
    """An approximate inverse of matrix / 2^size, times 2^60, found with numpy in floating point."""
    try:
        # a quotient of integers is a float, however long they are
        inverse = np.linalg.inv(np.array([[x / (1 << size) for x in row] for row in matrix]))
        return [[math.floor(math.ldexp(x, 60)) for x in row] for row in inverse.tolist()]
    except (np.linalg.LinAlgError, OverflowError, ValueError):
        return None


def fixed_inverse(matrix: list[list[int]], size: int, bits: int) -> list[list[int]] | None:
    """The same times 2^bits, by Gauss-Jordan elimination in fixed point; None if there is no pivot."""
    n = len(matrix)
    shift = size - bits
    work = [
        [x >> shift if shift >= 0 else x << -shift for x in row] + [(i == j) << bits for j in range(n)]
        for i, row in enumerate(matrix)
    ]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(work[i][k]))
        if not work[pivot][k]:
            return None
        work[k], work[pivot] = work[pivot], work[k]
        head = work[k][k]
        top = work[k] = [(x << bits) // head for x in work[k]]
        for i in range(n):
            factor = work[i][k]
            if i != k and factor:
                work[i] = [x - (factor * y >> bits) for x, y in zip(work[i], top, strict=True)]
    return [row[n:] for row in work]


def integer_product(a: list[list[int]], b: list[list[int]]) -> list[list[int]]:
    """The product of matrices of integers, by python-flint if it is large and can be imported."""
    if len(a) > 40 and (flint := optional("flint")):
        return [[int(x) for x in row] for row in (flint.fmpz_mat(a) * flint.fmpz_mat(b)).table()]
    columns = list(zip(*b, strict=True))
    return [[sum(map(mul, row, column)) for column in columns] for row in a]


def is_nonsingular(minor: list[Balls], bits: int, may_eliminate: bool = True) -> bool:
    """Whether ||I - R J|| < 1 in the row-sum norm for every J within the balls and some R.

    Then Jx = 0 implies x = (I - R J) x, so x = 0.  Rows and columns are first multiplied by powers of two.
    R is found by numpy; where that does not do, or numpy is absent, by elimination, if it may take its time.
    """
    sizes = [ball.largest().bit_length() for ball in minor]
    if not all(sizes):
        return False
    size = max(sizes)
    matrix = [[x << size - s for x in ball.rows[0]] for ball, s in zip(minor, sizes, strict=True)]
    rads = [ball.rad << size - s for ball, s in zip(minor, sizes, strict=True)]
    widths = [max(map(abs, column)).bit_length() for column in zip(*matrix, strict=True)]
    if not all(widths):
        return False
    size = max(widths)
    shifts = [size - width for width in widths]
    matrix = [[x << s for x, s in zip(row, shifts, strict=True)] for row in matrix]
    total = sum(1 << s for s in shifts)  # the sum of a row's radii, in units of its radius
    totals = [rad * total for rad in rads]
    if len(matrix) > 30 and (np := optional("numpy")):
        inverse = float_inverse(np, matrix, size)
        if inverse is not None and contracts(inverse, matrix, totals, 60 + size):
            return True
    require_supported(may_eliminate, f"a minor of size {len(matrix)} that numpy's inverse does not prove")
    approximate = fixed_inverse(matrix, size, bits)
    if approximate is None:
        return False
    return contracts(approximate, matrix, totals, bits + size)


def contracts(inverse: list[list[int]], matrix: list[list[int]], rads: list[int], size: int) -> bool:
    """Whether all rows of 2^size I - inverse (matrix + error) have absolute sums below 2^size, where the
    absolute values of row k of the error add up to at most rads[k]."""
    one = 1 << size
    for i, row in enumerate(integer_product(inverse, matrix)):
        row[i] -= one
        if sum(map(abs, row)) + sum(abs(x) * rad for x, rad in zip(inverse[i], rads, strict=True)) >= one:
            return False
    return True


def predicted_ball_seconds(network: Network, r: int, bits: int) -> tuple[float, float, float]:
    """Predicted seconds of one round: for the rows; for the proof with numpy and FLINT; for that without.

    Rows: the multiplications of `predicted_seconds`, and for each score's exponential some bits/4 terms.  The
    proof: r^3 multiplications for the product, twice as many for the inverse.  Longer integers take longer.
    """
    rows = predicted_seconds(network, r)["python"] - 1e-7 * r**3 / 3
    scores = network.tokens**2 * sum(layer.type == NORMALIZED for layer in network.layers)
    words = 1 + bits / 256
    exponentials = 2e-7 * bits * r * scores
    return words * (rows + exponentials), words * (1e-8 * r**3 + 2e-6 * r**2), words * 4e-7 * r**3


@dataclass(frozen=True, slots=True)
class BallBound:
    """A lower bound by ball arithmetic whose statement is in order; `verify` evaluates the balls."""

    value: int
    sampling: DyadicSampling
    rows: IndexSet
    columns: IndexSet
    bits: int

    strength = "ball"

    @classmethod
    def parse(cls, bound: Any, network: Network) -> BallBound:
        keys = ("method", "value", "sampling", "rows", "columns", "bits")
        fields(bound, "lower bound", "lower bound", keys)
        n = network.parameters()
        r = integer(bound["value"], "lower bound", "value", 1, n)
        sampling = bound["sampling"]
        require(isinstance(sampling, dict), "sampling", "sampling is {}, not an object", sampling)
        rule = sampling.get("rule")
        require(isinstance(rule, str), "sampling", "rule is {}, not a string", rule)
        require_supported(rule == "sha256-dyadic", "sampling rule {} for balls", rule)
        fields(sampling, "sampling", "sampling", ("rule", "seed"))
        seed = matching(sampling["seed"], SEED, "sampling", "seed")
        rows = IndexSet.parse(bound["rows"], "rows", MAX_SAMPLES)
        require(len(rows) == r, "rows", f"{len(rows)} rows for a lower bound of {r}")
        columns = IndexSet.parse(bound["columns"], "columns", n)
        require(len(columns) == r, "columns", f"{len(columns)} columns for a lower bound of {r}")
        bits = integer(bound["bits"], "lower bound", "bits", 1, MAX_BALL_BITS)
        return cls(r, DyadicSampling(network, seed), rows, columns, bits)

    def verify(self, report: Report) -> None:
        """Try with more and more bits, up to eight times what is stated, and 1024 at least."""
        network, r = self.sampling.network, self.value
        require_supported(network.parameters() <= LIMIT_PARAMETERS, f"{network.parameters()} parameters")
        require_supported(storage(network) <= LIMIT_STORAGE, f"{storage(network)} values per sample")
        bits, last = max(128, 2 * self.bits), max(1024, 8 * self.bits)
        while bits <= last:
            evaluation, quick, slow = predicted_ball_seconds(network, r, bits)
            fast = r > 30 and optional("numpy") is not None and optional("flint") is not None
            seconds = evaluation + (quick if fast else slow)
            what = f"a minor of size {r} in balls of {bits} bits (predicted {seconds:.0f} s"
            require_supported(seconds <= LIMIT_SECONDS, f"{what}, limit {LIMIT_SECONDS:.0f} s)")
            tell = report if seconds > 2 else silent
            minor = ball_minor(self.sampling, self.rows.indices(), self.columns.indices(), bits, tell)
            tell(f"{what}): inverse")
            if is_nonsingular(minor, bits, evaluation + slow <= LIMIT_SECONDS):
                return
            bits *= 2
        raise InvalidError("minor", f"not proved non-singular with balls of up to {bits // 2} bits")


# ------------------------------------------------------------------------------------------------------------
# §4.2  Upper bounds: each function returns (value, steps)
# ------------------------------------------------------------------------------------------------------------

Bound = tuple[int, dict[str, Any]]


def applies(condition: bool, method: str, why: str) -> None:
    require(condition, "upper bound", f"method {method} does not apply: {why}")


def rank_variety(e: int, a: int) -> int:
    """r(e,a): dimension of the e x e matrices of rank at most a."""
    alpha = min(a, e)
    return 2 * alpha * e - alpha**2


def symmetric_rank_variety(e: int, a: int) -> int:
    """s(e,a): dimension of the symmetric e x e matrices of rank at most 2a."""
    rho = min(2 * a, e)
    return rho * e - rho * (rho - 1) // 2


def bounded_rank_maps(a: int, b: int, c: int) -> int:
    """B(a,b,c): dimension of the a x b matrices of rank at most c."""
    m = min(a, b, c)
    return m * (a + b - m)


def count_forms(d: int, m: int) -> int:
    """The number of monomials of degree m in d variables, unless it is too long to state."""
    # binomial(d+m-1, m) >= 2^min(m, d-1)
    require_supported(2 ** min(m, d - 1) < TOO_LONG, f"binomial({d + m - 1}, {m})")
    return math.comb(d + m - 1, m)


def bound_by_parameters(network: Network) -> Bound:
    n = network.parameters()
    return n, {"parameters": encode(n)}


def bound_by_flag(network: Network) -> Bound:
    applies(network.is_chain(ATTENTION), "flag", f"the network is not a chain of {ATTENTION} layers")
    widths = [network.node_width(node) for node in range(len(network.layers) + 1)]
    return flag_count(widths, [layer.rank for layer in network.layers], network.tokens == 1)


def flag_count(d: list[int], ranks: list[int], one_token: bool) -> Bound:
    """The count of the method `flag` for widths d_0..d_l and the ranks of the layers."""
    depth = len(ranks)
    a = [0, *ranks]  # a[i] for i = 1..l
    e = [d[0]]
    for i in range(1, depth):
        e.append(min(e[i - 1], d[i]))
    g = [d[0]] + [0] * (depth - 1) + [d[depth]]
    for i in range(depth - 1, 0, -1):
        g[i] = min(e[i], 2 * min(a[i + 1], e[i]) + g[i + 1])
    matrices = []
    symmetric = one_token
    for i in range(1, depth + 1):
        dimension = symmetric_rank_variety(g[i - 1], a[i]) if symmetric else rank_variety(g[i - 1], a[i])
        matrices.append((symmetric, dimension))
        symmetric = symmetric or min(a[i], e[i - 1]) == 1
    flags = sum(g[i] * (g[i - 1] - g[i]) for i in range(1, depth))
    values = d[depth] * g[depth - 1]
    steps = {
        "e": e,
        "g": g[:depth],
        "matrices": [{"symmetric": flag, "dimension": encode(dimension)} for flag, dimension in matrices],
        "flags": encode(flags),
        "values": encode(values),
        "torus": depth,
    }
    return sum(dimension for _, dimension in matrices) + flags + values - depth, steps


def bound_layerwise(network: Network) -> Bound:
    variety = symmetric_rank_variety if network.tokens == 1 else rank_variety
    blocks: list[tuple[list[str], int]] = []
    joined: set[int] = set()  # nodes of linear layers that belong to the block of an attention layer
    for node, layer in enumerate(network.layers, start=1):
        if node in joined or not layer.matrices():
            continue
        if layer.type not in HEADS:
            blocks.append(([layer.id], sum(rows * columns for _, rows, columns in layer.matrices())))
            continue
        q = variety(layer.d_in, layer.rank) - 1
        if layer.type == NORMALIZED:  # no scaling; on one token the value is V X
            q = 0 if network.tokens == 1 else rank_variety(layer.d_in, layer.rank)
        readers = network.consumers[node]
        alone = len(readers) == 1 and network.sharing.isdisjoint((node, *readers))
        if alone and network.layers[readers[0] - 1].type == LINEAR:
            after = network.layers[readers[0] - 1]
            joined.add(readers[0])
            m = min(layer.d_in, layer.d_out, after.d_out)
            blocks.append(([layer.id, after.id], q + m * (layer.d_in + after.d_out - m)))
        else:
            blocks.append(([layer.id], q + layer.d_in * layer.d_out))
    steps = {"blocks": [{"layers": ids, "dimension": encode(dimension)} for ids, dimension in blocks]}
    return sum(dimension for _, dimension in blocks), steps


class Work:
    """Counts elementary steps; too many are `unsupported`."""

    def __init__(self, what: str, limit: int = LIMIT_WORK) -> None:
        self.what, self.done, self.limit = what, 0, limit

    def spend(self, steps: int) -> None:
        self.done += steps
        require_supported(self.done <= self.limit, f"{self.what} of more than {self.limit} steps")


def sums_of(degrees: int, count: int, work: Work) -> int:
    """All sums of ``count`` elements of a set of degrees: the degrees in a product of so many factors.

    Sets are bit masks: bit m says whether m is an element.
    """
    largest = degrees.bit_length() - 1
    applies(count * largest <= MAX_DEGREE, "coefficients", f"a possible degree exceeds {MAX_DEGREE}")
    if degrees == 1 << largest:
        return 1 << count * largest
    elements = [m for m in range(largest + 1) if degrees >> m & 1]
    work.spend(largest + count * len(elements))
    result = 1
    for _ in range(count):
        shifted, result = result, 0
        for m in elements:
            result |= shifted << m
    return result


def possible_degrees(network: Network) -> list[int]:
    """Degrees in X that can occur in the output."""
    work = Work("sets of degrees")
    sets = [1 << 1]
    for layer in network.layers:
        degrees = sets[layer.inputs[0]]
        if layer.type == ATTENTION:
            degrees = sums_of(degrees, 3, work)
        elif layer.type == ACTIVATION:
            degrees = sums_of(degrees, layer.degree, work)
        elif layer.type == BIAS:
            degrees |= 1 << 0
        for node in layer.inputs[1:]:
            degrees |= sets[node]
        sets.append(degrees)
    return [m for m in range(MAX_DEGREE + 1) if sets[network.output] >> m & 1]


def bound_by_coefficients(network: Network) -> Bound:
    applies(not network.has_softmax, "coefficients", f"{NORMALIZED} on two or more tokens")
    types = {layer.type for layer in network.layers}
    pointwise = network.tokens == 1 or ATTENTION not in types
    if not pointwise:
        applies(ACTIVATION not in types, "coefficients", "attention and activation with two or more tokens")
        linear = [True]  # of each node: neither attention nor bias on any path to it, itself included
        for layer in network.layers:
            before = all(linear[node] for node in layer.inputs)
            if layer.type == ATTENTION:
                why = f"a path with more than one attention, or with a {BIAS} before it"
                applies(before, "coefficients", why)
            linear.append(before and layer.type not in (ATTENTION, BIAS))
    d, d_out = network.width, network.d_out
    terms = []
    for m in possible_degrees(network):
        if pointwise:
            count = d_out * count_forms(d, m)
        else:
            count = {0: d_out, 1: d_out * d, 3: d_out * d * (d * (d + 1) // 2)}[m]
        terms.append((m, count))
    return sum(count for _, count in terms), {
        "terms": [{"degree": m, "coefficients": encode(k)} for m, k in terms]
    }


def bound_by_torus(network: Network) -> Bound:
    layers, consumers = network.layers, network.consumers
    free: list[tuple[int, int]] = []
    for node, layer in enumerate(layers, start=1):
        if layer.type not in (LINEAR, CONVOLUTION):
            continue
        path = [node]
        for kind in (BIAS, ACTIVATION):
            following = consumers[path[-1]]
            if len(following) == 1 and layers[following[0] - 1].type == kind:
                path.append(following[0])
        readers = consumers[path[-1]]
        types = {layers[reader - 1].type for reader in readers}
        own = network.sharing.isdisjoint((*path, *readers))
        if not (own and types and types <= {LINEAR, CONVOLUTION}):
            continue
        if layers[path[-1] - 1].type != ACTIVATION and CONVOLUTION not in types | {layer.type}:
            continue
        wide = layer.d_out if layer.type == LINEAR else layer.channels
        free.append((path[-1], 1 if CONVOLUTION in types else wide))
    applies(bool(free), "torus", "no layer is free")
    steps = {"activations": [{"layer": layers[node - 1].id, "width": k} for node, k in sorted(free)]}
    return network.parameters() - sum(k for _, k in free), steps


def bound_by_normalized_flag(network: Network) -> Bound:
    chain = network.is_chain(NORMALIZED) and network.tokens >= 2
    applies(chain, "normalized-flag", f"not a chain of {NORMALIZED} layers on two or more tokens")
    widths = [network.node_width(node) for node in range(len(network.layers) + 1)]
    ranks = [layer.rank for layer in network.layers]
    _, steps = flag_count(widths, ranks, one_token=False)
    e, g = steps["e"], steps["g"]
    matrices = [rank_variety(*pair) for pair in zip(g, ranks, strict=True)]
    flags, values = (sum(g[i] * (g[i - 1] - g[i]) for i in range(1, len(g))), widths[-1] * g[-1])
    numbers = {"matrices": [encode(q) for q in matrices], "flags": encode(flags), "values": encode(values)}
    return sum(matrices) + flags + values, {"e": e, "g": g, **numbers}


def bound_by_normalized_stages(network: Network) -> Bound:
    method = "normalized-stages"
    heads = NORMALIZED in {layer.type for layer in network.layers} and network.tokens >= 2
    applies(heads, method, f"no {NORMALIZED} on two or more tokens")
    sequence = Composition(network, NORMALIZED, method)
    e, last = sequence.effective, sequence.last
    applies(all(stage.degree == 1 for stage in sequence.stages), method, "an activation")
    dimensions, spans = [], [network.width]
    for k in range(1, last + 1):
        stage = sequence.stages[k]
        each = [rank_variety(e[k - 1], a) + bounded_rank_maps(e[k - 1], e[k], v) for a, v in stage.heads]
        dimensions.append(sum(each) if stage.heads else e[k - 1] * e[k])
        reach = sum(min(v, spans[-1]) for _, v in stage.heads) if stage.heads else spans[-1]
        spans.append(spans[-1] if stage.residual else min(reach, e[k]))
    free = [k for k in range(1, last) if sequence.class_of(k)[1] == k and sequence.is_free(k, 0, last)]
    groups = [{"position": k, "dimension": encode(e[k] * spans[k])} for k in free]
    steps = {"widths": e, "stages": [encode(k) for k in dimensions], "groups": groups}
    return sum(dimensions) - sum(e[k] * spans[k] for k in free), steps


def bound_by_linear(network: Network) -> Bound:
    types = {layer.type for layer in network.layers}
    linear = network.tokens == 1 and NORMALIZED in types <= {LINEAR, SUM, NORMALIZED}
    applies(linear, "linear", f"not {NORMALIZED} on one token with linear layers and sums alone")
    through, rank, furthest = 0, network.width, 0  # furthest: the last reader of the nodes before this one
    for node in range(len(network.layers) + 1):
        if furthest <= node and network.node_width(node) < rank:
            through, rank = node, network.node_width(node)
        furthest = max([furthest, *network.consumers[node]])
    name = network.layers[through - 1].id if through else "input"
    return bounded_rank_maps(network.d_out, network.width, rank), {"through": name, "rank": rank}


def needs(condition: bool, why: str) -> None:
    """A condition of an argument of `composition`."""
    require(condition, "upper bound", why)


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a sequential network; without heads it is linear."""

    width: int  # of the position that it makes
    degree: int = 1
    heads: tuple[tuple[int, int], ...] = ()  # (rank, value rank) of each
    residual: bool = False


def read_stage(network: Network, position: int, kind: str, method: str) -> tuple[Stage, int]:
    """The stage that reads a position (a node), and the node of the position that it makes.

    ``kind`` is the type of heads.
    """

    def sequential(condition: bool, why: str) -> None:
        name = network.layers[position - 1].id if position else "input"
        applies(condition, method, f"the network is not sequential: {name} {why}")

    def layer(node: int) -> Layer:
        return network.layers[node - 1]

    readers = network.consumers[position]
    if len(readers) == 1 and layer(readers[0]).type in (LINEAR, ACTIVATION):
        (node,), degree = readers, 1
        if layer(node).type == ACTIVATION:
            degree = layer(node).degree
            after = network.consumers[node]
            one_linear = len(after) == 1 and layer(after[0]).type == LINEAR
            sequential(one_linear, "is read by an activation that is not read by one linear layer alone")
            (node,) = after
        return Stage(layer(node).d_out, degree), node
    heads = [node for node in readers if layer(node).type == kind]
    others = [node for node in readers if layer(node).type != kind]
    sequential(bool(heads), "is read neither by one linear layer nor by heads alone")
    if len(heads) == 1 and not others:
        (node,) = heads
        return Stage(layer(node).d_out, heads=((layer(node).rank, layer(node).d_out),)), node
    # Several heads or a residual: every head ends, perhaps behind an output matrix, in one sum.
    ends, sums = [], set(others)
    for head in heads:
        after = network.consumers[head]
        sequential(len(after) == 1, "is read by a head with several readers")
        ends.append(head)
        if layer(after[0]).type == LINEAR:
            ends[-1] = after[0]
            after = network.consumers[after[0]]
            sequential(len(after) == 1, "is read by a head whose output matrix is not read by one layer")
        sums.add(after[0])
    sequential(len(sums) == 1 and layer(min(sums)).type == SUM, "is read by layers that no one sum joins")
    (node,) = sums
    summands = sorted(layer(node).inputs)
    residual = bool(others)
    expected = sorted([*ends, position] if residual else ends)
    sequential(summands == expected, f"is read by heads whose sum {layer(node).id} has other inputs")
    numbers = tuple((layer(head).rank, layer(head).d_out) for head in heads)
    return Stage(layer(node).d_out, heads=numbers, residual=residual), node


class Composition:
    """The method `composition`: a network's stages, what is known of its positions, and the arguments.

    An argument is a function of the segment (i, j) that gives its dimension, or fails if it does not apply.
    """

    def __init__(self, network: Network, kind: str = ATTENTION, method: str = "composition") -> None:
        applies(not network.sharing, method, "layers share their matrices")
        self.stages = [Stage(network.width)]  # stages[k] makes position k; stages[0] stands for the input
        position = 0
        while position != network.output:
            stage, position = read_stage(network, position, kind, method)
            self.stages.append(stage)
            applies(len(self.stages) <= MAX_STAGES + 1, method, f"more than {MAX_STAGES} stages")
        self.last = len(self.stages) - 1
        self.work = Work("sets of degrees")
        self.effective = [network.width]
        for k in range(1, self.last + 1):
            self.effective.append(self.effective_width(k))
        self.one_token = [network.tokens == 1]
        plain = all(stage.degree == 1 for stage in self.stages)
        self.one_token[0] |= plain and network.width == 1
        for k in range(1, self.last + 1):
            self.one_token.append(self.one_token[-1] or (plain and self.value_has_rank_one(k)))

    def effective_width(self, k: int) -> int:
        """e_k, given those before it."""
        stage, before = self.stages[k], self.effective[k - 1]
        if not self.is_free(k, 0, self.last) or self.class_of(k) != (k, k):
            return stage.width
        return min(stage.width, sum(min(v, before) for _, v in stage.heads) if stage.heads else before)

    def value_has_rank_one(self, k: int) -> bool:
        """Whether position k is collapsed, in a network without activations, by its own width or stage."""
        stage = self.stages[k]
        one_head = len(stage.heads) == 1 and not stage.residual
        return self.effective[k] == 1 or (one_head and min(stage.heads[0][0], self.effective[k - 1]) == 1)

    def class_of(self, k: int) -> tuple[int, int]:
        """The first and the last position of the class of position k."""
        first = last = k
        while first > 0 and self.stages[first].residual:
            first -= 1
        while last < self.last and self.stages[last + 1].residual:
            last += 1
        return first, last

    def is_free(self, k: int, i: int, j: int) -> bool:
        """Whether position k is free within stages i+1..j."""
        first, last = self.class_of(k)
        return i < first and last < j and self.stages[last + 1].degree == 1

    def gauge(self, i: int, c: int, j: int) -> int:
        """The dimension of the orbits at position c of a segment (i, j)."""
        if self.stages[c + 1].degree > 1:
            return 0 if self.stages[c].residual else self.effective[c]
        return self.effective[c] * self.span_of_values(i, c) if self.is_free(c, i, j) else 0

    def span_of_values(self, i: int, c: int) -> int:
        """sigma: the values of the segment (i, c) on one token span at least so many dimensions.

        And alpha coordinates of them are algebraically independent; both for general parameters.
        """
        sigma = alpha = self.effective[i]
        for k in range(i + 1, c + 1):
            stage = self.stages[k]
            if stage.residual:
                continue
            if stage.degree > 1 and k > i + 1:
                sigma = alpha
            if stage.heads:
                values = sorted((v for _, v in stage.heads), reverse=True)
                sigma = max(min(values[0], sigma), sum(min(v, alpha) for v in values[:alpha]))
                alpha = min(alpha, sum(values))
            sigma, alpha = min(sigma, self.effective[k]), min(alpha, self.effective[k])
        return sigma

    # -- the arguments --------------------------------------------------------------------------------------

    def linear(self, i: int, j: int) -> int:
        needs(j == i + 1 and not self.stages[j].heads, "not one linear stage")
        return self.effective[i] * self.effective[j]

    def one_stage_of_heads(self, i: int, j: int) -> tuple[tuple[int, int], ...]:
        needs(j == i + 1 and bool(self.stages[j].heads), "not one stage of heads")
        return self.stages[j].heads

    def varieties(self, i: int, j: int) -> list[tuple[int, int]]:
        """(q_h, q_h + B(e, o, v_h)) of the heads of one stage."""
        e, o = self.effective[i], self.effective[j]
        variety = symmetric_rank_variety if self.one_token[i] else rank_variety
        return [
            (variety(e, a), variety(e, a) + bounded_rank_maps(e, o, v))
            for a, v in self.one_stage_of_heads(i, j)
        ]

    def heads(self, i: int, j: int) -> int:
        return sum(both - 1 for _, both in self.varieties(i, j))

    def mixing(self, i: int, j: int) -> int:
        varieties = self.varieties(i, j)
        e, o, count = self.effective[i], self.effective[j], len(varieties)
        forms = e * (e + 1) // 2 if self.one_token[i] else e * e
        needs(2 <= count <= forms, f"{count} heads, 2 to {forms} are needed")
        smallest = min(v for _, v in self.stages[j].heads)
        needs(smallest >= min(e, o), f"value rank {smallest}, {min(e, o)} is needed")
        return sum(both - max(1, count - forms + q) for q, both in varieties)

    def tensor(self, i: int, j: int) -> int:
        self.one_stage_of_heads(i, j)
        e, o = self.effective[i], self.effective[j]
        return o * (math.comb(e + 2, 3) if self.one_token[i] else e * math.comb(e + 1, 2))

    def span(self, i: int, j: int) -> int:
        count = len(self.one_stage_of_heads(i, j))
        e, o = self.effective[i], self.effective[j]
        needs(o == 1, f"{o} outputs, not one")
        needs(count < e, f"{count} heads on width {e}")
        if self.one_token[i]:
            ideal = math.comb(e + 2, 3) - math.comb(e - count + 2, 3)
        else:
            ideal = e * (math.comb(e + 1, 2) - math.comb(e - count + 1, 2))
        return count * (e - count) + ideal

    def flag(self, i: int, j: int) -> int:
        ranks = []
        for stage in self.stages[i + 1 : j + 1]:
            needs(len(stage.heads) == 1 and not stage.residual, "not stages of one head each")
            a, v = stage.heads[0]
            needs(v >= stage.width, f"a head of value rank {v} in a stage of width {stage.width}")
            ranks.append(a)
        return flag_count(self.effective[i : j + 1], ranks, self.one_token[i])[0]

    def coefficients(self, i: int, j: int) -> int:
        segment, e, o = self.stages[i + 1 : j + 1], self.effective[i], self.effective[j]
        pointwise = self.one_token[i] or not any(stage.heads for stage in segment)
        needs(pointwise, "heads on several tokens")
        degrees = 1 << 1
        for k, stage in enumerate(segment):
            before, factors = degrees, 3 if stage.heads else stage.degree if k else 1
            degrees = sums_of(degrees, factors, self.work)
            if stage.residual:
                degrees |= before
            count = degrees.bit_count()
            needs(count <= MAX_DEGREES, f"{count} degrees, at most {MAX_DEGREES} are allowed")
        forms = sum(count_forms(e, m) for m in range(MAX_DEGREE + 1) if degrees >> m & 1)
        return bounded_rank_maps(o, forms, o if segment[-1].heads else self.effective[j - 1])

    def two_linear_stages(self, i: int, j: int) -> tuple[int, int, int]:
        """Widths and the degree of the second of two linear stages to width 1."""
        fits = j == i + 2 and not (self.stages[i + 1].heads or self.stages[j].heads)
        needs(fits, "not two linear stages")
        needs(self.effective[j] == 1, f"{self.effective[j]} outputs, not one")
        return self.effective[i], self.effective[i + 1], self.stages[j].degree

    def quadratic(self, i: int, j: int) -> int:
        e, between, degree = self.two_linear_stages(i, j)
        needs(degree == 2, f"degree {degree}, not 2")
        rho = min(e, between)
        return rho * e - rho * (rho - 1) // 2

    def alexander_hirschowitz(self, i: int, j: int) -> int:
        e, between, degree = self.two_linear_stages(i, j)
        case = (degree, e, between)
        needs(case in DEFECTIVE, f"{case} is not one of the exceptional cases")
        return math.comb(e + degree - 1, degree) - 1

    def flattening(self, derivation: dict[str, Any], i: int, j: int) -> int:
        stages = self.stages[i + 1 : j + 1]
        needs(len(stages) == 2 and not any(stage.heads for stage in stages), "not two linear stages")
        e, powers, o = self.effective[i : j + 1]
        r = stages[1].degree
        needs(r >= 2, f"degree {r}, at least 2 is needed")
        wedge = integer(derivation["wedge"], "upper bound", "wedge", 0, o - 1)
        split = integer(derivation["split"], "upper bound", "split", 1, r - 1)
        small = max(e, o, r) <= MAX_FLATTENING
        sizes = [(wedge + 1, split), (wedge, r - split)] if small else []
        counts = [math.comb(o, k) * math.comb(e + p - 1, p) for k, p in sizes]
        forms = o * math.comb(e + r - 1, r) if small else MAX_FLATTENING**2 + 1
        fits = small and max(counts) <= MAX_FLATTENING and forms <= MAX_FLATTENING**2
        require_supported(fits, f"a flattening of {o} forms of degree {r} in {e} variables")
        rank = generic_flattening_rank(r, e, o, wedge, split)
        most = powers * math.comb(o - 1, wedge)
        needs(most < rank, f"{powers} powers have a flattening of rank <= {most}, rank {rank} was found")
        return forms - 1

    # -- derivations ----------------------------------------------------------------------------------------

    def verify(self, derivation: Any, i: int, j: int) -> int:
        """The dimension that a derivation of the segment (i, j) proves; it must be the stated one."""
        what = f"derivation of ({i}, {j})"
        require(isinstance(derivation, dict), "upper bound", f"{what} is {{}}, not an object", derivation)
        argument = derivation.get("argument")
        is_cut = argument == "cut"
        keys = {"cut": ("at", "gauge", "parts"), "flattening": ("wedge", "split")}.get(str(argument), ())
        fields(derivation, "upper bound", what, ("from", "to", "argument", "dimension", *keys))
        compare("upper bound", f"{what}, from", derivation["from"], i)
        compare("upper bound", f"{what}, to", derivation["to"], j)
        require(isinstance(argument, str), "upper bound", f"{what}: argument is {{}}, not a string", argument)
        if is_cut:
            dimension = self.verify_cut(derivation, i, j, what)
        else:
            known = argument in ARGUMENTS or argument == "flattening"
            require(known, "upper bound", f"{what}: no argument {{}}", argument)
            dimension = self.verify_argument(derivation, i, j, what)
        compare("upper bound", f"{what}, dimension by {argument}", derivation["dimension"], encode(dimension))
        return dimension

    def verify_argument(self, derivation: dict[str, Any], i: int, j: int, what: str) -> int:
        argument = derivation["argument"]
        try:
            if argument == "flattening":
                return self.flattening(derivation, i, j)
            return ARGUMENTS[argument](self, i, j)
        except InvalidError as error:
            raise InvalidError("upper bound", f"{what} by {argument}: {error.found}") from None

    def verify_cut(self, derivation: dict[str, Any], i: int, j: int, what: str) -> int:
        """The dimension of a cut, whose parts are verified."""
        require(j > i + 1, "upper bound", f"{what}: one stage cannot be cut")
        c = integer(derivation["at"], "upper bound", f"{what}, at", i + 1, j - 1)
        gauge = self.gauge(i, c, j)
        compare("upper bound", f"{what}, gauge at {c}", derivation["gauge"], encode(gauge))
        parts = array(derivation["parts"], "upper bound", f"{what}, parts")
        require(len(parts) == 2, "upper bound", f"{what} has {len(parts)} parts, 2 are needed")
        return self.verify(parts[0], i, c) + self.verify(parts[1], c, j) - gauge


ARGUMENTS: dict[str, Callable[[Composition, int, int], int]] = {
    "linear": Composition.linear,
    "heads": Composition.heads,
    "mixing": Composition.mixing,
    "tensor": Composition.tensor,
    "span": Composition.span,
    "flag": Composition.flag,
    "coefficients": Composition.coefficients,
    "quadratic": Composition.quadratic,
    "alexander-hirschowitz": Composition.alexander_hirschowitz,
}
MAX_FLATTENING = 400  # rows, and columns
FLATTENING_PRIME = 8388593
DEFECTIVE = {(3, 5, 7), (4, 3, 5), (4, 4, 9), (4, 5, 14)}  # (degree, variables, powers)


def generic_flattening_rank(r: int, e: int, o: int, wedge: int, split: int) -> int:
    """A lower bound of the rank of the flattening of general forms: that of drawn ones modulo a prime."""
    monomials = list(itertools.combinations_with_replacement(range(e), r))
    place = {m: k for k, m in enumerate(monomials)}
    drawn = stream_modulo("0", "flattening", o * len(monomials), FLATTENING_PRIME)
    columns = [
        (chosen, b)
        for chosen in itertools.combinations(range(o), wedge)
        for b in itertools.combinations_with_replacement(range(e), r - split)
    ]
    rows = []
    for larger in itertools.combinations(range(o), wedge + 1):
        # the form that a larger set has beyond a smaller one, and its sign, for the smaller sets within it
        extra = {larger[:k] + larger[k + 1 :]: (i, (-1) ** k) for k, i in enumerate(larger)}
        for a in itertools.combinations_with_replacement(range(e), split):
            row = []
            for chosen, b in columns:
                i, sign = extra.get(chosen, (0, 0))
                value = drawn[i * len(monomials) + place[tuple(sorted(a + b))]] if sign else 0
                row.append(sign * value % FLATTENING_PRIME)
            rows.append(row)
    return rank_of_residues(rows, FLATTENING_PRIME)


def check_composition(steps: Any, network: Network) -> int:
    """The dimension proved by the derivation in ``steps``, which need not be the least."""
    fields(steps, "upper bound", "steps", ("derivation",))
    composition = Composition(network)
    return composition.verify(steps["derivation"], 0, composition.last)


METHODS = {
    "parameters": bound_by_parameters,
    "flag": bound_by_flag,
    "layerwise": bound_layerwise,
    "coefficients": bound_by_coefficients,
    "torus": bound_by_torus,
    "normalized-flag": bound_by_normalized_flag,
    "normalized-stages": bound_by_normalized_stages,
    "linear": bound_by_linear,
}


def check_upper_bound(
    bound: Any, network: Network, report: Report = lambda message: None, nested: bool = False
) -> int:
    """Recompute value and steps (verify them, for `composition` and `symmetry`); the value.

    ``nested``: the bound is that of a part in the steps of `symmetry`, which is not to be used again there.
    """
    fields(bound, "upper bound", "upper bound", ("value", "method", "steps"))
    method = bound["method"]
    require(isinstance(method, str), "upper bound", "method is {}, not a string", method)
    require(not (nested and method == "symmetry"), "upper bound", "a part's bound is by symmetry itself")
    if method in ("composition", "symmetry"):
        if method == "composition":
            value = check_composition(bound["steps"], network)
        else:
            value = check_symmetry_bound(bound["steps"], network, report)
        compare("upper bound", "value", bound["value"], encode(value))
        return value
    require_supported(method in METHODS, "upper bound method {}", method)
    value, steps = METHODS[method](network)
    compare("upper bound", "value", bound["value"], encode(value))
    compare("upper bound", "steps", bound["steps"], steps)
    return value


# ------------------------------------------------------------------------------------------------------------
# §4  Kind `dimension`
# ------------------------------------------------------------------------------------------------------------

# relation: (further keys of the claim, needs a lower bound, needs an upper bound, in words)
RELATIONS: dict[str, tuple[tuple[str, ...], bool, bool, str]] = {
    "equals": (("value",), True, True, "="),
    "at least": (("value",), True, False, ">="),
    "at most": (("value",), False, True, "<="),
    "between": (("lower", "upper"), True, True, "between"),
}


def check_dimension(certificate: dict[str, Any], report: Report) -> str:
    network = parse_network(certificate["network"])
    claim = certificate["claim"]
    require(isinstance(claim, dict), "claim", "claim is {}, not an object", claim)
    relation = claim.get("relation")
    if not (isinstance(relation, str) and relation in RELATIONS):
        raise InvalidError("claim", f"relation is {show(relation)}, not one of {', '.join(RELATIONS)}")
    keys, needs_lower, needs_upper, words = RELATIONS[relation]
    fields(claim, "claim", "claim", ("quantity", "relation", *keys))
    compare("claim", "quantity", claim["quantity"], "dimension")
    lower = integer(claim[keys[0]], "claim", keys[0], 0)
    upper = integer(claim[keys[-1]], "claim", keys[-1], 0)
    require(relation != "between" or lower < upper, "claim", f"lower {lower} is not below upper {upper}")

    witness = fields(certificate["witness"], "fields", "witness", ("lower_bound", "upper_bound"))
    below, above = witness["lower_bound"], witness["upper_bound"]
    for bound, needed, what in ((below, needs_lower, "lower"), (above, needs_upper, "upper")):
        article = "a" if needed else "no"
        require((bound is not None) == needed, "claim", f"{{}} needs {article} bound: {what}", relation)
    # All that is cheap comes first; the determinant last.
    minor = parse_lower_bound(below, network) if needs_lower else None
    strength = "exact" if minor is None else minor.strength
    check_strength_and_provenance(certificate, strength)
    if minor is not None:
        require(minor.value == lower, "claim", f"claims {lower}, the lower bound is {minor.value}")
    if needs_upper:
        value = check_upper_bound(above, network, report)
        require(value == upper, "claim", f"claims {upper}, the upper bound is {encode(value)}")
    if minor is not None:
        minor.verify(report)
    number = f"{lower} and {encode(upper)}" if relation == "between" else f"{encode(lower)}"
    of = f"of {encode(network.parameters())} parameters ({strength})"
    return f"dimension of {network} {words} {number} {of}"


def parse_lower_bound(bound: Any, network: Network) -> LowerBound | BallBound:
    """The lower bound by its method; one without method is a minor modulo a prime."""
    if not (isinstance(bound, dict) and "method" in bound):
        return LowerBound.parse(bound, network)
    method = bound["method"]
    require(isinstance(method, str), "lower bound", "method is {}, not a string", method)
    require_supported(method == "ball", "lower bound method {}", method)
    return BallBound.parse(bound, network)


def check_strength_and_provenance(certificate: dict[str, Any], expected: str = "exact") -> None:
    strength, provenance = certificate["strength"], certificate["provenance"]
    require(strength == expected, "strength", f"strength is {{}}, {expected} is what it is", strength)
    require(isinstance(provenance, dict), "provenance", "provenance is {}, not an object", provenance)
    for key, value in provenance.items():
        require(isinstance(value, str), "provenance", "{} is {}, not a string", key, value)


# ------------------------------------------------------------------------------------------------------------
# §1  Polynomials and rational matrices
# ------------------------------------------------------------------------------------------------------------

Exponents = tuple[int, ...]
Polynomial = dict[Exponents, Fraction]  # no zero coefficients


def fraction(value: Any, check: str, what: str) -> Fraction:
    """A number of the format as a Fraction."""
    return Fraction(*rational(value, check, what))


def parse_polynomial(value: Any, variables: int, check: str, what: str) -> Polynomial:
    """A polynomial in its one allowed spelling: [coefficient, exponents], exponents strictly decreasing."""
    result: Polynomial = {}
    last: Exponents | None = None
    for term in array(value, check, what):
        parts = array(term, check, f"term of {what}")
        require(len(parts) == 2, check, f"term of {what} is {{}}, not [coefficient, exponents]", term)
        coefficient = fraction(parts[0], check, f"coefficient in {what}")
        require(coefficient != 0, check, f"{what} has a term with coefficient 0")
        listed = array(parts[1], check, f"exponents in {what}")
        require(len(listed) == variables, check, f"{what}: {len(listed)} exponents, {variables} are needed")
        exponents = tuple(integer(k, check, f"exponent in {what}", 0, MAX_EXPONENT) for k in listed)
        require(last is None or exponents < last, check, f"{what}: terms are not in decreasing order")
        result[exponents] = coefficient
        last = exponents
    return result


def polynomial_sum(
    p: Polynomial, q: Polynomial, work: Work, factor: Fraction = Fraction(1)
) -> Polynomial:  # fmt: skip
    """p + factor q; the work counts terms and the bits of the sums."""
    work.spend(len(q))
    result = dict(p)
    own = bit_size(factor)
    for exponents, coefficient in q.items():
        old = result.get(exponents, 0)
        spend_bits(own + bit_size(coefficient) + bit_size(old), work)
        value = old + factor * coefficient
        if value:
            result[exponents] = value
        else:
            result.pop(exponents, None)
    return result


def bit_size(x: Fraction | int) -> int:
    """Bits of numerator and denominator."""
    return x.numerator.bit_length() + x.denominator.bit_length()


def bit_work(bits: int) -> int:
    """Elementary steps of one operation on rational numbers of so many bits (a gcd is quadratic)."""
    require_supported(bits <= LIMIT_BITS, f"rational numbers of more than {LIMIT_BITS} bits")
    return 1 + (bits // 512) ** 2 // 8


def spend_bits(bits: int, work: Work) -> None:
    """Count one operation on rational numbers of so many bits, before it is done; short ones are counted with
    the loop that they are in."""
    if bits >= 1536:
        work.spend(bit_work(bits))


def spend_product(left: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]], work: Work) -> None:
    """Count the steps of a product of rational matrices; denominators may multiply up along a sum."""
    inner, columns = len(right), len(right[0]) if right else 0
    numerators = denominators = 0
    for matrix in (left, right):
        entries = [x for row in matrix for x in row]
        numerators += max((x.numerator.bit_length() for x in entries), default=0)
        denominators += max((x.denominator.bit_length() - 1 for x in entries), default=0)
    bits = numerators + inner.bit_length() + 2 * inner * denominators
    # without denominators there is no gcd
    work.spend(1 + len(left) * inner * columns // (1 if denominators else 8) * bit_work(bits))
    require_supported(len(left) * columns * bits <= 8 * LIMIT_HELD, "matrices of too many bits")


def common_denominator(values: Iterable[Fraction | int], work: Work) -> int:
    """The least common multiple of the denominators; a very long one is `unsupported`."""
    scale = 1
    for x in values:
        if x.denominator == 1:
            continue
        work.spend(1 + bit_work(scale.bit_length() + x.denominator.bit_length()) // 8)
        scale = math.lcm(scale, x.denominator)
        require_supported(scale.bit_length() <= LIMIT_BITS // 10, "a common denominator of too many digits")
    return scale


def polynomial_product(p: Polynomial, q: Polynomial, work: Work) -> Polynomial:
    """p q; the work counts pairs of terms, how long their exponents are, and the bits of the sums."""
    width = len(next(iter(p), ()))
    work.spend(len(p) * len(q) * (1 + width // 32))
    result: Polynomial = {}
    sizes = [(b, e, bit_size(e)) for b, e in q.items()]
    for a, c in p.items():
        own = bit_size(c)
        for b, e, size in sizes:
            exponents = tuple(map(add, a, b))
            old = result.get(exponents, 0)
            spend_bits(own + size + bit_size(old), work)
            result[exponents] = old + c * e
        held = len(result) * (200 + 8 * width)
        require_supported(held <= LIMIT_HELD, "a product of polynomials with too many terms")
    return {exponents: value for exponents, value in result.items() if value}


def polynomial_derivative(p: Polynomial, variable: int) -> Polynomial:
    """The partial derivative of p by a variable, numbered from 0."""
    result: Polynomial = {}
    for exponents, value in p.items():
        k = exponents[variable]
        if k:
            result[(*exponents[:variable], k - 1, *exponents[variable + 1 :])] = k * value
    return result


def polynomial_value(p: Polynomial, point: Sequence[Fraction | int], work: Work) -> Fraction:
    """The value of p at a rational point; the work counts factors and bits."""
    sizes = [bit_size(x) for x in point]
    total = Fraction(0)
    for exponents, value in p.items():
        bits = bit_size(value) + sum(map(mul, sizes, exponents))
        work.spend(1 + sum(exponents) + bit_work(bits) + bit_work(bit_size(total)))
        term = value
        for x, k in zip(point, exponents, strict=True):
            if k:
                term *= x**k
        total += term
    return total


def rational_matrix(value: Any, rows: int, columns: int, check: str, what: str) -> list[list[Fraction]]:
    """A matrix, as a list of rows of numbers of the format."""
    listed = array(value, check, what)
    require(len(listed) == rows, check, f"{what} has {len(listed)} rows, {rows} are needed")
    matrix = []
    for number, row in enumerate(listed):
        entries = array(row, check, f"row {number} of {what}")
        require(
            len(entries) == columns, check, f"{what}: row {number} has {len(entries)} entries, not {columns}"
        )
        matrix.append([fraction(entry, check, f"entry of {what}") for entry in entries])
    return matrix


def spend_elimination(matrix: list[list[int]], work: Work) -> None:
    """Count the steps of an elimination without fractions, before it is done.

    After k steps the entries are minors of size k + 1 (Hadamard bounds their bits); each is made with two
    products and a division, which is quadratic.
    """
    rows, columns = len(matrix), max(map(len, matrix), default=0)
    bits = max((x.bit_length() for row in matrix for x in row), default=0)
    for k in range(min(rows, columns)):
        size = (k + 1) * (bits + (k + 1).bit_length())
        work.spend((rows - k) * (columns - k) * (3 * bit_work(size) - 2))


def rational_rank(rows: Sequence[Sequence[Fraction | int]], work: Work) -> int:
    """The exact rank over Q: rows are made integral, then eliminated without fractions (Bareiss)."""
    matrix = []
    for row in rows:
        scale = common_denominator(row, work)
        work.spend(1 + len(row) * bit_work(scale.bit_length()) // 8)
        matrix.append([int(x * scale) for x in row])
    spend_elimination(matrix, work)
    rank, previous = 0, 1
    for column in range(len(matrix[0]) if matrix else 0):
        pivot = next((i for i in range(rank, len(matrix)) if matrix[i][column]), None)
        if pivot is None:
            continue
        matrix[rank], matrix[pivot] = matrix[pivot], matrix[rank]
        top = matrix[rank]
        head = top[column]
        for i in range(rank + 1, len(matrix)):
            row, factor = matrix[i], matrix[i][column]
            matrix[i] = [(head * x - factor * y) // previous for x, y in zip(row, top, strict=True)]
        previous, rank = head, rank + 1
    return rank


# ------------------------------------------------------------------------------------------------------------
# §4.2  The method `symmetry`
# ------------------------------------------------------------------------------------------------------------

Monomial = tuple[int, ...]  # numbers of parameters, increasing, repeated
FormKey = tuple[int, Monomial]  # symbol and monomial
Form = dict[FormKey, Fraction | int]  # no zero coefficients
VectorField = dict[int, list[tuple[Monomial, Fraction]]]  # by component


def parse_field(value: Any, n: int, prime: int, check: str) -> VectorField:
    """A polynomial vector field: terms [component, monomial, coefficient] in increasing order."""
    result: VectorField = {}
    last: tuple[int, Monomial] | None = None
    for term in array(value, check, "field", at_least=1):
        parts = array(term, check, "term of a field")
        require(len(parts) == 3, check, "term {} is not [component, monomial, coefficient]", term)
        component = integer(parts[0], check, "component", 0, n - 1)
        listed = array(parts[1], check, "monomial")
        require_supported(len(listed) <= MAX_FIELD_DEGREE, f"a field of degree {len(listed)}")
        monomial = tuple(integer(k, check, "parameter in a monomial", 0, n - 1) for k in listed)
        require(list(monomial) == sorted(monomial), check, "monomial {} is not increasing", list(monomial))
        coefficient = fraction(parts[2], check, "coefficient of a field")
        require(coefficient != 0, check, "a field has a term with coefficient 0")
        whole = coefficient.denominator % prime != 0
        require(whole, check, f"{prime} divides the denominator of the coefficient {{}}", parts[2])
        key = component, monomial
        require(last is None or last < key, check, "the terms of a field are not in increasing order")
        result.setdefault(component, []).append((monomial, coefficient))
        last = key
    return result


class Variation:
    """The forms of a network's values and their first variations along vector fields.

    Symbols are numbered: those of the input, of activations (node, row), of heads (node, symbol), and ONES.
    """

    ONES = 0

    def __init__(self, network: Network) -> None:
        self.network = network
        self.symbols: dict[tuple[int, int], int] = {}
        self.work = Work("forms", LIMIT_FORMS)
        self.first: list[dict[str, int]] = []  # of each layer: number of the first entry of its matrices
        position = 0
        for layer in network.layers:
            own = {}
            for name, rows, columns in layer.matrices():
                own[name] = position
                position += rows * columns
            self.first.append(self.first[layer.owner - 1] if layer.owner else own)
        self.values: list[list[Form]] = [[{(self.symbol(0, i), ()): 1} for i in range(network.width)]]
        self.thin = [min(network.width, network.tokens) == 1]
        self.inner: dict[int, tuple[list[Form], list[Form]]] = {}  # of each head: the forms of QZ and of KZ
        self.inverses: dict[tuple[int, int], tuple[list[FormKey], list[list[Fraction]]] | None] = {}
        for node in range(1, len(network.layers) + 1):
            self.thin.append(self.is_thin(node))
            self.values.append(self.value(node))

    def symbol(self, node: int, index: int) -> int:
        self.work.spend(1)
        return self.symbols.setdefault((node, index), len(self.symbols) + 1)

    def add(self, total: Form, form: Form, factor: Fraction | int = 1, monomial: Monomial = ()) -> None:
        """total += factor * monomial * form."""
        self.work.spend(len(form) * (1 + len(monomial) // 4) + 1)
        size = bit_size(factor)
        for (symbol, own), value in form.items():
            both = tuple(sorted(own + monomial)) if monomial else own
            old = total.pop((symbol, both), 0)
            spend_bits(size + bit_size(value) + bit_size(old), self.work)
            sum_ = old + factor * value
            if sum_:
                total[symbol, both] = sum_

    def product(self, node: int, name: str, rows: list[Form], field: VectorField | None = None) -> list[Form]:
        """A parameter matrix of a layer, or its component in a field, times forms."""
        layer = self.network.layers[node - 1]
        ((_, height, width),) = [shape for shape in layer.shapes() if shape[0] == name]
        first = self.first[node - 1][name]
        found = []
        for i in range(height):
            total: Form = {}
            for j, row in enumerate(rows):
                entry = first + i * width + j
                if field is None:
                    self.add(total, row, 1, (entry,))
                for monomial, coefficient in field.get(entry, ()) if field else ():
                    self.add(total, row, coefficient, monomial)
            found.append(total)
        return found

    def linear(self, node: int, rows: list[Form], field: VectorField | None = None) -> list[Form]:
        """W, or its component in a field, times forms, for a linear layer or a convolution."""
        layer = self.network.layers[node - 1]
        if layer.type == LINEAR:
            return self.product(node, "W", rows, field)
        starts = range(0, layer.positions * layer.stride, layer.stride)
        parts = [self.product(node, "W", rows[start : start + layer.kernel], field) for start in starts]
        return [part[c] for c in range(layer.channels) for part in parts]

    def total(self, parts: Iterable[Form]) -> Form:
        result: Form = {}
        for part in parts:
            self.add(result, part)
        return result

    def is_thin(self, node: int) -> bool:
        """Whether the value has rank at most one as a matrix, by the rules of the format."""
        layer = self.network.layers[node - 1]
        if min(layer.d_out, self.network.tokens) == 1:
            return True
        passes = layer.type not in (SUM, BIAS) and self.thin[layer.inputs[0]]
        return passes or (layer.type == ATTENTION and layer.rank == 1)

    def value(self, node: int) -> list[Form]:
        layer = self.network.layers[node - 1]
        rows = self.values[layer.inputs[0]]
        if layer.type in (LINEAR, CONVOLUTION):
            return self.linear(node, rows)
        if layer.type == BIAS:
            first = self.first[node - 1]["b"]
            return [self.total((row, {(self.ONES, (first + i,)): 1})) for i, row in enumerate(rows)]
        if layer.type == SUM:
            return [self.total(parts) for parts in zip(*(self.values[x] for x in layer.inputs), strict=True)]
        if layer.type == ACTIVATION:
            if layer.degree == 1:
                return rows
            return [{(self.symbol(node, i), ()): 1} for i in range(len(rows))]
        self.inner[node] = self.product(node, "Q", rows), self.product(node, "K", rows)
        return [self.tagged(node, row) for row in self.product(node, "V", rows)]

    def tagged(self, node: int, form: Form) -> Form:
        """Every symbol s becomes the symbol (node, s) of a head."""
        return {(self.symbol(node, symbol), monomial): value for (symbol, monomial), value in form.items()}

    def vanishes(self, field: VectorField) -> None:
        """Fail unless the output's variation along the field is zero."""
        changes: list[list[Form]] = [[{} for _ in range(self.network.width)]]
        for node, layer in enumerate(self.network.layers, start=1):
            rows, change = self.values[layer.inputs[0]], changes[layer.inputs[0]]
            self.work.spend(len(rows))
            if layer.type in (LINEAR, CONVOLUTION):
                parts = zip(self.linear(node, rows, field), self.linear(node, change), strict=True)
                found = [self.total(part) for part in parts]
            elif layer.type == BIAS:
                first = self.first[node - 1]["b"]
                found = [dict(row) for row in change]
                for i, total in enumerate(found):
                    for monomial, coefficient in field.get(first + i, ()):
                        self.add(total, {(self.ONES, ()): 1}, coefficient, monomial)
            elif layer.type == SUM:
                found = [self.total(p) for p in zip(*(changes[x] for x in layer.inputs), strict=True)]
            elif layer.type == ACTIVATION and layer.degree == 1:
                found = change
            elif layer.type == ACTIVATION:
                found = []
                for i, (row, moved) in enumerate(zip(rows, change, strict=True)):
                    c = self.multiple(layer, row, moved) * layer.degree
                    found.append({(self.symbol(node, i), ()): c} if c else {})
            else:
                found = self.changed_head(node, rows, change, field)
            changes.append(found)
        why = "a field changes the map: its first variation at the output is not zero"
        require(not any(changes[self.network.output]), "symmetry", why)

    def multiple(self, layer: Layer, row: Form, change: Form) -> Fraction:
        """The rational c with change = c row."""
        if not change:
            return Fraction(0)
        key, value = next(iter(change.items()))
        why = f"a field changes a row at the activation {layer.id} by no rational multiple of itself"
        require(key in row, "symmetry", why)
        spend_bits(bit_size(value) + bit_size(row[key]), self.work)
        c = Fraction(value) / row[key]
        rest = dict(change)
        self.add(rest, row, -c)
        require(not rest, "symmetry", why)
        return c

    def changed_head(self, node: int, rows: list[Form], change: list[Form], field: VectorField) -> list[Form]:
        moved = {
            name: [self.total(p) for p in zip(self.product(node, name, rows, field),
                                              self.product(node, name, change), strict=True)]
            for name in "QKV"
        }  # fmt: skip
        found = [self.tagged(node, row) for row in moved["V"]]
        if any(moved["Q"]) or any(moved["K"]):
            factor = self.head_factor(node, moved["Q"], moved["K"])
            for total, row in zip(found, self.values[node], strict=True):
                self.add(total, row, factor)
        return found

    def head_factor(self, node: int, queries: list[Form], keys: list[Form]) -> Fraction:
        """The number k by which (KZ)^T (QZ) is multiplied."""
        layer = self.network.layers[node - 1]
        size = layer.rank
        Q, K = self.inner[node]
        if self.thin[layer.inputs[0]]:
            M = self.coordinates(node, 0, K + Q, keys + queries)
            form = [[M[(i + size) % (2 * size)][j] for j in range(2 * size)] for i in range(2 * size)]  # J M
            doubled = [[form[i][j] + form[j][i] for j in range(2 * size)] for i in range(2 * size)]
            expected = [(i + size) % (2 * size) for i in range(2 * size)]
        else:
            H, L = self.coordinates(node, 1, Q, queries), self.coordinates(node, 2, K, keys)
            doubled = [[H[i][j] + L[j][i] for j in range(size)] for i in range(size)]
            expected = list(range(size))
        k = doubled[0][expected[0]]
        scalar = all(
            x == (k if j == expected[i] else 0) for i, row in enumerate(doubled) for j, x in enumerate(row)
        )
        require(scalar, "symmetry", f"a field changes (K Z)^T (Q Z) of {layer.id} by no multiple of itself")
        return k

    def coordinates(
        self, node: int, which: int, basis: list[Form], forms: list[Form]
    ) -> list[list[Fraction]]:  # fmt: skip
        """The matrix C with forms = C basis, for independent basis forms.

        Some coefficients of the basis make an invertible matrix B; C is the same coefficients of the forms
        times B^-1, if that is a solution at all.
        """
        name = self.network.layers[node - 1].id
        if (node, which) not in self.inverses:
            self.inverses[node, which] = self.invert(basis)
        known = self.inverses[node, which]
        if known is None:
            raise InvalidError("symmetry", f"the forms of K Z or Q Z of {name} are linearly dependent")
        keys, inverse = known
        size = len(basis)
        self.work.spend(len(forms) * size * size)
        longest = max(bit_size(x) for line in inverse for x in line)
        result = []
        for form in forms:
            values = [form.get(key, 0) for key in keys]
            pairs = [(k, v) for k, v in enumerate(values) if v]
            total_bits = sum(bit_size(v) + longest for _, v in pairs)
            self.work.spend(len(pairs) * size * (bit_work(total_bits) - 1))
            row = [sum((v * inverse[k][j] for k, v in pairs), Fraction(0)) for j in range(size)]
            rest = dict(form)
            for c, known_form in zip(row, basis, strict=True):
                if c:
                    self.add(rest, known_form, -c)
            require(not rest, "symmetry", f"a field changes K Z or Q Z of {name} by no rational combination")
            result.append(row)
        return result

    def invert(self, basis: list[Form]) -> tuple[list[tuple[int, Monomial]], list[list[Fraction]]] | None:
        """Keys of coefficients that make an invertible matrix (row i: those of form i), and its inverse."""
        size = len(basis)
        # Eliminate forms and, alongside, the identity: row i becomes e_i in the chosen coefficients.
        rows = [(dict(form), [Fraction(int(i == k)) for k in range(size)]) for i, form in enumerate(basis)]
        keys: list[tuple[int, Monomial]] = []
        for i in range(size):
            form, combination = rows[i]
            if not form:
                return None
            key = next(iter(form))
            keys.append(key)
            scale = 1 / Fraction(form[key])
            for x in (*form.values(), *combination):
                spend_bits(bit_size(scale) + bit_size(x), self.work)
            form = {k: v * scale for k, v in form.items()}
            combination = [v * scale for v in combination]
            rows[i] = form, combination
            for j, (other, own) in enumerate(rows):
                if j != i and key in other:
                    factor = other[key]
                    self.add(other, form, -factor)
                    for x, y in zip(own, combination, strict=True):
                        spend_bits(bit_size(x) + bit_size(factor) + bit_size(y), self.work)
                    rows[j] = other, [x - factor * y for x, y in zip(own, combination, strict=True)]
            self.work.spend(size * size)
        # combination * basis has coefficient 1 at its own key and 0 at the others: it is B^-1
        return keys, [combination for _, combination in rows]


class Span:
    """A space of vectors over Z/p, by a basis in echelon form."""

    def __init__(self, prime: int) -> None:
        self.prime = prime
        self.basis: dict[int, list[int]] = {}  # by place of the first entry that is not zero, a 1

    def insert(self, vector: list[int]) -> None:
        vector, prime = list(vector), self.prime
        for place in range(len(vector)):
            value = vector[place]
            if not value:
                continue
            if place not in self.basis:
                inverse = pow(value, -1, prime)
                self.basis[place] = [x * inverse % prime for x in vector]
                return
            vector = [(x - value * y) % prime for x, y in zip(vector, self.basis[place], strict=True)]


def null_vectors(rows: list[list[int]], columns: int, prime: int) -> list[list[int]]:
    """A basis of the vectors that all rows annihilate, over Z/p."""
    span = Span(prime)
    for row in rows:
        span.insert(row)
    pivots = sorted(span.basis)
    result = []
    for free in range(columns):
        if free in span.basis:
            continue
        vector = [0] * columns
        vector[free] = 1
        for place in reversed(pivots):
            row = span.basis[place]
            vector[place] = -sum(map(mul, row[place + 1 :], vector[place + 1 :])) % prime
        result.append(vector)
    return result


def sub_network(
    network: Network, start: int, end: int, summands: frozenset[int] | None
) -> tuple[Network, list[int]]:
    """A part of a network as a network of its own, and its nodes in the whole.

    Fails unless the part's layers are read by each other alone (but for the end), start from one value, and
    share no matrices with layers outside.
    """
    name = network.layers[end - 1].id
    inputs = network.layers[end - 1].inputs
    if summands is not None:
        inputs = tuple(x for x in inputs if x in summands)
        require(len(inputs) >= 2, "symmetry", f"the part to {name} takes fewer than two summands")
    inside, stack = {end}, list(inputs)
    while stack:
        node = stack.pop()
        if node == start or node in inside:
            continue
        require(node != 0, "symmetry", f"a layer of the part to {name} does not start from the part's input")
        inside.add(node)
        stack.extend(network.layers[node - 1].inputs)
    for node in inside - {end}:
        readers = network.consumers[node]
        closed = inside.issuperset(readers) and not (end in readers and node not in inputs)
        why = f"{network.layers[node - 1].id} in the part to {name} is read outside of it"
        require(closed, "symmetry", why)
    owners = {network.layers[node - 1].owner or node for node in inside}
    uses = {node for node, layer in enumerate(network.layers, start=1) if (layer.owner or node) in owners}
    require(uses <= inside, "symmetry", f"the part to {name} shares matrices with layers outside of it")
    order = sorted(inside)
    number = {node: i for i, node in enumerate(order, start=1)} | {start: 0}
    layers: list[Layer] = []
    consumers: list[list[int]] = [[] for _ in range(len(order) + 1)]
    for node in order:
        layer = network.layers[node - 1]
        own = tuple(number[x] for x in (inputs if node == end else layer.inputs))
        owner = number[layer.owner] if layer.owner else 0
        layers.append(replace(layer, inputs=own, owner=owner))
        for source in dict.fromkeys(own):
            consumers[source].append(number[node])
    sharing = frozenset(n for i, x in enumerate(layers, start=1) if x.owner for n in (i, x.owner))
    listed = tuple(map(tuple, consumers))
    width = network.node_width(start)
    return Network(network.tokens, width, tuple(layers), listed, number[end], sharing), order


class Symmetries:
    """Fields and parts of a network whose directions at one point lie in the kernel of the Jacobian."""

    def __init__(self, network: Network, prime: int, seed: str) -> None:
        self.network, self.prime, self.seed = network, prime, seed
        self.n = network.parameters()
        types = {layer.type for layer in network.layers}
        applies(NORMALIZED not in types, "symmetry", f"the network has {NORMALIZED} layers")
        require_supported(self.n <= LIMIT_SYMMETRY, f"symmetries of {self.n} parameters")
        count = len(network.layers)
        require_supported(count <= LIMIT_SYMMETRY, f"symmetries of {count} layers")
        self.point = Sampling(network, prime, seed).parameters()
        self.variation: Variation | None = None
        self.span = Span(prime)
        self.vectors = 0
        self.fields: list[VectorField] = []
        self.seconds = 0.0  # predicted for the Jacobians of parts

    def add(self, vector: list[int]) -> None:
        self.vectors += 1
        steps = self.vectors * self.n * (1 + len(self.span.basis))
        require_supported(steps <= LIMIT_ELIMINATION, f"{self.vectors} directions of {self.n} parameters")
        self.span.insert(vector)

    def add_field(self, value: Any) -> None:
        """Prove that a field changes nothing; add its value at the point."""
        field = parse_field(value, self.n, self.prime, "symmetry")
        if self.variation is None:
            self.variation = Variation(self.network)
        self.variation.vanishes(field)
        self.fields.append(field)
        vector = [0] * self.n
        for component, terms in field.items():
            for monomial, coefficient in terms:
                product = coefficient.numerator * pow(coefficient.denominator, -1, self.prime)
                for k in monomial:
                    product = product * self.point[k] % self.prime
                vector[component] = (vector[component] + product) % self.prime
        self.add(vector)

    def add_part(self, value: Any, report: Report) -> None:
        """Prove a part's dimension; add the kernel of its Jacobian at the point."""
        keys = ("from", "to", "summands", "bound")
        fields(value, "symmetry", "part", keys)
        nodes = {"input": 0} | {layer.id: i for i, layer in enumerate(self.network.layers, start=1)}

        def node(name: Any, what: str) -> int:
            if not (isinstance(name, str) and name in nodes):
                raise InvalidError("symmetry", f"{what} {show(name)} of a part is no layer")
            return nodes[name]

        start, end = node(value["from"], "from"), node(value["to"], "to")
        require(start < end, "symmetry", "a part ends before it starts")
        summands = None
        if value["summands"] is not None:
            last = self.network.layers[end - 1]
            require(last.type == SUM, "symmetry", f"{last.id} has summands but is no {SUM}")
            names = array(value["summands"], "symmetry", "summands", at_least=1)
            chosen = [node(x, "summand") for x in names]
            once = len(set(chosen)) == len(chosen) and set(chosen) <= set(last.inputs)
            require(once, "symmetry", f"the summands of {last.id} are not different inputs of it")
            summands = frozenset(chosen)
        part, order = sub_network(self.network, start, end, summands)
        dimension = check_upper_bound(value["bound"], part, report, nested=True)
        m = part.parameters()
        require(m > 0, "symmetry", f"the part to {value['to']} has no parameters")
        first = 0
        places: list[int] = []
        for number, layer in enumerate(self.network.layers, start=1):
            size = sum(rows * columns for _, rows, columns in layer.matrices())
            if number in order:
                places.extend(range(first, first + size))
            first += size
        self.seconds += predicted_seconds(part, m + 10)["python"]
        require_supported(self.seconds <= LIMIT_PART_SECONDS, f"Jacobians of parts, one of {m} parameters")
        rule = Sampling(part, self.prime, self.seed)
        samples = tuple((rule.input(j), rule.functional(j)) for j in range(m + 10))
        own = tuple(self.point[k] for k in places)
        sampling = Sampling(part, self.prime, None, own, samples)
        rows = plain_minor(sampling, list(range(m + 10)), list(range(m)), report)
        kernel = null_vectors(rows, m, self.prime)
        rank = m - len(kernel)
        why = f"the part to {value['to']} has rank {rank} at the point, not {dimension}"
        require(rank == dimension, "symmetry", why)
        for vector in kernel:
            whole = [0] * self.n
            for k, x in zip(places, vector, strict=True):
                whole[k] = x
            self.add(whole)

    @property
    def rank(self) -> int:
        return len(self.span.basis)


def parse_symmetries(
    steps: dict[str, Any], network: Network, report: Report, least: int = 1
) -> Symmetries:  # fmt: skip
    """The fields and parts of `steps`, all proved; their rank is at least ``least``."""
    prime = integer(steps["prime"], "prime", "prime", 3, 2**31 - 1)
    require(is_prime(prime), "prime", f"{prime} is not prime")
    seed = matching(steps["seed"], SEED, "symmetry", "seed")
    found = Symmetries(network, prime, seed)
    listed, parts = array(steps["fields"], "symmetry", "fields"), array(steps["parts"], "symmetry", "parts")
    few = len(listed) <= LIMIT_SYMMETRY and len(parts) <= LIMIT_PARTS
    require_supported(few, f"{len(listed)} fields, {len(parts)} parts")
    for number, value in enumerate(listed, start=1):
        report(f"field {number} of {len(listed)}")
        found.add_field(value)
    for value in parts:
        found.add_part(value, report)
    rank = integer(steps["rank"], "symmetry", "rank", least)
    require(rank == found.rank, "symmetry", f"stated rank {rank}, recomputed {found.rank} at the point")
    return found


def check_symmetry_bound(steps: Any, network: Network, report: Report) -> int:
    """Verify the steps of the method `symmetry`; n minus the rank."""
    keys = ("parameters", "prime", "seed", "fields", "parts", "rank")
    fields(steps, "upper bound", "steps", keys)
    compare("upper bound", "parameters", steps["parameters"], encode(network.parameters()))
    return network.parameters() - parse_symmetries(steps, network, report).rank


# ------------------------------------------------------------------------------------------------------------
# §5  Kind `degrees`
# ------------------------------------------------------------------------------------------------------------


def parse_degrees(value: Any, network: Network, matrices: int) -> list[Any]:
    """The stated degrees, one entry for each layer, each with a degree for each of the matrices."""
    witness = fields(value, "fields", "witness", ("layers",))
    stated = array(witness["layers"], "degrees", "layers")
    count = len(network.layers)
    require(len(stated) == count, "degrees", f"{len(stated)} entries for {count} layers")
    for entry in stated:  # lengths first: then the work of the check is bounded by the size of the file
        fields(entry, "degrees", "entry of layers", ("layer", "input", "parameters"))
        count = len(array(entry["parameters"], "degrees", "parameters"))
        require(count == matrices, "degrees", f"{count} degrees for {matrices} parameter matrices")
    edges = sum(len(layer.inputs) for layer in network.layers)
    require_supported(edges * matrices <= 5 * LIMIT_WORK, f"{edges} edges, {matrices} matrices")
    return stated


def check_degrees(certificate: dict[str, Any], report: Report) -> str:
    network = parse_network(certificate["network"])
    matrices = network.matrices()
    claim = fields(certificate["claim"], "claim", "claim", ("quantity", "input", "parameters"))
    compare("claim", "quantity", claim["quantity"], "degrees")
    array(claim["parameters"], "claim", "parameters")
    check_strength_and_provenance(certificate)
    stated = parse_degrees(certificate["witness"], network, len(matrices))
    degrees: list[list[int]] = [[1] + [0] * len(matrices)]  # of each node: in X, then in each matrix
    first = [1]  # of each layer and the next one: where the degrees in its own matrices begin
    for layer, entry in zip(network.layers, stated, strict=True):
        require(layer.type != BIAS, "degrees", f"the value of {layer.id}, a {BIAS}, is not homogeneous")
        require(not network.has_softmax, "degrees", f"{NORMALIZED} on two or more tokens has no degrees")
        own = degrees[layer.inputs[0]]
        if layer.type == SUM:
            for node in layer.inputs:
                require(degrees[node] == own, "degrees", f"the inputs of {layer.id} have different degrees")
        elif layer.type not in (LINEAR, CONVOLUTION, NORMALIZED):
            factor = 3 if layer.type == ATTENTION else layer.degree
            own = [factor * degree for degree in own]
        own = list(own)
        begin = first[layer.owner - 1] if layer.owner else first[-1]
        seen = (2,) if layer.type == NORMALIZED else range(len(layer.shapes()))  # one token: V X
        for position in seen:
            own[begin + position] += 1
        first.append(first[-1] + len(layer.matrices()))
        written = [encode(degree) for degree in own]
        expected = {"layer": layer.id, "input": written[0], "parameters": written[1:]}
        compare("degrees", layer.id, entry, expected)
        degrees.append(own)

    result = [encode(degree) for degree in degrees[network.output]]
    compare("claim", "input", claim["input"], result[0])
    names = [
        {"layer": layer.id, "parameter": name, "degree": degree}
        for (layer, name, _, _), degree in zip(matrices, result[1:], strict=True)
    ]
    compare("claim", "parameters", claim["parameters"], names)
    listed = ", ".join(f"{x['degree']} in {x['parameter']} of {x['layer']}" for x in names[:9])
    more = ", ..." if len(names) > 9 else ""
    return f"{network}: homogeneous of degree {result[0]} in X, {listed}{more} (exact)"


# ------------------------------------------------------------------------------------------------------------
# §6  Kind `matrix-identity`
# ------------------------------------------------------------------------------------------------------------

Size = str | int
Word = tuple[str, ...]  # letters as written: A, A', A^-1, A^-T
Scalars = tuple[tuple[str, int], ...]  # sorted by name, exponents not zero
Terms = dict[tuple[Word, Scalars], Fraction]
TRANSPOSE = {"": "'", "'": "", "^-1": "^-T", "^-T": "^-1"}  # names have letters and digits only
INVERSE = {"": "^-1", "'": "^-T", "^-1": "", "^-T": "'"}


@dataclass(frozen=True, slots=True)
class Matrix:
    """An expression with its shape, expanded into a sum of words."""

    rows: Size
    columns: Size
    terms: Terms


class Identity:
    """Symbols, scalars and definitions, and the expansion of expressions in them."""

    def __init__(self, value: Any) -> None:
        self.work = Work("an expansion")
        self.known: dict[str, Matrix] = {}
        self.inverses: dict[str, Matrix] = {}
        self.transposed: dict[str, str] = {}  # letter -> letter
        self.cancels: dict[str, str] = {}  # letter -> the letter inverse to it
        self.names: set[str] = set()
        self.sizes: set[str] = set()
        fields(value, "identity", "identity", ("name", "scalars", "symbols", "definitions"))
        require(isinstance(value["name"], str), "identity", "name is {}, not a string", value["name"])
        self.scalars = {self.new_name(name) for name in array(value["scalars"], "identity", "scalars")}
        for symbol in array(value["symbols"], "identity", "symbols"):
            self.add_symbol(symbol)
        for definition in array(value["definitions"], "identity", "definitions"):
            fields(definition, "identity", "definition", ("name", "expression"))
            name = self.new_name(definition["name"])
            self.known[name] = self.expand(definition["expression"], "identity")
        both = self.sizes & self.names
        require(not both, "identity", "{} is both a size and something else", min(both, default=""))

    def new_name(self, value: Any) -> str:
        name = matching(value, NAME, "identity", "name")
        require(name not in self.names, "identity", "name {} is taken", name)
        self.names.add(name)
        return name

    def size(self, value: Any) -> Size:
        if isinstance(value, str) and NAME.fullmatch(value):
            self.sizes.add(value)
            return value
        return encode(integer(value, "identity", "size", 1))

    def add_symbol(self, value: Any) -> None:
        fields(value, "identity", "symbol", ("name", "rows", "columns", "invertible"))
        name = self.new_name(value["name"])
        rows, columns = self.size(value["rows"]), self.size(value["columns"])
        invertible = value["invertible"]
        require(isinstance(invertible, bool), "identity", "invertible is {}, not a boolean", invertible)
        require(not invertible or rows == columns, "identity", f"{name} is invertible but not square")
        for mark in TRANSPOSE:
            self.transposed[name + mark] = name + TRANSPOSE[mark]
            if invertible:
                self.cancels[name + mark] = name + INVERSE[mark]
        one = Fraction(1)
        self.known[name] = Matrix(rows, columns, {((name,), ()): one})
        if invertible:
            self.inverses[name] = Matrix(rows, columns, {((name + "^-1",), ()): one})

    def expand(self, e: Any, check: str, depth: int = 1) -> Matrix:
        """Shape and expansion of an expression."""
        require_supported(depth <= MAX_NESTING, f"an expression nested more than {MAX_NESTING} levels")
        self.work.spend(1)
        require(isinstance(e, list) and bool(e), check, "{} is not an expression", e)
        head, rest = e[0], e[1:]
        if head in ("symbol", "inverse") and len(rest) == 1:
            table = self.known if head == "symbol" else self.inverses
            if not (isinstance(rest[0], str) and rest[0] in table):
                raise InvalidError(check, f"no {head} {show(rest[0])}")
            return table[rest[0]]
        if head == "transpose" and len(rest) == 1:
            return self.transpose(self.expand(rest[0], check, depth + 1))
        if head == "scale" and len(rest) == 3:
            return self.scale(self.factor(rest[0], rest[1], check), self.expand(rest[2], check, depth + 1))
        if head in ("product", "sum") and len(rest) >= 2:
            operands = [self.expand(operand, check, depth + 1) for operand in rest]
            return self.add(operands) if head == "sum" else functools.reduce(self.multiply, operands)
        raise InvalidError(check, f"{show(e)} is not an expression")

    def factor(self, c: Any, exponents: Any, check: str) -> tuple[Fraction, Scalars]:
        p, q = rational(c, check, "coefficient")
        require(p != 0, check, "a coefficient is zero")
        powers: dict[str, int] = {}
        for entry in array(exponents, check, "scalars"):
            is_pair = isinstance(entry, list) and len(entry) == 2
            require(is_pair, check, "{} is not [scalar, exponent]", entry)
            name, k = entry[0], integer(entry[1], check, "exponent")
            if not (isinstance(name, str) and name in self.scalars) or name in powers or k == 0:
                raise InvalidError(check, f"{show(entry)}: not a scalar, twice, or a zero exponent")
            powers[name] = k
        return Fraction(p, q), tuple(sorted(powers.items()))

    def collect(self, rows: Size, columns: Size, terms: Iterable[tuple[Word, Scalars, Fraction]]) -> Matrix:
        """Collect equal (word, scalars), drop zeros, keep all within the limits."""
        result: Terms = {}
        for word, scalars, coefficient in terms:
            self.work.spend(len(word) + len(scalars) + 1)
            require_supported(len(word) <= MAX_WORD, f"a word of {len(word)} letters")
            total = result.get((word, scalars), 0) + coefficient
            largest = max(abs(total.numerator), total.denominator)
            require_supported(largest < TOO_LONG, f"a coefficient of more than {MAX_DIGITS} digits")
            if total:
                result[word, scalars] = total
            else:
                result.pop((word, scalars), None)
        return Matrix(rows, columns, result)

    def transpose(self, a: Matrix) -> Matrix:
        flip = self.transposed
        terms = ((tuple(flip[x] for x in reversed(word)), s, c) for (word, s), c in a.terms.items())
        return self.collect(a.columns, a.rows, terms)

    def scale(self, factor: tuple[Fraction, Scalars], a: Matrix) -> Matrix:
        by, powers = factor
        terms = ((word, self.join_scalars(s, powers), c * by) for (word, s), c in a.terms.items())
        return self.collect(a.rows, a.columns, terms)

    def add(self, operands: list[Matrix]) -> Matrix:
        first = operands[0]
        for other in operands[1:]:
            self.same_shape(first, other, "sum")
        count = sum(len(operand.terms) for operand in operands)
        require_supported(count <= MAX_TERMS, f"a sum of {count} terms")
        terms = ((*key, c) for operand in operands for key, c in operand.terms.items())
        return self.collect(first.rows, first.columns, terms)

    def multiply(self, a: Matrix, b: Matrix) -> Matrix:
        shapes = f"{a.rows} x {a.columns} and {b.rows} x {b.columns}"
        require(a.columns == b.rows, "shapes", f"product of {shapes}")
        count = len(a.terms) * len(b.terms)
        require_supported(count <= MAX_TERMS, f"a product of {count} terms")
        terms = (
            (self.join_words(v, w), self.join_scalars(r, s), c * d)
            for (v, r), c in a.terms.items()
            for (w, s), d in b.terms.items()
        )
        return self.collect(a.rows, b.columns, terms)

    def join_words(self, v: Word, w: Word) -> Word:
        """Both are reduced, so letters cancel only where they meet."""
        k = 0
        while k < min(len(v), len(w)) and self.cancels.get(v[-1 - k]) == w[k]:
            k += 1
        self.work.spend(k)
        return v[: len(v) - k] + w[k:]

    def join_scalars(self, r: Scalars, s: Scalars) -> Scalars:
        if not (r and s):
            return r or s
        powers = dict(r)
        for name, k in s:
            powers[name] = powers.get(name, 0) + k
            require_supported(abs(powers[name]) <= MAX_PLAIN_INTEGER, "a scalar exponent above 2^53")
        return tuple(sorted((name, k) for name, k in powers.items() if k))

    def same_shape(self, a: Matrix, b: Matrix, what: str) -> None:
        shapes = f"{a.rows} x {a.columns} and {b.rows} x {b.columns}"
        require((a.rows, a.columns) == (b.rows, b.columns), "shapes", f"{what} of {shapes}")


def normal_form(matrix: Matrix) -> list[Any]:
    """The list of §6."""

    def number(c: Fraction) -> int | str:
        return encode(c.numerator) if c.denominator == 1 else f"{c.numerator}/{c.denominator}"

    # Sorting pairs (word, scalars) of tuples is sorting the JSON arrays.
    return [
        [number(matrix.terms[word, scalars]), [list(power) for power in scalars], list(word)]
        for word, scalars in sorted(matrix.terms)
    ]


def check_identity(certificate: dict[str, Any], report: Report) -> str:
    identity = Identity(certificate["identity"])
    claim = fields(certificate["claim"], "claim", "claim", ("quantity", "relation", "left", "right"))
    compare("claim", "quantity", claim["quantity"], "matrix identity")
    compare("claim", "relation", claim["relation"], "equals")
    check_strength_and_provenance(certificate)
    witness = fields(certificate["witness"], "fields", "witness", ("normal_form",))
    left, right = identity.expand(claim["left"], "claim"), identity.expand(claim["right"], "claim")
    identity.same_shape(left, right, "equality")
    sides = normal_form(left), normal_form(right)
    require(
        canonical(sides[0]) == canonical(sides[1]),
        "normal form",
        f"the left side has {show(sides[0])}, the right side {show(sides[1])}",
    )
    compare("normal form", "normal_form", witness["normal_form"], sides[0])
    name, shape = show(certificate["identity"]["name"]), f"{left.rows} x {left.columns}"
    sizes = f"all {', '.join(sorted(identity.sizes))}" if identity.sizes else "the stated sizes"
    return f"matrix identity {name}, {shape}, of {len(left.terms)} terms, for {sizes} (exact)"


# ------------------------------------------------------------------------------------------------------------
# §16  Kind `fibre`
# ------------------------------------------------------------------------------------------------------------

RationalRows = list[list[Fraction]]
MAX_FIBRE_LAYERS = 60


def times(left: RationalRows, right: RationalRows, work: Work) -> RationalRows:
    """The product of two matrices."""
    spend_product(left, right, work)
    columns = list(zip(*right, strict=True))
    whole = all(x.denominator == 1 for rows in (left, right) for row in rows for x in row)
    if whole:  # the same numbers; Python's integers need no gcd
        a = [[x.numerator for x in row] for row in left]
        b = [[x.numerator for x in column] for column in columns]
        return [[Fraction(sum(map(mul, row, column))) for column in b] for row in a]
    return [[sum(map(mul, row, column), Fraction(0)) for column in columns] for row in left]


def flipped(rows: RationalRows) -> RationalRows:
    return [list(column) for column in zip(*rows, strict=True)]


def symmetric(rows: RationalRows) -> RationalRows:
    """Twice the symmetric part: the matrix of a quadratic form up to the factor 2."""
    return [[x + y for x, y in zip(a, b, strict=True)] for a, b in zip(rows, flipped(rows), strict=True)]


def vanishes(rows: RationalRows) -> bool:
    return not any(x for row in rows for x in row)


def rank_up_to_two(rows: RationalRows) -> int:
    """min(rank, 2), by the 2 x 2 minors through one entry that is not 0."""
    place = next(((i, j) for i, row in enumerate(rows) for j, x in enumerate(row) if x), None)
    if place is None:
        return 0
    i, j = place
    return 1 + any(rows[i][j] * y != row[j] * x for row in rows for x, y in zip(rows[i], row, strict=True))


def parallel(left: Sequence[Fraction], right: Sequence[Fraction]) -> bool:
    """Neither is 0 and one is a multiple of the other."""
    return any(left) and any(right) and rank_up_to_two([list(left), list(right)]) == 1


def bilinear(x: Sequence[Fraction], M: RationalRows, y: Sequence[Fraction]) -> Fraction:
    return sum(
        (a * sum(map(mul, row, y), Fraction(0)) for a, row in zip(x, M, strict=True) if a), Fraction(0)
    )


def is_rational_square(value: Fraction) -> bool:
    return value >= 0 and all(math.isqrt(n) ** 2 == n for n in (value.numerator, value.denominator))


@dataclass(frozen=True, slots=True)
class FibrePoint:
    """Virtual weights (M_1, ..., M_l, L) of a chain of attention layers, and where they came from."""

    tokens: int
    widths: tuple[int, ...]
    ranks: tuple[int, ...]
    M: tuple[RationalRows, ...]
    L: RationalRows
    from_weights: bool

    @property
    def d(self) -> int:
        return self.widths[0]

    @property
    def depth(self) -> int:
        return len(self.M)

    @property
    def caps(self) -> list[int]:
        """e_0, ..., e_{l-1}."""
        return [min(self.widths[: i + 1]) for i in range(self.depth)]

    def spans(self, M: Sequence[RationalRows], work: Work) -> list[int]:
        """The dimensions of T_0, ..., T_{l-1} for these matrices and L."""
        rows, found, size = list(self.L), [], 0
        for matrix in reversed(M):
            rows = rows + matrix + flipped(matrix)
            size = self.d if size == self.d else rational_rank(rows, work)
            found.append(size)
        return found[::-1]


def parse_sizes(point: dict[str, Any]) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    tokens = integer(point["tokens"], "point", "tokens", 1, MAX_SIZE)
    widths = tuple(
        integer(d, "point", "width", 1, MAX_SIZE) for d in array(point["widths"], "point", "widths", 2)
    )
    ranks = tuple(integer(a, "point", "rank", 1, MAX_SIZE) for a in array(point["ranks"], "point", "ranks"))
    require(len(ranks) == len(widths) - 1, "point", f"{len(ranks)} ranks for {len(widths)} widths")
    require_supported(len(ranks) <= MAX_FIBRE_LAYERS, f"{len(ranks)} layers")
    return tokens, widths, ranks


def parse_fibre_point(value: Any, work: Work) -> FibrePoint:
    """The point, as virtual weights; ranks and spans must be within the sizes of the network."""
    require(isinstance(value, dict), "point", "point is {}, not an object", value)
    space = value.get("space")
    if space == "weights":
        fields(value, "point", "point", ("space", "network", "weights"))
        point = weights_point(value, work)
    else:
        fields(value, "point", "point", ("space", "tokens", "widths", "ranks", "M", "L"))
        compare("point", "space", space, "virtual weights")
        tokens, widths, ranks = parse_sizes(value)
        d, listed = widths[0], array(value["M"], "point", "M")
        require(len(listed) == len(ranks), "point", f"{len(listed)} matrices M for {len(ranks)} layers")
        M = tuple(rational_matrix(x, d, d, "point", f"M_{i}") for i, x in enumerate(listed, 1))
        L = rational_matrix(value["L"], widths[-1], d, "point", "L")
        point = FibrePoint(tokens, widths, ranks, M, L, False)
    for i, (matrix, a) in enumerate(zip(point.M, point.ranks, strict=True), 1):
        within = a >= point.d or rational_rank(matrix, work) <= a
        require(within, "point", f"the rank of M_{i} is above {a}")
    for i, (span, cap) in enumerate(zip(point.spans(point.M, work), point.caps, strict=True)):
        require(span <= cap, "point", f"L and M_{i + 1}, ... span {span} dimensions, more than {cap}")
    return point


def weights_point(value: dict[str, Any], work: Work) -> FibrePoint:
    """The virtual weights of a network's weights."""
    network = parse_network(value["network"])
    require_supported(
        network.is_chain(ATTENTION), "a fibre of a network that is no chain of attention layers"
    )
    require_supported(len(network.layers) <= MAX_FIBRE_LAYERS, f"{len(network.layers)} layers")
    flat = array(value["weights"], "point", "weights")
    count = network.parameters()
    require(len(flat) == count, "point", f"{len(flat)} weights, the network has {count}")
    numbers = iter([fraction(x, "point", "weight") for x in flat])
    U: RationalRows | None = None
    M = []
    for layer in network.layers:
        Q, K, V = (
            [[next(numbers) for _ in range(columns)] for _ in range(rows)]
            for _, rows, columns in layer.shapes()
        )
        if U is not None:
            Q, K, V = times(Q, U, work), times(K, U, work), times(V, U, work)
        M.append(times(flipped(K), Q, work))
        U = V
    assert U is not None
    widths = (network.width, *(layer.d_out for layer in network.layers))
    ranks = tuple(layer.rank for layer in network.layers)
    return FibrePoint(network.tokens, widths, ranks, tuple(M), U, True)


VIRTUAL_FIELDS = (
    "verdict",
    "dimension",
    "degree",
    "components",
    "real",
    "rational",
    "multiplicity",
    "comparison",
)
WITNESS_FIELDS = ("case", "ranks", "forms", "rank_L", "dominance", "tail", "skew")


@dataclass(slots=True)
class Tally:
    """Numbers of components (complex, real, rational), free dimensions; whether all are linear.  None:
    unknown."""

    numbers: tuple[int, int, int] | None
    free: int = 0
    linear: bool = True


class FibreCheck:
    """Recomputes the claim of §16 from the point; of the witness only vectors and factors are taken, and
    checked."""

    def __init__(self, point: FibrePoint, witness: dict[str, Any], work: Work) -> None:
        self.point, self.witness, self.work = point, witness, work
        self.ranks = [rank_up_to_two(matrix) for matrix in point.M]
        self.forms = [not vanishes(symmetric(matrix)) for matrix in point.M]
        self.rank_L = rank_up_to_two(point.L)
        self.orbit_degree = (3**point.depth - 1) // 2 + 1

    def claim(self) -> tuple[str, dict[str, Any]]:
        """The case and the claim about virtual weights."""
        point, witness = self.point, self.witness
        compare("fibre", "ranks", witness["ranks"], self.ranks)
        compare("fibre", "forms", witness["forms"], self.forms)
        compare("fibre", "rank_L", witness["rank_L"], self.rank_L)
        if self.is_zero():
            self.nothing_else()
            return "zero", self.zero()
        if point.d == 1:
            self.nothing_else()
            return "line", self.orbits(1, 1, 1, 1)
        if point.tokens == 1:
            compare("fibre", "dominance", witness["dominance"], [])
            compare("fibre", "skew", witness["skew"], None)
            return "tail", self.behind(0, 1)
        skews = [i for i, form in enumerate(self.forms, 1) if not form]
        if point.depth > 1 and skews:
            if len(skews) > 1 or witness["case"] == "open":
                self.nothing_else()  # that nothing is known is no claim about the point
                return "open", self.unknown()
            return self.peeled(skews[0])
        compare("fibre", "skew", witness["skew"], None)
        return self.peeled(None)

    def nothing_else(self) -> None:
        compare("fibre", "dominance", self.witness["dominance"], [])
        compare("fibre", "tail", self.witness["tail"], None)
        compare("fibre", "skew", self.witness["skew"], None)

    @staticmethod
    def unknown() -> dict[str, Any]:
        return {**dict.fromkeys(VIRTUAL_FIELDS), "verdict": "open"}

    def orbits(self, components: int, real: int, rational: int, multiplicity: int | None) -> dict[str, Any]:
        one = components == 1
        return {
            "verdict": "identifiable" if one else "orbits",
            "dimension": self.point.depth,
            "degree": encode(components * self.orbit_degree),
            "components": components,
            "real": real,
            "rational": rational,
            "multiplicity": multiplicity,
            "comparison": "equal" if one else "more components",
        }

    # The function 0

    def is_zero(self) -> bool:
        if self.rank_L == 0 or 0 in self.ranks:
            return True
        collapsed = self.point.tokens == 1
        for r, form in zip(self.ranks, self.forms, strict=True):
            if collapsed and not form:
                return True
            collapsed = collapsed or r == 1
        return False

    def zero(self) -> dict[str, Any]:
        point, d = self.point, self.point.d
        claim = {**self.unknown(), "verdict": "zero", "comparison": "contained"}
        if min(point.caps) < d:
            return claim
        ranks = [min(a, d) for a in point.ranks]
        sizes = [rank_variety(d, a) for a in ranks]
        total = sum(sizes) + d * point.widths[-1]
        pieces = [total - d * point.widths[-1]]
        for i, a in enumerate(ranks):
            k = a // 2 * 2  # the largest rank of a skew matrix of rank at most a
            skew = k * (2 * d - k - 1) // 2
            rest = total - sizes[i]
            if skew == 0:
                pieces.append(rest)
            elif point.tokens == 1 or 1 in ranks[:i]:
                pieces.append(rest + skew)
            else:
                pieces.append(rest)
                pieces += [rest + skew - size + rank_variety(d, 1) for size in sizes[:i]]
        n = len(pieces)
        return {**claim, "dimension": max(pieces), "components": n, "real": n, "rational": n}

    # Peeling

    def peeled(self, skew: int | None) -> tuple[str, dict[str, Any]]:
        point, depth = self.point, self.point.depth
        places = 1 if skew is None else self.places(skew)
        first = next((i for i, r in enumerate(self.ranks, 1) if r == 1), depth)
        layers = [i for i in range(1, first) if self.forms[i - 1]]
        if skew is not None and first == depth and not self.forms[depth - 1]:
            layers.pop()
        self.dominance(layers)
        if first < depth:
            return "tail", self.behind(first, places)
        compare("fibre", "tail", self.witness["tail"], None)
        swaps, multiplicity = 1, 1
        if self.ranks[depth - 1] == 1 == self.rank_L:
            k = next(column for column in flipped(point.M[depth - 1]) if any(column))
            v = next(row for row in point.L if any(row))
            swaps, multiplicity = (1, point.d) if parallel(k, v) else (2, 1)
        n = swaps * places
        return "peeled", self.orbits(n, n, n, multiplicity if skew is None else None)

    def dominance(self, layers: list[int]) -> None:
        """At the stated X = [x y] the matrix S = X^T M X and the map T -> TS + T^T S + ST are invertible."""
        listed = array(self.witness["dominance"], "dominance", "dominance")
        require(len(listed) == len(layers), "dominance", f"{len(listed)} inputs for {len(layers)} layers")
        for entry, layer in zip(listed, layers, strict=True):
            fields(entry, "dominance", "entry", ("layer", "input"))
            compare("dominance", "layer", entry["layer"], layer)
            x, y = rational_matrix(entry["input"], 2, self.point.d, "dominance", f"input of layer {layer}")
            M = self.point.M[layer - 1]
            a, b, c, e = bilinear(x, M, x), bilinear(x, M, y), bilinear(y, M, x), bilinear(y, M, y)
            rows = []
            for p, q, r, s in itertools.product((0, 1), repeat=4):
                if p + q + r + s == 1:
                    T, S = [[p, q], [r, s]], [[a, b], [c, e]]
                    value = [
                        sum(T[i][k] * S[k][j] + T[k][i] * S[k][j] + S[i][k] * T[k][j] for k in (0, 1))
                        for i in (0, 1)
                        for j in (0, 1)
                    ]
                    rows.append([Fraction(x) for x in value])
            dominant = a * e != b * c and rational_rank(rows, self.work) == 4
            require(dominant, "dominance", f"the differential of layer {layer} is not invertible there")

    # One skew layer

    def places(self, layer: int) -> int:
        """How many places the skew layer can take; the witness must show where it is stopped."""
        skew = fields(self.witness["skew"], "fibre", "skew", ("layer", "places", "separations"))
        compare("fibre", "skew.layer", skew["layer"], layer)
        shown: dict[int, Any] = {}
        for entry in array(skew["separations"], "fibre", "separations"):
            fields(entry, "fibre", "separation", ("layer", "vectors"))
            shown[integer(entry["layer"], "fibre", "layer", 1, self.point.depth)] = entry["vectors"]
        compare("fibre", "separations", [entry["layer"] for entry in skew["separations"]], sorted(shown))
        reached, stops = [layer], []
        for step in (-1, 1):
            place = layer + step
            while 1 <= place <= self.point.depth and self.commutes(layer, place):
                reached.append(place)
                place += step
            # behind a layer of rank 1 the function would be 0
            if 1 <= place <= self.point.depth and self.ranks[place - 1] != 1:
                stops.append(place)
                require(place in shown, "fibre", f"no proof that the skew layer cannot pass layer {place}")
                self.separates(layer, place, shown[place])
        compare("fibre", "separations", sorted(shown), sorted(stops))
        allowed = sorted(place for place in reached if self.may_stand(layer, place))
        compare("fibre", "skew.places", skew["places"], allowed)
        return len(allowed)

    def commutes(self, layer: int, other: int) -> bool:
        K, N = self.point.M[layer - 1], self.point.M[other - 1]
        if rational_rank(K, self.work) != 2 or rational_rank(N, self.work) != 2:
            return False
        return rational_rank(K + N + flipped(N), self.work) == 2

    def separates(self, layer: int, other: int, value: Any) -> None:
        x, y, u, v = rational_matrix(value, 4, self.point.d, "fibre", "vectors of a separation")
        K, N = self.point.M[layer - 1], self.point.M[other - 1]

        def minor(x: list[Fraction], y: list[Fraction]) -> Fraction:
            return bilinear(x, N, x) * bilinear(y, N, y) - bilinear(x, N, y) * bilinear(y, N, x)

        left, right = minor(x, y) * bilinear(u, K, v) ** 2, minor(u, v) * bilinear(x, K, y) ** 2
        require(left != right, "fibre", f"the vectors do not separate the skew layer from layer {other}")

    def may_stand(self, layer: int, place: int) -> bool:
        point = self.point
        order = [matrix for i, matrix in enumerate(point.M, 1) if i != layer]
        order.insert(place - 1, point.M[layer - 1])
        for matrix, a in zip(order, point.ranks, strict=True):
            if a < point.d and rational_rank(matrix, self.work) > a:
                return False
        spans = point.spans(order, self.work)
        return all(span <= cap for span, cap in zip(spans, point.caps, strict=True))

    # Behind a layer of rank 1

    def behind(self, j: int, places: int) -> dict[str, Any]:
        """Layers j+1, ..., depth: only symmetric parts, and the factors of the product, matter."""
        point, depth = self.point, self.point.depth
        tail = fields(self.witness["tail"], "fibre", "tail", ("ambient", "exchange", "product"))
        forms = [symmetric(matrix) for matrix in point.M[j:]]
        spans, rows = [], list(point.L)
        for matrix in reversed(forms):
            rows = rows + matrix
            spans.append(rational_rank(rows, self.work))
        own = self.ambient(spans[::-1], j)
        compare("fibre", "tail.ambient", tail["ambient"], own)
        if self.rank_L == 2:
            compare("fibre", "tail.exchange", tail["exchange"], False)
            compare("fibre", "tail.product", tail["product"], None)
            kinds = [self.kind_of_form(form) for form in forms]
            tallies = [self.joined(kinds, own, j, True)]
        else:
            product = FactoredProduct(tail["product"], forms, point, self.work)
            tallies = []
            for splitting in product.splittings():
                spans = product.spans(splitting)
                if all(span <= cap for span, cap in zip(spans, point.caps[j:], strict=True)):
                    kinds = [product.kind_of(pieces) for pieces in splitting.forms]
                    real = product.is_real(splitting)
                    tally = self.joined(kinds, self.ambient(spans, j), j, real)
                    if tally.numbers and splitting.half:
                        tally.numbers = (*tally.numbers[:2], 0)
                    tallies.append(tally)
            exchange = j > 0 and product.exchanges(forms, j)
            compare("fibre", "tail.exchange", tail["exchange"], exchange)
            places *= 1 + exchange
        free = {tally.free for tally in tallies}
        if any(tally.numbers is None for tally in tallies) or len(free) != 1:
            return self.unknown()
        sums = [places * sum(tally.numbers[k] for tally in tallies if tally.numbers) for k in range(3)]
        extra = free.pop()
        claim = self.orbits(sums[0], sums[1], sums[2], None)
        if extra:
            linear = all(tally.linear for tally in tallies)
            claim |= {"verdict": "excess", "comparison": "contained", "dimension": depth + extra}
            claim["degree"] = claim["degree"] if linear else None
        return claim

    def ambient(self, spans: list[int], j: int) -> list[int | None]:
        caps, d = self.point.caps[j:], self.point.d
        return [cap if cap in (d, span) else None for cap, span in zip(caps, spans, strict=True)]

    def kind_of_form(self, form: RationalRows) -> tuple[int, int, int, int]:
        """(number of matrices of rank 1 with this form, real, rational ones, rank of the form)."""
        r = rational_rank(form, self.work)
        if r > 2:
            return 0, 0, 0, r
        if r == 1:
            return 1, 1, 1, 1
        D = -minor_of_rank_two(form)
        return 2, 2 * (D > 0), 2 * is_rational_square(D), 2

    def joined(
        self, kinds: list[tuple[int, int, int, int]], ambient: list[int | None], j: int, real: bool
    ) -> Tally:
        """The choices of all layers together."""
        total = Tally((1, int(real), 1))
        for (number, reals, rationals, s), space, a in zip(kinds, ambient, self.point.ranks[j:], strict=True):
            if a == 1:
                choices = (number, reals, rationals)
            elif space is not None and a >= space:
                choices = (1, 1, 1)
                total.free += space * (space - 1) // 2
            elif s in (2 * a, space):
                choices = (2, 2, 2) if s == 2 * a else (1, 1, 1)
                total.free += a * (2 * a - 1) - (2 * a - s) * (2 * a - s - 1) // 2 - a * a
                total.linear = False
            else:
                return Tally(None)
            assert total.numbers is not None
            x, y, z = (p * q for p, q in zip(total.numbers, choices, strict=True))
            total.numbers = (x, y, z)
        return total

    # Weights

    def weights(self, case: str, claim: dict[str, Any]) -> dict[str, Any]:
        """The claim about (Q, K, V)."""
        point, tail = self.point, self.witness["tail"]
        torus = claim["dimension"] == point.depth
        known = case in ("peeled", "line") and self.witness["skew"] is None
        known = known or (case == "tail" and torus and tail["product"] is None)
        if not known or claim["dimension"] is None:
            contained = claim["verdict"] in ("excess", "zero")
            return {"dimension": None, "comparison": "contained" if contained else None}
        spans = point.spans(point.M, self.work)
        ranks = [rational_rank(matrix, self.work) for matrix in point.M]
        dimension = claim["dimension"] + self.over_one_point(spans, ranks)
        full = [min(a, d) for a, d in zip(point.ranks, point.widths[:-1], strict=True)]
        one = ranks == full and spans[1:] == list(point.widths[1:-1])
        return {"dimension": dimension, "comparison": claim["comparison"] if one else "contained"}

    def over_one_point(self, spans: list[int], ranks: list[int]) -> int:
        """The dimension of the (Q, K, V) over one (M, L): the largest over dimensions r_i of the flag."""
        point, d = self.point, self.point.widths
        best = {d[0]: 0}
        for i in range(point.depth):
            a, following = point.ranks[i], d[i + 1]
            last = i + 1 == point.depth
            reached: dict[int, int] = {}
            for r, value in best.items():
                self.work.spend(min(a, r) + 1)
                pairs = max(
                    a * r + s * (a - r) + (s - ranks[i]) * (r - s) for s in range(ranks[i], min(a, r) + 1)
                )
                here = value + pairs + (2 * a + following) * (d[i] - r)
                for next_r in [0] if last else range(spans[i + 1], min(following, r) + 1):
                    self.work.spend(1)
                    low = 0 if last else spans[i + 1]
                    more = 0 if last else (next_r - low) * (r - next_r) + following * next_r
                    reached[next_r] = max(reached.get(next_r, 0), here + more)
            best = reached
        return max(best.values())


def minor_of_rank_two(form: RationalRows) -> Fraction:
    """A principal 2 x 2 minor, not 0, of a symmetric matrix of rank 2."""
    pairs = itertools.combinations(range(len(form)), 2)
    minors = (form[i][i] * form[j][j] - form[i][j] ** 2 for i, j in pairs)
    return next(minor for minor in minors if minor)


@dataclass(frozen=True, slots=True)
class LineSplitting:
    """The factor that is the line, which half of it (0: it is linear), and the pieces (factor, half,
    times)."""

    factor: int
    half: int
    forms: tuple[tuple[tuple[int, int, int], ...], ...]


class FactoredProduct:
    """The stated factorisation of L and the forms into irreducible factors over Q, checked."""

    def __init__(self, value: Any, forms: list[RationalRows], point: FibrePoint, work: Work) -> None:
        product = fields(value, "factors", "product", ("factors", "forms", "line"))
        self.d, self.work = point.d, work
        self.factors = [self.parse_factor(x) for x in array(product["factors"], "factors", "factors")]
        texts = [canonical(x["entries"]) for x in product["factors"]]
        require(len(set(texts)) == len(texts), "factors", "a factor occurs twice")
        self.forms = [self.parse_form(x) for x in array(product["forms"], "factors", "forms")]
        require(len(self.forms) == len(forms), "factors", f"{len(self.forms)} forms for {len(forms)} layers")
        for stated, form in zip(self.forms, forms, strict=True):
            require(self.has_product(stated, form), "factors", "a form is not the product of its factors")
        self.line = integer(product["line"], "factors", "line", 0, len(self.factors) - 1)
        row = next(row for row in point.L if any(row))
        kind, entries, _ = self.factors[self.line]
        require(kind == "linear" and parallel(entries[0], row), "factors", "the line is not a row of L")
        used = {number for form in self.forms for number, _ in form} | {self.line}
        require(len(used) == len(self.factors), "factors", "a factor is not used")
        self.row, self.point = row, point

    def parse_factor(self, value: Any) -> tuple[str, RationalRows, Fraction]:
        fields(value, "factors", "factor", ("kind", "entries", "discriminant"))
        kind = value["kind"]
        require(kind in ("linear", "conjugate", "quadric"), "factors", "factor of the kind {}", kind)
        entries = rational_matrix(
            value["entries"], 1 if kind == "linear" else self.d, self.d, "factors", "factor"
        )
        D = fraction(value["discriminant"], "factors", "discriminant")
        head = next((x for row in entries for x in row if x), None)
        require(head == 1, "factors", "the first entry of a factor that is not 0 must be 1")
        if kind != "linear":
            require(entries == flipped(entries), "factors", "a factor is not symmetric")
            r = rational_rank(entries, self.work)
            require(r == 2 if kind == "conjugate" else r > 2, "factors", f"a {kind} factor has rank {r}")
        if kind == "conjugate":
            same = D != 0 and is_rational_square(-minor_of_rank_two(entries) / D)
            require(same and not is_rational_square(D), "factors", "the discriminant of a factor is wrong")
        else:
            require(D == 0, "factors", f"a {kind} factor has a discriminant")
        return kind, entries, D

    def parse_form(self, value: Any) -> list[tuple[int, int]]:
        found = []
        for pair in array(value, "factors", "form", 1):
            require(isinstance(pair, list) and len(pair) == 2, "factors", "{} is not [factor, times]", pair)
            number = integer(pair[0], "factors", "factor", 0, len(self.factors) - 1)
            found.append((number, integer(pair[1], "factors", "times", 1, 2)))
        require(found == sorted(set(found)), "factors", "factors of a form are not in order")
        return found

    def has_product(self, stated: list[tuple[int, int]], form: RationalRows) -> bool:
        chosen = [self.factors[number] for number, times_ in stated for _ in range(times_)]
        if sum(1 if kind == "linear" else 2 for kind, _, _ in chosen) != 2:
            return False
        if len(chosen) == 1:
            made = chosen[0][1]
        else:
            u, v = chosen[0][1][0], chosen[1][1][0]
            made = symmetric([[x * y for y in v] for x in u])
        return parallel([x for row in made for x in row], [x for row in form for x in row])

    def splittings(self) -> list[LineSplitting]:
        """All lines that leave multiplicities whose base-3 digits are those of quadratic forms."""
        n = len(self.forms)
        total = [int(number == self.line) for number in range(len(self.factors))]
        for level, form in enumerate(self.forms[::-1]):
            for number, count in form:
                total[number] += count * 3**level
        found = []
        for number, (kind, _, _) in enumerate(self.factors):
            for half in {"linear": (0,), "conjugate": (1, 2), "quadric": ()}[kind]:
                counts: dict[tuple[int, int], int] = {}
                for other, count in enumerate(total):
                    for piece in (1, 2) if other == number and half else (0,):
                        counts[other, piece] = count - ((other, piece) == (number, half))
                levels = []
                for level in range(n - 1, -1, -1):
                    digits = [(f, h, count // 3**level % 3) for (f, h), count in counts.items()]
                    levels.append(tuple(entry for entry in digits if entry[2]))
                if all(sum(self.degree(f, h) * k for f, h, k in form) == 2 for form in levels):
                    found.append(LineSplitting(number, half, tuple(levels)))
        return found

    def degree(self, number: int, half: int) -> int:
        return 1 if half or self.factors[number][0] == "linear" else 2

    def spans(self, splitting: LineSplitting) -> list[int]:
        """For i = j, ..., l-1 the dimension spanned by the line and the forms of layers i+1, ..., l."""
        found: list[int] = []
        rows: RationalRows = []
        halves: set[int] = set()
        plane = self.factors[splitting.factor][1]
        for form in reversed(splitting.forms):
            for number, half, _ in ((splitting.factor, splitting.half, 1), *form):
                halves |= {half} - {0}
                if half == 0 or len(halves) == 2:
                    rows = rows + self.factors[number][1]
            size = rational_rank(rows, self.work) if rows else 0
            # one half of a conjugate pair lies in a rational space only together with the other
            outside = len(halves) == 1 and rational_rank(rows + plane, self.work) > size
            found.append(size + outside)
        return found[::-1]

    def kind_of(self, pieces: tuple[tuple[int, int, int], ...]) -> tuple[int, int, int, int]:
        """As `FibreCheck.kind_of_form`, for a form given by its pieces."""
        kinds = [self.factors[number] for number, _, _ in pieces]
        if kinds[0][0] == "quadric":
            return 0, 0, 0, rational_rank(kinds[0][1], self.work)
        real = all(kind == "linear" or D > 0 for kind, _, D in kinds)
        if len(pieces) == 1 and pieces[0][1] == 0 and kinds[0][0] == "conjugate":
            return 2, 2 * real, 0, 2
        rational_pieces = all(half == 0 for _, half, _ in pieces)
        n = len(pieces)
        return n, n * real, n * rational_pieces, n

    def is_real(self, splitting: LineSplitting) -> bool:
        return splitting.half == 0 or self.factors[splitting.factor][2] > 0

    def exchanges(self, forms: list[RationalRows], j: int) -> bool:
        """All forms are squares of the line, which is not parallel to k in M_j = k m^T."""
        k = next(column for column in flipped(self.point.M[j - 1]) if any(column))
        squares = all(form == [(self.line, 2)] for form in self.forms)
        return squares and not parallel(k, self.row)


def check_fibre(certificate: dict[str, Any], report: Report) -> str:
    work = Work("a fibre")
    point_value = certificate["point"]
    claim = fields(certificate["claim"], "claim", "claim", ("quantity", "virtual", "weights"))
    compare("claim", "quantity", claim["quantity"], "fibre")
    fields(claim["virtual"], "claim", "virtual", VIRTUAL_FIELDS)
    check_strength_and_provenance(certificate)
    if isinstance(point_value, dict) and point_value.get("space") == "conjugate pair":
        return check_conjugate_pair(certificate, work)
    point = parse_fibre_point(point_value, work)
    witness = fields(certificate["witness"], "fields", "witness", WITNESS_FIELDS)
    checker = FibreCheck(point, witness, work)
    case, expected = checker.claim()
    compare("fibre", "case", witness["case"], case)
    compare("claim", "virtual", claim["virtual"], expected)
    weights = checker.weights(case, expected) if point.from_weights else None
    compare("claim", "weights", claim["weights"], weights)
    return describe_fibre(point, expected, weights)


def describe_fibre(point: FibrePoint, claim: dict[str, Any], weights: dict[str, Any] | None) -> str:
    sizes = f"widths {','.join(map(str, point.widths))}, ranks {','.join(map(str, point.ranks))}"
    words = {
        "identifiable": "identifiable up to scaling",
        "orbits": f"{claim['components']} orbits of the scalings",
        "excess": "skew parts are free",
        "zero": "the function 0",
        "open": "not known",
    }[claim["verdict"]]
    known = [f"{key} {claim[key]}" for key in VIRTUAL_FIELDS[1:7] if claim[key] is not None]
    if weights and weights["dimension"] is not None:
        known.append(f"dimension in (Q, K, V) {weights['dimension']}")
    return f"fibre, {sizes}, tokens {point.tokens}: {'; '.join([words, *known])} (exact)"


def check_conjugate_pair(certificate: dict[str, Any], work: Work) -> str:
    """f = w (x) s(x) (x) q with s a product of conjugate linear forms: a point of Y given by no rational
    weights."""
    point = fields(
        certificate["point"], "point", "point", ("space", "tokens", "widths", "ranks", "w", "form", "q")
    )
    tokens, widths, ranks = parse_sizes(point)
    require(
        len(ranks) == 1 and tokens >= 2, "point", "a conjugate pair is for one layer and two tokens or more"
    )
    d = widths[0]
    form = rational_matrix(point["form"], d, d, "point", "form")
    (w,), (q,) = (
        rational_matrix([point[key]], 1, size, "point", key) for key, size in (("w", widths[1]), ("q", d))
    )
    require(any(w) and any(q), "point", "w or q is 0")
    require(
        form == flipped(form) and rational_rank(form, work) == 2,
        "point",
        "the form is not symmetric of rank 2",
    )
    D = -minor_of_rank_two(form)
    require(not is_rational_square(D), "point", "the form has rational linear factors")
    compare("fields", "witness", certificate["witness"], {})
    claim = {
        "verdict": "conjugate pair",
        "dimension": 1,
        "degree": 4,
        "components": 2,
        "real": 2 if D > 0 else 0,
        "rational": 0,
        "multiplicity": 1,
        "comparison": None,
    }
    compare("claim", "virtual", certificate["claim"]["virtual"], claim)
    compare("claim", "weights", certificate["claim"]["weights"], None)
    real = "real, not rational" if D > 0 else "without real points"
    return (
        f"fibre, widths {d},{widths[1]}: one component over Q of degree 4, two conjugate curves {real} "
        f"(exact)"
    )


# ------------------------------------------------------------------------------------------------------------
# §17  Kind `recovery`
# ------------------------------------------------------------------------------------------------------------

MAX_RECOVERY_LAYERS, MAX_RECOVERY_WIDTH = 5, 40
RANK_PRIME = 2**31 - 1


def small_vector(label: str, size: int) -> list[Fraction]:
    """Entries from -5 to 5 by the seed rule: value k modulo 11, minus 5, of the stream of a label, seed
    `recovery`."""
    values = []
    for block in range(-(-size // 8)):
        digest = hashlib.sha256(f"{FORMAT}/1|recovery|{label}|{block}".encode("ascii")).digest()
        values += [word % RANK_PRIME % 11 - 5 for word in struct.unpack(">8I", digest)]
    return [Fraction(value) for value in values[:size]]


def network_value(
    M: Sequence[RationalRows], L: RationalRows, columns: Sequence[Sequence[Fraction]], work: Work
) -> RationalRows:
    """L P_l at the input with these columns."""
    X = flipped([list(column) for column in columns])
    for matrix in M:
        X = times(X, times(flipped(X), times(matrix, X, work), work), work)
    return times(L, X, work)


def rank_modulo(matrix: list[list[int]]) -> int:
    """A lower bound of a rank: that of residues modulo the prime. `check_determined` counts its steps."""
    p = RANK_PRIME
    rank = 0
    for column in range(len(matrix[0]) if matrix else 0):
        pivot = next((i for i in range(rank, len(matrix)) if matrix[i][column]), None)
        if pivot is None:
            continue
        matrix[rank], matrix[pivot] = matrix[pivot], matrix[rank]
        inverse = pow(matrix[rank][column], -1, p)
        top = [x * inverse % p for x in matrix[rank]]
        for i in range(rank + 1, len(matrix)):
            if factor := matrix[i][column]:
                matrix[i] = [(x - factor * y) % p for x, y in zip(matrix[i], top, strict=True)]
        rank += 1
    return rank


def check_recovery(certificate: dict[str, Any], report: Report) -> str:
    subject = fields(
        certificate["recovery"],
        "recovery",
        "recovery",
        ("width", "height", "tokens", "layers", "vectors", "values_sha256"),
    )
    d, height, tokens, layers = (
        integer(subject[key], "recovery", key, 1, MAX_SIZE) for key in ("width", "height", "tokens", "layers")
    )
    require_supported(layers <= MAX_RECOVERY_LAYERS, f"recovery of {layers} layers")
    require_supported(max(d, height, tokens) <= MAX_RECOVERY_WIDTH, "recovery of widths or tokens above 40")
    vectors = [
        integer(j, "recovery", "vector", 0, 10**6)
        for j in array(subject["vectors"], "recovery", "vectors", 1)
    ]
    require(vectors == sorted(set(vectors)), "recovery", "vectors are not in increasing order")
    claim = fields(certificate["claim"], "claim", "claim", ("quantity", "relation", "M", "L"))
    compare("claim", "quantity", claim["quantity"], "recovery")
    relation = claim["relation"]
    require(relation in ("determined", "reproduced"), "claim", "relation {}", relation)
    listed = array(claim["M"], "claim", "M")
    require(len(listed) == layers, "claim", f"{len(listed)} matrices M for {layers} layers")
    M = [rational_matrix(x, d, d, "claim", f"M_{i}") for i, x in enumerate(listed, 1)]
    L = rational_matrix(claim["L"], height, d, "claim", "L")
    check_strength_and_provenance(certificate)
    compare("fields", "witness", certificate["witness"], {})
    work = Work("a recovery")
    steps = (3**layers + 1) // 2 if tokens > 1 and d > 1 else 0
    inputs = len(vectors) * (1 + d * steps) + 3
    require_supported(inputs <= 100_003, f"recovery from {len(vectors)} vectors")
    bits = max(
        x.numerator.bit_length() + x.denominator.bit_length() for rows in (*M, L) for row in rows for x in row
    )
    # numbers grow to the power 3^l
    work.spend(inputs * layers * d * d * max(2, tokens) * (1 + bits * 3**layers // 20_000) // 4)
    if relation == "determined" and steps:
        work.spend(equation_steps(len(vectors) * d, d))  # of the first layer, before the values are computed
    probes = recovery_inputs(d, tokens, steps, vectors)
    compare("values", "values_sha256", subject["values_sha256"], values_sha256(M, L, probes, tokens, report))
    if relation == "determined":
        check_determined(M, L, tokens, vectors, work)
    what = "determine the weights up to scaling"
    if relation == "reproduced":
        what = "are those of the stated weights"
    return (
        f"recovery, width {d} to {height}, {layers} layers, tokens {tokens}: {len(probes)} values {what} "
        f"(exact)"
    )


def values_sha256(
    M: list[RationalRows], L: RationalRows, probes: list[RationalRows], tokens: int, report: Report
) -> str:
    """The hash of the values of the stated weights at all inputs, as FORMAT.md writes them."""
    digest = hashlib.sha256()
    count = Work("values")
    for number, columns in enumerate(probes):
        filled = [*columns, *([Fraction(0)] * len(L[0]) for _ in range(tokens - len(columns)))]
        value = network_value(M, L, filled, count)
        text = ",".join(f"{x.numerator:x}/{x.denominator:x}" for row in value for x in row)
        digest.update((("," if number else "") + text).encode("ascii"))
        report(f"value {number + 1} of {len(probes)}")
    return digest.hexdigest()


def recovery_inputs(d: int, tokens: int, steps: int, vectors: list[int]) -> list[list[list[Fraction]]]:
    """All inputs, by columns: [x_j], [x_j, n e_k] for n up to ``steps``, and three full ones."""
    probes = []
    for j in vectors:
        x = small_vector(f"x/{j}", d)
        probes.append([x])
        for k in range(d if steps else 0):
            probes += [[x, [Fraction(n * (i == k)) for i in range(d)]] for n in range(1, steps + 1)]
    for n in range(3):
        flat = small_vector(f"extra/{n}", d * tokens)
        probes.append([flat[i * d : (i + 1) * d] for i in range(tokens)])
    return probes


def primitive_matrix(matrix: RationalRows, work: Work) -> list[list[int]]:
    """The rational multiple of a matrix whose entries are integers without a common divisor."""
    scale = common_denominator((x for row in matrix for x in row), work)
    work.spend(1 + len(matrix) * len(matrix[0]) * bit_work(scale.bit_length()) // 8)
    whole = [[int(x * scale) for x in row] for row in matrix]
    content = math.gcd(*(x for row in whole for x in row)) or 1
    return [[x // content for x in row] for row in whole]


def equation_steps(pairs: int, d: int) -> int:
    """Entries of the equations of one layer, and multiplications of their elimination."""
    return pairs * d * d + sum((pairs - k) * (d * d - k) for k in range(min(pairs, d * d)))


def check_determined(
    M: list[RationalRows], L: RationalRows, tokens: int, vectors: list[int], work: Work
) -> None:
    """The values determine every layer: x^T N y (x^T M x) = (x^T M y)(x^T N x) has only the solutions N = c
    M.  The equations do not change if M is multiplied by a number.  Those of the first layer are paid for."""
    d, p = len(L[0]), RANK_PRIME
    points = [[int(value) for value in small_vector(f"x/{j}", d)] for j in vectors]
    matrices = [primitive_matrix(matrix, work) for matrix in M]
    bits = max(x.bit_length() for matrix in matrices for row in matrix for x in row)
    work.spend(len(points) * len(M) * d * d * (1 + bits // 1024))
    images = []  # of each layer: x^T M, M x and x^T M x of each point
    for matrix in matrices:
        columns = list(zip(*matrix, strict=True))
        left = [[sum(map(mul, x, column)) for column in columns] for x in points]
        right = [[sum(map(mul, row, x)) for row in matrix] for x in points]
        images.append((left, right, [sum(map(mul, a, x)) for a, x in zip(left, points, strict=True)]))
    for number, (x, j) in enumerate(zip(points, vectors, strict=True)):
        alive = any(sum(map(mul, row, x)) for row in L) and all(q[number] for _, _, q in images)
        require(alive, "determined", f"the value at x_{j} is 0")
    if d == 1:
        return
    require(tokens > 1, "determined", "one token does not determine weights")
    require(rational_rank(points, work) == d, "determined", "the vectors do not span the space")
    pairs = [(n, k) for n in range(len(points)) for k in range(d)]  # x = x_n and y = e_k
    for number, (matrix, (left, right, forms)) in enumerate(zip(matrices, images, strict=True), 1):
        if number > 1:
            work.spend(equation_steps(len(pairs), d))
        rows = []
        for n, k in pairs:
            x, q, b = points[n], forms[n] % p, left[n][k] % p
            second = [(q * (j == k) - b * w) % p for j, w in enumerate(x)]
            rows.append([u * v % p for u in x for v in second])
        rank = rank_modulo(rows)
        require(
            rank == d * d - 1,
            "determined",
            f"layer {number}: rank {rank} modulo a prime, {d * d - 1} is needed",
        )
        work.spend(len(pairs) * (1 + bits // 1024))
        pairs = [(n, k) for n, k in pairs if forms[n] * matrix[k][k] != left[n][k] * right[n][k]]


# ------------------------------------------------------------------------------------------------------------
# §8  Kind `symmetry-algebra`
# ------------------------------------------------------------------------------------------------------------

SparseMatrix = dict[tuple[int, int], Fraction]


def commutator(a: SparseMatrix, b: SparseMatrix, work: Work) -> SparseMatrix:
    """ab - ba."""
    total: SparseMatrix = {}
    for left, right, sign in ((a, b, 1), (b, a, -1)):
        rows: dict[int, list[tuple[int, Fraction]]] = {}
        for (i, j), value in right.items():
            rows.setdefault(i, []).append((j, value))
        work.spend(len(left) + len(right))
        for (i, j), value in left.items():
            for k, other in rows.get(j, ()):
                work.spend(1)
                old = total.pop((i, k), 0)
                spend_bits(bit_size(old) + bit_size(value) + bit_size(other), work)
                sum_ = old + sign * value * other
                if sum_:
                    total[i, k] = Fraction(sum_)
    return total


def standard_basis(algebra: str, a: int) -> list[tuple[tuple[int, int], SparseMatrix]]:
    """The basis of a factor as matrices, each with a place where it alone has an entry, which is 1."""
    one = Fraction(1)
    pairs = [(i, j) for i in range(a) for j in range(a)]
    if algebra == "gl":
        return [((i, j), {(i, j): one}) for i, j in pairs]
    # so(a,a) on (Q; K): rows 0..a-1 are those of Q
    found: list[tuple[tuple[int, int], SparseMatrix]]
    found = [((i, j), {(i, j): one, (a + j, a + i): -one}) for i, j in pairs]
    for i, j in pairs:
        if j < i:
            found.append(((i, a + j), {(i, a + j): one, (j, a + i): -one}))
            found.append(((a + i, j), {(a + i, j): one, (a + j, i): -one}))
    return found


def check_factors(value: Any, listed: list[VectorField]) -> str:
    """The linear fields come first and are in order the bases of commuting factors; their names."""
    work = Work("brackets")
    matrices: list[SparseMatrix] = []
    for number, field in enumerate(listed):
        terms = {(c, m): x for c, terms in field.items() for m, x in terms}
        if all(len(m) == 1 for _, m in terms):
            require(len(matrices) == number, "factors", "a linear field comes after one that is not linear")
            matrices.append({(c, m[0]): x for (c, m), x in terms.items()})
    linear = len(matrices)
    factors: list[tuple[str, int, int]] = []
    first = 0
    for entry in array(value, "factors", "factors"):
        fields(entry, "factors", "factor", ("algebra", "size"))
        algebra = entry["algebra"]
        require(algebra in ("gl", "so", "torus"), "factors", "algebra {} is not gl, so or torus", algebra)
        a = integer(entry["size"], "factors", "size", 1, max(1, linear))
        count = {"gl": a * a, "so": a * (2 * a - 1), "torus": a}[algebra]
        require(first + count <= linear, "factors", f"more than the {linear} linear fields in the factors")
        factors.append((algebra, a, first))
        first += count
    require(first == linear, "factors", f"{first} fields in the factors, {linear} are linear")
    ends = [start for _, _, start in factors[1:]] + [first]
    owner = [k for k, (_, _, start) in enumerate(factors) for _ in range(start, ends[k])]
    bases = [standard_basis(name, a) if name != "torus" else [] for name, a, _ in factors]
    for i in range(len(matrices)):
        for j in range(i):
            bracket = commutator(matrices[i], matrices[j], work)
            k = owner[i]
            name, _, start = factors[k]
            if owner[j] == k and name != "torus":
                basis = bases[k]
                expected = commutator(basis[i - start][1], basis[j - start][1], work)
                for number, (place, _) in enumerate(basis):
                    c = expected.get(place, Fraction(0))
                    if c:
                        for key, x in matrices[start + number].items():
                            before = bracket.get(key, Fraction(0))
                            spend_bits(bit_size(before) + bit_size(c) + bit_size(x), work)
                            bracket[key] = before - c * x
            work.spend(len(bracket) + 1)
            zero = not any(bracket.values())
            require(zero, "factors", f"fields {j} and {i} do not have the bracket of their factors")
    words = {"gl": "gl_{0}", "so": "so({0},{0})", "torus": "torus^{0}"}
    return " x ".join(words[name].format(a) for name, a, _ in factors) or "0"


def check_symmetry_algebra(certificate: dict[str, Any], report: Report) -> str:
    network = parse_network(certificate["network"])
    claim = fields(
        certificate["claim"], "claim", "claim", ("quantity", "relation", "fields", "rank", "factors")
    )
    compare("claim", "quantity", claim["quantity"], "symmetries")
    relation = claim["relation"]
    known = relation in ("fill the kernel", "lie in the kernel")
    require(known, "claim", "relation is {}, not fill or lie in the kernel", relation)
    m = integer(claim["fields"], "claim", "fields", 0)
    k = integer(claim["rank"], "claim", "rank", 0)
    check_strength_and_provenance(certificate)
    witness = fields(certificate["witness"], "fields", "witness", ("symmetries", "lower_bound"))
    n = network.parameters()
    require(n > 0, "network", "the network has no parameters")
    minor = LowerBound.parse(witness["lower_bound"], network)
    if relation == "fill the kernel":
        why = f"rank {k} and a minor of size {minor.value} of {n} parameters"
        require(minor.value + k == n, "claim", why)
    steps = witness["symmetries"]
    fields(steps, "symmetry", "symmetries", ("parameters", "prime", "seed", "fields", "parts", "rank"))
    compare("symmetry", "parameters", steps["parameters"], encode(n))
    found = parse_symmetries(steps, network, report, least=0)
    require(found.rank == k, "claim", f"claims rank {k}, the symmetries have {found.rank}")
    require(len(found.fields) == m, "claim", f"claims {m} fields, there are {len(found.fields)}")
    independent = coefficient_rank(found.fields, found.prime)
    require(independent == m, "symmetry", f"{m} fields of rank {independent} as polynomials modulo p")
    factors = claim["factors"]
    names = "" if factors is None else check_factors(factors, found.fields)
    algebra = f", the linear ones the Lie algebra {names}" if names else ""
    minor.verify(report)
    parts = f" and {len(steps['parts'])} parts" if steps["parts"] else ""
    what = f"{m} independent vector fields{parts} leave the map of {network} unchanged{algebra}"
    if relation == "fill the kernel":
        return f"{what}; they fill the kernel of its Jacobian, of dimension {k} (exact)"
    return f"{what}; they span at least {k} dimensions of the kernel of its Jacobian (exact)"


def coefficient_rank(listed: list[VectorField], prime: int) -> int:
    """The rank modulo p of fields as vectors of their coefficients, at most the rank over Q."""
    keys: dict[tuple[int, Monomial], int] = {}
    rows = []
    for field in listed:
        row: dict[int, int] = {}
        for c, terms in field.items():
            for monomial, x in terms:
                place = keys.setdefault((c, monomial), len(keys))
                row[place] = x.numerator * pow(x.denominator, -1, prime) % prime
        rows.append(row)
    work = Work("independence of fields", LIMIT_FORMS)
    basis: dict[int, dict[int, int]] = {}  # by the place of the first entry, a 1
    for row in rows:
        while row:
            place = min(row)
            if place not in basis:
                inverse = pow(row[place], -1, prime)
                basis[place] = {key: residue * inverse % prime for key, residue in row.items()}
                break
            factor = row[place]
            work.spend(len(basis[place]))
            for key, residue in basis[place].items():
                value = (row.get(key, 0) - factor * residue) % prime
                if value:
                    row[key] = value
                else:
                    row.pop(key, None)
    return len(basis)


# ------------------------------------------------------------------------------------------------------------
# §9  Kind `normalized-fibre`
# ------------------------------------------------------------------------------------------------------------


def rational_determinant(rows: Sequence[Sequence[Fraction]], work: Work) -> Fraction:
    """The exact determinant: rows are made integral, then eliminated without fractions (Bareiss)."""
    n, scale = len(rows), 1
    matrix = []
    for row in rows:
        own = common_denominator(row, work)
        work.spend(1 + len(row) * bit_work(own.bit_length()) // 8)
        scale *= own
        require_supported(scale.bit_length() <= 4 * LIMIT_BITS, "denominators of too many digits")
        matrix.append([int(x * own) for x in row])
    spend_elimination(matrix, work)
    sign, previous = 1, 1
    for k in range(n):
        pivot = next((i for i in range(k, n) if matrix[i][k]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != k:
            matrix[k], matrix[pivot] = matrix[pivot], matrix[k]
            sign = -sign
        top, head = matrix[k], matrix[k][k]
        for i in range(k + 1, n):
            factor = matrix[i][k]
            pairs = zip(matrix[i][k + 1 :], top[k + 1 :], strict=True)
            matrix[i] = [0] * (k + 1) + [(head * x - factor * y) // previous for x, y in pairs]
        previous = head
    return Fraction(sign * previous, scale)


def check_normalized_fibre(certificate: dict[str, Any], report: Report) -> str:
    network = parse_network(certificate["network"])
    layer = network.layers[0]
    single = len(network.layers) == 1 and layer.type == NORMALIZED and network.tokens >= 2
    require(single, "network", f"{network}: not one {NORMALIZED} layer on two or more tokens")
    claim = certificate["claim"]
    require(isinstance(claim, dict), "claim", "claim is {}, not an object", claim)
    scope = claim.get("scope")
    require(scope in ("all", "point"), "claim", "scope is {}, not all or point", scope)
    check_strength_and_provenance(certificate)
    what = all_normalized_fibres if scope == "all" else normalized_fibre_at
    return what(certificate, network, layer, Work("exact linear algebra"))


def all_normalized_fibres(certificate: dict[str, Any], network: Network, layer: Layer, work: Work) -> str:
    """2d - 1 distinct nodes s: of the vectors (1, s, ..., s^(d-1)) any d are independent (Vandermonde); and a
    basis of tokens."""
    d, check = layer.d_in, "basis"
    claim = fields(certificate["claim"], "claim", "claim", ("quantity", "scope", "inputs", "dimension"))
    dimension = rank_variety(d, layer.rank) + d * layer.d_out
    compare("claim", "quantity", claim["quantity"], "fibre")
    compare("claim", "inputs", claim["inputs"], encode(2 * d * d))
    compare("claim", "dimension", claim["dimension"], encode(dimension))
    witness = fields(certificate["witness"], "fields", "witness", ("nodes", "tokens", "determinant"))
    nodes = [fraction(s, check, "node") for s in array(witness["nodes"], check, "nodes")]
    require(len(nodes) == 2 * d - 1, check, f"{len(nodes)} nodes, {2 * d - 1} are needed")
    require(len(set(nodes)) == len(nodes), check, "two nodes are equal")
    tokens = rational_matrix(witness["tokens"], d, d, check, "tokens")
    check_determinant(witness["determinant"], tokens, work)
    points = f"for V != 0 the fibre in (A, V) is a point, determined by {2 * d * d} inputs"
    rest = "for V = 0 it is all A"
    if layer.rank <= d:
        rest += f"; where rank A = {layer.rank} it is in (Q, K, V) the GL_{layer.rank} orbit"
    return f"{network}: {points}; {rest}; dimension {encode(dimension)} (exact)"


def check_determinant(stated: Any, rows: list[list[Fraction]], work: Work) -> None:
    value = fraction(stated, "determinant", "determinant")
    require(value != 0, "determinant", "determinant is 0")
    found = rational_determinant(rows, work)
    require(found == value, "determinant", f"stated {{}}, recomputed {RawText(found)}", stated)


def normalized_fibre_at(certificate: dict[str, Any], network: Network, layer: Layer, work: Work) -> str:
    """d^2 pairs (x, y) with V(x - y) != 0 whose vectors (x - y) (x) y are a basis; none if V = 0."""
    d, check = layer.d_in, "basis"
    claim = fields(certificate["claim"], "claim", "claim", ("quantity", "scope", "fibre", "rank", "orbit"))
    compare("claim", "quantity", claim["quantity"], "fibre")
    witness = fields(certificate["witness"], "fields", "witness", ("parameters", "pairs", "determinant"))
    listed = array(witness["parameters"], "parameters", "parameters")
    count = network.parameters()
    require(len(listed) == count, "parameters", f"{len(listed)} parameters, {count} are needed")
    work.spend(d * d * layer.rank + d**4)
    values = [fraction(value, "parameters", "parameter") for value in listed]
    rows = [values[start : start + d] for start in range(0, count, d)]
    q, k, v = rows[: layer.rank], rows[layer.rank : 2 * layer.rank], rows[2 * layer.rank :]
    columns = list(zip(*q, strict=True))
    spend_product(list(zip(*k, strict=True)), q, work)
    attention = [[sum(map(mul, key, query)) for query in columns] for key in zip(*k, strict=True)]
    rank = rational_rank(attention, work)
    compare("claim", "rank", claim["rank"], rank)
    is_zero = not any(any(row) for row in v)
    compare("claim", "fibre", claim["fibre"], "all attention matrices" if is_zero else "point")
    compare("claim", "orbit", claim["orbit"], not is_zero and rank == layer.rank)
    if is_zero:
        for key in ("pairs", "determinant"):
            require(witness[key] is None, check, f"{key} where V = 0")
        return f"{network}: V = 0 at the point, and its fibre in (A, V) is all A (exact)"
    vectors = []
    for pair in array(witness["pairs"], check, "pairs"):
        x, y = rational_matrix(pair, 2, d, check, "pair")
        w = [s - t for s, t in zip(x, y, strict=True)]
        moved = any(sum(map(mul, row, w)) for row in v)
        require(moved, check, "V (x - y) = 0 for the pair {}", pair)
        vectors.append([s * t for s in w for t in y])
        require(len(vectors) <= d * d, check, f"more than {d * d} pairs")
    require(len(vectors) == d * d, check, f"{len(vectors)} pairs, {d * d} are needed")
    check_determinant(witness["determinant"], vectors, work)
    orbit = f", in (Q, K, V) the GL_{layer.rank} orbit" if rank == layer.rank else f", rank A = {rank}"
    return f"{network}: the fibre through the point is a point in (A, V){orbit} (exact)"


# ------------------------------------------------------------------------------------------------------------
# Kind `identifiability`
# ------------------------------------------------------------------------------------------------------------


def check_identifiability(certificate: dict[str, Any], report: Report) -> str:
    """At the stated point L and the symmetric parts of M_1, ..., M_(l-1) are not zero."""
    network = parse_network(certificate["network"])
    chain = network.is_chain(NORMALIZED) and network.tokens >= 2
    require(chain, "network", f"not a chain of {NORMALIZED} layers on two or more tokens")
    expected = {"quantity": "fibre", "over": "virtual weights", "at": "general", "points": 1}
    compare("claim", "claim", certificate["claim"], expected)
    check_strength_and_provenance(certificate)
    witness = fields(certificate["witness"], "fields", "witness", ("parameters", "symmetric", "value"))
    n, depth, d = network.parameters(), len(network.layers), network.width
    stated = array(witness["parameters"], "parameters", "parameters")
    require(len(stated) == n, "parameters", f"{len(stated)} values, {n} are needed")
    work = sum((2 * x.rank + x.d_out) * x.d_in * d + x.rank * d * d for x in network.layers)
    require_supported(work * depth <= LIMIT_WORK, f"virtual weights of {depth} layers on width {d}")
    flat = [integer(value, "parameters", "parameter", -(10**6), 10**6) for value in stated]
    entries = [*array(witness["symmetric"], "symmetric", "symmetric"), witness["value"]]
    require(len(entries) == depth, "symmetric", f"{len(entries) - 1} entries, {depth - 1} are needed")

    def product(a: list[list[int]], b: list[list[int]]) -> list[list[int]]:
        columns = list(zip(*b, strict=True))
        return [[sum(map(mul, row, column)) for column in columns] for row in a]

    def compare_entry(matrix: list[list[int]], entry: Any, check: str, what: str) -> None:
        require(isinstance(entry, list) and len(entry) == 3, check, "{} is not [row, column, value]", entry)
        i = integer(entry[0], check, "row", 0, len(matrix) - 1)
        j = integer(entry[1], check, "column", 0, len(matrix[0]) - 1)
        require(matrix[i][j] != 0, check, f"entry {i}, {j} of {what} is zero")
        compare(check, f"entry {i}, {j} of {what}", entry[2], encode(matrix[i][j]))

    u = [[int(i == j) for j in range(d)] for i in range(d)]  # U_(k-1) = V_(k-1) ... V_1
    offset = 0
    for k, layer in enumerate(network.layers, start=1):
        report(f"virtual weights of layer {k}")
        own = []
        for _, rows, columns in layer.matrices():
            own.append(chop(flat[offset : offset + rows * columns], columns))
            offset += rows * columns
        if k < depth:
            m = product([list(c) for c in zip(*product(own[1], u), strict=True)], product(own[0], u))
            total = [
                [x + y for x, y in zip(r, c, strict=True)]
                for r, c in zip(m, zip(*m, strict=True), strict=True)
            ]
            compare_entry(total, entries[k - 1], "symmetric", f"M_{k} + M_{k}^T")
        u = product(own[2], u)
    compare_entry(u, entries[-1], "value", "L")
    return (
        f"{network}: the general fibre over the virtual weights (M_1, ..., M_{depth}, L) is one point (exact)"
    )


# ------------------------------------------------------------------------------------------------------------
# §10  Kind `singular-locus`
# ------------------------------------------------------------------------------------------------------------

Entries = dict[tuple[int, int], int]  # of a matrix, by row and column; no zeros
SparseVector = dict[int, int]
StratumKey = tuple[int, int, int]  # rank V, rank A, dimension of the meet


@dataclass(frozen=True, slots=True)
class OneLayer:
    """The map (V, A) -> coefficients of v_i(x) A(x, y) with V of size e x d and A of rank at most a."""

    d: int
    e: int
    a: int

    @classmethod
    def of(cls, network: Network) -> OneLayer:
        one = len(network.layers) == 1 and network.is_chain(ATTENTION)
        require(one, "network", "it is not one attention layer")
        require(network.tokens >= 2, "network", "one token: the map sees the symmetric part of A only")
        layer = network.layers[0]
        return cls(layer.d_in, layer.d_out, layer.rank)

    @property
    def dimension(self) -> int:
        return rank_variety(self.d, self.a) + self.d * self.e - 1

    @property
    def coefficients(self) -> int:
        return self.e * self.d * self.d * (self.d + 1) // 2

    def __str__(self) -> str:
        return f"d = {self.d}, d' = {self.e}, a = {self.a}"

    def strata(self) -> list[StratumKey]:
        """All strata, in order; their number is bounded first."""
        r_max, s_max = min(self.d, self.e), min(self.d, self.a)
        require_supported(r_max * s_max * min(r_max, s_max) <= 20_000, f"the strata of one layer with {self}")
        found = [(0, 0, 0)]
        for r in range(1, r_max + 1):
            for s in range(1, s_max + 1):
                found += [(r, s, m) for m in range(max(0, r + s - self.d), min(r, s) + 1)]
        return found

    def key(self, i: int, alpha: int, beta: int, gamma: int) -> int:
        low, high = min(alpha, beta), max(alpha, beta)
        return ((i * self.d + low) * self.d + high) * self.d + gamma

    def product(self, values: Entries, attention: Entries, work: Work) -> SparseVector:
        """The coefficients of v_i(x) A(x, y)."""
        work.spend(1 + len(values) * len(attention))
        result: SparseVector = {}
        for (i, alpha), v in values.items():
            for (beta, gamma), x in attention.items():
                key = self.key(i, alpha, beta, gamma)
                result[key] = result.get(key, 0) + v * x
        return {key: value for key, value in result.items() if value}


def representative(stratum: StratumKey) -> tuple[Entries, Entries]:
    """V and A with entries 0 and 1 (§10)."""
    r, s, m = stratum
    attention = {(j if j < m else r + j - m, j): 1 for j in range(s)}
    return {(i, i): 1 for i in range(r)}, attention


class ModularRank:
    """The rank of sparse integer vectors modulo a prime: a lower bound of that over Q."""

    def __init__(self, prime: int, work: Work) -> None:
        self.prime, self.work = prime, work
        self.pivots: dict[int, SparseVector] = {}

    def add(self, vector: SparseVector) -> bool:
        p = self.prime
        row = {key: value % p for key, value in vector.items() if value % p}
        while row:
            lead = min(row)
            self.work.spend(len(row))
            pivot = self.pivots.get(lead)
            if pivot is None:
                scale = pow(row[lead], -1, p)
                self.pivots[lead] = {key: value * scale % p for key, value in row.items()}
                return True
            self.work.spend(len(pivot))
            factor = row[lead]
            for key, value in pivot.items():
                rest = (row.get(key, 0) - factor * value) % p
                if rest:
                    row[key] = rest
                else:
                    del row[key]
        return False

    def rank_of(self, vectors: Iterable[SparseVector]) -> int:
        for vector in vectors:
            self.add(vector)
        return len(self.pivots)


def parse_prime(value: Any) -> int:
    prime = integer(value, "prime", "prime", 3, 2**31 - 1)
    require(is_prime(prime), "prime", "{} is not prime", prime)
    return prime


def parse_entries(value: Any, rows: int, columns: int, check: str, what: str) -> Entries:
    """A sparse integer matrix: [row, column, value], positions increasing, no zeros."""
    found: Entries = {}
    last = (-1, -1)
    for entry in array(value, check, what):
        require(
            isinstance(entry, list) and len(entry) == 3,
            check,
            f"{what}: {{}} is not [row, column, value]",
            entry,
        )
        i = integer(entry[0], check, f"row in {what}", 0, rows - 1)
        j = integer(entry[1], check, f"column in {what}", 0, columns - 1)
        x = integer(entry[2], check, f"value in {what}", -MAX_PLAIN_INTEGER, MAX_PLAIN_INTEGER)
        require(x != 0 and (i, j) > last, check, f"{what}: a zero, or positions not increasing")
        last = (i, j)
        found[last] = x
    return found


def parse_stratum(value: Any, what: str) -> StratumKey:
    numbers = array(value, "strata", what)
    require(len(numbers) == 3, "strata", f"{what} is {{}}, not three numbers", value)
    r, s, m = (integer(number, "strata", what, 0, MAX_SIZE) for number in numbers)
    return r, s, m


def along(start: Entries, direction: Entries, t: int) -> Entries:
    moved = dict(start)
    for position, value in direction.items():
        moved[position] = moved.get(position, 0) + t * value
    return {position: value for position, value in moved.items() if value}


def full_rows(entries: Entries, rows: int, columns: int) -> list[list[int]]:
    return [[entries.get((i, j), 0) for j in range(columns)] for i in range(rows)]


class SingularLocus:
    """The arguments of §10 for one layer; each raises, or proves what its name says of a stratum."""

    def __init__(self, layer: OneLayer, prime: int) -> None:
        self.layer, self.prime = layer, prime
        self.work = Work("strata")
        vectors = len(layer.strata()) * layer.d * (layer.d + layer.e)
        require_supported(vectors <= LIMIT_VECTORS, f"tangent vectors of one layer with {layer}")

    def rank_of(self, vectors: Iterable[SparseVector]) -> int:
        return ModularRank(self.prime, self.work).rank_of(vectors)

    def need(self, vectors: Iterable[SparseVector], least: int, where: str) -> None:
        rank = self.rank_of(vectors)
        require(rank >= least, "rank", f"{where}: rank {rank} modulo {self.prime}, {least} is needed")

    def tangent(self, stratum: StratumKey) -> Iterable[SparseVector]:
        """The differential at the representative on e x d matrices and on the tangent space of rank <= a."""
        layer, (values, attention) = self.layer, representative(stratum)
        rows, columns = {i for i, _ in attention}, {j for _, j in attention}
        for i, j in itertools.product(range(layer.e), range(layer.d)):
            yield layer.product({(i, j): 1}, attention, self.work)
        for i, j in itertools.product(range(layer.d), repeat=2):
            if layer.a >= layer.d or i in rows or j in columns:
                yield layer.product(values, {(i, j): 1}, self.work)

    def check_dimension(self) -> None:
        """The differential has rank dim Y at a point with rank A = min(a, d); fibres are at least curves."""
        r, s = min(self.layer.d, self.layer.e), min(self.layer.d, self.layer.a)
        generic = (r, s, max(0, r + s - self.layer.d))
        self.need(self.tangent(generic), self.layer.dimension, "dimension")

    # -- smooth ---------------------------------------------------------------------------------------------

    def linear(self, entry: dict[str, Any], stratum: StratumKey, where: str) -> None:
        count = self.layer.coefficients
        require(count == self.layer.dimension, "strata", f"{where}: Y is not the space of coefficients")

    def immersion(self, entry: dict[str, Any], stratum: StratumKey, where: str) -> None:
        r, s, _ = stratum
        require(r * s >= 2, "strata", f"{where}: more than one preimage, or not an immersion")
        smooth = self.layer.a >= self.layer.d or s == self.layer.a
        require(smooth, "strata", f"{where}: the matrices of rank <= a are not smooth there")
        self.need(self.tangent(stratum), self.layer.dimension, where)

    def open_orbit(self, entry: dict[str, Any], stratum: StratumKey, where: str) -> None:
        layer, (values, attention) = self.layer, representative(stratum)
        spend = self.work.spend
        span = ModularRank(self.prime, self.work)
        spend(layer.e**2 + 2 * layer.d**2)
        for i, k in itertools.product(range(layer.e), repeat=2):
            moved = {(i, j): v for (row, j), v in values.items() if row == k}
            span.add(layer.product(moved, attention, self.work))
        for j, k in itertools.product(range(layer.d), repeat=2):
            # x_j becomes x_j + t x_k in V and in A
            moved = {(i, k): v for (i, column), v in values.items() if column == j}
            turned = {(k, column): v for (row, column), v in attention.items() if row == j}
            vector = layer.product(moved, attention, self.work)
            for key, value in layer.product(values, turned, self.work).items():
                vector[key] = vector.get(key, 0) + value
            span.add(vector)
            shifted = {(i, k): v for (i, column), v in attention.items() if column == j}
            span.add(layer.product(values, shifted, self.work))
        rank = len(span.pivots)
        least = layer.dimension
        require(rank >= least, "rank", f"{where}: the orbit has rank {rank}, {least} is needed")

    def equations(self, entry: dict[str, Any], stratum: StratumKey, where: str) -> None:
        """Polynomials that vanish on Y, with independent differentials, as many as the codimension."""
        layer = self.layer
        count = layer.coefficients
        require_supported(count <= 400, f"{where}: equations in {count} coefficients")
        names = [
            layer.key(i, x, y, g)
            for i in range(layer.e)
            for x in range(layer.d)
            for y in range(x, layer.d)
            for g in range(layer.d)
        ]
        point = layer.product(*representative(stratum), self.work)
        at = [Fraction(point.get(name, 0)) for name in names]
        generic = self.parametrisation(names)
        span = ModularRank(self.prime, self.work)
        for value in array(entry["equations"], "equations", f"{where}: equations"):
            f = parse_polynomial(value, len(names), "equations", f"{where}: equation")
            require(
                not self.substituted(f, generic),
                "equations",
                f"{where}: an equation does not vanish on all points",
            )
            gradient = {}
            for number in range(len(names)):
                self.work.spend(len(f) + 1)
                slope = polynomial_value(polynomial_derivative(f, number), at, self.work)
                require(slope.denominator == 1, "equations", f"{where}: a derivative is not an integer")
                gradient[number] = int(slope)
            span.add(gradient)
        rank, least = len(span.pivots), len(names) - layer.dimension
        require(rank >= least, "rank", f"{where}: differentials of rank {rank}, {least} is needed")

    def parametrisation(self, names: list[int]) -> list[Polynomial]:
        """Each coefficient as a polynomial in the entries of V, K and Q, where A = K^T Q."""
        layer = self.layer
        count = layer.e * layer.d + 2 * layer.a * layer.d
        require_supported(count * len(names) <= 100_000, f"equations of a layer with {layer}")

        def symbol(number: int) -> Polynomial:
            return {tuple(int(k == number) for k in range(count)): Fraction(1)}

        value = {(i, j): symbol(i * layer.d + j) for i in range(layer.e) for j in range(layer.d)}
        first = layer.e * layer.d
        attention: dict[tuple[int, int], Polynomial] = {}
        for i, j in itertools.product(range(layer.d), repeat=2):
            total: Polynomial = {}
            for k in range(layer.a):
                left, right = symbol(first + k * layer.d + i), symbol(first + (layer.a + k) * layer.d + j)
                total = polynomial_sum(total, polynomial_product(left, right, self.work), self.work)
            attention[i, j] = total
        found: dict[int, Polynomial] = {}
        for (i, alpha), v in value.items():
            for (beta, gamma), x in attention.items():
                key = layer.key(i, alpha, beta, gamma)
                term = polynomial_product(v, x, self.work)
                found[key] = polynomial_sum(found.get(key, {}), term, self.work)
        return [found[name] for name in names]

    def substituted(self, f: Polynomial, generic: list[Polynomial]) -> Polynomial:
        total: Polynomial = {}
        for exponents, coefficient in f.items():
            term: Polynomial | None = None
            for number, k in enumerate(exponents):
                for _ in range(k):
                    factor = generic[number]
                    term = factor if term is None else polynomial_product(term, factor, self.work)
            require(term is not None, "equations", "an equation has a constant term")
            total = polynomial_sum(total, term or {}, self.work, coefficient)
        return total

    # -- singular -------------------------------------------------------------------------------------------

    def arcs(self, entry: dict[str, Any], stratum: StratumKey, where: str) -> None:
        """The first terms of arcs inside Y that start at the point have rank above dim Y."""
        layer = self.layer
        point = layer.product(*representative(stratum), self.work)
        starts = []
        for value in array(entry["preimages"], "arc", f"{where}: preimages"):
            values, attention = self.parse_pair(value, f"{where}: preimage")
            require(
                layer.product(values, attention, self.work) == point,
                "arc",
                f"{where}: {{}} is no preimage",
                value,
            )
            starts.append((values, attention))
        span = ModularRank(self.prime, self.work)
        for value in array(entry["arcs"], "arc", f"{where}: arcs"):
            parts = array(value, "arc", f"{where}: arc")
            require(len(parts) == 3, "arc", f"{where}: arc {{}} has not three parts", value)
            start = starts[integer(parts[0], "arc", f"{where}: number of a preimage", 0, len(starts) - 1)]
            direction = self.parse_pair(parts[1:], f"{where}: arc")
            require(
                self.stays(start[1], direction[1]),
                "arc",
                f"{where}: arc {{}}: the rank of A exceeds a",
                value,
            )
            span.add(self.velocity(start, direction, f"{where}: arc {show(value)}"))
        rank, least = len(span.pivots), layer.dimension + 1
        require(rank >= least, "rank", f"{where}: velocities of rank {rank}, {least} is needed")

    def parse_pair(self, value: Any, what: str) -> tuple[Entries, Entries]:
        pair = array(value, "arc", what)
        require(len(pair) == 2, "arc", f"{what}: {{}} is not a pair of matrices", value)
        d, e = self.layer.d, self.layer.e
        return parse_entries(pair[0], e, d, "arc", what), parse_entries(pair[1], d, d, "arc", what)

    def velocity(
        self, start: tuple[Entries, Entries], direction: tuple[Entries, Entries], what: str
    ) -> SparseVector:
        """The first term after the constant one of the arc's coefficients."""
        first = self.layer.product(direction[0], start[1], self.work)
        for key, value in self.layer.product(start[0], direction[1], self.work).items():
            first[key] = first.get(key, 0) + value
        first = {key: value for key, value in first.items() if value}
        velocity = first or self.layer.product(*direction, self.work)
        require(bool(velocity), "arc", f"{what} is constant")
        return velocity

    def stays(self, attention: Entries, direction: Entries) -> bool:
        """Whether A + t A' has rank at most a for all t."""
        d, a = self.layer.d, self.layer.a
        support = {*attention, *direction}
        if a >= d or min(len({i for i, _ in support}), len({j for _, j in support})) <= a:
            return True
        # minors of size a + 1 are polynomials in t of degree at most a + 1
        return all(self.exact_rank(along(attention, direction, t), d) <= a for t in range(a + 2))

    def exact_rank(self, *parts: Any) -> int:
        """The rank over Q of matrices below each other: entries, and last the number of their columns."""
        *matrices, columns = parts
        rows = []
        for entries in matrices:
            height = max((i for i, _ in entries), default=-1) + 1
            rows += full_rows(entries, height, columns)
        return rational_rank(rows, self.work) if rows else 0

    def limit(self, entry: dict[str, Any], stratum: StratumKey, where: str, known: set[StratumKey]) -> None:
        """The point is a limit of points of a stratum known to be singular."""
        near = parse_stratum(entry["of"], f"{where}: of")
        require(near in known, "strata", f"{where}: stratum {{}} is not known to be singular", list(near))
        values, attention = representative(stratum)
        direction = self.parse_pair(entry["arc"], f"{where}: arc")
        d = self.layer.d
        ranks = []
        for t in range(d + 1):  # minors have degree at most d in t
            moved, turned = along(values, direction[0], t), along(attention, direction[1], t)
            columns = {(j, i): x for (i, j), x in turned.items()}
            triple = (moved, d), (columns, d), (moved, columns, d)
            ranks.append([self.exact_rank(*parts) for parts in triple])
        r, s, both = (max(column) for column in zip(*ranks, strict=True))
        found = (r, s, r + s - both)
        require(found == near, "arc", f"{where}: the arc is in stratum {{}}", list(found))


# argument: (further keys, the points are singular, method)
STRATUM_ARGUMENTS: dict[str, tuple[tuple[str, ...], bool, Any]] = {
    "linear": ((), False, SingularLocus.linear),
    "immersion": ((), False, SingularLocus.immersion),
    "open orbit": ((), False, SingularLocus.open_orbit),
    "equations": (("equations",), False, SingularLocus.equations),
    "arcs": (("preimages", "arcs"), True, SingularLocus.arcs),
    "limit": (("of", "arc"), True, None),
}


def stratum_entries(
    value: Any, layer: OneLayer, flag: str, arguments: dict[str, tuple[tuple[str, ...], bool, Any]]
) -> list[tuple[StratumKey, bool, dict[str, Any]]]:
    """The entries of a list of strata: all strata once, in order, each with a known argument."""
    listed = layer.strata()
    stated = array(value, "strata", "strata")
    require(len(stated) == len(listed), "strata", f"{len(stated)} entries for {len(listed)} strata")
    found = []
    for entry, stratum in zip(stated, listed, strict=True):
        require(isinstance(entry, dict), "strata", "entry {} is not an object", entry)
        argument = entry.get("argument")
        require(isinstance(argument, str), "strata", "argument is {}, not a string", argument)
        require(argument in arguments, "strata", "no argument {}", argument)
        keys, says, _ = arguments[argument]
        fields(entry, "strata", "entry", ("stratum", flag, "argument", *keys))
        compare("strata", "stratum", entry["stratum"], list(stratum))
        compare("strata", f"stratum {list(stratum)}: {flag}", entry[flag], says)
        found.append((stratum, says, entry))
    return found


def check_singular_locus(certificate: dict[str, Any], report: Report) -> str:
    layer = OneLayer.of(parse_network(certificate["network"]))
    keys = ("quantity", "dimension", "singular", "smooth", "rank_product_at_most_one")
    claim = fields(certificate["claim"], "claim", "claim", keys)
    compare("claim", "quantity", claim["quantity"], "singular locus")
    compare("claim", "dimension", claim["dimension"], encode(layer.dimension))
    check_strength_and_provenance(certificate)
    witness = fields(certificate["witness"], "fields", "witness", ("prime", "strata"))
    prime = parse_prime(witness["prime"])
    entries = stratum_entries(witness["strata"], layer, "singular", STRATUM_ARGUMENTS)
    # the claim first: it is cheap
    singular = [stratum for stratum, says, _ in entries if says]
    compare("claim", "singular", claim["singular"], [list(stratum) for stratum in singular])
    smooth = [list(stratum) for stratum, says, _ in entries if not says]
    compare("claim", "smooth", claim["smooth"], smooth)
    holds = all((r * s <= 1) == says for (r, s, _), says, _ in entries)
    compare("claim", "rank_product_at_most_one", claim["rank_product_at_most_one"], holds)

    locus = SingularLocus(layer, prime)
    locus.check_dimension()
    known: set[StratumKey] = set()
    for number, (stratum, says, entry) in enumerate(entries):
        method = STRATUM_ARGUMENTS[entry["argument"]][2]
        report(f"stratum {number + 1} of {len(entries)}")
        if method is not None:
            method(locus, entry, stratum, f"stratum {list(stratum)}")
            known |= {stratum} if says else set()
    for stratum, _, entry in entries:
        if entry["argument"] == "limit":
            locus.limit(entry, stratum, f"stratum {list(stratum)}", known)
    words = " ".join(f"({r},{s},{m})" for r, s, m in singular) or "none"
    listed = words if len(words) < 200 else "listed in the claim"
    sentence = "exactly" if holds else "not exactly"
    return (
        f"one layer, {layer}, dim Y = {layer.dimension}: {len(singular)} of {len(entries)} strata are "
        f"singular ({listed}), {sentence} those with rk A rk V <= 1 (exact)"
    )


# ------------------------------------------------------------------------------------------------------------
# §11  Kind `boundary`
# ------------------------------------------------------------------------------------------------------------


def parse_form(value: Any, variables: int, what: str) -> SparseVector:
    """A sparse linear form: [variable, value], variables increasing, no zeros."""
    found: SparseVector = {}
    last = -1
    for entry in array(value, "boundary", what):
        require(isinstance(entry, list) and len(entry) == 2, "boundary", f"{what}: {{}} is not a pair", entry)
        j = integer(entry[0], "boundary", f"variable in {what}", 0, variables - 1)
        x = integer(entry[1], "boundary", f"value in {what}", -MAX_PLAIN_INTEGER, MAX_PLAIN_INTEGER)
        require(x != 0 and j > last, "boundary", f"{what}: a zero, or variables not increasing")
        last = j
        found[j] = x
    return found


class RealBoundary:
    """The arguments of §11; each raises, or proves that a real stratum is, or is not, in the boundary."""

    def __init__(self, layer: OneLayer, prime: int) -> None:
        self.layer, self.prime = layer, prime
        self.work = Work("strata")
        require_supported(layer.d + layer.e <= LIMIT_VECTORS, f"the boundary of one layer with {layer}")

    def point(self, stratum: StratumKey) -> SparseVector:
        return self.layer.product(*representative(stratum), self.work)

    def no_complement(self, entry: dict[str, Any], stratum: StratumKey, where: str) -> None:
        require(self.layer.d == 1, "boundary", f"{where}: there are real points of Y outside M")

    def family(self, entry: dict[str, Any], stratum: StratumKey, where: str) -> None:
        """w (l(t)^2 + m(t)^2) q is the point at t = 0; for almost all t, l and m are independent."""
        parts = fields(entry["family"], "boundary", f"{where}: family", ("w", "l", "m", "q"))
        w = parse_form(parts["w"], self.layer.e, f"{where}: w")
        q = parse_form(parts["q"], self.layer.d, f"{where}: q")
        require(bool(w) and bool(q), "boundary", f"{where}: w or q is zero")
        forms = []
        for name in ("l", "m"):
            pair = array(parts[name], "boundary", f"{where}: {name}")
            require(len(pair) == 2, "boundary", f"{where}: {name} has {len(pair)} parts, 2 are needed")
            forms.append([parse_form(form, self.layer.d, f"{where}: {name}") for form in pair])
        (l0, l1), (m0, m1) = forms
        independent = False
        variables = sorted({*l0, *l1, *m0, *m1})
        self.work.spend(1 + len(variables) ** 2)
        for j, k in itertools.combinations(variables, 2):
            minors = (minor(l0, m0, j, k), minor(l0, m1, j, k) + minor(l1, m0, j, k), minor(l1, m1, j, k))
            independent = independent or any(minors)
        require(independent, "boundary", f"{where}: l and m are proportional for all t")
        found: SparseVector = {}
        self.work.spend(1 + len(w) * len(q) * (len(l0) ** 2 + len(m0) ** 2))
        for form in (l0, m0):
            for (i, x), (j, y), (k, z), (g, u) in itertools.product(
                w.items(), form.items(), form.items(), q.items()
            ):
                key = self.layer.key(i, j, k, g)
                found[key] = found.get(key, 0) + x * y * z * u
        found = {key: value for key, value in found.items() if value}
        require(found == self.point(stratum), "boundary", f"{where}: the family does not tend to the point")

    def minor_of(self, entry: dict[str, Any], stratum: StratumKey, where: str) -> None:
        """A 2 x 2 minor of the slices, by output or by the form in y, that is not zero."""
        across_outputs = entry["argument"] == "outputs"
        size = self.layer.e if across_outputs else self.layer.d
        rows = array(entry["rows"], "boundary", f"{where}: rows")
        columns = array(entry["columns"], "boundary", f"{where}: columns")
        require(len(rows) == len(columns) == 2, "boundary", f"{where}: the minor is not 2 x 2")
        i, j = (integer(row, "boundary", f"{where}: row", 0, size - 1) for row in rows)
        point = self.point(stratum)

        def at(slice_: int, column: Any) -> int:
            listed = array(column, "boundary", f"{where}: column")
            require(len(listed) == 3, "boundary", f"{where}: column {{}} has not three indices", column)
            low = self.layer.e if not across_outputs else self.layer.d
            bounds = (self.layer.d,) * 3 if across_outputs else (low, self.layer.d, self.layer.d)
            x, y, z = (
                integer(n, "boundary", f"{where}: index", 0, bound - 1)
                for n, bound in zip(listed, bounds, strict=True)
            )
            place = (slice_, x, y, z) if across_outputs else (x, y, z, slice_)
            require(place[1] <= place[2], "boundary", f"{where}: indices of x are not in order")
            return point.get(self.layer.key(*place), 0)

        value = at(i, columns[0]) * at(j, columns[1]) - at(i, columns[1]) * at(j, columns[0])
        require(value != 0, "boundary", f"{where}: the minor is zero")

    def indefinite(self, entry: dict[str, Any], stratum: StratumKey, where: str) -> None:
        """The quadratic form of one output and one gamma has values of both signs."""
        i = integer(entry["output"], "boundary", f"{where}: output", 0, self.layer.e - 1)
        gamma = integer(entry["gamma"], "boundary", f"{where}: gamma", 0, self.layer.d - 1)
        listed = array(entry["points"], "boundary", f"{where}: points")
        require(len(listed) == 2, "boundary", f"{where}: {len(listed)} points, 2 are needed")
        tensor, values = self.point(stratum), []
        for value in listed:
            x = parse_form(value, self.layer.d, f"{where}: point")
            self.work.spend(1 + len(x) ** 2)
            pairs = itertools.combinations_with_replacement(sorted(x), 2)
            values.append(sum(tensor.get(self.layer.key(i, j, k, gamma), 0) * x[j] * x[k] for j, k in pairs))
        require(values[0] * values[1] < 0, "boundary", f"{where}: values {values[0]} and {values[1]}")

    def complement_dimension(self) -> int | None:
        """That of the points w (l^2 + m^2) q: parameters minus two scalings and a rotation, and a rank."""
        layer = self.layer
        if layer.d == 1:
            return None
        vectors = [{layer.key(i, j, j, 0): 1 for j in (0, 1)} for i in range(layer.e)]
        vectors += [{layer.key(0, form, j, 0): 2} for form in (0, 1) for j in range(layer.d)]
        vectors += [{layer.key(0, j, j, gamma): 1 for j in (0, 1)} for gamma in range(layer.d)]
        rank = ModularRank(self.prime, self.work).rank_of(vectors)
        expected = layer.e + 3 * layer.d - 3
        require(rank == expected, "rank", f"the complement has rank {rank}, {expected} is needed")
        return expected


def minor(first: SparseVector, second: SparseVector, j: int, k: int) -> int:
    return first.get(j, 0) * second.get(k, 0) - first.get(k, 0) * second.get(j, 0)


BOUNDARY_ARGUMENTS: dict[str, tuple[tuple[str, ...], bool, Any]] = {
    "no complement": ((), False, RealBoundary.no_complement),
    "family": (("family",), True, RealBoundary.family),
    "outputs": (("rows", "columns"), False, RealBoundary.minor_of),
    "attention": (("rows", "columns"), False, RealBoundary.minor_of),
    "indefinite": (("output", "gamma", "points"), False, RealBoundary.indefinite),
}


def check_boundary(certificate: dict[str, Any], report: Report) -> str:
    layer = OneLayer.of(parse_network(certificate["network"]))
    keys = ("quantity", "dimension", "boundary", "not_boundary", "complement_dimension")
    claim = fields(certificate["claim"], "claim", "claim", keys)
    compare("claim", "quantity", claim["quantity"], "boundary")
    compare("claim", "dimension", claim["dimension"], encode(layer.dimension))
    check_strength_and_provenance(certificate)
    witness = fields(certificate["witness"], "fields", "witness", ("prime", "strata"))
    real = RealBoundary(layer, parse_prime(witness["prime"]))
    entries = stratum_entries(witness["strata"], layer, "boundary", BOUNDARY_ARGUMENTS)
    reached = [list(stratum) for stratum, says, _ in entries if says]
    compare("claim", "boundary", claim["boundary"], reached)
    compare("claim", "not_boundary", claim["not_boundary"], [list(s) for s, says, _ in entries if not says])
    dimension = real.complement_dimension()
    compare("claim", "complement_dimension", claim["complement_dimension"], dimension)
    for stratum, _, entry in entries:
        BOUNDARY_ARGUMENTS[entry["argument"]][2](real, entry, stratum, f"stratum {list(stratum)}")
    if dimension is None:
        return f"one layer, {layer}: all real points of Y are values of real weights (exact)"
    listed = " ".join(f"({r},{s},{m})" for r, s, m in reached)
    return (
        f"one layer, {layer}: the boundary is the strata {listed}; the real points of Y without real "
        f"weights have dimension {dimension} of {layer.dimension} (exact)"
    )


# ------------------------------------------------------------------------------------------------------------
# §12  Kind `closedness`
# ------------------------------------------------------------------------------------------------------------

CLOSED_SCOPE = "all d, d', a and t >= 2"
PATTERNS = ((0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 1, 2))  # alpha, beta, gamma: which are equal


def check_closedness(certificate: dict[str, Any], report: Report) -> str:
    network = parse_network(certificate["network"])
    claim = certificate["claim"]
    require(isinstance(claim, dict), "claim", "claim is {}, not an object", claim)
    if claim.get("relation") == "base point":
        return check_base_point(certificate, network)
    fields(claim, "claim", "claim", ("quantity", "relation", "scope"))
    compare("claim", "quantity", claim["quantity"], "closedness")
    compare("claim", "relation", claim["relation"], "closed")
    compare("claim", "scope", claim["scope"], CLOSED_SCOPE)
    check_strength_and_provenance(certificate)
    OneLayer.of(network)
    witness = fields(certificate["witness"], "fields", "witness", ("patterns",))
    stated = array(witness["patterns"], "closedness", "patterns")
    require(len(stated) == len(PATTERNS), "closedness", f"{len(stated)} patterns, {len(PATTERNS)} are needed")
    work = Work("identities")
    for entry, pattern in zip(stated, PATTERNS, strict=True):
        fields(entry, "closedness", "pattern", ("indices", "value"))
        compare("closedness", "indices", entry["indices"], list(pattern))
        sides, variables = closing_identity(pattern, work)
        what = f"indices {list(pattern)}"
        require(sides[0] == sides[1], "closedness", f"{what}: the identity fails")
        value = parse_polynomial(entry["value"], variables, "closedness", f"{what}: value")
        require(value == sides[0], "closedness", f"{what}: the value is another polynomial")
    return (
        f"one layer: T = 0 only if V = 0 or A = 0, so that the images are closed, for {CLOSED_SCOPE} (exact)"
    )


def closing_identity(pattern: tuple[int, int, int], work: Work) -> tuple[tuple[Polynomial, Polynomial], int]:
    """Both sides of the identity for one pattern of equal indices, in the symbols that occur (§12)."""
    alpha, beta, gamma = pattern
    names: list[tuple[Any, ...]] = [("V", alpha), ("A", alpha, gamma)]
    if alpha != beta:
        names = [("V", alpha), ("V", beta), ("A", alpha, gamma), ("A", beta, gamma)]

    def symbol(*name: Any) -> Polynomial:
        return {tuple(int(other == name) for other in names): Fraction(1)}

    def coefficient(x: int, y: int) -> Polynomial:
        own = polynomial_product(symbol("V", x), symbol("A", y, gamma), work)
        if x == y:
            return own
        return polynomial_sum(own, polynomial_product(symbol("V", y), symbol("A", x, gamma), work), work)

    product = polynomial_product(symbol("V", alpha), symbol("A", beta, gamma), work)
    if alpha == beta:
        return (product, coefficient(alpha, alpha)), len(names)
    square = polynomial_product(product, product, work)
    right = polynomial_product(product, coefficient(alpha, beta), work)
    both = polynomial_product(coefficient(alpha, alpha), coefficient(beta, beta), work)
    return (square, polynomial_sum(right, both, work, Fraction(-1))), len(names)


def check_base_point(certificate: dict[str, Any], network: Network) -> str:
    """A chain whose function is zero although no virtual weight is."""
    claim = fields(certificate["claim"], "claim", "claim", ("quantity", "relation"))
    compare("claim", "quantity", claim["quantity"], "closedness")
    check_strength_and_provenance(certificate)
    depth = len(network.layers)
    require(network.is_chain(ATTENTION) and depth >= 2, "network", "it is not a chain of attention layers")
    size = network.width * network.tokens
    terms = math.comb(3 ** min(depth, 6) + size - 1, size - 1)
    supported = depth <= 4 and network.parameters() <= 10_000 and terms <= 100_000
    require_supported(supported, f"the expansion of {network}")
    witness = fields(certificate["witness"], "fields", "witness", ("parameters",))
    values = array(witness["parameters"], "closedness", "parameters")
    count = network.parameters()
    require(len(values) == count, "closedness", f"{len(values)} parameters, {count} are needed")
    numbers = iter([fraction(value, "closedness", "parameter") for value in values])
    work = Work("expansions")
    weights = []
    for layer in network.layers:
        shapes = [(rows, columns) for _, rows, columns in layer.matrices()]
        weights.append(
            [[[next(numbers) for _ in range(columns)] for _ in range(rows)] for rows, columns in shapes]
        )
    check_virtual_weights(network, weights, work)
    x: list[list[Polynomial]] = [
        [
            {tuple(int(k == i * network.tokens + j) for k in range(size)): Fraction(1)}
            for j in range(network.tokens)
        ]
        for i in range(network.width)
    ]
    for queries, keys, values_ in weights:
        kx, qx, vx = (mixed(matrix, x, work) for matrix in (keys, queries, values_))
        scores = products([list(column) for column in zip(*kx, strict=True)], qx, work)
        x = products(vx, scores, work)
    zero = not any(entry for row in x for entry in row)
    require(zero, "closedness", "the function is not zero at these parameters")
    return f"{network}: the function is zero at a point where no M_i and not L is zero: a base point (exact)"


def mixed(matrix: list[list[Fraction]], x: list[list[Polynomial]], work: Work) -> list[list[Polynomial]]:
    """A rational matrix times a matrix of polynomials."""
    result = []
    for row in matrix:
        line: list[Polynomial] = [{} for _ in x[0]]
        for factor, entries in zip(row, x, strict=True):
            if factor:
                line = [polynomial_sum(p, q, work, factor) for p, q in zip(line, entries, strict=True)]
        result.append(line)
    return result


def products(a: list[list[Polynomial]], b: list[list[Polynomial]], work: Work) -> list[list[Polynomial]]:
    """The product of two matrices of polynomials."""
    result = []
    for row in a:
        line: list[Polynomial] = []
        for column in zip(*b, strict=True):
            total: Polynomial = {}
            for p, q in zip(row, column, strict=True):
                total = polynomial_sum(total, polynomial_product(p, q, work), work)
            line.append(total)
        result.append(line)
    return result


def check_virtual_weights(network: Network, weights: list[Any], work: Work) -> None:
    """M_i = U^T K^T Q U with U = V_{i-1} ... V_1, and L = V_l ... V_1, are not zero."""
    width = network.width
    u = [[Fraction(int(i == j)) for j in range(width)] for i in range(width)]
    for number, (queries, keys, values) in enumerate(weights, start=1):
        qu, ku = numbers_product(queries, u, work), numbers_product(keys, u, work)
        m = numbers_product([list(column) for column in zip(*ku, strict=True)], qu, work)
        require(any(map(any, m)), "closedness", f"M_{number} is zero")
        u = numbers_product(values, u, work)
    require(any(map(any, u)), "closedness", "L is zero")


def numbers_product(a: list[list[Fraction]], b: list[list[Fraction]], work: Work) -> list[list[Fraction]]:
    spend_product(a, b, work)
    columns = list(zip(*b, strict=True))
    return [[sum(map(mul, row, column), Fraction(0)) for column in columns] for row in a]


# ------------------------------------------------------------------------------------------------------------
# §13  Kind `membership`
# ------------------------------------------------------------------------------------------------------------

INSIDE, CONJUGATE = "in the neuromanifold", "in the closure, not in the neuromanifold"
NOT_IN_CLOSURE = "not in the closure"
TensorKey = tuple[int, int, int, int]
RationalTensor = dict[TensorKey, Fraction]


def parse_tensor(value: Any, layer: OneLayer) -> RationalTensor:
    """[coefficient, [i, alpha, beta, gamma]] with alpha <= beta, indices increasing, no zeros."""
    found: RationalTensor = {}
    last: tuple[int, ...] = ()
    for entry in array(value, "tensor", "tensor"):
        require(
            isinstance(entry, list) and len(entry) == 2, "tensor", "{} is not [coefficient, indices]", entry
        )
        listed = array(entry[1], "tensor", "indices")
        require(len(listed) == 4, "tensor", "indices {} are not four numbers", entry[1])
        bounds = (layer.e, layer.d, layer.d, layer.d)
        i, x, y, g = (
            integer(n, "tensor", "index", 0, bound - 1) for n, bound in zip(listed, bounds, strict=True)
        )
        require(x <= y, "tensor", "indices {}: alpha is above beta", entry[1])
        require((i, x, y, g) > last, "tensor", "indices {} are not above those before", entry[1])
        last = (i, x, y, g)
        found[i, x, y, g] = fraction(entry[0], "tensor", "coefficient")
        require(found[i, x, y, g] != 0, "tensor", "a coefficient is zero")
    return found


@dataclass(frozen=True, slots=True)
class RealNumber:
    """p + r sqrt(D) for one D of the certificate, not a square (or r = 0)."""

    p: Fraction
    r: Fraction
    square: int

    def plus(self, other: RealNumber) -> RealNumber:
        return RealNumber(self.p + other.p, self.r + other.r, self.square)

    def times(self, other: RealNumber) -> RealNumber:
        p = self.p * other.p + self.square * self.r * other.r
        return RealNumber(p, self.p * other.r + self.r * other.p, self.square)

    def is_zero(self) -> bool:
        return not (self.p or self.r)


def parse_weights(
    value: Any, rows: int, columns: int, square: int | None, what: str
) -> list[list[RealNumber]]:
    if square is None:
        matrix = rational_matrix(value, rows, columns, "weights", what)
        return [[RealNumber(x, Fraction(0), 0) for x in row] for row in matrix]
    listed = array(value, "weights", what)
    require(len(listed) == rows, "weights", f"{what} has {len(listed)} rows, {rows} are needed")
    found = []
    for row in listed:
        pairs = rational_matrix(row, columns, 2, "weights", f"a row of {what}")
        found.append([RealNumber(p, r, square) for p, r in pairs])
    return found


def check_inside(witness: dict[str, Any], layer: OneLayer, tensor: RationalTensor, work: Work) -> str:
    """Weights over Q or a real quadratic field whose coefficients are the tensor's."""
    fields(witness, "fields", "witness", ("sqrt", "Q", "K", "V"))
    square = None
    if witness["sqrt"] is not None:
        square = integer(witness["sqrt"], "weights", "sqrt", 2)
        require(math.isqrt(square) ** 2 != square, "weights", "sqrt of {} is rational", witness["sqrt"])
    work.spend((layer.a + layer.e * layer.d) * layer.d**2)
    queries, keys = (parse_weights(witness[n], layer.a, layer.d, square, n) for n in ("Q", "K"))
    values = parse_weights(witness["V"], layer.e, layer.d, square, "V")
    parts = [[[part for x in row for part in (x.p, x.r)] for row in matrix] for matrix in (queries, keys)]
    spend_product([list(column) for column in zip(*parts[1], strict=True)], parts[0], work)
    zero = RealNumber(Fraction(0), Fraction(0), square or 0)
    attention = {}
    for beta, gamma in itertools.product(range(layer.d), repeat=2):
        total = zero
        for k, q in zip(keys, queries, strict=True):
            total = total.plus(k[beta].times(q[gamma]))
        attention[beta, gamma] = total
    attention_bits = max((bit_size(part) for x in attention.values() for part in (x.p, x.r)), default=0)
    found: dict[TensorKey, RealNumber] = {}
    for i, row in enumerate(values):
        for alpha, v in enumerate(row):
            if v.is_zero():
                continue
            longest = max(bit_size(part) for part in (v.p, v.r))
            work.spend(len(attention) * bit_work(2 * longest + 2 * attention_bits) // 8)
            for (beta, gamma), x in attention.items():
                place = (i, min(alpha, beta), max(alpha, beta), gamma)
                found[place] = found.get(place, zero).plus(v.times(x))
    for place in {*found, *tensor}:
        value = found.get(place, zero)
        equal = value.r == 0 and value.p == tensor.get(place, 0)
        require(equal, "weights", "the weights do not give coefficient {}", list(place))
    return "is given by the stated weights" + (f" over Q(sqrt {encode(square)})" if square else " over Q")


def check_conjugate(witness: dict[str, Any], layer: OneLayer, tensor: RationalTensor, work: Work) -> str:
    """w (c l^2 + e m^2) q with c e > 0 and l, m independent."""
    fields(witness, "fields", "witness", ("w", "squares", "q"))
    w = rational_matrix([witness["w"]], 1, layer.e, "weights", "w")[0]
    q = rational_matrix([witness["q"]], 1, layer.d, "weights", "q")[0]
    squares = []
    for entry in array(witness["squares"], "weights", "squares"):
        parts = array(entry, "weights", "square")
        require(len(parts) == 2, "weights", "{} is not [coefficient, linear form]", entry)
        form = rational_matrix([parts[1]], 1, layer.d, "weights", "linear form")[0]
        squares.append((fraction(parts[0], "weights", "coefficient"), form))
    require(len(squares) == 2, "weights", f"{len(squares)} squares, 2 are needed")
    (c, first), (e, second) = squares
    require(c * e > 0, "weights", "the quadratic form is not definite")
    require(rational_rank([first, second], work) == 2, "weights", "the linear forms are proportional")
    require(any(w) and any(q), "weights", "w or q is zero")
    work.spend(layer.e * layer.d**3)
    for i, (x, y), g in itertools.product(
        range(layer.e), itertools.combinations_with_replacement(range(layer.d), 2), range(layer.d)
    ):
        twice = 1 if x == y else 2
        value = w[i] * twice * (c * first[x] * first[y] + e * second[x] * second[y]) * q[g]
        require(value == tensor.get((i, x, y, g), 0), "weights", "coefficient {} differs", [i, x, y, g])
    return "is a real point of Y with a definite quadratic factor, given by no real weights"


def check_outside(witness: dict[str, Any], layer: OneLayer, tensor: RationalTensor, work: Work) -> str:
    """A condition that all points of Y fulfil, and this one does not."""
    argument = witness.get("argument")
    if not (isinstance(argument, str) and argument in OUTSIDE_ARGUMENTS):
        raise InvalidError("weights", f"no argument {show(argument)}")
    keys, method = OUTSIDE_ARGUMENTS[argument]
    fields(witness, "fields", "witness", ("argument", *keys))
    require(bool(tensor), "weights", "the tensor is zero, a point of Y")
    method(witness, layer, tensor, work)
    return "is not in Y"


def check_no_factor(witness: dict[str, Any], layer: OneLayer, tensor: RationalTensor, work: Work) -> None:
    """v_i T_j = v_j T_i (or the same for the columns of A) has only the solution 0."""
    prime = parse_prime(witness["prime"])
    by_outputs = witness["argument"] == "values"
    scale = math.lcm(*(value.denominator for value in tensor.values()))
    require_supported(scale < TOO_LONG, "a common denominator of the tensor")
    size = layer.e if by_outputs else layer.d
    work.spend(len(tensor) * size * layer.d)
    equations: dict[tuple[Any, ...], SparseVector] = {}
    for (i, x, y, g), value in tensor.items():
        own, other = (i, g) if by_outputs else (g, i)
        for row, j in itertools.product(range(size), range(layer.d)):
            if row != own:
                pair = (own, row) if own < row else (row, own)
                equation = equations.setdefault((pair, other, tuple(sorted((x, y, j)))), {})
                name = row * layer.d + j
                term = int(value * scale) * (1 if own < row else -1)
                equation[name] = equation.get(name, 0) + term
    span, unknowns = ModularRank(prime, work), size * layer.d
    any(span.add(equation) and len(span.pivots) == unknowns for equation in equations.values())
    rank = len(span.pivots)
    require(rank == unknowns, "rank", f"rank {rank} modulo {prime}, {unknowns} is needed")


def check_large_rank(witness: dict[str, Any], layer: OneLayer, tensor: RationalTensor, work: Work) -> None:
    """A minor of size a + 1 of the matrix with columns gamma."""
    rows = array(witness["rows"], "weights", "rows")
    columns = array(witness["columns"], "weights", "columns")
    size = layer.a + 1
    require(len(rows) == len(columns) == size, "weights", f"the minor is not of size {size}")
    gammas = [integer(g, "weights", "column", 0, layer.d - 1) for g in columns]
    matrix = []
    for row in rows:
        listed = array(row, "weights", "row")
        require(len(listed) == 3, "weights", "row {} has not three indices", row)
        bounds = (layer.e, layer.d, layer.d)
        i, x, y = (
            integer(n, "weights", "index", 0, bound - 1) for n, bound in zip(listed, bounds, strict=True)
        )
        matrix.append([tensor.get((i, x, y, g), Fraction(0)) for g in gammas])
    require(rational_rank(matrix, work) == size, "weights", "the minor is zero")


def check_form_of_rank_three(
    witness: dict[str, Any], layer: OneLayer, tensor: RationalTensor, work: Work
) -> None:
    """A 3 x 3 minor of the symmetric matrix of one output and one gamma."""
    i = integer(witness["output"], "weights", "output", 0, layer.e - 1)
    g = integer(witness["gamma"], "weights", "gamma", 0, layer.d - 1)
    sets = []
    for name in ("rows", "columns"):
        listed = array(witness[name], "weights", name)
        require(len(listed) == 3, "weights", f"{len(listed)} {name}, 3 are needed")
        sets.append([integer(n, "weights", "index", 0, layer.d - 1) for n in listed])
    matrix = [
        [tensor.get((i, min(x, y), max(x, y), g), Fraction(0)) * (2 if x == y else 1) for y in sets[1]]
        for x in sets[0]
    ]
    require(rational_rank(matrix, work) == 3, "weights", "the minor is zero")


OUTSIDE_ARGUMENTS: dict[str, tuple[tuple[str, ...], Any]] = {
    "values": (("prime",), check_no_factor),
    "attention": (("prime",), check_no_factor),
    "rank": (("rows", "columns"), check_large_rank),
    "form": (("output", "gamma", "rows", "columns"), check_form_of_rank_three),
}
MEMBERSHIP = {INSIDE: check_inside, CONJUGATE: check_conjugate, NOT_IN_CLOSURE: check_outside}


def check_membership(certificate: dict[str, Any], report: Report) -> str:
    layer = OneLayer.of(parse_network(certificate["network"]))
    claim = fields(certificate["claim"], "claim", "claim", ("quantity", "relation", "tensor"))
    compare("claim", "quantity", claim["quantity"], "membership")
    relation = claim["relation"]
    if not (isinstance(relation, str) and relation in MEMBERSHIP):
        raise InvalidError("claim", f"relation is {show(relation)}, not one of {', '.join(MEMBERSHIP)}")
    check_strength_and_provenance(certificate)
    tensor = parse_tensor(claim["tensor"], layer)
    witness = certificate["witness"]
    require(isinstance(witness, dict), "fields", "witness is {}, not an object", witness)
    words = MEMBERSHIP[relation](witness, layer, tensor, Work("weights"))
    return f"one layer, {layer}: the tensor with {len(tensor)} coefficients {words} (exact)"


# ------------------------------------------------------------------------------------------------------------
# §14  Kind `invariants`
# ------------------------------------------------------------------------------------------------------------

LIMIT_MONOMIALS = 400_000  # of one degree, all weights together
LIMIT_EQUATION_STEPS = 3e8  # predicted, in Python
SPARE_POINTS = 8

Indices = tuple[int, ...]  # a monomial: numbers of its factors, increasing, with repetition
Torus = tuple[int, ...]  # a weight


class EquationSpace:
    """The coordinates of one head, the chart, and the monomials of every weight (§14)."""

    def __init__(self, network: Network) -> None:
        one = len(network.layers) == 1 and network.layers[0].type == ATTENTION
        require_supported(one, "equations of a network other than one attention layer")
        layer = network.layers[0]
        d, d_out, a = layer.d_in, layer.d_out, min(layer.rank, layer.d_in)
        self.one_token = network.tokens == 1
        forms = math.comb(d + 2, 3) if self.one_token else d * math.comb(d + 1, 2)
        require_supported(d_out * forms <= 1000, f"{d_out * forms} coordinates")
        self.blocks = (d_out, d) if self.one_token else (d_out, d, d)
        first_b = d_out * d
        first_c = first_b + d * a
        self.variables = first_c + a * (d - a)

        def entry(b: int, c: int) -> list[Indices]:  # of A, as a sum of chart monomials
            if c < a:
                return [(first_b + b * a + c,)]
            return [(first_b + b * a + j, first_c + j * (d - a) + c - a) for j in range(a)]

        self.polynomials: list[dict[Indices, int]] = []
        self.weights: list[Torus] = []
        keys = 3 if self.one_token else 2
        for i in range(d_out):
            for places in itertools.combinations_with_replacement(range(d), keys):
                for c in [None] if self.one_token else range(d):
                    ways = set(itertools.permutations(places)) if c is None else {
                        (p, q, c) for p, q in itertools.permutations(places)
                    }  # fmt: skip
                    terms: Counter[Indices] = Counter()
                    for p, q, r in ways:
                        for monomial in entry(q, r):
                            terms[tuple(sorted((i * d + p, *monomial)))] += 1
                    self.polynomials.append(dict(terms))
                    weight = [0] * sum(self.blocks)
                    for place in (i, *(d_out + p for p in places), *([] if c is None else [d_out + d + c])):
                        weight[place] += 1
                    self.weights.append(tuple(weight))
        self.place = {weight: number for number, weight in enumerate(self.weights)}
        self.monomials: list[dict[Torus, list[Indices]]] = []

    def list_monomials(self, degree: int) -> None:
        """All monomials of the degrees up to one, by weight, in increasing order of their index tuples."""
        count = math.comb(len(self.weights) + degree - 1, degree)
        require_supported(count <= LIMIT_MONOMIALS, f"{count} monomials of degree {degree}")
        for k in range(degree + 1):
            found: dict[Torus, list[Indices]] = {}
            for monomial in itertools.combinations_with_replacement(range(len(self.weights)), k):
                columns = zip(*(self.weights[c] for c in monomial), strict=True)
                weight = tuple(map(sum, columns)) if monomial else (0,) * sum(self.blocks)
                found.setdefault(weight, []).append(monomial)
            self.monomials.append(found)

    def parts(self, weight: Torus) -> list[Torus]:
        starts = itertools.accumulate(self.blocks, initial=0)
        return [weight[start : start + size] for start, size in zip(starts, self.blocks, strict=False)]

    def is_dominant(self, weight: Torus) -> bool:
        return all(tuple(sorted(part, reverse=True)) == part for part in self.parts(weight))

    def orbit(self, weight: Torus) -> list[Torus]:
        """All permutations within the blocks, in decreasing order; their number is bounded beforehand."""
        size = math.prod(math.factorial(len(part)) for part in self.parts(weight))
        require_supported(size <= 50_000, f"{size} permutations of a weight")
        choices = [sorted(set(itertools.permutations(part)), reverse=True) for part in self.parts(weight)]
        return [tuple(itertools.chain(*choice)) for choice in itertools.product(*choices)]

    def orbit_size(self, weight: Torus) -> int:
        size = 1
        for part in self.parts(weight):
            size *= math.factorial(len(part))
            for times in Counter(part).values():
                size //= math.factorial(times)
        return size

    def moved(self, weight: Torus) -> list[int]:
        """Where coordinates go under the permutation that makes this weight of its dominant one (§14)."""
        order: list[int] = []
        for part in self.parts(weight):
            order += [len(order) + j for j in sorted(range(len(part)), key=lambda j: -part[j])]
        result = []
        for source in self.weights:
            target = [0] * len(source)
            for j, value in zip(order, source, strict=True):
                target[j] = value
            result.append(self.place[tuple(target)])
        return result

    def coordinate_values(self, point: Sequence[int], prime: int) -> list[int]:
        values = []
        for polynomial in self.polynomials:
            total = 0
            for monomial, coefficient in polynomial.items():
                total += coefficient * math.prod(point[v] for v in monomial)
            values.append(total % prime)
        return values


@dataclass(frozen=True, slots=True)
class Equations:
    """One entry of the witness: polynomials of one dominant weight, by index tuples, made integral."""

    degree: int
    weight: Torus
    polynomials: list[dict[Indices, int]]
    products: IndexSet | None
    functionals: list[dict[Indices, Fraction]]


def as_indices(exponents: Exponents) -> Indices:
    return tuple(number for number, k in enumerate(exponents) for _ in range(k))


Equation = dict[Indices, Fraction]


def parse_equation(value: Any, space: EquationSpace, degree: int, weight: Torus, what: str) -> Equation:
    """A non-zero polynomial all of whose monomials have this degree and weight."""
    result = {}
    polynomial = parse_polynomial(value, len(space.weights), "equations", what)
    require(bool(polynomial), "equations", f"{what} is 0")
    for exponents, coefficient in polynomial.items():
        require(sum(exponents) == degree, "equations", f"{what} is not homogeneous of degree {degree}")
        monomial = as_indices(exponents)
        total = tuple(map(sum, zip(*(space.weights[c] for c in monomial), strict=True)))
        require(total == weight, "equations", f"{what} has a monomial of another weight")
        result[monomial] = coefficient
    return result


def integral(polynomial: dict[Indices, Fraction]) -> dict[Indices, int]:
    scale = math.lcm(*(value.denominator for value in polynomial.values()))
    return {monomial: int(value * scale) for monomial, value in polynomial.items()}


def parse_equations(value: Any, space: EquationSpace, degree: int, relation: str) -> Equations:
    """One weight's entry; ``products`` and ``functionals`` as the relation asks for."""
    keys = ["weight", "polynomials"]
    keys += ["products"] * (relation != "vanish") + ["functionals"] * (relation == "generate minimally")
    fields(value, "equations", "entry", keys)
    listed = array(value["weight"], "equations", "weight")
    require(len(listed) == sum(space.blocks), "equations", f"a weight has {len(listed)} entries")
    weight = tuple(integer(entry, "equations", "entry of a weight", 0, 4096) for entry in listed)
    require(space.is_dominant(weight), "equations", "weight {} is not decreasing in each block", listed)
    polynomials = [
        integral(parse_equation(entry, space, degree, weight, "a polynomial"))
        for entry in array(value["polynomials"], "equations", "polynomials")
    ]
    products = None
    if value.get("products"):
        products = IndexSet.parse(value["products"], "equations", LIMIT_MONOMIALS)
    elif "products" in value:
        array(value["products"], "equations", "products")
    functionals = [
        parse_equation(entry, space, degree, weight, "a functional")
        for entry in array(value.get("functionals", []), "equations", "functionals")
    ]
    return Equations(degree, weight, polynomials, products, functionals)


def check_vanishing(space: EquationSpace, found: list[Equations], report: Report) -> None:
    """Every polynomial, with the chart substituted and expanded, is 0."""
    lengths = [len(polynomial) for polynomial in space.polynomials]
    steps = sum(
        math.prod(lengths[c] for c in monomial)
        for entry in found for polynomial in entry.polynomials for monomial in polynomial
    )  # fmt: skip
    require_supported(steps <= LIMIT_EQUATION_STEPS / 10, f"expansions into {steps} terms")
    bits = 3 * max((entry.degree for entry in found), default=1)  # degrees in one variable are below 2^bits
    packed = [
        {sum(1 << bits * v for v in m): c for m, c in polynomial.items()} for polynomial in space.polynomials
    ]
    for number, entry in enumerate(found):
        report(f"substituting into polynomials, weight {number + 1} of {len(found)}")
        known: dict[Indices, dict[int, int]] = {(): {0: 1}}
        stored = 0

        def expansion(monomial: Indices, known: dict[Indices, dict[int, int]] = known) -> dict[int, int]:
            nonlocal stored
            if monomial not in known:
                before = expansion(monomial[:-1])
                total: dict[int, int] = {}
                for e, c in packed[monomial[-1]].items():
                    for f, b in before.items():
                        total[e + f] = total.get(e + f, 0) + b * c
                    held = (stored + len(total)) * (150 + bits * space.variables // 8)
                    require_supported(held <= LIMIT_HELD, "expansions into too many terms")
                stored += len(total)
                known[monomial] = total
            return known[monomial]

        for polynomial in entry.polynomials:
            value: Counter[int] = Counter()
            for monomial, coefficient in polynomial.items():
                for e, c in expansion(monomial).items():
                    value[e] += coefficient * c
            require(not any(value.values()), "equations", "a polynomial of weight {} does not vanish",
                    list(entry.weight))  # fmt: skip


def rank_of_residues(rows: list[list[int]], prime: int) -> int:
    """Rank of a matrix of residues; numpy, if it is there and the matrix is large, by the same steps.

    Entries stay in [0, p), p < 2^31: products are below 2^62.
    """
    if not rows:
        return 0
    np = optional("numpy") if len(rows) * len(rows[0]) > 2_000 else None
    if np is not None:
        matrix = np.array(rows, dtype=np.int64)
        rank = 0
        for column in range(matrix.shape[1]):
            nonzero = np.flatnonzero(matrix[rank:, column])
            if not nonzero.size:
                continue
            pivot = rank + int(nonzero[0])
            matrix[[rank, pivot]] = matrix[[pivot, rank]]
            top = matrix[rank, column:] * pow(int(matrix[rank, column]), -1, prime) % prime
            below = rank + 1 + np.flatnonzero(matrix[rank + 1 :, column])
            matrix[below, column:] = (matrix[below, column:] - matrix[below, column, None] * top) % prime
            rank += 1
            if rank == len(matrix):
                break
        return rank
    rank = 0
    while rows and rows[0]:
        top_row = next((row for row in rows if row[0]), None)
        if top_row is None:
            rows = [row[1:] for row in rows]
            continue
        inverse = pow(top_row[0], -1, prime)
        rest = top_row[1:]
        reduced = []
        for row in rows:
            if row is not top_row:
                factor = row[0] * inverse % prime
                reduced.append([(x - factor * y) % prime for x, y in zip(row[1:], rest, strict=True)])
        rows, rank = reduced, rank + 1
    return rank


class Completeness:
    """That the equations found up to a degree generate all of them, and minimally (§14)."""

    def __init__(self, space: EquationSpace, sampling: Sampling, found: list[Equations]) -> None:
        self.space, self.sampling, self.found = space, sampling, found
        self.values: list[list[int]] = []

    def multipliers(self, degree: int, weight: Torus) -> Iterable[tuple[Equations, Torus, list[Indices]]]:
        """Generators of lower degree, their permuted weights, and the monomials that complete the weight."""
        for entry in self.found:
            if entry.degree >= degree or not entry.polynomials:
                continue
            for moved in self.space.orbit(entry.weight):
                rest = tuple(a - b for a, b in zip(weight, moved, strict=True))
                if min(rest) >= 0:
                    monomials = self.space.monomials[degree - entry.degree].get(rest, [])
                    if monomials:
                        yield entry, moved, monomials

    def predicted_steps(self) -> int:
        """Terms of products, and multiplications of the eliminations."""
        steps = 0
        for entry in self.found:
            n = len(self.space.monomials[entry.degree][entry.weight])
            steps += n * n * n // 2
            for other, _, monomials in self.multipliers(entry.degree, entry.weight):
                steps += len(monomials) * sum(map(len, other.polynomials)) * (3 + len(entry.functionals))
        return steps

    def products(self, degree: int, weight: Torus) -> Iterable[dict[Indices, int]]:
        """In the order in which §14 numbers them."""
        for entry, moved, monomials in self.multipliers(degree, weight):
            image = self.space.moved(moved)
            for polynomial in entry.polynomials:
                own = [(tuple(image[c] for c in m), value) for m, value in polynomial.items()]
                for factor in monomials:
                    yield {tuple(sorted((*factor, *m))): value for m, value in own}

    def point_values(self, count: int) -> list[list[int]]:
        for j in range(len(self.values), count):
            point = self.sampling.stream(f"invariants/{j}", self.space.variables)
            self.values.append(self.space.coordinate_values(point, self.sampling.prime))
        return self.values[:count]

    def check(self, entry: Equations) -> None:
        """One weight: products and new polynomials are independent and span all that vanishes."""
        prime = self.sampling.prime
        monomials = self.space.monomials[entry.degree][entry.weight]
        column = {monomial: number for number, monomial in enumerate(monomials)}

        def residues(polynomial: dict[Indices, int]) -> list[int]:
            row = [0] * len(monomials)
            for monomial, value in polynomial.items():
                row[column[monomial]] = value % prime
            return row

        chosen = set() if entry.products is None else set(entry.products.indices())
        rows = [residues(polynomial) for polynomial in entry.polynomials]
        count = 0
        for number, product in enumerate(self.products(entry.degree, entry.weight)):
            count = number + 1
            if number in chosen:
                rows.append(residues(product))
            for functional in entry.functionals:
                value = sum(functional[m] * c for m, c in product.items() if m in functional)
                require(not value, "equations", f"a functional is not 0 on product {number} of weight {{}}",
                        list(entry.weight))  # fmt: skip
        require(max(chosen, default=-1) < count, "equations", f"a product of {count} has a larger number")
        spanned = len(rows)
        what = f"weight {list(entry.weight)}"
        require(rank_of_residues(rows, prime) == spanned, "equations", f"products of {what} are dependent")
        others = len(monomials) - spanned
        points = self.point_values(others + SPARE_POINTS)
        matrix = []
        for values in points:
            row = []
            for monomial in monomials:
                term = 1
                for c in monomial:
                    term = term * values[c] % prime
                row.append(term)
            matrix.append(row)
        rank = rank_of_residues(matrix, prime)
        require(rank == others, "equations", f"{what}: values have rank {rank}, {others} is needed")

    def check_minimal(self, entry: Equations) -> None:
        """The functionals, as many as new polynomials, have an invertible matrix of values on these."""
        count = len(entry.polynomials)
        require(len(entry.functionals) == count, "equations",
                f"{len(entry.functionals)} functionals for {count} polynomials")  # fmt: skip
        matrix = [
            [sum((f[m] * c for m, c in g.items() if m in f), Fraction(0)) for f in entry.functionals]
            for g in entry.polynomials
        ]
        rank = rational_rank(matrix, Work("a matrix of functionals")) if count else 0
        require(rank == count, "equations", "functionals do not separate the polynomials")


def check_complete(
    space: EquationSpace,
    sampling: Sampling,
    found: list[Equations],
    degree: int,
    minimal: bool,
    report: Report,
) -> None:
    """That there are no other equations up to this degree, and, if so claimed, that none is superfluous."""
    space.list_monomials(degree)
    for k in range(1, degree + 1):
        needed = sorted((w for w in space.monomials[k] if space.is_dominant(w)), reverse=True)
        own_weights = [entry.weight for entry in found if entry.degree == k]
        require(own_weights == needed, "equations", f"degree {k}: not all dominant weights are there")
    moves = sum(space.orbit_size(entry.weight) for entry in found if entry.polynomials) * len(found)
    require_supported(moves <= 2_000_000, f"equations of {moves} pairs of weights")
    proof = Completeness(space, sampling, found)
    steps = proof.predicted_steps()
    require_supported(steps <= LIMIT_EQUATION_STEPS, f"equations: some {steps} steps predicted")
    for number, entry in enumerate(found):
        report(f"weight {number + 1} of {len(found)}")
        proof.check(entry)
        if minimal:
            proof.check_minimal(entry)


def check_invariants(certificate: dict[str, Any], report: Report) -> str:
    network = parse_network(certificate["network"])
    claim = fields(certificate["claim"], "claim", "claim", ("quantity", "relation", "degree", "generators"))
    compare("claim", "quantity", claim["quantity"], "equations")
    relation = claim["relation"]
    known = ("vanish", "generate", "generate minimally")
    require(isinstance(relation, str) and relation in known, "claim", "relation is {}", relation)
    degree = integer(claim["degree"], "claim", "degree", 1, 64)
    counts = array(claim["generators"], "claim", "generators")
    require(len(counts) == degree, "claim", f"{len(counts)} numbers of generators for {degree} degrees")
    check_strength_and_provenance(certificate)
    space = EquationSpace(network)
    complete = relation != "vanish"
    keys = ("prime", "sampling", "degrees") if complete else ("degrees",)
    witness = fields(certificate["witness"], "fields", "witness", keys)
    listed = array(witness["degrees"], "equations", "degrees")
    require(len(listed) == degree, "equations", f"entries for {len(listed)} degrees, not {degree}")
    found: list[Equations] = []
    totals = []
    for k, entries in enumerate(listed, start=1):
        own = [parse_equations(entry, space, k, relation) for entry in array(entries, "equations", "degree")]
        weights = [entry.weight for entry in own]
        ordered = all(v > w for v, w in itertools.pairwise(weights))
        require(ordered, "equations", f"weights of degree {k} are not decreasing")
        totals.append(sum(space.orbit_size(entry.weight) * len(entry.polynomials) for entry in own))
        found += own
    compare("claim", "generators", counts, [encode(total) for total in totals])
    check_vanishing(space, found, report)
    if complete:
        prime = integer(witness["prime"], "prime", "prime", 3, 2**31 - 1)
        require(is_prime(prime), "prime", "{} is not a prime", prime)
        sampling = parse_sampling(witness["sampling"], network, prime)
        require_supported(sampling.seed is not None, "explicit points for equations")
        check_complete(space, sampling, found, degree, relation == "generate minimally", report)
    listing = ", ".join(f"{total} of degree {k}" for k, total in enumerate(totals, start=1) if total)
    words = {
        "vanish": "these equations vanish on the closure of the neuromanifold",
        "generate": f"these equations generate all up to degree {degree} of the closure of the neuromanifold",
        "generate minimally": f"the minimal generators up to degree {degree} of the closure's ideal",
    }[relation]
    return f"{network}: {words}: {listing or 'none'} (exact)"


# ------------------------------------------------------------------------------------------------------------
# §15  Kind `groebner-basis`
# ------------------------------------------------------------------------------------------------------------

ORDER_NAMES = ("degrevlex", "deglex", "lex")
MAX_VARIABLES = 1000  # of an ideal
MAX_COMPONENTS = 300
OrderKey = Callable[[Exponents], tuple[int, ...]]


def monomial_order(value: Any, variables: int) -> tuple[OrderKey, tuple[int, ...], str]:
    """The comparison key of an order, the variables it eliminates, and its name."""
    fields(value, "order", "order", ("name", "eliminated"))
    name = value["name"]
    require(isinstance(name, str) and name in ORDER_NAMES, "order", "name {} is unknown", name)
    first = [
        integer(k, "order", "eliminated variable", 0, variables - 1)
        for k in array(value["eliminated"], "order", "eliminated")
    ]
    increasing = all(a < b for a, b in itertools.pairwise(first))
    require(increasing, "order", "eliminated variables do not increase")

    def key(exponents: Exponents) -> tuple[int, ...]:
        weight = (sum(exponents[k] for k in first),)
        if name == "lex":
            return weight + exponents
        if name == "deglex":
            return (*weight, sum(exponents), *exponents)
        return (*weight, sum(exponents), *(-k for k in reversed(exponents)))

    return key, tuple(first), name


def divides(a: Exponents, b: Exponents) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True))


class GroebnerSet:
    """Monic polynomials of an order, with division and Buchberger's criterion; work is counted."""

    def __init__(self, elements: list[Polynomial], key: OrderKey, work: Work, check: str) -> None:
        self.elements, self.key, self.work, self.check = elements, key, work, check
        for number, element in enumerate(elements):
            require(bool(element), check, f"element {number} is zero")
        self.heads = [max(element, key=key) for element in elements]
        self.sizes = [max(map(bit_size, element.values())) for element in elements]
        self.width = 1 + (len(self.heads[0]) if self.heads else 0) // 32  # cost of handling exponents

    def require_reduced(self) -> None:
        """Monic, by increasing leading monomial, no term divisible by another's leading monomial."""
        for number, (element, head) in enumerate(zip(self.elements, self.heads, strict=True)):
            require(element[head] == 1, self.check, f"element {number} is not monic")
            before = number == 0 or self.key(self.heads[number - 1]) < self.key(head)
            require(before, self.check, f"element {number} is not in increasing order")
            self.work.spend(len(element) * len(self.heads))
            for term in element:
                for other, divisor in enumerate(self.heads):
                    fine = other == number or not divides(divisor, term)
                    require(fine, self.check, f"element {number} is not reduced by element {other}")

    def remainder(self, p: Polynomial) -> Polynomial:
        """The remainder of p on division by the elements: no term is divisible by a leading monomial."""
        self.work.spend(len(p) * self.width)
        rest, result = dict(p), {}
        queue = [(tuple(-k for k in self.key(e)), e) for e in rest]
        heapq.heapify(queue)
        while queue:
            _, top = heapq.heappop(queue)
            value = rest.pop(top, None)
            if value is None:
                continue
            self.work.spend(1 + len(self.heads) * self.width // 8)
            found = next((k for k, head in enumerate(self.heads) if divides(head, top)), None)
            if found is None:
                result[top] = value
                continue
            head, element = self.heads[found], self.elements[found]
            bits = bit_size(value) + self.sizes[found]
            self.work.spend(len(element) * (self.width + bit_work(bits)))
            require_supported(len(rest) * self.width <= LIMIT_HELD // 400, "a remainder of too many terms")
            shift = tuple(map(sub, top, head))
            for exponents, coefficient in element.items():
                if exponents == head:
                    continue
                place = tuple(map(add, exponents, shift))
                old = rest.get(place)
                if old is not None:
                    spend_bits(bits + bit_size(old), self.work)
                new = (old or 0) - value * coefficient
                if old is None:
                    heapq.heappush(queue, (tuple(-k for k in self.key(place)), place))
                if new:
                    rest[place] = Fraction(new)
                elif old is not None:
                    del rest[place]
        return result

    def require_groebner(self, report: Report) -> None:
        """All S-polynomials reduce to zero, but for pairs that the product and the chain criterion settle."""
        count = len(self.heads)
        require_supported(count * count <= LIMIT_WORK // 20, "a basis of {} elements", count)
        held = count * count // 2 * (100 + 8 * len(self.heads[0]) if self.heads else 0)
        require_supported(held <= LIMIT_HELD, "a basis of {} elements in so many variables", count)
        lcms = {(i, j): tuple(map(max, self.heads[i], self.heads[j])) for j in range(count) for i in range(j)}
        coprime = {pair: not any(map(mul, self.heads[pair[0]], self.heads[pair[1]])) for pair in lcms}

        def place(i: int, j: int) -> tuple[Any, ...]:
            pair = (min(i, j), max(i, j))
            return (self.key(lcms[pair]), pair)

        for (i, j), both in lcms.items():
            if coprime[i, j]:
                continue
            self.work.spend(count * self.width)
            here = place(i, j)
            chained = any(
                k not in (i, j)
                and divides(self.heads[k], both)
                and (coprime[min(i, k), max(i, k)] or place(i, k) < here)
                and (coprime[min(j, k), max(j, k)] or place(j, k) < here)
                for k in range(count)
            )
            if chained:
                continue
            left = {tuple(map(sub, both, self.heads[i])): Fraction(1)}
            right = {tuple(map(sub, both, self.heads[j])): Fraction(1)}
            s = polynomial_sum(
                polynomial_product(left, self.elements[i], self.work),
                polynomial_product(right, self.elements[j], self.work),
                self.work,
                Fraction(-1),
            )
            zero = not self.remainder(s)
            require(zero, self.check, f"the S-polynomial of elements {i} and {j} does not reduce to zero")
            report(f"S-polynomial of elements {i} and {j}")

    def is_absolutely_prime(self) -> bool:
        """By the one rule of §15: linear leading terms, and at most one more element, a y + b."""
        rest = [e for e, head in zip(self.elements, self.heads, strict=True) if sum(head) != 1]
        if any(not any(head) for head in self.heads):
            return False
        if not rest:
            return True
        if len(rest) > 1:
            return False
        (f,) = rest
        for y in range(len(next(iter(f)))):
            if max(e[y] for e in f) != 1:
                continue
            a = [e for e in f if e[y]]
            b = [e for e in f if not e[y]]
            if (len(a) == 1 and sum(a[0]) == 1) or (len(b) == 1 and not any(b[0])):
                return True
        return False


def hilbert_numerator(heads: list[Exponents], work: Work) -> dict[int, int]:
    """The numerator of the Hilbert series modulo monomials: N(I + m) = N(I) - t^deg(m) N(I : m)."""
    work.spend(1 + 4 * len(heads) ** 2 * (1 + (len(heads[0]) if heads else 0) // 32))
    least: list[Exponents] = []
    for head in sorted(set(heads), key=sum):
        if not any(divides(other, head) for other in least):
            least.append(head)
    total = {0: 1}
    for number, head in enumerate(least):
        if number and any(map(mul, head, map(sum, zip(*least[:number], strict=True)))):
            quotient = [tuple(max(0, x - y) for x, y in zip(m, head, strict=True)) for m in least[:number]]
            part = hilbert_numerator(quotient, work)
        else:
            part = dict(total)
        for degree, value in part.items():
            total[degree + sum(head)] = total.get(degree + sum(head), 0) - value
    return {degree: value for degree, value in total.items() if value}


def dimension_and_degree(heads: list[Exponents], variables: int) -> tuple[int, int]:
    """Dimension and degree of the quotient by a monomial ideal; (-1, 0) for the whole ring."""
    if any(not any(head) for head in heads):
        return -1, 0
    work = Work("a Hilbert series")
    numerator = hilbert_numerator(heads, work)
    require_supported(max(numerator) <= LIMIT_BITS, "a Hilbert series of degree {}", max(numerator))
    coefficients = [numerator.get(k, 0) for k in range(max(numerator) + 1)]
    order = 0
    while sum(coefficients) == 0:
        work.spend(len(coefficients) * (1 + order // 16))
        coefficients = list(itertools.accumulate(coefficients))[:-1]
        order += 1
    return variables - order, sum(coefficients)


class IdealCertificate:
    """The parts of a certificate of kind `groebner-basis`, checked one after the other."""

    def __init__(self, certificate: dict[str, Any], report: Report) -> None:
        self.report = report
        self.work = Work("arithmetic of polynomials")
        ideal = fields(certificate["ideal"], "ideal", "ideal", ("variables", "generators"))
        names = array(ideal["variables"], "ideal", "variables", at_least=1)
        require_supported(len(names) <= MAX_VARIABLES, "{} variables", len(names))
        for name in names:
            matching(name, VARIABLE, "ideal", "name of a variable")
        require(len(set(names)) == len(names), "ideal", "two variables have the same name")
        self.names, self.variables = names, len(names)
        self.generators = [
            parse_polynomial(f, self.variables, "ideal", f"generator {k}")
            for k, f in enumerate(array(ideal["generators"], "ideal", "generators"))
        ]
        self.claim = fields(certificate["claim"], "claim", "claim", IDEAL_CLAIM)
        compare("claim", "quantity", self.claim["quantity"], "groebner basis")
        self.witness = fields(
            certificate["witness"], "fields", "witness", ("steps", "elements", "power", "real")
        )
        self.key, self.eliminated, self.order = monomial_order(self.claim["order"], self.variables)
        self.basis = self.groebner_set(self.claim["basis"], "basis")

    def groebner_set(self, value: Any, check: str) -> GroebnerSet:
        elements = self.polynomials(value, check, "element")
        return GroebnerSet(elements, self.key, self.work, check)

    def polynomials(self, value: Any, check: str, what: str) -> list[Polynomial]:
        return [
            parse_polynomial(f, self.variables, check, f"{what} {k}")
            for k, f in enumerate(array(value, check, check))
        ]

    def check_derivation(self) -> None:
        """The basis lies in the ideal: the steps make its elements from the generators."""
        sources, held = list(self.generators), 0
        steps = array(self.witness["steps"], "derivation", "steps")
        for number, step in enumerate(steps):
            total: Polynomial = {}
            for pair in array(step, "derivation", f"step {number}"):
                require(isinstance(pair, list) and len(pair) == 2, "derivation", "{} is no pair", pair)
                source = integer(pair[0], "derivation", "source", 0, len(sources) - 1)
                multiplier = parse_polynomial(pair[1], self.variables, "derivation", "multiplier")
                term = polynomial_product(multiplier, sources[source], self.work)
                total = polynomial_sum(total, term, self.work)
            self.work.spend(len(total))
            held += sum(200 + 8 * self.variables + bit_size(c) // 8 for c in total.values())
            require_supported(held <= LIMIT_HELD, "steps with too many terms")
            sources.append(total)
            self.report(f"step {number + 1} of {len(steps)}")
        elements = array(self.witness["elements"], "derivation", "elements")
        count = len(self.basis.elements)
        require(len(elements) == count, "derivation", f"{len(elements)} sources for {count} elements")
        for number, value in enumerate(elements):
            source = integer(value, "derivation", "source of an element", 0, len(sources) - 1)
            same = sources[source] == self.basis.elements[number]
            require(same, "derivation", f"source {source} is not element {number} of the basis")

    def check_basis(self) -> None:
        """It is the reduced Groebner basis of an ideal that contains the generators."""
        self.basis.require_reduced()
        for number, generator in enumerate(self.generators):
            zero = not self.basis.remainder(generator)
            require(zero, "basis", f"generator {number} does not reduce to zero")
        self.basis.require_groebner(self.report)

    def check_numbers(self) -> tuple[int, int | None]:
        """Dimension and degree follow from the leading monomials; so does the elimination ideal."""
        dimension, degree = dimension_and_degree(self.basis.heads, self.variables)
        compare("dimension", "dimension", self.claim["dimension"], dimension)
        graded = self.order != "lex" and not self.eliminated
        known = degree if graded or dimension <= 0 else None
        compare("degree", "degree", self.claim["degree"], known)
        if not self.eliminated:
            compare("elimination", "elimination", self.claim["elimination"], None)
            return dimension, known
        without = [
            value
            for value, element in zip(self.claim["basis"], self.basis.elements, strict=True)
            if not any(e[k] for e in element for k in self.eliminated)
        ]
        compare("elimination", "elimination", self.claim["elimination"], without)
        return dimension, known

    def check_members(self) -> None:
        for number, f in enumerate(self.polynomials(self.claim["members"], "members", "member")):
            zero = not self.basis.remainder(f)
            require(zero, "members", f"member {number} does not reduce to zero")
        for number, f in enumerate(self.polynomials(self.claim["non_members"], "members", "non-member")):
            zero = not self.basis.remainder(f)
            require(not zero, "members", f"non-member {number} reduces to zero")

    def check_prime(self) -> None:
        if self.claim["prime"] is None:
            return
        require(self.claim["prime"] is True, "prime", "prime is {}, not true or null", self.claim["prime"])
        fine = self.basis.is_absolutely_prime()
        require(fine, "prime", "the basis does not show that the ideal is prime")

    def check_components(self, dimension: int, degree: int | None) -> None:
        """The minimal primes: each shown prime, containing I; products of their elements nilpotent."""
        if self.claim["components"] is None:
            compare("components", "power", self.witness["power"], None)
            return
        plain = self.order == "degrevlex" and not self.eliminated
        require(plain, "components", "components need a basis for degrevlex")
        listed = array(self.claim["components"], "components", "components")
        require_supported(len(listed) <= MAX_COMPONENTS, "{} components", len(listed))
        power = integer(self.witness["power"], "components", "power", 1, 64)
        primes = []
        for number, entry in enumerate(listed):
            what = f"component {number}"
            fields(entry, "components", what, ("basis", "dimension", "degree", "multiplicity"))
            prime = self.groebner_set(entry["basis"], "components")
            prime.require_reduced()
            prime.require_groebner(self.report)
            require(prime.is_absolutely_prime(), "components", f"{what} is not shown to be prime")
            found = dimension_and_degree(prime.heads, self.variables)
            compare("components", f"{what}: dimension", entry["dimension"], found[0])
            compare("components", f"{what}: degree", entry["degree"], found[1])
            inside = not any(prime.remainder(f) for f in self.basis.elements)
            require(inside, "components", f"{what} does not contain the ideal")
            primes.append(prime)
        for (i, first), (j, second) in itertools.permutations(enumerate(primes), 2):
            larger = not any(first.remainder(f) for f in second.elements)
            require(not larger, "components", f"component {i} contains component {j}")
        self.require_cover(primes, {(0,) * self.variables: Fraction(1)}, power)
        self.check_multiplicities(listed, dimension, degree)

    def require_cover(self, primes: list[GroebnerSet], product: Polynomial, power: int) -> None:
        """The power of every product of one element from each prime lies in the ideal."""
        if not product:
            return
        if primes:
            for element in primes[0].elements:
                self.work.spend(100)
                self.require_cover(
                    primes[1:], self.basis.remainder(polynomial_product(product, element, self.work)), power
                )
            return
        value = product
        for _ in range(power - 1):
            value = self.basis.remainder(polynomial_product(value, product, self.work))
        fine = not self.basis.remainder(value)
        require(fine, "components", "a product of elements has no such power in the ideal")

    def check_multiplicities(self, listed: list[Any], dimension: int, degree: int | None) -> None:
        """Sum over components of top dimension of multiplicity times degree is the ideal's degree."""
        top = [entry for entry in listed if entry["dimension"] == dimension]
        expected: int | None = None
        if degree is not None and len(top) == 1:
            expected = degree // top[0]["degree"]
        elif degree is not None and sum(entry["degree"] for entry in top) == degree:
            expected = 1
        for number, entry in enumerate(listed):
            known = expected if entry["dimension"] == dimension else None
            compare("components", f"component {number}: multiplicity", entry["multiplicity"], known)

    def check_real_points(self) -> None:
        """A rational point, or none: a definite form lies in I, and its variables cannot all vanish."""
        stated, real = self.claim["real_points"], self.witness["real"]
        if stated != "none":
            compare("real points", "real", real, None)
            if stated is None:
                return
            values = array(stated, "real points", "real_points")
            count = len(values)
            require(count == self.variables, "real points", f"{count} coordinates for {self.variables}")
            point = [fraction(v, "real points", "coordinate") for v in values]
            for number, f in enumerate(self.generators):
                zero = polynomial_value(f, point, self.work) == 0
                require(zero, "real points", f"generator {number} does not vanish there")
            return
        fields(real, "real points", "real", ("form", "constant"))
        form = parse_polynomial(real["form"], self.variables, "real points", "form")
        constant = parse_polynomial(real["constant"], self.variables, "real points", "constant")
        for f in (form, constant):
            zero = not self.basis.remainder(f)
            require(zero, "real points", "form or constant does not lie in the ideal")
        used = sorted({k for e in form for k, power in enumerate(e) if power})
        require(bool(used), "real points", "the form has no variables")
        require_supported(len(used) <= 30, "a form in {} variables", len(used))
        require(all(sum(e) == 2 for e in form), "real points", "the form is not quadratic")
        require(is_definite(form, used, self.work), "real points", "the form is not positive definite")
        left = {e: c for e, c in constant.items() if not any(e[k] for k in used)}
        nonzero = len(left) == 1 and not any(next(iter(left)))
        require(nonzero, "real points", "where the form's variables vanish, the constant is no constant")


def is_definite(form: Polynomial, used: list[int], work: Work) -> bool:
    """Whether a quadratic form is positive definite: all leading minors of its matrix are (Sylvester).

    Rows are made integral, which leaves the minors' signs; the pivots of an elimination without fractions and
    without exchanges are these minors.
    """
    rows: list[list[Fraction]] = [[Fraction(0)] * len(used) for _ in used]
    for exponents, value in form.items():
        places = [i for i, k in enumerate(used) for _ in range(exponents[k])]
        rows[places[0]][places[1]] += value
        rows[places[1]][places[0]] += value
    matrix = []
    for row in rows:
        scale = common_denominator(row, work)
        work.spend(1 + len(row) * bit_work(scale.bit_length()) // 8)
        matrix.append([int(x * scale) for x in row])
    spend_elimination(matrix, work)
    previous = 1
    for k, top in enumerate(matrix):
        head = top[k]
        if head <= 0:
            return False
        for i in range(k + 1, len(matrix)):
            factor = matrix[i][k]
            matrix[i] = [(head * x - factor * y) // previous for x, y in zip(matrix[i], top, strict=True)]
        previous = head
    return True


VARIABLE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,31}")
IDEAL_CLAIM = (
    "quantity",
    "order",
    "basis",
    "dimension",
    "degree",
    "elimination",
    "members",
    "non_members",
    "prime",
    "components",
    "real_points",
)


def check_groebner_basis(certificate: dict[str, Any], report: Report) -> str:
    ideal = IdealCertificate(certificate, report)
    check_strength_and_provenance(certificate)
    ideal.check_derivation()
    ideal.check_basis()
    dimension, degree = ideal.check_numbers()
    ideal.check_members()
    ideal.check_prime()
    ideal.check_components(dimension, degree)
    ideal.check_real_points()
    words = [f"reduced Groebner basis ({ideal.order}) of {len(ideal.basis.elements)} elements of an ideal"]
    words[0] += f" of {len(ideal.generators)} generators in {ideal.variables} variables"
    words.append(f"dimension {dimension}" + ("" if degree is None else f", degree {degree}"))
    if ideal.claim["prime"]:
        words.append("prime over every extension of Q")
    if ideal.claim["components"] is not None:
        words.append(f"{len(ideal.claim['components'])} minimal primes")
    if ideal.claim["real_points"] is not None:
        words.append("no real point" if ideal.claim["real_points"] == "none" else "a rational point")
    return "; ".join(words)


# ------------------------------------------------------------------------------------------------------------
# §18  Kind `closure-degree`
# ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Multiplication:
    """The map (V, A) -> v_i(x) A(x, y), V of size e x d, A of rank <= a; on one token v_i(x) A(x, x)."""

    d: int
    e: int
    a: int
    one_token: bool

    @classmethod
    def of(cls, network: Network) -> Multiplication:
        one = len(network.layers) == 1 and network.is_chain(ATTENTION)
        require(one, "network", "it is not one attention layer")
        layer = network.layers[0]
        found = cls(layer.d_in, layer.d_out, layer.rank, network.tokens == 1)
        require_supported(found.d * (found.d + found.e) <= LIMIT_ENTRIES, f"the degree for {found}")
        return found

    def __str__(self) -> str:
        return f"d = {self.d}, d' = {self.e}, a = {self.a}" + (", one token" if self.one_token else "")

    @property
    def rank(self) -> int:
        """The largest rank of A, or of the quadratic form A(x, x)."""
        return min(2 * self.a if self.one_token else self.a, self.d)

    @property
    def dimension(self) -> int:
        forms = (symmetric_rank_variety if self.one_token else rank_variety)(self.d, self.a)
        return forms + self.d * self.e - 1

    def sheets(self) -> int:
        """How many ways there are to split a general product, up to scale."""
        if self.d == 1 or self.e > 1:
            return 1
        if self.one_token:
            return 3 if self.rank == 2 else 1
        return 2 if self.rank == 1 else 1

    def forms_degree(self, work: Work) -> int:
        """Degree of the matrices, or quadratic forms, of bounded rank: determinants of Giambelli's."""
        c = self.d - self.rank
        if c == 0:
            return 1

        def binomial(k: int) -> Fraction:
            return Fraction(math.comb(self.d, k) if k >= 0 else 0)

        if not self.one_token:
            rows = [[binomial(c - i + j) for j in range(c)] for i in range(c)]
            return int(rational_determinant(rows, work))
        rows = [[binomial(c - 2 * i + j) for j in range(c)] for i in range(c)]
        value, rest = divmod(int(rational_determinant(rows, work)), 2 ** (c * (c - 1) // 2))
        require(rest == 0, "degree", "the determinant for quadratic forms is not divisible")
        return value

    def product(self, values: Entries, attention: Entries, work: Work) -> SparseVector:
        """The coefficients of all v_i(x) A(x, y), or v_i(x) A(x, x)."""
        work.spend(1 + len(values) * len(attention))
        result: SparseVector = {}
        for (i, alpha), v in values.items():
            for (beta, gamma), x in attention.items():
                places = sorted((alpha, beta, gamma) if self.one_token else (alpha, beta))
                key = i
                for place in places if self.one_token else (*places, gamma):
                    key = key * self.d + place
                result[key] = result.get(key, 0) + v * x
        return {key: value for key, value in result.items() if value}

    def tangent(self, values: Entries, attention: Entries, work: Work) -> Iterable[SparseVector]:
        """The differential on all V' and on the tangent space of the A at a smooth point."""
        for i, j in itertools.product(range(self.e), range(self.d)):
            yield self.product({(i, j): 1}, attention, work)
        rows, columns = {i for i, _ in attention}, {j for _, j in attention}
        if self.one_token:
            rows = columns = rows | columns
        for i, j in itertools.product(range(self.d), repeat=2):
            if self.one_token and i > j:
                continue
            if self.rank == self.d or i in rows or j in columns:
                yield self.product(values, {(i, j): 1}, work)

    def check_general(self, values: Entries, attention: Entries, prime: int, where: str, work: Work) -> None:
        """Ranks are as large as they can be, on coordinate subspaces, and the differential is injective."""

        def rank_of(vectors: Iterable[SparseVector]) -> int:
            return ModularRank(prime, work).rank_of(vectors)

        largest = min(self.d, self.e)
        found = rank_of(by_rows(values))
        require(found == largest, "rank", f"{where}: V has rank {found}, {largest} is needed")
        square = dict(attention)
        if self.one_token:
            ordered = all(i <= j for i, j in attention)
            require(ordered, "rank", f"{where}: the quadratic form is not upper triangular")
            for (i, j), x in attention.items():
                square[j, i] = x if i != j else 2 * x
        rows, columns = {i for i, _ in square}, {j for _, j in square}
        found = rank_of(by_rows(square))
        fits = found == len(rows) == len(columns) == self.rank
        require(fits, "rank", f"{where}: A has rank {found}, {self.rank} with as many rows is needed")
        found = rank_of(self.tangent(values, attention, work))
        fits = found == self.dimension
        require(fits, "rank", f"{where}: the differential has rank {found}, {self.dimension} is needed")


def by_rows(entries: Entries) -> Iterable[SparseVector]:
    found: dict[int, SparseVector] = {}
    for (i, j), x in entries.items():
        found.setdefault(i, {})[j] = x
    return found.values()


def proportional(one: Entries, other: Entries) -> bool:
    if one.keys() != other.keys() or not one:
        return False
    place = next(iter(one))
    return all(x * other[place] == other[key] * one[place] for key, x in one.items())


def check_closure_degree(certificate: dict[str, Any], report: Report) -> str:
    layer = Multiplication.of(parse_network(certificate["network"]))
    keys = ("quantity", "dimension", "forms_degree", "sheets", "value")
    claim = fields(certificate["claim"], "claim", "claim", keys)
    compare("claim", "quantity", claim["quantity"], "degree of the closure")
    check_strength_and_provenance(certificate)
    witness = fields(certificate["witness"], "fields", "witness", ("prime", "preimages"))
    prime, work = parse_prime(witness["prime"]), Work("degrees")
    sheets, forms = layer.sheets(), layer.forms_degree(work)
    product = math.comb(layer.dimension - 1, layer.d * layer.e - 1) * forms
    require(product % sheets == 0, "degree", "the number of points is not divisible by that of the sheets")
    compare("claim", "dimension", claim["dimension"], encode(layer.dimension))
    compare("claim", "forms_degree", claim["forms_degree"], encode(forms))
    compare("claim", "sheets", claim["sheets"], encode(sheets))
    compare("claim", "value", claim["value"], encode(product // sheets))
    listed = array(witness["preimages"], "preimages", "preimages")
    require(len(listed) == sheets, "preimages", f"{len(listed)} preimages, {sheets} are needed")
    pairs: list[tuple[Entries, Entries]] = []
    for number, value in enumerate(listed):
        where = f"preimage {number}"
        parts = array(value, "preimages", where)
        require(len(parts) == 2, "preimages", f"{where} is not a pair of matrices")
        values = parse_entries(parts[0], layer.e, layer.d, "preimages", where)
        attention = parse_entries(parts[1], layer.d, layer.d, "preimages", where)
        layer.check_general(values, attention, prime, where, work)
        for before in pairs:
            other = not proportional(before[0], values)
            require(other, "preimages", f"{where} is one before it, up to scale")
            same = layer.product(*before, work) == layer.product(values, attention, work)
            require(same, "preimages", f"{where} has another value")
        pairs.append((values, attention))
    degree = product // sheets
    return f"one layer, {layer}: the closure Y has dimension {layer.dimension} and degree {degree} (exact)"


# ------------------------------------------------------------------------------------------------------------
# §19  Kind `few-inputs`
# ------------------------------------------------------------------------------------------------------------

MAX_INPUTS = 1000


class OutputSampling(Sampling):
    """Row ``k E + e`` is entry e of the value at input k, E the number of entries of a value."""

    __slots__ = ()

    @property
    def entries(self) -> int:
        return self.network.d_out * self.network.tokens

    def input(self, sample: int) -> tuple[int, ...]:
        return super().input(sample // self.entries)

    def functional(self, sample: int) -> tuple[int, ...]:
        entry = sample % self.entries
        return tuple([int(place == entry) for place in range(self.entries)])


def few_input_ways(network: Network) -> list[dict[str, Any]]:
    """The six ways to count the values at k inputs: at most ``fixed + each k`` dimensions."""
    widths = [network.node_width(node) for node in range(len(network.layers) + 1)]
    ranks = [layer.rank for layer in network.layers]
    d, e, t = widths[0], widths[-1], network.tokens
    m, b, alpha, tau = min(widths), min(t, *widths, *ranks), min(ranks[0], d), min(t, d)
    ways = []
    for left, p, one in (
        ("outputs", e, 0),
        ("columns", m, m * (e - m)),
        ("product", tau, m * (d + e - m) - 1),
    ):
        for right, q, other in (("inputs", tau, 0), ("rows", alpha, alpha * (d - alpha))):
            each = bounded_rank_maps(p, q, b)
            ways.append({"left": left, "right": right, "fixed": encode(one + other), "each": encode(each)})
    return ways


def check_few_inputs(certificate: dict[str, Any], report: Report) -> str:
    network = parse_network(certificate["network"])
    chain = network.is_chain(ATTENTION)
    require(chain, "network", f"the network is not a chain of {ATTENTION} layers")
    keys = ("quantity", "dimension", "lower", "upper")
    claim = fields(certificate["claim"], "claim", "claim", keys)
    compare("claim", "quantity", claim["quantity"], "rank of few inputs")
    check_strength_and_provenance(certificate)
    witness = fields(certificate["witness"], "fields", "witness", ("flag", "factorisations", "minor"))
    flag, _ = bound_by_flag(network)
    compare("upper bound", "flag", witness["flag"], encode(flag))
    ways = few_input_ways(network)
    compare("upper bound", "factorisations", witness["factorisations"], ways)
    minor_keys = ("prime", "seed", "rows", "columns", "determinant")
    minor = fields(witness["minor"], "lower bound", "minor", minor_keys)
    prime = parse_prime(minor["prime"])
    seed = matching(minor["seed"], SEED, "sampling", "seed")
    sampling = OutputSampling(network, prime, seed)
    count = len(array(claim["lower"], "claim", "lower", at_least=1))
    require(count <= MAX_INPUTS, "claim", f"{count} inputs, at most {MAX_INPUTS} are allowed")
    rows = IndexSet.parse(minor["rows"], "rows", min(MAX_SAMPLES, count * sampling.entries))
    columns = IndexSet.parse(minor["columns"], "columns", network.parameters())
    require(0 < len(rows) == len(columns), "rows", f"{len(rows)} rows and {len(columns)} columns")
    determinant = integer(minor["determinant"], "determinant", "determinant", 1, prime - 1)
    # numbers of rows: the sizes of the minor are bounded before they are listed
    require_supported(20 * len(rows) ** 2 <= LIMIT_BYTES, f"a minor of size {len(rows)}")
    groups = Counter(row // sampling.entries for row in rows.indices())
    lower = list(itertools.accumulate(groups[k] for k in range(count)))
    compare("claim", "lower", claim["lower"], lower)
    upper = [
        min([flag, *(int(way["fixed"]) + int(way["each"]) * k for way in ways)]) for k in range(1, count + 1)
    ]
    compare("claim", "upper", claim["upper"], [encode(value) for value in upper])
    compare("claim", "dimension", claim["dimension"], encode(flag) if lower[-1] == flag else None)
    found = sampled_determinant(sampling, rows, columns, report)
    stated = f"stated {determinant}, recomputed {found} modulo {prime}"
    require(found == determinant, "determinant", stated)
    decided = sum(map(int.__eq__, lower, upper))
    reached = f"the dimension {flag} is reached" if lower[-1] == flag else "the dimension is not reached"
    return (
        f"{network}: ranks of all outputs of 1 to {count} inputs, {decided} of {count} decided; "
        f"with {count} {reached} (exact)"
    )


# ------------------------------------------------------------------------------------------------------------
# §20  Kind `orbits`
# ------------------------------------------------------------------------------------------------------------

LIMIT_EXPANSION = 5_000_000  # orbits times factors times degree of the counts that are expanded
# dimension vectors of the indecomposable representations of the quiver . -> . <- .
INDECOMPOSABLES = ((1, 1, 1), (1, 1, 0), (0, 1, 1), (0, 1, 0), (1, 0, 0), (0, 0, 1))

Product = Counter[int]  # q^c[0] times the product of (q^i - 1)^c[i], i > 0


def general_linear(n: int) -> Product:
    """The order of GL_n over F_q."""
    return Counter({0: n * (n - 1) // 2, **dict.fromkeys(range(1, n + 1), 1)})


def homomorphisms(one: tuple[int, int, int], other: tuple[int, int, int]) -> int:
    """The dimension of Hom(one, other): maps b in the middle, a_i at the ends, a_i = b where both act."""
    middle = one[1] * other[1]
    ends = [one[i] * other[i] for i in (0, 2)]
    equal = sum(end * other[1] for end in ends)  # a_i = b, or a_i = 0 where there is no b
    zero = any(one[i] * other[1] * one[1] * (1 - other[i]) for i in (0, 2))  # b = 0
    return middle + sum(ends) - equal - zero


class PairOrbits:
    """The orbits of GL_d' x GL_d x GL_d on pairs (V, A), V of size d' x d, A of size d x d and rank <= a."""

    def __init__(self, layer: OneLayer, work: Work) -> None:
        self.layer, self.work = layer, work
        r_max, s_max = min(layer.d, layer.e), min(layer.d, layer.a)
        count = (r_max + 1) * (s_max + 1) * (min(r_max, s_max) + 1)
        steps = count * (layer.d + layer.e) * layer.d * (layer.d + layer.e)
        require_supported(steps <= LIMIT_EXPANSION, f"the orbits of one layer with {layer}")
        self.triples = [
            (r, s, m)
            for r in range(r_max + 1)
            for s in range(s_max + 1)
            for m in range(max(0, r + s - layer.d), min(r, s) + 1)
        ]

    def by_stabiliser(self, triple: StratumKey) -> Product:
        """The points of the representative's orbit: the order of the group over that of its stabiliser."""
        d, e = self.layer.d, self.layer.e
        r, s, m = triple
        times = (m, r - m, s - m, d - r - s + m, e - r, d - s)
        every = [(n, shape) for n, shape in zip(times, INDECOMPOSABLES, strict=True)]
        unipotent = sum(
            n * k * homomorphisms(one, other)
            for (n, one), (k, other) in itertools.product(every, repeat=2)
            if one != other
        )
        found: Product = Counter({0: -unipotent})
        for n in (e, d, d):
            found.update(general_linear(n))
        for n in times:
            found.subtract(general_linear(n))
        return Counter({i: k for i, k in found.items() if k})

    def by_subspaces(self, triple: StratumKey) -> Product:
        """The pairs with these invariants: row space, column space and their spanning families."""
        d, e = self.layer.d, self.layer.e
        r, s, m = triple
        found: Product = Counter({0: (r - m) * (s - m)})
        for n, k in ((d, r), (r, m), (d - r, s - m)):
            found.update(range(n - k + 1, n + 1))
            found.subtract(range(1, k + 1))
        for n, k in ((e, r), (d, s)):
            found.update({0: k * (k - 1) // 2})
            found.update(range(n - k + 1, n + 1))
        return Counter({i: k for i, k in found.items() if k})

    def expand(self, product: Product) -> list[int]:
        """The coefficients of the polynomial, by increasing powers of q."""
        result = [0] * product[0] + [1]
        for i in sorted(i for i, k in product.items() if i and k > 0):
            for _ in range(product[i]):
                self.work.spend(len(result) + i)
                longer = [0] * i + result
                for place, value in enumerate(result):
                    longer[place] -= value
                result = longer
        for i in (i for i, k in product.items() if i and k < 0):
            for _ in range(-product[i]):
                self.work.spend(len(result))
                for place in range(len(result)):  # times -1/(1 - q^i) as a series, which ends
                    result[place] = (result[place - i] if place >= i else 0) - result[place]
                require(not any(result[len(result) - i :]), "orbits", "a count is no polynomial")
                del result[len(result) - i :]
        return result

    def tangent(self, triple: StratumKey) -> Iterable[SparseVector]:
        """The vectors (u V + V g, g^T A + A h) at the representative, for unit matrices u, g, h."""
        d, e = self.layer.d, self.layer.e
        values, attention = representative(triple)
        at = self.layer.d * self.layer.e
        for i, j in itertools.product(range(e), repeat=2):
            yield {i * d + x: v for (y, x), v in values.items() if y == j}
        for i, j in itertools.product(range(d), repeat=2):
            vector = {y * d + j: v for (y, x), v in values.items() if x == i}
            vector.update({at + j * d + y: v for (x, y), v in attention.items() if x == i})
            yield vector
        for i, j in itertools.product(range(d), repeat=2):
            yield {at + x * d + j: v for (x, y), v in attention.items() if y == i}

    def matrices(self) -> list[int]:
        """How many pairs there are, by the number of d x d matrices of each rank."""
        d = self.layer.d
        total = [0] * (d * (d + self.layer.e) + 1)
        for s in range(min(d, self.layer.a) + 1):
            of_rank: Product = Counter({0: d * self.layer.e + s * (s - 1) // 2})
            for _ in range(2):
                of_rank.update(range(d - s + 1, d + 1))
            of_rank.subtract(range(1, s + 1))
            for place, value in enumerate(self.expand(of_rank)):
                total[place] += value
        return total


def check_orbits(certificate: dict[str, Any], report: Report) -> str:
    work = Work("orbits")
    group = PairOrbits(OneLayer.of(parse_network(certificate["network"])), work)
    layer, triples = group.layer, group.triples
    claim = fields(certificate["claim"], "claim", "claim", ("quantity", "dimension", "orbits", "dimensions"))
    compare("claim", "quantity", claim["quantity"], "orbits")
    check_strength_and_provenance(certificate)
    witness = fields(certificate["witness"], "fields", "witness", ("prime", "orbits"))
    prime = parse_prime(witness["prime"])
    compare("claim", "orbits", claim["orbits"], [list(triple) for triple in triples])
    counts = [group.by_subspaces(triple) for triple in triples]
    stated = [
        {"orbit": list(triple), "power": count[0], "factors": sorted([i, k] for i, k in count.items() if i)}
        for triple, count in zip(triples, counts, strict=True)
    ]
    compare("orbits", "orbits", witness["orbits"], stated)
    total = [0] * (layer.d * (layer.d + layer.e) + 1)
    dimensions = []
    for number, (triple, count) in enumerate(zip(triples, counts, strict=True)):
        report(f"orbit {number + 1} of {len(triples)}")
        whole = group.by_stabiliser(triple) == count
        require(whole, "orbits", f"the orbit of {list(triple)} is not all pairs with these invariants")
        for place, value in enumerate(group.expand(count)):
            total[place] += value
        dimensions.append(count[0] + sum(i * k for i, k in count.items()))
        rank = ModularRank(prime, work).rank_of(group.tangent(triple))
        found = f"the tangent space at {list(triple)} has rank {rank}, not {dimensions[-1]}"
        require(rank == dimensions[-1], "rank", found)
    compare("claim", "dimensions", claim["dimensions"], dimensions)
    compare("claim", "dimension", claim["dimension"], layer.dimension + 1)
    require(total == group.matrices(), "orbits", "the orbits have not as many points as there are pairs")
    return (
        f"one layer, {layer}: the pairs (V, A) are exactly {len(triples)} orbits, one for each rank of V, "
        f"rank of A and meet (exact)"
    )


# ------------------------------------------------------------------------------------------------------------
# §7  Verdict
# ------------------------------------------------------------------------------------------------------------

KINDS: dict[str, tuple[str, Callable[[dict[str, Any], Report], str]]] = {
    "dimension": ("network", check_dimension),
    "degrees": ("network", check_degrees),
    "matrix-identity": ("identity", check_identity),
    "fibre": ("point", check_fibre),
    "recovery": ("recovery", check_recovery),
    "symmetry-algebra": ("network", check_symmetry_algebra),
    "normalized-fibre": ("network", check_normalized_fibre),
    "identifiability": ("network", check_identifiability),
    "singular-locus": ("network", check_singular_locus),
    "boundary": ("network", check_boundary),
    "closedness": ("network", check_closedness),
    "membership": ("network", check_membership),
    "groebner-basis": ("ideal", check_groebner_basis),
    "invariants": ("network", check_invariants),
    "closure-degree": ("network", check_closure_degree),
    "few-inputs": ("network", check_few_inputs),
    "orbits": ("network", check_orbits),
}
COMMON_KEYS = ("format", "version", "kind", "claim", "witness", "strength", "provenance", "sha256")


def check_data(data: bytes, report: Report) -> str:
    """Every check of FORMAT.md in order; the claim in words, or InvalidError, or UnsupportedError."""
    certificate = parse(data)
    require(isinstance(certificate, dict), "json", "not an object")
    for key in ("format", "version", "kind"):
        require(key in certificate, key, "no key {}", key)
    compare("format", "format", certificate["format"], FORMAT)
    version, kind = certificate["version"], certificate["kind"]
    integer(version, "version", "version")
    require_supported(version == 1, "version {}", version)
    require(isinstance(kind, str), "kind", "kind is {}, not a string", kind)
    require_supported(kind in KINDS, "kind {}", kind)
    about, checker = KINDS[kind]
    fields(certificate, "fields", "certificate", (about, *COMMON_KEYS))
    rest = {key: value for key, value in certificate.items() if key != "sha256"}
    digest = hashlib.sha256(canonical(rest).encode("ascii")).hexdigest()
    compare("sha256", "sha256", certificate["sha256"], digest)
    return checker(certificate, report)


def silent(message: str) -> None:
    """The report that says nothing."""


def decide(get: Callable[[], bytes], report: Report) -> Verdict:
    """The verdict on the bytes that ``get`` reads."""
    start = time.perf_counter()

    def verdict(word: str, **rest: str) -> Verdict:
        return Verdict(word, seconds=round(time.perf_counter() - start, 4), **rest)

    try:
        return verdict("valid", claim=check_data(get(), report))
    except InvalidError as error:
        return verdict("invalid", check=error.check, reason=error.found)
    except UnsupportedError as error:
        return verdict("unsupported", reason=str(error))
    except Exception as error:  # a mistake in this file, or no memory: never a traceback, never `valid`
        return verdict("unsupported", reason=f"internal error: {type(error).__name__}: {show(str(error))}")


def check(certificate: dict[str, Any], report: Report = silent) -> Verdict:
    """The verdict on a certificate held in memory: it is written as JSON and read strictly."""

    def text() -> bytes:
        try:
            return json.dumps(certificate).encode("utf-8")
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidError("json", f"cannot be written as JSON: {error}") from None

    return decide(text, report)


def check_file(path: str | os.PathLike[str], report: Report = silent) -> Verdict:
    """The verdict on a file."""
    return decide(lambda: read_bytes(path), report)


def printable(text: str, encoding: str) -> str:
    """Text without control characters, in characters that the stream can write."""
    clean = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
    return clean.encode(encoding, "backslashreplace").decode(encoding)


HELP = """\
`valid` means that the claim printed below it is proved. The file was checked against its hash and the format;
the network's values were rebuilt from its description and differentiated by this program; the stated minor of
the Jacobian was found non-zero modulo a number that this program proved prime; the upper bound was recomputed
from the network. Nothing in a certificate is evaluated as code, and its `provenance` proves nothing.

Trusted are: this file; Python's integers, hashlib and json; the theorems named in FORMAT.md; and, for large
certificates only, the exactness of integer matrix products in numpy's float64 (proved in the comments), or a
determinant by python-flint. Run with `python -I -S` to use nothing but the standard library.

Exit code: 0 all valid; 1 one is invalid; 2 one is unsupported or unreadable (1 wins over 2).
"""


def progress_reporter(wanted: bool) -> Report:
    """A report on standard error, at most one line in two seconds."""
    last = -math.inf

    def report(message: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= 2:
            last = now
            print(f"verify: {message}", file=sys.stderr, flush=True)

    return report if wanted or (sys.stderr is not None and sys.stderr.isatty()) else silent


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="verifier.py",
        description="Check lightningalg certificates independently of the program that wrote them.",
        epilog=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", metavar="CERT.json")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--progress", action="store_true", help="report long computations on standard error")
    options = parser.parse_args(arguments)
    for library in (
        "OPENBLAS",
        "MKL",
        "OMP",
    ):  # on a busy machine, threads of numpy that wait cost more than they give
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    report = progress_reporter(options.progress)
    results = []
    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    encoding = sys.stdout.encoding or "utf-8"
    for path in options.files:
        verdict = check_file(path, report)
        results.append({"file": path, **{name: getattr(verdict, name) for name in Verdict.__slots__}})
        if not options.json:
            print(printable(f"{path}: ".replace("\n", "\\n") + str(verdict), encoding), flush=True)
    if options.json:
        print(json.dumps({"results": results}), flush=True)
    verdicts = {result["verdict"] for result in results}
    return 1 if "invalid" in verdicts else 2 if "unsupported" in verdicts else 0


if __name__ == "__main__":
    try:
        code = main()
    except OSError as error:  # standard output is full, or its reader has gone away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"error: cannot write the verdicts: {error.strerror}", file=sys.stderr)
        code = 2
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
