// Users who report again and again: the turns of a browser, and one memo for each question.
//
// The twin of the Python client's ledger with memos. The key of the memo lies beside the reports of the question, so one
// transaction reads it, or draws it, and enters the report. Such a ledger has the version of one with turns: older
// clients cannot read what a report from a memo has cost.

import { batchOf, distrust, done } from "./collector.js";
import { wordSource } from "./core.js";
import { FREE, VERSION, isWhole, rota } from "./rota.js";

// Behind the reports of the question, whose slots are texts.
const KEY = ["memo"];

/**
 * The turns and the memo of a question, for `joiner`.
 * @param {string} question @param {import("./collector.js").Options} options
 * @returns {import("./collector.js").Repeating}
 */
export const repeats = (question, { maxEpsilon, total, memo }) => {
  const turns = rota(question);
  /** The scheme with a memo that is asked. @type {{ client: import("./core.js").Client, digest: Uint8Array } | undefined} */
  let lasting;

  return {
    ...turns,
    policy: { maxEpsilon, total, memo: "once" },
    version: () => (lasting ? VERSION : turns.version()),

    slotOf(document, client, digest) {
      const { series, slot } = document;
      if (client.randomizer.remember) {
        if (memo !== true) distrust("option memo: true, for a scheme with a memo");
        lasting = { client, digest };
      }
      const isPlaced = lasting && series != null && isWhole(slot, 0);
      return turns.slotOf(document, client, digest) ?? (isPlaced ? `${slot} of ${series}` : undefined);
    },

    /**
     * The report comes from the memo, whose key the first call draws. Its entry pays for the whole memo, whatever the value:
     * if each entry of the memo were paid when a value opens it, the ledger would tell how often the value changed.
     */
    async instead(entries, store, entry, value) {
      // A collection of the whole series has no report beside those of its slots.
      const told =
        entries.find(({ slot }) => slot.replace(/^\d+ of /, "series ") === entry.slot) ??
        (await turns.instead(entries, store, entry, value));
      if (told || !lasting) return told;
      const { client, digest } = lasting;
      const { subject, price, remember } = /** @type {Required<import("./documents.js").Randomizer>} */ (client.randomizer);
      const kept = await done(store.get([question, KEY]));
      if (!kept && entries.some((each) => each.memo)) distrust("key of the memo");
      const { key } = kept ?? { key: crypto.getRandomValues(new Uint8Array(32)) };
      const made = /** @type {typeof client.randomizer} */ (remember({ key, series: question }, price));
      const source = wordSource(made.words);
      // Instead of the report of a user who never reports again.
      entry.waiting.body = batchOf(digest, made.record(client.encode(value), made.draw(source), source));
      entry.epsilon = entries.some((each) => each.memo === subject) ? FREE : price.join("/");
      entry.memo = subject;
      if (!kept) store.add({ question, slot: KEY, key });
      return undefined;
    },
  };
};
