"""The weights of all strings sum to one at most, whatever is reported; chance is not taken for a heavy string."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import drawn
from plausibly.search.decoding import decode
from plausibly.search.evidence import digits
from plausibly.search.prior import character_model
from plausibly.search.significance import log_weights, significant
from search.simulation import evidence_of, random_strings

quickly = drawn(30)


def every_string(symbols: int, length: int) -> np.ndarray:
    strings = digits(np.arange(symbols**length), length, symbols)
    followed = (strings[:, :-1] == 0) & (strings[:, 1:] != 0)
    return strings[~followed.any(axis=1)]


@quickly
@given(
    st.integers(0, 2**16),
    st.sampled_from(
        [(3, 6, (2, (4, 6))), (4, 4, (2, (3, 4))), (3, 5, (2, (4, 5))), (5, 3, (1, (2, 3))), (4, 3, (3, ()))]
    ),
    st.sampled_from([1e-3, 0.2, 30.0]),
    st.sampled_from([0.0, 1.0, 3.0]),
)
def test_weights_of_all_strings_sum_to_one_at_most(
    seed: int, shape: tuple[int, int, tuple[int, tuple[int, ...]]], noise: float, skew: float
) -> None:
    symbols, length, layout = shape
    rng = np.random.default_rng(seed)
    strings = random_strings(rng, 12, length, symbols)
    counts = np.maximum(1, (3_000 / np.arange(1, len(strings) + 1) ** skew).astype(np.int64))
    evidence = evidence_of(strings, counts, symbols, noise=noise, seed=seed, layout=layout)
    weights = np.exp(log_weights(evidence, character_model(evidence), every_string(symbols, length), 2))
    assert (weights >= 0).all()
    assert weights.sum() <= 1 + 1e-5


def test_the_weight_of_a_string_does_not_depend_on_the_groups_that_testify() -> None:
    strings = random_strings(np.random.default_rng(4), 40, 6, 4)
    evidence = evidence_of(strings, np.full(40, 500), 4, noise=0.2, seed=4, layout=(2, (4, 6)))
    model = character_model(evidence)
    all_strings = every_string(4, 6)
    whole = evidence.first_whole(all_strings)
    for level in (1, 2):
        before = log_weights(evidence, model, all_strings, 3)
        # Other reports at this level: every string that it shows whole must keep its weight.
        rng = np.random.default_rng(level)
        evidence.levels[level - 1].tables[:] = rng.normal(0, 1e4, evidence.levels[level - 1].tables.shape)
        after = log_weights(evidence, model, all_strings, 3)
        np.testing.assert_array_equal(after[whole <= level], before[whole <= level])
        assert level == 2 or (after[whole > level] != before[whole > level]).any()


@pytest.mark.full
def test_planted_strings_are_significant_and_their_neighbours_are_not() -> None:
    rng = np.random.default_rng(3)
    strings = random_strings(rng, 1_000, 8, 40)
    counts = np.full(len(strings), 100)
    counts[:4] = 25_000
    evidence = evidence_of(strings, counts, 40, noise=0.2, seed=9)
    answer = decode(evidence, 4)
    p, threshold = significant(evidence, answer.model, answer.strings, answer.own, answer.noise, k=4, alpha=0.05)
    accepted = {tuple(string) for string in answer.strings[p <= threshold].tolist()}
    assert {tuple(string) for string in strings[:4].tolist()} == accepted


@pytest.mark.parametrize(
    ("searches", "most"), [pytest.param(20, 6, marks=pytest.mark.full), pytest.param(60, 10, marks=pytest.mark.slow)]
)
def test_noise_alone_is_seldom_significant(searches: int, most: int) -> None:
    """Searches among users who all hold different strings: with a family-wise error of 5 % each, more than 6 of 20, or
    10 of 60, report something with probability below 1e-4 and 2e-4."""
    alarms = 0
    for seed in range(searches):
        strings = random_strings(np.random.default_rng(seed), 3_000, 6, 12, shortest=4)
        evidence = evidence_of(strings, np.full(len(strings), 10), 12, noise=1.0, seed=seed, layout=(3, (5, 6)))
        answer = decode(evidence, 10)
        p, threshold = significant(evidence, answer.model, answer.strings, answer.own, answer.noise, k=10, alpha=0.05)
        alarms += bool((p <= threshold).any())
    assert alarms <= most
