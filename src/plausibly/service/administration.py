"""Administration of collections: in the folder of a collector that is stopped, or over HTTP while it runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO, Any, Protocol
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from ..core.domain import Choices
from ..core.errors import ParameterError, StateError
from ..core.wording import shown
from ..core.words import Setting, Words
from .collections import Collection
from .collector import Collector, opened, summary
from .loopback import is_loopback
from .tokens import Scope

_SECONDS = 60.0
"""Time to wait for a collector that rolls the last reports of a large collection."""
_MOST_TOLD = 1 << 26
_TOKEN = re.compile(r"[!-~]{1,200}")


class Administration(Protocol):
    """The collections of a collector, wherever it is."""

    def listed(self) -> list[dict[str, Any]]:
        """What readers are told of each collection."""

    def create(self, collection: Collection) -> None:
        """Add a collection, unless it exists."""

    def close(self, identity: str) -> None:
        """Accept no more reports for a collection."""

    def delete(self, identity: str) -> None:
        """Remove a collection with everything that belongs to it."""

    def address(self, identity: str) -> str:
        """The address of a collection for devices; without a host, if it is not known."""


class Here:
    """The collections in a folder that this process has opened."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self.close, self.delete = collector.close, collector.delete

    def listed(self) -> list[dict[str, Any]]:
        """What readers are told of each collection in the folder."""
        return [summary(account) for account in self._collector.accounts()]

    def create(self, collection: Collection) -> None:
        """Add a collection to the folder, unless it exists."""
        self._collector.create(collection)

    def address(self, identity: str) -> str:
        """The path of a collection, which follows the address of the collector."""
        return f"{_COLLECTIONS}/{identity}"


class There:
    """The collections of a collector that runs. The token goes to this address alone: redirections are refused.

    ``needs`` is the scope of the token that a user is advised to create if this one is refused.
    """

    def __init__(self, address: str, token: str, needs: Scope = Scope.ADMIN) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ParameterError(
                Words(Setting("to"), f": expected an address such as {_EXAMPLE}, got {shown(address)}")
            )
        if parts.username is not None or parts.password is not None:
            raise ParameterError(Words(Setting("to"), ": expected an address without a name and a password"))
        if parts.scheme == "http" and not is_loopback(parts.hostname):
            reason = ": expected https, because the token would travel unprotected to another machine, got http"
            raise ParameterError(Words(Setting("to"), reason))
        if not _TOKEN.fullmatch(token):
            raise ParameterError("the token: expected one that plausibly tokens create has printed, got something else")
        self._address, self._token, self._needs = address.rstrip("/"), token, needs
        # The proxy of the environment is for other machines.
        self._opener = build_opener(_Stay(), ProxyHandler({} if parts.scheme == "http" else None))

    def listed(self) -> list[dict[str, Any]]:
        """What readers are told of each collection of the running collector."""
        found: list[dict[str, Any]] = self._asked("GET", "")["collections"]
        return found

    def create(self, collection: Collection) -> None:
        """Add a collection to the running collector, unless it exists."""
        self._asked("POST", "", collection.document.encode())

    def close(self, identity: str) -> None:
        """Have the running collector accept no more reports for a collection."""
        self._asked("POST", f"/{identity}/close", b"")

    def delete(self, identity: str) -> None:
        """Have the running collector remove a collection."""
        self._asked("DELETE", f"/{identity}")

    def address(self, identity: str) -> str:
        """The address of a collection of the running collector."""
        return f"{self._address}{_COLLECTIONS}/{identity}"

    def answered(self, identity: str, route: str, query: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """What the running collector answers to the question of an analyst, such as ``estimates``."""
        given = urlencode({name: texts for name, texts in query.items() if texts}, doseq=True)
        found = self._asked("GET", f"/{identity}/{route}?{given}")
        if not isinstance(found, dict) or found.get("kind") not in ("estimates", "table"):
            raise StateError(f"{self._address}: expected the answer of a collector, got another one")
        return found

    def has_choices(self, identity: str) -> bool:
        """Whether the values of a collection are any number of listed items, whose counts are all in one table."""
        written = self._asked("GET", f"/{identity}/scheme")
        domain = written.get("domain") if isinstance(written, dict) else None
        return isinstance(domain, dict) and domain.get("type") in Choices.kinds

    def _asked(self, method: str, path: str, body: bytes | None = None) -> Any:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        request = Request(f"{self._address}{_COLLECTIONS}{path}", body, headers, method=method)
        try:
            with self._opener.open(request, timeout=_SECONDS) as response:
                content = response.read(_MOST_TOLD)
            return json.loads(content) if content else None
        except HTTPError as error:
            fix = f"; create one with plausibly tokens create FOLDER --scope {self._needs.value}"
            told = f"{error.code}, {_detail(error)}{fix * (error.code in (401, 403))}"
            raise StateError(f"{self._address}: {told}") from None
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise StateError(f"{self._address}: no collector answers here ({reason}); is it running?") from None
        except ValueError:
            raise StateError(f"{self._address}: expected the answer of a collector, got another one") from None


_EXAMPLE = "http://127.0.0.1:8080"
_COLLECTIONS = "/v1/collections"


class _Stay(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        return None


def _detail(error: HTTPError) -> str:
    # A proxy in front answers with pages of its own.
    try:
        return str(json.loads(error.read(_MOST_TOLD))["detail"])
    except (OSError, ValueError, TypeError, LookupError, HTTPException):
        return "an answer that is not the collector's"


@contextmanager
def in_folder(path: Path, inbox: str | None = None) -> Iterator[Administration]:
    """The collections in a folder, which is locked until the block ends unless its ``inbox`` is in a database."""
    with opened(path, inbox=inbox) as collector:
        yield Here(collector)
