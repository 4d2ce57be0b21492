"""The excess of a sum over zero: both bounds against enumeration, and how close they are."""

from __future__ import annotations

import cmath
import itertools
import math

import numpy as np
import pytest

from drawn import thinned
from plausibly.shuffling.sums import COARSE, FINE, Sum

LAWS = [
    ([-1.2, 1.0], [0.5, 0.5]),
    ([1.7, -2.9, -0.5], [0.1, 0.15, 0.3]),
    ([20.0, -0.3], [0.01, 0.9]),
    ([2.0, -3.0, 0.0], [0.25, 0.25, 0.1]),
]


def enumerated(values: list[float], masses: list[float], copies: int, threshold: float, loss: bool) -> float:
    """The expectation of (S)_+ or (1 - e^-S)_+, by all outcomes."""
    total, atoms = 0.0, [*zip(values, masses, strict=True), (0.0, 1 - sum(masses))]
    for counts in itertools.product(range(copies + 1), repeat=len(atoms)):
        if sum(counts) == copies:
            ways = math.factorial(copies) / math.prod(map(math.factorial, counts))
            chance = ways * math.prod(mass**count for (_, mass), count in zip(atoms, counts, strict=True))
            s = sum(value * count for (value, _), count in zip(atoms, counts, strict=True)) - threshold
            total += chance * (max(0.0, -math.expm1(-s)) if loss else max(0.0, s))
    return total


@pytest.mark.parametrize("noise", [FINE, COARSE])
@pytest.mark.parametrize("copies", thinned([5, 1, 2, 12]))
@pytest.mark.parametrize(("values", "masses"), LAWS)
def test_bounds_enclose_the_excess(values: list[float], masses: list[float], copies: int, noise: float) -> None:
    made = Sum(np.array(values), np.array(masses), 1 - sum(masses), copies)
    low, high = made.excess(noise)
    exact = enumerated(values, masses, copies, 0.0, loss=False)
    assert low <= exact <= high
    # The noise raises (s)_+ most at s = 0, by 0.4 of its standard deviation.
    assert high - low <= noise * max(map(abs, values)) * math.sqrt(copies)


@pytest.mark.parametrize("threshold", [0.0, 0.8, 4.1])
@pytest.mark.parametrize("copies", thinned([3, 1, 8]))
@pytest.mark.parametrize(("values", "masses"), LAWS)
def test_loss_is_bounded_from_above(values: list[float], masses: list[float], copies: int, threshold: float) -> None:
    bound = Sum(np.array(values), np.array(masses), 1 - sum(masses), copies, threshold).loss()
    exact = enumerated(values, masses, copies, threshold, loss=True)
    assert exact <= bound <= exact + FINE * max(map(abs, values)) * math.sqrt(copies)


def test_a_sum_that_is_never_positive_has_no_excess() -> None:
    made = Sum(np.array([-1.0, -0.1]), np.array([0.5, 0.5]), 0.0, 10)
    assert made.excess() == (0.0, 0.0)
    assert made.loss() == 0.0


@pytest.mark.parametrize("copies", [10**4, 10**8])
def test_tiny_and_large_sums_keep_their_relative_precision(copies: int) -> None:
    # The mean is ten standard deviations below 0, so that the normal law gives the order of magnitude.
    mean = -10 / math.sqrt(copies)
    low, high = Sum(np.array([1 + mean, -1 + mean]), np.array([0.5, 0.5]), 0.0, copies).excess()
    normal = math.sqrt(copies) * (math.exp(-50) / math.sqrt(2 * math.pi) - 10 * math.erfc(10 / math.sqrt(2)) / 2)
    assert 0.5 * normal < low <= high < 2 * normal
    assert high / low < 1.001


def test_the_characteristic_function_is_the_sum_over_atoms() -> None:
    values = np.array([1.7, -2.9, -0.5, 40.0])
    masses = np.array([0.1, 0.15, 0.3, 1e-4])
    made, pairs = Sum(values, masses, 1 - float(masses.sum()), 100), list(zip(values, masses, strict=True))
    for step in (1e-9, 0.01):
        turned = made._turned(masses, step, 5000)
        assert turned.shape == (5000,)
        for place in (0, 1, 70, 71, 4999):
            exact = sum(mass * (cmath.exp(1j * value * place * step) - 1) for value, mass in pairs)
            small = sum(mass * 1j * value * place * step for value, mass in pairs)
            expected = exact if step > 1e-6 else small
            assert abs(turned[place] - expected) <= 1e-12 * abs(expected) + (3e-15 if step > 1e-6 else place**2 * 1e-17)
