"""A collector and a fleet of made-up devices. It is killed once, some reports are sent twice, and all are counted once.

`make serve-demo` runs it with 100,000 devices. Each one randomizes its own value and posts it under its own key.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from plausibly import Labels, device, make
from plausibly.demo import sites, visits

SITES = sites()[:20]
NOBODYS = ["nobody-reads.example", "nobody-shops.example", "nobody-knows.example"]
SCHEME = make("OLH", epsilon=2, domain=Labels(SITES + NOBODYS, other=True))
CONNECTIONS = 64
ATTEMPTS = 300
PAUSE = 0.1
TWICE = 20
"""Every twentieth device sends its report twice, as if the first answer had been lost."""


def plausibly(*words: str) -> str:
    """What a command prints."""
    return subprocess.run(
        [sys.executable, "-m", "plausibly", *words], check=True, capture_output=True, text=True
    ).stdout


class Collector:
    """`plausibly serve` in a process of its own, on a free port of this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, 0
        self.start()

    def start(self) -> None:
        log = self.folder.parent / "serve.log"
        command = [sys.executable, "-m", "plausibly", "serve", str(self.folder), "--port", str(self.port)]
        with log.open("wb") as file:
            self.process = subprocess.Popen(command, stderr=file)
        while not (found := re.search(r"listening on http://127.0.0.1:(\d+)", log.read_text())):
            if self.process.poll() is not None:
                sys.exit(log.read_text())
            time.sleep(PAUSE)
        self.port = int(found[1])

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()

    def get(self, path: str, token: str = "") -> bytes:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        content: bytes = urlopen(Request(f"http://127.0.0.1:{self.port}/v1/{path}", headers=headers)).read()
        return content


class Fleet:
    """Devices that share a few connections. ``seen`` counts the answers, and the connections that broke."""

    def __init__(self, collector: Collector, collection: str, values: list[str]) -> None:
        self.collector, self.path, self.values = collector, f"/v1/collections/{collection}/reports", values
        self.client = device.load(collector.get(f"collections/{collection}/scheme").decode())
        self.seen: Counter[str] = Counter()
        self.begun = time.monotonic()

    async def report(self) -> None:
        numbered = iter(enumerate(self.values, 1))
        await asyncio.gather(*(self.line(numbered) for _ in range(CONNECTIONS)), self.misfortune())

    async def misfortune(self) -> None:
        while self.seen["201"] < len(self.values) // 2:
            await asyncio.sleep(PAUSE / 10)
        self.collector.kill()
        print(f"{self.seen['201']:>9,} acknowledged: the collector is killed (SIGKILL) and started again", flush=True)
        await asyncio.to_thread(self.collector.start)

    async def line(self, numbered: Iterator[tuple[int, str]]) -> None:
        connection = Connection(self)
        for number, value in numbered:
            record, key = self.client.privatize(value), os.urandom(16).hex()
            for _ in range(2 if number % TWICE == 0 else 1):
                await connection.post(key, record)
            if number % (len(self.values) // 10) == 0:
                print(f"{number:>9,} devices have sent, {time.monotonic() - self.begun:.0f} s", flush=True)
        connection.close()


class Connection:
    """A connection that is opened again whenever it breaks; the report is sent again under the same key."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.writer: asyncio.StreamWriter | None = None

    async def post(self, key: str, record: bytes) -> None:
        for _ in range(ATTEMPTS):
            try:
                status = await self.once(key, record)
            except (OSError, asyncio.IncompleteReadError):
                self.close()
                status = "broken"
            self.fleet.seen[status] += 1
            if status in ("201", "200"):
                return
            await asyncio.sleep(PAUSE)
        sys.exit("the collector does not answer any more")

    async def once(self, key: str, record: bytes) -> str:
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.fleet.collector.port)
        head = f"POST {self.fleet.path}/{key} HTTP/1.1\r\nHost: collector\r\nContent-Length: {len(record)}\r\n\r\n"
        self.writer.write(head.encode() + record)
        answer = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        if told := re.search(r"content-length: (\d+)", answer):
            await self.reader.readexactly(int(told[1]))
        return answer.split()[1]

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
            self.writer = None


def show(answer: dict[str, Any], values: list[str]) -> None:
    """Print the answer beside the truth, which only a demo knows."""
    truth, inside = Counter(values), 0
    print(f"\n{'item':<32}{'truth':>8}{'estimate':>10}{'95 % interval':>18}   inside  stands out")
    for row in sorted(answer["estimates"], key=lambda row: -truth[row["item"]]):
        true, fits = truth[row["item"]], row["low"] <= truth[row["item"]] <= row["high"]
        inside += fits
        interval = f"[{row['low']:,.0f}, {row['high']:,.0f}]"
        marks = f"{'yes' if fits else 'no':>9}  {'yes' if row['significant'] else '':>10}"
        print(f"{row['item']:<32}{true:>8,}{row['estimate']:>10,.0f}{interval:>18}{marks}")
    print(f"\n{inside} of {len(answer['estimates'])} intervals contain the truth; 19 of 20 are promised.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", type=int, default=100_000, help="at least 1000")
    devices = parser.parse_args().devices
    names = sites()
    # Devices know only the list of the scheme; all other sites are "other" to them.
    values = [names[rank] if rank < len(SITES) else "other" for rank in visits(devices).tolist()]
    with tempfile.TemporaryDirectory() as temporary:
        folder, scheme = Path(temporary) / "collector", Path(temporary) / "scheme.json"
        scheme.write_text(SCHEME.to_json(), encoding="utf-8")
        made = plausibly("collections", "create", str(folder), "--name", "visits", "--scheme", str(scheme), "--json")
        collection = json.loads(made)[0]["id"]
        token = plausibly("tokens", "create", str(folder), "--scope", "read").strip()
        collector = Collector(folder)
        try:
            print(f"{devices:,} devices, one post each over {CONNECTIONS} connections, to a collector on this machine")
            fleet = Fleet(collector, collection, values)
            asyncio.run(fleet.report())
            seconds, seen = time.monotonic() - fleet.begun, fleet.seen
            answer = json.loads(collector.get(f"collections/{collection}/estimates", token))
        finally:
            collector.stop()
    show(answer, values)
    print(
        f"{sum(seen.values()):,} posts in {seconds:.0f} s: {seen['201']:,} counted, {seen['200']:,} counted already, "
        f"{seen['broken']:,} lost with the connection and sent again"
    )
    print(f"Reports counted: {answer['reports']:,}; devices: {devices:,}")
    if answer["reports"] != devices:
        sys.exit("a report was lost or counted twice")


if __name__ == "__main__":
    main()
