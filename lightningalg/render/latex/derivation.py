"""Derivations of bounds for segments of a sequential network (FORMAT.md section 4.2, ``composition``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lightningalg.render.latex.arguments import argue
from lightningalg.render.latex.bounds import expect
from lightningalg.render.latex.escape import integer
from lightningalg.render.latex.segment import Argument
from lightningalg.render.latex.stages import Stages


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the derivation: a segment with its argument, or cut into two."""

    i: int
    j: int
    dimension: int
    argument: Argument | None = None
    at: int = 0
    group: str = ""
    gauge: int = 0
    parts: tuple[Node, ...] = ()

    @property
    def leaves(self) -> list[Node]:
        """The segments that are not cut, from left to right."""
        return [leaf for part in self.parts for leaf in part.leaves] or [self]

    @property
    def cuts(self) -> list[Node]:
        """The cuts, each after those of its parts."""
        return [cut for part in self.parts for cut in part.cuts] + ([self] if self.parts else [])

    @property
    def cuts_from_outside(self) -> list[Node]:
        """The cuts, each before those of its parts: together with the leaves they determine the tree."""
        return ([self] if self.parts else []) + [cut for part in self.parts for cut in part.cuts_from_outside]


def read_derivation(stages: Stages, tree: Mapping[str, Any], i: int, j: int) -> Node:
    """Return the derivation of a bound for the segment (i, j), recomputed.

    Raises
    ------
    InputError
        If it is not one.
    """
    name = tree["argument"]
    expect(isinstance(name, str), "an argument is not a text")
    expect((integer(tree["from"]), integer(tree["to"])) == (i, j), "the segments do not fit together")
    if name != "cut":
        keys = {"from", "to", "argument", "dimension"}
        keys |= {"wedge", "split"} if name == "flattening" else set()
        expect(set(tree) == keys, "a derivation has other keys than it should")
        argument = argue(name, stages, i, j, tree)
        node = Node(i, j, argument.dimension, argument)
    else:
        keys = {"from", "to", "argument", "dimension", "at", "gauge", "parts"}
        expect(set(tree) == keys and len(tree["parts"]) == 2, "a derivation has other keys than it should")
        at = integer(tree["at"])
        expect(i < at < j, "a segment is cut outside of itself")
        group, gauge = stages.gauge(i, at, j)
        expect(integer(tree["gauge"]) == gauge, f"what the cut at {at} takes away is not proved")
        parts = (
            read_derivation(stages, tree["parts"][0], i, at),
            read_derivation(stages, tree["parts"][1], at, j),
        )
        dimension = parts[0].dimension + parts[1].dimension - gauge
        node = Node(i, j, dimension, None, at, group, gauge, parts)
    expect(integer(tree["dimension"]) == node.dimension, f"the dimension from {i} to {j} does not add up")
    return node
