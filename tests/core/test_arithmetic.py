"""Estimates of different crowds: sums, differences, ratios, combinations; which pairs are refused, and why."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy, deepcopy
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import plausibly
from plausibly import Derived, Estimates, ParameterError, SeededRandom, Shares, StateError, combine
from plausibly.core.basis import Basis
from plausibly.core.laws import VarianceLaw, of_ratio, of_sum

CROWD = [300, 200, 100, 400]


def estimates(seed: int = 1, name: str = "OUE", counts: Any = CROWD, **given: Any) -> Estimates:
    scheme = plausibly.make(name, **{"epsilon": 1, "domain": list("abcd")} | given)
    return scheme.simulate(counts, SeededRandom(seed)).estimate()


def by_hand(values: Any, variance: Any, n: int = 1000) -> Estimates:
    return Estimates(np.arange(len(values)), np.asarray(values, float), np.asarray(variance, float), n, complete=False)


# --- sums and differences --------------------------------------------------------------------------------------------


def test_a_sum_is_the_estimate_of_both_crowds_together() -> None:
    scheme = plausibly.make("OUE", epsilon=1, domain=list("abcd"))
    one, other = (scheme.simulate(CROWD, SeededRandom(seed)) for seed in (1, 2))
    summed = one.estimate() + other.estimate()
    one.merge(other)
    together = one.estimate()
    np.testing.assert_allclose(summed.values, together.values)
    np.testing.assert_allclose(summed.variance, together.variance)
    assert (summed.n, summed.complete) == (2000, True)
    assert summed.total().variance == pytest.approx(together.total().variance)


def test_a_difference_has_the_variances_of_both() -> None:
    one, other = estimates(1), estimates(2, epsilon=2)
    found = one - other
    assert isinstance(found, Derived)
    assert found.values.tolist() == (one.values - other.values).tolist()
    for place, item in enumerate("abcd"):
        assert found.variance[place] == one[item].variance + other[item].variance
    assert not found.approximate
    assert repr(found).startswith("<differences of counts of 4 items>")


def test_items_are_matched_by_name() -> None:
    scheme = plausibly.make("OUE", epsilon=1, domain=list("abcd"))
    tally = scheme.simulate(CROWD, SeededRandom(2))
    found = estimates(1) - tally.estimate(["d", "c", "b", "a"])
    assert found.values.tolist() == (estimates(1) - tally.estimate()).values.tolist()
    with pytest.raises(ParameterError, match="expected estimates of the same items, got 4 and 2 that are not"):
        _ = estimates(1) - tally.estimate(["a", "b"])


def test_shares_compare_crowds_of_different_sizes() -> None:
    small, large = estimates(1), estimates(2, counts=[3000, 2000, 1000, 4000])
    found = large.shares() - small.shares()
    np.testing.assert_allclose(found.values, large.fractions - small.fractions)
    np.testing.assert_allclose(found.variance, large.variance / 10_000**2 + small.variance / 1000**2)
    sampled = large.shares("population") - small.shares("population")
    p, q = large.fractions.clip(0, 1), small.fractions.clip(0, 1)
    np.testing.assert_allclose(sampled.variance - found.variance, p * (1 - p) / 10_000 + q * (1 - q) / 1000)
    with pytest.raises(ParameterError, match="got shares and shares of the population"):
        _ = large.shares() - small.shares("population")
    with pytest.raises(ParameterError, match='of: expected "crowd" or "population"'):
        large.shares("users")  # type: ignore[arg-type]


def test_estimates_of_the_same_reports_are_refused() -> None:
    tally = plausibly.make("OUE", epsilon=1, domain=list("abcd")).simulate(CROWD, SeededRandom(1))
    one = tally.estimate()
    for other in (one, tally.estimate(), one.postprocess("norm-sub"), one + estimates(2)):
        for compute in (lambda a, b: a - b, lambda a, b: a + b, lambda a, b: a / b, lambda a, b: combine([a, b])):
            with pytest.raises(StateError, match="expected estimates from different reports"):
                compute(one, other)


def test_the_same_reports_are_known_after_copying_and_merging() -> None:
    scheme = plausibly.make("OUE", epsilon=1, domain=list("abcd"))
    part, rest = (scheme.simulate(CROWD, SeededRandom(seed)) for seed in (1, 2))
    empty, whole = scheme.accumulator(), scheme.accumulator()
    whole.merge(empty)
    whole.merge(part)
    whole.merge(rest)
    twice = scheme.accumulator()
    twice.merge(whole)
    for other in (copy(part), deepcopy(part), whole, copy(whole), twice):
        with pytest.raises(StateError, match="expected estimates from different reports"):
            _ = part.estimate() + other.estimate()
    assert len(part.estimate() + rest.estimate()) == 4
    rest.merge(empty)
    part.merge(empty)
    fresh = copy(empty)
    fresh.merge(scheme.simulate(CROWD, SeededRandom(3)))
    assert len(part.estimate() + rest.estimate() + fresh.estimate()) == 4


def test_bytes_do_not_say_which_reports_they_came_from() -> None:
    # As docs/changes.md says; equal states of two small crowds would otherwise be taken for one.
    tally = plausibly.make("OUE", epsilon=1, domain=list("abcd")).simulate(CROWD, SeededRandom(1))
    restored = type(tally).from_bytes(tally.scheme, tally.to_bytes())
    assert (restored.estimate() - tally.estimate()).values.tolist() == [0.0] * 4


def test_selected_items_are_refused() -> None:
    for compute in (lambda a, b: a - b, lambda a, b: a + b, lambda a, b: a.shares() / b.shares()):
        with pytest.raises(StateError, match="got items that were selected for large estimates"):
            compute(estimates(1).top(2), estimates(2).top(2))


def test_other_operands_are_refused() -> None:
    one = estimates(1)
    for wrong in (3, one.shares(), None):
        with pytest.raises(TypeError, match="unsupported operand"):
            _ = one - wrong  # type: ignore[operator]


def test_without_a_variance_there_is_a_number_and_no_interval() -> None:
    found = estimates(1).postprocess("norm-sub") - estimates(2)
    assert found.variance is None
    with pytest.raises(StateError, match="no variance"):
        found.interval()
    assert list(found.columns()) == ["difference"]


# --- public hash functions that both crowds share --------------------------------------------------------------------


def test_the_law_of_a_sum_lets_shared_errors_be_equal() -> None:
    # Four and nine of which one and four are shared: the worst case is (3 + 5) + (1 + 2)^2.
    assert of_sum([np.array([4.0]), np.array([9.0])], [np.array([1.0]), np.array([4.0])]).tolist() == [17.0]
    assert of_sum([np.array([4.0]), np.array([9.0])], [np.zeros(1), np.zeros(1)]).tolist() == [13.0]


def test_crowds_with_the_same_hash_functions_share_their_errors() -> None:
    scheme = plausibly.make("FLH", epsilon=3, domain_size=50, hashes=4, hash_seed=7)
    counts = [5000] + [100] * 49
    one, other = (scheme.simulate(counts, SeededRandom(seed)) for seed in (1, 2))
    summed = one.estimate() + other.estimate()
    apart = plausibly.make("FLH", epsilon=3, domain_size=50, hashes=4, hash_seed=8).simulate(counts, SeededRandom(3))
    independent = one.estimate() + apart.estimate()
    parts = [tally.estimate() for tally in (one, other, apart)]
    law = parts[0].basis.law
    assert law is not None
    shared = [law.shared(part.variance, part.n, np.clip(part.values, 0, part.n)) for part in parts[:2]]
    np.testing.assert_allclose(summed.variance, of_sum([part.variance for part in parts[:2]], shared))
    np.testing.assert_allclose(independent.variance, parts[0].variance + parts[2].variance)
    assert (summed.variance > independent.variance).all()
    # At the true counts, what the law says of the sum of two equal crowds is what it says of the crowd of all of them.
    n, f, f2 = sum(counts), np.array(counts, dtype=np.float64), sum(count * count for count in counts)
    true = law.at(n, f, f2=f2)
    together = of_sum([true, true], [law.shared(true, n, f)] * 2)
    np.testing.assert_allclose(together, law.at(2 * n, 2 * f, f2=4 * f2), rtol=1e-12)
    # A decoder without a law: all of the variance may be shared.
    unknown = Basis(hash_seeds=frozenset([7]))
    assert unknown.shared_error(unknown, np.array([4.0])).tolist() == [4.0]
    assert unknown.shared_error(Basis(hash_seeds=frozenset([8])), np.array([4.0])).tolist() == [0.0]


def test_what_crowds_share_bounds_the_covariance_of_their_collisions() -> None:
    # A pair of users of one item other than x, one of each crowd, adds ``collision`` to the covariance: also where no
    # two users of the same crowd have the same item.
    law, draw = VarianceLaw(Fraction(3), Fraction(1), collision=Fraction(1, 7)), np.random.default_rng(3)
    for most in (2, 3, 20):
        for _ in range(50):
            crowds = draw.integers(0, most, (2, 6))
            parts = []
            for counts in crowds:
                n, f = int(counts.sum()), int(counts[0])
                variance = float(law.exact(n, f, f2=int((counts**2).sum())))
                parts.append(law.shared(np.array([variance]), n, np.array([float(f)]))[0])
            covariance = float(law.collision) * int((crowds[0] * crowds[1])[1:].sum())
            assert covariance <= (parts[0] * parts[1]) ** 0.5 + 1e-9


def test_sketches_share_collisions_and_no_more() -> None:
    oracle = plausibly.make("TLH", epsilon=1, domain_size=256)
    scheme = plausibly.make("CM", oracle=oracle, rows=4, domain=plausibly.Keys())
    one, other = (scheme.simulate({"a": 900, "b": 100}, SeededRandom(seed)).estimate(["a", "c"]) for seed in (1, 2))
    assert one.variance is not None
    law = one.basis.law
    assert law is not None
    shared = [law.shared(part.variance, 1000, np.clip(part.values, 0, 1000)) for part in (one, other)]
    np.testing.assert_allclose((one - other).variance, of_sum([one.variance, other.variance], shared))
    assert ((one - other).variance < (np.sqrt(one.variance) + np.sqrt(other.variance)) ** 2).all()
    assert ((one - other).variance > one.variance + other.variance).all()
    with pytest.raises(StateError, match="this scheme has no law for it"):
        one.total()


def test_the_seeds_of_a_scheme_are_those_of_its_components() -> None:
    oracle = plausibly.make("FLH", epsilon=1, domain_size=16, hash_seed=5)
    sketch = plausibly.make("CM", oracle=oracle, rows=4, domain=plausibly.Keys(), hash_seed=6)
    assert sketch.hash_seeds == {5, 6}
    assert plausibly.make("OLH", epsilon=1, domain_size=16).hash_seeds == frozenset()


# --- ratios ----------------------------------------------------------------------------------------------------------


def test_a_ratio_has_the_variance_of_the_delta_method_and_says_so() -> None:
    one, other = by_hand([50.0, 50.0], [4.0, 4.0]), by_hand([100.0, 3.0], [9.0, 9.0])
    found = one / other
    assert found.values.tolist() == [0.5, 50 / 3]
    assert found.variance[0] == pytest.approx(4 / 100**2 + 50**2 * 9 / 100**4)
    assert found.variance[1] == np.inf, "the denominator may be 0"
    assert found.interval()[0][1] == -np.inf
    assert found.approximate
    assert "approximate" in repr(found)
    assert "approximate" in found._repr_html_()
    zero = by_hand([1.0], [1.0]) / by_hand([0.0], [1.0])
    assert zero.variance.tolist() == [np.inf]


def test_the_delta_method_is_the_slope_of_the_ratio() -> None:
    one, other, step = 50.0, 100.0, 1e-4
    by_first = ((one + step) / other - (one - step) / other) / (2 * step)
    by_second = (one / (other + step) - one / (other - step)) / (2 * step)
    found = of_ratio(*map(np.array, ([one], [other])), (np.array([4.0]), np.array([9.0])), (np.zeros(1), np.zeros(1)))
    assert found[0] == pytest.approx(by_first**2 * 4 + by_second**2 * 9)


def test_intervals_of_ratios_cover_about_as_often_as_they_say() -> None:
    # 20,000 ratios, the denominator 8 standard errors from 0: 95 % up to one percent, beyond which chance, 0.15 % a
    # standard error, does not reach.
    noise = np.random.default_rng(5)
    one = by_hand(noise.normal(30, 5, 20_000), np.full(20_000, 25.0))
    other = by_hand(noise.normal(80, 10, 20_000), np.full(20_000, 100.0))
    low, high = (one / other).interval()
    assert abs(np.mean((low <= 30 / 80) & (high >= 30 / 80)) - 0.95) < 0.01


# --- combinations ----------------------------------------------------------------------------------------------------


def test_the_same_users_with_two_epsilons_are_weighted_by_inverse_variance() -> None:
    one, other = estimates(1), estimates(2, epsilon=2)
    found = combine([one, other])
    assert isinstance(found, Estimates)
    noise = [plausibly.make("OUE", epsilon=epsilon, domain=list("abcd")).variance(1000) for epsilon in (1, 2)]
    weight = noise[1] / sum(noise)
    np.testing.assert_allclose(found.values, weight * one.values + (1 - weight) * other.values)
    np.testing.assert_allclose(found.variance, weight**2 * one.variance + (1 - weight) ** 2 * other.variance)
    assert (found.variance < np.minimum(one.variance, other.variance)).all()
    assert (found.n, found.complete) == (1000, True)
    assert "combined from 2 collections" in repr(found)
    # For an item that nobody has, no other weights are better.
    best = weight**2 * noise[0] + (1 - weight) ** 2 * noise[1]
    assert all(best <= w**2 * noise[0] + (1 - w) ** 2 * noise[1] + 1e-9 for w in np.linspace(0, 1, 101))


def test_weights_do_not_depend_on_the_reports() -> None:
    def weight(seed: int, counts: list[int]) -> float:
        one, other = estimates(seed, counts=counts), estimates(seed + 1, epsilon=2, counts=counts)
        found = combine([one, other])
        return float(((found.values - other.values) / (one.values - other.values))[0])

    assert weight(1, CROWD) == pytest.approx(weight(5, [1000, 0, 0, 0]))


def test_own_weights_replace_the_inverse_variances() -> None:
    one, other = estimates(1), estimates(2, epsilon=2)
    found = combine([one, other], weights=[3, 1])
    np.testing.assert_allclose(found.values, 0.75 * one.values + 0.25 * other.values)
    for weights in ([1], [1, -1], [0, 0], [1, float("nan")]):
        with pytest.raises(ParameterError, match="weights: expected 2 numbers that are not negative"):
            combine([one, other], weights=weights)
    scaled = one.postprocess("norm-sub")
    with pytest.raises(StateError, match="expected estimates with a known law"):
        combine([scaled, other])
    assert combine([scaled, other], weights=[1, 1]).variance is None


def test_samples_of_one_population_are_combined_to_its_shares() -> None:
    one, other = estimates(1), estimates(2, epsilon=2, counts=[30, 20, 10, 40])
    with pytest.raises(StateError, match="expected the same users in every collection, got 100 reports and 1,000"):
        combine([one, other])
    found = combine([one, other], of="population")
    assert isinstance(found, Shares)
    noise = [
        plausibly.make("OUE", epsilon=epsilon, domain=list("abcd")).variance(n) / n**2
        for epsilon, n in ((1, 1000), (2, 100))
    ]
    weight = noise[1] / sum(noise)
    np.testing.assert_allclose(found.values, weight * one.fractions + (1 - weight) * other.fractions)
    p = found.values.clip(0, 1)
    expected = weight**2 * (one.variance / 1000**2 + p * (1 - p) / 1000)
    expected += (1 - weight) ** 2 * (other.variance / 100**2 + p * (1 - p) / 100)
    np.testing.assert_allclose(found.variance, expected)
    assert repr(found).startswith("<shares of the population of 4 items>")


@pytest.mark.full
def test_combined_shares_scatter_as_stated_around_the_population() -> None:
    # Both the users and the noise are random. 300 runs of 4 items: the mean squared standardized error is 1 up to five
    # standard errors of a mean of 300 (items of one run are dependent), 5 * sqrt(2 / 300). False alarm: below 1e-6.
    shares, draw = np.array([0.3, 0.2, 0.1, 0.4]), np.random.default_rng(11)
    errors = []
    for seed in range(300):
        parts = [
            estimates(2 * seed, counts=draw.multinomial(400, shares).tolist()),
            estimates(2 * seed + 1, epsilon=4, counts=draw.multinomial(800, shares).tolist()),
        ]
        found = combine(parts, of="population")
        errors.append((found.values - shares) ** 2 / found.variance)
    assert abs(np.mean(errors) - 1) < 5 * (2 / 300) ** 0.5


def test_what_cannot_be_combined_is_refused() -> None:
    one, other = estimates(1), estimates(2)
    for wrong in ([one], [], [one, 3], [one.shares(), other.shares()]):
        with pytest.raises(ParameterError, match="expected a list of at least two Estimates"):
            combine(wrong)  # type: ignore[arg-type]
    with pytest.raises(StateError, match="different reports"):
        combine([one, other, other])
    with pytest.raises(ParameterError, match='of: expected "crowd" or "population"'):
        combine([one, other], of="users")  # type: ignore[arg-type]
    empty = estimates(3, counts=[0, 0, 0, 0])
    with pytest.raises(StateError, match="expected reports behind every estimate"):
        combine([empty, estimates(4, counts=[0, 0, 0, 0])])


def false_alarms(found: Estimates) -> bool:
    assert found.significant is not None
    return bool((found.significant & (found.items.astype(int) != 0)).any())


@pytest.mark.full
@pytest.mark.parametrize("together", [lambda a, b: a + b, lambda a, b: combine([a, b])], ids=["+", "combine"])
def test_selection_from_computed_estimates_knows_how_skewed_the_noise_is(
    together: Callable[[Estimates, Estimates], Estimates],
) -> None:
    # By the normal law, 43 and 55 of these 60 collections had a significant item without holders. At most 5 % may: more
    # than 8 of 60 have a probability of 0.6 %.
    scheme, counts = plausibly.make("DE", epsilon=10, domain_size=1000), [5000] + [0] * 999
    wrong = 0
    for seed in range(60):
        one, other = (scheme.simulate(counts, SeededRandom(seed + start)).estimate() for start in (0, 1000))
        found = together(one, other).top(20)
        wrong += false_alarms(found)
        assert found.significant is not None
        assert found.significant[0]
    assert wrong <= 8


def test_what_a_report_adds_is_kept() -> None:
    one, other = estimates(1), estimates(2)
    assert one.ends is not None
    assert (one + other).ends == one.ends
    assert one.aligned(one.items[::-1]).ends == one.top(2).ends == one.ends
    assert combine([one, other]).ends == pytest.approx(one.ends)
    wider = estimates(3, epsilon=2)
    assert wider.ends is not None
    assert (one + wider).ends == (min(one.ends[0], wider.ends[0]), max(one.ends[1], wider.ends[1]))


def test_the_usual_decoder_by_its_name_is_the_usual_decoder() -> None:
    oracle = plausibly.make("TLH", epsilon=1, domain_size=256)
    tally = plausibly.make("CM", oracle=oracle, rows=4, domain=plausibly.Keys()).simulate({"a": 9}, SeededRandom(1))
    assert tally.estimate(["a"], combine="mean").ends == tally.estimate(["a"]).ends is not None
    assert tally.estimate(["a"], combine="median").ends is None
