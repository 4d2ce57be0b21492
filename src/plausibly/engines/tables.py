"""Reports that are already in a table: the tally of a column of records."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any

from ..core.accumulator import Accumulator
from ..core.errors import ParameterError
from ..core.scheme import Scheme
from ..core.wording import nearest, shown
from ..core.words import Setting, Words


@dataclass(frozen=True)
class Counting:
    """The work on a worker: the tally of the reports in a part of a column."""

    scheme: Scheme

    def __call__(self, given: tuple[int, Iterable[Any]]) -> Accumulator:
        """The tally of a part: its number, and its records in Arrow arrays of bytes."""
        tally = self.scheme.accumulator()
        for array in given[1]:
            tally.add_single_threaded(array)
        return tally


def united(one: Accumulator, other: Accumulator) -> Accumulator:
    """A new tally of the reports in both."""
    both = copy(one)
    both.merge(other)
    return both


def expect_column(column: str, columns: list[str]) -> None:
    """Refuse a column that the table does not have."""
    if column not in columns:
        raise ParameterError(Words(Setting("column"), f": unknown {shown(column)}; {nearest(column, columns)}"))
