"""What every domain is: a set of possible values, each known to schemes as an integer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import kernels
from ..errors import DomainError
from ..memory import unshared

MAX_DOMAIN_SIZE = 2**32
OTHER = "other"

Encoded = npt.NDArray[np.uint64]
Items = npt.NDArray[Any]


class Domain(ABC):
    """A set of possible values, each known to schemes as an integer."""

    size: int | None
    """Number of items, or None where they cannot be listed."""

    @abstractmethod
    def encode(self, items: object) -> Encoded:
        """The integer of each item; refuses what is not in the domain, naming positions and never items."""

    @abstractmethod
    def decode(self, codes: Encoded) -> Items:
        """The items of these integers, for a domain that can be listed."""

    def encoded(self, values: object) -> Encoded:
        """The values as they are, if they look like what ``encode`` returns; refuses others."""
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "iu" or values.ndim != 1:
            raise DomainError("values: expected an array of items that the domain has encoded, got something else")
        # Kernels read whole words, and another process must not change what has been checked.
        codes: Encoded = np.require(values, np.uint64, ["C", "A"])
        if not unshared(codes):
            codes = codes.copy()
        if self.size is not None and codes.size and kernels.extremes(codes)[1] >= self.size:
            raise DomainError("values: expected items that the domain has encoded, got other numbers")
        return codes

    def number(self, code: Any) -> int:
        """One encoded item as the integer that a client on a device makes of it."""
        return int(code)

    def of_number(self, number: int) -> Encoded:
        """The one encoded item that ``number`` makes this integer of, as an array."""
        return np.array([number], dtype=np.uint64)

    def spread(self, count: int) -> Encoded:
        """So many encoded items from the first to the last, or all where there are fewer."""
        last = (self.size or 2**64) - 1
        return np.array(sorted({i * last // (count - 1) for i in range(count)}), dtype=np.uint64)

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The domain as JSON-ready fields."""


def listed(items: object) -> list[Any]:
    """The items as a list (what is masked becomes None); refuses a single item, and more than one dimension."""
    if isinstance(items, np.ndarray):
        as_list: list[Any] = one_dimensional(items).tolist()
        return as_list
    if isinstance(items, str | bytes | Mapping | Set) or not isinstance(items, Iterable):
        raise DomainError(f"items: expected a sequence of items, got one {type(items).__name__}")
    # Iterating over a table of pandas would give the names of its columns.
    if getattr(items, "ndim", 1) != 1:
        raise DomainError(f"items: expected one dimension, got {type(items).__name__}; choose a column")
    return list(items)


def one_dimensional(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if array.ndim != 1:
        raise DomainError(f"items: expected one dimension, got {array.ndim}")
    return array


def type_name(item: object) -> str:
    return "a missing value" if item is None else type(item).__name__


def refuse(wrong: npt.NDArray[np.bool_], expected: str, items: Any = None, *, first: int = 0) -> None:
    # Positions and types only: an item may be somebody's secret. ``first`` is the position of the first one.
    positions = np.flatnonzero(wrong)
    if positions.size == 0:
        return
    position = int(positions[0])
    more = f" and {positions.size - 1} more" if positions.size > 1 else ""
    got = "a value outside the domain" if items is None else type_name(items[position])
    error = DomainError(f"item {first + position}{more}: {expected}, got {got}")
    error.position, error.reason = first + position, f"{expected}, got {got}"
    raise error
