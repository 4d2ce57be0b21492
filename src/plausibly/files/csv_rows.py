"""Rows of CSV files with their line numbers, parsed strictly and in constant memory. No message shows a field."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from ..core.errors import ParameterError
from ..core.wording import plural, shown
from ..core.words import Setting, Words
from .sources import CHOOSE_ONE, Source, ValuesError, almost_named
from .text import LONGEST_LINE, LONGEST_VALUE, Text

_USUAL = ",;\t|"

Block = tuple[int, bytes]
"""The number of the first line, and complete lines."""


class EndlessError(Exception):
    """A row of a CSV file is longer than any row may be."""


class BlockLines:
    """The lines of consecutive blocks one by one, with their line ends."""

    def __init__(self, blocks: Iterator[Block]) -> None:
        self._blocks = blocks
        self._first, self._text, self._lines = 1, "", io.StringIO()
        self._taken = self._begun = 0
        """Number of characters in the blocks taken so far, and when the last row ended."""

    def __iter__(self) -> Iterator[str]:
        for first, content in self._blocks:
            self._first, self._text = first, content.decode()
            self._taken += len(self._text)
            # Unlike splitlines, this splits at LF only.
            self._lines = io.StringIO(self._text, newline="\n")
            yield from iter(self._lines.readline, "")
            if self._taken - self._begun > LONGEST_LINE:
                raise EndlessError

    def row_ended(self) -> None:
        """Note that a row ends with the last line taken from the blocks."""
        self._begun = self._taken

    def at_block_end(self) -> bool:
        """Whether the last line taken is the last line of its block."""
        return self._lines.tell() == len(self._text)

    @property
    def next_line(self) -> int:
        """The number of the line after the last one taken from the blocks."""
        return self._first + self._text.count("\n", 0, self._lines.tell())

    def rest(self) -> Iterator[Block]:
        """The blocks that are left, beginning with the lines that are left of the current one."""
        if not self.at_block_end():
            yield self.next_line, self._text[self._lines.tell() :].encode()
        yield from self._blocks


class CsvRows:
    """The rows of a CSV file: pairs of the line where a row begins and its fields, as many as in the first row.

    ``columns`` are the columns to read, by name (or by number from 1, without a header); None stands for the only one.
    ``places`` are their positions in a row. ``usual`` is the delimiter if none is given; then a file that seems to use
    another one is refused. Empty lines are ignored, except in a file of one column: there they are rows with an empty
    field, up to the last row that has a value.
    """

    def __init__(
        self,
        source: Source,
        columns: Sequence[str] | None,
        *,
        delimiter: str | None = None,
        usual: str = ",",
        header: bool = True,
    ) -> None:
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n\0'):
            raise ParameterError(
                Words(
                    Setting("delimiter"),
                    f": expected one character, no quotation mark or line break, got {shown(delimiter)}",
                )
            )
        # The limit holds for all readers of the process, so it is raised and never lowered.
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_VALUE))
        self.text = Text(source)
        self.delimiter = delimiter or usual
        self._guess = delimiter is None
        self.width: int | None = None
        """Number of fields of every row, once the first one has been read."""
        lines = BlockLines(iter(self.text))
        _, first = next(self.rows(1, lines), (1, []))
        if not first:
            expected = "the names of the columns" if header else "a value"
            raise self.text.refused(f"expected {expected}, got an empty line", 1)
        self.places = self._by_name(first, columns) if header else self._by_number(first, columns)
        self.width = len(first)
        self.first = None if header else first
        """The first row, if it is not the header."""
        self.next_line = lines.next_line
        """The line after the first row."""
        self.blocks = lines.rest()
        """Blocks of lines after the first row, each with the number of its first line; they can be read once."""

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """The rows of the CSV file as pairs of line and fields, once."""
        if self.first is not None:
            yield 1, self.first
        empty = 0
        for line, row in self.rows(self.next_line, BlockLines(self.blocks)):
            if row:
                if empty:
                    for each in range(empty, line):
                        yield each, [""]
                    empty = 0
                yield line, row
            else:
                empty = empty or line

    def rows(self, first: int, lines: BlockLines) -> Iterator[tuple[int, list[str]]]:
        """The rows in consecutive lines of the CSV file, from line ``first`` on: pairs of line and fields.

        An empty line has no fields; it is left out of a file of several columns.
        """
        reader = csv.reader(lines, strict=True, delimiter=self.delimiter)
        width, base, before = self.width, first - 1, first - 1
        try:
            for row in reader:
                line, before = before + 1, base + reader.line_num
                lines.row_ended()
                if len(row) == width or width is None:
                    yield line, row
                elif row:
                    self.text.refuse(f"expected {plural(width, 'field')} as in the first line, got {len(row)}", line)
                elif width == 1:
                    yield line, row
        except csv.Error as error:
            raise self._unreadable(error, before + 1) from None
        except EndlessError:
            raise self.text.refused("the row does not end; is a quotation mark left open?", before + 1) from None

    def _unreadable(self, error: csv.Error, line: int) -> ValuesError:
        # Python's message is matched but not shown: it might quote a field.
        words = str(error)
        if "unexpected end" in words:
            return self.text.refused("a quotation mark is never closed", line)
        if "field larger" in words:
            return self.text.refused(
                f"a field has more than {LONGEST_VALUE:,} characters; is a quotation mark left open?", line
            )
        if "new-line character" in words:
            return self.text.refused(
                "not CSV: the line contains a carriage return (CR); lines must end with LF or CR LF", line
            )
        return self.text.refused(
            "not CSV: a misplaced quotation mark; quote the whole field, and double the quotation marks inside", line
        )

    def _by_name(self, header: list[str], columns: Sequence[str] | None) -> list[int]:
        # The header is not shown: in a file without column names it is somebody's value.
        missing = [] if columns is None else [name for name in columns if header.count(name) != 1]
        hint = self._other_delimiter(header)
        if columns is None:
            if len(header) != 1:
                raise self.text.refused(Words(f"expected one column, got {len(header)}; ", CHOOSE_ONE), 1)
            if hint:
                raise self.text.refused(
                    Words("one column", hint, ", otherwise ", Setting("delimiter", self.delimiter)), 1
                )
        for name in missing:
            chosen = columns is not None and len(columns) == 1  # otherwise the names are fixed
            hint = hint or almost_named(name, header, chosen) or "; the first line must name the columns"
            got = f"got {header.count(name)} among {len(header)}"
            raise self.text.refused(Words(f"expected one column named {shown(name)}, {got}", hint), 1)
        return [0] if columns is None else [header.index(name) for name in columns]

    def _by_number(self, first: list[str], columns: Sequence[str] | None) -> list[int]:
        if columns is None and len(first) != 1:
            raise self.text.refused(
                Words(f"expected one column, got {len(first)}; choose one by number, such as ", Setting("column", "1")),
                1,
            )
        for name in columns or []:
            if not (name.isascii() and name.isdigit() and 1 <= int(name[:9]) <= len(first)):
                hint = self._other_delimiter(first) if name.isdigit() else ""
                expected = f"without a header: expected a column number from 1 to {len(first)}"
                raise self.text.refused(Words(f"{expected}, got {shown(name)}", hint), 1)
        return [0] if columns is None else [int(name) - 1 for name in columns]

    def _other_delimiter(self, header: list[str]) -> str:
        if len(header) == 1 and self._guess:
            for other in _USUAL:
                if other in header[0]:
                    fix = Setting("delimiter", other)
                    return Words(
                        f", but the first line contains {shown(other)}: pass ", fix, " if it separates columns"
                    )
        return ""
