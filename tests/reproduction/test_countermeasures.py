"""Published countermeasures: the threshold of a set of items, mining by brute force, and Bayes's rule."""

from __future__ import annotations

from itertools import combinations, product
from math import ceil, comb

import numpy as np
import pytest

from reproduction.countermeasures import Honest, abnormal_sets, normalized, probably_fake, supporting

P, Q = 0.5, 0.27
ONE_HOLDER = Honest(P, Q, np.array([0.6, 0.1, 0.1, 0.1, 0.05, 0.05]))


def test_normalization_starts_at_zero_and_adds_up_to_one() -> None:
    found = normalized(np.array([0.5, -0.1, 0.3]))
    assert found == pytest.approx([0.6, 0.0, 0.4])
    assert normalized(np.array([0.5, -0.1, 0.3]) * 7 + 2) == pytest.approx(found)


def test_honest_reports_rarely_reach_the_threshold() -> None:
    # The exact tail of two binomial numbers of supporting reports.
    users, share, rate = 200, 0.3, 0.01
    for size in (2, 3, 5):
        threshold = ONE_HOLDER.threshold(size, share, users, rate)
        law = np.ones(1)
        for count, chance in ((60, P * Q ** (size - 1)), (140, Q**size)):
            own = [comb(count, k) * chance**k * (1 - chance) ** (count - k) for k in range(count + 1)]
            law = np.convolve(law, own)
        assert law[ceil(threshold) :].sum() <= rate
        assert (law @ np.arange(len(law))) < threshold < users


def test_mining_finds_the_largest_abnormal_sets_as_brute_force_does() -> None:
    rng, found = np.random.default_rng(7), set()
    for fakes, targets in ((0, ()), (60, (0, 2, 4)), (200, (1, 3)), (60, (0, 1, 2, 5)), (900, (2, 5))):
        supported = rng.random((900 + fakes, 6)) < Q
        supported[900:, list(targets)] = True
        honest = Honest(P, Q, np.full(6, 1 / 6))
        abnormal = {
            one
            for size in range(2, 7)
            for one in combinations(range(6), size)
            if (count := supported[:, one].all(axis=1).sum()) >= 0.01 * len(supported)
            and count >= honest.threshold(size, size / 6, len(supported))
        }
        largest = max((len(one) for one in abnormal), default=0)
        expected = sorted(one for one in abnormal if len(one) == largest)
        assert sorted(abnormal_sets(supported, honest)) == expected
        found.add(largest)
    assert found >= {0, 2, 3, 4}


def test_reports_that_support_a_whole_set_are_found() -> None:
    supported = np.array([[1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]], dtype=bool)
    assert supporting(supported, [(0, 1), (1, 2)]).tolist() == [True, False, True]
    assert supporting(supported, []).tolist() == [False, False, False]


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_law_of_supported_targets_is_that_of_all_reports(share: float) -> None:
    law = np.zeros(4)
    for holds, bits in product((0, 1), product((0, 1), repeat=3)):
        chances = [P if holds and place == 0 else Q for place in range(3)]
        weight = share if holds else 1 - share
        law[sum(bits)] += weight * np.prod([c if bit else 1 - c for c, bit in zip(chances, bits, strict=True)])
    assert ONE_HOLDER.of_targets(3, share) == pytest.approx(law)


def test_a_report_is_probably_fake_by_the_rule_of_bayes() -> None:
    honest, fake = np.array([0.7, 0.2, 0.1]), np.array([0.0, 0.1, 0.9])
    posterior = 0.1 * fake / (0.1 * fake + 0.9 * honest)
    assert probably_fake(honest, fake, 0.1).tolist() == (posterior > 0.5).tolist() == [False, False, False]
    assert probably_fake(honest, fake, 0.2).tolist() == [False, False, True]
