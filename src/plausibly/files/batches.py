"""Values of consecutive rows as readers hand them on, and several columns as one: glued texts, or records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from ..core.domain import Column, Table
from ..core.words import Setting, Words


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """The values of some rows, None for a missing value, and the number of each row or of the line where it begins."""

    places: Sequence[int]
    column: Column

    def __len__(self) -> int:
        return len(self.places)


class SeparatorError(ValueError):
    """The separator occurs elsewhere in a glued value, so that two pairs could look the same."""

    def __init__(self) -> None:
        super().__init__("the separator occurs elsewhere in a glued value")
        why = "a value of a glued column contains the separator or overlaps with it; pass another "
        self.why = Words(why, Setting("separator", "TEXT"))


class Joined(Protocol):
    """Several columns as one."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the joined columns."""

    @property
    def numbers(self) -> tuple[bool, ...]:
        """Whether a joined column may have fractions and times, column by column."""

    def value(self, parts: Sequence[Any]) -> Any:
        """The joined value of a row. Raises a `SeparatorError` if there is none."""

    def column(self, parts: Sequence[Column]) -> Column:
        """The joined values of columns of equal length."""


@dataclass(frozen=True)
class Glue:
    """Several columns as one: their values, joined by a separator that occurs only between them."""

    columns: tuple[str, ...]
    separator: str = " "

    @property
    def numbers(self) -> tuple[bool, ...]:
        """Whether a glued column may have fractions and times, column by column: none may."""
        return (False,) * len(self.columns)

    def value(self, parts: Sequence[str | int | None]) -> str | None:
        """The glued value of a row: None if one of the parts is missing.

        >>> Glue(("browser", "theme")).value(["Firefox", "dark"])
        'Firefox dark'
        """
        if None in parts or "" in parts:
            return None
        glued = self.separator.join(map(str, parts))
        if _occurrences(glued, self.separator) != len(parts) - 1:
            raise SeparatorError
        return glued

    def column(self, parts: Sequence[Column]) -> Column:
        """The glued values of columns of equal length."""
        rows = _together(parts)
        return Column([self.value(row) for row in rows.distinct], rows.index)


@dataclass(frozen=True)
class Records:
    """Several columns as one: records with a value for each attribute of a table, None where it is missing.

    An empty text is missing, too, whatever the format of the file.
    """

    columns: tuple[str, ...]
    table: Table

    @property
    def numbers(self) -> tuple[bool, ...]:
        """Whether a column of the records may have fractions and times, column by column."""
        return tuple(attribute.domain.takes_arrays for attribute in self.table.attributes)

    def value(self, parts: Sequence[Any]) -> tuple[Any, ...]:
        """The record of a row.

        >>> Records(("browser", "theme"), Table({"browser": 2, "theme": 2})).value(["1", ""])
        ('1', None)
        """
        return tuple(None if isinstance(part, str) and not part else part for part in parts)

    def column(self, parts: Sequence[Column]) -> Column:
        """The records in columns of equal length."""
        rows = _together(parts)
        return Column([self.value(row) for row in rows.distinct], rows.index)


def is_absent(value: object) -> bool:
    """Whether a value, or any value of a record, is missing."""
    return value is None or (isinstance(value, tuple) and any(part is None for part in value))


def _together(parts: Sequence[Column]) -> Column:
    # The distinct rows of columns of equal length.
    rows = [(item,) for item in parts[0].distinct]
    index = _index(parts[0])
    for part in parts[1:]:
        pairs, index = np.unique(index * len(part.distinct) + _index(part), return_inverse=True)
        firsts, seconds = np.divmod(pairs, max(1, len(part.distinct)))
        rows = [
            (*rows[first], part.distinct[second])
            for first, second in zip(firsts.tolist(), seconds.tolist(), strict=True)
        ]
    return Column(rows, index)


def _occurrences(text: str, part: str) -> int:
    # Occurrences may overlap: "a---b" is both "a-" and "b", and "a" and "-b", with the separator "--" between them.
    count, place = 0, text.find(part)
    while place >= 0:
        count, place = count + 1, text.find(part, place + 1)
    return count


def _index(column: Column) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return (np.arange(len(column)) if column.index is None else column.index).astype(np.int64)


def arrow_is_installed() -> bool:
    """Whether pyarrow can be imported; without it, text files are read row by row."""
    return find_spec("pyarrow") is not None
