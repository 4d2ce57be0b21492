/* The hot loops of plausibly. The readable specification of each kernel is its NumPy twin in reference.py;
 * the two agree bit for bit.
 *
 * No Python.h, no state, no randomness, no validation: the caller hands over C-contiguous arrays of the right
 * type and values in range. Vectors are those of the GCC and Clang vector extension, not intrinsics.
 *
 * The file includes itself once for each instruction set it is compiled for, because the width of a vector is
 * part of its type: 32-byte vectors emulated on SSE2 would be ten times slower than 16-byte ones. The first
 * inclusion below defines LANES (bytes in a vector), TARGET and the suffix of the exported names; native.py asks
 * plausibly_instruction_set() once and then calls plausibly_<kernel>_<set>. */

#ifndef LANES

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "packed lanes are written for little-endian machines; elsewhere the NumPy twins serve"
#endif

#ifndef PLAUSIBLY_DIGEST
#define PLAUSIBLY_DIGEST "unknown"
#endif

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;

/* Always inlined: the parameters named `bits` and `radix` are constants at every call and choose the code. */
#define INLINE static inline __attribute__((always_inline))
#define EXPORT __attribute__((visibility("default")))

#define PASTE_(name, set) name##_##set
#define PASTE(name, set) PASTE_(name, set)
#define LOCAL(name) PASTE(name, SET)
#define KERNEL(name) PASTE(plausibly_##name, SET)

enum {
    REPORTS = 248,    /* reports between two flushes of the 8-bit support counters; at most 255 */
    HIGH_GROUP = 512, /* high characters whose targets are held at once: 248 * 512 * 4 bytes, the size of an L2 */
    BUFFER = 1024,    /* elements in a buffer on the stack */
};

EXPORT const char *plausibly_digest(void) { return PLAUSIBLY_DIGEST; }

/* ---- below(m): docs/adr/0002-thresholds.md ---------------------------------------------------------------------
 *
 * A word w is accepted iff w <= last = 2^64 - 1 - (2^64 mod m), and then gives w mod m. The remainder without a
 * division (Barrett): let M = floor((2^64 - 1) / m) and q = floor(w * M / 2^64). From M <= 2^64 / m follows
 * q <= w / m; from M >= (2^64 - m) / m follows w * M / 2^64 >= w / m - w / 2^64 > w / m - 1, so q > w / m - 2.
 * Hence 0 <= w - q * m < 2m, and one conditional subtraction makes the remainder exact, for every w and every
 * m >= 1 with 2m <= 2^64. */

typedef struct {
    u64 modulus, reciprocal, last;
} Below;

static Below below_for(u64 modulus) {
    return (Below){modulus, UINT64_MAX / modulus, UINT64_MAX - (0 - modulus) % modulus};
}

INLINE u64 below(Below range, u64 word) {
#ifdef __SIZEOF_INT128__
    u64 quotient = (u64)(((unsigned __int128)word * range.reciprocal) >> 64);
    u64 rest = word - quotient * range.modulus;
    return rest >= range.modulus ? rest - range.modulus : rest;
#else
    return word % range.modulus;
#endif
}

/* ---- The hash of one value: docs/adr/0006-hash-family.md ---------------------------------------------------- */

#define FIRST_FACTOR 0x21F0AAADu
#define SECOND_FACTOR 0xD35A2D97u

INLINE u32 premix(u32 j) {
    j ^= j >> 16;
    j *= FIRST_FACTOR;
    j ^= j >> 15;
    j *= SECOND_FACTOR;
    return j ^ (j >> 15);
}

INLINE u32 entry(u32 premixed, u32 first, u32 second, u32 size) {
    u32 t = (premixed ^ first) * FIRST_FACTOR;
    t ^= t >> 15;
    t = (t ^ second) * SECOND_FACTOR;
    t ^= t >> 15;
    return (u32)(((u64)(t >> 8) * size) >> 24);
}

/* How a value falls into its two characters, x = high * split + low. A split is nearly always a power of two. */
typedef struct {
    u64 split;
    int shift; /* -1: divide */
} Split;

static Split split_for(u64 split) {
    return (Split){split, (split & (split - 1)) == 0 ? __builtin_ctzll(split) : -1};
}

INLINE u32 low_of(Split s, u64 value) { return (u32)(s.shift >= 0 ? value & (s.split - 1) : value % s.split); }
INLINE u32 high_of(Split s, u64 value) { return (u32)(s.shift >= 0 ? value >> s.shift : value / s.split); }

/* ---- One inclusion for each instruction set ----------------------------------------------------------------- */

#define LANES 16
#define SET baseline
#define TARGET
#include "native.c"
#undef LANES
#undef SET
#undef TARGET

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__)) && !defined(_WIN32)
#define LANES 32
#define SET avx2
#define TARGET __attribute__((target("avx2")))
#include "native.c"
#undef LANES
#undef SET
#undef TARGET

EXPORT const char *plausibly_instruction_set(void) { return __builtin_cpu_supports("avx2") ? "avx2" : "baseline"; }
#else
EXPORT const char *plausibly_instruction_set(void) { return "baseline"; }
#endif

#else /* LANES is defined: everything below is compiled for one instruction set. */

/* ---- Vectors ------------------------------------------------------------------------------------------------ */

#define v8 LOCAL(v8)
#define v16 LOCAL(v16)
#define v32 LOCAL(v32)
#define v64 LOCAL(v64)
#define v32_at LOCAL(v32_at)
#define v64_at LOCAL(v64_at)

typedef u8 v8 __attribute__((vector_size(LANES)));
typedef u16 v16 __attribute__((vector_size(LANES)));
typedef u32 v32 __attribute__((vector_size(LANES)));
typedef u64 v64 __attribute__((vector_size(LANES)));
/* The same in memory, at any address and over any type. */
typedef v32 v32_at __attribute__((aligned(1), may_alias));
typedef v64 v64_at __attribute__((aligned(1), may_alias));

enum {
    LOCAL(WORDS) = LANES / 4, /* 32-bit lanes in a vector */
    LOCAL(LONGS) = LANES / 8, /* 64-bit lanes in a vector */
};
#define WORDS LOCAL(WORDS)
#define LONGS LOCAL(LONGS)

/* ---- 1. direct_response: DE, y = keep ? x : u + [u >= x] ---------------------------------------------------- */

/* Returns how many reports must be redone, of which the first `capacity` are listed. */
TARGET EXPORT i64 KERNEL(direct_response)(const u64 *values, const u64 *words, i64 n, i64 stride, i64 column,
                                          u64 keep, u64 size, u32 *out, i64 *redo, i64 capacity) {
    const Below others = below_for(size - 1);
    i64 rejected = 0;
    for (i64 i = 0; i < n; i++) {
        const u64 *w = words + i * stride + column;
        u64 value = values[i], u = below(others, w[1]);
        u += u >= value;
        out[i] = (u32)(w[0] < keep ? value : u);
        if (__builtin_expect(w[1] > others.last, 0)) {
            if (rejected < capacity) redo[rejected] = i;
            rejected++;
        }
    }
    return rejected;
}

/* ---- 2. local_hash: docs/adr/0006-hash-family.md, h(x) = (A[x div L] + B[x mod L]) mod g -------------------- */

TARGET EXPORT void KERNEL(local_hash)(const u64 *seeds, const u64 *values, i64 n, u64 split, u32 size, u32 *out) {
    const Split s = split_for(split);
    u32 low[BUFFER], high[BUFFER];
    for (i64 start = 0; start < n; start += BUFFER) {
        i64 count = n - start < BUFFER ? n - start : BUFFER;
        for (i64 i = 0; i < count; i++) {
            low[i] = low_of(s, values[start + i]);
            high[i] = high_of(s, values[start + i]);
        }
        for (i64 i = 0; i < count; i++) {
            u32 first = (u32)seeds[start + i], second = (u32)(seeds[start + i] >> 32);
            u32 sum = entry(premix(low[i]), first, second, size) + entry(premix(high[i]), second, first, size);
            out[start + i] = sum >= size ? sum - size : sum;
        }
    }
}

/* ---- 3. support_counts: OLH, #{i : h_i(x) = y_i} for every x of the domain, by tabulation ----------------------
 *
 * With B[low] and A[high] the two entries of a report, h(x) = y  <=>  B[low] = C[high] := (y - A[high]) mod g.
 * For a block of reports the C are expanded once for a group of high characters and the B once for a tile of low
 * ones; then a test is one compare and one subtraction of a lane, with four high characters by two vectors of low
 * ones counted in registers over the whole block. Lanes have `bits` = 8 (g <= 256) or 16 bits.
 *
 * Lanes are filled by shifting 32-bit entries into place instead of shuffling them: lane p of the 64-bit word l
 * of a vector is low character p * LONGS + l of that vector, which also makes the flush a row of shifts. */

INLINE TARGET v32 LOCAL(premix_vector)(v32 j) {
    j ^= j >> 16;
    j *= FIRST_FACTOR;
    j ^= j >> 15;
    j *= SECOND_FACTOR;
    return j ^ (j >> 15);
}

/* floor(t * size / 2^24) for t < 2^24, in 32 bits. A product with size <= 256 fits; a larger size is applied to
 * the two 12-bit halves of t = a * 2^12 + b: the result is floor((a * size + floor(b * size / 2^12)) / 2^12). */
INLINE TARGET v32 LOCAL(entry_vector)(v32 premixed, u32 first, u32 second, u32 size, const int bits) {
    v32 t = (premixed ^ first) * FIRST_FACTOR;
    t ^= t >> 15;
    t = (t ^ second) * SECOND_FACTOR;
    t ^= t >> 15;
    t >>= 8;
    return bits == 8 ? (t * size) >> 24 : ((t >> 12) * size + (((t & 0xFFF) * size) >> 12)) >> 12;
}

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
        u32 first = (u32)seeds[r], second = (u32)(seeds[r] >> 32);
        for (int v = 0; v < 2; v++) {
            v32 packed = {0};
            for (int part = 0; part < parts; part++)
                packed |= LOCAL(entry_vector)(mixed[v * parts + part], first, second, size, bits) << (bits * part);
            table[2 * r + v] = packed;
        }
    }
}

/* Expand C for one vector of high characters from `base` on, each repeated over the lanes of a 32-bit word. */
INLINE TARGET void LOCAL(expand_high)(const u64 *seeds, const u32 *hashes, int reports, u64 base, u32 size,
                                      u32 *targets, const int bits) {
    v32 mixed;
    for (int lane = 0; lane < WORDS; lane++) mixed[lane] = (u32)base + (u32)lane;
    mixed = LOCAL(premix_vector)(mixed);
    for (int r = 0; r < reports; r++) {
        u32 first = (u32)seeds[r], second = (u32)(seeds[r] >> 32);
        v32 target = hashes[r] - LOCAL(entry_vector)(mixed, second, first, size, bits);
        target += (0 - (target >> 31)) & size;
        target |= target << 16;
        if (bits == 8) target |= target << 8;
        *(v32_at *)(targets + r * WORDS) = target;
    }
}

/* counts + [table == target], lane by lane: a comparison that holds is -1. */
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

INLINE TARGET int LOCAL(support_counts)(const u64 *seeds, const u32 *hashes, i64 n, u64 domain_size, u64 split,
                                        u32 size, i64 *counts, const int bits) {
    const u64 lows = split < domain_size ? split : domain_size;
    const u64 highs = (domain_size - 1) / split + 1, tile = 2 * (8 * LANES / bits);
    v32 table[2 * REPORTS];
    u32 *targets = malloc(sizeof(u32) * REPORTS * HIGH_GROUP);
    if (!targets) return -1;
    for (i64 start = 0; start < n; start += REPORTS) {
        const int reports = n - start < REPORTS ? (int)(n - start) : REPORTS;
        for (u64 group = 0; group < highs; group += HIGH_GROUP) {
            const u64 end = highs - group < HIGH_GROUP ? highs : group + HIGH_GROUP;
            for (u64 high = group; high < end; high += WORDS)
                LOCAL(expand_high)(seeds + start, hashes + start, reports, high, size,
                                   targets + (high - group) * REPORTS, bits);
            for (u64 low = 0; low < lows; low += tile) {
                LOCAL(expand_low)(seeds + start, reports, low, size, table, bits);
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

/* Returns -1 if memory ran out. `counts` comes in as zeros. */
TARGET EXPORT int KERNEL(support_counts)(const u64 *seeds, const u32 *hashes, i64 n, u64 domain_size, u64 split,
                                         u32 size, i64 *counts) {
    if (domain_size == 0 || n == 0) return 0;
    return size <= 256 ? LOCAL(support_counts)(seeds, hashes, n, domain_size, split, size, counts, 8)
                       : LOCAL(support_counts)(seeds, hashes, n, domain_size, split, size, counts, 16);
}

/* ---- 4. support_of: OLH, #{i : h_i(x) = y_i} for any 64-bit candidates x ------------------------------------ */

INLINE TARGET void LOCAL(support_of)(const u64 *seeds, const u32 *hashes, i64 n, const u64 *candidates, i64 k,
                                     u64 split, u32 size, i64 *counts, const int bits) {
    const Split s = split_for(split);
    for (i64 start = 0; start < n; start += BUFFER) {
        const i64 end = n - start < BUFFER ? n : start + BUFFER;
        for (i64 c = 0; c < k; c += WORDS) {
            const int count = k - c < WORDS ? (int)(k - c) : WORDS;
            v32 low = {0}, high = {0}, found = {0};
            for (int lane = 0; lane < count; lane++) {
                low[lane] = low_of(s, candidates[c + lane]);
                high[lane] = high_of(s, candidates[c + lane]);
            }
            low = LOCAL(premix_vector)(low);
            high = LOCAL(premix_vector)(high);
            for (i64 i = start; i < end; i++) {
                u32 first = (u32)seeds[i], second = (u32)(seeds[i] >> 32);
                v32 sum = LOCAL(entry_vector)(low, first, second, size, bits) +
                          LOCAL(entry_vector)(high, second, first, size, bits);
                found -= (v32)(sum == hashes[i]) | (v32)(sum == hashes[i] + size);
            }
            for (int lane = 0; lane < count; lane++) counts[c + lane] += found[lane];
        }
    }
}

/* `counts` comes in as zeros. */
TARGET EXPORT void KERNEL(support_of)(const u64 *seeds, const u32 *hashes, i64 n, const u64 *candidates, i64 k,
                                      u64 split, u32 size, i64 *counts) {
    if (size <= 256)
        LOCAL(support_of)(seeds, hashes, n, candidates, k, split, size, counts, 8);
    else
        LOCAL(support_of)(seeds, hashes, n, candidates, k, split, size, counts, 16);
}

/* ---- 5. table_support: FLH, sum over i of table[i][h_i(x)] for every x of the domain ---------------------------
 *
 * A table written twice in a row turns (A + B) mod g into the plain index A + B. Four hashes are summed at once, so
 * that the sums are loaded and stored once for four look-ups. Sums wrap around like those of NumPy. */

INLINE TARGET void LOCAL(expand_entries)(u64 base, i64 count, u32 first, u32 second, u32 size, u32 *out) {
    for (i64 j = 0; j < count; j++) out[j] = entry(premix((u32)base + (u32)j), first, second, size);
}

/* Returns -1 if memory ran out. `sums` comes in as zeros. */
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

/* ---- 6. table_support_of: FLH, the same sums for any 64-bit candidates -------------------------------------- */

/* `sums` comes in as zeros. */
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

/* ---- 7. unary_response: OUE and SUE, split words of docs/adr/0004-addressed-streams.md ---------------------- */

#define EVERY_BYTE 0x0101010101010101u

/* Bit i of the result is the lowest bit of byte i of x, whose other bits are zero: the product moves byte i's bit
 * from 8i to 56 + i, and no two terms meet. */
INLINE u64 LOCAL(gather_bits)(u64 x) { return (x * 0x0102040810204080u) >> 56; }

/* Eight head bytes against a threshold byte, without vectors: which are below, which are equal. */
INLINE TARGET void LOCAL(compare_eight)(u64 head, u64 threshold, u64 *less, u64 *equal) {
    const u64 high = 0x80 * EVERY_BYTE, other = threshold * EVERY_BYTE, differ = head ^ other;
    const u64 no_borrow = (head | high) - (other & ~high); /* high bit: low 7 bits of head >= those of other */
    *less = LOCAL(gather_bits)((((~head & other) | (~differ & ~no_borrow)) & high) >> 7);
    *equal = LOCAL(gather_bits)((~(((differ & ~high) + ~high) | differ) & high) >> 7);
}

/* Bit i of the result is [byte i is -1], for the bytes 0 or -1 of consecutive vectors. */
INLINE TARGET u64 LOCAL(gather_masks)(const v8 *masks) {
    v64 packed = {0};
    for (int k = 0; k < 64 / LANES; k++) {
        v64 bits = (v64)masks[k] & 0x8040201008040201u;
        bits |= bits >> 32;
        bits |= bits >> 16;
        bits |= bits >> 8;
        packed |= (bits & 0xFF) << (8 * LONGS * k);
    }
    u64 result = 0;
    for (int l = 0; l < LONGS; l++) result |= packed[l] << (8 * l);
    return result;
}

/* Which of `count` <= 64 head bytes are below a threshold byte, which are equal to it. */
INLINE TARGET void LOCAL(compare_heads)(const u8 *head, i64 count, u8 threshold, u64 *less, u64 *equal) {
    *less = *equal = 0;
    if (count == 64) {
        v8 is_less[64 / LANES], is_equal[64 / LANES];
        for (int k = 0; k < 64 / LANES; k++) {
            const v8 bytes = (v8) * (const v64_at *)(head + k * LANES);
            is_less[k] = (v8)(bytes < threshold);
            is_equal[k] = (v8)(bytes == threshold);
        }
        *less = LOCAL(gather_masks)(is_less);
        *equal = LOCAL(gather_masks)(is_equal);
        return;
    }
    for (i64 j = 0; j < count; j += 8) {
        u64 eight = 0, wanted = 0xFF, l, e;
        if (count - j >= 8) {
            memcpy(&eight, head + j, 8);
        } else {
            for (i64 k = 0; k < count - j; k++) eight |= (u64)head[j + k] << (8 * k);
            wanted >>= 8 - (count - j);
        }
        LOCAL(compare_eight)(eight, threshold, &l, &e);
        *less |= (l & wanted) << j;
        *equal |= (e & wanted) << j;
    }
}

/* Returns the number of ties, of which the first `capacity` are listed. */
TARGET EXPORT i64 KERNEL(unary_response)(const u64 *values, const u8 *head, i64 n, i64 d, u64 true_threshold,
                                         u64 other_threshold, u8 *bitmaps, i64 *tie_report, i64 *tie_bit,
                                         i64 capacity) {
    const u8 true_byte = (u8)(true_threshold >> 56), other_byte = (u8)(other_threshold >> 56);
    i64 ties = 0;
    for (i64 i = 0; i < n; i++) {
        const u8 *row = head + i * d;
        const u64 value = values[i], is_less = row[value] < true_byte, is_equal = row[value] == true_byte;
        for (i64 start = 0; start < d; start += 64) {
            const i64 count = d - start < 64 ? d - start : 64;
            u64 less, equal;
            LOCAL(compare_heads)(row + start, count, other_byte, &less, &equal);
            if (value / 64 == (u64)start / 64) { /* the true bit has a threshold of its own */
                less = (less & ~((u64)1 << (value % 64))) | is_less << (value % 64);
                equal = (equal & ~((u64)1 << (value % 64))) | is_equal << (value % 64);
            }
            if (count == 64)
                memcpy(bitmaps, &less, 8);
            else
                for (i64 byte = 0; byte < (count + 7) / 8; byte++) bitmaps[byte] = (u8)(less >> (8 * byte));
            bitmaps += (count + 7) / 8;
            for (; equal; equal &= equal - 1, ties++) {
                if (ties >= capacity) continue;
                tie_report[ties] = i;
                tie_bit[ties] = start + __builtin_ctzll(equal);
            }
        }
    }
    return ties;
}

/* ---- 8. column_sums: support of unary reports, by vertical counters (carry-save adders) ------------------------
 *
 * Sixteen rows are added bitwise into the planes of weight 1, 2, 4, 8; the plane of weight 16 that falls out is added
 * to eight vectors of byte counters, one for each bit of a byte. Short rows are read several at a time as one long
 * row, so that at least one whole vector fits; the last vector of a row overlaps the one before. */

typedef struct {
    v64 plane[4], counter[8];
} LOCAL(Columns);
#define Columns LOCAL(Columns)

INLINE TARGET v64 LOCAL(add_bits)(v64 *sum, v64 a, v64 b) {
    const v64 half = *sum ^ a, carry = (*sum & a) | (half & b);
    *sum = half ^ b;
    return carry;
}

/* Add sixteen rows, `stride` bytes apart, to the columns. */
INLINE TARGET void LOCAL(add_rows)(Columns *columns, const u8 *rows, i64 stride) {
    v64 plane[4];
    for (int w = 0; w < 4; w++) plane[w] = columns->plane[w];
    v64 twos[2], fours[2], eights[2];
    for (int e = 0; e < 2; e++) {
        for (int f = 0; f < 2; f++) {
            for (int t = 0; t < 2; t++) {
                const u8 *row = rows + (8 * e + 4 * f + 2 * t) * stride;
                twos[t] = LOCAL(add_bits)(&plane[0], *(const v64_at *)row, *(const v64_at *)(row + stride));
            }
            fours[f] = LOCAL(add_bits)(&plane[1], twos[0], twos[1]);
        }
        eights[e] = LOCAL(add_bits)(&plane[2], fours[0], fours[1]);
    }
    const v64 sixteens = LOCAL(add_bits)(&plane[3], eights[0], eights[1]);
    for (int w = 0; w < 4; w++) columns->plane[w] = plane[w];
    for (int bit = 0; bit < 8; bit++)
        columns->counter[bit] = (v64)((v8)columns->counter[bit] + (v8)((sixteens >> bit) & EVERY_BYTE));
}

/* Add what the columns hold to the counts and empty them; bytes before `skip` were counted by another vector. */
TARGET static void LOCAL(flush_columns)(Columns *columns, i64 start, i64 skip, i64 row_bytes, i64 size, i64 *counts) {
    u8 low[8][LANES], high[8][LANES];
    for (int bit = 0; bit < 8; bit++) {
        v64 units = {0};
        for (int w = 0; w < 4; w++) units |= ((columns->plane[w] >> bit) & EVERY_BYTE) << w;
        memcpy(low[bit], &units, LANES);
        memcpy(high[bit], &columns->counter[bit], LANES);
    }
    for (i64 byte = skip; byte < LANES; byte++) {
        const i64 first = (start + byte) % row_bytes * 8;
        for (int bit = 0; bit < 8 && first + bit < size; bit++)
            counts[first + bit] += 16 * (i64)high[bit][byte] + low[bit][byte];
    }
    memset(columns, 0, sizeof *columns);
}

/* `counts` comes in as zeros. */
TARGET EXPORT void KERNEL(column_sums)(const u8 *bitmaps, i64 n, i64 size, i64 *counts) {
    enum { STRIPE = 32, LONG_ROW = 256, FLUSH = 255 };
    const i64 row_bytes = (size + 7) / 8;
    if (n == 0 || size == 0) return;
    const i64 together = row_bytes < LONG_ROW ? LONG_ROW / row_bytes : 1;
    const i64 rows = n / together, stride = row_bytes * together, vectors = (stride + LANES - 1) / LANES;
    Columns columns[STRIPE];
    u8 last_rows[16 * LANES];
    for (i64 stripe = 0; stripe < vectors && rows > 0; stripe += STRIPE) {
        const i64 count = vectors - stripe < STRIPE ? vectors - stripe : STRIPE;
        i64 held = 0;
        memset(columns, 0, sizeof columns);
        for (i64 row = 0; row < rows; row += 16) {
            const u8 *at = bitmaps + row * stride;
            for (i64 v = 0; v < count; v++) {
                const i64 begin = (stripe + v) * LANES, start = begin < stride - LANES ? begin : stride - LANES;
                if (rows - row >= 16) {
                    LOCAL(add_rows)(&columns[v], at + start, stride);
                } else {
                    memset(last_rows, 0, sizeof last_rows);
                    for (i64 r = 0; r < rows - row; r++)
                        memcpy(last_rows + r * LANES, at + r * stride + start, LANES);
                    LOCAL(add_rows)(&columns[v], last_rows, LANES);
                }
            }
            if (++held == FLUSH || rows - row <= 16) {
                for (i64 v = 0; v < count; v++) {
                    const i64 begin = (stripe + v) * LANES, start = begin < stride - LANES ? begin : stride - LANES;
                    LOCAL(flush_columns)(&columns[v], start, begin - start, row_bytes, size, counts);
                }
                held = 0;
            }
        }
    }
    for (i64 row = rows * together; row < n; row++)
        for (i64 j = 0; j < size; j++) counts[j] += (bitmaps[row * row_bytes + j / 8] >> (j % 8)) & 1;
}

/* ---- 9. walsh_hadamard: a <- H a, H[i][j] = (-1)^popcount(i & j) -----------------------------------------------
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

/* ---- 10. parity_hash: linear hashing over GF(2), h_j = parity(a_j & x) -------------------------------------- */

TARGET EXPORT void KERNEL(parity_hash)(const u64 *values, const u64 *rows, i64 n, i64 t, u32 *out) {
    for (i64 i = 0; i < n; i++) {
        u32 hash = 0;
        for (i64 j = 0; j < t; j++) hash |= (u32)__builtin_parityll(rows[i * t + j] & values[i]) << j;
        out[i] = hash;
    }
}

/* ---- 11. gray_scatter: HM, the 2^t - 1 characters of each report, in Gray-code order ---------------------------
 *
 * From one step to the next a single bit of s changes, so one row enters or leaves the exclusive or. */

/* `out` comes in as zeros. */
TARGET EXPORT void KERNEL(gray_scatter)(const u64 *rows, const u32 *hashes, i64 n, i64 t, const u64 *weights,
                                        u64 *out) {
    const u64 steps = (u64)1 << t;
    for (i64 i = 0; i < n; i++) {
        const u64 *row = rows + i * t;
        u64 place = 0, negative = 0;
        for (u64 step = 1; step < steps; step++) {
            const int bit = __builtin_ctzll(step);
            place ^= row[bit];
            negative ^= 0 - (u64)((hashes[i] >> bit) & 1);
            out[place] += (weights[step ^ (step >> 1)] ^ negative) - negative;
        }
    }
}

/* ---- 12. hadamard_response: HR over `blocks` blocks of order `order` ---------------------------------------- */

/* Returns how many reports must be redone, of which the first `capacity` are listed. */
TARGET EXPORT i64 KERNEL(hadamard_response)(const u64 *values, const u64 *words, i64 n, u64 keep, u64 blocks,
                                            u64 order, u32 *out, i64 *redo, i64 capacity) {
    const Below others = below_for(2 * blocks - 1);
    const int shift = __builtin_ctzll(blocks);
    i64 rejected = 0;
    for (i64 i = 0; i < n; i++) {
        const u64 *w = words + 3 * i;
        const u64 own = values[i] & (blocks - 1), row = 1 + (values[i] >> shift);
        const u64 draw = below(others, w[1]), kept = w[0] < keep, same = kept | (draw == 0);
        u64 other = (draw - 1) >> 1, u = w[2] & (order - 1);
        other += other >= own;
        /* In the own block the parity is wished for: even if kept, odd if not. */
        const u64 wrong = (u64)__builtin_parityll(u & row) ^ kept ^ 1;
        u ^= (0 - (same & wrong)) & row & (0 - row);
        /* Masks and not branches: a coin cannot be predicted. */
        const u64 block = other ^ ((own ^ other) & (0 - same));
        out[i] = (u32)(block * order + u);
        if (__builtin_expect(w[1] > others.last, 0)) {
            if (rejected < capacity) redo[rejected] = i;
            rejected++;
        }
    }
    return rejected;
}

#undef v8
#undef v16
#undef v32
#undef v64
#undef v32_at
#undef v64_at
#undef WORDS
#undef LONGS
#undef EVERY_BYTE
#undef Columns

#endif
