"""Atomic writing and locks as they run on Windows, played on this machine.

The module of platform differences is run once more as on Windows, with a stand-in for `msvcrt`. Files behave as they do
there: nobody flushes a read-only descriptor, opens a folder or removes a file that is open.
"""

from __future__ import annotations

import errno
import os
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plausibly import StateError
from plausibly.core import atomic, operating_system
from plausibly.core.atomic import locked, replacing
from plausibly.experiments import results

fcntl = pytest.importorskip("fcntl", reason="this is Windows: the other tests of files are the real thing")


class Locks:
    """`msvcrt.locking`: one process may hold the first byte of a file; a refusal is a PermissionError."""

    LK_NBLCK = 2

    def locking(self, descriptor: int, mode: int, count: int) -> None:
        assert (mode, count) == (self.LK_NBLCK, 1)
        assert 10**9 < os.lseek(descriptor, 0, os.SEEK_CUR) < 2**31, "content must not be locked, not even for others"
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "Permission denied") from None


def is_open(path: str) -> bool:
    """Whether this process has the file open."""
    held = Path("/dev/fd")
    return any(os.path.samefile(held / number, path) for number in os.listdir(held) if (held / number).exists())


def patch_files(patch: pytest.MonkeyPatch) -> None:
    sync, opened, unlink = os.fsync, os.open, os.unlink

    def fsync(descriptor: int) -> None:
        if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")
        sync(descriptor)

    def open_file(path: Any, flags: int, mode: int = 0o777, **other: Any) -> int:
        if os.path.isdir(path) and not flags & getattr(os, "O_DIRECTORY", 0):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return opened(path, flags, mode, **other)

    def remove(path: Any, **other: Any) -> None:
        if os.path.exists(path) and is_open(path):
            raise PermissionError(errno.EACCES, "The process cannot access the file", str(path))
        unlink(path, **other)

    patch.setattr(os, "fsync", fsync)
    patch.setattr(os, "open", open_file)
    patch.setattr(os, "unlink", remove)


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "msvcrt", Locks())
        patch.setattr(sys, "platform", "win32")
        patch.delattr(os, "O_NOFOLLOW")
        patch.delattr(os, "O_CLOEXEC")
        module = SimpleNamespace(**runpy.run_path(operating_system.__file__))
    for name in ("NOT_THROUGH_LINKS", "NOT_INHERITED", "REMOVES_OPEN_FILES", "hold", "sync_file", "sync_folder"):
        monkeypatch.setattr(atomic, name, getattr(module, name))
    monkeypatch.setattr(results, "hold", module.hold)
    patch_files(monkeypatch)
    return module


def test_a_file_is_replaced_whole(windows: SimpleNamespace, tmp_path: Path) -> None:
    target = tmp_path / "scheme.json"
    for text in ("first", "second"):
        with replacing(target, private=True) as path:
            path.write_text(text)
    assert target.read_text() == "second"
    assert list(tmp_path.iterdir()) == [target]


def test_a_lock_refuses_a_second_holder_and_leaves_no_file(windows: SimpleNamespace, tmp_path: Path) -> None:
    target = tmp_path / "out.tally"
    with (
        locked(target),
        pytest.raises(StateError, match="another process is collecting into this file"),
        locked(target),
    ):
        raise AssertionError("the lock was given twice")
    assert list(tmp_path.iterdir()) == []
    with locked(target):
        assert [path.name for path in tmp_path.iterdir()] == ["out.tally.lock"]


def test_a_lock_file_that_another_process_has_opened_stays(windows: SimpleNamespace, tmp_path: Path) -> None:
    with locked(tmp_path / "out.tally"):
        waiting = (tmp_path / "out.tally.lock").open("wb")
    with waiting:
        assert (tmp_path / "out.tally.lock").exists()
    with locked(tmp_path / "out.tally"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_rows_of_an_experiment_are_written_under_their_lock(windows: SimpleNamespace, tmp_path: Path) -> None:
    with (
        results.held(tmp_path / "rows.jsonl"),
        pytest.raises(StateError, match="another run is writing"),
        results.held(tmp_path / "rows.jsonl"),
    ):
        raise AssertionError("the lock was given twice")
    with results.held(tmp_path / "rows.jsonl") as rows:
        rows._write({"machine": "m", "facts": {}})
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 1


def test_the_stand_ins_refuse_what_windows_refuses(windows: SimpleNamespace, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with file.open("rb") as read_only, pytest.raises(OSError, match="Bad file descriptor"):
        os.fsync(read_only.fileno())
    with file.open("rb"), pytest.raises(PermissionError):
        file.unlink()
    with pytest.raises(PermissionError):
        os.open(tmp_path, os.O_RDONLY)
