"""Plans for records of several attributes: the scheme, its error, what a target needs, and what is refused."""

from __future__ import annotations

import pytest

import plausibly
from plausibly import Above, Limits, ParameterError, Table, Within
from plausibly.core.bound import Workload

YES_OR_NO = Table({f"q{i}": 2 for i in range(8)}, missing=False)
MIXED = Table({f"q{i}": size for i, size in enumerate((2, 2, 5, 7, 9, 16))}, missing=False)


def test_the_better_number_of_attributes_is_recommended_and_the_other_compared() -> None:
    small, large = (plausibly.plan(table, 200_000, epsilon=1) for table in (YES_OR_NO, MIXED))
    assert (small.best.name, large.best.name) == ("CLIQUE of 3", "CLIQUE of 2")
    assert small.best.error == pytest.approx(2168, abs=1)
    assert small.times_bound == pytest.approx(1.19, abs=0.01)
    assert large.best.error == pytest.approx(2654, abs=1)
    assert [choice.name for choice in large.runners_up] == ["CLIQUE of 3"]
    assert "1.63 times the squared error" in str(large)
    assert plausibly.from_json(large.scheme.to_json()) == large.scheme


def test_a_target_determines_the_users_or_epsilon() -> None:
    users = plausibly.plan(MIXED, epsilon=1, target=Within("1 %")).users
    assert plausibly.plan(MIXED, users, epsilon=1).cell_half_width() <= 0.01
    assert plausibly.plan(MIXED, users - 10, epsilon=1).cell_half_width() > 0.01
    found = plausibly.plan(MIXED, 200_000, target=Within("1 %"))
    assert found.solved == "epsilon"
    assert found.cell_half_width() <= 0.01
    every = plausibly.plan(MIXED, epsilon=1, target=Within("1 %", every=True)).users
    assert every > 2 * users


@pytest.mark.full
def test_no_prediction_is_below_the_bound() -> None:
    for table in (YES_OR_NO, MIXED):
        for epsilon in (0.5, 1, 3):
            found = plausibly.plan(table, 1000, epsilon=epsilon)
            bound = Workload.of_tables(table.sizes).bound(epsilon)
            assert found.prediction.cells[2] >= bound > 0


def test_targets_and_limits_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ParameterError, match="expected Within"):
        plausibly.plan(MIXED, epsilon=1, target=Above("1 %"))
    with pytest.raises(ParameterError, match="report_bytes"):
        plausibly.plan(MIXED, 1000, epsilon=1, limits=Limits(report_bytes=1))
    huge = Table({"a": 2000, "b": 2000}, missing=False)
    with pytest.raises(ParameterError, match="'a' and 'b' have 4,000,000 cells together, expected at most 1,048,576"):
        plausibly.plan(huge, 1000, epsilon=1)
