// The device path in plain JavaScript, as a browser could run it: scheme JSON + value + words -> record.
//
// Hashes use 32-bit operations only; thresholds and random words are BigInt. Run by node, it answers
// each line {"scheme": ..., "value": ..., "tape": ["...", ...]} with the record in hex, or "refused: why".
// A key that JSON has no form for is written {"bytes": hex} or {"int": decimal}.

const WORD = 1n << 64n;

export class Refusal extends Error {}

const refuse = (why) => {
  throw new Refusal(why);
};

// --- the hash family and OLH -----------------------------------------------------------------------------

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

// The two primitives; `next` hands out random words.
const bernoulli = (next, threshold) => next() < threshold;

const below = (next, size) => {
  const limit = WORD - (WORD % size);
  let word = next();
  while (word >= limit) word = next();
  return word % size;
};

// Both draws are always made, so that neither their number nor their order tells anything.
const respond = (next, value, size, keep) => {
  const kept = bernoulli(next, keep);
  const lie = below(next, size - 1n);
  return kept ? value : lie + (lie >= value ? 1n : 0n);
};

const field = (number, count) => {
  const size = [1, 2, 4, 8].find((bytes) => count <= 1n << BigInt(8 * bytes));
  return Array.from({ length: size }, (_, i) => Number((number >> BigInt(8 * i)) & 255n));
};

// `inside` equally likely answers share the probability of keeping, the others the rest.
const respondRatio = (size, keep, inside = 1n) => [keep * (size - inside), (WORD - keep) * inside];

// The client draws the public number of a hash function; `seedOf` finds the function of that number.
const hashing = (scheme, functions, seedOf) => {
  const [size, split] = [integer(scheme, "hash_range", 2n), integer(scheme, "split", 1n)];
  const keep = threshold(scheme, "keep");
  return {
    ratio: respondRatio(size, keep),
    publics: [functions],
    record(value, next) {
      const number = below(next, functions);
      const hashed = localHash(seedOf(number), value, split, Number(size));
      return [...field(number, functions), ...field(respond(next, hashed, size, keep), size)];
    },
  };
};

const localHashing = (scheme) => hashing(scheme, WORD, (seed) => seed);

// --- the other randomizers -------------------------------------------------------------------------------

const parity = (word) => {
  let odd = 0n;
  for (; word; word >>= 1n) odd ^= word & 1n;
  return odd;
};

const direct = (scheme) => {
  const [size, keep] = [domainSize(scheme.domain), threshold(scheme, "keep")];
  return {
    ratio: respondRatio(size, keep),
    record: (value, next) => field(respond(next, value, size, keep), size),
  };
};

const unary = (scheme) => {
  const size = domainSize(scheme.domain);
  const [keep, flip] = [threshold(scheme, "keep"), threshold(scheme, "flip")];
  return {
    ratio: [keep * (WORD - flip), flip * (WORD - keep)],
    record(value, next) {
      const bitmap = new Array(Number((size + 7n) / 8n)).fill(0);
      for (let i = 0; i < size; i++)
        bitmap[i >> 3] |= bernoulli(next, BigInt(i) === value ? keep : flip) << (i & 7);
      return bitmap;
    },
  };
};

const fastLocalHashing = (scheme) => {
  const hashSeed = integer(scheme, "hash_seed", 0n, WORD);
  const seedOf = (number) => key64(field(number, WORD), hashSeed, "FLH seed");
  return hashing(scheme, integer(scheme, "hashes", 1n), seedOf);
};

const hadamardMechanism = (scheme) => {
  const order = 1n << BigInt((domainSize(scheme.domain) - 1n).toString(2).length);
  const [coefficients, keep] = [Number(integer(scheme, "coefficients", 1n)), threshold(scheme, "keep")];
  const size = 1n << BigInt(coefficients);
  return {
    ratio: respondRatio(size, keep),
    publics: new Array(coefficients).fill(order),
    record(value, next) {
      const rows = Array.from({ length: coefficients }, () => below(next, order));
      const signs = rows.reduce((pattern, row, j) => pattern | (parity(row & value) << BigInt(j)), 0n);
      const answer = respond(next, signs, size, keep);
      return [...rows.flatMap((row) => field(row, order)), ...field(answer, size)];
    },
  };
};

const hadamardResponse = (scheme) => {
  const [blocks, order] = [integer(scheme, "blocks", 1n), integer(scheme, "order", 2n)];
  const keep = threshold(scheme, "keep");
  // Without a code for every item among the rows, records would leave the range the ratio speaks of.
  if (order & (order - 1n) || blocks * (order - 1n) < domainSize(scheme.domain))
    refuse("the order does not fit the domain");
  return {
    ratio: respondRatio(2n * blocks, keep),
    record(value, next) {
      const [code, own] = [value / blocks + 1n, value % blocks];
      const kept = bernoulli(next, keep);
      const part = below(next, 2n * blocks - 1n);
      let row = below(next, order);
      const elsewhere = !kept && part > 0n;
      const other = (part - 1n) / 2n;
      const block = elsewhere ? other + (other >= own ? 1n : 0n) : own;
      if (!elsewhere && parity(row & code) !== (kept ? 0n : 1n)) row ^= code & -code;
      return field(block * order + row, blocks * order);
    },
  };
};

const subsetSelection = (scheme) => {
  const size = domainSize(scheme.domain);
  const [subset, keep] = [integer(scheme, "subset_size", 1n, size), threshold(scheme, "keep")];
  return {
    ratio: respondRatio(size, keep, subset),
    record(value, next) {
      const kept = bernoulli(next, keep);
      const bitmap = new Array(Number((size + 7n) / 8n)).fill(0);
      const moved = new Map(); // what lies where it did not lie before the shuffle
      const at = (place) => moved.get(place) ?? place;
      for (let i = 0n; i < subset; i++) {
        const place = i + below(next, size - 1n - i);
        const other = at(place);
        moved.set(place, at(i));
        const item = Number(kept && i === subset - 1n ? value : other + (other >= value ? 1n : 0n));
        bitmap[item >> 3] |= 1 << (item & 7);
      }
      return bitmap;
    },
  };
};

// What schemes share that report a hash up to an error, which is below the window or beyond it. All is always drawn.
const windowed = (scheme) => {
  const bits = integer(scheme, "hash_bits", 1n, 13n);
  const size = 1n << bits;
  const [window, keep] = [integer(scheme, "window", 1n, size), threshold(scheme, "keep")];
  const error = (next) => {
    const kept = bernoulli(next, keep);
    const [inside, outside] = [below(next, window), window + below(next, size - window)];
    return kept ? inside : outside;
  };
  return { bits, size, window, error, ratio: respondRatio(size, keep, window) };
};

const toeplitzHashing = (scheme) => {
  const { bits, size, error, ratio } = windowed(scheme);
  const itemBits = integer(scheme, "item_bits", 1n, 66n - bits);
  const matrices = 1n << (itemBits + bits - 1n);
  return {
    ratio,
    publics: [matrices],
    record(value, next) {
      const matrix = below(next, matrices);
      const item = BigInt.asUintN(Number(itemBits), value);
      let hashed = 0n;
      for (let j = 0n; j < bits; j++) hashed |= parity((matrix >> j) & item) << j;
      return [...field(matrix, matrices), ...field(hashed ^ error(next), size)];
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
  const dimension = integer(scheme, "dimension", 1n, 64n / bits + 1n);
  if (size ** dimension < domainSize(scheme.domain)) refuse("the space has too few points for the domain");
  const lines = (size ** dimension - 1n) / (size - 1n);
  return {
    ratio,
    publics: [lines, ...(window > 1n ? [size - 1n] : [])],
    record(value, next) {
      const line = below(next, lines);
      const stretch = window > 1n ? 1n + below(next, size - 1n) : 1n;
      // The line's point: as many free coordinates as it takes, then a one.
      let [free, rest, count] = [0n, line, 1n];
      for (; rest >= count; count *= size, free++) rest -= count;
      let hashed = (value >> (bits * free)) % size;
      for (let i = 0n; i < free; i++)
        hashed ^= fieldProduct((rest >> (bits * i)) % size, (value >> (bits * i)) % size, bits);
      const answer = fieldProduct(stretch, hashed, bits) ^ error(next);
      return [...field(line, lines), ...(window > 1n ? field(stretch, size) : []), ...field(answer, size)];
    },
  };
};

const LARGEST = (1n << 16n) + 1n;
const LARGEST_ROW = (1n << 24n) + 1n;

// A public row, and the oracle's report of the value's hash below it. The oracle is checked like a scheme of its own.
const overRows = (scheme, rows, tag, limit) => {
  const { oracle } = scheme;
  if (SKETCHES.includes(RANDOMIZERS.get(oracle?.scheme))) refuse("a sketch within a sketch");
  const { ratio, publics, record } = checked(oracle);
  const [hashSeed, split] = [integer(scheme, "hash_seed", 0n, WORD), integer(scheme, "split", 1n)];
  if (rows >= LARGEST) refuse("too many rows");
  if (oracle.domain.type !== "integers") refuse("the oracle has no cells");
  const size = integer(oracle.domain, "size", 2n, limit);
  return {
    ratio,
    publics: [rows, ...publics],
    record(value, next) {
      const row = below(next, rows);
      const seed = key64(field(row, WORD), hashSeed, tag);
      return [...field(row, rows), ...record(localHash(seed, value, split, Number(size)), next)];
    },
  };
};

const rowSketch = (scheme) => overRows(scheme, integer(scheme, "rows", 1n, LARGEST), "row seed", LARGEST_ROW);

// A public cohort and the whole Bloom filter of the value, each bit wrong with the same probability; or one bit of it.
const bloom = (scheme) => {
  const [hashes, cohorts] = [integer(scheme, "hashes", 1n, 257n), integer(scheme, "cohorts", 1n, LARGEST)];
  if ("oracle" in scheme) return overRows(scheme, cohorts * hashes, "bloom", LARGEST);
  const [bits, keep] = [integer(scheme, "bits", 2n, LARGEST), threshold(scheme, "keep")];
  const [hashSeed, split] = [integer(scheme, "hash_seed", 0n, WORD), integer(scheme, "split", 1n)];
  const differ = 2n * hashes < bits ? 2n * hashes : bits; // bits in which two filters may differ
  return {
    ratio: [keep ** differ, (WORD - keep) ** differ],
    publics: [cohorts],
    record(value, next) {
      const cohort = below(next, cohorts);
      const ones = new Set();
      for (let j = 0n; j < hashes; j++) {
        const seed = key64(field(cohort * hashes + j, WORD), hashSeed, "bloom");
        ones.add(Number(localHash(seed, value, split, Number(bits))));
      }
      const bitmap = new Array(Number((bits + 7n) / 8n)).fill(0);
      for (let i = 0; i < bits; i++)
        bitmap[i >> 3] |= bernoulli(next, ones.has(i) ? keep : WORD - keep) << (i & 7);
      return [...field(cohort, cohorts), ...bitmap];
    },
  };
};

const SKETCHES = [rowSketch, bloom];

// --- searches: a string is the number whose digits are its symbols, the first one the highest ------------

const stringsOf = (domain) => {
  if (!["strings", "byte strings"].includes(domain.type)) refuse("the domain has no strings");
  const { alphabet, long, other } = domain;
  if (typeof alphabet !== "string" || typeof other !== "boolean" || !["truncate", "refuse"].includes(long))
    refuse("the alphabet is not a text, or what to do with others is not said");
  const inBytes = domain.type === "byte strings";
  if (inBytes && !/^([0-9a-f]{2})+$/.test(alphabet)) refuse("the alphabet is not in hexadecimal");
  // Characters are code points, of which a string of JavaScript may need two units.
  const characters = inBytes ? alphabet.match(/../g).map((byte) => parseInt(byte, 16)) : Array.from(alphabet);
  const base = BigInt(1 + characters.length + other);
  if (!characters.length || new Set(characters).size !== characters.length || base > 1n << 16n)
    refuse("the characters are none, or not distinct, or too many");
  return { characters, base, length: integer(domain, "length", 1n, 257n), inBytes, long, other };
};

const stringsEncoder = (domain) => {
  const { characters, base, length, inBytes, long, other } = stringsOf(domain);
  const index = new Map(characters.map((character, i) => [character, BigInt(1 + i)]));
  return (value) => {
    if (inBytes ? !(value instanceof Uint8Array) : typeof value !== "string") refuse("expected a string");
    const given = Array.from(value);
    if (given.length > length && long === "refuse") refuse("expected fewer characters");
    let number = 0n;
    for (let i = 0; i < length; i++) {
      const known = i < given.length ? index.get(given[i]) : 0n;
      number = number * base + (known ?? (other ? base - 1n : refuse("expected characters of the alphabet")));
    }
    return number;
  };
};

// One oracle of a search: it reports the symbols in [first, last), with a tag of the whole string if there is one.
// `chooser`, if there is one, is told the number of items and says which one a string is.
const part = (oracle, { base, length }, first, last, tag, chooser) => {
  const { ratio, publics, record } = checked(oracle);
  const cut = (value, from, to) => (value / base ** (length - to)) % base ** (to - from);
  const content = (value, from, to) => {
    const bytes = [];
    for (let i = from; i < to; i++) bytes.push(...field(cut(value, i, i + 1n), base));
    return bytes;
  };
  const tagOf = (value) => key64(content(value, 0n, length), tag.hashSeed, "tag") % (1n << tag.bits);
  const keys = oracle.domain.type === "keys";
  if (!keys && oracle.domain.type !== "integers") refuse("the oracle cannot be asked about strings");
  if (!keys && domainSize(oracle.domain) < base ** (last - first) << (tag?.bits ?? 0n))
    refuse("the oracle has too few items");
  const hashSeed = keys ? integer(oracle.domain, "hash_seed", 0n, WORD) : undefined;
  if (keys && chooser) refuse("the oracle has no listed items");
  const choose = chooser?.(domainSize(oracle.domain));
  const item = (value) => {
    if (choose) return choose((from, to) => cut(value, from, to), (from, to) => content(value, from, to));
    if (!keys) return tag ? (cut(value, first, last) << tag.bits) | tagOf(value) : cut(value, first, last);
    const tagged = tag ? field(tagOf(value), 1n << 16n) : [];
    return key64([...content(value, first, last), ...tagged], hashSeed, "symbols");
  };
  let words = 0; // whatever is drawn: a word of zeros is never refused
  const size = record(0n, () => BigInt((words++, 0))).length;
  return { ratio, publics, size, words, record: (value, next) => record(item(value), next) };
};

// The words that below(size) takes, the refused ones included.
const taken = (next, size) => {
  const words = [];
  do words.push(next());
  while (words.at(-1) >= WORD - (WORD % size));
  return words;
};

const total = (numbers, zero = 0) => numbers.reduce((sum, number) => sum + number, zero);

// A public group of users, all that its parts draw in public, then their reports.
const grouped = (groups, weights) => {
  if (weights.length !== groups.length) refuse("expected a weight for each group");
  const words = groups.map((parts) => total(parts.map((part) => part.words)));
  const sizes = groups.map((parts) => total(parts.map((part) => part.size)));
  const [most, longest] = [Math.max(...words), Math.max(...sizes)];
  // What a group sends is protected together: its ratios multiply. Only one group's is sent: the largest counts.
  const ratios = groups.map((parts) =>
    parts.reduce(
      ([above, under], { ratio: [a, b] }) => (a < b ? [above * b, under * a] : [above * a, under * b]),
      [1n, 1n],
    ),
  );
  return {
    ratio: ratios.reduce((worst, one) => (one[0] * worst[1] > worst[0] * one[1] ? one : worst)),
    record(value, next) {
      let [ticket, number] = [below(next, total(weights, 0n)), 0];
      for (; ticket >= weights[number]; number++) ticket -= weights[number];
      const drawn = groups[number].map(({ publics }) => publics.flatMap((size) => taken(next, size)));
      const body = groups[number].flatMap((part, i) => part.record(value, () => drawn[i].shift() ?? next()));
      for (let i = words[number]; i < most; i++) next();
      return [...field(BigInt(number), BigInt(groups.length)), ...padded(body, longest)];
    },
  };
};

const weightsOf = ({ weights }) => {
  if (!Array.isArray(weights)) refuse("the weights are not a list");
  return weights.map((_, i) => integer(weights, i, 1n, 1n << 32n));
};

const lengthsOf = (scheme, { length }) => {
  const lengths = [];
  const step = integer(scheme, "step", 1n, length + 1n);
  for (let last = integer(scheme, "start", 1n, length + 1n); last < length; last += step) lengths.push(last);
  return [...lengths, length];
};

const ones = (groups) => groups.map(() => 1n);

const prefixExtending = (scheme) => {
  const text = stringsOf(scheme.domain);
  const parts = lengthsOf(scheme, text).map((last) => part(scheme.oracle, text, 0n, last));
  return grouped(parts.map((one) => [one]), weightsOf(scheme));
};

const treeHistogram = (scheme) => {
  const text = stringsOf(scheme.domain);
  const shorter = lengthsOf(scheme, text).slice(0, -1);
  if (!shorter.length) refuse("there is no shorter prefix");
  const whole = part(scheme.word_oracle, text, 0n, text.length);
  const groups = shorter.map((last) => [part(scheme.oracle, text, 0n, last), whole]);
  return grouped(groups, ones(groups));
};

// A part for each fragment, which carries a tag of the whole string.
const fragments = (scheme, text, size) => {
  const tag = { hashSeed: integer(scheme, "hash_seed", 0n, WORD), bits: integer(scheme, "hash_bits", 0n, 17n) };
  const parts = [];
  for (let first = 0n; first < text.length; first += size) {
    const last = first + size < text.length ? first + size : text.length;
    parts.push(part(scheme.oracle, text, first, last, tag));
  }
  return parts;
};

const fragmentPuzzle = (scheme) => {
  const text = stringsOf(scheme.domain);
  const whole = part(scheme.word_oracle, text, 0n, text.length);
  const size = integer(scheme, "fragment", 1n, text.length + 1n);
  const groups = fragments(scheme, text, size).map((piece) => [piece, whole]);
  return grouped(groups, ones(groups));
};

const bitstogram = (scheme) => {
  const text = stringsOf(scheme.domain);
  const parts = [...fragments(scheme, text, 1n), part(scheme.word_oracle, text, 0n, text.length)];
  return grouped(parts.map((one) => [one]), weightsOf(scheme));
};

// The cell of a prefix: a hash of its stem chooses a block and turns it, the other symbols choose the cell in it.
const fold = (oracle, text, stem, last, cohort, hashSeed) => {
  let block = 1n;
  while (block < text.base ** (last - stem)) block *= 2n;
  return part(oracle, text, stem, last, undefined, (size) => {
    if (size & (size - 1n) || size < block) refuse("the cells are no power of two, or fewer than a block");
    return (cut, content) => {
      const key = key64([...content(0n, stem), cohort], hashSeed, "fold");
      return ((key >> 32n) % (size / block)) * block + ((cut(stem, last) + key) % block);
    };
  });
};

const trellis = (scheme) => {
  const text = stringsOf(scheme.domain);
  const lengths = lengthsOf(scheme, text);
  const hashSeed = integer(scheme, "hash_seed", 0n, WORD);
  const cohorts = Number(integer(scheme, "cohorts", 1n, 17n));
  const parts = [];
  for (let i = 0n; i < text.length; i++) parts.push(part(scheme.letters, text, i, i + 1n));
  if ("pairs" in scheme)
    for (let i = 0n; i + 1n < text.length; i++) parts.push(part(scheme.pairs, text, i, i + 2n));
  parts.push(part(scheme.first, text, 0n, lengths[0]));
  for (let i = 1; i < lengths.length; i++)
    for (let cohort = 0; cohort < cohorts; cohort++)
      parts.push(fold(i > 1 ? scheme.deep : scheme.folded, text, lengths[i - 1], lengths[i], cohort, hashSeed));
  return grouped(parts.map((one) => [one]), weightsOf(scheme));
};

// How a published prefix goes on; the last item for everybody who begins with none of them.
const searchRound = (scheme) => {
  const text = stringsOf(scheme.domain);
  const [encode, stem] = [stringsEncoder(scheme.domain), integer(scheme, "stem", 0n, text.length)];
  const reach = integer(scheme, "reach", stem + 1n, text.length + 1n);
  if (!Array.isArray(scheme.prefixes)) refuse("the prefixes are not a list");
  const bytes = (hex) => Uint8Array.from(String(hex).match(/../g) ?? [], (byte) => parseInt(byte, 16));
  const codes = scheme.prefixes.map((prefix) => encode(text.inBytes ? bytes(prefix) : prefix));
  const stems = codes.map((code) => code / text.base ** (text.length - stem));
  const more = text.base ** (reach - stem);
  const extension = part(scheme.oracle, text, stem, reach, undefined, (size) => {
    if (size < BigInt(stems.length) * more + 1n) refuse("the oracle has too few items");
    return (cut) => {
      const number = stems.indexOf(cut(0n, stem));
      return number < 0 ? BigInt(stems.length) * more : BigInt(number) * more + cut(stem, reach);
    };
  });
  return grouped([[extension]], [1n]);
};

const RANDOMIZERS = new Map([
  ["DE", direct],
  ["SUE", unary],
  ["OUE", unary],
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

// --- domains: a value -> the integer a randomizer sees ---------------------------------------------------

const integersEncoder = (domain) => {
  const size = domainSize(domain);
  return (value) => {
    if (!Number.isSafeInteger(value)) refuse("expected an integer");
    if (value < 0 || value >= size) refuse(`the value is outside the domain of ${size} items`);
    return BigInt(value);
  };
};

const labelsEncoder = (domain) => {
  domainSize(domain);
  const index = new Map(domain.labels.map((label, i) => [label, BigInt(i)]));
  const other = domain.other ? BigInt(domain.labels.length) : undefined;
  return (value) => {
    if (typeof value !== "string") refuse("expected a label");
    return index.get(value) ?? other ?? refuse("the value is not among the labels");
  };
};

const keysEncoder = (domain) => {
  const hashSeed = integer(domain, "hash_seed", 0n, WORD);
  return (value) => {
    if (value instanceof Uint8Array) return key64(value, hashSeed, "");
    if (typeof value === "bigint" || Number.isSafeInteger(value))
      return key64(new TextEncoder().encode(BigInt(value).toString()), hashSeed, "int");
    if (typeof value !== "string") refuse("expected a key");
    // TextEncoder would put the same character in the place of every lone surrogate.
    if (/\p{Surrogate}/u.test(value)) refuse("expected text that has a UTF-8 form");
    return key64(new TextEncoder().encode(value), hashSeed, "str");
  };
};

const ENCODERS = new Map([
  ["integers", integersEncoder],
  ["labels", labelsEncoder],
  ["keys", keysEncoder],
  ["strings", stringsEncoder],
  ["byte strings", stringsEncoder],
]);

// --- the client ------------------------------------------------------------------------------------------

const integer = (fields, name, least, limit = Infinity) => {
  const written = fields[name];
  if (!Number.isSafeInteger(written) && !(typeof written === "string" && /^[0-9]+$/.test(written)))
    refuse(`${name}: expected an integer`);
  const number = BigInt(written);
  return number >= least && number < limit ? number : refuse(`${name}: outside its range`);
};

const threshold = (scheme, name) => integer(scheme, name, 1n, WORD);

const domainSize = (domain) => {
  if (domain.type !== "labels") return integer(domain, "size", 2n);
  if (!Array.isArray(domain.labels) || typeof domain.other !== "boolean") refuse("the labels are not a list");
  const size = domain.labels.length + domain.other;
  return size >= 2 ? BigInt(size) : refuse("expected at least two items");
};

// Whether ratio and its inverse are at most e^epsilon; partial sums of the series lie below it.
const withinEpsilon = ([above, under], epsilon) => {
  const fraction = /^([0-9]+)(?:\/([1-9][0-9]*))?$/;
  const [, numerator, denominator] = fraction.exec(epsilon) ?? refuse("epsilon: expected a fraction");
  const [a, b] = [BigInt(numerator), BigInt(denominator ?? 1)];
  if (a <= 0n || a > 1000n * b) return false;
  const scale = 1n << 300n;
  let [term, total] = [scale, scale];
  for (let k = 1n; term > total >> 220n; k++) {
    term = (term * a) / (b * k);
    total += term;
  }
  return above * scale <= under * total && under * scale <= above * total;
};

// The encoder and randomizer of a scheme that keeps its own epsilon.
const checked = (scheme) => {
  const [randomizer, encoder] = [RANDOMIZERS.get(scheme?.scheme), ENCODERS.get(scheme?.domain?.type)];
  if (scheme?.version !== 1 || !randomizer || !encoder) refuse("a version or kind that is not known here");
  const [encode, { ratio, publics = [], record }] = [encoder(scheme.domain), randomizer(scheme)];
  if (!withinEpsilon(ratio, scheme.epsilon)) refuse("the probabilities exceed epsilon");
  return { encode, ratio, publics, record };
};

// The client of a parsed scheme: (value, next) -> record bytes, where `next` hands out random words.
export const load = (scheme) => {
  const { encode, record } = checked(scheme);
  return (value, next) => Uint8Array.from(record(encode(value), next));
};

// --- run by node: vectors in, records out ----------------------------------------------------------------

const native = (value) => {
  if (typeof value?.int === "string") return BigInt(value.int);
  if (typeof value?.bytes === "string") return Uint8Array.from(Buffer.from(value.bytes, "hex"));
  return value;
};

// Checking a scheme takes longer than a record, and many records are of one scheme.
const clients = new Map();
const clientOf = (scheme) => {
  const text = JSON.stringify(scheme);
  if (!clients.has(text)) clients.set(text, load(scheme));
  return clients.get(text);
};

const answer = ({ scheme, value, tape, hash }) => {
  if (hash) return String(localHash(...hash.slice(0, 3).map(BigInt), hash[3])); // seed, value, split, size
  let used = 0;
  const next = () => (used < tape.length ? BigInt(tape[used++]) : refuse("the tape has run out"));
  const record = clientOf(scheme)(native(value), next);
  return used === tape.length ? Buffer.from(record).toString("hex") : refuse("the tape has words left");
};

if (globalThis.process?.argv[1]?.endsWith("probe.mjs")) {
  const { readFileSync } = await import("node:fs");
  for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
    try {
      console.log(answer(JSON.parse(line)));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      console.log(`refused: ${error.message}`);
    }
  }
}
