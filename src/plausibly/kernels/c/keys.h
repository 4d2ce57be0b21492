/* Keys of strings. */

/* ---- keyed_hash: BLAKE2s of many strings (RFC 7693), one string in each 32-bit lane of a vector ----------------- */

static const u32 LOCAL(blake_start)[8] = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                                          0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
static const u8 LOCAL(blake_order)[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

INLINE TARGET v32 LOCAL(rotate)(v32 x, const int bits) { return (x >> bits) | (x << (32 - bits)); }

INLINE TARGET void LOCAL(blake_mix)(v32 *a, v32 *b, v32 *c, v32 *d, v32 x, v32 y) {
    *a += *b + x;
    *d = LOCAL(rotate)(*d ^ *a, 16);
    *c += *d;
    *b = LOCAL(rotate)(*b ^ *c, 12);
    *a += *b + y;
    *d = LOCAL(rotate)(*d ^ *a, 8);
    *c += *d;
    *b = LOCAL(rotate)(*b ^ *c, 7);
}

/* `parameters` are the last 16 bytes of the parameter block, salt and personalisation. */
TARGET EXPORT void KERNEL(keyed_hash)(const u8 *content, i64 bytes, const i64 *ends, i64 n, const u32 *parameters,
                                      u64 *out) {
    enum { BLOCK = 64 };
    i64 begin = 0;
    for (i64 first = 0; first < n; first += WORDS) {
        const i64 lanes = n - first < WORDS ? n - first : WORDS;
        const u8 *text[WORDS] = {0};
        i64 length[WORDS] = {0}, longest = 0;
        v32 h[8];
        for (i64 l = 0; l < lanes; l++) {
            i64 end = smaller(ends[first + l], bytes);
            if (end < begin) end = begin;
            text[l] = content + begin;
            length[l] = end - begin;
            begin = end;
            if (length[l] > longest) longest = length[l];
        }
        for (int w = 0; w < 8; w++) h[w] = (v32){0} + LOCAL(blake_start)[w];
        h[0] ^= 0x01010008; /* depth and fan-out 1, no key, 8 bytes of digest */
        for (int w = 0; w < 4; w++) h[4 + w] ^= parameters[w];
        /* An empty string has one empty block, any other no more than its bytes need. */
        for (i64 at = 0; at == 0 || at < longest; at += BLOCK) {
            u32 block[16][WORDS];
            v32 counter_low, counter_high, is_last, is_open, m[16], v[16];
            for (int l = 0; l < WORDS; l++) {
                const i64 left = length[l] - at;
                const u64 counter = (u64)(left > BLOCK ? at + BLOCK : length[l]);
                u32 padded[16] = {0};
                if (left > 0) memcpy(padded, text[l] + at, left < BLOCK ? (size_t)left : BLOCK);
                for (int w = 0; w < 16; w++) block[w][l] = padded[w];
                counter_low[l] = (u32)counter;
                counter_high[l] = (u32)(counter >> 32);
                is_last[l] = left <= BLOCK ? UINT32_MAX : 0;
                is_open[l] = left > 0 || at == 0 ? UINT32_MAX : 0;
            }
            memcpy(m, block, sizeof m);
            for (int w = 0; w < 8; w++) {
                v[w] = h[w];
                v[8 + w] = (v32){0} + LOCAL(blake_start)[w];
            }
            v[12] ^= counter_low;
            v[13] ^= counter_high;
            v[14] ^= is_last;
            for (int round = 0; round < 10; round++) {
                const u8 *order = LOCAL(blake_order)[round];
                for (int q = 0; q < 4; q++)
                    LOCAL(blake_mix)(&v[q], &v[4 + q], &v[8 + q], &v[12 + q], m[order[2 * q]], m[order[2 * q + 1]]);
                for (int q = 0; q < 4; q++)
                    LOCAL(blake_mix)(&v[q], &v[4 + (q + 1) % 4], &v[8 + (q + 2) % 4], &v[12 + (q + 3) % 4],
                                     m[order[8 + 2 * q]], m[order[9 + 2 * q]]);
            }
            for (int w = 0; w < 8; w++) h[w] ^= (v[w] ^ v[8 + w]) & is_open;
        }
        for (i64 l = 0; l < lanes; l++) out[first + l] = h[0][l] | (u64)h[1][l] << 32;
    }
}
