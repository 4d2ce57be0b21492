// The device path in plain JavaScript, as a browser could run it: scheme JSON + value + random words -> record.
//
// The twin of device.py, written apart from it and held to the same vectors and refusals. Hashes use 32-bit operations
// only; thresholds and random words are BigInt. A source has the two primitives, bernoulli(threshold) and below(size).

const WORD = 1n << 64n;
const MAX_EPSILON = "8";
// What one report may cost a device: random words, and bytes to send.
const MOST_WORDS = 1n << 21n;
const MOST_BYTES = 1n << 20n;
const MOST_CHARACTERS = 2 ** 25; // of UTF-16; a text outside the basic plane may be half as long as in Python
const MOST_BRACKETS = 2 ** 20;
const MOST_PREFIXES = 2 ** 16;
const MOST_ORACLES = 256;
const MOST_OFFSETS = 256n;
const MOST_CLIQUES = 4096;

export class Refusal extends Error {}

const refuse = (why) => {
  throw new Refusal(why);
};

// --- the hash family -------------------------------------------------------------------------------------

const multiply = (t, by) => (t = Math.imul(t, by)) ^ (t >>> 15);

const premix = (j) => multiply(multiply(j ^ (j >>> 16), 0x21f0aaad), 0xd35a2d97);

const entry = (character, first, second, size) => {
  const t = multiply(multiply(premix(character) ^ first, 0x21f0aaad) ^ second, 0xd35a2d97);
  return Math.floor(((t >>> 8) * size) / 2 ** 24); // 24 and 25 bits: the product is exact in a double
};

export const localHash = (seed, value, split, size) => {
  const low = Number(seed & 0xffffffffn);
  const high = Number(seed >> 32n);
  const characters = [Number(value % split), Number(value / split)];
  return BigInt((entry(characters[0], low, high, size) + entry(characters[1], high, low, size)) % size);
};

// --- documents: every field is read once, by name and type, and a field that nobody reads is refused -----

const KINDS = { number: Number.isSafeInteger, text: (it) => typeof it === "string", flag: (it) => typeof it === "boolean" };
KINDS.list = Array.isArray;
KINDS.object = (it) => typeof it === "object" && it !== null && !Array.isArray(it);

const within = (name, number, least, most) =>
  number >= least && number <= most ? number : refuse(`${name}: outside its range`);

const hasBytes = (text) => !/\p{Surrogate}/u.test(text);

class Fields {
  constructor(written, name) {
    if (!KINDS.object(written)) refuse(`${name}: expected a JSON object`);
    this.name = name;
    this.left = new Map(Object.entries(written));
  }

  has(name) {
    return this.left.has(name);
  }

  close() {
    if (this.left.size) refuse(`${this.name}: expected no further fields`);
  }

  take(name, kind) {
    if (!this.left.has(name)) refuse(`${name}: the field is missing`);
    const written = this.left.get(name);
    if (!KINDS[kind](written)) refuse(`${name}: expected a ${kind}`);
    this.left.delete(name);
    return written;
  }

  whole(name, least, most) {
    return within(name, BigInt(this.take(name, "number")), least, most);
  }

  wholes(name, least, most) {
    const numbers = this.take(name, "list");
    if (!numbers.every(KINDS.number)) refuse(`${name}: expected whole numbers`);
    return numbers.map((number) => within(name, BigInt(number), least, most));
  }

  decimal(name) {
    const text = this.take(name, "text");
    return /^(0|[1-9][0-9]{0,19})$/.test(text) ? BigInt(text) : refuse(`${name}: expected decimal digits as text`);
  }

  // Numbers below 2^53 are numbers, larger ones decimal text.
  seed(name) {
    if (KINDS.number(this.left.get(name))) return this.whole(name, 0n, (1n << 53n) - 1n);
    return within(name, this.decimal(name), 1n << 53n, WORD - 1n);
  }

  threshold(name) {
    return within(name, this.decimal(name), 1n, WORD - 1n);
  }

  // A positive fraction in lowest terms.
  fraction(name, most) {
    const text = this.take(name, "text");
    const [, numerator, denominator] = /^([1-9][0-9]*)(?:\/([1-9][0-9]*))?$/.exec(text) ?? [];
    if (text.length > 2600 || !numerator || denominator === "1") refuse(`${name}: expected a fraction as text`);
    const [a, b] = [BigInt(numerator), BigInt(denominator ?? 1)];
    let [x, y] = [a, b];
    while (y) [x, y] = [y, x % y];
    return x === 1n && a <= most * b ? [a, b] : refuse(`${name}: expected lowest terms, and at most ${most}`);
  }

  choice(name, ...choices) {
    const text = this.take(name, "text");
    return choices.includes(text) ? text : refuse(`${name}: expected one of ${choices.join(", ")}`);
  }

  text(name) {
    const text = this.take(name, "text");
    return hasBytes(text) ? text : refuse(`${name}: expected text that has a UTF-8 form`);
  }

  texts(name) {
    const texts = this.take(name, "list");
    const fine = texts.every((text) => KINDS.text(text) && hasBytes(text));
    return fine ? texts : refuse(`${name}: expected texts that have a UTF-8 form`);
  }

  // The steps of normalizing, in their fixed order; none if there is no such field.
  steps(name) {
    if (!this.has(name)) return [];
    const steps = this.texts(name);
    const known = STEPS.filter((step) => steps.includes(step));
    return steps.length && steps.join() === known.join() ? steps : refuse(`${name}: expected steps in their order`);
  }

  // A number that is not whole, or not below 2^53, is a text.
  numbers(name) {
    return this.take(name, "list").map((written) => {
      if (KINDS.number(written)) return written;
      const number = KINDS.text(written) && written.trim() === written && written ? Number(written) : NaN;
      const fine = Number.isFinite(number) && !Number.isSafeInteger(number) && textOf(number) === written;
      return fine ? number : refuse(`${name}: expected numbers`);
    });
  }

  day(name) {
    return dayOfText(this.text(name)) ?? refuse(`${name}: expected a date such as 2026-01-31`);
  }

  // An option is there only if it is not its default.
  given(name, expected) {
    if (!this.has(name)) return false;
    const written = this.left.get(name);
    this.left.delete(name);
    return written === expected || refuse(`${name}: expected no other value than ${expected}`);
  }

  label(name) {
    const length = this.has(name) ? Array.from(this.text(name)).length : 1;
    if (length < 1 || length > 40) refuse(`${name}: expected 1 to 40 characters`);
  }

  flag(name) {
    return this.take(name, "flag");
  }

  // What follows from the rest has one value only.
  exactly(name, expected) {
    const written = typeof expected === "bigint" ? BigInt(this.take(name, "number")) : this.take(name, "text");
    if (written !== expected) refuse(`${name}: expected what follows from the other fields`);
  }

  inner(name) {
    return this.take(name, "object");
  }
}

class Document extends Fields {
  constructor(written) {
    super(written, "scheme");
    this.kind = this.take("scheme", "text");
    if (this.take("version", "number") !== 1 || !RANDOMIZERS.has(this.kind))
      refuse("a version or kind that is not known here");
    this.epsilon = this.fraction("epsilon", 1000n);
    this.domain = domainOf(this.inner("domain"));
  }

  get size() {
    if (!this.domain.ordered && !["integers", "labels"].includes(this.domain.type)) refuse("the domain cannot be listed");
    return this.domain.items;
  }

  get items() {
    return this.domain.type === "keys" ? WORD : this.size;
  }

  get strings() {
    return "base" in this.domain ? this.domain : refuse("the domain has no strings");
  }

  split() {
    const bits = bitLength(this.items - 1n);
    const root = 1n << BigInt((bits + 1) >> 1);
    const split = this.domain.type === "keys" ? 1n << 32n : root > 64n ? root : 64n;
    this.exactly("split", split);
    return split;
  }

  // A scheme within the scheme. Its domain is looked at first: a search within a search could go on for ever.
  oracle(name) {
    return this.reporting(name, new Document(this.inner(name)));
  }

  // A list of schemes within the scheme, each with a name of its own.
  oracles(name) {
    const written = this.take(name, "list");
    if (!written.length || written.length > MOST_ORACLES) refuse(`${name}: expected 1 to ${MOST_ORACLES} schemes`);
    return written.map((one, i) => this.reporting(`${name} ${i}`, new Document(one)));
  }

  reporting(name, document) {
    const { type, items, hashSeed, steps } = document.domain;
    if (!["integers", "keys"].includes(type)) refuse(`${name}: expected an oracle over integers or keys`);
    if (steps?.length) refuse(`${name}: expected an oracle that does not normalize`);
    const sketch = ["CM", "CS", "BLOOM"].includes(document.kind);
    let made; // all parts that report through this oracle share it
    return {
      name,
      sketch,
      hashSeed,
      keys: type === "keys",
      size: type === "keys" ? undefined : items,
      get randomizer() {
        if (!made) expectEpsilon((made = madeOf(document)), document.epsilon);
        if (made.weights) refuse(`${name}: expected an oracle, got a scheme whose users are in groups`);
        return made;
      },
    };
  }
}

// The text of a double as Python writes it: the shortest that it is read from, with an exponent below 1e-4 and from 1e16.
const textOf = (number) => {
  const [, digits, sign, exponent] = /^(.*)e([+-])(.*)$/.exec(number.toExponential());
  const size = Number(sign + exponent);
  if (size < -4 || size >= 16) return `${digits}e${sign}${exponent.padStart(2, "0")}`;
  return Number.isInteger(number) ? `${number}.0` : `${number}`;
};

const bitLength = (number) => (number ? number.toString(2).length : 0);

// --- normalizing: fixed tables, because browsers know different versions of Unicode (docs/adr/0026) ---------

const STEPS = ["nfc", "lower", "strip"];

const SPACES = /^[\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+/u;

// What NFC works on from U+0300 on in Unicode 14.0, and the simple lower-case mappings of that version.
const COMPOSING =
  "300-374 37E 385-38A 38C 38E-3A1 3A5-4F9 591-5C7 5D0-5EA 5F2 610-6ED 711-74A 7EB-7F3 7FD-82D 859-85B 898-95F " +
  "9A1-9A2 9AF 9BC-9BE 9C7 9CB-9CD 9D7 9DC-9DD 9DF 9FE A16-A1C A2B A32-A33 A36 A38 A3C A4D A59-A5B A5E ABC ACD " +
  "B21-B22 B3C-B3E B47-B48 B4B-B4D B56-B57 B5C-B5D B92-B94 BBE BC6-BC7 BCA-BCD BD7 C3C C46-C48 C4D C55-C56 CBC-CC2 " +
  "CC6-CC8 CCA-CCD CD5-CD6 D3B-D3E D46-D47 D4A-D4D D57 DCA DCF DD9-DDF E38-E3A E48-E4B EB8-EBA EC8-ECB F18-F43 " +
  "F4C-F69 F71-F93 F9C-FB9 FC6 1025-108D 1100-11C2 135D-135F 1714-1715 1734 17D2-17DD 18A9 1939-193B 1A17-1A18 " +
  "1A60-1A7C 1A7F 1AB0-1ACE 1B05-1B44 1B6B-1B73 1BAA-1BF3 1C37 1CD0-1CF9 1DC0-1F15 1F18-1F1D 1F20-1F45 1F48-1F4D " +
  "1F50-1F57 1F59 1F5B 1F5D 1F5F-1F7D 1F80-1FB4 1FB6-1FC4 1FC6-1FD3 1FD6-1FDB 1FDD-1FEF 1FF2-1FF4 1FF6-1FFE " +
  "2000-2003 20D0-20F0 2126-212B 2190-232A 2ADC-2ADD 2CEF-2CF1 2D7F 2DE0-2DFF 3008-302F 3046-3094 3099-30FE " +
  "349E-9F9C A66F-A6F1 A806-A82C A8C4 A8E0-A953 A9B3-A9C0 AAB0-AAC1 AAF6 ABED AC00-D7A3 F900-FA6D FA70-FAD9 " +
  "FB1D-FB36 FB38-FB3C FB3E FB40-FB41 FB43-FB44 FB46-FB4E FE20-FE2F 101FD 102E0 10376-1037A 10A0D-10A0F 10A38-10A3A " +
  "10A3F 10AE5-10AE6 10D24-10D27 10EAB-10EAC 10F46-10F50 10F82-10F85 11046 11070 1107F-110BA 11100-11134 11173 " +
  "111C0-111CA 11235-11236 112E9-112EA 1133B-1133E 11347 1134B-1134D 11357 11366-1136C 11370-11374 11442-11446 " +
  "1145E 114B0-114C3 115AF 115B8-115C0 1163F 116B6-116B7 1172B 11839-1183A 11930-11935 11938 1193D-11943 119E0 " +
  "11A34-11A47 11A99 11C3F 11D42-11D45 11D97 16AF0-16AF4 16B30-16B36 16FF0-16FF1 1BC9E 1D157-1D1C0 1D242-1D244 " +
  "1E000-1E006 1E008-1E018 1E01B-1E021 1E023-1E024 1E026-1E02A 1E130-1E136 1E2AE 1E2EC-1E2EF 1E8D0-1E8D6 " +
  "1E944-1E94A 20122-2A600 2F800-2FA1D";
const LOWERING =
  "41-5A:+32 C0-D6:+32 D8-DE:+32 100-12E/2:+1 130:-199 132-136/2:+1 139-147/2:+1 14A-176/2:+1 178:-121 179-17D/2:+1 " +
  "181:+210 182-184/2:+1 186:+206 187:+1 189-18A:+205 18B:+1 18E:+79 18F:+202 190:+203 191:+1 193:+205 194:+207 " +
  "196:+211 197:+209 198:+1 19C:+211 19D:+213 19F:+214 1A0-1A4/2:+1 1A6:+218 1A7:+1 1A9:+218 1AC:+1 1AE:+218 1AF:+1 " +
  "1B1-1B2:+217 1B3-1B5/2:+1 1B7:+219 1B8:+1 1BC:+1 1C4:+2 1C5:+1 1C7:+2 1C8:+1 1CA:+2 1CB-1DB/2:+1 1DE-1EE/2:+1 " +
  "1F1:+2 1F2-1F4/2:+1 1F6:-97 1F7:-56 1F8-21E/2:+1 220:-130 222-232/2:+1 23A:+10795 23B:+1 23D:-163 23E:+10792 " +
  "241:+1 243:-195 244:+69 245:+71 246-24E/2:+1 370-372/2:+1 376:+1 37F:+116 386:+38 388-38A:+37 38C:+64 " +
  "38E-38F:+63 391-3A1:+32 3A3-3AB:+32 3CF:+8 3D8-3EE/2:+1 3F4:-60 3F7:+1 3F9:-7 3FA:+1 3FD-3FF:-130 400-40F:+80 " +
  "410-42F:+32 460-480/2:+1 48A-4BE/2:+1 4C0:+15 4C1-4CD/2:+1 4D0-52E/2:+1 531-556:+48 10A0-10C5:+7264 10C7:+7264 " +
  "10CD:+7264 13A0-13EF:+38864 13F0-13F5:+8 1C90-1CBA:-3008 1CBD-1CBF:-3008 1E00-1E94/2:+1 1E9E:-7615 " +
  "1EA0-1EFE/2:+1 1F08-1F0F:-8 1F18-1F1D:-8 1F28-1F2F:-8 1F38-1F3F:-8 1F48-1F4D:-8 1F59-1F5F/2:-8 1F68-1F6F:-8 " +
  "1F88-1F8F:-8 1F98-1F9F:-8 1FA8-1FAF:-8 1FB8-1FB9:-8 1FBA-1FBB:-74 1FBC:-9 1FC8-1FCB:-86 1FCC:-9 1FD8-1FD9:-8 " +
  "1FDA-1FDB:-100 1FE8-1FE9:-8 1FEA-1FEB:-112 1FEC:-7 1FF8-1FF9:-128 1FFA-1FFB:-126 1FFC:-9 2126:-7517 212A:-8383 " +
  "212B:-8262 2132:+28 2160-216F:+16 2183:+1 24B6-24CF:+26 2C00-2C2F:+48 2C60:+1 2C62:-10743 2C63:-3814 2C64:-10727 " +
  "2C67-2C6B/2:+1 2C6D:-10780 2C6E:-10749 2C6F:-10783 2C70:-10782 2C72:+1 2C75:+1 2C7E-2C7F:-10815 2C80-2CE2/2:+1 " +
  "2CEB-2CED/2:+1 2CF2:+1 A640-A66C/2:+1 A680-A69A/2:+1 A722-A72E/2:+1 A732-A76E/2:+1 A779-A77B/2:+1 A77D:-35332 " +
  "A77E-A786/2:+1 A78B:+1 A78D:-42280 A790-A792/2:+1 A796-A7A8/2:+1 A7AA:-42308 A7AB:-42319 A7AC:-42315 A7AD:-42305 " +
  "A7AE:-42308 A7B0:-42258 A7B1:-42282 A7B2:-42261 A7B3:+928 A7B4-A7C2/2:+1 A7C4:-48 A7C5:-42307 A7C6:-35384 " +
  "A7C7-A7C9/2:+1 A7D0:+1 A7D6-A7D8/2:+1 A7F5:+1 FF21-FF3A:+32 10400-10427:+40 104B0-104D3:+40 10570-1057A:+39 " +
  "1057C-1058A:+39 1058C-10592:+39 10594-10595:+39 10C80-10CB2:+64 118A0-118BF:+32 16E40-16E5F:+32 1E900-1E921:+34";

const runsOf = (table) =>
  table.split(" ").map((entry) => {
    const [, first, last = first, step = 1, added = 0] = /^([0-9A-F]+)(?:-([0-9A-F]+))?(?:\/(2))?(?::([+-][0-9]+))?$/.exec(entry);
    return [parseInt(first, 16), parseInt(last, 16), Number(step), Number(added)];
  });

const ranges = runsOf(COMPOSING).map(([first, last]) => `\\u{${first.toString(16)}}-\\u{${last.toString(16)}}`);
const RUN = new RegExp(`[;-\\u02ff]?[${ranges.join("")}]+`, "gu");
const LONGEST_RUN = 128;

const LOWER = new Map();
for (const [first, last, step, added] of runsOf(LOWERING))
  for (let point = first; point <= last; point += step)
    LOWER.set(String.fromCodePoint(point), String.fromCodePoint(point + added));

const composed = (text) =>
  text.replace(RUN, (run) => (Array.from(run).length > LONGEST_RUN ? run : run.normalize("NFC")));

const lowered = (text) => Array.from(text, (character) => LOWER.get(character) ?? character).join("");

const strippedAtEnd = (text) => {
  let last = text.length;
  while (last && SPACES.test(text[last - 1])) last--; // a search for the end would start at every space
  return text.slice(0, last);
};

export const normalized = (text, steps) => {
  if (steps.includes("nfc")) text = composed(text);
  if (steps.includes("lower")) text = lowered(text);
  if (steps.includes("lower") && steps.includes("nfc")) text = composed(text);
  return steps.includes("strip") ? strippedAtEnd(text.replace(SPACES, "")) : text;
};

// --- domains: a value -> the integer that a randomizer sees of it ----------------------------------------

const integers = (fields) => {
  const items = fields.whole("size", 2n, 1n << 32n);
  const encode = (value) => {
    if (!Number.isSafeInteger(value)) refuse("expected an integer");
    return value >= 0 && value < items ? BigInt(value) : refuse(`the value is outside the domain of ${items} items`);
  };
  return { items, total: true, encode };
};

const labels = (fields) => {
  const [listed, other] = [fields.texts("labels"), fields.flag("other")];
  const index = new Map(listed.map((label, i) => [label, BigInt(i)]));
  const items = listed.length + other;
  if (index.size !== listed.length || items < 2 || items > 2 ** 32 || (other && index.has("other")))
    refuse("labels: expected at least two distinct items");
  const steps = fields.steps("normalize");
  if (listed.some((label) => normalized(label, steps) !== label)) refuse("labels: expected normalized ones");
  const encode = (value) => {
    if (typeof value !== "string") refuse("expected a label");
    return index.get(normalized(value, steps)) ?? (other ? BigInt(listed.length) : refuse("the value is not among the labels"));
  };
  return { items: BigInt(items), total: other, encode };
};

const keys = (fields) => {
  const [hashSeed, steps] = [fields.seed("hash_seed"), fields.steps("normalize")];
  const encode = (value) => {
    if (value instanceof Uint8Array) return key64(value, hashSeed, "");
    if (typeof value === "bigint" || Number.isSafeInteger(value))
      return key64(new TextEncoder().encode(BigInt(value).toString()), hashSeed, "int");
    if (typeof value !== "string") refuse("expected a key");
    // TextEncoder would put the same character in the place of every lone surrogate.
    if (!hasBytes(value)) refuse("expected text that has a UTF-8 form");
    return key64(new TextEncoder().encode(normalized(value, steps)), hashSeed, "str");
  };
  return { items: WORD, total: true, hashSeed, steps, encode };
};

const fromHex = (text) =>
  /^([0-9a-f]{2})*$/.test(text)
    ? Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16))
    : refuse("expected bytes as lower-case hexadecimal text");

// A string is the number whose digits are its symbols, the first one the highest.
const strings = (fields, type) => {
  const inBytes = type === "byte strings";
  const written = fields.text("alphabet");
  const length = fields.whole("length", 1n, 256n);
  const cuts = fields.choice("long", "truncate", "refuse") === "truncate";
  const other = fields.flag("other");
  // Characters are code points; a JavaScript string may need two units for one.
  const characters = Array.from(inBytes ? fromHex(written) : written);
  const index = new Map(characters.map((character, i) => [character, BigInt(1 + i)]));
  const base = BigInt(1 + characters.length + other);
  if (index.size !== characters.length || base < 2n || base > 1n << 16n || (other && (inBytes || index.has("\ufffd"))))
    refuse("alphabet: expected distinct characters, and others with texts only");
  const steps = fields.steps("normalize");
  const inner = steps.filter((step) => step !== "strip"); // a space may stand inside a text
  if (steps.length && (inBytes || characters.some((character) => normalized(character, inner) !== character)))
    refuse("alphabet: expected characters that normalizing leaves as they are");
  const encode = (value) => {
    if (inBytes ? !(value instanceof Uint8Array) : typeof value !== "string") refuse("expected a string");
    let given = Array.from(inBytes ? value : normalized(value, steps));
    if (given.length > length && !cuts) refuse("expected fewer characters");
    given = given.slice(0, Number(length));
    if (steps.includes("strip")) given = Array.from(strippedAtEnd(given.join(""))); // the cut may leave a space
    let number = 0n;
    for (let i = 0; i < length; i++) {
      const known = i < given.length ? index.get(given[i]) : 0n;
      number = number * base + (known ?? (other ? base - 1n : refuse("expected characters of the alphabet")));
    }
    return number;
  };
  // The number of the first `places` symbols of texts that begin with this prefix.
  const stemOf = (prefix, places) => {
    let number = 0n;
    const given = Array.from(prefix);
    for (const character of given)
      number = number * base + (index.get(character) ?? (other ? base - 1n : refuse("expected characters of the alphabet")));
    return number * base ** (places - BigInt(given.length));
  };
  const cut = (value, first, last) => (value / base ** (length - last)) % base ** (last - first);
  const content = (value, first, last) => {
    const bytes = [];
    for (let i = first; i < last; i++) bytes.push(...field(cut(value, i, i + 1n), base));
    return bytes;
  };
  const total = cuts && (other || (inBytes && characters.length === 256));
  return { items: base ** length, total, encode, base, length, inBytes, stemOf, cut, content };
};

// Values that have an order. `numberOf` gives a number or bigint, undefined if the value is missing; JavaScript compares
// the two kinds exactly, and a double is only compared.
const ordered = (fields, length, numberOf, place, { finite = false } = {}) => {
  const other = fields.given("other", true);
  const clamps = !finite && fields.given("infinite", "clamp");
  const items = length + BigInt(other);
  if (length < 2n || items > 1n << 32n) refuse("domain: expected 2 to 2^32 items in rising order");
  const encode = (value) => {
    const number = numberOf(value);
    const absent = number === undefined || Number.isNaN(number) || (!clamps && (number === Infinity || number === -Infinity));
    if (!absent) return place(number);
    return other ? length : refuse("the value is missing, infinite or a text");
  };
  return { items, total: other, ordered: true, encode };
};

const plainNumber = (value) => {
  if (value === null || value === undefined || typeof value === "string") return undefined;
  return typeof value === "number" || typeof value === "bigint" ? value : refuse("expected a number");
};

const rangeOf = (fields, low, high, numberOf, options) => {
  const place = (number) => {
    if (number >= high) return high - low;
    if (number <= low) return 0n;
    return BigInt(typeof number === "bigint" ? number : Math.floor(number)) - low;
  };
  return ordered(fields, high - low + 1n, numberOf, place, options);
};

const LARGEST = (1n << 53n) - 1n;

const wholeNumbers = (fields) => {
  fields.label("unit");
  return rangeOf(fields, fields.whole("low", -LARGEST, LARGEST), fields.whole("high", -LARGEST, LARGEST), plainNumber);
};

const bins = (fields) => {
  fields.label("unit");
  const edges = fields.numbers("edges");
  if (edges.some((edge, i) => i && !(edges[i - 1] < edge))) refuse("edges: expected numbers in rising order");
  // The number of bins that start at the value or below it, the first one aside.
  const place = (number) => BigInt(edges.slice(1, -1).filter((edge) => edge <= number).length);
  return ordered(fields, BigInt(edges.length) - 1n, plainNumber, place);
};

const DAY = 86_400_000;

const dayOfText = (text) => {
  const [, year, month, day] = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/.exec(text) ?? [];
  if (!year || year === "0000") return undefined;
  const time = new Date(0).setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return new Date(time).toISOString().slice(0, 10) === text ? BigInt(time / DAY) : undefined;
};

const dayOf = (value) => {
  if (value === null || value === undefined) return undefined;
  if (typeof value === "string") return dayOfText(value);
  if (!(value instanceof Date)) refuse("expected a date");
  const time = value.getTime(); // milliseconds in UTC, NaN if there is no such date
  return Number.isNaN(time) ? undefined : BigInt((time - (((time % DAY) + DAY) % DAY)) / DAY);
};

const dates = (fields) => rangeOf(fields, fields.day("first"), fields.day("last"), dayOf, { finite: true });

// JavaScript has no durations: a value is a number of this unit.
const durations = (fields) => {
  fields.choice("unit", "ms", "s", "min", "h", "d");
  return wholeNumbers(fields);
};

// Records of several attributes: the number whose digits are the codes of the values, the last one the lowest.
const table = (fields) => {
  const attributes = fields.take("attributes", "list").map((written) => {
    const own = new Fields(written, "attribute");
    const [name, missing, domain] = [own.text("name"), own.flag("missing"), domainOf(own.inner("domain"))];
    own.close();
    const listed = domain.ordered || ["integers", "labels"].includes(domain.type);
    if (!name || !listed || (missing && domain.ordered && domain.total)) refuse("attributes: expected listed items");
    return { name, missing, domain, size: domain.items + BigInt(missing) };
  });
  const [names, items] = [attributes.map(({ name }) => name), attributes.reduce((all, { size }) => all * size, 1n)];
  if (names.length < 2 || names.length > 64 || new Set(names).size !== names.length || items >= WORD)
    refuse("attributes: expected 2 to 64 distinct names, and fewer than 2^64 records");
  const encode = (value) => {
    let values = value;
    if (!Array.isArray(value)) {
      const own = new Map(KINDS.object(value) ? Object.entries(value) : []);
      if (own.size !== names.length || !names.every((name) => own.has(name))) refuse("expected exactly the attributes");
      values = names.map((name) => own.get(name));
    }
    if (values.length !== names.length) refuse("expected a value for each attribute");
    return attributes.reduce((number, { missing, domain, size }, i) => {
      const code = missing && (values[i] ?? null) === null ? domain.items : domain.encode(values[i]);
      return number * size + code;
    }, 0n);
  };
  return { items, total: attributes.every(({ domain }) => domain.total), sizes: attributes.map(({ size }) => size), encode };
};

const DOMAINS = { integers, labels, keys, strings, "byte strings": strings, table };
Object.assign(DOMAINS, { "whole numbers": wholeNumbers, bins, dates, durations });

const domainOf = (written) => {
  const fields = new Fields(written, "domain");
  const type = fields.choice("type", ...Object.keys(DOMAINS));
  const domain = { type, ...DOMAINS[type](fields, type) };
  fields.close();
  return domain;
};

// --- oracles: a randomizer has the public draws' ranges, and the record of a value, those draws and a source

// The last line of defence: a value that the randomizer was not made for could be sent as it is.
const inside = (value, items) =>
  value >= 0n && value < items ? value : refuse("the value does not fit the scheme; do not send anything");

// Both draws are always made, so that neither their number nor their order tells anything.
const respond = (source, value, size, keep) => {
  const kept = source.bernoulli(keep);
  const lie = source.below(size - 1n);
  return kept ? value : lie + (lie >= value ? 1n : 0n);
};

const fieldBytes = (count) => [1, 2, 4, 8].find((bytes) => count <= 1n << BigInt(8 * bytes));

const field = (number, count) =>
  Array.from({ length: fieldBytes(count) }, (_, i) => Number((number >> BigInt(8 * i)) & 255n));

const bitmapBytes = (size) => Number((size + 7n) / 8n);

// `among` equally likely answers share the probability of keeping, the others the rest.
const respondRatio = (size, keep, among = 1n) => [keep * (size - among), (WORD - keep) * among];

// The client draws the public number of a hash function; `seedOf` finds the function of that number.
const hashing = (scheme, functions, seedOf) => {
  const size = scheme.whole("hash_range", 2n, scheme.kind === "BLH" ? 2n : 1n << 16n);
  const [split, keep, items] = [scheme.split(), scheme.threshold("keep"), scheme.items];
  return {
    ratio: respondRatio(size, keep),
    publics: [functions],
    words: 3n,
    bytes: fieldBytes(functions) + fieldBytes(size),
    record(value, [number], source) {
      const hashed = localHash(seedOf(number), inside(value, items), split, Number(size));
      return [...field(number, functions), ...field(respond(source, hashed, size, keep), size)];
    },
  };
};

const localHashing = (scheme) => hashing(scheme, WORD, (seed) => seed);

const fastLocalHashing = (scheme) => {
  const [hashes, hashSeed] = [scheme.whole("hashes", 1n, 1n << 24n), scheme.seed("hash_seed")];
  return hashing(scheme, hashes, (number) => key64(field(number, WORD), hashSeed, "FLH seed"));
};

const parity = (word) => {
  let odd = 0n;
  for (; word; word >>= 1n) odd ^= word & 1n;
  return odd;
};

const direct = (scheme) => {
  const [size, keep] = [scheme.size, scheme.threshold("keep")];
  return {
    ratio: respondRatio(size, keep),
    publics: [],
    words: 2n,
    bytes: fieldBytes(size),
    record: (value, _, source) => field(respond(source, inside(value, size), size, keep), size),
  };
};

const unary = (scheme) => {
  const size = scheme.size;
  const [keep, flip] = [scheme.threshold("keep"), scheme.threshold("flip")];
  return {
    ratio: [keep * (WORD - flip), flip * (WORD - keep)],
    publics: [],
    words: size,
    bytes: bitmapBytes(size),
    record(value, _, source) {
      inside(value, size);
      const bitmap = new Array(bitmapBytes(size)).fill(0);
      for (let i = 0; i < size; i++) bitmap[i >> 3] |= source.bernoulli(BigInt(i) === value ? keep : flip) << (i & 7);
      return bitmap;
    },
  };
};

// keep and flip were computed from the threshold; privacy rests on them alone.
const thresholded = (scheme) => {
  const [a, b] = scheme.fraction("threshold", 1n);
  if (2n * a < b || a >= b) refuse("threshold: expected at least 1/2 and less than 1");
  return unary(scheme);
};

const hadamardMechanism = (scheme) => {
  const items = scheme.size;
  const order = 1n << BigInt(bitLength(items - 1n));
  const [coefficients, keep] = [scheme.whole("coefficients", 1n, 8n), scheme.threshold("keep")];
  const size = 1n << coefficients;
  // A negative value has the bit `order` as well, and all its signs are reversed.
  const below = (most) => ({
    ratio: respondRatio(size, keep),
    publics: new Array(Number(coefficients)).fill(order),
    words: coefficients + 2n,
    bytes: Number(coefficients) * fieldBytes(order) + fieldBytes(size),
    record(value, rows, source) {
      inside(value, most);
      const signs = rows.reduce((pattern, row, j) => pattern | (parity((row | order) & value) << BigInt(j)), 0n);
      const answer = respond(source, signs, size, keep);
      return [...rows.flatMap((row) => field(row, order)), ...field(answer, size)];
    },
  });
  return { ...below(items), signed: items === order ? below(2n * order) : undefined };
};

const hadamardResponse = (scheme) => {
  const items = scheme.size;
  const blocks = scheme.whole("blocks", 1n, 1n << 32n);
  scheme.exactly("variant", blocks === 1n ? "pure" : "block");
  // A code for every item among the rows: else records would leave the range that the ratio speaks of.
  const order = 1n << BigInt(bitLength((items + blocks - 1n) / blocks));
  scheme.exactly("order", order);
  const keep = scheme.threshold("keep");
  if (blocks & (blocks - 1n) || blocks * order > 1n << 32n) refuse("blocks: expected a power of two, and fewer rows");
  return {
    ratio: respondRatio(2n * blocks, keep),
    publics: [],
    words: 3n,
    bytes: fieldBytes(blocks * order),
    record(value, _, source) {
      const [code, own] = [inside(value, items) / blocks + 1n, value % blocks];
      const kept = source.bernoulli(keep);
      const part = source.below(2n * blocks - 1n);
      let row = source.below(order);
      const elsewhere = !kept && part > 0n;
      const other = (part - 1n) / 2n;
      const block = elsewhere ? other + (other >= own ? 1n : 0n) : own;
      if (!elsewhere && parity(row & code) !== (kept ? 0n : 1n)) row ^= code & -code;
      return field(block * order + row, blocks * order);
    },
  };
};

const subsetSelection = (scheme) => {
  const size = scheme.size;
  const [subset, keep] = [scheme.whole("subset_size", 1n, size - 1n), scheme.threshold("keep")];
  return {
    ratio: respondRatio(size, keep, subset),
    publics: [],
    words: 1n + subset,
    bytes: bitmapBytes(size),
    record(value, _, source) {
      inside(value, size);
      const kept = source.bernoulli(keep);
      const bitmap = new Array(bitmapBytes(size)).fill(0);
      const moved = new Map(); // what lies where it did not lie before the shuffle
      const at = (place) => moved.get(place) ?? place;
      for (let i = 0n; i < subset; i++) {
        const place = i + source.below(size - 1n - i);
        const other = at(place);
        moved.set(place, at(i));
        if (place !== i) moved.delete(i);
        const item = Number(kept && i === subset - 1n ? value : other + (other >= value ? 1n : 0n));
        bitmap[item >> 3] |= 1 << (item & 7);
      }
      return bitmap;
    },
  };
};

// What schemes share that report a hash up to an error, which is below the window or beyond it. All is always drawn.
const windowed = (scheme) => {
  const bits = scheme.whole("hash_bits", 1n, 12n);
  const size = 1n << bits;
  const [window, keep] = [scheme.whole("window", 1n, size - 1n), scheme.threshold("keep")];
  const error = (source) => {
    const kept = source.bernoulli(keep);
    const [near, far] = [source.below(window), window + source.below(size - window)];
    return kept ? near : far;
  };
  return { bits, size, window, error, ratio: respondRatio(size, keep, window) };
};

const toeplitzHashing = (scheme) => {
  const { bits, size, error, ratio } = windowed(scheme);
  const items = scheme.items;
  // Of a 64-bit key, as many bits as leave the matrix in one word.
  const itemBits = scheme.domain.type === "keys" ? 65n - bits : BigInt(bitLength(items - 1n));
  scheme.exactly("item_bits", itemBits);
  const matrices = 1n << (itemBits + bits - 1n);
  return {
    ratio,
    publics: [matrices],
    words: 4n,
    bytes: fieldBytes(matrices) + fieldBytes(size),
    record(value, [matrix], source) {
      const item = BigInt.asUintN(Number(itemBits), inside(value, items));
      let hashed = 0n;
      for (let j = 0n; j < bits; j++) hashed |= parity((matrix >> j) & item) << j;
      return [...field(matrix, matrices), ...field(hashed ^ error(source), size)];
    },
  };
};

// The polynomial of GF(2^t), t = 1, 2, ...: bit i is the coefficient of X^i.
const FIELDS = [0x3n, 0x7n, 0xbn, 0x13n, 0x25n, 0x43n, 0x83n, 0x11bn, 0x203n, 0x409n, 0x805n, 0x1009n];

const fieldProduct = (a, b, bits) => {
  let product = 0n;
  for (; b; b >>= 1n) {
    if (b & 1n) product ^= a;
    a <<= 1n;
    if (a >> bits) a ^= FIELDS[Number(bits) - 1];
  }
  return product;
};

const affineResponse = (scheme) => {
  const { bits, size, window, error, ratio } = windowed(scheme);
  const [dimension, items] = [scheme.whole("dimension", 1n, 64n / bits), scheme.size];
  if (size ** dimension < items) refuse("the space has too few points for the domain");
  const lines = (size ** dimension - 1n) / (size - 1n);
  const publics = [lines, ...(window > 1n ? [size - 1n] : [])];
  return {
    ratio,
    publics,
    words: 3n + BigInt(publics.length),
    bytes: fieldBytes(lines) + publics.length * fieldBytes(size),
    record(value, [line, less = 0n], source) {
      inside(value, items);
      const stretch = 1n + less;
      // The line's point: as many free coordinates as it takes, then a one.
      let [free, rest, count] = [0n, line, 1n];
      for (; rest >= count; count *= size, free++) rest -= count;
      let hashed = (value >> (bits * free)) % size;
      for (let i = 0n; i < free; i++)
        hashed ^= fieldProduct((rest >> (bits * i)) % size, (value >> (bits * i)) % size, bits);
      const answer = fieldProduct(stretch, hashed, bits) ^ error(source);
      return [...field(line, lines), ...(window > 1n ? field(stretch, size) : []), ...field(answer, size)];
    },
  };
};

// --- sketches --------------------------------------------------------------------------------------------

// A public row, and the oracle's report of the value's hash below it.
const overRows = (scheme, rowsOf, tag, most) => {
  const oracle = scheme.oracle("oracle");
  if (oracle.sketch) refuse("a sketch within a sketch");
  let { size, randomizer } = oracle;
  if (size === undefined || size > most || (scheme.kind === "CS" && size % 2n)) refuse("the oracle has no cells, or odd ones");
  if (scheme.kind === "CS" && scheme.has("signs")) {
    // Half of the hashes stand for negative cells, which the coefficients of the oracle take as they are.
    scheme.choice("signs", "coefficients");
    randomizer = randomizer.signed ?? refuse("signs: expected HM over a power of two as oracle");
    if ((size *= 2n) > most) refuse("signs: too many cells");
  }
  const [items, rows, hashSeed, split] = [scheme.items, rowsOf(), scheme.seed("hash_seed"), scheme.split()];
  return {
    ratio: randomizer.ratio,
    publics: [rows, ...randomizer.publics],
    words: 1n + randomizer.words,
    bytes: fieldBytes(rows) + randomizer.bytes,
    record(value, [row, ...drawn], source) {
      const seed = key64(field(row, WORD), hashSeed, tag);
      const cell = localHash(seed, inside(value, items), split, Number(size));
      return [...field(row, rows), ...randomizer.record(cell, drawn, source)];
    },
  };
};

const rowSketch = (scheme) => overRows(scheme, () => scheme.whole("rows", 1n, 1n << 16n), "row seed", 1n << 24n);

// A public cohort and the whole Bloom filter of the value, each bit wrong with the same probability; or one bit of it.
const bloom = (scheme) => {
  const [hashes, cohorts] = [scheme.whole("hashes", 1n, 256n), scheme.whole("cohorts", 1n, 1n << 16n)];
  if (scheme.has("oracle"))
    return overRows(scheme, () => within("cohorts and hashes", cohorts * hashes, 1n, 1n << 16n), "bloom", 1n << 16n);
  const [bits, keep] = [scheme.whole("bits", 2n, 1n << 16n), scheme.threshold("keep")];
  const [items, hashSeed, split] = [scheme.items, scheme.seed("hash_seed"), scheme.split()];
  const differ = 2n * hashes < bits ? 2n * hashes : bits; // bits in which two filters may differ
  return {
    ratio: [keep ** differ, (WORD - keep) ** differ],
    publics: [cohorts],
    words: 1n + bits,
    bytes: fieldBytes(cohorts) + bitmapBytes(bits),
    record(value, [cohort], source) {
      inside(value, items);
      const ones = new Set();
      for (let j = 0n; j < hashes; j++) {
        const seed = key64(field(cohort * hashes + j, WORD), hashSeed, "bloom");
        ones.add(Number(localHash(seed, value, split, Number(bits))));
      }
      const bitmap = new Array(bitmapBytes(bits)).fill(0);
      for (let i = 0; i < bits; i++) bitmap[i >> 3] |= source.bernoulli(ones.has(i) ? keep : WORD - keep) << (i & 7);
      return [...field(cohort, cohorts), ...bitmap];
    },
  };
};

// --- searches --------------------------------------------------------------------------------------------

// One oracle of a search: it reports the symbols in [first, last), with a tag of the whole string if there is one.
const part = (oracle, text, first, last, tag) => {
  const { base, length, cut, content } = text;
  const count = base ** (last - first) << (tag?.bits ?? 0n);
  if (!oracle.keys && oracle.size < count) refuse("the oracle has too few items");
  const tagOf = (value) => key64(content(value, 0n, length), tag.hashSeed, "tag") % (1n << tag.bits);
  const item = (value) => {
    if (!oracle.keys) return tag ? (cut(value, first, last) << tag.bits) | tagOf(value) : cut(value, first, last);
    const tagged = tag ? field(tagOf(value), 1n << 16n) : [];
    return key64([...content(value, first, last), ...tagged], oracle.hashSeed, "symbols");
  };
  return { ...oracle.randomizer, oracle: oracle.name, item };
};

const total = (numbers, zero) => numbers.reduce((sum, number) => sum + number, zero);

// A public group of users, all that its parts draw in public, then their reports.
const grouped = ({ items }, groups, weights) => {
  if (!groups.length || weights.length !== groups.length) refuse("expected a weight for each group");
  const words = groups.map((parts) => total(parts.map((one) => one.words), 0n));
  const most = words.reduce((a, b) => (a > b ? a : b));
  const longest = Math.max(...groups.map((parts) => total(parts.map((one) => one.bytes), 0)));
  // What a group sends is protected together: its ratios multiply. Only one group's is sent: the largest counts.
  const ratios = [...new Map(groups.map((parts) => [parts.map(({ oracle }) => oracle).join(), parts])).values()].map((parts) =>
    parts.reduce(
      ([above, under], { ratio: [a, b] }) => (a < b ? [above * b, under * a] : [above * a, under * b]),
      [1n, 1n],
    ),
  );
  const count = BigInt(groups.length);
  return {
    ratio: ratios.reduce((worst, one) => (one[0] * worst[1] > worst[0] * one[1] ? one : worst)),
    words: 1n + most,
    bytes: fieldBytes(count) + longest,
    weights,
    draw(source) {
      let [ticket, number] = [source.below(total(weights, 0n)), 0];
      for (; ticket >= weights[number]; number++) ticket -= weights[number];
      return [number, groups[number].map(({ publics }) => publics.map((size) => source.below(size)))];
    },
    record(value, [number, drawn], source) {
      inside(value, items);
      const body = groups[number].flatMap((one, i) => one.record(one.item(value), drawn[i], source));
      for (let i = words[number]; i < most; i++) source.below(1n);
      return [...field(BigInt(number), count), ...padded(body, longest)];
    },
  };
};

const weightsOf = (scheme) => scheme.wholes("weights", 1n, (1n << 32n) - 1n);

// --- items in order --------------------------------------------------------------------------------------

// A public offset, and an oracle's report of the block that holds the value. Items from `length` on have no place in
// the order: each is a block of its own.
const blocks = (oracle, items, length, width) => {
  const step = (width + MOST_OFFSETS - 1n) / MOST_OFFSETS;
  const [offsets, count] = [width / step, (length - 1n + width - step) / width + 1n];
  if (width % step || oracle.sketch || oracle.size !== count + items - length)
    refuse("oracles: expected an oracle over the blocks of each width");
  const { ratio, publics, words, bytes, record } = oracle.randomizer;
  return {
    ratio,
    publics: [offsets, ...publics],
    words: 1n + words,
    bytes: fieldBytes(offsets) + bytes,
    oracle: oracle.name,
    item: (value) => value,
    record(value, [offset, ...drawn], source) {
      const place = (inside(value, items) + offset * step) / width;
      const block = value < length ? place : count + value - length;
      return [...field(offset, offsets), ...record(block, drawn, source)];
    },
  };
};

// A place near the value, or any other one.
const squareWave = (scheme) => {
  const size = scheme.size;
  const [near, keep] = [2n * scheme.whole("reach", 0n, size) + 1n, scheme.threshold("keep")];
  const places = size + near - 1n;
  return {
    ratio: respondRatio(places, keep, near),
    publics: [],
    words: 3n,
    bytes: fieldBytes(places),
    record(value, _, source) {
      inside(value, size);
      const kept = source.bernoulli(keep);
      const [by, far] = [source.below(near), source.below(size - 1n)];
      const other = far < value ? far : far + near;
      return field(kept ? value + by : other, places);
    },
  };
};

// 1 with a probability that grows linearly with the place of the value.
const oneBit = (scheme) => {
  const [size, first, step] = [scheme.size, scheme.threshold("first"), scheme.threshold("step")];
  const places = scheme.has("places") ? scheme.wholes("places", 0n, 1n << 40n) : undefined;
  if (places && (BigInt(places.length) !== size || places.some((place, i) => i && place < places[i - 1])))
    refuse("places: expected one for each item, in rising order");
  const last = first + step * (places ? places[places.length - 1] : size - 1n);
  if (last >= WORD) refuse("step: expected probabilities below 1");
  const none = (WORD - first) * first > (WORD - last) * last; // a 0 tells more than a 1
  return {
    ratio: none ? [WORD - first, WORD - last] : [last, first],
    publics: [],
    words: 1n,
    bytes: 1,
    record(value, _, source) {
      const place = places ? places[inside(value, size)] : inside(value, size);
      return [Number(source.bernoulli(first + step * place))];
    },
  };
};

// A public width, a public offset, and the block of the value.
const slide = (scheme) => {
  const items = scheme.size;
  const length = scheme.whole("length", items > 3n ? items - 1n : 2n, items);
  const [widths, oracles] = [scheme.wholes("widths", 1n, length), scheme.oracles("oracles")];
  if (widths.length !== oracles.length) refuse("oracles: expected one for each width");
  const parts = oracles.map((oracle, i) => [blocks(oracle, items, length, widths[i])]);
  return grouped({ items }, parts, weightsOf(scheme));
};

// A public level of a tree, and the block of the value.
const hierarchy = (scheme) => {
  const [items, oracles] = [scheme.size, scheme.oracles("oracles")];
  const branching = scheme.whole("branching", 2n, 1n << 16n);
  const widths = oracles.map((_, level) => branching ** BigInt(level));
  const top = widths[widths.length - 1];
  if (items <= top || items > top * branching) refuse("oracles: expected one for each level of the tree");
  const parts = oracles.map(({ sketch, size, randomizer, name }, level) => {
    const width = widths[level];
    if (sketch || size !== (items + width - 1n) / width) refuse("oracles: expected the blocks of each level");
    return [{ ...randomizer, oracle: name, item: (value) => value / width }];
  });
  return grouped({ items }, parts, weightsOf(scheme));
};

// A public level, and the block of the value with the sign of the value's half.
const haar = (scheme) => {
  const [items, oracles] = [scheme.size, scheme.oracles("oracles")];
  if (oracles.length !== bitLength(items - 1n)) refuse("oracles: expected one for each level of halves");
  const parts = oracles.map((oracle, level) => {
    const [half, blocks] = [1n << BigInt(level), 1n << BigInt(oracles.length - 1 - level)];
    const size = blocks < 2n ? 2n : blocks;
    const { signed } = oracle.randomizer;
    if (!signed || oracle.size !== size) refuse("oracles: expected HM over the blocks of each level");
    return [{ ...signed, oracle: oracle.name, item: (value) => value / (2n * half) + ((value / half) % 2n) * size }];
  });
  return grouped({ items }, parts, weightsOf(scheme));
};

// --- several attributes ----------------------------------------------------------------------------------

// The parts that report the cells of sets of attributes; sets with equally many cells share an oracle.
const joints = (scheme, cliques) => {
  const { sizes } = scheme.domain;
  const listed = scheme.oracles("oracles");
  const oracles = new Map(listed.map((oracle) => [oracle.size, oracle]));
  const product = (numbers) => numbers.reduce((all, number) => all * number, 1n);
  const used = new Set();
  const parts = cliques.map((clique) => {
    const cells = product(clique.map((i) => sizes[i]));
    const { sketch, randomizer, name } = oracles.get(cells) ?? refuse("oracles: expected one for each table");
    if (sketch) refuse("oracles: expected oracles over the cells of each table");
    used.add(cells);
    const digits = clique.map((i) => [product(sizes.slice(i + 1)), sizes[i]]);
    const item = (value) => digits.reduce((cell, [step, base]) => cell * base + ((value / step) % base), 0n);
    return { ...randomizer, oracle: name, item };
  });
  return used.size === listed.length ? parts : refuse("oracles: expected one for each table, got more");
};

const attributesOf = ({ domain }) => domain.sizes?.map((_, i) => [i]) ?? refuse("the domain has no attributes");

// A public set of attributes, and the cell of the record in the table of all of them.
const clique = (scheme) => {
  const [most, cliques] = [attributesOf(scheme).length, scheme.take("cliques", "list")];
  const rising = (own) => own.every((i, k) => KINDS.number(i) && i >= 0 && i < most && (!k || own[k - 1] < i));
  if (!cliques.length || cliques.length > MOST_CLIQUES) refuse("cliques: expected some sets of attributes");
  if (!cliques.every((own) => Array.isArray(own) && own.length && rising(own))) refuse("cliques: expected rising numbers");
  return grouped(scheme.domain, joints(scheme, cliques).map((part) => [part]), weightsOf(scheme));
};

// A public attribute, and its value.
const sampledAttribute = (scheme) => {
  const parts = joints(scheme, attributesOf(scheme)).map((part) => [part]);
  return grouped(scheme.domain, parts, parts.map(() => 1n));
};

// The values of all attributes, which share epsilon.
const splitAttributes = (scheme) => grouped(scheme.domain, [joints(scheme, attributesOf(scheme))], [1n]);

// --- strings ---------------------------------------------------------------------------------------------

const lengthsOf = (scheme) => {
  const { length } = scheme.strings;
  const [lengths, step] = [[], scheme.whole("step", 1n, length)];
  for (let last = scheme.whole("start", 1n, length); last < length; last += step) lengths.push(last);
  return [...lengths, length];
};

const ones = (groups) => groups.map(() => 1n);

const prefixExtending = (scheme) => {
  const [text, oracle] = [scheme.strings, scheme.oracle("oracle")];
  return grouped(text, lengthsOf(scheme).map((last) => [part(oracle, text, 0n, last)]), weightsOf(scheme));
};

// All users report a piece and the whole string; or each one of the two ("users"); or all a piece only ("none").
const withWholeStrings = (scheme, pieces, ...splits) => {
  const [text, apart] = [scheme.strings, pieces.map((piece) => [piece])];
  if (!pieces.length) refuse("start: expected less than the length of the strings");
  const split = scheme.has("split") ? scheme.choice("split", ...splits) : "";
  if (split === "none") return grouped(text, apart, ones(apart));
  const whole = part(scheme.oracle("word_oracle"), text, 0n, text.length);
  if (split === "users") return grouped(text, [...apart, [whole]], [...ones(apart), BigInt(apart.length)]);
  return grouped(text, pieces.map((piece) => [piece, whole]), ones(apart));
};

const treeHistogram = (scheme) => {
  const [text, oracle] = [scheme.strings, scheme.oracle("oracle")];
  const prefixes = lengthsOf(scheme).slice(0, -1).map((last) => part(oracle, text, 0n, last));
  return withWholeStrings(scheme, prefixes, "users");
};

// A part for each fragment, which carries a tag of the whole string.
const fragments = (scheme, size) => {
  const [text, oracle] = [scheme.strings, scheme.oracle("oracle")];
  const tag = { hashSeed: scheme.seed("hash_seed"), bits: scheme.whole("hash_bits", 0n, 16n) };
  const parts = [];
  for (let first = 0n; first < text.length; first += size) {
    const last = first + size < text.length ? first + size : text.length;
    parts.push(part(oracle, text, first, last, tag));
  }
  return parts;
};

const fragmentPuzzle = (scheme) => {
  const pieces = fragments(scheme, scheme.whole("fragment", 1n, scheme.strings.length));
  return withWholeStrings(scheme, pieces, "users", "none");
};

const bitstogram = (scheme) => {
  const text = scheme.strings;
  const parts = [...fragments(scheme, 1n), part(scheme.oracle("word_oracle"), text, 0n, text.length)];
  return grouped(text, parts.map((one) => [one]), weightsOf(scheme));
};

// The cell of a prefix: a hash of its stem chooses a block and turns it, the other symbols choose the cell in it.
const fold = (oracle, text, stem, last, cohort, hashSeed) => {
  const { base, cut, content } = text;
  const block = 1n << BigInt(bitLength(base ** (last - stem) - 1n));
  const { size } = oracle;
  if (size === undefined || size & (size - 1n) || size < block) refuse("the cells are no power of two, or too few");
  const item = (value) => {
    const key = key64([...content(value, 0n, stem), cohort], hashSeed, "fold");
    return ((key >> 32n) % (size / block)) * block + ((cut(value, stem, last) + key) % block);
  };
  return { ...oracle.randomizer, oracle: oracle.name, item };
};

const trellis = (scheme) => {
  const [text, lengths] = [scheme.strings, lengthsOf(scheme)];
  const [hashSeed, cohorts] = [scheme.seed("hash_seed"), Number(scheme.whole("cohorts", 1n, 16n))];
  const tables = {};
  for (const name of ["letters", "pairs", "first", "folded", "deep"])
    if (scheme.has(name)) tables[name] = scheme.oracle(name);
  for (const { keys, randomizer } of Object.values(tables))
    if (keys || !randomizer) refuse("expected oracles over integers");
  const needed = ["letters", "first", ...(lengths.length > 1 ? ["folded"] : []), ...(tables.folded ? ["deep"] : [])];
  if (!needed.every((name) => name in tables)) refuse(`expected oracles for ${needed.join(", ")}`);
  const parts = [];
  for (let i = 0n; i < text.length; i++) parts.push(part(tables.letters, text, i, i + 1n));
  if (tables.pairs) for (let i = 0n; i + 1n < text.length; i++) parts.push(part(tables.pairs, text, i, i + 2n));
  parts.push(part(tables.first, text, 0n, lengths[0]));
  for (let i = 1; i < lengths.length; i++)
    for (let cohort = 0; cohort < cohorts; cohort++)
      parts.push(fold(i > 1 ? tables.deep : tables.folded, text, lengths[i - 1], lengths[i], cohort, hashSeed));
  return grouped(text, parts.map((one) => [one]), weightsOf(scheme));
};

// In the order of code points: by itself JavaScript sorts by the units that it keeps them in.
const sorted = (texts) => {
  const points = texts.map((text) => Array.from(text, (character) => character.codePointAt?.(0) ?? character));
  return points.every((a, i) => {
    if (!i) return true;
    const before = points[i - 1];
    const at = a.findIndex((point, j) => point !== before[j]);
    return at < 0 ? before.length <= a.length : at >= before.length || before[at] < a[at];
  });
};

// How a published prefix goes on; the last item for everybody who begins with none of them.
const searchRound = (scheme) => {
  const text = scheme.strings;
  const stem = scheme.whole("stem", 0n, text.length - 1n);
  const reach = scheme.whole("reach", stem + 1n, text.length);
  const written = scheme.texts("prefixes");
  const published = text.inBytes ? written.map(fromHex) : written;
  const long = published.some((prefix) => Array.from(prefix).length > stem);
  if (!published.length || published.length > MOST_PREFIXES || long) refuse("prefixes: too many, too few, or too long");
  const numbers = new Map(published.map((prefix, i) => [text.stemOf(prefix, stem), BigInt(i)]));
  if (!sorted(published) || numbers.size !== published.length) refuse("prefixes: expected distinct ones, sorted");
  const more = text.base ** (reach - stem);
  const oracle = scheme.oracle("oracle");
  const none = BigInt(numbers.size) * more;
  if (oracle.size === undefined || oracle.size < none + 1n) refuse("the oracle has too few items");
  const item = (value) => {
    const number = numbers.get(text.cut(value, 0n, stem));
    return number === undefined ? none : number * more + text.cut(value, stem, reach);
  };
  return grouped(text, [[{ ...oracle.randomizer, item }]], [1n]);
};

const RANDOMIZERS = new Map([
  ["DE", direct],
  ["SUE", unary],
  ["OUE", unary],
  ["THE", thresholded],
  ["BLH", localHashing],
  ["OLH", localHashing],
  ["FLH", fastLocalHashing],
  ["HM", hadamardMechanism],
  ["HR", hadamardResponse],
  ["SS", subsetSelection],
  ["TLH", toeplitzHashing],
  ["AGR", affineResponse],
  ["CM", rowSketch],
  ["CS", rowSketch],
  ["BLOOM", bloom],
  ["SLIDE", slide],
  ["SW", squareWave],
  ["MEAN", oneBit],
  ["HH", hierarchy],
  ["HAAR", haar],
  ["CLIQUE", clique],
  ["SMP", sampledAttribute],
  ["SPL", splitAttributes],
  ["TRELLIS", trellis],
  ["ROUND", searchRound],
  ["PEM", prefixExtending],
  ["TH", treeHistogram],
  ["SFP", fragmentPuzzle],
  ["BITSTOGRAM", bitstogram],
]);

// --- keys: BLAKE2s (RFC 7693) with an 8-byte digest, salt and personalisation ----------------------------

const IV = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
const SIGMA = (
  "0123456789abcdef ea489fd61c02b753 b8c052fdae367194 7931dcbe265a40f8 905724afe1bc683d " +
  "2c6a0b834d75fe19 c51fed4a0763928b db7ec13950f4862a 6fe9b308c2d714a5 a2847615fb9e3cd0"
)
  .split(" ")
  .map((round) => Array.from(round, (digit) => parseInt(digit, 16)));
const LANES = [
  [0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15],
  [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14],
];

const rotate = (word, by) => (word >>> by) | (word << (32 - by));

const words32 = (bytes) =>
  Array.from({ length: bytes.length / 4 }, (_, i) =>
    bytes[4 * i] | (bytes[4 * i + 1] << 8) | (bytes[4 * i + 2] << 16) | (bytes[4 * i + 3] << 24),
  );

const compress = (state, block, count, last) => {
  const v = [...state, ...IV];
  v[12] ^= count;
  v[14] ^= last ? -1 : 0;
  const m = words32(block);
  for (const sigma of SIGMA) {
    LANES.forEach(([a, b, c, d], i) => {
      for (const [word, r1, r2] of [[m[sigma[2 * i]], 16, 12], [m[sigma[2 * i + 1]], 8, 7]]) {
        v[a] = (v[a] + v[b] + word) | 0;
        v[d] = rotate(v[d] ^ v[a], r1);
        v[c] = (v[c] + v[d]) | 0;
        v[b] = rotate(v[b] ^ v[c], r2);
      }
    });
  }
  return state.map((word, i) => word ^ v[i] ^ v[i + 8]);
};

const padded = (bytes, size) => [...bytes, ...new Array(size - bytes.length).fill(0)];

const key64 = (content, hashSeed, tag) => {
  const salt = padded(new TextEncoder().encode(tag), 8);
  const parameters = [8, 0, 1, 1, ...new Array(12).fill(0), ...salt, ...field(hashSeed, WORD)];
  let state = words32(parameters).map((word, i) => word ^ IV[i]);
  for (let start = 0, last = false; !last; start += 64) {
    last = start + 64 >= content.length;
    const block = content.slice(start, start + 64);
    state = compress(state, padded(block, 64), start + block.length, last);
  }
  return (BigInt(state[1] >>> 0) << 32n) | BigInt(state[0] >>> 0);
};

// --- the client ------------------------------------------------------------------------------------------

// Whether ratio and its inverse are at most e^epsilon; partial sums of the series lie below it.
const withinEpsilon = ([above, under], [a, b]) => {
  const scale = 1n << 300n;
  let [term, sum] = [scale, scale];
  for (let k = 1n; term > sum >> 220n; k++) {
    term = (term * a) / (b * k);
    sum += term;
  }
  return above * scale <= under * sum && under * scale <= above * sum;
};

// The randomizer of a document, which has no field left.
const madeOf = (document) => {
  const made = RANDOMIZERS.get(document.kind)(document);
  document.close();
  made.draw ??= (source) => made.publics.map((size) => source.below(size));
  return made;
};

const expectEpsilon = ({ ratio }, epsilon) => {
  if (!withinEpsilon(ratio, epsilon)) refuse("the probabilities exceed epsilon");
};

// JSON.parse keeps the last of two fields of one name, and reads 2.0 as 2: neither is in a scheme's text.
const parse = (text) => {
  if (typeof text !== "string" || text.length > MOST_CHARACTERS) refuse("the scheme is not a text, or too long");
  if (text.split(/[[{]/, MOST_BRACKETS + 2).length > MOST_BRACKETS + 1) refuse("the scheme has too many brackets");
  let [names, count, scheme] = [0, 0];
  try {
    scheme = JSON.parse(text, (_, value) => ((count += KINDS.object(value) ? Object.keys(value).length : 0), value));
  } catch {
    refuse("the scheme is not valid JSON");
  }
  // After JSON.parse: on a string that does not end, the search would take quadratic time.
  const bare = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g, (_, colon) => ((names += colon ? 1 : 0), '""'));
  return count === names && !/[0-9][.eE]/.test(bare) ? scheme : refuse("a field occurs twice, or a number is not whole");
};

// A positive number as a fraction: "1/2", "0.5" or 0.5.
const limitOf = (maxEpsilon) => {
  const [, whole, digits = "", under = "1"] = /^([0-9]+)(?:\.([0-9]+)|\/([1-9][0-9]*))?$/.exec(String(maxEpsilon)) ?? [];
  if (whole === undefined) refuse("maxEpsilon: expected a number or its text");
  return [BigInt(whole + digits), BigInt(under) * 10n ** BigInt(digits.length)];
};

// The client of a scheme's JSON text: what it promises, and (value, source) -> record bytes.
export const load = (text, { maxEpsilon = MAX_EPSILON, total: expectsTotal = true } = {}) => {
  const document = new Document(parse(text));
  const [[a, b], [limit, under]] = [document.epsilon, limitOf(maxEpsilon)];
  if (a * under > limit * b) refuse(`expected epsilon at most ${maxEpsilon}, got a larger one`);
  if (expectsTotal && !document.domain.total)
    refuse("the domain refuses some values, and a user who sends nothing is known to have one of them");
  const randomizer = madeOf(document);
  if (randomizer.words > MOST_WORDS || randomizer.bytes > MOST_BYTES) refuse("a report takes too many words or bytes");
  expectEpsilon(randomizer, document.epsilon);
  const { encode } = document.domain;
  const privatize = (value, source) => {
    const encoded = encode(value);
    return Uint8Array.from(randomizer.record(encoded, randomizer.draw(source), source));
  };
  return { epsilon: document.epsilon, encode, randomizer, privatize };
};
