/**
 * The turns and the memo of a question, for `joiner`.
 * @param {string} question @param {import("./collector.js").Options} options
 * @returns {import("./collector.js").Repeating}
 */
export declare const repeats: (question: string, { maxEpsilon, total, memo }: import("./collector.js").Options) => import("./collector.js").Repeating;
