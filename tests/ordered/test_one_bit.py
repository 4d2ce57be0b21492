"""MEAN: the law of one exact bit by enumeration, places of all scales, intervals, and what it refuses."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import naive
import plausibly
from ordered.crowds import crowd
from plausibly import Ordered, ParameterError, SeededRandom, StateError
from plausibly.core.enumeration import output_law, worst_ratio
from plausibly.core.linear import predicted_of
from plausibly.core.probability import WORD, within_exp
from plausibly.ordered import MEAN
from plausibly.ordered.one_bit import MOST_PLACES

DOMAINS = {
    "whole numbers": Ordered(-3, 9),
    "bins": Ordered.bins([-5, 0, 1, 2.5, 100]),
    "tenths": Ordered.equal(0, 1, 10),
    "far apart": Ordered.bins([0, 1e-9, 1, 1e12]),
    "dates": Ordered.dates("2024-02-20", "2024-03-02"),
    "durations": Ordered.durations(0, 7, unit="min"),
}


@pytest.mark.parametrize("kind", DOMAINS)
@pytest.mark.parametrize("epsilon", ["1/100", "1", 3, 20])
def test_privacy_mean_and_variance_are_exact_over_all_coins(kind: str, epsilon: Any) -> None:
    scheme = MEAN(epsilon=epsilon, domain=DOMAINS[kind])
    decoder = scheme.estimator()
    laws = [output_law(scheme.randomizer, x, ()) for x in range(scheme.size)]
    assert worst_ratio(laws) == scheme.randomizer.worst_ratio()
    assert within_exp(worst_ratio(laws), scheme.epsilon)
    worth = {bytes([bit]): decoder.total(np.array([1 - bit, bit]), 1) for bit in (0, 1)}
    for x, law in enumerate(laws):
        chances = {record: Fraction(weight, law.denominator) for record, weight in law.weights.items()}
        mean = sum(chance * worth[record] for record, chance in chances.items())
        assert mean == decoder.place(x)
        spread = sum(chance * (worth[record] - mean) ** 2 for record, chance in chances.items())
        assert spread == decoder.variance_of_one(x)


@pytest.mark.parametrize("kind", DOMAINS)
def test_places_are_linear_in_the_values(kind: str) -> None:
    scheme = MEAN(epsilon=1, domain=DOMAINS[kind])
    edges = [Fraction(start) + Fraction(stop) for start, stop in zip(*_ends(scheme.domain), strict=True)]
    for place, middle in zip(scheme.places, edges, strict=True):
        off = Fraction(place, scheme.places[-1]) - (middle - edges[0]) / (edges[-1] - edges[0])
        # Exact, unless the middles need more than 2^40 steps: then within half a step.
        assert abs(off) <= (Fraction(1, 2 * MOST_PLACES) if scheme.places[-1] == MOST_PLACES else 0)


def _ends(domain: Any) -> tuple[Any, Any]:
    return domain.scale.starts, domain.scale.stops


def test_the_mean_is_that_of_the_definition() -> None:
    for kind, domain in DOMAINS.items():
        scheme = MEAN(epsilon=2, domain=domain)
        reports = scheme.privatize_encoded(np.arange(300, dtype=np.uint64) % np.uint64(scheme.size), SeededRandom(7))
        tally = scheme.accumulator()
        tally.add(reports)
        wanted = naive.one_bit_mean(scheme.to_dict(), reports["bit"].tolist(), domain.points().tolist())
        assert tally.mean().value == pytest.approx(wanted, rel=1e-12), kind


def test_the_law_of_a_crowd_is_the_sum_over_its_users() -> None:
    scheme = MEAN(epsilon=1, domain=Ordered(0, 10))
    counts = crowd("spiky", 11, 40)
    one = Fraction(1, 40**2) * sum(int(count) * scheme.estimator().variance_of_one(x) for x, count in enumerate(counts))
    assert scheme.mean_variance(counts) == pytest.approx(float(one))
    # Duchi's bound for values that are all in the middle, p = 1/2: (e + 1)^2/(4 (e - 1)^2) of the squared range.
    middle = np.where(np.arange(11) == 5, 1, 0)
    assert scheme.mean_variance(middle) / 100 == pytest.approx((np.e + 1) ** 2 / (4 * (np.e - 1) ** 2))
    assert scheme.estimator().largest_error(1) ** 2 == pytest.approx(scheme.mean_variance(middle))


@pytest.mark.full
@pytest.mark.parametrize("shape", ["uniform", "one giant", "both ends"])
@pytest.mark.parametrize("epsilon", [1, 4])
def test_intervals_cover_the_mean_as_often_as_they_say(shape: str, epsilon: int) -> None:
    # 600 tallies of 200 users: a coverage of 95 % or more is seen below 92 % with probability 1e-3, for each of six.
    scheme, counts = MEAN(epsilon=epsilon, domain=Ordered(0, 20)), crowd(shape, 21, 200)
    truth = float(counts @ np.arange(21)) / 200
    rng = SeededRandom(11)
    rows = [scheme.simulate(counts, rng).mean() for _ in range(600)]
    covered = np.mean([low <= truth <= high for low, high in (row.interval() for row in rows)])
    assert covered >= 0.92
    # Unbiased within five standard errors; the stated variance is at least the true one.
    law = scheme.mean_variance(counts)
    assert abs(np.mean([row.value for row in rows]) - truth) < 5 * (law / 600) ** 0.5
    assert np.mean([row.variance for row in rows]) >= 0.99 * law


def test_a_few_equal_bits_do_not_make_the_mean_certain() -> None:
    scheme = MEAN(epsilon=8, domain=Ordered(0, 20))
    low, high = scheme.simulate({0: 5}, SeededRandom(1)).mean().interval()
    assert high - low > 5


def test_means_are_in_the_units_of_the_domain() -> None:
    dates = MEAN(epsilon=1, domain=Ordered.dates("2024-01-01", "2024-12-31"))
    tally = dates.simulate({"2024-03-01": 2000, "2024-09-01": 2000}, SeededRandom(3))
    assert tally.mean_answer().columns()["value"].tolist()[0].startswith("2024-0")
    assert "value" in tally.mean_answer().to_csv()


def test_the_mean_of_any_tally_in_order_is_that_of_its_estimates() -> None:
    for name in ("SLIDE", "OUE", "SW"):
        tally = plausibly.make(name, epsilon=1, domain=Ordered(0, 20)).simulate(
            crowd("uniform", 21, 500), SeededRandom(1)
        )
        one, other = tally.mean(), tally.estimate().mean()
        assert (one.value, one.variance) == (other.value, other.variance)
    with pytest.raises(StateError, match="items of an ordered domain"):
        plausibly.make("OUE", epsilon=1, domain=["a", "b"]).accumulator().mean()


def test_what_it_refuses() -> None:
    with pytest.raises(ParameterError, match="MEAN needs values in the order only"):
        MEAN(epsilon=1, domain=Ordered(0, 9, other=True))
    with pytest.raises(ParameterError, match="expected more, or fewer items"):
        MEAN(epsilon="1/10000000000", domain=Ordered(0, 2**32 - 2))
    oracle = MEAN(epsilon=1, domain=plausibly.Integers(8))
    with pytest.raises(ParameterError, match="whose estimates are not sums over reports"):
        plausibly.make("CM", oracle=oracle, rows=2, domain_size=9)


def test_thresholds_stay_between_the_two_ends() -> None:
    scheme = MEAN(epsilon=1, domain=Ordered(0, 120))
    assert 0 < scheme.first < scheme.first + scheme.step * 120 <= WORD - scheme.first
    assert scheme.step * 121 + scheme.first > WORD - scheme.first


@pytest.mark.full
def test_the_mean_of_slide_is_noisier_by_as_much_as_the_guide_says() -> None:
    ratios = {}
    for size in (64, 1024):
        places, even = np.arange(size), np.ones(size, dtype=np.int64)
        for epsilon in (0.5, 1, 3):
            slide = plausibly.make("SLIDE", epsilon=epsilon, domain=Ordered(0, size - 1))
            law = predicted_of(slide.estimator(), even.astype(float), size)
            assert law is not None
            weights = (places - places.mean())[None] / size
            mine = MEAN(epsilon=epsilon, domain=Ordered(0, size - 1)).mean_variance(even)
            ratios[size, epsilon] = float(law.weighted(weights)[1][0]) / mine
    small = [ratio for (_, epsilon), ratio in ratios.items() if epsilon <= 1]
    assert 3.4 < min(small) < 3.6 < 6.0 < max(small) < 6.2
    assert 1.0 < ratios[64, 3] < 1.2 < 1.8 < ratios[1024, 3] < 2.0


def test_intervals_are_wider_than_needed_by_as_much_as_the_decision_says() -> None:
    even = np.ones(10_001, dtype=np.int64)
    for epsilon, wider in ((1, 1.04), (3, 1.17)):
        scheme = MEAN(epsilon=epsilon, domain=Ordered(0, 10_000))
        largest = scheme.estimator().largest_error(len(even))
        assert largest / scheme.mean_variance(even) ** 0.5 == pytest.approx(wider, abs=0.005)
