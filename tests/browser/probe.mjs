// Questions about a client, and its answers; the same in node (ask.mjs) and in a page.
//
// {"scheme": text, "value": ..., "tape": ["...", ...]}: the record in hex, or "refused: why". A key that JSON has no form
// for is written {"bytes": hex} or {"int": decimal}, a double {"double": its 8 bytes in hex}, a time {"time": milliseconds
// since 1970 in UTC}. {"scheme": text, "values": [...], "limits": {...}}: the worst
// ratio of the client's exact law over these values. {"hash": [seed, value, split, size]}: a hash. {"steps": [...],
// "texts": [...]}: the texts, normalized. {"scheme": text, "policy": {...}}: the epsilon of a scheme that the client
// loads with this policy. {"scheme": text, "values": [...], "each": count}: so many records of each value, in hex, with the
// coins of the browser. With "memo": {"key": hex, "series": text}, the record of a user with this key; the tape is that of
// the answer.

const WORD = 1n << 64n;
// What the tests ask of a device: every scheme that keeps its own promise.
const POLICY = { maxEpsilon: "1000", total: false, memo: "once" };

class Exhausted extends Error {}

const refuse = (why) => {
  throw new Exhausted(why);
};

const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16));
const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

const native = (value) => {
  if (typeof value?.int === "string") return BigInt(value.int);
  if (typeof value?.double === "string") return new DataView(fromHex(value.double).buffer).getFloat64(0);
  if (typeof value?.time === "number") return new Date(value.time);
  if (typeof value?.bytes === "string") return fromHex(value.bytes);
  return value;
};

// A draw below a size, of the type of that size.
const drawn = (size, number) => (typeof size === "bigint" ? BigInt(number) : Number(number));

// Checking a scheme takes longer than a record, and many records are of one scheme.
const clients = new Map();
const clientOf = ({ load }, text) => {
  if (!clients.has(text)) clients.set(text, load(text, POLICY));
  return clients.get(text);
};

// The client of a user with a key, which is written in hex.
const rememberedBy = ({ load }, text, { key, series }) => load(text, { ...POLICY, memo: { key: fromHex(key), series } });

// The two primitives over the words of a tape.
class Tape {
  constructor(words) {
    this.words = words;
    this.used = 0;
  }

  next() {
    return this.used < this.words.length ? BigInt(this.words[this.used++]) : refuse("the tape has run out");
  }

  bernoulli(threshold) {
    return this.next() < threshold;
  }

  below(size) {
    const limit = WORD - (WORD % BigInt(size));
    let word = this.next();
    while (word >= limit) word = this.next();
    return drawn(size, word % BigInt(size));
  }
}

const record = (client, text, value, words, memo) => {
  const tape = new Tape(words);
  const made = (memo ? rememberedBy(client, text, memo) : clientOf(client, text)).privatize(native(value), tape);
  return tape.used === words.length ? toHex(made) : refuse("the tape has words left");
};

// --- the exact law of a client: every path of its coins --------------------------------------------------

// A source that follows a path of choices, and takes the first option of every draw beyond its end.
class Branching {
  constructor(path) {
    this.path = path;
    this.shape = [];
    this.weight = 1n;
  }

  choose(kind) {
    if (this.shape.length === this.path.length) this.path.push(0n);
    this.shape.push(kind);
    return this.path[this.shape.length - 1];
  }

  bernoulli(threshold) {
    const choice = this.choose(0n);
    const least = threshold < 0n ? 0n : threshold > WORD ? WORD : threshold;
    this.weight *= choice ? WORD - least : least;
    return !choice;
  }

  below(size) {
    return size > 0 ? drawn(size, this.choose(BigInt(size))) : refuse("a draw below zero");
  }

  // Turns the path into the next one; false behind the last.
  advance() {
    const { path, shape } = this;
    while (path.length && path.at(-1) + 1n >= (shape[path.length - 1] || 2n)) path.pop();
    if (path.length) path[path.length - 1]++;
    return path.length > 0;
  }
}

// Outcomes of the public coins: one of every group, then others spread over what may be too much to list.
const publicOutcomes = function* ({ draw, weights = [1] }, most) {
  const paths = weights.map((_, number) => (weights.length > 1 ? [total(weights.slice(0, number))] : []));
  for (let i = 0; i < most; i++)
    for (const path of paths) {
      const source = new Branching(path);
      yield draw(source);
      for (let j = weights.length > 1 ? 1 : 0; j < path.length; j++)
        path[j] = (path[j] * 5n + BigInt(i) + 1n) % (source.shape[j] || 2n);
    }
};

const total = (numbers) => numbers.reduce((sum, number) => sum + BigInt(number), 0n);

// The weights of the records of a value over 2^64 to the number of coins, or nothing if there are too many paths.
const lawOf = (randomizer, value, publics, paths) => {
  const weights = new Map();
  const path = [];
  let [scale, used] = [1n, 0];
  for (let more = true; more; used++) {
    const source = new Branching(path);
    const made = toHex(randomizer.record(value, publics, source));
    if (source.shape.reduce((ways, kind) => ways * Number(kind || 2n), 1) > paths) return undefined;
    weights.set(made, (weights.get(made) ?? 0n) + source.weight);
    scale = source.shape.reduce((product, kind) => product * (kind || WORD), 1n);
    more = source.advance();
  }
  return { weights, scale, used };
};

// The largest ratio of the probabilities of one record under two of the values: [above, under] as text.
const enumerate = ({ encode, randomizer }, values, { words, publics, paths, budget }) => {
  if (randomizer.words > words) return "too many paths";
  let [above, under, groups] = [1n, 1n, randomizer.weights?.length ?? 1];
  for (const outcome of publicOutcomes(randomizer, publics)) {
    if (groups-- <= 0 && budget <= 0) break;
    const laws = values.map((value) => lawOf(randomizer, encode(value), outcome, paths));
    if (laws.includes(undefined)) return "too many paths";
    for (const { used } of laws) budget -= used;
    for (const made of new Set(laws.flatMap(({ weights }) => [...weights.keys()]))) {
      const chances = laws.map(({ weights, scale }) => [weights.get(made) ?? 0n, scale]);
      const [a, b] = chances.reduce((most, one) => (one[0] * most[1] > most[0] * one[1] ? one : most));
      const [c, d] = chances.reduce((least, one) => (one[0] * least[1] < least[0] * one[1] ? one : least));
      if (c === 0n) return "infinity";
      if (a * d * under > above * b * c) [above, under] = [a * d, b * c];
    }
  }
  return [String(above), String(under)];
};

// A client that accepts a scheme and then refuses a value of its domain has told something.
const judged = (client, values, limits) => {
  try {
    return enumerate(client, values, limits);
  } catch (error) {
    return `accepted, but a value of the domain is refused: ${error}`;
  }
};

// JSON that no reader takes for several lines.
const asciiOf = (value) =>
  JSON.stringify(value).replace(/[^ -~]/g, (unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0"));

const answer = (client, { scheme, value, tape, values, limits, hash, policy, steps, texts, each, memo }) => {
  if (texts) return asciiOf(texts.map((text) => client.normalized(text, steps)));
  if (policy) return client.load(scheme, policy).epsilon.join("/");
  // A value from 2^32 on is a key, which is split in halves.
  if (hash) {
    const [seed, hashed, split] = hash.map(BigInt);
    return String(client.localHash(seed, split >> 32n ? hashed : Number(hashed), Number(split), hash[3]));
  }
  if (each) {
    const made = clientOf(client, scheme);
    return values.map((one) => Array.from({ length: each }, () => toHex(made.privatize(native(one)))).join(" ")).join(" ");
  }
  if (values) return JSON.stringify(judged(client.load(scheme, POLICY), values.map(native), limits));
  return record(client, scheme, value, tape, memo);
};

// The answers of a client, which is the namespace of its module, to lines of questions.
export const answers = (client, lines) =>
  lines
    .split("\n")
    .filter(Boolean)
    .map((line) => {
      try {
        return answer(client, JSON.parse(line));
      } catch (error) {
        const refused = error instanceof client.DeviceError || error instanceof Exhausted;
        return refused ? `refused: ${error.message}` : `crashed: ${error}`;
      }
    });
