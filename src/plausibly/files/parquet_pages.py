"""Parquet pages: their headers are read and checked before anything is decompressed.

A page states its own decompressed size, and most readers believe it: a file of 64 kB can take gigabytes of memory. Here
the permitted contents of a column are known beforehand, and a page that claims more is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from .thrift import I32, Content, CutOffError, ThriftError, read_struct

DATA, DICTIONARY, DATA_2 = 0, 2, 3
"""Page types."""
PLAIN, DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY = 0, 6, 7
"""Encodings of values."""
CODECS = {0: None, 6: "zstd"}
"""Permitted compression of report pages: the number in Parquet, and the name in Arrow."""
_CUT_OFF = "expected pages that end within their row group, got one that ends after it"
_LONGEST_HEADER = 1 << 20
_USUAL_HEADER = 1 << 12
_PAGE = {1: I32, 2: I32, 3: I32, 5: {1: I32, 2: I32}, 7: {1: I32, 2: I32}, 8: {1: I32, 4: I32}}
# By page type: the field of the type-specific header, and the field of the encoding in that header.
_OWN = {DATA: (5, 2), DICTIONARY: (7, 2), DATA_2: (8, 4)}

_NUMBER = rb"([\x80-\xff]{0,3}[\x00-\x7f])"
# The usual header of a report page, matched for speed: plain values without levels or statistics.
_USUAL = re.compile(
    rb"\x15\x00\x15"
    + _NUMBER
    + rb"\x15"
    + _NUMBER
    + rb"\x2c\x15"
    + _NUMBER
    + rb"\x15\x00\x15\x06\x15\x06(?:\x1c\x00)?\x00\x00",
    re.DOTALL,
)


class PageError(ValueError):
    """Pages that cannot belong to the column. The message says why."""


class Page(NamedTuple):
    """The header of a page."""

    type: int
    size: int
    """Decompressed size in bytes."""
    packed: int
    """Size in the file in bytes, without the header."""
    values: int
    encoding: int


def most_packed(size: int) -> int:
    """Maximum size of the Parquet pages of a chunk: Zstandard adds at most 1/256, and each page a short header."""
    return size + size // 64 + (1 << 16)


def page_records(content: memoryview, codec: str | None, count: int, size: int, arrow: Any) -> npt.NDArray[np.uint8]:
    """The bytes of ``count`` records of ``size`` bytes, read-only, from the Parquet pages of a column chunk.

    All headers are checked before the first page is decompressed. Takes at most the memory of the stored pages plus
    twice that of the records.
    """
    found = list(_plain_pages(content, codec, count, size))
    unpack = None if codec is None else arrow.Codec(codec).decompress
    if len(found) == 1:
        whole = _unpacked(content, *found[0], unpack)
    else:
        # Allocated by Arrow, which reuses freed memory for the next row group: fresh memory costs as much as the copy.
        whole = np.frombuffer(arrow.allocate_buffer(count * size), dtype=np.uint8)
        done = 0
        for page, place in found:
            whole[done : done + page.size] = _unpacked(content, page, place, unpack)
            done += page.size
    whole.flags.writeable = False
    return whole


def _plain_pages(content: memoryview, codec: str | None, count: int, size: int) -> Iterator[tuple[Page, int]]:
    # The pages, and the positions of their contents. Pages of a required column have values and nothing else.
    place = done = 0
    while place < len(content):
        try:
            page, place = usual_page(content, place) or read_page(content, place)
        except ThriftError:
            raise PageError("expected the header of a page, got other bytes") from None
        if page.type != DATA or page.encoding != PLAIN:
            raise PageError("expected pages of plain values, got another kind")
        if not 0 < page.values <= count - done or page.size != page.values * size:
            raise PageError(f"expected pages of {count} records of {size} bytes, got a page of another size")
        if page.packed > len(content) - place:
            raise PageError(_CUT_OFF)
        if codec is None and page.packed != page.size:
            raise PageError(f"expected an uncompressed page of {page.size:,} bytes, got {page.packed:,}")
        yield page, place
        place += page.packed
        done += page.values
    if done != count:
        raise PageError(f"expected pages of {count} records, got {done}")


def _unpacked(content: memoryview, page: Page, place: int, unpack: Any) -> npt.NDArray[np.uint8]:
    packed = content[place : place + page.packed]
    # Decompressed into a buffer of exactly this size: a frame with more or fewer bytes is refused.
    return np.frombuffer(packed if unpack is None else unpack(packed, decompressed_size=page.size), dtype=np.uint8)


def usual_page(content: Content, place: int) -> tuple[Page, int] | None:
    """The Parquet page as from ``read_page`` in a third of the time, or None if its header is not the usual one."""
    found = _USUAL.match(content, place)
    if found is None:
        return None
    size, packed, values = map(_doubled, found.groups())
    if (size | packed | values) & 1:  # a negative one
        return None
    return Page(DATA, size >> 1, packed >> 1, values >> 1, PLAIN), found.end()


@lru_cache(maxsize=64)
def _doubled(written: bytes) -> int:
    # Most pages have the same size.
    return sum((byte & 127) << 7 * place for place, byte in enumerate(written))


def read_page(content: Content, place: int = 0) -> tuple[Page, int]:
    """The Parquet page whose header begins at ``place``, and the position of its content."""
    found, place = read_struct(content, place, _PAGE)
    header, encoding = _OWN.get(found.get(1, -1), (0, 0))
    try:
        own = found[header]
        page = Page(found[1], found[2], found[3], own[1], own[encoding])
    except KeyError:
        raise PageError("expected pages of values, got another kind") from None
    if page.size < 0 or page.packed < 0 or page.values < 0:
        raise PageError("expected page sizes that are not negative, got a negative number")
    return page, place


def pages_of(file: BinaryIO, start: int, end: int) -> Iterator[Page]:
    """The Parquet pages of a column chunk between two positions of a file. Only the headers are read."""
    while start < end:
        file.seek(start)
        content = file.read(min(_USUAL_HEADER, end - start))
        try:
            page, length = read_page(content)
        except CutOffError:
            # Statistics can make a header long.
            content += file.read(min(_LONGEST_HEADER, end - start) - len(content))
            page, length = read_page(content)
        start += length + page.packed
        if start > end:
            raise PageError(_CUT_OFF)
        yield page
