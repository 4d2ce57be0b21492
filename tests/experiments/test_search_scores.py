"""Scores of a search, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from plausibly import ParameterError
from plausibly.experiments.search_scores import Score, false_items, lenient_score, score
from plausibly.experiments.string_crowds import Crowd

COUNTS = {"a": 100, "b": 80, "c": 40, "d": 40, "e": 40, "f": 10, "g": 9, "h": 1}
TRUTH = Crowd("by hand", np.array(list(COUNTS)), np.array(list(COUNTS.values())))


def test_a_full_answer_scores_one() -> None:
    assert score(["b", "a"], TRUTH, 2) == Score(1.0, 1.0, 1.0)


def test_an_empty_answer_scores_nothing() -> None:
    assert score([], TRUTH, 2) == Score(0.0, 0.0, 0.0)


def test_a_wrong_answer_scores_nothing() -> None:
    assert score(["c", "zebra"], TRUTH, 2) == Score(0.0, 0.0, 0.0)


def test_half_of_the_truth_alone_is_precise() -> None:
    found = score(["b"], TRUTH, 2)
    assert (found.precision, found.recall) == (1.0, 0.5)
    assert found.f1 == pytest.approx(2 / 3)


def test_more_than_was_asked_for_costs_precision() -> None:
    found = score(["a", "b", "f", "g"], TRUTH, 2)
    assert (found.precision, found.recall) == (0.5, 1.0)
    assert found.f1 == pytest.approx(2 / 3)


@pytest.mark.parametrize("tied", ["c", "d", "e"])
def test_any_of_the_strings_tied_at_the_last_place_is_right(tied: str) -> None:
    assert score(["a", "b", tied], TRUTH, 3) == Score(1.0, 1.0, 1.0)


def test_recall_stops_at_one_with_ties() -> None:
    assert score(["a", "b", "c", "d", "e"], TRUTH, 3) == Score(1.0, 1.0, 1.0)


def test_tied_strings_do_not_make_up_for_a_missing_one_in_part() -> None:
    found = score(["a", "c"], TRUTH, 3)
    assert (found.precision, found.recall) == (1.0, 2 / 3)


def test_a_string_given_twice_is_right_once() -> None:
    found = score(["a", "a"], TRUTH, 2)
    assert (found.precision, found.recall, found.f1) == (0.5, 0.5, 0.5)


def test_a_small_crowd_is_asked_for_all_its_strings() -> None:
    assert score(list(COUNTS), TRUTH, 10) == Score(1.0, 1.0, 1.0)
    assert score(["a", "b"], TRUTH, 10).recall == 2 / 8


def test_false_are_strings_below_a_quarter_of_the_last_place() -> None:
    # The third count is 40: ten users are enough, nine are not.
    assert false_items(["a", "g", "f", "d", "zebra", "h"], TRUTH, 3) == ["g", "zebra", "h"]


def test_wrong_endings_are_false() -> None:
    assert false_items(["aa", "", "A"], TRUTH, 8) == ["aa", "", "A"]


def test_nothing_found_is_nothing_false() -> None:
    assert false_items([], TRUTH, 3) == []


@pytest.mark.parametrize("k", [0, -1, 2.0])
def test_a_top_of_nothing_is_refused(k: int) -> None:
    with pytest.raises(ParameterError, match="k: expected"):
        score(["a"], TRUTH, k)


def test_leniently_only_strings_that_nobody_has_are_false() -> None:
    found = ["a", "b", "f", "g", "zebra"]
    assert score(found, TRUTH, 2) == Score(0.4, 1.0, pytest.approx(4 / 7))
    assert lenient_score(found, TRUTH, 2) == Score(pytest.approx(2 / 3), 1.0, 0.8)


def test_leniently_a_near_miss_is_neither_right_nor_false() -> None:
    assert lenient_score(["a", "f"], TRUTH, 2) == Score(1.0, 0.5, pytest.approx(2 / 3))
    assert lenient_score(["f", "g"], TRUTH, 2) == lenient_score([], TRUTH, 2) == Score(0.0, 0.0, 0.0)


def test_leniently_a_string_given_twice_counts_once() -> None:
    assert lenient_score(["a", "a", "zebra", "zebra"], TRUTH, 2) == Score(0.5, 0.5, 0.5)
