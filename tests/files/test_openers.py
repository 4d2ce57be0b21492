"""Report files that are not on this machine's disk: everything is read through an opener."""

from __future__ import annotations

import io
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import plausibly
from files.making import SMALL, damage_group, group_size, small_file
from plausibly.engines import Segment, collect, fold
from plausibly.files import DamagedError, LocalFile, ReportFile, UnreachableError, write_reports
from plausibly.files.openers import opener_of


class Slow(io.BytesIO):
    """A file that delivers at most seven bytes at a time into a buffer."""

    def readinto(self, buffer: Any) -> int:
        return super().readinto(memoryview(buffer)[:7])


@dataclass(frozen=True)
class Stored:
    """An object in a store."""

    name: str
    content: bytes = field(repr=False)

    def open(self) -> io.BytesIO:
        return Slow(self.content)


@dataclass(frozen=True)
class Lost:
    """An object that its store cannot deliver."""

    name: str

    def open(self) -> io.BytesIO:
        raise OSError("timed out")


@dataclass(frozen=True)
class Failing:
    """An object whose store fails after two reads."""

    name: str
    content: bytes = field(repr=False)
    answer: OSError
    opened: list[str]

    def open(self) -> io.BytesIO:
        self.opened.append(self.name)
        if len(self.opened) > 2:
            raise self.answer
        return Slow(self.content)


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stored:
    """A file of 25 reports that is on no disk."""
    group_size(monkeypatch, 10)
    small_file(tmp_path / "a.parquet", 25)
    content = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").unlink()
    return Stored("store://bucket/a.parquet", content)


def test_an_opened_file_reads_as_one_on_the_disk_does(stored: Stored, tmp_path: Path) -> None:
    (tmp_path / "b.parquet").write_bytes(stored.content)
    on_disk, elsewhere = ReportFile(tmp_path / "b.parquet"), ReportFile(stored)
    assert ReportFile(LocalFile(str(tmp_path / "b.parquet"))).identity == on_disk.identity == elsewhere.identity
    assert [group.tobytes() for group in elsewhere] == [group.tobytes() for group in on_disk]
    assert (elsewhere.name, on_disk.name) == (stored.name, str(tmp_path / "b.parquet"))


def test_stored_files_are_collected_beside_those_of_folders(stored: Stored, tmp_path: Path) -> None:
    small_file(tmp_path / "b.parquet", 7, seed=2)
    found = collect([stored, tmp_path], tmp_path / "out")
    assert (found.added, found.files) == (32, 2)
    (tmp_path / "c.parquet").write_bytes(stored.content)
    assert collect([tmp_path, stored], tmp_path / "out").copies == (stored.name,), "known by content, wherever it is"


def test_damage_is_named_as_the_opener_names_its_file(stored: Stored, tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(stored.content)
    damage_group(tmp_path / "b", 0)
    broken = Stored(stored.name, (tmp_path / "b").read_bytes())
    with pytest.raises(DamagedError, match=r"store://bucket/a\.parquet, row group 0: "):
        ReportFile(broken).read(0)
    short = Stored("store://bucket/short", stored.content[:-1])
    found = collect([broken, short], tmp_path / "out", skip_bad=True)
    assert [(each.file, each.group) for each in found.skipped] == [(short.name, None), (stored.name, 0)]


def test_a_file_that_cannot_be_reached_is_not_taken_for_a_damaged_one(stored: Stored, tmp_path: Path) -> None:
    with pytest.raises(UnreachableError, match=r"store://gone: cannot be read \(timed out\); check that the machine"):
        collect([stored, Lost("store://gone")], tmp_path / "out", skip_bad=True)
    planned = Segment(Lost("store://gone"), "identity", 0, 1)
    with pytest.raises(UnreachableError, match=r"store://gone: cannot be read"):
        fold(SMALL, [planned], skip_bad=True)
    assert not (tmp_path / "out").exists()


def test_a_store_that_fails_between_two_row_groups_is_not_taken_for_damage(stored: Stored, tmp_path: Path) -> None:
    for answer in (OSError(5, "Input/output error"), PermissionError(13, "Permission denied"), TimeoutError()):
        failing = Failing(stored.name, stored.content, answer, [])
        segment = Segment(failing, ReportFile(stored).identity, 0, 3)
        with pytest.raises(UnreachableError, match=r"a\.parquet, row group 1: "):
            fold(SMALL, [segment], skip_bad=True)
        assert len(failing.opened) == 3, "the metadata, a row group that could be read, and one that could not"


def test_segments_of_stored_files_are_plain_data(stored: Stored) -> None:
    segment = Segment(stored, ReportFile(stored).identity, 1, 3)
    assert pickle.loads(pickle.dumps(segment)) == segment
    assert len(fold(SMALL, [segment])) == 15


class Stingy(io.BytesIO):
    """A file that returns fewer bytes than it has, against the protocol."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(3)


class Negative(io.BytesIO):
    """A file that claims to have read fewer than no bytes."""

    def readinto(self, buffer: object, /) -> int:
        return -1


@pytest.mark.parametrize("kind", [Stingy, Negative])
def test_a_file_that_breaks_the_protocol_is_damaged(kind: type[io.BytesIO], tmp_path: Path) -> None:
    scheme = plausibly.make("DE", epsilon=1, domain_size=4)
    write_reports(tmp_path / "a.parquet", scheme, scheme.privatize([0, 1, 2]))
    content = (tmp_path / "a.parquet").read_bytes()

    class Stored:
        name = "mem://a"

        def open(self) -> io.BytesIO:
            return kind(content)

    with pytest.raises(DamagedError, match="mem://a"):
        ReportFile(Stored()).read(0)


@dataclass(frozen=True)
class Forgetful:
    """An opener that does not return what it has opened."""

    name: str = "s3://bucket/a.parquet"

    def open(self) -> Any:
        return None


def test_an_opener_that_returns_nothing_is_told_so() -> None:
    with pytest.raises(plausibly.StateError, match=r"a\.parquet: expected an open file from its opener, got NoneType"):
        ReportFile(Forgetful())


def test_a_file_with_an_address_on_this_machine_is_a_local_one(tmp_path: Path) -> None:
    small_file(tmp_path / "a b.parquet", 25)
    address = f"file://{tmp_path}/a%20b.parquet"
    assert opener_of(address) == LocalFile(str(tmp_path / "a b.parquet"))
    assert len(ReportFile(address)) == 25
    found = collect([f"file://{tmp_path}"], f"file://{tmp_path}/out.tally")
    assert (found.added, (tmp_path / "out.tally").exists()) == (25, True)


def test_the_first_bytes_of_a_long_file_are_checked_with_its_first_row_group(tmp_path: Path) -> None:
    small_file(tmp_path / "a.parquet", 300_000)
    content = bytearray((tmp_path / "a.parquet").read_bytes())
    assert len(content) > 2**16
    content[0] ^= 1
    with pytest.raises(DamagedError, match="row group 0: not a complete Parquet file"):
        ReportFile(Stored("mem://a", bytes(content))).read(0)
