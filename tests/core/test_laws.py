"""Laws of estimates: exact values, decoders without a law, and counts of items that share cells."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from plausibly import Integers, StateError, audit, make
from plausibly.certify.moments import Moments, moments
from plausibly.core.history import Applied, decoding
from plausibly.core.laws import CountMean, Estimator, VarianceLaw, law_of, pure
from plausibly.core.scheme import Scheme
from plausibly.oracles.direct import DE
from plausibly.planner.prediction import Prediction

LAW = VarianceLaw(Fraction(3, 7), Fraction(-1, 5))
HASHED = VarianceLaw(
    Fraction(3, 7),
    Fraction(-1, 5),
    collision=Fraction(1, 9),
    per_pair=Fraction(1, 8),
    per_fellow=Fraction(1, 7),
    covariance=(Fraction(-1, 3), Fraction(1, 4)),
)


class Lawless(DE):
    """Direct encoding that does not know its variance."""

    def estimator(self) -> Estimator:
        known = super().estimator()
        return Estimator(known.scale, known.offset, None, known.scores)


def lawless(size: int = 5) -> Scheme:
    return Lawless(epsilon=Fraction(1), domain=Integers(size))


# --- laws ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [LAW, HASHED])
def test_a_law_in_floating_point_is_the_exact_one(law: VarianceLaw) -> None:
    for n, f in ((1, 0), (1, 1), (20, 3)):
        f2 = f * f + n - f
        assert law.at(n, f, f2=f2) == pytest.approx(float(law.exact(n, f, f2=f2)))
    found = law.at(20, np.array([0, 3]), f2=100)
    assert found.tolist() == pytest.approx([float(law.exact(20, f, f2=100)) for f in (0, 3)])


def test_in_a_crowd_of_one_user_nothing_collides() -> None:
    assert HASHED.of_one(2, 2) == Fraction(3, 7) - Fraction(1, 5)
    assert HASHED.of_one(2, 3) == Fraction(3, 7)


def test_most_laws_depend_on_nothing_but_counts() -> None:
    assert HASHED.averaged is HASHED
    assert HASHED.beyond_average(1, 2) == 0
    assert HASHED.context_of(np.ones(4)) == {}
    assert HASHED.caveat == ""


def test_the_coins_alone_do_not_collide() -> None:
    coins = HASHED.of_coins
    assert coins.exact(20, 3) == LAW.exact(20, 3)
    assert coins.covariance == HASHED.covariance


# --- decoders without a law ------------------------------------------------------------------------------------------


def test_estimates_without_a_law_have_no_variance() -> None:
    estimates = lawless().simulate([50, 30, 10, 5, 5]).estimate()
    assert estimates.variance is None
    with pytest.raises(StateError, match="no variance"):
        estimates.interval()


def test_who_needs_a_law_says_that_there_is_none() -> None:
    said = r"this decoder has no variance in closed form; a simulation shows how far its estimates scatter"
    with pytest.raises(StateError, match=said):
        lawless().variance(100)
    with pytest.raises(StateError, match=said):
        Prediction(lawless(), 1.1).variance(100)
    decoder = pure(Fraction(3, 4), Fraction(1, 4), lambda cells, n, codes: cells)
    known = law_of(decoder)
    assert known is decoder.law
    unknown = Estimator(
        decoder.scale, decoder.offset, None, decoder.scores, history=(decoding("guessing"), Applied("x"))
    )
    with pytest.raises(StateError, match="guessing and x has no variance in closed form"):
        law_of(unknown)


def test_planning_asks_whether_there_is_a_law() -> None:
    assert not lawless().linear
    assert make("DE", epsilon=1, domain_size=5).linear


def test_the_audit_holds_without_a_law_and_says_nothing_of_the_variance() -> None:
    assert moments(lawless()) == Moments(5, unbiased=True, variance=None, exact=True)
    certificate = audit(lawless())
    assert certificate.holds
    assert certificate.variance_exact is None
    assert "variance  not stated: its estimates have no variance law" in str(certificate)


@pytest.mark.parametrize("kind", ["CM", "CS"])
def test_a_sketch_over_an_oracle_without_a_law_has_none_either(kind: str) -> None:
    sketch = make(kind, oracle=lawless(8), rows=3, domain_size=20)
    tally = sketch.simulate(np.arange(20))
    for combine in ("mean", "median", "min", "peel"):
        assert sketch.estimator(combine=combine).law is None
        assert tally.estimate(combine=combine).variance is None
    with pytest.raises(StateError, match="no variance in closed form"):
        sketch.variance(100)


# --- counts of items that share cells --------------------------------------------------------------------------------


@pytest.mark.parametrize("cells", [2, 3, 16])
def test_count_mean_is_unbiased_over_all_hash_functions(cells: int) -> None:
    # Item 0 has 5 users, items 1 and 2 have 3 and 4; hash functions are all maps from three items to the cells.
    counts, count_mean, total = (5, 3, 4), CountMean(cells), Fraction(0)
    for places in product(range(cells), repeat=3):
        counted = sum(count for count, place in zip(counts, places, strict=True) if place == places[0])
        total += (counted - 12 * count_mean.offset) * count_mean.scale
    assert total == 5 * cells**3


def test_count_mean_debiases_in_floating_point_as_in_rationals() -> None:
    count_mean, counted = CountMean(7), np.array([[1.0, 2.0], [30.0, -4.0]])
    n = np.array([[10], [20]])
    for (i, j), count in np.ndenumerate(counted):
        exact = (Fraction(count) - int(n[i, 0]) * count_mean.offset) * count_mean.scale
        assert count_mean.counts(counted, n)[i, j] == pytest.approx(float(exact))


def test_scores_are_decoded_at_once() -> None:
    scale, offset = CountMean(7).decoded(Fraction(5, 2), Fraction(1, 3))
    for score, n in ((0, 1), (4, 9)):
        cell = (score - n * Fraction(1, 3)) * Fraction(5, 2)
        item = (cell - n * CountMean(7).offset) * CountMean(7).scale
        assert (score - n * offset) * scale == item


def test_a_report_contributes_to_an_item_what_it_adds_to_its_cell_less_the_others() -> None:
    assert CountMean(5).contribution((Fraction(-1, 2), Fraction(2))) == (Fraction(-7, 8), Fraction(9, 4))


@pytest.mark.parametrize("cells", [2, 5])
def test_the_law_of_count_mean_sums_over_all_hash_functions(cells: int) -> None:
    # All users share one hash function. Variance of the estimate of item 0: mean noise, and the spread of collisions.
    counts, count_mean = (2, 3, 1), CountMean(cells)
    noise = spread = Fraction(0)
    for places in product(range(cells), repeat=3):
        counted = sum(count for count, place in zip(counts, places, strict=True) if place == places[0])
        noise += LAW.exact(6, counted) * count_mean.scale**2
        spread += ((counted - 6 * count_mean.offset) * count_mean.scale - 2) ** 2
    stated = count_mean.law(LAW, Fraction(1)).exact(6, 2, f2=4 + 9 + 1)
    assert stated == (noise + spread) / cells**3
