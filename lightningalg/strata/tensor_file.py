"""Reading the tensor of a function from JSON, and its weights' tensor in the same form."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from lightningalg.certificates.files import read_json
from lightningalg.certificates.polynomials import decode_rational
from lightningalg.errors import InputError, shown
from lightningalg.strata.layer import SingleLayer
from lightningalg.strata.tensors import Key, Tensor

_ACCEPTED = (
    'accepted is {"tensor": T} with T[i][alpha][k][gamma], beta = alpha + k, or {"coefficients": '
    "[[value, i, alpha, beta, gamma], ...]}, indices from 0, alpha <= beta"
)


def read_tensor(path: Path, layer: SingleLayer) -> Tensor:
    """Return the tensor in a JSON file for a layer of these sizes.

    Entry ``T_{i, alpha beta, gamma}`` is the coefficient of ``x_alpha x_beta y_gamma`` in output i. Values
    are integers or texts ``"p/q"``.

    Raises
    ------
    InputError
        Naming the file, the place and what is accepted.

    Examples
    --------
    >>> read_tensor(Path("absent.json"), SingleLayer(2, 1, 1))
    Traceback (most recent call last):
    lightningalg.errors.InputError: tensor file absent.json: No such file or directory
    """
    try:
        return tensor_from_json(read_json(path, what="tensor file", integers_only=False), layer)
    except InputError as error:
        raise InputError(
            f"{error}" if "tensor file" in str(error) else f"tensor file {path}: {error}"
        ) from None


def tensor_from_json(value: Any, layer: SingleLayer) -> Tensor:
    """Return the tensor of a parsed file.

    Raises
    ------
    InputError
        If it does not have the accepted form or the sizes of the layer.

    Examples
    --------
    >>> tensor_from_json({"coefficients": [["1/2", 0, 0, 1, 0]]}, SingleLayer(2, 1, 1))
    {(0, 0, 1, 0): Fraction(1, 2)}
    >>> tensor_from_json({"tensor": [[[[1, 0], [0, 0]], [[0, 3]]]]}, SingleLayer(2, 1, 1))
    {(0, 0, 0, 0): Fraction(1, 1), (0, 1, 1, 1): Fraction(3, 1)}
    """
    if isinstance(value, Mapping) and set(value) == {"tensor"}:
        return _from_lists(value["tensor"], layer)
    if isinstance(value, Mapping) and set(value) == {"coefficients"}:
        return _from_table(value["coefficients"], layer)
    raise InputError(_ACCEPTED)


def _from_lists(value: Any, layer: SingleLayer) -> Tensor:
    tensor: Tensor = {}
    for i, output in enumerate(_listed(value, layer.dprime, "tensor")):
        for alpha, row in enumerate(_listed(output, layer.d, f"tensor[{i}]")):
            place = f"tensor[{i}][{alpha}]"
            for k, entries in enumerate(_listed(row, layer.d - alpha, place)):
                where = f"{place}[{k}]"
                for gamma, number in enumerate(_listed(entries, layer.d, where)):
                    coefficient = _number(number, f"{where}[{gamma}]")
                    if coefficient:
                        tensor[i, alpha, alpha + k, gamma] = coefficient
    return tensor


def _listed(value: Any, length: int, where: str) -> list[Any]:
    if not isinstance(value, list) or len(value) != length:
        found = f"a list of {len(value)}" if isinstance(value, list) else f"{shown(value, 40)!r}"
        raise InputError(f"{where} is {found}, a list of {length} is needed; {_ACCEPTED}")
    return value


def _from_table(value: Any, layer: SingleLayer) -> Tensor:
    tensor: Tensor = {}
    if not isinstance(value, list):
        raise InputError(f'"coefficients" is not a list; {_ACCEPTED}')
    for number, entry in enumerate(value):
        where = f"coefficients[{number}]"
        if not isinstance(entry, list) or len(entry) != 5 or not all(type(n) is int for n in entry[1:]):
            raise InputError(f"{where} is {shown(entry)!r}; {_ACCEPTED}")
        key: Key = (entry[1], entry[2], entry[3], entry[4])
        i, alpha, beta, gamma = key
        if not (0 <= i < layer.dprime and 0 <= alpha <= beta < layer.d and 0 <= gamma < layer.d):
            raise InputError(
                f"{where} has indices {shown(list(key))}: accepted are i below {layer.dprime}, "
                "alpha <= beta and "
                f"gamma below {layer.d}, all from 0"
            )
        if key in tensor:
            raise InputError(f"{where}: indices {shown(list(key))} occur twice")
        tensor[key] = _number(entry[0], where)
    return {key: value for key, value in tensor.items() if value}


def _number(value: Any, where: str) -> Fraction:
    if isinstance(value, float):
        raise InputError(
            f'{where} is {shown(value)}: floating point is not exact; write an integer or a text "p/q"'
        )
    try:
        return decode_rational(value)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
