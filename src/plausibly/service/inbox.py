"""The inbox: everything that was acknowledged and is not yet in a report file, in three tables of a database.

``collections`` has one sealed line of accounts for each collection, ``keys`` the keys of all counted batches, and
``pending`` the reports, one row for each commit and collection, in the order of their random keys. No key is beside its
reports, and there is no time. Databases do not always detect changed bytes, so rows carry checksums of their own.
``closed`` is 0 while a collection is open, and then 1 more than the number of its dropped reports.

`sqlite_inbox` and `postgres_inbox` have the databases; everything that decides what counts is here.
"""

from __future__ import annotations

import struct
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from enum import Enum, auto
from operator import attrgetter
from typing import Any, Protocol

import numpy as np

from ..core.errors import PlausiblyError, StateError
from .collections import Collection

KEY_BYTES = 16
COLUMNS = {
    "collections": ("number", "id", "document", "rolled", "filed", "received", "keys", "closed", "crc"),
    "keys": ("collection", "key"),
    "pending": ("number", "collection", "reports", "crc", "records"),
}
"""The tables of an inbox with their columns, in order."""
VERSION = 1
INSERT_ROW = "INSERT INTO pending(collection, reports, crc, records) VALUES(?, ?, ?, ?)"
_ACCOUNT = ", ".join(COLUMNS["collections"])
_SEAL = struct.Struct("<6q")
_ROW = struct.Struct("<qq")
_ODD = 0x9E3779B97F4A7C15
_AT_ONCE = 1 << 16


class DamagedInboxError(StateError):
    """An inbox whose content is not what was written."""


class FullError(StateError):
    """The disk has no room for the inbox, or refuses to be written to."""


class Outcome(Enum):
    """The fate of a batch in the inbox."""

    NEW = auto()
    REPEATED = auto()
    REFUSED = auto()
    CLOSED = auto()
    CAPPED = auto()
    UNKNOWN = auto()


@dataclass(frozen=True)
class Batch:
    """Checked records under the random key of their sender, on the way into the inbox."""

    key: bytes
    records: bytes | memoryview
    count: int


@dataclass(frozen=True)
class Account:
    """The inbox's account of a collection: its numbers, sealed with a checksum."""

    number: int
    collection: Collection
    rolled: int = 0
    """The last pending row that is in a report file."""
    filed: int = 0
    """Number of reports in report files."""
    received: int = 0
    """Number of reports that were acknowledged."""
    keys: int = 0
    """Sum of all keys, so that a changed key is noticed."""
    closed: bool = False
    dropped: int = 0
    """Number of reports that were dropped at the close, because they were fewer than the smallest batch."""

    @property
    def waiting(self) -> int:
        """Number of reports that were acknowledged and are not in report files."""
        return self.received - self.filed - self.dropped

    @property
    def released(self) -> int:
        """Number of reports in answers: those in files if they are released in batches, and otherwise all."""
        return self.received if self.collection.smallest_batch is None else self.filed

    @property
    def room(self) -> int:
        """Number of reports that may still come."""
        return (self.collection.cap or 1 << 62) - self.received

    @property
    def end(self) -> int:
        """The collection's state in the inbox: 0 while it is open, then 1 and the number of dropped reports."""
        return int(self.closed) + self.dropped

    @property
    def crc(self) -> int:
        """Checksum of the account."""
        numbers = _SEAL.pack(self.number, self.rolled, self.filed, self.received, self.keys, self.end)
        return zlib.crc32(numbers + self.collection.id.encode())


@dataclass(frozen=True)
class Entry:
    """New batches of a collection as the tables take them: their keys in order, one row, and the account after them."""

    keys: Sequence[bytes]
    row: tuple[int, bytes, int, int]
    """The columns of a pending row without its number."""
    after: Account


def entry_of(account: Account, batches: Sequence[Batch]) -> Entry:
    """The entry of batches under different keys."""
    ordered = sorted(batches, key=attrgetter("key"))
    keys = [batch.key for batch in ordered]
    content = b"".join([batch.records for batch in ordered])
    count = sum(batch.count for batch in ordered)
    total = (account.keys + _sum_of(b"".join(keys))) & (1 << 64) - 1
    return Entry(
        keys,
        (account.number, content, _row_crc(account.number, count, content), count),
        replace(account, received=account.received + count, keys=_signed(total)),
    )


def entry_of_all(account: Account, batches: Sequence[Batch]) -> Entry | None:
    """The entry of all these batches if the collection has room for them and their keys differ."""
    count = sum(batch.count for batch in batches)
    differ = len({batch.key for batch in batches}) == len(batches) > 0
    return entry_of(account, batches) if differ and count <= account.room and not account.closed else None


class Connection(Protocol):
    """A connection to the database of an inbox. Places for values are question marks, as in SQLite."""

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Any:
        """Run a statement; a cursor over its rows."""


class Inbox(ABC):
    """The inbox of a collector. Only one thread of a process writes; any thread may open a `View`."""

    name: str
    """The file or the address of the inbox, for messages."""
    shared = False
    """Whether other collectors may change the inbox, too."""
    _held = ""
    """The end of a query that keeps others from changing the rows that it finds until the transaction ends."""

    def __init__(self) -> None:
        self._documents: dict[str, Collection] = {}

    # --- writing: one thread -----------------------------------------------------------------------------------

    def create(self, collection: Collection) -> bool:
        """Add a collection to the inbox; False if it is there already."""
        with self._transaction() as connection:
            made = Account(self._new_number(connection), collection)
            inserted = connection.execute(
                f"INSERT INTO collections({_ACCOUNT}) VALUES(?, ?, ?, 0, 0, 0, 0, 0, ?) ON CONFLICT(id) DO NOTHING",
                (made.number, collection.id, collection.document, made.crc),
            )
            return bool(inserted.rowcount)

    def commit(self, arrived: Mapping[str, Sequence[Batch]]) -> dict[str, list[Outcome]]:
        """Add all batches to the inbox in one transaction, by collection; one outcome for each."""
        with self._transaction() as connection:
            # In order, so that two collectors never wait for each other.
            return {identity: self._add(connection, identity, arrived[identity]) for identity in sorted(arrived)}

    def _add(self, connection: Connection, identity: str, batches: Sequence[Batch]) -> list[Outcome]:
        account = self._found(connection, identity, self._held)
        if account is None or account.closed:
            return [Outcome.UNKNOWN if account is None else Outcome.CLOSED] * len(batches)
        whole = entry_of_all(account, batches)
        if whole is not None and self._insert_new(connection, account, whole):
            return [Outcome.NEW] * len(batches)
        known = self._known(connection, account.number, [batch.key for batch in batches]) if batches else set()
        room = account.room
        added: dict[bytes, Batch] = {}
        outcomes = []
        for batch in batches:
            if batch.key in known or batch.key in added:
                outcomes.append(Outcome.REPEATED)
            elif batch.count > room:
                outcomes.append(Outcome.CAPPED)
            else:
                added[batch.key] = batch
                room -= batch.count
                outcomes.append(Outcome.NEW)
        if added:
            self._insert(connection, account, entry_of(account, list(added.values())))
        return outcomes

    def _insert(self, connection: Connection, account: Account, entry: Entry) -> None:
        self._insert_keys(connection, account.number, entry.keys)
        if self._insert_row(connection, entry.row) <= account.rolled:
            raise DamagedInboxError(f"{self.name}: the numbers of its rows were changed; restore a backup")
        self._write(connection, entry.after)

    def roll(self, before: Account, last: int, reports: int) -> None:
        """Count the pending rows up to the last one as rolled, because a report file has them.

        ``before`` is the account from which the file was made. If somebody else has rolled since, nothing changes.
        """
        with self._transaction() as connection:
            account = self._expect(connection, before.collection.id)
            if (account.number, account.rolled) != (before.number, before.rolled):
                raise StateError(f"{before.collection.id}: another collector has moved these reports into a file")
            self._write(connection, replace(account, rolled=last, filed=account.filed + reports))

    def drop(self, before: Account, last: int) -> None:
        """Count the pending rows up to the last one as dropped: they are fewer than a batch, and no more will come.

        ``before`` is the account of the closed collection. If somebody else has rolled since, nothing changes.
        """
        with self._transaction() as connection:
            account = self._expect(connection, before.collection.id)
            if account != before or not account.closed:
                raise StateError(f"{before.collection.id}: another collector has moved these reports into a file")
            self._write(connection, replace(account, rolled=last, dropped=account.dropped + account.waiting))

    def remove_rolled(self, identity: str, most: int) -> bool:
        """Remove up to ``most`` rolled rows of a collection from the inbox; whether more may be left.

        Removing all of them at once would keep senders waiting.
        """
        with self._transaction() as connection:
            account = self._found(connection, identity, self._held)
            if account is None:
                return False
            some = "SELECT number FROM pending WHERE collection = ? AND number <= ? ORDER BY number LIMIT ?"
            values = account.number, account.rolled, most
            removed = connection.execute(f"DELETE FROM pending WHERE number IN ({some})", values)
            return int(removed.rowcount) == most

    def close_collection(self, identity: str) -> None:
        """Accept no more reports for a collection, and remove its keys from the inbox."""
        with self._transaction() as connection:
            account = self._expect(connection, identity)
            connection.execute("DELETE FROM keys WHERE collection = ?", (account.number,))
            self._write(connection, replace(account, closed=True, keys=0))

    def delete(self, identity: str, number: int) -> None:
        """Remove a collection from the inbox, with its keys and its reports, unless it was made again since."""
        with self._transaction() as connection:
            account = self._found(connection, identity, self._held)
            if account is not None and account.number == number:
                for table in ("pending", "keys"):
                    connection.execute(f"DELETE FROM {table} WHERE collection = ?", (number,))
                connection.execute("DELETE FROM collections WHERE number = ?", (number,))
        self._documents.pop(identity, None)

    @abstractmethod
    def shorten_log(self) -> None:
        """Do most of the work of `truncate_log`, on any thread, while the inbox is written to."""

    def truncate_log(self) -> bool:
        """Empty the log of the inbox, which still has the bytes of removed rows; False if it is in use."""
        return True

    @abstractmethod
    def close(self) -> None:
        """Close the inbox."""

    # --- reading: any thread -----------------------------------------------------------------------------------

    @contextmanager
    def view(self) -> Iterator[View]:
        """The inbox at one moment."""
        with self._reading() as connection:
            yield View(self, connection)

    def alone(self, identity: str) -> AbstractContextManager[None]:
        """Keep all other collectors of the inbox away from the files of a collection."""
        return nullcontext()

    # --- the database ------------------------------------------------------------------------------------------

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[Connection]:
        """A transaction that is durable when the block has ended, and undone if it raises an error."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Connection]:
        """A connection for one thread that sees the database at one moment."""

    @abstractmethod
    def _new_number(self, connection: Connection) -> int:
        """A number for a new collection."""

    @abstractmethod
    def _last_number(self, connection: Connection) -> int:
        """The largest number that a pending row has ever had."""

    @abstractmethod
    def _known(self, connection: Connection, collection: int, keys: Sequence[bytes]) -> set[bytes]:
        """The keys of these that the database has."""

    def _insert_new(self, connection: Connection, account: Account, entry: Entry) -> bool:
        """Add an entry if none of its keys is known and the account is still the same; False if nothing was added.

        A database that cannot try without a question adds nothing.
        """
        return False

    @abstractmethod
    def _insert_keys(self, connection: Connection, collection: int, keys: Sequence[bytes]) -> None:
        """Add sorted keys, which the database does not have."""

    @abstractmethod
    def _insert_row(self, connection: Connection, values: tuple[int, bytes, int, int]) -> int:
        """Add a pending row; its number, which is larger than that of every other row of the collection."""

    @abstractmethod
    def _streamed(self, connection: Connection, query: str, values: Sequence[Any]) -> Iterable[Sequence[Any]]:
        """The rows of a query, a few at a time."""

    # --- inside ------------------------------------------------------------------------------------------------

    def _verify(self, connection: Connection) -> None:
        numbers = set()
        for (identity,) in connection.execute("SELECT id FROM collections").fetchall():
            account = self._found(connection, str(identity))
            if account is None:
                raise self._damaged("a collection cannot be found by its name")
            numbers.add(account.number)
            self._verify_account(connection, account)
        for table in ("pending", "keys"):
            stray = connection.execute(f"SELECT DISTINCT collection FROM {table}").fetchall()
            if not {number for (number,) in stray} <= numbers:
                raise self._damaged(f"{table} has rows of no collection")

    def _verify_account(self, connection: Connection, account: Account) -> None:
        rows = "SELECT coalesce(sum(records), 0) FROM pending WHERE collection = ? AND number > ?"
        (waiting,) = connection.execute(rows, (account.number, account.rolled)).fetchone()
        if self._last_number(connection) < account.rolled or waiting != account.waiting:
            raise self._damaged("the rows of a collection do not add up to its account")
        total, some = 0, bytearray()
        for (key,) in self._streamed(connection, "SELECT key FROM keys WHERE collection = ?", (account.number,)):
            if not isinstance(key, bytes) or len(key) != KEY_BYTES:
                raise self._damaged("a key has the wrong size")
            some += key
            if len(some) >= _AT_ONCE:
                total += _sum_of(bytes(some))
                some.clear()
        if _signed((total + _sum_of(bytes(some))) & (1 << 64) - 1) != account.keys:
            raise self._damaged("the keys of a collection were changed")

    def _found(self, connection: Connection, identity: str, held: str = "") -> Account | None:
        line = connection.execute(f"SELECT {_ACCOUNT} FROM collections WHERE id = ?{held}", (identity,)).fetchone()
        if line is None:
            return None
        number, _, document, *numbers, crc = line
        try:
            collection = self._documents.get(identity) or Collection.from_document(document)
            rolled, filed, received, keys, closed = numbers
            account = Account(number, collection, rolled, filed, received, keys, bool(closed), max(0, closed - 1))
            fits = (collection.id, account.crc, account.end) == (identity, crc, closed)
        except (PlausiblyError, TypeError, struct.error, ValueError):
            fits = False
        if not fits:
            raise self._damaged("the account of a collection was changed")
        self._documents[identity] = collection
        return account

    def _expect(self, connection: Connection, identity: str) -> Account:
        found = self._found(connection, identity, self._held)
        if found is None:
            raise StateError(f"{identity}: there is no such collection")
        return found

    def _write(self, connection: Connection, account: Account) -> None:
        connection.execute(
            "UPDATE collections SET rolled = ?, filed = ?, received = ?, keys = ?, closed = ?, crc = ? "
            "WHERE number = ?",
            (
                *(account.rolled, account.filed, account.received, account.keys, account.end),
                *(account.crc, account.number),
            ),
        )

    def _damaged(self, reason: str) -> DamagedInboxError:
        return DamagedInboxError(f"{self.name}: damaged, {reason}; restore a backup")


class View:
    """The inbox at one moment, for one thread."""

    def __init__(self, inbox: Inbox, connection: Connection) -> None:
        self._inbox, self._connection = inbox, connection

    def account(self, identity: str) -> Account | None:
        """The account of a collection in the inbox, if there is one."""
        return self._inbox._found(self._connection, identity)

    def accounts(self) -> list[Account]:
        """The accounts of all collections in the inbox, in the order in which they were made."""
        found = self._connection.execute("SELECT id FROM collections ORDER BY number").fetchall()
        return [account for (identity,) in found if (account := self.account(identity)) is not None]

    def last(self, account: Account) -> int:
        """The number of a collection's last row in the inbox, pending or rolled."""
        found = self._connection.execute("SELECT max(number) FROM pending WHERE collection = ?", (account.number,))
        return int(found.fetchone()[0] or account.rolled)

    def last_of(self, account: Account, reports: int) -> int:
        """The number of the row with which a collection's pending rows, the oldest first, have this number of reports.

        They have at least a batch; if less than a batch would be left, it is the last row of all.
        """
        size, batch = account.collection.scheme.report_dtype.itemsize, account.collection.smallest_batch or 1
        query = "SELECT number, length(reports) FROM pending WHERE collection = ? AND number > ? ORDER BY number"
        left = account.waiting
        for number, length in self._inbox._streamed(self._connection, query, (account.number, account.rolled)):
            left -= (length or 0) // size  # damaged rows are refused when they are read
            if account.waiting - left >= max(reports, batch) and left >= batch:
                return int(number)
        return self.last(account)

    def pending(self, account: Account, after: int = 0, last: int | None = None) -> Iterator[bytes]:
        """The records in a collection's pending rows, row by row. Raises for a row that was changed."""
        size = account.collection.scheme.report_dtype.itemsize
        rows = self._inbox._streamed(
            self._connection,
            "SELECT number, reports, crc, records FROM pending WHERE collection = ? AND number > ? AND number <= ? "
            "ORDER BY number",
            (account.number, max(after, account.rolled), 1 << 62 if last is None else last),
        )
        for number, reports, crc, records in rows:
            whole = isinstance(reports, bytes) and isinstance(records, int) and len(reports) == size * records
            if not whole or _row_crc(account.number, records, reports) != crc:
                raise DamagedInboxError(f"{self._inbox.name}: pending row {number} is damaged; restore a backup")
            yield reports

    def rows(self, table: str) -> Iterable[Sequence[Any]]:
        """All rows of a table of the inbox as they are stored, for a copy."""
        return self._inbox._streamed(self._connection, f"SELECT {', '.join(COLUMNS[table])} FROM {table}", ())

    def last_number(self) -> int:
        """The largest number that a pending row of the inbox has ever had."""
        return self._inbox._last_number(self._connection)


def _row_crc(collection: int, records: int, content: bytes) -> int:
    return zlib.crc32(content, zlib.crc32(_ROW.pack(collection, records)))


def _sum_of(keys: bytes) -> int:
    # Order does not matter, and no single change leaves the sum as it is: both factors are odd.
    words = np.frombuffer(keys, dtype="<u8").reshape(-1, 2)
    high, low = (int(column) for column in words.sum(axis=0, dtype=np.uint64))
    return (high + _ODD * low) & (1 << 64) - 1


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word
