/* Reports that are bitmaps: unary encoding (SUE, OUE), and the sums of all bitmaps. */

/* ---- unary_response: OUE and SUE, split words of docs/adr/0004-addressed-streams.md ----------------------------- */

#define EVERY_BYTE 0x0101010101010101u

/* Bit i of the result is the lowest bit of byte i of x, whose other bits are zero: the product moves byte i's bit
 * from 8i to 56 + i, and no two terms meet. */
INLINE u64 LOCAL(gather_bits)(u64 x) { return (x * 0x0102040810204080u) >> 56; }

/* Eight head bytes against a threshold byte, without vectors: which are below, which are equal. */
INLINE TARGET void LOCAL(compare_eight)(u64 head, u64 threshold, u64 *less, u64 *equal) {
    const u64 high = 0x80 * EVERY_BYTE, other = threshold * EVERY_BYTE, differ = head ^ other;
    const u64 no_borrow = (head | high) - (other & ~high); /* high bit: low 7 bits of head >= those of other */
    *less = LOCAL(gather_bits)((((~head & other) | (~differ & ~no_borrow)) & high) >> 7);
    *equal = LOCAL(gather_bits)((~(((differ & ~high) + ~high) | differ) & high) >> 7);
}

/* Bit i of the result is [byte i is -1], for the bytes 0 or -1 of consecutive vectors. */
INLINE TARGET u64 LOCAL(gather_masks)(const v8 *masks) {
    v64 packed = {0};
    for (int k = 0; k < 64 / LANES; k++) {
        v64 bits = (v64)masks[k] & 0x8040201008040201u;
        bits |= bits >> 32;
        bits |= bits >> 16;
        bits |= bits >> 8;
        packed |= (bits & 0xFF) << (8 * LONGS * k);
    }
    u64 result = 0;
    for (int l = 0; l < LONGS; l++) result |= packed[l] << (8 * l);
    return result;
}

/* Which of `count` <= 64 head bytes are below a threshold byte, which are equal to it. */
INLINE TARGET void LOCAL(compare_heads)(const u8 *head, i64 count, u8 threshold, u64 *less, u64 *equal) {
    *less = *equal = 0;
    if (count == 64) {
        v8 is_less[64 / LANES], is_equal[64 / LANES];
        for (int k = 0; k < 64 / LANES; k++) {
            const v8 bytes = (v8) * (const v64_at *)(head + k * LANES);
            is_less[k] = (v8)(bytes < threshold);
            is_equal[k] = (v8)(bytes == threshold);
        }
        *less = LOCAL(gather_masks)(is_less);
        /* Most blocks have no tie, and detecting that is cheaper than locating ties. */
        v64 any = {0};
        u64 some = 0;
        for (int k = 0; k < 64 / LANES; k++) any |= (v64)is_equal[k];
        for (int l = 0; l < LONGS; l++) some |= any[l];
        if (some) *equal = LOCAL(gather_masks)(is_equal);
        return;
    }
    for (i64 j = 0; j < count; j += 8) {
        u64 eight = 0, wanted = 0xFF, l, e;
        if (count - j >= 8) {
            memcpy(&eight, head + j, 8);
        } else {
            for (i64 k = 0; k < count - j; k++) eight |= (u64)head[j + k] << (8 * k);
            wanted >>= 8 - (count - j);
        }
        LOCAL(compare_eight)(eight, threshold, &l, &e);
        *less |= (l & wanted) << j;
        *equal |= (e & wanted) << j;
    }
}

/* Returns the number of ties, of which the first `capacity` are listed. */
TARGET EXPORT i64 KERNEL(unary_response)(const u64 *values, const u8 *head, i64 n, i64 d, u64 true_threshold,
                                         u64 other_threshold, Field bitmaps, i64 *tie_report, i64 *tie_bit,
                                         i64 capacity) {
    const u8 true_byte = (u8)(true_threshold >> 56), other_byte = (u8)(other_threshold >> 56);
    i64 ties = 0;
    for (i64 i = 0; i < n; i++) {
        const u8 *row = head + i * d;
        u8 *bitmap = bitmaps.at + i * bitmaps.stride;
        const u64 value = values[i];
        const u8 own = value < (u64)d ? row[value] : 0;
        const u64 is_less = own < true_byte, is_equal = own == true_byte;
        for (i64 start = 0; start < d; start += 64) {
            const i64 count = d - start < 64 ? d - start : 64;
            u64 less, equal;
            LOCAL(compare_heads)(row + start, count, other_byte, &less, &equal);
            /* The true bit has its own threshold. */
            if (value / 64 == (u64)start / 64 && value < (u64)d) {
                less = (less & ~((u64)1 << (value % 64))) | is_less << (value % 64);
                equal = (equal & ~((u64)1 << (value % 64))) | is_equal << (value % 64);
            }
            if (count == 64)
                memcpy(bitmap, &less, 8);
            else
                for (i64 byte = 0; byte < (count + 7) / 8; byte++) bitmap[byte] = (u8)(less >> (8 * byte));
            bitmap += 8;
            for (; equal; equal &= equal - 1, ties++) {
                if (ties >= capacity) continue;
                tie_report[ties] = i;
                tie_bit[ties] = start + __builtin_ctzll(equal);
            }
        }
    }
    return ties;
}

/* ---- settle_ties: OUE and SUE, the bits that unary_response left open ------------------------------------------- */

/* The low 56 bits of the words are at the top of `tails`; a bit is set if they are below those of its threshold. */
TARGET EXPORT void KERNEL(settle_ties)(Field bitmaps, i64 row_bytes, const u64 *values, i64 n, const i64 *tie_report,
                                       const i64 *tie_bit, const u64 *tails, i64 ties, u64 true_threshold,
                                       u64 other_threshold) {
    for (i64 k = 0; k < ties; k++) {
        const u64 report = (u64)tie_report[k], bit = (u64)tie_bit[k];
        if (report >= (u64)n || bit / 8 >= (u64)row_bytes) continue;
        const u64 threshold = values[report] == bit ? true_threshold : other_threshold;
        const int set = tails[k] >> 8 < (threshold & low_bits(56));
        bitmaps.at[(i64)report * bitmaps.stride + (i64)(bit / 8)] |= (u8)(set << (bit % 8));
    }
}

/* ---- column_sums: support of unary reports, by vertical counters (carry-save adders) -------------------------------
 *
 * Sixteen rows are added bitwise into the planes of weight 1, 2, 4, 8; the plane of weight 16 that falls out is added
 * to eight vectors of byte counters, one for each bit of a byte. Short rows are read several at a time as one long
 * row, so that at least one whole vector fits; the last vector of a row overlaps the one before. */

typedef struct {
    v64 plane[4], counter[8];
} LOCAL(Columns);
#define Columns LOCAL(Columns)

INLINE TARGET v64 LOCAL(add_bits)(v64 *sum, v64 a, v64 b) {
    const v64 half = *sum ^ a, carry = (*sum & a) | (half & b);
    *sum = half ^ b;
    return carry;
}

/* Add sixteen rows, `stride` bytes apart, to the columns. */
INLINE TARGET void LOCAL(add_rows)(Columns *columns, const u8 *rows, i64 stride) {
    v64 plane[4];
    for (int w = 0; w < 4; w++) plane[w] = columns->plane[w];
    v64 twos[2], fours[2], eights[2];
    for (int e = 0; e < 2; e++) {
        for (int f = 0; f < 2; f++) {
            for (int t = 0; t < 2; t++) {
                const u8 *row = rows + (8 * e + 4 * f + 2 * t) * stride;
                twos[t] = LOCAL(add_bits)(&plane[0], *(const v64_at *)row, *(const v64_at *)(row + stride));
            }
            fours[f] = LOCAL(add_bits)(&plane[1], twos[0], twos[1]);
        }
        eights[e] = LOCAL(add_bits)(&plane[2], fours[0], fours[1]);
    }
    const v64 sixteens = LOCAL(add_bits)(&plane[3], eights[0], eights[1]);
    for (int w = 0; w < 4; w++) columns->plane[w] = plane[w];
    for (int bit = 0; bit < 8; bit++)
        columns->counter[bit] = (v64)((v8)columns->counter[bit] + (v8)((sixteens >> bit) & EVERY_BYTE));
}

/* Add the columns to the counts and clear them; bytes before `skip` were counted by another vector. */
TARGET static void LOCAL(flush_columns)(Columns *columns, i64 start, i64 skip, i64 row_bytes, i64 size, i64 *counts) {
    u8 low[8][LANES], high[8][LANES];
    for (int bit = 0; bit < 8; bit++) {
        v64 units = {0};
        for (int w = 0; w < 4; w++) units |= ((columns->plane[w] >> bit) & EVERY_BYTE) << w;
        memcpy(low[bit], &units, LANES);
        memcpy(high[bit], &columns->counter[bit], LANES);
    }
    for (i64 byte = skip; byte < LANES; byte++) {
        const i64 first = (start + byte) % row_bytes * 8;
        for (int bit = 0; bit < 8 && first + bit < size; bit++)
            counts[first + bit] += 16 * (i64)high[bit][byte] + low[bit][byte];
    }
    memset(columns, 0, sizeof *columns);
}

/* The caller passes `counts` filled with zeros. */
TARGET EXPORT void KERNEL(column_sums)(const u8 *bitmaps, i64 n, i64 size, i64 *counts) {
    enum { STRIPE = 32, LONG_ROW = 128, FLUSH = 255, LINE = 64 };
    const i64 row_bytes = (size + 7) / 8;
    if (n == 0 || size == 0) return;
    const i64 together = row_bytes < LONG_ROW ? LONG_ROW / row_bytes : 1;
    const i64 rows = n / together, stride = row_bytes * together, vectors = (stride + LANES - 1) / LANES;
    Columns columns[STRIPE];
    u8 last_rows[16 * LANES];
    for (i64 stripe = 0; stripe < vectors && rows > 0; stripe += STRIPE) {
        const i64 count = vectors - stripe < STRIPE ? vectors - stripe : STRIPE;
        i64 held = 0;
        memset(columns, 0, sizeof columns);
        for (i64 row = 0; row < rows; row += 16) {
            const u8 *at = bitmaps + row * stride;
            for (i64 v = 0, fetched = 0; v < count; v++) {
                const i64 begin = (stripe + v) * LANES, start = begin < stride - LANES ? begin : stride - LANES;
                if (rows - row >= 16) {
                    /* Prefetch a part of the next sixteen rows, which the machine would not predict. */
                    for (; fetched * count < 16 * (v + 1); fetched++)
                        for (i64 byte = 0; byte < count * LANES; byte += LINE)
                            __builtin_prefetch(at + (16 + fetched) * stride + stripe * LANES + byte);
                    LOCAL(add_rows)(&columns[v], at + start, stride);
                } else {
                    memset(last_rows, 0, sizeof last_rows);
                    for (i64 r = 0; r < rows - row; r++)
                        memcpy(last_rows + r * LANES, at + r * stride + start, LANES);
                    LOCAL(add_rows)(&columns[v], last_rows, LANES);
                }
            }
            if (++held == FLUSH || rows - row <= 16) {
                for (i64 v = 0; v < count; v++) {
                    const i64 begin = (stripe + v) * LANES, start = begin < stride - LANES ? begin : stride - LANES;
                    LOCAL(flush_columns)(&columns[v], start, begin - start, row_bytes, size, counts);
                }
                held = 0;
            }
        }
    }
    for (i64 row = rows * together; row < n; row++)
        for (i64 j = 0; j < size; j++) counts[j] += (bitmaps[row * row_bytes + j / 8] >> (j % 8)) & 1;
}

/* ---- row_sums: how many items the subset of a report holds ------------------------------------------------------ */

TARGET EXPORT void KERNEL(row_sums)(Field bitmaps, i64 n, i64 row_bytes, i64 *sums) {
    for (i64 i = 0; i < n; i++) {
        const u8 *row = bitmaps.at + i * bitmaps.stride;
        u64 eight;
        i64 sum = 0, j = 0;
        for (; j + 8 <= row_bytes; j += 8) {
            memcpy(&eight, row + j, 8);
            sum += __builtin_popcountll(eight);
        }
        eight = 0;
        memcpy(&eight, row + j, (size_t)(row_bytes - j));
        sums[i] = sum + __builtin_popcountll(eight);
    }
}

#undef EVERY_BYTE
#undef Columns
