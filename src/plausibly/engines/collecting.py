"""Collect report files into a tally file, counting each report once even if the call is killed and repeated."""

from __future__ import annotations

import time
from collections.abc import Iterable, Set
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from ..core.accumulator import Accumulator
from ..core.atomic import locked, sweep_unfinished
from ..core.errors import StateError
from ..core.scheme import Scheme
from ..core.skipped import Skipped
from ..files.authentication import Key
from ..files.openers import Source
from ..files.places import exists, working_path
from ..files.stores import is_address
from ..files.tallies import Collected, SimulatedError
from .folding import fold, merge
from .running import Engine, Progress, Threads, expect_engine
from .sent import Sent
from .survey import survey

_SAVING_SHARE = 10
_THREADS = Threads()


@dataclass(frozen=True)
class Collection:
    """The result of a call of ``collect``."""

    state: Collected
    files: int
    """Number of report files, not counting copies."""
    added: int
    """Number of reports that this call added, without those of earlier calls."""
    resumed: int
    """Number of reports that an interrupted call had read, and that this call added to the output."""
    copies: tuple[str, ...]
    """Names of files with the same content as another one, which is counted once."""

    @property
    def tally(self) -> Accumulator:
        """The accumulator of all collected reports."""
        return self.state.tally

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """Damaged files and row groups that were left out of the collection."""
        return self.state.skipped


def collect(
    inputs: Iterable[Source],
    output: str | Path,
    *,
    engine: Engine = _THREADS,
    scheme: Scheme | None = None,
    skip_bad: bool = False,
    allow_simulated: bool = False,
    save_every: float = 5.0,
    progress: Progress | None = None,
    key: Key | None = None,
) -> Collection:
    """Collect report files into the tally file ``output``, which is created if it does not exist.

    ``inputs`` are report files, folders of report files, and openers of files that are stored elsewhere. Files and
    folders may be in a store, such as ``s3://bucket/day``. Reports that the tally has already are not added again:
    files are recognised by their content, whatever their names. Calling again with more files adds those. A call that
    was killed resumes from the last saved state when it is repeated with the same files; the state is saved beside the
    output every ``save_every`` seconds. An output in a store is uploaded whole at the end; its lock and saved state
    are on this machine, in the user's cache folder.

    Files of another scheme are refused before any report is read, and so are simulated reports unless
    ``allow_simulated``. A damaged file or row group is refused by name; with ``skip_bad`` it is left out and listed.
    With a ``key``, all files are read and written with it: reports, the tally, and the saved state.

    The ``engine`` decides where the reports are read; the result does not depend on it. ``progress`` is called with
    the number of reports that are done, skipped ones included, and of all reports.
    """
    expect_engine(engine)
    working = working_path(output)
    with locked(working, name=output):
        sweep_unfinished(working)
        unfinished = working.with_name(f"{working.name}.unfinished")
        sweep_unfinished(unfinished)
        earlier = _earlier(output, unfinished, key)
        whose = "the given scheme" if earlier.state is None else f"the scheme of {output}"
        found = survey(inputs, earlier.expected(scheme, output), skip_bad=skip_bad, key=key, whose=whose)
        if earlier.begun - found.files.keys():
            raise StateError(
                f"{unfinished}: saved while collecting other files; add those files, or remove it to start again"
            )
        state = found.begin(earlier.state)
        if not allow_simulated:
            if state.simulated:
                raise SimulatedError(output)
            found.refuse_simulated()
        saver = _Saver(state, unfinished, earlier.state, save_every, key)
        with saver:
            sent = Sent(found, state, progress)
            for part in sent.parts(engine, partial(fold, found.scheme, skip_bad=skip_bad, key=key)):
                saver.add(part)
            saver.state = sent.complete(saver.state)
        if saver.state is not earlier.state or unfinished.exists() or not exists(output):
            with saver if is_address(output) else nullcontext():  # an upload that fails is no reason to read again
                saver.state.write(output, key=key)
        unfinished.unlink(missing_ok=True)
        added = len(saver.state) - len(state)
        return Collection(saver.state, len(found.files), added, earlier.resumed, found.copies)


class _Saver:
    """The state so far, saved beside the output from time to time and when the collection ends early."""

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
        # A large state takes long to write, but most of the time should be spent on reading.
        now = time.monotonic()
        self._next = now + max(self._every, _SAVING_SHARE * (now - start))

    @cached_property
    def _begun_with(self) -> str:
        # The output that this call started from; if it resumes an interrupted call, the one that call started from.
        if self._before is None:
            return ""
        return self._before.digest if self._before.begun_with is None else self._before.begun_with

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None and self.state is not self._saved:
            self._save()


@dataclass(frozen=True)
class _Earlier:
    """The state that earlier calls left behind."""

    state: Collected | None = None
    begun: Set[str] = frozenset()
    """Identities of files that an interrupted call began to read, and that are not in the output."""
    resumed: int = 0
    """Number of reports that an interrupted call read, and that are not in the output."""

    def expected(self, scheme: Scheme | None, output: str | Path) -> Scheme | None:
        """The scheme that all collected reports must have, if it is known before any file is read."""
        if self.state is None:
            return scheme
        if scheme is not None and scheme != self.state.scheme:
            differs = scheme.difference(self.state.scheme)
            raise StateError(f"{output}: expected the given scheme, got another: {differs}")
        return self.state.scheme


def _earlier(output: str | Path, unfinished: Path, key: Key | None) -> _Earlier:
    done = Collected.read(output, key=key) if exists(output) else None
    begun = Collected.read(unfinished, complete=False, key=key) if unfinished.exists() else None
    if begun is None:
        return _Earlier(done)
    if done is None:
        return _Earlier(begun, begun.files.keys(), len(begun))
    if done.scheme == begun.scheme and _goes_on_from(begun, done):
        return _Earlier(begun, begun.files.keys() - done.files.keys(), len(begun) - len(done))
    if done.scheme == begun.scheme and done.covers(begun) and len(done) >= len(begun):
        # A call that was killed between its last two steps leaves both files, and the output is complete.
        return _Earlier(done)
    raise StateError(f"{unfinished}: saved while collecting into another tally than {output}; move one of them away")


def _goes_on_from(begun: Collected, done: Collected) -> bool:
    # Whether a saved state contains everything in the output. Row groups alone do not show it: a tally may have
    # reports of files that it does not list.
    if begun.begun_with is None:  # saved by an earlier version
        return bool(done.files) and begun.covers(done) and len(begun) > len(done)
    return begun.begun_with == done.digest
