// Makes dist/ and types/ from src/: node build.mjs TOOLS OUTPUT, where TOOLS has the node_modules. With a third word,
// prints the module on standard input instead, bundled in the same way.
//
// The bundle is reproducible: the versions of the tools are locked, and a test compares.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [tools, output] = process.argv.slice(2, 4).map((path) => resolve(path));
const here = dirname(fileURLToPath(import.meta.url));
const tool = createRequire(join(tools, "package.json"));
const NAME = "plausibly-client.min.js";
// Properties that no page sees. Where an object of the browser has one of these names, the source quotes it.
const INTERNAL = (
  "ratio publics words bytes signed items hashSeed steps schemes domains normalized known read kind domain sketch base " +
  "inBytes symbolsOf item randomizer draw weights record client mine bits answer remember subject price " +
  "slotOf instead expect methods policy costs"
).split(" ");

const bundled = async (contents) => {
  const { outputFiles } = await tool("esbuild").build({
    stdin: { contents, resolveDir: join(here, "src") },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    mangleProps: new RegExp(`^(${INTERNAL.join("|")})$`),
    write: false,
  });
  const compress = { passes: 3, unsafe: true, unsafe_arrows: true, pure_getters: true };
  return (await tool("terser").minify(outputFiles[0].text, { module: true, ecma: 2020, compress })).code;
};

if (process.argv[4]) {
  process.stdout.write(await bundled(readFileSync(0, "utf8")));
} else {
  const code = `${await bundled('export * from "./index.js";')}\n`;
  mkdirSync(join(output, "dist"), { recursive: true });
  writeFileSync(join(output, "dist", NAME), code);
  const integrity = createHash("sha384").update(code).digest("base64");
  writeFileSync(join(output, "dist", `${NAME}.integrity`), `sha384-${integrity}\n`);
  const tsc = join(dirname(tool.resolve("typescript/package.json")), "bin", "tsc");
  execFileSync(process.execPath, [tsc, "--project", here, "--outDir", join(output, "types")], { stdio: "inherit" });
}
