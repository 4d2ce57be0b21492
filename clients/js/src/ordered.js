// Values that have an order: whole numbers, bins, dates and durations. Every oracle takes them.

import { outside } from "./core.js";
import { choice, list, reject, text, whole } from "./documents.js";

/** @typedef {import("./documents.js").Fields} Fields */
/** @typedef {import("./documents.js").Domain} Domain */
/** @typedef {number | bigint | undefined} Measure a number, which JavaScript compares exactly; undefined if missing */

const DAY = 86_400_000;
const LARGEST = Number.MAX_SAFE_INTEGER;

// An option is in a document only where it is not its default.
/** @param {Fields} fields @param {string} name @param {unknown} value */
const given = (fields, name, value) => fields.has(name) && !!fields.read(name, choice(value));

/** @param {Fields} fields */
const labelled = (fields) => {
  if (fields.has("unit") && !/^.{1,40}$/su.test(fields.read("unit", text))) reject("unit");
};

// A value outside the range is the nearest item; missing ones, and infinite ones that are not clamped, are the last item.
/** @type {(fields: Fields, length: number, measure: (value: any) => Measure, place: (number: number | bigint) => number,
 *   finite?: boolean) => Domain} */
const inOrder = (fields, length, measure, place, finite) => {
  const total = given(fields, "other", true);
  const clamps = !finite && given(fields, "infinite", "clamp");
  const items = length + +total;
  if (length < 2 || items > 2 ** 32) reject("domain");
  return {
    items,
    total,
    encode(value) {
      const number = measure(value);
      // A bigint has no infinity; of numbers, NaN alone differs from itself.
      const there = number === number && (clamps || typeof number === "bigint" || Number.isFinite(number));
      return number !== undefined && there ? place(number) : total ? length : outside();
    },
  };
};

/** @param {any} value @returns {Measure} */
const plain = (value) => {
  if (value === null || value === undefined || typeof value === "string") return undefined;
  return typeof value === "number" || typeof value === "bigint" ? value : outside();
};

/** @type {(fields: Fields, low: number, high: number, measure: (value: any) => Measure, finite?: boolean) => Domain} */
const range = (fields, low, high, measure, finite) =>
  inOrder(
    fields,
    high - low + 1,
    measure,
    (number) => (number >= high ? high - low : number <= low ? 0 : Math.floor(Number(number)) - low),
    finite,
  );

/** @param {Fields} fields */
const wholeNumbers = (fields) => {
  labelled(fields);
  const [low, high] = ["low", "high"].map((name) => fields.read(name, whole(-LARGEST, LARGEST)));
  return range(fields, low, high, plain);
};

// The text of a double as Python writes it: the shortest that it is read from, with an exponent below 1e-4 and from 1e16.
/** @param {number} number */
const textOf = (number) => {
  const [digits, exponent] = number.toExponential().split("e");
  const size = Number(exponent);
  if (size < -4 || size >= 16) return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
  return Number.isInteger(number) ? `${number}.0` : `${number}`;
};

/** A number that is whole and below 2^53, or the text of another one. @type {import("./documents.js").Kind<number>} */
const edge = (it) => {
  if (Number.isSafeInteger(it)) return it;
  const number = typeof it === "string" ? Number(it) : NaN;
  return Number.isFinite(number) && !Number.isSafeInteger(number) && textOf(number) === it ? number : undefined;
};

/** @param {Fields} fields */
const bins = (fields) => {
  labelled(fields);
  const edges = fields.read("edges", list(edge));
  if (edges.some((one, i) => one <= edges[i - 1])) reject("edges");
  // The last bin that starts at the number or below it.
  return inOrder(fields, edges.length - 1, plain, (number) => {
    let [first, last] = [0, edges.length - 2];
    while (first < last) {
      const middle = (first + last + 1) >> 1;
      if (edges[middle] <= number) first = middle;
      else last = middle - 1;
    }
    return first;
  });
};

/** Days since 1970-01-01 of a text such as 2026-01-31. @type {import("./documents.js").Kind<number>} */
const day = (it) => {
  const time = /^(?!0000)\d{4}-\d\d-\d\d$/.test(it) ? Date.parse(it) : NaN; // in UTC; some browsers turn February 30 into March
  return time === time && new Date(time).toISOString().slice(0, 10) === it ? time / DAY : undefined;
};

/** @type {(fields: Fields) => Domain} */
const dates = (fields) =>
  range(
    fields,
    fields.read("first", day),
    fields.read("last", day),
    (value) => {
      if (value === null || value === undefined || value !== value) return undefined;
      if (typeof value === "string") return day(value, fields.known, "");
      return value instanceof Date ? Math.floor(value.getTime() / DAY) : outside();
    },
    true,
  );

// JavaScript has no durations: a value is a number of this unit.
/** @param {Fields} fields */
const durations = (fields) => {
  fields.read("unit", choice("ms", "s", "min", "h", "d"));
  return wholeNumbers(fields);
};

/** @type {import("./documents.js").Family} */
export const ordered = { domains: { "whole numbers": wholeNumbers, bins, dates, durations } };
