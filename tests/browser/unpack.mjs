// Unpacks Chromium, its fonts and the libraries that a bare machine lacks. Run once, by make:
// node unpack.mjs FOLDER, where FOLDER has the node_modules.

import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const folder = resolve(process.argv[2]);
const unpacked = join(folder, "chromium");
mkdirSync(unpacked, { recursive: true });
// The package unpacks into the folder for temporary files, whatever that is.
process.env.TMPDIR = unpacked;
const entry = createRequire(join(folder, "package.json")).resolve("@sparticuz/chromium");
const { default: chromium, inflate } = await import(pathToFileURL(entry));
await chromium.executablePath();
await inflate(join(dirname(dirname(entry)), "bin", "al2023.tar.br"));

// The package's own list of folders has fonts only where its authors deploy; without fonts, texts have no size.
const alias = (family, ...fonts) =>
  `<alias><family>${family}</family><prefer>${fonts.map((font) => `<family>${font}</family>`).join("")}</prefer></alias>`;
writeFileSync(
  join(unpacked, "fonts", "fonts.conf"),
  `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(unpacked, "fonts", "fonts")}</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${join(unpacked, "fonts", "cache")}</cachedir>
  ${alias("sans-serif", "Open Sans")}
  ${alias("system-ui", "Open Sans")}
  ${alias("monospace", "DejaVu Sans Mono", "Open Sans")}
</fontconfig>
`,
);
