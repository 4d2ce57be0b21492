"""Rolling: move pending reports into a report file, shuffled, and from there into the tally, safely at every step.

A roll of the rows up to N makes the report file N. The steps are ``POINTS``. Until the account counts the rows as
rolled, the file N is newer than the account says, which a restart recognises: without the file, nothing has happened;
with the file, the roll is completed, because `engines.collect` counts each file once. Rolled rows are removed a few at
a time, between the commits of new reports; rows that a crash left are removed at the next start.

In a collection with a smallest batch, a file has at least this number of reports. What is left at the close, if it is
less, is dropped: counted as such, and removed.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..core.errors import PlausiblyError, StateError
from ..core.operating_system import sync_folder
from ..core.randomness import SecureRandom
from ..core.scheme import Scheme
from ..core.wording import plural
from ..engines.collecting import collect
from ..files.reports import ReportFile, load_format, write_reports
from .folder import Folder
from .inbox import Account, FullError, Inbox
from .log import fault
from .writer import Writer

POINTS = ("begun", "written", "linked", "placed", "collected", "counted", "removed", "truncated")
"""The moments of a roll between two of its steps, in order."""
ROLL_REPORTS = 1 << 20
ROLL_BYTES = 1 << 26
ROLL_SECONDS = 3600.0
_MOST = 2
"""The largest file of a roll, as a multiple of the reports that make a roll due."""
_RETRY_SECONDS = 60.0
_PAUSE = 1.0
_ATTEMPTS = 10
_PIECE_SECONDS = 0.002
"""About the longest time, in seconds, that new reports wait while rolled rows are removed."""
_NICE = 10


@dataclass
class Locks:
    """One lock for each collection: its tally and its account belong together while a roll changes both.

    Collectors that share an inbox hold it in the database, and the files themselves: a collector that is cut off
    from the database has lost the lock there, and may still be writing.
    """

    folder: Folder
    inbox: Inbox
    _locks: dict[str, threading.Lock] = field(default_factory=dict)
    _own: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def of(self, collection: str) -> Iterator[None]:
        """Hold the lock of a collection."""
        with self._own:
            lock = self._locks.setdefault(collection, threading.Lock())
        files = self.folder.alone(collection) if self.inbox.shared else nullcontext()
        with lock, self.inbox.alone(collection), files:
            yield


class Roller:
    """The thread that rolls. ``reached`` is called at each of the ``POINTS``: tests end the process there."""

    def __init__(
        self,
        folder: Folder,
        inbox: Inbox,
        writer: Writer,
        locks: Locks,
        *,
        every: float = ROLL_SECONDS,
        reports: int = ROLL_REPORTS,
        reached: Callable[[str], None] = lambda point: None,
    ) -> None:
        self.rolls, self.failures, self.dropped = 0, 0, 0
        self._folder, self._inbox, self._writer, self._locks = folder, inbox, writer, locks
        self._every, self._reports, self._reached = every, reports, reached
        self._next: dict[str, float] = {}
        self._retry: dict[str, float] = {}
        self._log_is_left = False
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="roller", daemon=True)

    def start(self) -> None:
        """Start the roller's thread."""
        self._thread.start()

    def stop(self, seconds: float | None = None) -> bool:
        """Begin no more files, and wait for the one under way; whether the roller's thread ended in this time.

        A roll that is cut off is completed by the next start.
        """
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        _yield_to_others()
        with suppress(ImportError):  # a roll says what is missing
            load_format()  # in the first roll it would keep senders waiting
        while not self._stopping.wait(min(_PAUSE, self._every / 4)):
            self._try_deletions()
            self._try_log()
            for identity in self._due():
                if self._stopping.is_set():
                    return
                self._try(identity)

    def _due(self) -> list[str]:
        try:
            with self._inbox.view() as view:
                return [account.collection.id for account in view.accounts() if self._is_due(account)]
        except PlausiblyError as error:
            fault(error)
            return []

    def _is_due(self, account: Account) -> bool:
        now, identity, waiting = time.monotonic(), account.collection.id, account.waiting
        ended = _ended(account)
        due = self._next.setdefault(identity, now + self._every)
        if now < self._retry.get(identity, now) or not (waiting or (ended and not account.closed)):
            return False
        if account.closed or ended:
            return True
        return waiting >= smallest_batch(account) and (waiting >= self._enough(account) or now >= due)

    def _enough(self, account: Account) -> int:
        # The number of waiting reports that are rolled at once, without waiting for the hour.
        return min(self._reports, max(1, ROLL_BYTES // account.collection.scheme.report_dtype.itemsize))

    def _try(self, identity: str) -> None:
        begun = time.monotonic()
        try:
            account = self._account(identity)
            if account is not None:
                (self.roll if account.closed or not _ended(account) else self.close)(identity)
            self._next[identity] = begun + self._every
        except CancelledError:
            return  # the writer has stopped; the next start completes the roll
        except Exception as error:
            # A thread that ended would leave all collections without rolls.
            self.failures += 1
            self._retry[identity] = time.monotonic() + _RETRY_SECONDS
            fault(error, "reports stay in the inbox")

    def close(self, identity: str) -> None:
        """Accept no more reports for a collection, and roll those that are pending."""
        self._writer.run(lambda: self._inbox.close_collection(identity)).result()
        self.roll(identity)

    def delete(self, identity: str) -> None:
        """Remove a collection with everything that belongs to it."""
        with self._locks.of(identity):
            account = self._account(identity)
            if account is None:
                return
            self._folder.set_aside(identity, account.number)
            try:
                self._remove(identity, account.number)
            except FullError:
                # Without its files the collection could neither be read nor rolled until there is room.
                if self._account(identity) is not None:
                    self._folder.put_back(identity, account.number)
                raise

    def _account(self, identity: str) -> Account | None:
        with self._inbox.view() as view:
            return view.account(identity)

    def complete_deletions(self) -> None:
        """Remove the collections that a collector began to delete before it ended."""
        for identity, number in self._folder.deleted():
            with self._locks.of(identity):
                self._remove(identity, number)

    def _try_deletions(self) -> None:
        try:
            self.complete_deletions()
        except CancelledError:
            return
        except Exception as error:
            fault(error, "a deleted collection still has files")

    def _remove(self, identity: str, number: int) -> None:
        self._writer.run(lambda: self._inbox.delete(identity, number)).result()
        self._folder.remove(identity, number)
        self._truncate_log()

    def roll(self, identity: str) -> int:
        """Move all pending reports of a collection into files; their number.

        Fewer than the smallest batch of the collection stay where they are, and are dropped if it is closed.
        """
        done, until = 0, 0
        while True:
            if self._stopping.is_set():
                raise CancelledError
            # Not one file for whatever has gathered, which may be more than fits into memory.
            with self._locks.of(identity):
                done += self.complete_held(identity)
                with self._inbox.view() as view:
                    account = view.account(identity)
                    if account is None:
                        return done
                    until = until or view.last(account)
                    few = account.waiting < smallest_batch(account)
                    if until <= account.rolled or (few and not account.closed):
                        return done
                    self._reached("begun")
                    last = view.last_of(account, _MOST * self._enough(account))
                    content = b"" if few else b"".join(view.pending(account, account.rolled, last))
                if few:
                    self._drop(account, last)
                    return done
                count = self._write(account, last, content)
                self._finish(account, last, count)
                done += count

    def complete(self, identity: str) -> int:
        """Complete a roll that was cut off after its file was in place; the number of its reports."""
        with self._locks.of(identity):
            done = self.complete_held(identity)
            self._remove_rolled(identity)
            return done

    def complete_held(self, identity: str) -> int:
        """Complete a roll that was cut off, of a collection whose lock is held; the number of its reports."""
        self._sweep(identity)
        with self._inbox.view() as view:
            account = view.account(identity)
            if account is None:
                return 0
            newer = {
                number: path for number, path in self._folder.report_files(identity).items() if number > account.rolled
            }
            if not newer:
                return 0
            (last, path), *more = newer.items()
            waiting = b"".join(view.pending(account, account.rolled, last))
            if more or not _holds(path, account.collection.scheme, waiting):
                raise StateError(
                    f"{path}: expected the reports that are pending up to row {last}, got others; move the file away"
                )
        count = len(waiting) // account.collection.scheme.report_dtype.itemsize
        _expect_batch(account, count)
        self._finish(account, last, count)
        return count

    def _write(self, account: Account, last: int, content: bytes) -> int:
        identity, scheme = account.collection.id, account.collection.scheme
        reports = np.frombuffer(content, dtype=scheme.report_dtype)
        _expect_batch(account, len(reports))
        self._folder.prepare(identity)
        place = self._folder.report_file(identity, last)
        hidden = place.with_name(f".{place.name}")
        write_reports(hidden, scheme, reports.take(random_order(len(reports))))
        self._reached("written")
        # A link fails if the name is taken, where a rename would replace the file.
        os.link(hidden, place)
        self._reached("linked")
        hidden.unlink()
        sync_folder(place.parent)
        self._reached("placed")
        return len(reports)

    def _finish(self, account: Account, last: int, count: int) -> None:
        identity = account.collection.id
        tally = self._folder.tally(identity)
        # A tally that was removed, because it was damaged, is made again from all files.
        files = self._folder.report_files(identity)
        inputs = [files[last]] if tally.exists() else list(files.values())
        found = collect(inputs, tally, scheme=account.collection.scheme)
        if len(found.tally) != account.filed + count:
            raise StateError(
                f"{tally}: expected {account.filed + count:,} reports, got {len(found.tally):,}; a report file is "
                "missing or does not belong here"
            )
        self._reached("collected")
        self._writer.run(lambda: self._inbox.roll(account, last, count)).result()
        self._clear(identity)
        self.rolls += 1

    def _drop(self, account: Account, last: int) -> None:
        self._writer.run(lambda: self._inbox.drop(account, last)).result()
        self.dropped += account.waiting
        self._clear(account.collection.id)

    def _clear(self, identity: str) -> None:
        self._reached("counted")
        self._remove_rolled(identity)
        self._reached("removed")
        self._truncate_log()
        self._reached("truncated")

    def _remove_rolled(self, identity: str) -> None:
        some, left = 1, True
        while left:
            begun = time.monotonic()
            left = self._writer.run(partial(self._inbox.remove_rolled, identity, some)).result()
            # How long a row takes depends on its size; as many as fit into the time, but never many more than before.
            some = max(1, min(2 * some, int(some * _PIECE_SECONDS / max(time.monotonic() - begun, 1e-6))))

    def _truncate_log(self, attempts: int = _ATTEMPTS) -> None:
        self._inbox.shorten_log()
        # An answer that is being read keeps the log; nobody waits for it on the writer's thread.
        for _ in range(attempts):
            self._log_is_left = not self._writer.run(self._inbox.truncate_log).result()
            if not self._log_is_left:
                return
            time.sleep(_PAUSE / _ATTEMPTS)

    def _try_log(self) -> None:
        if self._log_is_left:
            try:
                self._truncate_log(attempts=1)
            except CancelledError:
                return
            except Exception as error:
                fault(error, "the log of the inbox still has removed reports")

    def _sweep(self, identity: str) -> None:
        # A file that was not yet linked is written again; one that was linked has its own name already.
        if self._folder.reports(identity).is_dir():
            for path in self._folder.reports(identity).glob(".*"):
                path.unlink(missing_ok=True)


def smallest_batch(account: Account) -> int:
    """The smallest number of reports that a roll of the collection moves."""
    return account.collection.smallest_batch or 1


def _expect_batch(account: Account, count: int) -> None:
    # The last guard of a promise: whatever went wrong before, a smaller batch is never released.
    if count < smallest_batch(account):
        raise StateError(
            f"{account.collection.id}: expected at least {plural(smallest_batch(account), 'report')} for a batch, "
            f"got {count:,}"
        )


def _holds(path: Path, scheme: Scheme, content: bytes) -> bool:
    # Whether a report file has these records, in any order.
    file = ReportFile(path)
    if file.scheme != scheme or len(file) * scheme.report_dtype.itemsize != len(content):
        return False
    kind = f"S{scheme.report_dtype.itemsize}"
    there = np.concatenate([np.frombuffer(group.tobytes(), kind) for group in file])
    return np.array_equal(np.sort(there), np.sort(np.frombuffer(content, kind)))


def _ended(account: Account) -> bool:
    return account.collection.closes is not None and account.collection.closes <= datetime.now(UTC)


def _yield_to_others() -> None:
    # On Linux each thread has a priority of its own: new reports go first where there are few cores.
    if sys.platform == "linux":
        with suppress(OSError):  # some sandboxes forbid it
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)


def random_order(count: int) -> npt.NDArray[np.int64]:
    """A uniformly random order of ``count`` reports, from cryptographic random words."""
    while True:
        words = SecureRandom().stream().head(0, 8 * count).view("<u8")
        order = np.argsort(words)
        ranked = words[order]
        if not np.any(ranked[1:] == ranked[:-1]):  # equal words would keep their order
            return order
