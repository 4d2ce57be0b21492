"""Do the rows of a sketch agree, or public functions of local hashing? Each group of them is compared with the rest.

A row counts its users by the hash of their item, so the counts of the items determine what all rows count together. If
the rows have at least twice as many cells as there are items, the part of the table that some counts explain is
removed, and what is left has an expectation of 0 whatever the crowd, collisions included. With fewer cells this is done
for the largest items only. The others then collide at random, over a fresh ``hash_seed``, and the spread of all cells
shows how much. Derivation: docs/adr/0044-fake-reports.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from .. import kernels
from .bounds import either_side
from .laws import Cells, Codes, Floats

_GROUPS = 8
"""Number of groups of rows that are compared with all others, at most."""
_PAIRS = 1 << 28
"""Largest number of pairs of items in all rows that are compared, which takes a second."""
_HASHED = 1 << 24
"""Largest number of items in all rows."""
_EXAMINED = 16
"""Number of the largest differences whose variance is computed; the test allows for all of them."""
_LARGE = 64
"""Number of the largest items, at most, whose counts are removed if those of all items cannot be."""
_FREE = 64
"""Least number of cells beyond these that show the spread of collisions."""
_LEAST = 1e-6
"""Least square of a sum's coefficients, of that before the crowd's are removed: less is rounding."""


@dataclass(frozen=True, eq=False)
class Explaining:
    """Some items with their cells [row, item], and what their counts explain of a table [row, cell]."""

    hashes: npt.NDArray[np.int64]
    width: int

    @cached_property
    def _inverse(self) -> Floats:
        # Of the number of rows in which two items meet, beyond the expected number.
        rows, items = self.hashes.shape
        met = np.zeros((items, items))
        for own in self.hashes:
            met += own[:, None] == own
        return np.asarray(np.linalg.pinv(met - rows / self.width, rcond=1e-9, hermitian=True))

    def of_cells(self, table: Floats) -> Floats:
        """What a table has in the cells [row, item] of the items."""
        return np.asarray(np.take_along_axis(table, self.hashes, axis=1))

    def left(self, table: Floats) -> Floats:
        """What is left of a table without the part that some counts of the items explain; each row adds up to 0."""
        table = table - table.mean(axis=1, keepdims=True)
        counts = self._inverse @ self.of_cells(table).sum(axis=0)
        explained = np.array([np.bincount(own, counts, self.width) for own in self.hashes])
        return np.asarray(table - (explained - counts.sum() / self.width))


@dataclass(frozen=True)
class PublicHashes:
    """Public hash functions on the items of a domain, one for each row."""

    seeds: tuple[int, ...]
    split: int
    width: int
    size: int

    @property
    def free(self) -> int:
        """Number of cells in all rows, of which each row adds up to a known number."""
        return len(self.seeds) * (self.width - 1)

    @property
    def tested(self) -> bool:
        """Whether the rows have enough cells for a test, and few enough items."""
        rows = len(self.seeds)
        return rows > 1 and self.size > 1 and rows * self.size <= _HASHED and (self.exact or self.large > 1)

    @property
    def exact(self) -> bool:
        """Whether the counts of all items can be removed."""
        return 2 * self.size <= self.free and len(self.seeds) * self.size**2 <= _PAIRS

    @property
    def large(self) -> int:
        """Number of items whose counts are removed otherwise, an eighth of the number of cells at most."""
        number = min(self.size, self.free // 8, _LARGE)
        return number if self.free - number >= _FREE else 0

    def cells_of(self, items: Codes) -> npt.NDArray[np.int64]:
        """[row, item]: the cell of each item."""
        hashed = (kernels.local_hash(np.full(len(items), seed), items, self.split, self.width) for seed in self._seeds)
        return np.array([cells.astype(np.int64) for cells in hashed])

    @property
    def _seeds(self) -> npt.NDArray[np.uint64]:
        return np.array(self.seeds, dtype=np.uint64)

    @cached_property
    def every(self) -> Explaining:
        """All items."""
        return Explaining(self.cells_of(np.arange(self.size, dtype=np.uint64)), self.width)

    def largest(self, table: Floats) -> Explaining:
        """The items with the most in their cells of a table, over all rows."""
        items, totals = np.arange(self.size, dtype=np.uint64), np.zeros(self.size)
        for seed, own in zip(self._seeds, table, strict=True):
            totals += own[kernels.local_hash(np.full(self.size, seed), items, self.split, self.width)]
        chosen = np.argsort(-totals, kind="stable")[: self.large]
        return Explaining(self.cells_of(items[np.sort(chosen)]), self.width)


class RowsCounted(NamedTuple):
    """What the users of each row report: unbiased counts [row, cell] but for a constant of each row, and their law.

    A report adds ``noise`` for each squared coefficient to the second moment of a sum over the cells of its row whose
    coefficients add up to 0, and ``own`` for that of its user's cell.
    """

    hashes: PublicHashes
    counts: Floats
    noise: float
    own: float


@runtime_checkable
class InRows(Protocol):
    """A scheme whose users report the hash of their item under one of a few public functions, drawn evenly."""

    def rows_counted(self, cells: Cells, n: npt.NDArray[np.int64]) -> RowsCounted | None:
        """The counts of all rows with their law; None if there is no law, or no test."""
        ...

    def ends_of_rows(self, table: Floats) -> tuple[float, float]:
        """Least and most that a report adds to a sum with these coefficients [row, cell]."""
        ...


@lru_cache(maxsize=4)
def public_hashes(seeds: tuple[int, ...], split: int, width: int, size: int) -> PublicHashes:
    """Public hash functions on the items of a domain; what they share is computed once."""
    return PublicHashes(seeds, split, width, size)


def row_chances(scheme: InRows, counted: RowsCounted, n: int) -> Iterator[float]:
    """Chances of the largest differences between a group of rows and the others, each allowing for all differences.

    A difference is the sum over the group's rows of the item's cell, without what some counts of items explain.
    """
    hashes, table = counted.hashes, counted.counts
    items = hashes.every if hashes.exact else hashes.largest(table)
    rows, number = items.hashes.shape
    groups, left = np.array_split(np.arange(rows), min(rows, _GROUPS)), items.left(table)
    apart = np.array([items.of_cells(left)[group].sum(axis=0) for group in groups])
    for place in np.argsort(-np.abs(apart), axis=None, kind="stable")[:_EXAMINED].tolist():
        group, item = divmod(place, number)
        asked = np.zeros((rows, hashes.width))
        asked[groups[group], items.hashes[groups[group], item]] = 1.0
        asked = items.left(asked)
        square = float((asked**2).sum())
        if square < _LEAST * len(groups[group]):
            continue
        noise = counted.noise
        if not hashes.exact:  # the spread of all other cells has collisions besides noise
            others = float((left**2).sum()) - float(apart[group, item]) ** 2 / square
            noise = max(noise, rows * others / (hashes.free - number - 1) / n)
        # No crowd has a larger variance than n users of the worst item.
        held = float((items.of_cells(asked) ** 2).sum(axis=0).max())
        variance = n * (noise * square + counted.own * held) / rows
        low, high = (np.array([end]) for end in scheme.ends_of_rows(asked))
        chance = either_side(apart[group, item : item + 1], np.array([variance]), low, high)
        yield min(1.0, apart.size * float(chance[0]))
