export type Entry = import("./collector.js").Entry;
export type Ledger = import("./collector.js").Ledger;
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
/** The turns of a question, for `joiner`. @param {string} question */
export declare const rota: (question: string) => {
    /** The version of the database to ask for; undefined for the one that is there. */
    version: () => 2 | undefined;
    /** @param {number} version of the database that is there */
    expect(version: number): void;
    /** The slot of a collection in the ledger; undefined without a rota. @param {any} document */
    slotOf({ series, slot, rota: slots }: any): string | undefined;
    /**
     * Whether another slot is this browser's turn. The first call draws the turns.
     *
     * A slot before the last report is over, whatever the clock says now. A question has one series and one rota: a server
     * that could name another would get a second report within the slots of the first.
     * @param {Entry[]} entries @param {IDBObjectStore} store
     */
    isIdle(entries: Entry[], store: IDBObjectStore): Promise<boolean>;
    /** Methods of the collector beside those that every client has. @param {Ledger} ledger */
    methods: (ledger: Ledger) => {
        turns: () => Promise<{
            series: string;
            slots: number;
            offset: number;
        } | undefined>;
    };
};
