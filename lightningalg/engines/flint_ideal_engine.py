"""Ideals by python-flint and the package's own Buchberger algorithm, in a child process.

FLINT computes bases over QQ for lex, deglex and degrevlex; elimination orders come from degrevlex with
large weights on the variables to eliminate. The own algorithm serves GF(p), everything else, and proofs.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from lightningalg.engines import child_process
from lightningalg.engines.base import AbstractIdealEngine
from lightningalg.engines.buchberger import buchberger
from lightningalg.engines.ideal_checks import checked_basis
from lightningalg.engines.ideal_data import Derivation, Ideal
from lightningalg.engines.monomials import MonomialOrder, Polynomial
from lightningalg.engines.polynomial_text import from_plain, to_plain
from lightningalg.errors import EngineAnswerError

_NO_MEMORY = 14
_ATTEMPTS = 3


class OwnIdeals(AbstractIdealEngine):
    """The package's own algorithm in this process, for small ideals: interruptible, with a time limit."""

    name = "own"

    def refusal(self, ideal: Ideal, order: MonomialOrder) -> str | None:
        return None

    def raw_basis(self, ideal: Ideal, order: MonomialOrder) -> list[Polynomial]:
        return buchberger(ideal, order, self.limits.seconds)[0]

    def raw_derivation(self, ideal: Ideal, order: MonomialOrder) -> tuple[list[Polynomial], Derivation]:
        return buchberger(ideal, order, self.limits.seconds)


class FlintIdeals(AbstractIdealEngine):
    """The embedded engine: always there, over QQ and GF(p), with proofs.

    Examples
    --------
    >>> ideal = Ideal(2, ({(2, 0): 1, (0, 1): -1}, {(0, 2): 1, (1, 0): -1}))
    >>> FlintIdeals().eliminate(ideal, (0,))
    ({(0, 4): Fraction(1, 1), (0, 1): Fraction(-1, 1)},)
    """

    name = "flint"

    def refusal(self, ideal: Ideal, order: MonomialOrder) -> str | None:
        return None

    def version(self) -> str:
        try:
            return version("python-flint")
        except PackageNotFoundError:
            return "?"

    def raw_basis(self, ideal: Ideal, order: MonomialOrder) -> list[Polynomial]:
        if ideal.characteristic or (order.eliminated and order.name != "degrevlex"):
            return self.raw_derivation(ideal, order)[0]
        if not order.eliminated:
            return self._basis(ideal, self._ask(ideal, order, "flint", 0))
        for attempt in range(_ATTEMPTS):
            basis = self._basis(ideal, self._ask(ideal, order, "flint", attempt))
            try:
                checked_basis(ideal, order, basis, self.name)
            except EngineAnswerError:
                continue  # the weight was too small for this order
            return basis
        return self.raw_derivation(ideal, order)[0]

    def raw_derivation(self, ideal: Ideal, order: MonomialOrder) -> tuple[list[Polynomial], Derivation]:
        answer = self._ask(ideal, order, "derivation", 0)
        try:
            steps = tuple(
                tuple(
                    (_whole(k), from_plain(m, ideal.variables, ideal.characteristic, self.name))
                    for k, m in step
                )
                for step in answer["steps"]
            )
            elements = tuple(_whole(k) for k in answer["elements"])
        except (KeyError, TypeError, ValueError):
            raise EngineAnswerError(f"{self.name} gave no derivation") from None
        return self._basis(ideal, answer), Derivation(steps, elements)

    def _basis(self, ideal: Ideal, answer: dict[str, Any]) -> list[Polynomial]:
        basis = answer.get("basis")
        if not isinstance(basis, list):
            raise EngineAnswerError(f"{self.name} gave no basis")
        return [from_plain(f, ideal.variables, ideal.characteristic, self.name) for f in basis]

    def command(self) -> list[str]:
        """Return the command line of the worker."""
        return [sys.executable, "-P", "-m", "lightningalg.engines.flint_worker"]

    def _ask(self, ideal: Ideal, order: MonomialOrder, method: str, attempt: int) -> dict[str, Any]:
        request = {
            "variables": ideal.variables,
            "characteristic": ideal.characteristic,
            "generators": [to_plain(f) for f in ideal.generators],
            "order": order.name,
            "eliminated": list(order.eliminated),
            "method": method,
            "attempt": attempt,
        }
        # the worker finds this package and flint where this process does
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        finished = child_process.run(
            self.name,
            self.command(),
            text=json.dumps(request),
            environment={"PYTHONPATH": path},
            limits=self.limits,
            when_failed=_reason,
        )
        return _parsed(self.name, finished.output)


def _reason(finished: child_process.Finished) -> str | None:
    said = finished.code == _NO_MEMORY or "Unable to allocate memory" in finished.errors
    return "memory" if said or "MemoryError" in finished.errors else None


def _parsed(name: str, output: str) -> dict[str, Any]:
    text = child_process.between(name, output, "begin answer", "end answer")
    try:
        answer = json.loads(text)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise EngineAnswerError(f"{name} did not answer with a JSON object")
    return answer


def _whole(value: object) -> int:
    if type(value) is not int:
        raise TypeError(value)
    return value
