"""The errors that a scheme's variance law predicts for known counts."""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from ..core.scheme import Scheme
from ..planner.targets import one_sided, two_sided
from .truth import Truth

LEVEL = 0.95

Floats = npt.NDArray[np.float64]


def predicted_variance(scheme: Scheme, truth: Truth) -> Floats | None:
    """The expected squared error of each item's estimate: its variance by the law; None without a law."""
    law = scheme.estimator().law
    if law is None:
        return None
    found = law.at(truth.n, truth.counts, f2=truth.f2, **law.context_of(truth.counts))
    variances: Floats = np.maximum(np.broadcast_to(found, truth.counts.shape), 0.0)
    return variances


def told_from_zero(scheme: Scheme, truth: Truth) -> int | None:
    """The smallest count detectable despite expected errors: its 95 % interval is above zero in 95 % of cases."""
    law, n = scheme.estimator().law, truth.n
    if law is None:
        return None

    def enough(f: int) -> bool:
        # The other counts stay unchanged, as far as n allows.
        deviation = sqrt(max(float(law.at(n, f, f2=max(truth.f2, f * f + n - f))), 0.0))
        return f >= (two_sided(LEVEL) + one_sided(LEVEL)) * deviation

    if not enough(n):
        return None
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
