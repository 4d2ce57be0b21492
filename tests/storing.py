"""A real S3 server for tests (moto), on loopback: requests are counted, and answers can be made to fail."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from moto.core import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.s3.models import S3Backend, s3_backends
from werkzeug.serving import make_server

BUCKET = "bucket"
SECRET = "a-secret-of-this-test"


def _nothing(method: str, path: str) -> None:
    pass


@dataclass
class Store:
    """The server's application, what it was asked, and how it is to fail."""

    application: Any
    endpoint: str = ""
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Method and path of each request."""
    failing: list[tuple[int, str]] = field(default_factory=list)
    """Status and code of the answers to the next requests, in place of the server's."""
    forbidden: str = ""
    """The beginning of all paths to which nobody has rights."""
    signed_only: bool = False
    """Whether requests without credentials are refused, as S3 refuses them unless a bucket is public."""
    unsigned: int = 0
    """Number of requests that were refused for this reason."""
    failed: int = 0
    """Number of requests that were answered with a failure."""
    before: Callable[[str, str], None] = _nothing
    """Called with method and path before each request is answered."""
    at_once: int = 0
    """Maximum number of requests that were under way at the same time."""
    under_way: int = 0
    lock: Any = field(default_factory=threading.Lock)

    def __call__(self, environment: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        method, path = environment["REQUEST_METHOD"], environment["PATH_INFO"]
        with self.lock:
            self.asked.append((method, path))
            self.under_way += 1
            self.at_once = max(self.at_once, self.under_way)
        try:
            self.before(method, path)
            return self._answer(environment, start, method, path)
        finally:
            with self.lock:
                self.under_way -= 1

    def _answer(
        self, environment: dict[str, Any], start: Callable[..., Any], method: str, path: str
    ) -> Iterable[bytes]:
        if self.signed_only and "HTTP_AUTHORIZATION" not in environment:
            self.unsigned += 1
            return self._failure(403, "AccessDenied", method, start)
        if self.forbidden and path.startswith(self.forbidden):
            return self._failure(403, "AccessDenied", method, start)
        if self.failing:
            return self._failure(*self.failing.pop(0), method, start)
        answer: Iterable[bytes] = self.application(environment, start)
        return answer

    def _failure(self, status: int, code: str, method: str, start: Callable[..., Any]) -> Iterable[bytes]:
        self.failed += 1
        start(f"{status} {code}", [("Content-Type", "application/xml")])
        text = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>as a test wants it</Message></Error>"
        return [b"" if method == "HEAD" else text.encode()]

    def reset(self) -> None:
        """Forget all objects, requests and faults."""
        s3_backends.reset()
        _backend().create_bucket(BUCKET, "us-east-1")
        self.asked.clear()
        self.failing.clear()
        self.forbidden, self.failed, self.before, self.at_once = "", 0, _nothing, 0
        self.signed_only, self.unsigned = False, 0

    def put(self, name: str, content: bytes) -> str:
        """Store an object, and return its address."""
        _backend().put_object(BUCKET, name, content)
        return f"s3://{BUCKET}/{name}"

    def get(self, name: str) -> bytes:
        """The content of an object."""
        return bytes(_backend().get_object(BUCKET, name).value)

    def names(self) -> list[str]:
        """The names of all objects."""
        return sorted(_backend().buckets[BUCKET].keys.keys())


def _backend() -> S3Backend:
    return s3_backends[DEFAULT_ACCOUNT_ID]["aws"]


@contextmanager
def running() -> Iterator[Store]:
    """A server that runs in this process, until the block ends."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    store = Store(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, store, threaded=True)
    store.endpoint = f"http://127.0.0.1:{server.port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
