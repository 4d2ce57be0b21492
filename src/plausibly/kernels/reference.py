"""NumPy twins of the C kernels: the readable specification, the tests' reference, and the fallback.

Names, arguments and results are those of `native`, bit for bit. If a definition involves a table of reports by values,
reports are processed in chunks, so that memory does not grow with their number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from .common import I16, I32, I64, POLYNOMIALS, U8, U32, U64, Field, Fields, line_count, refuse_outside

# Number of elements in an intermediate table: it fits the second-level cache, and hides the cost of calls.
_TABLE = 1 << 18
# A sum of this many zeros and ones fits a byte, and adding bytes is eight times faster than adding int64.
_BYTE_ROWS = 248


def _chunks(total: int, size: int) -> Iterator[slice]:
    """Slices of at most max(size, 1) elements that cover range(total), for the NumPy kernels."""
    size = max(1, size)
    return (slice(start, min(start + size, total)) for start in range(0, total, size))


def _below(words: U64, m: int) -> tuple[U64, npt.NDArray[np.bool_]]:
    """In NumPy, the remainder of each word modulo m, and whether `below(m)` refuses the word."""
    last = np.uint64(2**64 - 1 - 2**64 % m)
    return words % np.uint64(m), words > last


def _answer(values: U64, words: U64, column: int, keep: int, size: int) -> tuple[U64, npt.NDArray[np.bool_]]:
    """In NumPy, the direct response to each value, and whether its report must be redone.

    y = x if kept else u + [u ≥ x], with kept = words[:, column] < keep and u = below(size − 1) from the next
    column.
    """
    u, rejected = _below(words[:, column + 1], size - 1)
    other = u + (u >= values)
    return np.where(words[:, column] < np.uint64(keep), values, other), rejected


def _listed(rejected: npt.NDArray[np.bool_]) -> I64:
    """Positions of the reports that a kernel leaves to be redone."""
    return np.flatnonzero(rejected).astype(np.int64)


def direct_response(values: U64, words: U64, keep: int, size: int, out: Field) -> I64:
    """Kernel of direct encoding: write each user's report to the field, and return the reports to redo."""
    out[...], rejected = _answer(values, words, 0, keep, size)
    return _listed(rejected)


def _premix(j: U32) -> U32:
    """lowbias32 of each character in NumPy: neighbouring characters become unrelated words."""
    j = j ^ (j >> np.uint32(16))
    j = j * np.uint32(0x21F0AAAD)
    j = j ^ (j >> np.uint32(15))
    j = j * np.uint32(0xD35A2D97)
    return j ^ (j >> np.uint32(15))


def _entry(premixed: U32, first: U32, second: U32, size: int) -> U32:
    """In NumPy, the entry of a table in Z_size at each premixed character; first and second are halves of the seed."""
    t = premixed ^ first
    t *= np.uint32(0x21F0AAAD)
    t ^= t >> np.uint32(15)
    t ^= second
    t *= np.uint32(0xD35A2D97)
    t ^= t >> np.uint32(15)
    t >>= np.uint32(8)
    return ((t.astype(np.uint64) * np.uint64(size)) >> np.uint64(24)).astype(np.uint32)


def _halves(seeds: U64) -> tuple[U32, U32]:
    """Low and high 32 bits of each seed, as NumPy arrays."""
    return seeds.astype(np.uint32), (seeds >> np.uint64(32)).astype(np.uint32)


def _characters(values: U64, split: int) -> tuple[U32, U32]:
    """Premixed low and high character of each value for the NumPy kernels: x mod split and x div split."""
    low, high = values % np.uint64(split), values // np.uint64(split)
    return _premix(low.astype(np.uint32)), _premix(high.astype(np.uint32))


def local_hash(seeds: U64, values: U64, split: int, size: int) -> U32:
    """Kernel: hash of each value under its seed, in range(size), the sum of two table entries modulo `size`."""
    first, second = _halves(seeds)
    low, high = _characters(values, split)
    total = _entry(low, first, second, size) + _entry(high, second, first, size)
    return total % np.uint32(size)


def _domain_characters(domain_size: int, split: int) -> tuple[U32, U32]:
    """Premixed characters that values below `domain_size` can have in NumPy: the low ones, the high ones."""
    lows, highs = min(split, domain_size), -(-domain_size // split)
    return _premix(np.arange(lows, dtype=np.uint32)), _premix(np.arange(highs, dtype=np.uint32))


def support_counts(seeds: Field, hashes: Field, domain_size: int, split: int, size: int) -> I64:
    """Kernel: number of reports that support each value: #{i : local_hash(seeds_i, x) = hashes_i}.

    A report supports x = high · split + low when its low entry equals (hash − high entry) mod size.
    """
    low, high = _domain_characters(domain_size, split)
    lane = np.uint8 if size <= 256 else np.uint16
    counts = np.zeros((len(high), len(low)), dtype=np.int64)
    for block in _chunks(len(seeds), _BYTE_ROWS):
        first, second = (half[:, None] for half in _halves(seeds[block]))
        table = _entry(low, first, second, size).astype(lane)
        wanted = hashes[block, None].astype(np.uint32) + np.uint32(size) - _entry(high, second, first, size)
        targets = (wanted % np.uint32(size)).astype(lane)
        for part in _chunks(len(high), _TABLE // (_BYTE_ROWS * len(low) + 1)):
            support = table[:, None, :] == targets[:, part, None]
            counts[part] += support.view(np.uint8).sum(axis=0, dtype=np.uint8)
    return counts.reshape(-1)[:domain_size]


def support_of(seeds: Field, hashes: Field, candidates: U64, split: int, size: int) -> I64:
    """Kernel of local hashing: number of reports that support each candidate, which may be any 64-bit number."""
    counts = np.zeros(len(candidates), dtype=np.int64)
    for chunk in _chunks(len(seeds), _TABLE // (len(candidates) + 1)):
        hashed = local_hash(seeds[chunk, None], candidates, split, size)
        counts += np.count_nonzero(hashed == hashes[chunk, None], axis=0)
    return counts


def table_support(seeds: U64, table: I64, domain_size: int, split: int) -> I64:
    """Kernel: sum over hash functions i of table[i, local_hash(seeds_i, x)], for each value x of the domain."""
    low, high = _domain_characters(domain_size, split)
    size = table.shape[1]
    sums = np.zeros(len(high) * len(low), dtype=np.int64)
    # A table written twice in a row can be indexed with the plain sum of the two entries.
    for chunk in _chunks(len(seeds), _TABLE // (len(sums) + 2 * size)):
        first, second = (half[:, None] for half in _halves(seeds[chunk]))
        twice = np.concatenate([table[chunk], table[chunk]], axis=1)
        start = np.arange(len(twice))[:, None] * (2 * size)
        left, right = start + _entry(high, second, first, size), _entry(low, first, second, size)
        index = (left[:, :, None] + right[:, None, :]).reshape(len(twice), -1)
        sums += twice.reshape(-1)[index].sum(axis=0)
    return sums[:domain_size]


def table_support_of(seeds: U64, table: I64, candidates: U64, split: int) -> I64:
    """Kernel: sum over hash functions i of table[i, local_hash(seeds_i, x)], for each candidate x."""
    size = table.shape[1]
    sums = np.zeros(len(candidates), dtype=np.int64)
    for chunk in _chunks(len(seeds), _TABLE // (len(candidates) + 1)):
        hashed = local_hash(seeds[chunk, None], candidates, split, size)
        sums += np.take_along_axis(table[chunk], hashed.astype(np.int64), axis=1).sum(axis=0)
    return sums


def unary_response(values: U64, head: U8, true_threshold: int, other_threshold: int, bitmaps: Field) -> tuple[I64, I64]:
    """Unary kernel: write all decided bits to the bitmaps; return report and bit numbers of the ties of head bytes.

    A bit is one if its head byte is below the top byte of its threshold; an equal byte is a tie, left zero.
    """
    n, d = head.shape
    true_byte, other_byte = np.uint8(true_threshold >> 56), np.uint8(other_threshold >> 56)
    ties: list[tuple[I64, I64]] = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))]
    for chunk in _chunks(n, _TABLE // (d + 1)):
        rows = head[chunk]
        at = np.arange(len(rows)), values[chunk].astype(np.int64)
        less, equal = rows < other_byte, rows == other_byte
        less[at], equal[at] = rows[at] < true_byte, rows[at] == true_byte
        bitmaps[chunk] = np.packbits(less, axis=1, bitorder="little")
        report, bit = np.divmod(np.flatnonzero(equal), d)
        ties.append((report + chunk.start, bit))
    reports, bits = zip(*ties, strict=True)
    return np.concatenate(reports), np.concatenate(bits)


def column_sums(bitmaps: U8, size: int) -> I64:
    """Kernel over bitmaps: number of ones in each of the first `size` columns."""
    n, row_bytes = bitmaps.shape
    counts = np.zeros(8 * row_bytes, dtype=np.int64)
    # Short rows are read several at a time as one long row, and the remaining ones one by one.
    together = max(1, 128 // row_bytes)
    whole = n - n % together
    for rows in (bitmaps[:whole].reshape(n // together, together * row_bytes), bitmaps[whole:]):
        for block in _chunks(len(rows), _BYTE_ROWS):
            sums = np.unpackbits(rows[block], axis=1, bitorder="little").sum(axis=0, dtype=np.uint8)
            counts += sums.reshape(-1, 8 * row_bytes).sum(axis=0, dtype=np.int64)
    return counts[:size]


def walsh_hadamard(a: I64) -> None:
    """Kernel: replace each row of `a`, of length 2^m, by its unnormalised transform in natural order."""
    rows, length = a.shape
    half = 1
    while half < length:
        pairs = a.reshape(rows, length // (2 * half), 2, half)
        left, right = pairs[:, :, 0], pairs[:, :, 1]
        difference = left - right
        left += right
        right[...] = difference
        half *= 2


def _parity(words: U64) -> U64:
    """Exclusive or of the bits of each word, in NumPy."""
    for shift in (32, 16, 8, 4, 2, 1):
        words = words ^ (words >> np.uint64(shift))
    return words & np.uint64(1)


def parity_response(values: U64, words: U64, bits: int, keep: int, out: Fields) -> I64:
    """Kernel: write rows and hash of each user to the fields, and return the reports to redo.

    The rows are the first words, cut to `bits`; bit j of the hash is the parity of row j & value, reversed if the value
    has a further bit, its sign. The last two words decide the direct response to the hash.
    """
    rows, hashes = out
    t = rows.shape[1]
    rows[...] = words[:, :t] & np.uint64(2**bits - 1)
    hashed, sign = np.zeros(len(values), dtype=np.uint64), np.uint64(2**bits % 2**64)
    for j in range(t):
        hashed |= _parity((rows[:, j] | sign) & values) << np.uint64(j)
    hashes[...], rejected = _answer(hashed, words, t, keep, 1 << t)
    return _listed(rejected)


def gray_scatter(rows: Field, hashes: Field, bits: int, weights: I64) -> I64:
    """Kernel: weighted characters of all reports at the 2^bits frequencies.

    For each report and each s in 1 … 2^t − 1, the exclusive or of the rows that s selects receives
    weights[s] · (−1)^popcount(s & hash).
    """
    n, t = rows.shape
    out = np.zeros(1 << bits, dtype=np.int64)
    negated = -weights
    for chunk in _chunks(n, _TABLE >> t):
        # The selections with highest bit j are all the earlier ones with row j added.
        places = [np.zeros(chunk.stop - chunk.start, dtype=np.uint64)]
        for j in range(t):
            places += [place ^ rows[chunk, j].astype(np.uint64) for place in places]
        for s in range(1, 1 << t):
            odd = _parity(hashes[chunk].astype(np.uint64) & np.uint64(s)) == 1
            np.add.at(out, places[s].astype(np.int64), np.where(odd, negated[s], weights[s]))
    return out


def hadamard_response(values: U64, words: U64, keep: int, blocks: int, order: int, out: Field) -> I64:
    """Kernel: write the cell of each user, block · order + u, to the field, and return the reports to redo.

    A value x has block x mod blocks and row r = 1 + x div blocks. In its own block u gets even parity with r
    if kept, odd if not; any other block takes u as drawn.
    """
    own, row = values % np.uint64(blocks), values // np.uint64(blocks) + np.uint64(1)
    kept = words[:, 0] < np.uint64(keep)
    draw, rejected = _below(words[:, 1], 2 * blocks - 1)
    u = words[:, 2] % np.uint64(order)
    same = kept | (draw == 0)
    # If draw = 0, the value wraps around and is not selected.
    other = (draw - np.uint64(1)) >> np.uint64(1)
    other += other >= own
    wrong = same & (_parity(u & row) == kept)
    u = np.where(wrong, u ^ (row & -row), u)
    out[...] = np.where(same, own, other) * np.uint64(order) + u
    return _listed(rejected)


def subset_response(values: U64, words: U64, keep: int, size: int, bitmaps: Field) -> I64:
    """Kernel: write the subset of each user to the bitmaps, and return the reports to redo.

    Column 0 decides whether the user's value is kept; the w other columns shuffle the first w of the size − 1 other
    values (Fisher–Yates). These are the subset; if the user's value is kept, it replaces the last of them.
    """
    n, w = len(values), words.shape[1] - 1
    rejected = np.zeros(n, dtype=np.bool_)
    for chunk in _chunks(n, _TABLE // size):
        own, drawn = values[chunk], words[chunk]
        reports = np.arange(len(own))
        others = np.tile(np.arange(size - 1, dtype=np.uint64), (len(own), 1))
        member = np.zeros((len(own), size), dtype=np.bool_)
        for i in range(w):
            u, refused = _below(drawn[:, 1 + i], size - 1 - i)
            rejected[chunk] |= refused
            place = u.astype(np.int64) + i
            pick = others[reports, place]
            others[reports, place] = others[:, i]
            item = pick + (pick >= own)
            if i == w - 1:
                item = np.where(drawn[:, 0] < np.uint64(keep), own, item)
            member[reports, item.astype(np.int64)] = True
        bitmaps[chunk] = np.packbits(member, axis=1, bitorder="little")
    return _listed(rejected)


def _error(words: U64, column: int, keep: int, size: int, window: int) -> tuple[U64, npt.NDArray[np.bool_]]:
    """In NumPy, the error to combine with each hash, and whether its report must be redone.

    The error is uniform below `window` if words[:, column] < keep, otherwise uniform from `window` up to `size`; both
    are drawn, from the next two columns.
    """
    inside, no_inside = _below(words[:, column + 1], window)
    outside, no_outside = _below(words[:, column + 2], size - window)
    error = np.where(words[:, column] < np.uint64(keep), inside, outside + np.uint64(window))
    return error, no_inside | no_outside


def _toeplitz_hash(values: U64, matrices: U64, hash_bits: int, item_bits: int) -> U64:
    """Toeplitz hash of each value in NumPy: bit j is the parity of (matrix >> j) & value.

    Only the lowest `item_bits` of the value count; item_bits + hash_bits − 1 is at most 64.
    """
    items = values & np.uint64(2**item_bits - 1)
    hashed = np.zeros(np.broadcast_shapes(items.shape, matrices.shape), dtype=np.uint64)
    for j in range(hash_bits):
        hashed |= _parity((matrices >> np.uint64(j)) & items) << np.uint64(j)
    return hashed


def toeplitz_response(
    values: U64, words: U64, hash_bits: int, item_bits: int, keep: int, window: int, out: Fields
) -> I64:
    """Kernel: write matrix and hash of each user to the fields, and return the reports to redo.

    The matrix is the first word, cut to item_bits + hash_bits − 1 bits; the other words give the error of the hash.
    """
    matrices = words[:, 0] & np.uint64(2 ** (item_bits + hash_bits - 1) - 1)
    error, rejected = _error(words, 1, keep, 1 << hash_bits, window)
    out[0][...] = matrices
    out[1][...] = _toeplitz_hash(values, matrices, hash_bits, item_bits) ^ error
    return _listed(rejected)


def toeplitz_scatter(matrices: Field, hashes: Field, item_bits: int, weights: I64) -> I64:
    """Kernel: weighted characters of all reports at the 2^item_bits frequencies; `gray_scatter` for Toeplitz rows."""
    shifts = np.arange(len(weights).bit_length() - 1, dtype=np.uint64)
    rows = (matrices[:, None].astype(np.uint64) >> shifts) & np.uint64(2**item_bits - 1)
    return gray_scatter(rows, hashes, item_bits, weights)


def toeplitz_support_of(
    matrices: Field, hashes: Field, candidates: U64, hash_bits: int, item_bits: int, window: int
) -> I64:
    """Kernel: number of reports that support each candidate: #{i : (its hash under matrix_i ^ hash_i) < window}."""
    counts = np.zeros(len(candidates), dtype=np.int64)
    for chunk in _chunks(len(matrices), _TABLE // (len(candidates) + 1)):
        hashed = _toeplitz_hash(candidates, matrices[chunk, None].astype(np.uint64), hash_bits, item_bits)
        counts += np.count_nonzero((hashed ^ hashes[chunk, None]) < np.uint64(window), axis=0)
    return counts


def _double(field: U64, hash_bits: int) -> U64:
    """In NumPy, twice each element of GF(2^hash_bits), that is, its product with X."""
    return field << np.uint64(1) ^ (field >> np.uint64(hash_bits - 1)) * np.uint64(POLYNOMIALS[hash_bits - 1])


def _multiply(a: U64, b: U64, hash_bits: int) -> U64:
    """In NumPy, the product of each pair of elements of GF(2^hash_bits)."""
    product = np.zeros(len(a), dtype=np.uint64)
    for j in range(hash_bits):
        product ^= a * (b >> np.uint64(j) & np.uint64(1))
        a = _double(a, hash_bits)
    return product


def _points(lines: U64, hash_bits: int, dimension: int) -> U64:
    """In NumPy, the canonical projective point of each line, coordinate i in the bits from hash_bits · i on.

    The last non-zero coordinate is 1. Points with more coordinates before it follow points with fewer; among the points
    with f such coordinates, these are the digits of the line's number.
    """
    points = np.zeros_like(lines)
    for f in range(dimension):
        start = line_count(hash_bits, f)
        one = np.uint64(1 << hash_bits * f)
        points = np.where(lines >= np.uint64(start), (lines - np.uint64(start)) | one, points)
    return points


def _affine_hash(values: U64, lines: U64, hash_bits: int, dimension: int) -> U64:
    """In NumPy, the hash of each value under its line: scalar product of value and point over GF(2^hash_bits).

    Coordinate i of a value is its hash_bits bits from hash_bits · i on; dimension · hash_bits is at most 64.
    """
    points, last = _points(lines, hash_bits, dimension), np.uint64(2**hash_bits - 1)
    hashed = np.zeros(len(values), dtype=np.uint64)
    for i in range(dimension):
        factor, x = (word >> np.uint64(hash_bits * i) & last for word in (points, values))
        hashed ^= _multiply(factor, x, hash_bits)
    return hashed


def affine_response(
    values: U64, words: U64, hash_bits: int, dimension: int, keep: int, window: int, out: Fields
) -> I64:
    """Kernel: write line, stretch (if it has a field) and hash of each user, and return the reports to redo.

    The first word chooses the line, the second the stretch, a non-zero element that multiplies the hash; the last three
    give the error of the hash.
    """
    line, *stretch, hashes = out
    lines, rejected = _below(words[:, 0], line_count(hash_bits, dimension))
    line[...] = lines
    hashed = _affine_hash(values, lines, hash_bits, dimension)
    if stretch:
        unit, no_unit = _below(words[:, 1], 2**hash_bits - 1)
        stretch[0][...] = unit + np.uint64(1)
        hashed = _multiply(hashed, unit + np.uint64(1), hash_bits)
        rejected |= no_unit
    error, no_error = _error(words, words.shape[1] - 3, keep, 1 << hash_bits, window)
    hashes[...] = hashed ^ error
    return _listed(rejected | no_error)


def affine_gather(rows: I64, hash_bits: int, dimension: int, item_bits: int) -> I64:
    """Kernel: sum of rows[k, s] over all lines k and s ≠ 0 at the frequency of (k, s), folded to item_bits.

    The frequency b satisfies ⟨s, a · x⟩ = ⟨b, x⟩ for every x, where a is the point of the line: in each coordinate, bit
    j of b is the parity of (a · 2^j) & s.
    """
    out = np.zeros(1 << item_bits, dtype=np.int64)
    last, mask = np.uint64(2**hash_bits - 1), np.uint64(2**item_bits - 1)
    for chunk in _chunks(len(rows), _TABLE >> hash_bits):
        points = _points(np.arange(chunk.start, chunk.stop, dtype=np.uint64), hash_bits, dimension)
        # The frequency is linear in s, so the frequencies of the single bits of s determine all.
        single = [np.zeros(len(points), dtype=np.uint64) for _ in range(hash_bits)]
        for i in range(dimension):
            factor = points >> np.uint64(hash_bits * i) & last
            for j in range(hash_bits):
                for bit in range(hash_bits):
                    single[bit] |= (factor >> np.uint64(bit) & np.uint64(1)) << np.uint64(hash_bits * i + j)
                factor = _double(factor, hash_bits)
        places = [np.zeros(len(points), dtype=np.uint64)]
        for bit in range(hash_bits):
            places += [place ^ single[bit] for place in places]
        index = np.stack(places[1:], axis=1) & mask
        np.add.at(out, index.astype(np.int64), rows[chunk, 1:])
    return out


def keyed_hash(content: U8, ends: I64, hash_seed: int, tag: bytes) -> U64:
    """Kernel: first 8 bytes of BLAKE2s of each string as a number, keyed by seed (personalisation) and tag (salt).

    `content` has the strings one after the other; string i stops at ends[i].
    """
    person, whole = hash_seed.to_bytes(8, "little"), content.tobytes()
    hashed = np.zeros(len(ends), dtype=np.uint64)
    start = 0
    for i, end in enumerate(ends.tolist()):
        digest = hashlib.blake2s(whole[start:end], digest_size=8, person=person, salt=tag).digest()
        hashed[i] = int.from_bytes(digest, "little")
        start = end
    return hashed


def local_hash_response(values: U64, words: U64, seeds: U64, keep: int, split: int, size: int, out: Fields) -> I64:
    """Kernel: write the public part (seed or index of the function) and the answer; return the reports to redo.

    The first word is the seed, or chooses one of the `seeds` if there are any; the others decide the direct response
    to the hash.
    """
    public, hashes = out
    chosen, rejected = _below(words[:, 0], len(seeds)) if len(seeds) else (words[:, 0], np.False_)
    hashed = local_hash(seeds[chosen.astype(np.int64)] if len(seeds) else chosen, values, split, size)
    public[...] = chosen
    hashes[...], no_answer = _answer(hashed.astype(np.uint64), words, 1, keep, size)
    return _listed(rejected | no_answer)


def settle_ties(
    bitmaps: Field, values: U64, reports: I64, bits: I64, tails: U64, true_threshold: int, other_threshold: int
) -> None:
    """Kernel: decide the ties of `unary_response` in the bitmaps by the rest of their words.

    The top 56 bits of a tail word are the low 56 of the word whose top byte tied.
    """
    true_rest, other_rest = (np.uint64(threshold % 2**56) for threshold in (true_threshold, other_threshold))
    threshold = np.where(bits.astype(np.uint64) == values[reports], true_rest, other_rest)
    won = tails >> np.uint64(8) < threshold
    report, bit = reports[won], bits[won]
    np.bitwise_or.at(bitmaps, (report, bit >> 3), (1 << (bit & 7)).astype(np.uint8))


def row_sums(bitmaps: U8) -> I64:
    """Kernel over bitmaps: number of ones in each bitmap."""
    sums = np.zeros(len(bitmaps), dtype=np.int64)
    for chunk in _chunks(len(bitmaps), _TABLE // (8 * bitmaps.shape[1] + 1)):
        sums[chunk] = np.unpackbits(bitmaps[chunk], axis=1).sum(axis=1, dtype=np.int64)
    return sums


def _inside(fields: Fields, counts: tuple[int, ...], least: tuple[int, ...] = (0, 0)) -> list[I64]:
    """The numbers in the reports for a kernel, copied and then checked, so that nobody can change them afterwards."""
    copies = [field.astype(np.uint64) for field in fields]
    outside = np.zeros(len(copies[0]), dtype=np.bool_)
    for copy, count, smallest in zip(copies, counts, (*least, 0), strict=False):
        outside |= (copy < smallest) | (copy >= count)
    refuse_outside(int(outside.sum()))
    return [copy.astype(np.int64) for copy in copies]


def histogram(fields: Fields, cells: I64) -> None:
    """Kernel: add each report to the cell of its number, or of its pair of numbers."""
    size = cells.shape[-1]
    where, *second = _inside(fields, (cells.size // size, size) if len(fields) > 1 else (cells.size,))
    if second:
        where = where * size + second[0]
    cells += np.bincount(where, minlength=cells.size).reshape(cells.shape)


def stretched_histogram(fields: Fields, window: int, powers: I64, logarithms: I64, cells: I64) -> None:
    """Kernel: add each report (line, stretch, hash) to the cells of the values that it supports.

    These are (hash ^ e) / stretch for e below `window`. `powers` has the powers of a generator of the field twice, so
    that a difference of logarithms plus the number of powers is an index.
    """
    size = cells.shape[-1]
    line, stretch, hashed = _inside(fields, (cells.size // size, size, size), least=(0, 1, 0))
    for e in range(window):
        value = hashed ^ e
        quotient = powers[logarithms[value] - logarithms[stretch] + len(powers) // 2]
        where = line * size + np.where(value == 0, 0, quotient)
        cells += np.bincount(where, minlength=cells.size).reshape(cells.shape)


def sign_sums(rows: Field, hashes: Field, cells: I64) -> None:
    """Kernel: for each row of a report, add 1 to its cell, or subtract 1 if the hash has that bit."""
    for j in range(rows.shape[1]):
        [row] = _inside((rows[:, j],), (cells.size,))
        minus = hashes.astype(np.uint64) >> np.uint64(j) & np.uint64(1) == 1
        cells += np.bincount(row, minlength=cells.size) - 2 * np.bincount(row[minus], minlength=cells.size)


def extremes(field: Field) -> tuple[int, int]:
    """Kernel: minimum and maximum of the numbers in a field of at least one record."""
    return int(field.min()), int(field.max())


def promising_children(
    tables: I16,
    places: tuple[I64, I64],
    block: int,
    kinds: U8,
    rows: I64,
    needs: I32,
    slack: int,
    room: int,
) -> tuple[int, I32, I32]:
    """Kernel: number of children with the support they need, and parents and numbers of the first `room` of them.

    In cohort r, child c of parent p has the cell start + (c + rotation) mod block of the table. Its support is the sum
    over the cohorts, capped at `slack` above the number of cohorts times the smallest value, so that one cell shared
    with another string is not enough. It needs at least the entry of its kind, kinds[rows[p], c], in needs[p].
    Cells are at most ±32,000 divided by the number of cohorts, and the slack is at most 700, so all sums fit 16 bits.
    `block` is a power of two.
    """
    starts, rotations = places
    children = np.arange(kinds.shape[1])
    found = []
    for chunk in _chunks(len(rows), _TABLE // (8 * len(tables) * len(children)) + 1):
        cells = starts[:, chunk, None] + (children + rotations[:, chunk, None]) % block
        support = np.stack([table[cell].astype(np.int32) for table, cell in zip(tables, cells, strict=True)])
        total = np.minimum(support.sum(axis=0, dtype=np.int32), len(tables) * support.min(axis=0) + np.int32(slack))
        enough = total >= np.take_along_axis(needs[chunk], kinds[rows[chunk]].astype(np.int64), axis=1)
        parents, numbers = np.nonzero(enough)
        found.append(np.stack([parents + chunk.start, numbers]))
    both = np.concatenate(found, axis=1) if found else np.empty((2, 0), dtype=np.int64)
    first = both[:, :room].astype(np.int32)
    return both.shape[1], first[0], first[1]


def group_order(groups: Field, count: int) -> tuple[I64, I64]:
    """Kernel: numbers of the reports sorted by group, and where each of `count` groups begins and ends among them."""
    [inside] = _inside((groups,), (count,))
    return np.argsort(groups, kind="stable"), np.cumsum([0, *np.bincount(inside, minlength=count)], dtype=np.int64)


def take_rows(rows: Field, chosen: I64) -> U8:
    """Kernel: the bytes of the chosen rows, together."""
    refuse_outside(_number_outside(chosen, len(rows)))
    taken: U8 = rows.take(chosen, axis=0)
    return taken


def put_rows(rows: U8, chosen: I64, out: Field) -> None:
    """Kernel: write rows of bytes to the chosen rows of `out`, which are longer or as long, and zeros after them."""
    refuse_outside(_number_outside(chosen, len(out)))
    size = rows.shape[1]
    out[chosen, :size], out[chosen, size:] = rows, 0


def uniform_choice(words: Field, chosen: I64 | None, size: int) -> tuple[U64, I64]:
    """Kernel: a number below `size` from the word of each chosen record, or of all; and the refused words' places."""
    own = (words if chosen is None else words.take(chosen)).astype(np.uint64)
    return own % np.uint64(size), np.flatnonzero(own > np.uint64(2**64 - 1 - 2**64 % size))


def channel_bitmaps(channels: Field, bitmaps: Field, cells: I64) -> None:
    """Kernel: add the set of each report to the cells [channel, item] of its channel."""
    count, size = cells.shape
    [channel] = _inside((channels,), (count,))
    report, item = np.nonzero(np.unpackbits(bitmaps, axis=1, count=size, bitorder="little"))
    cells += np.bincount(channel[report] * size + item, minlength=cells.size).reshape(cells.shape)


def channel_products(channels: Field, rows: Field, hashes: Field, cells: I64) -> None:
    """Kernel: add the products of each report's signs to the cells [channel, place] of its channel.

    A product of some of the t signs is +1 or -1, at the place that is the exclusive or of their rows.
    """
    count, places = cells.shape
    [channel] = _inside((channels,), (count,))
    flat, place, negative = cells.reshape(-1), np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.bool_)
    for step in range(1, 1 << rows.shape[1]):
        # In Gray-code order: one row and its sign enter or leave the product.
        j = (step & -step).bit_length() - 1
        place = place ^ rows[:, j].astype(np.int64) & places - 1
        negative = negative ^ (hashes.astype(np.uint64) >> np.uint64(j) & np.uint64(1) == 1)
        np.add.at(flat, channel * places + place, 1 - 2 * negative.astype(np.int64))


def block_response(values: U64, words: U64, length: int, parts: U64, out: U8) -> I64:
    """Kernel of SLIDE: write each user's record, and return the reports to redo.

    The columns of a part: the end of its tickets; the number of offsets, their step, the width of a block and the
    number of blocks; the oracle's number of items, its threshold, the size of its subset (0 for HM), the number of its
    signs, the bits and the bytes of a row. A record is the part, the offset (a byte each) and the oracle's record.
    """
    n = len(values)
    tickets, refused = uniform_choice(words[:, 0], None, int(parts[-1, 0]))
    part_of, redo = np.searchsorted(parts[:, 0], tickets, side="right"), [refused]
    for number, part in enumerate(parts.tolist()):
        _, offsets, step, width, blocks, size, keep, w, t, bits, row_bytes = part
        own = np.flatnonzero(part_of == number)
        offset, refused = uniform_choice(words[:, 1], own, offsets)
        inside = (values[own] + offset * np.uint64(step)) // np.uint64(width)
        block = np.where(values[own] < length, inside, np.uint64(blocks))
        bitmap = [("bits", "u1", (-(-size // 8),))]
        kind = bitmap if w else [("rows", f"<u{row_bytes}", (t,)), ("signs", "u1", ())]
        made = np.zeros(len(own), dtype=[("part", "u1"), ("offset", "u1"), *kind])
        made["part"], made["offset"] = number, offset
        coins = np.ascontiguousarray(words[own, 2 : 2 + (w + 1 if w else t + 2)])
        if w:
            again = subset_response(block, coins, keep, size, made["bits"])
        else:
            again = parity_response(block, coins, bits, keep, (made["rows"], made["signs"]))
        redo += [own[refused], own[again]]
        put_rows(made.view(np.uint8).reshape(len(own), made.itemsize), own, out)
    return np.unique(np.concatenate(redo)) if n else np.zeros(0, dtype=np.int64)


def _number_outside(chosen: I64, size: int) -> int:
    return int(np.count_nonzero((chosen < 0) | (chosen >= size)))
