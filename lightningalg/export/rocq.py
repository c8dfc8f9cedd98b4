"""Dimension certificates as files for Rocq (Coq): definitions, statements and proofs in one readable text.

The lower bound: the network over dual numbers, the Jacobian's minor computed by the kernel, an inverse of
it modulo the prime, and linear independence over Z by descent. The upper bound, for one small head: vector
fields along which the network does not change, checked as identities by ``ring``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from lightningalg.certificates.sampling import expand_runs, stream_values
from lightningalg.engines.choose import linear_algebra
from lightningalg.engines.residue_arrays import ResidueField
from lightningalg.errors import TooLargeError, UnsupportedError, shown
from lightningalg.maps.sampled_jacobian import SampledJacobian
from lightningalg.networks.network import INPUT, Network, Node
from lightningalg.networks.spec import network_from_table

#: largest minor: the kernel multiplies two matrices of this size, entry by entry
MAX_RANK = 60
#: parameters of a head whose symmetries are proved by ``ring``
MAX_SYMMETRY = 20

_LAYERS = ("lightning_attention", "linear", "monomial_activation", "bias", "sum")


def export_rocq(certificate: Mapping[str, Any], *, name: str = "certificate.v") -> str:
    """Return a Rocq file that proves a dimension certificate's lower bound, of a small head the upper too.

    Parameters
    ----------
    certificate
        Of kind ``dimension``, with a lower bound by the seed rule; it should have been verified.
    name
        The file's name, for its heading.

    Raises
    ------
    UnsupportedError
        For other kinds, layer types, and lower bounds without a minor modulo a prime.
    TooLargeError
        For minors larger than 60 x 60.

    References
    ----------
    FORMAT.md sections 3 and 4.

    Examples
    --------
    >>> import lightningalg as la
    >>> text = export_rocq(la.dimension(la.lightning((2, 1), (1,))).certificate.to_json())
    >>> text.count("Theorem field_"), "Theorem functionals_are_independent" in text
    (2, True)
    """
    network, lower = _subject(certificate)
    prime, seed = lower["prime"], lower["sampling"]["seed"]
    rows, columns = expand_runs(lower["rows"]), expand_runs(lower["columns"])
    theta = stream_values(seed, "parameters", network.parameter_count, prime)
    jacobian = SampledJacobian(network, ResidueField(prime), seed)
    minor = jacobian.rows(rows, np.array(columns))
    fields = _head_fields(network, prime, theta)

    def values(kind: str, sample: int, height: int) -> str:
        t = network.tokens
        return _matrix(stream_values(seed, f"{kind}/{sample}", height * t, prime), t)

    return (
        _environment()
        .get_template("certificate.v.j2")
        .render(
            title=_comment(f"{network}: the dimension of its neuromanifold"),
            sha256=_comment(str(certificate["sha256"])),
            file=_comment(name),
            seed=_comment(seed),
            independence=_text("independence.v"),
            networks=_text("networks.v"),
            n=network.parameter_count,
            r=len(rows),
            prime=prime,
            body=_body(network),
            theta=theta,
            columns=columns,
            inputs=[
                _matrix(
                    stream_values(seed, f"input/{j}", network.width * network.tokens, prime), network.tokens
                )
                for j in rows
            ],
            functionals=[
                _matrix(
                    stream_values(seed, f"functional/{j}", network.output_width * network.tokens, prime),
                    network.tokens,
                )
                for j in rows
            ],
            inverse=_inverse(minor, prime),
            **fields,
        )
    )


def _subject(certificate: Mapping[str, Any]) -> tuple[Network, Mapping[str, Any]]:
    """Return the network and the lower bound of a certificate that can be exported."""
    if certificate.get("kind") != "dimension":
        raise UnsupportedError(
            f"kind {shown(certificate.get('kind'), 40)!r} cannot be exported; accepted is dimension"
        )
    lower = certificate["witness"]["lower_bound"]
    if lower is None:
        raise UnsupportedError("the certificate has no lower bound")
    network = network_from_table(certificate["network"])
    other = [node.layer.type_name for node in network.nodes if node.layer.type_name not in _LAYERS]
    if other:
        raise UnsupportedError(
            f"layers of type {other[0]} cannot be exported; accepted are {', '.join(_LAYERS)}"
        )
    if "sampling" not in lower or lower["sampling"].get("rule") != "sha256-counter" or "exponents" in lower:
        raise UnsupportedError("the lower bound is not a minor by the seed rule")
    if lower["value"] > MAX_RANK:
        raise TooLargeError(f"a minor of size {lower['value']}: accepted are at most {MAX_RANK}")
    return network, lower


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("lightningalg.export", "templates"), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, autoescape=False,
    )  # fmt: skip


@cache
def _text(name: str) -> str:
    return files("lightningalg.export").joinpath("templates", name).read_text("utf-8")


def _comment(text: str) -> str:
    """Return text that cannot end a comment."""
    return "".join(c if c.isalnum() or c in " .,:-_/+" else "?" for c in text)


def _matrix(values: Sequence[object], columns: int) -> str:
    rows = [values[i : i + columns] for i in range(0, len(values), columns)]
    return "[" + "; ".join("[" + "; ".join(map(str, row)) + "]" for row in rows) + "]"


def _inverse(minor: np.ndarray, prime: int) -> list[list[int]]:
    """Return the inverse of a matrix modulo a prime."""
    size = len(minor)
    engine, _ = linear_algebra(size, size)
    identity = np.eye(size, dtype=np.int64)
    found = engine.solve(minor, identity, prime)
    assert found is not None, "the minor of a verified certificate is not zero"
    return [[int(x) for x in row] for row in found]


# -- the network as Gallina --------------------------------------------------------------------


def _body(network: Network) -> list[str]:
    """Return the lines of the definition of the network: one for each layer."""
    lines = [
        f"let {_matrix_name(block.node, block.name, network)} := "
        f"parameter_matrix {block.offset} {block.shape[0]} {block.shape[1]} theta in"
        for block in network.parameter_blocks
    ]
    values = {INPUT: "X"}
    for number, node in enumerate(network.nodes, start=1):
        values[node.id] = f"X{number}"
        lines.append(f"let X{number} := {_value(node, values, network)} in")
    return [*lines, f"{values[network.output]}."]


def _matrix_name(node: str, name: str, network: Network) -> str:
    number = next(i for i, other in enumerate(network.nodes, start=1) if other.id == node)
    return f"{name}{number}"


def _value(node: Node, values: Mapping[str, str], network: Network) -> str:
    """Return the application that computes a layer's value."""
    owner = node.weights or node.id
    inputs = [values[name] for name in node.inputs]
    shapes = node.layer.parameter_shapes()
    matrices = " ".join(_matrix_name(owner, name, network) for name in shapes)
    kind = node.layer.type_name
    if kind == "lightning_attention":
        return f"attention {network.tokens} {matrices} {inputs[0]}"
    if kind == "linear":
        return f"linear {network.tokens} {matrices} {inputs[0]}"
    if kind == "bias":
        return f"add_bias {matrices} {inputs[0]}"
    if kind == "monomial_activation":
        return f"activation {node.layer.sizes()['degree']} {inputs[0]}"
    value = inputs[0]
    for other in inputs[1:]:
        value = f"add_matrices ({value}) {other}"
    return value


# -- symmetries of one head --------------------------------------------------------------------


def _head_fields(network: Network, prime: int, theta: Sequence[int]) -> dict[str, Any]:
    """Return the fields of a single small head, as texts, with what the file needs to check them.

    GL_a: dQ = E Q and dK = -E^T K for every unit matrix E; and the scaling dQ = Q, dV = -V.
    """
    empty: dict[str, Any] = {"fields": [], "variables": [], "entries": []}
    (node, *more) = network.nodes
    if more or node.layer.type_name != "lightning_attention" or network.parameter_count > MAX_SYMMETRY:
        return empty
    fields = _fields(node.layer.sizes())
    values = np.array([[_at(entry, theta) % prime for entry in field] for field in fields], dtype=np.int64)
    profile = linear_algebra(*values.shape)[0].rank_profile(values, prime)
    chosen = [fields[j] for j in profile.rows]
    square = values[np.ix_(list(profile.rows), list(profile.columns))]
    names = [f"q{i}" for i in range(network.parameter_count)]
    t = network.tokens
    entries = [f"x{i}" for i in range(network.width * t)]
    zeros = "[" + "; ".join(["0"] * t) + "]"
    return {
        "fields": [[_spelled(entry, names) for entry in field] for field in chosen],
        "variables": names,
        "entries": entries,
        "symbolic": _matrix(entries, t),
        "zero": "[" + "; ".join([zeros] * network.output_width) + "]",
        "places": list(profile.columns),
        "field_inverse": _inverse(square, prime),
    }


#: sign and number of a parameter; ``None``: zero
Entry = tuple[int, int] | None


def _fields(sizes: Mapping[str, int]) -> list[list[Entry]]:
    d, e, a = sizes["d_in"], sizes["d_out"], sizes["rank"]
    count = 2 * a * d + e * d
    fields: list[list[Entry]] = []
    for i in range(a):
        for j in range(a):
            field: list[Entry] = [None] * count
            for c in range(d):
                field[i * d + c] = (1, j * d + c)  # (E Q)_ic = Q_jc
                field[a * d + j * d + c] = (-1, a * d + i * d + c)  # -(E^T K)_jc = -K_ic
            fields.append(field)
    scaling: list[Entry] = [(1, k) if k < a * d else None if k < 2 * a * d else (-1, k) for k in range(count)]
    return [*fields, scaling]


def _at(entry: Entry, theta: Sequence[int]) -> int:
    return 0 if entry is None else entry[0] * theta[entry[1]]


def _spelled(entry: Entry, names: Sequence[str]) -> str:
    if entry is None:
        return "0"
    return names[entry[1]] if entry[0] > 0 else f"- {names[entry[1]]}"
