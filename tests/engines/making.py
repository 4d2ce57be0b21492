"""Folders of report files for tests, and what must come out of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contract.entries import tally_of
from files.making import SMALL
from plausibly import Estimates, Scheme
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


def same_answer(one: Estimates, other: Estimates) -> bool:
    """Whether two answers agree in items, values, variances and the number of reports."""
    assert one.variance is not None
    assert other.variance is not None
    pairs = [(one.items, other.items), (one.values, other.values), (one.variance, other.variance)]
    return all(np.array_equal(*pair) for pair in pairs) and (one.n, one.complete) == (other.n, other.complete)
