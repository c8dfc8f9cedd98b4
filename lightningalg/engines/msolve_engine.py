"""Ideals by msolve, a program of its own: degrevlex bases over QQ and prime fields.

Over QQ msolve is modular, and its answer 1 rests on a single prime: nothing of it is a proof, and the
answer 1 is given only once the embedded engine has derived it. Its input is not checked by it, so
that everything it would misread is refused or rewritten here: exponents of 2^16 and more, denominators,
coefficients that are not reduced, characteristics that are no 31-bit primes, no generators at all.
"""

from __future__ import annotations

from lightningalg.engines import child_process
from lightningalg.engines.base import AbstractIdealEngine
from lightningalg.engines.ideal_data import Derivation, Ideal
from lightningalg.engines.monomials import MonomialOrder, Polynomial
from lightningalg.engines.polynomial_text import names, read, write
from lightningalg.engines.programs import require_engine
from lightningalg.errors import EngineAnswerError

LARGEST_PRIME = 2**31 - 1
#: exponents wrap at 2^16, also of products during the computation
_LARGEST_DEGREE = 2**12


class MsolveIdeals(AbstractIdealEngine):
    """msolve: fast degrevlex bases; no elimination orders, cofactors or decompositions.

    References
    ----------
    Berthomieu, Eder, Safey El Din, msolve: a library for solving polynomial systems, ISSAC 2021.
    """

    name = "msolve"

    def refusal(self, ideal: Ideal, order: MonomialOrder) -> str | None:
        if order.name != "degrevlex":
            return f"bases for degrevlex only, not for {order.name}"
        if order.eliminated:
            return "its elimination over QQ prints no whole basis that could be checked"
        if ideal.characteristic > LARGEST_PRIME:
            return f"the characteristic is above {LARGEST_PRIME}"
        if 0 < ideal.characteristic < 2**16:
            return "the characteristic is below 2^16: use another engine for small fields"
        if ideal.degree_bound > _LARGEST_DEGREE:
            return f"degree {ideal.degree_bound}: its exponents wrap at 2^16"
        return None

    def version(self) -> str:
        finished = child_process.run("msolve", [require_engine(self.name), "-V"], limits=self.limits)
        return child_process.first_line(finished.output)

    def raw_basis(self, ideal: Ideal, order: MonomialOrder) -> list[Polynomial]:
        basis = self._basis(ideal)
        if not ideal.characteristic and any(not any(e) for f in basis if len(f) == 1 for e in f):
            return self._confirmed(ideal, order)
        return basis

    def raw_derivation(self, ideal: Ideal, order: MonomialOrder) -> tuple[list[Polynomial], Derivation]:
        """Derive the basis by the embedded engine; both must agree."""
        from lightningalg.engines.flint_ideal_engine import FlintIdeals
        from lightningalg.engines.ideal_checks import checked_basis

        mine = checked_basis(ideal, order, self._basis(ideal), self.name)
        basis, derivation = FlintIdeals(self.limits).raw_derivation(ideal, order)
        if list(mine.elements) != basis:
            raise EngineAnswerError("msolve gave a wrong basis: another one has been derived")
        return basis, derivation

    def _confirmed(self, ideal: Ideal, order: MonomialOrder) -> list[Polynomial]:
        from lightningalg.engines.flint_ideal_engine import FlintIdeals

        basis, _ = FlintIdeals(self.limits).raw_derivation(ideal, order)
        if len(basis) != 1 or any(any(e) for e in basis[0]):
            raise EngineAnswerError("msolve called a system over QQ inconsistent that is not")
        return basis

    def _basis(self, ideal: Ideal) -> list[Polynomial]:
        generators = [write(f, integral=not ideal.characteristic) for f in ideal.generators if f]
        source = ",".join(names(ideal.variables)) + f"\n{ideal.characteristic}\n" + ",\n".join(generators)
        finished = child_process.run(
            "msolve",
            [require_engine(self.name), "-g", "2", "-f", "input.ms"],
            files={"input.ms": source + "\n"},
            limits=self.limits,
        )
        return msolve_polynomials(finished.output, ideal)


def msolve_polynomials(output: str, ideal: Ideal) -> list[Polynomial]:
    """Return the polynomials of msolve's output: comments, then ``[f1,\\nf2, ...]:``.

    Raises
    ------
    EngineAnswerError
        If it is of another form.

    Examples
    --------
    >>> msolve_polynomials("#basis\\n[1*x1^2+-1*x2^1,\\n1*x2^1]:\\n", Ideal(2, ()))[1]
    {(0, 1): Fraction(1, 1)}
    """
    body = "".join(line for line in output.splitlines() if not line.startswith("#")).strip()
    if not (body.startswith("[") and body.endswith("]:")) or body.count("[") != 1:
        raise EngineAnswerError(
            f"msolve did not answer as agreed: {child_process.first_line(output) or 'nothing printed'}"
        )
    parts = body[1:-2].replace("+-", "-").split(",")
    return [read(part, ideal.variables, ideal.characteristic, "msolve") for part in parts]
