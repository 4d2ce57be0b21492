"""The browser of the tests itself: a page, what it says, what it asks for, and what it stores."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import browsing

PAGE = b"""<!doctype html><html lang=en><title>pets</title><main><h1>Pets</h1><p>A page.</p></main>
<script>console.log("loaded"); fetch("/posted", {method: "POST", body: "abc"}); localStorage.visits ??= 0</script>"""


class Answering(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.answer(PAGE)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(b"")

    def answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.mark.full
def test_a_page_is_run_watched_and_pictured(address: str, tmp_path: Path) -> None:
    with browsing.page(width=360, height=640, dark=True) as page:
        assert page.goto(address) == 200
        assert page.evaluate("() => document.title") == "pets"
        assert page.evaluate("() => matchMedia('(prefers-color-scheme: dark)').matches")
        assert page.evaluate("async (n) => n + 1", 41) == 42
        assert page.messages() == ["log: loaded"]
        posted = next(request for request in page.requests() if request["method"] == "POST")
        assert (posted["body"], posted["status"], posted["type"]) == (b"abc".hex(), 200, "fetch")
        assert "user-agent" in posted["headers"]
        assert not page.overflows()
        assert page.violations() == []
        page.screenshot(tmp_path / "page.png")
        assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.full
def test_what_is_wrong_with_a_page_is_found(address: str) -> None:
    with browsing.page(width=360) as page:
        page.goto(address)
        page.evaluate("() => { document.body.innerHTML = '<img src=/x><p style=width:900px>wide' }")
        page.evaluate("() => { setTimeout(() => { throw Error('late') }) }")
        page.waitForTimeout(50)
        assert any(message.startswith("uncaught: late") for message in page.messages())
        assert page.overflows()
        assert any(found.startswith("image-alt") for found in page.violations())


@pytest.mark.full
def test_tabs_share_the_storage_of_their_profile_and_no_other(address: str) -> None:
    with browsing.context() as one, browsing.context() as other:
        first, second, stranger = one.page(), one.page(), other.page()
        for page in (first, second, stranger):
            page.goto(address)
        first.evaluate("() => { localStorage.visits = 7 }")
        assert second.evaluate("() => localStorage.visits") == "7"
        assert stranger.evaluate("() => localStorage.visits") == "0"
        one.offline(True)
        with pytest.raises(browsing.BrowserError, match="ERR_INTERNET_DISCONNECTED"):
            first.goto(address)
