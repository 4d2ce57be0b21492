/* Yardsticks in plain C, compiled for this very machine when the benchmark runs (-O3 -march=native). */

#include <stdint.h>

typedef uint32_t lanes __attribute__((vector_size(32)));
typedef uint64_t wide __attribute__((vector_size(32)));

/* DRAM read: the sum of all words, so that none of the reads can be left out. Four sums hide the latency of adding. */
uint64_t read_words(const uint64_t *words, int64_t count) {
    wide sums[4] = {{0}, {0}, {0}, {0}};
    const wide *at = (const wide *)words;
    for (int64_t i = 0; i + 4 <= count / 4; i += 4)
        for (int k = 0; k < 4; k++) sums[k] += at[i + k];
    const wide total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    return total[0] + total[1] + total[2] + total[3];
}

static uint32_t premix(uint32_t j) {
    j = (j ^ j >> 16) * 0x21F0AAADu;
    j = (j ^ j >> 15) * 0xD35A2D97u;
    return j ^ j >> 15;
}

/* Local hashing with a mixing hash, the best loop known for it: the hash of x under (first, second) is
 *   z = ((premix(x) ^ first) * A; z ^= z >> 15; z = (z ^ second) * B; h = floor(z * g / 2^32),
 * and h = y is tested as an interval of z, low <= z < low + width, without computing h. Values stay in registers
 * while the reports pass by. d is a multiple of 32; counts come in as zeros. */
void mixing_support(const uint64_t *seeds, const uint32_t *hashes, int64_t n, int64_t d, uint32_t g,
                    uint32_t *low, uint32_t *width, uint32_t *counts) {
    for (int64_t i = 0; i < n; i++) {
        const uint64_t begin = (((uint64_t)hashes[i] << 32) + g - 1) / g;
        const uint64_t end = (((uint64_t)(hashes[i] + 1) << 32) + g - 1) / g;
        low[i] = (uint32_t)begin;
        width[i] = (uint32_t)(end - begin);
    }
    for (int64_t x = 0; x < d; x += 32) {
        lanes value[4], count[4] = {{0}, {0}, {0}, {0}};
        for (int k = 0; k < 4; k++)
            for (int j = 0; j < 8; j++) value[k][j] = premix((uint32_t)(x + 8 * k + j));
        for (int64_t i = 0; i < n; i++) {
            const uint32_t first = (uint32_t)seeds[i], second = (uint32_t)(seeds[i] >> 32);
            for (int k = 0; k < 4; k++) {
                lanes z = (value[k] ^ first) * 0x21F0AAADu;
                z ^= z >> 15;
                z = (z ^ second) * 0xD35A2D97u;
                count[k] -= (lanes)(z - low[i] < width[i]); /* a true comparison is -1 */
            }
        }
        for (int k = 0; k < 4; k++)
            for (int j = 0; j < 8; j++) counts[x + 8 * k + j] += count[k][j];
    }
}
