export type Turns = {
    /**
     * that the question repeats
     */
    series: string;
    /**
     * of which one is this browser's turn
     */
    slots: number;
    /**
     * of that slot
     */
    offset: number;
};
/**
 * @typedef {object} Turns
 * @property {string} series that the question repeats
 * @property {number} slots of which one is this browser's turn
 * @property {number} offset of that slot
 */
/** The version of a database that has more than reports. */
export declare const VERSION = 2;
export declare const FREE = "0/1";
/** @param {unknown} it @param {number} least */
export declare const isWhole: (it: unknown, least: number) => boolean;
/** The turns of a question, for `joiner`. @param {string} question @returns {import("./collector.js").Repeating} */
export declare const rota: (question: string) => import("./collector.js").Repeating;
