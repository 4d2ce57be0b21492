// A collection as a page sees it: what is asked, what may be spent on it, and sending one report.
//
// The ledger is the twin of the Python client's: a report is entered, with its random key, before the first byte is sent,
// and its epsilon is spent whatever happens then. It has no value and no time.

import { field, fractionOf, parse } from "./core.js";
import { refuse } from "./documents.js";

/**
 * @typedef {"counted" | "closed" | "full" | "refused" | "early" | "kept" | "not due" | "unreachable" | "declined"} Outcome
 *
 * @typedef {object} Options
 * @property {number | string} maxEpsilon the total epsilon that this browser spends on the question, in its lifetime
 * @property {string} [fingerprint] of the only scheme to accept; without it, the first scheme of the question is pinned
 * @property {string} [question] the application's name of the question; by default, all collections of a host are one
 * @property {() => boolean | Promise<boolean>} [allowed] whether the visitor lets the page report at all
 * @property {number} [patience] seconds for which a report is sent again after a failure; 30
 * @property {boolean} [total] false accepts a scheme that refuses some values
 *
 * @typedef {object} Facts a report in the ledger
 * @property {string} question
 * @property {string} slot the collection, its series, or its slot in a series with a rota
 * @property {string} collection
 * @property {string} fingerprint
 * @property {string} epsilon
 * @property {Outcome} outcome
 *
 * @typedef {Facts & { waiting?: { address: string, body: Uint8Array<ArrayBuffer> } }} Entry
 *
 * @typedef {object} Collector
 * @property {(value: any) => Promise<Outcome>} report randomize a value and send its report, once for each collection
 * @property {() => Promise<void>} resend send the reports again that were not acknowledged
 * @property {() => Promise<Facts[]>} sent what this browser has sent to the question
 * @property {() => Promise<import("./rota.js").Turns | undefined>} [turns] of this browser, if the client has a rota
 *
 * @typedef {<T>(change: (entries: Entry[], store: IDBObjectStore) => T | Promise<T>) => Promise<T>} Ledger
 */

// Of all requests of a page that outlive it together.
const MOST_KEPT_ALIVE = 60_000;
const REQUEST_MILLISECONDS = 20_000;
// The largest answer in bytes: a document has a scheme of at most half that many characters.
const MOST_ANSWERED = 2 ** 26;
/** @type {Record<number, Outcome>} */
const STATUSES = { 400: "refused", 404: "refused", 409: "early", 410: "closed", 413: "refused", 429: "full" };

/** @param {string} expected @returns {never} */
export const distrust = (expected) => refuse(`expected the ${expected}`, "UntrustedError");

/** @param {ArrayLike<number>} bytes */
const hexOf = (bytes) => Array.from(bytes, (byte) => (256 + byte).toString(16).slice(1)).join("");

/** @param {BufferSource} bytes */
const digestOf = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));

// --- requests -------------------------------------------------------------------------------------------------

/** The status, body and type of an answer; none if there is none. Redirects are not followed: the address is the page's
 * choice. @param {string} address @param {RequestInit} [options] @returns {Promise<[number, Blob?, (string | null)?]>} */
const exchange = async (address, options) => {
  try {
    const response = await fetch(address, {
      ...options,
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(REQUEST_MILLISECONDS),
    });
    // Some browsers have no stream for an empty body.
    const reader = response.body?.getReader();
    let body = new Blob();
    /** @type {Uint8Array<ArrayBuffer> | undefined} */
    let piece;
    // Quoted, because the bundle has a shorter name for the `read` of our own documents.
    while (body.size < MOST_ANSWERED && (piece = (await reader?.["read"]())?.value)) body = new Blob([body, piece]);
    return [response.status, body, response.headers.get("content-type")];
  } catch {
    return [500];
  }
};

/** The wire batch of one record: its scheme and a checksum travel along.
 * @param {Uint8Array} fingerprint @param {Uint8Array} record */
const batchOf = (fingerprint, record) => {
  const body = [80, 76, 66, 1, ...fingerprint.slice(0, 16), ...field(1, 2 ** 64), ...record];
  let crc = -1;
  for (const byte of body) {
    crc ^= byte;
    for (let i = 0; i < 8; i++) crc = (crc >>> 1) ^ (crc & 1 && 0xedb88320);
  }
  return Uint8Array.from([...body, ...field(~crc >>> 0, 2 ** 32)]);
};

// --- the database ---------------------------------------------------------------------------------------------

/** The result of a request to the database, or the end of a transaction.
 * @template T @param {IDBRequest<T> | any} pending @returns {Promise<T>} */
export const done = (pending) =>
  new Promise((resolve, reject) => {
    pending.onsuccess = pending.oncomplete = () => resolve(pending.result);
    // An error of a request reaches its transaction before that is aborted, and has no error then.
    pending.onerror = pending.onabort = (/** @type {any} */ { target }) => reject(target.error);
  });

// --- the collection -------------------------------------------------------------------------------------------

/**
 * A function that joins collections with schemes that `load` knows.
 * @param {(json: string, policy?: import("./core.js").Policy) => import("./core.js").Client} load
 * @param {typeof import("./rota.js").rota} [rota] for series with a rota; without it, a series gets one report
 * @returns {(url: string, options: Options) => Promise<Collector>}
 */
export const joiner = (load, rota) => async (url, options) => {
  const { href, hostname } = new URL(url, location.href);
  const [here, base, id] =
    /^(https?:[^?#@]+)\/collections\/([\da-f]{64})$/.exec(href) ?? refuse("expected https://host/v1/collections/ID", "TypeError");
  /** @type {any} */
  const wishes = navigator;
  const {
    maxEpsilon,
    fingerprint,
    patience = 30,
    total,
    question = `host ${hostname}`,
    allowed = () => !wishes.globalPrivacyControl && !(wishes.doNotTrack > 0),
  } = options;
  const turns = rota?.(question);
  const limit = fractionOf(maxEpsilon);

  /** The report to the collection, or to its series. @param {Entry[]} entries */
  const known = (entries) => entries.find((entry) => entry.collection === id || entry.slot === asked?.slot);

  /** Read the entries of the question and change them, in one transaction that is on the disk when this ends.
   * @type {Ledger} */
  const ledger = async (change) => {
    const opening = indexedDB.open("plausibly", turns ? turns.version() : 1);
    // A ledger that is there only gets another version.
    opening.onupgradeneeded = (event) =>
      (turns && event.oldVersion) || opening.result.createObjectStore("reports", { keyPath: ["question", "slot"] });
    const database = await done(opening);
    const transaction = database.transaction("reports", "readwrite", { durability: "strict" });
    database.close(); // when the transaction has ended
    turns?.expect(database.version);
    const store = transaction.objectStore("reports");
    const changed = await change(await done(store.getAll(IDBKeyRange.bound([question], [question, []]))), store);
    await done(transaction);
    return changed;
  };

  const fetched = async () => {
    const [status, content] = await exchange(here);
    // Busy, or not well: that may pass, and is no reason to distrust.
    if (!content || status > 404) return undefined;
    if (hexOf(await digestOf(await content.arrayBuffer())) !== id) distrust("document of this id");
    const document = parse(await content.text());
    const { version, scheme, series = null, window } = document;
    if (version !== 1) distrust("version");
    const json = JSON.stringify(scheme);
    const digest = await digestOf(new TextEncoder().encode(json));
    const mine = hexOf(digest);
    // Not merely if there is one: an empty text may be a page's template that was not filled.
    if ((fingerprint ?? mine) !== mine) distrust("scheme of this fingerprint");
    const client = load(json, { maxEpsilon, total });
    return { client, digest, mine, window, slot: turns?.slotOf(document) ?? (series === null ? id : `series ${series}`) };
  };
  /** @type {Awaited<ReturnType<typeof fetched>>} */
  let asked;

  /** The entry of the report, or only the reason why there is none. Several tabs may try at once, and one is the first.
   * @param {any} value @returns {Promise<Partial<Entry> & { outcome: Outcome }>} */
  const entered = async (value) => {
    const before = await ledger(known);
    if (before) return before;
    asked ??= await fetched();
    if (!asked) return { outcome: "unreachable" };
    const { client, digest, mine, slot, window } = asked;
    if (Date.now() < Date.parse(window.opens)) return { outcome: "early" };
    if (Date.now() >= Date.parse(window.closes)) return { outcome: "closed" };
    const body = batchOf(digest, client.privatize(value));
    const key = hexOf(crypto.getRandomValues(new Uint8Array(16)));
    /** @type {Entry} */
    const entry = { question, slot, collection: id, fingerprint: mine, epsilon: client.epsilon.join("/"), outcome: "kept", waiting: { address: `${here}/reports/${key}`, body } };
    return ledger(async (entries, store) => {
      const first = known(entries);
      if (first) return first;
      if (turns && (await turns.isIdle(entries, store))) return { outcome: "not due" };
      if (!fingerprint && entries.length && !entries.some((entry) => entry.fingerprint === mine))
        distrust("scheme seen first for this question");
      // What is left of the total.
      let [a, b] = limit;
      for (const [c, d] of [entry, ...entries].map(({ epsilon }) => fractionOf(epsilon))) [a, b] = [a * d - c * b, b * d];
      if (a < 0n) refuse(`expected a total epsilon of at most ${maxEpsilon}`, "SpentError");
      store.add(entry);
      return entry;
    });
  };

  /** @param {Partial<Entry> & { outcome: Outcome }} entry @param {number} seconds @returns {Promise<Outcome>} */
  const deliver = async ({ waiting, ...facts }, seconds) => {
    if (!waiting?.address.startsWith(base)) return facts.outcome;
    const { address, body } = waiting;
    // Not by the clock, which may be set back meanwhile.
    const until = performance.now() + 1000 * seconds;
    for (let pause = 200; ; pause *= 2) {
      const [status, content, type] = await exchange(address, { method: "POST", body, keepalive: body.length < MOST_KEPT_ALIVE });
      // A proxy may answer in the collector's place: an acknowledgement has no body, a refusal is a problem document.
      const counted = status >> 1 === 100 && !content?.size;
      const outcome = counted ? "counted" : ((type === "application/problem+json" && STATUSES[status]) || "kept");
      if (outcome !== "kept") {
        if (outcome !== "early") await ledger((_, store) => store.put({ ...facts, outcome }));
        return outcome;
      }
      if (performance.now() + pause > until) return outcome;
      // Not all at once: browsers which failed together do not return together.
      await new Promise((go) => setTimeout(go, pause * (1 - Math.random() / 2)));
    }
  };

  // One tab at a time, so that the others find what it has sent; and only if the visitor allows it.
  /** @template T, U @param {() => Promise<T>} work @param {U} declined @returns {Promise<T | U>} */
  const alone = async (work, declined) =>
    (await allowed()) ? navigator.locks.request(`plausibly ${question}`, work) : declined;

  const resend = () =>
    alone(async () => {
      for (const entry of await ledger((entries) => entries)) await deliver(entry, 0);
    }, undefined);

  if (await allowed()) {
    resend().catch(() => {});
    (await ledger(known)) || (asked = await fetched());
  }
  return {
    report: (value) => alone(async () => deliver(await entered(value), patience), /** @type {const} */ ("declined")),
    resend,
    sent: () => ledger((entries) => entries.map(({ waiting, ...facts }) => facts)),
    ...turns?.methods(ledger),
  };
};
