"""Prints docs/accuracy.md: every cell of the statistical tests, measured again from the same seeds."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from math import exp

from .measure import (
    ACCURACY_CELLS,
    COVERAGE_CELLS,
    EPSILONS,
    LARGE_CELLS,
    RARE_COLLISIONS,
    RARE_SUPPORTS,
    Cell,
    accuracy,
    mean_and_error,
    measure,
)

INTRODUCTION = """\
# Accuracy and coverage, measured

This page compares the variance laws of [ADR 3](adr/0003-variance-laws.md) with simulations through the real
randomizers, accumulators and decoders. `tests/statistics` asserts the same cells, from the same seeds.
To reproduce this page (about six minutes on two cores):

    make test-fast    # once, for the environment
    .venv/bin/python -m tests.statistics.report > docs/accuracy.md

There are d items and n = 100,000 users, except for DE at d = 100,000, which has about 8 million users (see below).
The true counts are the expected counts of the distribution, rounded to add up to n. Each cell is simulated many
times; the seed of its random stream is the CRC-32 of its name, and FLH draws fresh hash functions (`hash_seed`) in
every run. Unary encoding at d = 100,000 has only two runs, which take 20 GB of keystream; they are enough, because
its 200,000 intervals are independent of each other. SS is left out where the subsets of a run would take more than
12 GB. AGR at d = 128, ε = 5 has twenty times the runs: all items lie on one line of its space and share a quarter
of their errors, so that one run says less about them.
"""

ACCURACY = """
## Mean squared error: measured / predicted

The data are Zipf(1.1). The number after ± is one standard error, from the spread of the runs. The prediction is the
closed form, evaluated at the true counts (for FLH also at their sum of squares, for HR at the users of each block).
"""

LARGE = """
The next table is for one million users, d = 100,000 and ten runs. It shows measured / predicted, and in brackets the
predicted variance of an item that nobody has, divided by the smallest possible one, 4e^ε/(e^ε − 1)².
"""

COVERAGE = """
## Coverage of 95 % intervals

The tables show the percentage of intervals that contain the true count, with one standard error, and in brackets the
same for the ten most frequent items. Intervals are computed from the reports alone.
"""

REMARKS = """
## Where intervals miss 95 %

* **DE in large domains.** At d = 100,000 and n = 100,000, about one report names each item that nobody has. The
  estimate is then a multiple of a Poisson count around 1. At ε = 5 the intervals cover {supports:.1f} % of all items,
  most of which nobody has, but only {supports_top:.0f} % of the ten most frequent. The table therefore has DE at
  8 million users, where 80 reports name such an item. The other oracles do not have this problem.
* **FLH with few hash functions for its ε, and one giant item.** With `hashes=100` at ε = 5 (hash values below g = 149)
  another item collides with the giant under 0.7 functions on average, and the error is that Poisson count. The interval
  has the right variance but covers {collisions:.1f} %, as the binomial law of the collisions predicts
  (a test asserts it).
* **FLH's intervals hold for fresh hash functions.** For a given `hash_seed`, collisions are a fixed bias; a second
  collection with the same seed repeats that part of the error.
* **Plain intervals of items picked for their large estimates.** The tables are about items chosen beforehand. Of the
  plain 95 % intervals of the 20 largest of 1,000 estimates at ε = 1, 65 % contain the truth. The intervals of `top` and
  of searches allow for the selection and do not miss
  ([measured](walkthroughs/statistician.md#picked-because-it-is-large)).
"""


def main() -> None:
    """Prints the page."""
    cells = [*ACCURACY_CELLS, *COVERAGE_CELLS]
    with ProcessPoolExecutor() as pool:
        results = dict(zip(cells, pool.map(_texts, cells), strict=True))
        large = dict(zip(LARGE_CELLS, pool.map(_large_text, LARGE_CELLS), strict=True))
    print(INTRODUCTION)
    _table(("runs", "d = 128", "d = 1,024", "d = 100,000"), _runs(cells))
    print(ACCURACY)
    header = ("oracle", "d", *(f"ε = {epsilon}" for epsilon in EPSILONS))
    _table(header, _rows(ACCURACY_CELLS, {cell: results[cell][0] for cell in cells}))
    print(LARGE)
    epsilons = dict.fromkeys(cell.epsilon for cell in LARGE_CELLS)
    _table(("oracle", "d", *(f"ε = {epsilon}" for epsilon in epsilons)), _rows(LARGE_CELLS, large, epsilons))
    print(COVERAGE, end="")
    for crowd, title in (("zipf", "Zipf(1.1)"), ("uniform", "Uniform"), ("half", "Half of the users have one item")):
        print(f"\n### {title}\n")
        chosen = [cell for cell in cells if cell.crowd == crowd]
        _table(header, _rows(chosen, {cell: results[cell][1] for cell in cells}))
    supports, collisions = measure(RARE_SUPPORTS), measure(RARE_COLLISIONS)
    remarks = REMARKS.format(
        supports=100 * supports.coverage.mean(),
        supports_top=100 * supports.top_coverage.mean(),
        collisions=100 * collisions.coverage.mean(),
    )
    print(remarks, end="")


def _texts(cell: Cell) -> tuple[str, str]:
    measured = measure(cell)
    coverage, error = mean_and_error(100 * measured.coverage)
    covered = f"{coverage:.2f} ± {error:.2f} ({100 * measured.top_coverage.mean():.0f})"
    if cell not in ACCURACY_CELLS:
        return "", covered
    return "{:.3f} ± {:.3f}".format(*accuracy(cell)), covered


def _large_text(cell: Cell) -> str:
    e = exp(cell.epsilon)
    share = cell.scheme().variance(1) * (e - 1) ** 2 / (4 * e)
    return "{:.3f} ± {:.3f} ({:.3f})".format(*accuracy(cell), share)


def _runs(cells: Iterable[Cell]) -> list[tuple[str, ...]]:
    runs: dict[str, dict[int, set[int]]] = {}
    for cell in cells:
        runs.setdefault(cell.case.name, {}).setdefault(cell.size, set()).add(cell.runs)
    return [
        (name, *(f"{min(few)} to {max(few)}" if len(few) > 1 else f"{min(few)}" for few in by_size.values()))
        for name, by_size in runs.items()
    ]


def _rows(cells: Iterable[Cell], text: dict[Cell, str], epsilons: Iterable[float] = EPSILONS) -> list[tuple[str, ...]]:
    rows: dict[tuple[str, ...], dict[float, str]] = {}
    for cell in cells:
        rows.setdefault((str(cell.case), f"{cell.size:,}"), {})[cell.epsilon] = text[cell]
    return [(*key, *(texts.get(epsilon, "–") for epsilon in epsilons)) for key, texts in rows.items()]


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    for row in (header, ("---",) * len(header), *rows):
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
