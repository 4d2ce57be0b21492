"""File operations that differ between Windows and other operating systems: locks, and folders on the disk."""

from __future__ import annotations

import os
import sys
from pathlib import Path

# Neither exists on Windows, where a link needs special rights and programs do not inherit descriptors.
NOT_THROUGH_LINKS = getattr(os, "O_NOFOLLOW", 0)
NOT_INHERITED = getattr(os, "O_CLOEXEC", 0)

if sys.platform == "win32":
    import msvcrt

    # Nobody but the holder can write to a locked byte: it is the last that `locking` can name, far behind all content.
    _LOCKED_BYTE = (1 << 31) - 2

    REMOVES_OPEN_FILES = False
    """Whether the operating system can remove a file that a process has open."""

    def hold(descriptor: int) -> None:
        """Lock an open file until it is closed; raise ``BlockingIOError`` if another process has locked it."""
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(error.errno, error.strerror) from None

    def sync_folder(folder: Path) -> None:
        """Nothing to write: Windows does not open folders, and NTFS keeps a journal of its names."""

else:
    import fcntl

    REMOVES_OPEN_FILES = True
    """Whether the operating system can remove a file that a process has open."""

    def hold(descriptor: int) -> None:
        """Lock an open file until it is closed; raise ``BlockingIOError`` if another process has locked it."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def sync_folder(folder: Path) -> None:
        """Write the names in a folder to the disk."""
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def sync_file(path: Path) -> None:
    """Write the content of a file to the disk."""
    # Opened for writing, because Windows flushes no other descriptor.
    with path.open("r+b") as file:
        os.fsync(file.fileno())
