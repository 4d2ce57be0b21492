"""The cost of ordered values, compared with an oracle over as many items: ``python -m bench.ordered_speed``.

SLIDE and HM take turns, so that the ratio is fair on a busy machine; processor seconds, the median of all rounds.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np

import plausibly
from plausibly.core.scheme import Scheme
from plausibly.engines import collect
from plausibly.files import report_writer
from plausibly.ordered.families import family

ITEMS, USERS, EPSILON = 65_536, 1_000_000, 1


def seconds(work: Callable[[], object]) -> float:
    """Processor seconds of a call."""
    start = process_time()
    work()
    return process_time() - start


def in_memory(scheme: Scheme, values: object) -> None:
    """Privatize and add."""
    scheme.accumulator().add(scheme.privatize(values))


def through_files(scheme: Scheme, values: object) -> None:
    """Privatize into a report file, and collect it into a tally file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with report_writer(folder / "day.parquet", scheme) as writer:
            writer.write(scheme.privatize(values))
        collect([folder / "day.parquet"], folder / "day.tally")


def measured(rounds: int) -> dict[str, float]:
    """Processor seconds of both schemes, and of the answers of SLIDE."""
    schemes = {
        "SLIDE": plausibly.make("SLIDE", epsilon=EPSILON, domain=plausibly.Ordered(0, ITEMS - 1)),
        "HM": plausibly.make("HM", epsilon=EPSILON, domain_size=ITEMS),
    }
    values = (np.arange(USERS) ** 2 % 99_991) * 65_521 % ITEMS  # all over the domain, in no order
    found: dict[str, float] = {}
    for way in (in_memory, through_files):
        taken: dict[str, list[float]] = {name: [] for name in schemes}
        for _ in range(rounds + 1):
            for name, scheme in schemes.items():
                taken[name].append(seconds(partial(way, scheme, values)))
        # The first round warms the caches.
        found |= {f"{name} {way.__name__}": median(each[1:]) for name, each in taken.items()}
    tally = schemes["SLIDE"].accumulator()
    tally.add(schemes["SLIDE"].privatize(values))
    family.cache_clear()
    found["tables"] = seconds(lambda: tally.estimate().cdf(simultaneous=True).interval())
    found["distribution function"] = seconds(lambda: tally.estimate().cdf(simultaneous=True).interval())
    found["megabytes of state"] = len(tally.to_bytes()) / 1e6
    return found


def main() -> None:
    """Measure, print, and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path, help="folder to save the numbers in")
    given = parser.parse_args()
    found = measured(given.rounds)
    for way in (in_memory, through_files):
        found[f"ratio {way.__name__}"] = found[f"SLIDE {way.__name__}"] / found[f"HM {way.__name__}"]
    if given.output:
        (given.output / "ordered_speed.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for name, value in found.items():
        print(f"{name:24} {value:.3f}")


if __name__ == "__main__":
    main()
