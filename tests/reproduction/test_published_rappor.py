"""The published RAPPOR: its client protects nobody, so nothing can collect with it; its regression is the program's."""

from __future__ import annotations

from math import exp
from types import ModuleType

import numpy as np
import numpy.typing as npt
import pytest

import plausibly
from plausibly import SeededRandom, make
from plausibly.core.errors import PlausiblyError
from plausibly.experiments import MEASURES, SCHEMES, Cell, measure, view
from reproduction import published_rappor
from reproduction.findings import rappor
from reproduction.published_rappor import (
    CLEARED,
    NOT_PRIVATE,
    counts,
    drawn_filters,
    estimated_bits,
    flip_rate,
    selected,
)

pytestmark = pytest.mark.full

SMALL = {"bits": 16, "hashes": 2, "cohorts": 4}


def falling(items: int, most: int) -> npt.NDArray[np.int64]:
    """Counts that fall like those of a Zipf law."""
    return most // np.arange(1, items + 1)


def test_the_published_client_cannot_be_had() -> None:
    assert "not private" in NOT_PRIVATE
    for name in (NOT_PRIVATE, CLEARED):
        assert name in MEASURES
        with pytest.raises(plausibly.StateError, match="only as a simulation; to collect with RAPPOR, use plausibly"):
            Cell(name, SMALL, d=10).make()
        with pytest.raises(plausibly.StateError, match=name):
            SCHEMES[name](epsilon=3, domain_size=10, hash_seed=0)
        with pytest.raises(PlausiblyError, match="unknown scheme"):
            make(name, epsilon=3, domain_size=10)
        with pytest.raises(PlausiblyError):
            plausibly.from_json(f'{{"scheme": "{name}", "epsilon": "3", "domain": 10}}')


def test_the_module_has_no_scheme_and_makes_no_report() -> None:
    own = {name: value for name, value in vars(published_rappor).items() if not isinstance(value, ModuleType)}
    assert not [name for name, value in own.items() if isinstance(value, type) and issubclass(value, plausibly.Scheme)]
    # What comes out of the simulated crowd has no axis for its users.
    filters = drawn_filters(30, rng=np.random.default_rng(0), **SMALL)
    bits = estimated_bits(filters, np.full(30, 100), 0.5, np.random.default_rng(1), clears=False)
    assert bits.shape == (4 * 16,)


def test_filters_have_the_bits_of_their_functions_once() -> None:
    filters = drawn_filters(500, rng=np.random.default_rng(3), **SMALL)
    design = filters.design.toarray()
    assert set(np.unique(design)) == {0, 1}
    own = design.reshape(4, 16, 500).sum(axis=1)
    assert set(np.unique(own)) == {1, 2}  # both functions may choose the same bit, of 16
    assert (own == 1).mean() == pytest.approx(1 / 16, abs=0.02)  # 2,000 filters, more than 3 standard errors


@pytest.mark.parametrize("clears", [True, False])
def test_bits_that_are_never_cleared_are_counted_too_high(clears: bool) -> None:
    truth, rng, f = falling(50, 90_000), np.random.default_rng(5), flip_rate(3, 2)
    filters = drawn_filters(50, rng=rng, **SMALL)
    bits = np.mean([estimated_bits(filters, truth, f, rng, clears=clears) for _ in range(20)], axis=0)
    factor = 1 if clears else (1 - f / 2) / (1 - f)
    # Each is known to about 100 users; a bit has 12,500 users and more.
    np.testing.assert_allclose(bits, filters.design @ truth / 4 * factor, atol=700)


def test_the_correct_client_has_the_error_of_our_own() -> None:
    # Both have the same law: the mean and spread of the estimated bits of one cohort, from BLOOM's reports.
    truth, f = np.array([6000, 3000, 1000]), flip_rate(2, 1)
    ours = make("BLOOM", epsilon=2, bits=4, hashes=1, cohorts=1, domain_size=3)
    keep = ours.keep / 2**64  # type: ignore[attr-defined]
    assert 1 - f / 2 == pytest.approx(keep)
    assert f == pytest.approx(2 / (1 + exp(1)))
    sums = np.array([ours.simulate(truth, SeededRandom(seed)).state[0] for seed in range(200)])
    spread = ((sums - f / 2 * 10_000) / (1 - f)).std(axis=0, ddof=1).mean()
    filters, rng = drawn_filters(3, 4, 1, 1, np.random.default_rng(8)), np.random.default_rng(9)
    bits = np.array([estimated_bits(filters, truth, f, rng, clears=True) for _ in range(200)])
    np.testing.assert_allclose(bits.mean(axis=0), filters.design @ truth, atol=5 * spread / 200**0.5)
    assert bits.std(axis=0, ddof=1).mean() == pytest.approx(spread, rel=0.12)  # each is known to about 2.5 %


# Without an L1 part, ElasticNet cannot tell that it has converged.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("alpha", [0, 0.001, 0.01, 1])
def test_the_regression_is_that_of_the_program(alpha: float) -> None:
    # The program's calls: LinearRegression without a penalty, else ElasticNet without an L1 part.
    from sklearn.linear_model import ElasticNet, Lasso, LinearRegression

    truth, rng = falling(1500, 13_000), np.random.default_rng(2)
    filters = drawn_filters(1500, rng=rng, **SMALL)
    bits = estimated_bits(filters, truth, flip_rate(3, 2), rng, clears=False)
    items = np.flatnonzero(Lasso(alpha=0.8, positive=True).fit(filters.design.toarray(), bits).coef_)
    assert selected(filters, bits).tolist() == items.tolist()
    model = (
        ElasticNet(alpha=alpha, l1_ratio=0, positive=True, fit_intercept=False, max_iter=10_000)
        if alpha
        else LinearRegression(positive=True, fit_intercept=False)
    )
    expected = np.zeros(1500)
    expected[items] = model.fit(filters.design.toarray()[:, items], bits).coef_ * 4
    np.testing.assert_allclose(counts(filters, bits, items, alpha), expected, atol=0.001 * expected.max())


def test_small_domains_are_not_narrowed_and_an_isolated_item_shrinks_as_told() -> None:
    filters = drawn_filters(1, 128, 1, 8, np.random.default_rng(0))
    assert selected(filters, np.zeros(8 * 128)).tolist() == [0]
    alone = counts(filters, filters.design @ np.array([100.0]), np.array([0]), 0.005)
    assert alone == pytest.approx([8 * 100 * 8 / (8 + 8 * 128 * 0.005)], rel=1e-3)


def test_the_finding_explains_figure_6_by_the_right_factors() -> None:
    f = flip_rate(3, 2)
    factors = [f"{(1 - f / 2) / (1 - f):.1f}", f"{f:.2f}", f"{16 / (16 + 8 * 128 * 0.005):.2f}"]
    assert factors == ["1.9", "0.64", "0.76"]
    assert all(f" {factor}" in rappor._WHY for factor in factors)


def test_cells_are_measured_alike_in_every_process() -> None:
    views = [view(alpha=0), view(alpha=0.01)]
    cell = Cell(NOT_PRIVATE, SMALL, data="uniform", n=1000, d=40)
    first, again = measure(cell, views), measure(cell, views)
    assert first == again
    assert first[1].keys() == {"alpha=0", "alpha=0.01"}
    assert first[1]["alpha=0"].keys() >= {"mse", "mse_clipped", "k_mse"}
    assert measure(Cell(CLEARED, SMALL, data="uniform", n=1000, d=40), views) != first
