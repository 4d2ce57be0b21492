"""AGR against its slow twin, the laws of its fields and lines, subset selection, and its stated costs."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import naive
import naive_client
import plausibly
from cases import in_turn
from oracles.comparing import GRID, assert_equals_twin, crowd, exp
from plausibly import Labels, SeededRandom, kernels, make
from plausibly.core import galois, linear_hashing
from plausibly.device import FIELD_POLYNOMIALS, field_multiply, projective_point
from plausibly.kernels.common import POLYNOMIALS
from plausibly.oracles import affine_response

SHAPES = [(1, 4, 1), (1, 6, 1), (2, 2, 1), (2, 3, 2), (2, 2, 3), (3, 2, 3), (4, 1, 1), (4, 1, 5), (5, 2, 4), (8, 2, 3)]
"""Hash bits, dimension and window, for domains of up to 16 items."""


@in_turn(("epsilon", "size"), GRID)
def test_estimates_equal_the_slow_twin(epsilon: str, size: int) -> None:
    assert_equals_twin(make("AGR", epsilon=epsilon, domain_size=size), crowd(size))


@in_turn(("hash_bits", "dimension", "window"), SHAPES)
@in_turn("size", [2, 11, 16])
def test_any_given_shape_equals_the_slow_twin(hash_bits: int, dimension: int, window: int, size: int) -> None:
    scheme = make("AGR", epsilon=2, domain_size=size, hash_bits=hash_bits, dimension=dimension, window=window)
    assert (scheme.t, scheme.m, scheme.w) == (hash_bits, dimension, window)
    assert_equals_twin(scheme, crowd(size, 25))


def test_a_label_counts_as_the_integer_of_its_place() -> None:
    labels = Labels(("a", "b", "c", "d"), other=True)
    assert_equals_twin(make("AGR", epsilon=1, domain=labels), ["a", "b", "zzz", "d"] * 10)


# --- parameters ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "epsilon", [*(pytest.param(epsilon, marks=pytest.mark.full) for epsilon in ("0.1", "0.5")), "1", "2", "3", "5"]
)
def test_the_default_is_the_cheapest_shape_near_the_lowest_variance(epsilon: str) -> None:
    for size in (2, 3, 100, 1024, 10**5, 10**6):
        scheme = make("AGR", epsilon=epsilon, domain_size=size)
        assert (scheme.t, scheme.m, scheme.w) == naive.best_space(exp(epsilon), size)


def test_the_default_shapes_of_a_large_domain_are_those_of_the_text() -> None:
    schemes = [make("AGR", epsilon=epsilon, domain_size=10**5) for epsilon in (1, 2, 3, 5)]
    assert [(s.t, s.m, s.w) for s in schemes] == [(2, 9, 1), (3, 6, 1), (6, 3, 3), (9, 2, 3)]


def test_where_none_is_near_the_default_is_the_most_accurate() -> None:
    scheme = make("AGR", epsilon=20, domain_size=10)
    assert (scheme.t, scheme.m, scheme.w) == (12, 2, 1)


@in_turn("epsilon", ["0.5", "1", "2", "3", "5", "8"])
@in_turn("size", [2, 100, 10**5])
def test_the_default_is_within_five_percent_of_the_lowest_variance(epsilon: str, size: int) -> None:
    bound = float(naive.lowest_variance(exp(epsilon)))
    assert make("AGR", epsilon=epsilon, domain_size=size).variance(1) <= 1.05 * bound


def test_a_given_field_gets_the_smallest_space_and_the_best_window() -> None:
    scheme = make("AGR", epsilon=1, domain_size=1000, hash_bits=5)
    assert (scheme.t, scheme.m, scheme.w) == (5, 2, 9)
    assert make("AGR", epsilon=1, domain_size=1025, hash_bits=5).m == 3
    assert make("AGR", epsilon=1, domain_size=5, hash_bits=5).m == 2


@in_turn(("hash_bits", "dimension", "window"), SHAPES)
@in_turn("epsilon", ["0.5", "3"])
def test_keep_probability_is_that_of_the_window_rounded_down(
    epsilon: str, hash_bits: int, dimension: int, window: int
) -> None:
    e, g = Fraction(exp(epsilon)), 2**hash_bits
    scheme = make("AGR", epsilon=epsilon, domain_size=10, hash_bits=hash_bits, dimension=dimension, window=window)
    assert scheme.keep == math.floor(2**64 * window * e / (window * e + g - window))


# --- subset selection on the points of a space -----------------------------------------------------------------------


@in_turn(("hash_bits", "dimension", "window"), SHAPES)
@in_turn("epsilon", ["0.5", "1", "3", "5"])
def test_its_laws_are_those_of_subset_selection_on_all_points(
    epsilon: str, hash_bits: int, dimension: int, window: int
) -> None:
    points, subset = 2 ** (hash_bits * dimension), window * 2 ** (hash_bits * (dimension - 1))
    scheme = make("AGR", epsilon=epsilon, domain_size=9, hash_bits=hash_bits, dimension=dimension, window=window)
    twin = make("SS", epsilon=epsilon, domain_size=points, subset_size=subset)
    assert scheme.keep == twin.keep
    mine, other = scheme.estimator(), twin.estimator()
    # But for one thing: covariances of its items are not stated.
    assert not mine.law.joint
    assert (mine.offset, mine.scale, replace(mine.law, joint=True)) == (other.offset, other.scale, other.law)


def test_a_small_space_is_below_what_large_ones_can_reach() -> None:
    bound = float(naive.lowest_variance(exp("1")))
    scheme = make("AGR", epsilon=1, domain_size=16)
    assert (scheme.t, scheme.m, scheme.w) == (2, 2, 1)
    assert scheme.variance(1) / bound == pytest.approx(0.845, abs=0.0005)


@pytest.mark.parametrize(
    ("hash_bits", "dimension", "window"), [(1, 2, 1), (1, 4, 1), (2, 2, 1), (2, 2, 2), (2, 2, 3), (3, 1, 3), (3, 2, 3)]
)
def test_another_point_is_supported_by_exactly_the_stated_share_of_all_reports(
    hash_bits: int, dimension: int, window: int
) -> None:
    points, g = 2 ** (hash_bits * dimension), 2**hash_bits
    scheme = make("AGR", epsilon=1, domain_size=points, hash_bits=hash_bits, dimension=dimension, window=window)
    p = Fraction(scheme.keep, 2**64)
    q = (window * g ** (dimension - 1) - p) / (points - 1)
    stretches = range(1, g) if window > 1 else [1]
    lines = naive.line_points(hash_bits, dimension)
    # The hash is linear, so that two points matter by their difference alone.
    for delta in range(points):
        support = Fraction(0)
        for line, stretch in product(lines, stretches):
            place = naive.field_product(stretch, naive.affine_hash(line, delta, hash_bits), hash_bits)
            inside = sum(place ^ e < window for e in range(window))
            outside = sum(place ^ e < window for e in range(window, g))
            support += p * inside / window + (1 - p) * outside / (g - window)
        assert support / (len(lines) * len(stretches)) == (q if delta else p)
    assert scheme.estimator().offset == q


@pytest.mark.parametrize(("hash_bits", "dimension", "window"), SHAPES)
def test_every_report_supports_as_many_points_and_estimates_sum_to_their_number_exactly(
    hash_bits: int, dimension: int, window: int
) -> None:
    points = 2 ** (hash_bits * dimension)
    scheme = make("AGR", epsilon=1, domain_size=points, hash_bits=hash_bits, dimension=dimension, window=window)
    tally = scheme.accumulator()
    for report in np.split(scheme.privatize(crowd(points, 5), rng=SeededRandom(1)), 5):
        single = scheme.accumulator()
        single.add(report)
        assert set(single.scores().tolist()) == {0, 1}
        assert single.scores().sum() == window * points >> hash_bits
        tally.merge(single)
    estimator = scheme.estimator()
    assert (int(tally.scores().sum()) - points * 5 * estimator.offset) * estimator.scale == 5


def test_without_the_stretch_a_window_would_favour_some_pairs() -> None:
    # Why w > 1 draws a stretch: differences below the next power of two would share windows more often.
    g, window = 8, 3
    shared = [sum(place ^ e < window for e in range(window)) for place in range(1, g)]
    assert len(set(shared)) > 1
    stretched = [
        sum(naive.field_product(s, place, 3) ^ e < window for s in range(1, g) for e in range(window))
        for place in range(1, g)
    ]
    assert len(set(stretched)) == 1


# --- fields ----------------------------------------------------------------------------------------------------------


def test_polynomials_are_the_smallest_irreducible_ones() -> None:
    assert FIELD_POLYNOMIALS[1:] == tuple(naive_client.field_polynomial(t) for t in range(1, 13))
    assert FIELD_POLYNOMIALS[1:] == POLYNOMIALS
    assert len(FIELD_POLYNOMIALS) == 1 + linear_hashing.MAX_HASH_BITS
    assert [sum(1 << k for k in naive.FIELD_EXPONENTS[t]) for t in range(1, 13)] == list(FIELD_POLYNOMIALS[1:])


@pytest.mark.parametrize("bits", range(1, 5))
def test_the_laws_of_a_field_hold_for_all_elements(bits: int) -> None:
    elements = range(2**bits)
    table = [[field_multiply(a, b, bits) for b in elements] for a in elements]
    assert table == [[naive.field_product(a, b, bits) for b in elements] for a in elements]
    for a, b, c in product(elements, repeat=3):
        assert table[a][b] == table[b][a]
        assert table[table[a][b]][c] == table[a][table[b][c]]
        assert table[a][b ^ c] == table[a][b] ^ table[a][c]
    assert table[1] == list(elements)
    assert table[0] == [0] * 2**bits
    assert all(sorted(table[a]) == list(elements) for a in elements[1:]), "everything but zero has an inverse"


@pytest.mark.parametrize("bits", [*range(1, 9), *(pytest.param(t, marks=pytest.mark.full) for t in range(9, 13))])
def test_tables_multiply_and_divide_as_polynomials_do(bits: int) -> None:
    # All pairs of small fields; of large ones every element with some.
    b = np.arange(2**bits) if bits <= 6 else np.unique(np.arange(1, 40) ** 3 % 2**bits)
    a, b = (grid.ravel() for grid in np.meshgrid(np.arange(2**bits), b))
    powers, logarithms = galois.field_tables(bits)
    products = np.where((a == 0) | (b == 0), 0, powers[logarithms[a] + logarithms[b]])
    step = 1 + len(a) // 5000
    assert products[::step].tolist() == [
        naive.field_product(x, y, bits) for x, y in zip(a[::step].tolist(), b[::step].tolist(), strict=True)
    ]
    # A report with stretch b and answer a*b, and no window, counts for a.
    divisible = b != 0
    fields = np.zeros_like(b[divisible]), b[divisible], products[divisible]
    cells = np.zeros((1, 2**bits), dtype=np.int64)
    kernels.stretched_histogram(fields, 1, powers, logarithms, cells)
    assert cells[0].tolist() == np.bincount(a[divisible], minlength=2**bits).tolist()


# --- lines -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bits", "dimension"), [(1, 1), (1, 5), (2, 3), (3, 2), (4, 2), (5, 2)])
def test_every_point_but_the_origin_is_on_exactly_one_line(bits: int, dimension: int) -> None:
    lines = (2 ** (bits * dimension) - 1) // (2**bits - 1)
    points = [projective_point(line, bits) for line in range(lines)]
    padded = [(*point, *[0] * (dimension - len(point))) for point in points]
    assert padded == naive.line_points(bits, dimension)
    multiples = [tuple(field_multiply(s, x, bits) for x in point) for point in padded for s in range(1, 2**bits)]
    assert len(multiples) == len(set(multiples)) == 2 ** (bits * dimension) - 1


@pytest.mark.parametrize(("bits", "dimension"), [(1, 1), (1, 5), (2, 3), (3, 2), (4, 2), (5, 2), (12, 1)])
def test_the_lines_share_out_all_characters_but_the_trivial_one(bits: int, dimension: int) -> None:
    g, item_bits = 2**bits, bits * dimension
    lines = (g**dimension - 1) // (g - 1)
    names = np.arange(lines * g, dtype=np.int64).reshape(lines, g)
    once = kernels.affine_gather(np.ones_like(names), bits, dimension, item_bits)
    assert once.tolist() == [0] + [1] * (2**item_bits - 1)
    found = kernels.affine_gather(names, bits, dimension, item_bits).tolist()
    # The character of a line and s is <s, a·x>, for every x.
    points = naive.line_points(bits, dimension)
    for frequency in range(1, 2**item_bits, 1 + 2**item_bits // 40):
        line, s = divmod(found[frequency], g)
        for x in range(0, 2**item_bits, 1 + 2**item_bits // 20):
            hashed = naive.affine_hash(points[line], x, bits)
            assert naive.common_ones(s, hashed) % 2 == naive.common_ones(frequency, x) % 2


def test_the_decoder_is_that_of_all_linear_hashes() -> None:
    assert affine_response.supports is linear_hashing.supports


def test_points_beyond_the_domain_are_folded_away() -> None:
    # 11 items in a space of 64 points, or of 16: what the decoder says of them is the same as by counting.
    for hash_bits, dimension in ((2, 2), (2, 3), (3, 2), (1, 6)):
        scheme = make("AGR", epsilon=1, domain_size=11, hash_bits=hash_bits, dimension=dimension)
        tally = scheme.simulate([20] * 11, rng=SeededRandom(2))
        assert tally.scores().shape == (11,)
        asked = [10, 0, 3]
        assert tally.scores(asked).tolist() == tally.scores()[asked].tolist()


# --- records ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "size", "size_in_bytes", "bits"),
    [(1, 2, 2, 3), (1, 1024, 3, 11), (3, 1024, 3, 13), (1, 10**5, 5, 19), (3, 10**5, 4, 24), (5, 10**5, 6, 27)],
)
def test_a_record_is_a_line_a_stretch_where_there_is_one_and_a_value(
    epsilon: int, size: int, size_in_bytes: int, bits: int
) -> None:
    scheme = make("AGR", epsilon=epsilon, domain_size=size)
    assert (scheme.report_dtype.itemsize, scheme.report_bits) == (size_in_bytes, bits)
    stretched = ("stretch",) if scheme.w > 1 else ()
    assert scheme.report_dtype.names == ("line", *stretched, "hash")
    # About the bits of an item and one or two more, and t more for a stretch.
    assert bits <= scheme.t * scheme.m + 2 + scheme.t * len(stretched)


def test_one_dimension_has_one_line_and_needs_no_bits_for_it() -> None:
    scheme = make("AGR", epsilon=1, domain_size=16, hash_bits=4, dimension=1, window=5)
    assert (scheme.lines, scheme.report_bits, scheme.cell_shape) == (1, 8, (1, 16))


def test_the_state_counts_by_line_and_value() -> None:
    scheme = make("AGR", epsilon=1, domain_size=10**5)
    assert scheme.cell_shape == ((4**9 - 1) // 3, 4)


def test_lines_values_and_stretches_out_of_range_are_refused() -> None:
    scheme = make("AGR", epsilon=1, domain_size=60, hash_bits=3, dimension=2, window=2)
    bad = [
        ((9, 1, 0), "a line below 9"),
        ((0, 1, 8), "a value below 8"),
        ((0, 0, 0), "a stretch from 1 to 7"),
        ((0, 8, 0), "a stretch from 1 to 7"),
    ]
    for record, expected in bad:
        with pytest.raises(plausibly.ReportError, match=f"report 1: expected {expected}"):
            scheme.accumulator().add(np.array([(8, 7, 7), record], dtype=scheme.report_dtype))


@in_turn(
    "wrong",
    [
        {"hash_bits": 0},
        {"hash_bits": 13},
        {"hash_bits": "3"},
        {"hash_bits": True},
        {"hash_bits": 3, "dimension": 0},
        {"hash_bits": 3, "dimension": 3},
        {"hash_bits": 3, "dimension": 17},
        {"hash_bits": 3, "dimension": 4.0},
        {"hash_bits": 3, "window": 0},
        {"hash_bits": 3, "window": 8},
        {"hash_bits": 3, "window": 1.5},
        {"dimension": 4},
        {"window": 1},
    ],
)
def test_a_shape_that_is_none_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(plausibly.ParameterError, match=f"{list(wrong)[-1]}.*: expected"):
        make("AGR", epsilon=1, domain_size=1000, **wrong)
