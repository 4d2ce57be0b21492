"""Errors of ordered values: against slow and obvious definitions, and against the exact laws."""

from __future__ import annotations

import numpy as np
import pytest

import plausibly
from plausibly import Ordered
from plausibly.core.bound import Workload
from plausibly.core.linear import predicted_of
from plausibly.experiments.cells import PLAIN, Cell, view
from plausibly.experiments.measures import measure
from plausibly.experiments.order_errors import order_errors, range_optimum, range_theory

GENERATOR = np.random.default_rng(20)
TRUTH = GENERATOR.multinomial(1000, np.full(9, 1 / 9))
NOISY = TRUTH + GENERATOR.normal(0, 40, 9)


def test_the_error_of_ranges_is_that_of_all_of_them() -> None:
    off = (NOISY - TRUTH) / 1000
    squares = [off[first:last].sum() ** 2 for first in range(9) for last in range(first + 1, 10)]
    assert order_errors(NOISY, TRUTH)["range_mse"] == pytest.approx(np.mean(squares), rel=1e-12)


def test_the_errors_of_the_distribution_function() -> None:
    off = [abs(NOISY[:last].sum() - TRUTH[:last].sum()) / 1000 for last in range(1, 10)]
    found = order_errors(NOISY, TRUTH)
    assert found["cdf_error"] == pytest.approx(np.mean(off))
    assert found["cdf_worst"] == pytest.approx(max(off))


def test_a_decile_is_wrong_by_the_share_of_users_between() -> None:
    truth = np.array([500, 0, 0, 500])
    # Every item from the first to the last is a median of these users.
    for found in ([500, 0, 0, 500], [400, 100, 100, 400]):
        errors = order_errors(np.array(found, dtype=float), truth)
        assert (errors["quantile_error"] == 0) == (found[0] == 500)
    # All estimated users have the third item: right for the median, wrong by 10 % to 40 % for the others.
    errors = order_errors(np.array([0.0, 0.0, 1000.0, 0.0]), truth)
    assert errors["quantile_error"] == pytest.approx(2 * (0.1 + 0.2 + 0.3 + 0.4) / 9)


def test_deciles_are_those_of_the_estimates() -> None:
    scheme = plausibly.make("SLIDE", epsilon=2, domain=Ordered(0, 63))
    truth = np.bincount(np.arange(20_000) % 64, minlength=64)
    estimates = scheme.simulate(truth, plausibly.SeededRandom(3)).estimate()
    deciles = estimates.quantiles(np.arange(1, 10) / 10).values.astype(int)  # type: ignore[attr-defined]
    shares = np.append(0, np.cumsum(truth)) / 20_000
    off = [max(0, shares[item] - p / 10, p / 10 - shares[item + 1]) for p, item in enumerate(deciles, 1)]
    assert order_errors(estimates.values, truth)["quantile_error"] == pytest.approx(np.mean(off))


@pytest.mark.parametrize("name", ["SLIDE", "HH", "HAAR", "SS", "OUE"])
def test_theory_is_the_mean_variance_of_all_ranges(name: str) -> None:
    scheme = plausibly.make(name, epsilon=1, domain=Ordered(0, 8))
    law = predicted_of(scheme.estimator(), TRUTH.astype(float), 1000)
    assert law is not None
    ranges = [[first <= item < last for item in range(9)] for first in range(9) for last in range(first + 1, 10)]
    variances = law.weighted(np.array(ranges, dtype=float))[1]
    assert range_theory(scheme, TRUTH, {}) == pytest.approx(variances.mean() / 1000**2, rel=1e-9)


def test_the_least_possible_error_is_the_bound() -> None:
    assert range_optimum(9, 1000, 1.0)["range_mse_optimum"] == Workload.of_ranges(9).bound(1.0) / 1000


def test_only_orders_that_mean_something_are_measured_by_ranges() -> None:
    cells = [Cell("SLIDE", data=data, n=500, d=16, epsilon=1) for data in ("uniform", "even")]
    (codes, values) = (measure(cell, [PLAIN, view("monotone")])[1] for cell in cells)
    assert "mse" in codes["plain"]
    assert "range_mse" not in codes["plain"]
    assert "mse" not in values["plain"]
    assert values["plain"].keys() - values["monotone"].keys() == {"range_mse_theory"}
    without = measure(Cell("SW", data="even", n=500, d=16, epsilon=1), [PLAIN])[1]
    assert "range_mse_theory" not in without["plain"], "no law"


@pytest.mark.full
def test_measured_errors_of_ranges_are_those_of_the_law() -> None:
    # The mean squared error of 200 collections; the standard error is estimated from them. By chance, a mean is more
    # than four of them off once in 15,000 times, and there are three.
    for name in ("SLIDE", "HH", "HAAR"):
        cells = [Cell(name, data="spiky", n=200, d=16, epsilon=1, repeat=repeat) for repeat in range(200)]
        found = [measure(cell, [PLAIN])[1]["plain"] for cell in cells]
        ratios = np.array([each["range_mse"] / each["range_mse_theory"] for each in found])
        assert abs(ratios.mean() - 1) < 4 * ratios.std() / 200**0.5
