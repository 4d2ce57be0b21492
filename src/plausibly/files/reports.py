"""Report files: Parquet with one record per row, the scheme in the metadata, and checksums over everything.

docs/files.md specifies every byte of the format; docs/adr/0013-files.md gives the reasons.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import os
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..catalog import from_json
from ..core.errors import ParameterError, ReportError, StateError
from ..core.records import Reports, is_simulated
from ..core.scheme import Scheme, expect_scheme
from ..core.skipped import Skipped
from ..core.wording import nearest, shown
from ..core.words import Words, kind_of
from .authentication import NOT_AUTHENTICATED, Key, KeyNeededError
from .openers import BinaryFile, Kept, Source, opener_of
from .parquet_footer import MOST_GROUPS, Chunk, FooterError, read_footer
from .parquet_pages import PageError, page_records
from .places import exists, writing
from .unreachable import UnreachableError

VERSION, KEYED_VERSION = "1", "2"
COLUMN = "report"
COMPRESSIONS = ("none", "zstd")
PARQUET = b"PAR1"
_NOT_PARQUET = "not a complete Parquet file: it does not begin and end with PAR1"
_TAIL = struct.Struct("<I4s")
_END = 1 << 16
"""Number of bytes at the end of a file that are read at once: usually all metadata, with one request to a store."""
_GROUP_BYTES = 1 << 22
_GROUP_REPORTS = 1 << 20
_MOST_FOOTER = 1 << 26
"""Maximum size of the metadata in bytes: a scheme with a million labels of 40 characters, and all row groups."""
_REMEMBERED = 1 << 20
"""Maximum size in bytes of metadata, and of a scheme, that are cached for the next file."""
_GROUP_TEXT, _KEYED_GROUP_TEXT = 32, 96
"""Maximum number of characters per row group in the list of row groups."""
_UNSEALED = b"0" * 64
# A metadata key and the header of its text of 64 characters. JSON cannot contain the control character.
_SEAL = b"plausibly.checksum\x18\x40"
_KEYED_SEAL = b"plausibly.mac\x18\x40"
_PURPOSE = b"plausibly reports 2\n"
"""The first bytes of what a key authenticates, so that the code of a tally never fits a report file."""


class DamagedError(ReportError):
    """A report file or one of its row groups cannot be read. The message names it and says why."""

    def __init__(self, path: str, group: int | None, reason: str, reports: int | None = None) -> None:
        self.path, self.group, self.reason, self.reports = path, group, reason, reports
        super().__init__(path, group, reason, reports)

    def __str__(self) -> str:
        place = self.path if self.group is None else f"{self.path}, row group {self.group}"
        return f"{place}: {self.reason}"

    @property
    def skipped(self) -> Skipped:
        """The damaged report file or row group as an entry in a tally's list of skipped ones."""
        return Skipped(self.path, self.group, self.reports, self.reason)


@contextmanager
def report_writer(
    path: str | Path, scheme: Scheme, *, simulated: bool = False, compression: str = "zstd", key: Key | None = None
) -> Iterator[ReportWriter]:
    """A writer of a report file of one scheme; the file appears when the ``with`` block ends without an error.

    ``simulated=True`` marks reports that are not from real users; those drawn from a seeded source carry the mark
    already. With a ``key``, only those who have the key can read the file through plausibly. The file has mode 0600:
    readable by its owner alone. A ``path`` such as ``s3://bucket/day.parquet`` is uploaded whole.
    """
    expect_scheme(scheme)
    if compression not in COMPRESSIONS:
        raise ParameterError(f"compression: unknown {shown(compression)}; {nearest(compression, COMPRESSIONS)}")
    owner = os.getpid()
    _refuse_overwriting(path)
    with writing(path) as unfinished:
        with _Sink(unfinished, "wb") as sink:
            writer = ReportWriter(sink, scheme, simulated=simulated, compression=compression, keyed=key is not None)
            try:
                yield writer
                if os.getpid() != owner:
                    return  # a fork's copy: the file is its parent's
                _refuse_overwriting(path)
                writer.finish()
            finally:
                writer.abandon()
        _seal(unfinished, key)


def write_reports(
    path: str | Path, scheme: Scheme, reports: object, *, simulated: bool = False, key: Key | None = None
) -> None:
    """Write a new report file with these reports."""
    with report_writer(path, scheme, simulated=simulated, key=key) as writer:
        writer.write(reports)


class ReportWriter:
    """A writer of a report file: takes batches of any size and writes row groups of equal size."""

    def __init__(self, sink: _Sink, scheme: Scheme, *, simulated: bool, compression: str, keyed: bool) -> None:
        self.scheme, self.simulated = scheme, simulated
        self._sink, self._keyed = sink, keyed
        self._groups: list[tuple[int, int | str]] = []
        self._buffer = np.empty(group_reports(scheme), dtype=scheme.report_dtype)
        self._buffered = 0
        self._failed = False
        arrow, parquet = _pyarrow()
        kind = arrow.binary(scheme.report_dtype.itemsize)
        self._schema = arrow.schema([arrow.field(COLUMN, kind, nullable=False)])
        self._parquet = parquet.ParquetWriter(
            sink,
            self._schema,
            compression=compression,
            compression_level=1 if compression == "zstd" else None,
            use_dictionary=False,
            write_statistics=False,
            write_page_index=False,
            store_schema=False,
        )

    def write(self, reports: object) -> None:
        """Add reports to the report file, or refuse all of them if one is not a report of the scheme."""
        if not self._sink.own or not self._parquet.is_open:
            raise StateError("the file of reports is not open for writing in this process")
        accepted = self.scheme.accept(reports)
        self.simulated |= is_simulated(accepted)
        failed, self._failed = self._failed, True
        self._take(accepted)
        self._failed = failed

    def finish(self) -> None:
        """Write the remaining reports and the metadata of the report file."""
        if self._failed:
            raise StateError("an earlier write failed, so reports may be missing; write the file again")
        if self._buffered:
            self._flush(self._buffer[: self._buffered])
        self._parquet.add_key_value_metadata(
            {
                "plausibly.version": KEYED_VERSION if self._keyed else VERSION,
                "plausibly.scheme": self.scheme.to_json(),
                "plausibly.fingerprint": self.scheme.fingerprint(),
                "plausibly.simulated": json.dumps(self.simulated),
                # Makes each file unique: two files may have equal reports by chance, and neither is a copy.
                "plausibly.file": os.urandom(16).hex(),
                "plausibly.groups": json.dumps(self._groups, separators=(",", ":")),
                "plausibly.mac" if self._keyed else "plausibly.checksum": _UNSEALED.decode(),
            }
        )
        self._parquet.close()

    def abandon(self) -> None:
        """Close the report file. Unless ``finish`` was called before, the file is unusable."""
        self._parquet.close()

    def _take(self, reports: Reports) -> None:
        room = len(self._buffer)
        while len(reports):
            if not self._buffered and len(reports) >= room:
                self._flush(reports[:room])
                reports = reports[room:]
                continue
            taken = min(room - self._buffered, len(reports))
            self._buffer[self._buffered : self._buffered + taken] = reports[:taken]
            self._buffered += taken
            reports = reports[taken:]
            if self._buffered == room:
                self._flush(self._buffer)
                self._buffered = 0

    def _flush(self, reports: Reports) -> None:
        if len(self._groups) == MOST_GROUPS:
            raise StateError(f"a file of reports can have at most {MOST_GROUPS:,} row groups; start another file")
        arrow, _ = _pyarrow()
        content = reports.view(np.uint8)
        column = arrow.FixedSizeBinaryArray.from_buffers(
            self._schema.field(COLUMN).type, len(reports), [None, arrow.py_buffer(content)]
        )
        self._parquet.write_table(arrow.Table.from_arrays([column], schema=self._schema), row_group_size=len(reports))
        self._groups.append((len(reports), _digest(content.data, self._keyed)))


class ReportFile:
    """A report file whose metadata have been checked; its row groups are checked as they are read.

    ``source`` is a path, or an `Opener` of a file that is stored elsewhere. ``identity`` names the content: a copy has
    the same identity, and no other file has it. With a ``key``, only files written with that key are accepted; without
    one, files written with a key are refused.
    """

    def __init__(self, source: Source, *, key: Key | None = None) -> None:
        self._opener = opener_of(source)
        self.name = self._opener.name
        """The name in messages: the path, or the name that the opener gives."""
        self._arrow, _ = _pyarrow()
        self._kept: Kept | None = None
        footer, start, self.identity = self._footer(key)
        self._keyed = key is not None
        try:
            said = (_remembered if len(footer) <= _REMEMBERED else _described)(footer, start, self._keyed)
        except FooterError as error:
            raise self.damaged(str(error)) from None
        self._said = said
        self.scheme, self.simulated = said.scheme, said.simulated
        self.groups = tuple(chunk.records for chunk in said.chunks)
        """Number of reports in each row group."""

    def __len__(self) -> int:
        return sum(self.groups)

    def __repr__(self) -> str:
        kind = "simulated reports" if self.simulated else "reports"
        return f"<file of {len(self):,} {kind} of {self.scheme!r}>"

    def __iter__(self) -> Iterator[Reports]:
        """The reports in the report file, row group by row group."""
        return map(self.read, range(len(self.groups)))

    def read(self, group: int) -> Reports:
        """The reports in a row group of the report file, in read-only memory that Arrow owns.

        Their bytes are verified to be those that were written. ``Accumulator.add`` checks whether they are reports.
        """
        chunk, size = self._said.chunks[group], self.scheme.report_dtype.itemsize
        # The first row group brings the first bytes of the file along.
        before = len(PARQUET) if chunk.start == len(PARQUET) else 0
        # Read once and completely: the bytes that are checked are those that are used, even if the file changes.
        with self._reached(group) as file:
            file.seek(chunk.start - before)
            stored = memoryview(self._arrow.allocate_buffer(before + chunk.packed)).cast("B")
            length = _fill(stored, file)
        stored = stored[:length]
        if before and stored[:before] != PARQUET:
            raise self.damaged(_NOT_PARQUET, group)
        try:
            content = page_records(stored[before:], chunk.codec, chunk.records, size, self._arrow)
        except PageError as error:
            raise self.damaged(str(error), group) from None
        except MemoryError:  # ArrowMemoryError is one, and no sign of damage
            raise
        except (self._arrow.ArrowException, OSError, ValueError):  # Arrow's decompression raises OSError
            raise self.damaged("the pages cannot be read", group) from None
        if _digest(content.data, self._keyed) != self._said.checksums[group]:
            raise self.damaged("the checksum does not match; the bytes are damaged", group)
        return self.scheme.tag(content.view(self.scheme.report_dtype), simulated=self.simulated)

    def close(self) -> None:
        """Do nothing: the report file is open only while it is read. For callers that close every file."""

    def __enter__(self) -> ReportFile:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def damaged(self, reason: str, group: int | None = None) -> DamagedError:
        """A `DamagedError` that names this report file or one of its row groups."""
        return DamagedError(self.name, group, reason, None if group is None else self.groups[group])

    @contextmanager
    def _reached(self, group: int | None = None) -> Iterator[BinaryFile]:
        # The open file. An error of the disk or the network says nothing about the file's content.
        try:
            file: object = self._opener.open() if self._kept is None else self._kept.again()
            if not all(hasattr(file, method) for method in ("read", "seek", "__enter__", "__exit__")):
                raise StateError(Words(f"{self.name}: expected an open file from its opener, got ", kind_of(file)))
            self._kept = file if isinstance(file, Kept) else None
            with cast(BinaryFile, file) as opened:
                yield opened
        except OSError as error:
            raise UnreachableError(self.name, error.strerror or f"cannot be read ({error})", group) from None

    def _footer(self, key: Key | None) -> tuple[bytes, int, str]:
        # The metadata, their position and their checksum, which is verified before anything interprets the rest.
        with self._reached() as file:
            size = file.seek(0, os.SEEK_END)
            if size < len(PARQUET) + _TAIL.size:
                raise self.damaged(f"not a file of reports: it has only {size} bytes")
            end = self._read_at(file, max(0, size - _END), size)
            length, last = _TAIL.unpack(end[-_TAIL.size :])
            # The first bytes of a longer file are checked with its first row group: here they would cost a request.
            first = end[: len(PARQUET)] if len(end) == size else PARQUET
            if (first, last) != (PARQUET, PARQUET):
                raise self.damaged(_NOT_PARQUET)
            if length > size - len(PARQUET) - _TAIL.size:
                raise self.damaged("the metadata are cut off")
            if length > _MOST_FOOTER:
                raise self.damaged(f"expected metadata of at most {_MOST_FOOTER:,} bytes, got {length:,}")
            start, stop = size - _TAIL.size - length, size - _TAIL.size
            inside = len(end) >= length + _TAIL.size
            footer = end[start - size : -_TAIL.size] if inside else self._read_at(file, start, stop)
        place, keyed = _seal_of(footer)
        if place is None:
            raise self.damaged("a Parquet file, but not of reports")
        if keyed and key is None:
            raise KeyNeededError(self.name)
        if key is not None and not keyed:
            raise self.damaged(NOT_AUTHENTICATED)
        checksum = _checksum(footer, place, start, key)
        if not hmac.compare_digest(footer[place : place + len(_UNSEALED)], checksum.encode()):
            raise self.damaged("the checksum of the metadata does not match" if key is None else key.misfit)
        return footer, start, checksum

    def _read_at(self, file: BinaryFile, start: int, stop: int) -> bytes:
        file.seek(start)
        found = file.read(stop - start)
        if len(found) != stop - start:
            raise self.damaged("shorter than it says")
        return found


def _fill(buffer: memoryview, file: BinaryFile) -> int:
    # A file on a network may return fewer bytes than requested.
    length = 0
    while length < len(buffer) and (piece := file.readinto(buffer[length:])) > 0:
        length += piece
    return length


def group_reports(scheme: Scheme) -> int:
    """Number of reports in a row group of a report file: a few megabytes of records."""
    return max(1, min(_GROUP_REPORTS, _GROUP_BYTES // scheme.report_dtype.itemsize))


class _Sink(io.FileIO):
    """A file that only the process that opened it can write to: a forked copy of a writer has no effect."""

    def __init__(self, path: Path, mode: str) -> None:
        super().__init__(path, mode)
        self._owner = os.getpid()

    @property
    def own(self) -> bool:
        return self._owner == os.getpid()

    def write(self, content: Any) -> int:
        view = memoryview(content).cast("B")
        written = 0
        while self.own and written < len(view):
            written += super().write(view[written:]) or 0
        return len(view)


def _seal_of(footer: bytes) -> tuple[int | None, bool]:
    # The position of the checksum, if there is exactly one, and whether it was made with a key.
    places = [
        (found.end(), found[0] == _KEYED_SEAL)
        for found in re.finditer(re.escape(_SEAL) + b"|" + re.escape(_KEYED_SEAL), footer)
    ]
    if len(places) == 1 and len(footer) >= places[0][0] + len(_UNSEALED):
        return places[0]
    return None, False


def _checksum(footer: bytes, place: int, start: int, key: Key | None) -> str:
    # Of all metadata, with zeros in its own place, and of their position, so that nothing can be inserted before them.
    plain = footer[:place] + _UNSEALED + footer[place + len(_UNSEALED) :] + struct.pack("<Q", start)
    return hashlib.sha256(plain).hexdigest() if key is None else key.mac(_PURPOSE, plain).hex()


def _digest(content: memoryview, keyed: bool) -> int | str:
    # CRC-32 detects accidents. With a key, nobody may find other records with the same digest.
    return hashlib.sha256(content).hexdigest() if keyed else zlib.crc32(content)


def _seal(path: Path, key: Key | None) -> None:
    # The metadata contain their own checksum, which can be computed only after they are written.
    with path.open("r+b") as file:
        end = file.seek(-_TAIL.size, os.SEEK_END)
        length, _ = _TAIL.unpack(file.read(_TAIL.size))
        if length > _MOST_FOOTER:
            raise StateError(
                f"{path.name}: expected metadata of at most {_MOST_FOOTER:,} bytes, got {length:,}; list fewer labels"
            )
        start = file.seek(end - length)
        footer = file.read(length)
        place, _ = _seal_of(footer)
        if place is None:
            raise StateError(f"{path.name}: the metadata were not written as expected")
        file.seek(start + place)
        file.write(_checksum(footer, place, start, key).encode())


def _refuse_overwriting(path: str | Path) -> None:
    if exists(path):
        raise StateError(f"{path}: exists already, and reports are never overwritten; choose another name")


@dataclass(frozen=True)
class _Described:
    """The reports as their metadata describe them."""

    scheme: Scheme
    simulated: bool
    chunks: tuple[Chunk, ...]
    checksums: tuple[int | str, ...]


def _described(footer: bytes, start: int, keyed: bool) -> _Described:
    found = read_footer(footer, start, COLUMN)
    said, expected = found.texts, KEYED_VERSION if keyed else VERSION
    if said.get("plausibly.version") != expected:
        version = shown(said.get("plausibly.version"))
        raise FooterError(f"expected version {expected} of the format, got {version}")
    try:
        scheme = (_scheme if len(said["plausibly.scheme"]) <= _REMEMBERED else _large_scheme)(said["plausibly.scheme"])
        simulated = {"true": True, "false": False}[said["plausibly.simulated"]]
        groups = _groups(said["plausibly.groups"], len(found.chunks), keyed)
        fingerprint = said["plausibly.fingerprint"]
    except (
        LookupError,
        TypeError,
        ValueError,
        ArithmeticError,
        AttributeError,
        RecursionError,
    ):  # a scheme's among them
        raise FooterError("the metadata do not describe reports of a scheme known here") from None
    size = scheme.report_dtype.itemsize
    if fingerprint != scheme.fingerprint() or found.size != size:
        raise FooterError(f"expected one column of {scheme.name} records of {size} bytes, got another")
    most = group_reports(scheme)
    if max((count for count, _ in groups), default=0) > most:
        # Zeros compress well: a file of a few kilobytes could fill the memory.
        raise FooterError(f"expected row groups of at most {most} reports, got a larger one")
    if [count for count, _ in groups] != [chunk.records for chunk in found.chunks]:
        raise FooterError("the row groups are not those that were written")
    return _Described(scheme, simulated, found.chunks, tuple(checksum for _, checksum in groups))


@lru_cache(maxsize=8)
def _remembered(footer: bytes, start: int, keyed: bool) -> _Described:
    # Each task that shares a file reads its metadata again, to check that it is still the same.
    return _described(footer, start, keyed)


def _groups(text: str, count: int, keyed: bool) -> list[tuple[int, int | str]]:
    if len(text) > (_KEYED_GROUP_TEXT if keyed else _GROUP_TEXT) * (count + 1):
        raise ValueError("more row groups than in the file")
    return [(int(reports), str(digest) if keyed else int(digest)) for reports, digest in json.loads(text)]


@lru_cache(maxsize=16)
def _scheme(text: str) -> Scheme:
    # Many small files have the same scheme, and its thresholds take a moment to compute.
    return from_json(text)


@lru_cache(maxsize=1)
def _large_scheme(text: str) -> Scheme:
    # Untrusted files must not fill the memory with schemes.
    return from_json(text)


def load_format() -> None:
    """Load what reads and writes report files; otherwise the first file does, which takes a moment."""
    _pyarrow()


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError("files of reports need pyarrow: pip install pyarrow") from error
    return pyarrow, parquet
