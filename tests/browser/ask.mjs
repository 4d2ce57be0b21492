// node ask.mjs CLIENT: the answers of a client's module to the questions on standard input, one a line.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { answers } from "./probe.mjs";

const client = await import(pathToFileURL(resolve(process.argv[2])));
process.stdout.write(answers(client, readFileSync(0, "utf8")).map((line) => `${line}\n`).join(""));
