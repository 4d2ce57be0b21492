"""Crowds from CSV files with one value per row, or one item and its count. Messages name lines, never values.

The first line names the columns. The items' names are dropped: schemes see integers, 0 being the most common item.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ..core.errors import ParameterError
from ..files.csv_rows import CsvRows
from ..files.sources import Source, ValuesError
from ..files.values import values
from .cells import SOURCES
from .item_crowds import CROWDS, Counts, resampled

_MOST = 2**31 - 1
"""Maximum number of users in a crowd."""


@dataclass(frozen=True, eq=False)
class Held:
    """A crowd from a CSV file with given counts, most common first. For another n, that many users are drawn from them.

    With a larger d, the last items have count 0; with a smaller d, users are drawn from the most common items.
    """

    counts: Counts

    @property
    def n(self) -> int:
        """Number of users in the crowd from the CSV file."""
        return int(self.counts.sum())

    @property
    def d(self) -> int:
        """Number of items in the CSV file."""
        return len(self.counts)

    def users(self, d: int) -> int:
        """Number of users in the CSV file who have one of the ``d`` most common items."""
        return int(self.counts[:d].sum())

    @cached_property
    def digest(self) -> str:
        """Digest of the counts in the CSV file."""
        return hashlib.sha256(self.counts.tobytes()).hexdigest()[:12]

    def __call__(self, n: int, d: int, seed: int) -> Counts:
        """True count of each of d items of the CSV file; the counts sum to n."""
        kept = self.counts[:d]
        if n != self.users(d):
            kept = resampled(kept, n, f"held {self.digest} {n} {d}", seed)
        return np.concatenate([kept, np.zeros(d - len(kept), dtype=np.int64)])


def enter(name: str, crowd: Held) -> None:
    """Register the crowd of a CSV file as data of that name. Measurements are keyed by counts, not the name alone."""
    if not isinstance(CROWDS.get(name, crowd), Held):
        raise ParameterError(f"{name}: this is the name of a built-in crowd; rename yours")
    CROWDS[name], SOURCES[name] = crowd, crowd.digest


@dataclass(frozen=True, eq=False)
class Labelled:
    """Counts by item, in the order of the CSV file, with the line where each item first occurs."""

    name: str
    items: tuple[str, ...]
    counts: Counts
    lines: tuple[int, ...]


def read_values(path: str | Path, column: str | None = None) -> Held:
    """The crowd of a CSV file with one user's value in each row; ``column`` may be omitted if there is only one."""
    return _held(labelled_values(path, column))


def read_counts(path: str | Path) -> Held:
    """The crowd from a CSV file with the columns ``item`` and ``count``, without names; other columns are ignored."""
    return _held(labelled_counts(path))


def labelled_values(path: str | Path, column: str | None = None) -> Labelled:
    """The crowd of a CSV file as from ``read_values``, but with the names of the items."""
    found: Counter[str] = Counter()
    lines: dict[str, int] = {}
    for chunk in values(path, column=column, format="csv"):
        found.update(chunk.values)
        # Backwards, so that the first line of each item is written last and kept.
        own = dict(zip(reversed(chunk.values), reversed(chunk.places), strict=True))
        lines |= {item: line for item, line in own.items() if item not in lines}
    return _labelled(path, found, lines)


def labelled_counts(path: str | Path) -> Labelled:
    """The crowd of a CSV file as from ``read_counts``, but with the names of the items."""
    found: dict[str, int] = {}
    lines: dict[str, int] = {}
    rows = CsvRows(Source(path), ["item", "count"])
    which, many = rows.places
    for line, row in rows:
        item, count = row[which], row[many]
        if not re.fullmatch(r"[0-9]{1,10}", count):
            raise rows.text.refused("expected a whole number of users as the count", line)
        if item in found:
            raise rows.text.refused("expected each item once, got one that an earlier line has", line)
        found[item], lines[item] = int(count), line
    return _labelled(path, found, lines)


def _labelled(path: str | Path, found: dict[str, int], lines: dict[str, int]) -> Labelled:
    counts = np.array([*found.values()], dtype=np.int64)
    return Labelled(Path(path).name, tuple(found), counts, tuple(lines[item] for item in found))


def _held(found: Labelled) -> Held:
    counts = np.sort(found.counts)[::-1]
    if len(counts) < 2 or not 1 <= counts.sum() <= _MOST:
        raise ValuesError(
            f"{found.name}: expected at least 2 different items and 1 to {_MOST:,} users, "
            f"got {len(counts):,} items and {counts.sum():,} users"
        )
    return Held(np.ascontiguousarray(counts))
