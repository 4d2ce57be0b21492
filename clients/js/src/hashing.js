// The public hash functions that clients and the collector share: 32-bit operations, and BLAKE2s for keys.

/** @param {number} t @param {number} by */
const multiply = (t, by) => (t = Math.imul(t, by)) ^ (t >>> 15);

/** @param {number} t @param {number} first @param {number} second */
const mixed = (t, first, second) => multiply(multiply(t ^ first, 0x21f0aaad) ^ second, 0xd35a2d97);

// The table entry of a character. 24 and 25 bits: the product is exact in a double.
/** @param {number} j @param {number} first @param {number} second @param {number} size */
const entry = (j, first, second, size) =>
  Math.floor(((mixed(mixed(j, j >>> 16, 0), first, second) >>> 8) * size) / 2 ** 24);

/** The parity of a word of 32 bits. @param {number} word */
export const parity = (word) => {
  for (let by = 16; by; by >>= 1) word ^= word >>> by;
  return word & 1;
};

/** The low and the high half of a 64-bit word. @param {bigint} word */
export const halves = (word) => [Number(word & 0xffffffffn), Number(word >> 32n)];

/**
 * The hash of a value under a seed, below `size`: two-character tabulation. A key is split in halves.
 * @param {bigint} seed @param {number | bigint} value @param {number} split @param {number} size
 */
export const localHash = (seed, value, split, size) => {
  const [low, high] = halves(seed);
  const [first, second] = typeof value === "bigint" ? halves(value) : [value % split, Math.floor(value / split)];
  return (entry(first, low, high, size) + entry(second, high, low, size)) % size;
};

// Fractional parts of the roots of primes: square roots are exact to the last bit in every browser.
const IV = Uint32Array.from([2, 3, 5, 7, 11, 13, 17, 19], (prime) => (Math.sqrt(prime) % 1) * 2 ** 32);
const SIGMA =
  "0123456789abcdefea489fd61c02b753b8c052fdae3671947931dcbe265a40f8905724afe1bc683d" +
  "2c6a0b834d75fe19c51fed4a0763928bdb7ec13950f4862a6fe9b308c2d714a5a2847615fb9e3cd0";
const PLACES = Array.from(SIGMA, (digit) => parseInt(digit, 16));

/** @param {number} word @param {number} by */
const rotated = (word, by) => (word >>> by) | (word << (32 - by));

/**
 * The digest of some bytes in words of 32 bits: BLAKE2s (RFC 7693), personalised by a seed, salted by a tag.
 * @param {ArrayLike<number>} content @param {bigint} seed @param {string} tag
 * @param {number} shape one leaf, the length of the key, and that of the digest, which may be cut; a key is a first block
 */
export const blake2s = (content, seed, tag, shape) => {
  const state = IV.slice();
  const { length } = content;
  state[0] ^= shape;
  for (let i = 0; i < tag.length; i++) state[4 + (i >> 2)] ^= tag.charCodeAt(i) << (8 * i);
  halves(seed).forEach((half, i) => (state[6 + i] ^= half));
  for (let start = 0; !start || start < length; start += 64) {
    const end = Math.min(start + 64, length);
    const block = new Uint32Array(16);
    for (let i = start; i < end; i++) block[(i - start) >> 2] |= content[i] << (8 * i);
    const v = Uint32Array.of(...state, ...IV);
    v[12] ^= end;
    if (end === length) v[14] ^= -1;
    // Ten rounds of eight mixings: of the columns, then of the diagonals.
    for (let i = 0; i < 160; i++) {
      const [a, k, odd] = [(i >> 1) & 3, (i >> 3) & 1, i & 1];
      const [b, c, d] = [4 + ((a + k) & 3), 8 + ((a + 2 * k) & 3), 12 + ((a + 3 * k) & 3)];
      v[a] += v[b] + block[PLACES[i]];
      v[d] = rotated(v[d] ^ v[a], odd ? 8 : 16);
      v[c] += v[d];
      v[b] = rotated(v[b] ^ v[c], odd ? 7 : 12);
    }
    for (let i = 0; i < 8; i++) state[i] ^= v[i] ^ v[i + 8];
  }
  return state;
};

/**
 * The 64-bit key of some bytes: BLAKE2s, personalised by the hash seed, salted by the purpose of the key.
 * @param {ArrayLike<number>} content @param {bigint} seed @param {string} tag
 */
export const key64 = (content, seed, tag) => {
  const [low, high] = blake2s(content, seed, tag, 0x01010008);
  return (BigInt(high) << 32n) | BigInt(low);
};
