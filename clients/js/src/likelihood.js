// How likely some record bytes are under an item, for a page that explains what a report tells. No client needs it.

/** @typedef {import("./documents.js").Source} Source */

/** A source that follows a path of choices and notes their probabilities, as pairs of whole numbers. */
class Path {
  /** @param {number[]} choices */
  constructor(choices) {
    this.choices = choices;
    /** @type {number[]} */
    this.sizes = [];
    this.above = 1n;
    this.under = 1n;
  }

  /** @param {number} size */
  choose(size) {
    this.sizes.push(size);
    return this.choices[this.sizes.length - 1] ?? 0;
  }

  /** @param {bigint} threshold */
  bernoulli(threshold) {
    const taken = this.choose(2) === 1;
    this.above *= taken ? threshold : (1n << 64n) - threshold;
    this.under <<= 64n;
    return taken;
  }

  /** @param {any} size */
  below(size) {
    this.under *= BigInt(size);
    return size.constructor(this.choose(Number(size)));
  }
}

const MOST_PATHS = 200_000;

/**
 * The probability of every record of a value, by the hexadecimal text of its bytes, given the same public coins. Only for
 * schemes with few outcomes; undefined for others.
 * @param {import("./core.js").Client} client @param {any} value @param {any[]} drawn public coins, `client.randomizer.draw(source)`
 * @returns {Map<string, number> | undefined}
 */
export const lawOf = ({ encode, randomizer }, value, drawn) => {
  const [law, paths] = [new Map(), /** @type {number[][]} */ ([[]])];
  for (let seen = 0, path; (path = paths.pop()); seen++) {
    if (seen > MOST_PATHS) return undefined;
    const source = new Path(path);
    const bytes = randomizer.record(encode(value), drawn, source);
    const record = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
    // Exact until here; a page shows a few digits.
    const share = Number((source.above << 64n) / source.under) / 2 ** 64;
    law.set(record, (law.get(record) ?? 0) + share);
    for (let place = path.length; place < source.sizes.length; place++) {
      if (source.sizes[place] > MOST_PATHS) return undefined;
      const taken = [...path, ...new Array(place - path.length).fill(0)];
      for (let choice = 1; choice < source.sizes[place]; choice++) paths.push([...taken, choice]);
    }
  }
  return law;
};
