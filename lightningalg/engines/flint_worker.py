"""The program that computes with FLINT in a process of its own: what FLINT aborts ends only this one.

Reads one JSON request on standard input and prints one JSON answer between two marks.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from lightningalg.engines.buchberger import buchberger
from lightningalg.engines.ideal_data import Ideal
from lightningalg.engines.monomials import MonomialOrder, Polynomial
from lightningalg.engines.polynomial_text import from_plain, to_plain

#: exit code for "out of memory"
NO_MEMORY = 14
#: weights of the variables to eliminate: with one above all degrees, degrevlex is an elimination order
_WEIGHTS = (8, 64, 512)


def flint_basis(ideal: Ideal, order: MonomialOrder, weight: int = 1) -> list[Polynomial]:
    """Return a Groebner basis over QQ by FLINT, the eliminated variables x replaced by x^weight."""
    import flint

    names = [f"x{k}" for k in range(1, ideal.variables + 1)]
    context = flint.fmpz_mpoly_ctx.get(names, getattr(flint.Ordering, order.name))
    powers = [weight if k in order.eliminated else 1 for k in range(ideal.variables)]
    inputs = []
    for f in ideal.generators:
        scale = flint.fmpz(1)
        for c in f.values():
            scale = scale.lcm(c.denominator)
        terms = {
            tuple(e * w for e, w in zip(exponents, powers, strict=True)): int(c * int(scale))
            for exponents, c in f.items()
        }
        if terms:
            inputs.append(context.from_dict(terms))
    vector = flint.fmpz_mpoly_vec(inputs, context).buchberger_naive().autoreduction(groebner=True)
    return [
        {
            tuple(int(e) // w for e, w in zip(exponents, powers, strict=True)): int(c)
            for exponents, c in element.to_dict().items()
        }
        for element in vector
    ]


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a request, as plain data."""
    variables, characteristic = request["variables"], request["characteristic"]
    generators = tuple(from_plain(f, variables, characteristic, "request") for f in request["generators"])
    ideal = Ideal(variables, generators, characteristic)
    order = MonomialOrder(variables, request["order"], tuple(request["eliminated"]))
    if request["method"] == "flint":
        basis = flint_basis(ideal, order, _WEIGHTS[request["attempt"]] if order.eliminated else 1)
        return {"basis": [to_plain(f) for f in basis]}
    found, derivation = buchberger(ideal, order)
    return {
        "basis": [to_plain(f) for f in found],
        "steps": [[[k, to_plain(m)] for k, m in step] for step in derivation.steps],
        "elements": list(derivation.elements),
    }


def main() -> int:
    """Answer the request on standard input."""
    try:
        result = answer(json.load(sys.stdin))
    except MemoryError:
        return NO_MEMORY
    print("begin answer")
    json.dump(result, sys.stdout)
    print("\nend answer")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
