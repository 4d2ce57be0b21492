"""PEM: levels, weights, and the same results as the slow search of the paper's text."""

from __future__ import annotations

from typing import Any

import pytest

import plausibly
from plausibly import Keys, ParameterError, Strings
from search.planted import COMMON, LETTERS, assert_equals_the_naive_search, search_for, search_over, tally_for

# Names share prefixes, so that the order at the cut-off matters; light ones drown in noise.
CROWD = ["ab", "abc", "", "c", "ba", "bac", "aaa", "ab", "abc", "ab"] * 30


@pytest.mark.parametrize(
    "choices",
    [{}, {"k": 3}, {"k": 5, "keep": 2}, {"k": None, "threshold": 20}, {"k": 4, "threshold": 0, "keep": 5}, {"keep": 1}],
    ids=str,
)
@pytest.mark.parametrize("shape", [{"start": 1, "step": 1}, {"start": 1, "step": 2}, {"start": 3}], ids=str)
def test_it_finds_what_the_slow_search_finds(shape: dict[str, int], choices: dict[str, Any]) -> None:
    oracle = plausibly.make("DE", epsilon=3, domain_size=64)
    assert_equals_the_naive_search(search_over("PEM", oracle, Strings("abc", 3), **shape), CROWD, **choices)


@pytest.mark.parametrize("name", ["OLH", *(pytest.param(name, marks=pytest.mark.full) for name in ("FLH", "TLH"))])
def test_it_finds_what_the_slow_search_finds_over_keys(name: str) -> None:
    oracle = plausibly.make(name, epsilon=3, domain=Keys(9))
    scheme = search_over("PEM", oracle, Strings("abc", 3), start=1, step=1, weights=(1, 2, 5))
    assert_equals_the_naive_search(scheme, CROWD, k=8, keep=6)


def test_bytes_are_searched_as_the_slow_search_does() -> None:
    oracle = plausibly.make("OLH", epsilon=4, domain=Keys())
    scheme = search_over("PEM", oracle, Strings(b"\0\xff", 3), start=1, step=1)
    assert_equals_the_naive_search(scheme, [b"\0\0\0", b"\0", b"", b"\xff\0"] * 60, k=4)


def test_the_levels_end_with_the_whole_string() -> None:
    assert search_for("PEM", start=1, step=2).levels == (1, 3, 4)
    assert search_for("PEM", start=4).levels == (4,)
    assert search_for("PEM").levels == (2, 4)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"start": 0}, "start: expected"),
        ({"start": 5}, "start: expected"),
        ({"step": 0}, "step: expected"),
        ({"step": 1.0}, "step: expected"),
        ({"weights": (1,)}, "weights: expected 2 positive integers"),
        ({"weights": (1, 0)}, "weights: expected"),
        ({"weights": (1, 2**32)}, "weights: expected"),
        ({"weights": "11"}, "weights: expected 2 positive integers"),
        ({"weights": 3}, "weights: expected 2 positive integers"),
    ],
    ids=str,
)
def test_levels_and_weights_that_make_no_sense_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        search_for("PEM", **wrong)


def test_weights_move_users_to_the_level_that_needs_them() -> None:
    counts = tally_for("PEM", COMMON, weights=(1, 9)).n
    assert counts.sum() == sum(COMMON.values())
    # Expected 2,050 with a standard deviation of 43. False alarm: below 1e-6.
    assert abs(int(counts[0]) - 2_050) < 5 * 43


def test_too_many_candidates_are_refused_before_they_are_made() -> None:
    scheme = search_for("PEM", Strings("abcdefghijklmnopqrstuvwxyz", 12), start=6, step=6)
    with pytest.raises(
        ParameterError, match="extensions by 6 characters; take a smaller keep, or a scheme with a smaller step"
    ):
        scheme.accumulator().search()


def test_it_delivers_the_epsilon_of_its_oracle() -> None:
    assert search_for("PEM", epsilon=3).epsilon == 3
    assert search_for("PEM", LETTERS, epsilon=3, weights=(5, 1)).epsilon == 3
