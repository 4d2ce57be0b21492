"""BITSTOGRAM: each bucket names one string, and the same results as the slow search."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import naive
import plausibly
from plausibly import Keys, ParameterError, Strings
from search.planted import COMMON, assert_equals_the_naive_search, search_for, search_over, tally_for

CROWD = ["ab", "abc", "", "c", "ba", "bac", "aaa", "ab", "abc", "ab"] * 40


@pytest.mark.parametrize("choices", [{}, {"k": 2}, {"k": None, "threshold": 10}], ids=str)
@pytest.mark.parametrize("bits", [0, 1, 3])
def test_it_finds_what_the_slow_search_finds(bits: int, choices: dict[str, Any]) -> None:
    oracle = plausibly.make("DE", epsilon=4, domain_size=64)
    scheme = search_over("BITSTOGRAM", oracle, Strings("abc", 3), hash_bits=bits)
    assert_equals_the_naive_search(scheme, CROWD, **choices)


def test_over_keys_it_finds_what_the_slow_search_finds() -> None:
    oracle = plausibly.make("OLH", epsilon=4, domain=Keys(3))
    scheme = search_over("BITSTOGRAM", oracle, Strings("ab", 3), weights=(3, 2, 1, 9), hash_bits=4)
    assert_equals_the_naive_search(scheme, ["ab", "b", "aab", "", "ab"] * 60)


def test_a_bucket_names_one_string_and_the_lighter_one_is_lost() -> None:
    tally = tally_for("BITSTOGRAM", COMMON, hash_bits=0)
    assert tally.search(k=9).trace[-1].candidates == 1


def test_the_bucket_is_a_hash_of_the_whole_string() -> None:
    scheme = search_for("BITSTOGRAM", hash_seed=2**64 - 1)
    rows = scheme.strings.encode(list(COMMON))
    wanted = [naive.tag_of(json.loads(scheme.to_json()), text) for text in COMMON]
    assert scheme.bucket.of(rows).tolist() == wanted


def test_half_of_the_users_report_whole_strings_unless_weights_say_otherwise() -> None:
    assert search_for("BITSTOGRAM").weights == (1, 1, 1, 1, 4)
    users = np.array([len(part) for part in tally_for("BITSTOGRAM", COMMON, weights=(1, 1, 1, 1, 16)).parts])
    # Expected 16,400 of 20,500 with a standard deviation of 57. False alarm: below 1e-6.
    assert abs(int(users[-1]) - 16_400) < 5 * 57


def test_one_thing_is_sent_and_paid_for() -> None:
    scheme = plausibly.make(
        "BITSTOGRAM",
        oracle=plausibly.make("DE", epsilon=2, domain_size=4096),
        word_oracle=plausibly.make("OLH", epsilon=3, domain=Keys()),
        domain=Strings("abc", 3),
    )
    assert scheme.epsilon == 3


@pytest.mark.parametrize(
    "wrong", [{"weights": (1, 1, 1, 1)}, {"weights": (1, 1, 1, 1, 0)}, {"hash_bits": 17}, {"hash_bits": "3"}], ids=str
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        search_for("BITSTOGRAM", **wrong)
