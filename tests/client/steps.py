"""The steps of a sender, as the interpreter's audit events tell them: locks, files, renames and connections.

Nothing in the sender knows of it: each step is the moment before a system call that another process could notice.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

EVENTS = {"open", "os.rename", "fcntl.flock", "socket.connect", "http.client.send"}


class Steps:
    """Count the steps within a block, and call ``fail`` at one of them (counted from 1; 0: never)."""

    current: Steps | None = None

    def __init__(self, at: int, fail: Callable[[], None]) -> None:
        self.count, self._at, self._fail = 0, at, fail
        self._thread = threading.get_ident()

    def __enter__(self) -> Steps:
        Steps.current = self
        return self

    def __exit__(self, *raised: object) -> None:
        Steps.current = None

    def reached(self) -> None:
        if threading.get_ident() != self._thread:
            return  # a proxy of the test
        self.count += 1
        if self.count == self._at:
            self._fail()


def _hear(event: str, _: object) -> None:
    if Steps.current is not None and event in EVENTS:
        Steps.current.reached()


sys.addaudithook(_hear)
