/* Linear hashing: Toeplitz matrices (TLH) and lines over GF(2^t) (AGR). */

/* ---- toeplitz_response: TLH, a linear hash whose row j is the matrix shifted by j, moved by an error ------------ */

/* The error inside or outside of a window, from the words w[0], w[1] and w[2]. */
INLINE u64 LOCAL(error)(const u64 *w, u64 keep, Below near, Below far) {
    const u64 inside = below(near, w[1]), outside = near.modulus + below(far, w[2]);
    return choose(w[0] < keep, inside, outside);
}

TARGET EXPORT i64 KERNEL(toeplitz_response)(const u64 *values, const u64 *words, i64 n, i64 hash_bits, i64 item_bits,
                                            u64 keep, u64 window, Field matrices, Field hashes, i64 *reports,
                                            i64 room) {
    const Below near = below_for(window), far = below_for(((u64)1 << hash_bits) - window);
    const u64 mask = low_bits(item_bits), matrix_mask = low_bits(item_bits + hash_bits - 1);
    Redo redo = {reports, room, 0};
    u64 matrix[BLOCK], hash[BLOCK];
    for (i64 start = 0; start < n; start += BLOCK) {
        const i64 count = smaller(n - start, BLOCK);
        for (i64 i = 0; i < count; i++) {
            const u64 *w = words + 4 * (start + i), value = values[start + i] & mask;
            matrix[i] = w[0] & matrix_mask;
            hash[i] = LOCAL(error)(w + 1, keep, near, far);
            for (i64 j = 0; j < hash_bits; j++) hash[i] ^= LOCAL(parity)((matrix[i] >> j) & value) << j;
            redo_if((w[2] > near.last) | (w[3] > far.last), start + i, &redo);
        }
        LOCAL(store)(matrices, 0, start, count, matrix);
        LOCAL(store)(hashes, 0, start, count, hash);
    }
    return redo.count;
}

/* ---- toeplitz_scatter: TLH, gray_scatter with the rows of Toeplitz matrices ------------------------------------- */

/* Add to `out`; t <= MOST_BITS. */
TARGET EXPORT void KERNEL(toeplitz_scatter)(Field matrices, Field hashes, i64 n, i64 item_bits, i64 t,
                                            const i64 *weights, u64 *out) {
    LOCAL(scatter)(matrices, hashes, n, item_bits, t, weights, out, 1);
}

/* ---- toeplitz_support_of: TLH, support of any candidates -----------------------------------------------------------
 *
 * Bit j of the hash is the parity of (matrix >> j) & x, so the hash is the exclusive or of the matrix shifted by
 * every set bit of x, cut to t bits: the same shifts for all reports of a candidate. */

/* The caller passes `counts` filled with zeros. */
TARGET EXPORT void KERNEL(toeplitz_support_of)(Field matrices, Field hashes, i64 n, const u64 *candidates, i64 k,
                                               i64 hash_bits, i64 item_bits, u64 window, i64 *counts) {
    enum { UNROLLED = 4 };
    typedef i64 signed_vector __attribute__((vector_size(LANES)));
    const u64 mask = low_bits(item_bits), last = low_bits(hash_bits);
    u64 block[BUFFER], wanted[BUFFER];
    for (i64 start = 0; start < n; start += BUFFER) {
        const i64 count = smaller(n - start, BUFFER);
        LOCAL(load)(matrices, 0, start, count, block);
        LOCAL(load)(hashes, 0, start, count, wanted);
        for (i64 c = 0; c < k; c++) {
            const u64 item = candidates[c] & mask;
            v64 total = {0};
            i64 i = 0;
            for (; i + UNROLLED * LONGS <= count; i += UNROLLED * LONGS) {
                v64 hash[UNROLLED];
                for (int v = 0; v < UNROLLED; v++) hash[v] = *(const v64_at *)(wanted + i + v * LONGS);
                for (u64 bits = item; bits; bits &= bits - 1)
                    for (int v = 0; v < UNROLLED; v++)
                        hash[v] ^= *(const v64_at *)(block + i + v * LONGS) >> __builtin_ctzll(bits);
                /* Below 2^32 signed and unsigned comparison agree, and the machine has only the signed one. */
                for (int v = 0; v < UNROLLED; v++)
                    total -= (v64)((signed_vector)(hash[v] & last) < (i64)window);
            }
            for (int l = 0; l < LONGS; l++) counts[c] += (i64)total[l];
            for (; i < count; i++) {
                u64 hash = wanted[i];
                for (u64 bits = item; bits; bits &= bits - 1) hash ^= block[i] >> __builtin_ctzll(bits);
                counts[c] += (hash & last) < window;
            }
        }
    }
}

/* ---- affine_response: AGR, the scalar product of a value and the point of a line over GF(2^t), moved ---------------
 *
 * A point is stored in a word like a value, coordinate i in the bits from t * i on. The line with number k has a point
 * with f free coordinates iff g^f <= k * (g - 1) + 1 < g^(f + 1), so the highest bit of that number gives f. The
 * product is Horner's rule over the bits of all coordinates of the value at once: the coordinates of the point that
 * bit j selects are added up, and the sum is doubled t - 1 times on the way. */

/* First number of the lines with a given highest bit of k * (g - 1) + 1, and the coordinate 1 of their points. */
typedef struct {
    u64 start[64], one[64];
} LOCAL(Points);

TARGET static void LOCAL(list_points)(i64 t, LOCAL(Points) *points) {
    u64 start = 0, one = 1;
    for (i64 bit = 0; bit < 64; bit++) {
        if (bit > 0 && bit % t == 0) {
            start += one;
            one <<= t;
        }
        points->start[bit] = start;
        points->one[bit] = one;
    }
}

/* Hash at most BLOCK values whose points are known; 2^folds is the dimension, rounded up. */
INLINE TARGET void LOCAL(affine_block)(const u64 *values, const u64 *points, i64 count, i64 t, u64 lowest, u64 modulus,
                                       u64 *hash, const int folds) {
    const u64 last = ((u64)1 << t) - 1;
    for (i64 j = t - 1; j >= 0; j--) {
        for (i64 i = 0; i < count; i++) {
            const u64 chosen = (values[i] >> j) & lowest;
            u64 sum = points[i] & ((chosen << t) - chosen);
            for (int fold = folds - 1; fold >= 0; fold--) sum ^= sum >> (t << fold);
            const u64 twice = hash[i] << 1;
            hash[i] = twice ^ (modulus & (0 - (twice >> t))) ^ (sum & last);
        }
    }
}

/* The scalar products of at most BLOCK values with the points of their lines. */
TARGET static void LOCAL(affine_hash)(const u64 *values, const u64 *lines, i64 count, i64 t, i64 dimension, u64 modulus,
                                      const LOCAL(Points) *points, u64 *hash) {
    u64 lowest = 0, point[BLOCK];
    for (i64 i = 0; i < dimension; i++) lowest |= (u64)1 << (t * i);
    for (i64 i = 0; i < count; i++) {
        const int bit = 63 - __builtin_clzll((lines[i] << t) - lines[i] + 1);
        point[i] = (lines[i] - points->start[bit]) | points->one[bit];
        hash[i] = 0;
    }
    /* The widest fold is below t * dimension, hence below 64. */
    if (dimension <= 2)
        LOCAL(affine_block)(values, point, count, t, lowest, modulus, hash, 1);
    else if (dimension <= 4)
        LOCAL(affine_block)(values, point, count, t, lowest, modulus, hash, 2);
    else if (dimension <= 8)
        LOCAL(affine_block)(values, point, count, t, lowest, modulus, hash, 3);
    else if (dimension <= 16)
        LOCAL(affine_block)(values, point, count, t, lowest, modulus, hash, 4);
    else if (dimension <= 32)
        LOCAL(affine_block)(values, point, count, t, lowest, modulus, hash, 5);
    else
        LOCAL(affine_block)(values, point, count, t, lowest, modulus, hash, 6);
}

/* Each hash times its stretch: Horner's rule again. */
TARGET static void LOCAL(stretch_hashes)(const u64 *stretches, i64 count, i64 t, u64 modulus, u64 *hash) {
    u64 product[BLOCK] = {0};
    for (i64 j = t - 1; j >= 0; j--) {
        for (i64 i = 0; i < count; i++) {
            const u64 twice = product[i] << 1;
            product[i] = twice ^ (modulus & (0 - (twice >> t))) ^ (hash[i] & (0 - ((stretches[i] >> j) & 1)));
        }
    }
    memcpy(hash, product, sizeof product);
}

/* `lines` is the number of lines, `columns` the number of words per report: 5 with a stretch, 4 without. */
TARGET EXPORT i64 KERNEL(affine_response)(const u64 *values, const u64 *words, i64 n, i64 columns, i64 t,
                                          i64 dimension, u64 modulus, u64 lines, u64 keep, u64 window, Field line_out,
                                          Field stretch_out, Field hash_out, i64 *reports, i64 room) {
    const u64 size = (u64)1 << t;
    const int stretched = columns == 5;
    const Below all = below_for(lines), units = below_for(stretched ? size - 1 : 1);
    const Below near = below_for(window), far = below_for(size - window);
    Redo redo = {reports, room, 0};
    LOCAL(Points) points;
    u64 line[BLOCK], stretch[BLOCK], hash[BLOCK];
    LOCAL(list_points)(t, &points);
    for (i64 start = 0; start < n; start += BLOCK) {
        const i64 count = smaller(n - start, BLOCK);
        const u64 *block = words + columns * start;
        for (i64 i = 0; i < count; i++) line[i] = below(all, block[columns * i]);
        LOCAL(affine_hash)(values + start, line, count, t, dimension, modulus, &points, hash);
        LOCAL(store)(line_out, 0, start, count, line);
        if (stretched) {
            for (i64 i = 0; i < count; i++) stretch[i] = 1 + below(units, block[columns * i + 1]);
            LOCAL(stretch_hashes)(stretch, count, t, modulus, hash);
            LOCAL(store)(stretch_out, 0, start, count, stretch);
        }
        for (i64 i = 0; i < count; i++) {
            const u64 *first = block + columns * i, *w = first + columns - 3;
            hash[i] ^= LOCAL(error)(w, keep, near, far);
            const int refused = (first[0] > all.last) | (stretched & (first[1] > units.last));
            redo_if(refused | (w[1] > near.last) | (w[2] > far.last), start + i, &redo);
        }
        LOCAL(store)(hash_out, 0, start, count, hash);
    }
    return redo.count;
}

/* ---- stretched_histogram: AGR with a window, the supported values (y ^ e) / s of each report's line ------------- */

/* Add to `total` cells. `powers` has the powers of a generator of the field twice, so that a difference of logarithms
 * plus the order of the generator is an index; both tables are trusted. Returns the number of reports skipped. */
TARGET EXPORT i64 KERNEL(stretched_histogram)(Field lines, Field stretches, Field hashes, i64 n, u64 window,
                                              u64 size, const i64 *powers, const i64 *logarithms, u64 total,
                                              i64 *cells) {
    const u64 rows = total / size;
    u64 line[BLOCK], stretch[BLOCK], hash[BLOCK];
    i64 outside = 0;
    for (i64 start = 0; start < n; start += BLOCK) {
        i64 count = smaller(n - start, BLOCK);
        LOCAL(load)(lines, 0, start, count, line);
        LOCAL(load)(stretches, 0, start, count, stretch);
        LOCAL(load)(hashes, 0, start, count, hash);
        u64 wrong = 0;
        for (i64 i = 0; i < count; i++)
            wrong |= beyond(line[i], rows - 1) | beyond(stretch[i] - 1, size - 2) | beyond(hash[i], size - 1);
        if (__builtin_expect(wrong >> 63, 0)) {
            i64 kept = 0;
            for (i64 i = 0; i < count; i++) {
                if (line[i] >= rows || stretch[i] - 1 >= size - 1 || hash[i] >= size) continue;
                line[kept] = line[i];
                stretch[kept] = stretch[i];
                hash[kept++] = hash[i];
            }
            outside += count - kept;
            count = kept;
        }
        for (i64 i = 0; i < count; i++) {
            const i64 *row = powers + ((i64)size - 1 - logarithms[stretch[i]]);
            for (u64 e = 0; e < window; e++) {
                const u64 value = hash[i] ^ e, quotient = (u64)row[logarithms[value]];
                cells[line[i] * size + (value ? quotient : 0)]++;
            }
        }
    }
    return outside;
}

/* ---- affine_gather: AGR, the transformed rows of all lines to the frequencies they stand for -----------------------
 *
 * The frequency of (k, s) is linear in s: the frequencies of single bits of s are looked up, the others are built by
 * doubling. Only coordinate 0 changes from one line to the next within a group of g lines, and for each s these
 * lines write to g adjacent frequencies: the writes of a group stay in cache. */

/* Returns -1 if memory ran out. The caller passes `out` filled with zeros; item_bits <= 32. */
TARGET EXPORT int KERNEL(affine_gather)(const u64 *rows, i64 t, i64 dimension, i64 item_bits, u64 modulus, u64 *out) {
    enum { MOST = 12 };
    const u64 size = (u64)1 << t, mask = low_bits(item_bits);
    u16(*transposed)[MOST] = malloc(sizeof *transposed * size);
    u32 *places = malloc(sizeof(u32) * size);
    if (!transposed || !places) {
        free(transposed);
        free(places);
        return -1;
    }
    /* Bit j of the transposed product of a and 2^b is bit b of a * 2^j. */
    for (u64 a = 0; a < size; a++) {
        u64 product = a;
        for (i64 b = 0; b < t; b++) transposed[a][b] = 0;
        for (i64 j = 0; j < t; j++) {
            for (i64 b = 0; b < t; b++) transposed[a][b] |= (u16)(((product >> b) & 1) << j);
            product = (product << 1) ^ (modulus & (0 - (product >> (t - 1))));
        }
    }
    places[0] = 0;
    for (i64 f = 0; f < dimension; f++) {
        const u64 one = (u64)1 << (t * f);
        u64 upper[MOST];
        for (u64 free_part = 0; free_part < one; free_part++, rows += size) {
            const u64 point = free_part | one;
            if (free_part % size == 0) {
                for (i64 b = 0; b < t; b++) {
                    upper[b] = 0;
                    for (i64 i = f > 0; i <= f; i++)
                        upper[b] |= (u64)transposed[(point >> (t * i)) & (size - 1)][b] << (t * i);
                }
            }
            const u16 *lower = transposed[f > 0 ? point & (size - 1) : 0];
            for (i64 b = 0; b < t; b++) {
                const u32 single = (u32)((upper[b] | lower[b]) & mask);
                for (u64 s = 0; s < (u64)1 << b; s++) places[((u64)1 << b) + s] = places[s] ^ single;
            }
            for (u64 s = 1; s < size; s++) out[places[s]] += rows[s];
        }
    }
    free(transposed);
    free(places);
    return 0;
}

#undef MOST_BITS
