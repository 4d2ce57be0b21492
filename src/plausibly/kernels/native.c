/* The hot loops of plausibly. The readable specification of each kernel is its NumPy twin in reference.py;
 * the two agree bit for bit.
 *
 * No Python.h, no state, no randomness: the caller passes C-contiguous, aligned arrays of the right type and length,
 * fields of packed records, and parameters of a valid scheme. The *content* of the arrays is not trusted, because
 * somebody may change it after the check: for any bytes, every kernel stays within its arrays. A kernel that adds
 * reports to cells loads each number once, skips reports that are out of range, and returns how many it skipped.
 * Vectors are those of the GCC and Clang vector extension, not intrinsics.
 *
 * The kernels are in c/, one file for each family of oracles. They are compiled once for each instruction set, because
 * the width of a vector is part of its type: 32-byte vectors emulated on SSE2 would be ten times slower than 16-byte
 * ones.
 * native.py asks plausibly_instruction_set() once and then calls plausibly_<kernel>_<set>. */

#include "c/base.h"
#include "c/hash.h"

#ifndef PLAUSIBLY_DIGEST
#define PLAUSIBLY_DIGEST "unknown"
#endif

/* Digest of all source files, as computed by sources.py. */
EXPORT const char *plausibly_digest(void) { return PLAUSIBLY_DIGEST; }

#define LANES 16
#define SET baseline
#define TARGET
#include "c/families.h"

/* GCC for Windows does not align the stack for 32-byte vectors; Clang does. */
#if defined(__x86_64__) && (defined(__clang__) || (defined(__GNUC__) && !defined(_WIN32)))
#include "c/cpu.h"

#define LANES 32
#define SET avx2
#define TARGET __attribute__((target("avx2,popcnt")))
#include "c/families.h"

/* Only by GCC: we have not measured this set with another compiler. */
#if !defined(__clang__) && __GNUC__ >= 9
#define LANES 64
#define SET avx512
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,popcnt,prefer-vector-width=512")))
#include "c/families.h"
#define WIDEST (has_avx512() ? "avx512" : "avx2")
#else
#define WIDEST "avx2"
#endif

EXPORT const char *plausibly_instruction_set(void) { return has_avx2() ? WIDEST : "baseline"; }
#else
EXPORT const char *plausibly_instruction_set(void) { return "baseline"; }
#endif
