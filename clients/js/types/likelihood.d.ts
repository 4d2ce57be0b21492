export type Source = import("./documents.js").Source;
/**
 * The probability of every record of a value, by the hexadecimal text of its bytes, given the same public coins. Only for
 * schemes with few outcomes; undefined for others.
 * @param {import("./core.js").Client} client @param {any} value @param {any[]} drawn public coins, `client.randomizer.draw(source)`
 * @returns {Map<string, number> | undefined}
 */
export declare const lawOf: ({ encode, randomizer }: import("./core.js").Client, value: any, drawn: any[]) => Map<string, number> | undefined;
