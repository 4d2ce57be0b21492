"""The Parquet metadata of a report file: one column of fixed-size records, and no reference to another file.

They are read here and not by Arrow, which allocates the length that a list claims before it reads the elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from .parquet_pages import CODECS, most_packed
from .thrift import BINARY, I32, I64, Listed, ThriftError, read_struct

MOST_GROUPS = 1 << 16
"""Maximum number of row groups in a report file: enough for 69 billion reports, or 256 GiB."""
_MOST_TEXTS = 64
_FIXED_SIZE, _REQUIRED = 7, 0
_PARQUET = 4
"""Number of bytes before the first page."""
_CHUNK = {
    1: BINARY,
    3: {1: I32, 3: Listed(BINARY, 1), 4: I32, 5: I64, 7: I64, 9: I64, 11: I64},
    8: {},
    9: BINARY,
}
_REPORTS: dict[int, Any] = {
    2: Listed({1: I32, 2: I32, 3: I32, 4: BINARY, 5: I32}, 2),
    3: I64,
    4: Listed({1: Listed(_CHUNK, 1), 3: I64}, MOST_GROUPS),
    5: Listed({1: BINARY, 2: BINARY}, _MOST_TEXTS),
    8: {},
}


# Arrow takes a hundred times the bytes of an element, and allocates them before it reads the element. So each list
# states the minimum size that its elements have in valid files.
_ANY: dict[int, Any] = {
    2: Listed({}, 100_000, least=3),
    4: Listed({1: Listed({}, 100_000, least=24)}, 100_000, least=30),
    5: Listed({}, 100_000, least=3),
}


_MOST_SKIPPED = 1 << 22
"""Maximum number of fields that only Arrow reads: it writes three million into metadata of 8 MiB."""


class FooterError(ValueError):
    """Metadata that are invalid, or not those of a report file. The message says why."""


class Chunk(NamedTuple):
    """The only column of a row group: the position of its pages, and the number of records in them."""

    start: int
    packed: int
    codec: str | None
    records: int


@dataclass(frozen=True)
class Footer:
    """The metadata of a report file."""

    size: int
    """Size of a record in bytes."""
    chunks: tuple[Chunk, ...]
    texts: dict[str, str]


def read_footer(content: bytes, start: int, column: str) -> Footer:
    """The Parquet footer that begins at ``start`` in its file. Refuse all columns but one required one of this name."""
    try:
        found, end = read_struct(content, 0, _REPORTS)
        texts = {each[1].decode(): each.get(2, b"").decode() for each in found.get(5, [])}
    except (ThriftError, KeyError, UnicodeDecodeError):
        raise FooterError("the metadata cannot be read") from None
    if end != len(content):
        raise FooterError("the metadata cannot be read")
    size = _record_size(found.get(2, []), column)
    if 8 in found:
        raise FooterError("the metadata describe an encrypted file")
    chunks = tuple(_chunk(group, column) for group in found.get(4, []))
    end = _PARQUET
    for chunk in chunks:
        if chunk.start < end or chunk.packed < 0 or chunk.start + chunk.packed > start:
            raise FooterError("expected consecutive row groups within the file, got others")
        most = most_packed(chunk.records * size)
        if chunk.packed > most:
            raise FooterError(
                f"expected at most {most:,} bytes of pages for {chunk.records:,} reports, got {chunk.packed:,}"
            )
        end = chunk.start + chunk.packed
    if sum(chunk.records for chunk in chunks) != found.get(3):
        raise FooterError("expected row groups that add up to the number of rows, got another total")
    return Footer(size, chunks, texts)


def check_footer(content: bytes) -> None:
    """Refuse a Parquet footer for which Arrow would need much more memory than its size; Arrow checks the rest."""
    try:
        _, end = read_struct(content, 0, _ANY, most_skipped=_MOST_SKIPPED)
    except ThriftError:
        end = -1
    if end != len(content):
        raise FooterError("the metadata cannot be read")


def _record_size(schema: list[dict[int, Any]], column: str) -> int:
    if [each.get(5, 0) for each in schema] != [1, 0]:
        raise FooterError("expected one column, got another number")
    leaf = schema[1]
    size = int(leaf.get(2, 0))
    if (leaf.get(1), leaf.get(3), leaf.get(4)) != (_FIXED_SIZE, _REQUIRED, column.encode()) or size < 1:
        raise FooterError("expected a column of fixed-size records, got another type")
    return size


def _chunk(group: dict[int, Any], column: str) -> Chunk:
    columns, rows = group.get(1, []), group.get(3, -1)
    said = columns[0].get(3) if columns else None
    if said is None or columns[0].keys() != {3} or 11 in said:
        raise FooterError("expected row groups of one unencrypted column in this file, got another kind")
    if (said.get(1), said.get(3), said.get(5)) != (_FIXED_SIZE, [column.encode()], rows) or rows < 1:
        raise FooterError("expected row groups with the type and length of their column, got others")
    if said.get(4) not in CODECS:
        raise FooterError("expected row groups compressed with Zstandard or not at all, got another compression")
    return Chunk(said.get(9, -1), said.get(7, -1), CODECS[said[4]], rows)
