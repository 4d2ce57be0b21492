"""Do the intervals of returned items hold? Coverage after selection, measured: `python -m bench.coverage search`.

    python -m bench.coverage search --rows rows.jsonl      # 4 crowds x 3 epsilons x 2 lengths: half an hour
    python -m bench.coverage top --rows rows.jsonl         # listed domains: ten minutes
    python -m bench.coverage search --crowds visits --epsilons 3 --lengths 30 --items 250      # README's commands
    python -m bench.coverage search --crowds demo --users 1000000 --epsilons 3 --lengths 30    # the demo's

Every run has fresh hash functions and fresh noise. A setting is measured until it has returned ``--items`` items. Each
run is one line of the file given by ``--rows``; runs in the file are not measured again, so an interrupted command
resumes where it stopped. Rows do not know the code that measured them: after a change to it, begin a new file.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from rich.console import Console

from plausibly.experiments import PLAIN, Cell, Results, held
from plausibly.experiments import run as measure_missing

from .coverage_tables import coverage_sheet
from .returned import SEARCH, TOP, Item, K, from_metrics, register

CROWDS = ("visits", "url-clicks", "uniform-letters", "flat-head")
"""README's own crowd; one that resembles a search log; random-looking strings; ten equally common strings."""
LENGTHS = (6, 30)
EPSILONS = (1.0, 2.0, 3.0)
USERS = 200_000
ORACLES = ("OLH", "OUE", "HR", "SS", "TLH", "FLH")
SIZES = (100, 1000, 100_000)
LISTED = ("zipf-1.1", "uniform")
_LARGEST = {"OUE": 1000, "SS": 1000, "OLH": 1000}
"""Domain sizes beyond which an oracle takes too long for hundreds of runs."""
_RUNS_AT_ONCE = 4
_PIPED = 165
"""Width in columns of a table that is not printed on a terminal."""


@dataclass(frozen=True)
class Setting:
    """What all runs of a setting have in common."""

    label: tuple[str, ...]
    cell: Callable[[int], Cell]

    def runs(self, results: Results) -> list[list[Item]]:
        """The returned items of every measured run."""
        measured: list[list[Item]] = []
        while not results.missing({(cell := self.cell(len(measured))): [PLAIN]}):
            measured.append(from_metrics(results.metrics(cell, PLAIN)))
        return measured


def search_settings(
    crowds: Sequence[str], epsilons: Sequence[float], lengths: Sequence[int], users: int, k: int = K
) -> list[Setting]:
    """Every combination of a crowd, a length and an epsilon for ``search``."""

    def setting(data: str, length: int, epsilon: float) -> Setting:
        def cell(number: int) -> Cell:
            return Cell(SEARCH, _returning(k), data=f"{data}/{length}", n=users, d=0, epsilon=epsilon, repeat=number)

        return Setting((data, str(length), f"{epsilon:g}"), cell)

    return [setting(*one) for one in product(crowds, lengths, epsilons)]


def top_settings(
    crowds: Sequence[str],
    epsilons: Sequence[float],
    sizes: Sequence[int],
    oracles: Sequence[str],
    users: int,
    k: int = K,
) -> list[Setting]:
    """Every combination of a crowd, an oracle, a domain size and an epsilon for ``top``."""

    def setting(data: str, oracle: str, size: int, epsilon: float) -> Setting:
        def cell(number: int) -> Cell:
            return Cell(
                TOP, {"of": oracle, **_returning(k)}, data=data, n=users, d=size, epsilon=epsilon, repeat=number
            )

        return Setting((data, oracle, f"{size:,}", f"{epsilon:g}"), cell)

    grid = product(crowds, oracles, sizes, epsilons)
    return [setting(*one) for one in grid if one[2] <= _LARGEST.get(one[1], one[2])]


def _returning(k: int) -> dict[str, int]:
    # Named only if it is not the default: rows of earlier measurements stay valid.
    return {} if k == K else {"k": k}


def measure(settings: Sequence[Setting], results: Results, *, items: int, runs: int, seconds: float, jobs: int) -> None:
    """Measure runs until every setting has returned enough items, or a limit is reached."""
    started = time.monotonic()
    console = Console(stderr=True)
    for first in range(0, runs, _RUNS_AT_ONCE):
        short = [one for one in settings if sum(map(len, one.runs(results))) < items]
        if not short or time.monotonic() - started > seconds:
            return
        numbers = range(first, min(first + _RUNS_AT_ONCE, runs))
        asked = {setting.cell(number): [PLAIN] for setting in short for number in numbers}
        measure_missing(asked, results, jobs=jobs, console=console, setup=register)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the missing runs and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.coverage", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("kind", choices=["search", "top"])
    parser.add_argument("--crowds", nargs="+", help=f"search: {' '.join(CROWDS)}; top: {' '.join(LISTED)}")
    parser.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--lengths", nargs="+", type=int, default=LENGTHS, help="search: characters of a string")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="top: items of the domain")
    parser.add_argument("--oracles", nargs="+", default=ORACLES, help="top: names of oracles")
    parser.add_argument("--users", type=int, default=USERS)
    parser.add_argument("--k", type=int, default=K, help="returned items per run")
    parser.add_argument("--items", type=int, default=2000, help="returned items per setting")
    parser.add_argument("--runs", type=int, default=10_000, help="stop after this many runs per setting")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no further runs after this time")
    parser.add_argument("--rows", type=Path, help="results file: runs are read from it and appended to it")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--markdown", type=Path, help="also write the table to this file")
    given = parser.parse_args(arguments)
    if given.kind == "search":
        head: tuple[str, ...] = ("crowd", "length", "ε")
        settings = search_settings(given.crowds or CROWDS, given.epsilons, given.lengths, given.users, given.k)
    else:
        head = ("crowd", "oracle", "d", "ε")
        crowds = given.crowds or LISTED
        settings = top_settings(crowds, given.epsilons, given.sizes, given.oracles, given.users, given.k)
    with nullcontext(Results()) if given.rows is None else held(given.rows) as results:
        measure(settings, results, items=given.items, runs=given.runs, seconds=given.seconds, jobs=given.jobs)
        sheet = coverage_sheet(head, {one.label: runs for one in settings if (runs := one.runs(results))})
    console = Console()
    (console if console.is_terminal else Console(width=_PIPED)).print(sheet.table())
    if given.markdown is not None:
        given.markdown.write_text(sheet.markdown(), encoding="utf-8")


if __name__ == "__main__":
    main()
