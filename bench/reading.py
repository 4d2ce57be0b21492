"""Speed of ``plausibly privatize`` on text files, against pyarrow reading the same column: ``python -m bench.reading``.

Processor time, user and system, of whole processes with all that they load, and their peak of memory. The scheme is OLH
with ε = 1 over a list of 1,000 labels and "other"; the values follow Zipf's law. Both programs take turns, so that a
busy machine disturbs them alike.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

import plausibly

from .timing import in_turns

USERS = 5_000_000
ROUNDS = 5
MOST_TIMES, MOST_MEGABYTES = 2.5, 300
"""Goals: processor time as a multiple of pyarrow's, and memory."""
_LABELS = [f"site-{i}.example" for i in range(1000)]
_GOLDEN = (5**0.5 - 1) / 2
_PYARROW = {
    "csv": """
from pyarrow import csv
csv.read_csv(FILE, convert_options=csv.ConvertOptions(include_columns=["site"]))
""",
    "ndjson": """
import pyarrow
from pyarrow import json
schema = pyarrow.schema([("site", pyarrow.string())])
json.read_json(FILE, parse_options=json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"))
""",
}
"""Programs that read the column and do nothing else."""


class Cost(NamedTuple):
    """What a process and the processes that it waited for have used."""

    seconds: float
    megabytes: float


def cost(command: tuple[str, ...]) -> Cost:
    """Processor time and peak memory of a process."""
    # Bytecode is written whatever the environment says: an installed package has it.
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def write_files(folder: Path, users: int) -> None:
    """The scheme, and the same made-up visits as CSV and as NDJSON."""
    scheme = plausibly.make("OLH", epsilon=1, domain=_LABELS, other=True)
    (folder / "scheme.json").write_text(scheme.to_json(), encoding="utf-8")
    shares = 1 / np.arange(1, len(_LABELS) + 1)
    spread = np.arange(users) * _GOLDEN % 1  # evenly, and without a pattern that compresses or repeats
    sites = np.searchsorted(np.cumsum(shares) / shares.sum(), spread).tolist()
    with (folder / "visits.csv").open("w") as table, (folder / "visits.ndjson").open("w") as lines:
        table.write("user,site\n")
        table.writelines(f"{user},{_LABELS[site]}\n" for user, site in enumerate(sites))
        lines.writelines(f'{{"user":{user},"site":"{_LABELS[site]}"}}\n' for user, site in enumerate(sites))


def measured(kind: str, folder: Path, rounds: int = ROUNDS) -> dict[str, Cost]:
    """The median cost of reading with pyarrow, and of privatizing, a file of this kind."""
    file, out = folder / f"visits.{kind}", folder / "reports.parquet"
    reading = (sys.executable, "-c", f"FILE = {str(file)!r}\n{_PYARROW[kind]}")
    words = ("privatize", str(file), "--column", "site", "--scheme", str(folder / "scheme.json"), "--out", str(out))

    def privatized() -> dict[str, float]:
        out.unlink(missing_ok=True)
        return cost((sys.executable, "-m", "plausibly", *words))._asdict()

    both = {"pyarrow": lambda: cost(reading)._asdict(), "plausibly": privatized}
    in_turns(1, both)
    taken = in_turns(rounds, both)
    return {
        name: Cost(median(each["seconds"] for each in samples), max(each["megabytes"] for each in samples))
        for name, samples in taken.items()
    }


def main() -> None:
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        # In a process of its own: a child's peak of memory begins with that of its parent.
        writer = get_context("spawn").Process(target=write_files, args=(Path(folder), USERS))
        writer.start()
        writer.join()
        for kind in _PYARROW:
            costs = measured(kind, Path(folder))
            times = costs["plausibly"].seconds / costs["pyarrow"].seconds
            good = times <= MOST_TIMES and costs["plausibly"].megabytes < MOST_MEGABYTES
            found[kind] = {name: each._asdict() for name, each in costs.items()} | {"times": times, "pass": good}
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
