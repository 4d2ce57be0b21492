"""Sums over items: their variance by enumeration of all coins, and refusals where there is no law."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import plausibly
from contract.entries import SCHEMES
from plausibly import SeededRandom, StateError
from plausibly.core.laws import Estimator, VarianceLaw
from supports import supports

ENUMERATED: dict[str, dict[str, Any]] = {
    "DE": {},
    "SUE": {},
    "OUE": {},
    "THE": {},
    "SS": {},
    "HM": {"coefficients": 2},
    "LOLOHA": {"memo_epsilon": 2},
    "LOSUE": {"memo_epsilon": 2},
    "LSUE": {"memo_epsilon": 2},
}
HASHED = ("BLH", "OLH")
"""Exact given three-wise uniform hash functions (docs/adr/0006-hash-family.md), which cannot be enumerated."""


def law_of(scheme: plausibly.Scheme) -> VarianceLaw:
    decoder = scheme.estimator()
    assert isinstance(decoder, Estimator)
    assert decoder.law is not None
    return decoder.law


@pytest.mark.full
@pytest.mark.parametrize("name", ENUMERATED)
def test_the_variance_of_a_sum_is_that_of_all_coins(name: str) -> None:
    # Users are independent, so one user says all: whatever the item, for every set of items.
    scheme = plausibly.make(name, epsilon=1, domain_size=5, **ENUMERATED[name])
    laws, own = supports(scheme), scheme.estimator()
    for count in range(1, 6):
        law = law_of(scheme).of_total(count)
        for chosen in combinations(range(5), count):
            for item, (scores, chances) in enumerate(laws):
                sums = [int(score[list(chosen)].sum()) for score in scores]
                mean = sum((chance * each for chance, each in zip(chances, sums, strict=True)), Fraction(0))
                square = sum((chance * each**2 for chance, each in zip(chances, sums, strict=True)), Fraction(0))
                assert own.scale**2 * (square - mean**2) == law.exact(1, int(item in chosen))


def test_the_law_of_a_sum_adds_up_every_variance_and_covariance() -> None:
    law = VarianceLaw(Fraction(3), Fraction(-1, 2), covariance=(Fraction(-1, 4), Fraction(1, 8)), joint=True)
    counts, n = [5, 0, 7], 40
    naive = Fraction(0)
    for i, mine in enumerate(counts):
        for j, yours in enumerate(counts):
            per_report, per_holder = law.covariance
            naive += law.exact(n, mine) if i == j else n * per_report + (mine + yours) * per_holder
    assert law.of_total(3).exact(n, sum(counts)) == naive
    assert law.of_total(1).exact(n, 5) == law.exact(n, 5)


def test_a_law_for_sums_is_stated_only_where_it_is_enumerated() -> None:
    stated = {
        type(scheme).name
        for scheme in SCHEMES.values()
        if isinstance(decoder := scheme.estimator(), Estimator) and decoder.law is not None and decoder.law.joint
    }
    assert stated == {*ENUMERATED, *HASHED}


@pytest.mark.parametrize("name", ["TLH", "HR", "AGR", "FLH"])
def test_sums_without_a_law_are_refused_with_the_reason(name: str) -> None:
    made = plausibly.make(name, epsilon=1, domain_size=5).simulate([9] * 5, SeededRandom(1)).estimate()
    with pytest.raises(StateError, match="needs the covariance of every two items, and this scheme has no law for it"):
        made.total([0, 1])


def test_sums_of_estimates_that_were_changed_or_selected_are_refused() -> None:
    made = plausibly.make("OUE", epsilon=1, domain_size=5).simulate([9] * 5, SeededRandom(1)).estimate()
    with pytest.raises(StateError, match="no law has the variance of sums after norm-sub"):
        made.postprocess("norm-sub").total()
    with pytest.raises(StateError, match="got selected ones; add up the estimates before top"):
        made.top(2).total()
    for items in ([], [1, 1]):
        with pytest.raises(plausibly.ParameterError, match="each once"):
            made.total(items)
    twice = plausibly.make("OUE", epsilon=1, domain_size=5).simulate([9] * 5, SeededRandom(1)).estimate([1, 1])
    with pytest.raises(plausibly.ParameterError, match="each once"):
        twice.total()
    with pytest.raises(plausibly.DomainError, match="expected one of the 5 items of these estimates, got another"):
        made.total([1, 7])


def test_the_sum_of_all_items_is_certain_if_every_report_names_one() -> None:
    made = plausibly.make("DE", epsilon=1, domain_size=6).simulate([100, 0, 5, 5, 5, 5], SeededRandom(1)).estimate()
    total = made.total()
    assert total.value == pytest.approx(120)
    assert total.variance == pytest.approx(0, abs=1e-6)
    assert total.item == "total of 6 items"
    assert made.total([3]).variance == pytest.approx(made[3].variance)


@pytest.mark.full
@pytest.mark.parametrize("name", ["OLH", "SS", "DE"])
def test_sums_scatter_as_their_law_says(name: str) -> None:
    # The measured variance of 400 runs has a relative standard error of 7.1 %. False alarm: five of them, below 1e-6.
    scheme, counts = plausibly.make(name, epsilon=1, domain_size=8), [300, 100, 200, 50, 0, 50, 200, 100]
    runs = [scheme.simulate(counts, SeededRandom(seed)).estimate().values[:3].sum() for seed in range(400)]
    expected = law_of(scheme).of_total(3).at(1000, 600)
    assert abs(np.mean((np.array(runs) - 600) ** 2) / expected - 1) < 5 * (2 / 400) ** 0.5
