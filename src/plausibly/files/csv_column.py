"""A column of a CSV file in batches: by Arrow, block by block, where a block is ordinary; else row by row.

A block is ordinary if it is certain that Arrow reads the same values from it as Python's strict reader, in the same
lines. Every other block, and every error, is left to the rows (docs/adr/0028-reading.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..core.domain import Column
from ..core.domain.columns import arrow_column
from ..core.parallel import in_order
from .batches import Batch, Joined, SeparatorError, arrow_is_installed
from .csv_rows import BlockLines, CsvRows
from .text import LONGEST_VALUE, MARK, MOST_AT_ONCE, has_short_lines

_ROWS = 1 << 18
"""Maximum number of rows in a batch that is read row by row."""
_QUOTE, _LF, _CR = b'"\n\r'
_LARGEST = 1 << 26
"""A number of bytes that no block has: Arrow does not divide it again."""

Positions = npt.NDArray[np.intp]


class Part(NamedTuple):
    """A batch, and the line where empty lines after it begin; 0 if there are none.

    Only in a file of one column are they values, and only if another value follows.
    """

    batch: Batch
    empty: int = 0


class CsvColumn:
    """The values of a column of a CSV file, or of several that are joined, in batches; None for an empty field."""

    def __init__(self, rows: CsvRows, joined: Joined | None = None) -> None:
        self._rows, self._joined = rows, joined

    def __iter__(self) -> Iterator[Batch]:
        rows = self._rows
        if rows.first is not None:
            first = self._values(1, rows.first)
            yield Batch([1] * len(first), Column(first))
        # Arrow takes delimiters of one byte only.
        if arrow_is_installed() and rows.delimiter.isascii():
            parts: Iterable[Part] = chain.from_iterable(in_order(self._tasks()))
        else:
            parts = self._by_rows(rows.next_line, BlockLines(rows.blocks))
        yield from _up_to_the_last_value(parts)

    def _tasks(self) -> Iterator[partial[Iterable[Part]]]:
        # Every task is a block that begins and ends with a row, so that tasks do not depend on each other.
        by_arrow = _Arrow(self._rows, self._joined)
        for first, content in self._rows.blocks:
            marks = quotation_marks(content, self._rows.delimiter) if b'"' in content else np.empty(0, dtype=np.intp)
            if marks is not None:
                yield partial(self._part, by_arrow, first, content, marks)
                continue
            # A misplaced quotation mark, or a row that goes on in the next block.
            lines = BlockLines(chain([(first, content)], self._rows.blocks))
            for part in self._by_rows(first, lines, to_block_end=True):
                yield partial(list, [part])

    def _part(self, by_arrow: _Arrow, first: int, content: bytes, marks: Positions) -> Iterable[Part]:
        found = by_arrow.part(first, content, marks)
        return list(self._by_rows(first, BlockLines(iter([(first, content)])))) if found is None else [found]

    def _by_rows(self, first: int, lines: BlockLines, *, to_block_end: bool = False) -> Iterator[Part]:
        places: list[int] = []
        found: list[Any] = []
        empty = 0
        for line, row in self._rows.rows(first, lines):
            if row:
                for start in range(empty, line, _ROWS) if empty else ():
                    places += range(start, min(start + _ROWS, line))
                    found += [None] * (len(places) - len(found))
                    if len(places) >= _ROWS:
                        yield Part(Batch(places, Column(found)))
                        places, found = [], []
                empty = 0
                found += self._values(line, row)
                places += [line] * (len(found) - len(places))
            else:
                empty = empty or line
            ended = lines.at_block_end()
            if ended or len(places) >= _ROWS:
                yield Part(Batch(places, Column(found)), empty)
                places, found, empty = [], [], 0
            if ended and to_block_end:
                return
        yield Part(Batch(places, Column(found)), empty)

    def _values(self, line: int, row: list[str]) -> list[Any]:
        # The value of the row, or no value if it was refused.
        if self._joined is None:
            return [row[self._rows.places[0]] or None]
        try:
            return [self._joined.value([row[place] for place in self._rows.places])]
        except SeparatorError as error:
            self._rows.text.refuse(error.why, line)
        return []


class _Arrow:
    """Arrow's CSV reader, for ordinary blocks of one file."""

    def __init__(self, rows: CsvRows, joined: Joined | None) -> None:
        import pyarrow
        from pyarrow import csv

        self._arrow, self._csv, self._joined = pyarrow, csv, joined
        self._width, self._delimiter = rows.width or 0, rows.delimiter
        names, self._columns = [str(place) for place in range(self._width)], [str(place) for place in rows.places]
        self._read = csv.ReadOptions(use_threads=False, block_size=_LARGEST, column_names=names)
        coded = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
        self._convert = csv.ConvertOptions(
            check_utf8=False,
            include_columns=self._columns,
            column_types=dict.fromkeys(self._columns, coded),
            strings_can_be_null=False,
        )

    def part(self, first: int, content: bytes, marks: Positions) -> Part | None:
        """The values of a block, or None if it is not ordinary."""
        if not self._is_ordinary(content, marks):
            return None
        empty = 0
        if self._width == 1:
            # Empty lines are values in a file of one column, but not at its end.
            body = content.rstrip(b"\r\n")
            after = content.count(b"\n", len(body))
            empty = first + content.count(b"\n", 0, len(body)) + 1 if after > 1 else 0
            if not body:
                return Part(Batch([], Column([])), first)
            content = body + b"\n"
        places = row_places(first, content, marks)
        try:
            columns = self._columns_of(content)
            column = columns[0] if self._joined is None else self._joined.column(columns)
        except (self._arrow.ArrowInvalid, SeparatorError):
            return None
        # Fewer rows than expected: there are empty lines.
        return Part(Batch(places, column), empty) if len(column) == len(places) else None

    def _is_ordinary(self, content: bytes, marks: Positions) -> bool:
        if b"\r" in content and content.count(b"\r") != content.count(b"\r\n"):
            return False
        long = len(marks) > 1 and int(np.diff(marks).max()) >= LONGEST_VALUE
        # Arrow would take a byte order mark away.
        return not long and has_short_lines(content, LONGEST_VALUE) and not content.startswith(MARK)

    def _columns_of(self, content: bytes) -> list[Column]:
        parsing = self._csv.ParseOptions(
            delimiter=self._delimiter, newlines_in_values=True, ignore_empty_lines=self._width > 1
        )
        table = self._csv.read_csv(
            self._arrow.BufferReader(content),
            read_options=self._read,
            parse_options=parsing,
            convert_options=self._convert,
        )
        found = []
        for each in table.columns:
            column = arrow_column(each.chunks, "dictionary")
            found.append(Column([value or None for value in column.distinct], column.index))
        return found


def quotation_marks(content: bytes, delimiter: str) -> Positions | None:
    """The positions of the quotation marks in a block of a CSV file; None if one is misplaced, or the last one open.

    Marks open and close by turns. One that opens follows a delimiter, a line end or a mark that closes; one that closes
    precedes a delimiter, a line end or a mark that opens: two marks in a row inside of a field stand for one.

    >>> quotation_marks(b'1,"a ""b"" c"', ",").tolist()
    [2, 5, 6, 8, 9, 12]
    >>> quotation_marks(b'1,a "b"', ",")
    """
    block = np.frombuffer(content, dtype=np.uint8)
    marks = np.flatnonzero(block == _QUOTE)
    if len(marks) % 2:
        return None
    opening, closing = marks[::2], marks[1::2]
    before, after = block[opening - 1], block[np.minimum(closing + 1, len(block) - 1)]
    if opening[0] == 0:
        before[0] = _LF
    if closing[-1] == len(block) - 1:
        after[-1] = _LF
    usual = np.zeros(256, dtype=np.bool_)
    usual[[_QUOTE, _LF, ord(delimiter)]] = True
    if not usual[before].all():
        return None
    usual[_CR] = True
    return marks if usual[after].all() else None


def row_places(first: int, content: bytes, marks: Positions) -> range | list[int]:
    """The line where each row of a block begins, for a block without empty lines between rows."""
    if not len(marks):
        return range(first, first + content.count(b"\n") + (not content.endswith(b"\n")))
    ends = np.flatnonzero(np.frombuffer(content, dtype=np.uint8) == _LF)
    # A line end after an odd number of marks is inside of a field.
    last = np.flatnonzero(np.searchsorted(marks, ends) % 2 == 0)
    starts = np.concatenate([[0], last + 1])
    if content.endswith(b"\n"):
        starts = starts[:-1]
    found: list[int] = (starts + first).tolist()
    return found


def _up_to_the_last_value(parts: Iterable[Part]) -> Iterator[Batch]:
    empty = 0
    for batch, after in parts:
        if len(batch):
            last = batch.places[0]
            for start in range(empty, last, MOST_AT_ONCE) if empty else ():
                places = range(start, min(start + MOST_AT_ONCE, last))
                yield Batch(places, Column([None], np.zeros(len(places), dtype=np.int32)))
            empty = 0
            yield batch
        empty = empty or after
