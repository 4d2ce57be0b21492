"""The document of a collection, as a device reads it: checked against the id in its address before it is used."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from .errors import ClientError, UnreachableError, UntrustedError
from .rota import MOST_SLOTS
from .sending import exchange

VERSION = 1
_MOST_BYTES = 1 << 26
"""The largest document: a device accepts schemes of half that many characters."""
_LONGEST_NAME = 200
_ADDRESS = re.compile(r"(https?://[^/?#@\s]+(?:/[^?#\s]*)?)/collections/([0-9a-f]{64})/?")


@dataclass(frozen=True)
class Place:
    """The address of a collection."""

    base: str
    """The address of the collector's interface, such as https://host/v1."""
    id: str

    @classmethod
    def of(cls, url: object) -> Place:
        """The place that an address names."""
        found = _ADDRESS.fullmatch(url) if isinstance(url, str) else None
        if found is None or not _has_host(found[1]):
            raise ClientError(
                "expected the address of a collection, such as https://host/v1/collections/ID with an ID of 64 "
                "hexadecimal digits, got something else"
            )
        return cls(found[1], found[2])

    @property
    def host(self) -> str:
        """The host of the collector, in lower case, without its port."""
        return (urlsplit(self.base).hostname or "").rstrip(".")

    @property
    def server(self) -> str:
        """Digest of the collector's address, which tells two collectors apart without naming them."""
        return sha256(self.base.encode()).hexdigest()[:32]

    def reports(self, key: bytes, collection: str | None = None) -> str:
        """The address for the reports under a key, to this collection or another one of the same collector."""
        return f"{self.base}/collections/{collection or self.id}/reports/{key.hex()}"


@dataclass(frozen=True)
class Document:
    """What a device needs to know of a collection."""

    id: str
    scheme: str
    """The scheme as JSON text."""
    fingerprint: str
    series: str | None
    slot: int | None
    """The place in the series; None without one."""
    rota: int | None
    opens: datetime | None
    closes: datetime | None


def fetch(place: Place) -> Document:
    """The document of a collection. Raises unless its SHA-256 is the id in the address."""
    answer = exchange(f"{place.base}/collections/{place.id}", most=_MOST_BYTES)
    if answer.status == 404 and answer.problem:
        raise UntrustedError("the collector has no collection with this id; check the address")
    if answer.status >= 500 or answer.status in (408, 429):
        raise UnreachableError(f"expected the document of a collection, got status {answer.status}; try again later")
    if answer.status != 200:
        raise UntrustedError(
            f"expected the document of a collection, got status {answer.status}; check the address of the collection"
        )
    if sha256(answer.body).hexdigest() != place.id:
        raise UntrustedError(
            "expected the document whose SHA-256 is the id in the address, got another one; nothing was sent, check "
            "the address and what answers there"
        )
    return parsed(answer.body)


def parsed(content: bytes) -> Document:
    """The document in these bytes."""
    try:
        given = json.loads(content, object_pairs_hook=_once)
        version, scheme, series, window = (given.get(name) for name in ("version", "scheme", "series", "window"))
        slot, rota = (given.get(name) for name in ("slot", "rota"))
    except (ValueError, RecursionError, AttributeError):
        raise UntrustedError("expected the JSON document of a collection, got something else") from None
    if version != VERSION or isinstance(version, bool):
        raise UntrustedError(f"expected version {VERSION} of the document, got another; update this client")
    named = series is None or (isinstance(series, str) and 0 < len(series) <= _LONGEST_NAME and series.isprintable())
    if not (isinstance(scheme, dict) and isinstance(window, dict) and named):
        raise UntrustedError("expected a document with a scheme, a window and perhaps a series, got something else")
    if rota is not None and (series is None or not (_whole(slot, 0) and _whole(rota, 2))):
        raise UntrustedError("expected a series and a slot with the rota of a collection, got something else")
    canonical = json.dumps(scheme, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    try:
        fingerprint = sha256(canonical.encode()).hexdigest()
        opens, closes = (_time(window.get(name)) for name in ("opens", "closes"))
    except (TypeError, ValueError):
        raise UntrustedError("expected a scheme in UTF-8 and times in UTC, got something else") from None
    placed = series, slot if series is not None and _whole(slot, 0) else None, rota
    return Document(sha256(content).hexdigest(), canonical, fingerprint, *placed, opens, closes)


def _whole(number: Any, least: int) -> bool:
    return type(number) is int and least <= number < MOST_SLOTS


def _has_host(base: str) -> bool:
    try:
        parts = urlsplit(base)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _time(text: Any) -> datetime | None:
    return None if text is None else datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field occurs twice")
    return fields
