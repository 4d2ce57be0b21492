"""The linear system of a tree: blocks of nested widths at one offset, solved from the leaves to the root.

Within a block, the matrix is that of its children, side by side, plus a multiple of the matrix of ones: one level more
is one correction by the rule of Sherman and Morrison. So any question takes a few additions an item and level. The
solution of a question about one item, or about a prefix, differs from a multiple of a known one only along the path
from a leaf to the root. So all of them together take no longer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from ..core.laws import Floats
from .system import System, Width
from .windows import Windows


@dataclass(frozen=True)
class Aligned(Windows):
    """The blocks of one level of a tree: windows at one offset only."""

    @property
    def step(self) -> int:
        return self.width


class _Level(NamedTuple):
    # One level of blocks: the sums over each of the solution for ones within the blocks below, and within the block;
    # the second is the first divided by ``shrunk``.
    width: Width
    windows: Windows
    strength: float
    below: Floats
    within: Floats
    shrunk: Floats


@dataclass(frozen=True)
class Nested(System):
    """The levels of a tree, from the leaves up, and the equations between the counts of items and all reports."""

    def solve(self, rows: Floats) -> Floats:
        solved = rows / self._levels[0].strength
        even = np.full(self.length, 1 / self._levels[0].strength)
        for level in self._levels[1:]:
            windows = level.windows
            solved -= even * windows.spread(level.strength * windows.sums(solved) / level.shrunk)
            even /= windows.spread(level.shrunk)
        return solved

    @cached_property
    def _levels(self) -> tuple[_Level, ...]:
        levels: list[_Level] = []
        even = np.zeros(0)
        for width in self.widths:
            windows, strength = width.windows, width.weight * width.share
            if not levels:
                even = np.full(self.length, 1 / strength)
                levels.append(_Level(width, windows, strength, even, even, np.ones(self.length)))
                continue
            below = windows.sums(even)
            shrunk = 1 + strength * below
            levels.append(_Level(width, windows, strength, below, below / shrunk, shrunk))
            even = even / windows.spread(shrunk)
        return tuple(levels)

    @cached_property
    def items(self) -> Paths:
        """The questions about single items."""
        return Paths(self, "items")

    @cached_property
    def prefixes(self) -> Paths:
        """The questions about all items up to each place."""
        return Paths(self, "prefixes")

    def variances(self, counts: Floats, n: int) -> Floats:
        """Variance of the estimated count of each item."""
        return self.items.variance(counts, n)

    def own_variances(self) -> Floats:
        """Variance of the estimated count of each item in a crowd of one user, who has that item."""
        return self.items.own()


@dataclass(frozen=True)
class Paths:
    """One question for each place of a tree: the item there, or all items up to there.

    On a block beside the path from the place to the root, its solution is a multiple of the solution for ones within
    that block: by 1 - ``taken`` before the place if the question is about a prefix, by -``taken`` elsewhere.
    """

    system: Nested
    kind: Literal["items", "prefixes"]

    @cached_property
    def _solved(self) -> tuple[list[Floats], list[Floats]]:
        # Level by level and for each place: sums of the solution over the block on the path, and what is taken away.
        levels, place = self.system._levels, np.arange(self.system.length)
        total = levels[0].within
        totals, corrections = [total], []
        for lower, upper in pairwise(levels):
            own = place // upper.windows.width
            held = total + self._before(lower, lower.within, upper)[place // lower.windows.width]
            total = held / upper.shrunk[own]
            totals.append(total)
            corrections.append(upper.strength * total)
        top = levels[-1]
        held = total + self._before(top, top.within, None)[place // top.windows.width]
        taken = [held / top.within.sum()]
        for upper, correction in zip(levels[:0:-1], corrections[::-1], strict=True):
            taken.append(correction + taken[-1] / upper.shrunk[place // upper.windows.width])
        taken.reverse()
        sums = [
            total - away * level.within[place // level.windows.width]
            for level, total, away in zip(levels, totals, taken, strict=True)
        ]
        return sums, taken

    @property
    def level(self) -> Floats:
        """Level of the question at each place."""
        return self._solved[1][-1]

    def _before(self, lower: _Level, numbers: Floats, upper: _Level | None) -> Floats:
        # Sums of the numbers of those siblings of each block that lie before it and are asked about.
        if self.kind == "items":
            return np.zeros(len(numbers))
        return _sums_before(lower, numbers, upper)

    def own(self) -> Floats:
        """Variance at each place in a crowd of one user, who has the item there."""
        fixed = self._noise(np.zeros(self.system.length), 1)
        for level, sums in zip(self.system._levels, self._solved[0], strict=True):
            fixed += level.width.weight**2 * level.width.share * level.width.own * sums**2
        return np.asarray(fixed - (1 - self.level) ** 2)

    def variance(self, counts: Floats, n: int) -> Floats:
        """Variance of the answer at each place, in a crowd with these counts."""
        inside = np.cumsum(counts) if self.kind == "prefixes" else counts
        own = inside * (1 - self.level) ** 2 + (counts.sum() - inside) * self.level**2
        return np.asarray(np.maximum(self._noise(counts, n) - own, 0.0))

    def _noise(self, counts: Floats, n: int) -> Floats:
        # Each block adds its own noise times the square of its sum. ``inner``: that of all blocks within a block, if
        # the solution is the one for ones.
        levels, place = self.system._levels, np.arange(self.system.length)
        noise, inner = np.zeros(self.system.length), np.zeros(self.system.length)
        for i, (level, sums, taken) in enumerate(zip(levels, *self._solved, strict=True)):
            width, block = level.width, place // level.windows.width
            own = width.weight**2 * width.share * (n * width.noise + width.own * level.windows.sums(counts))
            noise += own[block] * sums**2
            inner = own * level.within**2 + (inner / level.shrunk**2 if i else 0.0)
            upper = levels[i + 1] if i + 1 < len(levels) else None
            asked, beside = self._before(level, inner, upper), _sums_within(level, inner, upper) - inner
            noise += (1 - taken) ** 2 * asked[block] + taken**2 * (beside - asked)[block]
            inner = _sums_by(level, inner, upper)
        return noise


def _children(lower: _Level, upper: _Level | None) -> int:
    # Number of blocks within one block of the next level; the last level is within the root.
    return upper.windows.width // lower.windows.width if upper else lower.windows.blocks


def _sums_by(lower: _Level, numbers: Floats, upper: _Level | None) -> Floats:
    return np.add.reduceat(numbers, np.arange(0, len(numbers), _children(lower, upper)))


def _sums_within(lower: _Level, numbers: Floats, upper: _Level | None) -> Floats:
    # The sum over each block and its siblings.
    return np.repeat(_sums_by(lower, numbers, upper), _children(lower, upper))[: len(numbers)]


def _sums_before(lower: _Level, numbers: Floats, upper: _Level | None) -> Floats:
    # The sum over the siblings before each block.
    children = _children(lower, upper)
    padded = np.zeros(-(-len(numbers) // children) * children)
    padded[: len(numbers)] = numbers
    rows = padded.reshape(-1, children)
    return np.asarray((np.cumsum(rows, axis=1) - rows).reshape(-1)[: len(numbers)])
