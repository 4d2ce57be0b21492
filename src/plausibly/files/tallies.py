"""Tally files: an accumulator with its scheme, and which row groups of which report files are in it.

The format is described byte by byte in docs/files.md.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..catalog import from_json
from ..core.accumulator import Accumulator
from ..core.errors import PlausiblyError, StateError
from ..core.scheme import Scheme
from .whole import replacing

_MAGIC, _VERSION = b"PLT", 1
_PREFIX = struct.Struct("<3sBIQ")
_CHECKSUM = struct.Struct("<I")

Ranges = tuple[tuple[int, int], ...]
"""Row groups [first, last), sorted, with gaps between them."""


class SimulatedError(StateError):
    """Simulated reports where they were not asked for; each way in has words of its own for how to ask."""

    def __init__(self, path: str | Path) -> None:
        self.reason = f"{path}: simulated reports, which are no users' own"
        super().__init__(path)

    def __str__(self) -> str:
        return f"{self.reason}; allow_simulated=True takes them all the same"


@dataclass(frozen=True)
class Skipped:
    """A row group that could not be taken, or with None as its number a whole file."""

    file: str
    group: int | None
    reports: int | None
    """How many are missing, where that is known."""
    reason: str


@dataclass(frozen=True, eq=False)
class Collected:
    """A tally, and where its reports came from: what is folded, merged, written, and gone on from after a stop."""

    tally: Accumulator
    simulated: bool = False
    files: Mapping[str, Ranges] = field(default_factory=dict)
    """The row groups that are in the tally, by the identity of their file."""
    skipped: tuple[Skipped, ...] = ()

    @property
    def scheme(self) -> Scheme:
        """The scheme of the reports."""
        return self.tally.scheme

    def __len__(self) -> int:
        return len(self.tally)

    def covers(self, other: Collected) -> bool:
        """Whether all row groups of the other are here, too."""
        return all(not without(ranges, self.files.get(identity, ())) for identity, ranges in other.files.items())

    def to_bytes(self, *, complete: bool = True) -> bytes:
        """The content of a tally file; ``complete=False`` marks a state that more is to be added to."""
        header = {
            "scheme": json.loads(self.scheme.to_json()),
            "fingerprint": self.scheme.fingerprint(),
            "reports": len(self),
            "simulated": self.simulated,
            "complete": complete,
            "files": {identity: list(map(list, ranges)) for identity, ranges in sorted(self.files.items())},
            "skipped": [vars(each) for each in self.skipped],
        }
        text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogateescape")
        blob = self.tally.to_bytes()
        head = _PREFIX.pack(_MAGIC, _VERSION, len(text), len(blob)) + text
        return b"".join([head, _CHECKSUM.pack(zlib.crc32(head)), blob])

    @classmethod
    def from_bytes(cls, content: bytes, *, complete: bool = True) -> Collected:
        """What ``to_bytes`` wrote; refuses damaged and left-over bytes, and an incomplete state unless it may be so."""
        view = memoryview(content)
        if len(view) < _PREFIX.size + _CHECKSUM.size:
            raise StateError(f"not a tally file: it has {len(view)} bytes")
        magic, version, head, blob = _PREFIX.unpack_from(view)
        if magic != _MAGIC:
            raise StateError("not a tally file")
        if version != _VERSION:
            raise StateError(f"expected version {_VERSION} of the format, came {version}")
        end = _PREFIX.size + head
        if len(view) != end + _CHECKSUM.size + blob:
            raise StateError(f"expected {end + _CHECKSUM.size + blob} bytes, came {len(view)}: cut off or damaged")
        if zlib.crc32(view[:end]) != _CHECKSUM.unpack_from(view, end)[0]:
            raise StateError("the checksum of the header does not fit; the bytes are damaged")
        try:
            said = json.loads(bytes(view[_PREFIX.size : end]).decode("utf-8", "surrogateescape"))
            scheme = from_json(json.dumps(said["scheme"]))
            files = {identity: _ranges(found) for identity, found in said["files"].items()}
            skipped = tuple(_skipped(each) for each in said["skipped"])
            simulated, whole, reports = said["simulated"], said["complete"], said["reports"]
            agree = said["fingerprint"] == scheme.fingerprint()
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):  # the errors of a scheme among them
            raise StateError("the header does not describe a tally of a scheme known here") from None
        if not (agree and isinstance(simulated, bool) and isinstance(whole, bool)):
            raise StateError("the header does not describe a tally of a scheme known here")
        if complete and not whole:
            raise StateError("not all reports are in it yet: the collecting was stopped, and goes on when called again")
        tally = Accumulator.from_bytes(scheme, view[end + _CHECKSUM.size :])  # type: ignore[arg-type]
        if len(tally) != reports:
            raise StateError("the header and the accumulator do not agree on the number of reports")
        return cls(tally, simulated, files, skipped)

    def write(self, path: str | Path, *, complete: bool = True) -> None:
        """Writes or replaces a tally file, whole or not at all."""
        with replacing(Path(path)) as unfinished:
            unfinished.write_bytes(self.to_bytes(complete=complete))

    @classmethod
    def read(cls, path: str | Path, *, complete: bool = True) -> Collected:
        """The content of a tally file; whatever is wrong with it, the message begins with its name."""
        try:
            return cls.from_bytes(Path(path).read_bytes(), complete=complete)
        except PlausiblyError as error:
            raise StateError(f"{path}: {error}") from None
        except OSError as error:
            raise StateError(f"{path}: {error.strerror}") from None


def write_tally(path: str | Path, tally: Accumulator, *, simulated: bool = False) -> None:
    """Writes or replaces a file with this accumulator and its scheme."""
    Collected(tally, simulated).write(path)


def read_tally(path: str | Path, *, scheme: Scheme | None = None, allow_simulated: bool = False) -> Accumulator:
    """The accumulator of a tally file; refuses another scheme's than the one given, and simulations unless allowed."""
    found = Collected.read(path)
    if scheme is not None and scheme != found.scheme:
        raise StateError(f"{path}: expected scheme {scheme.fingerprint()[:12]}, came {found.scheme.fingerprint()[:12]}")
    if found.simulated and not allow_simulated:
        raise SimulatedError(path)
    return found.tally


def left_out(skipped: Sequence[Skipped]) -> str:
    """What is missing from a tally, in words."""
    groups, files = sum(each.group is not None for each in skipped), sum(each.group is None for each in skipped)
    reports = sum(each.reports or 0 for each in skipped)
    told = [f"{groups:,} row group{'s' * (groups != 1)} with {reports:,} reports"] * bool(groups)
    told += [f"{files:,} file{'s' * (files != 1)} that cannot be read"] * bool(files)
    return " and ".join(told) or "nothing"


def normal(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The same row groups, sorted, neighbours joined; refuses row groups that are there twice."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if joined and first < joined[-1][1]:
            raise StateError(f"row group {first} of a file would be counted twice")
        if joined and first == joined[-1][1]:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return tuple(joined)


def without(ranges: Ranges, taken: Ranges) -> Ranges:
    """The row groups of the first that are not in the second."""
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
    if normal(found) != found:
        raise ValueError("expected sorted ranges of row groups")
    return found
