/* SLIDE: the whole response of a user, who reports a block of one of several widths. */

/* ---- block_response: a width by weight, an offset, and the oracle's response to the block ------------------------
 *
 * Each part has COLUMNS numbers: the end of its tickets; the number of offsets, their step, the width of a block and the
 * number of blocks; the oracle's number of items, its threshold, the size w of its subset (0 for HM), the number t of
 * its signs, the bits of a row and the bytes of a row. A record is the part, the offset (a byte each) and the oracle's
 * record, filled up with zeros. */

#ifndef PLAUSIBLY_BLOCKS
#define PLAUSIBLY_BLOCKS
enum { COLUMNS = 11, FEW_BLOCKS = 64 };

typedef struct {
    u64 end, step, width, blocks, size, keep, w, t, mask, row_bytes;
    Below offsets, others;     /* of the direct response to a hash */
    Below ranges[FEW_BLOCKS];  /* of the draws of a subset */
    u32 order[2 * FEW_BLOCKS]; /* a permutation for them, and room for the places that change */
} Blocks;

static void blocks_for(Blocks *part, const u64 *given) {
    part->end = given[0];
    part->offsets = below_for(given[1]);
    part->step = given[2];
    part->width = given[3];
    part->blocks = given[4];
    part->size = given[5];
    part->keep = given[6];
    part->w = given[7];
    part->t = given[8];
    part->mask = low_bits((i64)given[9]);
    part->row_bytes = given[10];
    if (part->w) {
        for (u64 i = 0; i < part->w; i++) part->ranges[i] = below_for(part->size - 1 - i);
        for (u32 i = 0; i < FEW_BLOCKS; i++) part->order[i] = i;
    } else {
        part->others = below_for(((u64)1 << part->t) - 1);
    }
}
#endif

/* Write the oracle's record, and return whether a word was refused. */
INLINE TARGET u64 LOCAL(respond_block)(Blocks *part, u64 block, const u64 *word, u8 *record) {
    if (part->w) {
        u64 bits = 0, refused = 0;
        u32 *places = part->order + FEW_BLOCKS;
        for (u64 i = 0; i < part->w; i++) {
            places[i] = (u32)(i + below(part->ranges[i], word[1 + i]));
            refused |= word[1 + i] > part->ranges[i].last;
        }
        LOCAL(shuffle)(block, places, (i64)part->w, word[0] < part->keep, part->order, (u8 *)&bits, 8, 1);
        memcpy(record, &bits, (size_t)((part->size + 7) / 8));
        return refused;
    }
    u64 hash = 0;
    for (u64 j = 0; j < part->t; j++) {
        const u64 row = word[j] & part->mask;
        hash |= LOCAL(parity)(row & block) << j;
        /* Little-endian, and the next row overwrites what is too much. */
        memcpy(record + j * part->row_bytes, &row, 8);
    }
    const u64 *coins = word + part->t, answer = LOCAL(answer)(hash, coins, part->keep, part->others);
    memset(record + part->t * part->row_bytes, 0, 8);
    record[part->t * part->row_bytes] = (u8)answer;
    return coins[1] > part->others.last;
}

/* `words`: W for each report; `record_bytes`: the length of a record. Returns -1 if memory ran out. */
TARGET EXPORT i64 KERNEL(block_response)(const u64 *values, const u64 *words, i64 n, i64 W, u64 length,
                                         const u64 *parts, i64 count, u8 *out, i64 record_bytes, i64 *reports,
                                         i64 room) {
    Redo redo = {reports, room, 0};
    Blocks *made = malloc(sizeof(Blocks) * (size_t)count);
    /* Records are written with up to 16 bytes more than they have. */
    u8 *record = calloc((size_t)record_bytes + 16, 1);
    if (!made || !record) {
        free(made);
        free(record);
        return -1;
    }
    for (i64 p = 0; p < count; p++) blocks_for(made + p, parts + COLUMNS * p);
    const Below tickets = below_for(made[count - 1].end);
    for (i64 i = 0; i < n; i++) {
        const u64 *word = words + i * W, ticket = below(tickets, word[0]);
        u64 number = 0;
        for (i64 p = 0; p < count - 1; p++) number += ticket >= made[p].end;
        Blocks *part = made + number;
        const u64 offset = below(part->offsets, word[1]);
        u64 block = values[i] < length ? (values[i] + offset * part->step) / part->width : part->blocks;
        if (__builtin_expect(block >= part->size, 0)) block = part->size - 1;
        record[0] = (u8)number;
        record[1] = (u8)offset;
        memset(record + 2, 0, (size_t)record_bytes - 2);
        const u64 refused = LOCAL(respond_block)(part, block, word + 2, record + 2);
        memcpy(out + i * record_bytes, record, (size_t)record_bytes);
        redo_if((refused != 0) | (word[0] > tickets.last) | (word[1] > part->offsets.last), i, &redo);
    }
    free(made);
    free(record);
    return redo.count;
}
