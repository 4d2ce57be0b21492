"""Heavy hitters: every search on every crowd, scored next to the two ceilings. Each command prints one table.

    python -m reproduction.heavy_hitters short        # 6 characters: all crowds, sizes and epsilons
    python -m reproduction.heavy_hitters long         # up to 64 characters
    python -m reproduction.heavy_hitters uniform      # no heavy hitters: how often is one reported?

The paper's searches over the paper's sketches are in table 2: ``plausibly reproduce table2``.

Each run is one line of a file (``--rows``). Runs in the file are not measured again, so an interrupted command resumes
where it stopped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from plausibly.experiments import PLAIN, SHAPES, URL_CLICKS_N, Cell, Results, held, load, run

from .heavy_hitter_tables import draw_grid, grid_sheet, uniform_sheet
from .top_ten import name

_PIPED = 132
"""Width in columns of a table that is not printed on a terminal."""
Row = dict[str, Any]

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


def cell_of(method: str, data: str, n: int, epsilon: float, length: int, number: int) -> Cell:
    """One run of a method; every run has its own crowd and noise."""
    return Cell(name(method), data=f"{data}/{length}", n=n, d=0, epsilon=epsilon, data_seed=number, repeat=number)


def cells_of(table: str, runs: int) -> list[Cell]:
    """Every run of a table."""
    numbers = range(runs)
    if table == "short":
        grid = [(data, n, epsilon, 6) for data in SHAPES for n in SIZES for epsilon in EPSILONS]
        return [cell_of(method, *one, number) for one in grid for number in numbers for method in METHODS]
    if table == "long":
        grid = [(*one, length) for one in LONG for length in LENGTHS]
        return [cell_of(method, *one, number) for one in grid for number in numbers for method in ("TRELLIS", "C1")]
    grid = [("uniform", n, epsilon, length) for n in (50_000, 400_000) for epsilon in (1.0, 3.0) for length in (6, 16)]
    return [cell_of("TRELLIS", *one, number) for one in grid for number in numbers]


def rows_of(cells: Iterable[Cell], results: Results) -> list[Row]:
    """One row for each run, with its scores."""
    methods = {name(method): method for method in METHODS}
    rows = []
    for cell in cells:
        data, _, length = cell.data.partition("/")
        row = {"method": methods[cell.scheme], "data": data, "n": cell.n, "epsilon": cell.epsilon}
        rows.append(row | {"length": int(length), "run": cell.repeat} | results.metrics(cell, PLAIN))
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the missing runs and print the table."""
    parser = argparse.ArgumentParser(prog="python -m reproduction.heavy_hitters", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("table", choices=["short", "long", "uniform"])
    parser.add_argument("--runs", type=int, help="runs per cell (16; uniform: 50)")
    parser.add_argument("--rows", type=Path, help="results file: runs are read from it and appended to it")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--markdown", type=Path, help="also write the table to this file")
    parser.add_argument("--figure", type=Path, help="draw the table to this file (short and long only)")
    given = parser.parse_args(arguments)
    cells = cells_of(given.table, given.runs or (50 if given.table == "uniform" else 16))
    with nullcontext(Results()) if given.rows is None else held(given.rows) as results:
        asked = {cell: [PLAIN] for cell in cells}
        run(asked, results, jobs=given.jobs, console=Console(stderr=True), setup=partial(load, Path(__file__).parent))
        rows = rows_of(cells, results)
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
