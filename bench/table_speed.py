"""The cost of tables of several attributes: ``python -m bench.table_speed``.

Processor seconds, the median of all rounds, of privatizing and collecting the records of a million users, in memory and
through files, and of all tables of two attributes; and the size of the tally.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from plausibly import Table, make
from plausibly.core.accumulator import Accumulator
from plausibly.core.scheme import Scheme

from .latent import latent, table
from .ordered_speed import in_memory, seconds, through_files

RESULTS = Path(__file__).parent / "results" / "table_speed.json"
SIZES, USERS, EPSILON = (16,) * 10, 1_000_000, 1
LABELS = [f"answer {number}" for number in range(16)]


GOALS = {"privatize and add": 1.0, "all tables of two attributes": 1.0, "megabytes of state": 10.0}
"""The most that a step may take."""


def crowd(users: int) -> dict[str, Any]:
    """The columns of the attributes, as whole numbers in no order."""
    records = latent(SIZES, users, seed=1)
    return {f"q{place}": np.ascontiguousarray(records[:, place]) for place in range(len(SIZES))}


def all_tables(tally: Accumulator) -> None:
    """Make all tables of two attributes, with the variances of their cells."""
    for one, other in combinations([f"q{place}" for place in range(len(SIZES))], 2):
        tally.table(one, other)


def measured(rounds: int, users: int = USERS) -> dict[str, float]:
    """Processor seconds of every step, and megabytes of the tally."""
    columns = crowd(users)
    scheme: Scheme = make("CLIQUE", epsilon=EPSILON, domain=table(*SIZES))
    labelled = make("CLIQUE", epsilon=EPSILON, domain=Table(dict.fromkeys(columns, LABELS)))
    texts = {name: np.array(LABELS)[codes] for name, codes in columns.items()}
    tally = scheme.accumulator()
    tally.add(scheme.privatize(columns))
    steps = {
        "privatize and add": partial(in_memory, scheme, columns),
        "privatize and add, from texts": partial(in_memory, labelled, texts),
        "privatize into a file, and collect it": partial(through_files, scheme, columns),
        "all tables of two attributes": partial(all_tables, tally),
    }
    # The first round warms the caches.
    found = {name: median([seconds(step) for _ in range(rounds + 1)][1:]) for name, step in steps.items()}
    return found | {"megabytes of state": len(tally.to_bytes()) / 1e6}


def written(found: dict[str, float]) -> str:
    """The table of docs/tables.md in Markdown."""
    return "| step | seconds |\n|---|---|\n" + "".join(
        f"| {name} | {value:.2f} |\n" for name, value in found.items() if name != "megabytes of state"
    )


def main() -> None:
    """Measure, print, and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path, help="folder to save the numbers in")
    given = parser.parse_args()
    found = measured(given.rounds)
    if given.output:
        (given.output / RESULTS.name).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for name, value in found.items():
        print(f"{name:40} {value:.3f}")


if __name__ == "__main__":
    main()
