"""A real collector in a process of its own, on loopback, and the requests that tests send to it.

As a script, it runs a collector that rolls often and may end itself at a point of a roll.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from plausibly import make
from plausibly.files import ReportFile
from plausibly.service.collections import Collection
from plausibly.service.openapi import openapi
from plausibly.service.routes import is_page
from plausibly.service.tokens import Scope, create_token

ITEMS = 1 << 16
HOST = "127.0.0.1"
_WAIT = 30.0
_FOREVER = 120.0
"""Seconds that outlast every test."""


@dataclass(frozen=True)
class Answer:
    """A response."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class GoneError(Exception):
    """The collector ended before it answered."""


@dataclass
class Serving:
    """A running collector."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path
    tokens: Mapping[str, str]
    source: str = HOST
    seen: set[tuple[str, str, int]] = field(default_factory=set)

    def request(
        self,
        method: str,
        path: str,
        body: bytes | str | None = None,
        role: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request. Statuses that the OpenAPI document does not name fail the test."""
        given = dict(headers or {})
        if role:
            given["Authorization"] = f"Bearer {self.tokens.get(role, role)}"
        connection = http.client.HTTPConnection(HOST, self.port, timeout=_WAIT, source_address=(self.source, 0))
        try:
            connection.request(method, path, body, given)
            response = connection.getresponse()
            answer = Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        except (OSError, http.client.HTTPException) as error:
            raise GoneError(str(error)) from error
        finally:
            connection.close()
        expect_described(method, path, answer)
        return answer

    def send(self, collection: Collection, key: str, values: range | list[int]) -> int:
        """Send reports with these records; the status."""
        return self.request("POST", f"{place(collection)}/reports/{key}", records(collection, values)).status

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(_WAIT)

    def terminate(self) -> int:
        self.process.terminate()
        return self.process.wait(_WAIT)

    def resident(self) -> float:
        """Megabytes of memory that the collector uses."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024

    def logged(self) -> str:
        return self.log.read_text(encoding="utf-8")


@contextmanager
def serving(folder: Path, *options: str, source: str = HOST) -> Iterator[Serving]:
    """A collector on a folder, in a process of its own. It is killed if the block does not end it."""
    folder.mkdir(exist_ok=True)
    tokens = {scope.value: create_token(folder / "tokens.json", scope) for scope in (Scope.READ, Scope.ADMIN)}
    log = folder.parent / f"{folder.name}.{os.urandom(4).hex()}.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, __file__, str(folder), *options], stdout=file, stderr=file, cwd=folder.parent
        )
    try:
        yield Serving(process, port_of(process, log), log, tokens, source)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(_WAIT)


def port_of(process: subprocess.Popen[bytes], log: Path) -> int:
    """The port on which a starting collector listens."""
    until = time.monotonic() + _WAIT
    while time.monotonic() < until:
        found = re.search(rf"listening on http://{HOST}:(\d+)", log.read_text(encoding="utf-8"))
        if found:
            return int(found[1])
        if process.poll() is not None:
            break
        time.sleep(0.01)
    raise GoneError(log.read_text(encoding="utf-8"))


def expect_described(method: str, path: str, answer: Answer) -> None:
    """Fail unless the OpenAPI document names this status of this operation; other methods are 405, other paths 404."""
    path = path.partition("?")[0]
    for template, operations in _PATHS.items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", re.escape(template).replace(r"\{", "{").replace(r"\}", "}")), path):
            operation = operations.get("get" if method == "HEAD" else method.lower())
            named = {405} if operation is None else {int(status) for status in operation["responses"]}
            assert answer.status in named, f"{method} {template}: {answer.status} is not described"
            break
    else:
        assert answer.status == 404
    if is_page(path):
        assert "default-src 'none'" in answer.headers.get("content-security-policy", "") or method == "OPTIONS"
        assert answer.status < 400 or answer.headers["content-type"].startswith("text/html")
    elif answer.status >= 400 and method != "HEAD":
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json["status"] == answer.status
        assert set(answer.json) == {"type", "title", "status", "detail"}


_PATHS = openapi()["paths"]


def question(name: str = "question", **options: Any) -> Collection:
    """A collection whose records are any numbers, so that each report of a test can be another one."""
    return Collection(name=name, scheme=make("DE", epsilon=1, domain_size=ITEMS), **options)


def records(collection: Collection, values: range | list[int]) -> bytes:
    """The records with these values."""
    return np.array(values, dtype=np.uint32).astype(collection.scheme.report_dtype[0]).tobytes()


def place(collection: Collection) -> str:
    return f"/v1/collections/{collection.id}"


def new_key() -> str:
    return os.urandom(16).hex()


def filed(folder: Path, collection: Collection) -> list[int]:
    """The values of all reports in the report files of a collection, sorted."""
    files = (folder / collection.id / "reports").glob("[0-9]*.parquet")
    return sorted(int(value) for path in files for group in ReportFile(path) for value in group[group.dtype.names[0]])


def _die(point: str, wanted: str, after: int, seen: list[str]) -> None:
    seen.append(point)
    if point == wanted and seen.count(point) > after:
        os.kill(os.getpid(), signal.SIGKILL)


def _slow_down(seconds: float) -> None:
    from plausibly.service.answers import Answers

    estimates = Answers.estimates

    def slow(self: Answers, *given: Any) -> Any:
        print("answering", file=sys.stderr, flush=True)
        time.sleep(seconds)
        return estimates(self, *given)

    Answers.estimates = slow  # type: ignore[assignment,method-assign]


def main() -> None:
    from plausibly.service import api, rolling, server

    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--every", type=float, default=3600.0)
    parser.add_argument("--reports", type=int, default=1 << 20)
    parser.add_argument("--die-at", default="")
    parser.add_argument("--after", type=int, default=0)
    parser.add_argument("--patience", type=float, default=10.0)
    parser.add_argument("--behind-proxy", action="store_true")
    parser.add_argument("--inbox")
    parser.add_argument("--slow-answers", type=float, default=0.0)
    parser.add_argument("--hang-at", default="")
    parser.add_argument("--retry", type=float, default=60.0)
    parser.add_argument("--receiving", type=int, default=1 << 28)
    given = parser.parse_args()
    server.REQUEST_SECONDS = given.patience
    rolling._RETRY_SECONDS = given.retry
    api.MOST_RECEIVING = given.receiving
    if given.slow_answers:
        _slow_down(given.slow_answers)
    seen: list[str] = []

    def reached(point: str) -> None:
        _die(point, given.die_at, given.after, seen)
        if point == given.hang_at:
            print("hanging", file=sys.stderr, flush=True)
            time.sleep(_FOREVER)

    server.serve(
        given.folder,
        port=given.port,
        lines=True,
        behind_proxy=given.behind_proxy,
        inbox=given.inbox,
        roll_every=given.every,
        roll_reports=given.reports,
        reached=reached,
        leave=os._exit,
    )


def limit_files(process: int, size: int) -> None:
    """Let a process write no file beyond this size; a larger limit takes the smaller one back."""
    _, hard = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (size, hard))


if __name__ == "__main__":
    main()
