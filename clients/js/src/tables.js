// Tables of several attributes: records, and schemes that report some of their attributes together.

import { grouped, inside, outside, weightsOf } from "./core.js";
import { domain, fieldsOf, flag, list, oracle, reject, text, whole, WORD } from "./documents.js";

/** @typedef {import("./documents.js").Document} Document */
/** @typedef {import("./documents.js").Domain} Domain */
/** @typedef {import("./documents.js").Randomizer} Randomizer */
/** @typedef {Domain & { sizes: number[] }} Table */
/** @typedef {{ name: string, missing: boolean, items: number, total: boolean, encode: Domain["encode"] }} Attribute */

const MOST_ATTRIBUTES = 64;
const MOST_CLIQUES = 4096;
const MOST_ORACLES = 256;

/** @type {import("./documents.js").Kind<Attribute>} */
const attribute = (it, known) => {
  const fields = fieldsOf(it, known, "attributes");
  const [name, missing] = [fields.read("name", text), fields.read("missing", flag)];
  // A table within a table is refused before it is read: they could be nested as deep as the document is long.
  const { table, ...others } = known.domains;
  const { type, items, total, encode } = fields.read("domain", (inner) => domain(inner, { ...known, domains: others }, "domain"));
  fields.close();
  // Values in order have a cell for missing ones if they are total; a second one would never be used.
  const twice = missing && total && type !== "integers" && type !== "labels";
  return name && items && !twice ? { name, missing, items, total, encode } : undefined;
};

// An encoded record is the list of its values' codes.
/** @type {(fields: import("./documents.js").Fields) => Table} */
const table = (fields) => {
  const attributes = fields.read("attributes", list(attribute));
  const names = attributes.map(({ name }) => name);
  const sizes = attributes.map(({ items, missing }) => items + +missing);
  const records = sizes.reduce((all, size) => all * BigInt(size), 1n);
  const fits = names.length > 1 && names.length <= MOST_ATTRIBUTES && records < WORD;
  if (!fits || new Set(names).size !== names.length) reject("attributes");
  return {
    total: attributes.every(({ total }) => total),
    sizes,
    encode(value) {
      // A record by its names, or in the order of the attributes. A map, because an attribute may be called __proto__.
      const named = new Map(value && typeof value === "object" ? Object.entries(value) : []);
      const values = Array.isArray(value) ? value : names.map((name) => (named.has(name) ? named.get(name) : outside()));
      if ((Array.isArray(value) ? value.length : named.size) !== names.length) outside();
      return attributes.map(({ missing, items, encode }, i) => (missing && (values[i] ?? null) === null ? items : encode(values[i])));
    },
  };
};

// An encoded list of items says of each whether it was chosen; the last one may stand for all others.
/** @type {(fields: import("./documents.js").Fields) => Table} */
const choices = (fields) => {
  const [items, total] = [fields.read("items", list(text)), fields.read("other", flag)];
  const [places, sizes] = [new Map(items.map((item, i) => [item, i])), Array(items.length + +total).fill(2)];
  const fits = places.size === items.length && sizes.length > 1 && sizes.length < MOST_ATTRIBUTES;
  if (!fits || places.has("") || (total && places.has("other"))) reject("items");
  return {
    total,
    sizes,
    encode(value) {
      const chosen = Array.isArray(value) || value instanceof Set ? [...value] : outside();
      const codes = sizes.map(() => 0);
      for (const item of chosen)
        codes[typeof item === "string" ? (places.get(item) ?? (total ? items.length : outside())) : outside()] = 1;
      return codes;
    },
  };
};

/** @param {Document} scheme @returns {number[]} */
const sizesOf = ({ domain }) => /** @type {Table} */ (domain).sizes ?? reject("domain");

// The parts that report the cells of sets of attributes; sets with equally many cells share an oracle.
/** @param {Document} scheme @param {number[][]} cliques */
const joints = (scheme, cliques) => {
  const [sizes, tellers] = [sizesOf(scheme), scheme.read("oracles", list(oracle))];
  const [bySize, used] = [new Map(tellers.map((teller) => [teller.size, teller])), new Set()];
  if (tellers.length > MOST_ORACLES) reject("oracles");
  const parts = cliques.map((clique) => {
    const teller = bySize.get(clique.reduce((cells, i) => cells * sizes[i], 1));
    if (!teller || teller.sketch) return reject("oracles");
    used.add(teller);
    return {
      ...teller.randomizer,
      item: (/** @type {number[]} */ codes) => clique.reduce((cell, i) => cell * sizes[i] + inside(codes[i], sizes[i]), 0),
    };
  });
  return used.size === tellers.length ? parts : reject("oracles");
};

/** @param {Document} scheme */
const attributesOf = (scheme) => joints(scheme, sizesOf(scheme).map((_, i) => [i]));

// A public set of attributes, and the cell of the record in the table of all of them.
/** @type {(scheme: Document) => Randomizer} */
const clique = (scheme) => {
  const places = list(whole(0, sizesOf(scheme).length - 1));
  const cliques = scheme.read("cliques", list((it, ...rest) => {
    const own = places(it, ...rest);
    return own?.length && own.every((place, i) => !i || place > own[i - 1]) ? own : undefined;
  }));
  if (cliques.length > MOST_CLIQUES) reject("cliques");
  return grouped(joints(scheme, cliques).map((part) => [part]), weightsOf(scheme));
};

// A public attribute, and its value.
/** @type {(scheme: Document) => Randomizer} */
const sampledAttribute = (scheme) => {
  const parts = attributesOf(scheme);
  return grouped(parts.map((part) => [part]), parts.map(() => 1));
};

// The values of all attributes, which share epsilon.
/** @type {(scheme: Document) => Randomizer} */
const splitAttributes = (scheme) => grouped([attributesOf(scheme)], [1]);

/** @type {import("./documents.js").Family} */
export const tables = {
  domains: { table, choices },
  schemes: { CLIQUE: clique, SMP: sampledAttribute, SPL: splitAttributes },
};
