// Normalizing texts, with fixed tables: browsers know different versions of Unicode (docs/adr/0026).

// Runs of code points, each as its distance from the one before and its length less one, in base 36. COMPOSING: what NFC
// works on from U+0300 on in Unicode 14.0. LOWERING: what has a simple lower-case mapping there, with small letters
// between. Unicode guarantees both kinds of characters the same NFC and the same pairs of letters in all later versions.
const COMPOSING =
  "lc 38 a 0 7 5 2 0 2 j 4 9g 48 1i 9 q 8 0 u 65 10 1l 4h 8 a 1c 18 2 1p 5j 1u 1 d 0 d 2 9 0 4 2 a 0 5 1 2 0 v 0 o " +
  "6 f 0 7 1 3 0 2 0 4 0 h 0 c 2 3 0 2m 0 h 0 2c 1 q 2 9 1 3 2 9 1 5 1 1h 2 16 0 8 1 3 3 a 0 2t 0 a 2 5 0 8 1 2u 6 " +
  "4 2 2 3 8 1 2t 3 8 1 3 3 a 0 37 0 5 0 a 6 2h 2 e 3 31 2 e 3 25 17 9 t 8 y 9 t d 0 2n 2w 37 5e bf 2 qd 1 v 0 4e b " +
  "5o 0 40 2 64 1 20 s 3 0 1d u 1j 1r 13 8 1j 21 1w 0 49 15 5j 9h 3 5 3 11 3 5 3 7 2 0 2 0 2 0 2 u 3 1g 2 e 2 d 3 5 " +
  "2 i 3 2 2 8 2 3 5p w 1i 5 2t be 1iq 1 eq 2 3y 0 2p v eh 13 n 26 5 2t ps l4u 1cj 3m 7p 12 48 0 s 37 2o d 6o h 1h " +
  "0 6v 0 j 8mb 6l9 a5 3 2x 1w p 2 4 2 0 2 1 2 1 2 8 k2 f r2 0 6b 0 46 4 1ar 2 15 2 5 0 4m 1 fy 3 as 1 4a a 1e 3 5d " +
  "0 16 0 f 1n 1y 1g 1r 0 25 a 2z 1 4z 1 29 3 9 0 4 2 a 0 f 6 4 4 5q 4 o 0 2a j 6k 0 9 8 3j 0 3b 1 38 0 7i 1 6u 5 3 " +
  "0 5 6 4d 0 2c j 2a 0 bq 0 77 3 2a 0 fa1 4 1o 6 xm 1 f59 0 43d 2x 3m 2 2po 6 2 g 3 6 2 1 2 4 7a 6 ag 0 1q 3 15t 6 " +
  "32 6 4pk wke g74 f1";
const LOWERING =
  "1t p 2u m 2 6 y 54 4 0 8 3u 82 2 4 0 9 0 7 0 2 2 2 0 2 j 2 18 9 s 3 3t a 4k 3 11 28a 11 2 0 6 0 k3 2d 1p7 16 3 2 " +
  "8x 7j 9 5 b n 9 5 c 0 2 0 2 0 2 g p 13 9 4 c 4 c 3 d 4 c 4 8a 0 4 1 7 0 1a f k 0 mr p 1f5 39 9 2s 9 2 5 0 nym 18 " +
  "k q 3s 24 b d 5 2 3 1l 7 0 6 2 t 0 h7w p xy 13 3t z 4d a 2 e 2 6 2 1 1d7 1e 2cu v gw1 v o81 x";

/** The inside of a class of characters. @param {string} table */
const classOf = (table) => {
  let [ranges, point] = ["", 0];
  for (const [i, distance] of table.split(" ").entries()) {
    point += parseInt(distance, 36);
    ranges += `${i % 2 ? "-" : ""}\\u{${point.toString(16)}}`;
  }
  return ranges;
};

const RUN = new RegExp(`[;-\u02ff]?[${classOf(COMPOSING)}]+`, "gu");
const CAPITAL = new RegExp(`[${classOf(LOWERING)}]`, "gu");
// Sorting the accents of a letter takes quadratic time. No language has longer runs, but a hostile document may.
const LONGEST_RUN = 128;
// What Python or JavaScript strips.
const SPACES = "\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff";
const LEADING = new RegExp(`^[${SPACES}]+`);
const SPACE = new RegExp(`[${SPACES}]`);

/** @param {string} text */
const composed = (text) =>
  text.replace(RUN, (run) => (Array.from(run).length > LONGEST_RUN ? run : run.normalize("NFC")));

// One code point becomes one; İ alone would become two.
/** @param {string} text */
const lowered = (text) => text.replace(CAPITAL, (letter) => Array.from(letter.toLowerCase())[0]);

/** @param {string} text */
const stripped = (text) => {
  text = text.replace(LEADING, "");
  let { length } = text;
  while (length && SPACE.test(text[length - 1])) length--; // a search for the end would start at every space
  return text.slice(0, length);
};

/**
 * The text after the steps of its domain: nfc, lower and strip, always in this order.
 * @param {string} text @param {string[]} steps
 */
export const normalized = (text, steps) => {
  const [nfc, lower] = [steps.includes("nfc"), steps.includes("lower")];
  if (nfc) text = composed(text);
  // A small letter and its accent may have a code point of their own where the capital has none.
  if (lower) text = nfc ? composed(lowered(text)) : lowered(text);
  return steps.includes("strip") ? stripped(text) : text;
};

/** @type {import("./documents.js").Family} */
export const normalizing = { normalized };
