"""Values that callers give a map, and what comes out: shapes and types are checked before and after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lightningalg.arguments import matrix_rows
from lightningalg.errors import InputError, LightningAlgError, ShapeError
from lightningalg.networks.matrix import Matrix
from lightningalg.networks.network import Network


def input_matrix(network: Network, X: object) -> Matrix:
    """Return an input as a matrix, once it has the network's shape.

    Raises
    ------
    InputError, ShapeError
        If it is no matrix, or of another shape.

    Examples
    --------
    >>> import lightningalg as la
    >>> input_matrix(la.deep_linear(2, 1), [[1], ["1/2"]])
    Matrix([[1], ['1/2']])
    """
    values = X if isinstance(X, Matrix) else Matrix(matrix_rows(X, "X"))
    if values.shape != (network.width, network.tokens):
        raise ShapeError(
            f"input of shape {values.shape[0]} x {values.shape[1]}, "
            f"but the network takes {network.width} x {network.tokens}"
        )
    return values


def computed(network: Network, parameters: Mapping[tuple[str, str], Matrix], X: Matrix) -> Matrix:
    """Return the network's value at entries of a ring that the caller chose.

    Raises
    ------
    InputError
        If these entries cannot be added and multiplied with one another.

    Examples
    --------
    >>> import lightningalg as la
    >>> net = la.deep_linear(1, 1)
    >>> computed(net, {("layer1", "W"): Matrix([[3]])}, Matrix([[None]]))
    Traceback (most recent call last):
    lightningalg.errors.InputError: values of types NoneType, int do not compute: accepted is one ring
    """
    try:
        value: Any = network.forward(parameters, X)
    except (TypeError, AttributeError, ValueError, ArithmeticError) as error:
        if isinstance(error, LightningAlgError):
            raise
        entries = [entry for M in (X, *parameters.values()) for row in M.rows for entry in row]
        names = ", ".join(sorted({type(entry).__name__ for entry in entries}))[:200]
        raise InputError(f"values of types {names} do not compute: accepted is one ring") from error
    if not isinstance(value, Matrix):
        raise InputError(f"the network's value is a {type(value).__name__}: its layers must give matrices")
    _refuse_text(value)
    return value


def _refuse_text(value: Matrix) -> None:
    """Text times an integer is text in Python, and no number."""
    if any(isinstance(entry, str | bytes | list | tuple) for row in value.rows for entry in row):
        raise InputError("texts and lists are no elements of a ring: accepted are numbers, or give ring=")
