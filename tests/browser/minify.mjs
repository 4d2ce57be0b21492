// node minify.mjs TOOLS FOLDER: the module on standard input, bundled and minified as build.mjs does it.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [tools, resolveDir] = process.argv.slice(2);
const { outputFiles } = await createRequire(join(tools, "package.json"))("esbuild").build({
  stdin: { contents: readFileSync(0, "utf8"), resolveDir },
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  write: false,
});
process.stdout.write(outputFiles[0].text);
