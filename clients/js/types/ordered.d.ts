export type Fields = import("./documents.js").Fields;
export type Domain = import("./documents.js").Domain;
export type Measure = number | bigint | undefined;
/** @type {import("./documents.js").Family} */
export declare const ordered: import("./documents.js").Family;
