export type Ratio = [bigint, bigint];
export type Source = {
    /**
     * true with probability threshold / 2^64
     */
    bernoulli: (threshold: bigint) => boolean;
    /**
     * an exactly uniform number in [0, size), of the type of `size`
     */
    below: (size: any) => any;
};
export type Randomizer = {
    /**
     * the largest ratio of the likelihoods of one record under two values, at least 1
     */
    ratio: Ratio;
    /**
     * the ranges of the draws that do not depend on the value
     */
    publics: (number | bigint)[];
    /**
     * random words of one report, without repeats
     */
    words: number;
    /**
     * size of the record
     */
    bytes: number;
    record: (value: any, drawn: any[], source: Source) => number[];
    /**
     * the public draws; by default, one below each of `publics`
     */
    draw?: (source: Source) => any[];
    /**
     * of the groups of users
     */
    weights?: number[];
    /**
     * the same oracle for values with a sign
     */
    signed?: Randomizer;
    /**
     * the same with a user's memo
     */
    remember?: (memo: any, limit: Ratio) => Randomizer;
    /**
     * everything that a memo depends on
     */
    subject?: string;
    /**
     * epsilon of all entries of a memo
     */
    price?: Ratio;
};
export type Domain = {
    /**
     * number of the items, if they are listed; every encoded value is below it
     */
    items?: number;
    /**
     * whether every text or byte string has a code; a refused value is revealed by the refusal
     */
    total: boolean;
    encode: (value: any) => any;
    /**
     * of keys
     */
    hashSeed?: bigint;
    /**
     * of normalizing keys
     */
    steps?: string[];
};
export type Family = {
    schemes?: Record<string, (scheme: Document) => Randomizer>;
    domains?: Record<string, (fields: Fields, type: string) => Domain>;
    normalized?: (text: string, steps: string[]) => string;
};
export type Known = Required<Family>;
export type Kind<T> = (written: any, known: Known, name: string) => T | undefined;
export type Fields = {
    known: Known;
    has: (name: string) => boolean;
    read: <T>(name: string, kind: Kind<T>) => T;
    /**
     * refuse fields that were not read
     */
    close: () => void;
};
export type Document = Fields & {
    kind: string;
    epsilon: Ratio;
    type: string;
    domain: Domain;
};
export type Oracle = {
    sketch: boolean;
    /**
     * of an oracle over keys
     */
    hashSeed: bigint | undefined;
    /**
     * number of its items; NaN for keys, so that every comparison with it fails
     */
    size: number;
    /**
     * shared by all parts that report through it
     */
    randomizer: Randomizer;
};
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
export declare const WORD: bigint;
/** The scheme or the value cannot be used. The message never contains the value. */
export declare class DeviceError extends Error {
}
/** @param {string} why @param {string} [name] @returns {never} */
export declare const refuse: (why: string, name?: string) => never;
/** @param {string} name of a field @returns {never} */
export declare const reject: (name: string) => never;
/** @param {number | bigint} number */
export declare const bitLength: (number: number | bigint) => number;
/** @param {number} least @param {number} most @returns {Kind<number>} */
export declare const whole: (least: number, most: number) => Kind<number>;
/** A probability times 2^64, strictly between 0 and 2^64. */
export declare const threshold: Kind<bigint>;
/** Numbers below 2^53 are numbers, larger ones decimal text. @type {Kind<bigint>} */
export declare const seed: Kind<bigint>;
/** @param {bigint} most @returns {Kind<Ratio>} a positive fraction in lowest terms, as text */
export declare const fraction: (most: bigint) => Kind<Ratio>;
/** Text that has a UTF-8 form: a lone surrogate has none. @type {Kind<string>} */
export declare const text: Kind<string>;
/** @template T @param {...T} choices @returns {Kind<T>} */
export declare const choice: <T>(...choices: T[]) => Kind<T>;
/** @type {Kind<boolean>} */
export declare const flag: Kind<boolean>;
/** @template T @param {Kind<T>} kind @returns {Kind<T[]>} */
export declare const list: <T>(kind: Kind<T>) => Kind<T[]>;
/** The steps by which a domain normalizes texts, in their order; none without the field. @param {Fields} fields */
export declare const stepsOf: (fields: Fields) => string[];
/** A scheme within the scheme. @type {Kind<Oracle>} */
export declare const oracle: Kind<Oracle>;
/** @param {any} written @param {Known} known @param {string} name @returns {Fields} */
export declare const fieldsOf: (written: any, known: Known, name: string) => Fields;
/** The values that a scheme takes. @type {Kind<Domain & { type: string }>} */
export declare const domain: Kind<Domain & {
    type: string;
}>;
/** The fields that all schemes have, checked; the scheme's randomizer reads the others.
 * @param {unknown} written @param {Known} known @returns {Document} */
export declare const documentOf: (written: unknown, known: Known) => Document;
/** The randomizer of a document that has no field left then, and keeps its own promise. @param {Document} document */
export declare const madeOf: (document: Document) => Randomizer;
/** Refuse a ratio above e^epsilon. @param {Ratio} ratio @param {Ratio} epsilon */
export declare const expectWithin: ([above, under]: Ratio, [a, b]: Ratio) => void;
/** Number of items, for schemes that need them listed. @param {Document} scheme */
export declare const sizeOf: ({ domain }: Document) => number;
/** Number of items, or of the keys that stand for them. @param {Document} scheme @returns {number | bigint} */
export declare const itemsOf: (scheme: Document) => number | bigint;
/** Where a hash splits an item in two; it follows from the domain. @param {Document} scheme */
export declare const splitOf: (scheme: Document) => number;
