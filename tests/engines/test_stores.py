"""Report files in an S3 store: a real server on loopback, with faults that are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from files.making import small_file
from plausibly.engines import collect
from plausibly.engines.survey import report_files
from plausibly.files import ReportFile
from storing import BUCKET, SECRET, Store, running


@pytest.fixture(scope="module")
def server() -> Iterator[Store]:
    """One server for all tests of a process."""
    with running() as store:
        yield store


@pytest.fixture
def store(server: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The server with an empty bucket, and an environment that leads there."""
    server.reset()
    for name, value in {
        "AWS_ENDPOINT_URL": server.endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    return server


@pytest.fixture
def day(store: Store, folder: Path) -> str:
    """The files of the local folder, in a folder of the store."""
    for path in folder.iterdir():
        store.put(f"day/{path.name}", path.read_bytes())
    return f"s3://{BUCKET}/day/"


def test_surveying_a_file_takes_two_requests(store: Store, day: str, folder: Path, tmp_path: Path) -> None:
    for place in range(20):
        small_file(tmp_path / "more", 5, seed=10 + place)
        store.put(f"day/more/{place}.parquet", (tmp_path / "more").read_bytes())
        (tmp_path / "more").unlink()
    store.asked.clear()
    sources = report_files([day])
    assert store.asked == [("GET", f"/{BUCKET}")], "one listing"
    store.asked.clear()
    files = [ReportFile(source) for source in sources]
    assert len(files) == 23
    assert set(Counter(store.asked).values()) == {1}
    assert len(store.asked) == 2 * len(files), "its size, and its end"


def test_a_tally_has_the_same_bytes_wherever_its_reports_are(
    store: Store, day: str, folder: Path, tmp_path: Path
) -> None:
    collect([folder], tmp_path / "local.tally")
    collect([day], tmp_path / "stored.tally")
    assert (tmp_path / "stored.tally").read_bytes() == (tmp_path / "local.tally").read_bytes()
    reads = Counter(store.asked)
    groups = {"0": 3, "1": 4, "2": 1}
    for name, count in groups.items():
        path = f"/{BUCKET}/day/{name}.parquet"
        opened = reads["HEAD", path]
        assert 2 <= opened <= 1 + count, "for the survey, and for each task"
        assert reads["GET", path] == opened + count, "its end each time, and one request for each row group"
