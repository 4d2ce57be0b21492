"""Synthetic crowds: their counts, strings and laws, and that a seed decides all of it."""

from __future__ import annotations

import re
from functools import cache
from math import sqrt

import numpy as np
import pytest

from plausibly import ParameterError
from plausibly.experiments.names import ENDINGS, PREFIXES, SITES, SUBDOMAINS, SYLLABLES, WORDS
from plausibly.experiments.string_crowds import (
    ALPHABET,
    DATASETS,
    MAX_LENGTH,
    SHAPES,
    URL_CLICKS_D,
    URL_CLICKS_N,
    Crowd,
    url_probabilities,
)

N = 20_000


@cache
def crowd_of(name: str) -> Crowd:
    return DATASETS[name](N, MAX_LENGTH, 1)


@cache
def url_law() -> np.ndarray:
    return url_probabilities()


def counted(crowd: Crowd) -> dict[str, int]:
    return dict(zip(crowd.strings.tolist(), crowd.counts.tolist(), strict=True))


def crowd(**counts: int) -> Crowd:
    return Crowd("by hand", np.array(list(counts)), np.array(list(counts.values())))


def check(crowd: Crowd, n: int, length: int) -> None:
    """What every crowd is: n users, distinct strings of the alphabet, the most frequent first."""
    assert crowd.n == crowd.counts.sum() == n
    assert crowd.counts.dtype == np.int64
    assert crowd.counts.min() >= 1
    assert (np.diff(crowd.counts) <= 0).all()
    strings = crowd.strings.tolist()
    assert len(strings) == len(set(strings)) == len(crowd.counts)
    assert set("".join(strings)) <= set(ALPHABET)
    lengths = np.char.str_len(crowd.strings)
    assert lengths.min() >= 1
    assert lengths.max() <= length


def test_the_alphabet_has_39_different_characters() -> None:
    assert len(set(ALPHABET)) == len(ALPHABET) == 39


def test_only_the_crowd_without_heavy_strings_is_no_shape() -> None:
    assert set(DATASETS) - set(SHAPES) == {"uniform"}


@pytest.mark.full
@pytest.mark.parametrize("name", DATASETS)
def test_a_set_is_a_crowd(name: str) -> None:
    crowd = crowd_of(name)
    assert crowd.name == name
    check(crowd, N, MAX_LENGTH)
    check(crowd.truncated(6), N, 6)


@pytest.mark.full
@pytest.mark.parametrize("name", DATASETS)
def test_a_seed_decides_the_crowd_and_another_seed_makes_another(name: str) -> None:
    first, again, other = crowd_of(name), DATASETS[name](N, MAX_LENGTH, 1), DATASETS[name](N, MAX_LENGTH, 2)
    assert np.array_equal(first.strings, again.strings)
    assert np.array_equal(first.counts, again.counts)
    assert counted(first) != counted(other)
    # Not only the draw: strings of the tail are others.
    assert len(set(first.strings.tolist()) & set(other.strings.tolist())) < 0.8 * len(first.strings)


@pytest.mark.full
@pytest.mark.parametrize("name", DATASETS)
def test_a_shorter_length_shows_the_same_users(name: str) -> None:
    for length in (6, 1):
        assert counted(crowd_of(name).truncated(length)) == counted(DATASETS[name](N, length, 1))


@pytest.mark.full
@pytest.mark.parametrize("name", SHAPES)
def test_the_strings_do_not_depend_on_the_number_of_users(name: str) -> None:
    # Probable strings are frequent in both.
    small, large = crowd_of(name), DATASETS[name](10 * N, MAX_LENGTH, 1)
    assert set(large.top(5)) <= set(small.top(40))


@pytest.mark.full
@pytest.mark.parametrize("name", DATASETS)
def test_a_set_of_full_size_is_a_crowd(name: str) -> None:
    check(DATASETS[name](URL_CLICKS_N, 6, 3), URL_CLICKS_N, 6)


@pytest.mark.parametrize(("n", "length", "seed"), [(0, 6, 0), (10, 0, 0), (10, 65, 0), (10, 6, -1), (2.5, 6, 0)])
def test_what_makes_no_crowd_is_refused(n: int, length: int, seed: int) -> None:
    with pytest.raises(ParameterError, match="expected"):
        DATASETS["short-strings"](n, length, seed)


def test_one_user_is_a_crowd() -> None:
    check(DATASETS["short-strings"](1, 6, 0), 1, 6)


def test_truncation_merges_and_sorts_again() -> None:
    cut = crowd(google=5, yahoo=4, yah=3, goo=1).truncated(3)
    assert counted(cut) == {"yah": 7, "goo": 6}
    assert cut.strings.tolist() == ["yah", "goo"]
    assert cut.n == 13


def test_the_top_of_a_crowd_may_be_all_of_it() -> None:
    small = crowd(a=3, b=2, c=1)
    assert small.top(2) == ["a", "b"]
    assert small.top(5) == ["a", "b", "c"]


def test_users_are_the_crowd_in_another_order_each_time() -> None:
    crowd = crowd_of("short-strings")
    rng = np.random.default_rng(0)
    users, others = crowd.users(rng), crowd.users(rng)
    assert len(users) == crowd.n
    strings, counts = np.unique(users, return_counts=True)
    assert dict(zip(strings.tolist(), counts.tolist(), strict=True)) == counted(crowd)
    assert not np.array_equal(users, others)
    assert not np.array_equal(users, np.repeat(crowd.strings, crowd.counts))


def test_holders_are_places_of_strings() -> None:
    crowd = crowd_of("short-strings")
    holders, users = crowd.holders(np.random.default_rng(5)), crowd.users(np.random.default_rng(5))
    assert np.array_equal(crowd.strings[holders], users)


def test_url_probabilities_are_a_measured_head_and_a_power_law() -> None:
    law = url_law()
    assert law.sum() == pytest.approx(1, abs=1e-12)
    assert (np.diff(law[:7609]) < 0).all()
    assert law[7609] / law[-1] == pytest.approx((len(law) / 7610) ** 1.3)
    assert law[[0, 9, 99, 7608]] == pytest.approx([0.0118, 0.00383, 4.76e-4, 1.23e-5])
    assert law[7609:].sum() == pytest.approx(0.496, abs=1e-3)


def test_as_many_addresses_are_expected_as_the_log_had() -> None:
    missed = np.exp(URL_CLICKS_N * np.log1p(-url_law()))
    assert (1 - missed).sum() == pytest.approx(URL_CLICKS_D, rel=0.01)


@pytest.mark.full
def test_url_clicks_of_full_size_have_the_frequencies_of_the_model() -> None:
    crowd = DATASETS["url-clicks"](URL_CLICKS_N, MAX_LENGTH, 4)
    check(crowd, URL_CLICKS_N, MAX_LENGTH)
    assert len(crowd.strings) == pytest.approx(URL_CLICKS_D, rel=0.01)
    counts = counted(crowd)
    # 4σ for each of 100 sites: one seed in 160 would fail.
    for site, share in zip(SITES[:100], url_law(), strict=False):
        assert abs(counts[site] - URL_CLICKS_N * share) < 4 * sqrt(URL_CLICKS_N * share * (1 - share))
    lengths = np.char.str_len(crowd.strings)
    assert np.mean((lengths >= 10) & (lengths <= 25)) > 0.8
    assert lengths.max() > 45


def test_no_well_known_site_could_have_been_made() -> None:
    # Those that are made have a syllable before their ending.
    made = re.compile(rf".*({'|'.join(SYLLABLES)})({'|'.join(map(re.escape, set(ENDINGS)))})(/.*)?")
    assert made.fullmatch("groups.gold-bakbak.co.uk/index.html")
    assert [site for site in SITES if made.fullmatch(site)] == []


def test_words_of_names_are_distinct_and_of_the_alphabet() -> None:
    for words in (SITES, SUBDOMAINS, WORDS, PREFIXES, SYLLABLES):
        assert len(set(words)) == len(words)
        assert set("".join(words)) <= set(ALPHABET)
    assert set("".join(ENDINGS)) <= set(ALPHABET)
    assert len(SITES) >= 100
    assert len(SYLLABLES) ** 2 >= len(url_law())


def test_some_well_known_sites_share_six_characters() -> None:
    assert 5 <= len(SITES) - len({site[:6] for site in SITES}) <= 20


@pytest.mark.full
@pytest.mark.parametrize("exponent", [1.0, 1.1, 1.3])
def test_zipf_counts_follow_the_power_law(exponent: float) -> None:
    crowd = crowd_of(f"zipf-{exponent}")
    law = np.arange(1, 100_001) ** -exponent
    law /= law.sum()
    # The two first are far apart, so that counts are in the order of ranks. 4σ: one seed in 8,000.
    for count, share in zip(crowd.counts[:2].tolist(), law, strict=False):
        assert abs(count - N * share) < 4 * sqrt(N * share * (1 - share))
    assert np.char.str_len(crowd.strings).min() == 3
    assert np.char.str_len(crowd.strings).max() == 20


@pytest.mark.full
def test_ten_strings_of_the_flat_head_stand_above_all_others() -> None:
    crowd = crowd_of("flat-head").truncated(6)
    # 80 users expected of each, fewer than 41 with probability 1e-6. Of the others some share six characters, and the
    # most frequent has 11 expected at most.
    assert crowd.counts[9] > 40
    assert crowd.counts[10] < 40


@pytest.mark.parametrize("length", [1, 6, 20, MAX_LENGTH])
@pytest.mark.parametrize("name", ["skewed-letters", "uniform-letters"])
def test_strings_of_letters_have_the_full_length(name: str, length: int) -> None:
    whole = crowd_of(name)
    assert set(np.char.str_len(whole.truncated(length).strings).tolist()) == {length}


def test_letters_are_uniform_or_as_in_english() -> None:
    def shares(name: str) -> np.ndarray:
        text = "".join(crowd_of(name).strings.tolist())
        return np.array([text.count(character) for character in ALPHABET]) / len(text)

    # More than 300,000 letters of probability 1/39: 5σ are 1.4e-3 for each, one seed in 40,000.
    assert abs(shares("uniform-letters") - 1 / 39).max() < 1.5e-3
    assert ALPHABET[int(shares("skewed-letters").argmax())] == "e"
    assert shares("skewed-letters").max() > 4 / 39


def test_most_short_strings_are_shorter_than_six() -> None:
    crowd = crowd_of("short-strings")
    lengths = np.char.str_len(crowd.strings)
    assert set(lengths.tolist()) == set(range(1, 9))
    assert np.mean(np.repeat(lengths, crowd.counts) < 6) > 0.5
    assert np.mean(lengths < 6) > 0.7


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.full)])
@pytest.mark.parametrize("length", [6, pytest.param(MAX_LENGTH, marks=pytest.mark.full)])
def test_several_of_the_most_frequent_share_their_first_characters(seed: int, length: int) -> None:
    crowd = DATASETS["shared-prefixes"](N, length, seed)
    starts = [string[:4] for string in crowd.top(10)]
    assert max(map(starts.count, starts)) >= 3
    assert all(string.startswith(tuple(prefix[:length] for prefix in PREFIXES)) for string in crowd.strings.tolist())


@pytest.mark.parametrize("length", [6, MAX_LENGTH])
def test_nothing_is_frequent_in_the_uniform_crowd(length: int) -> None:
    # 0.02 users expected at each of a million strings: four at one of them in one crowd of 150, five in one of 38,000.
    # Two strings share six characters with probability 3e-10, 20,000 in all about 0.06 pairs.
    assert crowd_of("uniform").truncated(length).counts[0] <= 4
