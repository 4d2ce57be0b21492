"""The errors that a scheme's variance law predicts for known counts."""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from ..core.laws import VarianceLaw
from ..core.scheme import Scheme
from ..planner.targets import one_sided, two_sided
from .truth import Truth

LEVEL = 0.95
_PAIRS = 2 * 10**6
"""Pairs of items compared, at most, to find the block of each item."""

Floats = npt.NDArray[np.float64]


def predicted_variance(scheme: Scheme, truth: Truth) -> Floats | None:
    """What the law of the scheme says of the estimate of each item; None where there is no law."""
    law = law_of(scheme)
    if law is None:
        return None
    found = law.at(truth.n, truth.counts, f2=truth.f2, mates=_mates(scheme, truth, law))
    variances: Floats = np.maximum(np.broadcast_to(found, truth.counts.shape), 0.0)
    return variances


def _mates(scheme: Scheme, truth: Truth, law: VarianceLaw) -> Floats | None:
    # How many users count into the block of each item: items in one block are told by the first of the block.
    if not law.per_mate:
        return None
    firsts: list[int] = []
    block = np.empty(len(truth.counts), dtype=np.int64)
    looked = 0
    for x in range(len(block)):
        place = next((i for i, first in enumerate(firsts) if scheme.share_a_block(first, x)), len(firsts))
        looked += place + 1
        if looked > _PAIRS:
            return None  # then the law takes an even crowd
        if place == len(firsts):
            firsts.append(x)
        block[x] = place
    users: Floats = np.bincount(block, truth.counts).astype(np.float64)
    mates: Floats = users[block]
    return mates


def told_from_zero(scheme: Scheme, truth: Truth) -> int | None:
    """The smallest count that is reliably told from zero: its 95 % interval is above zero in 95 % of collections."""
    law, n = law_of(scheme), truth.n
    if law is None:
        return None

    def enough(f: int) -> bool:
        # Others stay as they are, as nearly as n allows.
        deviation = sqrt(max(float(law.at(n, f, f2=max(truth.f2, f * f + n - f))), 0.0))
        return f >= (two_sided(LEVEL) + one_sided(LEVEL)) * deviation

    if not enough(n):
        return None
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def law_of(scheme: Scheme) -> VarianceLaw | None:
    return scheme.estimator().law if scheme.linear else None
