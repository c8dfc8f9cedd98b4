"""Dimension certificates as files for Rocq (Coq): definitions, statements and proofs in one readable text.

Lower bound: the gradients of as many output entries at one integer point are linearly independent. They are
computed by the kernel over dual numbers, with an inverse of a minor modulo a prime, and descent. Upper bound:
vector fields along which the network does not change, seen by a checker that is a program of the file, proved
correct there, and run by the kernel; so at every point any more gradients than n minus their number are
dependent. Where an output fills its space of polynomials: the number of its coefficients.

The file does not follow the certificate's own argument for the upper bound: fields are searched for here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from lightningalg.errors import EngineAnswerError, TooLargeError, UnsupportedError, shown
from lightningalg.export.coefficients import CoefficientSpan, coefficient_span
from lightningalg.export.cost import is_deep, predicted_seconds
from lightningalg.export.fields import ProvedField, independent_at, proved_fields, why_no_search
from lightningalg.export.gallina import (
    LAYERS,
    body,
    checked_field,
    comment,
    description,
    listed,
    matrix,
    polynomial,
)
from lightningalg.export.minors import PRIMES, SmallMinor, inverse_modulo, small_jacobians, small_minor
from lightningalg.networks.network import Network
from lightningalg.networks.spec import network_from_table

#: largest minor, and the predicted seconds of ``coqc`` up to which a file is written
MAX_RANK = 400
MAX_SECONDS = 600.0
#: parameters: natural numbers of Rocq are as long as they are large
MAX_PARAMETERS = 20_000

#: the theory that each method for the upper bound needs, after the definition of networks
_LOWER = ("description", "independence", "minor")
_FORMS = (*_LOWER, "symmetry", "symmetry_values", "symmetry_layers", "symmetry_proof")
THEORY_PARTS = {
    "parameters": _LOWER,
    "fields": (*_FORMS, "dependence", "everywhere", "modulo"),
    "coefficients": (*_FORMS, "expansion"),
}

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class RocqFile:
    """A file for Rocq and what it proves.

    Attributes
    ----------
    text
        Its text.
    at_least, at_most
        The bounds of the dimension that are theorems of the file; ``at_least`` is ``None`` where the
        certificate has no lower bound.
    method
        Of the upper bound: ``fields``, ``coefficients`` or ``parameters``.
    fields
        Number of vector fields; 0 for the other methods.
    missing
        What of the certificate's claim the file does not prove, and why; ``None`` if it proves all of it.
    seconds
        Predicted time of ``coqc``, within a factor of two or three.
    """

    text: str
    at_least: int | None
    at_most: int
    method: str
    fields: int
    missing: str | None
    seconds: float


@dataclass(frozen=True, slots=True)
class _Upper:
    """An upper bound: vector fields, or coefficients that span all, or (neither) the number of parameters."""

    value: int
    #: how many fields were found, also where coefficients do better
    found: int
    fields: list[ProvedField]
    span: CoefficientSpan | None = None
    #: what is known of the coefficients of the output
    coefficients: str = ""

    @property
    def method(self) -> str:
        return "coefficients" if self.span is not None else "fields" if self.fields else "parameters"


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What the kernel computes with: a point, a minor there, and a minor of the fields' values there."""

    point: tuple[int, ...]
    minor: SmallMinor | None
    places: tuple[int, ...]
    prime: int
    inverse: tuple[tuple[int, ...], ...]


def export_rocq(certificate: Mapping[str, Any], *, name: str = "certificate.v") -> str:
    """Return a Rocq file that proves the bounds of a dimension certificate; see ``rocq_file``.

    Parameters
    ----------
    certificate
        Of kind ``dimension``; it should have been verified.
    name
        The file's name, for its heading.

    Examples
    --------
    >>> import lightningalg as la
    >>> text = export_rocq(la.dimension(la.lightning((2, 1), (1,))).certificate.to_json())
    >>> "Theorem dimension_is_at_least" in text, "Theorem dimension_is_at_most" in text
    (True, True)
    """
    return rocq_file(certificate, name=name).text


def rocq_file(
    certificate: Mapping[str, Any],
    *,
    name: str = "certificate.v",
    progress: Progress = lambda message: None,
) -> RocqFile:
    """Return a Rocq file for a dimension certificate, with what it proves.

    The lower bound is the certificate's. The upper bound is, whichever method the certificate used, n minus
    the number of independent vector fields that are found, or the number of coefficients of the output; where
    neither reaches the certificate's, the file proves a weaker upper bound, and ``missing`` says so.

    Parameters
    ----------
    certificate
        Of kind ``dimension``; it should have been verified.
    name
        The file's name, for its heading.
    progress
        Told what is being done.

    Raises
    ------
    UnsupportedError
        For other kinds, and for layer types without a definition in Rocq.
    TooLargeError
        For more than 20,000 parameters, minors larger than 400 x 400, and where ``coqc`` is predicted to
        take more than ten minutes.

    References
    ----------
    FORMAT.md section 4; section 4.2, method ``symmetry``.

    Examples
    --------
    >>> import lightningalg as la
    >>> file = rocq_file(la.dimension(la.lightning((3, 2, 3), (2, 2))).certificate.to_json())
    >>> file.at_least, file.at_most, file.fields, file.missing
    (18, 18, 14, None)
    """
    network, lower, upper = _subject(certificate)
    bound = _upper_bound(network, upper if upper is not None else lower or 0, progress)
    progress("a point of small integers where the minor is invertible")
    evidence = _evidence(network, lower, bound.fields)
    missing = None
    if upper is not None and bound.value > upper:
        missing = _missing(network, upper, bound)
    text = _render(certificate, name, network, lower, bound, evidence, missing)
    seconds = predicted_seconds(network, evidence.minor, len(text), modulo=bound.method == "fields")
    if seconds > MAX_SECONDS:
        raise TooLargeError(
            f"coqc is predicted to take {seconds:,.0f} s for this file: accepted are {MAX_SECONDS:,.0f}"
        )
    return RocqFile(text, lower, bound.value, bound.method, len(bound.fields), missing, seconds)


def _upper_bound(network: Network, wanted: int, progress: Progress) -> _Upper:
    """Return the best upper bound that is found; the search ends at the wanted one."""
    n = network.parameter_count
    fields = proved_fields(network, n - wanted, progress=progress)
    if n - len(fields) > wanted:
        progress("coefficients of the output")
        span = coefficient_span(network, n - len(fields) - 1)
        if isinstance(span, str):
            return _Upper(n - len(fields), len(fields), fields, coefficients=span)
        words = f"the coefficients of the output span {len(span.basis)} dimensions"
        return _Upper(len(span.basis), len(fields), [], span, words)
    return _Upper(n - len(fields), len(fields), fields)


def _subject(certificate: Mapping[str, Any]) -> tuple[Network, int | None, int | None]:
    """Return the network and the bounds of a certificate that can be exported."""
    if certificate.get("kind") != "dimension":
        raise UnsupportedError(
            f"kind {shown(certificate.get('kind'), 40)!r} cannot be exported; accepted is dimension"
        )
    network = network_from_table(certificate["network"])
    other = [node.layer.type_name for node in network.nodes if node.layer.type_name not in LAYERS]
    if other:
        raise UnsupportedError(
            f"layers of type {other[0]} cannot be exported; accepted are {', '.join(LAYERS)}"
        )
    if network.parameter_count > MAX_PARAMETERS:
        raise TooLargeError(
            f"{network.parameter_count:,} parameters: accepted are at most {MAX_PARAMETERS:,}"
        )
    lower, upper = (
        None if bound is None else int(bound["value"])
        for bound in (certificate["witness"][side] for side in ("lower_bound", "upper_bound"))
    )
    if lower is not None and lower > MAX_RANK:
        raise TooLargeError(f"a minor of size {lower}: accepted are at most {MAX_RANK}")
    return network, lower, upper


def _missing(network: Network, upper: int, bound: _Upper) -> str:
    kernel = network.parameter_count - upper
    not_searched = None if bound.found else why_no_search(network)
    if not_searched is not None:
        fields = f"no vector fields were searched ({not_searched})"
    else:
        found = f"that were found span {bound.found} of the {kernel}"
        fields = f"the vector fields {found} dimensions of the kernel of the Jacobian"
    return f"dimension at most {upper}: {fields}, and {bound.coefficients}"


def _evidence(network: Network, rank: int | None, fields: list[ProvedField]) -> _Evidence:
    """Return a point of small integers with a minor and values of the fields that are independent there."""
    for jacobian in small_jacobians(network):
        minor = small_minor(jacobian, rank) if rank else None
        if rank and minor is None:
            continue
        point = tuple(jacobian.integers)
        for prime in PRIMES:
            found = _independence(fields, point, prime)
            if found is not None:
                return _Evidence(point, minor, found[0], prime, found[1])
    raise EngineAnswerError(f"{network}: no point with a minor of size {rank}: please report this")


def _independence(
    fields: list[ProvedField], point: tuple[int, ...], prime: int
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]] | None:
    """Return columns where the fields' values are invertible modulo a prime, and the inverse."""
    if not fields:
        return (), ()
    found = independent_at(fields, point, prime)
    if found is None:
        return None
    values, columns = found
    inverse = inverse_modulo(values[:, list(columns)], prime)
    return None if inverse is None else (columns, inverse)


def _render(
    certificate: Mapping[str, Any],
    name: str,
    network: Network,
    lower: int | None,
    upper: _Upper,
    evidence: _Evidence,
    missing: str | None,
) -> str:
    nodes, output = description(network)
    minor = evidence.minor
    span = upper.span or CoefficientSpan((), ())
    parts = THEORY_PARTS[upper.method]
    return (
        _environment()
        .get_template("certificate.v.j2")
        .render(
            theory={part: _text(f"{part}.v") for part in ("networks", *parts)},
            parts=parts,
            title=comment(f"{network}: the dimension of its neuromanifold"),
            sha256=comment(str(certificate["sha256"])),
            file=comment(name),
            missing=None if missing is None else comment(missing),
            n=network.parameter_count,
            width=network.width,
            height=network.output_width,
            t=network.tokens,
            body=body(network),
            nodes=nodes,
            output=output,
            lower=lower,
            at_most=upper.value,
            method=upper.method,
            theta=evidence.point,
            minor=minor,
            modulo=upper.method == "fields" and minor is not None and is_deep(network, minor),
            samples=[] if minor is None else _samples(minor, network.tokens),
            inverse_columns=[] if minor is None else _columns(minor.inverse),
            fields=[checked_field(field, network) for field in upper.fields],
            places=evidence.places,
            fields_prime=evidence.prime,
            fields_inverse_columns=_columns(evidence.inverse),
            coefficients=[polynomial(p) for p in span.basis],
            combinations=[[polynomial(q) for q in row] for row in span.table],
        )
    )


def _samples(minor: SmallMinor, tokens: int) -> list[str]:
    """Return the inputs with the places (row, token) of the output entries."""
    return [
        f"({matrix(X, tokens)}, {listed(f'({j // tokens}, {j % tokens})' for j in entries)}%nat)"
        for X, entries in minor.samples
    ]


def _columns(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    return [list(column) for column in zip(*rows, strict=True)]


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("lightningalg.export", "templates"), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, autoescape=False,
    )  # fmt: skip


@cache
def _text(name: str) -> str:
    return files("lightningalg.export").joinpath("templates", name).read_text("utf-8")
