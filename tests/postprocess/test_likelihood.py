"""The most likely counts: equal to expectation maximization over a dense matrix, and better than where they start."""

from __future__ import annotations

import doctest
from itertools import islice

import numpy as np
import pytest

import plausibly
from drawn import thinned
from plausibly import Keys, Ordered, ParameterError, ReportError, Scheme, SeededRandom, StateError, make
from plausibly.core.supported import TwoLevels
from plausibly.postprocess import ibu, likelihood, mle
from postprocess.literal import log_likelihood, more_likely

SCHEMES = {
    f"{name}-{kind}": scheme
    for name, entry in plausibly.CATALOG.items()
    if issubclass(entry, TwoLevels)
    for kind, scheme in entry.examples().items()
    if scheme.domain.size is not None
}
each_scheme = pytest.mark.parametrize("scheme", thinned(list(SCHEMES.values())), ids=thinned(list(SCHEMES)))


def reports_of(scheme: Scheme, n: int = 150) -> np.ndarray:
    values = np.arange(n, dtype=np.uint64) ** 2 % np.uint64(min(5, scheme.size))
    return scheme.privatize_encoded(values, SeededRandom(11))


def likelihoods_of(scheme: Scheme, reports: np.ndarray) -> list[list[float]]:
    """The dense matrix of exact likelihoods, rounded."""
    return [[float(scheme.likelihood(report, item)) for item in range(scheme.size)] for report in reports]


def test_the_usual_oracles_have_two_levels_of_likelihood() -> None:
    assert {name.partition("-")[0] for name in SCHEMES} >= {"TLH", "HM", "OLH", "BLH", "DE", "SS", "OUE", "SUE"}


@each_scheme
def test_a_report_supports_the_items_under_which_it_is_most_likely(scheme: Scheme) -> None:
    ratio = scheme.randomizer.worst_ratio()
    for report in reports_of(scheme, 40):
        exact = [scheme.likelihood(report, item) for item in range(scheme.size)]
        supported = scheme.supported(np.array([report], dtype=scheme.report_dtype))  # type: ignore[attr-defined]
        places = np.flatnonzero(supported.counts.reshape(-1))
        masses = [supported.masses(row).reshape(-1)[places].sum() for row in np.eye(scheme.size)]
        assert set(np.round(masses, 12)) <= {0.0, 1.0}
        gathered = supported.gathered(supported.counts)
        np.testing.assert_allclose(gathered, masses, atol=1e-12)
        levels = {
            round(mass): {each for each, m in zip(exact, masses, strict=True) if round(m) == round(mass)}
            for mass in masses
        }
        assert all(len(level) == 1 for level in levels.values())
        if len(levels) == 2:
            assert levels[1].pop() == ratio * levels[0].pop()


@each_scheme
def test_steps_are_those_of_the_dense_matrix_and_raise_the_likelihood(scheme: Scheme) -> None:
    reports = reports_of(scheme)
    dense = likelihoods_of(scheme, reports)
    shares = np.linspace(1, 2, scheme.size) / (1.5 * scheme.size)
    slow, before = shares.tolist(), log_likelihood(dense, shares.tolist())
    for fast in islice(likelihood.climbing(scheme, reports, shares), 8):
        slow = more_likely(dense, slow)
        np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-12)
        now = log_likelihood(dense, slow)
        assert now > before
        before = now


def test_starts_of_both_are_those_of_their_definition() -> None:
    scheme = SCHEMES["TLH-windowed"]
    reports = reports_of(scheme)
    dense = likelihoods_of(scheme, reports)
    tally = scheme.accumulator()
    tally.add(reports)
    near = tally.estimate().postprocess("norm-sub").values / 150
    one = more_likely(dense, (0.9 * near + 0.1 / scheme.size).tolist())
    np.testing.assert_allclose(mle(scheme, reports, steps=1).values / 150, one, rtol=1e-9)
    two = more_likely(dense, more_likely(dense, [1 / scheme.size] * scheme.size))
    np.testing.assert_allclose(ibu(scheme, reports, steps=2).values / 150, two, rtol=1e-9)


@each_scheme
def test_counts_are_at_least_0_and_sum_to_n(scheme: Scheme) -> None:
    found = mle(scheme, reports_of(scheme)).values
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(150, rel=1e-9)


@pytest.mark.parametrize(
    "name", ["DE-labels", *(pytest.param(name, marks=pytest.mark.full) for name in ("TLH-windowed", "HM-integers"))]
)
def test_many_steps_reach_the_most_likely_counts_from_both_starts(name: str) -> None:
    # The log-likelihood is concave: no shares are likelier by more than n times the largest relative growth of a step.
    scheme = SCHEMES[name]
    reports = reports_of(scheme)
    dense = likelihoods_of(scheme, reports)
    for fit in (mle, ibu):
        shares = (fit(scheme, reports, steps=5000).values / 150).tolist()
        growth = [now / before for now, before in zip(more_likely(dense, shares), shares, strict=True) if before > 0]
        assert 150 * (max(growth) - 1) < 0.05


def test_no_step_and_no_fit_has_an_interval_of_its_own() -> None:
    scheme = make("TLH", epsilon=1, domain=Ordered(1, 12))
    reports = reports_of(scheme)
    tally = scheme.accumulator()
    tally.add(reports)
    unbiased = tally.estimate()
    processed = [unbiased.postprocess(name) for name in plausibly.POSTPROCESS]
    for made in [*processed, mle(scheme, reports), ibu(scheme, reports)]:
        if np.array_equal(made.values, unbiased.values):
            assert np.array_equal(made.interval(), unbiased.interval())
            continue
        for ask in (made.interval, made.known_variance, made.total, lambda made=made: made.top(3).interval()):
            with pytest.raises(StateError, match="no "):
                ask()
        if str(made.history[-1]) != "monotone":
            with pytest.raises(StateError, match="no law here after"):
                made.quantiles()


def test_the_history_names_the_fit_and_its_steps_if_unusual() -> None:
    scheme = SCHEMES["DE-integers"]
    reports = reports_of(scheme)
    assert [str(step) for step in mle(scheme, reports).history] == ["mle"]
    assert [str(step) for step in ibu(scheme, reports, steps=7).history] == ["ibu steps=7"]
    assert "No intervals: mle leaves no variance." in mle(scheme, reports).remarks()


def test_no_reports_have_no_counts() -> None:
    for scheme in SCHEMES.values():
        assert not mle(scheme, reports_of(scheme)[:0]).values.any()


def test_what_has_no_fit_is_refused() -> None:
    scheme = SCHEMES["DE-integers"]
    reports = reports_of(scheme)
    with pytest.raises(ParameterError, match="such as TLH, HM, OLH, DE, SS or OUE, got HR"):
        mle(make("HR", epsilon=1, domain_size=8), reports)
    with pytest.raises(ParameterError, match="expected a domain that can be listed, got keys"):
        ibu(make("OLH", epsilon=1, domain=Keys()), reports)
    with pytest.raises(ParameterError, match="steps: expected 1 to"):
        mle(scheme, reports, steps=0)
    with pytest.raises(ReportError, match="expected"):
        mle(make("SS", epsilon=1, domain_size=64), reports)
    broken = reports.copy()
    broken["item"][3] = 250
    with pytest.raises(ReportError, match="report 3"):
        mle(scheme, broken)


def test_the_example_runs() -> None:
    assert doctest.testmod(likelihood).failed == 0


def crowd(kind: str, d: int = 1024, n: int = 100_000) -> np.ndarray:
    """Zipf counts of d items, or 64 items with equal counts."""
    shares = 1 / np.arange(1, d + 1) if kind == "zipf" else (np.arange(d) < 64) / 64
    counts = np.floor(n * shares / shares.sum()).astype(np.int64)
    counts[0] += n - counts.sum()
    return counts


def errors(name: str, kind: str, epsilon: int, runs: int) -> np.ndarray:
    """Mean squared error per user in each run: of norm-sub, of mle and of ibu."""
    counts, scheme = crowd(kind), make(name, epsilon=epsilon, domain_size=1024)
    found = []
    for run in range(runs):
        reports = scheme.privatize(np.repeat(np.arange(1024), counts), SeededRandom(100 + run))
        tally = scheme.accumulator()
        tally.add(reports)
        three = tally.estimate().postprocess("norm-sub"), mle(scheme, reports), ibu(scheme, reports)
        found.append([np.mean((each.values - counts) ** 2) / counts.sum() for each in three])
    return np.array(found)


@pytest.mark.full
def test_fits_of_skewed_data_beat_norm_sub_and_equal_shares_are_a_bad_start() -> None:
    # With other seeds: the ratio of mle in 12 runs was 0.90 to 0.945, with mean 0.925 and standard deviation 0.014.
    # The mean of four is more than six standard errors inside the band. The ratio of ibu was never below 3.7.
    near, fitted, even = errors("TLH", "zipf", 1, 4).T
    assert 0.85 < np.mean(fitted / near) < 0.97
    assert (even > 3 * near).all()
