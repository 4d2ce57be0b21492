"""Tables of two attributes, with the data behind them: as texts for people, and as numbers for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.cross_table import CrossTable, SharesBy
from ..core.domain import Attribute
from ..core.estimates import Estimates
from ..core.independence import MOST_CONTRASTS, Independence
from ..core.skipped import left_out
from ..core.wording import label_of, plural
from .answers import Source, scheme_facts

VERSION = 1
ALL = "all"
"""Name of the row and the column with the sums of a table."""
MOST_ROWS, MOST_COLUMNS = 50, 24
"""Numbers of rows and columns up to which a page shows a table."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """A number of a table in words, with half the width of its interval; ``faint``: the interval contains 0."""

    text: str
    half: str = ""
    faint: bool = False

    def __str__(self) -> str:
        return f"{self.text} ±{self.half}" if self.half else self.text


@dataclass(frozen=True)
class TextGrid:
    """A table in words: names of rows and columns, and the cells of each row; the last row and column may be sums."""

    corner: str
    columns: Sequence[str]
    rows: Sequence[str]
    cells: Sequence[Sequence[Cell]]


@dataclass(frozen=True, eq=False)
class TableAnswer:
    """A table of two attributes, the tally it comes from, and how to show it.

    ``level`` is the confidence level of the intervals. ``title`` is the heading of the page and the chart, and ``unit``
    names what is counted, in the plural. ``beside`` are further facts for programs, by name.
    """

    table: CrossTable
    source: Source
    level: float = 0.95
    title: str | None = None
    unit: str = "users"
    beside: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._ends  # noqa: B018  refuses an invalid level

    @property
    def rows(self) -> Attribute:
        """The attribute in the rows of the table."""
        return self.table.attributes[0]

    @property
    def columns(self) -> Attribute:
        """The attribute in the columns of the table."""
        return self.table.attributes[1]

    @property
    def heading(self) -> str:
        """The title of the page of the table."""
        return f"{self.rows.name} by {self.columns.name}" if self.title is None else self.title

    @property
    def privacy(self) -> str:
        """The epsilon behind the table and what it guarantees, for people."""
        return scheme_facts(self.source.scheme)["Privacy"]

    @cached_property
    def _ends(self) -> tuple[Floats, Floats]:
        return self.table.interval(self.level)

    @property
    def fits(self) -> bool:
        """Whether a page has room for the table."""
        return self.rows.size <= MOST_ROWS and self.columns.size <= MOST_COLUMNS

    @cached_property
    def shares(self) -> SharesBy:
        """Shares of the columns among the users of each row, approximate."""
        return self.table.shares_by(self.rows.name)

    @cached_property
    def margins(self) -> tuple[Estimates, Estimates]:
        """The tables of the two attributes alone: the sums of the rows, and those of the columns."""
        return self.table.margin(self.rows.name), self.table.margin(self.columns.name)

    @cached_property
    def independence(self) -> Independence | None:
        """The test whether the two attributes of the table are independent; None if the table has too many cells."""
        degrees = (self.rows.size - 1) * (self.columns.size - 1)
        return self.table.independence() if self.table.n and degrees <= MOST_CONTRASTS else None

    # --- for people -------------------------------------------------------------------------------------------

    def counts_grid(self) -> TextGrid:
        """The counts of the table in words, with the sums of its rows and columns."""
        written = self.table.written
        sums, below = (_cells(margin.values, margin.interval(self.level), written) for margin in self.margins)
        cells = _grid(_cells(self.table.values, self._ends, written), self.columns.size)
        rows = [[*row, total] for row, total in zip(cells, sums, strict=True)]
        return self._text_grid([*rows, [*below, Cell(written(self.table.n))]], [ALL])

    def shares_grid(self) -> TextGrid:
        """The shares of the columns among the users of each row in words, and among all users."""
        shares, (_, sums) = self.shares, self.margins
        rows = _grid(_cells(shares.values, shares.interval(self.level), shares.written), self.columns.size)
        low, high = (end / max(1, sums.n) for end in sums.interval(self.level))
        return self._text_grid([*rows, _cells(sums.values / max(1, sums.n), (low, high), shares.written)], [])

    def _text_grid(self, cells: Sequence[Sequence[Cell]], more: list[str]) -> TextGrid:
        rows, columns = (
            [label_of(cell) or "(empty)" for cell in each.cells.tolist()] for each in (self.rows, self.columns)
        )
        return TextGrid(f"{self.rows.name} \\ {self.columns.name}", [*columns, *more], [*rows, ALL], cells)

    def finding(self) -> str:
        """Whether the attributes of the table go together, in one sentence."""
        if self.independence is None:
            names = f"{self.rows.name} and {self.columns.name}"
            return f"The table is too large for a test whether {names} are independent."
        return f"{self.independence.text}."

    def notes(self) -> list[str]:
        """Remarks for the reader of the table."""
        told = list(self.table.cautions)
        if self.source.skipped:
            told.append(f"Left out when collecting: {left_out(self.source.skipped)}.")
        return told

    def about(self) -> dict[str, str]:
        """Facts about the data behind the table, as names and phrases."""
        scheme = self.source.scheme
        definition = (type(scheme).__doc__ or "").strip().partition("\n")[0].replace("`", "")
        told = {
            **scheme_facts(scheme),
            "Reports": f"{self.table.n:,}",
            "Cells": f"{self.rows.size:,} × {self.columns.size:,}",
            "Intervals": f"{100 * self.level:g} %",
            "Steps": "none; the counts are unbiased",
        }
        if self.source.skipped:
            told["Left out"] = left_out(self.source.skipped)
        return told | {"Definition": definition, "Fingerprint": scheme.fingerprint()}

    def summary(self) -> str:
        """The reports behind the table and their privacy, in a phrase."""
        return f"{plural(self.table.n, 'report')} of {self.source.scheme.name}, {self.privacy.partition(':')[0]}."

    # --- for programs -----------------------------------------------------------------------------------------

    def numbers(self) -> dict[str, list[Any]]:
        """The columns of numbers of all cells, row by row; None where a number is unknown."""
        found, (low, high) = self.table.columns(self.level), self.shares.interval(self.level)
        found |= {"share_of_row": self.shares.values, "share_of_row_low": low, "share_of_row_high": high}
        return {name: [_finite(number) for number in column.tolist()] for name, column in found.items()}

    def names(self) -> tuple[list[Any], list[Any]]:
        """The names of the row and the column of each cell, row by row."""
        rows, columns = ([item[axis] for item in self.table.items.tolist()] for axis in (0, 1))
        return rows, columns

    def facts(self) -> dict[str, Any]:
        """Everything about the table but its numbers, JSON-ready."""
        scheme, test = self.source.scheme, self.independence
        return {
            "version": VERSION,
            "kind": "table",
            "scheme": scheme.name,
            "fingerprint": scheme.fingerprint(),
            "epsilon": str(scheme.epsilon),
            "reports": self.table.n,
            "simulated": self.source.simulated,
            "level": self.level,
            "rows": self.rows.name,
            "columns": self.columns.name,
            "independence": None if test is None else _facts_of(test),
            "skipped": [vars(each) for each in self.source.skipped],
            **({"cautions": list(self.table.cautions)} if self.table.cautions else {}),
            **self.beside,
        }

    def to_dict(self) -> dict[str, Any]:
        """Facts and numbers of the table, JSON-ready: its cells, and the sums of its rows and columns."""
        numbers = self.numbers()
        rows = zip(*self.names(), *numbers.values(), strict=True)
        cells = [dict(zip(["row", "column", *numbers], row, strict=True)) for row in rows]
        sums = {"row_sums": self._sums(self.margins[0]), "column_sums": self._sums(self.margins[1])}
        return self.facts() | {"cells": cells} | sums

    def _sums(self, margin: Estimates) -> list[dict[str, Any]]:
        columns = margin.columns(self.level)
        rows = zip(margin.items.tolist(), *(column.tolist() for column in columns.values()), strict=True)
        return [dict(zip(["item", *columns], row, strict=True)) for row in rows]


def _facts_of(test: Independence) -> dict[str, Any]:
    found = {"statistic": test.statistic, "degrees": test.degrees, "p_value": test.p_value, "text": test.text}
    return found | {"reports_needed": test.needed} | ({"cautions": list(test.cautions)} if test.cautions else {})


def _cells(values: Floats, ends: tuple[Floats, Floats], written: Callable[[float], str]) -> list[Cell]:
    found = []
    for value, low, high in zip(values.tolist(), ends[0].tolist(), ends[1].tolist(), strict=True):
        half = written((high - low) / 2) if isfinite(value) else ""
        found.append(Cell(written(value), half, low <= 0 <= high))
    return found


def _grid(cells: Sequence[Cell], width: int) -> list[Sequence[Cell]]:
    return [cells[first : first + width] for first in range(0, len(cells), width)]


def _finite(number: float) -> float | None:
    return number if isfinite(number) else None
