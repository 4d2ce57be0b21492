"""Text files of users' values, read in constant memory: blocks of complete lines, plain or compressed with gzip.

Errors name the file and the line. They never show the content, which may be somebody's secret.
"""

from __future__ import annotations

import errno
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Any, BinaryIO

from ..core.domain import Column
from ..core.words import Setting, Words
from .batches import Batch
from .sources import Source, ValuesError

LONGEST_VALUE = 1 << 20
"""Maximum length of a value in characters."""
LONGEST_LINE = 1 << 24
"""Maximum length of a line in bytes, with all its columns."""
MOST_AT_ONCE = 1 << 16
"""Maximum number of missing values in a batch: a run of empty lines might not fit into memory."""
_BLOCK = 1 << 20
MARK = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8."""
_GZIP = b"\x1f\x8b"
_CR_ALONE = "the line contains a carriage return (CR); lines must end with LF or CR LF"
# Other kinds of files by their first bytes, with which no ordinary UTF-8 text begins.
_OTHERS = {
    b"\xff\xfe": "text in UTF-16; save it as UTF-8",
    b"\xfe\xff": "text in UTF-16; save it as UTF-8",
    b"PAR1\x15": Words("a Parquet file; pass ", Setting("format", "parquet")),
    b"PK\x03\x04": "a ZIP archive or a spreadsheet; unpack it, or save it as CSV",
    b"BZh91AY&SY": "compressed with bzip2, which is not supported; unpack it, or use gzip",
    b"\xfd7zXZ\0": "compressed with xz, which is not supported; unpack it, or use gzip",
    b"\x28\xb5\x2f\xfd": "compressed with zstd, which is not supported; unpack it, or use gzip",
    _GZIP: "compressed twice; unpack it once",
}


class Text:
    """The lines of a text file or stream, read in blocks."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._line = 1
        """The line where the bytes that are read next begin or go on."""

    def refused(self, why: str, line: int) -> ValuesError:
        """A `ValuesError` that names the line of the text."""
        return self.source.refused(why, f"line {line}")

    def refuse(self, why: str, line: int) -> None:
        """Raise a `ValuesError` about a line of the text, or count the line where bad lines are counted."""
        self.source.refuse(why, "line", line)

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Blocks of complete lines of text, each with the number of its first line. Refuse an empty file.

        A block is valid UTF-8 and contains neither a NUL byte nor a byte order mark at the beginning of the file.
        """
        empty = True
        for first, content in self._cut():
            if empty:
                self._refuse_other_files(content)
            self._refuse_bytes(content, first)
            begun = content.removeprefix(MARK) if empty else content
            empty = False
            if begun:
                yield first, begun
        if empty:
            raise self.refused("expected values, got an empty file", 1)

    def _cut(self) -> Iterator[tuple[int, bytes]]:
        # Blocks that end at the end of a line, except the last.
        length = 0
        pieces: list[bytes] = []
        for block in self._read():
            end = block.rfind(b"\n") + 1
            if end:
                first, self._line = self._line, self._line + block.count(b"\n")
                yield first, b"".join([*pieces, block[:end]])
                pieces, length = [], 0
            pieces.append(block[end:])
            length += len(block) - end
            if length > LONGEST_LINE:
                why = _CR_ALONE if b"\r" in pieces[0] else f"the line has more than {LONGEST_LINE:,} bytes"
                raise self.refused(why, self._line)
        if length:
            yield self._line, b"".join(pieces)

    def _read(self) -> Iterator[bytes]:
        with self.source.opened() as file:
            counted: Any = _Counted(file, self.source)
            stream = io.BufferedReader(counted, _BLOCK)
            try:
                packed = stream.peek(len(_GZIP)).startswith(_GZIP)
                content: Any = gzip.GzipFile(fileobj=stream) if packed else stream
                while block := content.read(_BLOCK):
                    yield block
            except (EOFError, gzip.BadGzipFile, zlib.error):
                raise self.refused("the gzip data are cut off or damaged", self._line) from None
            except OSError as error:
                raise self.refused(error.strerror or "cannot be read", self._line) from None

    def _refuse_other_files(self, content: bytes) -> None:
        for beginning, what in _OTHERS.items():
            if content.startswith(beginning):
                raise self.refused(what, 1)
        if content[1:4:2] == b"\0\0" or content[:4:2] == b"\0\0":
            raise self.refused("text in UTF-16; save it as UTF-8", 1)

    def _refuse_bytes(self, content: bytes, first: int) -> None:
        place = content.find(b"\0")
        if place >= 0:
            raise self.refused("expected text, got a NUL byte", first + content.count(b"\n", 0, place))
        if content.isascii():
            return
        try:
            content.decode()
        except UnicodeDecodeError as error:
            line = first + content.count(b"\n", 0, error.start)
            raise self.refused("expected text in UTF-8, got other bytes; save the file as UTF-8", line) from None


class _Counted(io.RawIOBase):
    # Counts the bytes read from the source.
    def __init__(self, file: BinaryIO, source: Source) -> None:
        self._file, self._source = file, source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._file.read(len(buffer))
        if content is None:  # no data yet, but not the end
            raise BlockingIOError(errno.EAGAIN, "expected a blocking stream, got one without data")
        buffer[: len(content)] = content
        self._source.read += len(content)
        return len(content)


def has_short_lines(content: bytes, longest: int) -> bool:
    """Whether it is certain, and quickly seen, that no line of a block has more than ``longest`` bytes."""
    step = longest // 2
    return all(content.find(b"\n", at, at + step) >= 0 for at in range(0, len(content) - step, step))


def plain_lines(text: Text) -> Iterator[Batch]:
    """The lines of a text in batches, without line ends, None for an empty line.

    Empty lines at the end of the file are ignored.
    """
    empty = 0  # the first of the empty lines before this block
    for first, content in text:
        block = content.decode()
        lines = block.removesuffix("\n").split("\n")
        if "\r" in block:
            lines = [line.removesuffix("\r") for line in lines]
        end = len(lines)
        while end and not lines[end - 1]:
            end -= 1
        start = empty or first
        if not end:
            empty = start
            continue
        for before in range(start, first, MOST_AT_ONCE):
            missing = range(before, min(before + MOST_AT_ONCE, first))
            yield Batch(missing, Column([None] * len(missing)))
        numbers, column = range(first, first + end), Column([line or None for line in lines[:end]])
        yield _without_returns(text, numbers, column) if "\r" in block else Batch(numbers, column)
        empty = first + end if end < len(lines) else 0


def _without_returns(text: Text, numbers: Sequence[int], column: Column) -> Batch:
    # Refuses or counts the lines that contain a carriage return.
    wrong = [line is not None and "\r" in line for line in column.distinct]
    for number in compress(numbers, wrong):
        text.refuse(_CR_ALONE, number)
    good = [not each for each in wrong]
    return Batch(list(compress(numbers, good)), column.only(good))
