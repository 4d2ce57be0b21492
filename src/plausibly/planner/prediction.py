"""Predicted errors of a scheme, from its exact variance and an assumption about the crowd."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

from ..core.laws import VarianceLaw, law_of
from ..core.scheme import Scheme
from .skew import OPEN_ITEMS, Skew, meeting
from .targets import one_sided


@dataclass(frozen=True)
class Prediction:
    """Predicted variances of a scheme's estimates; ``skew`` matters only if hash functions are shared."""

    scheme: Scheme
    skew: Skew

    @cached_property
    def law(self) -> VarianceLaw:
        """Variance law behind the prediction: that of the scheme's default estimator."""
        return law_of(self.scheme.estimator())

    @property
    def assumes(self) -> bool:
        """Whether the prediction depends on the skew."""
        return bool(self.law.collision or self.law.per_pair or self.law.per_fellow)

    @cached_property
    def _meeting(self) -> float:
        return meeting(self.skew, self.scheme.domain.size or OPEN_ITEMS) if self.assumes else 0.0

    def variance(self, n: int, frequency: float = 0.0) -> float:
        """Predicted variance of an item's count, held by the share ``frequency`` of n users; others as assumed."""
        f = frequency * n
        rest = n - f
        f2 = f * f + rest + rest * max(rest - 1, 0.0) * self._meeting
        return max(float(self.law.at(n, f, f2=f2)), 0.0)

    def mean_variance(self, n: int) -> float:
        """Predicted mean variance over all items of a list; without one, that of an item that nobody holds."""
        d = self.scheme.domain.size
        if d is None:
            return self.variance(n)
        law = self.law
        # The total noise over all items does not depend on the true counts, so a uniform crowd stands for any.
        linear = float(law.of_coins.at(n, n / d))
        if not self.assumes:
            return linear
        f2 = n + n * (n - 1) * self._meeting
        collisions = float(law.collision) * ((1 - 1 / d) * (f2 - n))
        pairs = float(law.per_pair) * max(n * n - 2 * n * n / d + f2 / d - n + n / d, 0.0)
        return linear + collisions + pairs + float(law.per_fellow) * max(f2 - n, 0.0) / d


def smallest_found(prediction: Prediction, n: int, items: int, confidence: float) -> float:
    """Predicted smallest share of users that makes an item stand out from ``items`` that nobody holds."""
    z = one_sided(confidence, items) + one_sided(confidence)
    low, high = 0.0, 1.0
    rare = prediction.variance(n)
    if z * sqrt(max(rare, prediction.variance(n, 1.0))) > n:
        return 1.0
    for _ in range(50):
        share = (low + high) / 2
        enough = z * sqrt(max(rare, prediction.variance(n, share))) <= share * n
        low, high = (low, share) if enough else (share, high)
    return high
