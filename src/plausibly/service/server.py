"""The server: uvicorn on loopback, with a deadline for slow senders, no access log, and an orderly end."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ..core.arguments import whole_number
from ..core.errors import ParameterError, StateError
from ..core.wording import shown
from ..core.words import Setting, Words
from .api import application
from .collector import opened
from .log import log_to_stderr, note
from .loopback import is_loopback

REQUEST_SECONDS = 10.0
"""Time within which a request must arrive, from its first byte or the beginning of the connection."""
_DRAIN_SECONDS = 3
_IDLE_SECONDS = 5
_BACKLOG = 2048
_YOUNG = 50_000
"""New objects until Python looks for cycles among them; requests that wait for a commit would be looked at in vain."""


class Timely(HttpToolsProtocol):
    """A connection that is closed unless each request arrives in time; uvicorn waits for slow senders forever."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock for the first request of the connection."""
        super().connection_made(transport)
        self._begin()

    def on_message_begin(self) -> None:
        """Start the clock with the first byte of a request."""
        super().on_message_begin()
        self._begin()

    def on_message_complete(self) -> None:
        """Stop the clock: the whole request has arrived."""
        self._end()
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock with the connection."""
        self._end()
        super().connection_lost(exc)

    def _begin(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # Unlike uvicorn's own, it does not send the signal again after an orderly end: the exit code is 0.
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def serve(
    path: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    behind_proxy: bool = False,
    lines: bool = False,
    **options: Any,
) -> None:
    """Run a collector on a folder until SIGTERM or SIGINT; with ``lines``, log a line of JSON for each message.

    ``options`` are those of `Collector`.
    """
    _expect_host(host, behind_proxy)
    whole_number("port", port, 0, 65535)
    log_to_stderr(lines=lines)
    with tempfile.TemporaryDirectory(prefix="plausibly-") as scratch, opened(path, **options) as collector:
        # Otherwise matplotlib would keep its list of fonts in a home directory, which may be the collector's folder.
        os.environ.setdefault("MPLCONFIGDIR", scratch)
        listening = _listen(host, port)
        # Without trusted proxies uvicorn reads no header about the sender's address.
        config = uvicorn.Config(
            application(collector, behind_proxy=behind_proxy),
            http=Timely,
            ws="none",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=_IDLE_SECONDS,
            timeout_graceful_shutdown=_DRAIN_SECONDS,
        )
        found = listening.getsockname()
        shown_host = f"[{found[0]}]" if ":" in found[0] else found[0]
        note(f"listening on http://{shown_host}:{found[1]}")
        gc.freeze()
        gc.set_threshold(_YOUNG)
        _Server(config).run(sockets=[listening])
    note("stopped; everything that was acknowledged is stored")


def _expect_host(host: str, behind_proxy: bool) -> None:
    if not behind_proxy and not is_loopback(host):
        expected = f": expected this machine, such as 127.0.0.1, got {shown(host)}; to listen for others, put a proxy "
        fix = Setting("behind_proxy", True)
        raise ParameterError(Words(Setting("host"), expected, "with TLS in front, and pass ", fix))


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise StateError(f"{host}:{port}: {error.strerror or error}; choose another port") from None
