"""The law of items without holders if hash functions are public: exact by enumeration, and no false alarms."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import plausibly
from plausibly import SeededRandom
from plausibly.core.collisions import Added, Collisions, MedianOfCells, RandomCell, pooled
from plausibly.core.estimates import Estimates
from plausibly.core.tails import Noise

pytestmark = pytest.mark.full

ROWS = np.array([[0, 0, 7, 1], [7, 1, 0, 0], [1, 7, 0, 0]])
"""Three hash functions with four cells each; all have the same values, so that pooling them changes nothing."""


def reached(sums: list[float], least: float) -> float:
    return sum(each >= least for each in sums) / len(sums)


@pytest.mark.parametrize("chance", [0.5, 0.2, 0.05, 0.02, 0.001])
def test_the_law_of_sums_is_that_of_every_choice_of_cells(chance: float) -> None:
    sums = [2.0 * (sum(cells) - 5) for cells in product(*ROWS.tolist())]
    law = Collisions.of_table(ROWS, 2.0, 5.0)
    needed = float(law.least(np.array([chance]))[0])
    assert reached(sums, needed) <= chance < reached(sums, needed - 0.01)
    assert float(law.chances(np.array([needed + 0.01]))[0]) <= chance + 1e-9


@pytest.mark.parametrize("chance", [0.49, 0.2, 0.05, 0.001])
def test_the_law_of_medians_is_that_of_every_choice_of_cells(chance: float) -> None:
    medians = [sorted(cells)[1] for cells in product(*ROWS.tolist())]
    needed = float(MedianOfCells.of_table(ROWS.astype(np.float64)).least(np.array([chance]))[0])
    assert reached(medians, needed) <= chance
    assert chance < reached(medians, needed - 1e-9)


def test_chances_too_small_for_a_transform_have_a_bound() -> None:
    law = Collisions.of_table(np.tile(np.arange(8), (500, 1)), 1.0, 1750.0)
    chances = np.array([1e-9, 1e-11, 1e-13, 1e-30, 1e-200])
    least = law.least(chances)
    assert (np.diff(least) > 0).all()
    assert least[-1] <= 1750.01  # no sum of cells is larger
    # The sum is nearly normal, with a variance of 500 * 63/12.
    assert least[0] == pytest.approx(6.0 * (500 * 63 / 12) ** 0.5, rel=0.02)


def test_pooling_many_cells_keeps_the_mean_and_the_variance() -> None:
    table = np.random.default_rng(3).poisson(20.0, (300, 1000))
    cell, total = pooled(table)
    assert len(cell.values) <= 4098
    assert total == pytest.approx(table.mean(axis=1).sum())
    assert cell.values @ cell.chances == pytest.approx(0.0, abs=1e-9)
    assert cell.variance == pytest.approx(300 * table.var(axis=1).mean(), rel=1e-5)


def test_equal_cells_say_nothing() -> None:
    for table in (np.full((4, 8), 3), np.full((4, 8000), 3)):
        assert Collisions.of_table(table, 1.0, 12.0).least(np.array([0.01])).tolist() == pytest.approx([2.0], abs=2.0)
        assert (Collisions.of_table(table, 1.0, 12.0).least(np.array([0.01])) > 0).all()


def test_sums_with_different_hash_functions_are_convolved() -> None:
    one = Collisions(0.0, (RandomCell(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 1),))
    both = one + one.scaled(2.0)
    # -3, -1, 1 and 3 are equally probable.
    assert both.least(np.array([0.3, 0.2])).tolist() == pytest.approx([1.0, 3.0], abs=1e-2)
    assert Added((one, one.scaled(2.0))).least(np.array([0.3]))[0] == pytest.approx(3.0, abs=1e-2)


# --- collections ----------------------------------------------------------------------------------------------------

ZIPF = {f"held {k}": 40_000 // (k + 1) for k in range(100)}
UNHELD = [f"unheld {j}" for j in range(2000)]


def sketch(name: str, epsilon: float, rows: int, width: int, seed: int, **given: Any) -> plausibly.Scheme:
    oracle = plausibly.make("TLH", epsilon=epsilon, domain_size=width)
    return plausibly.make(name, oracle=oracle, rows=rows, domain=plausibly.Keys(), hash_seed=seed, **given)


def alarms(found: Estimates) -> int:
    assert found.significant is not None
    return int(sum(str(item).startswith("unheld") for item in found.items[found.significant]))


@pytest.mark.parametrize(
    ("made", "options"),
    [
        (lambda seed: sketch("CM", 1, 16, 1024, seed), {}),
        (lambda seed: sketch("CM", 3, 16, 1024, seed), {}),
        (lambda seed: sketch("CM", 3, 256, 4, seed), {}),
        (lambda seed: sketch("CM", 3, 16, 1024, seed), {"combine": "median"}),
        (lambda seed: sketch("CS", 3, 16, 1024, seed), {}),
    ],
    ids=["CM", "CM, larger epsilon", "CM, narrow", "CM, median", "CS"],
)
def test_an_item_that_shares_cells_with_a_frequent_one_is_seldom_significant(
    made: Callable[[int], plausibly.Scheme], options: dict[str, Any]
) -> None:
    # By the variance alone, all collections of the second and of the last kind had one. At most 5 % may: more than 4 of
    # 20 have a probability of 0.3 %.
    wrong = 0
    for seed in range(20):
        found = made(seed).simulate(ZIPF, SeededRandom(seed)).estimate([*ZIPF, *UNHELD], **options).top(50)
        wrong += alarms(found) > 0
        assert found.significant is not None
        assert found.significant[:2].all()  # what 40,000 and 20,000 of 207,000 users have
    assert wrong <= 4


@pytest.mark.parametrize("hashes", [100, 1000])
def test_fast_local_hashing_knows_its_collisions(hashes: int) -> None:
    # By the variance alone, 40 % of these collections had a significant item without holders. At most 5 % may: more
    # than 8 of 60 have a probability of 0.6 %.
    wrong = 0
    for seed in range(60):
        scheme = plausibly.make("FLH", epsilon=3, domain_size=2000, hashes=hashes, hash_seed=seed)
        found = scheme.simulate([200_000] + [0] * 1999, SeededRandom(seed)).estimate().top(20)
        assert found.significant is not None
        assert found.significant[0]
        wrong += bool(found.significant[1:].any())
    assert wrong <= 8


def test_one_row_tells_no_candidate_apart_from_its_neighbours_in_the_cell() -> None:
    found = sketch("CM", 3, 1, 256, 1).simulate(ZIPF, SeededRandom(1)).estimate([*ZIPF, *UNHELD]).top(50)
    assert found.significant is not None
    assert not found.significant.any()


@pytest.mark.parametrize("apart", [0, 100])
def test_sums_of_sketches_know_their_collisions(apart: int) -> None:
    # With the same hash functions in both crowds, and with different ones. More than 4 of 20 have a probability of
    # 0.3 %.
    wrong, names = 0, [*ZIPF, *UNHELD]
    for seed in range(20):
        one = sketch("CM", 3, 16, 1024, seed).simulate(ZIPF, SeededRandom(1000 + seed))
        other = sketch("CM", 3, 16, 1024, seed + apart).simulate(ZIPF, SeededRandom(5000 + seed))
        found = (one.estimate(names) + other.estimate(names)).top(50)
        wrong += alarms(found) > 0
        assert found.significant is not None
        assert found.significant[0]
    assert wrong <= 4


def test_a_sum_with_an_oracle_without_hash_functions_keeps_both_laws() -> None:
    counts = [20_000] + [0] * 49
    one = plausibly.make("FLH", epsilon=3, domain_size=50).simulate(counts, SeededRandom(1)).estimate()
    other = plausibly.make("OUE", epsilon=3, domain_size=50).simulate(counts, SeededRandom(2)).estimate()
    both = (one + other).unheld
    assert isinstance(both, Added)
    assert [type(law) for law in both.laws] == [Collisions, Noise]
    assert len((one + other).aligned(one.items[::-1]).top(5)) == 5
    assert len(plausibly.combine([one, other]).top(5)) == 5


def test_a_search_over_a_sketch_knows_its_collisions() -> None:
    # By the variance alone, all of these searches had a significant string that nobody has. At most 5 % may: more than
    # 4 of 20 have a probability of 0.3 %.
    crowd, wrong = {"abba": 30_000, "feed": 20_000}, 0
    for seed in range(20):
        oracle = sketch("CM", 3, 16, 256, seed)
        search = plausibly.make("PEM", oracle=oracle, domain=plausibly.Strings("abcdefgh", 6), start=2, step=2)
        found = search.simulate(crowd, SeededRandom(seed)).search(k=20)
        assert found.significant is not None
        told = set(found.items[found.significant].tolist())
        assert "abba" in told
        wrong += bool(told - crowd.keys())
    assert wrong <= 4
