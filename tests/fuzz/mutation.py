"""Random alterations of files: of their bytes, of their tokens, and of the values of JSON documents."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

NUMBERS = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "64",
    "100",
    "999",
    "1000001",
    "1000000000",
    "-1000000000",
    "2147483647",
    "2147483648",
    "9007199254740993",
    "9" * 30,
    "9" * 400,
    "9" * 5000,
    "1.0",
    "0.5",
    "1e5",
    "1e400",
    "NaN",
    "nan",
    "inf",
    "-Infinity",
    "0x10",
    "0b1",
    "0o7",
    "1_000",
    "01",
    "+1",
    "1/2",
    "2/4",
    "1/0",
    "-1/3",
    "\u0661",
    "1979-05-27",
]
WORDS = [
    "true",
    "false",
    "null",
    "None",
    "input",
    "layer1",
    "Q",
    "K",
    "V",
    "d",
    "a",
    "and",
    "or",
    "not",
    "min",
    "max",
    "binomial",
    "x1",
    "x1^2",
    "x1*x2",
    "begin answer",
    "end answer",
    "element",
    "ideal",
    "[1]:",
    "[",
    "]:",
    "lightning",
    "normalized",
    "monomial",
    "linear",
    "sum",
    "bias",
    "tied",
    "weights",
    "__class__",
    "__import__",
    "..",
    "/etc/passwd",
    "\u202e",
    "\ud7ff",
    "\U0001f600",
    "\x00",
    "\r",
    "\x85",
    "\u2028",
    "'",
    '"',
    '"""',
    "\\",
    "\\u0000",
    "%s",
    "{0}",
    "{{",
    "}}",
    "$x$",
    "\\input{x}",
    "<script>",
    "a" * 300,
]
PUNCTUATION = list("[]{}(),:;=<>!+-*/^.#\"'\n\t \\")
TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[A-Za-z_][\w.-]*|[-+]?\d[\w.]*|\s+|.', re.DOTALL)


def of_bytes(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Flip, cut, double, insert or splice bytes."""
    made = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        place = rng.randrange(len(made) + 1)
        end = min(len(made), place + rng.choice([1, 1, 2, 4, 16, 100]))
        what = rng.randrange(6)
        if what == 0 and made:
            made[min(place, len(made) - 1)] ^= 1 << rng.randrange(8)
        elif what == 1:
            del made[place:end]
        elif what == 2:
            made[place:place] = made[place:end] * rng.choice([1, 1, 2, 50])
        elif what == 3:
            made[place:place] = rng.choice(NUMBERS + WORDS + PUNCTUATION).encode("utf-8", "surrogatepass")
        elif what == 4:
            other = rng.choice(others)
            start = rng.randrange(len(other) + 1)
            made[place:end] = other[start : start + rng.randrange(200)]
        else:
            made[place:place] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 5)))
    return bytes(made[: 1 << 20])


def of_tokens(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Replace, drop, double or exchange tokens and lines."""
    tokens = TOKEN.findall(data.decode("utf-8", "replace"))
    pool = TOKEN.findall(rng.choice(others).decode("utf-8", "replace")) or [""]
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        if not tokens:
            break
        place = rng.randrange(len(tokens))
        old = tokens[place]
        what = rng.randrange(8)
        if what <= 2:
            tokens[place] = _like(rng, old)
        elif what == 3:
            del tokens[place]
        elif what == 4:
            tokens.insert(place, rng.choice(tokens))
        elif what == 5:
            other = rng.randrange(len(tokens))
            tokens[place], tokens[other] = tokens[other], tokens[place]
        elif what == 6:
            tokens[place] = rng.choice(pool)
        else:
            lines = "".join(tokens).split("\n")
            line = rng.randrange(len(lines))
            lines[line:line] = [rng.choice(lines)] * rng.choice([1, 1, 3])
            tokens = TOKEN.findall("\n".join(lines))
    return "".join(tokens).encode("utf-8", "surrogatepass")[: 1 << 20]


def _like(rng: random.Random, old: str) -> str:
    """Something of the same kind as a token, or of another one."""
    if rng.random() < 0.2:
        return rng.choice(NUMBERS + WORDS + PUNCTUATION)
    if old[:1] == '"':
        return json.dumps(rng.choice(WORDS + NUMBERS)) if rng.random() < 0.8 else old[:-1]
    if old[:1].isdigit() or old[:1] in "+-":
        return rng.choice(NUMBERS)
    return rng.choice(WORDS) if old[:1].isalpha() else rng.choice(PUNCTUATION)


VALUES: list[Callable[[random.Random], Any]] = [
    lambda rng: rng.choice([None, True, False, "", [], {}, [[]], 0.5, -1.5, 1e300, float("nan"), "\ud800"]),
    lambda rng: rng.choice([0, 1, -1, 2, 3, 5, 10, 63, 64, 65, 4096, 10**6, 10**9, 2**31, 2**53, 10**40]),
    lambda rng: rng.randint(-10, 10),
    lambda rng: f"{rng.randint(-9, 9)}/{rng.randint(0, 9)}",
    lambda rng: str(rng.choice([10**20, -(10**20), 10**599, 10**700])),
    lambda rng: rng.choice(WORDS),
    lambda rng: [rng.randint(0, 3) for _ in range(rng.randint(0, 6))],
    lambda rng: [0] * rng.choice([10, 100, 2000]),
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in a JSON document."""
    found = [path]
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, entry in entries:
        found += places(entry, (*path, key))
    return found


def of_values(rng: random.Random, value: Any, others: Sequence[Any]) -> Any:
    """Replace, drop, double or exchange values of a JSON document."""
    value = json.loads(json.dumps(value))
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        path = rng.choice([path for path in places(value) if path] or [()])
        if not path:
            return rng.choice(VALUES)(rng)
        holder = value
        for key in path[:-1]:
            holder = holder[key]
        what = rng.randrange(7)
        old = holder[path[-1]]
        if what <= 1:
            holder[path[-1]] = rng.choice(VALUES)(rng)
        elif what == 2 and isinstance(old, int) and not isinstance(old, bool):
            holder[path[-1]] = rng.choice([old + 1, old - 1, -old, 2 * old, str(old), [old], old * 10**12])
        elif what == 3:
            del holder[path[-1]]
        elif what == 4 and isinstance(holder, list):
            holder.insert(rng.randrange(len(holder) + 1), json.loads(json.dumps(old)))
        elif what == 5 and isinstance(holder, dict):
            holder[rng.choice(WORDS) if rng.random() < 0.5 else rng.choice(list(holder))] = old
        else:
            other = rng.choice(others)
            found = other
            for key in rng.choice(places(other)):
                found = found[key]
            holder[path[-1]] = json.loads(json.dumps(found))
    return value


def sealed(value: Any) -> bytes:
    """A certificate with the hash that belongs to it."""
    if isinstance(value, dict) and "sha256" in value:
        rest = {key: entry for key, entry in value.items() if key != "sha256"}
        text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
        value = {**rest, "sha256": hashlib.sha256(text.encode("ascii")).hexdigest()}
    return json.dumps(value).encode("ascii")


def of_file(rng: random.Random, seeds: Sequence[bytes]) -> bytes:
    """An altered seed; JSON documents more often as documents than as bytes."""
    data = rng.choice(seeds)
    kind = rng.random()
    if kind < 0.6 and data[:1] == b"{":
        try:
            documents = [json.loads(seed) for seed in (data, rng.choice(seeds)) if seed[:1] == b"{"]
            return sealed(of_values(rng, documents[0], documents))
        except (RecursionError, ValueError):  # an altered file that is no document any more
            return of_bytes(rng, data, seeds)
    return of_tokens(rng, data, seeds) if kind < 0.85 else of_bytes(rng, data, seeds)
