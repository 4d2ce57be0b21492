/** The parity of a word of 32 bits. @param {number} word */
export declare const parity: (word: number) => number;
/** The low and the high half of a 64-bit word. @param {bigint} word */
export declare const halves: (word: bigint) => number[];
/**
 * The hash of a value under a seed, below `size`: two-character tabulation. A key is split in halves.
 * @param {bigint} seed @param {number | bigint} value @param {number} split @param {number} size
 */
export declare const localHash: (seed: bigint, value: number | bigint, split: number, size: number) => number;
/**
 * The digest of some bytes in words of 32 bits: BLAKE2s (RFC 7693), personalised by a seed, salted by a tag.
 * @param {ArrayLike<number>} content @param {bigint} seed @param {string} tag
 * @param {number} shape one leaf, the length of the key, and that of the digest, which may be cut; a key is a first block
 */
export declare const blake2s: (content: ArrayLike<number>, seed: bigint, tag: string, shape: number) => Uint32Array<ArrayBuffer>;
/**
 * The 64-bit key of some bytes: BLAKE2s, personalised by the hash seed, salted by the purpose of the key.
 * @param {ArrayLike<number>} content @param {bigint} seed @param {string} tag
 */
export declare const key64: (content: ArrayLike<number>, seed: bigint, tag: string) => bigint;
