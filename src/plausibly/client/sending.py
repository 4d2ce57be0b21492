"""Requests to a collector: one at a time, bounded in size and time, sent again under the same key if need be."""

from __future__ import annotations

import json
import secrets
import ssl
import struct
import time
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from enum import Enum
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from .errors import UnreachableError

_MAGIC = b"PLB\x01"
_PROBLEM = "application/problem+json"
_MOST_PROBLEM = 1 << 16
_REQUEST_SECONDS = 20.0
"""The longest time that one request may take."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 8.0
_LONGEST_WAIT = 3600.0
"""The longest time that a server may ask to wait for."""


class Outcome(Enum):
    """The fate of a report."""

    COUNTED = "counted"
    """The collector has stored it, now or before."""
    CLOSED = "closed"
    """The collection accepts no more reports."""
    FULL = "full"
    """The collection has all reports that it accepts."""
    REFUSED = "refused"
    """The collector does not accept this report or does not know the collection."""
    EARLY = "early"
    """The collection has not opened yet; call again later."""
    KEPT = "kept"
    """No acknowledgement arrived. The ledger keeps the record, and the next call sends it again."""
    NOT_DUE = "not due"
    """Another slot of the series is this device's turn. Nothing was spent."""
    UNREACHABLE = "unreachable"
    """The collection could not be fetched, so there is no record yet; call again later."""

    @property
    def final(self) -> bool:
        """Whether calling again cannot change this outcome."""
        return self not in (Outcome.EARLY, Outcome.KEPT, Outcome.UNREACHABLE)


_STATUSES = {
    400: Outcome.REFUSED,
    404: Outcome.REFUSED,
    409: Outcome.EARLY,
    410: Outcome.CLOSED,
    413: Outcome.REFUSED,
    429: Outcome.FULL,
}


@dataclass(frozen=True)
class Answer:
    """A response."""

    status: int
    body: bytes
    problem: str = ""
    """One sentence of the collector, if the response is a problem document."""
    wait: float = 0.0
    """Seconds to wait before the next request, if the server has asked for that."""


@dataclass(frozen=True)
class Delivery:
    """What became of a body that was sent until it was answered, or given up for now."""

    outcome: Outcome
    new: bool = False
    """Whether the collector has counted it just now, not before."""
    reason: str = ""
    wait: float = 0.0


class _NoRedirect(HTTPRedirectHandler):
    """Redirects are not followed: the address is the application's choice."""

    def redirect_request(self, *_: Any) -> None:
        """Answer with the redirect itself."""


_OPENER = build_opener(_NoRedirect)


def batch_of_one(fingerprint: str, record: bytes) -> bytes:
    """The wire batch of one record: its scheme and a checksum travel along."""
    body = struct.pack("<4s16sQ", _MAGIC, bytes.fromhex(fingerprint)[:16], 1) + record
    return body + struct.pack("<I", zlib.crc32(body))


def exchange(address: str, body: bytes | None = None, *, most: int = _MOST_PROBLEM) -> Answer:
    """The answer to one request, of at most this number of bytes: GET without a body, else POST."""
    headers = {"User-Agent": "plausibly", "Content-Type": "application/octet-stream"}
    if body is None:
        del headers["Content-Type"]
    deadline = time.monotonic() + _REQUEST_SECONDS
    try:
        try:
            response = _OPENER.open(Request(address, data=body, headers=headers), timeout=_REQUEST_SECONDS)
        except HTTPError as error:
            response = error
        with response:
            return _answer(response.status, response.headers, _read(response, most, deadline))
    except (OSError, HTTPException, ValueError) as error:
        raise UnreachableError(f"the collector did not answer: {_reason(error)}; try again later") from None


def deliver(address: str, body: bytes, patience: float) -> Delivery:
    """Post a body. After a failure that may pass, post it again, unless ``patience`` seconds are over."""
    until = time.monotonic() + patience
    pause = _FIRST_PAUSE
    while True:
        try:
            found = _judged(exchange(address, body))
        except UnreachableError as error:
            found = Delivery(Outcome.KEPT, reason=str(error))
        if found.outcome is not Outcome.KEPT:
            return found
        # Half of it at random, so that devices which failed together do not return together.
        rest = max(found.wait, pause * (500 + secrets.randbelow(500)) / 1000)
        if time.monotonic() + rest > until:
            return found
        time.sleep(rest)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _judged(answer: Answer) -> Delivery:
    # A proxy or a captive portal may answer in the collector's place: an acknowledgement has no body, and a refusal is
    # a problem document. Everything else is an accident that may pass.
    if answer.status in (200, 201) and not answer.body:
        return Delivery(Outcome.COUNTED, new=answer.status == 201)
    if answer.status in _STATUSES and answer.problem:
        return Delivery(_STATUSES[answer.status], reason=answer.problem)
    reason = answer.problem or f"status {answer.status} is not an answer of a collector to reports"
    return Delivery(Outcome.KEPT, reason=reason, wait=answer.wait)


def _answer(status: int, headers: Message, body: bytes) -> Answer:
    problem = ""
    if status >= 400 and headers.get_content_type() == _PROBLEM:
        try:
            problem = str(json.loads(body)["detail"])[:500]
        except (ValueError, LookupError, TypeError, RecursionError):
            problem = ""
    return Answer(status, body, problem, _wait(headers.get("Retry-After", "")))


def _wait(text: str) -> float:
    # Seconds, or a date (RFC 9110, section 10.2.3).
    text = text.strip()
    try:
        seconds = int(text) if text.isdecimal() else (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return 0.0
    return max(0.0, min(float(seconds), _LONGEST_WAIT))


def _read(response: Any, most: int, deadline: float) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while piece := response.read1(1 << 16):
        pieces.append(piece)
        size += len(piece)
        if size > most or time.monotonic() > deadline:
            raise ValueError("more bytes than expected, or too slowly")
    return b"".join(pieces)


def _reason(error: Exception) -> str:
    inner = getattr(error, "reason", error)
    if isinstance(inner, ssl.SSLError):
        return "its TLS certificate or protocol is not accepted"
    if isinstance(inner, TimeoutError):
        return "it took too long"
    if isinstance(inner, OSError) and inner.strerror:
        return inner.strerror
    return "the response is not HTTP, or too large" if not isinstance(inner, OSError) else "the connection failed"
