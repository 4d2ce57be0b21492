export type Document = import("./documents.js").Document;
export type Randomizer = import("./documents.js").Randomizer;
export type Oracle = import("./documents.js").Oracle;
export type Part = Randomizer & {
    item: (symbols: number[]) => number | bigint;
};
export type Tag = {
    hashSeed: bigint;
    bits: number;
};
export type Strings = import("./documents.js").Domain & {
    base: number;
    length: number;
    inBytes: boolean;
    symbolsOf: (characters: ArrayLike<any>) => (number | undefined)[];
};
/** @type {import("./documents.js").Family} */
export declare const searches: import("./documents.js").Family;
