"""SLIDE, HH and HAAR against their slow twins: counts, sums of counts and their variances, from the same reports."""

from __future__ import annotations

import json
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import naive
from cases import in_turn
from oracles.comparing import assert_close
from plausibly import Integers, Ordered, SeededRandom, make
from plausibly.core.grouped import Grouped

SMALL = {
    "two widths": lambda: make("SLIDE", epsilon=1, domain_size=9),
    "an item outside the order": lambda: make("SLIDE", epsilon=2, domain=Ordered(-2, 9, other=True)),
    "own widths": lambda: make("SLIDE", epsilon=3, domain=Integers(12), widths=(1, 5, 6), weights=(1, 5, 2)),
    "one width": lambda: make("SLIDE", epsilon=1, domain_size=4),
    "an incomplete tree": lambda: make("HH", epsilon=1, domain_size=11, branching=3, weights=(3, 1, 2)),
    "a tree with an item outside the order": lambda: make("HH", epsilon=2, domain=Ordered(0, 6, other=True)),
    "incomplete halves": lambda: make("HAAR", epsilon=1, domain_size=11, weights=(1, 2, 3, 1)),
    "halves and an item outside the order": lambda: make("HAAR", epsilon=3, domain=Ordered(0, 6, other=True)),
}
LARGE = {
    "many blocks": lambda: make("SLIDE", epsilon=2, domain=Ordered(1, 66, other=True)),
    "a tree of many blocks": lambda: make("HH", epsilon=2, domain=Ordered(1, 66, other=True), branching=2),
}
TWINS: dict[str, Any] = {"SLIDE": naive.Slide, "HH": naive.Tree, "HAAR": naive.Haar}


@cache
def collected(label: str) -> tuple[Any, Any, Any]:
    """A scheme, the tally of a crowd, and its reports as the twin reads them."""
    scheme = (SMALL | LARGE)[label]()
    codes = np.array([(i * i + i // 3) % scheme.size if i % 3 else 0 for i in range(120)])
    reports = scheme.privatize_encoded(scheme.domain.encoded(codes.astype(np.uint64)), SeededRandom(2026))
    tally = scheme.accumulator()
    tally.add(reports)
    return scheme, tally, naive.fields(reports)


def check(label: str) -> None:
    scheme, tally, reports = collected(label)
    written = json.loads(scheme.to_json())
    asked = range(0, scheme.size, 1 + scheme.size // 4)
    twin = naive.answer(written, reports, asked)
    estimates = tally.estimate()
    assert tally.scores()[list(asked)].tolist() == twin.scores
    assert_close(estimates.values[list(asked)], twin.values)
    assert_close(estimates.variance[list(asked)], twin.variance)
    # Ranges, a prefix, the mean, and the item outside the order with some others.
    items = np.arange(scheme.size)
    questions = np.array([(items >= 2) & (items < 7), items < 4, items, items >= scheme.size - 3], dtype=float)
    values, variances = tally.scheme.estimator().linear(tally.evidence, tally.n).weighted(questions)
    wanted = TWINS[scheme.name](written).answers(reports, questions)
    assert_close(values, wanted[0])
    assert_close(variances, wanted[1])


@in_turn("label", list(SMALL))
def test_counts_and_sums_are_those_of_the_slow_twin(label: str) -> None:
    check(label)


@pytest.mark.full
@in_turn("label", list(LARGE))
def test_counts_and_sums_of_many_blocks_are_those_of_the_slow_twin(label: str) -> None:
    check(label)


@pytest.mark.parametrize("epsilon", [0.5, 3])
@pytest.mark.parametrize("domain", [Ordered(0, 8), Ordered(1, 66, other=True), Ordered(0, 4999), Ordered(0, 99_999)])
def test_all_widths_at_once_and_one_by_one_give_the_same_reports(domain: Ordered, epsilon: float) -> None:
    scheme = make("SLIDE", epsilon=epsilon, domain=domain)
    values = scheme.domain.encoded(np.arange(3000, dtype=np.uint64) * np.uint64(77) % np.uint64(scheme.size))
    draws = SeededRandom(7).stream().draws_of(scheme.layout, 0, len(values))
    made = [np.empty(len(values), dtype=scheme.report_dtype) for _ in range(2)]
    for respond, out in zip((scheme.respond, partial(Grouped.respond, scheme)), made, strict=True):
        assert not len(respond(values, draws, out))
    assert made[0].tobytes() == made[1].tobytes()
