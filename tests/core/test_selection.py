"""Intervals after selection, checked by integrating over the law of the estimates: no chance is involved."""

from __future__ import annotations

from math import erfc, pi, sqrt
from typing import Any

import numpy as np
import pytest

from plausibly import ParameterError, SeededRandom, StateError, make
from plausibly.core.estimates import Estimates
from plausibly.core.selection import TOLD, Selection, of_largest
from plausibly.core.tails import Noise, normal_scores

NEVER = -np.inf
RESERVED = 0.1 * 0.05
REST = (0.05 - RESERVED) / (1 - RESERVED)
"""Error probabilities of the simultaneous and of the conditional part of a 95 % interval."""


def tail(z: float) -> float:
    return erfc(z / sqrt(2)) / 2


def selection(values: Any, least: float, needed: float, weight: float) -> Selection:
    count = len(values)
    return Selection(np.full(count, least), np.full(count, needed), np.full(count, weight))


def estimates_from(low: float, high: float, true: float) -> tuple[Any, Any]:
    # Estimates in an interval, with the probability of each by the normal law around the true value.
    places = low + (high - low) * (np.arange(4000) + 0.5) / 4000
    density = np.exp(-((places - true) ** 2) / 2) / sqrt(2 * pi)
    return places, density / density.sum()


@pytest.mark.full
@pytest.mark.parametrize("weight", [1.0, 0.01, 1e-6])
@pytest.mark.parametrize("cut", [0.0, 2.0, 4.0])
@pytest.mark.parametrize("beyond", [-3.0, -1.0, 0.0, 1.0, 2.0, 6.0])
def test_among_chosen_items_the_intervals_hold(beyond: float, cut: float, weight: float) -> None:
    true = cut + beyond
    values, chances = estimates_from(cut, max(cut, true) + 9, true)
    low, high = selection(values, cut, cut, weight).interval(values, np.ones(len(values)), 0.95)
    missed = float(chances[(low > true) | (true > high)].sum())
    # The simultaneous part may fail with probability RESERVED * weight, and if so the item is perhaps always chosen.
    assert missed <= REST + RESERVED * weight / tail(cut - true) + 0.003
    # Just above the cut they are wider than they need to be: they reach at least to the estimate.
    assert missed >= 0.03 or beyond <= 0


@pytest.mark.parametrize("beyond", [-2.0, 0.0, 1.0, 1.5, 2.0])
def test_upper_bounds_hold_among_items_that_are_not_told_from_nothing(beyond: float) -> None:
    cut = 4.0
    values, chances = estimates_from(cut - 12, cut, cut + beyond)
    low, high = selection(values, NEVER, cut, 0.01).interval(values, np.ones(len(values)), 0.95)
    assert (low == 0).all()
    missed = float(chances[cut + beyond > high].sum())
    assert missed <= REST + RESERVED / tail(beyond) + 0.003


def test_far_above_the_cut_the_intervals_are_the_plain_ones() -> None:
    low, high = selection([50.0], 4.0, 4.0, 1e-3).interval(np.array([50.0]), np.ones(1), 0.95)
    assert 1.96 <= 50 - low[0] <= 2.01
    assert 1.96 <= high[0] - 50 <= 2.01


@pytest.mark.parametrize("z", [4.1, 4.5, 5.0, 6.0])
def test_the_interval_is_what_a_slow_search_finds(z: float) -> None:
    cut, weight, alpha = 4.0, 1e-3, 0.05
    within = float(normal_scores(np.array([0.1 * alpha * weight / 2]))[0])
    rest = (alpha - 0.1 * alpha) / (1 - 0.1 * alpha)
    kept = []
    for true in np.arange(z - within, z + within, 0.001).tolist():
        lower, upper = max(cut, true - within), true + within
        above = (tail(z - true) - tail(upper - true)) / (tail(lower - true) - tail(upper - true))
        if rest / 2 <= above <= 1 - rest / 2:
            kept.append(true)
    low, high = selection([z], cut, cut, weight).interval(np.array([z]), np.ones(1), 1 - alpha)
    assert abs(low[0] - kept[0]) < 0.002
    assert abs(high[0] - kept[-1]) < 0.002


def test_ends_scale_with_the_error_and_grow_with_the_level() -> None:
    values = np.array([500.0, 900.0])
    chosen = Selection(np.full(2, 400.0), np.full(2, 410.0), np.full(2, 0.01))
    low, high = chosen.interval(values, np.full(2, 100.0), 0.9)
    lower, higher = chosen.interval(values, np.full(2, 100.0), 0.99)
    assert (lower < low).all()
    assert (high < higher).all()
    small, large = Selection(np.full(2, 4.0), np.full(2, 4.1), np.full(2, 0.01)).interval(values / 100, np.ones(2), 0.9)
    np.testing.assert_allclose([low, high], [100 * small, 100 * large])


def test_what_is_certain_has_no_width() -> None:
    low, high = selection([3.0], NEVER, 0.0, 1.0).interval(np.array([3.0]), np.zeros(1), 0.95)
    assert low[0] == high[0] == 3


@pytest.mark.parametrize("level", [0.001, 0.5, 0.999999])
def test_every_level_has_ordered_ends(level: float) -> None:
    values = np.array([4.0, 4.5, 9.0, 2.0, -1.0])
    low, high = selection(values, 3.5, 3.9, 1e-9).interval(values, np.ones(5), level)
    assert (low <= high).all()
    assert np.isfinite(low).all()
    assert np.isfinite(high).all()


def estimates(values: Any, *, complete: bool = False) -> Estimates:
    values = np.asarray(values, dtype=np.float64)
    return Estimates(np.arange(len(values)), values, np.ones(len(values)), 1000, complete=complete)


def test_top_of_everything_selects_nothing() -> None:
    made = estimates([5.0, 1.0, 3.0])
    assert made.top(3).selection is None
    assert made.top(3).significant is None
    np.testing.assert_array_equal(made.top(3).interval(), made.top(3).interval(plain=True))


def test_top_remembers_the_best_that_it_left_out() -> None:
    found = estimates([50.0, 9.0, 8.0, 1.0]).top(2)
    assert found.selection is not None
    assert found.selection.least.tolist() == [8, 8]
    np.testing.assert_allclose(found.selection.needed, float(normal_scores(np.array([TOLD / 4]))[0]))
    low, high = found.interval()
    plain_low, plain_high = found.interval(plain=True)
    assert abs(low[0] - plain_low[0]) < 0.1
    assert low[1] < plain_low[1] - 0.5
    assert (high - low > plain_high - plain_low).all()


def test_of_items_that_add_up_one_larger_makes_the_others_smaller() -> None:
    found = estimates([90.0, 10.0], complete=True).top(1)
    assert found.selection is not None
    assert found.selection.least.tolist() == [50]  # the two differ by 80, but the first need only have been above 50


def test_a_selection_from_a_selection_allows_for_both() -> None:
    made = estimates([9.0, 8.0, 7.0, 6.0, 5.0])
    twice, once = made.top(3).top(1), made.top(1)
    assert twice.selection is not None
    assert once.selection is not None
    assert twice.selection.least.tolist() == once.selection.least.tolist()
    np.testing.assert_array_equal(twice.selection.weights, once.selection.weights)


def test_items_without_holders_get_upper_bounds() -> None:
    found = estimates([30.0, *([0.5] * 99)]).top(3)
    assert found.significant is not None
    assert found.significant.tolist() == [True, False, False]
    assert found.interval()[0][1:].tolist() == [0, 0]
    assert "at most" in repr(found)
    assert found.to_frame().significant.tolist() == [True, False, False]


@pytest.mark.full
@pytest.mark.parametrize(
    ("size", "heavy"),
    [(20, 0), (200, 5), (5_000, 3), (100, 100)],
)
def test_the_largest_of_many_are_covered(size: int, heavy: int) -> None:
    # 1,000 items a case; if 95 % are covered, chance alone makes it fewer than 92.5 % once in 6,000 times.
    rng = np.random.default_rng(size)
    true = np.zeros(size)
    true[:heavy] = 10.0 if heavy == size else 12 / np.arange(1, heavy + 1)
    held = plain = 0
    for _ in range(100):
        values = true + rng.standard_normal(size)
        found = Estimates(np.arange(size), values, np.ones(size), size, complete=False).top(10)
        own = true[found.items]
        (low, high), (left, right) = found.interval(), found.interval(plain=True)
        held += int(((low <= own) & (own <= high)).sum())
        plain += int(((left <= own) & (own <= right)).sum())
    assert held >= 0.925 * 1000
    assert plain < 0.9 * 1000 or size == 20  # so that this test can fail


def test_thresholds_and_levels_are_cuts_too() -> None:
    values, errors = np.array([9.0, 7.0, 1.0]), np.ones(3)
    chosen = np.array([0, 1])
    assert of_largest(values, Noise.normal(errors), chosen).above(6.5).least.tolist() == [6.5, 6.5]
    strict = of_largest(values, Noise.normal(errors), chosen, level=1e-6).least
    np.testing.assert_allclose(strict, float(normal_scores(np.array([1e-6 / 3]))[0]))


@pytest.mark.full
def test_the_intervals_of_a_real_collection_hold_after_top() -> None:
    # A flat crowd: the ten largest of 200 estimates are luck. 600 items; 90 % or fewer once in 10^6 times.
    scheme = make("OUE", epsilon=1.0, domain_size=200)
    counts = dict.fromkeys(range(200), 100)
    held = plain = 0
    for seed in range(60):
        found = scheme.simulate(counts, SeededRandom(seed)).estimate().top(10)
        (low, high), (left, right) = found.interval(), found.interval(plain=True)
        held += int(((low <= 100) & (high >= 100)).sum())
        plain += int(((left <= 100) & (right >= 100)).sum())
    assert held >= 0.9 * 600
    assert plain < 0.8 * 600


@pytest.mark.full
@pytest.mark.parametrize(("name", "epsilon"), [("DE", 3), ("OUE", 3), ("OUE", 10)])
def test_intervals_of_equal_items_hold_although_estimates_tie(name: str, epsilon: float) -> None:
    # Ten equal items, and estimates that move in steps: ties at the cut once gave intervals without a width, and 90 %.
    scheme, covered, runs = make(name, epsilon=epsilon, domain_size=10), 0, 300
    for seed in range(runs):
        found = scheme.simulate([100] * 10, SeededRandom(seed)).estimate().top(3)
        assert found.variance is not None
        low, high = found.interval()
        assert (high - low > 0.5 * np.sqrt(found.variance)).all()
        assert (high >= found.values).all()
        covered += int(((low <= 100) & (high >= 100)).sum())
    assert covered / (3 * runs) > 0.95 - 4 * np.sqrt(0.95 * 0.05 / (3 * runs))


@pytest.mark.parametrize("k", ["a", None, 0, -1, 1.5, float("nan"), True])
def test_a_number_of_items_to_show_is_a_positive_integer(k: Any) -> None:
    with pytest.raises(ParameterError, match="k: expected a positive integer"):
        make("OUE", epsilon=1, domain_size=5).simulate([9] * 5, SeededRandom(1)).estimate().top(k)


def test_a_level_may_be_as_close_to_one_as_floats_allow() -> None:
    estimates = make("OUE", epsilon=1, domain_size=5).simulate([9] * 5, SeededRandom(1)).estimate()
    assert np.isfinite(estimates.interval(1 - 2**-53)).all()


def test_what_stands_out_of_a_list_stands_out_of_its_top() -> None:
    scheme = make("OLH", epsilon=2, domain_size=50)
    tally = scheme.accumulator()
    tally.add(scheme.privatize([7] * 3000 + [9] * 2000 + list(range(50)) * 20, rng=SeededRandom(3)))
    made = tally.estimate()
    told, best = set(made.items[made.stands_out]), made.top(10)
    assert {7, 9} <= told == set(best.items[best.significant]) == set(best.items[best.stands_out])
    assert len(told) < int((made.interval()[0] > 0).sum())
    with pytest.raises(StateError, match="no variance"):
        _ = made.postprocess("norm-sub").stands_out
