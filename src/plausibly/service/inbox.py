"""The inbox: everything that was acknowledged and is not yet in a report file, in one SQLite database.

``collections`` has one sealed line of accounts for each collection, ``keys`` the keys of all counted batches, and
``pending`` the reports, one row for each commit and collection, in the order of their random keys. No key is beside its
reports, and there is no time. SQLite does not detect changed bytes, so rows carry checksums of their own.
"""

from __future__ import annotations

import os
import sqlite3
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from enum import Enum, auto
from pathlib import Path

import numpy as np

from ..core.errors import PlausiblyError, StateError
from ..core.operating_system import sync_folder
from .collections import Collection

KEY_BYTES = 16
_APPLICATION, _VERSION = 0x504C4331, 1
_TABLES = """
CREATE TABLE collections(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, document TEXT NOT NULL,
    rolled INTEGER NOT NULL, filed INTEGER NOT NULL, received INTEGER NOT NULL, keys INTEGER NOT NULL,
    closed INTEGER NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE keys(collection INTEGER NOT NULL, key BLOB NOT NULL, PRIMARY KEY(collection, key)) WITHOUT ROWID;
CREATE TABLE pending(number INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL, reports BLOB NOT NULL,
    crc INTEGER NOT NULL, records INTEGER NOT NULL);
CREATE INDEX pending_of ON pending(collection, number);
"""
_COLUMNS = "number, id, document, rolled, filed, received, keys, closed, crc"
_SEAL = struct.Struct("<6q")
_ROW = struct.Struct("<qq")
_ODD = 0x9E3779B97F4A7C15
_AT_ONCE = 1 << 16
_EACH_KEY = f"""
WITH RECURSIVE
    at(place) AS (SELECT 1 UNION ALL SELECT place + {KEY_BYTES} FROM at WHERE place + {KEY_BYTES} <= length(?1)),
    each(key) AS (SELECT substr(?1, place, {KEY_BYTES}) FROM at)
"""
"""All keys of a commit from one blob: each statement hands the interpreter's lock over, and back."""
_LOG_PAGES = 4000
"""Pages of the write-ahead log that are moved to the database at once: random keys change the same pages again."""
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_BUSY = 10.0
"""Seconds to wait for a lock that a tool of the operator holds, such as a backup."""


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

    @property
    def crc(self) -> int:
        """Checksum of the account."""
        numbers = _SEAL.pack(self.number, self.rolled, self.filed, self.received, self.keys, self.closed)
        return zlib.crc32(numbers + self.collection.id.encode())


class Inbox:
    """The inbox of a collector's folder. Only one thread of one process writes; any thread may open a `View`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._documents: dict[str, Collection] = {}
        with self._explained():
            if not path.exists():
                self._make()
            self._file = _file_at(path)
            self._connection = self._connect()
            self._prepare()
            self._verify()

    # --- writing: one thread -----------------------------------------------------------------------------------

    def create(self, collection: Collection) -> bool:
        """Add a collection to the inbox; False if it is there already."""
        with self._transaction() as connection:
            if self._found(connection, collection.id) is not None:
                return False
            (last,) = connection.execute("SELECT coalesce(max(number), 0) FROM collections").fetchone()
            made = Account(last + 1, collection)
            connection.execute(
                f"INSERT INTO collections({_COLUMNS}) VALUES(?, ?, ?, 0, 0, 0, 0, 0, ?)",
                (made.number, collection.id, collection.document, made.crc),
            )
        return True

    def commit(self, arrived: Mapping[str, Sequence[Batch]]) -> dict[str, list[Outcome]]:
        """Add all batches to the inbox in one transaction, by collection; one outcome for each."""
        with self._transaction() as connection:
            return {
                identity: self._add(connection, identity, batches) if batches else []
                for identity, batches in arrived.items()
            }

    def _add(self, connection: sqlite3.Connection, identity: str, batches: Sequence[Batch]) -> list[Outcome]:
        account = self._found(connection, identity)
        if account is None or account.closed:
            return [Outcome.UNKNOWN if account is None else Outcome.CLOSED] * len(batches)
        distinct = {batch.key: batch for batch in batches}
        room = (account.collection.cap or 1 << 62) - account.received
        if len(distinct) == len(batches) and sum(batch.count for batch in batches) <= room:
            try:
                self._insert(connection, account, distinct)
                return [Outcome.NEW] * len(batches)
            except sqlite3.IntegrityError:
                pass  # a key is known; SQLite has undone the statement
        return self._add_some(connection, account, batches, room)

    def _add_some(
        self, connection: sqlite3.Connection, account: Account, batches: Sequence[Batch], room: int
    ) -> list[Outcome]:
        known = self._known(connection, account, [batch.key for batch in batches])
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
            self._insert(connection, account, added)
        return outcomes

    def _known(self, connection: sqlite3.Connection, account: Account, keys: Sequence[bytes]) -> set[bytes]:
        asked = (b"".join(keys), account.number)
        rows = connection.execute(f"{_EACH_KEY} SELECT key FROM each JOIN keys USING(key) WHERE collection = ?2", asked)
        return {key for (key,) in rows}

    def _insert(self, connection: sqlite3.Connection, account: Account, added: Mapping[bytes, Batch]) -> None:
        keys = sorted(added)
        connection.execute(f"{_EACH_KEY} INSERT INTO keys SELECT ?2, key FROM each", (b"".join(keys), account.number))
        content = b"".join(added[key].records for key in keys)
        count = sum(batch.count for batch in added.values())
        row = connection.execute(
            "INSERT INTO pending(collection, reports, crc, records) VALUES(?, ?, ?, ?)",
            (account.number, content, _row_crc(account.number, count, content), count),
        ).lastrowid
        if row is None or row <= account.rolled:
            raise DamagedInboxError(f"{self.path}: the numbers of its rows were changed; restore a backup")
        total = (account.keys + _sum_of(b"".join(keys))) & (1 << 64) - 1
        self._write(connection, replace(account, received=account.received + count, keys=_signed(total)))

    def roll(self, identity: str, last: int, reports: int) -> None:
        """Remove the pending rows up to the last one from the inbox, because a report file has them."""
        with self._transaction() as connection:
            account = self._expect(connection, identity)
            connection.execute("DELETE FROM pending WHERE collection = ? AND number <= ?", (account.number, last))
            self._write(connection, replace(account, rolled=last, filed=account.filed + reports))

    def close_collection(self, identity: str) -> None:
        """Accept no more reports for a collection, and remove its keys from the inbox."""
        with self._transaction() as connection:
            account = self._expect(connection, identity)
            connection.execute("DELETE FROM keys WHERE collection = ?", (account.number,))
            self._write(connection, replace(account, closed=True, keys=0))

    def delete(self, identity: str) -> None:
        """Remove a collection from the inbox, with its keys and its reports."""
        with self._transaction() as connection:
            account = self._found(connection, identity)
            if account is not None:
                for table in ("pending", "keys"):
                    connection.execute(f"DELETE FROM {table} WHERE collection = ?", (account.number,))
                connection.execute("DELETE FROM collections WHERE number = ?", (account.number,))
        self._documents.pop(identity, None)

    def truncate_log(self) -> bool:
        """Empty the write-ahead log of the inbox, which still has the bytes of removed rows; False if it is in use."""
        with self._explained():
            self._connection.execute("PRAGMA busy_timeout = 0")
            try:
                busy, _, _ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                self._connection.execute(f"PRAGMA busy_timeout = {round(1000 * _BUSY)}")
        return not busy

    def close(self) -> None:
        """Close the inbox."""
        with self._explained():
            self._connection.close()

    # --- reading: any thread -----------------------------------------------------------------------------------

    @contextmanager
    def view(self) -> Iterator[View]:
        """The inbox at one moment."""
        self._expect_in_place()
        with self._explained():
            connection = self._connect()
            try:
                connection.execute("BEGIN")
                yield View(self, connection)
            finally:
                connection.close()

    # --- inside ------------------------------------------------------------------------------------------------

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=_BUSY, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
        connection.execute("PRAGMA secure_delete = ON")
        return connection

    def _prepare(self) -> None:
        connection = self._connection
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if (application, version) != (_APPLICATION, _VERSION):
            raise DamagedInboxError(f"{self.path}: expected an inbox of version {_VERSION}, got another file")
        if connection.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
            raise StateError(f"{self.path}: SQLite cannot keep a write-ahead log here; use a local disk")

    def _make(self) -> None:
        if any(len(each.name) == 64 and each.is_dir() for each in self.path.parent.iterdir()):
            raise DamagedInboxError(f"{self.path}: missing, although the folder has collections; restore a backup")
        # It gets its name when it is complete: an inbox that was cut off to nothing is never taken for a new one.
        unfinished = self.path.with_name(f".{self.path.name}.tmp")
        for left in (unfinished, unfinished.with_name(f"{unfinished.name}-journal")):
            left.unlink(missing_ok=True)
        os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(unfinished, isolation_level=None)) as connection:
            connection.executescript(
                f"BEGIN; {_TABLES} PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {_VERSION}; COMMIT;"
            )
        unfinished.rename(self.path)
        sync_folder(self.path.parent)

    def _verify(self) -> None:
        connection = self._connection
        if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            raise self._damaged("SQLite finds its pages inconsistent")
        listed = connection.execute("SELECT name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")
        if {name: _plain(text) for name, text in listed} != _expected_tables():
            raise self._damaged("its tables are not those of an inbox")
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

    def _verify_account(self, connection: sqlite3.Connection, account: Account) -> None:
        rows = "SELECT coalesce(sum(records), 0), coalesce(min(number), ?) FROM pending WHERE collection = ?"
        waiting, first = connection.execute(rows, (account.rolled + 1, account.number)).fetchone()
        last = connection.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'pending'").fetchone()
        if first <= account.rolled or last[0] < account.rolled or account.filed + waiting != account.received:
            raise self._damaged("the rows of a collection do not add up to its account")
        found = connection.execute("SELECT key FROM keys WHERE collection = ?", (account.number,))
        total = 0
        while keys := found.fetchmany(_AT_ONCE):
            if any(not isinstance(key, bytes) or len(key) != KEY_BYTES for (key,) in keys):
                raise self._damaged("a key has the wrong size")
            total += _sum_of(b"".join(key for (key,) in keys))
        if _signed(total & (1 << 64) - 1) != account.keys:
            raise self._damaged("the keys of a collection were changed")

    def _found(self, connection: sqlite3.Connection, identity: str) -> Account | None:
        line = connection.execute(f"SELECT {_COLUMNS} FROM collections WHERE id = ?", (identity,)).fetchone()
        if line is None:
            return None
        number, _, document, *numbers, crc = line
        try:
            collection = self._documents.get(identity) or Collection.from_document(document)
            rolled, filed, received, keys, closed = numbers
            account = Account(number, collection, rolled, filed, received, keys, bool(closed))
            fits = (collection.id, account.crc) == (identity, crc) and closed in (0, 1)
        except (PlausiblyError, TypeError, struct.error, ValueError):
            fits = False
        if not fits:
            raise self._damaged("the account of a collection was changed")
        self._documents[identity] = collection
        return account

    def _expect(self, connection: sqlite3.Connection, identity: str) -> Account:
        found = self._found(connection, identity)
        if found is None:
            raise StateError(f"{identity}: there is no such collection")
        return found

    def _write(self, connection: sqlite3.Connection, account: Account) -> None:
        connection.execute(
            "UPDATE collections SET rolled = ?, filed = ?, received = ?, keys = ?, closed = ?, crc = ? "
            "WHERE number = ?",
            (
                *(account.rolled, account.filed, account.received, account.keys, account.closed),
                *(account.crc, account.number),
            ),
        )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._expect_in_place()
        with self._explained():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _expect_in_place(self) -> None:
        # SQLite would go on writing to a file that was removed or replaced, and everything acknowledged would be lost.
        if _file_at(self.path) != self._file:
            raise StateError(
                f"{self.path}: the file was moved or replaced while the collector runs; stop the collector, put the "
                "right folder in place, and start it again"
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            code = getattr(error, "sqlite_errorcode", None)  # Python's own errors, about texts, have none
            if code is not None and code & 0xFF in _FULL:
                raise FullError(f"{self.path}: the disk is full or cannot be written to ({error})") from None
            raise self._damaged(str(error)) if code is None else StateError(f"{self.path}: {error}") from None
        except sqlite3.DatabaseError as error:
            raise self._damaged(str(error)) from None
        except UnicodeDecodeError:  # SQLite quotes changed texts in its own messages
            raise self._damaged("it has texts that are not texts") from None

    def _damaged(self, reason: str) -> DamagedInboxError:
        return DamagedInboxError(f"{self.path}: damaged, {reason}; restore a backup, or move the file away")


class View:
    """The inbox at one moment, for one thread."""

    def __init__(self, inbox: Inbox, connection: sqlite3.Connection) -> None:
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

    def pending(self, account: Account, after: int = 0, last: int | None = None) -> Iterator[bytes]:
        """The records in a collection's pending rows, row by row. Raises for a row that was changed."""
        size = account.collection.scheme.report_dtype.itemsize
        rows = self._connection.execute(
            "SELECT number, reports, crc, records FROM pending WHERE collection = ? AND number > ? AND number <= ? "
            "ORDER BY number",
            (account.number, after, 1 << 62 if last is None else last),
        )
        for number, reports, crc, records in rows:
            whole = isinstance(reports, bytes) and isinstance(records, int) and len(reports) == size * records
            if not whole or _row_crc(account.number, records, reports) != crc:
                raise DamagedInboxError(f"{self._inbox.path}: pending row {number} is damaged; restore a backup")
            yield reports


def _file_at(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def _row_crc(collection: int, records: int, content: bytes) -> int:
    return zlib.crc32(content, zlib.crc32(_ROW.pack(collection, records)))


def _sum_of(keys: bytes) -> int:
    # Order does not matter, and no single change leaves the sum as it is: both factors are odd.
    words = np.frombuffer(keys, dtype="<u8").reshape(-1, 2)
    high, low = (int(column) for column in words.sum(axis=0, dtype=np.uint64))
    return (high + _ODD * low) & (1 << 64) - 1


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


def _plain(text: str) -> str:
    return " ".join(text.split())


def _expected_tables() -> dict[str, str]:
    found = {}
    for statement in filter(None, map(_plain, _TABLES.split(";"))):
        _, _, name, *_ = statement.replace("(", " ").split()
        found[name] = statement
    return found
