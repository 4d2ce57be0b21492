// The arithmetic of the try page: JSON {kind, epsilon, thresholds, counts, n} a line in, {document, chances, found} a line out.

import { createInterface } from "node:readline";
import { documentOf, estimate, likelihoods, named, pairOf, standardError, timesAsMany } from "../../clients/try/chances.js";

for await (const line of createInterface({ input: process.stdin })) {
  const { kind, epsilon, thresholds, records } = JSON.parse(line);
  const pair = pairOf(kind, thresholds);
  const counts = new Array(8).fill(0);
  for (const byte of records) for (const i of named(kind, byte)) counts[i]++;
  console.log(
    JSON.stringify({
      document: documentOf(kind, epsilon, thresholds),
      chances: Array.from({ length: kind === "DE" ? 8 : 256 }, (_, byte) => likelihoods(kind, thresholds, byte)),
      found: counts.map((count) => estimate(pair, count, records.length)),
      error: standardError(pair, records.length, 0),
      times: timesAsMany(pair, pair),
    }),
  );
}
