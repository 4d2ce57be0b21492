"""The Haar transform of counts and of linear questions about them: differences between the halves of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core.laws import Floats
from ..core.levers import Reach
from ..core.walsh import walsh


@dataclass(frozen=True)
class Halves:
    """The Haar transform of linear questions about ``size`` items, and the law of their answers.

    ``noise``: for each level, the share of the users who report through it, and the size of an unbiased sign. If the
    right half of a block has no items, its left half is the whole, and its coefficient is not used.
    """

    noise: tuple[tuple[float, float], ...]
    size: int

    def transformed(self, weights: Floats) -> tuple[list[Floats], Floats]:
        """The coefficients of questions at each level, one question a row, and the level of each question."""
        coefficients = []
        for _ in self.noise:
            if weights.shape[1] % 2:
                weights = np.concatenate([weights, weights[:, -1:]], axis=1)
            left, right = weights[:, ::2], weights[:, 1::2]
            coefficients.append((left - right) / 2)
            weights = (left + right) / 2
        return coefficients, weights[:, 0]

    def counts(self, differences: Sequence[Floats], n: int) -> Floats:
        """The counts of all items, from the estimated differences of the halves of all blocks."""
        sizes = [self.size]
        for _ in self.noise:
            sizes.append(-(-sizes[-1] // 2))
        counts = np.array([float(n)])
        for own, size in zip(reversed(differences), sizes[-2::-1], strict=True):
            halves = np.stack([counts + own, counts - own], axis=1) / 2
            if size % 2:
                halves[-1] = counts[-1]
            counts = halves.reshape(-1)[:size]
        return counts

    def variance(self, weights: Floats, counts: Floats, n: int) -> Floats:
        """Variances of the answers to linear questions, one a row."""
        coefficients, level = self.transformed(weights)
        squares = [(own**2).sum(axis=1) for own in coefficients]
        return self._less_own(self._weighed(squares), ((weights - level[:, None]) ** 2) @ counts, n)

    def _weighed(self, squares: Sequence[Floats]) -> Floats:
        # What a user adds to the variance: an unbiased sign has a known square, whatever the user's item.
        parts = [scale**2 / share * own for (share, scale), own in zip(self.noise, squares, strict=True)]
        return np.asarray(sum(parts))

    @staticmethod
    def _less_own(fixed: Floats, own: Floats, n: int) -> Floats:
        return np.maximum(n * fixed - own, 0.0)

    def path(self, prefixes: bool) -> tuple[list[Floats], Floats]:
        """For each item, or each prefix: the only coefficient at each level that is not 0, and the level."""
        child, weight, count = np.arange(self.size), np.ones(self.size), self.size
        coefficients = []
        for _ in self.noise:
            beside = np.where(child % 2 == 1, float(prefixes), 0.0)
            # Without a right half, the weight of the left half is that of the block.
            beside = np.where((child ^ 1) < count, beside, weight)
            coefficients.append((weight - beside) / 2)
            weight = (weight + beside) / 2
            child, count = child // 2, -(-count // 2)
        return coefficients, weight

    def along(self, prefixes: bool, counts: Floats, n: int) -> Floats:
        """Variances of all items, or of all prefixes."""
        coefficients, level = self.path(prefixes)
        inside = np.cumsum(counts) if prefixes else counts
        own = inside * (1 - level) ** 2 + (counts.sum() - inside) * level**2
        return self._less_own(self._weighed([each**2 for each in coefficients]), own, n)

    def variances(self, counts: Floats, n: int) -> Floats:
        """Variance of the estimated count of each item."""
        return self.along(False, counts, n)

    def own_variances(self) -> Floats:
        """Variance of the estimated count of each item in a crowd of one user, who has that item."""
        coefficients, level = self.path(False)
        return self._less_own(self._weighed([each**2 for each in coefficients]), (1 - level) ** 2, 1)

    def leverage(self, weights: Floats) -> Reach:
        """Exactly the least and most that one report adds to linear questions, one a row.

        A report adds its sign to every block of its level, with the signs of its row of the Hadamard matrix.
        """
        coefficients, level = self.transformed(weights)
        most = np.zeros(len(weights))
        for (share, scale), own in zip(self.noise, coefficients, strict=True):
            bits = max(1, (own.shape[1] - 1).bit_length())
            most = np.maximum(most, np.abs(walsh(own, bits)).max(axis=1) * scale / share)
        return Reach(level - most, level + most)

    def contribution(self) -> tuple[float, float]:
        """Bounds of what one report adds to the count of an item."""
        coefficients, level = self.path(False)
        most = np.zeros(self.size)
        for (share, scale), own in zip(self.noise, coefficients, strict=True):
            most = np.maximum(most, np.abs(own) * scale / share)
        return float((level - most).min()), float((level + most).max())
