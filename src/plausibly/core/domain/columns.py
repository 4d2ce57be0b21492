"""Columns of items in which many are equal: each distinct item is encoded once, whatever library holds the column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import DomainError
from ..words import Words, kind_of
from .base import Domain, Encoded

Index = npt.NDArray[np.integer[Any]]


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


def encode_column(domain: Domain, items: object) -> Encoded:
    """The domain's code of each item of a column or any other sequence. Invalid items are reported by position."""
    column = _column_of(items)
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


def _column_of(items: object) -> object:
    # Columns of pyarrow and Polars are recognized by their methods: neither library is needed, or imported, for others.
    given: Any = items
    if hasattr(given, "to_arrow"):
        try:
            given = given.to_arrow()
        except ImportError:  # Polars without pyarrow
            return given.to_list()
    if not hasattr(given, "to_pylist"):
        return given
    if not hasattr(given, "dictionary_encode"):
        raise DomainError(Words("items: expected one dimension, got ", kind_of(items), "; choose a column"))
    chunks, kind = given.chunks if hasattr(given, "chunks") else [given], str(given.type)
    if kind.startswith(("int", "uint")) and chunks and not given.null_count:
        return np.concatenate([_buffer_of(chunk) for chunk in chunks])
    return arrow_column(chunks, kind)


def arrow_column(chunks: Sequence[Any], kind: str) -> Column:
    """The column in these Arrow arrays of one type; None stands for null.

    >>> import pyarrow
    >>> column = arrow_column([pyarrow.array(["a", "b", None, "a"])], "string")
    >>> column.distinct, column.index.tolist()
    (['a', 'b', None], [0, 1, 2, 0])
    """
    if not kind.startswith(("string", "large_string", "binary", "large_binary", "dictionary")) or "view" in kind:
        return Column([item for chunk in chunks for item in chunk.to_pylist()])
    distinct: list[Any] = []
    places: list[Index] = []
    for chunk in chunks:
        coded = chunk.dictionary_encode()
        own, indices = coded.dictionary.to_pylist(), coded.indices
        if indices.null_count:
            indices = indices.cast("int64").fill_null(len(own))
            own.append(None)
        place = _buffer_of(indices)
        # NumPy adds uint64 and int64 as floating-point numbers.
        places.append(place.astype(np.int64) + np.int64(len(distinct)) if distinct else place)
        distinct += own
    if len(places) == 1:
        return Column(distinct, places[0])
    return Column(distinct, np.concatenate([np.empty(0, dtype=np.int64), *(own.astype(np.int64) for own in places)]))


def _buffer_of(array: Any) -> Index:
    # Arrow's own conversion would import pandas first, which takes longer than a million values.
    kind = str(array.type)
    content: Index = np.frombuffer(array.buffers()[1], dtype=kind) if len(array) else np.empty(0, dtype=kind)
    return content[array.offset : array.offset + len(array)]
