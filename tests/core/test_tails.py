"""The law of noise: it does not understate how probable a large estimate is, and it knows its own inverse."""

from __future__ import annotations

from math import ceil, exp, lgamma, log, sqrt

import numpy as np
import pytest

import plausibly
from plausibly import SeededRandom
from plausibly.core.tails import Noise, normal_tail, skewed_tail


def binomial_tail(n: int, q: float, least: int) -> float:
    """Probability that at least ``least`` of n reports support an item, each with probability q: summed naively."""
    most = min(n, least + int(40 * sqrt(n * q * (1 - q))) + 60)
    choose = [lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) for i in range(least, most + 1)]
    return sum(exp(ways + i * log(q) + (n - i) * log(1 - q)) for i, ways in enumerate(choose, least))


@pytest.mark.full
@pytest.mark.parametrize("q", [1e-5, 1e-3, 0.05, 0.25, 0.5])
@pytest.mark.parametrize("n", [1, 5, 100, 1000, 100_000])
def test_a_small_chance_is_not_understated_and_seldom_much_overstated(n: int, q: float) -> None:
    p, expected, checked = min(0.9, 20 * q), n * q, 0
    scale = 1 / (p - q)
    noise = Noise.of_reports(np.array([sqrt(n * q * (1 - q)) * scale]), n, (-q * scale, (1 - q) * scale))
    most = min(n, int(expected + 9 * sqrt(expected)) + 5)
    for least in range(int(expected) + 1, most + 1, 1 + int(sqrt(expected) / 4)):
        exact = binomial_tail(n, q, least)
        if 1e-9 < exact < 0.02:
            stated = float(noise.chances(np.array([(least - expected) * scale]))[0])
            # Nothing here is random. The largest ratios on this grid are 1.10, 13.8 (five of five reports, where the
            # law allows for more than five) and 30.9 (one report).
            assert 1 <= stated / exact < (1.11 if expected >= 100 else 14 if expected > 0.001 else 31)
            checked += 1
    assert checked or n * q < 0.05 or n < 10


@pytest.mark.parametrize(("n", "ratio"), [(200_000, 1.2), (20_000, 1.6), (1_000, 7.2)])
def test_the_normal_law_understates_tails_as_the_documentation_says(n: int, ratio: float) -> None:
    exact = binomial_tail(n, 1 / 16, ceil(n / 16 + 5 * sqrt(15 * n) / 16))
    assert exact / float(normal_tail(np.array([5.0]))[0]) == pytest.approx(ratio, abs=0.05)


@pytest.mark.parametrize("skewness", [0.0, 1e-4, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("step", [0.0, 3.0])
def test_the_least_estimate_has_the_chance_it_was_computed_for(skewness: float, step: float) -> None:
    chances = np.array([0.1, 0.05, 1e-4, 1e-12, 1e-100])
    noise = Noise(np.full(5, 7.0), np.full(5, skewness), np.full(5, step))
    np.testing.assert_allclose(noise.chances(noise.least(chances)), chances, rtol=1e-4)


def test_the_law_tends_to_the_normal_one() -> None:
    z = np.array([-5.0, -1.0, -1e-4, 0.0, 1e-4, 0.5, 3.0, 8.0])
    np.testing.assert_allclose(skewed_tail(z, np.full(8, 2e-6)), normal_tail(z), rtol=1e-3)
    assert (np.diff(skewed_tail(np.linspace(0, 9, 2001), np.full(2001, 0.7))) < 0).all()
    assert skewed_tail(np.array([-9.0]), np.array([0.7])).tolist() == [1.0]


@pytest.mark.full
@pytest.mark.parametrize(("name", "epsilon", "n"), [("DE", 10, 10_000), ("HR", 3, 1_000), ("OUE", 5, 10_000)])
def test_an_item_without_holders_is_seldom_significant_however_few_reports_support_it(
    name: str, epsilon: float, n: int
) -> None:
    # By the normal law, 63 % of these collections with DE had one. At most 5 % may: more than 8 of 60 have a
    # probability of 0.6 %.
    scheme, counts = plausibly.make(name, epsilon=epsilon, domain_size=1000), [n] + [0] * 999
    alarms = 0
    for seed in range(60):
        found = scheme.simulate(counts, SeededRandom(seed)).estimate().top(20)
        assert found.significant is not None
        alarms += bool((found.significant & (found.items.astype(int) != 0)).any())
    assert alarms <= 8


def test_two_users_prove_nothing_about_strings() -> None:
    scheme = plausibly.TRELLIS(3, domain=plausibly.Strings("abcdefgh", 6), users=2)
    assert len(scheme.simulate({"abba": 1, "": 1}, SeededRandom(1)).search(k=1000, level=0.05)) == 0


def test_without_reports_nothing_is_significant() -> None:
    found = plausibly.make("OUE", epsilon=1, domain_size=5).accumulator().estimate().top(1)
    assert found.significant is not None
    assert not found.significant.any()
