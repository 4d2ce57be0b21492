// Documents of schemes: every field is read once, by name and kind, and a field that nobody reads is refused.

/**
 * @typedef {[bigint, bigint]} Ratio numerator and denominator
 *
 * @typedef {object} Source the two primitives from which all coins are made
 * @property {(threshold: bigint) => boolean} bernoulli true with probability threshold / 2^64
 * @property {(size: any) => any} below an exactly uniform number in [0, size), of the type of `size`
 *
 * @typedef {object} Randomizer one scheme's client
 * @property {Ratio} ratio the largest ratio of the likelihoods of one record under two values, at least 1
 * @property {(number | bigint)[]} publics the ranges of the draws that do not depend on the value
 * @property {number} words random words of one report, without repeats
 * @property {number} bytes size of the record
 * @property {(value: any, drawn: any[], source: Source) => number[]} record
 * @property {(source: Source) => any[]} [draw] the public draws; by default, one below each of `publics`
 * @property {number[]} [weights] of the groups of users
 * @property {Randomizer} [signed] the same oracle for values with a sign
 * @property {(memo: any, limit: Ratio) => Randomizer} [remember] the same with a user's memo
 * @property {string} [subject] everything that a memo depends on
 * @property {Ratio} [price] epsilon of all entries of a memo
 *
 * @typedef {object} Domain
 * @property {number} [items] number of the items, if they are listed; every encoded value is below it
 * @property {boolean} total whether every text or byte string has a code; a refused value is revealed by the refusal
 * @property {(value: any) => any} encode
 * @property {bigint} [hashSeed] of keys
 * @property {string[]} [steps] of normalizing keys
 *
 * @typedef {object} Family what a module of this package knows
 * @property {Record<string, (scheme: Document) => Randomizer>} [schemes]
 * @property {Record<string, (fields: Fields, type: string) => Domain>} [domains]
 * @property {(text: string, steps: string[]) => string} [normalized]
 *
 * @typedef {Required<Family>} Known
 */

/**
 * A kind of field: from what is written to what it means; undefined if that is refused.
 * @template T @typedef {(written: any, known: Known, name: string) => T | undefined} Kind
 */

/**
 * @typedef {object} Fields the fields of a JSON object
 * @property {Known} known
 * @property {(name: string) => boolean} has
 * @property {<T>(name: string, kind: Kind<T>) => T} read
 * @property {() => void} close refuse fields that were not read
 *
 * @typedef {Fields & { kind: string, epsilon: Ratio, type: string, domain: Domain }} Document
 *
 * @typedef {object} Oracle a scheme that another scheme reports through
 * @property {boolean} sketch
 * @property {bigint | undefined} hashSeed of an oracle over keys
 * @property {number} size number of its items; NaN for keys, so that every comparison with it fails
 * @property {Randomizer} randomizer shared by all parts that report through it
 */

export const WORD = 1n << 64n;

/** The scheme or the value cannot be used. The message never contains the value. */
export class DeviceError extends Error {}

/** @param {string} why @param {string} [name] @returns {never} */
export const refuse = (why, name = "DeviceError") => {
  throw Object.assign(new DeviceError(why), { name });
};

/** @param {string} name of a field @returns {never} */
export const reject = (name) => refuse(`the scheme's ${name} is refused`);

/** @param {number | bigint} number */
export const bitLength = (number) => (number ? number.toString(2).length : 0);

// --- kinds ----------------------------------------------------------------------------------------------------

/** @param {number} least @param {number} most @returns {Kind<number>} */
export const whole = (least, most) => (it) => (Number.isSafeInteger(it) && it >= least && it <= most ? it : undefined);

/** @param {bigint} least @returns {Kind<bigint>} a 64-bit number, as decimal text */
const decimal = (least) => (it) => {
  const number = typeof it === "string" && /^(0|[1-9]\d{0,19})$/.test(it) ? BigInt(it) : -1n;
  return number >= least && number < WORD ? number : undefined;
};

/** A probability times 2^64, strictly between 0 and 2^64. */
export const threshold = decimal(1n);

/** Numbers below 2^53 are numbers, larger ones decimal text. @type {Kind<bigint>} */
export const seed = (it, ...rest) =>
  it >= 0 && Number.isSafeInteger(it) ? BigInt(it) : decimal(1n << 53n)(it, ...rest);

/** @param {bigint} most @returns {Kind<Ratio>} a positive fraction in lowest terms, as text */
export const fraction = (most) => (it) => {
  if (typeof it !== "string" || it.length > 2600 || !/^[1-9]\d*(\/(?!1$)[1-9]\d*)?$/.test(it)) return undefined;
  const [a, b = 1n] = it.split("/").map(BigInt);
  let [x, y] = [a, b];
  while (y) [x, y] = [y, x % y];
  return x === 1n && a <= most * b ? [a, b] : undefined;
};

/** Text that has a UTF-8 form: a lone surrogate has none. @type {Kind<string>} */
export const text = (it) => (typeof it === "string" && !/\p{Surrogate}/u.test(it) ? it : undefined);

/** @template T @param {...T} choices @returns {Kind<T>} */
export const choice = (...choices) => (it) => choices.find((one) => one === it);

/** @type {Kind<boolean>} */
export const flag = choice(true, false);

/** @template T @param {Kind<T>} kind @returns {Kind<T[]>} */
export const list = (kind) => (it, known, name) =>
  Array.isArray(it) ? it.map((one) => kind(one, known, name) ?? reject(name)) : undefined;

/** The steps by which a domain normalizes texts, in their order; none without the field. @param {Fields} fields */
export const stepsOf = (fields) => {
  if (!fields.has("normalize")) return [];
  const steps = fields.read("normalize", list(text));
  const order = ["nfc", "lower", "strip"].filter((step) => steps.includes(step));
  return order.length && `${steps}` === `${order}` ? steps : reject("normalize");
};

/** A scheme within the scheme. @type {Kind<Oracle>} */
export const oracle = (it, known, name) => {
  const document = documentOf(it, known);
  const { kind, type, domain } = document;
  // Before the randomizer is made: a search among a search's oracles could go on for ever.
  if ((type !== "integers" && type !== "keys") || domain.steps?.length) reject(name);
  /** @type {Randomizer | undefined} */
  let made;
  return {
    sketch: /^(CM|CS|BLOOM)$/.test(kind),
    hashSeed: domain.hashSeed,
    size: domain.items ?? NaN,
    get randomizer() {
      // One whose users are in groups is no oracle, nor is one with a memo.
      made ??= madeOf(document);
      return made.weights ?? made.remember ? reject(name) : made;
    },
  };
};

// --- documents --------------------------------------------------------------------------------------------------

/** @param {any} written @param {Known} known @param {string} name @returns {Fields} */
export const fieldsOf = (written, known, name) => {
  if (typeof written !== "object" || !written || Array.isArray(written)) reject(name);
  const left = new Map(Object.entries(written));
  return {
    known,
    has: (field) => left.has(field),
    read(field, kind) {
      const found = kind(left.get(field), known, field);
      left.delete(field);
      return found ?? reject(field);
    },
    close() {
      // Not by name: the author of the document chose it.
      if (left.size) reject("further field");
    },
  };
};

/** The values that a scheme takes. @type {Kind<Domain & { type: string }>} */
export const domain = (it, known, name) => {
  const fields = fieldsOf(it, known, name);
  const type = fields.read("type", choice(...Object.keys(known.domains)));
  const made = known.domains[type](fields, type);
  fields.close();
  return { ...made, type };
};

/** The fields that all schemes have, checked; the scheme's randomizer reads the others.
 * @param {unknown} written @param {Known} known @returns {Document} */
export const documentOf = (written, known) => {
  const fields = fieldsOf(written, known, "document");
  const kind = fields.read("scheme", choice(...Object.keys(known.schemes)));
  fields.read("version", choice(1));
  const epsilon = fields.read("epsilon", fraction(1000n));
  const made = fields.read("domain", domain);
  return { ...fields, kind, epsilon, type: made.type, domain: made };
};

/** The randomizer of a document that has no field left then, and keeps its own promise. @param {Document} document */
export const madeOf = (document) => {
  const made = document.known.schemes[document.kind](document);
  document.close();
  expectWithin(made.ratio, document.epsilon);
  return made;
};

/** Refuse a ratio above e^epsilon. @param {Ratio} ratio @param {Ratio} epsilon */
export const expectWithin = ([above, under], [a, b]) => {
  // Partial sums of the series lie below e^epsilon; 200 bits of agreement are more than thresholds are rounded to.
  const scale = 1n << 300n;
  let [term, sum] = [scale, scale];
  for (let k = 1n; term > sum >> 220n; k++) sum += term = (term * a) / (b * k);
  if (above * scale > under * sum) reject("threshold");
};

/** Number of items, for schemes that need them listed. @param {Document} scheme */
export const sizeOf = ({ domain }) => domain.items ?? reject("domain");

/** Number of items, or of the keys that stand for them. @param {Document} scheme @returns {number | bigint} */
export const itemsOf = (scheme) => (scheme.domain.hashSeed === undefined ? sizeOf(scheme) : WORD);

/** Where a hash splits an item in two; it follows from the domain. @param {Document} scheme */
export const splitOf = (scheme) => {
  const bits = bitLength(BigInt(itemsOf(scheme)) - 1n);
  return scheme.read("split", choice(Math.max(64, 2 ** ((bits + 1) >> 1))));
};
