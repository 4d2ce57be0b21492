"""What is sampled is what is stated: outcomes follow the likelihood, public coins are uniform, and no draw tells."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from cases import in_turn
from contract.entries import build, every_pair, numbers_of, sized, tickets
from plausibly import Scheme, SeededRandom
from plausibly.search.base import Search

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


def some_publics(scheme: Scheme) -> list[tuple[int, ...]]:
    """Five of them, or one where that allows many outcomes."""
    return sample_publics(scheme, 1 if has_many_outcomes(scheme) else 5)


def has_many_outcomes(scheme: Scheme) -> bool:
    """Whether one report has more outcomes than can be looked at again and again."""
    return len(outcomes(scheme, 0, sample_publics(scheme, 1)[0])) > 500


@every_pair
@in_turn("epsilon", ["0.5", "2"])
def test_likelihoods_of_all_outcomes_sum_to_one(name: str, epsilon: str) -> None:
    scheme = build(name, sized(name, SIZE), epsilon)
    for public in some_publics(scheme):
        for item in numbers_of(scheme, SIZE):
            records = outcomes(scheme, item, public)
            assert sum(stated(scheme, record, item) for record in records) == 1


@every_pair
def test_every_item_can_lead_to_every_record(name: str) -> None:
    scheme = build(name, sized(name, SIZE))
    for public in some_publics(scheme):
        assert len({tuple(outcomes(scheme, item, public)) for item in numbers_of(scheme, SIZE)}) == 1


@pytest.mark.full
@every_pair
@pytest.mark.parametrize("epsilon", ["0.5", pytest.param("2", marks=pytest.mark.full)])
def test_outcomes_follow_the_stated_likelihood(name: str, epsilon: str) -> None:
    # With the public coins fixed, the private ones are drawn from the addressed stream of bulk reports.
    scheme = build(name, sized(name, SIZE), epsilon)
    items = numbers_of(scheme, SIZE)
    for call, public in enumerate(dict.fromkeys(sample_publics(scheme, 2))):
        for place in (0, SIZE - 1):
            item, stream = items[place], SeededRandom(place).replay(call)
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
    scheme = build(name, sized(name, SIZE), epsilon)
    if has_many_outcomes(scheme):
        return  # two bitmaps at once, each of which is tested alone
    items, codes = numbers_of(scheme, SIZE), scheme.domain.spread(SIZE)
    patterns: dict[bytes, Any] = {}
    laws: dict[Any, dict[Any, float]] = {}

    def pattern(record: bytes) -> Any:
        if record not in patterns:
            patterns[record] = tuple(stated(scheme, record, item) for item in items)
        return patterns[record]

    def law(place: int, public: Any) -> dict[Any, float]:
        if (place, public) not in laws:
            shares: dict[Any, float] = {}
            for record in outcomes(scheme, items[place], public):
                seen = pattern(record)
                shares[seen] = shares.get(seen, 0.0) + float(seen[place])
            laws[place, public] = shares
        return laws[place, public]

    # The likelihoods of a search are slow to compute, and public coins seldom come twice.
    rng, count = SeededRandom(5), SAMPLES // (16 if isinstance(scheme, Search) else 4)
    for call, place in enumerate((1, SIZE - 1)):
        reports = scheme.privatize_encoded(codes[[place] * count], rng)
        seen = Counter(pattern(report.tobytes()) for report in reports)
        expected: dict[Any, float] = {}
        for i in range(count):
            public = scheme.randomizer.public(rng.replay(call).source(scheme.layout, i))
            for outcome, share in law(place, public).items():
                expected[outcome] = expected.get(outcome, 0.0) + share
        assert_follows(seen, expected)


@every_pair
def test_public_coins_are_uniform(name: str) -> None:
    # Those of a search given its group; the groups have weights, and tests of their own.
    scheme = build(name, sized(name, SIZE))
    publics = sample_publics(scheme, SAMPLES)
    for ticket in tickets(scheme):
        probe = Enumerating(ticket)
        group = scheme.randomizer.public(probe)[: len(ticket)]
        own = [public for public in publics if public[: len(ticket)] == group]
        assert {len(public) for public in own} == {len(probe.choices)}
        for place, size in list(enumerate(probe.choices))[len(ticket) :]:
            if size == 1:
                continue  # a draw that only keeps the number of words the same
            buckets = min(size, 16)
            seen = Counter(public[place] * buckets // size for public in own)
            assert_follows(seen, dict.fromkeys(range(buckets), len(own) / buckets))


@every_pair
@in_turn("size", [2, 3, 9])
def test_the_draws_depend_on_neither_the_item_nor_an_earlier_coin(name: str, size: int) -> None:
    scheme = build(name, sized(name, size))
    for ticket in tickets(scheme):
        shapes = set()
        for last in (0, 1):
            for item in numbers_of(scheme, size):
                probe = Enumerating(ticket)
                public = scheme.randomizer.public(probe)
                private = Enumerating((last,) * 3)
                scheme.randomizer.perturb(item, public, private)
                shapes.add((*probe.choices, *private.choices))
        assert len(shapes) == 1
        assert len(shapes.pop()) == scheme.randomizer.words == scheme.layout.words
