/* Subset selection (SS): random subsets of fixed size. */

/* ---- subset_response: SS, a random subset as a bitmap, by a partial Fisher-Yates shuffle ---------------------------
 *
 * First the places of all draws, many at once; then the shuffles. One permutation of the other values serves all
 * reports: the changes of a report are undone after it. Slot i is not read after step i, so nothing is written there. */

#ifndef PLAUSIBLY_URN
#define PLAUSIBLY_URN
/* What the reports of a call share. A row is the words of `reports` reports, so that it fills vectors even if w is
 * small. Each word of a row has its step, the parts of its Narrow, and room for its place; those of a coin are zero. */
typedef struct {
    i64 w, reports;
    u32 *steps, *moduli, *high, *low, *places, *others;
} Urn;

/* Returns 0 if memory ran out. */
static int open_urn(Urn *urn, i64 w, u64 size) {
    enum { LONG_ROW = 64 };
    const i64 reports = LONG_ROW / (w + 1) + 1;
    const size_t row = (size_t)(reports * (w + 1));
    u32 *memory = calloc(5 * row + (size_t)size, sizeof(u32));
    if (!memory) return 0;
    *urn = (Urn){.w = w, .reports = reports, .steps = memory, .moduli = memory + row, .high = memory + 2 * row};
    urn->low = memory + 3 * row;
    urn->places = memory + 4 * row;
    urn->others = memory + 5 * row;
    for (i64 i = 0; i < w; i++) {
        const Narrow range = narrow_for(below_for(size - 1 - (u64)i));
        for (i64 k = i + 1; k < (i64)row; k += w + 1) {
            urn->steps[k] = (u32)i;
            urn->moduli[k] = range.modulus;
            urn->high[k] = range.high;
            urn->low[k] = range.low;
        }
    }
    for (u64 other = 0; other + 1 < size; other++) urn->others[other] = (u32)other;
    return 1;
}

/* The places of a report by whole words; returns whether one of them was refused. */
static int draw_again(const Urn *urn, const u64 *words, u32 *places) {
    int refused = 0;
    for (i64 i = 1; i <= urn->w; i++) {
        const Below range = below_for(urn->moduli[i]);
        places[i] = (u32)(urn->steps[i] + below(range, words[i]));
        refused |= words[i] > range.last;
    }
    return refused;
}
#endif

/* The places of a row of `count` words; returns whether one of them may be refused. */
INLINE TARGET int LOCAL(draw_row)(const Urn *urn, const u64 *words, i64 count) {
    const half *word = (const half *)words;
    const u32 *steps = urn->steps, *moduli = urn->moduli, *highs = urn->high, *lows = urn->low;
    u32 *restrict places = urn->places, largest = 0;
    for (i64 k = 0; k < count; k++) {
        const u32 low = word[2 * k], high = word[2 * k + 1];
        places[k] = steps[k] + below_narrow((Narrow){moduli[k], highs[k], lows[k]}, low, high);
        largest = high > largest ? high : largest;
    }
    return largest == UINT32_MAX;
}

/* Set the bits of one report's subset, whose step i takes what is in places[i]. A bitmap of at most 64 bits is `small`:
 * it is built in a register, where its bits do not wait for each other. */
INLINE TARGET void LOCAL(shuffle)(u64 value, const u32 *places, i64 w, int kept, u32 *others, u8 *bitmap, i64 row_bytes,
                                  const int small) {
    u64 bits = 0;
#pragma GCC unroll 4
    for (i64 i = 0; i < w - 1; i++) {
        u64 item = others[places[i]];
        others[places[i]] = others[i];
        item += item >= value;
        if (small)
            bits |= (u64)1 << item;
        else
            bitmap[item >> 3] |= (u8)(1 << (item & 7));
    }
    u64 last = others[places[w - 1]];
    last += last >= value;
    last = choose(kept, value, last);
    if (small) {
        bits |= (u64)1 << last;
        memcpy(bitmap, &bits, (size_t)row_bytes);
    } else {
        bitmap[last >> 3] |= (u8)(1 << (last & 7));
    }
#pragma GCC unroll 4
    for (i64 i = 0; i < w - 1; i++) others[places[i]] = places[i];
}

/* Returns -1 if memory ran out. */
TARGET EXPORT i64 KERNEL(subset_response)(const u64 *values, const u64 *words, i64 n, i64 w, u64 keep, u64 size,
                                          Field bitmaps, i64 *reports, i64 room) {
    const i64 row_bytes = (i64)((size + 7) / 8);
    const int wide = size - 1 > MOST_NARROW;
    Redo redo = {reports, room, 0};
    Urn urn;
    if (!open_urn(&urn, w, size)) return -1;
    for (i64 start = 0; start < n; start += urn.reports) {
        const i64 count = smaller(n - start, urn.reports);
        const int again = LOCAL(draw_row)(&urn, words + start * (w + 1), count * (w + 1)) | wide;
        for (i64 r = 0; r < count; r++) {
            const u64 *word = words + (start + r) * (w + 1), given = values[start + r];
            const u64 value = given < size ? given : size - 1;
            const int kept = word[0] < keep;
            u32 *places = urn.places + r * (w + 1);
            u8 *bitmap = bitmaps.at + (start + r) * bitmaps.stride;
            if (again) redo_if(draw_again(&urn, word, places), start + r, &redo);
            memset(bitmap, 0, (size_t)row_bytes);
            if (size <= 64)
                LOCAL(shuffle)(value, places + 1, w, kept, urn.others, bitmap, row_bytes, 1);
            else
                LOCAL(shuffle)(value, places + 1, w, kept, urn.others, bitmap, row_bytes, 0);
        }
    }
    free(urn.steps);
    return redo.count;
}
