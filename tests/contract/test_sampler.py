"""What is sampled is what is stated: outcomes follow the likelihood, public coins are uniform, and no draw tells."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from contract.entries import build, every_pair
from plausibly import Integers, Scheme, SeededRandom

SIZE = 4
SAMPLES = 1_000
ALARM = 1e-6
"""The approximate false-alarm rate of each chi-square test over fresh seeds; here the seeds are fixed."""


class Enumerating:
    """A source that takes a prescribed choice at each draw, and notes how many choices there were."""

    def __init__(self, path: tuple[int, ...]) -> None:
        self.path, self.choices = path, []  # type: tuple[int, ...], list[int]

    def bernoulli(self, threshold: int) -> bool:
        assert 0 < threshold < 2**64
        return self._choose(2) == 1

    def below(self, size: int) -> int:
        return self._choose(size)

    def _choose(self, size: int) -> int:
        self.choices.append(size)
        return self.path[len(self.choices) - 1] if len(self.choices) <= len(self.path) else 0


def outcomes(scheme: Scheme, item: int, public: Any) -> list[bytes]:
    """Every record that an item can lead to, given the public coins."""
    found, paths = set(), [()]  # type: set[bytes], list[tuple[int, ...]]
    while paths:
        path = paths.pop()
        source = Enumerating(path)
        found.add(scheme.randomizer.perturb(item, public, source))
        for place in range(len(path), len(source.choices)):
            taken = path + (0,) * (place - len(path))
            paths += [(*taken, choice) for choice in range(1, source.choices[place])]
    return sorted(found)


def chi_square_limit(freedom: int) -> float:
    """The value exceeded with probability ALARM (Wilson and Hilferty 1931)."""
    z = NormalDist().inv_cdf(1 - ALARM)
    return freedom * (1 - 2 / (9 * freedom) + z * math.sqrt(2 / (9 * freedom))) ** 3


def assert_follows(seen: Counter[Any], expected: dict[Any, float]) -> None:
    """The counts are a sample of the expected ones; rare outcomes are pooled until they expect five."""
    assert set(seen) <= set(expected)
    statistic, cells, pooled_seen, pooled_expected = 0.0, 0, 0, 0.0
    for outcome in sorted(expected, key=lambda o: expected[o], reverse=True):
        pooled_seen, pooled_expected = pooled_seen + seen[outcome], pooled_expected + expected[outcome]
        if pooled_expected >= 5:
            statistic += (pooled_seen - pooled_expected) ** 2 / pooled_expected
            cells, pooled_seen, pooled_expected = cells + 1, 0, 0.0
    if pooled_expected > 0:
        statistic += (pooled_seen - pooled_expected) ** 2 / max(pooled_expected, 1.0)
        cells += 1
    assert cells > 1
    assert statistic < chi_square_limit(cells - 1)


def stated(scheme: Scheme, record: bytes, item: int) -> Fraction:
    """The likelihood that the scheme states for a record."""
    return scheme.likelihood(np.frombuffer(record, dtype=scheme.report_dtype)[0], item)


def sample_publics(scheme: Scheme, count: int, call: int = 0) -> list[tuple[int, ...]]:
    stream = SeededRandom(77).replay(call)
    return [scheme.randomizer.public(stream.source(scheme.layout, i)) for i in range(count)]


@every_pair
@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_likelihoods_of_all_outcomes_sum_to_one(name: str, epsilon: str) -> None:
    scheme = build(name, Integers(SIZE), epsilon)
    for public in sample_publics(scheme, 5):
        for item in range(SIZE):
            records = outcomes(scheme, item, public)
            assert sum(stated(scheme, record, item) for record in records) == 1


@every_pair
def test_every_item_can_lead_to_every_record(name: str) -> None:
    scheme = build(name, Integers(SIZE))
    for public in sample_publics(scheme, 5):
        assert len({tuple(outcomes(scheme, item, public)) for item in range(SIZE)}) == 1


@every_pair
@pytest.mark.parametrize("epsilon", ["0.5", pytest.param("2", marks=pytest.mark.full)])
def test_outcomes_follow_the_stated_likelihood(name: str, epsilon: str) -> None:
    # With the public coins fixed, the private ones are drawn from the addressed stream of bulk reports.
    scheme = build(name, Integers(SIZE), epsilon)
    for call, public in enumerate(dict.fromkeys(sample_publics(scheme, 2))):
        for item in (0, SIZE - 1):
            stream = SeededRandom(item).replay(call)
            seen: Counter[bytes] = Counter()
            for i in range(SAMPLES):
                source = stream.source(scheme.layout, i)
                scheme.randomizer.public(source)
                seen[scheme.randomizer.perturb(item, public, source)] += 1
            expected = {
                record: SAMPLES * float(stated(scheme, record, item)) for record in outcomes(scheme, item, public)
            }
            assert_follows(seen, expected)


@pytest.mark.full
@every_pair
@pytest.mark.parametrize("epsilon", ["0.5", pytest.param("2", marks=pytest.mark.full)])
def test_bulk_reports_follow_the_stated_likelihood(name: str, epsilon: str) -> None:
    # A report's likelihoods under all items are what an observer learns from it. How often each such pattern should
    # occur is known from all outcomes that the report's public coins allow, be they ever so rare themselves.
    scheme = build(name, Integers(SIZE), epsilon)
    patterns: dict[bytes, Any] = {}
    laws: dict[Any, dict[Any, float]] = {}

    def pattern(record: bytes) -> Any:
        if record not in patterns:
            patterns[record] = tuple(stated(scheme, record, item) for item in range(SIZE))
        return patterns[record]

    def law(item: int, public: Any) -> dict[Any, float]:
        if (item, public) not in laws:
            shares: dict[Any, float] = {}
            for record in outcomes(scheme, item, public):
                seen = pattern(record)
                shares[seen] = shares.get(seen, 0.0) + float(seen[item])
            laws[item, public] = shares
        return laws[item, public]

    rng, count = SeededRandom(5), SAMPLES // 4
    for call, item in enumerate((1, SIZE - 1)):
        seen = Counter(pattern(report.tobytes()) for report in scheme.privatize([item] * count, rng=rng))
        expected: dict[Any, float] = {}
        for i in range(count):
            public = scheme.randomizer.public(rng.replay(call).source(scheme.layout, i))
            for outcome, share in law(item, public).items():
                expected[outcome] = expected.get(outcome, 0.0) + share
        assert_follows(seen, expected)


@every_pair
def test_public_coins_are_uniform(name: str) -> None:
    scheme = build(name, Integers(SIZE))
    probe = Enumerating(())
    scheme.randomizer.public(probe)
    publics = sample_publics(scheme, SAMPLES)
    assert {len(public) for public in publics} == {len(probe.choices)}
    for place, size in enumerate(probe.choices):
        buckets = min(size, 16)
        seen = Counter(public[place] * buckets // size for public in publics)
        assert_follows(seen, dict.fromkeys(range(buckets), SAMPLES / buckets))


@every_pair
@pytest.mark.parametrize("size", [2, 3, 9])
def test_the_draws_depend_on_neither_the_item_nor_an_earlier_coin(name: str, size: int) -> None:
    scheme = build(name, Integers(size))
    shapes = set()
    for last in (0, 1):
        for item in range(size):
            probe = Enumerating(())
            public = scheme.randomizer.public(probe)
            private = Enumerating((last,) * 3)
            scheme.randomizer.perturb(item, public, private)
            shapes.add((*probe.choices, *private.choices))
    assert len(shapes) == 1
    assert len(shapes.pop()) == scheme.randomizer.words == scheme.layout.words
