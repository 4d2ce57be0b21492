// Users who report again and again: a lasting hash function, a memo that follows from one key, and fresh answers.

import { answering, bitmapped, field, inside, ratioOf, respond, respondRatio, sourceOf } from "./core.js";
import { bitLength, expectWithin, fraction, refuse, sizeOf, text, threshold, whole, WORD } from "./documents.js";
import { blake2s, parity } from "./hashing.js";

/** @typedef {import("./documents.js").Document} Document */
/** @typedef {import("./documents.js").Randomizer} Randomizer */
/** @typedef {import("./documents.js").Ratio} Ratio */
/** @typedef {import("./documents.js").Source} Source */

/** The digest of 32 bytes of BLAKE2s under a key of 32 bytes.
 * @param {ArrayLike<number>} key @param {string} purpose @param {ArrayLike<number>} content */
const keyed = (key, purpose, content) =>
  blake2s([...Array.from(key), ...new Array(32).fill(0), ...Array.from(content)], 0n, purpose, 0x01012020);

/** The words of BLAKE2s under a key, of (number, 0), (number, 1), …: four from each.
 * @param {number[]} key @param {string} purpose @param {number} number */
const lasting = (key, purpose, number) => {
  /** @type {bigint[]} */
  let words = [];
  let block = 0;
  return sourceOf(() => {
    if (!words.length) {
      const state = keyed(key, purpose, [...field(number, WORD), ...field(block++, WORD)]);
      words = [0, 2, 4, 6].map((i) => (BigInt(state[i + 1]) << 32n) | BigInt(state[i]));
    }
    return /** @type {bigint} */ (words.shift());
  });
};

/**
 * A scheme with a memo: `cell` of a value, the lasting `entry` of a cell, and the record of an `answer` from an entry.
 * `subject`: everything that the memo depends on; if that changes, the entries must be independent of the old ones.
 * @param {Document} scheme @param {string} subject @param {Ratio} memoRatio @param {Ratio} ratio @param {Randomizer} answer
 * @param {number} words of an entry @param {number} entries that the values of one user can open, at most
 * @param {(value: any, drawn: any[]) => number} cell @param {(cell: number, source: Source) => any} entry
 * @returns {Randomizer}
 */
const memoised = (scheme, subject, memoRatio, ratio, answer, words, entries, cell, entry) => {
  const epsilon = scheme.read("memo_epsilon", fraction(1000n));
  expectWithin(memoRatio, epsilon);
  /** @type {Randomizer} */
  const once = {
    ...answer,
    ratio,
    subject,
    price: [epsilon[0] * BigInt(entries), epsilon[1]],
    words: answer.words + words,
    record: (value, drawn, source) => answer.record(entry(cell(value, drawn), source), drawn, source),
    remember(memo, limit) {
      if (epsilon[0] * limit[1] > limit[0] * epsilon[1]) refuse("expected a lower epsilon of the memo");
      if (memo === "once") return once;
      const { key, series } = memo ?? {};
      if (!(key instanceof Uint8Array) || key.length !== 32 || !text(series, scheme.known, ""))
        refuse('memo: expected a key of 32 bytes and a series, or "once" for a user who never reports again');
      const state = keyed(key, "series", new TextEncoder().encode(`${subject}\n${series}`));
      const own = Array.from(state).flatMap((word) => field(word, 2 ** 32));
      const source = lasting(own, "hash", 0);
      const rows = answer.publics.map((size) => source.below(size));
      return {
        ...once,
        words: answer.words - rows.length,
        draw: () => rows,
        record(value, drawn, fresh) {
          const place = cell(value, drawn);
          return answer.record(entry(place, lasting(own, "memo", place)), drawn, fresh);
        },
      };
    },
  };
  return once;
};

/** @param {Document} scheme */
const keeps = (scheme) => [scheme.read("memo_keep", threshold), scheme.read("keep", threshold)];

/** @type {(scheme: Document) => Randomizer} */
const hashing = (scheme) => {
  const [items, bits, [memoKeep, keep]] = [sizeOf(scheme), scheme.read("hash_bits", whole(1, 8)), keeps(scheme)];
  const [order, size, others] = [2 ** bitLength(items - 1), 2 ** bits, 2n ** BigInt(bits) - 1n];
  // Of the cell itself and of each other one, over both responses.
  const own = memoKeep * keep * others + (WORD - memoKeep) * (WORD - keep);
  const ratio = ratioOf(own * others, WORD * WORD * others - own);
  const rows = new Array(bits).fill(order);
  return memoised(
    scheme,
    `LOLOHA ${items} ${bits} ${memoKeep}`,
    respondRatio(size, memoKeep),
    ratio,
    answering(size, rows, size, ratio, (entry) => entry, 2, (source, entry) => respond(source, entry, size, keep)),
    2,
    Math.min(size, items),
    (value, drawn) => drawn.reduce((cell, row, j) => cell | (parity(row & inside(value, items)) << j), 0),
    (cell, source) => respond(source, cell, size, memoKeep),
  );
};

/** @type {(scheme: Document) => Randomizer} */
const unary = (scheme) => {
  const [size, [memoKeep, keep], memoFlip] = [sizeOf(scheme), keeps(scheme), scheme.read("memo_flip", threshold)];
  /** @type {(on: bigint, off: bigint, all: bigint) => Ratio} */
  const odds = (on, off, all) => ratioOf(on * (all - off), off * (all - on));
  const [own, other] = [memoKeep, memoFlip].map((on) => on * keep + (WORD - on) * (WORD - keep));
  const ratio = odds(own, other, WORD * WORD);
  return memoised(
    scheme,
    `unary ${size} ${memoKeep} ${memoFlip}`,
    odds(memoKeep, memoFlip, WORD),
    ratio,
    bitmapped(ratio, size, size, (entry, source) => (i) => source.bernoulli(entry[i] ? keep : WORD - keep)),
    size,
    size,
    (value) => inside(value, size),
    (cell, source) => Array.from({ length: size }, (_, i) => source.bernoulli(i === cell ? memoKeep : memoFlip)),
  );
};

/** @type {import("./documents.js").Family} */
export const memos = { schemes: { LOLOHA: hashing, LOSUE: unary, LSUE: unary } };
