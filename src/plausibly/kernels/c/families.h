/* All kernels for one instruction set. native.c includes this file once for each, with LANES (bytes in a vector), TARGET
 * and SET (the suffix of the exported names) defined. A family may use the definitions of those above it. */

#include "vectors.h"
#include "direct.h"
#include "counting.h"
#include "local_hashing.h"
#include "subset.h"
/* What follows gains nothing from vectors of 64 bytes: native.py takes the next narrower set. */
#if LANES < 64
#include "bitmaps.h"
#include "hadamard.h"
#include "linear_hashing.h"
#include "keys.h"
#include "search.h"
#include "groups.h"
#include "blocks.h"
#endif

#undef v8
#undef v16
#undef v32
#undef v64
#undef v32_at
#undef v64_at
#undef WORDS
#undef LONGS
#undef LANES
#undef SET
#undef TARGET
