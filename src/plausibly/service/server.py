"""The server: uvicorn on loopback, with a deadline for slow senders, no access log, and an orderly end."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
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
_MOST_HEADER = 1 << 16
"""The largest header of a request in bytes; uvicorn has no limit, and copies a growing header again and again."""
_MOST_FRAMING = 1 << 23
"""The most bytes of a request beside its body: the header, the sizes of chunks, and fields after the last chunk."""
_DRAIN_SECONDS = 3
"""Time for requests after the signal to end; those that take longer get 503."""
_END_SECONDS = 8.5
"""Time from the signal to the end: operators are promised ten seconds, which is also what Docker waits."""
_IDLE_SECONDS = 5
_BACKLOG = 2048
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_YOUNG = 50_000
"""New objects until Python looks for cycles among them; requests that wait for a commit would be looked at in vain."""
_SWITCH_SECONDS = 0.0005
"""The longest wait of a thread for the interpreter: a tenth of the usual, because writer, rolls and loop share it."""


_STOPPED = "stopped; everything that was acknowledged is stored"


class Bounded(HttpToolsProtocol):
    """A connection that is closed unless each request arrives in time and has a bounded size.

    uvicorn waits for slow senders forever, and keeps headers of any size.
    """

    _deadline: asyncio.TimerHandle | None = None
    _framing = 0
    _headed = False

    def data_received(self, data: bytes) -> None:
        """Read a piece of a request, and close the connection if the request is too large."""
        self._framing += len(data)
        super().data_received(data)
        if self._framing > (_MOST_FRAMING if self._headed else _MOST_HEADER):
            self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock for the first request of the connection."""
        super().connection_made(transport)
        self._begin()

    def on_message_begin(self) -> None:
        """Start the clock with the first byte of a request."""
        super().on_message_begin()
        self._headed = False
        self._begin()

    def on_headers_complete(self) -> None:
        """Expect a body, which may be larger than a header."""
        self._headed = True
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Pass a piece of the body on; the application limits its size."""
        self._framing -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Stop the clock: the whole request has arrived."""
        self._end()
        self._framing, self._headed = 0, False
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
    asked_to_end: float | None = None
    """The time of the first signal."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.asked_to_end is None:
            self.asked_to_end = time.monotonic()
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # Unlike uvicorn's own, it does not send the signal again after an orderly end: the exit code is 0.
        for each in _SIGNALS:
            signal.signal(each, self.handle_exit)
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # Said only now that signals are captured: a script may read this line, and end the collector at once.
        for each in sockets or ():
            host, port, *_ = each.getsockname()
            note(f"listening on http://{f'[{host}]' if ':' in host else host}:{port}")


@contextmanager
def _restored_signals() -> Iterator[None]:
    # A second signal must not cut off the orderly end that the first one has begun.
    before = {each: signal.getsignal(each) for each in _SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@_restored_signals()
def serve(
    path: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    behind_proxy: bool = False,
    lines: bool = False,
    leave: Callable[[int], object] | None = None,
    **options: Any,
) -> None:
    """Run a collector on a folder until SIGTERM or SIGINT; with ``lines``, log a line of JSON for each message.

    ``leave`` ends the process with an exit code, as `os._exit` does. It is called ten seconds after the signal at the
    latest, if a roll or the work of a request is still under way: threads cannot be ended, and the folder stays locked
    until they have. Without ``leave``, `serve` waits for them. ``options`` are those of `Collector`.
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
            http=Bounded,
            ws="none",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=_IDLE_SECONDS,
            timeout_graceful_shutdown=_DRAIN_SECONDS,
        )
        sys.setswitchinterval(_SWITCH_SECONDS)
        gc.freeze()
        gc.set_threshold(_YOUNG)
        server = _Server(config)
        server.run(sockets=[listening])
        begun = time.monotonic() if server.asked_to_end is None else server.asked_to_end
        if leave is not None and not collector.stop(begun + _END_SECONDS):
            shutil.rmtree(scratch, ignore_errors=True)
            note(_STOPPED)
            leave(0)
    note(_STOPPED)


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
