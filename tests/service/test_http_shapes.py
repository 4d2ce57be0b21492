"""Requests of strange shapes, written byte by byte to a real collector: counted as meant, or not at all."""

from __future__ import annotations

import gzip
import os
import re
import socket
import time
from collections.abc import Iterator

import pytest

from serving import HOST, Serving, new_key, place, question, records, serving

pytestmark = pytest.mark.full

ASKED = question()
BODY = records(ASKED, range(4))
"""8 bytes: any bytes of this length are 4 valid records, which makes misreading them dangerous."""
LENGTH = b"Content-Length: 8\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
LAST = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
CHUNKS = b"8\r\n%s\r\n0\r\n\r\n" % BODY

REFUSED = {
    "two lengths": LENGTH * 2 + b"\r\n" + BODY,
    "two different lengths": b"Content-Length: 4\r\n" + LENGTH + b"\r\n" + BODY,
    "a list of lengths": b"Content-Length: 8, 8\r\n\r\n" + BODY,
    "a signed length": b"Content-Length: +8\r\n\r\n" + BODY,
    "a length of 5,000 digits": b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n" + BODY,
    "a length and chunks": LENGTH + CHUNKED + b"\r\n" + CHUNKS,
    "another transfer encoding": b"Transfer-Encoding: xchunked\r\n\r\n" + CHUNKS,
    "chunks inside another encoding": b"Transfer-Encoding: chunked, identity\r\n\r\n" + CHUNKS,
    "a folded header": b"X-A: a\r\n b\r\n" + LENGTH + b"\r\n" + BODY,
    "a folded length": b"Content-Length:\r\n 8\r\n\r\n" + BODY,
    "a space before the colon": b"Content-Length : 8\r\n\r\n" + BODY,
    "a negative chunk": CHUNKED + b"\r\n-8\r\n" + BODY + b"\r\n0\r\n\r\n",
    "a chunk beyond 64 bits": CHUNKED + b"\r\nffffffffffffffffff\r\n" + BODY + b"\r\n0\r\n\r\n",
    "a compressed body": LENGTH + b"Content-Encoding: gzip\r\n\r\n" + BODY,
    "a body that is really compressed": b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s"
    % (len(packed := gzip.compress(BODY + b"\0\0")), packed),
}
COUNTED = {
    "a length": LENGTH + b"\r\n" + BODY,
    "chunks": CHUNKED + b"\r\n" + CHUNKS,
    "a chunk with an extension, and a field after the last": CHUNKED + b"\r\n8;a=b\r\n%s\r\n0\r\nX: y\r\n\r\n" % BODY,
    "an encoding that changes nothing": LENGTH + b"Content-Encoding: identity\r\n\r\n" + BODY,
    "a sender that asks whether to continue": LENGTH + b"Expect: 100-continue\r\n\r\n" + BODY,
    "another host": b"Host: elsewhere\r\n" + LENGTH + b"\r\n" + BODY,
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("shared") / "collector") as running:
        assert running.request("POST", "/v1/collections", ASKED.document, "admin").status == 201
        yield running
        assert running.terminate() == 0
        # One line for the start and one for the stop: nobody fills the log with requests.
        assert len(running.logged().splitlines()) == 2


def counted(server: Serving) -> int:
    return int(server.request("GET", "/v1/collections", role="read").json["collections"][0]["reports"])


def answered(server: Serving, content: bytes) -> list[bytes]:
    """The statuses of all answers to these bytes. A last request, if it is answered, ends the connection."""
    with socket.create_connection((HOST, server.port), 10) as connection:
        connection.sendall(content + LAST)
        found = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    statuses = re.findall(rb"HTTP/1\.1 (\d+) ", found)
    return statuses[: -1 if found.endswith(b'"alive"}') else None]


def posted(rest: bytes, version: str = "1.1") -> bytes:
    host = b"" if b"Host:" in rest else b"Host: x\r\n"
    return f"POST {place(ASKED)}/reports/{new_key()} HTTP/{version}\r\n".encode() + host + rest


@pytest.mark.parametrize("shape", REFUSED)
def test_a_body_that_could_be_read_in_two_ways_counts_in_neither(server: Serving, shape: str) -> None:
    before = counted(server)
    assert answered(server, posted(REFUSED[shape])) == [b"400"]
    assert counted(server) == before


@pytest.mark.parametrize("shape", COUNTED)
def test_a_body_in_an_unusual_shape_counts_once(server: Serving, shape: str) -> None:
    before = counted(server)
    assert answered(server, posted(COUNTED[shape]))[-1] == b"201"
    assert counted(server) == before + 4


def test_requests_in_one_piece_and_of_an_old_version_are_answered_in_order(server: Serving) -> None:
    before = counted(server)
    whole = COUNTED["a length"]
    assert answered(server, posted(whole) + posted(REFUSED["a compressed body"]) + posted(whole)) == [
        *(b"201", b"400", b"201")
    ]
    assert answered(server, posted(whole, "1.0")) == [b"201"]
    assert counted(server) == before + 12


def test_strange_addresses_and_strange_bytes_are_refused(server: Serving) -> None:
    before = counted(server)
    for path in ("%00", "%ff%fe", "%zz", "..%2f..%2fetc%2fpasswd", "a" * 50_000):
        assert answered(server, f"GET /v1/collections/{path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()) == [b"404"], path
    for content in (b"GET /v1/\0 HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + bytes(500)):
        assert answered(server, content) == [b"400"]
    assert answered(server, posted(LENGTH + b"\r\n" + BODY).replace(b" HTTP", b"%0a HTTP")) == [b"400"]
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket"}
    assert server.request("GET", "/healthz", headers=upgrade).status == 200
    assert counted(server) == before


ENDLESS = {
    "an address": b"GET /",
    "a field": b"GET / HTTP/1.1\r\nX: ",
    "a field after the last chunk": posted(CHUNKED + b"\r\n0\r\nX: "),
}


@pytest.mark.parametrize("part", ENDLESS)
def test_an_endless_header_is_cut_off(server: Serving, part: str) -> None:
    before = server.resident()
    with socket.create_connection((HOST, server.port), 10) as connection:
        connection.sendall(ENDLESS[part])
        sent, closed = sent_until_closed(connection)
    assert closed, "before the deadline of slow requests, which is 10 seconds"
    assert sent < 64 << 20, "what the kernel keeps for both sides, and no more"
    assert server.resident() < before + 48


def sent_until_closed(connection: socket.socket) -> tuple[int, bool]:
    """Number of bytes that a connection takes in 8 seconds, and whether it is closed then."""
    until, sent = time.monotonic() + 8, 0
    try:
        while time.monotonic() < until:
            sent += connection.send(b"a" * (1 << 16))
    except ConnectionError:
        return sent, True
    return sent, False


def test_one_byte_is_no_report_and_eight_mebibytes_are_many(server: Serving) -> None:
    before = counted(server)
    assert answered(server, posted(b"Content-Length: 1\r\n\r\na")) == [b"400"]
    assert answered(server, posted(b"Content-Length: 0\r\n\r\n")) == [b"400"]
    most = 1 << 23
    assert answered(server, posted(b"Content-Length: %d\r\n\r\n" % most + os.urandom(most))) == [b"201"]
    assert answered(server, posted(b"Content-Length: %d\r\n\r\n" % (most + 2) + bytes(most + 2))) == [b"413"]
    assert counted(server) == before + most // 2
