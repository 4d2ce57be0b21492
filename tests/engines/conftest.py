"""Small row groups, a folder of report files, and one session of each engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engines.spark_sessions import classic, remote
from files.making import group_size, small_file


@pytest.fixture(autouse=True)
def _small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    group_size(monkeypatch, 10)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files of 25, 40 and 3 reports."""
    made = tmp_path / "reports"
    made.mkdir()
    for seed, count in enumerate([25, 40, 3]):
        small_file(made / f"{seed}.parquet", count, seed=seed)
    return made


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The only Spark of a test run, on two cores; a task may fail three times."""
    session = classic("local[2,4]", tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


@pytest.fixture(scope="session")
def connected(spark: Any) -> Iterator[Any]:
    """The same Spark over Spark Connect."""
    session = remote(spark)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """The only Dask cluster of a test run: two worker processes."""
    # The tests of everything else run without Dask, too.
    import dask
    from distributed import Client, LocalCluster

    settings = {"distributed.scheduler.allowed-failures": 1, "distributed.admin.log-format": "%(message)s"}
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as cluster,
        Client(cluster, set_as_default=False) as made,
    ):
        yield made
