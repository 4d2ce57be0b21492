"""Folders of report files for tests, and what must come out of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import plausibly
from contract.entries import tally_of
from files.making import SMALL, group_size, users_reports
from plausibly import Estimates, Keys, Scheme
from plausibly.engines import Segment, survey
from plausibly.files import ReportFile, write_reports

ON_ENGINES = {
    "TLH": plausibly.make("TLH", epsilon=1, domain_size=1000),
    "TRELLIS": plausibly.TRELLIS(2, domain=plausibly.Strings("ab", 6), users=1000),
    "OUE": plausibly.make("OUE", epsilon=1, domain_size=40),
    "CM": plausibly.make("CM", oracle=plausibly.make("OLH", epsilon=1, domain_size=16), rows=4, domain=Keys()),
}
"""Schemes of each kind of state, whose tallies must have the same bytes on every engine."""
KEYED = plausibly.make("TLH", epsilon=1, domain=Keys())
"""A scheme whose tally keeps its reports."""

ITEMS = [f"item {number}" for number in range(100)]
"""Items to ask reports of `KEYED` about."""


def large_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four files, each of which is a task whose state has 101 MB."""
    group_size(monkeypatch, 1 << 20)
    one_task_each(monkeypatch)
    scheme = plausibly.TRELLIS(4, domain=plausibly.Strings("abcdefghijklmnopqrstuvwxyz.-", 42), users=10**6)
    assert scheme.accumulator().cells * 8 > 100e6
    for number in range(4):
        write_reports(folder / f"{number}.parquet", scheme, users_reports(scheme, 250_000, number))


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
