"""The square wave: exact privacy by enumeration, its decoder, and what it is good and bad at."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot

import naive
import plausibly
from ordered.crowds import crowd
from plausibly import Ordered, ParameterError, SeededRandom, StateError
from plausibly.core.enumeration import output_law, worst_ratio
from plausibly.core.probability import WORD
from plausibly.ordered.most_likely import _near, _sums_near
from plausibly.ordered.square_wave import SW, _best_reach


@pytest.mark.parametrize(("epsilon", "length"), [("1/2", 5), (1, 9), (3, 12)])
def test_the_square_wave_is_exactly_as_likely_as_it_says(epsilon: Any, length: int) -> None:
    scheme = SW(epsilon=epsilon, domain=Ordered(0, length - 1))
    client = scheme.randomizer
    laws = [output_law(client, x, ()) for x in range(length)]
    p = Fraction(scheme.keep, WORD)
    for x, law in enumerate(laws):
        for place in range(scheme.places):
            record = place.to_bytes(scheme.report_dtype.itemsize, "little")
            near = x <= place < x + scheme.width
            assert Fraction(law.weights.get(record, 0), law.denominator) == (
                p / scheme.width if near else (1 - p) / (length - 1)
            )
    assert worst_ratio(laws) == client.worst_ratio()
    assert scheme.privacy_loss() <= scheme.epsilon


def test_the_reach_is_the_published_optimum() -> None:
    # b(1) = 1/(2e(e-2)) of the domain, from Li et al. (2020).
    assert SW(epsilon=1, domain=Ordered(0, 9_999)).reach == int(10_000 / (2 * np.e * (np.e - 2)))


def test_the_reach_of_a_tiny_epsilon_is_almost_half_of_the_items() -> None:
    # 1/2 - eps/6 of the domain and less: differences of e^eps cancel to eps^2/2, and need that many more digits.
    for digits in (6, 17, 18, 30, 100):
        assert [_best_reach(Fraction(1, 10**digits), size) for size in (2, 3, 5, 1000)] == [0, 1, 2, 499]
    with pytest.raises(ParameterError, match="too small for an alphabet of 5"):
        SW(epsilon=Fraction(1, 10**30), domain=Ordered(0, 2))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("smooth", [True, False])
def test_estimates_without_noise_are_found_at_once(smooth: bool) -> None:
    # At eps = 50, a place far from the value has the probability 2^-64/199, which is 0 beside 1 but not by itself.
    scheme = SW(epsilon=50, domain=Ordered(0, 199))
    tally = scheme.accumulator()
    tally.add(scheme.privatize(np.repeat([30, 31, 120], 100), rng=SeededRandom(1)))
    values = tally.estimate(smooth=smooth).values
    assert values.sum() == pytest.approx(300)
    assert values[20:41].sum() == pytest.approx(200, rel=0.05)


def test_the_bulk_path_makes_the_records_of_the_client() -> None:
    scheme = SW(epsilon=1, domain=Ordered(0, 20))
    items = np.arange(21).repeat(3)
    reports = scheme.privatize(items, SeededRandom(4))
    stream = plausibly.core.randomness.open_stream(SeededRandom(4))
    for i, item in enumerate(items.tolist()):
        source = stream.source(scheme.layout, i)
        assert scheme.randomizer.perturb(item, (), source) == reports[i].tobytes()


def test_sums_over_windows_follow_their_definition() -> None:
    shares, ratio = np.arange(7.0) ** 2, np.arange(11.0) ** 3
    assert _near(shares, 5).tolist() == [sum(shares[x] for x in range(7) if x <= place < x + 5) for place in range(11)]
    assert _sums_near(ratio, 5).tolist() == [ratio[x : x + 5].sum() for x in range(7)]


def test_estimates_are_nonnegative_add_up_and_have_no_interval() -> None:
    scheme = SW(epsilon=1, domain=Ordered(0, 31))
    for smooth in (True, False):
        found = scheme.simulate(crowd("empty tails", 32, 5000), SeededRandom(3)).estimate(smooth=smooth)
        assert found.variance is None
        assert (found.values >= 0).all()
        assert found.values.sum() == pytest.approx(5000)
        assert "maximum likelihood" in str(found.history[0])
    with pytest.raises(StateError, match="no variance, hence no interval"):
        found.interval()


def test_without_smoothing_no_distribution_nearby_is_more_likely() -> None:
    scheme = SW(epsilon=2, domain=Ordered(0, 11))
    tally = scheme.simulate(crowd("spiky", 12, 3000), SeededRandom(8))
    found = tally.estimate(smooth=False).values / 3000
    wave = np.array([[float(scheme.likelihood(report, x)) for x in range(12)] for report in _records(scheme)])
    seen = np.asarray(tally.evidence, dtype=float)

    def likelihood(shares: Any) -> float:
        return float(seen @ np.log(wave @ shares))

    best = likelihood(found)
    for x in range(12):
        # Towards each corner: the gain of a step is at most what the stopping rule leaves.
        assert likelihood(0.999 * found + 0.001 * np.eye(12)[x]) < best + 0.05


def _records(scheme: SW) -> Any:
    reports = np.zeros(scheme.places, dtype=scheme.report_dtype)
    reports["place"] = np.arange(scheme.places)
    return reports


@pytest.mark.parametrize("smooth", [True, False])
def test_estimates_are_those_of_the_published_algorithm(smooth: bool) -> None:
    scheme = SW(epsilon=1, domain=Ordered(0, 14))
    reports = scheme.privatize_encoded(np.arange(900, dtype=np.uint64) ** 2 % np.uint64(11), SeededRandom(5))
    tally = scheme.accumulator()
    tally.add(reports)
    wanted = naive.square_wave(scheme.to_dict(), reports["place"].tolist(), smooth)
    np.testing.assert_allclose(tally.estimate(smooth=smooth).values / 900, wanted, rtol=1e-9, atol=1e-12)


def test_smoothing_helps_smooth_crowds_and_hurts_spikes() -> None:
    # One of ten items has every user: smoothing spreads them for good, whatever the number of reports.
    scheme = SW(epsilon=4, domain=Ordered(0, 9))
    counts = np.where(np.arange(10) == 4, 200_000, 0)
    tally = scheme.simulate(counts, SeededRandom(2))
    assert tally.estimate().values[4] < 0.9 * 200_000 < tally.estimate(smooth=False).values[4]


@pytest.mark.full
def test_few_users_of_a_smooth_crowd_prefer_the_wave_and_many_of_a_spiky_one_slide() -> None:
    # The corners of the table in the guide, four collections each; with fixed seeds.
    years = np.arange(121)
    smooth = years**5 * np.exp(-years / 6.5)
    smooth /= smooth.sum()
    spiky = 0.5 * smooth + 0.1 * np.isin(years, [18, 21, 30, 40, 50])
    assert _error("SW", smooth, 2000) < _error("SLIDE", smooth, 2000) / 1.2
    assert _error("SW", spiky, 200_000) > 2 * _error("SLIDE", spiky, 200_000)


def _error(name: str, shares: Any, users: int) -> float:
    # Root mean squared error of the distribution function; that of SLIDE is made to rise.
    counts = np.diff(np.rint(np.cumsum(shares) * users).astype(int), prepend=0)
    scheme, truth, squares = plausibly.make(name, epsilon=1, domain=Ordered(0, 120)), np.cumsum(counts), []
    for seed in range(4):
        found = scheme.simulate(counts, SeededRandom(seed)).estimate().postprocess("monotone")
        squares.append(np.mean((found.cdf().values - truth) ** 2))
    return float(np.mean(squares) ** 0.5)


@pytest.mark.parametrize(
    "domain",
    [Ordered(0, 59, unit="years"), Ordered.bins([0, 1, 2.5, 10, 100]), Ordered.dates("2024-01-01", "2024-03-01")],
)
def test_answers_about_the_order_have_values_and_no_intervals(domain: Ordered) -> None:
    found = SW(epsilon=2, domain=domain).simulate(crowd("uniform", domain.length, 3000), SeededRandom(1)).estimate()
    first, last = domain.scale.starts[0], domain.scale.stops[domain.length // 2]
    ends = domain.written(first), domain.written(last)
    for answer in (found.cdf(simultaneous=True), found.quantiles([0.5]), found.mean_answer(), found.ranges([ends])):
        assert answer.variance is None
        with pytest.raises(StateError, match=r"error of estimates by smoothed maximum likelihood is unknown; .*SLIDE"):
            answer.interval()
        assert not {"low", "high", "standard_error"} & set(answer.columns())
        assert "interval" not in " ".join(answer.texts())
        assert any(remark.startswith("No interval: ") for remark in answer.remarks())
        assert "No interval" in repr(answer)
    with pytest.raises(StateError, match=r"hence no interval, after .*; collect with SLIDE"):
        found.interval()
    assert found.cdf().values[-1] == pytest.approx(3000)
    middle = domain.points()
    assert float(found.mean()) == pytest.approx(float(found.values @ middle) / 3000)
    assert found.ranges([ends]).values[0] == pytest.approx(found.values[: domain.length // 2 + 1].sum())


def test_charts_without_intervals_say_so() -> None:
    found = SW(epsilon=2, domain=Ordered(0, 59)).simulate(crowd("uniform", 60, 3000), SeededRandom(1)).estimate()
    for answer in (found.binned(), found.cdf(), found.quantiles()):
        drawn = answer.plot()
        assert "no interval" in drawn.get_xlabel()
        pyplot.close(drawn.figure)
    assert "the noise is unknown" in found.binned().reason
    pyplot.close(found.plot().figure)


def test_monotone_leaves_square_waves_as_they_are() -> None:
    found = SW(epsilon=2, domain=Ordered(0, 59)).simulate(crowd("uniform", 60, 3000), SeededRandom(1)).estimate()
    changed = found.postprocess("monotone")
    np.testing.assert_allclose(changed.cdf().values, found.cdf().values)
    assert not changed.cdf().has_interval


def test_an_item_for_other_values_is_refused() -> None:
    with pytest.raises(ParameterError, match="SW reports places in the order only"):
        SW(epsilon=1, domain=Ordered(0, 9, other=True))
