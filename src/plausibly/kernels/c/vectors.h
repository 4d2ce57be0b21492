/* Vectors of one instruction set, and the fields of records loaded and stored in blocks. */

/* ---- Vectors ---------------------------------------------------------------------------------------------------- */

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
/* The same vectors in memory, at any address and over any type. */
typedef v32 v32_at __attribute__((aligned(1), may_alias));
typedef v64 v64_at __attribute__((aligned(1), may_alias));

enum {
    LOCAL(WORDS) = LANES / 4, /* 32-bit lanes in a vector */
    LOCAL(LONGS) = LANES / 8, /* 64-bit lanes in a vector */
};
#define WORDS LOCAL(WORDS)
#define LONGS LOCAL(LONGS)

/* ---- Fields of records ------------------------------------------------------------------------------------------ */

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

/* The same of numbers of 32 bits. Contiguous ones are stored as vectors. */
INLINE TARGET void LOCAL(store_narrow_width)(u8 *at, i64 stride, i64 count, const u32 *values, const int width) {
    if (width == 1 && stride == 1) {
        for (i64 i = 0; i < count; i++) at[i] = (u8)values[i];
    } else if (width == 2 && stride == 2) {
        for (i64 i = 0; i < count; i++) ((u16_at *)at)[i] = (u16)values[i];
    } else {
#pragma GCC unroll 8
        for (i64 i = 0; i < count; i++) {
            const u64 number = values[i];
            memcpy(at + i * stride, &number, (size_t)width);
        }
    }
}

TARGET static void LOCAL(store_narrow)(Field field, i64 first, i64 count, const u32 *values) {
    u8 *at = field.at + first * field.stride;
    if (field.width == 1) LOCAL(store_narrow_width)(at, field.stride, count, values, 1);
    if (field.width == 2) LOCAL(store_narrow_width)(at, field.stride, count, values, 2);
    if (field.width == 4) LOCAL(store_narrow_width)(at, field.stride, count, values, 4);
    if (field.width == 8) LOCAL(store_narrow_width)(at, field.stride, count, values, 8);
}
