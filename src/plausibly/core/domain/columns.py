"""Columns of items in which many are equal: each distinct item is encoded once, whatever library holds the column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrow import arrow_chunks, buffer_of, only_column
from ..errors import DomainError
from ..words import Words
from .base import Domain, Encoded
from .items import is_missing, listed

Index = npt.NDArray[np.integer[Any]]

_CODED = ("string", "large_string", "binary", "large_binary", "fixed_size_binary", "dictionary")
"""Beginnings of the names of Arrow types that are encoded by their distinct items."""

_TIMES = ("date32", "date64", "timestamp", "duration")
"""Beginnings of the names of Arrow types that are times."""
_NUMBERS = {f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_NUMBERS |= {"halffloat": "f2", "float": "f4", "double": "f8", "date32[day]": "i4", "date64[ms]": "M8[ms]"}
"""NumPy's names of Arrow types that are numbers in one buffer."""


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
    if domain.takes_columns and not isinstance(items, Column):
        return domain.encode(items)
    column = _column_of(items, numbers=domain.item_type is int, all_numbers=domain.takes_arrays)
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


def encode_with_missing(domain: Domain, items: object, missing: int) -> Encoded:
    """Like ``encode_column``, with the code ``missing`` for missing items.

    >>> from .labels import Labels
    >>> encode_with_missing(Labels(["dark", "light"]), ["light", None, float("nan")], 2).tolist()
    [1, 2, 2]
    """
    column = _column_of(items, numbers=domain.item_type is int, all_numbers=domain.takes_arrays)
    if isinstance(column, np.ndarray) and column.dtype.kind in "iu" and not isinstance(column, np.ma.MaskedArray):
        return domain.encode(column)
    rows = column if isinstance(column, Column) else Column(listed(column))
    absent = _missing_places(rows.distinct)
    codes = np.full(len(absent), missing, dtype=np.uint64)
    present = np.flatnonzero(~absent)
    try:
        if len(present) == len(codes):
            codes = domain.encode(rows.distinct)
        else:
            codes[present] = domain.encode([rows.distinct[place] for place in present.tolist()])
    except DomainError as error:
        if rows.index is not None:
            # The position is that among all items, and an item that no row has is no error.
            return encode_with_missing(domain, rows.listed(), missing)
        if error.position is None:
            raise
        position, more, reason = int(present[error.position]), error.more, error.reason
    else:
        return codes if rows.index is None else codes[rows.index]
    refused = DomainError(Words(f"item {position}{f' and {more} more' if more else ''}: ", reason))
    refused.position, refused.more, refused.reason = position, more, reason
    raise refused


def _missing_places(items: list[Any]) -> npt.NDArray[np.bool_]:
    # Texts and whole numbers are never missing, and looking at each of a million takes long.
    rare = {kind for kind in set(map(type, items)) if kind not in (str, int)}
    if not rare:
        return np.zeros(len(items), dtype=np.bool_)
    return np.array([type(item) in rare and is_missing(item) for item in items], dtype=np.bool_)


def _column_of(items: object, *, numbers: bool, all_numbers: bool) -> object:
    # ``numbers``: whole numbers stay an array, which the domain encodes without looking for distinct ones.
    # ``all_numbers``: so do fractions, dates and durations, and a mask has the missing ones.
    given = only_column(items)
    chunks = arrow_chunks(given, "items", DomainError)
    if chunks is None:
        return given.to_list() if hasattr(given, "to_arrow") else given
    kind = str(chunks[0].type)
    if all_numbers and (array := number_array(chunks, kind)) is not None:
        return array
    if kind.startswith(("int", "uint")) and not any(chunk.null_count for chunk in chunks):
        return np.concatenate([_indices(chunk) for chunk in chunks]) if numbers else _coded(chunks)
    return arrow_column(chunks, kind)


def number_array(chunks: Sequence[Any], kind: str) -> npt.NDArray[Any] | None:
    """The numbers, dates or durations in Arrow arrays of one type, those that are null masked; None for other types.

    A time with a zone is an instant in UTC, whatever its zone.

    >>> import pyarrow
    >>> number_array([pyarrow.array([1.5, None])], "double").tolist()
    [1.5, None]
    """
    dtype = _dtype_of(kind)
    if dtype is None:
        return None
    array = np.concatenate([buffer_of(chunk, 1, dtype) for chunk in chunks])
    if kind.startswith("date32"):
        array = array.astype("M8[D]")
    if not any(chunk.null_count for chunk in chunks):
        return array
    return np.ma.masked_array(array, np.concatenate([_nulls(chunk) for chunk in chunks]))


def _dtype_of(kind: str) -> str | None:
    # date32 and date64 count days and milliseconds; the others have their unit in brackets.
    name, _, unit = kind.rstrip("]").partition("[")
    if name in ("timestamp", "duration"):
        return f"{'M8' if name == 'timestamp' else 'm8'}[{unit.partition(',')[0]}]"
    return _NUMBERS.get(kind)


def _nulls(chunk: Any) -> npt.NDArray[np.bool_]:
    if not chunk.null_count:
        return np.zeros(len(chunk), dtype=np.bool_)
    bits = np.frombuffer(chunk.buffers()[0], dtype=np.uint8)
    valid = np.unpackbits(bits, bitorder="little")[chunk.offset : chunk.offset + len(chunk)]
    return ~valid.astype(np.bool_)


def arrow_column(chunks: Sequence[Any], kind: str) -> Column:
    """The column in these Arrow arrays of one type; None stands for null.

    >>> import pyarrow
    >>> column = arrow_column([pyarrow.array(["a", "b", None, "a"])], "string")
    >>> column.distinct, column.index.tolist()
    (['a', 'b', None], [0, 1, 2, 0])
    """
    if kind.startswith(_CODED):
        return _coded(chunks)
    if kind.startswith(_TIMES):
        return _times(chunks, kind)
    return Column([item for chunk in chunks for item in chunk.to_pylist()])


def _times(chunks: Sequence[Any], kind: str) -> Column:
    # As NumPy's times: Python's have no nanoseconds, and need the rules of their zone. Of a date only its day counts.
    array = number_array(chunks, kind)
    assert array is not None
    absent, plain = np.ma.getmaskarray(array), np.asarray(array)
    distinct, index = np.unique(plain.astype("M8[D]") if plain.dtype.kind == "M" else plain, return_inverse=True)
    index = np.where(absent, len(distinct), index)
    return Column([*distinct, *([None] if absent.any() else [])], index)


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
