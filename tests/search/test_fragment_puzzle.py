"""SFP: fragments with a tag of their string, put together again, and the same results as the slow search."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import plausibly
from cases import in_turn
from plausibly import Keys, ParameterError, Strings
from plausibly.search import fragments
from plausibly.search.fragments import joined_fragments
from search.planted import assert_equals_the_naive_search, search_for, search_over, tally_for

CROWD = ["ab", "abc", "", "c", "ba", "bac", "aaa", "ab", "abc", "ab"] * 40


@pytest.mark.parametrize("choices", [{}, {"k": 5, "keep": 8}, {"k": None, "threshold": 10, "keep": 30}], ids=str)
@pytest.mark.parametrize("shape", [{"fragment": 1, "hash_bits": 2}, {"fragment": 2, "hash_bits": 1}], ids=str)
def test_it_finds_what_the_slow_search_finds(shape: dict[str, int], choices: dict[str, Any]) -> None:
    oracle = plausibly.make("DE", epsilon=4, domain_size=64)
    scheme = search_over("SFP", oracle, Strings("abc", 3), hash_seed=2**63 + 1, **shape)
    assert_equals_the_naive_search(scheme, CROWD, **choices)


@pytest.mark.parametrize("choices", [{"k": 5, "keep": 8}, {"k": None, "threshold": 10, "keep": 30}], ids=str)
@pytest.mark.parametrize("own", [{"split": "users"}, {"split": "none", "word_oracle": None}], ids=str)
def test_split_otherwise_it_finds_what_the_slow_search_finds(own: dict[str, Any], choices: dict[str, Any]) -> None:
    oracle = plausibly.make("DE", epsilon=4, domain_size=64)
    given: dict[str, Any] = {"oracle": oracle, "word_oracle": oracle, "fragment": 2, "hash_bits": 1, **own}
    scheme = plausibly.make("SFP", domain=Strings("abc", 3), hash_seed=7, **given)
    assert scheme.epsilon == 4
    assert_equals_the_naive_search(scheme, CROWD, **choices)


def test_fragments_alone_are_estimated_as_the_search_counts_them() -> None:
    oracle = plausibly.make("FLH", epsilon=4, domain=Keys(), hashes=500)
    scheme = plausibly.make("SFP", domain=Strings("abcd", 4), oracle=oracle, word_oracle=None, split="none")
    tally: Any = scheme.simulate({"abcd": 9_000, "dcba": 6_000}, plausibly.SeededRandom(2))
    found = tally.search(k=2)
    assert found.items.tolist() == ["abcd", "dcba"]
    assert tally.estimate(found.items.tolist()).values.tolist() == found.values.tolist()
    assert found.variance is None
    assert "mean of tagged fragments" in str(found.history)
    # All users count, those of a position for its fragment: the noise of 15,000 reports at epsilon 4 is below 50.
    np.testing.assert_allclose(found.values, [9_000, 6_000], atol=500)
    with pytest.raises(plausibly.StateError, match="no variance in closed form"):
        scheme.variance(100)


def test_fragments_that_strings_share_are_counted_for_each_of_them() -> None:
    oracle = plausibly.make("FLH", epsilon=4, domain=Keys(), hashes=500)
    own: dict[str, Any] = {"oracle": oracle, "word_oracle": None, "split": "none", "hash_bits": 0}
    tally = plausibly.make("SFP", domain=Strings("abcd", 4), **own).simulate(
        {"abcd": 9_000, "abba": 6_000}, plausibly.SeededRandom(2)
    )
    # Without a tag, both have the first fragment of all 15,000 users, and the second of their own.
    np.testing.assert_allclose(tally.estimate(["abcd", "abba"]).values, [12_000, 10_500], atol=500)


@pytest.mark.parametrize("name", ["SFP", "TH"])
def test_split_users_send_one_report_each_with_all_of_the_budget(name: str) -> None:
    both, split = (search_for(name, **own) for own in ({}, {"split": "users"}))
    assert (both.epsilon, split.epsilon) == (8, 4)
    assert both.share(both.whole) == 1
    assert split.share(split.whole) == Fraction(1, 2)
    assert {split.share(part) for part in range(split.whole)} == {Fraction(1, 2 * split.whole)}
    assert "split" not in both.to_dict()
    assert search_for(name, split="budget").fingerprint() == both.fingerprint()
    assert split.to_dict()["split"] == "users"
    assert plausibly.from_json(split.to_json()) == split
    assert both.report_dtype.itemsize - 1 == 2 * (split.report_dtype.itemsize - 1)


@in_turn(
    ("wrong", "message"),
    [
        ({"split": "none"}, "word_oracle: expected nothing if split is none"),
        ({"word_oracle": None}, "word_oracle: expected a scheme"),
        ({"word_oracle": None, "split": "users"}, "word_oracle: expected a scheme"),
        ({"split": "both"}, "split: expected 'budget' or 'users' or 'none', got 'both'"),
        ({"split": None}, "split: expected"),
    ],
)
def test_a_split_that_is_none_is_refused(wrong: dict[str, Any], message: str) -> None:
    oracle = plausibly.make("FLH", epsilon=4, domain=Keys())
    with pytest.raises(ParameterError, match=message):
        plausibly.make("SFP", domain=Strings("ab", 2), **{"oracle": oracle, "word_oracle": oracle, **wrong})


@pytest.mark.full
def test_over_keys_it_finds_what_the_slow_search_finds() -> None:
    scheme = search_over("SFP", plausibly.make("FLH", epsilon=4, domain=Keys(3)), Strings("ab", 3), hash_bits=3)
    assert_equals_the_naive_search(scheme, ["ab", "b", "aab"] * 100, k=3)


def test_fragments_of_different_strings_are_not_put_together() -> None:
    # The paper's example: "orales" must not come out of "apples" and "orange".
    domain = Strings("aeglnoprs", 6)
    found = tally_for("SFP", {"apples": 9_000, "orange": 8_000}, domain, fragment=3, hash_bits=4).search(k=10)
    assert found.items[:2].tolist() == ["apples", "orange"]
    assert not {"orales", "appnge"} & set(found.items)


def test_without_a_tag_they_would_be() -> None:
    domain = Strings("aeglnoprs", 6)
    found = tally_for("SFP", {"apples": 9_000, "orange": 8_000}, domain, fragment=3, hash_bits=0)
    steps = found.search(k=None, threshold=-1e9, keep=2).trace
    assert steps[-1].candidates == 4


def test_a_fragment_that_is_shorter_than_the_others_comes_last() -> None:
    scheme = search_for("SFP", Strings("ab", 5), fragment=2)
    assert [(part.first, part.last) for part in scheme.parts] == [(0, 2), (2, 4), (4, 5), (0, 5)]
    assert scheme.epsilon == 8


def test_the_puzzle_keeps_only_strings_that_have_their_own_tag_and_no_pad_inside() -> None:
    scheme = search_for("SFP", Strings("ab", 2), fragment=1, hash_bits=1)
    rows = scheme.strings.encode(["", "a", "b", "aa", "ab", "ba", "bb"])
    tags = scheme.string_tag.of(rows)
    letters = np.array([[0], [1], [2]], dtype=np.uint8)
    both = np.repeat(letters, 2, axis=0), np.tile(np.arange(2, dtype=np.uint64), 3)
    found = joined_fragments(scheme.strings, [both, both], scheme.string_tag)
    assert sorted(scheme.strings.decode(found)) == sorted(scheme.strings.decode(rows))
    only = both[0][both[1] == 0], both[1][both[1] == 0]
    zero = joined_fragments(scheme.strings, [only, only], scheme.string_tag)
    assert sorted(scheme.strings.decode(zero)) == sorted(scheme.strings.decode(rows[tags == 0]))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"fragment": 0}, "fragment: "), ({"fragment": 5}, "fragment: "), ({"hash_bits": 17}, "hash_bits: "),
     ({"hash_bits": -1}, "hash_bits: "), ({"hash_seed": 2**64}, "hash_seed: ")],
    ids=str,
)  # fmt: skip
def test_parameters_out_of_range_are_refused(wrong: dict[str, int], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        search_for("SFP", **wrong)


def test_too_many_fragments_are_refused_before_they_are_made() -> None:
    scheme = search_for("SFP", Strings("abcdefghijklmnopqrstuvwxyz", 8), fragment=4, hash_bits=16)
    with pytest.raises(ParameterError, match="fragments with 65,536 tags, too many to estimate"):
        scheme.accumulator().search()


def test_too_many_combinations_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = search_for("SFP", Strings("abcdefghij", 4), fragment=1, hash_bits=0)
    tally = scheme.simulate({"aaaa": 10}, plausibly.SeededRandom(1))
    assert len(tally.search(keep=11, threshold=-1e9, k=2)) == 2
    monkeypatch.setattr(fragments, "MOST_CANDIDATES", 1_000)
    with pytest.raises(ParameterError, match="to try; take a smaller keep, or a scheme with more hash_bits"):
        tally.search(keep=11)
