"""How large are estimates of items without holders, if all users share public hash functions?

Such an item reads one cell of each hash function. The reports do not depend on which cell that is, so given the reports
every cell is equally probable, and the cells of the state show the law of the estimate: noise and collisions with
frequent items together. The law is that of a sum of independent random cells, one for each hash function. It has
peaks where the item shares cells with the most frequent one, far beyond what a variance tells
(docs/adr/0025-intervals-after-selection.md).

The cells of all hash functions are pooled, each minus the mean of its function, and the sum is computed by Fourier
transforms on a fine grid. Pooling is an approximation, since functions differ in their cells, though by chance only:
36 of 700 collections without holders had a false significant item at a level of 5 %.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, lgamma, log, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from .tails import Unheld

Floats = npt.NDArray[np.float64]
Table = npt.NDArray[Any]

_POINTS = 1 << 12
"""Number of different values of a cell that are kept."""
_GRID = 1 << 17
"""Number of places for the sum of the cells."""
_AT_ONCE = 1 << 20
"""Number of cells to pool at a time."""
_SURE = 36.0
"""The grid ends where the probability of what is beyond falls below exp(-36)."""
_EXACT = 1e-11
"""Chances below which Fourier transforms are too coarse, and a bound takes their place."""
_ROUNDING = 1e-12
_HALVINGS = 60


@dataclass(frozen=True, eq=False)
class RandomCell:
    """Values of a random cell, minus the mean of its hash function, with their probabilities; drawn ``draws`` times."""

    values: Floats
    chances: Floats
    draws: int

    def cumulants(self, slopes: Floats) -> Floats:
        """Logarithm of the mean of exp(slope * sum of the random cells)."""
        powers = slopes[:, None] * self.values
        most = powers.max(axis=1)
        return np.asarray(self.draws * (most + np.log(np.exp(powers - most[:, None]) @ self.chances)))

    @property
    def variance(self) -> float:
        """Variance of the sum of the random cells."""
        return self.draws * float(self.values**2 @ self.chances)


@dataclass(frozen=True, eq=False)
class Collisions:
    """Law of an item without holders: the ``centre`` plus random cells, which are independent."""

    centre: float
    cells: tuple[RandomCell, ...]
    steps: float = 0.0
    """Distance between possible estimates."""

    @classmethod
    def of_table(cls, table: Table, scale: float, expected: float) -> Collisions:
        """Collisions in a table with a row for each hash function; estimates are (sum of cells - expected) * scale."""
        cell, mean = pooled(table)
        return cls((mean - expected) * scale, (replace(cell, values=scale * cell.values),), scale)

    def picked(self, order: npt.NDArray[np.intp]) -> Collisions:
        """The law for some of the items: the same for all."""
        return self

    def scaled(self, factor: float) -> Collisions:
        """The law of estimates times a factor that is not negative."""
        cells = tuple(replace(cell, values=factor * cell.values) for cell in self.cells)
        return Collisions(factor * self.centre, cells, factor * self.steps)

    def __add__(self, other: Collisions) -> Collisions:
        """The law of sums of estimates with different hash functions."""
        return Collisions(self.centre + other.centre, self.cells + other.cells, max(self.steps, other.steps))

    def chances(self, values: Floats) -> Floats:
        """Probability that an item without holders reaches each of the given estimates."""
        start, step, tails = self._sums
        places = np.floor((values - self.centre - start) / step).astype(np.int64) - 1
        return np.where(places < 0, 1.0, np.maximum(tails[np.clip(places, 0, len(tails) - 1)], _EXACT))

    def least(self, chances: Floats) -> Floats:
        """Smallest estimates that an item without holders reaches with at most the given chances."""
        start, step, tails = self._sums
        # Tails fall along the grid. One step is added because the grid divides a value between its two neighbours.
        places = np.searchsorted(-tails, -np.maximum(chances, _EXACT)) + 1
        found = start + step * places
        rare = chances < _EXACT
        if rare.any():
            found[rare] = np.maximum(found[rare], self._bound(-np.log(np.maximum(chances[rare], 1e-300))))
        return np.asarray(self.centre + found)

    @cached_property
    def _sums(self) -> tuple[float, float, Floats]:
        # The grid of sums: its start and step, and the probability that a sum reaches each of its places.
        highest = float(self._bound(np.array([_SURE]))[0])
        lowest = -float(self._mirrored._bound(np.array([_SURE]))[0])
        # The grid divides values between neighbours; sums of many values scatter by about the root of their number.
        margin = 32 + int(4 * sqrt(sum(cell.draws for cell in self.cells)))
        step = (highest - lowest) / (_GRID - 2 * margin)
        if step <= 0:
            return 0.0, 1.0, np.array([1.0, 0.0])
        transform = np.ones(_GRID // 2 + 1, dtype=np.complex128)
        for cell in self.cells:
            whole, part = np.divmod(cell.values / step, 1.0)
            place = whole.astype(np.int64)
            own = np.bincount(place % _GRID, cell.chances * (1 - part), minlength=_GRID)
            own += np.bincount((place + 1) % _GRID, cell.chances * part, minlength=_GRID)
            transform *= np.fft.rfft(own) ** cell.draws
        first = int(np.floor(lowest / step)) - margin
        density = np.maximum(np.roll(np.fft.irfft(transform, _GRID), -first), 0.0)
        return first * step, step, np.minimum(np.cumsum(density[::-1])[::-1], 1.0)

    @property
    def _mirrored(self) -> Collisions:
        return Collisions(0.0, tuple(replace(cell, values=-cell.values) for cell in self.cells))

    def _bound(self, rarities: Floats) -> Floats:
        # Chernoff's bound: a sum that is reached with a chance of at most exp(-rarity), for each rarity.
        error = sum(cell.variance for cell in self.cells) ** 0.5
        if error == 0:
            return np.zeros(len(rarities))
        slopes = 2.0 ** np.arange(-4, 24, 0.25) / error
        cumulants = sum((cell.cumulants(slopes) for cell in self.cells), np.zeros(len(slopes)))
        return np.asarray(((cumulants + rarities[:, None]) / slopes).min(axis=1))


@dataclass(frozen=True, eq=False)
class MedianOfCells:
    """Law of the median of random cells, one of each row, for an item without holders."""

    values: Floats
    shares: Floats
    """Share of the cells that exceed each of the values."""
    draws: int
    steps: float = 0.0

    @classmethod
    def of_table(cls, table: Floats) -> MedianOfCells:
        """The law of medians of one cell of each row of a table."""
        values, shares = _counted(table)
        return cls(values, np.where((left := 1 - np.cumsum(shares)) > _ROUNDING, left, 0.0), len(table))

    def picked(self, order: npt.NDArray[np.intp]) -> MedianOfCells:
        """The law for some of the items: the same for all."""
        return self

    def scaled(self, factor: float) -> MedianOfCells:
        """The law of estimates times a factor that is not negative."""
        return replace(self, values=factor * self.values, steps=factor * self.steps)

    def least(self, chances: Floats) -> Floats:
        """Smallest estimates that an item without holders reaches with at most the given chances."""
        distinct, where = np.unique(chances, return_inverse=True)
        allowed = np.array([_share_of_half(self.draws, chance) for chance in distinct.tolist()])
        places = np.searchsorted(-self.shares, -allowed)
        return np.asarray(np.nextafter(self.values[np.minimum(places, len(self.values) - 1)], np.inf)[where])


def _share_of_half(draws: int, chance: float) -> float:
    # The share of high cells with which at least half of the draws, rounded up, are high with this chance. The mean of
    # the two middle ones of an even number is high only if the upper one is.
    half = (draws + 1) // 2
    ways = np.array([lgamma(draws + 1) - lgamma(i + 1) - lgamma(draws - i + 1) for i in range(half, draws + 1)])
    numbers = np.arange(half, draws + 1)
    low, high = 1e-300, 0.5
    for _ in range(_HALVINGS):
        middle = exp((log(low) + log(high)) / 2)
        met = float(np.exp(ways + numbers * log(middle) + (draws - numbers) * np.log1p(-middle)).sum()) <= chance
        low, high = (middle, high) if met else (low, middle)
    return low


@dataclass(frozen=True, eq=False)
class Added:
    """Law of a sum of estimates that may depend on each other, at most.

    The sum reaches the sum of several thresholds only if one of the estimates reaches its own.
    """

    laws: tuple[Unheld, ...]

    @property
    def steps(self) -> Floats | float:
        """Distance between possible estimates."""
        return self.laws[0].steps

    def picked(self, order: npt.NDArray[np.intp]) -> Added:
        """The law for some of the items."""
        return Added(tuple(law.picked(order) for law in self.laws))

    def scaled(self, factor: float) -> Added:
        """The law of estimates times a factor that is not negative."""
        return Added(tuple(law.scaled(factor) for law in self.laws))

    def least(self, chances: Floats) -> Floats:
        """Smallest sums that an item without holders reaches with at most the given chances."""
        return np.asarray(sum(law.least(chances / len(self.laws)) for law in self.laws))


def added(laws: tuple[Unheld, ...], *, shared: bool) -> Unheld:
    """The law of the sum of estimates; ``shared``: some of them have the same hash functions."""
    first, *rest = laws
    if shared or not isinstance(first, Collisions):
        return Added(laws)
    for law in rest:
        if not isinstance(law, Collisions):
            return Added(laws)
        first = first + law
    return first


def pooled(table: Table) -> tuple[RandomCell, float]:
    """The random cell of a table, whatever its row, minus the mean of its row; and the sum of these means."""
    means = table.mean(axis=1, keepdims=True)
    total, draws = float(means.sum()), len(table)
    if table.size <= _POINTS:
        return RandomCell(
            np.asarray((table - means).ravel(), dtype=np.float64), np.full(table.size, 1 / table.size), draws
        ), total
    lowest = float((table.min(axis=1, keepdims=True) - means).min())
    step = (float((table.max(axis=1, keepdims=True) - means).max()) - lowest) / _POINTS
    if step <= 0:
        return RandomCell(np.zeros(1), np.ones(1), draws), total
    # A value counts for both of its neighbours on the grid, so that the mean stays and the tails are not understated.
    chances = np.zeros(_POINTS + 2)
    rows = max(1, _AT_ONCE // table.shape[1])
    for start in range(0, draws, rows):
        places = ((table[start : start + rows] - means[start : start + rows] - lowest) / step).ravel()
        whole = np.clip(places, 0, _POINTS).astype(np.int64)
        part = np.clip(places - whole, 0.0, 1.0)
        chances += np.bincount(whole, 1 - part, minlength=_POINTS + 2)
        chances += np.bincount(whole + 1, part, minlength=_POINTS + 2)
    kept = np.flatnonzero(chances)
    values = lowest + step * kept.astype(np.float64)
    return RandomCell(values, chances[kept] / chances.sum(), draws), total


def _counted(table: Floats) -> tuple[Floats, Floats]:
    # The different values of the cells of a table, ascending, rounded up if they are many, and their shares.
    lowest, highest = float(table.min()), float(table.max())
    if table.size <= _GRID or highest == lowest:
        values, numbers = np.unique(table, return_counts=True)
        return np.asarray(values, dtype=np.float64), numbers / table.size
    step, rows, counts = (highest - lowest) / _GRID, max(1, _AT_ONCE // table.shape[1]), np.zeros(_GRID + 2)
    for start in range(0, len(table), rows):
        places = np.ceil((table[start : start + rows] - lowest) / step).astype(np.int64).ravel()
        counts += np.bincount(places, minlength=_GRID + 2)
    return lowest + step * np.arange(_GRID + 2, dtype=np.float64), counts / table.size
