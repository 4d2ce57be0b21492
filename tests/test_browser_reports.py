"""Values typed into pages of a real browser reach a real collector once, or not at all, and nothing else leaves."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import quote

import pytest

import browsing
from plausibly import Labels, make
from plausibly.service.collections import Collection
from serving import Serving, place, serving

pytestmark = pytest.mark.full

PETS = Labels(["cat", "dog"], other=True)
PAGE = """<!doctype html><html lang=en><title>pets</title>
<form><label>Pet <input name=pet></label><button>Send</button></form><output></output>
<script type=module>
  import { join } from "/client/dist/plausibly-client.min.js";
  const asked = new URLSearchParams(location.search);
  const options = JSON.parse(asked.get("options"));
  const output = document.querySelector("output");
  const said = (promise) => promise.catch((error) => `${error.name}: ${error.message}`);
  const joined = join(asked.get("url"), options);
  window.ready = said(joined.then(() => "joined"));
  window.collector = joined;
  document.querySelector("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    output.value = "";
    const { value } = event.target.pet;
    output.value = await said(joined.then((collector) => collector.report(value)));
  });
</script>"""


@dataclass
class Visitor:
    """A browser profile that visits the page."""

    site: str
    profile: browsing.Context

    def visit(self, url: str, before: str = "", **options: object) -> browsing.Page:
        """A new tab with the page, for a collection; ``before`` is a script that runs first."""
        page = self.profile.page()
        page.addInitScript(before)
        given = json.dumps({"maxEpsilon": 2, "patience": 5} | options)
        page.goto(f"{self.site}?url={url}&options={quote(given)}")
        return page


def send(page: browsing.Page, pet: str) -> str:
    """Type a value, and what the page says then."""
    page.fill("input", pet)
    page.click("button")
    told: str = page.evaluate(
        """async () => {
          const output = document.querySelector("output");
          for (let i = 0; i < 1500 && !output.value; i++) await new Promise((go) => setTimeout(go, 20));
          return output.value;
        }"""
    )
    return told


def ready(page: browsing.Page) -> str:
    told: str = page.evaluate("() => window.ready")
    return told


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with browsing.site({"/": PAGE}) as site:
        yield site


@pytest.fixture
def visitor(address: str) -> Iterator[Visitor]:
    with browsing.context() as profile:
        yield Visitor(address, profile)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("browser") / "collector") as running:
        yield running
        assert running.terminate() == 0
        assert "error" not in running.logged()


def asked(server: Serving, epsilon: object = 1, **options: Any) -> Collection:
    """A new collection of the server."""
    made = Collection(name=os.urandom(8).hex(), scheme=make("OLH", epsilon=epsilon, domain=PETS), **options)
    assert server.request("POST", "/v1/collections", made.document, "admin").status == 201
    return made


def url_of(server: Serving, collection: Collection) -> str:
    return f"http://127.0.0.1:{server.port}{place(collection)}"


def counted(server: Serving, collection: Collection) -> int:
    listed = server.request("GET", "/v1/collections", role="read").json["collections"]
    return int(next(each["reports"] for each in listed if each["id"] == collection.id))


def posts(page: browsing.Page) -> list[dict[str, Any]]:
    return [request for request in page.requests() if request["method"] == "POST"]


LEDGER = """async () => {
  const opening = indexedDB.open("plausibly", 1);
  const database = await new Promise((go) => (opening.onsuccess = () => go(opening.result)));
  const rows = database.transaction("reports").objectStore("reports").getAll();
  return new Promise((go) => (rows.onsuccess = () => go(rows.result)));
}"""


# --- the ordinary way -----------------------------------------------------------------------------------------------


def test_a_typed_value_is_counted_once_over_reloads(server: Serving, visitor: Visitor) -> None:
    question = asked(server)
    page = visitor.visit(url_of(server, question), fingerprint=question.scheme.fingerprint())
    assert [send(page, "dog"), send(page, "cat")] == ["counted", "counted"]
    for _ in range(3):
        page.reload()
        assert send(page, "dog") == "counted"
    assert counted(server, question) == 1
    assert len(posts(page)) == 1
    (entry,) = page.evaluate(LEDGER)
    assert entry["outcome"] == "counted"
    assert entry.keys() == {"question", "slot", "collection", "fingerprint", "epsilon", "outcome"}
    assert page.messages() == []


HEADERS = {
    *(
        ":authority",
        ":method",
        ":path",
        ":scheme",
        "host",
        "connection",
        "accept",
        "accept-encoding",
        "accept-language",
    ),
    *("content-length", "origin", "user-agent", "sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform"),
    *("sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "priority"),
}
"""What a browser says of itself with every request; none of it comes from the client."""


def test_a_report_is_one_request_without_cookie_referrer_or_identifier(server: Serving, visitor: Visitor) -> None:
    question = asked(server)
    page = visitor.visit(url_of(server, question))
    assert page.evaluate("() => document.cookie") == "visitor=1234567", "a cookie that could be sent"
    assert send(page, "dog") == "counted"
    to_collector = [request for request in page.requests() if request["url"].startswith(url_of(server, question))]
    assert [request["method"] for request in to_collector] == ["GET", "POST"], "and no preflight"
    for request in to_collector:
        assert request["headers"].keys() <= HEADERS
        assert "visitor" not in json.dumps(request["headers"])
    assert re.fullmatch(rf".*{place(question)}/reports/[0-9a-f]{{32}}", to_collector[1]["url"])
    body = bytes.fromhex(to_collector[1]["body"])
    assert len(body) == 28 + question.scheme.report_dtype.itemsize + 4
    assert b"dog" not in body


def test_three_tabs_send_one_report(server: Serving, visitor: Visitor) -> None:
    question = asked(server, smallest_batch=1000)
    tabs = [visitor.visit(url_of(server, question)) for _ in range(3)]
    for tab in tabs:
        ready(tab)
        tab.fill("input", "cat")
    for tab in tabs:
        tab.evaluate("() => { document.querySelector('form').requestSubmit() }")
    assert [send(tab, "cat") for tab in tabs] == ["counted"] * 3
    assert counted(server, question) == 1
    assert sum(len(posts(tab)) for tab in tabs) == 1


def test_reports_of_one_series_are_one(server: Serving, visitor: Visitor) -> None:
    scheme = make("OLH", epsilon=1, domain=PETS)
    made = [Collection(name="daily", scheme=scheme, series=f"s{os.getpid()}", slot=i) for i in range(2)]
    for each in made:
        assert server.request("POST", "/v1/collections", each.document, "admin").status == 201
        assert send(visitor.visit(url_of(server, each)), "dog") == "counted"
    assert [counted(server, each) for each in made] == [1, 0]


def test_the_total_of_a_question_is_never_exceeded(server: Serving, visitor: Visitor) -> None:
    many = [asked(server) for _ in range(3)]
    told = [send(visitor.visit(url_of(server, each), question="pets"), "dog") for each in many]
    assert told[:2] == ["counted", "counted"]
    assert told[2].startswith("SpentError: expected a total epsilon of at most 2")
    assert [counted(server, each) for each in many] == [1, 1, 0]


def test_a_record_waits_offline_and_the_same_bytes_go_out_at_the_next_visit(server: Serving, visitor: Visitor) -> None:
    question = asked(server)
    page = visitor.visit(url_of(server, question), patience=0.3)
    assert ready(page) == "joined"
    visitor.profile.offline(True)
    assert send(page, "dog") == "kept"
    (entry,) = page.evaluate(LEDGER)
    assert entry["outcome"] == "kept"
    first = posts(page)
    assert first, "it was tried"
    visitor.profile.offline(False)
    page.reload()  # joining alone sends it, whatever the visitor does
    until = time.monotonic() + 20
    while counted(server, question) < 1 and time.monotonic() < until:
        time.sleep(0.05)
    assert send(page, "cat") == "counted"
    assert counted(server, question) == 1
    assert len({(request["url"], request["body"]) for request in posts(page)}) == 1, "one key, one record"


def test_a_collector_that_restarts_counts_once(tmp_path: Path, visitor: Visitor) -> None:
    folder = tmp_path / "collector"
    with serving(folder) as running:
        question = asked(running)
        url = url_of(running, question)
        page = visitor.visit(url, patience=0.2)
        assert ready(page) == "joined"
        running.kill()
        assert send(page, "dog") == "kept"
    with serving(folder, "--port", url.split(":")[2].split("/")[0]) as again:
        page.reload()
        assert send(page, "dog") == "counted"
        page.reload()
        assert send(page, "dog") == "counted"
        assert counted(again, question) == 1
        assert again.terminate() == 0
    database = sqlite3.connect(folder / "inbox.db")
    assert database.execute("SELECT received FROM collections").fetchall() == [(1,)]
    assert database.execute("SELECT count(*) FROM keys").fetchall() == [(1,)]
    database.close()


WISHES = [
    "Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })",
    "Object.defineProperty(navigator, 'doNotTrack', { value: '1' })",
]


@pytest.mark.parametrize("wish", WISHES)
def test_a_visitor_who_does_not_want_to_report_sends_nothing(wish: str, server: Serving, visitor: Visitor) -> None:
    question = asked(server)
    page = visitor.visit(url_of(server, question), wish)
    assert (ready(page), send(page, "dog")) == ("joined", "declined")
    assert [request for request in page.requests() if request["url"].startswith(url_of(server, question))] == []
    assert page.evaluate("async () => (await indexedDB.databases()).length") == 0


def test_a_report_that_waits_is_not_sent_once_the_visitor_declines(server: Serving, visitor: Visitor) -> None:
    question = asked(server)
    page = visitor.visit(url_of(server, question), patience=0)
    assert ready(page) == "joined"
    visitor.profile.offline(True)
    assert send(page, "dog") == "kept"
    visitor.profile.offline(False)
    later = visitor.visit(url_of(server, question), WISHES[0])
    later.evaluate("async () => (await window.collector).resend()")
    assert (send(later, "dog"), posts(later), counted(server, question)) == ("declined", [], 0)
    page.evaluate("async () => (await window.collector).resend()")
    assert counted(server, question) == 1, "it goes out where that is allowed"


def test_a_clock_that_is_set_back_makes_nobody_wait(server: Serving, visitor: Visitor) -> None:
    question = asked(server)
    page = visitor.visit(url_of(server, question), patience=0.3)
    assert ready(page) == "joined"
    visitor.profile.offline(True)
    page.evaluate("() => { const now = Date.now(); let days = 0; Date.now = () => now - 86_400_000 * days++ }")
    assert send(page, "dog") == "kept"


def test_a_window_that_is_closed_costs_nothing(server: Serving, visitor: Visitor) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    early, late = asked(server, opens=now + timedelta(days=1)), asked(server, closes=now - timedelta(days=1))
    assert [send(visitor.visit(url_of(server, each)), "dog") for each in (early, late)] == ["early", "closed"]
    assert visitor.visit(url_of(server, early)).evaluate(LEDGER) == []


# --- a browser whose storage fails ----------------------------------------------------------------------------------

STORED = """async (entry) => {
  const opening = indexedDB.open("plausibly", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("reports", { keyPath: ["question", "slot"] });
  const database = await new Promise((go) => (opening.onsuccess = () => go(opening.result)));
  const transaction = database.transaction("reports", "readwrite");
  transaction.objectStore("reports").put(entry);
  await new Promise((go) => (transaction.oncomplete = go));
  database.close();
}"""
REFUSING = "throw new DOMException('no storage here', '{}')"
FAILING = {
    "private window": f"indexedDB.open = () => {{ {REFUSING.format('SecurityError')} }};",
    "full disk": f"IDBObjectStore.prototype.add = () => {{ {REFUSING.format('QuotaExceededError')} }};",
    "aborted": "const add = IDBObjectStore.prototype.add; IDBObjectStore.prototype.add = function (entry) {"
    " add.call(this, entry); this.transaction.abort(); };",
    "a key that is there": "const add = IDBObjectStore.prototype.add; IDBObjectStore.prototype.add = function (entry) {"
    " add.call(this, entry); add.call(this, entry); };",
}


@pytest.mark.parametrize("failure", FAILING)
def test_what_cannot_be_entered_is_not_sent(failure: str, server: Serving, visitor: Visitor) -> None:
    question = asked(server)
    page = visitor.visit(url_of(server, question), FAILING[failure])
    assert re.match(r"\w+Error: ", send(page, "dog"))
    assert (posts(page), counted(server, question)) == ([], 0)


@pytest.mark.parametrize("epsilon", ["", "0", "-1", "1/0", "x", "0x1", "1e-9", None, {}, 0])
def test_a_ledger_that_is_damaged_is_not_guessed_at(epsilon: object, server: Serving, visitor: Visitor) -> None:
    question = asked(server)
    page = visitor.visit(url_of(server, question), question="pets", fingerprint=question.scheme.fingerprint())
    assert ready(page) == "joined"
    page.evaluate(STORED, {"question": "pets", "slot": "another", "epsilon": epsilon, "fingerprint": "x"})
    assert send(page, "dog").startswith("DeviceError: expected")
    assert (posts(page), counted(server, question)) == ([], 0)


# --- a collector that is not honest ---------------------------------------------------------------------------------


@dataclass
class Hostile:
    """A server that answers as it is told; what it was sent."""

    port: int = 0
    document: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    to_reports: tuple[int, dict[str, str], bytes] = (201, {}, b"")
    pause: Event | None = None
    endless: bool = False
    seen: list[tuple[str, str, bytes]] = field(default_factory=list)

    def url(self, identity: str) -> str:
        return f"http://127.0.0.1:{self.port}/v1/collections/{identity}"

    def posted(self) -> list[bytes]:
        return [body for method, _, body in self.seen if method == "POST"]


@contextmanager
def hostile() -> Iterator[Hostile]:
    mind = Hostile()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            mind.seen.append(("GET", self.path, b""))
            self.answer(mind.status, mind.headers, mind.document)

        def do_POST(self) -> None:
            mind.seen.append(("POST", self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.answer(*mind.to_reports)

        def answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in {"Access-Control-Allow-Origin": "*", **headers}.items():
                self.send_header(name, value)
            if not mind.endless:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2])
            try:
                while mind.endless:
                    self.wfile.write(body * (1 << 20))
            except OSError:
                mind.seen.append(("GONE", self.path, b""))
                return
            if mind.pause:
                self.wfile.flush()
                mind.pause.wait(60)
            try:
                self.wfile.write(body[len(body) // 2 :])
            except OSError:
                mind.seen.append(("GONE", self.path, b""))

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    mind.port = server.server_port
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield mind
    finally:
        if mind.pause:
            mind.pause.set()
        server.shutdown()
        thread.join()
        server.server_close()


def collection(epsilon: object = 1) -> Collection:
    return Collection(name=os.urandom(8).hex(), scheme=make("OLH", epsilon=epsilon, domain=PETS))


def document_with(**fields: object) -> tuple[str, bytes]:
    """A document whose scheme has other fields, with the id that fits it."""
    document = json.loads(collection().document)
    document["scheme"] |= fields
    content = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    return sha256(content).hexdigest(), content


def test_another_document_than_that_of_the_id_is_refused(visitor: Visitor) -> None:
    with hostile() as mind:
        mind.document = collection().document.encode()
        page = visitor.visit(mind.url(collection().id))
        assert send(page, "dog").startswith("UntrustedError: expected the document")
        assert mind.posted() == []
        assert len(mind.seen) >= 1


def test_another_scheme_than_that_of_the_fingerprint_is_refused(visitor: Visitor) -> None:
    with hostile() as mind:
        made = collection()
        mind.document = made.document.encode()
        for number, pinned in enumerate(("0" * 64, "", made.scheme.fingerprint().upper())):
            page = visitor.visit(mind.url(made.id), fingerprint=pinned)
            assert send(page, "dog").startswith("UntrustedError: expected the scheme of this fingerprint")
            assert (mind.posted(), len(mind.seen)) == ([], 1 + number)


def test_a_raised_epsilon_is_refused(visitor: Visitor) -> None:
    with hostile() as mind:
        made = collection(epsilon=3)
        mind.document = made.document.encode()
        assert send(visitor.visit(mind.url(made.id)), "dog") == "DeviceError: expected epsilon at most 2"
        assert (mind.posted(), len(mind.seen)) == ([], 1)


def test_thresholds_that_break_epsilon_are_refused(visitor: Visitor) -> None:
    with hostile() as mind:
        identity, mind.document = document_with(keep=str(2**64 - 2**40))
        assert "threshold is refused" in send(visitor.visit(mind.url(identity)), "dog")
        assert (mind.posted(), len(mind.seen)) == ([], 1)


def test_a_changed_scheme_on_the_second_visit_is_refused(visitor: Visitor) -> None:
    with hostile() as mind:
        first, second = collection(), Collection(name="b", scheme=make("DE", epsilon=1, domain=PETS))
        mind.document = first.document.encode()
        assert send(visitor.visit(mind.url(first.id)), "dog") == "counted"
        mind.document = second.document.encode()
        told = send(visitor.visit(mind.url(second.id)), "dog")
        assert told.startswith("UntrustedError: expected the scheme seen first")
        assert len(mind.posted()) == 1


@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        (500, {}, b"broken"),
        (503, {"Content-Type": "application/problem+json"}, b'{"detail": "busy"}'),
        (200, {"Content-Type": "text/html"}, b"<html>Accept our terms"),
        (302, {"Location": "http://127.0.0.1:9/elsewhere"}, b""),
    ],
    ids=["500", "503", "HTML", "redirect"],
)
def test_an_answer_that_is_not_the_collectors_is_no_acknowledgement(
    status: int, headers: dict[str, str], body: bytes, visitor: Visitor
) -> None:
    with hostile() as mind:
        made = collection()
        mind.document, mind.to_reports = made.document.encode(), (status, headers, body)
        page = visitor.visit(mind.url(made.id), patience=0.5)
        assert send(page, "dog") == "kept"
        assert len(mind.posted()) >= 2, "it was sent again"
        assert len(set(mind.posted())) == 1, "the same bytes"
        assert len({path for method, path, _ in mind.seen if method == "POST"}) == 1, "under the same key"
        assert [request["url"] for request in page.requests() if "elsewhere" in request["url"]] == []
        mind.to_reports = (201, {}, b"")
        assert send(page, "cat") == "counted"
        assert len(set(mind.posted())) == 1


@pytest.mark.parametrize(
    ("status", "headers", "body", "told"),
    [
        (500, {}, b"broken", "unreachable"),
        (200, {"Content-Type": "text/html"}, b"<html>Accept our terms", "UntrustedError"),
        (302, {"Location": "http://127.0.0.1:9/elsewhere"}, b"", "unreachable"),
    ],
    ids=["500", "HTML", "redirect"],
)
def test_without_the_document_nothing_is_made_of_the_value(
    status: int, headers: dict[str, str], body: bytes, told: str, visitor: Visitor
) -> None:
    with hostile() as mind:
        mind.status, mind.headers, mind.document = status, headers, body
        page = visitor.visit(mind.url(collection().id))
        assert send(page, "dog").startswith(told)
        assert mind.posted() == []
        assert mind.seen
        assert page.evaluate(LEDGER) == []


def test_an_answer_without_an_end_is_not_read_to_its_end(visitor: Visitor) -> None:
    with hostile() as mind:
        made = collection()
        mind.document, mind.endless = b"{", True
        assert send(visitor.visit(mind.url(made.id)), "dog").startswith("UntrustedError: expected the document")
        mind.document, mind.endless = made.document.encode(), False
        page = visitor.visit(mind.url(made.id), patience=0)
        assert ready(page) == "joined"
        mind.endless, mind.to_reports = True, (201, {}, b"{")
        assert send(page, "dog") == "kept"


@pytest.mark.parametrize(
    "fields",
    [{"__proto__": {"epsilon": "1000"}}, {"constructor": {"prototype": {"total": True}}}, {"epsilon": "1" * 2600}],
    ids=["__proto__", "constructor", "a long number"],
)
def test_a_document_changes_nothing_but_its_own_fields(fields: dict[str, object], visitor: Visitor) -> None:
    with hostile() as mind:
        identity, mind.document = document_with(**fields)
        page = visitor.visit(mind.url(identity))
        assert send(page, "dog").startswith("DeviceError: ")
        assert page.evaluate("() => [({}).epsilon, ({}).total, Object.keys(Object.prototype)]") == [None, None, []]
        assert mind.posted() == []


@pytest.mark.slow
def test_a_slow_body_is_given_up(visitor: Visitor) -> None:
    with hostile() as mind:
        made = collection()
        mind.document, mind.pause = made.document.encode(), Event()
        page = visitor.visit(mind.url(made.id))
        assert ready(page) == "joined"
        assert mind.posted() == []
        assert page.evaluate(LEDGER) == []
