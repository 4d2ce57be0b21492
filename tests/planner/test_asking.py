"""Questions that make no sense are refused with what would; answers read well, for people and machines."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

import plausibly
from cases import in_turn
from plausibly import Above, Keys, Labels, Limits, ParameterError, Strings, Within, plan
from plausibly.planner.recommendation import expression

OK: dict[str, Any] = {"domain": 100, "users": 1000, "epsilon": 1}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"domain": None}, r"domain: expected a number of items, .* got NoneType"),
    ({"domain": "colour"}, r"domain: expected .* Keys for texts .* got str"),
    ({"domain": True}, "domain: .* got bool"),
    ({"domain": 1.5}, "domain: .* got float"),
    ({"domain": 1}, "domain: number of items: expected 2 to"),
    ({"domain": 2**40}, "domain: number of items: expected 2 to"),
    ({"domain": ["a", "a"]}, "distinct labels"),
    ({"domain": {"a", "b"}}, "labels in order"),
    ({"users": 0}, "users: expected 1 to"),
    ({"users": -5}, "users: expected 1 to"),
    ({"users": 10.5}, "users: expected an integer, got float"),
    ({"users": None}, "expected two of users, epsilon and target, .*, got epsilon"),
    ({"users": None, "epsilon": None}, "got none of them"),
    ({"target": Within("1 %")}, "expected two of users, epsilon and target, .*, got users and epsilon and target"),
    ({"epsilon": 0}, "epsilon: expected a positive number"),
    ({"epsilon": "1e-25"}, "epsilon: 1e-25 is too small"),
    ({"epsilon": "a lot"}, "epsilon: expected a finite positive number"),
    ({"epsilon": 11}, "epsilon: expected at most the limit 10, got 11"),
    ({"epsilon": 3, "limits": Limits(epsilon="2.5")}, "epsilon: expected at most the limit 5/2"),
    (
        {"epsilon": None, "target": 0.01},
        r"target: expected a plausibly.Within, plausibly.Above or plausibly.QuantileWithin, got float",
    ),
    ({"limits": {"memory": 5}}, r"limits: expected plausibly.Limits, got dict"),
    ({"skew": -1}, "skew: expected the exponent"),
    ({"skew": "even"}, "skew: expected .* or worst"),
    ({"skew": float("nan")}, "skew: expected"),
    ({"hash_seed": -1}, "hash_seed: expected 0"),
]


@in_turn(("change", "message"), WRONG)
def test_what_makes_no_sense_is_refused_and_says_what_would(change: dict[str, Any], message: str) -> None:
    given = OK | change
    with pytest.raises(ParameterError, match=message):
        plan(given.pop("domain"), given.pop("users"), **given)


@in_turn(
    ("make", "message"),
    [
        (lambda: Within(0), "share: expected a share between 0 and 1, got 0"),
        (lambda: Within(5), 'share: .* 5 percent are "5 %"'),
        (lambda: Within("much"), "share: expected a share such as 0.005 or 0.5%"),
        (lambda: Within("0.5 %", confidence=1), "confidence: expected a share"),
        (lambda: Within("0.5 %", frequency=-1), "frequency: expected a share"),
        (lambda: Within("0.5 %", every=1), "every: expected true or false, got int"),  # type: ignore[arg-type]
        (lambda: Above(True), "share: .* got bool"),
        (lambda: Above("120 %"), "share: expected a share between 0 and 1"),
        (lambda: Limits(report_bytes=0), "report_bytes: expected 1"),
        (lambda: Limits(memory="a gig"), "memory: expected bytes, or a size such as 500MB"),
        (lambda: Limits(memory=0), "memory: expected 1"),
        (lambda: Limits(candidates=0), "candidates: expected 1"),
        (lambda: Limits(epsilon=0), "epsilon: expected a positive"),
    ],
)
def test_targets_and_limits_are_checked(make: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()


def test_shares_and_sizes_may_be_written_as_people_write_them() -> None:
    assert Within("0.5 %") == Within(0.005) == Within("±0.5%") == Within("0.005")
    assert Within("0.5 %", "99 %").confidence == 0.99
    assert Limits(memory="1.5 MB") == Limits(memory=1_500_000)
    assert Limits(memory="1 GiB") == Limits()


@pytest.mark.full
@in_turn(
    ("domain", "limits", "message"),
    [
        (10**6, Limits(report_bytes=1), r"report_bytes: no scheme with 1-byte reports .*; report_bytes=2 is enough"),
        (10**6, Limits(memory=10), r"memory: no scheme fits in 10 bytes of state; memory=32 is enough"),
        (Keys(), Limits(report_bytes=1), r"report_bytes: no scheme with 1-byte reports .*; report_bytes=2 is enough"),
        (
            10**6,
            Limits(memory=1000, report_bytes=1),
            r"report_bytes: no scheme with 1-byte reports fits in 1,000 bytes",
        ),
        (10**6, Limits(memory=10, report_bytes=1), r"no scheme fits; the smallest report has 2 bytes, .* state 32"),
    ],
)
def test_impossible_limits_are_named_with_what_would_do(domain: Any, limits: Limits, message: str) -> None:
    with pytest.raises(ParameterError, match=message) as refused:
        plan(domain, 10**6, epsilon=1, limits=limits)
    needed = re.search(r"report_bytes=(\d+) is enough|memory=(\d+) is enough", str(refused.value))
    if needed:
        more = {"report_bytes": int(needed[1])} if needed[1] else {"memory": int(needed[2])}
        assert plan(domain, 10**6, epsilon=1, limits=Limits(**(vars(limits) | more)))
    with pytest.raises(ParameterError, match=r"no scheme .*fits"):
        plan(domain, epsilon=1, target=Within("1 %"), limits=limits)
    # With a large epsilon something small may fit, and be useless.
    with pytest.raises(ParameterError, match=r"no scheme .*fits|out of reach .* items collide"):
        plan(domain, 10**6, target=Within("0.1 %"), limits=limits)


@pytest.mark.full
def test_a_target_out_of_reach_says_what_is_and_how_many_users_it_takes() -> None:
    with pytest.raises(
        ParameterError, match=r"out of reach with 100 users and ε up to 2, which allow .* % at best"
    ) as refused:
        plan(1000, 100, target=Within("0.1 %"), limits=Limits(epsilon=2))
    users = int(re.search(r"([\d,]+) users are enough", str(refused.value))[1].replace(",", ""))  # type: ignore[index]
    assert plan(1000, users, target=Within("0.1 %"), limits=Limits(epsilon=2)).epsilon <= 2


def test_where_collisions_remain_no_crowd_is_large_enough() -> None:
    with pytest.raises(ParameterError, match=r"out of reach at ε = 4 .* items collide, whatever the number of users"):
        plan(10**6, epsilon=4, target=Within("0.001 %"), limits=Limits(memory="2 kB"), skew="worst")


def test_not_even_all_people_are_enough() -> None:
    for given in ({"users": 10**6}, {"epsilon": 10}):
        with pytest.raises(ParameterError, match=r"out of reach .*even 1,000,000,000,000 users are not enough"):
            plan(1000, **given, target=Within(1e-9))


EVERY: list[Callable[[], plausibly.Plan]] = [
    lambda: plan(100, 10_000, epsilon=1),
    lambda: plan(["cat", "dog"], 10_000, epsilon="1/3"),
    lambda: plan(Labels(("cat", "dog"), other=True), 10_000, target=Within("2 %")),
    lambda: plan(Keys(), 10**6, epsilon=3, hash_seed=0),
    lambda: plan(Keys(4), epsilon=3, target=Above("1 %"), hash_seed=9),
    lambda: plan(10**6, 10**6, epsilon=3, limits=Limits(report_bytes=2, memory="1 MB"), hash_seed=1),
    lambda: plan(Strings("abcdefghijklmnopqrstuvwxyz", 8), 10**6, epsilon=3),
]
"""Made when asked for: collecting tests must not take long."""


@pytest.mark.full
@in_turn("made", EVERY)
def test_a_plan_is_read_by_machines(made: Callable[[], plausibly.Plan]) -> None:
    found = made()
    told = json.loads(found.to_json())
    assert plausibly.from_json(json.dumps(told["scheme"])) == found.scheme
    assert told["users"] == found.users
    assert told["recommended"]["error"] == found.best.error
    assert [each["name"] for each in told["runners_up"]] == [choice.name for choice in found.runners_up]
    assert told["notes"] == list(found.notes)


@pytest.mark.full
@in_turn("made", EVERY)
def test_a_plan_is_read_by_people(made: Callable[[], plausibly.Plan]) -> None:
    found = made()
    text = str(found)
    for part in (
        found.scheme.name.lower(),
        "error",
        "finds",
        "a fake report",
        "Cormode, Maddock and Maple",
        found.situation,
    ):
        assert part in text.lower() or part in text
    for choice in found.runners_up:
        assert choice.reason in text
        assert choice.name in repr(choice)
    assert repr(found).startswith(f"<plan for {found.situation}: ")
    assert max(len(line) for line in text.splitlines() if not line.startswith("Recommended: ")) <= 120
    assert ("assumed" in text) == (found.scheme.name in ("CM", "FLH", "TRELLIS"))


@pytest.mark.full
@in_turn("made", EVERY[:-1])
def test_the_expression_makes_the_scheme(made: Callable[[], plausibly.Plan]) -> None:
    found = made()
    names = {"make": plausibly.make, "Keys": Keys}
    labels = list(getattr(found.domain, "labels", []))
    text = expression(found.scheme).replace("[...]", repr(labels))
    assert eval(text, names) == found.scheme
