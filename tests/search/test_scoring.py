"""Log-likelihood ratios, their inverse, and pooled counts against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import drawn
from plausibly.search.evidence import digits, numbers
from plausibly.search.scoring import ANY_PART, FOLLOW, PARTS, combined, followed, needed, support, upper_tail

quickly = drawn(200)
positive = st.floats(0.1, 50)


def normal(x: float, mean: float, variance: float) -> float:
    return float(np.exp(-((x - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance))


@quickly
@given(st.floats(-3, 8), positive, st.floats(0, 10), positive)
def test_support_is_the_best_of_the_predictions(y: float, variance: float, parent: float, spread: float) -> None:
    got = support(np.array([y]), variance, np.array([parent]), np.array([spread]))[0]
    null = normal(y, 0, variance)
    predicted = [w * normal(y, r * parent, variance + r * r * spread) / null for r, w in PARTS]
    top = parent + 2 * np.sqrt(spread)
    above, below = max(y, 0.0), max(max(y, 0.0) - top, 0.0)
    anything = ANY_PART * np.exp((above**2 - below**2) / (2 * variance)) / (1 + parent / np.sqrt(2 * np.pi * variance))
    assert got == pytest.approx(np.log(max(*predicted, anything)), abs=1e-6)


@quickly
@given(st.floats(-20, 40), positive, st.floats(0, 30), positive)
def test_a_count_that_has_the_nats_is_never_below_what_is_needed(
    nats: float, variance: float, parent: float, spread: float
) -> None:
    """The kernel's limit may let too many pass, never too few."""
    least = needed(np.array([[nats]], dtype=np.float32), variance, np.array([parent]), np.array([spread]))[0, 0]
    counts = np.linspace(0, 60, 2_000) * np.sqrt(variance)
    enough = support(counts, variance, np.full(2_000, parent), np.full(2_000, spread)) >= nats
    tolerance = 0.01 + 1e-3 * abs(float(least))
    assert (counts[enough] / np.sqrt(variance) >= float(least) - tolerance).all()


def test_one_shared_cell_is_no_more_than_a_fluctuation() -> None:
    quiet = combined(np.array([[0.0], [0.0]]), 2.0)[0]
    assert combined(np.array([[1000.0], [0.0]]), 2.0)[0] == quiet + 2.5
    assert combined(np.array([[3.0], [2.0]]), 2.0)[0] == 2.5
    assert combined(np.array([[7.0]]), 2.0)[0] == 7.0


@quickly
@given(st.floats(0, 5), positive, positive)
def test_a_parent_is_pooled_and_believed_up_to_a_bound(count: float, variance: float, spread: float) -> None:
    error = np.sqrt(variance + spread)

    def pooled(parent: float) -> float:
        return float(followed(np.array([count]), variance, np.array([parent]), np.array([spread]))[0][0])

    mean = (count / variance + (count + error) / spread) / (1 / variance + 1 / spread)
    assert pooled(count + error) == pytest.approx(mean)
    assert pooled(count + 50 * error) == pytest.approx(pooled(count + FOLLOW * error))
    assert pooled(0.0) <= count


def test_numbers_and_digits_are_inverse() -> None:
    every = np.arange(7**3)
    assert numbers(digits(every, 3, 7), 0, 3, 7).tolist() == every.tolist()


def test_upper_tail_of_known_quantiles() -> None:
    np.testing.assert_allclose(upper_tail(np.array([0.0, 1.959963985, -10.0])), [0.5, 0.025, 1.0], rtol=1e-8)
