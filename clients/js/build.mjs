// Makes dist/ and types/ from src/: node build.mjs TOOLS OUTPUT, where TOOLS has the node_modules.
//
// The bundle is reproducible: the versions of the tools are locked, and a test compares.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [tools, output] = process.argv.slice(2).map((path) => resolve(path));
const here = dirname(fileURLToPath(import.meta.url));
const tool = createRequire(join(tools, "package.json"));
const NAME = "plausibly-client.min.js";

const { outputFiles } = await tool("esbuild").build({
  entryPoints: [join(here, "src", "index.js")],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  write: false,
});
const [{ contents }] = outputFiles;
mkdirSync(join(output, "dist"), { recursive: true });
writeFileSync(join(output, "dist", NAME), contents);
const integrity = createHash("sha384").update(contents).digest("base64");
writeFileSync(join(output, "dist", `${NAME}.integrity`), `sha384-${integrity}\n`);

const tsc = join(dirname(tool.resolve("typescript/package.json")), "bin", "tsc");
execFileSync(process.execPath, [tsc, "--project", here, "--outDir", join(output, "types")], { stdio: "inherit" });
