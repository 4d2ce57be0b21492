"""TLH against its slow twin, the uniformity of its matrices, HM's decoder, and its stated costs."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import naive
import plausibly
from cases import in_turn
from oracles.comparing import GRID, assert_equals_twin, crowd, exp
from plausibly import Integers, Keys, Labels, SeededRandom, kernels, make
from plausibly.core import linear_hashing
from plausibly.oracles import hadamard_mechanism, toeplitz_hashing

SHAPES = [(1, 1), (2, 1), (2, 3), (3, 3), (5, 7), (8, 200), (12, 100)]


@in_turn(("epsilon", "size"), GRID)
def test_estimates_equal_the_slow_twin(epsilon: str, size: int) -> None:
    assert_equals_twin(make("TLH", epsilon=epsilon, domain_size=size), crowd(size))


@in_turn(("hash_bits", "window"), SHAPES)
@in_turn("size", [2, 13, 33])
def test_any_given_hash_and_window_equal_the_slow_twin(hash_bits: int, window: int, size: int) -> None:
    scheme = make("TLH", epsilon=2, domain_size=size, hash_bits=hash_bits, window=window)
    assert (scheme.t, scheme.w) == (hash_bits, window)
    assert_equals_twin(scheme, crowd(size, 25))


@in_turn(("hash_bits", "window"), SHAPES[:5])
@in_turn("size", [2, 13, 33])
def test_reports_counted_first_give_the_cells_of_reports_taken_one_by_one(
    hash_bits: int, window: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheme = make("TLH", epsilon=2, domain_size=size, hash_bits=hash_bits, window=window)
    reports = scheme.privatize(crowd(size, 300), rng=SeededRandom(3))
    wanted, found = (np.ones(scheme.cell_shape, dtype=np.int64) for _ in range(2))
    scheme.fold(wanted, reports[:200])
    monkeypatch.setattr(toeplitz_hashing, "_EACH", 0)
    scheme.fold(found, reports[:200])
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("own", [{}, {"hash_bits": 1}, {"hash_bits": 6, "window": 20}, {"hash_bits": 12}])
def test_on_keys_candidates_are_decoded_as_by_naive_hashing(own: dict[str, Any]) -> None:
    scheme = make("TLH", epsilon=2, domain=Keys(hash_seed=9), **own)
    held = ["example.org", b"example.org", 5, "5", "", "ü"]
    assert scheme.cell_shape is None
    assert_equals_twin(scheme, [held[i % 6] for i in range(60)], asked=[*held, "never held", -1, 2**80])


def test_a_label_counts_as_the_integer_of_its_place() -> None:
    labels = Labels(("a", "b", "c", "d"), other=True)
    assert_equals_twin(make("TLH", epsilon=1, domain=labels), ["a", "b", "zzz", "d"] * 10)


# --- parameters ------------------------------------------------------------------------------------------------------


def test_the_default_hashes_and_windows_are_those_of_the_text() -> None:
    shapes = {epsilon: make("TLH", epsilon=epsilon, domain_size=1024) for epsilon in ("0.5", "1", "2", "3", "4", "5")}
    assert {epsilon: (scheme.g, scheme.w) for epsilon, scheme in shapes.items()} == {
        "0.5": (8, 3),
        "1": (4, 1),
        "2": (8, 1),
        "3": (16, 1),
        "4": (64, 1),
        "5": (128, 1),
    }


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "0.3", "0.7", "1.5", "2.5", "3.5", "4.5", "6"])
def test_the_default_is_the_shortest_hash_near_the_lowest_variance(epsilon: str) -> None:
    scheme = make("TLH", epsilon=epsilon, domain_size=1024)
    assert (scheme.t, scheme.w) == naive.best_hash(exp(epsilon))
    assert scheme.variance(1) <= 1.05 * float(naive.lowest_variance(exp(epsilon)))


@in_turn("hash_bits", [1, 3, 6, 9])
@in_turn("epsilon", ["0.1", "1", "4"])
def test_the_window_of_a_given_hash_is_the_best_of_all(epsilon: str, hash_bits: int) -> None:
    scheme = make("TLH", epsilon=epsilon, domain_size=1024, hash_bits=hash_bits)
    assert scheme.w == naive.best_window(exp(epsilon), hash_bits)


def test_a_hash_has_twelve_bits_at_most() -> None:
    assert [make("TLH", epsilon=epsilon, domain_size=10).t for epsilon in (8, 10, 20, 40)] == [11, 12, 12, 12]


@in_turn(("hash_bits", "window"), SHAPES)
@in_turn("epsilon", ["0.5", "1", "3", "5"])
def test_keep_probability_and_variance_are_those_of_the_share_of_supported_items(
    epsilon: str, hash_bits: int, window: int
) -> None:
    e, g = Fraction(exp(epsilon)), 2**hash_bits
    scheme = make("TLH", epsilon=epsilon, domain_size=100, hash_bits=hash_bits, window=window)
    assert scheme.keep == math.floor(2**64 * window * e / (window * e + g - window))
    ideal = naive.variance_of_support(exp(epsilon), Fraction(window, g))
    assert scheme.variance(1) == pytest.approx(float(ideal), rel=1e-9)
    p, q = float(window * e / (window * e + g - window)), window / g
    assert scheme.variance(5, 5) == pytest.approx(5 * p * (1 - p) / (p - q) ** 2, rel=1e-9)


def test_a_small_domain_does_not_change_the_variance() -> None:
    # q is w/g exactly for every pair of items, whatever the size of the domain.
    schemes = [make("TLH", epsilon=2, domain_size=size) for size in (2, 3, 1000)]
    assert len({scheme.estimator().law for scheme in schemes}) == 1


# --- the hash family -------------------------------------------------------------------------------------------------


def hashes_of(items: npt.NDArray[np.uint64], matrices: npt.NDArray[np.uint64], t: int, bits: int) -> list[int]:
    """The hash of each item under its matrix: what is reported by who draws the matrix and then only zeros."""
    words = np.zeros((len(items), 4), dtype=np.uint64)
    words[:, 0] = matrices
    out = np.zeros((2, len(items)), dtype=np.uint64)
    assert not kernels.toeplitz_response(items, words, t, bits, 1, 1, tuple(out)).size
    assert out[0].tolist() == matrices.tolist()
    return [int(hashed) for hashed in out[1]]


@in_turn("hash_bits", [1, 2, 3, 4, 5])
@in_turn("item_bits", [1, 2, 3, 4, 5, 6])
def test_every_difference_of_two_items_is_sent_to_a_uniform_value(item_bits: int, hash_bits: int) -> None:
    matrices = np.arange(1 << item_bits + hash_bits - 1, dtype=np.uint64)
    each = len(matrices) >> hash_bits
    for delta in range(1, 1 << item_bits):
        hashed = hashes_of(np.full_like(matrices, delta), matrices, hash_bits, item_bits)
        assert np.bincount(hashed, minlength=1 << hash_bits).tolist() == [each] * (1 << hash_bits)


@pytest.mark.parametrize(("item_bits", "hash_bits"), [(1, 1), (3, 2), (2, 4), (5, 3)])
def test_the_hash_is_the_naive_one_and_linear(item_bits: int, hash_bits: int) -> None:
    items = np.arange(1 << item_bits, dtype=np.uint64)
    for matrix in range(1 << item_bits + hash_bits - 1):
        same = np.full_like(items, matrix)
        hashed = hashes_of(items, same, hash_bits, item_bits)
        assert hashed == [naive.toeplitz_hash(matrix, x, hash_bits, item_bits) for x in items.tolist()]
        assert all(hashed[x ^ y] == hashed[x] ^ hashed[y] for x in range(len(items)) for y in range(x))


@pytest.mark.parametrize(("size", "hash_bits", "window"), [(2, 1, 1), (4, 2, 1), (4, 2, 3), (6, 3, 3), (7, 2, 2)])
def test_another_item_is_supported_by_exactly_w_over_g_of_all_reports(size: int, hash_bits: int, window: int) -> None:
    scheme = make("TLH", epsilon=1, domain_size=size, hash_bits=hash_bits, window=window)
    bits, g, p = scheme.item_bits, 2**hash_bits, Fraction(scheme.keep, 2**64)
    assert bits == (size - 1).bit_length()
    matrices = range(1 << bits + hash_bits - 1)
    hashes = [[naive.toeplitz_hash(m, x, hash_bits, bits) for x in range(size)] for m in matrices]
    for x in range(size):
        for z in range(size):
            support = Fraction(0)
            for hashed in hashes:
                for e in range(g):
                    share = p / window if e < window else (1 - p) / (g - window)
                    support += share * (hashed[z] ^ hashed[x] ^ e < window) / len(hashes)
            assert support == (p if x == z else Fraction(window, g))
    estimator = scheme.estimator()
    assert (estimator.offset, 1 / estimator.scale) == (Fraction(window, g), p - Fraction(window, g))


@pytest.mark.parametrize(("hash_bits", "window"), [(1, 1), (2, 1), (3, 3), (4, 5), (6, 63)])
def test_weights_are_the_transformed_window_and_give_it_back(hash_bits: int, window: int) -> None:
    g = 2**hash_bits
    weights = linear_hashing.window_weights(hash_bits, window).tolist()
    assert weights == [sum(naive.hadamard(s, v) for v in range(window)) for s in range(g)]
    assert weights[0] == window
    inverse = [sum(weights[s] * naive.hadamard(s, v) for s in range(g)) for v in range(g)]
    assert inverse == [g * (v < window) for v in range(g)]


def test_a_single_window_weighs_all_products_of_signs_alike() -> None:
    assert linear_hashing.window_weights(5, 1).tolist() == [1] * 32


# --- one decoder for all linear hashes -------------------------------------------------------------------------------


def test_the_hadamard_mechanism_has_the_same_decoder() -> None:
    assert hadamard_mechanism.supports is toeplitz_hashing.supports is linear_hashing.supports
    assert hadamard_mechanism.window_weights is toeplitz_hashing.window_weights is linear_hashing.window_weights


@in_turn("hash_bits", [1, 2, 4, 7])
@in_turn("size", [2, 13, 64])
def test_with_the_rows_of_a_matrix_the_hadamard_mechanism_is_toeplitz_hashing(size: int, hash_bits: int) -> None:
    toeplitz = make("TLH", epsilon=3, domain_size=size, hash_bits=hash_bits, window=1)
    hadamard = make("HM", epsilon=3, domain_size=size, coefficients=hash_bits)
    assert toeplitz.keep == hadamard.keep
    # But for the covariances of its items, which it does not state.
    assert replace(toeplitz.estimator().law, joint=True) == hadamard.estimator().law
    reports = toeplitz.privatize(crowd(size, 200), rng=SeededRandom(1))
    same = np.zeros(len(reports), dtype=hadamard.report_dtype)
    for j in range(hash_bits):
        same["rows"][:, j] = (reports["matrix"] >> j) & ((1 << toeplitz.item_bits) - 1)
    same["signs"] = reports["hash"]
    mine, other = toeplitz.accumulator(), hadamard.accumulator()
    mine.add(reports)
    other.add(same)
    np.testing.assert_array_equal(mine.state[0], other.state[0, 0])  # type: ignore[attr-defined]
    np.testing.assert_array_equal(mine.scores(), other.scores(decoder="full"))
    np.testing.assert_array_equal(mine.estimate().values, other.estimate().values)
    np.testing.assert_array_equal(mine.estimate().variance, other.estimate().variance)


@pytest.mark.parametrize("hash_bits", [1, 2, 4, 7])
@pytest.mark.parametrize("window", [1, 3])
def test_with_independent_rows_the_decoder_counts_the_supports_of_the_hadamard_mechanism(
    hash_bits: int, window: int
) -> None:
    # The machinery of TLH on rows that are no matrix's: any linear hash, and any window, is decoded.
    window = min(window, 2**hash_bits - 1)
    scheme = make("HM", epsilon=2, domain_size=29, coefficients=hash_bits)
    reports = scheme.privatize(crowd(29, 150), rng=SeededRandom(3))
    rows, signs = reports["rows"], reports["signs"]
    cells = kernels.gray_scatter(rows, signs, 5, linear_hashing.window_weights(hash_bits, window))
    scores = linear_hashing.supports(cells, 150, None, size=29, hash_bits=hash_bits, window=window)
    expected = []
    for x in range(29):
        hashes = [sum(naive.common_ones(r, x) % 2 << j for j, r in enumerate(row)) for row in rows.tolist()]
        expected.append(sum(h ^ y < window for h, y in zip(hashes, signs.tolist(), strict=True)))
    assert scores.tolist() == expected


class Numbers(Keys):
    """Keys that are their own numbers, so that reports of a listed domain can be read as reports of keys."""

    def encode(self, items: object) -> Any:
        return Integers(2**32).encode(items)


@in_turn(("hash_bits", "window"), SHAPES)
@in_turn("size", [2, 13, 64])
def test_on_a_small_domain_candidates_of_keys_have_the_answers_of_the_cells(
    size: int, hash_bits: int, window: int
) -> None:
    listed = make("TLH", epsilon=2, domain_size=size, hash_bits=hash_bits, window=window)
    keys = make("TLH", epsilon=2, domain=Numbers(), hash_bits=hash_bits, window=window)
    reports = listed.privatize(crowd(size, 200), rng=SeededRandom(1))
    same = np.zeros(len(reports), dtype=keys.report_dtype)
    for field in ("matrix", "hash"):
        same[field] = reports[field]
    cells, log = listed.accumulator(), keys.accumulator()
    cells.add(reports)
    log.add(same)
    assert log.scores(range(size)).tolist() == cells.scores().tolist()
    np.testing.assert_array_equal(log.estimate(range(size)).values, cells.estimate().values)
    np.testing.assert_array_equal(log.estimate(range(size)).variance, cells.estimate().variance)


def test_on_keys_estimates_are_off_by_what_the_variance_says() -> None:
    # Five standard deviations for each of 20 candidates: a false alarm in one of 80,000 choices of the seed.
    scheme = make("TLH", epsilon=2, domain=Keys())
    counts = {f"page {i}": 2_000 // (i + 1) for i in range(20)}
    estimates = scheme.simulate(counts, rng=SeededRandom(1)).estimate(list(counts))
    errors = estimates.values - np.array(list(counts.values()))
    assert (np.abs(errors) < 5 * np.sqrt(estimates.variance)).all()  # type: ignore[arg-type]


@pytest.mark.parametrize(("hash_bits", "bits"), [(1, 64), (4, 61), (12, 53)])
def test_of_a_key_as_many_bits_count_as_leave_the_matrix_in_one_word(hash_bits: int, bits: int) -> None:
    scheme = make("TLH", epsilon=1, domain=Keys(), hash_bits=hash_bits)
    assert scheme.item_bits == bits
    assert scheme.report_dtype["matrix"] == np.dtype("<u8")


def test_a_listed_domain_needs_constant_memory() -> None:
    scheme = make("TLH", epsilon=1, domain_size=50)
    tally = scheme.accumulator()
    assert tally.state.shape == (1, 64)  # type: ignore[attr-defined]
    sizes = set()
    for call in range(3):
        tally.add(scheme.privatize([1] * 10 ** (call + 1), rng=SeededRandom(call)))
        sizes.add(len(tally.to_bytes()))
    assert len(sizes) == 1


def test_no_cell_grows_by_more_than_the_number_of_hash_values_per_report() -> None:
    # All-zero matrices send every character to one cell; no report can do more.
    for hash_bits, window in ((2, 1), (3, 3), (4, 8), (6, 40)):
        scheme = make("TLH", epsilon=1, domain_size=9, hash_bits=hash_bits, window=window)
        for matrix in range(1 << scheme.item_bits + hash_bits - 1):
            tally = scheme.accumulator()
            tally.add(np.array([(matrix, 0)], dtype=scheme.report_dtype))
            assert np.abs(tally.state).max() <= scheme.g  # type: ignore[attr-defined]
            plausibly.Accumulator.from_bytes(scheme, tally.to_bytes())


# --- records ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "size", "size_in_bytes", "bits"),
    [(1, 2, 2, 4), (1, 1024, 3, 13), (3, 1024, 3, 17), (3, 10**5, 5, 24), (5, 10**5, 5, 30), (8, 2**32, 10, 53)],
)
def test_a_record_is_a_matrix_and_a_hash(epsilon: int, size: int, size_in_bytes: int, bits: int) -> None:
    scheme = make("TLH", epsilon=epsilon, domain_size=size)
    assert (scheme.report_dtype.itemsize, scheme.report_bits) == (size_in_bytes, bits)


@pytest.mark.parametrize(("epsilon", "size_in_bytes", "bits"), [(1, 9, 66), (5, 9, 71), (8, 10, 75)])
def test_a_record_of_keys_has_a_matrix_of_64_bits(epsilon: int, size_in_bytes: int, bits: int) -> None:
    scheme = make("TLH", epsilon=epsilon, domain=Keys())
    assert (scheme.report_dtype.itemsize, scheme.report_bits) == (size_in_bytes, bits)


def test_matrices_and_hashes_out_of_range_are_refused() -> None:
    scheme = make("TLH", epsilon=1, domain_size=10)
    assert (scheme.item_bits, scheme.t) == (4, 2)
    for bad, expected in (((32, 0), "a matrix below 32"), ((0, 4), "a hash below 4")):
        with pytest.raises(plausibly.ReportError, match=f"report 1: expected {expected}"):
            scheme.accumulator().add(np.array([(31, 3), bad], dtype=scheme.report_dtype))


@pytest.mark.parametrize("hash_bits", [0, 13, -1, 2.0, "2", True])
def test_a_number_of_hash_bits_that_is_none_is_refused(hash_bits: object) -> None:
    with pytest.raises(plausibly.ParameterError, match="hash_bits: expected"):
        make("TLH", epsilon=1, domain_size=10, hash_bits=hash_bits)


@pytest.mark.parametrize("window", [0, 8, -1, 2.0, "2", True])
def test_a_window_that_is_none_is_refused(window: object) -> None:
    with pytest.raises(plausibly.ParameterError, match="window: expected"):
        make("TLH", epsilon=1, domain_size=10, hash_bits=3, window=window)


def test_a_window_without_its_hash_is_refused() -> None:
    with pytest.raises(plausibly.ParameterError, match="window: expected together with hash_bits"):
        make("TLH", epsilon=1, domain_size=10, window=1)
