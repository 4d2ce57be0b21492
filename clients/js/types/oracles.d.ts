export type Document = import("./documents.js").Document;
export type Source = import("./documents.js").Source;
export type Randomizer = import("./documents.js").Randomizer;
export type Scheme = (scheme: Document) => Randomizer;
/** @type {import("./documents.js").Family} */
export declare const oracles: import("./documents.js").Family;
