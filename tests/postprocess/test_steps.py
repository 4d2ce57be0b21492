"""Every post-processing step does what its definition says: laws on any values, and equality with literal twins."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plausibly
from cases import in_turn
from drawn import drawn, thinned
from plausibly import ParameterError, StateError
from plausibly.core import steps
from plausibly.core.steps import STEPS
from plausibly.postprocess import power_law
from postprocess import literal

SUMMING = ["norm-sub", "simplex", "norm-sub-once", "norm-mul", "power-ns", "monotone"]
WITHOUT_NEGATIVES = [
    "base-pos",
    "norm-sub",
    "simplex",
    "norm-mul",
    "norm-cut",
    "significance-cut",
    "power-ns",
    "monotone",
]
# Not base-cut, which leaves negative values that a kept zero passes, nor the single pass, which makes such.
ORDERED = ["base", "base-pos", "norm-sub", "simplex", "norm-mul", "norm-cut", "significance-cut", "power-ns"]
IDEMPOTENT = ["base", "base-pos", "norm-sub", "simplex", "norm-mul", "norm-cut", "significance-cut", "monotone"]

deterministic = drawn(20)
# Estimates are whole scores times a scale: ties are common, and so are they here.
numbers = st.one_of(st.integers(-20, 40).map(float), st.floats(-1e6, 1e6))
rows = st.lists(numbers, min_size=1, max_size=12)
totals = st.one_of(st.just(0), st.integers(1, 60), st.integers(1, 10**9))

every_step = pytest.mark.parametrize("name", list(plausibly.POSTPROCESS))


def apply(name: str, *given: Any, **options: Any) -> np.ndarray:
    """The values after a step, whatever becomes of their variance."""
    return steps.apply(name, *given, **options)[0]


def step(name: str, values: list[float], n: float, **options: float) -> np.ndarray:
    return apply(name, values, n, np.full(len(values), 4.0), **options)


def close(found: np.ndarray, wanted: list[float], n: float) -> None:
    scale = max(n, *np.abs(wanted), 1.0)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * scale)


# --- laws ------------------------------------------------------------------------------------------------------------


def test_the_lists_here_name_known_steps() -> None:
    assert {*SUMMING, *WITHOUT_NEGATIVES, *ORDERED, *IDEMPOTENT} <= set(STEPS)


@given(values=rows, n=totals)
@deterministic
def test_the_sum_is_the_number_of_reports(values: list[float], n: int) -> None:
    for name in SUMMING:
        # The single pass adds its shift to values of any size, and rounds with them.
        scale = max(n, *np.abs(values)) if name == "norm-sub-once" else n
        assert abs(step(name, values, n).sum() - n) <= 1e-9 * scale, name


@given(values=rows, n=totals)
@deterministic
def test_nothing_is_negative(values: list[float], n: int) -> None:
    for name in WITHOUT_NEGATIVES:
        assert (step(name, values, n) >= 0).all(), name


@given(values=rows, n=totals)
@deterministic
def test_twice_is_once(values: list[float], n: int) -> None:
    for name in IDEMPOTENT:
        once = step(name, values, n)
        close(step(name, once.tolist(), n), once.tolist(), n)


# Cuts treat equal estimates by their place in the domain, hence only what differs is compared.
@given(values=rows, n=totals)
@deterministic
def test_the_order_of_the_items_is_kept(values: list[float], n: int) -> None:
    order = np.argsort(values, kind="stable")
    different = np.diff(np.array(values)[order]) > 0
    for name in ORDERED:
        found = step(name, values, n)[order]
        assert (np.diff(found)[different] >= -1e-6).all(), name


@pytest.mark.full
@given(values=rows, n=totals, seed=st.integers(0, 2**32 - 1))
@deterministic
def test_the_same_items_in_another_order_get_the_same(values: list[float], n: int, seed: int) -> None:
    values = list(dict.fromkeys(values))
    order = np.random.default_rng(seed).permutation(len(values))
    for name in (each.name for each in STEPS.values() if not each.needs_order):
        moved = step(name, np.array(values)[order].tolist(), n)
        close(moved, step(name, values, n)[order].tolist(), n)


@every_step
@pytest.mark.parametrize("n", thinned([7, 0, 10**6]))
def test_rows_together_are_rows_one_by_one(name: str, n: int) -> None:
    values = [[3.0, -1.0, 8.0, 3.0, 0.0], [0.0] * 5, [-2.0] * 5, [1e6, 5.0, 5.0, 5.0, -1e3]]
    per_row = np.arange(4) + n
    variance = np.arange(20, dtype=float).reshape(4, 5)
    together = apply(name, values, per_row, variance)
    for row, found in enumerate(together):
        np.testing.assert_array_equal(found, apply(name, values[row], per_row[row], variance[row]))
    stacked = apply(name, [values], [per_row], [variance])
    np.testing.assert_array_equal(stacked[0], together)


@every_step
@in_turn(
    "values", [[0.0], [-3.0], [5.0], [2.0] * 4, [0.0] * 4, [-1.0] * 4, [-4.0, -2.0, -1.0], [1e300, -1e300, 5e-324]]
)
def test_odd_values_give_finite_ones(name: str, values: list[float]) -> None:
    for n, variance in product([0, 1, 12], [0.0, 4.0]):
        found = apply(name, values, n, variance)
        assert np.isfinite(found).all()
        if name in SUMMING and values[0] < 1e300:
            assert found.sum() == pytest.approx(n, abs=1e-12)


@every_step
def test_what_is_given_is_not_changed(name: str) -> None:
    values, variance = np.array([3.0, -1.0, 0.0, 9.0]), np.full(4, 4.0)
    before = values.copy()
    values.setflags(write=False)
    variance.setflags(write=False)
    found = apply(name, values, 7, variance)
    np.testing.assert_array_equal(values, before)
    assert not np.shares_memory(found, values)
    assert found.dtype == np.float64


@every_step
def test_no_items_stay_no_items(name: str) -> None:
    assert apply(name, np.zeros(0), 5, np.zeros(0)).shape == (0,)
    assert apply(name, np.zeros((3, 0)), 5, np.zeros((3, 0))).shape == (3, 0)


@pytest.mark.full
@every_step
def test_a_million_items_sum_to_the_number_of_reports(name: str) -> None:
    noise = np.random.default_rng(1).normal(0, 1900, 10**6)
    noise[:3] += (3e5, 1e5, 3e4)
    found = apply(name, noise, 10**6, np.full(10**6, 1900.0**2))
    if name in SUMMING:
        assert abs(found.sum() / 10**6 - 1) < 1e-9


# --- definitions -----------------------------------------------------------------------------------------------------


@given(values=rows)
@deterministic
def test_base_changes_nothing_and_base_pos_only_negative_values(values: list[float]) -> None:
    assert step("base", values, 1).tolist() == values
    assert step("base-pos", values, 1).tolist() == [max(value, 0.0) for value in values]


@given(values=st.lists(numbers, min_size=1, max_size=6), n=totals)
@deterministic
def test_norm_sub_is_the_nearest_point_of_the_simplex(values: list[float], n: int) -> None:
    close(step("norm-sub", values, n), literal.projection(values, n), n)


@given(values=st.lists(numbers, min_size=1, max_size=40), n=st.integers(1, 10**6))
@deterministic
def test_norm_sub_is_the_shift_that_makes_the_sum_right(values: list[float], n: int) -> None:
    close(step("norm-sub", values, n), literal.bisected(values, n), n)
    np.testing.assert_array_equal(step("simplex", values, n), step("norm-sub", values, n))


def test_norm_sub_loses_nothing_to_cancellation() -> None:
    assert step("norm-sub", [1e20, 1e20, 0.0], 7).tolist() == [3.5, 3.5, 0.0]
    assert step("norm-sub", [-1e20, 1.0], 7).tolist() == [0.0, 7.0]


@given(values=rows, n=totals)
@deterministic
def test_base_cut_keeps_the_largest_until_they_exceed_the_number(values: list[float], n: int) -> None:
    assert step("base-cut", values, n).tolist() == literal.base_cut(values, n)


@given(values=rows, n=totals)
@deterministic
def test_norm_cut_drops_the_smallest_until_the_sum_is_within_the_number(values: list[float], n: int) -> None:
    assert step("norm-cut", values, n).tolist() == literal.norm_cut(values, n)


def test_norm_cut_keeps_what_sums_to_the_number_but_for_rounding() -> None:
    values = [0.1] * 10
    assert np.cumsum(values)[-1] != 1
    assert step("norm-cut", values, 1).tolist() == values
    thirds = step("norm-sub", [5.0, 5.0, 5.0, 0.3], 1)
    np.testing.assert_array_equal(step("norm-cut", thirds.tolist(), 1), thirds)


@given(values=rows, n=totals)
@deterministic
def test_norm_mul_scales_what_is_positive(values: list[float], n: int) -> None:
    close(step("norm-mul", values, n), literal.norm_mul(values, n), n)


@given(values=rows, n=totals)
@deterministic
def test_norm_sub_once_shifts_what_is_positive_once(values: list[float], n: int) -> None:
    close(step("norm-sub-once", values, n), literal.norm_sub_once(values, n), n)


def test_norm_sub_once_leaves_negative_values_where_norm_sub_does_not() -> None:
    assert step("norm-sub-once", [9.0, 1.0, -2.0], 4).tolist() == [6.0, -2.0, 0.0]
    assert step("norm-sub", [9.0, 1.0, -2.0], 4).tolist() == [4.0, 0.0, 0.0]


@pytest.mark.parametrize("name", ["norm-mul", "norm-sub-once"])
def test_where_nothing_is_positive_every_item_gets_the_same_share(name: str) -> None:
    assert step(name, [-3.0, 0.0, -1.0, -8.0], 6).tolist() == [1.5] * 4


@given(values=rows, alpha=st.floats(0.001, 0.5), data=st.data())
@deterministic
def test_significance_cut_keeps_what_noise_would_hardly_produce(
    values: list[float], alpha: float, data: st.DataObject
) -> None:
    variance = data.draw(st.lists(st.floats(0, 1e9), min_size=len(values), max_size=len(values)))
    found = apply("significance-cut", values, 1, variance, alpha=alpha)
    assert found.tolist() == literal.significance_cut(values, variance, alpha)


def test_significance_cut_lets_noise_alone_through_as_often_as_it_says() -> None:
    # 4000 rows of 50 noisy zeros at alpha = 0.2: the expected share is 1 - (1 - 0.2/50)^50 = 0.1816. False alarm: five
    # standard deviations of a binomial share, below 1e-6.
    noise = np.random.default_rng(3).normal(0, 7, (4000, 50))
    found = apply("significance-cut", noise, 1, 49.0, alpha=0.2)
    share, wanted = (found > 0).any(axis=1).mean(), 1 - (1 - 0.2 / 50) ** 50
    assert abs(share - wanted) < 5 * np.sqrt(wanted * (1 - wanted) / 4000)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 5, float("nan"), "0.05", None, True])
def test_an_impossible_alpha_is_refused(alpha: object) -> None:
    with pytest.raises(ParameterError, match="alpha: expected a number strictly between 0 and 1"):
        apply("significance-cut", [1.0], 1, 1.0, alpha=alpha)


# Means of few and of many users an item, also below one user; noise below and above the mean.
@pytest.mark.parametrize(
    ("n", "items", "sigma"),
    [
        (10**5, 1000, 600.0),
        *(pytest.param(*c, marks=pytest.mark.full) for c in [(50_000, 40, 30.0), (10**4, 10**5, 200.0)]),
    ],
)
def test_power_ns_is_the_posterior_mean_under_the_fitted_power_law(n: int, items: int, sigma: float) -> None:
    lowest, s = literal.power_law(n, items)
    z = np.array([-14.0, -5.0, -1.03, 0.0, 0.5, 2.21, 3.3, 4.77, 6.1, 9.4, 11.97, 12.03, 15.0, 30.0])
    values = np.zeros(items)
    values[: len(z)] = z * sigma
    found = power_law._posterior_means(values, n, np.full(items, sigma**2))
    # Below -12 standard deviations, where no estimate lies, the mean is that at -12.
    wanted = [literal.posterior_mean(max(v, -12 * sigma), sigma, n, lowest, s) for v in values[: len(z)]]
    np.testing.assert_allclose(found[: len(z)], wanted, rtol=0, atol=1e-3 * sigma)
    np.testing.assert_array_equal(apply("power-ns", values, n, sigma**2), apply("norm-sub", found, n))


@pytest.mark.full
def test_power_ns_takes_each_item_by_its_own_noise() -> None:
    sigmas = np.array([100.0, 300.0] * 500)
    typical = np.sqrt(np.mean(sigmas**2))
    values = np.zeros(1000)
    values[:8] = [250, 250, 600, 600, -80, -80, 5000, 5000]
    lowest, s = literal.power_law(20_000, 1000)
    found = power_law._posterior_means(values, 20_000, sigmas**2)
    wanted = [
        literal.posterior_mean(v, sigma, 20_000 * sigma / typical, lowest * sigma / typical, s)
        for v, sigma in zip(values[:8], sigmas[:8], strict=True)
    ]
    np.testing.assert_allclose(found[:8], wanted, rtol=0, atol=0.3)


# --- the door --------------------------------------------------------------------------------------------------------


def test_plain_arrays_are_checked() -> None:
    with pytest.raises(ParameterError, match="values: expected finite numbers"):
        apply("norm-sub", [1.0, float("nan")], 5)
    with pytest.raises(ParameterError, match="values: expected numbers"):
        apply("norm-sub", ["a", "b"], 5)
    with pytest.raises(ParameterError, match="values: expected one or more rows"):
        apply("norm-sub", 3.0, 5)
    with pytest.raises(ParameterError, match="total: expected no negative number"):
        apply("norm-sub", [1.0, 2.0], -5)
    with pytest.raises(ParameterError, match=r"total: expected the shape \(2,\), got \(3,\)"):
        apply("norm-sub", [[1.0], [2.0]], [1, 2, 3])
    with pytest.raises(ParameterError, match="variance: expected no negative number"):
        apply("significance-cut", [1.0, 2.0], 5, -1.0)
    with pytest.raises(StateError, match="power-ns needs the variance of the values"):
        apply("power-ns", [1.0, 2.0], 5)


def test_every_step_says_in_one_line_what_comes_back() -> None:
    assert list(plausibly.POSTPROCESS) == list(STEPS)
    assert all(line.endswith(".") or ":" in line for line in plausibly.POSTPROCESS.values())
    assert all(10 < len(line) < 100 for line in plausibly.POSTPROCESS.values())
