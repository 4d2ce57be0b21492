// The arithmetic of the try page: what a record says about a secret, and what many records say about a crowd.
//
// All probabilities come from the thresholds that the client uses, as whole numbers over 2^64.

/** @typedef {"DE" | "OUE" | "SS"} Kind */

/**
 * @typedef {object} Thresholds of a scheme; the library has computed them
 * @property {string} keep
 * @property {string} [flip]
 * @property {number} [subset_size]
 */

/** The secrets that a visitor may pick, and how many of 100 people in the made-up crowd have each. */
export const CROWD = {
  "A phone": 31,
  Nothing: 22,
  "A book": 16,
  Television: 12,
  Music: 8,
  Wine: 5,
  Pills: 2,
  "Something else": 4,
};
export const SECRETS = Object.keys(CROWD);
const SIZE = SECRETS.length;
const WORD = 1n << 64n;
/** The 97.5 % point of the normal law: 95 % of its mass is within it on both sides. */
const Z = 1.959963984540054;

/** The document of a scheme, byte for byte as the library writes it.
 * @param {Kind} kind @param {string} epsilon @param {Thresholds} thresholds */
export const documentOf = (kind, epsilon, { keep, flip, subset_size }) =>
  JSON.stringify({
    // The last secret is every answer that is not on the list: everybody can say something.
    domain: { labels: SECRETS.slice(0, -1), other: true, type: "labels" },
    epsilon,
    flip,
    keep,
    scheme: kind,
    subset_size,
    version: 1,
  });

/** @param {number} n @param {number} k @returns {bigint} number of subsets */
const choose = (n, k) => (k ? (choose(n - 1, k - 1) * BigInt(n)) / BigInt(k) : 1n);

/** @param {bigint} above @param {bigint} under */
const ratio = (above, under) => Number(above) / Number(under);

/** The positions of the secrets that a record names. @param {Kind} kind @param {number} byte */
export const named = (kind, byte) => (kind === "DE" ? [byte] : [...SECRETS.keys()].filter((i) => (byte >> i) & 1));

/** How likely a record is under each secret. @param {Kind} kind @param {Thresholds} thresholds @param {number} byte */
export const likelihoods = (kind, thresholds, byte) => {
  const [keep, flip] = [BigInt(thresholds.keep), BigInt(thresholds.flip ?? 0)];
  const chosen = named(kind, byte);
  return SECRETS.map((_, secret) => {
    const own = chosen.includes(secret);
    const kept = own ? keep : WORD - keep;
    if (kind === "DE") return ratio(kept, own ? WORD : WORD * BigInt(SIZE - 1));
    if (kind === "SS") {
      const subset = thresholds.subset_size ?? 1;
      return ratio(kept, WORD * (own ? choose(SIZE - 1, subset - 1) : choose(SIZE - 1, subset)));
    }
    // Independent coins: this secret's own, and one of each other.
    const others = chosen.length - Number(own);
    return ratio(kept * flip ** BigInt(others) * (WORD - flip) ** BigInt(SIZE - 1 - others), WORD ** BigInt(SIZE));
  });
};

/** The probabilities that a record names its own secret, and any other one.
 * @param {Kind} kind @param {Thresholds} thresholds */
export const pairOf = (kind, { keep, flip, subset_size: subset = 1 }) => {
  const own = BigInt(keep);
  const other = BigInt(SIZE - 1);
  if (kind === "OUE") return { p: ratio(own, WORD), q: ratio(BigInt(flip ?? 0), WORD) };
  return { p: ratio(own, WORD), q: ratio(own * BigInt(subset - 1) + (WORD - own) * BigInt(subset), WORD * other) };
};

/** Half the width of the 95 % interval of a share. @param {{p: number, q: number}} pair @param {number} n @param {number} share */
export const halfWidth = (pair, n, share) => Z * standardError(pair, n, share);

/** @param {{p: number, q: number}} pair @param {number} n @param {number} share */
export const standardError = ({ p, q }, n, share) => {
  const held = Math.min(Math.max(share, 0), 1);
  return Math.sqrt(((q * (1 - q)) / (p - q) ** 2 + (held * (1 - p - q)) / (p - q)) / n);
};

/** The share of a crowd that has a secret, from the number of records that name it: unbiased, with its 95 % interval.
 * @param {{p: number, q: number}} pair @param {number} count @param {number} n */
export const estimate = (pair, count, n) => {
  const share = (count / n - pair.q) / (pair.p - pair.q);
  const half = halfWidth(pair, n, share);
  return { share, low: share - half, high: share + half };
};

/** The most that a suspicion can become by one record, whose likelihoods differ at most by a factor.
 * @param {number} before @param {number} factor */
export const suspicion = (before, factor) => (before * factor) / (before * factor + 1 - before);

/** How many times as many people give the same error with another scheme.
 * @param {{p: number, q: number}} pair @param {{p: number, q: number}} other */
export const timesAsMany = (pair, other) => (standardError(other, 1, 0) / standardError(pair, 1, 0)) ** 2;
