"""Crowds with known counts: the truth that estimates and intervals are compared with."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]


def zipf(size: int, n: int) -> Counts:
    """Counts of n users whose item of rank r = 1, 2, ... has probability proportional to 1/r^1.1.

    >>> zipf(4, 100).tolist()
    [50, 24, 15, 11]
    """
    return _apportion(np.arange(1, size + 1) ** -1.1, n)


def uniform(size: int, n: int) -> Counts:
    """Counts of n users spread evenly."""
    return _apportion(np.ones(size), n)


def half(size: int, n: int) -> Counts:
    """Counts of n users of whom half hold the first item, the others spread evenly.

    >>> half(4, 100).tolist()
    [50, 17, 17, 16]
    """
    return _apportion(np.append(size - 1, np.ones(size - 1)), n)


CROWDS = {crowd.__name__: crowd for crowd in (zipf, uniform, half)}


def _apportion(weights: npt.NDArray[np.float64], n: int) -> Counts:
    # Expected counts, rounded by largest remainder: the same crowd everywhere, without a generator.
    ideal = weights * (n / weights.sum())
    counts = np.floor(ideal).astype(np.int64)
    order = np.argsort(counts - ideal, kind="stable")
    counts[order[: n - counts.sum()]] += 1
    return counts
