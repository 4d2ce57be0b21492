"""How often the intervals of tables contain the truth: cells, single attributes, shares, and the largest cells.

    python -m bench.table_coverage   # prints the table of docs/tables.md, writes bench/results/table_coverage.json

Every run is a collection of real reports from the same users in latent classes. The plain intervals of a run's largest
cells are too short, because the largest estimates are large partly by luck; those of ``table.top()`` allow for that.
"""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np

from plausibly import CrossTable, SeededRandom, make

from .latent import MIXED, YES_OR_NO, counted, latent, table

RESULTS = Path(__file__).parent / "results" / "table_coverage.json"
SIZES = {"8 of 2": YES_OR_NO, "3, 4, 5": (3, 4, 5), "2, 2, 5, 7, 9, 16": MIXED}
SETTINGS = [(crowd, epsilon, users) for crowd in SIZES for epsilon in (0.5, 1, 3) for users in (5_000, 50_000)]
RUNS = 1000
LARGEST = 3
KINDS = ("cells", "single attributes", "shares", "largest cells, plain", "largest cells, top()")
LEVEL = 0.95


class Covered(NamedTuple):
    """Shares of the intervals that contain the truth, by kind, in one setting."""

    crowd: str
    epsilon: float
    users: int
    runs: int
    shares: dict[str, float]
    errors: dict[str, float]
    """Standard errors: intervals of one run are not independent, so they come from the spread between runs."""


def covered(crowd: str, epsilon: float, users: int, runs: int = RUNS) -> Covered:
    """Coverage of all kinds in one setting, from this number of collections."""
    sizes = SIZES[crowd]
    scheme = make("CLIQUE", epsilon=epsilon, domain=table(*sizes))
    records = latent(sizes, users, seed=3)
    codes = scheme.domain.encode(records)
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for run in range(runs):
        tally = scheme.accumulator()
        tally.add(scheme.privatize_encoded(codes, SeededRandom(run)))
        # Two attributes in turn, so that all tables have their part.
        a, b = _pair(len(sizes), run)
        crossed, truth = tally.table(f"q{a}", f"q{b}"), counted(records, sizes, a, b)
        for kind, inside in _inside(crossed, truth).items():
            if inside.size:
                found[kind].append(float(inside.mean()))
    shares = {kind: float(np.mean(each)) for kind, each in found.items()}
    errors = {kind: float(np.std(each) / sqrt(len(each))) for kind, each in found.items()}
    return Covered(crowd, epsilon, users, runs, shares, errors)


def _pair(attributes: int, run: int) -> tuple[int, int]:
    a = run % attributes
    return a, (a + 1 + run // attributes % (attributes - 1)) % attributes


def _inside(found: CrossTable, truth: np.ndarray) -> dict[str, np.ndarray]:
    # Whether each interval contains the truth, by kind.
    low, high = found.interval(LEVEL)
    flat = truth.reshape(-1)
    cells = (low <= flat) & (flat <= high)
    single = []
    for axis, margin in enumerate(found.margins):
        ends, own = margin.interval(LEVEL, plain=True), truth.sum(axis=1 - axis)
        single.append((ends[0] <= own) & (own <= ends[1]))
    shares = found.shares_by(found.names[0])
    ends = shares.interval(LEVEL)
    with np.errstate(invalid="ignore"):
        real = (truth / truth.sum(axis=1, keepdims=True)).reshape(-1)
    known = np.isfinite(shares.values) & np.isfinite(real)
    right = ((ends[0] <= real) & (real <= ends[1]))[known]
    largest = np.argsort(-found.values, kind="stable")[:LARGEST]
    top = found.top(LARGEST)
    ends = top.interval(LEVEL)
    allowed = (ends[0] <= flat[largest]) & (flat[largest] <= ends[1])
    return dict(zip(KINDS, (cells, np.concatenate(single), right, cells[largest], allowed), strict=True))


def written(rows: list[Covered]) -> str:
    """The table in Markdown, in percent."""
    lines = [f"| attributes | ε | users | {' | '.join(KINDS)} |", "|---" * (len(KINDS) + 3) + "|"]
    for each in rows:
        cells = [f"{100 * each.shares[kind]:.1f} ± {100 * each.errors[kind]:.1f}" for kind in KINDS]
        lines.append(f"| {each.crowd} | {each.epsilon:g} | {each.users:,} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def kept() -> list[Covered]:
    """The rows in bench/results."""
    return [Covered(**each) for each in json.loads(RESULTS.read_text(encoding="utf-8"))]


def main() -> None:
    """Measure all settings, print and save them."""
    rows = [covered(*setting) for setting in SETTINGS]
    RESULTS.write_text(json.dumps([each._asdict() for each in rows], indent=1) + "\n", encoding="utf-8")
    print(written(rows), end="")


if __name__ == "__main__":
    main()
