"""Collecting report files on one machine: all cores, constant memory, and every report once, whatever interrupts.

``fold`` and ``merge`` are all that a distributed engine needs: segments of files to states, two states to one. A state
knows which row groups it is made of, so that none can be counted twice.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ..core.accumulator import Accumulator, ChangedError
from ..core.atomic import held, sweep
from ..core.errors import ParameterError, ReportError, StateError
from ..core.parallel import in_chunks, thread_count
from ..core.scheme import Scheme
from ..core.skipped import Skipped
from ..files.keys import Key
from ..files.reports import DamagedError, ReportFile
from ..files.tallies import Collected, Ranges, SimulatedError, normal, without

_TASK_REPORTS = 1 << 22
_TASK_BYTES = 1 << 26
_TASKS_EACH = 8
_REPORTS_PER_CELL = 4
_BYTES_PER_CELL = 64
_SAVING_SHARE = 10

Progress = Callable[[int, int], None]
"""Called with the number of reports that are done, skipped ones among them, and of all that there are to collect."""


@dataclass(frozen=True)
class Segment:
    """Consecutive row groups [first, last) of a report file, which must still have this content when it is read."""

    path: str
    identity: str
    first: int
    last: int


@dataclass(frozen=True)
class Collection:
    """What a call of ``collect`` came to."""

    state: Collected
    files: int
    """Report files that were found, copies of others aside."""
    added: int
    """Reports that this call has added; the others were there from earlier calls."""
    resumed: int
    """Reports that a call which was stopped had read already, and that the output has got only now."""
    copies: tuple[str, ...]
    """Files with the same content as another one, which is counted once."""

    @property
    def tally(self) -> Accumulator:
        """The accumulator of all reports."""
        return self.state.tally

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What could not be taken."""
        return self.state.skipped


def fold(scheme: Scheme, segments: Iterable[Segment], *, skip_bad: bool = False, key: Key | None = None) -> Collected:
    """The state of these segments, on the calling thread; a bad row group is refused, or skipped and listed."""
    tally = scheme.accumulator()
    simulated = False
    files: dict[str, list[tuple[int, int]]] = {}
    skipped: list[Skipped] = []
    for segment in segments:
        try:
            file = _same_file(scheme, segment, key)
        except DamagedError as error:
            _skip(error, skipped, skip_bad)
            continue
        with file:
            for group in range(segment.first, segment.last):
                try:
                    _add(tally, file, group)
                except DamagedError as error:
                    _skip(error, skipped, skip_bad)
                    continue
                files.setdefault(segment.identity, []).append((group, group + 1))
                simulated |= file.simulated
    found = {identity: normal(ranges) for identity, ranges in files.items()}
    return Collected(tally, simulated, found, tuple(skipped))


def merge(one: Collected, other: Collected) -> Collected:
    """The state of both; neither is changed. Refuses another scheme, and a row group that both of them have."""
    tally = copy(one.tally)
    files = dict(one.files)
    for identity, ranges in other.files.items():
        try:
            files[identity] = normal([*files.get(identity, ()), *ranges])
        except StateError as error:
            raise StateError(f"merge: {error} (file {identity[:12]})") from None
    tally.merge(other.tally)
    skipped = tuple(dict.fromkeys([*one.skipped, *other.skipped]))
    return Collected(tally, one.simulated or other.simulated, files, skipped)


def collect(
    inputs: Iterable[str | Path],
    output: str | Path,
    *,
    scheme: Scheme | None = None,
    skip_bad: bool = False,
    allow_simulated: bool = False,
    save_every: float = 5.0,
    progress: Progress | None = None,
    key: Key | None = None,
) -> Collection:
    """Adds report files, and those in folders, to the tally file ``output``, which is made if there is none.

    What is in the tally already is not added again, by its content and whatever it is called now: calling again with
    more files adds those, and a call that was killed goes on where it was saved last (every ``save_every`` seconds,
    beside the output) when its files are named again. Files of another scheme are refused before anything is read,
    and so are simulated reports unless ``allow_simulated``. A damaged file or row group is refused, too, by name; with
    ``skip_bad`` it is left out and listed. With a ``key`` all files are read and written with it: reports, the tally,
    and what is saved on the way.
    """
    output = Path(output)
    with held(output):
        sweep(output)
        unfinished = output.with_name(f"{output.name}.unfinished")
        sweep(unfinished)
        before, begun, resumed = _earlier(output, unfinished, key)
        if before is not None:
            if scheme is not None and scheme != before.scheme:
                got = before.scheme.fingerprint()[:12]
                raise StateError(f"{output}: expected scheme {scheme.fingerprint()[:12]}, got {got}")
            scheme = before.scheme
        survey = _survey(list(inputs), scheme, skip_bad=skip_bad, key=key)
        if begun - survey.files.keys():
            raise StateError(
                f"{unfinished}: begun with files that are not among these; name them, too, or remove it to start anew"
            )
        state = survey.begin(before)
        if state.simulated and not allow_simulated:
            raise SimulatedError(output)
        if not allow_simulated:
            survey.refuse_simulated()
        saver = _Saver(state, unfinished, before, save_every, key)
        todo = survey.missing(state)
        done = len(state)
        total = done + sum(survey.count(segment) for segment in todo)
        tasks = _tasks(survey, todo)

        def work(first: int, last: int) -> Collected:
            segments = [segment for task in tasks[first:last] for segment in task]
            return fold(survey.scheme, segments, skip_bad=skip_bad, key=key)

        with saver:
            for task, part in zip(tasks, in_chunks(len(tasks), 1, work), strict=True):
                saver.add(part)
                done += sum(survey.count(segment) for segment in task)
                if progress is not None:
                    progress(done, total)
        if before is None or saver.state is not before or unfinished.exists() or not output.exists():
            saver.state.write(output, key=key)
        unfinished.unlink(missing_ok=True)
        added = len(saver.state) - len(state)
        return Collection(saver.state, len(survey.files), added, resumed, survey.copies)


def merge_files(
    inputs: Sequence[str | Path],
    output: str | Path,
    *,
    allow_simulated: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
    key: Key | None = None,
) -> Collected:
    """Merges tally files into the new one ``output``; what was read stays as it was.

    Refuses mixed schemes, reports that two of the files have, simulated ones unless ``allow_simulated``, and an output
    that is there already unless ``overwrite``. It must not be one of the inputs: merged once more, their reports would
    count twice. With a ``key`` all of them are read, and the new one is written, with it.
    """
    output, paths = Path(output), [Path(path) for path in inputs]
    if not paths:
        raise ParameterError("expected tally files to merge, got none")
    for place, path in enumerate(paths):
        if path.resolve() == output.resolve():
            raise ParameterError(f"{path}: expected another name for the result than that of a file to merge")
        if path.resolve() in [earlier.resolve() for earlier in paths[:place]]:
            raise ParameterError(f"{path}: named twice, and would be counted twice")
    with held(output):
        sweep(output)
        if output.exists() and not overwrite:
            raise StateError(f"{output}: there is a file of this name already")
        whole: Collected | None = None
        seen: dict[str, Path] = {}
        for done, path in enumerate(paths, 1):
            part = Collected.read(path, key=key)
            if part.simulated and not allow_simulated:
                raise SimulatedError(path)
            whole = part if whole is None else _merged(whole, part, path, paths[0])
            _refuse_copy(part, path, seen)
            if progress is not None:
                progress(done, len(paths))
        assert whole is not None
        whole.write(output, key=key)
        return whole


def _merged(whole: Collected, part: Collected, path: Path, first: Path) -> Collected:
    if part.scheme != whole.scheme:
        expected, got = whole.scheme.fingerprint()[:12], part.scheme.fingerprint()[:12]
        raise StateError(f"{path}: expected scheme {expected} as in {first}, got {got}")
    try:
        return merge(whole, part)
    except StateError as error:
        raise StateError(f"{path}: {str(error).removeprefix('merge: ')}") from None


def _refuse_copy(part: Collected, path: Path, seen: dict[str, Path]) -> None:
    # A tally that was not collected from files knows no row groups, but the same one twice can still be told.
    if len(part) and not part.files:
        digest = hashlib.sha256(part.tally.to_bytes()).hexdigest()
        if digest in seen:
            raise StateError(f"{path}: has the same reports as {seen[digest]}, which would be counted twice")
        seen[digest] = path


def report_files(inputs: Iterable[str | Path]) -> list[Path]:
    """The files among these, and the Parquet files in the folders among them, however deep, but for hidden ones."""
    found: list[Path] = []
    for given in map(Path, inputs):
        if given.is_dir():
            # Files only: some tools name folders this way, and opening a pipe would wait.
            inside = sorted(path for path in given.rglob("*.parquet") if path.is_file())
            found += [path for path in inside if not _hidden(path.relative_to(given))]
        elif given.exists():
            found.append(given)
        else:
            raise StateError(f"{given}: there is no such file or folder")
    if not found:
        raise ParameterError("expected files of reports, or folders with some, got none")
    return found


def _hidden(path: Path) -> bool:
    # What others are writing at the moment, by the custom of those who write Parquet.
    return any(part.startswith((".", "_")) for part in path.parts)


def _add(tally: Accumulator, file: ReportFile, group: int) -> None:
    reports = file.read(group)
    try:
        tally.add_single_threaded(reports)
    except ChangedError:  # nothing to skip: a part of the row group may be in the tally
        raise
    except ReportError as error:
        raise file.damaged(str(error), group) from None


def _skip(error: DamagedError, skipped: list[Skipped], skip_bad: bool) -> None:
    if not skip_bad:
        raise error
    skipped.append(Skipped(error.path, error.group, error.reports, error.reason))


def _same_file(scheme: Scheme, segment: Segment, key: Key | None) -> ReportFile:
    file = ReportFile(segment.path, key=key)
    if file.identity != segment.identity:
        raise DamagedError(segment.path, None, "the file has been replaced meanwhile")
    if file.scheme != scheme:
        raise _mixed(file, scheme, "")
    return file


def _mixed(file: ReportFile, scheme: Scheme, whose: str) -> StateError:
    return StateError(
        f"{file.path}: expected scheme {scheme.fingerprint()[:12]}{whose}, got {file.scheme.fingerprint()[:12]}"
    )


@dataclass(frozen=True)
class _Found:
    """What a report file says of itself."""

    path: str
    groups: tuple[int, ...]
    simulated: bool


@dataclass(frozen=True)
class _Survey:
    """All report files there are, by identity."""

    scheme: Scheme
    files: dict[str, _Found]
    copies: tuple[str, ...]
    names: frozenset[str]
    skipped: tuple[Skipped, ...]

    def begin(self, before: Collected | None) -> Collected:
        """The state to go on from; what was skipped earlier is tried again if it is here."""
        if before is None:
            return Collected(self.scheme.accumulator(), skipped=self.skipped)
        skipped = (*(each for each in before.skipped if each.file not in self.names), *self.skipped)
        return before if skipped == before.skipped else replace(before, skipped=skipped)

    def refuse_simulated(self) -> None:
        for found in self.files.values():
            if found.simulated:
                raise SimulatedError(found.path)

    def missing(self, state: Collected) -> list[Segment]:
        """The row groups that are not in the state."""
        return [
            Segment(found.path, identity, first, last)
            for identity, found in self.files.items()
            for first, last in without(_all_of(found), state.files.get(identity, ()))
        ]

    def count(self, segment: Segment) -> int:
        """The reports of a segment."""
        return sum(self.files[segment.identity].groups[segment.first : segment.last])


def _all_of(found: _Found) -> Ranges:
    return ((0, len(found.groups)),) if found.groups else ()


def _survey(inputs: Sequence[str | Path], scheme: Scheme | None, *, skip_bad: bool, key: Key | None = None) -> _Survey:
    files: dict[str, _Found] = {}
    copies: list[str] = []
    skipped: list[Skipped] = []
    whose = ""
    paths = [os.fspath(path) for path in report_files(inputs)]
    for path in paths:
        try:
            file = ReportFile(path, key=key)
        except DamagedError as error:
            _skip(error, skipped, skip_bad)
            continue
        if scheme is None:
            scheme, whose = file.scheme, f" as in {path}"
        if file.scheme != scheme:
            raise _mixed(file, scheme, whose)
        if file.identity in files:
            copies.append(path)
        else:
            files[file.identity] = _Found(path, file.groups, file.simulated)
    if scheme is None:
        raise ReportError(f"{paths[0]}: {skipped[0].reason}; not one file of reports can be read")
    return _Survey(scheme, files, tuple(copies), frozenset(paths), tuple(skipped))


def _tasks(survey: _Survey, segments: Sequence[Segment]) -> list[list[Segment]]:
    """The segments cut and put together to tasks of one size."""
    total = sum(survey.count(segment) for segment in segments)
    cells = survey.scheme.accumulator().cells
    # Enough of them to occupy all threads, few enough that making and merging states is no work beside the folding,
    # and none so large that nothing would be saved for minutes: reports of many bytes are few.
    size = max(min(_TASK_REPORTS, -(-total // (_TASKS_EACH * thread_count()))), _REPORTS_PER_CELL * cells)
    most = max(_TASK_BYTES, _BYTES_PER_CELL * cells) // survey.scheme.report_dtype.itemsize
    return list(_packed(survey, segments, min(size, most)))


def _packed(survey: _Survey, segments: Sequence[Segment], size: int) -> Iterator[list[Segment]]:
    task: list[Segment] = []
    reports = 0
    for segment in segments:
        first = segment.first
        for group in range(segment.first, segment.last):
            reports += survey.files[segment.identity].groups[group]
            if reports >= size:
                yield [*task, replace(segment, first=first, last=group + 1)]
                task, reports, first = [], 0, group + 1
        if first < segment.last:
            task.append(replace(segment, first=first))
    if task:
        yield task


class _Saver:
    """The state so far, saved beside the output from time to time, and whenever the collecting ends early."""

    def __init__(self, state: Collected, path: Path, before: Collected | None, every: float, key: Key | None) -> None:
        self.state, self._path, self._before, self._every, self._key = state, path, before, every, key
        self._saved = state
        self._next = time.monotonic() + every

    def add(self, part: Collected) -> None:
        self.state = merge(self.state, part)
        if time.monotonic() >= self._next:
            self._save()

    def _save(self) -> None:
        start = time.monotonic()
        self.state.write(self._path, complete=False, begun_with=self._begun_with, key=self._key)
        self._saved = self.state
        # A large state takes long to write; most of the time is for reading.
        now = time.monotonic()
        self._next = now + max(self._every, _SAVING_SHARE * (now - start))

    @cached_property
    def _begun_with(self) -> str:
        # The output that this goes on from: that of the call which was stopped, if this one goes on from its state.
        if self._before is None:
            return ""
        return self._before.digest if self._before.begun_with is None else self._before.begun_with

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None and self.state is not self._saved:
            self._save()


def _earlier(output: Path, unfinished: Path, key: Key | None) -> tuple[Collected | None, set[str], int]:
    # What there is to go on from, and the files and reports that a call which was stopped has and the output has not.
    done = Collected.read(output, key=key) if output.exists() else None
    begun = Collected.read(unfinished, complete=False, key=key) if unfinished.exists() else None
    if begun is None:
        return done, set(), 0
    if done is None:
        return begun, set(begun.files), len(begun)
    if done.scheme == begun.scheme and _goes_on_from(begun, done):
        return begun, begun.files.keys() - done.files.keys(), len(begun) - len(done)
    if done.scheme == begun.scheme and done.covers(begun) and len(done) >= len(begun):
        # A call that was killed between its last two steps leaves both files, and then the output has it all.
        return done, set(), 0
    raise StateError(f"{unfinished}: begun for another file than {output} is now; move one of them away")


def _goes_on_from(begun: Collected, done: Collected) -> bool:
    # Whether a state that was saved on the way has all that the output has. Row groups alone do not tell: a tally may
    # have reports of files that nobody has listed.
    if begun.begun_with is None:  # saved by an earlier version
        return bool(done.files) and begun.covers(done) and len(begun) > len(done)
    return begun.begun_with == done.digest
