"""A survey of the report files: their metadata, the row groups still to read, and the division of those into tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ..core.errors import ParameterError, ReportError, StateError
from ..core.parallel import in_order, thread_count
from ..core.scheme import Scheme
from ..core.skipped import Skipped
from ..core.words import Words, kind_of
from ..files.authentication import Key
from ..files.openers import LocalFile, Opener, Source, opener_of
from ..files.reports import DamagedError, ReportFile
from ..files.stores import AS_TEXT, is_address, is_hidden, local_path, stored_files, was_address
from ..files.tallies import Collected, SimulatedError, ranges_without
from .folding import Segment, expect_scheme_of

_TASK_REPORTS = 1 << 22
_TASK_BYTES = 1 << 26
_TASKS_EACH = 8
_REPORTS_PER_CELL = 4
_BYTES_PER_CELL = 64
_AT_A_TIME = 32
"""Number of stored files that are surveyed at a time."""

Task = tuple[Segment, ...]


@dataclass(frozen=True)
class Found:
    """A report file as its metadata describe it."""

    source: Source
    name: str
    groups: tuple[int, ...]
    """Number of reports in each row group."""
    simulated: bool


@dataclass(frozen=True)
class Survey:
    """All report files that were named or found in folders, by the identity of their content."""

    scheme: Scheme
    files: dict[str, Found]
    copies: tuple[str, ...]
    """Names of files with the same content as another one."""
    names: frozenset[str]
    skipped: tuple[Skipped, ...]

    def begin(self, before: Collected | None) -> Collected:
        """The state before the surveyed files are read. Row groups skipped earlier are tried again if surveyed."""
        if before is None:
            return Collected(self.scheme.accumulator(), skipped=self.skipped)
        skipped = (*(each for each in before.skipped if each.file not in self.names), *self.skipped)
        return before if skipped == before.skipped else replace(before, skipped=skipped)

    def refuse_simulated(self) -> None:
        """Refuse a survey with simulated reports."""
        for found in self.files.values():
            if found.simulated:
                raise SimulatedError(found.name)

    def missing(self, state: Collected) -> list[Segment]:
        """The surveyed row groups that are not in the state."""
        return [
            Segment(found.source, identity, first, last)
            for identity, found in self.files.items()
            if found.groups
            for first, last in ranges_without(((0, len(found.groups)),), state.files.get(identity, ()))
        ]

    def count(self, segments: Iterable[Segment]) -> int:
        """Number of surveyed reports in these segments."""
        return sum(sum(self.files[each.identity].groups[each.first : each.last]) for each in segments)

    def expect_complete(self, state: Collected) -> None:
        """Refuse a state that lacks surveyed row groups and does not list them as skipped: an engine lost them."""
        skipped = {(each.file, each.group) for each in state.skipped}
        for segment in self.missing(state):
            name = self.files[segment.identity].name
            for group in range(segment.first, segment.last):
                if (name, None) not in skipped and (name, group) not in skipped:
                    raise StateError(f"{name}, row group {group}: the engine did not return its reports")

    def expect_counted(self, part: Collected) -> None:
        """Refuse a state whose number of reports is not that of the row groups it lists, because an engine erred."""
        for identity, ranges in part.files.items():
            if identity not in self.files or ranges[-1][1] > len(self.files[identity].groups):
                raise StateError(f"the engine returned reports of another file ({identity[:12]})")
        listed = self.count(Segment("", identity, *each) for identity, ranges in part.files.items() for each in ranges)
        if len(part) != listed:
            raise StateError(f"the engine returned {len(part):,} reports for row groups of {listed:,}")

    def in_order(self, skipped: tuple[Skipped, ...]) -> tuple[Skipped, ...]:
        """Skipped files and row groups in the order of the survey, for any engine; other files come first."""
        places = {found.name: place for place, found in enumerate(self.files.values())}

        def key(each: Skipped) -> tuple[int, int]:
            place = places.get(each.file, -1)
            return place, -1 if place < 0 or each.group is None else each.group

        return tuple(sorted(skipped, key=key))

    def tasks(self, segments: Sequence[Segment], most: int | None = None) -> list[Task]:
        """The segments of the survey, divided and combined into tasks of about the same size.

        A task has whole row groups, and no further ones once it has ``most`` reports.
        """
        total = self.count(segments)
        cells = self.scheme.accumulator().cells
        # Enough tasks to occupy all threads, few enough that creating and merging states costs little compared with
        # folding, and none so large that nothing is saved for minutes: a task has few reports if they are large.
        size = max(min(_TASK_REPORTS, -(-total // (_TASKS_EACH * thread_count()))), _REPORTS_PER_CELL * cells)
        bound = max(_TASK_BYTES, _BYTES_PER_CELL * cells) // self.scheme.report_dtype.itemsize
        return list(self._packed(segments, min(size, bound, most or size)))

    def _packed(self, segments: Sequence[Segment], size: int) -> Iterator[Task]:
        task: list[Segment] = []
        reports = 0
        for segment in segments:
            first = segment.first
            for group in range(segment.first, segment.last):
                reports += self.files[segment.identity].groups[group]
                if reports >= size:
                    yield (*task, replace(segment, first=first, last=group + 1))
                    task, reports, first = [], 0, group + 1
            if first < segment.last:
                task.append(replace(segment, first=first))
        if task:
            yield tuple(task)


def survey(
    inputs: Iterable[Source],
    scheme: Scheme | None,
    *,
    skip_bad: bool,
    key: Key | None = None,
    whose: str = "the given scheme",
) -> Survey:
    """The survey of all report files, from their metadata. Refuse files of different schemes.

    ``whose`` describes the origin of the scheme in messages.
    """
    files: dict[str, Found] = {}
    copies: list[str] = []
    names: list[str] = []
    skipped: list[Skipped] = []
    sources = report_files(inputs)
    for source, file in zip(sources, _surveyed(sources, key), strict=True):
        if isinstance(file, DamagedError):
            if not skip_bad:
                raise file
            names.append(file.path)
            skipped.append(file.skipped)
            continue
        names.append(file.name)
        if scheme is None:
            scheme, whose = file.scheme, f"the scheme of {file.name}"
        expect_scheme_of(file, scheme, whose)
        if file.identity in files:
            copies.append(file.name)
        else:
            files[file.identity] = Found(_from_anywhere(source), file.name, file.groups, file.simulated)
    if scheme is None:
        raise ReportError(f"{skipped[0].file}: {skipped[0].reason}; none of the files can be read")
    return Survey(scheme, files, tuple(copies), frozenset(names), tuple(skipped))


def _surveyed(sources: Sequence[Source], key: Key | None) -> Iterator[ReportFile | DamagedError]:
    # The files in the order of the sources. Those on this machine are read one by one; stores answer slowly, but many
    # requests at a time.
    def surveyed(source: Source) -> ReportFile | DamagedError:
        try:
            return ReportFile(source, key=key)
        except DamagedError as error:
            return error

    local = all(isinstance(source, str | Path) for source in sources)
    return in_order((partial(surveyed, source) for source in sources), threads=1 if local else _AT_A_TIME)


def report_files(inputs: Iterable[Source]) -> list[Source]:
    """The report files to survey: those given, and the Parquet files in given folders at any depth, except hidden ones.

    Folders are on this machine or in a store. Openers are kept as they are.
    """
    found: list[Source] = []
    empty: str | Path | None = None
    expect_list(inputs)
    for given in inputs:
        if is_address(given):
            found += stored_files(given)
            continue
        if not isinstance(given, str | Path):
            if not isinstance(given, Opener):
                raise ParameterError(Words("inputs: expected paths, addresses or openers, got ", kind_of(given)))
            found.append(given)
            continue
        path = local_path(given)
        if path.is_dir():
            # Only files: some tools give folders such names, and opening a pipe would block.
            inside = sorted(each for each in path.rglob("*.parquet") if each.is_file())
            found += [each for each in inside if not is_hidden(each.relative_to(path))]
            empty = empty if found else given
        elif path.exists():
            found.append(path)
        else:
            raise StateError(f"{given}: no such file or folder{f'; {AS_TEXT}' * was_address(given)}")
    if empty is not None and not found:
        raise StateError(f"{empty}: expected a folder of files that end in .parquet, got none; name one with reports")
    if not found:
        raise ParameterError("expected files of reports or folders of them, got none")
    return found


def expect_list(inputs: Iterable[object]) -> None:
    """Refuse a single path where a list of files is expected: a text would be taken for a list of letters."""
    if isinstance(inputs, str | bytes | Path):
        raise ParameterError(
            Words("inputs: expected a list of files or folders, got one ", kind_of(inputs), "; put it in brackets")
        )


def _from_anywhere(source: Source) -> Source:
    # Workers run in other folders than this process.
    opener = opener_of(source)
    return opener.from_anywhere() if isinstance(opener, LocalFile) else source
