"""The server: uvicorn on loopback, with a deadline for slow senders, no access log, and an orderly end."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ..core.errors import ParameterError, StateError
from ..core.wording import shown
from .api import application
from .collector import opened

REQUEST_SECONDS = 10.0
"""Time within which a request must arrive, from its first byte or the beginning of the connection."""
_DRAIN_SECONDS = 3
_IDLE_SECONDS = 5
_BACKLOG = 2048

_logger = logging.getLogger("plausibly.service")


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


class _Lines(logging.Formatter):
    """A line of JSON for each message, without times, and without the details of an exception."""

    def format(self, record: logging.LogRecord) -> str:
        said = {"level": record.levelname.lower(), "message": record.getMessage().strip()}
        if record.exc_info and record.exc_info[0] is not None:
            said["exception"] = record.exc_info[0].__name__
        return json.dumps(said, ensure_ascii=False)


class _Words(_Lines):
    """The same for people."""

    def format(self, record: logging.LogRecord) -> str:
        said = json.loads(super().format(record))
        return ": ".join(
            [
                *([] if said["level"] == "info" else [said["level"]]),
                said["message"],
                *([said["exception"]] if "exception" in said else []),
            ]
        )


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
    _log_to_stderr(_Lines() if lines else _Words())
    with opened(path, **options) as collector:
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
        _logger.info("listening on http://%s:%d", shown_host, found[1])
        _Server(config).run(sockets=[listening])
    _logger.info("stopped; everything that was acknowledged is stored")


def is_loopback(host: str) -> bool:
    """Whether a server on this host can be reached from this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _expect_host(host: str, behind_proxy: bool) -> None:
    if not behind_proxy and not is_loopback(host):
        raise ParameterError(
            f"host: expected this machine, such as 127.0.0.1, got {shown(host)}; to listen for others, put a proxy "
            "with TLS in front, and add --behind-proxy"
        )


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise StateError(f"{host}:{port}: {reason}; choose another port with --port") from None


def _log_to_stderr(formatter: logging.Formatter) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    for name, level in (("plausibly.service", logging.INFO), ("uvicorn.error", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
