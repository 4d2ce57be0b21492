"""Chances of large sums of independent numbers, bounded for any number of them: the tests of a diagnosis use no other.

A report adds a number to an answer, and the numbers of different reports are independent. The normal law is no bound
for their sum where few reports contribute. Bennett's inequality needs the variance of the sum and the largest number
only (Boucheron, Lugosi and Massart 2013, theorem 2.9); Chernoff's is sharper where the law of each number is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, expm1, log, log1p
from typing import Any

import numpy as np

from .laws import Floats

TINY = 1e-9
"""Chance that is set aside for an estimated variance that is too small; no p-value that needs one is below it."""
_ROUNDING = 1e-9
_STEPS = 200


def bennett(beyond: Any, variance: Any, most: Any) -> Floats:
    """Upper bound on the chance that a sum of independent numbers exceeds its mean by ``beyond``.

    ``variance`` is at least that of the sum, and ``most`` at least how far each number can exceed its own mean.
    """
    beyond, variance, most = np.broadcast_arrays(
        *(np.asarray(each, dtype=np.float64) for each in (beyond, variance, most))
    )
    tiny = float(np.finfo(np.float64).tiny)
    most = np.maximum(most, tiny)
    # Sums of many floating-point numbers are not exact.
    beyond = np.maximum(beyond - _ROUNDING * (np.sqrt(variance) + most), 0.0)
    variance = np.maximum(variance, tiny)
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = beyond * most / variance
        # (1 + u) log(1 + u) - u, and its beginning where that would cancel.
        gained = np.where(ratio < 1e-4, ratio**2 / 2 * (1 - ratio / 3), (1 + ratio) * np.log1p(ratio) - ratio)
        exponent = np.where(beyond > 0, gained * (variance / most) / most, 0.0)
    return np.asarray(np.exp(-np.nan_to_num(exponent, nan=np.inf, posinf=np.inf)))


def either_side(apart: Floats, variance: Floats, low: Floats, high: Floats) -> Floats:
    """Upper bound on the chance that a sum of independent numbers is this far from its mean of 0, on either side.

    Each number is between ``low`` and ``high``.
    """
    most = np.where(apart > 0, high, -np.asarray(low))
    return np.asarray(np.minimum(1.0, 2 * bennett(np.abs(apart), variance, most)))


def variance_at_most(estimate: Floats, largest: Floats, spread: Floats, most: Floats, tests: int) -> Floats:
    """Bounds of unknown variances, all of which hold but with a chance of ``TINY``.

    ``estimate`` is unbiased, a sum of independent numbers with a variance of ``spread`` at most, each of which is at
    most ``most`` below its mean; ``largest`` is the largest possible variance (Bernstein).
    """
    log_chance = float(np.log(tests / TINY))
    return np.asarray(np.minimum(largest, estimate + np.sqrt(2 * spread * log_chance) + most * log_chance / 3))


def coins_chance(ones: int, coins: Sequence[tuple[int, float]]) -> float:
    """Upper bound on the chance that independent coins show a number of ones this far from the mean.

    ``coins`` has the number of coins of each kind and their probability of a one.
    """
    total = sum(number for number, _ in coins)
    mean = sum(number * chance for number, chance in coins)
    if ones > mean:
        return coins_chance(total - ones, [(number, 1 - chance) for number, chance in coins]) if total else 1.0
    if ones >= mean * (1 - _ROUNDING):
        return 1.0
    # Chernoff's bound: the best tilt x < 0 makes ``ones`` the mean of the tilted coins. Any other x gives a bound, too.
    low, high = -60.0, 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        tilted = sum(number * chance / (chance + (1 - chance) * np.exp(-middle)) for number, chance in coins)
        low, high = (low, middle) if tilted > ones else (middle, high)
    exponent = sum(number * _log_mean(chance, high) for number, chance in coins) - high * ones
    return min(1.0, 2 * float(np.exp(min(exponent, 0.0))))


def _log_mean(chance: float, tilt: float) -> float:
    # Logarithm of the mean of exp(tilt * coin).
    change = chance * expm1(tilt)
    return log1p(change) if change > -0.5 else log(1 - chance + chance * exp(tilt))
