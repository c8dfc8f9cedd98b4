"""Ideals by Singular, a program of its own.

Singular reports errors as lines on standard output and goes on; what it prints is read strictly, between
two marks, and any other line is an error.
"""

from __future__ import annotations

from lightningalg.engines import child_process
from lightningalg.engines.base import AbstractIdealEngine
from lightningalg.engines.ideal_data import Derivation, Ideal
from lightningalg.engines.monomials import MonomialOrder, Polynomial
from lightningalg.engines.polynomial_text import names, pairs_of, write
from lightningalg.engines.program_answers import basis_with_cofactors, blocks, polynomials
from lightningalg.engines.programs import require_engine
from lightningalg.errors import EngineAnswerError

LARGEST_PRIME = 2147483647
_ORDERS = {"degrevlex": "dp", "deglex": "Dp", "lex": "lp"}
#: exit code at the memory limit
_NO_MEMORY = 14
#: messages that are no failure
_HARMLESS = ("// ** loaded ", "// ** library ")


class SingularIdeals(AbstractIdealEngine):
    """Singular: bases with cofactors, prime and primary decomposition, radicals.

    References
    ----------
    Decker, Greuel, Pfister, Schoenemann, Singular, www.singular.uni-kl.de.
    """

    name = "singular"

    def refusal(self, ideal: Ideal, order: MonomialOrder) -> str | None:
        if ideal.characteristic > LARGEST_PRIME:
            return f"the characteristic is above {LARGEST_PRIME}"
        return None

    def version(self) -> str:
        path = require_engine(self.name)
        finished = child_process.run("Singular", [path, "--dump-versiontuple"], limits=self.limits)
        return child_process.first_line(finished.output)

    def raw_basis(self, ideal: Ideal, order: MonomialOrder) -> list[Polynomial]:
        # std, not groebner: the latter's Hilbert-driven path gave a wrong basis for a mixed order (#1362)
        lines = self._ask(ideal, order, "ideal g=std(i); int k; " + _print_ideal("g"))
        return polynomials(lines, ideal, self.name)

    def raw_derivation(self, ideal: Ideal, order: MonomialOrder) -> tuple[list[Polynomial], Derivation]:
        body = (
            "matrix T; ideal g=liftstd(i,T); int k; int j; "
            'for(k=1;k<=ncols(g);k++){print("element"); print(string(g[k]));'
            'for(j=1;j<=nrows(T);j++){if(T[j,k]!=0){print(string(j-1)+" "+string(T[j,k]));}}}'
        )
        return basis_with_cofactors(self._ask(ideal, order, body), ideal, self.name)

    def raw_minimal_primes(self, ideal: Ideal) -> list[list[Polynomial]]:
        body = "list l=minAssGTZ(i); int k; int m; " + _print_list("l", "l[m]")
        return self._ideals(ideal, body)

    def raw_primary_components(self, ideal: Ideal) -> list[tuple[list[Polynomial], list[Polynomial]]]:
        body = "list l=primdecGTZ(i); int k; int m; " + _print_list("l", "l[m][1]", "l[m][2]")
        return pairs_of(self._ideals(ideal, body), self.name)

    def raw_radical(self, ideal: Ideal) -> list[Polynomial]:
        lines = self._ask(
            ideal, _plain(ideal), "ideal g=radical(i); int k; " + _print_ideal("g"), library=True
        )
        return polynomials(lines, ideal, self.name)

    def _ideals(self, ideal: Ideal, body: str) -> list[list[Polynomial]]:
        lines = self._ask(ideal, _plain(ideal), body, library=True)
        return [polynomials(block, ideal, self.name) for block in blocks(lines, "ideal", self.name)]

    def _ask(self, ideal: Ideal, order: MonomialOrder, body: str, *, library: bool = False) -> list[str]:
        script = singular_script(ideal, order, body, library)
        finished = child_process.run(
            "Singular",
            [require_engine(self.name), "-q", "--no-rc"],
            text=script,
            limits=self.limits,
            when_failed=lambda end: "memory" if end.code == _NO_MEMORY else None,
        )
        return singular_lines(finished.output)


def _plain(ideal: Ideal) -> MonomialOrder:
    return MonomialOrder(ideal.variables)


def singular_script(ideal: Ideal, order: MonomialOrder, body: str, library: bool) -> str:
    """Return the whole script; the ring allows exponents up to 2^31 - 1, so that no product overflows."""
    weights = [1 if k in order.eliminated else 0 for k in range(ideal.variables)]
    first = f"a({','.join(map(str, weights))})," if order.eliminated else ""
    ring = f"({first}{_ORDERS[order.name]},L(2147483647))"
    variables = ",\n".join(names(ideal.variables))
    integral = not ideal.characteristic
    generators = [write(f, integral=False) for f in ideal.generators if f]
    inputs = "\n".join(f"i[{k}]={_broken(text)};" for k, text in enumerate(generators, start=1))
    assert integral or all("/" not in text for text in generators)
    return "\n".join(
        [
            'LIB "primdec.lib";' if library else "",
            f"ring r={ideal.characteristic},({variables}),{ring};",
            "short=0; option(redSB); ideal i;",
            inputs,
            'print("begin answer");',
            body,
            'print("end answer");',
            "quit;\n",
        ]
    )


def _broken(text: str) -> str:
    """Break long lines after terms."""
    return text.replace("+", "\n+").replace("-", "\n-") if len(text) > 1000 else text


def singular_lines(output: str) -> list[str]:
    """Return the lines of the answer.

    Raises
    ------
    EngineAnswerError
        If Singular reported an error or a warning anywhere, or did not print its marks.

    Examples
    --------
    >>> singular_lines("// ** loaded primdec.lib\\nbegin answer\\nx1\\nend answer\\n")
    ['x1']
    >>> singular_lines("// ** possible OVERFLOW\\nbegin answer\\nx1\\nend answer\\n")
    Traceback (most recent call last):
    lightningalg.errors.EngineAnswerError: Singular reported: // ** possible OVERFLOW
    """
    for line in output.splitlines():
        wrong = line.lstrip().startswith(("?", "// **")) or "OVERFLOW" in line or "error" in line
        if wrong and not line.startswith(_HARMLESS):
            raise EngineAnswerError(f"Singular reported: {child_process.first_line(line)}")
    text = child_process.between("Singular", output, "begin answer", "end answer")
    return [line for line in text.splitlines() if line.strip()]


def _print_ideal(name: str) -> str:
    return f"for(k=1;k<=ncols({name});k++){{print(string({name}[k]));}}"


def _print_list(name: str, *members: str) -> str:
    inner = "".join(f'print("ideal"); g={member}; ' + _print_ideal("g") for member in members)
    return f"ideal g; for(m=1;m<=size({name});m++){{{inner}}}"
