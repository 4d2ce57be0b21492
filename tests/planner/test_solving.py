"""The other way round: the epsilon or the users that a target needs are enough, and a little less is not."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

import plausibly
from cases import in_turn
from plausibly import Above, Keys, Limits, Strings, Within, plan
from plausibly.planner.solving import STEP, fewest_users, least_epsilon

WORDS = Strings("abcdefghijklmnopqrstuvwxyz", 6)
LEAN = Limits(memory="2 MB", report_bytes=3)
CASES: list[tuple[Any, int, Any, Limits]] = [
    (2, 1000, Within("5 %"), Limits()),
    (12, 10_000, Within("1 %", frequency="20 %"), Limits()),
    (1000, 100_000, Within("1 %", "99 %", every=True), Limits()),
    (1000, 100_000, Above("1 %"), Limits()),
    (50_000, 10**6, Above("0.5 %"), LEAN),
    (Keys(), 10**5, Within("1 %"), Limits()),
    (Keys(), 10**5, Above("3 %"), Limits(candidates=10_000)),
    (WORDS, 10**6, Above("1 %"), Limits()),
]


def reached(found: plausibly.Plan, target: Any) -> float:
    """What a plan without a target has to offer to one."""
    if isinstance(target, Above):
        return found.finds
    return found.half_width(target.frequency, target.confidence, every=target.every)


@pytest.mark.full
@in_turn(("domain", "n", "target", "limits"), CASES)
def test_epsilon_is_enough_and_a_little_less_is_not(domain: Any, n: int, target: Any, limits: Limits) -> None:
    found = plan(domain, n, target=target, limits=limits, hash_seed=0)
    assert (found.solved, found.users) == ("epsilon", n)
    assert reached(found, target) <= float(target.share) * (1 + 1e-9)
    assert found.epsilon % STEP == 0
    # Asked with a target of its own, since that decides what is recommended.
    for less, possible in ((STEP, False), (Fraction(0), True)):
        capped = Limits(**{**vars(limits), "epsilon": found.epsilon - less})
        if possible:
            assert plan(domain, n, target=target, limits=capped, hash_seed=0).scheme == found.scheme
        else:
            with pytest.raises(plausibly.ParameterError, match="out of reach"):
                plan(domain, n, target=target, limits=capped, hash_seed=0)


@pytest.mark.full
@in_turn(("domain", "n", "target", "limits"), CASES)
def test_users_are_enough_and_one_less_is_not(domain: Any, n: int, target: Any, limits: Limits) -> None:
    found = plan(domain, epsilon=2, target=target, limits=limits, hash_seed=0)
    assert (found.solved, found.epsilon) == ("users", 2)
    assert reached(found, target) <= float(target.share) * (1 + 1e-9)
    # With so many users, epsilon = 2 is what the target needs, up to what one user or one step is worth.
    back = plan(domain, found.users, target=target, limits=limits, hash_seed=0)
    assert 2 - Fraction(1, 10) <= back.epsilon <= 2
    with pytest.raises(plausibly.ParameterError, match="out of reach"):
        plan(domain, found.users - 1, target=target, limits=Limits(**{**vars(limits), "epsilon": 2}), hash_seed=0)


@pytest.mark.full
@in_turn(("domain", "n", "target", "limits"), CASES)
def test_errors_fall_as_epsilon_and_users_grow(domain: Any, n: int, target: Any, limits: Limits) -> None:
    # What is recommended may be up to 5 % of squared error above the best: 2.5 % of the error.
    by_epsilon = [reached(plan(domain, n, epsilon=e, limits=limits, hash_seed=0), target) for e in ("0.5", 1, 2, 3, 5)]
    by_users = [reached(plan(domain, m, epsilon=2, limits=limits, hash_seed=0), target) for m in (n, 2 * n, 8 * n)]
    for values in (by_epsilon, by_users):
        assert all(later <= 1.025 * earlier for earlier, later in pairwise(values)), values


def test_the_least_that_is_enough_is_found_whatever_it_is() -> None:
    for needed in (1, 2, 777, 9_999, 10_000):
        assert least_epsilon(lambda e, needed=needed: e >= needed * STEP, Fraction(10)) == needed * STEP
        assert fewest_users(lambda n, needed=needed: n >= needed) == needed
    assert least_epsilon(lambda e: False, Fraction(10)) is None
    assert least_epsilon(lambda e: True, Fraction(1, 2000)) is None
    assert fewest_users(lambda n: False) is None
