export type Document = import("./documents.js").Document;
export type Randomizer = import("./documents.js").Randomizer;
export type Ratio = import("./documents.js").Ratio;
export type Source = import("./documents.js").Source;
/** @type {import("./documents.js").Family} */
export declare const memos: import("./documents.js").Family;
