"""Heavy hitters: every search on every crowd, scored beside the two ceilings. One command prints each table.

    python -m plausibly.experiments.heavy_hitters short        # 6 characters: all crowds, sizes and epsilons
    python -m plausibly.experiments.heavy_hitters long         # up to 64 characters
    python -m plausibly.experiments.heavy_hitters uniform      # nothing to find: how often is something reported?

The paper's searches over the paper's sketches are its table 2: ``python -m plausibly.experiments.runner table2``.

Each run is one line of a file (``--rows``); what is there already is not measured again, so an interrupted command
goes on where it was.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from .. import presets
from ..core.domain import Strings
from ..core.randomness import SeededRandom
from ..search.base import SearchTally
from .baselines import extend_and_peel, pem_plus
from .ceilings import exhaustive, known_candidates
from .datasets import ALPHABET, DATASETS, SHAPES, URL_CLICKS_N, Crowd
from .metrics import false_items, score
from .sheets import draw_grid, grid_sheet, uniform_sheet

K = 10
LEVEL = 0.05
_PIPED = 132
"""Columns of a table that no terminal shows."""
Row = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One run: a crowd, a privacy, and a method."""

    method: str
    data: str
    n: int
    epsilon: float
    length: int
    run: int

    @property
    def seed(self) -> int:
        """Another one for every run of every cell, so that no two share their luck."""
        return int.from_bytes(hashlib.sha256(repr(self).encode()).digest()[:6], "big")


def measure(cell: Cell) -> Row:
    """The scores of one run, and its times."""
    crowd = _crowd(cell.data, cell.n, cell.length, cell.run)
    strings = Strings(ALPHABET, cell.length)
    rng = np.random.default_rng(cell.seed)
    row: Row = asdict(cell)
    if cell.method == "C1":
        found = known_candidates(crowd, cell.epsilon, K, rng)
    elif cell.method == "C3U":
        found = exhaustive(crowd, cell.epsilon, K, cell.length, strings.symbols, rng)
    elif cell.method == "PEM+":
        found = extend_and_peel(_collected(pem_plus(cell.epsilon, strings, cell.seed), crowd, cell, row), K)
    else:
        assert cell.method == "TRELLIS"
        scheme = presets.TRELLIS(str(cell.epsilon), domain=strings, users=cell.n, hash_seed=cell.seed)
        tally = _collected(scheme, crowd, cell, row)
        started = time.perf_counter()
        hitters = tally.search(k=K)
        row["search_seconds"] = time.perf_counter() - started
        found = hitters.items.tolist()
        significant = tally.search(k=K, level=LEVEL).items.tolist()
        row |= {"significant": len(significant), "false": len(false_items(significant, crowd, K))}
        row["significant_right"] = round(score(significant, crowd, K).precision * len(significant))
    return row | asdict(score(found, crowd, K))


@lru_cache(maxsize=1)
def _crowd(data: str, n: int, length: int, run: int) -> Crowd:
    return DATASETS[data](n, length, run)


def _collected(scheme: Any, crowd: Crowd, cell: Cell, row: Row) -> SearchTally:
    # Every user's report, made and added, in the order of a shuffled crowd.
    holders = crowd.holders(np.random.default_rng(cell.seed))
    codes = scheme.domain.encode(crowd.strings)
    started = time.perf_counter()
    reports = scheme.privatize_encoded(codes[holders], SeededRandom(cell.seed))
    row["client_seconds"] = time.perf_counter() - started
    started = time.perf_counter()
    tally = scheme.accumulator()
    tally.add(reports)
    row["server_seconds"] = time.perf_counter() - started
    assert isinstance(tally, SearchTally)
    return tally


# --- what there is to measure -----------------------------------------------------------------------------------

SIZES = (50_000, 400_000, 1_000_000, URL_CLICKS_N)
EPSILONS = (1.0, 2.0, 3.0)
METHODS = ("TRELLIS", "PEM+", "C3U", "C1")
LENGTHS = (10, 16, 24, 32, 64)
LONG = (
    ("url-clicks", URL_CLICKS_N, 3.0),
    ("url-clicks", URL_CLICKS_N, 2.0),
    ("url-clicks", 1_000_000, 3.0),
    ("zipf-1.1", URL_CLICKS_N, 3.0),
    ("shared-prefixes", URL_CLICKS_N, 3.0),
)


def cells_of(table: str, runs: int) -> list[Cell]:
    """Every run of a table."""
    numbers = range(runs)
    if table == "short":
        grid = [(data, n, epsilon) for data in SHAPES for n in SIZES for epsilon in EPSILONS]
        return [Cell(method, *one, 6, run) for one in grid for run in numbers for method in METHODS]
    if table == "long":
        methods = ("TRELLIS", "C1")
        return [
            Cell(method, *one, length, run)
            for one in LONG
            for length in LENGTHS
            for run in numbers
            for method in methods
        ]
    grid = [("uniform", n, epsilon) for n in (50_000, 400_000) for epsilon in (1.0, 3.0)]
    return [Cell("TRELLIS", *one, length, run) for one in grid for length in (6, 16) for run in numbers]


def rows_of(cells: Sequence[Cell], path: Path | None, *, jobs: int, console: Console) -> list[Row]:
    """The rows of these runs: those of the file, and what is missing measured and added to it."""
    known = {_key(row): row for row in _read(path)}
    missing = [cell for cell in cells if _key(asdict(cell)) not in known]
    # Run by run, so that an interrupted table is even; runs of one crowd together, so that it is drawn once.
    missing.sort(key=lambda cell: (cell.run, cell.data, cell.n, cell.length))
    columns = [TextColumn("measuring"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()]
    with Progress(*columns, console=console, disable=not missing) as progress:
        task = progress.add_task("", total=len(missing))
        for row in _measured(missing, jobs):
            known[_key(row)] = row
            if path is not None:
                with path.open("a") as file:
                    file.write(json.dumps(row) + "\n")
            progress.advance(task)
    return [known[_key(asdict(cell))] for cell in cells]


def _measured(cells: Sequence[Cell], jobs: int) -> Iterator[Row]:
    if jobs == 1:
        yield from map(measure, cells)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(measure, cell) for cell in cells]):
            yield future.result()


def _read(path: Path | None) -> list[Row]:
    if path is None or not path.exists():
        return []
    text = path.read_text()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        # A line cut off by an interrupt: it is measured again, and nothing is to be written behind it.
        path.write_text(whole)
    return [json.loads(line) for line in whole.splitlines()]


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("method", "data", "n", "epsilon", "length", "run"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures what is missing and prints the table."""
    parser = argparse.ArgumentParser(prog="python -m plausibly.experiments.heavy_hitters", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("table", choices=["short", "long", "uniform"])
    parser.add_argument("--runs", type=int, help="runs of each cell (16; uniform 50)")
    parser.add_argument("--rows", type=Path, help="the file of all runs, read and added to")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--markdown", type=Path, help="write the table to this file, too")
    parser.add_argument("--figure", type=Path, help="draw it to this file (short and long)")
    given = parser.parse_args(arguments)
    runs = given.runs or (50 if given.table == "uniform" else 16)
    rows = rows_of(cells_of(given.table, runs), given.rows, jobs=given.jobs, console=Console(stderr=True))
    sheet = (uniform_sheet if given.table == "uniform" else grid_sheet)(rows)
    console = Console()
    (console if console.is_terminal else Console(width=_PIPED)).print(sheet.table())
    if given.markdown is not None:
        given.markdown.write_text(sheet.markdown())
    if given.figure is not None:
        draw_grid(rows, given.figure)
    return 0


if __name__ == "__main__":
    sys.exit(main())
