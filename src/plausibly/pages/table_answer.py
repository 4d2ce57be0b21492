"""A table of two attributes together with the data behind it, for programs and for pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..core.cross_table import CrossTable, SharesBy
from ..core.errors import StateError
from ..core.independence import Independence
from ..core.wording import plural
from .answers import VERSION, Source, finite, plain_item, scheme_facts, source_facts, special_facts

MOST_SHARES = 1 << 12
"""Largest number of cells whose shares are computed: the time grows with its square, and is a second here."""
_MANY = "The table has too many cells for shares by row."


@dataclass(frozen=True, eq=False)
class TableAnswer:
    """A table of two attributes, the tally it comes from, and how to show it.

    ``level`` is the confidence level of the intervals, and ``unit`` names what is counted, in the plural.
    """

    table: CrossTable
    source: Source
    level: float = 0.95
    unit: str = "users"

    def __post_init__(self) -> None:
        self.table.interval(self.level)  # refuses an invalid level

    @cached_property
    def shares(self) -> SharesBy | None:
        """Shares within each row of the table, which are approximate; None if it has too many cells."""
        return self.table.shares_by(self.table.names[0]) if len(self.table) <= MOST_SHARES else None

    @cached_property
    def independence(self) -> Independence | None:
        """The test whether the attributes of the table are independent; None if it has too many cells."""
        try:
            return self.table.independence()
        except StateError:
            return None

    @property
    def remarks(self) -> list[str]:
        """What the reader of the table must know."""
        return [*self.table.remarks(), _MANY] if self.shares is None else self.shares.remarks()

    def numbers(self) -> dict[str, list[Any]]:
        """The columns of numbers of the table, by name; None for a number that is not known."""
        columns = {name: column.tolist() for name, column in self.table.columns(self.level).items()}
        if self.shares is not None:
            low, high = self.shares.interval(self.level)
            own = {"share_of_row": self.shares.values, "share_of_row_low": low, "share_of_row_high": high}
            columns |= {name: column.tolist() for name, column in own.items()}
        return {name: list(map(finite, column)) for name, column in columns.items()}

    def cells(self) -> Iterator[tuple[Any, Any]]:
        """The values of both attributes in each cell of the table, row by row."""
        for row, column in self.table.items.tolist():
            yield plain_item(row), plain_item(column)

    def facts(self) -> dict[str, Any]:
        """Everything in the table but its cells, JSON-ready."""
        rows, columns = self.table.names
        return {
            "version": VERSION,
            "kind": "table",
            **source_facts(self.source, self.table.n),
            "level": self.level,
            "skipped": [vars(each) for each in self.source.skipped],
            "rows": rows,
            "columns": columns,
            "independence": None if self.independence is None else _tested(self.independence),
            "remarks": self.remarks,
        }

    def to_dict(self) -> dict[str, Any]:
        """Facts and numbers of the table, JSON-ready; the cells row by row."""
        numbers = self.numbers()
        rows = zip(self.cells(), *numbers.values(), strict=True)
        cells = [{"row": row, "column": column} | dict(zip(numbers, own, strict=True)) for (row, column), *own in rows]
        return self.facts() | {"cells": cells}

    def about(self) -> dict[str, str]:
        """Facts about the data behind the table, as names and phrases."""
        rows, columns = self.table.shape
        return {
            **scheme_facts(self.source.scheme),
            "Reports": f"{self.table.n:,}",
            "Table": f"{plural(rows, 'row')}, {plural(columns, 'column')}",
            "Intervals": f"{100 * self.level:g} %",
            **special_facts(self.source),
        }


def _tested(found: Independence) -> dict[str, Any]:
    return {
        "statistic": found.statistic,
        "degrees": found.degrees,
        "p_value": found.p_value,
        "text": found.text,
    }
