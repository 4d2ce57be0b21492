"""How far from the truth a scheme will be, from its exact variance and an assumption about the crowd."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..core.laws import VarianceLaw, law_of
from ..core.scheme import Scheme
from .crowd import OPEN_ITEMS, Skew, meeting


@dataclass(frozen=True)
class Prediction:
    """Variances of a scheme's estimates; ``skew`` matters only where hash functions are shared."""

    scheme: Scheme
    skew: Skew

    @cached_property
    def law(self) -> VarianceLaw:
        """The law in numbers of the scheme's own estimator."""
        return law_of(self.scheme.estimator())

    @property
    def assumes(self) -> bool:
        """Whether the skew matters."""
        return bool(self.law.collision or self.law.per_pair or self.law.per_fellow)

    @cached_property
    def _meeting(self) -> float:
        return meeting(self.skew, self.scheme.domain.size or OPEN_ITEMS) if self.assumes else 0.0

    def variance(self, n: int, frequency: float = 0.0) -> float:
        """Of the count of an item that this share of the n users holds; the others are spread as assumed."""
        f = frequency * n
        rest = n - f
        f2 = f * f + rest + rest * max(rest - 1, 0.0) * self._meeting
        return max(float(self.law.at(n, f, f2=f2)), 0.0)

    def mean_variance(self, n: int) -> float:
        """The mean over all items of a list; of an item that nobody holds, where there is none."""
        d = self.scheme.domain.size
        if d is None:
            return self.variance(n)
        law = self.law
        # Whatever users hold, the noise of all items together is that of an even crowd.
        linear = float(law.of_coins.at(n, n / d))
        if not self.assumes:
            return linear
        f2 = n + n * (n - 1) * self._meeting
        collisions = float(law.collision) * ((1 - 1 / d) * (f2 - n))
        pairs = float(law.per_pair) * max(n * n - 2 * n * n / d + f2 / d - n + n / d, 0.0)
        return linear + collisions + pairs + float(law.per_fellow) * max(f2 - n, 0.0) / d
