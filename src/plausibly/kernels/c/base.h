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

INLINE u64 low_bits(i64 count) { return count >= 64 ? UINT64_MAX : ((u64)1 << count) - 1; }

/* condition ? a : b, for coins: they cannot be predicted. The empty assembly makes the compiler compute both first, and
 * then a conditional move is cheaper than a branch. */
INLINE u64 choose(int condition, u64 a, u64 b) {
#ifdef __GNUC__
    __asm__("" : "+r"(a), "+r"(b));
#endif
    return condition ? a : b;
}
