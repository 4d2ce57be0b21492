"""What a plan says of costs: bytes as they are, and what one fake report can do, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import plausibly
from cases import in_turn
from plausibly import CATALOG, Keys, SeededRandom, Strings, make, oracles

ORACLES = [name for name in CATALOG if name in vars(oracles)]


def schemes() -> list[Any]:
    found = [make(name, epsilon=1, domain_size=6) for name in ORACLES]
    found.append(make("HR", epsilon=3, domain_size=40, variant="block"))
    found += [make("CM", oracle=make(name, epsilon=2, domain_size=4), rows=2, domain_size=9) for name in ORACLES]
    found += [
        make("CS", oracle=make(name, epsilon=2, domain_size=8), rows=2, domain_size=9) for name in ("HR", "TLH", "DE")
    ]
    return found


@in_turn("scheme", schemes())
def test_one_report_moves_a_count_by_no_more_than_stated_and_may_do_so(scheme: Any) -> None:
    # Estimates are sums over reports: what a report adds is the estimate of the report alone.
    items = np.arange(300) % scheme.size
    reports = scheme.privatize(items, rng=SeededRandom(3))
    most = 0.0
    for i in range(len(reports)):
        tally = scheme.accumulator()
        tally.add(reports[i : i + 1])
        most = max(most, float(np.abs(tally.estimate().values).max()))
        assert most <= scheme.influence() * (1 + 1e-9)
        if most >= scheme.influence() * (1 - 1e-9):
            return
    raise AssertionError("none of these reports moves a count by as much as stated")


def test_a_report_of_a_search_stands_for_those_who_report_other_things() -> None:
    scheme = plausibly.TRELLIS(3, domain=Strings("abcdefgh", 3), users=1000)
    tally = scheme.accumulator()
    reports = scheme.privatize(["abc"] * 400, rng=SeededRandom(1))
    tally.add(reports)
    before = tally.estimate(["abc"]).values[0]
    last = reports[reports["group"] == len(scheme.parts) - 1]
    moved = []
    for i in range(min(len(last), 60)):
        more = plausibly.Accumulator.from_bytes(scheme, tally.to_bytes())
        more.add(last[i : i + 1])
        moved.append(abs(more.estimate(["abc"]).values[0] - before))
    assert max(moved) == pytest.approx(scheme.influence(), rel=1e-6)


@in_turn("scheme", [*schemes(), make("OLH", epsilon=1, domain=Keys()), make("FLH", epsilon=1, domain=Keys())])
def test_state_bytes_are_those_of_an_accumulator(scheme: Any) -> None:
    tally = scheme.accumulator()
    tally.add(scheme.privatize([1, 2, 3, 1], rng=SeededRandom(1)))
    frame = 32 + 8 * (scheme.channels or 0)
    assert scheme.cost(4, 0).state_bytes <= len(tally.to_bytes()) <= scheme.cost(4, 0).state_bytes + frame


def test_what_grows_with_users_and_items_is_told_from_what_does_not() -> None:
    def seconds(name: str, d: int) -> float:
        return make(name, epsilon=2, domain_size=d).cost(10**7, d).seconds

    assert seconds("OLH", 10**5) > 50 * seconds("TLH", 10**5)
    assert seconds("OUE", 10**5) > 10 * seconds("AGR", 10**5)
    assert seconds("HR", 10**5) < 3 * seconds("HR", 10**3)
    classes = [make("OLH", epsilon=2, domain_size=1000).cost(n, 1000).time_class for n in (10**5, 10**7, 10**9, 10**12)]
    assert classes == [0, 0, 1, 3]
