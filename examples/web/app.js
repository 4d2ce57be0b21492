// The whole integration: join the collection, report the value of the form, say what happened.

import { join } from "plausibly-client";

const TOLD = {
  counted: "Thank you. One randomized report was sent, and this browser will send no other.",
  kept: "The report could not be sent yet. It goes out, unchanged, at your next visit.",
  unreachable: "The collector does not answer. Nothing was sent; please try again.",
  declined: "Your browser asks not to be tracked, so nothing was sent.",
  early: "The question is not open yet.",
  closed: "The question is closed. Nothing was counted.",
  full: "Enough people have answered. Nothing was counted.",
  refused: "The collector did not accept the report.",
};
const form = document.querySelector("form");
const told = document.querySelector("#told");
const { collection, fingerprint } = form.dataset;

// The page pins the scheme and what it may cost: a collector cannot ask for more than it was agreed.
const joined = join(collection, { fingerprint, maxEpsilon: 2, question: "way here" });

const say = (text) => {
  told.textContent = text;
};
const refuse = (error) => say(`Nothing was sent: ${error.message}.`);
const finish = () => {
  for (const control of form.elements) control.disabled = true;
};

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const outcome = await (await joined).report(form.answer.value);
    say(TOLD[outcome]);
    if (outcome !== "unreachable") finish();
  } catch (error) {
    refuse(error);
  }
});

try {
  const [before] = await (await joined).sent();
  if (before) {
    say("This browser has already reported.");
    finish();
  }
} catch (error) {
  refuse(error);
}
