"""CLIQUE and SMP against their slow twin in fractions: unbiased, with the stated variance, from the same reports."""

from __future__ import annotations

import json
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

import naive
from cases import in_turn
from plausibly import SeededRandom, Table, make
from plausibly.certify import audit


def table(*sizes: int) -> Table:
    return Table({f"q{i}": size for i, size in enumerate(sizes)}, missing=False)


SMALL: dict[str, Any] = {
    "yes or no": lambda: make("CLIQUE", epsilon=1, domain=table(2, 2, 2), cliques=2),
    "all together": lambda: make("CLIQUE", epsilon=2, domain=table(2, 2, 2), cliques=3),
    "other sizes": lambda: make("CLIQUE", epsilon=1, domain=table(2, 3, 4), cliques=2, weights=(1, 2, 3)),
    "sets of two and three": lambda: make("CLIQUE", epsilon=3, domain=table(2, 3, 4), cliques=[[0, 1, 2], [0, 1], [2]]),
    "three by three": lambda: make("CLIQUE", epsilon="1/2", domain=table(3, 3, 3), cliques=2),
    "one at a time": lambda: make("SMP", epsilon=1, domain=table(2, 3, 4)),
}


def asked(scheme: Any, most: int = 3) -> list[tuple[int, ...]]:
    """The tables that the scheme knows, by the positions of their attributes."""
    return [places for count in range(1, most + 1) for places in scheme.estimator().known_tables(count)]


def cells_of(scheme: Any, places: tuple[int, ...]) -> list[dict[int, int]]:
    """All cells of a table, as the twin names them."""
    values = product(*(range(scheme.domain.sizes[j]) for j in places))
    return [dict(zip(places, cell, strict=True)) for cell in values]


@pytest.mark.full
@in_turn("label", list(SMALL))
def test_the_mean_of_a_report_is_exactly_its_users_own_cell(label: str) -> None:
    scheme = SMALL[label]()
    twin = naive.Clique(json.loads(scheme.to_json()))
    for places in asked(scheme):
        for cell, record in product(cells_of(scheme, places), twin.records()):
            mean = twin.level(cell)
            for number, share in enumerate(twin.shares):
                mean += share * twin.coefficient(number, [record[j] for j in twin.cliques[number]], cell)
            assert mean == all(record[j] == value for j, value in cell.items())


def check_variance(scheme: Any, step: int) -> None:
    twin = naive.Clique(json.loads(scheme.to_json()))
    for places in asked(scheme):
        law = scheme.estimator().law_at(places)
        for i, (cell, record) in enumerate(product(cells_of(scheme, places), twin.records())):
            if i % step:
                continue
            counts = np.zeros(law.sizes)
            counts[tuple(record[j] for j in places)] = 1.0
            found = law.cell_variances(counts, 1)[tuple(cell.values())]
            assert found == pytest.approx(float(twin.variance_of_one(record, cell)), rel=1e-12)


@pytest.mark.full
@in_turn("label", list(SMALL))
def test_the_law_is_the_variance_over_all_coins(label: str) -> None:
    check_variance(SMALL[label](), step=7 if label == "yes or no" else 31)


@pytest.mark.slow
@in_turn("label", list(SMALL))
def test_the_law_is_the_variance_over_all_coins_for_all_cells_and_records(label: str) -> None:
    check_variance(SMALL[label](), step=1)


@pytest.mark.full
@in_turn("label", list(SMALL))
def test_the_client_itself_is_private_and_unbiased_with_the_stated_variance(label: str) -> None:
    certificate = audit(SMALL[label]())
    assert certificate.holds
    assert certificate.unbiased
    assert certificate.variance_exact


def collected(scheme: Any, users: int = 90) -> tuple[Any, Any]:
    """The tally of a crowd, and its reports as the twin reads them."""
    codes = np.array([(i * i + i // 3) % scheme.size if i % 3 else 0 for i in range(users)], dtype=np.uint64)
    reports = scheme.privatize_encoded(codes, SeededRandom(2026))
    tally = scheme.accumulator()
    tally.add(reports)
    return tally, naive.fields(reports)


@pytest.mark.full
@in_turn("label", list(SMALL))
def test_tables_are_those_of_the_slow_twin(label: str) -> None:
    scheme = SMALL[label]()
    tally, reports = collected(scheme)
    twin = naive.Clique(json.loads(scheme.to_json()))
    for places in asked(scheme):
        cells = cells_of(scheme, places)
        found = tally.table(*(scheme.domain.names[j] for j in places)).values
        for cell, value in list(zip(cells, found.tolist(), strict=True))[:: 1 + len(cells) // 4]:
            assert value == pytest.approx(float(twin.count(reports, cell)), abs=1e-9)


@pytest.mark.full
def test_tables_of_many_cells_are_those_of_the_slow_twin() -> None:
    scheme = make("CLIQUE", epsilon=2, domain=table(9, 8, 2), cliques=2)
    assert {oracle["scheme"] for oracle in json.loads(scheme.to_json())["oracles"]} == {"SS", "HM"}
    tally, reports = collected(scheme, 40)
    twin = naive.Clique(json.loads(scheme.to_json()))
    for cell in ({0: 3, 1: 2}, {0: 8}, {1: 0, 2: 1}):
        found = tally.table(*(f"q{j}" for j in cell))
        value = found.counts[tuple(cell.values())] if len(cell) > 1 else found.values[cell[0]]
        assert value == pytest.approx(float(twin.count(reports, cell)), abs=1e-9)


@in_turn("label", list(SMALL))
def test_tables_agree_with_each_other_and_add_up_to_the_number_of_users(label: str) -> None:
    scheme = SMALL[label]()
    tally, _ = collected(scheme, 1000)
    names = scheme.domain.names
    for places in asked(scheme):
        found = tally.table(*(names[j] for j in places))
        assert found.values.sum() == pytest.approx(1000, abs=1e-9 * 1000)
        for count in range(1, len(places)):
            for fewer in combinations(places, count):
                small = tally.table(*(names[j] for j in fewer))
                others = tuple(axis for axis, j in enumerate(places) if j not in fewer)
                assert np.allclose(found.counts.sum(axis=others).reshape(-1), small.values, rtol=0, atol=1e-9 * 1000)


def test_the_order_of_the_attributes_only_turns_the_table() -> None:
    scheme = make("CLIQUE", epsilon=2, domain=table(2, 3, 4), cliques=3)
    tally, _ = collected(scheme, 500)
    straight = tally.table("q0", "q1", "q2")
    for order in ((2, 0, 1), (1, 0, 2), (2, 1, 0)):
        turned = tally.table(*(f"q{j}" for j in order))
        assert np.allclose(turned.counts, straight.counts.transpose(order))
        assert np.allclose(turned.grid(turned.variance), straight.grid(straight.variance).transpose(order))


def test_the_law_of_sums_is_that_of_cells() -> None:
    scheme = make("CLIQUE", epsilon=1, domain=table(3, 4, 2), cliques=2)
    tally, _ = collected(scheme, 500)
    found = tally.table("q0", "q1")
    every = np.eye(12).reshape(12, 3, 4)
    covariance = found.law.covariance(every, found.counts, found.n)
    assert np.allclose(np.diag(covariance), found.law.cell_variances(found.counts, found.n).reshape(-1))
    assert np.allclose(np.diag(covariance), found.law.variances(every, found.counts, found.n))
    # All cells together are all users, who are known.
    assert np.allclose(covariance.sum(), 0.0, atol=1e-6)
    # The margin of the law is the law of the margin.
    assert np.allclose(found.margin("q1").variance, tally.table("q1").variance)


@pytest.mark.parametrize("fixed", [(0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2)])
def test_the_covariance_of_a_cell_with_its_sum_is_that_of_the_law(fixed: tuple[int, ...]) -> None:
    scheme = make("CLIQUE", epsilon=1, domain=table(2, 3, 4), cliques=3)
    tally, _ = collected(scheme, 500)
    found = tally.table("q0", "q1", "q2")
    cells = np.eye(24).reshape(24, 2, 3, 4)
    others = tuple(axis + 1 for axis in range(3) if axis not in fixed)
    sums = np.broadcast_to(cells.sum(axis=others, keepdims=True), cells.shape)
    wanted = np.diag(found.law.covariance(np.concatenate([cells, sums]), found.counts, found.n)[:24, 24:])
    own = found.law.sum_covariances(found.counts, found.n, fixed)
    assert np.allclose(own.reshape(-1), wanted, rtol=1e-12, atol=1e-9)
