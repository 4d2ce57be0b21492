"""Parquet's metadata as a report file has them: one column of fixed-size records, and nothing that names another file.

They are read here and not by Arrow, which makes room for whatever lists claim to hold, before it finds them empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from .parquet_pages import CODECS, most_packed
from .thrift import BINARY, I32, I64, Listed, ThriftError, read_struct

MOST_GROUPS = 1 << 16
"""Row groups of a report file: as many as hold 69 billion reports, or 256 GiB."""
_MOST_TEXTS = 64
_FIXED_SIZE, _REQUIRED = 7, 0
_PARQUET = 4
"""Bytes before the first page."""
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


# What Arrow makes of an element has a hundred times its bytes, and room for it before the element is there. Hence the
# fewest bytes that elements have in files as they should be.
_ANY: dict[int, Any] = {
    2: Listed({}, 100_000, least=3),
    4: Listed({1: Listed({}, 100_000, least=24)}, 100_000, least=30),
    5: Listed({}, 100_000, least=3),
}


_MOST_SKIPPED = 1 << 22
"""Fields that are left to Arrow: it writes three million into metadata of 8 MiB."""


class FooterError(ValueError):
    """Metadata that are not those of a report file, or of no Parquet file that is read here; says why."""


class Chunk(NamedTuple):
    """The only column of a row group: where its pages are, and how many records they hold."""

    start: int
    packed: int
    codec: str | None
    records: int


@dataclass(frozen=True)
class Footer:
    """What the metadata of a report file say."""

    size: int
    """Bytes of a record."""
    chunks: tuple[Chunk, ...]
    texts: dict[str, str]


def read_footer(content: bytes, start: int, column: str) -> Footer:
    """The metadata that begin at ``start`` in their file; refuses all but one required column of this name."""
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
            raise FooterError("expected row groups one after the other within the file, got others")
        most = most_packed(chunk.records * size)
        if chunk.packed > most:
            raise FooterError(
                f"expected at most {most:,} bytes of pages for {chunk.records:,} reports, got {chunk.packed:,}"
            )
        end = chunk.start + chunk.packed
    if sum(chunk.records for chunk in chunks) != found.get(3):
        raise FooterError("expected row groups that add up to the number of rows, got others")
    return Footer(size, chunks, texts)


def check_footer(content: bytes) -> None:
    """Refuses metadata that would take Arrow much more memory than their bytes; Arrow interprets the rest."""
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
        raise FooterError("expected a column of records of one size, got another")
    return size


def _chunk(group: dict[int, Any], column: str) -> Chunk:
    columns, rows = group.get(1, []), group.get(3, -1)
    said = columns[0].get(3) if columns else None
    if said is None or columns[0].keys() != {3} or 11 in said:
        raise FooterError("expected row groups of one unencrypted column in this file, got another kind")
    if (said.get(1), said.get(3), said.get(5)) != (_FIXED_SIZE, [column.encode()], rows) or rows < 1:
        raise FooterError("expected row groups of the type and length of their column, got another")
    if said.get(4) not in CODECS:
        raise FooterError("expected row groups compressed with Zstandard or not at all, got another compression")
    return Chunk(said.get(9, -1), said.get(7, -1), CODECS[said[4]], rows)
