"""Counts of given strings: unbiased, with the stated variance, over fresh noise and fresh hash functions."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np
import pytest

import plausibly
from plausibly import SeededRandom, Strings, make
from plausibly.search.whole_strings import Group, WholeStrings

pytestmark = pytest.mark.full

ABCD = Strings("abcd", 6)
CROWD = {"ab": 900, "abba": 700, "abbadd": 600, "cab": 500, "d": 300, "dadada": 200, "bbbbbb": 100, "a": 50}
RARE = {"".join(letters): 3 for letters in np.random.default_rng(1).choice(list("abcd"), (60, 6)).tolist()}


def small(hash_seed: int, *, cells: int = 64, oracle: str = "SS", cohorts: int = 2) -> Any:
    """A TRELLIS with so few cells that strings often share one."""

    def of(size: int) -> Any:
        return make(oracle, epsilon=2, domain_size=size)

    weights = (*(1,) * 6, *(1,) * 5, 12, *(9,) * cohorts, *(6,) * cohorts)
    return make(
        "TRELLIS", domain=ABCD, letters=of(5), pairs=of(25), first=of(25), folded=of(cells), deep=of(cells),
        weights=weights, start=2, step=2, cohorts=cohorts, hash_seed=hash_seed,
    )  # fmt: skip


def errors(
    asked: Sequence[str], crowd: Mapping[str, int], runs: int, **options: Any
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """[run, string]: errors of the estimates, and their stated standard errors."""
    truth = np.array([crowd.get(item, 0) for item in asked])
    found, stated = [], []
    for seed in range(runs):
        made = small(seed, **options).simulate(crowd, SeededRandom(seed)).estimate(asked)
        assert made.variance is not None
        found.append(made.values - truth)
        stated.append(np.sqrt(made.variance))
    return np.array(found), np.array(stated)


@pytest.mark.parametrize(
    ("oracle", "cells"),
    [("SS", 64), *(pytest.param(*each, marks=pytest.mark.full) for each in (("SS", 1024), ("TLH", 1024), ("HM", 64)))],
)
def test_counts_are_unbiased_and_vary_as_stated(oracle: str, cells: int) -> None:
    # 300 runs of 9 strings: bounds of 4.5 standard errors are passed by chance once in 15,000 times for all strings.
    asked, runs = [*CROWD, "cccccc"], 300
    wrong, stated = errors(asked, CROWD | RARE, runs, oracle=oracle, cells=cells)
    z = wrong / stated
    assert (np.abs(z.mean(axis=0)) < 4.5 / sqrt(runs)).all()
    # Collisions with rare strings are far from normal, so the variance of the squares is measured.
    spread, error = (z**2).mean(axis=0), (z**2).std(axis=0) / sqrt(runs)
    assert (spread < 1 + 4.5 * error).all()
    # Few cells show little of how often users share one; in doubt the variance is overstated.
    assert (spread > (1 if cells == 1024 else 0.85) - 4.5 * error).all()


def test_a_string_is_counted_by_every_group_that_sees_its_end() -> None:
    scheme = small(1)
    decoder = scheme.estimator()
    assert isinstance(decoder, WholeStrings)
    rows = ABCD.encode(["a", "ab", "abb", "abba", "abbad", "abbadd"])
    seen = [group.sees(rows, 6).tolist() for group in decoder.groups]
    assert seen[0] == [True, False, False, False, False, False]  # the first 2 characters
    assert seen[1] == seen[2] == [True, True, True, False, False, False]  # the first 4, in two cohorts
    assert seen[3] == seen[4] == [True] * 6


def test_more_groups_give_narrower_intervals() -> None:
    tally = small(1, cells=1024).simulate(CROWD, SeededRandom(1))
    made = tally.estimate(["d", "dcd", "dcdc", "dcdcdc"])
    assert made.variance is not None
    error = np.sqrt(made.variance)
    # Shares of 12, 18 and 12 in 47 see the four strings: all, the last 30, and the last 12.
    assert error[3] / error[0] == pytest.approx(sqrt(42 / 12), rel=0.1)
    assert error[3] / error[1] == pytest.approx(sqrt(30 / 12), rel=0.1)
    assert error[3] == pytest.approx(error[2], rel=0.01)


def sharing(scheme: Any) -> tuple[str, str]:
    """Two strings that share a cell of the last level in both cohorts, or in one if there are none."""
    folds = scheme.folds[-1]
    names = ["".join(letters) for letters in np.random.default_rng(3).choice(list("abcd"), (400, 6)).tolist()]
    names = sorted(set(names))
    cells = np.stack([fold.items(ABCD.encode(names)) for fold in folds])
    for i, cell in enumerate(cells.T):
        met = np.flatnonzero((cells == cell[:, None]).any(axis=0))
        if len(others := met[met != i]):
            return names[i], names[others[0]]
    raise AssertionError("no two strings share a cell")


def test_strings_that_share_a_cell_are_separated() -> None:
    light, heavy = sharing(small(7))
    crowd = {heavy: 20_000, light: 1_000}
    tally = small(7).simulate(crowd, SeededRandom(7))
    together, alone = tally.estimate([light, heavy]), tally.estimate([light])
    assert together.variance is not None
    assert alone.variance is not None
    z = (together.values - [1_000, 20_000]) / np.sqrt(together.variance)
    assert (np.abs(z) < 4).all()
    assert alone.values[0] > 8_000  # without the heavy one, half of its holders look like holders of the light one
    assert sqrt(alone.variance[0]) > 1_000  # which the stated variance allows for


@pytest.mark.parametrize("oracle", ["SS", pytest.param("FLH", marks=pytest.mark.full)])
def test_the_number_of_pairs_with_a_common_prefix_is_unbiased(oracle: str) -> None:
    crowd = CROWD | RARE
    pairs = sum(count * (count - 1) for count in crowd.values())
    found = []
    for seed in range(300):
        scheme = small(seed, oracle=oracle)
        tally = scheme.simulate(crowd, SeededRandom(seed))
        number = len(scheme.parts) - 1
        group = Group(scheme.parts[number], number, scheme.share(number))
        found.append(group.counts(tally.evidence[number])[1])
    assert abs(np.mean(found) - pairs) < 4 * np.std(found) / sqrt(300)


def test_named_and_found_strings_have_the_same_estimates() -> None:
    words = Strings("abcdefghijklmnopqrstuvwxyz-", 12)
    scheme = plausibly.TRELLIS(3, domain=words, users=50_000)
    tally = scheme.simulate({"hello": 20_000, "goodbye": 15_000, "hi": 10_000}, SeededRandom(5))
    found = tally.search(k=3)
    named = tally.estimate(found.items.tolist())
    # The search solves for other candidates, too.
    np.testing.assert_allclose(found.values, named.values, rtol=1e-5)
    np.testing.assert_allclose(found.variance, named.variance, rtol=1e-4)


def test_more_strings_than_are_solved_jointly() -> None:
    tally = small(3, cells=512).simulate(CROWD, SeededRandom(3))
    rest = ["".join(letters) for letters in np.random.default_rng(2).choice(list("abcd"), (3_000, 6)).tolist()]
    many, few = tally.estimate([*CROWD, *rest]), tally.estimate([*CROWD])
    assert many.variance is not None
    assert few.variance is not None
    assert np.isfinite(many.values).all()
    assert (many.variance > 0).all()
    assert (np.abs(many.values[: len(CROWD)] - few.values) < 6 * np.sqrt(few.variance)).all()


def test_without_reports_nothing_is_known() -> None:
    made = small(1).accumulator().estimate(["ab"])
    assert made.values.tolist() == [0]


def test_strings_that_share_their_cells_in_a_circle_are_not_all_solved_for() -> None:
    # Two cohorts: a and b share a cell of the first, b and c of the second, c and d of the first, d and a of the
    # second. Each can be told apart from each other, but the four counts have only three sums.
    scheme = small(1)
    names = ["".join(letters) for letters in itertools.product("abcd", repeat=6)]
    first, second = (fold.items(scheme.domain.encode(names)).astype(int).tolist() for fold in scheme.folds[-1])
    rows: dict[int, dict[int, str]] = {}
    for name, row, column in zip(names, first, second, strict=True):
        rows.setdefault(row, {}).setdefault(column, name)
    one, other = list(rows.values())[:2]
    left, right = sorted(one.keys() & other.keys())[:2]
    circle = [one[left], other[left], other[right], one[right]]
    made = scheme.simulate({circle[0]: 5_000, circle[1]: 3_000, "abba": 2_000}, SeededRandom(1)).estimate(circle)
    assert made.variance is not None
    assert (made.variance < 3_000**2).all()
    assert (np.abs(made.values - [5_000, 3_000, 0, 0]) < 5 * np.sqrt(made.variance)).all()
