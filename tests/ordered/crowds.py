"""Crowds of ordered values of several shapes, for tests."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]


def crowd(shape: str, length: int, n: int) -> Counts:
    """Counts of n users over ``length`` items."""
    places = np.arange(length)
    if shape == "uniform":
        weights = np.ones(length)
    elif shape == "spiky":
        weights = np.where(places % max(2, length // 7) == 1, 1.0, 0.02 / length)
    elif shape == "one giant":
        weights = np.where(places == length // 3, 1.0, 0.1 / length)
    elif shape == "empty tails":
        weights = np.where(abs(places - length / 2) < length / 8 + 1, 1.0, 0.0)
    else:
        weights = np.where((places == 0) | (places == length - 1), 1.0, 0.0)
    exact = np.cumsum(weights) / weights.sum() * n
    # Rounded so that the counts add up to n.
    return np.diff(np.round(exact).astype(np.int64), prepend=0)
