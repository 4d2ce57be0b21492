"""Every C kernel gives the bits of its NumPy twin, and every twin gives what its definition says.

The C side is run for each instruction set that this machine has, not only for the one it would choose.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import handed
from cases import in_turn
from drawn import drawn
from plausibly.core.galois import field_tables
from plausibly.kernels import native, reference
from plausibly.kernels.common import POLYNOMIALS

Array = npt.NDArray[Any]

LIBRARY = native._open()
ALL_SETS = ["baseline", "avx2", "avx512"]
SETS = ALL_SETS[: 1 + ALL_SETS.index(native._best_instruction_set(LIBRARY))]
BOUND = {name: native._bind(LIBRARY, name) for name in SETS}

SIZES = [2, 3, 4, 21, 150, 256, 257, 1000, 65536]
# Of rows of sketches alone: around the place where the arithmetic changes, and at the end.
WIDE = [2**16 + 1, 10**6, 2**20 - 1, 2**20, 2**20 + 1, 3 * 2**22 + 1, 2**24 - 1, 2**24]
SPLITS = [1, 5, 64, 100, 128, 1024, 2**32]
EDGES = sorted({around + step for around in (0, 8, 16, 32, 64, 128, 248, 256, 496, 512) for step in (-1, 0, 1)} - {-1})

lengths = st.one_of(st.sampled_from(EDGES), st.integers(0, 700))
few = st.integers(0, 40)
random_seeds = st.integers(0, 2**32 - 1)
words64 = st.one_of(st.integers(1, 2**64 - 1), st.sampled_from([1, 2**56, 2**63, 2**64 - 2**56, 2**64 - 1]))

quickly = drawn(60)
# The quick tests take the set that this machine uses.
each_set = pytest.mark.parametrize(
    "instruction_set", [*(pytest.param(name, marks=pytest.mark.full) for name in SETS[:-1]), SETS[-1]]
)


@pytest.fixture(autouse=True, scope="module")
def _with_checked_arguments() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(native, "_call", handed.checked(native._call))
        yield
    # Back to the best instruction set.
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


def coins(rng: np.random.Generator, n: int, keep: int) -> Array:
    """Random words, every other one beside the threshold, but never with its upper half: this half decides them all."""
    near = np.array([keep - 2**32, keep + 2**32], dtype=np.uint64)
    words = np.where(rng.integers(0, 2, size=n) == 1, rng.choice(near, size=n), random_words(rng, n))
    words[words >> np.uint64(32) == np.uint64(keep >> 32)] ^= np.uint64(2**63)
    return words


def draws(rng: np.random.Generator, n: int, m: int) -> Array:
    """Random words, every other one beside a multiple of m, where a quotient that is one off shows; none is refused."""
    words = random_words(rng, n)
    beside = words - words % np.uint64(m) + rng.integers(-1, 2, size=n).astype(np.uint64)
    words = np.where(rng.integers(0, 2, size=n) == 1, beside, words)
    words[words >> np.uint64(32) == np.uint64(2**32 - 1)] >>= np.uint64(1)
    return words


def field(numbers: Array, width: int, before: int = 1, after: int = 2) -> Array:
    """The numbers as a field of packed records, between other bytes."""
    record = np.dtype([("before", "u1", before), ("field", f"<u{width}", numbers.shape[1:]), ("after", "u1", after)])
    records = np.frombuffer(b"\xa5" * (record.itemsize * len(numbers)), dtype=record).copy()
    records["field"] = numbers
    view: Array = records["field"]
    return view


def widths_for(size: int) -> list[int]:
    """The widths of fields that hold every number below `size`."""
    return [width for width in (1, 2, 4, 8) if size <= 2 ** (8 * width)]


def assert_same_records(
    instruction_set: str, name: str, *arguments: Array | int, n: int, out: tuple[Any, ...], seed: int = 0
) -> tuple[list[Array], Array]:
    """Run both kernels on records of these fields, compare every byte, and hand back the fields and what is to redo."""
    rng = np.random.default_rng(seed)
    named = [(f"f{i}", *(kind if isinstance(kind, tuple) else (kind,))) for i, kind in enumerate(out)]
    # The fields lie between other bytes, which are nobody's business here.
    record = np.dtype([("before", "u1", int(rng.integers(1, 4))), *named, ("after", "u1", int(rng.integers(1, 4)))])
    blank = rng.integers(0, 256, size=n * record.itemsize, dtype=np.uint8)
    native._functions.update(BOUND[instruction_set])
    made = []
    for module in (native, reference):
        records = blank.copy().view(record)
        fields = tuple(records[f"f{i}"] for i in range(len(out)))
        redo = getattr(module, name)(*arguments, fields if len(fields) > 1 else fields[0])
        assert records["before"].tolist() == blank.view(record)["before"].tolist()
        assert records["after"].tolist() == blank.view(record)["after"].tolist()
        made.append(([np.ascontiguousarray(found) for found in fields], redo))
    (ours, redo), (twin, again) = made
    for mine, other in zip(ours, twin, strict=True):
        np.testing.assert_array_equal(mine, other)
    if isinstance(redo, np.ndarray):
        redo, again = (redo,), (again,)
    for mine, other in zip(redo, again, strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other)
    return ours, redo[0] if len(redo) == 1 else redo


def assert_same_cells(instruction_set: str, name: str, *arguments: Any, cells: Array) -> Array:
    """Run both kernels, which add to cells, on copies of these; compare, and hand back what was added."""
    native._functions.update(BOUND[instruction_set])
    ours, twin = cells.copy(), cells.copy()
    getattr(native, name)(*arguments, ours)
    getattr(reference, name)(*arguments, twin)
    np.testing.assert_array_equal(ours, twin)
    return ours - cells


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
)
def test_direct_response_is_the_same(instruction_set: str, seed: int, n: int, size: int, keep: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, size, size=n, dtype=np.uint64)
    special = [0, keep, last_accepted(size - 1), (size - 1) * int(rng.integers(2**30)), 2**64 - 1]
    words = crafted_words(rng, (n, 2), special)
    width = int(rng.choice(widths_for(size)))
    (y,), redo = assert_same_records(
        instruction_set, "direct_response", values, words, keep, size, n=n, out=(f"<u{width}",), seed=seed
    )
    accepted = np.setdiff1d(np.arange(n), redo)
    for i in accepted[:20].tolist():
        value, (coin, lie) = int(values[i]), words[i].tolist()
        u = lie % (size - 1)
        assert y[i] == (value if coin < keep else u + (u >= value))
    assert redo.tolist() == [i for i in range(n) if int(words[i, 1]) > last_accepted(size - 1)]


@each_set
@in_turn("rejected", [0, 1, 15, 16, 17, 300])
def test_direct_response_lists_every_rejected_word_beyond_its_first_capacity(
    instruction_set: str, rejected: int
) -> None:
    words = np.zeros((300, 2), dtype=np.uint64)
    words[300 - rejected :, 1] = 2**64 - 1
    arguments = np.ones(300, dtype=np.uint64), words, 2**63, 4
    _, redo = assert_same_records(instruction_set, "direct_response", *arguments, n=300, out=("u1",))
    assert redo.tolist() == list(range(300 - rejected, 300))


# Around the largest modulus of the products of 32 bits, and small and large ones.
MODULI = [1, 2, 3, 20, 255, 1023, 65536, 10**6, 2**29 + 1, 2**30 - 1, 2**30, 2**30 + 1, 2**31 - 1, 2**32 - 1]


@each_set
@in_turn("modulus", MODULI)
@in_turn("contiguous", [True, False])
def test_answers_that_upper_halves_decide_are_the_same(instruction_set: str, modulus: int, contiguous: bool) -> None:
    rng, n, keep = np.random.default_rng(modulus), 3000, 3 << 61
    size = modulus + 1
    values = rng.integers(0, size, size=n, dtype=np.uint64)
    words = np.stack([coins(rng, n, keep), draws(rng, n, modulus)], axis=1)
    native._functions.update(BOUND[instruction_set])
    for width in widths_for(size):
        blank = np.zeros(n, dtype=f"<u{width}")
        ours, twin = (blank.copy() if contiguous else field(blank, width) for _ in range(2))
        assert not len(native.direct_response(values, words, keep, size, ours))
        assert not len(reference.direct_response(values, words, keep, size, twin))
        np.testing.assert_array_equal(ours, twin)


# --- local_hash and support -------------------------------------------------------------------------------------


@each_set
@quickly
@given(
    seed=random_seeds,
    n=lengths,
    split=st.sampled_from(SPLITS),
    size=st.one_of(st.sampled_from([*SIZES, *WIDE]), st.integers(2, 2**24)),
)
def test_local_hash_is_the_same(instruction_set: str, seed: int, n: int, split: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    special = [0, split, 2**32, 2**63, 2**64 - 1]
    seeds, values = crafted_words(rng, (n,), special), crafted_words(rng, (n,), special)
    (hashed,) = assert_same(instruction_set, "local_hash", seeds, values, split, size)
    assert n == 0 or hashed.max() < size


@each_set
@in_turn("size", WIDE)
def test_hashes_below_many_cells_are_the_same(instruction_set: str, size: int) -> None:
    # Enough of them for every carry between the parts of the product.
    rng = np.random.default_rng(size)
    (hashed,) = assert_same(
        instruction_set, "local_hash", random_words(rng, 200_000), random_words(rng, 200_000), 2**32, size
    )
    assert size * 0.99 < hashed.max() < size


@each_set
@pytest.mark.parametrize("size", SIZES)
@drawn(20)
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
    answers = field(hashes, int(rng.choice(widths_for(size))))
    (counts,) = assert_same(instruction_set, "support_counts", field(seeds, 8), answers, domain_size, split, size)
    for x in rng.integers(0, domain_size, size=4).tolist():
        hashed = reference.local_hash(seeds, np.full(n, x, dtype=np.uint64), split, size)
        assert counts[x] == np.count_nonzero(hashed == hashes)


@each_set
@in_turn("size", [21, 1000])
@in_turn(("n", "domain_size", "split"), [(249, 64 * 600 + 7, 64), (9, 100_003, 512), (3, 5000, 2**32)])
def test_support_counts_are_the_same_beyond_one_group_of_high_characters(
    instruction_set: str, size: int, n: int, domain_size: int, split: int
) -> None:
    rng = np.random.default_rng(1)
    hashes = rng.integers(0, size, size=n, dtype=np.uint32)
    assert_same(instruction_set, "support_counts", random_words(rng, n), hashes, domain_size, split, size)


@each_set
@pytest.mark.parametrize(
    "size", [pytest.param(size, marks=() if size in (2, 256, 65536) else pytest.mark.full) for size in SIZES]
)
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
    answers = field(hashes, int(rng.choice(widths_for(size))))
    (counts,) = assert_same(instruction_set, "support_of", field(seeds, 8), answers, candidates, split, size)
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
@pytest.mark.parametrize("size", [65536, *(pytest.param(s, marks=pytest.mark.full) for s in (2**20, 3 * 2**19 + 1))])
def test_table_support_of_is_the_same_beyond_one_buffer(instruction_set: str, size: int) -> None:
    rng = np.random.default_rng(4)
    assert_same(
        instruction_set,
        "table_support_of",
        random_words(rng, 3),
        random_table(rng, 3, size),
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


def assert_same_bitmaps(
    instruction_set: str, values: Array, head: Array, true: int, other: int
) -> tuple[Array, Array, Array]:
    """Bitmaps and ties of both kernels."""
    n, d = head.shape
    (bitmaps,), ties = assert_same_records(
        instruction_set, "unary_response", values, head, true, other, n=n, out=(("u1", (-(-d // 8),)),), seed=d
    )
    return bitmaps, *ties


@each_set
@quickly
@given(seed=random_seeds, n=few, d=lengths.map(lambda d: d + 1), true=words64, other=words64)
def test_unary_response_is_the_same(instruction_set: str, seed: int, n: int, d: int, true: int, other: int) -> None:
    assert_same_bitmaps(instruction_set, *unary_case(np.random.default_rng(seed), n, d, (true, other)), true, other)


@each_set
def test_unary_response_is_the_same_at_every_tail_length(instruction_set: str) -> None:
    rng = np.random.default_rng(5)
    for d in range(1, 330):
        values, head = unary_case(rng, 3, d, (2**63, 2**62))
        assert_same_bitmaps(instruction_set, values, head, 2**63, 2**62)


@each_set
@in_turn("byte", [0, 1, 127, 128, 254, 255])
@in_turn("d", [5, 64, 100])
def test_unary_response_compares_every_head_byte_with_any_threshold(instruction_set: str, byte: int, d: int) -> None:
    head = np.repeat(np.arange(256, dtype=np.uint8), d).reshape(256, d)
    threshold = (byte << 56) + 1
    assert_same_bitmaps(instruction_set, np.zeros(256, dtype=np.uint64), head, 2**63, threshold)


@each_set
def test_unary_response_follows_its_definition_bit_by_bit(instruction_set: str) -> None:
    true, other = 0x8000000000000000, 0x4477000000000000
    values, head = unary_case(np.random.default_rng(6), 30, 75, (true, other))
    bitmaps, reports, bits = assert_same_bitmaps(instruction_set, values, head, true, other)
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
    bitmaps, reports, bits = assert_same_bitmaps(instruction_set, np.arange(7, dtype=np.uint64), head, 2**63, 2**63 + 5)
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
@in_turn("row_bytes", [511, 512, 513, 1023, 1024, 1025, 3000])
def test_column_sums_are_the_same_beyond_one_stripe(instruction_set: str, row_bytes: int) -> None:
    bitmaps = np.random.default_rng(8).integers(0, 256, size=(37, row_bytes), dtype=np.uint8)
    assert_same(instruction_set, "column_sums", bitmaps, 8 * row_bytes - 3)


# --- walsh_hadamard ------------------------------------------------------------------------------------------------


@each_set
@in_turn("m", range(17))
@in_turn("rows", [0, 1, 3])
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


# --- parity_response and gray_scatter --------------------------------------------------------------------------------


@each_set
@quickly
@given(seed=random_seeds, n=lengths, t=st.integers(1, 12), bits=st.integers(1, 64), keep=words64)
def test_parity_response_is_the_direct_response_to_the_parities(
    instruction_set: str, seed: int, n: int, t: int, bits: int, keep: int
) -> None:
    rng = np.random.default_rng(seed)
    values = random_words(rng, n)
    words = crafted_words(rng, (n, t + 2), [0, keep, last_accepted(2**t - 1), 2**bits, 2**64 - 1])
    row_width, width = int(rng.choice(widths_for(2**bits))), int(rng.choice(widths_for(2**t)))
    (rows, hashes), redo = assert_same_records(
        *(instruction_set, "parity_response", values, words, bits, keep),
        n=n,
        out=((f"<u{row_width}", (t,)), f"<u{width}"),
        seed=seed,
    )
    assert rows.tolist() == (words[:, :t] & np.uint64(2**bits - 1)).tolist()
    assert redo.tolist() == [i for i in range(n) if int(words[i, -1]) > last_accepted(2**t - 1)]
    for i in np.setdiff1d(np.arange(n), redo)[:5].tolist():
        # The bit beyond those of the rows is the sign of the value, which reverses every parity.
        hashed = sum((parity(int(rows[i, j]) & int(values[i])) ^ int(values[i]) >> bits & 1) << j for j in range(t))
        coin, lie = words[i, t:].tolist()
        u = lie % (2**t - 1)
        assert hashes[i] == (hashed if coin < keep else u + (u >= hashed))


@each_set
@pytest.mark.parametrize("rejected", [16, 17, 40])
def test_parity_response_lists_every_rejected_word_beyond_its_first_capacity(
    instruction_set: str, rejected: int
) -> None:
    words = np.zeros((50, 4), dtype=np.uint64)
    words[:rejected, 3] = 2**64 - 1
    arguments = np.ones(50, dtype=np.uint64), words, 9, 2**63
    _, redo = assert_same_records(instruction_set, "parity_response", *arguments, n=50, out=(("<u2", (2,)), "u1"))
    assert redo.tolist() == list(range(rejected))


@each_set
@quickly
@given(seed=random_seeds, n=lengths, t=st.integers(1, 8), bits=st.integers(1, 11))
def test_sign_sums_are_the_same(instruction_set: str, seed: int, n: int, t: int, bits: int) -> None:
    rng = np.random.default_rng(seed)
    rows, hashes = rng.integers(0, 2**bits, size=(n, t)), rng.integers(0, 2**t, size=n)
    fields = field(rows, int(rng.choice(widths_for(2**bits)))), field(hashes, int(rng.choice(widths_for(2**t))))
    added = assert_same_cells(instruction_set, "sign_sums", *fields, cells=rng.integers(-9, 9, size=2**bits))
    expected = [0] * 2**bits
    for row, hashed in zip(rows.tolist(), hashes.tolist(), strict=True):
        for j in range(t):
            expected[row[j]] += (-1) ** (hashed >> j & 1)
    assert added.tolist() == expected


@each_set
@quickly
@given(seed=random_seeds, n=lengths, t=st.integers(0, 6), bits=st.integers(0, 9))
def test_gray_scatter_is_the_same(instruction_set: str, seed: int, n: int, t: int, bits: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2**bits, size=(n, t), dtype=np.uint64)
    hashes = rng.integers(0, 2**t, size=n, dtype=np.uint32)
    weights = rng.choice(np.array([-(2**63), -3, 0, 1, 2, 2**63 - 1]), size=2**t)
    numbers, answers = field(rows, int(rng.choice(widths_for(2**bits)))), field(hashes, int(rng.choice([1, 2, 4, 8])))
    assert_same(instruction_set, "gray_scatter", numbers, answers, bits, weights)


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
    width = int(rng.choice(widths_for(blocks * order)))
    (z,), redo = assert_same_records(
        instruction_set, "hadamard_response", values, words, keep, blocks, order, n=n, out=(f"<u{width}",), seed=seed
    )
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
    arguments = np.zeros(50, dtype=np.uint64), words, 1, 4, 8
    _, redo = assert_same_records(instruction_set, "hadamard_response", *arguments, n=50, out=("u1",))
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
    bitmap = ("u1", (-(-size // 8),))
    (bitmaps,), redo = assert_same_records(
        instruction_set, "subset_response", values, words, keep, size, n=n, out=(bitmap,), seed=seed
    )
    lists = words[:, 1:].tolist()
    lasts = [last_accepted(size - 1 - i) for i in range(w)]
    assert redo.tolist() == [i for i in range(n) if any(map(int.__gt__, lists[i], lasts))]
    for i in np.setdiff1d(np.arange(n), redo)[:5].tolist():
        bits = np.unpackbits(bitmaps[i], bitorder="little")
        assert set(np.flatnonzero(bits).tolist()) == subset(int(values[i]), words[i].tolist(), keep, size)
        assert bits.sum() == w


@each_set
@in_turn("size", [2, 5, 16, 64, 65, 130, 1000, 70_000])
@in_turn("share", [0.0, 0.05, 0.5])
def test_subsets_that_no_word_refuses_are_the_same(instruction_set: str, size: int, share: float) -> None:
    rng, keep = np.random.default_rng(size), 3 << 61
    w = min(max(1, round(share * (size - 1))), 400)
    n = 20_000 // (size + w) + 5
    values = rng.integers(0, size, size=n, dtype=np.uint64)
    words = np.stack([coins(rng, n, keep), *(draws(rng, n, size - 1 - i) for i in range(w))], axis=1)
    bitmap = ("u1", (-(-size // 8),))
    (bitmaps,), redo = assert_same_records(
        instruction_set, "subset_response", values, words, keep, size, n=n, out=(bitmap,), seed=size
    )
    assert not len(redo)
    assert np.bitwise_count(bitmaps).sum(axis=1).tolist() == [w] * n


@each_set
@pytest.mark.parametrize("rejected", [16, 17, 50])
def test_subset_response_lists_every_rejected_word_beyond_its_first_capacity(
    instruction_set: str, rejected: int
) -> None:
    words = np.zeros((50, 3), dtype=np.uint64)
    words[50 - rejected :, 2] = 2**64 - 1
    arguments = np.ones(50, dtype=np.uint64), words, 2**63, 7
    _, redo = assert_same_records(instruction_set, "subset_response", *arguments, n=50, out=(("u1", (1,)),))
    assert redo.tolist() == list(range(50 - rejected, 50))


# --- Toeplitz hashing ------------------------------------------------------------------------------------------------


def toeplitz_row(matrix: int, j: int, item_bits: int) -> int:
    return matrix >> j & (2**item_bits - 1)


def moved(words: list[int], keep: int, size: int, window: int) -> int | None:
    """By what the three words move a hash; None if one of them is refused."""
    coin, near, far = words
    if near > last_accepted(window) or far > last_accepted(size - window):
        return None
    return near % window if coin < keep else window + far % (size - window)


def some_window(rng: np.random.Generator, size: int) -> int:
    return int(rng.choice([1, size - 1, int(rng.integers(1, size))]))


@each_set
@quickly
@given(seed=random_seeds, n=lengths, t=st.integers(1, 12), keep=words64, data=st.data())
def test_toeplitz_response_is_the_same(
    instruction_set: str, seed: int, n: int, t: int, keep: int, data: st.DataObject
) -> None:
    item_bits = data.draw(st.one_of(st.sampled_from([1, 17, 65 - t]), st.integers(1, 65 - t)))
    rng = np.random.default_rng(seed)
    size, matrix_bits = 1 << t, item_bits + t - 1
    window = some_window(rng, size)
    values = crafted_words(rng, (n,), [0, 2**item_bits - 1, 2**64 - 1])
    words = crafted_words(rng, (n, 4), [0, keep, last_accepted(window), last_accepted(size - window), 2**64 - 1])
    widths = [int(rng.choice(widths_for(most))) for most in (1 << matrix_bits, size)]
    (matrices, hashes), redo = assert_same_records(
        *(instruction_set, "toeplitz_response", values, words, t, item_bits, keep, window),
        n=n,
        out=tuple(f"<u{width}" for width in widths),
        seed=seed,
    )
    assert matrices.tolist() == (words[:, 0] & np.uint64(2**matrix_bits - 1)).tolist()
    errors = [moved(row, keep, size, window) for row in words[:, 1:].tolist()]
    assert redo.tolist() == [i for i, error in enumerate(errors) if error is None]
    for i in np.setdiff1d(np.arange(n), redo)[:5].tolist():
        rows = [toeplitz_row(int(matrices[i]), j, item_bits) for j in range(t)]
        assert hashes[i] ^ errors[i] == sum(parity(row & int(values[i])) << j for j, row in enumerate(rows))


@each_set
@in_turn("rejected", [16, 17, 40])
@in_turn("column", [2, 3])
def test_toeplitz_response_lists_every_rejected_word_beyond_its_first_capacity(
    instruction_set: str, rejected: int, column: int
) -> None:
    words = np.zeros((50, 4), dtype=np.uint64)
    words[:rejected, column] = 2**64 - 1
    arguments = np.zeros(50, dtype=np.uint64), words, 3, 5, 2**63, 3
    _, redo = assert_same_records(instruction_set, "toeplitz_response", *arguments, n=50, out=("u1", "u1"))
    # Below 3 and below 5 every word but 2^64 - 1 is accepted.
    assert redo.tolist() == list(range(rejected))


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
    numbers = field(matrices & np.uint64(2 ** (item_bits + t) - 1), int(rng.choice(widths_for(2 ** (item_bits + t)))))
    answers = field(hashes, int(rng.choice(widths_for(2**t))))
    (out,) = assert_same(instruction_set, "toeplitz_scatter", numbers, answers, item_bits, weights)
    rows = [[toeplitz_row(matrix, j, item_bits) for j in range(t)] for matrix in matrices.tolist()]
    again = reference.gray_scatter(np.array(rows, dtype=np.uint64).reshape(n, t), hashes, item_bits, weights)
    np.testing.assert_array_equal(out, again)


@pytest.mark.full
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
@in_turn("weight", [1, 2**20, 2**29, 2**31 - 1, 2**31, -(2**31), 2**62])
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
    fields = field(matrices, 8), field(hashes, int(rng.choice(widths_for(2**t))))
    (counts,) = assert_same(instruction_set, "toeplitz_support_of", *fields, candidates, t, item_bits, window)
    for j in range(min(k, 3)):
        hashed = reference._toeplitz_hash(np.full(n, candidates[j]), matrices, t, item_bits)
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
    return remainder(whole, POLYNOMIALS[t - 1])


def points(t: int, dimension: int) -> list[int]:
    """The canonical points in the order of their lines."""
    return [free | 1 << t * f for f in range(dimension) for free in range(1 << t * f)]


def coordinates(word: int, t: int, dimension: int) -> list[int]:
    return [word >> t * i & (2**t - 1) for i in range(dimension)]


def number_of_lines(t: int, dimension: int) -> int:
    return (2 ** (t * dimension) - 1) // (2**t - 1)


FIELDS = [(t, m) for t in range(1, 13) for m in range(1, 5)]
SMALL_FIELDS = [(t, m) for t, m in FIELDS if t * m <= 12]


@in_turn("t", range(1, 13))
def test_the_field_has_the_smallest_irreducible_polynomial_with_a_constant_term(t: int) -> None:
    irreducible = (
        candidate
        for candidate in range(2**t + 1, 2 ** (t + 1), 2)
        if all(remainder(candidate, divisor) for divisor in range(2, 2 ** (t // 2 + 1)))
    )
    assert POLYNOMIALS[t - 1] == next(irreducible)


@pytest.mark.full
@each_set
@in_turn("stretched", [False, True])
@in_turn(("t", "dimension"), [*FIELDS, (1, 48), (2, 24), (8, 6), (12, 4)])
def test_affine_response_is_the_same(instruction_set: str, t: int, dimension: int, stretched: bool) -> None:
    rng = np.random.default_rng(100 * t + dimension)
    size, count, keep = 1 << t, number_of_lines(t, dimension), 2**63
    window = some_window(rng, size)
    values = crafted_words(rng, (600,), [0, 2 ** (t * dimension) - 1])
    special = [0, keep, *(last_accepted(m) for m in (count, size - 1 or 1, window, size - window)), 2**64 - 1]
    words = crafted_words(rng, (600, 4 + stretched), special)
    edges = [number_of_lines(t, f) + step for f in range(1, dimension) for step in (-1, 0)]
    words[: 2 * dimension, 0] = [0, count - 1, *edges]
    moduli = [count, size, size] if stretched else [count, size]
    out = tuple(f"<u{int(rng.choice(widths_for(modulus)))}" for modulus in moduli)
    for n in (0, 1, 255, 256, 257, 600):
        arguments = values[:n], words[:n], t, dimension, keep, window
        (lines, *stretches, hashes), redo = assert_same_records(
            instruction_set, "affine_response", *arguments, n=n, out=out, seed=n
        )
    refused = []
    for i, (first, *middle, coin, near, far) in enumerate(words.tolist()):
        error = moved([coin, near, far], keep, size, window)
        if error is None or first > last_accepted(count) or any(word > last_accepted(size - 1) for word in middle):
            refused.append(i)
            continue
        assert lines[i] == first % count
        if len(refused) > 20:
            continue
        f = max(f for f in range(dimension) if number_of_lines(t, f) <= lines[i])
        point = coordinates(int(lines[i]) - number_of_lines(t, f) | 1 << t * f, t, dimension)
        expected = 0
        for a, x in zip(point, coordinates(int(values[i]), t, dimension), strict=True):
            expected ^= product(a, x, t)
        for word, stretch in zip(middle, stretches, strict=True):
            assert stretch[i] == 1 + word % (size - 1)
            expected = product(int(stretch[i]), expected, t)
        assert hashes[i] == expected ^ error
    assert redo.tolist() == refused


@each_set
@in_turn("rejected", [16, 17, 40])
@in_turn("column", [0, 1, 3, 4])
def test_affine_response_lists_every_rejected_word_beyond_its_first_capacity(
    instruction_set: str, rejected: int, column: int
) -> None:
    words = np.zeros((50, 5), dtype=np.uint64)
    words[:rejected, column] = 2**64 - 1
    arguments = np.zeros(50, dtype=np.uint64), words, 3, 3, 2**63, 3
    _, redo = assert_same_records(instruction_set, "affine_response", *arguments, n=50, out=("u1", "u1", "u1"))
    # 73 lines, 7 stretches, windows of 3 and 5: 2^64 - 1 is refused by all of them.
    assert redo.tolist() == list(range(rejected))


@each_set
@in_turn(("t", "dimension"), SMALL_FIELDS)
def test_affine_gather_is_the_same(instruction_set: str, t: int, dimension: int) -> None:
    rng = np.random.default_rng(100 * t + dimension)
    extremes = np.array([-(2**63), -5, 0, 1, 7, 2**63 - 1])
    rows = rng.choice(extremes, size=(number_of_lines(t, dimension), 2**t))
    for item_bits in sorted({0, 1, t, t * dimension - 1, t * dimension}):
        assert_same(instruction_set, "affine_gather", rows, t, dimension, item_bits)


@each_set
@in_turn(("t", "dimension"), [(t, m) for t, m in SMALL_FIELDS if t * m <= 8])
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
        hashed = reference._affine_hash(np.full(60, x, dtype=np.uint64), lines, t, dimension)
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
@in_turn("n", [1, 2, 3, 4, 5, 7, 8, 9, 17])
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
    n=lengths,
    functions=st.sampled_from([0, 1, 3, 1000]),
    split=st.sampled_from(SPLITS),
    size=st.sampled_from(SIZES),
    keep=words64,
)
def test_local_hash_response_is_the_direct_response_to_the_hash(
    instruction_set: str, seed: int, n: int, functions: int, split: int, size: int, keep: int
) -> None:
    rng = np.random.default_rng(seed)
    values, seeds = crafted_words(rng, (n,), [0, split, 2**32, 2**64 - 1]), random_words(rng, functions)
    words = crafted_words(rng, (n, 3), [0, keep, last_accepted(size - 1), last_accepted(functions or 1), 2**64 - 1])
    widths = [int(rng.choice(widths_for(most))) for most in (functions or 2**64, size)]
    (public, hashes), redo = assert_same_records(
        *(instruction_set, "local_hash_response", values, words, seeds, keep, split, size),
        n=n,
        out=tuple(f"<u{width}" for width in widths),
        seed=seed,
    )
    chosen = words[:, 0] % np.uint64(functions) if functions else words[:, 0]
    assert public.tolist() == chosen.tolist()
    hashed = reference.local_hash(seeds[public.astype(np.int64)] if functions else chosen, values, split, size)
    answers = np.zeros(n, dtype=np.uint64)
    refused = reference.direct_response(
        hashed.astype(np.uint64), np.ascontiguousarray(words[:, 1:]), keep, size, answers
    )
    assert hashes.tolist() == answers.tolist()
    no_function = np.flatnonzero(words[:, 0] > np.uint64(last_accepted(functions or 1)))
    assert redo.tolist() == np.union1d(refused, no_function).tolist()


@each_set
@in_turn("size", SIZES)
@in_turn("functions", [0, 1000])
def test_hashed_answers_that_upper_halves_decide_are_the_same(instruction_set: str, size: int, functions: int) -> None:
    rng, n, keep = np.random.default_rng(size), 700, 3 << 61
    values, seeds = random_words(rng, n), random_words(rng, functions)
    first = draws(rng, n, functions or 1)
    words = np.stack([first, coins(rng, n, keep), draws(rng, n, size - 1)], axis=1)
    for widths in ((8, widths_for(size)[0]), (widths_for(functions or 2**64)[0], 4)):
        _, redo = assert_same_records(
            *(instruction_set, "local_hash_response", values, words, seeds, keep, 2**32, size),
            n=n,
            out=tuple(f"<u{width}" for width in widths),
        )
        assert not len(redo)


@each_set
@in_turn("rejected", [16, 17, 1200])
@in_turn("column", [0, 2])
def test_local_hash_response_lists_every_rejected_word_beyond_its_first_capacity(
    instruction_set: str, rejected: int, column: int
) -> None:
    words = np.zeros((1200, 3), dtype=np.uint64)
    words[1200 - rejected :, column] = 2**64 - 1
    arguments = np.zeros(1200, dtype=np.uint64), words, np.zeros(3, dtype=np.uint64), 2**63, 64, 4
    _, redo = assert_same_records(instruction_set, "local_hash_response", *arguments, n=1200, out=("u1", "u1"))
    assert redo.tolist() == list(range(1200 - rejected, 1200))


@each_set
@quickly
@given(seed=random_seeds, n=few, d=st.integers(1, 130), true=words64, other=words64)
def test_settled_ties_are_the_same_and_decide_as_the_whole_words_would(
    instruction_set: str, seed: int, n: int, d: int, true: int, other: int
) -> None:
    rng = np.random.default_rng(seed)
    values, head = unary_case(rng, n, d, (true, other))
    bitmaps = field(np.zeros((n, -(-d // 8)), dtype=np.uint8), 1)
    reports, bits = reference.unary_response(values, head, true, other, bitmaps)
    tails = crafted_words(rng, reports.shape, [0, true << 8, other << 8, 2**64 - 1])
    ours, twin = field(bitmaps, 1), field(bitmaps, 1)
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


# --- counting and looking over fields --------------------------------------------------------------------------------


@each_set
@quickly
@given(seed=random_seeds, n=st.one_of(lengths, st.sampled_from([1023, 1024, 1025])), rows=st.integers(1, 700))
def test_histograms_are_the_same(instruction_set: str, seed: int, n: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 300))
    a, b = rng.integers(0, rows, size=n), rng.integers(0, size, size=n)
    for width in widths_for(max(rows, size)):
        cells = rng.integers(-9, 9, size=rows)
        added = assert_same_cells(instruction_set, "histogram", (field(a, width),), cells=cells)
        assert added.tolist() == np.bincount(a, minlength=rows).tolist()
        pairs = field(a, width), field(b, int(rng.choice(widths_for(size))))
        added = assert_same_cells(instruction_set, "histogram", pairs, cells=rng.integers(-9, 9, size=(rows, size)))
        assert added.ravel().tolist() == np.bincount(a * size + b, minlength=rows * size).tolist()


@each_set
@in_turn("t", range(1, 13))
def test_stretched_histograms_are_the_same(instruction_set: str, t: int) -> None:
    rng = np.random.default_rng(t)
    size, tables = 1 << t, field_tables(t)
    for n in (0, 1, 255, 256, 257, 400):
        window = some_window(rng, size) if t < 7 else 5
        numbers = rng.integers(0, 9, size=n), rng.integers(1, size, size=n), rng.integers(0, size, size=n)
        fields = tuple(
            field(number, int(rng.choice(widths_for(most))))
            for number, most in zip(numbers, (9, size, size), strict=True)
        )
        cells = rng.integers(-9, 9, size=(9, size))
        added = assert_same_cells(instruction_set, "stretched_histogram", fields, window, *tables, cells=cells)
        assert added.sum() == n * window
    for line, stretch, hashed in list(zip(*(number.tolist() for number in numbers), strict=True))[:10]:
        one = [np.array([number]) for number in (line, stretch, hashed)]
        cells = np.zeros((9, size), dtype=np.int64)
        added = assert_same_cells(instruction_set, "stretched_histogram", tuple(one), window, *tables, cells=cells)
        supported = [x for x in range(size) if product(stretch, x, t) ^ hashed < window] if t < 9 else None
        assert supported is None or np.flatnonzero(added[line]).tolist() == supported


# Each has numbers below 5 (rows) and 8 (columns), and one position at which a number is too large or too small.
OUTSIDE = {
    "histogram": ("histogram", [5], (), (5,)),
    "first of a pair": ("histogram", [5, 8], (), (5, 8)),
    "second of a pair": ("histogram", [5, 8], (), (5, 8)),
    "line": ("stretched_histogram", [5, 8, 8], (3, *field_tables(3)), (5, 8)),
    "stretch": ("stretched_histogram", [5, 8, 8], (3, *field_tables(3)), (5, 8)),
    "hash": ("stretched_histogram", [5, 8, 8], (3, *field_tables(3)), (5, 8)),
}
PLACES = {"second of a pair": 1, "stretch": 1, "hash": 2}


@each_set
@pytest.mark.parametrize("case", OUTSIDE)
def test_numbers_out_of_range_are_refused_and_the_other_reports_are_added(instruction_set: str, case: str) -> None:
    rng = np.random.default_rng(7)
    name, counts, arguments, shape = OUTSIDE[case]
    place = PLACES.get(case, 0)
    most = counts[place]
    for width in (1, 2, 4, 8):
        # For width 8 the products and differences that a bound is tested with wrap around.
        beyond = {most, 2 ** (8 * width) - 1, 2 ** (8 * width - 1), 2 ** (8 * width - 1) + most - 1}
        for number in sorted(beyond | ({0} if case == "stretch" else set())):
            whole = [rng.integers(1, count, size=1500).astype(f"<u{width}") for count in counts]
            whole[place][[3, 700]] = number
            good = np.flatnonzero(whole[place] != number) if number else np.flatnonzero(whole[place])
            cells, expected = np.zeros((2, *shape), dtype=np.int64)
            native._functions.update(BOUND[instruction_set])
            getattr(native, name)(tuple(column[good].copy() for column in whole), *arguments, expected)
            with pytest.raises(IndexError, match="got 2 out of range"):
                getattr(native, name)(tuple(whole), *arguments, cells)
            np.testing.assert_array_equal(cells, expected)
            with pytest.raises(IndexError, match="got 2 out of range"):
                getattr(reference, name)(tuple(whole), *arguments, np.zeros(shape, dtype=np.int64))


@each_set
def test_rows_out_of_range_are_refused_and_the_others_are_added(instruction_set: str) -> None:
    rows = np.arange(30, dtype=np.uint64).reshape(15, 2) % 4
    rows[5, 1] = rows[9, 0] = 2**64 - 1
    hashes = np.zeros(15, dtype=np.uint8)
    cells = np.zeros(4, dtype=np.int64)
    native._functions.update(BOUND[instruction_set])
    with pytest.raises(IndexError, match="got 2 out of range"):
        native.sign_sums(rows, hashes, cells)
    assert cells.tolist() == np.bincount(rows[rows < 4].astype(np.int64)).tolist()
    with pytest.raises(IndexError):
        reference.sign_sums(rows, hashes, cells)


@each_set
@quickly
@given(
    seed=random_seeds,
    n=st.one_of(lengths, st.sampled_from([1023, 1024, 1025, 3000])).map(lambda n: n + 1),
    width=st.sampled_from([1, 2, 4, 8]),
    columns=st.integers(0, 5),
    shift=st.sampled_from([0, 16, 32, 60]),
)
def test_extremes_of_a_field_are_the_same(
    instruction_set: str, seed: int, n: int, width: int, columns: int, shift: int
) -> None:
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 2 ** (8 * width), size=(n, columns) if columns else n, dtype=np.uint64)
    # One block of small numbers, then one with large ones, and the other way round.
    numbers[rng.integers(2) :: 1 + rng.integers(2)] >>= np.uint64(shift)
    numbers[: n // 2 * int(rng.integers(2))] >>= np.uint64(min(shift, 8 * width - 1))
    native._functions.update(BOUND[instruction_set])
    for array in (field(numbers, width), numbers.astype(f"<u{width}")):
        found = native.extremes(array)
        assert found == reference.extremes(array) == (int(numbers.min()), int(numbers.max()))


@each_set
@quickly
@given(
    st.integers(1, 4),
    few,
    st.integers(1, 130),
    st.sampled_from([0, 1, 5, 10_000]),
    st.sampled_from([-40, 0, 30, 700]),
    random_seeds,
)
def test_promising_children(
    instruction_set: str, cohorts: int, parents: int, children: int, room: int, slack: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    block = 1 << (children - 1).bit_length()
    blocks = int(rng.integers(1, 5))
    tables = rng.integers(-32_000 // cohorts, 32_000 // cohorts + 1, size=(cohorts, blocks * block), dtype=np.int16)
    places = (
        rng.integers(0, blocks, size=(cohorts, parents)) * block,
        rng.integers(0, block, size=(cohorts, parents)),
    )
    kinds = rng.integers(0, 5, size=(3, children), dtype=np.uint8)
    rows = rng.integers(0, 3, size=parents)
    needs = rng.integers(-20_000, 40_000, size=(parents, 5), dtype=np.int32)
    arguments = tables, places, block, kinds, rows, needs, slack, room
    native._functions.update(BOUND[instruction_set])
    (found, *ours), (again, *twin) = (
        native.promising_children(*arguments),
        reference.promising_children(*arguments),
    )
    assert found == again
    for mine, other in zip(ours, twin, strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other)
    # The definition, one child at a time.
    expected = []
    for parent in range(parents):
        for child in range(children):
            cells = [
                start + (child + turn) % block for start, turn in zip(*(p[:, parent] for p in places), strict=True)
            ]
            support = [int(table[cell]) for table, cell in zip(tables, cells, strict=True)]
            if min(sum(support), cohorts * min(support) + slack) >= needs[parent, kinds[rows[parent], child]]:
                expected.append((parent, child))
    assert found == len(expected)
    assert list(zip(*(part.tolist() for part in ours), strict=True)) == expected[:room]


@each_set
@pytest.mark.parametrize("children", [2047, 2049, 4096, 5000])
def test_promising_children_of_more_than_one_tile(instruction_set: str, children: int) -> None:
    rng = np.random.default_rng(children)
    block = 1 << (children - 1).bit_length()
    tables = rng.integers(-300, 301, size=(2, 4 * block), dtype=np.int16)
    places = rng.integers(0, 4, size=(2, 9)) * block, rng.integers(0, block, size=(2, 9))
    kinds = rng.integers(0, 50, size=(3, children), dtype=np.uint8)
    needs = np.sort(rng.integers(300, 900, size=(9, 50), dtype=np.int32), axis=1)
    arguments = tables, places, block, kinds, rng.integers(0, 3, size=9), needs, 200, 10_000
    native._functions.update(BOUND[instruction_set])
    (found, *ours), (again, *twin) = native.promising_children(*arguments), reference.promising_children(*arguments)
    assert found == again > 100
    for mine, other in zip(ours, twin, strict=True):
        np.testing.assert_array_equal(mine, other)


# --- grouped reports -------------------------------------------------------------------------------------------------


@each_set
@quickly
@given(seed=random_seeds, n=lengths, count=st.integers(1, 300))
def test_group_order_is_stable_and_the_same(instruction_set: str, seed: int, n: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    groups = field(rng.integers(0, count, size=n), int(rng.choice(widths_for(count))))
    order, ends = assert_same(instruction_set, "group_order", groups, count)
    numbers = groups.tolist()
    assert order.tolist() == sorted(range(n), key=lambda i: numbers[i])
    assert ends.tolist() == [sum(number < g for number in numbers) for g in range(count + 1)]


@each_set
@quickly
@given(seed=random_seeds, n=st.integers(1, 200), m=few, size=few, zeros=st.integers(0, 9))
def test_rows_are_taken_and_put_alike(instruction_set: str, seed: int, n: int, m: int, size: int, zeros: int) -> None:
    rng = np.random.default_rng(seed)
    rows, chosen = field(rng.integers(0, 256, size=(n, size)), 1), rng.choice(n, size=min(m, n), replace=False)
    (taken,) = assert_same(instruction_set, "take_rows", rows, chosen)
    assert taken.tolist() == rows[chosen].tolist()
    native._functions.update(BOUND[instruction_set])
    before = rng.integers(0, 256, size=(n, size + zeros + 3), dtype=np.uint8)
    after = []
    for module in (native, reference):
        whole = before.copy()
        module.put_rows(taken, chosen, whole[:, 2:-1])
        after.append(whole)
    np.testing.assert_array_equal(*after)
    before[chosen, 2:-1] = np.hstack([taken, np.zeros((len(chosen), zeros), dtype=np.uint8)])
    np.testing.assert_array_equal(after[0], before)


@each_set
@quickly
@given(seed=random_seeds, n=st.integers(1, 700), m=few, size=st.one_of(st.integers(1, 300), st.just(2**63)))
def test_uniform_choice_is_below(instruction_set: str, seed: int, n: int, m: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    words = field(crafted_words(rng, (n,), [last_accepted(size), 0, size]), 8)
    for chosen in (None, rng.integers(0, n, size=m)):
        numbers, refused = assert_same(instruction_set, "uniform_choice", words, chosen, size)  # type: ignore[arg-type]
        own = words.tolist() if chosen is None else words[chosen].tolist()
        assert numbers.tolist() == [word % size for word in own]
        assert refused.tolist() == [i for i, word in enumerate(own) if word > last_accepted(size)]


@each_set
@quickly
@given(seed=random_seeds, n=lengths, count=st.integers(1, 20), size=st.integers(1, 150))
def test_bitmaps_are_added_to_their_channels(instruction_set: str, seed: int, n: int, count: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    channels = field(rng.integers(0, count, size=n), int(rng.choice([1, 2, 4, 8])))
    bitmaps = field(rng.integers(0, 256, size=(n, -(-size // 8))), 1)  # with bits beyond the last item, which are cut
    cells = rng.integers(-9, 9, size=(count, size))
    added = assert_same_cells(instruction_set, "channel_bitmaps", channels, bitmaps, cells=cells)
    bits = np.unpackbits(bitmaps, axis=1, count=size, bitorder="little").astype(np.int64)
    for channel in range(count):
        np.testing.assert_array_equal(added[channel], bits[channels == channel].sum(axis=0))


@each_set
@quickly
@given(seed=random_seeds, n=lengths, count=st.integers(1, 9), t=st.integers(1, 6), bits=st.integers(0, 9))
def test_products_are_added_to_their_channels(
    instruction_set: str, seed: int, n: int, count: int, t: int, bits: int
) -> None:
    rng = np.random.default_rng(seed)
    channels = field(rng.integers(0, count, size=n), int(rng.choice([1, 2, 4, 8])))
    rows = field(rng.integers(0, 2**bits, size=(n, t)), int(rng.choice(widths_for(2**bits))))
    hashes = field(rng.integers(0, 2**t, size=n), int(rng.choice([1, 2, 4, 8])))
    cells = rng.integers(-9, 9, size=(count, 2**bits))
    added = assert_same_cells(instruction_set, "channel_products", channels, rows, hashes, cells=cells)
    for channel in range(count):
        own = channels == channel
        every = np.ones(2**t, dtype=np.int64)
        expected = reference.gray_scatter(rows[own], hashes[own], bits, every)
        np.testing.assert_array_equal(added[channel], expected)


@each_set
@quickly
@given(seed=random_seeds, n=lengths, length=st.integers(4, 3000))
def test_blocks_are_reported_alike(instruction_set: str, seed: int, n: int, length: int) -> None:
    rng = np.random.default_rng(seed)
    parts, words, size = [], 0, 0
    for end in np.cumsum(rng.integers(1, 9, size=int(rng.integers(1, 6)))).tolist():
        blocks = int(rng.integers(2, 65)) if rng.integers(2) else int(rng.integers(65, length + 66))
        w, t = (int(rng.integers(1, blocks)), 0) if blocks <= 64 else (0, int(rng.integers(1, 9)))
        bits = 0 if w else (blocks - 1).bit_length()
        offsets, step, keep = int(rng.integers(1, 257)), int(rng.integers(1, 9)), int(rng.integers(1, 2**62)) * 4
        # Wide enough for all offsets to fit the blocks.
        width = -(-(length + offsets * step) // (blocks - 1))
        row_bytes = 1 + (bits > 8)
        parts.append([end, offsets, step, width, blocks - 1, blocks, keep, w, t, bits, row_bytes])
        words, size = max(words, 3 + w, 4 + t), max(size, -(-blocks // 8) if w else t * row_bytes + 1)
    values = rng.integers(0, length + 1, size=n).astype(np.uint64)  # the last one is outside the order
    special = [last_accepted(m) for part in parts for m in (part[0], part[1])]
    tape = crafted_words(rng, (n, words), [*special, 2**64 - 1, parts[0][6]])
    native._functions.update(BOUND[instruction_set])
    made, redone = [], []
    for module in (native, reference):
        out = np.full((n, 2 + size), 0xA5, dtype=np.uint8)
        redone.append(module.block_response(values, tape, length, np.array(parts, dtype=np.uint64), out))
        made.append(out)
    np.testing.assert_array_equal(*redone)
    np.testing.assert_array_equal(*made)


@pytest.mark.parametrize("module", [native, reference])
def test_reports_of_no_group_or_channel_are_refused(module: Any) -> None:
    groups, chosen = np.array([0, 3, 1], dtype=np.uint8), np.array([0, 3])
    rows = np.zeros((3, 2), dtype=np.uint8)
    for call in (
        lambda: module.group_order(groups, 3),
        lambda: module.take_rows(rows, chosen),
        lambda: module.put_rows(rows[:2], chosen, rows.copy()),
        lambda: module.channel_bitmaps(groups, rows, np.zeros((3, 9), dtype=np.int64)),
        lambda: module.channel_products(groups, rows, groups, np.zeros((3, 4), dtype=np.int64)),
    ):
        with pytest.raises(IndexError, match="1 out of range"):
            call()


def test_the_address_of_an_array_is_read_off_its_object() -> None:
    assert native._IS_FAST
    whole = np.arange(60).reshape(3, 4, 5)
    for array in (whole, whole[1:], whole[:, 2], whole.T, np.broadcast_to(np.arange(3), (2, 3)), whole[:0]):
        assert native._address(array) == array.ctypes.data
