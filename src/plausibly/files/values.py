"""Users' values from files: CSV, Parquet, NDJSON or one per line, in chunks and in constant memory.

Errors name the line, or the row of a Parquet file. No message shows a value or any other cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

from ..core.domain import Domain, Keys
from ..core.errors import DomainError, ParameterError
from ..core.wording import nearest, shown
from ..core.words import Setting, Words
from .csv_rows import CsvRows
from .json_lines import json_values
from .parquet_column import ParquetColumn
from .sources import Source, ValuesError
from .text import LONGEST_VALUE, Text, plain_lines

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
_ROWS = 1 << 18
"""Maximum number of CSV rows in a chunk; a block of text may have more, and a run of empty lines has no limit."""

Batch = tuple[list[int], list[Any]]
"""Line or row numbers, and the values in them: None for a missing value."""


@dataclass(frozen=True, eq=False, repr=False)
class Chunk:
    """Some users' values as items of the domain, and the line or row of each."""

    values: list[Any]
    places: list[int]
    _source: Source
    _unit: str

    def __len__(self) -> int:
        return len(self.values)

    def refused(self, why: str, position: int) -> ValuesError:
        """A `ValuesError` that names the file and line of the value at this position."""
        return self._source.refused(why, f"{self._unit} {self.places[position]}")

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


class Values:
    """The values of a source in chunks, which can be iterated over once. Made by ``values``."""

    def __init__(
        self, source: Source, batches: Iterable[Batch], *, unit: str, domain: Domain, skip: bool, head: int = 0
    ) -> None:
        self._source, self._batches, self._head = source, batches, head
        self._unit, self._domain, self._skip = unit, domain, skip
        self._kind: type | None = None
        self.name, self.path = source.name, source.path
        self.taken = 0
        """Number of values read so far."""
        self.skipped = 0
        """Number of missing values skipped so far."""

    @property
    def expected(self) -> int | None:
        """Estimated total number of values in the file; None if it is unknown."""
        if isinstance(self._batches, ParquetColumn):
            return self._batches.rows
        if not self._source.size or not self._source.read:
            return None
        return max(self.taken, self.taken * self._source.size // self._source.read)

    def __iter__(self) -> Iterator[Chunk]:
        """Chunks of users' values, in the order of the file."""
        last = self._head
        for places, found in self._batches:
            last = places[-1] if places else last
            chunk = self._present(Chunk(found, places, self._source, self._unit))
            if chunk.values:
                self.taken += len(chunk)
                yield self._converted(self._alike(chunk))
        if not self.taken:
            if self.skipped:
                why = f"expected values, got the end of the file; all {self.skipped:,} values are missing"
                raise self._source.refused(why, f"{self._unit} {last}")
            raise self._source.refused("expected values, got the end of the file", f"{self._unit} {last + 1}")

    def _present(self, chunk: Chunk) -> Chunk:
        if None not in chunk.values:
            return chunk
        if not self._skip:
            raise chunk.refused(
                Words("no value; remove the user, or skip all such users with ", Setting("missing", "skip")),
                chunk.values.index(None),
            )
        kept = [place for place, value in enumerate(chunk.values) if value is not None]
        self.skipped += len(chunk) - len(kept)
        return self._with([chunk.values[place] for place in kept], [chunk.places[place] for place in kept])

    def _alike(self, chunk: Chunk) -> Chunk:
        # All values have one type: a number among texts is a mistake, and would be another item.
        self._kind = self._kind or type(chunk.values[0])
        if set(map(type, chunk.values)) != {self._kind}:
            position = [type(value) is self._kind for value in chunk.values].index(False)
            expected, got = ("a text", "a number") if self._kind is str else ("a number", "a text")
            raise chunk.refused(f"expected {expected} as in the rows before, got {got}", position)
        if self._kind is not int and max(map(len, chunk.values)) > LONGEST_VALUE:
            position = [len(value) > LONGEST_VALUE for value in chunk.values].index(True)
            raise chunk.refused(f"expected a value of at most {LONGEST_VALUE:,} characters, got a longer one", position)
        return chunk

    def _converted(self, chunk: Chunk) -> Chunk:
        if self._kind is not str and self._kind is self._domain.item_type:
            return chunk
        # A number becomes its text, as in a CSV file, which does not distinguish numbers from texts.
        texts = list(map(str, chunk.values)) if self._kind is int else chunk.values
        with chunk.located():
            return self._with(self._domain.parse(texts), chunk.places)

    def _with(self, values: list[Any], places: list[int]) -> Chunk:
        return Chunk(values, places, self._source, self._unit)


def values(
    source: str | Path | BinaryIO,
    *,
    domain: Domain | None = None,
    column: str | None = None,
    format: str | None = None,
    missing: Literal["refuse", "skip"] = "refuse",
    delimiter: str | None = None,
    header: bool = True,
) -> Values:
    """The values of a file or stream in chunks, as items of the domain, or as texts without a domain.

    The suffix determines the format unless ``format`` is given: csv, tsv, ndjson, lines (one value per line) or
    parquet. Text may be compressed with gzip. ``column`` is a name, or a number from 1 if ``header=False``; it may be
    omitted if there is only one column. An empty field or line, null, NaN and an absent field are missing values,
    refused or skipped; an empty text in NDJSON or Parquet is a value. Values are neither stripped nor changed; the
    domain may normalize them when it encodes them.
    """
    given = Source(source)
    kind = _format(given, format)
    if missing not in ("refuse", "skip"):
        raise ParameterError(Words(Setting("missing"), f": expected refuse or skip, got {shown(missing)}"))
    if kind not in ("csv", "tsv") and (delimiter is not None or not header):
        given_too = Setting("delimiter") if delimiter is not None else Setting("header", False)
        raise ParameterError(Words(given_too, f": expected the format csv or tsv, got {kind}; leave it out"))
    if kind == "lines" and column is not None:
        raise ParameterError(
            Words(
                Setting("column"),
                ": a file with one value per line has no columns; leave it out, or pass ",
                Setting("format", "csv"),
                " if it has",
            )
        )
    taken = Keys() if domain is None else domain  # any text
    batches: Iterable[Batch]
    if kind == "parquet":
        batches = ParquetColumn(given, column, binary=taken.item_type is bytes)
    elif kind == "ndjson":
        batches = json_values(Text(given), column)
    elif kind == "lines":
        batches = plain_lines(Text(given))
    else:
        columns = None if column is None else [column]
        usual = "\t" if kind == "tsv" else ","
        batches = _csv_values(CsvRows(given, columns, delimiter=delimiter, usual=usual, header=header))
    unit = "row" if kind == "parquet" else "line"
    return Values(
        given, batches, unit=unit, domain=taken, skip=missing == "skip", head=int(kind in ("csv", "tsv") and header)
    )


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


def _csv_values(rows: CsvRows) -> Iterator[Batch]:
    # One chunk per block of text: neither many short values nor a few long ones take much memory.
    (place,), text = rows.places, rows.text
    places: list[int] = []
    found: list[str | None] = []
    block = text.blocks
    for line, row in rows:
        if text.blocks != block or len(places) == _ROWS:
            yield places, found
            places, found, block = [], [], text.blocks
        places.append(line)
        found.append(row[place] or None)
    yield places, found
