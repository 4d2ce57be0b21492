// Sketches: many items in few cells, over any oracle.

import { bitmapped, field, inside, numbered, ratioOf } from "./core.js";
import { choice, itemsOf, oracle, reject, seed, splitOf, threshold, whole, WORD } from "./documents.js";
import { key64, localHash } from "./hashing.js";

/** @typedef {import("./documents.js").Document} Document */
/** @typedef {import("./documents.js").Randomizer} Randomizer */

/** The hash of a value by the function of a number. @param {Document} scheme @param {string} tag @param {number} size */
const hashesOf = (scheme, tag, size) => {
  const [hashSeed, split] = [scheme.read("hash_seed", seed), splitOf(scheme)];
  /** @param {any} value @param {number} number */
  return (value, number) => localHash(key64(field(number, WORD), hashSeed, tag), value, split, size);
};

// A public row, and the oracle's report of the value's hash below it.
/** @type {(scheme: Document, rows: number, tag: string, most: number) => Randomizer} */
const overRows = (scheme, rows, tag, most) => {
  const cells = scheme.read("oracle", oracle);
  const signs = scheme.kind === "CS" && scheme.has("signs") && scheme.read("signs", choice("coefficients"));
  // With signs, half of the hashes stand for negative cells, which the coefficients of the oracle take as they are.
  const size = signs ? 2 * cells.size : cells.size;
  if (cells.sketch || !(size <= most) || (scheme.kind === "CS" && cells.size % 2)) reject("oracle");
  const made = signs ? (cells.randomizer.signed ?? reject("signs")) : cells.randomizer;
  const [items, hashed] = [itemsOf(scheme), hashesOf(scheme, tag, size)];
  return numbered(rows, made, (value, row) => hashed(inside(value, items), row));
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
  const [items, hashed] = [itemsOf(scheme), hashesOf(scheme, "bloom", bits)];
  const differ = BigInt(Math.min(2 * hashes, bits)); // bits in which two filters may differ
  const made = bitmapped(ratioOf(keep ** differ, (WORD - keep) ** differ), bits, bits, (ones, source) => (i) =>
    source.bernoulli(ones.has(i) ? keep : WORD - keep),
  );
  return numbered(cohorts, made, (value, cohort) => {
    inside(value, items);
    return new Set(Array.from({ length: hashes }, (_, j) => hashed(value, cohort * hashes + j)));
  });
};

/** @type {import("./documents.js").Family} */
export const sketches = { schemes: { CM: rowSketch, CS: rowSketch, BLOOM: bloom } };
