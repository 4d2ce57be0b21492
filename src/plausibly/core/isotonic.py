"""The nearest rising sequence to a noisy one, for distribution functions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def isotonic(values: Floats) -> Floats:
    """The rising sequence with the smallest squared distance, by pooling adjacent violators.

    >>> isotonic(np.array([1.0, 3.0, 2.0, 4.0])).tolist()
    [1.0, 2.5, 2.5, 4.0]
    """
    means: list[float] = []
    sizes: list[int] = []
    for value in values.tolist():
        mean, size = value, 1
        while means and means[-1] >= mean:
            own = sizes.pop()
            mean = (means.pop() * own + mean * size) / (own + size)
            size += own
        means.append(mean)
        sizes.append(size)
    return np.repeat(np.array(means, dtype=np.float64), sizes)


def rising(prefixes: Floats, total: float) -> Floats:
    """The distribution function nearest to estimated prefixes: rising from 0 or more to ``total``, its last value."""
    nearest = np.clip(isotonic(prefixes[:-1]), 0.0, total)
    return np.append(nearest, total)
