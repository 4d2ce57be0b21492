"""A lock between processes and an atomic write, with the standard library alone."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 30.0
"""Seconds to wait for a lock that is held only while a small file is written."""
_OWN = 0o600
# None of these exists on Windows, where text would be translated without the last.
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

if sys.platform == "win32":
    import msvcrt

    def _hold(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _sync_folder(folder: Path) -> None:
        """Do nothing: Windows does not open folders, and NTFS keeps a journal of its names."""

else:
    import fcntl

    def _hold(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _sync_folder(folder: Path) -> None:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, ``NAME.lock`` beside it. Released however the process ends; never removed."""
    descriptor = os.open(path.with_name(f"{path.name}.lock"), os.O_CREAT | os.O_RDWR | _FLAGS, _OWN)
    try:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                _hold(descriptor)
                break
            except (BlockingIOError, PermissionError):  # the latter on Windows
                if time.monotonic() >= until:
                    raise TimeoutError("another process does not release its lock") from None
                time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)


def replace(path: Path, content: bytes) -> None:
    """Replace a file whole, readable by its owner alone. The caller holds its lock; at the end it is on the disk."""
    # One name is enough under the lock, and a file that a killed process has left is overwritten.
    unfinished = path.with_name(f".{path.name}.tmp")
    descriptor = os.open(unfinished, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | _FLAGS, _OWN)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, path)
    _sync_folder(path.parent)
