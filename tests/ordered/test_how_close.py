"""The table of docs/ordered.md: exact variances in units of the least possible one of a single count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bench import ordered

from plausibly import Integers
from plausibly.core.bound import best_noise
from plausibly.ordered import HAAR, HH

PAGE = Path(__file__).parents[2] / "docs" / "ordered.md"
PUBLISHED = ("HH₂", "HH₄", "HAAR")
BEST = ("HH₂, best shares", "HH₄, best shares")


def test_the_page_quotes_the_kept_table() -> None:
    assert ordered.written(ordered.kept()) in PAGE.read_text(encoding="utf-8")


def test_the_kept_table_is_complete() -> None:
    settings = [(row.size, row.epsilon) for row in ordered.kept()]
    assert settings == [(size, epsilon) for size in ordered.SIZES for epsilon in ordered.EPSILONS]


@pytest.mark.parametrize(
    "size", [pytest.param(64, marks=pytest.mark.full), *(pytest.param(n, marks=pytest.mark.slow) for n in (256, 1024))]
)
def test_the_kept_table_is_what_is_computed(size: int) -> None:
    for row in ordered.kept():
        if row.size != size:
            continue
        computed = ordered.row(row.size, row.epsilon)
        for name in ordered.COLUMNS:
            assert computed.cells[name] == pytest.approx(row.cells[name], rel=1e-6), name


@pytest.mark.parametrize("size", [64, *(pytest.param(size, marks=pytest.mark.full) for size in (256, 1024))])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_slide_is_close_to_the_bound_on_ranges(size: int, epsilon: float) -> None:
    assert ordered.slide(size, epsilon).ranges <= 1.15 * ordered.bound(size, epsilon).ranges


def test_no_scheme_is_below_the_bound() -> None:
    for row in ordered.kept():
        least = row.cells["bound"]
        for name in ordered.COLUMNS[1:]:
            assert row.cells[name].prefixes >= least.prefixes
            assert row.cells[name].ranges >= least.ranges


def ratios(names: tuple[str, ...], *, ranges: bool) -> list[float]:
    """The variance of the best of some schemes, in units of SLIDE's, for each row."""
    return [min(row.cells[name][ranges] for name in names) / row.cells["SLIDE"][ranges] for row in ordered.kept()]


def test_the_sentences_of_the_page_are_true() -> None:
    rows = ordered.kept()
    low = [row for row in rows if row.epsilon <= 2]
    high = [row for row in rows if row.epsilon == 3]
    above = [[row.cells["SLIDE"][which] / row.cells["bound"][which] for row in low] for which in (0, 1)]
    assert [round(max(each), 2) for each in above] == [1.28, 1.13]
    at_three = [row.cells["SLIDE"].ranges / row.cells["bound"].ranges for row in high]
    assert (round(min(at_three), 2), round(max(at_three), 2)) == (1.28, 1.41)
    expected = {(PUBLISHED, False): (1.2, 1.5), (PUBLISHED, True): (1.4, 1.7), (BEST, True): (1.1, 1.4)}
    for (names, which), ends in expected.items():
        found = ratios(names, ranges=which)
        assert (round(min(found), 1), round(max(found), 1)) == ends
    halves = [min(row.cells[name].ranges for name in PUBLISHED) for row in rows if row.epsilon == 0.5]
    assert halves == [row.cells["HAAR"].ranges for row in rows if row.epsilon == 0.5]


def test_means_over_ranges_are_those_of_all_ranges() -> None:
    size, epsilon = 24, 1.0
    ends = np.vstack([np.zeros(size), np.tri(size)])
    first, last = np.triu_indices(size + 1, 1)
    even, star = np.full(size, 1 / size), best_noise(epsilon)
    trees = HH(epsilon=epsilon, domain=Integers(size), branching=2).system
    halves = HAAR(epsilon=epsilon, domain=Integers(size)).halves
    of_tree = float(trees.ask(ends[last] - ends[first]).variance(even, 1).mean()) / star
    of_halves = float(halves.variance(ends[last] - ends[first], even, 1).mean()) / star
    assert ordered.tree(2)(size, epsilon).ranges == pytest.approx(of_tree)
    assert ordered.haar(size, epsilon).ranges == pytest.approx(of_halves)
