"""Clusters that do not answer: find out within seconds, and say what to do."""

from __future__ import annotations

import os
import re
import shutil
import socket
import threading
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import urlsplit

from ..core.errors import StateError
from ..version import __version__

T = TypeVar("T")

_REACHED, _ANSWERED = 10.0, 30.0
"""Maximum number of seconds until a machine accepts a connection, and until a cluster is ready."""


def without_secrets(master: str) -> str:
    """The address of a cluster for messages, without its token or password.

    >>> without_secrets("sc://host:15002/;token=abc")
    'sc://host:15002'
    """
    return re.sub("//.*@", "//", re.split("/*[;?]", master)[0])


def expect_reachable(master: str, port: int) -> None:
    """Refuse an address such as ``sc://host:15002`` where nothing accepts a connection."""
    try:
        parts = urlsplit(master)
        host, port = parts.hostname or "", parts.port or port
    except ValueError:
        host = ""
    name = without_secrets(master)
    if not host:
        raise StateError(f"{name}: expected an address like {name.partition('://')[0]}://host:{port}")
    try:
        socket.create_connection((host, port), timeout=_REACHED).close()
    except OSError as error:
        reason = error.strerror or "no answer in time"
        raise StateError(f"{name}: {host} port {port} does not answer ({reason}); start the cluster there") from None


def answer_of(call: Callable[[], T], master: str) -> T:
    """The result of a call that asks a cluster, or a refusal if it does not answer in time."""
    found: list[T] = []
    raised: list[BaseException] = []

    def ask() -> None:
        try:
            found.append(call())
        except BaseException as error:
            raised.append(error)

    # No library lets us limit the time, and a thread that waits for ever must not keep the process alive.
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(_ANSWERED)
    if thread.is_alive():
        name = without_secrets(master)
        raise StateError(f"{name}: no answer within {_ANSWERED:.0f} seconds; check that a cluster is running there")
    if raised:
        raise raised[0]
    return found[0]


def expect_java() -> None:
    """Refuse to start Spark on this machine without Java."""
    home = os.environ.get("JAVA_HOME")
    if not (os.path.exists(os.path.join(home, "bin", "java")) if home else shutil.which("java")):
        raise StateError(
            "Spark on this machine needs Java 17 or newer, and there is none on the PATH; "
            "Debian and Ubuntu: apt install openjdk-17-jre-headless, macOS: brew install openjdk@17"
        )


def gave_up(engine: str, error: Exception) -> StateError:
    """The refusal when a cluster has tried a task often enough. It names the last error on a worker."""
    text = str(error)
    if absent := re.search(r"No module named '(plausibly|pyarrow|numpy)\b", text):
        return StateError(
            f"the workers of {engine} cannot import {absent[1]}; "
            f"install plausibly {__version__} and pyarrow on all of them"
        )
    if "deserialization of the task graph" in text:
        return StateError(
            f"the scheduler of {engine} cannot load the tasks; "
            f"install plausibly {__version__} and pyarrow there, too, and start it again"
        )
    found = re.findall(r"^(?:[\w.]*\.)?(\w+(?:Error|Exception|Interrupt): .+)$", text, re.MULTILINE)
    reason = found[0] if found else (text.strip().splitlines() or [type(error).__name__])[0]
    return StateError(f"{engine} gave up: {reason}")
