"""Every C kernel gives the bits of its NumPy twin, and every twin gives what its definition says.

The C side is run for each instruction set that this machine has, not only for the one it would choose.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plausibly.kernels import native, reference

Array = npt.NDArray[Any]

LIBRARY = native._open()
SETS = ["baseline", "avx2"] if native._best(LIBRARY) == "avx2" else ["baseline"]
BOUND = {name: native._bind(LIBRARY, name) for name in SETS}

SIZES = [2, 3, 4, 21, 150, 256, 257, 1000, 65536]
SPLITS = [1, 5, 64, 100, 128, 1024, 2**32]
EDGES = sorted({around + step for around in (0, 8, 16, 32, 64, 128, 248, 256, 496, 512) for step in (-1, 0, 1)} - {-1})

lengths = st.one_of(st.sampled_from(EDGES), st.integers(0, 700))
few = st.integers(0, 40)
random_seeds = st.integers(0, 2**32 - 1)
words64 = st.one_of(st.integers(1, 2**64 - 1), st.sampled_from([1, 2**56, 2**63, 2**64 - 2**56, 2**64 - 1]))

# Derandomized: what passes on one machine passes on the next.
quickly = settings(max_examples=60, deadline=None, derandomize=True)
each_set = pytest.mark.parametrize("instruction_set", SETS)


@pytest.fixture(autouse=True, scope="module")
def _restore_the_best_instruction_set() -> Iterator[None]:
    yield
    native.load()


def natural_split(domain_size: int) -> int:
    return max(64, 1 << ((domain_size - 1).bit_length() + 1) // 2)


def random_words(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(0, 2**64, size=shape, dtype=np.uint64)


def crafted_words(rng: np.random.Generator, shape: tuple[int, ...], special: list[int]) -> Array:
    """Random words, every other one replaced by a neighbour of a special word."""
    near = sorted({(word + step) % 2**64 for word in special for step in (-1, 0, 1)})
    chosen = rng.choice(np.array(near, dtype=np.uint64), size=shape)
    return np.where(rng.integers(0, 2, size=shape) == 1, chosen, random_words(rng, *shape))


def last_accepted(m: int) -> int:
    return 2**64 - 1 - 2**64 % m


def assert_same(instruction_set: str, name: str, *arguments: Array | int | bytes) -> tuple[Array, ...]:
    """Run both kernels on read-only inputs, compare values, types and shapes, and hand back the results."""
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            argument.flags.writeable = False
    native._functions.update(BOUND[instruction_set])
    results = []
    for module in (native, reference):
        kernel: Callable[..., Any] = getattr(module, name)
        result = kernel(*arguments)
        results.append(result if isinstance(result, tuple) else (result,))
    for ours, twin in zip(*results, strict=True):
        assert ours.dtype == twin.dtype
        assert ours.shape == twin.shape
        np.testing.assert_array_equal(ours, twin)
    return results[0]


def parity(word: int) -> int:
    return word.bit_count() & 1


# --- direct_response ------------------------------------------------------------------------------------------


@each_set
@quickly
@given(
    seed=random_seeds,
    n=lengths,
    size=st.one_of(st.sampled_from([2, 3, 4, 5, 2**16, 2**31 + 1, 2**32 - 1, 2**32]), st.integers(2, 2**32)),
    keep=words64,
    column=st.integers(0, 2),
    spare=st.integers(0, 2),
)
def test_direct_response_is_the_same(
    instruction_set: str, seed: int, n: int, size: int, keep: int, column: int, spare: int
) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, size, size=n, dtype=np.uint64)
    special = [0, keep, last_accepted(size - 1), (size - 1) * int(rng.integers(2**30)), 2**64 - 1]
    words = crafted_words(rng, (n, column + 2 + spare), special)
    y, redo = assert_same(instruction_set, "direct_response", values, words, column, keep, size)
    accepted = np.setdiff1d(np.arange(n), redo)
    for i in accepted[:20].tolist():
        value, w = int(values[i]), [int(word) for word in words[i]]
        u = w[column + 1] % (size - 1)
        assert y[i] == (value if w[column] < keep else u + (u >= value))
    assert redo.tolist() == [i for i in range(n) if int(words[i, column + 1]) > last_accepted(size - 1)]


@each_set
@pytest.mark.parametrize("rejected", [0, 1, 15, 16, 17, 300])
def test_direct_response_lists_every_rejected_word_beyond_its_first_capacity(
    instruction_set: str, rejected: int
) -> None:
    words = np.zeros((300, 2), dtype=np.uint64)
    words[300 - rejected :, 1] = 2**64 - 1
    _, redo = assert_same(instruction_set, "direct_response", np.ones(300, dtype=np.uint64), words, 0, 2**63, 4)
    assert redo.tolist() == list(range(300 - rejected, 300))


# --- local_hash and support -------------------------------------------------------------------------------------


@each_set
@quickly
@given(seed=random_seeds, n=lengths, split=st.sampled_from(SPLITS), size=st.sampled_from(SIZES))
def test_local_hash_is_the_same(instruction_set: str, seed: int, n: int, split: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    special = [0, split, 2**32, 2**63, 2**64 - 1]
    seeds, values = crafted_words(rng, (n,), special), crafted_words(rng, (n,), special)
    (hashed,) = assert_same(instruction_set, "local_hash", seeds, values, split, size)
    assert n == 0 or hashed.max() < size


@each_set
@pytest.mark.parametrize("size", SIZES)
@settings(quickly, max_examples=20)
@given(
    seed=random_seeds,
    n=lengths,
    domain_size=st.one_of(st.sampled_from([d for d in EDGES if d]), st.integers(1, 700)),
    split=st.sampled_from([0, *SPLITS]),
)
def test_support_counts_are_the_same(
    instruction_set: str, size: int, seed: int, n: int, domain_size: int, split: int
) -> None:
    rng = np.random.default_rng(seed)
    split = split or natural_split(domain_size)
    seeds, hashes = random_words(rng, n), rng.integers(0, size, size=n, dtype=np.uint32)
    # A third of the reports are truthful, so that large ranges have support too.
    truth = rng.integers(0, domain_size, size=n, dtype=np.uint64)
    hashes[::3] = reference.local_hash(seeds, truth, split, size)[::3]
    (counts,) = assert_same(instruction_set, "support_counts", seeds, hashes, domain_size, split, size)
    for x in rng.integers(0, domain_size, size=4).tolist():
        hashed = reference.local_hash(seeds, np.full(n, x, dtype=np.uint64), split, size)
        assert counts[x] == np.count_nonzero(hashed == hashes)


@each_set
@pytest.mark.parametrize("size", [21, 1000])
@pytest.mark.parametrize(("n", "domain_size", "split"), [(249, 64 * 600 + 7, 64), (9, 100_003, 512), (3, 5000, 2**32)])
def test_support_counts_are_the_same_beyond_one_group_of_high_characters(
    instruction_set: str, size: int, n: int, domain_size: int, split: int
) -> None:
    rng = np.random.default_rng(1)
    hashes = rng.integers(0, size, size=n, dtype=np.uint32)
    assert_same(instruction_set, "support_counts", random_words(rng, n), hashes, domain_size, split, size)


@each_set
@pytest.mark.parametrize("size", SIZES)
def test_support_counters_do_not_overflow_when_every_report_agrees(instruction_set: str, size: int) -> None:
    seeds = np.full(70_000, 0x0123456789ABCDEF, dtype=np.uint64)
    hashes = reference.local_hash(seeds, np.full(70_000, 99, dtype=np.uint64), 64, size)
    (counts,) = assert_same(instruction_set, "support_counts", seeds, hashes, 100, 64, size)
    assert counts[99] == 70_000


@each_set
@quickly
@given(seed=random_seeds, n=lengths, k=few, split=st.sampled_from(SPLITS), size=st.sampled_from(SIZES))
def test_support_of_candidates_is_the_same(
    instruction_set: str, seed: int, n: int, k: int, split: int, size: int
) -> None:
    rng = np.random.default_rng(seed)
    seeds, candidates = random_words(rng, n), crafted_words(rng, (k,), [0, split, 2**32, 2**64 - 1])
    hashes = rng.integers(0, size, size=n, dtype=np.uint32)
    if k:
        hashes[::2] = reference.local_hash(seeds, rng.choice(candidates, size=n), split, size)[::2]
    (counts,) = assert_same(instruction_set, "support_of", seeds, hashes, candidates, split, size)
    for j in range(min(k, 3)):
        hashed = reference.local_hash(seeds, np.full(n, candidates[j]), split, size)
        assert counts[j] == np.count_nonzero(hashed == hashes)


@each_set
def test_support_of_is_the_same_beyond_one_block_of_reports(instruction_set: str) -> None:
    rng = np.random.default_rng(2)
    hashes = rng.integers(0, 4, size=3000, dtype=np.uint32)
    assert_same(instruction_set, "support_of", random_words(rng, 3000), hashes, random_words(rng, 9), 2**32, 4)


def random_table(rng: np.random.Generator, k: int, size: int) -> Array:
    """Small and extreme entries: sums may wrap around, and must do so alike."""
    return rng.choice(np.array([-(2**63), -5, 0, 1, 7, 2**63 - 1]), size=(k, size))


@each_set
@quickly
@given(
    seed=random_seeds,
    k=few,
    domain_size=st.integers(1, 3000),
    split=st.sampled_from([0, *SPLITS]),
    size=st.sampled_from(SIZES[:-1]),
)
def test_table_support_is_the_same(
    instruction_set: str, seed: int, k: int, domain_size: int, split: int, size: int
) -> None:
    rng = np.random.default_rng(seed)
    split = split or natural_split(domain_size)
    seeds, table = random_words(rng, k), random_table(rng, k, size)
    (sums,) = assert_same(instruction_set, "table_support", seeds, table, domain_size, split)
    for x in rng.integers(0, domain_size, size=2).tolist():
        hashed = reference.local_hash(seeds, np.full(k, x, dtype=np.uint64), split, size)
        assert sums[x] == table[np.arange(k), hashed].sum()


@each_set
@pytest.mark.parametrize(("k", "domain_size", "split"), [(5, 1500 * 64, 64), (6, 2**16, 2**32), (1, 70_000, 512)])
def test_table_support_is_the_same_beyond_one_buffer(
    instruction_set: str, k: int, domain_size: int, split: int
) -> None:
    rng = np.random.default_rng(3)
    assert_same(instruction_set, "table_support", random_words(rng, k), random_table(rng, k, 65536), domain_size, split)


@each_set
@quickly
@given(seed=random_seeds, k=few, c=lengths, split=st.sampled_from(SPLITS), size=st.sampled_from(SIZES[:-1]))
def test_table_support_of_candidates_is_the_same(
    instruction_set: str, seed: int, k: int, c: int, split: int, size: int
) -> None:
    rng = np.random.default_rng(seed)
    seeds, table, candidates = random_words(rng, k), random_table(rng, k, size), random_words(rng, c)
    (sums,) = assert_same(instruction_set, "table_support_of", seeds, table, candidates, split)
    if c:
        hashed = reference.local_hash(seeds, np.full(k, candidates[-1]), split, size)
        assert sums[-1] == table[np.arange(k), hashed].sum()


@each_set
def test_table_support_of_is_the_same_beyond_one_buffer(instruction_set: str) -> None:
    rng = np.random.default_rng(4)
    assert_same(
        instruction_set,
        "table_support_of",
        random_words(rng, 3),
        random_table(rng, 3, 65536),
        random_words(rng, 2500),
        64,
    )


# --- unary_response and column_sums ------------------------------------------------------------------------------


def unary_case(rng: np.random.Generator, n: int, d: int, thresholds: tuple[int, int]) -> tuple[Array, Array]:
    """Values and head bytes, half of them at or next to a threshold."""
    near = np.array([(t >> 56) + step & 255 for t in thresholds for step in (-1, 0, 1)], dtype=np.uint8)
    head = np.where(
        rng.integers(0, 2, size=(n, d)) == 1,
        rng.choice(near, size=(n, d)),
        rng.integers(0, 256, size=(n, d), dtype=np.uint8),
    )
    return rng.integers(0, d, size=n, dtype=np.uint64), head.astype(np.uint8)


@each_set
@quickly
@given(seed=random_seeds, n=few, d=lengths.map(lambda d: d + 1), true=words64, other=words64)
def test_unary_response_is_the_same(instruction_set: str, seed: int, n: int, d: int, true: int, other: int) -> None:
    values, head = unary_case(np.random.default_rng(seed), n, d, (true, other))
    assert_same(instruction_set, "unary_response", values, head, true, other)


@each_set
def test_unary_response_is_the_same_at_every_tail_length(instruction_set: str) -> None:
    rng = np.random.default_rng(5)
    for d in range(1, 330):
        values, head = unary_case(rng, 3, d, (2**63, 2**62))
        assert_same(instruction_set, "unary_response", values, head, 2**63, 2**62)


@each_set
@pytest.mark.parametrize("byte", [0, 1, 127, 128, 254, 255])
@pytest.mark.parametrize("d", [5, 64, 100])
def test_unary_response_compares_every_head_byte_with_any_threshold(instruction_set: str, byte: int, d: int) -> None:
    head = np.repeat(np.arange(256, dtype=np.uint8), d).reshape(256, d)
    threshold = (byte << 56) + 1
    assert_same(instruction_set, "unary_response", np.zeros(256, dtype=np.uint64), head, 2**63, threshold)


@each_set
def test_unary_response_follows_its_definition_bit_by_bit(instruction_set: str) -> None:
    true, other = 0x8000000000000000, 0x4477000000000000
    values, head = unary_case(np.random.default_rng(6), 30, 75, (true, other))
    bitmaps, reports, bits = assert_same(instruction_set, "unary_response", values, head, true, other)
    ties = []
    for i in range(30):
        assert bitmaps[i, 9] >> 3 == 0
        for j in range(75):
            threshold = (true if j == values[i] else other) >> 56
            assert bitmaps[i, j >> 3] >> (j & 7) & 1 == (head[i, j] < threshold)
            if head[i, j] == threshold:
                ties.append((i, j))
    assert list(zip(reports.tolist(), bits.tolist(), strict=True)) == ties


@each_set
def test_unary_response_lists_every_tie_when_all_bits_tie(instruction_set: str) -> None:
    head = np.full((7, 70), 0x80, dtype=np.uint8)
    bitmaps, reports, bits = assert_same(
        instruction_set, "unary_response", np.arange(7, dtype=np.uint64), head, 2**63, 2**63 + 5
    )
    assert not bitmaps.any()
    assert reports.tolist() == np.repeat(np.arange(7), 70).tolist()
    assert bits.tolist() == list(range(70)) * 7


@each_set
@quickly
@given(seed=random_seeds, n=lengths, size=lengths.map(lambda d: d + 1))
def test_column_sums_are_the_same(instruction_set: str, seed: int, n: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    bitmaps = rng.integers(0, 256, size=(n, -(-size // 8)), dtype=np.uint8)
    (sums,) = assert_same(instruction_set, "column_sums", bitmaps, size)
    for j in {0, size - 1, size // 2}:
        assert sums[j] == np.count_nonzero(bitmaps[:, j >> 3] >> (j & 7) & 1)


@each_set
@quickly
@given(seed=random_seeds, n=lengths, row_bytes=lengths.map(lambda d: d + 1))
def test_row_sums_are_the_same(instruction_set: str, seed: int, n: int, row_bytes: int) -> None:
    bitmaps = np.random.default_rng(seed).integers(0, 256, size=(n, row_bytes), dtype=np.uint8)
    (sums,) = assert_same(instruction_set, "row_sums", bitmaps)
    assert sums.tolist() == [int.from_bytes(row.tobytes(), "little").bit_count() for row in bitmaps]


@each_set
def test_column_sums_are_the_same_at_every_tail_length(instruction_set: str) -> None:
    rng = np.random.default_rng(7)
    for size in range(1, 530):
        bitmaps = rng.integers(0, 256, size=(size % 37 + 20, -(-size // 8)), dtype=np.uint8)
        assert_same(instruction_set, "column_sums", bitmaps, size)
    for n in range(0, 300, 7):
        assert_same(instruction_set, "column_sums", rng.integers(0, 256, size=(n, 1), dtype=np.uint8), 3)


@each_set
@pytest.mark.parametrize("n", [4079, 4080, 4081, 4096, 8161])
def test_column_counters_do_not_overflow_when_every_bit_is_set(instruction_set: str, n: int) -> None:
    (sums,) = assert_same(instruction_set, "column_sums", np.full((n, 257), 255, dtype=np.uint8), 2049)
    assert (sums == n).all()


@each_set
@pytest.mark.parametrize("row_bytes", [511, 512, 513, 1023, 1024, 1025, 3000])
def test_column_sums_are_the_same_beyond_one_stripe(instruction_set: str, row_bytes: int) -> None:
    bitmaps = np.random.default_rng(8).integers(0, 256, size=(37, row_bytes), dtype=np.uint8)
    assert_same(instruction_set, "column_sums", bitmaps, 8 * row_bytes - 3)


# --- walsh_hadamard ------------------------------------------------------------------------------------------------


@each_set
@pytest.mark.parametrize("m", range(17))
@pytest.mark.parametrize("rows", [0, 1, 3])
def test_walsh_hadamard_is_the_same(instruction_set: str, m: int, rows: int) -> None:
    a = np.random.default_rng(m).integers(-(2**63), 2**63 - 1, size=(rows, 2**m))
    ours, twin = a.copy(), a.copy()
    native._functions.update(BOUND[instruction_set])
    native.walsh_hadamard(ours)
    reference.walsh_hadamard(twin)
    np.testing.assert_array_equal(ours, twin)


def test_walsh_hadamard_follows_its_definition() -> None:
    signs = np.array([[(-1) ** parity(i & j) for j in range(32)] for i in range(32)])
    a = np.random.default_rng(9).integers(-1000, 1000, size=(2, 32))
    transformed = a.copy()
    reference.walsh_hadamard(transformed)
    np.testing.assert_array_equal(transformed, a @ signs)


# --- parity_hash and gray_scatter ------------------------------------------------------------------------------------


@each_set
@quickly
@given(seed=random_seeds, n=lengths, t=st.integers(0, 32))
def test_parity_hash_is_the_same(instruction_set: str, seed: int, n: int, t: int) -> None:
    rng = np.random.default_rng(seed)
    values, rows = random_words(rng, n), random_words(rng, n, t)
    (hashed,) = assert_same(instruction_set, "parity_hash", values, rows)
    for i in range(min(n, 3)):
        assert hashed[i] == sum(parity(int(rows[i, j]) & int(values[i])) << j for j in range(t))


@each_set
@quickly
@given(seed=random_seeds, n=lengths, t=st.integers(0, 6), bits=st.integers(0, 9))
def test_gray_scatter_is_the_same(instruction_set: str, seed: int, n: int, t: int, bits: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2**bits, size=(n, t), dtype=np.uint64)
    hashes = rng.integers(0, 2**t, size=n, dtype=np.uint32)
    weights = rng.choice(np.array([-(2**63), -3, 0, 1, 2, 2**63 - 1]), size=2**t)
    assert_same(instruction_set, "gray_scatter", rows, hashes, bits, weights)


@each_set
def test_gray_scatter_follows_its_definition(instruction_set: str) -> None:
    rng = np.random.default_rng(10)
    rows, hashes = rng.integers(0, 64, size=(50, 4), dtype=np.uint64), rng.integers(0, 16, size=50, dtype=np.uint32)
    weights = rng.integers(-9, 9, size=16)
    (out,) = assert_same(instruction_set, "gray_scatter", rows, hashes, 6, weights)
    expected = [0] * 64
    for i in range(50):
        for s in range(1, 16):
            place = 0
            for j in range(4):
                place ^= int(rows[i, j]) * (s >> j & 1)
            expected[place] += int(weights[s]) * (-1) ** parity(s & int(hashes[i]))
    assert out.tolist() == expected


# --- hadamard_response -----------------------------------------------------------------------------------------------


@each_set
@quickly
@given(seed=random_seeds, n=lengths, log_blocks=st.integers(0, 12), log_order=st.integers(1, 19), keep=words64)
def test_hadamard_response_is_the_same(
    instruction_set: str, seed: int, n: int, log_blocks: int, log_order: int, keep: int
) -> None:
    rng = np.random.default_rng(seed)
    blocks, order = 1 << log_blocks, 1 << log_order
    values = rng.integers(0, blocks * (order - 1), size=n, dtype=np.uint64)
    last = last_accepted(2 * blocks - 1)
    # Multiples of 2B − 1 give the draw 0, which asks for the odd half of the own block.
    special = [0, keep, last, last - last % (2 * blocks - 1), (2 * blocks - 1) * int(rng.integers(2**30)), 2**64 - 1]
    words = crafted_words(rng, (n, 3), special)
    z, redo = assert_same(instruction_set, "hadamard_response", values, words, keep, blocks, order)
    assert redo.tolist() == [i for i in range(n) if int(words[i, 1]) > last]
    for i in np.setdiff1d(np.arange(n), redo)[:20].tolist():
        x, (coin, choice, spot) = int(values[i]), (int(word) for word in words[i])
        own, r, w, u = x % blocks, 1 + x // blocks, choice % (2 * blocks - 1), spot % order
        others = [block for block in range(blocks) if block != own]
        kept = coin < keep
        block = own if kept or w == 0 else others[(w - 1) >> 1]
        if (kept or w == 0) and parity(u & r) != (0 if kept else 1):
            u ^= r & -r
        assert z[i] == block * order + u


@each_set
@pytest.mark.parametrize("rejected", [16, 17, 40])
def test_hadamard_response_lists_every_rejected_word_beyond_its_first_capacity(
    instruction_set: str, rejected: int
) -> None:
    words = np.zeros((50, 3), dtype=np.uint64)
    words[:rejected, 1] = 2**64 - 1
    _, redo = assert_same(instruction_set, "hadamard_response", np.zeros(50, dtype=np.uint64), words, 1, 4, 8)
    assert redo.tolist() == list(range(rejected))


# --- subset_response -------------------------------------------------------------------------------------------------


def subset(value: int, words: list[int], keep: int, size: int) -> set[int]:
    """The subset of one report, by the definition: a list of the others, shuffled from the front."""
    others = [item for item in range(size) if item != value]
    for i, word in enumerate(words[1:]):
        j = i + word % (size - 1 - i)
        others[i], others[j] = others[j], others[i]
    w = len(words) - 1
    return {*others[: w - 1], value} if words[0] < keep else set(others[:w])


@each_set
@quickly
@given(
    seed=random_seeds,
    n=lengths,
    size=st.one_of(st.sampled_from([2, 3, 7, 8, 9, 63, 64, 65, 257]), st.integers(2, 300)),
    share=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    keep=words64,
)
def test_subset_response_is_the_same(
    instruction_set: str, seed: int, n: int, size: int, share: float, keep: int
) -> None:
    rng = np.random.default_rng(seed)
    w = max(1, round(share * (size - 1)))
    values = rng.integers(0, size, size=n, dtype=np.uint64)
    special = [0, keep, last_accepted(size - 1), last_accepted(max(1, size - w)), 2**63]
    words = crafted_words(rng, (n, 1 + w), special)
    # The moduli fall from column to column, so a word that one of them refuses is rare: place some.
    words[: n // 3, 1 + (seed % w)] = 2**64 - 1
    bitmaps, redo = assert_same(instruction_set, "subset_response", values, words, keep, size)
    lists = words[:, 1:].tolist()
    lasts = [last_accepted(size - 1 - i) for i in range(w)]
    assert redo.tolist() == [i for i in range(n) if any(map(int.__gt__, lists[i], lasts))]
    for i in np.setdiff1d(np.arange(n), redo)[:5].tolist():
        bits = np.unpackbits(bitmaps[i], bitorder="little")
        assert set(np.flatnonzero(bits).tolist()) == subset(int(values[i]), words[i].tolist(), keep, size)
        assert bits.sum() == w


@each_set
@pytest.mark.parametrize("rejected", [16, 17, 50])
def test_subset_response_lists_every_rejected_word_beyond_its_first_capacity(
    instruction_set: str, rejected: int
) -> None:
    words = np.zeros((50, 3), dtype=np.uint64)
    words[50 - rejected :, 2] = 2**64 - 1
    _, redo = assert_same(instruction_set, "subset_response", np.ones(50, dtype=np.uint64), words, 2**63, 7)
    assert redo.tolist() == list(range(50 - rejected, 50))


# --- window_response -------------------------------------------------------------------------------------------------


@each_set
@quickly
@given(
    seed=random_seeds, n=lengths, t=st.integers(1, 12), column=st.integers(0, 2), spare=st.integers(0, 2), keep=words64
)
def test_window_response_is_the_same(
    instruction_set: str, seed: int, n: int, t: int, column: int, spare: int, keep: int
) -> None:
    rng = np.random.default_rng(seed)
    size = 1 << t
    window = int(rng.choice([1, size - 1, int(rng.integers(1, size))]))
    hashes = rng.integers(0, size, size=n, dtype=np.uint32)
    special = [0, keep, last_accepted(window), last_accepted(size - window), 2**64 - 1]
    words = crafted_words(rng, (n, column + 3 + spare), special)
    y, redo = assert_same(instruction_set, "window_response", hashes, words, column, keep, size, window)
    refused = []
    for i, (coin, near, far) in enumerate(words[:, column : column + 3].tolist()):
        if near > last_accepted(window) or far > last_accepted(size - window):
            refused.append(i)
            continue
        error = near % window if coin < keep else window + far % (size - window)
        assert y[i] == hashes[i] ^ error
    assert redo.tolist() == refused


@each_set
@pytest.mark.parametrize("rejected", [16, 17, 40])
@pytest.mark.parametrize("column", [1, 2])
def test_window_response_lists_every_rejected_word_beyond_its_first_capacity(
    instruction_set: str, rejected: int, column: int
) -> None:
    words = np.zeros((50, 3), dtype=np.uint64)
    words[:rejected, column] = 2**64 - 1
    hashes = np.zeros(50, dtype=np.uint32)
    _, redo = assert_same(instruction_set, "window_response", hashes, words, 0, 2**63, 8, 3)
    # Below 3 and below 5 every word but 2^64 - 1 is accepted.
    assert redo.tolist() == list(range(rejected))


# --- Toeplitz hashing ------------------------------------------------------------------------------------------------


def toeplitz_row(matrix: int, j: int, item_bits: int) -> int:
    return matrix >> j & (2**item_bits - 1)


@each_set
@quickly
@given(seed=random_seeds, n=lengths, t=st.integers(1, 12), data=st.data())
def test_toeplitz_hash_is_the_same(instruction_set: str, seed: int, n: int, t: int, data: st.DataObject) -> None:
    item_bits = data.draw(st.one_of(st.sampled_from([1, 17, 65 - t]), st.integers(1, 65 - t)))
    rng = np.random.default_rng(seed)
    values, matrices = (crafted_words(rng, (n,), [0, 2**item_bits - 1, 2**64 - 1]) for _ in range(2))
    (hashed,) = assert_same(instruction_set, "toeplitz_hash", values, matrices, t, item_bits)
    for i in range(min(n, 3)):
        rows = [toeplitz_row(int(matrices[i]), j, item_bits) for j in range(t)]
        assert hashed[i] == sum(parity(row & int(values[i])) << j for j, row in enumerate(rows))


@each_set
@quickly
@given(
    seed=random_seeds,
    n=st.one_of(st.sampled_from([0, 1, 255, 256, 257]), st.integers(0, 300)),
    t=st.integers(1, 8),
    item_bits=st.integers(0, 11),
    weight=st.sampled_from([1, 100, 2**22, 2**40, 2**63 - 1]),
)
def test_toeplitz_scatter_is_the_same(
    instruction_set: str, seed: int, n: int, t: int, item_bits: int, weight: int
) -> None:
    rng = np.random.default_rng(seed)
    matrices = crafted_words(rng, (n,), [0, 2**64 - 1])
    hashes = rng.integers(0, 2**t, size=n, dtype=np.uint32)
    weights = rng.integers(-weight, weight, endpoint=True, size=2**t)
    (out,) = assert_same(instruction_set, "toeplitz_scatter", matrices, hashes, item_bits, weights)
    rows = [[toeplitz_row(matrix, j, item_bits) for j in range(t)] for matrix in matrices.tolist()]
    again = reference.gray_scatter(np.array(rows, dtype=np.uint64).reshape(n, t), hashes, item_bits, weights)
    np.testing.assert_array_equal(out, again)


@each_set
@pytest.mark.parametrize("t", range(1, 13))
def test_toeplitz_scatter_is_the_same_for_every_number_of_hash_bits(instruction_set: str, t: int) -> None:
    rng = np.random.default_rng(t)
    hashes = rng.integers(0, 2**t, size=40, dtype=np.uint32)
    for item_bits in (1, 9, 14):
        weights = rng.integers(-9, 9, size=2**t)
        assert_same(instruction_set, "toeplitz_scatter", random_words(rng, 40), hashes, item_bits, weights)


@each_set
@pytest.mark.parametrize("name", ["toeplitz_scatter", "gray_scatter"])
@pytest.mark.parametrize("weight", [1, 2**20, 2**29, 2**31 - 1, 2**31, -(2**31), 2**62])
def test_scattered_sums_do_not_overflow_when_all_fall_on_one_frequency(
    instruction_set: str, name: str, weight: int
) -> None:
    n, t = 5000, 3
    rows = np.zeros(n if name == "toeplitz_scatter" else (n, t), dtype=np.uint64)
    weights = np.full(1 << t, weight, dtype=np.int64)
    (out,) = assert_same(instruction_set, name, rows, np.zeros(n, dtype=np.uint32), 8, weights)
    wrapped = (n * 7 * weight + 2**63) % 2**64 - 2**63
    assert out.tolist() == [wrapped] + [0] * 255


@each_set
@quickly
@given(seed=random_seeds, n=lengths, k=few, t=st.integers(1, 12), data=st.data())
def test_toeplitz_support_of_candidates_is_the_same(
    instruction_set: str, seed: int, n: int, k: int, t: int, data: st.DataObject
) -> None:
    item_bits = data.draw(st.one_of(st.sampled_from([1, 17, 65 - t]), st.integers(1, 65 - t)))
    rng = np.random.default_rng(seed)
    window = int(rng.integers(1, 2**t))
    matrices, candidates = random_words(rng, n), crafted_words(rng, (k,), [0, 1, 2**item_bits - 1])
    hashes = rng.integers(0, 2**t, size=n, dtype=np.uint32)
    (counts,) = assert_same(instruction_set, "toeplitz_support_of", matrices, hashes, candidates, t, item_bits, window)
    for j in range(min(k, 3)):
        hashed = reference.toeplitz_hash(np.full(n, candidates[j]), matrices, t, item_bits)
        assert counts[j] == sum(h ^ y < window for h, y in zip(hashed.tolist(), hashes.tolist(), strict=True))


@each_set
@pytest.mark.parametrize("n", [1023, 1024, 1025, 3000])
def test_toeplitz_support_of_is_the_same_beyond_one_block_of_reports(instruction_set: str, n: int) -> None:
    rng = np.random.default_rng(11)
    hashes = rng.integers(0, 16, size=n, dtype=np.uint32)
    candidates = random_words(rng, 9)
    assert_same(instruction_set, "toeplitz_support_of", random_words(rng, n), hashes, candidates, 4, 61, 3)


# --- Affine geometry -------------------------------------------------------------------------------------------------


def remainder(dividend: int, divisor: int) -> int:
    """The remainder of polynomials over GF(2)."""
    while dividend.bit_length() >= divisor.bit_length():
        dividend ^= divisor << dividend.bit_length() - divisor.bit_length()
    return dividend


def product(a: int, b: int, t: int) -> int:
    """The product of two elements of GF(2^t)."""
    whole = 0
    for j in range(t):
        whole ^= (a << j) * (b >> j & 1)
    return remainder(whole, reference._FIELDS[t - 1])


def points(t: int, dimension: int) -> list[int]:
    """The canonical points in the order of their lines."""
    return [free | 1 << t * f for f in range(dimension) for free in range(1 << t * f)]


def coordinates(word: int, t: int, dimension: int) -> list[int]:
    return [word >> t * i & (2**t - 1) for i in range(dimension)]


def number_of_lines(t: int, dimension: int) -> int:
    return (2 ** (t * dimension) - 1) // (2**t - 1)


FIELDS = [(t, m) for t in range(1, 13) for m in range(1, 5)]
SMALL_FIELDS = [(t, m) for t, m in FIELDS if t * m <= 12]


@pytest.mark.parametrize("t", range(1, 13))
def test_the_field_has_the_smallest_irreducible_polynomial_with_a_constant_term(t: int) -> None:
    irreducible = (
        candidate
        for candidate in range(2**t + 1, 2 ** (t + 1), 2)
        if all(remainder(candidate, divisor) for divisor in range(2, 2 ** (t // 2 + 1)))
    )
    assert reference._FIELDS[t - 1] == next(irreducible)


@each_set
@pytest.mark.parametrize(("t", "dimension"), [*FIELDS, (1, 64), (2, 32), (8, 8), (12, 5)])
def test_affine_hash_is_the_same(instruction_set: str, t: int, dimension: int) -> None:
    rng = np.random.default_rng(100 * t + dimension)
    last = number_of_lines(t, dimension) - 1
    edges = [number_of_lines(t, f) + step for f in range(1, dimension) for step in (-1, 0)]
    lines = rng.integers(0, last, endpoint=True, size=1100, dtype=np.uint64)
    lines[: 2 * dimension] = [0, last, *edges]
    values = crafted_words(rng, (1100,), [0, 2 ** (t * dimension) - 1])
    for n in (0, 1, 31, 1024, 1100):
        (hashed,) = assert_same(instruction_set, "affine_hash", values[:n], lines[:n], t, dimension)
    for i in range(2 * dimension + 5):
        line = int(lines[i])
        f = max(f for f in range(dimension) if number_of_lines(t, f) <= line)
        point = coordinates(line - number_of_lines(t, f) | 1 << t * f, t, dimension)
        expected = 0
        for a, x in zip(point, coordinates(int(values[i]), t, dimension), strict=True):
            expected ^= product(a, x, t)
        assert hashed[i] == expected


@each_set
@pytest.mark.parametrize(("t", "dimension"), SMALL_FIELDS)
def test_affine_gather_is_the_same(instruction_set: str, t: int, dimension: int) -> None:
    rng = np.random.default_rng(100 * t + dimension)
    extremes = np.array([-(2**63), -5, 0, 1, 7, 2**63 - 1])
    rows = rng.choice(extremes, size=(number_of_lines(t, dimension), 2**t))
    for item_bits in sorted({0, 1, t, t * dimension - 1, t * dimension}):
        assert_same(instruction_set, "affine_gather", rows, t, dimension, item_bits)


@each_set
@pytest.mark.parametrize(("t", "dimension"), [(t, m) for t, m in SMALL_FIELDS if t * m <= 8])
def test_affine_gather_follows_its_definition(instruction_set: str, t: int, dimension: int) -> None:
    rng = np.random.default_rng(t)
    rows = rng.integers(-9, 9, size=(number_of_lines(t, dimension), 2**t))
    item_bits = max(1, t * dimension - 2)
    (out,) = assert_same(instruction_set, "affine_gather", rows, t, dimension, item_bits)
    expected = [0] * 2**item_bits
    for k, point in enumerate(points(t, dimension)):
        shifted = [product(a, 1 << j, t) for a in coordinates(point, t, dimension) for j in range(t)]
        for s in range(1, 2**t):
            dual = sum(parity(word & s) << bit for bit, word in enumerate(shifted))
            expected[dual % 2**item_bits] += int(rows[k, s])
    assert out.tolist() == expected


def test_gathered_rows_are_the_characters_of_the_hashes() -> None:
    # The transform of what is gathered counts, for each x, g * [hash of x = y] - 1 over the reports (line, y).
    t, dimension = 3, 2
    rng = np.random.default_rng(12)
    lines = rng.integers(0, 9, size=60, dtype=np.uint64)
    y = rng.integers(0, 8, size=60)
    table = np.zeros((9, 8), dtype=np.int64)
    np.add.at(table, (lines.astype(np.int64), y), 1)
    reference.walsh_hadamard(table)
    transformed = reference.affine_gather(table, t, dimension, 6).reshape(1, -1)
    reference.walsh_hadamard(transformed)
    for x in range(64):
        hashed = reference.affine_hash(np.full(60, x, dtype=np.uint64), lines, t, dimension)
        assert transformed[0, x] == 8 * np.count_nonzero(hashed == y) - 60


# --- keyed_hash ------------------------------------------------------------------------------------------------------


def joined(strings: list[bytes]) -> tuple[Array, Array]:
    """The strings as the kernel takes them."""
    ends = np.cumsum([len(string) for string in strings], dtype=np.int64)
    return np.frombuffer(b"".join(strings), dtype=np.uint8), ends


@each_set
@quickly
@given(
    strings=st.lists(st.binary(max_size=200), max_size=40),
    hash_seed=st.one_of(st.integers(0, 2**64 - 1), st.just(2**64 - 1)),
    tag=st.binary(max_size=8),
)
def test_keyed_hash_is_the_same(instruction_set: str, strings: list[bytes], hash_seed: int, tag: bytes) -> None:
    assert_same(instruction_set, "keyed_hash", *joined(strings), hash_seed, tag)


@each_set
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 17])
def test_keyed_hash_is_the_same_at_the_edges_of_blocks(instruction_set: str, n: int) -> None:
    rng = np.random.default_rng(n)
    edges = [0, 1, 3, 4, 5, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257]
    for _ in range(10):
        strings = [rng.bytes(length) for length in rng.choice(edges, size=n)]
        assert_same(instruction_set, "keyed_hash", *joined(strings), 7, b"edges")


@each_set
def test_keyed_hash_is_the_same_for_a_long_string_among_short_ones(instruction_set: str) -> None:
    rng = np.random.default_rng(13)
    strings = [b"", b"", rng.bytes(2**20), b"x", b"", rng.bytes(10**6 + 1), *[b"y"] * 9]
    assert_same(instruction_set, "keyed_hash", *joined(strings), 0, b"")


@each_set
def test_keyed_hash_of_nothing_is_nothing_and_of_empty_strings_is_one_number(instruction_set: str) -> None:
    assert_same(instruction_set, "keyed_hash", *joined([]), 1, b"tag")
    (hashed,) = assert_same(instruction_set, "keyed_hash", *joined([b""] * 11), 1, b"tag")
    assert len(set(hashed.tolist())) == 1


# --- local_hash_response and settle_ties -----------------------------------------------------------------------------


@each_set
@quickly
@given(
    seed=random_seeds,
    n=st.one_of(lengths, st.sampled_from([1023, 1024, 1025])),
    split=st.sampled_from(SPLITS),
    size=st.sampled_from(SIZES),
    keep=words64,
)
def test_local_hash_response_is_the_direct_response_to_the_hash(
    instruction_set: str, seed: int, n: int, split: int, size: int, keep: int
) -> None:
    rng = np.random.default_rng(seed)
    values, seeds = crafted_words(rng, (n,), [0, split, 2**32, 2**64 - 1]), random_words(rng, n)
    words = crafted_words(rng, (n, 3), [0, keep, last_accepted(size - 1), 2**64 - 1])
    y, redo = assert_same(instruction_set, "local_hash_response", values, seeds, words, 1, keep, split, size)
    hashed = reference.local_hash(seeds, values, split, size).astype(np.uint64)
    expected, refused = reference.direct_response(hashed, words, 1, keep, size)
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(redo, refused)


@each_set
@pytest.mark.parametrize("rejected", [16, 17, 1200])
def test_local_hash_response_lists_every_rejected_word_beyond_its_first_capacity(
    instruction_set: str, rejected: int
) -> None:
    words = np.zeros((1200, 3), dtype=np.uint64)
    words[1200 - rejected :, 2] = 2**64 - 1
    zeros = np.zeros(1200, dtype=np.uint64)
    _, redo = assert_same(instruction_set, "local_hash_response", zeros, zeros, words, 1, 2**63, 64, 4)
    assert redo.tolist() == list(range(1200 - rejected, 1200))


@each_set
@quickly
@given(seed=random_seeds, n=few, d=st.integers(1, 130), true=words64, other=words64)
def test_settled_ties_are_the_same_and_decide_as_the_whole_words_would(
    instruction_set: str, seed: int, n: int, d: int, true: int, other: int
) -> None:
    rng = np.random.default_rng(seed)
    values, head = unary_case(rng, n, d, (true, other))
    bitmaps, reports, bits = reference.unary_response(values, head, true, other)
    tails = crafted_words(rng, reports.shape, [0, true << 8, other << 8, 2**64 - 1])
    ours, twin = bitmaps.copy(), bitmaps.copy()
    native._functions.update(BOUND[instruction_set])
    native.settle_ties(ours, values, reports, bits, tails, true, other)
    reference.settle_ties(twin, values, reports, bits, tails, true, other)
    np.testing.assert_array_equal(ours, twin)
    whole = {
        (i, j): int(head[i, j]) << 56 | tail >> 8
        for i, j, tail in zip(reports.tolist(), bits.tolist(), tails.tolist(), strict=True)
    }
    for (i, j), word in whole.items():
        assert ours[i, j >> 3] >> (j & 7) & 1 == (word < (true if j == values[i] else other))
    for (i, j), word in whole.items():
        ours[i, j >> 3] &= 255 ^ (word < (true if j == values[i] else other)) << (j & 7)
    np.testing.assert_array_equal(ours, bitmaps)
