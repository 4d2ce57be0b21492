"""The script of the dashboard. Pages work without it; with it, they stay up to date and change only in parts."""

# A document from XMLHttpRequest is parsed without running scripts, and is no sink that trusted types guard: nodes move
# from one document into another, and no text becomes markup here.
LIVE = """
"use strict";
const PAUSE = 5000;
const SLOW = 10000;
const shown = () => document.querySelector("main[data-state]");
const status = document.getElementById("live");
let waiting = 0;
let busy = false;
let paused = false;

function asked(address, state) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", address);
    request.responseType = "document";
    request.timeout = 60000;
    if (state) request.setRequestHeader("If-None-Match", state);
    request.onload = () => resolve(request);
    request.onerror = request.ontimeout = () => reject(new Error("no answer"));
    request.send();
  });
}

// Pictures are loaded before they are shown, so that nothing jumps.
async function loaded(node) {
  const pictures = [...node.querySelectorAll("img")].map((each) => each.decode());
  await Promise.race([Promise.allSettled(pictures), new Promise((done) => setTimeout(done, SLOW))]);
}

function put(fresh, part) {
  const old = part ? document.getElementById(part) : shown();
  const focused = document.activeElement && document.activeElement.id;
  for (const details of old.querySelectorAll("details[open][id]")) {
    const twin = fresh.querySelector("#" + CSS.escape(details.id));
    if (twin) twin.open = true;
  }
  old.replaceWith(fresh);
  const again = focused && document.getElementById(focused);
  if (again) again.focus({ preventScroll: true });
}

// Replaces the page, or a part of it, by the answer of the server; whether there was something new.
async function refresh(address, state, part) {
  const answer = await asked(address, state);
  if (answer.status === 304) return false;
  const found = answer.response && answer.response.querySelector("main[data-state]");
  if (!found && answer.status < 500) {
    location.reload();
    return false;
  }
  if (answer.status !== 200 || !found) throw new Error("no page");
  const fresh = document.importNode(part ? found.querySelector("#" + CSS.escape(part)) : found, true);
  await loaded(fresh);
  put(fresh, part);
  status.textContent = fresh.dataset.told || "";
  return true;
}

const typing = () => document.activeElement && document.activeElement.matches("main input, main textarea, main select");

async function poll() {
  clearTimeout(waiting);
  if (document.hidden || paused || busy) return;
  let pause = PAUSE;
  if (!typing()) {
    busy = true;
    const began = performance.now();
    try {
      // A page that takes long to make is asked for less often.
      const changed = await refresh(location.href, shown().dataset.state);
      if (changed) pause = Math.max(PAUSE, 10 * (performance.now() - began));
    } catch {
      status.textContent = "The collector does not answer; this page tries again.";
      pause = 4 * PAUSE;
    }
    busy = false;
  }
  if (!document.hidden && !paused) waiting = setTimeout(poll, pause);
}

async function follow(event, address) {
  const part = event.target.closest("[data-part]").dataset.part;
  event.preventDefault();
  try {
    await refresh(address, "", part);
    history.replaceState(null, "", address);
  } catch {
    location.href = address;
  }
}

if (shown()) {
  const button = document.createElement("button");
  button.type = "button";
  const name = () => {
    button.textContent = paused ? "Resume updates" : "Pause updates";
  };
  name();
  button.addEventListener("click", () => {
    paused = !paused;
    name();
    poll();
  });
  status.parentElement.append(" ", button);
  document.addEventListener("visibilitychange", poll);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-part]");
    const plain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button);
    if (link && plain) follow(event, link.href);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-part]");
    if (form) follow(event, form.action.split("?")[0] + "?" + new URLSearchParams(new FormData(form)));
  });
  waiting = setTimeout(poll, PAUSE);
}
"""
