"""Users' values from files: CSV, Parquet, NDJSON or one per line, in chunks and in constant memory.

Errors name the line, or the row of a Parquet file. No message shows a value or any other cell.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from ..core.domain import Choices, Column, Domain, Keys, Table
from ..core.errors import DomainError, ParameterError
from ..core.wording import nearest, plural, shown
from ..core.words import Setting, Words
from .batches import Batch, Glue, Joined, Records, is_absent
from .csv_column import CsvColumn
from .csv_rows import CsvRows
from .faults import Faults
from .json_lines import JsonColumn
from .parquet_column import array_batches, parquet_values
from .sources import Source, ValuesError
from .text import LONGEST_VALUE, Text, plain_lines

T = TypeVar("T")

FORMATS = ("csv", "tsv", "ndjson", "lines", "parquet")
_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".txt": "lines",
    ".parquet": "parquet",
}
_KINDS = {str: "a text", int: "a number", tuple: "a list"}
_SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")

Readable = str | Path | BinaryIO
"""The path of a file, or a stream of bytes."""


@dataclass(frozen=True, eq=False, repr=False)
class Chunk:
    """Some users' values as items of the domain, and the line or row of each."""

    column: Column
    places: Sequence[int]
    _source: Source
    _unit: str

    def __len__(self) -> int:
        return len(self.places)

    @property
    def values(self) -> list[Any]:
        """The value of each user in the chunk."""
        return self.column.listed()

    def refused(self, why: str, position: int) -> ValuesError:
        """A `ValuesError` that names the file and line of the value at this position."""
        return self._source.refused(why, f"{self._unit} {self.places[position]}")

    def without(self, wrong: Sequence[bool], why: str) -> Chunk:
        """The chunk without the users who have one of the distinct values that are wrong: refuse or count them."""
        if not any(wrong):
            return self
        rows = self.column.rows_with(wrong)
        self._source.refuse(why, self._unit, self.places[int(np.argmax(rows))], int(rows.sum()))
        return self._kept(wrong, rows)

    def skipping(self, wrong: Sequence[bool]) -> Chunk:
        """The chunk without the users who have one of the distinct values that are wrong, without a remark."""
        return self._kept(wrong, self.column.rows_with(wrong))

    def _kept(self, wrong: Sequence[bool], rows: npt.NDArray[np.bool_]) -> Chunk:
        places = np.asarray(self.places)[~rows].tolist()
        return replace(self, column=self.column.only([not each for each in wrong]), places=places)

    @contextmanager
    def located(self) -> Iterator[None]:
        """Add the file and line to errors that a domain raises about a user's value."""
        try:
            yield
        except DomainError as error:
            if error.position is None:
                first, last = self.places[0], self.places[-1]
                raise self._source.refused(str(error), f"{self._unit}s {first} to {last}") from None
            raise self.refused(error.reason, error.position) from None


@dataclass(frozen=True, eq=False, repr=False)
class _Reading:
    """A file of values that is being read."""

    source: Source
    batches: Iterable[Batch]
    unit: str
    head: int
    blank: bool = False
    """Whether an empty field is a value."""

    @property
    def rows(self) -> int | None:
        return getattr(self.batches, "rows", None)


class Values:
    """The values of one or more sources in chunks, which can be iterated over once. Made by ``values``."""

    def __init__(
        self,
        first: _Reading,
        rest: Iterable[_Reading] = (),
        *,
        sizes: Sequence[int] = (),
        domain: Domain,
        skip: bool,
        may_be_empty: bool = False,
        separator: str | None = None,
    ) -> None:
        self.faults = first.source.faults
        """Where bad rows are counted; None if they are refused."""
        self._reading, self._rest, self._sizes = first, rest, sizes
        self._domain, self._skip, self._may_be_empty = domain, skip, may_be_empty
        self._kind: type | None = None
        self._parse = domain.parse
        if isinstance(domain, Choices) and separator is not None:
            self._parse = partial(domain.parse, separator=separator)
        self.name = first.source.name if len(sizes) < 2 else f"{len(sizes):,} files"
        self.path = first.source.path if len(sizes) < 2 else None
        self.taken = 0
        """Number of values read so far."""
        self.skipped = 0
        """Number of missing values skipped so far."""
        self._read = self._taken_before = 0
        """Size of the files read to their end, and number of values in them."""

    @property
    def expected(self) -> int | None:
        """Estimated total number of values; None if it is unknown."""
        source, rows = self._reading.source, self._reading.rows
        if len(self._sizes) < 2:
            if rows is not None:
                return rows
            read, size = source.read, source.size or 0
        else:
            done = self.taken - self._taken_before
            own = source.read if rows is None else done * (source.size or 0) // max(1, rows)
            read, size = self._read + own, sum(self._sizes)
        return max(self.taken, self.taken * size // read) if size and read else None

    def __iter__(self) -> Iterator[Chunk]:
        """Chunks of users' values, in the order of the files."""
        yield from self._chunks()
        for place, reading in enumerate(self._rest, 1):
            self._reading, self._read = reading, sum(self._sizes[:place])
            yield from self._chunks()

    def _chunks(self) -> Iterator[Chunk]:
        reading, last = self._reading, self._reading.head
        self._kind, self._taken_before, skipped, faults = None, self.taken, self.skipped, len(self.faults or ())
        for batch in reading.batches:
            last = batch.places[-1] if len(batch) else last
            chunk = self._present(Chunk(batch.column, batch.places, reading.source, reading.unit))
            if len(chunk):
                self.taken += len(chunk)
                yield self._converted(self._alike(chunk))
        empty = self.taken == self._taken_before and len(self.faults or ()) == faults
        if empty and not self._may_be_empty:
            why, skipped = "expected values, got the end of the file", self.skipped - skipped
            if skipped:
                why += f"; all {skipped:,} values are missing"
            raise reading.source.refused(why, f"{reading.unit} {last + (not skipped)}")

    def _present(self, chunk: Chunk) -> Chunk:
        one_value = not self._domain.takes_columns
        absent = [value is None if one_value else is_absent(value) for value in chunk.column.distinct]
        if not any(absent):
            return chunk
        if self._reading.blank and not self._skip:
            filled = ["" if value is None else value for value in chunk.column.distinct]
            return replace(chunk, column=Column(filled, chunk.column.index))
        # The attributes of a table refuse the missing values that they do not take.
        if (self._domain.takes_missing or self._domain.takes_columns) and not self._skip:
            return chunk
        if not self._skip:
            why = Words("no value; remove the user, or skip all such users with ", Setting("missing", "skip"))
            return chunk.without(absent, why)
        present = chunk.skipping(absent)
        self.skipped += len(chunk) - len(present)
        return present

    def _alike(self, chunk: Chunk) -> Chunk:
        # All values have one type: a number among texts is a mistake, and would be another item.
        distinct = chunk.column.distinct
        if self._domain.takes_arrays:
            return self._not_long(chunk)
        self._kind = kind = self._kind or type(distinct[0])
        if set(map(type, distinct)) != {kind}:
            wrong = [type(value) is not kind for value in distinct]
            got = _KINDS[type(distinct[wrong.index(True)])]
            chunk = chunk.without(wrong, f"expected {_KINDS[kind]} as in the rows before, got {got}")
            distinct = chunk.column.distinct
        return chunk if kind is int else self._not_long(chunk)

    def _not_long(self, chunk: Chunk) -> Chunk:
        long = [_longest(value) > LONGEST_VALUE for value in chunk.column.distinct]
        return chunk.without(long, f"expected a value of at most {LONGEST_VALUE:,} characters, got a longer one")

    def _converted(self, chunk: Chunk) -> Chunk:
        if isinstance(self._domain, Table) and self._domain.takes_columns:
            chunk, records = self._accepted(chunk, self._domain.read)
            return replace(chunk, column=Column(records, chunk.column.index))
        if self._kind is not str and self._kind is self._domain.item_type:
            return chunk
        if self._domain.takes_arrays:
            # Numbers and times are values already, texts have to be read.
            chunk, parsed = self._accepted(chunk, self._parsed)
            return replace(chunk, column=Column(parsed, chunk.column.index))
        # A number becomes its text, as in a CSV file, which does not distinguish numbers from texts.
        if self._kind is int:
            chunk = replace(chunk, column=Column(list(map(str, chunk.column.distinct)), chunk.column.index))
        chunk, parsed = self._accepted(chunk, self._parse)
        return replace(chunk, column=Column(parsed, chunk.column.index))

    def _parsed(self, items: list[Any]) -> list[Any]:
        if not any(isinstance(item, str) for item in items):
            return items
        # In one call, with a valid text in the place of everything else, so that positions are right.
        valid = str(self._domain.examples(1)[0])
        parsed = self._domain.parse([item if isinstance(item, str) else valid for item in items])
        return [read if isinstance(item, str) else item for read, item in zip(parsed, items, strict=True)]

    def encodable(self, chunk: Chunk, domain: Domain) -> Chunk:
        """The chunk without the values that the domain cannot encode."""
        return self._accepted(chunk, domain.encode)[0]

    def _accepted(self, chunk: Chunk, take: Callable[[list[Any]], T]) -> tuple[Chunk, T]:
        try:
            return chunk, take(chunk.column.distinct)
        except DomainError:
            pass
        if self.faults is None:
            # The position is that among all values.
            chunk = replace(chunk, column=Column(chunk.column.listed()))
            with chunk.located():
                return chunk, take(chunk.column.distinct)
        reasons = [_reason(take, value) for value in chunk.column.distinct]
        for reason in dict.fromkeys(filter(None, reasons)):
            chunk = chunk.without([each == reason for each in reasons], reason)
            reasons = [each for each in reasons if each != reason]
        return chunk, take(chunk.column.distinct)


def _longest(value: object) -> int:
    # Number of characters or bytes of the longest text in a value.
    if isinstance(value, tuple):
        return max(map(_longest, value), default=0)
    return len(value) if isinstance(value, str | bytes) else 0


def _reason(take: Callable[[list[Any]], object], value: object) -> str:
    # The reason why a domain refuses a value; empty if it takes the value.
    try:
        take([value])
    except DomainError as error:
        return error.reason or str(error)
    return ""


def values(
    source: Readable | Sequence[str | Path],
    *,
    domain: Domain | None = None,
    column: str | None = None,
    columns: Mapping[str, str] | None = None,
    glue: Glue | None = None,
    separator: str | None = None,
    format: str | None = None,
    missing: Literal["refuse", "skip"] = "refuse",
    delimiter: str | None = None,
    header: bool = True,
    faults: Faults | None = None,
) -> Values:
    """The values of a file, of several files or of a stream in chunks, as items of the domain; without one, as texts.

    The suffix determines the format unless ``format`` is given: csv, tsv, ndjson, lines (one value per line) or
    parquet. Text may be compressed with gzip. ``column`` is a name, or a number from 1 if ``header=False``; it may be
    omitted if there is only one column. ``glue`` joins several columns into one. An empty field or line, null, NaN and
    an absent field are missing values, refused or skipped; a field that no line has is an error. An empty text in
    NDJSON or Parquet is a value. Values are neither stripped nor changed; the domain may normalize them when it encodes
    them. With ``faults``, bad rows are counted there and left out; without, the first one is refused.

    Records of a `Table` come from the columns that are named like its attributes, or as ``columns`` says: attribute to
    column. A missing value, also an empty text, is reported as missing; ``missing="skip"`` leaves out users with any.

    Lists of items (`Choices`) come from one column: lists of texts in NDJSON and Parquet, or texts with a comma or the
    ``separator`` between items. An empty text is an empty list; so is an empty field in CSV, unless missing values are
    skipped.
    """
    skip = skips_missing(missing)
    if separator is not None and not isinstance(domain, Choices):
        raise ParameterError(
            Words(Setting("separator"), " needs ", Setting("glue"), ", or a scheme for lists of items")
        )
    if separator is not None and not separator:
        raise ParameterError(Words(Setting("separator"), ": expected at least one character, got none"))
    if glue is not None and column is not None:
        raise ParameterError(Words("expected ", Setting("column"), " or ", Setting("glue"), ", got both"))
    several = isinstance(source, Sequence) and not isinstance(source, str)
    sources: list[Any] = list(source) if several else [source]  # type: ignore[arg-type]
    if not sources:
        raise ParameterError("expected at least one file of values, got none")
    taken = Keys() if domain is None else domain  # any text
    joined = _joined(taken, column, columns, glue)
    chosen = (None if column is None else [column]) if joined is None else list(joined.columns)
    layout = _Layout(chosen, joined, format, delimiter, header)
    opened = partial(_reading, layout=layout, domain=taken, faults=faults)
    sizes = [Path(each).stat().st_size if several and Path(each).is_file() else 0 for each in sources]
    first, rest = opened(sources[0]), map(opened, sources[1:])
    return Values(first, rest, sizes=sizes, domain=taken, skip=skip, separator=separator)


def _joined(domain: Domain, column: str | None, columns: Mapping[str, str] | None, glue: Glue | None) -> Joined | None:
    if not isinstance(domain, Table) or not domain.takes_columns:
        if columns is not None:
            expected = f": expected a scheme for records of several attributes, got one for {domain.describe()}; pass "
            raise ParameterError(Words(Setting("columns"), expected, Setting("column", "NAME")))
        return glue
    if column is not None or glue is not None:
        given = Setting("glue" if column is None else "column")
        words = ": the values are records of several attributes; leave it out, or name their columns with "
        raise ParameterError(Words(given, words, Setting("columns")))
    chosen = {name: name for name in domain.names} if columns is None else dict(columns)
    for name in chosen:
        domain.place(name)
    for name in domain.names:
        if name not in chosen:
            raise ParameterError(
                Words(Setting("columns"), f": expected a column for the attribute {shown(name)}, got none")
            )
    if len(set(chosen.values())) < len(chosen):
        raise ParameterError(Words(Setting("columns"), ": expected different columns, got one of them twice"))
    return Records(tuple(chosen[name] for name in domain.names), domain)


def values_of_arrays(arrays: Iterable[Any], name: str, *, domain: Domain, missing: Literal["refuse", "skip"]) -> Values:
    """The values in Arrow arrays, a part of a column of a table, in chunks. Unlike a file, a part may be empty.

    The same values are missing, refused and converted as in a Parquet file; messages call the part ``name``.
    """
    source = Source(name)
    binary, lists = domain.item_type is bytes, isinstance(domain, Choices)
    batches = array_batches(source, arrays, binary=binary, numbers=domain.takes_arrays, lists=lists)
    return Values(_Reading(source, batches, "row", 0), domain=domain, skip=skips_missing(missing), may_be_empty=True)


def skips_missing(missing: str) -> bool:
    """Whether missing values are skipped rather than refused."""
    if missing not in ("refuse", "skip"):
        raise ParameterError(Words(Setting("missing"), f": expected refuse or skip, got {shown(missing)}"))
    return missing == "skip"


@dataclass(frozen=True)
class _Layout:
    """Where the values are in a file."""

    columns: list[str] | None
    joined: Joined | None
    format: str | None
    delimiter: str | None
    header: bool


def _reading(source: Readable, layout: _Layout, *, domain: Domain, faults: Faults | None) -> _Reading:
    given, columns, joined = Source(source, faults), layout.columns, layout.joined
    delimiter, header = layout.delimiter, layout.header
    kind = _format(given, layout.format)
    if kind not in ("csv", "tsv") and (delimiter is not None or not header):
        given_too = Setting("delimiter") if delimiter is not None else Setting("header", False)
        raise ParameterError(Words(given_too, f": expected the format csv or tsv, got {kind}; leave it out"))
    if kind == "lines" and isinstance(joined, Records):
        expected = f"{given.name}: expected a column for each of {plural(len(joined.columns), 'attribute')}, got lines"
        raise ParameterError(Words(expected, " without columns; pass ", Setting("format", "csv"), " if there are some"))
    if kind == "lines" and columns is not None:
        raise ParameterError(
            Words(
                Setting("column" if joined is None else "glue"),
                ": a file with one value per line has no columns; leave it out, or pass ",
                Setting("format", "csv"),
                " if it has",
            )
        )
    lists = isinstance(domain, Choices)
    if kind == "parquet":
        numbers = domain.takes_arrays
        batches = parquet_values(given, columns, joined, binary=domain.item_type is bytes, numbers=numbers, lists=lists)
        return _Reading(given, batches, "row", 0)
    if kind == "ndjson":
        fractions = domain.takes_arrays if joined is None else any(joined.numbers)
        return _Reading(given, JsonColumn(Text(given), columns, joined, fractions=fractions, lists=lists), "line", 0)
    if kind == "lines":
        return _Reading(given, plain_lines(Text(given)), "line", 0, blank=lists)
    usual = "\t" if kind == "tsv" else ","
    rows = CsvRows(given, columns, delimiter=delimiter, usual=usual, header=header)
    return _Reading(given, CsvColumn(rows, joined), "line", int(header), blank=lists)


def _format(source: Source, given: str | None) -> str:
    if given is not None:
        if given not in FORMATS:
            raise ParameterError(Words(Setting("format"), f": unknown {shown(given)}; {nearest(given, FORMATS)}"))
        return given
    if source.path is None:
        return "lines"
    suffixes = [suffix.lower() for suffix in source.path.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    if suffixes[-1:] and suffixes[-1] in _SPREADSHEETS:
        raise ParameterError(
            f"{source.name}: expected a file of values, got a spreadsheet; save the sheet as CSV, or run "
            + shlex.join(["libreoffice", "--headless", "--convert-to", "csv", source.name])
        )
    found = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    if found is None:
        raise ParameterError(
            Words(
                f"{source.name}: the name does not show the format; pass ",
                Setting("format", "NAME"),
                f", one of {', '.join(FORMATS)}",
            )
        )
    return found
