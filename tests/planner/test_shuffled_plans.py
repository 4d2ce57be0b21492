"""Plans with a shuffler: the largest local epsilon that keeps a central promise."""

from __future__ import annotations

from fractions import Fraction

import pytest

import plausibly
from plausibly import Limits, ParameterError, Shuffler, Within, shuffled

CROWD = Shuffler(epsilon=1, smallest_batch=10_000)


@pytest.mark.full
def test_a_plan_keeps_the_central_promise_with_the_largest_local_epsilon() -> None:
    found = plausibly.plan(10, 50_000, shuffler=CROWD)
    assert found.central is not None
    assert found.central.epsilon <= 1
    assert found.central.epsilon == shuffled(found.scheme, 10_000).epsilon
    more = plausibly.plan(10, 50_000, epsilon=found.epsilon + Fraction(1, 20))
    assert shuffled(more.scheme, 10_000).epsilon > 1
    assert ("with a shuffler", found.central.verdict) in found.facts()
    assert found.to_dict()["central"]["users"] == 10_000
    assert "shuffler" in found.notes[-1]
    assert "central" not in plausibly.plan(10, 50_000, epsilon=1).to_dict()


@pytest.mark.full
def test_a_target_is_planned_at_the_allowed_epsilon() -> None:
    found = plausibly.plan(10, target=Within("0.2 %"), shuffler=Shuffler(epsilon="0.25", smallest_batch=5000))
    assert found.solved == "users"
    assert found.users >= 5000


@pytest.mark.full
def test_the_limit_of_epsilon_holds_with_a_shuffler() -> None:
    found = plausibly.plan(10, 50_000, shuffler=CROWD, limits=Limits(epsilon=2))
    assert found.epsilon == 2


def test_a_shuffler_stands_for_epsilon() -> None:
    with pytest.raises(ParameterError, match="a central epsilon or epsilon, got both"):
        plausibly.plan(10, 50_000, epsilon=1, shuffler=CROWD)
    with pytest.raises(ParameterError, match=r"shuffler: expected a plausibly\.Shuffler, got int"):
        plausibly.plan(10, 50_000, shuffler=1)  # type: ignore[arg-type]


def test_impossible_shufflers_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"epsilon: expected at least 0\.05"):
        Shuffler(epsilon="0.01", smallest_batch=10)
    with pytest.raises(ParameterError, match="smallest_batch: expected 1 to"):
        Shuffler(epsilon=1, smallest_batch=0)
    with pytest.raises(ParameterError, match="epsilon: expected less than the limit 1"):
        plausibly.plan(10, 50_000, shuffler=CROWD, limits=Limits(epsilon=1))


@pytest.mark.full
def test_a_batch_has_no_more_reports_than_users() -> None:
    with pytest.raises(ParameterError, match="smallest_batch: expected at most the 500 users of the plan, got 10,000"):
        plausibly.plan(10, 500, shuffler=CROWD)


@pytest.mark.full
def test_a_shuffler_without_an_epsilon_is_stated() -> None:
    crowd = Shuffler(smallest_batch=10_000, delta="1e-9")
    alone, found = (plausibly.plan(10, 50_000, epsilon=1, shuffler=given) for given in (None, crowd))
    assert (repr(found.best), found.epsilon) == (repr(alone.best), 1)
    assert found.central is not None
    assert found.central.epsilon == shuffled(found.scheme, 10_000, "1e-9").epsilon
    assert plausibly.plan(10, target=Within("1 %"), epsilon=1, shuffler=crowd).solved == "users"
