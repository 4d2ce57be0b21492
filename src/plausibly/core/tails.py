"""How large are estimates of items without holders? Tails of their noise, beyond the normal law.

An estimate is a sum of small contributions, one for each report, and a report rarely supports an item that its user
does not have. Such sums are skewed, and at the five standard errors that the best of a million items reaches by chance,
the normal law understates their tails. If a report supports an item by chance with probability 1/16, an estimate of
five standard errors or more is 1.2 times as probable as the normal law says with 200,000 reports, 1.6 times with 20,000
and 7 times with 1,000 (tested).

The law used here is that of Poisson, scaled so that its first three moments are right; its tail is computed by the
saddle point (Lugannani and Rice 1980), half a step before the estimate, because estimates move in steps. If a report
supports an item by chance with a probability of at most 1/2, it does not understate chances below 2 %, the only ones
that decide about significance among three items or more (tested); larger ones it may understate by a few percent.
If users share public hash functions, collisions are the larger part of the tail: see ``collisions``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from math import erfc, pi, sqrt
from statistics import NormalDist
from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_FAR, _FINE = 37, 512
_NORMAL = 1e-6
"""Skewness below which the law is the normal one."""
_CLOSE = 1e-3
_HALVINGS = 50


class Unheld(Protocol):
    """Law of the estimates of items without holders."""

    @property
    def steps(self) -> Floats | float:
        """Distance between possible estimates; 0 if they are dense."""
        ...

    def picked(self, order: npt.NDArray[np.intp]) -> Unheld:
        """The law for some of the items."""
        ...

    def scaled(self, factor: float) -> Unheld:
        """The law of estimates times a factor that is not negative."""
        ...

    def least(self, chances: Floats) -> Floats:
        """Smallest estimates that items without holders reach with at most the given chances."""
        ...


@dataclass(frozen=True, eq=False)
class Noise:
    """Law of the estimates of items without holders: mean 0, and for each item a standard error and a skewness."""

    errors: Floats
    skewness: Floats
    steps: Floats
    """Distance between possible estimates; 0 if they are dense."""

    @classmethod
    def normal(cls, errors: Floats) -> Noise:
        """Noise without skewness, of estimates that are dense."""
        return cls(errors, np.zeros(len(errors)), np.zeros(len(errors)))

    @classmethod
    def of_reports(cls, errors: Floats, n: int, ends: tuple[float, float] | None) -> Noise:
        """Noise of sums over n reports, each of which adds at least and at most ``ends``; normal if these are unknown.

        The skewness is exact if a report adds one of the two, and otherwise the largest with the same variance.
        """
        if ends is None:
            return cls.normal(errors)
        third = third_moment(errors**2 / max(n, 1), ends[1])
        skewness = np.divide(n * third, errors**3, out=np.zeros(len(errors)), where=errors > 0)
        return cls(errors, np.maximum(skewness, 0.0), np.full(len(errors), ends[1] - ends[0]))

    def picked(self, order: npt.NDArray[np.intp]) -> Noise:
        """The noise of some of the items."""
        return Noise(*(getattr(self, field.name)[order] for field in fields(self)))

    def scaled(self, factor: float) -> Noise:
        """The noise of estimates times a factor that is not negative."""
        return Noise(factor * self.errors, self.skewness, factor * self.steps)

    def chances(self, values: Floats) -> Floats:
        """Probability that noise alone reaches each of the given estimates."""
        safe = np.where(self.errors > 0, self.errors, 1.0)
        return skewed_tail((values - self.steps / 2) / safe, self.skewness)

    def least(self, chances: Floats) -> Floats:
        """Smallest estimates that noise alone reaches with at most the given chances."""
        low, high = np.zeros(len(chances)), np.full(len(chances), 2.0)
        while (short := skewed_tail(high, self.skewness) > chances).any():
            high[short] *= 2
            if high.max() > 1e9:  # the table of tails ends
                break
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            met = skewed_tail(middle, self.skewness) <= chances
            low, high = np.where(met, low, middle), np.where(met, middle, high)
        return high * self.errors + self.steps / 2


def third_moment(variance: Floats | float, most: float) -> Floats:
    """Largest third moment of a contribution with mean 0, the given variance, and the given largest value."""
    return np.asarray(variance * (most - variance / most) if most > 0 else np.zeros_like(variance))


def skewed_tail(z: Floats, skewness: Floats) -> Floats:
    """Probability that a Poisson variable exceeds each z, in standard errors above its mean, given its skewness."""
    shape = np.where(skewness > _NORMAL, skewness, 1.0)
    ratio = np.maximum(1 + z * shape, 1e-300)
    root = np.sign(z) * np.sqrt(np.maximum(2 * (ratio * np.log(ratio) - ratio + 1), 0.0)) / shape
    slope = np.log(ratio) * np.sqrt(ratio) / shape
    close = np.abs(z) < _CLOSE
    difference = 1 / np.where(close, 1.0, slope) - 1 / np.where(close, 1.0, root)
    density = np.exp(-(root**2) / 2) / sqrt(2 * pi)
    chance = normal_tail(root) + density * np.where(close, -shape / 6, difference)
    chance = np.where(z * shape <= -1, 1.0, np.clip(chance, 0.0, 1.0))  # a Poisson variable is not negative
    return np.where(skewness > _NORMAL, chance, normal_tail(z))


def normal_tail(z: Floats) -> Floats:
    """Probability that a standard normal variable exceeds each z, to six digits."""
    places, logs = _table()
    return np.asarray(np.exp(np.interp(z, places, logs)))


def normal_scores(chances: Floats) -> Floats:
    """Number of standard errors that a normal variable exceeds with each of the given chances."""
    return np.array([-NormalDist().inv_cdf(max(chance, 1e-300)) for chance in chances.tolist()])


@cache
def _table() -> tuple[Floats, Floats]:
    places = np.arange(-_FAR * _FINE, _FAR * _FINE + 1) / _FINE
    return places, np.log([erfc(place / sqrt(2)) / 2 for place in places.tolist()])
