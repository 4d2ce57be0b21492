/* What this x86-64 processor and its operating system can do.
 *
 * __builtin_cpu_supports would answer, too, but it needs a variable of the compiler's own library, which cross compilers
 * do not put into a shared library. */

#include <cpuid.h>

INLINE int has(unsigned flags, int bit) { return flags >> bit & 1; }

/* Whether the operating system saves these parts of the registers: bits of XCR0. */
static int saves(unsigned parts) {
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & parts) == parts;
}

static int has_avx2(void) {
    enum { POPCNT = 23, OSXSAVE = 27, AVX = 28, AVX2 = 5, UPPER_HALVES = 0x06 };
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
    if (!(has(c, POPCNT) && has(c, OSXSAVE) && has(c, AVX))) return 0;
    if (!saves(UPPER_HALVES)) return 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && has(b, AVX2);
}

/* Of a processor that has AVX2. VBMI2 is not used: it marks the processors that do not slow down for vectors of 64 bytes
 * (since Ice Lake and Zen 4). */
INLINE int has_avx512(void) {
    enum { F = 16, DQ = 17, BW = 30, VL = 31, VBMI2 = 6, MASKS_AND_VECTORS = 0xE6 };
    unsigned a, b, c, d;
    if (!saves(MASKS_AND_VECTORS) || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
    return has(b, F) && has(b, DQ) && has(b, BW) && has(b, VL) && has(c, VBMI2);
}
