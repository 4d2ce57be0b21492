export { joiner } from "./collector.js";
export { DeviceError, load, loader, wordSource } from "./device.js";
export { localHash } from "./hashing.js";
export { normalized } from "./normalizing.js";
/** Join a collection: fetch and check it, and send again what was not acknowledged. */
export declare const join: (url: string, options: import("./collector.js").Options) => Promise<import("./collector.js").Collector>;
