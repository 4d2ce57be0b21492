// Everything: all schemes, and sending. A page that needs less imports `loader`, `joiner` and the families that it uses.

import { joiner } from "./collector.js";
import { load } from "./device.js";
import { rota } from "./rota.js";

export { joiner } from "./collector.js";
export { DeviceError, load, loader, wordSource } from "./device.js";
export { localHash } from "./hashing.js";
export { normalized } from "./normalizing.js";

/** Join a collection: fetch and check it, and send again what was not acknowledged. */
export const join = joiner(load, rota);
