// Searches: strings that nobody has listed. An encoded string is the list of its symbols.

import { field, grouped, outside, weightsOf } from "./core.js";
import { bitLength, choice, flag, list, oracle, reject, seed, stepsOf, text, whole } from "./documents.js";
import { halves, key64 } from "./hashing.js";

/** @typedef {import("./documents.js").Document} Document */
/** @typedef {import("./documents.js").Randomizer} Randomizer */
/** @typedef {import("./documents.js").Oracle} Oracle */
/** @typedef {Randomizer & { item: (symbols: number[]) => number | bigint }} Part */
/** @typedef {{ hashSeed: bigint, bits: number }} Tag */
/** @typedef {import("./documents.js").Domain & { base: number, length: number, inBytes: boolean,
 *    symbolsOf: (characters: ArrayLike<any>) => (number | undefined)[] }} Strings */

/** Bytes, as lower-case hexadecimal text. @type {import("./documents.js").Kind<number[]>} */
const hex = (it) =>
  typeof it === "string" && /^([\da-f]{2})*$/.test(it) ? (it.match(/../g) ?? []).map((byte) => parseInt(byte, 16)) : undefined;

// Characters are code points; a JavaScript string may need two units for one.
/** @type {import("./documents.js").Kind<any[]>} */
const characters = (it, ...rest) => text(it, ...rest) === undefined ? undefined : Array.from(it);

/** @type {(fields: import("./documents.js").Fields, type: string) => Strings} */
const strings = (fields, type) => {
  const inBytes = type === "byte strings";
  const alphabet = fields.read("alphabet", inBytes ? hex : characters);
  const length = fields.read("length", whole(1, 256));
  const cuts = fields.read("long", choice("truncate", "refuse")) === "truncate";
  const other = fields.read("other", flag);
  const index = new Map(alphabet.map((character, i) => [character, 1 + i]));
  const base = 1 + alphabet.length + +other;
  const [steps, { normalized }] = [stepsOf(fields), fields.known];
  const inner = steps.filter((step) => step !== "strip"); // a space may stand inside a text
  const fine = inBytes ? !steps.length && !other : alphabet.every((one) => normalized(one, inner) === one);
  if (!fine || index.size !== alphabet.length || base < 2 || base > 2 ** 16 || (other && index.has("\ufffd"))) reject("alphabet");
  /** @type {Strings["symbolsOf"]} */
  const symbolsOf = (given) => Array.from(given, (one) => index.get(one) ?? (other ? base - 1 : undefined));
  return {
    total: cuts && (other || (inBytes && alphabet.length === 256)),
    base,
    length,
    inBytes,
    symbolsOf,
    encode(value) {
      if (inBytes ? !(value instanceof Uint8Array) : typeof value !== "string") outside();
      /** @type {any[]} */
      let given = Array.from(inBytes ? value : normalized(value, steps));
      if (given.length > length && !cuts) outside();
      given = given.slice(0, length);
      // The cut may leave a space at the end.
      if (steps.includes("strip")) given = Array.from(normalized(given.join(""), ["strip"]));
      return Array.from({ ...symbolsOf(given), length }, (symbol, i) => (i < given.length ? (symbol ?? outside()) : 0));
    },
  };
};

/** @param {Document} scheme @returns {Strings} */
const stringsOf = ({ domain }) =>
  /** @type {Strings} */ (domain).base ? /** @type {Strings} */ (domain) : reject("domain");

/** The number whose digits are these symbols, the first one the highest. @param {number[]} symbols @param {number} base */
const numberOf = (symbols, base) => symbols.reduce((number, symbol) => number * base + symbol, 0);

/** @param {number[]} symbols @param {number} base */
const bytesOf = (symbols, base) => symbols.flatMap((symbol) => field(symbol, base));

// A part reports the symbols in [first, last), with a tag of the whole string if there is one.
/** @param {Oracle} teller @param {Strings} text @param {number} first @param {number} last @param {Tag} [tag] @returns {Part} */
const part = ({ size, hashSeed, randomizer }, { base }, first, last, tag) => {
  const tags = 2 ** (tag?.bits ?? 0);
  // An item for everything that it is asked about.
  if (size < base ** (last - first) * tags) reject("oracle");
  return {
    ...randomizer,
    item(symbols) {
      const piece = symbols.slice(first, last);
      const mark = tag && Number(BigInt.asUintN(tag.bits, key64(bytesOf(symbols, base), tag.hashSeed, "tag")));
      if (hashSeed === undefined) return numberOf(piece, base) * tags + (mark ?? 0);
      return key64([...bytesOf(piece, base), ...(mark === undefined ? [] : field(mark, 2 ** 16))], hashSeed, "symbols");
    },
  };
};

/** @param {Document} scheme @returns {number[]} */
const levelsOf = (scheme) => {
  const { length } = stringsOf(scheme);
  const [levels, step] = [/** @type {number[]} */ ([]), scheme.read("step", whole(1, length))];
  for (let last = scheme.read("start", whole(1, length)); last < length; last += step) levels.push(last);
  return [...levels, length];
};

/** @param {Part[]} parts @param {number[]} weights */
const apart = (parts, weights) => grouped(parts.map((one) => [one]), weights);

/** @param {unknown[]} groups @returns {number[]} */
const ones = (groups) => groups.map(() => 1);

/** @type {(scheme: Document) => Randomizer} */
const prefixExtending = (scheme) => {
  const [text, teller] = [stringsOf(scheme), scheme.read("oracle", oracle)];
  return apart(levelsOf(scheme).map((last) => part(teller, text, 0, last)), weightsOf(scheme));
};

/** @param {Document} scheme */
const wholeString = (scheme) => part(scheme.read("word_oracle", oracle), stringsOf(scheme), 0, stringsOf(scheme).length);

// All users report a piece and the whole string; or each one of the two ("users"); or all a piece only ("none").
/** @type {(scheme: Document, pieces: Part[], ...splits: string[]) => Randomizer} */
const withWholeStrings = (scheme, pieces, ...splits) => {
  if (!pieces.length) reject("start");
  const split = scheme.has("split") ? scheme.read("split", choice(...splits)) : "";
  if (split === "none") return apart(pieces, ones(pieces));
  const whole = wholeString(scheme);
  if (split) return apart([...pieces, whole], [...ones(pieces), pieces.length]);
  return grouped(pieces.map((piece) => [piece, whole]), ones(pieces));
};

/** @type {(scheme: Document) => Randomizer} */
const treeHistogram = (scheme) => {
  const [text, teller] = [stringsOf(scheme), scheme.read("oracle", oracle)];
  return withWholeStrings(scheme, levelsOf(scheme).slice(0, -1).map((last) => part(teller, text, 0, last)), "users");
};

// A part for each fragment, which carries a tag of the whole string.
/** @param {Document} scheme @param {number} size */
const fragments = (scheme, size) => {
  const [text, teller] = [stringsOf(scheme), scheme.read("oracle", oracle)];
  const tag = { hashSeed: scheme.read("hash_seed", seed), bits: scheme.read("hash_bits", whole(0, 16)) };
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
    part(teller, text, i * size, Math.min((i + 1) * size, text.length), tag),
  );
};

/** @type {(scheme: Document) => Randomizer} */
const fragmentPuzzle = (scheme) =>
  withWholeStrings(scheme, fragments(scheme, scheme.read("fragment", whole(1, stringsOf(scheme).length))), "users", "none");

/** @type {(scheme: Document) => Randomizer} */
const bitstogram = (scheme) => apart([...fragments(scheme, 1), wholeString(scheme)], weightsOf(scheme));

// The cell of a prefix: a hash of its stem chooses a block and rotates it, the other symbols choose the cell in it.
/** @type {(teller: Oracle, text: Strings, stem: number, last: number, cohort: number, hashSeed: bigint) => Part} */
const fold = (teller, text, stem, last, cohort, hashSeed) => {
  const [symbols, { base }, { size }] = [part(teller, text, stem, last), text, teller];
  const block = 2 ** bitLength(base ** (last - stem) - 1);
  if (size < block || size & (size - 1)) reject("folded");
  return {
    ...symbols,
    item(value) {
      const key = key64([...bytesOf(value.slice(0, stem), base), cohort], hashSeed, "fold");
      const [low, high] = halves(key);
      return (high % (size / block)) * block + ((Number(symbols.item(value)) + low) % block);
    },
  };
};

/** @type {(scheme: Document) => Randomizer} */
const trellis = (scheme) => {
  const [text, levels] = [stringsOf(scheme), levelsOf(scheme)];
  const [hashSeed, cohorts] = [scheme.read("hash_seed", seed), scheme.read("cohorts", whole(1, 16))];
  /** @type {Record<string, Oracle>} */
  const tables = {};
  for (const name of ["letters", "pairs", "first", "folded", "deep"]) if (scheme.has(name)) tables[name] = scheme.read(name, oracle);
  // One that no level uses is checked, too.
  for (const { hashSeed, randomizer } of Object.values(tables))
    if (hashSeed !== undefined || !randomizer) reject("tables");
  const needed = ["letters", "first", ...(levels.length > 1 ? ["folded"] : []), ...(tables.folded ? ["deep"] : [])];
  for (const name of needed) if (!tables[name]) reject(name);
  const parts = Array.from({ length: text.length }, (_, i) => part(tables.letters, text, i, i + 1));
  if (tables.pairs) for (let i = 0; i + 1 < text.length; i++) parts.push(part(tables.pairs, text, i, i + 2));
  parts.push(part(tables.first, text, 0, levels[0]));
  for (let i = 1; i < levels.length; i++)
    for (let cohort = 0; cohort < cohorts; cohort++)
      parts.push(fold(i > 1 ? tables.deep : tables.folded, text, levels[i - 1], levels[i], cohort, hashSeed));
  return apart(parts, weightsOf(scheme));
};

// Texts whose order is that of the code points: by itself, JavaScript orders strings by the units that it keeps them in.
/** @param {any[]} prefix */
const rank = (prefix) => prefix.map((one) => (one.codePointAt?.(0) ?? one).toString(36).padStart(4)).join("");

// The continuation of a published prefix; the last item for everybody who begins with none of them.
/** @type {(scheme: Document) => Randomizer} */
const searchRound = (scheme) => {
  const text = stringsOf(scheme);
  const { base, length } = text;
  const stem = scheme.read("stem", whole(0, length - 1));
  const reach = scheme.read("reach", whole(stem + 1, length));
  const prefixes = scheme.read("prefixes", list(text.inBytes ? hex : characters));
  const numbers = new Map(
    prefixes.map((prefix, i) => {
      const symbols = text.symbolsOf(prefix);
      const wrong = symbols.length > stem || symbols.includes(undefined) || (i && rank(prefixes[i - 1]) > rank(prefix));
      return [wrong ? reject("prefixes") : `${[...symbols, ...new Array(stem - symbols.length).fill(0)]}`, i];
    }),
  );
  if (!numbers.size || numbers.size !== prefixes.length || numbers.size > 2 ** 16) reject("prefixes");
  const [{ size, randomizer }, more] = [scheme.read("oracle", oracle), base ** (reach - stem)];
  const none = numbers.size * more;
  if (!(size > none)) reject("oracle");
  /** @param {number[]} symbols */
  const item = (symbols) => {
    const number = numbers.get(`${symbols.slice(0, stem)}`);
    return number === undefined ? none : number * more + numberOf(symbols.slice(stem, reach), base);
  };
  return apart([{ ...randomizer, item }], [1]);
};

/** @type {import("./documents.js").Family} */
export const searches = {
  domains: { strings, "byte strings": strings },
  schemes: {
    TRELLIS: trellis,
    ROUND: searchRound,
    PEM: prefixExtending,
    TH: treeHistogram,
    SFP: fragmentPuzzle,
    BITSTOGRAM: bitstogram,
  },
};
