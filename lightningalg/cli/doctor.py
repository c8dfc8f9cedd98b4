"""``lightningalg doctor``: what this machine can do, in ten lines."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from lightningalg.cli.options import Progress, echo_json

if TYPE_CHECKING:
    from lightningalg.engines.inventory import Part

#: the lines: a name, its parts (none: all that are on no other line), what they are for
_LINES = (
    ("arithmetic", ("python-flint", "sympy", "threadpoolctl"), "exact arithmetic (core)"),
    ("ideals", ("flint-ideals",), "Groebner bases with proofs (core)"),
    ("elimination", ("numba",), "compiled: large dimensions sooner"),
    ("Singular", ("Singular",), "Groebner bases, primary decomposition"),
    ("msolve", ("msolve",), "Groebner bases, real solutions"),
    ("Macaulay2", ("M2",), "Groebner bases, primary decomposition"),
    ("other extras", (), "pictures, clusters, Parquet, API pages"),
    ("PDF, Rocq", ("pdflatex", "coqc"), "PDF proofs, a second checker"),
)


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def command(as_json: bool) -> int:
    """Whether this machine can do everything, in ten lines: versions, and one self-test for each engine.

    What is missing or broken is optional, unless it says (core): the line says what to install, and the last
    line what cannot be done until then.
    """
    from lightningalg.engines.inventory import inventory

    Progress("trying every engine")
    parts = inventory()
    failing = [part for part in parts if not part.works]
    if as_json:
        found = [part.to_json() for part in parts]
        echo_json({"machine": _machine(), "everything": not failing, "parts": found})
        return 0
    machine = _machine()
    memory = f", {machine['memory_gib']:g} GiB" if machine["memory_gib"] else ""
    click.echo(
        f"{'':<7} {'machine':<14} Python {machine['python']}, {machine['cores']} cores{memory}, "
        f"{machine['system']}"
    )
    by_name = {part.name: part for part in parts}
    others = set(by_name).difference(*(names for _, names, _ in _LINES))
    for label, names, purpose in _LINES:
        shown = [part for part in parts if part.name in (names or others)]
        click.echo(_line(label, shown, purpose))
    if failing:
        what = "; ".join(f"{part.purpose} ({part.name})" for part in failing)
        click.echo(f"This machine can do everything but: {what}")
    else:
        click.echo("This machine can do everything.")
    return 0


def _line(label: str, parts: Sequence[Part], purpose: str) -> str:
    """Return one line: the state of its parts, all versions, and advice where something is amiss.

    Where some of its parts are missing the line says ``partly``, and which.
    """
    states = {_state(part) for part in parts}
    worst: str = next(state for state in ("broken", "missing", "ok") if state in states)
    absent = [part.name for part in parts if part.version is None]
    mark = "partly" if worst == "missing" and len(absent) < len(parts) else worst
    found = ", ".join(f"{part.name} {part.version}" for part in parts if part.version is not None)
    gone = f"missing {', '.join(absent)}" if absent else ""
    versions = "; ".join(text for text in (found, gone) if text)
    advice = [
        part.advice if len(parts) == 1 else f"{part.name}: {part.advice}" for part in parts if not part.works
    ]
    return f"{mark:<7} {label:<14} {versions}: {purpose}" + (f"  -> {'; '.join(advice)}" if advice else "")


def _state(part: Part) -> str:
    return "ok" if part.works else "missing" if part.version is None else "broken"


def _machine() -> dict[str, str | int | float]:
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (AttributeError, OSError, ValueError):  # systems that do not say
        memory = 0.0
    return {
        "python": platform.python_version(),
        "cores": os.cpu_count() or 1,
        "memory_gib": round(memory, 1),
        "system": f"{platform.system()} {platform.machine()}",
    }
