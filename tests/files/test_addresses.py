"""Addresses as people type them: the wrong ones are refused, and none shows a secret in a message."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from plausibly.core.errors import ParameterError, PlausiblyError, StateError
from plausibly.engines import collect
from plausibly.files import UnreachableError
from plausibly.files.places import same_place, working_path, writing
from plausibly.files.stores import StoredFile, expect_address, local_path


@pytest.mark.parametrize(
    "address",
    [
        "s3://key:hush@bucket/day",
        "s3://key:hu/sh@bucket/day",  # secret keys of AWS contain slashes
        "s3://hush@bucket/day",
        "s3://bucket/day?secret_key=hush",
        "gs://key:hu/sh@bucket/day",
        "abfs://container:hu/sh@account.dfs.core.windows.net/day",
        "hdfs://user:hush@host:8020/day",
    ],
)
def test_credentials_in_an_address_are_refused_and_not_shown(address: str, tmp_path: Path) -> None:
    for call in (
        lambda: expect_address(address),
        lambda: StoredFile(f"{address}.parquet").open(),
        lambda: working_path(address),
        lambda: collect([address], tmp_path / "out.tally"),
    ):
        with pytest.raises(UnreachableError, match="set them in the environment") as raised:
            call()
        assert "hu" not in str(raised.value)


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("s3://bucket/day/a b%20c+ü@1:2#3?.parquet", ("s3", "bucket", "day/a b%20c+ü@1:2#3?.parquet")),
        ("S3://bucket//day", ("s3", "bucket", "day")),
        (
            "abfs://container@account.dfs.core.windows.net/day",
            ("abfs", "container@account.dfs.core.windows.net", "day"),
        ),
        ("abfs://container@127.0.0.1:10000/day", ("abfs", "container@127.0.0.1:10000", "day")),
        ("hdfs://user@host:8020/day", ("hdfs", "user@host:8020", "day")),
        ("hdfs:///day", ("hdfs", "", "day")),
    ],
)
def test_all_other_addresses_are_taken_as_they_are(address: str, parts: tuple[str, str, str]) -> None:
    assert expect_address(address) == parts


def test_an_address_without_a_utf8_form_is_refused() -> None:
    with pytest.raises(UnreachableError, match="expected an address that has a UTF-8 form"):
        expect_address("s3://bucket/\udc80")


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("file:///day/a b", "/day/a b"),
        ("FILE:///day/a%20b", "/day/a b"),
        ("file://localhost/day", "/day"),
        ("file:///day/#1?x", "/day/#1?x"),
        ("file:///C:/day", "C:/day"),
    ],
)
def test_a_local_address_is_an_absolute_path(address: str, path: str) -> None:
    assert local_path(address) == Path(path)


@pytest.mark.parametrize("address", ["file://day", "file://day/0.parquet", "file://", "file://user:hush@host/day"])
def test_a_local_address_that_is_not_absolute_is_refused(address: str, tmp_path: Path) -> None:
    for call in (lambda: local_path(address), lambda: collect([address], tmp_path / "out.tally")):
        with pytest.raises(
            ParameterError, match=r"expected file:///folder/name, .*got a relative path or a host"
        ) as raised:
            call()
        assert "hush" not in str(raised.value)


@pytest.mark.parametrize("address", ["s3://bucket/day.tally", "file:///day.tally"])
def test_an_address_in_a_path_is_told_so(address: str, tmp_path: Path) -> None:
    with pytest.raises(PlausiblyError, match="give an address as a text, not as a path"):
        collect([Path(address)], tmp_path / "out.tally")
    with pytest.raises(PlausiblyError, match="give an address as a text, not as a path"):
        collect([tmp_path], Path(address))


def test_two_spellings_of_an_address_are_one_place() -> None:
    for other in ("S3://bucket/day.tally", "s3://bucket//day.tally"):
        assert same_place("s3://bucket/day.tally", other)
    for other in ("s3://bucket/Day.tally", "s3://Bucket/day.tally", "gs://bucket/day.tally", "day.tally"):
        assert not same_place("s3://bucket/day.tally", other)


def test_two_spellings_of_an_address_share_their_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert working_path("S3://bucket//day.tally") == working_path("s3://bucket/day.tally")
    assert working_path("s3://bucket/day.tally").name == "44987e8d194cc1d9-day.tally"  # found by later versions


def test_the_working_file_of_a_long_name_has_a_name_that_disks_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    working = working_path(f"s3://bucket/{'🎉' * 200}.tally")
    working.with_name(f".{working.name}.unfinished.{'0' * 12}.tmp").touch()
    assert working.name.endswith("🎉.tally")


@pytest.mark.parametrize("address", ["s3://bucket", "s3://bucket/", "s3://bucket/day/"])
def test_a_bucket_or_folder_is_no_place_for_a_tally(address: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="expected the name of a file, got a bucket or a folder"):
        collect([tmp_path], address)


def test_a_full_disk_for_temporary_files_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(OSError, match="No space left on device") as raised, writing("s3://bucket/out.tally") as path:
        (path.symlink_to("/dev/full"), path.write_bytes(b"reports"))
    assert raised.value.filename == str(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_cache_folder_that_cannot_be_made_is_told_with_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "plain"))
    with pytest.raises(StateError, match=r"plain.plausibly: Not a directory; .* in XDG_CACHE_HOME"):
        working_path("s3://bucket/day.tally")
