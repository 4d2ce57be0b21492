"""Atomic writing: a file appears complete or not at all, and a lock keeps other processes from replacing it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .errors import ParameterError, StateError
from .operating_system import NOT_INHERITED, NOT_THROUGH_LINKS, REMOVES_OPEN_FILES, hold, sync_file, sync_folder

_UNFINISHED = ".tmp"
_TOKEN = 6
"""Number of random bytes in the name of a temporary file."""
_FILES = (".csv", ".html", ".json", ".jsonl", ".md", ".parquet", ".pdf", ".png", ".svg", ".tally", ".txt")
"""Suffixes of files that people expect from a command: no folder is called so on purpose."""
_OWN = 0o600
"""Mode of report and tally files: accessible to their owner only."""


@contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[Path]:
    """A temporary path for an atomic write: the file there replaces ``path`` if the block raises no error.

    The content is on the disk before the file is renamed, so that not even a power cut leaves half a file. A
    ``private`` file is created at once, empty and readable by its owner alone; if it replaces another file, it takes
    over the mode of that file.
    """
    folder_of(path)
    owner = os.getpid()
    unfinished = path.with_name(f".{path.name}.{os.urandom(_TOKEN).hex()}{_UNFINISHED}")
    try:
        if private:
            os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWN))
        yield unfinished
        if os.getpid() == owner:
            # Before its mode changes: the file that it replaces may be read-only.
            sync_file(unfinished)
            if private and path.exists():
                unfinished.chmod(stat.S_IMODE(path.stat().st_mode))
            os.replace(unfinished, path)
            sync_folder(path.parent)
    except OSError as error:
        # The error of a full disk names no file, and the temporary name means nothing to the user.
        if error.errno is not None and error.filename in (None, str(unfinished)):
            error.filename = str(path)
        raise
    finally:
        if os.getpid() == owner:  # a forked copy of this process must not remove the file
            unfinished.unlink(missing_ok=True)


def folder_of(path: Path) -> Path:
    """The folder of a file to write atomically, which must exist."""
    if not path.parent.is_dir():
        # A path has one slash where the address of a store has two.
        store = re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", path.as_posix()) is not None
        fix = "; only reports and tallies can be in a store, so name a file on this machine" * store
        raise ParameterError(f"{path}: there is no folder {path.parent}{fix}")
    if path.is_dir():
        raise ParameterError(f"{path}: expected the name of a file, got a folder")
    if path.exists() and not path.is_file():
        # The new file would replace it, even /dev/null.
        raise ParameterError(f"{path}: expected the name of a file, got a device or a pipe")
    return path.parent


def expect_suffix(path: Path, suffixes: Sequence[str]) -> Path:
    """The path of a file to write, in a folder that exists. Raises unless it ends in one of these suffixes.

    >>> expect_suffix(Path("reports.csv"), [".parquet"])
    Traceback (most recent call last):
    plausibly.core.errors.ParameterError: reports.csv: expected a name that ends in .parquet, got .csv
    """
    folder_of(path)
    if path.suffix.lower() not in suffixes:
        expected = " or ".join(filter(None, (", ".join(suffixes[:-1]), suffixes[-1])))
        raise ParameterError(f"{path}: expected a name that ends in {expected}, got {path.suffix or 'no suffix'}")
    return path


def expect_folder_name(path: Path) -> Path:
    """The path of a folder to write to. Raises if it is no folder yet and has the suffix of a file.

    >>> expect_folder_name(Path("chart.png"))
    Traceback (most recent call last):
    plausibly.core.errors.ParameterError: chart.png: expected the name of a folder, got a name that ends in .png
    """
    if path.suffix.lower() in _FILES and not path.is_dir():
        raise ParameterError(f"{path}: expected the name of a folder, got a name that ends in {path.suffix}")
    return path


def sweep_unfinished(path: Path) -> None:
    """Remove the temporary files that killed atomic writers have left. No other process may be writing this file."""
    # Match the whole name: the temporary file of another path, still in use, can begin alike.
    own = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{{2 * _TOKEN}}}{re.escape(_UNFINISHED)}")
    for entry in path.parent.iterdir():
        if own.fullmatch(entry.name):
            entry.unlink(missing_ok=True)


@contextmanager
def locked(path: Path, *, name: str | Path | None = None) -> Iterator[None]:
    """Hold the atomic writer's lock on a path; raise if another process has it, with the file's ``name`` for users.

    The lock is released however the process ends.
    """
    owner, lock = os.getpid(), folder_of(path) / f"{path.name}.lock"
    while True:
        try:
            # Readable by its owner alone.
            flags = os.O_CREAT | os.O_WRONLY | NOT_THROUGH_LINKS | NOT_INHERITED
            file = os.fdopen(os.open(lock, flags, _OWN), "wb")
        except OSError as error:
            raise StateError(f"{lock}: {error.strerror}") from None
        try:
            hold(file.fileno())
        except BlockingIOError:
            file.close()
            raise StateError(
                f"{name or path}: another process is collecting into this file; wait, or name another"
            ) from None
        # If the previous holder has removed the file, this lock is on a file that nobody else will open.
        try:
            if lock.stat().st_ino == os.fstat(file.fileno()).st_ino:
                break
        except FileNotFoundError:
            pass
        file.close()
    try:
        yield
    finally:
        if os.getpid() == owner:
            _release(lock, file)
        file.close()


def _release(lock: Path, file: BinaryIO) -> None:
    # Removed while it is still locked, so that nobody can lock a file that is about to vanish. Where open files cannot
    # be removed, it is removed after closing, unless another process has opened it by then.
    if REMOVES_OPEN_FILES:
        lock.unlink(missing_ok=True)
        return
    file.close()
    with suppress(FileNotFoundError, PermissionError):
        lock.unlink()
