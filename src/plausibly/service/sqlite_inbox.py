"""The inbox in SQLite, in a file of the collector's folder, which one process has."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from ..core.errors import StateError
from ..core.operating_system import sync_folder
from .inbox import (
    COLUMNS,
    INSERT_ROW,
    KEY_BYTES,
    VERSION,
    Account,
    Batch,
    Connection,
    DamagedInboxError,
    Entry,
    FullError,
    Inbox,
    Outcome,
    View,
    entry_of_all,
)
from .write_ahead_log import expect_undamaged, log_of

_APPLICATION = 0x504C4331
_TABLES = """
CREATE TABLE collections(number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, document TEXT NOT NULL,
    rolled INTEGER NOT NULL, filed INTEGER NOT NULL, received INTEGER NOT NULL, keys INTEGER NOT NULL,
    closed INTEGER NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE keys(collection INTEGER NOT NULL, key BLOB NOT NULL, PRIMARY KEY(collection, key)) WITHOUT ROWID;
CREATE TABLE pending(number INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL, reports BLOB NOT NULL,
    crc INTEGER NOT NULL, records INTEGER NOT NULL);
CREATE INDEX pending_of ON pending(collection, number);
"""


def _each_key(blob: str) -> str:
    # The keys in a blob, as tables of a WITH clause.
    return f"""
    at(place) AS (SELECT 1 UNION ALL SELECT place + {KEY_BYTES} FROM at WHERE place + {KEY_BYTES} <= length({blob})),
    each(key) AS (SELECT substr({blob}, place, {KEY_BYTES}) FROM at)"""


_ARRIVAL = """
CREATE TEMP VIEW arrival AS SELECT 0 AS collection, 0 AS rolled, 0 AS filed, 0 AS received, 0 AS sum, 0 AS closed,
    0 AS seal, x'' AS keys, x'' AS reports, 0 AS crc, 0 AS records, 0 AS new_received, 0 AS new_sum, 0 AS new_seal;
CREATE TEMP TRIGGER arrives INSTEAD OF INSERT ON arrival BEGIN
    SELECT raise(ABORT, 'the account is another') WHERE NOT EXISTS (
        SELECT 1 FROM collections WHERE number = NEW.collection AND (rolled, filed, received, keys, closed, crc) =
            (NEW.rolled, NEW.filed, NEW.received, NEW.sum, NEW.closed, NEW.seal));
    INSERT INTO keys SELECT NEW.collection, key FROM (WITH RECURSIVE {each_key} SELECT key FROM each);
    INSERT INTO pending(collection, reports, crc, records) VALUES(NEW.collection, NEW.reports, NEW.crc, NEW.records);
    SELECT raise(ABORT, 'the numbers of rows were changed') WHERE last_insert_rowid() <= NEW.rolled;
    UPDATE collections SET received = NEW.new_received, keys = NEW.new_sum, crc = NEW.new_seal
        WHERE number = NEW.collection;
END;
""".format(each_key=_each_key("NEW.keys"))
"""A whole commit as one statement. Python hands the interpreter's lock over, and takes it back, several times for each
statement, and SQLite keeps no copies of changed pages to undo a statement that is a transaction of its own."""
_INSERT_ARRIVAL = f"INSERT INTO arrival VALUES({', '.join('?' * 14)})"
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_PAGE = 4096
_LONG_LOG = 1 << 13
"""Number of pages in the write-ahead log, about, from which it is moved into the database."""
_MANY_COMMITS = 1 << 6
"""Number of commits from which it is moved, too: emptying a log takes 0.4 ms a megabyte, and a roll does it."""
_LONGEST_LOG = 1 << 15
"""Number of pages from which the writer itself moves the log, because the helper cannot keep up."""
_BUSY = 10.0
"""Seconds to wait for a lock that a tool of the operator holds, such as a backup."""


class SqliteInbox(Inbox):
    """The inbox of a folder that this process has locked."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.name = path, str(path)
        with self._explained():
            if not path.exists():
                self._make()
            expect_undamaged(log_of(path))  # when SQLite has opened the file, the evidence is gone
            self._file = _file_at(path)
            self._connection = self._connect()
            self._prepare()
            self._verify_tables()
            self._verify(self._connection)
            self._connection.execute("PRAGMA temp_store = MEMORY")
            self._connection.executescript(_ARRIVAL)
            self._connection.execute(f"PRAGMA wal_autocheckpoint = {_LONGEST_LOG}")
        self._last: Account | None = None
        self._pages = self._commits = 0
        self._helper = ThreadPoolExecutor(1, thread_name_prefix="log")
        self._shortening: Future[None] | None = None

    def commit(self, arrived: Mapping[str, Sequence[Batch]]) -> dict[str, list[Outcome]]:
        """Add all batches in one transaction; in one statement if all are new, and for one collection as before."""
        outcomes = self._committed(arrived)
        self._keep_log_short(arrived)
        return outcomes

    def _committed(self, arrived: Mapping[str, Sequence[Batch]]) -> dict[str, list[Outcome]]:
        last = self._last
        if last is not None and arrived.keys() == {last.collection.id}:
            batches = arrived[last.collection.id]
            entry = entry_of_all(last, batches)
            if entry is not None:
                self._expect_in_place()
                with self._explained():
                    if self._insert_new(self._connection, last, entry):
                        return {last.collection.id: [Outcome.NEW] * len(batches)}
        return super().commit(arrived)

    def fill(self, view: View) -> None:
        """Copy all rows of another inbox into this empty one."""
        with self._transaction() as connection:
            for table, columns in COLUMNS.items():
                statement = f"INSERT INTO {table}({', '.join(columns)}) VALUES({', '.join('?' * len(columns))})"
                self._connection.executemany(statement, view.rows(table))
            connection.execute("DELETE FROM sqlite_sequence WHERE name = 'pending'")
            connection.execute("INSERT INTO sqlite_sequence(name, seq) VALUES('pending', ?)", (view.last_number(),))

    def shorten_log(self) -> None:
        """Move the write-ahead log into the database on this thread, as far as nobody reads it, while others write."""
        self._expect_in_place()
        with self._explained(), closing(self._connect()) as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

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
        self._helper.shutdown()
        with self._explained():
            self._connection.close()

    # --- inside ------------------------------------------------------------------------------------------------

    def _keep_log_short(self, arrived: Mapping[str, Sequence[Batch]]) -> None:
        # SQLite would move the log into the database in the commit that makes it long, while all senders wait. Whatever
        # goes wrong here, the batches are stored, and the log is tried again when it is longer.
        self._commits += 1
        for batches in arrived.values():
            # Each key changes a page of its own.
            self._pages += len(batches) + sum([len(batch.records) for batch in batches]) // _PAGE
        if self._shortening is None:
            if self._pages >= _LONG_LOG or self._commits >= _MANY_COMMITS:
                self._pages = self._commits = 0
                self._shortening = self._helper.submit(self.shorten_log)
        elif self._shortening.done():
            self._shortening = None
            # What was written meanwhile: the log begins again when all of it is in the database.
            with suppress(sqlite3.OperationalError):
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=_BUSY, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        return connection

    def _prepare(self) -> None:
        connection = self._connection
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if (application, version) != (_APPLICATION, VERSION):
            raise DamagedInboxError(f"{self.path}: expected an inbox of version {VERSION}, got another file")
        if connection.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
            raise StateError(f"{self.path}: SQLite cannot keep a write-ahead log here; use a local disk")

    def _make(self) -> None:
        if any(len(each.name) == 64 and each.is_dir() for each in self.path.parent.iterdir()):
            raise DamagedInboxError(f"{self.path}: missing, although the folder has collections; restore a backup")
        if log_of(self.path).exists():
            raise DamagedInboxError(f"{self.path}: missing, although {log_of(self.path).name} exists; restore a backup")
        # It gets its name when it is complete: an inbox that was cut off to nothing is never taken for a new one.
        unfinished = self.path.with_name(f".{self.path.name}.tmp")
        for left in (unfinished, unfinished.with_name(f"{unfinished.name}-journal")):
            left.unlink(missing_ok=True)
        os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(unfinished, isolation_level=None)) as connection:
            connection.executescript(
                f"BEGIN; {_TABLES} PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;"
            )
        unfinished.rename(self.path)
        sync_folder(self.path.parent)

    def _verify_tables(self) -> None:
        connection = self._connection
        if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            raise self._damaged("SQLite finds its pages inconsistent")
        listed = connection.execute("SELECT name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")
        if {name: _plain(text) for name, text in listed} != _expected_tables():
            raise self._damaged("its tables are not those of an inbox")

    def _new_number(self, connection: Connection) -> int:
        return self._highest(connection, "collections") + 1

    def _last_number(self, connection: Connection) -> int:
        return self._highest(connection, "pending")

    def _highest(self, connection: Connection, table: str) -> int:
        # Of rows that were removed, too: the files of a collection that is being deleted have its number.
        found = connection.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?", (table,))
        return int(found.fetchone()[0])

    def _known(self, connection: Connection, collection: int, keys: Sequence[bytes]) -> set[bytes]:
        known = f"WITH RECURSIVE {_each_key('?1')} SELECT key FROM each JOIN keys USING(key) WHERE collection = ?2"
        return {key for (key,) in connection.execute(known, (b"".join(keys), collection))}

    def _insert_new(self, connection: Connection, account: Account, entry: Entry) -> bool:
        # Nearly always all keys are new: an attempt costs less than a question. SQLite undoes a statement that fails.
        collection, content, crc, records = entry.row
        before = account.rolled, account.filed, account.received, account.keys, account.end, account.crc
        after = entry.after.received, entry.after.keys, entry.after.crc
        values = (collection, *before, b"".join(entry.keys), content, crc, records, *after)
        try:
            connection.execute(_INSERT_ARRIVAL, values)
        except sqlite3.IntegrityError:
            return False
        self._last = entry.after
        return True

    def _insert_keys(self, connection: Connection, collection: int, keys: Sequence[bytes]) -> None:
        inserted = f"WITH RECURSIVE {_each_key('?1')} INSERT INTO keys SELECT ?2, key FROM each"
        connection.execute(inserted, (b"".join(keys), collection))

    def _insert_row(self, connection: Connection, values: tuple[int, bytes, int, int]) -> int:
        return int(connection.execute(INSERT_ROW, values).lastrowid)

    def _streamed(self, connection: Connection, query: str, values: Sequence[Any]) -> Iterable[Sequence[Any]]:
        rows: Iterable[Sequence[Any]] = connection.execute(query, values)
        return rows

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        self._expect_in_place()
        with self._explained():
            connection = self._connect()
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
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
        both = f"{self.path.name} and {log_of(self.path).name}"
        return DamagedInboxError(f"{self.path}: damaged, {reason}; restore a backup, or move {both} away")


def _file_at(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def _plain(text: str) -> str:
    return " ".join(text.split())


def _expected_tables() -> dict[str, str]:
    found = {}
    for statement in filter(None, map(_plain, _TABLES.split(";"))):
        _, _, name, *_ = statement.replace("(", " ").split()
        found[name] = statement
    return found
