"""Text files of users' values in constant memory: blocks of whole lines, plain or gzip'ed.

Whatever is wrong is named by file and line. What stands there is never shown: it may be somebody's secret.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from ..core.errors import ParameterError, PlausiblyError

LONGEST_VALUE = 1 << 20
"""Characters of a value."""
LONGEST_LINE = 1 << 24
"""Bytes of a line, with whatever else is in it."""
MOST_AT_ONCE = 1 << 16
"""Missing values in a batch: a run of empty lines may be longer than the memory."""
_BLOCK = 1 << 20
_GZIP = b"\x1f\x8b"
_CR_ALONE = "a carriage return (CR) where no line ends; lines must end with LF, or with CR and LF"
# By how they begin, which is like no text in UTF-8 that people write.
_OTHERS = {
    b"\xff\xfe": "text in UTF-16; save it as UTF-8",
    b"\xfe\xff": "text in UTF-16; save it as UTF-8",
    b"PAR1\x15": "a Parquet file; say that its format is parquet",
    b"PK\x03\x04": "a ZIP archive or a workbook of a spreadsheet; unpack it, or save it as CSV",
    b"BZh91AY&SY": "compressed by bzip2, which is not read here; unpack it, or use gzip",
    b"\xfd7zXZ\0": "compressed by xz, which is not read here; unpack it, or use gzip",
    b"\x28\xb5\x2f\xfd": "compressed by zstd, which is not read here; unpack it, or use gzip",
    _GZIP: "compressed twice; unpack it once",
}


class ValuesError(PlausiblyError, ValueError):
    """A file of users' values cannot be taken. Says which, where and why, and never what stands there."""


class Source:
    """Where values come from: a file by its path, or a stream of bytes such as standard input."""

    def __init__(self, given: str | Path | BinaryIO) -> None:
        if isinstance(given, io.TextIOBase):
            raise ParameterError("expected a stream of bytes, got one of text; its buffer has the bytes")
        self.path = Path(given) if isinstance(given, str | Path) else None
        self.name = "standard input" if self.path is None else str(given)
        self.read = 0
        """Bytes that have been read."""
        self.size: int | None = None
        """Bytes there are, where that is known."""
        self._given = given

    def refused(self, why: str, place: str = "") -> ValuesError:
        """The error that says so, with the name of the file."""
        return ValuesError(f"{self.name}{place and f', {place}'}: {why}")

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """The file, to be read from its beginning."""
        if self.path is None:
            if getattr(self._given, "closed", True):
                raise self.refused("closed, nothing can be read from it")
            yield cast(BinaryIO, self._given)
            return
        try:
            file = self.path.open("rb")
        except OSError as error:
            raise self.refused(error.strerror or "cannot be opened") from None
        with file:
            whole = os.fstat(file.fileno())
            self.size = whole.st_size or None  # a pipe has none
            yield file


class Text:
    """The lines of a source, read in blocks."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.blocks = self.given = 0
        """Blocks, and characters, that have been read so far."""

    def refused(self, why: str, line: int) -> ValuesError:
        """The error that says so of a line."""
        return self.source.refused(why, f"line {line}")

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """Blocks of whole lines, each with the number of its first line; refuses an empty file."""
        first = 1
        for content in self._cut():
            if first == 1:
                self._refuse_other_files(content)
            text = self._decoded(content, first)
            self.blocks += 1
            self.given += len(text)
            if text:
                yield first, text
            first += content.count(b"\n")
        if not self.blocks:
            raise self.refused("nothing; the file is empty", 1)

    def lines(self) -> Iterator[str]:
        """One line after another, with what ends it."""
        for _, text in self:
            # Unlike splitlines, this one takes nothing but LF for the end of a line.
            yield from io.StringIO(text, newline="\n")

    def _cut(self) -> Iterator[bytes]:
        # Blocks that end where a line does, but for the last.
        line, length = 1, 0
        pieces: list[bytes] = []
        for block in self._read():
            end = block.rfind(b"\n") + 1
            if end:
                yield b"".join([*pieces, block[:end]])
                line += block.count(b"\n")
                pieces, length = [], 0
            pieces.append(block[end:])
            length += len(block) - end
            if length > LONGEST_LINE:
                why = _CR_ALONE if b"\r" in pieces[0] else f"a line of more than {LONGEST_LINE:,} bytes"
                raise self.refused(why, line)
        if length:
            yield b"".join(pieces)

    def _read(self) -> Iterator[bytes]:
        lines = 1
        with self.source.opened() as file:
            counted: Any = _Counted(file, self.source)
            stream = io.BufferedReader(counted, _BLOCK)
            try:
                packed = stream.peek(len(_GZIP)).startswith(_GZIP)
                content: Any = gzip.GzipFile(fileobj=stream) if packed else stream
                while block := content.read(_BLOCK):
                    yield block
                    lines += block.count(b"\n")
            except (EOFError, gzip.BadGzipFile, zlib.error):
                raise self.refused("gzip data that are cut off or damaged", lines) from None
            except OSError as error:
                raise self.refused(error.strerror or "cannot be read", lines) from None

    def _refuse_other_files(self, content: bytes) -> None:
        for beginning, what in _OTHERS.items():
            if content.startswith(beginning):
                raise self.refused(what, 1)
        if content[1:4:2] == b"\0\0" or content[:4:2] == b"\0\0":
            raise self.refused("text in UTF-16; save it as UTF-8", 1)

    def _decoded(self, content: bytes, first: int) -> str:
        place = content.find(b"\0")
        if place >= 0:
            raise self.refused("a NUL byte, which no text has", first + content.count(b"\n", 0, place))
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            line = first + content.count(b"\n", 0, error.start)
            raise self.refused("expected text in UTF-8, got other bytes; save the file as UTF-8", line) from None
        return text.removeprefix("\ufeff") if first == 1 else text


class _Counted(io.RawIOBase):
    # Has the source know how much was read of it.
    def __init__(self, file: BinaryIO, source: Source) -> None:
        self._file, self._source = file, source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._file.read(len(buffer))
        if content is None:  # more may come: this is not the end
            raise BlockingIOError(errno.EAGAIN, "expected a stream that waits for its data")
        buffer[: len(content)] = content
        self._source.read += len(content)
        return len(content)


def plain_lines(text: Text) -> Iterator[tuple[list[int], list[str | None]]]:
    """The lines of a text in batches, without their ends: their numbers, and None for one that is empty.

    Empty lines at the end of the file are no lines.
    """
    empty = 0  # the first of the empty lines before this block
    for first, block in text:
        found: list[str | None] = list(block.removesuffix("\n").split("\n"))
        if "\r" in block:
            found = [line.removesuffix("\r") if line else line for line in found]
            for number, line in enumerate(found, first):
                if line and "\r" in line:
                    raise text.refused(_CR_ALONE, number)
        end = len(found)
        while end and not found[end - 1]:
            end -= 1
        start = empty or first
        if end:
            for before in range(start, first, MOST_AT_ONCE):
                numbers = list(range(before, min(before + MOST_AT_ONCE, first)))
                yield numbers, [None] * len(numbers)
            yield list(range(first, first + end)), [line or None for line in found[:end]]
            empty = first + end if end < len(found) else 0
        else:
            empty = start


def differs_little(name: str, names: list[str]) -> str:
    """A half sentence if one of the names is this one but for case and spaces. It tells no more than was given."""
    alike = any(other.strip().casefold() == name.strip().casefold() for other in names)
    return "; one differs from it in case or spaces only" if alike and name not in names else ""
