"""Plans for ordered values: the best scheme by exact laws, targets of ranges and quantiles, and what a plan says."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from bench.ordered import best_tree

import plausibly
from plausibly import Above, Limits, Ordered, QuantileWithin, Within
from plausibly.catalog import CATALOG
from plausibly.core.bound import Workload, best_noise
from plausibly.core.errors import ParameterError
from plausibly.core.linear import Linear, predicted_of
from plausibly.core.scheme import Scheme
from plausibly.ordered import SLIDE
from plausibly.planner.ordered_recommendation import OrderedPlan
from plausibly.planner.recommendation import expression
from plausibly.planner.solving import STEP, least_epsilon, least_epsilon_near

AGES = Ordered(0, 120, unit="years")


def planned(domain: Ordered = AGES, users: int | None = None, **more: object) -> OrderedPlan:
    """A plan, which knows ranges and quantiles."""
    found = plausibly.plan(domain, users, **more)  # type: ignore[arg-type]
    assert isinstance(found, OrderedPlan)
    return found


def mean_over_ranges(scheme: Scheme, items: int) -> float:
    """The mean variance over all ranges, per user, from the variances of all prefixes."""
    law = predicted_of(scheme.estimator(), np.full(items, 1 / items), 1)
    assert law is not None
    return Linear.range_variance(law, items)


def test_ranges_are_planned_with_sliding_blocks() -> None:
    plan = planned(users=100_000, epsilon=1)
    assert plan.scheme.name == "SLIDE"
    assert plan.scheme.domain == AGES
    others = {choice.name: choice.error for choice in plan.runners_up}
    assert {"HH", "HAAR", "SS", "HM", "OUE"} <= others.keys()
    assert min(others.values()) > 1.1 * plan.best.error


def test_the_error_is_the_exact_mean_over_all_ranges() -> None:
    plan = planned(users=100_000, epsilon=1)
    exact = mean_over_ranges(plan.scheme, 121)
    assert plan.best.error == pytest.approx((100_000 * exact) ** 0.5, rel=1e-9)
    assert plan.times_bound == pytest.approx(exact / Workload.of_ranges(121).bound(1.0), rel=1e-9)


def test_a_plan_begins_with_consequences() -> None:
    plan = planned(users=100_000, epsilon=1)
    told = "A range's share is known to ±2.7 %, the median to about ±3.1 years, if users are spread evenly."
    assert plan.verdict == told
    assert ("best possible", "1.08 times the least possible variance of ranges") in plan.facts()
    assert "almost nothing" in planned(users=100, epsilon=1).verdict


@pytest.mark.full
def test_single_items_are_planned_as_before() -> None:
    assert plausibly.plan(121, 100_000, epsilon=1).scheme.name == "TLH"
    assert plausibly.plan(AGES, epsilon=1, target=Above("5 %")).scheme.name == "TLH"


def test_the_users_that_a_target_needs_are_the_fewest() -> None:
    plan = planned(epsilon=1, target=Within("1 %"))
    assert plan.range_half_width() <= 0.01
    fewer = planned(users=plan.users - 1, epsilon=1)
    assert fewer.range_half_width() > 0.01
    every = planned(epsilon=1, target=Within("1 %", every=True))
    assert every.users > 4 * plan.users


@pytest.mark.full
def test_the_epsilon_that_a_target_needs_is_the_smallest() -> None:
    plan = planned(users=100_000, target=QuantileWithin(0.5, 2))
    assert plan.quantile_half_width() <= 2
    assert planned(users=100_000, epsilon=plan.epsilon - STEP).quantile_half_width() > 2
    assert plan.solved == "epsilon"
    assert ("target", "the median within 2 years with 95 % confidence") in plan.facts()


@pytest.mark.parametrize("limit", [Fraction(1, 2), Fraction(3), Fraction(10)])
@pytest.mark.parametrize("goal", [1e-9, 0.02, 0.3, 5.0, 1e9])
def test_guesses_find_what_bisection_finds(goal: float, limit: Fraction) -> None:
    calls = []

    def error(epsilon: Fraction) -> float:
        calls.append(epsilon)
        return 1 / float(epsilon) + 0.01

    expected = least_epsilon(lambda epsilon: 1 / float(epsilon) + 0.01 <= goal, limit)
    assert least_epsilon_near(error, goal, limit) == expected
    assert len(calls) <= 25


@pytest.mark.full
def test_a_plan_for_a_thousand_items_solves_few_equations(monkeypatch: pytest.MonkeyPatch) -> None:
    solved = []
    kernel = CATALOG["SLIDE"].estimator
    monkeypatch.setattr(CATALOG["SLIDE"], "estimator", lambda self: (solved.append(self.epsilon), kernel(self))[1])
    planned(Ordered(0, 1023), 100_000, target=Within("1 %"))
    assert 2 <= len(set(solved)) <= 10


@pytest.mark.full
def test_a_median_is_in_the_units_of_the_domain() -> None:
    days = planned(Ordered.dates("2026-01-01", "2026-12-31"), 100_000, epsilon=1)
    assert "±11 days" in days.verdict
    wide = planned(Ordered.equal(0, 1210, 121), 100_000, epsilon=1)
    assert wide.quantile_half_width() == pytest.approx(10 * planned(users=100_000, epsilon=1).quantile_half_width())


@pytest.mark.full
def test_a_median_is_as_close_as_planned() -> None:
    # At least 95 % of 60 collections are expected to be within the half-width; fewer than 51 of them have a chance of
    # at most 0.1 %. Half an item more, because quantiles are items.
    plan = planned(Ordered(0, 63), 20_000, epsilon=2)
    values = np.arange(20_000) % 64
    within = 0
    for run in range(60):
        tally = plan.scheme.accumulator()
        tally.add(plan.scheme.privatize(values, rng=plausibly.SeededRandom(run)))
        median = float(tally.estimate().quantiles([0.5]).values[0])  # type: ignore[attr-defined]
        within += abs(median - 31.5) <= plan.quantile_half_width() + 0.5
    assert within >= 51


def test_the_plan_as_json() -> None:
    told = json.loads(planned(users=100_000, epsilon=1).to_json())
    assert told["half_width"].keys() == {"range", "median"}
    assert told["times_bound"] == pytest.approx(1.08, abs=0.005)
    assert plausibly.from_json(json.dumps(told["scheme"])).name == "SLIDE"


def test_limits_hold_for_ordered_values_too() -> None:
    assert planned(users=100_000, epsilon=1, limits=Limits(report_bytes=3)).best.costs.report_bytes <= 3
    with pytest.raises(ParameterError, match="no scheme fits in 10 bytes of state"):
        planned(users=100_000, epsilon=1, limits=Limits(memory=10))


@pytest.mark.full
@pytest.mark.parametrize("items", [8, 32, 128, 512, 1024, 4096])
@pytest.mark.parametrize("epsilon", [0.25, 1, 2, 3, 5])
def test_the_choice_is_within_5_percent_of_the_best_unbiased_scheme(items: int, epsilon: float) -> None:
    plan = planned(Ordered(0, items - 1), 10**6, epsilon=epsilon)
    own = mean_over_ranges(plan.scheme, items)
    given = {"epsilon": plan.epsilon, "domain": Ordered(0, items - 1)}
    rivals = [CATALOG[name](**given) for name in ("SLIDE", "HAAR", "SS", "DE", "OUE", "HM", "OLH")]
    rivals += [CATALOG["HH"](**given, branching=branching) for branching in (2, 3, 4, 5, 6, 8, 12, 16, 32)]
    assert own <= 1.05 * min(mean_over_ranges(rival, items) for rival in rivals)


@pytest.mark.full
@pytest.mark.parametrize(("items", "epsilon"), [(32, 4.0), (64, 5.0), (128, 5.0), (256, 5.0)])
def test_the_choice_is_within_5_percent_of_trees_with_the_best_shares(items: int, epsilon: float) -> None:
    plan = planned(Ordered(0, items - 1), 10**6, epsilon=epsilon)
    tree = best_tree(2)(items, epsilon).ranges * best_noise(epsilon)
    assert mean_over_ranges(plan.scheme, items) <= 1.05 * tree


SIZES = [8, 16, 64, 128]
LARGE_SIZES = [pytest.param(2**bits, marks=pytest.mark.slow) for bits in (5, 8, 9, 10, 11, 12, 14, 16)]


@pytest.mark.full
@pytest.mark.parametrize("items", [*SIZES, *LARGE_SIZES])
@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 3])
def test_the_choice_is_within_5_percent_of_every_rival_at_its_best(items: int, epsilon: float) -> None:
    domain = Ordered(0, items - 1)
    plan = planned(domain, 10**6, epsilon=epsilon)
    given = {"epsilon": plan.epsilon, "domain": domain}
    rivals = {name: mean_over_ranges(CATALOG[name](**given), items) for name in ("HAAR", "SS", "OUE", "HM", "DE")}
    for branching in (2, 4, 8):
        # Less what eight rounds may lack.
        least = 0.998 * best_tree(branching, rounds=8)(items, epsilon).ranges
        rivals[f"HH of {branching}"] = least * best_noise(epsilon)
    own = mean_over_ranges(plan.scheme, items)
    assert {name: own / rival for name, rival in rivals.items() if own > 1.05 * rival} == {}


def test_the_expression_of_a_plan_makes_its_scheme() -> None:
    for epsilon in (1, 4):
        plan = planned(Ordered(0, 63), 10**6, epsilon=epsilon)
        assert plan.scheme.name == "SLIDE"
        assert ("widths" in expression(plan.scheme)) == (epsilon == 4)
        made = eval(expression(plan.scheme), {"make": plausibly.make, "Ordered": Ordered})
        assert made == plan.scheme


@pytest.mark.parametrize("items", [16, 121, pytest.param(256, marks=pytest.mark.full)])
@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 3, 5])
def test_the_error_of_ranges_hardly_depends_on_the_crowd(items: int, epsilon: float) -> None:
    decoder = SLIDE(epsilon=epsilon, domain=Ordered(0, items - 1)).estimator()
    crowds = np.full(items, 1 / items), np.eye(1, items, items // 2)[0], np.eye(1, items)[0]
    laws = [predicted_of(decoder, crowd, 1) for crowd in crowds]
    even, *others = [law.range_variance(items) for law in laws if law is not None]
    assert len(others) == 2
    assert all(0.875 <= other / even <= 1.055 for other in others)
