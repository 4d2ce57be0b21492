/* Direct encoding (DE), and the direct response of other oracles to a hash. */

/* ---- direct_response: DE, y = keep ? x : u + [u >= x] ----------------------------------------------------------- */

/* The answer to one value from the words w[0] and w[1]. */
INLINE u64 LOCAL(answer)(u64 value, const u64 *w, u64 keep, Below others) {
    u64 u = below(others, w[1]);
    u += u >= value;
    return choose(w[0] < keep, value, u);
}

INLINE TARGET i64 LOCAL(direct_response)(const u64 *values, const u64 *words, i64 n, u64 keep, u64 size, Field out,
                                         Redo redo, const int width) {
    const Below others = below_for(size - 1);
    for (i64 i = 0; i < n; i++) {
        const u64 *w = words + 2 * i, answer = LOCAL(answer)(values[i], w, keep, others);
        memcpy(out.at + i * out.stride, &answer, (size_t)width);
        redo_if(w[1] > others.last, i, &redo);
    }
    return redo.count;
}

/* Returns the number of reports to redo and lists the first `room` of them, like all responses. */
TARGET EXPORT i64 KERNEL(direct_response)(const u64 *values, const u64 *words, i64 n, u64 keep, u64 size, Field out,
                                          i64 *reports, i64 room) {
    const Redo redo = {reports, room, 0};
    if (out.width == 1) return LOCAL(direct_response)(values, words, n, keep, size, out, redo, 1);
    if (out.width == 2) return LOCAL(direct_response)(values, words, n, keep, size, out, redo, 2);
    if (out.width == 4) return LOCAL(direct_response)(values, words, n, keep, size, out, redo, 4);
    return LOCAL(direct_response)(values, words, n, keep, size, out, redo, 8);
}
