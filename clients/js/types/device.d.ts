export { DeviceError, loader, wordSource } from "./core.js";
/**
 * The client of a scheme's JSON text. Refuses a scheme that breaks its own promise, or the application's.
 * @type {(text: string, policy?: import("./core.js").Policy) => import("./core.js").Client}
 */
export declare const load: (text: string, policy?: import("./core.js").Policy) => import("./core.js").Client;
