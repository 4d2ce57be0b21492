/* Definitions shared by all kernels, included once: types, fields of records, the reports to redo, and the coin
 * below(m). */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "packed lanes are written for little-endian machines; elsewhere the NumPy twins serve"
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

/* Before a loop that adds to scattered places. Clang would gather and scatter them in vectors, and be six times slower. */
#ifdef __clang__
#define ROLLED _Pragma("clang loop unroll(disable) vectorize(disable)")
#else
#define ROLLED
#endif

#define PASTE_(name, set) name##_##set
#define PASTE(name, set) PASTE_(name, set)
#define LOCAL(name) PASTE(name, SET)
#define KERNEL(name) PASTE(plausibly_##name, SET)

enum {
    CHILDREN = 2048,  /* extensions of a prefix whose support is summed at a time, in cache */
    DOUBTED = 64,     /* extensions that are skipped together if none of them has enough support */
    REPORTS = 248,    /* reports between two flushes of the 8-bit support counters; at most 255 */
    HIGH_GROUP = 512, /* high characters whose targets are held at once: 248 * 512 * 4 bytes, the size of an L2 */
    BUFFER = 1024,    /* elements in a buffer on the stack */
    BLOCK = 256,      /* reports processed at once, so that several such buffers fit the first-level cache */
};

/* One field of packed records: its address in the first record, the size of a record, and its own size, 1, 2, 4 or 8
 * bytes. Several numbers in one field are contiguous; a bitmap has no size of its own. */
typedef struct {
    u8 *at;
    i64 stride, width;
} Field;

/* The reports with a word that below(m) refuses; those beyond the room are only counted. */
typedef struct {
    i64 *reports, room, count;
} Redo;

INLINE void redo_if(int refused, i64 report, Redo *redo) {
    if (__builtin_expect(refused, 0)) {
        if (redo->count < redo->room) redo->reports[redo->count] = report;
        redo->count++;
    }
}

/* Fetch the values of the block after this one. The processor would do so itself in a loop that reads them steadily, but
 * a response reads those of a block at once and then computes. A hint: beyond the end of an array nothing is read. */
INLINE void fetch_next(const u64 *values) {
    const uintptr_t next = (uintptr_t)values + BLOCK * sizeof(u64);
    for (uintptr_t line = 0; line < BLOCK * sizeof(u64); line += 64) __builtin_prefetch((const void *)(next + line));
}

INLINE i64 smaller(i64 a, i64 b) { return a < b ? a : b; }

/* The highest bit of the result tells whether a number exceeds `last` < 2^63: a number that exceeds it by less than
 * 2^63 makes the difference negative, and a larger number has that bit itself. This needs no unsigned comparison,
 * which vectors lack, so many numbers are tested at once. */
INLINE u64 beyond(u64 number, u64 last) { return number | (last - number); }

/* ---- below(m): docs/adr/0002-thresholds.md -------------------------------------------------------------------------
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
    /* The smaller of the two, without a branch: a remainder below the modulus becomes huge by the subtraction. */
    const u64 rest = word - quotient * range.modulus, less = rest - range.modulus;
    return less < rest ? less : rest;
#else
    return word % range.modulus;
#endif
}

/* The same for many words at once: vectors multiply 32 bits by 32. With w = h * 2^32 + l, M = H * 2^32 + L and m <= 2^30
 * let q = h * H + floor(h * L / 2^32) + floor(l * H / 2^32), which is less than 3 below w * M / 2^64. That exceeds
 * w / m - 1, and so 0 <= w - q * m < 4m <= 2^32: the remainder has 32 bits, the lowest 32 bits of q are enough, and two
 * conditional subtractions make it exact, for every w. A refused word has the largest h, because 2^64 mod m < 2^32. */

enum { MOST_NARROW = 1 << 30 };

typedef struct {
    u32 modulus, high, low;
} Narrow;

/* Half of a word, in memory: the lower half is the first. */
typedef u32 half __attribute__((may_alias));
typedef u16 u16_at __attribute__((aligned(1), may_alias));

static Narrow narrow_for(Below range) {
    return (Narrow){(u32)range.modulus, (u32)(range.reciprocal >> 32), (u32)range.reciprocal};
}

INLINE u32 below_narrow(Narrow range, u32 low, u32 high) {
    const u32 quotient = high * range.high + (u32)((u64)high * range.low >> 32) + (u32)((u64)low * range.high >> 32);
    const u32 rest = low - quotient * range.modulus, less = rest - 2 * range.modulus;
    const u32 twice = less < rest ? less : rest, once = twice - range.modulus;
    return once < twice ? once : twice;
}

/* The same modulus for each number of a block. GCC multiplies 32 bits by 32 only if it loads both: a constant it widens
 * to 64 bits before the loop. */
typedef struct {
    u32 modulus[BLOCK], high[BLOCK], low[BLOCK];
} Lanes;

static Lanes lanes_for(Below range) {
    const Narrow narrow = narrow_for(range);
    Lanes lanes;
    for (int i = 0; i < BLOCK; i++) {
        lanes.modulus[i] = narrow.modulus;
        lanes.high[i] = narrow.high;
        lanes.low[i] = narrow.low;
    }
    return lanes;
}

INLINE Narrow lane(const Lanes *lanes, i64 i) { return (Narrow){lanes->modulus[i], lanes->high[i], lanes->low[i]}; }

INLINE u64 low_bits(i64 count) { return count >= 64 ? UINT64_MAX : ((u64)1 << count) - 1; }

/* condition ? a : b, for coins: they cannot be predicted. The empty assembly makes the compiler compute both first, and
 * then a conditional move is cheaper than a branch. */
INLINE u64 choose(int condition, u64 a, u64 b) {
#ifdef __GNUC__
    __asm__("" : "+r"(a), "+r"(b));
#endif
    return condition ? a : b;
}
