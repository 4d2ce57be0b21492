"""HM with both decoders against its slow twin, its best number of coefficients, and its stated costs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import naive
import plausibly
from cases import in_turn
from drawn import thinned
from oracles.comparing import GRID, assert_equals_twin, crowd, exp
from plausibly import SeededRandom, make


@in_turn("decoder", ["full", "paper"])
@in_turn(("epsilon", "size"), GRID)
def test_estimates_equal_the_slow_twin(decoder: str, epsilon: str, size: int) -> None:
    assert_equals_twin(make("HM", epsilon=epsilon, domain_size=size), crowd(size), decoder=decoder)


@in_turn("decoder", ["full", "paper"])
@in_turn("coefficients", thinned(range(1, 9)))
@in_turn("size", [2, 13, 33])
def test_any_number_of_coefficients_on_any_domain_equals_the_slow_twin(
    decoder: str, coefficients: int, size: int
) -> None:
    scheme = make("HM", epsilon=3, domain_size=size, coefficients=coefficients)
    assert scheme.t == coefficients
    assert_equals_twin(scheme, crowd(size, 25), decoder=decoder)


def test_the_full_decoder_is_the_default_and_has_the_lower_variance() -> None:
    scheme = make("HM", epsilon=3, domain_size=64, coefficients=3)
    tally = scheme.simulate([20] * 64, rng=SeededRandom(1))
    full, paper = tally.estimate(decoder="full"), tally.estimate(decoder="paper")
    np.testing.assert_array_equal(tally.estimate().values, full.values)
    assert (full.variance < paper.variance).all()


def test_both_decoders_are_one_for_a_single_coefficient() -> None:
    scheme = make("HM", epsilon=1, domain_size=10, coefficients=1)
    tally = scheme.simulate([5] * 10, rng=SeededRandom(1))
    full, paper = tally.estimate(decoder="full"), tally.estimate(decoder="paper")
    np.testing.assert_allclose(full.values, paper.values, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(full.variance, paper.variance, rtol=1e-12)


@in_turn("epsilon", ["0.1", "0.5", "1", "2", "3", "5", "8"])
@in_turn("size", [2, 3, 4, 5, 100, 255, 256, 1024])
def test_the_default_is_the_best_number_up_to_the_logarithm_of_the_domain(epsilon: str, size: int) -> None:
    scheme = make("HM", epsilon=epsilon, domain_size=size)
    assert scheme.t == naive.best_coefficients(exp(epsilon), size) <= min(8, math.log2(size))


def test_the_best_numbers_are_those_of_the_text() -> None:
    assert [make("HM", epsilon=epsilon, domain_size=1024).t for epsilon in (1, 3, 5)] == [2, 4, 7]


@in_turn("coefficients", range(1, 9))
@in_turn("epsilon", ["0.5", "3"])
def test_keep_probability_is_direct_encoding_of_the_signs(epsilon: str, coefficients: int) -> None:
    e = Fraction(exp(epsilon))
    scheme = make("HM", epsilon=epsilon, domain_size=10, coefficients=coefficients)
    assert scheme.keep == math.floor(2**64 * e / (e + 2**coefficients - 1))


@pytest.mark.parametrize(("epsilon", "coefficients", "per_user"), [("3", 3, 0.288), ("3", 4, 0.224)])
def test_the_full_decoder_has_the_published_variance(epsilon: str, coefficients: int, per_user: float) -> None:
    # Measured mean squared errors: three digits, a percent of noise.
    scheme = make("HM", epsilon=epsilon, domain_size=1024, coefficients=coefficients)
    e, g = float(exp(epsilon)), 2**coefficients
    assert scheme.variance(1) == pytest.approx((e + g - 1) ** 2 / ((g - 1) * (e - 1) ** 2), rel=1e-9)
    assert scheme.variance(1) == pytest.approx(per_user, rel=0.02)


@pytest.mark.parametrize(
    ("size", "coefficients", "size_in_bytes", "bits"),
    [
        (2, 1, 2, 2),
        (256, 1, 2, 9),
        (257, 1, 3, 10),
        (1000, 4, 9, 44),
        (65_537, 3, 13, 54),
        (4, 8, 9, 24),
    ],
)
def test_a_record_is_the_rows_and_a_byte_of_signs(size: int, coefficients: int, size_in_bytes: int, bits: int) -> None:
    scheme = make("HM", epsilon=1, domain_size=size, coefficients=coefficients)
    assert (scheme.report_dtype.itemsize, scheme.report_bits) == (size_in_bytes, bits)


def test_rows_and_signs_out_of_range_are_refused() -> None:
    scheme = make("HM", epsilon=1, domain_size=10, coefficients=2)
    for bad, expected in ((([0, 16], 0), "rows below 16"), (([0, 0], 4), "a sign pattern below 4")):
        with pytest.raises(plausibly.ReportError, match=f"report 0: expected {expected}"):
            scheme.accumulator().add(np.array([bad], dtype=scheme.report_dtype))


@pytest.mark.parametrize("coefficients", [0, 9, -1, 2.0, "2", True])
def test_a_number_of_coefficients_that_is_none_is_refused(coefficients: object) -> None:
    with pytest.raises(plausibly.ParameterError, match="coefficients: expected"):
        make("HM", epsilon=1, domain_size=10, coefficients=coefficients)


def test_an_unknown_decoder_is_refused_with_the_nearest_one() -> None:
    tally = make("HM", epsilon=1, domain_size=10).accumulator()
    with pytest.raises(plausibly.ParameterError, match="did you mean 'paper'"):
        tally.estimate(decoder="papers")
