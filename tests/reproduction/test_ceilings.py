"""The two ceilings: their laws by enumeration, their draws by brute force, their order on small crowds."""

from __future__ import annotations

from itertools import product
from math import erfc, exp, log, sqrt

import numpy as np
import pytest

from plausibly import ParameterError
from plausibly.experiments.search_scores import score
from plausibly.experiments.string_crowds import DATASETS, MAX_LENGTH, URL_CLICKS_N, Crowd
from reproduction.ceilings import (
    STEP,
    UNHELD,
    character_prior,
    drawn_nulls,
    exhaustive,
    known_candidates,
    passing,
)

COUNTS = {"abca": 90, "ab": 60, "cc": 40, "b": 30, "bbbb": 20, "acb": 10, "caba": 1}
SMALL = Crowd("by hand", np.array(list(COUNTS)), np.array(list(COUNTS.values())))
SYMBOLS, LENGTH = 4, 4
ROUNDING = LENGTH * STEP / 2
"""How far a binned logarithm may be from the exact one."""


def every_string() -> list[str]:
    return ["".join(letters) for length in range(LENGTH + 1) for letters in product("abc", repeat=length)]


def log_prior(string: str) -> float:
    """The exact prior, character by character, the pad last unless the string is full."""
    total = 0.0
    for place in range(min(len(string) + 1, LENGTH)):
        here = [(other[place : place + 1], count) for other, count in COUNTS.items() if len(other) >= place]
        same = sum(count for symbol, count in here if symbol == string[place : place + 1])
        total += log(0.95 * same / sum(count for _, count in here) + 0.05 / SYMBOLS)
    return total


def tail(z: float) -> float:
    return erfc(z / sqrt(2)) / 2


def brute_force(epsilon: float, k: int, rng: np.random.Generator) -> list[str]:
    """The exhaustive search with every string simulated."""
    noise = sqrt(SMALL.n * 4 * exp(epsilon)) / (exp(epsilon) - 1)
    z = {string: COUNTS.get(string, 0) / noise + rng.standard_normal() for string in every_string()}
    odds = {string: k * exp(max(z[string], 0) ** 2 / 2 + PRIOR[string]) for string in z}
    likely = sorted((z[string] for string in z if odds[string] > 1), reverse=True)
    kth = likely[k - 1] if len(likely) >= k else 0.0
    rank = {string: odds[string] / (1 + odds[string]) * tail(kth - z[string]) for string in z}
    return sorted(z, key=lambda string: -rank[string])[:k]


PRIOR = {string: log_prior(string) for string in every_string()}
UNHELD_PRIOR = np.array([nats for string, nats in PRIOR.items() if string not in COUNTS])


def test_the_exact_prior_is_a_probability() -> None:
    assert sum(map(exp, PRIOR.values())) == pytest.approx(1)


def test_the_bins_of_held_strings_are_their_prior() -> None:
    prior = character_prior(SMALL, LENGTH, SYMBOLS)
    assert -STEP * prior.held == pytest.approx([PRIOR[string] for string in COUNTS], abs=ROUNDING)


def test_every_string_that_nobody_holds_is_counted_in_its_bin() -> None:
    unheld = character_prior(SMALL, LENGTH, SYMBOLS).unheld
    assert unheld.sum() == len(every_string()) - len(COUNTS) == 114
    assert np.array_equal(unheld, np.rint(unheld))
    bins = np.repeat(np.arange(len(unheld)), unheld.astype(int))
    assert -STEP * bins == pytest.approx(np.sort(UNHELD_PRIOR)[::-1], abs=ROUNDING)


@pytest.mark.parametrize(("length", "alphabet_size"), [(6, 40), (10, 257), (MAX_LENGTH, 40), (MAX_LENGTH, 20_000)])
def test_the_prior_of_all_strings_sums_to_one(length: int, alphabet_size: int) -> None:
    prior = character_prior(DATASETS["short-strings"](20_000, 6, 0), length, alphabet_size)
    strings = sum((alphabet_size - 1) ** letters for letters in range(length + 1))
    assert prior.unheld.sum() + len(prior.held) == pytest.approx(strings)
    occupied = np.flatnonzero(prior.unheld)
    total = np.exp(np.log(prior.unheld[occupied]) - STEP * occupied).sum() + np.exp(-STEP * prior.held).sum()
    assert abs(log(total)) < length * STEP / 2


@pytest.mark.parametrize("threshold", [-6.0, -4.0, -3.0, -2.0, 0.0])
def test_as_many_unheld_strings_are_expected_above_a_threshold_as_by_enumeration(threshold: float) -> None:
    def enumerated(least: float) -> float:
        return sum(1.0 if nats > least else tail(sqrt(2 * (least - nats))) for nats in UNHELD_PRIOR.tolist())

    unheld = character_prior(SMALL, LENGTH, SYMBOLS).unheld
    expected = unheld @ passing(np.arange(len(unheld)), threshold)
    assert enumerated(threshold + ROUNDING) <= expected <= enumerated(threshold - ROUNDING)


@pytest.mark.full
@pytest.mark.parametrize("wanted", [20, 1_000])
def test_unheld_strings_are_drawn_as_often_as_by_brute_force(wanted: int) -> None:
    rng = np.random.default_rng(11)
    unheld = character_prior(SMALL, LENGTH, SYMBOLS).unheld
    runs, thresholds = 500, np.array([-3.0, -2.5, -2.0, -1.0])
    drawn, simulated = np.zeros((runs, 4)), np.zeros((runs, 4))
    for run in range(runs):
        bins, z = drawn_nulls(unheld, wanted, rng)
        nats = np.maximum(z, 0) ** 2 / 2 - STEP * bins
        drawn[run] = (nats[:, None] > thresholds).sum(axis=0)
        every = np.maximum(rng.standard_normal(len(UNHELD_PRIOR)), 0) ** 2 / 2 + UNHELD_PRIOR
        simulated[run] = (every[:, None] > thresholds).sum(axis=0)
    # The means of both, and the variances, which a Poisson law would make too large where most strings pass. 4σ and
    # eight comparisons for each case: one seed in 1,000 fails. Binning moves the means by less than a tenth of that.
    for statistic in (drawn, simulated), ((drawn - drawn.mean(0)) ** 2, (simulated - simulated.mean(0)) ** 2):
        difference = statistic[0] - statistic[1]
        assert (abs(difference.mean(0)) < 4 * difference.std(0) / sqrt(runs)).all()


@pytest.mark.full
def test_about_as_many_unheld_strings_are_drawn_as_wanted() -> None:
    prior = character_prior(DATASETS["short-strings"](20_000, 6, 0), MAX_LENGTH, 40)
    bins, z = drawn_nulls(prior.unheld, 500, np.random.default_rng(0))
    # Poisson of mean 495 to 500: outside in one seed of 100,000.
    assert 400 < len(z) < 600
    nats = np.maximum(z, 0) ** 2 / 2 - STEP * bins
    # ln P sums to one: about one string in 500 passes what 500 do by ln 500.
    assert nats.max() - nats.min() < log(500) + 12


@pytest.mark.full
@pytest.mark.parametrize("epsilon", [1.0, 2.0])
def test_the_exhaustive_search_scores_as_by_brute_force(epsilon: float) -> None:
    rng = np.random.default_rng(3)
    runs = 200
    ours = [score(exhaustive(SMALL, epsilon, 3, LENGTH, SYMBOLS, rng), SMALL, 3).f1 for _ in range(runs)]
    brute = [score(brute_force(epsilon, 3, rng), SMALL, 3).f1 for _ in range(runs)]
    assert 0.1 < np.mean(brute) < 0.95
    # 4σ: one seed in 16,000.
    assert abs(np.mean(ours) - np.mean(brute)) < 4 * sqrt((np.var(ours) + np.var(brute)) / runs)


def test_without_noise_both_find_the_top() -> None:
    rng = np.random.default_rng(0)
    assert known_candidates(SMALL, 30.0, 4, rng) == ["abca", "ab", "cc", "b"]
    assert set(exhaustive(SMALL, 30.0, 4, LENGTH, SYMBOLS, rng)) == {"abca", "ab", "cc", "b"}


def test_longer_strings_are_cut_to_the_length_that_is_searched() -> None:
    assert exhaustive(SMALL, 30.0, 1, 1, SYMBOLS, np.random.default_rng(0)) == ["a"]


def test_where_nothing_is_heavy_unheld_strings_come_first() -> None:
    crowd = DATASETS["uniform"](20_000, 6, 0)
    # Four billion strings that nobody holds against 20,000 that somebody does.
    assert exhaustive(crowd, 1.0, 10, 6, 40, np.random.default_rng(0)) == [UNHELD] * 10


@pytest.mark.full
def test_ceilings_rise_with_epsilon_and_known_candidates_help() -> None:
    crowd = DATASETS["short-strings"](20_000, 6, 0)
    rng = np.random.default_rng(8)
    runs = 16

    def average(epsilon: float) -> tuple[float, float]:
        known = [score(known_candidates(crowd, epsilon, 10, rng), crowd, 10).f1 for _ in range(runs)]
        found = [score(exhaustive(crowd, epsilon, 10, 6, 40, rng), crowd, 10).f1 for _ in range(runs)]
        return float(np.mean(known)), float(np.mean(found))

    averages = np.array([average(epsilon) for epsilon in (0.5, 1.0, 2.0)])
    # All these differences are .1 or more, and four standard errors or more: one seed in 5,000 fails.
    assert (np.diff(averages, axis=0) > 0).all()
    assert (averages[1:, 0] > averages[1:, 1]).all()


@pytest.mark.full
@pytest.mark.parametrize("length", [6, MAX_LENGTH])
def test_the_ceilings_of_full_size_are_nearly_one(length: int) -> None:
    crowd = DATASETS["url-clicks"](URL_CLICKS_N, length, 0)
    rng = np.random.default_rng(1)
    # .97 and more on average, with a deviation of .05 per run: the mean of three is below .85 in one seed of 30,000.
    assert np.mean([score(known_candidates(crowd, 3.0, 10, rng), crowd, 10).f1 for _ in range(3)]) > 0.85
    assert np.mean([score(exhaustive(crowd, 3.0, 10, length, 40, rng), crowd, 10).f1 for _ in range(3)]) > 0.85


@pytest.mark.parametrize(
    ("epsilon", "k", "length", "alphabet_size"),
    [(0.0, 3, 4, 4), (float("nan"), 3, 4, 4), (1.0, 0, 4, 4), (1.0, 3, 65, 4), (1.0, 3, 4, 3)],
)
def test_searches_that_make_no_sense_are_refused(epsilon: float, k: int, length: int, alphabet_size: int) -> None:
    with pytest.raises(ParameterError, match="expected"):
        exhaustive(SMALL, epsilon, k, length, alphabet_size, np.random.default_rng(0))
