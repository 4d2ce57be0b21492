/**
 * The text after the steps of its domain: nfc, lower and strip, always in this order.
 * @param {string} text @param {string[]} steps
 */
export declare const normalized: (text: string, steps: string[]) => string;
/** @type {import("./documents.js").Family} */
export declare const normalizing: import("./documents.js").Family;
