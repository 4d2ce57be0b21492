"""Places for inboxes of tests: a file, and a database of a PostgreSQL server."""

from __future__ import annotations

import re
import sqlite3
from abc import ABC, abstractmethod
from contextlib import closing
from pathlib import Path
from typing import Any

from plausibly.service.inbox import Inbox
from plausibly.service.postgres_inbox import PostgresInbox
from plausibly.service.sqlite_inbox import SqliteInbox


def execute(address: str, statement: str) -> list[Any]:
    """The rows of a statement in a database."""
    import psycopg

    with psycopg.connect(address, autocommit=True, options="-c search_path=plausibly") as connection:
        done = connection.execute(statement.encode())
        return done.fetchall() if done.description else []


class Store(ABC):
    """A place for an inbox, which can be opened again and again, and changed behind its back."""

    def __init__(self) -> None:
        self._opened: list[Inbox] = []

    def open(self) -> Inbox:
        self._opened.append(self._open())
        return self._opened[-1]

    def close(self) -> None:
        for each in self._opened:
            each.close()

    @abstractmethod
    def _open(self) -> Inbox: ...

    @abstractmethod
    def execute(self, statement: str) -> list[Any]: ...


class File(Store):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def _open(self) -> Inbox:
        return SqliteInbox(self.path)

    def execute(self, statement: str) -> list[Any]:
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            return connection.execute(statement).fetchall()


class Database(Store):
    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address

    def _open(self) -> Inbox:
        return PostgresInbox(self.address)

    def execute(self, statement: str) -> list[Any]:
        return execute(
            self.address, re.sub(r"zeroblob\(((?:\(.*?\)|[^()])*)\)", r"decode(repeat('00', \1), 'hex')", statement)
        )
