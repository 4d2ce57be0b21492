"""The test of independence, given how many users reported each set: covariance and fourth moments by enumeration."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest

from plausibly import SeededRandom, make
from plausibly.core.independence import independence_of
from plausibly.core.table_law import component
from tables.crowds import table

USERS = 50
SETTINGS = [((3, 4), 4), ((3, 4), 2), ((3, 4), 1), ((3, 3), 2), ((4, 5), 5)]


def all_reports(scheme: Any, shares: Any) -> tuple[Any, Any]:
    """What every report of the only set adds to its table, up to a constant, and the probabilities of the reports."""
    oracle, cells = scheme.parts[0].scheme, shares.size
    scale, size = float(scheme.estimator().sent[0].decoder.scale), oracle.w
    other = (size - 1 / scale) / cells
    true = other + 1 / scale
    reports = list(combinations(range(cells), size))
    own = np.array([shares.reshape(-1)[list(report)].sum() for report in reports])
    chances = own * true / comb(cells - 1, size - 1) + (1 - own) * (1 - true) / comb(cells - 1, size)
    supported = np.array([[cell in report for cell in range(cells)] for report in reports])
    return scale * supported, chances


@pytest.mark.parametrize("spread", [None, 0.5])
@pytest.mark.parametrize(("sizes", "epsilon"), SETTINGS)
def test_the_excess_is_at_least_the_exact_fourth_cumulant(
    sizes: tuple[int, int], epsilon: int, spread: float | None
) -> None:
    scheme: Any = make("CLIQUE", epsilon=epsilon, domain=table(*sizes), cliques=2)
    random = np.random.default_rng(1)
    margins = [np.full(size, 1 / size) if spread is None else random.dirichlet(np.full(size, spread)) for size in sizes]
    shares, degrees = np.outer(*margins), (sizes[0] - 1) * (sizes[1] - 1)
    # Any contrasts that span those of rows times those of columns.
    sides = [np.eye(len(own))[1:] - own[1:, None] for own in margins]
    questions = np.einsum("ia,jb->ijab", *sides).reshape(degrees, *sizes)
    added, chances = all_reports(scheme, shares)
    assert chances.sum() == pytest.approx(1)
    flat = questions.reshape(degrees, -1)
    answers = added @ (flat - flat.mean(axis=1, keepdims=True)).T
    answers -= chances @ answers
    exact = USERS * (answers * chances[:, None]).T @ answers
    # The covariance of the test is that of its reports.
    decoder, counts = scheme.estimator(), USERS * shares
    law = decoder.law_at((0, 1)).covariance(questions, counts, USERS) + (flat * counts.reshape(-1)) @ flat.T
    assert np.allclose(law, exact)
    inverse = np.linalg.inv(exact)
    squares = np.einsum("ri,ij,rj->r", answers, inverse, answers)
    cumulant = USERS * float(chances @ squares**2) - (2 * degrees + degrees**2) / USERS
    tally = scheme.accumulator()
    tally.add(scheme.privatize(np.zeros((USERS, 2), dtype=int), SeededRandom(1)))
    (reporters,) = tally.table("q0", "q1").sized.reporters
    found = reporters.excess(questions, inverse, shares)
    # Reports support equally many cells, which coins do not: they vary more, by an eighth of a chi-square's variance.
    assert cumulant < found < cumulant + 2 * degrees / 8


def test_users_are_weighed_by_how_many_have_reported_their_set() -> None:
    sizes = (3, 4, 2)
    scheme: Any = make("CLIQUE", epsilon=1, domain=table(*sizes), cliques=2)
    random = np.random.default_rng(1)
    records = np.stack([random.integers(0, size, 300) for size in sizes], axis=1)
    tally = scheme.accumulator()
    tally.add(scheme.privatize(records, SeededRandom(1)))
    numbers = [own.users for own in tally.evidence]
    found = tally.table("q0", "q1").sized
    # The interaction comes from the only set that has both, times the inverse of its share.
    alone = scheme.estimator().sent[0].decoder.values(tally.evidence[0].evidence, numbers[0], None).reshape(3, 4)
    assert np.allclose(component(found.counts, (0, 1), (0, 1)), component(alone, (0, 1), (0, 1)) * 300 / numbers[0])
    assert found.law.noise[0, 1] == pytest.approx(
        tally.table("q0", "q1").law.noise[0, 1] * (300 / 3) / numbers[0], rel=1e-9
    )
    assert [(own.reports, own.axes) for own in found.reporters] == list(zip(numbers, [(0, 1), (0,), (1,)], strict=True))


def test_fewer_reports_of_both_attributes_are_a_smaller_statistic() -> None:
    # The same table, from reports whose few cells vary more: the p-value is larger.
    scheme = make("CLIQUE", epsilon=5, domain=table(3, 4), cliques=2)
    found = scheme.simulate({(0, 0): 60, (1, 1): 60, (2, 3): 4}, SeededRandom(1)).table("q0", "q1")
    plain = replace(found.sized, reporters=())
    tested, chi_square = (independence_of(each, found.law, found.n, ("a", "b")) for each in (found.sized, plain))
    assert tested.statistic == chi_square.statistic
    assert tested.p_value > chi_square.p_value
