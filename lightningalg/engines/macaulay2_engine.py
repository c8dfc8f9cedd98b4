"""Ideals by Macaulay2, a program of its own; what it prints is read strictly, between two marks."""

from __future__ import annotations

from lightningalg.engines import child_process
from lightningalg.engines.base import AbstractIdealEngine
from lightningalg.engines.ideal_data import Derivation, Ideal
from lightningalg.engines.monomials import MonomialOrder, Polynomial
from lightningalg.engines.polynomial_text import names, pairs_of, write
from lightningalg.engines.program_answers import basis_with_cofactors, blocks, polynomials
from lightningalg.engines.programs import require_engine

_ORDERS = {"degrevlex": "GRevLex", "deglex": "GLex", "lex": "Lex"}
_LARGEST_PRIME = 2**31 - 1
_SHOW = "showIdeal = g -> scan(flatten entries gens g, f -> print toString f);"


class Macaulay2Ideals(AbstractIdealEngine):
    """Macaulay2: bases with cofactors, prime and primary decomposition, radicals.

    References
    ----------
    Grayson, Stillman, Macaulay2, macaulay2.com.
    """

    name = "macaulay2"

    def refusal(self, ideal: Ideal, order: MonomialOrder) -> str | None:
        if ideal.characteristic > _LARGEST_PRIME:
            return f"the characteristic is above {_LARGEST_PRIME}"
        return None

    def version(self) -> str:
        path = require_engine(self.name)
        finished = child_process.run("Macaulay2", [path, "--version"], limits=self.limits)
        return child_process.first_line(finished.output)

    def raw_basis(self, ideal: Ideal, order: MonomialOrder) -> list[Polynomial]:
        lines = self._ask(ideal, order, "showIdeal ideal gens gb I;")
        return polynomials(lines, ideal, self.name)

    def raw_derivation(self, ideal: Ideal, order: MonomialOrder) -> tuple[list[Polynomial], Derivation]:
        body = (
            "G = gb(I, ChangeMatrix => true); C = getChangeMatrix G; g = flatten entries gens G;"
            ' scan(#g, k -> (print "element"; print toString g#k; scan(numRows C, j -> if C_(j,k) != 0 then '
            '(print concatenate(toString j, " ", toString C_(j,k))))));'
        )
        return basis_with_cofactors(self._ask(ideal, order, body), ideal, self.name)

    def raw_minimal_primes(self, ideal: Ideal) -> list[list[Polynomial]]:
        return self._ideals(ideal, 'scan(decompose I, P -> (print "ideal"; showIdeal P));')

    def raw_primary_components(self, ideal: Ideal) -> list[tuple[list[Polynomial], list[Polynomial]]]:
        body = (
            "scan(primaryDecomposition I, Q -> "
            '(print "ideal"; showIdeal Q; print "ideal"; showIdeal radical Q));'
        )
        return pairs_of(self._ideals(ideal, body), self.name)

    def raw_radical(self, ideal: Ideal) -> list[Polynomial]:
        lines = self._ask(ideal, _plain(ideal), "showIdeal radical I;")
        return polynomials(lines, ideal, self.name)

    def _ideals(self, ideal: Ideal, body: str) -> list[list[Polynomial]]:
        lines = self._ask(ideal, _plain(ideal), body)
        return [polynomials(block, ideal, self.name) for block in blocks(lines, "ideal", self.name)]

    def _ask(self, ideal: Ideal, order: MonomialOrder, body: str) -> list[str]:
        finished = child_process.run(
            "Macaulay2",
            [require_engine(self.name), "--script", "input.m2"],  # --script has to be the first option
            files={"input.m2": macaulay2_script(ideal, order, body)},
            limits=self.limits,
        )
        text = child_process.between("Macaulay2", finished.output, "begin answer", "end answer")
        return [line for line in text.splitlines() if line.strip()]


def _plain(ideal: Ideal) -> MonomialOrder:
    return MonomialOrder(ideal.variables)


def macaulay2_script(ideal: Ideal, order: MonomialOrder, body: str) -> str:
    """Return the whole script."""
    weights = ",".join("1" if k in order.eliminated else "0" for k in range(ideal.variables))
    first = f"Weights => {{{weights}}}, " if order.eliminated else ""
    field = f"ZZ/{ideal.characteristic}" if ideal.characteristic else "QQ"
    variables = ",".join(names(ideal.variables))
    generators = ",\n".join(write(f) for f in ideal.generators if f)
    return "\n".join(
        [
            f"R = {field}[{variables}, MonomialOrder => {{{first}{_ORDERS[order.name]}}}];",
            f"I = ideal({generators or '0_R'});",
            _SHOW,
            'print "begin answer";',
            body,
            'print "end answer";\n',
        ]
    )
