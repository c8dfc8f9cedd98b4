"""What reads from outside: for each reader seeds, and a function that must raise documented errors only."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import lightningalg as la
from lightningalg import verifier
from lightningalg.certificates.files import read_certificate
from lightningalg.engines import child_process
from lightningalg.engines.flint_ideal_engine import FlintIdeals
from lightningalg.engines.ideal_data import Ideal
from lightningalg.engines.macaulay2_engine import Macaulay2Ideals
from lightningalg.engines.monomials import MonomialOrder
from lightningalg.engines.msolve_engine import MsolveIdeals
from lightningalg.engines.singular_engine import SingularIdeals
from lightningalg.errors import EngineError, InputError, LightningAlgError, UnsupportedError
from lightningalg.fibres.blackbox import NotANetworkError
from lightningalg.fibres.files import Table, read_point
from lightningalg.networks.spec import from_toml, network_from_table, to_toml
from lightningalg.strata.layer import SingleLayer
from lightningalg.strata.tensor_file import read_tensor
from lightningalg.sweeps.spec import read_spec
from lightningalg.sweeps.tables import read_published
from lightningalg.worksheets.formula import Formula
from lightningalg.worksheets.model import read_worksheet
from tests.certificates import mutants as mt

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "certificates" / "corpus"


@dataclass(frozen=True)
class Target:
    """A reader: seeds, what it does with bytes, and which errors are documented."""

    seeds: Callable[[], list[bytes]]
    run: Callable[[bytes], object]
    errors: tuple[type[BaseException], ...] = (InputError, UnsupportedError)


@cache
def folder() -> Path:
    """A place in memory, if there is one, for the file to be read."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    holder = tempfile.TemporaryDirectory(prefix="lightningalg-fuzz-", dir=place)
    _HOLDERS.append(holder)
    shutil.copytree(ROOT / "worksheets" / "models", Path(holder.name) / "models")  # one worksheet reads these
    return Path(holder.name)


_HOLDERS: list[Any] = []


def written(data: bytes, suffix: str) -> Path:
    path = folder() / f"{os.getpid()}{suffix}"
    path.write_bytes(data)
    return path


@cache
def certificates() -> list[bytes]:
    return [path.read_bytes() for path in sorted((CORPUS / "valid").iterdir())]


@cache
def known_claims() -> dict[str, dict[str, Any]]:
    """The certificates of the corpus by what they are about and claim."""
    return {about(certificate): certificate for certificate in map(json.loads, certificates())}


def about(certificate: dict[str, Any]) -> str:
    subject = mt.SUBJECT.get(certificate["kind"], "network")
    return json.dumps([certificate[key] for key in ("kind", subject, "claim", "strength")], sort_keys=True)


def check(data: bytes) -> None:
    """The checker: never an internal error; valid only if true."""
    verdict = verifier.decide(lambda: data, verifier.silent)
    assert "internal" not in (verdict.reason or ""), verdict
    assert verdict.verdict == "valid" or verdict.reason
    if verdict.verdict != "valid":
        return
    certificate = json.loads(data)
    if about(certificate) in known_claims():
        return
    first = min(
        (known for known in known_claims().values() if known["kind"] == certificate["kind"]),
        key=lambda known: _differences(known, certificate),
    )
    assert mt.still_true(first, certificate), f"accepted and not confirmed: {data.decode()}"


def _differences(one: Any, other: Any) -> int:
    if isinstance(one, dict) and isinstance(other, dict):
        return sum(_differences(one.get(key), other.get(key)) for key in {*one, *other})
    if isinstance(one, list) and isinstance(other, list):
        return abs(len(one) - len(other)) + sum(map(_differences, one, other))
    return int(one != other)


def prove(data: bytes) -> None:
    """Reading a certificate for a proof, whether it is valid or not."""
    from lightningalg.render.latex import render_proof

    render_proof([read_certificate(written(data, ".json"))])


def network(data: bytes) -> None:
    """A network file; what is accepted means the same to the checker, and reads back."""
    text = data.decode("utf-8", "surrogateescape")
    found = from_toml(text)
    again = from_toml(to_toml(found))
    assert again.to_json() == found.to_json()
    try:
        parsed = verifier.parse_network(found.to_json())
    except verifier.UnsupportedError:
        return
    assert parsed.parameters() == found.parameter_count


def formula(data: bytes) -> None:
    found = Formula.parse(data.decode("utf-8", "replace"))
    found.to_latex()
    found.evaluate(dict.fromkeys(found.names, 3))


def tensor(data: bytes) -> None:
    layer = SingleLayer(2, 1, 1)
    found = read_tensor(written(data, ".json"), layer)
    if sum(x.numerator.bit_length() + x.denominator.bit_length() for x in found.values()) < 1000:
        la.tensor_membership(la.lightning((2, 1), (1,)), found)


POINT_NETWORK = la.lightning((2, 2, 1), (1, 1))


def point(suffix: str) -> Callable[[bytes], object]:
    return lambda data: read_point(written(data, suffix), POINT_NETWORK)


def table(data: bytes) -> None:
    found = Table.read(written(data, ".json"))
    if found.width * found.tokens < 100:
        zero = [[Fraction(0)] * found.tokens for _ in range(found.width)]
        found(zero)


def sweep(data: bytes) -> None:
    spec = read_spec(written(data, ".toml"))
    list(islice(spec.architectures(), 20))


IDEAL = Ideal(2, ({(1, 1): 1, (0, 0): -1}, {(2, 0): 1, (0, 1): -1}))


def engine(kind: type, method: str) -> Callable[[bytes], object]:
    """An engine whose program prints the data."""
    ideal = IDEAL

    def run(data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        given, required = child_process.run, {}
        module = __import__(kind.__module__, fromlist=["x"])
        if hasattr(module, "require_engine"):
            required["require_engine"] = module.require_engine
            module.require_engine = lambda name: Path("/bin/true")
        child_process.run = lambda *args, **options: child_process.Finished(0, text, "", 0.0, 0)  # type: ignore[assignment]
        try:
            made = kind(None)
            arguments = (ideal, MonomialOrder(2)) if method in ("raw_basis", "raw_derivation") else (ideal,)
            getattr(made, method)(*arguments)
        finally:
            child_process.run = given
            for name, value in required.items():
                setattr(module, name, value)

    return run


@cache
def flint_answers(method: str) -> list[bytes]:
    """What the embedded engine prints."""
    given, printed = child_process.run, []

    def listen(*arguments: Any, **options: Any) -> child_process.Finished:
        finished = given(*arguments, **options)
        printed.append(finished.output.encode())
        return finished

    child_process.run = listen  # type: ignore[assignment]
    try:
        getattr(FlintIdeals(None), method)(IDEAL, MonomialOrder(2))
    finally:
        child_process.run = given
    return printed


def texts(*seeds: str) -> Callable[[], list[bytes]]:
    return lambda: [seed.encode() for seed in seeds]


def files(*patterns: str) -> Callable[[], list[bytes]]:
    return lambda: [path.read_bytes() for pattern in patterns for path in sorted(ROOT.glob(pattern))]


NETWORKS = texts(
    'kind = "lightning"\nwidths = [2, 3, 2]\nranks = [1, 2]\ntokens = 2\n',
    'kind = "lightning"\nwidths = [2, 2]\nranks = [1]\nheads = 2\nresidual = true\n',
    'kind = "monomial"\nwidths = [2, 3, 1]\ndegree = 2\n',
    'kind = "normalized"\nwidths = [2, 2]\nranks = [1]\ntokens = 3\n',
    *(to_toml(network_from_table(json.loads(path.read_bytes())["network"]))
      for path in sorted((CORPUS / "valid").glob("dimension-*.json"))),
)  # fmt: skip
POINTS = [
    {
        "weights": {
            f"layer{i}": {"Q": [[1, "1/2"]], "K": [[1, 2]], "V": [[1, 0], [0, 1]][: 3 - i]} for i in (1, 2)
        }
    },
    {"virtual": {"M": [[[1, 2], [2, 4]], [[1, "2/3"], [0, 0]]], "L": [[1, 2]]}},
]
TOML_POINTS = (
    '[weights.layer1]\nQ = [[1, "1/2"]]\nK = [[1, 2]]\nV = [[1, 0], [0, 1]]\n'
    "[weights.layer2]\nQ = [[1, 0]]\nK = [[1, 2]]\nV = [[1, 1]]\n",
    '[virtual]\nM = [[[1, 2], [2, 4]], [[1, 2], [0, 0]]]\nL = [[1, "2/3"]]\n',
)
TABLES = [
    {"width": 2, "height": 1, "tokens": 1,
     "pairs": [{"input": [[0], [0]], "output": [["1/2"]]}, {"input": [[1], [0]], "output": [[2]]}]},
    {"width": 1, "height": 1, "tokens": 2, "coefficients": [[[[1, [3, 0]]], [["1/2", [1, 2]], [3, [0, 0]]]]]},
]  # fmt: skip
TENSORS = [
    {"tensor": [[[[1, 0], [0, 0]], [[0, "3/2"]]]]},
    {"coefficients": [[1, 0, 0, 0, 0], ["-2/3", 0, 0, 1, 1]]},
]
CSV = texts(
    'architecture,exponent,dimension\n"(2,3,3)",2,9\n2-4-1,3,4\n',
    "Dimension;x,architecture,dimension,exponent,note\n1,2 3 1,3,2,\n",
    '"architecture","exponent","dimension"\r\n"[2,2,2,2]","2;2",7\r\n',
)
SWEEPS = files("worksheets/sweeps/*.toml")
ANSWER = "begin answer\nx1^2-1/2*x2\n-x1*x2+1\nend answer\n"
DERIVATION = "begin answer\nelement\nx1^2-x2\n1 1\nelement\nx1-x2^2\n0 x1\n1 -x2\nend answer\n"
IDEALS = "begin answer\nideal\nx1\nx2\nideal\n1\nend answer\n"
FORMULAS = texts(
    "binomial(d + 1, 2) - 1", "2*min(a,d)*d - min(a,d)^2", "a >= d and t != 1 or not (d == 2)",
    "max(1, d*a1//2) + sum1 - (-3)^2", "d*dprime // 2 == delta*a1", "((((1))))", "-d^2^3", "1 <= a <= d < 7",
)  # fmt: skip


def documents(listed: list[Any]) -> Callable[[], list[bytes]]:
    return lambda: [json.dumps(entry).encode() for entry in listed]


ENGINE = (EngineError, UnsupportedError, InputError)
TARGETS: dict[str, Target] = {
    "certificate": Target(certificates, lambda data: read_certificate(written(data, ".json"))),
    "verifier": Target(certificates, check, ()),
    "prove": Target(certificates, prove, (LightningAlgError,)),
    "network": Target(NETWORKS, network),
    "worksheet": Target(files("worksheets/*.toml"), lambda data: read_worksheet(written(data, ".toml"))),
    "formula": Target(FORMULAS, formula),
    "tensor": Target(documents(TENSORS), tensor),
    "point-json": Target(documents(POINTS), point(".json")),
    "point-toml": Target(texts(*TOML_POINTS), point(".toml")),
    "table": Target(documents(TABLES), table, (InputError, UnsupportedError, NotANetworkError)),
    "sweep": Target(SWEEPS, sweep),
    "csv": Target(CSV, lambda data: read_published(written(data, ".csv"))),
}  # fmt: skip
PRINTED = {
    "raw_basis": (ANSWER, "// ** loaded x.lib\n" + ANSWER),
    "raw_derivation": (DERIVATION,),
    "raw_minimal_primes": (IDEALS,),
    "raw_primary_components": (IDEALS,),
    "raw_radical": (ANSWER,),
}
for _engine in (SingularIdeals, Macaulay2Ideals):
    for _method, _seeds in PRINTED.items():
        _name = f"{_engine.name}-{_method.removeprefix('raw_').replace('_', '-')}"
        TARGETS[_name] = Target(texts(*_seeds), engine(_engine, _method), ENGINE)
MSOLVE = texts("#basis\n[1*x1^2+-1/2*x2^1,\n1*x2^1]:\n")
TARGETS["msolve-basis"] = Target(MSOLVE, engine(MsolveIdeals, "raw_basis"), ENGINE)
for _method in ("raw_basis", "raw_derivation"):
    _name = f"flint-{_method.removeprefix('raw_')}"
    TARGETS[_name] = Target(partial(flint_answers, _method), engine(FlintIdeals, _method), ENGINE)
