/* The hot loops of plausibly. The readable specification of each kernel is its NumPy twin in reference.py;
 * the two agree bit for bit.
 *
 * No Python.h, no state, no randomness: the caller hands over C-contiguous, aligned arrays of the right type and length,
 * fields of packed records, and parameters of a valid scheme. What is *in* the arrays is not trusted, because somebody
 * may change it after it was checked: for any bytes, every kernel stays within its arrays. A kernel that adds reports
 * to cells loads each number once, leaves out a report that is out of range, and returns how many it left out.
 * Vectors are those of the GCC and Clang vector extension, not intrinsics.
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
typedef int16_t i16;
typedef int32_t i32;

/* Always inlined: the parameters named `bits` and `radix` are constants at every call and choose the code. */
#define INLINE static inline __attribute__((always_inline))
#define EXPORT __attribute__((visibility("default")))

#define PASTE_(name, set) name##_##set
#define PASTE(name, set) PASTE_(name, set)
#define LOCAL(name) PASTE(name, SET)
#define KERNEL(name) PASTE(plausibly_##name, SET)

enum {
    CHILDREN = 2048,  /* extensions of a prefix whose support is summed at a time, in cache */
    DOUBTED = 64,     /* of which so many are passed over together if none has enough */
    REPORTS = 248,    /* reports between two flushes of the 8-bit support counters; at most 255 */
    HIGH_GROUP = 512, /* high characters whose targets are held at once: 248 * 512 * 4 bytes, the size of an L2 */
    BUFFER = 1024,    /* elements in a buffer on the stack */
    BLOCK = 256,      /* reports taken at once where several such buffers shall fit the first-level cache */
};

EXPORT const char *plausibly_digest(void) { return PLAUSIBLY_DIGEST; }

/* One field of packed records: its bytes in the first record, from record to record, and how many they are: 1, 2, 4 or
 * 8. Several numbers in one field follow each other; of a bitmap only the record counts. */
typedef struct {
    u8 *at;
    i64 stride, width;
} Field;

/* The reports with a word that below(m) refuses; more than there is room for are only counted. */
typedef struct {
    i64 *reports, room, count;
} Redo;

INLINE void redo_if(int refused, i64 report, Redo *redo) {
    if (__builtin_expect(refused, 0)) {
        if (redo->count < redo->room) redo->reports[redo->count] = report;
        redo->count++;
    }
}

INLINE i64 smaller(i64 a, i64 b) { return a < b ? a : b; }

/* The highest bit tells whether a number exceeds `last` < 2^63: what exceeds it by less than 2^63 makes the difference
 * negative, and what exceeds it by more has that bit itself. Without a comparison, which vectors of unsigned numbers
 * lack, many are tested at once. */
INLINE u64 beyond(u64 number, u64 last) { return number | (last - number); }

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
    /* The smaller one, without a branch: what is below the modulus becomes huge by the subtraction. */
    const u64 rest = word - quotient * range.modulus, less = rest - range.modulus;
    return less < rest ? less : rest;
#else
    return word % range.modulus;
#endif
}

INLINE u64 low_bits(i64 count) { return count >= 64 ? UINT64_MAX : ((u64)1 << count) - 1; }

/* condition ? a : b, for coins: they cannot be predicted. The empty assembly makes the compiler compute both first, and
 * then a conditional move is cheaper than a branch. */
INLINE u64 choose(int condition, u64 a, u64 b) {
#ifdef __GNUC__
    __asm__("" : "+r"(a), "+r"(b));
#endif
    return condition ? a : b;
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
#define TARGET __attribute__((target("avx2,popcnt")))
#include "native.c"
#undef LANES
#undef SET
#undef TARGET

EXPORT const char *plausibly_instruction_set(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") ? "avx2" : "baseline"; }
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

/* ---- Fields of records -------------------------------------------------------------------------------------- */

INLINE TARGET void LOCAL(load_width)(const u8 *at, i64 stride, i64 count, u64 *out, const int width) {
#pragma GCC unroll 8
    for (i64 i = 0; i < count; i++) {
        out[i] = 0;
        memcpy(&out[i], at + i * stride, (size_t)width);
    }
}

/* Number `column` of the field in `count` records from `first` on. */
TARGET static void LOCAL(load)(Field field, i64 column, i64 first, i64 count, u64 *out) {
    const u8 *at = field.at + first * field.stride + column * field.width;
    if (field.width == 1) LOCAL(load_width)(at, field.stride, count, out, 1);
    if (field.width == 2) LOCAL(load_width)(at, field.stride, count, out, 2);
    if (field.width == 4) LOCAL(load_width)(at, field.stride, count, out, 4);
    if (field.width == 8) LOCAL(load_width)(at, field.stride, count, out, 8);
}

INLINE TARGET void LOCAL(store_width)(u8 *at, i64 stride, i64 count, const u64 *values, const int width) {
#pragma GCC unroll 8
    for (i64 i = 0; i < count; i++) memcpy(at + i * stride, &values[i], (size_t)width);
}

TARGET static void LOCAL(store)(Field field, i64 column, i64 first, i64 count, const u64 *values) {
    u8 *at = field.at + first * field.stride + column * field.width;
    if (field.width == 1) LOCAL(store_width)(at, field.stride, count, values, 1);
    if (field.width == 2) LOCAL(store_width)(at, field.stride, count, values, 2);
    if (field.width == 4) LOCAL(store_width)(at, field.stride, count, values, 4);
    if (field.width == 8) LOCAL(store_width)(at, field.stride, count, values, 8);
}

/* ---- 1. direct_response: DE, y = keep ? x : u + [u >= x] ---------------------------------------------------- */

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

/* Returns how many reports must be redone, of which the first `room` are listed; so do all responses. */
TARGET EXPORT i64 KERNEL(direct_response)(const u64 *values, const u64 *words, i64 n, u64 keep, u64 size, Field out,
                                          i64 *reports, i64 room) {
    const Redo redo = {reports, room, 0};
    if (out.width == 1) return LOCAL(direct_response)(values, words, n, keep, size, out, redo, 1);
    if (out.width == 2) return LOCAL(direct_response)(values, words, n, keep, size, out, redo, 2);
    if (out.width == 4) return LOCAL(direct_response)(values, words, n, keep, size, out, redo, 4);
    return LOCAL(direct_response)(values, words, n, keep, size, out, redo, 8);
}

/* ---- 2. local_hash: docs/adr/0006-hash-family.md, h(x) = (A[x div L] + B[x mod L]) mod g -------------------- */

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

/* Both characters of a value lie side by side in 32-bit lanes, and so do the halves of its seed, which serve one of
 * them in order and the other swapped: LONGS values are hashed at once. */
INLINE TARGET void LOCAL(hash_vectors)(const u64 *seeds, const u64 *values, i64 count, int shift, u32 size, u64 *out,
                                       const int bits) {
    for (i64 i = 0; i < count; i += LONGS) {
        const v64 value = *(const v64_at *)(values + i), seed = *(const v64_at *)(seeds + i);
        const v64 characters = (value & low_bits(shift)) | (value >> shift) << 32;
        const v64 entries = (v64)LOCAL(entry_vector)(LOCAL(premix_vector)((v32)characters), (v32)seed,
                                                     (v32)(seed >> 32 | seed << 32), size, bits);
        const v32 sum = (v32)((entries & UINT32_MAX) + (entries >> 32));
        *(v64_at *)(out + i) = (v64)(sum - ((v32)(sum >= size) & size)) & UINT32_MAX;
    }
}

/* Hash at most BLOCK values. */
TARGET static void LOCAL(hash_block)(const u64 *seeds, const u64 *values, i64 count, Split s, u32 size, u64 *out) {
    const i64 whole = s.shift >= 0 ? count - count % LONGS : 0;
    if (size <= 256)
        LOCAL(hash_vectors)(seeds, values, whole, s.shift, size, out, 8);
    else if (size <= 1 << 20)
        LOCAL(hash_vectors)(seeds, values, whole, s.shift, size, out, 16);
    else
        LOCAL(hash_vectors)(seeds, values, whole, s.shift, size, out, 32);
    for (i64 i = whole; i < count; i++) {
        const u32 first = (u32)seeds[i], second = (u32)(seeds[i] >> 32);
        const u32 sum = entry(premix(low_of(s, values[i])), first, second, size) +
                        entry(premix(high_of(s, values[i])), second, first, size);
        out[i] = sum >= size ? sum - size : sum;
    }
}

TARGET EXPORT void KERNEL(local_hash)(const u64 *seeds, const u64 *values, i64 n, u64 split, u32 size, u32 *out) {
    const Split s = split_for(split);
    u64 hash[BLOCK];
    for (i64 start = 0; start < n; start += BLOCK) {
        const i64 count = smaller(n - start, BLOCK);
        LOCAL(hash_block)(seeds + start, values + start, count, s, size, hash);
        for (i64 i = 0; i < count; i++) out[start + i] = (u32)hash[i];
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

/* Returns -1 if memory ran out. `counts` comes in as zeros. */
TARGET EXPORT int KERNEL(support_counts)(Field seeds, Field hashes, i64 n, u64 domain_size, u64 split, u32 size,
                                         i64 *counts) {
    if (domain_size == 0 || n == 0) return 0;
    return size <= 256 ? LOCAL(support_counts)(seeds, hashes, n, domain_size, split, size, counts, 8)
                       : LOCAL(support_counts)(seeds, hashes, n, domain_size, split, size, counts, 16);
}

/* ---- 4. support_of: OLH, #{i : h_i(x) = y_i} for any 64-bit candidates x ------------------------------------ */

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

/* `counts` comes in as zeros. */
TARGET EXPORT void KERNEL(support_of)(Field seeds, Field hashes, i64 n, const u64 *candidates, i64 k, u64 split,
                                      u32 size, i64 *counts) {
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
        /* Most blocks have no tie, and to see that is cheaper than to find where. */
        v64 any = {0};
        u64 some = 0;
        for (int k = 0; k < 64 / LANES; k++) any |= (v64)is_equal[k];
        for (int l = 0; l < LONGS; l++) some |= any[l];
        if (some) *equal = LOCAL(gather_masks)(is_equal);
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
                                         u64 other_threshold, Field bitmaps, i64 *tie_report, i64 *tie_bit,
                                         i64 capacity) {
    const u8 true_byte = (u8)(true_threshold >> 56), other_byte = (u8)(other_threshold >> 56);
    i64 ties = 0;
    for (i64 i = 0; i < n; i++) {
        const u8 *row = head + i * d;
        u8 *bitmap = bitmaps.at + i * bitmaps.stride;
        const u64 value = values[i];
        const u8 own = value < (u64)d ? row[value] : 0;
        const u64 is_less = own < true_byte, is_equal = own == true_byte;
        for (i64 start = 0; start < d; start += 64) {
            const i64 count = d - start < 64 ? d - start : 64;
            u64 less, equal;
            LOCAL(compare_heads)(row + start, count, other_byte, &less, &equal);
            /* The true bit has a threshold of its own. */
            if (value / 64 == (u64)start / 64 && value < (u64)d) {
                less = (less & ~((u64)1 << (value % 64))) | is_less << (value % 64);
                equal = (equal & ~((u64)1 << (value % 64))) | is_equal << (value % 64);
            }
            if (count == 64)
                memcpy(bitmap, &less, 8);
            else
                for (i64 byte = 0; byte < (count + 7) / 8; byte++) bitmap[byte] = (u8)(less >> (8 * byte));
            bitmap += 8;
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
    enum { STRIPE = 32, LONG_ROW = 128, FLUSH = 255, LINE = 64 };
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
            for (i64 v = 0, fetched = 0; v < count; v++) {
                const i64 begin = (stripe + v) * LANES, start = begin < stride - LANES ? begin : stride - LANES;
                if (rows - row >= 16) {
                    /* A share of the next sixteen rows: the machine would not see by itself what comes next. */
                    for (; fetched * count < 16 * (v + 1); fetched++)
                        for (i64 byte = 0; byte < count * LANES; byte += LINE)
                            __builtin_prefetch(at + (16 + fetched) * stride + stripe * LANES + byte);
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

/* ---- 10. parity_response: HM, the direct response to h_j = parity(a_j & x), the rows a_j cut to `bits` --------- */

/* GCC folds a parity step by step even where the machine counts bits at once. */
INLINE TARGET u64 LOCAL(parity)(u64 word) {
    return LANES > 16 ? (u64)__builtin_popcountll(word) & 1 : (u64)__builtin_parityll(word);
}

TARGET EXPORT i64 KERNEL(parity_response)(const u64 *values, const u64 *words, i64 n, i64 t, i64 bits, u64 keep,
                                          Field rows, Field hashes, i64 *reports, i64 room) {
    const Below others = below_for(((u64)1 << t) - 1);
    const u64 mask = low_bits(bits);
    Redo redo = {reports, room, 0};
    u64 row[BLOCK], hash[BLOCK];
    for (i64 start = 0; start < n; start += BLOCK) {
        const i64 count = smaller(n - start, BLOCK);
        const u64 *block = words + (t + 2) * start;
        memset(hash, 0, sizeof hash);
        for (i64 j = 0; j < t; j++) {
            for (i64 i = 0; i < count; i++) {
                row[i] = block[(t + 2) * i + j] & mask;
                hash[i] |= LOCAL(parity)(row[i] & values[start + i]) << j;
            }
            LOCAL(store)(rows, j, start, count, row);
        }
        for (i64 i = 0; i < count; i++) {
            const u64 *w = block + (t + 2) * i + t;
            hash[i] = LOCAL(answer)(hash[i], w, keep, others);
            redo_if(w[1] > others.last, start + i, &redo);
        }
        LOCAL(store)(hashes, 0, start, count, hash);
    }
    return redo.count;
}

/* ---- 11. gray_scatter: HM, the 2^t - 1 characters of each report, in Gray-code order ---------------------------
 *
 * From one step to the next a single bit of s changes, so one row enters or leaves the exclusive or. What costs is the
 * cache: each character is added to a place of its own. Hence 32-bit sums, half as large as the result, flushed before
 * they can overflow; and the low four bits of s are not stepped through but taken at once, in vectors. */

enum { LOCAL(AT_ONCE) = 16, LOCAL(MOST_BITS) = 32 };
#define AT_ONCE LOCAL(AT_ONCE)
#define MOST_BITS LOCAL(MOST_BITS)

/* The constants of a call. */
typedef struct {
    v32 chosen[4][AT_ONCE / WORDS]; /* -1 where s has that bit */
    u32 minus[AT_ONCE][AT_ONCE];    /* -1 where s & hash is odd: [low bits of the hash][low bits of s] */
    u32 *weights;                   /* 2^t of them, or 16 if that is more; that of s = 0 is 0 */
    u32 *sums;
} LOCAL(Scatter);
#define Scatter LOCAL(Scatter)

/* How many reports can be added to 32-bit sums without overflow, wherever they fall. */
INLINE i64 LOCAL(safe_reports)(const i64 *weights, u64 size) {
    u64 total = 1;
    for (u64 s = 1; s < size; s++) {
        const u64 weight = weights[s] < 0 ? 0 - (u64)weights[s] : (u64)weights[s];
        if (weight > INT32_MAX) return 0;
        total += weight;
    }
    return INT32_MAX / (i64)total;
}

/* Whether 32-bit sums were set up; if not, they would not pay or memory is short. */
TARGET static int LOCAL(open_scatter)(Scatter *scatter, i64 n, i64 item_bits, i64 t, const i64 *weights, i64 safe) {
    const u64 size = (u64)1 << t, cells = (u64)1 << item_bits;
    const u64 reports = (u64)(n < safe ? n : safe);
    if (item_bits > MOST_BITS || t > MOST_BITS || reports * size < cells) return 0;
    scatter->weights = calloc(size < AT_ONCE ? AT_ONCE : size, sizeof(u32));
    scatter->sums = calloc(cells, sizeof(u32));
    if (!scatter->weights || !scatter->sums) {
        free(scatter->weights);
        free(scatter->sums);
        return 0;
    }
    for (u64 s = 1; s < size; s++) scatter->weights[s] = (u32)weights[s];
    for (int bit = 0; bit < 4; bit++)
        for (int s = 0; s < AT_ONCE; s++) scatter->chosen[bit][s / WORDS][s % WORDS] = 0 - (u32)((s >> bit) & 1);
    for (u32 hash = 0; hash < AT_ONCE; hash++)
        for (u32 s = 0; s < AT_ONCE; s++) scatter->minus[hash][s] = 0 - (u32)__builtin_parity(s & hash);
    return 1;
}

TARGET static void LOCAL(flush_scatter)(Scatter *scatter, i64 item_bits, u64 *out) {
    for (u64 k = 0; k < (u64)1 << item_bits; k++) {
        out[k] += (u64)(i64)(int32_t)scatter->sums[k];
        scatter->sums[k] = 0;
    }
}

/* Add the characters of one report; `low` = min(t, 4) of the bits of s are taken at once. Rows beyond t are 0. */
INLINE TARGET void LOCAL(scatter_report)(const Scatter *scatter, const u32 *rows, u32 hash, i64 t, const int low) {
    enum { VECTORS = AT_ONCE / WORDS };
    const u64 groups = (u64)1 << (t - low);
    const u32 *minus = scatter->minus[hash % AT_ONCE], *weights = scatter->weights;
    u32 *sums = scatter->sums, base = 0, negative = 0;
    v32 places[VECTORS], signs[VECTORS];
    for (int v = 0; v < VECTORS; v++) {
        places[v] = (v32){0};
        for (int bit = 0; bit < 4; bit++) places[v] ^= scatter->chosen[bit][v] & rows[bit];
        signs[v] = *(const v32_at *)(minus + v * WORDS);
    }
    for (u64 step = 0;;) {
        const u32 *weight = weights + ((step ^ (step >> 1)) << low);
        u32 place[AT_ONCE], signed_weight[AT_ONCE];
        for (int v = 0; v < VECTORS; v++) {
            const v32 sign = signs[v] ^ negative;
            *(v32_at *)(place + v * WORDS) = places[v] ^ base;
            *(v32_at *)(signed_weight + v * WORDS) = (*(const v32_at *)(weight + v * WORDS) ^ sign) - sign;
        }
        for (int s = 0; s < 1 << low; s++) sums[place[s]] += signed_weight[s];
        if (++step == groups) break;
        const int bit = low + __builtin_ctzll(step);
        base ^= rows[bit];
        negative ^= 0 - ((hash >> bit) & 1);
    }
}

/* Rows of at most SOME reports, column by column: row j is number j of the field, or its only one shifted by j if
 * `toeplitz`. */
enum { LOCAL(SOME) = 64 };
#define SOME LOCAL(SOME)

INLINE TARGET void LOCAL(load_rows)(Field words, i64 first, i64 count, i64 t, u64 mask, u64 (*rows)[SOME],
                                    const int toeplitz) {
    u64 matrix[SOME];
    if (toeplitz) LOCAL(load)(words, 0, first, count, matrix);
    for (i64 j = 0; j < t; j++) {
        if (!toeplitz) LOCAL(load)(words, j, first, count, rows[j]);
        for (i64 i = 0; i < count; i++) rows[j][i] = (toeplitz ? matrix[i] >> j : rows[j][i]) & mask;
    }
}

INLINE TARGET void LOCAL(scatter_reports)(const Scatter *scatter, u64 (*rows)[SOME], const u64 *hash, i64 count, i64 t,
                                          const int low) {
    u32 row[MOST_BITS] = {0};
    for (i64 i = 0; i < count; i++) {
        for (i64 j = 0; j < t; j++) row[j] = (u32)rows[j][i];
        LOCAL(scatter_report)(scatter, row, (u32)hash[i], t, low);
    }
}

INLINE TARGET void LOCAL(scatter)(Field words, Field hashes, i64 n, i64 item_bits, i64 t, const i64 *weights, u64 *out,
                                  const int toeplitz) {
    const u64 steps = (u64)1 << t, mask = low_bits(item_bits);
    const i64 safe = LOCAL(safe_reports)(weights, steps);
    u64 rows[MOST_BITS][SOME], hash[SOME];
    i64 held = 0;
    Scatter scatter;
    const int narrow = t > 0 && LOCAL(open_scatter)(&scatter, n, item_bits, t, weights, safe);
    for (i64 start = 0, count; start < n; start += count) {
        count = smaller(n - start, SOME);
        if (narrow) {
            if (held == safe) {
                LOCAL(flush_scatter)(&scatter, item_bits, out);
                held = 0;
            }
            count = smaller(count, safe - held);
            held += count;
        }
        LOCAL(load_rows)(words, start, count, t, mask, rows, toeplitz);
        LOCAL(load)(hashes, 0, start, count, hash);
        if (narrow) {
            if (t == 1) LOCAL(scatter_reports)(&scatter, rows, hash, count, t, 1);
            if (t == 2) LOCAL(scatter_reports)(&scatter, rows, hash, count, t, 2);
            if (t == 3) LOCAL(scatter_reports)(&scatter, rows, hash, count, t, 3);
            if (t > 3) LOCAL(scatter_reports)(&scatter, rows, hash, count, t, 4);
            continue;
        }
        for (i64 i = 0; i < count; i++) {
            u64 place = 0, negative = 0;
            for (u64 step = 1; step < steps; step++) {
                const int bit = __builtin_ctzll(step);
                place ^= rows[bit][i];
                negative ^= 0 - ((hash[i] >> bit) & 1);
                out[place] += ((u64)weights[step ^ (step >> 1)] ^ negative) - negative;
            }
        }
    }
    if (narrow) {
        LOCAL(flush_scatter)(&scatter, item_bits, out);
        free(scatter.weights);
        free(scatter.sums);
    }
}

/* Adds to `out`; t <= MOST_BITS. */
TARGET EXPORT void KERNEL(gray_scatter)(Field rows, Field hashes, i64 n, i64 item_bits, i64 t, const i64 *weights,
                                        u64 *out) {
    LOCAL(scatter)(rows, hashes, n, item_bits, t, weights, out, 0);
}

/* ---- 12. hadamard_response: HR over `blocks` blocks of order `order` ---------------------------------------- */

TARGET EXPORT i64 KERNEL(hadamard_response)(const u64 *values, const u64 *words, i64 n, u64 keep, u64 blocks,
                                            u64 order, Field out, i64 *reports, i64 room) {
    const Below others = below_for(2 * blocks - 1);
    const int shift = __builtin_ctzll(blocks);
    Redo redo = {reports, room, 0};
    u64 cell[BLOCK];
    for (i64 start = 0; start < n; start += BLOCK) {
        const i64 count = smaller(n - start, BLOCK);
        for (i64 i = 0; i < count; i++) {
            const u64 *w = words + 3 * (start + i), value = values[start + i];
            const u64 own = value & (blocks - 1), row = 1 + (value >> shift);
            const u64 draw = below(others, w[1]), kept = w[0] < keep, same = kept | (draw == 0);
            u64 other = (draw - 1) >> 1, u = w[2] & (order - 1);
            other += other >= own;
            /* In the own block the parity is wished for: even if kept, odd if not. */
            const u64 wrong = LOCAL(parity)(u & row) ^ kept ^ 1;
            u ^= row & (0 - row) & (0 - (same & wrong));
            cell[i] = choose((int)same, own, other) * order + u;
            redo_if(w[1] > others.last, start + i, &redo);
        }
        LOCAL(store)(out, 0, start, count, cell);
    }
    return redo.count;
}

/* ---- 13. subset_response: SS, a random subset as a bitmap, by a partial Fisher-Yates shuffle -------------------
 *
 * One permutation of the other values serves all reports: what a report has changed is put back after it. Slot i is
 * not read after step i, so nothing is written there. */

/* One report: sets the bits of its subset and returns whether a word was refused. A bitmap of at most 64 bits is
 * `small`: it is made in a register, where its bits do not wait for each other. */
INLINE TARGET int LOCAL(draw_subset)(u64 value, const u64 *word, i64 w, u64 keep, const Below *range, u32 *others,
                                     u32 *places, u8 *bitmap, i64 row_bytes, const int small) {
    u64 refused = 0, bits = 0;
    for (i64 i = 0; i < w; i++) {
        const u64 place = (u64)i + below(range[i], word[1 + i]);
        u64 item = others[place];
        refused |= word[1 + i] > range[i].last;
        others[place] = others[i];
        places[i] = (u32)place;
        item += item >= value;
        if (i == w - 1) item = choose(word[0] < keep, value, item);
        if (small)
            bits |= (u64)1 << item;
        else
            bitmap[item >> 3] |= (u8)(1 << (item & 7));
    }
    for (i64 i = 0; i < w; i++) others[places[i]] = places[i];
    if (small) memcpy(bitmap, &bits, (size_t)row_bytes);
    return refused != 0;
}

/* Returns -1 if memory ran out. */
TARGET EXPORT i64 KERNEL(subset_response)(const u64 *values, const u64 *words, i64 n, i64 w, u64 keep, u64 size,
                                          Field bitmaps, i64 *reports, i64 room) {
    const i64 row_bytes = (i64)((size + 7) / 8);
    Redo redo = {reports, room, 0};
    Below *range = malloc(sizeof(Below) * (size_t)(w + 1));
    u32 *others = malloc(sizeof(u32) * (size_t)(size + (u64)w)), *places = others + size;
    if (!range || !others) {
        free(range);
        free(others);
        return -1;
    }
    for (i64 i = 0; i < w; i++) range[i] = below_for(size - 1 - (u64)i);
    for (u64 other = 0; other + 1 < size; other++) others[other] = (u32)other;
    for (i64 r = 0; r < n; r++) {
        const u64 *word = words + r * (w + 1), value = values[r] < size ? values[r] : size - 1;
        u8 *bitmap = bitmaps.at + r * bitmaps.stride;
        memset(bitmap, 0, (size_t)row_bytes);
        const int refused =
            size <= 64 ? LOCAL(draw_subset)(value, word, w, keep, range, others, places, bitmap, row_bytes, 1)
                       : LOCAL(draw_subset)(value, word, w, keep, range, others, places, bitmap, row_bytes, 0);
        redo_if(refused, r, &redo);
    }
    free(range);
    free(others);
    return redo.count;
}

/* ---- 14. toeplitz_response: TLH, a linear hash whose row j is the matrix shifted by j, moved by an error -------- */

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

/* ---- 15. toeplitz_scatter: TLH, gray_scatter with the rows of Toeplitz matrices ------------------------------- */

/* Adds to `out`; t <= MOST_BITS. */
TARGET EXPORT void KERNEL(toeplitz_scatter)(Field matrices, Field hashes, i64 n, i64 item_bits, i64 t,
                                            const i64 *weights, u64 *out) {
    LOCAL(scatter)(matrices, hashes, n, item_bits, t, weights, out, 1);
}

/* ---- 16. toeplitz_support_of: TLH, support of any candidates ----------------------------------------------------
 *
 * Bit j of the hash is the parity of (matrix >> j) & x, so the hash is the exclusive or of the matrix shifted by
 * every set bit of x, cut to t bits: the same shifts for all reports of a candidate. */

/* `counts` comes in as zeros. */
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
                /* Below 2^32 signed and unsigned comparison agree, and the machine has the signed one. */
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

/* ---- 17. affine_response: AGR, the scalar product of a value and the point of a line over GF(2^t), moved -----------
 *
 * A point lies in a word like a value, coordinate i in the bits from t * i on. A line's number k belongs to a point
 * with f free coordinates iff g^f <= k * (g - 1) + 1 < g^(f + 1), so the highest bit of that number gives f. The
 * product is Horner's rule over the bits of all coordinates of the value at once: the coordinates of the point that
 * bit j selects are added up, and the sum is doubled t - 1 times on the way. */

/* Where the lines of a given highest bit of k * (g - 1) + 1 start, and the one of their points. */
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

/* `lines` is how many there are, `columns` how many words a report has: 5 with a stretch, 4 without. */
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

/* ---- 18. affine_gather: AGR, the transformed rows of all lines to the frequencies they stand for ----------------
 *
 * The frequency of (k, s) is linear in s: those of the single bits of s are looked up, the others are made by
 * doubling. Only coordinate 0 changes from one line to the next within a group of g lines, and for each s these
 * lines write to g neighbouring frequencies: the writes of a group stay in cache. */

/* Returns -1 if memory ran out. `out` comes in as zeros; item_bits <= 32. */
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

/* ---- 19. keyed_hash: BLAKE2s of many strings (RFC 7693), one string in each 32-bit lane of a vector ------------- */

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

/* ---- 20. local_hash_response: LH, the direct response to the hash of each value --------------------------------- */

INLINE TARGET i64 LOCAL(local_hash_response)(const u64 *values, const u64 *words, i64 n, const u64 *seeds, i64 functions,
                                             u64 keep, Split s, u32 size, Field public_out, Field hash_out, Redo redo,
                                             const int width) {
    const Below others = below_for(size - 1), function = below_for(functions ? (u64)functions : 1);
    u64 public[BLOCK], seed[BLOCK], hash[BLOCK];
    for (i64 start = 0; start < n; start += BLOCK) {
        const i64 count = smaller(n - start, BLOCK);
        const u64 *block = words + 3 * start;
        u8 *at = hash_out.at + start * hash_out.stride;
        for (i64 i = 0; i < count; i++) seed[i] = block[3 * i];
        if (functions) {
            for (i64 i = 0; i < count; i++) public[i] = below(function, seed[i]);
            for (i64 i = 0; i < count; i++) seed[i] = seeds[public[i]];
        }
        LOCAL(store)(public_out, 0, start, count, functions ? public : seed);
        LOCAL(hash_block)(seed, values + start, count, s, size, hash);
        for (i64 i = 0; i < count; i++) {
            const u64 *w = block + 3 * i, answer = LOCAL(answer)(hash[i], w + 1, keep, others);
            memcpy(at + i * hash_out.stride, &answer, (size_t)width);
            /* Below 1 nothing is refused. */
            redo_if((w[0] > function.last) | (w[2] > others.last), start + i, &redo);
        }
    }
    return redo.count;
}

/* The first word of a report is its seed, or chooses one of `functions` seeds if there are any. */
TARGET EXPORT i64 KERNEL(local_hash_response)(const u64 *values, const u64 *words, i64 n, const u64 *seeds,
                                              i64 functions, u64 keep, u64 split, u32 size, Field public_out,
                                              Field hash_out, i64 *reports, i64 room) {
    const Split s = split_for(split);
    const Redo redo = {reports, room, 0};
#define RESPONSE(WIDTH)                                                                                            \
    if (hash_out.width == WIDTH)                                                                                   \
        return LOCAL(local_hash_response)(values, words, n, seeds, functions, keep, s, size, public_out, hash_out, \
                                          redo, WIDTH);
    RESPONSE(1)
    RESPONSE(2)
    RESPONSE(4)
    RESPONSE(8)
#undef RESPONSE
    return 0;
}

/* ---- 21. settle_ties: OUE and SUE, the bits that unary_response left open ------------------------------------- */

/* The low 56 bits of the words are at the top of `tails`; a bit is set if they are below those of its threshold. */
TARGET EXPORT void KERNEL(settle_ties)(Field bitmaps, i64 row_bytes, const u64 *values, i64 n, const i64 *tie_report,
                                       const i64 *tie_bit, const u64 *tails, i64 ties, u64 true_threshold,
                                       u64 other_threshold) {
    for (i64 k = 0; k < ties; k++) {
        const u64 report = (u64)tie_report[k], bit = (u64)tie_bit[k];
        if (report >= (u64)n || bit / 8 >= (u64)row_bytes) continue;
        const u64 threshold = values[report] == bit ? true_threshold : other_threshold;
        const int set = tails[k] >> 8 < (threshold & low_bits(56));
        bitmaps.at[(i64)report * bitmaps.stride + (i64)(bit / 8)] |= (u8)(set << (bit % 8));
    }
}

/* ---- 22. row_sums: how many items the subset of a report holds -------------------------------------------------- */

TARGET EXPORT void KERNEL(row_sums)(const u8 *bitmaps, i64 n, i64 row_bytes, i64 *sums) {
    for (i64 i = 0; i < n; i++) {
        const u8 *row = bitmaps + i * row_bytes;
        u64 eight;
        i64 sum = 0, j = 0;
        for (; j + 8 <= row_bytes; j += 8) {
            memcpy(&eight, row + j, 8);
            sum += __builtin_popcountll(eight);
        }
        eight = 0;
        memcpy(&eight, row + j, (size_t)(row_bytes - j));
        sums[i] = sum + __builtin_popcountll(eight);
    }
}

/* ---- 23. histogram: DE, HR, FLH and AGR, how many reports have each value, or each pair of values --------------- */

/* Adds to `total` cells; a pair (a, b) is counted in cell a * size + b. Without a second field its width is 0. Returns
 * how many reports were left out. */
TARGET EXPORT i64 KERNEL(histogram)(Field first, Field second, i64 n, u64 size, u64 total, i64 *cells) {
    u64 a[BUFFER], b[BUFFER];
    i64 outside = 0;
    for (i64 start = 0; start < n; start += BUFFER) {
        const i64 count = smaller(n - start, BUFFER);
        LOCAL(load)(first, 0, start, count, a);
        if (second.width) {
            const u64 last = total / size - 1;
            LOCAL(load)(second, 0, start, count, b);
            /* The largest number there is stands for a pair that is out of range. */
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

/* ---- 24. stretched_histogram: AGR with a window, the supported values (y ^ e) / s of each report's line ---------- */

/* Adds to `total` cells. `powers` of a generator of the field are written twice, so that a difference of logarithms plus
 * the order of the generator is an index; both tables are trusted. Returns how many reports were left out. */
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

/* ---- 25. sign_sums: HM as in the paper, the sum of (-1)^(bit j of the hash) at row j ----------------------------- */

/* Adds to `total` cells. Returns how many rows were left out. */
TARGET EXPORT i64 KERNEL(sign_sums)(Field rows, Field hashes, i64 n, i64 t, u64 total, i64 *cells) {
    u64 row[BUFFER], hash[BUFFER];
    i64 outside = 0;
    for (i64 start = 0; start < n; start += BUFFER) {
        const i64 count = smaller(n - start, BUFFER);
        LOCAL(load)(hashes, 0, start, count, hash);
        for (i64 j = 0; j < t; j++) {
            LOCAL(load)(rows, j, start, count, row);
            for (i64 i = 0; i < count; i++) {
                if (__builtin_expect(row[i] < total, 1))
                    cells[row[i]] += 1 - 2 * (i64)((hash[i] >> j) & 1);
                else
                    outside++;
            }
        }
    }
    return outside;
}

/* ---- 26. extremes: the least and the largest number in a field --------------------------------------------------- */

/* Numbers of 8 bytes. Blocks are long enough for the loop inside to be worth a vector or two. */
INLINE TARGET void LOCAL(extend)(const u64 *values, i64 count, u64 *found) {
    u64 least = found[0], largest = found[1];
    for (i64 i = 0; i < count; i++) {
        least = values[i] < least ? values[i] : least;
        largest = values[i] > largest ? values[i] : largest;
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

/* `found` comes in as the largest and the least number there is. */
TARGET EXPORT void KERNEL(extremes)(Field field, i64 n, i64 columns, u64 *found) {
    u64 block[BUFFER];
    if (columns == 1 && field.stride == 8 && field.width == 8 && (uintptr_t)field.at % 8 == 0) {
        LOCAL(extend)((const u64 *)(const void *)field.at, n, found);
        return;
    }
    for (i64 j = 0; j < columns; j++) {
        const u8 *at = field.at + j * field.width;
        /* Side by side, they are loaded as vectors. */
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

/* ---- 27. promising_children: the search, which extensions of which prefixes have enough support -------------------- */

/* A run of one cohort's cells: added up, and the least of the cohorts kept. Sums of all cohorts fit 16 bits. */
INLINE TARGET void LOCAL(support_run)(const i16 *cells, i64 count, i16 *sums, i16 *least) {
    for (i64 i = 0; i < count; i++) {
        const i16 cell = cells[i];
        sums[i] = (i16)(sums[i] + cell);
        least[i] = cell < least[i] ? cell : least[i];
    }
}

/* How many were found; only the first `room` of them are written. There are at most `block` children. A parent whose
 * row or start is out of range has none. */
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
        /* enough[j]: the least need of all kinds from j on. Kinds from kind_count on do not exist, and need the most. */
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
            /* Few reach what the likeliest of their neighbours needs, so few are asked for their own. */
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

#undef SOME
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
#undef AT_ONCE
#undef MOST_BITS
#undef Scatter

#endif
