"""The other way round: the least epsilon, or the fewest users, with which a target is reached."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor

STEP = Fraction(1, 1000)
"""Epsilons are multiples of this."""
MOST_USERS = 10**12


def least_epsilon(enough: Callable[[Fraction], bool], most: Fraction) -> Fraction | None:
    """The least multiple of ``STEP`` that is enough while the one before is not; None if not even ``most`` is.

    Errors fall as epsilon grows, so this is the least of all.
    """
    steps = _least(lambda k: enough(k * STEP), floor(most / STEP))
    return None if steps is None else steps * STEP


def fewest_users(enough: Callable[[int], bool]) -> int | None:
    """The least number of users that is enough while one less is not; None if no crowd on earth is."""
    high = 1
    while high < MOST_USERS and not enough(high):
        high *= 4
    return _least(enough, min(high, MOST_USERS))


def _least(enough: Callable[[int], bool], high: int) -> int | None:
    # Between one that is not enough, or 0, and one that is.
    if high < 1 or not enough(high):
        return None
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
