"""Altered certificates of every kind, and whether what an altered one says is still true.

``python -m tests.certificates.mutants`` alters every place of every file of ``corpus/valid`` in all ways
(half an hour) and prints the table of what the checker said; the tests run parts of the same.

An altered certificate is *still true* if nothing is concluded from the altered place, if claim and subject
are those of the original, or if the producer (which shares no code with the checker), sympy or plain
arithmetic finds the altered claim for the altered subject.  Only such may be valid.
"""

from __future__ import annotations

import argparse
import collections
import functools
import hashlib
import itertools
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from lightningalg import verifier

from . import examples as ex
from .test_verifier_mutation import at, places, put, text, variants

FOLDER = Path(__file__).with_name("corpus")
SUBJECT = {"matrix-identity": "identity", "groebner-basis": "ideal", "fibre": "point", "recovery": "recovery"}
#: no certificate of the corpus, and nothing made of one by altering a place, may keep the checker for longer
SECONDS = 20.0  # of processor time

Path_ = tuple[Any, ...]


@functools.cache
def _texts() -> dict[str, str]:
    return {path.stem: path.read_text("ascii") for path in sorted((FOLDER / "valid").glob("*.json"))}


def names() -> list[str]:
    """The files of ``corpus/valid``."""
    return list(_texts())


def original(name: str) -> dict[str, Any]:
    """A fresh copy of a valid certificate."""
    return json.loads(_texts()[name])


# -- alterations --------------------------------------------------------------------------------------------

DEEP: Any = functools.reduce(lambda inner, _: [inner], range(150), 0)
STRANGE = [
    DEEP,
    "\u0661\u0662",  # Arabic digits
    "\uff11",  # a full-width digit
    "1\u0000",
    "\ud800",  # half of a surrogate pair
    "\u202e1",
    "1/0",
    "2/4",
    "-0",
    "0x10",
    "1_0",
    " 1",
    "1e9",
    "\ud83d\ude00",
    "9" * 600,
    "9" * 601,
    "1/" + "9" * 700,
    [0] * 3000,
    ["x"] * 3000,
    {str(k): k for k in range(500)},
    10**4000,
    -(10**9),
    10**18,
    2**31 - 1,
    2**31,
    300,
    0.5,
    1e300,
]
#: texts that are not JSON of the format, whatever the hash
RAW = [
    "NaN", "Infinity", "-Infinity", "-0", "1.0", "-0.0", "1e5", "1E400", "01", "+1", "0x10", "\u0661",
    "'x'", "tru", "nul", "", ",", "[1,]", "{,}", "9" * 5000, "-" + "9" * 400, "9007199254740993", "[" * 5000,
    "[" * 199 + "]" * 199, '{"a":' * 250 + "1" + "}" * 250, '"\\u12"', '"\\x41"', '"\n"', '"\t"', "/**/1",
    "1//2",
    "undefined",
]  # fmt: skip


def alterations(value: Any) -> list[Any]:
    """Everything that takes the place of a value."""
    own = text(value)
    return [*variants(value), *(other for other, written in _strange() if written != own)]


@functools.cache
def _strange() -> list[tuple[Any, str]]:
    return [(value, text(value)) for value in STRANGE]


def with_raw(certificate: Any, path: Path_, raw: str) -> bytes:
    """The certificate as text, with ``raw`` where the value at ``path`` was."""
    marker = "raw text goes here"
    return json.dumps(put(certificate, path, marker)).replace(f'"{marker}"', raw).encode("utf-8")


def with_double_key(certificate: Any, path: Path_) -> bytes | None:
    """The certificate as text, with the key at ``path`` written twice; None if it is no key."""
    if not path or not isinstance(path[-1], str):
        return None
    marker = "key twice goes here"
    whole = json.dumps(put(certificate, path, marker))
    value = json.dumps(at(certificate, path))
    return whole.replace(f'"{marker}"', f"{value}, {json.dumps(path[-1])}: {value}").encode("utf-8")


def without(certificate: Any, path: Path_) -> Any:
    """The certificate without the entry at ``path``."""
    altered = json.loads(json.dumps(certificate))
    del at(altered, path[:-1])[path[-1]]
    return altered


def sealed(value: Any) -> bytes | None:
    """The text with the hash that belongs to it; None where there is none to be had."""
    if not isinstance(value, dict):
        return json.dumps(value).encode("utf-8")
    rest = {key: entry for key, entry in value.items() if key != "sha256"}
    try:
        digest = hashlib.sha256(verifier.canonical(rest).encode("ascii")).hexdigest()
        return json.dumps({**rest, "sha256": digest}).encode("utf-8")
    except (ValueError, RecursionError):
        return None


# -- truth --------------------------------------------------------------------------------------------------


def still_true(first: dict[str, Any], altered: dict[str, Any]) -> bool:
    """Whether the claim of an altered certificate holds."""
    kind = altered["kind"]
    subject = SUBJECT.get(kind, "network")
    if kind == first["kind"] and all(
        text(first.get(key)) == text(altered.get(key)) for key in ("claim", subject, "strength")
    ):
        return True
    return TRUTH[kind](first, altered)


@functools.cache
def _dimension(network: str) -> tuple[int, int]:
    import lightningalg as la
    from lightningalg.networks.spec import network_from_table

    found = la.dimension(network_from_table(json.loads(network)))
    return found.lower_bound, found.upper_bound


def _true_dimension(network: dict[str, Any]) -> tuple[int, int]:
    return _dimension(json.dumps({**network, "tokens": min(network["tokens"], 3)}))


def dimension_holds(first: dict[str, Any], altered: dict[str, Any]) -> bool:
    """Against the producer; the stated numbers must not contradict what it finds."""
    low, high = _true_dimension(altered["network"])
    claim = altered["claim"]
    lower = {"equals": "value", "at least": "value", "between": "lower"}.get(claim["relation"])
    upper = {"equals": "value", "at most": "value", "between": "upper"}.get(claim["relation"])
    fine = lower is None or int(claim[lower]) <= high
    fine = fine and (upper is None or int(claim[upper]) >= low)
    if low == high and claim["relation"] == "equals":
        fine = fine and int(claim["value"]) == low
    return fine


def identity_holds(first: dict[str, Any], altered: dict[str, Any]) -> bool:
    return ex.identity_holds(altered)


def degrees_hold(first: dict[str, Any], altered: dict[str, Any]) -> bool:
    return ex.degrees_hold(altered)


def fibre_holds(first: dict[str, Any], altered: dict[str, Any]) -> bool:
    from tests.fibres.test_certificates import confirms

    return confirms(altered)


def recovery_holds(first: dict[str, Any], altered: dict[str, Any]) -> bool:
    """``determined`` may become ``reproduced``, which says less; other labels may name the same vectors."""
    weaker = altered["claim"]["relation"] in ("reproduced", first["claim"]["relation"])
    same = text({**first["claim"], "relation": 0}) == text({**altered["claim"], "relation": 0})
    one, other = first["recovery"], altered["recovery"]
    sizes = text({**one, "vectors": 0}) == text({**other, "vectors": 0})
    vectors = [[_vector(j, about["width"]) for j in about["vectors"]] for about in (one, other)]
    return weaker and same and sizes and vectors[0] == vectors[1]


def _vector(label: int, size: int) -> list[int]:
    """x_j by FORMAT section 17, for up to eight entries."""
    digest = hashlib.sha256(f"lightningalg-certificate/1|recovery|x/{label}|0".encode()).digest()
    words = [int.from_bytes(digest[4 * k : 4 * k + 4], "big") for k in range(size)]
    return [word % (2**31 - 1) % 11 - 5 for word in words]


def algebra_holds(first: dict[str, Any], altered: dict[str, Any]) -> bool:
    """Numbers against the producer's dimension; factors are the original's, or none are named."""
    claim, network = altered["claim"], altered["network"]
    n = ex.parameter_count(network)
    low, high = _true_dimension(network)
    fits = (
        claim["rank"] == n - low == n - high
        if claim["relation"] == "fill the kernel"
        else claim["rank"] <= n - low
    )
    named = claim["factors"] is None or _algebra(claim["factors"]) == _algebra(first["claim"]["factors"])
    return fits and named and claim["fields"] == len(altered["witness"]["symmetries"]["fields"])


def _algebra(factors: list[Any]) -> list[Any]:
    """gl_1 is a torus, and tori side by side are one."""
    found: list[Any] = []
    for factor in factors:
        name, size = factor["algebra"], factor["size"]
        name = "torus" if (name, size) == ("gl", 1) else name
        if name == "torus" and found and found[-1][0] == "torus":
            size += found.pop()[1]
        found.append((name, size))
    return found


def normalized_fibre_holds(first: dict[str, Any], altered: dict[str, Any]) -> bool:
    (layer,), claim = altered["network"]["layers"], altered["claim"]
    d, e, a = layer["d_in"], layer["d_out"], layer["rank"]
    if claim["scope"] == "all":
        return claim["inputs"] == 2 * d * d and claim["dimension"] == ex.r_variety(d, a) + d * e
    values = [Fraction(v) for v in altered["witness"]["parameters"]]
    q, k, v = values[: a * d], values[a * d : 2 * a * d], values[2 * a * d :]
    product = [[sum(k[r * d + i] * q[r * d + j] for r in range(a)) for j in range(d)] for i in range(d)]
    import sympy

    rank = sympy.Matrix(
        d, d, lambda i, j: sympy.Rational(product[i][j].numerator, product[i][j].denominator)
    ).rank()
    fibre = "point" if any(v) else "all attention matrices"
    return (claim["rank"], claim["fibre"], claim["orbit"]) == (rank, fibre, any(v) and rank == a)


def identifiability_holds(first: dict[str, Any], altered: dict[str, Any]) -> bool:
    """A theorem for all chains of normalised layers on two tokens or more."""
    net, before = altered["network"], "input"
    for layer in net["layers"]:
        if layer["type"] != "normalized_attention" or layer["inputs"] != [before] or "weights" in layer:
            return False
        before = layer["id"]
    return net["tokens"] >= 2 and text(first["claim"]) == text(altered["claim"])


def one_layer_holds(first: dict[str, Any], altered: dict[str, Any]) -> bool:
    from tests.strata.test_certificates import is_true

    return is_true(altered)


def few_inputs_hold(first: dict[str, Any], altered: dict[str, Any]) -> bool:
    from tests.claims.test_few_inputs import is_true

    return is_true(altered)


def orbits_hold(first: dict[str, Any], altered: dict[str, Any]) -> bool:
    from tests.claims.test_orbits import is_true

    return is_true(altered)


def equations_hold(first: dict[str, Any], altered: dict[str, Any]) -> bool:
    from tests.invariants.test_certificate import is_true

    return is_true(altered)


def ideal_holds(first: dict[str, Any], altered: dict[str, Any]) -> bool:
    """By sympy: the same ideal; members and points by substitution; what is not claimed any more is null."""
    import sympy

    claim, known = altered["claim"], first["claim"]
    count = len(altered["ideal"]["variables"])
    names = sympy.symbols(f"v0:{count}")

    def polynomial(listed: list[Any]) -> Any:
        terms = [
            sympy.Rational(str(c)) * sympy.prod(x**k for x, k in zip(names, e, strict=True))
            for c, e in listed
        ]
        return sum(terms, sympy.Integer(0))

    basis = [polynomial(f) for f in claim["basis"]]
    generators = [polynomial(f) for f in altered["ideal"]["generators"]]
    reduced = sympy.groebner([f for f in generators if f != 0] or [0], *names, order="grevlex", domain="QQ")
    stated = sympy.groebner(basis or [0], *names, order="grevlex", domain="QQ")
    if set(reduced.exprs) != set(stated.exprs):
        return False
    members = all(reduced.contains(polynomial(f)) for f in claim["members"])
    others = not any(reduced.contains(polynomial(f)) for f in claim["non_members"])
    points = claim["real_points"]
    if isinstance(points, list):
        values = [sympy.Rational(str(v)) for v in points]
        points = (
            None if all(f.subs(dict(zip(names, values, strict=True))) == 0 for f in generators) else points
        )
    rest = [
        claim[key] is None or _as_set(claim[key]) == _as_set(known[key]) for key in ("prime", "components")
    ]
    same = all(
        text(claim[k]) == text(known[k]) for k in ("order", "basis", "dimension", "degree", "elimination")
    )
    return (
        members
        and others
        and all(rest)
        and same
        and (points is None or text(points) == text(known["real_points"]))
    )


def _as_set(value: Any) -> Any:
    return sorted(map(text, value)) if isinstance(value, list) else value


TRUTH: dict[str, Callable[[dict[str, Any], dict[str, Any]], bool]] = {
    "dimension": dimension_holds,
    "degrees": degrees_hold,
    "matrix-identity": identity_holds,
    "fibre": fibre_holds,
    "recovery": recovery_holds,
    "symmetry-algebra": algebra_holds,
    "normalized-fibre": normalized_fibre_holds,
    "identifiability": identifiability_holds,
    "singular-locus": one_layer_holds,
    "boundary": one_layer_holds,
    "closedness": one_layer_holds,
    "membership": one_layer_holds,
    "closure-degree": one_layer_holds,
    "few-inputs": few_inputs_hold,
    "orbits": orbits_hold,
    "groebner-basis": ideal_holds,
    "invariants": equations_hold,
}


# -- the run ------------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """What the checker said, for one kind."""

    places: int = 0
    verdicts: collections.Counter[str] = field(default_factory=collections.Counter)
    slowest: float = 0.0
    longest: Any = None
    failures: list[Any] = field(default_factory=list)

    def judge(self, data: bytes, where: Any, true: Callable[[], bool]) -> None:
        """One altered text: never a defect, never slow, valid only if it is true."""
        start = time.process_time()
        verdict = verifier.decide(lambda: data, verifier.silent)
        seconds = time.process_time() - start
        if seconds > self.slowest:
            self.slowest, self.longest = seconds, where
        self.verdicts[verdict.verdict] += 1
        wrong = seconds > SECONDS or "internal" in (verdict.reason or "")
        wrong = wrong or not (true() if verdict.verdict == "valid" else verdict.reason)
        if wrong:
            self.failures.append((where, f"{seconds:.1f} s", str(verdict)))
            print("FAILURE", *self.failures[-1], flush=True)


def chosen(listed: list[Any], per_place: int | None, number: int) -> list[Any]:
    """Some of a list, others for each number: over many places every entry has its turn."""
    if per_place is None or per_place >= len(listed):
        return listed
    start = number * per_place
    return [listed[(start + k) % len(listed)] for k in range(per_place)]


def alter_every_place(name: str, per_place: int | None, tally: Tally) -> set[Path_]:
    """Alter each place of one certificate in some ways, or in all; the places that were altered."""
    first = original(name)
    seen = set()
    offset = int(hashlib.sha256(name.encode()).hexdigest(), 16) % 1000
    for number, path in enumerate(places(first), start=offset):
        for other in chosen(alterations(at(first, path)), per_place, number):
            altered = put(first, path, other)
            stale = verifier.check(altered) if path != ("sha256",) else None
            assert stale is None or stale.verdict != "valid", ("old hash accepted", name, path)
            data = json.dumps(altered).encode() if path == ("sha256",) else sealed(altered)
            if data is not None:
                truth = functools.partial(_judged, first, altered, path)
                tally.judge(data, (name, path, text(other)[:80]), truth)
        for raw in chosen(RAW, per_place and max(1, per_place // 2), number):
            tally.judge(with_raw(first, path, raw), (name, path, raw[:40]), lambda: False)
        if path:
            double = with_double_key(first, path)
            if double is not None:
                tally.judge(double, (name, path, "twice"), lambda: False)
            gone = without(first, path)
            data = sealed(gone) if path != ("sha256",) else json.dumps(gone).encode()
            assert data is not None
            tally.judge(data, (name, path, "gone"), functools.partial(_judged, first, gone, path))
        seen.add(path)
    tally.places += len(seen)
    return seen


def _judged(first: dict[str, Any], altered: dict[str, Any], path: Path_) -> bool:
    if path[:1] == ("provenance",) or path[:2] == ("identity", "name"):
        return True
    return still_true(first, altered)


def swaps() -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Parts of one certificate put into another of the same kind."""
    groups: dict[str, list[str]] = {}
    for name in names():
        groups.setdefault(original(name)["kind"], []).append(name)
    for kind, members in groups.items():
        for one, other in itertools.permutations(members, 2):
            for part in ("witness", "claim", SUBJECT.get(kind, "network")):
                first, second = original(one), original(other)
                if text(first[part]) != text(second[part]):
                    yield one, other, part, {**first, part: second[part]}


def table(tallies: dict[str, Tally]) -> str:
    """One line for each kind."""
    titles = (
        ("places", 8),
        ("altered", 9),
        ("invalid", 9),
        ("unsupported", 12),
        ("still true", 11),
        ("slowest", 9),
    )
    lines = [f"{'kind':18}" + "".join(f"{title:>{width}}" for title, width in titles)]
    for kind, tally in tallies.items():
        v = tally.verdicts
        lines.append(
            f"{kind:18}{tally.places:8}{v.total():9}{v['invalid']:9}{v['unsupported']:12}{v['valid']:11}"
            f"{tally.slowest:8.2f}s"
        )
    return "\n".join(lines)


def main() -> None:
    """Alter everything in every way, and print the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument(
        "--per-place", type=int, default=None, metavar="N", help="N alterations of each place, not all"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="certificates whose name has this text")
    options = parser.parse_args()
    tallies: dict[str, Tally] = {}
    for name in names():
        if options.only in name:
            kind = original(name)["kind"]
            alter_every_place(name, options.per_place, tallies.setdefault(kind, Tally()))
            print(name, flush=True)
    print(table(tallies))
    failures = [failure for tally in tallies.values() for failure in tally.failures]
    print(*failures, *(tally.longest for tally in tallies.values()), sep="\n")
    raise SystemExit(bool(failures))


if __name__ == "__main__":
    main()
