// The twin of device.py, for every scheme of the catalogue: scheme JSON + value -> record bytes.

import { loader } from "./core.js";
import { memos } from "./memos.js";
import { normalizing } from "./normalizing.js";
import { oracles } from "./oracles.js";
import { orderedSchemes } from "./ordered-schemes.js";
import { ordered } from "./ordered.js";
import { searches } from "./searches.js";
import { sketches } from "./sketches.js";
import { tables } from "./tables.js";

export { DeviceError, loader, wordSource } from "./core.js";

/**
 * The client of a scheme's JSON text. Refuses a scheme that breaks its own promise, or the application's.
 * @type {(text: string, policy?: import("./core.js").Policy) => import("./core.js").Client}
 */
export const load = loader(oracles, sketches, searches, ordered, orderedSchemes, tables, memos, normalizing);
