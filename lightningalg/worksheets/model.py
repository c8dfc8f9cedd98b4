"""Worksheets as data: prose and claims, every claim with its instances. Read from TOML, never evaluated."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from lightningalg.arguments import file_path, only
from lightningalg.certificates.files import read_json, read_text
from lightningalg.certificates.records import sha256_of
from lightningalg.claims import AbstractClaim, claim_kinds
from lightningalg.errors import InputError
from lightningalg.networks.base import shown
from lightningalg.networks.families import family
from lightningalg.networks.network import Network
from lightningalg.networks.spec import network_from_table, parse_toml
from lightningalg.worksheets.fields import (
    condition,
    in_field,
    integer,
    integer_range,
    list_of,
    text_of,
    variable,
)
from lightningalg.worksheets.formula import Formula
from lightningalg.worksheets.templates import substitute
from lightningalg.worksheets.translations import TRANSLATIONS, Words, translations_of

MAX_BYTES = 4 * 2**20
MAX_INSTANCES = 100_000
_MAX_NAME = 100
_MAX_PATH = 500
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_KEY = re.compile(r"[^/\x00-\x1f]{1,100}/[A-Za-z0-9][A-Za-z0-9_-]{0,63}")

_WORKSHEET_FIELDS = {"title", "source", "prose", "claim", *TRANSLATIONS}
_CLAIM_FIELDS = {
    "id", "kind", "title", "statement", "source", "prose", "hypotheses", "expected", "check", "relation",
    "uses", "network", "grid", "where", "instances", "verdict", "counterexamples", "paper",
    *TRANSLATIONS,
}  # fmt: skip
#: what a claim may declare as its outcome; without a declaration the first two are wanted
VERDICTS = ("certified", "certified with hypotheses", "refuted", "open")
_IDENTITY_FIELDS = ("scalars", "symbols", "definitions", "left", "right")
_NETWORK_FIELDS = {"expected", "network", "grid", "where", "instances"}


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A hypothesis of a claim; with ``check`` it is tested on every instance."""

    text: str
    check: Formula | None = None


@dataclass(frozen=True, slots=True)
class Instance:
    """One case of a claim.

    Attributes
    ----------
    name
        Short and unique within the claim; also the file name of its certificate.
    table
        The network's JSON description, or the identity's table.
    variables
        Integers that formulas may name: the grid's, and ``tokens``, ``layers``, ``d0``, ``a1``, ...
    expected
        What the claim says, if it says a number.
    """

    name: str
    table: Mapping[str, Any]
    variables: Mapping[str, int] = field(default_factory=dict)
    expected: int | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement with its instances, as the worksheet gives it; ``uses``: the claims that it rests on.

    ``declared`` is the verdict that the worksheet documents: a statement of the literature may be refuted,
    and the worksheet shows by which instances. ``""``: it is to be certified. ``counterexamples`` is the
    number of refuted instances, where the worksheet says it. ``paper``: the ids of the statements (in
    ``worksheets/paper/statements.toml``) that it settles. ``template``: its network, with formulas for sizes.
    """

    id: str
    kind: str
    title: str
    statement: str
    source: str
    prose: str
    hypotheses: tuple[Hypothesis, ...]
    expected: str
    check: Formula | None
    differs: bool
    instances: tuple[Instance, ...]
    uses: tuple[str, ...] = ()
    declared: str = ""
    counterexamples: int | None = None
    translations: Mapping[str, Words] = field(default_factory=dict)
    paper: tuple[str, ...] = ()
    template: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Worksheet:
    """A worksheet: its name (the file's), title, source, prose and claims."""

    name: str
    path: Path
    title: str
    source: str
    prose: str
    claims: tuple[Claim, ...]
    translations: Mapping[str, Words] = field(default_factory=dict)


def read_worksheet(path: str | Path) -> Worksheet:
    """Return the worksheet in a TOML file.

    Raises
    ------
    InputError
        Naming the file, the claim and the field, and what is accepted.

    References
    ----------
    README, "Own claims"; ``worksheets/*.toml``.

    Examples
    --------
    >>> from lightningalg.worksheets.library import find_worksheets
    >>> read_worksheet(find_worksheets(["single-layer"])[0]).claims[0].kind
    'degrees'
    """
    path = file_path(path, "worksheet")
    text = read_text(path, what="worksheet", max_bytes=MAX_BYTES)
    try:
        return _worksheet(parse_toml(text), path)
    except InputError as error:
        raise InputError(f"worksheet {path}: {error}") from None


def _worksheet(table: Mapping[str, Any], path: Path) -> Worksheet:
    if not path.stem.strip("."):  # "..": results would leave their folder
        raise InputError("its file name has only dots; accepted is any other")
    only(table, _WORKSHEET_FIELDS, "a worksheet")
    claims = table.get("claim")
    if not isinstance(claims, list) or not claims:
        raise InputError("it has no claims: write one or more [[claim]] tables")
    parsed = tuple(_claim(claim, number, path.parent) for number, claim in enumerate(claims, start=1))
    repeated = _repeated([claim.id for claim in parsed])
    if repeated is not None:
        raise InputError(f'claim id "{repeated}" occurs twice')
    title = text_of(table, "title", default=path.stem)
    texts = text_of(table, "source"), text_of(table, "prose")
    return Worksheet(path.stem, path, title, *texts, parsed, translations_of(table))


def _claim(table: Any, number: int, folder: Path) -> Claim:
    if not isinstance(table, Mapping):
        raise InputError(f"claim number {number} must be a table, written [[claim]]")
    name = table.get("id")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise InputError(f'claim number {number}: "id" must be 1 to 64 letters, digits, "-", "_"')
    try:
        return _claim_body(table, name, folder)
    except InputError as error:
        raise InputError(f'claim "{name}": {error}') from None


def _claim_body(table: Mapping[str, Any], name: str, folder: Path) -> Claim:
    kinds = claim_kinds()
    kind = table.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise InputError(f"kind {shown(kind)!r} is unknown: accepted are {', '.join(sorted(kinds))}")
    about = kinds[kind]
    on_identity = about.subject == "identity"
    accepted = _CLAIM_FIELDS - _NETWORK_FIELDS | set(_IDENTITY_FIELDS) if on_identity else _CLAIM_FIELDS
    only(table, accepted, "it")
    relation = table.get("relation", "equals")
    if relation not in ("equals", "differs"):
        raise InputError(f'"relation" is {shown(relation, 40)!r}: accepted are "equals" and "differs"')
    check = condition(table, "check")
    hypotheses = tuple(_hypothesis(entry) for entry in list_of(table, "hypotheses"))
    instances = tuple(_identity(table, name) if on_identity else _instances(table, folder))
    if not instances:
        raise InputError("it has no instances")
    if relation == "differs" and check is None and any(case.expected is None for case in instances):
        raise InputError('"relation" is "differs", but from what? give "expected" or "check"')
    _check_names(instances, about, check, hypotheses)
    return Claim(
        name, kind, text_of(table, "title", default=name), text_of(table, "statement"),
        text_of(table, "source"), text_of(table, "prose"), hypotheses, shown(table.get("expected", ""), 2000),
        check, relation == "differs", instances, _uses(table), *_declared(table, len(instances)),
        translations=translations_of(table, len(hypotheses)), paper=_paper(table),
        template=table.get("network"),
    )  # fmt: skip


def _uses(table: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the claims that the text of this one rests on."""
    names = list_of(table, "uses")
    for name in names:
        if not isinstance(name, str) or not _KEY.fullmatch(name):
            raise InputError(f'"uses" has {shown(name, 40)!r}: accepted are texts "worksheet/claim"')
    return tuple(names)


def _paper(table: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the statements of the paper that a claim settles."""
    names = list_of(table, "paper")
    for name in names:
        if not isinstance(name, str) or not _ID.fullmatch(name):
            raise InputError(f'"paper" has {shown(name, 40)!r}: accepted are ids of statements')
    return tuple(names)


def _declared(table: Mapping[str, Any], instances: int) -> tuple[str, int | None]:
    """Return the verdict that a claim declares, and how many instances it says are refuted."""
    verdict, count = table.get("verdict", ""), table.get("counterexamples")
    if verdict not in ("", *VERDICTS) or ("verdict" in table and not verdict):
        raise InputError(f'"verdict" is {shown(verdict, 40)!r}: accepted are {", ".join(VERDICTS)}')
    if count is not None:
        if verdict != "refuted":
            raise InputError(
                '"counterexamples" counts the refuted instances of a claim with verdict = "refuted"'
            )
        if integer(count, "counterexamples") not in range(1, instances + 1):
            raise InputError(f'"counterexamples" is {shown(count, 40)}: accepted are 1 to {instances}')
    return verdict, count


def _check_names(
    instances: Sequence[Instance],
    about: AbstractClaim,
    check: Formula | None,
    hypotheses: Sequence[Hypothesis],
) -> None:
    """Find unknown names, repeated instances and violated hypotheses before anything is computed."""
    repeated = _repeated([instance.name for instance in instances])
    if repeated is not None:
        raise InputError(f'instance "{repeated}" occurs twice')
    for instance in instances:
        hidden = sorted(set(instance.variables) & set(about.quantities_known))
        if hidden:
            raise InputError(f"a variable cannot be named {hidden[0]!r}: that is what certificates prove")
        known = set(instance.variables) | set(about.quantities_known)
        unknown = sorted((check.names if check else frozenset()) - known)
        if unknown:
            raise InputError(
                f'"check" names {shown(unknown[0])!r}: known here are {shown(", ".join(sorted(known)), 600)}'
            )
        for hypothesis in hypotheses:
            if hypothesis.check is None:
                continue
            with in_field("hypotheses"):
                holds = hypothesis.check.evaluate(instance.variables)
            if not holds:
                raise InputError(
                    f'instance "{instance.name}" violates the hypothesis "{shown(hypothesis.text, 200)}"'
                )


def _repeated(names: Sequence[str]) -> str | None:
    """Return a name that occurs more than once."""
    return next((name for name, count in Counter(names).items() if count > 1), None)


def _hypothesis(entry: Any) -> Hypothesis:
    if isinstance(entry, str):
        return Hypothesis(entry)
    if isinstance(entry, Mapping) and set(entry) <= {"text", "check"} and "text" in entry:
        with in_field("hypotheses"):
            return Hypothesis(text_of(entry, "text"), condition(entry, "check"))
    raise InputError('"hypotheses" must be texts, or tables with "text" and "check"')


def _identity(table: Mapping[str, Any], name: str) -> Iterator[Instance]:
    for key in ("symbols", "left", "right"):
        if key not in table:
            raise InputError(f'a matrix identity needs "{key}"')
    yield Instance(name, {"name": name, **{key: table[key] for key in _IDENTITY_FIELDS if key in table}})


# -- instances of network claims ----------------------------------------------


def _instances(table: Mapping[str, Any], folder: Path) -> Iterator[Instance]:
    template = table.get("network")
    if template is not None and not isinstance(template, Mapping):
        raise InputError('"network" must be a table')
    if "grid" in table and "instances" in table:
        raise InputError('give "grid" or "instances", not both')
    for case in _cases(table):
        values = dict(case)
        expected = values.pop("expected", table.get("expected"))
        yield _instance(template, values, expected, folder)


def _cases(table: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the variables of each grid point, each listed instance, or one empty case."""
    if "grid" in table:
        grid = table["grid"]
        if not isinstance(grid, Mapping) or not grid:
            raise InputError('"grid" must be a table of ranges, such as d = "1..5"')
        ranges = {variable(name): integer_range(values, name) for name, values in grid.items()}
        total = 1
        for values in ranges.values():
            total *= len(values)
        if total > MAX_INSTANCES:
            raise InputError(f"the grid has {total} points; accepted are at most {MAX_INSTANCES}")
        where = condition(table, "where")
        for point in product(*ranges.values()):
            case = dict(zip(ranges, point, strict=True))
            with in_field("where"):
                taken = where is None or where.evaluate(case)
            if taken:
                yield case
        return
    if "where" in table:
        raise InputError('"where" selects points of a "grid"')
    cases = list_of(table, "instances") if "instances" in table else [{}]
    if len(cases) > MAX_INSTANCES:
        raise InputError(f"{len(cases)} instances; accepted are at most {MAX_INSTANCES}")
    for case in cases:
        if not isinstance(case, Mapping):
            raise InputError('"instances" must be a list of tables')
        yield case


def _instance(
    template: Mapping[str, Any] | None, values: dict[str, Any], expected: Any, folder: Path
) -> Instance:
    if template is None:
        network_table: Mapping[str, Any] = values
        own: dict[str, int] = {}
    else:
        own = {variable(name): integer(value, name) for name, value in values.items()}
        network_table = substitute(template, own)
    network = _network(network_table, folder)
    standard = standard_variables(network)
    for key, value in own.items():
        if standard.get(key, value) != value:
            raise InputError(f"variable {key} is {shown(value)}, but the network has {key} = {standard[key]}")
    variables = {**standard, **own}
    name = (
        "_".join(f"{key}{value}" for key, value in own.items()) if own else _name_of(network_table, network)
    )
    if len(name) > _MAX_NAME:  # it is a file name
        name = f"{name[:80]}-{sha256_of([network.to_json(), own])[:8]}"
    with in_field("expected"):
        return Instance(name, network.to_json(), variables, _expected(expected, variables))


def _network(table: Mapping[str, Any], folder: Path) -> Network:
    if "transformer_config" in table:
        from lightningalg.builders import transformer

        only(table, {"transformer_config", "tokens"}, "a network from a transformer's configuration")
        name = text_of(table, "transformer_config")
        if len(name) > _MAX_PATH:
            raise InputError(f'"transformer_config" has {len(name)} characters, more than {_MAX_PATH}')
        path = folder / name
        try:
            inside = path.resolve().is_relative_to(folder.resolve())
        except (OSError, RuntimeError, ValueError):  # a loop of links, a zero byte
            raise InputError(f'"transformer_config" {path} is no file') from None
        if not inside:
            raise InputError(f'"transformer_config" {path} is outside the worksheet\'s folder')
        config = read_json(path, what="transformer config", integers_only=False)
        if not isinstance(config, Mapping):
            raise InputError(f"transformer config {path}: an object is expected")
        return transformer(config, tokens=table.get("tokens", 2))
    return network_from_table(table)


def standard_variables(network: Network) -> dict[str, int]:
    """Return ``tokens``, ``layers``, ``hidden`` (sum of hidden widths), ``d0``, ..., ``a1``, ...

    Examples
    --------
    >>> import lightningalg as la
    >>> found = standard_variables(la.lightning((4, 2, 4), (2, 1)))
    >>> found["layers"], found["hidden"], found["d1"], found["a2"]
    (2, 2, 2, 1)
    """
    standard = family(network)
    if standard is None:
        return {"tokens": network.tokens}
    found = {
        "tokens": network.tokens,
        "layers": len(standard.widths) - 1,
        "hidden": sum(standard.widths[1:-1]),
    }
    found |= {f"d{i}": d for i, d in enumerate(standard.widths)}
    found |= {f"a{i}": a for i, a in enumerate(standard.ranks, start=1)}
    return found


def _name_of(table: Mapping[str, Any], network: Network) -> str:
    if "transformer_config" in table:
        return Path(str(table["transformer_config"])).stem
    text = str(network).replace(", ", "_").replace(" ", "").replace(",", "-")
    return re.sub(r"[^A-Za-z0-9_.-]", "", text)


def _expected(value: Any, variables: Mapping[str, int]) -> int | None:
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return integer(value, "it")
    if not isinstance(value, str):
        raise InputError(f"it is {shown(value, 40)!r}; accepted are integers and formulas")
    formula = Formula.parse(value)
    if formula.is_condition:
        raise InputError('a comparison is for "check"; accepted are integers and formulas')
    return formula.evaluate(variables)
