"""Openers of report files: a path on this machine, the address of an object store, or any other storage."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from .stores import StoredFile, is_address, local_path


class BinaryFile(Protocol):
    """A seekable binary file that is open for reading, such as ``open(path, "rb")`` returns."""

    def read(self, size: int = -1, /) -> bytes:
        """Up to ``size`` bytes of the opened file; fewer only at its end."""

    def readinto(self, buffer: memoryview, /) -> int:
        """Read the opened file into the buffer and return the number of bytes read, which is 0 only at the end."""

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Move to another position in the opened file and return it."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> object: ...


@runtime_checkable
class Kept(Protocol):
    """An open file that is worth keeping, because opening it costs a request and keeping it open costs nothing."""

    def again(self) -> BinaryFile:
        """The same open file at its beginning, without asking its store for it again."""


@runtime_checkable
class Opener(Protocol):
    """An opener of a stored file: the name that messages and tallies give the file, and how to open it.

    An opener is plain data, so that it can be sent to the machine that reads the file. Its name need not be a path:
    ``s3://bucket/monday.parquet`` says more.
    """

    @property
    def name(self) -> str:
        """The name of the opener's file in messages."""

    def open(self) -> BinaryFile:
        """The opener's file, open at its beginning. Raises `OSError` if it cannot be read.

        Opening and reading raise `OSError` for a file that may be intact: it is absent, the reader has no right to it,
        or the storage does not answer. Nothing skips such a file. A file that ends too early raises nothing: it
        returns fewer bytes.
        """


@dataclass(frozen=True)
class LocalFile:
    """The opener of a file on this machine, or on a disk that all machines share.

    ``path`` is where the file is, if its name in messages is another spelling of that.
    """

    name: str
    path: str = ""

    def open(self) -> BinaryFile:
        """The opener's file, open at its beginning."""
        return open(self.path or self.name, "rb")

    def from_anywhere(self) -> LocalFile:
        """The same opener for a process that runs in another folder; the name in messages stays as it is."""
        return LocalFile(self.name, os.path.abspath(self.path or self.name))


Source = str | Path | Opener
"""A path on this machine, the address of a stored file such as ``s3://bucket/day.parquet``, or an opener of a file."""


def opener_of(source: Source) -> Opener:
    """The opener of a report file that is given by its path or address, or the given opener itself.

    >>> opener_of("monday.parquet")
    LocalFile(name='monday.parquet', path='')
    >>> opener_of("s3://bucket/monday.parquet")
    StoredFile(name='s3://bucket/monday.parquet')
    """
    if is_address(source):
        return StoredFile(source)
    return LocalFile(os.fspath(local_path(source))) if isinstance(source, str | Path) else source
