"""Crowds of integers: their size, their law, and that they stay what they are."""

from __future__ import annotations

import numpy as np
import pytest

from plausibly.experiments.item_crowds import CROWDS, LETTERS, crowd, domain_of, strings
from plausibly.experiments.string_crowds import url_clicks


@pytest.mark.full
@pytest.mark.parametrize("data", [name for name in CROWDS if name != "aol"])  # needs a log
def test_crowds_have_n_users_and_d_items_and_repeat_themselves(data: str) -> None:
    counts = crowd(data, 5000, 300, 0)
    assert counts.dtype == np.int64
    assert (counts == crowd(data, 5000, 300, 0)).all()


# Another crowd of Zipf is another five million draws.
@pytest.mark.parametrize("data", [pytest.param("zipf-1.1", marks=pytest.mark.full), "uniform"])
def test_other_seeds_give_other_crowds(data: str) -> None:
    assert (crowd(data, 5000, 300, 0) != crowd(data, 5000, 300, 1)).any()


@pytest.mark.full
def test_the_papers_zipf_has_the_law_at_its_head() -> None:
    # Of five million draws, 44 % fall on the first 16 values, and n of those are drawn again: the spread of both adds.
    # No two of these values change places but once in 10^20 crowds.
    n, weights = 1_000_000, np.arange(1, 17) ** -1.1
    drawn = 5_000_000 * weights.sum() / 10.5844484649508  # zeta(1.1)
    expected = n * weights / weights.sum()
    counts = crowd("zipf-1.1", n, 16, 0)
    chi_square = ((counts - expected) ** 2 / expected).sum() / (1 + n / drawn)
    assert chi_square < 44.263  # the quantile of 15 degrees of freedom that is exceeded once in 10,000


@pytest.mark.full
def test_the_papers_zipf_is_relabelled_by_rank() -> None:
    # The tenth and the ninth of these counts are eight standard errors apart, the others more.
    assert (np.diff(crowd("zipf-1.1", 1_000_000, 100_000, 0)[:10]) < 0).all()


def test_uniform_crowds_are_uniform() -> None:
    counts = crowd("uniform", 160_000, 16, 0)
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 44.263  # once in 10,000


@pytest.mark.full
def test_clicks_are_those_of_the_strings() -> None:
    strings = url_clicks(5000, 64, 3).counts
    padded = crowd("url-clicks", 5000, len(strings) + 10, 3)
    assert (padded[: len(strings)] == strings).all()
    assert padded[len(strings) :].sum() == 0


@pytest.mark.full
def test_strings_are_cut_and_seen_as_the_domain_sees_them() -> None:
    seen, whole = strings("url-clicks/6", 20_000, 3), url_clicks(20_000, 6, 3)
    assert seen.n == whole.n == 20_000
    assert seen.top(4) == whole.top(4) == ["google", "yahoo.", "myspac", "ebay.c"]
    # Digits, strokes and hyphens are one symbol: strings that differ by them alone are one.
    assert set("".join(seen.strings.tolist())) == {*LETTERS, "\ufffd"}
    assert len(seen.strings) < len(whole.strings)
    domain = domain_of("url-clicks/6")
    assert (domain.length, domain.symbols) == (6, 29)


@pytest.mark.parametrize("data", ["url-clicks", "url-clicks/", "url-click/6", "url-clicks/0", "url-clicks/six", "/6"])
def test_strings_without_a_known_name_and_a_length_are_refused(data: str) -> None:
    with pytest.raises(ValueError, match=r"url-clicks|length"):
        strings(data, 10, 0)


@pytest.mark.full
def test_crowds_stay_the_same_in_every_version_of_numpy() -> None:
    assert crowd("zipf-1.1", 1000, 4, 0).tolist() == [495, 250, 148, 107]
    assert crowd("uniform", 1000, 4, 0).tolist() == [245, 255, 264, 236]


def test_unknown_data_are_refused_with_the_nearest_name() -> None:
    with pytest.raises(ValueError, match=r"zipf-1\.1"):
        crowd("zipf-1.2", 10, 4, 0)
