export type Document = import("./documents.js").Document;
export type Randomizer = import("./documents.js").Randomizer;
export type Oracle = import("./documents.js").Oracle;
/** @type {import("./documents.js").Family} */
export declare const orderedSchemes: import("./documents.js").Family;
