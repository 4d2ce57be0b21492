"""Evidence: ties are called ties at the stated rate, differences are found, and lines of one collection are paired."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, log, sqrt

import numpy as np
import pytest

from plausibly.experiments.evidence import LEVEL, Contrast, Evidence, all_of, any_of, average, chance_above
from plausibly.experiments.findings import Curves, Mean, Outcome, decided

REPEATS = 5
NOISE = 0.02
"""Relative standard deviation of a mean squared error in one repeat."""
TRIALS = 4000
# Five standard deviations of a binomial count: one false alarm in a million runs.
MOST = LEVEL + 5 * sqrt(LEVEL * (1 - LEVEL) / TRIALS)


def planted(generator: np.random.Generator, ratio: float, name: str = "") -> Contrast:
    """Two lines with their own seeds, one higher than the other by this ratio."""

    def values(level: float) -> tuple[float, ...]:
        return tuple((log(level) + NOISE * generator.standard_normal(REPEATS)).tolist())

    lower = values(1.0)
    return Contrast({f"{name}A": values(ratio), f"{name}B": tuple(-value for value in lower)}, is_ratio=True)


def rates(evidence: Iterable[Evidence]) -> tuple[float, float]:
    """The fractions of claims that were confirmed and refuted."""
    told = [(one.confirmed, one.refuted) for one in evidence]
    assert not any(yes and no for yes, no in told)
    return sum(yes for yes, _ in told) / len(told), sum(no for _, no in told) / len(told)


@pytest.mark.full
def test_a_planted_tie_cannot_be_told() -> None:
    generator = np.random.default_rng(1)
    confirmed, refuted = rates(planted(generator, 1.0).above(1) for _ in range(TRIALS))
    assert 0 < confirmed <= MOST
    assert 0 < refuted <= MOST


@pytest.mark.full
def test_a_claim_of_several_ties_cannot_be_told_either() -> None:
    generator = np.random.default_rng(2)
    # Nine clear comparisons do not make up for the tie; ten ties are not refuted more often than one.
    clear = [planted(generator, 1.5, f"{place}").above(1) for place in range(9)]
    confirmed, _ = rates(all_of([planted(generator, 1.0).above(1), *clear]) for _ in range(TRIALS))
    assert confirmed <= MOST
    tied = (all_of(planted(generator, 1.0, f"{place}").above(1) for place in range(10)) for _ in range(TRIALS))
    confirmed, refuted = rates(tied)
    assert confirmed == 0
    assert refuted <= MOST
    confirmed, _ = rates(any_of(planted(generator, 1.0, f"{n}").above(1) for n in range(10)) for _ in range(TRIALS))
    assert confirmed <= MOST


@pytest.mark.full
def test_a_tie_with_few_and_unequal_repeats_cannot_be_told() -> None:
    generator = np.random.default_rng(3)

    def pair() -> Contrast:
        few, many = (0.05 * generator.standard_normal(2)).tolist(), generator.standard_normal(5).tolist()
        return Contrast({"A": tuple(few), "B": tuple(many)}, is_ratio=True)

    # Satterthwaite's degrees of freedom are approximate.
    confirmed, refuted = rates(pair().above(1) for _ in range(TRIALS))
    assert max(confirmed, refuted) <= 2 * MOST


@pytest.mark.full
def test_planted_differences_are_found() -> None:
    generator = np.random.default_rng(4)
    # 10 % is eight standard errors of the difference.
    assert rates(planted(generator, 1.1).above(1) for _ in range(1000))[0] > 0.95
    assert rates(planted(generator, 1.1).below(1) for _ in range(1000))[1] > 0.95
    # The mean over ten places finds 2 %.
    means = (average(planted(generator, 1.02, f"{place}") for place in range(10)) for _ in range(1000))
    assert rates(mean.above(1) for mean in means)[0] > 0.95
    assert rates(planted(generator, 1.0).within(0.9, 1.1) for _ in range(1000))[0] > 0.9


@pytest.mark.full
def test_intervals_of_one_standard_error_mean_what_they_say() -> None:
    generator = np.random.default_rng(5)
    found = [average(planted(generator, 1.0, f"{place}") for place in range(20)) for _ in range(2000)]
    within = sum(abs(one.value - 1) <= one.error for one in found) / len(found)
    assert abs(within - 0.683) < 5 * sqrt(0.683 * 0.317 / 2000)
    assert all(40 < one.freedom <= 160 for one in found)


def test_lines_of_the_same_reports_are_compared_repeat_by_repeat() -> None:
    generator = np.random.default_rng(6)
    luck = np.exp(generator.standard_normal(REPEATS))  # shared by both lines
    lower, upper = luck, 1.1 * luck * np.exp(0.01 * generator.standard_normal(REPEATS))
    rows = [
        {"figure": "f", "sweep": "s", "label": label, "metric": "mse", "setting": "one", "value": value}
        for label, values in (("A", lower), ("B", upper))
        for value in values
    ]
    together = Curves(rows)
    ratio = together.level("f", "s", "B").over(together.level("f", "s", "A"))
    assert ratio.value == pytest.approx(1.1, rel=0.02)
    assert ratio.above(1).confirmed
    apart = Curves({**row, "setting": row["label"]} for row in rows)
    assert not apart.level("f", "s", "B").over(apart.level("f", "s", "A")).above(1).confirmed


def test_one_repeat_proves_nothing_and_equal_repeats_are_exact() -> None:
    once = Mean(2.0, samples={"A": (2.0,)}).over(Mean(1.0, samples={"B": (1.0,)}))
    assert once.value == pytest.approx(2.0)
    assert once.error == inf
    assert f"{once}" == "2"
    assert decided(once.above(1), "", rule="it is above 1").outcome is Outcome.UNCLEAR
    same = Mean(8.0, samples={"A": (8.0, 8.0)}).over(Mean(2.0, samples={"B": (2.0, 2.0)}))
    assert same.above(3).confirmed
    assert same.above(5).refuted
    tie = same.above(4)
    assert not tie.confirmed
    assert not tie.refuted


def test_differences_of_scores() -> None:
    better = Mean(0.5, samples={"A": (0.5, 0.6, 0.4)}).minus(Mean(0.0, samples={"B": (0.0, 0.0, 0.0)}))
    assert better.value == pytest.approx(0.5)
    assert better.error == pytest.approx(0.1 / sqrt(3))
    assert str(better) == "0.50 ± 0.06"
    # The ratio to a score of zero has no error.
    assert not Mean(0.5, samples={"A": (0.5, 0.6)}).over(Mean(0.5, samples={"B": (0.0, 1.0)})).above(1).confirmed


def test_verdicts_carry_their_rule() -> None:
    ratio = Contrast({"A": (0.5, 0.5001)}, is_ratio=True)
    told = decided(all_of([ratio.above(1), ratio.below(2)]), "1.65", "So.", rule="the ratio is above 1 and below 2")
    assert told.outcome is Outcome.REPRODUCED
    assert told.rule == "the ratio is above 1 and below 2 (2 comparisons, p < 0.0001 if the claim were false)"
    assert decided(ratio.above(2), "", rule="").outcome is Outcome.NOT_REPRODUCED
    assert str(Evidence(0.3, 0.7)) == "p = 0.3 against the claim being false, p = 0.7 against it being true"


@pytest.mark.full
def test_students_distribution() -> None:
    stats = pytest.importorskip("scipy.stats")
    for freedom in (1, 2.5, 4, 8, 33.3, 200):
        for t in (-3.0, 0.0, 0.1, 1.0, 3.747, 30.0):
            assert chance_above(t, freedom) == pytest.approx(float(stats.t.sf(t, freedom)), rel=1e-9)
    assert chance_above(2.326, inf) == pytest.approx(0.01, rel=1e-2)
    assert chance_above(inf, 4) == 0.0
    assert chance_above(3.747, 4) == pytest.approx(LEVEL, rel=1e-3)


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (2.1678, 0.0399, "2.17 ± 0.04"),
        (153.21, 3.4, "153 ± 3"),
        (0.0265, 0.000147, "0.02650 ± 0.00015"),
        (1.0, 0.0994, "1.00 ± 0.10"),
        (123_456.0, 789.0, "123,456 ± 789"),
        (1_050_000.0, 21_000.0, "1.05 ± 0.02 million"),
        (-0.00912, 0.00578, "−0.009 ± 0.006"),
        (16.0, 0.0, "16"),
    ],
)
def test_numbers_are_rounded_to_their_error(value: float, error: float, text: str) -> None:
    # Two repeats whose mean has this standard error.
    assert str(Contrast({"A": (value - error, value + error)})) == text
