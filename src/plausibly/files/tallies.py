"""Tally files: an accumulator with its scheme, and the list of row groups and report files that it contains.

docs/files.md specifies every byte of the format.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import struct
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..catalog import from_json
from ..core.accumulator import Accumulator
from ..core.arguments import expect_few_brackets
from ..core.errors import PlausiblyError, StateError
from ..core.scheme import Scheme
from ..core.skipped import Skipped
from ..core.words import Setting, Words
from .authentication import MAC, NOT_AUTHENTICATED, Key, KeyNeededError
from .places import writing
from .stores import StoredFile, is_address, local_path
from .unreachable import UnreachableError

MAGIC, _VERSION, _KEYED_VERSION = b"PLT", 1, 2
_PREFIX = struct.Struct("<3sBIQ")
_CHECKSUM = struct.Struct("<I")
_MOST_BRACKETS = 2**21
"""The most brackets in a header, which has a pair for each range of row groups."""
_PURPOSE = b"plausibly tally 2\n"
"""The first bytes of what a key authenticates, so that the code of a report file never fits a tally."""
_MOST_HEADER = 1 << 26
"""Maximum size of the header in bytes: 800,000 report files, or a scheme with a million labels of 40 characters."""
_PIECE = 1 << 22

Ranges = tuple[tuple[int, int], ...]
"""Ranges [first, last) of row groups, sorted, with gaps between them."""


class SimulatedError(StateError):
    """Simulated reports where they are not allowed."""

    def __init__(self, path: str | Path) -> None:
        self._path = path
        super().__init__(path)

    @property
    def words(self) -> str:
        fix = Setting("allow_simulated", True)
        return Words(f"{self._path}: simulated reports, which are not from real users; pass ", fix, " to accept them")

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True, eq=False)
class Collected:
    """A tally and where its reports came from: the state that is folded, merged, written and resumed from."""

    tally: Accumulator
    simulated: bool = False
    files: Mapping[str, Ranges] = field(default_factory=dict)
    """The row groups that are in the tally, by the identity of their file."""
    skipped: tuple[Skipped, ...] = ()
    begun_with: str | None = None
    """For a state saved while collecting: the digest of the output it started from, or "" if there was none."""

    @property
    def scheme(self) -> Scheme:
        """The scheme of the reports in the tally."""
        return self.tally.scheme

    def __len__(self) -> int:
        return len(self.tally)

    def covers(self, other: Collected) -> bool:
        """Whether this tally has all row groups of the other."""
        return all(not ranges_without(ranges, self.files.get(identity, ())) for identity, ranges in other.files.items())

    def overlaps(self, other: Collected) -> bool:
        """Whether both tallies have a row group in common, as far as their files are known."""
        common = self.files.keys() & other.files.keys()
        return any(ranges_without(self.files[each], other.files[each]) != self.files[each] for each in common)

    def to_bytes(self, *, complete: bool = True, begun_with: str | None = None, key: Key | None = None) -> bytes:
        """The bytes of a tally file; ``complete=False`` marks a tally of a collection that is still running.

        ``begun_with`` is the ``digest`` of the output that the collection started from, or "" if there was none.
        """
        header = {
            "scheme": json.loads(self.scheme.to_json()),
            "fingerprint": self.scheme.fingerprint(),
            "reports": len(self),
            "simulated": self.simulated,
            "complete": complete,
            **({} if begun_with is None else {"begun_with": begun_with}),
            "files": {identity: list(map(list, ranges)) for identity, ranges in sorted(self.files.items())},
            "skipped": [vars(each) for each in self.skipped],
        }
        text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogateescape")
        blob = self.tally.to_bytes()
        if len(text) > _MOST_HEADER:
            raise StateError(f"expected a header of at most {_MOST_HEADER:,} bytes, got {len(text):,}; use fewer files")
        head = _PREFIX.pack(MAGIC, _VERSION if key is None else _KEYED_VERSION, len(text), len(blob)) + text
        parts = [head, _CHECKSUM.pack(zlib.crc32(head)), blob]
        return b"".join(parts if key is None else [*parts, key.mac(_PURPOSE, *parts)])

    @property
    def digest(self) -> str:
        """SHA-256 of the tally file that this state would have without a key."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    @classmethod
    def from_bytes(cls, content: bytes | bytearray, *, complete: bool = True, key: Key | None = None) -> Collected:
        """The tally from the bytes of its file. Refuse damaged or surplus bytes, and the wrong completeness.

        With a ``key``, refuse content that was not written with it; without one, refuse content written with any key.
        """
        view = memoryview(content)
        head, expected = _lengths(view, key)
        if len(view) != expected:
            raise StateError(f"expected {expected} bytes, got {len(view)}: cut off or damaged")
        if key is not None:
            view, mac = view[:-MAC], view[-MAC:]
            if not hmac.compare_digest(key.mac(_PURPOSE, view), mac):
                raise StateError(key.misfit)
        end = _PREFIX.size + head
        if zlib.crc32(view[:end]) != _CHECKSUM.unpack_from(view, end)[0]:
            raise StateError("the checksum of the header does not match; the bytes are damaged")
        try:
            text = bytes(view[_PREFIX.size : end]).decode("utf-8", "surrogateescape")
            expect_few_brackets(text, _MOST_BRACKETS)
            said = json.loads(text)
            scheme = from_json(json.dumps(said["scheme"]))
            files = {identity: _ranges(found) for identity, found in said["files"].items()}
            skipped = tuple(_skipped(each) for each in said["skipped"])
            simulated, whole, reports = said["simulated"], said["complete"], said["reports"]
            begun_with = said.get("begun_with")
            agree = said["fingerprint"] == scheme.fingerprint()
        except (
            LookupError,
            TypeError,
            ValueError,
            ArithmeticError,
            AttributeError,
            RecursionError,
        ):  # a scheme's among them
            raise StateError("the header does not describe a tally of a scheme known here") from None
        if not (
            agree and isinstance(simulated, bool) and isinstance(whole, bool) and isinstance(begun_with, str | None)
        ):
            raise StateError("the header does not describe a tally of a scheme known here")
        if complete and not whole:
            raise StateError("not complete: the collection was interrupted; run it again to resume")
        if whole and not complete:
            raise StateError("expected an unfinished state that collect saved, got a complete tally")
        tally = Accumulator.from_bytes(scheme, view[end + _CHECKSUM.size :])  # type: ignore[arg-type]
        if len(tally) != reports:
            raise StateError("the header and the accumulator do not agree on the number of reports")
        return cls(tally, simulated, files, skipped, begun_with)

    def write(
        self, path: str | Path, *, complete: bool = True, begun_with: str | None = None, key: Key | None = None
    ) -> None:
        """Write or replace a tally file atomically; a new file has mode 0600, an existing one keeps its mode.

        A tally file in a store is uploaded whole.
        """
        with writing(path) as unfinished:
            unfinished.write_bytes(self.to_bytes(complete=complete, begun_with=begun_with, key=key))

    @classmethod
    def read(cls, path: str | Path, *, complete: bool = True, key: Key | None = None) -> Collected:
        """The tally in a tally file. Every error message begins with the name of the file."""
        try:
            return cls.from_bytes(_content(path, key), complete=complete, key=key)
        except KeyNeededError:
            raise KeyNeededError(path) from None
        except UnreachableError:
            raise
        except PlausiblyError as error:
            raise StateError(Words(f"{path}: ", error.words)) from None
        except OSError as error:
            raise StateError(f"{path}: {error.strerror}") from None


def write_tally(path: str | Path, tally: Accumulator, *, simulated: bool = False, key: Key | None = None) -> None:
    """Write or replace a tally file with this accumulator and its scheme."""
    Collected(tally, simulated).write(path, key=key)


def read_tally(
    path: str | Path, *, scheme: Scheme | None = None, allow_simulated: bool = False, key: Key | None = None
) -> Accumulator:
    """The accumulator in a tally file. Refuse any scheme but the given one, and simulations unless allowed."""
    found = Collected.read(path, key=key)
    if scheme is not None and scheme != found.scheme:
        raise StateError(f"{path}: expected the given scheme, got another: {scheme.difference(found.scheme)}")
    if found.simulated and not allow_simulated:
        raise SimulatedError(path)
    return found.tally


def _lengths(view: memoryview, key: Key | None) -> tuple[int, int]:
    # The lengths of the header and of the whole file, from its first bytes.
    if len(view) < _PREFIX.size + _CHECKSUM.size:
        raise StateError(f"not a tally file: it has only {len(view)} bytes")
    magic, version, head, blob = _PREFIX.unpack_from(view)
    if magic != MAGIC:
        raise StateError("not a tally file")
    if version not in (_VERSION, _KEYED_VERSION):
        raise StateError(f"expected version {_VERSION} or {_KEYED_VERSION} of the format, got {version}")
    if version == _KEYED_VERSION and key is None:
        raise KeyNeededError("tally")
    if version == _VERSION and key is not None:
        raise StateError(NOT_AUTHENTICATED)
    if head > _MOST_HEADER:
        raise StateError(f"expected a header of at most {_MOST_HEADER:,} bytes, got {head:,}")
    return head, _PREFIX.size + head + _CHECKSUM.size + blob + (MAC if version == _KEYED_VERSION else 0)


def _content(path: str | Path, key: Key | None) -> bytearray:
    # Read no more than the first bytes announce, and no more than the file has, whatever they announce.
    with StoredFile(path).open() if is_address(path) else local_path(path).open("rb") as file:
        size = file.seek(0, os.SEEK_END) if file.seekable() else None  # a pipe cannot tell
        if size is not None:
            file.seek(0)
        found = bytearray(file.read(_PREFIX.size + _CHECKSUM.size))
        _, expected = _lengths(memoryview(found), key)
        if size not in (None, expected):
            raise StateError(f"expected {expected} bytes, got {size}: cut off or damaged")
        most = _PIECE if size is None else expected
        while len(found) <= expected and (piece := file.read(min(most, expected + 1 - len(found)))):
            found += piece
    return found


def joined_ranges(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The ranges of row groups in a tally, sorted and with adjacent ranges joined. Refuse duplicates."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if joined and first < joined[-1][1]:
            raise StateError(f"row group {first} of a file would be counted twice")
        if joined and first == joined[-1][1]:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return tuple(joined)


def ranges_without(ranges: Ranges, taken: Ranges) -> Ranges:
    """The row groups in ``ranges`` that are not in ``taken``, the ranges of a tally."""
    left: list[tuple[int, int]] = []
    for first, last in ranges:
        for begin, end in taken:
            if begin < last and end > first:
                if first < begin:
                    left.append((first, begin))
                first = max(first, end)
        if first < last:
            left.append((first, last))
    return tuple(left)


def _skipped(given: Any) -> Skipped:
    found = Skipped(**given)
    numbers = [number for number in (found.group, found.reports) if number is not None]
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError("expected numbers of row groups and reports")
    if not isinstance(found.file, str) or not isinstance(found.reason, str):
        raise ValueError("expected names and reasons")
    return found


def _ranges(given: Any) -> Ranges:
    found = tuple((first, last) for first, last in given)
    if not all(type(first) is type(last) is int and 0 <= first < last for first, last in found):
        raise ValueError("expected ranges of row groups")
    if joined_ranges(found) != found:
        raise ValueError("expected sorted ranges of row groups")
    return found
