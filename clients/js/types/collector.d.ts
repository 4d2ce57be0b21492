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
    /**
     * true accepts a scheme with a memo, if the client has `repeats`: its epsilon bounds what is
     * learned about values, not whether and when a value changed
     */
    memo?: boolean;
};
export type Facts = {
    question: string;
    /**
     * the collection, its series, or its slot in a series with a rota or a memo
     */
    slot: string;
    collection: string;
    fingerprint: string;
    epsilon: string;
    outcome: Outcome;
    /**
     * everything that the memo of the report depends on
     */
    memo?: string;
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
export type Repeating = {
    /**
     * for the scheme, instead of the usual one
     */
    policy?: import("./core.js").Policy;
    /**
     * of the database to ask for; undefined for the one that is there
     */
    version: () => number | undefined;
    /**
     * refuse the version of the database that is there
     */
    expect: (version: number) => void;
    /**
     *   a collection in the ledger; undefined for the usual one
     */
    slotOf: (document: any, client: import("./core.js").Client, digest: Uint8Array) => string | undefined;
    /**
     * what there is instead of a new entry, which may
     * also be changed before it is paid
     */
    instead: (entries: Entry[], store: IDBObjectStore, entry: Entry & Required<Pick<Entry, "waiting">>, value: any) => Promise<(Partial<Entry> & {
        outcome: Outcome;
    }) | undefined>;
    /**
     * whether a report has cost epsilon
     */
    costs: (entry: Entry) => boolean;
    /**
     * beside those that every client has
     */
    methods: (ledger: Ledger) => Partial<Collector>;
};
/** @param {string} expected @returns {never} */
export declare const distrust: (expected: string) => never;
/** The wire batch of one record: its scheme and a checksum travel along.
 * @param {Uint8Array} fingerprint @param {ArrayLike<number> & Iterable<number>} record */
export declare const batchOf: (fingerprint: Uint8Array, record: ArrayLike<number> & Iterable<number>) => Uint8Array<ArrayBuffer>;
/** The result of a request to the database, or the end of a transaction.
 * @template T @param {IDBRequest<T> | any} pending @returns {Promise<T>} */
export declare const done: <T>(pending: IDBRequest<T> | any) => Promise<T>;
/**
 * A function that joins collections with schemes that `load` knows.
 * @param {(json: string, policy?: import("./core.js").Policy) => import("./core.js").Client} load
 * @param {(question: string, options: Options) => Repeating} [repeats] `rota` for series with a rota, or `repeats` for memos
 *   too; without it, a series gets one report
 * @returns {(url: string, options: Options) => Promise<Collector>}
 */
export declare const joiner: (load: (json: string, policy?: import("./core.js").Policy) => import("./core.js").Client, repeats?: (question: string, options: Options) => Repeating) => (url: string, options: Options) => Promise<Collector>;
