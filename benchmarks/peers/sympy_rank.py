"""sympy: coefficients of the network's polynomials, their symbolic Jacobian, its rank over QQ(theta).

The rank by ``DomainMatrix``, which a skilled user finds; ``Matrix.rank`` takes 70 times as long at n = 8.
"""

from __future__ import annotations

import sympy

from peers.timing import answer, job, timed


def main() -> None:
    task = job()
    rank, seconds = timed(lambda: _rank(task["widths"], task["ranks"]))
    answer(rank=rank, times=[seconds])


def _rank(widths: list[int], ranks: list[int]) -> int:
    X = _symbols("x", widths[0], 2)
    output, parameters = X, []
    for i, rank in enumerate(ranks):
        Q = _symbols(f"Q{i}", rank, widths[i])
        K = _symbols(f"K{i}", rank, widths[i])
        V = _symbols(f"V{i}", widths[i + 1], widths[i])
        parameters += [*Q, *K, *V]
        output = V * (output * ((K * output).T * (Q * output)))
    coefficients = [c for f in output for c in sympy.Poly(sympy.expand(f), *X).coeffs()]
    return sympy.Matrix(coefficients).jacobian(parameters).to_DM().to_field().rank()


def _symbols(name: str, rows: int, columns: int) -> sympy.Matrix:
    return sympy.Matrix(rows, columns, lambda i, j: sympy.Symbol(f"{name}_{i}_{j}"))


if __name__ == "__main__":
    main()
