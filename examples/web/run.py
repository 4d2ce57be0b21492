"""A page with a form, a collector and its dashboard on this machine: values are randomized in the visitor's browser.

`make web-demo` runs it. Ctrl-C ends everything, and nothing is kept.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import exp
from pathlib import Path
from urllib.request import Request, urlopen

from plausibly import Labels, encode_reports, make

HERE = Path(__file__).resolve().parent
CLIENT = HERE.parents[1] / "clients" / "js" / "dist" / "plausibly-client.min.js"
WAYS = {"bike": 28, "bus": 14, "car": 24, "train": 21, "walk": 9, "other": 4}
"""What people may answer, and how many of 100 made-up visitors do. Everything else that is typed is "other"."""
SCHEME = make("DE", epsilon=2, domain=Labels([*WAYS][:-1], other=True, normalize=("lower", "strip")))


def integrity(content: bytes) -> str:
    """The digest by which a browser checks a file."""
    return f"sha384-{base64.b64encode(hashlib.sha384(content).digest()).decode()}"


def plausibly(*words: str) -> str:
    """What a command prints."""
    command = [sys.executable, "-m", "plausibly", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@contextmanager
def collector(folder: Path) -> Iterator[str]:
    """The address of `plausibly serve`, in a process of its own."""
    log = folder.parent / "serve.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "plausibly", "serve", str(folder), "--port", "0"], stderr=file
        )
    try:
        while not (found := re.search(r"listening on (http://127.0.0.1:\d+)", log.read_text())):
            if process.poll() is not None:
                sys.exit(log.read_text())
            time.sleep(0.05)
        yield found[1]
    finally:
        process.terminate()
        process.wait()


def files(collection: str) -> dict[str, tuple[str, bytes]]:
    """What the site serves: the page, which pins client and scheme, its script and style, and the client."""
    script, client = (HERE / "app.js").read_bytes(), CLIENT.read_bytes()
    factor = exp(SCHEME.epsilon)
    filled = {
        "importmap": importmap(),
        "app": integrity(script),
        "collection": collection,
        "fingerprint": hashlib.sha256(SCHEME.to_json().encode()).hexdigest(),
        "ways": "".join(f'<option value="{escape(way)}"></option>' for way in [*WAYS][:-1]),
        "suspicion": f"{10 * factor / (0.1 * factor + 0.9):.1f}&nbsp;%",
    }
    page = (HERE / "page.html").read_text(encoding="utf-8")
    for name, value in filled.items():
        page = page.replace(f"{{{{{name}}}}}", value)
    return {
        "/": ("text/html; charset=utf-8", page.encode()),
        "/app.js": ("text/javascript; charset=utf-8", script),
        "/style.css": ("text/css; charset=utf-8", (HERE / "style.css").read_bytes()),
        f"/{CLIENT.name}": ("text/javascript; charset=utf-8", client),
    }


def importmap() -> str:
    """Where the client is, and its digest: the browser refuses any other."""
    address = f"./{CLIENT.name}"
    pinned = CLIENT.with_name(f"{CLIENT.name}.integrity").read_text(encoding="ascii").strip()
    return json.dumps({"imports": {"plausibly-client": address}, "integrity": {address: pinned}})


def policy(collector: str) -> str:
    """The page may run its own scripts and talk to the collector, and nothing else."""
    inline = base64.b64encode(hashlib.sha256(importmap().encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'self' 'sha256-{inline}'; style-src 'self'; img-src data:; "
        f"connect-src {collector}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


@contextmanager
def site(served: dict[str, tuple[str, bytes]], policy: str, port: int) -> Iterator[str]:
    """The address of a small web server with these files."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            media, content = served.get(self.path, ("text/plain", b""))
            self.send_response(200 if self.path in served else 404)
            headers = {"Content-Type": media, "Content-Length": str(len(content)), "Content-Security-Policy": policy}
            for name, value in {**headers, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def crowd(collection: str, people: int) -> None:
    """Send the reports of made-up people, so that the dashboard has something to show."""
    values = [way for way, share in WAYS.items() for _ in range(people * share // 100)]
    body = encode_reports(SCHEME, SCHEME.privatize(values))
    urlopen(Request(f"{collection}/reports/{os.urandom(16).hex()}", body, method="POST")).close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="of the page; by default a free one")
    parser.add_argument("--crowd", type=int, default=5000, help="made-up people who have reported already")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder, scheme = Path(temporary) / "collector", Path(temporary) / "scheme.json"
        scheme.write_text(SCHEME.to_json(), encoding="utf-8")
        made = plausibly("collections", "create", str(folder), "--name", "way here", "--scheme", str(scheme), "--json")
        token = plausibly("tokens", "create", str(folder), "--scope", "read").strip()
        with collector(folder) as address:
            collection = f"{address}/v1/collections/{json.loads(made)[0]['id']}"
            if options.crowd:
                crowd(collection, options.crowd)
            with site(files(collection), policy(address), options.port) as page:
                print(f"Page with the form:  {page}/")
                print(f"Dashboard:           {address}/dashboard")
                print(f"Token to sign in:    {token}")
                print(f"{options.crowd:,} made-up people have reported already. Ctrl-C ends everything.", flush=True)
                try:
                    threading.Event().wait()
                except KeyboardInterrupt:
                    print()


if __name__ == "__main__":
    main()
