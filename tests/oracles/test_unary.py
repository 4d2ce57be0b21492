"""SUE and OUE against their slow twins, their definitions, and their stated costs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import plausibly
from cases import in_turn
from oracles.comparing import GRID, assert_equals_twin, crowd, exp
from plausibly import make

UNARY = ("SUE", "OUE")


@pytest.mark.parametrize("name", UNARY)
@in_turn(("epsilon", "size"), GRID)
def test_estimates_equal_the_slow_twin(name: str, epsilon: str, size: int) -> None:
    assert_equals_twin(make(name, epsilon=epsilon, domain_size=size), crowd(size))


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "2", "3", "5", "8"])
def test_symmetric_probabilities_add_up_to_one_and_split_epsilon(epsilon: str) -> None:
    scheme = make("SUE", epsilon=epsilon, domain_size=9)
    half = Fraction(exp(Fraction(epsilon) / 2))
    assert scheme.keep == math.floor(2**64 * half / (half + 1))
    assert scheme.keep + scheme.flip == 2**64


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "2", "3", "5", "8"])
def test_optimised_probabilities_keep_half_and_round_the_flips_up(epsilon: str) -> None:
    scheme = make("OUE", epsilon=epsilon, domain_size=9)
    assert scheme.keep == 2**63
    assert scheme.flip == math.ceil(2**64 / (Fraction(exp(epsilon)) + 1))


@pytest.mark.parametrize("epsilon", ["0.5", "1", "3", "5"])
def test_variances_are_the_paper_s(epsilon: str) -> None:
    e = float(exp(epsilon))
    root = math.sqrt(e)
    sue, oue = (make(name, epsilon=epsilon, domain_size=100) for name in UNARY)
    assert sue.variance(1) == pytest.approx(root / (root - 1) ** 2, rel=1e-9)
    assert sue.variance(7, 3) == pytest.approx(7 * sue.variance(1), rel=1e-9)
    assert oue.variance(1) == pytest.approx(4 * e / (e - 1) ** 2, rel=1e-9)
    assert oue.variance(7, 3) == pytest.approx(7 * oue.variance(1) + 3, rel=1e-9)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize(("size", "size_in_bytes"), [(2, 1), (8, 1), (9, 2), (1000, 125), (1001, 126)])
def test_a_record_is_a_bitmap(name: str, size: int, size_in_bytes: int) -> None:
    scheme = make(name, epsilon=1, domain_size=size)
    assert (scheme.report_dtype.itemsize, scheme.report_bits) == (size_in_bytes, size)


@pytest.mark.parametrize("name", UNARY)
def test_spare_bits_are_zero_and_refused_otherwise(name: str) -> None:
    scheme = make(name, epsilon=1, domain_size=11)
    reports = scheme.privatize([10] * 500, rng=plausibly.SeededRandom(3))
    assert not (reports["bits"][:, 1] >> 3).any()
    for spare in range(3, 8):
        reports = np.zeros(3, dtype=scheme.report_dtype)
        reports["bits"][2, 1] = 1 << spare
        with pytest.raises(plausibly.ReportError, match="report 2: expected a bitmap of 11 bits"):
            scheme.accumulator().add(reports)


@pytest.mark.parametrize("name", UNARY)
def test_the_words_behind_a_tie_decide_its_bit(name: str) -> None:
    # A threshold a hair above a multiple of 2^56 and one a hair below differ only in the 56 bits of the tail.
    scheme = make(name, epsilon=1, domain_size=64)
    rng = plausibly.SeededRandom(5)
    values = [i % 64 for i in range(400)]
    reports = scheme.privatize(values, rng=rng)
    ties = 0
    for i, value in enumerate(values):
        for bit, word in enumerate(rng.replay(0).tape(scheme.layout, i)):
            threshold = scheme.keep if bit == value else scheme.flip
            ties += word >> 56 == threshold >> 56
            assert bool(reports["bits"][i, bit // 8] >> bit % 8 & 1) == (word < threshold)
    assert ties > 40, "about 100 of the 25,600 bits are decided by their tail"
