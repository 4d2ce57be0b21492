"""Which report files there are, and how they are cut into tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

import plausibly
from files.making import group_size, small_file
from plausibly.engines import survey
from plausibly.engines.survey import report_files
from plausibly.files import (
    Collected,
)


def task_sizes(folder: Path) -> list[int]:
    """The reports of each task."""
    found = survey.survey([folder], None, skip_bad=False)
    tasks = found.tasks(found.missing(Collected(found.scheme.accumulator())))
    return [found.count(task) for task in tasks]


def test_tasks_are_many_for_small_states_and_short_for_large_reports(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAUSIBLY_THREADS", "1")
    assert task_sizes(folder) == [45, 23], "four reports for each of eleven cells, in whole row groups"
    monkeypatch.setattr(survey, "_REPORTS_PER_CELL", 0)
    assert task_sizes(folder) == [10, 10, 15, 10, 10, 10, 3], "nine at least, in whole row groups"
    monkeypatch.undo()
    large = tmp_path / "large"
    large.mkdir()
    monkeypatch.setattr(survey, "_TASK_BYTES", 40)
    monkeypatch.setattr(survey, "_BYTES_PER_CELL", 1)
    group_size(monkeypatch, 1)
    small_file(large / "a.parquet", 9, scheme=plausibly.make("OUE", epsilon=1, domain_size=160))
    assert task_sizes(large) == [8, 1], "twenty bytes each, 160 cells"


def test_folders_are_searched_but_for_hidden_files(tmp_path: Path) -> None:
    for name in ("b/x.parquet", "a/y/z.parquet", "_temporary/x.parquet", "a/.x.parquet", "a/x.csv", "c.parquet"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = [path.relative_to(tmp_path).as_posix() for path in report_files([tmp_path])]
    assert found == ["a/y/z.parquet", "b/x.parquet", "c.parquet"]
    assert report_files([tmp_path / "a/x.csv"]) == [tmp_path / "a/x.csv"], "a file that is named is taken"
