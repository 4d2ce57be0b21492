"""One column of a Parquet file as users' values: texts, whole numbers or, for domains that take them, any numbers and
times. Messages name the row and never show a value.

The file is not trusted. Its metadata and page headers are checked before Arrow allocates the memory that they claim,
and batches have few enough rows to stay small.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, BinaryIO

import numpy as np

from ..core.domain import Column
from ..core.domain.columns import arrow_column
from ..core.errors import ParameterError
from ..core.wording import shown
from ..core.words import Words
from .batches import Batch, Joined, SeparatorError
from .parquet_footer import FooterError, check_footer
from .parquet_pages import DELTA_BYTE_ARRAY, DELTA_LENGTH_BYTE_ARRAY, DICTIONARY, Page, PageError, pages_of
from .sources import CHOOSE_ONE, Source, ValuesError, almost_named
from .thrift import ThriftError

_ROWS = 1 << 15
_BUFFER = 1 << 20
_MOST_FOOTER = 1 << 23
"""Maximum size of the metadata in bytes: about 60,000 column chunks with their statistics."""
_MOST_PAGE, _MOST_DICTIONARY = 1 << 27, 1 << 24
"""Maximum size of a decompressed page in bytes. Most writers start a new page after 1 MiB."""
_MOST_VALUES = 1 << 24
"""Maximum number of values in a page."""
_MOST_ITEMS, _MOST_LISTS = 1 << 24, 1 << 27
"""Maximum number of items in the lists of a row group, and of their bytes."""
_MOST_BATCH = 1 << 26
"""Maximum number of bytes in the pages of a batch of more than one row."""
_MOST_DELTAS, _FEW_ROWS = 1 << 22, 16
"""Maximum size of a page in bytes, and rows of a batch, in encodings where few bytes can yield many long values."""
_DELTAS = (DELTA_BYTE_ARRAY, DELTA_LENGTH_BYTE_ARRAY)
_MOST_TEXT = 1 << 24
"""Maximum number of characters in a batch: with a dictionary, few bytes yield many values."""
_MAGIC = b"PAR1"
_TAIL = struct.Struct("<I4s")
_DAMAGED = "the metadata of the Parquet file are cut off or damaged"


class ParquetColumn:
    """The values of a Parquet column in batches, with their row numbers from 1; None for null.

    The name of the column may be omitted if there is only one. ``binary`` allows a column of bytes, ``numbers`` one of
    fractions, dates, times or durations, ``lists`` one of lists of texts, which become tuples. ``among``: whether it is
    one of several columns, so that messages name it.
    """

    def __init__(
        self,
        source: Source,
        column: str | None,
        *,
        binary: bool = False,
        numbers: bool = False,
        lists: bool = False,
        among: bool = False,
    ) -> None:
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError as error:
            raise ImportError("Parquet files need pyarrow: pip install pyarrow") from error
        if source.path is None:
            raise ParameterError("Parquet: expected the name of a file, got a stream; Parquet is read from its end")
        self._arrow, self._parquet, self._source = pyarrow, parquet, source
        self._wrong = (pyarrow.ArrowException, OSError, ValueError, NotImplementedError, UnicodeDecodeError)
        # Errors of opening the file have the same form as for other files.
        with source.opened() as file:
            footer, self._end = self._footer(file)
        try:
            whole = pyarrow.BufferReader(_MAGIC + footer + _TAIL.pack(len(footer), _MAGIC))
            self._metadata = parquet.read_metadata(whole)
            self._file = self._opened([])
            schema = self._file.schema_arrow
            self.rows: int = self._metadata.num_rows
            said = self._metadata.metadata or {}
        except self._wrong:
            raise source.refused(_DAMAGED) from None
        if b"plausibly.version" in said:
            raise self._refused("expected users' values, got reports; plausibly collect reads reports")
        self._place = self._found(list(schema.names), column)
        kind = schema.field(self._place).type
        if why := _unfit(kind, binary, numbers, lists):
            raise self._refused(f"{shown(column)}: {why}" if among else why)
        self._nested = pyarrow.types.is_nested(kind)
        self._name = schema.names[self._place]

    def _footer(self, file: BinaryIO) -> tuple[bytes, int]:
        # Returns the metadata and their position. They are checked before anything else interprets them.
        first = file.read(len(_MAGIC))
        if not first.startswith(b"PAR"):
            raise self._source.refused("not a Parquet file")
        size = file.seek(0, 2)
        file.seek(max(0, size - _TAIL.size))
        length, last = _TAIL.unpack(file.read(_TAIL.size).rjust(_TAIL.size, b"\0"))
        start = size - _TAIL.size - length
        if (first, last) != (_MAGIC, _MAGIC) or start < len(_MAGIC):
            raise self._source.refused(_DAMAGED)
        if length > _MOST_FOOTER:
            raise self._source.refused(
                f"expected metadata of at most {_MOST_FOOTER:,} bytes, got {length:,}; write the column to its own file"
            )
        file.seek(start)
        footer = file.read(length)
        try:
            check_footer(footer)
        except FooterError:
            raise self._source.refused(_DAMAGED) from None
        return footer, start

    def _opened(self, dictionary: list[str]) -> Any:
        return self._parquet.ParquetFile(
            self._source.path, metadata=self._metadata, buffer_size=_BUFFER, read_dictionary=dictionary
        )

    def _leaves(self) -> list[int]:
        # Several, since a nested field may have the same path as a column with dots in its name.
        paths = [self._metadata.schema.column(each).path for each in range(self._metadata.num_columns)]
        if self._nested:
            return [each for each, path in enumerate(paths) if path.startswith(f"{self._name}.")]
        return [each for each, path in enumerate(paths) if path == self._name]

    def _rows_at_once(self) -> int:
        # The number of rows that keeps every batch small, wherever it begins. This reads all page headers.
        with self._source.opened() as file:
            found = {leaf: self._pages(file, leaf) for leaf in self._leaves()}
        if self._nested:
            # A row may have any number of items, but those of a row group are few.
            self._file.close()
            self._file = self._opened([self._metadata.schema.column(leaf).path for leaf in found])
            return _ROWS
        rows = _ROWS
        for leaf, pages in found.items():
            encodings = {page.encoding for page in pages if page.type != DICTIONARY}
            repeats = any(page.type == DICTIONARY for page in pages)
            texts = self._metadata.schema.column(leaf).physical_type == "BYTE_ARRAY"
            if repeats and texts and encodings.isdisjoint(_DELTAS):
                # Then a repeated value is in memory only once. Arrow cannot do this for the other two encodings.
                self._file.close()
                self._file = self._opened([self._name])
                repeats = False
            if DELTA_BYTE_ARRAY in encodings or (texts and repeats):
                rows = min(rows, _FEW_ROWS)
            data = [page for page in pages if page.type != DICTIONARY]
            while rows > 1 and _most_together(data, rows) > _MOST_BATCH:
                rows //= 2
        return rows

    def _groups(self) -> list[int]:
        # Without empty row groups, which may claim any position for their pages.
        return [each for each in range(self._metadata.num_row_groups) if self._metadata.row_group(each).num_rows]

    def _pages(self, file: BinaryIO, leaf: int) -> list[Page]:
        found: list[Page] = []
        for group in self._groups():
            column = self._metadata.row_group(group).column(leaf)
            start = column.data_page_offset
            if column.has_dictionary_page and 0 < column.dictionary_page_offset < start:
                start = column.dictionary_page_offset
            end = start + column.total_compressed_size
            if start < len(_MAGIC) or not start <= end <= self._end:
                raise PageError("pages outside the file")
            pages = list(pages_of(file, start, end))
            for page in pages:
                _refuse_large(page)
            data = [page for page in pages if page.type != DICTIONARY]
            if self._nested:
                self._expect_few_items(pages, data)
            elif (
                len(pages) - len(data) > 1
                or sum(page.values for page in data) != self._metadata.row_group(group).num_rows
            ):
                raise PageError("pages that do not add up to their column")
            found += pages
        return found

    def _expect_few_items(self, pages: Sequence[Page], data: Sequence[Page]) -> None:
        if len(pages) - len(data) > 1 or any(page.encoding in _DELTAS for page in data):
            raise PageError("lists of texts in an encoding where few bytes can yield many long values")
        items, size = sum(page.values for page in data), sum(page.size for page in pages)
        if items > _MOST_ITEMS or size > _MOST_LISTS:
            raise self._source.refused(
                f"expected lists with at most {_MOST_ITEMS:,} items and 128 MiB in a row group, got more; write "
                "smaller row groups"
            )

    def __iter__(self) -> Iterator[Batch]:
        """Batches of the Parquet column, with row numbers from 1."""
        done = 0
        try:
            rows, groups = self._rows_at_once(), self._groups()
            # Arrow cannot join the dictionaries of lists in two row groups.
            parts = [[group] for group in groups] if self._nested else [groups]
            batches = (self._file.iter_batches(rows, row_groups=part, columns=[self._name]) for part in parts)
            for batch in chain.from_iterable(batches):
                column = self._values(batch.column(batch.schema.names.index(self._name)), done)
                for first, last in _cuts(column):
                    yield Batch(range(done + first + 1, done + last + 1), column.part(first, last))
                done += len(batch)
        except (ValuesError, MemoryError):  # ArrowMemoryError is a MemoryError, and no sign of damage
            raise
        except (PageError, ThriftError):
            raise self._source.refused(
                "damaged or too large pages; expected pages of at most 128 MiB, and values of at most 1 MiB"
            ) from None
        except self._wrong:
            raise self._source.refused("cut off or damaged", f"after row {done}") from None
        finally:
            self._file.close()

    def _values(self, column: Any, done: int) -> Column:
        if self._nested:
            return _lists(self._source, column, done)
        if self._arrow.types.is_dictionary(column.type):
            with _as_text(self._source, column, done):
                return _looked_up(column)
        return _plain_values(self._source, column, done)

    def _found(self, names: list[str], column: str | None) -> int:
        if column is None:
            if len(names) != 1:
                raise self._refused(Words(f"expected one column, got {len(names)}; ", CHOOSE_ONE))
            return 0
        if names.count(column) != 1:
            got = f"got {names.count(column)} among {len(names)}"
            raise self._refused(Words(f"expected one column named {shown(column)}, {got}", almost_named(column, names)))
        return names.index(column)

    def _refused(self, why: str) -> ValuesError:
        self._file.close()
        return self._source.refused(why)


class JoinedColumns:
    """Several columns of a Parquet file as one, in batches with row numbers from 1."""

    def __init__(self, source: Source, joined: Joined) -> None:
        self._source, self._joined = source, joined
        self._columns = [
            ParquetColumn(source, name, numbers=numbers, among=True)
            for name, numbers in zip(joined.columns, joined.numbers, strict=True)
        ]
        self.rows = self._columns[0].rows

    def __iter__(self) -> Iterator[Batch]:
        columns, done = [_Rows(column) for column in self._columns], 0
        # Each batch ends where a batch of any column does, so that it has little text, too.
        while rows := min(left := [column.left() for column in columns]):
            places, parts = range(done + 1, done + rows + 1), [column.following(rows) for column in columns]
            done += rows
            try:
                joined = Batch(places, self._joined.column(parts))
            except SeparatorError:
                joined = self._one_by_one(parts, places)
            yield joined
        if any(left):
            raise self._source.refused("cut off or damaged", f"after row {done}")

    def _one_by_one(self, parts: Sequence[Column], places: Sequence[int]) -> Batch:
        good: list[int] = []
        found: list[Any] = []
        for place, row in zip(places, zip(*(part.listed() for part in parts), strict=True), strict=True):
            try:
                found.append(self._joined.value(row))
            except SeparatorError as error:
                self._source.refuse(error.why, "row", place)
            else:
                good.append(place)
        return Batch(good, Column(found))


class _Rows:
    # The values of a column, some rows at a time. Equal values stay one in memory.
    def __init__(self, batches: Iterable[Batch]) -> None:
        self._batches = iter(batches)
        self._column, self._used = Column([]), 0

    def left(self) -> int:
        """Number of rows left in the present batch of the column; 0 only at the end."""
        while self._used == len(self._column):
            batch = next(self._batches, None)
            if batch is None:
                return 0
            self._column, self._used = batch.column, 0
        return len(self._column) - self._used

    def following(self, rows: int) -> Column:
        """The next rows of the column."""
        first, self._used = self._used, self._used + rows
        return self._column.part(first, self._used)


def parquet_values(
    source: Source,
    columns: Sequence[str] | None,
    joined: Joined | None,
    *,
    binary: bool,
    numbers: bool = False,
    lists: bool = False,
) -> ParquetColumn | JoinedColumns:
    """The values of a column of a Parquet file, or of several that are joined, in batches."""
    if joined is None:
        column = None if columns is None else columns[0]
        return ParquetColumn(source, column, binary=binary, numbers=numbers, lists=lists)
    return JoinedColumns(source, joined)


def array_batches(
    source: Source, arrays: Iterable[Any], *, binary: bool, numbers: bool, lists: bool = False
) -> Iterator[Batch]:
    """The values in Arrow arrays in batches, with row numbers from 1.

    ``binary`` allows bytes, ``numbers`` fractions and times, ``lists`` lists of texts.
    """
    from pyarrow import types

    done = 0
    for array in arrays:
        if why := _unfit(array.type, binary, numbers, lists):
            raise source.refused(why)
        read = _lists if types.is_nested(array.type) else _plain_values
        yield Batch(range(done + 1, done + len(array) + 1), read(source, array, done))
        done += len(array)


def _unfit(kind: Any, binary: bool, numbers: bool, lists: bool = False) -> str:
    # Why a column of this Arrow type has no values for us; empty if it may have.
    from pyarrow import string_view, types

    if lists and (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        kind = kind.value_type
    if types.is_dictionary(kind):
        kind = kind.value_type
    text = types.is_string(kind) or types.is_large_string(kind) or kind == string_view()
    bytes_ = types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    if text or (types.is_integer(kind) and not lists) or types.is_null(kind) or (binary and bytes_):
        return ""
    times = types.is_date(kind) or types.is_timestamp(kind) or types.is_duration(kind)
    if numbers and (times or types.is_floating(kind) or types.is_decimal(kind)):
        return ""
    # The name of a nested type would show the names of its fields.
    got = "a nested type" if types.is_nested(kind) else str(kind)
    if lists:
        return f"expected a column of lists of texts, got {got}"
    why = "; in pandas, use Int64 for whole numbers with gaps" * types.is_floating(kind)
    if numbers:
        return f"expected a column of numbers, dates, durations or texts, got {got}"
    return f"expected a column of texts or whole numbers, got {got}{why}"


def _plain_values(source: Source, column: Any, done: int) -> Column:
    with _as_text(source, column, done):
        found = arrow_column([column], str(column.type))
    if "float" in str(column.type) or str(column.type) == "double":
        return Column([None if value is None or value != value else value for value in found.distinct])
    return found


def _looked_up(column: Any) -> Column:
    if column.null_count == len(column):
        return Column([None] * len(column))
    # Look up only the entries that this batch uses: the dictionary may be larger than the batch.
    distinct, places = np.unique(column.indices.fill_null(column.indices.drop_null()[0]), return_inverse=True)
    words = column.dictionary.take(distinct).to_pylist()
    if column.null_count:
        places[np.asarray(column.is_null().to_pylist(), dtype=np.bool_)] = len(words)
        words.append(None)
    return Column(words, places)


def _lists(source: Source, column: Any, done: int) -> Column:
    # Equal items stay one in memory.
    from pyarrow import types

    items = column.flatten()
    with _as_text(source, column, done):
        coded = types.is_dictionary(items.type)
        flat = (_looked_up(items) if coded else arrow_column([items], str(items.type))).listed()
    found: list[Any] = []
    first = 0
    for length in column.value_lengths().to_pylist():
        found.append(None if length is None else tuple(flat[first : first + length]))
        first += length or 0
    return Column(found)


@contextmanager
def _as_text(source: Source, column: Any, done: int) -> Iterator[None]:
    # Name the row that is not text, and never show its bytes.
    try:
        yield
    except UnicodeDecodeError:
        for place, each in enumerate(column, done + 1):
            try:
                each.as_py()
            except UnicodeDecodeError:
                raise source.refused("expected text in UTF-8, got other bytes", f"row {place}") from None
        raise


def _refuse_large(page: Page) -> None:
    most = _MOST_DELTAS if page.encoding == DELTA_BYTE_ARRAY else _MOST_PAGE
    if page.type == DICTIONARY:
        most = _MOST_DICTIONARY
        if page.values > page.size:
            raise PageError("a dictionary of more values than bytes")
    if page.size > most or page.values > _MOST_VALUES:
        raise PageError("a page that is too large")


def _most_together(pages: Sequence[Page], rows: int) -> int:
    # The largest total size of the pages that ``rows`` consecutive rows can lie in.
    most = together = last = within = 0
    for first, page in enumerate(pages):
        if last <= first:
            last, together, within = first + 1, page.size, 0
        # ``within`` counts the rows of the pages after the first; a batch can begin with the last row of the first.
        while last < len(pages) and within < rows - 1:
            within += pages[last].values
            together += pages[last].size
            last += 1
        most = max(most, together)
        together -= page.size
        if first + 1 < last:
            within -= pages[first + 1].values
    return most


def _length(value: Any) -> int:
    if isinstance(value, tuple):
        return sum(map(_length, value))
    return len(value) if isinstance(value, str | bytes) else 0


def _cuts(column: Column) -> Iterator[tuple[int, int]]:
    # Ranges of rows that have few enough characters, since long values may be repeated.
    lengths = np.array([_length(value) for value in column.distinct], dtype=np.int64)
    lengths = lengths if column.index is None else lengths[column.index]
    first = length = 0
    for place, each in enumerate(lengths.tolist() if int(lengths.sum()) > _MOST_TEXT else ()):
        length += each
        if length > _MOST_TEXT:
            yield first, place + 1
            first, length = place + 1, 0
    if first < len(column):
        yield first, len(column)
