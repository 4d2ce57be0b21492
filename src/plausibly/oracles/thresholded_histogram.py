"""THE: thresholded histogram encoding, which adds Laplace noise to every bit and sends only a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, floor
from typing import Any

from ..core.errors import ParameterError
from ..core.probability import WORD, decide, exact_fraction
from ..core.unary import Unary

_STEPS = 1000
"""The default threshold is a multiple of 1/1000, which is fine enough: the variance is flat around the optimum."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class THE(Unary):
    """Thresholded histogram encoding: report which noisy bits exceed a ``threshold`` (Wang et al. 2017).

    See Wang, Blocki, Li and Jha (USENIX Security 2017), section 4.2. Each bit of the unary encoding receives Laplace
    noise of scale 2/eps. The report says which noisy bits exceed the threshold theta, 1/2 <= theta < 1:
    p = 1 - e^(-eps(1-theta)/2)/2, q = e^(-eps*theta/2)/2.
    Privacy: p(1-q)/(q(1-p)) <= e^eps, p rounded down and q rounded up to multiples of 2^-64. The noise spends eps;
    the comparison with theta loses part of that, so the delivered eps is lower: 0.90 for eps = 1, 3.4 for eps = 5.
    Variance: n*q(1-q)/(p-q)^2 + f*(1-p-q)/(p-q); for items without holders it is higher than that of SUE and OUE,
    which spend all of eps on the bits.
    Default: the multiple of 1/1000 with the lowest variance for items without holders.
    Cost: ceil(d/8) bytes a report, O(d) client, O(n*d) fold.

    >>> import plausibly
    >>> scheme = plausibly.make("THE", epsilon=1, domain_size=100)
    >>> str(scheme.theta), round(float(scheme.privacy_loss()), 2), round(scheme.variance(n=1), 2)
    ('619/1000', 0.9, 4.81)
    """

    name = "THE"

    threshold: Fraction | str | float | None = None

    def validate(self) -> None:
        super().validate()
        if self.threshold is not None:
            theta = exact_fraction("threshold", self.threshold)
            if not Fraction(1, 2) <= theta < 1:
                raise ParameterError(f"threshold: expected at least 1/2 and less than 1, got {theta}")
            object.__setattr__(self, "threshold", theta)

    @cached_property
    def theta(self) -> Fraction:
        """Threshold of the histogram's noisy bits: the given one or the default."""
        return _best(self.epsilon) if self.threshold is None else Fraction(self.threshold)

    @property
    def spends_less(self) -> str:
        return "the noise alone spends all of ε, and comparing it with the threshold loses part of that"

    @property
    def parameters(self) -> dict[str, Any]:
        return {"threshold": str(self.theta)}

    @cached_property
    def keep(self) -> int:
        return self._thresholds[0]

    @property
    def flip(self) -> int:
        return self._thresholds[1]

    @cached_property
    def _thresholds(self) -> tuple[int, int]:
        keep, flip = _thresholds(self.epsilon, self.theta)
        if keep <= flip:
            raise ParameterError(
                f"epsilon: {float(self.epsilon):.3g} is too small: 64-bit probabilities cannot represent it"
            )
        return keep, flip


def _thresholds(epsilon: Fraction, theta: Fraction) -> tuple[int, int]:
    # p rounded down and q rounded up: both lower the delivered epsilon.
    keep = decide((1 - theta) * epsilon / 2, lambda e: floor(WORD - WORD / (2 * e)))
    return keep, decide(theta * epsilon / 2, lambda e: ceil(WORD / (2 * e)))


@lru_cache(maxsize=256)
def _best(epsilon: Fraction) -> Fraction:
    # As a function of theta the variance (of the rounded p and q) falls, then grows: bisection finds its minimum, and
    # every implementation finds the same one.
    low, high = _STEPS // 2, _STEPS - 1
    while low < high:
        k = (low + high) // 2
        falls = _noise(epsilon, Fraction(k + 1, _STEPS)) < _noise(epsilon, Fraction(k, _STEPS))
        low, high = (k + 1, high) if falls else (low, k)
    return Fraction(low, _STEPS)


def _noise(epsilon: Fraction, theta: Fraction) -> Fraction:
    keep, flip = _thresholds(epsilon, theta)
    return Fraction(flip * (WORD - flip), max(keep - flip, 1) ** 2)
