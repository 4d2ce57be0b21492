"""Groups of reports that were lost or added: the rate of false alarms by the law, and alarms that must ring."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

import plausibly
from cases import case
from plausibly import Ordered, SeededRandom
from plausibly.core.group_numbers import FALSE_ALARM, misfits
from plausibly.core.grouped_accumulator import GroupedAccumulator
from plausibly.ordered import SLIDE


def chance_of_alarm(n: int, weights: tuple[int, int, int], rate: float) -> float:
    """The probability of an alarm by the multinomial law of a complete collection: all outcomes, one by one."""
    a, b, c = (weight / sum(weights) for weight in weights)
    chance = 0.0
    for first in range(n + 1):
        for second in range(n + 1 - first):
            third = n - first - second
            if misfits([first, second, third], weights, rate):
                chance += comb(n, first) * comb(n - first, second) * a**first * b**second * c**third
    return chance


def test_the_rate_of_false_alarms_is_as_stated_by_the_law_for_few_reports_too() -> None:
    for n, weights in ((3, (1, 1, 1)), (30, (15, 11, 2)), (60, (100, 1, 1))):
        with case((n, weights)):
            assert 0 < chance_of_alarm(n, weights, 0.5) <= 0.5
            assert chance_of_alarm(n, weights, 0.01) <= 0.01
            assert chance_of_alarm(n, weights, FALSE_ALARM) <= FALSE_ALARM


def test_many_complete_collections_raise_no_alarm() -> None:
    # By the bound, 2,000 collections raise one with a probability of at most 0.002.
    numbers = np.random.default_rng(1).multinomial(100_000, np.array([15, 11, 11, 11]) / 48, size=2_000)
    assert not any(misfits(row.tolist(), [15, 11, 11, 11]) for row in numbers)


@pytest.mark.full
@pytest.mark.parametrize("lost", [0, 2])
def test_a_lost_group_is_noticed_and_said_everywhere(lost: int) -> None:
    scheme = SLIDE(epsilon=1, domain=Ordered(0, 120))
    reports = scheme.privatize(np.arange(2_000) % 121, SeededRandom(lost))
    tally = scheme.accumulator()
    tally.add(reports)
    assert isinstance(tally, GroupedAccumulator)
    assert tally.lost_groups() == []
    assert tally.cautions == tally.estimate().cautions == ()
    part = scheme.accumulator()
    part.add(reports[reports["group"] != lost])
    assert isinstance(part, GroupedAccumulator)
    # Without them, the others have more than their share as well.
    assert min(part.lost_groups(), key=lambda each: each.reports).group == lost
    made = part.estimate()
    told = f"of {len(part):,} reports, group “blocks of {scheme.widths[lost]}” has 0, expected "  # type: ignore[index]
    assert told in made.cautions[0]
    for said in (repr(made), made._repr_html_(), repr(made.top(3)), repr(made + tally.estimate())):
        assert told.replace("“", "") in said.replace("“", "")
    for answer in (made.ranges([(0, 9)]), made.cdf(), made.quantiles(), made.mean().only):  # type: ignore[attr-defined]
        assert told in repr(answer)
        assert told in answer._repr_html_()


def test_a_search_says_it_too() -> None:
    strings = plausibly.Strings("ab", 8)
    scheme = plausibly.TRELLIS(2, domain=strings, users=2_000)
    reports = scheme.privatize(["abababab"] * 9_000, SeededRandom(1))
    tally = scheme.accumulator()
    tally.add(reports[reports["group"] != np.bincount(reports["group"]).argmax()])
    found = tally.search()
    assert "has 0, expected" in found.cautions[0]
    assert "has 0, expected" in repr(found)


def test_a_group_that_was_added_twice_is_noticed() -> None:
    scheme = SLIDE(epsilon=1, domain=Ordered(0, 120))
    reports = scheme.privatize(np.arange(5_000) % 121, SeededRandom(1))
    tally = scheme.accumulator()
    tally.add(np.concatenate([reports, reports[reports["group"] == 2]]))
    assert isinstance(tally, GroupedAccumulator)
    assert 2 in {each.group for each in tally.lost_groups()}
