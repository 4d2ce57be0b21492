"""A question with a memo in a real browser: one key, one price, and the reports that the key determines."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import browsing
from plausibly import Labels, Scheme, device, make
from plausibly.client import ClientError, Collector
from plausibly.client.rota import Rota
from plausibly.device import Memo, WordSource
from plausibly.service.collections import Collection
from serving import Serving, serving
from test_browser_rota import BUNDLE, HELD, ROWS, SMALL, STORED, UNLOCKED, Browser, counts, opened

pytestmark = pytest.mark.full

ITEMS = Labels([f"theme {number}" for number in range(15)], other=True)
SCHEME = make("LOLOHA", epsilon=1, memo_epsilon=2, domain=ITEMS)
PRICE = 8
"""Of four entries at 2."""
WITH_MEMOS = SMALL.replace('"./oracles.js";', '"./oracles.js";\nimport { memos } from "./memos.js";').replace(
    "loader(oracles)", "loader(oracles, memos)"
)
"""The client of a page that knows the schemes, but sends nothing from a memo."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("memos") / "collector") as running:
        yield running


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    made = browsing.run_node(browsing.CLIENT / "build.mjs", str(browsing.TOOLS), ".", "print", given=WITH_MEMOS)
    with browsing.site({"/memos.js": made}) as site:
        yield site


@pytest.fixture
def browser(address: str, server: Serving) -> Iterator[Browser]:
    with browsing.context() as profile:
        yield Browser(address, server.port, profile)


def asked(server: Serving, slots: Sequence[int | None] = range(4), **changes: Any) -> list[Collection]:
    """The collections of a new series without a rota."""
    return opened(server, slots, **{"scheme": SCHEME, "rota": None} | changes)


def report(browser: Browser, page: browsing.Page, days: Sequence[Collection], **options: Any) -> list[str]:
    given = {"memo": True, "maxEpsilon": PRICE, "value": "theme 3"}
    return browser.report(page, days, **given | options)


def stored(page: browsing.Page, question: str = "pets") -> tuple[bytes | None, list[dict[str, Any]]]:
    """The key of the memo of a question, and its reports."""
    rows = [row for row in page.evaluate(ROWS_IN_TEXT)["rows"] if row["question"] == question]
    keys = [bytes(row["key"]) for row in rows if row["slot"] == ["memo"]]
    assert len(keys) < 2
    return (keys or [None])[0], [row for row in rows if row["slot"] != ["memo"]]


# Bytes do not survive the way to Python.
ROWS_IN_TEXT = f"""async () => {{
  const {{ version, rows }} = await ({ROWS})();
  const plain = (_, it) => (it instanceof Uint8Array ? [...it] : it);
  return JSON.parse(JSON.stringify({{ version, rows }}, plain));
}}"""


# --- one memo -----------------------------------------------------------------------------------------------------

TAPE = """
const drawn = crypto.getRandomValues.bind(crypto);
crypto.getRandomValues = (into) => {
  if (!(into instanceof BigUint64Array)) return drawn(into);
  for (let i = 0; i < into.length; i++) into[i] = BigInt.asUintN(64, BigInt(i + 1) * 0x9e3779b97f4a7c15n);
  return into;
};
"""


def tape(count: int) -> bytes:
    """The words of a page after TAPE, whenever it draws."""
    words = [(i + 1) * 0x9E3779B97F4A7C15 % 2**64 for i in range(count // 8)]
    return b"".join(word.to_bytes(8, "little") for word in words)


def expected(scheme: Scheme, key: bytes, value: str) -> bytes:
    """The record of device.py with this key and tape."""
    client = device.load(scheme.to_json(), memo=Memo(key, "pets"))
    made = client.randomizer
    assert isinstance(made, device.Memoised)
    return client.privatize(value, WordSource(made.words - made.public_words - made.memo_words, tape))


@pytest.mark.parametrize("name", ["LOLOHA", "LOSUE", "LSUE"])
def test_the_records_are_those_of_the_device_in_every_tab_and_after_a_reload(
    name: str, server: Serving, browser: Browser
) -> None:
    scheme = make(name, epsilon=1, memo_epsilon=2, domain=ITEMS)
    days, page = asked(server, scheme=scheme), browser.tab(TAPE)
    other, found = browser.tab(TAPE), []
    visits = zip((page, other, page, other), days, ("theme 3", "theme 3", "rare", "theme 3"), strict=True)
    for tab, day, value in visits:
        if day is days[2]:
            page.goto(browser.site)
        options = {"maxEpsilon": 100, "question": "pets", "memo": True, "patience": 0}
        tab.evaluate(HELD, {"client": BUNDLE, "url": browser.url(day), "options": options})
        browser.profile.offline(True)  # the ledger keeps what is not acknowledged
        assert tab.evaluate("(value) => collector.report(value)", value) == "kept"
        browser.profile.offline(False)
        key, rows = stored(tab)
        assert key is not None
        assert len(key) == 32
        [row] = [row for row in rows if row["collection"] == day.id]
        assert bytes(row["waiting"]["body"])[28:-4] == expected(scheme, key, value)
        found.append(key)
    assert len(set(found)) == 1
    assert page.evaluate("async () => (await indexedDB.databases())[0].version") == 2
    assert report(browser, browser.tab(), days, maxEpsilon=100) == ["counted"] * 4
    assert counts(server, days) == [1] * 4


def test_a_browser_reports_in_every_slot_and_pays_once_whatever_the_values_are(
    server: Serving, browser: Browser
) -> None:
    days, page = asked(server), browser.tab()
    for value in ("theme 3", "theme 4"):  # the second call sends nothing
        assert report(browser, page, days, value=value) == ["counted"] * 4
    assert counts(server, days) == [1] * 4
    for slot, day in enumerate(days):
        assert report(browser, page, [day], question="changing", value=f"theme {slot}") == ["counted"]
    told, changing = (browser.sent(page, days[0], question) for question in ("pets", "changing"))
    assert changing == [each | {"question": "changing"} for each in told]
    assert [(each["slot"], each["epsilon"]) for each in told] == [
        (f"{slot} of {days[0].series}", "0/1" if slot else "8/1") for slot in range(4)
    ]
    assert {each["memo"] for each in told} == {device.load(SCHEME.to_json(), memo="once").randomizer.subject}  # type: ignore[union-attr]
    assert all(each.keys().isdisjoint({"key", "waiting"}) for each in told)
    key, rows = stored(page)
    assert key != stored(page, "changing")[0]
    assert "theme" not in json.dumps(rows)
    assert page.messages() == []


def test_a_scheme_with_a_memo_is_refused_unless_the_page_accepts_it_and_can_pay(
    server: Serving, browser: Browser
) -> None:
    [day], page = asked(server, [0]), browser.tab()
    assert report(browser, page, [day], client="/memos.js") == ["DeviceError"]
    for option in (None, False, "once", {"key": [1] * 32, "series": "x"}):
        assert report(browser, page, [day], memo=option) == ["UntrustedError"]
    assert report(browser, page, [day], maxEpsilon="79/10") == ["SpentError"]
    assert report(browser, page, [day], maxEpsilon="19/10") == ["DeviceError"], "one entry costs more"
    assert report(browser, page, [day], value=7) == ["DeviceError"]
    assert (counts(server, [day]), stored(page)[1]) == ([0], [])
    assert report(browser, page, [day]) == ["counted"]


def test_a_new_collection_of_the_same_question_opens_no_new_memo(server: Serving, browser: Browser) -> None:
    page = browser.tab()
    days = [*asked(server, [0]), *asked(server, [0]), *asked(server, [None], series=None)]
    assert report(browser, page, days) == ["counted"] * 3
    key, rows = stored(page)
    assert sorted(row["epsilon"] for row in rows) == ["0/1", "0/1", "8/1"]
    larger = make("LOLOHA", epsilon=1, memo_epsilon=3, domain=ITEMS, hash_bits=2)
    other = asked(server, [0], scheme=larger)
    assert report(browser, page, other, maxEpsilon=100) == ["UntrustedError"]
    given = {"fingerprint": larger.fingerprint()}
    assert report(browser, page, other, maxEpsilon=19, **given) == ["SpentError"]
    assert report(browser, page, other, maxEpsilon=20, **given) == ["counted"]
    assert stored(page)[0] == key


def test_the_values_of_two_items_open_at_most_two_of_four_entries(server: Serving, browser: Browser) -> None:
    few = make("LOLOHA", epsilon=1, memo_epsilon=2, domain=Labels(["on"], other=True), hash_bits=2)
    unary = make("LSUE", epsilon=1, memo_epsilon="3/2", domain=Labels(["on", "off"], other=True))
    page = browser.tab()
    for question, scheme, limit in (("few", few, "4"), ("unary", unary, "9/2")):
        days = asked(server, [0], scheme=scheme)
        given = {"question": question, "value": "on"}
        assert report(browser, page, days, maxEpsilon="7/2", **given) == ["SpentError"]
        assert report(browser, page, days, maxEpsilon=limit, **given) == ["counted"]


# --- tabs, storage and damage -------------------------------------------------------------------------------------

RACE = """async ({ client, urls, options, seed }) => {
  const { join } = await import(client);
  let state = seed;
  const shuffled = [...urls].sort(() => (state = (state * 16807) % 2147483647) - 1073741824);
  window.told = await Promise.all(shuffled.map(async (url) => (await join(url, options)).report("theme 3")));
}"""


@pytest.mark.parametrize("before", ["", UNLOCKED], ids=["with the lock", "without it"])
def test_tabs_that_start_together_have_one_key_and_pay_once(before: str, server: Serving, browser: Browser) -> None:
    days = asked(server)
    tabs = [browser.tab(before) for _ in range(3)]
    options = {"maxEpsilon": PRICE, "question": "pets", "memo": True}
    given = {"client": BUNDLE, "urls": [browser.url(day) for day in days], "options": options}
    for seed, tab in enumerate(tabs, 1):
        tab.evaluate(f"(given) => {{ window.done = ({RACE})(given) }}", given | {"seed": seed})
    for tab in tabs:
        tab.evaluate("() => window.done")
        assert set(tab.evaluate("() => window.told")) == {"counted"}
    key, rows = stored(tabs[0])
    assert key is not None
    assert sorted(row["epsilon"] for row in rows) == ["0/1"] * 3 + ["8/1"]
    assert counts(server, days) == [1] * 4


def test_a_browser_without_its_storage_pays_for_a_new_memo_as_the_documentation_says(
    server: Serving, browser: Browser
) -> None:
    page, keys = browser.tab(), []
    for day in asked(server, range(2)):
        assert report(browser, page, [day]) == ["counted"]
        key, [row] = stored(page)
        assert row["epsilon"] == "8/1"
        keys.append(key)
        page.evaluate("() => new Promise((go) => (indexedDB.deleteDatabase('plausibly').onsuccess = go))")
    assert keys[0] != keys[1]


def test_a_ledger_without_the_key_of_its_memo_is_refused(server: Serving, browser: Browser) -> None:
    days, page = asked(server), browser.tab()
    assert report(browser, page, days[:1]) == ["counted"]
    for key, error in ((None, "UntrustedError"), ([7] * 32, "DeviceError"), ("7" * 32, "DeviceError")):
        page.evaluate(FORGET, key)
        assert report(browser, page, days[1:]) == [error] * 3
    assert counts(server, days) == [1, 0, 0, 0]


FORGET = """async (key) => {
  const opening = indexedDB.open("plausibly");
  const database = await new Promise((go) => (opening.onsuccess = () => go(opening.result)));
  const transaction = database.transaction("reports", "readwrite");
  const store = transaction.objectStore("reports");
  if (key) store.put({ question: "pets", slot: ["memo"], key });
  else store.delete(["pets", ["memo"]]);
  await new Promise((go) => (transaction.oncomplete = go));
  database.close();
}"""


def test_a_ledger_of_an_earlier_version_goes_on_until_there_is_a_memo(server: Serving, browser: Browser) -> None:
    [day], page = asked(server, [0]), browser.tab()
    row = {"question": "pets", "slot": "a", "collection": "a", "epsilon": "1/1", "outcome": "counted"}
    page.evaluate(STORED, {"version": 1, "row": row | {"fingerprint": SCHEME.fingerprint()}})
    assert report(browser, page, [day]) == ["SpentError"], "8 of 8, and 1 before"
    assert report(browser, page, [day], maxEpsilon=9) == ["counted"]
    assert page.evaluate(ROWS)["version"] == 2, "an older client cannot read what the next report costs"


# --- the rules of the Python client -------------------------------------------------------------------------------


def in_python(browser: Browser, asking: list[Collection], total: int, ledger: Path, offset: int) -> list[str]:
    """The outcomes of the Python client, whose draw is that of the browser."""
    told = []
    with patch.object(Rota, "drawn", lambda slots: Rota(slots, offset)):
        for each in asking:
            given: dict[str, Any] = {"question": ledger.name, "ledger": ledger, "patience": 0, "memo": True}
            try:
                told.append(Collector(browser.url(each), max_epsilon=total, **given).report("theme 3").value)
            except ClientError as error:
                told.append(type(error).__name__)
    return told


def test_the_decisions_are_those_of_the_python_client(server: Serving, browser: Browser, tmp_path: Path) -> None:
    days = asked(server)
    series = days[0].series
    larger = make("LOLOHA", epsilon=1, memo_epsilon=3, domain=ITEMS, hash_bits=2)
    plain = make("DE", epsilon=1, domain=ITEMS)
    turns = asked(server, scheme=plain, rota=2)
    offers = [
        *days,
        *asked(server, (0, 1)),
        *asked(server, (1,), series=series, name="another"),
        *asked(server, (2, 7), series=series, scheme=larger),
        *asked(server, (3,), series=series, scheme=plain),
        *asked(server, (None,), series=None, scheme=plain),
        *turns,
    ]
    page, seen, draw = browser.tab(), set(), random.Random(7)
    histories = [(turns, 8), (turns, 1), *((draw.sample(offers, 7), draw.choice((7, 8, 9, 20))) for _ in range(5))]
    for number, (asking, total) in enumerate(histories):
        question = f"device {number}"
        got = report(browser, page, asking, question=question, maxEpsilon=total)
        told = browser.turns(page, turns[0], question)
        python = in_python(browser, asking, total, tmp_path / question, told["offset"] if told else 0)
        assert got == python, number
        seen |= set(got)
    assert seen == {"counted", "not due", "UntrustedError", "SpentError"}
