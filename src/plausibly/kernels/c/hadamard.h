/* The Hadamard matrix: its transform, HR and HM. */

/* ---- walsh_hadamard: a <- H a, H[i][j] = (-1)^popcount(i & j) ------------------------------------------------------
 *
 * Sums wrap around like those of NumPy, hence u64. Long rows are split by a pass of radix 8 into eight parts, each
 * transformed to the end while it is in cache. */

/* Butterflies of `radix` over the elements base[k * stride], for `count` consecutive bases. */
INLINE TARGET void LOCAL(pass_vector)(u64 *base, i64 stride, i64 count, const int radix) {
    for (i64 j = 0; j < count; j += LONGS) {
        v64 x[8];
        for (int k = 0; k < radix; k++) x[k] = *(v64_at *)(base + k * stride + j);
        for (int half = 1; half < radix; half *= 2) {
            for (int k = 0; k < radix; k++) {
                if (k & half) continue;
                const v64 difference = x[k] - x[k + half];
                x[k] += x[k + half];
                x[k + half] = difference;
            }
        }
        for (int k = 0; k < radix; k++) *(v64_at *)(base + k * stride + j) = x[k];
    }
}

/* The same on neighbouring elements: stride and count 1. */
INLINE TARGET void LOCAL(pass_neighbours)(u64 *base, const int radix) {
    u64 x[8];
    for (int k = 0; k < radix; k++) x[k] = base[k];
    for (int half = 1; half < radix; half *= 2) {
        for (int k = 0; k < radix; k++) {
            if (k & half) continue;
            const u64 difference = x[k] - x[k + half];
            x[k] += x[k + half];
            x[k + half] = difference;
        }
    }
    for (int k = 0; k < radix; k++) base[k] = x[k];
}

TARGET static void LOCAL(transform)(u64 *a, int m) {
    enum { IN_CACHE = 11 };
    const i64 length = (i64)1 << m;
    if (m == 1) LOCAL(pass_neighbours)(a, 2);
    if (m == 2) LOCAL(pass_neighbours)(a, 4);
    if (m < 3) return;
    if (m > IN_CACHE) {
        const i64 part = length / 8;
        LOCAL(pass_vector)(a, part, part, 8);
        for (int k = 0; k < 8; k++) LOCAL(transform)(a + k * part, m - 3);
        return;
    }
    for (i64 j = 0; j < length; j += 8) LOCAL(pass_neighbours)(a + j, 8);
    i64 stride = 8;
    for (; stride * 8 <= length; stride *= 8)
        for (i64 j = 0; j < length; j += 8 * stride) LOCAL(pass_vector)(a + j, stride, stride, 8);
    if (stride * 4 == length) LOCAL(pass_vector)(a, stride, stride, 4);
    if (stride * 2 == length) LOCAL(pass_vector)(a, stride, stride, 2);
}

TARGET EXPORT void KERNEL(walsh_hadamard)(u64 *a, i64 rows, int m) {
    for (i64 row = 0; row < rows; row++) LOCAL(transform)(a + (row << m), m);
}

/* ---- parity_response: HM, the direct response to h_j = parity(a_j & x), the rows a_j cut to `bits` --------------
 *
 * Bit number `bits` of a value is its sign: every row is extended by it, so that it reverses all h_j. */

/* GCC computes a parity step by step even if the machine has an instruction that counts bits. */
INLINE TARGET u64 LOCAL(parity)(u64 word) {
    return LANES > 16 ? (u64)__builtin_popcountll(word) & 1 : (u64)__builtin_parityll(word);
}

TARGET EXPORT i64 KERNEL(parity_response)(const u64 *values, const u64 *words, i64 n, i64 t, i64 bits, u64 keep,
                                          Field rows, Field hashes, i64 *reports, i64 room) {
    const Below others = below_for(((u64)1 << t) - 1);
    const u64 mask = low_bits(bits), sign = bits < 64 ? (u64)1 << bits : 0;
    Redo redo = {reports, room, 0};
    u64 row[BLOCK], hash[BLOCK];
    for (i64 start = 0; start < n; start += BLOCK) {
        const i64 count = smaller(n - start, BLOCK);
        const u64 *block = words + (t + 2) * start;
        memset(hash, 0, sizeof hash);
        for (i64 j = 0; j < t; j++) {
            for (i64 i = 0; i < count; i++) {
                row[i] = block[(t + 2) * i + j] & mask;
                hash[i] |= LOCAL(parity)((row[i] | sign) & values[start + i]) << j;
            }
            LOCAL(store)(rows, j, start, count, row);
        }
        for (i64 i = 0; i < count; i++) {
            const u64 *w = block + (t + 2) * i + t;
            hash[i] = LOCAL(answer)(hash[i], w, keep, others);
            redo_if(w[1] > others.last, start + i, &redo);
        }
        LOCAL(store)(hashes, 0, start, count, hash);
    }
    return redo.count;
}

/* ---- hadamard_response: HR over `blocks` blocks of order `order` ------------------------------------------------ */

TARGET EXPORT i64 KERNEL(hadamard_response)(const u64 *values, const u64 *words, i64 n, u64 keep, u64 blocks,
                                            u64 order, Field out, i64 *reports, i64 room) {
    const Below others = below_for(2 * blocks - 1);
    const int shift = __builtin_ctzll(blocks);
    Redo redo = {reports, room, 0};
    u64 cell[BLOCK];
    for (i64 start = 0; start < n; start += BLOCK) {
        const i64 count = smaller(n - start, BLOCK);
        for (i64 i = 0; i < count; i++) {
            const u64 *w = words + 3 * (start + i), value = values[start + i];
            const u64 own = value & (blocks - 1), row = 1 + (value >> shift);
            const u64 draw = below(others, w[1]), kept = w[0] < keep, same = kept | (draw == 0);
            u64 other = (draw - 1) >> 1, u = w[2] & (order - 1);
            other += other >= own;
            /* In the value's own block the parity is prescribed: even if kept, odd if not. */
            const u64 wrong = LOCAL(parity)(u & row) ^ kept ^ 1;
            u ^= row & (0 - row) & (0 - (same & wrong));
            cell[i] = choose((int)same, own, other) * order + u;
            redo_if(w[1] > others.last, start + i, &redo);
        }
        LOCAL(store)(out, 0, start, count, cell);
    }
    return redo.count;
}

/* ---- gray_scatter: HM, the 2^t - 1 characters of each report, in Gray-code order -----------------------------------
 *
 * From one step to the next a single bit of s changes, so one row enters or leaves the exclusive or. Cache misses
 * dominate, because each character is added at a different place. Hence 32-bit sums, half as large as the result,
 * flushed before they can overflow; and the low four bits of s are processed at once, in vectors. */

enum { LOCAL(AT_ONCE) = 16, LOCAL(MOST_BITS) = 32 };
#define AT_ONCE LOCAL(AT_ONCE)
#define MOST_BITS LOCAL(MOST_BITS)

/* The constants of a call. */
typedef struct {
    v32 chosen[4][AT_ONCE / WORDS]; /* -1 where s has that bit */
    u32 minus[AT_ONCE][AT_ONCE];    /* -1 where s & hash is odd: [low bits of the hash][low bits of s] */
    u32 *weights;                   /* 2^t of them, or 16 if that is more; that of s = 0 is 0 */
    u32 *sums;
} LOCAL(Scatter);
#define Scatter LOCAL(Scatter)

/* Number of reports that can be added to 32-bit sums without overflow, wherever they fall. */
INLINE i64 LOCAL(safe_reports)(const i64 *weights, u64 size) {
    u64 total = 1;
    for (u64 s = 1; s < size; s++) {
        const u64 weight = weights[s] < 0 ? 0 - (u64)weights[s] : (u64)weights[s];
        if (weight > INT32_MAX) return 0;
        total += weight;
    }
    return INT32_MAX / (i64)total;
}

/* Whether 32-bit sums were set up; they are not if they would not pay off or if memory is short. */
TARGET static int LOCAL(open_scatter)(Scatter *scatter, i64 n, i64 item_bits, i64 t, const i64 *weights, i64 safe) {
    const u64 size = (u64)1 << t, cells = (u64)1 << item_bits;
    const u64 reports = (u64)(n < safe ? n : safe);
    if (item_bits > MOST_BITS || t > MOST_BITS || reports * size < cells) return 0;
    scatter->weights = calloc(size < AT_ONCE ? AT_ONCE : size, sizeof(u32));
    scatter->sums = calloc(cells, sizeof(u32));
    if (!scatter->weights || !scatter->sums) {
        free(scatter->weights);
        free(scatter->sums);
        return 0;
    }
    for (u64 s = 1; s < size; s++) scatter->weights[s] = (u32)weights[s];
    for (int bit = 0; bit < 4; bit++)
        for (int s = 0; s < AT_ONCE; s++) scatter->chosen[bit][s / WORDS][s % WORDS] = 0 - (u32)((s >> bit) & 1);
    for (u32 hash = 0; hash < AT_ONCE; hash++)
        for (u32 s = 0; s < AT_ONCE; s++) scatter->minus[hash][s] = 0 - (u32)__builtin_parity(s & hash);
    return 1;
}

TARGET static void LOCAL(flush_scatter)(Scatter *scatter, i64 item_bits, u64 *out) {
    for (u64 k = 0; k < (u64)1 << item_bits; k++) {
        out[k] += (u64)(i64)(int32_t)scatter->sums[k];
        scatter->sums[k] = 0;
    }
}

/* Add the characters of one report; `low` = min(t, 4) bits of s are processed at once. Rows beyond t are 0. */
INLINE TARGET void LOCAL(scatter_report)(const Scatter *scatter, const u32 *rows, u32 hash, i64 t, const int low) {
    enum { VECTORS = AT_ONCE / WORDS };
    const u64 groups = (u64)1 << (t - low);
    const u32 *minus = scatter->minus[hash % AT_ONCE], *weights = scatter->weights;
    u32 *sums = scatter->sums, base = 0, negative = 0;
    v32 places[VECTORS], signs[VECTORS];
    for (int v = 0; v < VECTORS; v++) {
        places[v] = (v32){0};
        for (int bit = 0; bit < 4; bit++) places[v] ^= scatter->chosen[bit][v] & rows[bit];
        signs[v] = *(const v32_at *)(minus + v * WORDS);
    }
    for (u64 step = 0;;) {
        const u32 *weight = weights + ((step ^ (step >> 1)) << low);
        u32 place[AT_ONCE], signed_weight[AT_ONCE];
        for (int v = 0; v < VECTORS; v++) {
            const v32 sign = signs[v] ^ negative;
            *(v32_at *)(place + v * WORDS) = places[v] ^ base;
            *(v32_at *)(signed_weight + v * WORDS) = (*(const v32_at *)(weight + v * WORDS) ^ sign) - sign;
        }
        ROLLED
        for (int s = 0; s < 1 << low; s++) sums[place[s]] += signed_weight[s];
        if (++step == groups) break;
        const int bit = low + __builtin_ctzll(step);
        base ^= rows[bit];
        negative ^= 0 - ((hash >> bit) & 1);
    }
}

/* Rows of at most SOME reports, column by column: row j is number j of the field, or if `toeplitz` its only number
 * shifted by j. */
enum { LOCAL(SOME) = 64 };
#define SOME LOCAL(SOME)

INLINE TARGET void LOCAL(load_rows)(Field words, i64 first, i64 count, i64 t, u64 mask, u64 (*rows)[SOME],
                                    const int toeplitz) {
    u64 matrix[SOME];
    if (toeplitz) LOCAL(load)(words, 0, first, count, matrix);
    for (i64 j = 0; j < t; j++) {
        if (!toeplitz) LOCAL(load)(words, j, first, count, rows[j]);
        for (i64 i = 0; i < count; i++) rows[j][i] = (toeplitz ? matrix[i] >> j : rows[j][i]) & mask;
    }
}

INLINE TARGET void LOCAL(scatter_reports)(const Scatter *scatter, u64 (*rows)[SOME], const u64 *hash, i64 count, i64 t,
                                          const int low) {
    u32 row[MOST_BITS] = {0};
    for (i64 i = 0; i < count; i++) {
        for (i64 j = 0; j < t; j++) row[j] = (u32)rows[j][i];
        LOCAL(scatter_report)(scatter, row, (u32)hash[i], t, low);
    }
}

INLINE TARGET void LOCAL(scatter)(Field words, Field hashes, i64 n, i64 item_bits, i64 t, const i64 *weights, u64 *out,
                                  const int toeplitz) {
    const u64 steps = (u64)1 << t, mask = low_bits(item_bits);
    const i64 safe = LOCAL(safe_reports)(weights, steps);
    u64 rows[MOST_BITS][SOME], hash[SOME];
    i64 held = 0;
    Scatter scatter;
    const int narrow = t > 0 && LOCAL(open_scatter)(&scatter, n, item_bits, t, weights, safe);
    for (i64 start = 0, count; start < n; start += count) {
        count = smaller(n - start, SOME);
        if (narrow) {
            if (held == safe) {
                LOCAL(flush_scatter)(&scatter, item_bits, out);
                held = 0;
            }
            count = smaller(count, safe - held);
            held += count;
        }
        LOCAL(load_rows)(words, start, count, t, mask, rows, toeplitz);
        LOCAL(load)(hashes, 0, start, count, hash);
        if (narrow) {
            if (t == 1) LOCAL(scatter_reports)(&scatter, rows, hash, count, t, 1);
            if (t == 2) LOCAL(scatter_reports)(&scatter, rows, hash, count, t, 2);
            if (t == 3) LOCAL(scatter_reports)(&scatter, rows, hash, count, t, 3);
            if (t > 3) LOCAL(scatter_reports)(&scatter, rows, hash, count, t, 4);
            continue;
        }
        for (i64 i = 0; i < count; i++) {
            u64 place = 0, negative = 0;
            for (u64 step = 1; step < steps; step++) {
                const int bit = __builtin_ctzll(step);
                place ^= rows[bit][i];
                negative ^= 0 - ((hash[i] >> bit) & 1);
                out[place] += ((u64)weights[step ^ (step >> 1)] ^ negative) - negative;
            }
        }
    }
    if (narrow) {
        LOCAL(flush_scatter)(&scatter, item_bits, out);
        free(scatter.weights);
        free(scatter.sums);
    }
}

/* Add to `out`; t <= MOST_BITS. */
TARGET EXPORT void KERNEL(gray_scatter)(Field rows, Field hashes, i64 n, i64 item_bits, i64 t, const i64 *weights,
                                        u64 *out) {
    LOCAL(scatter)(rows, hashes, n, item_bits, t, weights, out, 0);
}

/* ---- sign_sums: HM as in the paper, the sum of (-1)^(bit j of the hash) at row j -------------------------------- */

/* Add to `total` cells. Returns the number of rows skipped. */
TARGET EXPORT i64 KERNEL(sign_sums)(Field rows, Field hashes, i64 n, i64 t, u64 total, i64 *cells) {
    u64 row[BUFFER], hash[BUFFER];
    i64 outside = 0;
    for (i64 start = 0; start < n; start += BUFFER) {
        const i64 count = smaller(n - start, BUFFER);
        LOCAL(load)(hashes, 0, start, count, hash);
        for (i64 j = 0; j < t; j++) {
            LOCAL(load)(rows, j, start, count, row);
            for (i64 i = 0; i < count; i++) {
                if (__builtin_expect(row[i] < total, 1))
                    cells[row[i]] += 1 - 2 * (i64)((hash[i] >> j) & 1);
                else
                    outside++;
            }
        }
    }
    return outside;
}

#undef SOME
#undef AT_ONCE
#undef Scatter
