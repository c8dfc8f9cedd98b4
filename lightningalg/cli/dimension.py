"""``lightningalg dimension``: two-sided exact dimension."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lightningalg.cli.options import Finite, Progress, echo_json, network_from_options, network_options
from lightningalg.errors import one_line

if TYPE_CHECKING:
    from lightningalg.claims.dimension import Dimension

_ARGUMENTS = {
    "flag": "factorisation through flags of subspaces and the torus of scalings",
    "normalized-flag": "factorisation through flags of subspaces",
    "normalized-stages": "the function spaces of the stages and the groups between them",
    "linear": "matrices of bounded rank",
    "layerwise": "the function spaces of the layers",
    "coefficients": "the number of coefficients",
    "torus": "rescaling around the activations",
    "composition": "segments whose function spaces are known, and the groups between them",
    "parameters": "the number of parameters",
    "symmetry": "vector fields that leave the map unchanged",
}


@click.command(
    "dimension",
    epilog="Exit code: 0 if the bounds meet, 1 if they differ, 2 for bad input.",
)
@network_options
@click.option("--out", metavar="CERT.json", help="Write the certificate to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
@click.option("--seed", default="0", show_default=True, help="Decides point, inputs and functionals.")
@click.option("--prime", type=int, help="Odd prime below 2^23 (default 8388593).")
@click.option("--primes", type=click.IntRange(1, 100), default=1, show_default=True,
              help="How many primes to try while the bounds differ.")  # fmt: skip
@click.option("--engine", default="auto", show_default=True, help="Elimination: auto, flint or blocked.")
@click.option("--lower-bound", default="auto", show_default=True, metavar="METHOD",
              help="auto, minor or exponential (modulo a prime), or ball (interval arithmetic).")  # fmt: skip
@click.option("--max-memory", type=Finite(min=0.001), default=4.0, show_default=True,
              metavar="GiB", help="Refuse, before it starts, what needs more.")  # fmt: skip
def command(
    out: str | None,
    as_json: bool,
    seed: str,
    prime: int | None,
    primes: int,
    engine: str,
    lower_bound: str,
    max_memory: float,
    **network_flags: Any,
) -> int:
    """Dimension of the neuromanifold between two proved bounds.

    The lower bound is a minor of the Jacobian that is not zero modulo a prime, or that ball arithmetic
    separates from zero; the upper bound a factorisation or a symmetry. Where they meet the dimension is
    certified; otherwise both are shown and the dimension is unknown.

    \b
    Examples:
      lightningalg dimension --widths 4,3,2,4 --ranks 2,2,2 --tokens 2
      lightningalg dimension --widths 3,3,3 --ranks 2,2 --residual --out cert.json
      lightningalg dimension --kind normalized --widths 3,3,3 --ranks 1,3
      lightningalg dimension --kind normalized --widths 3,3,3 --ranks 1,3 --lower-bound ball
      lightningalg dimension --kind monomial --widths 2,4,5,4 --degree 2 --json
      lightningalg dimension --network net.toml
    """
    network = network_from_options(**network_flags)
    from lightningalg.certificates.files import write_atomically
    from lightningalg.claims.dimension import dimension
    from lightningalg.engines.residue_arrays import DEFAULT_PRIME

    result = dimension(
        network,
        seed=seed,
        prime=DEFAULT_PRIME if prime is None else prime,
        primes=primes,
        engine=engine,
        lower_bound=lower_bound,
        max_memory=max_memory,
        progress=Progress(),
    )
    if out is not None:
        write_atomically(Path(out), result.certificate.to_text() + "\n")
    if as_json:
        echo_json(result.to_json())
    else:
        _show(result, out)
    return 0 if result.value is not None else 1


#: what a derivation's arguments say of a segment (FORMAT.md section 4.2, composition)
_SEGMENTS = {
    "linear": "all matrices",
    "heads": "every head a matrix of bounded rank and its values, up to scaling",
    "mixing": "heads mix within the span of their attention matrices",
    "tensor": "the space of coefficients",
    "span": "one output: the forms of the values span a subspace, and what they generate",
    "flag": "flags of subspaces and the torus of scalings",
    "coefficients": "the space of coefficients, of bounded rank",
    "quadratic": "a quadratic form of bounded rank",
    "flattening": "sums of so few powers satisfy a determinantal equation",
    "alexander-hirschowitz": "an exception of the Alexander-Hirschowitz theorem (by theorem)",
}


def _reasons(derivation: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield a derivation in words, one line for each segment, cuts before their parts."""
    first, last = derivation["from"] + 1, derivation["to"]
    where = f"stage {last}" if first == last else f"stages {first}-{last}"
    if derivation["argument"] != "cut":
        yield f"{prefix}{where}: {derivation['dimension']}, {_SEGMENTS[derivation['argument']]}"
        return
    left, right = derivation["parts"]
    group = f" - {derivation['gauge']}" if derivation["gauge"] else ""
    total = f"{left['dimension']} + {right['dimension']}{group} = {derivation['dimension']}"
    modulo = " modulo the group that acts there" if group else ""
    yield f"{prefix}{where}: {total}, cut after stage {derivation['at']}{modulo}"
    for part in (left, right):
        yield from _reasons(part, "  ")


def _why(result: Dimension) -> Iterator[str]:
    """Yield the steps of the upper bound in words, where there are any."""
    steps = result.certificate.witness["upper_bound"]["steps"]
    if result.upper_bound_by == "composition":
        yield from _reasons(steps["derivation"], "because ")
    elif result.upper_bound_by == "symmetry":
        yield from _symmetries(result, steps)


def _symmetries(result: Dimension, steps: Mapping[str, Any]) -> Iterator[str]:
    """Yield which matrices the fields move, how many they are, and which parts have a kernel of their own."""
    n, k = steps["parameters"], steps["rank"]
    yield f"because {n} parameters - {k} independent directions at one point that change nothing:"
    moved: dict[str, int] = {}
    blocks = result.network.parameter_blocks
    for field in steps["fields"]:
        numbers = {component for component, _, _ in field}
        touched = [b for b in blocks if any(b.offset <= c < b.offset + b.size for c in numbers)]
        names: dict[str, list[str]] = {}
        for block in touched:
            names.setdefault(block.node, []).append(block.name)
        text = ", ".join(f"{' '.join(letters)} of {node}" for node, letters in names.items())
        moved[text] = moved.get(text, 0) + 1
    for text, count in moved.items():
        yield f"  {count} vector field{'s' if count > 1 else ''} on {text}"
    for part in steps["parts"]:
        some = "" if part["summands"] is None else f" (summands {', '.join(part['summands'])})"
        bound = part["bound"]
        why = f"of dimension {bound['value']} by {_ARGUMENTS[bound['method']]}"
        yield f"  the kernel of the part from {part['from']} to {part['to']}{some}, {why}"


def _formula(result: Dimension) -> str:
    """Return what the predicted number is, and whether the proved ones say otherwise."""
    if result.predicted is None or result.lower_bound <= result.predicted <= result.upper_bound:
        return "closed formula"
    what = "the bounds say" if result.value is None else f"the dimension is {result.value}"
    return f"closed formula, refuted here: {what}" + (" otherwise" if result.value is None else "")


def _show(result: Dimension, out: str | None) -> None:
    """Print the result for people. Plain text: it has to be there before a table library is imported."""
    from lightningalg.networks.families import has_softmax

    value = "unknown" if result.value is None else str(result.value)
    rows, columns = result.matrix
    where = "in ball arithmetic" if result.certificate.strength == "ball" else "modulo a prime"
    if has_softmax(result.network) and result.certificate.strength != "ball":
        where += ", exponentials as variables"
    lines = [
        ("parameters", str(result.parameters), ""),
        ("dimension", value, f"{result.status} ({result.certificate.strength})"),
        (
            "lower bound",
            str(result.lower_bound),
            f"minor of a {rows} x {columns} sampled Jacobian {where}, by {result.engine}",
        ),
        (
            "upper bound",
            str(result.upper_bound),
            f"{result.upper_bound_by}: {_ARGUMENTS[result.upper_bound_by]}",
        ),
        ("predicted", "none known" if result.predicted is None else str(result.predicted), _formula(result)),
    ]
    click.echo(str(result.network))
    for name, number, remark in lines:
        click.echo(f"  {name:<12}{number:>8}   {remark}".rstrip())
        if name == "upper bound":
            for line in _why(result):
                click.echo(f"    {line}")
    if result.value is None:
        others = ", ".join(f"{bound.method} {bound.value}" for bound in result.other_upper_bounds)
        gap = result.upper_bound - result.lower_bound
        click.echo(
            f"The dimension is between {result.lower_bound} and {result.upper_bound}. What is missing: an "
            f"argument for {gap} fewer, or a larger minor (try --primes 3)."
            + (f" Other upper bounds: {others}." if others else "")
        )
    kept = f" -> {one_line(out)}" if out else ": keep it with --out CERT.json"
    click.echo(f"certificate {result.certificate.sha256[:12]}{kept}")
