"""Macaulay2: the Jacobian at a random point over ZZ/p, by dual numbers ZZ/p[e]/e^2, and its rank.

What a skilled user writes. Every parameter in turn gets the tangent e; all outputs of 1.3 n / (d t) random
inputs are kept, which is the cheapest choice that gives full rank (evaluations are what costs, not
rows); the layers before the changed parameter are evaluated once only. Dual numbers as pairs of matrices
over ZZ/p, and all tangents at once in a ring with n variables, are slower. Start-up is not counted.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from peers.child import Outcome, run_group

_SCRIPT = """
setRandomSeed 1;
p = {prime}; w = {width}; a = {rank}; l = {layers}; t = 2;
kk = ZZ/p;
R = kk[e]/(e^2);
shapes = flatten apply(l, i -> {{(a,w), (a,w), (w,w)}});
n = sum(shapes, s -> s#0 * s#1);
samples = ceiling(1.3 * n / (w*t));
attention = (Q,K,V,X) -> V*(X*((transpose (K*X))*(Q*X)));
theta = apply(shapes, s -> random(R^(s#0), R^(s#1)));
inputs = apply(samples, j -> random(R^w, R^t));
layer = (i, X) -> attention(theta#(3*i), theta#(3*i+1), theta#(3*i+2), X);
direction = (s, r, c) -> e * map(R^(s#0), R^(s#1), (x,y) -> if x == r and y == c then 1_R else 0_R);
derivatives = (k, r, c) -> (
    i := k // 3;
    M := theta#k + direction(shapes#k, r, c);
    (Q, K, V) := toSequence apply(3, j -> if k == 3*i+j then M else theta#(3*i+j));
    flatten apply(before#i, X -> (
        Y := attention(Q, K, V, X);
        for s from i+1 to l-1 do Y = layer(s, Y);
        apply(flatten entries Y, f -> lift(coefficient(e_R, f), kk)))));
clock = elapsedTiming (
    before = {{inputs}};
    for i from 0 to l-1 do before = append(before, apply(last before, X -> layer(i, X)));
    J = matrix flatten apply(#shapes, k ->
        flatten apply(shapes#k#0, r -> apply(shapes#k#1, c -> derivatives(k, r, c))));
    answer = rank J;
);
print concatenate("answer ", toString n, " ", toString answer, " ", toString clock#0);
"""


def macaulay2_rank(
    program: str, prime: int, widths: Sequence[int], ranks: Sequence[int], *, timeout: float, threads: int
) -> Outcome:
    """Return rank and time of Jacobian and rank together, for a chain of constant width and rank."""
    assert len(set(widths)) == len(set(ranks)) == 1
    script = _SCRIPT.format(prime=prime, width=widths[0], rank=ranks[0], layers=len(ranks))
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "rank.m2")
        source.write_text(script, encoding="ascii")
        output = run_group([program, "--script", str(source)], timeout=timeout, threads=threads)
    if not output:
        return output
    words = output.values["text"].splitlines()[-1].split()
    if len(words) != 4 or words[0] != "answer":
        return Outcome(reason="failed: no answer in the output")
    return Outcome({"rank": int(words[2]), "times": [float(words[3])]})
