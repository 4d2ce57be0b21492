"""SLIDE's law against simulated collections: unbiased answers, with the stated variance, and intervals that hold."""

from __future__ import annotations

from itertools import product
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from ordered.crowds import crowd
from plausibly import Ordered, SeededRandom
from plausibly.ordered import SLIDE

SHAPES = ("uniform", "spiky", "one giant", "empty tails")
SETTINGS = [
    *product((8, 64), (0.5, 1, 3, 5), SHAPES),
    *[(1024, eps, SHAPES[i % 4]) for i, eps in enumerate((0.5, 1, 2, 3, 4, 5))],
    *[(65_536, eps, shape) for eps, shape in ((1, "uniform"), (1, "spiky"), (3, "one giant"), (5, "empty tails"))],
]
"""Number of items, epsilon and shape of the crowd: 42 settings."""
RUNS, USERS = 1000, 2000
QUESTIONS = 5
LEVEL = 0.01
"""Chance that a right law fails in any setting: each of the comparisons has its part of it."""
CRITICAL = NormalDist().inv_cdf(1 - LEVEL / (2 * 3 * QUESTIONS * len(SETTINGS)))


def questions(length: int) -> Any:
    """A prefix, a range, two points and the mean, one a row."""
    places = np.arange(length)
    return np.array(
        [
            places <= length // 3,
            (places >= length // 4) & (places <= length // 2),
            places == length // 3,
            places == 0,
            places / length,
        ],
        dtype=np.float64,
    )


def simulated(length: int, epsilon: float, shape: str, runs: int) -> tuple[Any, Any, Any, Any]:
    """Answers and stated variances [run, question]; the truth, and the variances by the law."""
    scheme = SLIDE(epsilon=str(epsilon), domain=Ordered(0, length - 1))
    counts = crowd(shape, length, USERS)
    asked = scheme.system.ask(questions(length))
    decoder: Any = scheme.estimator()
    answers, stated = [], []
    for run in range(runs):
        tally = scheme.simulate(counts, SeededRandom(run))
        scores = decoder.item_scores(tally.evidence)
        answers.append(asked.values(scores, USERS))
        stated.append(asked.variance(scheme.system.counts(scores, USERS), USERS))
    return np.array(answers), np.array(stated), asked.weights @ counts, asked.variance(counts.astype(float), USERS)


def test_the_settings_are_as_many_as_they_should_be() -> None:
    assert len(SETTINGS) >= 40


@pytest.mark.slow
@pytest.mark.parametrize(("length", "epsilon", "shape"), SETTINGS)
def test_answers_are_unbiased_with_the_stated_variance(length: int, epsilon: float, shape: str) -> None:
    answers, stated, truth, law = simulated(length, epsilon, shape, RUNS)
    errors = answers - truth
    assert (np.abs(errors.mean(axis=0)) < CRITICAL * np.sqrt(law / RUNS)).all()
    # The error of a variance follows from the fourth moment.
    squares = errors**2
    assert (np.abs(squares.mean(axis=0) - law) < CRITICAL * squares.std(axis=0) / sqrt(RUNS)).all()
    assert (np.abs(stated.mean(axis=0) - law) < CRITICAL * stated.std(axis=0) / sqrt(RUNS) + 1e-9 * law).all()
    # Intervals of 95 % hold in 93.5 to 96.5 % of all runs, up to their binomial error.
    inside = np.abs(errors) < 1.96 * np.sqrt(stated)
    assert abs(inside.mean() - 0.95) < 0.015 + CRITICAL * sqrt(0.05 * 0.95 / inside.size)


@pytest.mark.full
def test_answers_of_one_setting_are_unbiased_with_the_stated_variance() -> None:
    answers, stated, truth, law = simulated(64, 1, "spiky", 200)
    errors = answers - truth
    # Twenty comparisons at four standard errors: a false alarm once in 800 seeds.
    assert (np.abs(errors.mean(axis=0)) < 4 * np.sqrt(law / 200)).all()
    assert (np.abs((errors**2).mean(axis=0) - law) < 4 * (errors**2).std(axis=0) / sqrt(200)).all()
    assert (np.abs(stated.mean(axis=0) / law - 1) < 0.02).all()
