"""Decoders that know tables of a few attributes of records, and nothing about whole records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol, runtime_checkable

from .domain import Table
from .errors import StateError
from .levers import Reach
from .mean_only import MeanOnly
from .sized_table import SizedTable
from .table_law import Axes, Floats, TableLaw
from .words import Setting, Words

_TABLE = Setting("rows", "NAME", of="table", python='tally.table("NAME", "NAME")')


class Estimated(NamedTuple):
    """The estimated table of some attributes: a count for each cell, and the law of the counts."""

    counts: Floats
    law: TableLaw


@runtime_checkable
class TablesOnly(Protocol):
    """A decoder of tables of some attributes at a time, with no counts of whole records."""

    @property
    def records(self) -> Table:
        """The domain of the records whose tables are known."""
        ...

    def known_tables(self, attributes: int, /) -> Iterator[Axes]:
        """All tables of this number of attributes that are known, each by its attributes' positions."""
        ...

    def tabulated(self, evidence: Any, n: int, places: Axes, /) -> Estimated:
        """The table of the attributes at these positions, in rising order, from n reports. Raises if it is unknown."""
        ...

    def sized(self, evidence: Any, n: int, places: Axes, /) -> SizedTable | None:
        """The same table given how many users reported each set, for tests; None if nobody reported all attributes."""
        ...

    def law_at(self, places: Axes, /) -> TableLaw:
        """The law of the table of the attributes at these positions, in rising order. Raises if it is unknown."""
        ...

    def leverage(self, places: Axes, questions: Floats, /) -> Reach:
        """Least and most that one report adds to the answers to questions about a table, with weights [question, …]."""
        ...


def no_histogram() -> StateError:
    """The refusal to count whole records where only tables of some attributes are known."""
    words = "this scheme has no counts of whole records, only tables of one or two attributes; ask for them with "
    return StateError(Words(words, _TABLE))


def collect_first(name: str) -> StateError:
    """The refusal to count whole records in reports that nobody has collected."""
    words = f"{name} counts no whole records; add the reports up with collect, and ask the tally for tables with "
    return StateError(Words(words, _TABLE))


def counts_items(decoder: object) -> bool:
    """Whether a decoder counts the items of the domain: others know only a mean, or tables of some attributes."""
    return not isinstance(decoder, MeanOnly | TablesOnly)
