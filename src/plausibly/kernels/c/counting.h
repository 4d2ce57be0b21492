/* Numbers in the fields of reports: their frequencies and their extremes. */

/* ---- histogram: DE, HR, FLH and AGR, how many reports have each value, or each pair of values ------------------- */

/* Add to `total` cells; a pair (a, b) is counted in cell a * size + b. The width is 0 if there is no second field.
 * Returns the number of reports skipped. */
TARGET EXPORT i64 KERNEL(histogram)(Field first, Field second, i64 n, u64 size, u64 total, i64 *cells) {
    u64 a[BUFFER], b[BUFFER];
    i64 outside = 0;
    for (i64 start = 0; start < n; start += BUFFER) {
        const i64 count = smaller(n - start, BUFFER);
        LOCAL(load)(first, 0, start, count, a);
        if (second.width) {
            const u64 last = total / size - 1;
            LOCAL(load)(second, 0, start, count, b);
            /* The largest integer marks a pair that is out of range. */
            for (i64 i = 0; i < count; i++)
                a[i] = (a[i] * size + b[i]) | (0 - ((beyond(a[i], last) | beyond(b[i], size - 1)) >> 63));
        }
        for (i64 i = 0; i < count; i++) {
            if (__builtin_expect(a[i] < total, 1))
                cells[a[i]]++;
            else
                outside++;
        }
    }
    return outside;
}

/* ---- extremes: the least and the largest number in a field ------------------------------------------------------ */

/* Numbers of 8 bytes, at most BUFFER of them. Most are below 2^32: vectors of 32 bits have a minimum and a maximum. */
INLINE TARGET void LOCAL(extend)(const u64 *values, i64 count, u64 *found) {
    u64 any = 0, least = found[0], largest = found[1];
    for (i64 i = 0; i < count; i++) any |= values[i];
    if (any <= UINT32_MAX) {
        u32 low = UINT32_MAX, high = 0;
        for (i64 i = 0; i < count; i++) {
            low = (u32)values[i] < low ? (u32)values[i] : low;
            high = (u32)values[i] > high ? (u32)values[i] : high;
        }
        least = low < least ? low : least;
        largest = high > largest ? high : largest;
    } else {
        for (i64 i = 0; i < count; i++) {
            least = values[i] < least ? values[i] : least;
            largest = values[i] > largest ? values[i] : largest;
        }
    }
    found[0] = least;
    found[1] = largest;
}

/* Narrower numbers, in blocks of 32 bits: vectors of these have a minimum and a maximum. */
INLINE TARGET void LOCAL(extend_narrow)(const u8 *at, i64 stride, i64 n, u64 *found, const int width) {
    u32 block[BUFFER], least = UINT32_MAX, largest = 0;
    for (i64 start = 0; start < n; start += BUFFER) {
        const i64 count = smaller(n - start, BUFFER);
#pragma GCC unroll 8
        for (i64 i = 0; i < count; i++) {
            block[i] = 0;
            memcpy(&block[i], at + (start + i) * stride, (size_t)width);
        }
        for (i64 i = 0; i < count; i++) {
            least = block[i] < least ? block[i] : least;
            largest = block[i] > largest ? block[i] : largest;
        }
    }
    if (n > 0 && least < found[0]) found[0] = least;
    if (largest > found[1]) found[1] = largest;
}

/* The caller passes the largest and the smallest integer as `found`. */
TARGET EXPORT void KERNEL(extremes)(Field field, i64 n, i64 columns, u64 *found) {
    u64 block[BUFFER];
    if (columns == 1 && field.stride == 8 && field.width == 8 && (uintptr_t)field.at % 8 == 0) {
        const u64 *values = (const u64 *)(const void *)field.at;
        for (i64 start = 0; start < n; start += BUFFER)
            LOCAL(extend)(values + start, smaller(n - start, BUFFER), found);
        return;
    }
    for (i64 j = 0; j < columns; j++) {
        const u8 *at = field.at + j * field.width;
        /* Contiguous numbers are loaded as vectors. */
        if (field.width == 1 && field.stride == 1) LOCAL(extend_narrow)(at, 1, n, found, 1);
        if (field.width == 2 && field.stride == 2) LOCAL(extend_narrow)(at, 2, n, found, 2);
        if (field.width == 4 && field.stride == 4) LOCAL(extend_narrow)(at, 4, n, found, 4);
        if (field.stride == field.width && field.width < 8) continue;
        if (field.width == 1) LOCAL(extend_narrow)(at, field.stride, n, found, 1);
        if (field.width == 2) LOCAL(extend_narrow)(at, field.stride, n, found, 2);
        if (field.width == 4) LOCAL(extend_narrow)(at, field.stride, n, found, 4);
        if (field.width < 8) continue;
        for (i64 start = 0; start < n; start += BUFFER) {
            const i64 count = smaller(n - start, BUFFER);
            LOCAL(load)(field, j, start, count, block);
            LOCAL(extend)(block, count, found);
        }
    }
}
