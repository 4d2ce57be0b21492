"""The assumption about future data: how evenly the users are spread over the items."""

from __future__ import annotations

from functools import lru_cache
from numbers import Real
from typing import Literal

import numpy as np

from ..core.errors import ParameterError
from ..core.wording import shown
from ..core.words import Setting, Words

Skew = float | Literal["worst"]

OPEN_ITEMS = 10**6
"""Assumed number of different items if they cannot be listed."""
_LISTED = 10**6
"""Number of terms of a sum that are added one by one."""


def checked_skew(skew: object) -> Skew:
    """The given skew, checked."""
    if skew == "worst":
        return "worst"
    number = float(skew) if isinstance(skew, Real) and not isinstance(skew, bool) else -1.0
    if not 0 <= number <= 10:
        expected = ": expected the exponent of a power law, 0 to 10, or worst"
        raise ParameterError(Words(Setting("skew"), f"{expected}, got {shown(skew)}"))
    return number


@lru_cache(maxsize=64)
def meeting(skew: Skew, items: int) -> float:
    """Chance under a skew that two users hold the same item; the share of rank r is proportional to r^−skew."""
    if skew == "worst":
        return 1.0
    return _power_sum(2 * skew, items) / _power_sum(skew, items) ** 2


def _power_sum(exponent: float, items: int) -> float:
    # The sum of r^−exponent; terms beyond the first _LISTED by the midpoint rule.
    total = float((np.arange(1, min(items, _LISTED) + 1, dtype=np.float64) ** -exponent).sum())
    if items > _LISTED:
        low, high = _LISTED + 0.5, items + 0.5
        near = abs(exponent - 1) < 1e-9
        total += np.log(high / low) if near else (high ** (1 - exponent) - low ** (1 - exponent)) / (1 - exponent)
    return float(total)


def skew_in_words(skew: Skew, items: int | None) -> str:
    """The assumed skew in words."""
    if skew == "worst":
        return "all other users hold the same item"
    among = f"{items:,}" if items is not None else f"{OPEN_ITEMS:,} (a guess)"
    shape = "evenly spread" if skew == 0 else f"spread by a power law of exponent {skew:g}"
    return f"users are {shape} over {among} items"
