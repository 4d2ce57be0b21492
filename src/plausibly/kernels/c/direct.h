/* Direct encoding (DE), and the direct response of other oracles to a hash. */

/* ---- direct_response: DE, y = keep ? x : u + [u >= x] ----------------------------------------------------------- */

/* The answer to one value from the words w[0] and w[1]. */
INLINE u64 LOCAL(answer)(u64 value, const u64 *w, u64 keep, Below others) {
    u64 u = below(others, w[1]);
    u += u >= value;
    return choose(w[0] < keep, value, u);
}

/* The same for at most BLOCK values below 2^32, from the upper half of each coin and both halves of the other word.
 * Returns whether these leave something open: a coin that equals the upper half of its threshold, or a word that may be
 * refused. That is rare, and the caller then computes the block from whole words. */
INLINE TARGET int LOCAL(answers)(const u32 *values, const u32 *coins, const u32 *low, const u32 *high, i64 count,
                                 u64 keep, const Lanes *others, u32 *out) {
    const u32 threshold = (u32)(keep >> 32);
    u32 open = 0;
    for (i64 i = 0; i < count; i++) {
        u32 u = below_narrow(lane(others, i), low[i], high[i]);
        u += u >= values[i];
        out[i] = coins[i] < threshold ? values[i] : u;
        open |= (coins[i] == threshold) | (high[i] == UINT32_MAX);
    }
    return open != 0;
}

/* The same from the words of direct encoding. */
INLINE TARGET int LOCAL(direct_answers)(const u64 *values, const u64 *words, i64 count, u64 keep, const Lanes *others,
                                        u32 *out) {
    u32 value[BLOCK], coin[BLOCK], low[BLOCK], high[BLOCK];
    const half *word = (const half *)words;
    for (i64 i = 0; i < count; i++) {
        value[i] = (u32)values[i];
        coin[i] = word[4 * i + 1];
        low[i] = word[4 * i + 2];
        high[i] = word[4 * i + 3];
    }
    return LOCAL(answers)(value, coin, low, high, count, keep, others, out);
}

/* Returns the number of reports to redo and lists the first `room` of them, like all responses. */
TARGET EXPORT i64 KERNEL(direct_response)(const u64 *values, const u64 *words, i64 n, u64 keep, u64 size, Field out,
                                          i64 *reports, i64 room) {
    const Below others = below_for(size - 1);
    const Lanes lanes = lanes_for(others);
    /* Vectors of 16 bytes are slower than whole words: SSE2 lacks the minimum of 32-bit numbers. */
    const int whole = LANES == 16 || others.modulus > MOST_NARROW;
    Redo redo = {reports, room, 0};
    u32 answer[BLOCK];
    for (i64 start = 0; start < n; start += BLOCK) {
        const i64 count = smaller(n - start, BLOCK);
        const u64 *value = values + start, *word = words + 2 * start;
        fetch_next(value);
        if (whole || LOCAL(direct_answers)(value, word, count, keep, &lanes, answer)) {
            for (i64 i = 0; i < count; i++) {
                answer[i] = (u32)LOCAL(answer)(value[i], word + 2 * i, keep, others);
                redo_if(word[2 * i + 1] > others.last, start + i, &redo);
            }
        }
        LOCAL(store_narrow)(out, start, count, answer);
    }
    return redo.count;
}
