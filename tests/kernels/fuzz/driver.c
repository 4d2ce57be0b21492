/* Calls every kernel with arrays of any bytes, under the sanitizers: whatever is in the arrays, a kernel stays within
 * them. The parameters are those of valid schemes, and each array is exactly as long as the kernel may expect.
 *
 * With libFuzzer (-DLIBFUZZER), an input is a choice of kernel and parameters, then what is in the arrays. Without it,
 * main() makes up inputs: `driver [how many] [seed]`. */

#include "native.c"

#include <stdio.h>

enum { KERNELS = 34, MOST_REPORTS = 2600, LONGEST = 4096 };

/* The bytes of an input; when they are used up, numbers that follow from them. */
static const u8 *bytes;
static size_t left;
static u64 state;

static u64 next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x9E3779B97F4A7C15u;
}

static u8 byte(void) {
    if (left == 0) return (u8)(next() >> 56);
    left--;
    state += *bytes;
    return *bytes++;
}

static u64 word(void) {
    u64 value = 0;
    for (int i = 0; i < 8; i++) value = value << 8 | byte();
    return value;
}

/* A number from `least` to `most`, often one of the two. */
static i64 between(i64 least, i64 most) {
    const u8 kind = byte();
    if (kind < 16) return least;
    if (kind < 32) return most;
    return least + (i64)(word() % (u64)(most - least + 1));
}

/* Memory that is given back after the call. */
static void *held[64];
static int holding;

static void *room(i64 size) {
    u8 *made = malloc((size_t)size);
    if (!made && size) abort();
    held[holding++] = made;
    return made;
}

/* So many little-endian numbers `stride` bytes apart: any, or all below a bound, or all but a few. */
static void fill(u8 *at, i64 count, i64 stride, i64 width, u64 bound) {
    const int kind = byte() % 4;
    for (i64 i = 0; i < count; i++) {
        u64 number = kind == 0 || left ? word() : next();
        if (kind == 1 || (kind >= 2 && number >> 59)) number = number / 2 % (bound ? bound : 1);
        memcpy(at + i * stride, &number, (size_t)width);
    }
}

static void *numbers(i64 count, i64 width, u64 bound) {
    u8 *made = room(count * width);
    fill(made, count, width, width, bound);
    return made;
}

/* A field at the end of records of any size. */
static Field field_of(i64 n, i64 columns, i64 width, u64 bound) {
    const i64 size = columns * width, stride = size + between(0, 9);
    Field field = {room(n * stride), stride, width};
    field.at += stride - size;
    for (i64 j = 0; j < columns; j++)
        if (n) fill(field.at + j * width, n, stride, width, bound);
    return field;
}

static i64 any_width(void) { return (i64)1 << byte() % 4; }

static i64 reports_of(i64 bytes_each) {
    const i64 most = (1 << 16) / (bytes_each + 1);
    return between(0, most < MOST_REPORTS ? most : MOST_REPORTS);
}

static u64 split_of(u64 most) { return byte() % 2 ? (u64)1 << byte() % 20 : 1 + word() % most; }

#if defined(__x86_64__) && !defined(_WIN32)
#define CALL(name, ...) (wide ? plausibly_##name##_avx2(__VA_ARGS__) : plausibly_##name##_baseline(__VA_ARGS__))
#else
#define CALL(name, ...) plausibly_##name##_baseline(__VA_ARGS__)
#endif

/* Of a kernel that has vectors of 64 bytes, too. */
#if defined(__x86_64__) && !defined(_WIN32) && !defined(__clang__)
#define CALL_WIDEST(name, ...) (wide == 2 ? plausibly_##name##_avx512(__VA_ARGS__) : CALL(name, __VA_ARGS__))
#else
#define CALL_WIDEST CALL
#endif

/* Which vectors to use: 0 baseline, 1 AVX2, 2 AVX-512; often the widest that this machine has. */
static int any_set(void) {
    const char *best = plausibly_instruction_set();
    const int most = !strcmp(best, "avx512") ? 2 : !strcmp(best, "avx2");
    const int chosen = byte() % 8;
    return chosen < most ? chosen : most;
}

static void call(int kernel) {
    const int wide = any_set();
    const i64 redos = between(0, 20);
    i64 *redo = room(8 * redos);
    (void)wide;
    switch (kernel) {
    case 0: {
        const i64 n = reports_of(24);
        const u64 size = (u64)between(2, INT64_C(1) << 32), keep = word();
        CALL_WIDEST(direct_response, numbers(n, 8, size), numbers(2 * n, 8, 0), n, keep, size, field_of(n, 1,
                    any_width(), 0), redo, redos);
        break;
    }
    case 1: {
        const i64 n = reports_of(20);
        const u32 size = (u32)between(2, 1 << 24);
        CALL_WIDEST(local_hash, numbers(n, 8, 0), numbers(n, 8, 1 << 20), n, split_of(UINT64_MAX), size, room(4 * n));
        break;
    }
    case 2: {
        const i64 n = reports_of(64), domain = between(0, 3000);
        const u32 size = (u32)between(2, 65536);
        const Field seeds = field_of(n, 1, 8, 0), hashes = field_of(n, 1, any_width(), size);
        CALL_WIDEST(support_counts, seeds, hashes, n, (u64)domain, split_of(5000), size, numbers(domain, 8, 1));
        break;
    }
    case 3: {
        const i64 n = reports_of(64), k = between(0, 40);
        const u32 size = (u32)between(2, 65536);
        const Field seeds = field_of(n, 1, 8, 0), hashes = field_of(n, 1, any_width(), size);
        CALL_WIDEST(support_of, seeds, hashes, n, numbers(k, 8, 0), k, split_of(UINT64_MAX), size, numbers(k, 8,
                    1 << 20));
        break;
    }
    case 4: {
        const i64 k = between(0, 9), domain = between(0, 5000);
        const u32 size = (u32)between(2, 300);
        CALL_WIDEST(table_support, numbers(k, 8, 0), numbers(k * size, 8, 0), k, size, (u64)domain, split_of(9000),
                    numbers(domain, 8, 1));
        break;
    }
    case 5: {
        const i64 k = between(0, 9), c = between(0, 2000);
        const u32 size = (u32)between(2, 300);
        CALL_WIDEST(table_support_of, numbers(k, 8, 0), numbers(k * size, 8, 0), k, size, numbers(c, 8, 0), c,
                    split_of(UINT64_MAX), numbers(c, 8, 1));
        break;
    }
    case 6: {
        const i64 d = between(2, 300), n = reports_of(2 * d), ties = between(0, 400);
        CALL(unary_response, numbers(n, 8, (u64)d), numbers(n * d, 1, 0), n, d, word(), word(),
             field_of(n, (d + 7) / 8, 1, 0), room(8 * ties), room(8 * ties), ties);
        break;
    }
    case 7: {
        const i64 size = between(0, 9000), row = (size + 7) / 8, n = reports_of(row);
        CALL(column_sums, numbers(n * row, 1, 0), n, size, numbers(size, 8, 1 << 20));
        break;
    }
    case 8: {
        const int m = (int)between(0, 13);
        const i64 rows = between(0, 3);
        CALL(walsh_hadamard, numbers(rows << m, 8, 0), rows, m);
        break;
    }
    case 9: {
        const i64 t = between(1, 16), n = reports_of(16 * t), bits = between(1, 64);
        const Field rows = field_of(n, t, any_width(), 0), hashes = field_of(n, 1, any_width(), 0);
        CALL(parity_response, numbers(n, 8, 0), numbers(n * (t + 2), 8, 0), n, t, bits, word(), rows, hashes, redo,
             redos);
        break;
    }
    case 10: case 14: {
        const i64 t = between(1, 9), bits = between(0, 13), n = reports_of(64 << t >> 3);
        const int toeplitz = kernel == 14;
        const Field rows = field_of(n, toeplitz ? 1 : t, any_width(), (u64)1 << bits);
        const Field hashes = field_of(n, 1, any_width(), (u64)1 << t);
        const i64 *weights = numbers((i64)1 << t, 8, 1 + word() % 4096);
        u64 *out = numbers((i64)1 << bits, 8, 1);
        if (toeplitz)
            CALL(toeplitz_scatter, rows, hashes, n, bits, t, weights, out);
        else
            CALL(gray_scatter, rows, hashes, n, bits, t, weights, out);
        break;
    }
    case 11: {
        const i64 n = reports_of(40);
        const u64 blocks = (u64)1 << between(0, 12), order = (u64)1 << between(1, 20);
        CALL(hadamard_response, numbers(n, 8, blocks * (order - 1)), numbers(3 * n, 8, 0), n, word(), blocks, order,
             field_of(n, 1, any_width(), 0), redo, redos);
        break;
    }
    case 12: {
        const i64 size = between(2, 200), w = between(1, size - 1), n = reports_of(16 * w);
        CALL_WIDEST(subset_response, numbers(n, 8, (u64)size), numbers(n * (w + 1), 8, 0), n, w, word(), (u64)size,
                    field_of(n, (size + 7) / 8, 1, 0), redo, redos);
        break;
    }
    case 13: {
        const i64 t = between(1, 12), bits = between(1, 52), n = reports_of(60);
        const u64 window = (u64)between(1, (INT64_C(1) << t) - 1);
        const Field matrices = field_of(n, 1, 8, 0), hashes = field_of(n, 1, any_width(), 0);
        CALL(toeplitz_response, numbers(n, 8, 0), numbers(4 * n, 8, 0), n, t, bits, word(), window, matrices, hashes,
             redo, redos);
        break;
    }
    case 15: {
        const i64 t = between(1, 12), bits = between(1, 52), n = reports_of(60), k = between(0, 20);
        const Field matrices = field_of(n, 1, 8, 0), hashes = field_of(n, 1, any_width(), (u64)1 << t);
        CALL(toeplitz_support_of, matrices, hashes, n, numbers(k, 8, 0), k, t, bits,
             (u64)between(1, (INT64_C(1) << t) - 1), numbers(k, 8, 1));
        break;
    }
    case 16: case 17: {
        static const u64 moduli[] = {3, 7, 0xB, 0x13, 0x25, 0x43, 0x83, 0x11B, 0x203, 0x409, 0x805, 0x1009};
        const i64 t = between(1, 12), most = kernel == 16 ? 48 / t : 12 / t > 1 ? 12 / t : 1;
        const i64 dimension = between(1, most), n = reports_of(60), columns = between(4, 5);
        const u64 size = (u64)1 << t, lines = (((u64)1 << (t * dimension)) - 1) / (size - 1);
        if (kernel == 17) {
            const i64 bits = between(1, 13);
            CALL(affine_gather, numbers((i64)(lines * size), 8, 0), t, dimension, bits, moduli[t - 1],
                 numbers((i64)1 << bits, 8, 1));
            break;
        }
        const Field line = field_of(n, 1, any_width(), 0), stretch = field_of(n, 1, any_width(), 0);
        CALL(affine_response, numbers(n, 8, 0), numbers(columns * n, 8, 0), n, columns, t, dimension, moduli[t - 1],
             lines, word(), size > 2 ? (u64)between(1, (i64)size - 1) : 1, line, stretch,
             field_of(n, 1, any_width(), 0), redo, redos);
        break;
    }
    case 18: {
        const i64 length = between(0, LONGEST), n = between(0, 40);
        i64 *ends = numbers(n, 8, (u64)length + 1);
        if (byte() % 2) /* as a caller would have them */
            for (i64 i = 1; i < n; i++) ends[i] = ends[i] > ends[i - 1] ? ends[i] : ends[i - 1];
        CALL(keyed_hash, numbers(length, 1, 0), length, ends, n, numbers(4, 4, 0), room(8 * n));
        break;
    }
    case 19: {
        const i64 n = reports_of(60), functions = between(0, 30);
        const u32 size = (u32)between(2, 1 << 16);
        const Field public_out = field_of(n, 1, any_width(), 0), hashes = field_of(n, 1, any_width(), 0);
        CALL_WIDEST(local_hash_response, numbers(n, 8, 0), numbers(3 * n, 8, 0), n, numbers(functions, 8, 0),
                    functions, word(), split_of(UINT64_MAX), size, public_out, hashes, redo, redos);
        break;
    }
    case 20: {
        const i64 n = reports_of(40), row = between(1, 40), ties = between(0, 300);
        CALL(settle_ties, field_of(n, row, 1, 0), row, numbers(n, 8, 8 * (u64)row), n, numbers(ties, 8, (u64)n),
             numbers(ties, 8, 8 * (u64)row), numbers(ties, 8, 0), ties, word(), word());
        break;
    }
    case 21: {
        const i64 row = between(0, 200), n = reports_of(row);
        CALL(row_sums, field_of(n, row, 1, 0), n, row, room(8 * n));
        break;
    }
    case 22: {
        const i64 n = reports_of(24), rows = between(1, 300), size = between(1, 40);
        const Field first = field_of(n, 1, any_width(), (u64)rows), none = {0};
        CALL_WIDEST(histogram, first, byte() % 2 ? field_of(n, 1, any_width(), (u64)size) : none, n, (u64)size,
                    (u64)(rows * size), numbers(rows * size, 8, 1 << 20));
        break;
    }
    case 23: {
        /* GF(2^t) by its tables; those are not the caller's. */
        static const u64 moduli[] = {7, 0xB, 0x13, 0x25};
        const i64 t = between(2, 5), n = reports_of(32), rows = between(1, 50), size = (i64)1 << t;
        i64 *powers = room(16 * (size - 1)), *logarithms = numbers(size, 8, 1);
        i64 order = 0;
        for (u64 generator = 2; order < size - 1; generator++) {
            u64 power = 1;
            order = 0;
            do {
                powers[order] = powers[order + size - 1] = (i64)power;
                u64 product = 0;
                for (int j = (int)t - 1; j >= 0; j--) {
                    product <<= 1;
                    if (product >> t) product ^= moduli[t - 2];
                    if (generator >> j & 1) product ^= power;
                }
                power = product;
                order++;
            } while (power != 1 && order < size - 1);
        }
        for (i64 i = 0; i < size; i++) logarithms[i] = 0;
        for (i64 i = 0; i < size - 1; i++) logarithms[powers[i]] = i;
        const Field lines = field_of(n, 1, any_width(), (u64)rows), stretches = field_of(n, 1, any_width(), (u64)size);
        CALL(stretched_histogram, lines, stretches, field_of(n, 1, any_width(), (u64)size), n,
             (u64)between(1, size - 1), (u64)size, powers, logarithms, (u64)(rows * size),
             numbers(rows * size, 8, 1 << 20));
        break;
    }
    case 24: {
        const i64 t = between(1, 16), n = reports_of(16 * t), cells = between(1, 3000);
        const Field rows = field_of(n, t, any_width(), (u64)cells), hashes = field_of(n, 1, any_width(), 0);
        CALL(sign_sums, rows, hashes, n, t, (u64)cells, numbers(cells, 8, 1 << 20));
        break;
    }
    case 25: {
        const i64 columns = between(1, 5), n = reports_of(16 * columns);
        u64 found[2] = {UINT64_MAX, 0};
        CALL_WIDEST(extremes, field_of(n, columns, any_width(), 0), n, columns, found);
        break;
    }
    case 26: {
        const i64 cohorts = between(1, 6), block = (i64)1 << between(0, 12), cells = block * between(1, 3);
        const i64 parents = between(0, 8), children = between(1, block), rows = between(1, 4);
        const i64 kinds = between(1, 256), found = between(0, 200);
        CALL(promising_children, numbers(cohorts * cells, 2, 1000), cohorts, cells,
             numbers(cohorts * parents, 8, (u64)(cells - block + 1)), numbers(cohorts * parents, 8, (u64)block),
             parents, block, numbers(rows * children, 1, (u64)kinds), rows, children, numbers(parents, 8, (u64)rows),
             numbers(parents * kinds, 4, 2000), kinds, (i32)between(0, 700), room(4 * found), room(4 * found), found);
        break;
    }
    case 27: {
        const i64 n = reports_of(16), count = between(1, 300);
        CALL(group_order, field_of(n, 1, any_width(), (u64)count), n, count, room(8 * n), room(8 * (count + 1)));
        break;
    }
    case 28: {
        const i64 size = between(0, 40), n = reports_of(size), m = n ? between(0, 300) : 0;
        CALL(take_rows, field_of(n, size, 1, 0), n, size, numbers(m, 8, (u64)n), m, room(m * size));
        break;
    }
    case 29: {
        const i64 size = between(0, 40), zeros = between(0, 9), n = reports_of(size), m = between(0, 300);
        CALL(put_rows, numbers(m * size, 1, 0), size, zeros, numbers(m, 8, (u64)n), m,
             field_of(n, size + zeros, 1, 0), n);
        break;
    }
    case 30: {
        const i64 n = reports_of(16), m = between(-1, 300);
        CALL(uniform_choice, field_of(n, 1, 8, 0), n, numbers(m < 0 ? 0 : m, 8, (u64)n), m, (u64)between(1, 1 << 20),
             room(8 * (m < 0 ? n : m)), redo, redos);
        break;
    }
    case 31: {
        const i64 size = between(1, 200), row = (size + 7) / 8, n = reports_of(row), count = between(1, 20);
        CALL(channel_bitmaps, field_of(n, 1, any_width(), (u64)count), field_of(n, row, 1, 0), n, count, size,
             numbers(count * size, 8, 1 << 20));
        break;
    }
    case 32: {
        const i64 t = between(1, 8), bits = between(0, 9), n = reports_of(64 << t >> 3), count = between(1, 20);
        const Field rows = field_of(n, t, any_width(), (u64)1 << bits);
        CALL(channel_products, field_of(n, 1, any_width(), (u64)count), rows, field_of(n, 1, any_width(), 0), n, count,
             bits, t, numbers(count << bits, 8, 0));
        break;
    }
    case 33: {
        /* Some widths through subsets and some through signs, and records as long as the longest. */
        const i64 count = between(1, 8), length = between(2, 5000), n = reports_of(120);
        u64 *parts = room(8 * COLUMNS * count), end = 0;
        i64 longest = 0, words = 0;
        for (i64 p = 0; p < count; p++) {
            u64 *part = parts + COLUMNS * p;
            const i64 subsets = byte() % 2, size = subsets ? between(2, FEW_BLOCKS) : between(65, 5000);
            const i64 w = subsets ? between(1, size - 1) : 0, t = subsets ? 0 : between(1, 8);
            const i64 bits = subsets ? 0 : 64 - __builtin_clzll((u64)size - 1), bytes_each = bits > 8 ? 2 : 1;
            end += (u64)between(1, 100);
            const u64 made[COLUMNS] = {end, (u64)between(1, 256), (u64)between(1, 9), (u64)between(1, length),
                                       (u64)size, (u64)size, word(), (u64)w, (u64)t, (u64)bits, (u64)bytes_each};
            memcpy(part, made, sizeof made);
            const i64 record = 2 + (subsets ? (size + 7) / 8 : t * bytes_each + 1), drawn = 3 + (subsets ? w : t + 1);
            longest = record > longest ? record : longest;
            words = drawn > words ? drawn : words;
        }
        CALL(block_response, numbers(n, 8, (u64)length), numbers(n * words, 8, 0), n, words, (u64)length, parts, count,
             room(n * longest), longest, redo, redos);
        break;
    }
    }
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size) {
    bytes = data;
    left = size;
    state = 0x5EED + size;
    holding = 0;
    if (size) call(byte() % KERNELS);
    while (holding) free(held[--holding]);
    return 0;
}

#ifndef LIBFUZZER
int main(int count, char **given) {
    const long long wanted = count > 1 ? atoll(given[1]) : 20000;
    u64 seed = (count > 2 ? strtoull(given[2], NULL, 10) : 1) * 0x9E3779B97F4A7C15u | 1;
    for (long long run = 0; run < wanted; run++) {
        u8 input[256];
        for (int i = 0; i < 256; i++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            input[i] = (u8)(seed >> 32);
        }
        input[0] = (u8)(run % KERNELS);
        LLVMFuzzerTestOneInput(input, sizeof input);
    }
    printf("%lld calls of %d kernels, nothing found\n", wanted, KERNELS);
    return 0;
}
#endif
