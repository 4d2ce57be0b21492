"""Bounds of chances for a diagnosis: never below the exact chance, and close enough to it to be of use."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from plausibly.core.bounds import bennett, coins_chance, either_side, variance_at_most


def binomial(n: int, p: Fraction) -> list[float]:
    return [float(comb(n, k) * p**k * (1 - p) ** (n - k)) for k in range(n + 1)]


COINS = [(n, Fraction(p)) for n in (1, 5, 20, 200) for p in ("0.001", "0.1", "0.5", "0.9")]


@pytest.mark.parametrize(("n", "p"), COINS)
def test_the_bound_of_a_sum_is_at_least_the_exact_chance(n: int, p: Fraction) -> None:
    law, mean = binomial(n, p), float(n * p)
    ends = np.array([-float(p)]), np.array([1 - float(p)])
    for k in range(n + 1):
        above, below = sum(law[k:]), sum(law[: k + 1])
        variance = np.array([float(n * p * (1 - p))])
        assert float(bennett(k - mean, variance[0], ends[1][0])) >= min(above, 1) * (1 - 1e-9)
        assert float(bennett(mean - k, variance[0], -ends[0][0])) >= min(below, 1) * (1 - 1e-9)
        assert float(either_side(np.array([k - mean]), variance, *ends)[0]) >= min(1, 2 * min(above, below)) * 0.999


@pytest.mark.parametrize(("n", "p"), COINS)
def test_the_bound_of_coins_is_at_least_the_exact_chance(n: int, p: Fraction) -> None:
    law = np.convolve(binomial(n, p), binomial(3, Fraction(1, 4)))
    for ones in range(n + 4):
        chance = coins_chance(ones, [(n, float(p)), (3, 0.25)])
        assert chance >= min(1.0, 2 * min(float(law[ones:].sum()), float(law[: ones + 1].sum()))) * (1 - 1e-9)


def test_the_bound_of_coins_is_close_to_the_exact_chance() -> None:
    # Chernoff's bound is about 2.5 standard errors times the square root of 2 pi above the chance, on both sides.
    law = binomial(1000, Fraction(1, 2))
    assert coins_chance(600, [(1000, 0.5)]) <= 40 * sum(law[600:])
    assert coins_chance(500, [(1000, 0.5)]) == 1.0
    assert coins_chance(0, [(3, 1.0)]) < 1e-20


def test_the_bound_of_a_sum_of_many_numbers_is_that_of_the_normal_law() -> None:
    assert float(bennett(4.0, 1.0, 1e-6)) == pytest.approx(np.exp(-8), rel=1e-4)
    # Rounding of a sum without variance is no evidence.
    assert float(bennett(1e-12, 0.0, 1.0)) == 1.0
    assert float(bennett(1.0, 0.0, 1.0)) == 0.0


def test_the_bound_of_a_variance_is_the_largest_one_at_most() -> None:
    found = variance_at_most(np.array([5.0, 50.0]), np.array([10.0, 10.0]), np.array([0.0, 0.0]), np.zeros(2), 7)
    assert found.tolist() == [5.0, 10.0]
