"""A collector: its folder, inbox, writer, roller and answers, from start to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ..core.errors import PlausiblyError, StateError
from ..core.words import Setting, Words
from .answers import Answers
from .collections import Collection
from .errands import Errands
from .folder import Folder
from .inbox import Account, Inbox
from .log import fault
from .postgres_inbox import PostgresInbox
from .release import release_of
from .rolling import ROLL_REPORTS, ROLL_SECONDS, Locks, Roller
from .sqlite_inbox import SqliteInbox
from .tokens import Tokens
from .writer import Replies, Writer

_FOR_COMMITS = 2.0
"""Seconds of the time to stop that are kept for the writer, which rolls and requests need until they end."""


class Collector:
    """A collector on a folder and an inbox that are its own, or that it shares with others on one database."""

    def __init__(
        self,
        folder: Folder,
        inbox: Inbox,
        *,
        roll_every: float = ROLL_SECONDS,
        roll_reports: int = ROLL_REPORTS,
        reached: Callable[[str], None] = lambda point: None,
    ) -> None:
        self.folder = folder
        self.deliver: Callable[[Replies], None] = lambda replies: None
        self.inbox = inbox
        self.writer = Writer(self.inbox, lambda replies: self.deliver(replies))
        locks = Locks(folder, inbox)
        self.roller = Roller(
            *(folder, self.inbox, self.writer, locks), every=roll_every, reports=roll_reports, reached=reached
        )
        self.answers = Answers(folder, self.inbox, locks, self.roller.complete_held)
        self.tokens = Tokens(folder.tokens)
        self.errands = Errands()
        self._known: dict[str, Collection] = {}
        self._deletions = 0
        self._knowing = threading.Lock()

    def recover(self) -> None:
        """Finish what an earlier process began: deletions and rolls. The writer must run."""
        self.roller.complete_deletions()
        for account in self.accounts():
            try:
                self.roller.complete(account.collection.id)
            except (PlausiblyError, OSError, ImportError) as error:
                fault(error, "reports stay in the inbox")

    def stop(self, until: float | None = None) -> bool:
        """Commit and answer everything that waits, and end all threads; whether they ended until this time.

        A thread that is left may still be writing files of the folder, which must stay locked until the process ends.
        """
        early = None if until is None else until - _FOR_COMMITS
        ended = [self.roller.stop(_left(early)), self.errands.stop(_left(early))]
        if not self.writer.stop(_left(until)):
            return False
        self.inbox.truncate_log()
        return all(ended)

    def accounts(self) -> list[Account]:
        """The accounts of all collections."""
        with self.inbox.view() as view:
            return view.accounts()

    def account(self, identity: str) -> Account | None:
        """The account of a collection, if there is one."""
        before = self._deletions
        with self.inbox.view() as view:
            found = view.account(identity)
        with self._knowing:
            if found is not None and self._deletions == before:
                self._known[identity] = found.collection
        return found

    def met(self, identity: str) -> Collection | None:
        """The collection, if this process has met it: found without reading the inbox.

        It may be closed or deleted by now. The commit of reports finds out.
        """
        return self._known.get(identity)

    def known(self, identity: str) -> Collection | None:
        """The collection, if this process has met it, and no other one could have deleted it."""
        return None if self.inbox.shared else self.met(identity)

    def expect_ready(self) -> None:
        """Raise if the inbox cannot be read now, or its writer has ended."""
        if not self.writer.alive:
            raise StateError("the collector does not accept reports")
        with self.inbox.view():
            pass

    def create(self, collection: Collection) -> bool:
        """Add a collection; False if it exists."""
        return self.writer.run(lambda: self.inbox.create(collection)).result()

    def close(self, identity: str) -> None:
        """Accept no more reports for a collection, and roll those that are pending."""
        self.roller.close(identity)

    def delete(self, identity: str) -> None:
        """Remove a collection with everything that belongs to it."""
        self.roller.delete(identity)
        with self._knowing:
            # A request that has read the account before the deletion must not make it known again.
            self._deletions += 1
            self._known.pop(identity, None)
        self.answers.forget(identity)


def _left(until: float | None) -> float | None:
    return None if until is None else max(0.0, until - time.monotonic())


def summary(account: Account) -> dict[str, Any]:
    """What readers are told of a collection beside its document."""
    collection = account.collection
    told: dict[str, Any] = {
        "id": collection.id,
        "name": collection.name,
        "scheme": collection.scheme.name,
        "epsilon": str(collection.scheme.epsilon),
        "fingerprint": collection.scheme.fingerprint(),
        "reports": account.received,
        "minimum": collection.minimum,
        "closed": account.closed,
    }
    placed = {"series": collection.series, "slot": collection.slot, "rota": collection.rota}
    told |= {name: value for name, value in placed.items() if value is not None}
    release = release_of(account)
    counts = {"released": account.released, "waiting": account.waiting}
    return told if release is None else told | {"release": release | counts}


@contextmanager
def opened(path: Path, *, inbox: str | None = None, **options: object) -> Iterator[Collector]:
    """A collector on a folder, recovered and writing, but not rolling by itself.

    The folder has the inbox, too, and is locked until the block ends. With the address of a database as ``inbox``,
    such as postgresql://name@host/database, other collectors may use both at the same time.
    """
    folder = Folder(path)
    with _inbox_in(folder) if inbox is None else shared_inbox(inbox, folder) as found:
        collector = Collector(folder, found, **options)  # type: ignore[arg-type]
        collector.writer.start()
        try:
            collector.recover()
            yield collector
        finally:
            collector.stop()


@contextmanager
def _inbox_in(folder: Folder) -> Iterator[Inbox]:
    if folder.database.exists():
        raise StateError(Words(f"{folder.path}: its inbox is in a database; give its address: ", _INBOX))
    with folder.locked(), closing(SqliteInbox(folder.inbox)) as found:
        yield found


@contextmanager
def shared_inbox(address: str, folder: Folder) -> Iterator[Inbox]:
    """The inbox in a database, whose collectors share this folder."""
    with closing(PostgresInbox(address)) as found:
        with found.view() as view:
            new = not any(account.filed for account in view.accounts())
        folder.belong(found.token, new=new)
        yield found


_INBOX = Setting("inbox", "postgresql://name@host/database")
