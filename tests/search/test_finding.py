"""What searches over oracles of keys must do: find what is common, of any length and alphabet, and how common it is."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import plausibly
from cases import in_turn
from contract.entries import KEYED_SEARCHES, settable
from plausibly import ParameterError, SeededRandom, StateError, Strings
from plausibly.core.history import search_by
from search.planted import COMMON, search_for, search_over, tally_for


def options_of(name: str) -> set[str]:
    """What an analyst may choose at this search."""
    return set(inspect.signature(plausibly.CATALOG[name].search).parameters)


every_search = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if i % 2 else pytest.mark.full) for i, name in enumerate(KEYED_SEARCHES)]
)
NAMED = sorted(COMMON, key=lambda text: -COMMON[text])


@every_search
def test_common_strings_of_every_length_are_found_with_their_counts(name: str) -> None:
    found = tally_for(name, COMMON).search(k=5)
    assert found.items.tolist() == NAMED
    truth = np.array([COMMON[text] for text in NAMED])
    # False alarm: five standard deviations for 5 counts of 4 searches, below 2e-5 over fresh seeds.
    assert (np.abs(found.values - truth) < 5 * np.sqrt(found.variance)).all()
    assert (found.n, found.complete) == (sum(COMMON.values()), False)


@every_search
@pytest.mark.parametrize(
    ("domain", "common"),
    [
        (Strings("äé\N{GRINNING FACE}中\u0301", 3), ["\N{GRINNING FACE}中", "é\u0301ä", "中"]),
        (Strings(bytes([0, 255, 7]), 3), [b"\0\0\0", b"\xff\0", b"\0", b""]),
        (Strings("ab", 3, other=True), ["a\N{REPLACEMENT CHARACTER}", "bbb"]),
        (Strings("ab", 1), ["a", ""]),
    ],
    ids=["characters", "bytes", "other", "one"],
)
def test_any_alphabet_is_searched(name: str, domain: Strings, common: list[Any]) -> None:
    counts = {text: 7_000 - 1_000 * i for i, text in enumerate(common)}
    small = {key: 1 for key in ("start", "step", "fragment") if key in settable(name)}
    if name == "TH":
        domain = replace(domain, length=max(2, domain.length))  # it wants a shorter prefix besides the string
    assert tally_for(name, counts, domain, **small).search(k=len(common)).items.tolist() == common


@every_search
def test_characters_outside_the_alphabet_are_found_as_others(name: str) -> None:
    domain = Strings("ab", 3, other=True)
    tally = tally_for(name, {"a\N{GRINNING FACE}": 9_000, "az": 8_000, "b": 4_000}, domain)
    assert tally.search(k=2).items.tolist() == ["a\N{REPLACEMENT CHARACTER}", "b"]


@every_search
def test_long_strings_are_found_cut(name: str) -> None:
    assert tally_for(name, {"abcdabcd": 9_000, "dd": 6_000}).search(k=2).items.tolist() == ["abcd", "dd"]


@every_search
def test_k_and_a_threshold_each_end_the_list(name: str) -> None:
    tally = tally_for(name, COMMON)
    assert tally.search(k=2).items.tolist() == NAMED[:2]
    # 3,500 lies 500 from the next counts; their standard deviation is below 100 where whole strings are reported.
    assert tally.search(k=None, threshold=3_500).items.tolist() == NAMED[:3]
    assert tally.search(k=4, threshold=3_500).items.tolist() == NAMED[:3]
    assert tally.search(k=1, threshold=3_500).items.tolist() == NAMED[:1]
    assert len(tally.search(k=None, threshold=1e9)) == 0


@every_search
def test_nothing_is_found_in_an_empty_tally(name: str) -> None:
    found = search_for(name).accumulator().search()
    assert (len(found), found.n) == (0, 0)
    assert found.items.tolist() == []
    assert "0 items from 0 reports" in repr(found)
    assert len(found.interval()[0]) == 0
    assert len(found.to_frame()) == 0


@every_search
def test_what_is_estimated_at_nothing_is_not_found(name: str) -> None:
    found = tally_for(name, {"ab": 300}).search(k=10_000)
    assert (found.values > 0).all()
    assert found.items[0] == "ab"


@pytest.mark.full
@every_search
def test_searching_again_with_other_choices_gives_what_a_fresh_search_gives(name: str) -> None:
    searched = tally_for(name, COMMON)
    before = searched.to_bytes()
    for choices in ({"k": 1}, {"k": None, "threshold": 1_000.0}, {"k": 5, "threshold": -5.0}, {"k": 3}):
        again, fresh = searched.search(**choices), tally_for(name, COMMON).search(**choices)
        assert again.items.tolist() == fresh.items.tolist()
        np.testing.assert_array_equal(again.values, fresh.values)
    assert searched.to_bytes() == before


@every_search
def test_a_search_finds_the_same_in_a_restored_and_in_a_merged_tally(name: str) -> None:
    scheme = search_for(name)
    whole, parts = scheme.accumulator(), [scheme.accumulator() for _ in range(3)]
    for i, part in enumerate(parts):
        reports = scheme.privatize(NAMED * 400, SeededRandom(i))
        part.add(reports)
        whole.add(reports)
    merged = plausibly.Accumulator.from_bytes(scheme, parts[0].to_bytes())
    for part in parts[1:]:
        merged.merge(part)
    assert merged.to_bytes() == whole.to_bytes()
    assert merged.search(k=5).items.tolist() == whole.search(k=5).items.tolist()


@every_search
def test_given_strings_are_estimated_as_the_search_estimates_them(name: str) -> None:
    tally = tally_for(name, COMMON)
    found = tally.search(k=5)
    given = tally.estimate(found.items)
    np.testing.assert_array_equal(found.values, given.values)
    np.testing.assert_array_equal(found.variance, given.variance)


@every_search
@in_turn(
    ("choices", "message"),
    [
        ({"k": 0}, "k: expected"),
        ({"k": 1.5}, "k: expected"),
        ({"k": True}, "k: expected"),
        ({"k": None}, "expected k or threshold"),
        ({"threshold": "10"}, "threshold: expected a count"),
        ({"threshold": True}, "threshold: expected a count"),
        ({"threshold": float("nan")}, "threshold: expected a count"),
        ({"oracle": 5}, "oracle: expected a mapping"),
        ({"oracle": {"combin": "mean"}}, "unknown option 'combin'"),
        ({"treshold": 5}, "unknown option 'treshold'; did you mean 'threshold'"),
        ({"tally": 5}, "unknown option 'tally'"),
    ],
)
def test_choices_that_make_no_sense_are_refused(name: str, choices: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)):
        tally_for(name, {"ab": 50}).search(**choices)


@pytest.mark.parametrize("name", [name for name in KEYED_SEARCHES if "keep" in options_of(name)])
@in_turn("keep", [0, -1, 2.0, None])
def test_keeping_no_whole_positive_number_is_refused(name: str, keep: object) -> None:
    with pytest.raises(ParameterError, match="keep: expected"):
        search_for(name).accumulator().search(keep=keep)


@every_search
def test_a_sketch_may_be_combined_in_another_way(name: str) -> None:
    cells = plausibly.make("OUE", epsilon=4, domain_size=256)
    oracle = plausibly.make("CM", oracle=cells, rows=8, domain=plausibly.Keys())
    scheme = search_over(name, oracle, Strings("abc", 3))
    tally = scheme.simulate({"abc": 9_000, "b": 6_000}, SeededRandom(1))
    mean, median, least = (tally.search(k=2, oracle={"combine": way}) for way in ("mean", "median", "min"))
    assert mean.items.tolist() == median.items.tolist() == ["abc", "b"]
    assert not np.array_equal(mean.values, median.values)
    assert mean.history == (search_by(name),)
    assert least.variance is None
    with pytest.raises(StateError, match="no variance"):
        least.interval()


@pytest.mark.full
@every_search
def test_a_regression_below_a_search_says_so_and_has_no_variance(name: str) -> None:
    oracle = plausibly.make("BLOOM", epsilon=4, bits=16, hashes=1, cohorts=4, domain=plausibly.Keys())
    pytest.importorskip("sklearn")
    scheme = search_over(name, oracle, Strings("ab", 3))
    small = scheme.simulate({"ab": 3_000}, SeededRandom(1))
    found = small.search(k=1)
    assert found.variance is None
    assert found.history[-1] == search_by(name)
    assert found.history[:-1] == small.estimate(["ab"]).history != ()
