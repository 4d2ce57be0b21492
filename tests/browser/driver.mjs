// Chromium for tests/browsing.py: node driver.mjs FOLDER. One call a line on standard input, one answer a line.
//
// {"on": handle, "call": method, "with": [...]}: a method of a playwright object; handle 0 is the browser. A page or a
// context in the answer becomes a new handle. {"on": page, "evaluate": function text, "with": argument} runs a function in
// the page. {"on": page, "seen": true}: console messages, errors and requests of the page so far. {"on": page, "crash":
// true}: its process ends, whatever it is doing.

import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const folder = process.argv[2];
const unpacked = join(folder, "chromium");
const { chromium } = createRequire(join(folder, "package.json"))("playwright-core");

// A multi-process browser with all the rules of the web; only the sandbox is off, which root and containers cannot have.
const browser = await chromium.launch({
  executablePath: join(unpacked, "chromium"),
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--font-render-hinting=none"],
  env: {
    ...process.env,
    FONTCONFIG_PATH: join(unpacked, "fonts"),
    LD_LIBRARY_PATH: [process.env.LD_LIBRARY_PATH, join(unpacked, "al2023", "lib")].filter(Boolean).join(":"),
  },
});

const objects = [browser];
const seen = new Map();
const sessions = new Map();

// What a page says and asks for, from its first byte on.
const watch = (page) => {
  const found = { messages: [], requests: [] };
  seen.set(page, found);
  // While the page can answer: the process of one that hangs can still be ended.
  sessions.set(page, page.context().newCDPSession(page).catch(() => null));
  page.on("console", (message) => found.messages.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => found.messages.push(`uncaught: ${error.message}`));
  page.on("request", (request) => found.requests.push(request));
};

const described = async (request) => {
  // An answer that never came has no status.
  const response = await Promise.race([request.response().catch(() => null), new Promise((go) => setTimeout(go, 2000, null))]);
  return {
    url: request.url(),
    method: request.method(),
    type: request.resourceType(),
    headers: await request.allHeaders().catch(() => request.headers()),
    body: request.postDataBuffer()?.toString("hex") ?? null,
    status: response?.status() ?? null,
  };
};

// Playwright answers with objects of its own: new pages and contexts get a handle, an answer is its status.
const plain = (call, made) => {
  if (call === "newPage") watch(made);
  if (call === "newContext") made.setDefaultTimeout(10_000);
  if (call === "newPage" || call === "newContext") return { handle: objects.push(made) - 1 };
  if (call === "goto" || call === "reload") return made?.status();
  return Buffer.isBuffer(made) ? null : made;
};

const crash = async (page) => {
  const gone = new Promise((go) => page.once("crash", () => go()));
  (await sessions.get(page)).send("Page.crash").catch(() => {}); // a process that has ended does not answer
  await gone;
};

const answer = async ({ on, call, evaluate, crash: ends, seen: asked, with: given }) => {
  const object = objects[on];
  if (ends) return crash(object);
  if (asked) {
    const { messages, requests } = seen.get(object);
    return { messages, requests: await Promise.all(requests.map(described)) };
  }
  if (evaluate) return object.evaluate((0, eval)(`(${evaluate})`), given);
  return plain(call, await object[call](...given));
};

for await (const line of createInterface({ input: process.stdin })) {
  let said;
  try {
    said = { result: (await answer(JSON.parse(line))) ?? null };
  } catch (error) {
    said = { error: String(error.message ?? error) };
  }
  process.stdout.write(`${JSON.stringify(said)}\n`);
}
await browser.close();
