"""Exact epsilons and thresholds against an independent high-precision computation, at their caps and guards."""

from __future__ import annotations

import math
import subprocess
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import plausibly
from cases import in_turn
from drawn import drawn
from plausibly import ParameterError, make, oracles
from plausibly.core.probability import (
    exact_epsilon,
    exp_enclosure,
    floor_exp,
    keep_threshold,
    log_upper_bound,
    within_exp,
)

WORD = 2**64
DIGITS = 400

EPSILONS = [Fraction(text) for text in ("1/1000", "0.1", "0.5", "1", "2", "3", "5", "8", "20", "44", "88", "300")]
ODDS = [(1, 1), (1, 2), (1, 3), (1, 20), (1, 1023), (1, 10**6), (3, 4), (17, 239), (1, 2**32 - 1)]

ORACLES = sorted(name for name in plausibly.CATALOG if hasattr(oracles, name))


@cache
def exp(exponent: Fraction, digits: int = DIGITS) -> Fraction:
    """e^exponent to so many digits, by the decimal module: nothing in common with the enclosures of the package."""
    with localcontext() as context:
        context.prec = digits
        return Fraction((Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp())


@in_turn("epsilon", EPSILONS)
@in_turn(("inside", "outside"), ODDS)
def test_keep_threshold_is_the_floor_of_the_real_number(epsilon: Fraction, inside: int, outside: int) -> None:
    weight = inside * exp(epsilon)
    assert keep_threshold(epsilon, inside, outside) == math.floor(WORD * weight / (weight + outside))


@drawn(150)
@given(
    epsilon=st.fractions(min_value="1/1000", max_value=100, max_denominator=10**9),
    inside=st.integers(1, 2**20),
    outside=st.integers(1, 2**32),
)
def test_any_threshold_is_the_floor_and_keeps_its_promise(epsilon: Fraction, inside: int, outside: int) -> None:
    threshold = keep_threshold(epsilon, inside, outside)
    weight = inside * exp(epsilon)
    assert threshold == math.floor(WORD * weight / (weight + outside))
    # Per element inside and outside: the likelihood ratio is at most e^eps, and at least 1.
    ratio = Fraction(threshold * outside, (WORD - threshold) * inside)
    assert 1 <= ratio <= exp(epsilon)


@in_turn("epsilon", EPSILONS)
@in_turn("scale", [1, 2, 10**6])
def test_floor_exp_is_the_floor_of_the_real_number(epsilon: Fraction, scale: int) -> None:
    assert floor_exp(epsilon, scale) == math.floor(scale * exp(epsilon))


@in_turn("exponent", [*EPSILONS, Fraction(1, 10**30), Fraction(999), Fraction(1000)])
@in_turn("bits", [8, 96, 384])
def test_the_enclosure_encloses_and_is_as_narrow_as_promised(exponent: Fraction, bits: int) -> None:
    low, high = exp_enclosure(exponent, bits)
    true = exp(exponent, 1200)
    # The decimal result is itself rounded, in its 1,200th digit.
    slack = true / 10**1190
    assert low - slack <= true <= high + slack
    assert (high - low) * 2**bits < low


def test_a_ratio_a_hair_from_the_bound_is_decided() -> None:
    with localcontext() as context:
        context.prec = 300
        e = Fraction(Decimal(1).exp())
    hair = Fraction(1, 10**250)
    assert within_exp(e - hair, Fraction(1))
    assert not within_exp(e + hair, Fraction(1))
    assert within_exp(Fraction(1), Fraction(1, 10**50))


@pytest.mark.parametrize(
    "ratio", [Fraction(1) + Fraction(1, 10**15), Fraction(3, 2), Fraction(19), Fraction(2**64)], ids=str
)
def test_the_logarithm_is_bounded_from_above_and_tightly(ratio: Fraction) -> None:
    bound = log_upper_bound(ratio, Fraction(1000))
    assert ratio <= exp(bound)
    assert ratio > exp(bound - Fraction(1, 2**53))


def test_the_logarithm_never_exceeds_the_ceiling_that_holds() -> None:
    assert log_upper_bound(Fraction(2), Fraction("0.7")) <= Fraction("0.7")
    assert log_upper_bound(Fraction(1), Fraction(1)) == 0
    assert log_upper_bound(Fraction(3), Fraction(1)) > 1, "a ceiling that does not hold is not echoed back"


# --- caps ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("outside", "cap"), [(1, "44.36"), (1023, "51.29")])
def test_beyond_the_cap_the_threshold_stays_one_word_below_certainty(outside: int, cap: str) -> None:
    # The largest epsilon that 2^64 can express is ln((2^64 - 1) * (d - 1)).
    assert keep_threshold(Fraction(cap), 1, outside) < WORD - 1
    for epsilon in (Fraction(cap) + 1, Fraction(100), Fraction(1000)):
        assert keep_threshold(epsilon, 1, outside) == WORD - 1


@pytest.mark.parametrize("name", ORACLES)
@in_turn("epsilon", [37, 45, 89, 200, 1000])
def test_a_huge_epsilon_still_leaves_noise_and_delivers_no_more(name: str, epsilon: int) -> None:
    scheme = make(name, epsilon=epsilon, domain_size=2)
    ratio = scheme.randomizer.worst_ratio()
    assert ratio <= exp(Fraction(epsilon))
    assert ratio < Fraction(2**140), "no probability is zero"
    assert scheme.privacy_loss() <= epsilon


def test_the_caps_are_those_of_the_text() -> None:
    delivered = {name: float(make(name, epsilon=1000, domain_size=2).privacy_loss()) for name in ("DE", "OUE", "SUE")}
    assert delivered["DE"] == pytest.approx(44.36, abs=0.01)
    assert delivered["OUE"] == pytest.approx(44.36, abs=0.01)
    assert delivered["SUE"] == pytest.approx(88.72, abs=0.01)


# --- the guard at tiny epsilons --------------------------------------------------------------------------------------


@pytest.mark.parametrize("outside", [2, 4, 5, 6, 20, 1022])
def test_where_rounding_would_favour_lies_the_epsilon_is_refused(outside: int) -> None:
    refused = 0
    for power in range(30, 80):
        epsilon = Fraction(1, 2**power)
        weight = exp(epsilon)
        floor = math.floor(WORD * weight / (weight + outside))
        if floor * (1 + outside) > WORD:
            assert keep_threshold(epsilon, 1, outside) == floor
        else:
            refused += 1
            with pytest.raises(ParameterError, match=f"too small for an alphabet of {1 + outside}"):
                keep_threshold(epsilon, 1, outside)
    assert refused > 10


@pytest.mark.parametrize("name", ORACLES)
def test_a_scheme_with_an_epsilon_too_small_for_64_bits_is_refused_when_it_is_made(name: str) -> None:
    with pytest.raises(ParameterError, match="too small"):
        make(name, epsilon=Fraction(1, 2**70), domain_size=7)


@pytest.mark.parametrize("name", ORACLES)
def test_a_tiny_epsilon_is_either_refused_or_delivered_both_ways(name: str) -> None:
    for power in (20, 40, 50, 55, 60, 63):
        epsilon = Fraction(1, 2**power)
        try:
            scheme = make(name, epsilon=epsilon, domain_size=7)
        except ParameterError:
            continue
        assert 1 < scheme.randomizer.worst_ratio() <= exp(epsilon)


# --- reading epsilon -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "exact"),
    [
        (1, Fraction(1)),
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        ("1/10", Fraction(1, 10)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Fraction(1, 3), Fraction(1, 3)),
        ("1e-3", Fraction(1, 1000)),
        (1e-3, Fraction(1, 1000)),
        (2.5, Fraction(5, 2)),
        (1000, Fraction(1000)),
    ],
)
def test_epsilon_is_the_rational_that_its_text_denotes(given: object, exact: Fraction) -> None:
    assert exact_epsilon(given) == exact  # type: ignore[arg-type]
    assert isinstance(exact_epsilon(given), Fraction)  # type: ignore[arg-type]


def test_one_tenth_is_one_scheme_however_it_is_written() -> None:
    written = (0.1, "0.1", "1/10", "0.10", Decimal("0.1"), Fraction(1, 10))
    assert len({make("DE", epsilon=epsilon, domain_size=4).fingerprint() for epsilon in written}) == 1


@in_turn(
    "epsilon",
    [
        *(0, -1, 0.0, -0.0, -0.5, "0", "-1", Fraction(0), Fraction(-1, 3), Decimal(0), Decimal("-0.1")),
        *(math.nan, math.inf, -math.inf, "nan", "inf", "-inf", Decimal("NaN"), Decimal("Infinity")),
        *(True, False, None, "", "one", "1/0", "1,5", b"1", [1], (1,), {1: 1}, 1 + 0j, object()),
        *(1001, 1e300, "1e5000", "1000.0000001", Fraction(1, 2**5000), "1e-5000", "1e_5", "1e__", "1e+_1", "1e"),
    ],
)
def test_what_is_no_positive_finite_sensible_number_is_refused(epsilon: object) -> None:
    with pytest.raises(ParameterError, match="epsilon: expected"):
        exact_epsilon(epsilon)  # type: ignore[arg-type]


EXPONENTS = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (4, 4))
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from decimal import Decimal
from plausibly.core.errors import ParameterError
from plausibly.core.probability import exact_epsilon
for written in ("1e4000000000", "1e-4000000000", Decimal("1e999999999"), Decimal("1e-999999999")):
    try:
        exact_epsilon(written)
    except ParameterError:
        print("refused")
"""


def test_an_exponent_too_long_to_write_out_is_refused_at_once() -> None:
    # The JSON of a scheme may come from anywhere, and ten characters must not occupy a server for minutes.
    source = Path(plausibly.__file__).parent.parent
    run = subprocess.run(
        [sys.executable, "-c", EXPONENTS],
        env={"PYTHONPATH": str(source), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.stdout.split() == ["refused"] * 4
