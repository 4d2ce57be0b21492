"""Reports that are already in a table: the tally of a column of records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

from ..core.accumulator import Accumulator
from ..core.arrow import arrow_chunks
from ..core.errors import ParameterError
from ..core.scheme import Scheme
from ..core.wording import nearest, shown
from ..core.words import Setting, Words, kind_of


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


def arrays_of(table: Any, column: str) -> Iterator[Any]:
    """The column of a table of pandas, Polars or pyarrow as Arrow arrays."""
    expect_column(column, list(getattr(table, "column_names", None) or table.columns))
    chunks = arrow_chunks(table[column], "column", ParameterError)
    yield from _converted(table[column]) if chunks is None else chunks


def _converted(column: Any) -> list[Any]:
    # A pandas column of Python objects.
    import pyarrow

    try:
        # An empty column would have no type.
        return [pyarrow.array(column)] if len(column) else []
    except pyarrow.ArrowException:  # its message may show a value
        raise ParameterError("column: expected values of one type, got several") from None


def expect_table(table: object, member: str, expected: str) -> None:
    """Refuse a table without the member that all tables of an engine have."""
    if not hasattr(table, member):
        raise ParameterError(Words(f"table: expected {expected}, got ", kind_of(table)))


def expect_column(column: str, columns: list[str]) -> None:
    """Refuse a column that the table does not have."""
    if column not in columns:
        raise ParameterError(Words(Setting("column"), f": unknown {shown(column)}; {nearest(column, columns)}"))
