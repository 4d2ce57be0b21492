"""The hash family of local hashing: exact values, and the collision rates that unbiased estimates rest on.

False alarms: the statistics below are standard normal under an ideal family (binomial counts of more than
5,000, chi-squares through the Wilson-Hilferty cube root). Each test divides one chance in a million among
its comparisons (Bonferroni), and there are 48 of them: the file as a whole raises a false alarm for fewer
than one choice of RNG_SEED in 20,000. The seed is fixed: a failure is a change of the hash, not bad luck.
"""

from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from cases import in_turn
from plausibly.kernels import local_hash, reference

Array = npt.NDArray[Any]

RNG_SEED = 20240229
FALSE_ALARM = 1e-6
SEEDS = 1 << 20
SIZES = [2, 4, 21, 150]

# seed, x, g, d, L, entry of the low character, entry of the high one, h: fixed with the wire format.
VECTORS = [
    (0x0, 0, 2, 1024, 64, 0, 0, 0),
    (0x1, 1, 4, 1024, 64, 0, 3, 3),
    (0x0123456789ABCDEF, 1023, 21, 1024, 64, 8, 15, 2),
    (0xFFFFFFFFFFFFFFFF, 4095, 150, 4096, 64, 146, 146, 142),
    (0xDEADBEEFCAFEF00D, 999983, 21, 10**6, 1024, 11, 15, 5),
]


def plain_premix(j: int) -> int:
    j ^= j >> 16
    j = j * 0x21F0AAAD % 2**32
    j ^= j >> 15
    j = j * 0xD35A2D97 % 2**32
    return j ^ j >> 15


def plain_entry(seed: int, j: int, g: int) -> int:
    t = (plain_premix(j) ^ seed % 2**32) * 0x21F0AAAD % 2**32
    t ^= t >> 15
    t = (t ^ seed >> 32) * 0xD35A2D97 % 2**32
    t ^= t >> 15
    return (t >> 8) * g >> 24


def plain_hash(seed: int, x: int, split: int, g: int) -> int:
    swapped = seed >> 32 | seed % 2**32 << 32
    return (plain_entry(seed, x % split, g) + plain_entry(swapped, x // split % 2**32, g)) % g


@pytest.mark.parametrize(("seed", "x", "g", "d", "split", "low", "high", "hashed"), VECTORS)
def test_hash_of_the_published_vectors(
    seed: int, x: int, g: int, d: int, split: int, low: int, high: int, hashed: int
) -> None:
    assert split == max(64, 1 << ((d - 1).bit_length() + 1) // 2)
    first, second = np.array([seed % 2**32], dtype=np.uint32), np.array([seed >> 32], dtype=np.uint32)
    characters = reference._characters(np.array([x], dtype=np.uint64), split)
    assert reference._entry(characters[0], first, second, g) == low
    assert reference._entry(characters[1], second, first, g) == high
    assert local_hash(np.array([seed], dtype=np.uint64), np.array([x], dtype=np.uint64), split, g) == hashed
    assert plain_hash(seed, x, split, g) == hashed


@pytest.mark.parametrize(("j", "mixed"), [(0, 0), (1, 0x06D3FA73), (2**31, 0xC0BD1472)])
def test_premix_of_the_published_values(j: int, mixed: int) -> None:
    assert reference._premix(np.array([j], dtype=np.uint32)) == mixed


@pytest.mark.full
def test_premix_is_one_to_one_on_a_run_of_characters() -> None:
    assert len(np.unique(reference._premix(np.arange(1 << 20, dtype=np.uint32)))) == 1 << 20


@in_turn("g", [2, 3, 4, 21, 150, 256, 257, 1000, 65536, 10**6, 2**20, 2**20 + 1, 2**24 - 1, 2**24])
@in_turn("split", [64, 1024, 2**32])
def test_hash_equals_the_definition_in_plain_integers(g: int, split: int) -> None:
    rng = np.random.default_rng(RNG_SEED)
    seeds = rng.integers(0, 2**64, size=200, dtype=np.uint64)
    values = rng.integers(0, 2**64 if split == 2**32 else split**2, size=200, dtype=np.uint64)
    expected = [plain_hash(int(seed), int(x), split, g) for seed, x in zip(seeds, values, strict=True)]
    assert local_hash(seeds, values, split, g).tolist() == expected


def limit(comparisons: int) -> float:
    """Largest |z| allowed when one of `comparisons` may exceed it with probability FALSE_ALARM in all."""
    return -NormalDist().inv_cdf(FALSE_ALARM / comparisons / 2)


def z_of_count(count: int, trials: int, probability: float) -> float:
    return float((count - trials * probability) / (trials * probability * (1 - probability)) ** 0.5)


def z_of_cells(cells: Array) -> float:
    """Normal score of the chi-square of cells that should be equally full (Wilson and Hilferty, 1931)."""
    expected, freedom = cells.sum() / len(cells), len(cells) - 1
    chi_square = ((cells - expected) ** 2 / expected).sum()
    spread = 2 / (9 * freedom)
    return float(((chi_square / freedom) ** (1 / 3) - (1 - spread)) / spread**0.5)


def fresh_seeds() -> Array:
    return np.random.default_rng(RNG_SEED).integers(0, 2**64, size=SEEDS, dtype=np.uint64)


def hash_one(seeds: Array, x: int, split: int, g: int) -> Array:
    return local_hash(seeds, np.full(len(seeds), x, dtype=np.uint64), split, g)


def consecutive_pairs(rng: np.random.Generator, split: int) -> list[tuple[int, int]]:
    """Neighbours inside a row of the table, and across its edge."""
    starts = [0, 1, split - 1, split, *rng.integers(0, split**2 - 1, size=8).tolist()]
    return [(x, x + 1) for x in starts]


def multiple_pairs(rng: np.random.Generator, split: int) -> list[tuple[int, int]]:
    """The same low character, different high ones."""
    steps = [1, 2, 3, split // 2, split - 1]
    return [(x, x + step * split) for step in steps for x in rng.integers(0, split, size=2).tolist()]


def random_pairs(rng: np.random.Generator, split: int) -> list[tuple[int, int]]:
    drawn = rng.integers(0, split**2, size=(12, 2), dtype=np.uint64)
    return [(int(x), int(y)) for x, y in drawn if x != y]


def one_bit_pairs(rng: np.random.Generator, split: int) -> list[tuple[int, int]]:
    """64-bit keys that differ in a single bit, each of the 64 in turn."""
    keys = rng.integers(0, split**2, size=64, dtype=np.uint64).tolist()
    return [(key, key ^ 1 << bit) for bit, key in enumerate(keys)]


@pytest.mark.full
@pytest.mark.parametrize("g", SIZES)
@pytest.mark.parametrize(
    ("pairs", "split"),
    [
        (consecutive_pairs, 64),
        (consecutive_pairs, 1024),
        (multiple_pairs, 64),
        (multiple_pairs, 1024),
        (random_pairs, 64),
        (random_pairs, 2**32),
        (one_bit_pairs, 2**32),
    ],
)
def test_two_values_collide_once_in_g_seeds(
    pairs: Callable[[np.random.Generator, int], list[tuple[int, int]]], split: int, g: int
) -> None:
    seeds = fresh_seeds()
    chosen = pairs(np.random.default_rng(RNG_SEED + g), split)
    scores = []
    for x, y in chosen:
        collisions = int(np.count_nonzero(hash_one(seeds, x, split, g) == hash_one(seeds, y, split, g)))
        scores.append(abs(z_of_count(collisions, SEEDS, 1 / g)))
    assert max(scores) < limit(len(chosen))


@pytest.mark.full
@pytest.mark.parametrize("g", [1000, 10**6, 2**20, 3 * 2**22, 2**24 - 1, 2**24])
def test_entries_meet_nearly_as_seldom_as_cells_are_many(g: int) -> None:
    # All 2^24 values of an entry before it is scaled: of those, 2^24/g fall on a cell, rounded up or down.
    cells = np.bincount(np.arange(2**24) * g >> 24, minlength=g)
    together = float((cells**2).sum()) / 2**48 * g
    assert 1 <= together <= 1 + (g / 2**24) ** 2 / 4
    assert together <= 1.125
    assert (together == 1) == (g & (g - 1) == 0)


@pytest.mark.full
@pytest.mark.parametrize("g", [2**20, 2**24])
@pytest.mark.parametrize(
    ("kinds", "split"), [((consecutive_pairs, multiple_pairs), 4096), ((random_pairs, one_bit_pairs), 2**32)]
)
def test_two_values_are_any_distance_apart_in_a_wide_row(
    kinds: tuple[Callable[[np.random.Generator, int], list[tuple[int, int]]], ...], split: int, g: int
) -> None:
    # One cell in a million is met too seldom to count; but where two values meet alike in every part of the row and
    # for every remainder, they do in every cell of a power of two.
    rng, seeds = np.random.default_rng(RNG_SEED + g), fresh_seeds()
    chosen = [pair for kind in kinds for pair in kind(rng, split)[::3]]
    scores = []
    for x, y in chosen:
        apart = (hash_one(seeds, x, split, g).astype(np.int64) - hash_one(seeds, y, split, g)) % g
        for part in (apart * 1024 // g, apart % 1024):
            scores.append(abs(z_of_cells(np.bincount(part, minlength=1024))))
    assert max(scores) < limit(len(scores))


def triples(split: int) -> list[tuple[int, int, int]]:
    """Corners of the table: with two equal low or high characters, with neighbours, and with none in common."""
    return [
        (0, 1, split),
        (5, 5 + split, 5 + 2 * split),
        (0, 1, 2),
        (split - 1, split, 2 * split - 1),
        (3, 17 * split + 11, 40 * split + 29),
    ]


@pytest.mark.full
@pytest.mark.parametrize("g", [2, 4, 21])
@pytest.mark.parametrize("split", [64, 2**32])
def test_hashes_of_three_values_are_jointly_uniform(split: int, g: int) -> None:
    seeds = fresh_seeds()
    scores = []
    for triple in triples(split):
        a, b, c = (hash_one(seeds, x, split, g).astype(np.int64) for x in triple)
        scores.append(abs(z_of_cells(np.bincount((a * g + b) * g + c, minlength=g**3))))
    assert max(scores) < limit(len(scores))


@pytest.mark.full
@pytest.mark.parametrize("split", [64, 2**32])
def test_combinations_of_three_hashes_are_uniform_for_a_large_g(split: int) -> None:
    # g³ cells would be too thin at g = 150; a uniform triple makes every combination modulo g uniform.
    g, seeds = 150, fresh_seeds()
    scores = []
    for triple in triples(split):
        a, b, c = (hash_one(seeds, x, split, g).astype(np.int64) for x in triple)
        for left, right in [(1, 1), (1, -1), (-2, 1), (-1, -1), (7, 31)]:
            scores.append(abs(z_of_cells(np.bincount((a + left * b + right * c) % g, minlength=g))))
    assert max(scores) < limit(len(scores))


@pytest.mark.full
@pytest.mark.parametrize("g", [2, 3, 4, 21, 150, 256, 257, 1000])
def test_hash_of_one_value_is_uniform(g: int) -> None:
    seeds = fresh_seeds()
    values = [(0, 64), (1, 64), (63, 64), (64, 64), (2**64 - 1, 2**32)]
    scores = [abs(z_of_cells(np.bincount(hash_one(seeds, x, split, g), minlength=g))) for x, split in values]
    assert max(scores) < limit(len(scores))
