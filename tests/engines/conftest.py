"""Small row groups, and a folder of report files."""

from __future__ import annotations

from pathlib import Path

import pytest

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
