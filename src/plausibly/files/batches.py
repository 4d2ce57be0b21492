"""Values of consecutive rows as readers hand them on, and pairs of columns glued into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from ..core.domain import Column
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


@dataclass(frozen=True)
class Glue:
    """Several columns as one: their values, joined by a separator that occurs only between them."""

    columns: tuple[str, ...]
    separator: str = " "

    @property
    def refusal(self) -> str:
        """The reason why a row is refused whose values cannot be glued."""
        why = "a value of a glued column contains the separator or overlaps with it; pass another "
        return Words(why, Setting("separator", "TEXT"))

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
        glued = [(item,) for item in parts[0].distinct]
        index = _index(parts[0])
        for part in parts[1:]:
            pairs, index = np.unique(index * len(part.distinct) + _index(part), return_inverse=True)
            firsts, seconds = np.divmod(pairs, max(1, len(part.distinct)))
            glued = [
                (*glued[first], part.distinct[second])
                for first, second in zip(firsts.tolist(), seconds.tolist(), strict=True)
            ]
        return Column([self.value(row) for row in glued], index)


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
