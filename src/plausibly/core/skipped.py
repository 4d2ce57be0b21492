"""Gaps in a tally: damaged files and row groups that were skipped during collection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .wording import plural


@dataclass(frozen=True)
class Skipped:
    """A row group that could not be read, or a whole file if ``group`` is None."""

    file: str
    group: int | None
    reports: int | None
    """Number of missing reports, if known."""
    reason: str


def left_out(skipped: Sequence[Skipped]) -> str:
    """Description of the skipped data, which are missing from a tally.

    >>> left_out([Skipped("a.parquet", 0, 1000, "damaged"), Skipped("b.parquet", None, None, "cut off")])
    '1 row group with 1,000 reports and 1 file that was refused'
    """
    groups, files = sum(each.group is not None for each in skipped), sum(each.group is None for each in skipped)
    reports = sum(each.reports or 0 for each in skipped)
    told = [f"{plural(groups, 'row group')} with {reports:,} reports"] * bool(groups)
    told += ["1 file that was refused" if files == 1 else f"{files:,} files that were refused"] * bool(files)
    return " and ".join(told) or "nothing"
