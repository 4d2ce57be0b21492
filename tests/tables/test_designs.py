"""Sets of attributes that cover every pair without being all of their size: which they are, and the law with them."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import naive
from plausibly import Choices, SeededRandom, make
from plausibly.tables.designs import covering, sets_of
from tables.crowds import counted, latent, table

FANO = covering(7, 3)


@pytest.mark.parametrize("size", [3, 4])
@pytest.mark.parametrize("attributes", [5, 7, 16, 20])
def test_every_pair_of_attributes_is_in_a_set(attributes: int, size: int) -> None:
    found = covering(attributes, size)
    assert len(set(found)) == len(found) < len(list(combinations(range(attributes), size)))
    assert all(len(set(chosen)) == size and tuple(sorted(chosen)) == chosen for chosen in found)
    assert {pair for chosen in found for pair in combinations(chosen, 2)} == {*combinations(range(attributes), 2)}


def test_designs_are_for_many_sets_only() -> None:
    assert len(sets_of(15, 3)) == 455  # all of them
    assert len(sets_of(16, 3)) < 60
    assert len(sets_of(40, 2)) == 780  # pairs are all needed


@pytest.mark.full
def test_the_law_of_a_design_is_the_variance_over_all_coins() -> None:
    assert len(FANO) == 7
    scheme: Any = make("CLIQUE", epsilon=1, domain=table(*(2,) * 7), cliques=FANO)
    twin = naive.Clique(json.loads(scheme.to_json()))
    law = scheme.estimator().law_at((1, 4))
    for record in ((0,) * 7, (0, 1, 0, 1, 1, 0, 1), (1, 0, 0, 0, 1, 1, 1)):
        counts = np.zeros((2, 2))
        counts[record[1], record[4]] = 1
        for cell in np.ndindex(2, 2):
            asked = dict(zip((1, 4), cell, strict=True))
            mean = twin.level(asked)
            for number, share in enumerate(twin.shares):
                mean += share * twin.coefficient(number, [record[j] for j in twin.cliques[number]], asked)
            assert mean == ((record[1], record[4]) == cell)
            found = law.cell_variances(counts, 1)[cell]
            assert found == pytest.approx(float(twin.variance_of_one(record, asked)), rel=1e-12)


def test_twenty_items_are_reported_three_at_a_time_and_all_pairs_are_known() -> None:
    apps = Choices([f"app {number}" for number in range(20)], other=True)
    scheme: Any = make("CLIQUE", epsilon=2, domain=apps)
    assert (scheme.together, len(scheme.sets)) == (3, 78)
    assert len(list(scheme.estimator().known_tables(2))) == 210
    tally = scheme.simulate({("app 3", "app 7"): 20_000, ("app 3",): 10_000, (): 10_000}, SeededRandom(1))
    # Five standard errors: a false alarm once in 1.7 million seeds.
    both = tally.table("app 3", "app 7")["yes", "yes"]
    assert abs(float(both) - 20_000) < 5 * both.standard_error
    assert abs(float(tally.table()["app 3"]) - 30_000) < 5 * tally.table()["app 3"].standard_error


def test_tables_of_three_attributes_come_from_sets_of_three() -> None:
    sizes, users = (2, 3, 2, 4), 40_000
    scheme = make("CLIQUE", epsilon=2, domain=table(*sizes), cliques=3)
    records, tally = latent(sizes, users, seed=5), scheme.accumulator()
    tally.add(scheme.privatize(records, SeededRandom(5)))
    for places in combinations(range(4), 3):
        found = tally.table(*(f"q{place}" for place in places))
        errors = (found.counts - counted(records, sizes, *places)) / found.grid(found.standard_error)
        # The largest of at most 24 cells: 5 standard errors are exceeded once in 18,000 seeds, for four tables.
        assert np.abs(errors).max() < 5
        assert found.values.sum() == pytest.approx(users)


def variance(sizes: tuple[int, ...], epsilon: int, **given: Any) -> float:
    scheme: Any = make("CLIQUE", epsilon=epsilon, domain=table(*sizes), **given)
    return float(scheme.estimator().even_variance(2))


def mixed(sizes: tuple[int, ...]) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """All sets of three yes/no questions, and the pairs that are in none of them."""
    small = [place for place, size in enumerate(sizes) if size == 2]
    pairs = [pair for pair in combinations(range(len(sizes)), 2) if not set(pair) <= set(small)]
    return [*combinations(small, 3)], pairs


@pytest.mark.parametrize(("epsilon", "quotient"), [(3, 0.829), (2, 0.933)])
def test_sets_of_three_and_two_are_better_than_one_size_where_attributes_differ(epsilon: int, quotient: float) -> None:
    sizes = (2, 2, 2, 2, 9, 16)
    threes, pairs = mixed(sizes)
    found = variance(sizes, epsilon, cliques=[*threes, *pairs]) / variance(sizes, epsilon)
    assert found == pytest.approx(quotient, abs=5e-4)


def test_weights_are_better_than_none_where_attributes_differ() -> None:
    sizes = (2,) * 6 + (12, 12)
    threes, pairs = mixed(sizes)
    weights = (1,) * len(threes) + (2,) * len(pairs)
    found = variance(sizes, 2, cliques=[*threes, *pairs], weights=weights) / variance(sizes, 2)
    assert found == pytest.approx(0.905, abs=5e-4)
    sizes = (2, 2, 2, 2, 2, 30)
    weights = tuple(round(1000 * (sizes[a] * sizes[b]) ** 0.15) for a, b in combinations(range(6), 2))
    assert variance(sizes, 1, cliques=2, weights=weights) / variance(sizes, 1) == pytest.approx(0.969, abs=5e-4)


@pytest.mark.parametrize("epsilon", ["1/2", 1, 3])
def test_a_report_of_sixty_four_cells_has_nine_bytes(epsilon: Any) -> None:
    for sizes, together in (((8, 8), 2), ((8, 8, 8), 2), ((4, 4, 4), 3)):
        scheme = make("CLIQUE", epsilon=epsilon, domain=table(*sizes), cliques=together)
        assert scheme.privatize(np.zeros((1, len(sizes)), dtype=int), SeededRandom(1)).dtype.itemsize == 9


def test_the_number_of_the_set_takes_two_bytes_of_more_than_256_sets() -> None:
    for attributes, size in ((23, 2), (24, 3)):
        scheme: Any = make("CLIQUE", epsilon=1, domain=table(*(2,) * attributes), cliques=2)
        assert (len(scheme.sets) <= 256) == (size == 2)
        assert scheme.privatize(np.zeros((1, attributes), dtype=int), SeededRandom(1)).dtype.itemsize == size
