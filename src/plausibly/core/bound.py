"""The least possible variance of linear questions: a bound that holds for every locally private protocol.

Let W = C'C / rows, where the rows of C are the questions' weights, each less its mean. The mean variance of unbiased
answers, per user and for users who are spread evenly over d items, is at least

    V* (tr W^(1/2))^2 / d - tr W / d,    V* = 4 e^eps / (e^eps - 1)^2,

because the Fisher information of one report about the counts has a trace of at most d/V* (docs/adr/0033-slide.md). The
number of users is known, hence the means drop out; the second term is the variance that the sample itself would have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import expm1, prod

import numpy as np

from .laws import Floats

_STEP = 0.1
"""Step of the integral over logarithms; smaller ones change no digit that a double has."""


def best_noise(epsilon: float) -> float:
    """V*, the least possible variance of a single count, per report of a user who has another item.

    >>> round(best_noise(1.0), 4)
    3.6827
    """
    gap = expm1(epsilon)
    return 4 * (gap + 1) / gap**2


@dataclass(frozen=True)
class Workload:
    """Linear questions about ``length`` items, as far as the least possible variance depends on them.

    ``roots`` and ``total`` are the traces of W^(1/2) and of W.

    >>> round(Workload.of_prefixes(256).bound(1.0) / best_noise(1.0), 2)
    4.07
    """

    length: int
    roots: float
    total: float

    def bound(self, epsilon: float) -> float:
        """The least possible mean variance of the answers, per user, if the users are spread evenly."""
        least = best_noise(epsilon) * self.roots**2 / self.length - self.total / self.length
        return max(0.0, least)

    @staticmethod
    def of_points(length: int) -> Workload:
        """The counts of all single items."""
        return Workload(length, (length - 1) / length**0.5, (length - 1) / length)

    @staticmethod
    def of_tables(sizes: Sequence[int], attributes: int = 2) -> Workload:
        """The cells of all tables of this number of attributes, which have these sizes; every table counts equally.

        W has one eigenvalue for each component of the tables, with as many dimensions as the product of the sizes of
        its attributes, each less 1. They are given in units of the number of records, which may be astronomical.

        >>> workload = Workload.of_tables([2] * 8)
        >>> round((workload.bound(1.0) / 200_000) ** 0.5, 5)
        0.00992
        """
        places = range(len(sizes))
        tables = list(combinations(places, attributes))
        means: dict[tuple[int, ...], float] = {}
        for table in tables:
            cells = prod(sizes[j] for j in table)
            for count in range(1, attributes + 1):
                for kept in combinations(table, count):
                    means[kept] = means.get(kept, 0.0) + 1 / cells**2 / len(tables)
        dimensions = {kept: prod(sizes[j] - 1 for j in kept) for kept in means}
        roots = sum(dimensions[kept] * mean**0.5 for kept, mean in means.items())
        return Workload(1, roots, sum(dimensions[kept] * mean for kept, mean in means.items()))

    @staticmethod
    def of_prefixes(length: int) -> Workload:
        """The counts of the first 1, 2, …, length - 1 items: the distribution function."""
        roots = _roots_of_prefixes(length)
        rows = length - 1
        return Workload(length, float(roots.sum()) / rows**0.5, float((roots**2).sum()) / rows)

    @staticmethod
    def of_ranges(length: int) -> Workload:
        """The counts of all ranges of neighbouring items, single items and the whole included."""
        # Summed over pairs of ends, W is (length+1) times that of the prefixes less the square of their sum, which is
        # linear in the place. In the eigenvectors of the prefixes, cosines, only odd numbers have a part in it.
        squares = _roots_of_prefixes(length) ** 2
        eigenvalues = (length + 1) * squares
        sum_of_prefixes = 8 / length * squares * (squares - 0.25)
        sum_of_prefixes[1::2] = 0.0
        roots = float(np.sqrt(eigenvalues).sum()) + _change_of_roots(eigenvalues, sum_of_prefixes)
        total = float(eigenvalues.sum()) - float(sum_of_prefixes.sum())
        rows = length * (length + 1) / 2
        return Workload(length, roots / rows**0.5, total / rows)

    @staticmethod
    def of_weights(weights: Floats) -> Workload:
        """Questions with these weights, one a row; the mean of a scale is the one row of its points."""
        centred = weights - weights.mean(axis=1, keepdims=True)
        roots = np.linalg.svd(centred, compute_uv=False)
        rows = len(weights)
        return Workload(weights.shape[1], float(roots.sum()) / rows**0.5, float((roots**2).sum()) / rows)


def _roots_of_prefixes(length: int) -> Floats:
    # The centred prefixes are the pseudo-inverse of differences of neighbours, whose singular values are known.
    return np.asarray(0.5 / np.sin(np.arange(1, length) * (np.pi / (2 * length))))


def _change_of_roots(eigenvalues: Floats, squares: Floats) -> float:
    # tr (A - ss')^(1/2) - tr A^(1/2) for a diagonal A, s given by its squares: 1/(2 pi) times the integral over t > 0
    # of log(1 - s'(A + t)^-1 s) / sqrt(t), by the determinants of both matrices plus t.
    low, high = float(np.log(eigenvalues.min())), float(np.log(eigenvalues.max()))
    change = 0.0
    for place in np.arange(low - 80.0, high + 80.0, _STEP):
        t = float(np.exp(place))
        change += t**0.5 * float(np.log1p(-(squares / (eigenvalues + t)).sum()))
    return change * _STEP / (2 * np.pi)
