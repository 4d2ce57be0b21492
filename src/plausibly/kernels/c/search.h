/* The search for common strings. */

/* ---- promising_children: the search, which extensions of which prefixes have enough support --------------------- */

/* A run of one cohort's cells: added up, and the least of the cohorts kept. Sums of all cohorts fit 16 bits. */
INLINE TARGET void LOCAL(support_run)(const i16 *cells, i64 count, i16 *sums, i16 *least) {
    for (i64 i = 0; i < count; i++) {
        const i16 cell = cells[i];
        sums[i] = (i16)(sums[i] + cell);
        least[i] = cell < least[i] ? cell : least[i];
    }
}

/* Returns the number of children found; only the first `room` of them are written. There are at most `block` children.
 * A parent whose row or start is out of range has none. */
TARGET EXPORT i64 KERNEL(promising_children)(const i16 *tables, i64 cohorts, i64 cells, const i64 *starts,
                                             const i64 *rotations, i64 parents, i64 block, const u8 *kinds,
                                             i64 kind_rows, i64 children, const i64 *rows, const i32 *needs,
                                             i64 kind_count, i32 slack, i32 *found_parents, i32 *found_children,
                                             i64 room) {
    i16 sums[CHILDREN], least[CHILDREN];
    i64 found = 0;
    for (i64 p = 0; p < parents; p++) {
        const u64 own_row = (u64)rows[p];
        u64 outside = own_row >= (u64)kind_rows;
        for (i64 r = 0; r < cohorts; r++) outside |= (u64)starts[r * parents + p] > (u64)(cells - block);
        if (outside) continue;
        const i32 *need = needs + p * kind_count;
        const u8 *kind = kinds + (i64)own_row * children;
        /* enough[j]: the least need of all kinds from j on. Kinds from kind_count on do not exist; their need is the
         * largest 16-bit integer. */
        i16 enough[256];
        for (i64 j = kind_count; j < 256; j++) enough[j] = INT16_MAX;
        i32 least_need = INT16_MAX + 1;
        for (i64 j = kind_count - 1; j >= 0; j--) {
            least_need = need[j] < least_need ? need[j] : least_need;
            enough[j] = (i16)(least_need > INT16_MAX ? INT16_MAX : least_need < INT16_MIN ? INT16_MIN : least_need);
        }
        if (least_need > INT16_MAX) continue;
        for (i64 from = 0; from < children; from += CHILDREN) {
            const i64 count = smaller(CHILDREN, children - from);
            memset(sums, 0, sizeof sums);
            for (i64 c = 0; c < count; c++) least[c] = INT16_MAX;
            for (i64 r = 0; r < cohorts; r++) {
                const i16 *own = tables + r * cells + starts[r * parents + p];
                const i64 place = (i64)(((u64)from + (u64)rotations[r * parents + p]) & (u64)(block - 1));
                const i64 first = smaller(block - place, count);
                LOCAL(support_run)(own + place, first, sums, least);
                LOCAL(support_run)(own, count - first, sums + first, least + first);
            }
            for (i64 c = 0; c < count; c++) {
                const i16 clipped = (i16)((i16)cohorts * least[c] + (i16)slack);
                sums[c] = clipped < sums[c] ? clipped : sums[c];
            }
            /* Few reach the need of their likeliest neighbour, so few are compared with their own need. */
            for (i64 some = 0; some < count; some += DOUBTED) {
                const i64 end = smaller(some + DOUBTED, count);
                u8 likeliest = 255;
                for (i64 c = some; c < end; c++) {
                    const u8 own = kind[from + c];
                    likeliest = own < likeliest ? own : likeliest;
                }
                const i16 lowest = enough[likeliest];
                i16 any = 0;
                for (i64 c = some; c < some + DOUBTED; c++) any |= (i16)(sums[c] >= lowest);
                if (!any) continue;
                for (i64 c = some; c < end; c++) {
                    const u8 own = kind[from + c];
                    if (sums[c] >= lowest && own < kind_count && sums[c] >= need[own]) {
                        if (found < room) {
                            found_parents[found] = (i32)p;
                            found_children[found] = (i32)(from + c);
                        }
                        found++;
                    }
                }
            }
        }
    }
    return found;
}
