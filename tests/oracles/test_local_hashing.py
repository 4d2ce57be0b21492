"""BLH and OLH against their slow twins, their hash family's vectors, and their stated costs."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

import naive
import plausibly
from cases import in_turn
from oracles.comparing import GRID, assert_close, assert_equals_twin, crowd, exp
from plausibly import Keys, Labels, SeededRandom, make
from plausibly.device import local_hash

HASHING = ("BLH", "OLH")


@pytest.mark.parametrize("name", HASHING)
@in_turn(("epsilon", "size"), GRID)
def test_estimates_equal_the_slow_twin(name: str, epsilon: str, size: int) -> None:
    assert_equals_twin(make(name, epsilon=epsilon, domain_size=size), crowd(size))


@pytest.mark.parametrize("hash_range", [2, 3, 255, 256, 257, 1000, 65_536])
def test_any_given_hash_range_equals_the_slow_twin(hash_range: int) -> None:
    scheme = make("OLH", epsilon=4, domain_size=130, hash_range=hash_range)
    assert scheme.g == hash_range
    assert_equals_twin(scheme, crowd(130))


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "0.4", "0.5", "1", "2", "3", "5", "8"])
def test_the_hash_range_is_one_more_than_the_rounded_exponential(epsilon: str) -> None:
    assert make("OLH", epsilon=epsilon, domain_size=10).g == naive.closest_hash_range(exp(epsilon))


def test_the_hash_range_turns_over_exactly_at_the_half() -> None:
    # ln 2.5 = 0.916290731874155065...: the nearest float lies below it, the next one above.
    below, above = Fraction("0.91629073187415506518"), Fraction("0.91629073187415506519")
    assert [make("OLH", epsilon=epsilon, domain_size=10).g for epsilon in (below, above)] == [3, 4]


def test_the_hash_range_is_capped_at_two_bytes() -> None:
    assert make("OLH", epsilon=20, domain_size=10).g == 65_536


@pytest.mark.parametrize("name", HASHING)
@pytest.mark.parametrize("epsilon", ["0.5", "1", "3", "5"])
def test_keep_probability_is_direct_encoding_of_the_hash(name: str, epsilon: str) -> None:
    scheme = make(name, epsilon=epsilon, domain_size=10)
    e = Fraction(exp(epsilon))
    assert scheme.keep == math.floor(2**64 * e / (e + scheme.g - 1))


@pytest.mark.parametrize("epsilon", ["0.5", "1", "3", "5"])
def test_variances_are_the_paper_s(epsilon: str) -> None:
    e = float(exp(epsilon))
    blh, olh = (make(name, epsilon=epsilon, domain_size=100) for name in HASHING)
    assert blh.variance(1) == pytest.approx(((e + 1) / (e - 1)) ** 2, rel=1e-9)
    assert blh.variance(5, 2) == pytest.approx(5 * blh.variance(1) - 2, rel=1e-9)
    g = olh.g
    assert olh.variance(1) == pytest.approx((e + g - 1) ** 2 / ((g - 1) * (e - 1) ** 2), rel=1e-9)
    p, q = e / (e + g - 1), 1 / g
    assert olh.variance(5, 5) == pytest.approx(5 * p * (1 - p) / (p - q) ** 2, rel=1e-9)


def test_the_optimal_hash_range_nearly_reaches_the_lower_bound() -> None:
    # "Within 2 % of the best integer", which is itself a little above 4e^eps/(e^eps - 1)^2.
    for epsilon in ("1", "2", "3", "5"):
        chosen = make("OLH", epsilon=epsilon, domain_size=10)
        others = [make("OLH", epsilon=epsilon, domain_size=10, hash_range=g) for g in range(2, 2 * chosen.g)]
        assert chosen.variance(1) <= 1.02 * min(other.variance(1) for other in others)


@pytest.mark.parametrize(
    ("seed", "x", "g", "size", "split", "hashed"),
    [
        (0x0, 0, 2, 1024, 64, 0),
        (0x1, 1, 4, 1024, 64, 3),
        (0x0123456789ABCDEF, 1023, 21, 1024, 64, 2),
        (0xFFFFFFFFFFFFFFFF, 4095, 150, 4096, 64, 142),
        (0xDEADBEEFCAFEF00D, 999_983, 21, 10**6, 1024, 5),
    ],
)
def test_the_hash_family_has_its_published_vectors(
    seed: int, x: int, g: int, size: int, split: int, hashed: int
) -> None:
    scheme = make("OLH", epsilon=1, domain_size=size, hash_range=g)
    assert scheme.split == split == naive.best_split(size)
    assert naive.local_hash(seed, x, split, g) == hashed
    assert local_hash(seed, x, split, g) == hashed


@pytest.mark.parametrize("size", [2, 63, 64, 65, 4096, 4097, 2**14, 2**14 + 1, 10**5, 2**32])
def test_items_split_near_the_root_of_the_domain(size: int) -> None:
    assert make("OLH", epsilon=1, domain_size=size).split == naive.best_split(size)


@pytest.mark.parametrize(
    ("content", "digest"),
    [(b"", "ef2a8b78dd80da9c"), (b"a", "3746ba2ac42c6821"), (b"https://example.org/", "228669f3784f2ad0")],
)
def test_keys_have_their_published_vectors(content: bytes, digest: str) -> None:
    (code,) = Keys().encode([content])
    assert int(code).to_bytes(8, "little").hex() == digest


@pytest.mark.parametrize("name", HASHING)
def test_on_keys_candidates_are_decoded_as_by_naive_hashing(name: str) -> None:
    scheme = make(name, epsilon=2, domain=Keys(hash_seed=9))
    held = ["example.org", b"example.org", 5, "5", "", "ü"]
    items = [held[i % 6] for i in range(60)]
    asked = [*held, "never held", -1, 2**80]
    assert scheme.split == 2**32
    assert scheme.domain.encode(asked).tolist() == [naive.key(item, 9) for item in asked]
    assert_equals_twin(scheme, items, asked=asked)


def test_keys_of_different_kinds_never_meet() -> None:
    assert len(set(Keys().encode([5, "5", b"5"]).tolist())) == 3


def test_on_keys_the_records_are_kept_and_nothing_is_lost_by_merging_and_storing() -> None:
    scheme = make("OLH", epsilon=2, domain=Keys())
    items = [f"page {i % 5}" for i in range(50)]
    reports = scheme.privatize(items, rng=SeededRandom(1))
    tally, other = scheme.accumulator(), scheme.accumulator()
    tally.add(reports[:20])
    other.add(reports[20:])
    tally.merge(plausibly.Accumulator.from_bytes(scheme, other.to_bytes()))
    asked = ["page 1", "page 7"]
    twin = naive.answer(json.loads(scheme.to_json()), naive.fields(reports), scheme.domain.encode(asked).tolist())
    assert tally.scores(asked).tolist() == twin.scores
    assert_close(tally.estimate(asked).values, twin.values)


def test_changing_an_array_after_adding_it_does_not_change_a_kept_log() -> None:
    scheme = make("OLH", epsilon=2, domain=Keys())
    reports = scheme.privatize(["a", "b"], rng=SeededRandom(1))
    tally = scheme.accumulator()
    tally.add(reports)
    before = tally.to_bytes()
    reports["seed"] += 1
    assert tally.to_bytes() == before


def test_a_listed_domain_needs_constant_memory() -> None:
    scheme = make("OLH", epsilon=1, domain_size=50)
    tally = scheme.accumulator()
    sizes = set()
    for call in range(3):
        tally.add(scheme.privatize([1] * 10 ** (call + 1), rng=SeededRandom(call)))
        sizes.add(len(tally.to_bytes()))
    assert len(sizes) == 1


@pytest.mark.parametrize("name", HASHING)
def test_a_label_counts_as_the_integer_of_its_place(name: str) -> None:
    labels = Labels(("a", "b", "c", "d"), other=True)
    assert_equals_twin(make(name, epsilon=1, domain=labels), ["a", "b", "zzz", "d"] * 10)


@pytest.mark.parametrize(
    ("epsilon", "size_in_bytes", "bits"), [(1, 9, 64 + 2), (3, 9, 64 + 5), (5.5, 9, 64 + 8), (6, 10, 64 + 9)]
)
def test_a_record_is_a_seed_and_the_smallest_hash(epsilon: float, size_in_bytes: int, bits: int) -> None:
    scheme = make("OLH", epsilon=epsilon, domain_size=10**5)
    assert (scheme.report_dtype.itemsize, scheme.report_bits) == (size_in_bytes, bits)
    assert make("BLH", epsilon=epsilon, domain_size=10**5).report_bits == 65


@pytest.mark.parametrize("name", HASHING)
def test_hashes_out_of_range_are_refused(name: str) -> None:
    scheme = make(name, epsilon=1, domain_size=10)
    with pytest.raises(plausibly.ReportError, match=f"report 0: expected a hash below {scheme.g}"):
        scheme.accumulator().add(np.array([(7, scheme.g)], dtype=scheme.report_dtype))


@pytest.mark.parametrize("hash_range", [0, 1, -3, 65_537, 2.0, "4", True])
def test_a_hash_range_that_is_none_is_refused(hash_range: object) -> None:
    with pytest.raises(plausibly.ParameterError, match="hash_range: expected"):
        make("OLH", epsilon=1, domain_size=10, hash_range=hash_range)
