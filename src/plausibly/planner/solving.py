"""Solve for a target: the smallest epsilon or the fewest users that reach it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import asinh, ceil, floor, sinh

STEP = Fraction(1, 1000)
"""Granularity of epsilon: results are multiples of this."""
MOST_USERS = 10**12
_FIRST = 1000
"""First guess of epsilon, in steps."""
_GUESSES = 10
"""Number of evaluations after which halves replace guesses, so that the search ends in any case."""
_HUGE = 1e100


def least_epsilon(enough: Callable[[Fraction], bool], most: Fraction) -> Fraction | None:
    """Solve for epsilon: the smallest multiple of ``STEP`` that is enough; None if not even ``most`` is.

    Errors fall as epsilon grows, so bisection finds it.
    """
    steps = _least(lambda k: enough(k * STEP), floor(most / STEP))
    return None if steps is None else steps * STEP


def least_epsilon_near(error: Callable[[Fraction], float], goal: float, most: Fraction) -> Fraction | None:
    """Solve for epsilon like ``least_epsilon``, with few evaluations of an ``error`` that takes long.

    Squared errors are about proportional to the least possible noise 1/sinh(epsilon/2)^2, which gives the next guess.
    """
    last = floor(most / STEP)
    low, high, steps, guesses = 0, last + 1, min(last, _FIRST), 0
    while high - low > 1:
        ratio = error(steps * STEP) / goal
        low, high = (low, steps) if ratio <= 1 else (steps, high)
        guesses += 1
        guess = _steps_for(steps, ratio) if guesses < _GUESSES else (low + high) // 2
        steps = min(max(guess, low + 1), high - 1)
    return None if high > last else high * STEP


def _steps_for(steps: int, ratio: float) -> int:
    # The steps at which noise is less than at these by the square of the ratio.
    half = asinh(min(ratio, _HUGE) * sinh(min(float(steps * STEP) / 2, 50.0)))
    return ceil(2 * half / float(STEP))


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
