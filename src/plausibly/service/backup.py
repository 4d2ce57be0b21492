"""Backups: a copy of a collector's folder at one moment, made while it runs, and ready to be served."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path

from ..core.errors import StateError
from ..engines.collecting import collect
from ..files.tallies import Collected
from .collector import opened, shared_inbox
from .folder import Folder
from .inbox import Account
from .sqlite_inbox import SqliteInbox
from .write_ahead_log import expect_undamaged, log_of


def backup(path: Path, out: Path, inbox: str | None = None) -> list[Account]:
    """Copy the folder of a collector into a new one; the accounts of its collections at the moment of the copy.

    The inbox is copied first, at one moment; the copy of one in a database is a file of the new folder. Report files
    never change, so all those that this inbox knows can be copied after it. Opening the copy checks it.
    """
    folder, copy = Folder(path), Folder(out)
    if inbox is None and not folder.inbox.is_file():
        raise StateError(f"{folder.inbox}: there is no such file; expected the folder of a collector")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise StateError(f"{out}: expected a new folder for the copy, got one that has files; choose another")
    copy.make()
    if inbox is None:
        _copy_inbox(folder, copy.inbox)
    else:
        with shared_inbox(inbox, folder) as source, source.view() as view, closing(SqliteInbox(copy.inbox)) as target:
            target.fill(view)
    with opened(out) as collector:
        accounts = collector.accounts()
        for account in accounts:
            _copy_files(folder, copy, account)
    if folder.tokens.exists():
        _copy(folder.tokens, copy.tokens)
    os.sync()
    return accounts


def _copy_inbox(folder: Folder, target: Path) -> None:
    try:
        with closing(sqlite3.connect(folder.inbox)) as there:
            _read_log(folder, there)
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            with closing(sqlite3.connect(target)) as here:
                there.backup(here)
    except sqlite3.Error as error:
        raise StateError(f"{folder.inbox}: {error}; no backup was made") from None


def _read_log(folder: Folder, connection: sqlite3.Connection) -> None:
    with ExitStack() as stack:
        try:
            stack.enter_context(folder.locked())
        except StateError:
            return  # a collector is running, which has checked its log
        expect_undamaged(log_of(folder.inbox))
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # SQLite reads the log now


def _copy_files(folder: Folder, copy: Folder, account: Account) -> None:
    identity, tally = account.collection.id, copy.tally(account.collection.id)
    if not account.filed:
        return
    copy.prepare(identity)
    try:
        for number, path in folder.report_files(identity).items():
            if number <= account.rolled:
                _copy(path, copy.report_file(identity, number))
        _copy(folder.tally(identity), tally)
    except FileNotFoundError as error:
        raise StateError(f"{error.filename}: missing, or deleted just now; remove the copy, and try again") from None
    # A roll during the backup makes a newer tally.
    if len(Collected.read(tally)) != account.filed:
        tally.unlink()
        found = collect(list(copy.report_files(identity).values()), tally, scheme=account.collection.scheme)
        if len(found.tally) != account.filed:
            where, count = folder.reports(identity), len(found.tally)
            raise StateError(f"{where}: expected {account.filed:,} reports, got {count:,}; a report file is missing")


def _copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    target.chmod(0o600)
