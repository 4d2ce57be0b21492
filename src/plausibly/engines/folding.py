"""Fold row groups of report files into a state, and merge two states into one.

These two functions are all that an engine has to run. A state lists the row groups it is made of, so that none can be
counted twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass

from ..core.accumulator import Accumulator, ChangedError
from ..core.errors import ReportError, StateError
from ..core.scheme import Scheme
from ..core.skipped import Skipped
from ..files.authentication import Key
from ..files.openers import Source
from ..files.reports import DamagedError, ReportFile
from ..files.tallies import Collected, joined_ranges


@dataclass(frozen=True)
class Segment:
    """Consecutive row groups [first, last) of a report file. The file must not change before they are read."""

    source: Source
    identity: str
    first: int
    last: int


def fold(scheme: Scheme, segments: Iterable[Segment], *, skip_bad: bool = False, key: Key | None = None) -> Collected:
    """Fold these segments of report files into a state, on the calling thread.

    A damaged file or row group is refused; with ``skip_bad`` it is left out and listed.
    """
    return fold_into(scheme.accumulator(), segments, skip_bad=skip_bad, key=key)


def fold_into(tally: Accumulator, segments: Iterable[Segment], *, skip_bad: bool, key: Key | None) -> Collected:
    """Fold these segments of report files into an empty accumulator, and return it with the row groups that it has."""
    simulated = False
    files: dict[str, list[tuple[int, int]]] = {}
    skipped: list[Skipped] = []
    for segment in segments:
        try:
            file = _unchanged(segment, tally.scheme, key)
        except DamagedError as error:
            skipped.append(_left_out(error, skip_bad))
            continue
        with file:
            for group in range(segment.first, segment.last):
                try:
                    _add(tally, file, group)
                except DamagedError as error:
                    skipped.append(_left_out(error, skip_bad))
                    continue
                files.setdefault(segment.identity, []).append((group, group + 1))
                simulated |= file.simulated
    found = {identity: joined_ranges(ranges) for identity, ranges in files.items()}
    return Collected(tally, simulated, found, tuple(skipped))


def merge(one: Collected, other: Collected) -> Collected:
    """Merge two states of folded row groups into a new one. Refuse different schemes, and a row group that is in both.

    Neither of the two states is changed.
    """
    tally = copy(one.tally)
    files = dict(one.files)
    for identity, ranges in other.files.items():
        try:
            files[identity] = joined_ranges([*files.get(identity, ()), *ranges])
        except StateError as error:
            raise StateError(f"merge: {error} (file {identity[:12]})") from None
    tally.merge(other.tally)
    skipped = tuple(dict.fromkeys([*one.skipped, *other.skipped]))
    return Collected(tally, one.simulated or other.simulated, files, skipped)


def expect_scheme_of(file: ReportFile, scheme: Scheme, whose: str = "the given scheme") -> None:
    """Refuse to fold a report file of another scheme; ``whose`` describes the origin of the expected scheme."""
    if file.scheme != scheme:
        raise StateError(f"{file.name}: expected {whose}, got another: {scheme.difference(file.scheme)}")


def _unchanged(segment: Segment, scheme: Scheme, key: Key | None) -> ReportFile:
    file = ReportFile(segment.source, key=key)
    if file.identity != segment.identity:
        raise DamagedError(file.name, None, "the file was replaced during the collection")
    expect_scheme_of(file, scheme)
    return file


def _add(tally: Accumulator, file: ReportFile, group: int) -> None:
    reports = file.read(group)
    try:
        tally.add_single_threaded(reports)
    except ChangedError:  # cannot be skipped: a part of the row group may be in the tally
        raise
    except ReportError as error:
        raise file.damaged(str(error), group) from None


def _left_out(error: DamagedError, skip_bad: bool) -> Skipped:
    if not skip_bad:
        raise error
    return error.skipped
