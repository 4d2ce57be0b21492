export type Outcome = "counted" | "closed" | "full" | "refused" | "early" | "kept" | "not due" | "unreachable" | "declined";
export type Options = {
    /**
     * the total epsilon that this browser spends on the question, in its lifetime
     */
    maxEpsilon: number | string;
    /**
     * of the only scheme to accept; without it, the first scheme of the question is pinned
     */
    fingerprint?: string;
    /**
     * the application's name of the question; by default, all collections of a host are one
     */
    question?: string;
    /**
     * whether the visitor lets the page report at all
     */
    allowed?: () => boolean | Promise<boolean>;
    /**
     * seconds for which a report is sent again after a failure; 30
     */
    patience?: number;
    /**
     * false accepts a scheme that refuses some values
     */
    total?: boolean;
};
export type Facts = {
    question: string;
    /**
     * the collection, its series, or its slot in a series with a rota
     */
    slot: string;
    collection: string;
    fingerprint: string;
    epsilon: string;
    outcome: Outcome;
};
export type Entry = Facts & {
    waiting?: {
        address: string;
        body: Uint8Array<ArrayBuffer>;
    };
};
export type Collector = {
    /**
     * randomize a value and send its report, once for each collection
     */
    report: (value: any) => Promise<Outcome>;
    /**
     * send the reports again that were not acknowledged
     */
    resend: () => Promise<void>;
    /**
     * what this browser has sent to the question
     */
    sent: () => Promise<Facts[]>;
    /**
     * of this browser, if the client has a rota
     */
    turns?: () => Promise<import("./rota.js").Turns | undefined>;
};
export type Ledger = <T>(change: (entries: Entry[], store: IDBObjectStore) => T | Promise<T>) => Promise<T>;
/** @param {string} expected @returns {never} */
export declare const distrust: (expected: string) => never;
/** The result of a request to the database, or the end of a transaction.
 * @template T @param {IDBRequest<T> | any} pending @returns {Promise<T>} */
export declare const done: <T>(pending: IDBRequest<T> | any) => Promise<T>;
/**
 * A function that joins collections with schemes that `load` knows.
 * @param {(json: string, policy?: import("./core.js").Policy) => import("./core.js").Client} load
 * @param {typeof import("./rota.js").rota} [rota] for series with a rota; without it, a series gets one report
 * @returns {(url: string, options: Options) => Promise<Collector>}
 */
export declare const joiner: (load: (json: string, policy?: import("./core.js").Policy) => import("./core.js").Client, rota?: typeof import("./rota.js").rota) => (url: string, options: Options) => Promise<Collector>;
