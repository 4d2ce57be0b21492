"""How close schemes for ordered values come to the least possible variance: exact numbers, without simulation.

    python -m bench.ordered          # prints the table of docs/ordered.md, and writes it to bench/results/ordered.json

A cell is the mean variance over all prefixes / over all ranges, per user and in units of V*, for users who are spread
evenly over the items. "best" shares of the users are the best ones for prefixes and for ranges, separately.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from plausibly import Integers
from plausibly.core.bound import Workload, best_noise
from plausibly.core.laws import Floats
from plausibly.ordered import HAAR, HH, SLIDE
from plausibly.ordered.families import family
from plausibly.ordered.nested import Nested

SIZES = (64, 256, 1024)
EPSILONS = (0.5, 1.0, 2.0, 3.0)
COLUMNS = ("bound", "SLIDE", "HH₂", "HH₂, best shares", "HH₄", "HH₄, best shares", "HAAR")
RESULTS = Path(__file__).parent / "results"
_ROUNDS = 40
_STEP = 1e-4


class Means(NamedTuple):
    """Mean variance over all prefixes, and over all ranges, in units of V*."""

    prefixes: float
    ranges: float


def means(prefixes: Floats, of_sum: float, epsilon: float) -> Means:
    """The means, from the variances of all prefixes and that of their sum.

    A range is the difference of two prefixes, of which the empty one and the whole have no variance. The variances of
    all differences add up to the number of prefixes times the sum of theirs, less that of their sum.
    """
    size, total = len(prefixes), float(prefixes[:-1].sum())
    ranges = ((size + 1) * total - of_sum) / (size * (size + 1) / 2)
    star = best_noise(epsilon)
    return Means(total / (size - 1) / star, ranges / star)


def bound(size: int, epsilon: float) -> Means:
    """The least possible means."""
    star = best_noise(epsilon)
    workloads = Workload.of_prefixes(size), Workload.of_ranges(size)
    return Means(*(workload.bound(epsilon) / star for workload in workloads))


def slide(size: int, epsilon: float) -> Means:
    """SLIDE with its usual widths and shares."""
    system, even = SLIDE(epsilon=epsilon, domain=Integers(size)).system, np.full(size, 1 / size)
    prefixes = family(system, "prefixes").variance(even, 1)
    return means(prefixes, float(system.ask(_all_prefixes(size)).variance(even, 1)[0]), epsilon)


def haar(size: int, epsilon: float) -> Means:
    """HAAR with equal shares."""
    halves, even = HAAR(epsilon=epsilon, domain=Integers(size)).halves, np.full(size, 1 / size)
    of_sum = float(halves.variance(_all_prefixes(size), even, 1)[0])
    return means(halves.along(True, even, 1), of_sum, epsilon)


def tree(branching: int) -> Callable[[int, float], Means]:
    """HH with equal shares."""
    return lambda size, epsilon: _of_tree(_system(size, epsilon, branching), epsilon)


def best_tree(branching: int, rounds: int = _ROUNDS) -> Callable[[int, float], Means]:
    """HH with the best shares for each of both means; after 8 rounds, a mean is within 0.2 % of the least."""

    def best(size: int, epsilon: float) -> Means:
        system = _system(size, epsilon, branching)
        found = (_of_tree(_with_best_shares(system, epsilon, which, rounds), epsilon)[which] for which in (0, 1))
        return Means(*found)

    return best


SCHEMES: tuple[Callable[[int, float], Means], ...] = (
    bound,
    slide,
    tree(2),
    best_tree(2),
    tree(4),
    best_tree(4),
    haar,
)


def _all_prefixes(size: int) -> Floats:
    # The weights of the sum of all prefixes.
    return np.arange(size - 1, -1, -1, dtype=np.float64)[None]


def _system(size: int, epsilon: float, branching: int) -> Nested:
    return HH(epsilon=epsilon, domain=Integers(size), branching=branching).system


def _of_tree(system: Nested, epsilon: float) -> Means:
    even = np.full(system.size, 1 / system.size)
    of_sum = float(system.ask(_all_prefixes(system.size)).variance(even, 1)[0])
    return means(system.prefixes.variance(even, 1), of_sum, epsilon)


def _with_best_shares(system: Nested, epsilon: float, which: int, rounds: int) -> Nested:
    # At the optimum, all levels gain alike from more users; each share is moved by the root of its own gain.
    shares = np.array([width.share for width in system.widths])
    for _ in range(rounds):
        now = _of_tree(_with_shares(system, shares), epsilon)[which]
        gains = np.zeros(len(shares))
        for i in range(len(shares)):
            more = shares.copy()
            more[i] *= 1 + _STEP
            gains[i] = (now - _of_tree(_with_shares(system, more), epsilon)[which]) / (_STEP * shares[i])
        shares *= np.sqrt(np.maximum(gains, 0.0))
        shares /= shares.sum()
    return _with_shares(system, shares)


def _with_shares(system: Nested, shares: Floats) -> Nested:
    widths = [replace(width, share=float(share)) for width, share in zip(system.widths, shares, strict=True)]
    return Nested(tuple(widths), system.length, False)


class Row(NamedTuple):
    """One row of the table."""

    size: int
    epsilon: float
    cells: dict[str, Means]


def row(size: int, epsilon: float) -> Row:
    """All columns for one number of items and one epsilon."""
    return Row(size, epsilon, {name: scheme(size, epsilon) for name, scheme in zip(COLUMNS, SCHEMES, strict=True)})


def written(rows: list[Row]) -> str:
    """The table in Markdown."""
    lines = [f"| items | ε | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 2) + "|"]
    for each in rows:
        cells = [f"{each.cells[name].prefixes:.2f} / {each.cells[name].ranges:.2f}" for name in COLUMNS]
        lines.append(f"| {each.size:,} | {each.epsilon:g} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def kept() -> list[Row]:
    """The table in bench/results."""
    rows = json.loads((RESULTS / "ordered.json").read_text(encoding="utf-8"))
    return [
        Row(each["size"], each["epsilon"], {name: Means(*cell) for name, cell in each["cells"].items()})
        for each in rows
    ]


def main() -> None:
    """Compute the table, print and save it."""
    rows = [row(size, epsilon) for size in SIZES for epsilon in EPSILONS]
    text = json.dumps([each._asdict() for each in rows], indent=1, ensure_ascii=False) + "\n"
    (RESULTS / "ordered.json").write_text(text, encoding="utf-8")
    print(written(rows), end="")


if __name__ == "__main__":
    main()
