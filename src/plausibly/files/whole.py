"""Files that appear whole or not at all, and that only one process at a time may be about to replace."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.errors import ParameterError, StateError

try:
    import fcntl
except ImportError:  # Windows has none, and there two runs on one file are not told apart
    fcntl = None  # type: ignore[assignment]

_UNFINISHED = ".tmp"
_TOKEN = 6
"""Random bytes in the name of a file that is being written."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new file's name in the same folder; what was written there takes the place of ``path`` when all went well.

    It is on the disk before it gets the name, so that not even a power cut leaves half of it there.
    """
    folder_of(path)
    owner = os.getpid()
    unfinished = path.with_name(f".{path.name}.{os.urandom(_TOKEN).hex()}{_UNFINISHED}")
    try:
        yield unfinished
        if os.getpid() == owner:
            _to_disk(unfinished)
            os.replace(unfinished, path)
            _to_disk(path.parent)
    finally:
        if os.getpid() == owner:  # a fork's copy of the block has no say
            unfinished.unlink(missing_ok=True)


def folder_of(path: Path) -> Path:
    """The folder a file is to be in, which must exist."""
    if not path.parent.is_dir():
        raise ParameterError(f"{path}: there is no folder {path.parent}")
    if path.is_dir():
        raise ParameterError(f"{path}: expected the name of a file, came a folder")
    return path.parent


def sweep(path: Path) -> None:
    """Removes what killed processes have left of attempts to replace this file; none may be running."""
    # By the whole name: that of another file, on which somebody may be at work, can begin alike.
    own = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{{2 * _TOKEN}}}{re.escape(_UNFINISHED)}")
    for entry in path.parent.iterdir():
        if own.fullmatch(entry.name):
            entry.unlink(missing_ok=True)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Nobody else holds this path meanwhile; refused if somebody does. The lock ends with the process, however."""
    owner, lock = os.getpid(), folder_of(path) / f"{path.name}.lock"
    while fcntl is not None:
        file = lock.open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise StateError(f"{path}: another process is collecting into this file; wait, or name another") from None
        # Whoever held it before has removed the file: then this lock is on one that nobody else will open.
        try:
            if lock.stat().st_ino == os.fstat(file.fileno()).st_ino:
                break
        except FileNotFoundError:
            pass
        file.close()
    try:
        yield
    finally:
        if fcntl is not None:
            if os.getpid() == owner:
                lock.unlink(missing_ok=True)
            file.close()


def _to_disk(path: Path) -> None:
    try:
        number = os.open(path, os.O_RDONLY)
    except PermissionError:  # Windows opens no folders
        return
    try:
        os.fsync(number)
    finally:
        os.close(number)
