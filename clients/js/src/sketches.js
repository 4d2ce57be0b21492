// Sketches: many items in few cells, over any oracle.

import { bitmap, field, fieldBytes, inside, ratioOf } from "./core.js";
import { choice, itemsOf, oracle, reject, seed, splitOf, threshold, whole, WORD } from "./documents.js";
import { key64, localHash } from "./hashing.js";

/** @typedef {import("./documents.js").Document} Document */
/** @typedef {import("./documents.js").Randomizer} Randomizer */

// A public row, and the oracle's report of the value's hash below it.
/** @type {(scheme: Document, rows: number, tag: string, most: number) => Randomizer} */
const overRows = (scheme, rows, tag, most) => {
  const cells = scheme.read("oracle", oracle);
  const signs = scheme.kind === "CS" && scheme.has("signs") && scheme.read("signs", choice("coefficients"));
  // With signs, half of the hashes stand for negative cells, which the coefficients of the oracle take as they are.
  const size = signs ? 2 * cells.size : cells.size;
  if (cells.sketch || !(size <= most) || (scheme.kind === "CS" && cells.size % 2)) reject("oracle");
  const made = signs ? (cells.randomizer.signed ?? reject("signs")) : cells.randomizer;
  const [items, hashSeed, split] = [itemsOf(scheme), scheme.read("hash_seed", seed), splitOf(scheme)];
  return {
    ratio: made.ratio,
    publics: [rows, ...made.publics],
    words: 1 + made.words,
    bytes: fieldBytes(rows) + made.bytes,
    record(value, [row, ...drawn], source) {
      const cell = localHash(key64(field(row, WORD), hashSeed, tag), inside(value, items), split, size);
      return [...field(row, rows), ...made.record(cell, drawn, source)];
    },
  };
};

/** @type {(scheme: Document) => Randomizer} */
const rowSketch = (scheme) => overRows(scheme, scheme.read("rows", whole(1, 2 ** 16)), "row seed", 2 ** 24);

// A public cohort and the whole Bloom filter of the value, each bit wrong with the same probability; or one bit of it.
/** @type {(scheme: Document) => Randomizer} */
const bloom = (scheme) => {
  const [hashes, cohorts] = [scheme.read("hashes", whole(1, 256)), scheme.read("cohorts", whole(1, 2 ** 16))];
  if (scheme.has("oracle"))
    return cohorts * hashes > 2 ** 16 ? reject("cohorts") : overRows(scheme, cohorts * hashes, "bloom", 2 ** 16);
  const [bits, keep] = [scheme.read("bits", whole(2, 2 ** 16)), scheme.read("keep", threshold)];
  const [items, hashSeed, split] = [itemsOf(scheme), scheme.read("hash_seed", seed), splitOf(scheme)];
  const differ = BigInt(Math.min(2 * hashes, bits)); // bits in which two filters may differ
  return {
    ratio: ratioOf(keep ** differ, (WORD - keep) ** differ),
    publics: [cohorts],
    words: 1 + bits,
    bytes: fieldBytes(cohorts) + Math.ceil(bits / 8),
    record(value, [cohort], source) {
      inside(value, items);
      const ones = new Set();
      for (let j = 0; j < hashes; j++)
        ones.add(localHash(key64(field(cohort * hashes + j, WORD), hashSeed, "bloom"), value, split, bits));
      return [...field(cohort, cohorts), ...bitmap(bits, (i) => source.bernoulli(ones.has(i) ? keep : WORD - keep))];
    },
  };
};

/** @type {import("./documents.js").Family} */
export const sketches = { schemes: { CM: rowSketch, CS: rowSketch, BLOOM: bloom } };
