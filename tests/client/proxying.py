"""A proxy on loopback with a fixed address, through which requests reach a collector, or do not.

Each request takes the next of the planned faults and is noted with it, which proves that the fault happened.
"""

from __future__ import annotations

import http.client
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar

HOST = "127.0.0.1"
ANSWERS = {
    "busy": (503, {"Retry-After": "0"}, b""),
    "busy for hours": (503, {"Retry-After": "7200"}, b""),
    "no disk": (507, {}, b""),
    "portal": (200, {"Content-Type": "text/html"}, b"<html>Accept our terms"),
    "rate limit": (429, {"Content-Type": "text/html"}, b"<html>slower"),
    "elsewhere": (302, {"Location": "/elsewhere"}, b""),
    "refused": (400, {"Content-Type": "application/problem+json"}, b'{"detail": "no"}'),
    "nonsense": (410, {"Content-Type": "application/problem+json"}, b"[" * 5000),
}
FAULTS = ("", "deaf", "lost answer", *ANSWERS)
"""No fault; the request is not forwarded; the request is forwarded and its answer lost; answers of something else."""


class Proxy:
    """The address of the proxy, the collector's port, the planned faults, and what has happened."""

    def __init__(self, server: ThreadingHTTPServer) -> None:
        self.port = server.server_address[1]
        self.target = 0
        self.faults: deque[str] = deque()
        self.seen: list[tuple[str, str, str]] = []
        self.replacement = b""

    def url(self, identity: str, host: str = HOST) -> str:
        return f"http://{host}:{self.port}/v1/collections/{identity}"

    def posts(self) -> list[str]:
        return [path for method, path, _ in self.seen if method == "POST"]


@contextmanager
def answering(handler: type[BaseHTTPRequestHandler]) -> Iterator[ThreadingHTTPServer]:
    """A server on loopback whose requests a handler answers, until the block ends."""
    server = ThreadingHTTPServer((HOST, 0), handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def proxying(target: int) -> Iterator[Proxy]:
    """A proxy in front of a port, until the block ends."""

    class Handler(_Handler):
        proxies: ClassVar[list[Proxy]] = []

    with answering(Handler) as server:
        proxy = Proxy(server)
        proxy.target = target
        Handler.proxies.append(proxy)
        yield proxy


class _Handler(BaseHTTPRequestHandler):
    proxies: ClassVar[list[Proxy]]

    def do_GET(self) -> None:
        self._pass_on()

    def do_POST(self) -> None:
        self._pass_on()

    def log_message(self, *_: object) -> None:
        pass

    def _pass_on(self) -> None:
        (proxy,) = self.proxies
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault = proxy.faults.popleft() if proxy.faults else ""
        proxy.seen.append((self.command, self.path, fault))
        if fault in ANSWERS:
            self._answer(*ANSWERS[fault])
        elif fault != "deaf":
            try:
                answer = self._forwarded(proxy.target, body)
            except OSError:
                return  # closes the connection, as a collector that is down does
            if fault == "altered":
                self._answer(answer[0], answer[1], proxy.replacement)
            elif fault != "lost answer":
                self._answer(*answer)

    def _forwarded(self, port: int, body: bytes) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(HOST, port, timeout=30)
        try:
            connection.request(self.command, self.path, body or None)
            response = connection.getresponse()
            kept = {k: v for k, v in response.getheaders() if k.lower() in ("content-type", "retry-after")}
            return response.status, kept, response.read()
        except http.client.HTTPException as error:
            raise ConnectionError from error
        finally:
            connection.close()

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        with suppress(ConnectionError):  # the sender may have gone
            self.end_headers()
            self.wfile.write(body)
