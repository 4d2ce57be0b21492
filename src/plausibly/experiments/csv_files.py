"""Crowds from CSV files: one value in each row, or an item and its count.

Messages give the number of a line, never its content. The first line names the columns. Items become
numbers in order of their counts: the most common item is 0.
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
from ..files.text import Source, ValuesError
from ..files.values import values
from .cells import SOURCES
from .crowds import CROWDS, Counts, resampled

_MOST = 2**31 - 1
"""Maximum number of users of a crowd."""


@dataclass(frozen=True, eq=False)
class Held:
    """Counts as a crowd, the most common first: exactly these, or a sample of n users from them.

    If d exceeds the number of items, the last items have no users; if it is smaller, only the most common are kept.
    """

    counts: Counts

    @property
    def n(self) -> int:
        """Number of users."""
        return int(self.counts.sum())

    @property
    def d(self) -> int:
        """Number of items."""
        return len(self.counts)

    @cached_property
    def digest(self) -> str:
        """Digest of the counts."""
        return hashlib.sha256(self.counts.tobytes()).hexdigest()[:12]

    def __call__(self, n: int, d: int, seed: int) -> Counts:
        """The true count of each of d items, n in all."""
        kept = self.counts[:d]
        if n != int(kept.sum()):
            kept = resampled(kept, n, f"held {self.digest} {n} {d}", seed)
        return np.concatenate([kept, np.zeros(d - len(kept), dtype=np.int64)])


def enter(name: str, crowd: Held) -> None:
    """Enter the crowd under this name; measurements of other counts under the same name are kept apart."""
    if not isinstance(CROWDS.get(name, crowd), Held):
        raise ParameterError(f"{name}: there is made-up data of this name; give yours another")
    CROWDS[name], SOURCES[name] = crowd, crowd.digest


@dataclass(frozen=True, eq=False)
class Labelled:
    """Counts by item, in the order of the file, and the line where each item first occurs."""

    name: str
    items: tuple[str, ...]
    counts: Counts
    lines: tuple[int, ...]


def read_values(path: str | Path, column: str | None = None) -> Held:
    """The crowd of a file with one user's value in each row; a single column need not be named."""
    return _held(labelled_values(path, column))


def read_counts(path: str | Path) -> Held:
    """The crowd of a file with the columns ``item`` and ``count``; other columns are ignored."""
    return _held(labelled_counts(path))


def labelled_values(path: str | Path, column: str | None = None) -> Labelled:
    """As ``read_values``, with the items."""
    found: Counter[str] = Counter()
    lines: dict[str, int] = {}
    for chunk in values(path, column=column, format="csv"):
        found.update(chunk.values)
        # Backwards: the first line of each comes last, and stays.
        own = dict(zip(reversed(chunk.values), reversed(chunk.places), strict=True))
        lines |= {item: line for item, line in own.items() if item not in lines}
    return _labelled(path, found, lines)


def labelled_counts(path: str | Path) -> Labelled:
    """As ``read_counts``, with the items."""
    found: dict[str, int] = {}
    lines: dict[str, int] = {}
    rows = CsvRows(Source(path), ["item", "count"])
    which, many = rows.places
    for line, row in rows:
        item, count = row[which], row[many]
        if not re.fullmatch(r"[0-9]{1,10}", count):
            raise rows.text.refused("expected a whole number of users as its count", line)
        if item in found:
            raise rows.text.refused("an item that another line has already", line)
        found[item], lines[item] = int(count), line
    return _labelled(path, found, lines)


def _labelled(path: str | Path, found: dict[str, int], lines: dict[str, int]) -> Labelled:
    counts = np.array([*found.values()], dtype=np.int64)
    return Labelled(Path(path).name, tuple(found), counts, tuple(lines[item] for item in found))


def _held(found: Labelled) -> Held:
    counts = np.sort(found.counts)[::-1]
    if len(counts) < 2 or not 1 <= counts.sum() <= _MOST:
        raise ValuesError(
            f"{found.name}: expected two different items or more, of 1 to {_MOST:,} users; "
            f"got {len(counts):,}, of {counts.sum():,}"
        )
    return Held(np.ascontiguousarray(counts))
