"""SS against its slow twin, the law of its subsets, the oracles it must not be worse than, and its stated costs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import naive
import plausibly
from cases import in_turn
from oracles.comparing import GRID, assert_equals_twin, crowd, exp
from plausibly import SeededRandom, make
from plausibly.core.enumeration import output_law

EPSILONS = ("0.1", "0.5", "1", "2", "3", "4", "5", "8")


def total_variance(scheme: plausibly.Scheme) -> float:
    """The summed variance of all items, for one user."""
    return float(scheme.variance(1, 1) + (scheme.size - 1) * scheme.variance(1))


@in_turn(("epsilon", "size"), GRID)
def test_estimates_equal_the_slow_twin(epsilon: str, size: int) -> None:
    assert_equals_twin(make("SS", epsilon=epsilon, domain_size=size), crowd(size))


@pytest.mark.parametrize("subset_size", [1, 2, 8, 15, 16])
def test_any_given_subset_size_equals_the_slow_twin(subset_size: int) -> None:
    scheme = make("SS", epsilon=2, domain_size=17, subset_size=subset_size)
    assert scheme.w == subset_size
    assert_equals_twin(scheme, crowd(17))


@in_turn("epsilon", EPSILONS)
@in_turn("size", [2, 3, 4, 16, 29, 30, 100, 1024])
def test_the_default_is_found_by_counting_up(epsilon: str, size: int) -> None:
    assert make("SS", epsilon=epsilon, domain_size=size).w == naive.best_subset_size(exp(epsilon), size)


@pytest.mark.full
@in_turn("epsilon", EPSILONS)
@in_turn("size", [2, 3, 7, 16, 40])
def test_the_default_has_the_lowest_total_error(epsilon: str, size: int) -> None:
    chosen = make("SS", epsilon=epsilon, domain_size=size)
    every = [make("SS", epsilon=epsilon, domain_size=size, subset_size=w) for w in range(1, size)]
    assert total_variance(chosen) <= min(map(total_variance, every)) * (1 + 1e-12)


@pytest.mark.parametrize(("epsilon", "last"), [("3", 29), ("5", 211)])
def test_subsets_of_one_are_the_best_as_long_as_direct_encoding_is(epsilon: str, last: int) -> None:
    assert (last - 1) * (last - 2) <= 2 * exp(epsilon) ** 2 < last * (last - 1)
    assert [make("SS", epsilon=epsilon, domain_size=size).w for size in (last, last + 1)] == [1, 2]


@in_turn(("epsilon", "size"), GRID)
def test_subsets_of_one_are_direct_encoding(epsilon: str, size: int) -> None:
    single = make("SS", epsilon=epsilon, domain_size=size, subset_size=1)
    direct = make("DE", epsilon=epsilon, domain_size=size)
    assert single.keep == direct.keep
    assert single.estimator().law == direct.estimator().law
    reports = single.privatize(crowd(size), rng=SeededRandom(1))
    bits = np.unpackbits(reports["bits"], axis=1, bitorder="little")
    assert bits.sum(axis=1).tolist() == [1] * len(reports)
    words_are_equal = direct.privatize(crowd(size), rng=SeededRandom(1))
    assert bits.argmax(axis=1).tolist() == words_are_equal["item"].tolist()


@pytest.mark.full
@in_turn("epsilon", EPSILONS)
@in_turn("size", [2, 3, 4, 5, 8, 16, 29, 30, 64, 128, 211, 212, 256, 1000, 1024, 10_000, 100_000])
def test_it_is_never_worse_than_direct_or_unary_encoding(epsilon: str, size: int) -> None:
    subset, direct, unary = (make(name, epsilon=epsilon, domain_size=size) for name in ("SS", "DE", "OUE"))
    assert total_variance(subset) <= min(total_variance(direct), total_variance(unary)) * (1 + 1e-12)
    # An item that nobody holds, which most items of a large domain are, has at most OUE's variance, too.
    assert subset.variance(1) <= unary.variance(1) * (1 + 1e-12)


@pytest.mark.parametrize(("epsilon", "size", "share"), [("1", 16, 0.845), ("4", 64, 0.534)])
def test_small_domains_are_below_what_large_ones_can_reach(epsilon: str, size: int, share: float) -> None:
    bound = float(naive.lowest_variance(exp(epsilon)))
    assert make("SS", epsilon=epsilon, domain_size=size).variance(1) / bound == pytest.approx(share, abs=0.0005)


@in_turn(("epsilon", "size"), GRID)
def test_keep_probability_is_that_of_the_definition_rounded_down(epsilon: str, size: int) -> None:
    e = Fraction(exp(epsilon))
    for w in {1, size // 2, size - 1}:
        scheme = make("SS", epsilon=epsilon, domain_size=size, subset_size=w)
        assert scheme.keep == math.floor(2**64 * w * e / (w * e + size - w))


@in_turn(("epsilon", "size"), GRID)
def test_variance_has_its_closed_form(epsilon: str, size: int) -> None:
    e = float(exp(epsilon))
    for w in {1, size // 2, size - 1}:
        scheme = make("SS", epsilon=epsilon, domain_size=size, subset_size=w)
        alone = ((w - 1) * e + size - w) * (w * e + size - w - 1) / (w * (size - w) * (e - 1) ** 2)
        assert scheme.variance(1) == pytest.approx(alone, rel=1e-9)
        p = e * w / (e * w + size - w)
        q = (w - p) / (size - 1)
        assert scheme.variance(7, 7) == pytest.approx(7 * p * (1 - p) / (p - q) ** 2, rel=1e-9)


@pytest.mark.parametrize(("size", "subset_size"), [(2, 1), (4, 2), (5, 3), (6, 2), (6, 5)])
def test_subsets_are_uniform_among_those_with_the_item_and_among_those_without(size: int, subset_size: int) -> None:
    scheme = make("SS", epsilon=1, domain_size=size, subset_size=subset_size)
    p = Fraction(scheme.keep, 2**64)
    with_item, without = math.comb(size - 1, subset_size - 1), math.comb(size - 1, subset_size)
    subsets = {sum(1 << item for item in each): each for each in combinations(range(size), subset_size)}
    for x in range(size):
        law = output_law(scheme.randomizer, x, ())
        shares = {record[0]: Fraction(weight, law.denominator) for record, weight in law.weights.items()}
        assert shares == {bitmap: p / with_item if x in each else (1 - p) / without for bitmap, each in subsets.items()}
        for y in range(size):
            support = sum(share for bitmap, share in shares.items() if bitmap >> y & 1)
            assert support == (p if x == y else (subset_size - p) / (size - 1))


@in_turn(("epsilon", "size"), GRID)
def test_estimates_of_the_whole_domain_sum_to_the_number_of_reports_exactly(epsilon: str, size: int) -> None:
    scheme = make("SS", epsilon=epsilon, domain_size=size)
    tally = scheme.accumulator()
    tally.add(scheme.privatize(crowd(size, 300), rng=SeededRandom(1)))
    estimator = scheme.estimator()
    assert (int(tally.scores().sum()) - size * 300 * estimator.offset) * estimator.scale == 300
    assert tally.estimate().values.sum() == pytest.approx(300, abs=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "size", "size_in_bytes", "bits"),
    [("1", 2, 1, 1), ("1", 16, 2, 11), ("3", 16, 2, 4), ("3", 100, 13, 27), ("1", 1001, 126, 836)],
)
def test_a_record_is_a_bitmap_that_holds_less_than_it_could(
    epsilon: str, size: int, size_in_bytes: int, bits: int
) -> None:
    scheme = make("SS", epsilon=epsilon, domain_size=size)
    assert (scheme.report_dtype.itemsize, scheme.report_bits) == (size_in_bytes, bits)
    assert 2 ** (bits - 1) < math.comb(size, scheme.w) <= 2**bits


def test_bitmaps_with_spare_bits_or_of_another_size_are_refused() -> None:
    scheme = make("SS", epsilon=1, domain_size=11, subset_size=3)
    good = np.array([([0b111, 0],), ([0, 0b111],)], dtype=scheme.report_dtype)
    scheme.accumulator().add(good)
    for wrong in ([0b11, 0], [0b1111, 0], [0, 0], [0xFF, 0b111]):
        with pytest.raises(plausibly.ReportError, match="report 2: expected a subset of 3 items"):
            scheme.accumulator().add(np.append(good, np.array([(wrong,)], dtype=scheme.report_dtype)))
    with pytest.raises(plausibly.ReportError, match="report 0: expected a bitmap of 11 bits with spare bits zero"):
        scheme.accumulator().add(np.array([([0b11, 0b1000],)], dtype=scheme.report_dtype))


@pytest.mark.parametrize("subset_size", [0, 10, -1, 2.0, "2", True])
def test_a_subset_size_that_is_none_is_refused(subset_size: object) -> None:
    with pytest.raises(plausibly.ParameterError, match="subset_size: expected"):
        make("SS", epsilon=1, domain_size=10, subset_size=subset_size)


@pytest.mark.full
@pytest.mark.parametrize("subset_size", [None, 1, 50, 99])
def test_a_scheme_with_a_given_subset_size_is_audited_on_a_smaller_domain(subset_size: int | None) -> None:
    own = {} if subset_size is None else {"subset_size": subset_size}
    scheme = make("SS", epsilon=1, domain_size=100, **own)
    for same in (scheme, plausibly.from_json(scheme.to_json())):
        certificate = plausibly.audit(same)
        assert certificate.holds
        assert certificate.unbiased
        assert certificate.variance_exact
