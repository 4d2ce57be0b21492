"""THE against its slow twin, the distribution of its noise, and its stated laws."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest

import naive_client
import plausibly
from cases import in_turn
from oracles.comparing import GRID, assert_equals_twin, crowd, exp
from plausibly import ParameterError, make
from plausibly.core.probability import within_exp

EPSILONS = ("0.1", "0.5", "1", "2", "3", "5", "8")


@in_turn(("epsilon", "size"), GRID)
def test_estimates_equal_the_slow_twin(epsilon: str, size: int) -> None:
    assert_equals_twin(make("THE", epsilon=epsilon, domain_size=size), crowd(size))
    assert_equals_twin(make("THE", epsilon=epsilon, domain_size=size, threshold="0.6"), crowd(size))


@in_turn(("epsilon", "threshold"), [(e, t) for e in EPSILONS for t in ("1/2", "0.6", "2/3", "0.999")])
def test_thresholds_are_the_tails_of_the_noise_rounded_towards_privacy(epsilon: str, threshold: str) -> None:
    eps, theta = Fraction(epsilon), Fraction(threshold)
    scheme = make("THE", epsilon=epsilon, domain_size=9, threshold=threshold)
    # Of Laplace noise of scale 2/eps: above theta - 1, which is negative, and above theta.
    p = 1 - Fraction(exp((theta - 1) * eps / 2)) / 2
    q = Fraction(exp(-theta * eps / 2)) / 2
    assert (scheme.keep, scheme.flip) == (math.floor(2**64 * p), math.ceil(2**64 * q))


@pytest.mark.full
@in_turn("epsilon", EPSILONS)
def test_the_default_is_the_multiple_of_a_thousandth_with_the_least_variance(epsilon: str) -> None:
    def variance(theta: Fraction) -> Fraction:
        return make("THE", epsilon=epsilon, domain_size=9, threshold=theta).estimator().law.per_report

    best = make("THE", epsilon=epsilon, domain_size=9)
    assert best.theta == min((Fraction(k, 1000) for k in range(500, 1000)), key=variance)
    assert best.theta == naive_client._best_threshold(Fraction(epsilon))


@in_turn("epsilon", ["0.5", "1", "2", "3"])
def test_the_variance_is_the_paper_s(epsilon: str) -> None:
    scheme = make("THE", epsilon=epsilon, domain_size=100)
    eps, theta = float(Fraction(epsilon)), float(scheme.theta)
    high = math.exp(eps * theta / 2)
    paper = (2 * high - 1) / (1 + math.exp(eps * (theta - 1 / 2)) - 2 * high) ** 2
    assert scheme.variance(1) == pytest.approx(paper, rel=1e-9)
    assert scheme.variance(1) > make("SUE", epsilon=epsilon, domain_size=100).variance(1)


@in_turn("epsilon", ["0.000001", *EPSILONS, "20", "100"])
def test_less_is_delivered_than_asked_for_and_the_scheme_says_why(epsilon: str) -> None:
    scheme = make("THE", epsilon=epsilon, domain_size=9)
    assert scheme.epsilon / 2 < scheme.privacy_loss() < scheme.epsilon
    assert within_exp(scheme.randomizer.worst_ratio(), scheme.privacy_loss())
    assert "threshold" in scheme.spends_less
    assert make("CM", oracle=scheme, rows=2, domain_size=20).spends_less == scheme.spends_less


@in_turn("threshold", [0, "0.4999", 1, "1", "2", -1, "nan", "half", True, [], 10**400, "1e9999"])
def test_a_threshold_outside_its_range_is_refused(threshold: object) -> None:
    with pytest.raises(ParameterError, match=r"^threshold: "):
        make("THE", epsilon=1, domain_size=9, threshold=threshold)


def test_an_epsilon_that_64_bits_cannot_represent_is_refused() -> None:
    with pytest.raises(ParameterError, match="too small"):
        make("THE", epsilon="1e-20", domain_size=9)


def test_equal_thresholds_make_equal_schemes_however_they_are_written() -> None:
    schemes = {make("THE", epsilon=1, domain_size=9, threshold=t) for t in ("0.75", 0.75, Fraction(3, 4), "3/4")}
    assert len(schemes) == 1
    (scheme,) = schemes
    assert json.loads(scheme.to_json())["threshold"] == "3/4"
    assert plausibly.from_json(scheme.to_json()) == scheme
