/* The hash of one value, included once: docs/adr/0006-hash-family.md. */

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

/* The division of a value into its two characters, x = high * split + low. A split is nearly always a power of two. */
typedef struct {
    u64 split;
    int shift; /* -1: divide */
} Split;

static Split split_for(u64 split) {
    return (Split){split, (split & (split - 1)) == 0 ? __builtin_ctzll(split) : -1};
}

INLINE u32 low_of(Split s, u64 value) { return (u32)(s.shift >= 0 ? value & (s.split - 1) : value % s.split); }
INLINE u32 high_of(Split s, u64 value) { return (u32)(s.shift >= 0 ? value >> s.shift : value / s.split); }

/* At most BLOCK values to hash: the halves of their seeds, and their characters. */
typedef struct {
    u32 first[BLOCK], second[BLOCK], low[BLOCK], high[BLOCK];
} Hashed;
