"""Rows of CSV files with their line numbers, parsed strictly and in constant memory. No message shows a field."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence

from ..core.errors import ParameterError
from ..core.wording import plural, shown
from ..core.words import Setting, Words
from .sources import CHOOSE_ONE, Source, ValuesError, almost_named
from .text import LONGEST_LINE, LONGEST_VALUE, Text

_USUAL = ",;\t|"


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
                f"delimiter: expected one character, no quotation mark or line break, got {shown(delimiter)}"
            )
        # The limit holds for all readers of the process, so it is raised and never lowered.
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_VALUE))
        self.text = Text(source)
        self._guess = delimiter is None
        self._before = self._begun = 0
        """The line on which the last row ended, and the number of characters read until then."""
        self._delimiter = delimiter or usual
        self._reader = csv.reader(self._lines(), strict=True, delimiter=self._delimiter)
        first = self._next()
        if not first:
            expected = "the names of the columns" if header else "a value"
            raise self.text.refused(f"expected {expected}, got an empty line", 1)
        self.places = self._by_name(first, columns) if header else self._by_number(first, columns)
        self._width = len(first)
        self._first = None if header else first

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """The rows of the CSV file as pairs of line and fields, once."""
        text, reader, width, empty, before = self.text, self._reader, self._width, 0, self._before
        if self._first is not None:
            yield 1, self._first
        try:
            for row in reader:
                line, self._begun = before + 1, text.given
                before = self._before = reader.line_num
                if len(row) == width:
                    if empty:
                        for each in range(empty, line):
                            yield each, [""]
                        empty = 0
                    yield line, row
                elif row:
                    raise text.refused(f"expected {plural(width, 'field')} as in the first line, got {len(row)}", line)
                elif width == 1:
                    empty = empty or line
        except csv.Error as error:
            raise self._unreadable(error) from None

    def _lines(self) -> Iterator[str]:
        for line in self.text.lines():
            yield line
            if self.text.given - self._begun > LONGEST_LINE:
                raise self._refused("the row does not end; is a quotation mark left open?")

    def _next(self) -> list[str]:
        try:
            first = next(self._reader, [])
        except csv.Error as error:
            raise self._unreadable(error) from None
        self._before, self._begun = self._reader.line_num, self.text.given
        return first

    def _refused(self, why: str) -> ValuesError:
        return self.text.refused(why, self._before + 1)

    def _unreadable(self, error: csv.Error) -> ValuesError:
        # Python's message is matched but not shown: it might quote a field.
        words = str(error)
        if "unexpected end" in words:
            return self._refused("a quotation mark is never closed")
        if "field larger" in words:
            return self._refused(f"a field has more than {LONGEST_VALUE:,} characters; is a quotation mark left open?")
        if "new-line character" in words:
            return self._refused("not CSV: the line contains a carriage return (CR); lines must end with LF or CR LF")
        return self._refused(
            "not CSV: a misplaced quotation mark; quote the whole field, and double the quotation marks inside"
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
                    Words("one column", hint, ", otherwise ", Setting("delimiter", self._delimiter)), 1
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
