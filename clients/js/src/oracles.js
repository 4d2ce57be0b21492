// The oracles of the catalogue: one value of a domain, randomized.

import { answering, bitmapped, field, inside, ratioOf, respondRatio, responding } from "./core.js";
import { bitLength, choice, fraction, itemsOf, reject, seed, sizeOf, splitOf, threshold, whole, WORD } from "./documents.js";
import { halves, key64, localHash, parity } from "./hashing.js";

/** @typedef {import("./documents.js").Document} Document */
/** @typedef {import("./documents.js").Source} Source */
/** @typedef {import("./documents.js").Randomizer} Randomizer */
/** @typedef {(scheme: Document) => Randomizer} Scheme */

/** @param {Document} scheme */
const keepOf = (scheme) => scheme.read("keep", threshold);

/** @type {Scheme} */
const direct = (scheme) => responding(sizeOf(scheme), [], sizeOf(scheme), keepOf(scheme), (value) => value);

/** @type {Scheme} */
const unary = (scheme) => {
  const [size, keep, flip] = [sizeOf(scheme), keepOf(scheme), scheme.read("flip", threshold)];
  // Two values differ in two bits, and each contributes its odds ratio once.
  return bitmapped(ratioOf(keep * (WORD - flip), flip * (WORD - keep)), size, size, (value, source) => {
    inside(value, size);
    return (i) => source.bernoulli(i === value ? keep : flip);
  });
};

/** @type {Scheme} */
const thresholded = (scheme) => {
  const [a, b] = scheme.read("threshold", fraction(1n));
  return 2n * a < b || a >= b ? reject("threshold") : unary(scheme);
};

// The client draws the public number of a hash function; `seedOf` finds the function of that number.
/** @type {(scheme: Document, functions: number | bigint, seedOf: (number: any) => bigint) => Randomizer} */
const hashing = (scheme, functions, seedOf) => {
  const size = scheme.read("hash_range", whole(2, scheme.kind === "BLH" ? 2 : 2 ** 16));
  const split = splitOf(scheme);
  return responding(itemsOf(scheme), [functions], size, keepOf(scheme), (value, [number]) =>
    localHash(seedOf(number), value, split, size),
  );
};

/** @type {Scheme} */
const localHashing = (scheme) => hashing(scheme, WORD, (number) => number);

/** @type {Scheme} */
const fastLocalHashing = (scheme) => {
  const hashSeed = scheme.read("hash_seed", seed);
  return hashing(scheme, scheme.read("hashes", whole(1, 2 ** 24)), (number) => key64(field(number, WORD), hashSeed, "FLH seed"));
};

/** @type {Scheme} */
const hadamardMechanism = (scheme) => {
  const [items, coefficients, keep] = [sizeOf(scheme), scheme.read("coefficients", whole(1, 8)), keepOf(scheme)];
  const order = 2 ** bitLength(items - 1);
  // A value from `order` on is negative: all its signs are reversed.
  const below = (/** @type {number} */ most) =>
    responding(most, new Array(coefficients).fill(order), 2 ** coefficients, keep, (value, rows) =>
      rows.reduce((signs, row, j) => signs | ((parity(row & (value % order)) ^ +(value >= order)) << j), 0),
    );
  return { ...below(items), signed: items === order ? below(2 * order) : undefined };
};

/** @type {Scheme} */
const hadamardResponse = (scheme) => {
  const [items, blocks] = [sizeOf(scheme), scheme.read("blocks", whole(1, 2 ** 32))];
  scheme.read("variant", choice(blocks === 1 ? "pure" : "block"));
  // A code for every item among the rows: else records would leave the range that the ratio speaks of.
  const order = scheme.read("order", choice(2 ** bitLength(Math.ceil(items / blocks))));
  const [keep, rows] = [keepOf(scheme), blocks * order];
  if (blocks & (blocks - 1) || rows > 2 ** 32) reject("blocks");
  return answering(items, [], rows, respondRatio(2 * blocks, keep), (value) => value, 3, (source, value) => {
    const [code, own] = [Math.floor(value / blocks) + 1, value % blocks];
    const [kept, part, row] = [source.bernoulli(keep), source.below(2 * blocks - 1), source.below(order)];
    // The complement of the code's half-block: its own other half, and whole blocks.
    const other = (part - 1) >>> 1;
    if (!kept && part) return (other + +(other >= own)) * order + row;
    // Flipping the code's lowest bit flips the parity: two rows to one, so exactly uniform on the half.
    return own * order + ((parity(row & code) === +kept ? row ^ (code & -code) : row) >>> 0);
  });
};

/** @type {Scheme} */
const subsetSelection = (scheme) => {
  const size = sizeOf(scheme);
  const [subset, keep] = [scheme.read("subset_size", whole(1, size - 1)), keepOf(scheme)];
  return bitmapped(respondRatio(size, keep, subset), size, 1 + subset, (value, source) => {
    inside(value, size);
    const [kept, chosen, moved] = [source.bernoulli(keep), new Set(), new Map()];
    // Fisher and Yates over the others; the value takes the last place if kept.
    for (let i = 0; i < subset; i++) {
      const place = i + source.below(size - 1 - i);
      const other = moved.get(place) ?? place;
      moved.set(place, moved.get(i) ?? i);
      chosen.add(kept && i === subset - 1 ? value : other + +(other >= value));
    }
    return (i) => chosen.has(i);
  });
};

// What schemes share that report a hash up to an error, which is below the window or beyond it. All is always drawn.
/** @param {Document} scheme */
const windowed = (scheme) => {
  const bits = scheme.read("hash_bits", whole(1, 12));
  const size = 2 ** bits;
  const [window, keep] = [scheme.read("window", whole(1, size - 1)), keepOf(scheme)];
  /** @param {Source} source @param {number} hashed */
  const answer = (source, hashed) => {
    const kept = source.bernoulli(keep);
    const [near, far] = [source.below(window), window + source.below(size - window)];
    return hashed ^ (kept ? near : far);
  };
  return { bits, size, window, answer, ratio: respondRatio(size, keep, window) };
};

/** @type {Scheme} */
const toeplitzHashing = (scheme) => {
  const { bits, size, answer, ratio } = windowed(scheme);
  const items = itemsOf(scheme);
  // Of a 64-bit key, as many bits as leave the matrix in one word.
  const itemBits = scheme.read("item_bits", choice(items === WORD ? 65 - bits : bitLength(Number(items) - 1)));
  return answering(
    items,
    [1n << BigInt(itemBits + bits - 1)],
    size,
    ratio,
    (value, [matrix]) => {
      const item = BigInt.asUintN(itemBits, BigInt(value));
      let hashed = 0;
      for (let j = 0; j < bits; j++) {
        const [low, high] = halves((matrix >> BigInt(j)) & item);
        hashed |= parity(low ^ high) << j;
      }
      return hashed;
    },
    3,
    answer,
  );
};

// The polynomial of GF(2^t) less X^t, t = 1, 2, ...: bit i is the coefficient of X^i.
const FIELDS = [1, 3, 3, 3, 5, 3, 3, 27, 3, 9, 5, 9];

/** @param {number} a @param {number} b @param {number} bits */
const product = (a, b, bits) => {
  let sum = 0;
  for (; b; b >>= 1) {
    if (b & 1) sum ^= a;
    a <<= 1;
    if (a >> bits) a ^= (1 << bits) | FIELDS[bits - 1];
  }
  return sum;
};

/** @type {Scheme} */
const affineResponse = (scheme) => {
  const { bits, size, window, answer, ratio } = windowed(scheme);
  const [dimension, items] = [scheme.read("dimension", whole(1, Math.floor(64 / bits))), sizeOf(scheme)];
  if (size ** dimension < items) reject("dimension");
  const lines = ((1n << BigInt(bits * dimension)) - 1n) / BigInt(size - 1);
  // A window of several places needs a random stretch: their differences must reach every place alike.
  const made = answering(
    items,
    window > 1 ? [lines, size - 1] : [lines],
    size,
    ratio,
    (value, [line, stretch = 1]) => {
      // The line's point: some free coordinates, then a one.
      let [free, rest, count] = [0, line, 1n];
      for (; rest >= count; count <<= BigInt(bits), free++) rest -= count;
      let hashed = Math.floor(value / size ** free) % size;
      for (let i = 0; i < free; i++)
        hashed ^= product(Number(BigInt.asUintN(bits, rest >> BigInt(bits * i))), Math.floor(value / size ** i) % size, bits);
      return product(stretch, hashed, bits);
    },
    3,
    answer,
  );
  // A stretch is not 0; its field is as wide as that of the numbers below it.
  return { ...made, record: (value, [line, ...less], source) => made.record(value, [line, ...less.map((by) => by + 1)], source) };
};

/** @type {import("./documents.js").Family} */
export const oracles = {
  schemes: {
    DE: direct,
    SUE: unary,
    OUE: unary,
    THE: thresholded,
    BLH: localHashing,
    OLH: localHashing,
    FLH: fastLocalHashing,
    HM: hadamardMechanism,
    HR: hadamardResponse,
    SS: subsetSelection,
    TLH: toeplitzHashing,
    AGR: affineResponse,
  },
};
