"""A load generator for the collector, in a process of its own: ``python -m bench.posting``.

Each connection sends its next batch when the last one is answered or, with ``--rate``, when it is due; the latency
then counts from the moment at which the batch was due. Prints one line of JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, process_time

import uvloop

HOST = "127.0.0.1"
_KEYS_AT_ONCE = 4096


@dataclass
class Load:
    """What is sent, and what was seen."""

    path: str
    bodies: list[bytes]
    rate: float = 0.0
    until: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    starts: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    lost: int = 0
    _due: float = 0.0
    _keys: list[bytes] = field(default_factory=list)
    _tails: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._head = f"POST {self.path}/reports/".encode()
        self._tails = [
            b" HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body) for body in self.bodies
        ]

    def begin(self, seconds: float) -> None:
        """Start the clock."""
        self._due = monotonic()
        self.until = self._due + seconds

    def request(self) -> bytes:
        """The next request, with a new key."""
        if not self._keys:
            drawn = os.urandom(16 * _KEYS_AT_ONCE).hex().encode()
            self._keys = [drawn[at : at + 32] for at in range(0, len(drawn), 32)]
        key = self._keys.pop()
        return b"".join((self._head, key, self._tails[key[0] % len(self._tails)]))

    def due(self) -> float:
        """The moment at which the next request is due."""
        if not self.rate:
            return monotonic()
        self._due += 1 / self.rate
        return self._due


class Sender(asyncio.Protocol):
    """A connection that sends one request after the other."""

    def __init__(self, load: Load, loop: asyncio.AbstractEventLoop) -> None:
        self._load, self._loop = load, loop
        self._got = b""
        self._due = 0.0
        self.ended = loop.create_future()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the clock to start."""
        self._transport = transport

    def next(self) -> None:
        """Send the next request when it is due."""
        self._due = self._load.due()
        if self._due >= self._load.until:
            self._transport.close()
        elif self._load.rate and (wait := self._due - monotonic()) > 0:
            self._loop.call_later(wait, self._send)
        else:
            self._send()

    def _send(self) -> None:
        self._transport.write(self._load.request())

    def data_received(self, data: bytes) -> None:
        """Note the answer, and send the next request."""
        self._got = self._got + data if self._got else data
        head, found, body = self._got.partition(b"\r\n\r\n")
        if not found or len(body) < _length(head):
            return
        self._got = b""
        now = monotonic()
        self._load.statuses[int(head[9:12])] += 1
        self._load.starts.append(self._due)
        self._load.ends.append(now)
        self.next()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note a connection that the server has closed."""
        self._load.lost += self._due < self._load.until
        self.ended.set_result(None)


def _length(head: bytes) -> int:
    _, found, rest = head.lower().partition(b"content-length:")
    return int(rest.partition(b"\r\n")[0]) if found else 0


async def posted(load: Load, port: int, connections: int, seconds: float) -> None:
    """Send until the time is over."""
    loop = asyncio.get_running_loop()
    made = [await loop.create_connection(lambda: Sender(load, loop), HOST, port) for _ in range(connections)]
    load.begin(seconds)
    for _, protocol in made:
        protocol.next()
    await asyncio.gather(*(protocol.ended for _, protocol in made))


def main() -> None:
    """Send batches to a collector, and print what came back."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("path", help="address of the collection, without the host")
    parser.add_argument("bodies", type=Path, help="file of bodies of equal size")
    parser.add_argument("size", type=int, help="bytes of a body")
    parser.add_argument("--connections", type=int, default=128)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rate", type=float, default=0.0, help="batches a second of all connections; 0: no limit")
    parser.add_argument("--times", action="store_true", help="print the times of each batch, too")
    given = parser.parse_args()
    content = given.bodies.read_bytes()
    bodies = [content[at : at + given.size] for at in range(0, len(content), given.size)]
    load = Load(given.path, bodies, given.rate)
    uvloop.run(posted(load, given.port, given.connections, given.seconds))
    latencies = sorted(end - start for start, end in zip(load.starts, load.ends, strict=True)) or [0.0]
    seen = {
        "seconds": max(load.ends, default=load.until) - load.until + given.seconds,
        "statuses": load.statuses,
        "lost": load.lost,
        "p50": latencies[len(latencies) // 2],
        "p99": latencies[len(latencies) * 99 // 100],
        "slowest": latencies[-1],
        "processor": process_time(),
    }
    if given.times:
        seen["times"] = [[round(a, 5), round(b, 5)] for a, b in zip(load.starts, load.ends, strict=True)]
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    main()
