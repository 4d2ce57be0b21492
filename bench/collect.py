"""The speed of collecting report files, compared with plain reading: ``python -m bench.collect [--reports 100000000]``.

Every measurement runs in a separate process, so that its peak memory is its own. For comparison, pyarrow reads the
same files in two ways: as a stream of batches, which takes as little memory as collecting, and as one table.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.dataset  # otherwise reading the first table would import it
from pyarrow import parquet

import plausibly
from plausibly.engines import collect
from plausibly.files import report_writer

from .peak import high_water
from .timing import in_turns, medians, paired_ratio

SCHEMES = ("TLH", "HR", "FLH")
WAYS = {"collect": "collected", "collect-1": "on one thread", "stream": "pyarrow, batches", "table": "pyarrow, table"}
_FILES = 4
_BATCH = 1 << 20


def make_files(folder: Path, scheme: plausibly.Scheme, reports: int, compression: str) -> None:
    """Write files with reports of a crowd in which small numbers are common."""
    part = -(-reports // _FILES)
    for number in range(_FILES):
        with report_writer(folder / f"{number}.parquet", scheme, compression=compression) as writer:
            for users in _batches(min(part, reports - number * part)):
                writer.write(scheme.privatize((scheme.size * users**3).astype(np.int64)))


def _batches(count: int) -> Iterator[Any]:
    for first in range(0, count, _BATCH):
        yield np.arange(first, min(first + _BATCH, count)) * 7_368_787 % 2**20 / 2**20


def _stream(folder: Path) -> int:
    return sum(
        batch.num_rows for path in folder.glob("*.parquet") for batch in parquet.ParquetFile(path).iter_batches()
    )


def _table(folder: Path) -> int:
    assert pyarrow.dataset
    return sum(parquet.read_table(path).num_rows for path in folder.glob("*.parquet"))


def _collect(folder: Path) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        return len(collect([folder], Path(scratch) / "out.tally").tally)


def measured(way: str, folder: Path) -> dict[str, Any]:
    """One measurement, in this process."""
    work: dict[str, Callable[[Path], int]] = {"stream": _stream, "table": _table}
    start, processor = time.perf_counter(), time.process_time()
    reports = work.get(way, _collect)(folder)
    taken = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - processor}
    return {"reports": reports, **taken, "peak_mb": high_water()}


def _apart(way: str, folder: Path) -> dict[str, Any]:
    environment = os.environ | ({"PLAUSIBLY_THREADS": "1"} if way.endswith("-1") else {})
    command = [sys.executable, "-m", "bench.collect", "--measure", way, "--folder", str(folder)]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    found: dict[str, Any] = json.loads(said)
    return found


def race(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Measurements of a scheme's files, collected and read in turn."""
    scheme = plausibly.make(name, epsilon=options.epsilon, domain_size=options.domain_size)
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="collect-") as held:
        folder = Path(held)
        start = time.perf_counter()
        make_files(folder, scheme, options.reports, options.compression)
        row: dict[str, Any] = {"scheme": name, "making_seconds": time.perf_counter() - start}
        row["bytes"] = sum(path.stat().st_size for path in folder.iterdir()) / options.reports
        taken = in_turns(options.rounds, {way: lambda way=way: _apart(way, folder) for way in WAYS})
    row["ways"] = {way: medians(samples) for way, samples in taken.items()}
    row["ratios"] = {way: paired_ratio(taken[way], taken["collect"], "seconds") for way in ("stream", "table")}
    return row


def show(row: dict[str, Any]) -> str:
    """A scheme's measurements as lines of text."""
    made = row["ways"]["collect"]["reports"] / row["making_seconds"] / 1e6
    lines = [f"{row['scheme']}: {row['bytes']:.2f} bytes per report in the file, made at {made:.1f} million/s"]
    for way, label in WAYS.items():
        found = row["ways"][way]
        rate = found["reports"] / found["seconds"] / 1e6
        ratio = f", collected at {row['ratios'][way]:.2f} of it" if way in row["ratios"] else ""
        cost = f"{found['cpu_seconds'] / found['reports'] * 1e9:5.1f} ns of processor time per report"
        lines.append(f"  {label:17} {rate:8.1f} million reports/s, {cost}, peak {found['peak_mb']:4.0f} MB{ratio}")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.collect", description="Collect report files.")
    parser.add_argument("--reports", type=int, default=10_000_000)
    parser.add_argument("--schemes", nargs="+", default=list(SCHEMES), metavar="NAME")
    parser.add_argument("--domain-size", type=int, default=1024)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--compression", default="zstd", help="zstd or none")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="folder for the temporary files")
    parser.add_argument("--measure", choices=list(WAYS), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.measure:
        print(json.dumps(measured(options.measure, options.folder)))
        return
    for name in options.schemes:
        print(show(race(name, options)), flush=True)


if __name__ == "__main__":
    main()
