"""Linear questions about counts: sums of counts of items with given weights, with their exact variances."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .laws import Decoder, Estimator, Floats, VarianceLaw


class Linear(ABC):
    """Answers to linear questions about the counts of all items, from one tally.

    A question has one weight for each item of the domain. Its answer, the sum of the weights times the counts, is
    unbiased, and so is its stated variance.
    """

    @abstractmethod
    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        """Answers to linear questions, one per row of weights, and their variances."""

    def prefixes(self, length: int) -> tuple[Floats, Floats]:
        """The counts of the first 1, 2, … ``length`` items together, and their variances."""
        questions = np.zeros((length, self.size))
        questions[:, :length] = np.tri(length)
        return self.weighted(questions)

    def range_variance(self, length: int) -> float:
        """Mean variance over all ranges of the first ``length`` items, single items and the whole included.

        A range is the difference of two prefixes, of which the empty one has no variance. The variances of all
        differences add up to the number of prefixes times the sum of theirs, less that of their sum.
        """
        total = float(self.prefixes(length)[1].sum())
        return range_variance(total, self.prefix_sum_variance(length), length)

    def prefix_sum_variance(self, length: int) -> float:
        """Variance of the sum of the linear questions about the first 1, 2, … ``length`` items together."""
        weights = np.zeros((1, self.size))
        weights[0, :length] = np.arange(length, 0, -1)
        return float(self.weighted(weights)[1][0])

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of items that the linear questions are about."""


def range_variance(total: float, of_sum: float, length: int) -> float:
    """Mean variance of linear questions about all ranges, from the total variance of prefixes and that of their sum."""
    return ((length + 1) * total - of_sum) / (length * (length + 1) / 2)


@runtime_checkable
class KnowsLinear(Protocol):
    """A decoder with an exact law for every linear question, not only for the counts of single items."""

    def linear(self, evidence: Any, n: Any, /) -> Linear:
        """Answers to linear questions from the evidence of an accumulator."""
        ...


@runtime_checkable
class PredictsLinear(Protocol):
    """A decoder that knows the law of linear questions before there is a tally."""

    def predicted(self, counts: Floats, n: int, /) -> Linear:
        """The answers to linear questions without noise, in a crowd with these counts, with their variances."""
        ...


@dataclass(frozen=True, eq=False)
class OfOracle(Linear):
    """Answers to linear questions from the counts of an oracle with a joint law of its items.

    A report of another user adds noise with variance V to the count of every item, and covariance C to any two. The
    noise of a holder of an item differs by h at that item, and by c in its covariances with others.
    """

    counts: Floats
    n: int
    law: VarianceLaw

    @property
    def size(self) -> int:
        return len(self.counts)

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        values, squares = weights @ self.counts, weights**2
        return values, self._variance(weights.sum(axis=1), squares.sum(axis=1), values, squares @ self.counts)

    def prefixes(self, length: int) -> tuple[Floats, Floats]:
        numbers = np.arange(1, length + 1, dtype=np.float64)
        values = np.cumsum(self.counts[:length])
        # All weights are 0 or 1, so that their squares are themselves, and all three sums are known.
        return values, self._variance(numbers, numbers, values, values)

    def _variance(self, totals: Floats, squares: Floats, values: Floats, held: Floats) -> Floats:
        law = self.law
        shared, with_own = (float(each) for each in law.covariance)
        variance = self.n * ((float(law.per_report) - shared) * squares + shared * totals**2)
        variance += float(law.per_holder) * held + 2 * with_own * (totals * values - held)
        return np.maximum(variance, 0.0)


@dataclass(frozen=True, eq=False)
class Added(Linear):
    """Answers to linear questions about the counts of several crowds together, from independent reports."""

    parts: tuple[Linear, ...]

    @property
    def size(self) -> int:
        return self.parts[0].size

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        return _summed([part.weighted(weights) for part in self.parts])

    def prefixes(self, length: int) -> tuple[Floats, Floats]:
        return _summed([part.prefixes(length) for part in self.parts])


def _summed(answers: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    values, variances = (np.sum(each, axis=0) for each in zip(*answers, strict=True))
    return values, variances


def linear_of(decoder: Decoder, evidence: Any, n: Any, counts: Floats) -> Linear | None:
    """Answers to linear questions from the evidence of an accumulator, or None if the decoder has no law for them.

    ``counts``: the decoder's estimates of all items.
    """
    if isinstance(decoder, KnowsLinear):
        return decoder.linear(evidence, n)
    return _of_oracle(decoder, counts, int(np.sum(n)))


def predicted_of(decoder: Decoder, counts: Floats, n: int) -> Linear | None:
    """The law of linear questions in a crowd with these counts, or None if the decoder has none."""
    if isinstance(decoder, PredictsLinear):
        return decoder.predicted(counts, n)
    return _of_oracle(decoder, counts, n)


def _of_oracle(decoder: Decoder, counts: Floats, n: int) -> Linear | None:
    law = decoder.law if isinstance(decoder, Estimator) else None
    if law is None or law.hashed or not law.joint:
        return None
    return OfOracle(counts, n, law)
