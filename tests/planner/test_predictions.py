"""What a plan predicts is what a simulated collection shows, in every situation of the decision table."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, sqrt

import numpy as np
import pytest

import plausibly
from cases import in_turn
from planner.situations import SITUATIONS, Situation, crowd, drawn, eighths
from plausibly import Above, SeededRandom
from plausibly.planner.skew import OPEN_ITEMS, meeting

_ASKED = 400
"""Keys that nobody holds, and that are asked about."""


def simulated(situation: Situation) -> tuple[float, float]:
    """Root mean squared error of the recommended scheme, and its standard error relative to it."""
    plan = situation.plan()
    scheme, size, n = plan.scheme, plan.domain.size, plan.users
    # 5000 errors give an RMSE to 1 %; items that share their errors (or hash functions) need more.
    items = size - 1 if size else _ASKED
    runs = max(60 if hasattr(scheme, "hash_seed") else 20, ceil(6000 / items))
    squares = []
    for run in range(runs):
        own = replace(scheme, hash_seed=run) if hasattr(scheme, "hash_seed") else scheme
        source = SeededRandom(10_000 * SITUATIONS.index(situation) + run)
        if size:
            counts = crowd(size, n, situation.skew)
            errors = own.simulate(counts, source).estimate().values - counts
        else:
            tally = own.simulate(drawn(n, situation.skew, run), source)
            errors = tally.estimate([f"nobody {i}" for i in range(_ASKED)]).values
        squares.append(float((errors**2).mean()))
    mean = float(np.mean(squares))
    return sqrt(mean), float(np.std(squares)) / sqrt(runs) / (2 * mean)


@eighths
def test_predicted_errors_are_within_five_percent_of_simulated_ones(part: int) -> None:
    # Relative standard errors are 1.25 % at most: a right prediction is off by 5 % once in 16,000.
    for situation in SITUATIONS[part::8]:
        error, uncertain = simulated(situation)
        predicted = situation.plan().best.error
        assert uncertain <= 0.0125, (str(situation), uncertain)
        assert abs(predicted / error - 1) <= 0.05, (str(situation), predicted, error, uncertain)


@pytest.mark.full
def test_what_a_plan_is_to_find_is_found_and_nothing_else() -> None:
    runs = 400
    plan = plausibly.plan(50, 1000, target=Above("15 %"))
    held = np.array([150, 850, *[0] * 48])
    found = false = 0
    for run in range(runs):
        cut = plan.scheme.simulate(held, SeededRandom(run)).estimate().postprocess("significance-cut").values
        found += cut[0] > 0
        false += bool((cut[2:] > 0).any())
    # Three standard errors of 5 %, 3.3 points: each is exceeded by chance once in 700.
    assert found / runs >= 0.95 - 0.033
    assert false / runs <= 0.05 + 0.033


def test_half_widths_are_quantiles_of_the_scheme_s_own_variance() -> None:
    plan = plausibly.plan(1000, 100_000, epsilon=2)
    for frequency in (0.0, 0.2):
        error = sqrt(plan.scheme.variance(100_000, f=frequency * 100_000))
        assert plan.half_width(frequency) == pytest.approx(1.959964 * error / 100_000, rel=1e-6)
    # 1000 intervals at 95 %: the quantile of 1 − 0.00005/2.
    error = sqrt(plan.scheme.variance(100_000))
    assert plan.half_width(every=True) == pytest.approx(4.055627 * error / 100_000, rel=1e-6)


@in_turn(("skew", "items"), [(0, 10), (0.5, 100), (1, 1000), (1.1, 5000), (2.5, 7)])
def test_the_chance_that_two_users_meet_is_the_sum_of_squared_shares(skew: float, items: int) -> None:
    shares = np.arange(1, items + 1) ** -float(skew)
    assert meeting(skew, items) == pytest.approx(((shares / shares.sum()) ** 2).sum(), rel=1e-12)


def test_more_items_than_can_be_added_up_one_by_one() -> None:
    # By Euler and Maclaurin: ln d + γ, and π²/6 − 1/d.
    d = 10**9
    expected = (np.pi**2 / 6 - 1 / d) / (np.log(d) + 0.5772156649015329) ** 2
    assert meeting(1.0, d) == pytest.approx(expected, rel=1e-6)
    assert meeting("worst", d) == 1
    assert meeting(0.0, OPEN_ITEMS) == pytest.approx(1 / OPEN_ITEMS)
