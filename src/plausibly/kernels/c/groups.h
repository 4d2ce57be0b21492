/* Grouped reports: sorted by group, taken apart and put together; and reports added to the cells of many channels. */

/* ---- group_order: the numbers of the reports of each group, in order -------------------------------------------- */

/* `ends` has room for count + 1 numbers; the reports of group g are order[ends[g]] to order[ends[g + 1] - 1]. Returns the
 * number of reports with another group. */
TARGET EXPORT i64 KERNEL(group_order)(Field groups, i64 n, i64 count, i64 *order, i64 *ends) {
    u64 group[BUFFER];
    i64 *next = calloc((size_t)count, sizeof(i64)), outside = 0;
    if (!next) return -1;
    for (i64 start = 0; start < n; start += BUFFER) {
        const i64 block = smaller(n - start, BUFFER);
        LOCAL(load)(groups, 0, start, block, group);
        for (i64 i = 0; i < block; i++) {
            if (__builtin_expect(group[i] < (u64)count, 1))
                next[group[i]]++;
            else
                outside++;
        }
    }
    ends[0] = 0;
    for (i64 g = 0; g < count; g++) {
        ends[g + 1] = ends[g] + next[g];
        next[g] = ends[g];
    }
    memset(order, 0, sizeof(i64) * (size_t)n);
    for (i64 start = 0; start < n; start += BUFFER) {
        const i64 block = smaller(n - start, BUFFER);
        LOCAL(load)(groups, 0, start, block, group);
        /* A group that somebody has changed since it was counted has no place. */
        for (i64 i = 0; i < block; i++)
            if (group[i] < (u64)count && next[group[i]] < ends[group[i] + 1]) order[next[group[i]]++] = start + i;
    }
    free(next);
    return outside;
}

/* ---- take_rows, put_rows: some bytes of chosen records, together ------------------------------------------------ */

/* memcpy of a few bytes, whose number is not known to the compiler: by two pieces, which may overlap. */
INLINE void LOCAL(copy)(u8 *to, const u8 *from, i64 size) {
    u64 first, last;
    if (size >= 8) {
        memcpy(&last, from + size - 8, 8);
        for (i64 j = 0; j + 8 <= size; j += 8) {
            memcpy(&first, from + j, 8);
            memcpy(to + j, &first, 8);
        }
        memcpy(to + size - 8, &last, 8);
    } else if (size >= 4) {
        memcpy(&first, from, 4);
        memcpy(&last, from + size - 4, 4);
        memcpy(to, &first, 4);
        memcpy(to + size - 4, &last, 4);
    } else {
        for (i64 j = 0; j < size; j++) to[j] = from[j];
    }
}

/* The first `size` bytes of the field in the chosen ones of n records. Returns how many were not among the n. */
TARGET EXPORT i64 KERNEL(take_rows)(Field rows, i64 n, i64 size, const i64 *chosen, i64 m, u8 *out) {
    i64 outside = 0;
    for (i64 i = 0; i < m; i++) {
        const u64 row = (u64)chosen[i];
        if (__builtin_expect(row < (u64)n, 1))
            LOCAL(copy)(out + i * size, rows.at + (i64)row * rows.stride, size);
        else
            outside++;
    }
    return outside;
}

/* The opposite: write m rows to the chosen ones of n records, and zeros after each. */
TARGET EXPORT i64 KERNEL(put_rows)(const u8 *rows, i64 size, i64 zeros, const i64 *chosen, i64 m, Field out, i64 n) {
    i64 outside = 0;
    for (i64 i = 0; i < m; i++) {
        const u64 row = (u64)chosen[i];
        if (__builtin_expect(row < (u64)n, 1)) {
            u8 *to = out.at + (i64)row * out.stride;
            LOCAL(copy)(to, rows + i * size, size);
            for (i64 j = 0; j < zeros; j++) to[size + j] = 0;
        } else {
            outside++;
        }
    }
    return outside;
}

/* ---- uniform_choice: below(size) of one word of each chosen record ---------------------------------------------- */

/* Of all n records if m is negative. Returns the number of refused words, and lists the first `room` of their places. */
TARGET EXPORT i64 KERNEL(uniform_choice)(Field words, i64 n, const i64 *chosen, i64 m, u64 size, u64 *out,
                                         i64 *reports, i64 room) {
    const Below range = below_for(size);
    Redo redo = {reports, room, 0};
    for (i64 i = 0; i < (m < 0 ? n : m); i++) {
        const u64 row = m < 0 ? (u64)i : (u64)chosen[i];
        u64 word = 0;
        if (__builtin_expect(row < (u64)n, 1)) memcpy(&word, words.at + (i64)row * words.stride, 8);
        out[i] = below(range, word);
        redo_if(word > range.last, i, &redo);
    }
    return redo.count;
}

/* ---- channel_bitmaps: each report's set, added to the cells [channel, item] of its channel ---------------------- */

/* Returns the number of reports of no channel. */
TARGET EXPORT i64 KERNEL(channel_bitmaps)(Field channels, Field bitmaps, i64 n, i64 count, i64 size, i64 *cells) {
    u64 channel[BUFFER];
    const i64 row_bytes = (size + 7) / 8;
    i64 outside = 0;
    for (i64 start = 0; start < n; start += BUFFER) {
        const i64 block = smaller(n - start, BUFFER);
        LOCAL(load)(channels, 0, start, block, channel);
        for (i64 i = 0; i < block; i++) {
            if (__builtin_expect(channel[i] >= (u64)count, 0)) {
                outside++;
                continue;
            }
            i64 *own = cells + (i64)channel[i] * size;
            const u8 *row = bitmaps.at + (start + i) * bitmaps.stride;
            for (i64 j = 0; j < row_bytes; j += 8) {
                u64 bits = 0;
                LOCAL(copy)((u8 *)&bits, row + j, smaller(row_bytes - j, 8));
                bits &= low_bits(size - 8 * j);
                ROLLED for (; bits; bits &= bits - 1) own[8 * j + __builtin_ctzll(bits)]++;
            }
        }
    }
    return outside;
}

/* ---- channel_products: HM, the 2^t - 1 products of each report's signs, added to the cells of its channel --------- */

/* t <= 16; rows are cut to `bits`. Returns the number of reports of no channel. */
TARGET EXPORT i64 KERNEL(channel_products)(Field channels, Field rows, Field hashes, i64 n, i64 count, i64 bits,
                                           i64 t, u64 *cells) {
    u64 channel[BLOCK], hash[BLOCK], row[16][BLOCK];
    const u64 mask = low_bits(bits), products = (u64)1 << t;
    i64 outside = 0;
    for (i64 start = 0; start < n; start += BLOCK) {
        const i64 block = smaller(n - start, BLOCK);
        LOCAL(load)(channels, 0, start, block, channel);
        LOCAL(load)(hashes, 0, start, block, hash);
        for (i64 j = 0; j < t; j++) LOCAL(load)(rows, j, start, block, row[j]);
        for (i64 i = 0; i < block; i++) {
            if (__builtin_expect(channel[i] >= (u64)count, 0)) {
                outside++;
                continue;
            }
            u64 *own = cells + (channel[i] << bits), place = 0, minus = 0;
            ROLLED for (u64 step = 1; step < products; step++) {
                const int j = __builtin_ctzll(step);
                place ^= row[j][i] & mask;
                minus ^= hash[i] >> j & 1;
                own[place] += 1 - 2 * minus;
            }
        }
    }
    return outside;
}
