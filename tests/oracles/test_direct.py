"""DE against its slow twin, its definition, and its stated costs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import plausibly
from cases import in_turn
from oracles.comparing import GRID, assert_equals_twin, crowd, exp
from plausibly import make


@in_turn(("epsilon", "size"), GRID)
def test_estimates_equal_the_slow_twin(epsilon: str, size: int) -> None:
    assert_equals_twin(make("DE", epsilon=epsilon, domain_size=size), crowd(size))


@in_turn(("epsilon", "size"), GRID)
def test_keep_probability_is_the_paper_s_rounded_down(epsilon: str, size: int) -> None:
    p = Fraction(exp(epsilon)) / (Fraction(exp(epsilon)) + size - 1)
    assert make("DE", epsilon=epsilon, domain_size=size).keep == math.floor(p * 2**64)


@in_turn(("epsilon", "size"), GRID)
def test_variance_is_the_paper_s(epsilon: str, size: int) -> None:
    e = float(exp(epsilon))
    scheme = make("DE", epsilon=epsilon, domain_size=size)
    assert scheme.variance(1) == pytest.approx((e + size - 2) / (e - 1) ** 2, rel=1e-9)
    p, q = e / (e + size - 1), 1 / (e + size - 1)
    assert scheme.variance(10, 10) == pytest.approx(10 * p * (1 - p) / (p - q) ** 2, rel=1e-9)


@pytest.mark.parametrize(
    ("size", "size_in_bytes", "bits"),
    [(2, 1, 1), (3, 1, 2), (256, 1, 8), (257, 2, 9), (65_536, 2, 16), (65_537, 4, 17), (2**32, 4, 32)],
)
def test_a_record_is_the_smallest_integer_that_holds_an_item(size: int, size_in_bytes: int, bits: int) -> None:
    scheme = make("DE", epsilon=1, domain_size=size)
    assert (scheme.report_dtype.itemsize, scheme.report_bits) == (size_in_bytes, bits)


def test_estimates_of_the_whole_domain_sum_to_the_number_of_reports() -> None:
    scheme = make("DE", epsilon=1, domain_size=7)
    tally = scheme.accumulator()
    tally.add(scheme.privatize(crowd(7, 500), rng=plausibly.SeededRandom(1)))
    assert tally.estimate().values.sum() == pytest.approx(500, abs=1e-9)


def test_a_lie_is_never_the_truth_and_every_other_item() -> None:
    scheme = make("DE", epsilon=1, domain_size=5)
    reports = scheme.privatize([3] * 2_000, rng=plausibly.SeededRandom(1))
    # False alarm: an item missing among 2,000 reports has probability (1 - 0.149)^2000 < 1e-139.
    assert set(reports["item"].tolist()) == {0, 1, 2, 3, 4}


def test_items_beyond_the_domain_are_refused_in_reports() -> None:
    scheme = make("DE", epsilon=1, domain_size=5)
    reports = np.array([(4,), (5,)], dtype=scheme.report_dtype)
    with pytest.raises(plausibly.ReportError, match="report 1: expected an item below 5"):
        scheme.accumulator().add(reports)
