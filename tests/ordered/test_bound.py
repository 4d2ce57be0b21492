"""The least possible variance of linear questions, in closed forms and against the laws of schemes."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

import plausibly
from drawn import thinned
from plausibly.core.bound import Workload, best_noise
from plausibly.core.laws import Estimator, Floats
from plausibly.core.linear import OfOracle
from plausibly.ordered import SLIDE

EPSILONS = (0.5, 1.0, 3.0, 5.0)


def all_prefixes(length: int) -> Floats:
    return np.tri(length)[:-1]


def all_ranges(length: int) -> Floats:
    ends = np.vstack([np.zeros(length), np.tri(length)])
    first, last = np.triu_indices(length + 1, 1)
    return np.asarray(ends[last] - ends[first])


WORKLOADS = {"points": np.eye, "prefixes": all_prefixes, "ranges": all_ranges}
CLOSED = {"points": Workload.of_points, "prefixes": Workload.of_prefixes, "ranges": Workload.of_ranges}


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("length", [2, 3, 8, pytest.param(33, marks=pytest.mark.full)])
def test_closed_forms_are_those_of_the_matrices(name: str, length: int) -> None:
    closed, dense = CLOSED[name](length), Workload.of_weights(WORKLOADS[name](length))
    assert closed.roots == pytest.approx(dense.roots, rel=1e-10)
    assert closed.total == pytest.approx(dense.total, rel=1e-10)


def test_prefixes_grow_with_the_square_of_the_logarithm() -> None:
    # The ratio tends to 1; four times the items add ln 4 to ln(d) + a constant.
    def root(length: int) -> float:
        workload = Workload.of_prefixes(length)
        return float((workload.roots**2 / length) ** 0.5)

    steps = [root(4 * length) - root(length) for length in (256, 4_096, 16_384)]
    assert steps == pytest.approx([np.log(4) / np.pi] * 3, rel=1e-2)
    for epsilon in EPSILONS:
        assert Workload.of_prefixes(65_536).bound(epsilon) < best_noise(epsilon) * root(65_536) ** 2


def test_the_mean_has_the_variance_of_its_points() -> None:
    points = np.arange(10.0)[None]
    assert Workload.of_weights(points).bound(1.0) == pytest.approx((best_noise(1.0) - 1) * points.var())


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_single_counts_have_the_known_bound(epsilon: float) -> None:
    star = 4 * exp(epsilon) / (exp(epsilon) - 1) ** 2
    assert best_noise(epsilon) == pytest.approx(star)
    # In a domain of d items the known number of users saves about 1/d.
    assert Workload.of_points(10**6).bound(epsilon) == pytest.approx(star, abs=2e-6 * (star + 1))


@pytest.mark.parametrize("epsilon", thinned(EPSILONS))
@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("oracle", ["DE", "SS", "OUE", "HM"])
def test_no_oracle_is_below_the_bound(oracle: str, name: str, epsilon: float) -> None:
    length = 12
    decoder = plausibly.make(oracle, epsilon=epsilon, domain_size=length).estimator()
    assert isinstance(decoder, Estimator)
    assert decoder.law is not None
    # One user, spread evenly over the items; the number of users is known, so weights may be centred.
    weights = WORKLOADS[name](length)
    answers = OfOracle(np.full(length, 1 / length), 1, decoder.law)
    known = weights - weights.mean(axis=1, keepdims=True)
    mean = min(float(answers.weighted(each)[1].mean()) for each in (weights, known))
    assert mean >= CLOSED[name](length).bound(epsilon)


@pytest.mark.parametrize("epsilon", thinned(EPSILONS))
@pytest.mark.parametrize("name", WORKLOADS)
def test_slide_is_not_below_the_bound(name: str, epsilon: float) -> None:
    length = 40
    system = SLIDE(epsilon=epsilon, domain=plausibly.Integers(length)).system
    questions = system.ask(WORKLOADS[name](length))
    mean = float(questions.variance(np.full(length, 1 / length), 1).mean())
    assert mean >= CLOSED[name](length).bound(epsilon)
