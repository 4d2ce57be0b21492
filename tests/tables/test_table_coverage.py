"""Intervals of tables contain the truth as often as they say, also those of the largest cells."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from statistics import NormalDist

import pytest
from bench.table_coverage import KINDS, RUNS, SETTINGS, Covered, covered, kept, written

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"
EXACT = KINDS[:2]
"""Cells and single attributes: unbiased with an exact variance, so only the normal law is approximate."""
PLAIN, TOP = KINDS[3:]


def check(found: Covered, settings: int) -> None:
    # 95 %, up to 1.5 points for the approximation by the normal law, and the error of the runs: 1 % of false alarms for
    # all settings together. Shares are ratios of two estimates, with 2 points.
    z = NormalDist().inv_cdf(1 - 0.01 / (2 * 4 * settings))
    for kind in EXACT:
        assert abs(found.shares[kind] - 0.95) < 0.015 + z * found.errors[kind]
    assert abs(found.shares["shares"] - 0.95) < 0.02 + z * found.errors["shares"]
    # After a choice, intervals may be longer than need be, but not shorter.
    assert found.shares[TOP] > 0.935 - z * found.errors[TOP]


def test_the_page_quotes_the_kept_coverage() -> None:
    assert written(kept()) in PAGE.read_text(encoding="utf-8")


def test_the_kept_coverage_is_complete_and_right() -> None:
    assert [(each.crowd, each.epsilon, each.users) for each in kept()] == SETTINGS
    for each in kept():
        assert each.runs == RUNS
        check(each, len(SETTINGS))
        for kind in (*EXACT, "shares"):
            assert 0.935 < each.shares[kind] < 0.965


def test_the_sentences_of_the_page_are_true() -> None:
    assert min(each.shares[PLAIN] for each in kept()) == pytest.approx(0.69, abs=0.005)
    assert min(each.shares[TOP] for each in kept()) > 0.945
    for kind in (*EXACT, "shares"):
        assert all(0.94 <= each.shares[kind] <= 0.965 for each in kept())


@pytest.mark.full
def test_the_coverage_of_one_setting_is_measured_again() -> None:
    check(covered("3, 4, 5", 1, 5_000, runs=300), 1)


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_coverage_is_what_is_measured(setting: tuple[str, float, int]) -> None:
    found = covered(*setting, runs=200)
    check(found, len(SETTINGS))
    # The first runs of the kept ones, so that they differ by less than independent ones would.
    [whole] = [each for each in kept() if (each.crowd, each.epsilon, each.users) == setting]
    for kind in KINDS:
        both = sqrt(found.errors[kind] ** 2 + whole.errors[kind] ** 2)
        assert abs(found.shares[kind] - whole.shares[kind]) < 5 * both + 0.001
