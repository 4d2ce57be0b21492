"""Folders of report files for tests, and what must come out of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from contract.entries import tally_of
from files.making import SMALL
from plausibly import Scheme
from plausibly.engines import Segment, survey
from plausibly.files import ReportFile


def whole(folder: Path, scheme: Scheme = SMALL) -> bytes:
    """The bytes of the tally of all files in a folder."""
    return tally_of(
        scheme, *(group for path in sorted(folder.glob("*.parquet")) for group in ReportFile(path))
    ).to_bytes()


def one_task_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes a task of each row group, few as the reports are."""
    monkeypatch.setattr(survey, "_TASKS_EACH", 1000)
    monkeypatch.setattr(survey, "_REPORTS_PER_CELL", 0)


def segment(path: Path, first: int, last: int) -> Segment:
    return Segment(str(path), ReportFile(path).identity, first, last)


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())
