"""Checks of given items: a sequence of them, and positions and types of the wrong ones, never the items themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from numbers import Real
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ..errors import DomainError
from ..words import Kind, Part, Words, kind_of


def listed(items: object) -> list[Any]:
    """The given items as a list, with None for masked ones. Raises for a single item and for several dimensions."""
    if isinstance(items, np.ndarray):
        as_list: list[Any] = one_dimensional(items).tolist()
        return as_list
    if isinstance(items, str | bytes | Mapping | Set) or not isinstance(items, Iterable):
        raise DomainError(Words("items: expected a sequence of items, got one ", kind_of(items)))
    # Iterating over a table of pandas would give the names of its columns, over one of Polars the columns.
    if getattr(items, "ndim", 1) != 1 or hasattr(items, "columns"):
        raise DomainError(Words("items: expected one dimension, got ", kind_of(items), "; choose a column"))
    # Iterating over a column of pyarrow would give its own kind of scalars.
    return list(items.to_pylist() if hasattr(items, "to_pylist") else items)


def object_array(items: Iterable[Any]) -> npt.NDArray[Any]:
    """The given items as an array of objects."""
    given = list(items)
    names = np.empty(len(given), dtype=object)
    names[:] = given
    return names


def one_dimensional(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array of items unchanged. Raises unless it has one dimension."""
    if array.ndim != 1:
        raise DomainError(f"items: expected one dimension, got {array.ndim}")
    return array


def type_name(item: object) -> Part:
    """The type of an item, for messages."""
    return "a missing value" if is_missing(item) else Kind(type(item))


def is_missing(item: object) -> bool:
    """Whether an item stands for a missing value: None, NaN, or the NA and NaT of pandas."""
    return item is None or type(item).__name__ in ("NAType", "NaTType") or (isinstance(item, Real) and item != item)


def refuse(
    wrong: npt.NDArray[np.bool_],
    expected: str,
    items: Any = None,
    *,
    first: int = 0,
    got: str = "a value outside the domain",
) -> None:
    """Raise a DomainError if any item is wrong, with the position of the first one, counted from ``first``.

    The message shows the type of that item if ``items`` are given, else ``got``. It never shows the item, which may be
    somebody's secret.
    """
    positions = np.flatnonzero(wrong)
    if positions.size == 0:
        return
    position = int(positions[0])
    others = positions.size - 1
    more = f" and {others} more" if others else ""
    reason = Words(expected, ", got ", got if items is None else type_name(items[position]))
    error = DomainError(Words(f"item {first + position}{more}: ", reason))
    error.position, error.more, error.reason = first + position, others, reason
    raise error


def refuse_asked(position: int, reason: str, told: str) -> NoReturn:
    """Raise a DomainError about an item that an analyst asks about.

    ``told`` is the reason for tools that may show the item.
    """
    error = DomainError(Words(f"item {position}: ", reason))
    error.position, error.reason, error.told = position, reason, told
    raise error


def refuse_halves(texts: Iterable[str]) -> None:
    """Refuse items that are texts without a UTF-8 form: those with half of a surrogate pair."""
    given = list(texts)
    try:
        "".join(given).encode()
    except UnicodeEncodeError:
        # Checked one by one only now, so that the common case does not pay for the position.
        wrong = np.array([any("\ud800" <= character <= "\udfff" for character in text) for text in given])
    else:
        return
    # Outside the handler: Python's own error would travel along and show the text.
    refuse(wrong, "expected text that has a UTF-8 form", got="text without one")
