"""The collector under load, compared with itself without storage: ``python -m bench.collector``.

Each comparison has two real servers on loopback, each in a process of its own, which take turns with the same load
generator (`bench.posting`) on the same machine; a ratio is the median of the ratios of all rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import plausibly
from plausibly.core.scheme import Scheme
from plausibly.service.collections import Collection
from plausibly.service.collector import opened

from . import database
from .machine import facts, load
from .timing import Sample, plain

HOST, WAIT = "127.0.0.1", 60.0
BATCH, BODIES = 1000, 64
SLOW = (("half headers", 300), ("half bodies", 300), ("silent", 100))
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Bar:
    """A bound on a ratio or a quantity."""

    name: str
    relation: str
    bound: float

    def line(self, values: list[float]) -> dict[str, Any]:
        """The median of the values, their spread, and whether the bound holds."""
        found = median(values)
        holds = found >= self.bound if self.relation == "≥" else found <= self.bound
        return {
            "bar": f"{self.name} {self.relation} {self.bound:g}",
            "seen": found,
            "least": min(values),
            "most": max(values),
            "rounds": len(values),
            "holds": holds,
        }


# --- servers and load ----------------------------------------------------------------------------------------------


@dataclass
class Side:
    """A running collector, and the batches that it is sent."""

    process: subprocess.Popen[bytes]
    port: int
    collection: Collection
    bodies: Path
    size: int
    batch: int
    points: Path

    def post(self, seconds: float, connections: int, rate: float = 0.0, *, times: bool = False) -> Sample:
        """Send batches for some seconds; rates, latencies, and the processor time of both processes."""
        command = [sys.executable, "-m", "bench.posting", str(self.port), f"/v1/collections/{self.collection.id}"]
        command += [str(self.bodies), str(self.size), f"--seconds={seconds}", f"--connections={connections}"]
        command += [f"--rate={rate}", *(["--times"] if times else [])]
        before = self.processor()
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=seconds + WAIT).stdout
        seen: Sample = json.loads(said)
        counted = seen["statuses"].get("201", 0)
        if seen["statuses"].keys() != {"201"} or seen["lost"]:
            print(f"  not all batches were counted: {seen['statuses']}, {seen['lost']} connections lost")
        seen["requests a second"] = counted / seen["seconds"]
        seen["reports a second"] = seen["requests a second"] * self.batch
        seen["processor µs a request"] = 1e6 * (self.processor() - before) / max(1, counted)
        return seen

    def processor(self) -> float:
        """Processor seconds of the server so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def memory(self) -> float:
        """Resident megabytes of the server."""
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8"))
        return int(found[1]) / 1024 if found else 0.0


@contextmanager
def serving(collection: Collection, *options: str, batch: int = BATCH, inbox: str = "") -> Iterator[Side]:
    """A collector in a process of its own, with one collection, in a folder that is removed afterwards."""
    where: dict[str, Any] = {"inbox": inbox} if inbox else {}
    with tempfile.TemporaryDirectory(prefix="collector-") as name:
        folder, log, bodies = Path(name) / "collector", Path(name) / "log", Path(name) / "bodies"
        with opened(folder, **where) as made:
            made.create(collection)
        content = _bodies(collection.scheme, batch)
        bodies.write_bytes(b"".join(content))
        points = Path(name) / "points"
        command = [sys.executable, "-m", "bench.posted_to", str(folder), f"--points={points}", *options]
        command += [f"--inbox={inbox}"] if inbox else []
        with log.open("wb") as file:
            process = subprocess.Popen(command, stdout=file, stderr=file)
        try:
            yield Side(process, _port(process, log), collection, bodies, len(content[0]), batch, points)
        finally:
            process.terminate()
            try:
                process.wait(WAIT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _bodies(scheme: Scheme, batch: int) -> list[bytes]:
    values = scheme.domain.examples(BATCH) if isinstance(scheme.domain, plausibly.Strings) else np.arange(BATCH) % 97
    reports = scheme.privatize([values[number % len(values)] for number in range(batch * BODIES)])
    return [reports[at : at + batch].tobytes() for at in range(0, len(reports), batch)]


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    until = time.monotonic() + WAIT
    while time.monotonic() < until and process.poll() is None:
        found = re.search(rf"http://{HOST}:(\d+)", log.read_text(encoding="utf-8"))
        if found:
            return int(found[1])
        time.sleep(0.02)
    raise RuntimeError(f"the collector did not start: {log.read_text(encoding='utf-8')}")


def question(name: str = "DE", *, items: int = 1 << 16, epsilon: int = 1) -> Collection:
    """A collection with integers for items; records of DE have two bytes."""
    return Collection(name="load", scheme=plausibly.make(name, epsilon=epsilon, domain_size=items))


@dataclass(frozen=True)
class Effort:
    """How long to measure."""

    rounds: int
    seconds: float


def in_turns(effort: Effort, sides: dict[str, Side], connections: int) -> dict[str, list[Sample]]:
    """Samples of all servers, one of each in every round; a first round warms them up."""
    for side in sides.values():
        side.post(effort.seconds / 3, connections)
    taken: dict[str, list[Sample]] = {name: [] for name in sides}
    for _ in range(effort.rounds):
        for name, side in sides.items():
            taken[name].append(side.post(effort.seconds, connections))
    return taken


def ratios(above: list[Sample], below: list[Sample], key: str) -> list[float]:
    """One quotient for each round."""
    return [a[key] / b[key] for a, b in zip(above, below, strict=True)]


def rates(taken: dict[str, list[Sample]]) -> dict[str, Any]:
    """The medians of what was measured on each server."""
    keys = ("requests a second", "reports a second", "processor µs a request", "p50", "p99")
    return {name: {key: median(each[key] for each in samples) for key in keys} for name, samples in taken.items()}


# --- comparisons ---------------------------------------------------------------------------------------------------


def _durable(effort: Effort, batch: int, connections: int, bound: float) -> dict[str, Any]:
    with serving(question(), batch=batch) as durable, serving(question(), "--no-storage", batch=batch) as off:
        taken = in_turns(effort, {"durable": durable, "off": off}, connections)
    pair = taken["durable"], taken["off"]
    return {
        "bars": [
            Bar("durable ÷ storage off, requests a second", "≥", bound).line(ratios(*pair, "requests a second")),
            Bar("durable ÷ storage off, processor time", "≤", 1.3).line(ratios(*pair, "processor µs a request")),
        ],
        "rates": rates(taken),
    }


def batches(effort: Effort) -> dict[str, Any]:
    """Batches of 1,000 reports, 128 connections."""
    return _durable(effort, BATCH, 128, 0.6)


def singles(effort: Effort) -> dict[str, Any]:
    """Single reports, 256 connections."""
    return _durable(effort, 1, 256, 0.5)


def large(effort: Effort) -> dict[str, Any]:
    """Batches of 1,000 and 10,000 reports while rolls happen after each 2²⁰ reports."""
    rolls = f"--roll-reports={1 << 20}"
    with serving(question(), rolls) as usual, serving(question(), rolls, batch=10_000) as big:
        taken = in_turns(effort, {"batches of 1,000": usual, "batches of 10,000": big}, 64)
    fastest = [each["reports a second"] for each in taken["batches of 10,000"]]
    return {"bars": [Bar("reports a second in batches of 10,000", "≥", 1e6).line(fastest)], "rates": rates(taken)}


def trellis(effort: Effort) -> dict[str, Any]:
    """TRELLIS and TLH, batches of 1,000 reports, 128 connections."""
    strings = plausibly.Strings("abcdefghijklmnopqrstuvwxyz.", 12)
    search = Collection(name="load", scheme=plausibly.TRELLIS(3, domain=strings, users=1_000_000))
    with serving(search) as trellis_side, serving(question("TLH", items=1024, epsilon=3)) as plain_side:
        taken = in_turns(effort, {"TRELLIS": trellis_side, "TLH": plain_side}, 128)
    found = ratios(taken["TRELLIS"], taken["TLH"], "reports a second")
    return {"bars": [Bar("TRELLIS ÷ TLH, reports a second", "≥", 0.5).line(found)], "rates": rates(taken)}


def rolls(effort: Effort) -> dict[str, Any]:
    """Latency of all batches that arrive during rolls of 2²⁰ reports, and of all that arrive between rolls."""
    rate, reports = 200.0, 1 << 20
    period = reports / (rate * BATCH)
    with serving(question(), f"--roll-reports={reports}") as side:
        side.post(2.0, 32, rate)
        # A roll meets about twenty requests: too few for a p99 of its own.
        seen = side.post((4 * effort.rounds + 0.5) * period, 32, rate, times=True)
        points = [json.loads(line) for line in side.points.read_text(encoding="utf-8").splitlines()]
    begins = [moment for point, moment in points if point == "begun"]
    ends = [moment for point, moment in points if point == "truncated"]
    times = np.array(seen.pop("times"))
    spans = list(zip(begins, ends, strict=False))
    during = [(times[:, 1] > begin) & (times[:, 0] < end) for begin, end in spans]
    latency = times[:, 1] - times[:, 0]
    met = np.any(during, axis=0)
    between, within = (float(np.percentile(latency[each], 99)) for each in (~met, met))
    return {
        "bars": [Bar("p99 of uploads during rolls ÷ between rolls", "≤", 3).line([within / between])],
        "rolls": len(spans),
        "uploads during rolls": int(met.sum()),
        "seconds of a roll": median(end - begin for begin, end in spans),
        "p99 between rolls": between,
        "p99 during rolls": within,
        "slowest": float(latency.max()),
    }


def slow_senders(effort: Effort) -> dict[str, Any]:
    """Latency of healthy batches beside 700 slow senders, and without them."""
    calm, beside = [], []
    with serving(question()) as side:
        side.post(1.0, 16, 100.0)
        for _ in range(effort.rounds):
            calm.append(side.post(effort.seconds, 16, 100.0)["p99"])
            with _slow(side):
                beside.append(side.post(effort.seconds, 16, 100.0)["p99"])
    found = [a / b for a, b in zip(beside, calm, strict=True)]
    return {
        "bars": [Bar("p99 of healthy batches beside 700 slow senders ÷ without", "≤", 3).line(found)],
        "p99 without": median(calm),
        "p99 beside": median(beside),
    }


@contextmanager
def _slow(side: Side) -> Iterator[None]:
    head = f"POST /v1/collections/{side.collection.id}/reports/{'0' * 32} HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n"
    begun = {"half headers": head.encode(), "half bodies": head.encode() + b"\r\nabc", "silent": b""}
    with ExitStack() as stack:
        for kind, count in SLOW:
            for _ in range(count):
                connection = stack.enter_context(socket.create_connection((HOST, side.port), WAIT))
                connection.sendall(begun[kind])
        yield


def postgresql(effort: Effort, address: str | None) -> dict[str, Any]:
    """The inbox in PostgreSQL and in SQLite, batches of 1,000 reports, 128 connections.

    Without an address, a server of our own is measured, with the settings that PostgreSQL comes with.
    """
    if address is None:
        with database.running() as server:
            return postgresql(effort, server.address())
    with serving(question(), inbox=address) as there, serving(question()) as here:
        taken = in_turns(effort, {"PostgreSQL": there, "SQLite": here}, 128)
    found = ratios(taken["PostgreSQL"], taken["SQLite"], "reports a second")
    return {"bars": [Bar("PostgreSQL ÷ SQLite, reports a second", "≥", 0.2).line(found)], "rates": rates(taken)}


def soak(seconds: float) -> dict[str, Any]:
    """Resident memory under a moderate load, with rolls: its slope over the second half."""
    samples = []
    with serving(question(), f"--roll-reports={1 << 20}") as side:
        begun = time.monotonic()
        while (at := time.monotonic() - begun) < seconds:
            side.post(5.0, 32, 100.0)
            samples.append((at, side.memory()))
    half = np.array(samples[len(samples) // 2 :])
    slope = float(np.polyfit(half[:, 0], half[:, 1], 1)[0]) * 60
    # A roll needs a few megabytes for a moment, so single samples differ: medians of the second and the last quarter.
    quarter = len(samples) // 4
    early, late = (median(size for _, size in part) for part in (samples[quarter : 2 * quarter], samples[-quarter:]))
    return {
        "bars": [Bar("memory in the last quarter of the soak ÷ in the second", "≤", 1.1).line([late / early])],
        "megabytes at the end": samples[-1][1],
        "megabytes a minute": slope,
        "samples": [list(each) for each in samples],
    }


COMPARISONS: dict[str, Callable[[Effort], dict[str, Any]]] = {
    each.__name__: each for each in (batches, singles, large, trellis, rolls, slow_senders)
}


def main() -> int:
    """Measure, print, and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two short rounds")
    parser.add_argument("--only", nargs="+", choices=[*COMPARISONS, "postgresql", "soak"], help="some comparisons")
    parser.add_argument("--postgresql", metavar="URL", help="a database that may be written to, not one of our own")
    parser.add_argument("--soak", type=float, metavar="SECONDS", help="watch the memory for some time at the end")
    parser.add_argument("--output", type=Path, help="folder to save the numbers in")
    given = parser.parse_args()
    effort = Effort(2, 1.0) if given.quick else Effort(7, 4.0)
    work: dict[str, Callable[[], dict[str, Any]]] = {
        name: (lambda measure=measure: measure(effort)) for name, measure in COMPARISONS.items()
    }
    if given.postgresql or database.is_here():
        work["postgresql"] = lambda: postgresql(effort, given.postgresql)
    elif not given.only or "postgresql" in given.only:
        print("postgresql: not measured; pass --postgresql URL")
    if given.soak:
        work["soak"] = lambda: soak(given.soak)
    found: dict[str, Any] = {"machine": facts()}
    for name, measure in work.items():
        if not given.only or name in given.only:
            print(f"{name}, at a load of {load()}", flush=True)
            found[name] = measure() | {"load": load()}
            show(found[name])
    if given.output:
        text = json.dumps(plain(found), indent=1, ensure_ascii=False)
        (given.output / "collector.json").write_text(text + "\n", encoding="utf-8")
    return 0


def show(measured: dict[str, Any]) -> None:
    """Print one comparison."""
    for bar in measured["bars"]:
        mark = "holds" if bar["holds"] else "MISSED"
        print(f"  {bar['bar']}: {bar['seen']:.3g} ({bar['least']:.3g} to {bar['most']:.3g}), {mark}")
    for side, values in measured.get("rates", {}).items():
        print(f"  {side}: " + ", ".join(f"{key} {value:,.4g}" for key, value in values.items()))
    for key, value in measured.items():
        if isinstance(value, float):
            print(f"  {key} {value:.4g}")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main())
