"""Columns of items in which many are equal: each distinct item is encoded once, whatever library holds the column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrow import arrow_chunks, buffer_of, only_column
from ..errors import DomainError
from .base import Domain, Encoded

Index = npt.NDArray[np.integer[Any]]

_CODED = ("string", "large_string", "binary", "large_binary", "fixed_size_binary", "dictionary")
"""Beginnings of the names of Arrow types that are encoded by their distinct items."""


@dataclass(frozen=True, eq=False, repr=False)
class Column:
    """Items in order: the distinct ones, and for each row the position of its item among them.

    Without an ``index``, row i has the i-th of the ``distinct`` items, which may then repeat.
    """

    distinct: list[Any]
    index: Index | None = None

    def __len__(self) -> int:
        return len(self.distinct) if self.index is None else len(self.index)

    def listed(self) -> list[Any]:
        """The item of each row of the column."""
        if self.index is None:
            return self.distinct
        return list(map(self.distinct.__getitem__, self.index.tolist()))

    def item_at(self, row: int) -> Any:
        """The item of one row of the column."""
        return self.distinct[row if self.index is None else int(self.index[row])]

    def rows_with(self, chosen: Sequence[bool]) -> npt.NDArray[np.bool_]:
        """Whether the column has one of the chosen distinct items, row by row."""
        found = np.array(chosen, dtype=np.bool_)
        return found if self.index is None else found[self.index]

    def only(self, chosen: Sequence[bool]) -> Column:
        """The column with only those rows that have one of the chosen distinct items."""
        kept = [item for item, good in zip(self.distinct, chosen, strict=True) if good]
        if self.index is None:
            return Column(kept)
        places = np.cumsum(np.array(chosen, dtype=np.int64)) - 1
        return Column(kept, places[self.index[self.rows_with(chosen)]])

    def part(self, first: int, last: int) -> Column:
        """The rows of the column from ``first`` up to ``last``, with only those distinct items that they have.

        >>> Column(["a", "b", "c"], np.array([0, 2, 2, 1])).part(1, 3).distinct
        ['c']
        """
        if (first, last) == (0, len(self)):
            return self
        if self.index is None:
            return Column(self.distinct[first:last])
        used, index = np.unique(self.index[first:last], return_inverse=True)
        return Column([self.distinct[place] for place in used.tolist()], index)


def encode_column(domain: Domain, items: object) -> Encoded:
    """The domain's code of each item of a column or any other sequence. Invalid items are reported by position."""
    column = _column_of(items, numbers=domain.item_type is int)
    if not isinstance(column, Column):
        return domain.encode(column)
    if column.index is None:
        return domain.encode(column.distinct)
    try:
        codes = domain.encode(column.distinct)
    except DomainError:
        codes = None
    # The position is that among all items, and an item that no row has is no error.
    return domain.encode(column.listed()) if codes is None else codes[column.index]


def _column_of(items: object, *, numbers: bool) -> object:
    # ``numbers``: whole numbers stay an array, which the domain encodes without looking for distinct ones.
    given = only_column(items)
    chunks = arrow_chunks(given, "items", DomainError)
    if chunks is None:
        return given.to_list() if hasattr(given, "to_arrow") else given
    kind = str(chunks[0].type)
    if kind.startswith(("int", "uint")) and not any(chunk.null_count for chunk in chunks):
        return np.concatenate([_indices(chunk) for chunk in chunks]) if numbers else _coded(chunks)
    return arrow_column(chunks, kind)


def arrow_column(chunks: Sequence[Any], kind: str) -> Column:
    """The column in these Arrow arrays of one type; None stands for null.

    >>> import pyarrow
    >>> column = arrow_column([pyarrow.array(["a", "b", None, "a"])], "string")
    >>> column.distinct, column.index.tolist()
    (['a', 'b', None], [0, 1, 2, 0])
    """
    if kind.startswith(_CODED):
        return _coded(chunks)
    return Column([item for chunk in chunks for item in chunk.to_pylist()])


def _coded(chunks: Sequence[Any]) -> Column:
    # Only distinct items become Python objects.
    distinct: list[Any] = []
    places: list[Index] = []
    for chunk in chunks:
        coded = chunk.dictionary_encode()
        own, indices = coded.dictionary.to_pylist(), coded.indices
        if indices.null_count:
            indices = indices.cast("int64").fill_null(len(own))
            own.append(None)
        place = _indices(indices)
        # NumPy adds uint64 and int64 as floating-point numbers.
        places.append(place.astype(np.int64) + np.int64(len(distinct)) if distinct else place)
        distinct += own
    if len(places) == 1:
        return Column(distinct, places[0])
    return Column(distinct, np.concatenate([np.empty(0, dtype=np.int64), *(own.astype(np.int64) for own in places)]))


def _indices(array: Any) -> Index:
    return buffer_of(array, 1, str(array.type))
