export type Document = import("./documents.js").Document;
export type Domain = import("./documents.js").Domain;
export type Randomizer = import("./documents.js").Randomizer;
export type Table = Domain & {
    sizes: number[];
};
export type Attribute = {
    name: string;
    missing: boolean;
    items: number;
    total: boolean;
    encode: Domain["encode"];
};
/** @type {import("./documents.js").Family} */
export declare const tables: import("./documents.js").Family;
