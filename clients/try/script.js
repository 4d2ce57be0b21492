// The try page: pick a secret, flip the coins, ask a crowd. The client is the one that pages ship.

import { loader } from "../js/src/core.js";
import { oracles } from "../js/src/oracles.js";
import {
  CROWD,
  SECRETS,
  documentOf,
  estimate,
  halfWidth,
  likelihoods,
  named,
  pairOf,
  standardError,
  suspicion,
  timesAsMany,
} from "./chances.js";

/** @typedef {import("./chances.js").Kind} Kind */

// By epsilon and scheme; the build reads them from the library.
/** @type {Record<string, Record<Kind, import("./chances.js").Thresholds>>} */
// @ts-ignore
const thresholds = THRESHOLDS;
const EPSILONS = Object.keys(thresholds).sort((a, b) => numberOf(a) - numberOf(b));
const PEOPLE = [100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6];
// A frame of the screen has 16 milliseconds; the rest is for drawing.
const SLICE = 8;
// The chart begins below 0, because noise does, and ends above the largest share.
const [FIRST, LAST] = [-0.1, 0.5];
const load = loader(oracles);
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** @param {string} id @returns {any} */
const at = (id) => document.getElementById(id);

/** @param {string} name @param {string} [className] @param {...(Node | string)} inner */
const element = (name, className = "", ...inner) => {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...inner);
  return made;
};

/** @param {string} id @param {string} text */
const write = (id, text) => {
  if (at(id).textContent !== text) at(id).textContent = text;
};

/** @param {string} fraction such as "1/4" */
function numberOf(fraction) {
  const [above, under = 1] = fraction.split("/").map(Number);
  return above / under;
}

/** @param {number} count */
const whole = (count) => Math.round(count).toLocaleString("en");

/** Percent with as many digits as are of use. @param {number} share */
const percent = (share) => {
  const hundredths = 100 * share;
  const digits = Math.abs(hundredths) < 0.995 ? 2 : Math.abs(hundredths) < 99.5 ? 1 : 0;
  return `${hundredths.toFixed(digits).replace("-", "−")}\u00a0%`;
};

/** Rounded up: the promise is "at most". @param {number} share */
const atMost = (share) => (share > 0.999 ? "almost 100\u00a0%" : `${Math.ceil(1000 * share - 1e-9) / 10}\u00a0%`);

/** In percentage points. @param {number} share */
const points = (share) => (100 * share).toFixed(share < 0.00995 ? 2 : share < 0.0995 ? 1 : 0);

// --- what is chosen -------------------------------------------------------------------------------------------------

const chosen = {
  secret: SECRETS.indexOf("Pills"),
  kind: /** @type {Kind} */ ("DE"),
  epsilon: EPSILONS.indexOf("1"),
  people: PEOPLE.indexOf(1e3),
};
const scheme = () => {
  const epsilon = EPSILONS[chosen.epsilon];
  const own = thresholds[epsilon][chosen.kind];
  const client = load(documentOf(chosen.kind, epsilon, own));
  const { ratio } = client.randomizer;
  const pair = pairOf(chosen.kind, own);
  // Rounded down, so that the ratio and its words stay below e^epsilon.
  return { kind: chosen.kind, epsilon: numberOf(epsilon), own, client, factor: Number(ratio[0]) / Number(ratio[1]), pair };
};
let now = scheme();

// --- step 2: one report ---------------------------------------------------------------------------------------------

const RULES = {
  DE: () => `Send the true answer ${percent(now.pair.p)} of the time, and otherwise one of the seven others.`,
  OUE: () =>
    `Flip a coin for each answer: heads ${percent(now.pair.p)} of the time for the true one, ${percent(now.pair.q)} for each other. Send all eight.`,
  SS: () => {
    const size = now.own.subset_size ?? 1;
    return size === 1
      ? `At this ε, the best hand is a single answer: the true one ${percent(now.pair.p)} of the time.`
      : `Send a hand of ${size} answers. The true one is among them ${percent(now.pair.p)} of the time.`;
  },
};
/** @type {number | undefined} */
let flipped;

/** @param {number[]} positions */
const listed = (positions) =>
  positions.length
    ? positions.map((i) => SECRETS[i]).join(", ")
    : "no answer at all";

const bars = SECRETS.map((name, i) => {
  const [fill, figure] = [element("span", "fill"), element("span", "figure", "–")];
  const row = element("li", "", element("span", "name", name), element("span", "track", fill), figure);
  at("bars").append(row);
  return { row, fill, figure, i };
});

const showReport = () => {
  write("rule", RULES[now.kind]());
  write("bound", atMost(suspicion(0.1, now.factor)));
  for (const { row, i } of bars) row.classList.toggle("own", i === chosen.secret);
  at("report").classList.toggle("waiting", flipped === undefined);
  if (flipped === undefined) return "";
  const [byte, chances] = [flipped, likelihoods(now.kind, now.own, flipped)];
  const [most, least] = [Math.max(...chances), Math.min(...chances)];
  const names = named(now.kind, byte);
  write("hex", byte.toString(16).padStart(2, "0"));
  write("bits", byte.toString(2).padStart(8, "0").replace(/(?=.{4}$)/, " "));
  write("meaning", listed(names));
  bars.forEach(({ row, fill, figure, i }) => {
    fill.style.width = `${(100 * chances[i]) / most}%`;
    figure.textContent = percent(chances[i]);
    row.classList.toggle("named", names.includes(i));
  });
  const kept = names.includes(chosen.secret);
  const truth =
    now.kind === "DE"
      ? kept
        ? "This time the coins told the truth. Nobody else can know that."
        : `The coins lied: your secret is ${SECRETS[chosen.secret]}. Nobody else can know that.`
      : kept
        ? "Your secret is among them, this time. Nobody else can know that."
        : `Your secret, ${SECRETS[chosen.secret]}, is not among them. Nobody else can know that.`;
  write("truth", truth);
  const times = (most / least).toFixed(2);
  const fair =
    most === least
      ? "This byte is equally likely under every secret: it reveals nothing at all."
      : `This byte is ${times} times as likely under the likeliest secret as under the least likely. The limit for every byte is ${Math.exp(now.epsilon).toFixed(2)}: e to the power of ε.`;
  write("odds", fair);
  return `The byte is ${byte.toString(16).padStart(2, "0")}: ${listed(names)}. ${truth} ${fair}`;
};

const flip = () => {
  flipped = now.client.privatize(SECRETS[chosen.secret])[0];
  return showReport();
};

// --- step 3: a crowd ------------------------------------------------------------------------------------------------

// Person after person, so that every hundred of them have the shares of the whole.
const ORDER = Object.values(CROWD).flatMap((count, i) => Array.from({ length: count }, () => i));
/** @param {number} person */
const secretOf = (person) => ORDER[(person * 37) % ORDER.length];

/** @param {number} share on the chart, in percent of its width */
const place = (share) => Math.min(Math.max((100 * (share - FIRST)) / (LAST - FIRST), 0), 100);

const rows = SECRETS.map((name) => {
  const parts = {
    bar: element("span", "bar"),
    interval: element("span", "interval"),
    truth: element("span", "truth"),
    estimate: element("b"),
    ends: element("small"),
    real: element("small", "real"),
    spoken: element("span", "unseen"),
  };
  const track = element("span", "track", parts.bar, parts.interval, parts.truth);
  const seen = [element("span", "name", name), track, parts.estimate, parts.ends, parts.real];
  for (const part of seen) part.setAttribute("aria-hidden", "true");
  const row = element("li", "", ...seen, parts.spoken);
  at("chart").append(row);
  return { row, name, ...parts };
});

/** @type {{ n: number, counts: number[], truths: number[] } | undefined} */
let crowd;

const showCrowd = () => {
  const n = crowd?.n ?? PEOPLE[chosen.people];
  at("chart").classList.toggle("expected", !crowd);
  write("column", crowd ? "Estimate" : "");
  rows.forEach(({ row, name, bar, interval, truth, estimate: figure, ends, real, spoken }, i) => {
    const share = crowd ? crowd.truths[i] / n : Object.values(CROWD)[i] / 100;
    const half = halfWidth(now.pair, n, share);
    const found = crowd ? estimate(now.pair, crowd.counts[i], n) : { share, low: share - half, high: share + half };
    const [zero, end, low, high] = [0, found.share, found.low, found.high].map(place);
    bar.style.left = `${Math.min(zero, end)}%`;
    bar.style.width = `${crowd ? Math.abs(end - zero) : 0}%`;
    interval.style.left = `${low}%`;
    interval.style.width = `${high - low}%`;
    truth.style.left = `${place(share)}%`;
    figure.textContent = crowd ? percent(found.share) : "";
    ends.textContent = crowd ? `${signed(found.low)} to ${signed(found.high)}` : `±\u00a0${points(half)} points`;
    real.textContent = percent(share).replace(".0", "");
    row.dataset.count = `${crowd?.counts[i] ?? ""}`;
    spoken.textContent = crowd
      ? `${name}: estimate ${figure.textContent}, interval ${ends.textContent}, truth ${real.textContent}`
      : `${name}: truth ${real.textContent}, interval ${ends.textContent}`;
  });
};

/** @param {number} share */
const signed = (share) => (100 * share).toFixed(1).replace("-", "−");

const showCost = () => {
  const n = PEOPLE[chosen.people];
  const epsilon = EPSILONS[chosen.epsilon];
  const shown = `${numberOf(epsilon)}`;
  write("epsilon-shown", shown);
  write("people-shown", whole(n));
  at("epsilon").setAttribute("aria-valuetext", `epsilon ${shown}: a suspicion of 10 % becomes at most ${atMost(suspicion(0.1, now.factor))}`);
  at("people").setAttribute("aria-valuetext", `${whole(n)} people`);
  write("reveals", atMost(suspicion(0.1, now.factor)));
  at("grown").style.width = `${100 * suspicion(0.1, now.factor)}%`;
  const error = standardError(now.pair, n, 0);
  write("error", `${points(error)}`);
  write("width", `± ${points(halfWidth(now.pair, n, 0))}`);
  write("halve", `Half the error takes four times as many people: ${whole(4 * n)}.`);
  const next = chosen.epsilon && EPSILONS[chosen.epsilon - 1];
  write(
    "stricter",
    next
      ? `The stricter ε = ${numberOf(next)} takes ${timesAsMany(now.pair, pairOf(now.kind, thresholds[next][now.kind])).toFixed(1)} times as many for the same error.`
      : "This is the strictest ε here.",
  );
  write("run", `Let ${whole(n)} people report`);
};

let running = 0;

/** Ask a crowd, in slices that leave the page free. The chart grows with the number of reports. */
const ask = () => {
  const run = ++running;
  const [n, { client, kind }] = [PEOPLE[chosen.people], now];
  const [counts, truths] = [SECRETS.map(() => 0), SECRETS.map(() => 0)];
  let person = 0;
  at("progress").max = n;
  at("chart").setAttribute("aria-busy", "true");
  write("told", `${whole(n)} people flip their coins …`);
  const slice = () => {
    if (run !== running) return;
    const until = performance.now() + SLICE;
    // A few more in each frame: the noise is seen to fade.
    const most = still.matches ? n : Math.min(n, Math.ceil(person * 1.06) + 8);
    while (person < most && performance.now() < until) {
      const secret = secretOf(person++);
      truths[secret]++;
      for (const i of named(kind, client.privatize(SECRETS[secret])[0])) counts[i]++;
    }
    at("progress").value = person;
    write("count", `${whole(person)} reports`);
    if (person === n || !still.matches) {
      crowd = { n: person, counts, truths };
      showCrowd();
    }
    if (person < n) return requestAnimationFrame(slice);
    const missed = rows.filter((_, i) => {
      const { low, high } = estimate(now.pair, counts[i], n);
      return truths[i] / n < low || truths[i] / n > high;
    }).length;
    const within = missed ? `${8 - missed} of 8 intervals contain the truth` : "All 8 intervals contain the truth";
    write("told", `${whole(n)} people reported. ${within}; each does so 95 % of the time.`);
    at("chart").setAttribute("aria-busy", "false");
  };
  slice();
};

const forget = () => {
  running++;
  crowd = undefined;
  at("chart").setAttribute("aria-busy", "false");
  at("progress").value = 0;
  write("count", "No reports yet");
  write("told", "The bands show how far estimates will stray from the truth. Let the people report to see them.");
};

// --- controls -------------------------------------------------------------------------------------------------------

SECRETS.forEach((name, i) => {
  const input = element("input");
  Object.assign(input, { type: "radio", name: "secret", value: `${i}`, checked: i === chosen.secret });
  input.addEventListener("change", () => {
    chosen.secret = i;
    flipped = undefined;
    showReport();
  });
  at("secrets").append(element("label", "", input, element("span", "", name)));
});

const changed = () => {
  now = scheme();
  if (flipped !== undefined) flip();
  showReport();
  forget();
  showCrowd();
  showCost();
};

at("flip").addEventListener("click", () => write("said", flip()));
for (const input of document.querySelectorAll("input[name=kind]"))
  input.addEventListener("change", () => {
    chosen.kind = /** @type {Kind} */ (/** @type {HTMLInputElement} */ (input).value);
    changed();
  });
at("epsilon").max = EPSILONS.length - 1;
at("people").max = PEOPLE.length - 1;
for (const name of /** @type {const} */ (["epsilon", "people"])) {
  at(name).value = chosen[name];
  at(name).addEventListener("input", () => {
    chosen[name] = Number(at(name).value);
    changed();
  });
}
for (const button of document.querySelectorAll("button[data-people]"))
  button.addEventListener("click", () => {
    chosen.people = PEOPLE.indexOf(Number(/** @type {HTMLElement} */ (button).dataset.people));
    at("people").value = chosen.people;
    showCost();
    ask();
  });
at("run").addEventListener("click", ask);
changed();
