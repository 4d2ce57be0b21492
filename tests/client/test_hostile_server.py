"""A server that lies: whatever it names, answers and redirects, a device spends its total on it and no more."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from hashlib import sha256
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

import pytest

from client.proxying import HOST, answering
from plausibly import make
from plausibly.client import Collector, SpentError, UntrustedError
from plausibly.device import DeviceError

pytestmark = pytest.mark.full

EPSILON, TOTAL = Fraction(1, 7), Fraction(5, 7)
SCHEME = make("OLH", epsilon=EPSILON, domain=["cat", "dog"], other=True)
FRAME = 4 + 16 + 8
"""Bytes of a wire batch before its records; 4 of a checksum follow them."""
LIES = (200, 201, 202, 204, 301, 302, 307, 308, 400, 401, 404, 409, 410, 413, 418, 429, 500, 503, 507)
PROBLEM = json.dumps({"detail": "a lie"}).encode()


class Liar:
    """What the server says, and everything that it has seen."""

    def __init__(self) -> None:
        self.port = 0
        self.documents: dict[str, bytes] = {}
        self.posted: list[tuple[str, bytes]] = []
        self.asked: list[tuple[str, str]] = []
        self.random = random.Random(7)

    def opens(self, **changes: Any) -> str:
        """Open a collection; its address."""
        scheme = json.loads(changes.pop("scheme", SCHEME).to_json())
        window = {"opens": None, "closes": None}
        document = {"version": 1, "name": "n", "scheme": scheme, "window": window, "minimum": 1, "cap": None} | changes
        content = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
        identity = sha256(content).hexdigest()
        self.documents[identity] = content
        return f"http://{HOST}:{self.port}/v1/collections/{identity}"

    def records(self) -> set[bytes]:
        """The different records that have reached the server, with their keys."""
        return {path[-32:].encode() + body[FRAME:-4] for path, body in self.posted}


@contextmanager
def lying() -> Iterator[Liar]:
    class Handler(_Handler):
        liars: ClassVar[list[Liar]] = [Liar()]

    (liar,) = Handler.liars
    with answering(Handler) as server:
        liar.port = server.server_address[1]
        yield liar


class _Handler(BaseHTTPRequestHandler):
    liars: ClassVar[list[Liar]]

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        (liar,) = self.liars
        liar.asked.append((self.path, str(self.headers)))
        self._say(200, liar.documents.get(self.path.rpartition("/")[2], b""))

    def do_POST(self) -> None:
        (liar,) = self.liars
        liar.posted.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
        self._say(liar.random.choice(LIES), PROBLEM)

    def _say(self, status: int, body: bytes) -> None:
        (liar,) = self.liars
        self.send_response(status)
        self.send_header("Location", liar.random.choice(["/v1/elsewhere", f"http://localhost:{liar.port}{self.path}"]))
        self.send_header("Content-Type", liar.random.choice(["application/problem+json", "text/html"]))
        body = b"" if status == 204 else body
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def test_a_new_collection_every_day_with_other_names_and_series_gets_the_total_and_no_more(tmp_path: Path) -> None:
    refused: set[type] = set()
    with lying() as liar:
        for day in range(60):
            changes: dict[str, Any] = {"name": f"day {day}"}
            if day % 3:
                changes |= {"series": f"series {day % 5 if day % 2 else day}", "slot": day}
            if day % 10 == 9:
                changes |= {"scheme": make("OLH", epsilon=Fraction(1, 1000), domain=["cat", "dog"], other=True)}
            asked = {"max_epsilon": TOTAL, "question": "pets", "ledger": tmp_path / "ledger", "patience": 0}
            collector = Collector(liar.opens(**changes), **asked)
            for call in (collector.report, collector.report, lambda value: collector.resend()):  # noqa: B023
                before = len(liar.posted)
                try:
                    call("cat")
                except (SpentError, UntrustedError) as error:
                    refused.add(type(error))
                    assert len(liar.posted) == before, "nothing is sent"
            spent = Fraction(collector.sent()["spent"])
            assert len(liar.records()) * EPSILON <= spent <= TOTAL
        assert len(liar.records()) == TOTAL / EPSILON, "the whole total was spent: the limit was reached"
        assert refused == {SpentError, UntrustedError}
        # Only the addresses of collections reach the server beside the records, and never a place of a redirection.
        assert not [path for path, _ in liar.posted if "/reports/" not in path]
        assert {path.rpartition("/")[0] for path, _ in liar.asked} == {"/v1/collections"}
        assert {headers for _, headers in liar.asked} == {liar.asked[0][1]}, "and all requests look alike"


@pytest.mark.parametrize("value", ["cat", "dog", "a value that is on no list"])
def test_a_device_that_refuses_asks_for_the_document_and_says_nothing_else(value: str, tmp_path: Path) -> None:
    with lying() as liar:
        ledger = tmp_path / "ledger"
        Collector(liar.opens(), max_epsilon=TOTAL, ledger=ledger, patience=0).report("cat")
        sent = len(liar.posted)
        for changes, total in (
            ({"name": "spent"}, EPSILON),
            ({"scheme": make("OLH", epsilon=2, domain=["cat", "dog"], other=True)}, TOTAL),
            ({"scheme": make("DE", epsilon=EPSILON, domain_size=3)}, TOTAL),
            ({"version": 2}, TOTAL),
            ({"window": 5}, TOTAL),
        ):
            collector = Collector(liar.opens(**changes), max_epsilon=total, ledger=ledger, patience=0)
            with pytest.raises(DeviceError):
                collector.report(value)
        fetched = [path.rpartition("/")[2] for path, _ in liar.asked]
        assert (len(liar.posted), fetched) == (sent, list(liar.documents)), "each document once, and nothing else"
        assert {headers for _, headers in liar.asked} == {liar.asked[0][1]}
