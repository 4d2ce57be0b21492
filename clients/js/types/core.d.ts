import { DeviceError } from "./documents.js";
export type Document = import("./documents.js").Document;
export type Family = import("./documents.js").Family;
export type Randomizer = import("./documents.js").Randomizer;
export type Ratio = import("./documents.js").Ratio;
export type Source = import("./documents.js").Source;
export type Policy = {
    /**
     * the largest epsilon of one report, a number or text such as "1/3"; 8
     */
    maxEpsilon?: number | string;
    /**
     * false accepts a domain that refuses some values
     */
    total?: boolean;
    /**
     * of a scheme with a memo: 32 random bytes that the page
     * keeps, and the application's name of the question; "once" for a user who never reports again
     */
    memo?: "once" | {
        key: Uint8Array;
        series: string;
    };
};
export type Client = {
    name: string;
    epsilon: Ratio;
    encode: (value: any) => any;
    randomizer: Randomizer & {
        draw: (source: Source) => any[];
    };
    /**
     * the record of one randomized report
     */
    privatize: (value: any, source?: Source) => Uint8Array<ArrayBuffer>;
};
/** The two primitives over words. @param {() => bigint} next @returns {Source} */
export declare const sourceOf: (next: () => bigint) => Source;
/** The two primitives over words of the browser's secure generator, all drawn at once. @param {number} count */
export declare const wordSource: (count: number) => import("./documents.js").Source;
/** @returns {never} */
export declare const outside: () => never;
/**
 * The value, if it is one. The last line of defence: a value that the randomizer was not made for could be sent as it is.
 * @param {any} value @param {number | bigint} items
 */
export declare const inside: (value: any, items: number | bigint) => any;
/** Bytes of the smallest field that holds every number below `count`. @param {number | bigint} count @returns {number} */
export declare const fieldBytes: (count: number | bigint) => number;
/** A number as bytes, the lowest first. @param {number | bigint} number @param {number | bigint} count */
export declare const field: (number: number | bigint, count: number | bigint) => number[];
/** @param {bigint} a @param {bigint} b @returns {Ratio} the larger over the smaller */
export declare const ratioOf: (a: bigint, b: bigint) => Ratio;
/** `among` equally likely answers share the probability of keeping, the others the rest.
 * @param {number} size @param {bigint} keep @param {number} [among] */
export declare const respondRatio: (size: number, keep: bigint, among?: number) => import("./documents.js").Ratio;
/** A bit for each of `size` items; `bits` says of a value which are set.
 * @param {Ratio} ratio @param {number} size @param {number} words
 * @param {(value: any, source: Source) => (i: number) => boolean} bits @returns {Randomizer} */
export declare const bitmapped: (ratio: Ratio, size: number, words: number, bits: (value: any, source: Source) => (i: number) => boolean) => Randomizer;
/** A public number below `count`, and a report of the item that a value has under this number.
 * @param {number} count @param {Randomizer} made @param {(value: any, number: number) => any} item @returns {Randomizer} */
export declare const numbered: (count: number, made: Randomizer, item: (value: any, number: number) => any) => Randomizer;
/** Public draws, a hash of the value that depends on them, and an answer about that hash, below `size`.
 * @param {number | bigint} items @param {(number | bigint)[]} publics @param {number} size @param {Ratio} ratio
 * @param {(value: any, drawn: any[]) => number} hashed @param {number} words
 * @param {(source: Source, hashed: number) => number} answer @returns {Randomizer} */
export declare const answering: (items: number | bigint, publics: (number | bigint)[], size: number, ratio: Ratio, hashed: (value: any, drawn: any[]) => number, words: number, answer: (source: Source, hashed: number) => number) => Randomizer;
/** The value, or a uniform other one below `size`. Both draws are always made.
 * @param {Source} source @param {number} value @param {number} size @param {bigint} keep @returns {number} */
export declare const respond: (source: Source, value: number, size: number, keep: bigint) => number;
/** The same with an answer that is the hash, or a uniform other one.
 * @param {number | bigint} items @param {(number | bigint)[]} publics @param {number} size @param {bigint} keep
 * @param {(value: any, drawn: any[]) => number} hashed */
export declare const responding: (items: number | bigint, publics: (number | bigint)[], size: number, keep: bigint, hashed: (value: any, drawn: any[]) => number) => import("./documents.js").Randomizer;
/**
 * A public group of users, drawn by weights, and a report through each part of the group.
 * @param {(Randomizer & { item: (value: any) => any })[][]} groups @param {number[]} weights
 * @returns {Randomizer}
 */
export declare const grouped: (groups: (Randomizer & {
    item: (value: any) => any;
})[][], weights: number[]) => Randomizer;
/** @param {Document} scheme */
export declare const weightsOf: (scheme: Document) => number[];
/**
 * The object of a JSON text in which no field occurs twice and every number is whole.
 * @param {string} json
 */
export declare const parse: (json: string) => any;
/** A positive number as a fraction: "1/2", "0.5" or 0.5. @param {unknown} number @returns {Ratio} */
export declare const fractionOf: (number: unknown) => Ratio;
/**
 * A function that makes the client of a scheme's JSON text, for schemes of these families.
 * @param {...Family} families @returns {(json: string, policy?: Policy) => Client}
 */
export declare const loader: (...families: Family[]) => (json: string, policy?: Policy) => Client;
export { DeviceError };
