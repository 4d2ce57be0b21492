"""Clusters that do not answer: find out within seconds, and say what to do."""

from __future__ import annotations

import os
import re
import shutil
import socket
from urllib.parse import urlsplit

from ..core.errors import StateError
from ..version import __version__

SECONDS = 10.0
"""Maximum time until a machine accepts a connection, and until a cluster answers."""


def expect_reachable(master: str, port: int) -> None:
    """Refuse an address such as ``sc://host:15002`` where nothing accepts a connection."""
    try:
        parts = urlsplit(master)
        host, port = parts.hostname or "", parts.port or port
    except ValueError:
        host = ""
    if not host:
        raise StateError(f"{master}: expected an address like {master.partition('://')[0]}://host:{port}")
    try:
        socket.create_connection((host, port), timeout=SECONDS).close()
    except OSError as error:
        reason = error.strerror or "no answer in time"
        raise StateError(f"{master}: {host} port {port} does not answer ({reason}); start the cluster there") from None


def unanswered(master: str) -> StateError:
    """The refusal of an address where something accepts connections, but no such cluster answers."""
    return StateError(f"{master}: no answer within {SECONDS:.0f} seconds; check that such a cluster is running there")


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
    found = re.findall(r"^(?:[\w.]*\.)?(\w+(?:Error|Exception|Interrupt): .+)$", text, re.MULTILINE)
    reason = found[0] if found else (text.strip().splitlines() or [type(error).__name__])[0]
    return StateError(f"{engine} gave up: {reason}")
