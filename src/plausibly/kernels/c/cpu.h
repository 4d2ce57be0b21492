/* What this x86-64 processor and its operating system can do.
 *
 * __builtin_cpu_supports would answer, too, but it needs a variable of the compiler's own library, which cross compilers
 * do not put into a shared library. */

#include <cpuid.h>

INLINE int has(unsigned flags, int bit) { return flags >> bit & 1; }

/* Whether the operating system saves the upper halves of the vector registers: bits 1 and 2 of XCR0. */
static int saves_wide_registers(void) {
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & 6) == 6;
}

static int has_avx2(void) {
    enum { POPCNT = 23, OSXSAVE = 27, AVX = 28, AVX2 = 5 };
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
    if (!(has(c, POPCNT) && has(c, OSXSAVE) && has(c, AVX))) return 0;
    if (!saves_wide_registers()) return 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && has(b, AVX2);
}
