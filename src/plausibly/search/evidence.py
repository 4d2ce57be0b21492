"""What the groups of a search have reported, decoded: everything that the hunt for heavy strings may look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..core.domain.symbols import symbol_numbers, symbol_rows

Floats = npt.NDArray[np.float64]
Floats32 = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int64]
Symbols = npt.NDArray[np.uint16]
"""Strings as rows of symbols: 0 pads, and nothing else follows it."""

Places = Callable[[int, Symbols], tuple[Numbers, Numbers]]
"""(level, parent prefixes) -> first cell of each parent's block and its rotation, both [cohort, parent]."""

_NOTHING = 1e6
"""Variance, in n², from which on an estimate says nothing: what a group without users is taken to have."""


@dataclass(frozen=True, eq=False)
class Text:
    """What ordinary text in some alphabet is like."""

    letters: Floats
    """[symbol]: their shares; without the pad."""
    ratios: Floats
    """[symbol, next symbol]: how much more often they follow each other than by chance."""


@dataclass(frozen=True, eq=False)
class Level:
    """Estimates of one folded level: its users report a cell for their prefix of ``length`` symbols.

    The last ``step`` symbols of a prefix, as a number in base A, are its place among its siblings; the symbols before
    them choose a block and a rotation. Child c of a parent is cell start + (c + rotation) mod ``block``.
    """

    length: int
    step: int
    block: int
    tables: Floats32
    """[cohort, cell]: the count of each cell, scaled to all users, with n/cells taken off."""
    variance: float
    """Of one cell of one cohort that nobody holds, on the same scale."""
    users: int
    """Of all cohorts together."""

    @property
    def pooled(self) -> float:
        """The variance of the mean of all cohorts."""
        return self.variance / len(self.tables)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Estimates of all groups, scaled to all n users. They are independent, and so are the cells of one table."""

    symbols: int
    """A, the pad included."""
    length: int
    n: int
    start: int
    """The length of the prefixes of ``first``."""
    letters: Floats
    """[position, symbol]: the share of users with each symbol."""
    letters_variance: Floats
    """Of the shares at each position."""
    pairs: Floats | None
    """[position, symbol, next symbol]: shares, if a group reported pairs."""
    pairs_variance: Floats | None
    first: Floats32
    """The count of each prefix of ``start`` symbols, by its number in base A."""
    first_variance: float
    first_users: int
    levels: tuple[Level, ...]
    places: Places
    text: Text | None = None
    """What ordinary text in this alphabet is like, if it has one."""

    def noise(self, variance: float) -> float:
        """The variance, finite even if nobody reported."""
        return float(min(variance, _NOTHING * (self.n + 1.0) ** 2))

    def drawn(self, level: int) -> float:
        """Variance for each holder of a string, because a group (0: the first) has only a random part of them."""
        users = self.levels[level - 1].users if level else self.first_users
        return max(self.n, 1) / max(users, 1) - 1.0

    def first_whole(self, strings: Symbols) -> Numbers:
        """The first level (0 is ``first``) whose prefix shows each string with its end; all later ones do as well."""
        ends = np.array([self.start, *(level.length for level in self.levels)])
        lengths = np.count_nonzero(strings, axis=1)
        shorter: Numbers = np.count_nonzero(ends[None] <= lengths[:, None], axis=1)
        return np.minimum(shorter, len(self.levels))


def numbers(strings: Symbols, first: int, last: int, symbols: int) -> Numbers:
    """Symbols first..last−1 of each string as a number in base ``symbols``."""
    return symbol_numbers(strings[:, first:last], symbols).view(np.int64)


def digits(number: Numbers, count: int, symbols: int) -> Symbols:
    """The inverse of ``numbers``: the ``count`` symbols of each number."""
    return symbol_rows(number, symbols, count, np.uint16)
