"""Which engine "auto" takes, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from lightningalg.arguments import one_of
from lightningalg.engines.base import AbstractIdealEngine, AbstractLinearAlgebra
from lightningalg.engines.child_process import Limits
from lightningalg.engines.ideal_data import Ideal
from lightningalg.engines.programs import is_installed
from lightningalg.errors import EngineError, InputError, UnsupportedError, shown

#: entries up to which FLINT is taken: its conversion and three eliminations cost less than a
#: millisecond, and the own elimination is faster beyond (benchmarks/rank.py)
FLINT_ENTRIES = 2_000

NAMES = ("auto", "flint", "blocked")


def linear_algebra(rows: int, columns: int, name: str = "auto") -> tuple[AbstractLinearAlgebra, str]:
    """Return the engine for exact linear algebra over GF(p) on a matrix of that size, and the reason.

    Raises
    ------
    InputError
        If the name is unknown.

    Examples
    --------
    >>> linear_algebra(10, 10)[0].name
    'flint'
    """
    one_of(name, "engine", NAMES)
    if name == "flint" or (name == "auto" and rows * columns <= FLINT_ENTRIES):
        from lightningalg.engines.flint_engine import FlintLinearAlgebra

        reason = "asked for" if name == "flint" else f"{rows} x {columns} is small"
        return FlintLinearAlgebra(), reason
    from lightningalg.engines.blocked_engine import BlockedElimination

    reason = "asked for" if name == "blocked" else f"{rows} x {columns} is large"
    return BlockedElimination(), reason


def linear_algebra_for_any_prime() -> AbstractLinearAlgebra:
    """Return the engine without the bound p < 2^23.

    Examples
    --------
    >>> linear_algebra_for_any_prime().name
    'flint'
    """
    from lightningalg.engines.flint_engine import FlintLinearAlgebra

    return FlintLinearAlgebra()


#: engines of ideals, as ``--engine`` names them
IDEAL_ENGINES = ("flint", "singular", "msolve", "macaulay2")

#: for each need the engines that serve it, best first, and why this order
_PREFERENCES: dict[str, tuple[tuple[str, ...], str]] = {
    "proof": (
        ("flint", "singular", "macaulay2"),
        "derives its basis from the generators, and is always there",
    ),
    "basis": (("flint", "singular", "msolve", "macaulay2"), "starts fastest, and is always there"),
    "large basis": (("singular", "msolve", "flint", "macaulay2"), "is fastest on large systems"),
    "elimination": (("singular", "flint", "macaulay2"), "has elimination orders of its own"),
    "components": (("singular", "macaulay2"), "has prime and primary decomposition"),
}
#: terms of the generators from which on a system is large (benchmarks of fibres, PERFORMANCE.md section 3)
LARGE_TERMS = 5_000

T = TypeVar("T")


def ideal_engine(
    name: str = "auto", *, ideal: Ideal | None = None, need: str = "basis", limits: Limits | None = None
) -> tuple[AbstractIdealEngine, str]:
    """Return the engine for an ideal and a need, and the reason.

    ``need`` is ``proof`` (a basis with derivation), ``basis``, ``elimination`` or ``components`` (primes,
    primary components, radicals). With the name ``auto`` only installed engines are taken.

    Raises
    ------
    InputError
        If the name or the need is unknown.
    EngineMissingError
        If none is installed that serves the need.

    Examples
    --------
    >>> engine, reason = ideal_engine(need="proof")
    >>> engine.name, reason
    ('flint', 'derives its basis from the generators, and is always there')
    """
    return _candidates(name, ideal, need, limits)[0]


def first_answer(
    operation: Callable[[AbstractIdealEngine], T],
    name: str = "auto",
    *,
    ideal: Ideal | None = None,
    need: str = "basis",
    limits: Limits | None = None,
) -> tuple[T, str]:
    """Return the answer of the first engine that gives one, and a line that says which and why.

    With the name ``auto`` an engine that is missing, crashes, reaches a limit or gives a wrong answer is
    named in that line, and the next one is asked. An engine asked for by name has no substitute.

    Parameters
    ----------
    operation
        What to ask of an engine.
    need
        As of ``ideal_engine``.

    Raises
    ------
    EngineError, UnsupportedError
        If no engine answers: the last one's error, after those before it.

    Examples
    --------
    >>> ideal = Ideal(1, ({(2,): 1},))
    >>> first_answer(lambda engine: engine.degree(ideal), ideal=ideal)
    (2, 'flint: starts fastest, and is always there')
    """
    failures: list[str] = []
    for engine, reason in _candidates(name, ideal, need, limits):
        try:
            answer = operation(engine)
        except (EngineError, UnsupportedError) as error:
            if not isinstance(name, str) or name != "auto":
                raise
            failures.append(str(error))
            last = error
            continue
        return answer, f"{engine.name}: {reason}" + "".join(f"; before it: {text}" for text in failures)
    raise type(last)("; ".join(failures))


def _candidates(
    name: str, ideal: Ideal | None, need: str, limits: Limits | None
) -> list[tuple[AbstractIdealEngine, str]]:
    if need not in _PREFERENCES or need == "large basis":
        raise InputError(f"need {shown(need, 40)!r} is unknown")
    if name != "auto":
        one_of(name, "engine", ("auto", *IDEAL_ENGINES))
        return [(_made(name, limits), "asked for")]
    if need == "basis" and ideal is not None and sum(map(len, ideal.generators)) > LARGE_TERMS:
        need = "large basis"
    names, reason = _PREFERENCES[need]
    present = [engine for engine in names if is_installed(engine)]
    if not present:  # asking the first says what is missing, and how to add it
        present = [names[0]]
    found = []
    for engine in present:
        absent = [other for other in names[: names.index(engine)] if not is_installed(other)]
        why = (
            reason
            if engine == names[0]
            else "the next best"
            if not absent
            else f"without {', '.join(absent)}"
        )
        found.append((_made(engine, limits), why))
    return found


def _made(name: str, limits: Limits | None) -> AbstractIdealEngine:
    if name == "singular":
        from lightningalg.engines.singular_engine import SingularIdeals

        return SingularIdeals(limits)
    if name == "msolve":
        from lightningalg.engines.msolve_engine import MsolveIdeals

        return MsolveIdeals(limits)
    if name == "macaulay2":
        from lightningalg.engines.macaulay2_engine import Macaulay2Ideals

        return Macaulay2Ideals(limits)
    from lightningalg.engines.flint_ideal_engine import FlintIdeals

    return FlintIdeals(limits)
