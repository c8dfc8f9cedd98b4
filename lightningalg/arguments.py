"""Arguments of public functions: accepted, made plain Python, or refused in one sentence.

Every function here takes a value and the name of the argument, and returns the value as the rest of the
package wants it. numpy's integers and arrays are accepted wherever integers and lists are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from operator import index
from pathlib import Path
from typing import Any, TypeVar

from lightningalg.errors import InputError, ShapeError, shown

T = TypeVar("T")


def _kind(value: object) -> str:
    """Return the name of a value's type with its article."""
    name = type(value).__name__
    return f"{'an' if name[:1] in 'aeiouAEIOU' else 'a'} {name}"


def is_flag(value: object) -> bool:
    """Whether a value is a truth value, Python's or numpy's.

    Examples
    --------
    >>> is_flag(True), is_flag(1)
    (True, False)
    """
    return isinstance(value, bool) or (
        getattr(getattr(value, "dtype", None), "kind", "") == "b" and getattr(value, "shape", None) == ()
    )


def flag(value: object, name: str) -> bool:
    """Return ``value`` if it is a truth value.

    Raises
    ------
    InputError
        Otherwise.

    Examples
    --------
    >>> flag(1, "residual")
    Traceback (most recent call last):
    lightningalg.errors.InputError: residual is 1: accepted are true and false
    """
    if not is_flag(value):
        raise InputError(f"{name} is {shown(value)}: accepted are true and false")
    return bool(value)


def integer(value: object, name: str, least: int, most: int | None = None) -> int:
    """Return ``value``, a Python or numpy integer in a range, as an ``int``.

    Parameters
    ----------
    least, most
        The range; without ``most`` there is no upper end.

    Raises
    ------
    InputError
        For other values, and for truth values.

    Examples
    --------
    >>> integer(3, "degree", 1, 4)
    3
    >>> integer(2.5, "degree", 1, 4)
    Traceback (most recent call last):
    lightningalg.errors.InputError: degree is 2.5: accepted are integers from 1 to 4
    """
    try:
        number = least - 1 if is_flag(value) else index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if number < least or (most is not None and number > most):
        wanted = f"integers from {least}" + (" on" if most is None else f" to {most}")
        raise InputError(f"{name} is {shown(value)}: accepted are {wanted}")
    return number


def positive_number(value: object, name: str) -> float:
    """Return ``value`` as a float if it is a positive number.

    Raises
    ------
    InputError
        Otherwise.

    Examples
    --------
    >>> positive_number("4", "max_memory")
    Traceback (most recent call last):
    lightningalg.errors.InputError: max_memory is 4, a str: accepted are positive numbers
    """
    number = math.nan
    if not isinstance(value, str | bytes | complex) and not is_flag(value):
        try:
            number = float(value)  # type: ignore[arg-type]
        except Exception:  # of a foreign class: whatever its __float__ does
            number = math.nan
    if not number > 0:
        raise InputError(f"{name} is {shown(value)}, {_kind(value)}: accepted are positive numbers")
    return number


def listed(values: object, name: str, what: str = "numbers") -> list[Any]:
    """Return the entries of a list, a tuple, another sequence or an array.

    Parameters
    ----------
    what
        What the entries are, for the message.

    Raises
    ------
    InputError
        For other values: text, mappings, sets (without order), generators (used up when read).

    Examples
    --------
    >>> listed((1, 2), "theta")
    [1, 2]
    >>> listed("12", "theta")
    Traceback (most recent call last):
    lightningalg.errors.InputError: theta is 12, a str: accepted are lists of numbers
    """
    sized = hasattr(values, "__len__") and hasattr(values, "__getitem__")
    if not isinstance(values, str | bytes | bytearray | Mapping | Set) and (
        isinstance(values, Sequence) or sized
    ):
        try:
            return list(values)  # type: ignore[call-overload]
        except TypeError:  # an array without axes
            pass
    raise InputError(f"{name} is {shown(values)}, {_kind(values)}: accepted are lists of {what}")


def matrix_rows(values: object, name: str) -> list[list[Any]]:
    """Return the rows of a matrix: a list of lists of the same length, an array, or anything with ``rows``.

    Raises
    ------
    ShapeError
        For other values.

    Examples
    --------
    >>> matrix_rows([[1, 2], [3]], "X")
    Traceback (most recent call last):
    lightningalg.errors.ShapeError: X has rows of 1 and 2 entries: accepted are rows of one length
    """
    inner = getattr(values, "rows", None)
    try:
        table = listed(values if inner is None or callable(inner) else inner, name, "rows of numbers")
        rows = [listed(row, f"{name}, row {number},") for number, row in enumerate(table, start=1)]
    except InputError as error:
        raise ShapeError(str(error)) from None
    lengths = sorted({len(row) for row in rows})
    if not rows or not lengths[0]:
        raise ShapeError(f"{name} is empty: accepted are matrices with rows and columns")
    if len(lengths) > 1:
        raise ShapeError(
            f"{name} has rows of {lengths[0]} and {lengths[-1]} entries: accepted are rows of one length"
        )
    return rows


def one_of(value: object, name: str, accepted: Sequence[str]) -> str:
    """Return ``value`` if it is one of the accepted words.

    Raises
    ------
    InputError
        Otherwise, with all of them.

    Examples
    --------
    >>> one_of("gpu", "engine", ("auto", "flint"))
    Traceback (most recent call last):
    lightningalg.errors.InputError: engine 'gpu' is unknown: accepted are auto, flint
    """
    if not isinstance(value, str) or value not in accepted:
        what = repr(shown(value, 40)) if isinstance(value, str) else f"that is {_kind(value)}"
        raise InputError(f"{name} {what} is unknown: accepted are {', '.join(accepted)}")
    return value


def function(value: T, name: str, what: str = "functions of one value") -> T:
    """Return ``value`` if it can be called.

    Parameters
    ----------
    what
        What is accepted, for the message.

    Raises
    ------
    InputError
        Otherwise.

    Examples
    --------
    >>> function(None, "progress")
    Traceback (most recent call last):
    lightningalg.errors.InputError: progress is a NoneType, not callable: accepted are functions of one value
    """
    if not callable(value):
        raise InputError(f"{name} is {_kind(value)}, not callable: accepted are {what}")
    return value


def mapping(value: object, name: str, example: str) -> Mapping[Any, Any]:
    """Return ``value`` if it is a mapping.

    Raises
    ------
    InputError
        Otherwise, with an example.

    Examples
    --------
    >>> mapping([1], "tensor", "{(0, 0, 1, 0): 1}")
    Traceback (most recent call last):
    lightningalg.errors.InputError: tensor is a list: accepted are mappings such as {(0, 0, 1, 0): 1}
    """
    if not isinstance(value, Mapping):
        raise InputError(f"{name} is {_kind(value)}: accepted are mappings such as {example}")
    return value


def instance(value: T, kind: type[Any], name: str, how: str) -> T:
    """Return ``value`` if it is of a class of this package.

    Parameters
    ----------
    kind
        The class.
    how
        What is accepted, for the message.

    Raises
    ------
    InputError
        Otherwise, saying how to get one.

    Examples
    --------
    >>> instance(3, str, "report", "a text")
    Traceback (most recent call last):
    lightningalg.errors.InputError: report is an int: accepted is a text
    """
    if not isinstance(value, kind):
        raise InputError(f"{name} is {_kind(value)}: accepted is {how}")
    return value


def only(table: Mapping[str, Any], accepted: set[str], what: str) -> None:
    """Refuse fields of a table that are not accepted.

    Parameters
    ----------
    table, accepted
        Its fields, and the names of those that it may have.
    what
        What error messages call the table.

    Raises
    ------
    InputError
        Naming one that is not accepted, and all that are.

    Examples
    --------
    >>> only({"widht": 3}, {"width", "tokens"}, "a network")
    Traceback (most recent call last):
    lightningalg.errors.InputError: a network has no field 'widht': accepted are tokens, width
    """
    for key in table:
        if key not in accepted:
            raise InputError(
                f"{what} has no field {shown(key)!r}: accepted are {', '.join(sorted(accepted))}"
            )


def file_path(value: object, name: str) -> Path:
    """Return a path given as text or as a path.

    Raises
    ------
    InputError
        For other values.

    Examples
    --------
    >>> file_path(3, "out")
    Traceback (most recent call last):
    lightningalg.errors.InputError: out is an int: accepted are texts and paths
    """
    if not isinstance(value, str | Path):
        raise InputError(f"{name} is {_kind(value)}: accepted are texts and paths")
    return Path(value)
