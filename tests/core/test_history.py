"""Histories of estimates: records that are compared by what they say, and shown as words."""

from __future__ import annotations

import pytest

from plausibly.core.history import Applied, Kind, decoding, history_text, search_by, selection, without_steps

HISTORY = (
    decoding("the median of rows"),
    search_by("PEM"),
    Applied("significance-cut", (("alpha", 0.1),)),
    selection("top", k=3),
)


def test_every_kind_of_step_is_shown_in_its_own_words() -> None:
    assert [str(step) for step in HISTORY] == [
        "the median of rows",
        "search by PEM",
        "significance-cut alpha=0.1",
        "top 3",
    ]
    assert [step.kind for step in HISTORY] == [Kind.DECODING, Kind.SEARCH, Kind.POSTPROCESSING, Kind.SELECTION]


def test_a_history_in_words_joins_its_steps() -> None:
    assert history_text(HISTORY[:2]) == "the median of rows and search by PEM"
    assert history_text(HISTORY[2:], ", ") == "significance-cut alpha=0.1, top 3"
    assert history_text(()) == ""


def test_steps_of_some_kinds_are_left_out_by_kind_and_not_by_name() -> None:
    misleading = Applied("top ten norm-sub")
    assert without_steps((*HISTORY, misleading), Kind.SELECTION, Kind.SEARCH) == (HISTORY[0], HISTORY[2], misleading)
    assert without_steps(HISTORY) == HISTORY


def test_records_are_values() -> None:
    assert {selection("top", k=3), selection("top", k=3)} == {selection("top", k=3)}
    assert Applied("PEM") != search_by("PEM")
    with pytest.raises(AttributeError):
        HISTORY[0].name = "other"  # type: ignore[misc]


def test_a_very_long_option_is_cut() -> None:
    assert len(str(Applied("step", (("word", "x" * 1000),)))) < 80
