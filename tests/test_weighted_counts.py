"""Weighted counts as docs/collecting.md computes them: the variances are exact."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import plausibly

WEIGHTS = np.array([1, 2, 5])


def test_weighted_sums_of_unary_counts_have_the_weighted_sum_of_variances() -> None:
    # One user with the second item: all eight reports, each with its exact probability.
    scheme = plausibly.make("OUE", epsilon=2, domain_size=3)
    reports = np.zeros(8, dtype=scheme.report_dtype)
    reports["bits"][:, 0] = range(8)
    chances, values = [], []
    for report in reports:
        tally = scheme.accumulator()
        tally.add(np.array([report]))
        chances.append(float(Fraction(scheme.likelihood(report, 1))))
        values.append(WEIGHTS @ tally.estimate().values)
    assert sum(chances) == pytest.approx(1)
    mean = np.dot(chances, values)
    assert mean == pytest.approx(2)
    variance = np.dot(chances, np.square(np.array(values) - mean))
    assert variance == pytest.approx(sum(w**2 * scheme.variance(1, f) for w, f in zip(WEIGHTS, (0, 1, 0), strict=True)))


@pytest.mark.parametrize(("weight", "most"), [(1, 5), (2, 5), (5, 5)])
def test_drawing_by_weight_adds_the_variance_of_the_draw(weight: int, most: int) -> None:
    # One user: reports the item with probability w/W, else "none"; both coins enumerated.
    scheme = plausibly.make("DE", epsilon=2, domain=["none", "item"])
    chances, values = [], []
    for held, sent in product(range(2), range(2)):
        report = np.zeros(1, dtype=scheme.report_dtype)
        report["item"] = sent
        tally = scheme.accumulator()
        tally.add(report)
        drawn = weight / most if held else 1 - weight / most
        chances.append(drawn * float(Fraction(scheme.likelihood(report[0], held))))
        values.append(most * tally.estimate().values[1])
    assert np.dot(chances, values) == pytest.approx(weight)
    variance = np.dot(chances, np.square(np.array(values) - weight))
    noise = scheme.variance(1, 0) + weight / most * (scheme.variance(1, 1) - scheme.variance(1, 0))
    assert variance == pytest.approx(most**2 * noise + weight * (most - weight))
    assert weight * (most - weight) <= (most - 1) * weight
