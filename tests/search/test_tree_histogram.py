"""TH: a shorter prefix and the whole string of every user, and the same results as the slow search."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import plausibly
from plausibly import Keys, ParameterError, Strings
from search.planted import COMMON, assert_equals_the_naive_search, search_for, search_over, tally_for

CROWD = ["ab", "abc", "", "c", "ba", "bac", "aaa", "ab", "abc", "ab"] * 30


@pytest.mark.parametrize("choices", [{}, {"k": 5, "keep": 2}, {"k": None, "threshold": 15}, {"keep": 1}], ids=str)
@pytest.mark.parametrize("shape", [{"start": 1, "step": 1}, {"start": 2, "step": 1}], ids=str)
def test_it_finds_what_the_slow_search_finds(shape: dict[str, int], choices: dict[str, Any]) -> None:
    oracle = plausibly.make("DE", epsilon=3, domain_size=64)
    assert_equals_the_naive_search(search_over("TH", oracle, Strings("abc", 3), **shape), CROWD, **choices)


def test_its_two_oracles_may_be_of_different_kinds() -> None:
    scheme = plausibly.make(
        "TH",
        oracle=plausibly.make("DE", epsilon=2, domain_size=16),
        word_oracle=plausibly.make("OLH", epsilon=3, domain=Keys(4)),
        domain=Strings("abc", 3),
        start=1,
        step=1,
    )
    assert scheme.epsilon == 5
    assert_equals_the_naive_search(scheme, CROWD, k=6)


def test_both_reports_are_paid_for() -> None:
    scheme = search_for("TH", epsilon="1.5")
    assert scheme.epsilon == 3
    assert Fraction("2.99") < scheme.privacy_loss() <= 3


def test_every_user_reports_the_whole_string() -> None:
    tally = tally_for("TH", COMMON, start=1, step=1)
    assert [len(part) for part in tally.parts[:-1]] == tally.n.tolist()
    assert len(tally.parts[-1]) == len(tally) == sum(COMMON.values())


def test_there_must_be_a_shorter_prefix() -> None:
    with pytest.raises(ParameterError, match="start: expected less than the length 4"):
        search_for("TH", start=4)
