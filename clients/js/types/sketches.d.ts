export type Document = import("./documents.js").Document;
export type Randomizer = import("./documents.js").Randomizer;
/** @type {import("./documents.js").Family} */
export declare const sketches: import("./documents.js").Family;
