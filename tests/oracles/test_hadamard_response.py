"""HR, pure and block, against its slow twin, its parameters by doubling, and its stated costs."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

import naive
import plausibly
from cases import in_turn
from oracles.comparing import GRID, assert_equals_twin, crowd, exp
from plausibly import SeededRandom, make

VARIANTS = ("pure", "block", "auto")


@in_turn("variant", VARIANTS)
@in_turn(("epsilon", "size"), GRID)
def test_estimates_equal_the_slow_twin(variant: str, epsilon: str, size: int) -> None:
    assert_equals_twin(make("HR", epsilon=epsilon, domain_size=size, variant=variant), crowd(size))


@in_turn("epsilon", ["0.1", "0.5", "0.6", "0.7", "1", "2", "3", "5", "8", "20"])
@in_turn("size", [2, 3, 4, 7, 8, 9, 100, 1000, 1024])
def test_blocks_and_order_are_those_of_doubling(epsilon: str, size: int) -> None:
    pure, block = (make("HR", epsilon=epsilon, domain_size=size, variant=v) for v in ("pure", "block"))
    blocks = naive.response_blocks(exp(epsilon), size)
    assert (block.blocks, block.order) == (blocks, naive.response_order(blocks, size))
    assert (pure.blocks, pure.order) == (1, naive.response_order(1, size))


@pytest.mark.parametrize("size", [6, 7, 8, 14, 15, 16])
def test_the_order_is_decided_by_integers_at_the_edges(size: int) -> None:
    # An order of b has b - 1 usable rows: 7 items fit into 8, 8 do not.
    scheme = make("HR", epsilon=1, domain_size=size, variant="pure")
    assert scheme.order // 2 - 1 < size <= scheme.order - 1


def test_every_item_has_a_row_of_its_own_and_no_block_is_left_empty() -> None:
    scheme = make("HR", epsilon=3, domain_size=1000)
    places = {(x % scheme.blocks, 1 + x // scheme.blocks) for x in range(1000)}
    assert len(places) == 1000
    assert {block for block, _ in places} == set(range(scheme.blocks))
    assert all(1 <= row < scheme.order for _, row in places)


def test_one_block_is_the_pure_variant() -> None:
    # For e^eps <= 2 there is one block, and the two variants are one scheme, with one fingerprint.
    block, pure, auto = (make("HR", epsilon="0.6", domain_size=21, variant=v) for v in ("block", "pure", "auto"))
    assert block == pure == auto
    assert block.fingerprint() == pure.fingerprint()
    same = [s.privatize(crowd(21), rng=SeededRandom(1)).tobytes() for s in (block, pure)]
    assert same[0] == same[1]


@in_turn("epsilon", ["0.5", "0.7", "0.8", "1", "2", "3", "5"])
@in_turn("size", [2, 3, 5, 16, 1000])
def test_auto_is_the_variant_with_the_lower_variance(epsilon: str, size: int) -> None:
    pure, block, auto = (make("HR", epsilon=epsilon, domain_size=size, variant=v) for v in VARIANTS)
    assert auto in (pure, block)
    # Over all items, one of which the user holds.
    mean = {s: (s.variance(1, f=1) + (size - 1) * s.variance(1)) / size for s in (auto, pure, block)}
    assert mean[auto] == min(mean.values())


@pytest.mark.parametrize("epsilon", ["0.5", "1", "3", "5"])
def test_variances_are_the_stated_laws(epsilon: str) -> None:
    e = float(exp(epsilon))
    pure = make("HR", epsilon=epsilon, domain_size=100, variant="pure")
    assert pure.variance(9, 4) == pytest.approx(9 * ((e + 1) / (e - 1)) ** 2 - 4, rel=1e-9)
    block = make("HR", epsilon=epsilon, domain_size=100, variant="block")
    c, mates = (e - 1 + 2 * block.blocks) / (e - 1), 6
    law = block.estimator().law
    assert law.at(9, 4, mates=mates) == pytest.approx(9 * 2 * c / (e - 1) + mates * c - 4, rel=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("mates", [4, 6, 9])
def test_the_exact_law_sums_over_holders_neighbours_and_strangers(variant: str, mates: int) -> None:
    scheme = make("HR", epsilon=2, domain_size=30, variant=variant)
    mates = 9 if scheme.blocks == 1 else mates
    fields = json.loads(scheme.to_json())
    assert scheme.estimator().law.exact(9, 4, mates=mates) == naive.response_variance(fields, 9, 4, mates)


@in_turn(("epsilon", "size"), GRID)
def test_keep_probability_is_that_of_the_half_block(epsilon: str, size: int) -> None:
    e = Fraction(exp(epsilon))
    for variant in VARIANTS:
        scheme = make("HR", epsilon=epsilon, domain_size=size, variant=variant)
        assert scheme.keep == math.floor(2**64 * e / (e + 2 * scheme.blocks - 1))


@pytest.mark.parametrize(
    ("size", "variant", "size_in_bytes", "bits"),
    [
        (2, "pure", 1, 2),
        (255, "pure", 1, 8),
        (256, "pure", 2, 9),
        (1000, "block", 2, 10),
        (10**5, "pure", 4, 17),
    ],
)
def test_a_record_is_the_smallest_integer_that_holds_a_position(
    size: int, variant: str, size_in_bytes: int, bits: int
) -> None:
    scheme = make("HR", epsilon=3, domain_size=size, variant=variant)
    assert (scheme.report_dtype.itemsize, scheme.report_bits) == (size_in_bytes, bits)
    assert scheme.blocks * scheme.order == 2**bits


def test_positions_out_of_range_are_refused() -> None:
    scheme = make("HR", epsilon=1, domain_size=5)
    positions = scheme.blocks * scheme.order
    with pytest.raises(plausibly.ReportError, match=f"report 0: expected a position below {positions}"):
        scheme.accumulator().add(np.array([(positions,)], dtype=scheme.report_dtype))


@pytest.mark.parametrize("variant", ["blocks", "Pure", "", None, 1, ["pure"]])
def test_an_unknown_variant_is_refused(variant: object) -> None:
    with pytest.raises(plausibly.ParameterError, match=r"variant: unknown .* valid: auto, block, pure"):
        make("HR", epsilon=1, domain_size=10, variant=variant)


@in_turn(("size", "epsilon"), [(3, 4), (5, 4), (20, 4), (100, 3), (1000, 3)])
def test_the_planned_variance_is_the_mean_over_items_of_an_even_crowd(size: int, epsilon: int) -> None:
    # Also where blocks are of different sizes, or more than there are items.
    scheme = plausibly.make("HR", epsilon=epsilon, domain_size=size, variant="block")
    law, each = scheme.estimator().law, 7
    blocks = np.bincount(np.arange(size) % scheme.blocks)
    mates = each * blocks[np.arange(size) % scheme.blocks]
    exact = np.mean([float(law.exact(each * size, each, mates=int(own))) for own in mates])
    assert scheme.variance(each * size, f=each) == pytest.approx(exact, rel=1e-9)
    assert scheme.variance(each * size) > 0


# --- the law of blocks -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["block", "pure"])
@pytest.mark.parametrize("size", [5, 16, 23])
def test_the_averaged_law_takes_an_even_crowd(variant: str, size: int) -> None:
    law = make("HR", epsilon=3, domain_size=size, variant=variant).estimator().law
    for n, f in ((1, 0), (1, 1), (50, 7)):
        assert law.averaged.exact(n, f) == law.exact(n, f)


@pytest.mark.parametrize("size", [5, 16, 23])
def test_one_user_adds_what_the_block_says(size: int) -> None:
    scheme = make("HR", epsilon=3, domain_size=size, variant="block")
    law = scheme.estimator().law
    for x in range(size):
        for y in range(size):
            assert law.of_one(x, y) == law.exact(1, int(x == y), mates=int(x % scheme.blocks == y % scheme.blocks))
        others = [law.beyond_average(x, y) for x in range(size) for y in range(size) if x != y]
    assert sum(others) == 0


def test_the_crowd_says_how_many_share_a_block() -> None:
    scheme = make("HR", epsilon=3, domain_size=23, variant="block")
    counts = np.arange(23) ** 2
    assert scheme.blocks > 1
    mates = [counts[x % scheme.blocks :: scheme.blocks].sum() for x in range(23)]
    assert scheme.estimator().law.context_of(counts)["mates"].tolist() == mates


def test_only_blocks_have_a_caveat() -> None:
    block, pure = (
        make("HR", epsilon=3, domain_size=23, variant=variant).estimator().law for variant in VARIANTS[1::-1]
    )
    assert "shares a block" in block.caveat
    assert pure.caveat == ""
