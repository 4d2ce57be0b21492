// Schemes that use the order of the values: blocks at sliding offsets, trees, the square wave, one bit for the mean.

import { answering, grouped, inside, numbered, ratioOf, respondRatio, weightsOf } from "./core.js";
import { bitLength, list, oracle, reject, sizeOf, threshold, whole, WORD } from "./documents.js";

/** @typedef {import("./documents.js").Document} Document */
/** @typedef {import("./documents.js").Randomizer} Randomizer */
/** @typedef {import("./documents.js").Oracle} Oracle */

const MOST_OFFSETS = 256;

/** @type {(scheme: Document) => Randomizer} */
const squareWave = (scheme) => {
  const size = sizeOf(scheme);
  const [near, keep] = [2 * scheme.read("reach", whole(0, size)) + 1, scheme.read("keep", threshold)];
  const [places, ratio] = [size + near - 1, respondRatio(size + near - 1, keep, near)];
  return answering(size, [], places, ratio, (value) => value, 3, (source, value) => {
    const kept = source.bernoulli(keep);
    const [by, far] = [source.below(near), source.below(size - 1)];
    return kept ? value + by : far < value ? far : far + near;
  });
};

// 1 with a probability that grows linearly with the place of the value; without places, item x is at x.
/** @type {(scheme: Document) => Randomizer} */
const oneBit = (scheme) => {
  const [size, first, step] = [sizeOf(scheme), scheme.read("first", threshold), scheme.read("step", threshold)];
  const places = scheme.has("places") ? scheme.read("places", list(whole(0, 2 ** 40))) : undefined;
  if (places && (places.length !== size || places.some((place, i) => place < places[i - 1]))) reject("places");
  /** @param {number} value */
  const chance = (value) => first + step * BigInt(places ? places[value] : value);
  const last = chance(size - 1);
  if (last >= WORD) reject("step");
  // The first and the last item differ most, for a 1 and for a 0.
  const [one, none] = [ratioOf(last, first), ratioOf(WORD - first, WORD - last)];
  return {
    ratio: one[0] * none[1] > none[0] * one[1] ? one : none,
    publics: [],
    words: 1,
    bytes: 1,
    record: (value, _, source) => [Number(source.bernoulli(chance(inside(value, size))))],
  };
};

// A public group for each oracle. `part` says what an oracle reports, and the number of its items; undefined if refused.
/** @type {(scheme: Document, part: (teller: Oracle, i: number, count: number) => (Randomizer & { item: (value: number) => number }) | false) => Randomizer} */
const levels = (scheme, part) => {
  const [items, tellers] = [sizeOf(scheme), scheme.read("oracles", list(oracle))];
  if (tellers.length > 256) reject("oracles");
  const made = grouped(tellers.map((teller, i) => [part(teller, i, tellers.length) || reject("oracles")]), weightsOf(scheme));
  return { ...made, record: (value, drawn, source) => made.record(inside(value, items), drawn, source) };
};

// A public width, a public offset, and the block of the value. Items from `length` on are blocks of their own.
/** @type {(scheme: Document) => Randomizer} */
const slide = (scheme) => {
  const items = sizeOf(scheme);
  const length = scheme.read("length", whole(Math.max(2, items - 1), items));
  const widths = scheme.read("widths", list(whole(1, length)));
  return levels(scheme, ({ sketch, size, randomizer }, i, count) => {
    const width = widths[i];
    const step = Math.ceil(width / MOST_OFFSETS);
    const [offsets, blocks] = [width / step, Math.floor((length - 1 + width - step) / width) + 1];
    return (
      count === widths.length &&
      !sketch &&
      !(width % step) &&
      size === blocks + items - length && {
        ...numbered(offsets, randomizer, (value, offset) =>
          value < length ? Math.floor((value + offset * step) / width) : blocks + value - length,
        ),
        item: (value) => value,
      }
    );
  });
};

// A public level of a tree, and the block of the value.
/** @type {(scheme: Document) => Randomizer} */
const hierarchy = (scheme) => {
  const [items, branching] = [sizeOf(scheme), scheme.read("branching", whole(2, 2 ** 16))];
  return levels(scheme, ({ sketch, size, randomizer }, level, count) => {
    const [width, all] = [branching ** level, branching ** count];
    const fits = !sketch && items <= all && items > all / branching && size === Math.ceil(items / width);
    return fits && { ...randomizer, item: (value) => Math.floor(value / width) };
  });
};

// A public level, and the block of the value, negative in the right half of the block.
/** @type {(scheme: Document) => Randomizer} */
const haar = (scheme) => {
  const depth = bitLength(sizeOf(scheme) - 1);
  return levels(scheme, ({ size, randomizer: { signed } }, level, count) => {
    const half = 2 ** level;
    /** @param {number} value */
    const item = (value) => Math.floor(value / half / 2) + (Math.floor(value / half) % 2) * size;
    return !!signed && count === depth && size === Math.max(2, 2 ** (depth - 1 - level)) && { ...signed, item };
  });
};

/** @type {import("./documents.js").Family} */
export const orderedSchemes = { schemes: { SLIDE: slide, SW: squareWave, MEAN: oneBit, HH: hierarchy, HAAR: haar } };
