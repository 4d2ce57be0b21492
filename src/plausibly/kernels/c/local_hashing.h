/* Local hashing by tabulation: BLH, OLH and FLH. */

/* ---- local_hash: docs/adr/0006-hash-family.md, h(x) = (A[x div L] + B[x mod L]) mod g --------------------------- */

INLINE TARGET v32 LOCAL(premix_vector)(v32 j) {
    j ^= j >> 16;
    j *= FIRST_FACTOR;
    j ^= j >> 15;
    j *= SECOND_FACTOR;
    return j ^ (j >> 15);
}

/* floor(t * size / 2^24) for t < 2^24, in 32 bits. A product with size <= 256 fits (`bits` = 8). A size <= 2^20 is
 * applied to the two 12-bit halves of t = a * 2^12 + b: floor((a * size + floor(b * size / 2^12)) / 2^12), where the
 * sum is at most t * size / 2^12 < 2^32 (16). A size = c * 2^12 + d <= 2^24 is cut, too:
 * a * c + floor((a * d + b * c + floor(b * d / 2^12)) / 2^12), where no term exceeds 2^24 (32). */
INLINE TARGET v32 LOCAL(entry_vector)(v32 premixed, v32 first, v32 second, u32 size, const int bits) {
    v32 t = (premixed ^ first) * FIRST_FACTOR;
    t ^= t >> 15;
    t = (t ^ second) * SECOND_FACTOR;
    t ^= t >> 15;
    t >>= 8;
    if (bits == 8) return (t * size) >> 24;
    const v32 a = t >> 12, b = t & 0xFFF;
    if (bits == 16) return (a * size + ((b * size) >> 12)) >> 12;
    const u32 c = size >> 12, d = size & 0xFFF;
    return a * c + ((a * d + b * c + ((b * d) >> 12)) >> 12);
}

INLINE TARGET void LOCAL(hash_lanes)(const Hashed *h, i64 count, u32 size, u32 *out, const int bits) {
    for (i64 i = 0; i < count; i += WORDS) {
        const v32 first = *(const v32_at *)(h->first + i), second = *(const v32_at *)(h->second + i);
        const v32 low = LOCAL(premix_vector)(*(const v32_at *)(h->low + i));
        const v32 high = LOCAL(premix_vector)(*(const v32_at *)(h->high + i));
        const v32 sum = LOCAL(entry_vector)(low, first, second, size, bits) +
                        LOCAL(entry_vector)(high, second, first, size, bits);
        *(v32_at *)(out + i) = sum - ((v32)(sum >= size) & size);
    }
}

/* Hash at most BLOCK values; `out` has room for BLOCK. */
TARGET static void LOCAL(hash_block)(Hashed *h, const u64 *seeds, const u64 *values, i64 count, Split s, u32 size,
                                     u32 *out) {
    const half *seed = (const half *)seeds;
    for (i64 i = 0; i < count; i++) {
        h->first[i] = seed[2 * i];
        h->second[i] = seed[2 * i + 1];
    }
    if (s.shift >= 0)
        for (i64 i = 0; i < count; i++) {
            h->low[i] = (u32)(values[i] & (s.split - 1));
            h->high[i] = (u32)(values[i] >> s.shift);
        }
    else
        for (i64 i = 0; i < count; i++) {
            h->low[i] = low_of(s, values[i]);
            h->high[i] = high_of(s, values[i]);
        }
    if (size <= 256)
        LOCAL(hash_lanes)(h, count, size, out, 8);
    else if (size <= 1 << 20)
        LOCAL(hash_lanes)(h, count, size, out, 16);
    else
        LOCAL(hash_lanes)(h, count, size, out, 32);
}

TARGET EXPORT void KERNEL(local_hash)(const u64 *seeds, const u64 *values, i64 n, u64 split, u32 size, u32 *out) {
    const Split s = split_for(split);
    Hashed hashed = {0};
    u32 hash[BLOCK];
    for (i64 start = 0; start < n; start += BLOCK) {
        const i64 count = smaller(n - start, BLOCK);
        LOCAL(hash_block)(&hashed, seeds + start, values + start, count, s, size, hash);
        memcpy(out + start, hash, sizeof(u32) * (size_t)count);
    }
}

/* ---- local_hash_response: LH, the direct response to the hash of each value ------------------------------------- */

/* Seeds of 8 bytes and answers in one pass: every pass over new records waits for their memory. */
INLINE TARGET void LOCAL(store_seeded)(Field seed_out, Field hash_out, i64 first, i64 count, const u64 *seeds,
                                       const u32 *answers, const int width) {
    u8 *seed = seed_out.at + first * seed_out.stride, *hash = hash_out.at + first * hash_out.stride;
    const i64 stride = seed_out.stride;
#pragma GCC unroll 4
    for (i64 i = 0; i < count; i++) {
        memcpy(seed + i * stride, &seeds[i], 8);
        memcpy(hash + i * stride, &answers[i], (size_t)width);
    }
}

/* The first word of a report is its seed or, if there are `functions` seeds, chooses one of them. */
TARGET EXPORT i64 KERNEL(local_hash_response)(const u64 *values, const u64 *words, i64 n, const u64 *seeds,
                                              i64 functions, u64 keep, u64 split, u32 size, Field public_out,
                                              Field hash_out, i64 *reports, i64 room) {
    const Split s = split_for(split);
    const Below others = below_for(size - 1), function = below_for(functions ? (u64)functions : 1);
    const Lanes lanes = lanes_for(others);
    Redo redo = {reports, room, 0};
    Hashed hashed = {0};
    u64 public[BLOCK], seed[BLOCK], coin[BLOCK], draw[BLOCK];
    u32 upper[BLOCK], low[BLOCK], high[BLOCK], hash[BLOCK], answer[BLOCK];
    for (i64 start = 0; start < n; start += BLOCK) {
        const i64 count = smaller(n - start, BLOCK);
        const u64 *block = words + 3 * start;
        fetch_next(values + start);
        for (i64 i = 0; i < count; i++) {
            public[i] = block[3 * i];
            coin[i] = block[3 * i + 1];
            draw[i] = block[3 * i + 2];
        }
        int open = 0;
        if (functions) {
            for (i64 i = 0; i < count; i++) {
                open |= public[i] > function.last;
                public[i] = below(function, public[i]);
                seed[i] = seeds[public[i]];
            }
        }
        LOCAL(hash_block)(&hashed, functions ? seed : public, values + start, count, s, size, hash);
        const half *coins = (const half *)coin, *draws = (const half *)draw;
        for (i64 i = 0; i < count; i++) {
            upper[i] = coins[2 * i + 1];
            low[i] = draws[2 * i];
            high[i] = draws[2 * i + 1];
        }
        open |= LOCAL(answers)(hash, upper, low, high, count, keep, &lanes, answer);
        if (open) {
            for (i64 i = 0; i < count; i++) {
                const u64 *w = block + 3 * i;
                answer[i] = (u32)LOCAL(answer)(hash[i], w + 1, keep, others);
                /* below(1) refuses nothing. */
                redo_if((w[0] > function.last) | (w[2] > others.last), start + i, &redo);
            }
        }
        const int seeded = public_out.width == 8 && public_out.stride == hash_out.stride;
        if (seeded && hash_out.width == 1) {
            LOCAL(store_seeded)(public_out, hash_out, start, count, public, answer, 1);
        } else if (seeded && hash_out.width == 2) {
            LOCAL(store_seeded)(public_out, hash_out, start, count, public, answer, 2);
        } else {
            LOCAL(store)(public_out, 0, start, count, public);
            LOCAL(store_narrow)(hash_out, start, count, answer);
        }
    }
    return redo.count;
}

/* ---- support_counts: OLH, #{i : h_i(x) = y_i} for every x of the domain, by tabulation -----------------------------
 *
 * With B[low] and A[high] the two entries of a report, h(x) = y  <=>  B[low] = C[high] := (y - A[high]) mod g.
 * For a block of reports the C are expanded once for a group of high characters and the B once for a tile of low
 * ones; then a test is one compare and one subtraction of a lane, with four high characters by two vectors of low
 * ones counted in registers over the whole block. Lanes have `bits` = 8 (g <= 256) or 16 bits.
 *
 * Lanes are filled by shifting 32-bit entries into place instead of shuffling them: lane p of the 64-bit word l
 * of a vector is low character p * LONGS + l of that vector, which also makes the flush a row of shifts. */

/* Premixed low characters base + p * LONGS + l for the parts p = part, part + 32 / bits of each 64-bit word. */
INLINE TARGET v32 LOCAL(premix_part)(u64 base, int part, const int bits) {
    v32 j;
    for (int lane = 0; lane < WORDS; lane++)
        j[lane] = (u32)base + (u32)((part + (lane & 1) * (32 / bits)) * LONGS + (lane >> 1));
    return LOCAL(premix_vector)(j);
}

/* Expand two vectors of B for every report of the block: low characters from `base` on. */
INLINE TARGET void LOCAL(expand_low)(const u64 *seeds, int reports, u64 base, u32 size, v32 *table, const int bits) {
    enum { MOST = 8 };
    const int parts = 32 / bits;
    v32 mixed[MOST];
    for (int k = 0; k < 2 * parts; k++)
        mixed[k] = LOCAL(premix_part)(base + (u64)(k / parts) * (8 * LANES / bits), k % parts, bits);
    for (int r = 0; r < reports; r++) {
        const v32 first = (v32){0} + (u32)seeds[r], second = (v32){0} + (u32)(seeds[r] >> 32);
        for (int v = 0; v < 2; v++) {
            v32 packed = {0};
            for (int part = 0; part < parts; part++)
                packed |= LOCAL(entry_vector)(mixed[v * parts + part], first, second, size, bits) << (bits * part);
            table[2 * r + v] = packed;
        }
    }
}

/* Expand C for one vector of high characters from `base` on, each repeated over the lanes of a 32-bit word. */
INLINE TARGET void LOCAL(expand_high)(const u64 *seeds, const u64 *hashes, int reports, u64 base, u32 size,
                                      u32 *targets, const int bits) {
    v32 mixed;
    for (int lane = 0; lane < WORDS; lane++) mixed[lane] = (u32)base + (u32)lane;
    mixed = LOCAL(premix_vector)(mixed);
    for (int r = 0; r < reports; r++) {
        const v32 first = (v32){0} + (u32)seeds[r], second = (v32){0} + (u32)(seeds[r] >> 32);
        v32 target = (u32)hashes[r] - LOCAL(entry_vector)(mixed, second, first, size, bits);
        target += (0 - (target >> 31)) & size;
        target |= target << 16;
        if (bits == 8) target |= target << 8;
        *(v32_at *)(targets + r * WORDS) = target;
    }
}

/* counts + [table == target], lane by lane: a true comparison is -1. */
INLINE TARGET v32 LOCAL(count_equal)(v32 counts, v32 table, v32 target, const int bits) {
    return bits == 8 ? (v32)((v8)counts - (v8)((v8)table == (v8)target))
                     : (v32)((v16)counts - (v16)((v16)table == (v16)target));
}

INLINE TARGET void LOCAL(flush_lanes)(v32 lanes, i64 *counts, i64 room, const int bits) {
    const int parts = 64 / bits;
    const u64 mask = bits == 8 ? 0xFF : 0xFFFF;
    if (room >= parts * LONGS) {
        for (int p = 0; p < parts; p++)
            *(v64_at *)(counts + p * LONGS) += ((v64)lanes >> (bits * p)) & mask;
    } else {
        for (int k = 0; k < room; k++)
            counts[k] += (i64)((((v64)lanes)[k % LONGS] >> (bits * (k / LONGS))) & mask);
    }
}

/* Count four high characters by two vectors of low ones over the block. `counts` points at the first value of the
 * tile; rows[k] says how many values of high character k are wanted from there on (none if <= 0). */
INLINE TARGET void LOCAL(count_tile)(const v32 *table, const u32 *targets, int reports, i64 *counts, u64 split,
                                     const i64 *rows, const int bits) {
    v32 a0 = {0}, a1 = {0}, b0 = {0}, b1 = {0}, c0 = {0}, c1 = {0}, d0 = {0}, d1 = {0};
    for (int r = 0; r < reports; r++) {
        const v32 low0 = table[2 * r], low1 = table[2 * r + 1], zero = {0};
        const u32 *high = targets + r * WORDS;
        a0 = LOCAL(count_equal)(a0, low0, zero + high[0], bits);
        a1 = LOCAL(count_equal)(a1, low1, zero + high[0], bits);
        b0 = LOCAL(count_equal)(b0, low0, zero + high[1], bits);
        b1 = LOCAL(count_equal)(b1, low1, zero + high[1], bits);
        c0 = LOCAL(count_equal)(c0, low0, zero + high[2], bits);
        c1 = LOCAL(count_equal)(c1, low1, zero + high[2], bits);
        d0 = LOCAL(count_equal)(d0, low0, zero + high[3], bits);
        d1 = LOCAL(count_equal)(d1, low1, zero + high[3], bits);
    }
    const v32 totals[4][2] = {{a0, a1}, {b0, b1}, {c0, c1}, {d0, d1}};
    const i64 half = 8 * LANES / bits;
    for (int k = 0; k < 4; k++) {
        if (rows[k] <= 0) continue;
        i64 *row = counts + (u64)k * split;
        LOCAL(flush_lanes)(totals[k][0], row, rows[k], bits);
        if (rows[k] > half) LOCAL(flush_lanes)(totals[k][1], row + half, rows[k] - half, bits);
    }
}

INLINE TARGET int LOCAL(support_counts)(Field seeds, Field hashes, i64 n, u64 domain_size, u64 split, u32 size,
                                        i64 *counts, const int bits) {
    const u64 lows = split < domain_size ? split : domain_size;
    const u64 highs = (domain_size - 1) / split + 1, tile = 2 * (8 * LANES / bits);
    v32 table[2 * REPORTS];
    u64 seed[REPORTS], hash[REPORTS];
    u32 *targets = malloc(sizeof(u32) * REPORTS * HIGH_GROUP);
    if (!targets) return -1;
    for (i64 start = 0; start < n; start += REPORTS) {
        const int reports = (int)smaller(n - start, REPORTS);
        LOCAL(load)(seeds, 0, start, reports, seed);
        LOCAL(load)(hashes, 0, start, reports, hash);
        for (u64 group = 0; group < highs; group += HIGH_GROUP) {
            const u64 end = highs - group < HIGH_GROUP ? highs : group + HIGH_GROUP;
            for (u64 high = group; high < end; high += WORDS)
                LOCAL(expand_high)(seed, hash, reports, high, size, targets + (high - group) * REPORTS, bits);
            for (u64 low = 0; low < lows; low += tile) {
                LOCAL(expand_low)(seed, reports, low, size, table, bits);
                for (u64 high = group; high < end; high += 4) {
                    i64 rows[4];
                    for (int k = 0; k < 4; k++) {
                        u64 stop = split;
                        if (high + k == highs - 1) stop = domain_size - (high + k) * split;
                        rows[k] = high + k >= highs || stop <= low ? 0 : (i64)(stop - low < tile ? stop - low : tile);
                    }
                    const u64 place = high - group;
                    LOCAL(count_tile)(table, targets + place / WORDS * WORDS * REPORTS + place % WORDS, reports,
                                      counts + high * split + low, split, rows, bits);
                }
            }
        }
    }
    free(targets);
    return 0;
}

/* Returns -1 if memory ran out. The caller passes `counts` filled with zeros. */
TARGET EXPORT int KERNEL(support_counts)(Field seeds, Field hashes, i64 n, u64 domain_size, u64 split, u32 size,
                                         i64 *counts) {
    if (domain_size == 0 || n == 0) return 0;
    return size <= 256 ? LOCAL(support_counts)(seeds, hashes, n, domain_size, split, size, counts, 8)
                       : LOCAL(support_counts)(seeds, hashes, n, domain_size, split, size, counts, 16);
}

/* ---- support_of: OLH, #{i : h_i(x) = y_i} for any 64-bit candidates x ------------------------------------------- */

INLINE TARGET void LOCAL(support_of)(Field seeds, Field hashes, i64 n, const u64 *candidates, i64 k, u64 split,
                                     u32 size, i64 *counts, const int bits) {
    const Split s = split_for(split);
    u64 seed[BUFFER], hash[BUFFER];
    for (i64 start = 0; start < n; start += BUFFER) {
        const i64 reports = smaller(n - start, BUFFER);
        LOCAL(load)(seeds, 0, start, reports, seed);
        LOCAL(load)(hashes, 0, start, reports, hash);
        for (i64 c = 0; c < k; c += WORDS) {
            const int count = k - c < WORDS ? (int)(k - c) : WORDS;
            v32 low = {0}, high = {0}, found = {0};
            for (int lane = 0; lane < count; lane++) {
                low[lane] = low_of(s, candidates[c + lane]);
                high[lane] = high_of(s, candidates[c + lane]);
            }
            low = LOCAL(premix_vector)(low);
            high = LOCAL(premix_vector)(high);
            for (i64 i = 0; i < reports; i++) {
                const v32 first = (v32){0} + (u32)seed[i], second = (v32){0} + (u32)(seed[i] >> 32);
                const u32 wanted = (u32)hash[i];
                v32 sum = LOCAL(entry_vector)(low, first, second, size, bits) +
                          LOCAL(entry_vector)(high, second, first, size, bits);
                found -= (v32)(sum == wanted) | (v32)(sum == wanted + size);
            }
            for (int lane = 0; lane < count; lane++) counts[c + lane] += found[lane];
        }
    }
}

/* The caller passes `counts` filled with zeros. */
TARGET EXPORT void KERNEL(support_of)(Field seeds, Field hashes, i64 n, const u64 *candidates, i64 k, u64 split,
                                      u32 size, i64 *counts) {
    if (size <= 256)
        LOCAL(support_of)(seeds, hashes, n, candidates, k, split, size, counts, 8);
    else
        LOCAL(support_of)(seeds, hashes, n, candidates, k, split, size, counts, 16);
}

/* ---- table_support: FLH, sum over i of table[i][h_i(x)] for every x of the domain ----------------------------------
 *
 * A table written twice in a row turns (A + B) mod g into the plain index A + B. Four hashes are summed at once, so
 * that the sums are loaded and stored once for four look-ups. Sums wrap around like those of NumPy. */

INLINE TARGET void LOCAL(expand_entries)(u64 base, i64 count, u32 first, u32 second, u32 size, u32 *out) {
    for (i64 j = 0; j < count; j++) out[j] = entry(premix((u32)base + (u32)j), first, second, size);
}

/* Returns -1 if memory ran out. The caller passes `sums` filled with zeros. */
TARGET EXPORT int KERNEL(table_support)(const u64 *seeds, const u64 *table, i64 k, u32 size, u64 domain_size,
                                        u64 split, u64 *sums) {
    if (domain_size == 0 || k == 0) return 0;
    const u64 lows = split < domain_size ? split : domain_size, highs = (domain_size - 1) / split + 1;
    u32 low[4][BUFFER], high[4][BUFFER];
    u64 *twice[4];
    u64 *memory = malloc(4 * 2 * sizeof(u64) * (size_t)size);
    if (!memory) return -1;
    for (i64 start = 0; start < k; start += 4) {
        u64 seed[4] = {0};
        for (int q = 0; q < 4; q++) {
            twice[q] = memory + 2 * (size_t)q * size;
            if (start + q < k) {
                seed[q] = seeds[start + q];
                memcpy(twice[q], table + (start + q) * (i64)size, sizeof(u64) * size);
                memcpy(twice[q] + size, table + (start + q) * (i64)size, sizeof(u64) * size);
            } else {
                memset(twice[q], 0, 2 * sizeof(u64) * size);
            }
        }
        for (u64 group = 0; group < highs; group += BUFFER) {
            const i64 high_count = highs - group < BUFFER ? (i64)(highs - group) : BUFFER;
            for (int q = 0; q < 4; q++)
                LOCAL(expand_entries)(group, high_count, (u32)(seed[q] >> 32), (u32)seed[q], size, high[q]);
            for (u64 base = 0; base < lows; base += BUFFER) {
                const i64 low_count = lows - base < BUFFER ? (i64)(lows - base) : BUFFER;
                for (int q = 0; q < 4; q++)
                    LOCAL(expand_entries)(base, low_count, (u32)seed[q], (u32)(seed[q] >> 32), size, low[q]);
                for (i64 h = 0; h < high_count; h++) {
                    const u64 place = (group + (u64)h) * split + base;
                    if (place >= domain_size) continue;
                    const i64 count = domain_size - place < (u64)low_count ? (i64)(domain_size - place) : low_count;
                    const u64 *t0 = twice[0] + high[0][h], *t1 = twice[1] + high[1][h];
                    const u64 *t2 = twice[2] + high[2][h], *t3 = twice[3] + high[3][h];
                    for (i64 j = 0; j < count; j++)
                        sums[place + (u64)j] += t0[low[0][j]] + t1[low[1][j]] + t2[low[2][j]] + t3[low[3][j]];
                }
            }
        }
    }
    free(memory);
    return 0;
}

/* ---- table_support_of: FLH, the same sums for any 64-bit candidates --------------------------------------------- */

/* The caller passes `sums` filled with zeros. */
TARGET EXPORT void KERNEL(table_support_of)(const u64 *seeds, const u64 *table, i64 k, u32 size,
                                            const u64 *candidates, i64 c, u64 split, u64 *sums) {
    const Split s = split_for(split);
    u32 low[BUFFER], high[BUFFER], hash[BUFFER];
    for (i64 start = 0; start < c; start += BUFFER) {
        const i64 count = c - start < BUFFER ? c - start : BUFFER;
        for (i64 j = 0; j < count; j++) {
            low[j] = premix(low_of(s, candidates[start + j]));
            high[j] = premix(high_of(s, candidates[start + j]));
        }
        for (i64 i = 0; i < k; i++) {
            const u32 first = (u32)seeds[i], second = (u32)(seeds[i] >> 32);
            const u64 *row = table + i * (i64)size;
            for (i64 j = 0; j < count; j++) {
                u32 sum = entry(low[j], first, second, size) + entry(high[j], second, first, size);
                hash[j] = sum >= size ? sum - size : sum;
            }
            for (i64 j = 0; j < count; j++) sums[start + j] += row[hash[j]];
        }
    }
}
