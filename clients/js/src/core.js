// Loading a scheme, and the random words: what all clients need. The twin of device.py, in parts that a page can choose.

import {
  DeviceError,
  WORD,
  documentOf,
  flag,
  list,
  madeOf,
  refuse,
  reject,
  seed,
  stepsOf,
  text,
  whole,
} from "./documents.js";
import { key64 } from "./hashing.js";

/** @typedef {import("./documents.js").Document} Document */
/** @typedef {import("./documents.js").Family} Family */
/** @typedef {import("./documents.js").Randomizer} Randomizer */
/** @typedef {import("./documents.js").Ratio} Ratio */
/** @typedef {import("./documents.js").Source} Source */

/**
 * @typedef {object} Policy what the application allows
 * @property {number | string} [maxEpsilon] the largest epsilon of one report, a number or text such as "1/3"; 8
 * @property {boolean} [total] false accepts a domain that refuses some values
 * @property {"once" | { key: Uint8Array, series: string }} [memo] of a scheme with a memo: 32 random bytes that the page
 *   keeps, and the application's name of the question; "once" for a user who never reports again
 *
 * @typedef {object} Client a scheme on a device
 * @property {string} name
 * @property {Ratio} epsilon
 * @property {(value: any) => any} encode
 * @property {Randomizer & { draw: (source: Source) => any[] }} randomizer
 * @property {(value: any, source?: Source) => Uint8Array<ArrayBuffer>} privatize the record of one randomized report
 */

// What one report may cost a device: random words, and bytes to send. What a document may cost to read.
const MOST_WORDS = 2 ** 21;
const MOST_BYTES = 2 ** 20;
const MOST_CHARACTERS = 2 ** 25;
// One piece of text before the first bracket, and one after each.
const MOST_PIECES = 1 + 2 ** 20;
// The browser refuses to give more than 65,536 random bytes at once.
const WORDS_AT_ONCE = 8192;

/** The two primitives over words. @param {() => bigint} next @returns {Source} */
export const sourceOf = (next) => ({
  bernoulli: (threshold) => next() < threshold,
  below(size) {
    const range = BigInt(size);
    const limit = WORD - (WORD % range);
    let word = next();
    while (word >= limit) word = next();
    return size.constructor(word % range);
  },
});

/** The two primitives over words of the browser's secure generator, all drawn at once. @param {number} count */
export const wordSource = (count) => {
  const words = new BigUint64Array(count);
  for (let i = 0; i < count; i += WORDS_AT_ONCE) crypto.getRandomValues(words.subarray(i, i + WORDS_AT_ONCE));
  let used = 0;
  // Only a repeated draw needs more words.
  return sourceOf(() => words[used++] ?? crypto.getRandomValues(new BigUint64Array(1))[0]);
};

// --- shared by the families -----------------------------------------------------------------------------------

/** @returns {never} */
export const outside = () => refuse("expected a value of the domain");

/**
 * The value, if it is one. The last line of defence: a value that the randomizer was not made for could be sent as it is.
 * @param {any} value @param {number | bigint} items
 */
export const inside = (value, items) => (value >= 0 && value < items ? value : outside());

/** Bytes of the smallest field that holds every number below `count`. @param {number | bigint} count @returns {number} */
export const fieldBytes = (count) => [1, 2, 4].find((bytes) => count <= 2 ** (8 * bytes)) ?? 8;

/** A number as bytes, the lowest first. @param {number | bigint} number @param {number | bigint} count */
export const field = (number, count) =>
  Array.from({ length: fieldBytes(count) }, (_, i) => Number((BigInt(number) >> BigInt(8 * i)) & 255n));

/** @param {bigint} a @param {bigint} b @returns {Ratio} the larger over the smaller */
export const ratioOf = (a, b) => (a < b ? [b, a] : [a, b]);

/** `among` equally likely answers share the probability of keeping, the others the rest.
 * @param {number} size @param {bigint} keep @param {number} [among] */
export const respondRatio = (size, keep, among = 1) =>
  ratioOf(keep * BigInt(size - among), (WORD - keep) * BigInt(among));

/** A bit for each of `size` items; `bits` says of a value which are set.
 * @param {Ratio} ratio @param {number} size @param {number} words
 * @param {(value: any, source: Source) => (i: number) => boolean} bits @returns {Randomizer} */
export const bitmapped = (ratio, size, words, bits) => ({
  ratio,
  publics: [],
  words,
  bytes: Math.ceil(size / 8),
  record(value, _, source) {
    const [bytes, isSet] = [new Array(Math.ceil(size / 8)).fill(0), bits(value, source)];
    for (let i = 0; i < size; i++) bytes[i >> 3] |= +(isSet(i)) << (i & 7);
    return bytes;
  },
});

/** A public number below `count`, and a report of the item that a value has under this number.
 * @param {number} count @param {Randomizer} made @param {(value: any, number: number) => any} item @returns {Randomizer} */
export const numbered = (count, made, item) => ({
  ratio: made.ratio,
  publics: [count, ...made.publics],
  words: 1 + made.words,
  bytes: fieldBytes(count) + made.bytes,
  record: (value, [number, ...drawn], source) => [
    ...field(number, count),
    ...made.record(item(value, number), drawn, source),
  ],
});

/** @param {Randomizer} made @param {Source} source */
const publicDraws = ({ publics }, source) => publics.map((size) => source.below(size));

/** Public draws, a hash of the value that depends on them, and an answer about that hash, below `size`.
 * @param {number | bigint} items @param {(number | bigint)[]} publics @param {number} size @param {Ratio} ratio
 * @param {(value: any, drawn: any[]) => number} hashed @param {number} words
 * @param {(source: Source, hashed: number) => number} answer @returns {Randomizer} */
export const answering = (items, publics, size, ratio, hashed, words, answer) => ({
  ratio,
  publics,
  words: publics.length + words,
  bytes: publics.reduce((/** @type {number} */ bytes, count) => bytes + fieldBytes(count), fieldBytes(size)),
  record: (value, drawn, source) => [
    ...drawn.flatMap((number, i) => field(number, publics[i])),
    ...field(answer(source, hashed(inside(value, items), drawn)), size),
  ],
});

/** The value, or a uniform other one below `size`. Both draws are always made.
 * @param {Source} source @param {number} value @param {number} size @param {bigint} keep @returns {number} */
export const respond = (source, value, size, keep) => {
  const kept = source.bernoulli(keep);
  const lie = source.below(size - 1);
  return kept ? value : lie + +(lie >= value);
};

/** The same with an answer that is the hash, or a uniform other one.
 * @param {number | bigint} items @param {(number | bigint)[]} publics @param {number} size @param {bigint} keep
 * @param {(value: any, drawn: any[]) => number} hashed */
export const responding = (items, publics, size, keep, hashed) =>
  answering(items, publics, size, respondRatio(size, keep), hashed, 2, (source, value) => respond(source, value, size, keep));

/**
 * A public group of users, drawn by weights, and a report through each part of the group.
 * @param {(Randomizer & { item: (value: any) => any })[][]} groups @param {number[]} weights
 * @returns {Randomizer}
 */
export const grouped = (groups, weights) => {
  if (!groups.length || weights.length !== groups.length) reject("weights");
  /** @param {number[]} numbers */
  const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
  const words = groups.map((parts) => sum(parts.map((part) => part.words)));
  const [most, longest] = [Math.max(...words), Math.max(...groups.map((parts) => sum(parts.map((part) => part.bytes))))];
  // A user sends all parts of one group: their ratios multiply, and the worst group counts. Many share one ratio.
  const ratios = groups.map((parts) =>
    parts.map(({ ratio }) => ratio).reduce(([above, under], [a, b]) => [above * a, under * b]),
  );
  return {
    ratio: [...new Set(ratios)].reduce((worst, one) => (one[0] * worst[1] > worst[0] * one[1] ? one : worst)),
    publics: [],
    words: 1 + most,
    bytes: fieldBytes(groups.length) + longest,
    weights,
    draw(source) {
      let [ticket, number] = [source.below(sum(weights)), 0];
      for (; ticket >= weights[number]; number++) ticket -= weights[number];
      return [number, groups[number].map((part) => publicDraws(part, source))];
    },
    record(value, [number, drawn], source) {
      const body = groups[number].flatMap((part, i) => part.record(part.item(value), drawn[i], source));
      // All groups draw the same number of words and send the same number of bytes.
      for (let i = words[number]; i < most; i++) source.below(1);
      return [...field(number, groups.length), ...body, ...new Array(longest - body.length).fill(0)];
    },
  };
};

/** @param {Document} scheme */
export const weightsOf = (scheme) => scheme.read("weights", list(whole(1, 2 ** 32 - 1)));

// --- domains: a value -> what a randomizer sees of it -------------------------------------------------------------

/** @type {NonNullable<Family["domains"]>} */
const domains = {
  integers(fields) {
    const items = fields.read("size", whole(2, 2 ** 32));
    return { items, total: true, encode: (value) => whole(0, items - 1)(value, fields.known, "") ?? outside() };
  },

  labels(fields) {
    const [labels, total] = [fields.read("labels", list(text)), fields.read("other", flag)];
    const [index, items] = [new Map(labels.map((label, i) => [label, i])), labels.length + +total];
    const [steps, { normalized }] = [stepsOf(fields), fields.known];
    const fine = labels.every((label) => normalized(label, steps) === label) && index.size === labels.length;
    if (!fine || items < 2 || (total && index.has("other"))) reject("labels");
    return {
      items,
      total,
      encode(value) {
        const found = typeof value === "string" ? (index.get(normalized(value, steps)) ?? labels.length) : items;
        return found < items ? found : outside();
      },
    };
  },

  keys(fields) {
    const [hashSeed, steps, { normalized }] = [fields.read("hash_seed", seed), stepsOf(fields), fields.known];
    return {
      total: true,
      hashSeed,
      steps,
      encode(value) {
        if (value instanceof Uint8Array) return key64(value, hashSeed, "");
        const spelled = typeof value === "string";
        if (!spelled && typeof value !== "bigint" && !Number.isSafeInteger(value)) outside();
        // A text encoder would put one character in the place of each lone surrogate. Python has no longer integers.
        const content = text(spelled ? normalized(value, steps) : `${BigInt(value)}`, fields.known, "") ?? outside();
        if (!spelled && !/^-?\d{1,4300}$/.test(content)) outside();
        return key64(new TextEncoder().encode(content), hashSeed, spelled ? "str" : "int");
      },
    };
  },
};

// --- the client -------------------------------------------------------------------------------------------------

/**
 * The object of a JSON text in which no field occurs twice and every number is whole.
 * @param {string} json
 */
export const parse = (json) => {
  // JSON.parse keeps the last of two fields of one name, and reads 2.0 as 2.
  let count = 0;
  try {
    if (json.length <= MOST_CHARACTERS && json.split(/[[{]/, MOST_PIECES + 1).length <= MOST_PIECES) {
      const parsed = JSON.parse(json, (_, it) => {
        if (it && typeof it === "object" && !Array.isArray(it)) count += Object.keys(it).length;
        return it;
      });
      // After JSON.parse: on a string that does not end, the search would take quadratic time.
      const bare = json.replace(/"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g, (_, colon) => (colon && count--, ""));
      if (!count && !/[.eE]\d|\d[eE]/.test(bare)) return parsed;
    }
  } catch {
    // Refused below, without the text.
  }
  return reject("JSON");
};

/** A positive number as a fraction: "1/2", "0.5" or 0.5. @param {unknown} number @returns {Ratio} */
export const fractionOf = (number) => {
  const [, whole, digits = "", under = 1] = /^(\d+)(?:\.(\d+)|\/([1-9]\d*))?$/.exec(`${number}`) ?? [];
  const above = BigInt((whole ?? 0) + digits);
  return above
    ? [above, BigInt(under) * 10n ** BigInt(digits.length)]
    : refuse("expected maxEpsilon above 0");
};

/**
 * A function that makes the client of a scheme's JSON text, for schemes of these families.
 * @param {...Family} families @returns {(json: string, policy?: Policy) => Client}
 */
export const loader = (...families) => {
  const known = {
    schemes: Object.assign({}, ...families.map(({ schemes }) => schemes)),
    domains: Object.assign({}, domains, ...families.map((family) => family.domains)),
    normalized: (/** @type {string} */ value, /** @type {string[]} */ steps) => (steps.length ? reject("normalize") : value),
  };
  for (const { normalized } of families) known.normalized = normalized ?? known.normalized;
  return (json, { maxEpsilon = 8, total = true, memo } = {}) => {
    const limit = fractionOf(maxEpsilon);
    const document = documentOf(parse(json), known);
    const { kind, epsilon, domain } = document;
    if (epsilon[0] * limit[1] > limit[0] * epsilon[1]) refuse(`expected epsilon at most ${maxEpsilon}`);
    if (total && !domain.total) refuse("the domain refuses some values");
    const scalar = madeOf(document);
    const made = scalar.remember?.(memo, limit) ?? scalar;
    if (made.words > MOST_WORDS || made.bytes > MOST_BYTES) reject("size");
    const randomizer = { draw: (/** @type {Source} */ source) => publicDraws(made, source), ...made };
    const { encode } = domain;
    return {
      name: kind,
      epsilon,
      encode,
      randomizer,
      privatize(value, source = wordSource(made.words)) {
        const encoded = encode(value);
        return Uint8Array.from(randomizer.record(encoded, randomizer.draw(source), source));
      },
    };
  };
};

export { DeviceError };
