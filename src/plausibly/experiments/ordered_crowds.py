"""Crowds of users whose values have an order: shapes of distributions, from smooth to spiky.

To define your own, enter an ``OrderedCrowd`` in ``CROWDS``: schemes are then measured by ranges, the distribution
function and quantiles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class OrderedCrowd:
    """A crowd whose items have an order: users in proportion to ``weights``, a function of the number of items.

    Nothing is drawn: the number of users up to each item is the exact one, rounded, whatever the seed.

    >>> OrderedCrowd(np.ones)(10, 4, 0).tolist()
    [2, 3, 3, 2]
    """

    weights: Callable[[int], Floats]

    def __call__(self, n: int, d: int, seed: int) -> Counts:
        """The counts of the d items of the ordered crowd; they sum to n."""
        totals = np.cumsum(self.weights(d))
        return np.asarray(np.diff(np.rint(n * (totals / totals[-1])), prepend=0.0), dtype=np.int64)


def smooth(d: int) -> Floats:
    """Weights of an ordered crowd with one smooth peak, a Beta(2, 5) density."""
    x = _middles(d)
    return np.asarray(x * (1 - x) ** 4)


def income(d: int) -> Floats:
    """Weights of an ordered crowd of incomes: lognormal, and most people round to a 20th or a 100th of the scale."""
    x = _middles(d)
    exact = np.exp(-((np.log(x / 0.2) / 0.6) ** 2) / 2) / x
    exact /= exact.sum()
    return 0.4 * exact + 0.3 * _rounded(exact, 100) + 0.3 * _rounded(exact, 20)


def bimodal(d: int) -> Floats:
    """Weights of an ordered crowd with two smooth peaks of different widths."""
    x = _middles(d)
    return np.asarray(0.6 * _bell(x, 0.25, 0.06) + 0.4 * _bell(x, 0.7, 0.1))


def spiky(d: int) -> Floats:
    """Weights of an ordered crowd of which 70 % have one of eight values, and the others any."""
    weights = np.full(d, 0.3 / d)
    np.add.at(weights, _PRICES * d // 1000, 0.7 * _BUYERS / _BUYERS.sum())
    return weights


def ends(d: int) -> Floats:
    """Weights of an ordered crowd of which one half has the first item, and the other half the last one."""
    weights = np.zeros(d)
    weights[0] = weights[-1] = 0.5
    return weights


_PRICES = np.array([49, 99, 149, 199, 299, 399, 499, 799])
_BUYERS = np.array([10, 22, 8, 18, 14, 6, 16, 6])
"""Places of the heavy values in thousandths of the domain, and their relative numbers of users."""

SHAPES_IN_ORDER: Mapping[str, OrderedCrowd] = {
    "smooth": OrderedCrowd(smooth),
    "bimodal": OrderedCrowd(bimodal),
    "income": OrderedCrowd(income),
    "spiky": OrderedCrowd(spiky),
    "even": OrderedCrowd(np.ones),
    "ends": OrderedCrowd(ends),
}
"""Every ordered crowd by its name."""


def _middles(d: int) -> Floats:
    return np.asarray((np.arange(d) + 0.5) / d)


def _bell(x: Floats, middle: float, width: float) -> Floats:
    return np.asarray(np.exp(-(((x - middle) / width) ** 2) / 2) / width)


def _rounded(weights: Floats, steps: int) -> Floats:
    # Everybody takes the nearest of ``steps`` round values, the first items of equal parts of the domain.
    d = len(weights)
    nearest = np.minimum((2 * np.arange(d) * steps + d) // (2 * d), steps - 1)
    return np.asarray(np.bincount(nearest * d // steps, weights, minlength=d), dtype=np.float64)
