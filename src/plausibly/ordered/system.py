"""The linear system of SLIDE: what the reports of all widths say together about the counts of items in order.

Let e be the unbiased counts of the blocks at one offset of one width, from its own reports. The score of an item adds
up, over all widths and offsets, the weighted counts of the blocks that contain it. Its expectation is K f, where f are
the counts of the items and K[x, y] is a weighted share of the users for whom x and y are in one block. A question with
weights c is answered by n*level + z'score, where c = K z + level*1 and the z add up to 0: unbiased, whatever the
weights of the widths. Derivation of the variance: docs/adr/0033-slide.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..core.laws import Floats
from .windows import Windows

_TOLERANCE = 1e-11
_SIX_DIGITS = 1e-7
_MOST_STEPS = 200
DENSE = 1024
"""Number of items up to which the system is solved directly for all items at once."""


@dataclass(frozen=True)
class Width:
    """The windows of one width, the share of the users who report through them, and the noise of their oracle.

    ``noise``: what a report adds to the variance of a contrast of blocks, for each squared coefficient; ``own``: what
    it adds for the coefficient of its user's block, beyond that.
    """

    windows: Windows
    share: float
    noise: float
    own: float

    @property
    def weight(self) -> float:
        """Weight of the counts of this width's blocks in the scores: the inverse of their variance for even data."""
        return 1 / (self.noise + self.own * self.windows.width / self.windows.length)

    @property
    def per_offset(self) -> float:
        """Share of the users who report through one offset of this width."""
        return self.share / self.windows.offsets


class Questions(NamedTuple):
    """Linear questions, one a row, and the law of their answers.

    ``weights`` = K ``solved`` + ``level``. The variance is n*``fixed`` plus, for each user, ``held`` of the item less
    the square of its weight without the level.
    """

    weights: Floats
    solved: Floats
    level: Floats
    fixed: Floats
    held: Floats

    def values(self, scores: Floats, n: int) -> Floats:
        """Unbiased answers to the questions, from the scores of the items."""
        return n * self.level + self.solved @ scores

    def variance(self, counts: Floats, n: int) -> Floats:
        """Variances of the answers to the questions in a crowd with these counts."""
        own = self.held - (self.weights - self.level[:, None]) ** 2
        return np.maximum(n * self.fixed + own @ counts, 0.0)


@dataclass(frozen=True)
class System:
    """The widths of SLIDE, and the equations between the counts of items and the scores of all reports.

    ``other``: whether one more item, the last, has no place in the order; it is a block of its own at every offset.
    """

    widths: tuple[Width, ...]
    length: int
    other: bool

    @property
    def size(self) -> int:
        """Number of items in the system."""
        return self.length + self.other

    def kernel(self, values: Floats) -> Floats:
        """K times the values, along the last axis."""
        product = np.zeros(values.shape)
        for width in self.widths:
            windows, factor = width.windows, width.weight * width.per_offset
            product[..., : self.length] += factor * windows.spread(windows.sums(values[..., : self.length]))
        if self.other:
            product[..., -1] = self._alone * values[..., -1]
        return product

    @property
    def _alone(self) -> float:
        # The diagonal element of the item outside the order.
        return sum(width.weight * width.share for width in self.widths)

    def solve(self, rows: Floats) -> Floats:
        """The solution z of K z = row for each row."""
        if self.length <= DENSE:
            return rows @ self._inverse
        return self._conjugate_gradients(rows)

    @cached_property
    def _inverse(self) -> Floats:
        # Symmetric, positive definite, and well conditioned, because some users report the item itself.
        return np.asarray(np.linalg.inv(self.kernel(np.eye(self.size))), dtype=np.float64)

    def _conjugate_gradients(self, rows: Floats, tolerance: float = _TOLERANCE) -> Floats:
        solution, residual = np.zeros(rows.shape), rows.copy()
        conditioned = self._conditioned(residual)
        direction, gain = conditioned, _products(residual, conditioned)
        least = tolerance**2 * _products(rows, rows)
        for _ in range(_MOST_STEPS):
            if np.all(_products(residual, residual) <= least):
                return solution
            image = self.kernel(direction)
            # A row that is solved already has no direction left.
            length = gain / np.maximum(_products(direction, image), np.finfo(np.float64).tiny)
            solution += length[:, None] * direction
            residual -= length[:, None] * image
            conditioned = self._conditioned(residual)
            before, gain = gain, _products(residual, conditioned)
            direction = conditioned + (gain / np.maximum(before, np.finfo(np.float64).tiny))[:, None] * direction
        raise ArithmeticError("the equations of SLIDE were not solved; report this as a defect")

    def _conditioned(self, rows: Floats) -> Floats:
        # T. Chan's circulant matrix, the nearest to K, is inverted by Fourier transforms.
        found = np.empty(rows.shape)
        spectrum = np.fft.rfft(rows[:, : self.length], axis=1) / self._spectrum
        found[:, : self.length] = np.fft.irfft(spectrum, self.length, axis=1)
        if self.other:
            found[:, -1] = rows[:, -1] / self._alone
        return found

    @cached_property
    def _spectrum(self) -> Floats:
        distance = np.arange(self.length)
        column = np.zeros(self.length)
        for width in self.widths:
            column += width.weight * width.share * np.maximum(0.0, 1 - distance / width.windows.width)
        wrapped = np.concatenate([column[:1], column[:0:-1]])
        circulant = ((self.length - distance) * column + distance * wrapped) / self.length
        return np.asarray(np.fft.rfft(circulant).real, dtype=np.float64)

    @property
    def level(self) -> Floats:
        """Level of the question about each single item: 1'K^-1, scaled to add up to 1."""
        level: Floats = self._even / self._even.sum()
        return level

    def prepare(self) -> None:
        """Compute what all questions share, before several threads ask."""
        _ = self._even

    @cached_property
    def _even(self) -> Floats:
        even: Floats = self.solve(np.ones((1, self.size)))[0]
        return even

    def ask(self, weights: Floats) -> Questions:
        """Linear questions with these weights, one a row, and the law of their answers."""
        level = weights @ self.level
        return self.solved_by(weights, self.solve(weights) - level[:, None] * self._even, level)

    def solved_by(self, weights: Floats, solved: Floats, level: Floats) -> Questions:
        """Linear questions whose solution is known, and the law of their answers."""
        fixed, held = np.zeros(len(weights)), np.zeros(weights.shape)
        for width in self.widths:
            windows, factor = width.windows, width.weight**2 * width.per_offset
            squares = windows.sums(solved[:, : self.length]) ** 2
            fixed += factor * width.noise * squares.sum(axis=1)
            held[:, : self.length] += factor * width.own * windows.spread(squares)
            if self.other:
                alone = width.weight**2 * width.share * solved[:, -1] ** 2
                fixed += width.noise * alone
                held[:, -1] += width.own * alone
        return Questions(weights, solved, level, fixed, held)

    def counts(self, scores: Floats, n: int) -> Floats:
        """Unbiased counts of all items, which add up to n."""
        solved: Floats = self.solve(scores[None])[0]
        return np.asarray(solved + (n - solved.sum()) / self._even.sum() * self._even)


@dataclass(frozen=True)
class FewQuestions(System):
    """The same equations, solved for each question by itself, and to six digits only: for the laws of a few."""

    def solve(self, rows: Floats) -> Floats:
        return self._conjugate_gradients(rows, _SIX_DIGITS)


def _products(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", one, other))
