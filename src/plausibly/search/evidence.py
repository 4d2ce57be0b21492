"""The decoded reports of TRELLIS's groups: all the evidence that its decoder uses."""

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
"""Strings as rows of symbols; 0 is the pad, and only pads follow it."""

Places = Callable[[int, Symbols], tuple[Numbers, Numbers]]
"""(level, parent prefixes) -> first cell of each parent's block and its rotation, both [cohort, parent]."""

_NOTHING = 1e6
"""Variance, in units of n², that makes an estimate worthless: that of a group without users."""


@dataclass(frozen=True, eq=False)
class Text:
    """Statistics of ordinary text in an alphabet."""

    letters: Floats
    """[symbol]: share of each symbol, without the pad."""
    ratios: Floats
    """[symbol, next symbol]: frequency of the pair, relative to independent symbols."""


@dataclass(frozen=True, eq=False)
class Level:
    """Estimates of one folded level, whose users report a cell for their prefix of ``length`` symbols.

    The last ``step`` symbols of a prefix, as a number in base A, are its place among its siblings; the symbols before
    them choose a block and a rotation. Child c of a parent is cell start + (c + rotation) mod ``block``.
    """

    length: int
    step: int
    block: int
    tables: Floats32
    """[cohort, cell]: count of each cell, scaled up to all users, minus n/cells."""
    variance: float
    """Variance of one cell without holders in one cohort, on the same scale."""
    users: int
    """Number of users in all cohorts together."""
    third: float = 0.0
    """Third moment of one cell without holders in one cohort, on the same scale."""
    jump: float = 0.0
    """How much a report changes the count of a cell that it supports, on the same scale."""

    @property
    def pooled(self) -> float:
        """Variance of a level's evidence if all cohorts are averaged."""
        return self.variance / len(self.tables)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Estimates of all groups, scaled up to all n users; groups are independent, and so are the cells of a table."""

    symbols: int
    """Number of symbols A, the pad included."""
    length: int
    n: int
    start: int
    """Length of the prefixes counted in ``first``."""
    letters: Floats
    """[position, symbol]: share of users with each symbol."""
    letters_variance: Floats
    """[position]: variance of the shares in ``letters``."""
    pairs: Floats | None
    """[position, symbol, next symbol]: share of users with each pair; None if no group reported pairs."""
    pairs_variance: Floats | None
    first: Floats32
    """Count of each prefix of ``start`` symbols, indexed by its number in base A."""
    first_variance: float
    first_users: int
    levels: tuple[Level, ...]
    places: Places
    first_third: float = 0.0
    """Third moment and change by a report for the counts in ``first``, as for a level."""
    first_jump: float = 0.0
    text: Text | None = None
    """Statistics of ordinary text in this alphabet, or None if it is not an alphabet for words."""

    def noise(self, variance: float) -> float:
        """Variance of the evidence, made finite if nobody reported."""
        return float(min(variance, _NOTHING * (self.n + 1.0) ** 2))

    def drawn(self, level: int) -> float:
        """Sampling variance of the evidence per holder: a group (0: the first) has a random part of the holders."""
        users = self.levels[level - 1].users if level else self.first_users
        return max(self.n, 1) / max(users, 1) - 1.0

    def first_whole(self, strings: Symbols) -> Numbers:
        """First level of evidence (0 is ``first``) that includes the end of each string; all later ones do, too."""
        ends = np.array([self.start, *(level.length for level in self.levels)])
        lengths = np.count_nonzero(strings, axis=1)
        shorter: Numbers = np.count_nonzero(ends[None] <= lengths[:, None], axis=1)
        return np.minimum(shorter, len(self.levels))


def numbers(strings: Symbols, first: int, last: int, symbols: int) -> Numbers:
    """Numbers that index the evidence: symbols first..last−1 of each string in base ``symbols``."""
    return symbol_numbers(strings[:, first:last], symbols).view(np.int64)


def digits(number: Numbers, count: int, symbols: int) -> Symbols:
    """The ``count`` symbols behind each number that indexes the evidence: the inverse of ``numbers``."""
    return symbol_rows(number, symbols, count, np.uint16)
