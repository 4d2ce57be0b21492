// The turns of a browser in a question that is repeated: one slot of any window of consecutive slots.
//
// The twin of the Python client's rota and of its ledger with turns. The offset is drawn once and lies beside the reports
// of the question, so one transaction reads it, or draws it, and decides. A ledger with turns is a database of version 2:
// clients that do not know turns would lose them, and cannot open it.

import { distrust, done } from "./collector.js";
import { wordSource } from "./core.js";

/** @typedef {import("./collector.js").Entry} Entry */
/** @typedef {import("./collector.js").Ledger} Ledger */

/**
 * @typedef {object} Turns
 * @property {string} series that the question repeats
 * @property {number} slots of which one is this browser's turn
 * @property {number} offset of that slot
 */

const VERSION = 2;
const MOST_SLOTS = 2 ** 31;
// Behind the reports of the question, whose slots are texts.
const KEY = ["rota"];

/** @param {unknown} it @param {number} least */
const isWhole = (it, least) => Number.isSafeInteger(it) && Number(it) >= least && Number(it) < MOST_SLOTS;

/** @returns {never} */
const another = () => distrust("series and rota seen first for this question");

/** The turns of a question, for `joiner`. @param {string} question */
export const rota = (question) => {
  /** The series and the rota that the collection belongs to. @type {Omit<Turns, "offset"> & { slot: number } | undefined} */
  let place;

  /** @param {IDBObjectStore} store @returns {Promise<Turns | undefined>} */
  const kept = (store) => done(store.get([question, KEY]));

  return {
    /** The version of the database to ask for; undefined for the one that is there. */
    version: () => place && VERSION,

    /** @param {number} version of the database that is there */
    expect(version) {
      if (version > VERSION) distrust("version of the ledger");
    },

    /** The slot of a collection in the ledger; undefined without a rota. @param {any} document */
    slotOf({ series, slot, rota: slots }) {
      if (slots == null) return undefined;
      if (!series || typeof series !== "string" || !isWhole(slot, 0) || !isWhole(slots, 2)) distrust("series and slot of a rota");
      place = { series, slots, slot };
      return `${slot} of ${series}`;
    },

    /**
     * Whether another slot is this browser's turn. The first call draws the turns.
     *
     * A slot before the last report is over, whatever the clock says now. A question has one series and one rota: a server
     * that could name another would get a second report within the slots of the first.
     * @param {Entry[]} entries @param {IDBObjectStore} store
     */
    async isIdle(entries, store) {
      const before = await kept(store);
      if (!before && !place) return false;
      const { series, slots, slot } = place ?? another();
      const turns = before ?? { series, slots, offset: entries.length ? another() : wordSource(1).below(slots) };
      const { offset } = turns;
      if (turns.series !== series || turns.slots !== slots || !isWhole(offset, 0) || offset >= slots) another();
      if (!before) store.add({ question, slot: KEY, ...turns });
      return slot % slots !== offset || !entries.every((entry) => parseInt(entry.slot) < slot);
    },

    /** Methods of the collector beside those that every client has. @param {Ledger} ledger */
    methods: (ledger) => ({
      turns: () =>
        ledger(async (_, store) => {
          const turns = await kept(store);
          return turns && { series: turns.series, slots: turns.slots, offset: turns.offset };
        }),
    }),
  };
};
