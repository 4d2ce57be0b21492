"""The errors of every oracle follow its law: mean squared error, bias, intervals, on Zipf(1.1) data.

How often would a sound library fail here? The bar for the mean squared error is three standard errors in each of
120 cells. With the spread estimated from 29 to 2900 runs, Student's t exceeds 3 with probability 0.003 to 0.006, so
one set of seeds in three has some cell outside; a bar of 4.2 would make that one in a hundred. The seeds are the
names of the cells, taken as they came. If a change of streams or hashes moves a sound cell outside, do not look for
another seed: multiply its runs by four. A sound one returns (99.7 %), a wrong one moves further out.
"""

from __future__ import annotations

from math import hypot

import numpy as np
import pytest

from cases import in_turn

from .measure import (
    ACCURACY_CELLS,
    EPSILONS,
    LARGE_CELLS,
    Case,
    Cell,
    accuracy,
    assert_intervals_cover,
    mean_and_error,
    measure,
    predicted_variance,
)


def _marked(cell):
    # Thousands of runs take ten seconds, however short they are.
    slow = cell.is_long or cell.runs > 1000
    return pytest.param(cell, id=str(cell), marks=pytest.mark.slow if slow else pytest.mark.full)


each_cell = pytest.mark.parametrize("cell", [_marked(cell) for cell in ACCURACY_CELLS], scope="module")


@each_cell
def test_mean_squared_error_is_the_predicted_one(cell):
    ratio, error = accuracy(cell)
    assert error <= 0.015
    assert abs(ratio - 1) <= 3 * error


# 69,120 items in all: a normal z exceeds 5.5 for one of them in 0.3 % of all sets of seeds. FLH's errors are skewed
# (few functions, rare collisions), which brings it to 0.6 %; the union bound needs no independence.
@each_cell
def test_no_item_is_biased(cell):
    z = measure(cell).bias / np.sqrt(predicted_variance(cell) / cell.runs)
    assert np.abs(z).max() <= 5.5


@each_cell
def test_intervals_cover_the_truth(cell):
    assert_intervals_cover(cell)


# At epsilon = 0.5 the best power of two is g = 2 where OLH has g = 3: 5.4 % is what the laws leave.
@pytest.mark.parametrize(("epsilon", "bound"), [(0.5, 1.054), (1, 1.05), (3, 1.05), (5, 1.05)])
@pytest.mark.parametrize("size", [128, 1024])
def test_hadamard_mechanism_is_predicted_to_be_as_accurate_as_local_hashing(epsilon, bound, size):
    hm, olh = (predicted_variance(Cell(Case(name), epsilon, "zipf", size)).mean() for name in ("HM", "OLH"))
    assert hm <= bound * olh


# At 0.5 the law lies on the bound, so the measurement gets three standard errors (false alarm: 0.1 %); elsewhere it
# lies 3.5 or more of them below (0.02 %), and gets none.
@pytest.mark.parametrize(
    ("epsilon", "bound", "allowance"),
    [
        *(pytest.param(*each, marks=pytest.mark.full) for each in [(0.5, 1.054, 3), (1, 1.05, 0), (3, 1.05, 0)]),
        pytest.param(5, 1.05, 0, marks=pytest.mark.slow),
    ],
)
def test_hadamard_mechanism_is_measured_to_be_as_accurate_as_local_hashing(epsilon, bound, allowance):
    cells = [Cell(Case(name), epsilon, "zipf", 1024) for name in ("HM", "OLH")]
    (hm, hm_error), (olh, olh_error) = (mean_and_error(measure(cell).mse) for cell in cells)
    assert hm / olh <= bound + allowance * hypot(hm_error / hm, olh_error / olh)


# The laws allow 5 % above the least variance, and OLH is at most 2 % above it.
@in_turn("epsilon", EPSILONS)
@pytest.mark.parametrize("name", ["TLH", "AGR", "SS"])
@in_turn("size", [128, 1024])
def test_linear_hashing_and_subsets_are_predicted_to_be_as_accurate_as_local_hashing(name, epsilon, size):
    mine, olh = (predicted_variance(Cell(Case(each), epsilon, "zipf", size)).mean() for each in (name, "OLH"))
    assert mine <= (1.0 if name == "SS" else 1.05) * olh


# Three standard errors above the predicted bound; false alarm: 0.1 % each where the law lies on the bound.
@pytest.mark.full
@pytest.mark.parametrize("epsilon", [1, 3, 5])
@pytest.mark.parametrize("name", ["TLH", "AGR", "SS"])
def test_linear_hashing_and_subsets_are_measured_to_be_as_accurate_as_local_hashing(name, epsilon):
    cells = [Cell(Case(each), epsilon, "zipf", 1024) for each in (name, "OLH")]
    (mine, my_error), (olh, olh_error) = (mean_and_error(measure(cell).mse) for cell in cells)
    bound = 1.0 if name == "SS" else 1.05
    assert mine / olh <= bound + 3 * hypot(my_error / mine, olh_error / olh)


# A run of 10^5 items tells its mean squared error to 0.5 %, so 3 % is twenty standard errors of the mean of ten runs.
@pytest.mark.full
@pytest.mark.parametrize("cell", LARGE_CELLS, ids=str)
def test_in_a_large_domain_the_error_is_the_predicted_one_and_near_the_least_possible(cell):
    ratio, error = accuracy(cell)
    assert error <= 0.005
    assert abs(ratio - 1) <= 0.03
    e = np.exp(cell.epsilon)
    assert cell.scheme().variance(1) <= 1.05 * 4 * e / (e - 1) ** 2
