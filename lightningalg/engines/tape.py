"""The order in which gradients go back along a tape of operations."""

from __future__ import annotations

from typing import Any, TypeVar

Taped = TypeVar("Taped")


def reverse_order(root: Taped) -> list[Taped]:
    """Return the nodes with a gradient below ``root``, every node before its operands.

    A node's ``sources`` are its operands, each with what pulls a gradient back to it; ``None`` or empty where
    there are none.
    """
    order: list[Taped] = []
    seen = {id(root)}
    stack: list[tuple[Any, Any]] = [(root, iter(_sources(root)))]
    while stack:
        node, operands = stack[-1]
        for operand, _ in operands:
            if id(operand) not in seen:
                seen.add(id(operand))
                stack.append((operand, iter(_sources(operand))))
                break
        else:
            order.append(node)
            stack.pop()
    return order[::-1]


def _sources(node: Any) -> Any:
    return node.sources or ()
