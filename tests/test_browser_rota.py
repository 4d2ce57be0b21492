"""A series with a rota in a real browser: one report in any window of slots, whatever crashes, jumps, races or lies."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler
from itertools import count, pairwise
from pathlib import Path
from threading import Event
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import browsing
from client.proxying import answering
from drawn import drawn
from plausibly import Labels, make
from plausibly.client import ClientError, Collector
from plausibly.client.rota import Rota
from plausibly.service.collections import Collection
from serving import Serving, place, serving

pytestmark = pytest.mark.full

SCHEME = make("OLH", epsilon=1, domain=Labels(["cat", "dog"], other=True))
ROTA, LENGTH = 3, 9
BUNDLE = "/client/dist/plausibly-client.min.js"
SMALL = """
import { oracles } from "./oracles.js";
import { loader } from "./core.js";
import { joiner } from "./collector.js";
export const join = joiner(loader(oracles));
"""
"""The client of a page without the rota."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("rota") / "collector") as running:
        yield running


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    small = browsing.run_node(browsing.CLIENT / "build.mjs", str(browsing.TOOLS), ".", "print", given=SMALL)
    with browsing.site({"/small.js": small}) as site:
        yield site


@dataclass
class Browser:
    """A browser profile with its storage."""

    site: str
    port: int
    profile: browsing.Context
    names: Iterator[int] = field(default_factory=count)

    def tab(self, before: str = "") -> browsing.Page:
        """A new tab; ``before`` is a script that runs first."""
        page = self.profile.page()
        page.addInitScript(before)
        page.goto(self.site)
        return page

    def url(self, collection: Collection) -> str:
        return f"http://127.0.0.1:{self.port}{place(collection)}"

    def report(
        self, page: browsing.Page, collections: Sequence[Collection], client: str = BUNDLE, **options: Any
    ) -> list[str]:
        """The outcomes of reports to these collections, one after the other; of a refusal, the name of the error."""
        given = {"maxEpsilon": 100, "question": "pets", "patience": 0} | options
        urls = [self.url(each) for each in collections]
        told: list[str] = page.evaluate(REPORTS, {"client": client, "urls": urls, "options": given})
        return told

    def turns(self, page: browsing.Page, collection: Collection, question: str = "pets") -> dict[str, Any] | None:
        """The turns of this browser, as the client tells them."""
        options = {"maxEpsilon": 100, "question": question}
        asked = {"client": BUNDLE, "url": self.url(collection), "options": options, "name": "turns"}
        told: dict[str, Any] | None = page.evaluate(ASKED, asked)
        return told

    def sent(self, page: browsing.Page, collection: Collection, question: str = "pets") -> list[dict[str, Any]]:
        """What this browser has sent to the question, as the client tells it."""
        options = {"maxEpsilon": 100, "question": question}
        asked = {"client": BUNDLE, "url": self.url(collection), "options": options, "name": "sent"}
        told: list[dict[str, Any]] = page.evaluate(ASKED, asked)
        return told


REPORTS = """async ({ client, urls, options }) => {
  const { join } = await import(client);
  const outcomes = [];
  for (const url of urls)
    try {
      outcomes.push(await (await join(url, options)).report("dog"));
    } catch (error) {
      outcomes.push(error.name);
    }
  return outcomes;
}"""
HELD = """async ({ client, url, options }) => {
  const { join } = await import(client);
  window.collector = await join(url, options);
}"""
ASKED = """async ({ client, url, options, name }) => {
  const { join } = await import(client);
  return (await join(url, options))[name]();
}"""
ROWS = """async () => {
  const opening = indexedDB.open("plausibly");
  const database = await new Promise((go) => (opening.onsuccess = () => go(opening.result)));
  const rows = database.transaction("reports").objectStore("reports").getAll();
  const found = await new Promise((go) => (rows.onsuccess = () => go(rows.result)));
  database.close();
  return { version: database.version, rows: found };
}"""
STORED = """async ({ version, row }) => {
  const opening = indexedDB.open("plausibly", version);
  opening.onupgradeneeded = ({ oldVersion }) =>
    oldVersion || opening.result.createObjectStore("reports", { keyPath: ["question", "slot"] });
  const database = await new Promise((go) => (opening.onsuccess = () => go(opening.result)));
  const transaction = database.transaction("reports", "readwrite");
  if (row) transaction.objectStore("reports").put(row);
  await new Promise((go) => (transaction.oncomplete = go));
  database.close();
}"""


@pytest.fixture
def browser(address: str, server: Serving) -> Iterator[Browser]:
    with browsing.context() as profile:
        yield Browser(address, server.port, profile)


def opened(server: Serving, slots: Sequence[int | None] = range(LENGTH), **changes: Any) -> list[Collection]:
    """The collections of a new series."""
    given: dict[str, Any] = {"name": os.urandom(8).hex(), "scheme": SCHEME, "series": os.urandom(8).hex(), "rota": ROTA}
    made = [Collection(**given | {"slot": slot} | changes) for slot in slots]
    for each in made:
        assert server.request("POST", "/v1/collections", each.document, "admin").status == 201
    return made


def plain(server: Serving) -> Collection:
    """A collection that is in no series."""
    [made] = opened(server, [None], series=None, rota=None)
    return made


def counts(server: Serving, collections: list[Collection]) -> list[int]:
    listed = server.request("GET", "/v1/collections", role="read").json["collections"]
    found = {each["id"]: each["reports"] for each in listed}
    return [found[each.id] for each in collections]


def most_in_a_window(reports: list[int]) -> int:
    return max(sum(reports[first : first + ROTA]) for first in range(len(reports) - ROTA + 1))


def fixed(page: browsing.Page, days: list[Collection], offset: int, question: str = "pets") -> None:
    """Write the turns of a browser."""
    row = {"question": question, "slot": ["rota"], "series": days[0].series, "slots": ROTA, "offset": offset}
    page.evaluate(STORED, {"version": 2, "row": row})


# --- turns --------------------------------------------------------------------------------------------------------


def test_a_browser_reports_in_its_turns_and_in_no_others(server: Serving, browser: Browser) -> None:
    days, page = opened(server), browser.tab()
    outcomes = browser.report(page, days)
    assert set(outcomes) == {"counted", "not due"}
    due = [outcome == "counted" for outcome in outcomes]
    assert counts(server, days) == list(map(int, due))
    [offset] = {slot % ROTA for slot in range(LENGTH) if due[slot]}
    assert {sum(due[first : first + ROTA]) for first in range(LENGTH - ROTA + 1)} == {1}
    assert browser.turns(page, days[0]) == {"series": days[0].series, "slots": ROTA, "offset": offset}
    told = browser.sent(page, days[0])
    assert {(each["slot"], each["epsilon"], each["outcome"]) for each in told} == {
        (f"{offset + turn * ROTA} of {days[0].series}", "1/1", "counted") for turn in range(3)
    }
    found = page.evaluate(ROWS)
    assert found["version"] == 2
    assert "dog" not in json.dumps(found["rows"])
    assert page.messages() == []


def test_the_total_ends_a_series(server: Serving, browser: Browser) -> None:
    days, page = opened(server), browser.tab()
    outcomes = browser.report(page, days, maxEpsilon=2)
    assert sorted(outcomes) == ["SpentError", "counted", "counted", *["not due"] * 6]
    assert sum(counts(server, days)) == 2


def test_a_late_report_keeps_its_slot_and_its_value(server: Serving, browser: Browser) -> None:
    days, page = opened(server), browser.tab()
    fixed(page, days, 1)
    options = {"maxEpsilon": 9, "question": "pets", "patience": 0}
    page.evaluate(HELD, {"client": BUNDLE, "url": browser.url(days[1]), "options": options})
    browser.profile.offline(True)
    rows = []
    for pet in ("dog", "cat"):
        assert page.evaluate("(pet) => collector.report(pet)", pet) == "kept"
        rows.append([row for row in page.evaluate(ROWS)["rows"] if "waiting" in row])
    assert rows[0] == rows[1]
    assert len(rows[0]) == 1
    browser.profile.offline(False)
    # The visit of the next slot sends it.
    assert browser.report(browser.tab(), [days[2]]) == ["not due"]
    assert counts(server, days) == [0, 1, *[0] * 7]
    assert [each["outcome"] for each in browser.sent(page, days[2])] == ["counted"]


def test_a_slot_before_the_last_report_is_over(server: Serving, browser: Browser) -> None:
    days, page = opened(server), browser.tab()
    fixed(page, days, 0)
    outcomes = browser.report(page, [days[slot] for slot in (3, 0, 6, 3, 0)])
    assert outcomes == ["counted", "not due", "counted", "counted", "not due"]
    assert counts(server, days) == [0, 0, 0, 1, 0, 0, 1, 0, 0]


def test_the_offset_is_exactly_uniform(server: Serving, browser: Browser) -> None:
    """2^64 is 1 modulo 3: the last word belongs to no offset, and another one is drawn."""
    [day] = opened(server, [0])
    page = browser.tab()
    for number, (words, offset) in enumerate([([2**64 - 1, 4], 1), ([2**64 - 2], 2), ([0], 0)]):
        page.evaluate(
            """(words) => {
              const drawn = Object.getPrototypeOf(crypto).getRandomValues;
              crypto.getRandomValues = (into) => {
                if (!(into instanceof BigUint64Array) || into.length > 1) return drawn.call(crypto, into);
                into[0] = BigInt(words.shift());
                return into;
              };
            }""",
            list(map(str, words)),
        )
        browser.report(page, [day], question=f"device {number}")
        told = browser.turns(page, day, f"device {number}")
        assert told is not None
        assert told["offset"] == offset


# --- what a server may not change ---------------------------------------------------------------------------------


def test_another_series_another_rota_and_none_are_refused(server: Serving, browser: Browser) -> None:
    days, page, names = opened(server), browser.tab(), count()
    none = {"series": None, "slot": None, "rota": None}
    changes: list[dict[str, Any]] = [{"series": "another"}, {"rota": 2}, none]
    for change in changes:
        [other] = opened(server, [6], **{"series": days[0].series} | change)
        for offset in range(ROTA):
            question = f"device {next(names)}"
            fixed(page, days, offset, question)
            assert browser.report(page, [other], question=question) == ["UntrustedError"], change
            assert browser.sent(page, days[0], question) == []
        assert counts(server, [other]) == [0]
        assert browser.report(page, [other], question=f"device {next(names)}")[0] in ("counted", "not due")


def test_a_question_that_was_asked_without_a_rota_gets_none(server: Serving, browser: Browser) -> None:
    days, page, once = opened(server), browser.tab(), plain(server)
    assert browser.report(page, [once, *days]) == ["counted", *["UntrustedError"] * LENGTH]
    assert (browser.turns(page, once), len(browser.sent(page, once))) == (None, 1)
    assert sum(counts(server, days)) == 0


def test_two_collections_of_one_slot_get_one_report(server: Serving, browser: Browser) -> None:
    days, page = opened(server), browser.tab()
    twins = opened(server, series=days[0].series)
    for day, twin in zip(days, twins, strict=True):
        first, second = browser.report(page, [day, twin])
        assert first == second
    assert (sum(counts(server, days)), sum(counts(server, twins))) == (3, 0)


def test_a_document_with_a_strange_rota_is_refused(browser: Browser) -> None:
    changes: list[dict[str, Any]] = [{"rota": strange} for strange in (1, 0, -3, 2**31, True, "7", [7], 2**53)]
    changes += [{"slot": strange} for strange in (-1, None, "3", 2**31)]
    changes += [{"series": strange} for strange in (None, "", 3)]
    document = json.loads(Collection(name="x", scheme=SCHEME, series="daily", slot=3, rota=7).document)
    written = [json.dumps(document | change, separators=(",", ":"), ensure_ascii=False) for change in changes]
    contents = {sha256(text.encode()).hexdigest(): text.encode() for text in [json.dumps(document), *written]}
    posts = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(200, contents[self.path.rpartition("/")[2]])

        def do_POST(self) -> None:
            posts.append(self.path)
            self.answer(201, b"")

        def answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with answering(Handler) as server:
        page = browser.tab()
        options = {"maxEpsilon": 9, "question": "pets"}
        urls = [f"http://127.0.0.1:{server.server_address[1]}/v1/collections/{each}" for each in contents]
        told = page.evaluate(REPORTS, {"client": BUNDLE, "urls": urls, "options": options})
    assert told[0] in ("counted", "not due")
    assert told[1:] == ["UntrustedError"] * len(changes)
    assert len(posts) == (told[0] == "counted")


# --- the ledger ---------------------------------------------------------------------------------------------------


def test_a_ledger_of_an_earlier_version_goes_on_and_has_its_version_until_there_are_turns(
    server: Serving, browser: Browser
) -> None:
    page, days = browser.tab(), opened(server)
    before, other = plain(server), plain(server)
    kept = {"collection": before.id, "fingerprint": SCHEME.fingerprint(), "epsilon": "3/2", "outcome": "counted"}
    page.evaluate(STORED, {"version": 1, "row": {"question": "old", "slot": before.id} | kept})
    assert browser.report(page, [before, other], question="old", maxEpsilon=2) == ["counted", "SpentError"]
    assert counts(server, [before, other]) == [0, 0], "it has reported before"
    assert browser.report(page, [other], question="old", maxEpsilon=3) == ["counted"]
    assert page.evaluate(ROWS)["version"] == 1, "an older client can read it"
    browser.report(page, days)
    assert page.evaluate(ROWS)["version"] == 2, "an older client would lose the turns"
    assert {each["epsilon"] for each in browser.sent(page, other, "old")} == {"3/2", "1/1"}


def test_a_client_without_the_rota_reports_once_and_does_not_open_a_ledger_with_turns(
    server: Serving, browser: Browser
) -> None:
    days, others, page = opened(server), opened(server), browser.tab()
    assert browser.report(page, days, client="/small.js") == ["counted"] * LENGTH
    assert counts(server, days) == [1, *[0] * (LENGTH - 1)]
    assert browser.report(page, days) == ["counted", *["UntrustedError"] * (LENGTH - 1)]
    assert browser.report(page, others, question="another").count("counted") == 3
    assert page.evaluate(ROWS)["version"] == 2
    for question in ("pets", "another", "new"):
        assert browser.report(page, others, client="/small.js", question=question) == ["VersionError"] * LENGTH
    assert (sum(counts(server, days)), sum(counts(server, others))) == (1, 3)


def test_a_ledger_of_a_later_version_and_damaged_turns_are_refused(server: Serving, browser: Browser) -> None:
    days, page = opened(server), browser.tab()
    for number, offset in enumerate((ROTA, -1, "1", None, 0.5)):
        fixed(page, days, offset, f"damaged {number}")  # type: ignore[arg-type]
        assert browser.report(page, days, question=f"damaged {number}") == ["UntrustedError"] * LENGTH
    page.evaluate(STORED, {"version": 3, "row": None})
    assert browser.report(page, days) == ["UntrustedError"] * LENGTH
    assert sum(counts(server, days)) == 0


# --- the rules of the Python client -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Offers:
    """Collections that a server may name: slots of a series, and others."""

    days: list[Collection]
    others: list[Collection]

    @classmethod
    def of(cls, server: Serving) -> Offers:
        days = opened(server)
        series = days[0].series
        stronger = make("OLH", epsilon=2, domain=SCHEME.domain)
        others = [
            *opened(server, (0, 4), series=series),
            *opened(server, (1, 5)),
            *opened(server, (0, 1, 2, 3), rota=2, series=series),
            *opened(server, (3, 7), scheme=stronger, series=series),
            plain(server),
            *opened(server, (0, 1), rota=None),
        ]
        return cls(days, others)


@dataclass
class Deciding:
    """The same calls to the browser and to the Python client, whose draw is that of the browser."""

    browser: Browser
    page: browsing.Page
    offers: Offers
    folder: Path
    seen: set[str] = field(default_factory=set)

    def compare(self, total: int, calls: list[tuple[str, int]]) -> None:
        question = f"device {next(self.browser.names)}"
        asked = [(self.offers.days if kind == "day" else self.offers.others)[number] for kind, number in calls]
        got = self.browser.report(self.page, asked, question=question, maxEpsilon=total)
        turns = self.browser.turns(self.page, self.offers.days[0], question)
        with patch.object(Rota, "drawn", lambda slots: Rota(slots, turns["offset"])):
            expected = [self.python(each, question, total) for each in asked]
        assert got == expected
        entered = [each["slot"] for each in self.browser.sent(self.page, asked[0], question)]
        if turns is not None:
            slots = sorted(int(slot.partition(" of ")[0]) for slot in entered)
            assert all(later - earlier >= turns["slots"] for earlier, later in pairwise(slots))
        self.seen |= set(got)

    def python(self, collection: Collection, question: str, total: int) -> str:
        ledger = self.folder / question
        collector = Collector(
            self.browser.url(collection), max_epsilon=total, question=question, ledger=ledger, patience=0
        )
        try:
            return collector.report("dog").value
        except ClientError as error:
            return type(error).__name__


CALLS = st.lists(
    st.one_of(
        st.tuples(st.just("day"), st.integers(0, LENGTH - 1)),  # by a clock that jumps in both directions
        st.tuples(st.just("day"), st.integers(0, LENGTH - 1)),
        st.tuples(st.just("other"), st.integers(0, 12)),
    ),
    min_size=1,
    max_size=12,
)


def decide_alike(server: Serving, browser: Browser, folder: Path, examples: int) -> None:
    same = Deciding(browser, browser.tab(), Offers.of(server), folder)

    @drawn(examples)
    @example(total=2, calls=[("day", slot) for slot in range(LENGTH)])  # three turns, and epsilon for two
    @given(total=st.sampled_from((2, 3, 100)), calls=CALLS)
    def decides(total: int, calls: list[tuple[str, int]]) -> None:
        same.compare(total, calls)

    decides()
    assert same.seen == {"counted", "not due", "UntrustedError", "SpentError"}


def test_the_same_draw_makes_the_decisions_of_the_python_client(
    server: Serving, browser: Browser, tmp_path: Path
) -> None:
    decide_alike(server, browser, tmp_path, 15)


@pytest.mark.slow
def test_the_same_draw_makes_the_same_decisions_in_many_histories(
    server: Serving, browser: Browser, tmp_path: Path
) -> None:
    decide_alike(server, browser, tmp_path, 300)


# --- tabs and crashes ---------------------------------------------------------------------------------------------

RACE = """async ({ client, urls, options, devices, seed }) => {
  const { join } = await import(client);
  let state = seed;
  const shuffled = [...urls].sort(() => (state = (state * 16807) % 2147483647) - 1073741824);
  const told = [];
  for (let device = 0; device < devices; device++) {
    const given = { ...options, question: `device ${device}` };
    told.push(...(await Promise.all(shuffled.map(async (url) => (await join(url, given)).report("dog")))));
  }
  window.told = told;
}"""
UNLOCKED = "LockManager.prototype.request = async (name, work) => work();"
"""Without the lock over tabs, which only saves requests, the database alone decides."""


@pytest.mark.parametrize("before", ["", UNLOCKED], ids=["with the lock", "without it"])
def test_tabs_that_report_to_all_slots_at_once_send_one_report_in_a_window(
    before: str, server: Serving, browser: Browser
) -> None:
    days, devices = opened(server), 4
    tabs = [browser.tab(before) for _ in range(3)]
    given = {
        "client": BUNDLE,
        "urls": [browser.url(day) for day in days],
        "options": {"maxEpsilon": 100},
        "devices": devices,
    }
    for seed, tab in enumerate(tabs, 1):
        tab.evaluate(f"(given) => {{ window.done = ({RACE})(given) }}", given | {"seed": seed})
    for tab in tabs:
        tab.evaluate("() => window.done")
        assert set(tab.evaluate("() => window.told")) <= {"counted", "not due"}
    total = 0
    for device in range(devices):
        entries = browser.sent(tabs[0], days[0], f"device {device}")
        reports = [0] * LENGTH
        for entry in entries:
            reports[int(entry["slot"].partition(" of ")[0])] += 1
        assert entries
        assert most_in_a_window(reports) == 1
        total += len(entries)
    assert sum(counts(server, days)) == total


@dataclass
class Hanging:
    """A server that does not answer a page, which waits for it until it is ended."""

    port: int = 0
    reached: Event = field(default_factory=Event)
    ended: Event = field(default_factory=Event)


@contextmanager
def hanging() -> Iterator[Hanging]:
    found = Hanging()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.reached.set()
            found.ended.wait(30)

        def log_message(self, *_: object) -> None:
            pass

    with answering(Handler) as server:
        found.port = server.server_address[1]
        yield found


STEPS = Path(browsing.__file__).parent / "browser" / "steps.js"
DRAWING = """
crypto.getRandomValues = (into) => {
  Object.getPrototypeOf(crypto).getRandomValues.call(crypto, into);
  if (into instanceof BigUint64Array && into.length === 1) into[0] = %dn;
  return into;
};
"""
STARTED = """(given) => {
  const { client, url, options } = given;
  const run = async () => {
    const { join } = await import(client);
    return (await join(url, options)).report("cat");
  };
  // Later, because a page that hangs would not answer.
  setTimeout(() => run().then((told) => (window.told = told)));
}"""
SAID = """async () => {
  for (let i = 0; i < 1500 && !window.told; i++) await new Promise((go) => setTimeout(go, 10));
  return { told: window.told, steps: window.steps };
}"""


class Crashing:
    """A browser that draws the first slot, is ended at a step of reporting to it, and would then draw the second."""

    def __init__(self, server: Serving, browser: Browser, hang: Hanging) -> None:
        self.server, self.browser, self.hang = server, browser, hang

    def script(self, step: int, offset: int) -> str:
        source = STEPS.read_text(encoding="utf-8")
        address = json.dumps(f"http://127.0.0.1:{self.hang.port}/")
        return source.replace("STEP", str(step), 2).replace("HANG", address) + DRAWING % offset

    def start(self, days: list[Collection], question: str, step: int) -> browsing.Page:
        page = self.browser.tab(self.script(step, 0))
        options = {"maxEpsilon": 100, "question": question, "patience": 0}
        page.evaluate(STARTED, {"client": BUNDLE, "url": self.browser.url(days[0]), "options": options})
        return page

    def steps(self) -> list[str]:
        """The steps of a browser that is not ended."""
        page = self.start(opened(self.server, [0]), "undisturbed", 0)
        said = page.evaluate(SAID)
        assert said["told"] == "counted"
        page.close()
        steps: list[str] = said["steps"]
        return steps

    def survive(self, step: int) -> bool:
        """End the browser at a step, and go on in the next slots; whether the first one has its report."""
        days, question = opened(self.server, range(ROTA + 1)), f"crash {step}"
        self.hang.reached.clear()
        self.hang.ended.clear()
        page = self.start(days, question, step)
        assert self.hang.reached.wait(30), "the crash happens"
        page.crash()
        self.hang.ended.set()
        page.close()
        after = self.browser.tab(DRAWING % 1)
        assert "kept" not in self.browser.report(after, days, question=question)
        found = counts(self.server, days)
        assert found in ([1, 0, 0, 1], [0, 1, 0, 0]), "one report in any window"
        entries = self.browser.sent(after, days[0], question)
        assert [each["outcome"] for each in entries] == ["counted"] * sum(found)
        after.close()
        return found[0] == 1


CHOSEN = {"before add", "success of add", "complete of transaction", "before fetch", "end of fetch", "before put"}


def test_a_crash_between_the_decision_and_the_acknowledgement_keeps_the_promise(
    server: Serving, browser: Browser
) -> None:
    with hanging() as hang:
        crashing = Crashing(server, browser, hang)
        steps = crashing.steps()
        first = steps.index("before get")
        chosen = [step for step in range(first, len(steps)) if steps[step] in CHOSEN]
        done = [crashing.survive(step + 1) for step in chosen]
    told = [(steps[step], is_done) for step, is_done in zip(chosen, done, strict=True)]
    assert told == [
        ("before add", False),  # the turns
        ("before add", False),  # the report
        ("success of add", False),
        ("success of add", False),
        ("complete of transaction", True),
        ("before fetch", True),
        ("end of fetch", True),
        ("before put", True),
        ("complete of transaction", True),
    ]


@pytest.mark.slow
def test_a_crash_at_every_step_keeps_the_promise(server: Serving, browser: Browser) -> None:
    with hanging() as hang:
        crashing = Crashing(server, browser, hang)
        steps = crashing.steps()
        assert len(steps) > 40
        done = [crashing.survive(step) for step in range(1, len(steps) + 1)]
    assert done == sorted(done), "up to some step, nothing has happened; from then on, the offset is kept"
    assert (done[0], done[-1]) == (False, True)


def test_a_browser_without_its_storage_may_report_twice_as_the_documentation_says(
    server: Serving, address: str
) -> None:
    days, names = opened(server), []
    for offset in range(2):  # the draws of two installations, which differ twice out of three times
        with browsing.context() as profile:
            browser = Browser(address, server.port, profile)
            page = browser.tab()
            assert page.evaluate("async () => (await indexedDB.databases()).length") == 0
            fixed(page, days, offset)
            names += browser.report(page, [days[offset]])
    assert names == ["counted", "counted"]
    assert most_in_a_window(counts(server, days)) == 2
