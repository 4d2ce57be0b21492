"""Solve for a target: the smallest epsilon or the fewest users that reach it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor

STEP = Fraction(1, 1000)
"""Granularity of epsilon: results are multiples of this."""
MOST_USERS = 10**12


def least_epsilon(enough: Callable[[Fraction], bool], most: Fraction) -> Fraction | None:
    """Solve for epsilon: the smallest multiple of ``STEP`` that is enough; None if not even ``most`` is.

    Errors fall as epsilon grows, so bisection finds it.
    """
    steps = _least(lambda k: enough(k * STEP), floor(most / STEP))
    return None if steps is None else steps * STEP


def fewest_users(enough: Callable[[int], bool]) -> int | None:
    """Solve for the users: the smallest number that is enough; None if not even ``MOST_USERS`` are."""
    high = 1
    while high < MOST_USERS and not enough(high):
        high *= 4
    return _least(enough, min(high, MOST_USERS))


def _least(enough: Callable[[int], bool], high: int) -> int | None:
    # Bisection between a number that is not enough, or 0, and one that is.
    if high < 1 or not enough(high):
        return None
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
